/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another attempt after an error: which errors allow one, and what the second Call
 * looks like on the wire.                              [v2 §7.3, E6, K11, P12]
 *
 * The call offers two items of 600 and 700 octets and two destinations of 100 and
 * 300, one segment each.
 */
#include "test_conn_raw.h"

struct fixture {
	struct side *s;
	struct rr_call call;
	struct rr_piece piece[4];
	uint8_t head[12], len[4], item[2][700];
	struct rr_dest dest[2];
	uint8_t result[2][300];
	unsigned done;
};

static struct fixture f;

static void on_done(struct side *s, struct rr_call *call)
{
	f.done++;
}

static void setup_with(struct side *s, unsigned flags)
{
	memset(&f, 0, sizeof(f));
	f.s = s;
	f.s->on_call_done = on_done;
	rr_store_u32(f.head, 0x55);
	rr_store_u32(f.head + 8, 600);
	rr_store_u32(f.len, 700);
	memset(f.item[0], 0x66, 600);
	memset(f.item[1], 0x77, 700);
	f.piece[0] = (struct rr_piece){f.head, 12, false};
	f.piece[1] = (struct rr_piece){f.item[0], 600, true};
	f.piece[2] = (struct rr_piece){f.len, 4, false};
	f.piece[3] = (struct rr_piece){f.item[1], 700, true};
	f.dest[0] = (struct rr_dest){.base = f.result[0], .len = 100};
	f.dest[1] = (struct rr_dest){.base = f.result[1], .len = 300};
	f.call = (struct rr_call){.xid = 0x55,
	                          .flags = flags,
	                          .pieces = f.piece,
	                          .n_pieces = 4,
	                          .dests = f.dest,
	                          .n_dests = 2};
}

static const struct rr_conn_config limits = {.max_message_bytes = 100000};

static void setup_flags(unsigned flags)
{
	setup_with(raw_ready(RR_CONN_CLIENT, &limits), flags);
}

static void send_call(void)
{
	assert_int_equal(rr_conn_call(f.s->c, &f.call, f.s->now), 0);
	side_drain(f.s);
	side_complete_all(f.s);
}

