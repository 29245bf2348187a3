/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header types by message kind, against a peer of hand-laid octets.
 *                                  [ext §2.3, §2.4, §6.1, §6.2, §6.3, §6.4, §6.5, §6.6]
 */
#include "test_conn_spec.h"

#include "wire/rprc/rprc_wire.h"

/* Prefixes: XID, then by name. */
#define X_TYPE(type)      V2 type " 00000000 "
#define X_GRANT           X_TYPE("ffffff45")
#define X_PROPS_MIDDLE    X_TYPE("ffffff46")
#define X_PROPS_LAST      X_TYPE("ffffff47")
#define X_CALL_EXTERNAL   X_TYPE("ffffff48")
#define X_CALL_MIDDLE     X_TYPE("ffffff49")
#define X_CALL_LAST       X_TYPE("ffffff4a")
#define X_REPLY(type)     V2 type " 00000001 "
#define X_REPLY_EXTERNAL  X_REPLY("ffffff4b")
#define X_REPLY_MIDDLE    X_REPLY("ffffff4c")
#define X_REPLY_LAST      X_REPLY("ffffff4d")
#define HTFAM_PROP(value) "00000001 ffffff31 00000004 " value
#define WORDS4            "00000001 00000002 00000003 00000004 "
#define BODY(how, len)    how " 00000001 " SEG("000000aa", len)
#define PROPS_TPMORE      "00000077 00000002 00200020 00000005 00000004 "
#define ANSWER(xid)       xid X_REPLY_LAST "00000000 " REPLY(xid)

static const struct rr_conn_config with_htfam = {
        .features = {.on = 1u << RR_FEATURE_HTFAM}};

static struct side *server(void)
{
	struct side *s =
	        raw_ready_by(RR_CONN_SERVER, &with_htfam, HTFAM_PROP("00000003"));

	s->on_request = raw_answer_call;
	return s;
}

static struct side *client(void)
{
	return raw_ready_by(RR_CONN_CLIENT, &with_htfam, HTFAM_PROP("00000003"));
}

/* Takes the oldest message, which must have this type and these flags. */
static void expect_type(struct side *s, uint32_t type, uint32_t flags)
{
	assert_true(s->n_sent > 0);
	assert_int_equal(spec_word(&s->sent[0], 3), type);
	assert_int_equal(spec_flags(&s->sent[0]), flags);
	assert_true(s->sent[0].len <= 4096);
	raw_skip(s);
}

/* A Call in these types is still answered. */
static void expect_service(struct side *s)
{
	raw_receive(s, "00000099" X_CALL_LAST EMPTY CALL("00000099"));
	raw_expect(s, ANSWER("00000099"));
	raw_expect_silence(s);
}

/* -- types and flags ------------------------------------------------------- */

/* LS-s02-01, LS-s14-01: switched off, each type is unknown. */
static void types_are_unknown_without_the_feature(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);
	char message[200];

	s->on_request = raw_answer_call;
	for (unsigned type = 0x45; type <= 0x4d; type++) {
		snprintf(message, sizeof(message),
		         "00000055" V2 "ffffff%02x 00000000 " EMPTY CALL("00000055"),
		         type);
		raw_receive(s, message);
		raw_expect(s, INVAL_HTYPE("00000055"));
		snprintf(message, sizeof(message),
		         "00000055" V2 "ffffff%02x 00000001 " EMPTY, type);
		raw_receive(s, message);
		raw_expect_silence(s);
	}
	raw_expect_service(s);
	raw_end(s);
}

/* LS-s14-01: nor are they known before our property has been sent. */
static void types_are_unknown_before_the_property(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, &with_htfam);

	raw_receive(s, "00000000" X_GRANT); /* its credit is for our properties */
	expect_type(s, RDMA2_CONNPROP, 0);
	raw_expect_silence(s);
	raw_receive(s, GRANT("0001"));
	raw_expect(s, INVAL_HTYPE("00000000"));
	raw_end(s);
}

/* LS-s14-02: the direction is in the type, whatever RDMA2_F_RESPONSE says. */
static void the_response_flag_is_ignored(void **state)
{
	struct side *s = server();
	struct spec_call *k = spec_new(0x55, 0);

	raw_receive(s, "00000055" V2 "ffffff4a 00000001 " EMPTY CALL("00000055"));
	raw_expect(s, ANSWER("00000055"));
	raw_end(s);
	s = client();
	spec_start(s, k);
	raw_receive(s, "00000055" V2 "ffffff4d 00000000 00000000 " REPLY("00000055"));
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(k->call.status, RR_CALL_OK);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* ... and the two flags that have a meaning are errors. */
static void more_and_tpmore_are_refused(void **state)
{
	static const char *const type[] = {"ffffff45", "ffffff48", "ffffff49",
	                                   "ffffff4a"};
	struct side *s = server();
	char message[300];

	for (unsigned i = 0; i < RR_ARRAY_SIZE(type); i++) {
		const char *xid = i ? "00000055" : "00000000";

		snprintf(message, sizeof(message), "%s" V2 "%s 00000002 " EMPTY WORDS4,
		         xid, type[i]);
		raw_receive(s, message);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(spec_word(&s->sent[0], 5), RDMA2_ERR_INVAL_CONT);
		raw_skip(s);
		if (i == 2) /* the rest of that sequence is dropped */
			raw_receive(s, "00000055" X_CALL_LAST EMPTY WORDS4);
		raw_expect_silence(s);
		snprintf(message, sizeof(message), "%s" V2 "%s 00000004 " EMPTY WORDS4,
		         xid, type[i]);
		raw_receive(s, message);
		assert_int_equal(spec_word(&s->sent[0], 5), RDMA2_ERR_INVAL_HTYPE);
		raw_skip(s);
		if (i == 2)
			raw_receive(s, "00000055" X_CALL_LAST EMPTY WORDS4);
		raw_expect_silence(s);
	}
	expect_service(s);
	raw_end(s);
}

/* [ext §2.4]: types that the peer does not know are not sent again.  The Call was not
 * executed, so it may be sent in base types, once. */
static void refused_types_are_not_sent_again(void **state)
{
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, 0);

	assert_int_equal(spec_word(spec_sent(s, k), 3), 0xffffff4a);
	raw_skip(s);
	raw_receive(s, INVAL_HTYPE("00000055"));
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_true(rr_call_recover(s->c, &k->call));
	k->call.xid = 0x56;
	rr_store_u32(k->head, 0x56);
	assert_int_equal(spec_word(spec_sent(s, k), 3), RDMA2_MSG);
	raw_skip(s);
	raw_receive(s, INVAL_HTYPE("00000056"));
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_false(rr_call_recover(s->c, &k->call));
	spec_end(s, k);
}

/* ... nor is an error about a base type a reason to send the Call again. */
static void a_refused_base_type_is_final(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct spec_call *k = spec_new(0x55, 0);

	(void)spec_sent(s, k);
	raw_skip(s);
	raw_receive(s, INVAL_HTYPE("00000055"));
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_false(rr_call_recover(s->c, &k->call));
	spec_end(s, k);
}

/* Lets the grant timer pass. */
static void wait_for_grant(struct side *s)
{
	s->now += RR_MS(20);
	rr_conn_tick(s->c, s->now);
	side_drain(s);
	side_complete_all(s);
}

