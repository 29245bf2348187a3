/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's RDMA Reads, which pull a Call's Read chunks.
 *
 * Normal path: the first RR_SPECIAL_HEAD octets of a Position Zero chunk are read,
 * enough for the RPC header -> ADMIT: the user provides memory ("sinks") for the other
 * chunks, or lets the connection allocate it -> the remaining octets are read ->
 * REQUEST: the unreduced Call as pieces, with each item in its sink.  Items are never
 * copied.
 *
 * If a Read fails while the connection is alive, the request ends with RDMA2_ERR_SYSTEM
 * [K14].  The request ends only after every Read has completed.
 */
#include "conn/core.h"

/* -- queueing Reads -------------------------------------------------------- */

static void finish_request_read(struct rr_conn *c, void *owner, int status);

/* Queues Reads for the part of chunk @k from offset @from up to, but not including,
 * offset @end.  @base is memory for the complete chunk. */
static void queue_reads(struct rr_conn *c, struct rr_request_state *q,
                        const struct rr_chunk *k, uint8_t *base, uint64_t from,
                        uint64_t end)
{
	uint64_t at = 0;

	for (uint16_t i = 0; i < k->count && !q->read_failed; i++) {
		struct rr_segment g = q->lists->seg[k->first + i];
		uint64_t start = at;
		uint64_t skip = from > at ? RR_MIN(from - at, g.length) : 0;
		uint64_t last = end > at ? RR_MIN(end - at, g.length) : 0;

		at += g.length;
		if (last <= skip)
			continue; /* outside the range, or empty [K4] */
		g.offset += skip;
		g.length = (uint32_t)(last - skip);
		if (rr_read_queue(c, q->req.xid, &g, base + start + skip,
		                  finish_request_read, q))
			q->reads_out++;
		else
			q->read_failed = true;
	}
}

/* Returns Read chunk number @i, not counting the Position Zero chunk. */
static const struct rr_chunk *item_chunk(const struct rr_request_state *q, unsigned i)
{
	return &q->lists->reads[i + q->req.special];
}

size_t rr_conn_read_bytes(const struct rr_request *r, unsigned i)
{
	return (size_t)item_chunk(r->priv, i)->length;
}

/* -- handing over ---------------------------------------------------------- */

static void ask_admission(struct rr_conn *c, struct rr_request_state *q,
                          enum rr_request_event by)
{
	struct rr_request *r = &q->req;
	uint64_t octets = r->special ? r->call_bytes : q->payload_len;

	r->n_pieces = 1;
	r->pieces[0] = (struct rr_piece){.base = q->payload, .len = q->payload_len};
	rr_request_move(q, by, RR_REQUEST_ADMIT);
	c->count.requests++;
	rr_conn_trace(c, RR_TRACE_CALL_RECEIVED, r->xid,
	              r->special     ? 2
	              : r->continued ? 1
	                             : 0,
	              octets, r->read_bytes);
	if (r->special)
		c->count.bytes_special_call += octets;
	else if (r->continued)
		c->count.bytes_continued += octets;
	else
		c->count.bytes_inline += octets;
	rr_action_enqueue(c, &q->op, RR_ACT_ADMIT);
}

static void add_request_piece(struct rr_request *r, const void *base, size_t len,
                              bool item)
{
	if (len)
		r->pieces[r->n_pieces++] = (struct rr_piece){base, len, item};
}

/* Adds the octets of the unreduced Call, with each item at its Position. */
static void add_pieces(struct rr_request_state *q)
{
	struct rr_request *r = &q->req;
	uint64_t pos = 0;
	size_t at = 0;

	r->n_pieces = 0;
	for (unsigned i = 0; i < r->n_reads; i++) {
		const struct rr_chunk *k = item_chunk(q, i);
		size_t before = (size_t)(k->position - pos);

		add_request_piece(r, q->payload + at, before, false);
		add_request_piece(r, q->sinks[i].base, (size_t)k->length, true);
		at += before;
		pos = k->position + k->length + rr_pad(k->length & 3);
	}
	add_request_piece(r, q->payload + at, q->payload_len - at, false);
}

/* Rebuilds the unreduced Call, with each item at its Position, and queues REQUEST.  The
 * Positions have already been checked. */
static void hand_over(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_request *r = &q->req;

	if (r->special) {
		q->buf.len = (size_t)r->call_bytes;
		q->payload = q->buf.p;
		q->payload_len = q->buf.len;
	}
	if (q->rtr)
		rr_rtr_hand_over(q);
	else
		add_pieces(q);
	c->count.bytes_read_chunk += r->read_bytes;
	rr_request_move(q, RR_REQUEST_EV_PULL, RR_REQUEST_SERVED);
	rr_action_enqueue(c, &q->op, RR_ACT_REQUEST);
}

static void finish_head(struct rr_conn *c, struct rr_request_state *q)
{
	q->buf.len = q->buf.cap;
	q->payload = q->buf.p;
	q->payload_len = q->buf.len;
	if (rr_request_is_call(q->payload, q->payload_len, q->req.xid))
		ask_admission(c, q, RR_REQUEST_EV_PULL);
	else
		rr_request_fail(c, q, RDMA2_ERR_BAD_XDR, -EBADMSG); /* [E9] */
}

