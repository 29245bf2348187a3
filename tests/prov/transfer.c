/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends, Receives, Writes, Reads: contents, order, one completion per post. */
#include "rig.h"

static void send_of(struct rig *g, size_t len)
{
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;
	struct rr_wc wc;

	rig_fill(out, len, (unsigned)len);
	memset(in, 0xee, len + 8);
	rig_recv(g, SERVER, in, len);
	rig_send(g, CLIENT, out, len, 0);
	rig_flush(g, CLIENT);
	wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_int_equal(0, wc.status);
	assert_int_equal(len, wc.len);
	assert_false(wc.invalidated);
	rig_check(in, len, (unsigned)len);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(0xee, in[len + i]);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
}

static void send_sizes(void **state)
{
	static const size_t sizes[] = {1,    2,    3,    4,     5,     1023,  1024,
	                               4095, 4096, 4097, 16384, 65535, 65536, 100001};

	for (size_t i = 0; i < RR_ARRAY_SIZE(sizes); i++)
		send_of(*state, sizes[i]);
	rig_audit(*state, CLIENT);
	rig_audit(*state, SERVER);
}

static void send_shorter_than_receive(void **state)
{
	struct rig *g = *state;
	struct rr_wc wc;

	rig_fill(g->end[CLIENT].mem, 100, 5);
	rig_recv(g, SERVER, g->end[SERVER].mem, 4096);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 100, 0);
	rig_flush(g, CLIENT);
	wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_int_equal(100, wc.len);
	rig_check(g->end[SERVER].mem, 100, 5);
}

static unsigned cut_up(const uint8_t *base, size_t len, struct rr_sge *s, unsigned n)
{
	size_t from = 0;

	for (unsigned i = 0; i < n; i++) {
		size_t to = i + 1 == n ? len : RR_MIN(len, from + i * 7 % 40);

		s[i] = (struct rr_sge){.base = (void *)(uintptr_t)(base + from),
		                       .len = (uint32_t)(to - from)};
		from = to;
	}
	return n;
}

static void send_gathers(void **state)
{
	struct rig *g = *state;
	struct rr_sge s[RR_PROV_MAX_SGE + 1];

	rig_fill(g->end[CLIENT].mem, 4000, 6);
	for (unsigned n = 1; n <= RR_PROV_MAX_SGE; n += 9) {
		rig_recv(g, SERVER, g->end[SERVER].mem, 4000);
		cut_up(g->end[CLIENT].mem, 4000, s, n);
		assert_int_equal(0, rig_ops(g, CLIENT)->post_send(
		                            g->end[CLIENT].ep, s, n, 0,
		                            ++g->end[CLIENT].posted[RR_WC_SEND]));
		memset(s, 0, sizeof(s)); /* borrowed */
		rig_flush(g, CLIENT);
		assert_int_equal(4000, rig_wait(g, SERVER, RR_WC_RECV).len);
		rig_check(g->end[SERVER].mem, 4000, 6);
	}
	cut_up(g->end[CLIENT].mem, 4000, s, RR_PROV_MAX_SGE + 1);
	assert_int_equal(-EINVAL,
	                 rig_ops(g, CLIENT)->post_send(g->end[CLIENT].ep, s,
	                                               RR_PROV_MAX_SGE + 1, 0, 77));
}

static void write_gathers(void **state)
{
	struct rig *g = *state;
	struct rr_sge s[RR_PROV_MAX_SGE + 1];
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, 40000,
	                                  RR_ACCESS_REMOTE_WRITE);

	rig_fill(g->end[CLIENT].mem, 40000, 7);
	cut_up(g->end[CLIENT].mem, 40000, s, RR_PROV_MAX_SGE);
	assert_int_equal(0, rig_ops(g, CLIENT)->post_write(
	                            g->end[CLIENT].ep, s, RR_PROV_MAX_SGE, r.handle,
	                            r.offset, ++g->end[CLIENT].posted[RR_WC_WRITE]));
	memset(s, 0, sizeof(s));
	rig_round_trip(g, CLIENT);
	rig_check(g->end[SERVER].mem, 40000, 7);
	cut_up(g->end[CLIENT].mem, 4000, s, RR_PROV_MAX_SGE + 1);
	assert_int_equal(-EINVAL, rig_ops(g, CLIENT)->post_write(
	                                  g->end[CLIENT].ep, s, RR_PROV_MAX_SGE + 1,
	                                  r.handle, r.offset, 77));
}

