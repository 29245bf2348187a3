/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's replies.                                 [v2 §4.4, §6.4, K9]
 *
 * First every item goes to the Write chunk of its turn; then what is left
 * goes along in the first way that fits: one message, the Reply chunk,
 * several messages.  A Write chunk too small for its item, or no way to carry
 * the rest, is reported instead, before anything has been written.
 *
 * Writes are queued at once, the Send later, when its turn and a credit have
 * come: so it always follows them.  Only the last message of a reply may
 * invalidate a handle [K16].  The request ends when every Write and Send has
 * completed, for until then the user's memory is lent.
 */
#include "conn/core.h"

/* The connection is over, or a rule of ours is broken: no reply can be made. */
static void give_up(struct rr_conn *c, struct rr_request_state *q,
                    const struct rr_error *e)
{
	if (rr_conn_live(c)) {
		rr_request_answer_error(c, q, e);
		rr_request_end(c, q, -EMSGSIZE);
	} else {
		rr_request_end(c, q, c->error ? c->error : -ECONNRESET);
	}
}

/* -- planning -------------------------------------------------------------------- */

struct reply_plan {
	const struct rr_piece *item[RR_WIRE_MAX_WRITES]; /* NULL: chunk unused */
	bool special;
};

/* A chunk without segments is no place for an item: it stays inline.  So does
 * what RPCSEC_GSS protects. [K18] */
static bool takes_item(const struct rr_request_state *q, unsigned chunk,
                       const struct rr_piece *k)
{
	return !q->req.unreduced && chunk < q->req.n_writes &&
	       (q->lists->writes[chunk].count || !k->len);
}

/* Items to chunks, the rest into the stream. */
static bool distribute(struct rr_request_state *q, const struct rr_piece *pieces,
                       unsigned n, struct reply_plan *p, struct rr_error *e)
{
	unsigned next = 0;

	rr_stream_init(&q->stream);
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

/* With the lists of the reply: what the Call offered, nothing to read. */
static size_t header_bytes(const struct rr_conn *c, const struct rr_request_state *q)
{
	return rr_xmit_header_bytes(c, q->lists);
}

static bool may_continue(const struct rr_conn *c)
{
	if (!c->version->continues)
		return false;
	return c->cfg.role == RR_CONN_SERVER || c->cfg.rvrsdir >= RDMA2_RVRSDIR_CONT;
}

/* For what the Write chunks do not take. [K9] */
static bool choose_format(const struct rr_conn *c, struct rr_request_state *q,
                          struct reply_plan *p, struct rr_error *e)
{
	size_t left = q->stream.left;

	q->reply_htype = RDMA2_MSG;
	if (q->lists) {
		q->lists->has_reply =
		        q->req.has_reply_chunk && c->version->returns_reply_chunk;
		q->lists->n_reads = 0;
		q->lists->inv_handle = 0;
	}
	if (header_bytes(c, q) + left <= c->props.send_inline)
		return true;
	if (q->req.has_reply_chunk && q->req.reply_chunk_bytes >= left) {
		q->lists->has_reply = true;
		if (header_bytes(c, q) <= rr_props_least_inline(c)) {
			q->reply_htype = RDMA2_NOMSG;
			p->special = true;
			return true;
		}
		q->lists->has_reply = false;
	}
	if (may_continue(c)) /* the Write list fits, or the Call had been refused */
		return true;
	*e = (struct rr_error){RDMA2_ERR_REPLY_RESOURCE,
	                       {(uint32_t)RR_MIN(left, UINT32_MAX)}};
	return false;
}

/* -- writing ----------------------------------------------------------------------- */

/* One segment's share of @stream; false: no memory. */
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

/* Fills the chunk from the front and leaves in it what was written. [K6] */
static bool write_chunk(struct rr_conn *c, struct rr_request_state *q,
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
		if (!write_chunk(c, q, &q->lists->writes[i], &s))
			return false;
	}
	return true;
}

