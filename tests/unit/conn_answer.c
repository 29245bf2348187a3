/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Requester against a hostile Responder, and what its own Calls look like
 * on the wire.  One row a Reply: the call ends with the stated status, nothing
 * is ever sent about it [E2], and a plain call still works afterwards.
 *
 * The call under attack offers a Read chunk of 600 octets, Write chunks of 100
 * and 300 octets and a Reply chunk of 70000, one segment each.
 */
#include "test_conn_raw.h"

enum { XID = 0x55, ARG = 600, REPLY_MAX = 70000 };

struct attack {
	struct side *s;
	struct rr_call call;
	struct rr_piece piece[3];
	uint8_t head[28], tail[4], arg[ARG];
	struct rr_dest dest[2];
	uint8_t result[400];
	uint8_t sent[600]; /* the Call as it went out */
	unsigned ended;
};

static void on_call_done(struct side *s, struct rr_call *call)
{
	struct attack *a = s->app;

	if (call == &a->call)
		a->ended++;
	rr_conn_call_release(s->c, call, s->now);
}

static void prepare(struct attack *a, bool inv)
{
	const struct rr_conn_config cfg = {.segment_bytes = 70000,
	                                   .remote_invalidate = inv};

	memset(a, 0, sizeof(*a));
	a->s = raw_ready(RR_CONN_CLIENT, &cfg);
	a->s->app = a;
	a->s->on_call_done = on_call_done;
	raw_octets("00000055 00000000 00000002 000186a3 00000003 00000007 00000258",
	           a->head, sizeof(a->head));
	memset(a->arg, 0x77, ARG);
	a->piece[0] = (struct rr_piece){a->head, 28, false};
	a->piece[1] = (struct rr_piece){a->arg, ARG, true};
	a->piece[2] = (struct rr_piece){a->tail, 4, false};
	a->dest[0] = (struct rr_dest){.base = a->result, .len = 100};
	a->dest[1] = (struct rr_dest){.base = a->result + 100, .len = 300};
	a->call = (struct rr_call){.xid = XID,
	                           .pieces = a->piece,
	                           .n_pieces = 3,
	                           .dests = a->dest,
	                           .n_dests = 2,
	                           .reply_bytes = REPLY_MAX};
	assert_int_equal(rr_conn_call(a->s->c, &a->call, a->s->now), 0);
	side_drain(a->s);
	side_complete_all(a->s);
	assert_int_equal(a->s->n_sent, 1);
	memcpy(a->sent, a->s->sent[0].p, a->s->sent[0].len);
	side_forget_sent(a->s);
}

enum which { ARGUMENT, FIRST_WRITE, SECOND_WRITE, REPLY_CHUNK };

/* The order of registration is the connection's choice: look by address. */
static const struct side_region *region(const struct attack *a, enum which w)
{
	const void *known[3] = {a->arg, a->result, a->result + 100};

	for (unsigned i = 0; i < a->s->n_regions; i++) {
		const struct side_region *r = &a->s->region[i];
		bool other = r->base != known[0] && r->base != known[1] &&
		             r->base != known[2];

		if (w == REPLY_CHUNK ? other : r->base == known[w])
			return r;
	}
	fail_msg("no region %d", w);
	return NULL;
}

/* A segment of it with this length, as hexadecimal. */
static const char *segment_at(uint32_t handle, uint32_t len, const uint8_t *base,
                              char *to)
{
	sprintf(to, "%08x %08x %016llx ", handle, len,
	        (unsigned long long)(uintptr_t)base);
	return to;
}

static const char *where(const struct attack *a, enum which w, uint32_t len, char *to)
{
	return segment_at(region(a, w)->handle, len, region(a, w)->base, to);
}

/*
 * Expands a Reply: @W, @X and @R stand for the segment of the first and second
 * Write chunk and of the Reply chunk, with the eight digits that follow as its
 * length; @O for that of the first Write chunk, one octet further, @H with the
 * next handle.
 */
