/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmission: frames work requests and Read Responses as FPDUs, and sends FPDUs by
 * gathered writes.
 *
 * Normal path: a message of one segment is framed when it is posted, if nothing must be
 * sent before it.  frame_ahead() frames the others: it alternates between the oldest work
 * request and the oldest Read Response, and divides each message into segments.
 * Headers, trailers and small payload are copied to the stage.  Larger payload is sent
 * in place, and its CRC is computed shortly before the write that copies the payload.
 * Messages are never interleaved.  advance_sent() completes the work requests whose last
 * octet has been written.
 *
 * Failure: after a short write, the remaining pieces are sent by the next call.  After
 * a write error, received octets are handled first, because they may contain the
 * reason.  No memory is read after its invalidation: a Read Response looks up its
 * region again for each segment, and rr_iw_tx_detach copies the pieces already framed
 * before a region is invalidated.
 *
 * Invariants: pieces head..tail are unsent, in order; the stage is reused only when
 * all pieces have been sent; framed - sent is the sum of the pieces' lengths.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "prov/iwarp/crc.h"
#include "prov/iwarp/iw_ep.h"

#define AHEAD        (128u << 10) /* limit on framed, unsent octets; fits in cache */
#define COPY_MAX     256u         /* largest payload piece copied to the stage */
#define TURN_MAX     (1u << 20)   /* limit on the octets written in one call */
#define ULPDU_MARKED 8192u        /* largest ULPDU with markers, which is copied */

#define NEED_PIECES (2 * RR_PROV_MAX_SGE + 2)
#define NEED_STAGE  12288u /* space for the largest FPDU with markers */

_Static_assert(NEED_STAGE >= RR_FPDU_LEN + RR_DDP_UNTAGGED + RR_FPDU_TAIL_MAX +
                                     RR_PROV_MAX_SGE * COPY_MAX,
               "an FPDU's staged octets fit");

/* ---- pieces ---- */

static void add_tx_piece(struct rr_iw_tx *tx, const void *p, size_t len, uint32_t stag)
{
	struct iovec *last = tx->tail > tx->head ? &tx->buf->v[tx->tail - 1] : NULL;

	if (!len)
		return;
	tx->framed += len;
	if (last && (uint8_t *)last->iov_base + last->iov_len == p &&
	    tx->buf->stag[tx->tail - 1] == stag) {
		last->iov_len += len;
		return;
	}
	tx->buf->stag[tx->tail] = stag;
	tx->buf->v[tx->tail++] = (struct iovec){(void *)(uintptr_t)p, len};
}

/* Returns the address of the first free octet of the stage. */
static uint8_t *stage_end(const struct rr_iw_tx *tx)
{
	return tx->buf->stage + tx->stage_used;
}

/* Appends the octets from stage_end() to @end, already written, as one piece. */
static void add_staged(struct rr_iw_tx *tx, const uint8_t *end)
{
	const uint8_t *p = stage_end(tx);
	size_t len = (size_t)(end - p);

	RR_ASSERT(len <= RR_IW_TX_STAGE - tx->stage_used);
	tx->stage_used += (unsigned)len;
	add_tx_piece(tx, p, len, 0);
}

/* Returns true if another FPDU may be framed before others are sent. */
static bool has_tx_room(const struct rr_iw_tx *tx)
{
	return tx->framed - tx->sent < AHEAD &&
	       RR_IW_TX_IOV - tx->tail >= NEED_PIECES &&
	       RR_IW_TX_STAGE - tx->stage_used >= NEED_STAGE;
}

static int ensure_tx_buf(struct rr_iw_ep *ep)
{
	if (!ep->tx.buf)
		ep->tx.buf =
		        rr_ep_borrow(&ep->base, RR_EP_SEND_BUFFER, sizeof(*ep->tx.buf));
	return ep->tx.buf ? 0 : -ENOMEM;
}

