/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Validation of what a peer sends: each row of the specification is one malformed
 * message, in the base types and in those of feature HTFAM.                [ext §7]
 *
 * Each refusal is answered with the named error, posts no RDMA operation, executes
 * nothing and takes no memory; the next Call on the connection is served.
 */
#include "test_conn_spec.h"

#include "wire/rprc/rprc_wire.h"

/* Prefixes: XID, then by name. */
#define X_CALL_EXTERNAL V2 "ffffff48 00000000 "
#define X_CALL_MIDDLE   V2 "ffffff49 00000000 "
#define X_CALL_LAST     V2 "ffffff4a 00000000 "
#define X_REPLY_LAST    V2 "ffffff4d 00000001 "
#define X_PROP          "00000001 ffffff31 00000004 00000003"

/* A segment of the Read list at @pos, and an entry of rdma_args with one segment. */
#define ENTRY(pos, len) "00000001 " pos " " SEG("000000aa", len)
#define ARG(pos, len)   pos " 00000001 " SEG("000000aa", len)
/* The empty lists behind the Read list. */
#define NO_MORE "00000000 00000000 00000000 "
/* Behind rdma_args. */
#define NO_RESULTS "00000000 00000000 "
#define BODY(len)  "00000000 00000001 00000001 " SEG("000000aa", len)

/* An RPC Call of 24 octets: position 24 is its end. */
#define STREAM CALL("00000055")

static const struct rr_conn_config limits = {
        .features = {.on = 1u << RR_FEATURE_HTFAM},
        .max_chunk_bytes = 1 << 20,
        .max_special_bytes = 1 << 20,
        .max_segments = 64,
        .segment_bytes = 1 << 20,
};

static struct side *server_of(const struct rr_conn_config *cfg)
{
	struct side *s = raw_ready_by(RR_CONN_SERVER, cfg, X_PROP);

	s->on_request = raw_answer_call;
	return s;
}

/* The message is refused with these words after the prefix, and costs nothing. */
static void expect_refusal(const struct rr_conn_config *cfg, const char *message,
                           const char *error)
{
	struct side *s = server_of(cfg);
	size_t used = s->mem_used;
	char want[200];

	raw_receive(s, message);
	snprintf(want, sizeof(want), ERR("00000055", "%s"), error);
	raw_expect(s, want);
	raw_expect_silence(s);
	assert_int_equal(s->n_reads, 0);
	assert_int_equal(s->n_writes, 0);
	assert_int_equal(s->admitted, 0);
	assert_in_range(s->mem_used, 0, used + 20000);
	raw_expect_service(s);
	raw_end(s);
}

/* The message is served: @reads RDMA Reads, one Reply. */
static void expect_served(const struct rr_conn_config *cfg, const char *message,
                          unsigned reads)
{
	static uint8_t call[64];
	struct side *s = server_of(cfg);

	raw_octets(STREAM, call, sizeof(call));
	s->read_from = call;
	raw_receive(s, message);
	assert_int_equal(s->n_reads, reads);
	assert_int_equal(s->requested, 1);
	assert_int_equal(s->n_sent, 1);
	assert_true(spec_word(&s->sent[0], 3) != RDMA2_ERROR);
	raw_end(s);
}

struct row {
	const char *message, *error;
	unsigned reads; /* if @error is NULL */
};

static void run_rows(const struct rr_conn_config *cfg, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char message[4000] = "00000055";

		strcat(message, rows[i].message);
		if (rows[i].error)
			expect_refusal(cfg, message, rows[i].error);
		else
			expect_served(cfg, message, rows[i].reads);
	}
}

#define RUN(cfg, rows) run_rows(cfg, rows, RR_ARRAY_SIZE(rows))

static const char bad_xdr[] = "00000002", inval_cont[] = "00000005",
                  inval_htype[] = "00000004", system_error[] = "00000064";

/* -- any message ----------------------------------------------------------- */

/* [ext §7.1 V01], [ext §7.1 V02] */
static void short_messages_and_other_versions(void **state)
{
	struct side *s = server_of(&limits);

	raw_receive(s, "00000055 00000002 00200001 00000000");
	raw_receive(s, "00000055 00000002 00200001 ffffff4a 000000");
	raw_expect_silence(s);
	raw_receive(s, "00000055 00000003 00200001 ffffff4a 00000000 " EMPTY STREAM);
	raw_expect(s, "00000055 00000003 00200001 00000004 00000001 "
	              "00000001 00000002 00000002");
	raw_expect_service(s);
	raw_end(s);
}