static void expand(const struct attack *a, const char *in, char *out)
{
	while (*in) {
		if (*in == '@') {
			enum which k = in[1] == 'W'   ? FIRST_WRITE
			               : in[1] == 'X' ? SECOND_WRITE
			                              : REPLY_CHUNK;
			uint32_t len;

			assert_int_equal(sscanf(in + 2, "%8x", &len), 1);
			if (in[1] == 'O' || in[1] == 'H')
				segment_at(region(a, FIRST_WRITE)->handle +
				                   (in[1] == 'H'),
				           len, a->result + (in[1] == 'O'), out);
			else
				where(a, k, len, out);
			out += strlen(out);
			in += 10;
		} else {
			*out++ = *in++;
		}
	}
	*out = 0;
}

#define WRITES(l1, l2)                                                                 \
	"00000000 00000000 00000001 00000001 @W" l1 " 00000001 00000001 @X" l2         \
	" 00000000 "
#define NO_REPLY   "00000000 "
#define GOOD_REPLY "00000055 00000001 00000000 00000000 "

struct row {
	const char *name;
	const char *in[3];
	int status;    /* of the call, or REMOTE(rdma_err) */
	bool notified; /* an RDMA2_DONE follows */
};

#define REMOTE(code) (1000 + (code))

static const struct row good_replies_are_taken_rows[] = {
        {"good, chunks unused",
         {"00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY},
         RR_CALL_OK},
        {"good, chunks full",
         {"00000055" MSG_REPLY WRITES("00000064", "0000012c") NO_REPLY GOOD_REPLY},
         RR_CALL_OK},
        {"good, continued",
         {"00000055" MSG_REPLY_MORE EMPTY "00000055",
          "00000055" MSG_REPLY WRITES("00000064", "00000001") NO_REPLY
          "00000001 00000000 00000000"},
         RR_CALL_OK},
};

static const struct row write_lists_must_be_those_offered_rows[] = {
        /* [K7]: V2-4.3.6-06 */
        {"no Write chunks", {"00000055" MSG_REPLY EMPTY GOOD_REPLY}, -EPROTO},
        {"one Write chunk",
         {"00000055" MSG_REPLY
          "00000000 00000000 00000001 00000001 @W00000064 00000000 " NO_REPLY
                  GOOD_REPLY},
         -EPROTO},
        {"three Write chunks",
         {"00000055" MSG_REPLY "00000000 00000000 00000001 00000001 @W00000064"
          "00000001 00000001 @X00000064 00000001 00000000 00000000" NO_REPLY
                  GOOD_REPLY},
         -EPROTO},
        {"longer than offered",
         {"00000055" MSG_REPLY WRITES("00000065", "00000000") NO_REPLY GOOD_REPLY},
         -EPROTO},
        {"chunks exchanged",
         {"00000055" MSG_REPLY "00000000 00000000 00000001 00000001 @X00000064"
          "00000001 00000001 @W00000064 00000000 " NO_REPLY GOOD_REPLY},
         -EPROTO},
        {"a foreign handle",
         {"00000055" MSG_REPLY "00000000 00000000 00000001 00000001" SEG(
                 "000000aa",
                 "00000001") "00000001 00000001 @X00000000 00000000 " NO_REPLY
                  GOOD_REPLY},
         -EPROTO},
        {"another handle",
         {"00000055" MSG_REPLY "00000000 00000000 00000001 00000001 @H00000000"
          "00000001 00000001 @X00000000 00000000 " NO_REPLY GOOD_REPLY},
         -EPROTO},
        {"another offset",
         {"00000055" MSG_REPLY "00000000 00000000 00000001 00000001 @O00000000"
          "00000001 00000001 @X00000000 00000000 " NO_REPLY GOOD_REPLY},
         -EPROTO},
        {"a segment more",
         {"00000055" MSG_REPLY
          "00000000 00000000 00000001 00000002 @W00000064 @W00000000"
          "00000001 00000001 @X00000000 00000000 " NO_REPLY GOOD_REPLY},
         -EPROTO},
        {"no segments",
         {"00000055" MSG_REPLY "00000000 00000000 00000001 00000000"
          "00000001 00000001 @X00000000 00000000 " NO_REPLY GOOD_REPLY},
         -EPROTO},
};

static const struct row a_reply_with_a_read_list_is_refused_rows[] = {
        /* [K15] */
        {"a Read list",
         {"00000055" MSG_REPLY
          "00000000" READ("00000010",
                          "00000001") "00000000"
                                      "00000001 00000001 @W00000000 00000001 00000001 "
                                      "@X00000000 00000000 " NO_REPLY GOOD_REPLY},
         -EPROTO,
         true},
};

static const struct row a_reply_chunk_in_msg_is_refused_rows[] = {
        /* [K8] */
        {"an unused Reply chunk in MSG",
         {"00000055" MSG_REPLY WRITES(
                 "00000000", "00000000") "00000001 00000001 @R00000000" GOOD_REPLY},
         -EPROTO},
};

static const struct row special_replies_need_their_chunk_rows[] = {
        /* [K1] */
        {"a Special Reply without a Reply chunk",
         {"00000055" NOMSG_REPLY WRITES("00000000", "00000000") NO_REPLY},
         -EPROTO},
        {"a Special Reply longer than its chunk",
         {"00000055" NOMSG_REPLY WRITES("00000000",
                                        "00000000") "00000001 00000001 @R00011171"},
         -EPROTO},
};

static const struct row a_special_reply_must_hold_a_reply_rows[] = {
        {"a Special Reply that says nothing", /* memory is a5a5... */
         {"00000055" NOMSG_REPLY WRITES("00000000",
                                        "00000000") "00000001 00000001 @R00000020"},
         -EBADMSG},
        {"a Special Reply of no octets",
         {"00000055" NOMSG_REPLY WRITES("00000000",
                                        "00000000") "00000001 00000001 @R00000000"},
         -EBADMSG},
};

static const struct row header_and_reply_have_one_xid_rows[] = {
        /* [check: RPC message, F5] */
        {"two XIDs",
         {"00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY
          "00000056 00000001 00000000"},
         -EBADMSG},
};

static const struct row response_set_means_a_reply_rows[] = {
        {"a Call as a Reply",
         {"00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY
          "00000055 00000000 00000000"},
         -EBADMSG},
};

static const struct row reply_xids_are_compared_when_whole_rows[] = {
        {"XID alone",
         {"00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY "00000055"},
         -EBADMSG},
        {"two XIDs in parts",
         {"00000055" MSG_REPLY_MORE EMPTY "00000056",
          "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY "00000001"},
         -EBADMSG},
};

static const struct row unparsable_replies_end_the_call_rows[] = {
        /* [E2]: no errors about Replies */
        {"no payload",
         {"00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY},
         -EBADMSG},
        {"cut", {"00000055" MSG_REPLY "00000000"}, -EBADMSG},
};

static const struct row unknown_types_and_tpmore_end_the_call_rows[] = {
        {"an unknown type", {"00000055" V2 "00000007 00000001"}, -EPROTO},
        {"TPMORE", {"00000055" V2 "00000000 00000005" EMPTY GOOD_REPLY}, -EPROTO},
        {"TPMORE in an error", {"00000055" V2 "00000004 00000005 00000002"}, -EPROTO},
};

static const struct row continuation_faults_of_replies_end_the_call_rows[] = {
        /* [M9, M3] */
        {"chunks before the end",
         {"00000055" MSG_REPLY_MORE WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY,
          "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY},
         -EPROTO},
        {"MORE with NOMSG",
         {"00000055" V2 "00000001 00000003" WRITES(
                 "00000000", "00000000") "00000001 00000001 @R00000020"},
         -EPROTO},
        {"another type in the sequence",
         {"00000055" MSG_REPLY_MORE EMPTY "00000055",
          "00000055" NOMSG_REPLY WRITES("00000000",
                                        "00000000") "00000001 00000001 @R00000020"},
         -EPROTO},
};

static const struct row a_second_reply_is_ignored_rows[] = {
        /* a second Reply is one for nobody: V2-3.1.2-03 */
        {"twice",
         {"00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY,
          "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY},
         RR_CALL_OK},
};

static const struct row err_vers_ends_the_call_rows[] = {
        /* errors: the table "Reaction of a Requester to RDMA2_ERROR" */
        {"ERR_VERS", {"00000055" ERRORMSG "00000001 00000001 00000001"}, REMOTE(1)},
};

static const struct row bad_xdr_ends_the_call_rows[] = {
        {"BAD_XDR", {"00000055" ERRORMSG "00000002"}, REMOTE(2)},
};

static const struct row inval_htype_ends_the_call_rows[] = {
        {"INVAL_HTYPE", {"00000055" ERRORMSG "00000004"}, REMOTE(4)},
};

static const struct row inval_cont_ends_the_call_rows[] = {
        {"INVAL_CONT", {"00000055" ERRORMSG "00000005"}, REMOTE(5)},
};

static const struct row read_chunks_reaches_the_caller_rows[] = {
        {"READ_CHUNKS", {"00000055" ERRORMSG "00000006 00000000"}, REMOTE(6)},
};

static const struct row write_chunks_reaches_the_caller_rows[] = {
        {"WRITE_CHUNKS", {"00000055" ERRORMSG "00000007 00000001"}, REMOTE(7)},
};

static const struct row segments_reaches_the_caller_rows[] = {
        {"SEGMENTS", {"00000055" ERRORMSG "00000008 00000003"}, REMOTE(8)},
};

static const struct row write_resource_reaches_the_caller_rows[] = {
        {"WRITE_RESOURCE",
         {"00000055" ERRORMSG "00000009 00000001 00011170"},
         REMOTE(9)},
};

static const struct row reply_resource_reaches_the_caller_rows[] = {
        {"REPLY_RESOURCE", {"00000055" ERRORMSG "0000000a 00011170"}, REMOTE(10)},
};

static const struct row system_ends_the_call_rows[] = {
        {"SYSTEM and more octets",
         {"00000055" ERRORMSG "00000064 01020304"}, /* [E5] */
         REMOTE(100)},
};

static const struct row unknown_errors_are_discarded_rows[] = {
        {"errors that say nothing, then the Reply", /* [M10, E5, E15] */
         {"00000055" ERRORMSG "0000000b", "00000055" V2 "00000004 00000003 00000002",
          "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY},
         RR_CALL_OK},
};

static void expect_service(struct attack *a)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	unsigned done = a->s->calls_done;

	assert_int_equal(rr_conn_call(a->s->c, &plain, a->s->now), 0);
	side_drain(a->s);
	side_complete_all(a->s);
	raw_expect(a->s, "00000099" MSG EMPTY "00000099 00000000");
	raw_receive(a->s, "00000099" MSG_REPLY EMPTY "00000099 00000001");
	assert_int_equal(a->s->calls_done, done + 1);
	assert_int_equal(plain.status, RR_CALL_OK);
	raw_expect_silence(a->s);
}

static void run_rows(const struct row *rows, unsigned n_rows)
{
	static struct attack a;
	static char hex[3][2000];

	for (unsigned i = 0; i < n_rows; i++) {
		const struct row *r = &rows[i];

		print_message("    %s\n", r->name);
		prepare(&a, false);
		for (unsigned k = 0; k < 3 && r->in[k]; k++)
			expand(&a, r->in[k], hex[k]);
		for (unsigned k = 0; k < 3 && r->in[k]; k++)
			raw_receive(a.s, hex[k]);
		if (r->notified) /* [ext §3.5] */
			raw_expect(a.s, "00000055" V2 "00000003 00000000");
		raw_expect_silence(a.s);
		assert_int_equal(a.s->n_reads + a.s->n_writes, 0); /* V2-4-02 */
		assert_int_equal(a.ended, 1);
		if (r->status >= REMOTE(0)) {
			assert_int_equal(a.call.status, RR_CALL_REMOTE_ERROR);
			assert_int_equal(REMOTE(a.call.error.code), r->status);
		} else {
			assert_int_equal(a.call.status, r->status);
		}
		assert_int_equal(side_valid_regions(a.s), 0); /* V2-11.1.3-02, -04 */
		expect_service(&a);
		raw_end(a.s);
	}
}

#define ROWS(name)                                                                     \
	static void name(void **state)                                                 \
	{                                                                              \
		run_rows(name##_rows, RR_ARRAY_SIZE(name##_rows));                     \
	}

ROWS(good_replies_are_taken)
ROWS(write_lists_must_be_those_offered)
ROWS(a_reply_with_a_read_list_is_refused)
ROWS(a_reply_chunk_in_msg_is_refused)
ROWS(special_replies_need_their_chunk)
ROWS(a_special_reply_must_hold_a_reply)
ROWS(header_and_reply_have_one_xid)
ROWS(response_set_means_a_reply)
ROWS(reply_xids_are_compared_when_whole)
ROWS(unparsable_replies_end_the_call)
ROWS(unknown_types_and_tpmore_end_the_call)
ROWS(continuation_faults_of_replies_end_the_call)
ROWS(a_second_reply_is_ignored)
ROWS(err_vers_ends_the_call)
ROWS(bad_xdr_ends_the_call)
ROWS(inval_htype_ends_the_call)
ROWS(inval_cont_ends_the_call)
ROWS(read_chunks_reaches_the_caller)
ROWS(write_chunks_reaches_the_caller)
ROWS(segments_reaches_the_caller)
ROWS(write_resource_reaches_the_caller)
ROWS(reply_resource_reaches_the_caller)
ROWS(system_ends_the_call)
ROWS(unknown_errors_are_discarded)

/* V2-6.2.3, V2-4.3.5-02, V2-4.3.6.2-01: the Call, octet by octet. */
static void a_call_with_every_chunk(void **state)
{
	static struct attack a;
	uint8_t want[600];
	char hex[2000], seg[4][80];
	size_t n;

	prepare(&a, true);
	sprintf(hex,
	        "00000055" MSG "%08x 00000001 0000001c %s 00000000"
	        "00000001 00000001 %s 00000001 00000001 %s 00000000 00000001 00000001 "
	        "%s"
	        "00000055 00000000 00000002 000186a3 00000003 00000007 00000258 "
	        "00000000",
	        region(&a, FIRST_WRITE)->handle, where(&a, ARGUMENT, ARG, seg[0]),
	        where(&a, FIRST_WRITE, 100, seg[1]),
	        where(&a, SECOND_WRITE, 300, seg[2]),
	        where(&a, REPLY_CHUNK, REPLY_MAX, seg[3]));
	n = raw_octets(hex, want, sizeof(want));
	assert_memory_equal(a.sent, want, 8);
	assert_memory_equal(a.sent + 12, want + 12, n - 12);
	assert_int_equal(region(&a, ARGUMENT)->access, 1);    /* read only */
	assert_int_equal(region(&a, FIRST_WRITE)->access, 2); /* write only */
	assert_int_equal(region(&a, REPLY_CHUNK)->access, 2);
	raw_end(a.s);
	assert_int_equal(a.call.status, -ECONNRESET);
}

/* [K1]: the Call has a Write chunk, so there are lists to compare with. */
static void a_special_reply_to_a_call_without_a_reply_chunk(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	uint8_t result[100];
	struct rr_dest d = {.base = result, .len = sizeof(result)};
	struct rr_call call = {
	        .xid = 0x99, .pieces = &p, .n_pieces = 1, .dests = &d, .n_dests = 1};
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	char hex[400], seg[80];

	assert_int_equal(rr_conn_call(s->c, &call, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	assert_int_equal(s->n_regions, 1);
	segment_at(s->region[0].handle, 100, result, seg);
	sprintf(hex,
	        "00000099" NOMSG_REPLY "00000000 00000000 00000001 00000001 %s 00000000"
	        "00000001 00000001 %s",
	        seg, seg);
	raw_receive(s, hex);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(call.status, -EPROTO);
	raw_end(s);
}

/* C.7-03: one handle of ours is gone; the others are invalidated here. */
static void remote_invalidation_spares_one(void **state)
{
	static struct attack a;
	struct rr_conn_counters n;
	char hex[2000];

	prepare(&a, true);
	expand(&a,
	       "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY,
	       hex);
	raw_receive_inv(a.s, hex, region(&a, FIRST_WRITE)->handle);
	assert_int_equal(a.call.status, RR_CALL_OK);
	assert_int_equal(a.ended, 1);
	rr_conn_counters(a.s->c, &n);
	assert_int_equal(n.remote_invalidations, 1);
	assert_int_equal(n.local_invalidations, 3);
	expect_service(&a);
	raw_end(a.s);
}

/* [K17] */
static void invalidation_of_a_foreign_handle_closes(void **state)
{
	static struct attack a;
	char hex[2000];

	prepare(&a, true);
	expand(&a,
	       "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY,
	       hex);
	raw_receive_inv(a.s, hex, 0x4321);
	raw_expect_close(a.s, -EPROTO);
	raw_end(a.s);
	assert_int_equal(a.ended, 1);
	assert_int_equal(a.call.status, -ECONNRESET);
}

static void invalidation_of_another_calls_handle_closes(void **state)
{
	static struct attack a;

	prepare(&a, true);
	raw_receive_inv(a.s, "00000056" MSG_REPLY EMPTY REPLY("00000056"),
	                region(&a, FIRST_WRITE)->handle);
	raw_expect_close(a.s, -EPROTO);
	raw_end(a.s);
}

/* The Reply to a cancelled call was under way: no violation. */
static void late_invalidation_after_cancel_is_tolerated(void **state)
{
	static struct attack a;
	uint32_t handle;
	char hex[2000];

	prepare(&a, true);
	handle = region(&a, FIRST_WRITE)->handle;
	expand(&a,
	       "00000055" MSG_REPLY WRITES("00000000", "00000000") NO_REPLY GOOD_REPLY,
	       hex);
	rr_conn_cancel(a.s->c, &a.call, a.s->now);
	side_drain(a.s);
	assert_int_equal(a.ended, 0); /* not before the invalidations */
	assert_int_equal(side_valid_regions(a.s), 0);
	side_complete_all(a.s);
	assert_int_equal(a.ended, 1);
	assert_int_equal(a.call.status, -ECANCELED);
	rr_conn_cancel(a.s->c, &a.call, a.s->now); /* harmless */
	raw_receive_inv(a.s, hex, handle);
	expect_service(&a);
	raw_end(a.s);
}

/* Two lifetimes: the Reply is there, the Send that refers to the caller's memory is
 * not complete. */
static void a_reply_before_the_send_completes(void **state)
{
	static const uint8_t words[600] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	uint8_t buf[100];
	size_t n = raw_octets("00000099" MSG_REPLY EMPTY "00000099 00000001", buf,
	                      sizeof(buf));

	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_drain(s);
	side_receive(s, buf, n, 0);
	assert_int_equal(s->calls_done, 0);
	side_complete_all(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(plain.reply_len, 8);
	rr_conn_call_release(s->c, &plain, s->now);
	assert_null(plain.priv);
	raw_end(s);
}

/* A Reply that is lent survives the connection; CLOSED waits for it. */
static void a_lent_reply_survives_the_connection(void **state)
{
	static const uint8_t words[8] = {0, 0, 0, 0x99};
	const struct rr_piece p = {words, sizeof(words), false};
	struct rr_call plain = {.xid = 0x99, .pieces = &p, .n_pieces = 1};
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

	assert_int_equal(rr_conn_call(s->c, &plain, s->now), 0);
	side_drain(s);
	side_complete_all(s);
	raw_receive(s, "00000099" MSG_REPLY EMPTY "00000099 00000001");
	assert_int_equal(s->calls_done, 1);
	side_lose(s, -ECONNRESET);
	assert_false(s->closed);
	assert_int_equal(rr_load_u32(plain.reply), 0x99);
	rr_conn_call_release(s->c, &plain, s->now);
	side_drain(s);
	assert_true(s->closed);
	assert_int_equal(rr_conn_call(s->c, &plain, s->now), -ECONNRESET);
	raw_end(s);
}

static void misuse_is_refused(void **state)
{
	static const uint8_t words[12] = {0, 0, 0, 0x99};
	struct rr_piece p[2] = {{words, 8, false}, {words, 4, false}};
	struct rr_dest d = {.base = NULL, .len = 5};
	struct rr_call call = {.xid = 0x99, .pieces = p, .n_pieces = 1}, again;
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

	call.xid = 0x98; /* not the payload's */
	assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
	call.xid = 0x99;
	call.n_pieces = 0;
	assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
	call.n_pieces = RR_CALL_MAX_PIECES + 1;
	assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
	call.n_pieces = 2;
	p[1].len = 3; /* the stream is no multiple of 4 */
	assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
	p[1].len = 4;
	call.n_dests = RR_WIRE_MAX_WRITES + 1;
	call.dests = &d;
	assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
	call.n_dests = 1;
	assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
	call.n_dests = 0;
	assert_int_equal(rr_conn_call(s->c, &call, s->now), 0);
	again = call;
	assert_int_equal(rr_conn_call(s->c, &again, s->now),
	                 -EINVAL); /* V2-3.1.3.4-02 */
	side_drain(s);
	raw_end(s);
}

/* V2-3.1.2-03: hundreds outstanding, answered backwards. */
static void replies_find_their_calls(void **state)
{
	enum { N = 500 };
	static uint8_t words[N][8];
	static struct rr_piece p[N];
	static struct rr_call call[N];
	const struct rr_conn_config cfg = {.credits = 1000};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	raw_receive(s, "00000077 00000002 03e803e8 00000005 00000000 00000000");
	side_forget_sent(s);
	for (unsigned i = 0; i < N; i++) {
		uint32_t xid = i * 64; /* one bucket, if the table were naive */

		rr_store_u32(words[i], xid);
		p[i] = (struct rr_piece){words[i], 8, false};
		call[i] = (struct rr_call){.xid = xid, .pieces = &p[i], .n_pieces = 1};
		assert_int_equal(rr_conn_call(s->c, &call[i], s->now), 0);
		side_drain(s);
		side_complete_all(s);
		side_forget_sent(s);
	}
	for (unsigned i = N; i-- > 0;) {
		char hex[200];

		sprintf(hex, "%08x" MSG_REPLY EMPTY "%08x 00000001 %08x", i * 64,
		        i * 64, i);
		raw_receive(s, hex);
		assert_int_equal(s->calls_done, N - i);
		assert_int_equal(call[i].status, RR_CALL_OK);
		assert_int_equal(rr_load_u32((const uint8_t *)call[i].reply + 8), i);
		rr_conn_call_release(s->c, &call[i], s->now);
		side_forget_sent(s);
	}
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(good_replies_are_taken),
	        cmocka_unit_test(write_lists_must_be_those_offered),
	        cmocka_unit_test(a_reply_with_a_read_list_is_refused),
	        cmocka_unit_test(a_reply_chunk_in_msg_is_refused),
	        cmocka_unit_test(special_replies_need_their_chunk),
	        cmocka_unit_test(a_special_reply_must_hold_a_reply),
	        cmocka_unit_test(header_and_reply_have_one_xid),
	        cmocka_unit_test(response_set_means_a_reply),
	        cmocka_unit_test(reply_xids_are_compared_when_whole),
	        cmocka_unit_test(unparsable_replies_end_the_call),
	        cmocka_unit_test(unknown_types_and_tpmore_end_the_call),
	        cmocka_unit_test(continuation_faults_of_replies_end_the_call),
	        cmocka_unit_test(a_second_reply_is_ignored),
	        cmocka_unit_test(err_vers_ends_the_call),
	        cmocka_unit_test(bad_xdr_ends_the_call),
	        cmocka_unit_test(inval_htype_ends_the_call),
	        cmocka_unit_test(inval_cont_ends_the_call),
	        cmocka_unit_test(read_chunks_reaches_the_caller),
	        cmocka_unit_test(write_chunks_reaches_the_caller),
	        cmocka_unit_test(segments_reaches_the_caller),
	        cmocka_unit_test(write_resource_reaches_the_caller),
	        cmocka_unit_test(reply_resource_reaches_the_caller),
	        cmocka_unit_test(system_ends_the_call),
	        cmocka_unit_test(unknown_errors_are_discarded),
	        cmocka_unit_test(a_call_with_every_chunk),
	        cmocka_unit_test(a_special_reply_to_a_call_without_a_reply_chunk),
	        cmocka_unit_test(remote_invalidation_spares_one),
	        cmocka_unit_test(invalidation_of_a_foreign_handle_closes),
	        cmocka_unit_test(invalidation_of_another_calls_handle_closes),
	        cmocka_unit_test(late_invalidation_after_cancel_is_tolerated),
	        cmocka_unit_test(a_reply_before_the_send_completes),
	        cmocka_unit_test(a_lent_reply_survives_the_connection),
	        cmocka_unit_test(misuse_is_refused),
	        cmocka_unit_test(replies_find_their_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
