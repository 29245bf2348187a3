/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in pump.h. */
#include "link/pump.h"

/* Minimum interval between ticks while a post waits for the send queue.  More frequent
 * ticks would be useless, because no action can be drawn before the post is sent. */
#define STALLED_TICK RR_MS(10)

void rr_pump_init(struct rr_pump *p, const struct rr_prov_ops *prov, struct rr_ep *ep,
                  struct rr_conn *conn, const struct rr_pump_ops *ops)
{
	*p = (struct rr_pump){
	        .prov = prov,
	        .ep = ep,
	        .conn = conn,
	        .ops = ops,
	        .batch = RR_PUMP_BATCH,
	};
}

/* -- states ---------------------------------------------------------------- */

RR_MACHINE(rr_link_machine, RR_LINK)

/* Changes the state.  No other function assigns the state. */
static void move_link(struct rr_pump *p, enum rr_link_event by, enum rr_link_state to)
{
	RR_MACHINE_MOVE(rr_link_machine, p->state, by, to);
	p->state = to;
}

/* Records an event.  If @moves is true, moves the link to state @to. */
static void note_event(struct rr_pump *p, enum rr_link_event event, bool moves,
                       enum rr_link_state to)
{
	RR_MACHINE_EVENT(rr_link_machine, p->state, event);
	p->past |= 1u << event;
	if (moves)
		move_link(p, event, to);
}

/* Returns true if neither the owner nor the connection has asked for a disconnect. */
static bool is_staying(const struct rr_pump *p)
{
	return p->state == RR_LINK_CONNECTING || p->state == RR_LINK_OPEN ||
	       p->state == RR_LINK_READY;
}

/* -- Receives -------------------------------------------------------------- */

static int post_receive(struct rr_pump *p, const struct rr_action *a)
{
	return p->prov->post_recv(p->ep, &a->sge[0], a->token);
}

/* Returns a completed Receive to the connection.  When the connection is lost,
 * rr_conn_lost returns the Receives that have not completed. */
static void take_receive(struct rr_pump *p, const struct rr_wc *wc, rr_time now)
{
	if (wc->status) { /* flushed */
		rr_conn_completed(p->conn, wc->token, wc->status, now);
		return;
	}
	if (!p->heard) {
		p->heard = true;
		if (p->ops->heard)
			p->ops->heard(p);
	}
	rr_conn_received(p->conn, wc->token, wc->len,
	                 wc->invalidated ? wc->inv_handle : 0, now);
}

/* -- posting of actions ---------------------------------------------------- */

static int post_action(struct rr_pump *p, const struct rr_action *a)
{
	const struct rr_prov_ops *v = p->prov;

	if (rr_pump_lost(p))
		return -ENOTCONN;
	p->posted = true;
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		return post_receive(p, a);
	case RR_ACT_SEND:
		return v->post_send(p->ep, a->sge, a->n_sge, a->inv_handle, a->token);
	case RR_ACT_WRITE:
		return v->post_write(p->ep, a->sge, a->n_sge, a->handle, a->offset,
		                     a->token);
	case RR_ACT_READ:
		return v->post_read(p->ep, &a->sge[0], a->handle, a->offset, a->token);
	case RR_ACT_INVALIDATE:
		return v->invalidate(p->ep, a->handle, a->token);
	case RR_ACT_REGISTER:
	case RR_ACT_READY:
	case RR_ACT_EXTENSION:
	case RR_ACT_ADMIT:
	case RR_ACT_REQUEST:
	case RR_ACT_REQUEST_DONE:
	case RR_ACT_CALL_DONE:
	case RR_ACT_DISCONNECT:
	case RR_ACT_CLOSED:
		break;
	}
	RR_NEVER("not a post");
}

static void register_region(struct rr_pump *p, const struct rr_action *a)
{
	struct rr_region r = {0};
	int err = rr_pump_lost(p) ? -ENOTCONN
	                          : p->prov->register_mem(p->ep, a->sge[0].base,
	                                                  a->reg_len, a->access, &r);

	if (r.irrevocable)
		rr_conn_irrevocable(p->conn, a->token);
	rr_conn_registered(p->conn, a->token, err, r.handle, r.offset);
}

static void disconnect_endpoint(struct rr_pump *p, rr_time now)
{
	RR_MACHINE_EVENT(rr_link_machine, p->state, RR_LINK_EV_DISCONNECT);
	if (p->state == RR_LINK_CLOSING || rr_pump_lost(p))
		return;
	move_link(p, RR_LINK_EV_DISCONNECT, RR_LINK_CLOSING);
	p->posted = true;
	p->prov->disconnect(p->ep, now);
}