/* [ext §7.1 V03], [ext §7.1 V04], [ext §7.1 V05], [ext §7.1 V06] */
static void headers_are_checked_first(void **state)
{
	static const struct row rows[] = {
	        {V2 "00000003 00000000 ", inval_htype}, /* without RPRC */
	        {V2 "ffffff44 00000000 " EMPTY STREAM, inval_htype},
	        {V2 "ffffff4e 00000000 " EMPTY STREAM, inval_htype},
	        {V2 "00000001 00000002 " EMPTY, inval_cont},
	        {V2 "ffffff4a 00000002 " EMPTY STREAM, inval_cont},
	        {MSG_MORE "00000000 " ENTRY("00000018", "00000004") NO_MORE STREAM,
	         inval_cont},
	        {MSG "00000000 00000001 00000018", bad_xdr},
	        {X_CALL_LAST "00000000 00000001 00000018 00000001 000000aa", bad_xdr},
	        {X_CALL_LAST "00000000 00000000 00000000", bad_xdr},
	        {X_CALL_EXTERNAL "00000000 00000001 00000001", bad_xdr},
	        {X_CALL_MIDDLE, bad_xdr},
	        {X_CALL_MIDDLE "00000010", bad_xdr}, /* no payload at all */
	        {MSG EMPTY CALL("00000056"), bad_xdr},
	        {X_CALL_LAST EMPTY CALL("00000056"), bad_xdr},
	        {X_CALL_LAST EMPTY "00000055 00000001 00000000 00000000", bad_xdr},
	        /* the lists of a part are empty; its handle is ignored */
	        {X_CALL_LAST "000000aa 00000000 00000000 00000000 " STREAM, NULL, 0},
	};

	RUN(&limits, rows);
}

/* [ext §7.1 V06]: the first words of a sequence, and of what was pulled. */
static void the_xid_of_a_whole_message_is_checked(void **state)
{
	static uint8_t other[24];
	struct side *s = server_of(&limits);

	raw_receive(s, "00000055" X_CALL_MIDDLE "0000000c 00000056 00000000");
	raw_expect_silence(s);
	raw_receive(s, "00000055" X_CALL_LAST EMPTY "00000002 00000000 00000000");
	raw_expect(s, BAD_XDR("00000055"));
	raw_octets(CALL("00000056"), other, sizeof(other));
	s->read_from = other;
	raw_receive(s,
	            "00000055" X_CALL_EXTERNAL BODY("00000018") "00000000 " NO_RESULTS);
	raw_expect(s, BAD_XDR("00000055"));
	raw_receive(s,
	            "00000055" NOMSG "00000000 " ENTRY("00000000", "00000018") NO_MORE);
	raw_expect(s, BAD_XDR("00000055"));
	assert_int_equal(s->admitted, 0);
	raw_expect_service(s);
	raw_end(s);
}

/* -- Calls: positions ------------------------------------------------------ */

/* LS-s05-04, [ext §7.2 V10]: swapped, and one chunk around another. */
static void positions_never_decrease(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("0000001c", "00000004")
	                 ENTRY("00000018", "00000004") NO_MORE STREAM,
	         bad_xdr},
	        {MSG "00000000 " ENTRY("00000014", "00000004")
	                 ENTRY("00000018", "00000004") ENTRY("00000014", "00000004")
	                         NO_MORE STREAM,
	         bad_xdr},
	        {MSG "00000000 " ENTRY("00000014", "00000004")
	                 ENTRY("00000014", "00000004") ENTRY("0000001c", "00000004")
	                         NO_MORE STREAM,
	         NULL, 3},
	        {NOMSG "00000000 " ENTRY("00000018", "00000004")
	                 ENTRY("00000000", "00000018") NO_MORE,
	         bad_xdr},
	        {X_CALL_LAST "00000000 00000002 " ARG("0000001c", "00000004")
	                 ARG("00000018", "00000004") NO_RESULTS STREAM,
	         bad_xdr},
	        /* equal positions: one entry per chunk, LS-s12-02 */
	        {X_CALL_LAST "00000000 00000002 " ARG("00000018", "00000004")
	                 ARG("00000018", "00000004") NO_RESULTS STREAM,
	         bad_xdr},
	};

	RUN(&limits, rows);
}

/* LS-s05-05, LS-s12-02, [ext §7.2 V11] */
static void positions_are_multiples_of_four(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000016", "00000004") NO_MORE STREAM, bad_xdr},
	        {NOMSG "00000000 " ENTRY("00000000", "00000018")
	                 ENTRY("00000016", "00000004") NO_MORE,
	         bad_xdr},
	        {X_CALL_LAST "00000000 00000001 " ARG("00000016", "00000004")
	                 NO_RESULTS STREAM,
	         bad_xdr},
	        {X_CALL_EXTERNAL BODY("00000018") "00000001 " ARG(
	                 "00000016", "00000004") NO_RESULTS,
	         bad_xdr},
	};

	RUN(&limits, rows);
}

