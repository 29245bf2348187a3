/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks at the edges of what is legal, laid out by hand: what has to be taken
 * although nobody would send it, and what has to be refused for one octet.
 * [v2 §4.3, §4.4.3, §6.2.3; K4, K6, K16, K18, K21, K23, K24]
 */
#include "test_conn_raw.h"

static uint32_t word(const uint8_t *p, size_t at)
{
	return rr_load_u32(p + at);
}

/* -- the Responder ------------------------------------------------------------- */

/* What the user answers: @len octets as an item, @tail behind it. */
struct answer {
	size_t item, tail;
	bool refuse;
};

static uint8_t item_octets[8192];

static void on_answer(struct side *s, struct rr_request *r)
{
	static uint8_t head[12], tail[8192];
	const struct answer *a = s->app;
	const struct rr_piece p[] = {
	        {head, 12, false},
	        {item_octets, a->item, true},
	        {tail, a->tail, false},
	};
	const struct rr_error refused = {.code = RDMA2_ERR_SYSTEM};

	if (a->refuse) {
		rr_conn_refuse(s->c, r, &refused, s->now);
		return;
	}
	rr_store_u32(head, r->xid);
	rr_store_u32(head + 4, 1);
	rr_store_u32(head + 8, (uint32_t)a->item);
	rr_conn_reply(s->c, r, p, 3, s->now);
}

static struct side *responder(struct answer *a)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	for (size_t i = 0; i < sizeof(item_octets); i++)
		item_octets[i] = (uint8_t)(i * 7 + (i >> 8));
	s->app = a;
	s->on_request = on_answer;
	return s;
}

/* [K4], V2-4.3.3-05: a Write chunk with empty segments in front, between and
 * behind is filled around them, and comes back with them. */
static void empty_segments_of_a_write_chunk_stay_empty(void **state)
{
	struct answer a = {.item = 10};
	struct side *s = responder(&a);

	raw_receive(
	        s, "00000055" MSG "00000000 00000000 00000001 00000005" SEG(
	                   "000000a1", "00000000") SEG("000000a2", "00000003")
	                   SEG("000000a3", "00000000") SEG("000000a4", "00000009")
	                           SEG("000000a5", "00000000") "00000000 00000000" CALL(
	                                   "00000055"));
	assert_int_equal(s->n_writes, 2);
	raw_expect(s, "00000055" MSG_REPLY "00000000 00000000 00000001 00000005" SEG(
	                      "000000a1", "00000000") SEG("000000a2", "00000003")
	                      SEG("000000a3", "00000000") SEG("000000a4", "00000007")
	                              SEG("000000a5",
	                                  "00000000") "00000000 00000000"
	                                              "00000055 00000001 0000000a");
	raw_end(s);
}

/* [K21]: an item of no octets leaves every segment empty. */
static void a_result_without_octets_leaves_the_chunk_unused(void **state)
{
	struct answer a = {.item = 0};
	struct side *s = responder(&a);

	raw_receive(s, "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                       "000000a1",
	                       "00000010") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_writes, 0);
	raw_expect(s,
	           "00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                   "000000a1",
	                   "00000000") "00000000 00000000 00000055 00000001 00000000");
	raw_end(s);
}

/* A Reply chunk without segments can take nothing: the Reply is continued, and
 * does not give it back.                                        [K8, K9] */
static void a_reply_chunk_without_segments_takes_nothing(void **state)
{
	struct answer a = {.item = 0, .tail = 8000};
	struct side *s = responder(&a);

	raw_receive(s, "00000055" MSG
	               "00000000 00000000 00000000 00000001 00000000" CALL("00000055"));
	assert_int_equal(s->n_writes, 0);
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(word(s->sent[0].p, 16), 3);
	assert_int_equal(word(s->sent[1].p, 16), 1);
	assert_int_equal(word(s->sent[1].p, 32), 0); /* no Reply chunk */
	assert_int_equal(s->sent[0].len + s->sent[1].len, 2 * 36 + 8012);
	raw_end(s);
}

