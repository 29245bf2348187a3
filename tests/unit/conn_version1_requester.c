/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 1, the Requester: what its Calls look like, what it believes, how many
 * Calls it has outstanding.  The other end is octets laid out by hand.
 */
#include "test_conn_v1.h"

static struct side *client(const struct rr_conn_config *cfg)
{
	return v1_new(RR_CONN_CLIENT, cfg, NULL);
}

static void end(struct side *s, struct v1_call *o)
{
	rr_conn_call_release(s->c, &o->call, s->now);
	raw_end(s);
	free(o);
}

/* -- Calls ----------------------------------------------------------------- */

/* Nothing has to be exchanged, and nothing is waited for. */
static void it_is_ready_at_once(void **state)
{
	struct side *s = client(NULL);
	struct rr_conn_info i;

	assert_true(s->ready);
	raw_expect_silence(s);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.version, 1);
	assert_false(i.answered);
	assert_int_equal(rr_conn_deadline(s->c), RR_TIME_NEVER);
	raw_end(s);
}

static void a_short_call_has_28_octets_of_header(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 8, false);

	v1_start(s, o);
	v1_expect(s, "00000099" OUR_MSG V1_EMPTY "00000099 00000000");
	raw_receive(s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"));
	assert_int_equal(o->call.status, RR_CALL_OK);
	assert_int_equal(o->call.reply_len, 16);
	end(s, o);
}

static void a_destination_is_a_write_chunk(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 8, true);
	char want[256];

	v1_start(s, o);
	snprintf(want, sizeof(want),
	         "00000099" OUR_MSG "00000000 00000001 00000001 00001001 00000040 "
	         "%016llx 00000000 00000000 00000099 00000000",
	         (unsigned long long)(uintptr_t)o->result);
	v1_expect(s, want);
	end(s, o);
}

/* The item leaves the payload with its padding; its length is without. */
static void an_item_is_a_read_chunk_without_padding(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 12, false);
	char want[256];

	o->piece[1] = (struct rr_piece){o->words + 16, 601, true};
	o->call.n_pieces = 2;
	v1_start(s, o);
	snprintf(want, sizeof(want),
	         "00000099" OUR_MSG "00000001 0000000c 00001001 00000259 %016llx "
	         "00000000 00000000 00000000 00000099 00000000 00000000",
	         (unsigned long long)(uintptr_t)(o->words + 16));
	v1_expect(s, want);
	end(s, o);
}

static const struct side_region *only_region(const struct side *s)
{
	assert_int_equal(s->n_regions, 1);
	return &s->region[0];
}

/* [RFC 8166 §3.5.3]: 1024 octets are inline, 4 more are not. */
static void a_call_beyond_the_threshold_is_pulled(void **state)
{
	for (size_t len = 1024 - 28; len <= 1024 - 24; len += 4) {
		struct side *s = client(NULL);
		struct v1_call *o = v1_call(0x99, len, false);
		const struct side_region *r;
		char want[256];

		v1_start(s, o);
		assert_int_equal(s->n_sent, 1);
		if (len == 1024 - 28) {
			assert_int_equal(s->sent[0].len, 1024);
			assert_int_equal(s->n_regions, 0);
			end(s, o);
			continue;
		}
		r = only_region(s);
		assert_int_equal(r->len, len);
		assert_int_equal(r->access, 1);
		assert_memory_equal(r->base, o->words, len);
		snprintf(want, sizeof(want),
		         "00000099" OUR_NOMSG
		         "00000001 00000000 00001001 %08zx %016llx "
		         "00000000 00000000 00000000",
		         len, (unsigned long long)(uintptr_t)r->base);
		v1_expect(s, want);
		end(s, o);
	}
}

/* A long Call whose item is reduced: the Position Zero chunk comes first, and the
 * Position of the other counts in the whole stream. */
static void a_long_call_may_have_read_chunks_too(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 1200, false);
	struct rr_lists l;
	struct rr_cursor c;

	o->piece[1] = (struct rr_piece){o->words + 2000, 700, true};
	o->call.n_pieces = 2;
	v1_start(s, o);
	assert_int_equal(s->n_sent, 1);
	c = rr_cursor_over(s->sent[0].p + 16, s->sent[0].len - 16);
	assert_int_equal(rr_wire_v1_get_lists(&c, &l), 0);
	assert_int_equal(l.n_reads, 2);
	assert_int_equal(l.reads[0].position, 0);
	assert_int_equal(l.reads[0].length, 1200);
	assert_int_equal(l.reads[1].position, 1200);
	assert_int_equal(l.reads[1].length, 700);
	end(s, o);
}

