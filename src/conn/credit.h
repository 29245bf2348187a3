/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits.  Each is the right to send one message.              [v2 §4.2.1, C3]
 *
 * Credits are conserved.  Each message costs its sender one credit and gives this
 * credit to the receiver.  The message also returns credits that its sender owes.
 * Credits received above the cap are owed at once.  After the first message of each
 * peer, the sum of avail, owed and the low halves in transit, over both peers, is
 * constant.  The rules are model-checked (docs/model). [C3 to C10]
 *
 * The ceiling H never changes.  The caller applies a message's credit word only after
 * posting another Receive to replace the message's own, and never sends when avail is
 * 0.
 *
 * A Responder that is serving as many Calls as it can withholds the credits that it
 * owes (rr_credit_withhold), so that the peer cannot send more Calls.  Three rules
 * limit the withholding: each message returns at least one credit; a message that uses
 * the last credit returns all credits owed, because the next credit can come only from
 * the peer's surplus; and nothing is withheld if a ceiling is below 3.  Without any one
 * of these rules, the model checker finds a deadlock or a flood.
 */
#ifndef RR_CONN_CREDIT_H
#define RR_CONN_CREDIT_H

#include "base/base.h"

enum {
	RR_CREDIT_MIN = 2,
	RR_CREDIT_MAX = 32767,
	RR_CREDIT_GRANT_MIN = 2, /* credits that must be due for a grant message */
};

struct rr_credit {
	uint32_t ceiling;   /* H, the high half of every word we send */
	uint32_t limit;     /* upper bound of @cap; at least H */
	uint32_t cap;       /* upper bound of @avail */
	uint32_t avail;     /* messages that may be sent now */
	uint32_t owed;      /* credits to return */
	uint32_t peer_high; /* the peer's ceiling as last received [C4]; 0 = none yet */
	uint32_t room;      /* how many of @owed may be returned now */
	bool sent_first;    /* we have sent our first message */
	uint64_t given;     /* credits given to the peer: sum of low halves sent */
	uint64_t used;      /* credits used by the peer: messages received */
};

/* Initialises the credits.  A value outside the allowed range is replaced by the
 * nearest allowed value.  @initial is 1 for a client, 0 for a server. [C7] */
void rr_credit_init(struct rr_credit *, uint32_t ceiling, uint32_t limit,
                    uint32_t initial);
/* Uses one credit; avail must not be 0.  Returns the value for the rdma_credit field,
 * which also returns credits that we owe. */
uint32_t rr_credit_spend(struct rr_credit *);
/* Applies the rdma_credit of a received message. */
void rr_credit_apply(struct rr_credit *, uint32_t word);
/* Limits the number of credits returned from now on.  The limit is chosen so that the
 * Calls being served (@serving) plus the credits that the peer may have do not exceed
 * @budget.  @budget must be at least H.  If @open is true, there is no limit. */
void rr_credit_withhold(struct rr_credit *, uint32_t budget, uint32_t serving,
                        bool open);
/* Returns the number of credits owed and not withheld. */
static inline uint32_t rr_credit_due(const struct rr_credit *c)
{
	return RR_MIN(c->owed, c->room);
}
/* Returns true if enough credits are due to send a grant message at once.  [C3 grant
 * message] */
bool rr_credit_grant_due(const struct rr_credit *);
/* Makes @n credits available at once, for which credits owed to the peer may be kept.
 * Returns false, and changes nothing, if there are too few of both.     [ext §2.5] */
bool rr_credit_gather(struct rr_credit *, uint32_t n) RR_MUST_CHECK;
/* Returns true if a Call may be sent.  While we owe Replies (@owing), the last credit
 * is reserved for the Replies, unless the ceilings are so low that both peers could
 * then wait for each other. */
bool rr_credit_may_call(const struct rr_credit *, bool owing);
/* Counts a received message.  Returns false if the peer had no credit for it. */
bool rr_credit_used(struct rr_credit *) RR_MUST_CHECK;
/* Returns the number of Receives that must be posted at all times. [C3 Receives, C6] */
uint32_t rr_credit_receives(const struct rr_credit *);

#endif
