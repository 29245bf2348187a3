/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The errors of section 7, one by one: what makes us send each of them, with all
 * its octets (V2-6.3.3-01 to -07, V2-7-02 to -05), and that nothing else comes.
 * Silent discards stay silent, and their credits count.
 */
#include "test_conn_raw.h"

#define PROPS "00000077 00000002 00200020 00000005 00000000 "

/* The peer's Send and Receive size is 1024. */
static struct side *server_of_small(const struct rr_conn_config *cfg)
{
	struct side *s = raw_new(RR_CONN_SERVER, cfg);

	raw_receive(s, PROPS "00000002 00000001 00000004 00000400 "
	                     "00000002 00000004 00000400");
	assert_true(s->ready);
	side_forget_sent(s);
	return s;
}

static void answer_plain(struct side *s, struct rr_request *r)
{
	static uint8_t words[8];
	const struct rr_piece p = {words, sizeof(words), false};

	rr_store_u32(words, r->xid);
	rr_store_u32(words + 4, 1);
	rr_conn_reply(s->c, r, &p, 1, s->now);
}

/* After whatever it was: a Call is served, under the same XID as well. */
static void expect_service(struct side *s, const char *xid)
{
	char in[400], out[400];
	unsigned before = s->requested;

	s->on_admit = NULL;
	s->on_request = answer_plain;
	snprintf(in, sizeof(in), "%s" MSG EMPTY "%s 00000000", xid, xid);
	snprintf(out, sizeof(out), "%s" MSG_REPLY EMPTY "%s 00000001", xid, xid);
	raw_receive(s, in);
	raw_expect(s, out);
	raw_expect_silence(s);
	assert_int_equal(s->requested, before + 1);
}

/* One error, nothing more; nothing is executed; then all goes on. */
static void expect_error(struct side *s, const char *xid, const char *out)
{
	raw_expect(s, out);
	raw_expect_silence(s);
	expect_service(s, xid);
	raw_end(s);
}

static void refused(const char *in, const char *out)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_receive(s, in);
	assert_int_equal(s->requested, 0);
	expect_error(s, "00000055", out);
}

/* -- 1 to 5 ---------------------------------------------------------------- */

/* V2-7.1.1-01, -02, V2-7-03 */
static void err_vers_is_sent_for_other_versions(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_receive(s, "00000055 00000063 00200001 00000000 00000000" EMPTY CALL(
	                       "00000055"));
	expect_error(s, "00000055",
	             "00000055 00000063 00200001 00000004 00000001 "
	             "00000001 00000002 00000002");
}

/* V2-7.2.1-01 */
static void bad_xdr_is_sent_for_what_cannot_be_decoded(void **state)
{
	refused("00000055" MSG "00000000 00000002 00000000 00000000" CALL("00000055"),
	        ERR("00000055", "00000002"));
}

/* V2-7.2-02 */
static void bad_xdr_is_sent_for_two_xids(void **state)
{
	refused("00000055" MSG EMPTY CALL("00000056"), ERR("00000055", "00000002"));
}

/* V2-7.2.2-01, -02 */
static void bad_propval_is_sent_for_bad_property_values(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);
	struct rr_conn_info i;

	raw_receive(s, PROPS "00000002 00000002 00000004 00002000 "
	                     "00000001 00000002 04000000");
	raw_skip(s); /* its own properties */
	rr_conn_info(s->c, &i);
	assert_int_equal(i.send_inline, 4096);
	expect_error(s, "00000055", ERR("00000077", "00000003"));
}

/* V2-7.1.2-01 */
static void inval_htype_is_sent_for_unknown_types(void **state)
{
	refused("00000055" V2 "00000009 00000000" EMPTY CALL("00000055"),
	        ERR("00000055", "00000004"));
}

/* V2-7.1.3-01, -02: once, whatever follows. */
static void inval_cont_is_sent_once_for_a_sequence(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_receive(s, "00000055" MSG_MORE
	               "00000000 00000000 00000000 00000001 00000000" CALL("00000055"));
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000000");
	raw_receive(s, "00000055" MSG EMPTY "00000000");
	assert_int_equal(s->requested, 0);
	expect_error(s, "00000055", ERR("00000055", "00000005"));
}