/* @words: the error for the Call with this XID. */
static void refuse(const char *xid, const char *words)
{
	char hex[200];

	side_forget_sent(f.s);
	snprintf(hex, sizeof(hex), "%s" ERRORMSG "%s", xid, words);
	raw_receive(f.s, hex);
	assert_int_equal(f.call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(side_valid_regions(f.s), 0);
	raw_expect_silence(f.s);
}

static void send_again(void)
{
	assert_true(rr_call_recover(f.s->c, &f.call));
	f.call.xid = 0x56;
	rr_store_u32(f.head, 0x56);
	send_call();
}

static void send_again_without_memory(void)
{
	f.s->mem_fail_on = true;
	f.s->mem_fail_at = 1;
	send_again();
	f.s->mem_fail_on = false;
	f.s->mem_fail_at = 0;
	raw_expect_silence(f.s);
	assert_int_equal(f.done, 2);
}

static uint64_t recoveries(void)
{
	struct rr_conn_counters n;

	rr_conn_counters(f.s->c, &n);
	return n.recoveries;
}

/* The region registered k-th, with its octets, as four words. */
static const char *seg(unsigned k, size_t len)
{
	static char hex[4][80];
	const struct side_region *r = &f.s->region[k];

	assert_true(k < f.s->n_regions);
	assert_int_equal(r->len, len);
	snprintf(hex[k], sizeof(hex[k]), "%08x %08zx %016llx ", r->handle, len,
	         (unsigned long long)(uintptr_t)r->base);
	return hex[k];
}

/* The one message that went out begins with these octets, and has @len. */
static void expect_begins(size_t len, const char *fmt, ...)
{
	uint8_t want[600];
	char hex[1200];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(hex, sizeof(hex), fmt, ap);
	va_end(ap);
	n = raw_octets(hex, want, sizeof(want));
	assert_int_equal(f.s->n_sent, 1);
	assert_int_equal(f.s->sent[0].len, len);
	assert_memory_equal(f.s->sent[0].p, want, 8);
	assert_memory_equal(f.s->sent[0].p + 12, want + 12, n - 12);
}

static void end(void)
{
	if (!f.call.status)
		rr_conn_call_release(f.s->c, &f.call, f.s->now);
	raw_end(f.s);
}

/* -- the second Call ------------------------------------------------------- */

enum { STREAM = 12 + 600 + 4 + 700, EMPTY_HEADER = 36, READ_SEG = 24, WRITE = 24 };

/* V2-7.3.1-04 */
static void read_chunks_0_leaves_all_items_in_the_payload(void **state)
{
	setup_flags(RR_CALL_NO_WRITES);
	send_call();
	assert_int_equal(f.s->n_regions, 2);
	refuse("00000055", "00000006 00000000");
	send_again();
	expect_begins(EMPTY_HEADER + STREAM, "00000056" MSG EMPTY "00000056 00000000 "
	                                     "00000258 66666666");
	assert_int_equal(recoveries(), 1);
	end();
}

/* [K12]: as many as there may be, the first ones. */
static void read_chunks_1_leaves_the_second_item_in_the_payload(void **state)
{
	setup_flags(RR_CALL_NO_WRITES);
	send_call();
	refuse("00000055", "00000006 00000001");
	send_again();
	expect_begins(EMPTY_HEADER + READ_SEG + STREAM - 600,
	              "00000056" MSG "00000000 00000001 0000000c %s 00000000 00000000 "
	              "00000000 00000056 00000000 00000258 000002bc 77777777",
	              seg(0, 600));
	end();
}

/* [K25]: the peer takes no Call of this length in parts. */
static void a_refused_sequence_with_items_is_sent_with_read_chunks(void **state)
{
	static const struct rr_conn_config carrying = {
	        .max_message_bytes = 100000,
	        .send_bytes = 1024,
	        .send_item_bytes = 1300,
	};

	setup_with(raw_ready(RR_CONN_CLIENT, &carrying), RR_CALL_NO_WRITES);
	send_call();
	assert_int_equal(f.s->n_regions, 0);
	assert_int_equal(f.s->n_sent, 2);
	refuse("00000055", "00000005");
	send_again();
	assert_int_equal(f.s->n_regions, 2);
	assert_int_equal(f.s->n_sent, 1);
	end();
}

/* A Special Call without items to leave out: continuation (or one message). */
static void read_chunks_0_of_a_special_call_brings_it_inline(void **state)
{
	static const unsigned flags[] = {RR_CALL_SPECIAL, RR_CALL_WHOLE};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(flags); i++) {
		setup_flags(RR_CALL_NO_WRITES | RR_CALL_NO_REDUCE | flags[i]);
		send_call();
		assert_int_equal(f.s->n_regions, 1);
		refuse("00000055", "00000006 00000000");
		send_again();
		expect_begins(EMPTY_HEADER + STREAM, "00000056" MSG EMPTY "00000056");
		end();
	}
}

/* Neither its items nor the rest may be read: a second refusal would be final. */
static void read_chunks_0_of_a_special_call_with_items_brings_all_inline(void **state)
{
	setup_flags(RR_CALL_NO_WRITES | RR_CALL_SPECIAL);
	send_call();
	assert_int_equal(f.s->n_regions, 3);
	refuse("00000055", "00000006 00000000");
	send_again();
	assert_int_equal(side_valid_regions(f.s), 0);
	expect_begins(EMPTY_HEADER + STREAM, "00000056" MSG EMPTY "00000056");
	end();
}

/* The one segment that the peer takes was the Position Zero chunk: without that,
 * no item may be reduced in its place. */
static void read_chunks_0_of_a_special_call_reduces_nothing(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, &limits);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 "
	               "00000001 00000004 00000004 00000001");
	side_forget_sent(s);
	setup_with(s, RR_CALL_NO_WRITES | RR_CALL_SPECIAL);
	send_call();
	assert_int_equal(f.s->n_regions, 1);
	refuse("00000055", "00000006 00000000");
	send_again();
	assert_int_equal(side_valid_regions(f.s), 0);
	expect_begins(EMPTY_HEADER + STREAM, "00000056" MSG EMPTY "00000056");
	end();
}