/* Continues the request once all its queued Reads have completed. */
static void finish_pull(struct rr_conn *c, struct rr_request_state *q)
{
	rr_request_event(q, RR_REQUEST_EV_PULL);
	if (q->phase == RR_REQUEST_PULLING_CALL)
		c->n_heads--;
	if (!rr_conn_live(c))
		rr_request_end(c, q, c->error ? c->error : -ECONNRESET);
	else if (q->read_failed)
		rr_request_fail(c, q, RDMA2_ERR_SYSTEM, -EIO);
	else if (q->phase == RR_REQUEST_PULLING_CALL)
		finish_head(c, q);
	else
		hand_over(c, q);
}

/* Handles the completion of one of the request's Reads. */
static void finish_request_read(struct rr_conn *c, void *owner, int status)
{
	struct rr_request_state *q = owner;

	if (status)
		q->read_failed = true;
	if (!--q->reads_out)
		finish_pull(c, q);
}

/* -- before ADMIT ---------------------------------------------------------- */

void rr_pull_start(struct rr_conn *c, struct rr_request_state *q,
                   enum rr_request_event by)
{
	size_t head;

	if (!q->req.special) {
		ask_admission(c, q, by);
		return;
	}
	head = (size_t)RR_MIN(q->req.call_bytes, (uint64_t)RR_SPECIAL_HEAD);
	rr_request_move(q, by, RR_REQUEST_PULLING_CALL);
	if (rr_mbuf_alloc(&c->quota, &q->buf, head)) {
		rr_request_fail(c, q, RDMA2_ERR_SYSTEM, -ENOMEM);
		return;
	}
	c->n_heads++;
	queue_reads(c, q, &q->lists->reads[0], q->buf.p, 0, head);
	if (!q->reads_out)
		finish_pull(c, q);
}

/* -- at ADMIT -------------------------------------------------------------- */

bool rr_conn_is_whole(const struct rr_conn *c, const struct rr_request *r)
{
	return !r->special && !r->n_reads && !r->priv->rtr && rr_conn_live(c);
}

/* -- after ADMIT ----------------------------------------------------------- */

/* Queues Reads for the remaining octets of a Special Call.  Returns false if there is
 * no memory. */
static bool pull_rest(struct rr_conn *c, struct rr_request_state *q)
{
	uint64_t all = q->req.call_bytes, head = q->buf.len;

	if (!q->req.special || head == all)
		return true;
	if (rr_mbuf_alloc(&c->quota, &q->buf, (size_t)all))
		return false;
	queue_reads(c, q, &q->lists->reads[0], q->buf.p, head, all);
	return true;
}

/* Chooses the memory for each Read chunk: the user's @sinks or, if @sinks is NULL,
 * memory that the connection allocates.  Returns false if there is too little
 * memory. */
static bool set_sinks(struct rr_conn *c, struct rr_request_state *q,
                      const struct rr_sge *sinks)
{
	for (unsigned i = 0; i < q->req.n_reads; i++) {
		size_t len = (size_t)item_chunk(q, i)->length;

		q->sinks[i] = sinks ? sinks[i] : (struct rr_sge){0};
		if (sinks ? sinks[i].len < len : !len)
			continue;
		if (!sinks)
			q->sinks[i].base = rr_mem_get(&c->cfg.mem, len);
		q->sinks[i].len = (uint32_t)len;
	}
	q->own_sinks = !sinks;
	for (unsigned i = 0; i < q->req.n_reads; i++) {
		size_t len = (size_t)item_chunk(q, i)->length;

		if (len && (!q->sinks[i].base || q->sinks[i].len < len))
			return false;
	}
	return true;
}

void rr_pull_free(struct rr_conn *c, struct rr_request_state *q)
{
	for (unsigned i = 0; q->own_sinks && i < q->req.n_reads; i++)
		rr_mem_put(&c->cfg.mem, q->sinks[i].base, q->sinks[i].len);
	q->own_sinks = false;
}

void rr_conn_admit(struct rr_conn *c, struct rr_request *r, const struct rr_sge *sinks,
                   rr_time now)
{
	struct rr_request_state *q = r->priv;

	c->now = now;
	RR_ASSERT(q->phase == RR_REQUEST_ADMIT && q->with_user);
	q->with_user = false;
	rr_request_move(q, RR_REQUEST_EV_ADMIT, RR_REQUEST_PULLING);
	if (!rr_conn_live(c)) {
		finish_pull(c, q);
		return;
	}
	if (!set_sinks(c, q, sinks) || !pull_rest(c, q)) {
		rr_request_fail(c, q, RDMA2_ERR_SYSTEM, -ENOMEM);
		return;
	}
	for (unsigned i = 0; i < r->n_reads; i++) {
		const struct rr_chunk *k = item_chunk(q, i);

		queue_reads(c, q, k, q->sinks[i].base, 0, k->length);
	}
	if (!q->reads_out)
		finish_pull(c, q);
}
