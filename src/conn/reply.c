/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's replies.                                 [v2 §4.4, §6.4, K9]
 *
 * Items are written to the Write chunks in sequence.  The rest of the reply is sent in
 * one message, in the Reply chunk or in several messages: the first of these that is
 * possible.  If none is possible, or if a Write chunk is too small for its item, an
 * error is sent instead, before anything has been written.
 *
 * If the peer pulls replies, a long reply is exposed instead of continued (rprc/).
 *
 * Writes are queued at once.  The Send is queued later, when it is the reply's turn and
 * there is a credit, so the Send always follows the Writes.  Only the last message of a
 * reply may invalidate a handle [K16].  The user's memory is lent until every Write, and
 * every Send that gathers it, has completed; then the request ends.
 */
#include "conn/core.h"

void rr_reply_fail(struct rr_conn *c, struct rr_request_state *q,
                   const struct rr_error *e)
{
	if (rr_conn_live(c)) {
		rr_request_answer_error(c, q, e);
		rr_request_end(c, q, -EMSGSIZE);
	} else {
		rr_request_end(c, q, c->error ? c->error : -ECONNRESET);
	}
}

/* -- planning -------------------------------------------------------------- */

struct reply_plan {
	/* Item written to each Write chunk of the request; NULL = chunk unused. */
	const struct rr_piece *item[RR_WIRE_MAX_WRITES];
	bool simple;  /* the stream is sent in one message */
	bool special; /* the stream is sent in the Reply chunk */
};

/* Returns true if item @k is to be written to Write chunk number @chunk.  An item stays
 * in the payload if the chunk has no segments, or if RPCSEC_GSS protects the reply.
 * [K18] */
static bool takes_item(const struct rr_request_state *q, unsigned chunk,
                       const struct rr_piece *k)
{
	return !q->req.unreduced && chunk < q->req.n_writes &&
	       (q->lists->writes[chunk].count || !k->len);
}

/* Assigns items to Write chunks, and adds everything else to the stream.  Returns false
 * if the caller must send error @e instead of the reply. */
static bool place_items(struct rr_request_state *q, const struct rr_piece *pieces,
                        unsigned n, struct reply_plan *p, struct rr_error *e)
{
	unsigned next = 0;

	rr_stream_init(&q->stream);
	for (unsigned i = 0; i < q->req.n_writes; i++)
		p->item[i] = NULL;
	for (unsigned i = 0; i < n; i++) {
		const struct rr_piece *k = &pieces[i];
		unsigned chunk = k->item ? next++ : q->req.n_writes;

		if (takes_item(q, chunk, k)) {
			if (k->len > q->lists->writes[chunk].length) {
				*e = (struct rr_error){
				        RDMA2_ERR_WRITE_RESOURCE,
				        {chunk + 1,
				         (uint32_t)RR_MIN(k->len, UINT32_MAX)}};
				return false; /* [K10] */
			}
			p->item[chunk] = k;
		} else if (!rr_stream_add(&q->stream, k->base, k->len,
		                          k->item ? rr_pad(k->len) : 0)) {
			return false;
		}
	}
	return q->stream.left >= RR_RPC_MIN && !(q->stream.left & 3);
}

/* Returns the header of the reply's only or last message, which returns the Call's chunk
 * lists except for the Read list. */
static struct rr_head reply_head(const struct rr_request_state *q)
{
	return (struct rr_head){.family = q->family,
	                        .xid = q->req.xid,
	                        .htype = q->reply_htype,
	                        .flags = RDMA2_F_RESPONSE,
	                        .lists = q->lists};
}

static size_t reply_header_bytes(const struct rr_conn *c,
                                 const struct rr_request_state *q)
{
	const struct rr_head h = reply_head(q);

	return q->family->header_bytes(c, &h);
}

static bool may_continue_reply(const struct rr_conn *c)
{
	if (!c->version->continues)
		return false;
	return c->cfg.role == RR_CONN_SERVER || c->cfg.rvrsdir >= RDMA2_RVRSDIR_CONT;
}

