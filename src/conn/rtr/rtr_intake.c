/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests received as RDMA2_XMOPT_REQ.                     [ext §5.3, §5.4, §5.7]
 *
 * An item that was placed by Send stays where it arrived, if it is contiguous there,
 * shares no segment with another item, and fills at least half of its segments.  Any
 * other item is copied, and the Receive buffers that hold nothing else are returned.
 * Items by explicit RDMA are pulled like Read chunks, and directions with segments are
 * kept like Write chunks: a request has the same lists as one by base header types.
 */
#include "conn/core.h"

/* -- checks of the header -------------------------------------------------- */

static bool has_body(const struct rr_rtr_header *h)
{
	return h->n_items && !h->item[0].disp;
}

static uint32_t count_explicit(const struct rr_rtr_header *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n_items; i++)
		n += h->item[i].type == XMDTYPE_EXRW;
	return n;
}

static size_t direction_bytes(const struct rr_rtr_dir *d)
{
	return d->type == XMDTYPE_TBSN ? 12 + 8 : 12 + 4 + 16 * (size_t)d->where.count;
}

size_t rr_rtr_response_bytes(const struct rr_rtr_header *h)
{
	size_t sum = RR_WIRE_PREFIX + 16;

	for (uint32_t i = 0; i < h->n_dirs; i++)
		sum += direction_bytes(&h->dir[i]);
	if (h->has_reply)
		sum += 4 + 16 * (size_t)h->reply.count;
	return sum;
}

/* Returns how many directions a response's header can return, or UINT32_MAX if it can
 * return all. */
static uint32_t max_directions(const struct rr_conn *c, const struct rr_rtr_header *h)
{
	size_t most = RR_MAX((size_t)RR_WIRE_MIN_INLINE, (size_t)c->rtr.limit);
	size_t sum = rr_rtr_response_bytes(h);
	uint32_t n = h->n_dirs;

	if (sum <= most)
		return UINT32_MAX;
	while (n && sum > most)
		sum -= direction_bytes(&h->dir[--n]);
	return n;
}

/* Checks the level of the reverse direction.  [ext §2.6] */
static bool check_group_level(const struct rr_conn *c, const struct rr_rtr_header *h,
                              struct rr_error *e)
{
	uint32_t level = c->cfg.rvrsdir;

	if (c->cfg.role == RR_CONN_SERVER || level == RDMA2_RVRSDIR_GENL)
		return true;
	if (level == RDMA2_RVRSDIR_NONE)
		*e = (struct rr_error){RDMA2_ERR_SYSTEM, {0}};
	else if (level == RDMA2_RVRSDIR_SIMPLE && h->count > 1)
		*e = (struct rr_error){RDMA2_ERR_INVAL_CONT, {0}};
	else if (count_explicit(h))
		*e = (struct rr_error){RDMA2_ERR_READ_CHUNKS, {0}};
	else if (h->n_segs > h->reply.count)
		*e = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {0}};
	else if (h->n_segs)
		*e = (struct rr_error){RDMA2_ERR_SEGMENTS, {0}};
	else
		return true;
	return false;
}

bool rr_rtr_check_request(const struct rr_conn *c, const struct rr_rtr_header *h,
                          struct rr_error *e)
{
	uint32_t reads = c->cannot_read ? 0 : RR_WIRE_RTR_MAX_ITEMS;

	if (!check_group_level(c, h, e))
		return false;
	if (h->total_segs > c->cfg.max_segments)
		*e = (struct rr_error){RDMA2_ERR_SEGMENTS, {c->cfg.max_segments}};
	else if (h->total_items > RR_WIRE_RTR_MAX_ITEMS || count_explicit(h) > reads)
		*e = (struct rr_error){RDMA2_ERR_READ_CHUNKS, {reads}};
	else if (h->total_dirs > RR_WIRE_RTR_MAX_DIRS ||
	         h->total_sets > RR_WIRE_RTR_MAX_SETS)
		*e = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {RR_WIRE_RTR_MAX_DIRS}};
	else if (h->over) /* more segment numbers than the group has segments */
		*e = (struct rr_error){RDMA2_ERR_SYSTEM, {0}};
	else if (max_directions(c, h) != UINT32_MAX)
		*e = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {max_directions(c, h)}};
	else
		return true;
	return false;
}

/* -- checks of the complete group ------------------------------------------ */

/* Returns true if each item begins within the stream that is rebuilt from @payload
 * octets and the items before it. */
static bool check_item_places(const struct rr_rtr_header *h, uint64_t payload)
{
	uint64_t removed = 0;

	if (has_body(h))
		payload = h->item[0].length;
	for (uint32_t i = has_body(h); i < h->n_items; i++) {
		const struct rr_rtr_item *it = &h->item[i];

		if (it->disp < RR_RPC_MIN || it->disp - removed > payload)
			return false;
		removed += (uint64_t)it->length + rr_pad(it->length);
	}
	return true;
}

