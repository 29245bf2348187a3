/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages as they are framed: one or several Sends, what is in front of each,
 * flags, versions.             [v2 §4.1, §4.2, §4.4.1, §4.4.2, §6, §6.2.2, §6.3.1]
 */
#include "test_conn_spec.h"

/* Puts together what the parts carry; each must begin as the text says. */
static size_t joined(const struct side *s, unsigned from, unsigned n, uint32_t flags,
                     uint8_t *to)
{
	size_t len = 0;

	for (unsigned i = from; i < from + n; i++) {
		const struct side_msg *m = &s->sent[i];
		bool last = i == from + n - 1;

		assert_int_equal(spec_word(m, 0), spec_word(&s->sent[from], 0));
		assert_int_equal(spec_word(m, 1), 2);
		assert_int_equal(spec_word(m, 2) >> 16, 32);
		assert_in_range(spec_word(m, 2) & 0xffff, 1, 32);
		assert_int_equal(spec_word(m, 3), 0);
		assert_int_equal(spec_word(m, 4), flags | (last ? 0 : 2));
		if (!last)
			for (unsigned w = 5; w < 9; w++)
				assert_int_equal(spec_word(m, w), 0);
		memcpy(to + len, m->p + 36, m->len - 36);
		len += m->len - 36;
	}
	return len;
}

/* V2-4.1-01, V2-4.1-07, V2-4.4.1-01, V2-6-01, V2-6.3.1-01 */
static void a_small_call_is_one_message(void **state)
{
	static const char null_call[] = "00000055 00000000 00000002 000186a3 00000003 "
	                                "00000000 00000000 00000000 00000000 00000000";
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 0);
	uint8_t octets[40];

	raw_octets(null_call, octets, 40);
	k->piece[0] = (struct rr_piece){octets, 40, false};
	assert_int_equal(spec_sent(s, k)->len, 36 + 40);
	raw_expect(s,
	           "00000055" MSG EMPTY "00000055 00000000 00000002 000186a3 00000003 "
	           "00000000 00000000 00000000 00000000 00000000");
	raw_expect_silence(s);
	spec_end(s, k);
}

/* V2-4.1-02, -04, -06, V2-4.4.2-01, V2-6.2.2.1-01, V2-6.2.2.2-01, -03, -04 */
static void every_part_begins_with_a_transport_stream(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 20000);
	static uint8_t all[40000];

	spec_add(k, spec_octets(), 20000, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 5);
	assert_int_equal(joined(s, 0, 5, 0, all), SPEC_HEAD + 20000);
	assert_memory_equal(all, k->head, SPEC_HEAD);
	assert_memory_equal(all + SPEC_HEAD, spec_octets(), 20000);
	spec_end(s, k);
}

static void reply_long(struct side *s, struct rr_request *r)
{
	static uint8_t head[8] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	const struct rr_piece p[] = {{head, 8, false}, {spec_octets(), 20000, false}};

	rr_conn_reply(s->c, r, p, 2, s->now);
}

/* V2-6.2.2.1-01, V2-6.4-03: a Reply without room elsewhere. */
static void parts_of_a_reply_are_marked_as_such(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);
	static uint8_t all[40000];

	s->on_request = reply_long;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_int_equal(s->n_sent, 5);
	assert_int_equal(joined(s, 0, 5, 1, all), 8 + 20000);
	assert_memory_equal(all, "\0\0\0\x55\0\0\0\1", 8);
	assert_memory_equal(all + 8, spec_octets(), 20000);
	raw_end(s);
}

