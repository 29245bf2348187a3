/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server with the feature RTR whose client is octets laid out by hand: groups that
 * break each rule of [ext §5.7], headers that do not decode, limits, and reports.
 */
#include "test_conn_rtr.h"

#define NO_ITEMS "00000000 00000000 00000000 00000000 "
#define PLAIN    NO_ITEMS "00000001 00000001 00000018 " /* count, rsbuf, pslen */
#define ANSWER   "00000000 00000000 00000001 00000010 "
#define TBSN_8K  "00000000 00000001 00000018 00002000 00000002 "
#define TAIL     "00000000 00000000 00000001 00000001 00000018 "
#define LEAD(n)  X XREQ NO_ITEMS n " 00000001 00000008 " X " 00000000 "
#define REST(k)  X XCONT k " ffffff15 00000000 "
#define LAST(k)  X XCONT k " ffffff15 00000010 00000002 000186a3 00000003 00000000 "
#define TWO_IN_ONE                                                                     \
	"00000000 00000002 "                                                           \
	"0000000c 00001000 00000002 00000000 00000001 00000000 "                       \
	"00001018 00001000 00000002 00001000 00000001 00000000 "
#define PEER "00000004 " RTR_PROPS

static struct rr_conn_config config(void)
{
	struct rr_conn_config g = {
	        .recv_bytes = 4096,
	        .send_bytes = 4096,
	        .features = {.on = 1u << RR_FEATURE_RTR,
	                     .rtr_segments = 1,
	                     .rtr_segment_bytes = 8192,
	                     .rtr_requests = 4},
	};

	return g;
}

static struct side *new_server(void)
{
	const struct rr_conn_config g = config();
	struct side *s = raw_ready_by(RR_CONN_SERVER, &g, PEER);

	s->on_request = raw_answer_call;
	return s;
}

static void expect_unserved(struct side *s)
{
	unsigned served = s->requested;

	raw_expect_silence(s);
	raw_expect_service(s);
	assert_int_equal(s->requested, served + 1);
}

/* -- requests -------------------------------------------------------------- */

/* NS-s22-01, NS-rtrext-07: the response has the type that answers the request's. */
static void a_request_is_answered_in_kind(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, X XRESP ANSWER REPLY(X));
	raw_receive(s, X MSG EMPTY CALL(X));
	raw_expect(s, X MSG_REPLY EMPTY REPLY(X));
	expect_unserved(s);
	raw_end(s);
}

/* NS-s14-04, NS-s16-05, NS-s17-04, NS-s21-03, NS-rtrext-02 */
static void malformed_requests_are_refused(void **state)
{
	static const char *const body[] = {
	        NO_ITEMS "00000000 00000001 00000018 ", /* no transmissions */
	        NO_ITEMS "00000001 00000000 00000018 ", /* nothing reserved */
	        "00000000 00000001 00000016 00000004 00000002 00000000 00000001 "
	        "00000000 " TAIL, /* not at a multiple of four */
	        "00000000 00000002 "
	        "00000018 00000004 00000002 00000000 00000001 00000000 "
	        "00000010 00000004 00000002 00000000 00000001 00000000 " TAIL,
	        "00000000 00000002 "
	        "00000010 00000005 00000002 00000000 00000001 00000000 "
	        "00000014 00000004 00000002 00000000 00000001 00000000 " TAIL,
	        "00000000 00000001 00000018 00000004 00000005 " TAIL, /* TOOSHORT */
	        "00000000 00000001 00000000 00000000 00000006 " TAIL, /* NOITEM */
	        "00000000 00000001 00000018 00000004 00000003 00000000 " TAIL,
	        "00000000 00000001 00000018 00000004 00000004 00000000 00000000 " TAIL,
	        "00000000 00000001 00000000 00000018 00000002 00000000 00000000 " TAIL,
	        "00000000 00000000 00000002 00000010 00000020 00000000 "
	        "0000001c 00000030 00000000 00000000 00000001 00000001 00000018 ",
	        "00000000 00000000 00000002 00000040 00000050 00000000 "
	        "00000010 00000020 00000000 00000000 00000001 00000001 00000018 ",
	        "00000000 00000000 00000001 00000010 00000010 00000000 "
	        "00000000 00000001 00000001 00000018 ",
	        "00000000 00000000 00000001 00000010 00000020 00000001 "
	        "00000000 00000005 00000000 00000001 00000001 00000018 ",
	        "00000000 00000000 00000001 00000010 00000020 00000001 "
	        "00000000 00000006 00000000 00000001 00000001 00000018 ",
	        "ffffffff ffffffff ",
	};
	struct side *s = new_server();

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(body); i++) {
		char hex[800];

		strcpy(hex, X XREQ);
		strcat(hex, body[i]);
		raw_receive(s, strcat(hex, CALL(X)));
		raw_expect(s, BAD_XDR(X));
		expect_unserved(s);
	}
	raw_receive(s, X V2 "ffffff15 00000001 " PLAIN CALL(X)); /* a response */
	expect_unserved(s);
	raw_receive(s, X V2 "ffffff16 00000000 " ANSWER REPLY(X));
	raw_expect(s, BAD_XDR(X));
	raw_receive(s, X XREQ NO_ITEMS "00000001 00000001 00000010 " REPLY(X));
	raw_expect(s, BAD_XDR(X));
	raw_receive(s, X XREQ "00000000 00000001 00000040 00000000 00000002 00000000 "
	                      "00000000 " TAIL CALL(X)); /* beyond the stream */
	raw_expect(s, BAD_XDR(X));
	expect_unserved(s);
	raw_end(s);
}

