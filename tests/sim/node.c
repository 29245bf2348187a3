/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end: actions become posts, completions become events.
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
	if (n->ep)
		CHECK(n->run, !rr_sim_lent(n->ep, mem, bytes),
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

void node_open(struct node *n)
{
	struct rr_conn_config cfg = n->run->plan.conn[n->side];
	uint8_t hello[8];
	int err;

	n->sink = (struct rr_trace_sink){.emit = emit, .ctx = n};
	cfg.mem = (struct rr_mem){.get = mem_get, .put = mem_put, .ctx = n};
	cfg.trace = &n->sink;
	start_config(n, &cfg);
	err = rr_conn_new(&cfg, run_now(n->run), &n->conn);
	if (err && n->run->may_lose) {
		CHECK(n->run, !n->live_blocks, "memory kept by a failed rr_conn_new");
		n->conn = NULL;
		n->closed = n->lost = true;
		rr_sim_ops.destroy(n->ep);
		n->ep = NULL;
		return;
	}
	CHECK(n->run, !err, "rr_conn_new: %d", err);
	if (n->run->plan.hello)
		rr_conn_peer_private(
		        n->conn, hello,
		        rr_conn_own_private(&n->run->plan.conn[!n->side], hello));
}

void node_fini(struct node *n)
{
	load_fini(n);
	rr_sim_ops.destroy(n->ep);
	n->ep = NULL;
	if (n->conn)
		rr_conn_free(n->conn);
	n->conn = NULL;
	CHECK(n->run, !n->live_bytes && !n->live_blocks,
	      "side %u kept %llu octets in %llu blocks", n->side,
	      (unsigned long long)n->live_bytes, (unsigned long long)n->live_blocks);
}

/* -- Actions --------------------------------------------------------------------- */

static void post_failed(struct node *n, uint64_t token, int err)
{
	struct run *r = n->run;

	/* An endpoint that is over says so with its next completions. */
	if (!n->lost && !rr_sim_over(n->ep)) {
		CHECK(r, r->plan.fault == FAULT_POST || r->closing,
		      "side %u: a post failed: %d", n->side, err);
		r->may_lose = true;
		rr_sim_ops.disconnect(n->ep, run_now(r));
	}
	rr_conn_completed(n->conn, token, err, run_now(r));
}

static int do_post(struct node *n, const struct rr_action *a)
{
	const struct rr_prov_ops *p = &rr_sim_ops;
	int err;

	if (n->lost)
		return -ENOTCONN;
	switch (a->kind) {
	case RR_ACT_POST_RECV:
		CHECK(n->run, !rr_sim_lent(n->ep, a->sge[0].base, a->sge[0].len),
		      "side %u: Receive into memory that is lent", n->side);
		err = p->post_recv(n->ep, &a->sge[0], a->token);
		n->recvs_out += !err;
		return err;
	case RR_ACT_SEND:
		n->run->sends++;
		return p->post_send(n->ep, a->sge, a->n_sge, a->inv_handle, a->token);
	case RR_ACT_WRITE:
		return p->post_write(n->ep, a->sge, a->n_sge, a->handle, a->offset,
		                     a->token);
	case RR_ACT_READ:
		return p->post_read(n->ep, &a->sge[0], a->handle, a->offset, a->token);
	case RR_ACT_INVALIDATE:
		return p->invalidate(n->ep, a->handle, a->token);
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
	abort();
}

static void do_register(struct node *n, const struct rr_action *a)
{
	struct rr_region reg = {0};
	int err = -ENOTCONN;

	if (!n->lost)
		err = rr_sim_ops.register_mem(n->ep, a->sge[0].base, a->reg_len,
		                              a->access, &reg);
	if (err)
		CHECK(n->run,
		      n->lost || rr_sim_over(n->ep) ||
		              n->run->plan.fault == FAULT_REGISTER,
		      "side %u: registration failed: %d", n->side, err);
	rr_conn_registered(n->conn, a->token, err, reg.handle, reg.offset);
}

static void do_closed(struct node *n)
{
	struct rr_conn_info info;

	CHECK(n->run, n->lost, "side %u: CLOSED before the provider's end", n->side);
	rr_conn_info(n->conn, &info);
	CHECK(n->run, !info.calls && !info.requests,
	      "side %u: CLOSED with %u calls, %u requests", n->side, info.calls,
	      info.requests);
	CHECK(n->run, n->abandoned || !rr_sim_owed(n->ep),
	      "side %u: CLOSED, still owed", n->side);
	CHECK(n->run, !info.pinned_bytes, "side %u: CLOSED with pinned memory",
	      n->side);
	n->closed = true;
}

static void check_version(struct node *n)
{
	struct rr_conn_info i;

	rr_conn_info(n->conn, &i);
	CHECK(n->run, i.version == n->run->plan.version, "side %u: version %u, not %u",
	      n->side, i.version, n->run->plan.version);
}

static void act(struct node *n, const struct rr_action *a)
{
	const uint64_t v[] = {(uint64_t)a->kind,
	                      a->handle,
	                      a->offset,
	                      a->reg_len,
	                      a->n_sge,
	                      a->inv_handle,
	                      (uint64_t)(int64_t)a->status};
	int err;

	run_note(n->run, "action", n->side, v, 7);
	CHECK(n->run, !n->closed, "side %u: action %d after CLOSED", n->side, a->kind);
	switch (a->kind) {
	case RR_ACT_POST_RECV:
	case RR_ACT_SEND:
	case RR_ACT_WRITE:
	case RR_ACT_READ:
	case RR_ACT_INVALIDATE:
		err = do_post(n, a);
		if (err == -EINVAL && a->kind == RR_ACT_INVALIDATE)
			/* The peer was first; its Send waits to be told. */
			rr_conn_completed(n->conn, a->token, err, run_now(n->run));
		else if (err)
			post_failed(n, a->token, err);
		break;
	case RR_ACT_REGISTER:
		do_register(n, a);
		break;
	case RR_ACT_READY:
		CHECK(n->run, !n->ready, "side %u: READY twice", n->side);
		check_version(n);
		n->ready = true;
		start_ready(n);
		break;
	case RR_ACT_EXTENSION:
		start_event(n, a->ext);
		break;
	case RR_ACT_ADMIT:
		load_admit(n, a->request);
		break;
	case RR_ACT_REQUEST:
		load_request(n, a->request);
		break;
	case RR_ACT_REQUEST_DONE:
		load_request_done(n, a->request, a->status);
		break;
	case RR_ACT_CALL_DONE:
		load_call_done(n, a->call);
		break;
	case RR_ACT_DISCONNECT:
		if (!n->lost)
			rr_sim_ops.disconnect(n->ep, run_now(n->run));
		break;
	case RR_ACT_CLOSED:
		do_closed(n);
		break;
	}
}

static bool drain(struct node *n)
{
	struct rr_action a;
	bool moved = false;

	while (rr_conn_next(n->conn, &a)) {
		act(n, &a);
		moved = true;
	}
	return moved;
}

/* -- Completions --------------------------------------------------------------------
 */

static void ended(struct node *n, int status)
{
	n->lost = true;
	n->lost_status = status;
	CHECK(n->run, run_may_lose(n->run) || (status == 0 && n->run->closing),
	      "side %u: connection ended with %d (%s)", n->side, status,
	      rr_sim_ops.why(n->ep));
	n->run->may_lose = true; /* the other end will follow */
	rr_conn_lost(n->conn, status, run_now(n->run));
}

static void take(struct node *n, const struct rr_wc *wc)
{
	const uint64_t v[] = {(uint64_t)wc->op, (uint64_t)(int64_t)wc->status, wc->len,
	                      wc->inv_handle};
	rr_time now = run_now(n->run);

	run_note(n->run, "completion", n->side, v, 4);
	n->run->completions++;
	switch (wc->op) {
	case RR_WC_CONNECTED:
		rr_conn_open(n->conn, now);
		break;
	case RR_WC_DISCONNECTED:
		ended(n, wc->status);
		break;
	case RR_WC_RECV:
		n->recvs_out--;
		if (wc->status)
			rr_conn_completed(n->conn, wc->token, wc->status, now);
		else
			rr_conn_received(n->conn, wc->token, wc->len,
			                 wc->invalidated ? wc->inv_handle : 0, now);
		break;
	case RR_WC_SEND:
	case RR_WC_READ:
	case RR_WC_WRITE:
	case RR_WC_INVALIDATE:
		rr_conn_completed(n->conn, wc->token, wc->status, now);
		break;
	}
	drain(n);
}

bool node_pump(struct node *n)
{
	struct rr_wc wc[32];
	unsigned max = n->run->plan.poll_max[n->side];
	bool moved, ticked = false;

	if (!n->conn || n->closed)
		return false;
	if (rr_conn_deadline(n->conn) <= run_now(n->run)) {
		rr_conn_tick(n->conn, run_now(n->run));
		ticked = true;
	}
	moved = drain(n);
	CHECK(n->run,
	      !ticked || n->closed || rr_conn_deadline(n->conn) > run_now(n->run),
	      "side %u: the deadline does not move", n->side);
	if (n->lost)
		return moved;
	/* Its error comes as a completion. */
	(void)rr_sim_ops.flush(n->ep, run_now(n->run));
	for (unsigned k = rr_sim_ops.poll(n->ep, wc, max), i = 0; i < k; i++) {
		take(n, &wc[i]);
		moved = true;
	}
	if (!n->lost)
		(void)rr_sim_ops.flush(n->ep, run_now(n->run));
	return moved;
}

/* -- Checkers -----------------------------------------------------------------------
 */

static uint64_t overruns(const struct node *n)
{
	struct rr_conn_counters c;

	rr_conn_counters(n->conn, &c);
	return c.overruns;
}

void node_check(struct node *n)
{
	struct node *peer = &n->run->node[!n->side];
	struct rr_conn_info i;
	unsigned out, in;

	if (!n->conn || n->closed)
		return;
	rr_conn_info(n->conn, &i);
	CHECK(n->run, (int32_t)i.avail >= -1 && (int32_t)i.avail <= (int32_t)i.cap,
	      "side %u: avail %d of cap %u", n->side, (int)i.avail, i.cap);
	CHECK(n->run, !overruns(n), "side %u: more messages than credits", n->side);
	CHECK(n->run, i.owed <= n->run->plan.conn[n->side].credits,
	      "side %u: owed %u above H", n->side, i.owed);
	if (n->lost || !peer->ep || rr_sim_over(n->ep) || rr_sim_over(peer->ep))
		return;
	out = rr_sim_sends_under_way(n->ep);
	in = rr_sim_receives(peer->ep);
	CHECK(n->run, out <= in, "side %u: %u Sends under way, %u Receives", n->side,
	      out, in);
	if (!i.calls)
		CHECK(n->run, !rr_sim_regions(n->ep),
		      "side %u: no calls, but %u regions", n->side,
		      rr_sim_regions(n->ep));
}
