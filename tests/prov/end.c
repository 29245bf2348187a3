/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a connection: orderly, by loss, by abort. */
#include "rig.h"

#include <stdlib.h>

static void disconnect(struct rig *g, unsigned side)
{
	rig_ops(g, side)->disconnect(g->end[side].ep, rig_now());
}

static void vanish(struct rig *g, unsigned side)
{
	rig_ops(g, side)->destroy(g->end[side].ep);
	g->end[side].ep = NULL;
}

static void orderly_end(void **state)
{
	struct rig *g = *state;

	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 5; i++)
			rig_recv(g, s, g->end[s].mem, 100);
	disconnect(g, CLIENT);
	rig_ended(g, SERVER, 0);
	rig_ended(g, CLIENT, 0);
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(-ECANCELED, rig_wait(g, s, RR_WC_RECV).status);
}

static void server_ends(void **state)
{
	struct rig *g = *state;

	rig_round_trip(g, CLIENT);
	disconnect(g, SERVER);
	rig_ended(g, CLIENT, 0);
	rig_ended(g, SERVER, 0);
}

static void both_end_at_once(void **state)
{
	struct rig *g = *state;

	disconnect(g, SERVER);
	disconnect(g, CLIENT);
	rig_ended(g, CLIENT, 0);
	rig_ended(g, SERVER, 0);
}

static void what_was_posted_goes_out(void **state)
{
	struct rig *g = *state;
	enum { N = 20, LEN = 1 << 20 };
	uint8_t *out = g->end[CLIENT].mem, *in = g->end[SERVER].mem;
	struct rr_region r = rig_register(g, SERVER, in, LEN, RR_ACCESS_REMOTE_WRITE);

	rig_fill(out, LEN, 3);
	for (unsigned i = 0; i < N; i++)
		rig_recv(g, SERVER, in + LEN + i * 1000, 1000);
	rig_write(g, CLIENT, out, LEN, r.handle, r.offset);
	for (unsigned i = 0; i < N; i++)
		rig_send(g, CLIENT, out, 1000, 0);
	disconnect(g, CLIENT); /* no flush */
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(0, rig_wait(g, SERVER, RR_WC_RECV).status);
		rig_check(in + LEN + i * 1000, 1000, 3);
	}
	rig_check(in, LEN, 3);
	rig_ended(g, SERVER, 0);
	rig_ended(g, CLIENT, 0);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
}

static void disconnect_again(void **state)
{
	struct rig *g = *state;

	disconnect(g, CLIENT);
	disconnect(g, CLIENT);
	rig_ended(g, CLIENT, 0);
	disconnect(g, CLIENT);
	rig_settle(g);
	rig_ended(g, SERVER, 0);
	disconnect(g, SERVER);
	rig_settle(g);
	for (unsigned s = 0; s < 2; s++) {
		assert_int_equal(1, rig_seen(g, s, RR_WC_DISCONNECTED));
		rig_audit(g, s);
	}
}

static void posts_after_the_end(void **state)
{
	struct rig *g = *state;
	struct rr_sge s = {.base = g->end[CLIENT].mem, .len = 10};
	struct rr_region r = rig_register(g, CLIENT, s.base, 10, RR_ACCESS_REMOTE_READ);
	struct rr_ep *ep = g->end[CLIENT].ep;

	disconnect(g, SERVER);
	rig_ended(g, CLIENT, 0);
	assert_int_equal(-ENOTCONN, ep->ops->post_recv(ep, &s, 1));
	assert_int_equal(-ENOTCONN, ep->ops->post_send(ep, &s, 1, 0, 1));
	assert_int_equal(-ENOTCONN, ep->ops->post_write(ep, &s, 1, r.handle, 0, 1));
	assert_int_equal(-ENOTCONN, ep->ops->post_read(ep, &s, r.handle, 0, 1));
	assert_int_equal(-ENOTCONN, ep->ops->invalidate(ep, r.handle, 1));
	(void)ep->ops->flush(ep, rig_now()); /* any answer, no crash */
	ep->ops->progress(ep, rig_now());
	rig_settle(g);
	rig_audit(g, CLIENT);
}

/* One end cannot say that it vanished, or the other cannot see it. */
static bool no_reset(void)
{
	return (rig_lacks(CLIENT) | rig_lacks(SERVER)) & RIG_NO_RESET;
}

/* The other end of @side vanished. */
static void expect_reset(struct rig *g, unsigned side)
{
	if (no_reset()) {
		(void)rig_wait(g, side, RR_WC_DISCONNECTED);
		rig_settle(g);
		rig_audit(g, side);
	} else {
		rig_ended(g, side, -ECONNRESET);
	}
}

static void peer_vanishes(void **state)
{
	struct rig *g = *state;

	rig_round_trip(g, CLIENT);
	rig_recv(g, CLIENT, g->end[CLIENT].mem, 100);
	vanish(g, SERVER);
	expect_reset(g, CLIENT);
}

static void client_vanishes(void **state)
{
	struct rig *g = *state;

	rig_round_trip(g, CLIENT);
	rig_recv(g, SERVER, g->end[SERVER].mem, 100);
	vanish(g, CLIENT);
	expect_reset(g, SERVER);
}

