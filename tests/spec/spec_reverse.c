/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls from server to client, on the wire.      [v2 §4.5, §5.2.5, §6.4, §7.3.5, §C.4]
 * The level of a client as Responder is the subject of conn_reverse_levels.c.
 */
#include "test_conn_spec.h"

static struct side *server_of(const char *level)
{
	char props[100];

	sprintf(props, "00000001 00000005 00000004 %s", level);
	return raw_ready_by(RR_CONN_SERVER, NULL, props);
}

static struct side *client_at(uint32_t level)
{
	const struct rr_conn_config cfg = {.rvrsdir = level};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");

	s->on_request = raw_answer_call;
	return s;
}

/* V2-4.5.1-01 to -06, V2-3.1.3.2-01 */
static void a_call_in_reverse_octet_by_octet(void **state)
{
	struct side *s = server_of("00000001");
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	raw_expect(s,
	           "00000055" MSG EMPTY "00000055 00000000 00000002 000186a3 00000003 "
	           "00000007 00000000");
	raw_expect_silence(s);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(s->calls_done, 1);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* V2-4.5.1-02 */
static void a_client_refuses_two_xids(void **state)
{
	struct side *s = client_at(1);

	raw_receive(s, "00000055" MSG EMPTY CALL("00000056"));
	raw_expect(s, BAD_XDR("00000055"));
	assert_int_equal(s->requested, 0);
	raw_end(s);
}

/* V2-4.5.2-01 to -05 */
static void a_reply_in_reverse_octet_by_octet(void **state)
{
	struct side *s = client_at(1);

	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_expect_silence(s);
	raw_end(s);
}

/* V2-4.5.2-02 */
static void a_server_drops_replies_with_two_xids(void **state)
{
	struct side *s = server_of("00000001");
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	side_forget_sent(s);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000056"));
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, -EBADMSG);
	raw_expect_silence(s);
	spec_end(s, k);
}

/* -- support --------------------------------------------------------------- */

static void expect_refused(struct side *s)
{
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, -EPROTONOSUPPORT);
	raw_expect_silence(s);
	spec_end(s, k);
}

/* V2-4.5.3-02, V2-5.2.5-02, -06: no property, level 0, a level that is none. */
static void nothing_is_sent_without_support(void **state)
{
	expect_refused(raw_ready_by(RR_CONN_SERVER, NULL, "00000000"));
	expect_refused(server_of("00000000"));
	expect_refused(server_of("00000004"));
}