/* NS-s13-02, NS-s14-02: refused before execution, with the number that is possible. */
static void too_many_of_anything_is_refused(void **state)
{
	struct side *s = new_server();
	char hex[40000], *end;

	(void)state;
	strcpy(hex, X XREQ "00000000 00000000 00000001 00000000 ffffffff 00000100 ");
	end = raw_repeat(hex + strlen(hex), "00000000 00000002 ", 256);
	strcpy(end, "00000000 00000001 00000001 00000018 " CALL(X));
	raw_receive(s, hex);
	raw_expect(s, ERR(X, "00000007 00000010"));
	strcpy(hex, X XREQ "00000000 00000011 ");
	end = hex + strlen(hex);
	for (unsigned i = 0; i < 17; i++)
		end += sprintf(end, "%08x 00000000 00000002 00000000 00000000 ",
		               0x18 + 4 * i);
	strcpy(end, TAIL CALL(X));
	raw_receive(s, hex);
	raw_expect(s, ERR(X, "00000006 00000010"));
	strcpy(hex, X XREQ "00000000 00000001 00000018 00000110 00000001 00000011 ");
	end = raw_repeat(hex + strlen(hex), SEG("000000aa", "00000010"), 17);
	strcpy(end, TAIL CALL(X));
	raw_receive(s, hex);
	raw_expect(s, ERR(X, "00000008 00000010"));
	expect_unserved(s);
	raw_end(s);
}

/* Sets without directions, and a Reply chunk that the response's header has no room
 * for. */
static void too_long_lists_are_refused(void **state)
{
	struct rr_conn_config g = config();
	struct side *s = new_server();
	char hex[4000], *end;

	(void)state;
	strcpy(hex, X XREQ "00000000 00000000 00000011 ");
	end = hex + strlen(hex);
	for (unsigned i = 0; i < 17; i++)
		end += sprintf(end, "%08x %08x 00000000 ", i, i + 1);
	strcpy(end, "00000000 00000001 00000001 00000018 " CALL(X));
	raw_receive(s, hex);
	raw_expect(s, ERR(X, "00000007 00000010"));
	expect_unserved(s);
	raw_end(s);
	g.max_segments = 64;
	s = raw_ready_by(RR_CONN_SERVER, &g,
	                 "00000002 00000002 00000004 00000400 " /* short Receives */
	                 "ffffff13 00000004 0000000f ");
	s->on_request = raw_answer_call;
	strcpy(hex, X XREQ "00000000 00000000 00000000 00000001 0000003f ");
	end = raw_repeat(hex + strlen(hex), SEG("000000aa", "00000010"), 63);
	strcpy(end, "00000001 00000001 00000018 " CALL(X));
	raw_receive(s, hex);
	raw_expect(s, ERR(X, "00000007 00000000"));
	expect_unserved(s);
	raw_end(s);
}

