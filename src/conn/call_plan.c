/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of a Call: its format, and the chunks that it provides.
 *
 * A short Call without items or results, whose Reply is short, has no chunks: its plan
 * is its stream alone.  The following is about other Calls.
 *
 * In the first attempt every destination becomes a Write chunk.  Items long enough to
 * justify a separate transfer are reduced, until the peer's segment limit is reached.
 * Other items stay in the payload.  A Reply chunk is provided only for Replies longer
 * than RR_REPLY_CHUNK_PARTS messages, and only if there is memory and a segment for it
 * [v2 §A.2].  A Call whose header would leave no space for a payload is refused locally
 * [M12].  In a second attempt the limits in rr_call.recovery apply (recover.c).
 *
 * A plan registers nothing, but adds the regions that call_chunks.c will register.
 * Each chunk gets one region, except that a Position Zero chunk gets one region for
 * each contiguous run.
 */
#include "conn/core.h"

static struct rr_call_chunks *ensure_chunks(struct rr_conn *c, struct rr_call_state *s)
{
	if (s->chunks)
		return s->chunks;
	s->chunks = rr_slab_get(&c->stock->chunks);
	if (s->chunks) {
		memset(s->chunks, 0, offsetof(struct rr_call_chunks, region));
		rr_lists_init(&s->chunks->lists);
	}
	return s->chunks;
}

static struct rr_mr *add_region(struct rr_call_state *s, enum rr_mr_use use,
                                const void *base, size_t len)
{
	struct rr_call_chunks *o = s->chunks;
	struct rr_mr *m = &o->region[o->n++];

	RR_ASSERT(o->n <= RR_CALL_MAX_REGIONS);
	rr_mr_init(m, &rr_call_mr_owner, s, s->call->xid, use, base, len);
	return m;
}

/* -- planning -------------------------------------------------------------- */

struct call_plan {
	struct rr_conn *c;
	struct rr_call_state *s;
	bool chunks;      /* chunks may be used in this direction */
	size_t payload;   /* octets of the complete Call */
	size_t reducible; /* part of @payload: octets of items that may be reduced */
	size_t segments;  /* segments still allowed, not counting @reserved */
	size_t reserved;  /* segments kept for a Position Zero chunk */
	/* The longest item to place by Send; NULL = place no item by Send. */
	const struct rr_piece *longest_sent;
	bool carries;       /* items stay in the payload */
	unsigned reads;     /* items that may still be reduced */
	size_t lists_bytes; /* octets in the chunk lists so far */
	size_t returned;    /* length in octets of the Reply's header, including the
	                     * chunk lists that it returns */
};

static size_t call_header_bytes(const struct call_plan *p)
{
	return p->c->version->prefix_bytes + p->lists_bytes;
}

/* Allocates segments for a chunk of @len octets.  In the header, the chunk occupies
 * @entry_bytes, plus @each octets for each segment.  Returns false, and allocates
 * nothing, if there are too few segments. */
static bool take_segments(struct call_plan *p, size_t len, size_t entry_bytes,
                          size_t each)
{
	size_t n = rr_mr_count_segments(p->c, len);

	if (n > p->segments)
		return false;
	p->segments -= n;
	p->lists_bytes += entry_bytes + n * each;
	return true;
}

/* Octets in a base header.  The chunks in a header of another family are not longer. */
enum { READ_ENTRY = 24, SEGMENT = 16, WRITE_ENTRY = 8, REPLY_COUNT = 4 };

/* Returns true if chunks may be left out, because this is a second attempt after the
 * peer reported too many segments. */
static bool may_drop_chunks(const struct call_plan *p)
{
	return p->c->version->continues &&
	       p->s->call->recovery.error.code == RDMA2_ERR_SEGMENTS;
}

/* Finds the memory for result number @i.  If a second attempt needs more memory than
 * the user provided, allocates new memory and charges it to the quota. */
