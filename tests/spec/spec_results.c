/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks as the Responder uses them: arguments pulled, results pushed,
 * handles invalidated.        [v2 §3.2.2.4, §4, §4.3.5, §4.3.6, §4.4.1.1, §6.2.4]
 */
#include "test_conn_spec.h"

#define AT(handle, len, offset)        handle " " len " " offset " "
#define RSEG(pos, handle, len, offset) "00000001 " pos " " handle " " len " " offset " "

/* The user's answer: what is in @app. */
struct answer {
	uint8_t head[16];
	size_t head_len;
	unsigned n_items;
	size_t item[2];
};

static void give(struct side *s, struct rr_request *r)
{
	struct answer *a = s->app;
	struct rr_piece p[5];
	unsigned n = 0;
	static const uint8_t count[4] = {0, 0, 0, 4};

	rr_store_u32(a->head, r->xid);
	p[n++] = (struct rr_piece){a->head, a->head_len, false};
	for (unsigned i = 0; i < a->n_items; i++) {
		if (i)
			p[n++] = (struct rr_piece){count, 4, false};
		p[n++] = (struct rr_piece){spec_octets(), a->item[i], true};
	}
	rr_conn_reply(s->c, r, p, n, s->now);
}

static struct side *server(struct answer *a, bool inv)
{
	const struct rr_conn_config cfg = {.remote_invalidate = inv};
	struct side *s = raw_ready_by(RR_CONN_SERVER, &cfg, "00000000");

	s->app = a;
	s->on_request = give;
	return s;
}

static void expect_write(const struct side *s, unsigned i, uint32_t handle,
                         uint64_t offset, size_t len, size_t of_item)
{
	assert_true(i < s->n_writes);
	assert_int_equal(s->writes[i].handle, handle);
	assert_int_equal(s->writes[i].offset, offset);
	assert_int_equal(s->writes[i].len, len);
	assert_memory_equal(s->writes[i].first, spec_octets() + of_item,
	                    RR_MIN(len, (size_t)8));
}

/* V2-4.3.5-04, V2-4.3.3-06: 64-bit offsets, as they came. */
static void reads_name_what_was_advertised(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" MSG
	               "00000000" RSEG("00000010", "89abcdef", "00000007",
	                               "0123456789abcdef") "00000000 00000000 "
	                                                   "00000000" CALL("00000055"));
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(s->reads[0].handle, 0x89abcdefu);
	assert_int_equal(s->reads[0].offset, 0x0123456789abcdefu);
	assert_int_equal(s->reads[0].len, 7);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_end(s);
}

static void see_order(struct side *s, struct rr_request *r)
{
	assert_int_equal(r->n_pieces, 3);
	assert_int_equal(r->pieces[1].len, 8);
	assert_memory_equal(r->pieces[1].base, "CABBBZZZ", 8);
	raw_answer_call(s, r);
}

/* V2-4.3.5-06: list order, wherever the memory is. */
static void segments_are_read_in_list_order(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = see_order;
	s->read_from = (const uint8_t *)"AZZZ....BBB.C";
	raw_receive(
	        s,
	        "00000055" MSG
	        "00000000" RSEG("00000010", "000000a1", "00000001", "000000000001000c")
	                RSEG("00000010", "000000a2", "00000001",
	                     "0000000000010000") RSEG("00000010", "000000a3",
	                                              "00000003", "0000000000010008")
	                        RSEG("00000010", "000000a2", "00000003",
	                             "0000000000010001") "00000000 00000000 "
	                                                 "00000000" CALL("00000055"));
	assert_int_equal(s->requested, 1);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_end(s);
}

/* V2-4.3.5.1-02 */
static void no_read_follows_the_reply(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s,
	            "00000055" MSG "00000000" READ("00000010", "00000004") READ(
	                    "00000014",
	                    "00000008") "00000000 00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].n_reads, 2);
	side_complete_all(s);
	assert_int_equal(s->n_reads, 2);
	raw_end(s);
}