/* [RFC 8166 §3.5.3] MUST when the largest Reply does not fit, and 1024 - 28 fits. */
static void a_reply_chunk_is_there_when_the_reply_may_not_fit(void **state)
{
	static const struct {
		size_t reply_bytes, chunk;
		bool dest;
	} t[] = {
	        {996, 0, false},       {1000, 1000, false}, {997, 1000, false},
	        {972, 0, true},        {976, 976, true},    {0, 4000, false},
	        {70000, 70000, false},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = client(NULL);
		struct v1_call *o = v1_call(0x99, 8, t[i].dest);
		size_t chunk = 0;

		o->call.reply_bytes = t[i].reply_bytes;
		v1_start(s, o);
		for (unsigned k = 0; k < s->n_regions; k++)
			if (s->region[k].base != o->result)
				chunk = s->region[k].len;
		assert_int_equal(chunk, t[i].chunk);
		end(s, o);
	}
}

/* Nothing else can carry it: no call without it. */
static void without_memory_for_a_reply_chunk_the_call_ends(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 8, false);

	o->call.reply_bytes = 100000;
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	s->mem_fail_at = 2; /* after the offer itself */
	side_drain(s);
	assert_int_equal(o->call.status, -ENOMEM);
	raw_expect_silence(s);
	end(s, o);
}

static void what_cannot_be_expressed_ends_locally(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 16};
	static const struct {
		size_t call, reply;
	} t[] = {{2000, 16}, {8, 2000}, {8, UINT32_MAX}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct side *s = client(&cfg);
		struct v1_call *o = v1_call(0x99, t[i].call, false);

		o->call.reply_bytes = t[i].reply;
		v1_start(s, o);
		assert_int_equal(s->calls_done, 1);
		raw_expect_silence(s);
		end(s, o);
	}
}

/* [RFC 8166 §3.5.3] MAY at any time */
static void a_short_call_may_be_pulled_too(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 8, false);

	o->call.flags = RR_CALL_SPECIAL;
	v1_start(s, o);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(rr_load_u32(s->sent[0].p + 12), 1);
	assert_int_equal(only_region(s)->len, 8);
	end(s, o);
}

/* The lists take the room that the payload would have had. */
static void a_call_that_fits_without_its_lists_is_pulled(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 1024 - 28 - 8, true);

	v1_start(s, o);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(s->sent[0].len, 28 + 24 + 24);
	assert_int_equal(rr_load_u32(s->sent[0].p + 12), 1);
	end(s, o);
}

/* An item in 60 segments leaves few for the rest. */
static void an_item_and_the_rest_share_the_segments(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 100, .max_segments = 64};
	struct side *s = client(&cfg);
	struct v1_call *o = v1_call(0x99, 1100, false);

	o->piece[1] = (struct rr_piece){o->words + 2000, 6000, true};
	o->call.n_pieces = 2;
	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	assert_int_equal(o->call.status, -EMSGSIZE);
	raw_expect_silence(s);
	end(s, o);
}

/* There is no limit but our own: of the length of a segment, and of their number. */
static void segments_are_as_long_and_as_many_as_we_like(void **state)
{
	static const struct {
		uint32_t segment, most;
		size_t reply, segments;
	} t[] = {{3 << 20, 0, 3 << 20, 1}, {100, 64, 3000, 30}, {100, 0, 1500, 15}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {.segment_bytes = t[i].segment,
		                                   .max_segments = t[i].most};
		struct side *s = client(&cfg);
		struct v1_call *o = v1_call(0x99, 8, false);

		o->call.reply_bytes = t[i].reply;
		v1_start(s, o);
		assert_int_equal(s->n_sent, 1);
		assert_int_equal(s->sent[0].len, 28 + 4 + 16 * t[i].segments + 8);
		end(s, o);
	}
}

/* Ours, then: the default is 16. */
static void segments_are_no_more_than_our_own_limit(void **state)
{
	static const struct {
		size_t call, reply;
	} t[] = {{8, 1604}, {1704, 16}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {.segment_bytes = 100};
		struct side *s = client(&cfg);
		struct v1_call *o = v1_call(0x99, t[i].call, false);

		o->call.reply_bytes = t[i].reply;
		assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
		side_drain(s);
		assert_int_equal(o->call.status, -EMSGSIZE);
		raw_expect_silence(s);
		end(s, o);
	}
}

/* Version 2's presets are nothing that this peer has said. */
static void no_limit_is_made_up_for_the_peer(void **state)
{
	struct side *s = client(NULL);
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	assert_int_equal(i.peer_max_segments, 0);
	assert_int_equal(i.peer_segment_bytes, 0);
	raw_end(s);
}

/* Between the limits of segments and of the header's room. */
static void a_header_beyond_the_threshold_ends_locally(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 100, .max_segments = 64};
	struct side *s = client(&cfg);
	struct v1_call *o = v1_call(0x99, 6000, false);

	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	assert_int_equal(o->call.status, -EMSGSIZE);
	raw_expect_silence(s);
	end(s, o);
}