/* LS-s18-01, LS-s18-04: 20 octets against 36; XID 0. */
static void a_grant_is_a_prefix(void **state)
{
	struct side *s = client();
	struct spec_call *k[3];
	struct rr_conn_info before, after;

	for (unsigned i = 0; i < 3; i++) {
		k[i] = spec_new(0x55 + i, 0);
		spec_start(s, k[i]);
	}
	side_forget_sent(s);
	rr_conn_info(s->c, &before);
	raw_receive(s, "00000055 00000002 00200003 ffffff45 00000000");
	rr_conn_info(s->c, &after);
	assert_int_equal(after.avail, before.avail + 3);
	assert_int_equal(after.calls, 3); /* XID 0x55 has no meaning */
	raw_expect_silence(s);
	for (unsigned i = 0; i < 4; i++)
		raw_receive(s, "00000000 00000002 00200001 ffffff45 00000000");
	wait_for_grant(s);
	assert_int_equal(s->n_sent, 1);
	raw_expect(s, "00000000" X_GRANT);
	/* octets behind it are ignored, as in the base */
	raw_receive(s, "00000000 00000002 00200001 ffffff45 00000000 00000001");
	raw_expect_silence(s);
	/* one that the peer refuses is not sent again */
	for (unsigned i = 0; i < 4; i++)
		raw_receive(s, INVAL_HTYPE("00000000"));
	wait_for_grant(s);
	raw_expect(s, GRANT("0001"));
	raw_end(s);
	for (unsigned i = 0; i < 3; i++)
		free(k[i]);
}

/* -- Calls ----------------------------------------------------------------- */

/* LS-s15-01, V2-3.1.3.4: the sample of the text, and a Reply. */
static void a_small_call_is_one_last(void **state)
{
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, 7);

	spec_start(s, k);
	raw_expect(s, "00000055" X_CALL_LAST "00000000 00000000 00000000 00000000 "
	              "00000055 00000000 00000002 000186a3 00000003 00000007 00000007");
	raw_receive(s, "00000055" X_REPLY_LAST "00000000 " REPLY("00000055"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	assert_int_equal(k->call.reply_len, 16);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* A Requester takes a Reply of the other family, too. */
static void a_reply_in_base_types_is_taken(void **state)
{
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, 7);

	spec_start(s, k);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(k->call.status, RR_CALL_OK);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* Base types are answered in base types. */
static void each_family_is_answered_in_kind(void **state)
{
	struct side *s = server();

	raw_expect_service(s);
	expect_service(s);
	raw_expect_service(s);
	raw_end(s);
}

/* Sends a Call of @bytes octets; the messages must carry @payload octets, each with
 * what remains.  An argument of @item octets goes in a chunk if it is not 0. */
static void expect_call_parts(size_t bytes, size_t item, const size_t *payload,
                              unsigned n)
{
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, (uint32_t)item);
	size_t rest = bytes;

	if (item) {
		spec_add(k, spec_octets(), item, true);
		spec_add(k, spec_octets() + 4, bytes - SPEC_HEAD - 4, false);
		spec_add(k, spec_octets() + 8, item, true);
		spec_add(k, spec_octets() + 12, 4, false);
	} else {
		spec_add(k, spec_octets(), bytes - SPEC_HEAD, false);
	}
	spec_start(s, k);
	assert_int_equal(s->n_sent, n);
	for (unsigned i = 0; i < n; i++) {
		const struct side_msg *m = &s->sent[i];
		bool last = i == n - 1;
		size_t header = last ? 36 + (item ? 2 * 24 : 0) : 24;

		assert_int_equal(spec_word(m, 0), 0x55);
		assert_int_equal(spec_word(m, 3), last ? 0xffffff4a : 0xffffff49);
		assert_int_equal(spec_flags(m), 0);
		assert_int_equal(m->len, header + payload[i]);
		rest -= payload[i];
		if (!last)
			assert_int_equal(spec_word(m, 5), rest);
		else if (item)
			assert_int_equal(spec_word(m, 6), 2); /* rdma_args */
	}
	assert_int_equal(rest, 0);
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	spec_end(s, k);
}

/* LS-s14-04, LS-s15-02, LS-s17-02, LS-s17-03, LS-s17-04 */
static void calls_are_middle_middle_last(void **state)
{
	static const struct {
		size_t bytes, item;
		unsigned n;
		size_t payload[4];
	} row[] = {
	        {4060, 0, 1, {4060}},
	        {4064, 0, 2, {4060, 4}},
	        {4072, 0, 2, {4068, 4}},
	        {4076, 0, 2, {4072, 4}},
	        {8132, 0, 2, {4072, 4060}},
	        {8136, 0, 3, {4072, 4060, 4}},
	        {10000, 0, 3, {4072, 4072, 1856}},
	        {12204, 0, 3, {4072, 4072, 4060}},
	        {12208, 0, 4, {4072, 4072, 4060, 4}},
	        {10000, 3000, 3, {4072, 4072, 1856}},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++)
		expect_call_parts(row[i].bytes, row[i].item, row[i].payload, row[i].n);
}

/* LS-s12-01, LS-s15-04: arguments and provisioned results have one format; a chunk of
 * several segments is one entry. */
static void arguments_and_results_have_one_format(void **state)
{
	static uint8_t result[2][6000];
	const uint8_t *item = spec_octets();
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &with_htfam,
	                              "00000003 ffffff31 00000004 00000003 "
	                              "00000003 00000004 00001000 "
	                              "00000004 00000004 00000040");
	struct spec_call *k = spec_new(0x55, 6000);
	const struct side_msg *m;

	spec_add(k, item, 6000, true);
	spec_dest(k, result[0], 6000);
	spec_dest(k, result[1], 10);
	k->call.reply_bytes = 100000;
	m = spec_sent(s, k);
	assert_int_equal(spec_word(m, 3), 0xffffff4a);
	assert_int_equal(spec_word(m, 6), 1); /* one argument */
	assert_int_equal(spec_word(m, 7), SPEC_HEAD);
	assert_int_equal(spec_word(m, 8), 2);
	assert_int_equal(spec_word(m, 9), spec_region(s, item)->handle);
	assert_int_equal(spec_word(m, 10), 4096);
	assert_int_equal(spec_word(m, 14), 1904);
	assert_int_equal(spec_word(m, 17), 2); /* two results */
	assert_int_equal(spec_word(m, 18), 0);
	assert_int_equal(spec_word(m, 19), 2);
	assert_int_equal(spec_word(m, 20), spec_region(s, result[0])->handle);
	assert_int_equal(spec_word(m, 21), 4096);
	assert_int_equal(spec_word(m, 25), 1904);
	assert_int_equal(spec_word(m, 28), 0);
	assert_int_equal(spec_word(m, 29), 1);
	assert_int_equal(spec_word(m, 34), 25); /* segments for the Reply */
	assert_int_equal(m->len, 4 * (35 + 25 * 4) + SPEC_HEAD);
	spec_end(s, k);
}

/* LS-s13-01, LS-s15-03: the whole Call is in one body chunk. */
static void a_special_call_has_a_body_chunk(void **state)
{
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, 5);
	const struct side_msg *m;

	spec_add(k, "abcde", 5, true);
	k->call.flags = RR_CALL_SPECIAL;
	m = spec_sent(s, k);
	assert_int_equal(m->len, 20 + 24 + 16);
	assert_int_equal(spec_word(m, 3), 0xffffff48);
	assert_int_equal(spec_word(m, 5), 0);
	assert_int_equal(spec_word(m, 6), 1); /* pull */
	assert_int_equal(spec_word(m, 7), 1);
	assert_int_equal(spec_word(m, 8), s->region[0].handle);
	assert_int_equal(spec_word(m, 9), SPEC_HEAD + 8);
	for (unsigned i = 12; i < 15; i++)
		assert_int_equal(spec_word(m, i), 0);
	spec_end(s, k);
}