/* An end that cannot post RDMA Reads takes no item by explicit RDMA. */
static void items_that_cannot_be_read_are_refused(void **state)
{
	struct side *s = new_server();

	(void)state;
	rr_conn_cannot_read(s->c);
	raw_receive(s,
	            X XREQ "00000000 00000001 0000000c 00000100 00000001 00000001 " SEG(
	                    "000000aa", "00000100") TAIL CALL(X));
	raw_expect(s, ERR(X, "00000006 00000000"));
	expect_unserved(s);
	raw_end(s);
}

/* The first transmission of a message longer than is allowed; a group that memory does
 * not suffice for; and the copy of the second of two items. */
static void too_long_messages_are_refused(void **state)
{
	struct rr_conn_config g = config();
	struct side *s;

	(void)state;
	g.max_held_bytes = 6000;
	s = raw_ready_by(RR_CONN_SERVER, &g, PEER);
	s->on_request = raw_answer_call;
	raw_receive(s, LEAD("00000002"));
	raw_expect(s, SYSTEM(X));
	raw_receive(s, LAST("00000001"));
	expect_unserved(s);
	rtr_receive_long(s, X XREQ TWO_IN_ONE TAIL CALL(X), RTR_BUFFER);
	raw_expect(s, SYSTEM(X));
	expect_unserved(s);
	raw_end(s);
	s = new_server();
	raw_receive(s,
	            X XREQ "00000000 00000001 0000000c 7ffffffc 00000001 00000001 " SEG(
	                    "000000aa", "7ffffffc") "00000000 00000000 00000002 "
	                                            "00000001 00000018 " CALL(X));
	raw_expect(s, SYSTEM(X));
	raw_receive(s, REST("00000001"));
	expect_unserved(s);
	raw_end(s);
}

/* More segment numbers than any group of ours has. */
static void too_many_numbers_are_refused(void **state)
{
	struct side *s = new_server();
	char hex[8000], *end;

	(void)state;
	strcpy(hex, X XREQ TBSN_8K "00000000 00000101 ");
	end = raw_repeat(hex + strlen(hex), "00000000 ", 257);
	strcpy(end, TAIL CALL(X));
	raw_receive(s, hex);
	raw_expect(s, SYSTEM(X));
	expect_unserved(s);
	raw_end(s);
}

/* -- groups ---------------------------------------------------------------- */

/* NS-rtrext-08, NS-s19-04 */
static void streams_of_a_group_are_joined(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, LEAD("00000003"));
	raw_receive(s, REST("00000001"));
	raw_expect_silence(s);
	raw_receive(s, LAST("00000002"));
	raw_expect(s, X XRESP ANSWER REPLY(X));
	expect_unserved(s);
	raw_end(s);
}

/* NS-rtrext-10, NS-rtrext-24: one report each, and the next Call works. */
static void misplaced_continuations_are_reported_once(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, LEAD("00000004"));
	raw_receive(s, "00000056" XCONT "00000001 ffffff15 00000000 ");
	raw_expect(s, "00000056" REPORT "00000056 00000000 00000001 00000001 " X
	              " 00000000 00000000 00000005 " X " 00000056");
	raw_receive(s, "00000056" XCONT "00000002 ffffff15 00000000 ");
	raw_receive(s, "00000056" XCONT "00000003 ffffff15 00000000 ");
	expect_unserved(s);
	raw_receive(s, LEAD("00000004"));
	raw_receive(s, X XCONT "00000001 ffffff16 00000000 ");
	raw_expect(s, X REPORT X " 00000000 00000001 00000001 " X
	                         " 00000000 00000000 00000002 ffffff15 ffffff16");
	raw_receive(s, REST("00000002"));
	expect_unserved(s);
	raw_receive(s, LEAD("00000004"));
	raw_receive(s, REST("00000002"));
	raw_expect(s, X REPORT X " 00000000 00000001 00000001 " X
	                         " 00000000 00000000 00000004 00000001 00000002");
	raw_receive(s, REST("00000003"));
	expect_unserved(s);
	raw_receive(s, REST("00000001"));
	raw_expect(s, X REPORT X " 00000000 00000001 00000000 00000003");
	raw_receive(s, REST("00000002"));
	expect_unserved(s);
	raw_end(s);
}

