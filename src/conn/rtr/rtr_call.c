/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests sent as RDMA2_XMOPT_REQ.                           [ext §5.4, §5.5, §5.8]
 *
 * call_plan.c decides which items are placed by Send and which chunks there are.  Here
 * the group and the Receives for its response are planned, the header is built, and the
 * group is sent when there are enough credits.  A group that has waited too long is sent
 * by base header types, with the same chunks.
 */
#include "conn/core.h"

/* -- the choice ------------------------------------------------------------ */

static bool rtr_in_use(const struct rr_conn *c)
{
	return c->features >> RR_FEATURE_RTR & 1;
}

bool rr_rtr_may_call(const struct rr_conn *c, const struct rr_call_state *s)
{
	return c->rtr.support && rtr_in_use(c) && !c->rtr.refused &&
	       c->cfg.role == RR_CONN_CLIENT && !s->call->recovery.base_types &&
	       !s->call->recovery.error.code &&
	       !(s->call->flags & (RR_CALL_SPECIAL | RR_CALL_WHOLE));
}

bool rr_rtr_call_begin(struct rr_conn *c, struct rr_call_state *s)
{
	s->rtr = rr_rtr_new_outgoing(c);
	return s->rtr;
}

void rr_rtr_call_free(struct rr_conn *c, struct rr_call_state *s)
{
	if (!s->rtr)
		return;
	rr_rtr_incoming_free(c, s->rtr->lent);
	rr_slab_put(&c->rtr.out_slab, s->rtr);
	s->rtr = NULL;
}

bool rr_rtr_call_excise(struct rr_call_state *s, uint32_t disp, const void *base,
                        size_t len)
{
	struct rr_rtr_outgoing *o = s->rtr;

	if (o->n_items == RR_WIRE_RTR_MAX_ITEMS)
		return false;
	(void)rr_stream_add(&o->items, base, len, 0);
	o->item[o->n_items++] = (struct rr_rtr_excised){disp, base, (uint32_t)len};
	return true;
}

/* -- the header ------------------------------------------------------------ */

/* All that is added has space: the plan takes no more segments than a header holds, a
 * call has at most RR_WIRE_MAX_WRITES destinations, and rr_rtr_call_plan counts the
 * items. */

/* Adds the segments of region @m to what was added last. */
static void add_region_segments(const struct rr_conn *c, const struct rr_mr *m,
                                struct rr_rtr_header *h)
{
	struct rr_segment g;
	int err;

	for (size_t at = 0; at < m->len; at += g.length) {
		g = rr_mr_segment(c, m, at);
		err = rr_rtr_add_segment(h, &g);
		RR_ASSERT(!err);
	}
}

/* Returns the number of items that the header will have. */
static unsigned count_request_items(const struct rr_call_state *s)
{
	unsigned n = s->rtr->n_items + s->special;

	for (unsigned i = 0; s->chunks && i < s->chunks->n; i++)
		n += s->chunks->region[i].use == RR_USE_READ;
	return n;
}

static void add_request_item(struct rr_rtr_header *h, uint32_t disp, size_t length,
                             enum rr_wire_rtr_place type)
{
	int err = rr_rtr_add_item(h, disp, (uint32_t)length, type);

	RR_ASSERT(!err);
}

/* Adds the whole Payload stream as an item by explicit RDMA. */
static void add_body(const struct rr_conn *c, const struct rr_call_state *s,
                     struct rr_rtr_header *h)
{
	add_request_item(h, 0, s->stream.left, XMDTYPE_EXRW);
	for (unsigned i = 0; i < s->chunks->n; i++)
		if (s->chunks->region[i].use == RR_USE_CALL)
			add_region_segments(c, &s->chunks->region[i], h);
}

/* Adds the item o->item[i], which is placed by Send.  If @numbers is true, adds its
 * segment numbers too, which begin at index @at of the plan.  Returns the number of
 * segment numbers added. */
static unsigned add_excised(const struct rr_rtr_outgoing *o, struct rr_rtr_header *h,
                            unsigned i, bool numbers, unsigned at)
{
	unsigned n = numbers ? o->plan.tbsns[i] : 0;

	add_request_item(h, o->item[i].disp, o->item[i].length, XMDTYPE_TBSN);
	for (unsigned k = 0; k < n; k++) {
		int err = rr_rtr_add_tbsn(h, o->plan.tbsn[at + k]);

		RR_ASSERT(!err);
	}
	return n;
}

/* Merges the items that the peer reads with the items placed by Send, and adds all in
 * the order of their positions.  Each of the two lists is in that order. */