/* Receives of different sizes are used in the order of posting. */
static void order_of_sends(void **state)
{
	struct rig *g = *state;
	enum { N = 200 };

	for (unsigned i = 0; i < N; i++)
		rig_recv(g, SERVER, g->end[SERVER].mem + i * 1024, 1024);
	for (unsigned i = 0; i < N; i++) {
		rig_fill(g->end[CLIENT].mem + i * 1024, 1 + i * 5, i);
		rig_send(g, CLIENT, g->end[CLIENT].mem + i * 1024, 1 + i * 5, 0);
		if (i % 7 == 3)
			rig_flush(g, CLIENT);
	}
	rig_flush(g, CLIENT);
	for (unsigned i = 0; i < N; i++) {
		struct rr_wc wc = rig_wait(g, SERVER, RR_WC_RECV);

		assert_int_equal(0, wc.status);
		assert_int_equal(i + 1, wc.token);
		assert_int_equal(1 + i * 5, wc.len);
		rig_check(g->end[SERVER].mem + i * 1024, wc.len, i);
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(i + 1, rig_wait(g, CLIENT, RR_WC_SEND).token);
	rig_settle(g);
	rig_audit(g, CLIENT);
	rig_audit(g, SERVER);
	assert_int_equal(N, rig_seen(g, CLIENT, RR_WC_SEND));
}

/* What a Receive promises: all Writes before its Send are placed. */
static void writes_are_placed_before_the_receive(void **state)
{
	struct rig *g = *state;
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;
	struct rr_region r =
	        rig_register(g, SERVER, in, 1 << 20, RR_ACCESS_REMOTE_WRITE);

	for (unsigned round = 0; round < 10; round++) {
		size_t part = 100001 - round * 9973;

		rig_fill(out, 5 * part, round);
		memset(in, 0, 5 * part);
		rig_recv(g, SERVER, in + (2 << 20), 64);
		for (unsigned i = 0; i < 5; i++)
			rig_write(g, CLIENT, out + i * part, part, r.handle,
			          r.offset + i * part);
		rig_send(g, CLIENT, out, 3, 0);
		rig_flush(g, CLIENT);
		assert_int_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
		rig_check(in, 5 * part, round);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_WRITE).status);
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
	}
	rig_settle(g);
	rig_audit(g, CLIENT);
}

/* After its completion the memory of a Send or Write may be used again. */
static void completed_memory_may_change(void **state)
{
	struct rig *g = *state;
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;
	struct rr_region r =
	        rig_register(g, SERVER, in, 1 << 20, RR_ACCESS_REMOTE_WRITE);

	rig_fill(out, 300000, 1);
	rig_fill(out + 500000, 4096, 2);
	rig_recv(g, SERVER, in + (2 << 20), 4096);
	rig_write(g, CLIENT, out, 300000, r.handle, r.offset + 11);
	rig_send(g, CLIENT, out + 500000, 4096, 0);
	rig_flush(g, CLIENT);
	rig_wait(g, CLIENT, RR_WC_WRITE);
	memset(out, 0, 300000);
	rig_wait(g, CLIENT, RR_WC_SEND);
	memset(out + 500000, 0, 4096);
	rig_wait(g, SERVER, RR_WC_RECV);
	rig_check(in + 11, 300000, 1);
	rig_check(in + (2 << 20), 4096, 2);
}