static void begin_end(struct rr_pump *p, int status, rr_time now)
{
	if (!p->error)
		p->error = status;
	disconnect_endpoint(p, now);
}

static void fail_post(struct rr_pump *p, const struct rr_action *a, int err,
                      rr_time now)
{
	rr_conn_completed(p->conn, a->token, err, now);
	if (a->kind != RR_ACT_READ)
		disconnect_endpoint(p, now);
}

/* Returns true if the post needs a place in the send queue, and can wait for it. */
static bool uses_send_queue(enum rr_action_kind k)
{
	return k == RR_ACT_SEND || k == RR_ACT_WRITE || k == RR_ACT_READ;
}

/* Keeps a post for which the send queue has no place, because many requests with many
 * segments each can fill any queue.  If the connection is ending, fails the post. */
static void hold_post(struct rr_pump *p, const struct rr_action *a, rr_time now)
{
	struct rr_conn_info info;

	rr_conn_info(p->conn, &info);
	if (rr_pump_past(p, RR_LINK_EV_LEAVE) || info.error) {
		begin_end(p, info.error, now);
		fail_post(p, a, -ECANCELED, now);
		return;
	}
	if (a != &p->held)
		p->held = *a;
	p->stalled = true;
}

static void try_post(struct rr_pump *p, const struct rr_action *a, rr_time now)
{
	int err = post_action(p, a);

	if (!err)
		return;
	if (err == -EINVAL && a->kind == RR_ACT_INVALIDATE)
		/* The peer has already invalidated the region, in the same batch of
		 * completions.  The connection treats this error as success. */
		rr_conn_completed(p->conn, a->token, err, now);
	else if (err == -ENOBUFS && uses_send_queue(a->kind) &&
	         rr_pump_past(p, RR_LINK_EV_CONNECT))
		hold_post(p, a, now);
	else
		fail_post(p, a, err, now);
}

