/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of send-based placement and counted continuation.        [ext §5.2]
 */
#include "wire/rtr/rtr_wire.h"

enum {
	KNOWN_SUPPORT = RTRS_XREQ | RTRS_XRESP | RTRS_XCONT | RTRS_TBSNRESP,
	BOTH_WAYS = RTRS_XREQ | RTRS_XRESP,
	GROUP_BYTES = 16,
	FIXED_BYTES = 8, /* length of the buffer, count of groups */
};

int rr_wire_rtr_get_support(const void *data, uint32_t len, uint32_t *ret)
{
	uint32_t flags;

	if (rr_wire_get_value_u32(data, len, 0, &flags))
		return -EINVAL;
	flags &= KNOWN_SUPPORT;
	if (flags && (flags & BOTH_WAYS) != BOTH_WAYS)
		return -EINVAL;
	*ret = flags;
	return 0;
}

int rr_wire_rtr_get_limit(const void *data, uint32_t len, uint32_t *ret)
{
	uint32_t limit;

	if (rr_wire_get_value_u32(data, len, 1, &limit))
		return -EINVAL;
	*ret = RR_MAX(limit, 1);
	return 0;
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Decodes a group.  Returns false if it breaks a rule, else adds its octets to @sum. */
static bool get_group(struct rr_cursor *c, struct rr_rbgroup *g, uint64_t *sum)
{
	uint64_t bytes;

	g->count = rr_get_u32(c);
	g->length = rr_get_u32(c);
	g->align = rr_get_u32(c);
	g->flags = rr_get_u32(c) & XMRSFLAG_DDP;
	if (!g->count || !g->length || (g->length & 3) || !is_power_of_two(g->align))
		return false;
	bytes = (uint64_t)g->count * g->length;
	if (bytes > UINT32_MAX) /* nor can the sum of a message full of them overflow */
		return false;
	*sum += bytes;
	return true;
}

/* Decodes the value, which is not empty.  Returns false if it breaks a rule. */
static bool get_buffer(struct rr_cursor *c, struct rr_rbstruct *s)
{
	uint64_t sum = 0;

	s->length = rr_get_u32(c);
	s->total_groups = rr_get_u32(c);
	if (!s->total_groups || s->total_groups > rr_cursor_left(c) / GROUP_BYTES)
		return false;
	for (uint32_t i = 0; i < s->total_groups; i++) {
		struct rr_rbgroup g;

		if (!get_group(c, &g, &sum))
			return false;
		if (s->n_groups == RR_WIRE_RTR_MAX_GROUPS)
			s->over = true;
		else
			s->group[s->n_groups++] = g;
	}
	return sum == s->length && !rr_cursor_left(c);
}

int rr_wire_rtr_get_rbstruct(const void *data, uint32_t len, struct rr_rbstruct *ret)
{
	struct rr_cursor c = rr_cursor_over(data, len);
	struct rr_rbstruct s = {0};

	if (len && !get_buffer(&c, &s))
		return -EINVAL;
	*ret = s;
	return 0;
}

void rr_wire_rtr_put_rbstruct(struct rr_writer *w, const struct rr_rbstruct *s)
{
	if (s->over) {
		w->bad = true;
		return;
	}
	rr_put_u32(w, s->length);
	rr_put_u32(w, s->n_groups);
	for (uint32_t i = 0; i < s->n_groups; i++) {
		rr_put_u32(w, s->group[i].count);
		rr_put_u32(w, s->group[i].length);
		rr_put_u32(w, s->group[i].align);
		rr_put_u32(w, s->group[i].flags);
	}
}

size_t rr_wire_rtr_rbstruct_size(const struct rr_rbstruct *s)
{
	return FIXED_BYTES + (size_t)s->n_groups * GROUP_BYTES;
}

struct rr_rbstruct rr_wire_rtr_default_rbstruct(uint32_t bytes)
{
	return (struct rr_rbstruct){
	        .length = bytes,
	        .n_groups = 1,
	        .total_groups = 1,
	        .group[0] = {.count = 1, .length = bytes, .align = 1},
	};
}