static void write_touches_nothing_else(void **state)
{
	struct rig *g = *state;
	uint8_t *in = g->end[SERVER].mem;
	struct rr_region r =
	        rig_register(g, SERVER, in + 16, 1000, RR_ACCESS_REMOTE_WRITE);

	memset(in, 0xcc, 1100);
	rig_fill(g->end[CLIENT].mem, 1000, 8);
	rig_write(g, CLIENT, g->end[CLIENT].mem, 500, r.handle, r.offset + 250);
	rig_round_trip(g, CLIENT);
	for (unsigned i = 0; i < 1100; i++)
		if (i < 266 || i >= 766)
			assert_int_equal(0xcc, in[i]);
	rig_check(in + 266, 500, 8);
	/* All of it, first and last octet included. */
	rig_write(g, CLIENT, g->end[CLIENT].mem, 1000, r.handle, r.offset);
	rig_round_trip(g, CLIENT);
	rig_check(in + 16, 1000, 8);
	assert_int_equal(0xcc, in[15]);
	assert_int_equal(0xcc, in[1016]);
}

static void zero_length(void **state)
{
	struct rig *g = *state;
	uint8_t *in = g->end[SERVER].mem;
	struct rr_region r = rig_register(
	        g, SERVER, in, 100, RR_ACCESS_REMOTE_WRITE | RR_ACCESS_REMOTE_READ);
	struct rr_wc wc;

	memset(in, 0xcc, 100);
	rig_write(g, CLIENT, g->end[CLIENT].mem, 0, r.handle, r.offset);
	rig_read(g, CLIENT, g->end[CLIENT].mem, 0, r.handle, r.offset);
	rig_read(g, CLIENT, g->end[CLIENT].mem, 0, r.handle, r.offset + 100);
	rig_flush(g, CLIENT);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_WRITE).status);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
	rig_recv(g, SERVER, in + 200, 10);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 0, 0);
	rig_flush(g, CLIENT);
	wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_int_equal(0, wc.status);
	assert_int_equal(0, wc.len);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(0xcc, in[i]);
	rig_round_trip(g, CLIENT);
}

/* They have nothing to fetch and are told in their turn all the same. */
static void empty_reads_between_others(void **state)
{
	static const size_t len[] = {50000, 0, 0, 60000, 0};
	struct rig *g = *state;
	uint8_t *to = g->end[CLIENT].mem, *from = g->end[SERVER].mem;
	struct rr_region r =
	        rig_register(g, SERVER, from, 60000, RR_ACCESS_REMOTE_READ);

	rig_fill(from, 60000, 8);
	for (size_t i = 0; i < RR_ARRAY_SIZE(len); i++)
		rig_read(g, CLIENT, to + i * 60000, len[i], r.handle, r.offset);
	rig_flush(g, CLIENT);
	for (size_t i = 0; i < RR_ARRAY_SIZE(len); i++) {
		struct rr_wc wc = rig_wait(g, CLIENT, RR_WC_READ);

		assert_int_equal(0, wc.status);
		assert_int_equal(i + 1, wc.token);
		rig_check(to + i * 60000, len[i], 8);
	}
	rig_audit(g, CLIENT);
}

static void read_of(struct rig *g, size_t len, size_t at)
{
	uint8_t *to = g->end[CLIENT].mem;

	rig_fill(g->end[SERVER].mem + at, len, (unsigned)len);
	memset(to, 0xdd, len + 16);
}

static void read_sizes(void **state)
{
	struct rig *g = *state;
	static const size_t sizes[] = {1, 3, 4, 4097, 65535, 65537, 1000003};
	uint8_t *to = g->end[CLIENT].mem;
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, 2 << 20,
	                                  RR_ACCESS_REMOTE_READ);

	for (size_t i = 0; i < RR_ARRAY_SIZE(sizes); i++) {
		read_of(g, sizes[i], i * 3);
		rig_read(g, CLIENT, to + 8, sizes[i], r.handle, r.offset + i * 3);
		rig_flush(g, CLIENT);
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
		rig_check(to + 8, sizes[i], (unsigned)sizes[i]);
		assert_int_equal(0xdd, to[7]);
		assert_int_equal(0xdd, to[8 + sizes[i]]);
	}
}

