/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle's part for the layout of a group, step by step as in [ext §5.4]. */
#include "view.h"

enum { CONT_HEADER = 20 + 12, TBSN_OCTETS = 4, NONE = -1 };

struct laying {
	const struct mx_load *l;
	struct mx_group *g;
	unsigned item;    /* the current one */
	size_t item_done; /* octets of it */
	size_t payload_left;
};

/* Octets of items that are left. */
static size_t items_left(const struct laying *s)
{
	size_t left = 0;

	for (unsigned i = s->item; i < s->l->n_items; i++)
		left += s->l->item[i];
	return left - s->item_done;
}

/* The lowest targetable segment that begins at @off or later and ends within the
 * limit. */
static int lowest_segment(const struct laying *s, size_t off)
{
	const struct mx_buffer *b = s->l->to;

	for (unsigned i = 0; i < b->n; i++)
		if (b->seg[i].target && b->seg[i].start >= off &&
		    b->seg[i].start + b->seg[i].length <= s->l->limit)
			return (int)i;
	return NONE;
}

static unsigned targets_before(const struct mx_buffer *b, int i)
{
	unsigned n = 0;

	while (i-- > 0)
		n += b->seg[i].target;
	return n;
}

/* Puts octets of the current item at the start of segment @i; returns where they end.
 */
static size_t place_octets(struct laying *s, unsigned k, int i)
{
	const struct mx_buffer *b = s->l->to;
	struct mx_group *g = s->g;
	size_t q;

	while (s->item_done == s->l->item[s->item]) {
		s->item++;
		s->item_done = 0;
	}
	q = RR_MIN((size_t)b->seg[i].length, s->l->item[s->item] - s->item_done);
	assert_true(g->n_fragments < MX_FRAGMENTS && g->n_tbsns[s->item] < MX_TBSNS);
	g->fragment[g->n_fragments++] =
	        (struct mx_fragment){k, s->item, b->seg[i].start, s->item_done, q};
	g->tbsn[s->item][g->n_tbsns[s->item]++] = k * b->targets + targets_before(b, i);
	s->item_done += q;
	return b->seg[i].start + q;
}

static bool lay_out_transmission(struct laying *s, unsigned k)
{
	size_t off = s->g->header[k], lim = s->l->limit, q, before = items_left(s);
	int i = before ? lowest_segment(s, off) : NONE;

	if (off > lim)
		return false;
	if (i != NONE)
		lim = s->l->to->seg[i].start;
	q = RR_MIN(s->payload_left, lim - off);
	s->g->pslen[k] = q;
	s->payload_left -= q;
	off += q;
	while (items_left(s) && (i = lowest_segment(s, off)) != NONE)
		off = place_octets(s, k, i);
	s->g->len[k] = off;
	return q || items_left(s) < before || (!before && !k);
}

static bool lay_out_once(const struct mx_load *l, unsigned most, size_t header,
                         struct mx_group *g)
{
	struct laying s = {.l = l, .g = g, .payload_left = l->payload};

	*g = (struct mx_group){0};
	do {
		if (g->count == most)
			return false;
		g->header[g->count] = g->count ? CONT_HEADER : header;
		if (!lay_out_transmission(&s, g->count++))
			return false;
	} while (s.payload_left || items_left(&s));
	return true;
}

static size_t count_tbsns(const struct mx_group *g)
{
	size_t n = 0;

	for (unsigned i = 0; i < MX_ITEMS; i++)
		n += g->n_tbsns[i];
	return n;
}

/* The first header contains all segment numbers.  Guesses their number, lays the group
 * out, and repeats this with the number found, until the two agree. */
bool mx_lay_out(const struct mx_load *l, unsigned most, struct mx_group *ret)
{
	int i = lowest_segment(&(struct laying){.l = l}, 0);
	size_t guess = 0, n;

	most = RR_MIN(most, (unsigned)MX_TRANSMISSIONS);
	for (unsigned k = 0; i != NONE && k < l->n_items; k++)
		guess += (l->item[k] + l->to->seg[i].length - 1) / l->to->seg[i].length;
	for (unsigned attempt = 0; attempt < 3; attempt++, guess = n) {
		if (!lay_out_once(l, most, l->header + TBSN_OCTETS * guess, ret))
			return false;
		n = count_tbsns(ret);
		if (n == guess)
			return true;
	}
	return false;
}
