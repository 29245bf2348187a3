/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 1, the Responder: messages laid out by hand from RFC 8166, the answers
 * compared octet by octet.
 */
#include "test_conn_v1.h"

static void a_call_is_served_inline(void **state)
{
	struct side *s = v1_server(NULL);
	struct rr_conn_info i;

	assert_false(s->ready);
	v1_expect_service(s);
	assert_true(s->ready);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.version, 1);
	assert_true(i.answered);
	assert_int_equal(i.send_inline, 1024);
	assert_int_equal(i.recv_inline, 1024);
	raw_end(s);
}

/* [RFC 8166 §3.3.1] a number, never 0, and backed by Receives. */
static void the_grant_is_what_can_be_received(void **state)
{
	const struct rr_conn_config cfg = {.credits = 300, .max_requests = 5};
	struct side *s = v1_server(&cfg);
	struct rr_conn_info i;

	raw_receive(s, "00000055" V1("00000000", "00000000") V1_EMPTY CALL("00000055"));
	v1_expect(s, "00000055" V1("00000005", "00000000") V1_EMPTY REPLY("00000055"));
	rr_conn_info(s->c, &i);
	assert_true(i.receives_posted >= 5);
	raw_end(s);
}

/* -- chunks ---------------------------------------------------------------- */

#define NO_READS            "00000000 "
#define NO_MORE             "00000000 "
#define NO_REPLY            "00000000 "
#define AT(handle, len, to) handle " " len " 00000000 " to " "

static struct rr_piece results[4];
static unsigned n_results;

static void answer_results(struct side *s, struct rr_request *r)
{
	static uint8_t head[12];

	raw_octets("00000000 00000001 00000000", head, sizeof(head));
	rr_store_u32(head, r->xid);
	results[0] = (struct rr_piece){head, sizeof(head), false};
	rr_conn_reply(s->c, r, results, n_results, s->now);
}

static struct side *server_of(unsigned n, size_t len, bool item)
{
	static const uint8_t zeros[8192];
	struct side *s = v1_server(NULL);

	s->on_request = answer_results;
	n_results = n;
	results[1] = (struct rr_piece){zeros, len, item};
	results[2] = (struct rr_piece){zeros, 4, false};
	return s;
}

/* [RFC 8166 §3.4.6.1] Segments are filled in order; lengths say what was written. */
static void a_write_chunk_comes_back_with_lengths_written(void **state)
{
	struct side *s = server_of(2, 10, true);

	raw_receive(s, "00000055" V1_MSG NO_READS
	               "00000001 00000002 " SEG("000000aa", "00000008")
	                       SEG("000000ab", "00000008")
	                               NO_MORE NO_REPLY CALL("00000055"));
	v1_expect(s, "00000055" OUR_MSG NO_READS
	             "00000001 00000002 " SEG("000000aa", "00000008")
	                     SEG("000000ab", "00000002") NO_MORE NO_REPLY
	          "00000055 00000001 00000000");
	assert_int_equal(s->n_writes, 2);
	raw_end(s);
}

static void an_unused_write_chunk_comes_back_with_lengths_zero(void **state)
{
	struct side *s = server_of(2, 8, false);

	raw_receive(s, "00000055" V1_MSG NO_READS WRITE("000000aa", "00000100")
	                       NO_MORE NO_REPLY CALL("00000055"));
	v1_expect(s, "00000055" OUR_MSG NO_READS WRITE("000000aa", "00000000")
	                     NO_MORE NO_REPLY
	          "00000055 00000001 00000000 00000000 00000000");
	assert_int_equal(s->n_writes, 0);
	raw_end(s);
}

/* An empty chunk asks for the result inline. */
static void an_empty_write_chunk_leaves_the_result_inline(void **state)
{
	struct side *s = server_of(2, 6, true);

	raw_receive(s, "00000055" V1_MSG NO_READS
	               "00000001 00000000 " NO_MORE NO_REPLY CALL("00000055"));
	v1_expect(s, "00000055" OUR_MSG NO_READS "00000001 00000000 " NO_MORE NO_REPLY
	             "00000055 00000001 00000000 00000000 00000000");
	raw_end(s);
}

