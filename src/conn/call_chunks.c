/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chunks of an outstanding Call: Read chunks from which arguments are pulled, Write
 * chunks for results, and a Reply chunk for a Reply that is too long to be continued.
 * call_plan.c decides which chunks a Call has.
 *
 * Each region becomes one chunk, or one contiguous run of a Position Zero chunk.  A
 * region longer than the peer's segment size is announced as several segments.  The
 * peer can access a region from its registration until its invalidation has completed,
 * the peer has invalidated it, or the connection is lost.  CALL_DONE is queued only
 * when the peer can no longer access any region.
 */
#include "conn/core.h"

/* Moves the region to state @to. */
static void move_region(struct rr_mr *m, enum rr_mr_event by, enum rr_mr_phase to)
{
	RR_MACHINE_MOVE(rr_mr_machine, m->phase, by, to);
	m->phase = to;
}

/* -- registering ----------------------------------------------------------- */

static void register_regions(struct rr_conn *c, struct rr_call_state *s)
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
	int err = rr_call_plan(c, s);

	if (err)
		return err;
	if (s->chunks && s->chunks->n)
		register_regions(c, s);
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
	if (status == -ENOTCONN) /* the connection is lost; rr_conn_lost is about to be
	                          * called */
		rr_conn_fail(c, -ECONNRESET);
	if (s->phase == RR_CALL_ENDING)
		rr_call_chunks_withdraw(c, s);
	else if (status)
		rr_call_end(c, s, status);
	else if (!s->regions_out)
		rr_call_chunks_build(c, s, RR_CALL_EV_REGISTER);
	rr_call_settle(c, s);
}

/* -- chunk lists ----------------------------------------------------------- */

static struct rr_segment make_segment(const struct rr_conn *c, const struct rr_mr *m,
                                      size_t at)
{
	size_t seg = RR_MAX(c->props.segment_bytes, 1u);

	return (struct rr_segment){
	        .handle = m->handle,
	        .length = (uint32_t)RR_MIN(seg, m->len - at),
	        .offset = m->offset + at,
	};
}

/* Adds a region to the Read list.  The list cannot overflow, since call_plan.c has
 * counted the segments. */
static void list_read(const struct rr_conn *c, struct rr_lists *l,
                      const struct rr_mr *m)
{
	for (size_t at = 0; at < m->len;) {
		struct rr_segment g = make_segment(c, m, at);
		int err = rr_lists_add_read(l, m->position, &g);

		RR_ASSERT(!err);
		at += g.length;
	}
}

static void list_segments(const struct rr_conn *c, struct rr_lists *l,
                          const struct rr_mr *m)
{
	for (size_t at = 0; at < m->len;) {
		struct rr_segment g = make_segment(c, m, at);
		int err = rr_lists_add_segment(l, &g);

		RR_ASSERT(!err);
		at += g.length;
	}
}

static const struct rr_mr *find_call_region(const struct rr_call_chunks *o,
                                            enum rr_mr_use use, unsigned index)
{
	for (unsigned i = 0; i < o->n; i++)
		if (o->region[i].use == use && o->region[i].index == index)
			return &o->region[i];
	return NULL;
}

static void list_writes(const struct rr_conn *c, struct rr_call_state *s)
{
	for (unsigned i = 0; i < s->n_writes; i++) {
		const struct rr_mr *m = find_call_region(s->chunks, RR_USE_WRITE, i);
		int err = rr_lists_begin_write(&s->chunks->lists);

		RR_ASSERT(!err);
		if (m)
			list_segments(c, &s->chunks->lists, m);
	}
}

/* Chooses the handle that the Responder may invalidate.  Takes the handle from the kind
 * of chunk that is likely to be the largest. */
static uint32_t choose_call_inv(const struct rr_call_chunks *o)
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
	for (unsigned i = 0; i < o->n; i++) /* the Position Zero chunk must be first */
		if (o->region[i].use == RR_USE_CALL)
			list_read(c, &o->lists, &o->region[i]);
	for (unsigned i = 0; i < o->n; i++)
		if (o->region[i].use == RR_USE_READ)
			list_read(c, &o->lists, &o->region[i]);
	list_writes(c, s);
	reply = find_call_region(o, RR_USE_REPLY, 0);
	if (reply) {
		int err = rr_lists_begin_reply(&o->lists);

		RR_ASSERT(!err);
		list_segments(c, &o->lists, reply);
	}
	if (c->remote_inv_in && c->version->names_handle)
		o->lists.inv_handle = choose_call_inv(o);
}

/* -- invalidation ---------------------------------------------------------- */

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
				continue; /* closing the connection invalidates the
				           * region */
			c->count.local_invalidations++;
			rr_action_enqueue(c, &m->op, RR_ACT_INVALIDATE);
		}
	}
}

void rr_call_chunks_invalidated(struct rr_conn *c, struct rr_mr *m, int status)
{
	struct rr_call_state *s = m->call;

	/* -EINVAL means that the region no longer exists, because the peer invalidated
	 * it first.  After any other failure the peer may still have access, and only
	 * closing the connection can end the access and the call. [v2 §7.4] */
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