static void add_items(const struct rr_conn *c, const struct rr_call_state *s,
                      struct rr_rtr_header *h, bool numbers)
{
	const struct rr_rtr_outgoing *o = s->rtr;
	unsigned sent = 0, at = 0;

	for (unsigned i = 0; s->chunks && i < s->chunks->n; i++) {
		const struct rr_mr *m = &s->chunks->region[i];

		if (m->use != RR_USE_READ)
			continue;
		for (; sent < o->n_items && o->item[sent].disp < m->position; sent++)
			at += add_excised(o, h, sent, numbers, at);
		add_request_item(h, m->position, m->len, XMDTYPE_EXRW);
		add_region_segments(c, m, h);
	}
	for (; sent < o->n_items; sent++)
		at += add_excised(o, h, sent, numbers, at);
}

/* Returns how destination @i is directed.  Only explicit RDMA is possible if the peer
 * cannot place results by Send, or if our buffers have no targetable segments. */
static enum rr_wire_rtr_place direction_of(const struct rr_conn *c,
                                           const struct rr_call_state *s, unsigned i)
{
	if (!(c->rtr.support & RTRS_TBSNRESP) || !rr_rtr_targets(&c->rtr.own))
		return XMDTYPE_EXRW;
	switch (s->call->dests[i].direct) {
	case RR_DIRECT_FIT:
		return s->rtr->written >> i & 1 ? XMDTYPE_EXRW : XMDTYPE_TBSN;
	case RR_DIRECT_SEND:
		return XMDTYPE_TBSN;
	case RR_DIRECT_CHOICE:
		return XMDTYPE_CHOICE;
	case RR_DIRECT_BY_SIZE:
		return XMDTYPE_BYSIZE;
	case RR_DIRECT_NONE:
	case RR_DIRECT_WRITE:
		break;
	}
	return XMDTYPE_EXRW;
}

bool rr_rtr_dest_needs_region(const struct rr_conn *c, const struct rr_call_state *s,
                              unsigned i)
{
	return direction_of(c, s, i) != XMDTYPE_TBSN;
}

bool rr_rtr_is_directed(const struct rr_conn *c, const struct rr_call_state *s)
{
	for (unsigned i = 0; i < s->n_writes; i++) {
		enum rr_direct direct = s->call->dests[i].direct;

		if (direct == RR_DIRECT_FIT ? !rr_rtr_dest_needs_region(c, s, i)
		                            : direct != RR_DIRECT_NONE)
			return true;
	}
	return false;
}

bool rr_rtr_write_longest(const struct rr_conn *c, struct rr_call_state *s)
{
	const struct rr_dest *d = s->call->dests;
	unsigned longest = s->call->n_dests;

	for (unsigned i = 0; i < s->call->n_dests; i++)
		if (d[i].direct == RR_DIRECT_FIT &&
		    !rr_rtr_dest_needs_region(c, s, i) &&
		    (longest == s->call->n_dests || d[i].len >= d[longest].len))
			longest = i;
	if (longest == s->call->n_dests)
		return false;
	s->rtr->written |= 1u << longest;
	return true;
}

static uint32_t range_end(const struct rr_dest *d)
{
	return d->end ? d->end : UINT32_MAX;
}

static bool has_range_of(const struct rr_dest *a, const struct rr_dest *b)
{
	return a->begin == b->begin && range_end(a) == range_end(b);
}

/* Adds a direction for each destination.  Destinations of the same range share a set.
 * Only a destination that is not directed to Sends has a region. */
static void add_directions(const struct rr_conn *c, const struct rr_call_state *s,
                           struct rr_rtr_header *h)
{
	const struct rr_dest *d = s->call->dests;
	int err = 0;

	for (unsigned i = 0; i < s->n_writes; i++, d++) {
		enum rr_wire_rtr_place type = direction_of(c, s, i);
		const struct rr_mr *m = rr_call_chunks_find(s->chunks, RR_USE_WRITE, i);

		if (!i || !has_range_of(d - 1, d))
			err = rr_rtr_add_set(h, d->begin, range_end(d));
		RR_ASSERT(!err);
		err = rr_rtr_add_dir(h, d->min_len, type,
		                     type == XMDTYPE_BYSIZE ? d->above : 0);
		RR_ASSERT(!err);
		if (m)
			add_region_segments(c, m, h);
	}
}