static int find_dest_memory(struct call_plan *p, unsigned i, void **ret_base,
                            size_t *ret_len)
{
	const struct rr_recovery *r = &p->s->call->recovery;
	struct rr_mbuf *b = &p->s->chunks->dest;

	*ret_base = p->s->call->dests[i].base;
	*ret_len = p->s->call->dests[i].len;
	if (r->dest != i + 1)
		return 0;
	b->charged = true;
	if (rr_mbuf_alloc(&p->c->quota, b, r->dest_bytes))
		return -ENOMEM;
	*ret_base = b->p;
	*ret_len = r->dest_bytes;
	return 0;
}

/* Like take_segments, but for a chunk that the Reply returns.  Also returns false if
 * one message could not hold the Reply's header and @payload octets. */
static bool take_returned_segments(struct call_plan *p, size_t len, size_t entry_bytes,
                                   size_t payload)
{
	struct call_plan before = *p;

	if (!take_segments(p, len, entry_bytes, SEGMENT))
		return false;
	p->returned += p->lists_bytes - before.lists_bytes;
	if (p->returned + payload <= p->c->props.recv_inline)
		return true;
	*p = before;
	return false;
}

static int plan_write(struct call_plan *p, unsigned i)
{
	void *base;
	size_t len;
	int err;

	if (p->s->rtr && !rr_rtr_dest_needs_region(p->c, p->s, i)) {
		p->s->n_writes++;
		return 0;
	}
	err = find_dest_memory(p, i, &base, &len);
	if (err)
		return err;
	if (!take_returned_segments(p, len, WRITE_ENTRY, 4))
		return -EMSGSIZE;
	if (len)
		add_region(p->s, RR_USE_WRITE, base, len)->index = i;
	p->s->n_writes++;
	return 0;
}

static int plan_writes(struct call_plan *p)
{
	const struct rr_call *call = p->s->call;
	unsigned n = rr_recover_most(call, call->recovery.max_writes, call->n_dests);
	int err = 0;

	if (!p->chunks || (call->flags & RR_CALL_NO_WRITES) || !n)
		return 0;
	if (!ensure_chunks(p->c, p->s))
		return -ENOMEM;
	for (unsigned i = 0; i < n && !err; i++)
		err = plan_write(p, i);
	if (err == -EMSGSIZE && may_drop_chunks(p))
		return 0; /* the peer sends the other results in the payload */
	return err;
}

/* Sets the upper bound on the Reply's length.  The bound includes all results that have
 * no Write chunk. */
static void bound_reply(struct rr_call_state *s)
{
	const struct rr_call *call = s->call;
	size_t more = 0;

	for (unsigned i = s->n_writes; i < call->n_dests; i++)
		more += call->dests[i].len + rr_pad(call->dests[i].len);
	s->reply_bound = call->reply_bytes;
	if (more)
		s->reply_bound =
		        more + RR_MAX(call->reply_bytes, (size_t)RR_UNKNOWN_REPLY);
}

/* Returns the length of the longest Reply that needs no Reply chunk. */
static size_t max_reply_inline(const struct call_plan *p)
{
	size_t most = p->c->props.recv_inline, header = call_header_bytes(p);

	if (p->c->version->continues)
		return (size_t)RR_REPLY_CHUNK_PARTS * most;
	return most - RR_MIN(most, header);
}

/* Returns true if a Reply of at most @want octets needs a Reply chunk, which is not
 * otherwise asked for.                                           [K9, ext §3.4] */
static bool needs_reply_chunk(const struct call_plan *p, size_t want)
{
	const struct rr_call *call = p->s->call;
	size_t simple = p->c->props.recv_inline - p->returned;

	if (!rr_rprc_may_pull(p->c))
		return want > max_reply_inline(p);
	if (p->c->cfg.features.no_reply_chunks || want <= simple)
		return false;
	if (want > p->c->cfg.features.max_pull && want > max_reply_inline(p))
		return true;
	return call->flags & RR_CALL_LARGE_REPLY || call->reply_min > simple;
}