/* More Reads than max_ord: they wait inside, and complete in order. */
static void many_reads(void **state)
{
	struct rig *g = *state;
	enum { N = 150, STEP = 8192 };
	uint8_t *to = g->end[CLIENT].mem, *from = g->end[SERVER].mem;
	struct rr_region r =
	        rig_register(g, SERVER, from, N * STEP, RR_ACCESS_REMOTE_READ);
	struct rr_prov_limits l;

	rig_ops(g, CLIENT)->limits(g->end[CLIENT].ep, &l);
	for (unsigned i = 0; i < N; i++)
		rig_fill(from + i * STEP, STEP, i);
	for (unsigned i = 0; i < N; i++)
		rig_read(g, CLIENT, to + i * STEP, 1 + (i * 997) % STEP, r.handle,
		         r.offset + i * STEP);
	rig_flush(g, CLIENT);
	for (unsigned i = 0; i < N; i++) {
		struct rr_wc wc = rig_wait(g, CLIENT, RR_WC_READ);

		assert_int_equal(0, wc.status);
		assert_int_equal(i + 1, wc.token);
		rig_check(to + i * STEP, 1 + (i * 997) % STEP, i);
	}
	rig_settle(g);
	rig_audit(g, CLIENT);
}

/* Everything at once in both directions: nothing blocks, each post ends once. */
static void all_kinds_both_ways(void **state)
{
	struct rig *g = *state;
	enum { N = 24, PART = 50000, HALF = 2 << 20 };
	struct rr_region r[2];

	for (unsigned s = 0; s < 2; s++) {
		r[s] = rig_register(g, s, g->end[s].mem, RIG_MEM,
		                    RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE);
		rig_fill(g->end[s].mem + HALF, PART, 50 + s);
		for (unsigned i = 0; i < N; i++)
			rig_recv(g, s, g->end[s].mem + 3 * PART + i * 1000, 1000);
	}
	for (unsigned i = 0; i < N; i++)
		for (unsigned s = 0; s < 2; s++) {
			uint8_t *m = g->end[s].mem;

			rig_write(g, s, m + HALF, PART, r[!s].handle, r[!s].offset);
			rig_read(g, s, m + PART, PART, r[!s].handle,
			         r[!s].offset + HALF);
			rig_send(g, s, m + HALF, 1000, 0);
			rig_flush(g, s);
		}
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < N; i++) {
			assert_int_equal(0, rig_wait(g, s, RR_WC_WRITE).status);
			assert_int_equal(0, rig_wait(g, s, RR_WC_READ).status);
			assert_int_equal(0, rig_wait(g, s, RR_WC_SEND).status);
			assert_int_equal(0, rig_wait(g, s, RR_WC_RECV).status);
		}
	for (unsigned s = 0; s < 2; s++) {
		rig_check(g->end[s].mem, PART, 50 + !s);
		rig_check(g->end[s].mem + PART, PART, 50 + !s);
		rig_check(g->end[s].mem + 3 * PART + (N - 1) * 1000, 1000, 50 + !s);
		rig_audit(g, s);
	}
}

static void large_writes_cross(void **state)
{
	struct rig *g = *state;
	enum { HALF = 2 << 20 };
	struct rr_region r[2];

	for (unsigned s = 0; s < 2; s++) {
		r[s] = rig_register(g, s, g->end[s].mem, HALF, RR_ACCESS_REMOTE_WRITE);
		rig_fill(g->end[s].mem + HALF, HALF, s);
	}
	for (unsigned s = 0; s < 2; s++) {
		rig_write(g, s, g->end[s].mem + HALF, HALF, r[!s].handle, r[!s].offset);
		rig_flush(g, s);
	}
	rig_round_trip(g, CLIENT);
	for (unsigned s = 0; s < 2; s++)
		rig_check(g->end[s].mem, HALF, !s);
}