/* V2-4.1-05 */
static void two_long_calls_are_not_interleaved(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct spec_call *k[2] = {spec_new(0x55, 0), spec_new(0x56, 0)};
	static uint8_t all[40000];

	raw_receive(s, "00000077 00000002 00200001 00000005 00000000 00000000");
	side_forget_sent(s);
	for (unsigned i = 0; i < 2; i++) {
		spec_add(k[i], spec_octets(), 10000, false);
		spec_start(s, k[i]);
	}
	for (unsigned i = 0; i < 5; i++)
		raw_receive(s, GRANT("0001"));
	assert_int_equal(s->n_sent, 6);
	assert_int_equal(joined(s, 0, 3, 0, all), SPEC_HEAD + 10000);
	assert_int_equal(joined(s, 3, 3, 0, all), SPEC_HEAD + 10000);
	assert_int_equal(spec_word(&s->sent[3], 0), 0x56);
	raw_end(s);
	free(k[0]);
	free(k[1]);
}

/* V2-6.2.2.2-09 */
static void chunks_travel_in_the_final_part(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 600);
	static uint8_t all[40000], result[100];
	const struct side_msg *last;

	spec_add(k, spec_octets(), 600, true);
	spec_add(k, spec_octets(), 9000, false);
	spec_dest(k, result, 100);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 3);
	(void)joined(s, 0, 3, 0, all); /* looks at the lists before the end */
	last = &s->sent[2];
	assert_int_equal(spec_word(last, 6), 1);
	assert_int_equal(spec_word(last, 7), SPEC_HEAD);
	assert_int_equal(spec_word(last, 13), 1);
	assert_int_equal(spec_word(last, 16), 100);
	spec_end(s, k);
}

/* V2-3.2.2.2-01, V2-4.2.2-01: every format, whatever the size. */
static void no_message_exceeds_the_threshold(void **state)
{
	const struct rr_conn_config cfg = {.send_bytes = 8192, .recv_bytes = 8192};
	static const size_t sizes[] = {0, 1900, 1936, 1940, 4000, 8000, 20000};
	static uint8_t result[100];

	for (unsigned i = 0; i < RR_ARRAY_SIZE(sizes); i++)
		for (unsigned special = 0; special < 2; special++) {
			/* 2000 octets, less than the default */
			struct side *s =
			        raw_ready_by(RR_CONN_CLIENT, &cfg,
			                     "00000001" PROP("00000002", "000007d0"));
			struct spec_call *k = spec_new(0x55, 600);

			spec_add(k, spec_octets(), sizes[i], false);
			spec_add(k, spec_octets(), 600, true);
			spec_dest(k, result, 100);
			k->call.flags = special ? RR_CALL_SPECIAL : 0;
			spec_start(s, k);
			assert_true(s->n_sent > 0);
			for (unsigned m = 0; m < s->n_sent; m++)
				assert_true(s->sent[m].len <= 2000);
			spec_end(s, k);
		}
}

/* V2-4.2-01 */
static void credits_and_threshold_hold_together(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct spec_call *k = spec_new(0x55, 0);
	static uint8_t all[40000];

	raw_receive(s, "00000077 00000002 00200002 00000005 00000000 "
	               "00000001" PROP("00000002", "00000400"));
	side_forget_sent(s);
	spec_add(k, spec_octets(), 8000, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 2);
	raw_receive(s, GRANT("0003"));
	assert_int_equal(s->n_sent, 5);
	raw_receive(s, GRANT("0020"));
	assert_int_equal(s->n_sent, 9);
	for (unsigned i = 0; i < 9; i++)
		assert_true(s->sent[i].len <= 1024);
	assert_int_equal(joined(s, 0, 9, 0, all), SPEC_HEAD + 8000);
	spec_end(s, k);
}

/* V2-6.3.2-06, V2-A.2-01: too long for one message, and nothing to reduce. */
static void continuation_is_preferred_to_special(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 0);
	static uint8_t all[40000];

	spec_add(k, spec_octets(), 4100, false);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->n_regions, 0);
	assert_int_equal(joined(s, 0, 2, 0, all), SPEC_HEAD + 4100);
	spec_end(s, k);
}

/* -- what comes in --------------------------------------------------------- */

