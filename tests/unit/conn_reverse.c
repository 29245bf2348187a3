/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls in reverse against octets laid out by hand: what a server sends to a
 * client of each level, what a client answers, and equal XIDs both ways.
 * What a client refuses is in conn_reverse_levels.c.
 */
#include "test_conn_raw.h"

/* A client's properties: number five alone, with so much credit. */
#define LEVEL(n)                                                                       \
	"00000077 00000002 00200020 00000005 00000000 00000001 00000005 00000004 " n
#define NO_PROPERTIES "00000077 00000002 00200020 00000005 00000000 00000000"

enum { XID = 0x55, HEADER = 36, ITEM = 3000 };

/* A Call with, if asked, an item of @item octets and a destination. */
struct call {
	struct rr_call call;
	struct rr_piece piece[2];
	uint8_t head[24], item[9000], result[9000];
	struct rr_dest dest;
	unsigned ended;
	int status;
	struct rr_error error;
	uint8_t reply[64];
	size_t reply_len;
};

static void on_call_done(struct side *s, struct rr_call *call)
{
	struct call *k = rr_container_of(call, struct call, call);

	k->ended++;
	k->status = call->status;
	k->error = call->error;
	k->reply_len = call->reply_len;
	if (call->reply && call->reply_len <= sizeof(k->reply))
		memcpy(k->reply, call->reply, call->reply_len);
	rr_conn_call_release(s->c, call, s->now);
}

/* Of 24 octets, then @item octets that are eligible for a chunk. */
static void start_call(struct side *s, struct call *k, uint32_t xid, size_t item,
                       size_t dest, size_t reply_bytes)
{
	memset(k, 0, sizeof(*k));
	raw_octets("00000000 00000000 00000002 000186a3 00000003 00000000", k->head,
	           sizeof(k->head));
	rr_store_u32(k->head, xid);
	memset(k->item, 0x77, sizeof(k->item));
	k->piece[0] = (struct rr_piece){k->head, 24, false};
	k->piece[1] = (struct rr_piece){k->item, item, true};
	k->dest = (struct rr_dest){.base = k->result, .len = dest};
	k->call = (struct rr_call){.xid = xid,
	                           .pieces = k->piece,
	                           .n_pieces = item ? 2 : 1,
	                           .dests = &k->dest,
	                           .n_dests = dest ? 1 : 0,
	                           .reply_bytes = reply_bytes};
	s->on_call_done = on_call_done;
	assert_int_equal(rr_conn_call(s->c, &k->call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
}

static struct side *server_of(const char *properties, const struct rr_conn_config *cfg)
{
	struct side *s = raw_new(RR_CONN_SERVER, cfg);

	raw_receive(s, properties);
	assert_true(s->ready);
	assert_int_equal(s->n_sent, 1);
	side_forget_sent(s);
	return s;
}

static struct side *client_of(uint32_t level)
{
	const struct rr_conn_config cfg = {.rvrsdir = level};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);

	s->on_request = raw_answer_call;
	return s;
}

static uint32_t word(const struct side *s, unsigned message, size_t index)
{
	assert_true(message < s->n_sent && (index + 1) * 4 <= s->sent[message].len);
	return rr_load_u32(s->sent[message].p + index * 4);
}

static const char *const levels[] = {NO_PROPERTIES, LEVEL("00000001"),
                                     LEVEL("00000002"), LEVEL("00000003")};

/* -- a server's Calls ------------------------------------------------------------- */

/* V2-4.5.1-01 to -06, V2-5.2.5-03: word for word; the credit word has the
 * server's ceiling and a grant. */
static void a_plain_call_at_every_level(void **state)
{
	for (unsigned level = 1; level <= 3; level++) {
		struct side *s = server_of(levels[level], NULL);
		struct call k;

		start_call(s, &k, XID, 0, 0, 0);
		raw_expect(s, "00000055" MSG EMPTY "00000055 00000000 00000002 "
		              "000186a3 00000003 00000000");
		assert_int_equal(k.ended, 0);
		raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
		assert_int_equal(k.ended, 1);
		assert_int_equal(k.status, RR_CALL_OK);
		assert_int_equal(k.reply_len, 16);
		raw_expect_silence(s);
		raw_end(s);
	}
}

/* V2-4.5.3-04, [R2]: it waits for the client's properties. */
static void no_call_before_the_client_has_told_its_level(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);
	struct call k;

	start_call(s, &k, XID, 0, 0, 0);
	assert_int_equal(s->n_sent, 0);
	assert_int_equal(k.ended, 0);
	raw_receive(s, levels[1]);
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(word(s, 0, 3), RDMA2_CONNPROP);
	raw_skip(s);
	raw_expect(s, "00000055" MSG EMPTY "00000055 00000000 00000002 "
	              "000186a3 00000003 00000000");
	raw_end(s);
}