/* V2-4.5.3-04: the level came, but not yet the end of the exchange. */
static void nothing_is_sent_before_support_is_told(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);
	struct spec_call *k = spec_new(0x55, 0);

	spec_start(s, k);
	raw_expect_silence(s);
	raw_receive(s, "00000077 00000002 00200020 00000005 00000004 "
	               "00000001" PROP("00000005", "00000001"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(spec_word(&s->sent[0], 3), RDMA2_CONNPROP);
	side_forget_sent(s);
	raw_receive(s, "00000078" CONNPROP "00000000");
	raw_expect(s,
	           "00000055" MSG EMPTY "00000055 00000000 00000002 000186a3 00000003 "
	           "00000007 00000000");
	spec_end(s, k);
}

/* V2-4.5.3-03, V2-4.5.4-02, -03, V2-5.2.5-01: the fifth property. */
static void the_level_is_advertised(void **state)
{
	for (uint32_t level = 0; level <= 3; level++) {
		const struct rr_conn_config cfg = {.rvrsdir = level};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
		const struct side_msg *m = &s->sent[0];

		assert_int_equal(s->n_sent, 1);
		assert_int_equal(spec_word(m, 5), 5);
		assert_int_equal(spec_word(m, 18), 5);
		assert_int_equal(spec_word(m, 19), 4);
		assert_int_equal(spec_word(m, 20), level);
		raw_end(s);
	}
}

/* -- formats --------------------------------------------------------------- */

/* A Call with an item, a place for a result and more than one message holds. */
static struct spec_call *large_call(void)
{
	struct spec_call *k = spec_new(0x55, 600);
	static uint8_t result[100];

	spec_add(k, spec_octets(), 600, true);
	spec_add(k, spec_octets(), 9000, false);
	spec_dest(k, result, 100);
	return k;
}

/* V2-4.5.1-05, V2-4.5.4-04, V2-5.2.5-04: in parts and without a chunk. */
static void level_2_continues_long_calls(void **state)
{
	struct side *s = server_of("00000002");
	struct spec_call *k = large_call();

	k->call.flags = RR_CALL_SPECIAL;
	spec_start(s, k);
	assert_int_equal(s->n_regions, 0);
	assert_int_equal(s->n_sent, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(spec_word(&s->sent[i], 3), RDMA2_MSG);
		assert_int_equal(spec_flags(&s->sent[i]), i < 2 ? 2 : 0);
		for (unsigned w = 5; w < 9; w++)
			assert_int_equal(spec_word(&s->sent[i], w), 0);
	}
	spec_end(s, k);
	s = server_of("00000001"); /* and not at all: [R5] */
	k = large_call();
	spec_start(s, k);
	assert_int_equal(k->call.status, -EMSGSIZE);
	raw_expect_silence(s);
	spec_end(s, k);
}

/* V2-4.5.1-05, V2-4.5.4-01, V2-5.2.5-05 */
static void level_3_does_what_forward_calls_do(void **state)
{
	struct side *s = server_of("00000003");
	struct spec_call *k = large_call();

	k->call.reply_bytes = 300000;
	spec_start(s, k);
	assert_int_equal(s->n_sent, 3);
	assert_int_equal(s->n_regions, 3);
	assert_int_equal(spec_word(&s->sent[2], 6), 1);  /* a Read chunk */
	assert_int_equal(spec_word(&s->sent[2], 13), 1); /* a Write chunk */
	assert_int_equal(spec_word(&s->sent[2], 20), 1); /* a Reply chunk */
	assert_int_equal(spec_flags(&s->sent[2]), 0);
	spec_end(s, k);
	s = server_of("00000003");
	k = large_call();
	k->call.flags = RR_CALL_SPECIAL;
	spec_start(s, k);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(spec_word(&s->sent[0], 3), RDMA2_NOMSG);
	assert_int_equal(spec_flags(&s->sent[0]), 0);
	spec_end(s, k);
}

static void reply_long(struct side *s, struct rr_request *r)
{
	static uint8_t head[8] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	const struct rr_piece p[] = {{head, 8, false}, {spec_octets(), 9000, false}};

	rr_conn_reply(s->c, r, p, 2, s->now);
}

/* V2-4.5.2-04 */
static void level_2_continues_long_replies(void **state)
{
	struct side *s = client_at(2);

	s->on_request = reply_long;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_int_equal(s->n_sent, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(spec_word(&s->sent[i], 0), 0x55);
		assert_int_equal(spec_word(&s->sent[i], 3), RDMA2_MSG);
		assert_int_equal(spec_flags(&s->sent[i]), i < 2 ? 3 : 1);
	}
	raw_end(s);
}

/* V2-6.4-05, V2-7.3.5-01, -02: 9008 octets are needed. */
static void level_1_has_no_room_for_long_replies(void **state)
{
	struct side *s = client_at(1);

	s->on_request = reply_long;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	raw_expect(s, ERR("00000055", "0000000a 00002330"));
	raw_expect_silence(s);
	raw_end(s);
}

/* V2-C.4-01: reverse Calls go by the server-to-client threshold, reverse
 * Replies by the other. */
static void thresholds_belong_to_the_direction(void **state)
{
	const struct rr_conn_config cfg = {
	        .rvrsdir = 2, .recv_bytes = 8192, .send_bytes = 8192};
	struct side *s = raw_ready_by(RR_CONN_SERVER, &cfg,
	                              "00000003" PROP("00000001", "00002000")
	                                      PROP("00000002", "000007d0")
	                                              PROP("00000005", "00000002"));
	struct spec_call *k = spec_new(0x55, 0);

	spec_add(k, spec_octets(), 2000 - 36 - SPEC_HEAD + 4, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 2);
	spec_end(s, k);
	s = raw_ready_by(RR_CONN_CLIENT, &cfg,
	                 "00000002" PROP("00000001", "000007d0")
	                         PROP("00000002", "00002000"));
	s->on_request = reply_long; /* 9008 octets: two messages of 8192 at most */
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->sent[0].len, 8192);
	raw_end(s);
}

/* V2-C.7-04 */
static void inv_handle_is_zero_in_reverse_without_support(void **state)
{
	for (unsigned able = 0; able < 2; able++) {
		const struct rr_conn_config cfg = {.remote_invalidate = able};
		struct side *s = raw_ready_by(RR_CONN_SERVER, &cfg,
		                              "00000001" PROP("00000005", "00000003"));
		struct spec_call *k = spec_new(0x55, 600);

		spec_add(k, spec_octets(), 600, true);
		(void)spec_sent(s, k);
		assert_int_equal(s->n_regions, 1);
		assert_int_equal(spec_word(&s->sent[0], 5),
		                 able ? s->region[0].handle : 0);
		spec_end(s, k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_call_in_reverse_octet_by_octet),
	        cmocka_unit_test(a_client_refuses_two_xids),
	        cmocka_unit_test(a_reply_in_reverse_octet_by_octet),
	        cmocka_unit_test(a_server_drops_replies_with_two_xids),
	        cmocka_unit_test(nothing_is_sent_without_support),
	        cmocka_unit_test(nothing_is_sent_before_support_is_told),
	        cmocka_unit_test(the_level_is_advertised),
	        cmocka_unit_test(level_2_continues_long_calls),
	        cmocka_unit_test(level_3_does_what_forward_calls_do),
	        cmocka_unit_test(level_2_continues_long_replies),
	        cmocka_unit_test(level_1_has_no_room_for_long_replies),
	        cmocka_unit_test(thresholds_belong_to_the_direction),
	        cmocka_unit_test(inv_handle_is_zero_in_reverse_without_support),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