static void send_queue_full(void **state)
{
	struct rig *g = *state;
	struct rr_sge s = {.base = g->end[CLIENT].mem, .len = 0};
	struct rr_region r = rig_register(g, SERVER, g->end[SERVER].mem, 100,
	                                  RR_ACCESS_REMOTE_WRITE);
	struct rr_prov_limits l;

	rig_ops(g, CLIENT)->limits(g->end[CLIENT].ep, &l);
	if (l.max_send > RIG_LOG / 2)
		return;
	for (unsigned i = 0; i < l.max_send; i++)
		rig_write(g, CLIENT, s.base, 1, r.handle, r.offset);
	assert_int_equal(-ENOBUFS,
	                 rig_ops(g, CLIENT)->post_write(g->end[CLIENT].ep, &s, 1,
	                                                r.handle, r.offset, 9));
	assert_int_equal(-ENOBUFS,
	                 rig_ops(g, CLIENT)->post_send(g->end[CLIENT].ep, &s, 1, 0, 9));
	assert_int_equal(-ENOBUFS,
	                 rig_ops(g, CLIENT)->post_read(g->end[CLIENT].ep, &s, r.handle,
	                                               r.offset, 9));
	rig_flush(g, CLIENT);
	for (unsigned i = 0; i < l.max_send; i++)
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_WRITE).status);
	rig_round_trip(g, CLIENT);
	rig_audit(g, CLIENT);
}

static void receive_queue_full(void **state)
{
	struct rig *g = *state;
	struct rr_sge s = {.base = g->end[SERVER].mem, .len = 10};
	struct rr_prov_limits l;

	rig_ops(g, SERVER)->limits(g->end[SERVER].ep, &l);
	if (l.max_recv > RIG_LOG / 2)
		return;
	for (unsigned i = 0; i < l.max_recv; i++)
		rig_recv(g, SERVER, s.base, s.len);
	assert_int_equal(-ENOBUFS,
	                 rig_ops(g, SERVER)->post_recv(g->end[SERVER].ep, &s, 9));
	rig_ops(g, SERVER)->disconnect(g->end[SERVER].ep, rig_now());
	rig_ended(g, SERVER, 0);
}

static void counters(void **state)
{
	struct rig *g = *state;
	uint8_t *in = g->end[SERVER].mem;
	struct rr_prov_counters c, s;
	struct rr_region r = rig_register(
	        g, SERVER, in, 1000, RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE);

	for (unsigned i = 0; i < 3; i++)
		rig_write(g, CLIENT, g->end[CLIENT].mem, 100, r.handle, r.offset);
	for (unsigned i = 0; i < 2; i++)
		rig_read(g, CLIENT, g->end[CLIENT].mem + 1000, 100, r.handle, r.offset);
	rig_flush(g, CLIENT);
	rig_wait(g, CLIENT, RR_WC_READ);
	rig_wait(g, CLIENT, RR_WC_READ);
	rig_round_trip(g, CLIENT);
	rig_invalidate(g, SERVER, r.handle);
	rig_flush(g, SERVER);
	rig_wait(g, SERVER, RR_WC_INVALIDATE);
	rig_ops(g, CLIENT)->counters(g->end[CLIENT].ep, &c);
	rig_ops(g, SERVER)->counters(g->end[SERVER].ep, &s);
	assert_int_equal(1, c.sends);
	assert_int_equal(1, c.recvs);
	assert_int_equal(3, c.writes);
	assert_int_equal(2, c.reads);
	assert_int_equal(1, s.sends);
	assert_int_equal(1, s.recvs);
	assert_int_equal(0, s.writes);
	assert_int_equal(1, s.registrations);
	assert_int_equal(1, s.local_invalidations);
	assert_int_equal(0, s.remote_invalidations);
	assert_int_equal(0, c.sends_inv);
	assert_true(c.bytes_sent >= 364);
	assert_true(s.bytes_received >=
	            (rig_lacks(SERVER) & RIG_NO_PASSIVE_BYTES ? 64 : 364));
	assert_true(c.bytes_received >= 264);
}

#define C(f) cmocka_unit_test_setup_teardown(f, rig_setup_connected, rig_teardown)

const struct CMUnitTest rig_transfer_tests[] = {
        C(send_sizes),
        C(send_shorter_than_receive),
        C(send_gathers),
        C(write_gathers),
        C(order_of_sends),
        C(writes_are_placed_before_the_receive),
        C(completed_memory_may_change),
        C(write_touches_nothing_else),
        C(zero_length),
        C(empty_reads_between_others),
        C(read_sizes),
        C(many_reads),
        C(all_kinds_both_ways),
        C(large_writes_cross),
        C(send_queue_full),
        C(receive_queue_full),
        C(counters),
};
const size_t rig_transfer_count = RR_ARRAY_SIZE(rig_transfer_tests);
