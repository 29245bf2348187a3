/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's requests: Calls received, pulled, handed to the user.
 *
 * Normal path: the Call is whole (at once, reassembled, or by reading its
 * Position Zero chunk) -> ADMIT: the user looks at the reduced Call and names
 * sinks -> Read chunks are pulled -> REQUEST: the unreduced Call as pieces,
 * items where they were read -> reply.c.  Items are never copied, and an
 * inline Call stays in its Receive buffer.
 *
 * What the header claims is checked before any memory is taken for it
 * [check: positions to limits].  No more than max_requests are served at once:
 * the others wait, and credits are withheld meanwhile (tx.c).  Memory to pull into
 * is reserved from the budget in one step, in order of arrival; a request that
 * waits therefore waits for requests that go on.  If only waiting ones are
 * left, the first of them is refused.
 *
 * A Read that fails while the connection lives ends the request with
 * RDMA2_ERR_SYSTEM [K14].  After a loss what the user holds stays until it is
 * answered.
 */
#include "conn/core.h"

/* -- budget ----------------------------------------------------------------------- */

static uint64_t held(const struct rr_request_state *q)
{
	return q->buf.charged ? q->buf.cap : 0;
}

/* -- positions [check: positions] ------------------------------------------ */

/* The Position Zero chunk, if there is one, comes first. */
static bool has_zero(const struct rr_lists *l)
{
	return l->n_reads && l->reads[0].position == 0;
}

/* Each chunk with its padding ends before the next begins, and none begins
 * beyond the stream that is rebuilt from @payload_len octets. [K2, K3, M8] */
static bool positions_fit(const struct rr_lists *l, uint64_t payload_len)
{
	uint64_t pulled = 0, end = 0;

	for (uint16_t i = has_zero(l); i < l->n_reads; i++) {
		const struct rr_chunk *k = &l->reads[i];

		/* Nor may it hide the words that say whose Call this is. */
		if ((k->position & 3) || k->position < RR_RPC_MIN ||
		    k->position < end || k->position - pulled > payload_len)
			return false;
		pulled += k->length + rr_pad(k->length & 3);
		end = k->position + k->length + rr_pad(k->length & 3);
	}
	return true;
}

static bool lists_valid(const struct rr_conn *c, const struct rr_msg *m)
{
	const struct rr_lists *l = &m->lists;
	bool special = m->p.htype == RDMA2_NOMSG;
	uint64_t payload = c->cont.call ? c->cont.call->collected : 0;

	if (m->more)
		return true;                            /* there are none */
	if (has_zero(l) != special || l->reads_descend) /* [K1] */
		return false;
	if (l->over)
		return true; /* cut: [check: limits] refuses it */
	payload += special ? l->reads[0].length : m->payload_len;
	return positions_fit(l, payload);
}

/* -- reverse direction [check: reverse level] ------------------------------ */

static bool level_allows(const struct rr_conn *c, const struct rr_msg *m,
                         struct rr_error *e)
{
	uint32_t level = c->cfg.rvrsdir;
	const struct rr_lists *l = &m->lists;

	if (c->cfg.role == RR_CONN_SERVER || level == RDMA2_RVRSDIR_GENL)
		return true;
	if (level == RDMA2_RVRSDIR_NONE)
		e->code = RDMA2_ERR_SYSTEM; /* [R3] */
	else if (level == RDMA2_RVRSDIR_SIMPLE && m->more)
		e->code = RDMA2_ERR_INVAL_CONT; /* [R5] */
	else if (l->n_reads)
		e->code = RDMA2_ERR_READ_CHUNKS; /* [R4] */
	else if (l->n_writes)
		e->code = level == RDMA2_RVRSDIR_CONT ? RDMA2_ERR_WRITE_CHUNKS
		                                      : RDMA2_ERR_REPLY_RESOURCE;
	else if (l->has_reply)
		e->code = RDMA2_ERR_SEGMENTS;
	return !e->code;
}

/* -- limits [check: limits] ------------------------------------------------ */

/* Each Reply gives the Write list back, version 1 the Reply chunk as well, and
 * an item is written before anybody can tell that the rest does not fit: so a
 * list too long to be given back is refused like one too long to be taken.  As
 * many segments as could be.                                            [K6, P12] */
