/* SPDX-License-Identifier: BSD-3-Clause */
#include "drive/reserve.h"

enum {
	REQUEST_BYTES = 4096,  /* the request itself */
	CONN_BYTES = 32 << 10, /* what a connection costs beside its Receives */
};

/* -- how much -------------------------------------------------------------------- */

static uint64_t pulled_bytes(const struct rpcrdma_request *q)
{
	const struct rr_request *r = q->r;
	uint64_t tails =
	        q->served->service->raw ? r->n_reads * (uint64_t)RR_ITEM_TAIL : 0;

	return r->call_bytes + r->read_bytes + tails;
}

/* A client may offer more room than any result of ours can fill. */
static uint64_t result_bytes(const struct rpcrdma_request *q)
{
	const struct rr_served *s = q->served;
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

/* -- waiting ----------------------------------------------------------------------- */

/* The claim is there: it is the request's. */
static void reserved(struct rpcrdma_request *q, uint64_t bytes)
{
	q->reserved += bytes;
	q->room = q->reserved - q->needed;
	rr_reserve_peer(q, true);
	q->ready(q);
}

static void granted(struct rr_claim *k)
{
	struct rpcrdma_request *q = rr_container_of(k, struct rpcrdma_request, claim);

	reserved(q, k->bytes);
	rr_link_touch(q->served->link);
}

static void refuse(struct rpcrdma_request *q)
{
	const struct rr_error e = {.code = RDMA2_ERR_SYSTEM};
	struct rr_link *l = q->served->link;

	rr_conn_refuse(l->conn, q->r, &e, l->engine->now);
}

void rr_reserve(struct rpcrdma_request *q, void (*ready)(struct rpcrdma_request *))
{
	struct rr_holder *h = &q->served->holder;
	uint64_t results = result_bytes(q);

	q->ready = ready;
	q->reserved = q->r->roomed_bytes; /* taken while it came */
	q->needed = q->reserved + REQUEST_BYTES + pulled_bytes(q);
	if (q->needed < h->limit)
		results = RR_MIN(results, h->limit - q->needed);
	else
		results = 0;
	q->claim = (struct rr_claim){.bytes = q->needed - q->reserved + results,
	                             .granted = granted};
	rr_list_init(&q->claim.link);
	switch (q->r->continued ? (rr_holder_extend(h, q->claim.bytes) ? 1 : -ENOMEM)
	                        : rr_holder_claim(h, &q->claim)) {
	case 0:
		q->waits = true;
		break;
	case 1:
		reserved(q, q->claim.bytes);
		break;
	default:
		refuse(q);
		break;
	}
}

bool rr_reserve_leave(struct rpcrdma_request *q)
{
	if (rr_list_empty(&q->claim.link))
		return false;
	rr_holder_leave(&q->served->holder, &q->claim);
	return true;
}

/* -- while it is served -------------------------------------------------------------
 */

bool rr_reserve_take(struct rpcrdma_request *q, size_t bytes)
{
	if (bytes > q->room) {
		if (!rr_holder_extend(&q->served->holder, bytes - q->room))
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
		rr_holder_charge(&q->served->holder, bytes - q->room);
		q->reserved += bytes - q->room;
		q->room = bytes;
	}
	q->room -= bytes;
}

void rr_reserve_peer(struct rpcrdma_request *q, bool moves)
{
	struct rr_served *s = q->served;

	s->peer_bytes -= q->peer_bytes;
	q->peer_bytes = moves ? q->reserved : 0;
	s->peer_bytes += q->peer_bytes;
}

void rr_reserve_answered(struct rpcrdma_request *q)
{
	uint64_t left = q->room;

	q->room = 0;
	q->reserved -= left;
	rr_reserve_peer(q, true);
	if (left)
		rr_holder_give(&q->served->holder, left);
}

void rr_reserve_end(struct rpcrdma_request *q)
{
	uint64_t bytes = q->reserved;

	rr_reserve_peer(q, false);
	q->reserved = q->room = 0;
	if (bytes)
		rr_holder_give(&q->served->holder, bytes);
}

/* -- connections ------------------------------------------------------------------ */

uint64_t rr_reserve_price(const struct rr_link_config *c)
{
	return CONN_BYTES + (uint64_t)RR_FIRST_RECEIVES * c->o.inline_bytes;
}

uint64_t rr_reserve_price_heard(const struct rr_link_config *c)
{
	return (2 * (uint64_t)c->o.credits + 2 - RR_FIRST_RECEIVES) * c->o.inline_bytes;
}

static bool take_room(void *ctx, uint64_t bytes)
{
	struct rr_served *s = ((struct rr_link *)ctx)->served;

	return !s || rr_holder_extend(&s->holder, bytes);
}

static void give_room(void *ctx, uint64_t bytes)
{
	struct rr_served *s = ((struct rr_link *)ctx)->served;

	if (s)
		rr_holder_give(&s->holder, bytes);
}

struct rr_room rr_reserve_room(struct rr_link *l)
{
	return (struct rr_room){take_room, give_room, l};
}