/* V2-7.3.2-02: a Reply chunk, large enough for what may come instead. */
static void write_chunks_0_brings_a_reply_chunk(void **state)
{
	setup_flags(RR_CALL_NO_REDUCE);
	f.call.reply_bytes = 1000;
	send_call();
	assert_int_equal(f.s->n_regions, 2);
	refuse("00000055", "00000007 00000000");
	send_again();
	assert_true(f.s->region[0].len >= 1000 + 100 + 300);
	expect_begins(EMPTY_HEADER + 20 + STREAM,
	              "00000056" MSG "00000000 00000000 00000000 00000001 00000001 %s",
	              seg(0, f.s->region[0].len));
	end();
}

static void write_chunks_1_keeps_the_first(void **state)
{
	setup_flags(RR_CALL_NO_REDUCE);
	f.call.reply_bytes = 1000;
	send_call();
	refuse("00000055", "00000007 00000001");
	send_again();
	assert_true(f.s->region[1].len >= 1000 + 300);
	expect_begins(EMPTY_HEADER + WRITE + 20 + STREAM,
	              "00000056" MSG "00000000 00000000 00000001 00000001 %s 00000000 "
	              "00000001 00000001 %s",
	              seg(0, 100), seg(1, f.s->region[1].len));
	end();
}

/* V2-7.3.3-02: in the whole header; results first, then arguments. */
static void segments_are_no_more_than_the_peer_takes(void **state)
{
	static const size_t header[] = {
	        EMPTY_HEADER,
	        EMPTY_HEADER + WRITE,
	        EMPTY_HEADER + 2 * WRITE,
	        EMPTY_HEADER + 2 * WRITE + READ_SEG,
	};
	static const size_t left_out[] = {0, 0, 0, 600};

	for (unsigned n = 0; n < 4; n++) {
		char words[40];

		setup_flags(0);
		send_call();
		assert_int_equal(f.s->n_regions, 4);
		snprintf(words, sizeof(words), "00000008 %08x", n);
		refuse("00000055", words);
		send_again();
		assert_int_equal(f.s->n_regions, n);
		expect_begins(header[n] + STREAM - left_out[n],
		              "00000056" MSG "00000000");
		end();
	}
}

/* SEGMENTS: also a Special Call comes inline if need be. */
static void no_segments_at_all(void **state)
{
	setup_flags(RR_CALL_SPECIAL);
	send_call();
	refuse("00000055", "00000008 00000000");
	send_again();
	expect_begins(EMPTY_HEADER + STREAM, "00000056" MSG EMPTY "00000056");
	end();
}

/* V2-7.3.4-04: the second destination in memory of the connection's own, which
 * counts as pinned and is lent until the release. */
static void write_resource_brings_a_larger_chunk(void **state)
{
	struct rr_conn_info i;
	char hex[500];

	setup_flags(RR_CALL_NO_REDUCE | RR_CALL_IDEMPOTENT);
	send_call();
	refuse("00000055", "00000009 00000002 00001388");
	send_again();
	expect_begins(EMPTY_HEADER + 2 * WRITE + STREAM,
	              "00000056" MSG "00000000 00000000 00000001 00000001 %s "
	              "00000001 00000001 %s 00000000 00000000",
	              seg(0, 100), seg(1, 5000));
	rr_conn_info(f.s->c, &i);
	assert_int_equal(i.held_bytes, 5000);
	memset(f.s->region[1].base, 0xcc, 4999);
	side_forget_sent(f.s);
	/* the chunks come back: 7 and 4999 octets */
	snprintf(hex, sizeof(hex),
	         "00000056" MSG_REPLY
	         "00000000 00000000 00000001 00000001 %08x 00000007 %016llx "
	         "00000001 00000001 %08x 00001387 %016llx 00000000 00000000 "
	         "00000056 00000001",
	         f.s->region[0].handle,
	         (unsigned long long)(uintptr_t)f.s->region[0].base,
	         f.s->region[1].handle,
	         (unsigned long long)(uintptr_t)f.s->region[1].base);
	raw_receive(f.s, hex);
	assert_int_equal(f.done, 2);
	assert_int_equal(f.call.status, RR_CALL_OK);
	assert_ptr_equal(f.dest[0].ret_base, f.result[0]);
	assert_int_equal(f.dest[0].ret_len, 7);
	assert_true(f.dest[1].ret_used);
	assert_int_equal(f.dest[1].ret_len, 4999);
	assert_ptr_not_equal(f.dest[1].ret_base, f.result[1]);
	assert_int_equal(((const uint8_t *)f.dest[1].ret_base)[4998], 0xcc);
	rr_conn_call_release(f.s->c, &f.call, f.s->now);
	rr_conn_info(f.s->c, &i);
	assert_int_equal(i.held_bytes, 0);
	raw_end(f.s);
}