static uint32_t returnable(const struct rr_conn *c, const struct rr_lists *l)
{
	const struct rr_version_ops *e = c->version;
	size_t header = e->empty_bytes + (e->continues ? 4 : 0), segs = 0;
	size_t most = rr_props_least_inline(c);

	for (uint16_t i = 0; i < l->n_writes; i++) {
		header += 8;
		segs += l->writes[i].count;
	}
	if (l->has_reply && e->returns_reply_chunk) {
		header += 4;
		segs += l->reply.count;
	}
	if (header + 16 * segs <= most)
		return UINT32_MAX;
	return (uint32_t)((most - header) / 16);
}

/* Position Zero does not count [K12], unless RDMA Reads cannot be made at all. */
static uint32_t most_reads(const struct rr_conn *c, const struct rr_lists *l)
{
	return c->cannot_read ? 0 : RR_REQUEST_MAX_READS + (uint32_t)has_zero(l);
}

static bool counts_allowed(const struct rr_conn *c, const struct rr_msg *m,
                           struct rr_error *e)
{
	const struct rr_lists *l = &m->lists;
	uint32_t most = c->cfg.max_segments;

	if (!c->version->properties) /* nobody was told */
		most = RR_WIRE_MAX_SEGMENTS;
	if (l->total_segs > most)
		*e = (struct rr_error){RDMA2_ERR_SEGMENTS, {most}};
	else if (l->total_reads > most_reads(c, l))
		*e = (struct rr_error){
		        RDMA2_ERR_READ_CHUNKS,
		        {RR_MIN(most_reads(c, l), RR_REQUEST_MAX_READS)}};
	else if (l->total_writes > RR_WIRE_MAX_WRITES)
		*e = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {RR_WIRE_MAX_WRITES}};
	else if (returnable(c, l) != UINT32_MAX)
		*e = (struct rr_error){RDMA2_ERR_SEGMENTS, {returnable(c, l)}};
	return !e->code;
}

/* What pulling this Call takes; false when that is more than we ever give. */
static bool sizes_allowed(const struct rr_conn *c, const struct rr_msg *m,
                          uint64_t *ret_pull)
{
	const struct rr_lists *l = &m->lists;
	uint64_t sum = 0;

	for (uint16_t i = 0; i < l->n_reads; i++) {
		uint64_t most = l->reads[i].position ? c->cfg.max_chunk_bytes
		                                     : c->cfg.max_special_bytes;

		if (l->reads[i].length > most)
			return false;
		sum += l->reads[i].length;
	}
	*ret_pull = sum;
	return sum <= c->quota.limit;
}

/* -- the RPC message [check: RPC message] ---------------------------------- */

bool rr_request_is_call(const uint8_t *p, size_t len, uint32_t xid)
{
	return len >= RR_RPC_MIN && rr_load_u32(p) == xid && rr_load_u32(p + 4) == 0;
}

/* -- making and ending ----------------------------------------------------- */

struct rr_request_state *rr_request_new(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_request_state *q;

	if (c->n_serving >= (uint64_t)c->cfg.max_requests + RR_MAX_TURNS)
		return NULL;
	q = rr_slab_get(&c->request_slab);
	if (!q)
		return NULL;
	memset(q, 0, offsetof(struct rr_request_state, req));
	rr_list_init(&q->parts);
	rr_list_init(&q->op.link);
	rr_list_init(&q->req.link);
	rr_list_push(&c->requests, &q->all);
	q->req.priv = q;
	q->req.xid = m->p.xid;
	c->n_requests++;
	c->n_serving++;
	q->counted = true;
	return q;
}

static void free_sinks(struct rr_conn *c, struct rr_request_state *q)
{
	for (unsigned i = 0; q->own_sinks && i < q->req.n_reads; i++)
		rr_mem_put(&c->cfg.mem, q->sinks[i].base, q->sinks[i].len);
	q->own_sinks = false;
}

void rr_request_sent(struct rr_conn *c, struct rr_request_state *q)
{
	if (q->counted)
		c->n_serving--;
	if (q->begun)
		c->n_begun--;
	q->counted = q->begun = false;
}

void rr_request_free(struct rr_conn *c, struct rr_request_state *q)
{
	rr_request_sent(c, q);
	rr_collect_free(c, q);
	free_sinks(c, q);
	rr_mbuf_free(&c->quota, &q->buf);
	rr_quota_uncharge(&c->quota, q->reserved);
	rr_recv_put(c, q->rbuf);
	if (q->lists)
		rr_slab_put(&c->lists_slab, q->lists);
	rr_list_del(&q->op.link);
	rr_list_del(&q->req.link);
	rr_list_del(&q->all);
	c->n_requests--;
	rr_slab_put(&c->request_slab, q);
}

