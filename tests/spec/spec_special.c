/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Special Format and the choice of a Reply's format.  [v2 §4.4.3, §5.2.2, §6.3.2,
 *                                                       §6.4, §7.3; K9]
 */
#include "test_conn_spec.h"

#define SPECIAL_CALL(len)                                                              \
	"00000055" NOMSG "00000000" READ("00000000", len) "00000000 00000000 00000000"
#define WITH_REPLY_CHUNK(len)                                                          \
	"00000055" MSG                                                                 \
	"00000000 00000000 00000000 00000001 00000001" SEG("000000ac", len)            \
	        CALL("00000055")

/* -- the Requester --------------------------------------------------------- */

/* V2-4.4.3-01, -02, -03, V2-6.2.2.1-01, V2-6.3.2-03 */
static void a_special_call_is_its_header(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 16};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	struct spec_call *k = spec_new(0x55, 3);
	const struct side_msg *m;
	const struct side_region *r;

	spec_add(k, "abc", 3, true);
	k->call.flags = RR_CALL_SPECIAL;
	m = spec_sent(s, k);
	assert_int_equal(s->n_regions, 1);
	r = &s->region[0];
	assert_int_equal(r->len, SPEC_HEAD + 4);
	assert_int_equal(r->access, 1);
	assert_int_equal(rr_load_u32(r->base), 0x55);
	assert_int_equal(m->len, 20 + 4 + 2 * 24 + 12); /* and no payload */
	assert_int_equal(spec_word(m, 0), 0x55);
	assert_int_equal(spec_word(m, 3), 1);
	assert_int_equal(spec_flags(m), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(spec_word(m, 6 + 6 * i), 1);
		assert_int_equal(spec_word(m, 7 + 6 * i), 0); /* the Position */
		assert_int_equal(spec_word(m, 8 + 6 * i), r->handle);
		assert_int_equal(spec_word(m, 9 + 6 * i), 16);
	}
	for (unsigned w = 18; w < 21; w++)
		assert_int_equal(spec_word(m, w), 0);
	spec_end(s, k);
}

/* V2-4.4.3-11: what is not reduced keeps its padding. */
static void a_special_call_holds_its_padding(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 5);

	spec_add(k, "abcde", 5, true);
	k->call.flags = RR_CALL_SPECIAL;
	(void)spec_sent(s, k);
	assert_int_equal(s->n_regions, 1);
	assert_int_equal(s->region[0].len, SPEC_HEAD + 8);
	assert_memory_equal(s->region[0].base, k->head, SPEC_HEAD);
	assert_memory_equal(s->region[0].base + SPEC_HEAD, "abcde\0\0\0", 8);
	spec_end(s, k);
}

/* V2-4.4.3-04, V2-5.2.2-04, V2-A.2-01: one chunk, as long as the longest Reply;
 * none for Replies of some messages. */
static void a_reply_chunk_is_offered_for_long_replies_only(void **state)
{
	static const uint32_t bound[] = {0, 1000, 4096, 40000, 65536};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k;
	const struct side_msg *m;

	for (uint32_t i = 0; i < RR_ARRAY_SIZE(bound); i++) {
		k = spec_new(0x100 + i, 0);
		k->call.reply_bytes = bound[i];
		m = spec_sent(s, k);
		assert_int_equal(spec_word(m, 8), 0);
		assert_int_equal(m->len, 36 + SPEC_HEAD);
		side_forget_sent(s);
		rr_conn_cancel(s->c, &k->call, s->now);
		side_drain(s);
		free(k);
	}
	k = spec_new(0x55, 0);
	k->call.reply_bytes = 300000;
	m = spec_sent(s, k);
	assert_int_equal(spec_word(m, 8), 1);
	assert_int_equal(spec_word(m, 9), 1); /* segment */
	assert_int_equal(spec_word(m, 11), 300000);
	assert_int_equal(s->n_regions, 1);
	assert_int_equal(s->region[0].len, 300000);
	assert_int_equal(s->region[0].access, 2);
	spec_end(s, k);
}

