/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 1: the start of a connection, received messages, credits.
 *                                                   [RFC 8166, 8167, 8797]
 *
 * There is no exchange of properties: the connection is READY when the version is
 * settled, with the inline thresholds from the private data.  The RPC message that
 * follows the header shows whether it is a Call or a Reply.  If no RPC message follows,
 * the chunks decide: only Calls have Read chunks.  If the chunks do not decide, a
 * client treats the message as a Reply.  A server treats the message as a Reply only if
 * one of the server's calls with the same XID is waiting, and otherwise as a Call.
 *
 * A Call with a malformed header is answered with ERR_CHUNK.  A Reply with a malformed
 * header is discarded, and its call continues to wait [RFC 8166 §4.5].  A well-formed
 * Reply ends its call with an error if it does not return the chunks that the Call
 * provided.
 */
#include "conn/core.h"

static uint32_t whole_units(uint32_t bytes)
{
	uint32_t n = RR_MAX(bytes, (uint32_t)RR_WIRE_V1_INLINE);

	return n - n % RR_WIRE_V1_INLINE;
}

/* Returns flag R of our private data: both peers may use Send With Invalidate if both
 * set the flag.                                                [ext §4.7, RFC 8797] */
static bool own_flag_r(const struct rr_conn_config *g)
{
	return g->remote_invalidate && !g->v1_no_remote_inv && !rr_reminv_declined(g);
}

void rr_v1_begin(struct rr_conn *c)
{
	struct rr_props *p = &c->props;
	const struct rr_wire_private *peer = &c->peer_private;
	uint32_t most = RR_MAX(c->v1_send_bytes, (uint32_t)RR_WIRE_V1_INLINE);
	bool genl = c->cfg.rvrsdir == RDMA2_RVRSDIR_GENL;
	bool both;

	c->version = &rr_v1_ops;
	c->settled = true;
	p->answer_at = p->done_at = RR_TIME_NEVER;
	p->send_inline = RR_MIN(most, peer->recv_bytes);
	p->recv_inline = RR_MIN(whole_units(c->cfg.recv_bytes), peer->send_bytes);
	p->segment_bytes = c->cfg.segment_bytes;
	/* The peer announces no segment limit, so our limit also applies to the Calls
	 * that we send.  Some Responders can store no more segments than version 2's
	 * default number. */
	p->max_segments = c->cfg.max_segments;
	p->peer.segment_bytes = p->peer.max_segments = 0;
	/* The peer does not announce whether it serves Calls; only the upper layer
	 * knows. [RFC 8167 §5.1] */
	p->peer.rvrsdir = genl ? RDMA2_RVRSDIR_GENL : RDMA2_RVRSDIR_SIMPLE;
	both = own_flag_r(&c->cfg) && peer->remote_invalidate;
	c->remote_inv_out &= both;
	c->remote_inv_in &= both;
	rr_credit1_init(&c->credit1, c->credit.limit);
	rr_conn_move(c, RR_CONN_EV_AGREE, RR_CONN_READY);
	rr_action_enqueue(c, &c->ready_op, RR_ACT_READY);
}

void rr_v1_fall_back(struct rr_conn *c, uint32_t word)
{
	rr_v1_begin(c);
	rr_credit1_grant(&c->credit1, word <= RR_CREDIT_MAX ? word : 1); /* [V6] */
}

/* -- private data ---------------------------------------------------------- */

void rr_conn_peer_private(struct rr_conn *c, const void *data, size_t len)
{
	(void)rr_wire_find_private(data, len, &c->peer_private);
}

size_t rr_conn_own_private(const struct rr_conn_config *g, uint8_t ret[8])
{
	const struct rr_wire_private p = {
	        .remote_invalidate = own_flag_r(g),
	        .send_bytes = g->send_bytes,
	        .recv_bytes = g->recv_bytes,
	};

	if (!(g->versions & RR_CONN_V1))
		return 0;
	rr_wire_put_private(ret, &p);
	return RR_WIRE_PRIVATE_BYTES;
}