void rr_request_polled(struct rr_request_state *q)
{
	q->known = q->with_user = true;
	q->roomed = false; /* the user's, see rr_request */
}

void rr_request_end(struct rr_conn *c, struct rr_request_state *q, int status)
{
	RR_ASSERT(!q->reads_out && !q->xmits_out);
	q->phase = RR_REQUEST_LEAVING;
	q->with_user = false;
	q->status = status;
	if (!q->known) {
		rr_request_free(c, q);
		return;
	}
	rr_list_del(&q->op.link);
	rr_action_enqueue(c, &q->op, RR_ACT_REQUEST_DONE);
}

void rr_request_answer_error(struct rr_conn *c, struct rr_request_state *q,
                             const struct rr_error *e)
{
	rr_tx_error(c, q->req.xid, c->version->vers, e, false);
}

static void fail(struct rr_conn *c, struct rr_request_state *q, uint32_t code,
                 int status)
{
	const struct rr_error e = {.code = code};

	rr_request_answer_error(c, q, &e);
	rr_request_end(c, q, status);
}

/* -- pulling --------------------------------------------------------------- */

static bool read_segment(struct rr_conn *c, struct rr_request_state *q, uint8_t *to,
                         const struct rr_segment *g)
{
	struct rr_read_op *r = rr_slab_get(&c->read_slab);

	if (!r)
		return false;
	*r = (struct rr_read_op){
	        .request = q,
	        .sge = {.base = to, .len = g->length},
	        .handle = g->handle,
	        .offset = g->offset,
	};
	q->reads_out++;
	rr_conn_trace(c, RR_TRACE_RDMA_READ, q->req.xid, g->handle, g->offset,
	              g->length);
	rr_action_enqueue(c, &r->op, RR_ACT_READ);
	return true;
}

/* Queues the Reads of the octets of a chunk from @from up to @end into @base, memory
 * for all of it. */
static void read_range(struct rr_conn *c, struct rr_request_state *q,
                       const struct rr_chunk *k, uint8_t *base, uint64_t from,
                       uint64_t end)
{
	uint64_t at = 0;

	for (uint16_t i = 0; i < k->count && !q->read_failed; i++) {
		struct rr_segment g = q->lists->seg[k->first + i];
		uint64_t skip = from > at ? RR_MIN(from - at, g.length) : 0;
		uint64_t last = end > at ? RR_MIN(end - at, g.length) : 0;

		at += g.length;
		if (last <= skip)
			continue; /* none of it, or empty [K4] */
		g.offset += skip;
		g.length = (uint32_t)(last - skip);
		if (!read_segment(c, q,
		                  base + (at - q->lists->seg[k->first + i].length) +
		                          skip,
		                  &g))
			q->read_failed = true;
	}
}

static void read_chunk(struct rr_conn *c, struct rr_request_state *q,
                       const struct rr_chunk *k, const struct rr_sge *sink)
{
	read_range(c, q, k, sink->base, 0, k->length);
}

/* Read chunk @i of those that carry items. */
static const struct rr_chunk *item_chunk(const struct rr_request_state *q, unsigned i)
{
	return &q->lists->reads[i + q->req.special];
}

size_t rr_conn_read_bytes(const struct rr_request *r, unsigned i)
{
	return (size_t)item_chunk(r->priv, i)->length;
}

