/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Responder against messages that break a rule: one row a message, the
 * answer laid out by hand.  After each row a plain Call must still be served.
 * Rows follow the table "Order of checks on receipt".
 */
#include "test_conn_raw.h"

struct row {
	const char *name;
	const char *in[3];
	const char *out; /* the one answer; NULL = silence */
};

static const struct row short_messages_are_discarded_rows[] = {
        /* [check: length]: V2-7-01 */
        {"19 octets", {"00000055 00000002 00200001 00000000 000000"}, NULL},
        {"no octets", {""}, NULL},
};

static const struct row unknown_header_types_are_refused_rows[] = {
        /* [check: header type]: V2-6.1-06, -07 */
        {"type 2", {"00000055" V2 "00000002 00000000" EMPTY}, INVAL_HTYPE("00000055")},
        {"type 3", {"00000055" V2 "00000003 00000000" EMPTY}, INVAL_HTYPE("00000055")},
        {"type 6", {"00000055" V2 "00000006 00000000"}, INVAL_HTYPE("00000055")},
        {"type all ones", {"00000055" V2 "ffffffff 00000000"}, INVAL_HTYPE("00000055")},
};

static const struct row unknown_header_types_of_replies_are_dropped_rows[] = {
        {"unknown type as a response", {"00000055" V2 "00000006 00000001"}, NULL},
};

static const struct row tpmore_belongs_to_properties_rows[] = {
        /* [check: TPMORE]: V2-6.2.2.3-02, [F7] */
        {"TPMORE with MSG",
         {"00000055" V2 "00000000 00000004" EMPTY CALL("00000055")},
         INVAL_HTYPE("00000055")},
        {"TPMORE with a grant",
         {"00000000" V2 "00000001 00000004" EMPTY},
         INVAL_HTYPE("00000000")},
};

static const struct row tpmore_of_replies_and_errors_is_dropped_rows[] = {
        {"TPMORE with a Reply",
         {"00000055" V2 "00000000 00000005" EMPTY REPLY("00000055")},
         NULL},
        {"TPMORE with an error", {"00000055" V2 "00000004 00000005 00000002"}, NULL},
        {"TPMORE with an error, RESPONSE clear",
         {"00000055" V2 "00000004 00000004 00000002"},
         NULL},
};

static const struct row more_belongs_to_messages_with_parts_rows[] = {
        /* [check: MORE]: V2-6.2.2.2-07, -08, [M10] */
        {"MORE with NOMSG",
         {"00000055" V2 "00000001 00000002" EMPTY},
         INVAL_CONT("00000055")},
        {"MORE with a grant",
         {"00000000" V2 "00000001 00000002" EMPTY},
         INVAL_CONT("00000000")},
        {"MORE with an error", {"00000055" V2 "00000004 00000003 00000002"}, NULL},
};

static const struct row late_properties_rows[] = {
        /* [check: late properties]: V2-6.2.2.3-05, -06, [P16] */
        {"late properties", {"00000055" CONNPROP "00000000"}, INVAL_HTYPE("00000055")},
        {"late properties that are malformed",
         {"00000055" CONNPROP},
         INVAL_HTYPE("00000055")},
};

static const struct row unparsable_headers_are_bad_xdr_rows[] = {
        /* [check: header body]: V2-7.2.1-01, [K24, X9] */
        {"prefix only", {"00000055" MSG}, BAD_XDR("00000055")},
        {"one list missing",
         {"00000055" MSG "00000000 00000000 00000000"},
         BAD_XDR("00000055")},
        {"no payload", {"00000055" MSG EMPTY}, BAD_XDR("00000055")},
        {"three octets of payload",
         {"00000055" MSG EMPTY "000000"},
         BAD_XDR("00000055")},
        {"is present is 2",
         {"00000055" MSG "00000000 00000002" EMPTY EMPTY},
         BAD_XDR("00000055")},
        {"a read segment cut",
         {"00000055" MSG "00000000 00000001 00000008 000000aa"},
         BAD_XDR("00000055")},
        {"2^30 segments in a Write chunk",
         {"00000055" MSG "00000000 00000000 00000001 40000000" EMPTY EMPTY},
         BAD_XDR("00000055")},
        {"2^32-1 segments in a Reply chunk",
         {"00000055" MSG "00000000 00000000 00000000 00000001 ffffffff" EMPTY EMPTY},
         BAD_XDR("00000055")},
};

