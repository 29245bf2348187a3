/* SPDX-License-Identifier: BSD-3-Clause */
/* See rtr_placement.h. */
#include "conn/rtr/rtr_placement.h"

struct placing {
	const struct rr_rbstruct *own;
	const struct rr_rtr_header *h;
	const struct rr_rtr_got *got;
	uint32_t targets; /* targetable segments in a buffer */
	struct rr_rtr_placement *to;
	struct rr_rtr_error *fault;
};

static bool fault_range(struct placing *p, uint32_t code, uint32_t number,
                        uint32_t value, uint32_t least, uint32_t most)
{
	*p->fault = (struct rr_rtr_error){
	        .bad.seq = number,
	        .code = code,
	        .arg = {value, least, most},
	};
	return false;
}

static bool check_payload(struct placing *p)
{
	for (uint32_t k = 0; k < p->h->count; k++) {
		const struct rr_rtr_got *g = &p->got[k];

		if (g->pslen > g->length - g->header)
			return fault_range(p, OPTRERR_BADPL, k, g->pslen, 0,
			                   g->length - g->header);
	}
	return true;
}

/* Checks that the octets from @start to @end - 1 of transmission @number belong to
 * nothing else.  @t is the segment, which begins at @t->start. */
static bool check_overlap(struct placing *p, uint32_t number,
                          const struct rr_rtr_target *t, uint32_t start, uint32_t end)
{
	const struct rr_rtr_got *g = &p->got[number];
	uint32_t taken = 0;

	if (start < g->header + g->pslen)
		taken = g->header + g->pslen;
	for (unsigned i = 0; i < p->to->n; i++) {
		const struct rr_rtr_fragment *f = &p->to->fragment[i];

		if (f->number == number && start < f->at + f->length && end > f->at)
			taken = RR_MAX(taken, f->at + f->length);
	}
	if (!taken)
		return true;
	return fault_range(p, OPTRERR_BADOFF, number, start - t->start,
	                   ((taken + 3) & ~(uint32_t)3) - t->start, t->length - 1);
}

/* Appends octets to the item's last fragment if they are adjacent; otherwise, as a new
 * fragment. */
static void append_fragment(struct rr_rtr_placement *to,
                            const struct rr_rtr_fragment *f)
{
	struct rr_rtr_fragment *last = to->n ? &to->fragment[to->n - 1] : NULL;

	if (last && last->item == f->item && last->number == f->number &&
	    last->at + last->length == f->at) {
		last->length += f->length;
		last->tbsn = f->tbsn;
	} else {
		to->fragment[to->n++] = *f;
	}
}

/* Finds segment number @b of the group.  Reports it if there is no such segment. */
static bool find_segment(struct placing *p, uint32_t b, uint32_t *ret_number,
                         struct rr_rtr_target *t)
{
	uint64_t all = (uint64_t)p->h->count * p->targets;

	if (b >= all)
		return fault_range(p, OPTRERR_BADTBSN, 0, b, 0,
		                   (uint32_t)(all ? all - 1 : 0));
	*ret_number = b / p->targets;
	return rr_rtr_target(p->own, b % p->targets, t);
}

/* Places the octets of item @i that are in segment number @b, from offset @offset of
 * that segment.  Updates @left, the octets of the item not yet placed. */
static bool place_segment(struct placing *p, uint32_t i, uint32_t b, uint32_t offset,
                          uint32_t *left)
{
	struct rr_rtr_target t;
	uint32_t number, start, n;

	if (!find_segment(p, b, &number, &t))
		return false;
	if (offset >= t.length || (offset & 3))
		return fault_range(p, OPTRERR_BADOFF, number, offset, 0, t.length - 1);
	n = RR_MIN(t.length - offset, *left);
	start = t.start + offset;
	if (start + n > p->got[number].length)
		return fault_range(p, OPTRERR_BADTBSN, number, b, 0,
		                   p->h->count * p->targets - 1);
	if (!check_overlap(p, number, &t, start, start + n))
		return false;
	append_fragment(p->to, &(struct rr_rtr_fragment){i, number, start, n, b});
	*left -= n;
	return true;
}

static bool report_numbers(struct placing *p, uint32_t given, uint32_t needed)
{
	return fault_range(p, OPTRERR_BADTBSN, 0, given, needed, needed);
}

/* Returns the number of segments that @left octets need, judged by the first segment,
 * or 1 if there is no segment. */
static uint32_t segments_needed(const struct placing *p, uint32_t left)
{
	struct rr_rtr_target t;

	if (!rr_rtr_target(p->own, 0, &t))
		return 1;
	return (left - 1) / t.length + 1;
}

static bool place_item(struct placing *p, uint32_t i)
{
	const struct rr_rtr_item *it = &p->h->item[i];
	uint32_t left = it->length;

	for (uint16_t k = 0; k < it->where.count; k++) {
		if (!left)
			return report_numbers(p, it->where.count, k);
		if (!place_segment(p, i, p->h->tbsn[it->where.first + k],
		                   k ? 0 : it->offset, &left))
			return false;
	}
	if (left)
		return report_numbers(p, it->where.count,
		                      it->where.count + segments_needed(p, left));
	return true;
}

int rr_rtr_place(const struct rr_rbstruct *own, const struct rr_rtr_header *h,
                 const struct rr_rtr_got *got, struct rr_rtr_placement *ret,
                 struct rr_rtr_error *ret_fault)
{
	struct placing p = {
	        .own = own,
	        .h = h,
	        .got = got,
	        .targets = rr_rtr_targets(own),
	        .to = ret,
	        .fault = ret_fault,
	};

	ret->n = 0;
	if (!check_payload(&p))
		return -EPROTO;
	for (uint32_t i = 0; i < h->n_items; i++)
		if (h->item[i].type == XMDTYPE_TBSN && !place_item(&p, i))
			return -EPROTO;
	return 0;
}

/* -- items that stay in place ---------------------------------------------- */

/* Returns the index, among a buffer's targetable segments, of the segment that contains
 * octet @at. */
static uint32_t segment_at(const struct rr_rbstruct *own, uint32_t at)
{
	return (at - own->group[0].length) / own->group[1].length;
}

static bool shares_segment(const struct rr_rbstruct *own,
                           const struct rr_rtr_fragment *a,
                           const struct rr_rtr_fragment *b)
{
	return a->number == b->number &&
	       segment_at(own, a->at) <= segment_at(own, b->at + b->length - 1) &&
	       segment_at(own, b->at) <= segment_at(own, a->at + a->length - 1);
}

static bool fills_half(const struct rr_rbstruct *own, const struct rr_rtr_fragment *f)
{
	uint32_t n =
	        segment_at(own, f->at + f->length - 1) - segment_at(own, f->at) + 1;

	return f->length >= (uint64_t)n * own->group[1].length / 2;
}

const struct rr_rtr_fragment *rr_rtr_in_place(const struct rr_rbstruct *own,
                                              const struct rr_rtr_placement *p,
                                              uint32_t item)
{
	const struct rr_rtr_fragment *f = NULL;

	for (unsigned i = 0; i < p->n; i++) {
		if (p->fragment[i].item != item)
			continue;
		if (f)
			return NULL;
		f = &p->fragment[i];
	}
	if (!f || !fills_half(own, f))
		return NULL;
	for (unsigned i = 0; i < p->n; i++)
		if (p->fragment[i].item != item &&
		    shares_segment(own, f, &p->fragment[i]))
			return NULL;
	return f;
}
