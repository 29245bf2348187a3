/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responses sent as RDMA2_XMOPT_RESP.                              [ext §5.5, §5.8]
 *
 * Each result is matched with a direction of the request.  Then the group is planned.
 * If the group has too many transmissions, results that the Responder may write
 * explicitly are taken out of it, longest first.  If there are still too many, the
 * Payload stream is moved to the Reply chunk, or exposed if the peer pulls Replies.
 * No RDMA Write is posted before the group has its credits, because the plan may change
 * until then.
 */
#include "conn/core.h"

enum { NO_DIRECTION = UINT32_MAX };

/* -- matching results with directions -------------------------------------- */

static bool covers_message(const struct rr_rtr_set *s)
{
	return s->begin == 0 && s->end == UINT32_MAX;
}

/* Returns the set for a result, or NULL. */
static const struct rr_rtr_set *find_set(const struct rr_rtr_header *h,
                                         const struct rr_piece *k)
{
	if (!h->n_sets)
		return NULL;
	if (!k->position)
		return covers_message(&h->set[0]) ? &h->set[0] : NULL;
	for (uint32_t i = 0; i < h->n_sets; i++)
		if (k->position >= h->set[i].begin && k->position < h->set[i].end)
			return &h->set[i];
	return NULL;
}

/* Returns the number of the next direction for a result, or NO_DIRECTION. */
static uint32_t next_direction(const struct rr_rtr_header *h, struct rr_rtr_outgoing *o,
                               const struct rr_piece *k)
{
	const struct rr_rtr_set *s = find_set(h, k);

	for (uint32_t i = 0; s && i < s->count; i++)
		if (!o->result[s->first + i])
			return s->first + i;
	return NO_DIRECTION;
}

static bool has_room(const struct rr_rtr_dir *d, size_t len)
{
	return len <= d->where.length;
}

/* Returns true if the Responder places a result by Send where it has the choice. */
static bool prefers_send(const struct rr_conn *c, const struct rr_rtr_dir *d,
                         size_t len)
{
	bool able = rr_rtr_targets(c->rtr.peer) && !c->cfg.features.rtr_no_send_results;

	return !has_room(d, len) || (able && len <= c->cfg.features.tbsn_max);
}

/* Applies the table of [ext §5.5] to a result. */
static enum rr_wire_rtr_place choose_place(const struct rr_conn *c,
                                           const struct rr_rtr_dir *d, size_t len)
{
	if (len < d->min_length)
		return XMDTYPE_TOOSHORT;
	if (d->type == XMDTYPE_EXRW || (d->type == XMDTYPE_BYSIZE && len > d->above))
		return XMDTYPE_EXRW;
	if (d->type == XMDTYPE_CHOICE && !prefers_send(c, d, len))
		return XMDTYPE_EXRW;
	return XMDTYPE_TBSN;
}

struct placed_result {
	enum rr_wire_rtr_place type;
	uint32_t disp, length;
};

struct response_plan {
	struct rr_conn *c;
	struct rr_request_state *q;
	struct rr_rtr_outgoing *o;
	unsigned n; /* pieces */
	struct placed_result r[RR_WIRE_RTR_MAX_DIRS];
	bool in_chunk; /* the Payload stream is in the Reply chunk */
};

/* Matches every result.  Returns false, and fills @e, if a result is too long for the
 * segments that it must be written to. */
static bool match_results(struct response_plan *p, struct rr_error *e)
{
	const struct rr_rtr_header *h = &p->q->rtr->h;
	uint64_t pos = 0;

	for (unsigned i = 0; i < h->n_dirs; i++) {
		p->r[i] = (struct placed_result){.type = XMDTYPE_NOITEM};
		p->o->result[i] = NULL;
	}
	for (unsigned i = 0; i < p->n; i++) {
		const struct rr_piece *k = &p->o->pieces[i];
		uint32_t d = k->item && !p->q->req.unreduced
		                     ? next_direction(h, p->o, k)
		                     : NO_DIRECTION;

		if (d != NO_DIRECTION) {
			p->o->result[d] = k;
			p->r[d] = (struct placed_result){
			        choose_place(p->c, &h->dir[d], k->len), (uint32_t)pos,
			        (uint32_t)k->len};
			if (p->r[d].type == XMDTYPE_EXRW &&
			    !has_room(&h->dir[d], k->len)) {
				*e = (struct rr_error){RDMA2_ERR_WRITE_RESOURCE,
				                       {d + 1, (uint32_t)k->len}};
				return false;
			}
		}
		pos += k->len + (k->item ? rr_pad(k->len) : 0);
	}
	return pos <= UINT32_MAX;
}

