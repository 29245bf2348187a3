/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must be seen, from the text: headers octet by octet, parts, one-sided
 * operations and their order, contents.  Values that are free (handles, the
 * credit word, where a payload is cut, which handle may be invalidated) are
 * taken from the log and held to their own rules.
 *
 * V2-4.3.1-01, V2-4.3.3-01 to -06, V2-4.3.4-01, V2-4.3.4.1-01, -02,
 * V2-4.3.4.2-01, -02, V2-4.3.4.4-01 to -03, V2-4.3.5-01 to -08, V2-4.3.5.1-01
 * to -03, V2-4.3.5.2-01, -02, V2-4.3.6-01, -02, -04 to -09, V2-4.3.6.1-01,
 * V2-4.3.6.2-01 to -03, V2-4.4-01, V2-4.4.1-01, V2-4.4.1.1-01 to -04,
 * V2-4.4.2-01, -02, V2-4.4.2.1-01 to -04, V2-4.4.3-01 to -05, -07 to -11,
 * V2-6.2.3-01 to -05, V2-6.4-01 to -05, V2-11.1.2-02, V2-11.1.3-01 to -03,
 * V2-11.1.4-03; of replies that are exposed: RR-4.1-02 to -04, RR-4.1.2-01, -03,
 * RR-4.1.3-01, RR-4.1.4-04, -05, RR-7-01.
 *
 * In version 1 the same, but for what these say: RFC 8166 §3.3.1 (credits), §3.5
 * (formats), §4.2 to §4.5 (layout, errors).
 */
#include "matrix.h"

enum { PREFIX = 20, REDUCE_FROM = 512, REPLY_CHUNK_PARTS = 16 };
enum { READABLE = 1, WRITABLE = 2 };

struct view {
	struct mx_world *w;
	const struct mx_case *k;
	unsigned responder;
	size_t to_responder, to_requester; /* thresholds */
	bool chunks, may_continue;
	bool exposed;     /* a Reply that does not fit is exposed */
	unsigned reduced; /* bits: items of the Call */
	unsigned placed;  /* bits: results in Write chunks */
	const struct mx_event *read[MX_ITEMS], *write[MX_ITEMS], *special, *reply;
	unsigned regions;
	uint32_t inv; /* as the Call had it */
};

struct octets {
	uint8_t p[MX_HEADER];
	size_t n;
};

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void put(struct octets *o, uint32_t v)
{
	assert_true(o->n + 4 <= MX_HEADER);
	o->p[o->n++] = (uint8_t)(v >> 24);
	o->p[o->n++] = (uint8_t)(v >> 16);
	o->p[o->n++] = (uint8_t)(v >> 8);
	o->p[o->n++] = (uint8_t)v;
}

static uint32_t get(const uint8_t *p, size_t at)
{
	return (uint32_t)p[at] << 24 | (uint32_t)p[at + 1] << 16 |
	       (uint32_t)p[at + 2] << 8 | p[at + 3];
}

/* -- the log ----------------------------------------------------------------------- */

static bool is_grant(const struct mx_event *e)
{
	return e->len >= 20 && get(e->data, 0) == 0 && get(e->data, 12) == 1;
}

/* A pull completion notification.                                    [ext §3.5] */
static bool is_done(const struct mx_event *e)
{
	return e->len == 20 && get(e->data, 4) == 2 && get(e->data, 12) == 3;
}

/* The next event of a kind from @at on, grants and notifications left out; NULL if
 * none. */
static const struct mx_event *next(const struct mx_world *w, unsigned side,
                                   enum mx_kind kind, const struct mx_event *after)
{
	const struct mx_event *e = after ? after + 1 : w->log + w->call_at;

	for (; e < w->log + w->n_log; e++)
		if (e->side == side && e->kind == kind &&
		    (kind != MX_SEND || !(is_grant(e) || is_done(e))))
			return e;
	return NULL;
}

static const struct mx_event *last(const struct mx_world *w, unsigned side,
                                   enum mx_kind kind)
{
	const struct mx_event *e = NULL, *n;