/* V2-7.3.5-03 */
static void reply_resource_brings_a_reply_chunk(void **state)
{
	setup_flags(RR_CALL_NO_REDUCE | RR_CALL_NO_WRITES | RR_CALL_IDEMPOTENT);
	send_call();
	refuse("00000055", "0000000a 00001388");
	send_again();
	expect_begins(EMPTY_HEADER + 20 + STREAM,
	              "00000056" MSG "00000000 00000000 00000000 00000001 00000001 %s",
	              seg(0, 5000));
	end();
}

/* -- what is final --------------------------------------------------------- */

struct final {
	const char *name, *words;
};

static void expect_final(unsigned flags, const struct final *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		print_message("    %s\n", rows[i].name);
		setup_flags(flags);
		send_call();
		assert_int_equal(f.s->n_regions, 4);
		refuse("00000055", rows[i].words);
		assert_false(rr_call_recover(f.s->c, &f.call));
		assert_int_equal(f.call.flags, flags);
		assert_int_equal(f.call.recovery.error.code, 0);
		assert_int_equal(recoveries(), 0);
		assert_int_equal(f.done, 1);
		raw_end(f.s);
	}
}

/* V2-7.1.1-06, V2-7.1.2-04, V2-7.1.3-03, V2-7.2.1-03, V2-7.4.1-03 */
static void permanent_errors_are_final(void **state)
{
	static const struct final rows[] = {
	        {"VERS", "00000001 00000001 00000001"},
	        {"BAD_XDR", "00000002"},
	        {"BAD_PROPVAL", "00000003"},
	        {"INVAL_HTYPE", "00000004"},
	        {"INVAL_CONT", "00000005"},
	        {"SYSTEM", "00000064"},
	};

	expect_final(RR_CALL_IDEMPOTENT, rows, RR_ARRAY_SIZE(rows));
}

/* V2-7.3.4-05, V2-7.3.5-04, [K11] */
static void lengths_of_zero_are_final(void **state)
{
	static const struct final rows[] = {
	        {"WRITE_RESOURCE 0, 0", "00000009 00000000 00000000"},
	        {"WRITE_RESOURCE 1, 0", "00000009 00000001 00000000"},
	        {"WRITE_RESOURCE 0, 5000", "00000009 00000000 00001388"},
	        {"REPLY_RESOURCE 0", "0000000a 00000000"},
	};

	expect_final(RR_CALL_IDEMPOTENT, rows, RR_ARRAY_SIZE(rows));
}

/* V2-7.3.1-05, V2-7.3.2-03, V2-7.3.3-03: it would be the same Call again. */
static void errors_that_ask_for_what_was_done_are_final(void **state)
{
	static const struct final rows[] = {
	        {"READ_CHUNKS 2 of 2", "00000006 00000002"},
	        {"READ_CHUNKS all", "00000006 ffffffff"},
	        {"WRITE_CHUNKS 2 of 2", "00000007 00000002"},
	        {"SEGMENTS 4 of 4", "00000008 00000004"},
	        {"WRITE_RESOURCE 1, 100 of 100", "00000009 00000001 00000064"},
	        {"WRITE_RESOURCE 2, 300 of 300", "00000009 00000002 0000012c"},
	        {"WRITE_RESOURCE 3 of 2", "00000009 00000003 00001388"},
	};

	expect_final(RR_CALL_IDEMPOTENT, rows, RR_ARRAY_SIZE(rows));
}