/* Returns true if the user asks for a Reply chunk of any length. */
static bool forces_reply_chunk(const struct call_plan *p)
{
	return p->s->call->flags & RR_CALL_ROOM &&
	       !(p->c->cfg.features.no_reply_chunks && rr_rprc_may_pull(p->c));
}

/* Returns the length for which a Reply chunk may be needed, if the Reply has at most
 * @bound octets; 0 = unknown. */
static size_t expected_reply(const struct rr_conn *c, size_t bound)
{
	return bound || c->version->continues ? bound : RR_UNKNOWN_REPLY;
}

static int add_reply_chunk(struct call_plan *p, size_t want)
{
	struct call_plan before = *p;
	struct rr_call_chunks *o;

	if (want > UINT32_MAX - 3)
		return -EMSGSIZE;
	want = (want + 3) & ~(size_t)3;
	if (!take_returned_segments(p, want, REPLY_COUNT, 0))
		return -EMSGSIZE;
	o = ensure_chunks(p->c, p->s);
	if (o)
		o->reply.charged = p->s->call->recovery.reply_bytes != 0;
	if (!o || rr_mbuf_alloc(&p->c->quota, &o->reply, want)) {
		*p = before;
		return -ENOMEM;
	}
	(void)add_region(p->s, RR_USE_REPLY, o->reply.p, want);
	p->c->count.reply_chunks_offered++;
	return 0;
}

/* Plans the Reply chunk.  In a version with continued Replies, a chunk that cannot be
 * provided is omitted, unless the peer has asked for it. */
static int plan_reply_chunk(struct call_plan *p)
{
	const struct rr_recovery *r = &p->s->call->recovery;
	size_t want = r->reply_bytes ? r->reply_bytes
	                             : expected_reply(p->c, p->s->reply_bound);
	bool forced = r->reply_chunk || forces_reply_chunk(p);
	bool asked = r->reply_bytes || (forced && want);
	int err;

	if (!p->chunks)
		return r->reply_bytes ? -EMSGSIZE : 0;
	if (!asked && !needs_reply_chunk(p, want))
		return 0;
	err = add_reply_chunk(p, want);
	return r->reply_bytes || !p->c->version->continues ? err : 0;
}

static bool is_reducible(const struct call_plan *p, const struct rr_piece *k)
{
	return p->chunks && p->reads && !p->carries && k->item &&
	       k->len >= RR_REDUCE_MIN && !(p->s->call->flags & RR_CALL_NO_REDUCE);
}

static bool reduce_item(struct call_plan *p, const struct rr_piece *k, size_t position)
{
	if (!is_reducible(p, k))
		return false;
	if (!ensure_chunks(p->c, p->s) || !take_segments(p, k->len, 0, READ_ENTRY))
		return false;
	p->reads--;
	add_region(p->s, RR_USE_READ, k->base, k->len)->position = (uint32_t)position;
	return true;
}

/* Returns true if item @a is longer than @b or, if both have the same length, comes
 * after it. */
static bool is_longer(const struct rr_piece *a, const struct rr_piece *b)
{
	return a->len > b->len || (a->len == b->len && a > b);
}

/* Excises the item to place it by Send, unless it is longer than @longest_sent.
 * Returns false if the item is not placed by Send. */
static bool excise_item(const struct call_plan *p, const struct rr_piece *k,
                        size_t position)
{
	return p->longest_sent && !is_longer(k, p->longest_sent) &&
	       is_reducible(p, k) &&
	       rr_rtr_call_excise(p->s, (uint32_t)position, k->base, k->len);
}

/* Reduces items, and adds everything else to the stream. */
static void plan_reads(struct call_plan *p)
{
	const struct rr_call *call = p->s->call;
	size_t position = 0;

	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];
		size_t pad = k->item ? rr_pad(k->len) : 0;

		if (!excise_item(p, k, position) && !reduce_item(p, k, position))
			(void)rr_stream_add(&p->s->stream, k->base, k->len, pad);
		position += k->len + pad;
	}
}