	while ((n = next(w, side, kind, e)))
		e = n;
	return e;
}

/* What was sent is what arrives, in that order. */
static void judge_arrival(const struct mx_world *w, unsigned from)
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

/* A grant is an empty RDMA2_NOMSG with XID 0.                     [v2 §6.3.2] */
static void judge_grants(const struct mx_world *w)
{
	static const uint8_t zero[16];

	for (unsigned i = w->call_at; i < w->n_log; i++) {
		const struct mx_event *e = &w->log[i];

		if (e->kind != MX_SEND || !is_grant(e))
			continue;
		assert_int_equal(w->set->version, 2);
		assert_int_equal(e->len, 36);
		assert_memory_equal(e->data + PREFIX, zero, 16);
		assert_int_equal(e->inv_handle, 0);
	}
}

/* -- regions --------------------------------------------------------------- */

static const struct mx_event *region_at(const struct view *v, const uint8_t *base,
                                        size_t len, unsigned access)
{
	const struct mx_event *e = NULL;

	while ((e = next(v->w, v->w->asker, MX_REGISTER, e)))
		if (e->base == base) {
			assert_int_equal(e->len, len);
			assert_int_equal(e->access, access);
			return e;
		}
	fail_msg("memory of %zu octets was not registered", len);
	return NULL;
}

