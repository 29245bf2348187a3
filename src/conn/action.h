/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of actions.
 *
 * An rr_op is anything that becomes an action.  It is part of the object that the
 * action is about (a Receive buffer, a message, a region, a call), and its address is
 * the token of the action.
 */
#ifndef RR_CONN_ACTION_H
#define RR_CONN_ACTION_H

#include "conn/conn.h"

struct rr_op {
	struct rr_list link; /* conn.actions until polled; a Send or Write then moves to
	                      * conn.in_flight */
	enum rr_action_kind kind;
};

/* Queues the action. */
void rr_action_enqueue(struct rr_conn *, struct rr_op *, enum rr_action_kind);
/* Removes the action from its queue.  False: it is on none, so it was polled or never
 * queued. */
bool rr_action_cancel(struct rr_op *);
static inline uint64_t rr_op_token(const struct rr_op *op)
{
	return (uint64_t)(uintptr_t)op;
}

#endif
