/* SPDX-License-Identifier: BSD-3-Clause */
/* What the endpoints of the iwarp and verbs providers share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prov/common/ep_common.h"

static const struct rr_prov_ops ops;
static const struct rr_prov_config defaults;

static struct rr_ep_common fresh(rr_time now)
{
	struct rr_ep_common c = {.conn_id = 0};

	rr_ep_common_init(&c, &ops, &defaults, now);
	return c;
}

static void set_up_has_ten_seconds_or_as_configured(void **state)
{
	struct rr_prov_config cfg = {.handshake_ns = RR_MS(3)};
	struct rr_ep_common c = fresh(5);

	(void)state;
	assert_ptr_equal(c.ep.ops, &ops);
	assert_true(c.deadline == 5 + RR_SEC(10));
	rr_ep_common_init(&c, &ops, &cfg, 5);
	assert_true(c.deadline == 5 + RR_MS(3));
}

static void completions_are_polled_in_order(void **state)
{
	struct rr_ep_common c = fresh(0);
	struct rr_wc wc[8];

	(void)state;
	assert_int_equal(rr_ep_reserve(&c, 30), 0);
	assert_true(c.out.cap >= 32); /* and CONNECTED and DISCONNECTED */
	for (uint64_t i = 0; i < 20; i++)
		rr_ep_complete(&c, RR_WC_SEND, i, i % 2 ? -ECANCELED : 0)->len = 7;
	for (uint64_t i = 0; i < 20;) {
		unsigned n = rr_ep_poll(&c.ep, wc, RR_ARRAY_SIZE(wc));

		assert_true(n == (i < 16 ? 8 : 4));
		for (unsigned k = 0; k < n; k++, i++) {
			assert_true(wc[k].token == i && wc[k].op == RR_WC_SEND);
			assert_int_equal(wc[k].status, i % 2 ? -ECANCELED : 0);
		}
	}
	assert_int_equal(rr_ep_poll(&c.ep, wc, 1), 0);
	rr_ep_common_fini(&c);
}

static void a_gather_list_is_bounded(void **state)
{
	struct rr_sge s[RR_PROV_MAX_SGE + 1];
	uint32_t len = 1;

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(s); i++)
		s[i] = (struct rr_sge){.len = UINT32_MAX};
	assert_int_equal(rr_ep_total_len(NULL, 0, 0, &len), 0);
	assert_int_equal(len, 0);
	assert_int_equal(rr_ep_total_len(s, 1, UINT32_MAX, &len), 0);
	assert_true(len == UINT32_MAX);
	assert_int_equal(rr_ep_total_len(s, 1, UINT32_MAX - 1, &len), -EMSGSIZE);
	/* 2 * UINT32_MAX + 2 would be 0 in 32 bits */
	s[2].len = 2;
	assert_int_equal(rr_ep_total_len(s, 3, UINT32_MAX, &len), -EMSGSIZE);
	memset(s, 0, sizeof(s));
	assert_int_equal(rr_ep_total_len(s, RR_PROV_MAX_SGE, 0, &len), 0);
	assert_int_equal(rr_ep_total_len(s, RR_PROV_MAX_SGE + 1, 0, &len), -EINVAL);
}

static void posts_are_counted_by_kind(void **state)
{
	struct rr_ep_common c = fresh(0);
	struct rr_prov_counters n;

	(void)state;
	rr_ep_count_post(&c, RR_POST_SEND, 0);
	rr_ep_count_post(&c, RR_POST_SEND, 0x77);
	rr_ep_count_post(&c, RR_POST_WRITE, 0x77);
	rr_ep_count_post(&c, RR_POST_WRITE, 0x77);
	rr_ep_count_post(&c, RR_POST_READ, 0x77);
	rr_ep_count_post(&c, RR_POST_READ, 0x77);
	rr_ep_count_post(&c, RR_POST_READ, 0x77);
	rr_ep_counters(&c.ep, &n);
	assert_true(n.sends == 2 && n.writes == 2 && n.reads == 3 && n.recvs == 0);
	assert_int_equal(n.sends_inv, 1);
}

static void time_never_goes_back(void **state)
{
	struct rr_ep_common c = fresh(100);

	(void)state;
	rr_ep_set_now(&c, 99);
	assert_true(c.now == 100);
	rr_ep_set_now(&c, 101);
	assert_true(c.now == 101);
}

static void a_drain_lasts_a_second_of_silence_and_ten_in_all(void **state)
{
	struct rr_ep_common c = fresh(0);

	(void)state;
	rr_ep_set_now(&c, RR_SEC(5));
	rr_ep_begin_drain(&c);
	assert_true(c.deadline == RR_SEC(6));
	rr_ep_set_now(&c, RR_SEC(5) + RR_MS(900));
	rr_ep_extend_drain(&c);
	assert_true(c.deadline == RR_SEC(6) + RR_MS(900));
	rr_ep_set_now(&c, RR_SEC(14) + RR_MS(500));
	rr_ep_extend_drain(&c);
	assert_true(c.deadline == RR_SEC(15));
}

static void the_first_reason_is_kept_and_reported_last(void **state)
{
	struct rr_ep_common c = fresh(0);
	struct rr_wc wc;

	(void)state;
	assert_string_equal(rr_ep_reason(&c.ep), "");
	assert_int_equal(rr_ep_reserve(&c, 0), 0);
	rr_ep_set_reason(&c, -EREMOTEIO, "handle %u", 7u);
	rr_ep_set_timed_out(&c, 0);
	rr_ep_finish(&c);
	assert_string_equal(rr_ep_reason(&c.ep), "handle 7");
	assert_int_equal(rr_ep_poll(&c.ep, &wc, 1), 1);
	assert_true(wc.op == RR_WC_DISCONNECTED && wc.status == -EREMOTEIO);
	assert_true(wc.token == 0);
	rr_ep_common_fini(&c);
}

static void a_slow_set_up_times_out(void **state)
{
	struct rr_ep_common c = fresh(0);

	(void)state;
	rr_ep_set_timed_out(&c, 0);
	assert_int_equal(c.status, -ETIMEDOUT);
	assert_non_null(strstr(rr_ep_reason(&c.ep), "in time"));
}

static void an_unset_address_is_not_connected(void **state)
{
	struct rr_ep_common c = fresh(0);
	struct sockaddr_storage a;

	(void)state;
	assert_int_equal(rr_ep_peer_addr(&c.ep, &a), -ENOTCONN);
	c.peer.ss_family = AF_INET6;
	assert_int_equal(rr_ep_peer_addr(&c.ep, &a), 0);
	assert_int_equal(a.ss_family, AF_INET6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(set_up_has_ten_seconds_or_as_configured),
	        cmocka_unit_test(completions_are_polled_in_order),
	        cmocka_unit_test(a_gather_list_is_bounded),
	        cmocka_unit_test(posts_are_counted_by_kind),
	        cmocka_unit_test(time_never_goes_back),
	        cmocka_unit_test(a_drain_lasts_a_second_of_silence_and_ten_in_all),
	        cmocka_unit_test(the_first_reason_is_kept_and_reported_last),
	        cmocka_unit_test(a_slow_set_up_times_out),
	        cmocka_unit_test(an_unset_address_is_not_connected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
