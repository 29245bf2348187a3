/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reception: parses MPA frames and FPDUs, places their data, and adds completions.
 *
 * Normal path: reads fill a bounce buffer, which has space for the largest FPDU.  When
 * an FPDU is complete, its CRC is checked, then its headers; then its payload is copied
 * to its destination.  If most of a large segment is still missing, one read places the
 * payload directly, and puts the octets after it into the bounce buffer.  The CRC is
 * then computed over the placed memory, before the segment is delivered.
 *
 * The frames and the octets that one call handles are both limited, because a frame of
 * twenty octets takes as long as a large one.  At the limit, further octets remain in
 * the bounce buffer and the socket, and "more" is set, so that progress is called again
 * at once.
 *
 * Failure: the first error is answered with a Terminate (iw_end.c), and all later
 * octets are dropped.  The CRC is checked before an invalid header is reported.
 *
 * Invariants: the destination of a segment is looked up again each time before it is
 * written, so that nothing is written after an invalidation.  TCP preserves order: the
 * segments of a message must be in order and without gaps, and all data sent before a
 * Send is placed when the Send is delivered.
 */
#include <string.h>

#include "base/cursor.h"
#include "prov/iwarp/crc.h"
#include "prov/iwarp/iw_ep.h"

#define DIRECT_MIN 4096u      /* minimum of missing octets for direct placement */
#define TAIL_CAP   512u       /* octets to read after a segment that is not the last */
#define TURN_MAX   (1u << 20) /* limit on octets read in one call */
#define TURN_STEPS 256u       /* limit on frames handled in one call */
#define IDLE_MAX   4096u      /* limit on zero-length messages between two Sends */

_Static_assert(RR_IW_BOUNCE >= RR_MPA_FRAME_MAX, "a frame fits");
_Static_assert(RR_IW_BOUNCE >= RR_FPDU_MAX + DIRECT_MIN, "an FPDU fits");

/* The segment being handled. */
struct rx_seg {
	struct rr_ddp h;
	const uint8_t *raw; /* the ULPDU */
	uint32_t hlen;
	uint32_t len; /* octets of payload */
};

/* ---- checks ---- */

static enum rr_term_error check_write(const struct rr_iw_ep *ep, const struct rx_seg *g,
                                      uint8_t **dst)
{
	const struct rr_stag *s;

	if (!g->len) /* zero-length: not checked [RFC 5041 §4.1] */
		return RR_TERM_COUNT;
	s = rr_stags_find(&ep->stags, g->h.stag);
	if (!s || s->kind != RR_STAG_REGION)
		return RR_TERM_DDP_STAG;
	if (g->h.to > UINT64_MAX - g->len)
		return RR_TERM_DDP_WRAP;
	if (g->h.to < s->to || g->h.to - s->to > s->len ||
	    g->len > s->len - (g->h.to - s->to))
		return RR_TERM_DDP_BOUNDS;
	if (!(s->access & RR_ACCESS_REMOTE_WRITE))
		return RR_TERM_RDMAP_ACCESS;
	*dst = s->base + (g->h.to - s->to);
	return RR_TERM_COUNT;
}

/* Checks a Read Response.  Responses arrive in the order of the Reads, so only a
 * Response to the oldest Read is valid. */
static enum rr_term_error check_response(const struct rr_iw_ep *ep,
                                         const struct rx_seg *g, uint8_t **dst)
{
	const struct rr_iw_read *r = rr_ring_first(&ep->reads);
	uint32_t left;

	if (!r)
		return RR_TERM_RDMAP_OPCODE;
	left = r->sge.len - r->done; /* 0 for the RTR message */
	if (g->len) {
		if (r->rtr || g->h.stag != r->stag)
			return RR_TERM_DDP_STAG;
		if (g->h.to > UINT64_MAX - g->len)
			return RR_TERM_DDP_WRAP;
		if (g->h.to != r->to + r->done || g->len > left)
			return RR_TERM_DDP_BOUNDS;
	}
	if (g->h.last != (g->len == left)) /* shorter or longer than requested */
		return RR_TERM_RDMAP_OPERATION;
	if (g->len)
		*dst = (uint8_t *)r->sge.base + r->done;
	return RR_TERM_COUNT;
}

