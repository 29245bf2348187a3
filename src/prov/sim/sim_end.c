/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions, and the end of an endpoint.
 *
 * An endpoint ends only in sim_end_now: its regions are closed, its posts are flushed
 * in the order of posting, and RR_WC_DISCONNECTED follows.  After that, messages from
 * the peer are dropped, and no completion is added.
 *
 * sim_disconnect sends the waiting posts, and then a notice with status 0.  The peer
 * ends when all earlier messages have been delivered, and also sends a notice.
 * sim_destroy sends a notice with -ECONNRESET.  An endpoint that receives a message
 * which violates the contract ends with -EREMOTEIO, and sends a notice with -EPROTO.
 */
#include "prov/sim/sim_internal.h"

#include <stdlib.h>
#include <string.h>

bool sim_running(const struct sim_end *e)
{
	return e->created && !e->destroyed &&
	       (e->state == SIM_OPEN || e->state == SIM_CLOSING ||
	        e->state == SIM_SETUP);
}

/* -- Completions ----------------------------------------------------------- */

static void wake_clock(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	/* Nothing to do: the clock has moved to the time at which the completion can be
	 * polled. */
}

void sim_push(struct sim_end *e, const struct rr_wc *wc, bool counts_sq, bool counts_rq)
{
	struct rr_sim_world *w = sim_world(e);
	struct sim_wc *c = sim_alloc(sizeof(*c));

	if (w->now > e->batch_until || !e->seen_last) {
		e->batch_until = w->now + sim_draw(w, e->conn->opt.batch);
		e->seen_last = RR_MAX(e->batch_until, e->seen_last);
		if (e->seen_last > w->now)
			sim_at(e, e->seen_last, wake_clock, NULL, 0);
	}
	c->wc = *wc;
	c->seen_at = e->seen_last;
	c->counts_sq = counts_sq;
	c->counts_rq = counts_rq;
	rr_list_push(&e->cq, &c->link);
}

static void take_wc(struct sim_end *e, struct sim_wc *c, struct rr_wc *ret)
{
	struct sim_region *r;

	*ret = c->wc;
	e->sq_used -= c->counts_sq;
	e->rq_used -= c->counts_rq;
	if (c->wc.invalidated) {
		r = sim_region_find(e, c->wc.inv_handle);
		if (r && r->reported)
			sim_region_forget(e, r);
	}
	rr_list_del(&c->link);
	free(c);
}

unsigned sim_poll(struct rr_ep *ep, struct rr_wc *wc, unsigned max)
{
	struct sim_end *e = sim_end_of(ep);
	unsigned n = 0;

	while (n < max && !rr_list_empty(&e->cq)) {
		struct sim_wc *c = rr_container_of(e->cq.next, struct sim_wc, link);

		if (c->seen_at > sim_world(e)->now)
			break;
		take_wc(e, c, &wc[n++]);
	}
	return n;
}

/* -- end of an endpoint ---------------------------------------------------- */

void sim_end_now(struct sim_end *e, int status, const char *why)
{
	const struct rr_wc wc = {.op = RR_WC_DISCONNECTED, .status = status};
	struct rr_list *l;

	if (!e->created || e->destroyed || e->state == SIM_ENDED)
		return;
	if (e->timer)
		sim_cancel(sim_world(e), e->timer);
	e->timer = 0;
	e->state = SIM_ENDED;
	e->ended_at = sim_world(e)->now;
	e->why = why;
	rr_list_del(&e->conn->pending);
	sim_region_shut_all(e);
	while ((l = rr_list_first(&e->posted)))
		sim_op_complete(rr_container_of(l, struct sim_op, link), -ECANCELED);
	rr_trace(e->cfg.trace, RR_TRACE_PROV_CLOSED, e->cfg.conn_id, 0,
	         (uint64_t)-status, 0, 0);
	sim_push(e, &wc, false, false);
}

static const char *why_told(int status)
{
	switch (status) {
	case 0:
		return "closed by the peer";
	case -ECONNRESET:
		return "reset by the peer";
	default:
		return "the peer refused what was sent to it";
	}
}