/* Every kind of post is under way when the peer goes: each ends once. */
static void all_is_flushed(struct rig *g, bool flush)
{
	enum { N = 20, LEN = 100000 };
	uint8_t *m = g->end[CLIENT].mem;
	struct rr_region r =
	        rig_register(g, SERVER, g->end[SERVER].mem, RIG_MEM,
	                     RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE);
	struct rr_region own[N];

	rig_fill(g->end[SERVER].mem + (2 << 20), LEN, 9);
	for (unsigned i = 0; i < N; i++) {
		own[i] = rig_register(g, CLIENT, m, 100, RR_ACCESS_REMOTE_READ);
		rig_recv(g, SERVER, g->end[SERVER].mem, 1000);
		rig_recv(g, CLIENT, m + i * 1000, 1000);
		rig_write(g, CLIENT, m + (1 << 20), LEN, r.handle, r.offset);
		rig_read(g, CLIENT, m + (2 << 20) + i * LEN, LEN, r.handle,
		         r.offset + (2 << 20));
		rig_send(g, CLIENT, m + (1 << 20), 1000, 0);
		rig_invalidate(g, CLIENT, own[i].handle);
	}
	if (flush)
		rig_flush(g, CLIENT);
	for (unsigned i = 0; flush && i < 12; i++)
		rig_turn(g); /* some of it gets done */
	vanish(g, SERVER);
	(void)rig_wait(g, CLIENT, RR_WC_DISCONNECTED);
	rig_settle(g);
	rig_audit(g, CLIENT);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(-ECANCELED, rig_wait(g, CLIENT, RR_WC_RECV).status);
		/* A Read that says so has its data. */
		if (!rig_wait(g, CLIENT, RR_WC_READ).status)
			rig_check(m + (2 << 20) + i * LEN, LEN, 9);
	}
}

static void flushed_posts_complete_once(void **state)
{
	all_is_flushed(*state, true);
}

static void held_posts_complete_once(void **state)
{
	all_is_flushed(*state, false);
}

/* The peer says nothing: the end comes all the same, within a second. */
static void disconnect_from_silent_peer(void **state)
{
	struct rig *g = *state;
	rr_time before = rig_now();

	rig_recv(g, CLIENT, g->end[CLIENT].mem, 100);
	rig_silence(g, true);
	disconnect(g, CLIENT);
	(void)rig_wait(g, CLIENT, RR_WC_DISCONNECTED);
	assert_true(rig_now() - before < RR_MS(1500));
	assert_int_equal(-ECANCELED, rig_wait(g, CLIENT, RR_WC_RECV).status);
	rig_silence(g, false);
	rig_audit(g, CLIENT);
}

/* Lent memory is not touched once destroy has returned: it is freed at once. */
static void abort_with_posts_under_way(void **state)
{
	struct rig *g = *state;
	enum { LEN = 400000 };
	uint8_t *a = malloc(LEN), *b = malloc(LEN), *c = malloc(LEN);
	struct rr_region r, own;

	r = rig_register(g, SERVER, g->end[SERVER].mem, LEN,
	                 RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE);
	own = rig_register(g, CLIENT, c, LEN, RR_ACCESS_REMOTE_WRITE);
	memset(a, 1, LEN);
	rig_round_trip(g, CLIENT);
	rig_write(g, CLIENT, a, LEN, r.handle, r.offset);
	rig_read(g, CLIENT, b, LEN, r.handle, r.offset);
	rig_write(g, SERVER, g->end[SERVER].mem + (1 << 20), LEN, own.handle,
	          own.offset);
	rig_flush(g, CLIENT);
	rig_flush(g, SERVER);
	for (unsigned i = 0; i < 3; i++)
		rig_turn(g);
	vanish(g, CLIENT);
	free(a);
	free(b);
	free(c);
	rig_settle(g);
	if (no_reset())
		(void)rig_wait(g, SERVER, RR_WC_DISCONNECTED);
	else
		assert_int_not_equal(0, rig_wait(g, SERVER, RR_WC_DISCONNECTED).status);
	rig_audit(g, SERVER);
}

/* From DISCONNECTED on registered memory is not touched either. */
static void nothing_after_disconnected(void **state)
{
	struct rig *g = *state;
	enum { LEN = 300000 };
	uint8_t *m = malloc(LEN);
	struct rr_region r = rig_register(g, CLIENT, m, LEN, RR_ACCESS_REMOTE_WRITE);

	rig_round_trip(g, CLIENT);
	for (unsigned i = 0; i < 10; i++)
		rig_write(g, SERVER, g->end[SERVER].mem, LEN, r.handle, r.offset);
	rig_flush(g, SERVER);
	disconnect(g, CLIENT);
	(void)rig_wait(g, CLIENT, RR_WC_DISCONNECTED);
	free(m);
	rig_settle(g);
	(void)rig_wait(g, SERVER, RR_WC_DISCONNECTED);
	rig_audit(g, CLIENT);
	rig_audit(g, SERVER);
}

#define C(f) cmocka_unit_test_setup_teardown(f, rig_setup_connected, rig_teardown)

const struct CMUnitTest rig_end_tests[] = {
        C(orderly_end),
        C(server_ends),
        C(both_end_at_once),
        C(what_was_posted_goes_out),
        C(disconnect_again),
        C(posts_after_the_end),
        C(peer_vanishes),
        C(client_vanishes),
        C(flushed_posts_complete_once),
        C(held_posts_complete_once),
        C(disconnect_from_silent_peer),
        C(abort_with_posts_under_way),
        C(nothing_after_disconnected),
};
const size_t rig_end_count = RR_ARRAY_SIZE(rig_end_tests);