/* Counts the octets of the complete Call, and of the items in it that may be reduced. */
static void measure_call(struct call_plan *p)
{
	const struct rr_call *call = p->s->call;

	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];
		size_t len = k->len + (k->item ? rr_pad(k->len) : 0);

		p->payload += len;
		p->reducible += is_reducible(p, k) ? len : 0;
	}
}

static bool fits_one_message(const struct call_plan *p, size_t payload)
{
	return call_header_bytes(p) + payload <= p->c->props.send_inline;
}

static bool may_continue_call(const struct rr_conn *c)
{
	return c->version->continues && (c->cfg.role == RR_CONN_CLIENT ||
	                                 c->props.peer.rvrsdir >= RDMA2_RVRSDIR_CONT);
}

/* Returns true if there is a credit for each message that the complete Call needs, so
 * that it arrives in one trip. */
static bool fits_credits(const struct call_plan *p)
{
	const struct rr_conn *c = p->c;
	size_t most = c->props.send_inline, header = call_header_bytes(p);

	return may_continue_call(c) && header < most &&
	       p->payload <= (most - header) * (size_t)c->credit.avail;
}

/* Returns true if the items are short enough for the Call to carry.  A second attempt
 * has Read chunks, in case the peer refused a Call of several messages. [K25] */
static bool may_carry_items(const struct call_plan *p)
{
	const struct rr_call *call = p->s->call;

	return p->reducible <= p->c->cfg.send_item_bytes &&
	       !call->recovery.error.code &&
	       !(call->flags & (RR_CALL_SPECIAL | RR_CALL_WHOLE));
}

/* Decides whether the Call carries its items.  An RDMA Read costs another trip, but has
 * no limit of length and uses no credits.                                     [K25] */
static bool carries_items(const struct call_plan *p)
{
	return p->reducible && may_carry_items(p) &&
	       (fits_one_message(p, p->payload) || fits_credits(p));
}

/* Reserves segments for the Position Zero chunk of a Special Call, or of a Call that
 * may become Special, before any item is reduced.  Reserves enough for the longest
 * possible stream. */
static int reserve_special(struct call_plan *p)
{
	unsigned flags = p->s->call->flags;
	bool must = p->chunks && (flags & (RR_CALL_SPECIAL | RR_CALL_WHOLE));
	bool spare = p->c->version->continues && !(flags & RR_CALL_SPECIAL);

	p->s->special = must;
	if (!must && (!p->chunks || p->c->version->continues))
		return 0;
	p->reserved = rr_mr_count_segments(p->c, must ? p->payload
	                                              : p->payload - p->reducible);
	if (p->reserved > p->segments) {
		p->reserved = 0;
		p->s->special = false;
		return spare || may_drop_chunks(p) ? 0 : -EMSGSIZE;
	}
	p->segments -= p->reserved;
	return 0;
}

static bool is_pulled_in_place(const struct rr_slice *k, unsigned runs)
{
	return k->len >= RR_IN_PLACE_MIN && runs < RR_IN_PLACE_RUNS;
}

/* Plans a Position Zero chunk made of several contiguous runs.  The Responder reads
 * long runs in place, and the octets between the runs from a copy.  Returns false if no
 * run is long enough, or the chunk would need too many segments. */
static bool plan_runs(struct call_plan *p)
{
	const struct rr_stream *s = &p->s->stream;
	struct call_plan before = *p;
	size_t between = 0;
	unsigned runs = 0;
	bool ok = true;

	for (unsigned i = 0; ok && i < s->n; i++) {
		const struct rr_slice *k = &s->s[i];

		if (is_pulled_in_place(k, runs)) {
			ok = take_segments(p, between, 0, READ_ENTRY) &&
			     take_segments(p, k->len, 0, READ_ENTRY);
			between = k->pad;
			runs++;
		} else {
			between += k->len + k->pad;
		}
	}
	ok = ok && runs && take_segments(p, between, 0, READ_ENTRY);
	if (!ok)
		*p = before;
	return ok;
}

