/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of transport properties.                   [v2 §5, §6.3.4, V1]
 *
 * Each peer sends RDMA2_CONNPROP as its first message, the client on opening,
 * the server when the client's first message has come.  Five numbers always
 * fit in one message, so the own one is final.  The peer's may be several
 * (TPMORE), each of them continued (MORE, reassembled before it gets here).
 * Values are collected until the peer's final message and the own one have
 * passed; then they take effect at once and RPC traffic begins [P18].
 *
 * A message with one bad value is refused whole, yet it still counts towards
 * the end of the exchange [P4].  Unknown properties are skipped.  A peer that
 * never finishes is given up after a time [P17]; so is one that sends more
 * than the local limits [P20] or leaves too small a threshold [P8].
 */
#include "conn/core.h"

void rr_props_init(struct rr_conn *c)
{
	struct rr_props *p = &c->props;

	p->peer = (struct rr_peer_props){
	        .send_bytes = RR_WIRE_DEFAULT_INLINE,
	        .recv_bytes = RR_WIRE_DEFAULT_INLINE,
	        .segment_bytes = RR_WIRE_DEFAULT_RSSIZ,
	        .max_segments = RR_WIRE_DEFAULT_RCSIZ,
	        .rvrsdir = RDMA2_RVRSDIR_NONE,
	};
	p->answer_at = p->done_at = RR_TIME_NEVER;
	p->send_inline = RR_MIN(c->cfg.send_bytes, (uint32_t)RR_WIRE_DEFAULT_INLINE);
	p->send_inline = RR_MAX(p->send_inline, (uint32_t)RR_WIRE_MIN_INLINE);
	p->recv_inline = RR_WIRE_DEFAULT_INLINE;
	p->segment_bytes =
	        RR_MIN(c->cfg.segment_bytes, (uint32_t)RR_WIRE_DEFAULT_RSSIZ);
	p->max_segments = RR_WIRE_DEFAULT_RCSIZ;
}

void rr_props_begin(struct rr_conn *c)
{
	if (c->cfg.props_ns != RR_TIME_NEVER)
		c->props.done_at = c->now + c->cfg.props_ns;
}

static void take_effect(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	/* What the peer believes of us. */
	uint32_t send_bytes = p->rejected ? RR_WIRE_DEFAULT_INLINE : c->cfg.send_bytes;
	uint32_t recv_bytes = p->rejected ? RR_WIRE_DEFAULT_INLINE : c->cfg.recv_bytes;

	p->send_inline =
	        RR_MIN(RR_MIN(send_bytes, c->cfg.send_bytes), p->peer.recv_bytes);
	p->recv_inline = RR_MIN(recv_bytes, p->peer.send_bytes);
	p->segment_bytes = RR_MIN(c->cfg.segment_bytes, p->peer.segment_bytes);
	p->max_segments = RR_MIN(p->peer.max_segments, (uint32_t)RR_WIRE_MAX_SEGMENTS);
}

static void finish(struct rr_conn *c)
{
	struct rr_props *p = &c->props;

	if (!p->sent || !p->peer_final || c->state != RR_CONN_PROPS)
		return;
	take_effect(c);
	if (p->send_inline < RR_WIRE_MIN_INLINE ||
	    p->recv_inline < RR_WIRE_MIN_INLINE) {
		rr_conn_fail(c, -EPROTO); /* [P8] */
		return;
	}
	p->done_at = RR_TIME_NEVER;
	rr_conn_trace(c, RR_TRACE_PROPS_DONE, 0, p->send_inline, p->recv_inline,
	              p->max_segments);
	rr_conn_set_state(c, RR_CONN_READY);
	rr_act(c, &c->ready_op, RR_ACT_READY);
}

void rr_props_rejected(struct rr_conn *c)
{
	c->props.rejected = true;
	if (c->state == RR_CONN_READY)
		take_effect(c);
	if (c->props.send_inline < RR_WIRE_MIN_INLINE)
		rr_conn_fail(c, -EPROTO);
}

/* -- sending -------------------------------------------------------------------- */