static void a_write_chunk_too_small_is_err_chunk(void **state)
{
	struct side *s = server_of(2, 10, true);

	raw_receive(s, "00000055" V1_MSG NO_READS WRITE("000000aa", "00000009")
	                       NO_MORE NO_REPLY CALL("00000055"));
	v1_expect(s, ERR_CHUNK("00000055"));
	assert_int_equal(s->n_writes, 0);
	raw_end(s);
}

/* [RFC 8166 §4.3.3] */
static void an_unused_reply_chunk_comes_back_with_length_zero(void **state)
{
	struct side *s = server_of(1, 0, false);

	raw_receive(s, "00000055" V1_MSG NO_READS NO_MORE WRITE("000000cc", "00001000")
	                       CALL("00000055"));
	v1_expect(s, "00000055" OUR_MSG NO_READS NO_MORE WRITE(
	                     "000000cc", "00000000") "00000055 00000001 00000000");
	assert_int_equal(s->n_writes, 0);
	raw_end(s);
}

/* 44 octets of header, 980 of Reply: to the last octet. */
static void a_reply_of_exactly_the_threshold_is_inline(void **state)
{
	struct side *s = server_of(2, 1024 - 28 - 12, false);

	raw_receive(s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 1024);
	raw_end(s);
}

static void a_long_reply_goes_into_the_reply_chunk(void **state)
{
	struct side *s = server_of(2, 1024 - 28 - 12 + 4, false);

	raw_receive(s, "00000055" V1_MSG NO_READS NO_MORE
	               "00000001 00000002 " SEG("000000cc", "00000300")
	                       SEG("000000cd", "00001000") CALL("00000055"));
	v1_expect(s, "00000055" OUR_NOMSG NO_READS NO_MORE "00000001 00000002 " SEG(
	                     "000000cc", "00000300") SEG("000000cd", "000000e8"));
	assert_int_equal(s->n_writes, 2);
	raw_end(s);
}

