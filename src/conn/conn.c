/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a connection: creation, opening, loss, closing; timers and information.
 *
 * Normal path: new (Receives are queued) -> open -> properties -> READY -> close or
 * failure -> CLOSING (DISCONNECT is polled, nothing more is sent) -> lost -> every call
 * and request ends -> CLOSED -> free.
 *
 * A loss may happen in any state.  The provider has then completed every post and
 * closed every region.  Requests that the user is serving remain until answered, and
 * lent Replies remain until released.  When none remains, CLOSED is the next action.
 */
#include "conn/core.h"

/* Returns true if each limit and timer is nonzero. */
static bool limits_set(const struct rr_conn_config *g)
{
	return g->send_bytes && g->recv_bytes && g->segment_bytes && g->max_segments &&
	       g->credits && g->max_requests && g->max_message_bytes &&
	       g->max_chunk_bytes && g->max_held_bytes &&
	       (g->versions & (RR_CONN_V1 | RR_CONN_V2)) && g->first_answer_ns &&
	       g->props_ns && g->grant_ns && g->drain_ns && g->keepalive_ns;
}

static bool auth_possible(const struct rr_conn_config *g)
{
	return g->auth.step && g->versions != RR_CONN_V1;
}

/* Fills in members that depend on other members, and clamps values to the protocol's
 * bounds. */
static void complete_config(struct rr_conn_config *g)
{
	if (!g->send_credits)
		g->send_credits = g->credits;
	if (!g->max_special_bytes)
		g->max_special_bytes = g->max_message_bytes;
	g->versions &= RR_CONN_V1 | RR_CONN_V2;
	if (g->auth_required) /* version 1 has no authentication */
		g->versions = RR_CONN_V2;
	g->max_segments = RR_MIN(g->max_segments, (uint32_t)RR_WIRE_MAX_SEGMENTS);
	g->rvrsdir = RR_MIN(g->rvrsdir, (uint32_t)RDMA2_RVRSDIR_GENL);
	if (!(g->versions & RR_CONN_V2)) /* version 1 has no features */
		g->features.on = 0;
}

static void init_slabs(struct rr_conn *c)
{
	const struct rr_mem *m = &c->cfg.mem;

	rr_slab_init(&c->read_slab, m, sizeof(struct rr_read_op), 1024);
	rr_slab_init(&c->error_slab, m, sizeof(struct rr_error_node), 1024);
	rr_slab_init(&c->ext_slab, m, sizeof(struct rr_ext_node), 1024);
}

/* Returns the credit ceiling.  An endpoint that serves Calls grants no more credits
 * than the number of Calls that it serves at once. [v2 §4.2.1] */
static uint32_t credit_ceiling(const struct rr_conn_config *g)
{
	bool serves = g->role == RR_CONN_SERVER || g->rvrsdir != RDMA2_RVRSDIR_NONE;

	return serves ? RR_MIN(g->credits, g->max_requests) : g->credits;
}

/* Allocators round sizes up to powers of two. */
_Static_assert(sizeof(struct rr_conn) <= 4096, "an idle connection is small");

