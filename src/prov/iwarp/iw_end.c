/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends connections: in an orderly way, after an error, or after a loss.
 *
 * Normal path, on either side: in state DRAIN, the posted operations and outstanding
 * Read Responses are sent.  Then our sending half is closed (SHUT).  When the peer's
 * close arrives, the remaining posts are flushed (DEAD).  If the peer does not answer
 * for one second, or after ten seconds in total, the endpoint also enters DEAD.
 *
 * Failure: after a protocol error by the peer, further octets from the peer are read
 * and dropped.  A Terminate is sent after the FPDUs already framed, and the connection
 * then ends as above.  After a Terminate from the peer nothing more is sent.  A lost
 * connection enters DEAD at once.
 *
 * Invariants: only the first reason is kept.  An endpoint enters DEAD once; this
 * completes every post with -ECANCELED; iw_poll adds RR_WC_DISCONNECTED last.  From then
 * on, the caller's memory is not accessed.
 */
#include <string.h>

#include "prov/iwarp/iw_ep.h"

void rr_iw_drain(struct rr_iw_ep *ep)
{
	RR_ASSERT(ep->state == RR_IW_READY);
	ep->state = RR_IW_DRAIN;
	rr_ep_begin_drain(&ep->base);
}

void rr_iw_fault(struct rr_iw_ep *ep, enum rr_term_error e, const uint8_t *ddp,
                 size_t ddp_len, uint32_t seg_len, const uint8_t *req)
{
	const struct rr_term_info *i = &rr_term_info[e];

	ep->rx.discarding = true;
	ep->rx.direct = false;
	if (ep->state != RR_IW_READY) { /* already ending, for an earlier reason */
		rr_iw_tx_no_responses(ep);
		return;
	}
	ep->tx.term_len = (uint32_t)rr_term_put(ep->tx.term_body, e, ddp, ddp_len,
	                                        (uint16_t)seg_len, req);
	/* A responder sends nothing before it has received a valid FPDU
	 * [RFC 5044 §7.1.2]. */
	if (ep->tx.open)
		ep->tx.due |= RR_IW_DUE_TERM;
	rr_trace(ep->base.trace, RR_TRACE_PROV_TERMINATE_SENT, ep->base.conn_id, 0,
	         (uint64_t)(i->layer << 4 | i->type), i->code, 0);
	rr_ep_set_reason(&ep->base, -EREMOTEIO, "the peer broke the protocol: %s",
	                 i->text);
	rr_iw_drain(ep);
}

static void close_sending_half(struct rr_iw_ep *ep)
{
	rr_sock_shutdown(ep->fd, false);
	ep->tx.mute = true; /* ignores Read Requests that still arrive */
	ep->state = RR_IW_SHUT;
}

void rr_iw_end_step(struct rr_iw_ep *ep)
{
	if (ep->state == RR_IW_DRAIN && !rr_iw_tx_busy(ep) && !rr_iw_may_sleep(ep))
		close_sending_half(ep);
	if (ep->state == RR_IW_SHUT && ep->rx.fin)
		rr_iw_dead(ep);
}

/* Cancels the operations in the send queue.  A Read whose Request is framed is also
 * in ep->reads, and has already been canceled there. */
static void flush_sends(struct rr_iw_ep *ep)
{
	static const enum rr_wc_op op[] = {
	        [RR_POST_SEND] = RR_WC_SEND,
	        [RR_POST_WRITE] = RR_WC_WRITE,
	        [RR_POST_READ] = RR_WC_READ,
	};

	for (uint32_t i = 0; i < ep->sq.count; i++) {
		const struct rr_iw_wr *wr = rr_ring_at(&ep->sq, i);

		if (wr->kind != RR_POST_READ || i >= ep->sq_framed)
			rr_ep_complete(&ep->base, op[wr->kind], wr->token, -ECANCELED);
	}
	rr_ring_pop(&ep->sq, ep->sq.count);
	rr_ring_pop(&ep->sges, ep->sges.count);
	ep->sq_framed = ep->sq_reads = 0;
}

void rr_iw_dead(struct rr_iw_ep *ep)
{
	RR_ASSERT(ep->state != RR_IW_DEAD);
	ep->state = RR_IW_DEAD;
	ep->base.deadline = ep->quiet = ep->kick_at = RR_TIME_NEVER;
	rr_ep_set_reason(&ep->base, -ECONNRESET, "connection lost");
	rr_iw_tx_drop(ep);
	ep->rx.direct = false;
	for (; ep->reads.count; rr_ring_pop(&ep->reads, 1)) {
		const struct rr_iw_read *r = rr_ring_first(&ep->reads);

		if (!r->rtr)
			rr_ep_complete(&ep->base, RR_WC_READ, r->token, -ECANCELED);
	}
	flush_sends(ep);
	rr_ring_pop(&ep->resps, ep->resps.count);
	rr_stags_fini(&ep->stags);
}

void rr_iw_no_memory(struct rr_iw_ep *ep)
{
	rr_ep_set_reason(&ep->base, -ENOMEM, "out of memory");
	rr_iw_dead(ep);
}

int rr_iw_revoke(struct rr_iw_ep *ep, struct rr_stag *s, bool remote)
{
	uint32_t stag = s->stag;
	int rc = rr_iw_tx_detach(ep, stag);

	if (rc)
		return rc;
	rr_stags_remove(&ep->stags, s);
	rr_trace(ep->base.trace, RR_TRACE_REGION_INVALIDATED, ep->base.conn_id, 0, stag,
	         remote, 0);
	return 0;
}