static void a_long_reply_without_a_chunk_is_err_chunk(void **state)
{
	struct side *s = server_of(2, 1024 - 28 - 12 + 4, false);

	raw_receive(s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	v1_expect(s, ERR_CHUNK("00000055"));
	raw_receive(s, "00000056" V1_MSG NO_READS NO_MORE WRITE("000000cc", "000003e7")
	                       CALL("00000056"));
	v1_expect(s, ERR_CHUNK("00000056"));
	raw_end(s);
}

/* -- what is pulled -------------------------------------------------------- */

static size_t seen_len[8];
static bool seen_item[8];
static unsigned n_seen;

static void see(struct side *s, struct rr_request *r)
{
	n_seen = r->n_pieces;
	for (unsigned i = 0; i < r->n_pieces; i++) {
		seen_len[i] = r->pieces[i].len;
		seen_item[i] = r->pieces[i].item;
	}
	v1_answer(s, r);
}

#define READ_AT(pos, handle, len) "00000001 " pos " " SEG(handle, len)

/* [RFC 8166 §3.4.5.2] with the padding as a segment of its own, in the length, or
 * not there at all. */
static void read_chunks_with_and_without_padding(void **state)
{
	static const struct {
		const char *reads;
		size_t item;
	} t[] = {
	        {READ_AT("00000018", "000000aa", "00000005"), 5},
	        {READ_AT("00000018", "000000aa", "00000008"), 8},
	        {READ_AT("00000018", "000000aa", "00000005")
	                 READ_AT("00000018", "000000ab", "00000003"),
	         8},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = v1_server(NULL);
		char in[512];

		s->on_request = see;
		snprintf(in, sizeof(in), "00000055" V1_MSG "%s" V1_EMPTY "%s",
		         t[i].reads, CALL("00000055") "01020304");
		raw_receive(s, in);
		v1_expect(s, "00000055" OUR_MSG V1_EMPTY REPLY("00000055"));
		assert_int_equal(n_seen, 3);
		assert_int_equal(seen_len[0], 24);
		assert_int_equal(seen_len[1], t[i].item);
		assert_true(seen_item[1]);
		assert_int_equal(seen_len[2], 4);
		raw_end(s);
	}
}

/* No order of the list is required. */
static void read_chunks_come_in_any_order(void **state)
{
	struct side *s = v1_server(NULL);

	s->on_request = see;
	raw_receive(s, "00000055" V1_MSG READ_AT("0000002c", "000000ac", "00000010")
	                       READ_AT("0000001c", "000000ab", "00000008")
	                               READ_AT("00000014", "000000aa", "00000004")
	                                       V1_EMPTY CALL("00000055") "01020304"
	                                                                 "05060708");
	v1_expect(s, "00000055" OUR_MSG V1_EMPTY REPLY("00000055"));
	assert_int_equal(n_seen, 6);
	assert_int_equal(seen_len[0], 20);
	assert_int_equal(seen_len[1], 4);
	assert_int_equal(seen_len[2], 4);
	assert_int_equal(seen_len[3], 8);
	assert_int_equal(seen_len[4], 8);
	assert_int_equal(seen_len[5], 16);
	raw_end(s);
}

/* Octets after the header of RDMA_NOMSG mean nothing, not even a direction. */
static void what_follows_a_header_without_payload_is_ignored(void **state)
{
	struct side *s = v1_server(NULL);

	raw_receive(s, "00000055" V1_NOMSG READ_AT("00000000", "000000aa", "00000020")
	                       V1_EMPTY REPLY("00000055"));
	assert_int_equal(s->n_reads, 1);
	raw_end(s);
}

static void more_read_chunks_than_there_is_room_for(void **state)
{
	struct side *s = v1_server(NULL);
	char in[8192];
	size_t at = (size_t)sprintf(in, "00000055" V1_MSG);

	for (unsigned i = 0; i < 65; i++)
		at += (size_t)sprintf(in + at,
		                      "00000001 %08x " SEG("000000aa", "00000004"),
		                      1000 - 4 * i);
	sprintf(in + at, V1_EMPTY CALL("00000055"));
	raw_receive(s, in);
	v1_expect(s, ERR_CHUNK("00000055"));
	v1_expect_service(s);
	raw_end(s);
}

static const uint8_t long_call[32] = {0, 0, 0, 0x55, 0, 0, 0, 0, 0, 0, 0, 2};
static struct side peer; /* whose memory is read */

static void expose(struct side *s, const uint8_t *p, size_t len)
{
	memset(&peer, 0, sizeof(peer));
	peer.n_regions = 1;
	peer.region[0] = (struct side_region){.handle = 0xaa,
	                                      .base = (uint8_t *)(uintptr_t)p,
	                                      .len = len,
	                                      .access = 1,
	                                      .valid = true};
	s->peer = &peer;
}

/* [RFC 8166 §3.5.3] */
static void a_long_call_is_pulled_from_position_zero(void **state)
{
	struct side *s = v1_server(NULL);
	char in[256];

	s->on_request = see;
	expose(s, long_call, sizeof(long_call));
	snprintf(in, sizeof(in),
	         "00000055" V1_NOMSG "00000001 00000000 000000aa 00000020 %016llx"
	         " 00000000 00000000 00000000",
	         (unsigned long long)(uintptr_t)long_call);
	raw_receive(s, in);
	assert_int_equal(s->n_reads, 1);
	assert_false(peer.misuse);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen_len[0], 32);
	assert_int_equal(peer.in_tail, 1); /* the Reply */
	assert_int_equal(peer.in[0].len, 28 + 16);
	free(peer.in[0].p);
	s->peer = NULL;
	raw_end(s);
}

/* What was pulled is no Call with the header's XID. */
static void a_long_call_with_another_xid_is_err_chunk(void **state)
{
	struct side *s = v1_server(NULL);

	raw_receive(s, "00000055" V1_NOMSG READ_AT("00000000", "000000aa", "00000020")
	                       V1_EMPTY);
	v1_expect(s, ERR_CHUNK("00000055"));
	v1_expect_service(s);
	raw_end(s);
}

/* -- errors [RFC 8166 §4.5] ------------------------------------------------ */

struct row {
	const char *in;
	bool err_chunk; /* else silence */
};

static void judge(const struct row *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct side *s = v1_server(NULL);

		v1_expect_service(s);
		raw_receive(s, rows[i].in);
		if (rows[i].err_chunk)
			v1_expect(s, ERR_CHUNK("00000055"));
		if (s->n_sent || s->disconnect)
			fail_msg("row %u: %s", i, rows[i].in);
		v1_expect_service(s);
		raw_end(s);
	}
}