/* -- credits [RFC 8166 §3.3.1, §3.3.3] ------------------------------------- */

enum { MANY = 40 };

struct many {
	struct side *s;
	struct v1_call *o[MANY];
	unsigned answered;
};

static struct many many(const struct rr_conn_config *cfg)
{
	struct many m = {.s = client(cfg)};

	for (unsigned i = 0; i < MANY; i++) {
		m.o[i] = v1_call(0x100 + i, 8, false);
		assert_int_equal(rr_conn_call(m.s->c, &m.o[i]->call, m.s->now), 0);
	}
	side_drain(m.s);
	side_complete_all(m.s);
	return m;
}

/* Answers the next call, with @credit in the word. */
static void answer(struct many *m, uint32_t credit)
{
	uint32_t xid = 0x100 + m->answered++;
	char in[256];

	snprintf(in, sizeof(in),
	         "%08x 00000001 %08x 00000000 00000000 00000000 00000000 %08x 00000001"
	         " 00000000 00000000",
	         xid, credit, xid);
	raw_receive(m->s, in);
	assert_int_equal(m->o[m->answered - 1]->call.status, RR_CALL_OK);
}

static unsigned outstanding(const struct many *m)
{
	return m->s->n_sent - m->answered;
}

static void end_many(struct many *m)
{
	for (unsigned i = 0; i < MANY; i++)
		rr_conn_call_release(m->s->c, &m->o[i]->call, m->s->now);
	raw_end(m->s);
	for (unsigned i = 0; i < MANY; i++)
		free(m->o[i]);
}

static void one_call_until_the_first_reply(void **state)
{
	struct many m = many(NULL);
	struct rr_conn_info i;

	assert_int_equal(outstanding(&m), 1);
	rr_conn_info(m.s->c, &i);
	assert_int_equal(i.cap, 1);
	assert_int_equal(i.avail, 0);
	answer(&m, 7);
	assert_int_equal(outstanding(&m), 7);
	end_many(&m);
}

/* Not more than was asked for, whatever is granted. */
static void a_huge_grant_is_bounded_by_the_request(void **state)
{
	const struct rr_conn_config cfg = {.credits = 10};
	struct many m = many(&cfg);

	assert_int_equal(rr_load_u32(m.s->sent[0].p + 8), 10);
	answer(&m, 0xffffffff);
	assert_int_equal(outstanding(&m), 10);
	end_many(&m);
}

static void an_idle_connection_has_all_that_was_granted(void **state)
{
	struct side *s = client(NULL);
	struct v1_call *o = v1_call(0x99, 8, false);
	struct rr_conn_info i;

	v1_start(s, o);
	raw_receive(s,
	            "00000099" V1("00000007", "00000000") V1_EMPTY REPLY("00000099"));
	rr_conn_info(s->c, &i);
	assert_int_equal(i.cap, 7);
	assert_int_equal(i.avail, 7);
	assert_int_equal(i.owed, 0);
	end(s, o);
}

static void a_grant_of_zero_is_one(void **state)
{
	struct many m = many(NULL);

	answer(&m, 0);
	assert_int_equal(outstanding(&m), 1);
	answer(&m, 0);
	assert_int_equal(outstanding(&m), 1);
	end_many(&m);
}

/* A limit, not an increment; a lower one waits for answers. */
static void the_newest_grant_counts(void **state)
{
	struct many m = many(NULL);
	struct rr_conn_info i;

	answer(&m, 5);
	assert_int_equal(outstanding(&m), 5);
	answer(&m, 2);
	assert_int_equal(outstanding(&m), 4);
	rr_conn_info(m.s->c, &i);
	assert_int_equal(i.cap, 2);
	assert_int_equal(i.avail, 0);
	answer(&m, 2);
	answer(&m, 2);
	assert_int_equal(outstanding(&m), 2);
	answer(&m, 3);
	assert_int_equal(outstanding(&m), 3);
	end_many(&m);
}

static void an_error_grants_too(void **state)
{
	struct many m = many(NULL);

	raw_receive(m.s, "00000100 00000001 00000003 00000004 00000002");
	m.answered++;
	assert_int_equal(outstanding(&m), 3);
	end_many(&m);
}

/* The Responder may be at work on it. */
static void a_call_given_up_keeps_its_credit(void **state)
{
	struct many m = many(NULL);

	rr_conn_cancel(m.s->c, &m.o[0]->call, m.s->now);
	side_drain(m.s);
	assert_int_equal(m.o[0]->call.status, -ECANCELED);
	assert_int_equal(m.s->n_sent, 1);
	raw_receive(m.s,
	            "00000100" V1("00000001", "00000000") V1_EMPTY REPLY("00000100"));
	assert_int_equal(m.s->n_sent, 2);
	/* the same once more answers nothing */
	raw_receive(m.s,
	            "00000100" V1("00000001", "00000000") V1_EMPTY REPLY("00000100"));
	assert_int_equal(m.s->n_sent, 2);
	end_many(&m);
}