/* Returns the number of messages that a continued reply takes. */
static size_t count_reply_parts(const struct rr_conn *c,
                                const struct rr_request_state *q)
{
	const struct rr_head h = reply_head(q);
	size_t room = (c->props.send_inline - rr_tx_part_header(c, &h)) & ~(size_t)3;
	size_t last = c->props.send_inline - reply_header_bytes(c, q);

	return 1 + (q->stream.left - last + room - 1) / room;
}

/* Returns true if the reply may be continued, in at most @most messages; 0 = no
 * limit. */
static bool continues_within(const struct rr_conn *c, const struct rr_request_state *q,
                             size_t most)
{
	return may_continue_reply(c) && (!most || count_reply_parts(c, q) <= most);
}

/* Returns the maximum number of messages in a continued reply; 0 = no limit.  By default
 * there is a limit only for a reply that may be exposed while no other one is. */
static size_t max_reply_parts(const struct rr_conn *c, const struct rr_request_state *q)
{
	uint32_t most = c->cfg.features.cont_hard_max;

	return !most && rr_rprc_may_expose(c) && rr_exposure_allows(c, q->stream.left)
	               ? RR_CONT_HARD_MAX
	               : most;
}

/* Chooses to send the reply in the Reply chunk, if possible. */
static bool choose_reply_chunk(const struct rr_conn *c, struct rr_request_state *q,
                               struct reply_plan *p)
{
	if (!q->req.has_reply_chunk || q->req.reply_chunk_bytes < q->stream.left)
		return false;
	q->lists->has_reply = true;
	q->reply_htype = RDMA2_NOMSG;
	if (reply_header_bytes(c, q) <= rr_props_least_inline(c)) {
		p->special = true;
		return true;
	}
	q->reply_htype = RDMA2_MSG;
	q->lists->has_reply = false;
	return false;
}

/* Chooses the way to send a reply that fits neither in one message nor in the Reply
 * chunk, by means that the feature RPRC adds.                        [D1, ext §3.3] */
static bool choose_exposure(struct rr_conn *c, struct rr_request_state *q)
{
	if (!rr_rprc_may_expose(c))
		return false;
	if (continues_within(c, q, c->cfg.features.cont_max_sends))
		return true;
	if (!rr_exposure_begin(c, q))
		return false;
	q->reply_htype = RDMA2_NOMSG;
	return true;
}

static bool fits_inline(const struct rr_conn *c, const struct rr_request_state *q)
{
	return reply_header_bytes(c, q) + q->stream.left <= c->props.send_inline;
}

/* Leaves out the Write chunks that the reply does not use: they have no segments, and
 * are absent at the end of the list.                                    [ext §6.3] */
static void omit_unused_chunks(struct rr_request_state *q, const struct reply_plan *p)
{
	struct rr_lists *l = q->lists;

	for (uint16_t i = 0; i < l->n_writes; i++)
		if (!p->item[i] || !p->item[i]->len)
			l->writes[i].count = 0;
	while (l->n_writes && !l->writes[l->n_writes - 1].count)
		l->n_writes--;
}

static struct rr_error reply_too_long(const struct rr_request_state *q)
{
	return (struct rr_error){RDMA2_ERR_REPLY_RESOURCE,
	                         {(uint32_t)RR_MIN(q->stream.left, UINT32_MAX)}};
}

/* Chooses how to send the stream.  Returns false if the stream cannot be sent, and the
 * caller must send error @e instead. [K9] */
static bool choose_reply_format(struct rr_conn *c, struct rr_request_state *q,
                                struct reply_plan *p, struct rr_error *e)
{
	q->reply_htype = RDMA2_MSG;
	if (q->lists) {
		q->lists->has_reply =
		        q->req.has_reply_chunk && c->version->returns_reply_chunk;
		q->lists->n_reads = 0;
		q->lists->inv_handle = 0;
		if (q->family->omits_unused)
			omit_unused_chunks(q, p);
	}
	if (c->cfg.features.reply_chunk_first && choose_reply_chunk(c, q, p))
		return true;
	p->simple = fits_inline(c, q);
	if (p->simple || choose_reply_chunk(c, q, p) || choose_exposure(c, q))
		return true;
	/* The Write list fits in the header, as checked by call_checks.c. */
	if (continues_within(c, q, max_reply_parts(c, q)))
		return true;
	*e = reply_too_long(q);
	return false;
}