/* LS-s05-01, LS-s05-02, LS-s12-02, [ext §7.2 V12], [ext §7.2 V13], [ext §7.2 V14] */
static void position_zero_is_for_calls_without_payload(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000000", "00000018") NO_MORE STREAM, bad_xdr},
	        {NOMSG "00000000 " ENTRY("00000018", "00000004") NO_MORE, bad_xdr},
	        {NOMSG "00000000 00000000 00000001 00000001 " SEG(
	                 "000000aa", "00000010") "00000000 00000000",
	         bad_xdr},
	        {NOMSG "00000000 00000000 00000000 00000001 00000001 " SEG("000000aa",
	                                                                   "00001000"),
	         bad_xdr},
	        {NOMSG EMPTY, bad_xdr},
	        {NOMSG "00000000 " ENTRY("00000000", "00000018") NO_MORE, NULL, 1},
	        {X_CALL_LAST "00000000 00000001 " ARG("00000000", "00000018")
	                 NO_RESULTS STREAM,
	         bad_xdr},
	        {X_CALL_EXTERNAL BODY("00000018") "00000001 " ARG(
	                 "00000000", "00000018") NO_RESULTS,
	         bad_xdr},
	        {X_CALL_EXTERNAL BODY("00000018") "00000000 " NO_RESULTS, NULL, 1},
	};

	RUN(&limits, rows);
}

/* LS-s06-01, LS-s06-02, LS-s06-04, [ext §7.2 V15]: 5 octets occupy 8. */
static void chunks_do_not_overlap(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000014", "00000005")
	                 ENTRY("00000018", "00000004") NO_MORE STREAM,
	         bad_xdr},
	        {MSG "00000000 " ENTRY("00000014", "00000005")
	                 ENTRY("0000001c", "00000004") NO_MORE STREAM,
	         NULL, 2},
	        /* two segments of the first chunk reach into the second */
	        {MSG "00000000 " ENTRY("00000010", "00000004")
	                 ENTRY("00000010", "00000004") ENTRY("00000014", "00000004")
	                         NO_MORE STREAM,
	         bad_xdr},
	        {X_CALL_LAST "00000000 00000002 " ARG("00000014", "00000005")
	                 ARG("00000018", "00000004") NO_RESULTS STREAM,
	         bad_xdr},
	        {X_CALL_LAST "00000000 00000002 " ARG("00000014", "00000005")
	                 ARG("0000001c", "00000004") NO_RESULTS STREAM,
	         NULL, 2},
	        /* the Position Zero chunk and the body overlap with nothing */
	        {NOMSG "00000000 " ENTRY("00000000", "00000018")
	                 ENTRY("00000010", "00000004") NO_MORE,
	         NULL, 2},
	        {X_CALL_EXTERNAL BODY("00000018") "00000001 " ARG(
	                 "00000010", "00000004") NO_RESULTS,
	         NULL, 2},
	};

	RUN(&limits, rows);
}

/* LS-s06-03, [ext §7.2 V16]: up to the end of the stream, and not beyond. */
static void chunks_leave_no_gap(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000018", "00000004") NO_MORE STREAM, NULL, 1},
	        {MSG "00000000 " ENTRY("0000001c", "00000004") NO_MORE STREAM, bad_xdr},
	        /* 8 octets in the stream come from the first chunk */
	        {MSG "00000000 " ENTRY("00000018", "00000005")
	                 ENTRY("00000020", "00000004") NO_MORE STREAM,
	         NULL, 2},
	        {MSG "00000000 " ENTRY("00000018", "00000005")
	                 ENTRY("00000024", "00000004") NO_MORE STREAM,
	         bad_xdr},
	        {NOMSG "00000000 " ENTRY("00000000", "00000018")
	                 ENTRY("0000001c", "00000004") NO_MORE,
	         bad_xdr},
	        {X_CALL_LAST "00000000 00000001 " ARG("00000018", "00000004")
	                 NO_RESULTS STREAM,
	         NULL, 1},
	        {X_CALL_LAST "00000000 00000001 " ARG("0000001c", "00000004")
	                 NO_RESULTS STREAM,
	         bad_xdr},
	        {X_CALL_EXTERNAL BODY("00000018") "00000001 " ARG(
	                 "0000001c", "00000004") NO_RESULTS,
	         bad_xdr},
	};

	RUN(&limits, rows);
}

/* [ext §7.2 V16]: the inline length of a sequence is that of the whole stream. */
static void positions_refer_to_the_whole_stream(void **state)
{
	struct side *s = server_of(&limits);

	raw_receive(s, "00000055" X_CALL_MIDDLE "0000000c 00000055 00000000");
	raw_receive(s, "00000055" X_CALL_LAST
	               "00000000 00000001 " ARG("00000014", "00000004") NO_RESULTS
	            "00000002 00000003 00000004");
	assert_int_equal(s->n_reads, 1);
	assert_int_equal(s->requested, 1);
	raw_skip(s);
	raw_receive(s, "00000055" X_CALL_MIDDLE "0000000c 00000055 00000000");
	raw_receive(s, "00000055" X_CALL_LAST
	               "00000000 00000001 " ARG("00000018", "00000004") NO_RESULTS
	            "00000002 00000003 00000004");
	raw_expect(s, BAD_XDR("00000055"));
	assert_int_equal(s->n_reads, 1);
	raw_end(s);
}

/* -- Calls: lengths and counts --------------------------------------------- */