static void to_admit(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_request *r = &q->req;
	uint64_t octets = r->special ? r->call_bytes : q->payload_len;

	r->n_pieces = 1;
	r->pieces[0] = (struct rr_piece){.base = q->payload, .len = q->payload_len};
	q->phase = RR_REQUEST_ADMIT;
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

static void add_piece(struct rr_request *r, const void *base, size_t len, bool item)
{
	if (len)
		r->pieces[r->n_pieces++] = (struct rr_piece){base, len, item};
}

/* Puts the items back at their Positions; that they fit was checked. */
static void to_request(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_request *r = &q->req;
	uint64_t pos = 0;
	size_t at = 0;

	if (r->special) {
		q->buf.len = (size_t)r->call_bytes;
		q->payload = q->buf.p;
		q->payload_len = q->buf.len;
	}
	r->n_pieces = 0;
	for (unsigned i = 0; i < r->n_reads; i++) {
		const struct rr_chunk *k = item_chunk(q, i);
		size_t before = (size_t)(k->position - pos);

		add_piece(r, q->payload + at, before, false);
		add_piece(r, q->sinks[i].base, (size_t)k->length, true);
		at += before;
		pos = k->position + k->length + rr_pad(k->length & 3);
	}
	add_piece(r, q->payload + at, q->payload_len - at, false);
	c->count.bytes_read_chunk += r->read_bytes;
	q->phase = RR_REQUEST_SERVED;
	rr_action_enqueue(c, &q->op, RR_ACT_REQUEST);
}

static void head_pulled(struct rr_conn *c, struct rr_request_state *q)
{
	q->buf.len = q->buf.cap;
	q->payload = q->buf.p;
	q->payload_len = q->buf.len;
	if (rr_request_is_call(q->payload, q->payload_len, q->req.xid))
		to_admit(c, q);
	else
		fail(c, q, RDMA2_ERR_BAD_XDR, -EBADMSG); /* [E9] */
}

/* Every Read asked for has been answered. */
static void pulled(struct rr_conn *c, struct rr_request_state *q)
{
	if (q->phase == RR_REQUEST_PULLING_CALL)
		c->n_heads--;
	if (!rr_conn_live(c))
		rr_request_end(c, q, c->error ? c->error : -ECONNRESET);
	else if (q->read_failed)
		fail(c, q, RDMA2_ERR_SYSTEM, -EIO);
	else if (q->phase == RR_REQUEST_PULLING_CALL)
		head_pulled(c, q);
	else
		to_request(c, q);
}

void rr_request_read_done(struct rr_conn *c, struct rr_read_op *r, int status)
{
	struct rr_request_state *q = r->request;

	if (status)
		q->read_failed = true;
	else
		c->count.bytes_pulled += r->sge.len;
	rr_slab_put(&c->read_slab, r);
	if (!--q->reads_out)
		pulled(c, q);
}

/* Memory is reserved: the beginning of a Special Call is fetched first, for that
 * decides what is done with the rest. */
static void start(struct rr_conn *c, struct rr_request_state *q)
{
	size_t head;

	if (!q->req.special) {
		to_admit(c, q);
		return;
	}
	head = (size_t)RR_MIN(q->req.call_bytes, (uint64_t)RR_SPECIAL_HEAD);
	q->phase = RR_REQUEST_PULLING_CALL;
	if (rr_mbuf_alloc(&c->quota, &q->buf, head)) {
		fail(c, q, RDMA2_ERR_SYSTEM, -ENOMEM);
		return;
	}
	c->n_heads++;
	read_range(c, q, &q->lists->reads[0], q->buf.p, 0, head);
	if (!q->reads_out)
		pulled(c, q);
}

/* The rest of an admitted Special Call.  False: no memory. */
static bool read_rest(struct rr_conn *c, struct rr_request_state *q)
{
	uint64_t all = q->req.call_bytes, head = q->buf.len;

	if (!q->req.special || head == all)
		return true;
	if (rr_mbuf_alloc(&c->quota, &q->buf, (size_t)all))
		return false;
	read_range(c, q, &q->lists->reads[0], q->buf.p, head, all);
	return true;
}

static void unqueue(struct rr_conn *c, struct rr_request_state *q)
{
	rr_list_del(&q->req.link);
	c->charged_waiting -= held(q);
}

bool rr_request_budget(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->budget_queue);
	struct rr_request_state *q;

	if (!l || !rr_conn_live(c))
		return false;
	q = rr_container_of(l, struct rr_request, link)->priv;
	if (q->phase == RR_REQUEST_ROOM)
		return rr_collect_go_on(c, q);
	if (rr_quota_charge(&c->quota, q->wanted)) {
		q->reserved = q->wanted;
		unqueue(c, q);
		start(c, q);
		return true;
	}
	if (c->quota.charged > c->charged_waiting)
		return false;
	unqueue(c, q); /* nobody else will give anything back */
	fail(c, q, RDMA2_ERR_SYSTEM, -ENOMEM);
	return true;
}

static void enqueue(struct rr_conn *c, struct rr_request_state *q)
{
	q->phase = RR_REQUEST_BUDGET;
	c->charged_waiting += held(q);
	rr_list_push(&c->budget_queue, &q->req.link);
}

/* -- turns ----------------------------------------------------------------- */

