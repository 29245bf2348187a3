/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end, as the library's pump moves it, with the checkers of ownership.
 *
 * The memory given to the connection is counted, and filled with a pattern; memory that
 * the connection gives back must not be lent to the endpoint.  A Receive must not be
 * posted into memory that is lent already.  All Receives are given back at the end.
 */
#include "sim_test.h"

rr_time run_now(const struct run *r)
{
	return rr_sim_now(r->world);
}

/* -- Memory -------------------------------------------------------------------- */

static void *mem_get(void *ctx, size_t bytes)
{
	struct node *n = ctx;
	struct plan *p = &n->run->plan;
	void *mem;

	n->gets++;
	if (p->fault == FAULT_MEMORY && n->side == p->fault_side &&
	    n->gets == p->fault_at) {
		n->run->may_lose = true;
		return NULL;
	}
	mem = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	CHECK(n->run, mem, "out of memory");
	memset(mem, 0x5a, bytes);
	n->live_bytes += bytes;
	n->live_blocks++;
	return mem;
}

static void mem_put(void *ctx, void *mem, size_t bytes)
{
	struct node *n = ctx;

	CHECK(n->run, n->live_bytes >= bytes && n->live_blocks,
	      "more memory back than taken");
	if (n->pump.ep)
		CHECK(n->run, !rr_sim_lent(n->pump.ep, mem, bytes),
		      "side %u gives back memory that is lent to the provider",
		      n->side);
	n->live_bytes -= bytes;
	n->live_blocks--;
	memset(mem, 0xdb, bytes);
	free(mem);
}

static void emit(void *ctx, enum rr_trace_point p, uint32_t conn_id, uint32_t xid,
                 uint64_t a, uint64_t b, uint64_t c)
{
	struct node *n = ctx;
	const uint64_t v[] = {xid, a, b, c};

	run_note(n->run, rr_trace_name(p), n->side, v, 4);
}

/* -- Actions --------------------------------------------------------------------- */

static struct node *node_of(struct rr_pump *p)
{
	return rr_container_of(p, struct node, pump);
}

static void check_closed(struct node *n)
{
	struct rr_conn_info info;

	CHECK(n->run, rr_pump_lost(&n->pump),
	      "side %u: CLOSED before the provider's end", n->side);
	rr_conn_info(n->pump.conn, &info);
	CHECK(n->run, !info.calls && !info.requests,
	      "side %u: CLOSED with %u calls, %u requests", n->side, info.calls,
	      info.requests);
	CHECK(n->run, n->abandoned || !rr_sim_owed(n->pump.ep),
	      "side %u: CLOSED, still owed", n->side);
	CHECK(n->run, !info.held_bytes, "side %u: CLOSED with pinned memory", n->side);
}

static void on_ready(struct rr_pump *p)
{
	struct node *n = node_of(p);
	struct rr_conn_info i;

	CHECK(n->run, !n->ready, "side %u: READY twice", n->side);
	rr_conn_info(n->pump.conn, &i);
	CHECK(n->run, i.version == n->run->plan.version, "side %u: version %u, not %u",
	      n->side, i.version, n->run->plan.version);
	n->ready = true;
	start_ready(n);
}

/* Notes the members that the action has. */
static void note_action(struct node *n, const struct rr_action *a)
{
	bool send = a->kind == RR_ACT_SEND, write = a->kind == RR_ACT_WRITE;
	bool read = a->kind == RR_ACT_READ, inv = a->kind == RR_ACT_INVALIDATE;
	bool end = a->kind == RR_ACT_REQUEST_DONE || a->kind == RR_ACT_CALL_DONE ||
	           a->kind == RR_ACT_DISCONNECT || a->kind == RR_ACT_CLOSED;
	const uint64_t v[] = {(uint64_t)a->kind,
	                      write || read || inv ? a->handle : 0,
	                      write || read ? a->offset : 0,
	                      a->kind == RR_ACT_REGISTER ? a->reg_len : 0,
	                      send || write ? a->n_sge : 0,
	                      send ? a->inv_handle : 0,
	                      end ? (uint64_t)(int64_t)a->status : 0};

	run_note(n->run, "action", n->side, v, 7);
}

