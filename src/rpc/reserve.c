/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/reserve.h"

enum {
	REQUEST_BYTES = 4096,  /* struct rpcrdma_request */
	CONN_BYTES = 32 << 10, /* a connection without its Receives */
};

/* -- amounts --------------------------------------------------------------- */

static uint64_t pulled_bytes(const struct rpcrdma_request *q)
{
	const struct rr_request *r = q->r;
	uint64_t items = q->placed ? 0 : r->read_bytes;
	uint64_t tails =
	        q->dispatch->service->pass ? r->n_reads * (uint64_t)RR_ITEM_TAIL : 0;

	return r->call_bytes + items + tails;
}

/* Returns the number of octets to reserve for results.  Chunks are counted only up to
 * our limits, because a client may offer chunks larger than any result. */
static uint64_t result_bytes(const struct rpcrdma_request *q)
{
	const struct rr_dispatch *s = q->dispatch;
	const struct rr_request *r = q->r;
	uint64_t sum = 0;

	for (unsigned i = 0; i < r->n_writes; i++)
		sum += RR_MIN(r->write_bytes[i], (uint64_t)s->max_chunk_bytes);
	if (r->has_reply_chunk)
		sum += RR_MIN(r->reply_chunk_bytes, (uint64_t)s->max_message_bytes);
	else
		sum += s->inline_bytes;
	return sum;
}

/* -- Calls in parts -------------------------------------------------------- */

/* Returns the number of octets to reserve for a Call in parts.  They are enough for the
 * longest message allowed and an inline reply.  Octets that the parts do not need are
 * used for chunks. */
static uint64_t sequence_bytes(const struct rr_dispatch *s)
{
	uint64_t n = s->max_message_bytes + (uint64_t)REQUEST_BYTES + s->inline_bytes;

	return RR_MIN(n, RR_MIN(s->holder.limit, s->holder.budget->limit / 2));
}

/* Records that the reserved memory is in use until the peer has sent the other parts.
 * Returns the number of octets reserved. */
static uint64_t sequence_begins(struct rr_dispatch *s)
{
	s->peer_bytes += s->sequence.bytes;
	return s->sequence.bytes;
}

static void sequence_granted(struct rr_claim *k)
{
	struct rr_dispatch *s = rr_container_of(k, struct rr_dispatch, sequence);

	rr_conn_room(s->link->conn, sequence_begins(s), s->engine->now);
	rr_link_touch(s->link);
}

static int ask_room(void *ctx, uint64_t *ret_bytes)
{
	struct rr_dispatch *s = ((struct rr_link *)ctx)->dispatch;
	int n;

	if (!s) { /* the link's owner counts no memory */
		*ret_bytes = UINT64_MAX;
		return 1;
	}
	s->sequence = (struct rr_claim){.bytes = sequence_bytes(s),
	                                .granted = sequence_granted};
	rr_list_init(&s->sequence.link);
	n = rr_holder_claim(&s->holder, &s->sequence);
	if (n == 1)
		*ret_bytes = sequence_begins(s);
	return n;
}

static void leave_room(void *ctx)
{
	struct rr_dispatch *s = ((struct rr_link *)ctx)->dispatch;

	rr_holder_leave(&s->holder, &s->sequence);
}

void rr_reserve_sequence_over(struct rr_dispatch *s, uint64_t bytes)
{
	s->peer_bytes -= bytes;
}

static void give_room(void *ctx, uint64_t bytes)
{
	struct rr_dispatch *s = ((struct rr_link *)ctx)->dispatch;

	if (!s)
		return;
	rr_reserve_sequence_over(s, bytes);
	rr_holder_give(&s->holder, bytes);
}

const struct rr_room rr_reserve_room = {ask_room, leave_room, give_room, NULL};

/* -- exposed replies ------------------------------------------------------- */

static bool take_exposed(void *ctx, uint64_t bytes, bool in_place)
{
	struct rr_dispatch *s = ((struct rr_link *)ctx)->dispatch;

	if (!rr_holder_expose(&s->holder, bytes, s->rprc_total_bytes, in_place))
		return false;
	s->peer_bytes += bytes;
	return true;
}

static void give_exposed(void *ctx, uint64_t bytes, bool in_place)
{
	struct rr_dispatch *s = ((struct rr_link *)ctx)->dispatch;

	s->peer_bytes -= bytes;
	s->unexposed_bytes += bytes;
	rr_holder_unexpose(&s->holder, bytes, in_place);
	/* The connection is the caller, so it must not be closed here. */
	rr_engine_later(s->engine, &s->unexposed);
}

const struct rr_exposure_budget rr_reserve_exposures = {take_exposed, give_exposed,
                                                        NULL};

/* -- waiting --------------------------------------------------------------- */

/* Records that @bytes were reserved, and calls @ready. */
static void note_reserved(struct rpcrdma_request *q, uint64_t bytes)
{
	q->reserved += bytes;
	q->room = q->reserved - q->needed;
	rr_reserve_peer(q, true);
	q->ready(q);
}