/* NS-rtrext-11: the message is handled, the group is not. */
static void another_message_ends_a_group(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, LEAD("00000002"));
	raw_receive(s, "00000056" MSG EMPTY CALL("00000056"));
	raw_expect(s, "00000056" REPORT "00000056 00000000 00000001 00000001 " X
	              " 00000000 00000000 00000001 ffffff17 00000000");
	raw_expect(s, "00000056" MSG_REPLY EMPTY REPLY("00000056"));
	raw_receive(s, LAST("00000001"));
	expect_unserved(s);
	raw_receive(s, LEAD("00000002"));
	raw_receive(s, "00000056" XREQ PLAIN CALL("00000056"));
	raw_expect(s, "00000056" REPORT "00000056 00000000 00000001 00000001 " X
	              " 00000000 00000000 00000002 ffffff17 ffffff15");
	raw_expect(s, "00000056" XRESP ANSWER REPLY("00000056"));
	raw_receive(s, LAST("00000001"));
	expect_unserved(s);
	raw_receive(s, LEAD("00000002")); /* no report about a report */
	raw_receive(s,
	            "00000057" REPORT_R "00000057 00000001 00000000 00000000 00000003");
	raw_expect(s, INVAL_CONT(X));
	expect_unserved(s);
	raw_end(s);
}

/* A group in the middle of a sequence of the base protocol. */
static void a_sequence_takes_no_group(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, "00000056" MSG_MORE EMPTY "00000056 00000000 ");
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, INVAL_CONT(X));
	raw_receive(s, "00000056" MSG EMPTY "00000002 000186a3 00000003 00000000 ");
	raw_expect(s, "00000056" MSG_REPLY EMPTY REPLY("00000056"));
	expect_unserved(s);
	raw_end(s);
}

/* NS-s20-02: more transmissions than we accept. */
static void too_long_a_group_is_reported(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, LEAD("00000005"));
	raw_expect(s,
	           X REPORT X " 00000000 00000000 00000000 00000004 00000004 00000005");
	raw_receive(s, REST("00000001"));
	expect_unserved(s);
	raw_end(s);
}

static void an_undecodable_continuation_ends_its_group(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s, LEAD("00000003"));
	raw_receive(s, X XCONT "00000001 ffffff15 ");
	raw_expect(s, BAD_XDR(X));
	raw_receive(s, LAST("00000002"));
	expect_unserved(s);
	raw_receive(s, LEAD("00000003"));
	raw_receive(s, "00000056" XCONT "00000001 "); /* of no group */
	raw_expect(s, BAD_XDR("00000056"));
	raw_receive(s, REST("00000001"));
	raw_receive(s, LAST("00000002"));
	raw_expect(s, X XRESP ANSWER REPLY(X));
	raw_receive(s, X XCONT "00000001 "); /* without a group */
	raw_expect(s, BAD_XDR(X));
	expect_unserved(s);
	raw_end(s);
}

/* -- placement ------------------------------------------------------------- */

/* NS-rtrext-12 */
static void misplaced_items_are_reported(void **state)
{
	static const struct {
		const char *where, *report;
	} bad[] = {
	        {"00000000 00000001 00000009 ", "00000007 00000009 00000000 00000000"},
	        {"00002000 00000001 00000000 ", "00000006 00002000 00000000 00001fff"},
	        {"00000002 00000001 00000000 ", "00000006 00000002 00000000 00001fff"},
	        {"00000000 00000000 ", "00000007 00000000 00000001 00000001"},
	        {"00000000 00000002 00000000 00000000 ",
	         "00000007 00000002 00000001 00000001"},
	};
	struct side *s = new_server();

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		char hex[800], want[200];

		strcpy(hex, X XREQ TBSN_8K);
		strcat(strcat(strcat(hex, bad[i].where), TAIL), CALL(X));
		rtr_receive_long(s, hex, RTR_BUFFER);
		strcpy(want, X REPORT X " 00000000 00000000 00000000 ");
		raw_expect(s, strcat(want, bad[i].report));
		expect_unserved(s);
	}
	raw_receive(s, X XREQ NO_ITEMS "00000001 00000001 0000001c " CALL(X));
	raw_expect(s,
	           X REPORT X " 00000000 00000000 00000000 00000008 0000001c 00000000 "
	                      "00000018");
	rtr_receive_long(s, X XREQ TBSN_8K "00000000 00000001 00000000 " TAIL CALL(X),
	                 RTR_BUFFER - 4);
	raw_expect(s,
	           X REPORT X " 00000000 00000000 00000000 00000007 00000000 00000000 "
	                      "00000000");
	expect_unserved(s);
	raw_receive(s, X XREQ TBSN_8K "00000000 00000001 00000009 00000000 00000000 "
	                              "00000002 00000001 00000008 " X " 00000000 ");
	raw_receive(s, LAST("00000001")); /* the report names the group */
	raw_expect(s, X REPORT X " 00000000 00000000 00000001 " X
	                         " 00000000 00000000 00000007 00000009 00000000 "
	                         "00000001");
	expect_unserved(s);
	raw_end(s);
}