static void begin(struct rr_conn *c, struct rr_request_state *q)
{
	q->begun = true;
	c->n_begun++;
	if (q->wanted)
		enqueue(c, q);
	else if (!q->req.special)
		to_admit(c, q);
	else
		fail(c, q, RDMA2_ERR_BAD_XDR, -EBADMSG); /* an empty Call */
}

/* May one more Call be served than @n? */
static bool has_turn(const struct rr_conn *c, unsigned n)
{
	return n < c->cfg.max_requests;
}

/* More have come than the credits withheld could prevent: in order of arrival. */
static void wait_turn(struct rr_conn *c, struct rr_request_state *q)
{
	q->phase = RR_REQUEST_TURN;
	c->n_turns++;
	c->charged_waiting += held(q);
	rr_list_push(&c->turns, &q->req.link);
}

/* What has room goes first, and waits only for those that have begun.  All others leave
 * a turn to each Call in parts that came before them: they may wait for its memory. */
static bool roomed_turn(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->roomed_turns);

	if (!l || !has_turn(c, c->n_begun))
		return false;
	rr_list_del(l);
	begin(c, rr_container_of(l, struct rr_request, link)->priv);
	return true;
}

bool rr_request_turn(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->turns);
	struct rr_request_state *q;

	if (!rr_conn_live(c))
		return false;
	if (roomed_turn(c))
		return true;
	if (!l || !has_turn(c, c->n_serving - c->n_turns))
		return false;
	q = rr_container_of(l, struct rr_request, link)->priv;
	c->n_turns--;
	unqueue(c, q);
	begin(c, q);
	return true;
}

/* @q is counted among those that are served. */
static void begin_or_wait(struct rr_conn *c, struct rr_request_state *q)
{
	if (!c->n_turns && has_turn(c, c->n_serving - 1))
		begin(c, q);
	else
		wait_turn(c, q);
}

/* -- intake ---------------------------------------------------------------- */

static void describe(struct rr_request_state *q, bool special, bool continued)
{
	struct rr_request *r = &q->req;
	const struct rr_lists *l = q->lists;

	r->special = special;
	r->continued = continued;
	r->n_pieces = 0;
	r->n_reads = l ? (unsigned)l->n_reads - special : 0;
	r->read_bytes = 0;
	r->call_bytes = special ? l->reads[0].length : 0;
	r->roomed_bytes = r->held_bytes = 0;
	for (unsigned i = 0; i < r->n_reads; i++)
		r->read_bytes += item_chunk(q, i)->length;
	r->n_writes = l ? l->n_writes : 0;
	for (unsigned i = 0; i < r->n_writes; i++)
		r->write_bytes[i] = l->writes[i].length;
	r->has_reply_chunk = l && l->has_reply;
	r->reply_chunk_bytes = r->has_reply_chunk ? l->reply.length : 0;
	r->user = 0;
	r->unreduced = false;
}

/* Where the Requester names none: one of what is most likely the largest. */
static uint32_t first_handle(const struct rr_lists *l)
{
	for (uint16_t i = 0; i < l->n_writes; i++)
		if (l->writes[i].count)
			return l->seg[l->writes[i].first].handle;
	return l->n_segs ? l->seg[0].handle : 0;
}

/* The handle that the reply may invalidate: one of this Call, or none. [K17] */
static uint32_t choose_inv(const struct rr_conn *c, const struct rr_lists *l)
{
	if (!l || !c->remote_inv_out)
		return 0;
	if (!c->version->names_handle)
		return first_handle(l);
	if (!l->inv_handle)
		return 0;
	for (uint16_t i = 0; i < l->n_segs; i++)
		if (l->seg[i].handle == l->inv_handle)
			return l->inv_handle;
	return 0;
}

bool rr_request_set_chunks(struct rr_conn *c, struct rr_request_state *q,
                           const struct rr_msg *m)
{
	if (!sizes_allowed(c, m, &q->wanted))
		return false;
	if (!rr_lists_empty(&m->lists)) {
		q->lists = rr_slab_get(&c->lists_slab);
		if (!q->lists)
			return false;
		*q->lists = m->lists;
	}
	describe(q, m->p.htype == RDMA2_NOMSG, q->collects);
	q->inv_handle = choose_inv(c, q->lists);
	return true;
}