static void a_call_given_up_before_it_is_sent_has_no_credit(void **state)
{
	struct many m = many(NULL);

	rr_conn_cancel(m.s->c, &m.o[1]->call, m.s->now);
	side_drain(m.s);
	answer(&m, 1);
	assert_int_equal(outstanding(&m), 1);
	assert_int_equal(rr_load_u32(m.s->sent[1].p), 0x102);
	end_many(&m);
}

static void stalls_are_counted_once(void **state)
{
	struct many m = many(NULL);
	struct rr_conn_counters n;

	rr_conn_counters(m.s->c, &n);
	assert_int_equal(n.credit_stalls, 1);
	side_drain(m.s);
	rr_conn_counters(m.s->c, &n);
	assert_int_equal(n.credit_stalls, 1);
	answer(&m, 2);
	rr_conn_counters(m.s->c, &n);
	assert_int_equal(n.credit_stalls, 2);
	end_many(&m);
}

/* -- Replies --------------------------------------------------------------- */

struct attack {
	struct side *s;
	struct v1_call *o;
};

/* Offers a Write chunk of 64 octets and a Reply chunk of 4000. */
static struct attack begin(const struct rr_conn_config *cfg, const char *hello)
{
	struct attack a = {.s = v1_new(RR_CONN_CLIENT, cfg, hello)};

	a.o = v1_call(0x99, 8, true);
	a.o->call.reply_bytes = 4000;
	v1_start(a.s, a.o);
	assert_int_equal(a.s->n_regions, 2);
	side_forget_sent(a.s);
	return a;
}

static const struct side_region *region(const struct attack *a, bool write)
{
	unsigned i = (a->s->region[0].base == a->o->result) == write ? 0 : 1;

	return &a->s->region[i];
}

/* @W and @R: the segment of either chunk with the eight digits as its length. */
static void receive(struct attack *a, const char *in)
{
	char out[1024];
	size_t at = 0;

	for (; *in; in++) {
		const struct side_region *r;

		if (*in != '@') {
			out[at++] = *in;
			continue;
		}
		r = region(a, in[1] == 'W');
		at += (size_t)sprintf(out + at, "%08x %.8s %016llx ", r->handle, in + 2,
		                      (unsigned long long)(uintptr_t)r->base);
		in += 9;
	}
	out[at] = 0;
	raw_receive(a->s, out);
}

static void expect_status(const char *in, int status, uint32_t code)
{
	struct attack a = begin(NULL, NULL);
	struct rr_conn_counters n;

	receive(&a, in);
	raw_expect_silence(a.s);
	rr_conn_counters(a.s->c, &n);
	assert_int_equal(n.discards, status == -EINPROGRESS || status == -EPROTO);
	if (a.o->call.status != status)
		fail_msg("%s: %d", in, a.o->call.status);
	assert_int_equal(a.o->call.error.code,
	                 status == RR_CALL_REMOTE_ERROR ? code : 0);
	if (status == -EINPROGRESS) { /* it waits on, and can be answered */
		receive(&a, "00000099" V1_MSG "00000000 00000001 00000001 @W00000000"
		            "00000000 00000000" REPLY("00000099"));
		assert_int_equal(a.o->call.status, RR_CALL_OK);
	}
	end(a.s, a.o);
}

#define WRITES(len)      "00000000 00000001 00000001 @W" len " 00000000 "
#define REPLY_CHUNK(len) "00000001 00000001 @R" len " "

static void a_reply_chunk_may_come_back_unused_or_not_at_all(void **state)
{
	expect_status("00000099" V1_MSG WRITES("00000040") "00000000" REPLY("00000099"),
	              RR_CALL_OK, 0);
	expect_status("00000099" V1_MSG WRITES("00000000") REPLY_CHUNK("00000000")
	                      REPLY("00000099"),
	              RR_CALL_OK, 0);
}

/* Well formed, but not what was offered: the call ends. */
static void chunks_that_were_not_offered_end_the_call(void **state)
{
	expect_status("00000099" V1_MSG WRITES("00000041") "00000000" REPLY("00000099"),
	              -EPROTO, 0);
	expect_status("00000099" V1_MSG V1_EMPTY REPLY("00000099"), -EPROTO, 0);
	expect_status("00000099" V1_MSG WRITES("00000000") REPLY_CHUNK("00000010")
	                      REPLY("00000099"),
	              -EPROTO, 0);
	expect_status("00000099" V1_NOMSG WRITES("00000000") REPLY_CHUNK("00000fa1"),
	              -EPROTO, 0);
	expect_status("00000099" V1_MSG "00000001 00000008 000000aa 00000004 00000000"
	              " 00000000 00000000 00000001 00000001 @W00000000 00000000"
	              " 00000000" REPLY("00000099"),
	              -EPROTO, 0);
}

