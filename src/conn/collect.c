/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continued Calls, which arrive in parts.         [v2 §6.2.2.2, M1 to M9]
 *
 * The first part creates a request, which joins the queue for memory like other
 * requests.  When the request is first in the queue, it asks the user (rr_room) for
 * "room": memory for the longest message allowed.  No part is collected before the room
 * is granted.
 *
 * Normal path: first part -> ROOM -> room is granted -> COLLECTING: parts are appended
 * -> the last part has the chunk lists -> its turn -> ADMIT.
 *
 * A Call that has room never waits for a request that may wait for that room.  Only
 * requests that began before the Call asked for room can delay its turn; later requests
 * leave a turn for it (request_queue.c).  A Call asks for room only after all earlier
 * requests have asked for their memory: no request is ahead in the queue, and no
 * Special Call waits for its first octets.
 *
 * Until room is granted, parts stay in their Receive buffers; spare buffers are posted
 * instead, and other messages are served.  Even the last part may arrive before the
 * room is granted.  While parts wait for room, credits are withheld (tx.c), so that the
 * peer pauses.  But the peer sends Replies to our calls only after its continued Call,
 * and a handler that waits for such a Reply may occupy the memory.  So nothing is
 * withheld while any of our calls is outstanding.  If more parts of a Call arrive than
 * can be kept, the Call is refused with RDMA2_ERR_SYSTEM.
 */
#include "conn/core.h"

/* Returns the maximum number of parts that wait for memory.  Withholding credits (tx.c)
 * is not enough to enforce this limit: each message that we send returns one credit,
 * and no credit is withheld at low ceilings. */
static unsigned max_held(const struct rr_conn *c)
{
	return RR_MAX(3 * c->credit.ceiling, (unsigned)RR_HELD_LEAST);
}

/* -- parts ----------------------------------------------------------------- */

/* Keeps the part in its Receive buffer until there is memory.  Returns 0 or the
 * rdma_err code. */
static uint32_t hold_part(struct rr_conn *c, struct rr_request_state *q,
                          struct rr_msg *m)
{
	if (c->n_held == max_held(c) || rr_recv_keep(c, m))
		return RDMA2_ERR_SYSTEM;
	m->rbuf->part = m->payload;
	m->rbuf->part_len = m->payload_len;
	rr_list_push(&q->parts, &m->rbuf->op.link);
	c->n_held++;
	return 0;
}

static struct rr_rbuf *take_held(struct rr_conn *c, struct rr_request_state *q)
{
	struct rr_list *n = rr_list_pop(&q->parts);

	if (!n)
		return NULL;
	c->n_held--;
	return rr_container_of(n, struct rr_rbuf, op.link);
}

/* Appends a part to the request's buffer, which grows as parts arrive, up to the memory
 * granted.  Returns 0 or the rdma_err code. */
static uint32_t append_part(struct rr_conn *c, struct rr_request_state *q,
                            const uint8_t *p, size_t len)
{
	size_t need = q->buf.len + len, cap = RR_MAX(q->buf.cap, (size_t)RR_MBUF_FIRST);

	if (need > q->room)
		return RDMA2_ERR_SYSTEM;
	cap = RR_MAX(cap, q->announced);
	while (cap < need)
		cap *= 2;
	cap = (size_t)RR_MIN(cap, RR_MIN(q->room, (uint64_t)c->cfg.max_message_bytes));
	if (rr_mbuf_alloc(&c->quota, &q->buf, cap))
		return RDMA2_ERR_SYSTEM;
	memcpy(q->buf.p + q->buf.len, p, len);
	q->buf.len += len;
	return 0;
}

/* Copies XID and msg_type from the first octets.  These are checked when the last part
 * arrives, even if no memory has been granted by then. */
static void note_head(struct rr_request_state *q, const uint8_t *p, size_t len)
{
	if (q->collected < RR_RPC_MIN)
		memcpy(q->head + q->collected, p,
		       RR_MIN(len, (size_t)RR_RPC_MIN - q->collected));
}

static uint32_t take_part(struct rr_conn *c, struct rr_request_state *q,
                          struct rr_msg *m)
{
	if (q->collected + m->payload_len > c->cfg.max_message_bytes)
		return RDMA2_ERR_INVAL_CONT; /* [M7] */
	rr_request_event(q, RR_REQUEST_EV_PART);
	note_head(q, m->payload, m->payload_len);
	q->collected += m->payload_len;
	if (m->rest)
		q->announced = q->collected + m->rest;
	c->cont.rest = m->rest;
	c->count.bytes_collected += m->payload_len;
	if (q->phase != RR_REQUEST_COLLECTING)
		return hold_part(c, q, m);
	return append_part(c, q, m->payload, m->payload_len);
}

/* -- room ------------------------------------------------------------------ */

