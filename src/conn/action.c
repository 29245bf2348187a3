/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of actions, and the completions of posts.
 *
 * Actions are polled in the order in which they were queued: a Receive before the Sends
 * whose credits depend on it, Writes before the Send that reports them.  When the queue
 * is empty, requests that wait for a turn or for memory may begin, and tx.c chooses the
 * next message.  So each message is chosen as late as possible, and one loop over
 * rr_conn_next handles all pending work.
 *
 * A token is the address of an rr_op.  Each polled post gets one completion.  A
 * completion that arrives after a loss is ignored.
 */
#include "conn/core.h"

void rr_action_enqueue(struct rr_conn *c, struct rr_op *op, enum rr_action_kind kind)
{
	op->kind = kind;
	rr_list_push(&c->actions, &op->link);
}

bool rr_action_cancel(struct rr_op *op)
{
	bool queued = !rr_list_empty(&op->link);

	rr_list_del(&op->link);
	return queued;
}

/* -- polling --------------------------------------------------------------- */

static void poll_xmit(struct rr_conn *c, struct rr_xmit *x, struct rr_action *ret)
{
	rr_list_push(&c->in_flight, &x->op.link);
	for (unsigned i = 0; i < x->n_sge; i++)
		ret->sge[i] = x->sge[i];
	ret->n_sge = x->n_sge;
	ret->inv_handle = x->inv_handle;
	ret->handle = x->handle;
	ret->offset = x->offset;
}

static void poll_recv(const struct rr_conn *c, const struct rr_rbuf *b,
                      struct rr_action *ret)
{
	ret->sge[0] = (struct rr_sge){.base = b->data, .len = (uint32_t)c->rbuf_bytes};
}

static void poll_read(const struct rr_read_op *r, struct rr_action *ret)
{
	ret->sge[0] = r->sge;
	ret->handle = r->handle;
	ret->offset = r->offset;
}

static void poll_register(const struct rr_mr *m, struct rr_action *ret)
{
	ret->sge[0] = (struct rr_sge){.base = m->base,
	                              .len = (uint32_t)RR_MIN(m->len, UINT32_MAX)};
	ret->reg_len = m->len;
	ret->access = rr_mr_access(m);
}

static void poll_request(struct rr_conn *c, struct rr_request_state *q,
                         struct rr_action *ret)
{
	ret->request = &q->req;
	ret->status = q->status;
	if (q->op.kind == RR_ACT_REQUEST_DONE)
		c->polled = &q->op;
	else
		rr_request_polled(q);
}

static void poll_call(struct rr_conn *c, struct rr_call_state *s, struct rr_action *ret)
{
	ret->call = s->call;
	ret->status = s->status;
	rr_call_polled(c, s);
}

static void poll_action(struct rr_conn *c, struct rr_op *op, struct rr_action *ret)
{
	ret->kind = op->kind;
	ret->token = rr_op_token(op);
	switch (op->kind) {
	case RR_ACT_POST_RECV:
		poll_recv(c, rr_container_of(op, struct rr_rbuf, op), ret);
		break;
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
		poll_xmit(c, rr_container_of(op, struct rr_xmit, op), ret);
		break;
	case RR_ACT_READ:
		poll_read(rr_container_of(op, struct rr_read_op, op), ret);
		break;
	case RR_ACT_REGISTER:
		poll_register(rr_container_of(op, struct rr_mr, op), ret);
		break;
	case RR_ACT_INVALIDATE:
		ret->handle = rr_container_of(op, struct rr_mr, op)->handle;
		break;
	case RR_ACT_ADMIT:
	case RR_ACT_REQUEST:
	case RR_ACT_REQUEST_DONE:
		poll_request(c, rr_container_of(op, struct rr_request_state, op), ret);
		break;
	case RR_ACT_CALL_DONE:
		poll_call(c, rr_container_of(op, struct rr_call_state, op), ret);
		break;
	case RR_ACT_EXTENSION:
		c->polled = op;
		ret->ext = &rr_container_of(op, struct rr_ext_node, op)->ev;
		break;
	case RR_ACT_DISCONNECT:
		ret->status = c->disconnect_status;
		break;
	case RR_ACT_READY:
	case RR_ACT_CLOSED:
		break;
	}
}

