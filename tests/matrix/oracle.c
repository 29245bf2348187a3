/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected log, derived from the text of the draft: headers octet by octet,
 * parts, one-sided operations and their order, contents.  Values that are free
 * (handles, the credit word, where a payload is cut, whether the types XMOPT are used)
 * are taken from the log and checked by separate rules.  The oracle's other parts are in
 * view.h.
 *
 * V2-4.3.1-01, V2-4.3.3-01 to -06, V2-4.3.4-01, V2-4.3.4.1-01, -02,
 * V2-4.3.4.2-01, -02, V2-4.3.4.4-01 to -03, V2-4.3.5-01 to -08, V2-4.3.5.1-01
 * to -03, V2-4.3.5.2-01, -02, V2-4.3.6-01, -02, -04 to -09, V2-4.3.6.1-01,
 * V2-4.3.6.2-01 to -03, V2-4.4-01, V2-4.4.1-01, V2-4.4.1.1-01 to -04,
 * V2-4.4.2-01, -02, V2-4.4.2.1-01 to -04, V2-4.4.3-01 to -05, -07 to -11,
 * V2-6.2.3-01 to -05, V2-6.4-01 to -05, V2-11.1.2-02, V2-11.1.3-01 to -03,
 * V2-11.1.4-03.
 *
 * Version 1 differs in the points of RFC 8166 §3.3.1 (credits), §3.5 (formats), and
 * §4.2 to §4.5 (layout, errors).
 */
#include "view.h"

enum { REPLY_CHUNK_PARTS = 16 };

/* -- regions --------------------------------------------------------------- */

static const struct mx_event *region_at(const struct mx_view *v, const uint8_t *base,
                                        size_t len, unsigned access)
{
	const struct mx_event *e = NULL;

	while ((e = mx_next(v->w, v->w->asker, MX_REGISTER, e)))
		if (e->base == base) {
			assert_int_equal(e->len, len);
			assert_int_equal(e->access, access);
			return e;
		}
	fail_msg("memory of %zu octets was not registered", len);
	return NULL;
}

/* Memory of the connection's own: told from the user's by its address. */
static const struct mx_event *own_region(const struct mx_view *v, size_t len,
                                         unsigned access)
{
	const struct mx_world *w = v->w;
	const struct mx_event *e = NULL;

	while ((e = mx_next(w, w->asker, MX_REGISTER, e))) {
		bool user = e->access != access;

		for (unsigned i = 0; i < MX_ITEMS; i++)
			user |= e->base == w->call.item[i].p || e->base == w->dest[i].p;
		if (!user) {
			assert_int_equal(e->len, len);
			return e;
		}
	}
	fail_msg("no region of %zu octets", len);
	return NULL;
}

/* Returns true if the Call must provide a Reply chunk.  In version 1, which has no
 * continuation, a Reply that may not fit needs one.  In version 2 only a very long
 * Reply needs one, unless the Reply can be exposed.
 *                                          [RFC 8166 §3.5.3, v2 §A.2, ext §3.4] */
static bool offers_reply_chunk(const struct mx_view *v)
{
	size_t header = 28;

	if (v->family == MX_RTR)
		return v->offers_reply;
	if (v->exposes)
		return mx_rprc_offers(v);
	if (v->w->set->version == 2)
		return v->k->reply_bytes > REPLY_CHUNK_PARTS * v->to_requester;
	for (unsigned i = 0; i < v->k->n_dests; i++)
		header += 8 + 16 * mx_segment_count(v, v->k->dest[i]);
	return header + v->k->reply_bytes > v->to_requester;
}