static enum rr_term_error check_msn(const struct rr_iw_ep *ep, const struct rr_ddp *h,
                                    uint32_t buffers)
{
	uint32_t ahead = h->msn - ep->rx.msn[h->qn];

	if (ahead >= buffers && ahead < UINT32_MAX / 2)
		return RR_TERM_DDP_NO_BUFFER;
	return ahead ? RR_TERM_DDP_MSN : RR_TERM_COUNT;
}

static bool is_rtr_send(const struct rr_iw_ep *ep, const struct rx_seg *g)
{
	return ep->rx.rtr_send && g->h.msn == 1 && g->h.mo == 0 && g->h.last && !g->len;
}

static enum rr_term_error check_send(const struct rr_iw_ep *ep, const struct rx_seg *g)
{
	const struct rr_iw_recv *r = rr_ring_first(&ep->rq);
	enum rr_term_error e;

	if (is_rtr_send(ep, g))
		return RR_TERM_COUNT;
	e = check_msn(ep, &g->h, ep->rq.count);
	if (e != RR_TERM_COUNT)
		return e;
	if (g->h.mo != ep->rx.send_done)
		return RR_TERM_DDP_MO;
	if (g->len > r->sge.len - ep->rx.send_done)
		return RR_TERM_DDP_TOO_LONG;
	return RR_TERM_COUNT;
}

static enum rr_term_error check_request(const struct rr_iw_ep *ep,
                                        const struct rx_seg *g)
{
	struct rr_read_request req;
	enum rr_term_error e;
	uint8_t *src;

	e = check_msn(ep, &g->h,
	              ep->agreed.ird - RR_MIN(ep->resps.count, ep->agreed.ird));
	if (e != RR_TERM_COUNT)
		return e;
	if (g->h.mo)
		return RR_TERM_DDP_MO;
	if (g->len > RR_READ_REQUEST)
		return RR_TERM_DDP_TOO_LONG;
	if (g->len < RR_READ_REQUEST || !g->h.last)
		return RR_TERM_RDMAP_OPERATION;
	rr_read_request_get(g->raw + g->hlen, &req);
	return rr_iw_read_source(ep, &req, &src);
}

/* Returns true if the opcode is allowed with this type of header and this queue. */
static bool is_op_allowed(const struct rr_ddp *h)
{
	switch (RR_RDMAP_OP(h->rdmap)) {
	case RR_OP_WRITE:
	case RR_OP_READ_RESPONSE:
		return h->tagged;
	case RR_OP_READ_REQUEST:
		return !h->tagged && h->qn == RR_QN_READ;
	case RR_OP_SEND:
	case RR_OP_SEND_INV:
	case RR_OP_SEND_SE:
	case RR_OP_SEND_SE_INV:
		return !h->tagged && h->qn == RR_QN_SEND;
	case RR_OP_TERMINATE:
		return !h->tagged && h->qn == RR_QN_TERMINATE;
	default:
		return false;
	}
}

/* Checks one segment, first for DDP, then for RDMAP.  Stores in @dst the destination of
 * its payload, or NULL if there is none or if it is a Receive; see find_place().
 * [RFC 5041 §7.1, RFC 5040 §7.2] */
