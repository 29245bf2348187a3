/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The advisory property, and the choice of the handle that a Call names.
 *
 * The Requester chooses, because only the Requester knows how a region was registered.
 * A region is eligible if the peer can invalidate it and no other registration has its
 * handle.  Policies differ in their preference among the eligible regions.
 */
#include "conn/core.h"

bool rr_reminv_on(const struct rr_conn *c)
{
	return c->cfg.features.on >> RR_FEATURE_REMINV & 1 && c->version->names_handle;
}

bool rr_reminv_declined(const struct rr_conn_config *g)
{
	return g->features.on >> RR_FEATURE_REMINV & 1 && g->versions & RR_CONN_V2 &&
	       g->features.no_remote_inv;
}

/* -- the property --------------------------------------------- [ext §4.6] */

static uint32_t put_reminv_prop(const struct rr_conn *c, struct rr_writer *w)
{
	rr_put_u32(w, RDMA2_PROPID_REQREMINV);
	rr_put_u32(w, RR_WIRE_REMINV_VALUE);
	rr_wire_reminv_put_value(w, c->remote_inv_in);
	return 1;
}

static int take_reminv_prop(const struct rr_conn *c, const struct rr_prop *p,
                            struct rr_peer_props *v)
{
	bool accepted;

	(void)c;
	if (p->id != RDMA2_PROPID_REQREMINV)
		return -ENOENT;
	if (rr_wire_reminv_get_value(p->data, p->len, &accepted))
		return -EINVAL;
	v->reminv_known = true;
	v->no_remote_inv = !accepted;
	return 0;
}

static void agree_reminv(struct rr_conn *c)
{
	if (c->props.peer.no_remote_inv)
		c->remote_inv_out = false;
}

static bool reminv_agreed(const struct rr_conn *c)
{
	return c->props.peer.reminv_known;
}

/* -- the choice ----------------------------------------------- [ext §4.3] */

static bool is_eligible(const struct rr_mr *m)
{
	return !m->irrevocable && m->handle;
}

enum { USES = 4 };

/* Returns the first eligible region of the first kind in @order that has one. */
static const struct rr_mr *find_first(const struct rr_call_chunks *o,
                                      const enum rr_mr_use order[USES])
{
	for (unsigned k = 0; k < USES; k++)
		for (unsigned i = 0; i < o->n; i++)
			if (o->region[i].use == order[k] && is_eligible(&o->region[i]))
				return &o->region[i];
	return NULL;
}

/* Returns the longest eligible region, and among equals the first in @order. */
static const struct rr_mr *find_largest(const struct rr_call_chunks *o,
                                        const enum rr_mr_use order[USES])
{
	const struct rr_mr *best = NULL;

	for (unsigned k = 0; k < USES; k++)
		for (unsigned i = 0; i < o->n; i++) {
			const struct rr_mr *m = &o->region[i];

			if (m->use == order[k] && is_eligible(m) &&
			    (!best || m->len > best->len))
				best = m;
		}
	return best;
}

static const struct rr_mr *find_single(const struct rr_call_chunks *o)
{
	return o->n == 1 && is_eligible(&o->region[0]) ? &o->region[0] : NULL;
}

uint32_t rr_reminv_choose(const struct rr_conn *c, const struct rr_call_chunks *o)
{
	/* Regions of one kind are in header order, and the Position Zero chunk is the
	 * first in the Read list.  So READ_FIRST and FIRST are the same. */
	static const enum rr_mr_use header_order[USES] = {RR_USE_CALL, RR_USE_READ,
	                                                  RR_USE_WRITE, RR_USE_REPLY};
	static const enum rr_mr_use write_first[USES] = {RR_USE_WRITE, RR_USE_REPLY,
	                                                 RR_USE_CALL, RR_USE_READ};
	enum rr_inv_policy policy = c->cfg.features.inv_policy;
	const struct rr_mr *m;

	if (policy == RR_INV_NONE)
		return 0;
	if (policy == RR_INV_LARGEST)
		m = find_largest(o, header_order);
	else if (policy == RR_INV_SINGLE)
		m = find_single(o);
	else
		m = find_first(o, policy == RR_INV_WRITE_FIRST ? write_first
		                                               : header_order);
	return m ? m->handle : 0;
}

/* -- the feature ----------------------------------------------------------- */

static void end_waits(struct rr_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_first(&c->reminv.kept))) {
		struct rr_call_state *s =
		        rr_container_of(n, struct rr_call_state, kept);

		if (c->now < s->kept_until)
			return;
		rr_call_end(c, s, s->status);
	}
}

static rr_time next_wait_end(const struct rr_conn *c)
{
	struct rr_list *n = rr_list_first(&c->reminv.kept);

	return n ? rr_container_of(n, struct rr_call_state, kept)->kept_until
	         : RR_TIME_NEVER;
}

static bool keeps_no_call(const struct rr_conn *c)
{
	return rr_list_empty(&c->reminv.kept);
}

const struct rr_feature_ops rr_reminv_ops = {
        .put_props = put_reminv_prop,
        .take_prop = take_reminv_prop,
        .agree = agree_reminv,
        .agreed = reminv_agreed,
        .idle = keeps_no_call,
        .tick = end_waits,
        .deadline = next_wait_end,
};