/* Version 1 returns the Reply chunk also unused. */
static void return_unused(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_stream nothing;

	rr_stream_init(&nothing);
	(void)write_chunk(c, q, &q->lists->reply, &nothing); /* takes no memory */
}

static bool write_all(struct rr_conn *c, struct rr_request_state *q,
                      const struct reply_plan *p)
{
	if (!write_items(c, q, p))
		return false;
	if (p->special) {
		c->count.bytes_reply_chunk += q->stream.left;
		return write_chunk(c, q, &q->lists->reply, &q->stream);
	}
	if (q->lists && q->lists->has_reply)
		return_unused(c, q);
	return true;
}

static void trace_reply(struct rr_conn *c, const struct rr_request_state *q,
                        const struct reply_plan *p)
{
	size_t left = q->stream.left;
	bool simple = header_bytes(c, q) + left <= c->props.send_inline;
	uint64_t written = 0;

	for (unsigned i = 0; i < q->req.n_writes; i++)
		written += p->item[i] ? p->item[i]->len : 0;
	rr_conn_trace(c, RR_TRACE_REPLY_SENT, q->req.xid,
	              p->special ? 2
	              : simple   ? 0
	                         : 1,
	              left, written);
	if (p->special)
		return;
	if (simple)
		c->count.bytes_inline += left;
	else
		c->count.bytes_continued += left;
}

void rr_conn_reply(struct rr_conn *c, struct rr_request *r,
                   const struct rr_piece *pieces, unsigned n_pieces, rr_time now)
{
	struct rr_request_state *q = r->priv;
	struct rr_error e = {.code = RDMA2_ERR_SYSTEM};
	struct reply_plan p = {0};

	c->now = now;
	RR_ASSERT(q->with_user);
	q->with_user = false;
	if (!rr_conn_live(c) || !distribute(q, pieces, n_pieces, &p, &e) ||
	    !choose_format(c, q, &p, &e)) {
		give_up(c, q, &e);
		return;
	}
	rr_request_move(q, RR_REQUEST_EV_REPLY, RR_REQUEST_REPLYING);
	c->count.request_replies++;
	trace_reply(c, q, &p);
	if (!write_all(c, q, &p)) {
		rr_conn_fail(c, -ENOMEM); /* half of it may be under way [v2 §7.4] */
		q->all_sent = true;
		rr_reply_settle(c, q);
		return;
	}
	rr_list_push(&c->tx.replies, &r->link);
}

/* -- sending --------------------------------------------------------------- */

static struct rr_xmit *next_message(struct rr_conn *c, struct rr_request_state *q)
{
	size_t len = 0;
	struct rr_xmit *x;
	uint32_t flags = RDMA2_F_RESPONSE;

	if (q->reply_htype == RDMA2_NOMSG)
		q->all_sent = true;
	else
		len = rr_tx_part(c, q->stream.left, header_bytes(c, q), &q->all_sent);
	if (!q->all_sent)
		flags |= RDMA2_F_MORE;
	x = rr_xmit_message(c, q->reply_htype, flags, q->req.xid,
	                    q->all_sent ? q->lists : NULL, &q->stream, len);
	if (x && q->all_sent)
		x->inv_handle = q->inv_handle;
	return x;
}

bool rr_reply_transmit(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_xmit *x = next_message(c, q);

	if (!x) {
		rr_conn_fail(c, -ENOMEM);
		return true;
	}
	rr_list_del(&q->req.link);
	x->request = q;
	q->xmits_out++;
	if (q->all_sent) /* the credit word counts it no more */
		rr_request_sent(c, q);
	rr_xmit_send(c, x);
	c->tx.reply = q->all_sent ? NULL : q;
	return true;
}

void rr_reply_settle(struct rr_conn *c, struct rr_request_state *q)
{
	RR_ASSERT(q->phase == RR_REQUEST_REPLYING);
	rr_request_event(q, RR_REQUEST_EV_CARRY);
	if (q->all_sent && !q->xmits_out)
		rr_request_end(c, q, rr_conn_live(c) ? 0 : -ECONNRESET);
}