/* V2-4.4.1.1-04, V2-4-01: whatever the Call offered to be read. */
static void replies_have_no_read_list(void **state)
{
	struct answer a = {.head_len = 12, .n_items = 1, .item = {4}};
	struct side *s = server(&a, false);

	raw_octets("00000000 00000001 00000004", a.head, 12);
	raw_receive(s, "00000055" MSG NONE READ("00000010", "00000004")
	                       NONE WRITE("000000ab", "00000004")
	                               NONE WRITE("000000ac", "00001000")
	                                       CALL("00000055"));
	raw_expect(s,
	           "00000055" MSG_REPLY "00000000 00000000"
	           "00000001 00000001" SEG(
	                   "000000ab",
	                   "00000004") "00000000 00000000 00000055 00000001 00000004");
	raw_end(s);
}

/* V2-3.2.2.4-01, V2-4.4.1.1-03 */
static void writes_are_posted_before_the_reply(void **state)
{
	struct answer a = {.head_len = 12, .n_items = 1, .item = {5}};
	struct side *s = server(&a, false);

	raw_octets("00000000 00000001 00000005", a.head, 12);
	raw_receive(s, "00000055" MSG
	               "00000000 00000000 00000001 00000002" SEG("000000ab", "00000003")
	                       SEG("000000ac",
	                           "00000003") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->n_writes, 2);
	assert_int_equal(s->sent[0].n_writes, 2);
	raw_end(s);
}

/* V2-4.3.6.2-02, -03, V2-11.1.4-03: five octets in a chunk of eight. */
static void padding_is_never_written(void **state)
{
	struct answer a = {.head_len = 12, .n_items = 1, .item = {5}};
	struct side *s = server(&a, false);

	raw_octets("00000000 00000001 00000005", a.head, 12);
	raw_receive(s, "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                       "000000ab",
	                       "00000008") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_writes, 1);
	expect_write(s, 0, 0xab, 0x10000, 5, 0);
	raw_expect(s,
	           "00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                   "000000ab",
	                   "00000005") "00000000 00000000 00000055 00000001 00000005");
	raw_end(s);
}

/* V2-4.3.6-04 to -07: in order, and without gaps. */
static void two_results_fill_two_chunks(void **state)
{
	struct answer a = {.head_len = 12, .n_items = 2, .item = {250, 4}};
	struct side *s = server(&a, false);

	raw_octets("00000000 00000001 000000fa", a.head, 12);
	raw_receive(
	        s,
	        "00000055" MSG "00000000 00000000 00000001 00000003" AT(
	                "000000b1", "00000064",
	                "0000000000010000") AT("000000b2", "000000c8",
	                                       "0000000500020000")
	                AT("000000b3", "0000012c",
	                   "0000000000030000") "00000001 00000001" AT("000000b4",
	                                                              "00000004",
	                                                              "000000000000000"
	                                                              "7") "00000000 "
	                                                                   "0000000"
	                                                                   "0" CALL(
	                                                                           "00"
	                                                                           "00"
	                                                                           "00"
	                                                                           "5"
	                                                                           "5"));
	assert_int_equal(s->n_writes, 3);
	expect_write(s, 0, 0xb1, 0x10000, 100, 0);
	expect_write(s, 1, 0xb2, 0x500020000, 150, 100);
	expect_write(s, 2, 0xb4, 7, 4, 0);
	raw_expect(
	        s,
	        "00000055" MSG_REPLY "00000000 00000000 00000001 00000003" AT(
	                "000000b1", "00000064",
	                "0000000000010000") AT("000000b2", "00000096",
	                                       "0000000500020000")
	                AT("000000b3", "00000000",
	                   "0000000000030000") "00000001 00000001" AT("000000b4",
	                                                              "00000004",
	                                                              "000000000000000"
	                                                              "7") "00000000 "
	                                                                   "00000000 "
	                                                                   "00000055 "
	                                                                   "00000001 "
	                                                                   "000000fa "
	                                                                   "00000004");
	raw_end(s);
}