static unsigned n_items;
static size_t item_octets;

static void note_items(struct side *s, struct rr_request *r)
{
	n_items = 0;
	item_octets = 0;
	for (unsigned i = 0; i < r->n_pieces; i++) {
		n_items += r->pieces[i].item;
		item_octets += r->pieces[i].item ? r->pieces[i].len : 0;
	}
	raw_answer_call(s, r);
}

static uint64_t octets_copied(const struct side *s)
{
	struct rr_conn_counters k;

	rr_conn_counters(s->c, &k);
	return k.bytes_copied;
}

/* NS-s16-02: copied, so that the segment is free at once. */
static void small_items_are_copied(void **state)
{
	struct side *s = new_server();

	(void)state;
	s->on_request = note_items;
	rtr_receive_long(s, X XREQ TBSN_8K "00000000 00000001 00000000 " TAIL CALL(X),
	                 RTR_BUFFER);
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(octets_copied(s), 0);
	assert_int_equal(item_octets, 8192);
	rtr_receive_long(s,
	                 X XREQ "00000000 00000001 00000018 00000004 00000002 00000000 "
	                        "00000001 00000000 " TAIL CALL(X),
	                 1028);
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(octets_copied(s), 4);
	rtr_receive_long(s, X XREQ TWO_IN_ONE TAIL CALL(X), RTR_BUFFER);
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(n_items, 2);
	assert_int_equal(octets_copied(s), 4 + 8192);
	raw_end(s);
}

/* NS-s13-01, NS-s15-01: one item is pulled, the other was sent. */
static void both_kinds_of_items_mix(void **state)
{
	struct side *s = new_server();

	(void)state;
	s->on_request = note_items;
	rtr_receive_long(
	        s,
	        X XREQ
	        "00000000 00000002 "
	        "0000000c 00000100 00000001 00000001 " SEG(
	                "000000aa", "00000100") "00000118 00002000 00000002 00000000 "
	                                        "00000001 00000000 " TAIL CALL(X),
	        RTR_BUFFER);
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(n_items, 2);
	assert_int_equal(item_octets, 0x100 + 8192);
	assert_int_equal(s->n_reads, 1);
	raw_end(s);
}

/* An empty item may have the position of the next one. */
static void empty_items_are_nothing(void **state)
{
	struct side *s = new_server();

	(void)state;
	s->on_request = note_items;
	raw_receive(s, X XREQ
	            "00000000 00000003 "
	            "0000000c 00000000 00000001 00000001 " SEG(
	                    "000000aa",
	                    "00000000") "0000000c 00000000 00000001 00000000 "
	                                "0000000c 00000100 00000001 00000001 " SEG(
	                                        "000000aa", "00000100") TAIL CALL(X));
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(n_items, 1);
	assert_int_equal(item_octets, 0x100);
	s->mem_fail_at = 1; /* an item placed by Send, before one that stays in place */
	rtr_receive_long(
	        s,
	        X XREQ
	        "00000000 00000002 "
	        "00000018 00000000 00000002 00000000 00000000 "
	        "00000018 00002000 00000002 00000000 00000001 00000000 " TAIL CALL(X),
	        RTR_BUFFER);
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(s->mem_fail_at, 1);
	s->mem_fail_at = 0;
	assert_int_equal(n_items, 1);
	assert_int_equal(item_octets, 8192);
	assert_int_equal(octets_copied(s), 0);
	raw_end(s);
}

/* A body is at least an RPC header; nothing is read of a shorter one. */
static void an_empty_body_is_refused(void **state)
{
	static const char *const body[] = {
	        "00000000 00000000 00000001 00000000 ",
	        "00000000 00000000 00000001 00000001 " SEG("000000aa", "00000000"),
	        "00000000 00000004 00000001 00000001 " SEG("000000aa", "00000004"),
	};
	struct side *s = new_server();

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(body); i++) {
		char hex[400] = X XREQ "00000000 00000001 ";

		strcat(strcat(hex, body[i]),
		       "00000000 00000000 00000001 00000001 00000000 ");
		raw_receive(s, hex);
		raw_expect(s, BAD_XDR(X));
		expect_unserved(s);
	}
	assert_int_equal(s->n_reads, 0);
	raw_end(s);
}