/* -- the header ------------------------------------------------------------ */

/* Adds the segments of chunk @k of the request, cut to @len octets. */
static void add_cut_segments(const struct rr_rtr_header *from, const struct rr_chunk *k,
                             uint64_t len, struct rr_rtr_header *to)
{
	for (uint32_t i = 0; i < k->count; i++) {
		struct rr_segment g = from->seg[k->first + i];
		int err;

		g.length = (uint32_t)RR_MIN(g.length, len);
		len -= g.length;
		err = rr_rtr_add_segment(to, &g);
		RR_ASSERT(!err);
	}
}

/* Builds the header from the results, with the numbers in @o->plan if @numbers. */
static void build_response_header(struct response_plan *p, bool numbers)
{
	const struct rr_rtr_header *h = &p->q->rtr->h;
	struct rr_rtr_header *to = &p->o->h;
	unsigned item = 0, at = 0;
	int err;

	rr_rtr_init(to);
	for (uint32_t d = 0; d < h->n_dirs; d++) {
		const struct placed_result *r = &p->r[d];

		err = rr_rtr_add_item(to, r->disp, r->length, r->type);
		RR_ASSERT(!err);
		if (r->type == XMDTYPE_EXRW)
			add_cut_segments(h, &h->dir[d].where, r->length, to);
		if (r->type != XMDTYPE_TBSN)
			continue;
		for (unsigned k = 0; numbers && k < p->o->plan.tbsns[item]; k++) {
			err = rr_rtr_add_tbsn(to, p->o->plan.tbsn[at++]);
			RR_ASSERT(!err);
		}
		item++;
	}
	if (p->in_chunk) {
		rr_rtr_begin_reply(to);
		add_cut_segments(h, &h->reply, p->q->stream.left, to);
	}
}

/* -- planning -------------------------------------------------------------- */

/* Returns true if the piece is not in the Payload stream. */
static bool is_excised(const struct response_plan *p, const struct rr_piece *k)
{
	for (uint32_t d = 0; d < p->q->rtr->h.n_dirs; d++)
		if (p->o->result[d] == k)
			return p->r[d].type == XMDTYPE_EXRW ||
			       p->r[d].type == XMDTYPE_TBSN;
	return false;
}

static void stream_results(struct response_plan *p)
{
	struct rr_rtr_load *l = &p->o->load;

	rr_stream_init(&p->o->items);
	l->n_items = 0;
	for (uint32_t d = 0; d < p->q->rtr->h.n_dirs; d++) {
		const struct rr_piece *k = p->o->result[d];

		if (p->r[d].type != XMDTYPE_TBSN)
			continue;
		(void)rr_stream_add(&p->o->items, k->base, k->len, 0);
		l->item[l->n_items++] = (uint32_t)k->len;
	}
}

/* Makes the Payload stream, and the stream of the items placed by Send.  Returns false
 * if the Payload stream is not an RPC message. */
static bool make_streams(struct response_plan *p)
{
	struct rr_stream *s = &p->q->stream;

	rr_stream_init(s);
	stream_results(p);
	for (unsigned i = 0; i < p->n; i++) {
		const struct rr_piece *k = &p->o->pieces[i];

		if (is_excised(p, k))
			continue;
		/* A stream takes as many pieces as a reply has. */
		(void)rr_stream_add(s, k->base, k->len, k->item ? rr_pad(k->len) : 0);
	}
	return s->left >= RR_RPC_MIN && !(s->left & 3);
}

static bool plan_transmissions(struct response_plan *p, uint32_t most)
{
	struct rr_rtr_outgoing *o = p->o;

	build_response_header(p, false);
	o->load.buffer = p->c->rtr.peer;
	o->load.limit = p->c->rtr.limit;
	o->load.header = (uint32_t)(RR_WIRE_PREFIX + rr_wire_rtr_resp_size(&o->h));
	o->load.payload = p->in_chunk ? 0 : p->q->stream.left;
	return !rr_rtr_plan(&o->load, most, &o->plan);
}

