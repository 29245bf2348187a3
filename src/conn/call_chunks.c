/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a Call offers to the Responder: Read chunks to pull arguments from,
 * Write chunks for results, a Reply chunk for a Reply too long to continue.
 *
 * One region is registered for each chunk, and for each run of a Position Zero chunk;
 * one longer than the peer's segments is advertised as several segments.  Every region
 * is VALID only from its registration until its invalidation has completed, or the peer
 * has invalidated it, or the connection has ended; CALL_DONE waits for that.
 *
 * Choices of a first attempt: every destination becomes a Write chunk; an item is
 * reduced if it is long enough to be worth a transfer of its own, and while the peer's
 * limit of segments lasts; what is not reduced goes along in the payload.  A Reply
 * chunk is offered only for Replies beyond RR_REPLY_CHUNK_PARTS messages, and
 * not at all if its memory or its segments cannot be had [v2 §A.2].  A Call whose
 * header then leaves no room for a payload is refused locally [M12].
 */
#include "conn/core.h"

static struct rr_call_chunks *ensure_chunks(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->chunks)
		return s->chunks;
	s->chunks = rr_slab_get(&c->chunks_slab);
	if (s->chunks) {
		s->chunks->n = 0;
		rr_lists_init(&s->chunks->lists);
	}
	return s->chunks;
}

static struct rr_mr *add(struct rr_call_state *s, enum rr_mr_use use, const void *base,
                         size_t len)
{
	struct rr_call_chunks *o = s->chunks;
	struct rr_mr *m = &o->region[o->n++];

	RR_ASSERT(o->n <= RR_CALL_MAX_REGIONS);
	*m = (struct rr_mr){
	        .call = s,
	        .use = use,
	        .base = (uint8_t *)(uintptr_t)base,
	        .len = len,
	};
	rr_list_init(&m->op.link);
	return m;
}

/* Assigns the state. */
static void move_region(struct rr_mr *m, enum rr_mr_event by, enum rr_mr_phase to)
{
	RR_MACHINE_MOVE(rr_mr_machine, m->phase, by, to);
	m->phase = to;
}

/* -- planning -------------------------------------------------------------------- */

struct plan {
	struct rr_conn *c;
	struct rr_call_state *s;
	bool chunks;     /* may be used in this direction */
	size_t segments; /* still allowed */
	size_t reserved; /* of these, for a Position Zero chunk */
	unsigned reads;  /* items that may yet be reduced */
	size_t lists_bytes;
	size_t returned; /* header of the Reply, with the lists that it gives back */
};

static size_t header_bytes(const struct plan *p)
{
	return p->c->version->prefix_bytes + p->lists_bytes;
}

static size_t segments_of(const struct rr_conn *c, size_t len)
{
	size_t seg = RR_MAX(c->props.segment_bytes, 1u);

	return len / seg + (len % seg != 0);
}

/* Takes the segments of a chunk of @len octets; false if there are too few. */
static bool take_segments(struct plan *p, size_t len, size_t entry_bytes, size_t each)
{
	size_t n = segments_of(p->c, len);

	if (n > p->segments)
		return false;
	p->segments -= n;
	p->lists_bytes += entry_bytes + n * each;
	return true;
}

enum { READ_ENTRY = 24, SEGMENT = 16, WRITE_ENTRY = 8, REPLY_COUNT = 4 };

/* A second attempt, with what its segments suffice for. */
static bool fewer_segments(const struct plan *p)
{
	return p->c->version->continues &&
	       p->s->call->recovery.error.code == RDMA2_ERR_SEGMENTS;
}

/* Room for the @i-th result; what the peer asked for counts against the budget. */
static int room_for(struct plan *p, unsigned i, void **ret_base, size_t *ret_len)
{
	const struct rr_recovery *r = &p->s->call->recovery;
	struct rr_mbuf *b = &p->s->dest_buf;

	*ret_base = p->s->call->dests[i].base;
	*ret_len = p->s->call->dests[i].len;
	if (r->dest != i + 1)
		return 0;
	b->charged = true;
	if (rr_mbuf_alloc(&p->c->quota, b, r->dest_bytes))
		return -ENOMEM;
	*ret_base = b->p;
	*ret_len = r->dest_bytes;
	return 0;
}

