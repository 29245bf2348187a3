/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's exposed replies.                                        [ext §3.8]
 *
 * Normal path: the stream of a reply is exposed where it lies, or copied into one buffer
 * first -> its memory is registered -> the Reply is sent with a Position Zero Read chunk
 * -> the peer notifies, or the lifetime passes -> the memory is invalidated and
 * released.
 *
 * A request whose reply was copied ends when its Sends and Writes have completed; its
 * exposure remains.  A request whose user's memory is exposed ends after the exposure.
 * [D2]
 */
#include "conn/core.h"

static void move_exposure(struct rr_exposure *e, enum rr_exposure_event by,
                          enum rr_exposure_phase to)
{
	RR_MACHINE_MOVE(rr_exposure_machine, e->phase, by, to);
	e->phase = to;
}

bool rr_rprc_may_expose(const struct rr_conn *c)
{
	return c->rprc.exposes &&
	       (c->cfg.role == RR_CONN_SERVER || c->cfg.rvrsdir == RDMA2_RVRSDIR_GENL);
}

/* -- planning -------------------------------------------------------------- */

/* Returns true if a Read chunk of @n segments fits in the Reply's header and in the
 * peer's limit, and with the returned Write list in struct rr_lists. */
static bool fits_header(const struct rr_conn *c, const struct rr_lists *returned,
                        size_t n)
{
	enum { READ_ENTRY = 24 };
	/* The Reply's header in the base family is never shorter than in another. */
	const struct rr_head head = {
	        .family = &rr_base_family, .htype = RDMA2_NOMSG, .lists = returned};
	size_t header = head.family->header_bytes(c, &head), others = 0;

	for (uint16_t i = 0; returned && i < returned->n_writes; i++)
		others += returned->writes[i].count;
	return n <= c->props.max_segments && n + others <= RR_WIRE_MAX_SEGMENTS &&
	       header + n * READ_ENTRY <= c->props.send_inline;
}

/* Returns true if the stream can be exposed where it lies: it has few runs, all long
 * enough and without padding. [D4] */
static bool lies_in_runs(const struct rr_conn *c, const struct rr_request_state *q)
{
	const struct rr_stream *s = &q->stream;
	size_t segments = 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->s[i].pad || s->s[i].len < RR_EXPOSED_RUN_MIN)
			return false;
		segments += rr_mr_count_segments(c, s->s[i].len);
	}
	return s->n <= RR_EXPOSED_RUNS && fits_header(c, q->lists, segments);
}

bool rr_exposure_allows(const struct rr_conn *c, uint64_t bytes)
{
	const struct rr_rprc *r = &c->rprc;

	return (!r->max_reply || bytes <= r->max_reply) &&
	       bytes <= c->cfg.features.rprc_max_bytes;
}

/* Returns true if the limits of both peers allow to expose the reply, at least as a
 * copy. */
static bool fits_limits(const struct rr_conn *c, const struct rr_request_state *q)
{
	const struct rr_rprc *r = &c->rprc;
	size_t left = q->stream.left;

	return rr_exposure_allows(c, left) &&
	       fits_header(c, q->lists, rr_mr_count_segments(c, left)) &&
	       r->n_exposures < c->cfg.features.rprc_max_pending &&
	       left <= c->cfg.features.rprc_max_bytes - r->exposed_bytes;
}

static bool reserve_exposed(struct rr_conn *c, uint64_t bytes, bool in_place)
{
	const struct rr_exposure_budget *b = &c->cfg.exposure_budget;

	if (b->take && !b->take(b->ctx, bytes, in_place))
		return false;
	c->rprc.n_exposures++;
	c->rprc.exposed_bytes += bytes;
	return true;
}

static void release_exposed(struct rr_conn *c, uint64_t bytes, bool in_place)
{
	const struct rr_exposure_budget *b = &c->cfg.exposure_budget;

	c->rprc.n_exposures--;
	c->rprc.exposed_bytes -= bytes;
	if (b->give)
		b->give(b->ctx, bytes, in_place);
}

/* -- creating and freeing -------------------------------------------------- */

static void free_exposure(struct rr_conn *c, struct rr_exposure *e)
{
	if (e->request)
		e->request->exposure = NULL;
	rr_list_del(&e->link);
	rr_list_del(&e->due);
	rr_mbuf_free(&c->quota, &e->copy);
	release_exposed(c, e->bytes, e->in_place);
	rr_slab_put(&c->rprc.exposure_slab, e);
}

/* Frees an exposure that is FREEING when no answer of the provider is outstanding, and
 * lets its request end. */