static const struct row unparsable_replies_and_errors_are_dropped_rows[] = {
        {"malformed Reply", {"00000055" MSG_REPLY "00000000 00000002"}, NULL},
        {"error without a code", {"00000055" ERRORMSG}, NULL},
        {"error with an arm cut", {"00000055" ERRORMSG "00000009 00000001"}, NULL},
};

static const struct row errors_about_nothing_are_dropped_rows[] = {
        {"unknown error", {"00000055" ERRORMSG "0000000b"}, NULL}, /* V2-7-06 */
        {"error about nothing of ours", {"00000055" ERRORMSG "00000002"}, NULL},
};

static const struct row grants_are_taken_in_silence_rows[] = {
        /* [check: grant, C11] */
        {"grant", {"00000000" NOMSG EMPTY}, NULL},
        {"grant with a handle and RESPONSE",
         {"00000000" V2 "00000001 00000001 00000009 00000000 00000000 00000000"},
         NULL},
        {"grant with trailing octets",
         {"00000000" NOMSG EMPTY "01020304"},
         NULL}, /* [K23] */
};

static const struct row reserved_flags_are_ignored_rows[] = {
        {"reserved flags", {"00000000" V2 "00000001 fffffff8" EMPTY}, NULL},
};

static const struct row nomsg_without_chunks_is_a_grant_only_with_xid_0_rows[] = {
        {"empty NOMSG with an XID", {"00000055" NOMSG EMPTY}, BAD_XDR("00000055")},
};

static const struct row chunks_before_the_final_part_are_refused_rows[] = {
        /* [check: chunks in a part]: V2-6.2.2.2-10, -11, [M11], then [M3] */
        {"MORE with a Read chunk",
         {"00000055" MSG_MORE "00000000" READ(
                  "00000008", "00000004") "00000000 00000000 00000000" CALL("00000055"),
          "00000055" MSG_MORE EMPTY "11223344", "00000055" MSG EMPTY "11223344"},
         INVAL_CONT("00000055")},
        {"MORE with a Reply chunk",
         {"00000055" MSG_MORE
          "00000000 00000000 00000000 00000001 00000000" CALL("00000055"),
          "00000055" MSG EMPTY "11223344"},
         INVAL_CONT("00000055")},
};

static const struct row a_malformed_part_spoils_the_sequence_rows[] = {
        {"MORE that is malformed, then its end",
         {"00000055" MSG_MORE "00000000", "00000055" MSG EMPTY "11223344"},
         BAD_XDR("00000055")},
};

static const struct row another_type_in_a_sequence_is_refused_rows[] = {
        /* [check: sequence]: V2-6.2.2.2-04 to -06, [M2] */
        {"another type in a sequence",
         {"00000055" MSG_MORE EMPTY CALL("00000055"),
          "00000055" NOMSG
          "00000000" READ("00000000", "00000020") "00000000 00000000 00000000"},
         INVAL_CONT("00000055")},
        {"a Reply in a sequence, then its end",
         {"00000055" MSG_MORE EMPTY "00000056 00000000",
          "00000055" MSG_REPLY EMPTY REPLY("00000055"),
          "00000055" MSG EMPTY "00000000"},
         BAD_XDR("00000055")},
};