/* V2-11.1.4: a peer cannot make us hold what it likes. */
static void lengths_beyond_our_limit_are_final(void **state)
{
	static const struct final rows[] = {
	        {"WRITE_RESOURCE 100001", "00000009 00000001 000186a1"},
	        {"WRITE_RESOURCE 4 GiB", "00000009 00000001 ffffffff"},
	        {"REPLY_RESOURCE 100001", "0000000a 000186a1"},
	        {"REPLY_RESOURCE 4 GiB", "0000000a ffffffff"},
	};

	expect_final(RR_CALL_IDEMPOTENT, rows, RR_ARRAY_SIZE(rows));
}

/* [E6]: codes 9 and 10 come after the execution. */
static void executed_calls_are_not_repeated(void **state)
{
	static const struct final rows[] = {
	        {"WRITE_RESOURCE", "00000009 00000001 00001388"},
	        {"REPLY_RESOURCE", "0000000a 00001388"},
	};

	expect_final(0, rows, RR_ARRAY_SIZE(rows));
}

/* [E6]: once for each call. */
static void a_second_error_is_final(void **state)
{
	setup_flags(RR_CALL_IDEMPOTENT);
	send_call();
	refuse("00000055", "00000006 00000001");
	send_again();
	refuse("00000056", "00000006 00000000");
	assert_false(rr_call_recover(f.s->c, &f.call));
	assert_int_equal(f.call.error.arg[0], 0);
	assert_int_equal(recoveries(), 1);
	assert_int_equal(f.done, 2);
	raw_end(f.s);
}

/* A Reply chunk of more segments than there may be: the first error stands. */
static void what_cannot_be_expressed_ends_with_the_first_error(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 1024,
	                                   .max_message_bytes = 100000};

	setup_flags(RR_CALL_IDEMPOTENT);
	raw_end(f.s);
	f.s = raw_ready(RR_CONN_CLIENT, &cfg);
	f.s->on_call_done = on_done;
	send_call();
	refuse("00000055", "0000000a 00005000"); /* 20 segments of 16 */
	send_again();
	raw_expect_silence(f.s);
	assert_int_equal(f.done, 2);
	assert_int_equal(f.call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(f.call.error.code, RDMA2_ERR_REPLY_RESOURCE);
	assert_int_equal(f.call.error.arg[0], 0x5000);
	assert_false(rr_call_recover(f.s->c, &f.call));
	raw_end(f.s);
}

/* What the peer asks for may be more than there is: that is our own failure, not the
 * peer's once more. */
static void no_memory_for_a_larger_chunk_ends_the_call_so(void **state)
{
	setup_flags(RR_CALL_NO_REDUCE | RR_CALL_IDEMPOTENT);
	send_call();
	refuse("00000055", "00000009 00000002 00001388");
	send_again_without_memory();
	assert_int_equal(f.call.status, -ENOMEM);
	raw_end(f.s);
}

/* A server's call, asked otherwise on a connection whose client takes none. */
static void nor_does_the_first_error_hide_another_reason(void **state)
{
	struct side *s = raw_new(RR_CONN_SERVER, &limits);

	raw_receive(s, "00000077 00000002 00200020 00000005 00000000 "
	               "00000001 00000005 00000004 00000003");
	setup_with(s, 0);
	side_forget_sent(s);
	send_call();
	refuse("00000055", "00000006 00000001");
	assert_true(rr_call_recover(f.s->c, &f.call));
	raw_end(f.s);
	f.s = raw_ready(RR_CONN_SERVER, &limits);
	f.call.xid = 0x56;
	rr_store_u32(f.head, 0x56);
	send_call();
	raw_expect_silence(f.s);
	assert_int_equal(f.call.status, -EPROTONOSUPPORT);
	raw_end(f.s);
}

/* -- version 1 ------------------------------------------------------------- */

static struct side *v1_side(void)
{
	struct rr_conn_config cfg = limits;

	cfg.versions = RR_CONN_V1;
	return raw_new(RR_CONN_CLIENT, &cfg);
}

static void refuse_v1(const char *xid, const char *words)
{
	char hex[100];

	side_forget_sent(f.s);
	snprintf(hex, sizeof(hex), "%s 00000001 00000040 00000004 %s", xid, words);
	raw_receive(f.s, hex);
	assert_int_equal(f.call.status, RR_CALL_REMOTE_ERROR);
	raw_expect_silence(f.s);
}

#define CHUNK "00000002"