static void end_told(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	int status = -(int)arg;

	if (e->conn->cut || sim_world(e)->opt.silent || !sim_running(p))
		return;
	sim_end_now(p, p->state == SIM_CLOSING && status == -ECONNRESET ? 0 : status,
	            why_told(status));
	sim_send_end(p, 0);
}

/* Called when the notice from sim_send_end arrives at @e's peer.  An orderly disconnect
 * waits until all of @e's earlier messages are placed and delivered.  If the peer is
 * disconnecting, too, the peer's Sends and Writes must also have completed. */
static void end_arrives(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	rr_time at = RR_MAX(e->deliver_last, e->placed_last);

	if (arg) {
		end_told(e, NULL, arg);
		return;
	}
	if (p->created && p->state == SIM_CLOSING)
		at = RR_MAX(at, RR_MAX(p->kind_last[RR_WC_SEND],
		                       p->kind_last[RR_WC_WRITE]));
	sim_at(e, at, end_told, NULL, 0);
}

void sim_send_end(struct sim_end *e, int status)
{
	if (e->fin_sent)
		return;
	e->fin_sent = true;
	sim_at(e, sim_wire(e, 0), end_arrives, NULL, (uint64_t)-status);
}

void sim_misuse(struct sim_end *e, const char *why)
{
	sim_end_now(e, -EREMOTEIO, why);
	sim_send_end(e, -EPROTO);
}

static void close_timeout(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	e->timer = 0;
	sim_end_now(e, 0, "closed; the peer was silent");
	sim_send_end(e, 0);
}

void sim_disconnect(struct rr_ep *ep, rr_time now)
{
	struct sim_end *e = sim_end_of(ep);

	rr_sim_run_until(sim_world(e), now);
	if (e->state == SIM_SETUP) {
		sim_end_now(e, 0, "closed before it was connected");
		sim_send_end(e, 0);
	} else if (e->state == SIM_OPEN) {
		e->state = SIM_CLOSING;
		e->timer = sim_at(e, sim_world(e)->now + RR_MS(900), close_timeout,
		                  NULL, 0);
		sim_flush_held(e);
	}
}

static void drop_arrives(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	sim_end_now(e, -ECONNRESET, "the link broke");
}

void rr_sim_drop(struct rr_ep *ep)
{
	struct sim_end *e = sim_end_of(ep);
	struct rr_sim_world *w = sim_world(e);

	if (e->conn->cut)
		return;
	e->conn->cut = true;
	for (unsigned i = 0; i < 2; i++)
		sim_at(&e->conn->end[i],
		       w->now + sim_draw(w, e->conn->opt.dir[i].delay), drop_arrives,
		       NULL, 0);
}

/* -- destruction ----------------------------------------------------------- */

static void op_abandon(struct sim_op *op)
{
	op->dead = true;
	rr_list_del(&op->link);
	rr_list_del(&op->txlink);
	sim_op_put(op);
}

void sim_conn_put(struct sim_conn *c)
{
	if (c->refs || !c->end[0].destroyed ||
	    (c->end[1].created && !c->end[1].destroyed))
		return;
	rr_list_del(&c->link);
	rr_list_del(&c->pending);
	free(c);
}

void sim_destroy(struct rr_ep *ep)
{
	struct sim_end *e;
	struct rr_list *l;

	if (!ep)
		return;
	e = sim_end_of(ep);
	if (e->timer)
		sim_cancel(sim_world(e), e->timer);
	e->timer = 0;
	if (e->state != SIM_ENDED) {
		e->ended_at = sim_world(e)->now;
		sim_send_end(e, -ECONNRESET);
	}
	rr_list_del(&e->conn->pending);
	while ((l = rr_list_first(&e->posted)))
		op_abandon(rr_container_of(l, struct sim_op, link));
	while ((l = rr_list_pop(&e->cq)))
		free(rr_container_of(l, struct sim_wc, link));
	sim_region_shut_all(e);
	e->state = SIM_ENDED;
	e->destroyed = true;
	sim_conn_put(e->conn);
}