static void see_whole(struct side *s, struct rr_request *r)
{
	assert_true(r->continued);
	assert_int_equal(r->n_pieces, 3);
	assert_int_equal(r->pieces[0].len, 16);
	assert_int_equal(r->pieces[1].len, 5);
	assert_memory_equal(r->pieces[1].base, "ABCDE", 5);
	assert_int_equal(r->pieces[2].len, 8);
	assert_memory_equal(r->pieces[2].base, "\0\0\0\7\0\0\0\x0b", 8);
	assert_int_equal(r->n_writes, 1);
	assert_int_equal(r->write_bytes[0], 4);
	assert_true(r->has_reply_chunk);
	raw_answer_call(s, r);
}

/* The octets behind the item in the last part. */
#define BEHIND "00000007 0000000b"

/* V2-4.3.5-02, V2-4.4.2.1-01 to -03, [M8]: the Position counts in the whole. */
static void a_continued_call_with_chunks_is_served(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = see_whole;
	s->read_from = (const uint8_t *)"ABCDE";
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055 00000000");
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000002 00000005");
	assert_int_equal(s->n_reads, 0);
	raw_receive(s, "00000055" MSG NONE READ("00000010", "00000005")
	                       NONE WRITE("000000ab", "00000004")
	                               NONE WRITE("000000ac", "00000100") BEHIND);
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(s->requested, 1);
	raw_expect(s, "00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                      "000000ab",
	                      "00000000") "00000000 00000000" REPLY("00000055"));
	raw_end(s);
}

static void reply_item_and_more(struct side *s, struct rr_request *r)
{
	static uint8_t head[12] = {0, 0, 0, 0x55, 0, 0, 0, 1, 0, 0, 0, 100};
	const struct rr_piece p[] = {{head, 12, false},
	                             {spec_octets(), 100, true},
	                             {spec_octets(), 9000, false}};

	rr_conn_reply(s->c, r, p, 3, s->now);
}

/* V2-4.4.2.1-04: all Writes before the first part. */
static void a_continued_reply_follows_its_writes(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);
	static uint8_t all[40000];

	s->on_request = reply_item_and_more;
	raw_receive(s, "00000055" MSG
	               "00000000 00000000 00000001 00000002" SEG("000000ab", "00000040")
	                       SEG("000000ac",
	                           "00000040") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_sent, 3);
	assert_int_equal(s->n_writes, 2);
	assert_int_equal(s->sent[0].n_writes, 2);
	(void)joined(s, 0, 3, 1, all);
	assert_int_equal(spec_word(&s->sent[2], 7), 1); /* its Write list */
	assert_int_equal(spec_word(&s->sent[2], 10), 0x40);
	assert_int_equal(spec_word(&s->sent[2], 14), 0x24);
	raw_end(s);
}

/* V2-6.2.2-04: all bits but the three. */
static void a_call_with_reserved_flags_is_served(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" V2 "00000000 fffffff8" EMPTY CALL("00000055"));
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_end(s);
}

/* V2-6.2.2.2-07, -08: one that would be served without the flag. */
static void a_special_call_with_more_is_not_served(void **state)
{
	static const uint8_t call[] = {0, 0, 0, 0x55, 0, 0, 0, 0};
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	s->read_from = call;
	raw_receive(s, "00000055" V2 "00000001 00000002"
	               "00000000" READ("00000000",
	                               "00000008") "00000000 00000000 00000000");
	raw_expect(s, INVAL_CONT("00000055"));
	assert_int_equal(s->n_reads, 0);
	assert_int_equal(s->requested, 0);
	raw_end(s);
}

