/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle's part for the log: arrival, credits, and messages that only grant. */
#include "view.h"

enum { DONE = 3, X_GRANT = 0xffffff45 };

uint32_t mx_get(const uint8_t *p, size_t at)
{
	return (uint32_t)p[at] << 24 | (uint32_t)p[at + 1] << 16 |
	       (uint32_t)p[at + 2] << 8 | p[at + 3];
}

uint32_t mx_htype(const struct mx_event *e)
{
	return mx_get(e->data, 12);
}

bool mx_is_grant(const struct mx_event *e)
{
	return e->len >= MX_PREFIX && mx_get(e->data, 0) == 0 &&
	       (mx_htype(e) == 1 || mx_htype(e) == X_GRANT);
}

bool mx_is_done(const struct mx_event *e)
{
	return e->len == MX_PREFIX && mx_get(e->data, 4) == 2 && mx_htype(e) == DONE;
}

const struct mx_event *mx_next(const struct mx_world *w, unsigned side,
                               enum mx_kind kind, const struct mx_event *after)
{
	const struct mx_event *e = after ? after + 1 : w->log + w->call_at;

	for (; e < w->log + w->n_log; e++)
		if (e->side == side && e->kind == kind &&
		    (kind != MX_SEND || !(mx_is_grant(e) || mx_is_done(e))))
			return e;
	return NULL;
}

const struct mx_event *mx_last(const struct mx_world *w, unsigned side,
                               enum mx_kind kind)
{
	const struct mx_event *e = NULL, *n;

	while ((n = mx_next(w, side, kind, e)))
		e = n;
	return e;
}

void mx_judge_arrival(const struct mx_world *w, unsigned from)
{
	unsigned s = 0, r = 0;

	for (;;) {
		while (s < w->n_log &&
		       (w->log[s].side != from || w->log[s].kind != MX_SEND))
			s++;
		while (r < w->n_log &&
		       (w->log[r].side == from || w->log[r].kind != MX_RECV))
			r++;
		if (s == w->n_log || r == w->n_log)
			break;
		assert_true(s < r);
		assert_int_equal(w->log[s].len, w->log[r].len);
		assert_memory_equal(w->log[s].data, w->log[r].data, w->log[s].len);
		s++;
		r++;
	}
	assert_int_equal(r, w->n_log);
	assert_int_equal(s, w->n_log);
}

/* A grant message is an empty RDMA2_NOMSG with XID 0 or, between peers with the feature
 * HTFAM, RDMA2_X_GRANT.                               [v2 §6.3.2, ext §6.5] */
void mx_judge_grants(const struct mx_view *v)
{
	static const uint8_t zero[20];
	const struct mx_world *w = v->w;
	bool x = v->props[CLIENT].htfam & 2 && v->props[SERVER].htfam & 2;

	for (unsigned i = w->call_at; i < w->n_log; i++) {
		const struct mx_event *e = &w->log[i];

		if (e->kind != MX_SEND || !mx_is_grant(e))
			continue;
		assert_int_equal(w->set->version, 2);
		assert_int_equal(mx_htype(e), x ? X_GRANT : 1);
		assert_int_equal(e->len, x ? 20 : 36);
		assert_memory_equal(e->data + 16, zero, e->len - 16);
		assert_int_equal(e->inv_handle, 0);
	}
}

/* Each Send uses a credit, and grants at least one.  Before a side has received
 * anything, the client may send one message and the server none.  Nobody holds more
 * credits than the ceiling.                           [v2 §4.2.1, §4.2.3, C3] */
void mx_judge_credits(const struct mx_view *v)
{
	const struct mx_world *w = v->w;
	uint32_t most = w->set->credits, held[2] = {[CLIENT] = 1};

	if (w->set->version == 1)
		return;
	for (unsigned i = 0; i < w->n_log; i++) {
		const struct mx_event *e = &w->log[i];
		uint32_t word;

		if (e->kind != MX_SEND && e->kind != MX_RECV)
			continue;
		word = mx_get(e->data, 8);
		assert_int_equal(word >> 16, most);
		assert_in_range(word & 0xffff, 1, most);
		if (e->kind == MX_RECV)
			held[e->side] = RR_MIN(held[e->side] + (word & 0xffff), most);
		else
			assert_true(held[e->side]-- > 0);
	}
}