/* Returns true if the Payload streams begin with an RPC Call with this XID. */
static bool begins_call(const struct rr_rtr_incoming *in)
{
	uint8_t head[RR_RPC_MIN];
	size_t n = 0;

	for (uint32_t k = 0; k < in->n && n < sizeof(head); k++) {
		size_t take = RR_MIN(sizeof(head) - n, (size_t)in->got[k].pslen);

		memcpy(head + n, in->rbuf[k]->data + in->got[k].header, take);
		n += take;
	}
	return rr_request_is_call(head, n, in->xid);
}

/* -- memory of the items --------------------------------------------------- */

/* Copies an item.  Returns false if there is no memory. */
static bool copy_request_item(struct rr_conn *c, struct rr_rtr_incoming *in, uint32_t i)
{
	uint32_t len = in->h.item[i].length;

	if (!len)
		return true;
	if (!rr_quota_charge(&c->quota, len))
		return false;
	in->charged += len;
	in->copy[i] = rr_mem_get(&c->cfg.mem, len);
	if (!in->copy[i])
		return false;
	rr_rtr_copy_item(in, i, in->copy[i]);
	in->base[i] = in->copy[i];
	c->count.bytes_copied += len;
	return true;
}

/* Finds the memory of each item.  Sets @keep for each transmission with an item that
 * stays in place. */
static bool settle_items(struct rr_conn *c, struct rr_rtr_incoming *in, bool *keep)
{
	for (uint32_t i = 0; i < in->h.n_items; i++) {
		const struct rr_rtr_fragment *f;

		if (in->h.item[i].type != XMDTYPE_TBSN)
			continue;
		f = rr_rtr_in_place(&c->rtr.own, &in->place, i);
		if (f) {
			in->base[i] = in->rbuf[f->number]->data + f->at;
			keep[f->number] = true;
		} else if (!copy_request_item(c, in, i)) {
			return false;
		}
		c->count.bytes_placed += in->h.item[i].length;
	}
	return true;
}

/* Finds the memory of the Payload stream: the first Receive buffer if that is kept and
 * has all of the stream, or a copy. */
static bool settle_payload(struct rr_conn *c, struct rr_request_state *q, bool *keep)
{
	struct rr_rtr_incoming *in = q->rtr;
	size_t len = (size_t)rr_rtr_payload_bytes(in);

	keep[0] = keep[0] || (in->n == 1 && !in->place.n);
	if (keep[0] && len == in->got[0].pslen) {
		q->payload = in->rbuf[0]->data + in->got[0].header;
		q->payload_len = len;
		return true;
	}
	if (!len) /* a body, which is pulled */
		return true;
	q->buf.charged = true;
	if (rr_mbuf_alloc(&c->quota, &q->buf, len))
		return false;
	rr_rtr_copy_payload(in, q->buf.p);
	q->buf.len = len;
	q->payload = q->buf.p;
	q->payload_len = len;
	return true;
}

static void return_buffers(struct rr_conn *c, struct rr_rtr_incoming *in,
                           const bool *keep)
{
	for (uint32_t k = 0; k < in->n; k++) {
		if (keep[k])
			continue;
		rr_recv_put(c, in->rbuf[k]);
		in->rbuf[k] = NULL;
	}
}

static bool settle_memory(struct rr_conn *c, struct rr_request_state *q)
{
	bool keep[RR_RTR_MAX_COUNT] = {0};

	if (!settle_items(c, q->rtr, keep) || !settle_payload(c, q, keep))
		return false;
	return_buffers(c, q->rtr, keep);
	return true;
}

/* -- the request ----------------------------------------------------------- */

/* Lists the items by explicit RDMA.  Empty ones are left out: a chunk is found by its
 * position, and the next item may have the same. */
static void list_reads(const struct rr_rtr_header *h, struct rr_lists *l)
{
	for (uint32_t i = 0; i < h->n_items; i++) {
		const struct rr_rtr_item *it = &h->item[i];

		if (it->type != XMDTYPE_EXRW || !it->length)
			continue;
		for (uint32_t k = 0; k < it->where.count; k++) {
			int err = rr_lists_add_read(l, it->disp,
			                            &h->seg[it->where.first + k]);

			RR_ASSERT(!err);
		}
	}
}

static void list_chunk(const struct rr_rtr_header *h, const struct rr_chunk *k,
                       struct rr_lists *l)
{
	for (uint32_t i = 0; i < k->count; i++) {
		int err = rr_lists_add_segment(l, &h->seg[k->first + i]);

		RR_ASSERT(!err);
	}
}

