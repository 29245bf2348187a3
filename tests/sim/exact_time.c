/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With fixed delays every transfer has an exact finishing time; unplanned
 * slowness, in the simulator or in the connection, fails here.
 *
 * 1 octet takes 1 ns on the wire, each way takes DELAY, a Read request waits
 * LATENCY at the peer.
 */
#include "timed.h"

enum { DELAY = 5000, LATENCY = 700, RATE = 1000000000 };

static const struct rr_prov_ops *const ops = &rr_sim_ops;

static void wait_for(struct timed *p, unsigned side, enum rr_wc_op op)
{
	struct rr_wc wc;

	for (;;) {
		while (ops->poll(p->side[side].ep, &wc, 1))
			if (wc.op == op) {
				assert_int_equal(0, wc.status);
				return;
			}
		assert_true(rr_sim_step(p->w));
	}
}

/* How long a local invalidation takes. */
enum { INVALIDATION = 3000 };

static struct timed *pair_new(uint32_t ord)
{
	const struct rr_sim_options o = {
	        .inv_done = {INVALIDATION, INVALIDATION},
	        .dir = {{{DELAY, DELAY}, RATE}, {{DELAY, DELAY}, RATE}},
	        .read_latency = {LATENCY, LATENCY},
	        .max_ord = ord,
	};

	return timed_new(&o);
}

static struct timed *pair_connected(uint32_t ord)
{
	struct timed *p = pair_new(ord);

	wait_for(p, 1, RR_WC_CONNECTED);
	wait_for(p, 0, RR_WC_CONNECTED);
	return p;
}

static void post(struct timed *p, enum rr_wc_op op, uint32_t len,
                 const struct rr_region *r)
{
	struct rr_sge s = {.base = p->mem[0], .len = len};
	struct rr_sge in = {.base = p->mem[1], .len = len};

	switch (op) {
	case RR_WC_SEND:
		assert_int_equal(0, ops->post_recv(p->side[1].ep, &in, 1));
		assert_int_equal(0, ops->post_send(p->side[0].ep, &s, 1, 0, 1));
		break;
	case RR_WC_WRITE:
		assert_int_equal(0, ops->post_write(p->side[0].ep, &s, 1, r->handle,
		                                    r->offset, 1));
		break;
	default:
		assert_int_equal(
		        0, ops->post_read(p->side[0].ep, &s, r->handle, r->offset, 1));
		break;
	}
}

static struct rr_region region(struct timed *p, unsigned side)
{
	struct rr_region r;

	assert_int_equal(
	        0,
	        ops->register_mem(p->side[side].ep, p->mem[side], TIMED_MEM,
	                          RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE, &r));
	return r;
}

static void flush(struct timed *p)
{
	assert_int_equal(0, ops->flush(p->side[0].ep, rr_sim_now(p->w)));
}

static void connect_takes_one_round_trip(void **state)
{
	struct timed *p = pair_connected(4);

	assert_int_equal(2 * DELAY, rr_sim_now(p->w));
	timed_free(p);
}

static void send_takes_its_octets_and_the_delay(void **state)
{
	struct timed *p = pair_connected(4);
	rr_time t = rr_sim_now(p->w);

	post(p, RR_WC_SEND, 12345, NULL);
	flush(p);
	wait_for(p, 1, RR_WC_RECV);
	assert_int_equal(t + 12345 + DELAY, rr_sim_now(p->w));
	timed_free(p);
}

static void messages_share_the_wire(void **state)
{
	struct timed *p = pair_connected(4);
	struct rr_region r = region(p, 1);
	rr_time t = rr_sim_now(p->w);

	for (unsigned i = 0; i < 7; i++)
		post(p, RR_WC_WRITE, 100000, &r);
	post(p, RR_WC_SEND, 100, NULL);
	flush(p);
	wait_for(p, 1, RR_WC_RECV);
	assert_int_equal(t + 700100 + DELAY, rr_sim_now(p->w));
	timed_free(p);
}

static void read_goes_there_and_back(void **state)
{
	struct timed *p = pair_connected(4);
	struct rr_region r = region(p, 1);
	rr_time t = rr_sim_now(p->w);

	post(p, RR_WC_READ, 65536, &r);
	flush(p);
	wait_for(p, 0, RR_WC_READ);
	assert_int_equal(t + DELAY + LATENCY + 65536 + DELAY, rr_sim_now(p->w));
	timed_free(p);
}