/* One for each chunk that carries an item, or the Reply. */
static void find_regions(struct mx_view *v)
{
	const struct mx_case *k = v->k;

	for (unsigned i = 0; i < k->n_items; i++)
		if (v->reduced & ~v->call_sent & 1u << i) {
			v->read[i] = region_at(v, v->w->call.item[i].p, k->item[i],
			                       MX_READABLE);
			v->regions++;
		}
	for (unsigned i = 0; v->chunks && i < k->n_dests; i++)
		if (k->dest[i] && !(v->sent_dirs & 1u << i)) {
			v->write[i] =
			        region_at(v, v->w->dest[i].p, k->dest[i], MX_WRITABLE);
			v->regions++;
		}
	if (v->chunks && offers_reply_chunk(v)) {
		v->reply = own_region(v, mx_pad4(k->reply_bytes), MX_WRITABLE);
		v->regions++;
	}
}

/* Finds the region for the payload of a Special Call.  There must be no further
 * regions, and all segments must be within the limit of the Responder. [v2 §5.2.4] */
static void find_payload_region(struct mx_view *v, size_t payload, bool special)
{
	size_t n = 0, segments = 0;

	if (special) {
		v->special = own_region(v, payload, MX_READABLE);
		v->regions++;
	}
	for (const struct mx_event *e = NULL;
	     (e = mx_next(v->w, v->w->asker, MX_REGISTER, e)); n++)
		segments += mx_segment_count(v, e->len);
	assert_int_equal(v->regions, n);
	if (v->w->set->version == 2)
		assert_in_range(segments, 0, v->props[v->responder].max_segments);
}

/* -- messages -------------------------------------------------------------- */

struct parts {
	unsigned side;
	uint32_t flags; /* of the last */
	size_t most;    /* threshold */
	const uint8_t *payload;
	size_t len;
	uint32_t inv_handle; /* of the last Send */
};

/* As few parts as will do. */
static size_t least_parts(const struct mx_view *v, const struct parts *p, size_t header)
{
	size_t end = p->most - RR_MIN(p->most, header), each;
	struct mx_octets o;

	mx_part_header(v, &o, p->flags, 0);
	each = (p->most - o.n) & ~(size_t)3;
	return p->len <= end ? 1 : 1 + (p->len - end + each - 1) / each;
}

/* No notification stands between the parts.                    [ext §3.5] */
static void judge_sequence(const struct mx_event *from, const struct mx_event *to)
{
	for (const struct mx_event *e = from; e && e < to; e++)
		if (e->kind == MX_SEND && e->side == from->side)
			assert_false(mx_is_done(e));
}

/* One message with payload, or several.  Lists stand in the last only.
 *                                                     [v2 §6.2.2.2, ext §6.5] */
static enum mx_result judge_parts(const struct mx_view *v, const struct parts *p,
                                  const struct mx_octets *last_header)
{
	size_t at = 0, n = 0, want = least_parts(v, p, last_header->n);
	const struct mx_event *e = NULL, *first = NULL;

	while ((e = mx_next(v->w, p->side, MX_SEND, e))) {
		bool final = ++n == want;
		struct mx_octets o;
		size_t len;

		assert_true(n <= want);
		assert_true(e->len <= p->most);
		mx_part_header(v, &o, p->flags, 0);
		len = e->len - (final ? last_header->n : o.n);
		assert_true(len >= 4 && len % 4 == 0 && len <= p->len - at);
		mx_part_header(v, &o, p->flags, p->len - at - len);
		mx_compare_header(v, e, final ? last_header : &o);
		assert_memory_equal(e->data + e->len - len, p->payload + at, len);
		at += len;
		assert_int_equal(e->inv_handle, final ? p->inv_handle : 0);
		if (n == 1)
			first = e;
	}
	judge_sequence(first, mx_last(v->w, p->side, MX_SEND));
	assert_int_equal(n, want);
	assert_int_equal(at, p->len);
	return want == 1 ? MX_SIMPLE : MX_CONTINUED;
}