/* To a Call that offered none, or only a Write chunk. */
static void a_reply_chunk_that_was_not_offered_ends_the_call(void **state)
{
	for (int dest = 0; dest < 2; dest++) {
		struct side *s = client(NULL);
		struct v1_call *o = v1_call(0x99, 8, dest);

		v1_start(s, o);
		side_forget_sent(s);
		raw_receive(s, "00000099" V1_NOMSG
		               "00000000 00000000 00000001 00000001 " SEG("000000aa",
		                                                          "00000010"));
		raw_expect_silence(s);
		assert_int_equal(o->call.status, -EPROTO);
		end(s, o);
	}
}

/* [RFC 8166 §4.5] dropped without a word, the call waits */
static void bad_headers_are_dropped(void **state)
{
	expect_status("00000099" V1_MSG "00000002 00000000 00000000" REPLY("00000099"),
	              -EINPROGRESS, 0);
	expect_status("00000099" V1_MSG WRITES("00000000") "00000000" REPLY("00000098"),
	              -EINPROGRESS, 0);
	expect_status("00000099" V1_MSG WRITES("00000000") "00000000"
	                                                   "00000099 00000007 00000000",
	              -EINPROGRESS, 0);
	expect_status("00000099" V1_MSG WRITES("00000000") "00000000 00000099",
	              -EINPROGRESS, 0);
	expect_status("00000099" V1_NOMSG WRITES("00000000") "00000000", -EINPROGRESS,
	              0);
	expect_status("00000099" V1_NOMSG V1_EMPTY, -EINPROGRESS, 0);
	expect_status("00000099" V1("00000040", "00000002") V1_EMPTY REPLY("00000099"),
	              -EINPROGRESS, 0);
	expect_status("00000099" V1("00000040", "00000003") V1_EMPTY, -EINPROGRESS, 0);
	expect_status("00000099" V1("00000040", "00000007") V1_EMPTY, -EINPROGRESS, 0);
	expect_status("00000099" V1_MSG "00000000", -EINPROGRESS, 0);
	expect_status("00000098" V1_MSG V1_EMPTY REPLY("00000098"), -EINPROGRESS, 0);
}

static void errors_end_the_call(void **state)
{
	expect_status("00000099" V1_ERROR "00000002", RR_CALL_REMOTE_ERROR,
	              RDMA2_ERR_BAD_XDR);
	expect_status("00000099" V1_ERROR "00000001 00000001 00000001",
	              RR_CALL_REMOTE_ERROR, RDMA2_ERR_VERS);
}

static void errors_that_do_not_decode_are_dropped(void **state)
{
	expect_status("00000099" V1_ERROR, -EINPROGRESS, 0);
	expect_status("00000099" V1_ERROR "00000001 00000001", -EINPROGRESS, 0);
	expect_status("00000099" V1_ERROR "00000003", -EINPROGRESS, 0);
	expect_status("00000098" V1_ERROR "00000002", -EINPROGRESS, 0);
}

/* The Reply lies in the chunk; it is read after the peer's access has ended. */
static void a_long_reply_comes_in_the_reply_chunk(void **state)
{
	static const uint8_t text[16] = {0, 0, 0, 0x99, 0, 0, 0, 1};
	struct attack a = begin(NULL, NULL);

	memcpy(region(&a, false)->base, text, 16);
	receive(&a, "00000099" V1_NOMSG WRITES("00000000") REPLY_CHUNK("00000010"));
	assert_int_equal(a.o->call.status, RR_CALL_OK);
	assert_int_equal(a.o->call.reply_len, 16);
	assert_memory_equal(a.o->call.reply, text, 16);
	assert_int_equal(a.s->n_regions, 0);
	end(a.s, a.o);
}

static void a_reply_chunk_without_the_reply_is_bad(void **state)
{
	struct attack a = begin(NULL, NULL);

	receive(&a, "00000099" V1_NOMSG WRITES("00000000") REPLY_CHUNK("00000010"));
	assert_int_equal(a.o->call.status, -EBADMSG);
	end(a.s, a.o);
}

/* -- remote invalidation --------------------------------------------------- */

#define HELLO "f6ab0e18 01010000"

