/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends, Writes and Reads between the endpoints, and local invalidation.
 *
 * Each direction is a pipe: messages start in order, when the pipe is free, and arrive
 * in order.  An arriving Send uses the oldest Receive at once, and is delivered when
 * its octets and the octets of all earlier Writes are placed.  The peer serves Reads in
 * order.  It checks access when it begins to send the data, and copies the data when it
 * has sent the last octet.
 *
 * Each piece of a Send's or Write's local memory is copied when the piece is placed or
 * when the post completes, whichever is first.  The poster must not change the memory
 * before the completion.
 *
 * Failure: if a message violates the contract, sim_misuse ends the endpoint that
 * receives it.  An event of a flushed op has no effect.
 */
#include "prov/sim/sim_internal.h"

#include <string.h>

static rr_time tx_time(const struct sim_end *e, uint64_t octets)
{
	uint64_t rate = e->conn->opt.dir[e->side].bytes_per_sec;

	return rate ? octets * 1000000000u / rate : 0;
}

rr_time sim_wire(struct sim_end *e, uint64_t octets)
{
	struct rr_sim_world *w = sim_world(e);
	rr_time start = RR_MAX(w->now, e->busy_until);
	rr_time arrive;

	e->busy_until = start + tx_time(e, octets);
	e->count.bytes_sent += octets;
	arrive = e->busy_until + sim_draw(w, e->conn->opt.dir[e->side].delay);
	e->arrive_last = RR_MAX(arrive, e->arrive_last);
	return e->arrive_last;
}

/* Returns true if messages sent by @e still reach the peer. */
static bool reaches_peer(struct sim_end *e)
{
	return !e->conn->cut && !sim_world(e)->opt.silent && sim_running(sim_peer(e));
}

/* Copies @len octets of the op's local memory, starting at @from, to @mem. */
static void gather_local(const struct sim_op *op, uint32_t from, uint8_t *mem,
                         uint32_t len)
{
	for (unsigned i = 0; i < op->n_sge && len; i++) {
		const struct rr_sge *s = &op->sge[i];
		uint32_t n;

		if (from >= s->len) {
			from -= s->len;
			continue;
		}
		n = RR_MIN(len, s->len - from);
		memcpy(mem, (const uint8_t *)s->base + from, n);
		mem += n;
		len -= n;
		from = 0;
	}
}

static void copy_local(struct sim_op *op, uint32_t from, uint8_t *mem, uint32_t len)
{
	if (!len)
		return;
	if (op->copy)
		memcpy(mem, op->copy + from, len);
	else
		gather_local(op, from, mem, len);
}

/* Completes a Send or Write.  If not all of its data has been placed, copies the data
 * first. */
static void complete_post(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	if (op->pieces_left && op->len) {
		op->copy = sim_alloc(op->len);
		gather_local(op, 0, op->copy, op->len);
	}
	sim_op_complete(op, 0);
}

static void complete_post_later(struct sim_op *op)
{
	struct sim_end *e = op->end;
	rr_time at = e->busy_until + sim_draw(sim_world(e), e->conn->opt.send_done);

	at = RR_MAX(at, e->kind_last[op->kind]);
	e->kind_last[op->kind] = at;
	sim_at(e, at, complete_post, op, 0);
}

/* -- Sends ----------------------------------------------------------------- */

/* Returns true if the Send must be dropped, because @e has ended and a Write before the
 * Send may not have been placed. */
static bool lost_with_a_write(const struct sim_end *e, const struct sim_op *op)
{
	return e->state == SIM_ENDED && op->fence && op->fence >= e->ended_at;
}

/* Places a message in the Receive @r.  A pooled Receive gets its memory in two steps, as
 * if the message consisted of two segments.  Returns false if there is no memory. */
static bool place_send(struct sim_end *p, struct sim_op *op, struct sim_op *r)
{
	const struct rr_prov_memory *m = &p->cfg.memory;
	uint32_t half = op->len / 2;
	void *mem = r->sge[0].base;

	if (mem) {
		copy_local(op, 0, mem, op->len);
		return true;
	}
	mem = half ? m->receive(m->ctx, r->token, 0, half) : NULL;
	if (half && !mem)
		return false;
	copy_local(op, 0, mem, half);
	mem = m->receive(m->ctx, r->token, half, RR_MAX(op->len, 1u));
	if (!mem)
		return false;
	copy_local(op, half, (uint8_t *)mem + half, op->len - half);
	return true;
}

