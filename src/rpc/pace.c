/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in pace.h. */
#include "rpc/pace.h"

void rr_pace_init(struct rr_pace *p)
{
	p->moving = 0;
	rr_list_init(&p->waiting);
}

static bool has_pace_room(const struct rr_pace *p, const struct rr_paced *j)
{
	return !p->moving ||
	       (p->moving < RR_PACE_BYTES && j->bytes <= RR_PACE_BYTES - p->moving);
}

bool rr_pace_enter(struct rr_pace *p, struct rr_paced *j)
{
	if (rr_list_empty(&p->waiting) && has_pace_room(p, j))
		return true;
	rr_list_push(&p->waiting, &j->link);
	return false;
}

void rr_pace_charge(struct rr_pace *p, struct rr_paced *j, uint64_t bytes)
{
	j->charged += bytes;
	p->moving += bytes;
}

void rr_pace_leave(struct rr_pace *p, struct rr_paced *j)
{
	rr_list_del(&j->link);
	p->moving -= j->charged;
	j->charged = 0;
}

void rr_pace_go(struct rr_pace *p)
{
	struct rr_list *n;

	while ((n = rr_list_first(&p->waiting))) {
		struct rr_paced *j = rr_container_of(n, struct rr_paced, link);

		if (!has_pace_room(p, j))
			return;
		rr_list_del(n);
		j->go(j);
	}
}
