/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder-provided Read chunks, the Responder: what ends an exposure.  Notifications
 * alone and in Calls, lifetimes, loss.                    [ext §3.5 to §3.8, §3.10]
 */
#include "test_conn_rprc.h"

/* -- notifications --------------------------------------------------------- */

/* RR-5.4.3-02, RR-5.4.1-01: its memory is invalidated, and it is no longer there. */
static void a_notification_ends_the_exposure(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	assert_int_equal(s->n_regions, 1);
	raw_receive(s, DONE("00000055"));
	rprc_expect_nothing(s);
	assert_int_equal(rprc_counters(s).done_received, 1);
	assert_int_equal(rprc_counters(s).done_dropped, 0);
	assert_int_equal(rprc_counters(s).local_invalidations, 1);
	raw_end(s);
}

/* RR-4.1.3-04, RR-5.4.3-04, RR-P-09 */
static void notifications_for_nothing_are_dropped(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	side_forget_sent(s);
	raw_receive(s, DONE("00000056"));
	raw_receive(s, "00000055" V2 "00000003 00000001"); /* a response */
	assert_int_equal(s->n_regions, 1);
	raw_receive(s, DONE("00000055") "00112233 4455"); /* octets after it */
	raw_receive(s, DONE("00000055"));
	rprc_expect_nothing(s);
	raw_expect_silence(s);
	assert_int_equal(rprc_counters(s).done_received, 4);
	assert_int_equal(rprc_counters(s).done_dropped, 3);
	s->on_request = raw_answer_call;
	raw_expect_service(s);
	raw_end(s);
}

/* RR-5.4.3-01: the notification comes before the Send is known to be done. */
static void a_notification_may_overtake_the_send_completion(void **state)
{
	static uint8_t done[20];

	for (unsigned runs = 1; runs <= 5; runs += 4) {
		struct side *s = rprc_exposer(NULL, PULLS);

		raw_receive(s, PLAIN_CALL);
		rprc_answer_runs(s, 65536, runs);
		side_drain(s);
		side_receive(s, done, raw_octets(DONE("00000055"), done, 20), 0);
		assert_int_equal(rprc_counters(s).done_dropped, 0);
		assert_int_equal(s->requests_done, 0);
		side_complete_all(s);
		rprc_expect_nothing(s);
		rprc_pass_time(s, RR_SEC(20));
		assert_int_equal(rprc_counters(s).rprc_expired, 0);
		raw_end(s);
	}
}

/* RR-5.4.3-04, RR-4.1.3-08: without a credit the Reply waits.  What is not announced
 * does not end, neither by a notification nor by the lifetime. */