/* A guess that we have no memory for was too high: the peer's error stands. */
static void no_memory_for_a_guess_ends_with_the_error(void **state)
{
	setup_with(v1_side(), RR_CALL_NO_REDUCE | RR_CALL_IDEMPOTENT);
	send_call();
	refuse_v1("00000055", CHUNK);
	send_again_without_memory();
	assert_int_equal(f.call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(f.call.error.code, RDMA2_ERR_BAD_XDR);
	raw_end(f.s);
}

/* ERR_CHUNK brings another guess as often as it comes, nothing else does. */
static void another_error_after_a_guess_is_final(void **state)
{
	setup_with(v1_side(), RR_CALL_NO_REDUCE | RR_CALL_IDEMPOTENT);
	f.call.n_dests = 0;
	send_call();
	refuse_v1("00000055", CHUNK);
	send_again();
	refuse_v1("00000056", "00000001 00000001 00000001"); /* ERR_VERS */
	assert_false(rr_call_recover(f.s->c, &f.call));
	assert_int_equal(recoveries(), 1);
	raw_end(f.s);
}

/* Once for each call, also if the second attempt goes to a server of version 1. */
static void a_second_error_in_version_1_is_final(void **state)
{
	setup_flags(RR_CALL_IDEMPOTENT);
	send_call();
	refuse("00000055", "00000006 00000001");
	assert_true(rr_call_recover(f.s->c, &f.call));
	raw_end(f.s);
	f.s = v1_side();
	f.call.xid = 0x56;
	rr_store_u32(f.head, 0x56);
	send_call();
	assert_int_equal(f.s->n_sent, 1);
	refuse_v1("00000056", CHUNK);
	assert_false(rr_call_recover(f.s->c, &f.call));
	assert_int_equal(recoveries(), 0);
	raw_end(f.s);
}

/* Only after an error of the peer's. */
static void other_ends_are_no_reason_to_recover(void **state)
{
	setup_flags(RR_CALL_IDEMPOTENT);
	send_call();
	rr_conn_cancel(f.s->c, &f.call, f.s->now);
	side_drain(f.s);
	side_complete_all(f.s);
	assert_int_equal(f.call.status, -ECANCELED);
	assert_false(rr_call_recover(f.s->c, &f.call));
	raw_end(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(read_chunks_0_leaves_all_items_in_the_payload),
	        cmocka_unit_test(read_chunks_1_leaves_the_second_item_in_the_payload),
	        cmocka_unit_test(
	                a_refused_sequence_with_items_is_sent_with_read_chunks),
	        cmocka_unit_test(read_chunks_0_of_a_special_call_brings_it_inline),
	        cmocka_unit_test(
	                read_chunks_0_of_a_special_call_with_items_brings_all_inline),
	        cmocka_unit_test(read_chunks_0_of_a_special_call_reduces_nothing),
	        cmocka_unit_test(write_chunks_0_brings_a_reply_chunk),
	        cmocka_unit_test(write_chunks_1_keeps_the_first),
	        cmocka_unit_test(segments_are_no_more_than_the_peer_takes),
	        cmocka_unit_test(no_segments_at_all),
	        cmocka_unit_test(write_resource_brings_a_larger_chunk),
	        cmocka_unit_test(reply_resource_brings_a_reply_chunk),
	        cmocka_unit_test(permanent_errors_are_final),
	        cmocka_unit_test(lengths_of_zero_are_final),
	        cmocka_unit_test(errors_that_ask_for_what_was_done_are_final),
	        cmocka_unit_test(lengths_beyond_our_limit_are_final),
	        cmocka_unit_test(executed_calls_are_not_repeated),
	        cmocka_unit_test(a_second_error_is_final),
	        cmocka_unit_test(what_cannot_be_expressed_ends_with_the_first_error),
	        cmocka_unit_test(no_memory_for_a_larger_chunk_ends_the_call_so),
	        cmocka_unit_test(nor_does_the_first_error_hide_another_reason),
	        cmocka_unit_test(no_memory_for_a_guess_ends_with_the_error),
	        cmocka_unit_test(another_error_after_a_guess_is_final),
	        cmocka_unit_test(a_second_error_in_version_1_is_final),
	        cmocka_unit_test(other_ends_are_no_reason_to_recover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