/* [ext §7.2 V17] */
static void a_stream_has_eight_octets(void **state)
{
	static const struct row rows[] = {
	        {NOMSG "00000000 " ENTRY("00000000", "00000004") NO_MORE, bad_xdr},
	        {NOMSG "00000000 " ENTRY("00000000", "00000000") NO_MORE, bad_xdr},
	        {NOMSG "00000000 " ENTRY(
	                 "00000000", "00000004") "00000001 00000000 000000aa 00000014 "
	                                         "00000000 00010004 " NO_MORE,
	         NULL, 2},
	        {X_CALL_EXTERNAL BODY("00000007") "00000000 " NO_RESULTS, bad_xdr},
	        /* a data item of no octets inserts nothing */
	        {MSG "00000000 " ENTRY("00000018", "00000000") NO_MORE STREAM, NULL, 0},
	        {X_CALL_LAST "00000000 00000001 " ARG("00000018", "00000000")
	                 NO_RESULTS STREAM,
	         NULL, 0},
	};

	RUN(&limits, rows);
}

/* Writes a Call with @n Read chunks of no octets, @w Write chunks and @k segments in a
 * Reply chunk. */
static const char *call_of(bool x, unsigned n, unsigned w, unsigned k)
{
	static char text[20000];
	char *t = text;

	t += sprintf(t, "00000055%s00000000 ", x ? X_CALL_LAST : MSG);
	if (x)
		t += sprintf(t, "%08x ", n);
	for (unsigned i = 0; i < n; i++)
		t += sprintf(t,
		             x ? "%08x 00000001 " SEG("000000aa", "00000004")
		               : "00000001 %08x " SEG("000000aa", "00000004"),
		             24 + 4 * i);
	t += sprintf(t, x ? "%08x " : "00000000 ", w);
	for (unsigned i = 0; i < w; i++)
		t += sprintf(t, "%s 00000000 ", x ? "00000000" : "00000001");
	if (x)
		t += sprintf(t, "%08x ", k);
	else
		t += sprintf(t, k ? "00000000 00000001 %08x " : "00000000 00000000 ",
		             k);
	for (unsigned i = 0; i < k; i++)
		t += sprintf(t, SEG("000000ab", "00001000"));
	sprintf(t, " " STREAM);
	return text;
}

/* [ext §7.2 V18], [ext §7.2 V19], [ext §7.2 V20], LS-s04-04 */
static void counts_stay_within_our_limits(void **state)
{
	struct rr_conn_config few = limits;

	few.max_segments = 8;
	for (unsigned x = 0; x < 2; x++) {
		expect_served(&limits, call_of(x, 16, 0, 0), 16);
		expect_refusal(&limits, call_of(x, 17, 0, 0), "00000006 00000010");
		expect_served(&limits, call_of(x, 0, 16, 0), 0);
		expect_refusal(&limits, call_of(x, 0, 17, 0), "00000007 00000010");
		expect_served(&few, call_of(x, 0, 0, 8), 0);
		expect_refusal(&few, call_of(x, 0, 0, 9), "00000008 00000008");
		expect_served(&few, call_of(x, 4, 0, 4), 4);
		expect_refusal(&few, call_of(x, 4, 0, 5), "00000008 00000008");
		expect_refusal(&limits, call_of(x, 0, 0, 65), "00000008 00000040");
	}
}

/* LS-s07-01, LS-s07-02, LS-s07-04, [ext §7.2 V21] */
static void long_reads_are_refused_before_the_first(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000018", "00100004") NO_MORE STREAM,
	         system_error},
	        {MSG "00000000 " ENTRY("00000018", "00080000")
	                 ENTRY("00000018", "00080004") NO_MORE STREAM,
	         system_error},
	        {MSG "00000000 " ENTRY("00000018", "ffffffff")
	                 ENTRY("00000018", "ffffffff") NO_MORE STREAM,
	         system_error},
	        {NOMSG "00000000 " ENTRY("00000000", "00100004") NO_MORE, system_error},
	        {X_CALL_LAST "00000000 00000001 " ARG("00000018", "00100004")
	                 NO_RESULTS STREAM,
	         system_error},
	        {X_CALL_LAST
	         "00000000 00000001 00000018 00000002 " SEG("000000aa", "ffffffff")
	                 SEG("000000aa", "ffffffff") NO_RESULTS STREAM,
	         system_error},
	        {X_CALL_EXTERNAL BODY("00100004") "00000000 " NO_RESULTS, system_error},
	};
	static const struct row edge[] = {
	        {MSG "00000000 " ENTRY("00000018", "00100000") NO_MORE STREAM, NULL, 1},
	        {X_CALL_LAST "00000000 00000001 " ARG("00000018", "00100000")
	                 NO_RESULTS STREAM,
	         NULL, 1},
	};

	RUN(&limits, rows);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(edge); i++) {
		static uint8_t megabyte[1 << 20];
		struct side *s = server_of(&limits);
		char message[400] = "00000055";

		s->read_from = megabyte;
		raw_receive(s, strcat(message, edge[i].message));
		assert_int_equal(s->n_reads, edge[i].reads);
		assert_int_equal(s->requested, 1);
		raw_end(s);
	}
}

