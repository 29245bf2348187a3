/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responses received as RDMA2_XMOPT_RESP.                          [ext §5.5, §5.7]
 *
 * A response is accepted only if it has one item for each direction of its request, of a
 * kind that the direction allows.  Each item that was placed by Send is copied once, to
 * its destination.  If the user allows lending, an item that can stay in its Receive
 * buffer is lent instead, until the call is released.  All memory that the request
 * advertised is fenced, even if the response is faulty.
 */
#include "conn/core.h"

struct rr_call_state *rr_rtr_awaiting(const struct rr_conn *c, uint32_t xid)
{
	struct rr_call_state *s = rr_call_sent(c, xid);

	/* A group is sent at once, so that its call waits. */
	return s && s->rtr && !s->rtr->plain ? s : NULL;
}

void rr_rtr_response_faulty(struct rr_conn *c, uint32_t xid)
{
	struct rr_call_state *s = rr_rtr_awaiting(c, xid);

	if (!s)
		return;
	rr_rtr_unreserve(c, s, 0);
	if (s->rtr->reported)
		rr_call_end(c, s, -EPROTO);
	else
		s->rtr->reported = true;
}

/* -- checks ---------------------------------------------------------------- */

/* Returns true if the segments @r are those that we sent, @k, filled from the front. */
static bool match_segments(const struct rr_rtr_header *ours, const struct rr_chunk *k,
                           const struct rr_rtr_header *theirs, const struct rr_chunk *r)
{
	bool open = false;

	if (k->count != r->count)
		return false;
	for (uint32_t i = 0; i < k->count; i++) {
		const struct rr_segment *a = &ours->seg[k->first + i];
		const struct rr_segment *b = &theirs->seg[r->first + i];

		if (a->handle != b->handle || a->offset != b->offset ||
		    b->length > a->length || (open && b->length))
			return false;
		open = open || b->length < a->length;
	}
	return true;
}

/* Returns true if a direction may have this result. */
static bool allows_result(const struct rr_rtr_header *ours, const struct rr_rtr_dir *d,
                          const struct rr_rtr_header *theirs,
                          const struct rr_rtr_item *it)
{
	if (it->type == XMDTYPE_EXRW)
		return d->type != XMDTYPE_TBSN &&
		       match_segments(ours, &d->where, theirs, &it->where);
	if (it->type == XMDTYPE_TBSN)
		return d->type != XMDTYPE_EXRW;
	/* The decoder refuses all others. */
	RR_ASSERT(it->type == XMDTYPE_TOOSHORT || it->type == XMDTYPE_NOITEM);
	return true;
}

static bool match_response(const struct rr_call_state *s,
                           const struct rr_rtr_incoming *in)
{
	const struct rr_rtr_header *ours = &s->rtr->h, *theirs = &in->h;

	if (theirs->n_items != ours->n_dirs)
		return false;
	for (uint32_t i = 0; i < ours->n_dirs; i++)
		if (!allows_result(ours, &ours->dir[i], theirs, &theirs->item[i]))
			return false;
	if (!theirs->has_reply)
		return true;
	return ours->has_reply && !rr_rtr_payload_bytes(in) &&
	       match_segments(ours, &ours->reply, theirs, &theirs->reply);
}

/* -- results --------------------------------------------------------------- */

/* Lends result @i in its Receive buffer and returns true, if that is allowed and
 * possible.  Otherwise copies the result to its destination. */
static bool place_result(struct rr_conn *c, const struct rr_rtr_incoming *in,
                         uint32_t i, struct rr_dest *d)
{
	const struct rr_rtr_fragment *f =
	        d->lend ? rr_rtr_in_place(&c->rtr.own, &in->place, i) : NULL;

	c->count.bytes_placed += d->ret_len;
	if (f) {
		d->ret_base = in->rbuf[f->number]->data + f->at;
		return true;
	}
	rr_rtr_copy_item(in, i, d->base);
	c->count.bytes_copied += d->ret_len;
	return false;
}

/* Fills in destination @i from the response.  Returns true if the result is lent. */
static bool take_result(struct rr_conn *c, const struct rr_rtr_incoming *in, uint32_t i,
                        struct rr_dest *d)
{
	const struct rr_rtr_item *it = &in->h.item[i];
	bool sent = it->type == XMDTYPE_TBSN;

