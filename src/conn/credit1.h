/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of version 1: the right to have transactions outstanding.
 *                                             [RFC 8166 §3.3.1, RFC 8167 §4.2]
 *
 * A Requester may have as many Calls outstanding as the smaller of what it
 * asked for and what was granted last, and one until the first answer has
 * come.  The grant is a limit, not an increment: the newest counts.  Calls of
 * the other direction have credits of their own; answers need none, because the
 * Requester has posted a Receive for each.
 *
 * A Call that is given up keeps its credit until its answer has come all the
 * same: the Responder may be at work on it.
 */
#ifndef RR_CONN_CREDIT1_H
#define RR_CONN_CREDIT1_H

#include "base/base.h"

struct rr_credit1 {
	uint32_t requested;   /* in each Call */
	uint32_t granted;     /* by the newest answer */
	uint32_t outstanding; /* Calls sent and not answered */
	uint32_t ghosts;      /* of these: given up by the caller */
};

void rr_credit1_init(struct rr_credit1 *, uint32_t requested);
/* Calls that may be outstanding. */
uint32_t rr_credit1_limit(const struct rr_credit1 *);
bool rr_credit1_may_call(const struct rr_credit1 *);
/* A Call goes out (one may); returns its rdma_credit. */
uint32_t rr_credit1_spend(struct rr_credit1 *);
void rr_credit1_give_up(struct rr_credit1 *);
/* No Call may go out, and none that went out is awaited. */
bool rr_credit1_stuck(const struct rr_credit1 *);
/* An answer came: to a Call that is awaited (@known), or to one given up. */
void rr_credit1_answered(struct rr_credit1 *, bool known);
/* The word of an answer: 0 is as 1, for nothing could be sent any more. */
void rr_credit1_grant(struct rr_credit1 *, uint32_t word);

#endif