static void any_handle_of_the_call_may_be_invalidated(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};

	for (int write = 0; write < 2; write++) {
		struct attack a = begin(&cfg, HELLO);
		struct rr_conn_counters n;
		char in[512];

		snprintf(in, sizeof(in),
		         "00000099" V1_MSG "00000000 00000001 00000001 %08x 00000000 "
		         "%016llx 00000000 00000000" REPLY("00000099"),
		         region(&a, true)->handle,
		         (unsigned long long)(uintptr_t)region(&a, true)->base);
		raw_receive_inv(a.s, in, region(&a, write)->handle);
		raw_expect_silence(a.s);
		assert_int_equal(a.o->call.status, RR_CALL_OK);
		rr_conn_counters(a.s->c, &n);
		assert_int_equal(n.remote_invalidations, 1);
		assert_int_equal(n.local_invalidations, 1);
		end(a.s, a.o);
	}
}

static void another_handle_closes(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true,
	                                   .rvrsdir = RDMA2_RVRSDIR_SIMPLE};
	static const char *const in[] = {
	        "00000098" V1_MSG V1_EMPTY CALL("00000098"),
	        "00000099" V1_MSG V1_EMPTY REPLY("00000099"),
	        "00000099" V1_ERROR "00000002",
	        "00000099" V1("00000040", "00000003") V1_EMPTY,
	        "00000099" V1("00000040", "00000009") V1_EMPTY,
	        "00000099",
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(in); i++) {
		struct attack a = begin(&cfg, HELLO);

		raw_receive_inv(a.s, in[i], 0x7777);
		raw_expect_close(a.s, -EPROTO);
		assert_int_equal(a.s->admitted, 0);
		end(a.s, a.o);
	}
}

/* Its Reply was under way. */
static void a_late_reply_may_invalidate_what_was_given_up(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};

	for (int write = 0; write < 2; write++) {
		struct attack a = begin(&cfg, HELLO);
		uint32_t handle = region(&a, write)->handle;

		rr_conn_cancel(a.s->c, &a.o->call, a.s->now);
		side_drain(a.s);
		side_complete_all(a.s);
		assert_int_equal(a.o->call.status, -ECANCELED);
		raw_receive_inv(a.s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"),
		                handle);
		raw_expect_silence(a.s);
		end(a.s, a.o);
	}
}

/* ... but only if either private data permitted it.                 [ext §4.7] */
static void a_late_reply_may_not_invalidate_without_leave(void **state)
{
	static const struct {
		bool own;
		const char *peer;
	} t[] = {{true, "f6ab0e18 01000000"}, {false, HELLO}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		const struct rr_conn_config cfg = {.remote_invalidate = true,
		                                   .v1_no_remote_inv = !t[i].own};
		struct attack a = begin(&cfg, t[i].peer);
		uint32_t handle = region(&a, true)->handle;

		rr_conn_cancel(a.s->c, &a.o->call, a.s->now);
		side_drain(a.s);
		side_complete_all(a.s);
		raw_receive_inv(a.s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"),
		                handle);
		raw_expect_close(a.s, -EPROTO);
		end(a.s, a.o);
	}
}

/* The feature REMINV does not apply to version 1: the base's rules stay. */
static void a_fallback_leaves_the_feature(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true,
	                                   .versions = RR_CONN_V1 | RR_CONN_V2,
	                                   .features = {.on = 1u << RR_FEATURE_REMINV}};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	struct v1_call *o = v1_call(0x99, 8, true);
	uint8_t hello[8];

	rr_conn_peer_private(s->c, hello, raw_octets(HELLO, hello, sizeof(hello)));
	raw_receive(s,
	            "00007000 00000001 00000020 00000004 00000001 00000001 00000001");
	side_forget_sent(s);
	v1_start(s, o);
	assert_int_equal(s->n_regions, 1);
	side_forget_sent(s);
	raw_receive_inv(s, "00000099" V1_ERROR "00000002", s->region[0].handle);
	raw_expect_silence(s);
	assert_int_equal(o->call.status, RR_CALL_REMOTE_ERROR);
	end(s, o);
}

/* [ext §4.7, RFC 8797]: RTR raises the length of our Sends for version 2 only.  The peer
 * may have posted Receives of the length that our private data announced. */
static void sends_are_as_long_as_announced(void **state)
{
	static const char hello[] = "f6ab0e18 01000f0f"; /* 16 KiB each way */
	const struct rr_conn_config cfg = {
	        .versions = RR_CONN_V1 | RR_CONN_V2,
	        .recv_bytes = 4096,
	        .send_bytes = 4096,
	        .features = {.on = 1u << RR_FEATURE_RTR,
	                     .rtr_segments = 4,
	                     .rtr_segment_bytes = 4096},
	};
	struct side *s = v1_server(&cfg);
	struct rr_conn_info i;
	uint8_t own[8], peer[8];

	(void)state;
	rr_conn_peer_private(s->c, peer, raw_octets(hello, peer, sizeof(peer)));
	v1_expect_service(s);
	assert_int_equal(rr_conn_own_private(&cfg, own), 8);
	assert_int_equal(own[6], 3); /* 4 KiB */
	rr_conn_info(s->c, &i);
	assert_int_equal(i.version, 1);
	assert_int_equal(i.send_inline, 4096);
	raw_end(s);
}

