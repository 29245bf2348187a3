/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends connections: in an orderly way, after an error, or after a loss.
 *
 * Normal path: DRAIN lasts until the device has completed all posts.  Then the
 * connection manager disconnects (SHUT).  The peer's disconnect or the deadline ends
 * the connection (DEAD).  The peer's disconnect arrives as an event; earlier
 * completions are handled first.
 *
 * Failure: the device flushes its queues.  The reason comes from an error completion or
 * an asynchronous event, if there is one.  Otherwise, an InfiniBand queue pair in the
 * error state has refused an access or a message from the peer.  On iWARP, a closed TCP
 * stream looks the same, so we wait RR_VB_LOSS_NS for the connection manager to report
 * the close.
 *
 * Invariants: only the first reason is kept.  An endpoint enters DEAD once; this
 * completes every post with -ECANCELED, and adds RR_WC_DISCONNECTED last.  By then, the
 * queue pair and all registrations have been destroyed, so no memory is accessed.
 */
#include <sys/epoll.h>

#include "prov/verbs/vb_internal.h"

void rr_vb_drain(struct rr_vb_ep *ep)
{
	RR_ASSERT(ep->state == RR_VB_READY);
	ep->state = RR_VB_DRAIN;
	ep->loss_at = RR_TIME_NEVER; /* only the deadline applies now */
	rr_ep_begin_drain(&ep->base);
}

void rr_vb_end_step(struct rr_vb_ep *ep)
{
	if (ep->state != RR_VB_DRAIN && ep->state != RR_VB_SHUT)
		return;
	if (ep->state == RR_VB_DRAIN &&
	    (ep->flushed || (!ep->wait.count && !ep->sent.count && !ep->reads.count))) {
		rr_vb_cm_disconnect(ep);
		ep->state = RR_VB_SHUT;
		rr_ep_extend_drain(&ep->base);
	}
}

static void end_connection(struct rr_vb_ep *ep)
{
	rr_vb_cm_disconnect(ep);
	rr_vb_dead(ep);
}

/* Returns true if the device may have an event for the endpoint.  Avoids a query of the
 * device during normal data transfer. */
static bool must_ask_device(const struct rr_vb_ep *ep)
{
	return ep->dev_ready || ep->flushed ||
	       atomic_load_explicit(&ep->async, memory_order_relaxed);
}

void rr_vb_check_end(struct rr_vb_ep *ep)
{
	const char *text = NULL;
	int status;

	if (ep->base.ended && rr_vb_is(ep, RR_VB_IN_USE)) {
		end_connection(ep);
		return;
	}
	if (ep->state != RR_VB_READY)
		return;
	status = must_ask_device(ep) ? rr_vb_dev_events(ep, &text) : 0;
	if (status) {
		rr_ep_set_reason(&ep->base, status,
		                 "the device ended the connection: %s", text);
		end_connection(ep);
	} else if (!ep->flushed) {
		return;
	} else if (!ep->dev->caps.iwarp && rr_vb_qp_broken(ep) && !ep->unsent) {
		rr_ep_set_reason(
		        &ep->base, -EREMOTEIO,
		        "the device refused an access or a message of the peer");
		end_connection(ep);
	} else if (ep->loss_at == RR_TIME_NEVER) {
		ep->loss_at = ep->base.now + RR_VB_LOSS_NS;
	} else if (ep->base.now >= ep->loss_at) {
		rr_ep_set_reason(&ep->base, -ECONNRESET,
		                 "the device ended the connection");
		end_connection(ep);
	}
}

void rr_vb_peer_closed(struct rr_vb_ep *ep, int status)
{
	bool broken = ep->flushed || rr_vb_qp_broken(ep);
	const char *text = NULL;
	int event;

	rr_vb_cq_poll(ep); /* completions that precede the disconnect */
	event = ep->base.ended ? 0 : rr_vb_dev_events(ep, &text);
	if (event)
		rr_ep_set_reason(&ep->base, event,
		                 "the device ended the connection: %s", text);
	else if (broken && !ep->dev->caps.iwarp && !ep->base.ended)
		rr_ep_set_reason(
		        &ep->base, -EREMOTEIO,
		        "the device refused an access or a message of the peer");
	else if (status < 0 || ep->unsent)
		rr_ep_set_reason(&ep->base, -ECONNRESET,
		                 "the peer broke the connection off");
	else if (ep->sent.count || ep->reads.count)
		rr_ep_set_reason(&ep->base, -ECONNRESET,
		                 "the peer closed before it took what was sent");
	else
		rr_ep_set_reason(&ep->base, 0, "closed by the peer");
	end_connection(ep);
}

void rr_vb_time_out(struct rr_vb_ep *ep)
{
	if (ep->state == RR_VB_DEAD || ep->base.now < ep->base.deadline)
		return;
	if (rr_vb_is(ep, RR_VB_IN_SETUP))
		rr_ep_set_timed_out(&ep->base, ep->state);
	end_connection(ep);
}

static void flush_ops(struct rr_vb_ep *ep, struct rr_ring *r)
{
	while (r->count) {
		struct rr_vb_op op = *(struct rr_vb_op *)rr_ring_first(r);

		rr_ring_pop(r, 1);
		rr_vb_op_done(ep, op, -ECANCELED);
	}
}

static void flush_recvs(struct rr_vb_ep *ep)
{
	while (ep->rq.count) {
		struct rr_vb_recv r = *(struct rr_vb_recv *)rr_ring_first(&ep->rq);

		rr_ring_pop(&ep->rq, 1);
		rr_vb_recv_over(ep, &r);
		rr_ep_complete(&ep->base, RR_WC_RECV, r.token, -ECANCELED);
	}
	ep->rq_issued = 0;
}

void rr_vb_dead(struct rr_vb_ep *ep)
{
	RR_ASSERT(ep->state != RR_VB_DEAD);
	ep->state = RR_VB_DEAD;
	ep->base.deadline = ep->loss_at = RR_TIME_NEVER;
	rr_ep_set_reason(&ep->base, -ECONNRESET, "connection lost");
	rr_vb_qp_error(ep);
	rr_vb_cq_poll(ep); /* completions that precede the error */
	rr_vb_qp_close(ep);
	flush_ops(ep, &ep->reads);
	flush_ops(ep, &ep->sent);
	flush_ops(ep, &ep->wait);
	rr_ring_pop(&ep->sges, ep->sges.count);
	flush_recvs(ep);
	rr_vb_qp_free(ep);
	rr_ep_finish(&ep->base);
}