int rr_conn_new(const struct rr_conn_config *cfg, rr_time now, struct rr_conn **ret)
{
	struct rr_conn *c;

	if (!limits_set(cfg) || (cfg->auth_required && !auth_possible(cfg)))
		return -EINVAL;
	c = rr_mem_get(&cfg->mem, sizeof(*c));
	if (!c)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->cfg = *cfg;
	c->stock = cfg->stock ? cfg->stock : rr_stock_new(&cfg->mem);
	if (!c->stock) {
		rr_mem_put(&cfg->mem, c, sizeof(*c));
		return -ENOMEM;
	}
	complete_config(&c->cfg);
	c->features = c->cfg.features.on;
	c->quota.mem = &c->cfg.mem;
	c->quota.limit = c->cfg.max_held_bytes;
	c->now = now;
	c->next_xid = cfg->xid_seed;
	c->stuck_at = c->overdue_at = RR_TIME_NEVER;
	c->version = rr_version_ops_highest(c->cfg.versions);
	c->remote_inv_out = cfg->remote_invalidate;
	c->remote_inv_in = cfg->remote_invalidate && !rr_reminv_declined(cfg);
	rr_conn_peer_private(c, NULL, 0);
	rr_list_init(&c->actions);
	rr_list_init(&c->ready_op.link);
	rr_list_init(&c->disconnect_op.link);
	rr_list_init(&c->calls);
	rr_list_init(&c->reminv.kept);
	rr_list_init(&c->requests);
	rr_list_init(&c->turns);
	rr_list_init(&c->roomed_turns);
	rr_list_init(&c->budget_queue);
	rr_list_init(&c->in_flight);
	init_slabs(c);
	rr_credit_init(&c->credit, credit_ceiling(&c->cfg), c->cfg.send_credits,
	               cfg->role == RR_CONN_CLIENT);
	rr_tx_init(c);
	rr_rprc_init(c);
	c->v1_send_bytes = c->cfg.send_bytes;
	rr_rtr_conn_init(c);
	rr_props_init(c);
	if (rr_recv_init(c)) {
		rr_conn_free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void rr_conn_free(struct rr_conn *c)
{
	struct rr_mem mem;

	if (!c)
		return;
	RR_ASSERT(c->state == RR_CONN_NEW || c->state == RR_CONN_CLOSED);
	rr_call_fini(c);
	rr_features_fini(c);
	RR_ASSERT(rr_list_empty(&c->requests));
	rr_tx_fini(c);
	rr_action_release(c);
	rr_ext_lost(c);
	rr_ext_fini(c);
	rr_auth_fini(c);
	rr_cont_fini(c);
	rr_recv_fini(c);
	rr_slab_fini(&c->read_slab);
	rr_slab_fini(&c->error_slab);
	rr_slab_fini(&c->ext_slab);
	if (!c->cfg.stock)
		rr_stock_free(c->stock);
	mem = c->cfg.mem;
	rr_mem_put(&mem, c, sizeof(*c));
}

void rr_conn_move(struct rr_conn *c, enum rr_conn_event by, enum rr_conn_state to)
{
	RR_MACHINE_MOVE(rr_conn_machine, c->state, by, to);
	rr_conn_trace(c, RR_TRACE_CONN_STATE, 0, c->state, to,
	              (uint64_t)(int64_t)c->error);
	c->state = to;
}

static void queue_disconnect(struct rr_conn *c, int status)
{
	c->disconnect_status = status;
	rr_conn_move(c, RR_CONN_EV_END, RR_CONN_CLOSING);
	rr_action_enqueue(c, &c->disconnect_op, RR_ACT_DISCONNECT);
}

void rr_conn_fail(struct rr_conn *c, int error)
{
	if (c->state == RR_CONN_CLOSING || rr_conn_dead(c))
		return;
	c->error = error;
	queue_disconnect(c, error);
}

void rr_conn_close(struct rr_conn *c, int status, rr_time now)
{
	c->now = now;
	rr_conn_fail(c, status);
}

void rr_conn_no_remote_inv_in(struct rr_conn *c)
{
	c->remote_inv_in = false;
}

void rr_conn_no_remote_inv_out(struct rr_conn *c)
{
	c->remote_inv_out = false;
}

void rr_conn_survives_inv_twice(struct rr_conn *c)
{
	c->survives_inv_twice = true;
}

void rr_conn_cannot_be_read(struct rr_conn *c)
{
	c->cannot_be_read = true;
}

void rr_conn_cannot_read(struct rr_conn *c)
{
	c->cannot_read = true;
}

void rr_conn_open(struct rr_conn *c, rr_time now)
{
	c->now = now;
	if (c->state != RR_CONN_NEW)
		return;
	rr_conn_move(c, RR_CONN_EV_OPEN, RR_CONN_PROPS);
	if (c->cfg.role == RR_CONN_SERVER) {
		/* The time limit also applies in version 1, which has no exchange of
		 * properties: a client that connects is expected to send a Call. */
		rr_props_begin(c);
	} else if (c->version->properties) {
		rr_props_allow(c); /* [V1, V2] */
		rr_props_begin(c);
		if (c->cfg.first_answer_ns != RR_TIME_NEVER)
			c->props.answer_at = now + c->cfg.first_answer_ns;
	} else {
		rr_v1_begin(c);
	}
}

/* Discards all actions that have not been polled, except results that the user must
 * receive. */
static void purge_actions(struct rr_conn *c)
{
	struct rr_list *n = c->actions.next;

	while (n != &c->actions) {
		struct rr_op *op = rr_container_of(n, struct rr_op, link);

		n = n->next;
		if (op->kind == RR_ACT_CALL_DONE || op->kind == RR_ACT_REQUEST_DONE)
			continue;
		rr_list_del(&op->link);
		if (op->kind == RR_ACT_WRITE || op->kind == RR_ACT_SEND)
			rr_xmit_completed(c, rr_container_of(op, struct rr_xmit, op),
			                  -ECANCELED);
		else if (op->kind == RR_ACT_READ)
			rr_slab_put(&c->read_slab,
			            rr_container_of(op, struct rr_read_op, op));
		else if (op->kind == RR_ACT_EXTENSION)
			rr_ext_free(c, rr_container_of(op, struct rr_ext_node, op));
	}
}

/* Returns the status for the calls that end because the connection was lost.  Values
 * with which enum rr_call_status reports a fault in a single call are replaced, because
 * they would be misleading. */
static int loss_status(int error)
{
	switch (error) {
	case 0:
	case -EPROTO:
	case -EBADMSG:
	case -EMSGSIZE:
	case -ECANCELED:
		return -ECONNRESET;
	default:
		return error;
	}
}

void rr_conn_lost(struct rr_conn *c, int error, rr_time now)
{
	c->now = now;
	if (rr_conn_dead(c))
		return;
	if (!c->error)
		c->error = error ? error : -ECONNRESET;
	rr_conn_move(c, RR_CONN_EV_LOSE, RR_CONN_LOST);
	purge_actions(c);
	rr_xmit_lost(c);
	rr_tx_fini(c);
	rr_ext_lost(c);
	rr_features_lost(c);
	rr_cont_fini(c);
	c->posted = 0;
	rr_call_lost(c, loss_status(c->error));
	rr_request_lost(c, loss_status(c->error));
}

uint32_t rr_conn_own_xid(struct rr_conn *c)
{
	uint32_t xid;

	do {
		xid = c->next_xid++;
	} while (!xid || rr_call_find(c, xid));
	return xid;
}

/* -- timers ---------------------------------------------------------------- */

/* Returns the time at which to close a connection whose queued Calls are blocked by
 * cancelled Calls, or RR_TIME_NEVER if no Call is queued. */
static rr_time stuck_deadline(const struct rr_conn *c)
{
	return rr_list_empty(&c->tx.calls) ? RR_TIME_NEVER : c->stuck_at;
}

void rr_conn_tick(struct rr_conn *c, rr_time now)
{
	c->now = now;
	if (!rr_conn_live(c))
		return;
	rr_conn_event(c, RR_CONN_EV_TICK);
	if (now >= c->props.answer_at || now >= c->props.done_at ||
	    now >= stuck_deadline(c) || now >= c->overdue_at) {
		rr_conn_fail(c, -ETIMEDOUT); /* [V7, P17] */
		return;
	}
	rr_cont_tick(c);
	rr_features_tick(c);
	rr_tx_tick(c);
}

rr_time rr_conn_deadline(const struct rr_conn *c)
{
	rr_time t = RR_MIN(c->props.answer_at, c->props.done_at);

	if (!rr_conn_live(c))
		return RR_TIME_NEVER;
	t = RR_MIN(t, rr_cont_deadline(c));
	if (c->busy)
		t = RR_MIN(t, rr_features_deadline(c));
	t = RR_MIN(t, RR_MIN(stuck_deadline(c), c->overdue_at));
	return RR_MIN(t, rr_tx_deadline(c));
}

/* -- information ----------------------------------------------------------- */

void rr_conn_info(const struct rr_conn *c, struct rr_conn_info *ret)
{
	const struct rr_props *p = &c->props;

	*ret = (struct rr_conn_info){
	        .ready = c->state == RR_CONN_READY,
	        .answered = c->heard,
	        .remote_invalidate = c->remote_inv_out && c->remote_inv_in,
	        .version = c->settled ? c->version->vers : 0,
	        .send_inline = p->send_inline,
	        .recv_inline = p->recv_inline,
	        .peer_segment_bytes = p->peer.segment_bytes,
	        .peer_max_segments = p->peer.max_segments,
	        .peer_rvrsdir = p->peer.rvrsdir,
	        .receives_posted = c->posted,
	        .calls = c->n_calls,
	        .requests = c->n_requests,
	        .held_bytes = c->quota.charged,
	        .features = rr_features_agreed(c),
	        .exposed_since = rr_exposure_since(c),
	        .error = c->error,
	};
	c->version->fill_info(c, ret);
}

void rr_conn_counters(const struct rr_conn *c, struct rr_conn_counters *ret)
{
	*ret = c->count;
}