static enum rr_term_error check_segment(const struct rr_iw_ep *ep,
                                        const struct rx_seg *g, uint8_t **dst)
{
	const struct rr_ddp *h = &g->h;

	*dst = NULL;
	if (h->version != RR_DDP_VERSION)
		return h->tagged ? RR_TERM_DDP_TVERSION : RR_TERM_DDP_UVERSION;
	if (!h->tagged && h->qn >= RR_QN_COUNT)
		return RR_TERM_DDP_QN;
	if (RR_RDMAP_VERSION(h->rdmap) != 1)
		return RR_TERM_RDMAP_VERSION;
	if (!is_op_allowed(h))
		return RR_TERM_RDMAP_OPCODE;
	switch ((enum rr_rdmap_op)RR_RDMAP_OP(h->rdmap)) {
	case RR_OP_WRITE:
		return check_write(ep, g, dst);
	case RR_OP_READ_RESPONSE:
		return check_response(ep, g, dst);
	case RR_OP_READ_REQUEST:
		return check_request(ep, g);
	case RR_OP_SEND:
	case RR_OP_SEND_INV:
	case RR_OP_SEND_SE:
	case RR_OP_SEND_SE_INV:
		return check_send(ep, g);
	case RR_OP_TERMINATE: /* valid with any body; it ends the connection */
		return RR_TERM_COUNT;
	}
	return RR_TERM_RDMAP_OPCODE;
}

static void report_fault(struct rr_iw_ep *ep, enum rr_term_error e,
                         const struct rx_seg *g)
{
	bool req = !g->h.tagged && RR_RDMAP_OP(g->h.rdmap) == RR_OP_READ_REQUEST &&
	           g->len >= RR_READ_REQUEST;

	rr_iw_fault(ep, e, g->raw, g->hlen, g->hlen + g->len,
	            req ? g->raw + g->hlen : NULL);
}

/* ---- memory for pooled Receives ---- */

static void end_without_room(struct rr_iw_ep *ep)
{
	rr_ep_set_reason(&ep->base, -ENOMEM, "out of memory");
	rr_iw_dead(ep);
}

/* Chooses how much memory a Receive gets for a message of which @end octets are known.
 * The last segment shows the length.  Until it arrives, only a message of which half
 * would fill the Receive gets memory for the largest message. */
static uint32_t choose_room(const struct rr_iw_recv *r, uint32_t end, bool last)
{
	if (last)
		return RR_MAX(end, 1u);
	return end >= r->sge.len / 2 ? r->sge.len : RR_MAX(2 * end, 1u);
}

/* Provides memory for the checked segment of a Send.  Returns false if the connection
 * has ended. */
static bool provide_room(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	const struct rr_prov_memory *m = &ep->base.memory;
	struct rr_iw_recv *r = rr_ring_first(&ep->rq);
	uint32_t done = ep->rx.send_done, end = done + g->len, room;
	void *p;

	if (r->room == r->sge.len || (r->sge.base && end <= r->room))
		return true;
	room = choose_room(r, end, g->h.last);
	p = m->receive(m->ctx, r->token, done, room);
	if (!p) {
		end_without_room(ep);
		return false;
	}
	r->sge.base = p;
	r->room = room;
	return true;
}

/* Completes the work of check_segment: stores in @dst the place in the Receive for the
 * payload of a Send.  Returns false if the connection has ended. */
static bool find_place(struct rr_iw_ep *ep, const struct rx_seg *g, uint8_t **dst)
{
	if (g->h.tagged || g->h.qn != RR_QN_SEND || is_rtr_send(ep, g))
		return true;
	if (!provide_room(ep, g))
		return false;
	if (g->len)
		*dst = (uint8_t *)((struct rr_iw_recv *)rr_ring_first(&ep->rq))
		               ->sge.base +
		       ep->rx.send_done;
	return true;
}

/* ---- delivery ---- */

static void deliver_response(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	struct rr_iw_read *r = rr_ring_first(&ep->reads);
	struct rr_stag *s;

	r->done += g->len;
	if (!g->h.last)
		return;
	s = rr_stags_find(&ep->stags, r->stag);
	if (s && !r->rtr)
		rr_stags_remove(&ep->stags, s);
	if (!r->rtr)
		rr_ep_complete(&ep->base, RR_WC_READ, r->token, 0);
	rr_ring_pop(&ep->reads, 1);
	rr_iw_empty_reads(ep);
}

/* Invalidates the STag in a Send With Invalidate.  Returns false if an error has ended
 * the connection. */