/* -- writing --------------------------------------------------------------- */

/* Queues a Write of as much of @stream as fits in segment @g, and sets @g->length to
 * the length written.  Returns false if there is no memory. */
static bool write_segment(struct rr_conn *c, struct rr_request_state *q,
                          struct rr_segment *g, struct rr_stream *stream)
{
	size_t n = RR_MIN(stream->left, g->length);
	struct rr_xmit *x;

	g->length = (uint32_t)n;
	if (!n)
		return true;
	x = rr_xmit_write(c, stream, n);
	if (!x)
		return false;
	x->request = q;
	x->handle = g->handle;
	x->offset = g->offset;
	q->xmits_out++;
	rr_conn_trace(c, RR_TRACE_RDMA_WRITE, q->req.xid, g->handle, g->offset, n);
	rr_action_enqueue(c, &x->op, RR_ACT_WRITE);
	return true;
}

bool rr_reply_write_chunk(struct rr_conn *c, struct rr_request_state *q,
                          const struct rr_chunk *k, struct rr_stream *stream)
{
	for (uint16_t i = 0; i < k->count; i++)
		if (!write_segment(c, q, &q->lists->seg[k->first + i], stream))
			return false;
	return true;
}

static bool write_items(struct rr_conn *c, struct rr_request_state *q,
                        const struct reply_plan *p)
{
	for (unsigned i = 0; i < q->req.n_writes; i++) {
		struct rr_stream s;

		rr_stream_init(&s);
		if (p->item[i]) {
			(void)rr_stream_add(&s, p->item[i]->base, p->item[i]->len, 0);
			c->count.bytes_write_chunk += p->item[i]->len;
		}
		if (!rr_reply_write_chunk(c, q, &q->lists->writes[i], &s))
			return false;
	}
	return true;
}

/* Sets the segment lengths of an unused Reply chunk to 0.  In version 1 a Reply must
 * return the Reply chunk even if it is unused. */
static void return_reply_chunk(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_stream nothing;

	rr_stream_init(&nothing);
	(void)rr_reply_write_chunk(c, q, &q->lists->reply,
	                           &nothing); /* nothing is written, so
	                                                      * this cannot fail */
}

static bool write_chunks(struct rr_conn *c, struct rr_request_state *q,
                         const struct reply_plan *p)
{
	if (!write_items(c, q, p))
		return false;
	if (p->special) {
		c->count.bytes_reply_chunk += q->stream.left;
		return rr_reply_write_chunk(c, q, &q->lists->reply, &q->stream);
	}
	if (q->lists && q->lists->has_reply)
		return_reply_chunk(c, q);
	return true;
}

static void trace_reply(struct rr_conn *c, const struct rr_request_state *q,
                        const struct reply_plan *p)
{
	size_t left = q->stream.left;
	uint64_t written = 0;

	for (unsigned i = 0; i < q->req.n_writes; i++)
		written += p->item[i] ? p->item[i]->len : 0;
	rr_conn_trace(c, RR_TRACE_REPLY_SENT, q->req.xid,
	              q->exposure  ? 3
	              : p->special ? 2
	              : p->simple  ? 0
	                           : 1,
	              left, written);
	if (p->special || q->exposure)
		return;
	if (p->simple)
		c->count.bytes_inline += left;
	else
		c->count.bytes_continued += left;
}

/* Plans a reply by base header types.  Returns false if the caller must send error @e
 * instead. */
static bool plan_reply(struct rr_conn *c, struct rr_request_state *q,
                       const struct rr_piece *pieces, unsigned n, struct reply_plan *p,
                       struct rr_error *e)
{
	return rr_conn_live(c) && place_items(q, pieces, n, p, e) &&
	       choose_reply_format(c, q, p, e);
}