/* The same for a chunk that the Reply gives back, beside @payload octets of it. */
static bool take_returned(struct plan *p, size_t len, size_t entry_bytes,
                          size_t payload)
{
	struct plan before = *p;

	if (!take_segments(p, len, entry_bytes, SEGMENT))
		return false;
	p->returned += p->lists_bytes - before.lists_bytes;
	if (p->returned + payload <= p->c->props.recv_inline)
		return true;
	*p = before;
	return false;
}

static int plan_write(struct plan *p, unsigned i)
{
	void *base;
	size_t len;
	int err = room_for(p, i, &base, &len);

	if (err)
		return err;
	if (!take_returned(p, len, WRITE_ENTRY, 4))
		return -EMSGSIZE;
	if (len)
		add(p->s, RR_USE_WRITE, base, len)->index = i;
	p->s->n_writes++;
	return 0;
}

static int plan_writes(struct plan *p)
{
	const struct rr_call *call = p->s->call;
	unsigned n = rr_recover_most(call, call->recovery.max_writes, call->n_dests);
	int err = 0;

	if (!p->chunks || (call->flags & RR_CALL_NO_WRITES) || !n)
		return 0;
	if (!ensure_chunks(p->c, p->s))
		return -ENOMEM;
	for (unsigned i = 0; i < n && !err; i++)
		err = plan_write(p, i);
	if (err == -EMSGSIZE && fewer_segments(p))
		return 0; /* the others come in the payload */
	return err;
}

/* The results that have no Write chunk come in the Reply's payload. */
static void bound_reply(struct rr_call_state *s)
{
	const struct rr_call *call = s->call;
	size_t more = 0;

	for (unsigned i = s->n_writes; i < call->n_dests; i++)
		more += call->dests[i].len + rr_pad(call->dests[i].len);
	s->reply_bound = call->reply_bytes;
	if (more)
		s->reply_bound =
		        more + RR_MAX(call->reply_bytes, (size_t)RR_UNKNOWN_REPLY);
}

/* The longest Reply that comes without a chunk. */
static size_t longest_inline(const struct plan *p)
{
	size_t most = p->c->props.recv_inline, header = header_bytes(p);

	if (p->c->version->continues)
		return (size_t)RR_REPLY_CHUNK_PARTS * most;
	return most - RR_MIN(most, header);
}

static size_t longest_reply(const struct plan *p)
{
	size_t want = p->s->reply_bound;

	return want || p->c->version->continues ? want : RR_UNKNOWN_REPLY;
}

static int add_reply_chunk(struct plan *p, size_t want)
{
	struct plan before = *p;

	if (want > UINT32_MAX - 3)
		return -EMSGSIZE;
	want = (want + 3) & ~(size_t)3;
	if (!take_returned(p, want, REPLY_COUNT, 0))
		return -EMSGSIZE;
	if (!ensure_chunks(p->c, p->s) ||
	    rr_mbuf_alloc(&p->c->quota, &p->s->chunk_buf, want)) {
		*p = before;
		return -ENOMEM;
	}
	(void)add(p->s, RR_USE_REPLY, p->s->chunk_buf.p, want);
	return 0;
}

/* Without it continuation will do, where there is such a thing and the peer did
 * not say otherwise. */
static int plan_reply_chunk(struct plan *p)
{
	const struct rr_recovery *r = &p->s->call->recovery;
	size_t want = r->reply_bytes ? r->reply_bytes : longest_reply(p);
	bool forced = r->reply_chunk || (p->s->call->flags & RR_CALL_ROOM);
	bool asked = r->reply_bytes || (forced && want);
	int err;

	if (!p->chunks)
		return r->reply_bytes ? -EMSGSIZE : 0;
	if (!asked && want <= longest_inline(p))
		return 0;
	p->s->chunk_buf.charged = r->reply_bytes != 0;
	err = add_reply_chunk(p, want);
	return r->reply_bytes || !p->c->version->continues ? err : 0;
}