static void on_action(struct rr_pump *p, const struct rr_action *a)
{
	struct node *n = node_of(p);

	note_action(n, a);
	CHECK(n->run, !rr_pump_over(p), "side %u: action %d after CLOSED", n->side,
	      a->kind);
	tally.stalls += a == &p->held;
	if (rr_pump_lost(p))
		return;
	if (a->kind == RR_ACT_SEND && a != &p->held)
		n->run->sends++;
	if (a->kind == RR_ACT_POST_RECV)
		CHECK(n->run,
		      n->run->plan.conn[n->side].pooled_receives
		              ? !a->sge[0].base
		              : !rr_sim_lent(p->ep, a->sge[0].base, a->sge[0].len),
		      "side %u: Receive into memory that is lent", n->side);
}

/* -- Completions ----------------------------------------------------------- */

static bool told_all_invalidations(const struct node *n)
{
	struct rr_prov_counters provider;
	struct rr_conn_counters conn;

	rr_sim_ops.counters(n->pump.ep, &provider);
	rr_conn_counters(n->pump.conn, &conn);
	return provider.remote_invalidations == conn.remote_invalidations;
}

/* Returns true unless the peer invalidated a region after us, although this end waits
 * for that when a call is cancelled. */
static bool waited_for_the_peer(const struct node *n)
{
	const struct plan *p = &n->run->plan;
	const struct rr_feature_config *g = &p->conn[n->side].features;

	return p->version != 2 || !(g->on >> RR_FEATURE_REMINV & 1) ||
	       g->cancel_wait < PLAN_LONG_WAIT ||
	       !strstr(rr_sim_ops.reason(n->pump.ep), "invalidation of a handle");
}

/* Every post has come back by now, and what is held has not been posted. */
static void check_end(struct node *n, int status)
{
	struct rr_conn_info info;

	n->lost_status = status;
	CHECK(n->run, run_may_lose(n->run) || (status == 0 && n->run->closing),
	      "side %u: connection ended with %d (%s)", n->side, status,
	      rr_sim_ops.reason(n->pump.ep));
	CHECK(n->run,
	      n->run->plan.fault != FAULT_NONE || run_may_lose(n->run) ||
	              told_all_invalidations(n),
	      "side %u: the peer invalidated more than was reported", n->side);
	CHECK(n->run, waited_for_the_peer(n), "side %u: invalidated twice: %s", n->side,
	      rr_sim_ops.reason(n->pump.ep));
	n->run->may_lose = true; /* the other end will follow */
	rr_conn_info(n->pump.conn, &info);
	CHECK(n->run, n->pump.stalled || !info.receives_posted,
	      "side %u: %u Receives were not given back", n->side,
	      info.receives_posted);
}

static void on_completion(struct rr_pump *p, const struct rr_wc *wc)
{
	struct node *n = node_of(p);
	const uint64_t v[] = {(uint64_t)wc->op, (uint64_t)(int64_t)wc->status, wc->len,
	                      wc->inv_handle};

	run_note(n->run, "completion", n->side, v, 4);
	n->run->completions++;
	if (wc->op == RR_WC_DISCONNECTED)
		check_end(n, wc->status);
}

/* -- The user, load.c and start.c ------------------------------------------ */

static void on_admit(struct rr_pump *p, struct rr_request *r)
{
	load_admit(node_of(p), r);
}

static void on_request(struct rr_pump *p, struct rr_request *r)
{
	load_request(node_of(p), r);
}

static void on_request_done(struct rr_pump *p, struct rr_request *r, int status)
{
	load_request_done(node_of(p), r, status);
}

static void on_call_done(struct rr_pump *p, struct rr_call *c)
{
	load_call_done(node_of(p), c);
}

static void on_extension(struct rr_pump *p, const struct rr_ext_event *event)
{
	start_event(node_of(p), event);
}

static void on_closed(struct rr_pump *p)
{
	check_closed(node_of(p));
}

static const struct rr_pump_ops node_ops = {
        .admit = on_admit,
        .request = on_request,
        .request_done = on_request_done,
        .call_done = on_call_done,
        .ready = on_ready,
        .extension = on_extension,
        .closed = on_closed,
        .acting = on_action,
        .completing = on_completion,
};

/* -- Pooled Receives ---------------------------------------------------------------- */

