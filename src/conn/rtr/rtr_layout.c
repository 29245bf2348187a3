/* SPDX-License-Identifier: BSD-3-Clause */
/* See rtr_layout.h.  The structure comes from the peer and may have a thousand million
 * segments, so that segments are found by division, never one by one. */
#include "conn/rtr/rtr_layout.h"

#include <string.h>

/* -- buffer structure ------------------------------------------------------ */

static bool is_targetable(const struct rr_rbgroup *g)
{
	return g->flags & XMRSFLAG_DDP;
}

uint32_t rr_rtr_targets(const struct rr_rbstruct *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_groups; i++)
		n += is_targetable(&s->group[i]) ? s->group[i].count : 0;
	return n;
}

uint32_t rr_rtr_target_bytes(const struct rr_rbstruct *s, uint32_t limit)
{
	uint32_t start = 0, sum = 0;

	for (uint32_t i = 0; i < s->n_groups && start < limit; i++) {
		const struct rr_rbgroup *g = &s->group[i];
		uint32_t within = RR_MIN(g->count, (limit - start) / g->length);

		sum += is_targetable(g) ? within * g->length : 0;
		start += g->count * g->length;
	}
	return sum;
}

bool rr_rtr_target(const struct rr_rbstruct *s, uint32_t index,
                   struct rr_rtr_target *ret)
{
	uint32_t before = 0, start = 0;

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct rr_rbgroup *g = &s->group[i];

		if (is_targetable(g) && index - before < g->count) {
			*ret = (struct rr_rtr_target){
			        .index = index,
			        .start = start + (index - before) * g->length,
			        .length = g->length,
			};
			return true;
		}
		before += is_targetable(g) ? g->count : 0;
		start += g->count * g->length;
	}
	return false;
}

bool rr_rtr_target_from(const struct rr_rbstruct *s, uint32_t off,
                        struct rr_rtr_target *ret)
{
	uint32_t before = 0, start = 0;

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct rr_rbgroup *g = &s->group[i];
		uint32_t skip = off > start ? (off - start - 1) / g->length + 1 : 0;

		if (is_targetable(g) && skip < g->count)
			return rr_rtr_target(s, before + skip, ret);
		before += is_targetable(g) ? g->count : 0;
		start += g->count * g->length;
	}
	return false;
}

/* -- transmission by transmission ------------------------------------------ */

/* Passes over items without octets, which have no segment. */
static void skip_empty_items(struct rr_rtr_walk *w)
{
	while (w->item < w->load->n_items && w->item_at == w->load->item[w->item]) {
		w->item++;
		w->item_at = 0;
	}
}

void rr_rtr_walk_begin(struct rr_rtr_walk *w, const struct rr_rtr_load *l,
                       uint32_t header)
{
	*w = (struct rr_rtr_walk){
	        .load = l,
	        .first_header = header,
	        .targets = rr_rtr_targets(l->buffer),
	        .limit = RR_MIN(l->limit, l->buffer->length) & ~(uint32_t)3,
	        .payload = l->payload,
	};
	skip_empty_items(w);
}

/* Finds the segment for the next octets of an item.  Returns false if no items are
 * left, or no segment in this transmission is. */
static bool next_target(const struct rr_rtr_walk *w, struct rr_rtr_target *t)
{
	return w->item < w->load->n_items &&
	       rr_rtr_target_from(w->load->buffer, w->off, t) &&
	       t->length <= w->limit && t->start <= w->limit - t->length;
}

int rr_rtr_walk_next(struct rr_rtr_walk *w, struct rr_rtr_part *ret)
{
	bool left = w->payload || w->item < w->load->n_items;
	uint32_t header =
	        w->begun ? RR_WIRE_PREFIX + RR_WIRE_RTR_CONT : w->first_header;
	struct rr_rtr_target t;
	bool fills;
	uint32_t most;

	if (!left && w->begun)
		return 0;
	if (header > w->limit)
		return -EMSGSIZE;
	w->off = header;
	fills = next_target(w, &t);
	most = (fills ? t.start : w->limit) - header;
	*ret = (struct rr_rtr_part){
	        .number = w->begun,
	        .header = header,
	        .payload = (uint32_t)RR_MIN(w->payload, most),
	};
	if (left && !fills && !ret->payload)
		return -EMSGSIZE;
	w->begun++;
	w->off += ret->payload;
	w->payload -= ret->payload;
	return 1;
}

bool rr_rtr_walk_fill(struct rr_rtr_walk *w, struct rr_rtr_fill *ret)
{
	struct rr_rtr_target t;

	if (!next_target(w, &t))
		return false;
	*ret = (struct rr_rtr_fill){
	        .item = w->item,
	        .pad = t.start - w->off,
	        .length = RR_MIN(t.length, w->load->item[w->item] - w->item_at),
	        .tbsn = (w->begun - 1) * w->targets + t.index,
	};
	w->item_at += ret->length;
	w->off = t.start + ret->length;
	skip_empty_items(w);
	return true;
}

/* -- planning -------------------------------------------------------------- */

/* Lays out the group with a first header of @header octets. */
static int lay_out(const struct rr_rtr_load *l, uint32_t header, uint32_t max_count,
                   struct rr_rtr_plan *p)
{
	struct rr_rtr_walk w;
	struct rr_rtr_part part;
	struct rr_rtr_fill f;
	int more;

	p->header = header;
	p->count = p->pslen = 0;
	p->n_tbsns = 0;
	memset(p->tbsns, 0, l->n_items * sizeof(p->tbsns[0]));
	rr_rtr_walk_begin(&w, l, header);
	while ((more = rr_rtr_walk_next(&w, &part)) > 0) {
		if (p->count++ == max_count)
			return -EMSGSIZE;
		if (!part.number)
			p->pslen = part.payload;
		while (rr_rtr_walk_fill(&w, &f)) {
			if (p->n_tbsns == RR_WIRE_RTR_MAX_TBSNS)
				return -EMSGSIZE;
			p->tbsn[p->n_tbsns++] = f.tbsn;
			p->tbsns[f.item]++;
		}
	}
	return more;
}

/* Returns the number of segments that the items need if each has the length of the
 * first segment. */
static uint32_t guess_numbers(const struct rr_rtr_load *l)
{
	struct rr_rtr_target t;
	uint64_t n = 0;

	if (!rr_rtr_target_from(l->buffer, 0, &t))
		return 0;
	for (unsigned i = 0; i < l->n_items; i++)
		n += ((uint64_t)l->item[i] + t.length - 1) / t.length;
	return (uint32_t)RR_MIN(n, (uint64_t)RR_WIRE_RTR_MAX_TBSNS);
}

/* The first header has the segment numbers, and its length decides how many there are.
 * In a structure with targets of one length the guess is right. */
int rr_rtr_plan(const struct rr_rtr_load *l, uint32_t max_count,
                struct rr_rtr_plan *ret)
{
	enum { TRIES = 3 };
	uint32_t numbers = guess_numbers(l);

	for (unsigned i = 0; i < TRIES; i++) {
		int err = lay_out(l, l->header + numbers * RR_WIRE_RTR_TBSN, max_count,
		                  ret);

		if (err || ret->n_tbsns == numbers)
			return err;
		numbers = ret->n_tbsns;
	}
	return -EMSGSIZE;
}