static bool reducible(const struct plan *p, const struct rr_piece *k)
{
	return p->chunks && p->reads && k->item && k->len >= RR_REDUCE_MIN &&
	       !(p->s->call->flags & RR_CALL_NO_REDUCE);
}

static bool reduce(struct plan *p, const struct rr_piece *k, size_t position)
{
	if (!reducible(p, k))
		return false;
	if (!ensure_chunks(p->c, p->s) || !take_segments(p, k->len, 0, READ_ENTRY))
		return false;
	p->reads--;
	add(p->s, RR_USE_READ, k->base, k->len)->position = (uint32_t)position;
	return true;
}

/* Fills the stream with what is not reduced. */
static void plan_reads(struct plan *p)
{
	const struct rr_call *call = p->s->call;
	size_t position = 0;

	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];
		size_t pad = k->item ? rr_pad(k->len) : 0;

		if (!reduce(p, k, position))
			(void)rr_stream_add(&p->s->stream, k->base, k->len, pad);
		position += k->len + pad;
	}
}

/* Octets of the stream: of all of it, or of what is not worth reducing. */
static size_t payload_bytes(const struct plan *p, bool all)
{
	const struct rr_call *call = p->s->call;
	size_t sum = 0;

	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];

		if (all || !reducible(p, k))
			sum += k->len + (k->item ? rr_pad(k->len) : 0);
	}
	return sum;
}

static bool fits(const struct plan *p, size_t payload)
{
	return header_bytes(p) + payload <= p->c->props.send_inline;
}

/* A Special Call takes its segments before anything is reduced, for the longest
 * stream that it can hold; so does one that may have to be sent that way. */
static int reserve_special(struct plan *p)
{
	unsigned flags = p->s->call->flags;
	bool must = p->chunks && (flags & (RR_CALL_SPECIAL | RR_CALL_WHOLE));
	bool spare = p->c->version->continues && !(flags & RR_CALL_SPECIAL);

	p->s->special = must;
	if (!must && (!p->chunks || p->c->version->continues))
		return 0;
	p->reserved = segments_of(p->c, payload_bytes(p, must));
	if (p->reserved > p->segments) {
		p->reserved = 0;
		p->s->special = false;
		return spare || fewer_segments(p) ? 0 : -EMSGSIZE;
	}
	p->segments -= p->reserved;
	return 0;
}

static bool in_place(const struct rr_slice *k, unsigned runs)
{
	return k->len >= RR_IN_PLACE_MIN && runs < RR_IN_PLACE_RUNS;
}

/* A Position Zero chunk of runs: long ones where they lie, those between in memory of
 * their own.  False: there is none, or there are too few segments for them. */
static bool plan_runs(struct plan *p)
{
	const struct rr_stream *s = &p->s->stream;
	struct plan before = *p;
	size_t between = 0;
	unsigned runs = 0;
	bool ok = true;

	for (unsigned i = 0; ok && i < s->n; i++) {
		const struct rr_slice *k = &s->s[i];

		if (in_place(k, runs)) {
			ok = take_segments(p, between, 0, READ_ENTRY) &&
			     take_segments(p, k->len, 0, READ_ENTRY);
			between = k->pad;
			runs++;
		} else {
			between += k->len + k->pad;
		}
	}
	ok = ok && runs && take_segments(p, between, 0, READ_ENTRY);
	if (!ok)
		*p = before;
	return ok;
}

/* What is left of the stream is known.  Where a message has one part only, what
 * does not fit there must be pulled.                      [RFC 8166 §3.5.3] */