static bool invalidate_named(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	struct rr_stag *s = rr_stags_find(&ep->stags, g->h.stag);

	if (!s || s->kind != RR_STAG_REGION) {
		report_fault(ep, RR_TERM_RDMAP_INVALIDATE, g);
		return false;
	}
	if (rr_iw_revoke(ep, s, true)) {
		rr_iw_no_memory(ep);
		return false;
	}
	ep->base.count.remote_invalidations++;
	return true;
}

static void deliver_send(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	unsigned op = RR_RDMAP_OP(g->h.rdmap);
	bool inv = op == RR_OP_SEND_INV || op == RR_OP_SEND_SE_INV;
	struct rr_wc *wc;

	if (is_rtr_send(ep, g)) {
		ep->rx.msn[RR_QN_SEND]++;
		return;
	}
	ep->rx.send_done += g->len;
	if (!g->h.last || (inv && !invalidate_named(ep, g)))
		return;
	if (rr_iw_reserve(ep, 1)) {
		rr_iw_no_memory(ep);
		return;
	}
	wc = rr_ep_complete(&ep->base, RR_WC_RECV,
	                    ((struct rr_iw_recv *)rr_ring_first(&ep->rq))->token, 0);
	wc->len = ep->rx.send_done;
	wc->invalidated = inv;
	wc->inv_handle = inv ? g->h.stag : 0;
	rr_ring_pop(&ep->rq, 1);
	ep->base.count.recvs++;
	ep->rx.msn[RR_QN_SEND]++;
	ep->rx.send_done = 0;
}

static void deliver_request(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	struct rr_iw_resp *r;

	ep->rx.msn[RR_QN_READ]++;
	if (ep->tx.mute)
		return;
	if (rr_ring_reserve(&ep->resps, ep->resps.count + 1)) {
		rr_iw_no_memory(ep);
		return;
	}
	r = rr_ring_push(&ep->resps);
	rr_read_request_get(g->raw + g->hlen, &r->req);
	memcpy(r->ddp, g->raw, sizeof(r->ddp));
}

/* Handles a Terminate, which reports a protocol error by us or a failure at the
 * peer. */
static void deliver_terminate(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	struct rr_term t;
	bool failed;

	rr_term_get(g->raw + g->hlen, g->len, &t);
	failed = t.type == 0 && (t.layer != 2 || t.code == 5);
	rr_trace(ep->base.trace, RR_TRACE_PROV_TERMINATE_RECEIVED, ep->base.conn_id, 0,
	         (uint64_t)(t.layer << 4 | t.type), t.code, t.reversed);
	rr_ep_set_reason(&ep->base, failed ? -ECONNRESET : -EREMOTEIO,
	                 "the peer ended the connection: %s (Terminate %u/%u/%u%s)",
	                 rr_term_text(t.layer, t.type, t.code), t.layer, t.type, t.code,
	                 t.reversed ? ", fields in siw's order" : "");
	ep->rx.discarding = true;
	rr_iw_tx_drop(ep);
	if (ep->state == RR_IW_READY)
		rr_iw_drain(ep);
}

/* Returns true if the peer has sent too many zero-length Writes and Reads since its
 * last Send.  Such messages are allowed and not checked [RFC 5041 §4.1], but thousands
 * of them without a Send only waste our time. */
static bool is_too_idle(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	struct rr_read_request req;

	switch ((enum rr_rdmap_op)RR_RDMAP_OP(g->h.rdmap)) {
	case RR_OP_WRITE:
		return !g->len && ++ep->rx.idle > IDLE_MAX;
	case RR_OP_READ_REQUEST:
		rr_read_request_get(g->raw + g->hlen, &req);
		return !req.size && ++ep->rx.idle > IDLE_MAX;
	case RR_OP_SEND:
	case RR_OP_SEND_INV:
	case RR_OP_SEND_SE:
	case RR_OP_SEND_SE_INV:
		ep->rx.idle = 0;
		return false;
	case RR_OP_READ_RESPONSE:
	case RR_OP_TERMINATE:
		break;
	}
	return false;
}