/* -- credits --------------------------------------------------------------- */

/* Returns how many Calls the peer may have outstanding; there is a Receive for each. */
static uint32_t v1_grant(const struct rr_conn *c)
{
	return RR_MAX(RR_MIN(c->credit.ceiling, c->cfg.max_requests), 1u);
}

/* Starts or stops the stuck_at deadline.  If abandoned Calls occupy all credits for
 * drain_ns, a client closes the connection, so that the user can make a new connection.
 * A server leaves its connection open, because a server cannot reconnect. */
static void watch_stuck(struct rr_conn *c)
{
	if (c->cfg.role != RR_CONN_CLIENT || !rr_credit1_stuck(&c->credit1))
		c->stuck_at = RR_TIME_NEVER;
	else if (c->stuck_at == RR_TIME_NEVER && c->cfg.drain_ns != RR_TIME_NEVER)
		c->stuck_at = c->now + c->cfg.drain_ns;
}

void rr_v1_give_up(struct rr_conn *c)
{
	if (c->version != &rr_v1_ops)
		return;
	rr_credit1_give_up(&c->credit1);
	watch_stuck(c);
}

static void take_v1_credits(struct rr_conn *c, const struct rr_msg *m)
{
	if (!m->is_answer)
		return; /* the credit word of a Call is a request, not a grant */
	rr_credit1_answered(&c->credit1, m->of_call);
	rr_credit1_grant(&c->credit1, m->p.credit);
	watch_stuck(c);
}

/* Returns true if a message may be sent.  Answers need no credit, because the Requester
 * has posted a Receive for each.  The limit on Sends protects against a peer that sends
 * more Calls than were granted and does not receive the answers. */
static bool may_send_v1(const struct rr_conn *c)
{
	return c->sends_out < v1_grant(c) + c->credit.limit;
}

static bool may_call_v1(const struct rr_conn *c)
{
	return rr_credit1_may_call(&c->credit1);
}

static uint32_t spend_v1(struct rr_conn *c, bool call)
{
	return call ? rr_credit1_spend(&c->credit1) : v1_grant(c);
}

static void fill_v1_info(const struct rr_conn *c, struct rr_conn_info *ret)
{
	uint32_t cap = rr_credit1_limit(&c->credit1);

	ret->cap = cap;
	ret->avail = cap - RR_MIN(cap, c->credit1.outstanding);
}

/* -- receiving ------------------------------------------------------------- */

/* Sorts Read chunks by Position; version 1 allows any order. */
static void sort_reads(struct rr_lists *l)
{
	for (uint16_t i = 1; i < l->n_reads; i++) {
		struct rr_chunk k = l->reads[i];
		uint16_t at = i;

		for (; at && l->reads[at - 1].position > k.position; at--)
			l->reads[at] = l->reads[at - 1];
		l->reads[at] = k;
	}
	l->reads_descend = false;
}

static bool decode_v1_lists(struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);

	if (rr_wire_v1_get_lists(&cur, &m->lists))
		return false;
	m->payload = cur.pos;
	m->payload_len = rr_cursor_left(&cur);
	if (m->lists.reads_descend)
		sort_reads(&m->lists);
	return true;
}

/* Guesses whether a message is a Reply, if its contents do not show this. */
static bool likely_reply(const struct rr_conn *c, const struct rr_msg *m)
{
	return c->cfg.role == RR_CONN_CLIENT || rr_call_sent(c, m->p.xid);
}

static bool is_reply(const struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_lists *l = &m->lists;

	if (m->p.htype == RDMA2_MSG && m->payload_len >= RR_RPC_MIN) {
		uint32_t msg_type = rr_load_u32(m->payload + 4);

		if (msg_type <= 1)
			return msg_type == 1;
	} else if (m->p.htype == RDMA2_NOMSG && (l->n_reads || l->has_reply)) {
		return !l->n_reads;
	}
	return likely_reply(c, m);
}

/* Checks the handle that the message invalidated.  If the handle was not offered,
 * closes the connection and returns false. [K17] */