static int plan_special(struct plan *p)
{
	if (p->reserved && !fits(p, p->s->stream.left))
		p->s->special = true;
	p->segments += p->reserved;
	if (!p->s->special)
		return 0;
	p->s->in_place = plan_runs(p);
	if (!p->s->in_place && !take_segments(p, p->s->stream.left, 0, READ_ENTRY))
		return -EMSGSIZE; /* there were none left to reduce with */
	return ensure_chunks(p->c, p->s) ? 0 : -ENOMEM;
}

static void add_run(struct rr_call_state *s, const uint8_t *base, size_t len)
{
	if (len)
		(void)add(s, RR_USE_CALL, base, len);
}

/* Octets of the stream that are copied. */
static size_t copied_bytes(const struct rr_call_state *s)
{
	size_t sum = s->stream.left;
	unsigned runs = 0;

	for (unsigned i = 0; s->in_place && i < s->stream.n; i++)
		if (in_place(&s->stream.s[i], runs)) {
			sum -= s->stream.s[i].len;
			runs++;
		}
	return sum;
}

/* The stream as it was planned: what is copied has the padding of items. */
static int fill_special(struct rr_conn *c, struct rr_call_state *s)
{
	uint8_t *run, *at;
	unsigned runs = 0;

	if (rr_mbuf_alloc(&c->quota, &s->special_buf, copied_bytes(s)))
		return -ENOMEM;
	run = at = s->special_buf.p;
	for (unsigned i = 0; i < s->stream.n; i++) {
		const struct rr_slice *k = &s->stream.s[i];

		if (s->in_place && in_place(k, runs)) {
			add_run(s, run, (size_t)(at - run));
			add_run(s, k->base, k->len);
			run = at;
			runs++;
		} else { /* never empty: padding is that of an item */
			memcpy(at, k->base, k->len);
			at += k->len;
		}
		for (size_t pad = k->pad; pad; pad--)
			*at++ = 0;
	}
	add_run(s, run, (size_t)(at - run));
	return 0;
}

static bool may_continue(const struct rr_conn *c)
{
	return c->version->continues && (c->cfg.role == RR_CONN_CLIENT ||
	                                 c->props.peer.rvrsdir >= RDMA2_RVRSDIR_CONT);
}

static int check_room(const struct plan *p)
{
	const struct rr_conn *c = p->c;
	size_t header = header_bytes(p);

	if (p->s->special)
		return header <= c->props.send_inline ? 0 : -EMSGSIZE;
	if (header + 4 > c->props.send_inline)
		return -EMSGSIZE;
	if (!fits(p, p->s->stream.left) && !may_continue(c))
		return -EMSGSIZE; /* [R5] */
	return 0;
}

static int plan(struct plan *p)
{
	int err = reserve_special(p);

	if (!err)
		err = plan_writes(p);
	if (err)
		return err;
	bound_reply(p->s);
	err = plan_reply_chunk(p);
	if (err)
		return err;
	plan_reads(p);
	err = plan_special(p);
	if (!err)
		err = check_room(p);
	if (!err && p->s->special)
		err = fill_special(p->c, p->s);
	return err;
}

/* -- registering ------------------------------------------------------------------- */

static void register_all(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_call_chunks *o = s->chunks;

	rr_call_move(s, RR_CALL_EV_PLAN, RR_CALL_REGISTERING);
	for (unsigned i = 0; i < o->n; i++) {
		struct rr_mr *m = &o->region[i];

		move_region(m, RR_MR_EV_REGISTER, RR_MR_REGISTERING);
		s->regions_out++;
		c->count.registrations++;
		rr_action_enqueue(c, &m->op, RR_ACT_REGISTER);
	}
}