/* For side.on_request: the Call that was pulled is complete. */
static void see_body(struct side *s, struct rr_request *r)
{
	assert_true(r->special);
	assert_int_equal(r->n_pieces, 1);
	assert_int_equal(r->pieces[0].len, 24);
	raw_answer_call(s, r);
}

/* LS-s13-03, LS-s15-03, LS-s09-01: the body is pulled before the user sees the Call. */
static void a_body_chunk_is_pulled(void **state)
{
	static uint8_t call[24];
	struct side *s = server();

	raw_octets(CALL("00000055"), call, sizeof(call));
	s->read_from = call;
	s->on_request = see_body;
	raw_receive(s, "00000055" X_CALL_EXTERNAL "00000000 " BODY(
	                       "00000001", "00000018") "00000000 00000000 00000000");
	assert_int_equal(s->n_reads, 1);
	raw_expect(s, ANSWER("00000055"));
	s->on_request = raw_answer_call;
	/* octets behind the header */
	raw_receive(s, "00000055" X_CALL_EXTERNAL "00000000 " BODY(
	                       "00000001",
	                       "00000018") "00000000 00000000 00000000 00000001");
	raw_expect(s, BAD_XDR("00000055"));
	/* a body that we are said to have; one that is no Call; none */
	raw_receive(s, "00000055" X_CALL_EXTERNAL "00000000 " BODY(
	                       "00000002", "00000018") "00000000 00000000 00000000");
	raw_expect(s, BAD_XDR("00000055"));
	raw_receive(s, "00000055" X_CALL_EXTERNAL "00000000 " BODY(
	                       "00000001", "00000004") "00000000 00000000 00000000");
	raw_expect(s, BAD_XDR("00000055"));
	raw_receive(s, "00000055" X_CALL_EXTERNAL
	               "00000000 00000001 00000000 00000000 00000000 00000000");
	raw_expect(s, BAD_XDR("00000055"));
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(s->requested, 1);
	expect_service(s);
	raw_end(s);
}

/* -- Replies --------------------------------------------------------------- */

static size_t reply_bytes;

static void answer_long(struct side *s, struct rr_request *r)
{
	static uint8_t words[20000];
	const struct rr_piece p = {words, reply_bytes, false};

	rr_store_u32(words, r->xid);
	rr_store_u32(words + 4, 1);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

/* LS-s10-05, LS-s16-02, LS-s16-03, LS-s17-02: up to 4072 octets in one message. */
static void replies_are_middle_middle_last(void **state)
{
	static const struct {
		size_t bytes;
		unsigned n;
		size_t payload[3];
	} row[] = {
	        {8, 1, {8}},
	        {4072, 1, {4072}},
	        {4076, 2, {4072, 4}},
	        {8144, 2, {4072, 4072}},
	        {10000, 3, {4072, 4072, 1856}},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = server();
		size_t rest = row[i].bytes;

		s->on_request = answer_long;
		reply_bytes = rest;
		raw_receive(s, "00000055" X_CALL_LAST EMPTY CALL("00000055"));
		assert_int_equal(s->n_sent, row[i].n);
		for (unsigned k = 0; k < row[i].n; k++) {
			const struct side_msg *m = &s->sent[k];
			bool last = k == row[i].n - 1;

			rest -= row[i].payload[k];
			assert_int_equal(spec_word(m, 3),
			                 last ? 0xffffff4d : 0xffffff4c);
			assert_int_equal(spec_flags(m), RDMA2_F_RESPONSE);
			assert_int_equal(m->len, 24 + row[i].payload[k]);
			assert_int_equal(spec_word(m, 5), rest);
		}
		raw_end(s);
	}
}

/* Three items, of which only the second has octets. */
static void answer_second(struct side *s, struct rr_request *r)
{
	static uint8_t head[12], zero[8];
	const struct rr_piece p[] = {{head, 12, false}, {"", 0, true},
	                             {zero, 4, false},  {"abcde", 5, true},
	                             {zero, 4, false},  {"", 0, true}};

	rr_store_u32(head, r->xid);
	rr_store_u32(head + 4, 1);
	rr_conn_reply(s->c, r, p, 6, s->now);
}

#define RESULT(handle, len) "00000000 00000001 " SEG(handle, len)

/* LS-s16-01, LS-s12-03: an unused chunk has no segments, or is absent at the end.  The
 * slide wins over the row, which has them all come back. */
static void unused_results_are_left_out(void **state)
{
	struct side *s = server();

	s->on_request = answer_second;
	raw_receive(s,
	            "00000055" X_CALL_LAST "00000000 00000000 00000003 "
	            "0000004d 00000001 " SEG(
	                    "000000a1", "00000010") "00000000 00000002 " SEG("000000a2",
	                                                                     "00000003")
	                    SEG("000000a3", "00000010")
	                            RESULT("000000a4",
	                                   "00000010") "00000000 " CALL("00000055"));
	assert_int_equal(s->n_writes, 2);
	raw_expect(s,
	           "00000055" X_REPLY_LAST "00000002 00000000 00000000 "
	           "00000000 00000002 " SEG("000000a2", "00000003") SEG(
	                   "000000a3",
	                   "00000002") "00000055 00000001 00000000 00000000 00000000");
	/* all unused */
	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" X_CALL_LAST "00000000 00000000 00000001 " RESULT(
	                       "000000a4", "00000010") "00000000 " CALL("00000055"));
	raw_expect(s, ANSWER("00000055"));
	raw_end(s);
}

/* LS-s13-02, LS-s16-04: the Reply lies in the memory that the Call provided. */
static void a_long_reply_is_pushed(void **state)
{
	struct side *s = server();

	s->on_request = answer_long;
	reply_bytes = 5000;
	raw_receive(s,
	            "00000055" X_CALL_LAST
	            "00000000 00000000 00000000 00000001 " SEG("000000a1", "00002000")
	                    CALL("00000055"));
	assert_int_equal(s->n_writes, 1);
	raw_expect(s, "00000055" X_REPLY_EXTERNAL "00000000 00000002 00000001 " SEG(
	                      "000000a1", "00001388") "00000000");
	raw_end(s);
}

/* -- Replies received ------------------------------------------------------ */

/* Sends a Call with two destinations, receives @reply, and returns the call's status.
 * @inv and the handles are those of the regions. */
