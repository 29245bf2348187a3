/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transport properties and what follows from them.   [v2 §4.2.2, §4.2.3.1, §5,
 * §6.2.2.3, §7.2.2, §11.3]
 */
#include "test_conn_spec.h"

static const struct rr_conn_config large = {.send_bytes = 16384, .recv_bytes = 16384};

static struct rr_conn_info facts(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	return i;
}

/* How many messages does a Call become whose one message would have @octets? */
static unsigned messages(struct side *s, size_t octets)
{
	struct spec_call *k = spec_new(0x55, 0);
	unsigned n;

	spec_add(k, spec_octets(), octets - 36 - SPEC_HEAD, false);
	spec_start(s, k);
	n = s->n_sent;
	side_forget_sent(s);
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	free(k);
	return n;
}

/* V2-4.2.2-05: both ways, although this end could do more. */
static void without_properties_the_threshold_is_4096(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &large, "00000000");
	struct spec_call *k = spec_new(0x56, 0);
	static uint8_t reply[4096];

	assert_int_equal(messages(s, 4096), 1);
	assert_int_equal(messages(s, 4100), 2);
	spec_start(s, k);
	raw_octets("00000056" MSG_REPLY EMPTY REPLY("00000056"), reply, sizeof(reply));
	side_receive(s, reply, sizeof(reply), 0);
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(k->call.reply_len, 4096 - 36);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
	s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	assert_int_equal(messages(s, 4096), 1);
	raw_end(s);
}

/* V2-4.2.3.1-02: by an unknown property of 4064 octets. */
static void a_first_message_of_4096_octets_is_taken(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	static uint8_t first[4096];

	raw_octets(PROPS "00000001 00000063 00000fe0", first, sizeof(first));
	side_receive(s, first, sizeof(first), 0);
	assert_true(s->ready);
	assert_int_equal(s->n_sent, 1); /* the own properties, and no error */
	raw_end(s);
}

/* V2-6.2.2.3-07 */
static void calls_wait_for_the_final_properties(void **state)
{
	for (unsigned special = 0; special < 2; special++) {
		struct side *s = raw_new(RR_CONN_CLIENT, NULL);
		struct spec_call *k = spec_new(0x55, 0);

		k->call.flags = special ? RR_CALL_SPECIAL : 0;
		spec_start(s, k);
		raw_receive(s, "00000077 00000002 00200020 00000005 00000004 00000000");
		raw_receive(s, GRANT("0005"));
		assert_int_equal(s->n_sent, 1); /* the own properties */
		assert_int_equal(spec_word(&s->sent[0], 3), RDMA2_CONNPROP);
		raw_receive(s, "00000077" CONNPROP "00000000");
		assert_int_equal(s->n_sent, 2);
		assert_int_equal(spec_word(&s->sent[1], 0), 0x55);
		spec_end(s, k);
	}
}

/* V2-6.2.2.3-06 */
static void late_properties_change_nothing(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &large,
	                              "00000002" PROP("00000002", "000007d0")
	                                      PROP("00000004", "00000007"));

	raw_receive(s, "00000078" CONNPROP "00000002" PROP("00000002", "00002000")
	                       PROP("00000004", "00000009"));
	raw_expect(s, INVAL_HTYPE("00000078"));
	assert_int_equal(facts(s).send_inline, 2000);
	assert_int_equal(facts(s).peer_max_segments, 7);
	assert_int_equal(messages(s, 2004), 2);
	raw_end(s);
}

/* V2-5.1-12 */
static void order_does_not_matter(void **state)
{
	static const char *const sets[] = {
	        "00000003" PROP("00000002", "000007d0") PROP("00000003", "00000bb8")
	                PROP("00000004", "00000007"),
	        "00000003" PROP("00000004", "00000007") PROP("00000003", "00000bb8")
	                PROP("00000002", "000007d0"),
	        "00000003" PROP("00000003", "00000bb8") PROP("00000002", "000007d0")
	                PROP("00000004", "00000007"),
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(sets); i++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &large, sets[i]);

		assert_int_equal(facts(s).send_inline, 2000);
		assert_int_equal(facts(s).peer_segment_bytes, 3000);
		assert_int_equal(facts(s).peer_max_segments, 7);
		raw_end(s);
	}
}

/* V2-5.2.1-02: however much the peer could receive. */
static void sends_stay_within_what_was_advertised(void **state)
{
	const struct rr_conn_config cfg = {.send_bytes = 3000};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_int_equal(spec_word(&s->sent[0], 6), 1);
	assert_int_equal(spec_word(&s->sent[0], 8), 3000);
	raw_receive(s, PROPS "00000001" PROP("00000002", "00010000"));
	side_forget_sent(s);
	assert_int_equal(messages(s, 3000), 1);
	assert_int_equal(messages(s, 3004), 2);
	raw_end(s);
}