/* Asks rr_room for memory.  Returns false if the Call must wait. */
static bool request_room(struct rr_conn *c, struct rr_request_state *q)
{
	const struct rr_room *r = &c->cfg.room;
	uint64_t bytes = c->granted;

	if (!c->asks) {
		switch (r->ask(r->ctx, &bytes)) {
		case 0:
			c->asks = q;
			return false;
		case 1:
			break;
		default:
			bytes = 0; /* refused, so no part will fit */
		}
	} else if (!bytes) {
		return false;
	}
	c->asks = NULL;
	c->granted = 0;
	q->room = bytes;
	q->roomed = bytes > 0;
	return true;
}

/* Refuses the request with an error and discards the remaining parts of its
 * sequence. */
static void refuse_collected(struct rr_conn *c, struct rr_request_state *q,
                             uint32_t code)
{
	const struct rr_error e = {.code = code};

	if (c->cont.call == q) {
		c->cont.active = false;
		c->cont.call = NULL;
		rr_cont_discard(c, q->req.xid, false);
	}
	rr_request_answer_error(c, q, &e);
	rr_request_end(c, q, -ENOMEM);
}

bool rr_collect_go_on(struct rr_conn *c, struct rr_request_state *q)
{
	uint32_t code = 0;
	struct rr_rbuf *b;

	if (c->n_heads || !request_room(c, q))
		return false;
	rr_list_del(&q->req.link);
	rr_request_move(q, RR_REQUEST_EV_ROOM, RR_REQUEST_COLLECTING);
	while (!code && (b = take_held(c, q))) {
		code = append_part(c, q, b->part, b->part_len);
		rr_recv_put(c, b);
	}
	if (code)
		refuse_collected(c, q, code);
	else if (q->whole)
		rr_request_collected(c, q);
	return true;
}

void rr_conn_room(struct rr_conn *c, uint64_t bytes, rr_time now)
{
	RR_ASSERT(c->asks && bytes);
	c->now = now;
	c->granted = bytes;
}

/* -- receiving parts and ending -------------------------------------------- */

static bool begin_collecting(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_request_state *q = rr_request_new(c, m);

	if (!q)
		return false;
	q->collects = true;
	rr_cont_begin(c, m);
	c->cont.call = q;
	if (!c->cfg.room.ask) { /* the buffer is charged to the quota as it grows */
		rr_request_move(q, RR_REQUEST_EV_PART, RR_REQUEST_COLLECTING);
		q->room = UINT64_MAX;
		q->buf.charged = true;
		return true;
	}
	rr_request_move(q, RR_REQUEST_EV_PART, RR_REQUEST_ROOM);
	rr_list_push(&c->budget_queue, &q->req.link);
	if (rr_list_first(&c->budget_queue) == &q->req.link &&
	    rr_list_empty(&c->actions))
		(void)rr_collect_go_on(c, q); /* if memory is granted at once, no part
		                               * needs to wait */
	return true;
}

/* Checks a Call whose last part has arrived.  Returns 0 or the rdma_err code. */
static uint32_t check_complete(struct rr_conn *c, struct rr_request_state *q,
                               const struct rr_msg *m)
{
	if (!rr_request_is_call(q->head, q->collected, m->p.xid))
		return RDMA2_ERR_BAD_XDR;
	return rr_request_set_chunks(c, q, m) ? 0 : RDMA2_ERR_SYSTEM;
}

static uint32_t collect_part(struct rr_conn *c, struct rr_msg *m)
{
	uint32_t code = rr_cont_check_rest(c, m, c->cfg.max_message_bytes);

	if (code)
		return code;
	if (!c->cont.active && !begin_collecting(c, m))
		return RDMA2_ERR_SYSTEM;
	code = take_part(c, c->cont.call, m);
	if (code || m->more)
		return code;
	return check_complete(c, c->cont.call, m);
}

void rr_collect_received(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_error e = {.code = collect_part(c, m)};
	struct rr_request_state *q = c->cont.call;

	if (e.code) {
		rr_recv_fault(c, m, &e, 0);
		return;
	}
	if (m->more)
		return;
	c->cont.active = false;
	c->cont.call = NULL;
	q->whole = true;
	if (q->phase == RR_REQUEST_COLLECTING)
		rr_request_collected(c, q);
}

void rr_collect_free(struct rr_conn *c, struct rr_request_state *q)
{
	const struct rr_room *r = &c->cfg.room;
	struct rr_rbuf *b;

	while ((b = take_held(c, q)))
		rr_recv_put(c, b);
	if (c->asks == q) {
		q->roomed = c->granted > 0;
		q->room = c->granted;
		c->asks = NULL;
		c->granted = 0;
		if (!q->roomed)
			r->leave(r->ctx);
	}
	if (q->roomed)
		r->give(r->ctx, q->room);
	q->roomed = false;
}