void rr_conn_reply(struct rr_conn *c, struct rr_request *r,
                   const struct rr_piece *pieces, unsigned n_pieces, rr_time now)
{
	struct rr_request_state *q = r->priv;
	struct rr_error e = {.code = RDMA2_ERR_SYSTEM};
	struct reply_plan p;

	c->now = now;
	p.simple = p.special = false;
	RR_ASSERT(q->with_user);
	q->with_user = false;
	if (q->rtr ? !rr_conn_live(c) || !rr_rtr_respond(c, q, pieces, n_pieces, &e)
	           : !plan_reply(c, q, pieces, n_pieces, &p, &e)) {
		rr_reply_fail(c, q, &e);
		return;
	}
	rr_request_move(q, RR_REQUEST_EV_REPLY, RR_REQUEST_REPLYING);
	c->count.request_replies++;
	if (!q->rtr)
		trace_reply(c, q, &p);
	if (!q->rtr && !write_chunks(c, q, &p)) {
		rr_conn_fail(c, -ENOMEM); /* some Writes may already be queued [v2
		                           * §7.4] */
		q->all_sent = true;
		rr_reply_settle(c, q);
		return;
	}
	if (!q->exposure)
		rr_list_push(&c->tx.replies, &r->link);
}

void rr_reply_exposed(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_exposure *e = q->exposure;

	if (rr_exposure_list(c, e)) {
		rr_list_push(&c->tx.replies, &q->req.link);
		return;
	}
	rr_exposure_drop(c, e);
	rr_reply_not_exposed(c, q);
}

void rr_reply_not_exposed(struct rr_conn *c, struct rr_request_state *q)
{
	q->reply_htype = RDMA2_MSG;
	q->unsendable = q->rtr || !continues_within(c, q, max_reply_parts(c, q));
	if (q->unsendable) {
		rr_reply_settle(c, q);
		return;
	}
	c->count.bytes_continued += q->stream.left;
	rr_list_push(&c->tx.replies, &q->req.link);
}

/* -- sending --------------------------------------------------------------- */

static struct rr_xmit *next_reply_message(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_head h = reply_head(q);
	struct rr_xmit *x;
	size_t len = 0;

	if (q->reply_htype == RDMA2_MSG)
		len = rr_tx_part(c, q->stream.left, &h);
	else
		rr_head_measure(c, &h);
	q->all_sent = !(h.flags & RDMA2_F_MORE);
	x = rr_xmit_message(c, &h, &q->stream, len);
	if (x && q->all_sent)
		x->inv_handle = q->inv_handle;
	return x;
}

bool rr_reply_transmit(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_xmit *x;

	if (q->rtr && !q->exposure)
		return rr_rtr_transmit_response(c, q);
	x = next_reply_message(c, q);
	if (!x) {
		rr_conn_fail(c, -ENOMEM);
		return true;
	}
	rr_list_del(&q->req.link);
	rr_xmit_of_request(x, q);
	if (q->all_sent) /* so that the credit word of this Send no longer counts the
	                  * request */
		rr_request_sent(c, q);
	if (q->exposure)
		rr_exposure_post(q->exposure);
	rr_xmit_send(c, x);
	c->tx.reply = q->all_sent ? NULL : q;
	rr_reply_settle(c, q);
	return true;
}

void rr_reply_settle(struct rr_conn *c, struct rr_request_state *q)
{
	RR_ASSERT(q->phase == RR_REQUEST_REPLYING);
	rr_request_event(q, RR_REQUEST_EV_CARRY);
	if (q->xmits_out || rr_exposure_holds(q))
		return;
	if (q->unsendable) {
		const struct rr_error e = reply_too_long(q);

		rr_reply_fail(c, q, &e);
	} else if (q->all_sent) {
		rr_request_end(c, q, rr_conn_live(c) ? 0 : -ECONNRESET);
	}
}