/* A body that is read, with an item that was sent and is copied. */
static void a_body_may_have_a_small_item(void **state)
{
	struct side *s = new_server();
	uint8_t body[0x100] = {0};

	(void)state;
	raw_octets(CALL(X), body, sizeof(body));
	s->read_from = body;
	s->on_request = note_items;
	rtr_receive_long(
	        s,
	        X XREQ
	        "00000000 00000002 "
	        "00000000 00000100 00000001 00000001 " SEG(
	                "000000aa", "00000100") "00000018 00000004 00000002 00000000 "
	                                        "00000001 00000000 "
	                                        "00000000 00000000 00000001 "
	                                        "00000001 00000000 ",
	        1028);
	raw_expect(s, X XRESP ANSWER REPLY(X));
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(n_items, 1);
	assert_int_equal(item_octets, 4);
	raw_end(s);
}

/* An item within the XID or the message type. */
static void items_in_the_rpc_header_are_refused(void **state)
{
	struct side *s = new_server();

	(void)state;
	raw_receive(s,
	            X XREQ "00000000 00000001 00000004 00000100 00000001 00000001 " SEG(
	                    "000000aa", "00000100") TAIL CALL(X));
	raw_expect(s, BAD_XDR(X));
	assert_int_equal(s->n_reads, 0);
	expect_unserved(s);
	raw_end(s);
}

/* NS-s12-06: every Receive takes as much as the structure says, and has its alignment. */
static void every_receive_has_the_structure(void **state)
{
	struct side *s = new_server();

	(void)state;
	for (unsigned i = s->posted_head; i != s->posted_tail; i++)
		assert_int_equal(
		        ((uintptr_t)s->posted_base[i % SIDE_QUEUE] + 1024) % 4096, 0);
	for (unsigned i = 0; i < 200; i++) {
		rtr_receive_long(
		        s, X XREQ TBSN_8K "00000000 00000001 00000000 " TAIL CALL(X),
		        RTR_BUFFER);
		raw_expect(s, X XRESP ANSWER REPLY(X));
	}
	raw_end(s);
}

/* -- responses ------------------------------------------------------------- */

static uint8_t result[3][8192];

/* Answers with three items, of 100, 100 and 8192 octets. */
static void answer_items(struct side *s, struct rr_request *r)
{
	static uint8_t words[8];
	const struct rr_piece p[] = {
	        {.base = words, .len = 8},
	        {.base = result[0], .len = 100, .item = true, .position = 0x20},
	        {.base = result[1], .len = 100, .item = true, .position = 0x40},
	        {.base = result[2], .len = 8192, .item = true, .position = 0x60},
	};

	rr_store_u32(words, r->xid);
	rr_store_u32(words + 4, 1);
	rr_conn_reply(s->c, r, p, 4, s->now);
}

/* NS-rtrext-20 */
static void too_short_segments_are_an_error(void **state)
{
	struct side *s = new_server();

	(void)state;
	s->on_request = answer_items;
	raw_receive(s, X XREQ
	            "00000000 00000000 00000001 00000000 ffffffff 00000003 "
	            "00001000 00000002 00001000 00000002 "
	            "00000000 00000001 00000001 " SEG(
	                    "000000aa",
	                    "00001000") "00000000 00000001 00000001 00000018 " CALL(X));
	raw_expect(s, ERR(X, "00000009 00000003 00002000"));
	assert_int_equal(s->n_writes, 0);
	s->on_request = raw_answer_call;
	expect_unserved(s);
	raw_end(s);
}

