/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host authentication: the contents of property 6.     [v2 §5.2.6, P6, P14, P15]
 *
 * The draft names the property and leaves the mechanism open.  The user's hook produces
 * the steps of the dialogue; this file decides when they are sent.  The client begins,
 * after its other properties have been sent and the server's first message has arrived.
 * Each step is one RDMA2_CONNPROP (in parts if it is long) with TPMORE set.  The peers
 * take turns.  When its hook is satisfied, a peer sends its last step, if any, and then
 * an empty final message, which ends its part of the exchange.
 *
 * Without a hook, property 6 is treated as unknown.  A peer that sends its final
 * message without any step has no hook; auth_required decides whether such a peer is
 * allowed.  The connection is closed if the hook refuses the peer, if a step is out of
 * turn or too long, if there are too many steps, or if the peer sends its final message
 * in the middle of the dialogue.
 */
#include "conn/core.h"

bool rr_auth_settled(const struct rr_conn *c)
{
	return c->auth.phase == RR_AUTH_OFF || c->auth.phase == RR_AUTH_DONE;
}

void rr_auth_fini(struct rr_conn *c)
{
	rr_mbuf_free(&c->quota, &c->auth.out);
}

static void refuse_peer(struct rr_conn *c)
{
	rr_conn_fail(c, -EACCES);
}

/* Closes the connection if a third party has forged a refusal.  A peer that refuses one
 * of our property sets leaves this set out of its proof.  So if its proof covers all
 * our sets, the peer did not send the refusal that we received. */
static void check_refusals(struct rr_conn *c)
{
	if (c->auth.contradicted && c->auth.phase == RR_AUTH_DONE)
		refuse_peer(c);
}

static void move_auth(struct rr_conn *c, enum rr_auth_event by, enum rr_auth_phase to)
{
	RR_MACHINE_MOVE(rr_auth_machine, c->auth.phase, by, to);
	c->auth.phase = to;
	if (rr_auth_settled(c))
		rr_conn_trace(c, RR_TRACE_HOSTAUTH_DONE, 0, to, c->auth.steps, 0);
	check_refusals(c);
}

void rr_auth_init(struct rr_conn *c)
{
	if (c->cfg.auth.step)
		move_auth(c, RR_AUTH_EV_HOOK, RR_AUTH_IDLE);
}

/* Stores our next step, encoded as opaque<>. */
static int keep_step(struct rr_conn *c, const void *data, size_t len)
{
	struct rr_mbuf *b = &c->auth.out;
	size_t octets = 4 + len + rr_pad(len);
	struct rr_writer w;

	if (rr_mbuf_alloc(&c->quota, b, octets))
		return -ENOMEM;
	w = rr_writer_over(b->p, octets);
	rr_put_u32(&w, (uint32_t)len);
	rr_put_padded(&w, data, len);
	b->len = octets;
	return 0;
}

static void run_step(struct rr_conn *c, const void *in, size_t in_len)
{
	struct rr_auth_state *a = &c->auth;
	const void *out = NULL;
	size_t out_len = 0;
	int verdict;

	if (a->steps++ == RR_AUTH_MAX_STEPS) {
		refuse_peer(c);
		return;
	}
	verdict = c->cfg.auth.step(c->cfg.auth.ctx, in, in_len, &out, &out_len);
	rr_conn_trace(c, RR_TRACE_HOSTAUTH_STEP, 0, a->steps, in_len, out_len);
	if ((verdict < 0 && !out_len) || out_len > RR_AUTH_MAX_BYTES) {
		refuse_peer(c);
		return;
	}
	a->refused = verdict < 0;
	a->satisfied = verdict > 0;
	if (a->satisfied && !out_len) {
		move_auth(c, RR_AUTH_EV_STEP, RR_AUTH_DONE);
		return;
	}
	if (keep_step(c, out, out_len))
		rr_conn_fail(c, -ENOMEM);
	move_auth(c, RR_AUTH_EV_STEP, RR_AUTH_SENDING);
}

void rr_auth_received(struct rr_conn *c, const uint8_t *data, uint32_t len)
{
	struct rr_auth_state *a = &c->auth;
	bool turn = a->phase == RR_AUTH_AWAITING ||
	            (a->phase == RR_AUTH_IDLE && c->cfg.role == RR_CONN_SERVER);

	if (!c->cfg.auth.step || !len || !rr_conn_live(c)) /* [P14, P6] */
		return;
	if (!turn) {
		refuse_peer(c);
		return;
	}
	RR_MACHINE_EVENT(rr_auth_machine, a->phase, RR_AUTH_EV_RECEIVE);
	a->heard = true;
	run_step(c, data + 4, rr_load_u32(data));
}

static void skip_auth(struct rr_conn *c)
{
	rr_mbuf_free(&c->quota, &c->auth.out);
	move_auth(c, RR_AUTH_EV_LACK, RR_AUTH_OFF);
	if (c->cfg.auth_required)
		refuse_peer(c);
}

void rr_auth_go_on(struct rr_conn *c)
{
	const struct rr_auth_state *a = &c->auth;
	const struct rr_props *p = &c->props;

	if (rr_auth_settled(c) || !rr_conn_live(c) || p->out == RR_PROPS_OUT_PARTS)
		return;
	if (p->in == RR_PROPS_IN_FINAL && !a->satisfied) {
		if (a->heard)
			refuse_peer(c); /* the peer ended the exchange in the middle of
			                 * the dialogue */
		else
			skip_auth(c);
	} else if (a->phase == RR_AUTH_IDLE && c->cfg.role == RR_CONN_CLIENT &&
	           p->in != RR_PROPS_IN_NONE) {
		run_step(c, NULL, 0);
	}
}

void rr_auth_rejected(struct rr_conn *c)
{
	c->auth.contradicted = c->cfg.auth.property != NULL;
	check_refusals(c);
}

void rr_auth_property(struct rr_conn *c, bool own, const struct rr_prop *p)
{
	const struct rr_auth *h = &c->cfg.auth;

	if (h->property && rr_conn_live(c) &&
	    !h->property(h->ctx, own, p->id, p->data, p->len))
		refuse_peer(c);
}

void rr_auth_step_sent(struct rr_conn *c)
{
	if (c->auth.refused) {
		refuse_peer(c);
		return;
	}
	move_auth(c, RR_AUTH_EV_SEND,
	          c->auth.satisfied ? RR_AUTH_DONE : RR_AUTH_AWAITING);
	rr_auth_go_on(c);
}
