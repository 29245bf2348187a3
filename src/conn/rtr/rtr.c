/* SPDX-License-Identifier: BSD-3-Clause */
/* See rtr.h.  Properties, and the structure of our Receive buffers. */
#include "conn/core.h"

/* -- Receive buffers ------------------------------------------------------- */

static bool rtr_switched_on(const struct rr_conn *c)
{
	return c->cfg.features.on >> RR_FEATURE_RTR & 1;
}

/* Returns the structure of our buffers.  Without targetable segments this is one
 * segment, as the default is. */
static struct rr_rbstruct own_structure(const struct rr_conn_config *g)
{
	const struct rr_feature_config *f = &g->features;
	uint32_t each = f->rtr_segment_bytes & ~(uint32_t)3;
	uint32_t n = RR_MIN(f->rtr_segments, (uint32_t)RR_WIRE_RTR_MAX_TBSNS);
	uint32_t head = RR_RTR_PAYLOAD;

	if (!n || each < RR_RTR_PAYLOAD || each > UINT32_MAX / 2 / n)
		return rr_wire_rtr_default_rbstruct(g->recv_bytes & ~(uint32_t)3);
	if (g->recv_bytes > head + n * each)
		head = (g->recv_bytes - n * each + 3) & ~(uint32_t)3;
	return (struct rr_rbstruct){
	        .length = head + n * each,
	        .n_groups = 2,
	        .total_groups = 2,
	        .group = {{1, head, 4, 0}, {n, each, RR_RTR_ALIGN, XMRSFLAG_DDP}},
	};
}

static bool has_targets(const struct rr_rtr *t)
{
	return t->own.n_groups > 1;
}

void rr_rtr_conn_init(struct rr_conn *c)
{
	struct rr_rtr *t = &c->rtr;

	rr_slab_init(&t->in_slab, &c->cfg.mem, sizeof(struct rr_rtr_incoming), 65536);
	rr_slab_init(&t->out_slab, &c->cfg.mem, sizeof(struct rr_rtr_outgoing), 65536);
	t->wait_until = RR_TIME_NEVER;
	t->peer = &c->props.peer.rtr.buffer;
	t->own = rr_wire_rtr_default_rbstruct(c->cfg.recv_bytes);
	if (!rtr_switched_on(c))
		return;
	t->own = own_structure(&c->cfg);
	/* What the peer may send to us, we may send, if the peer's buffers are as
	 * long. */
	if (has_targets(t))
		c->cfg.send_bytes = RR_MAX(c->cfg.send_bytes, t->own.length);
}

size_t rr_rtr_block_bytes(const struct rr_conn *c, size_t bytes)
{
	return has_targets(&c->rtr) ? bytes + RR_RTR_ALIGN : bytes;
}

uint8_t *rr_rtr_align(const struct rr_conn *c, uint8_t *block)
{
	size_t head = c->rtr.own.group[0].length;

	if (!has_targets(&c->rtr))
		return block;
	return block + (-((uintptr_t)block + head) & (RR_RTR_ALIGN - 1));
}

static void fini_rtr(struct rr_conn *c)
{
	rr_slab_fini(&c->rtr.in_slab);
	rr_slab_fini(&c->rtr.out_slab);
	rr_mem_put(&c->cfg.mem, c->rtr.report,
	           RR_RTR_MAX_REPORTS * sizeof(*c->rtr.report));
}

static void lose_rtr(struct rr_conn *c)
{
	struct rr_rtr *t = &c->rtr;

	rr_rtr_incoming_free(c, t->in);
	t->in = NULL;
	t->wait_call = NULL;
	t->wait_reply = NULL;
	t->wait_until = RR_TIME_NEVER;
}

/* -- properties ------------------------------------------------------------ */

uint32_t rr_rtr_own_request_limit(const struct rr_conn *c)
{
	const struct rr_feature_config *f = &c->cfg.features;

	return f->rtr_no_continuation
	               ? 1
	               : RR_MIN(f->rtr_requests, (uint32_t)RR_RTR_MAX_COUNT);
}

/* A group needs all its credits at once, so that our own limit on them counts. */
uint32_t rr_rtr_own_response_limit(const struct rr_conn *c)
{
	const struct rr_feature_config *f = &c->cfg.features;
	uint32_t most = RR_MIN(f->rtr_responses, (uint32_t)RR_RTR_MAX_COUNT);

	return f->rtr_no_continuation ? 1 : RR_MIN(most, c->credit.limit - 1);
}

static uint32_t own_support(const struct rr_feature_config *f)
{
	return RTRS_XREQ | RTRS_XRESP | (f->rtr_no_continuation ? 0 : RTRS_XCONT) |
	       (f->rtr_no_send_results ? 0 : RTRS_TBSNRESP);
}