/* NS-s17-02, NS-s17-03, NS-s16-03: a set without a result does not shift the others. */
static void results_belong_to_their_ranges(void **state)
{
	struct side *s = new_server();
	const struct side_msg *m;

	(void)state;
	s->on_request = answer_items;
	raw_receive(s, X XREQ
	            "00000000 00000000 00000003 "
	            "00000010 00000020 00000001 00000000 00000002 "
	            "00000040 00000050 00000002 00000000 00000002 00000000 00000002 "
	            "00000060 00000070 00000001 00000000 00000002 "
	            "00000000 00000001 00000002 00000018 " CALL(X));
	assert_int_equal(s->n_sent, 2);
	m = &s->sent[0]; /* NOITEM, item of 100 octets, NOITEM, ... */
	assert_int_equal(rr_load_u32(m->p + 12), 0xffffff18 - 2);
	assert_int_equal(rr_load_u32(m->p + 20), 4);
	assert_int_equal(rr_load_u32(m->p + 24 + 8), 6);
	assert_int_equal(rr_load_u32(m->p + 36), 8 + 100);
	assert_int_equal(rr_load_u32(m->p + 36 + 4), 100);
	assert_int_equal(rr_load_u32(m->p + 36 + 8), 2);
	raw_end(s);
}

static void skip_grants(struct side *s)
{
	while (s->n_sent) {
		assert_int_equal(rr_load_u32(s->sent[0].p), 0);
		raw_skip(s);
	}
}

/* NS-rtrext-15: the error for a response that was sent lately, once; nothing for any
 * other. */
static void reports_are_answered_once(void **state)
{
	struct side *s = new_server();
	char hex[200];

	(void)state;
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, X XRESP ANSWER REPLY(X));
	raw_receive(s, X REPORT_R X " 00000001 00000000 00000000 00000003");
	raw_expect(s, SYSTEM(X));
	raw_receive(s, X REPORT_R X " 00000001 00000000 00000000 00000003");
	raw_expect_silence(s);
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, X XRESP ANSWER REPLY(X));
	raw_receive(s, "00000057" REPORT_R "00000057 00000001 00000001 00000001 " X
	               " 00000001 00000000 00000005 " X " 00000057");
	raw_expect(s, SYSTEM(X)); /* the group is X */
	for (unsigned i = 0; i < 1000; i++) {
		sprintf(hex, "%08x" REPORT_R X " 00000001 00000000 00000000 00000003",
		        i * 7919 + 0x100);
		raw_receive(s, hex);
		skip_grants(s);
	}
	raw_receive(s,
	            X REPORT_R X " 00000001 00000000 00000000 00000009");  /* unknown */
	raw_receive(s, X REPORT X " 00000000 00000000 00000000 00000003"); /* no call */
	skip_grants(s);
	expect_unserved(s);
	raw_end(s);
}

#define FAULTY X XREQ NO_ITEMS "00000001 00000001 0000001c " CALL(X)

/* As many reports can wait as there is room for; one more ends the connection. */
static void too_many_reports_end_the_connection(void **state)
{
	(void)state;
	for (unsigned n = 32; n <= 33; n++) {
		struct side *s = new_server();

		for (unsigned i = 0; i < n; i++)
			raw_receive_undrawn(s, FAULTY);
		side_drain(s);
		if (n == 33) {
			raw_expect_close(s, -EPROTO);
		} else {
			assert_false(s->disconnect);
			assert_true(s->n_sent >= 32);
		}
		raw_end(s);
	}
}

