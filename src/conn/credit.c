/* SPDX-License-Identifier: BSD-3-Clause */
/* See credit.h for the rules.  [C3] defines the terms. */
#include "conn/credit.h"

void rr_credit_init(struct rr_credit *c, uint32_t ceiling, uint32_t limit,
                    uint32_t initial)
{
	uint32_t h = RR_MIN(RR_MAX(ceiling, RR_CREDIT_MIN), RR_CREDIT_MAX);

	/* With a limit below H, queued messages could stall forever [C3 model]. */
	*c = (struct rr_credit){
	        .ceiling = h,
	        .limit = RR_MIN(RR_MAX(limit, h), RR_CREDIT_MAX),
	        .cap = initial,
	        .avail = initial,
	        .owed = initial,
	        .room = UINT32_MAX,
	        .given = !initial, /* the client has one credit for its first message
	                            * [C7] */
	};
}

uint32_t rr_credit_spend(struct rr_credit *c)
{
	uint32_t low = c->ceiling, due = c->avail > 1 ? rr_credit_due(c) : c->owed;

	RR_ASSERT(c->avail > 0);
	c->avail--;
	if (c->sent_first) {
		low = RR_MIN(1 + due, c->ceiling);
		c->owed -= low - 1;
	}
	c->sent_first = true;
	c->given += low;
	return c->ceiling << 16 | low;
}

/* Returns the ceiling in @word.  A ceiling that is missing (0) or too small is replaced
 * by the low half. [C4] */
static uint32_t high_half(uint32_t word)
{
	return RR_MAX(word >> 16, word & 0xffff);
}

static void add_owed(struct rr_credit *c, uint32_t n)
{
	c->owed = RR_MIN(c->owed + n, c->ceiling);
}

void rr_credit_apply(struct rr_credit *c, uint32_t word)
{
	uint32_t high = high_half(word);
	bool first = !c->peer_high;
	uint32_t surplus;

	c->avail += word & 0xffff;
	if (high) {
		/* A ceiling received later can lower the cap, but not raise it.
		 * [C10] */
		c->cap = RR_MIN(high, first ? c->limit : c->cap);
		c->peer_high = high;
	}
	if (c->avail <= c->cap)
		return;
	surplus = c->avail - c->cap;
	c->avail = c->cap;
	if (!first || c->limit >= high)
		add_owed(c, surplus);
}

bool rr_credit_used(struct rr_credit *c)
{
	if (++c->used <= c->given)
		return true;
	c->given = c->used; /* so that each overrun is counted once */
	return false;
}

/* -- handing credits back -------------------------------------------------- */

static uint32_t lower_ceiling(const struct rr_credit *c)
{
	return RR_MIN(c->ceiling, c->peer_high);
}

/* Returns an upper bound on the number of credits that the peer can have.  The total is
 * constant, so the peer has every credit that we do not have, unless it is in
 * transit. */
static uint32_t max_out(const struct rr_credit *c)
{
	uint64_t all = (uint64_t)c->ceiling + c->cap;
	uint64_t own = (uint64_t)c->avail + c->owed;

	return own < all ? (uint32_t)RR_MIN(all - own, c->ceiling) : 0;
}

void rr_credit_withhold(struct rr_credit *c, uint32_t budget, uint32_t serving,
                        bool open)
{
	uint64_t taken;

	c->room = UINT32_MAX;
	if (open || !serving || lower_ceiling(c) < 3)
		return;
	/* Every message returns at least one credit. */
	taken = (uint64_t)serving + max_out(c) + 1;
	c->room = taken < budget ? (uint32_t)(budget - taken) : 0;
}

static uint32_t grant_threshold(const struct rr_credit *c)
{
	return RR_MAX((uint32_t)RR_CREDIT_GRANT_MIN, (lower_ceiling(c) + 1) / 2);
}

bool rr_credit_grant_due(const struct rr_credit *c)
{
	return rr_credit_due(c) >= grant_threshold(c);
}

bool rr_credit_gather(struct rr_credit *c, uint32_t n)
{
	if ((uint64_t)c->avail + c->owed < n || n > c->cap)
		return false;
	if (c->avail < n) {
		c->owed -= n - c->avail;
		c->avail = n;
	}
	return true;
}

bool rr_credit_may_call(const struct rr_credit *c, bool owing)
{
	/* Each peer may hold back its last credit, and may keep credits that it owes as
	 * long as there are fewer than the grant threshold.  A credit is reserved only
	 * if the total number of credits is larger than the sum of these.  Otherwise
	 * both peers could wait for each other. */
	bool kept = owing && c->cap > 2 * grant_threshold(c) - 1;

	return c->avail > (kept ? 1u : 0u);
}

uint32_t rr_credit_receives(const struct rr_credit *c)
{
	return c->ceiling + c->limit + 2;
}