/* V2-4.5.3-02, V2-5.2.5-02, -06, [P13]: nothing is sent. */
static void clients_without_support_are_not_called(void **state)
{
	static const char *const none[] = {NO_PROPERTIES, LEVEL("00000000"),
	                                   LEVEL("00000004"), LEVEL("ffffffff")};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(none); i++) {
		struct side *s = server_of(none[i], NULL);
		struct call k;

		start_call(s, &k, XID, 0, 0, 0);
		assert_int_equal(k.ended, 1);
		assert_int_equal(k.status, -EPROTONOSUPPORT);
		raw_expect_silence(s);
		s->on_request = raw_answer_call;
		raw_expect_service(s);
		raw_end(s);
	}
}

/* [R5], V2-4.5.4-04: 4096 octets and no octet more. */
static void level_1_takes_what_fits_one_message(void **state)
{
	struct side *s = server_of(levels[1], NULL);
	struct call k;

	start_call(s, &k, XID, 4096 - HEADER - 24, 0, 0);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 4096);
	assert_int_equal(word(s, 0, 3), RDMA2_MSG);
	assert_int_equal(word(s, 0, 4), 0);
	for (unsigned i = 5; i < 9; i++)
		assert_int_equal(word(s, 0, i), 0);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k.status, RR_CALL_OK);
	side_forget_sent(s);
	start_call(s, &k, XID, 4096 - HEADER - 24 + 1, 0, 0);
	assert_int_equal(k.ended, 1);
	assert_int_equal(k.status, -EMSGSIZE);
	raw_expect_silence(s);
	raw_end(s);
}

/* V2-4.5.4-04: neither for an item, a result, nor a long Reply. */
static void below_level_3_no_chunk_is_offered(void **state)
{
	for (unsigned level = 1; level <= 2; level++) {
		struct side *s = server_of(levels[level], NULL);
		struct call k;

		start_call(s, &k, XID, ITEM, 8000, 200000);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(word(s, 0, 3), RDMA2_MSG);
		for (unsigned i = 5; i < 9; i++)
			assert_int_equal(word(s, 0, i), 0);
		assert_int_equal(s->sent[0].len, HEADER + 24 + ITEM);
		assert_int_equal(side_valid_regions(s), 0);
		raw_end(s);
	}
}

/* V2-5.2.5-04, V2-4.5.1-05: MORE on all parts but the last. */
static void level_2_continues_long_calls(void **state)
{
	struct side *s = server_of(levels[2], NULL);
	struct call k;
	size_t sum = 0;

	start_call(s, &k, XID, 9000, 0, 0);
	assert_int_equal(s->n_sent, 3);
	for (unsigned m = 0; m < 3; m++) {
		assert_int_equal(word(s, m, 0), XID);
		assert_int_equal(word(s, m, 1), 2);
		assert_int_equal(word(s, m, 3), RDMA2_MSG);
		assert_int_equal(word(s, m, 4), m < 2 ? RDMA2_F_MORE : 0);
		for (unsigned i = 5; i < 9; i++)
			assert_int_equal(word(s, m, i), 0);
		assert_true(s->sent[m].len <= 4096);
		sum += s->sent[m].len - HEADER;
	}
	assert_int_equal(sum, 24 + 9000);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k.status, RR_CALL_OK);
	raw_end(s);
}

/* V2-4.5.4-01, V2-5.2.5-05: a Read segment at position 24, a Write chunk and a
 * Reply chunk of one segment each. */