/* Decides whether to use Special Format, now that the length of the stream is known.
 * In a version without continuation, a Call that does not fit in one message must be
 * sent by Special Format. [RFC 8166 §3.5.3] */
static int plan_special(struct call_plan *p)
{
	if (p->reserved && !fits_one_message(p, p->s->stream.left))
		p->s->special = true;
	p->segments += p->reserved;
	if (!p->s->special)
		return 0;
	p->s->in_place = plan_runs(p);
	if (!p->s->in_place && !take_segments(p, p->s->stream.left, 0, READ_ENTRY))
		return -EMSGSIZE; /* the stream needs too many segments, because some
		                   * items could not be reduced */
	return ensure_chunks(p->c, p->s) ? 0 : -ENOMEM;
}

static void add_special_run(struct rr_call_state *s, const uint8_t *base, size_t len)
{
	if (len)
		(void)add_region(s, RR_USE_CALL, base, len);
}

/* Returns how many octets of the stream will be copied into special_buf. */
static size_t count_special_copies(const struct rr_call_state *s)
{
	size_t sum = s->stream.left;
	unsigned runs = 0;

	for (unsigned i = 0; s->in_place && i < s->stream.n; i++)
		if (is_pulled_in_place(&s->stream.s[i], runs)) {
			sum -= s->stream.s[i].len;
			runs++;
		}
	return sum;
}

/* Adds the regions of the Position Zero chunk.  Copies the octets and the padding that
 * are not pulled in place. */
static int fill_special(struct rr_conn *c, struct rr_call_state *s)
{
	uint8_t *run, *at;
	unsigned runs = 0;

	if (rr_mbuf_alloc(&c->quota, &s->chunks->special, count_special_copies(s)))
		return -ENOMEM;
	run = at = s->chunks->special.p;
	for (unsigned i = 0; i < s->stream.n; i++) {
		const struct rr_slice *k = &s->stream.s[i];

		if (s->in_place && is_pulled_in_place(k, runs)) {
			add_special_run(s, run, (size_t)(at - run));
			add_special_run(s, k->base, k->len);
			run = at;
			runs++;
		} else { /* @k->len > 0: only items are padded, and an empty item needs
		          * no padding */
			memcpy(at, k->base, k->len);
			at += k->len;
		}
		for (size_t pad = k->pad; pad; pad--)
			*at++ = 0;
	}
	add_special_run(s, run, (size_t)(at - run));
	return 0;
}

static int check_header_room(const struct call_plan *p)
{
	const struct rr_conn *c = p->c;
	size_t header = call_header_bytes(p);

	if (p->s->special)
		return header <= c->props.send_inline ? 0 : -EMSGSIZE;
	if (header + 4 > c->props.send_inline)
		return -EMSGSIZE;
	if (!fits_one_message(p, p->s->stream.left) && !may_continue_call(c))
		return -EMSGSIZE; /* [R5] */
	return 0;
}

/* Allocates segments in this order: Special Call, Write chunks, Reply chunk, reduced
 * items. */
static int plan_call(struct call_plan *p)
{
	int err = reserve_special(p);

	if (!err)
		err = plan_writes(p);
	if (err)
		return err;
	bound_reply(p->s);
	err = plan_reply_chunk(p);
	if (err)
		return err;
	p->carries = carries_items(p);
	p->s->carries = p->carries && !fits_one_message(p, p->payload);
	plan_reads(p);
	err = plan_special(p);
	if (!err)
		err = check_header_room(p);
	if (!err && p->s->special)
		err = fill_special(p->c, p->s);
	return err;
}

/* -- Calls without chunks -------------------------------------------------- */

enum { HEADER_MAX = 64 }; /* no header without chunks has more octets */

/* Returns true if no chunk is asked for, no result may be moved by one, and the Reply is
 * short. */
static bool is_plain_call(const struct rr_conn *c, const struct rr_call *call)
{
	return !call->n_dests && !call->recovery.error.code &&
	       !(call->flags & (RR_CALL_SPECIAL | RR_CALL_WHOLE | RR_CALL_ROOM)) &&
	       expected_reply(c, call->reply_bytes) <=
	               c->props.recv_inline - HEADER_MAX;
}