/* [K6]: a Reply chunk is filled from the front, with what is left at the end. */
static void a_reply_chunk_of_odd_segments_is_filled_from_the_front(void **state)
{
	struct answer a = {.item = 0, .tail = 4988}; /* 5000 in all */
	struct side *s = responder(&a);

	raw_receive(s, "00000055" MSG
	               "00000000 00000000 00000000 00000001 00000004" SEG("000000a1",
	                                                                  "00000001")
	                       SEG("000000a2", "00000ffe") SEG("000000a3", "000003ff")
	                               SEG("000000a4", "00000400") CALL("00000055"));
	assert_int_equal(s->n_writes, 3);
	raw_expect(s, "00000055" NOMSG_REPLY
	              "00000000 00000000 00000000 00000001 00000004" SEG(
	                      "000000a1", "00000001") SEG("000000a2", "00000ffe")
	                      SEG("000000a3", "00000389") SEG("000000a4", "00000000"));
	raw_end(s);
}

/* [K16]: an error leaves the handle alone, however the Call offered it; the reply
 * to the next Call takes its own. */
static void an_error_invalidates_nothing(void **state)
{
	struct answer a = {.item = 4, .refuse = true};
	struct side *s = responder(&a);
	const char *call = "00000055" MSG "000000a1 00000000 00000001 00000001" SEG(
	        "000000a1", "00000010") "00000000 00000000" CALL("00000055");

	raw_receive(s, call);
	raw_expect(s, SYSTEM("00000055")); /* looks at the handle */
	a.refuse = false;
	raw_receive(s, call);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].inv, 0xa1);
	raw_end(s);
}

/* [K16]: nor does a part that is not the last. */
static void the_last_part_alone_invalidates(void **state)
{
	struct answer a = {.item = 4, .tail = 8000};
	struct side *s = responder(&a);

	raw_receive(s, "00000055" MSG "000000a1 00000000 00000001 00000001" SEG(
	                       "000000a1",
	                       "00000010") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(s->sent[0].inv, 0);
	assert_int_equal(s->sent[1].inv, 0xa1);
	raw_end(s);
}

/* [K23]: octets behind the lists of a Special Call say nothing. */
static void a_special_call_with_more_behind_is_served(void **state)
{
	static uint8_t call[32];
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_octets(CALL("00000055"), call, sizeof(call));
	s->read_from = call;
	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" NOMSG "00000000" READ("00000000", "00000018") EMPTY
	            "deadbeef 01");
	assert_int_equal(s->n_reads, 1);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_end(s);
}

/* Served with @good at that place, refused with any other word but 0 and 1. */
static void check_present(const char *before, const char *good, const char *after)
{
	const char *const word[] = {good,       "00000002", "ffffffff",
	                            "01000000", "80000001", "00000100"};

	for (unsigned k = 0; k < RR_ARRAY_SIZE(word); k++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		char hex[1000];

		s->on_request = raw_answer_call;
		sprintf(hex, "00000055" MSG "%s %s %s" CALL("00000055"), before,
		        word[k], after);
		raw_receive(s, hex);
		assert_int_equal(s->requested, k == 0);
		if (k)
			raw_expect(s, BAD_XDR("00000055"));
		side_forget_sent(s);
		raw_expect_service(s);
		raw_end(s);
	}
}

/* [K24]: each of the five words that say whether something follows.  What follows
 * makes a Call of the message if other words are taken for 1, or for 0. */
static void is_present_is_zero_or_one_everywhere(void **state)
{
	static const struct {
		const char *before, *there, *absent; /* what follows */
	} rows[] = {
	        {"00000000",
	         "00000010" SEG("000000aa", "00000004") "00000000 00000000 00000000",
	         "00000000 00000000"},
	        {"00000000" READ("00000010", "00000004"),
	         "00000014" SEG("000000aa", "00000004") "00000000 00000000 00000000",
	         "00000000 00000000"},
	        {"00000000 00000000", "00000000 00000000 00000000", "00000000"},
	        {"00000000 00000000 00000001 00000000", "00000000 00000000 00000000",
	         "00000000"},
	        {"00000000 00000000 00000000", "00000000", ""},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		check_present(rows[i].before, "00000001", rows[i].there);
		check_present(rows[i].before, "00000000", rows[i].absent);
	}
}