static int status_after(const char *format, unsigned *ret_errors)
{
	static uint8_t result[2][6000];
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, 0);
	uint32_t h[3];
	uint64_t at[3];
	char reply[2000];
	int status;

	spec_dest(k, result[0], 6000);
	spec_dest(k, result[1], 6000);
	k->call.reply_bytes = 100000;
	(void)spec_sent(s, k);
	for (unsigned i = 0; i < 2; i++) {
		h[i] = spec_region(s, result[i])->handle;
		at[i] = (uintptr_t)result[i];
	}
	h[2] = spec_word(&s->sent[0], 21);
	at[2] = (uint64_t)spec_word(&s->sent[0], 23) << 32 | spec_word(&s->sent[0], 24);
	raw_skip(s);
	/* in the text, H0 A0 and so on stand for the handles and addresses */
	for (char *to = reply; (*to = *format); format++) {
		unsigned i = (unsigned)(format[1] - '0');

		if (*format == 'H')
			to += sprintf(to, "%08x", h[i]);
		else if (*format == 'A')
			to += sprintf(to, "%016llx", (unsigned long long)at[i]);
		else
			to++;
		if (*format == 'H' || *format == 'A')
			format++;
	}
	raw_receive(s, reply);
	assert_int_equal(s->calls_done, 1);
	status = k->call.status;
	*ret_errors = s->n_sent;
	if (s->n_sent) /* [ext §3.5 step 2] */
		*ret_errors -= spec_word(&s->sent[0], 3) == RDMA2_DONE;
	if (!status) {
		assert_true(k->dest[0].ret_offered && k->dest[1].ret_offered);
		assert_int_equal(k->dest[0].ret_used, k->dest[0].ret_len > 0);
		rr_conn_call_release(s->c, &k->call, s->now);
	}
	assert_false(s->disconnect);
	assert_int_equal(side_valid_regions(s), 0);
	spec_end(s, k);
	return status;
}

#define MINE(i, len) "00000000 00000001 H" i " " len " A" i " "

/* [ext §7.3 V34], [ext §7.3 V35], LS-s16-01 */
static void returned_results_match_the_call(void **state)
{
	static const struct {
		const char *reply;
		int status;
	} row[] = {
	        {X_REPLY_LAST "00000000 " REPLY("00000055"), 0},
	        {X_REPLY_LAST "00000001 " MINE("0", "00000010") REPLY("00000055"), 0},
	        {X_REPLY_LAST "00000002 00000000 00000000 " MINE("1", "00000010")
	                 REPLY("00000055"),
	         0},
	        /* all segments with lengths of 0: accepted */
	        {X_REPLY_LAST "00000002 " MINE("0", "00000000") MINE("1", "00000000")
	                 REPLY("00000055"),
	         0},
	        {X_REPLY_EXTERNAL "00000000 00000002 00000001 H2 00000008 A2 00000000",
	         -EBADMSG}, /* no Reply was written */
	        {X_REPLY_LAST "00000002 " MINE("1", "00000010") MINE("0", "00000010")
	                 REPLY("00000055"),
	         -EPROTO},
	        {X_REPLY_LAST "00000001 " MINE("0", "00001771") REPLY("00000055"),
	         -EPROTO},
	        {X_REPLY_LAST "00000003 " MINE("0", "00000010")
	                 MINE("1", "00000010") "00000000 00000000 " REPLY("00000055"),
	         -EPROTO},
	        {X_REPLY_LAST "00000001 00000000 00000002 H0 00000010 A0 "
	                      "H0 00000000 A0 " REPLY("00000055"),
	         -EPROTO},
	        /* base types return all chunks, with all their segments */
	        {MSG_REPLY EMPTY REPLY("00000055"), -EPROTO},
	        {MSG_REPLY "00000000 00000000 00000001 00000000 00000001 00000000 "
	                   "00000000 00000000 " REPLY("00000055"),
	         -EPROTO},
	        /* a body that lies elsewhere, or that only RPRC would have us pull */
	        {X_REPLY_EXTERNAL "00000000 00000002 00000001 H1 00000008 A1 00000000",
	         -EPROTO},
	        {X_REPLY_EXTERNAL
	         "00000000 00000001 00000001 000000aa 00000008 00000000 00010000 "
	         "00000000",
	         -EPROTO},
	        /* octets behind EXTERNAL, no payload behind LAST, other octets */
	        {X_REPLY_EXTERNAL
	         "00000000 00000002 00000001 H2 00000008 A2 00000000 00000001",
	         -EBADMSG},
	        {X_REPLY_LAST "00000000 ", -EBADMSG},
	        {X_REPLY_LAST "00000000 00000056 00000001", -EBADMSG},
	        {X_REPLY_LAST "ffffffff " REPLY("00000055"), -EBADMSG},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		char reply[1000] = "00000055";
		unsigned errors;

		assert_int_equal(status_after(strcat(reply, row[i].reply), &errors),
		                 row[i].status);
		assert_int_equal(errors, 0); /* a Reply is never answered */
	}
}

/* [ext §6.1]: each bit stands for the types that the peer accepts. */
static void each_bit_stands_for_some_types(void **state)
{
	for (unsigned bits = 0; bits < 4; bits++) {
		char props[100];
		struct side *s;
		struct spec_call *k = spec_new(0x55, 0);

		snprintf(props, sizeof(props), HTFAM_PROP("%08x"), bits);
		s = raw_ready_by(RR_CONN_CLIENT, &with_htfam, props);
		(void)spec_sent(s, k);
		expect_type(s, bits & 1 ? 0xffffff4a : RDMA2_MSG, 0);
		for (unsigned i = 0; i < 4; i++)
			raw_receive(s, GRANT("0001"));
		wait_for_grant(s);
		expect_type(s, bits & 2 ? 0xffffff45 : RDMA2_NOMSG, 0);
		spec_end(s, k);
	}
}

/* LS-s17-06: the first part names the length, and the memory is taken at once. */
static void the_memory_of_a_reply_is_taken_once(void **state)
{
	struct side *s = client();
	struct spec_call *k = spec_new(0x55, 0);
	struct rr_conn_info i;

	(void)spec_sent(s, k);
	raw_skip(s);
	raw_receive(s, "00000055" X_REPLY_MIDDLE "0001fff8 00000055 00000001");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 0x20000);
	spec_end(s, k);
}

/* -- sequences ------------------------------------------------------------- */

/* LS-s17-01, LS-s17-05, LS-s15-02: a Call of 20 octets in three parts. */
static void a_sequence_makes_a_call(void **state)
{
	struct side *s = server();

	raw_receive(s, "00000055" X_CALL_MIDDLE "0000000c 00000055 00000000");
	raw_receive(s, "00000055" X_CALL_MIDDLE "00000008 00000002");
	raw_receive(s, "00000055" X_CALL_LAST EMPTY "000186a3 00000003");
	raw_expect(s, ANSWER("00000055"));
	raw_expect_silence(s);
	raw_end(s);
}

#define FIRST_PART "00000055" X_CALL_MIDDLE "0000000c 00000055 00000000"

/* LS-s17-01: what may stand between the parts. */
static void grants_and_errors_do_not_disturb_a_sequence(void **state)
{
	static const char *const between[] = {
	        GRANT("0001"),
	        "00000007" X_GRANT,
	        ERR("00000055", "00000064"),
	        ERR("00001234", "00000002"),
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(between); i++) {
		struct side *s = server();

		raw_receive(s, FIRST_PART);
		raw_receive(s, between[i]);
		raw_receive(s,
		            "00000055" X_CALL_LAST EMPTY "00000002 00000003 00000004");
		raw_expect(s, ANSWER("00000055"));
		raw_expect_silence(s);
		raw_end(s);
	}
}