/* RDMA2_NOMSG: the lists and nothing behind them.                [v2 §4.4.3] */
static void judge_special(const struct mx_view *v, unsigned side, size_t most,
                          const struct mx_octets *want, uint32_t inv_handle)
{
	const struct mx_event *e = mx_next(v->w, side, MX_SEND, NULL);

	assert_non_null(e);
	mx_compare_header(v, e, want);
	assert_int_equal(e->len, want->n);
	assert_true(e->len <= most);
	assert_int_equal(e->inv_handle, inv_handle);
	assert_null(mx_next(v->w, side, MX_SEND, e));
}

/* Version 2: the Call names the handle.  Version 1: the Responder chooses it.
 *                                                                 [RFC 8797 §4] */
static void take_inv(struct mx_view *v, unsigned who)
{
	const struct mx_event *e = mx_last(v->w, who, MX_SEND);
	size_t at = MX_PREFIX + (v->carries ? 4 + 4 * v->w->n_owed : 0);

	if (e)
		mx_judge_named(v, v->w->set->version == 1 ? e->inv_handle
		                                          : mx_get(e->data, at));
}

/* Without continuation what does not fit is pulled.       [RFC 8166 §3.5.3] */
static bool must_be_pulled(const struct mx_view *v, size_t payload)
{
	struct mx_octets o;

	mx_call_header(v, &o, false);
	return v->w->set->version == 1 && v->chunks && o.n + payload > v->to_responder;
}

/* A Call of the base types, or of the types X_. */
static enum mx_result judge_plain_call(struct mx_view *v, struct parts *p, bool special)
{
	struct mx_octets o;

	v->carries = !special && mx_rprc_carries(v, p->len);
	if (v->w->set->version == 2)
		take_inv(v, v->w->asker);
	mx_call_header(v, &o, special);
	if (special) {
		judge_special(v, p->side, p->most, &o, 0);
		return MX_SPECIAL;
	}
	if (!v->may_continue && least_parts(v, p, o.n) > 1) {
		assert_null(mx_next(v->w, p->side, MX_SEND, NULL)); /* [R5] */
		return MX_REFUSED;
	}
	if (v->carries)
		p->inv_handle = mx_rprc_carried_handle(
		        v, mx_next(v->w, p->side, MX_SEND, NULL));
	return judge_parts(v, p, &o);
}

static enum mx_result judge_call(struct mx_view *v)
{
	bool special = v->chunks && (v->k->call_flags & RR_CALL_SPECIAL);
	struct parts p = {.side = v->w->asker, .most = v->to_responder};
	enum mx_result ret;
	uint8_t *payload;

	if (mx_rtr_begin(v))
		special = v->body;
	payload = mx_reduced(&v->w->call, v->reduced, &p.len);
	p.payload = payload;
	find_regions(v);
	special |= must_be_pulled(v, p.len);
	find_payload_region(v, p.len, special);
	ret = v->family == MX_RTR ? mx_rtr_request(v, payload, p.len)
	                          : judge_plain_call(v, &p, special);
	free(payload);
	return ret;
}

static size_t reply_header_len(const struct mx_view *v)
{
	struct mx_octets o;

	mx_reply_header(v, &o, MX_SIMPLE, 0, 0);
	return o.n;
}

/* [K9], in its order, with the rows of [ext §3.3]. */
static enum mx_result reply_format(const struct mx_view *v, const struct parts *p)
{
	const struct rr_feature_config *f = &v->k->features[v->responder];
	size_t header = reply_header_len(v);
	bool room = v->reply && p->len <= v->reply->len;

	if (room && f->reply_chunk_first)
		return MX_SPECIAL;
	if (header + p->len <= v->to_requester)
		return MX_SIMPLE;
	if (room)
		return MX_SPECIAL;
	if (v->exposes && v->may_continue &&
	    least_parts(v, p, header) <= f->cont_max_sends)
		return MX_CONTINUED;
	if (v->exposes)
		return MX_EXPOSED;
	return v->may_continue ? MX_CONTINUED : MX_REFUSED;
}