/* -- the Requester ----------------------------------------------------------------- */

struct asker {
	struct side *s;
	struct rr_call call;
	struct rr_dest dest;
	uint8_t words[40], memory[64];
	struct rr_piece piece;
};

static void ask(struct asker *q, size_t reply_bytes)
{
	q->s = raw_ready(RR_CONN_CLIENT, NULL);
	rr_store_u32(q->words, 0x55);
	q->piece = (struct rr_piece){q->words, sizeof(q->words), false};
	memset(q->memory, 0xcc, sizeof(q->memory));
	q->dest = (struct rr_dest){.base = q->memory, .len = 40};
	q->call = (struct rr_call){
	        .xid = 0x55,
	        .pieces = &q->piece,
	        .n_pieces = 1,
	        .dests = &q->dest,
	        .n_dests = reply_bytes ? 0 : 1,
	        .reply_bytes = reply_bytes,
	};
	assert_int_equal(rr_conn_call(q->s->c, &q->call, q->s->now), 0);
	side_drain(q->s);
	side_complete_all(q->s);
	assert_int_equal(q->s->n_regions, 1);
	side_forget_sent(q->s);
}

static void end_ask(struct asker *q)
{
	if (q->call.status == RR_CALL_OK)
		rr_conn_call_release(q->s->c, &q->call, q->s->now);
	raw_end(q->s);
}

/* [K18, K21]: the result inline beside a chunk that came back unused. */
static void a_result_beside_an_unused_chunk_is_taken(void **state)
{
	struct side_region *r;
	struct asker q;
	char hex[400];

	ask(&q, 0);
	r = &q.s->region[0];
	sprintf(hex,
	        "00000055" MSG_REPLY
	        "00000000 00000000 00000001 00000001 %08x 00000000 "
	        "%016llx 00000000 00000000 00000055 00000001 00000004 11223344",
	        r->handle, (unsigned long long)(uintptr_t)r->base);
	raw_receive(q.s, hex);
	assert_int_equal(q.s->calls_done, 1);
	assert_int_equal(q.call.status, RR_CALL_OK);
	assert_int_equal(q.call.reply_len, 16);
	assert_int_equal(word(q.call.reply, 12), 0x11223344);
	assert_false(q.dest.ret_used);
	assert_int_equal(q.dest.ret_len, 0);
	for (unsigned i = 0; i < sizeof(q.memory); i++)
		assert_int_equal(q.memory[i], 0xcc);
	end_ask(&q);
}

/* [K6]: lengths other than what was offered, one octet either way. */
static void returned_lengths_up_to_what_was_offered(void **state)
{
	static const struct {
		uint32_t len;
		int status;
	} rows[] = {{0, 0}, {1, 0}, {39, 0}, {40, 0}, {41, -EPROTO}, {~0u, -EPROTO}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct side_region *r;
		struct asker q;
		char hex[400];

		ask(&q, 0);
		r = &q.s->region[0];
		sprintf(hex,
		        "00000055" MSG_REPLY
		        "00000000 00000000 00000001 00000001 %08x %08x "
		        "%016llx 00000000 00000000 00000055 00000001 00000000",
		        r->handle, rows[i].len, (unsigned long long)(uintptr_t)r->base);
		raw_receive(q.s, hex);
		assert_int_equal(q.s->calls_done, 1);
		assert_int_equal(q.call.status, rows[i].status);
		assert_false(q.s->disconnect);
		if (!rows[i].status) {
			assert_int_equal(q.dest.ret_len, rows[i].len);
			assert_int_equal(q.dest.ret_used, rows[i].len > 0);
		}
		end_ask(&q);
	}
}