/* Delivers a segment that has been checked and placed. */
static void deliver_segment(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	if (is_too_idle(ep, g)) {
		report_fault(ep, RR_TERM_RDMAP_OPERATION, g);
		return;
	}
	switch ((enum rr_rdmap_op)RR_RDMAP_OP(g->h.rdmap)) {
	case RR_OP_WRITE:
		break;
	case RR_OP_READ_RESPONSE:
		deliver_response(ep, g);
		break;
	case RR_OP_READ_REQUEST:
		deliver_request(ep, g);
		break;
	case RR_OP_SEND:
	case RR_OP_SEND_INV:
	case RR_OP_SEND_SE:
	case RR_OP_SEND_SE_INV:
		deliver_send(ep, g);
		break;
	case RR_OP_TERMINATE:
		deliver_terminate(ep, g);
		break;
	}
	ep->rx.rtr_send = false;
}

/* ---- FPDUs ---- */

static bool check_crc(struct rr_iw_ep *ep, uint32_t crc, const uint8_t *wire)
{
	uint8_t want[RR_FPDU_CRC];

	if (ep->agreed.crc) {
		rr_crc_store(want, crc);
		if (memcmp(want, wire, RR_FPDU_CRC) != 0) {
			rr_iw_fault(ep, RR_TERM_MPA_CRC, NULL, 0, 0, NULL);
			return false;
		}
	}
	ep->tx.open = true; /* a valid FPDU allows the responder to send */
	return true;
}

/* Parses the DDP header of a ULPDU of @len octets, @have of which have arrived.
 * Returns false if the header is incomplete. */
static bool parse_segment(const uint8_t *ulpdu, uint32_t have, uint32_t len,
                          struct rx_seg *ret)
{
	int n = rr_ddp_get(ulpdu, have, &ret->h);

	if (n < 0 || (uint32_t)n > len)
		return false;
	ret->raw = ulpdu;
	ret->hlen = (uint32_t)n;
	ret->len = len - (uint32_t)n;
	return true;
}

/* Prepares for a Write to a region that the peer may be reading.  Framed pieces of the
 * region already have a CRC, so they are copied and keep their old content.  Returns
 * false if the connection has ended. */
static bool keep_framed(struct rr_iw_ep *ep, const struct rx_seg *g)
{
	if (ep->tx.head == ep->tx.tail || RR_RDMAP_OP(g->h.rdmap) != RR_OP_WRITE ||
	    !rr_iw_tx_detach(ep, g->h.stag))
		return true;
	rr_iw_no_memory(ep);
	return false;
}

/* Handles a complete FPDU in the bounce buffer.  @len is the length of its ULPDU. */
static void take_whole_fpdu(struct rr_iw_ep *ep, const uint8_t *p, uint32_t len)
{
	uint32_t covered = RR_FPDU_LEN + len + rr_fpdu_pad(len), crc = 0;
	enum rr_term_error e;
	struct rx_seg g;
	uint8_t *dst;

	if (ep->agreed.crc)
		crc = rr_crc_add(RR_CRC_INIT, p, covered);
	if (!check_crc(ep, crc, p + covered))
		return;
	if (!parse_segment(p + RR_FPDU_LEN, len, len, &g)) {
		rr_iw_fault(ep, RR_TERM_RDMAP_OPERATION, NULL, 0, 0, NULL);
		return;
	}
	e = check_segment(ep, &g, &dst);
	if (e != RR_TERM_COUNT) {
		report_fault(ep, e, &g);
		return;
	}
	if (!find_place(ep, &g, &dst) || (dst && !keep_framed(ep, &g)))
		return;
	if (dst && g.len)
		memcpy(dst, g.raw + g.hlen, g.len);
	deliver_segment(ep, &g);
}

/* Starts to receive a segment directly into its destination, if enough of the segment
 * is missing to make that worthwhile. */