static void settle_exposure(struct rr_conn *c, struct rr_exposure *e)
{
	struct rr_request_state *q = e->request;

	RR_ASSERT(e->phase == RR_EXPOSURE_FREEING);
	if (e->regions_out)
		return;
	free_exposure(c, e);
	if (q)
		rr_reply_settle(c, q);
}

static void withdraw_exposure(struct rr_conn *c, struct rr_exposure *e)
{
	for (unsigned i = 0; i < e->n; i++)
		e->regions_out += (unsigned)rr_mr_withdraw(c, &e->region[i]);
}

/* Moves an exposure to FREEING and ends the peer's access. */
static void end_exposure(struct rr_conn *c, struct rr_exposure *e,
                         enum rr_exposure_event by)
{
	move_exposure(e, by, RR_EXPOSURE_FREEING);
	rr_list_del(&e->due);
	withdraw_exposure(c, e);
	settle_exposure(c, e);
}

static void take_exposed_registration(struct rr_conn *c, struct rr_mr *m, int status)
{
	struct rr_exposure *e = m->owner;
	struct rr_request_state *q = e->request;

	e->regions_out--;
	e->failed |= status != 0;
	if (e->regions_out || !rr_conn_live(c))
		return;
	if (e->failed) {
		end_exposure(c, e, RR_EXPOSURE_EV_FAIL);
		rr_reply_not_exposed(c, q);
	} else {
		move_exposure(e, RR_EXPOSURE_EV_VALIDATE, RR_EXPOSURE_QUEUED);
		rr_reply_exposed(c, q);
	}
}

static void take_exposed_invalidation(struct rr_conn *c, struct rr_mr *m)
{
	struct rr_exposure *e = m->owner;

	e->regions_out--;
	settle_exposure(c, e);
}

static const struct rr_mr_owner exposure_mr_owner = {
        .registered = take_exposed_registration,
        .invalidated = take_exposed_invalidation,
};

static void add_exposed_region(struct rr_exposure *e, const void *base, size_t len)
{
	rr_mr_init(&e->region[e->n++], &exposure_mr_owner, e, e->xid, RR_USE_EXPOSED,
	           base, len);
}

/* Sets the exposure's regions: the runs of the stream, or one copy of it. */
static bool fill_exposure(struct rr_conn *c, struct rr_exposure *e,
                          const struct rr_request_state *q)
{
	struct rr_stream s = q->stream;

	if (e->in_place) {
		for (unsigned i = 0; i < s.n; i++)
			add_exposed_region(e, s.s[i].base, s.s[i].len);
		return true;
	}
	if (rr_mbuf_alloc(&c->quota, &e->copy, s.left))
		return false;
	e->copy.len = s.left;
	rr_stream_copy(&s, e->copy.p, s.left);
	c->count.bytes_copied += e->copy.len;
	add_exposed_region(e, e->copy.p, e->copy.len);
	return true;
}

bool rr_exposure_begin(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_exposure *e;
	uint64_t bytes = q->stream.left;
	bool in_place = lies_in_runs(c, q);

	if (!fits_limits(c, q) || !reserve_exposed(c, bytes, in_place))
		return false;
	e = rr_slab_get(&c->rprc.exposure_slab);
	if (!e) {
		release_exposed(c, bytes, in_place);
		return false;
	}
	memset(e, 0, offsetof(struct rr_exposure, region));
	rr_list_init(&e->due);
	rr_list_push(&c->rprc.exposures, &e->link);
	e->xid = q->req.xid;
	e->bytes = bytes;
	e->in_place = in_place;
	e->since = c->now;
	e->deadline = RR_TIME_NEVER;
	if (!fill_exposure(c, e, q)) {
		free_exposure(c, e);
		return false;
	}
	e->request = q;
	q->exposure = e;
	for (unsigned i = 0; i < e->n; i++) {
		e->regions_out++;
		rr_mr_register(c, &e->region[i]);
	}
	return true;
}

/* -- the Reply ------------------------------------------------------------- */

/* Appends the Write chunks of @from to @l. */
static void copy_write_list(struct rr_lists *l, const struct rr_lists *from)
{
	for (uint16_t i = 0; i < from->n_writes; i++) {
		const struct rr_chunk *k = &from->writes[i];
		int err = rr_lists_begin_write(l);

		for (uint16_t j = 0; j < k->count; j++)
			err |= rr_lists_add_segment(l, &from->seg[k->first + j]);
		RR_ASSERT(!err); /* fits_header() has counted the segments */
	}
}

