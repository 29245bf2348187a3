/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions that nothing else makes true: sizes beyond 32 bits, what is
 * done too early or too late, lists that differ in one place.
 */
#include "conn/limits.h"
#include "test_conn_raw.h"

struct one {
	uint8_t words[9000];
	struct rr_piece piece[RR_CALL_MAX_PIECES];
	struct rr_dest dest;
	uint8_t result[4096];
	struct rr_call call;
};

static struct one *new_call(uint32_t xid, size_t len, bool chunk)
{
	struct one *o = calloc(1, sizeof(*o));

	rr_store_u32(o->words, xid);
	o->piece[0] = (struct rr_piece){o->words, len, false};
	o->dest = (struct rr_dest){.base = o->result, .len = 64};
	o->call = (struct rr_call){.xid = xid,
	                           .pieces = o->piece,
	                           .n_pieces = 1,
	                           .dests = &o->dest,
	                           .n_dests = chunk};
	return o;
}

static void queue(struct side *s, struct one *o)
{
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
}

static void start(struct side *s, struct one *o)
{
	queue(s, o);
	side_drain(s);
	side_complete_all(s);
}

/* -- calls ----------------------------------------------------------------- */

/* [V10]: one that a call has is stepped over. */
static void an_own_xid_is_not_that_of_a_call(void **state)
{
	const struct rr_ext_table table = {.n_htypes = 1, .htype = {0x10}};
	const struct rr_conn_config cfg = {.ext = &table, .xid_seed = 0x77};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	struct one *o = new_call(0x78, 8, false);
	uint32_t xid;

	start(s, o);
	assert_int_equal(rr_conn_ext_send(s->c, 0x10, 0, 0, NULL, 0, &xid, s->now), 0);
	assert_int_equal(xid, 0x79);
	raw_end(s);
	free(o);
}

/* [K19]: items begin, and the stream ends, on a multiple of four. */
static void a_call_that_is_no_xdr_is_refused(void **state)
{
	static const uint8_t w[64] = {0, 0, 0, 0x99};
	const struct {
		struct rr_piece p[3];
		unsigned n;
	} t[] = {
	        {{{w, 4, false}}, 1},                               /* no msg_type */
	        {{{w, 2, false}, {w + 2, 6, false}}, 2},            /* no XID */
	        {{{w, 8, false}, {w, (size_t)1 << 32, false}}, 2},  /* too long */
	        {{{w, 8, false}, {w, 0xfffffff8, false}}, 2},       /* together */
	        {{{w, 10, false}, {w, 4, true}, {w, 2, false}}, 3}, /* between */
	        {{{w, 8, false}, {NULL, 4, false}}, 2},             /* nothing */
	};
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rr_call call = {
		        .xid = 0x99, .pieces = t[i].p, .n_pieces = t[i].n};

		assert_int_equal(rr_conn_call(s->c, &call, s->now), -EINVAL);
		assert_null(call.priv);
	}
	side_drain(s);
	raw_expect_silence(s);
	raw_end(s);
}

/* Registered later than asked: nothing is sent before it, nor in its place. */
static void calls_wait_for_a_registration(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true), *p = new_call(0x9a, 8, false);
	struct rr_action a;
	uint64_t token;

	queue(s, o);
	queue(s, p);
	assert_true(rr_conn_next(s->c, &a));
	assert_int_equal(a.kind, RR_ACT_REGISTER);
	token = a.token;
	assert_false(rr_conn_next(s->c, &a));
	rr_conn_registered(s->c, token, 0, 0xaa, 0x10000);
	side_drain(s);
	raw_expect(s, "00000099" MSG "00000000 00000000 00000001 00000001" SEG(
	                      "000000aa", "00000040") "00000000 00000000"
	                                              "00000099 00000000");
	raw_expect(s, "0000009a" MSG EMPTY "0000009a 00000000");
	side_complete_all(s);
	raw_end(s);
	free(o);
	free(p);
}

