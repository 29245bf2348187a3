/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle's part for exposed replies and pull completion notifications.   [ext §3]
 *
 * RR-4.1-02 to -04, RR-4.1.2-01, -03, RR-4.1.3-01, -02, RR-4.1.4-02, -04, -05, RR-7-01
 */
#include "view.h"

enum { PIGGYBACK = 4, MOST_CARRIED = 16 };

/* Returns the octets that an RDMA2_MSG or RDMA2_X_REPLY_LAST has for the Reply, if its
 * header returns every Write chunk. */
static size_t reply_room(const struct mx_view *v)
{
	size_t header = v->family == MX_HTFAM ? 24 : 36;

	for (unsigned i = 0; v->chunks && i < v->k->n_dests; i++)
		header += 8 + 16 * mx_segment_count(v, v->k->dest[i]);
	return v->to_requester - header;
}

bool mx_rprc_offers(const struct mx_view *v)
{
	size_t most = v->k->reply_bytes, room = reply_room(v);

	if (most <= room) /* rows 1 and 4 */
		return false;
	if (v->k->features[v->w->asker].no_reply_chunks) /* row 5 */
		return false;
	if (v->k->call_flags & RR_CALL_LARGE_REPLY) /* row 6 */
		return true;
	return v->k->reply_min > room; /* rows 2 and 3 */
}

/* -- the pull -------------------------------------------------------------- */

/* The Responder's memory holds the Reply and nothing else, and may only be read; each
 * segment is read once, in order.                                 [ext §3.2, §3.5] */
static unsigned judge_exposed_reads(const struct mx_view *v, size_t payload)
{
	const struct mx_world *w = v->w;
	const struct mx_event *r = NULL, *at = NULL;
	size_t sum = 0, segments = 0, seg = w->set->segment_bytes;
	unsigned n = 0;

	while ((r = mx_next(w, v->responder, MX_REGISTER, r))) {
		assert_int_equal(r->access, MX_READABLE);
		for (size_t o = 0; o < r->len; o += seg) {
			at = mx_next(w, w->asker, MX_READ, at);
			assert_non_null(at);
			assert_int_equal(at->handle, r->handle);
			assert_int_equal(at->offset, r->offset + o);
			assert_int_equal(at->len, RR_MIN(seg, r->len - o));
		}
		sum += r->len;
		segments += mx_segment_count(v, r->len);
		n++;
	}
	assert_int_equal(sum, payload);
	assert_in_range(segments, 1, v->props[w->asker].max_segments);
	assert_null(mx_next(w, w->asker, MX_READ, at));
	assert_true(mx_last(w, v->responder, MX_REGISTER) <
	            mx_next(w, v->responder, MX_SEND, NULL));
	return n;
}

static const struct mx_event *only_done(const struct mx_world *w)
{
	const struct mx_event *done = NULL;

	for (unsigned i = w->call_at; i < w->n_log; i++)
		if (w->log[i].kind == MX_SEND && mx_is_done(&w->log[i])) {
			assert_null(done);
			done = &w->log[i];
		}
	return done;
}

/* The notification invalidates the handle that the Reply has named.  [ext §3.7] */
static void judge_done(const struct mx_view *v, uint32_t inv)
{
	const struct mx_world *w = v->w;
	const struct mx_event *done = only_done(w);

	assert_non_null(done);
	assert_int_equal(done->side, w->asker);
	assert_int_equal(mx_get(done->data, 0), w->xid);
	assert_int_equal(mx_get(done->data, 16), 0);
	assert_int_equal(done->inv_handle, inv);
	assert_true(mx_last(w, w->asker, MX_READ_DONE) < done);
}

void mx_judge_pull(struct mx_view *v, size_t payload, uint32_t inv)
{
	struct mx_world *w = v->w;
	unsigned regions = judge_exposed_reads(v, payload);

	if (!(v->props[v->responder].rprc & PIGGYBACK)) {
		judge_done(v, inv);
		return;
	}
	/* The notification waits for a Call. */
	assert_null(only_done(w));
	assert_true(w->n_owed < MX_OWED);
	w->owed[w->n_owed++] = (struct mx_owed){w->xid, inv, regions};
}

/* -- RDMA2_MSG_DONE ------------------------------------------------ [ext §3.6] */

bool mx_rprc_carries(const struct mx_view *v, size_t payload)
{
	struct mx_view as = *v;
	struct mx_octets o;

	if (!v->w->n_owed || v->special)
		return false;
	assert_true(v->w->n_owed <= MOST_CARRIED);
	as.carries = true;
	mx_call_header(&as, &o, false);
	return o.n + payload <= v->to_responder;
}

/* The Call invalidates at most one handle, of one of the replies. RR-4.1.4-02 */
uint32_t mx_rprc_carried_handle(const struct mx_view *v, const struct mx_event *call)
{
	const struct mx_world *w = v->w;
	bool any = false, known = false;

	assert_null(only_done(w));
	for (unsigned i = 0; i < w->n_owed; i++) {
		any |= w->owed[i].inv != 0;
		known |= w->owed[i].inv && w->owed[i].inv == call->inv_handle;
	}
	assert_int_equal(known, any);
	return known ? call->inv_handle : 0;
}