/* 4 GiB in 16 segments, and the whole Call beyond what the connection may hold. */
static void the_whole_call_is_limited(void **state)
{
	struct rr_conn_config small = limits;
	static char text[4000];
	char *t = text;

	t += sprintf(t, "00000055" MSG "00000000 ");
	for (unsigned i = 0; i < 16; i++)
		t += sprintf(t, ENTRY("00000018", "10000000"));
	sprintf(t, NO_MORE STREAM);
	expect_refusal(&limits, text, system_error);
	small.max_held_bytes = 1500000;
	expect_refusal(&small,
	               "00000055" MSG "00000000 " ENTRY("00000018", "000c0000")
	                       ENTRY("000c0018", "000c0000") NO_MORE STREAM,
	               system_error);
	expect_refusal(&small,
	               "00000055" X_CALL_LAST
	               "00000000 00000002 " ARG("00000018", "000c0000")
	                       ARG("000c0018", "000c0000") NO_RESULTS STREAM,
	               system_error);
}

/* [ext §7.2 V21]: a segment is as long as our property 3 at most. */
static void long_segments_are_refused(void **state)
{
	struct rr_conn_config small = limits;
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000018", "00001001") NO_MORE STREAM,
	         system_error},
	        {NOMSG "00000000 " ENTRY("00000000", "00001001") NO_MORE, system_error},
	        {X_CALL_LAST
	         "00000000 00000001 00000018 00000002 " SEG("000000aa", "00000004")
	                 SEG("000000aa", "00001001") NO_RESULTS STREAM,
	         system_error},
	        {X_CALL_EXTERNAL BODY("00001001") "00000000 " NO_RESULTS, system_error},
	        /* memory for results may be of any length */
	        {MSG "00000000 00000000 00000001 00000001 " SEG(
	                 "000000a1",
	                 "ffffffff") "00000000 00000001 00000001 " SEG("000000a2",
	                                                               "ffffffff")
	                 STREAM,
	         NULL, 0},
	};

	small.segment_bytes = 4096;
	RUN(&small, rows);
}

/* ... unless the peer has refused our properties and goes by the default. */
static void a_refused_limit_is_the_default(void **state)
{
	struct rr_conn_config small = limits;
	struct side *s;
	char error[100];

	small.segment_bytes = 4096;
	small.features.on = 0;
	s = raw_new(RR_CONN_SERVER, &small);
	s->on_request = raw_hold;
	raw_receive(s, PROPS "00000000");
	snprintf(error, sizeof(error), ERR("%08x", "00000003"),
	         spec_word(&s->sent[0], 0));
	raw_skip(s);
	raw_receive(s, error);
	raw_receive(s, "00000055" MSG "00000000 " ENTRY("00000018", "00001001")
	                       NO_MORE STREAM);
	assert_int_equal(s->n_reads, 1);
	raw_receive(s, "00000056" MSG "00000000 " ENTRY("00000018", "00100001")
	                       NO_MORE CALL("00000056"));
	assert_int_equal(s->n_reads, 1);
	raw_expect(s, SYSTEM("00000056"));
	raw_answer_held(s, 16);
	raw_end(s);
}

/* [ext §7.2 V23]: a handle that matches no segment is 0. */
static void a_foreign_handle_is_not_invalidated(void **state)
{
	static const char *const call[] = {
	        "00000055" MSG "000000bb " ENTRY("00000018", "00000004") NO_MORE STREAM,
	        "00000055" X_CALL_LAST "000000bb 00000001 " ARG("00000018", "00000004")
	                NO_RESULTS STREAM,
	        "00000055" X_CALL_LAST "000000aa 00000001 " ARG("00000018", "00000004")
	                NO_RESULTS STREAM,
	};
	static const uint32_t inv[] = {0, 0, 0xaa};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(call); i++) {
		struct rr_conn_config cfg = limits;
		struct side *s;

		cfg.remote_invalidate = true;
		s = server_of(&cfg);
		s->read_from = (const uint8_t *)"abcd";
		raw_receive(s, call[i]);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(s->sent[0].inv, inv[i]);
		raw_end(s);
	}
}

/* -- what is accepted ------------------------------------------------------ */

static const uint8_t *octets; /* what the peer's memory holds */

/* For side.on_request: three results; the second has no octets. */
static void three_results(struct side *s, struct rr_request *r)
{
	static uint8_t head[12], zero[4];
	const struct rr_piece p[] = {{head, 12, false}, {"abcde", 5, true},
	                             {zero, 4, false},  {"", 0, true},
	                             {zero, 4, false},  {"fgh", 3, true}};

	rr_store_u32(head, r->xid);
	rr_store_u32(head + 4, 1);
	rr_conn_reply(s->c, r, p, 6, s->now);
}

/* Result chunks of which the first two have one segment and the third has two, each
 * after the word that begins an entry of its list. */
