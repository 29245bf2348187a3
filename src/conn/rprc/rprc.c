/* SPDX-License-Identifier: BSD-3-Clause */
/* See rprc.h.  Properties, and the notifications that a Responder receives. */
#include "conn/core.h"

RR_MACHINE(rr_exposure_machine, RR_EXPOSURE)

void rr_rprc_init(struct rr_conn *c)
{
	struct rr_rprc *r = &c->rprc;
	const struct rr_mem *m = &c->cfg.mem;

	rr_list_init(&r->exposures);
	rr_list_init(&r->due);
	rr_list_init(&r->pulls_list);
	rr_list_init(&r->waiting);
	rr_list_init(&r->notices);
	rr_list_init(&r->carried);
	rr_slab_init(&r->exposure_slab, m, sizeof(struct rr_exposure), 4096);
	rr_slab_init(&r->pull_slab, m, sizeof(struct rr_reply_pull), 4096);
	rr_slab_init(&r->notice_slab, m, sizeof(struct rr_notice), 1024);
	rr_slab_init(&r->carried_slab, m, sizeof(struct rr_carried), 1024);
}

static void fini_rprc(struct rr_conn *c)
{
	struct rr_rprc *r = &c->rprc;

	rr_slab_fini(&r->exposure_slab);
	rr_slab_fini(&r->pull_slab);
	rr_slab_fini(&r->notice_slab);
	rr_slab_fini(&r->carried_slab);
}

static void lose_rprc(struct rr_conn *c)
{
	rr_exposure_lost(c);
	rr_notice_lost(c);
}

rr_time rr_rprc_exposed_until(const struct rr_conn *c, rr_time received)
{
	if (!c->rprc.lifetime_ms)
		return RR_TIME_NEVER;
	return received + RR_MS((rr_time)c->rprc.lifetime_ms) / 10 * 9;
}

/* -- properties ------------------------------------------------------------ */

/* Returns our value of the property. */
static struct rr_wire_rprc own_value(const struct rr_conn *c)
{
	const struct rr_feature_config *g = &c->cfg.features;
	uint64_t most = RR_MIN(g->max_pull, c->cfg.max_held_bytes);
	struct rr_wire_rprc v = {0};

	if (!c->cannot_read) {
		v.flags |= RDMA2_RPRC_F_REQUESTER;
		v.max_reply = (uint32_t)RR_MIN(most, UINT32_MAX);
	}
	if (!c->cannot_be_read) {
		v.flags |= RDMA2_RPRC_F_RESPONDER;
		v.lifetime_ms = g->rprc_no_lifetime ? 0 : g->rprc_lifetime_ms;
		if (!g->rprc_no_piggyback)
			v.flags |= RDMA2_RPRC_F_PIGGYBACK;
	}
	return v;
}

static uint32_t put_rprc_props(const struct rr_conn *c, struct rr_writer *w)
{
	const struct rr_wire_rprc v = own_value(c);

	if (!v.flags)
		return 0;
	rr_put_u32(w, RDMA2_PROPID_RPRC);
	rr_put_u32(w, RR_WIRE_RPRC_VALUE);
	rr_wire_rprc_put_value(w, &v);
	return 1;
}

static int take_rprc_prop(const struct rr_conn *c, const struct rr_prop *p,
                          struct rr_peer_props *v)
{
	(void)c;
	if (p->id != RDMA2_PROPID_RPRC)
		return -ENOENT;
	return rr_wire_rprc_get_value(p->data, p->len, &v->rprc);
}

static void agree_rprc(struct rr_conn *c)
{
	const struct rr_wire_rprc own = own_value(c), *peer = &c->props.peer.rprc;
	struct rr_rprc *r = &c->rprc;

	r->exposes = own.flags & RDMA2_RPRC_F_RESPONDER &&
	             peer->flags & RDMA2_RPRC_F_REQUESTER;
	r->pulls = own.flags & RDMA2_RPRC_F_REQUESTER &&
	           peer->flags & RDMA2_RPRC_F_RESPONDER;
	r->carries = r->pulls && peer->flags & RDMA2_RPRC_F_PIGGYBACK;
	r->lifetime_ms = peer->lifetime_ms;
	r->max_reply = peer->max_reply;
}