void *node_receive_memory(void *ctx, uint64_t token, uint32_t have, uint32_t len)
{
	struct node *n = ctx;

	CHECK(n->run, n->run->plan.conn[n->side].pooled_receives, "a posted Receive");
	return rr_conn_receive_memory(n->pump.conn, token, have, len);
}

/* -- Its life --------------------------------------------------------------------- */

void node_open(struct node *n, struct rr_ep *ep)
{
	struct rr_conn_config cfg = n->run->plan.conn[n->side];
	struct rr_conn *conn = NULL;
	int err;

	n->sink = (struct rr_trace_sink){.emit = emit, .ctx = n};
	cfg.mem = (struct rr_mem){.get = mem_get, .put = mem_put, .ctx = n};
	cfg.trace = &n->sink;
	start_config(n, &cfg);
	features_config(n, &cfg);
	err = rr_conn_new(&cfg, run_now(n->run), &conn);
	rr_pump_init(&n->pump, &rr_sim_ops, ep, conn, &node_ops);
	n->pump.batch = n->run->plan.poll_max[n->side];
	if (err && n->run->may_lose) {
		CHECK(n->run, !n->live_blocks, "memory kept by a failed rr_conn_new");
		n->pump.state = RR_LINK_OVER;
		rr_sim_ops.destroy(ep);
		n->pump.ep = NULL;
		return;
	}
	CHECK(n->run, !err, "rr_conn_new: %d", err);
	n->timer = rr_pump_deadline(&n->pump, run_now(n->run));
}

void node_fini(struct node *n)
{
	load_fini(n);
	rr_sim_ops.destroy(n->pump.ep);
	n->pump.ep = NULL;
	if (n->pump.conn)
		rr_conn_free(n->pump.conn);
	n->pump.conn = NULL;
	CHECK(n->run, !n->exposed_bytes, "side %u: replies are still exposed", n->side);
	CHECK(n->run, !n->live_bytes && !n->live_blocks,
	      "side %u kept %llu octets in %llu blocks", n->side,
	      (unsigned long long)n->live_bytes, (unsigned long long)n->live_blocks);
}

/* As the library's engine does: the timer is set by a turn, and a turn follows it. */
bool node_pump(struct node *n)
{
	rr_time now = run_now(n->run);
	bool due = n->timer <= now;
	unsigned taken;

	if (!n->pump.conn || rr_pump_over(&n->pump))
		return false;
	if (due)
		rr_pump_tick(&n->pump, now);
	taken = rr_pump_turn(&n->pump, n->run->plan.rounds[n->side], now);
	n->timer = rr_pump_over(&n->pump) ? RR_TIME_NEVER
	                                  : rr_pump_deadline(&n->pump, now);
	CHECK(n->run, !due || n->timer > now, "side %u: the deadline does not move",
	      n->side);
	return taken > 0;
}

/* -- Checkers -------------------------------------------------------------- */

static uint64_t overruns(const struct node *n)
{
	struct rr_conn_counters c;

	rr_conn_counters(n->pump.conn, &c);
	return c.overruns;
}

void node_check(struct node *n)
{
	struct node *peer = &n->run->node[!n->side];
	struct rr_conn_info i;
	unsigned out, in;

	if (!n->pump.conn || rr_pump_over(&n->pump))
		return;
	rr_conn_info(n->pump.conn, &i);
	CHECK(n->run, (int32_t)i.avail >= -1 && (int32_t)i.avail <= (int32_t)i.cap,
	      "side %u: avail %d of cap %u", n->side, (int)i.avail, i.cap);
	CHECK(n->run, !overruns(n), "side %u: more messages than credits", n->side);
	CHECK(n->run, i.owed <= n->run->plan.conn[n->side].credits,
	      "side %u: owed %u above H", n->side, i.owed);
	if (rr_pump_lost(&n->pump) || !peer->pump.ep || rr_sim_over(n->pump.ep) ||
	    rr_sim_over(peer->pump.ep))
		return;
	out = rr_sim_sends_under_way(n->pump.ep);
	in = rr_sim_receives(peer->pump.ep);
	CHECK(n->run, out <= in, "side %u: %u Sends under way, %u Receives", n->side,
	      out, in);
	if (!i.calls && !n->exposed_bytes)
		CHECK(n->run, !rr_sim_regions(n->pump.ep),
		      "side %u: no calls, nothing exposed, but %u regions", n->side,
		      rr_sim_regions(n->pump.ep));
}