/* [M12, P8]: 62 segments make lists of 1000 octets, and a Reply of 36 more; the least
 * payload must fit behind them, or the Reply could not be sent. */
static void a_list_that_fills_the_reply_is_not_offered(void **state)
{
	static uint8_t room[62 * 100];

	for (uint32_t more = 0; more <= 4; more += 4) {
		const struct rr_conn_config cfg = {.recv_bytes = 1036 + more,
		                                   .segment_bytes = 100};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
		struct asker q = {.s = s, .dest = {.base = room, .len = sizeof(room)}};

		/* 64 segments [property 4] */
		raw_receive(s, "00000077 00000002 00200020 00000005 00000000 "
		               "00000001 00000004 00000004 00000040");
		assert_true(s->ready);
		side_forget_sent(s);
		rr_store_u32(q.words, 0x55);
		q.piece = (struct rr_piece){q.words, sizeof(q.words), false};
		q.call = (struct rr_call){.xid = 0x55,
		                          .pieces = &q.piece,
		                          .n_pieces = 1,
		                          .dests = &q.dest,
		                          .n_dests = 1};
		assert_int_equal(rr_conn_call(s->c, &q.call, s->now), 0);
		side_drain(s);
		assert_int_equal(s->n_sent, more / 4);
		assert_int_equal(s->calls_done, !more);
		assert_int_equal(q.call.status, more ? 0 : -EMSGSIZE);
		if (more)
			rr_conn_cancel(s->c, &q.call, s->now);
		side_drain(s);
		side_complete_all(s);
		raw_end(s);
	}
}

/* [K23], and [K1]: a Special Reply with octets behind its lists; one of a length
 * that holds no RPC message at all ends its call. */
static void special_replies_are_what_the_chunk_holds(void **state)
{
	static const struct {
		uint32_t len;
		const char *behind;
		int status;
	} rows[] = {{16, "", 0},       {16, "deadbeef 01", 0}, {8, "", 0},
	            {7, "", -EBADMSG}, {0, "", -EBADMSG},      {70001, "", -EPROTO}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct side_region *r;
		struct asker q;
		char hex[400];

		ask(&q, 70000);
		r = &q.s->region[0];
		raw_octets(REPLY("00000055"), r->base, r->len);
		sprintf(hex,
		        "00000055" NOMSG_REPLY
		        "00000000 00000000 00000000 00000001 00000001 %08x %08x "
		        "%016llx %s",
		        r->handle, rows[i].len, (unsigned long long)(uintptr_t)r->base,
		        rows[i].behind);
		raw_receive(q.s, hex);
		assert_int_equal(q.s->calls_done, 1);
		assert_int_equal(q.call.status, rows[i].status);
		if (!rows[i].status)
			assert_int_equal(q.call.reply_len, rows[i].len);
		assert_int_equal(side_valid_regions(q.s), 0);
		end_ask(&q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(empty_segments_of_a_write_chunk_stay_empty),
	        cmocka_unit_test(a_result_without_octets_leaves_the_chunk_unused),
	        cmocka_unit_test(a_reply_chunk_without_segments_takes_nothing),
	        cmocka_unit_test(
	                a_reply_chunk_of_odd_segments_is_filled_from_the_front),
	        cmocka_unit_test(an_error_invalidates_nothing),
	        cmocka_unit_test(the_last_part_alone_invalidates),
	        cmocka_unit_test(a_special_call_with_more_behind_is_served),
	        cmocka_unit_test(is_present_is_zero_or_one_everywhere),
	        cmocka_unit_test(a_result_beside_an_unused_chunk_is_taken),
	        cmocka_unit_test(returned_lengths_up_to_what_was_offered),
	        cmocka_unit_test(a_list_that_fills_the_reply_is_not_offered),
	        cmocka_unit_test(special_replies_are_what_the_chunk_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
