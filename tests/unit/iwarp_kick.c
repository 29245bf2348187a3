/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that sleeps on the first FPDU: the initiator sends it zero-length RDMA
 * Writes ("kicks"), five at most and only until the server has sent something.  The
 * endpoint's own deadlines are passed to it as the time; nothing waits for a clock.
 */
#include "test_iwarp_raw.h"

static void connected(struct peer *r)
{
	peer_server(r, "rev=1,p2p=0");
	peer_need(r, 20);
	peer_send(r, REP1, 20);
	end_expect_wc(&r->e, NULL, RR_WC_CONNECTED, 0, 0);
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

static bool silent(struct peer *r)
{
	peer_receive(r);
	return r->in.n == r->used;
}

/* The next kick is due within @ms from @from: its octets. */
static rr_time kicked(struct peer *r, rr_time from, unsigned ms)
{
	static const uint8_t empty_write[14] = {0xc1, 0x40};
	rr_time due = OPS->deadline(r->e.ep);
	const uint8_t *p;
	size_t len;

	assert_in_range(due, from + 1, from + RR_MS(ms));
	OPS->progress(r->e.ep, due - 1);
	assert_true(silent(r));
	OPS->progress(r->e.ep, due);
	p = peer_ulpdu(r, &len);
	assert_int_equal(len, sizeof(empty_write));
	assert_memory_equal(p, empty_write, len);
	return due;
}

static void a_silent_server_is_kicked_five_times(void **state)
{
	struct peer r;
	rr_time t = test_now();

	connected(&r);
	first_send(&r);
	t = kicked(&r, t, 10000);
	t = kicked(&r, t, 20);
	t = kicked(&r, t, 80);
	t = kicked(&r, t, 320);
	t = kicked(&r, t, 1280);
	assert_true(OPS->deadline(r.e.ep) > t + RR_SEC(1)); /* buffers only */
	OPS->progress(r.e.ep, t + RR_MS(900));
	assert_true(silent(&r));
	peer_fini(&r);
}

/* Not only a Send: a server that sleeps does not hear a Write or a Read either. */
static void any_first_message_counts(void **state)
{
	static uint8_t word[4] = "word";
	struct rr_sge g = {.base = word, .len = 4};
	struct peer r;
	rr_time t = test_now();
	size_t len;

	connected(&r);
	assert_int_equal(OPS->post_write(r.e.ep, &g, 1, 7, 8, 1), 0);
	end_flush(&r.e);
	peer_ulpdu(&r, &len);
	assert_int_equal(len, 14 + 4);
	kicked(&r, t, 10000);
	peer_fini(&r);

	connected(&r);
	assert_int_equal(OPS->post_read(r.e.ep, &g, 7, 8, 1), 0);
	end_flush(&r.e);
	peer_ulpdu(&r, &len);
	assert_int_equal(len, 18 + 28);
	kicked(&r, t, 10000);
	peer_fini(&r);
}

/* The RTR message is such a first message, and nothing else need follow it. */
static void the_rtr_message_counts(void **state)
{
	struct peer r;
	rr_time t = test_now();
	size_t len;

	peer_server(&r, "p2p=1");
	peer_need(&r, 24);
	peer_send(&r, "MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\xc0\x40", 24);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	peer_ulpdu(&r, &len);
	assert_int_equal(len, 14);
	t = kicked(&r, t, 10000);
	kicked(&r, t, 20);
	peer_fini(&r);
}

static void a_word_of_the_server_ends_it(void **state)
{
	static uint8_t buf[64];
	struct rr_sge g = {.base = buf, .len = sizeof(buf)};
	struct peer r;
	static struct bytes o;
	rr_time t = test_now();

	connected(&r);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 2), 0);
	first_send(&r);
	t = kicked(&r, t, 10000);
	o.n = 0;
	add_untagged(&o, 0x4143, 0, 0, 1, 0, "hello", 5);
	peer_send(&r, o.b, o.n);
	while (end_next_wc(&r.e, NULL)->op != RR_WC_RECV)
		;
	assert_true(OPS->deadline(r.e.ep) > t + RR_SEC(1));
	OPS->progress(r.e.ep, t + RR_MS(900));
	assert_true(silent(&r));
	peer_fini(&r);
}

static void who_says_nothing_does_not_kick(void **state)
{
	struct peer r;

	connected(&r);
	OPS->progress(r.e.ep, test_now() + RR_MS(100));
	OPS->progress(r.e.ep, test_now() + RR_MS(500));
	assert_true(silent(&r));
	peer_fini(&r);
}

static void a_responder_does_not_kick(void **state)
{
	static uint8_t word[4] = "word";
	struct rr_sge g = {.base = word, .len = 4};
	struct peer r;
	size_t len;

	peer_start(&r, "rev=1,p2p=0");
	assert_int_equal(OPS->post_send(r.e.ep, &g, 1, 0, 1), 0);
	end_flush(&r.e);
	peer_ulpdu(&r, &len);
	assert_int_equal(len, 18 + 4);
	OPS->progress(r.e.ep, test_now() + RR_MS(500));
	assert_true(silent(&r));
	peer_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_silent_server_is_kicked_five_times),
	        cmocka_unit_test(any_first_message_counts),
	        cmocka_unit_test(the_rtr_message_counts),
	        cmocka_unit_test(a_word_of_the_server_ends_it),
	        cmocka_unit_test(who_says_nothing_does_not_kick),
	        cmocka_unit_test(a_responder_does_not_kick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