static uint32_t put_rtr_props(const struct rr_conn *c, struct rr_writer *w)
{
	const struct rr_feature_config *f = &c->cfg.features;
	const struct rr_rtr *t = &c->rtr;

	rr_wire_put_prop_u32(w, RDMA2_PROPID_RTRSUPP, own_support(f));
	rr_wire_put_prop_u32(w, RDMA2_PROPID_REQRXLIM, rr_rtr_own_request_limit(c));
	rr_wire_put_prop_u32(w, RDMA2_PROPID_RESPSXLIM, rr_rtr_own_response_limit(c));
	if (!has_targets(t))
		return 3;
	rr_put_u32(w, RDMA2_PROPID_RBSTRUCT);
	rr_put_u32(w, (uint32_t)rr_wire_rtr_rbstruct_size(&t->own));
	rr_wire_rtr_put_rbstruct(w, &t->own);
	return 4;
}

static int take_rtr_prop(const struct rr_conn *c, const struct rr_prop *p,
                         struct rr_peer_props *v)
{
	(void)c;
	switch (p->id) {
	case RDMA2_PROPID_RTRSUPP:
		return rr_wire_rtr_get_support(p->data, p->len, &v->rtr.support);
	case RDMA2_PROPID_RBSTRUCT:
		return rr_wire_rtr_get_rbstruct(p->data, p->len, &v->rtr.buffer);
	case RDMA2_PROPID_REQRXLIM:
		return rr_wire_rtr_get_limit(p->data, p->len, &v->rtr.request_limit);
	case RDMA2_PROPID_RESPSXLIM:
		return rr_wire_rtr_get_limit(p->data, p->len, &v->rtr.response_limit);
	default:
		return -ENOENT;
	}
}

static bool check_rtr_props(const struct rr_peer_props *v)
{
	return !v->recv_sent || !v->rtr.buffer.length ||
	       v->recv_bytes <= v->rtr.buffer.length;
}

/* A peer that sent only the structure receives as much by base header types.
 * [ext §5.2] */
static void take_structure(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	struct rr_rbstruct *b = &p->peer.rtr.buffer;

	if (!p->peer.recv_sent && b->length) {
		p->peer.recv_bytes = b->length;
		p->send_inline = RR_MIN(p->own_send_bytes, p->peer.recv_bytes);
		if (p->send_inline < RR_WIRE_MIN_INLINE)
			rr_conn_fail(c, -EPROTO); /* [P8] */
	}
	if (!b->length || b->over)
		*b = rr_wire_rtr_default_rbstruct(b->length ? b->length
		                                            : p->peer.recv_bytes);
}

static void agree_rtr(struct rr_conn *c)
{
	const struct rr_peer_props *peer = &c->props.peer;
	struct rr_rtr *t = &c->rtr;
	bool continues;

	t->support = peer->rtr.support;
	take_structure(c);
	t->limit = RR_MIN(t->peer->length, c->props.own_send_bytes);
	t->target_bytes = rr_rtr_target_bytes(t->peer, t->limit & ~(uint32_t)3);
	t->take_limit = RR_MIN(t->own.length, peer->send_bytes);
	continues =
	        t->support & RTRS_XCONT && own_support(&c->cfg.features) & RTRS_XCONT;
	t->request_limit = continues ? RR_MAX(peer->rtr.request_limit, 1) : 1;
	t->response_limit = continues ? RR_MAX(peer->rtr.response_limit, 1) : 1;
}

static bool rtr_agreed(const struct rr_conn *c)
{
	return c->rtr.support != 0;
}

static bool accepts_rtr(const struct rr_conn *c, uint32_t htype)
{
	(void)c;
	return htype == RDMA2_XMOPT_REQ || htype == RDMA2_XMOPT_RESP ||
	       htype == RDMA2_XMOPT_CONT || htype == RDMA2_XMOPT_ERR;
}

uint32_t rr_rtr_most(const struct rr_conn *c)
{
	return RR_MIN(RR_MAX(c->credit.cap, 2u) - 1, (uint32_t)RR_RTR_MAX_COUNT);
}

/* -- time ------------------------------------------------------------------ */

static rr_time rtr_deadline(const struct rr_conn *c)
{
	return c->rtr.wait_until > c->now ? c->rtr.wait_until : RR_TIME_NEVER;
}

static bool rtr_is_idle(const struct rr_conn *c)
{
	return !c->rtr.n_reports && !rr_rtr_waits(&c->rtr);
}

const struct rr_feature_ops rr_rtr_ops = {
        .put_props = put_rtr_props,
        .take_prop = take_rtr_prop,
        .check_props = check_rtr_props,
        .agree = agree_rtr,
        .agreed = rtr_agreed,
        .accepts = accepts_rtr,
        .received = rr_rtr_received,
        .idle = rtr_is_idle,
        .transmit = rr_rtr_send_report,
        .deadline = rtr_deadline,
        .lost = lose_rtr,
        .fini = fini_rtr,
};