/* Turns the longest result that may also be written into one that is. */
static bool write_longest_choice(struct response_plan *p)
{
	const struct rr_rtr_header *h = &p->q->rtr->h;
	struct placed_result *longest = NULL;

	for (uint32_t d = 0; d < h->n_dirs; d++) {
		struct placed_result *r = &p->r[d];

		if (h->dir[d].type == XMDTYPE_CHOICE && r->type == XMDTYPE_TBSN &&
		    has_room(&h->dir[d], r->length) &&
		    (!longest || r->length > longest->length))
			longest = r;
	}
	if (longest)
		longest->type = XMDTYPE_EXRW;
	return longest;
}

/* Plans a group of at most @most transmissions.  Returns false, and fills @e, if that is
 * impossible. */
static bool plan_response(struct response_plan *p, uint32_t most, struct rr_error *e)
{
	const struct rr_rtr_header *h = &p->q->rtr->h;
	size_t payload;

	p->in_chunk = false;
	for (;;) {
		if (!make_streams(p))
			return false;
		if (plan_transmissions(p, most))
			break;
		if (write_longest_choice(p))
			continue;
		payload = p->q->stream.left;
		p->in_chunk = true;
		if (!plan_transmissions(p, most))
			payload = 0; /* the items do not fit */
		else if (h->has_reply && payload <= h->reply.length)
			break;
		*e = (struct rr_error){RDMA2_ERR_REPLY_RESOURCE, {(uint32_t)payload}};
		return false;
	}
	build_response_header(p, true);
	p->o->h.count = p->o->plan.count;
	p->o->h.pslen = p->o->plan.pslen;
	return true;
}

static uint32_t response_limit(const struct rr_conn *c,
                               const struct rr_request_state *q)
{
	uint32_t own = RR_MIN(rr_rtr_own_response_limit(c), rr_rtr_most(c));

	return RR_MIN(q->rtr->h.rsbuf, own);
}

uint64_t rr_rtr_result_room(const struct rr_conn *c, const struct rr_request_state *q)
{
	return (uint64_t)response_limit(c, q) * c->rtr.target_bytes;
}

/* Stores the plan's results for writing them later. */
static void store_plan(struct response_plan *p)
{
	struct rr_request_state *q = p->q;

	for (uint32_t d = 0; d < q->rtr->h.n_dirs; d++)
		if (p->r[d].type != XMDTYPE_EXRW)
			p->o->result[d] = NULL;
	q->rtr_in_chunk = p->in_chunk;
	p->o->payload = &q->stream;
}

/* Exposes the Payload stream instead of a response that would be too long.  Returns
 * false if the peer does not pull Replies.  Also returns false if the peer has directed
 * results, because only a response can return them.                       [ext §5.8] */
static bool expose_instead(struct rr_conn *c, struct rr_request_state *q,
                           const struct rr_error *e)
{
	if (e->code != RDMA2_ERR_REPLY_RESOURCE || q->rtr->h.n_dirs ||
	    !rr_rprc_may_expose(c))
		return false;
	if (q->lists)
		rr_lists_init(q->lists);
	q->reply_htype = RDMA2_NOMSG;
	if (!rr_exposure_begin(c, q))
		return false;
	rr_conn_trace(c, RR_TRACE_REPLY_SENT, q->req.xid, 3, q->stream.left, 0);
	return true;
}

bool rr_rtr_respond(struct rr_conn *c, struct rr_request_state *q,
                    const struct rr_piece *pieces, unsigned n, struct rr_error *e)
{
	struct rr_rtr_outgoing *o = rr_rtr_new_outgoing(c);
	struct response_plan p = {.c = c, .q = q, .n = n};

	RR_ASSERT(!q->rtr->out); /* a request is answered once */
	q->rtr->out = o;
	if (!o || n > RR_CALL_MAX_PIECES)
		return false;
	memcpy(o->pieces, pieces, n * sizeof(*pieces));
	o->n_items = n;
	p.o = o;
	if (!match_results(&p, e))
		return false;
	if (!plan_response(&p, response_limit(c, q), e))
		return expose_instead(c, q, e);
	store_plan(&p);
	return true;
}