/* Builds the header.  Before the regions are registered, their handles are 0. */
static void build_request_header(const struct rr_conn *c, struct rr_call_state *s,
                                 bool numbers)
{
	struct rr_rtr_outgoing *o = s->rtr;
	struct rr_rtr_header *h = &o->h;
	uint32_t rsbuf = h->rsbuf;
	const struct rr_mr *reply;

	rr_rtr_init(h);
	h->rsbuf = rsbuf;
	if (s->chunks)
		h->inv_handle = s->chunks->lists.inv_handle;
	if (s->special)
		add_body(c, s, h);
	add_items(c, s, h, numbers);
	add_directions(c, s, h);
	reply = s->chunks ? rr_call_chunks_find(s->chunks, RR_USE_REPLY, 0) : NULL;
	if (!reply)
		return;
	rr_rtr_begin_reply(h);
	add_region_segments(c, reply, h);
}

/* -- the response's Receives ----------------------------------------------- */

/* Returns the maximum number of Receives reserved for all responses. [ext §5.8] */
static uint32_t most_reserved_in_all(const struct rr_conn *c)
{
	return RR_MAX(c->credit.ceiling, 3u) - 2;
}

/* Returns the maximum number of Receives reserved for one response. */
static uint32_t most_reserved(const struct rr_conn *c)
{
	uint32_t own = RR_MIN(most_reserved_in_all(c), (uint32_t)RR_RTR_MAX_COUNT);

	return RR_MIN(own, c->rtr.response_limit);
}

bool rr_rtr_has_receives(const struct rr_conn *c, const struct rr_call_state *s)
{
	uint32_t want = s->rtr->h.rsbuf;

	return want == 1 || c->rtr.reserved + want <= most_reserved_in_all(c);
}

/* Lists the results that the peer may place by Send.  If @must is true, leaves out the
 * results for which the peer has the choice.  Returns true if the peer has the choice
 * for a result. */
static bool list_expected_results(const struct rr_conn *c,
                                  const struct rr_call_state *s, bool must,
                                  struct rr_rtr_load *l)
{
	bool choices = false;

	l->n_items = 0;
	for (unsigned i = 0; i < s->n_writes; i++) {
		const struct rr_dest *d = &s->call->dests[i];
		enum rr_wire_rtr_place type = direction_of(c, s, i);
		uint32_t len = (uint32_t)RR_MIN(d->len, UINT32_MAX);

		choices = choices || type == XMDTYPE_CHOICE;
		if (type == XMDTYPE_BYSIZE)
			len = RR_MIN(len, d->above);
		if (type != XMDTYPE_EXRW && !(must && type == XMDTYPE_CHOICE))
			l->item[l->n_items++] = len;
	}
	return choices;
}

bool rr_rtr_plan_response(const struct rr_conn *c, struct rr_call_state *s,
                          size_t reply_bytes)
{
	struct rr_rtr_load l = {
	        .buffer = &c->rtr.own,
	        .limit = c->rtr.take_limit,
	        .payload = (reply_bytes + 3) & ~(size_t)3,
	};
	uint32_t most = most_reserved(c);
	struct rr_rtr_plan p;
	bool choices;

	build_request_header(c, s, false);
	l.header = (uint32_t)rr_rtr_response_bytes(&s->rtr->h);
	choices = list_expected_results(c, s, false, &l);
	s->rtr->h.rsbuf = most;
	if (!rr_rtr_plan(&l, most, &p)) {
		s->rtr->h.rsbuf = p.count;
		return true;
	}
	(void)list_expected_results(c, s, true, &l);
	return choices && !rr_rtr_plan(&l, most, &p);
}

/* -- planning -------------------------------------------------------------- */

/* Returns the maximum number of transmissions in a request to the peer. */
static uint32_t most_transmissions(const struct rr_conn *c)
{
	return RR_MIN(c->rtr.request_limit, rr_rtr_most(c));
}

uint64_t rr_rtr_most_placed(const struct rr_conn *c)
{
	return (uint64_t)most_transmissions(c) * c->rtr.target_bytes;
}

bool rr_rtr_call_plan(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_rtr_outgoing *o = s->rtr;

	if (count_request_items(s) > RR_WIRE_RTR_MAX_ITEMS)
		return false;
	build_request_header(c, s, false);
	o->load = (struct rr_rtr_load){
	        .buffer = c->rtr.peer,
	        .limit = c->rtr.limit,
	        .header = (uint32_t)(RR_WIRE_PREFIX + rr_wire_rtr_req_size(&o->h)),
	        .payload = s->special ? 0 : s->stream.left,
	        .n_items = o->n_items,
	};
	for (unsigned i = 0; i < o->n_items; i++)
		o->load.item[i] = o->item[i].length;
	o->payload = &s->stream;
	return !rr_rtr_plan(&o->load, most_transmissions(c), &o->plan);
}

