/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder's requests, from the received Call to REQUEST_DONE.
 *
 * Normal path: the header passes its checks (call_checks.c) -> the Call is complete,
 * either at once or after its parts are collected (collect.c) -> it gets a turn and
 * memory (request_queue.c) -> ADMIT, then its Read chunks are pulled (pull.c) ->
 * REQUEST -> the user's answer (reply.c) -> REQUEST_DONE.  The payload of a Call
 * without Read chunks stays in its Receive buffer.
 *
 * After a loss, a request that waits for the user's answer remains until the user has
 * answered; all others end at once.
 */
#include "conn/core.h"

/* -- creating and ending requests ------------------------------------------ */

void rr_request_move(struct rr_request_state *q, enum rr_request_event by,
                     enum rr_request_phase to)
{
	RR_MACHINE_MOVE(rr_request_machine, q->phase, by, to);
	q->phase = to;
}

struct rr_request_state *rr_request_new(struct rr_conn *c, const struct rr_msg *m)
{
	struct rr_request_state *q;

	if (c->n_serving >= (uint64_t)c->cfg.max_requests + RR_MAX_TURNS)
		return NULL;
	q = rr_slab_get(&c->stock->requests);
	if (!q)
		return NULL;
	memset(q, 0, offsetof(struct rr_request_state, req));
	rr_list_init(&q->parts);
	rr_list_init(&q->op.link);
	rr_list_init(&q->req.link);
	rr_list_push(&c->requests, &q->all);
	q->req.priv = q;
	q->req.xid = m->p.xid;
	q->family = m->family;
	c->n_requests++;
	c->n_serving++;
	q->counted = true;
	return q;
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
	if (c->cfg.features.on)
		rr_rtr_request_free(c, q);
	rr_pull_free(c, q);
	rr_mbuf_free(&c->quota, &q->buf);
	rr_quota_uncharge(&c->quota, q->reserved);
	rr_recv_put(c, q->rbuf);
	if (q->lists)
		rr_slab_put(&c->stock->lists, q->lists);
	rr_list_del(&q->op.link);
	rr_list_del(&q->req.link);
	rr_list_del(&q->all);
	c->n_requests--;
	rr_slab_put(&c->stock->requests, q);
}

void rr_request_polled(struct rr_request_state *q)
{
	q->known = q->with_user = true;
	q->roomed = false; /* the user must now release @room; see rr_request */
}

void rr_request_end(struct rr_conn *c, struct rr_request_state *q, int status)
{
	RR_ASSERT(!q->reads_out && !q->xmits_out);
	rr_request_move(q, RR_REQUEST_EV_END, RR_REQUEST_LEAVING);
	q->with_user = false;
	q->status = status;
	rr_exposure_detach(q);
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

void rr_request_fail(struct rr_conn *c, struct rr_request_state *q, uint32_t code,
                     int status)
{
	const struct rr_error e = {.code = code};

	rr_request_answer_error(c, q, &e);
	rr_request_end(c, q, status);
}

/* -- accepting Calls ------------------------------------------------------- */

/* Fills in the members of rr_request that the user reads at ADMIT. */
static void describe_request(struct rr_request_state *q, bool special, bool continued)
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
		r->read_bytes += l->reads[i + special].length;
	r->n_writes = l ? l->n_writes : 0;
	for (unsigned i = 0; i < r->n_writes; i++)
		r->write_bytes[i] = l->writes[i].length;
	r->has_reply_chunk = l && l->has_reply;
	r->reply_chunk_bytes = r->has_reply_chunk ? l->reply.length : 0;
	r->user = 0;
	r->unreduced = false;
}

/* Returns the handle to invalidate in version 1, in which the Requester cannot choose:
 * the first in the order Read list, Write list, Reply chunk.             [ext §4.7] */
static uint32_t first_handle(const struct rr_lists *l)
{
	return l->n_segs ? l->seg[0].handle : 0;
}

/* Returns the handle that the reply may invalidate: one of this Call's handles, or 0.
 * [K17] */
static uint32_t choose_reply_inv(const struct rr_conn *c, const struct rr_lists *l)
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
	if (!rr_request_check_sizes(c, &m->lists, &q->wanted))
		return false;
	if (!rr_lists_empty(&m->lists)) {
		q->lists = rr_slab_get(&c->stock->lists);
		if (!q->lists)
			return false;
		*q->lists = m->lists;
	}
	describe_request(q, m->p.htype == RDMA2_NOMSG, q->collects);
	q->inv_handle = choose_reply_inv(c, q->lists);
	return true;
}

/* Stores the payload's Receive buffer in the request.  Returns false if there is no
 * memory. */
static bool keep_payload(struct rr_conn *c, struct rr_request_state *q,
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

static void refuse_call(struct rr_conn *c, const struct rr_msg *m, uint32_t code)
{
	const struct rr_error e = {.code = code};

	rr_recv_fault(c, m, &e, 0);
}

/* Accepts a Call that is complete in one message.  The RPC header of a Special Call has
 * not been pulled yet. */
static void accept_call(struct rr_conn *c, struct rr_msg *m)
{
	struct rr_request_state *q;

	if (m->p.htype != RDMA2_NOMSG &&
	    !rr_request_is_call(m->payload, m->payload_len, m->p.xid)) {
		refuse_call(c, m, RDMA2_ERR_BAD_XDR);
		return;
	}
	q = rr_request_new(c, m);
	if (q && rr_request_set_chunks(c, q, m) && keep_payload(c, q, m)) {
		rr_request_begin(c, q);
		return;
	}
	if (q)
		rr_request_free(c, q);
	refuse_call(c, m, RDMA2_ERR_SYSTEM);
}

void rr_request_collected(struct rr_conn *c, struct rr_request_state *q)
{
	q->collects = false;
	q->payload = q->buf.p;
	q->payload_len = q->buf.len;
	q->req.held_bytes = q->buf.cap;
	q->req.roomed_bytes = q->roomed ? q->room : 0;
	if (q->roomed)
		rr_request_begin_roomed(c, q);
	else
		rr_request_begin(c, q);
}

void rr_request_received(struct rr_conn *c, struct rr_msg *m)
{
	bool continued = m->more || rr_cont_is(c, m->p.xid, false);
	struct rr_error e;

	if (!rr_request_check(c, m, &e)) /* [check: positions to limits] */
		rr_recv_fault(c, m, &e, 0);
	else if (continued)
		rr_collect_received(c, m); /* [check: collecting] */
	else
		accept_call(c, m);
}

/* -- the user's answers ---------------------------------------------------- */

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
