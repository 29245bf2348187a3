/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder of the feature RTR: how a response is planned that does not fit, how it
 * waits for credits, and what a client serves in reverse at each level.  The peer is
 * octets laid out by hand.
 */
#include "test_conn_rtr.h"

#define NOTHING " 00000002 00200000 " /* grants no credit */
#define PEER    "00000004 " RTR_PROPS
#define WHOLE   "00000001 00000000 ffffffff " /* one set, for the whole message */
#define PLAIN   "00000000 00000000 00000000 00000000 00000001 00000001 00000018 "

enum { MAX_RESULT = 32768 };

static uint8_t payload[4096] = {0, 0, 0, 0x55, 0, 0, 0, 1};
static uint8_t data[MAX_RESULT];
static size_t payload_len, result[4];
static unsigned n_results;
static bool unreduced, no_send_results;
static rr_time keepalive; /* of the next server; 0 = never */

static void answer_results(struct side *s, struct rr_request *r)
{
	struct rr_piece p[5] = {{.base = payload, .len = payload_len}};

	if (r->xid != 0x55) {
		raw_answer_call(s, r);
		return;
	}
	r->unreduced = unreduced;
	for (unsigned i = 0; i < n_results; i++)
		p[1 + i] =
		        (struct rr_piece){.base = data, .len = result[i], .item = true};
	rr_conn_reply(s->c, r, p, 1 + n_results, s->now);
}

static struct side *new_server(uint32_t credits)
{
	const struct rr_conn_config g = {
	        .recv_bytes = 4096,
	        .send_bytes = 4096,
	        .credits = credits,
	        .keepalive_ns = keepalive,
	        .features = {.on = 1u << RR_FEATURE_RTR,
	                     .rtr_segments = 1,
	                     .rtr_segment_bytes = 8192,
	                     .rtr_no_send_results = no_send_results},
	};
	struct side *s = raw_ready_by(RR_CONN_SERVER, &g, PEER);

	s->on_request = answer_results;
	payload_len = 16;
	n_results = 0;
	unreduced = false;
	return s;
}

static void want_results(unsigned n, size_t a, size_t b, size_t c)
{
	n_results = n;
	result[0] = a;
	result[1] = b;
	result[2] = c;
}

static uint32_t sent_word(const struct side *s, unsigned m, unsigned i)
{
	assert_true(m < s->n_sent);
	return rr_load_u32(s->sent[m].p + 4 * i);
}

/* -- plans ----------------------------------------------------------------- */

#define CHOICE(len) "00000000 00000003 00000001 " SEG("000000aa", len)

/* NS-rtrext-21 */
static void the_longest_choice_is_written_first(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	want_results(3, 4096, 8192, 16384);
	raw_receive(s, X XREQ
	            "00000000 00000000 " WHOLE
	            "00000003 " CHOICE("00004000") CHOICE("00004000") CHOICE(
	                    "00004000") "00000000 00000001 00000002 00000018 " CALL(X));
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].len, 16384);
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
	assert_int_equal(sent_word(s, 1, 3), RTR_CONT);
	side_forget_sent(s);
	raw_receive(s, X XREQ
	            "00000000 00000000 " WHOLE
	            "00000003 " CHOICE("00004000") CHOICE("00004000") CHOICE(
	                    "00004000") "00000000 00000001 00000001 00000018 " CALL(X));
	assert_int_equal(s->n_writes, 3);
	assert_int_equal(s->writes[1].len, 8192);
	assert_int_equal(s->n_sent, 1);
	raw_end(s);
}