/* Plans a Call that fits in one message and has no item to reduce.  Returns false if it
 * is another Call, which may need chunks. */
static bool plan_plain(const struct rr_conn *c, struct rr_call_state *s)
{
	const struct rr_call *call = s->call;
	size_t space = c->props.send_inline - HEADER_MAX;

	if (!is_plain_call(c, call))
		return false;
	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];
		size_t pad = k->item ? rr_pad(k->len) : 0;

		if (k->len + pad > space || (k->item && k->len >= RR_REDUCE_MIN)) {
			rr_stream_init(&s->stream);
			return false;
		}
		space -= k->len + pad;
		(void)rr_stream_add(&s->stream, k->base, k->len, pad);
	}
	s->reply_bound = call->reply_bytes;
	return true;
}

/* -- groups [ext §5.8] ----------------------------------------------------- */

/* Returns true if the user asks for optional ways to place results. */
static bool asks_directions(const struct rr_call *call)
{
	for (unsigned i = 0; i < call->n_dests; i++)
		if (call->dests[i].direct != RR_DIRECT_NONE)
			return true;
	return false;
}

/* Plans the Receives for a response of unstated length, which the user thereby promises
 * to be short.  Returns false if these Receives cannot be reserved now.  Also returns
 * false if no item is placed by Send and no result is directed, because a group then
 * saves too little. [O13] */
static bool plan_short_reply(const struct call_plan *p)
{
	size_t most = (size_t)RR_SHORT_REPLY_PARTS * p->c->props.recv_inline;

	return (p->longest_sent || rr_rtr_is_directed(p->c, p->s)) &&
	       rr_rtr_plan_response(p->c, p->s, most) &&
	       rr_rtr_has_receives(p->c, p->s);
}

/* Plans the Receives for the response and, if they do not suffice, a Reply chunk.  They
 * limit the length of a response, but not that of a Reply by base header types. */
static bool plan_group_reply(struct call_plan *p)
{
	size_t want = p->s->reply_bound;

	if (!want)
		return plan_short_reply(p);
	if (rr_rtr_plan_response(p->c, p->s, want))
		return true;
	return !add_reply_chunk(p, want) && rr_rtr_plan_response(p->c, p->s, 0);
}

static void forget_results(struct call_plan *p, const struct call_plan *before)
{
	struct rr_call_state *s = p->s;

	if (s->chunks && s->chunks->reply.p)
		p->c->count.reply_chunks_offered--;
	rr_call_chunks_free(p->c, s);
	s->n_writes = 0;
	*p = *before;
}

/* Plans the results and the response.  While the response cannot hold all results that
 * are to be placed by Send, the longest RR_DIRECT_FIT result is written instead. */
static bool plan_group_results(struct call_plan *p)
{
	const struct call_plan before = *p;

	for (;;) {
		if (!plan_writes(p)) {
			bound_reply(p->s);
			if (plan_group_reply(p))
				return true;
		}
		if (!rr_rtr_write_longest(p->c, p->s))
			return false;
		forget_results(p, &before);
	}
}

/* Plans a group.  Places item @longest and all shorter items by Send, or no item if
 * @longest is NULL.  If @body is true, the peer pulls the whole Payload stream. */
static bool plan_group(struct call_plan *p, const struct rr_piece *longest, bool body)
{
	struct rr_call_state *s = p->s;

	p->longest_sent = longest;
	if (!rr_rtr_call_begin(p->c, s) || !plan_group_results(p))
		return false;
	plan_reads(p);
	s->special = body;
	if (body && (plan_special(p) || fill_special(p->c, s)))
		return false;
	return rr_rtr_call_plan(p->c, s);
}

/* Undoes an attempt to plan a group. */
static void forget_group(struct call_plan *p, const struct call_plan *before)
{
	struct rr_call_state *s = p->s;

	forget_results(p, before);
	rr_rtr_call_free(p->c, s);
	rr_stream_init(&s->stream);
	s->special = s->in_place = false;
}