/* Two at once share one round trip; one at a time needs two. */
static void reads_in_progress_are_limited(void **state)
{
	for (uint32_t ord = 1; ord <= 2; ord++) {
		struct timed *p = pair_connected(ord);
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
		timed_free(p);
	}
}

/* -- Connections -------------------------------------------------------------- */

static const uint8_t call_head[64] = {0, 0, 0, 9};
static const uint8_t reply_head[64] = {0, 0, 0, 9, 0, 0, 0, 1};

static struct timed *conns_new_with(bool remote_invalidate, unsigned features,
                                    uint32_t inline_bytes)
{
	const struct rr_conn_config cfg = {
	        .remote_invalidate = remote_invalidate,
	        .credits = 8,
	        .send_bytes = inline_bytes,
	        .recv_bytes = inline_bytes,
	        .features = {.on = features},
	};
	struct timed *p = pair_new(16);

	timed_connect(p, (struct rr_conn_config[]){cfg, cfg});
	return p;
}

static struct timed *calling(bool remote_invalidate)
{
	struct timed *p = conns_new_with(remote_invalidate, 0, 0);

	p->call.xid = 9;
	p->reply[0] = (struct rr_piece){.base = reply_head, .len = 48};
	return p;
}

/* 36 octets of header each way. */
static void inline_call(void **state)
{
	struct timed *p = calling(true);
	const struct rr_piece in = {.base = call_head, .len = 64};

	assert_int_equal((36 + 64) + DELAY + (36 + 48) + DELAY, timed_call(p, &in, 1));
	timed_end(p);
}

/* One Read segment: 4 + 20 octets more; then one Read round trip. */
static void call_with_a_read_chunk(void **state)
{
	struct timed *p = calling(true);
	const struct rr_piece in[] = {
	        {.base = call_head, .len = 64},
	        {.base = p->mem[0], .len = 1 << 20, .item = true},
	};
	rr_time t = (36 + 24 + 64) + DELAY;

	t += DELAY + LATENCY + (1 << 20) + DELAY;
	t += (36 + 48) + DELAY;
	assert_int_equal(t, timed_call(p, in, 2));
	timed_end(p);
}

/* A Write chunk of one segment: 4 + 4 + 16 octets, there and back. */
static void call_with_a_write_chunk(void **state)
{
	struct timed *p = calling(true);
	const struct rr_piece in = {.base = call_head, .len = 64};
	struct rr_dest d = {.base = p->mem[0], .len = 1 << 20};
	rr_time t = (36 + 24 + 64) + DELAY;

	p->reply[1] =
	        (struct rr_piece){.base = p->mem[1], .len = 1 << 20, .item = true};
	p->call.dests = &d;
	p->call.n_dests = 1;
	t += (1 << 20) + (36 + 24 + 48) + DELAY;
	assert_int_equal(t, timed_call(p, &in, 1));
	assert_int_equal(1 << 20, d.ret_len);
	timed_end(p);
}

/* Fifty parts on eight credits: grants come as they are owed, not by the timer
 * of 10 ms.  Three round trips more than needed are allowed for. */
static void continuation_does_not_wait_for_the_timer(void **state)
{
	struct timed *p = calling(true);
	const struct rr_piece in[] = {
	        {.base = call_head, .len = 64},
	        {.base = p->mem[0], .len = 200000, .item = true},
	};
	rr_time t;

	p->call.flags = RR_CALL_NO_REDUCE;
	t = timed_call(p, in, 2);
	assert_true(t >= 200000 + 50 * 36 + 2 * DELAY);
	assert_true(t <= 200000 + 50 * 36 + (2 + 2 * 16) * DELAY);
	timed_end(p);
}

/* Time of a Call with a Write chunk of @len octets; without a chunk if @len is 0. */
static rr_time read_time(bool remote_invalidate, unsigned features, uint32_t len)
{
	struct timed *p = conns_new_with(remote_invalidate, features, 0);
	const struct rr_piece in = {.base = call_head, .len = 64};
	struct rr_dest d = {.base = p->mem[0], .len = len};
	rr_time t;

	p->call.xid = 9;
	p->reply[0] = (struct rr_piece){.base = reply_head, .len = 48};
	p->reply[1] = (struct rr_piece){.base = p->mem[1], .len = len, .item = true};
	p->call.dests = &d;
	p->call.n_dests = len ? 1 : 0;
	t = timed_call(p, &in, 1);
	timed_end(p);
	return t;
}

enum { REMINV = 1 << RR_FEATURE_REMINV };