/* A region of more octets than an SGE can name. [P9] */
static void a_destination_beyond_4_gib(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 0x80000000};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg,
	                              "00000001 00000003 00000004 80000000");
	struct one *o = new_call(0x99, 8, true);
	struct rr_action a;

	o->dest.len = (size_t)5 << 30;
	queue(s, o);
	assert_true(rr_conn_next(s->c, &a));
	assert_int_equal(a.kind, RR_ACT_REGISTER);
	assert_int_equal(a.reg_len, (size_t)5 << 30);
	assert_int_equal(a.sge[0].len, UINT32_MAX);
	rr_conn_registered(s->c, a.token, 0, 0xaa, 0);
	side_drain(s);
	raw_expect(s, "00000099" MSG "00000000 00000000 00000001 00000003"
	              "000000aa 80000000 00000000 00000000"
	              "000000aa 80000000 00000000 80000000"
	              "000000aa 40000000 00000001 00000000"
	              "00000000 00000000 00000099 00000000");
	side_complete_all(s);
	raw_end(s);
	free(o);
}

/* More pieces than are gathered, each with padding: the octets are the same. */
static void a_call_of_many_long_pieces(void **state)
{
	enum { N = 20, EACH = 301, PADDED = 304 };
	const struct rr_conn_config cfg = {.send_bytes = 8192};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg,
	                              "00000001 00000002 00000004 00002000");
	struct one *o = new_call(0x99, 8, false);

	for (unsigned i = 0; i < N; i++) {
		uint8_t *p = o->words + 8 + i * PADDED;

		memset(p, (int)i + 1, EACH);
		o->piece[i + 1] = (struct rr_piece){p, EACH, true};
	}
	o->call.n_pieces = N + 1;
	o->call.flags = RR_CALL_NO_REDUCE;
	start(s, o);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 36 + 8 + N * PADDED);
	assert_memory_equal(s->sent[0].p + 36, o->words, 8 + N * PADDED);
	raw_end(s);
	free(o);
}

static struct one *answered(struct side *s)
{
	struct one *o = new_call(0x99, 8, false);

	start(s, o);
	raw_receive(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	assert_int_equal(s->calls_done, 1);
	return o;
}

/* A call that is over is not cancelled, while its Reply is lent and after the loss. */
static void cancel_after_the_end_is_harmless(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = answered(s);

	for (unsigned k = 0; k < 2; k++) {
		rr_conn_cancel(s->c, &o->call, s->now);
		side_drain(s);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(o->call.status, RR_CALL_OK);
		assert_int_equal(rr_load_u32(o->call.reply), 0x99);
		side_lose(s, 0);
	}
	assert_false(s->closed);
	rr_conn_call_release(s->c, &o->call, s->now);
	side_drain(s);
	raw_end(s);
	free(o);
}

/* Too early: CALL_DONE still comes, with the Reply. */
static void release_before_the_end_is_harmless(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, false);