bool rr_exposure_list(struct rr_conn *c, struct rr_exposure *e)
{
	struct rr_request_state *q = e->request;
	struct rr_lists *l = rr_slab_get(&c->stock->lists);

	if (!l)
		return false;
	rr_lists_init(l);
	for (unsigned i = 0; i < e->n; i++)
		rr_mr_list_read(c, &e->region[i], l);
	if (q->lists) {
		copy_write_list(l, q->lists);
		rr_slab_put(&c->stock->lists, q->lists);
	}
	if (c->remote_inv_in)
		l->inv_handle = e->region[0].handle;
	q->lists = l;
	c->count.rprc_exposed++;
	rr_conn_trace(c, RR_TRACE_REPLY_EXPOSED, e->xid, e->bytes, l->n_segs, 0);
	return true;
}

void rr_exposure_post(struct rr_exposure *e)
{
	if (e->phase == RR_EXPOSURE_QUEUED)
		move_exposure(e, RR_EXPOSURE_EV_POST, RR_EXPOSURE_EXPOSED);
}

void rr_exposure_sent(struct rr_conn *c, struct rr_exposure *e)
{
	if (e->phase != RR_EXPOSURE_EXPOSED || c->cfg.features.rprc_no_lifetime)
		return;
	e->deadline = c->now + RR_MS(c->cfg.features.rprc_lifetime_ms);
	rr_list_push(&c->rprc.due, &e->due);
	rr_feature_begin(c, RR_FEATURE_RPRC);
}

void rr_exposure_drop(struct rr_conn *c, struct rr_exposure *e)
{
	end_exposure(c, e, RR_EXPOSURE_EV_DROP);
}

bool rr_exposure_holds(const struct rr_request_state *q)
{
	return q->exposure && !q->exposure->copy.p;
}

void rr_exposure_detach(struct rr_request_state *q)
{
	if (q->exposure)
		q->exposure->request = NULL;
	q->exposure = NULL;
}

/* -- the end of an exposure ------------------------------------------------ */

enum { END_NOTIFIED, END_EXPIRED };

static void finish_exposure(struct rr_conn *c, struct rr_exposure *e, uint64_t reason)
{
	rr_conn_trace(c, RR_TRACE_EXPOSURE_ENDED, e->xid, reason, e->bytes, 0);
	end_exposure(c, e, RR_EXPOSURE_EV_NOTIFY);
}

bool rr_exposure_notified(struct rr_conn *c, uint32_t xid)
{
	struct rr_list *n = c->rprc.exposures.next;
	bool found = false;

	while (n != &c->rprc.exposures) {
		struct rr_exposure *e = rr_container_of(n, struct rr_exposure, link);

		n = n->next;
		if (e->xid != xid || e->phase != RR_EXPOSURE_EXPOSED)
			continue;
		found = true;
		finish_exposure(c, e, END_NOTIFIED);
	}
	return found;
}

/* Returns the exposure's region with @handle, or NULL. */
static struct rr_mr *find_exposed_region(struct rr_exposure *e, uint32_t handle)
{
	for (unsigned i = 0; i < e->n; i++)
		if (e->region[i].handle == handle)
			return &e->region[i];
	return NULL;
}

bool rr_exposure_take_remote(struct rr_conn *c, uint32_t xid, uint32_t handle)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->rprc.exposures) {
		struct rr_exposure *e = rr_container_of(n, struct rr_exposure, link);
		struct rr_mr *m = find_exposed_region(e, handle);

		if (e->xid != xid || !m)
			continue;
		if (e->phase == RR_EXPOSURE_FREEING)
			return true; /* our own invalidation is on its way */
		return e->phase == RR_EXPOSURE_EXPOSED && rr_mr_take_remote(c, m);
	}
	return false;
}

void rr_exposure_tick(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_first(&c->rprc.due))) {
		struct rr_exposure *e = rr_container_of(n, struct rr_exposure, due);

		if (e->deadline > c->now)
			return;
		c->count.rprc_expired++;
		finish_exposure(c, e, END_EXPIRED);
	}
}

rr_time rr_exposure_deadline(const struct rr_conn *c)
{
	struct rr_list *n = rr_list_first(&c->rprc.due);

	return n ? rr_container_of(n, struct rr_exposure, due)->deadline
	         : RR_TIME_NEVER;
}

rr_time rr_exposure_since(const struct rr_conn *c)
{
	struct rr_list *n = rr_list_first(&c->rprc.exposures);

	return n ? rr_container_of(n, struct rr_exposure, link)->since : RR_TIME_NEVER;
}

void rr_exposure_lost(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_first(&c->rprc.exposures)))
		free_exposure(c, rr_container_of(n, struct rr_exposure, link));
}