/* NS-rtrext-21: then the Reply chunk is used, then there is an error. */
static void a_payload_that_does_not_fit_is_written(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	payload_len = 2000;
	want_results(1, 8192, 0, 0);
	raw_receive(s,
	            X XREQ "00000000 00000000 " WHOLE "00000001 00000000 00000002 "
	                   "00000001 00000001 " SEG(
	                           "000000aa",
	                           "00001000") "00000001 00000001 00000018 " CALL(X));
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].len, 2000);
	assert_int_equal(s->n_sent, 1);
	raw_skip(s);
	raw_receive(s, X XREQ "00000000 00000000 " WHOLE "00000001 00000000 00000002 "
	                      "00000000 00000001 00000001 00000018 " CALL(X));
	raw_expect(s, ERR(X, "0000000a 000007d0"));
	raw_receive(s,
	            X XREQ "00000000 00000000 " WHOLE "00000001 00000000 00000002 "
	                   "00000001 00000001 " SEG(
	                           "000000aa",
	                           "00000100") "00000001 00000001 00000018 " CALL(X));
	raw_expect(s, ERR(X, "0000000a 000007d0"));
	want_results(1, 16384, 0, 0); /* no Reply chunk would help */
	raw_receive(s, X XREQ "00000000 00000000 " WHOLE "00000001 00000000 00000002 "
	                      "00000000 00000001 00000001 00000018 " CALL(X));
	raw_expect(s, ERR(X, "0000000a 00000000"));
	assert_int_equal(s->n_writes, 1);
	raw_end(s);
}

/* NS-s18-02: segments that are too small leave only the Send. */
static void a_choice_without_room_is_sent(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	want_results(2, 8192, 8192, 0);
	raw_receive(s, X XREQ
	            "00000000 00000000 " WHOLE "00000002 " CHOICE("00000100") CHOICE(
	                    "00004000") "00000000 00000001 00000001 00000018 " CALL(X));
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 8), 2);
	raw_end(s);
}

/* NS-rtrext-22: no result is excised, each direction has no item; results beyond the
 * directions stay inline, as do those without a set. */
static void results_may_stay_inline(void **state)
{
	static const char *const sets[] = {
	        WHOLE "00000001 00000000 00000002 ",
	        "00000001 00000010 00000020 00000001 00000000 00000002 ",
	        "00000001 00000000 00000020 00000001 00000000 00000002 ",
	};
	struct side *s = new_server(32);
	char hex[600];

	(void)state;
	want_results(1, 100, 0, 0);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(sets); i++) {
		unreduced = i == 0;
		strcpy(hex, X XREQ "00000000 00000000 ");
		strcat(strcat(hex, sets[i]), "00000000 00000001 00000001 00000018 ");
		raw_receive(s, strcat(hex, CALL(X)));
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(sent_word(s, 0, 5), 1);
		assert_int_equal(sent_word(s, 0, 8), 6); /* NOITEM */
		assert_int_equal(sent_word(s, 0, 11), 16 + 100);
		raw_skip(s);
	}
	raw_end(s);
}

/* A request without any set. */
static void results_without_a_set_stay_inline(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	want_results(1, 100, 0, 0);
	raw_receive(s, X XREQ PLAIN CALL(X));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
	assert_int_equal(sent_word(s, 0, 5), 0);
	assert_int_equal(sent_word(s, 0, 8), 16 + 100);
	raw_end(s);
}

/* The first of two results is placed by the only direction. */
static void results_beyond_the_directions_stay_inline(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	want_results(2, 4096, 100, 0);
	raw_receive(s, X XREQ "00000000 00000000 " WHOLE "00000001 00000000 00000002 "
	                      "00000000 00000001 00000001 00000018 " CALL(X));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 5), 1);
	assert_int_equal(sent_word(s, 0, 7), 4096);
	assert_int_equal(sent_word(s, 0, 8), 2); /* TBSN */
	assert_int_equal(sent_word(s, 0, 14), 16 + 100);
	raw_end(s);
}

/* The Responder has announced that it places no results by Send. */
static void a_choice_is_written_without_placement(void **state)
{
	struct side *s;

	(void)state;
	no_send_results = true;
	s = new_server(32);
	no_send_results = false;
	want_results(1, 4096, 0, 0);
	raw_receive(s,
	            X XREQ "00000000 00000000 " WHOLE "00000001 " CHOICE(
	                    "00004000") "00000000 00000001 00000001 00000018 " CALL(X));
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->writes[0].len, 4096);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 8), 1); /* EXRW */
	raw_end(s);
}