int rr_call_chunks_prepare(struct rr_conn *c, struct rr_call_state *s)
{
	bool forward = c->cfg.role == RR_CONN_CLIENT;
	uint32_t level = c->props.peer.rvrsdir;
	const struct rr_recovery *r = &s->call->recovery;
	struct plan p = {
	        .c = c,
	        .s = s,
	        .chunks = forward || level == RDMA2_RVRSDIR_GENL,
	        .segments = rr_recover_most(s->call, r->max_segments,
	                                    c->props.max_segments),
	        .reads = rr_recover_most(s->call, r->max_reads, RR_CALL_MAX_PIECES),
	        .lists_bytes = c->version->empty_bytes - c->version->prefix_bytes,
	        .returned = c->version->empty_bytes,
	};
	int err;

	if (!forward && level == RDMA2_RVRSDIR_NONE)
		return -EPROTONOSUPPORT; /* [R2] */
	err = plan(&p);
	if (err)
		return err;
	if (s->chunks && s->chunks->n)
		register_all(c, s);
	else
		rr_call_chunks_build(c, s, RR_CALL_EV_PLAN);
	return 0;
}

void rr_call_chunks_registered(struct rr_conn *c, struct rr_mr *m, int status,
                               uint32_t handle, uint64_t offset)
{
	struct rr_call_state *s = m->call;

	RR_ASSERT(m->phase == RR_MR_REGISTERING);
	rr_call_event(s, RR_CALL_EV_REGISTER);
	s->regions_out--;
	if (status)
		move_region(m, RR_MR_EV_FAIL, RR_MR_IDLE);
	else
		move_region(m, RR_MR_EV_VALIDATE, RR_MR_VALID);
	m->handle = handle;
	m->offset = offset;
	if (!status)
		rr_conn_trace(c, RR_TRACE_REGION_REGISTERED, s->call->xid, handle,
		              m->len, m->use);
	if (status == -ENOTCONN) /* the loss is about to be told */
		rr_conn_fail(c, -ECONNRESET);
	if (s->phase == RR_CALL_ENDING)
		rr_call_chunks_withdraw(c, s);
	else if (status)
		rr_call_end(c, s, status);
	else if (!s->regions_out)
		rr_call_chunks_build(c, s, RR_CALL_EV_REGISTER);
	rr_call_settle(c, s);
}

/* -- lists ----------------------------------------------------------------- */

static struct rr_segment segment(const struct rr_conn *c, const struct rr_mr *m,
                                 size_t at)
{
	size_t seg = RR_MAX(c->props.segment_bytes, 1u);

	return (struct rr_segment){
	        .handle = m->handle,
	        .length = (uint32_t)RR_MIN(seg, m->len - at),
	        .offset = m->offset + at,
	};
}

/* Room in the lists was counted by the plan. */
static void list_read(const struct rr_conn *c, struct rr_lists *l,
                      const struct rr_mr *m)
{
	for (size_t at = 0; at < m->len;) {
		struct rr_segment g = segment(c, m, at);
		int err = rr_lists_add_read(l, m->position, &g);

		RR_ASSERT(!err);
		at += g.length;
	}
}

static void list_segments(const struct rr_conn *c, struct rr_lists *l,
                          const struct rr_mr *m)
{
	for (size_t at = 0; at < m->len;) {
		struct rr_segment g = segment(c, m, at);
		int err = rr_lists_add_segment(l, &g);

		RR_ASSERT(!err);
		at += g.length;
	}
}

static const struct rr_mr *find(const struct rr_call_chunks *o, enum rr_mr_use use,
                                unsigned index)
{
	for (unsigned i = 0; i < o->n; i++)
		if (o->region[i].use == use && o->region[i].index == index)
			return &o->region[i];
	return NULL;
}

static void list_writes(const struct rr_conn *c, struct rr_call_state *s)
{
	for (unsigned i = 0; i < s->n_writes; i++) {
		const struct rr_mr *m = find(s->chunks, RR_USE_WRITE, i);
		int err = rr_lists_begin_write(&s->chunks->lists);

		RR_ASSERT(!err);
		if (m)
			list_segments(c, &s->chunks->lists, m);
	}
}

/* The handle that the Responder may invalidate: one of the largest transfer. */
static uint32_t choose_inv(const struct rr_call_chunks *o)
{
	static const enum rr_mr_use order[] = {RR_USE_WRITE, RR_USE_READ, RR_USE_REPLY,
	                                       RR_USE_CALL};

	for (unsigned k = 0; k < RR_ARRAY_SIZE(order); k++)
		for (unsigned i = 0; i < o->n; i++)
			if (o->region[i].use == order[k])
				return o->region[i].handle;
	return 0;
}

