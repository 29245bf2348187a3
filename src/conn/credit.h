/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits: the right to send one message each.              [v2 §4.2.1, C3]
 *
 * Credits are conserved.  Each message gives the credit that it costs its sender to the
 * receiver, and hands back what its sender owes.  Credits received above the cap are
 * owed at once.  After the first message of each peer, the sum of avail, owed and the
 * low halves under way, over both peers, is constant.  The rules are model-checked
 * (docs/model). [C3 to C10]
 *
 * The ceiling H never changes.  The caller applies a received word only when another
 * Receive has been posted for the one used, and never sends at avail 0.
 *
 * A Responder that serves as many Calls as it can withholds what it owes
 * (rr_credit_withhold), so that the peer has no credit for more.  Three rules limit
 * that; without any of them the model checker finds a deadlock or a flood.  Each
 * message hands back one credit at least.  A message that takes the last credit hands
 * back all, since only the peer's surplus brings the next one.  At ceilings below 3
 * nothing is withheld.
 */
#ifndef RR_CONN_CREDIT_H
#define RR_CONN_CREDIT_H

#include "base/base.h"

enum { RR_CREDIT_MIN = 2, RR_CREDIT_MAX = 32767 };

struct rr_credit {
	uint32_t ceiling;   /* H, the high half of every word we send */
	uint32_t limit;     /* our own limit for sending, not below H */
	uint32_t cap;       /* most that avail can be */
	uint32_t avail;     /* messages that may be sent now */
	uint32_t owed;      /* credits to be handed back */
	uint32_t peer_high; /* the peer's ceiling as last received [C4]; 0: none yet */
	uint32_t room;      /* most of @owed that may be handed back now */
	bool sent_first;    /* the first message has been sent */
	uint64_t given;     /* credits given to the peer: sum of low halves sent */
	uint64_t used;      /* credits used by the peer: messages received */
};

/* Limits outside the allowed range are replaced by the nearest one inside.  @initial: 1
 * for a client, 0 for a server. [C7] */
void rr_credit_init(struct rr_credit *, uint32_t ceiling, uint32_t limit,
                    uint32_t initial);
/* Uses one credit (avail > 0) and returns the word for rdma_credit, which hands back
 * what is due. */
uint32_t rr_credit_spend(struct rr_credit *);
/* Applies the rdma_credit of a received message. */
void rr_credit_apply(struct rr_credit *, uint32_t word);
/* Limits what is handed back from now on.  The Calls being served (@serving) and the
 * credits that the peer may have must not exceed @budget, which is not below H.  With
 * @open there is no limit. */
void rr_credit_withhold(struct rr_credit *, uint32_t budget, uint32_t serving,
                        bool open);
/* Returns what is owed and not withheld. */
uint32_t rr_credit_due(const struct rr_credit *);
/* Is so much due that a grant message should be sent at once?  [C3 grant message] */
bool rr_credit_grant_due(const struct rr_credit *);
/* May a Call be sent?  While we owe Replies (@owing) the last credit is kept for them,
 * unless the ceilings are so low that both peers could then wait for each other. */
bool rr_credit_may_call(const struct rr_credit *, bool owing);
/* Counts a message received.  False: the peer had no credit for it. */
bool rr_credit_used(struct rr_credit *) RR_MUST_CHECK;
/* Returns how many Receives must be posted at all times. [C3 Receives, C6] */
uint32_t rr_credit_receives(const struct rr_credit *);

#endif