static void answer_in_many_pieces(struct side *s, struct rr_request *r)
{
	struct rr_piece p[RR_CALL_MAX_PIECES + 1];

	for (unsigned i = 0; i < RR_ARRAY_SIZE(p); i++)
		p[i] = (struct rr_piece){.base = payload, .len = 8};
	rr_conn_reply(s->c, r, p, RR_CALL_MAX_PIECES + (n_results > 0), s->now);
}

static void a_reply_has_a_limit_of_pieces(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	s->on_request = answer_in_many_pieces;
	raw_receive(s, X XREQ PLAIN CALL(X));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
	assert_int_equal(sent_word(s, 0, 8), 8 * RR_CALL_MAX_PIECES);
	raw_skip(s);
	n_results = 1;
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, SYSTEM(X));
	raw_end(s);
}

/* A reply that is not a whole number of words, or too short. */
static void a_reply_that_is_no_xdr_is_an_error(void **state)
{
	struct side *s = new_server(32);

	(void)state;
	payload_len = 15;
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, SYSTEM(X));
	payload_len = 4;
	raw_receive(s, X XREQ PLAIN CALL(X));
	raw_expect(s, SYSTEM(X));
	raw_end(s);
}

/* -- credits --------------------------------------------------------------- */

/* A server with one credit, and a response of three transmissions that waits. */
static struct side *new_waiting(const char *direction)
{
	struct side *s = new_server(4);
	char hex[800] =
	        X NOTHING "ffffff15 00000000 00000000 00000000 " WHOLE "00000001 ";

	for (unsigned i = 0; i < 2; i++) /* our properties took one */
		raw_receive(s, "00000056" NOTHING
		               "00000000 00000000 " EMPTY CALL("00000056"));
	want_results(1, 24576, 0, 0);
	strcat(strcat(hex, direction), "00000000 00000001 00000003 00000018 ");
	while (s->n_sent)
		raw_skip(s);
	raw_receive(s, strcat(hex, CALL(X)));
	assert_int_equal(s->n_sent, 0);
	return s;
}

/* Takes the oldest message, an error with this code. */
static void expect_error(struct side *s, uint32_t xid, uint32_t code)
{
	assert_int_equal(sent_word(s, 0, 0), xid);
	assert_int_equal(sent_word(s, 0, 3), 4);
	assert_int_equal(sent_word(s, 0, 5), code);
	raw_skip(s);
}

/* NS-s21-07: errors go before it, replies do not. */
static void a_response_waits_at_the_head(void **state)
{
	struct side *s = new_waiting("00000000 00000002 ");

	(void)state;
	raw_receive(s, "00000056" NOTHING "00000000 00000000 " EMPTY CALL("00000056"));
	assert_int_equal(s->n_sent, 0);
	raw_receive(s, "00000057" NOTHING "00000000 00000000 " EMPTY "00000057 ");
	expect_error(s, 0x57, RDMA2_ERR_BAD_XDR);
	raw_receive(s, "00000000 00000002 00200004 00000001 00000000 " EMPTY);
	assert_int_equal(s->n_sent, 4);
	assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
	assert_int_equal(sent_word(s, 1, 3), RTR_CONT);
	assert_int_equal(sent_word(s, 2, 3), RTR_CONT);
	assert_int_equal(sent_word(s, 3, 0), 0x56);
	raw_end(s);
}

/* After group_wait it is planned for the credits that there are. */
static void a_response_does_not_wait_for_ever(void **state)
{
	(void)state;
	for (unsigned choice = 0; choice < 2; choice++) {
		struct side *s =
		        new_waiting(choice ? CHOICE("00010000") : "00000000 00000002 ");

		s->now += RR_SEC(1);
		rr_conn_tick(s->c, s->now);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(s->n_writes, choice);
		if (choice)
			assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
		else
			expect_error(s, 0x55, RDMA2_ERR_REPLY_RESOURCE);
		raw_end(s);
	}
}