	start(s, o);
	rr_conn_call_release(s->c, &o->call, s->now);
	raw_receive_undrawn(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	rr_conn_call_release(s->c, &o->call, s->now);
	side_drain(s);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(rr_load_u32(o->call.reply), 0x99);
	rr_conn_call_release(s->c, &o->call, s->now);
	assert_null(o->call.priv);
	raw_end(s);
	free(o);
}

/* Only the memory of a Reply chunk can be taken. */
static void a_simple_reply_cannot_be_taken(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	char lists[200] = EMPTY, in[400];
	size_t bytes;
	void *p;

	for (unsigned i = 0; i < 2; i++) { /* without chunks, with a Write chunk */
		struct one *o = new_call(0x99, 8, i);
		uint64_t at = (uintptr_t)o->result;

		start(s, o);
		if (i)
			snprintf(lists, sizeof(lists),
			         "00000000 00000000 00000001 00000001 00001001 "
			         "00000000 %08x %08x 00000000 00000000 ",
			         (unsigned)(at >> 32), (unsigned)at);
		snprintf(in, sizeof(in), "00000099" MSG_REPLY "%s" REPLY("00000099"),
		         lists);
		raw_receive(s, in);
		side_complete_all(s);
		assert_int_equal(s->calls_done, i + 1);
		assert_int_equal(o->call.status, RR_CALL_OK);
		assert_false(rr_conn_call_take(&o->call, &p, &bytes));
		rr_conn_call_release(s->c, &o->call, s->now);
		free(o);
	}
	raw_end(s);
}

static void not_told(struct side *s, const struct rr_ext_event *ev)
{
	fail();
}

/* What the user must hear stays; what was for a connection that lives goes. */
static void loss_with_a_result_undrawn(void **state)
{
	const struct rr_ext_table table = {.n_htypes = 1, .htype = {0x10}};
	const struct rr_conn_config cfg = {.ext = &table};
	struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
	struct one *o = new_call(0x99, 8, false);

	start(s, o);
	raw_receive_undrawn(s, "00000055" V2 "00000010 00000000");
	raw_receive_undrawn(s, "00000099" MSG_REPLY EMPTY REPLY("00000099"));
	s->on_extension = not_told;
	side_lose(s, 0);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(o->call.status, RR_CALL_OK);
	assert_int_equal(rr_load_u32(o->call.reply), 0x99);
	rr_conn_call_release(s->c, &o->call, s->now);
	side_drain(s);
	raw_end(s); /* nothing is left of the extension's message */
	free(o);
}

/* The octets of the property are freed, though nobody has seen them. */
static void loss_with_a_property_undrawn(void **state)
{
	const struct rr_ext_table table = {.n_props = 1, .prop = {{.id = 0x80000001}}};
	const struct rr_conn_config cfg = {.ext = &table};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	raw_receive_undrawn(s, "00000001" CONNPROP_TPMORE
	                       "00000001 80000001 00000004 00000007");
	s->on_extension = not_told;
	side_lose(s, 0);
	raw_end(s);
}

/* -- Replies --------------------------------------------------------------- */

#define REPLY_WRITE(segments) MSG_REPLY "00000000 00000000 00000001 " segments

/* [K6]: filled from the front: nothing comes after a gap. */
static void a_chunk_with_a_gap_ends_the_call(void **state)
{
	static const struct {
		const char *first, *second;
		int status;
		size_t len;
	} t[] = {
	        {"00000020", "00000020", RR_CALL_OK, 64},
	        {"00000020", "00000010", RR_CALL_OK, 48},
	        {"00000010", "00000000", RR_CALL_OK, 16},
	        {"00000000", "00000000", RR_CALL_OK, 0},
	        {"0000001f", "00000001", -EPROTO, 0},
	        {"00000000", "00000020", -EPROTO, 0},
	        {"00000020", "00000021", -EPROTO, 0},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL,
		                              "00000001 00000003 00000004 00000020");
		struct one *o = new_call(0x99, 8, true);
		uint64_t at = (uintptr_t)o->result;
		char hex[400];

		start(s, o);
		assert_int_equal(s->region[0].len, 64);
		sprintf(hex,
		        "00000099" REPLY_WRITE("00000002") "%08x %s %016llx %08x %s "
		                                           "%016llx 00000000 "
		                                           "00000000" REPLY("00000099"),
		        s->region[0].handle, t[i].first, (unsigned long long)at,
		        s->region[0].handle, t[i].second, (unsigned long long)at + 32);
		raw_receive(s, hex);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(o->call.status, t[i].status);
		assert_int_equal(o->dest.ret_len, t[i].len);
		rr_conn_call_release(s->c, &o->call, s->now);
		raw_end(s);
		free(o);
	}
}

/* [K6]: one segment more than was offered, and more than there is room for. */
static void a_reply_with_lists_beyond_all_room_ends_the_call(void **state)
{
	for (unsigned n = 64; n <= 65; n++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL,
		                              "00000002 00000003 00000004 00000040"
		                              "00000004 00000004 00000040");
		struct one *o = new_call(0x99, 8, true);
		static char hex[8000];
		char *p = hex;

		o->dest.len = 4096;
		start(s, o);
		p += sprintf(p, "00000099" REPLY_WRITE("%08x "), n);
		for (unsigned i = 0; i < n; i++)
			p += sprintf(p, "%08x 00000040 %016llx ", s->region[0].handle,
			             (unsigned long long)(uintptr_t)o->result + 64 * i);
		sprintf(p, "00000000 00000000" REPLY("00000099"));
		raw_receive(s, hex);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(o->call.status, n == 64 ? RR_CALL_OK : -EPROTO);
		rr_conn_call_release(s->c, &o->call, s->now);
		raw_end(s);
		free(o);
	}
}

