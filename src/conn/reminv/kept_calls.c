/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions that the peer invalidates, and cancelled calls that wait for that.
 *                                                                        [ext §4.4]
 *
 * A completed Receive has invalidated its handle even if the message is then discarded,
 * so the completion is examined first.  The peer may invalidate any region of the call
 * that its Reply answers, and a region that a cancelled call keeps.  Any other
 * invalidation closes the connection, since memory of another call was affected.  The
 * region is marked all the same, so that it is not invalidated again.
 *
 * A cancelled call cannot take back the handle that it named: the peer's Send may be in
 * transit, and most devices end the connection when a region is invalidated twice.  The
 * call therefore keeps that region accessible until the peer can no longer invalidate
 * it.
 */
#include "conn/core.h"

static bool is_kept(const struct rr_call_state *s)
{
	return !rr_list_empty(&s->kept);
}

/* Returns the call's region @handle, or NULL.  If @valid is true, the peer must have
 * access to the region. */
static struct rr_mr *region_of_call(const struct rr_call_state *s, uint32_t handle,
                                    bool valid)
{
	struct rr_call_chunks *o = s->chunks;

	for (unsigned i = 0; o && i < o->n; i++)
		if (o->region[i].handle == handle &&
		    (!valid || o->region[i].phase == RR_MR_VALID))
			return &o->region[i];
	return NULL;
}

/* Returns true if the Call has been sent completely, so that the peer knows its chunks,
 * and its Reply has not arrived completely. */
static bool awaits_reply(const struct rr_call_state *s)
{
	return s->phase == RR_CALL_WAITING || s->phase == RR_CALL_DRAINING;
}

/* -- cancelled calls ------------------------------------------------------- */

/* Returns the accessible region that the Call named, or NULL. */
static const struct rr_mr *named_region(const struct rr_call_state *s)
{
	uint32_t handle = s->chunks ? s->chunks->lists.inv_handle : 0;

	return handle ? region_of_call(s, handle, true) : NULL;
}

static void withdraw_others(struct rr_conn *c, struct rr_call_state *s,
                            const struct rr_mr *named)
{
	struct rr_call_chunks *o = s->chunks;

	for (unsigned i = 0; i < o->n; i++)
		if (&o->region[i] != named)
			s->regions_out += (unsigned)rr_mr_withdraw(c, &o->region[i]);
}

bool rr_reminv_keep(struct rr_conn *c, struct rr_call_state *s)
{
	rr_time wait = c->cfg.features.cancel_wait;
	const struct rr_mr *named;

	if (is_kept(s))
		return true;
	if (!rr_reminv_on(c) || c->survives_inv_twice || !awaits_reply(s))
		return false;
	named = named_region(s);
	if (!named)
		return false;
	rr_call_keep(c, s);
	s->kept_until = wait == RR_TIME_NEVER ? wait : c->now + wait;
	rr_list_push(&c->reminv.kept, &s->kept);
	rr_feature_begin(c, RR_FEATURE_REMINV);
	withdraw_others(c, s, named);
	return true;
}

/* -- invalidated handles --------------------------------------------------- */

/* Returns the call that has an accessible region @handle, or NULL. */
static struct rr_call_state *find_owner(const struct rr_conn *c, uint32_t handle)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->calls) {
		struct rr_call_state *s = rr_container_of(n, struct rr_call_state, all);

		if (region_of_call(s, handle, true))
			return s;
	}
	return NULL;
}

/* Returns true if a cancelled call had a region @handle, which we are invalidating or
 * have invalidated. */
static bool was_cancelled(const struct rr_conn *c, uint32_t handle)
{
	struct rr_list *n;

	rr_list_for_each (n, &c->reminv.kept)
		if (region_of_call(rr_container_of(n, struct rr_call_state, kept),
		                   handle, false))
			return true;
	return rr_answer_is_retired(c, handle);
}

/* Returns true if the message is a Reply or a part of one, perhaps a malformed one. */
static bool is_reply_message(const struct rr_msg *m)
{
	return m->response && m->p.htype != RDMA2_ERROR &&
	       m->p.htype != RDMA2_XMOPT_ERR && m->p.htype != RDMA2_CONNPROP;
}

bool rr_reminv_take(struct rr_conn *c, const struct rr_msg *m)
{
	bool reply = is_reply_message(m), allowed;
	struct rr_call_state *s = reply ? rr_call_find(c, m->p.xid) : NULL;

	if (!s || !region_of_call(s, m->inv_handle, true))
		s = find_owner(c, m->inv_handle);
	if (!s)
		return reply && was_cancelled(c, m->inv_handle);
	allowed = reply && awaits_reply(s) && (s->entry.xid == m->p.xid || is_kept(s));
	(void)rr_mr_take_remote(c, region_of_call(s, m->inv_handle, true));
	if (allowed && is_kept(s))
		rr_call_end(c, s, s->status);
	return allowed;
}