	d->ret_used = (sent || it->type == XMDTYPE_EXRW) && it->length;
	d->ret_len = d->ret_used ? it->length : 0;
	d->ret_offered = d->len > 0;
	if (it->type == XMDTYPE_EXRW)
		c->count.bytes_write_chunk += it->length;
	return sent && it->length && place_result(c, in, i, d);
}

/* Takes the Payload stream: the Receive buffer of a single transmission, or a copy.
 * Returns the call's status. */
static int take_payload(struct rr_conn *c, struct rr_call_state *s,
                        struct rr_rtr_incoming *in)
{
	size_t len = (size_t)rr_rtr_payload_bytes(in);

	if (in->n == 1) {
		s->reply = in->rbuf[0]->data + in->got[0].header;
		s->reply_rbuf = in->rbuf[0];
		in->rbuf[0] = NULL;
		c->count.bytes_inline += len;
	} else {
		s->reply_buf.charged = true;
		if (rr_mbuf_alloc(&c->quota, &s->reply_buf, RR_MAX(len, (size_t)4)))
			return -ENOMEM;
		rr_rtr_copy_payload(in, s->reply_buf.p);
		s->reply = s->reply_buf.p;
		c->count.bytes_continued += len;
	}
	s->reply_len = len;
	return rr_answer_is_reply(s->reply, len, in->xid) ? RR_CALL_OK : -EBADMSG;
}

static int take_reply_chunk(struct rr_conn *c, struct rr_call_state *s,
                            const struct rr_rtr_incoming *in)
{
	s->reply = s->chunks->reply.p;
	s->reply_len = (size_t)in->h.reply.length;
	c->count.reply_chunks_used++;
	c->count.bytes_reply_chunk += s->reply_len;
	return RR_CALL_OK;
}

/* Returns true if a result placed by Send is longer than its destination; the peer does
 * not know the destination's length.  In that case sets the call's error to
 * RDMA2_ERR_WRITE_RESOURCE, as for a Write chunk that is too short. */
static bool exceeds_dest(struct rr_call_state *s, const struct rr_rtr_incoming *in)
{
	for (uint32_t i = 0; i < in->h.n_items; i++) {
		uint32_t len = in->h.item[i].length;

		if (in->h.item[i].type != XMDTYPE_TBSN || len <= s->call->dests[i].len)
			continue;
		s->call->error =
		        (struct rr_error){RDMA2_ERR_WRITE_RESOURCE, {i + 1, len}};
		rr_recover_note(s);
		return true;
	}
	return false;
}

/* Takes the results and the Payload stream.  Returns the call's status, and sets @lent if
 * a result is lent. */
static int take_all(struct rr_conn *c, struct rr_call_state *s,
                    struct rr_rtr_incoming *in, bool *lent)
{
	if (!match_response(s, in))
		return -EPROTO;
	if (exceeds_dest(s, in))
		return RR_CALL_REMOTE_ERROR;
	for (uint32_t i = 0; i < in->h.n_items; i++)
		*lent |= take_result(c, in, i, &s->call->dests[i]);
	return in->h.has_reply ? take_reply_chunk(c, s, in) : take_payload(c, s, in);
}

/* Takes the response.  The call keeps it if results are lent. */
static void finish_response(struct rr_conn *c, struct rr_call_state *s,
                            struct rr_rtr_incoming *in)
{
	bool lent = false;
	int status;

	rr_call_event(s, RR_CALL_EV_ANSWER);
	status = take_all(c, s, in, &lent);
	if (status != RR_CALL_OK)
		c->count.discards++;
	rr_conn_trace(c, RR_TRACE_REPLY_RECEIVED, in->xid, 4, s->reply_len, 0);
	if (lent)
		s->rtr->lent = in;
	else
		rr_rtr_incoming_free(c, in);
	rr_call_end(c, s, status);
}

void rr_rtr_take_response(struct rr_conn *c, struct rr_rtr_incoming *in)
{
	struct rr_call_state *s = rr_rtr_awaiting(c, in->xid);
	struct rr_rtr_error fault;
	int err;

	if (!s) {
		rr_call_drained(c, in->xid);
		rr_rtr_incoming_free(c, in);
		return;
	}
	err = rr_rtr_place(&c->rtr.own, &in->h, in->got, &in->place, &fault);
	if (!err) {
		finish_response(c, s, in);
		return;
	}
	rr_rtr_name(in, &fault);
	c->count.discards++;
	rr_rtr_report(c, true, &fault);
	rr_rtr_response_faulty(c, in->xid);
	rr_rtr_incoming_free(c, in);
}
