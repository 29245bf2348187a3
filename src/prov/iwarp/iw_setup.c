/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection set-up: TCP, then one MPA frame in each direction.
 *
 * Normal path: an initiator waits for TCP, sends the Request and waits for the Reply; a
 * responder waits for the Request and sends the Reply.  Both sides then enter READY,
 * and the octets after the frame are FPDUs.  The responder sends no FPDU until it has
 * received a valid FPDU from the initiator (tx.open).  If the two sides have agreed on
 * an RTR message, the initiator therefore sends the RTR message first.
 *
 * Failure: a bad frame ends the connection at once, without a reply, and is traced.
 * check_deadline() in iw_ep.c ends a slow set-up.  A frame has at most 532
 * octets.
 */
#include <stdlib.h>
#include <string.h>

#include "prov/iwarp/iw_ep.h"

static struct rr_mpa_params make_mpa_params(const struct rr_iw_ep *ep)
{
	return (struct rr_mpa_params){
	        .crc = ep->opts.crc,
	        .p2p = ep->opts.p2p,
	        .rev = (uint8_t)ep->opts.rev,
	        .ird = (uint16_t)ep->opts.ird,
	        .ord = (uint16_t)ep->opts.ord,
	        .default_ord = (uint16_t)ep->opts.ord1,
	};
}

static void reject_setup(struct rr_iw_ep *ep, int status, uint64_t a, const char *text)
{
	rr_ep_trace_rejected(&ep->base, status, a);
	rr_ep_set_reason(&ep->base, status, "%s", text);
	rr_sock_shutdown(ep->fd, true);
	rr_iw_dead(ep);
}

static int send_mpa_frame(struct rr_iw_ep *ep, struct rr_mpa_frame *f)
{
	uint8_t buf[RR_MPA_FRAME_MAX];
	ssize_t n;
	int rc;

	f->priv = ep->priv;
	f->priv_len = ep->priv_len;
	n = rr_mpa_put(buf, sizeof(buf), f);
	rc = n < 0 ? (int)n : rr_iw_tx_raw(ep, buf, (size_t)n);
	free(ep->priv);
	ep->priv = NULL;
	ep->priv_len = 0;
	f->priv = NULL;
	f->priv_len = 0;
	return rc;
}

void rr_iw_setup_connected(struct rr_iw_ep *ep)
{
	struct rr_mpa_params w = make_mpa_params(ep);
	int rc = rr_sock_connected(ep->fd);

	if (rc == -EAGAIN)
		return;
	if (!rc) {
		rr_mpa_request(&w, &ep->request);
		rc = send_mpa_frame(ep, &ep->request);
	}
	if (rc) {
		rr_ep_set_reason(&ep->base, rc, "cannot connect: %s", strerror(-rc));
		rr_iw_dead(ep);
		return;
	}
	ep->state = RR_IW_ASKED;
}

static int keep_private(struct rr_iw_ep *ep, const struct rr_mpa_frame *f)
{
	if (!f->priv_len)
		return 0;
	ep->peer_priv = malloc(f->priv_len);
	if (!ep->peer_priv)
		return -ENOMEM;
	memcpy(ep->peer_priv, f->priv, f->priv_len);
	ep->peer_priv_len = f->priv_len;
	return 0;
}

static void enter_full_operation(struct rr_iw_ep *ep)
{
	const struct rr_mpa_agreement *d = &ep->agreed;

	ep->state = RR_IW_READY;
	ep->base.deadline = RR_TIME_NEVER;
	ep->setup_received = ep->base.count.bytes_received - (ep->rx.end - ep->rx.off);
	ep->setup_sent = ep->tx.framed;
	rr_iw_tx_start(ep);
	rr_trace(ep->base.trace, RR_TRACE_PROV_CONNECTED, ep->base.conn_id, 0, d->ird,
	         d->ord, d->crc | d->send_markers << 1 | d->enhanced << 2);
	if (ep->leaving)
		rr_iw_drain(ep);
	else
		rr_ep_complete(&ep->base, RR_WC_CONNECTED, 0, 0);
}

/* Handles the Reply.  If our IRD is too small or there is no common RTR message, sends
 * a Terminate and no other FPDU.                            [RFC 6581 §9.1, §9.2] */
static void handle_reply_frame(struct rr_iw_ep *ep, const struct rr_mpa_frame *f)
{
	struct rr_mpa_params w = make_mpa_params(ep);
	int rc = rr_mpa_conclude(&w, &ep->request, f, &ep->agreed);

	if (rc == -ECONNREFUSED) {
		reject_setup(ep, rc, f->rev,
		             "the server refused the connection (MPA Reply)");
		return;
	}
	if (!rc || rc == -ERANGE || rc == -ENOMSG) {
		int nomem = keep_private(ep, f);

		rc = nomem ? nomem : rc;
	}
	if (rc && rc != -ERANGE && rc != -ENOMSG) {
		reject_setup(ep, rc, f->rev,
		             "the server's MPA Reply does not fit the Request");
		return;
	}
	ep->tx.open = true;
	if (ep->agreed.rtr)
		ep->tx.due |= RR_IW_DUE_RTR; /* precedes even a Terminate */
	if (rc) {
		rr_iw_tx_start(ep);
		ep->state = RR_IW_READY;
		rr_iw_fault(ep, rc == -ERANGE ? RR_TERM_MPA_IRD : RR_TERM_MPA_RTR, NULL,
		            0, 0, NULL);
		return;
	}
	enter_full_operation(ep);
}

static void handle_request_frame(struct rr_iw_ep *ep, const struct rr_mpa_frame *f)
{
	struct rr_mpa_params w = make_mpa_params(ep);
	struct rr_mpa_frame rep;
	int rc = rr_mpa_answer(&w, f, &rep, &ep->agreed);

	if (!rc)
		rc = keep_private(ep, f);
	if (!rc)
		rc = send_mpa_frame(ep, &rep);
	if (rc) {
		reject_setup(ep, rc, f->rev,
		             rc == -EPROTONOSUPPORT
		                     ? "the client uses an unknown MPA revision"
		                     : "no memory for the connection set-up");
		return;
	}
	ep->rx.rtr_send = ep->agreed.rtr == RR_RTR_SEND;
	enter_full_operation(ep);
}

bool rr_iw_setup_frame(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;
	struct rr_mpa_frame f;
	bool reply = ep->initiator;
	ssize_t n = rr_mpa_get(rx->buf + rx->off, rx->end - rx->off, reply, &f);

	if (n == -EAGAIN)
		return false;
	if (n < 0) {
		reject_setup(ep, (int)n, 0,
		             reply ? "the answer is not iWARP; is the port right?"
		                   : "the first octets are not an MPA Request");
		return true;
	}
	rx->off += (uint32_t)n;
	if (reply)
		handle_reply_frame(ep, &f);
	else
		handle_request_frame(ep, &f);
	return true;
}