static void level_3_offers_chunks(void **state)
{
	struct side *s = server_of(levels[3], NULL);
	struct call k;

	start_call(s, &k, XID, ITEM, 8000, 200000);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(word(s, 0, 3), RDMA2_MSG);
	assert_int_equal(word(s, 0, 4), 0);
	assert_int_equal(word(s, 0, 6), 1);
	assert_int_equal(word(s, 0, 7), 24);
	assert_int_equal(word(s, 0, 9), ITEM);
	assert_int_equal(word(s, 0, 12), 0);
	assert_int_equal(word(s, 0, 13), 1); /* Write list: a chunk of one segment */
	assert_int_equal(word(s, 0, 14), 1);
	assert_int_equal(word(s, 0, 16), 8000);
	assert_int_equal(word(s, 0, 19), 0);
	assert_int_equal(word(s, 0, 20), 1); /* Reply chunk */
	assert_int_equal(word(s, 0, 21), 1);
	assert_true(word(s, 0, 23) >= 200000);
	assert_int_equal(s->sent[0].len, 26 * 4 + 24);
	assert_int_equal(side_valid_regions(s), 3);
	raw_end(s);
}

/* V2-4.5.1-05: Special Format is of type RDMA2_NOMSG, its first segment at 0. */
static void level_3_takes_special_calls(void **state)
{
	struct side *s = server_of(levels[3], NULL);
	struct call k = {0};

	raw_octets("00000055 00000000 00000002 000186a3 00000003 00000000", k.head,
	           sizeof(k.head));
	k.piece[0] = (struct rr_piece){k.head, 24, false};
	k.call = (struct rr_call){
	        .xid = XID, .flags = RR_CALL_SPECIAL, .pieces = k.piece, .n_pieces = 1};
	s->on_call_done = on_call_done;
	assert_int_equal(rr_conn_call(s->c, &k.call, s->now), 0);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(word(s, 0, 0), XID);
	assert_int_equal(word(s, 0, 3), RDMA2_NOMSG);
	assert_int_equal(word(s, 0, 4), 0);
	assert_int_equal(word(s, 0, 6), 1);
	assert_int_equal(word(s, 0, 7), 0);
	assert_int_equal(word(s, 0, 9), 24);
	raw_end(s);
}

/* V2-5.2.5-03, -04: who asks for Special Format does not get it there. */
static void below_level_3_special_calls_travel_inline(void **state)
{
	for (unsigned level = 1; level <= 2; level++) {
		struct side *s = server_of(levels[level], NULL);
		struct call k = {0};

		raw_octets("00000055 00000000 00000002 000186a3 00000003 00000000",
		           k.head, sizeof(k.head));
		k.piece[0] = (struct rr_piece){k.head, 24, false};
		k.call = (struct rr_call){.xid = XID,
		                          .flags = RR_CALL_SPECIAL,
		                          .pieces = k.piece,
		                          .n_pieces = 1};
		s->on_call_done = on_call_done;
		assert_int_equal(rr_conn_call(s->c, &k.call, s->now), 0);
		side_drain(s);
		raw_expect(s, "00000055" MSG EMPTY
		              "00000055 00000000 00000002 000186a3 00000003 00000000");
		raw_end(s);
	}
}

/* V2-C.7-04: only a server that can have its memory invalidated says so. */
static void invalidation_is_asked_for_if_it_can_be_had(void **state)
{
	for (unsigned can = 0; can < 2; can++) {
		const struct rr_conn_config cfg = {.remote_invalidate = can};
		struct side *s = server_of(levels[3], &cfg);
		struct call k;

		start_call(s, &k, XID, ITEM, 0, 0);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(word(s, 0, 6), 1);
		assert_int_equal(word(s, 0, 5), can ? word(s, 0, 8) : 0);
		raw_end(s);
	}
}

/* V2-C.4-01: the limit is what this client receives: 1024 octets. */
static void calls_obey_the_threshold_towards_the_client(void **state)
{
	struct side *s =
	        server_of("00000077 00000002 00200020 00000005 00000000 00000002 "
	                  "00000002 00000004 00000400 00000005 00000004 00000002",
	                  NULL);
	struct call k;

	start_call(s, &k, XID, 2000, 0, 0);
	assert_int_equal(s->n_sent, 3);
	for (unsigned m = 0; m < 3; m++)
		assert_true(s->sent[m].len <= 1024);
	raw_end(s);
}

/* V2-4.5.2-02: both XIDs count; the call fails, the connection goes on. */
static void a_reply_whose_xids_differ_fails_the_call(void **state)
{
	struct side *s = server_of(levels[1], NULL);
	struct call k;

	start_call(s, &k, XID, 0, 0, 0);
	side_forget_sent(s);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000056"));
	assert_int_equal(k.ended, 1);
	assert_true(k.status < 0);
	raw_expect_silence(s);
	s->on_request = raw_answer_call;
	raw_expect_service(s);
	raw_end(s);
}

