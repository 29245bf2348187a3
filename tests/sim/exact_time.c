/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With fixed delays every transfer has an exact finishing time; unplanned
 * slowness, in the simulator or in the connection, fails here.
 *
 * 1 octet takes 1 ns on the wire, each way takes DELAY, a Read request waits
 * LATENCY at the peer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conn/conn.h"
#include "prov/sim/sim.h"

enum { DELAY = 5000, LATENCY = 700, RATE = 1000000000, MEM = 2 << 20 };

struct pair {
	struct rr_sim_world *w;
	struct rr_prov_listener *l;
	struct rr_ep *ep[2];
	struct rr_conn *conn[2];
	uint8_t *mem[2];
	struct rr_call call;
	struct rr_piece reply[2];
	rr_time done;
	bool lost[2], closed[2];
};

static const struct rr_prov_ops *const ops = &rr_sim_ops;

static void wait_for(struct pair *p, unsigned side, enum rr_wc_op op)
{
	struct rr_wc wc;

	for (;;) {
		while (ops->poll(p->ep[side], &wc, 1))
			if (wc.op == op) {
				assert_int_equal(0, wc.status);
				return;
			}
		assert_true(rr_sim_step(p->w));
	}
}

static struct pair *pair_new(uint32_t ord)
{
	const struct rr_sim_options o = {
	        .dir = {{{DELAY, DELAY}, RATE}, {{DELAY, DELAY}, RATE}},
	        .read_latency = {LATENCY, LATENCY},
	        .max_ord = ord,
	};
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rr_prov_config cfg = {0};
	struct sockaddr_storage addr;
	struct pair *p = calloc(1, sizeof(*p));

	p->w = cfg.instance = rr_sim_world_new(1, &o);
	assert_int_equal(0, ops->listen(&cfg, (struct sockaddr *)&any, sizeof(any),
	                                &p->l, &addr));
	assert_int_equal(0, ops->connect(&cfg, (struct sockaddr *)&addr, sizeof(any),
	                                 NULL, 0, 0, &p->ep[0]));
	while (ops->accept(p->l, &cfg, NULL, 0, rr_sim_now(p->w), &p->ep[1]))
		assert_true(rr_sim_step(p->w));
	for (unsigned i = 0; i < 2; i++)
		p->mem[i] = calloc(1, MEM);
	return p;
}

static void pair_free(struct pair *p)
{
	rr_sim_world_free(p->w);
	free(p->mem[0]);
	free(p->mem[1]);
	free(p);
}

static struct pair *pair_connected(uint32_t ord)
{
	struct pair *p = pair_new(ord);

	wait_for(p, 1, RR_WC_CONNECTED);
	wait_for(p, 0, RR_WC_CONNECTED);
	return p;
}

static void post(struct pair *p, enum rr_wc_op op, uint32_t len,
                 const struct rr_region *r)
{
	struct rr_sge s = {.base = p->mem[0], .len = len};
	struct rr_sge in = {.base = p->mem[1], .len = len};

	switch (op) {
	case RR_WC_SEND:
		assert_int_equal(0, ops->post_recv(p->ep[1], &in, 1));
		assert_int_equal(0, ops->post_send(p->ep[0], &s, 1, 0, 1));
		break;
	case RR_WC_WRITE:
		assert_int_equal(
		        0, ops->post_write(p->ep[0], &s, 1, r->handle, r->offset, 1));
		break;
	default:
		assert_int_equal(0,
		                 ops->post_read(p->ep[0], &s, r->handle, r->offset, 1));
		break;
	}
}

static struct rr_region region(struct pair *p, unsigned side)
{
	struct rr_region r;

	assert_int_equal(
	        0,
	        ops->register_mem(p->ep[side], p->mem[side], MEM,
	                          RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE, &r));
	return r;
}

static void flush(struct pair *p)
{
	assert_int_equal(0, ops->flush(p->ep[0], rr_sim_now(p->w)));
}

static void connect_takes_one_round_trip(void **state)
{
	struct pair *p = pair_connected(4);

	assert_int_equal(2 * DELAY, rr_sim_now(p->w));
	pair_free(p);
}

static void send_takes_its_octets_and_the_delay(void **state)
{
	struct pair *p = pair_connected(4);
	rr_time t = rr_sim_now(p->w);

	post(p, RR_WC_SEND, 12345, NULL);
	flush(p);
	wait_for(p, 1, RR_WC_RECV);
	assert_int_equal(t + 12345 + DELAY, rr_sim_now(p->w));
	pair_free(p);
}

static void messages_share_the_wire(void **state)
{
	struct pair *p = pair_connected(4);
	struct rr_region r = region(p, 1);
	rr_time t = rr_sim_now(p->w);

	for (unsigned i = 0; i < 7; i++)
		post(p, RR_WC_WRITE, 100000, &r);
	post(p, RR_WC_SEND, 100, NULL);
	flush(p);
	wait_for(p, 1, RR_WC_RECV);
	assert_int_equal(t + 700100 + DELAY, rr_sim_now(p->w));
	pair_free(p);
}