static void short_messages_are_dropped(void **state)
{
	static const struct row rows[] = {
	        {"", false},
	        {"00000055 00000001", false},
	        {"00000055 00000001 00000040 00000000", false},
	        {"00000055" V1_MSG "00000000", false},
	        {"00000055" V1_MSG "00000000 00000000 000000", false},
	        {"00000055" V1_NOMSG "00000000 00000000", false},
	};

	judge(rows, RR_ARRAY_SIZE(rows));
}

static void headers_that_do_not_parse_are_err_chunk(void **state)
{
	static const struct row rows[] = {
	        {"00000055" V1_MSG "00000002 00000000 00000000" CALL("00000055"), true},
	        {"00000055" V1_MSG "00000000 00000001 40000000" CALL("00000055"), true},
	        {"00000055" V1_MSG
	         "00000000 00000000 00000001 ffffffff" CALL("00000055"),
	         true},
	        {"00000055" V1_MSG "00000001 00000008 000000aa", true},
	        {"00000055" V1_MSG V1_EMPTY, true},
	        {"00000055" V1_MSG V1_EMPTY "00000055", true},
	};

	judge(rows, RR_ARRAY_SIZE(rows));
}

static void chunks_in_the_wrong_place_are_err_chunk(void **state)
{
	static const struct row rows[] = {
	        {"00000055" V1_NOMSG V1_EMPTY, true},
	        {"00000055" V1_NOMSG READ_AT("00000008", "000000aa", "00000004")
	                 V1_EMPTY,
	         true},
	        {"00000055" V1_MSG READ_AT("00000000", "000000aa", "00000004")
	                 V1_EMPTY CALL("00000055"),
	         true},
	        {"00000055" V1_MSG READ_AT("00000016", "000000aa", "00000004")
	                 V1_EMPTY CALL("00000055"),
	         true},
	        {"00000055" V1_MSG READ_AT("00000100", "000000aa", "00000004")
	                 V1_EMPTY CALL("00000055"),
	         true},
	};

	judge(rows, RR_ARRAY_SIZE(rows));
}

static void xids_that_differ_are_err_chunk(void **state)
{
	static const struct row rows[] = {
	        {"00000055" V1_MSG V1_EMPTY CALL("00000056"), true},
	        {"00000055" V1_MSG V1_EMPTY "00000055 00000002 00000000", true},
	};

	judge(rows, RR_ARRAY_SIZE(rows));
}

/* [RFC 8166 §4.6] */
static void old_procedures(void **state)
{
	static const struct row rows[] = {
	        {"00000055" V1("00000040", "00000002") V1_EMPTY CALL("00000055"), true},
	        {"00000055" V1("00000040", "00000003") V1_EMPTY, false},
	        {"00000055" V1("00000040", "00000005") V1_EMPTY, true},
	        {"00000055" V1("00000040", "ffffffff") V1_EMPTY, true},
	};

	judge(rows, RR_ARRAY_SIZE(rows));
}

static void answers_to_nothing_are_dropped(void **state)
{
	static const struct row rows[] = {
	        {"00000055" V1_ERROR "00000002", false},
	        {"00000055" V1_ERROR "00000001 00000001 00000001", false},
	        {"00000055" V1_ERROR "00000001 00000001", false},
	        {"00000055" V1_ERROR "00000007", false},
	        {"00000055" V1_MSG V1_EMPTY REPLY("00000055"), false},
	        {"00000055" V1_NOMSG NO_READS NO_MORE WRITE("000000aa", "00000010"),
	         false},
	};

	judge(rows, RR_ARRAY_SIZE(rows));
}

/* More segments than there is room for are refused, as many as there is are not:
 * version 1 has no limit to tell.  Each Reply gives the Write list back, so that
 * more than 61 segments, 1012 octets, are refused before they are served. */
static void segments_up_to_our_limit(void **state)
{
	static const unsigned counts[] = {61, 62, 64, 65};

	for (unsigned k = 0; k < RR_ARRAY_SIZE(counts); k++) {
		unsigned n = counts[k];
		struct side *s = v1_server(NULL);
		char in[8192];
		size_t at = (size_t)sprintf(
		        in, "00000055" V1_MSG NO_READS "00000001 %08x ", n);

		for (unsigned i = 0; i < n; i++)
			at += (size_t)sprintf(in + at, SEG("000000aa", "00000004"));
		sprintf(in + at, NO_MORE NO_REPLY CALL("00000055"));
		raw_receive(s, in);
		assert_int_equal(s->requested, n == 61);
		if (n > 61)
			v1_expect(s, ERR_CHUNK("00000055"));
		raw_end(s);
	}
}