/* -- sending --------------------------------------------------------------- */

/* Queues the Writes of the results, and of the Payload stream if it is in the Reply
 * chunk. */
static bool write_results(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_rtr_outgoing *o = q->rtr->out;
	struct rr_stream s;

	for (uint32_t d = 0; d < q->rtr->h.n_dirs; d++) {
		if (!o->result[d])
			continue;
		rr_stream_init(&s);
		(void)rr_stream_add(&s, o->result[d]->base, o->result[d]->len, 0);
		c->count.bytes_write_chunk += o->result[d]->len;
		if (!rr_reply_write_chunk(c, q, &q->lists->writes[d], &s))
			return false;
	}
	if (!q->rtr_in_chunk)
		return true;
	c->count.bytes_reply_chunk += q->stream.left;
	return rr_reply_write_chunk(c, q, &q->lists->reply, &q->stream);
}

/* Remembers that a report about this response may arrive. */
static void remember_response(struct rr_rtr *t, uint32_t xid)
{
	t->recent[t->n_recent++ % RR_RTR_RECENT] = xid;
}

static void count_response(struct rr_conn *c, const struct rr_request_state *q)
{
	const struct rr_rtr_outgoing *o = q->rtr->out;

	if (!q->rtr_in_chunk && o->plan.count == 1)
		c->count.bytes_inline += q->stream.left;
	else if (!q->rtr_in_chunk)
		c->count.bytes_continued += q->stream.left;
	c->count.bytes_placed += o->items.left;
	rr_conn_trace(c, RR_TRACE_REPLY_SENT, q->req.xid, 4, q->stream.left,
	              o->items.left);
}

static void send_response(struct rr_conn *c, struct rr_request_state *q)
{
	const struct rr_rtr_sending g = {
	        .xid = q->req.xid,
	        .htype = RDMA2_XMOPT_RESP,
	        .flags = RDMA2_F_RESPONSE,
	        .request = q,
	        .inv_handle = q->inv_handle,
	};

	rr_list_del(&q->req.link);
	count_response(c, q);
	rr_request_sent(c, q); /* so that the credit words no longer count it */
	q->all_sent = true;
	if (write_results(c, q) && rr_rtr_send_group(c, q->rtr->out, &g))
		remember_response(&c->rtr, q->req.xid);
	else
		rr_conn_fail(c, -ENOMEM);
	rr_reply_settle(c, q);
}

/* Plans the response again, for as many credits as there are. */
static void plan_again(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_error e = {.code = RDMA2_ERR_SYSTEM};
	struct rr_rtr_outgoing *o = q->rtr->out;
	struct response_plan p = {.c = c, .q = q, .o = o, .n = o->n_items};
	bool matched;

	matched = match_results(&p, &e);
	RR_ASSERT(matched); /* as they were when the response was planned */
	if (plan_response(&p, c->credit.avail, &e)) {
		store_plan(&p);
		send_response(c, q);
	} else {
		rr_list_del(&q->req.link);
		if (!expose_instead(c, q, &e))
			rr_reply_fail(c, q, &e);
	}
}

bool rr_rtr_transmit_response(struct rr_conn *c, struct rr_request_state *q)
{
	bool waits = c->rtr.wait_reply == q;

	if (rr_credit_gather(&c->credit, q->rtr->out->plan.count)) {
		rr_rtr_unwait(c, NULL, q);
		send_response(c, q);
	} else if (!waits) {
		rr_rtr_wait(c, NULL, q);
	} else if (rr_rtr_overdue(c)) {
		rr_rtr_unwait(c, NULL, q);
		plan_again(c, q);
	} else {
		return false;
	}
	return true;
}

/* -- reports --------------------------------------------------------------- */

/* The reply is not kept.  An error tells the Requester so.  [ext §5.7] */
void rr_rtr_response_reported(struct rr_conn *c, uint32_t xid)
{
	const struct rr_error e = {.code = RDMA2_ERR_SYSTEM};

	for (unsigned i = 0; xid && i < RR_RTR_RECENT; i++) {
		if (c->rtr.recent[i] != xid)
			continue;
		c->rtr.recent[i] = 0;
		rr_tx_error(c, xid, RPCRDMA_VERSION_TWO, &e, false);
		return;
	}
}