/* LS-s17-01, LS-s17-05: what ends a sequence with an error.  The rest is dropped. */
static void broken_sequences_are_refused(void **state)
{
	static const struct {
		const char *then, *rest;
		bool goes_on; /* the sequence itself is not disturbed */
	} row[] = {
	        {"00000055" X_CALL_EXTERNAL
	         "00000000 " BODY("00000001", "00000014") "00000000 00000000 00000000",
	         NULL, false},
	        {"00000055" MSG EMPTY "00000002 00000003 00000004", NULL, false},
	        {"00000055" MSG_MORE EMPTY "00000002", "00000055" MSG EMPTY WORDS4,
	         false},
	        {"00000056" X_CALL_LAST EMPTY CALL("00000056"), NULL, true},
	        {"00000056" MSG EMPTY CALL("00000056"), NULL, true},
	        /* too small, too large, 0, not falling by the payload */
	        {"00000055" X_CALL_MIDDLE "00000004 00000002",
	         "00000055" X_CALL_LAST EMPTY WORDS4, false},
	        {"00000055" X_CALL_MIDDLE "0000000c 00000002",
	         "00000055" X_CALL_LAST EMPTY WORDS4, false},
	        {"00000055" X_CALL_MIDDLE "00000000 00000002 00000003 00000004",
	         "00000055" X_CALL_LAST EMPTY WORDS4, false},
	        {"00000055" X_CALL_LAST EMPTY "00000002 00000003", NULL, false},
	        {"00000055" X_CALL_LAST EMPTY WORDS4, NULL, false},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = server();

		raw_receive(s, FIRST_PART);
		raw_receive(s, row[i].then);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(spec_word(&s->sent[0], 5), RDMA2_ERR_INVAL_CONT);
		raw_skip(s);
		if (row[i].rest)
			raw_receive(s, row[i].rest);
		if (row[i].goes_on) {
			raw_receive(s, "00000055" X_CALL_LAST EMPTY
			               "00000002 00000003 00000004");
			raw_expect(s, ANSWER("00000055"));
		}
		raw_expect_silence(s);
		expect_service(s);
		assert_int_equal(s->requested, 1 + row[i].goes_on);
		raw_end(s);
	}
}

/* A Reply in the middle of the peer's Call matches nothing and is not answered. */
static void the_other_side_is_not_part_of_a_sequence(void **state)
{
	struct side *s = server();

	raw_receive(s, FIRST_PART);
	raw_receive(s, "00000055" X_REPLY_LAST "00000000 " REPLY("00000055"));
	raw_expect_silence(s);
	raw_receive(s, "00000055" X_CALL_LAST EMPTY "00000002 00000003 00000004");
	raw_expect(s, ANSWER("00000055"));
	raw_end(s);
}

/* LS-s17-05, LS-s08-04: a claim above the limit is refused at the first part, and no
 * memory is taken for it. */
static void claims_above_the_limit_cost_nothing(void **state)
{
	static const char *const rest[] = {"fffffff0", "fffffffc", "00400000"};
	struct side *s = server();
	size_t used = s->mem_used;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rest); i++) {
		char message[200];

		snprintf(message, sizeof(message),
		         "00000055" X_CALL_MIDDLE "%s 00000055 00000000", rest[i]);
		raw_receive(s, message);
		raw_expect(s, INVAL_CONT("00000055"));
		assert_in_range(s->mem_used, used, used + 10000);
		raw_receive(s, "00000055" X_CALL_LAST EMPTY WORDS4);
		raw_expect_silence(s);
	}
	/* exactly 4 MiB, the limit of this side: the memory is taken at once */
	raw_receive(s, "00000055" X_CALL_MIDDLE "003ffff8 00000055 00000000");
	raw_expect_silence(s);
	assert_true(s->mem_used >= used + (4 << 20));
	raw_receive(s, "00000055" X_CALL_LAST EMPTY WORDS4);
	raw_expect(s, INVAL_CONT("00000055"));
	assert_in_range(s->mem_used, used, used + 20000);
	expect_service(s);
	raw_end(s);
}

/* ... and the claim counts against the memory of the connection. */
static void claims_are_charged(void **state)
{
	struct rr_conn_config cfg = with_htfam;
	struct side *s;

	cfg.max_held_bytes = 100000;
	s = raw_ready_by(RR_CONN_SERVER, &cfg, HTFAM_PROP("00000003"));
	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" X_CALL_MIDDLE "00020000 00000055 00000000");
	raw_expect(s, SYSTEM("00000055"));
	raw_receive(s, "00000055" X_CALL_LAST EMPTY WORDS4);
	expect_service(s);
	raw_end(s);
}

/* A Call of ours whose Reply breaks these rules ends, and the connection stays. */
static void broken_sequences_of_a_reply_end_the_call(void **state)
{
	static const struct {
		const char *part[3];
		int status;
	} row[] = {
	        {{X_REPLY_MIDDLE "00000008 00000055 00000001",
	          X_REPLY_LAST "00000000 00000000 00000000"},
	         0},
	        {{X_REPLY_MIDDLE "0000000c 00000055 00000001",
	          X_REPLY_MIDDLE "00000008 00000000",
	          X_REPLY_LAST "00000000 00000000 00000000"},
	         0},
	        {{X_REPLY_MIDDLE "00000008 00000055 00000001",
	          X_REPLY_LAST "00000000 00000000"},
	         -EPROTO},
	        {{X_REPLY_MIDDLE "00000000 00000055 00000001",
	          X_REPLY_LAST "00000000 00000000"},
	         -EPROTO},
	        {{X_REPLY_MIDDLE "fffffff0 00000055 00000001",
	          X_REPLY_LAST "00000000 00000000"},
	         -EPROTO},
	        {{X_REPLY_MIDDLE "00000008 00000055 00000001",
	          MSG_REPLY EMPTY "00000000 00000000"},
	         -EPROTO},
	        {{X_REPLY_MIDDLE "00000008 00000055 00000001", X_REPLY_EXTERNAL
	          "00000000 00000002 00000001 000000aa 00000008 00000000 00000000 "
	          "00000000"},
	         -EPROTO},
	        {{X_REPLY_MIDDLE "00000008", X_REPLY_LAST "00000000 00000000"},
	         -EBADMSG},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct side *s = client();
		struct spec_call *k = spec_new(0x55, 0), *next = spec_new(0x66, 0);

		(void)spec_sent(s, k);
		raw_skip(s);
		for (unsigned n = 0; n < 3 && row[i].part[n]; n++) {
			char message[300] = "00000055";

			raw_receive(s, strcat(message, row[i].part[n]));
		}
		raw_expect_silence(s);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(k->call.status, row[i].status);
		if (!k->call.status)
			rr_conn_call_release(s->c, &k->call, s->now);
		spec_start(s, next);
		raw_receive(s, "00000066" X_REPLY_LAST "00000000 " REPLY("00000066"));
		assert_int_equal(next->call.status, RR_CALL_OK);
		rr_conn_call_release(s->c, &next->call, s->now);
		free(next);
		spec_end(s, k);
	}
}

/* A Call given up between its parts is ended by a part that cannot be executed. */
static void a_cancelled_sequence_is_ended(void **state)
{
	struct side *s =
	        raw_ready_by(RR_CONN_CLIENT, &with_htfam, HTFAM_PROP("00000003"));
	struct spec_call *k = spec_new(0x55, 0);
	unsigned n;

	spec_add(k, spec_octets(), 60000, false);
	k->call.pieces = k->piece;
	/* the peer has granted 32 credits: too few for 200000 octets */
	spec_add(k, spec_octets(), 60000, false);
	spec_add(k, spec_octets(), 60000, false);
	spec_start(s, k);
	n = s->n_sent;
	assert_true(n < 40);
	rr_conn_cancel(s->c, &k->call, s->now);
	side_drain(s);
	side_complete_all(s);
	raw_receive(s, "00000000 00000002 00200004 ffffff45 00000000");
	assert_int_equal(s->n_sent, n + 1);
	assert_int_equal(spec_word(&s->sent[n], 3), 0xffffff4a);
	assert_int_equal(spec_word(&s->sent[n], 6), 1);
	assert_int_equal(spec_word(&s->sent[n], 7), 0xfffffffc);
	assert_int_equal(s->sent[n].len, 20 + 16 + 24 + 4);
	spec_end(s, k);
}