static void a_reply_that_waits_for_a_credit_stays(void **state)
{
	const struct rr_conn_config cfg = {
	        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	s->on_request = raw_hold;
	raw_receive(s, "00000077 00000002 00010001 00000005 00000000 " PULLS);
	side_forget_sent(s);
	raw_receive(s, "00000055 00000002 00010000 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	rprc_answer(s, 8192);
	assert_int_equal(s->n_sent, 0);
	assert_int_equal(s->n_regions, 1);
	raw_receive(s, "00000055 00000002 00010000 00000003 00000000");
	assert_int_equal(rprc_counters(s).done_dropped, 1);
	rprc_pass_time(s, RR_SEC(60));
	assert_int_equal(s->n_regions, 1);
	raw_receive(s, "00000000 00000002 00010001 00000001 00000000" EMPTY);
	assert_int_equal(rprc_way(s), EXPOSED);
	rprc_pass_time(s, RR_SEC(10) - 1);
	assert_int_equal(s->n_regions, 1);
	rprc_pass_time(s, 1);
	rprc_expect_nothing(s);
	raw_end(s);
}

/* RR-5.4.3-06: the same Call twice, one notification for both, the second is dropped. */
static void a_call_that_comes_again_is_exposed_again(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	rprc_expose(s, 16384);
	assert_int_equal(s->n_regions, 2);
	assert_int_not_equal(s->region[0].handle, s->region[1].handle);
	raw_receive(s, DONE("00000055"));
	rprc_expect_nothing(s);
	raw_receive(s, DONE("00000055"));
	assert_int_equal(rprc_counters(s).done_dropped, 1);
	raw_end(s);
}

/* RR-4.1.4-01, RR-4.1.4-04: the handle is gone, no invalidation of ours follows. */
static void a_notification_may_invalidate(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = rprc_exposer(&cfg, PULLS);

	rprc_expose(s, 8192);
	raw_receive_inv(s, DONE("00000055"), s->region[0].handle);
	rprc_expect_nothing(s);
	assert_int_equal(rprc_counters(s).local_invalidations, 0);
	assert_int_equal(rprc_counters(s).remote_invalidations, 1);
	raw_end(s);
}

/* RR-4.1.4-05: a handle of another Reply, of none, or by a message that names none. */
static void another_handle_ends_the_connection(void **state)
{
	static const struct {
		const char *message;
		uint32_t inv; /* 0: that of the other Reply */
	} row[] = {{DONE("00000055"), 0},
	           {DONE("00000055"), 0x9999},
	           {DONE("00000056"), 0x9999},
	           {"00000057" V2 "00000003 00000001", 0},
	           {MSG_DONE("00000060", "00000001 00000055"), 0},
	           {MSG_DONE("00000060", "00000000"), 0},
	           {"00000060" V2 "ffffff22 00000000 00000011", 0},
	           {"00000060" MSG EMPTY CALL("00000060"), 0}};
	const struct rr_conn_config cfg = {.remote_invalidate = true};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = rprc_exposer(&cfg, PULLS);

		rprc_expose(s, 8192);
		raw_receive(s, "00000057" MSG EMPTY CALL("00000057"));
		rprc_answer(s, 8192);
		side_complete_all(s);
		raw_receive_inv(s, row[i].message,
		                row[i].inv ? row[i].inv : s->region[1].handle);
		raw_expect_close(s, -EPROTO);
		raw_end(s);
	}
}

/* RR-4.1.4-05: a handle that was not announced, and one that was used up by a
 * notification that had to be refused. */
static void a_handle_is_invalidated_once_and_when_announced(void **state)
{
	const struct rr_conn_config cfg = {
	        .remote_invalidate = true,
	        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}};
	struct side *s = rprc_exposer(&cfg, PULLS);
	uint32_t handle;

	rprc_expose(s, 8192);
	handle = s->region[0].handle;
	raw_receive_inv(s, "00000055" V2 "00000003 00000002", handle);
	assert_false(s->disconnect);
	raw_receive_inv(s, DONE("00000055"), handle);
	raw_expect_close(s, -EPROTO);
	raw_end(s);

	s = raw_new(RR_CONN_SERVER, &cfg);
	s->on_request = raw_hold;
	raw_receive(s, "00000077 00000002 00010001 00000005 00000000 " PULLS);
	side_forget_sent(s);
	raw_receive(s, "00000055 00000002 00010000 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	rprc_answer(s, 8192); /* waits for a credit */
	raw_receive_inv(s, "00000055 00000002 00010000 00000003 00000000",
	                s->region[0].handle);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* [ext §3.8]: a handle whose invalidation of ours is on its way. */
static void an_invalidation_may_cross_ours(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = rprc_exposer(&cfg, PULLS);
	static uint8_t done[20];
	uint32_t handle;

	rprc_expose(s, 8192);
	handle = s->region[0].handle;
	s->now += RR_SEC(10);
	rr_conn_tick(s->c, s->now); /* expires */
	side_receive(s, done, raw_octets(DONE("00000055"), done, 20), handle);
	side_complete_all(s);
	assert_false(s->disconnect);
	rprc_expect_nothing(s);
	raw_end(s);
}

/* RR-4.1.3-06, RR-4.1.3-08 */
static void an_exposure_ends_after_its_lifetime(void **state)
{
	const struct rr_conn_config cfg = {.features.rprc_lifetime_ms = 3000};
	struct side *s = rprc_exposer(&cfg, PULLS);

	raw_receive(s, PLAIN_CALL);
	rprc_answer(s, 8192);
	rprc_pass_time(s, RR_SEC(5)); /* its Send completes only now */
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(3));
	rprc_pass_time(s, RR_MS(2400));
	assert_int_equal(s->n_regions, 1);
	rprc_pass_time(s, RR_MS(600));
	rprc_expect_nothing(s);
	assert_int_equal(rprc_counters(s).rprc_expired, 1);
	raw_receive(s, DONE("00000055"));
	assert_int_equal(rprc_counters(s).done_dropped, 1);
	raw_end(s);
}

/* [ext §3.1]: a lifetime of 0 does not end. */
static void without_a_lifetime_only_the_peer_ends_it(void **state)
{
	const struct rr_conn_config cfg = {.features.rprc_no_lifetime = true};
	struct side *s = rprc_exposer(&cfg, PULLS);

	rprc_expose(s, 8192);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	rprc_pass_time(s, RR_SEC(100000));
	assert_int_equal(s->n_regions, 1);
	raw_receive(s, DONE("00000055"));
	rprc_expect_nothing(s);
	raw_end(s);
}

/* RR-5.4.3-03: loss, and removal of the device, which is a loss. */
static void a_loss_ends_every_exposure(void **state)
{
	for (unsigned runs = 1; runs <= 5; runs += 4) {
		struct side *s = rprc_exposer(NULL, PULLS);

		raw_receive(s, PLAIN_CALL);
		rprc_answer_runs(s, 65536, runs);
		side_drain(s);
		side_complete_all(s);
		side_lose(s, runs == 1 ? -ENODEV : 0);
		rprc_expect_nothing(s);
		raw_end(s); /* no memory is left */
	}
}

/* RR-P-09: an end that cannot take part refuses the type; one that only pulls does
 * not. */
static void who_accepts_notifications(void **state)
{
	static const struct {
		bool on, read, be_read, done, msg_done;
	} row[] = {{true, true, true, true, true},
	           {true, true, false, true, false},
	           {true, false, true, true, true},
	           {true, false, false, false, false},
	           {false, true, true, false, false}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		const struct rr_conn_config cfg = {
		        .features.on = row[i].on ? 1u << RR_FEATURE_RPRC : 0};
		struct side *s;

		(void)rprc_own_props(&cfg, RR_CONN_SERVER, row[i].read, row[i].be_read,
		                     &s);
		side_forget_sent(s);
		s->on_request = raw_answer_call;
		raw_receive(s, DONE("00000055"));
		if (!row[i].done)
			raw_expect(s, INVAL_HTYPE("00000055"));
		raw_receive(s, MSG_DONE("00000056", "00000001 00000055 "));
		if (row[i].msg_done)
			raw_expect(s, "00000056" MSG_REPLY EMPTY REPLY("00000056"));
		else
			raw_expect(s, INVAL_HTYPE("00000056"));
		raw_expect_silence(s);
		raw_end(s);
	}
}

/* [ext §3.10]: required host authentication comes first. */
static int no_step(void *ctx, const void *in, size_t in_len, const void **ret_out,
                   size_t *ret_out_len)
{
	*ret_out = NULL;
	*ret_out_len = 0;
	return 1;
}

static void no_notification_before_authentication(void **state)
{
	const struct rr_conn_config cfg = {.auth = {no_step, NULL},
	                                   .auth_required = true,
	                                   .features.on = 1u << RR_FEATURE_RPRC};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive(s, DONE("00000055"));
	raw_expect_close(s, -EACCES);
	raw_end(s);
}

/* [ext §2.3]: flags that the type does not have. */
static void notifications_with_other_flags_are_refused(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	side_forget_sent(s);
	raw_receive(s, "00000055" V2 "00000003 00000002");
	raw_expect(s, INVAL_CONT("00000055"));
	raw_receive(s, "00000055" V2 "00000003 00000004");
	raw_expect(s, INVAL_HTYPE("00000055"));
	raw_receive(s, "00000060" V2
	               "ffffff22 00000002 00000001 00000055" EMPTY CALL("00000060"));
	raw_expect(s, INVAL_CONT("00000060"));
	raw_expect_silence(s);
	assert_int_equal(s->n_regions, 1);
	raw_end(s);
}

/* RR-5.4.1-01: an invalidation that takes long does not stop what arrives. */
static void a_slow_invalidation_stops_nothing(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);
	static uint8_t buf[200];

	rprc_expose(s, 8192);
	side_forget_sent(s);
	side_receive(s, buf, raw_octets(DONE("00000055"), buf, sizeof(buf)), 0);
	s->on_request = raw_answer_call;
	side_receive(
	        s, buf,
	        raw_octets("00000060" MSG EMPTY CALL("00000060"), buf, sizeof(buf)), 0);
	raw_expect(s, "00000060" MSG_REPLY EMPTY REPLY("00000060"));
	/* Only the second one has ended, because no invalidation has completed. */
	assert_int_equal(s->requests_done, 1);
	side_complete_all(s);
	rprc_expect_nothing(s);
	raw_end(s);
}

