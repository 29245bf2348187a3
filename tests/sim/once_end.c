/* SPDX-License-Identifier: BSD-3-Clause */
/* One end: actions become posts, completions become events; as tests/sim/node.c has
 * it, without its checkers. */
#include "once.h"

static void *mem_get(void *ctx, size_t bytes)
{
	struct world *w = ctx;

	if (++w->gets == w->fail_get)
		return NULL;
	return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void mem_put(void *ctx, void *mem, size_t bytes)
{
	free(mem);
}

void end_open(struct world *w, struct end *e, bool server)
{
	struct rr_conn_config cfg = {
	        .role = server ? RR_CONN_SERVER : RR_CONN_CLIENT,
	        .mem = {mem_get, mem_put, w},
	        .remote_invalidate = true,
	        .xid_seed = 1u << 30,
	};

	e->w = w;
	e->server = server;
	e->lost = e->closed = false;
	if (!rr_conn_new(&cfg, world_now(w), &e->conn))
		return;
	assert_true(w->fail_get && w->gets >= w->fail_get);
	rr_sim_ops.destroy(e->ep);
	e->conn = NULL;
	e->ep = NULL;
	e->closed = true;
}

void end_close(struct end *e)
{
	if (!e->conn)
		return;
	rr_sim_ops.destroy(e->ep);
	rr_conn_free(e->conn);
	e->conn = NULL;
	e->ep = NULL;
}

static int post(struct end *e, const struct rr_action *a)
{
	const struct rr_prov_ops *p = &rr_sim_ops;

	if (e->lost)
		return -ENOTCONN;
	switch ((int)a->kind) {
	case RR_ACT_POST_RECV:
		return p->post_recv(e->ep, &a->sge[0], a->token);
	case RR_ACT_SEND:
		return p->post_send(e->ep, a->sge, a->n_sge, a->inv_handle, a->token);
	case RR_ACT_WRITE:
		return p->post_write(e->ep, a->sge, a->n_sge, a->handle, a->offset,
		                     a->token);
	case RR_ACT_READ:
		return p->post_read(e->ep, &a->sge[0], a->handle, a->offset, a->token);
	default:
		return p->invalidate(e->ep, a->handle, a->token);
	}
}

static void register_mem(struct end *e, const struct rr_action *a)
{
	struct rr_region g = {0};
	int err = e->lost ? -ENOTCONN
	                  : rr_sim_ops.register_mem(e->ep, a->sge[0].base, a->reg_len,
	                                            a->access, &g);

	rr_conn_registered(e->conn, a->token, err, g.handle, g.offset);
}

static void act(struct end *e, const struct rr_action *a)
{
	int err;

	switch (a->kind) {
	case RR_ACT_POST_RECV:
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
	case RR_ACT_READ:
	case RR_ACT_INVALIDATE:
		err = post(e, a);
		if (err)
			rr_conn_completed(e->conn, a->token, err, world_now(e->w));
		break;
	case RR_ACT_REGISTER:
		register_mem(e, a);
		break;
	case RR_ACT_READY:
	case RR_ACT_EXTENSION:
		break;
	case RR_ACT_ADMIT:
		rr_conn_admit(e->conn, a->request, NULL, world_now(e->w));
		break;
	case RR_ACT_REQUEST:
		on_request(e, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		on_request_done(e, a->request);
		break;
	case RR_ACT_CALL_DONE:
		on_call_done(e->w, a->call);
		break;
	case RR_ACT_DISCONNECT:
		if (!e->lost)
			rr_sim_ops.disconnect(e->ep, world_now(e->w));
		break;
	case RR_ACT_CLOSED:
		e->closed = true;
		break;
	}
}

static bool drain(struct end *e)
{
	struct rr_action a;
	bool moved = false;

	while (!e->closed && rr_conn_next(e->conn, &a)) {
		act(e, &a);
		moved = true;
	}
	return moved;
}

static void take(struct end *e, const struct rr_wc *wc)
{
	rr_time t = world_now(e->w);

	switch (wc->op) {
	case RR_WC_CONNECTED:
		rr_conn_open(e->conn, t);
		break;
	case RR_WC_DISCONNECTED:
		e->lost = true;
		rr_conn_lost(e->conn, wc->status, t);
		if (e->server)
			on_session_lost(e);
		break;
	case RR_WC_RECV:
		if (!wc->status) {
			rr_conn_received(e->conn, wc->token, wc->len,
			                 wc->invalidated ? wc->inv_handle : 0, t);
			break;
		}
		/* flushed */
		rr_conn_completed(e->conn, wc->token, wc->status, t);
		break;
	case RR_WC_SEND:
	case RR_WC_READ:
	case RR_WC_WRITE:
	case RR_WC_INVALIDATE:
		rr_conn_completed(e->conn, wc->token, wc->status, t);
		break;
	}
	drain(e);
}

bool end_pump(struct end *e)
{
	bool moved;
	struct rr_wc wc;

	if (!e->conn || e->closed)
		return false;
	if (rr_conn_deadline(e->conn) <= world_now(e->w))
		rr_conn_tick(e->conn, world_now(e->w));
	moved = drain(e);
	if (e->lost)
		return moved;
	(void)rr_sim_ops.flush(e->ep, world_now(e->w)); /* its error is a completion */
	while (!e->lost && rr_sim_ops.poll(e->ep, &wc, 1)) {
		take(e, &wc);
		moved = true;
	}
	return moved;
}