/* -- peers that ask for more than was granted ------------------------------ */

/* As raw_receive, but no Send completes. */
static void receive_only(struct side *s, const char *hex)
{
	uint8_t buf[256];

	side_receive(s, buf, raw_octets(hex, buf, sizeof(buf)), 0);
}

/* It sends Calls and does not read: answers wait, then it is left. */
static void one_who_does_not_read_is_not_answered_without_end(void **state)
{
	const struct rr_conn_config cfg = {.credits = 4, .send_credits = 6};
	struct side *s = v1_server(&cfg);

	for (unsigned i = 0; i < 4 + 6 + 64; i++)
		receive_only(s, "00000055" V1_NOMSG V1_EMPTY);
	assert_int_equal(s->n_sent, 4 + 6);
	assert_false(s->disconnect);
	side_complete_one(s); /* one has been read */
	assert_int_equal(s->n_sent, 4 + 6 + 1);
	receive_only(s, "00000055" V1_NOMSG V1_EMPTY);
	assert_false(s->disconnect);
	receive_only(s, "00000055" V1_NOMSG V1_EMPTY);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

static void hold(struct side *s, struct rr_request *r)
{
	s->app = r;
}

/* A reply that was sent makes room, though its Send has not completed. */
static void as_many_requests_as_were_granted(void **state)
{
	const struct rr_conn_config cfg = {.max_requests = 1};
	struct side *s = v1_server(&cfg);

	for (unsigned i = 0; i < 3; i++)
		receive_only(s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	assert_int_equal(s->requested, 3);
	s->on_request = hold;
	receive_only(s, "00000056" V1_MSG V1_EMPTY CALL("00000056"));
	receive_only(s, "00000057" V1_MSG V1_EMPTY CALL("00000057"));
	assert_int_equal(s->requested, 4);
	assert_int_equal(s->n_sent, 3); /* one too many: it waits */
	rr_conn_drop(s->c, s->app, s->now);
	side_drain(s);
	assert_int_equal(s->requested, 5);
	raw_receive(s, "00000058" V1_MSG V1_EMPTY CALL("00000058"));
	assert_int_equal(s->requested, 5);
	rr_conn_drop(s->c, s->app, s->now);
	side_drain(s);
	assert_int_equal(s->requested, 6);
	rr_conn_drop(s->c, s->app, s->now);
	side_drain(s);
	raw_end(s);
}

/* -- remote invalidation [RFC 8797 §4.1] ----------------------------------- */

static void a_reply_invalidates_only_if_both_ends_can(void **state)
{
	static const struct {
		bool own;
		const char *peer;
		uint32_t inv;
	} t[] = {
	        {true, "f6ab0e18 01010000", 0xaa},
	        {false, "f6ab0e18 01010000", 0},
	        {true, "f6ab0e18 01000000", 0},
	        {true, NULL, 0},
	};

	/* RI-4.2-07: our own private data say no */
	const struct rr_conn_config none = {.remote_invalidate = true,
	                                    .v1_no_remote_inv = true};
	struct side *plain = v1_new(RR_CONN_SERVER, &none, "f6ab0e18 01010000");

	raw_receive(plain, "00000055" V1_MSG NO_READS WRITE("000000aa", "00000100")
	                           NO_MORE NO_REPLY CALL("00000055"));
	v1_expect(plain, "00000055" OUR_MSG NO_READS WRITE("000000aa", "00000000")
	                         NO_MORE NO_REPLY REPLY("00000055"));
	raw_end(plain);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {.remote_invalidate = t[i].own};
		struct side *s = v1_new(RR_CONN_SERVER, &cfg, t[i].peer);

		raw_receive(s, "00000055" V1_MSG NO_READS WRITE("000000aa", "00000100")
		                       NO_MORE NO_REPLY CALL("00000055"));
		v1_expect_inv(s,
		              "00000055" OUR_MSG NO_READS WRITE("000000aa", "00000000")
		                      NO_MORE NO_REPLY REPLY("00000055"),
		              t[i].inv);
		raw_receive(s, "00000056" V1_MSG V1_EMPTY CALL("00000056"));
		v1_expect(s, "00000056" OUR_MSG V1_EMPTY REPLY("00000056"));
		raw_receive(s, "00000057" V1_MSG NO_READS NO_MORE
		               "00000001 00000000" CALL("00000057"));
		v1_expect(s, "00000057" OUR_MSG NO_READS NO_MORE
		             "00000001 00000000" REPLY("00000057"));
		/* the first Read chunk, although a Write chunk is longer */
		raw_receive(s, "00000058" V1_MSG READ_AT("0000000c", "000000aa",
		                                         "00000004") NO_READS
		            "00000001 00000000 " WRITE("000000bb", "00000100")
		                    NO_MORE NO_REPLY CALL("00000058"));
		v1_expect_inv(s,
		              "00000058" OUR_MSG NO_READS
		              "00000001 00000000 " WRITE("000000bb", "00000000")
		                      NO_MORE NO_REPLY REPLY("00000058"),
		              t[i].inv);
		raw_receive(s, "00000059" V1_MSG READ_AT("0000000c", "000000aa",
		                                         "00000004") NO_READS
		            "00000001 00000000 " NO_MORE NO_REPLY CALL("00000059"));
		v1_expect_inv(s,
		              "00000059" OUR_MSG NO_READS
		              "00000001 00000000 " NO_MORE NO_REPLY REPLY("00000059"),
		              t[i].inv);
		raw_end(s);
	}
}

/* Never an error: the Requester may ask again with the same memory. */
static void an_error_does_not_invalidate(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = v1_new(RR_CONN_SERVER, &cfg, "f6ab0e18 01010000");

	s->on_request = answer_results;
	n_results = 2;
	results[1] = (struct rr_piece){long_call, 16, true};
	raw_receive(s, "00000055" V1_MSG NO_READS WRITE("000000aa", "00000004")
	                       NO_MORE NO_REPLY CALL("00000055"));
	v1_expect(s, ERR_CHUNK("00000055"));
	raw_end(s);
}

static void hold_two(struct side *s, struct rr_request *r)
{
	struct rr_request **held = s->app;

	held[s->requested - 1] = r;
}

/* RI-4.2-08: each its own, in any order. */
static void each_reply_invalidates_a_handle_of_its_call(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = v1_new(RR_CONN_SERVER, &cfg, "f6ab0e18 01010000");
	struct rr_request *held[2];

	s->app = held;
	s->on_request = hold_two;
	raw_receive(s, "00000055" V1_MSG NO_READS WRITE("000000aa", "00000100")
	                       NO_MORE NO_REPLY CALL("00000055"));
	raw_receive(s, "00000056" V1_MSG NO_READS NO_MORE WRITE("000000ab", "00001000")
	                       CALL("00000056"));
	for (unsigned i = 2; i-- > 0;) {
		v1_answer(s, held[i]);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(s->sent[0].inv, 0xaa + i);
		side_forget_sent(s);
	}
	raw_end(s);
}

/* -- thresholds [RFC 8797 §4.2] -------------------------------------------- */

static void thresholds_are_those_of_the_private_data(void **state)
{
	static const struct {
		const char *peer;
		uint32_t send, recv; /* own */
		uint32_t want_send, want_recv;
	} t[] = {
	        {"f6ab0e18 01000303", 4096, 4096, 4096, 4096},
	        {"f6ab0e18 01000301", 4096, 4096, 2048, 4096},
	        {"f6ab0e18 01000103", 4096, 4096, 4096, 2048},
	        {"f6ab0e18 0100ffff", 5000, 5000, 5000, 4096},
	        {"0102 f6ab0e18 01000303 99", 2048, 1024, 2048, 1024},
	        {"010203 f6ab0e18 01000701", 4096, 16384, 2048, 8192},
	        {"f6ab0e18 02000303", 4096, 4096, 1024, 1024},
	        {"f6ab0e18 010003", 4096, 4096, 1024, 1024},
	        {NULL, 4096, 4096, 1024, 1024},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {.send_bytes = t[i].send,
		                                   .recv_bytes = t[i].recv};
		struct side *s = v1_new(RR_CONN_SERVER, &cfg, t[i].peer);
		struct rr_conn_info info;

		raw_receive(s, "00000099" V1_MSG V1_EMPTY CALL("00000099"));
		rr_conn_info(s->c, &info);
		assert_int_equal(info.send_inline, t[i].want_send);
		assert_int_equal(info.recv_inline, t[i].want_recv);
		raw_end(s);
	}
}

static void own_private_data_tells_sizes_and_invalidation(void **state)
{
	static const struct {
		unsigned versions;
		uint32_t send, recv;
		bool inv;
		const char *want;
		bool keeps, declines;
	} t[] = {
	        {RR_CONN_V1, 4096, 4096, false, "f6ab0e18 01000303"},
	        {RR_CONN_V1 | RR_CONN_V2, 1024, 8192, true, "f6ab0e18 01010007"},
	        {RR_CONN_V1, 5000, 2047, false, "f6ab0e18 01000300"},
	        {RR_CONN_V1, 100, 1 << 20, false, "f6ab0e18 010000ff"},
	        {RR_CONN_V2, 0, 0, true, ""},
	        {0, 0, 0, true, ""},
	        /* RI-4.2-05, RI-4.2-09 */
	        {RR_CONN_V1, 4096, 4096, true, "f6ab0e18 01010303"},
	        {RR_CONN_V1, 4096, 4096, true, "f6ab0e18 01000303", .keeps = true},
	        {RR_CONN_V1 | RR_CONN_V2, 4096, 4096, true, "f6ab0e18 01000303",
	         .declines = true},
	        /* version 1 has no features */
	        {RR_CONN_V1, 4096, 4096, true, "f6ab0e18 01010303", .declines = true},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {
		        .versions = t[i].versions,
		        .send_bytes = t[i].send,
		        .recv_bytes = t[i].recv,
		        .remote_invalidate = t[i].inv,
		        .v1_no_remote_inv = t[i].keeps,
		        .features = {.on = 1u << RR_FEATURE_REMINV,
		                     .no_remote_inv = t[i].declines}};
		uint8_t want[8], got[8];
		size_t n = raw_octets(t[i].want, want, sizeof(want));

		assert_int_equal(rr_conn_own_private(&cfg, got), n);
		assert_memory_equal(got, want, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_call_is_served_inline),
	        cmocka_unit_test(the_grant_is_what_can_be_received),
	        cmocka_unit_test(a_write_chunk_comes_back_with_lengths_written),
	        cmocka_unit_test(an_unused_write_chunk_comes_back_with_lengths_zero),
	        cmocka_unit_test(an_empty_write_chunk_leaves_the_result_inline),
	        cmocka_unit_test(a_write_chunk_too_small_is_err_chunk),
	        cmocka_unit_test(an_unused_reply_chunk_comes_back_with_length_zero),
	        cmocka_unit_test(a_reply_of_exactly_the_threshold_is_inline),
	        cmocka_unit_test(a_long_reply_goes_into_the_reply_chunk),
	        cmocka_unit_test(a_long_reply_without_a_chunk_is_err_chunk),
	        cmocka_unit_test(read_chunks_with_and_without_padding),
	        cmocka_unit_test(read_chunks_come_in_any_order),
	        cmocka_unit_test(what_follows_a_header_without_payload_is_ignored),
	        cmocka_unit_test(more_read_chunks_than_there_is_room_for),
	        cmocka_unit_test(a_long_call_is_pulled_from_position_zero),
	        cmocka_unit_test(a_long_call_with_another_xid_is_err_chunk),
	        cmocka_unit_test(short_messages_are_dropped),
	        cmocka_unit_test(headers_that_do_not_parse_are_err_chunk),
	        cmocka_unit_test(chunks_in_the_wrong_place_are_err_chunk),
	        cmocka_unit_test(xids_that_differ_are_err_chunk),
	        cmocka_unit_test(old_procedures),
	        cmocka_unit_test(answers_to_nothing_are_dropped),
	        cmocka_unit_test(segments_up_to_our_limit),
	        cmocka_unit_test(one_who_does_not_read_is_not_answered_without_end),
	        cmocka_unit_test(as_many_requests_as_were_granted),
	        cmocka_unit_test(a_reply_invalidates_only_if_both_ends_can),
	        cmocka_unit_test(an_error_does_not_invalidate),
	        cmocka_unit_test(each_reply_invalidates_a_handle_of_its_call),
	        cmocka_unit_test(thresholds_are_those_of_the_private_data),
	        cmocka_unit_test(own_private_data_tells_sizes_and_invalidation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