static bool begin_direct(struct rr_iw_ep *ep, const uint8_t *p, uint32_t have,
                         uint32_t len)
{
	struct rr_iw_rx *rx = &ep->rx;
	struct rx_seg g;
	uint8_t *dst;

	if (rr_fpdu_size(len) - have < DIRECT_MIN ||
	    !parse_segment(p + RR_FPDU_LEN, have - RR_FPDU_LEN, len, &g) ||
	    check_segment(ep, &g, &dst) != RR_TERM_COUNT || !find_place(ep, &g, &dst) ||
	    !dst)
		return false;
	rx->direct = true;
	rx->ddp = g.h;
	memcpy(rx->raw, g.raw, g.hlen);
	rx->len = rx->left = g.len;
	if (ep->agreed.crc)
		rx->crc = rr_crc_add(RR_CRC_INIT, p, RR_FPDU_LEN + g.hlen);
	rx->off += RR_FPDU_LEN + g.hlen;
	return true;
}

static struct rx_seg make_direct_seg(const struct rr_iw_rx *rx)
{
	return (struct rx_seg){
	        .h = rx->ddp,
	        .raw = rx->raw,
	        .hlen = (uint32_t)rr_ddp_size(rx->ddp.tagged),
	        .len = rx->len,
	};
}

/* Looks up the destination of the segment's remaining octets again.  Returns NULL if
 * the connection has ended. */
static uint8_t *find_direct_place(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;
	struct rx_seg g = make_direct_seg(rx);
	uint8_t *dst;
	enum rr_term_error e = check_segment(ep, &g, &dst);

	if (e != RR_TERM_COUNT) {
		report_fault(ep, e, &g);
		return NULL;
	}
	if (!find_place(ep, &g, &dst) || !keep_framed(ep, &g))
		return NULL;
	return dst + (rx->len - rx->left);
}

static void count_direct_placed(struct rr_iw_ep *ep, const uint8_t *dst, uint32_t n)
{
	if (ep->agreed.crc)
		ep->rx.crc = rr_crc_add(ep->rx.crc, dst, n);
	ep->rx.left -= n;
}

/* Continues with the segment being placed directly.  Returns false if it is still
 * incomplete. */
static bool continue_direct(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;
	uint32_t n = RR_MIN(rx->left, rx->end - rx->off);
	struct rx_seg g = make_direct_seg(rx);
	unsigned pad = rr_fpdu_pad(g.hlen + g.len);
	uint32_t crc = rx->crc;
	const uint8_t *p;
	uint8_t *dst;

	if (n) {
		dst = find_direct_place(ep);
		if (!dst)
			return false;
		memcpy(dst, rx->buf + rx->off, n);
		rx->off += n;
		count_direct_placed(ep, dst, n);
		crc = rx->crc;
	}
	if (rx->left || rx->end - rx->off < pad + RR_FPDU_CRC)
		return false;
	p = rx->buf + rx->off;
	if (ep->agreed.crc)
		crc = rr_crc_add(crc, p, pad);
	rx->off += pad + RR_FPDU_CRC;
	rx->direct = false;
	if (check_crc(ep, crc, p + pad))
		deliver_segment(ep, &g);
	return true;
}

/* Handles the next frame in the bounce buffer, or places the octets of a segment that
 * have arrived.  Returns false if more octets are needed. */
static bool take_rx_step(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;
	const uint8_t *p = rx->buf + rx->off;
	uint32_t have = rx->end - rx->off, len;

	if (ep->state == RR_IW_DEAD || rx->discarding)
		return false;
	if (rr_iw_is(ep, RR_IW_IN_FRAMES))
		return rr_iw_setup_frame(ep);
	if (rx->direct)
		return continue_direct(ep);
	if (have < RR_FPDU_LEN)
		return false;
	len = rr_load_u16(p);
	if (have < rr_fpdu_size(len))
		return begin_direct(ep, p, have, len);
	rx->off += (uint32_t)rr_fpdu_size(len);
	take_whole_fpdu(ep, p, len);
	return true;
}

/* ---- the socket ---- */

/* Sets the destinations of the next read.  Returns the number of destinations, or 0 if
 * the connection has ended. */
