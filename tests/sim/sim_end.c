/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in sim_end.h. */
#include "sim_end.h"

#include <stdlib.h>

static rr_time end_now(const struct sim_end *e)
{
	return rr_sim_now(e->world);
}

/* -- actions --------------------------------------------------------------------- */

static int carry_out(struct sim_end *e, const struct rr_action *a)
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
	case RR_ACT_INVALIDATE:
		return p->invalidate(e->ep, a->handle, a->token);
	}
	abort();
}

static void post_action(struct sim_end *e, const struct rr_action *a)
{
	int err = carry_out(e, a);

	if (!err)
		return;
	if (e->hooks->post_failed)
		e->hooks->post_failed(e, a, err);
	rr_conn_completed(e->conn, a->token, err, end_now(e));
}

static void register_region(struct sim_end *e, const struct rr_action *a)
{
	struct rr_region reg = {0};
	int err = -ENOTCONN;

	if (!e->lost)
		err = rr_sim_ops.register_mem(e->ep, a->sge[0].base, a->reg_len,
		                              a->access, &reg);
	if (err && e->hooks->register_failed)
		e->hooks->register_failed(e, err);
	rr_conn_registered(e->conn, a->token, err, reg.handle, reg.offset);
}

static void act_on(struct sim_end *e, const struct rr_action *a)
{
	const struct sim_end_hooks *h = e->hooks;

	if (h->acting)
		h->acting(e, a);
	switch (a->kind) {
	case RR_ACT_POST_RECV:
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
	case RR_ACT_READ:
	case RR_ACT_INVALIDATE:
		post_action(e, a);
		break;
	case RR_ACT_REGISTER:
		register_region(e, a);
		break;
	case RR_ACT_READY:
		if (h->ready)
			h->ready(e);
		break;
	case RR_ACT_EXTENSION:
		if (h->extension)
			h->extension(e, a->ext);
		break;
	case RR_ACT_ADMIT:
		h->admit(e, a->request);
		break;
	case RR_ACT_REQUEST:
		h->request(e, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		h->request_done(e, a->request, a->status);
		break;
	case RR_ACT_CALL_DONE:
		h->call_done(e, a->call);
		break;
	case RR_ACT_DISCONNECT:
		if (!e->lost)
			rr_sim_ops.disconnect(e->ep, end_now(e));
		break;
	case RR_ACT_CLOSED:
		e->closed = true;
		break;
	}
}

bool sim_end_drain(struct sim_end *e)
{
	struct rr_action a;
	bool moved = false;

	while (rr_conn_next(e->conn, &a)) {
		act_on(e, &a);
		moved = true;
	}
	return moved;
}

bool sim_end_tick(struct sim_end *e)
{
	if (rr_conn_deadline(e->conn) > end_now(e))
		return false;
	rr_conn_tick(e->conn, end_now(e));
	return true;
}

/* -- completions ----------------------------------------------------------------- */

static void tell_lost(struct sim_end *e, int status)
{
	e->lost = true;
	rr_conn_lost(e->conn, status, end_now(e));
	if (e->hooks->lost)
		e->hooks->lost(e, status);
}

static void tell_completion(struct sim_end *e, const struct rr_wc *wc)
{
	rr_time now = end_now(e);

	if (e->hooks->completing)
		e->hooks->completing(e, wc);
	switch (wc->op) {
	case RR_WC_CONNECTED:
		rr_conn_open(e->conn, now);
		break;
	case RR_WC_DISCONNECTED:
		tell_lost(e, wc->status);
		break;
	case RR_WC_RECV:
		if (!wc->status)
			rr_conn_received(e->conn, wc->token, wc->len,
			                 wc->invalidated ? wc->inv_handle : 0, now);
		else /* flushed */
			rr_conn_completed(e->conn, wc->token, wc->status, now);
		break;
	case RR_WC_SEND:
	case RR_WC_READ:
	case RR_WC_WRITE:
	case RR_WC_INVALIDATE:
		rr_conn_completed(e->conn, wc->token, wc->status, now);
		break;
	}
	sim_end_drain(e);
}

void sim_end_flush(struct sim_end *e)
{
	/* Its error comes as a completion. */
	(void)rr_sim_ops.flush(e->ep, end_now(e));
}

unsigned sim_end_take(struct sim_end *e, unsigned max)
{
	struct rr_wc wc[SIM_END_MOST];
	unsigned n = rr_sim_ops.poll(e->ep, wc, RR_MIN(max, SIM_END_MOST));

	for (unsigned i = 0; i < n; i++)
		tell_completion(e, &wc[i]);
	return n;
}