/* Without any credit, it waits beyond group_wait for the first one. */
static void a_response_is_overdue_without_a_credit(void **state)
{
	struct side *s = new_waiting(CHOICE("00010000"));

	(void)state;
	raw_receive(s, "00000057" NOTHING "00000000 00000000 " EMPTY "00000057 ");
	expect_error(s, 0x57, RDMA2_ERR_BAD_XDR); /* took the last credit */
	assert_int_equal(rr_conn_deadline(s->c), s->now + RR_SEC(1));
	s->now += RR_SEC(1);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	assert_int_equal(s->n_sent, 0);
	assert_true(rr_conn_deadline(s->c) > s->now);
	raw_receive(s, "00000000 00000002 00200001 00000001 00000000 " EMPTY);
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
	raw_end(s);
}

/* A grant message that is due, here as a keepalive, goes before it. */
static void a_grant_goes_before_a_response_that_waits(void **state)
{
	struct side *s;

	(void)state;
	keepalive = RR_MS(500);
	s = new_waiting("00000000 00000002 ");
	keepalive = 0;
	s->now += RR_MS(500);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(sent_word(s, 0, 0), 0);
	assert_int_equal(sent_word(s, 0, 3), 1);
	raw_skip(s);
	raw_receive(s, "00000000 00000002 00200004 00000001 00000000 " EMPTY);
	assert_int_equal(s->n_sent, 3);
	assert_int_equal(sent_word(s, 0, 3), RTR_RESP);
	raw_end(s);
}

/* The connection is lost while a response waits. */
static void a_response_that_waits_can_end(void **state)
{
	struct side *s = new_waiting("00000000 00000002 ");

	(void)state;
	side_lose(s, -ECONNRESET);
	assert_int_equal(s->requests_done, s->requested);
	raw_end(s);
}

/* -- reports --------------------------------------------------------------- */

/* A report about a response that was sent is answered by one error; any other, also with
 * the XID 0, is not answered. */
static void only_responses_sent_can_be_reported(void **state)
{
	static const char *const report[] = {
	        X REPORT_R X " 00000001 00000000 00000000 00000003",
	        "00000000" REPORT_R "00000000 00000001 00000000 00000000 00000003",
	        "00000056" REPORT_R "00000056 00000001 00000000 00000000 00000003",
	};
	struct side *s = new_server(32);

	(void)state;
	for (unsigned sent = 0; sent < 2; sent++) {
		for (unsigned i = 0; i < RR_ARRAY_SIZE(report); i++) {
			raw_receive(s, report[i]);
			if (sent && i == 0)
				raw_expect(s, SYSTEM(X));
			assert_int_equal(s->n_sent, 0);
		}
		raw_receive(s, report[0]); /* once only */
		assert_int_equal(s->n_sent, 0);
		raw_receive(s, X XREQ PLAIN CALL(X));
		raw_skip(s);
	}
	raw_end(s);
}

/* -- memory ---------------------------------------------------------------- */

/* Each allocation of a response of many Writes fails once.  If a Write fails, the
 * connection ends, since others may have been carried out. */
static void memory_runs_out_among_the_writes(void **state)
{
	unsigned ended = 0;

	(void)state;
	for (long at = 1; at < 12; at++) {
		struct side *s = new_server(32);
		char hex[6000];

		want_results(4, MAX_RESULT, MAX_RESULT, MAX_RESULT);
		result[3] = MAX_RESULT;
		strcpy(hex, X XREQ "00000000 00000000 " WHOLE "00000004 ");
		for (unsigned i = 0; i < 4; i++) {
			strcat(hex, "00000000 00000001 00000004 ");
			raw_repeat(hex + strlen(hex), SEG("000000aa", "00002000"), 4);
		}
		strcat(hex, "00000000 00000001 00000001 00000018 " CALL(X));
		s->mem_fail_at = at;
		raw_receive(s, hex);
		s->mem_fail_at = 0;
		if (s->disconnect) {
			raw_expect_close(s, -ENOMEM);
			assert_int_equal(s->n_sent, 0);
			ended++;
		}
		raw_end(s);
	}
	assert_true(ended > 0);
}

/* -- the reverse direction ------------------------------------------------- */

/* What a client answers to requests with segments or several transmissions, by the level
 * that it has advertised. [ext §2.6] */
