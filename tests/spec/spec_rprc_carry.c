/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pull completion notifications that wait for a Call to carry them, and XIDs that are
 * not used before they have gone.                                [ext §3.5, §3.6]
 */
#include "test_conn_rprc.h"

/* Reads the Replies to @n Calls 0x55, 0x57 and so on; their notifications wait. */
static struct side *owing(unsigned n, bool inv, struct spec_call *k[])
{
	const struct rr_conn_config cfg = {.remote_invalidate = inv};
	struct side *s = rprc_puller(cfg, PEER("7", TEN_SECONDS));

	for (unsigned i = 0; i < n; i++) {
		k[i] = spec_new(0x55 + 2 * i, 0);
		spec_start(s, k[i]);
		side_forget_sent(s);
	}
	for (unsigned i = 0; i < n; i++) {
		char hex[200];

		rprc_lay_out(s, 0x55 + 2 * i);
		(void)snprintf(
		        hex, sizeof(hex), "%08x%s", 0x55 + 2 * i,
		        NOMSG_REPLY "000000aa" READ(
		                "00000000", "00002000") "00000000 00000000 00000000");
		raw_receive(s, hex);
		assert_int_equal(k[i]->call.status, RR_CALL_OK);
		rr_conn_call_release(s->c, &k[i]->call, s->now);
	}
	raw_expect_silence(s);
	return s;
}

/* RR-4.1.3-02, RR-4.1.4-02, RR-5.2.3-04: the next Call carries both notifications, and
 * invalidates one handle. */
static void a_call_carries_two_notifications(void **state)
{
	for (unsigned inv = 0; inv < 2; inv++) {
		struct spec_call *k[2], *next = spec_new(0x60, 0);
		struct side *s = owing(2, inv, k);
		const struct side_msg *m = &s->sent[0];

		spec_start(s, next);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(m->len, 20 + 12 + 16 + SPEC_HEAD);
		assert_int_equal(spec_word(m, 0), 0x60);
		assert_int_equal(spec_word(m, 3), 0xffffff22);
		assert_int_equal(spec_flags(m), 0);
		assert_int_equal(spec_word(m, 5), 2);
		assert_int_equal(spec_word(m, 6), 0x55);
		assert_int_equal(spec_word(m, 7), 0x57);
		for (unsigned w = 8; w < 12; w++)
			assert_int_equal(spec_word(m, w), 0);
		assert_int_equal(spec_word(m, 12), 0x60);
		assert_int_equal(m->inv, inv ? 0xaa : 0);
		assert_int_equal(rprc_counters(s).done_sent, 2);
		rprc_turn_clock(s, RR_SEC(1));
		side_forget_sent(s);
		raw_receive(s, "00000060" MSG_REPLY EMPTY REPLY("00000060"));
		rprc_turn_clock(s, RR_SEC(1));
		raw_expect_silence(s);
		rprc_free_calls(k, 2);
		rprc_release(s, next);
	}
}

/* RR-4.1.3-02, RR-5.2.3-04: without a Call, after done_delay. */
static void without_a_call_the_notification_goes_alone(void **state)
{
	struct spec_call *k[1];
	struct side *s = owing(1, true, k);

	rprc_turn_clock(s, RR_MS(1) - 1);
	raw_expect_silence(s);
	rprc_turn_clock(s, 1);
	rprc_expect_done(s, 0x55, 0xaa);
	rprc_free_calls(k, 1);
	raw_end(s);
}

/* RR-4.1.3-02: never beyond half of the lifetime. */
static void the_delay_ends_at_half_of_the_lifetime(void **state)
{
	const struct rr_conn_config cfg = {.features.done_delay = RR_SEC(60)};
	struct spec_call *k;
	struct side *s = rprc_asking(&cfg, PEER("7", TEN_SECONDS), &k);

	raw_receive(s, ONE("00000055"));
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(5));
	rprc_turn_clock(s, RR_SEC(5));
	rprc_expect_done(s, 0x55, 0);
	rprc_release(s, k);
}