/* Returns the transmit buffer, which has no unsent octets. */
static void return_tx_buf(struct rr_iw_ep *ep)
{
	rr_ep_give_back(&ep->base, RR_EP_SEND_BUFFER, ep->tx.buf, sizeof(*ep->tx.buf));
	ep->tx.buf = NULL;
}

static void reset_pieces(struct rr_iw_tx *tx)
{
	struct rr_iw_copy *c;

	tx->head = tx->tail = 0;
	tx->stage_used = 0;
	while ((c = tx->copies)) {
		tx->copies = c->next;
		free(c);
	}
}

void rr_iw_tx_drop(struct rr_iw_ep *ep)
{
	reset_pieces(&ep->tx);
	return_tx_buf(ep);
	ep->tx.mute = true;
	ep->tx.blocked = false;
}

int rr_iw_tx_raw(struct rr_iw_ep *ep, const void *p, size_t len)
{
	int rc = ensure_tx_buf(ep);

	if (rc)
		return rc;
	RR_ASSERT(len <= RR_IW_TX_STAGE - ep->tx.stage_used);
	memcpy(stage_end(&ep->tx), p, len);
	add_staged(&ep->tx, stage_end(&ep->tx) + len);
	return 0;
}

void rr_iw_tx_start(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;

	tx->framer = (struct rr_framer){.crc = ep->agreed.crc,
	                                .markers = ep->agreed.send_markers};
	tx->ulpdu_max = ep->opts.fpdu;
	if (tx->framer.markers)
		tx->ulpdu_max = RR_MIN(tx->ulpdu_max, ULPDU_MARKED);
}

/* Returns the maximum number of payload octets in a segment, rounded down to full cache
 * lines if it is large. */
static uint32_t max_payload(const struct rr_iw_tx *tx, bool tagged)
{
	uint32_t n = tx->ulpdu_max - (uint32_t)rr_ddp_size(tagged);

	return n > 4096 ? n & ~63u : n;
}

int rr_iw_tx_detach(struct rr_iw_ep *ep, uint32_t stag)
{
	struct rr_iw_tx *tx = &ep->tx;
	struct rr_iw_copy *c;
	size_t len = 0;

	for (unsigned i = tx->head; i < tx->tail; i++)
		if (tx->buf->stag[i] == stag)
			len += tx->buf->v[i].iov_len;
	if (!len)
		return 0;
	c = malloc(sizeof(*c) + len);
	if (!c)
		return -ENOMEM;
	c->next = tx->copies;
	tx->copies = c;
	len = 0;
	for (unsigned i = tx->head; i < tx->tail; i++) {
		struct iovec *v = &tx->buf->v[i];

		if (tx->buf->stag[i] != stag)
			continue;
		memcpy(c->data + len, v->iov_base, v->iov_len);
		v->iov_base = c->data + len;
		len += v->iov_len;
		tx->buf->stag[i] = 0;
	}
	return 0;
}

/* ---- one FPDU ---- */

struct tx_seg {
	struct rr_ddp h;
	uint32_t hlen;
	const struct rr_sge *sge; /* the payload */
	unsigned n;
	uint32_t len;  /* octets of payload */
	uint32_t stag; /* region that contains the payload, or 0 */
};

/* Returns a segment without payload. */
static struct tx_seg make_seg(enum rr_rdmap_op op, bool tagged, bool last)
{
	return (struct tx_seg){
	        .h = {.tagged = tagged, .last = last, .rdmap = RR_RDMAP_CTRL(op)},
	        .hlen = (uint32_t)rr_ddp_size(tagged)};
}