static void encode(const struct rr_conn *c, struct rr_xmit *x)
{
	const struct rr_conn_config *g = &c->cfg;
	bool client = g->role == RR_CONN_CLIENT;
	struct rr_writer w =
	        rr_writer_over(x->buf, RR_MIN(x->cap, (size_t)RR_WIRE_FIRST_MESSAGE));
	struct rr_prefix p = {
	        .xid = c->props.xid,
	        .vers = RPCRDMA_VERSION_TWO,
	        .htype = RDMA2_CONNPROP,
	};

	rr_wire_put_prefix(&w, &p);
	rr_wire_put_props_begin(&w, client ? 5 : 4);
	rr_wire_put_prop_u32(&w, RDMA2_PROPID_SBSIZ, g->send_bytes);
	rr_wire_put_prop_u32(&w, RDMA2_PROPID_RBSIZ, g->recv_bytes);
	rr_wire_put_prop_u32(&w, RDMA2_PROPID_RSSIZ, g->segment_bytes);
	rr_wire_put_prop_u32(&w, RDMA2_PROPID_RCSIZ, g->max_segments);
	if (client) /* only the client's value counts [P13] */
		rr_wire_put_prop_u32(&w, RDMA2_PROPID_BRS, g->rvrsdir);
	rr_xmit_header(x, &w);
}

bool rr_props_send(struct rr_conn *c)
{
	struct rr_xmit *x = rr_xmit_new(c, 0);

	if (!x) {
		rr_conn_fail(c, -ENOMEM);
		return true;
	}
	c->props.xid = rr_conn_own_xid(c);
	encode(c, x);
	rr_xmit_send(c, x);
	c->props.sent = true;
	finish(c);
	return true;
}

/* -- receiving ------------------------------------------------------------------- */

static void apply(struct rr_conn *c, struct rr_peer_props *v, const struct rr_prop *p)
{
	switch ((enum rr_propid)p->id) {
	case RDMA2_PROPID_SBSIZ:
		v->send_bytes = p->value;
		break;
	case RDMA2_PROPID_RBSIZ:
		v->recv_bytes = p->value;
		break;
	case RDMA2_PROPID_RSSIZ:
		v->segment_bytes = p->value;
		break;
	case RDMA2_PROPID_RCSIZ:
		v->max_segments = p->value;
		break;
	case RDMA2_PROPID_BRS: /* values above 3 count as 0 [P13] */
		v->rvrsdir = p->value > RDMA2_RVRSDIR_GENL
		                     ? (uint32_t)RDMA2_RVRSDIR_NONE
		                     : p->value;
		break;
	case RDMA2_PROPID_HOSTAUTH: /* no hook: as an unsupported one [P14] */
		return;
	}
	rr_conn_trace(c, RR_TRACE_PROP_APPLIED, 0, p->id, p->value, 0);
}

/* A set that is well formed, but longer than any limit of ours. [P20] */
static bool too_many(const uint8_t *body, size_t len)
{
	return len >= 4 && rr_load_u32(body) > RR_WIRE_MAX_PROPS &&
	       rr_load_u32(body) <= (len - 4) / 8;
}

/* All or nothing: values reach the connection in the last line. */
static uint32_t decode(struct rr_conn *c, const uint8_t *body, size_t len)
{
	struct rr_cursor cur = rr_cursor_over(body, len);
	struct rr_peer_props v = c->props.peer;
	uint32_t count;

	if (rr_wire_get_props_begin(&cur, &count))
		return RDMA2_ERR_BAD_XDR;
	c->props.received += count;
	for (uint32_t i = 0; i < count; i++) {
		struct rr_prop p;
		int err = rr_wire_get_prop(&cur, &p);

		if (err)
			return err == -EINVAL ? RDMA2_ERR_BAD_PROPVAL
			                      : RDMA2_ERR_BAD_XDR;
		apply(c, &v, &p);
	}
	c->props.peer = v;
	return 0;
}

uint32_t rr_props_received(struct rr_conn *c, const uint8_t *body, size_t len,
                           bool tpmore)
{
	struct rr_props *p = &c->props;
	uint32_t code = 0;

	p->received_bytes += len;
	if (!too_many(body, len))
		code = decode(c, body, len);
	else
		p->received = RR_WIRE_MAX_PROPS + 1;
	if (p->received > RR_WIRE_MAX_PROPS || p->received_bytes > RR_MAX_PROPS_BYTES) {
		rr_conn_fail(c, -EPROTO);
		return 0;
	}
	p->peer_final = !tpmore;
	finish(c);
	return code;
}
