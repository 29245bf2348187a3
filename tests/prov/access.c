/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: handles, rights, bounds, invalidation, misuse. */
#include "rig.h"

enum { BOTH = RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE, LEN = 1000 };

static void expect_untouched(struct rig *g, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		assert_int_equal(0xcc, g->end[SERVER].mem[i]);
}

static void expect_end(struct rig *g, unsigned side)
{
	(void)rig_wait(g, side, RR_WC_DISCONNECTED);
	rig_settle(g);
	rig_audit(g, side);
}

/* The client misbehaved: the server ends, tells; outside nothing was placed.
 * @unblamed: what a device may lack to say who it was. */
static void expect_misuse(struct rig *g, unsigned unblamed)
{
	if (rig_lacks(SERVER) & unblamed)
		expect_end(g, SERVER);
	else
		rig_ended(g, SERVER, -EREMOTEIO);
	if (rig_lacks(CLIENT) & (RIG_NO_TERMINATE | (unblamed & RIG_NO_INV_BLAME)))
		expect_end(g, CLIENT);
	else
		assert_int_not_equal(0, rig_wait(g, CLIENT, RR_WC_DISCONNECTED).status);
	rig_settle(g);
	rig_audit(g, CLIENT);
	assert_int_not_equal(0, strlen(rig_ops(g, SERVER)->reason(g->end[SERVER].ep)));
	expect_untouched(g, 0, 10);
	expect_untouched(g, LEN + 10, LEN + 20);
}

static struct rr_region victim(struct rig *g, unsigned access)
{
	memset(g->end[SERVER].mem, 0xcc, LEN + 20);
	memset(g->end[CLIENT].mem, 0x11, LEN + 20);
	return rig_register(g, SERVER, g->end[SERVER].mem + 10, LEN, access);
}

/* What is within bounds of a Write in several pieces may be placed before the
 * piece beyond them is seen; a Write of ten octets is one piece. */
static void bad_write_of(struct rig *g, size_t len, uint32_t handle, uint64_t offset,
                         unsigned unblamed)
{
	rig_write(g, CLIENT, g->end[CLIENT].mem, len, handle, offset);
	rig_flush(g, CLIENT);
	expect_misuse(g, unblamed);
	if (len <= 10)
		expect_untouched(g, 0, LEN + 20);
}

static void bad_write(struct rig *g, size_t len, uint32_t handle, uint64_t offset)
{
	bad_write_of(g, len, handle, offset, 0);
}

/* There is no such region, or none so far away. */
static void lost_write(struct rig *g, uint32_t handle, uint64_t offset)
{
	bad_write_of(g, 10, handle, offset, RIG_NO_HANDLE_BLAME);
}

static void bad_read(struct rig *g, size_t len, uint32_t handle, uint64_t offset)
{
	rig_read(g, CLIENT, g->end[CLIENT].mem, len, handle, offset);
	rig_flush(g, CLIENT);
	assert_int_not_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
	expect_misuse(g, RIG_NO_HANDLE_BLAME);
}

static void write_unknown_handle(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	lost_write(*state, r.handle ^ 0x5a5a5a00, r.offset);
}

static void write_neighbour_handle(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	lost_write(*state, r.handle + 1, r.offset);
}

static void read_unknown_handle(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_read(*state, 10, r.handle - 1, r.offset);
}

static void write_without_right(void **state)
{
	struct rr_region r = victim(*state, RR_ACCESS_REMOTE_READ);

	bad_write(*state, 10, r.handle, r.offset);
}

static void read_without_right(void **state)
{
	struct rr_region r = victim(*state, RR_ACCESS_REMOTE_WRITE);

	if (!(rig_lacks(SERVER) & RIG_READS_ALL))
		bad_read(*state, 10, r.handle, r.offset);
}

static void write_one_before(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_write(*state, 10, r.handle, r.offset - 1);
}

static void write_one_beyond(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_write(*state, 10, r.handle, r.offset + LEN - 9);
}

static void write_one_too_long(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_write(*state, LEN + 1, r.handle, r.offset);
}

static void write_offset_wraps(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	lost_write(*state, r.handle, UINT64_MAX - 4);
}

static void write_offset_far(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_write(*state, 10, r.handle, r.offset + (UINT64_C(1) << 32));
}

static void read_one_before(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_read(*state, 10, r.handle, r.offset - 1);
}

