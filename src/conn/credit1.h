/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of version 1: the right to have transactions outstanding.
 *                                             [RFC 8166 §3.3.1, RFC 8167 §4.2]
 *
 * A Requester may have one Call outstanding until the first answer arrives, then the
 * smaller of what it requested and what the newest answer granted.  A grant is a limit,
 * not an increment.  Calls of the other direction have credits of their own.  Answers
 * need none, because the Requester has posted a Receive for each.
 *
 * A Call that the caller gives up keeps its credit until its answer arrives: the
 * Responder may still be serving it.
 */
#ifndef RR_CONN_CREDIT1_H
#define RR_CONN_CREDIT1_H

#include "base/base.h"

struct rr_credit1 {
	uint32_t requested;   /* credits that each Call requests */
	uint32_t granted;     /* credits granted by the newest answer; initially 1 */
	uint32_t outstanding; /* Calls sent and not answered */
	uint32_t abandoned;   /* outstanding Calls that the caller has given up */
};

void rr_credit1_init(struct rr_credit1 *, uint32_t requested);
/* Returns how many Calls may be outstanding. */
uint32_t rr_credit1_limit(const struct rr_credit1 *);
bool rr_credit1_may_call(const struct rr_credit1 *);
/* Counts a Call that is sent, which must be allowed.  Returns its rdma_credit. */
uint32_t rr_credit1_spend(struct rr_credit1 *);
/* Notes that the caller has given up an outstanding Call. */
void rr_credit1_give_up(struct rr_credit1 *);
/* Are all credits held by Calls that were given up? */
bool rr_credit1_stuck(const struct rr_credit1 *);
/* Counts an answer: to a Call that is awaited (@known), or to one given up. */
void rr_credit1_answered(struct rr_credit1 *, bool known);
/* Applies the rdma_credit of an answer.  0 counts as 1: with 0 nothing could be sent
 * any more. */
void rr_credit1_grant(struct rr_credit1 *, uint32_t word);

#endif