/* -- 6 to 8 ---------------------------------------------------------------- */

/* A Call with @reads Read chunks, @writes Write chunks of @segs segments each. */
static const char *call_with(unsigned reads, unsigned writes, unsigned segs)
{
	static char hex[20000];
	char *p = hex;

	p += sprintf(p, "00000055" MSG "00000000");
	for (unsigned i = 0; i < reads; i++)
		p += sprintf(p, READ("%08x", "00000000"), 16 + 4 * i);
	p += sprintf(p, "00000000");
	for (unsigned i = 0; i < writes; i++) {
		p += sprintf(p, "00000001 %08x", segs);
		for (unsigned k = 0; k < segs; k++)
			p += sprintf(p, SEG("000000ab", "00000004"));
	}
	p += sprintf(p, "00000000 00000000" CALL("00000055"));
	for (unsigned i = 0; i < reads; i++)
		p += sprintf(p, "00000000");
	return hex;
}

/* V2-7.3.1-01, -03 */
static void read_chunks_is_sent_for_more_than_there_may_be(void **state)
{
	const struct rr_conn_config cfg = {.max_segments = 64};

	for (unsigned n = 16; n <= 17; n++) {
		struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

		s->on_request = answer_plain;
		raw_receive(s, call_with(n, 0, 0));
		assert_int_equal(s->n_reads, 0);
		if (n == 16) {
			raw_expect(s, "00000055" MSG_REPLY EMPTY "00000055 00000001");
			raw_end(s);
			continue;
		}
		assert_int_equal(s->admitted, 0);
		expect_error(s, "00000055", ERR("00000055", "00000006 00000010"));
	}
}

/* V2-7.3.2-01 */
static void write_chunks_is_sent_for_more_than_there_may_be(void **state)
{
	refused(call_with(0, 17, 0), ERR("00000055", "00000007 00000010"));
}

/* V2-7.3.3-01 */
static void segments_is_sent_for_more_than_were_advertised(void **state)
{
	refused(call_with(0, 1, 17), ERR("00000055", "00000008 00000010"));
	refused(call_with(0, 2, 9), ERR("00000055", "00000008 00000010"));
}

/* [K6, K9]: what no Reply could give back is refused before it is executed.  62
 * segments and four octets of payload take 1040 octets, 61 of them 1024. */
static void segments_is_sent_for_lists_that_no_reply_can_return(void **state)
{
	const struct rr_conn_config cfg = {.max_segments = 64};
	struct side *s = server_of_small(&cfg);

	raw_receive(s, call_with(0, 1, 62));
	assert_int_equal(s->admitted, 0);
	expect_error(s, "00000055", ERR("00000055", "00000008 0000003d"));
	s = server_of_small(&cfg);
	s->on_request = answer_plain;
	raw_receive(s, call_with(0, 1, 61));
	assert_int_equal(s->requested, 1);
	assert_int_equal(s->n_sent, 2); /* four octets beside the list, then four */
	assert_int_equal(s->sent[1].len, 1024);
	raw_end(s);
	/* 1044 octets of list are as much as fits: no payload would */
	s = raw_new(RR_CONN_SERVER, &cfg);
	raw_receive(s, PROPS "00000001 00000002 00000004 00000414");
	side_forget_sent(s);
	raw_receive(s, call_with(0, 2, 31));
	assert_int_equal(s->admitted, 0);
	expect_error(s, "00000055", ERR("00000055", "00000008 0000003d"));
}

/* [M12] for the Reply: nor do we offer such lists.  A Reply chunk that would not come
 * back beside them is left out, for continuation will do. */