/* RR-4.1.3-02: without a lifetime, after done_delay. */
static void the_delay_without_a_lifetime(void **state)
{
	const struct rr_conn_config cfg = {.features.done_delay = RR_SEC(60)};
	struct spec_call *k;
	struct side *s = rprc_asking(&cfg, PEER("7", "00000000"), &k);

	raw_receive(s, ONE("00000055"));
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(60));
	rprc_release(s, k);
}

/* Starts a Call with @octets more than its header, and returns the words that it
 * carried. */
static uint32_t carried_by(struct side *s, struct spec_call *k, size_t octets)
{
	const struct side_msg *m = &s->sent[0];

	spec_add(k, spec_octets(), octets, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 1);
	assert_true(m->len <= 4096);
	return spec_word(m, 3) == 0xffffff22 ? spec_word(m, 5) : 0;
}

/* RR-4.1.3-02: no more than 16, no more than fit, and none in other formats. */
static void a_call_carries_what_fits(void **state)
{
	static const struct {
		size_t octets;
		uint32_t carried;
	} row[] = {{0, 16},
	           {4096 - 36 - SPEC_HEAD, 0},
	           {4096 - 36 - SPEC_HEAD - 4, 0},
	           {4096 - 36 - SPEC_HEAD - 8, 1},
	           {4096 - 36 - SPEC_HEAD - 16, 3}};
	struct spec_call *k[20];

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = owing(17, false, k);
		struct spec_call *next = spec_new(0x90, 0);

		assert_int_equal(carried_by(s, next, row[i].octets), row[i].carried);
		side_forget_sent(s);
		rprc_turn_clock(s, RR_MS(1));
		assert_int_equal(s->n_sent, 17 - row[i].carried);
		rprc_free_calls(k, 17);
		spec_end(s, next);
	}
}

/* RR-4.1.3-02: only a Call that is one RDMA2_MSG. */
static void parts_and_special_calls_carry_nothing(void **state)
{
	for (unsigned special = 0; special < 2; special++) {
		struct spec_call *k[1], *next = spec_new(0x90, 0);
		struct side *s = owing(1, false, k);

		next->call.flags = special ? RR_CALL_SPECIAL : 0;
		spec_add(next, spec_octets(), 8192, false);
		spec_start(s, next);
		for (unsigned i = 0; i < s->n_sent; i++)
			assert_int_equal(spec_word(&s->sent[i], 3), special);
		assert_int_equal(rprc_counters(s).done_sent, 0);
		rprc_free_calls(k, 1);
		spec_end(s, next);
	}
}

/* RR-P-08, RR-P-06: notifications in a Call that was refused go again, in RDMA2_DONE,
 * before anything else; no XID of theirs is used before that. */
static void a_refused_call_repeats_its_notifications(void **state)
{
	struct spec_call *k[3], *next = spec_new(0x90, 0), *more = spec_new(0x57, 0);
	struct side *s = owing(2, true, k);

	assert_int_equal(carried_by(s, next, 0), 2);
	assert_int_equal(rr_conn_call(s->c, &more->call, s->now), -EINVAL);
	side_forget_sent(s);
	raw_receive(s, ONE("00000077")); /* waits for a Call to carry it */
	raw_receive(s, BAD_XDR("00000090"));
	assert_int_equal(next->call.status, RR_CALL_REMOTE_ERROR);
	rprc_expect_done(s, 0x55, 0);
	rprc_expect_done(s, 0x57, 0);
	raw_expect_silence(s);
	spec_start(s, more); /* its XID is free now, and its Call carries the third */
	assert_int_equal(spec_word(&s->sent[0], 3), 0xffffff22);
	assert_int_equal(spec_word(&s->sent[0], 6), 0x77);
	rprc_free_calls(k, 2);
	spec_end(s, next);
	free(more);
}