/* If the connection is lost and no call or request remains, stores CLOSED, the last
 * action, in @ret and returns true. */
static bool poll_closed(struct rr_conn *c, struct rr_action *ret)
{
	if (c->state != RR_CONN_LOST || c->n_calls || c->n_requests)
		return false;
	rr_conn_move(c, RR_CONN_EV_EMPTY, RR_CONN_CLOSED);
	ret->kind = RR_ACT_CLOSED;
	ret->status = c->error;
	return true;
}

void rr_action_release(struct rr_conn *c)
{
	struct rr_op *op = c->polled;

	c->polled = NULL;
	if (op && op->kind == RR_ACT_REQUEST_DONE)
		rr_request_free(c, rr_container_of(op, struct rr_request_state, op));
	else if (op)
		rr_ext_free(c, rr_container_of(op, struct rr_ext_node, op));
}

/* Queues actions for work that has waited until no other action was queued.  Returns
 * false if there is no such work. */
static bool queue_more(struct rr_conn *c)
{
	while (rr_request_next(c) || (c->busy && rr_features_progress(c)) ||
	       rr_tx_send_next(c))
		if (!rr_list_empty(&c->actions))
			return true;
	return false;
}

bool rr_conn_next(struct rr_conn *c, struct rr_action *ret)
{
	struct rr_list *n;

	if (c->polled)
		rr_action_release(c);
	if (rr_list_empty(&c->actions) && !queue_more(c))
		return poll_closed(c, ret);
	n = rr_list_pop(&c->actions);
	poll_action(c, rr_container_of(n, struct rr_op, link), ret);
	return true;
}

/* -- completions ----------------------------------------------------------- */

/* Completes a Send or Write.  Returns false if no action results.  Other messages may
 * have waited for this one in three cases: a feature has work, the message belongs to a
 * request, or they could not be sent. */
static bool complete_xmit(struct rr_conn *c, struct rr_xmit *x, int status)
{
	bool awaited = x->request || c->busy || rr_tx_clogged(c) || c->tx.stalled;

	rr_xmit_completed(c, x, status);
	return awaited || !rr_list_empty(&c->actions);
}

bool rr_conn_completed(struct rr_conn *c, uint64_t token, int status, rr_time now)
{
	struct rr_op *op = (struct rr_op *)(uintptr_t)token;

	c->now = now;
	if (rr_conn_dead(c))
		return false;
	rr_conn_event(c, RR_CONN_EV_COMPLETE);
	switch (op->kind) {
	case RR_ACT_POST_RECV:
		rr_recv_flushed(c, rr_container_of(op, struct rr_rbuf, op), status);
		return true;
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
		return complete_xmit(c, rr_container_of(op, struct rr_xmit, op),
		                     status);
	case RR_ACT_READ:
		rr_read_completed(c, rr_container_of(op, struct rr_read_op, op),
		                  status);
		return true;
	case RR_ACT_INVALIDATE:
		rr_mr_invalidated(c, rr_container_of(op, struct rr_mr, op), status);
		return true;
	case RR_ACT_REGISTER:
	case RR_ACT_READY:
	case RR_ACT_EXTENSION:
	case RR_ACT_ADMIT:
	case RR_ACT_REQUEST:
	case RR_ACT_REQUEST_DONE:
	case RR_ACT_CALL_DONE:
	case RR_ACT_DISCONNECT:
	case RR_ACT_CLOSED:
		break;
	}
	RR_NEVER("a completion of an action that is not a post");
}

void rr_conn_irrevocable(struct rr_conn *c, uint64_t token)
{
	struct rr_op *op = (struct rr_op *)(uintptr_t)token;

	(void)c;
	rr_container_of(op, struct rr_mr, op)->irrevocable = true;
}

void rr_conn_registered(struct rr_conn *c, uint64_t token, int status, uint32_t handle,
                        uint64_t offset)
{
	struct rr_op *op = (struct rr_op *)(uintptr_t)token;

	if (rr_conn_dead(c))
		return;
	rr_conn_event(c, RR_CONN_EV_REGISTER);
	RR_ASSERT(op->kind == RR_ACT_REGISTER);
	rr_mr_registered(c, rr_container_of(op, struct rr_mr, op), status, handle,
	                 offset);
}