/* V2-4.3.4.2-01, -02: a result that may be absent. */
static void an_absent_result_leaves_its_word(void **state)
{
	for (unsigned there = 0; there < 2; there++) {
		struct answer a = {.head_len = 12, .n_items = there, .item = {4}};
		struct side *s = server(&a, false);

		raw_octets("00000000 00000001", a.head, 8);
		rr_store_u32(a.head + 8, there);
		raw_receive(s,
		            "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
		                    "000000ab",
		                    "00000004") "00000000 00000000" CALL("00000055"));
		assert_int_equal(s->n_writes, there);
		if (there)
			raw_expect(s, "00000055" MSG_REPLY
			              "00000000 00000000 00000001 00000001" SEG(
			                      "000000ab",
			                      "00000004") "00000000 00000000 00000055 "
			                                  "00000001 00000001");
		else
			raw_expect(s, "00000055" MSG_REPLY
			              "00000000 00000000 00000001 00000001" SEG(
			                      "000000ab",
			                      "00000000") "00000000 00000000 00000055 "
			                                  "00000001 00000000");
		raw_end(s);
	}
}

static void give_whole(struct side *s, struct rr_request *r)
{
	r->unreduced = true;
	give(s, r);
}

/* V2-11.2.2.3-01, [K18]: five octets and their padding in the payload, the chunk
 * unused; too small a chunk is no matter either. */
static void a_protected_reply_leaves_the_chunk_unused(void **state)
{
	struct answer a = {.head_len = 12, .n_items = 1, .item = {5}};
	struct side *s = server(&a, false);

	s->on_request = give_whole;
	raw_octets("00000000 00000001 00000005", a.head, 12);
	raw_receive(s, "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                       "000000ab",
	                       "00000004") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_writes, 0);
	raw_expect(s, "00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                      "000000ab",
	                      "00000000") "00000000 00000000 00000055 00000001 "
	                                  "00000005 01080f161d000000");
	raw_end(s);
}

/* -- remote invalidation --------------------------------------------------- */

#define CALL_INV(xid, inv, handle)                                                     \
	xid MSG inv " 00000000 00000001 00000001" SEG(                                 \
	        handle, "00000004") "00000000 00000000" CALL(xid)

static void invalidates(bool able, const char *call, uint32_t want)
{
	struct answer a = {.head_len = 8};
	struct side *s = server(&a, able);

	raw_octets("00000000 00000001", a.head, 8);
	raw_receive(s, call);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].inv, want);
	raw_end(s);
}

/* V2-6.2.4-03, V2-C.7-02, [K17] */
static void no_invalidation_unasked(void **state)
{
	invalidates(true, CALL_INV("00000055", "00000000", "000000ab"), 0);
	invalidates(false, CALL_INV("00000055", "000000ab", "000000ab"), 0);
	invalidates(true, CALL_INV("00000055", "000000ac", "000000ab"), 0);
}

static void keep(struct side *s, struct rr_request *r)
{
	struct rr_request **held = s->app;

	held[s->requested - 1] = r;
}

/* V2-6.2.4-04, -05: each its own, in any order. */
static void each_reply_invalidates_the_handle_of_its_call(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready_by(RR_CONN_SERVER, &cfg, "00000000");
	struct rr_request *held[3];

	s->app = held;
	s->on_request = keep;
	raw_receive(s, CALL_INV("00000055", "000000ab", "000000ab"));
	raw_receive(s, CALL_INV("00000056", "000000ac", "000000ac"));
	raw_receive(s, CALL_INV("00000057", "000000ad", "000000ad"));
	assert_int_equal(s->requested, 3);
	for (unsigned i = 3; i-- > 0;) {
		raw_answer_call(s, held[i]);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(s->n_sent, 3 - i);
		assert_int_equal(spec_word(&s->sent[2 - i], 0), 0x55 + i);
		assert_int_equal(s->sent[2 - i].inv, 0xab + i);
	}
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(reads_name_what_was_advertised),
	        cmocka_unit_test(segments_are_read_in_list_order),
	        cmocka_unit_test(no_read_follows_the_reply),
	        cmocka_unit_test(replies_have_no_read_list),
	        cmocka_unit_test(writes_are_posted_before_the_reply),
	        cmocka_unit_test(padding_is_never_written),
	        cmocka_unit_test(two_results_fill_two_chunks),
	        cmocka_unit_test(an_absent_result_leaves_its_word),
	        cmocka_unit_test(no_invalidation_unasked),
	        cmocka_unit_test(each_reply_invalidates_the_handle_of_its_call),
	        cmocka_unit_test(a_protected_reply_leaves_the_chunk_unused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