static void read_one_beyond(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_read(*state, 10, r.handle, r.offset + LEN - 9);
}

static void read_one_too_long(void **state)
{
	struct rr_region r = victim(*state, BOTH);

	bad_read(*state, LEN + 1, r.handle, r.offset);
}

static void handle_of_another_endpoint(void **state)
{
	struct rig *g = *state;
	struct rr_region r;

	rig_connect_pair(g, 2);
	memset(g->end[SERVER].mem, 0xcc, LEN + 20);
	r = rig_register(g, 3, g->end[SERVER].mem + 10, LEN, BOTH);
	rig_fill(g->end[2].mem, LEN, 4);
	bad_write(g, 10, r.handle, r.offset);
	/* That connection only: the rightful one still works. */
	rig_write(g, 2, g->end[2].mem, LEN, r.handle, r.offset);
	rig_round_trip(g, 2);
	rig_check(g->end[SERVER].mem + 10, LEN, 4);
}

static void read_after_local_invalidation(void **state)
{
	struct rig *g = *state;
	struct rr_region r = victim(g, BOTH);
	struct rr_wc wc;

	rig_read(g, CLIENT, g->end[CLIENT].mem, 10, r.handle, r.offset);
	rig_flush(g, CLIENT);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
	rig_invalidate(g, SERVER, r.handle);
	rig_flush(g, SERVER);
	wc = rig_wait(g, SERVER, RR_WC_INVALIDATE);
	assert_int_equal(0, wc.status);
	bad_read(g, 10, r.handle, r.offset);
}

static void write_after_local_invalidation(void **state)
{
	struct rig *g = *state;
	struct rr_region r = victim(g, BOTH);

	rig_invalidate(g, SERVER, r.handle);
	rig_flush(g, SERVER);
	assert_int_equal(0, rig_wait(g, SERVER, RR_WC_INVALIDATE).status);
	lost_write(g, r.handle, r.offset);
}

/* Server sends to the client, invalidating the client's @r. */
static struct rr_wc remote_invalidation(struct rig *g, uint32_t handle)
{
	rig_round_trip(g, CLIENT);
	rig_recv(g, SERVER, g->end[SERVER].mem + 8000, 64);
	rig_send(g, CLIENT, g->end[CLIENT].mem + 4000, 20, handle);
	rig_flush(g, CLIENT);
	return rig_wait(g, SERVER, RR_WC_RECV);
}

static bool can_invalidate_remotely(struct rig *g)
{
	struct rr_prov_limits l[2];

	for (unsigned side = CLIENT; side <= SERVER; side++)
		rig_ops(g, side)->limits(g->end[side].ep, &l[side]);
	return l[CLIENT].remote_invalidate && l[SERVER].remote_invalidate;
}

static void remote_invalidation_is_reported(void **state)
{
	struct rig *g = *state;
	struct rr_region r, other;
	struct rr_prov_counters c;
	struct rr_wc wc;

	if (!can_invalidate_remotely(g))
		return;
	r = victim(g, BOTH);
	other = rig_register(g, SERVER, g->end[SERVER].mem + 10, LEN, BOTH);
	wc = remote_invalidation(g, r.handle);
	/* The Receive of remote_invalidation is drawn after the round trip's. */
	while (!wc.status && wc.token != g->end[SERVER].posted[RR_WC_RECV])
		wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_int_equal(0, wc.status);
	assert_true(wc.invalidated);
	assert_int_equal(r.handle, wc.inv_handle);
	assert_int_equal(20, wc.len);
	rig_ops(g, CLIENT)->counters(g->end[CLIENT].ep, &c);
	assert_int_equal(1, c.sends_inv);
	assert_true(c.sends > 1);
	/* Only that one: the other still works. */
	rig_read(g, CLIENT, g->end[CLIENT].mem, LEN, other.handle, other.offset);
	rig_flush(g, CLIENT);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_READ).status);
	assert_int_equal(-EINVAL, rig_ops(g, SERVER)->invalidate(g->end[SERVER].ep,
	                                                         r.handle, 99));
	bad_read(g, 10, r.handle, r.offset);
}

