/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits: the right to send one message each.              [v2 §4.2.1, C3]
 *
 * Credits are conserved: each message hands back the one that it used up at
 * the other end, plus what is owed beside it.  What is received above the
 * ceiling is owed at once.  The sum of avail, owed and the low halves under
 * way, over both peers, is constant from the two first messages on; a model
 * checker went through it [C3 to C10].
 *
 * The ceiling H never changes.  The caller applies a received word only when
 * a Receive stands in the place of the one used, and never sends at avail 0.
 *
 * A Responder that serves as many Calls as it can holds back what it owes
 * (rr_credit_withhold), so that the peer has no credit for more.  Three things
 * are never held back, and the model checker finds a deadlock or a flood without
 * each: the one credit of every message; anything, with the last credit, since
 * the peer's surplus is what brings the next; anything at ceilings below 3.
 */
#ifndef RR_CONN_CREDIT_H
#define RR_CONN_CREDIT_H

#include "base/base.h"

enum { RR_CREDIT_MIN = 2, RR_CREDIT_MAX = 32767 };

struct rr_credit {
	uint32_t ceiling; /* H, the high half of everything we send */
	uint32_t limit;   /* own limit for sending, not below H */
	uint32_t cap;     /* most that avail can be */
	uint32_t avail;
	uint32_t owed;
	uint32_t peer_high; /* as last received, [C4] applied; 0 = nothing came */
	uint32_t room;      /* of what is owed, so much may be handed back */
	bool sent_first;
	uint64_t given, used; /* to and by the peer: sum of low halves, messages */
};

/* @initial: 1 for the client, 0 for the server. [C7] */
void rr_credit_init(struct rr_credit *, uint32_t ceiling, uint32_t limit,
                    uint32_t initial);
/* Uses one credit (avail > 0) and returns the word for rdma_credit. */
uint32_t rr_credit_spend(struct rr_credit *);
/* Takes the word of a received message. */
void rr_credit_apply(struct rr_credit *, uint32_t word);
/* Hands back, from now on, only what keeps @serving Calls of the peer and the credits
 * that it may have within @budget, which is not below H; @open: all that is owed. */
void rr_credit_withhold(struct rr_credit *, uint32_t budget, uint32_t serving,
                        bool open);
/* What is owed and not withheld. */
uint32_t rr_credit_due(const struct rr_credit *);
/* Is that so much that a grant message should go out at once?  [C3 grant message] */
bool rr_credit_grant_due(const struct rr_credit *);
/* May a Call take a credit?  While Replies are owed (@owing) the last one is theirs,
 * unless the ceilings are so low that both ends could then wait for each other. */
bool rr_credit_may_call(const struct rr_credit *, bool owing);
/* A message came.  False: we had given no credit for it. */
bool rr_credit_used(struct rr_credit *) RR_MUST_CHECK;
/* Receives that must stand from the start. [C3 Receives, C6] */
uint32_t rr_credit_receives(const struct rr_credit *);

#endif
