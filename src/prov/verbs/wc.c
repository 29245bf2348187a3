/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts the device's completions to the caller's.
 *
 * Normal path: a completion in the send queue completes all posts up to its work
 * request, except Reads.  Each Read has its own completion, because iWARP devices
 * complete later posts before a Read.  Receives complete in the order of posting.
 *
 * Failure: the first error sets the reason.  The posts remain queued until vb_end.c
 * flushes all of them, in the order of posting.
 */
#include <stdlib.h>

#include "prov/verbs/vb_internal.h"

#define BATCH 16

static void undo_mrs(struct rr_vb_ep *ep, struct rr_ring *mrs, uint32_t n)
{
	for (; n; n--) {
		struct ibv_mr *mr = *(struct ibv_mr **)rr_ring_first(mrs);

		rr_ring_pop(mrs, 1);
		rr_vb_dereg(ep, mr);
	}
}

void rr_vb_op_done(struct rr_vb_ep *ep, struct rr_vb_op op, int status)
{
	static const enum rr_wc_op wc_op[] = {
	        [RR_VB_SEND] = RR_WC_SEND,
	        [RR_VB_WRITE] = RR_WC_WRITE,
	        [RR_VB_READ] = RR_WC_READ,
	        [RR_VB_UNBIND] = RR_WC_INVALIDATE,
	};

	undo_mrs(ep, op.kind == RR_VB_READ ? &ep->rmrs : &ep->mrs, op.mrs);
	if (op.bounce)
		rr_vb_bounce_put(ep, op.bounce);
	free(op.copy);
	ep->in_device -= op.wrs;
	if (op.kind == RR_VB_BIND)
		return;
	if (!status && op.kind == RR_VB_UNBIND)
		rr_vb_region_closed(ep, op.region);
	if (!status && op.kind == RR_VB_READ)
		ep->base.count.bytes_received += op.len;
	else if (!status)
		ep->base.count.bytes_sent += op.len;
	ep->posted--;
	rr_ep_complete(&ep->base, wc_op[op.kind], op.token, status);
}

void rr_vb_recv_over(struct rr_vb_ep *ep, struct rr_vb_recv *r)
{
	rr_vb_dereg(ep, r->mr);
	r->mr = NULL;
}

static void finish_sent(struct rr_vb_ep *ep, uint64_t seq)
{
	struct rr_vb_op *op;

	while ((op = rr_ring_first(&ep->sent)) && op->last <= seq) {
		struct rr_vb_op done = *op;

		rr_ring_pop(&ep->sent, 1);
		rr_vb_op_done(ep, done, 0);
	}
}

/* Completes a Read, and the Reads directly after it that have no work request:
 * zero-length Reads, and Reads whose memory could not be registered. */
static void finish_read(struct rr_vb_ep *ep, uint64_t seq)
{
	struct rr_vb_op *op;

	while ((op = rr_ring_first(&ep->reads)) && (op->last == seq || !op->last)) {
		struct rr_vb_op done = *op;

		rr_ring_pop(&ep->reads, 1);
		rr_vb_op_done(ep, done, done.status);
	}
}

static void finish_recv(struct rr_vb_ep *ep, const struct ibv_wc *wc)
{
	struct rr_vb_recv r;
	struct rr_wc *out;

	RR_ASSERT(ep->rq_issued > 0);
	r = *(struct rr_vb_recv *)rr_ring_first(&ep->rq);
	rr_ring_pop(&ep->rq, 1);
	ep->rq_issued--;
	rr_vb_recv_over(ep, &r);
	ep->base.count.recvs++;
	ep->base.count.bytes_received += wc->byte_len;
	out = rr_ep_complete(&ep->base, RR_WC_RECV, r.token, 0);
	out->len = wc->byte_len;
	if (!ep->windows || !(wc->wc_flags & ep->dev->caps.with_inv))
		return;
	out->invalidated = rr_vb_region_closed_by_peer(ep, wc->invalidated_rkey);
	out->inv_handle = out->invalidated ? wc->invalidated_rkey : 0;
}

/* Converts the status of a failed work request in the send queue to a negative
 * errno. */
static int map_send_error(enum ibv_wc_status s)
{
	if (s == IBV_WC_RETRY_EXC_ERR)
		return -ETIMEDOUT;
	if (s == IBV_WC_REM_ACCESS_ERR || s == IBV_WC_REM_INV_REQ_ERR ||
	    s == IBV_WC_REM_OP_ERR || s == IBV_WC_RNR_RETRY_EXC_ERR ||
	    s == IBV_WC_REM_ABORT_ERR)
		return -EREMOTEIO;
	return -EIO;
}

static void report_failed(struct rr_vb_ep *ep, const struct ibv_wc *wc, bool recv)
{
	const char *text = ep->lib->ibv_wc_status_str(wc->status);

	ep->flushed = true;
	ep->unsent |= !recv;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (recv)
		rr_ep_set_reason(&ep->base, -EREMOTEIO,
		                 "the peer broke the protocol: %s",
		                 wc->status == IBV_WC_LOC_LEN_ERR
		                         ? "message longer than the Receive"
		                         : text);
	else if (wc->status == IBV_WC_RETRY_EXC_ERR)
		rr_ep_set_reason(&ep->base, -ETIMEDOUT, "the peer does not answer (%s)",
		                 text);
	else
		rr_ep_set_reason(&ep->base, map_send_error(wc->status),
		                 "the device reports: %s", text);
}

static void take_device_wc(struct rr_vb_ep *ep, const struct ibv_wc *wc)
{
	enum rr_vb_queue q = (enum rr_vb_queue)(wc->wr_id & 3);

	if (wc->status != IBV_WC_SUCCESS)
		report_failed(ep, wc, q == RR_VB_Q_RECV);
	else if (q == RR_VB_Q_RECV)
		finish_recv(ep, wc);
	else if (q == RR_VB_Q_READ)
		finish_read(ep, wc->wr_id >> 2);
	else
		finish_sent(ep, wc->wr_id >> 2);
}

void rr_vb_cq_poll(struct rr_vb_ep *ep)
{
	struct ibv_wc wc[BATCH];
	int n;

	if (!ep->cq)
		return;
	do {
		n = ibv_poll_cq(ep->cq, BATCH, wc);
		for (int i = 0; i < n; i++)
			take_device_wc(ep, &wc[i]);
	} while (n == BATCH);
}

void rr_vb_cq_arm(struct rr_vb_ep *ep)
{
	ep->base.count.syscalls++;
	/* fails if the device was removed; the connection manager reports the
	 * removal */
	ep->armed = !ibv_req_notify_cq(ep->cq, 0);
}

void rr_vb_cq_event(struct rr_vb_ep *ep)
{
	struct ibv_cq *cq;
	void *ctx;

	ep->base.count.syscalls++;
	if (ep->lib->ibv_get_cq_event(ep->cc, &cq, &ctx))
		return;
	ep->armed = false;
	if (++ep->cq_events < 256)
		return;
	ep->lib->ibv_ack_cq_events(ep->cq, ep->cq_events); /* takes a lock */
	ep->cq_events = 0;
}