#define RESULT_1(word, len) word " 00000001 " SEG("000000a1", len)
#define RESULT_2(word, len) word " 00000001 " SEG("000000a2", len)
#define RESULT_3(word, len)                                                            \
	word " 00000002 " SEG("000000a3", "00000001") SEG("000000a4", len)
#define THREE_RESULTS(word, a, b, c)                                                   \
	RESULT_1(word, a) RESULT_2(word, b) RESULT_3(word, c)

/* LS-s04-05, LS-s07-03: chunks are filled in list order; lengths do not matter. */
static void results_fill_chunks_in_order(void **state)
{
	struct side *s = server_of(&limits);

	s->on_request = three_results;
	raw_receive(s, "00000055" MSG NONE NONE THREE_RESULTS("00000001", "ffffffff",
	                                                      "00000010", "ffffffff")
	                       NONE NONE STREAM);
	assert_int_equal(s->n_writes, 3);
	assert_int_equal(s->writes[0].handle, 0xa1);
	assert_memory_equal(s->writes[0].first, "abcde", 5);
	assert_int_equal(s->writes[2].handle, 0xa4);
	raw_expect(s, "00000055" MSG_REPLY NONE NONE THREE_RESULTS(
	                      "00000001", "00000005", "00000000", "00000002")
	                      NONE NONE REPLY("00000055") NONE);
	raw_receive(s, "00000055" X_CALL_LAST NONE NONE
	               "00000003 " THREE_RESULTS("00000000", "ffffffff", "00000010",
	                                         "ffffffff") NONE STREAM);
	assert_int_equal(s->n_writes, 6);
	raw_expect(s,
	           "00000055" X_REPLY_LAST "00000003 " RESULT_1("00000000", "00000005")
	                   NONE NONE RESULT_3("00000000", "00000002") REPLY("00000055")
	                           NONE);
	raw_end(s);
}

/* For side.on_request: the item of each chunk is whole. */
static void see_items(struct side *s, struct rr_request *r)
{
	unsigned items = 0;

	for (unsigned i = 0; i < r->n_pieces; i++)
		if (r->pieces[i].item) {
			assert_int_equal(r->pieces[i].len, 12);
			assert_memory_equal(r->pieces[i].base, octets, 4);
			items++;
		}
	assert_int_equal(items, 4);
	assert_int_equal(r->n_writes, 4);
	raw_answer_call(s, r);
}

/* LS-s04-04, LS-s04-03: 4 Read chunks of 3 segments and 4 Write chunks of 2, in both
 * formats, come to the user as the same request. */
static void many_chunks_of_many_segments(void **state)
{
	octets = (const uint8_t *)"abcdefghijkl";
	for (unsigned x = 0; x < 2; x++) {
		struct side *s = server_of(&limits);
		static char text[8000];
		char *t = text;

		t += sprintf(t, "00000055%s",
		             x ? X_CALL_LAST "00000000 00000004 " : MSG "00000000 ");
		for (unsigned i = 0; i < 4; i++) {
			if (x)
				t += sprintf(t, "%08x 00000003 ", 24 + 12 * i);
			for (unsigned k = 0; k < 3; k++) {
				if (!x)
					t += sprintf(t, "00000001 %08x ", 24 + 12 * i);
				t += sprintf(t,
				             "000000aa 00000004 00000000 000100%02x ",
				             4 * k);
			}
		}
		t += sprintf(t, x ? "00000004 " : "00000000 ");
		for (unsigned i = 0; i < 4; i++)
			t += sprintf(t,
			             "%s 00000002 " SEG("000000b1", "00000010")
			                     SEG("000000b2", "00000010"),
			             x ? "00000000" : "00000001");
		sprintf(t, x ? "00000000 " STREAM : "00000000 00000000 " STREAM);
		s->read_from = octets;
		s->on_request = see_items;
		raw_receive(s, text);
		assert_int_equal(s->n_reads, 12);
		assert_int_equal(s->n_sent, 1);
		raw_end(s);
	}
}

/* For side.on_request: the first 256 octets, as an upper layer may checksum them. */
static void see_stream(struct side *s, struct rr_request *r)
{
	uint8_t seen[256];
	size_t n = 0;

	for (unsigned i = 0; i < r->n_pieces && n < sizeof(seen); i++) {
		size_t len = RR_MIN(r->pieces[i].len, sizeof(seen) - n);

		memcpy(seen + n, r->pieces[i].base, len);
		n += len;
	}
	assert_int_equal(n, sizeof(seen));
	assert_int_equal(rr_load_u32(seen), 0x55);
	assert_memory_equal(seen + 24, octets, sizeof(seen) - 24);
	raw_answer_call(s, r);
}