/* V2-6.3.2-02: what lies in the Reply chunk is the Reply. */
static void a_special_reply_is_taken(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 0);
	struct side_region r;
	char hex[300];

	k->call.reply_bytes = 300000;
	spec_start(s, k);
	r = s->region[0];
	raw_octets("00000055 00000001 00000000 01020304", r.base, 16);
	sprintf(hex,
	        "00000055" NOMSG_REPLY "00000000 00000000 00000000 00000001 00000001 "
	        "%08x 00000010 %016llx",
	        r.handle, (unsigned long long)(uintptr_t)r.base);
	raw_receive(s, hex);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(k->call.reply_len, 16);
	assert_memory_equal((const uint8_t *)k->call.reply + 12, "\1\2\3\4", 4);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* -- the Responder: Calls -------------------------------------------------- */

static void see_special(struct side *s, struct rr_request *r)
{
	assert_true(r->special);
	assert_int_equal(r->n_pieces, 1);
	assert_int_equal(r->pieces[0].len, 32);
	assert_memory_equal((const uint8_t *)r->pieces[0].base + 20,
	                    "\0\0\0\5abcde\0\0\0", 12);
	raw_answer_call(s, r);
}

/* V2-4.4.3-06, -10, V2-6.1-05, V2-6.3.2-01: small, not eligible, padding and all. */
static void a_small_special_call_is_served(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);
	uint8_t call[32];

	raw_octets("00000055 00000000 00000002 000186a3 00000003 00000005 "
	           "6162636465000000",
	           call, 32);
	s->on_request = see_special;
	s->read_from = call;
	raw_receive(s, SPECIAL_CALL("00000020"));
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(s->requested, 1);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	s->on_request = raw_answer_call;
	raw_expect_service(s);
	raw_end(s);
}

/* -- the Responder: Replies ------------------------------------------------ */

/* @app: how long the Reply is without its item, and how long the item. */
struct lengths {
	size_t rest, item;
};

static void reply_of(struct side *s, struct rr_request *r)
{
	const struct lengths *l = s->app;
	static uint8_t head[12] = {0, 0, 0, 0x55, 0, 0, 0, 1};
	const struct rr_piece p[] = {{head, 12, false},
	                             {spec_octets(), l->item, true},
	                             {spec_octets(), l->rest - 12, false}};

	rr_store_u32(head + 8, (uint32_t)l->item);
	rr_conn_reply(s->c, r, p, 3, s->now);
}

static struct side *replying(struct lengths *l, const char *call)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->app = l;
	s->on_request = reply_of;
	raw_receive(s, call);
	assert_int_equal(s->requested, 1);
	return s;
}

/* V2-4.4.3-01, -02, -05, -07, -09, V2-6.3.2-03: written, then told. */
static void a_long_reply_goes_to_the_reply_chunk(void **state)
{
	/* header and payload are one word longer than the threshold */
	struct lengths l = {.rest = 4096 - 36 + 4};
	struct side *s = replying(&l, WITH_REPLY_CHUNK("00002000"));

	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].handle, 0xac);
	assert_int_equal(s->writes[0].offset, 0x10000);
	assert_int_equal(s->writes[0].len, l.rest);
	assert_memory_equal(s->writes[0].first, "\0\0\0\x55\0\0\0\1", 8);
	assert_int_equal(s->sent[0].n_writes, 1);
	raw_expect(s, "00000055" NOMSG_REPLY "00000000 00000000 00000000"
	              "00000001 00000001" SEG("000000ac", "00000fe0"));
	raw_expect_silence(s);
	raw_end(s);
}