static bool check_invalidation(struct rr_conn *c, const struct rr_msg *m)
{
	if (!m->inv_handle || rr_answer_invalidated(c, m))
		return true;
	rr_conn_fail(c, -EPROTO);
	return false;
}

static void reject_header(struct rr_conn *c, struct rr_msg *m)
{
	const struct rr_error e = {.code = RDMA2_ERR_BAD_XDR}; /* ERR_CHUNK */

	if (m->response)
		rr_recv_discard(c, m, RR_DISCARD_FAULT);
	else
		rr_recv_fault(c, m, &e, -EBADMSG);
}

/* Returns true if the Reply contains an RPC Reply with the header's XID, or has a Reply
 * chunk that may contain an RPC Reply. */
static bool holds_reply(const struct rr_msg *m)
{
	if (m->p.htype == RDMA2_NOMSG)
		return m->lists.has_reply;
	return rr_answer_is_reply(m->payload, m->payload_len, m->p.xid);
}

static void receive_v1_rpc(struct rr_conn *c, struct rr_msg *m)
{
	bool decoded = decode_v1_lists(m);

	m->response = decoded ? is_reply(c, m) : likely_reply(c, m);
	if (!check_invalidation(c, m))
		return;
	if (!decoded || (m->response && !holds_reply(m))) {
		reject_header(c, m);
		return;
	}
	m->is_answer = m->response;
	m->of_call = m->response && rr_call_sent(c, m->p.xid);
	if (m->response)
		rr_answer_received(c, m);
	else
		rr_request_received(c, m);
}

/* Returns true if @e is the server's refusal of a client that began with version 1. */
static bool no_common_version(const struct rr_conn *c, const struct rr_error *e)
{
	return !c->heard && c->cfg.role == RR_CONN_CLIENT &&
	       e->code == RDMA2_ERR_VERS &&
	       !rr_version_ops_within(RR_CONN_V1, e->arg[0], e->arg[1]);
}

static void receive_v1_error(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_cursor cur = rr_cursor_over(m->body, m->body_len);
	struct rr_error e;

	if (!check_invalidation(c, m))
		return;
	m->is_answer = !rr_wire_v1_get_error(&cur, &e);
	m->of_call = m->is_answer && rr_call_sent(c, m->p.xid);
	if (m->is_answer && no_common_version(c, &e))
		rr_conn_fail(c, -EPROTONOSUPPORT);
	else
		rr_answer_error(c, m);
}

static void receive_v1(struct rr_conn *c, struct rr_msg *m)
{
	switch (m->p.htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		receive_v1_rpc(c, m);
		break;
	case RDMA2_ERROR:
		receive_v1_error(c, m);
		break;
	default: /* RDMA_DONE is discarded, RDMA_MSGP is answered with ERR_CHUNK
	          * [RFC 8166 §4.6] */
		m->response = m->p.htype == RR_WIRE_V1_DONE || likely_reply(c, m);
		if (check_invalidation(c, m))
			reject_header(c, m);
		break;
	}
}

const struct rr_version_ops rr_v1_ops = {
        .vers = RPCRDMA_VERSION_ONE,
        .prefix_bytes = RR_WIRE_V1_PREFIX,
        .empty_bytes = RR_WIRE_V1_EMPTY_MSG,
        .least = RR_WIRE_V1_EMPTY_MSG,
        .get_prefix = rr_wire_v1_get_prefix,
        .get_lists = rr_wire_v1_get_lists,
        .get_error = rr_wire_v1_get_error,
        .put_prefix = rr_wire_v1_put_prefix,
        .put_lists = rr_wire_v1_put_lists,
        .put_error = rr_wire_v1_put_error,
        .lists_size = rr_wire_v1_lists_size,
        .returns_reply_chunk = true,
        .one_error = true,
        .received = receive_v1,
        .credited = take_v1_credits,
        .may_send = may_send_v1,
        .may_call = may_call_v1,
        .spend = spend_v1,
        .idle_word = v1_grant,
        .fill_info = fill_v1_info,
};