static void emit_marked_fpdu(struct rr_iw_tx *tx, const struct tx_seg *s)
{
	uint8_t hdr[RR_DDP_UNTAGGED];
	struct iovec v[1 + RR_PROV_MAX_SGE];
	uint8_t *p = stage_end(tx);
	size_t len = s->hlen + s->len;

	RR_ASSERT(rr_fpdu_marked_size(len) <= RR_IW_TX_STAGE - tx->stage_used);
	rr_ddp_put(hdr, &s->h);
	v[0] = (struct iovec){hdr, s->hlen};
	for (unsigned i = 0; i < s->n; i++)
		v[1 + i] = (struct iovec){s->sge[i].base, s->sge[i].len};
	add_staged(tx, p + rr_fpdu_put(&tx->framer, p, v, s->n + 1, len));
}

/* Copies a short payload piece to the stage at @p, or adds a long one in place, after
 * the octets staged before it.  Returns the new end of the staged octets. */
static uint8_t *emit_payload(struct rr_iw_tx *tx, const struct rr_sge *g, uint32_t stag,
                             uint8_t *p, uint32_t *crc)
{
	const uint8_t *run = stage_end(tx);

	if (g->len <= COPY_MAX) {
		if (g->len)
			memcpy(p, g->base, g->len);
		return p + g->len;
	}
	add_staged(tx, p);
	add_tx_piece(tx, g->base, g->len, stag);
	if (tx->framer.crc) {
		*crc = rr_crc_add(*crc, run, (size_t)(p - run));
		*crc = rr_crc_add(*crc, g->base, g->len);
	}
	return p;
}

/* Frames a segment.  Octets between stage_end() and @p are staged, but not yet in a
 * piece or in the CRC. */
static void emit_fpdu(struct rr_iw_tx *tx, const struct tx_seg *s)
{
	uint32_t crc = RR_CRC_INIT, len = s->hlen + s->len;
	uint8_t *p = stage_end(tx), *run;

	if (tx->framer.markers) {
		emit_marked_fpdu(tx, s);
		return;
	}
	RR_ASSERT(RR_IW_TX_STAGE - tx->stage_used >= NEED_STAGE);
	rr_store_u16(p, (uint16_t)len);
	rr_ddp_put(p + RR_FPDU_LEN, &s->h);
	p += RR_FPDU_LEN + s->hlen;
	for (unsigned i = 0; i < s->n; i++)
		p = emit_payload(tx, &s->sge[i], s->stag, p, &crc);
	memset(p, 0, 3 + RR_FPDU_CRC);
	p += rr_fpdu_pad(len);
	run = stage_end(tx);
	if (tx->framer.crc)
		rr_crc_store(p, rr_crc_add(crc, run, (size_t)(p - run)));
	add_staged(tx, p + RR_FPDU_CRC);
}

/* ---- messages ---- */

/* Stores the next @want octets of the gather list of a work request in @v, an array of
 * RR_PROV_MAX_SGE.  Returns the number of pieces. */
static unsigned gather_octets(struct rr_iw_ep *ep, const struct rr_iw_wr *wr,
                              struct rr_sge *v, uint32_t want)
{
	struct rr_iw_tx *tx = &ep->tx;
	unsigned count = 0;

	while (want) {
		uint32_t at = wr->sge + tx->sge - ep->sge_first;
		const struct rr_sge *g = rr_ring_at(&ep->sges, at);
		uint32_t n = RR_MIN(want, g->len - tx->sge_off);

		if (n)
			v[count++] = (struct rr_sge){
			        .base = (uint8_t *)g->base + tx->sge_off, .len = n};
		tx->sge_off += n;
		want -= n;
		if (tx->sge_off == g->len) {
			tx->sge++;
			tx->sge_off = 0;
		}
	}
	return count;
}

static void finish_message(struct rr_iw_tx *tx)
{
	tx->resp_turn = tx->source == RR_IW_WR;
	tx->source = RR_IW_NONE;
	tx->done = 0;
	tx->sge = tx->sge_off = 0;
}

/* Frames the next segment of a Send or Write.  Its payload consists of the @n pieces in
 * @sge, @len octets in total. */