static void read_goes_there_and_back(void **state)
{
	struct pair *p = pair_connected(4);
	struct rr_region r = region(p, 1);
	rr_time t = rr_sim_now(p->w);

	post(p, RR_WC_READ, 65536, &r);
	flush(p);
	wait_for(p, 0, RR_WC_READ);
	assert_int_equal(t + DELAY + LATENCY + 65536 + DELAY, rr_sim_now(p->w));
	pair_free(p);
}

/* Two at once share one round trip; one at a time needs two. */
static void reads_in_progress_are_limited(void **state)
{
	for (uint32_t ord = 1; ord <= 2; ord++) {
		struct pair *p = pair_connected(ord);
		struct rr_region r = region(p, 1);
		rr_time t = rr_sim_now(p->w), once = 2 * DELAY + LATENCY + 1000;

		post(p, RR_WC_READ, 1000, &r);
		post(p, RR_WC_READ, 1000, &r);
		flush(p);
		wait_for(p, 0, RR_WC_READ);
		assert_int_equal(t + once, rr_sim_now(p->w));
		wait_for(p, 0, RR_WC_READ);
		assert_int_equal(t + (ord == 1 ? 2 * once : once + 1000),
		                 rr_sim_now(p->w));
		pair_free(p);
	}
}

/* -- Connections -------------------------------------------------------------- */

static void *mem_get(void *ctx, size_t n)
{
	return aligned_alloc(64, (n + 63) & ~(size_t)63);
}

static void mem_put(void *ctx, void *p, size_t n)
{
	free(p);
}

static void act(struct pair *p, unsigned side, const struct rr_action *a)
{
	struct rr_ep *ep = p->ep[side];
	struct rr_conn *c = p->conn[side];
	rr_time now = rr_sim_now(p->w);
	struct rr_region r = {0};
	int err = 0;

	switch (a->kind) {
	case RR_ACT_POST_RECV:
		err = ops->post_recv(ep, a->sge, a->token);
		break;
	case RR_ACT_SEND:
		err = ops->post_send(ep, a->sge, a->n_sge, a->inv_handle, a->token);
		break;
	case RR_ACT_WRITE:
		err = ops->post_write(ep, a->sge, a->n_sge, a->handle, a->offset,
		                      a->token);
		break;
	case RR_ACT_READ:
		err = ops->post_read(ep, a->sge, a->handle, a->offset, a->token);
		break;
	case RR_ACT_INVALIDATE:
		err = ops->invalidate(ep, a->handle, a->token);
		break;
	case RR_ACT_REGISTER:
		err = ops->register_mem(ep, a->sge[0].base, a->reg_len, a->access, &r);
		rr_conn_registered(c, a->token, err, r.handle, r.offset);
		break;
	case RR_ACT_ADMIT:
		rr_conn_admit(c, a->request, NULL, now);
		break;
	case RR_ACT_REQUEST:
		rr_conn_reply(c, a->request, p->reply, p->reply[1].len ? 2 : 1, now);
		break;
	case RR_ACT_CALL_DONE:
		p->done = now;
		break;
	case RR_ACT_DISCONNECT:
		ops->disconnect(ep, now);
		break;
	case RR_ACT_CLOSED:
		p->closed[side] = true;
		break;
	case RR_ACT_READY:
	case RR_ACT_EXTENSION:
	case RR_ACT_REQUEST_DONE:
		break;
	}
	if (!p->lost[side])
		assert_int_equal(0, err);
}

static void event(struct pair *p, unsigned side, const struct rr_wc *wc)
{
	struct rr_conn *c = p->conn[side];
	rr_time now = rr_sim_now(p->w);

	if (wc->op == RR_WC_CONNECTED) {
		rr_conn_open(c, now);
	} else if (wc->op == RR_WC_DISCONNECTED) {
		p->lost[side] = true;
		rr_conn_lost(c, wc->status, now);
	} else if (wc->op == RR_WC_RECV && !wc->status) {
		rr_conn_received(c, wc->token, wc->len,
		                 wc->invalidated ? wc->inv_handle : 0, now);
	} else {
		rr_conn_completed(c, wc->token, wc->status, now);
	}
}

static void pump(struct pair *p, unsigned side)
{
	struct rr_action a;
	struct rr_wc wc;
	bool more;

	do {
		while (rr_conn_next(p->conn[side], &a))
			act(p, side, &a);
		if (!p->lost[side])
			(void)ops->flush(p->ep[side], rr_sim_now(p->w)); /* seen as a
			                                        completion */
		more = !p->closed[side] && ops->poll(p->ep[side], &wc, 1);
		if (more)
			event(p, side, &wc);
	} while (more);
}

static void step(struct pair *p)
{
	pump(p, 0);
	pump(p, 1);
	assert_true(rr_sim_step(p->w));
	pump(p, 0);
	pump(p, 1);
}

static struct pair *conns_new(bool remote_invalidate)
{
	struct pair *p = pair_new(16);
	struct rr_conn_info info;