static void write_then_remote_invalidation(void **state)
{
	struct rig *g = *state;
	struct rr_region r;

	if (!can_invalidate_remotely(g))
		return;
	/* In one batch: the Write is placed before the region is gone. */
	r = rig_register(g, SERVER, g->end[SERVER].mem, 100000, RR_ACCESS_REMOTE_WRITE);
	rig_fill(g->end[CLIENT].mem, 100000, 5);
	rig_recv(g, SERVER, g->end[SERVER].mem + 200000, 64);
	rig_write(g, CLIENT, g->end[CLIENT].mem, 100000, r.handle, r.offset);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 64, r.handle);
	rig_flush(g, CLIENT);
	assert_true(rig_wait(g, SERVER, RR_WC_RECV).invalidated);
	rig_check(g->end[SERVER].mem, 100000, 5);
	rig_round_trip(g, CLIENT);
}

static void remote_invalidation_of_unknown(void **state)
{
	struct rig *g = *state;
	struct rr_region r = victim(g, BOTH);

	if (!can_invalidate_remotely(g))
		return;
	rig_recv(g, SERVER, g->end[SERVER].mem + 8000, 64);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 20, r.handle + 256);
	rig_flush(g, CLIENT);
	expect_misuse(g, RIG_NO_INV_BLAME);
}

/* RI-6-02: the handle belongs to another connection, which is not affected. */
static void remote_invalidation_of_another_endpoint(void **state)
{
	struct rig *g = *state;
	struct rr_region r;

	if (!can_invalidate_remotely(g) || rig_lacks(SERVER) & RIG_INVALIDATES_ALL)
		return;
	rig_connect_pair(g, 2);
	memset(g->end[SERVER].mem, 0xcc, LEN + 20);
	r = rig_register(g, 3, g->end[SERVER].mem + 10, LEN, BOTH);
	rig_recv(g, SERVER, g->end[SERVER].mem + 8000, 64);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 20, r.handle);
	rig_flush(g, CLIENT);
	expect_misuse(g, RIG_NO_INV_BLAME);
	rig_fill(g->end[2].mem, LEN, 4);
	rig_write(g, 2, g->end[2].mem, LEN, r.handle, r.offset);
	rig_round_trip(g, 2);
	rig_check(g->end[SERVER].mem + 10, LEN, 4);
}

/* As limits.survives_inv_twice says. */
static void remote_invalidation_after_local(void **state)
{
	struct rig *g = *state;
	struct rr_region r = victim(g, BOTH);
	struct rr_prov_limits l;

	/* a real device may crash the machine */
	if (!can_invalidate_remotely(g) || rig_lacks(SERVER) & RIG_DEVICE_HANDLES)
		return;
	rig_ops(g, SERVER)->limits(g->end[SERVER].ep, &l);
	rig_recv(g, SERVER, g->end[SERVER].mem + 8000, 64);
	rig_invalidate(g, SERVER, r.handle);
	rig_flush(g, SERVER);
	assert_int_equal(0, rig_wait(g, SERVER, RR_WC_INVALIDATE).status);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 20, r.handle);
	rig_flush(g, CLIENT);
	assert_false(l.survives_inv_twice);
	expect_misuse(g, RIG_NO_INV_BLAME);
}

static void invalidate_unknown(void **state)
{
	struct rig *g = *state;
	struct rr_region r = victim(g, BOTH), other;

	rig_connect_pair(g, 2);
	other = rig_register(g, 3, g->end[3].mem, 100, BOTH);
	assert_int_equal(-EINVAL,
	                 rig_ops(g, SERVER)->invalidate(g->end[SERVER].ep, 0, 1));
	assert_int_equal(-EINVAL, rig_ops(g, SERVER)->invalidate(g->end[SERVER].ep,
	                                                         r.handle + 1, 1));
	assert_int_equal(-EINVAL, rig_ops(g, SERVER)->invalidate(g->end[SERVER].ep,
	                                                         other.handle, 1));
	rig_invalidate(g, SERVER, r.handle);
	rig_flush(g, SERVER);
	rig_wait(g, SERVER, RR_WC_INVALIDATE);
	assert_int_equal(-EINVAL, rig_ops(g, SERVER)->invalidate(g->end[SERVER].ep,
	                                                         r.handle, 1));
	rig_round_trip(g, CLIENT);
}

static void invalidations_complete_in_order(void **state)
{
	struct rig *g = *state;
	struct rr_region r[50];

	for (unsigned i = 0; i < 50; i++)
		r[i] = rig_register(g, CLIENT, g->end[CLIENT].mem + i * 64, 64, BOTH);
	for (unsigned i = 0; i < 50; i++)
		rig_invalidate(g, CLIENT, r[(i * 7) % 50].handle);
	rig_flush(g, CLIENT);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(i + 1, rig_wait(g, CLIENT, RR_WC_INVALIDATE).token);
	rig_round_trip(g, CLIENT);
	rig_audit(g, CLIENT);
}

