/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle's part for the log: arrival, credits, and messages that only grant. */
#include "view.h"

enum {
	DONE = 3,
	XMOPT_REQ = 0xffffff15,
	XMOPT_CONT = 0xffffff17,
	X_GRANT = 0xffffff45,
};

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

/* -- credits ------------------------------------------- [v2 §4.2.1, §4.2.3, C3] */

struct credits {
	uint32_t most; /* the ceiling of both sides */
	uint32_t avail, owed;
	bool sent;
};

/* Each message grants one credit for the one that it uses, and some of those owed; the
 * first one grants the ceiling.  A group may use credits that its sender owes.
 *                                                                   [ext §2.5] */
static void judge_spending(struct credits *c, const struct mx_event *e)
{
	uint32_t type = mx_htype(e), given = mx_get(e->data, 8) & 0xffff;
	bool group = type >= XMOPT_REQ && type <= XMOPT_CONT;

	if (!c->avail && group && c->owed) {
		c->owed--;
		c->avail++;
	}
	assert_true(c->avail-- > 0);
	if (!c->sent)
		assert_int_equal(given, c->most);
	else
		assert_in_range(given, 1, 1 + c->owed);
	c->owed -= c->sent ? given - 1 : 0;
	c->sent = true;
}

/* Credits above the ceiling are owed at once. */
static void take_credits(struct credits *c, const struct mx_event *e)
{
	c->avail += mx_get(e->data, 8) & 0xffff;
	if (c->avail > c->most) {
		c->owed += c->avail - c->most;
		c->avail = c->most;
	}
}

/* Before a side has received anything, the client may send one message and the server
 * none.  The client owes the credit that it had for its first message. */
void mx_judge_credits(const struct mx_view *v)
{
	const struct mx_world *w = v->w;
	struct credits c[2] = {
	        [CLIENT] = {.most = w->set->credits, .avail = 1, .owed = 1},
	        [SERVER] = {.most = w->set->credits}};

	if (w->set->version == 1)
		return;
	for (unsigned i = 0; i < w->n_log; i++) {
		const struct mx_event *e = &w->log[i];

		if (e->kind != MX_SEND && e->kind != MX_RECV)
			continue;
		assert_int_equal(mx_get(e->data, 8) >> 16, w->set->credits);
		if (e->kind == MX_SEND)
			judge_spending(&c[e->side], e);
		else
			take_credits(&c[e->side], e);
	}
}
