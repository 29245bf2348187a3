/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Responder reports, and what it does when it cannot.   [v2 §7, §7.3.4, §7.4] */
#include "test_conn_spec.h"

/* V2-7-02 */
static void errors_echo_any_xid(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_receive(s, "00000000" V2 "00000007 00000000");
	raw_expect(s, INVAL_HTYPE("00000000"));
	raw_receive(s, "ffffffff" V2 "00000007 00000000");
	raw_expect(s, INVAL_HTYPE("ffffffff"));
	raw_receive(s, "00000001" MSG "00000000");
	raw_expect(s, BAD_XDR("00000001"));
	raw_end(s);
}

/* V2-7-04: a peer whose every message is refused can go on for ever. */
static void errors_carry_credits(void **state)
{
	const struct rr_conn_config cfg = {.credits = 4};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	unsigned allowed;

	raw_receive(s, "00000077 00000002 00040004 00000005 00000000 00000000");
	allowed = spec_word(&s->sent[0], 2) & 0xffff;
	side_forget_sent(s);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(allowed-- > 0);
		raw_receive(s, "00000055 00000002 00040001 00000007 00000000");
		assert_true(s->n_sent >= 1);
		for (unsigned m = 0; m < s->n_sent; m++) {
			assert_int_equal(spec_word(&s->sent[m], 2) >> 16, 4);
			assert_in_range(spec_word(&s->sent[m], 2) & 0xffff, 1, 4);
			allowed += spec_word(&s->sent[m], 2) & 0xffff;
		}
		side_forget_sent(s);
	}
	raw_end(s);
}

/* V2-C.1-03: nothing else in it makes sense. */
static void the_version_is_looked_at_first(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000055 00000003 00000000 000000ff ffffffff ffffffff");
	raw_expect(s, "00000055 00000003 00200001 00000004 00000001 00000001 00000002 "
	              "00000002");
	raw_expect_service(s);
	raw_end(s);
}

/* V2-7.1.1-03: a Call that would be served if it were of this version. */
static void a_call_of_another_version_is_not_executed(void **state)
{
	static const char *const versions[] = {"00000000", "00000003", "ffffffff"};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(versions); i++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		char hex[300];

		s->on_request = raw_answer_call;
		sprintf(hex,
		        "00000055 %s 00200001 00000000 00000000" EMPTY CALL("00000055"),
		        versions[i]);
		raw_receive(s, hex);
		sprintf(hex,
		        "00000055 %s 00200001 00000004 00000001 00000001 00000002 "
		        "00000002",
		        versions[i]);
		raw_expect(s, hex);
		assert_int_equal(s->requested, 0);
		raw_expect_service(s);
		raw_end(s);
	}
}

static void two_results(struct side *s, struct rr_request *r)
{
	static const uint8_t count[4] = {0, 0, 0x13, 0x88};
	static uint8_t head[12] = {0, 0, 0, 0x55, 0, 0, 0, 1, 0, 0, 0, 4};
	const struct rr_piece p[] = {{head, 12, false},
	                             {spec_octets(), 4, true},
	                             {count, 4, false},
	                             {spec_octets(), 5000, true}};

	rr_conn_reply(s->c, r, p, 4, s->now);
}

/* V2-6.4-04, V2-7.3.4-01 to -03: one octet short, and nothing is written. */
static void a_short_write_chunk_is_named(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = two_results;
	raw_receive(s,
	            "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                    "000000ab", "00000004") "00000001 00000002" SEG("000000ac",
	                                                                    "00001000")
	                    SEG("000000ad",
	                        "00000387") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_writes, 0);
	raw_expect(s, ERR("00000055", "00000009 00000002 00001388"));
	raw_expect_silence(s);
	s->on_request = raw_answer_call;
	raw_expect_service(s);
	raw_end(s);
}

/* V2-7.4.1-02 */
static void nothing_follows_a_system_error(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	s->fail_reads = true;
	raw_receive(s,
	            "00000055" MSG "00000000" READ("00000010", "00000004") READ(
	                    "00000014",
	                    "00000004") "00000000 00000000 00000000" CALL("00000055"));
	raw_expect(s, SYSTEM("00000055"));
	assert_int_equal(s->requested, 0);
	raw_expect_service(s);
	raw_end(s);
}

/* Whatever was posted last does not work. */
static void last_post_fails(struct side *s)
{
	assert_int_not_equal(s->wc_head, s->wc_tail);
	s->wc[(s->wc_tail - 1) % SIDE_QUEUE].status = -EIO;
	side_complete_all(s);
	raw_expect_close(s, -EIO);
	raw_end(s);
}

/* V2-7.4-03: a Reply, a part of one, a Write of it, an error. */
static void a_reply_that_cannot_be_sent_closes(void **state)
{
	static uint8_t buf[200];
	static const char *const calls[] = {
	        "00000055" MSG EMPTY CALL("00000055"),
	        "00000055" V2 "00000007 00000000",
	};
	struct side *s;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(calls); i++) {
		s = raw_ready(RR_CONN_SERVER, NULL);
		s->on_request = raw_answer_call;
		side_receive(s, buf, raw_octets(calls[i], buf, sizeof(buf)), 0);
		assert_int_equal(s->n_sent, 1);
		last_post_fails(s);
	}
	s = raw_ready(RR_CONN_SERVER, NULL);
	s->on_request = two_results; /* the second one continued, without a chunk */
	side_receive(
	        s, buf,
	        raw_octets("00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                           "000000ab",
	                           "00000004") "00000000 00000000" CALL("00000055"),
	                   buf, sizeof(buf)),
	        0);
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->n_writes, 1);
	s->wc[s->wc_head % SIDE_QUEUE].status = -EIO; /* the Write */
	side_complete_all(s);
	raw_expect_close(s, -EIO);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(errors_echo_any_xid),
	        cmocka_unit_test(errors_carry_credits),
	        cmocka_unit_test(the_version_is_looked_at_first),
	        cmocka_unit_test(a_call_of_another_version_is_not_executed),
	        cmocka_unit_test(a_short_write_chunk_is_named),
	        cmocka_unit_test(nothing_follows_a_system_error),
	        cmocka_unit_test(a_reply_that_cannot_be_sent_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
