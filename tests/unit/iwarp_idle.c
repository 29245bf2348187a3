/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint that has nothing to do wants nothing of the loop: what it gives as its
 * deadline is in the future, or never.  Time is told to it, not waited for.
 */
#include "test_iwarp_raw.h"

/* The loop as the engine has it: at each deadline progress, then a flush.  How often
 * it wakes between @from and @to. */
static unsigned wake_ups(struct rr_ep *ep, rr_time from, rr_time to)
{
	rr_time t = from;
	unsigned n = 0;

	while (OPS->deadline(ep) < to) {
		t = RR_MAX(t, OPS->deadline(ep));
		OPS->progress(ep, t);
		(void)!OPS->flush(ep, t);
		n++;
		assert_true(n < 1000);
	}
	return n;
}

static void first_send(struct peer *r)
{
	static uint8_t word[4] = "word";
	struct rr_sge g = {.base = word, .len = 4};
	size_t len;

	assert_int_equal(OPS->post_send(r->e.ep, &g, 1, 0, 1), 0);
	end_flush(&r->e);
	peer_ulpdu(r, &len);
	assert_int_equal(len, 18 + 4);
}

static void connected(struct peer *r)
{
	peer_server(r, "rev=1,p2p=0");
	peer_need(r, 20);
	peer_send(r, REP1, 20);
	end_expect_wc(&r->e, NULL, RR_WC_CONNECTED, 0, 0);
	first_send(r); /* a kick is planned */
}

/* Its TCP connection stays open, so the end waits for a second. */
static void a_terminate_leaves_no_deadline_in_the_past(void **state)
{
	static struct bytes o;
	struct peer r;
	rr_time t;

	connected(&r);
	o.n = 0;
	add_untagged(&o, 0x4147, 0, 2, 1, 0, "\x11\x00\x00\x00", 4);
	peer_send(&r, o.b, o.n);
	peer_expect_eof(&r);
	t = test_now();
	assert_true(wake_ups(r.e.ep, t, t + RR_MS(900)) <= 2);
	peer_fini(&r);
}

static void nor_does_a_close_before_the_server_spoke(void **state)
{
	struct peer r;
	rr_time t = test_now();

	connected(&r);
	OPS->disconnect(r.e.ep, t);
	assert_true(wake_ups(r.e.ep, t, t + RR_MS(900)) <= 8);
	peer_fini(&r);
}

/* Either end: its empty queues go once, and then it is quiet. */
static void an_idle_connection_is_quiet(void **state)
{
	struct end c, s, *both[2] = {&c, &s};
	rr_time t;

	ends_open(&c, &s, NULL, NULL);
	ends_exchange(&c, &s);
	ends_step(both, 2, 10);
	t = test_now();
	assert_true(wake_ups(c.ep, t, t + RR_SEC(60)) <= 1);
	assert_true(wake_ups(s.ep, t, t + RR_SEC(60)) <= 1);
	assert_true(OPS->deadline(c.ep) == RR_TIME_NEVER);
	assert_true(OPS->deadline(s.ep) == RR_TIME_NEVER);
	ends_close(&c, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_terminate_leaves_no_deadline_in_the_past),
	        cmocka_unit_test(nor_does_a_close_before_the_server_spoke),
	        cmocka_unit_test(an_idle_connection_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