/* Returns true if a group may be better than a message of a base type. */
static bool may_profit(const struct call_plan *p)
{
	return asks_directions(p->s->call) || !fits_one_message(p, p->payload) ||
	       (p->reducible && !may_carry_items(p));
}

/* Returns true if the planned group is better than a message of a base type. */
static bool is_profitable(const struct call_plan *p)
{
	return rr_rtr_is_directed(p->c, p->s) ||
	       !fits_one_message(p, p->s->stream.left);
}

/* Returns the longest item that may be placed by Send and that is_longer() ranks below
 * @than, or NULL if there is none.  @than NULL = no upper bound. */
static const struct rr_piece *next_shorter_item(const struct call_plan *p,
                                                const struct rr_piece *than)
{
	const struct rr_call *call = p->s->call;
	const struct rr_piece *longest = NULL;

	for (unsigned i = 0; i < call->n_pieces; i++) {
		const struct rr_piece *k = &call->pieces[i];

		if (is_reducible(p, k) && k->len <= rr_rtr_most_placed(p->c) &&
		    k->len <= p->c->cfg.features.tbsn_max &&
		    (!than || is_longer(than, k)) &&
		    (!longest || is_longer(k, longest)))
			longest = k;
	}
	return longest;
}

/* Plans the call as a group, if that is possible and better than base header types.
 * Tries three plans in order: place items by Send, and have the longest ones pulled if
 * not all fit; have all items pulled; have the Payload stream pulled as well. */
static bool plan_as_group(struct call_plan *p)
{
	const struct call_plan before = *p;
	const struct rr_piece *longest = NULL;

	while ((longest = next_shorter_item(p, longest))) {
		if (plan_group(p, longest, false))
			return true;
		forget_group(p, &before);
	}
	if (plan_group(p, NULL, false)) {
		if (is_profitable(p))
			return true;
	} else if (!fits_one_message(p, p->s->stream.left)) {
		forget_group(p, &before);
		if (plan_group(p, NULL, true))
			return true;
	}
	forget_group(p, &before);
	return false;
}

/* Plans a call that may need chunks. */
static int plan_with_chunks(struct rr_conn *c, struct rr_call_state *s)
{
	const struct rr_recovery *r = &s->call->recovery;
	const struct rr_head call = {.family = s->family, .htype = RDMA2_MSG};
	const struct rr_head reply = {
	        .family = s->family, .htype = RDMA2_MSG, .flags = RDMA2_F_RESPONSE};
	struct call_plan p = {
	        .c = c,
	        .s = s,
	        .chunks = c->cfg.role == RR_CONN_CLIENT ||
	                  c->props.peer.rvrsdir == RDMA2_RVRSDIR_GENL,
	        .segments = rr_recover_most(s->call, r->max_segments,
	                                    c->props.max_segments),
	        .reads = rr_recover_most(s->call, r->max_reads, RR_CALL_MAX_PIECES),
	        .lists_bytes =
	                s->family->header_bytes(c, &call) - c->version->prefix_bytes,
	        .returned = s->family->header_bytes(c, &reply),
	};

	measure_call(&p);
	if (rr_rtr_may_call(c, s) && may_profit(&p) && plan_as_group(&p)) {
		s->family =
		        &rr_base_family; /* if it is not sent as a group after all */
		return 0;
	}
	return plan_call(&p);
}

int rr_call_plan(struct rr_conn *c, struct rr_call_state *s)
{
	if (c->cfg.role == RR_CONN_SERVER &&
	    c->props.peer.rvrsdir == RDMA2_RVRSDIR_NONE)
		return -EPROTONOSUPPORT; /* [R2] */
	s->family = s->call->recovery.base_types ? &rr_base_family
	                                         : rr_htfam_call_family(c);
	return plan_plain(c, s) ? 0 : plan_with_chunks(c, s);
}