static void see_large(struct side *s, struct rr_request *r)
{
	assert_int_equal(r->pieces[0].len, 65536 - 36);
	raw_answer_call(s, r);
}

/* V2-5.2.2-02: from the first Receive to the last. */
static void receives_have_the_advertised_size(void **state)
{
	const struct rr_conn_config cfg = {.recv_bytes = 65536};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);
	static uint8_t call[65536];

	s->on_request = see_large;
	raw_receive(s, PROPS "00000000");
	assert_int_equal(spec_word(&s->sent[0], 9), 2);
	assert_int_equal(spec_word(&s->sent[0], 11), 65536);
	side_forget_sent(s);
	for (unsigned i = 0; i < 100; i++) {
		raw_octets("00000055" MSG EMPTY CALL("00000055"), call, sizeof(call));
		side_receive(s, call, sizeof(call), 0);
		side_complete_all(s);
		raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	}
	assert_int_equal(s->requested, 100);
	raw_end(s);
}

/* V2-5.2.2-03 */
static void the_peers_receives_decide_what_goes_inline(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &large,
	                              "00000001" PROP("00000002", "00001770"));

	assert_int_equal(messages(s, 6000), 1);
	assert_int_equal(messages(s, 6004), 2);
	raw_end(s);
}

/* V2-7.2.2-01: the own properties come first, then the error. */
static void a_server_refuses_bad_values_too(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);

	raw_receive(s, PROPS "00000001 00000002 00000002 00200000");
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(spec_word(&s->sent[0], 3), RDMA2_CONNPROP);
	raw_skip(s);
	raw_expect(s, ERR("00000077", "00000003"));
	assert_true(s->ready);
	raw_end(s);
}

/* V2-7.2.2-02: the good value before the bad one is not applied either. */
static void a_bad_value_spoils_the_whole_message(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, &large);

	side_forget_sent(s);
	raw_receive(s,
	            PROPS "00000003" PROP(
	                    "00000002",
	                    "00002000") "00000004 00000003 00000700" PROP("00000003",
	                                                                  "00000bb8"));
	raw_expect(s, ERR("00000077", "00000003"));
	assert_true(s->ready);
	assert_int_equal(facts(s).send_inline, 4096);
	assert_int_equal(facts(s).peer_segment_bytes, 1048576);
	assert_int_equal(messages(s, 4100), 2);
	raw_end(s);
}

/* V2-11.3-01: at worst the connection is lost. */
static void hostile(uint32_t id, uint32_t value)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct spec_call *k = spec_new(0x55, 600);
	static uint8_t result[100];
	size_t before = s->mem_used;
	char hex[200];

	sprintf(hex, PROPS "00000001 %08x 00000004 %08x", id, value);
	raw_receive(s, hex);
	side_forget_sent(s);
	if (s->disconnect) {
		raw_expect_close(s, -EPROTO);
		assert_true(value < 1024 && id <= 2);
	} else {
		assert_true(s->ready || id == 6);
		spec_add(k, spec_octets(), 600, true);
		spec_add(k, spec_octets(), 5000, false);
		spec_dest(k, result, 100);
		spec_start(s, k);
		for (unsigned i = 0; i < s->n_sent; i++)
			assert_true(s->sent[i].len <= 4096);
		assert_true(s->mem_used < before + 65536);
	}
	spec_end(s, k);
}

static void hostile_values_do_no_harm(void **state)
{
	static const uint32_t values[] = {0,      1,          2,          1023,
	                                  1024,   0x7fffffff, 0x80000000, 0xfffffffc,
	                                  0xffff, 0xffffffff};

	for (uint32_t id = 0; id < 9; id++)
		for (unsigned i = 0; i < RR_ARRAY_SIZE(values); i++)
			hostile(id, values[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(without_properties_the_threshold_is_4096),
	        cmocka_unit_test(a_first_message_of_4096_octets_is_taken),
	        cmocka_unit_test(calls_wait_for_the_final_properties),
	        cmocka_unit_test(late_properties_change_nothing),
	        cmocka_unit_test(order_does_not_matter),
	        cmocka_unit_test(sends_stay_within_what_was_advertised),
	        cmocka_unit_test(receives_have_the_advertised_size),
	        cmocka_unit_test(the_peers_receives_decide_what_goes_inline),
	        cmocka_unit_test(a_server_refuses_bad_values_too),
	        cmocka_unit_test(a_bad_value_spoils_the_whole_message),
	        cmocka_unit_test(hostile_values_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