static const struct row position_zero_belongs_to_nomsg_rows[] = {
        /* [check: positions]: [K1, K3], V2-4.3.5-07 */
        {"Position Zero in MSG",
         {"00000055" MSG "00000000" READ(
                 "00000000", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
        {"NOMSG without Position Zero",
         {"00000055" NOMSG
          "00000000" READ("00000008", "00000004") "00000000 00000000 00000000"},
         BAD_XDR("00000055")},
        {"NOMSG with a Reply chunk only",
         {"00000055" NOMSG "00000000 00000000 00000000 00000001 00000000"},
         BAD_XDR("00000055")},
};

static const struct row positions_are_multiples_of_four_rows[] = {
        {"Position 2",
         {"00000055" MSG "00000000" READ(
                 "00000002", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
        {"Position 18",
         {"00000055" MSG "00000000" READ(
                 "00000012", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
};

static const struct row positions_fit_the_stream_rows[] = {
        {"Position inside the first words",
         {"00000055" MSG "00000000" READ(
                 "00000004", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
        {"Positions that descend",
         {"00000055" MSG "00000000" READ("00000014", "00000004") READ(
                 "00000010", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
        {"chunks that overlap by padding",
         {"00000055" MSG "00000000" READ("00000010", "00000005") READ(
                 "00000014", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
        {"a Position beyond the end",
         {"00000055" MSG "00000000" READ(
                 "0000001c", "00000004") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
        {"a second Position beyond the end",
         {"00000055" MSG "00000000" READ("00000018", "00000004") READ(
                 "00000020", "00000001") "00000000 00000000 00000000" CALL("00000055")},
         BAD_XDR("00000055")},
};

static const struct row an_empty_special_call_is_refused_rows[] = {
        {"an empty Special Call",
         {"00000055" NOMSG
          "00000000" READ("00000000", "00000000") "00000000 00000000 00000000"},
         BAD_XDR("00000055")},
};

static const struct row too_many_segments_rows[] = {
        /* [check: limits]: V2-7.3.3-01, [P12, K20]; V2-4.3.4-04 */
        {"17 segments in all",
         {"00000055" MSG
          "00000000" READ("00000010", "00000001") READ("00000010", "00000001") READ(
                  "00000010", "00000001") READ("00000010", "00000001") READ("00000010",
                                                                            "00000001")
                  READ("00000010",
                       "00000001") "00000000"
                                   "00000001 00000006" SEG("000000ab", "00000004") SEG(
                                           "000000ab",
                                           "00000004") SEG("000000ab",
                                                           "00000004") SEG("000000ab",
                                                                           "00000004")
                                           SEG("000000ab", "00000004") SEG(
                                                   "000000ab",
                                                   "00000004") "00000000"
                                                               "00000001 "
                                                               "00000005" SEG(
                                                                       "000000ac",
                                                                       "00000004") SEG("000000ac",
                                                                                       "00000004")
                                                                       SEG(
                                                                               "000000a"
                                                                               "c",
                                                                               "0000000"
                                                                               "4") SEG("000000ac",
                                                                                        "00000004")
                                                                               SEG("000"
                                                                                   "000"
                                                                                   "ac",
                                                                                   "000"
                                                                                   "000"
                                                                                   "04")
                                                                                       CALL("00000055")},
         ERR("00000055", "00000008 00000010")},
};

static const struct row too_many_write_chunks_rows[] = {
        {"17 Write chunks",
         {"00000055" MSG "00000000 00000000"
          "0000000100000000 0000000100000000 0000000100000000 0000000100000000"
          "0000000100000000 0000000100000000 0000000100000000 0000000100000000"
          "0000000100000000 0000000100000000 0000000100000000 0000000100000000"
          "0000000100000000 0000000100000000 0000000100000000 0000000100000000"
          "0000000100000000 00000000 00000000" CALL("00000055")},
         ERR("00000055", "00000007 00000010")},
};

static const struct row chunks_too_large_to_pull_are_refused_rows[] = {
        {"a Read chunk of 3 GiB",
         {"00000055" MSG "00000000" READ(
                 "00000010", "c0000000") "00000000 00000000 00000000" CALL("00000055")},
         SYSTEM("00000055")},
        {"a Read chunk of 8 GiB in two segments",
         {"00000055" MSG "00000000" READ("00000010", "ffffffff") READ(
                 "00000010", "ffffffff") "00000000 00000000 00000000" CALL("00000055")},
         SYSTEM("00000055")},
        {"a Read chunk of 64 MiB and one octet",
         {"00000055" MSG "00000000" READ(
                 "00000010", "04000001") "00000000 00000000 00000000" CALL("00000055")},
         SYSTEM("00000055")},
        {"a Special Call of 4 MiB and a word",
         {"00000055" NOMSG
          "00000000" READ("00000000", "00400004") "00000000 00000000 00000000"},
         SYSTEM("00000055")},
        {"a Special Call of 4 GiB",
         {"00000055" NOMSG
          "00000000" READ("00000000", "ffffffff") "00000000 00000000 00000000"},
         SYSTEM("00000055")},
};

static const struct row header_and_call_have_one_xid_rows[] = {
        /* [check: RPC message]: V2-7.2-02, [F5, E9] */
        {"two XIDs", {"00000055" MSG EMPTY CALL("00000056")}, BAD_XDR("00000055")},
};

static const struct row response_clear_means_a_call_rows[] = {
        {"a Reply as a Call",
         {"00000055" MSG EMPTY REPLY("00000055")},
         BAD_XDR("00000055")},
        {"msg_type 2", {"00000055" MSG EMPTY "00000055 00000002"}, BAD_XDR("00000055")},
        {"XID alone", {"00000055" MSG EMPTY "00000055"}, BAD_XDR("00000055")},
};

static const struct row xids_are_compared_when_the_call_is_whole_rows[] = {
        {"two XIDs in parts",
         {"00000055" MSG_MORE EMPTY "00000056", "00000055" MSG EMPTY "00000000"},
         BAD_XDR("00000055")},
        {"two XIDs in a Special Call", /* what is read is 5a5a... */
         {"00000055" NOMSG
          "00000000" READ("00000000", "00000020") "00000000 00000000 00000000"},
         BAD_XDR("00000055")},
};

static const struct row replies_to_nothing_are_dropped_rows[] = {
        /* Replies for nothing: V2-3.1.2-03, [E2] */
        {"a Reply", {"00000055" MSG_REPLY EMPTY REPLY("00000055")}, NULL},
        {"a continued Reply",
         {"00000055" MSG_REPLY_MORE EMPTY REPLY("00000055"),
          "00000055" MSG_REPLY_MORE EMPTY "00000000",
          "00000055" MSG_REPLY EMPTY "00000000"},
         NULL},
        {"a Special Reply",
         {"00000055" NOMSG_REPLY
          "00000000 00000000 00000000 00000001 00000001" SEG("000000ab", "00000020")},
         NULL},
};

static void run_rows(const struct row *rows, unsigned n_rows)
{
	for (unsigned i = 0; i < n_rows; i++) {
		const struct row *r = &rows[i];
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);

		print_message("    %s\n", r->name);
		s->on_request = raw_answer_call;
		for (unsigned k = 0; k < 3 && r->in[k]; k++)
			raw_receive(s, r->in[k]);
		assert_int_equal(s->requested, 0);
		if (r->out)
			raw_expect(s, r->out);
		raw_expect_silence(s);
		raw_expect_service(s);
		raw_end(s);
	}
}

#define ROWS(name)                                                                     \
	static void name(void **state)                                                 \
	{                                                                              \
		run_rows(name##_rows, RR_ARRAY_SIZE(name##_rows));                     \
	}

ROWS(short_messages_are_discarded)
ROWS(unknown_header_types_are_refused)
ROWS(unknown_header_types_of_replies_are_dropped)
ROWS(tpmore_belongs_to_properties)
ROWS(tpmore_of_replies_and_errors_is_dropped)
ROWS(more_belongs_to_messages_with_parts)
ROWS(late_properties)
ROWS(unparsable_headers_are_bad_xdr)
ROWS(unparsable_replies_and_errors_are_dropped)
ROWS(errors_about_nothing_are_dropped)
ROWS(grants_are_taken_in_silence)
ROWS(reserved_flags_are_ignored)
ROWS(nomsg_without_chunks_is_a_grant_only_with_xid_0)
ROWS(chunks_before_the_final_part_are_refused)
ROWS(a_malformed_part_spoils_the_sequence)
ROWS(another_type_in_a_sequence_is_refused)
ROWS(position_zero_belongs_to_nomsg)
ROWS(positions_are_multiples_of_four)
ROWS(positions_fit_the_stream)
ROWS(an_empty_special_call_is_refused)
ROWS(too_many_segments)
ROWS(too_many_write_chunks)
ROWS(chunks_too_large_to_pull_are_refused)
ROWS(header_and_call_have_one_xid)
ROWS(response_clear_means_a_call)
ROWS(xids_are_compared_when_the_call_is_whole)
ROWS(replies_to_nothing_are_dropped)

/* Every proper prefix of a message with all lists: BAD_XDR or silence. */
static void truncation_at_every_octet(void **state)
{
	const char *whole = "00000055" MSG "00000000" READ(
	        "00000010",
	        "00000004") "00000000"
	                    "00000001 00000001" SEG("000000ab",
	                                            "00000004") "00000000"
	                                                        "00000001 00000001" SEG(
	                                                                "000000ac",
	                                                                "00000040");
	uint8_t buf[256];
	size_t len = raw_octets(whole, buf, sizeof(buf));

	for (size_t n = 0; n < len; n++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);

		s->on_request = raw_answer_call;
		side_receive(s, buf, n, 0);
		if (n >= 20)
			raw_expect(s, BAD_XDR("00000055"));
		raw_expect_service(s);
		raw_end(s);
	}
}

/* [M2]: the sequence in progress survives a message with another XID. */
static void a_stranger_in_a_sequence_is_refused_alone(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055");
	raw_receive(s, "00000056" MSG EMPTY CALL("00000056"));
	raw_expect(s, INVAL_CONT("00000056"));
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000000");
	raw_receive(s, "00000057" MSG_MORE EMPTY CALL("00000057"));
	raw_expect(s, INVAL_CONT("00000057"));
	raw_receive(s, "00000000" NOMSG EMPTY); /* [M1]: these may stand there */
	raw_receive(s, "00000055" ERRORMSG "00000002");
	raw_receive(s, "00000057" MSG EMPTY "00000000"); /* [M3]: in silence */
	raw_expect_silence(s);
	raw_receive(s, "00000055" MSG EMPTY "00000002 000186a3 00000003 00000000");
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_expect_service(s);
	raw_end(s);
}

/* V2-4.1-03, [M6]: any length from 4 octets on, multiple of 4 or not. */
static void parts_of_any_length_make_a_call(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" MSG_MORE EMPTY "00000055 00");
	raw_receive(s, "00000055" MSG_MORE EMPTY "000000 00000002");
	raw_receive(s, "00000055" MSG_MORE EMPTY "000186a3 0000");
	raw_receive(s, "00000055" MSG EMPTY "0003 00000000");
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	for (unsigned i = 0; i < 10000; i++) {
		raw_receive(s, "00000056" MSG_MORE EMPTY "00000056 00000000");
		side_forget_sent(s); /* grants */
	}
	raw_receive(s, "00000056" MSG EMPTY "00000000");
	raw_expect(s, "00000056" MSG_REPLY EMPTY REPLY("00000056"));
	raw_end(s);
}

/* [M7, M3]: too long a sequence is refused once, its rest dropped. */
static void a_sequence_beyond_the_limit_is_refused_once(void **state)
{
	const struct rr_conn_config cfg = {.max_message_bytes = 100};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000055" MSG_MORE EMPTY CALL("00000055"));
	for (unsigned i = 0; i < 4; i++)
		raw_receive(s, "00000055" MSG_MORE EMPTY CALL("00000055"));
	raw_expect(s, INVAL_CONT("00000055"));
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	raw_expect_silence(s);
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055")); /* a retransmission */
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_end(s);
}

/* V2-7.3.1-01, [K12]: more Read chunks than we take, Position Zero apart. */
static void too_many_read_chunks(void **state)
{
	const struct rr_conn_config cfg = {.max_segments = 64};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);
	char hex[4000];
	int n = sprintf(hex, "00000055" MSG "00000000");

	for (unsigned i = 0; i < 17; i++)
		n += sprintf(hex + n, "00000001 %08x" SEG("000000aa", "00000004"),
		             16 + 4 * i);
	sprintf(hex + n, "00000000 00000000 00000000" CALL("00000055"));
	raw_receive(s, hex);
	raw_expect(s, ERR("00000055", "00000006 00000010"));
	raw_end(s);
}

/* V2-3.1.3.4-03, [O11]: XIDs 0 and all ones are like others. */
static void any_xid_is_served(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000000" MSG EMPTY CALL("00000000"));
	raw_expect(s, "00000000" MSG_REPLY EMPTY REPLY("00000000"));
	raw_receive(s, "ffffffff" MSG EMPTY CALL("ffffffff"));
	raw_expect(s, "ffffffff" MSG_REPLY EMPTY REPLY("ffffffff"));
	raw_end(s);
}

/* [C9], V2-7.4-03: errors that find no credit, more than we keep. */
static void too_many_waiting_errors_close(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, NULL);

	raw_receive(s, "00000077 00000002 00200001 00000005 00000000 00000000");
	assert_int_equal(s->n_sent, 1); /* the only credit */
	for (unsigned i = 0; i < 64; i++)
		raw_receive(s, "00000055 00000002 00200000 00000006 00000000");
	assert_int_equal(s->n_sent, 1);
	assert_false(s->disconnect);
	raw_receive(s, "00000055 00000002 00200000 00000006 00000000");
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* Sequences opened and spoilt without end. */
static void too_many_spoilt_sequences_close(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	for (unsigned i = 0; i < 17; i++) {
		char hex[200];

		sprintf(hex, "%08x" MSG_MORE "00000000", 0x100 + i);
		raw_receive(s, hex);
		side_forget_sent(s);
	}
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* [M3]: also a malformed final part ends what is discarded: none of these stay. */
static void a_spoilt_sequence_may_end_malformed(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	for (unsigned i = 0; i < 40; i++) {
		raw_receive(s, "00000100" MSG_MORE "00000000");
		raw_expect(s, BAD_XDR("00000100"));
		raw_receive(s, "00000100" MSG "00000000");
		raw_expect_silence(s); /* reported once */
	}
	raw_receive(s, "00000100" MSG EMPTY CALL("00000100"));
	raw_expect(s, "00000100" MSG_REPLY EMPTY REPLY("00000100"));
	raw_expect_service(s);
	raw_end(s);
}

/* [K17]: a Call that invalidates is a violation. */
static void invalidation_by_a_call_closes(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	raw_receive_inv(s, "00000055" MSG EMPTY CALL("00000055"), 0x1234);
	raw_expect_close(s, -EPROTO);
	raw_end(s);
}

/* -- versions -------------------------------------------------------------- */

/* [V4], V2-7.1.1-01: layouts by the version that came. */
static void first_message_of_another_version(void **state)
{
	static const uint8_t v1[28] = {0, 0, 0, 0x66, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0,
	                               0, 4, 0, 0,    0, 1, 0, 0, 0, 2, 0, 0, 0, 2};
	struct side *s = raw_new(RR_CONN_SERVER, NULL);

	raw_expect_silence(s); /* [V2]: the server does not begin */
	raw_receive(
	        s,
	        "00000066 00000001 00000020 00000000 00000000 00000000 00000000" CALL(
	                "00000066"));
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 28);
	assert_memory_equal(s->sent[0].p, v1, 28);
	side_forget_sent(s);
	raw_receive(s, "00000066 00000003 00000020 00000000 00000000");
	raw_expect(s, "00000066 00000003 00200001 00000004 00000001 00000001 00000002 "
	              "00000002");
	raw_receive(s, "00000066 00000003 00000020 00000004 00000000"); /* [E3] */
	raw_expect_silence(s);
	/* [V5]: it may go down once */
	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 00000000");
	assert_true(s->ready);
	raw_end(s);
}

/* [V8]: another version in mid-connection. */
static void another_version_in_mid_connection(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = raw_answer_call;
	raw_receive(s, "00000066 00000003 00000020 00000000 00000000");
	raw_expect(s, "00000066 00000003 00200001 00000004 00000001 00000001 00000002 "
	              "00000002");
	raw_receive(s, "00000066 00000001 00000020 00000000 00000000");
	raw_expect(s, "00000066 00000001 00000001 00000004 00000001 00000002 00000002");
	raw_expect_service(s);
	raw_end(s);
}

/* -- what a good Call becomes ---------------------------------------------- */

/* V2-4.3.6-04 to -09, [K6, K21]: chunks come back filled from the front. */
static void reply_chunks(struct side *s, struct rr_request *r)
{
	static uint8_t head[12], item[250];
	const struct rr_piece p[] = {{head, 12, false}, {item, 250, true}};

	raw_octets("00000055 00000001 000000fa", head, 12);
	assert_int_equal(r->n_writes, 2);
	assert_int_equal(r->write_bytes[0], 600);
	assert_int_equal(r->write_bytes[1], 4);
	rr_conn_reply(s->c, r, p, 2, s->now);
}

static void write_chunks_come_back_filled_from_the_front(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = reply_chunks;
	raw_receive(s, "00000055" MSG "00000000 00000000"
	               "00000001 00000004" SEG("00000001", "00000064") SEG(
	                       "00000002", "00000000") SEG("00000003", "000000c8")
	                       SEG("00000004", "0000012c") "00000001 00000001" SEG(
	                               "00000005",
	                               "00000004") "00000000"
	                                           "00000001 00000001" SEG("00000006",
	                                                                   "00010000")
	                                                   CALL("00000055"));
	assert_int_equal(s->n_writes, 2);
	raw_expect(s,
	           "00000055" MSG_REPLY "00000000 00000000"
	           "00000001 00000004" SEG("00000001", "00000064") SEG(
	                   "00000002", "00000000") SEG("00000003", "00000096")
	                   SEG("00000004", "00000000") "00000001 00000001" SEG(
	                           "00000005", "00000000") "00000000 00000000 00000055 "
	                                                   "00000001 000000fa");
	raw_end(s);
}

/* A chunk without segments is no place for a result: it comes inline. */
static void reply_inline(struct side *s, struct rr_request *r)
{
	static uint8_t head[12] = {0, 0, 0, 0x55, 0, 0, 0, 1, 0, 0, 0, 3};
	const struct rr_piece p[] = {{head, 12, false}, {"abc", 3, true}};

	assert_int_equal(r->n_writes, 1);
	rr_conn_reply(s->c, r, p, 2, s->now);
}

static void empty_write_chunk_leaves_the_result_inline(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = reply_inline;
	raw_receive(s, "00000055" MSG
	               "00000000 00000000 00000001 00000000 00000000 00000000" CALL(
	                       "00000055"));
	raw_expect(s,
	           "00000055" MSG_REPLY "00000000 00000000 00000001 00000000 00000000"
	           "00000000 00000055 00000001 00000003 61626300");
	raw_end(s);
}

static void refuse(struct side *s, struct rr_request *r)
{
	const struct rr_error e = {RDMA2_ERR_READ_CHUNKS, {0}};

	rr_conn_refuse(s->c, r, &e, s->now);
}

static void refused_at_admission(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_admit = refuse;
	raw_receive(s,
	            "00000055" MSG "00000000" READ(
	                    "00000010",
	                    "00000004") "00000000 00000000 00000000" CALL("00000055"));
	raw_expect(s, ERR("00000055", "00000006 00000000"));
	assert_int_equal(s->n_reads, 0);
	assert_int_equal(s->requests_done, 1);
	raw_end(s);
}

/* [K4]: segments of no octets are not read; [K5]: odd lengths are. */
static void see_pieces(struct side *s, struct rr_request *r)
{
	assert_int_equal(r->n_pieces, 3);
	assert_int_equal(r->pieces[0].len, 16);
	assert_false(r->pieces[0].item);
	assert_int_equal(r->pieces[1].len, 9);
	assert_true(r->pieces[1].item);
	assert_int_equal(r->pieces[2].len, 8);
	raw_answer_call(s, r);
}

static void segments_of_one_chunk_are_joined(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	s->on_request = see_pieces;
	raw_receive(
	        s,
	        "00000055" MSG "00000000" READ("00000010", "00000001") READ(
	                "00000010", "00000000") READ("00000010",
	                                             "00000003") READ("00000010",
	                                                              "00000005")
	                READ("0000001c",
	                     "00000000") "00000000 00000000 00000000" CALL("00000055"));
	assert_int_equal(s->n_reads, 3);
	raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(short_messages_are_discarded),
	        cmocka_unit_test(unknown_header_types_are_refused),
	        cmocka_unit_test(unknown_header_types_of_replies_are_dropped),
	        cmocka_unit_test(tpmore_belongs_to_properties),
	        cmocka_unit_test(tpmore_of_replies_and_errors_is_dropped),
	        cmocka_unit_test(more_belongs_to_messages_with_parts),
	        cmocka_unit_test(late_properties),
	        cmocka_unit_test(unparsable_headers_are_bad_xdr),
	        cmocka_unit_test(unparsable_replies_and_errors_are_dropped),
	        cmocka_unit_test(errors_about_nothing_are_dropped),
	        cmocka_unit_test(grants_are_taken_in_silence),
	        cmocka_unit_test(reserved_flags_are_ignored),
	        cmocka_unit_test(nomsg_without_chunks_is_a_grant_only_with_xid_0),
	        cmocka_unit_test(chunks_before_the_final_part_are_refused),
	        cmocka_unit_test(a_malformed_part_spoils_the_sequence),
	        cmocka_unit_test(another_type_in_a_sequence_is_refused),
	        cmocka_unit_test(position_zero_belongs_to_nomsg),
	        cmocka_unit_test(positions_are_multiples_of_four),
	        cmocka_unit_test(positions_fit_the_stream),
	        cmocka_unit_test(an_empty_special_call_is_refused),
	        cmocka_unit_test(too_many_segments),
	        cmocka_unit_test(too_many_write_chunks),
	        cmocka_unit_test(chunks_too_large_to_pull_are_refused),
	        cmocka_unit_test(header_and_call_have_one_xid),
	        cmocka_unit_test(response_clear_means_a_call),
	        cmocka_unit_test(xids_are_compared_when_the_call_is_whole),
	        cmocka_unit_test(replies_to_nothing_are_dropped),
	        cmocka_unit_test(truncation_at_every_octet),
	        cmocka_unit_test(a_stranger_in_a_sequence_is_refused_alone),
	        cmocka_unit_test(parts_of_any_length_make_a_call),
	        cmocka_unit_test(a_sequence_beyond_the_limit_is_refused_once),
	        cmocka_unit_test(too_many_read_chunks),
	        cmocka_unit_test(any_xid_is_served),
	        cmocka_unit_test(too_many_waiting_errors_close),
	        cmocka_unit_test(too_many_spoilt_sequences_close),
	        cmocka_unit_test(a_spoilt_sequence_may_end_malformed),
	        cmocka_unit_test(invalidation_by_a_call_closes),
	        cmocka_unit_test(first_message_of_another_version),
	        cmocka_unit_test(another_version_in_mid_connection),
	        cmocka_unit_test(write_chunks_come_back_filled_from_the_front),
	        cmocka_unit_test(empty_write_chunk_leaves_the_result_inline),
	        cmocka_unit_test(refused_at_admission),
	        cmocka_unit_test(segments_of_one_chunk_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
