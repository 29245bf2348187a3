/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues in which requests wait before they are served.
 *
 * A request first waits for its turn: at most max_requests are served at once.  While
 * requests wait, credits are withheld (tx.c), so that few more arrive.  Continued Calls
 * for which memory was granted (collect.c) have their own queue, which has priority.
 * Such a Call begins as soon as the number of requests that have begun and are still
 * unanswered is below max_requests.  Any other request leaves one turn free for each
 * continued Call that arrived earlier.  Otherwise a deadlock would be possible: the
 * request could wait for memory that such a Call holds, while the Call waits for a
 * turn.
 *
 * When its turn has come, a request waits for memory.  The memory for all its RDMA
 * Reads is charged to the quota in one step, in order of arrival.  So each request
 * waits only for requests that make progress.  If all the memory charged belongs to
 * waiting requests, the first of them is refused.
 */
#include "conn/core.h"

/* -- memory ---------------------------------------------------------------- */

/* Returns the number of octets charged to the quota for the request's buffer. */
static uint64_t charged_bytes(const struct rr_request_state *q)
{
	return q->buf.charged ? q->buf.cap : 0;
}

static void unqueue_request(struct rr_conn *c, struct rr_request_state *q)
{
	rr_list_del(&q->req.link);
	c->charged_waiting -= charged_bytes(q);
}

/* Gives memory to the first request that waits for it, or refuses this request.
 * Returns false if it must wait. */
static bool serve_budget(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->budget_queue);
	struct rr_request_state *q;

	if (!l)
		return false;
	q = rr_container_of(l, struct rr_request, link)->priv;
	if (q->phase == RR_REQUEST_ROOM)
		return rr_collect_go_on(c, q);
	if (rr_quota_charge(&c->quota, q->wanted)) {
		q->reserved = q->wanted;
		unqueue_request(c, q);
		rr_pull_start(c, q, RR_REQUEST_EV_RESERVE);
		return true;
	}
	if (c->quota.charged > c->charged_waiting)
		return false;
	unqueue_request(c, q); /* no other request will free memory */
	rr_request_fail(c, q, RDMA2_ERR_SYSTEM, -ENOMEM);
	return true;
}

static void wait_for_memory(struct rr_conn *c, struct rr_request_state *q)
{
	rr_request_move(q, RR_REQUEST_EV_TURN, RR_REQUEST_BUDGET);
	c->charged_waiting += charged_bytes(q);
	rr_list_push(&c->budget_queue, &q->req.link);
}

/* -- turns ----------------------------------------------------------------- */

static void begin_request(struct rr_conn *c, struct rr_request_state *q)
{
	q->begun = true;
	c->n_begun++;
	if (q->wanted)
		wait_for_memory(c, q);
	else if (!q->req.special)
		rr_pull_start(c, q, RR_REQUEST_EV_TURN);
	else
		rr_request_fail(c, q, RDMA2_ERR_BAD_XDR, -EBADMSG); /* the Position Zero
		                                                     * chunk is empty */
}

/* Returns true if another request may be served while @serving requests are being
 * served. */
static bool has_turn(const struct rr_conn *c, unsigned serving)
{
	return serving < c->cfg.max_requests;
}

static void wait_for_turn(struct rr_conn *c, struct rr_request_state *q)
{
	c->n_turns++;
	c->charged_waiting += charged_bytes(q);
	rr_list_push(&c->turns, &q->req.link);
}

static bool begin_roomed(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->roomed_turns);

	if (!l || !has_turn(c, c->n_begun))
		return false;
	rr_list_del(l);
	begin_request(c, rr_container_of(l, struct rr_request, link)->priv);
	return true;
}

static bool begin_next_turn(struct rr_conn *c)
{
	struct rr_list *l = rr_list_first(&c->turns);
	struct rr_request_state *q;

	if (!l || !has_turn(c, c->n_serving - c->n_turns))
		return false;
	q = rr_container_of(l, struct rr_request, link)->priv;
	c->n_turns--;
	unqueue_request(c, q);
	begin_request(c, q);
	return true;
}

static bool has_waiting_request(const struct rr_conn *c)
{
	return !rr_list_empty(&c->roomed_turns) || !rr_list_empty(&c->turns) ||
	       !rr_list_empty(&c->budget_queue);
}

bool rr_request_next(struct rr_conn *c)
{
	return has_waiting_request(c) && rr_conn_live(c) &&
	       (begin_roomed(c) || begin_next_turn(c) || serve_budget(c));
}

void rr_request_begin(struct rr_conn *c, struct rr_request_state *q)
{
	rr_request_move(q, RR_REQUEST_EV_WHOLE, RR_REQUEST_TURN);
	/* n_serving already includes @q. */
	if (!c->n_turns && has_turn(c, c->n_serving - 1))
		begin_request(c, q);
	else
		wait_for_turn(c, q);
}

void rr_request_begin_roomed(struct rr_conn *c, struct rr_request_state *q)
{
	q->wanted = 0; /* the memory granted also covers its Read chunks */
	rr_request_move(q, RR_REQUEST_EV_WHOLE, RR_REQUEST_TURN);
	rr_list_push(&c->roomed_turns, &q->req.link);
	(void)begin_roomed(c); /* the request stays queued if it cannot begin yet */
}