/* Handles differ, do not count up, and do not come back soon. */
static void handles_are_hard_to_guess(void **state)
{
	enum { N = 600 };
	static uint32_t seen[N];
	struct rig *g = *state;
	unsigned near = 0, again = 0;

	for (unsigned i = 0; i < N; i++) {
		struct rr_region r =
		        rig_register(g, SERVER, g->end[SERVER].mem, 64, BOTH);

		for (unsigned k = 0; k < i; k++)
			again += seen[k] == r.handle;
		near += i && r.handle - seen[i - 1] + 1024 < 2048;
		seen[i] = r.handle;
		rig_invalidate(g, SERVER, r.handle);
		rig_flush(g, SERVER);
		rig_wait(g, SERVER, RR_WC_INVALIDATE);
	}
	if (rig_lacks(SERVER) & RIG_DEVICE_HANDLES) {
		assert_true(again < 4);
		return;
	}
	assert_int_equal(0, again);
	assert_true(near < 5);
}

static void send_longer_than_receive(void **state)
{
	struct rig *g = *state;

	victim(g, BOTH);
	memset(g->end[SERVER].mem + 5000, 0xcc, 200);
	rig_recv(g, SERVER, g->end[SERVER].mem + 5000, 64);
	rig_recv(g, SERVER, g->end[SERVER].mem + 6000, 640);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 65, 0);
	rig_flush(g, CLIENT);
	expect_misuse(g, 0);
	assert_int_not_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
	assert_int_equal(-ECANCELED, rig_wait(g, SERVER, RR_WC_RECV).status);
	for (unsigned i = 64; i < 200; i++)
		assert_int_equal(0xcc, g->end[SERVER].mem[5000 + i]);
}

static void send_without_receive(void **state)
{
	struct rig *g = *state;

	victim(g, BOTH);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 10, 0);
	rig_flush(g, CLIENT);
	if (!(rig_lacks(SERVER) & RIG_RNR_WAITS)) {
		expect_misuse(g, RIG_NO_RNR_BLAME);
		return;
	}
	rig_settle(g);
	expect_untouched(g, 0, LEN + 20);
	rig_recv(g, SERVER, g->end[SERVER].mem, 64);
	assert_int_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
}

static void misuse_by_the_server(void **state)
{
	struct rig *g = *state;
	struct rr_region r =
	        rig_register(g, CLIENT, g->end[CLIENT].mem, 100, RR_ACCESS_REMOTE_READ);

	rig_round_trip(g, CLIENT);
	rig_write(g, SERVER, g->end[SERVER].mem, 100, r.handle, r.offset);
	rig_flush(g, SERVER);
	rig_ended(g, CLIENT, -EREMOTEIO);
	if (rig_lacks(SERVER) & RIG_NO_TERMINATE)
		expect_end(g, SERVER);
	else
		assert_int_not_equal(0, rig_wait(g, SERVER, RR_WC_DISCONNECTED).status);
	rig_settle(g);
	rig_audit(g, SERVER);
}

#define C(f) cmocka_unit_test_setup_teardown(f, rig_setup_connected, rig_teardown)

const struct CMUnitTest rig_access_tests[] = {
        C(write_unknown_handle),
        C(write_neighbour_handle),
        C(read_unknown_handle),
        C(write_without_right),
        C(read_without_right),
        C(write_one_before),
        C(write_one_beyond),
        C(write_one_too_long),
        C(write_offset_wraps),
        C(write_offset_far),
        C(read_one_before),
        C(read_one_beyond),
        C(read_one_too_long),
        C(handle_of_another_endpoint),
        C(read_after_local_invalidation),
        C(write_after_local_invalidation),
        C(remote_invalidation_is_reported),
        C(write_then_remote_invalidation),
        C(remote_invalidation_of_unknown),
        C(remote_invalidation_of_another_endpoint),
        C(remote_invalidation_after_local),
        C(invalidate_unknown),
        C(invalidations_complete_in_order),
        C(handles_are_hard_to_guess),
        C(send_longer_than_receive),
        C(send_without_receive),
        C(misuse_by_the_server),
};
const size_t rig_access_count = RR_ARRAY_SIZE(rig_access_tests);