/* [M3, P20]: there is no room to remember one more Reply to be discarded. */
static void a_spoilt_reply_beyond_all_others_closes(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, false);
	char hex[200];

	start(s, o);
	side_forget_sent(s);
	for (unsigned i = 0; i < 16; i++) {
		sprintf(hex, "%08x" MSG_REPLY_MORE EMPTY "00000000", 0x1000 + i);
		raw_receive(s, hex);
	}
	raw_expect_silence(s);
	raw_receive(s, "00000099" MSG_REPLY_MORE
	               "00000000 00000000 00000000 00000001 00000000 00000099");
	raw_expect_close(s, -EPROTO);
	side_lose(s, 0);
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(o->call.status, -EPROTO);
	raw_end(s);
	free(o);
}

static void refused_then_asked_again(struct side *s, struct one *o, const char *error,
                                     bool again)
{
	struct rr_call *call = &o->call;
	char hex[100];

	start(s, o);
	side_forget_sent(s);
	sprintf(hex, "00000099" ERRORMSG "%s", error);
	raw_receive(s, hex);
	side_complete_all(s);
	assert_int_equal(call->status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(rr_call_recover(s->c, call), again);
	call->xid = 0x9a;
	rr_store_u32(o->words, call->xid);
	start(s, o);
}

/* What the peer asks for counts against the budget. [P20, E6] */
static void a_longer_destination_beyond_the_budget_ends_the_call(void **state)
{
	const struct rr_conn_config cfg = {.max_held_bytes = 1000};

	for (unsigned k = 0; k < 2; k++) {
		struct side *s = raw_ready(RR_CONN_CLIENT, &cfg);
		struct one *o = new_call(0x99, 8, true);
		struct rr_conn_info i;

		o->call.flags = RR_CALL_IDEMPOTENT;
		refused_then_asked_again(s, o,
		                         k ? "00000009 00000001 000003e9"
		                           : "00000009 00000001 000003e8",
		                         true);
		assert_int_equal(s->n_sent, k ? 0 : 1);
		assert_int_equal(s->calls_done, k ? 2 : 1);
		if (k)
			assert_int_equal(o->call.status, -ENOMEM);
		rr_conn_info(s->c, &i);
		assert_int_equal(i.held_bytes, k ? 0 : 1000);
		raw_end(s);
		free(o);
	}
}

/* [E6]: no Write chunk was of use, so there is nothing for a Reply chunk to carry. */
static void no_reply_chunk_for_results_of_no_octets(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct one *o = new_call(0x99, 8, true);

	o->dest = (struct rr_dest){0};
	refused_then_asked_again(s, o, "00000007 00000000", true);
	raw_expect(s, "0000009a" MSG EMPTY "0000009a 00000000");
	raw_end(s);
	free(o);
}

/* -- requests -------------------------------------------------------------- */

static struct side *serving(const struct rr_conn_config *cfg, const char *hex)
{
	struct side *s = raw_ready(RR_CONN_SERVER, cfg);

	raw_held = NULL;
	s->on_request = raw_hold;
	raw_receive(s, hex);
	assert_non_null(raw_held);
	return s;
}

/* [K10, K11]: the length needed is 32 bits, whatever is needed. */
static void lengths_beyond_32_bits_are_reported_as_the_most(void **state)
{
	const struct rr_conn_config simple = {.rvrsdir = RDMA2_RVRSDIR_SIMPLE};
	const struct rr_piece item[2] = {{raw_reply_words, 8, false},
	                                 {raw_reply_words, (size_t)1 << 32, true}};
	const struct rr_piece words = {raw_reply_words, (size_t)1 << 32, false};
	struct side *s;

	s = serving(NULL, "00000055" MSG "00000000 00000000 00000001 00000001" SEG(
	                          "000000ab",
	                          "00001000") "00000000 00000000" CALL("00000055"));
	rr_conn_reply(s->c, raw_held, item, 2, s->now);
	side_drain(s);
	raw_expect(s, "00000055" ERRORMSG "00000009 00000001 ffffffff");
	raw_end(s);

	s = raw_ready(RR_CONN_CLIENT, &simple); /* which must not continue [R5] */
	s->on_request = raw_hold;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	rr_conn_reply(s->c, raw_held, &words, 1, s->now);
	side_drain(s);
	raw_expect(s, "00000055" ERRORMSG "0000000a ffffffff");
	raw_end(s);
}

/* A Payload stream ends on a multiple of four. [v2 §4.3.5] */
static void a_reply_that_is_no_xdr_is_not_sent(void **state)
{
	struct side *s = serving(NULL, "00000055" MSG EMPTY CALL("00000055"));

	raw_answer_held(s, 9);
	raw_expect(s, "00000055" ERRORMSG "00000064");
	assert_int_equal(s->requests_done, 1);
	raw_end(s);
}

/* A request ends as soon as its reply is sent, if the Send has a copy of the reply;
 * otherwise when the Send has completed. */
static void a_copied_reply_ends_its_request(void **state)
{
	static const size_t len[] = {RR_COPY_MAX, RR_COPY_MAX + 4};

	for (unsigned i = 0; i < 2; i++) {
		struct side *s = serving(NULL, "00000055" MSG EMPTY CALL("00000055"));
		const struct rr_piece p = {raw_reply_words, len[i], false};

		rr_conn_reply(s->c, raw_held, &p, 1, s->now);
		side_drain(s);
		assert_int_equal(s->requests_done, i == 0);
		side_complete_all(s);
		assert_int_equal(s->requests_done, 1);
		raw_end(s);
	}
}

static bool whole, whole_closed;

static void note_whole(struct side *s, struct rr_request *r)
{
	whole = rr_conn_is_whole(s->c, r);
	raw_held = r;
}

/* A request may be served at ADMIT if no part of it has to be pulled. */
static void a_whole_request_needs_no_admission(void **state)
{
	static const char *const calls[] = {
	        "00000055" MSG "00000000 " READ(
	                "00000014", "00000010") "00000000 "
	                                        "00000000 00000000 " CALL("00000055"),
	        "00000055" MSG EMPTY CALL("00000055"),
	};

	for (unsigned i = 0; i < 2; i++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);

		s->on_admit = note_whole;
		raw_receive(s, calls[i]);
		assert_int_equal(s->admitted, 1);
		assert_int_equal(whole, i == 1);
		raw_answer_held(s, 20);
		assert_int_equal(s->requested, 0);
		assert_int_equal(s->requests_done, 1);
		raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055") "00000000");
		raw_end(s);
	}
}