void rr_call_chunks_build(struct rr_conn *c, struct rr_call_state *s,
                          enum rr_call_event by)
{
	struct rr_call_chunks *o = s->chunks;
	const struct rr_mr *reply;

	rr_call_move(s, by, RR_CALL_PREPARED);
	if (!o)
		return;
	for (unsigned i = 0; i < o->n; i++) /* Position Zero comes first */
		if (o->region[i].use == RR_USE_CALL)
			list_read(c, &o->lists, &o->region[i]);
	for (unsigned i = 0; i < o->n; i++)
		if (o->region[i].use == RR_USE_READ)
			list_read(c, &o->lists, &o->region[i]);
	list_writes(c, s);
	reply = find(o, RR_USE_REPLY, 0);
	if (reply) {
		int err = rr_lists_begin_reply(&o->lists);

		RR_ASSERT(!err);
		list_segments(c, &o->lists, reply);
	}
	if (c->remote_inv_in && c->version->names_handle)
		o->lists.inv_handle = choose_inv(o);
}

/* -- ending access --------------------------------------------------------- */

void rr_call_chunks_withdraw(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_call_chunks *o = s->chunks;

	for (unsigned i = 0; o && i < o->n; i++) {
		struct rr_mr *m = &o->region[i];

		RR_MACHINE_EVENT(rr_mr_machine, m->phase, RR_MR_EV_WITHDRAW);
		if (m->phase == RR_MR_REGISTERING && rr_action_cancel(&m->op)) {
			move_region(m, RR_MR_EV_WITHDRAW, RR_MR_IDLE);
			s->regions_out--;
		} else if (m->phase == RR_MR_VALID) {
			move_region(m, RR_MR_EV_WITHDRAW, RR_MR_INVALIDATING);
			s->regions_out++;
			if (!rr_conn_live(c))
				continue; /* the loss that is coming does it */
			c->count.local_invalidations++;
			rr_action_enqueue(c, &m->op, RR_ACT_INVALIDATE);
		}
	}
}

void rr_call_chunks_invalidated(struct rr_conn *c, struct rr_mr *m, int status)
{
	struct rr_call_state *s = m->call;

	/* -EINVAL: the provider knows no such region, so nothing is accessible;
	 * the peer's invalidation came between.  Any other failure leaves the
	 * region to the end of the connection, and the call with it. [v2 §7.4] */
	if (status && status != -EINVAL) {
		rr_conn_fail(c, status);
		return;
	}
	rr_conn_trace(c, RR_TRACE_REGION_INVALIDATED, s->call->xid, m->handle, 0, 0);
	move_region(m, RR_MR_EV_INVALIDATE, RR_MR_IDLE);
	s->regions_out--;
	rr_call_settle(c, s);
}

bool rr_call_chunks_take_remote(struct rr_conn *c, struct rr_call_state *s,
                                uint32_t handle)
{
	struct rr_call_chunks *o = s->chunks;

	for (unsigned i = 0; o && i < o->n; i++) {
		struct rr_mr *m = &o->region[i];

		if (m->handle != handle)
			continue;
		if (m->phase != RR_MR_VALID)
			return false;
		move_region(m, RR_MR_EV_REMOTE, RR_MR_IDLE);
		c->count.remote_invalidations++;
		rr_conn_trace(c, RR_TRACE_REGION_INVALIDATED, s->call->xid, handle, 1,
		              0);
		return true;
	}
	return false;
}

void rr_call_chunks_free(struct rr_conn *c, struct rr_call_state *s)
{
	rr_mbuf_free(&c->quota, &s->special_buf);
	rr_mbuf_free(&c->quota, &s->chunk_buf);
	rr_mbuf_free(&c->quota, &s->dest_buf);
	if (s->chunks)
		rr_slab_put(&c->chunks_slab, s->chunks);
	s->chunks = NULL;
}