/* RR-P-06: while a Reply is read, and while its notification waits. */
static void an_xid_is_not_used_while_a_notification_is_owed(void **state)
{
	struct spec_call *k, *again = spec_new(0x55, 0);
	struct side *s = rprc_asking(NULL, PEER("7", TEN_SECONDS), &k);

	rprc_receive_only(s, ONE("00000055"));
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	assert_int_equal(rr_conn_call(s->c, &again->call, s->now), -EINVAL);
	side_complete_all(s);
	assert_int_equal(rr_conn_call(s->c, &again->call, s->now), -EINVAL);
	rprc_turn_clock(s, RR_MS(1));
	rprc_expect_done(s, 0x55, 0);
	assert_int_equal(rr_conn_call(s->c, &again->call, s->now), 0);
	side_drain(s);
	free(k);
	spec_end(s, again);
}

/* RR-P-09 [ext §2.4]: a type that was refused is not sent again. */
static void a_refused_type_is_not_sent_again(void **state)
{
	struct spec_call *k[1], *next = spec_new(0x90, 0), *more = spec_new(0x91, 0);
	struct side *s = owing(1, false, k);

	assert_int_equal(carried_by(s, next, 0), 1);
	side_forget_sent(s);
	raw_receive(s, ONE("00000077")); /* waits for a Call */
	raw_receive(s, INVAL_HTYPE("00000090"));
	rprc_expect_done(s, 0x55, 0);
	spec_start(s, more);
	assert_int_equal(spec_word(&s->sent[0], 3), 0);
	raw_skip(s);
	rprc_turn_clock(s, RR_MS(1));
	rprc_expect_done(s, 0x77, 0);
	raw_receive(s, ONE("00000078"));
	rprc_expect_done(s, 0x78, 0); /* waits for none */
	rprc_free_calls(k, 1);
	spec_end(s, next);
	free(more);
}

/* [ext §3.5]: an XID that no notification names is free, whatever else is carried. */
static void other_xids_are_free(void **state)
{
	struct spec_call *k[2], *next = spec_new(0x90, 0), *more = spec_new(0x59, 0);
	struct side *s = owing(2, false, k);

	assert_int_equal(carried_by(s, next, 0), 2);
	assert_int_equal(rr_conn_call(s->c, &more->call, s->now), 0);
	side_drain(s);
	rprc_free_calls(k, 2);
	spec_end(s, next);
	free(more);
}

/* [ext §3.5]: when the connection ends, nothing is repeated. */
static void a_closing_connection_repeats_nothing(void **state)
{
	struct spec_call *k[1], *next = spec_new(0x90, 0);
	struct side *s = owing(1, false, k);

	assert_int_equal(carried_by(s, next, 0), 1);
	rr_conn_close(s->c, 0, s->now);
	rr_conn_cancel(s->c, &next->call, s->now);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	rprc_free_calls(k, 1);
	spec_end(s, next);
}

/* RR-P-08: when the connection is lost, they are forgotten. */
static void notifications_end_with_the_connection(void **state)
{
	struct spec_call *k[2], *next = spec_new(0x90, 0);
	struct side *s = owing(2, false, k);

	assert_int_equal(carried_by(s, next, 0), 2);
	side_lose(s, 0);
	assert_int_equal(next->call.status, -ECONNRESET);
	assert_int_equal(s->n_sent, 1);
	rprc_free_calls(k, 2);
	spec_end(s, next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_call_carries_two_notifications),
	        cmocka_unit_test(without_a_call_the_notification_goes_alone),
	        cmocka_unit_test(the_delay_ends_at_half_of_the_lifetime),
	        cmocka_unit_test(the_delay_without_a_lifetime),
	        cmocka_unit_test(a_call_carries_what_fits),
	        cmocka_unit_test(parts_and_special_calls_carry_nothing),
	        cmocka_unit_test(a_refused_call_repeats_its_notifications),
	        cmocka_unit_test(an_xid_is_not_used_while_a_notification_is_owed),
	        cmocka_unit_test(a_refused_type_is_not_sent_again),
	        cmocka_unit_test(other_xids_are_free),
	        cmocka_unit_test(a_closing_connection_repeats_nothing),
	        cmocka_unit_test(notifications_end_with_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