static void no_memory_for_a_report(void **state)
{
	static uint8_t buf[SIDE_MSG];
	struct side *s = new_server();
	size_t len = raw_octets(FAULTY, buf, sizeof(buf));

	(void)state;
	side_receive(s, buf, len, 0); /* its report does not complete */
	raw_skip(s);
	s->mem_fail_at = 1;
	side_receive(s, buf, len, 0);
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect_close(s, -ENOMEM);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

static void no_memory_for_the_first_report(void **state)
{
	static uint8_t buf[SIDE_MSG];
	struct side *s = new_server();
	size_t len = raw_octets(FAULTY, buf, sizeof(buf));

	(void)state;
	s->mem_fail_at = 3; /* the first ones are for the group */
	side_receive(s, buf, len, 0);
	assert_int_equal(s->mem_fail_at, 0);
	raw_expect_close(s, -EPROTO);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

/* -- properties ------------------------------------------------------------ */

/* NS-rtrext-03, NS-xcharext-02 */
static void faulty_properties_are_refused(void **state)
{
	static const char *const props[] = {
	        "00000001 ffffff13 00000002 00010000 ",          /* truncated */
	        "00000001 ffffff13 00000008 00000003 00000000 ", /* too long */
	        "00000001 ffffff13 00000004 00000001 ",          /* XREQ alone */
	        "00000001 ffffff13 00000004 0000000c ",
	        "00000001 ffffff15 00000002 00010000 ",
	        "00000001 ffffff14 00000018 00000800 00000001 00000001 00000400 "
	        "00000004 "
	        "00000000 ", /* another sum */
	        "00000001 ffffff14 00000018 00000400 00000001 00000000 00000400 "
	        "00000004 "
	        "00000000 ", /* no segments */
	        "00000001 ffffff14 00000018 00000400 00000001 00000001 00000000 "
	        "00000004 "
	        "00000000 ", /* empty segments */
	        "00000001 ffffff14 00000018 00000400 00000001 00000001 00000400 "
	        "00000003 "
	        "00000000 ", /* no power of two */
	        "00000002 00000002 00000004 00000800 "
	        "ffffff14 00000018 00000400 00000001 00000001 00000400 00000004 "
	        "00000000 ", /* shorter than RBSIZ */
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(props); i++) {
		const struct rr_conn_config g = config();
		struct side *s = raw_new(RR_CONN_SERVER, &g);
		char hex[400] = "00000077 00000002 00200020 00000005 00000000 ";
		struct rr_conn_info info;

		raw_receive(s, strcat(hex, props[i]));
		raw_skip(s); /* our properties */
		raw_expect(s, ERR("00000077", "00000003"));
		rr_conn_info(s->c, &info);
		assert_int_equal(info.features, 0);
		raw_end(s);
	}
}

/* NS-rtrext-04: without RBSIZ, base messages may be as long as the structure. */
static void a_structure_alone_is_the_threshold(void **state)
{
	const struct rr_conn_config g = config();
	struct rr_conn_info info;
	struct side *s;

	(void)state;
	s = raw_ready_by(RR_CONN_SERVER, &g, PEER);
	rr_conn_info(s->c, &info);
	assert_int_equal(info.features, 1u << RR_FEATURE_RTR);
	assert_int_equal(info.send_inline, 9216);
	raw_end(s);
	s = raw_ready_by(
	        RR_CONN_SERVER, &g,
	        "00000003 ffffff77 00000004 12345678 00000002 00000004 00000800 "
	        "ffffff13 00000004 00000003 "); /* an unknown one is skipped */
	rr_conn_info(s->c, &info);
	assert_int_equal(info.features, 1u << RR_FEATURE_RTR);
	assert_int_equal(info.send_inline, 2048);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_request_is_answered_in_kind),
	        cmocka_unit_test(malformed_requests_are_refused),
	        cmocka_unit_test(too_many_of_anything_is_refused),
	        cmocka_unit_test(too_many_numbers_are_refused),
	        cmocka_unit_test(too_long_lists_are_refused),
	        cmocka_unit_test(items_that_cannot_be_read_are_refused),
	        cmocka_unit_test(too_long_messages_are_refused),
	        cmocka_unit_test(streams_of_a_group_are_joined),
	        cmocka_unit_test(misplaced_continuations_are_reported_once),
	        cmocka_unit_test(another_message_ends_a_group),
	        cmocka_unit_test(a_sequence_takes_no_group),
	        cmocka_unit_test(too_long_a_group_is_reported),
	        cmocka_unit_test(an_undecodable_continuation_ends_its_group),
	        cmocka_unit_test(misplaced_items_are_reported),
	        cmocka_unit_test(small_items_are_copied),
	        cmocka_unit_test(both_kinds_of_items_mix),
	        cmocka_unit_test(empty_items_are_nothing),
	        cmocka_unit_test(an_empty_body_is_refused),
	        cmocka_unit_test(a_body_may_have_a_small_item),
	        cmocka_unit_test(items_in_the_rpc_header_are_refused),
	        cmocka_unit_test(every_receive_has_the_structure),
	        cmocka_unit_test(too_short_segments_are_an_error),
	        cmocka_unit_test(results_belong_to_their_ranges),
	        cmocka_unit_test(reports_are_answered_once),
	        cmocka_unit_test(too_many_reports_end_the_connection),
	        cmocka_unit_test(no_memory_for_a_report),
	        cmocka_unit_test(no_memory_for_the_first_report),
	        cmocka_unit_test(faulty_properties_are_refused),
	        cmocka_unit_test(a_structure_alone_is_the_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