/* RR-5.4.3-04: notifications of any XID and length; the Reply that waits for a credit
 * is read afterwards. */
static void garbage_notifications_cost_nothing(void **state)
{
	const struct rr_conn_config cfg = {
	        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	static uint8_t buf[64];
	struct rr_rng r;

	rr_rng_seed(&r, 1);
	s->on_request = raw_hold;
	raw_receive(s, "00000077 00000002 00010001 00000005 00000000 " PULLS);
	side_forget_sent(s);
	raw_receive(s, "00000055 00000002 00010000 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	rprc_answer(s, 8192);
	assert_int_equal(raw_octets("00000055 00000002 00010000 00000003 00000000", buf,
	                            sizeof(buf)),
	                 20);
	for (unsigned i = 0; i < 100000; i++) {
		for (size_t k = 20; k < sizeof(buf); k++)
			buf[k] = (uint8_t)rr_rng_next(&r);
		rr_store_u32(buf, i % 8 ? (uint32_t)rr_rng_next(&r) : 0x55);
		side_receive(s, buf, 20 + rr_rng_below(&r, sizeof(buf) - 20), 0);
	}
	raw_expect_silence(s);
	assert_int_equal(rprc_counters(s).done_received, 100000);
	assert_int_equal(rprc_counters(s).done_dropped, 100000);
	raw_receive(s, "00000000 00000002 00010001 00000001 00000000" EMPTY);
	assert_int_equal(rprc_way(s), EXPOSED);
	raw_receive(s, DONE("00000055"));
	rprc_expect_nothing(s);
	raw_end(s);
}

/* -- RDMA2_MSG_DONE -------------------------------------------------------- */

#define XIDS_8                                                                         \
	"00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000055 "

/* RR-P-07: the list first, then the Call. */
static void a_call_may_carry_a_list(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	side_forget_sent(s);
	s->on_request = raw_answer_call;
	raw_receive(s, MSG_DONE("00000060", "00000010 " XIDS_8 XIDS_8));
	raw_expect(s, "00000060" MSG_REPLY EMPTY REPLY("00000060"));
	rprc_expect_nothing(s);
	assert_int_equal(rprc_counters(s).done_received, 16);
	assert_int_equal(rprc_counters(s).done_dropped, 15);
	raw_receive(s, MSG_DONE("00000061", "00000000 "));
	raw_expect(s, "00000061" MSG_REPLY EMPTY REPLY("00000061"));
	raw_end(s);
}

/* RR-P-07: 17, or a header that does not decode: the list is not used. */
static void a_list_that_does_not_decode_is_not_used(void **state)
{
	static const char *const bad[] = {
	        MSG_DONE("00000060", "00000011 00000055 " XIDS_8 XIDS_8),
	        "00000060" V2 "ffffff22 00000000 00000001 00000055 00000000",
	        "00000060" V2 "ffffff22 00000000 00000002 00000055",
	        "00000060" V2 "ffffff22 00000000 00000001 00000055" EMPTY,
	        "00000060" V2 "ffffff22 00000000"};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		struct side *s = rprc_exposer(NULL, PULLS);

		rprc_expose(s, 8192);
		side_forget_sent(s);
		raw_receive(s, bad[i]);
		raw_expect(s, BAD_XDR("00000060"));
		assert_int_equal(s->n_regions, 1);
		assert_int_equal(rprc_counters(s).done_received, 0);
		raw_end(s);
	}
}

/* RR-P-07: a Call that fails its checks, and one in the middle of a sequence. */
static void the_list_of_a_refused_call_is_used(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	rprc_expose(s, 8192);
	side_forget_sent(s);
	raw_receive(s, "00000060" V2 "ffffff22 00000000 00000001 00000055" EMPTY
	               "00000061 00000000 00000002");
	raw_expect(s, BAD_XDR("00000060"));
	rprc_expect_nothing(s);
	rprc_expose(s, 8192);
	side_forget_sent(s);
	raw_receive(s, "00000062" MSG_MORE EMPTY CALL("00000062"));
	raw_receive(s, MSG_DONE("00000060", "00000001 00000055 "));
	raw_expect(s, INVAL_CONT("00000060"));
	assert_int_equal(s->n_regions, 0);
	/* RDMA2_DONE does not disturb the sequence. */
	raw_receive(s, DONE("00000055"));
	s->on_request = raw_answer_call;
	raw_receive(s, "00000062" MSG EMPTY "00000000");
	raw_expect(s, "00000062" MSG_REPLY EMPTY REPLY("00000062"));
	raw_end(s);
}

/* RR-P-07, [M2]: the type is no part of a sequence, not even of the one with its XID. */
static void a_list_does_not_end_a_sequence(void **state)
{
	struct side *s = rprc_exposer(NULL, PULLS);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000062" MSG_MORE EMPTY CALL("00000062"));
	raw_receive(s, MSG_DONE("00000062", "00000001 00000055 "));
	raw_expect(s, INVAL_CONT("00000062"));
	raw_expect_silence(s);
	assert_int_equal(s->requested, 0);
	raw_expect_service(s);
	raw_end(s);
}

/* RR-P-07: it is a Call; as a Reply it ends the call of its XID. */
static void a_list_in_a_reply_is_refused(void **state)
{
	const struct rr_conn_config cfg = {.features.on = 1u << RR_FEATURE_RPRC};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, PULLS);
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	side_forget_sent(s);
	raw_receive(s,
	            "00000055" V2 "ffffff22 00000001 00000000" EMPTY REPLY("00000055"));
	assert_int_equal(k->call.status, -EPROTO);
	raw_expect_silence(s);
	spec_end(s, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_notification_ends_the_exposure),
	        cmocka_unit_test(notifications_for_nothing_are_dropped),
	        cmocka_unit_test(a_notification_may_overtake_the_send_completion),
	        cmocka_unit_test(a_reply_that_waits_for_a_credit_stays),
	        cmocka_unit_test(a_call_that_comes_again_is_exposed_again),
	        cmocka_unit_test(a_notification_may_invalidate),
	        cmocka_unit_test(another_handle_ends_the_connection),
	        cmocka_unit_test(a_handle_is_invalidated_once_and_when_announced),
	        cmocka_unit_test(an_invalidation_may_cross_ours),
	        cmocka_unit_test(an_exposure_ends_after_its_lifetime),
	        cmocka_unit_test(without_a_lifetime_only_the_peer_ends_it),
	        cmocka_unit_test(a_loss_ends_every_exposure),
	        cmocka_unit_test(who_accepts_notifications),
	        cmocka_unit_test(no_notification_before_authentication),
	        cmocka_unit_test(notifications_with_other_flags_are_refused),
	        cmocka_unit_test(a_slow_invalidation_stops_nothing),
	        cmocka_unit_test(garbage_notifications_cost_nothing),
	        cmocka_unit_test(a_call_may_carry_a_list),
	        cmocka_unit_test(a_list_that_does_not_decode_is_not_used),
	        cmocka_unit_test(the_list_of_a_refused_call_is_used),
	        cmocka_unit_test(a_list_does_not_end_a_sequence),
	        cmocka_unit_test(a_list_in_a_reply_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