static void close_and_ask(struct side *s, struct rr_request *r)
{
	rr_conn_close(s->c, 0, s->now);
	whole_closed = rr_conn_is_whole(s->c, r);
	rr_conn_admit(s->c, r, NULL, s->now);
}

/* A request is not served if its connection is being closed. */
static void no_request_is_whole_after_the_end(void **state)
{
	struct side *s = raw_ready(RR_CONN_SERVER, NULL);

	whole_closed = true;
	s->on_admit = close_and_ask;
	raw_receive(s, "00000055" MSG EMPTY CALL("00000055"));
	assert_false(whole_closed);
	assert_int_equal(s->requested, 0);
	assert_int_equal(s->requests_done, 1);
	raw_end(s);
}

static int done_status;

static void note_done(struct side *s, struct rr_request *r)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	done_status = i.error;
}

/* Memory that the user names and that is too small is not pulled into. */
static void sinks_too_small_are_not_used(void **state)
{
	for (unsigned len = 15; len <= 16; len++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		uint8_t sink[16];
		const struct rr_sge g = {.base = sink, .len = len};

		s->on_admit = raw_hold;
		s->on_request_done = note_done;
		raw_receive(s, "00000055" MSG
		               "00000000" READ("00000014",
		                               "00000010") "00000000 00000000 "
		                                           "00000000" CALL("00000055"));
		rr_conn_admit(s->c, raw_held, &g, s->now);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(s->n_reads, len == 16);
		assert_int_equal(s->requested, len == 16);
		if (len == 15)
			raw_expect(s, "00000055" ERRORMSG "00000064");
		else
			rr_conn_drop(s->c, raw_held, s->now);
		side_drain(s);
		assert_int_equal(s->requests_done, 1);
		assert_int_equal(done_status, 0); /* the connection goes on */
		raw_end(s);
	}
}