static void send_delivered(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	struct sim_op *r = op->recv;
	struct sim_region *reg;

	if (!reaches_peer(e) || r->dead || lost_with_a_write(e, op))
		return;
	if (!place_send(p, op, r)) {
		sim_end_now(p, -ENOMEM, "no memory for a Receive");
		sim_send_end(p, -EPROTO);
		return;
	}
	op->pieces_left = 0;
	r->got = op->len;
	r->handle = op->handle;
	if (op->handle) {
		reg = sim_region_find(p, op->handle);
		if (reg && reg->open) {
			reg->open = false;
			reg->reported = true;
			p->count.remote_invalidations++;
		} else if (!p->conn->opt.survive_inv_twice) {
			sim_misuse(p, "invalidation of a handle that is not valid");
			return;
		}
	}
	p->count.recvs++;
	p->count.bytes_received += op->len;
	sim_op_complete(r, 0);
}

static void send_arrives(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	struct rr_list *l;
	struct sim_op *r;
	rr_time at;

	e->sends_out--;
	if (!reaches_peer(e) || lost_with_a_write(e, op))
		return;
	l = rr_list_pop(&p->recvs);
	if (!l) {
		sim_misuse(p, "Send without Receive");
		return;
	}
	p->n_recvs--;
	r = rr_container_of(l, struct sim_op, txlink);
	if (op->len > r->len) {
		sim_misuse(p, "Send longer than its Receive");
		return;
	}
	op->recv = r;
	r->refs++;
	at = sim_world(e)->now + sim_draw(sim_world(e), e->conn->opt.place);
	at = RR_MAX(at, RR_MAX(op->fence, e->deliver_last));
	e->deliver_last = at;
	sim_at(e, at, send_delivered, op, 0);
}

static void send_start(struct sim_op *op)
{
	struct sim_end *e = op->end;
	rr_time arrive = sim_wire(e, op->len);

	e->sends_out++;
	e->count.sends++;
	e->count.sends_inv += op->handle != 0;
	op->pieces_left = 1;
	op->fence = e->placed_last;
	sim_at(e, arrive, send_arrives, op, 0);
	complete_post_later(op);
}

/* -- Pieces ---------------------------------------------------------------- */

static uint64_t pack_piece(uint32_t from, uint32_t len)
{
	return (uint64_t)from << 32 | len;
}

/* Divides the op into pieces, and schedules a call of @fn for each piece: at @last for
 * one piece, and at random times from @first to @last for the others. */
static void cut_pieces(struct sim_op *op, rr_time first, rr_time last, sim_fn fn)
{
	struct sim_end *e = op->end;
	struct rr_sim_world *w = sim_world(e);
	unsigned max = e->conn->opt.pieces ? e->conn->opt.pieces : 1;
	unsigned n = 1 + (max > 1 ? (unsigned)rr_rng_below(&w->rng, max) : 0);
	unsigned latest = n > 1 ? (unsigned)rr_rng_below(&w->rng, n) : 0;

	op->pieces_left = n;
	for (unsigned i = 0; i < n; i++) {
		uint32_t from = (uint32_t)((uint64_t)op->len * i / n);
		uint32_t to = (uint32_t)((uint64_t)op->len * (i + 1) / n);
		rr_time at = last;

		if (i != latest)
			at = sim_draw(w, (struct rr_sim_range){first, last});
		sim_at(e, at, fn, op, pack_piece(from, to - from));
	}
}

/* -- Writes ---------------------------------------------------------------- */

static void write_piece(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	uint32_t from = (uint32_t)(arg >> 32), len = (uint32_t)arg;
	const char *why;
	uint8_t *mem;

	op->pieces_left--;
	if (!op->len || !reaches_peer(e))
		return;
	mem = sim_region_check(p, op->handle, op->offset, op->len,
	                       RR_ACCESS_REMOTE_WRITE, &why);
	if (!mem) {
		sim_misuse(p, why);
		return;
	}
	copy_local(op, from, mem + from, len);
	p->count.bytes_received += len;
}

static void write_start(struct sim_op *op)
{
	struct sim_end *e = op->end;
	rr_time arrive = sim_wire(e, op->len);
	rr_time last = arrive + sim_draw(sim_world(e), e->conn->opt.place);

	e->count.writes++;
	e->placed_last = RR_MAX(e->placed_last, last);
	cut_pieces(op, arrive - tx_time(e, op->len), last, write_piece);
	complete_post_later(op);
}

/* -- Reads ----------------------------------------------------------------- */

static void read_placed(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	if (e->conn->cut || sim_world(e)->opt.silent)
		return;
	e->reads_out--;
	sim_op_complete(op, 0);
	sim_transmit(e);
}