/* V2-4.4.3-07, V2-5.2.2-05, V2-6.4-02: what fits goes inline, to the last word. */
static void a_small_reply_leaves_the_reply_chunk_alone(void **state)
{
	struct lengths l = {.rest = 4096 - 36};
	struct side *s = replying(&l, WITH_REPLY_CHUNK("00002000"));

	assert_int_equal(s->n_writes, 0);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 4096);
	assert_int_equal(spec_word(&s->sent[0], 3), 0);
	assert_int_equal(spec_word(&s->sent[0], 8), 0); /* no Reply chunk [K8] */
	raw_end(s);
}

/* V2-4.4.3-11: in a Reply chunk an item without a chunk keeps its padding. */
static void a_special_reply_holds_its_padding(void **state)
{
	struct lengths l = {.rest = 5000, .item = 5};
	struct side *s = replying(&l, WITH_REPLY_CHUNK("00002000"));

	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].len, 5000 + 8);
	raw_expect(s, "00000055" NOMSG_REPLY "00000000 00000000 00000000"
	              "00000001 00000001" SEG("000000ac", "00001390"));
	raw_end(s);
}

/* V2-7.3-03, V2-C.5-01, V2-11.1.4-03: one octet short; it is continued. */
static void a_reply_chunk_too_small_is_not_touched(void **state)
{
	struct lengths l = {.rest = 9000};
	struct side *s = replying(&l, WITH_REPLY_CHUNK("00002327"));

	assert_int_equal(s->n_writes, 0);
	assert_int_equal(s->n_sent, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(spec_word(&s->sent[i], 3), 0);
		assert_int_equal(spec_flags(&s->sent[i]), i < 2 ? 3 : 1);
		assert_int_equal(spec_word(&s->sent[i], 8), 0);
	}
	raw_end(s);
}

/* V2-6.4-03 */
static void a_reply_without_room_is_continued(void **state)
{
	struct lengths l = {.rest = 20000};
	struct side *s = replying(&l, "00000055" MSG EMPTY CALL("00000055"));

	assert_int_equal(s->n_writes, 0);
	assert_int_equal(s->n_sent, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(spec_flags(&s->sent[i]), i < 4 ? 3 : 1);
	raw_end(s);
}

/* V2-4.4.3-08: even what would fit; with a Reply chunk beside it the rest of a
 * long Reply goes there. */
static void results_are_reduced_first(void **state)
{
	struct lengths small = {.rest = 12, .item = 8};
	struct lengths large = {.rest = 5000, .item = 8};
	struct side *s = replying(
	        &small,
	        "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                "000000ab", "00000008") "00000000 00000000" CALL("00000055"));

	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].len, 8);
	raw_expect(s, "00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                      "000000ab", "00000008") "00000000 00000000"
	                                              "00000055 00000001 00000008");
	raw_end(s);
	s = replying(&large,
	             "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                     "000000ab", "00000008") "00000000"
	                                             "00000001 00000001" SEG("000000ac",
	                                                                     "00001388")
	                                                     CALL("00000055"));
	assert_int_equal(s->n_writes, 2);
	assert_int_equal(s->writes[1].len, 5000);
	raw_expect(s, "00000055" NOMSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                      "000000ab",
	                      "00000008") "00000000 00000001 00000001" SEG("000000ac",
	                                                                   "00001388"));
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_special_call_is_its_header),
	        cmocka_unit_test(a_special_call_holds_its_padding),
	        cmocka_unit_test(a_reply_chunk_is_offered_for_long_replies_only),
	        cmocka_unit_test(a_special_reply_is_taken),
	        cmocka_unit_test(a_small_special_call_is_served),
	        cmocka_unit_test(a_long_reply_goes_to_the_reply_chunk),
	        cmocka_unit_test(a_small_reply_leaves_the_reply_chunk_alone),
	        cmocka_unit_test(a_special_reply_holds_its_padding),
	        cmocka_unit_test(a_reply_chunk_too_small_is_not_touched),
	        cmocka_unit_test(a_reply_without_room_is_continued),
	        cmocka_unit_test(results_are_reduced_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
