/* SPDX-License-Identifier: BSD-3-Clause */
/* See credit.h for the rules; the names are those of ambiguity C3. */
#include "conn/credit.h"

void rr_credit_init(struct rr_credit *c, uint32_t ceiling, uint32_t limit,
                    uint32_t initial)
{
	uint32_t h = RR_MIN(RR_MAX(ceiling, RR_CREDIT_MIN), RR_CREDIT_MAX);

	/* A limit below H can stall queued messages [C3, model-checked]. */
	*c = (struct rr_credit){
	        .ceiling = h,
	        .limit = RR_MIN(RR_MAX(limit, h), RR_CREDIT_MAX),
	        .cap = initial,
	        .avail = initial,
	        .owed = initial,
	        .given = !initial, /* the client's first message [C7] */
	};
}

uint32_t rr_credit_spend(struct rr_credit *c)
{
	uint32_t low = c->ceiling;

	RR_ASSERT(c->avail > 0);
	c->avail--;
	if (c->sent_first) {
		low = RR_MIN(1 + c->owed, c->ceiling);
		c->owed -= low - 1;
	}
	c->sent_first = true;
	c->given += low;
	return c->ceiling << 16 | low;
}

/* The ceiling that @word names: none is as the low half. [C4] */
static uint32_t high_half(uint32_t word)
{
	return RR_MAX(word >> 16, word & 0xffff);
}

static void owe(struct rr_credit *c, uint32_t n)
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
		/* A higher one later changes nothing, a lower one lowers. [C10] */
		c->cap = RR_MIN(high, first ? c->limit : c->cap);
		c->peer_high = high;
	}
	if (c->avail <= c->cap)
		return;
	surplus = c->avail - c->cap;
	c->avail = c->cap;
	if (!first || c->limit >= high)
		owe(c, surplus);
}

bool rr_credit_used(struct rr_credit *c)
{
	if (++c->used <= c->given)
		return true;
	c->given = c->used; /* each is counted once */
	return false;
}

bool rr_credit_grant_due(const struct rr_credit *c)
{
	uint32_t lower = RR_MIN(c->ceiling, c->peer_high);

	return c->owed >= RR_MAX(2u, (lower + 1) / 2);
}

uint32_t rr_credit_receives(const struct rr_credit *c)
{
	return c->ceiling + c->limit + 2;
}