/* [ext §2.6]: the level of the reverse direction binds these types. */
static void the_reverse_level_binds(void **state)
{
	static const struct {
		uint32_t level;
		const char *call, *error;
	} row[] = {
	        {RDMA2_RVRSDIR_NONE, X_CALL_LAST EMPTY CALL("00000055"), "00000064"},
	        {RDMA2_RVRSDIR_SIMPLE, X_CALL_MIDDLE "0000000c 00000055 00000000",
	         "00000005"},
	        {RDMA2_RVRSDIR_CONT,
	         X_CALL_LAST "00000000 00000001 0000000c 00000001 " SEG(
	                 "000000aa", "00000004") "00000000 00000000 " CALL("00000055"),
	         "00000006 00000000"},
	        {RDMA2_RVRSDIR_CONT,
	         X_CALL_EXTERNAL
	         "00000000 " BODY("00000001", "00000014") "00000000 00000000 00000000",
	         "00000006 00000000"},
	        {RDMA2_RVRSDIR_CONT,
	         X_CALL_LAST "00000000 00000000 00000001 " RESULT(
	                 "000000a1", "00000010") "00000000 " CALL("00000055"),
	         "00000007 00000000"},
	        {RDMA2_RVRSDIR_CONT,
	         X_CALL_LAST "00000000 00000000 00000000 00000001 " SEG(
	                 "000000a1", "00000010") CALL("00000055"),
	         "00000008 00000000"},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct rr_conn_config cfg = with_htfam;
		char message[400] = "00000055", error[100];
		struct side *s;

		cfg.rvrsdir = row[i].level;
		s = raw_ready_by(RR_CONN_CLIENT, &cfg, HTFAM_PROP("00000003"));
		raw_receive(s, strcat(message, row[i].call));
		snprintf(error, sizeof(error), ERR("00000055", "%s"), row[i].error);
		raw_expect(s, error);
		raw_end(s);
	}
}

/* -- with responder-provided Read chunks ----------------------------------- */

static const struct rr_conn_config with_both = {
        .features = {.on = 1u << RR_FEATURE_HTFAM | 1u << RR_FEATURE_RPRC,
                     .cont_max_sends = 1,
                     .max_pull = 20000}};

#define BOTH_PROPS                                                                     \
	"00000002 ffffff31 00000004 00000003 "                                         \
	"ffffff21 0000000c 00000003 00002710 00100000"

/* LS-s10-03, LS-s10-04, LS-s13-02, LS-s16-04: the Reply is in our memory, and the Reply
 * chunk that was offered is absent, in either family. */
static void a_long_reply_is_exposed(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_SERVER, &with_both, BOTH_PROPS);
	const struct side_msg *m;

	s->on_request = answer_long;
	reply_bytes = 10000;
	raw_receive(s,
	            "00000055" X_CALL_LAST
	            "00000000 00000000 00000000 00000001 " SEG("000000a1", "00001000")
	                    CALL("00000055"));
	assert_int_equal(s->n_sent, 1);
	m = &s->sent[0];
	assert_int_equal(m->len, 20 + 16 + 16);
	assert_int_equal(spec_word(m, 3), 0xffffff4b);
	assert_int_equal(spec_flags(m), RDMA2_F_RESPONSE);
	assert_int_equal(spec_word(m, 6), 1); /* pull */
	assert_int_equal(spec_word(m, 7), 1);
	assert_int_equal(spec_word(m, 8), s->region[0].handle);
	assert_int_equal(spec_word(m, 9), 10000);
	assert_int_equal(spec_word(m, 12), 0);
	assert_int_equal(s->n_writes, 0);
	raw_skip(s);
	raw_receive(s, "00000055" V2 "00000003 00000000 ");
	assert_int_equal(side_valid_regions(s), 0);
	raw_receive(s,
	            "00000055" MSG "00000000 00000000 00000000 00000001 00000001 " SEG(
	                    "000000a1", "00001000") CALL("00000055"));
	m = &s->sent[0];
	assert_int_equal(m->len, 20 + 4 + 24 + 12);
	assert_int_equal(spec_word(m, 3), RDMA2_NOMSG);
	assert_int_equal(spec_word(m, 6), 1);
	assert_int_equal(spec_word(m, 7), 0);  /* Position Zero */
	assert_int_equal(spec_word(m, 14), 0); /* no Reply chunk */
	raw_end(s);
}

#define PULL(len) X_REPLY_EXTERNAL "00000000 " BODY("00000001", len) "00000000"

/* LS-s13-02, LS-s13-03, LS-s07-05: pulled before the user sees it, up to max_pull. */
static void an_exposed_reply_is_pulled(void **state)
{
	static uint8_t reply[20000];

	rr_store_u32(reply, 0x55);
	rr_store_u32(reply + 4, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &with_both, BOTH_PROPS);
		struct spec_call *k = spec_new(0x55, 0);

		s->read_from = reply;
		(void)spec_sent(s, k);
		raw_skip(s);
		raw_receive(s, i ? "00000055" PULL("00004e21")
		                 : "00000055" PULL("00004e20"));
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(s->n_reads, !i);
		assert_int_equal(k->call.status, i ? -EOVERFLOW : RR_CALL_OK);
		assert_int_equal(k->call.reply_len, i ? 0 : 20000);
		if (!i) {
			rr_conn_call_release(s->c, &k->call, s->now);
			wait_for_grant(s);
		}
		raw_expect(s, "00000055" V2 "00000003 00000000"); /* RDMA2_DONE */
		spec_end(s, k);
	}
}

/* A client that owes a notification about XID 0x55, whose peer accepts RDMA2_MSG_DONE. */
static struct side *client_that_owes(struct spec_call *first)
{
	static uint8_t reply[20000];
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &with_both,
	                              "00000003 ffffff31 00000004 00000003 "
	                              "ffffff21 0000000c 00000007 00002710 00100000 "
	                              "00000003 00000004 00001000");

	rr_store_u32(reply, 0x55);
	rr_store_u32(reply + 4, 1);
	s->read_from = reply;
	(void)spec_sent(s, first);
	raw_skip(s);
	raw_receive(s, "00000055" PULL("00004e20"));
	assert_int_equal(first->call.status, RR_CALL_OK);
	rr_conn_call_release(s->c, &first->call, s->now);
	raw_expect_silence(s);
	return s;
}

/* [ext §3.6], [ext §6.1]: a Call that carries notifications has the base types, if that
 * header leaves room for them. */