/* RI-1-05, RI-1-06: a Call is shorter by the time of one local invalidation, whatever
 * its length; so in proportion the longest gain least.  Inline Calls gain nothing. */
static void remote_invalidation_saves_the_local_one(void **state)
{
	static const uint32_t kib[] = {1, 4, 16, 64, 1024};
	double last = 1;

	assert_int_equal(read_time(true, REMINV, 0), read_time(false, 0, 0));
	for (unsigned i = 0; i < RR_ARRAY_SIZE(kib); i++) {
		rr_time with = read_time(true, REMINV, kib[i] << 10);
		rr_time without = read_time(false, 0, kib[i] << 10);

		assert_int_equal(with + INVALIDATION, without);
		assert_true((double)INVALIDATION / (double)without < last);
		last = (double)INVALIDATION / (double)without;
	}
}

/* RI-5.1-01: a device without it loses that time and nothing else, whether or not the
 * feature is switched on. */
static void without_remote_invalidation_the_feature_costs_nothing(void **state)
{
	static const uint32_t lens[] = {0, 1024, 65536};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(lens); i++)
		assert_int_equal(read_time(false, REMINV, lens[i]),
		                 read_time(false, 0, lens[i]));
}

/* Time of a Call with an argument of 8 KiB. */
static rr_time write_time(bool remote_invalidate, uint32_t inline_bytes, unsigned flags)
{
	struct timed *p = conns_new_with(remote_invalidate, REMINV, inline_bytes);
	const struct rr_piece in[] = {
	        {.base = call_head, .len = 64},
	        {.base = p->mem[0], .len = 8192, .item = true},
	};
	rr_time t;

	p->call = (struct rr_call){.xid = 9, .flags = flags};
	p->reply[0] = (struct rr_piece){.base = reply_head, .len = 48};
	t = timed_call(p, in, 2);
	timed_end(p);
	return t;
}

/* RI-1-08, RI-1-07: an RDMA Read costs a round trip more than the Call, with and without
 * Remote Invalidation; long messages save it, but need long Receives. */
static void only_long_messages_save_the_round_trip_of_a_read(void **state)
{
	rr_time octets = (36 + 24 + 64) + 8192 + (36 + 48);

	assert_int_equal(write_time(true, 4096, 0), 4 * DELAY + LATENCY + octets);
	assert_int_equal(write_time(false, 4096, 0),
	                 4 * DELAY + LATENCY + octets + INVALIDATION);
	assert_int_equal(write_time(true, 16384, RR_CALL_NO_REDUCE),
	                 2 * DELAY + octets - 24);
}

/* Returns the time of a call whose reply has @len octets, in the Reply chunk that it
 * offers or else as a Read chunk. */
static rr_time long_reply_time(uint32_t len, bool chunk)
{
	struct timed *p = conns_new_with(true, 1u << RR_FEATURE_RPRC, 0);
	const struct rr_piece in = {.base = call_head, .len = 64};
	rr_time t;

	p->call = (struct rr_call){
	        .xid = 9, .reply_min = chunk ? len : 0, .reply_bytes = chunk ? len : 0};
	p->reply[0] = (struct rr_piece){.base = reply_head, .len = 48};
	p->reply[1] = (struct rr_piece){.base = p->mem[1], .len = len - 48};
	t = timed_call(p, &in, 1);
	timed_end(p);
	return t;
}

/* RR-5.2.2-03, RR-5.2.2-01: the extra round trip of a Read chunk is the same for every
 * length, so that it matters less and less. */
static void the_extra_round_trip_matters_less_for_long_replies(void **state)
{
	rr_time extra = 2 * DELAY + LATENCY - 20 + 4;

	for (uint32_t len = 65536; len <= 1 << 20; len *= 2) {
		rr_time chunk = long_reply_time(len, true);
		rr_time pulled = long_reply_time(len, false);

		assert_int_equal(chunk, (36 + 20 + 64) + len + (36 + 20) + 2 * DELAY);
		assert_int_equal(pulled, (36 + 64) + 60 + len + 4 * DELAY + LATENCY);
		assert_int_equal(pulled - chunk, extra);
		assert_true((pulled - chunk) * len < 65536 * chunk);
	}
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
	        cmocka_unit_test(remote_invalidation_saves_the_local_one),
	        cmocka_unit_test(without_remote_invalidation_the_feature_costs_nothing),
	        cmocka_unit_test(only_long_messages_save_the_round_trip_of_a_read),
	        cmocka_unit_test(the_extra_round_trip_matters_less_for_long_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