	for (unsigned i = 0; i < 2; i++) {
		const struct rr_conn_config cfg = {
		        .role = i ? RR_CONN_SERVER : RR_CONN_CLIENT,
		        .mem = {mem_get, mem_put, NULL},
		        .xid_seed = 1,
		        .remote_invalidate = remote_invalidate,
		        .credits = 8,
		};

		assert_int_equal(0, rr_conn_new(&cfg, rr_sim_now(p->w), &p->conn[i]));
	}
	do {
		step(p);
		rr_conn_info(p->conn[0], &info);
	} while (!info.ready);
	/* Let the last of the set-up come to rest. */
	while (rr_sim_next(p->w) != RR_TIME_NEVER)
		step(p);
	return p;
}

static void conns_free(struct pair *p)
{
	rr_conn_close(p->conn[0], 0, rr_sim_now(p->w));
	while (!p->closed[0] || !p->closed[1])
		step(p);
	rr_conn_free(p->conn[0]);
	rr_conn_free(p->conn[1]);
	pair_free(p);
}

/* Time of one Call; pieces[0] is made here, others may follow. */
static rr_time call_time(struct pair *p, const struct rr_piece *pieces, unsigned n)
{
	rr_time t = rr_sim_now(p->w);

	p->call.pieces = pieces;
	p->call.n_pieces = n;
	assert_int_equal(0, rr_conn_call(p->conn[0], &p->call, t));
	p->done = 0;
	while (!p->done)
		step(p);
	assert_int_equal(RR_CALL_OK, p->call.status);
	rr_conn_call_release(p->conn[0], &p->call, rr_sim_now(p->w));
	return p->done - t;
}

static const uint8_t call_head[64] = {0, 0, 0, 9};
static const uint8_t reply_head[64] = {0, 0, 0, 9, 0, 0, 0, 1};

static struct pair *calling(bool remote_invalidate)
{
	struct pair *p = conns_new(remote_invalidate);

	p->call.xid = 9;
	p->reply[0] = (struct rr_piece){.base = reply_head, .len = 48};
	return p;
}

/* 36 octets of header each way. */
static void inline_call(void **state)
{
	struct pair *p = calling(true);
	const struct rr_piece in = {.base = call_head, .len = 64};

	assert_int_equal((36 + 64) + DELAY + (36 + 48) + DELAY, call_time(p, &in, 1));
	conns_free(p);
}

/* One Read segment: 4 + 20 octets more; then one Read round trip. */
static void call_with_a_read_chunk(void **state)
{
	struct pair *p = calling(true);
	const struct rr_piece in[] = {
	        {.base = call_head, .len = 64},
	        {.base = p->mem[0], .len = 1 << 20, .item = true},
	};
	rr_time t = (36 + 24 + 64) + DELAY;

	t += DELAY + LATENCY + (1 << 20) + DELAY;
	t += (36 + 48) + DELAY;
	assert_int_equal(t, call_time(p, in, 2));
	conns_free(p);
}

/* A Write chunk of one segment: 4 + 4 + 16 octets, there and back. */
static void call_with_a_write_chunk(void **state)
{
	struct pair *p = calling(true);
	const struct rr_piece in = {.base = call_head, .len = 64};
	struct rr_dest d = {.base = p->mem[0], .len = 1 << 20};
	rr_time t = (36 + 24 + 64) + DELAY;

	p->reply[1] =
	        (struct rr_piece){.base = p->mem[1], .len = 1 << 20, .item = true};
	p->call.dests = &d;
	p->call.n_dests = 1;
	t += (1 << 20) + (36 + 24 + 48) + DELAY;
	assert_int_equal(t, call_time(p, &in, 1));
	assert_int_equal(1 << 20, d.ret_len);
	conns_free(p);
}

/* Fifty parts on eight credits: grants come as they are owed, not by the timer
 * of 10 ms.  Three round trips more than needed are allowed for. */
static void continuation_does_not_wait_for_the_timer(void **state)
{
	struct pair *p = calling(true);
	const struct rr_piece in[] = {
	        {.base = call_head, .len = 64},
	        {.base = p->mem[0], .len = 200000, .item = true},
	};
	rr_time t;

	p->call.flags = RR_CALL_NO_REDUCE;
	t = call_time(p, in, 2);
	assert_true(t >= 200000 + 50 * 36 + 2 * DELAY);
	assert_true(t <= 200000 + 50 * 36 + (2 + 2 * 16) * DELAY);
	conns_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(connect_takes_one_round_trip),
	        cmocka_unit_test(send_takes_its_octets_and_the_delay),
	        cmocka_unit_test(messages_share_the_wire),
	        cmocka_unit_test(read_goes_there_and_back),
	        cmocka_unit_test(reads_in_progress_are_limited),
	        cmocka_unit_test(inline_call),
	        cmocka_unit_test(call_with_a_read_chunk),
	        cmocka_unit_test(call_with_a_write_chunk),
	        cmocka_unit_test(continuation_does_not_wait_for_the_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