static void a_call_that_notifies_is_in_base_types(void **state)
{
	/* the header is 76 octets, or 84 in base types, and 8 for the list */
	static const struct {
		size_t tail;
		uint32_t type;
	} row[] = {
	        {4096 - 76, 0xffffff4a}, {4096 - 84, 0xffffff4a},
	        {4096 - 88, 0xffffff4a}, {4096 - 92, RDMA2_MSG_DONE},
	        {100, RDMA2_MSG_DONE},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(row); i++) {
		struct spec_call *first = spec_new(0x55, 0), *k = spec_new(0x66, 5000);
		struct side *s = client_that_owes(first);

		spec_add(k, spec_octets(), 5000, true);
		spec_add(k, spec_octets(), row[i].tail - SPEC_HEAD, false);
		spec_start(s, k);
		assert_int_equal(spec_word(&s->sent[0], 3), row[i].type);
		if (row[i].type == RDMA2_MSG_DONE) {
			assert_int_equal(spec_word(&s->sent[0], 5), 1);
			assert_int_equal(spec_word(&s->sent[0], 6), 0x55);
			raw_receive(s, "00000066" MSG_REPLY EMPTY REPLY("00000066"));
		} else {
			raw_receive(s, "00000066" X_REPLY_LAST
			               "00000000 " REPLY("00000066"));
		}
		assert_int_equal(k->call.status, RR_CALL_OK);
		rr_conn_call_release(s->c, &k->call, s->now);
		free(first);
		spec_end(s, k);
	}
}

/* [ext §2.4]: if RDMA2_MSG_DONE is refused, these types are still sent. */
static void a_refused_notification_is_not_a_refused_type(void **state)
{
	struct spec_call *first = spec_new(0x55, 0), *k = spec_new(0x66, 0),
	                 *next = spec_new(0x77, 0);
	struct side *s = client_that_owes(first);

	(void)spec_sent(s, k);
	expect_type(s, RDMA2_MSG_DONE, 0);
	raw_receive(s, INVAL_HTYPE("00000066"));
	assert_int_equal(k->call.status, RR_CALL_REMOTE_ERROR);
	assert_true(rr_call_recover(s->c, &k->call));
	side_forget_sent(s);
	spec_start(s, next);
	expect_type(s, 0xffffff4a, 0);
	free(first);
	free(k);
	spec_end(s, next);
}

/* [ext §6.5]: a Reply too long to be pulled is continued, up to the limit of a base
 * sequence. */
static void a_reply_too_long_to_be_pulled_is_continued(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rr_conn_config cfg = with_both;
		struct spec_call *k = spec_new(0x55, 0);
		struct rr_conn_info info;
		struct side *s;

		cfg.max_message_bytes = 40000;
		s = raw_ready_by(RR_CONN_CLIENT, &cfg, BOTH_PROPS);
		(void)spec_sent(s, k);
		raw_skip(s);
		/* 40000 octets, or 40004 */
		raw_receive(s,
		            i ? "00000055" X_REPLY_MIDDLE "00009c3c 00000055 00000001"
		              : "00000055" X_REPLY_MIDDLE "00009c38 00000055 00000001");
		rr_conn_info(s->c, &info);
		assert_int_equal(info.held_bytes > 0, !i);
		raw_receive(s, "00000055" X_REPLY_LAST "00000000 00000000");
		assert_int_equal(k->call.status, -EPROTO);
		assert_int_equal(s->calls_done, 1);
		spec_end(s, k);
	}
}

/* LS-s17-01: a notification inside a sequence does not disturb it. */
static void a_notification_does_not_disturb_a_sequence(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_SERVER, &with_both, BOTH_PROPS);

	s->on_request = raw_answer_call;
	raw_receive(s, FIRST_PART);
	raw_receive(s, "00000055" V2 "00000003 00000000 ");
	raw_receive(s, "00000055" X_CALL_LAST EMPTY "00000002 00000003 00000004");
	raw_expect(s, ANSWER("00000055"));
	raw_expect_silence(s);
	raw_end(s);
}

/* -- properties ------------------------------------------------------------ */

static uint8_t value[12000];

/* Fills a table with @n properties of @len octets each. */
static struct rr_ext_table own_props(unsigned n, uint32_t len)
{
	struct rr_ext_table t = {.n_props = n};

	for (unsigned i = 0; i < n; i++)
		t.prop[i] = (struct rr_ext_prop){
		        .id = 0x80000001 + i, .data = value, .len = len};
	return t;
}

static struct side *client_with(const struct rr_ext_table *t)
{
	struct rr_conn_config cfg = with_htfam;

	cfg.ext = t;
	return raw_new(RR_CONN_CLIENT, &cfg);
}

/* LS-s18-02: the first set is in the base type and waits for the peer's. */
static void long_properties_go_on_in_these_types(void **state)
{
	struct rr_ext_table t = own_props(15, 600);
	struct side *s = client_with(&t);

	assert_int_equal(s->n_sent, 1);
	expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
	raw_receive(s, GRANT("0010")); /* the server's types are still unknown */
	raw_expect_silence(s);
	raw_receive(s, PROPS HTFAM_PROP("00000002"));
	assert_int_equal(s->n_sent, 3);
	expect_type(s, 0xffffff46, 0);
	expect_type(s, 0xffffff46, 0);
	expect_type(s, 0xffffff47, 0);
	assert_true(s->ready);
	raw_end(s);
}

/* ... and toward a peer without them, in the base type. */
static void a_base_peer_gets_base_properties(void **state)
{
	static const char *const theirs[] = {"00000000", HTFAM_PROP("00000001")};

	for (unsigned i = 0; i < 2; i++) {
		struct rr_ext_table t = own_props(15, 600);
		struct side *s = client_with(&t);
		char message[200] = PROPS;

		expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
		raw_receive(s, strcat(message, theirs[i]));
		expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
		expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
		expect_type(s, RDMA2_CONNPROP, 0);
		assert_true(s->ready);
		raw_end(s);
	}
}

/* ... a value that fits in no message goes in parts of the base type, before LAST. */
static void a_long_value_goes_in_base_parts(void **state)
{
	struct rr_ext_table t = own_props(1, 10000);
	struct side *s = client_with(&t);

	expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
	raw_receive(s, PROPS HTFAM_PROP("00000003"));
	expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE | RDMA2_F_MORE);
	expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE | RDMA2_F_MORE);
	expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
	expect_type(s, 0xffffff47, 0);
	assert_true(s->ready);
	raw_end(s);
}

/* A set that fits in the first message needs no other, and nothing waits. */
static void short_properties_are_one_message(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, &with_htfam);

	assert_int_equal(s->n_sent, 1);
	expect_type(s, RDMA2_CONNPROP, 0);
	raw_end(s);
}

/* LS-s18-03: each set is complete; grants and errors may stand between them. */
static void received_sets_are_complete(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, &with_htfam);
	struct rr_conn_info i;

	s->on_request = raw_answer_call;
	raw_receive(s, PROPS_TPMORE HTFAM_PROP("00000003"));
	expect_type(s, RDMA2_CONNPROP, 0);
	raw_receive(s, "00000078" X_PROPS_MIDDLE "00000001 00000003 00000004 00004000");
	raw_receive(s, "00000000" X_GRANT);
	raw_receive(s, ERR("00001234", "00000002"));
	raw_receive(s, "00000079" X_PROPS_MIDDLE "00000001 00000004 00000004 00000007");
	assert_false(s->ready);
	raw_receive(s, "0000007a" X_PROPS_LAST "00000000");
	assert_true(s->ready);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.peer_segment_bytes, 0x4000);
	assert_int_equal(i.peer_max_segments, 7);
	raw_expect_silence(s);
	raw_receive(s, "0000007b" X_PROPS_LAST "00000000");
	raw_expect(s, INVAL_HTYPE("0000007b"));
	raw_receive(s, "0000007c" X_PROPS_MIDDLE "00000000");
	raw_expect(s, INVAL_HTYPE("0000007c"));
	raw_receive(s, "0000007d" CONNPROP "00000000");
	raw_expect(s, INVAL_HTYPE("0000007d"));
	expect_service(s);
	raw_end(s);
}

