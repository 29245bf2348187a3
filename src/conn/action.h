/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of actions.
 *
 * An rr_op represents an action.  It is a member of the object that the action concerns
 * (a Receive buffer, a message, a region, a call).  Its address is the action's token.
 */
#ifndef RR_CONN_ACTION_H
#define RR_CONN_ACTION_H

#include "conn/conn.h"

struct rr_op {
	struct rr_list link; /* linked into conn.actions until the action is polled; a
	                      * Send or Write is then linked into conn.in_flight */
	enum rr_action_kind kind;
};

/* Appends the action to the queue. */
void rr_action_enqueue(struct rr_conn *, struct rr_op *, enum rr_action_kind);
/* Removes the action from its queue.  Returns false if the action has already been
 * polled, or was never queued. */
bool rr_action_cancel(struct rr_op *);
/* Frees the object of the action polled last, if the action lent it until the next
 * poll. */
void rr_action_release(struct rr_conn *);
static inline uint64_t rr_op_token(const struct rr_op *op)
{
	return (uint64_t)(uintptr_t)op;
}

#endif