static void act_on(struct rr_pump *p, const struct rr_action *a, rr_time now)
{
	const struct rr_pump_ops *o = p->ops;

	if (o->acting)
		o->acting(p, a);
	switch (a->kind) {
	case RR_ACT_POST_RECV:
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
	case RR_ACT_READ:
	case RR_ACT_INVALIDATE:
		try_post(p, a, now);
		break;
	case RR_ACT_REGISTER:
		register_region(p, a);
		break;
	case RR_ACT_READY:
		note_event(p, RR_LINK_EV_AGREE,
		           p->state == RR_LINK_CONNECTING || p->state == RR_LINK_OPEN,
		           RR_LINK_READY);
		if (o->ready)
			o->ready(p);
		break;
	case RR_ACT_EXTENSION:
		if (o->extension)
			o->extension(p, a->ext);
		break;
	case RR_ACT_ADMIT:
		o->admit(p, a->request);
		break;
	case RR_ACT_REQUEST:
		o->request(p, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		o->request_done(p, a->request, a->status);
		break;
	case RR_ACT_CALL_DONE:
		o->call_done(p, a->call);
		break;
	case RR_ACT_DISCONNECT:
		begin_end(p, a->status, now);
		break;
	case RR_ACT_CLOSED:
		move_link(p, RR_LINK_EV_CLOSE, RR_LINK_OVER);
		if (o->closed)
			o->closed(p);
		break;
	}
}

/* Draws the next action.  Returns NULL if there is none, or if the pump is over or
 * stalled. */
static struct rr_action *draw_action(struct rr_pump *p, struct rr_action *ret)
{
	bool drawn = !rr_pump_over(p) && !p->stalled && rr_conn_next(p->conn, ret);

	return drawn ? ret : NULL;
}

void rr_pump_drain(struct rr_pump *p, rr_time now)
{
	struct rr_action drawn, *a = p->stalled ? &p->held : draw_action(p, &drawn);

	p->stalled = false;
	for (; a; a = draw_action(p, &drawn))
		act_on(p, a, now);
}

/* -- completions ----------------------------------------------------------- */

static void open_connection(struct rr_pump *p, rr_time now)
{
	size_t len;
	const void *priv = p->prov->peer_private(p->ep, &len);
	struct rr_prov_limits lim = {0};

	note_event(p, RR_LINK_EV_CONNECT, p->state == RR_LINK_CONNECTING, RR_LINK_OPEN);
	p->prov->limits(p->ep, &lim);
	if (!lim.remote_invalidate)
		rr_conn_no_remote_inv_in(p->conn);
	if (!lim.send_invalidate)
		rr_conn_no_remote_inv_out(p->conn);
	if (lim.survives_inv_twice)
		rr_conn_survives_inv_twice(p->conn);
	if (!lim.max_ord)
		rr_conn_cannot_read(p->conn);
	if (!lim.max_ird)
		rr_conn_cannot_be_read(p->conn);
	rr_conn_peer_private(p->conn, priv, len);
	rr_conn_open(p->conn, now);
}

/* Reports to the owner and the connection that the endpoint has ended. */
static void lose_endpoint(struct rr_pump *p, int status, rr_time now)
{
	move_link(p, RR_LINK_EV_LOSE, RR_LINK_LOST);
	if (p->ops->ended)
		p->ops->ended(p);
	p->stalled = false; /* the connection treats the kept post as flushed */
	rr_conn_lost(p->conn, status, now);
	if (p->ops->lost)
		p->ops->lost(p);
}

static void take_completion(struct rr_pump *p, const struct rr_wc *wc, rr_time now)
{
	if (p->ops->completing)
		p->ops->completing(p, wc);
	switch (wc->op) {
	case RR_WC_CONNECTED:
		open_connection(p, now);
		break;
	case RR_WC_DISCONNECTED:
		if (!p->error)
			p->error = wc->status;
		lose_endpoint(p, wc->status, now);
		break;
	case RR_WC_RECV:
		RR_MACHINE_EVENT(rr_link_machine, p->state, RR_LINK_EV_COMPLETE);
		take_receive(p, wc, now);
		break;
	case RR_WC_SEND:
	case RR_WC_READ:
	case RR_WC_WRITE:
	case RR_WC_INVALIDATE:
		RR_MACHINE_EVENT(rr_link_machine, p->state, RR_LINK_EV_COMPLETE);
		if (!rr_conn_completed(p->conn, wc->token, wc->status, now) &&
		    !p->stalled)
			return; /* no action results, as for most Sends of a client */
		break;
	}
	rr_pump_drain(p, now);
}

static unsigned poll_endpoint(struct rr_pump *p, rr_time now)
{
	struct rr_wc wc[RR_PUMP_BATCH];
	unsigned n = p->prov->poll(p->ep, wc, p->batch);

	for (unsigned i = 0; i < n && !rr_pump_over(p); i++)
		take_completion(p, &wc[i], now);
	return n;
}

/* -- turns ----------------------------------------------------------------- */

/* Returns true if there are posts to flush, or if more completions may be available.
 * @last is the number of completions that the last poll returned. */
static bool has_work(const struct rr_pump *p, unsigned last)
{
	return !rr_pump_lost(p) && (p->posted || last == p->batch);
}

unsigned rr_pump_turn(struct rr_pump *p, unsigned rounds, rr_time now)
{
	unsigned taken, last;

	rr_pump_drain(p, now);
	last = taken = rr_pump_lost(p) ? 0 : poll_endpoint(p, now);
	while (has_work(p, last) && rounds--) {
		if (p->posted)
			/* An error is reported by a completion. */
			(void)p->prov->flush(p->ep, now);
		p->posted = false;
		last = poll_endpoint(p, now);
		taken += last;
	}
	p->more = has_work(p, last);
	return taken;
}

void rr_pump_tick(struct rr_pump *p, rr_time now)
{
	if (rr_pump_lost(p))
		return; /* a lost connection has no timers */
	RR_MACHINE_EVENT(rr_link_machine, p->state, RR_LINK_EV_TICK);
	rr_conn_tick(p->conn, now);
}

rr_time rr_pump_deadline(const struct rr_pump *p, rr_time now)
{
	rr_time t = rr_conn_deadline(p->conn);

	return p->stalled ? RR_MAX(t, now + STALLED_TICK) : t;
}

void rr_pump_close(struct rr_pump *p, int status, rr_time now)
{
	note_event(p, RR_LINK_EV_LEAVE, is_staying(p), RR_LINK_LEAVING);
	rr_conn_close(p->conn, status, now);
}

void rr_pump_cut(struct rr_pump *p, int error, rr_time now)
{
	if (!rr_pump_lost(p)) {
		if (!p->error)
			p->error = error;
		lose_endpoint(p, error, now);
	}
	rr_pump_drain(p, now);
}