/* The payload stays in its Receive buffer.  False: no memory. */
static bool take_payload(struct rr_conn *c, struct rr_request_state *q,
                         struct rr_msg *m)
{
	if (m->p.htype != RDMA2_MSG)
		return true;
	if (rr_recv_keep(c, m))
		return false;
	q->rbuf = m->rbuf;
	q->payload = m->payload;
	q->payload_len = m->payload_len;
	return true;
}

static void fault(struct rr_conn *c, const struct rr_msg *m, uint32_t code)
{
	const struct rr_error e = {.code = code};

	rr_recv_fault(c, m, &e, 0);
}

/* The Call is whole, its first words excepted if it is a Special one. */
static void accept(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_request_state *q;

	if (m->p.htype != RDMA2_NOMSG &&
	    !rr_request_is_call(m->payload, m->payload_len, m->p.xid)) {
		fault(c, m, RDMA2_ERR_BAD_XDR);
		return;
	}
	q = rr_request_new(c, m);
	if (q && rr_request_set_chunks(c, q, m) && take_payload(c, q, m)) {
		begin_or_wait(c, q);
		return;
	}
	if (q)
		rr_request_free(c, q);
	fault(c, m, RDMA2_ERR_SYSTEM);
}

void rr_request_collected(struct rr_conn *c, struct rr_request_state *q)
{
	q->collects = false;
	q->payload = q->buf.p;
	q->payload_len = q->buf.len;
	q->req.held_bytes = q->buf.cap;
	q->req.roomed_bytes = q->roomed ? q->room : 0;
	if (!q->roomed) {
		begin_or_wait(c, q);
		return;
	}
	q->wanted = 0; /* the room counts for all of it */
	q->phase = RR_REQUEST_TURN;
	rr_list_push(&c->roomed_turns, &q->req.link);
	(void)roomed_turn(c);
}

void rr_request_received(struct rr_conn *c, struct rr_msg *m)
{
	bool continued = m->more || rr_cont_is(c, m->p.xid, false);
	struct rr_error e = {0};

	if (!lists_valid(c, m))
		e.code = RDMA2_ERR_BAD_XDR; /* [check: positions] */
	else if (level_allows(c, m, &e) && counts_allowed(c, m, &e) && continued)
		rr_collect_received(c, m); /* [check: collecting] */
	else if (!e.code)
		accept(c, m);
	if (e.code)
		rr_recv_fault(c, m, &e, 0);
}

/* -- the user's answers ---------------------------------------------------- */

/* Names memory for each Read chunk; false when there is not enough. */
static bool provide_sinks(struct rr_conn *c, struct rr_request_state *q,
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

void rr_conn_admit(struct rr_conn *c, struct rr_request *r, const struct rr_sge *sinks,
                   rr_time now)
{
	struct rr_request_state *q = r->priv;

	c->now = now;
	RR_ASSERT(q->phase == RR_REQUEST_ADMIT && q->with_user);
	q->with_user = false;
	q->phase = RR_REQUEST_PULLING;
	if (!rr_conn_live(c)) {
		pulled(c, q);
		return;
	}
	if (!provide_sinks(c, q, sinks) || !read_rest(c, q)) {
		fail(c, q, RDMA2_ERR_SYSTEM, -ENOMEM);
		return;
	}
	for (unsigned i = 0; i < r->n_reads; i++)
		read_chunk(c, q, item_chunk(q, i), &q->sinks[i]);
	if (!q->reads_out)
		pulled(c, q);
}

void rr_conn_refuse(struct rr_conn *c, struct rr_request *r, const struct rr_error *e,
                    rr_time now)
{
	c->now = now;
	RR_ASSERT(r->priv->with_user);
	rr_request_answer_error(c, r->priv, e);
	rr_request_end(c, r->priv, 0);
}

void rr_conn_drop(struct rr_conn *c, struct rr_request *r, rr_time now)
{
	c->now = now;
	RR_ASSERT(r->priv->with_user);
	rr_request_end(c, r->priv, 0);
}

/* -- loss ------------------------------------------------------------------ */

void rr_request_lost(struct rr_conn *c, int status)
{
	struct rr_list *n = c->requests.next;

	c->charged_waiting = 0;
	c->n_turns = c->n_heads = 0;
	while (n != &c->requests) {
		struct rr_request_state *q =
		        rr_container_of(n, struct rr_request_state, all);

		n = n->next;
		if (q->with_user || q->phase == RR_REQUEST_LEAVING)
			continue;
		rr_list_del(&q->req.link);
		q->reads_out = q->xmits_out = 0;
		rr_request_end(c, q, status);
	}
}