static void frame_segment(struct rr_iw_ep *ep, struct rr_iw_wr *wr,
                          const struct rr_sge *sge, unsigned n, uint32_t len)
{
	struct rr_iw_tx *tx = &ep->tx;
	bool tagged = wr->kind == RR_POST_WRITE;
	bool last = len == wr->len - tx->done;
	struct tx_seg s = make_seg(tagged       ? RR_OP_WRITE
	                           : wr->handle ? RR_OP_SEND_INV
	                                        : RR_OP_SEND,
	                           tagged, last);

	s.h.stag = wr->handle;
	if (tagged) {
		s.h.to = wr->offset + tx->done;
	} else {
		s.h.qn = RR_QN_SEND;
		s.h.msn = tx->msn[RR_QN_SEND];
		s.h.mo = tx->done;
	}
	s.sge = sge;
	s.n = n;
	s.len = len;
	emit_fpdu(tx, &s);
	tx->done += len;
	if (!last)
		return;
	if (!tagged)
		tx->msn[RR_QN_SEND]++;
	wr->end = tx->framed;
	ep->sq_framed++;
	finish_message(tx);
}

/* Frames the next segment of a Send or Write whose gather list is in ep->sges. */
static void frame_queued(struct rr_iw_ep *ep, struct rr_iw_wr *wr)
{
	uint32_t most = max_payload(&ep->tx, wr->kind == RR_POST_WRITE);
	uint32_t len = RR_MIN(most, wr->len - ep->tx.done);
	struct rr_sge v[RR_PROV_MAX_SGE];

	frame_segment(ep, wr, v, gather_octets(ep, wr, v, len), len);
}

/* Returns true if nothing must be framed before the newest work request. */
static bool is_next(const struct rr_iw_ep *ep)
{
	const struct rr_iw_tx *tx = &ep->tx;

	return tx->open && !tx->mute && !tx->due && !ep->resps.count &&
	       ep->sq_framed + 1 == ep->sq.count;
}

bool rr_iw_tx_posted(struct rr_iw_ep *ep, struct rr_iw_wr *wr, const struct rr_sge *sge,
                     unsigned n)
{
	if (wr->kind == RR_POST_READ || !is_next(ep) ||
	    wr->len > max_payload(&ep->tx, wr->kind == RR_POST_WRITE) ||
	    ensure_tx_buf(ep) || !has_tx_room(&ep->tx))
		return false;
	frame_segment(ep, wr, sge, n, wr->len);
	return true;
}

static void frame_untagged(struct rr_iw_tx *tx, enum rr_rdmap_op op, uint32_t qn,
                           void *body, uint32_t len)
{
	const struct rr_sge g = {.base = body, .len = len};
	struct tx_seg s = make_seg(op, false, true);

	s.h.qn = qn;
	s.h.msn = tx->msn[qn]++;
	s.sge = &g;
	s.n = 1;
	s.len = len;
	emit_fpdu(tx, &s);
}

void rr_iw_empty_reads(struct rr_iw_ep *ep)
{
	const struct rr_iw_read *r;

	while ((r = rr_ring_first(&ep->reads)) && r->empty && r->end <= ep->tx.sent) {
		rr_ep_complete(&ep->base, RR_WC_READ, r->token, 0);
		rr_ring_pop(&ep->reads, 1);
	}
}

static void finish_read_request(struct rr_iw_ep *ep, struct rr_iw_wr *wr)
{
	wr->end = ep->tx.framed;
	ep->sq_framed++;
	ep->sq_reads++;
	finish_message(&ep->tx);
}

/* Handles a zero-length Read without sending it.  The peer would check nothing
 * [RFC 5040 §7.2], and siw answers a zero-length Read with the previous Read's
 * data. */
static void frame_empty_read(struct rr_iw_ep *ep, struct rr_iw_wr *wr)
{
	*(struct rr_iw_read *)rr_ring_push(&ep->reads) = (struct rr_iw_read){
	        .token = wr->token, .empty = true, .end = ep->tx.framed};
	finish_read_request(ep, wr);
	rr_iw_empty_reads(ep);
}