static unsigned aim_read(struct rr_iw_ep *ep, struct iovec v[2])
{
	struct rr_iw_rx *rx = &ep->rx;
	uint32_t tail = rx->cap - rx->end;
	uint8_t *dst;

	if (!rx->direct || !rx->left) {
		v[0] = (struct iovec){rx->buf + rx->end, tail};
		return 1;
	}
	dst = find_direct_place(ep);
	if (!dst)
		return 0;
	if (!rx->ddp.last)
		tail = RR_MIN(tail, TAIL_CAP);
	v[0] = (struct iovec){dst, rx->left};
	v[1] = (struct iovec){rx->buf + rx->end, tail};
	return 2;
}

/* Handles the contents of the bounce buffer, up to the limit of this call. */
static void take_buffered(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;

	rx->more = false;
	while (take_rx_step(ep))
		if (!--rx->share) {
			rx->more = true;
			break;
		}
	if (rx->discarding) {
		rx->off = rx->end = 0;
		rx->more = false;
	}
}

/* Handles @n octets that were read into the destinations set by aim_read(). */
static void take_octets(struct rr_iw_ep *ep, const struct iovec *v, unsigned nv,
                        size_t n)
{
	struct rr_iw_rx *rx = &ep->rx;

	ep->base.count.bytes_received += n;
	if (rx->discarding)
		return;
	if (nv == 2) {
		size_t placed = RR_MIN(n, v[0].iov_len);

		count_direct_placed(ep, v[0].iov_base, (uint32_t)placed);
		n -= placed;
	}
	rx->end += (uint32_t)n;
	take_buffered(ep);
}

static void handle_close(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;

	rx->fin = true;
	if (rr_iw_is(ep, RR_IW_IN_FRAMES)) {
		rr_ep_trace_rejected(&ep->base, -ECONNRESET, ep->state);
		rr_ep_set_reason(
		        &ep->base, -ECONNRESET,
		        "the peer closed the connection during the MPA set-up");
		rr_iw_dead(ep);
	} else if (ep->state == RR_IW_READY) {
		if (rx->direct || rx->off != rx->end || rx->send_done) {
			rr_ep_set_reason(
			        &ep->base, -ECONNRESET,
			        "the peer closed the connection in mid-message");
			rr_iw_dead(ep);
			return;
		}
		rr_ep_set_reason(&ep->base, 0, "closed by the peer");
		rr_iw_drain(ep);
	}
}

static void handle_read_error(struct rr_iw_ep *ep, int err)
{
	rr_ep_set_reason(&ep->base, err == -ETIMEDOUT ? err : -ECONNRESET,
	                 "cannot receive: %s", strerror(-err));
	rr_iw_dead(ep);
}

/* Reads once and handles the octets.  Returns false if the socket is empty for now. */
static bool read_once(struct rr_iw_ep *ep)
{
	struct iovec v[2];
	unsigned nv;
	size_t asked;
	ssize_t n;

	if (rr_iw_bounce_borrow(ep)) {
		handle_read_error(ep, -ENOMEM);
		return false;
	}
	nv = aim_read(ep, v);
	if (!nv)
		return true;
	asked = v[0].iov_len + (nv == 2 ? v[1].iov_len : 0);
	n = rr_sock_readv(ep->fd, v, nv);
	ep->base.count.syscalls++;
	if (n == -EAGAIN)
		return false;
	if (n > 0)
		take_octets(ep, v, nv, (size_t)n);
	else if (n == 0 && !ep->rx.reset)
		handle_close(ep);
	else /* a socket reports a reset only once, perhaps to an earlier write */
		handle_read_error(ep, n ? (int)n : -ECONNRESET);
	return n <= 0 || (size_t)n == asked; /* after a short read, poll again */
}

void rr_iw_rx_run(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;
	uint64_t stop = ep->base.count.bytes_received + TURN_MAX;

	rx->share = TURN_STEPS;
	if (rx->more)
		take_buffered(ep);
	while (ep->state != RR_IW_DEAD && !rx->fin && !rx->more && read_once(ep))
		if (ep->base.count.bytes_received >= stop)
			rx->more = true;
	rr_iw_bounce_return(ep);
}