/* -- calls in reverse [RFC 8167] ------------------------------------------- */

static struct side *listener(uint32_t level)
{
	const struct rr_conn_config cfg = {.rvrsdir = level};

	return client(&cfg);
}

static void a_reverse_call_is_served(void **state)
{
	struct side *s = listener(RDMA2_RVRSDIR_SIMPLE);

	v1_expect_service(s);
	raw_end(s);
}

/* XIDs and credits of the directions are independent. */
static void a_reverse_call_may_have_the_xid_of_a_call(void **state)
{
	struct side *s = listener(RDMA2_RVRSDIR_SIMPLE);
	struct v1_call *o = v1_call(0x99, 8, false);
	struct rr_conn_info i;

	v1_start(s, o);
	side_forget_sent(s);
	v1_expect_service(s);
	assert_int_equal(o->call.status, -EINPROGRESS);
	rr_conn_info(s->c, &i);
	assert_int_equal(i.cap, 1); /* a Call grants nothing */
	assert_int_equal(i.avail, 0);
	raw_receive(s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"));
	assert_int_equal(o->call.status, RR_CALL_OK);
	end(s, o);
}

static void a_reverse_call_nobody_listens_to_is_refused(void **state)
{
	struct side *s = listener(RDMA2_RVRSDIR_NONE);

	raw_receive(s, "00000055" V1_MSG V1_EMPTY CALL("00000055"));
	v1_expect(s, ERR_CHUNK("00000055"));
	raw_end(s);
}

#define ONE(handle) "00000001 00000001 " SEG(handle, "00000100")

static void a_reverse_call_with_chunks(void **state)
{
	static const char *const in[] = {
	        "00000055" V1_MSG READ("0000000c", "00000100")
	                V1_EMPTY CALL("00000055"),
	        "00000055" V1_MSG
	        "00000000" ONE("000000aa") "00000000 00000000" CALL("00000055"),
	        "00000055" V1_MSG "00000000 00000000" ONE("000000aa") CALL("00000055"),
	        "00000055" V1_NOMSG READ("00000000", "00000100") V1_EMPTY,
	};

	for (uint32_t level = RDMA2_RVRSDIR_SIMPLE; level <= RDMA2_RVRSDIR_GENL;
	     level++)
		for (unsigned i = 0; i < RR_ARRAY_SIZE(in); i++) {
			struct side *s = listener(level);

			raw_receive(s, in[i]);
			if (level != RDMA2_RVRSDIR_GENL) {
				v1_expect(s, ERR_CHUNK("00000055"));
				assert_int_equal(s->n_reads, 0);
			} else if (i == 0 || i == 3) {
				assert_int_equal(s->n_reads, 1);
			} else {
				assert_int_equal(s->requested, 1);
			}
			raw_end(s);
		}
}

static struct side *caller(uint32_t level)
{
	const struct rr_conn_config cfg = {.rvrsdir = level};
	struct side *s = v1_new(RR_CONN_SERVER, &cfg, NULL);

	v1_expect_service(s); /* the client's first message */
	return s;
}

/* There is no property to wait for: the upper layer knows. */
static void a_server_calls_when_its_user_does(void **state)
{
	struct side *s = caller(RDMA2_RVRSDIR_NONE);
	struct v1_call *o = v1_call(0x99, 8, true);
	struct v1_call *second = v1_call(0x9a, 8, false);

	v1_start(s, o);
	v1_start(s, second);
	v1_expect(s, "00000099" OUR_MSG V1_EMPTY "00000099 00000000");
	raw_expect_silence(s); /* one credit until the first Reply, here too */
	raw_receive(s, "00000099" V1_MSG V1_EMPTY REPLY("00000099"));
	assert_int_equal(o->call.status, RR_CALL_OK);
	v1_expect(s, "0000009a" OUR_MSG V1_EMPTY "0000009a 00000000");
	end(s, o);
	free(second);
}

static void a_reverse_call_too_long_for_one_message_ends_locally(void **state)
{
	struct side *s = caller(RDMA2_RVRSDIR_SIMPLE);
	struct v1_call *o = v1_call(0x99, 1000, false);

	assert_int_equal(rr_conn_call(s->c, &o->call, s->now), 0);
	side_drain(s);
	assert_int_equal(o->call.status, -EMSGSIZE);
	end(s, o);
}

static void a_server_may_be_told_to_use_chunks(void **state)
{
	struct side *s = caller(RDMA2_RVRSDIR_GENL);
	struct v1_call *o = v1_call(0x99, 1000, true);

	v1_start(s, o);
	assert_int_equal(s->n_regions, 2);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(rr_load_u32(s->sent[0].p + 12), 1);
	end(s, o);
}

/* A server's Call is answered by an error; a bad header that could be the Reply is
 * not answered by one. */
static void a_server_hears_answers_to_its_calls(void **state)
{
	struct side *s = caller(RDMA2_RVRSDIR_SIMPLE);
	struct v1_call *o = v1_call(0x55, 8, false);

	v1_start(s, o);
	side_forget_sent(s);
	raw_receive(s,
	            "00000055" V1_MSG "00000002 00000000 00000000" REPLY("00000055"));
	raw_expect_silence(s);
	assert_int_equal(o->call.status, -EINPROGRESS);
	raw_receive(s, "00000055" V1_ERROR "00000002");
	assert_int_equal(o->call.status, RR_CALL_REMOTE_ERROR);
	raw_receive(s,
	            "00000055" V1_MSG "00000002 00000000 00000000" REPLY("00000055"));
	v1_expect(s, ERR_CHUNK("00000055"));
	end(s, o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(it_is_ready_at_once),
	        cmocka_unit_test(a_short_call_has_28_octets_of_header),
	        cmocka_unit_test(a_destination_is_a_write_chunk),
	        cmocka_unit_test(an_item_is_a_read_chunk_without_padding),
	        cmocka_unit_test(a_call_beyond_the_threshold_is_pulled),
	        cmocka_unit_test(a_long_call_may_have_read_chunks_too),
	        cmocka_unit_test(a_reply_chunk_is_there_when_the_reply_may_not_fit),
	        cmocka_unit_test(without_memory_for_a_reply_chunk_the_call_ends),
	        cmocka_unit_test(what_cannot_be_expressed_ends_locally),
	        cmocka_unit_test(a_short_call_may_be_pulled_too),
	        cmocka_unit_test(a_call_that_fits_without_its_lists_is_pulled),
	        cmocka_unit_test(an_item_and_the_rest_share_the_segments),
	        cmocka_unit_test(segments_are_as_long_and_as_many_as_we_like),
	        cmocka_unit_test(segments_are_no_more_than_our_own_limit),
	        cmocka_unit_test(no_limit_is_made_up_for_the_peer),
	        cmocka_unit_test(a_header_beyond_the_threshold_ends_locally),
	        cmocka_unit_test(one_call_until_the_first_reply),
	        cmocka_unit_test(a_huge_grant_is_bounded_by_the_request),
	        cmocka_unit_test(an_idle_connection_has_all_that_was_granted),
	        cmocka_unit_test(a_grant_of_zero_is_one),
	        cmocka_unit_test(the_newest_grant_counts),
	        cmocka_unit_test(an_error_grants_too),
	        cmocka_unit_test(a_call_given_up_keeps_its_credit),
	        cmocka_unit_test(a_call_given_up_before_it_is_sent_has_no_credit),
	        cmocka_unit_test(stalls_are_counted_once),
	        cmocka_unit_test(a_reply_chunk_may_come_back_unused_or_not_at_all),
	        cmocka_unit_test(chunks_that_were_not_offered_end_the_call),
	        cmocka_unit_test(a_reply_chunk_that_was_not_offered_ends_the_call),
	        cmocka_unit_test(bad_headers_are_dropped),
	        cmocka_unit_test(errors_end_the_call),
	        cmocka_unit_test(errors_that_do_not_decode_are_dropped),
	        cmocka_unit_test(a_long_reply_comes_in_the_reply_chunk),
	        cmocka_unit_test(a_reply_chunk_without_the_reply_is_bad),
	        cmocka_unit_test(any_handle_of_the_call_may_be_invalidated),
	        cmocka_unit_test(another_handle_closes),
	        cmocka_unit_test(a_late_reply_may_invalidate_what_was_given_up),
	        cmocka_unit_test(a_late_reply_may_not_invalidate_without_leave),
	        cmocka_unit_test(a_fallback_leaves_the_feature),
	        cmocka_unit_test(sends_are_as_long_as_announced),
	        cmocka_unit_test(a_reverse_call_is_served),
	        cmocka_unit_test(a_reverse_call_may_have_the_xid_of_a_call),
	        cmocka_unit_test(a_reverse_call_nobody_listens_to_is_refused),
	        cmocka_unit_test(a_reverse_call_with_chunks),
	        cmocka_unit_test(a_server_calls_when_its_user_does),
	        cmocka_unit_test(a_reverse_call_too_long_for_one_message_ends_locally),
	        cmocka_unit_test(a_server_may_be_told_to_use_chunks),
	        cmocka_unit_test(a_server_hears_answers_to_its_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