static void frame_read(struct rr_iw_ep *ep, struct rr_iw_wr *wr)
{
	const struct rr_sge *g = rr_ring_at(&ep->sges, wr->sge - ep->sge_first);
	uint8_t body[RR_READ_REQUEST];
	const struct rr_stag *sink;
	struct rr_iw_read *r;

	if (rr_stags_add(&ep->stags, RR_STAG_SINK, g->base, g->len, 0, &sink)) {
		rr_iw_no_memory(ep);
		return;
	}
	r = rr_ring_push(&ep->reads);
	*r = (struct rr_iw_read){
	        .sge = *g,
	        .token = wr->token,
	        .to = sink->to,
	        .stag = sink->stag,
	};
	rr_read_request_put(body, &(struct rr_read_request){
	                                  .sink_stag = r->stag,
	                                  .sink_to = r->to,
	                                  .size = wr->len,
	                                  .src_stag = wr->handle,
	                                  .src_to = wr->offset,
	                          });
	frame_untagged(&ep->tx, RR_OP_READ_REQUEST, RR_QN_READ, body, sizeof(body));
	finish_read_request(ep, wr);
}

/* A zero-length Read is not checked [RFC 5040 §5.2, §7.2]. */
enum rr_term_error rr_iw_read_source(const struct rr_iw_ep *ep,
                                     const struct rr_read_request *req, uint8_t **ret)
{
	const struct rr_stag *s;

	*ret = NULL;
	if (!req->size)
		return RR_TERM_COUNT;
	s = rr_stags_find(&ep->stags, req->src_stag);
	if (!s || s->kind != RR_STAG_REGION)
		return RR_TERM_RDMAP_STAG;
	if (req->src_to > UINT64_MAX - req->size)
		return RR_TERM_RDMAP_WRAP;
	if (req->src_to < s->to || req->src_to - s->to > s->len ||
	    req->size > s->len - (req->src_to - s->to))
		return RR_TERM_RDMAP_BOUNDS;
	if (!(s->access & RR_ACCESS_REMOTE_READ))
		return RR_TERM_RDMAP_ACCESS;
	*ret = s->base + (req->src_to - s->to);
	return RR_TERM_COUNT;
}

/* Frames one segment of a Read Response.  The queued request always describes the
 * octets still to be sent, as a Terminate in mid-message requires.  [RFC 5040 §4.8] */
static void frame_response(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;
	struct rr_iw_resp *r = rr_ring_first(&ep->resps);
	struct rr_sge src = {.len = RR_MIN(max_payload(tx, true), r->req.size)};
	bool last = src.len == r->req.size;
	struct tx_seg s = make_seg(RR_OP_READ_RESPONSE, true, last);
	uint8_t raw[RR_READ_REQUEST], *base;
	enum rr_term_error e = rr_iw_read_source(ep, &r->req, &base);

	if (e != RR_TERM_COUNT) {
		rr_read_request_put(raw, &r->req);
		rr_iw_fault(ep, e, r->ddp, sizeof(r->ddp), sizeof(r->ddp) + sizeof(raw),
		            raw);
		return;
	}
	src.base = base;
	s.h.stag = r->req.sink_stag;
	s.h.to = r->req.sink_to;
	s.sge = &src;
	s.n = 1;
	s.len = src.len;
	s.stag = r->req.src_stag;
	emit_fpdu(tx, &s);
	r->req.size -= src.len;
	r->req.src_to += src.len;
	r->req.sink_to += src.len;
	if (!last)
		return;
	rr_ring_pop(&ep->resps, 1);
	finish_message(tx);
}

static void frame_empty_write(struct rr_iw_tx *tx)
{
	const struct tx_seg s = make_seg(RR_OP_WRITE, true, true);

	emit_fpdu(tx, &s);
}