static void the_level_binds_groups(void **state)
{
	static const struct {
		uint32_t level;
		const char *body, *answer;
	} rows[] = {
	        {0, PLAIN, SYSTEM(X)},
	        {1, "00000000 00000000 00000000 00000000 00000002 00000001 00000018 ",
	         INVAL_CONT(X)},
	        {1,
	         "00000000 00000001 00000018 00000004 00000001 00000001 " SEG(
	                 "000000aa",
	                 "00000004") "00000000 00000000 00000001 00000001 00000018 ",
	         ERR(X, "00000006 00000000")},
	        {2,
	         "00000000 00000000 " WHOLE "00000001 00000000 00000001 00000001 " SEG(
	                 "000000aa", "00000004") "00000000 00000001 00000001 00000018 ",
	         ERR(X, "00000007 00000000")},
	        {2,
	         "00000000 00000000 00000000 00000001 00000001 " SEG(
	                 "000000aa", "00000004") "00000001 00000001 00000018 ",
	         ERR(X, "00000008 00000000")},
	        {1, PLAIN, X XRESP "00000000 00000000 00000001 00000010 " REPLY(X)},
	        {3, PLAIN, X XRESP "00000000 00000000 00000001 00000010 " REPLY(X)},
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		const struct rr_conn_config g = {
		        .rvrsdir = rows[i].level,
		        .features = {.on = 1u << RR_FEATURE_RTR},
		};
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &g, PEER);
		char hex[600] = X XREQ;

		s->on_request = raw_answer_call;
		raw_receive(s, strcat(strcat(hex, rows[i].body), CALL(X)));
		raw_expect(s, rows[i].answer);
		raw_end(s);
	}
}

/* NS-s14-02: so many segments that no response header of ours could return them. */
static void a_header_that_cannot_be_returned_is_refused(void **state)
{
	const struct rr_conn_config g = {
	        .max_segments = 64,
	        .features = {.on = 1u << RR_FEATURE_RTR},
	};
	struct side *s = raw_ready_by(
	        RR_CONN_SERVER, &g,
	        "00000002 00000002 00000004 00000400 ffffff13 00000004 0000000f ");
	char hex[12000], *end;

	(void)state;
	s->on_request = raw_answer_call;
	strcpy(hex, X XREQ "00000000 00000000 " WHOLE "00000004 ");
	end = hex + strlen(hex);
	for (unsigned i = 0; i < 4; i++) {
		end = stpcpy(end, "00000000 00000001 00000010 ");
		end = raw_repeat(end, SEG("000000aa", "00001000"), 16);
	}
	strcpy(end, "00000000 00000001 00000001 00000018 " CALL(X));
	raw_receive(s, hex);
	raw_expect(s, ERR(X, "00000007 00000003"));
	raw_expect_service(s);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_longest_choice_is_written_first),
	        cmocka_unit_test(a_payload_that_does_not_fit_is_written),
	        cmocka_unit_test(a_choice_without_room_is_sent),
	        cmocka_unit_test(results_may_stay_inline),
	        cmocka_unit_test(results_without_a_set_stay_inline),
	        cmocka_unit_test(results_beyond_the_directions_stay_inline),
	        cmocka_unit_test(a_choice_is_written_without_placement),
	        cmocka_unit_test(a_reply_has_a_limit_of_pieces),
	        cmocka_unit_test(a_reply_that_is_no_xdr_is_an_error),
	        cmocka_unit_test(a_response_waits_at_the_head),
	        cmocka_unit_test(a_response_does_not_wait_for_ever),
	        cmocka_unit_test(a_response_is_overdue_without_a_credit),
	        cmocka_unit_test(a_grant_goes_before_a_response_that_waits),
	        cmocka_unit_test(a_response_that_waits_can_end),
	        cmocka_unit_test(only_responses_sent_can_be_reported),
	        cmocka_unit_test(memory_runs_out_among_the_writes),
	        cmocka_unit_test(the_level_binds_groups),
	        cmocka_unit_test(a_header_that_cannot_be_returned_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