/* Memory of the connection's own: told from the user's by its address. */
static const struct mx_event *own_region(const struct view *v, size_t len,
                                         unsigned access)
{
	const struct mx_world *w = v->w;
	const struct mx_event *e = NULL;

	while ((e = next(w, w->asker, MX_REGISTER, e))) {
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

static size_t chunk_octets(const struct view *v, size_t len)
{
	size_t seg = v->w->set->segment_bytes;

	return 4 + 16 * ((len + seg - 1) / seg);
}

/* A Reply that may not fit needs one in version 1, where nothing is continued;
 * in version 2 only a very long one does.        [RFC 8166 §3.5.3, v2 §A.2] */
static bool offers_reply_chunk(const struct view *v)
{
	size_t header = mx_empty(v->w->set);

	if (v->w->set->version == 2)
		return v->k->reply_bytes > REPLY_CHUNK_PARTS * v->to_requester;
	for (unsigned i = 0; i < v->k->n_dests; i++)
		header += 4 + chunk_octets(v, v->k->dest[i]);
	return header + v->k->reply_bytes > v->to_requester;
}

/* One for each chunk that carries an item, or the Reply. */
static void find_regions(struct view *v)
{
	const struct mx_case *k = v->k;

	for (unsigned i = 0; i < k->n_items; i++)
		if (v->reduced & 1u << i) {
			v->read[i] = region_at(v, v->w->call.item[i].p, k->item[i],
			                       READABLE);
			v->regions++;
		}
	for (unsigned i = 0; v->chunks && i < k->n_dests; i++)
		if (k->dest[i]) {
			v->write[i] =
			        region_at(v, v->w->dest[i].p, k->dest[i], WRITABLE);
			v->regions++;
		}
	if (v->chunks && offers_reply_chunk(v)) {
		v->reply = own_region(v, pad4(k->reply_bytes), WRITABLE);
		v->regions++;
	}
}

/* And one for the payload of a Special Call; nothing besides. */
static void find_payload_region(struct view *v, size_t payload, bool special)
{
	unsigned n = 0;

	if (special) {
		v->special = own_region(v, payload, READABLE);
		v->regions++;
	}
	for (const struct mx_event *e = NULL;
	     (e = next(v->w, v->w->asker, MX_REGISTER, e));)
		n++;
	assert_int_equal(v->regions, n);
	if (!v->exposed)
		assert_null(next(v->w, v->responder, MX_REGISTER, NULL));
}

/* -- headers --------------------------------------------------------------- */

/* The prefix, and in version 2 flags and the handle.
 *                                       [v2 §6.2.1, §6.2.2, RFC 8166 §4.2] */
static void mx_header(const struct view *v, struct octets *o, uint32_t htype,
                      uint32_t flags, uint32_t inv)
{
	o->n = 0;
	put(o, v->w->xid);
	put(o, v->w->set->version);
	put(o, 0); /* credits: compared elsewhere */
	put(o, htype);
	if (v->w->set->version == 1)
		return;
	put(o, flags);
	put(o, inv);
}

static void put_segment(struct octets *o, const struct mx_event *r, size_t at,
                        size_t len)
{
	uint64_t offset = r->offset + at;

	put(o, r->handle);
	put(o, (uint32_t)len);
	put(o, (uint32_t)(offset >> 32));
	put(o, (uint32_t)offset);
}

static void put_reads(const struct view *v, struct octets *o, const struct mx_event *r,
                      size_t position)
{
	size_t seg = v->w->set->segment_bytes;

	for (size_t at = 0; r && at < r->len; at += seg) {
		put(o, 1);
		put(o, (uint32_t)position);
		put_segment(o, r, at, RR_MIN(seg, r->len - at));
	}
}

/* A Write chunk of which @used octets are filled, from the front. */
static void put_chunk(const struct view *v, struct octets *o, const struct mx_event *r,
                      size_t used)
{
	size_t seg = v->w->set->segment_bytes;

	put(o, r ? (uint32_t)((r->len + seg - 1) / seg) : 0);
	for (size_t at = 0; r && at < r->len; at += seg) {
		size_t room = RR_MIN(seg, r->len - at);

		put_segment(o, r, at, used > at ? RR_MIN(room, used - at) : 0);
	}
}

static void put_call_lists(const struct view *v, struct octets *o)
{
	put_reads(v, o, v->special, 0);
	for (unsigned i = 0; i < v->k->n_items; i++)
		put_reads(v, o, v->read[i], v->w->call.item_at[i]);
	put(o, 0);
	for (unsigned i = 0; v->chunks && i < v->k->n_dests; i++) {
		put(o, 1);
		put_chunk(v, o, v->write[i], v->k->dest[i]);
	}
	put(o, 0);
	put(o, v->reply != NULL);
	if (v->reply)
		put_chunk(v, o, v->reply, v->reply->len);
}

static size_t placed_len(const struct view *v, unsigned i)
{
	return v->placed & 1u << i ? v->k->result[i] : 0;
}

static void put_reply_lists(const struct view *v, struct octets *o, bool special,
                            size_t payload)
{
	/* no Read list [V2-4.4.1.1-04], but for what is exposed [ext §3.2] */
	for (const struct mx_event *r = NULL;
	     v->exposed && (r = next(v->w, v->responder, MX_REGISTER, r));)
		put_reads(v, o, r, 0);
	put(o, 0);
	for (unsigned i = 0; v->chunks && i < v->k->n_dests; i++) {
		put(o, 1);
		put_chunk(v, o, v->write[i], placed_len(v, i));
	}
	put(o, 0);
	/* Version 1 gives it back also if it was not used. [RFC 8166 §4.3.3] */
	if (v->w->set->version == 2 && !special) {
		put(o, 0);
		return;
	}
	put(o, v->reply != NULL);
	if (v->reply)
		put_chunk(v, o, v->reply, special ? payload : 0);
}

static void compare_header(const struct view *v, const struct mx_event *e,
                           const struct octets *want)
{
	uint32_t credit;

	assert_true(e->len >= want->n);
	assert_memory_equal(e->data, want->p, 8);
	assert_memory_equal(e->data + 12, want->p + 12, want->n - 12);
	credit = get(e->data, 8);
	if (v->w->set->version == 1) { /* what is wanted, or granted */
		assert_int_equal(credit, v->w->set->credits);
		return;
	}
	assert_int_equal(credit >> 16, v->w->set->credits);
	assert_in_range(credit & 0xffff, 1, v->w->set->credits);
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
static size_t least_parts(const struct view *v, const struct parts *p, size_t header)
{
	size_t each = (p->most - mx_empty(v->w->set)) & ~(size_t)3;
	size_t end = p->most - RR_MIN(p->most, header);

	return p->len <= end ? 1 : 1 + (p->len - end + each - 1) / each;
}

/* RDMA2_MSG, one or several.  Lists stand in the last only.  [v2 §6.2.2.2] */
static enum mx_result judge_parts(const struct view *v, const struct parts *p,
                                  const struct octets *last_header)
{
	size_t at = 0, n = 0, want = least_parts(v, p, last_header->n);
	const struct mx_event *e = NULL;

	while ((e = next(v->w, p->side, MX_SEND, e))) {
		bool final = ++n == want;
		struct octets o;
		size_t len;

		assert_true(n <= want);
		assert_true(e->len <= p->most);
		mx_header(v, &o, 0, p->flags | 2, 0);
		put(&o, 0);
		put(&o, 0);
		put(&o, 0);
		compare_header(v, e, final ? last_header : &o);
		len = e->len - (final ? last_header->n : o.n);
		assert_true(len >= 4 && len % 4 == 0 && len <= p->len - at);
		assert_memory_equal(e->data + e->len - len, p->payload + at, len);
		at += len;
		assert_int_equal(e->inv_handle, final ? p->inv_handle : 0);
	}
	assert_int_equal(n, want);
	assert_int_equal(at, p->len);
	return want == 1 ? MX_SIMPLE : MX_CONTINUED;
}

/* RDMA2_NOMSG: the lists and nothing behind them.                [v2 §4.4.3] */
static void judge_special(const struct view *v, unsigned side, size_t most,
                          const struct octets *want, uint32_t inv_handle)
{
	const struct mx_event *e = next(v->w, side, MX_SEND, NULL);

	assert_non_null(e);
	compare_header(v, e, want);
	assert_int_equal(e->len, want->n);
	assert_true(e->len <= most);
	assert_int_equal(e->inv_handle, inv_handle);
	assert_null(next(v->w, side, MX_SEND, e));
}

/* Version 2: the Call says it.  Version 1: the Responder chose it. [RFC 8797 §4] */
static void take_inv(struct view *v, unsigned who)
{
	const struct mx_event *e = last(v->w, who, MX_SEND);
	bool known = false;

	if (!e)
		return;
	v->inv = v->w->set->version == 1 ? e->inv_handle : get(e->data, PREFIX);
	for (const struct mx_event *r = NULL;
	     (r = next(v->w, v->w->asker, MX_REGISTER, r));)
		known |= r->handle == v->inv;
	assert_true(v->w->set->remote_invalidate && v->regions ? known : !v->inv);
}

/* Without continuation what does not fit is pulled.       [RFC 8166 §3.5.3] */
static bool must_be_pulled(const struct view *v, size_t payload)
{
	struct octets o;

	mx_header(v, &o, 0, 0, 0);
	put_call_lists(v, &o);
	return v->w->set->version == 1 && v->chunks && o.n + payload > v->to_responder;
}

static enum mx_result judge_call(struct view *v)
{
	bool special = v->chunks && (v->k->call_flags & RR_CALL_SPECIAL);
	struct parts p = {.side = v->w->asker, .most = v->to_responder};
	uint8_t *payload = mx_reduced(&v->w->call, v->reduced, &p.len);
	enum mx_result ret = MX_SPECIAL;
	struct octets o;

	p.payload = payload;
	find_regions(v);
	special |= must_be_pulled(v, p.len);
	find_payload_region(v, p.len, special);
	if (v->w->set->version == 2)
		take_inv(v, v->w->asker);
	mx_header(v, &o, special, 0, v->inv);
	put_call_lists(v, &o);
	if (special) {
		judge_special(v, p.side, p.most, &o, 0);
	} else if (!v->may_continue && least_parts(v, &p, o.n) > 1) {
		assert_null(next(v->w, p.side, MX_SEND, NULL)); /* [R5] */
		ret = MX_REFUSED;
	} else {
		ret = judge_parts(v, &p, &o);
	}
	free(payload);
	return ret;
}

/* [K9], in its order. */
static enum mx_result reply_format(const struct view *v, size_t payload)
{
	struct octets o;

	mx_header(v, &o, 0, 0, 0);
	put_reply_lists(v, &o, false, 0);
	if (o.n + payload <= v->to_requester)
		return MX_SIMPLE;
	if (v->reply && payload <= v->reply->len)
		return MX_SPECIAL;
	if (v->exposed)
		return MX_EXPOSED;
	return v->may_continue ? MX_CONTINUED : MX_REFUSED;
}

static void judge_refusal(const struct view *v, size_t payload)
{
	bool v1 = v->w->set->version == 1;
	const struct mx_event *e = next(v->w, v->responder, MX_SEND, NULL);
	struct octets o;

	mx_header(v, &o, 4, 1, 10);          /* RDMA2_ERR_REPLY_RESOURCE */
	put(&o, v1 ? 2 : (uint32_t)payload); /* ERR_CHUNK has nothing more to say */
	assert_non_null(e);
	compare_header(v, e, &o);
	assert_int_equal(e->len, o.n);
	assert_int_equal(e->inv_handle, 0);
	assert_null(next(v->w, v->responder, MX_SEND, e));
	assert_int_equal(v->w->call_status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(v->w->rc.error.code, v1 ? 2 : 10);
	assert_int_equal(v->w->rc.error.arg[0], v1 ? 0 : payload);
}

/* -- one-sided operations -------------------------------------------------- */

/* A Responder looks at so much of a Special Call before it pulls the rest. */
enum { SPECIAL_HEAD = 4096 };

/* Octets [from, to) of the region, a Read for each segment that they touch. */
static const struct mx_event *expect_reads(const struct view *v,
                                           const struct mx_event *at,
                                           const struct mx_event *r, size_t from,
                                           size_t to)
{
	size_t seg = v->w->set->segment_bytes, len;

	for (size_t o = from; o < to; o += len) {
		len = RR_MIN(seg - o % seg, to - o);
		at = next(v->w, v->responder, MX_READ, at);
		assert_non_null(at);
		assert_int_equal(at->handle, r->handle);
		assert_int_equal(at->offset, r->offset + o);
		assert_int_equal(at->len, len);
	}
	return at;
}

static const struct mx_event *expect_special_reads(const struct view *v)
{
	const struct mx_event *r = v->special, *at;
	size_t head;

	if (!r)
		return NULL;
	head = RR_MIN((size_t)SPECIAL_HEAD, r->len);
	at = expect_reads(v, NULL, r, 0, head);
	return expect_reads(v, at, r, head, r->len);
}

/* The Responder's memory holds the Reply and nothing else, and may be read; each segment
 * is read once.  Then comes the notification, which invalidates the handle that the
 * Reply has named, if both are able.                    [ext §3.2, §3.5, §3.7] */
static void judge_pull(const struct view *v, size_t payload, uint32_t inv)
{
	const struct mx_world *w = v->w;
	const struct mx_event *r = NULL, *at = NULL, *done = NULL;
	size_t sum = 0, seg = w->set->segment_bytes;

	while ((r = next(w, v->responder, MX_REGISTER, r))) {
		assert_int_equal(r->access, READABLE);
		for (size_t o = 0; o < r->len; o += seg) {
			at = next(w, w->asker, MX_READ, at);
			assert_non_null(at);
			assert_int_equal(at->handle, r->handle);
			assert_int_equal(at->offset, r->offset + o);
			assert_int_equal(at->len, RR_MIN(seg, r->len - o));
		}
		sum += r->len;
	}
	assert_int_equal(sum, payload);
	assert_null(next(w, w->asker, MX_READ, at));
	for (unsigned i = w->call_at; i < w->n_log; i++)
		if (w->log[i].kind == MX_SEND && is_done(&w->log[i])) {
			assert_null(done);
			done = &w->log[i];
		}
	assert_non_null(done);
	assert_int_equal(done->side, w->asker);
	assert_int_equal(get(done->data, 0), w->xid);
	assert_int_equal(get(done->data, 16), 0);
	assert_int_equal(done->inv_handle, inv);
	assert_true(last(w, w->asker, MX_READ_DONE) < done);
	assert_true(last(w, v->responder, MX_REGISTER) <
	            next(w, v->responder, MX_SEND, NULL));
}

static void judge_reads(const struct view *v)
{
	const struct mx_event *at = expect_special_reads(v);

	for (unsigned i = 0; i < v->k->n_items; i++)
		if (v->read[i])
			at = expect_reads(v, at, v->read[i], 0, v->read[i]->len);
	assert_null(next(v->w, v->responder, MX_READ, at));
	if (!v->exposed)
		assert_null(next(v->w, v->w->asker, MX_READ, NULL));
}

static const struct mx_event *expect_writes(const struct view *v,
                                            const struct mx_event *at,
                                            const struct mx_event *r,
                                            const uint8_t *data, size_t len)
{
	size_t seg = v->w->set->segment_bytes;

	for (size_t o = 0; o < len; o += seg) {
		at = next(v->w, v->responder, MX_WRITE, at);
		assert_non_null(at);
		assert_int_equal(at->handle, r->handle);
		assert_int_equal(at->offset, r->offset + o);
		assert_int_equal(at->len, RR_MIN(seg, len - o));
		assert_memory_equal(at->data, data + o, at->len);
	}
	return at;
}

static void judge_writes(const struct view *v, const uint8_t *payload, size_t len)
{
	const struct mx_event *at = NULL;

	for (unsigned i = 0; i < v->k->n_results; i++)
		at = expect_writes(v, at, v->write[i], v->w->reply.item[i].p,
		                   placed_len(v, i));
	if (payload)
		at = expect_writes(v, at, v->reply, payload, len);
	assert_null(next(v->w, v->responder, MX_WRITE, at));
	assert_null(next(v->w, v->w->asker, MX_WRITE, NULL));
}

/* -- order ----------------------------------------------------------------- */

static void before(const struct mx_event *a, const struct mx_event *b)
{
	assert_true(!a || !b || a < b);
}

/* Registered, sent, pulled, executed, written, answered, invalid, done. */
static void judge_order(const struct view *v)
{
	const struct mx_world *w = v->w;
	unsigned rq = w->asker, rs = v->responder;
	const struct mx_event *call = last(w, rq, MX_SEND), *arrival = NULL;
	const struct mx_event *done = next(w, rq, MX_CALL_DONE, NULL);

	before(last(w, rq, MX_REGISTER), next(w, rq, MX_SEND, NULL));
	while (call && (arrival = next(w, rs, MX_RECV, arrival)))
		if (arrival->len == call->len &&
		    !memcmp(arrival->data, call->data, call->len))
			break;
	before(arrival, next(w, rs, MX_READ, NULL));
	before(last(w, rs, MX_READ_DONE), next(w, rs, MX_REQUEST, NULL));
	before(next(w, rs, MX_REQUEST, NULL), next(w, rs, MX_WRITE, NULL));
	before(last(w, rs, MX_WRITE), next(w, rs, MX_SEND, NULL));
	before(last(w, rs, MX_WRITE_DONE), next(w, rs, MX_REQUEST_DONE, NULL));
	before(last(w, rq, MX_INVALID), done);
	assert_non_null(done);
}

/* -- contents -------------------------------------------------------------- */

static void judge_dest(const struct view *v, unsigned i)
{
	const struct mx_mem *m = &v->w->dest[i];
	size_t len = i < v->k->n_results ? placed_len(v, i) : 0;

	assert_int_equal(v->w->dests[i].ret_len, len);
	assert_int_equal(v->w->dests[i].ret_used, len > 0);
	assert_int_equal(v->w->dests[i].ret_offered, v->chunks && m->len > 0);
	assert_memory_equal(m->p, v->w->reply.item[i].p, len);
	for (size_t at = len; at < m->len; at++)
		assert_int_equal(m->p[at], 0xcc);
	mx_mem_check(m);
}

/* Nothing but results has changed: not in front, not behind, not what is lent. */
static void judge_memory(const struct view *v, bool answered)
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

static void judge_regions(const struct view *v)
{
	unsigned over = 0;

	for (const struct mx_event *e = NULL;
	     (e = next(v->w, v->w->asker, MX_INVALID, e));)
		over++;
	assert_int_equal(over, v->regions);
	assert_int_equal(v->w->side[CLIENT].n_live, 0);
	assert_int_equal(v->w->side[SERVER].n_live, 0);
}

static enum mx_result judge_reply(struct view *v)
{
	struct parts p = {.side = v->responder, .flags = 1, .most = v->to_requester};
	uint8_t *payload = mx_reduced(&v->w->reply, v->placed, &p.len);
	enum mx_result f = reply_format(v, p.len);
	struct octets o;
	uint32_t inv = 0;

	p.payload = payload;
	if (v->w->set->version == 1 && f != MX_REFUSED)
		take_inv(v, v->responder);
	p.inv_handle = v->inv;
	if (f == MX_EXPOSED) {
		const struct mx_event *r = next(v->w, v->responder, MX_REGISTER, NULL);

		assert_non_null(r);
		inv = v->w->set->remote_invalidate ? r->handle : 0;
		judge_pull(v, p.len, inv);
	}
	mx_header(v, &o, f == MX_SPECIAL || f == MX_EXPOSED, 1, inv);
	put_reply_lists(v, &o, f == MX_SPECIAL, p.len);
	if (f == MX_REFUSED) {
		v->placed = 0; /* nothing is written before the format is known */
		judge_refusal(v, p.len);
	} else {
		if (f == MX_SPECIAL || f == MX_EXPOSED)
			judge_special(v, p.side, p.most, &o, v->inv);
		else
			assert_int_equal(judge_parts(v, &p, &o), f);
		assert_int_equal(v->w->call_status, RR_CALL_OK);
		assert_int_equal(v->w->got_len, p.len);
		assert_memory_equal(v->w->got, payload, p.len);
	}
	judge_writes(v, f == MX_SPECIAL ? payload : NULL, p.len);
	free(payload);
	return f;
}

static void choose(struct view *v)
{
	const struct mx_setting *set = v->w->set;
	bool forward = v->k->dir == MX_FORWARD;

	v->responder = !v->w->asker;
	v->to_responder = forward ? set->to_server : set->to_client;
	v->to_requester = forward ? set->to_client : set->to_server;
	v->chunks = forward || v->k->dir == MX_REVERSE;
	v->may_continue = set->version == 2 && v->k->dir != MX_REVERSE_SIMPLE;
	v->exposed = v->k->expose && v->chunks && set->version == 2;
	if (!v->chunks)
		return; /* below level 3 there are none [v2 §4.5.3] */
	for (unsigned i = 0; i < v->k->n_items; i++)
		if (v->k->item[i] >= REDUCE_FROM &&
		    !(v->k->call_flags & RR_CALL_NO_REDUCE))
			v->reduced |= 1u << i;
	for (unsigned i = 0; i < RR_MIN(v->k->n_results, v->k->n_dests); i++)
		if (v->k->dest[i] || !v->k->result[i])
			v->placed |= 1u << i;
}

void mx_judge(struct mx_world *w, struct mx_seen *ret)
{
	struct view v = {.w = w, .k = w->k};

	choose(&v);
	assert_true(w->call_done);
	judge_arrival(w, CLIENT);
	judge_arrival(w, SERVER);
	judge_grants(w);
	*ret = (struct mx_seen){.call = judge_call(&v), .reply = MX_REFUSED};
	ret->regions = v.regions;
	if (ret->call == MX_REFUSED) {
		assert_int_equal(w->call_status, -EMSGSIZE);
		assert_false(w->request_seen);
	} else {
		assert_true(w->request_seen);
		judge_reads(&v);
		ret->reply = judge_reply(&v);
	}
	judge_order(&v);
	judge_memory(&v, ret->reply != MX_REFUSED);
	judge_regions(&v);
}