static void read_piece(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	uint32_t from = (uint32_t)(arg >> 32), len = (uint32_t)arg;

	if (e->conn->cut || sim_world(e)->opt.silent || !len)
		return;
	memcpy((uint8_t *)op->sge[0].base + from, op->copy + from, len);
	e->count.bytes_received += len;
}

/* Returns the region's memory.  If access is not allowed, ends the peer's endpoint and
 * returns NULL. */
static uint8_t *read_source(struct sim_end *e, struct sim_op *op)
{
	struct sim_end *p = sim_peer(e);
	const char *why;
	uint8_t *mem = sim_region_check(p, op->handle, op->offset, op->len,
	                                RR_ACCESS_REMOTE_READ, &why);

	if (!mem)
		sim_misuse(p, why);
	return mem;
}

static void read_leaves(struct sim_end *e, struct sim_op *op, uint64_t arrive)
{
	rr_time last;
	uint8_t *mem;

	if (!reaches_peer(e))
		return;
	if (op->len) {
		mem = read_source(e, op);
		if (!mem)
			return;
		op->copy = sim_alloc(op->len);
		memcpy(op->copy, mem, op->len);
	}
	last = arrive + sim_draw(sim_world(e), e->conn->opt.place);
	last = RR_MAX(last, e->kind_last[RR_WC_READ]);
	e->kind_last[RR_WC_READ] = last;
	cut_pieces(op, arrive, last, read_piece);
	sim_at(e, last, read_placed, op, 0);
}

static void read_served(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	rr_time arrive;

	if (!reaches_peer(e) || (op->len && !read_source(e, op)))
		return;
	arrive = sim_wire(p, op->len);
	sim_at(e, p->busy_until, read_leaves, op, arrive);
}

static void read_asked(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_end *p = sim_peer(e);
	rr_time at =
	        sim_world(e)->now + sim_draw(sim_world(e), e->conn->opt.read_latency);

	if (!reaches_peer(e))
		return;
	p->read_last = RR_MAX(at, p->read_last);
	sim_at(e, p->read_last, read_served, op, 0);
}

static void read_start(struct sim_op *op)
{
	struct sim_end *e = op->end;

	e->reads_out++;
	e->count.reads++;
	sim_at(e, sim_wire(e, 0), read_asked, op, 0);
}

/* -- Queue ----------------------------------------------------------------- */

static void start_post(struct sim_op *op)
{
	rr_list_del(&op->txlink);
	switch (op->kind) {
	case RR_WC_SEND:
		send_start(op);
		return;
	case RR_WC_WRITE:
		write_start(op);
		return;
	case RR_WC_READ:
		read_start(op);
		return;
	case RR_WC_RECV:
	case RR_WC_INVALIDATE:
	case RR_WC_CONNECTED:
	case RR_WC_DISCONNECTED:
		break;
	}
	RR_NEVER("not on the wire");
}

void sim_transmit(struct sim_end *e)
{
	uint32_t ord = e->conn->opt.max_ord ? e->conn->opt.max_ord : 16;
	const struct rr_sim_world *w = sim_world(e);
	struct rr_list *l, *next;

	if (w->opt.stuck_event && w->events >= w->opt.stuck_event)
		return;
	for (l = e->txq.next; l != &e->txq; l = next) {
		struct sim_op *op = rr_container_of(l, struct sim_op, txlink);

		next = l->next;
		if (op->kind != RR_WC_READ || e->reads_out < ord)
			start_post(op);
		else if (e->conn->opt.ord_blocks)
			break;
	}
	if (e->state == SIM_CLOSING && rr_list_empty(&e->txq))
		sim_send_end(e, 0);
}

/* -- Invalidation ---------------------------------------------------------- */

static void complete_invalidate(struct sim_end *e, struct sim_op *op, uint64_t arg)
{
	struct sim_region *r = sim_region_find(e, op->handle);

	/* The region no longer exists if the peer's invalidation was polled in the
	 * meantime. */
	if (r) {
		sim_region_forget(e, r);
		e->count.local_invalidations++;
	}
	sim_op_complete(op, 0);
}

void sim_inv_start(struct sim_op *op)
{
	struct sim_end *e = op->end;
	rr_time at = sim_world(e)->now + sim_draw(sim_world(e), e->conn->opt.inv_done);

	at = RR_MAX(at, e->kind_last[RR_WC_INVALIDATE]);
	e->kind_last[RR_WC_INVALIDATE] = at;
	sim_at(e, at, complete_invalidate, op, 0);
}