/* Makes chunk lists of the items, directions and Reply chunk that have segments.  The
 * lists cannot overflow, because a header has no more of each. */
static void make_lists(const struct rr_rtr_header *h, struct rr_lists *l)
{
	int err = 0;

	rr_lists_init(l);
	l->inv_handle = h->inv_handle;
	list_reads(h, l);
	for (uint32_t i = 0; i < h->n_dirs; i++) {
		err = rr_lists_begin_write(l);
		RR_ASSERT(!err);
		list_chunk(h, &h->dir[i].where, l);
	}
	if (!h->has_reply)
		return;
	err = rr_lists_begin_reply(l);
	RR_ASSERT(!err);
	list_chunk(h, &h->reply, l);
}

/* Sets the maximum lengths of the results that are to be placed by Send, for the user's
 * decisions at RR_ACT_ADMIT. */
static void describe_rooms(const struct rr_conn *c, struct rr_request_state *q)
{
	const struct rr_rtr_header *h = &q->rtr->h;

	for (uint32_t i = 0; i < h->n_dirs; i++)
		if (h->dir[i].type == XMDTYPE_TBSN)
			q->req.write_bytes[i] = rr_rtr_result_room(c, q);
}

/* Creates the request.  Returns false if there is no memory; the group is given in any
 * case. */
static bool admit_group(struct rr_conn *c, struct rr_rtr_incoming *in)
{
	struct rr_msg m = {
	        .p = {.xid = in->xid,
	              .htype = has_body(&in->h) ? RDMA2_NOMSG : RDMA2_MSG},
	        .family = &rr_base_family,
	};
	struct rr_request_state *q = rr_request_new(c, &m);

	if (!q) {
		rr_rtr_incoming_free(c, in);
		return false;
	}
	q->rtr = in;
	make_lists(&in->h, &m.lists);
	if (!rr_request_set_chunks(c, q, &m) || !settle_memory(c, q)) {
		rr_request_free(c, q);
		return false;
	}
	q->req.continued = in->h.count > 1;
	describe_rooms(c, q);
	rr_request_begin(c, q);
	return true;
}

/* Returns 0 or the rdma_err code. */
static uint32_t check_group(const struct rr_rtr_incoming *in)
{
	uint64_t payload = rr_rtr_payload_bytes(in);

	if (!check_item_places(&in->h, payload))
		return RDMA2_ERR_BAD_XDR;
	if (has_body(&in->h) ? in->h.item[0].length < RR_RPC_MIN : !begins_call(in))
		return RDMA2_ERR_BAD_XDR;
	return 0;
}

void rr_rtr_take_request(struct rr_conn *c, struct rr_rtr_incoming *in)
{
	struct rr_error e = {0};
	struct rr_rtr_error fault;
	uint32_t xid = in->xid;

	if (rr_rtr_place(&c->rtr.own, &in->h, in->got, &in->place, &fault)) {
		rr_rtr_name(in, &fault);
		rr_rtr_incoming_free(c, in);
		c->count.discards++;
		rr_rtr_report(c, false, &fault);
		return;
	}
	e.code = check_group(in);
	if (e.code)
		rr_rtr_incoming_free(c, in);
	else if (!admit_group(c, in))
		e.code = RDMA2_ERR_SYSTEM;
	if (e.code)
		rr_tx_error(c, xid, RPCRDMA_VERSION_TWO, &e, false);
}

void rr_rtr_request_free(struct rr_conn *c, struct rr_request_state *q)
{
	rr_rtr_unwait(c, NULL, q);
	rr_rtr_incoming_free(c, q->rtr);
	q->rtr = NULL;
}

/* -- handing over ---------------------------------------------------------- */

static void add_call_piece(struct rr_request *r, const void *base, size_t len,
                           bool item)
{
	if (len)
		r->pieces[r->n_pieces++] =
		        (struct rr_piece){.base = base, .len = len, .item = item};
}

void rr_rtr_hand_over(struct rr_request_state *q)
{
	const struct rr_rtr_header *h = &q->rtr->h;
	struct rr_request *r = &q->req;
	uint64_t pos = 0;
	size_t at = 0;
	unsigned pulled = 0;

	r->n_pieces = 0;
	for (uint32_t i = has_body(h); i < h->n_items; i++) {
		const struct rr_rtr_item *it = &h->item[i];
		size_t before = (size_t)(it->disp - pos);

		add_call_piece(r, q->payload + at, before, false);
		if (it->type == XMDTYPE_EXRW && it->length)
			add_call_piece(r, q->sinks[pulled++].base, it->length, true);
		else
			add_call_piece(r, q->rtr->base[i], it->length, true);
		at += before;
		pos = (uint64_t)it->disp + it->length + rr_pad(it->length);
	}
	add_call_piece(r, q->payload + at, q->payload_len - at, false);
}