static void frame_rtr(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;
	uint8_t body[RR_READ_REQUEST] = {0};
	struct rr_iw_read *r;

	if (ep->agreed.rtr == RR_RTR_WRITE) {
		frame_empty_write(tx);
		return;
	}
	/* The Response to this Read adds no completion, because nobody posted it. */
	if (rr_ring_reserve(&ep->reads, 1)) {
		rr_iw_no_memory(ep);
		return;
	}
	r = rr_ring_push(&ep->reads);
	*r = (struct rr_iw_read){.rtr = true};
	frame_untagged(tx, RR_OP_READ_REQUEST, RR_QN_READ, body, sizeof(body));
}

void rr_iw_tx_no_responses(struct rr_iw_ep *ep)
{
	rr_ring_pop(&ep->resps, ep->resps.count);
	if (ep->tx.source == RR_IW_RESP)
		finish_message(&ep->tx);
}

/* ---- choice of the next message ---- */

static bool has_waiting_wr(const struct rr_iw_ep *ep)
{
	return ep->sq_framed < ep->sq.count;
}

/* Returns true if the next work request is a Read that must wait because as many Reads
 * as ORD allows are in progress. */
static bool is_read_stalled(const struct rr_iw_ep *ep)
{
	const struct rr_iw_wr *wr = rr_ring_at(&ep->sq, ep->sq_framed);

	return wr->kind == RR_POST_READ && ep->reads.count >= ep->agreed.ord;
}

static enum rr_iw_source choose_source(const struct rr_iw_ep *ep)
{
	bool wr = has_waiting_wr(ep) && !is_read_stalled(ep);

	if (ep->tx.source != RR_IW_NONE)
		return ep->tx.source;
	if (ep->resps.count && (ep->tx.resp_turn || !wr))
		return RR_IW_RESP;
	return wr ? RR_IW_WR : RR_IW_NONE;
}

static void frame_wr(struct rr_iw_ep *ep)
{
	struct rr_iw_wr *wr = rr_ring_at(&ep->sq, ep->sq_framed);

	switch (wr->kind) {
	case RR_POST_SEND:
	case RR_POST_WRITE:
		frame_queued(ep, wr);
		break;
	case RR_POST_READ:
		if (wr->len)
			frame_read(ep, wr);
		else
			frame_empty_read(ep, wr);
		break;
	}
}

/* Frames the first message that is due besides work requests and Read Responses.
 * Returns false if there is none, or if it must wait for the end of a message. */
static bool frame_due(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;

	if (tx->due & RR_IW_DUE_RTR) {
		tx->due &= ~RR_IW_DUE_RTR;
		frame_rtr(ep);
	} else if (tx->due & RR_IW_DUE_TERM) {
		tx->due &= ~RR_IW_DUE_TERM;
		frame_untagged(tx, RR_OP_TERMINATE, RR_QN_TERMINATE, tx->term_body,
		               tx->term_len);
		tx->mute = true;
	} else if (tx->due && tx->source == RR_IW_NONE) { /* only between messages */
		tx->due &= ~RR_IW_DUE_KICK;
		frame_empty_write(tx);
	} else {
		return false;
	}
	return true;
}

/* Returns true if there is a message to be framed, now or later. */
static bool has_message(const struct rr_iw_ep *ep)
{
	return ep->tx.due || ep->resps.count || has_waiting_wr(ep);
}

/* Frames one FPDU.  Returns false if nothing can be framed now. */
static bool frame_one(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;

	if (tx->mute || !tx->open)
		return false;
	if (tx->due && frame_due(ep))
		return true;
	tx->source = choose_source(ep);
	switch (tx->source) {
	case RR_IW_NONE:
		return false;
	case RR_IW_WR:
		frame_wr(ep);
		break;
	case RR_IW_RESP:
		frame_response(ep);
		break;
	}
	return true;
}