static void claim_granted(struct rr_claim *k)
{
	struct rpcrdma_request *q = rr_container_of(k, struct rpcrdma_request, claim);

	note_reserved(q, k->bytes);
	rr_link_touch(q->dispatch->link);
}

static void refuse_for_memory(struct rpcrdma_request *q)
{
	const struct rr_error e = {.code = RDMA2_ERR_SYSTEM};
	struct rr_link *l = q->dispatch->link;

	rr_conn_refuse(l->conn, q->r, &e, l->engine->now);
}

/* Adjusts a reservation that was made with the first part of a Call.  Releases excess
 * memory.  If memory is missing, reserves it at once or refuses the request, because
 * the request must not wait. */
static void adjust_reserved(struct rpcrdma_request *q, uint64_t wanted)
{
	struct rr_holder *h = &q->dispatch->holder;
	uint64_t has = q->reserved;

	if (wanted > has && !rr_holder_extend(h, wanted - has)) {
		wanted = RR_MAX(q->needed, has);
		if (wanted > has && !rr_holder_extend(h, wanted - has)) {
			refuse_for_memory(q);
			return;
		}
	}
	q->reserved = wanted;
	note_reserved(q, 0);
	if (wanted < has)
		rr_holder_give(h, has - wanted);
}

static void claim_room(struct rpcrdma_request *q, uint64_t wanted)
{
	q->claim = (struct rr_claim){.bytes = wanted, .granted = claim_granted};
	rr_list_init(&q->claim.link);
	switch (rr_holder_claim(&q->dispatch->holder, &q->claim)) {
	case 0:
		q->waits = true;
		break;
	case 1:
		note_reserved(q, wanted);
		break;
	default:
		refuse_for_memory(q);
		break;
	}
}

void rr_reserve(struct rpcrdma_request *q, void (*ready)(struct rpcrdma_request *))
{
	uint64_t results = result_bytes(q), limit = q->dispatch->holder.limit;

	q->ready = ready;
	q->reserved = q->r->roomed_bytes;
	q->needed = q->r->held_bytes + REQUEST_BYTES + pulled_bytes(q);
	if (q->needed < limit)
		results = RR_MIN(results, limit - q->needed);
	else
		results = 0;
	if (q->reserved)
		adjust_reserved(q, q->needed + results);
	else
		claim_room(q, q->needed + results);
}

bool rr_reserve_leave(struct rpcrdma_request *q)
{
	if (rr_list_empty(&q->claim.link))
		return false;
	rr_holder_leave(&q->dispatch->holder, &q->claim);
	return true;
}

/* -- during execution ------------------------------------------------------ */

bool rr_reserve_take(struct rpcrdma_request *q, size_t bytes)
{
	if (bytes > q->room) {
		if (!rr_holder_extend(&q->dispatch->holder, bytes - q->room))
			return false;
		q->reserved += bytes - q->room;
		q->room = bytes;
	}
	q->room -= bytes;
	return true;
}

void rr_reserve_charge(struct rpcrdma_request *q, size_t bytes)
{
	if (bytes > q->room) {
		rr_holder_charge(&q->dispatch->holder, bytes - q->room);
		q->reserved += bytes - q->room;
		q->room = bytes;
	}
	q->room -= bytes;
}

void rr_reserve_peer(struct rpcrdma_request *q, bool moves)
{
	struct rr_dispatch *s = q->dispatch;

	s->peer_bytes -= q->peer_bytes;
	q->peer_bytes = moves ? q->reserved : 0;
	s->peer_bytes += q->peer_bytes;
}

void rr_reserve_answered(struct rpcrdma_request *q)
{
	uint64_t left = q->room > q->dispatch->inline_bytes ? q->room : 0;

	q->room -= left;
	q->reserved -= left;
	rr_reserve_peer(q, true);
	if (left)
		rr_holder_give(&q->dispatch->holder, left);
}

void rr_reserve_end(struct rpcrdma_request *q)
{
	uint64_t bytes = q->reserved;

	rr_reserve_peer(q, false);
	q->reserved = q->room = 0;
	if (bytes)
		rr_holder_give(&q->dispatch->holder, bytes);
}

/* -- connections ----------------------------------------------------------- */

uint64_t rr_reserve_price(const struct rr_link *l)
{
	return CONN_BYTES + RR_FIRST_RECEIVES * rr_conn_receive_bytes(l->conn);
}

static uint64_t count_receives(const struct rr_link_config *c)
{
	return 2 * (uint64_t)c->o.credits + 2;
}

uint64_t rr_reserve_price_heard(const struct rr_link *l, const struct rr_link_config *c)
{
	return (count_receives(c) - RR_FIRST_RECEIVES) * rr_conn_receive_bytes(l->conn);
}

bool rr_reserve_affords_segments(const struct rr_link_config *c)
{
	const struct rr_feature_config *f = &c->features.config;
	uint64_t each = (uint64_t)f->rtr_segments * f->rtr_segment_bytes;

	return rr_budget_spares(rr_budget_process(), each * count_receives(c));
}