/* What the client refuses ends the call with its words. */
static void errors_end_calls_in_reverse(void **state)
{
	struct side *s = server_of(levels[3], NULL);
	struct call k;

	start_call(s, &k, XID, 0, 0, 0);
	side_forget_sent(s);
	raw_receive(s, ERR("00000055", "0000000a 00001234"));
	assert_int_equal(k.ended, 1);
	assert_int_equal(k.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(k.error.code, RDMA2_ERR_REPLY_RESOURCE);
	assert_int_equal(k.error.arg[0], 0x1234);
	raw_expect_silence(s);
	raw_end(s);
}

/* -- a client's answers ---------------------------------------------------- */

/* V2-5.2.5-01, V2-4.5.3-03, V2-4.5.4-02, -03: number, length, level. */
static void the_level_is_property_5_of_a_client(void **state)
{
	for (uint32_t level = 0; level <= 3; level++) {
		const struct rr_conn_config cfg = {.rvrsdir = level};
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
		size_t n;
		bool found = false;

		assert_int_equal(s->n_sent, 1);
		assert_int_equal(word(s, 0, 3), RDMA2_CONNPROP);
		n = word(s, 0, 5);
		for (size_t i = 0; i < n; i++) { /* all are of four octets */
			assert_int_equal(word(s, 0, 7 + 3 * i), 4);
			if (word(s, 0, 6 + 3 * i) != 5)
				continue;
			assert_int_equal(word(s, 0, 8 + 3 * i), level);
			found = true;
		}
		assert_true(found);
		raw_end(s);
	}
}

/* [P13]: a server has nothing to say about it. */
static void a_server_does_not_send_property_5(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);

	raw_receive(s, levels[3]);
	assert_int_equal(s->n_sent, 1);
	for (size_t i = 0; i < word(s, 0, 5); i++)
		assert_true(word(s, 0, 6 + 3 * i) != 5);
	assert_int_equal(s->sent[0].len, 4 * (6 + 3 * word(s, 0, 5)));
	raw_end(s);
}

/* V2-3.1.3.4-03, V2-4.5.2-01 to -05: the Call's XID in both places. */
static void a_reply_has_the_xid_of_its_call(void **state)
{
	struct side *s = client_of(1);

	raw_receive(s, "00000000" MSG EMPTY CALL("00000000"));
	raw_expect(s, "00000000" MSG_REPLY EMPTY REPLY("00000000"));
	raw_receive(s, "00000001" MSG EMPTY CALL("00000001"));
	raw_expect(s, "00000001" MSG_REPLY EMPTY REPLY("00000001"));
	raw_receive(s, "ffffffff" MSG EMPTY CALL("ffffffff"));
	raw_expect(s, "ffffffff" MSG_REPLY EMPTY REPLY("ffffffff"));
	raw_expect_silence(s);
	raw_end(s);
}

/* Results of 9000 octets. */
static void answer_long(struct side *s, struct rr_request *r)
{
	static uint8_t words[9000];
	const struct rr_piece p = {words, sizeof(words), false};

	raw_octets("00000000 00000001 00000000 00000000", words, 16);
	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

/* V2-4.5.2-04: as in the forward direction. */
static void long_replies_are_continued_from_level_2_on(void **state)
{
	for (uint32_t level = 2; level <= 3; level++) {
		struct side *s = client_of(level);
		size_t sum = 0;

		s->on_request = answer_long;
		raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
		assert_int_equal(s->n_sent, 3);
		for (unsigned m = 0; m < 3; m++) {
			assert_int_equal(word(s, m, 0), XID);
			assert_int_equal(word(s, m, 3), RDMA2_MSG);
			assert_int_equal(word(s, m, 4),
			                 RDMA2_F_RESPONSE | (m < 2 ? RDMA2_F_MORE : 0));
			sum += s->sent[m].len - HEADER;
		}
		assert_int_equal(sum, 9000);
		raw_end(s);
	}
}

/* [R5], V2-6.4-05, V2-7.3.5-01: 9000 octets are wanted, none are had. */
static void long_replies_at_level_1_are_an_error(void **state)
{
	struct side *s = client_of(1);

	s->on_request = answer_long;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	raw_expect(s, ERR("00000055", "0000000a 00002328"));
	raw_expect_silence(s);
	s->on_request = raw_answer_call;
	raw_expect_service(s);
	raw_end(s);
}

/* One item of 600 octets. */
static void answer_item(struct side *s, struct rr_request *r)
{
	static uint8_t words[20], item[600];
	const struct rr_piece p[2] = {{words, 20, false}, {item, 600, true}};

	raw_octets("00000000 00000001 00000000 00000000 00000258", words, 20);
	rr_store_u32(words, r->xid);
	rr_conn_reply(s->c, r, p, 2, s->now);
}

/* V2-4.5.4-01, [R6]: the client writes into the server's memory. */
static void level_3_writes_items_and_long_replies(void **state)
{
	struct side *s = client_of(3);

	s->on_request = answer_item;
	raw_receive(s, "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                       "000000ab",
	                       "00000400") "00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].handle, 0xab);
	assert_int_equal(s->writes[0].len, 600);
	raw_expect(
	        s,
	        "00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
	                "000000ab",
	                "00000258") "00000000 00000000" REPLY("00000055") "00000258");
	s->on_request = answer_long;
	raw_receive(s,
	            "00000056" MSG "00000000 00000000 00000000 00000001 00000001" SEG(
	                    "000000ac", "00004000") CALL("00000056"));
	assert_int_equal(s->n_writes, 2);
	assert_int_equal(s->writes[1].handle, 0xac);
	assert_int_equal(s->writes[1].len, 9000);
	raw_expect(s, "00000056" NOMSG_REPLY
	              "00000000 00000000 00000000 00000001 00000001" SEG("000000ac",
	                                                                 "00002328"));
	raw_end(s);
}