static void lists_that_no_reply_can_return_are_not_offered(void **state)
{
	const struct rr_conn_config cfg = {.recv_bytes = 1024, .segment_bytes = 1024};
	static const size_t lens[] = {62, 61, 47};
	static uint8_t words[8] = {0, 0, 0, 0x55}, result[63488];
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_dest d = {.base = result};
	struct rr_call call = {
	        .xid = 0x55, .pieces = &p, .n_pieces = 1, .dests = &d, .n_dests = 1};

	for (unsigned k = 0; k < 3; k++) {
		struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

		side_forget_sent(s);
		raw_receive(s, PROPS "00000001 00000004 00000004 00000040");
		d.len = lens[k] * 1024;
		/* with it 17 segments more, 64 in all */
		call.reply_bytes = k == 2 ? 17000 : 0;
		assert_int_equal(rr_conn_call(s->c, &call, s->now), 0);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(call.status, k ? 0 : -EMSGSIZE);
		assert_int_equal(s->n_sent, k ? 1 : 0);
		if (k) /* one Write chunk, no Reply chunk */
			assert_int_equal(s->sent[0].len, 36 + 8 + lens[k] * 16 + 8);
		raw_end(s);
	}
}

/* -- 9, 10, 100 ------------------------------------------------------------ */

static void answer_long(struct side *s, struct rr_request *r)
{
	static uint8_t head[12], item[5000];
	const struct rr_piece p[] = {
	        {head, 12, false}, {item, 8, true}, {item, 5000, true}};

	rr_store_u32(head, r->xid);
	rr_store_u32(head + 4, 1);
	rr_conn_reply(s->c, r, p, 3, s->now);
}

/* V2-7.3.4-01, -02, -03, [K10]: the second chunk of two; nothing was written. */
static void write_resource_names_the_chunk_and_the_length(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = answer_long;
	raw_receive(
	        s,
	        "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                "000000ab",
	                "00000008") "00000001 00000001" SEG("000000ac",
	                                                    "00001387") "00000000 "
	                                                                "0000000"
	                                                                "0" CALL("00"
	                                                                         "00"
	                                                                         "00"
	                                                                         "5"
	                                                                         "5"));
	assert_int_equal(s->n_writes, 0);
	expect_error(s, "00000055", ERR("00000055", "00000009 00000002 00001388"));
}

/* V2-7.3.5-01, -02, [E11]: where a Reply cannot be continued. */
static void reply_resource_names_the_length(void **state)
{
	const struct rr_conn_config cfg = {.rvrsdir = 1};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, PROPS "00000000");
	side_forget_sent(s);
	s->on_request = answer_long;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	raw_expect(s, ERR("00000055", "0000000a 0000139c"));
	raw_expect_silence(s);
	raw_end(s);
}

/* ... and not where it can. */
static void a_long_reply_is_continued_where_it_can_be(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = answer_long;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_int_equal(s->n_sent, 2);
	raw_end(s);
}

/* V2-7.4.1-01, -02, [P11] */
static void system_is_sent_for_what_has_no_other_name(void **state)
{
	const struct rr_conn_config cfg = {.max_chunk_bytes = 1000};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	raw_receive(s, "00000055" MSG "00000000" READ(
	                       "00000010", "000003e9") "00000000 "
	                                               "00000000 "
	                                               "00000000" CALL("00000055"));
	assert_int_equal(s->n_reads, 0);
	expect_error(s, "00000055", ERR("00000055", "00000064"));
}

/* V2-7.4.1-02, [K14]: a Read that fails while the connection lives. */
static void system_is_sent_for_a_failed_read(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->fail_reads = true;
	raw_receive(s, "00000055" MSG "00000000" READ(
	                       "00000010", "00000008") "00000000 "
	                                               "00000000 "
	                                               "00000000" CALL("00000055"));
	assert_int_equal(s->requested, 0);
	expect_error(s, "00000055", ERR("00000055", "00000064"));
}

/* V2-7.3-04, V2-7.3.1-01, [K13]: where RDMA Reads cannot be made, the Responder reads
 * no chunk and answers READ_CHUNKS 0, so that the Requester sends the Call without them. */
