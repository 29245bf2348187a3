/* SPDX-License-Identifier: BSD-3-Clause */
/* See credit1.h for the rules. */
#include "conn/credit1.h"

void rr_credit1_init(struct rr_credit1 *k, uint32_t requested)
{
	*k = (struct rr_credit1){.requested = requested, .granted = 1};
}

uint32_t rr_credit1_limit(const struct rr_credit1 *k)
{
	return RR_MIN(k->requested, k->granted);
}

bool rr_credit1_may_call(const struct rr_credit1 *k)
{
	return k->outstanding < rr_credit1_limit(k);
}

uint32_t rr_credit1_spend(struct rr_credit1 *k)
{
	RR_ASSERT(rr_credit1_may_call(k));
	k->outstanding++;
	return k->requested;
}

void rr_credit1_give_up(struct rr_credit1 *k)
{
	k->abandoned++;
}

bool rr_credit1_stuck(const struct rr_credit1 *k)
{
	return !rr_credit1_may_call(k) && k->abandoned == k->outstanding;
}

void rr_credit1_answered(struct rr_credit1 *k, bool known)
{
	if (!known && !k->abandoned)
		return; /* the answer matches none of our Calls */
	if (!known)
		k->abandoned--;
	RR_ASSERT(k->outstanding > 0);
	k->outstanding--;
}

void rr_credit1_grant(struct rr_credit1 *k, uint32_t word)
{
	k->granted = RR_MAX(word, 1u);
}