/* [P20]: a reassembly that grows beyond the budget. */
static void a_reassembly_beyond_the_budget_is_refused(void **state)
{
	const struct rr_conn_config cfg = {.max_held_bytes = 32767};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);
	static uint8_t part[4096];
	struct rr_conn_info i;

	raw_octets("00000055" MSG_MORE EMPTY CALL("00000055"), part, sizeof(part));
	for (unsigned n = 0; n < 4; n++) /* 16240 octets */
		side_receive(s, part, sizeof(part), 0);
	raw_expect_silence(s);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 16384);
	side_receive(s, part, sizeof(part), 0);
	raw_expect(s, "00000055" ERRORMSG "00000064");
	rr_conn_info(s->c, &i);
	assert_int_equal(i.held_bytes, 0);
	raw_end(s);
}

/* [M7]: as long as is allowed, and a word more. */
static void a_reassembly_of_exactly_the_limit(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		const struct rr_conn_config cfg = {.max_message_bytes = 32 - 4 * k};
		struct side *s = raw_ready(RR_CONN_SERVER, &cfg);

		s->on_request = raw_answer_call;
		raw_receive(s, "00000055" MSG_MORE EMPTY CALL("00000055"));
		raw_receive(s, "00000055" MSG EMPTY "00000000 00000000");
		if (k)
			raw_expect(s, "00000055" ERRORMSG "00000005");
		else
			raw_expect(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
		raw_end(s);
	}
}

/* [P12]: the Write list, and a word of payload, fit by one segment. */
static void a_write_list_of_exactly_what_can_be_returned(void **state)
{
	const struct rr_conn_config cfg = {.max_segments = 64};
	static char hex[8000];

	for (unsigned k = 0; k < 2; k++) {
		struct side *s =
		        raw_ready_by(RR_CONN_SERVER, &cfg,
		                     k ? "00000001 00000002 00000004 0000040c"
		                       : "00000001 00000002 00000004 00000410");
		char *p = stpcpy(hex, "00000055" MSG "00000000 00000000 "
		                      "00000001 0000003e ");

		s->on_request = raw_answer_call;
		p = raw_repeat(p, SEG("000000ab", "00000010"), 62);
		stpcpy(p, "00000000 00000000" CALL("00000055"));
		raw_receive(s, hex);
		if (k)
			raw_expect(s, "00000055" ERRORMSG "00000008 0000003d");
		else
			assert_int_equal(s->sent[1].len, 1040);
		raw_end(s);
	}
}

/* Chunks listed in an order that is none: sorted by Position. */
static void positions_are_sorted_in_version_1(void **state)
{
	static const char *const order[][3] = {
	        {"00000020", "00000010", "00000018"},
	        {"00000018", "00000010", "00000020"},
	        {"00000010", "00000020", "00000018"},
	};
	const struct rr_conn_config cfg = {.versions = RR_CONN_V1};

	for (unsigned k = 0; k < RR_ARRAY_SIZE(order); k++) {
		struct side *s = raw_new(RR_CONN_SERVER, &cfg);
		char hex[400], *p = hex;

		s->on_request = raw_hold;
		p += sprintf(p, "00000055 00000001 00000020 00000000 ");
		for (unsigned i = 0; i < 3; i++) /* with the Position as handle */
			p += sprintf(p, "00000001 %s %s 00000004 %016x ", order[k][i],
			             order[k][i], 0x10000);
		sprintf(p, "00000000 00000000 00000000 00000055 00000000 00000002 "
		           "000186a3 00000003 00000001");
		raw_receive(s, hex);
		assert_int_equal(s->requested, 1);
		assert_int_equal(raw_held->n_pieces, 6);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(s->reads[i].handle, 0x10 + 8 * i);
		rr_conn_drop(s->c, raw_held, s->now);
		side_drain(s);
		raw_end(s);
	}
}

/* -- extensions and grants ------------------------------------------------- */