static void read_chunks_0_where_reads_cannot_be_made(void **state)
{
	static const char *const calls[] = {
	        "00000055" MSG
	        "00000000" READ("00000010", "00000008") "00000000 "
	                                                "00000000 "
	                                                "00000000" CALL("0000005"
	                                                                "5"),
	        "00000055" NOMSG "00000000" READ("00000000", "00000100") "00000000 "
	                                                                 "00000000 "
	                                                                 "00000000",
	};

	for (unsigned i = 0; i < 2; i++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);

		rr_conn_cannot_read(s->c);
		raw_receive(s, calls[i]);
		assert_int_equal(s->n_reads, 0);
		assert_int_equal(s->requested, 0);
		expect_error(s, "00000055", ERR("00000055", "00000006 00000000"));
	}
}

/* -- silence --------------------------------------------------------------- */

static uint32_t credits(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	return i.avail + i.owed;
}

/* V2-7-01, V2-7-06, [E3 to E5, E15, M10]: no answer, and the credits count [C8]. */
static void silent_discards(void **state)
{
	static const char *const rows[] = {
	        "00000055" ERRORMSG "0000000b", /* unknown codes */
	        "00000055" ERRORMSG "0000004d",
	        "00000055" ERRORMSG "00000000",
	        "00000055" ERRORMSG "ffffffff",
	        "00000055" ERRORMSG "00000002",          /* no such call */
	        "00000055" ERRORMSG,                     /* no code */
	        "00000055" ERRORMSG "00000001 00000001", /* arms cut off */
	        "00000055" ERRORMSG "00000006",
	        "00000055" ERRORMSG "00000009 00000001",
	        "00000055" V2 "00000004 00000003 00000002", /* MORE */
	        "00000055" V2 "00000004 00000000 00000002", /* RESPONSE clear */
	        "00000055" MSG_REPLY EMPTY REPLY("00000055"),
	        "00000055" MSG_REPLY "00000000 00000002",
	        "00000055" V2 "00000009 00000001",
	};
	static const enum rr_conn_role roles[] = {RR_CONN_CLIENT, RR_CONN_SERVER};

	for (unsigned k = 0; k < 2 * RR_ARRAY_SIZE(rows); k++) {
		struct side *s = raw_ready(roles[k & 1], NULL);
		uint32_t before = credits(s);

		raw_receive(s, rows[k / 2]);
		raw_expect_silence(s);
		assert_int_equal(credits(s), before + 1);
		raw_receive(s, "00000055 00000002 00200001 00000000 000000");
		raw_expect_silence(s); /* too short: not even that */
		assert_int_equal(credits(s), before + 1);
		raw_end(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(err_vers_is_sent_for_other_versions),
	        cmocka_unit_test(bad_xdr_is_sent_for_what_cannot_be_decoded),
	        cmocka_unit_test(bad_xdr_is_sent_for_two_xids),
	        cmocka_unit_test(bad_propval_is_sent_for_bad_property_values),
	        cmocka_unit_test(inval_htype_is_sent_for_unknown_types),
	        cmocka_unit_test(inval_cont_is_sent_once_for_a_sequence),
	        cmocka_unit_test(read_chunks_is_sent_for_more_than_there_may_be),
	        cmocka_unit_test(write_chunks_is_sent_for_more_than_there_may_be),
	        cmocka_unit_test(segments_is_sent_for_more_than_were_advertised),
	        cmocka_unit_test(segments_is_sent_for_lists_that_no_reply_can_return),
	        cmocka_unit_test(lists_that_no_reply_can_return_are_not_offered),
	        cmocka_unit_test(write_resource_names_the_chunk_and_the_length),
	        cmocka_unit_test(reply_resource_names_the_length),
	        cmocka_unit_test(a_long_reply_is_continued_where_it_can_be),
	        cmocka_unit_test(system_is_sent_for_what_has_no_other_name),
	        cmocka_unit_test(system_is_sent_for_a_failed_read),
	        cmocka_unit_test(read_chunks_0_where_reads_cannot_be_made),
	        cmocka_unit_test(silent_discards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
