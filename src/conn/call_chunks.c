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

/* -- registering ----------------------------------------------------------- */

static void register_regions(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_call_chunks *o = s->chunks;

	rr_call_move(s, RR_CALL_EV_PLAN, RR_CALL_REGISTERING);
	for (unsigned i = 0; i < o->n; i++) {
		s->regions_out++;
		rr_mr_register(c, &o->region[i]);
	}
}

int rr_call_chunks_prepare(struct rr_conn *c, struct rr_call_state *s)
{
	int err = rr_call_plan(c, s);

	if (err)
		return err;
	if (!s->chunks)
		rr_call_move(s, RR_CALL_EV_PLAN, RR_CALL_PREPARED);
	else if (s->chunks->n)
		register_regions(c, s);
	else
		rr_call_chunks_build(c, s, RR_CALL_EV_PLAN);
	return 0;
}

static void take_registration(struct rr_conn *c, struct rr_mr *m, int status)
{
	struct rr_call_state *s = m->owner;

	rr_call_event(s, RR_CALL_EV_REGISTER);
	s->regions_out--;
	if (s->phase == RR_CALL_ENDING)
		rr_call_chunks_withdraw(c, s);
	else if (status)
		rr_call_end(c, s, status);
	else if (!s->regions_out)
		rr_call_chunks_build(c, s, RR_CALL_EV_REGISTER);
	rr_call_settle(c, s);
}

/* -- chunk lists ----------------------------------------------------------- */

static void list_segments(const struct rr_conn *c, struct rr_lists *l,
                          const struct rr_mr *m)
{
	for (size_t at = 0; at < m->len;) {
		struct rr_segment g = rr_mr_segment(c, m, at);
		int err = rr_lists_add_segment(l, &g);

		RR_ASSERT(!err);
		at += g.length;
	}
}

const struct rr_mr *rr_call_chunks_find(const struct rr_call_chunks *o,
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
		const struct rr_mr *m = rr_call_chunks_find(s->chunks, RR_USE_WRITE, i);
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
	for (unsigned i = 0; i < o->n; i++) /* the Position Zero chunk must be first */
		if (o->region[i].use == RR_USE_CALL)
			rr_mr_list_read(c, &o->region[i], &o->lists);
	for (unsigned i = 0; i < o->n; i++)
		if (o->region[i].use == RR_USE_READ)
			rr_mr_list_read(c, &o->region[i], &o->lists);
	list_writes(c, s);
	reply = rr_call_chunks_find(o, RR_USE_REPLY, 0);
	if (reply) {
		int err = rr_lists_begin_reply(&o->lists);

		RR_ASSERT(!err);
		list_segments(c, &o->lists, reply);
	}
	if (c->remote_inv_in && c->version->names_handle)
		o->lists.inv_handle =
		        rr_reminv_on(c) ? rr_reminv_choose(c, o) : choose_call_inv(o);
}

/* -- invalidation ---------------------------------------------------------- */

void rr_call_chunks_withdraw(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_call_chunks *o = s->chunks;

	for (unsigned i = 0; o && i < o->n; i++)
		s->regions_out += (unsigned)rr_mr_withdraw(c, &o->region[i]);
}

static void take_invalidation(struct rr_conn *c, struct rr_mr *m)
{
	struct rr_call_state *s = m->owner;

	s->regions_out--;
	rr_call_settle(c, s);
}

const struct rr_mr_owner rr_call_mr_owner = {
        .registered = take_registration,
        .invalidated = take_invalidation,
};

bool rr_call_chunks_take_remote(struct rr_conn *c, struct rr_call_state *s,
                                uint32_t handle)
{
	struct rr_call_chunks *o = s->chunks;

	for (unsigned i = 0; o && i < o->n; i++)
		if (o->region[i].handle == handle)
			return rr_mr_take_remote(c, &o->region[i]);
	return false;
}

void rr_call_chunks_free(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_call_chunks *o = s->chunks;

	if (!o)
		return;
	rr_mbuf_free(&c->quota, &o->special);
	rr_mbuf_free(&c->quota, &o->reply);
	rr_mbuf_free(&c->quota, &o->dest);
	rr_slab_put(&c->stock->chunks, o);
	s->chunks = NULL;
}