/* What is exposed stays so, and Replies that are being read are read to the end. */
static void refuse_rprc(struct rr_conn *c)
{
	c->rprc.exposes = c->rprc.pulls = c->rprc.carries = false;
}

static bool rprc_agreed(const struct rr_conn *c)
{
	return c->rprc.exposes || c->rprc.pulls;
}

/* -- notifications received ------------------------------------------------ */

static bool accepts_rprc(const struct rr_conn *c, uint32_t htype)
{
	uint32_t own = own_value(c).flags;

	return (htype == RDMA2_DONE && own) ||
	       (htype == RDMA2_MSG_DONE && own & RDMA2_RPRC_F_PIGGYBACK);
}

static void take_notification(struct rr_conn *c, uint32_t xid)
{
	c->count.done_received++;
	if (!rr_exposure_notified(c, xid))
		c->count.done_dropped++;
}

static bool decode_msg_done(struct rr_msg *m, struct rr_wire_done_list *ret)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);

	if (rr_wire_rprc_get_msg_done(&cur, ret, &m->lists))
		return false;
	m->payload = cur.pos;
	m->payload_len = rr_cursor_left(&cur);
	return m->payload_len >= 4; /* [X9] */
}

static void receive_msg_done(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_error e = {.code = RDMA2_ERR_BAD_XDR};
	struct rr_wire_done_list done;

	if (m->response) { /* only Calls have this type */
		rr_recv_fault(c, m, &e, -EPROTO);
		return;
	}
	if (!decode_msg_done(m, &done)) {
		rr_recv_fault(c, m, &e, 0);
		return;
	}
	for (uint32_t i = 0; i < done.count; i++)
		take_notification(c, done.xid[i]);
	if (c->cont.active) { /* the type cannot be part of a sequence */
		e.code = RDMA2_ERR_INVAL_CONT;
		rr_recv_fault(c, m, &e, 0);
		return;
	}
	m->p.htype = RDMA2_MSG;
	rr_recv_rpc(c, m);
}

static void receive_rprc(struct rr_conn *c, struct rr_msg *m)
{
	if (m->p.htype == RDMA2_MSG_DONE) {
		receive_msg_done(c, m);
	} else if (m->response) { /* it names none of our Replies */
		c->count.done_received++;
		c->count.done_dropped++;
	} else {
		take_notification(c, m->p.xid);
	}
}

/* Returns true if a message of these types may have invalidated @m->inv_handle: it is
 * the handle of a reply that the message names.                           [ext §3.8] */
static bool rprc_invalidated(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_wire_done_list done = {.count = 1, .xid = {m->p.xid}};

	if (m->response || (m->p.htype == RDMA2_MSG_DONE && !decode_msg_done(m, &done)))
		return false;
	for (uint32_t i = 0; i < done.count; i++)
		if (rr_exposure_take_remote(c, done.xid[i], m->inv_handle))
			return true;
	return false;
}

static rr_time rprc_deadline(const struct rr_conn *c)
{
	return RR_MIN(rr_exposure_deadline(c),
	              RR_MIN(rr_notice_deadline(c), rr_reply_pull_deadline(c)));
}

static bool rprc_is_idle(const struct rr_conn *c)
{
	return !c->rprc.n_notices && rr_list_empty(&c->rprc.due) &&
	       rr_list_empty(&c->rprc.pulls_list);
}

const struct rr_feature_ops rr_rprc_ops = {
        .put_props = put_rprc_props,
        .take_prop = take_rprc_prop,
        .agree = agree_rprc,
        .refused = refuse_rprc,
        .agreed = rprc_agreed,
        .accepts = accepts_rprc,
        .invalidated = rprc_invalidated,
        .received = receive_rprc,
        .idle = rprc_is_idle,
        .progress = rr_reply_pull_next,
        .tick = rr_exposure_tick,
        .deadline = rprc_deadline,
        .lost = lose_rprc,
        .fini = fini_rprc,
};