/* -- equal XIDs ------------------------------------------------------------ */

/* V2-3.1.3.4-01, -04, V2-6.2.2.1-05: the flag tells them apart, on both ends. */
static void one_xid_both_ways_is_two_transactions(void **state)
{
	for (unsigned server = 0; server < 2; server++) {
		struct side *s = server ? server_of(levels[1], NULL) : client_of(1);
		struct call k;

		s->on_request = raw_answer_call;
		start_call(s, &k, XID, 0, 0, 0);
		side_forget_sent(s);
		raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
		assert_int_equal(s->requested, 1);
		assert_int_equal(k.ended, 0);
		raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
		raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
		assert_int_equal(k.ended, 1);
		assert_int_equal(k.status, RR_CALL_OK);
		assert_int_equal(s->requested, 1);
		raw_expect_silence(s);
		raw_end(s);
	}
}

/* V2-3.1.3.4-02: two Calls of one Requester are told apart by nothing else. */
static void one_xid_twice_one_way_is_misuse(void **state)
{
	struct side *s = server_of(levels[1], NULL);
	struct call k, again = {0};

	start_call(s, &k, XID, 0, 0, 0);
	again.call = k.call;
	assert_int_equal(rr_conn_call(s->c, &again.call, s->now), -EINVAL);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k.status, RR_CALL_OK);
	start_call(s, &k, XID, 0, 0, 0); /* free again */
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_plain_call_at_every_level),
	        cmocka_unit_test(no_call_before_the_client_has_told_its_level),
	        cmocka_unit_test(clients_without_support_are_not_called),
	        cmocka_unit_test(level_1_takes_what_fits_one_message),
	        cmocka_unit_test(below_level_3_no_chunk_is_offered),
	        cmocka_unit_test(level_2_continues_long_calls),
	        cmocka_unit_test(level_3_offers_chunks),
	        cmocka_unit_test(level_3_takes_special_calls),
	        cmocka_unit_test(below_level_3_special_calls_travel_inline),
	        cmocka_unit_test(invalidation_is_asked_for_if_it_can_be_had),
	        cmocka_unit_test(calls_obey_the_threshold_towards_the_client),
	        cmocka_unit_test(a_reply_whose_xids_differ_fails_the_call),
	        cmocka_unit_test(errors_end_calls_in_reverse),
	        cmocka_unit_test(the_level_is_property_5_of_a_client),
	        cmocka_unit_test(a_server_does_not_send_property_5),
	        cmocka_unit_test(a_reply_has_the_xid_of_its_call),
	        cmocka_unit_test(long_replies_are_continued_from_level_2_on),
	        cmocka_unit_test(long_replies_at_level_1_are_an_error),
	        cmocka_unit_test(level_3_writes_items_and_long_replies),
	        cmocka_unit_test(one_xid_both_ways_is_two_transactions),
	        cmocka_unit_test(one_xid_twice_one_way_is_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