bool rr_iw_tx_busy(const struct rr_iw_ep *ep)
{
	const struct rr_iw_tx *tx = &ep->tx;

	if (tx->head != tx->tail)
		return true;
	if (tx->mute)
		return false;
	if (tx->open && (tx->due || ep->resps.count))
		return true;
	if (!has_waiting_wr(ep))
		return false;
	return (!ep->rx.fin && !ep->rx.discarding) ||
	       (tx->open && !is_read_stalled(ep));
}

/* ---- the socket ---- */

static void complete_written(struct rr_iw_ep *ep)
{
	while (ep->sq_framed) {
		const struct rr_iw_wr *wr = rr_ring_first(&ep->sq);

		if (wr->end > ep->tx.sent)
			return;
		if (wr->kind == RR_POST_READ) /* completes when data is placed */
			ep->sq_reads--;
		else
			rr_ep_complete(&ep->base,
			               wr->kind == RR_POST_SEND ? RR_WC_SEND
			                                        : RR_WC_WRITE,
			               wr->token, 0);
		rr_ring_pop(&ep->sges, wr->nsge);
		ep->sge_first += wr->nsge;
		rr_ring_pop(&ep->sq, 1);
		ep->sq_framed--;
	}
	rr_iw_empty_reads(ep);
}

/* Removes @n written octets from the pieces. */
static void advance_sent(struct rr_iw_ep *ep, size_t n)
{
	struct rr_iw_tx *tx = &ep->tx;

	tx->sent += n;
	ep->base.count.bytes_sent += n;
	while (n) {
		struct iovec *v = &tx->buf->v[tx->head];

		if (n < v->iov_len) {
			v->iov_base = (uint8_t *)v->iov_base + n;
			v->iov_len -= n;
			break;
		}
		n -= v->iov_len;
		tx->head++;
	}
	if (tx->head == tx->tail)
		reset_pieces(tx);
	complete_written(ep);
}

static void handle_write_error(struct rr_iw_ep *ep, int err)
{
	rr_iw_tx_drop(ep);
	ep->rx.reset = err == -ECONNRESET;
	do /* a received Terminate or close gives a better reason */
		rr_iw_rx_run(ep);
	while (ep->state != RR_IW_DEAD && ep->rx.more);
	if (ep->state == RR_IW_DEAD)
		return;
	rr_ep_set_reason(&ep->base, err == -ETIMEDOUT ? err : -ECONNRESET,
	                 "cannot send: %s", strerror(-err));
	rr_iw_dead(ep);
}

static bool frame_ahead(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;

	if (ensure_tx_buf(ep)) {
		rr_iw_no_memory(ep);
		return false;
	}
	while (has_message(ep) && has_tx_room(tx) && frame_one(ep))
		if (ep->state == RR_IW_DEAD)
			return false;
	return tx->head != tx->tail;
}

/* Does the work of rr_iw_tx_run() if rr_iw_tx_busy() returns true. */
static int write_frames(struct rr_iw_ep *ep)
{
	struct rr_iw_tx *tx = &ep->tx;
	uint64_t stop = tx->sent + TURN_MAX;
	ssize_t n;

	while (frame_ahead(ep)) {
		if (tx->sent >= stop) {
			tx->blocked = true; /* gives other connections a turn */
			return -EAGAIN;
		}
		n = rr_sock_writev(ep->fd, tx->buf->v + tx->head, tx->tail - tx->head);
		ep->base.count.syscalls++;
		if (n < 0 && n != -EAGAIN) {
			handle_write_error(ep, (int)n);
			return 0;
		}
		if (n > 0)
			advance_sent(ep, (size_t)n);
		if (tx->head != tx->tail) {
			tx->blocked = true;
			return -EAGAIN;
		}
	}
	complete_written(ep); /* including zero-length Reads */
	return_tx_buf(ep);
	tx->blocked = false;
	return 0;
}

int rr_iw_tx_run(struct rr_iw_ep *ep)
{
	if (rr_iw_tx_busy(ep))
		return write_frames(ep);
	ep->tx.blocked = false;
	return 0;
}