/* Errors in a set are those of the base type. */
static void faulty_sets_are_refused(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, &with_htfam);

	raw_receive(s, PROPS_TPMORE HTFAM_PROP("00000003"));
	raw_skip(s);
	raw_receive(s, "00000078" X_PROPS_MIDDLE "00000001 00000003 00000003 00004000");
	raw_expect(s, ERR("00000078", "00000003"));
	raw_receive(s, "00000079" X_PROPS_MIDDLE "ffffffff");
	raw_expect(s, BAD_XDR("00000079"));
	/* between the parts of one property nothing else may stand */
	raw_receive(s, "0000007a 00000002 00200001 00000005 00000006 00000001");
	raw_receive(s, "0000007b" X_PROPS_LAST "00000000");
	raw_expect(s, INVAL_CONT("0000007b"));
	raw_end(s);
}

/* [ext §2.4]: a value that is no word is refused, an empty one is the default. */
static void the_property_is_one_word(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, &with_htfam);
	struct rr_conn_info i;

	raw_receive(s, PROPS_TPMORE "00000001 ffffff31 00000008 00000003 00000000");
	raw_skip(s);
	raw_expect(s, ERR("00000077", "00000003"));
	raw_receive(s, "00000078" CONNPROP "00000001 ffffff31 00000000");
	assert_true(s->ready);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.features, 0);
	raw_end(s);
}

/* ... and a peer that refuses ours gets and may send base types alone. */
static void a_refused_property_switches_the_feature_off(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, &with_htfam);
	struct spec_call *k = spec_new(0x55, 0);
	char error[100];

	snprintf(error, sizeof(error), ERR("%08x", "00000003"),
	         spec_word(&s->sent[0], 0));
	raw_skip(s);
	raw_receive(s, PROPS HTFAM_PROP("00000003"));
	raw_receive(s, error);
	assert_int_equal(spec_word(spec_sent(s, k), 3), RDMA2_MSG);
	raw_skip(s);
	raw_receive(s, "00000011" X_CALL_LAST EMPTY CALL("00000011"));
	raw_expect(s, INVAL_HTYPE("00000011"));
	spec_end(s, k);
}

/* Two steps each: ours are "first" and "second". */
static int step(void *ctx, const void *in, size_t len, const void **ret,
                size_t *ret_len)
{
	unsigned *n = ctx;

	*ret = *n ? "second!" : "first--";
	*ret_len = 8;
	return (*n)++ > 0;
}

/* [ext §6.1]: steps of host authentication are MIDDLE, and the end is LAST. */
static void authentication_goes_on_in_these_types(void **state)
{
	struct rr_conn_config cfg = with_htfam;
	unsigned steps = 0;
	struct side *s;

	cfg.auth = (struct rr_auth){.step = step, .ctx = &steps};
	cfg.auth_required = true;
	s = raw_new(RR_CONN_CLIENT, &cfg);
	expect_type(s, RDMA2_CONNPROP, RDMA2_F_TPMORE);
	raw_receive(s, PROPS_TPMORE HTFAM_PROP("00000003"));
	expect_type(s, 0xffffff46, 0);
	raw_expect_silence(s);
	raw_receive(s, "00000000" X_GRANT); /* not an RPC message */
	raw_expect_silence(s);
	raw_receive(s, "00000078" X_PROPS_MIDDLE "00000001 00000006 00000008 "
	               "00000004 61626364");
	expect_type(s, 0xffffff46, 0);
	expect_type(s, 0xffffff47, 0);
	assert_false(s->ready);
	raw_receive(s, "00000079" X_PROPS_LAST "00000000");
	assert_true(s->ready);
	raw_end(s);
	/* a Call before the end closes the connection, as in the base */
	steps = 0;
	s = raw_new(RR_CONN_CLIENT, &cfg);
	raw_receive(s, PROPS_TPMORE HTFAM_PROP("00000003"));
	raw_receive(s, "00000055" X_CALL_LAST EMPTY CALL("00000055"));
	raw_expect_close(s, -EACCES);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(types_are_unknown_without_the_feature),
	        cmocka_unit_test(types_are_unknown_before_the_property),
	        cmocka_unit_test(the_response_flag_is_ignored),
	        cmocka_unit_test(more_and_tpmore_are_refused),
	        cmocka_unit_test(refused_types_are_not_sent_again),
	        cmocka_unit_test(a_refused_base_type_is_final),
	        cmocka_unit_test(a_grant_is_a_prefix),
	        cmocka_unit_test(a_small_call_is_one_last),
	        cmocka_unit_test(a_reply_in_base_types_is_taken),
	        cmocka_unit_test(each_family_is_answered_in_kind),
	        cmocka_unit_test(calls_are_middle_middle_last),
	        cmocka_unit_test(arguments_and_results_have_one_format),
	        cmocka_unit_test(a_special_call_has_a_body_chunk),
	        cmocka_unit_test(a_body_chunk_is_pulled),
	        cmocka_unit_test(replies_are_middle_middle_last),
	        cmocka_unit_test(unused_results_are_left_out),
	        cmocka_unit_test(a_long_reply_is_pushed),
	        cmocka_unit_test(returned_results_match_the_call),
	        cmocka_unit_test(each_bit_stands_for_some_types),
	        cmocka_unit_test(the_memory_of_a_reply_is_taken_once),
	        cmocka_unit_test(a_sequence_makes_a_call),
	        cmocka_unit_test(grants_and_errors_do_not_disturb_a_sequence),
	        cmocka_unit_test(broken_sequences_are_refused),
	        cmocka_unit_test(the_other_side_is_not_part_of_a_sequence),
	        cmocka_unit_test(claims_above_the_limit_cost_nothing),
	        cmocka_unit_test(claims_are_charged),
	        cmocka_unit_test(broken_sequences_of_a_reply_end_the_call),
	        cmocka_unit_test(a_cancelled_sequence_is_ended),
	        cmocka_unit_test(the_reverse_level_binds),
	        cmocka_unit_test(a_long_reply_is_exposed),
	        cmocka_unit_test(an_exposed_reply_is_pulled),
	        cmocka_unit_test(a_call_that_notifies_is_in_base_types),
	        cmocka_unit_test(a_refused_notification_is_not_a_refused_type),
	        cmocka_unit_test(a_reply_too_long_to_be_pulled_is_continued),
	        cmocka_unit_test(a_notification_does_not_disturb_a_sequence),
	        cmocka_unit_test(long_properties_go_on_in_these_types),
	        cmocka_unit_test(a_base_peer_gets_base_properties),
	        cmocka_unit_test(a_long_value_goes_in_base_parts),
	        cmocka_unit_test(short_properties_are_one_message),
	        cmocka_unit_test(received_sets_are_complete),
	        cmocka_unit_test(faulty_sets_are_refused),
	        cmocka_unit_test(the_property_is_one_word),
	        cmocka_unit_test(a_refused_property_switches_the_feature_off),
	        cmocka_unit_test(authentication_goes_on_in_these_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
