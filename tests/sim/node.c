/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end, as sim_end.c moves it, with the checkers of ownership.
 *
 * The memory given to the connection is counted and scribbled on; memory that
 * comes back must not be lent to the endpoint.  A Receive must not be posted
 * into memory that is lent already.
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
	if (n->sim.ep)
		CHECK(n->run, !rr_sim_lent(n->sim.ep, mem, bytes),
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

static struct node *node_of(struct sim_end *e)
{
	return rr_container_of(e, struct node, sim);
}

static void on_post_failed(struct sim_end *e, const struct rr_action *a, int err)
{
	struct node *n = node_of(e);
	struct run *r = n->run;

	if (err == -EINVAL && a->kind == RR_ACT_INVALIDATE)
		return; /* The peer was first; its Send waits to be told. */
	/* An endpoint that is over says so with its next completions. */
	if (n->sim.lost || rr_sim_over(n->sim.ep))
		return;
	CHECK(r, r->plan.fault == FAULT_POST || r->closing,
	      "side %u: a post failed: %d", n->side, err);
	r->may_lose = true;
	rr_sim_ops.disconnect(n->sim.ep, run_now(r));
}

static void on_register_failed(struct sim_end *e, int err)
{
	struct node *n = node_of(e);

	CHECK(n->run,
	      n->sim.lost || rr_sim_over(n->sim.ep) ||
	              n->run->plan.fault == FAULT_REGISTER,
	      "side %u: registration failed: %d", n->side, err);
}

static void check_closed(struct node *n)
{
	struct rr_conn_info info;

	CHECK(n->run, n->sim.lost, "side %u: CLOSED before the provider's end",
	      n->side);
	rr_conn_info(n->sim.conn, &info);
	CHECK(n->run, !info.calls && !info.requests,
	      "side %u: CLOSED with %u calls, %u requests", n->side, info.calls,
	      info.requests);
	CHECK(n->run, n->abandoned || !rr_sim_owed(n->sim.ep),
	      "side %u: CLOSED, still owed", n->side);
	CHECK(n->run, !info.held_bytes, "side %u: CLOSED with pinned memory", n->side);
}

static void on_ready(struct sim_end *e)
{
	struct node *n = node_of(e);
	struct rr_conn_info i;

	CHECK(n->run, !n->ready, "side %u: READY twice", n->side);
	rr_conn_info(n->sim.conn, &i);
	CHECK(n->run, i.version == n->run->plan.version, "side %u: version %u, not %u",
	      n->side, i.version, n->run->plan.version);
	n->ready = true;
	start_ready(n);
}

static void on_action(struct sim_end *e, const struct rr_action *a)
{
	struct node *n = node_of(e);
	const uint64_t v[] = {(uint64_t)a->kind,
	                      a->handle,
	                      a->offset,
	                      a->reg_len,
	                      a->n_sge,
	                      a->inv_handle,
	                      (uint64_t)(int64_t)a->status};

	run_note(n->run, "action", n->side, v, 7);
	CHECK(n->run, !n->sim.closed, "side %u: action %d after CLOSED", n->side,
	      a->kind);
	if (a->kind == RR_ACT_CLOSED)
		check_closed(n);
	if (n->sim.lost)
		return;
	if (a->kind == RR_ACT_SEND)
		n->run->sends++;
	if (a->kind == RR_ACT_POST_RECV)
		CHECK(n->run, !rr_sim_lent(n->sim.ep, a->sge[0].base, a->sge[0].len),
		      "side %u: Receive into memory that is lent", n->side);
}

/* -- Completions ----------------------------------------------------------- */

static void on_lost(struct sim_end *e, int status)
{
	struct node *n = node_of(e);

	n->lost_status = status;
	CHECK(n->run, run_may_lose(n->run) || (status == 0 && n->run->closing),
	      "side %u: connection ended with %d (%s)", n->side, status,
	      rr_sim_ops.reason(n->sim.ep));
	n->run->may_lose = true; /* the other end will follow */
}

static void on_completion(struct sim_end *e, const struct rr_wc *wc)
{
	struct node *n = node_of(e);
	const uint64_t v[] = {(uint64_t)wc->op, (uint64_t)(int64_t)wc->status, wc->len,
	                      wc->inv_handle};

	run_note(n->run, "completion", n->side, v, 4);
	n->run->completions++;
}

/* -- The user, load.c and start.c ------------------------------------------ */

static void on_admit(struct sim_end *e, struct rr_request *r)
{
	load_admit(node_of(e), r);
}

static void on_request(struct sim_end *e, struct rr_request *r)
{
	load_request(node_of(e), r);
}

static void on_request_done(struct sim_end *e, struct rr_request *r, int status)
{
	load_request_done(node_of(e), r, status);
}

static void on_call_done(struct sim_end *e, struct rr_call *c)
{
	load_call_done(node_of(e), c);
}

static void on_extension(struct sim_end *e, const struct rr_ext_event *event)
{
	start_event(node_of(e), event);
}

static const struct sim_end_hooks node_hooks = {
        .admit = on_admit,
        .request = on_request,
        .request_done = on_request_done,
        .call_done = on_call_done,
        .ready = on_ready,
        .extension = on_extension,
        .acting = on_action,
        .completing = on_completion,
        .post_failed = on_post_failed,
        .register_failed = on_register_failed,
        .lost = on_lost,
};

/* -- Its life --------------------------------------------------------------------- */

void node_open(struct node *n)
{
	struct rr_conn_config cfg = n->run->plan.conn[n->side];
	uint8_t hello[8];
	int err;

	n->sim.world = n->run->world;
	n->sim.hooks = &node_hooks;
	n->sink = (struct rr_trace_sink){.emit = emit, .ctx = n};
	cfg.mem = (struct rr_mem){.get = mem_get, .put = mem_put, .ctx = n};
	cfg.trace = &n->sink;
	start_config(n, &cfg);
	err = rr_conn_new(&cfg, run_now(n->run), &n->sim.conn);
	if (err && n->run->may_lose) {
		CHECK(n->run, !n->live_blocks, "memory kept by a failed rr_conn_new");
		n->sim.conn = NULL;
		n->sim.closed = n->sim.lost = true;
		rr_sim_ops.destroy(n->sim.ep);
		n->sim.ep = NULL;
		return;
	}
	CHECK(n->run, !err, "rr_conn_new: %d", err);
	if (n->run->plan.hello)
		rr_conn_peer_private(
		        n->sim.conn, hello,
		        rr_conn_own_private(&n->run->plan.conn[!n->side], hello));
}

void node_fini(struct node *n)
{
	load_fini(n);
	rr_sim_ops.destroy(n->sim.ep);
	n->sim.ep = NULL;
	if (n->sim.conn)
		rr_conn_free(n->sim.conn);
	n->sim.conn = NULL;
	CHECK(n->run, !n->live_bytes && !n->live_blocks,
	      "side %u kept %llu octets in %llu blocks", n->side,
	      (unsigned long long)n->live_bytes, (unsigned long long)n->live_blocks);
}

bool node_pump(struct node *n)
{
	bool moved, ticked;

	if (!n->sim.conn || n->sim.closed)
		return false;
	ticked = sim_end_tick(&n->sim);
	moved = sim_end_drain(&n->sim);
	CHECK(n->run,
	      !ticked || n->sim.closed ||
	              rr_conn_deadline(n->sim.conn) > run_now(n->run),
	      "side %u: the deadline does not move", n->side);
	if (n->sim.lost)
		return moved;
	sim_end_flush(&n->sim);
	moved |= sim_end_take(&n->sim, n->run->plan.poll_max[n->side]) > 0;
	if (!n->sim.lost)
		sim_end_flush(&n->sim);
	return moved;
}

/* -- Checkers -------------------------------------------------------------- */

static uint64_t overruns(const struct node *n)
{
	struct rr_conn_counters c;

	rr_conn_counters(n->sim.conn, &c);
	return c.overruns;
}

void node_check(struct node *n)
{
	struct node *peer = &n->run->node[!n->side];
	struct rr_conn_info i;
	unsigned out, in;

	if (!n->sim.conn || n->sim.closed)
		return;
	rr_conn_info(n->sim.conn, &i);
	CHECK(n->run, (int32_t)i.avail >= -1 && (int32_t)i.avail <= (int32_t)i.cap,
	      "side %u: avail %d of cap %u", n->side, (int)i.avail, i.cap);
	CHECK(n->run, !overruns(n), "side %u: more messages than credits", n->side);
	CHECK(n->run, i.owed <= n->run->plan.conn[n->side].credits,
	      "side %u: owed %u above H", n->side, i.owed);
	if (n->sim.lost || !peer->sim.ep || rr_sim_over(n->sim.ep) ||
	    rr_sim_over(peer->sim.ep))
		return;
	out = rr_sim_sends_under_way(n->sim.ep);
	in = rr_sim_receives(peer->sim.ep);
	CHECK(n->run, out <= in, "side %u: %u Sends under way, %u Receives", n->side,
	      out, in);
	if (!i.calls)
		CHECK(n->run, !rr_sim_regions(n->sim.ep),
		      "side %u: no calls, but %u regions", n->side,
		      rr_sim_regions(n->sim.ep));
}