/* LS-s09-03: by default every chunk is there before the user sees the Call. */
static void all_chunks_are_pulled_first(void **state)
{
	static const char *const call[] = {
	        "00000055" MSG "00000000 " ENTRY("00000018", "00000200") NO_MORE STREAM,
	        "00000055" X_CALL_LAST "00000000 00000001 " ARG("00000018", "00000200")
	                NO_RESULTS STREAM,
	};

	octets = spec_octets();
	for (unsigned i = 0; i < 2; i++) {
		struct side *s = server_of(&limits);

		s->read_from = octets;
		s->on_request = see_stream;
		s->hold_reads = true;
		raw_receive(s, call[i]);
		assert_int_equal(s->n_reads, 1);
		assert_int_equal(s->requested, 0);
		raw_end(s);
		s = server_of(&limits);
		s->read_from = octets;
		s->on_request = see_stream;
		raw_receive(s, call[i]);
		assert_int_equal(s->requested, 1);
		raw_end(s);
	}
}

/* The rows under "not errors": empty chunks and segments, one handle many times, items
 * beside a Position Zero chunk. */
static void unusual_lists_are_accepted(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 " ENTRY("00000018", "00000004")
	                 ENTRY("00000018", "00000000") ENTRY("00000018", "00000004")
	                         NO_MORE STREAM,
	         NULL, 2},
	        {X_CALL_LAST "00000000 00000001 00000018 00000003 " SEG(
	                 "000000aa", "00000004") SEG("000000aa", "00000000")
	                 SEG("000000aa", "00000004") NO_RESULTS STREAM,
	         NULL, 2},
	        {X_CALL_LAST "00000000 00000000 00000002 00000000 00000000 "
	                     "0000004d 00000000 00000000 " STREAM,
	         NULL, 0},
	        {NOMSG "00000000 " ENTRY("00000000", "00000018") ENTRY(
	                 "00000018", "00000004") ENTRY("0000001c", "00000004") NO_MORE,
	         NULL, 3},
	        {X_CALL_EXTERNAL BODY("00000018") "00000002 " ARG(
	                 "00000018", "00000004") ARG("0000001c", "00000004") NO_RESULTS,
	         NULL, 3},
	};

	RUN(&limits, rows);
}

/* LS-s08-04: counts beyond the message, in each place. */
static void counts_beyond_the_message_take_no_memory(void **state)
{
	static const struct row rows[] = {
	        {MSG "00000000 00000000 00000001 ffffffff " STREAM, bad_xdr},
	        {MSG "00000000 00000000 00000000 00000001 ffffffff " STREAM, bad_xdr},
	        {X_CALL_LAST "00000000 ffffffff " STREAM, bad_xdr},
	        {X_CALL_LAST "00000000 00000001 00000018 ffffffff " STREAM, bad_xdr},
	        {X_CALL_LAST "00000000 00000000 ffffffff " STREAM, bad_xdr},
	        {X_CALL_LAST "00000000 00000000 00000000 ffffffff " STREAM, bad_xdr},
	        {X_CALL_EXTERNAL "00000000 00000001 ffffffff " STREAM, bad_xdr},
	        {X_CALL_MIDDLE "fffffff0 00000055 00000000", inval_cont},
	};
	static char text[300000];
	char *t = text;

	for (unsigned i = 0; i < 7; i++) {
		char message[400] = "00000055";

		expect_refusal(&limits, strcat(message, rows[i].message), bad_xdr);
	}
	/* a list of 2500 segments is well-formed, and too long */
	t += sprintf(t, "00000055" MSG "00000000 ");
	for (unsigned i = 0; i < 2500; i++)
		t += sprintf(t, "00000001 %08x 000000aa 00000004 00000000 00010000 ",
		             24 + 4 * i);
	sprintf(t, NO_MORE STREAM);
	{
		struct rr_conn_config large = limits;

		large.recv_bytes = 65536;
		expect_refusal(&large, text, "00000008 00000040");
	}
}

/* LS-s04-06: while a reply's Writes are in progress, another reply goes out. */
static void pushing_does_not_hold_up_other_replies(void **state)
{
	static uint8_t item[60000];
	static uint8_t head[12];
	const struct rr_piece p[] = {{head, 12, false}, {item, sizeof(item), true}};
	struct side *s = server_of(&limits);
	struct rr_request *slow;

	s->on_request = raw_hold;
	raw_receive(
	        s, "00000055" X_CALL_LAST "00000000 00000000 00000001 "
	           "00000000 00000001 " SEG("000000a1", "00010000") "00000000 " STREAM);
	slow = raw_held;
	raw_receive(s, "00000056" X_CALL_LAST EMPTY CALL("00000056"));
	raw_octets("00000055 00000001 00000000", head, sizeof(head));
	rr_conn_reply(s->c, slow, p, 2, s->now);
	raw_answer_call(s, raw_held);
	side_drain(s); /* no completion has been reported */
	assert_int_equal(s->n_writes, 1);
	assert_int_equal(s->n_sent, 2);
	side_complete_all(s);
	raw_end(s);
}

/* -- Replies --------------------------------------------------------------- */

/* [ext §7.3 V30], [ext §7.3 V31], [ext §7.3 V32], [ext §7.3 V33], LS-s10-02, LS-s10-04:
 * without RPRC.  A Read list draws RDMA2_DONE, and the RPC ends. */