/* -- sending --------------------------------------------------------------- */

/* Reserves the Receives for the response.  Returns false if other responses have
 * reserved too many. */
static bool reserve_receives(struct rr_conn *c, const struct rr_call_state *s)
{
	struct rr_rtr_outgoing *o = s->rtr;

	if (o->reserved || o->h.rsbuf == 1)
		return true;
	if (!rr_rtr_has_receives(c, s))
		return false;
	o->reserved = o->h.rsbuf;
	c->rtr.reserved += o->reserved;
	return true;
}

void rr_rtr_unreserve(struct rr_conn *c, struct rr_call_state *s, uint32_t left)
{
	struct rr_rtr_outgoing *o = s->rtr;

	if (!o || o->reserved <= left)
		return;
	c->rtr.reserved -= o->reserved - left;
	o->reserved = left;
}

/* Returns true if item @k at this position has a Read chunk. */
static bool has_read_chunk(const struct rr_call_state *s, const struct rr_piece *k,
                           size_t position)
{
	for (unsigned i = 0; s->chunks && k->item && i < s->chunks->n; i++) {
		const struct rr_mr *m = &s->chunks->region[i];

		if (m->use == RR_USE_READ && m->position == position &&
		    m->len == k->len)
			return true;
	}
	return false;
}

/* Sends the call by base header types.  Items that were to be placed by Send are put
 * back into the stream. */
static void send_plainly(struct rr_conn *c, struct rr_call_state *s)
{
	const struct rr_call *call = s->call;
	size_t position = 0;

	rr_rtr_unreserve(c, s, 0);
	s->rtr->plain = true;
	if (!s->rtr->n_items)
		return;
	rr_stream_init(&s->stream);
	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];
		size_t pad = k->item ? rr_pad(k->len) : 0;

		if (!has_read_chunk(s, k, position))
			(void)rr_stream_add(&s->stream, k->base, k->len, pad);
		position += k->len + pad;
	}
}

static void send_request(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_rtr_outgoing *o = s->rtr;
	const struct rr_rtr_sending g = {
	        .xid = s->call->xid, .htype = RDMA2_XMOPT_REQ, .call = s};
	size_t payload = s->stream.left;

	build_request_header(c, s, true);
	o->h.count = o->plan.count;
	o->h.pslen = o->plan.pslen;
	rr_call_await(c, s);
	if (!rr_rtr_send_group(c, o, &g)) {
		rr_call_end(c, s, -ENOMEM);
		return;
	}
	c->count.bytes_placed += o->items.left;
	rr_call_sent_whole(c, s, o->plan.count > 1, payload);
}

bool rr_rtr_transmit_call(struct rr_conn *c, struct rr_call_state *s)
{
	bool waits = c->rtr.wait_call == s;

	if (!rtr_in_use(c)) { /* the peer has refused our properties since then */
		rr_rtr_unwait(c, s, NULL);
		send_plainly(c, s);
		return true;
	}
	if (!reserve_receives(c, s))
		return false;
	if (rr_credit_gather(&c->credit, s->rtr->plan.count)) {
		rr_rtr_unwait(c, s, NULL);
		send_request(c, s);
	} else if (!waits) {
		rr_rtr_wait(c, s, NULL);
	} else if (rr_rtr_overdue(c)) {
		rr_rtr_unwait(c, s, NULL);
		send_plainly(c, s);
	} else {
		return false;
	}
	return true;
}

/* -- ending ---------------------------------------------------------------- */

void rr_rtr_call_end(struct rr_conn *c, struct rr_call_state *s)
{
	struct rr_rtr_incoming *in = c->rtr.in;

	rr_rtr_unwait(c, s, NULL);
	rr_rtr_unreserve(c, s, 0);
	if (in && in->response && in->xid == s->call->xid)
		rr_rtr_drop_group(c);
}

void rr_rtr_call_reported(struct rr_conn *c, uint32_t xid)
{
	struct rr_call_state *s = rr_rtr_awaiting(c, xid);

	if (!s)
		return;
	s->call->error = (struct rr_error){.code = RDMA2_ERR_INVAL_CONT};
	rr_recover_note(s);
	s->call->recovery.group_refused = true;
	rr_call_end(c, s, RR_CALL_REMOTE_ERROR);
}

void rr_rtr_refused(struct rr_conn *c, struct rr_call_state *s)
{
	if (!s->rtr || s->rtr->plain)
		return;
	c->rtr.refused = true;
	s->call->recovery.group_refused = true;
}