static unsigned asked;

static void refuse(struct side *s, const struct rr_ext_event *ev)
{
	asked++;
	rr_conn_ext_refuse(s->c, ev, 0x1001, s->now);
}

/* [E3]: what is no message is not answered. */
static void only_messages_are_refused(void **state)
{
	const struct rr_ext_table table = {.n_props = 1, .prop = {{.id = 0x80000001}}};
	const struct rr_conn_config cfg = {.ext = &table};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	asked = 0;
	s->on_extension = refuse;
	side_forget_sent(s);
	raw_receive(s, "00000001 00000002 00200020 00000005 00000000 00000001"
	               "80000001 00000004 00000007");
	assert_int_equal(asked, 1);
	raw_expect_silence(s);
	raw_end(s);
}

/* Version 1 has no room for them. */
static void extensions_need_version_2(void **state)
{
	const struct rr_ext_table table = {.n_htypes = 1, .htype = {0x10}};
	const struct rr_conn_config cfg = {.ext = &table, .versions = RR_CONN_V1};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	assert_true(s->ready);
	assert_int_equal(rr_conn_ext_send(s->c, 0x10, 0, 0, NULL, 0, NULL, s->now),
	                 -EOPNOTSUPP);
	side_drain(s);
	raw_expect_silence(s);
	raw_end(s);
}

/* [C3 grant message]: the time has come, but a message has taken the credits along. */
static void no_grant_when_nothing_is_owed_any_more(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct side *s = raw_ready(RR_CONN_SERVER, NULL);
		rr_time due;

		s->on_request = raw_answer_call;
		raw_receive(s, "00000000 00000002 00200004 00000001 00000000" EMPTY);
		due = rr_conn_deadline(s->c);
		assert_int_equal(due, s->now + RR_MS(10));
		if (k)
			raw_expect_service(s);
		side_forget_sent(s);
		s->now = due;
		rr_conn_tick(s->c, s->now);
		side_drain(s);
		assert_int_equal(s->n_sent, k ? 0 : 1);
		raw_end(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_own_xid_is_not_that_of_a_call),
	        cmocka_unit_test(a_call_that_is_no_xdr_is_refused),
	        cmocka_unit_test(calls_wait_for_a_registration),
	        cmocka_unit_test(a_destination_beyond_4_gib),
	        cmocka_unit_test(a_call_of_many_long_pieces),
	        cmocka_unit_test(cancel_after_the_end_is_harmless),
	        cmocka_unit_test(release_before_the_end_is_harmless),
	        cmocka_unit_test(loss_with_a_result_undrawn),
	        cmocka_unit_test(loss_with_a_property_undrawn),
	        cmocka_unit_test(a_chunk_with_a_gap_ends_the_call),
	        cmocka_unit_test(a_reply_with_lists_beyond_all_room_ends_the_call),
	        cmocka_unit_test(a_spoilt_reply_beyond_all_others_closes),
	        cmocka_unit_test(a_longer_destination_beyond_the_budget_ends_the_call),
	        cmocka_unit_test(no_reply_chunk_for_results_of_no_octets),
	        cmocka_unit_test(lengths_beyond_32_bits_are_reported_as_the_most),
	        cmocka_unit_test(a_reply_that_is_no_xdr_is_not_sent),
	        cmocka_unit_test(a_simple_reply_cannot_be_taken),
	        cmocka_unit_test(a_copied_reply_ends_its_request),
	        cmocka_unit_test(a_whole_request_needs_no_admission),
	        cmocka_unit_test(no_request_is_whole_after_the_end),
	        cmocka_unit_test(sinks_too_small_are_not_used),
	        cmocka_unit_test(a_reassembly_beyond_the_budget_is_refused),
	        cmocka_unit_test(a_reassembly_of_exactly_the_limit),
	        cmocka_unit_test(a_write_list_of_exactly_what_can_be_returned),
	        cmocka_unit_test(positions_are_sorted_in_version_1),
	        cmocka_unit_test(only_messages_are_refused),
	        cmocka_unit_test(extensions_need_version_2),
	        cmocka_unit_test(no_grant_when_nothing_is_owed_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
