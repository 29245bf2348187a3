/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of actions.
 *
 * An rr_op is anything that becomes an action.  It is part of the object that the action
 * is about (a Receive buffer, a message, a region, a call), and its address is the token
 * of the action.
 */
#ifndef RR_CONN_ACTION_H
#define RR_CONN_ACTION_H

#include "conn/conn.h"

struct rr_op {
	struct rr_list
	        link; /* conn.actions until drawn; Sends, Writes: conn.flying after */
	enum rr_action_kind kind;
};

void rr_action_enqueue(struct rr_conn *, struct rr_op *, enum rr_action_kind);
/* Takes an action back if it is still on the queue; true if it was. */
bool rr_action_cancel(struct rr_op *);
static inline uint64_t rr_op_token(const struct rr_op *op)
{
	return (uint64_t)(uintptr_t)op;
}

#endif