static void judge_refusal(const struct mx_view *v, const struct mx_error *want)
{
	bool v1 = v->w->set->version == 1;
	const struct mx_event *e = mx_next(v->w, v->responder, MX_SEND, NULL);
	unsigned n_args = v1 ? 0 : want->n_args; /* ERR_CHUNK has no arguments */
	struct mx_octets o;

	mx_prefix(v, &o, 4, 1);
	mx_put(&o, v1 ? 2 : want->code);
	for (unsigned i = 0; i < n_args; i++)
		mx_put(&o, want->arg[i]);
	assert_non_null(e);
	mx_compare_header(v, e, &o);
	assert_int_equal(e->len, o.n);
	assert_int_equal(e->inv_handle, 0);
	assert_null(mx_next(v->w, v->responder, MX_SEND, e));
	assert_int_equal(v->w->call_status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(v->w->rc.error.code, v1 ? 2 : want->code);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(v->w->rc.error.arg[i], i < n_args ? want->arg[i] : 0);
}

/* -- one-sided operations -------------------------------------------------- */

/* A Responder looks at so much of a Special Call before it pulls the rest. */
enum { SPECIAL_HEAD = 4096 };

/* Octets [from, to) of the region, a Read for each segment that they touch. */
static const struct mx_event *expect_reads(const struct mx_view *v,
                                           const struct mx_event *at,
                                           const struct mx_event *r, size_t from,
                                           size_t to)
{
	size_t seg = v->w->set->segment_bytes, len;

	for (size_t o = from; o < to; o += len) {
		len = RR_MIN(seg - o % seg, to - o);
		at = mx_next(v->w, v->responder, MX_READ, at);
		assert_non_null(at);
		assert_int_equal(at->handle, r->handle);
		assert_int_equal(at->offset, r->offset + o);
		assert_int_equal(at->len, len);
	}
	return at;
}

static const struct mx_event *expect_special_reads(const struct mx_view *v)
{
	const struct mx_event *r = v->special, *at;
	size_t head;

	if (!r)
		return NULL;
	head = RR_MIN((size_t)SPECIAL_HEAD, r->len);
	at = expect_reads(v, NULL, r, 0, head);
	return expect_reads(v, at, r, head, r->len);
}

static void judge_reads(const struct mx_view *v, enum mx_result reply)
{
	const struct mx_event *at = expect_special_reads(v);

	for (unsigned i = 0; i < v->k->n_items; i++)
		if (v->read[i])
			at = expect_reads(v, at, v->read[i], 0, v->read[i]->len);
	assert_null(mx_next(v->w, v->responder, MX_READ, at));
	if (reply == MX_EXPOSED)
		return; /* judged by mx_judge_pull */
	assert_null(mx_next(v->w, v->w->asker, MX_READ, NULL));
	assert_null(mx_next(v->w, v->responder, MX_REGISTER, NULL));
}

static const struct mx_event *expect_writes(const struct mx_view *v,
                                            const struct mx_event *at,
                                            const struct mx_event *r,
                                            const uint8_t *data, size_t len)
{
	size_t seg = v->w->set->segment_bytes;

	for (size_t o = 0; o < len; o += seg) {
		at = mx_next(v->w, v->responder, MX_WRITE, at);
		assert_non_null(at);
		assert_int_equal(at->handle, r->handle);
		assert_int_equal(at->offset, r->offset + o);
		assert_int_equal(at->len, RR_MIN(seg, len - o));
		assert_memory_equal(at->data, data + o, at->len);
	}
	return at;
}

static void judge_writes(const struct mx_view *v, const uint8_t *payload, size_t len)
{
	const struct mx_event *at = NULL;

	for (unsigned i = 0; i < v->k->n_dests; i++)
		if (mx_filled(v, i))
			at = expect_writes(v, at, v->write[i],
			                   v->w->reply.item[v->result[i]].p,
			                   mx_filled(v, i));
	if (payload)
		at = expect_writes(v, at, v->reply, payload, len);
	assert_null(mx_next(v->w, v->responder, MX_WRITE, at));
	assert_null(mx_next(v->w, v->w->asker, MX_WRITE, NULL));
}

/* -- order ----------------------------------------------------------------- */

static void before(const struct mx_event *a, const struct mx_event *b)
{
	assert_true(!a || !b || a < b);
}

/* Registered, sent, pulled, executed, written, answered, invalid, done. */
static void judge_order(const struct mx_view *v)
{
	const struct mx_world *w = v->w;
	unsigned rq = w->asker, rs = v->responder;
	const struct mx_event *call = mx_last(w, rq, MX_SEND), *arrival = NULL;
	const struct mx_event *done = mx_next(w, rq, MX_CALL_DONE, NULL);

	before(mx_last(w, rq, MX_REGISTER), mx_next(w, rq, MX_SEND, NULL));
	while (call && (arrival = mx_next(w, rs, MX_RECV, arrival)))
		if (arrival->len == call->len &&
		    !memcmp(arrival->data, call->data, call->len))
			break;
	before(arrival, mx_next(w, rs, MX_READ, NULL));
	before(mx_last(w, rs, MX_READ_DONE), mx_next(w, rs, MX_REQUEST, NULL));
	before(mx_next(w, rs, MX_REQUEST, NULL), mx_next(w, rs, MX_WRITE, NULL));
	before(mx_last(w, rs, MX_WRITE), mx_next(w, rs, MX_SEND, NULL));
	before(mx_last(w, rs, MX_WRITE_DONE), mx_next(w, rs, MX_REQUEST_DONE, NULL));
	before(mx_last(w, rq, MX_INVALID), done);
	assert_non_null(done);
}

/* -- contents -------------------------------------------------------------- */

static void judge_dest(const struct mx_view *v, unsigned i)
{
	const struct mx_mem *m = &v->w->dest[i];
	int r = v->result[i];
	size_t len = r >= 0 && v->placed & 1u << r ? v->k->result[r] : 0;

	assert_int_equal(v->w->dests[i].ret_len, len);
	assert_int_equal(v->w->dests[i].ret_used, len > 0);
	assert_int_equal(v->w->dests[i].ret_offered, v->chunks && m->len > 0);
	if (len)
		assert_memory_equal(m->p, v->w->reply.item[r].p, len);
	for (size_t at = len; at < m->len; at++)
		assert_int_equal(m->p[at], 0xcc);
	mx_mem_check(m);
}

/* Nothing but results has changed: not in front, not behind, not what is lent. */
static void judge_memory(const struct mx_view *v, bool answered)
{
	struct mx_stream fresh;

	for (unsigned i = 0; answered && i < v->k->n_dests; i++)
		judge_dest(v, i);
	mx_call_stream(&fresh, v->k, v->w->xid);
	for (unsigned i = 0; i < v->k->n_items; i++) {
		assert_memory_equal(v->w->call.item[i].p, fresh.item[i].p,
		                    v->k->item[i]);
		mx_mem_check(&v->w->call.item[i]);
	}
	mx_stream_free(&fresh);
}

/* Only regions of replies whose notification is still owed may remain. */
static void judge_regions(const struct mx_view *v)
{
	unsigned over = 0, exposed = 0;

	for (const struct mx_event *e = NULL;
	     (e = mx_next(v->w, v->w->asker, MX_INVALID, e));)
		over++;
	assert_int_equal(over, v->regions);
	for (unsigned i = 0; i < v->w->n_owed; i++)
		exposed += v->w->owed[i].regions;
	assert_int_equal(v->w->side[v->w->asker].n_live, 0);
	assert_int_equal(v->w->side[v->responder].n_live, exposed);
}

/* The Reply is delivered as it was laid out. */
static void judge_answer(const struct mx_view *v, const uint8_t *payload, size_t len)
{
	assert_int_equal(v->w->call_status, RR_CALL_OK);
	assert_int_equal(v->w->got_len, len);
	assert_memory_equal(v->w->got, payload, len);
}

/* Returns the handle that the Reply names. */
static uint32_t judge_exposure(struct mx_view *v, size_t payload)
{
	const struct mx_event *r = mx_next(v->w, v->responder, MX_REGISTER, NULL);
	bool able = v->w->set->remote_invalidate && !v->props[v->responder].refuses_inv;
	uint32_t inv;

	assert_non_null(r);
	inv = able ? r->handle : 0;
	mx_judge_pull(v, payload, inv);
	return inv;
}

/* A reply too long for the response to a request without directions is exposed, in an
 * RDMA2_NOMSG.                                                      [ext §5.8] */
static enum mx_result judge_exposed_response(struct mx_view *v)
{
	struct mx_view as = *v;
	struct mx_octets o;
	uint8_t *payload;
	uint32_t inv;
	size_t len;

	as.family = MX_BASE;
	payload = mx_reduced(&v->w->reply, 0, &len);
	inv = judge_exposure(&as, len);
	mx_reply_header(&as, &o, MX_EXPOSED, len, inv);
	judge_special(&as, v->responder, v->to_requester, &o, v->inv);
	judge_answer(v, payload, len);
	judge_writes(v, NULL, len);
	free(payload);
	return MX_EXPOSED;
}

static enum mx_result judge_response(struct mx_view *v)
{
	struct mx_error error;
	enum mx_result f = mx_rtr_response(v, &error);
	size_t len;
	uint8_t *payload;

	if (f == MX_REFUSED && error.code == MX_REPLY_RESOURCE && v->exposes &&
	    !v->k->n_dests)
		return judge_exposed_response(v);
	if (f == MX_REFUSED) {
		v->placed = v->reply_sent = 0;
		judge_refusal(v, &error);
	}
	payload = mx_reduced(&v->w->reply, v->placed, &len);
	if (f != MX_REFUSED)
		judge_answer(v, payload, len);
	judge_writes(v, f == MX_SPECIAL ? payload : NULL, len);
	free(payload);
	return f;
}

/* Refuses a result that is longer than its Write chunk.                  [K10] */
static enum mx_result check_results(const struct mx_view *v, enum mx_result format,
                                    struct mx_error *e)
{
	for (unsigned i = 0; i < v->k->n_dests; i++) {
		int r = v->result[i];

		if (r < 0 || !(v->placed & 1u << r) || v->k->result[r] <= v->k->dest[i])
			continue;
		*e = (struct mx_error){
		        MX_WRITE_RESOURCE, {i + 1, (uint32_t)v->k->result[r]}, 2};
		return MX_REFUSED;
	}
	return format;
}

static enum mx_result judge_reply(struct mx_view *v)
{
	struct parts p = {.side = v->responder, .flags = 1, .most = v->to_requester};
	uint8_t *payload = mx_reduced(&v->w->reply, v->placed, &p.len);
	struct mx_error e = {MX_REPLY_RESOURCE, {(uint32_t)p.len}, 1};
	enum mx_result f = check_results(v, reply_format(v, &p), &e);
	struct mx_octets o;
	uint32_t inv = 0;

	p.payload = payload;
	if (v->w->set->version == 1 && f != MX_REFUSED)
		take_inv(v, v->responder);
	if (v->props[v->w->asker].refuses_inv)
		assert_int_equal(v->inv, 0);
	p.inv_handle = v->inv;
	if (f == MX_EXPOSED)
		inv = judge_exposure(v, p.len);
	mx_reply_header(v, &o, f, p.len, inv);
	if (f == MX_REFUSED) {
		v->placed = 0; /* nothing is written before the format is known */
		judge_refusal(v, &e);
	} else {
		if (f == MX_SPECIAL || f == MX_EXPOSED)
			judge_special(v, p.side, p.most, &o, v->inv);
		else
			assert_int_equal(judge_parts(v, &p, &o), f);
		judge_answer(v, payload, p.len);
	}
	judge_writes(v, f == MX_SPECIAL ? payload : NULL, p.len);
	free(payload);
	return f;
}

/* -- facts known before the call ------------------------------------------- */

static bool has_all(const struct mx_view *v, enum rr_feature f)
{
	return v->w->set->version == 2 &&
	       v->k->features[CLIENT].on & v->k->features[SERVER].on & 1u << f;
}

static uint32_t threshold(const struct mx_view *v, unsigned from)
{
	const struct mx_setting *set = v->w->set;
	uint32_t asked = from == CLIENT ? set->to_server : set->to_client, ret;

	if (set->version == 1)
		return asked;
	ret = RR_MIN(v->props[from].send_bytes, v->props[!from].recv_bytes);
	if (!v->props[from].buffer.targets)
		assert_int_equal(ret, asked);
	return ret;
}

/* Which items are not in the payload, if every destination is a Write chunk. */
static void choose_items(struct mx_view *v)
{
	for (unsigned i = 0; i < MX_ITEMS; i++)
		v->result[i] = i < v->k->n_results ? (int)i : -1;
	if (!v->chunks)
		return; /* below level 3 there are none [v2 §4.5.3] */
	for (unsigned i = 0; i < v->k->n_items; i++)
		if (v->k->item[i] >= MX_REDUCE_FROM &&
		    !(v->k->call_flags & RR_CALL_NO_REDUCE))
			v->reduced |= 1u << i;
	for (unsigned i = 0; i < RR_MIN(v->k->n_results, v->k->n_dests); i++)
		if (v->k->dest[i] || !v->k->result[i])
			v->placed |= 1u << i;
}

static void choose(struct mx_view *v)
{
	const struct mx_setting *set = v->w->set;

	if (set->version == 2)
		assert_int_equal(RR_MIN(v->props[CLIENT].segment_bytes,
		                        v->props[SERVER].segment_bytes),
		                 set->segment_bytes);
	v->responder = !v->w->asker;
	v->to_responder = threshold(v, v->w->asker);
	v->to_requester = threshold(v, v->responder);
	v->chunks = v->k->dir == MX_FORWARD || v->k->dir == MX_REVERSE;
	v->may_continue = set->version == 2 && v->k->dir != MX_REVERSE_SIMPLE;
	v->exposes = v->chunks && v->props[v->w->asker].rprc & 1 &&
	             v->props[v->responder].rprc & 2;
	v->family = has_all(v, RR_FEATURE_HTFAM) ? MX_HTFAM : MX_BASE;
	choose_items(v);
}

void mx_judge(struct mx_world *w, struct mx_seen *ret)
{
	struct mx_view v = {.w = w, .k = w->k};

	mx_judge_props(&v);
	choose(&v);
	assert_true(w->call_done);
	mx_judge_arrival(w, CLIENT);
	mx_judge_arrival(w, SERVER);
	mx_judge_grants(&v);
	mx_judge_credits(&v);
	*ret = (struct mx_seen){.call = judge_call(&v), .reply = MX_REFUSED};
	ret->regions = v.regions;
	ret->carried = v.carries;
	if (v.carries)
		w->n_owed = 0;
	if (v.carries)
		v.family = MX_BASE;
	if (ret->call == MX_REFUSED) {
		assert_int_equal(w->call_status, -EMSGSIZE);
		assert_false(w->request_seen);
	} else {
		assert_true(w->request_seen);
		ret->reply = v.family == MX_RTR ? judge_response(&v) : judge_reply(&v);
		judge_reads(&v, ret->reply);
	}
	ret->family = v.family;
	ret->call_sent = v.call_sent;
	ret->reply_sent = v.reply_sent;
	ret->reserved = v.reserved;
	judge_order(&v);
	judge_memory(&v, ret->reply != MX_REFUSED);
	judge_regions(&v);
}