static void a_reply_with_a_read_list_ends_the_call(void **state)
{
	static const struct {
		const char *reply;
		int status;
		bool done; /* a notification is sent */
	} rows[] = {
	        {MSG_REPLY "00000000 " ENTRY("00000018", "00000004")
	                 NO_MORE REPLY("00000055"),
	         -EPROTO, true},
	        {MSG_REPLY "00000000 00000000 00000000 00000001 00000001 " SEG(
	                 "000000aa", "00000000") REPLY("00000055"),
	         -EPROTO, false},
	        {NOMSG_REPLY "00000000 " ENTRY("00000000", "00000010") NO_MORE, -EPROTO,
	         true},
	        {NOMSG_REPLY
	         "00000000 " ENTRY("00000000", "00000010") "00000000 00000000 00000001 "
	                                                   "00000001 " SEG("000000aa",
	                                                                   "00000010"),
	         -EPROTO, true},
	        {NOMSG_REPLY EMPTY, -EPROTO, false},
	        {V2 "ffffff4b 00000001 " BODY("00000010") "00000000", -EPROTO, true},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &limits, X_PROP);
		struct spec_call *k = spec_new(0x55, 0), *next = spec_new(0x66, 0);
		char message[400] = "00000055", unknown[400] = "00000077";

		(void)spec_sent(s, k);
		raw_skip(s);
		raw_receive(s, strcat(message, rows[i].reply));
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(k->call.status, rows[i].status);
		assert_int_equal(s->n_reads, 0);
		assert_int_equal(s->n_sent, rows[i].done);
		if (rows[i].done)
			raw_expect(s, "00000055" V2 "00000003 00000000");
		/* the XID of no Call of ours */
		raw_receive(s, strcat(unknown, rows[i].reply));
		assert_int_equal(s->n_sent, rows[i].done);
		side_forget_sent(s);
		assert_false(s->disconnect);
		spec_start(s, next);
		raw_receive(s, "00000066" MSG_REPLY EMPTY REPLY("00000066"));
		assert_int_equal(next->call.status, RR_CALL_OK);
		rr_conn_call_release(s->c, &next->call, s->now);
		free(next);
		spec_end(s, k);
	}
}

/* -- the Requester --------------------------------------------------------- */

/* LS-s05-01, LS-s05-02, LS-s05-03: what we send passes these checks in both formats. */
static void our_calls_pass_these_checks(void **state)
{
	const uint8_t *item = spec_octets();

	for (unsigned special = 0; special < 2; special++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
		struct spec_call *k = spec_new(0x55, 600);
		const struct side_msg *m;
		uint32_t last = 0;

		for (unsigned i = 0; i < 3; i++) {
			spec_add(k, item + 1000 * i, 600, true);
			spec_add(k, item, 4, false);
		}
		k->call.flags = special ? RR_CALL_SPECIAL : 0;
		m = spec_sent(s, k);
		assert_int_equal(spec_word(m, 3), special ? RDMA2_NOMSG : RDMA2_MSG);
		for (unsigned w = 6, i = 0; spec_word(m, w); w += 6, i++) {
			uint32_t position = spec_word(m, w + 1);

			assert_int_equal(position == 0, special && i == 0);
			assert_true(i == 0 || position > last);
			last = position;
		}
		assert_true(last > 0);
		spec_end(s, k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(short_messages_and_other_versions),
	        cmocka_unit_test(headers_are_checked_first),
	        cmocka_unit_test(the_xid_of_a_whole_message_is_checked),
	        cmocka_unit_test(positions_never_decrease),
	        cmocka_unit_test(positions_are_multiples_of_four),
	        cmocka_unit_test(position_zero_is_for_calls_without_payload),
	        cmocka_unit_test(chunks_do_not_overlap),
	        cmocka_unit_test(chunks_leave_no_gap),
	        cmocka_unit_test(positions_refer_to_the_whole_stream),
	        cmocka_unit_test(a_stream_has_eight_octets),
	        cmocka_unit_test(counts_stay_within_our_limits),
	        cmocka_unit_test(long_reads_are_refused_before_the_first),
	        cmocka_unit_test(the_whole_call_is_limited),
	        cmocka_unit_test(long_segments_are_refused),
	        cmocka_unit_test(a_refused_limit_is_the_default),
	        cmocka_unit_test(a_foreign_handle_is_not_invalidated),
	        cmocka_unit_test(results_fill_chunks_in_order),
	        cmocka_unit_test(many_chunks_of_many_segments),
	        cmocka_unit_test(all_chunks_are_pulled_first),
	        cmocka_unit_test(unusual_lists_are_accepted),
	        cmocka_unit_test(counts_beyond_the_message_take_no_memory),
	        cmocka_unit_test(pushing_does_not_hold_up_other_replies),
	        cmocka_unit_test(a_reply_with_a_read_list_ends_the_call),
	        cmocka_unit_test(our_calls_pass_these_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