/* V2-6.2.2.2-10, -11 */
static void any_chunk_before_the_final_part_is_refused(void **state)
{
	static const char *const lists[] = {
	        "00000000" READ("00000010", "00000004") "00000000 00000000 00000000",
	        "00000000 00000000 00000001 00000001" SEG(
	                "000000ab", "00000004") "00000000 00000000",
	        "00000000 00000000 00000000 00000001 00000001" SEG("000000ab",
	                                                           "00000004"),
	        "00000000 00000000 00000001 00000000 00000000 00000000"};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(lists); i++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		char hex[400];

		s->on_request = raw_answer_call;
		sprintf(hex, "00000055" MSG_MORE "%s" CALL("00000055"), lists[i]);
		raw_receive(s, hex);
		raw_expect(s, INVAL_CONT("00000055"));
		raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
		raw_expect_silence(s);
		assert_int_equal(s->requested, 0);
		raw_expect_service(s);
		raw_end(s);
	}
}

/* -- every message that goes out ------------------------------------------- */

/* All kinds of messages of one connection: properties, Simple, Continued and
 * Special Calls, a Reply, an error, a grant. */
static struct side *talkative(struct spec_call *k[3])
{
	const struct rr_conn_config cfg = {.rvrsdir = 3, .credits = 4};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	for (uint32_t i = 0; i < 3; i++) {
		k[i] = spec_new(0x55 + i, 0);
		spec_add(k[i], spec_octets(), i == 1 ? 9000 : 100, false);
		k[i]->call.flags = i == 2 ? RR_CALL_SPECIAL : 0;
		spec_start(s, k[i]);
	}
	raw_receive(s, "00000066 00000002 00200001 00000000 00000000" EMPTY CALL(
	                       "00000066"));
	raw_receive(s, "00000067 00000002 00200001 00000009 00000000");
	for (unsigned i = 0; i < 24; i++)
		raw_receive(s, GRANT("0004"));
	return s;
}

static unsigned kinds(const struct side *s)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < s->n_sent; i++)
		seen |= 1u << spec_word(&s->sent[i], 3);
	return seen;
}

/* V2-6.2.2-03 */
static void no_reserved_flag_is_ever_sent(void **state)
{
	struct spec_call *k[3];
	struct side *s = talkative(k);

	assert_int_equal(kinds(s), 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5);
	assert_int_equal(spec_word(&s->sent[s->n_sent - 1], 0), 0); /* a grant */
	for (unsigned i = 0; i < s->n_sent; i++)
		assert_int_equal(spec_flags(&s->sent[i]) & 0xfffffff8, 0);
	raw_end(s);
	for (unsigned i = 0; i < 3; i++)
		free(k[i]);
}

/* V2-C.1-02, V2-4.2.3-03 */
static void the_version_is_the_same_in_every_message(void **state)
{
	struct spec_call *k[3];
	struct side *s = talkative(k);

	assert_int_equal(kinds(s), 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5);
	for (unsigned i = 0; i < s->n_sent; i++)
		assert_int_equal(spec_word(&s->sent[i], 1), 2);
	raw_end(s);
	for (unsigned i = 0; i < 3; i++)
		free(k[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_small_call_is_one_message),
	        cmocka_unit_test(every_part_begins_with_a_transport_stream),
	        cmocka_unit_test(parts_of_a_reply_are_marked_as_such),
	        cmocka_unit_test(two_long_calls_are_not_interleaved),
	        cmocka_unit_test(chunks_travel_in_the_final_part),
	        cmocka_unit_test(no_message_exceeds_the_threshold),
	        cmocka_unit_test(credits_and_threshold_hold_together),
	        cmocka_unit_test(continuation_is_preferred_to_special),
	        cmocka_unit_test(a_continued_call_with_chunks_is_served),
	        cmocka_unit_test(a_continued_reply_follows_its_writes),
	        cmocka_unit_test(a_call_with_reserved_flags_is_served),
	        cmocka_unit_test(a_special_call_with_more_is_not_served),
	        cmocka_unit_test(any_chunk_before_the_final_part_is_refused),
	        cmocka_unit_test(no_reserved_flag_is_ever_sent),
	        cmocka_unit_test(the_version_is_the_same_in_every_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
