/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of version 1.  Each is the right to have one Call outstanding.
 *                                             [RFC 8166 §3.3.1, RFC 8167 §4.2]
 *
 * A Requester may have one Call outstanding until the first answer arrives.  After that
 * the limit is the smaller of the number it requested and the number granted by the
 * newest answer.  A grant is a limit, not an increment.  Calls in the other direction
 * have separate credits.  Answers need no credit, because the Requester has posted a
 * Receive for each.
 *
 * A Call that the caller has given up keeps its credit until its answer arrives: the
 * Responder may still be serving it.
 */
#ifndef RR_CONN_CREDIT1_H
#define RR_CONN_CREDIT1_H

#include "base/base.h"

struct rr_credit1 {
	uint32_t requested;   /* credits that each Call requests */
	uint32_t granted;     /* credits granted by the newest answer; initially 1 */
	uint32_t outstanding; /* Calls sent but not yet answered */
	uint32_t abandoned;   /* outstanding Calls that the caller has given up */
};

void rr_credit1_init(struct rr_credit1 *, uint32_t requested);
/* Returns how many Calls may be outstanding. */
uint32_t rr_credit1_limit(const struct rr_credit1 *);
bool rr_credit1_may_call(const struct rr_credit1 *);
/* Counts a Call to be sent; rr_credit1_may_call must be true.  Returns the Call's
 * rdma_credit. */
uint32_t rr_credit1_spend(struct rr_credit1 *);
/* Records that the caller has given up an outstanding Call. */
void rr_credit1_give_up(struct rr_credit1 *);
/* Returns true if Calls that were given up occupy all credits. */
bool rr_credit1_stuck(const struct rr_credit1 *);
/* Counts an answer.  @known is true if a Call still waits for the answer, and false if
 * the Call was given up. */
void rr_credit1_answered(struct rr_credit1 *, bool known);
/* Applies the rdma_credit of an answer.  0 counts as 1; otherwise no Call could ever be
 * sent again. */
void rr_credit1_grant(struct rr_credit1 *, uint32_t word);

#endif
