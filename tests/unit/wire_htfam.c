/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header types by message kind: octets written down by hand from the specification of
 * the extensions, and the messages that a hostile peer would send.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_codec.h"
#include "wire/htfam/htfam_wire.h"
#include "wire/reminv/reminv_wire.h"
#include "wire/rprc/rprc_wire.h"
#include "wire/rtr/rtr_wire.h"

/* -- one codec for each type ------------------------------------------------- */

struct body {
	struct rr_lists l;
	uint32_t remaining;
};

#define TYPE(name, htype)                                                              \
	static int get_##name(struct rr_cursor *c, void *v)                            \
	{                                                                              \
		struct body *b = v;                                                    \
                                                                                       \
		return rr_wire_htfam_get_lists(c, htype, &b->l, &b->remaining);        \
	}                                                                              \
	static void put_##name(struct rr_writer *w, const void *v)                     \
	{                                                                              \
		const struct body *b = v;                                              \
                                                                                       \
		rr_wire_htfam_put_lists(w, htype, &b->l, b->remaining);                \
	}                                                                              \
	static size_t size_##name(const void *v)                                       \
	{                                                                              \
		return rr_wire_htfam_lists_size(htype, &((const struct body *)v)->l);  \
	}                                                                              \
	static const struct codec name = {get_##name, put_##name, size_##name,         \
	                                  sizeof(struct body)};

TYPE(grant, RDMA2_X_GRANT)
TYPE(call_external, RDMA2_X_CALL_EXTERNAL)
TYPE(call_middle, RDMA2_X_CALL_MIDDLE)
TYPE(call_last, RDMA2_X_CALL_LAST)
TYPE(reply_external, RDMA2_X_REPLY_EXTERNAL)
TYPE(reply_middle, RDMA2_X_REPLY_MIDDLE)
TYPE(reply_last, RDMA2_X_REPLY_LAST)

static void assert_segment(const struct rr_segment *s, uint32_t handle, uint32_t length,
                           uint64_t offset)
{
	assert_int_equal(s->handle, handle);
	assert_int_equal(s->length, length);
	assert_true(s->offset == offset);
}

static void assert_chunk(const struct rr_chunk *k, uint32_t position, uint16_t first,
                         uint16_t count, uint64_t length)
{
	assert_int_equal(k->position, position);
	assert_int_equal(k->first, first);
	assert_int_equal(k->count, count);
	assert_true(k->length == length);
}

/* Type @htype cannot express @l: no octet is written. */
static void assert_not_encoded(uint32_t htype, const struct rr_lists *l)
{
	uint8_t at[4096];
	struct rr_writer w = rr_writer_over(at, sizeof(at));

	rr_wire_htfam_put_lists(&w, htype, l, 0);
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
}

/* -- code points and the property -------------------------------------------- */

/* LS-s14-01 */
static void code_points_are_those_of_the_text(void **state)
{
	assert_true(RDMA2_X_GRANT == 0xFFFFFF45);
	assert_true(RDMA2_X_CONNPROP_MIDDLE == 0xFFFFFF46);
	assert_true(RDMA2_X_CONNPROP_LAST == 0xFFFFFF47);
	assert_true(RDMA2_X_CALL_EXTERNAL == 0xFFFFFF48);
	assert_true(RDMA2_X_CALL_MIDDLE == 0xFFFFFF49);
	assert_true(RDMA2_X_CALL_LAST == 0xFFFFFF4A);
	assert_true(RDMA2_X_REPLY_EXTERNAL == 0xFFFFFF4B);
	assert_true(RDMA2_X_REPLY_MIDDLE == 0xFFFFFF4C);
	assert_true(RDMA2_X_REPLY_LAST == 0xFFFFFF4D);
	assert_true(RDMA2_PROPID_HTFAM == 0xFFFFFF31);
	assert_int_equal(RDMA2_HTFAM_RPC, 1);
	assert_int_equal(RDMA2_HTFAM_CTRL, 2);
}

static void the_property_is_a_word_of_flags(void **state)
{
	static const uint8_t zeros[8];
	uint8_t at[4];
	struct rr_writer w = rr_writer_over(at, sizeof(at));
	uint32_t flags = 7;

	rr_wire_htfam_put_value(&w, RDMA2_HTFAM_RPC | RDMA2_HTFAM_CTRL);
	assert_false(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), RR_WIRE_HTFAM_VALUE);
	assert_int_equal(rr_load_u32(at), 3);
	assert_int_equal(rr_wire_htfam_get_value(at, 4, &flags), 0);
	assert_int_equal(flags, 3);
	assert_int_equal(rr_wire_htfam_get_value(NULL, 0, &flags), 0);
	assert_int_equal(flags, 0);
	rr_store_u32(at, 0xfffffffd);
	assert_int_equal(rr_wire_htfam_get_value(at, 4, &flags), 0);
	assert_int_equal(flags, RDMA2_HTFAM_RPC);
	for (uint32_t len = 1; len <= 8; len++)
		if (len != 4)
			assert_int_equal(rr_wire_htfam_get_value(zeros, len, &flags),
			                 -EINVAL);
	assert_int_equal(flags, RDMA2_HTFAM_RPC);
}

/* -- sample messages ----------------------------------------------------------- */

/* LS-s15-01: 36 octets of header with the prefix, as RDMA2_MSG has */
static void call_last_without_chunks_is_four_words(void **state)
{
	struct body b;

	assert_decodes(&call_last, OCTETS(0, 0, 0, 0, 0x11223344), 4, &b);
	assert_true(rr_lists_empty(&b.l));
	assert_int_equal(b.l.inv_handle, 0);
	assert_int_equal(b.remaining, 0);
	assert_int_equal(
	        RR_WIRE_PREFIX + rr_wire_htfam_lists_size(RDMA2_X_CALL_LAST, &b.l), 36);
}

/* LS-s12-01 LS-s15-01 LS-s15-04 RI-5.2-04 */
static void call_last_has_arguments_results_and_a_reply(void **state)
{
	struct body b;

	assert_decodes(&call_last,
	               OCTETS(0x21,                             /* handle */
	                      2, 180, 1, 0x21, 8192, 0, 0x1000, /* arguments */
	                      8372, 2, 0x22, 4, 0, 0x2000, 0x23, 0, 1, 0x3000, /* ... */
	                      2, 0, 1, 0x31, 4096, 0, 0x4000, 0, 0, /* results */
	                      1, 0x41, 65536, 0x7f00, 0x5000),      /* reply */
	               0, &b);
	assert_int_equal(b.l.inv_handle, 0x21);
	assert_int_equal(b.l.n_reads, 2);
	assert_chunk(&b.l.reads[0], 180, 0, 1, 8192);
	assert_chunk(&b.l.reads[1], 8372, 1, 2, 4);
	assert_int_equal(b.l.n_writes, 2);
	assert_chunk(&b.l.writes[0], 0, 3, 1, 4096);
	assert_chunk(&b.l.writes[1], 0, 4, 0, 0);
	assert_true(b.l.has_reply);
	assert_chunk(&b.l.reply, 0, 4, 1, 65536);
	assert_segment(&b.l.seg[0], 0x21, 8192, 0x1000);
	assert_segment(&b.l.seg[2], 0x23, 0, 0x100003000);
	assert_segment(&b.l.seg[3], 0x31, 4096, 0x4000);
	assert_segment(&b.l.seg[4], 0x41, 65536, 0x7f0000005000);
	assert_int_equal(b.l.total_segs, 5);
	assert_int_equal(b.l.total_reads, 2);
	assert_int_equal(b.l.total_writes, 2);
	assert_false(b.l.over);
	assert_false(b.l.reads_descend);
}

/* LS-s13-01 LS-s15-03 LS-s15-04 RI-5.2-04 */
static void call_external_has_a_body_chunk(void **state)
{
	struct body b;

	assert_decodes(&call_external,
	               OCTETS(0, 1, 1, 0x1234, 8192, 0x7f00, 0x2000, 0, 0, 0), 0, &b);
	assert_int_equal(b.l.n_reads, 1);
	assert_chunk(&b.l.reads[0], 0, 0, 1, 8192);
	assert_segment(&b.l.seg[0], 0x1234, 8192, 0x7f0000002000);
	assert_int_equal(RR_WIRE_PREFIX +
	                         rr_wire_htfam_lists_size(RDMA2_X_CALL_EXTERNAL, &b.l),
	                 20 + 24 + 16);

	assert_decodes(&call_external,
	               OCTETS(0x9, 1, 2, 1, 100, 0, 0, 2, 100, 0, 0, /* body */
	                      1, 40, 1, 0x9, 10, 0, 0,               /* arguments */
	                      1, 0, 1, 3, 10, 0, 0,                  /* results */
	                      2, 4, 10, 0, 0, 5, 10, 0, 0),          /* reply */
	               0, &b);
	assert_int_equal(b.l.inv_handle, 9);
	assert_int_equal(b.l.n_reads, 2);
	assert_chunk(&b.l.reads[0], 0, 0, 2, 200);
	assert_chunk(&b.l.reads[1], 40, 2, 1, 10);
	assert_int_equal(b.l.n_writes, 1);
	assert_chunk(&b.l.writes[0], 0, 3, 1, 10);
	assert_true(b.l.has_reply);
	assert_chunk(&b.l.reply, 0, 4, 2, 20);
}

/* LS-s15-02 LS-s16-03 */
static void middle_types_have_only_what_remains(void **state)
{
	static const struct codec *const types[] = {&call_middle, &reply_middle};

	for (size_t i = 0; i < 2; i++) {
		struct body b;

		assert_decodes(types[i], OCTETS(5928, 0x11223344), 4, &b);
		assert_true(rr_lists_empty(&b.l));
		assert_int_equal(b.remaining, 5928);
		assert_int_equal(types[i]->size(&b), 4); /* 24 with the prefix */
	}
}

/* LS-s10-05 LS-s16-02 */
static void reply_last_has_results_alone(void **state)
{
	struct body b;

	assert_decodes(&reply_last, OCTETS(0, 0x11223344), 4, &b);
	assert_true(rr_lists_empty(&b.l));
	assert_int_equal(b.l.inv_handle, 0);
	assert_int_equal(RR_WIRE_PREFIX +
	                         rr_wire_htfam_lists_size(RDMA2_X_REPLY_LAST, &b.l),
	                 24);
	assert_decodes(&reply_last,
	               OCTETS(2, 0, 1, 0x31, 4000, 0, 0x4000, 0, 1, 0x32, 0, 0, 0x5000),
	               0, &b);
	assert_int_equal(b.l.n_writes, 2);
	assert_chunk(&b.l.writes[0], 0, 0, 1, 4000);
	assert_chunk(&b.l.writes[1], 0, 1, 1, 0);
}

/* LS-s13-02 LS-s16-04: the Reply chunk follows the results in the arrays, although it
 * precedes them on the wire */
static void reply_external_has_a_body_that_was_pushed(void **state)
{
	struct body b;

	assert_decodes(&reply_external,
	               OCTETS(0, 2, 2, 0x41, 60000, 0, 0x1000, 0x42, 0, 0,
	                      0x2000, /* body */
	                      1, 0, 1, 0x31, 4000, 0, 0x4000),
	               0, &b);
	assert_int_equal(b.l.n_reads, 0);
	assert_true(b.l.has_reply);
	assert_int_equal(b.l.n_writes, 1);
	assert_chunk(&b.l.writes[0], 0, 0, 1, 4000);
	assert_chunk(&b.l.reply, 0, 1, 2, 60000);
	assert_segment(&b.l.seg[0], 0x31, 4000, 0x4000);
	assert_segment(&b.l.seg[1], 0x41, 60000, 0x1000);
	assert_segment(&b.l.seg[2], 0x42, 0, 0x2000);
	assert_int_equal(b.l.total_segs, 3);
}

static void a_body_that_was_pushed_may_stand_alone(void **state)
{
	struct body b;

	assert_decodes(&reply_external, OCTETS(0, 2, 1, 0x41, 60000, 0, 0x1000, 0), 0,
	               &b);
	assert_chunk(&b.l.reply, 0, 0, 1, 60000);
	assert_int_equal(b.l.n_writes, 0);
}

/* LS-s13-02 LS-s16-04 */
static void reply_external_has_a_body_to_pull(void **state)
{
	struct body b;

	assert_decodes(&reply_external,
	               OCTETS(0x7a10, 1, 1, 0x7a10, 70000, 0x7f00, 0x1000, 0), 0, &b);
	assert_int_equal(b.l.inv_handle, 0x7a10);
	assert_int_equal(b.l.n_reads, 1);
	assert_chunk(&b.l.reads[0], 0, 0, 1, 70000);
	assert_false(b.l.has_reply);
	assert_int_equal(RR_WIRE_PREFIX +
	                         rr_wire_htfam_lists_size(RDMA2_X_REPLY_EXTERNAL, &b.l),
	                 20 + 16 + 16);
	assert_decodes(&reply_external, OCTETS(0, 1, 1, 0x7a10, 70000, 0, 0, 1, 0, 0),
	               0, &b);
	assert_int_equal(b.l.n_writes, 1);
	assert_chunk(&b.l.writes[0], 0, 1, 0, 0);
}

/* LS-s18-01 */
static void grant_has_no_body(void **state)
{
	struct body b;

	assert_decodes(&grant, OCTETS(0x11223344), 4, &b);
	assert_true(rr_lists_empty(&b.l));
	assert_int_equal(b.remaining, 0);
	assert_int_equal(rr_wire_htfam_lists_size(RDMA2_X_GRANT, &b.l), 0);
	assert_int_equal(rr_wire_htfam_lists_size(RDMA2_X_CONNPROP_LAST, &b.l), 0);
	assert_int_equal(rr_wire_htfam_lists_size(RDMA2_MSG, &b.l), 0);
}

/* LS-s07-02 */
static void lengths_are_summed_in_64_bits(void **state)
{
	struct body b;

	assert_decodes(&call_external,
	               OCTETS(0, 1, 3, 1, 0xffffffff, 0, 0, 1, 0xffffffff, 0, 0, 1, 2,
	                      0, 0, 0, 0, 0),
	               0, &b);
	assert_chunk(&b.l.reads[0], 0, 0, 3, 0x200000000);
}

/* LS-s18-01 */
static void connprop_types_have_the_body_of_the_base_type(void **state)
{
	struct octets o = OCTETS(2, RDMA2_PROPID_RBSIZ, 4, 8192, RDMA2_PROPID_HTFAM, 4,
	                         RDMA2_HTFAM_RPC);
	struct rr_cursor c = rr_cursor_over(o.at, o.len);
	uint32_t count, flags;
	struct rr_prop p;

	assert_int_equal(rr_wire_get_props_begin(&c, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(rr_wire_get_prop(&c, &p), 0);
	assert_int_equal(p.value, 8192);
	assert_int_equal(rr_wire_get_prop(&c, &p), 0);
	assert_true(p.id == RDMA2_PROPID_HTFAM);
	assert_int_equal(rr_wire_htfam_get_value(p.data, p.len, &flags), 0);
	assert_int_equal(flags, RDMA2_HTFAM_RPC);
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
}

/* LS-s12-03 */
static void positions_of_results_are_ignored_and_sent_as_zero(void **state)
{
	struct octets o = OCTETS(2, 17, 0, 4, 1, 1, 2, 0, 3);
	struct rr_cursor c = rr_cursor_over(o.at, o.len);
	uint8_t at[64];
	struct rr_writer w = rr_writer_over(at, sizeof(at));
	struct body b;

	assert_int_equal(get_reply_last(&c, &b), 0);
	assert_chunk(&b.l.writes[0], 0, 0, 0, 0);
	assert_chunk(&b.l.writes[1], 0, 0, 1, 2);
	put_reply_last(&w, &b);
	assert_int_equal(rr_writer_used(&w), o.len);
	assert_int_equal(rr_load_u32(at + 4), 0);
	assert_int_equal(rr_load_u32(at + 12), 0);
	free(o.at);
}

/* -- refusals ------------------------------------------------------------------ */

/* LS-s12-02 */
static void argument_positions_increase_strictly_in_fours(void **state)
{
	struct body b;

	assert_refused(&call_last, OCTETS(0, 1, 0, 1, 1, 1, 1, 1, 0, 0));
	assert_refused(&call_last, OCTETS(0, 1, 41, 1, 1, 1, 1, 1, 0, 0));
	assert_refused(&call_last, OCTETS(0, 1, 42, 1, 1, 1, 1, 1, 0, 0));
	assert_refused(&call_last,
	               OCTETS(0, 2, 40, 1, 1, 1, 1, 1, /* one entry a chunk */
	                      40, 1, 1, 1, 1, 1, 0, 0));
	assert_refused(&call_last,
	               OCTETS(0, 2, 40, 1, 1, 1, 1, 1, 36, 1, 1, 1, 1, 1, 0, 0));
	/* also where the rest would decode without that chunk */
	assert_refused(&call_last, OCTETS(0, 1, 0, 0, 0, 0, 0, 0));
	assert_refused(&call_last, OCTETS(0, 1, 41, 0, 0, 0, 0, 0));
	assert_refused(&call_last, OCTETS(0, 1, 42, 0, 0, 0, 0, 0));
	assert_refused(&call_external, OCTETS(0, 1, 1, 1, 100, 0, 0, /* body */
	                                      1, 0, 1, 1, 1, 1, 1, 0, 0));
	assert_decodes(&call_last,
	               OCTETS(0, 2, 40, 1, 1, 1, 1, 1, 44, 1, 1, 1, 1, 1, 0, 0), 0, &b);
	assert_int_equal(b.l.n_reads, 2);
}

static void argument_chunks_have_segments(void **state)
{
	assert_refused(&call_last, OCTETS(0, 1, 40, 0, 0, 0, 0, 0, 0, 0));
}

static void body_chunks_have_segments(void **state)
{
	assert_refused(&call_external, OCTETS(0, 1, 0, 0, 0, 0, 0, 0, 0, 0));
	assert_refused(&reply_external, OCTETS(0, 1, 0, 0, 0, 0, 0, 0));
	assert_refused(&reply_external, OCTETS(0, 2, 0, 0, 0, 0, 0, 0));
}

static void a_body_is_pulled_or_in_a_reply_pushed(void **state)
{
	assert_refused(&call_external,
	               OCTETS(0, 2, 1, 0x1234, 8192, 0x7f00, 0x2000, 0, 0, 0));
	assert_refused(&call_external,
	               OCTETS(0, 0, 1, 0x1234, 8192, 0x7f00, 0x2000, 0, 0, 0));
	assert_refused(&reply_external, OCTETS(0, 0, 1, 0x1234, 8192, 0, 0, 0));
	assert_refused(&reply_external, OCTETS(0, 3, 1, 0x1234, 8192, 0, 0, 0));
	/* also where the rest would decode without a body */
	assert_refused(&call_external, OCTETS(0, 2, 0, 0, 0));
	assert_refused(&call_external, OCTETS(0, 0, 0, 0, 0));
	assert_refused(&reply_external, OCTETS(0, 3, 0));
	assert_refused(&reply_external, OCTETS(0, 0, 0));
}

/* LS-s08-04: nothing is taken or skipped on the word of a count */
static void counts_beyond_the_message_are_refused(void **state)
{
	static const uint32_t counts[] = {2, 100, 0x10000000, 0x20000001, 0xffffffff};

	for (size_t i = 0; i < RR_ARRAY_SIZE(counts); i++) {
		uint32_t n = counts[i];

		assert_refused(&call_last, OCTETS(0, n, 40, 1, 1, 1, 1, 1, 0, 0));
		assert_refused(&call_last, OCTETS(0, 1, 40, n, 1, 1, 1, 1, 0, 0));
		assert_refused(&call_last, OCTETS(0, 0, n, 0, 0));
		assert_refused(&call_last, OCTETS(0, 0, 1, 0, n, 0, 0, 0));
		assert_refused(&call_last, OCTETS(0, 0, 0, n, 0, 0, 0, 0));
		assert_refused(&call_external, OCTETS(0, 1, n, 1, 8, 0, 0, 0, 0, 0));
		assert_refused(&reply_external, OCTETS(0, 2, n, 1, 8, 0, 0, 0));
		assert_refused(&reply_last, OCTETS(n, 0, 0));
	}
}

/* -- more than the arrays hold ---------------------------------------------------- */

/* @n argument chunks of one segment, or @n segments in one; then @writes empty result
 * chunks, and a reply of one segment */
static struct octets long_call(uint32_t n, bool together, uint32_t writes)
{
	static uint32_t words[2048];
	size_t k = 0;

	words[k++] = 0x21;
	words[k++] = together ? 1 : n;
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || !together) {
			words[k++] = 40 + 4 * i;
			words[k++] = together ? n : 1;
		}
		words[k++] = i;
		words[k++] = 4;
		words[k++] = 0;
		words[k++] = 0;
	}
	words[k++] = writes;
	for (uint32_t i = 0; i < 2 * writes; i++)
		words[k++] = 0;
	words[k++] = 1;
	words[k++] = 0x41;
	words[k++] = 4096;
	words[k++] = 0;
	words[k++] = 0;
	return octets_of_words(words, k);
}

static void get_long(struct octets o, struct body *b)
{
	struct rr_cursor c = rr_cursor_over(o.at, o.len);

	assert_int_equal(get_call_last(&c, b), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
}

static void as_many_as_the_arrays_hold_are_stored(void **state)
{
	struct body b;

	assert_decodes(&call_last, long_call(63, false, 16), 0, &b);
	assert_false(b.l.over);
	assert_int_equal(b.l.n_segs, 64);
	assert_int_equal(b.l.n_reads, 63);
	assert_int_equal(b.l.n_writes, 16);
	assert_chunk(&b.l.reply, 0, 63, 1, 4096);
}

static void more_than_the_arrays_hold_is_counted(void **state)
{
	struct body b;

	get_long(long_call(64, false, 0), &b); /* the reply has no room */
	assert_true(b.l.over);
	assert_int_equal(b.l.total_segs, 65);
	assert_int_equal(b.l.n_segs, 64);
	assert_true(b.l.has_reply);
	assert_int_equal(b.l.reply.count, 0);
	assert_not_encoded(RDMA2_X_CALL_LAST, &b.l);

	get_long(long_call(80, false, 0), &b);
	assert_true(b.l.over);
	assert_int_equal(b.l.total_reads, 80);
	assert_int_equal(b.l.n_reads, 64);
	assert_int_equal(b.l.total_segs, 81);

	get_long(long_call(80, true, 0), &b);
	assert_true(b.l.over);
	assert_int_equal(b.l.total_reads, 1);
	assert_int_equal(b.l.total_segs, 81);

	get_long(long_call(1, false, 17), &b);
	assert_true(b.l.over);
	assert_int_equal(b.l.total_writes, 17);
	assert_int_equal(b.l.n_writes, 16);
}

/* -- lists that a type cannot hold ------------------------------------------------ */

static const struct rr_segment segment = {1, 100, 0};

/* Read chunks at @first and @second (0xffff: none), Write chunks, a Reply chunk. */
static struct rr_lists build(uint32_t first, uint32_t second, bool write, bool reply)
{
	struct rr_lists l;

	rr_lists_init(&l);
	if (first != 0xffff)
		assert_int_equal(rr_lists_add_read(&l, first, &segment), 0);
	if (second != 0xffff)
		assert_int_equal(rr_lists_add_read(&l, second, &segment), 0);
	if (write)
		assert_int_equal(rr_lists_begin_write(&l), 0);
	if (reply) {
		assert_int_equal(rr_lists_begin_reply(&l), 0);
		assert_int_equal(rr_lists_add_segment(&l, &segment), 0);
	}
	return l;
}

static void lists_that_a_type_cannot_hold_are_not_encoded(void **state)
{
	enum { NONE = 0xffff };
	static const struct {
		uint32_t htype, first, second;
		bool write, reply;
	} bad[] = {
	        {RDMA2_X_CALL_LAST, 0, NONE, false, false},
	        {RDMA2_X_CALL_LAST, 44, 40, false, false},
	        {RDMA2_X_CALL_EXTERNAL, NONE, NONE, false, false},
	        {RDMA2_X_CALL_EXTERNAL, 40, NONE, false, true},
	        {RDMA2_X_REPLY_EXTERNAL, NONE, NONE, false, false},
	        {RDMA2_X_REPLY_EXTERNAL, 0, NONE, false, true},
	        {RDMA2_X_REPLY_EXTERNAL, 0, 40, false, false},
	        {RDMA2_X_REPLY_LAST, 40, NONE, false, false},
	        {RDMA2_X_REPLY_LAST, 0, NONE, false, false},
	        {RDMA2_X_REPLY_LAST, NONE, NONE, false, true},
	        {RDMA2_X_CALL_MIDDLE, NONE, NONE, true, false},
	        {RDMA2_X_GRANT, NONE, NONE, false, true},
	};

	for (size_t i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		struct rr_lists l =
		        build(bad[i].first, bad[i].second, bad[i].write, bad[i].reply);

		assert_not_encoded(bad[i].htype, &l);
	}
}

/* -- what the families share -------------------------------------------------------- */

/* LS-s04-01 LS-s04-03: a Call has the same internal form in both families */
static void both_families_decode_to_the_same_lists(void **state)
{
	struct rr_lists sent = build(40, 44, true, true), base, x;
	uint8_t at[512];
	struct rr_writer w = rr_writer_over(at, sizeof(at));
	struct rr_cursor c;
	uint32_t remaining = 1;

	memset(&base, 0, sizeof(base));
	memset(&x, 0, sizeof(x));
	sent.inv_handle = 1;
	rr_wire_put_lists(&w, &sent);
	c = rr_cursor_over(at, rr_writer_used(&w));
	assert_int_equal(rr_wire_get_lists(&c, &base), 0);

	w = rr_writer_over(at, sizeof(at));
	rr_wire_htfam_put_lists(&w, RDMA2_X_CALL_LAST, &sent, 0);
	c = rr_cursor_over(at, rr_writer_used(&w));
	assert_int_equal(rr_wire_htfam_get_lists(&c, RDMA2_X_CALL_LAST, &x, &remaining),
	                 0);
	assert_int_equal(remaining, 0);
	assert_memory_equal(&base, &x, sizeof(x));
}

/* NS-xcharext-01 */
static void property_codes_lie_in_the_range_for_experiments(void **state)
{
	static const uint32_t codes[] = {RDMA2_PROPID_HTFAM,    RDMA2_PROPID_REQREMINV,
	                                 RDMA2_PROPID_RPRC,     RDMA2_PROPID_RTRSUPP,
	                                 RDMA2_PROPID_RBSTRUCT, RDMA2_PROPID_REQRXLIM,
	                                 RDMA2_PROPID_RESPSXLIM};

	for (size_t i = 0; i < RR_ARRAY_SIZE(codes); i++)
		assert_true(codes[i] >= 0xFFFFFF00);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(code_points_are_those_of_the_text),
	        cmocka_unit_test(the_property_is_a_word_of_flags),
	        cmocka_unit_test(call_last_without_chunks_is_four_words),
	        cmocka_unit_test(call_last_has_arguments_results_and_a_reply),
	        cmocka_unit_test(call_external_has_a_body_chunk),
	        cmocka_unit_test(middle_types_have_only_what_remains),
	        cmocka_unit_test(reply_last_has_results_alone),
	        cmocka_unit_test(reply_external_has_a_body_that_was_pushed),
	        cmocka_unit_test(a_body_that_was_pushed_may_stand_alone),
	        cmocka_unit_test(reply_external_has_a_body_to_pull),
	        cmocka_unit_test(grant_has_no_body),
	        cmocka_unit_test(lengths_are_summed_in_64_bits),
	        cmocka_unit_test(connprop_types_have_the_body_of_the_base_type),
	        cmocka_unit_test(positions_of_results_are_ignored_and_sent_as_zero),
	        cmocka_unit_test(argument_positions_increase_strictly_in_fours),
	        cmocka_unit_test(argument_chunks_have_segments),
	        cmocka_unit_test(body_chunks_have_segments),
	        cmocka_unit_test(a_body_is_pulled_or_in_a_reply_pushed),
	        cmocka_unit_test(counts_beyond_the_message_are_refused),
	        cmocka_unit_test(as_many_as_the_arrays_hold_are_stored),
	        cmocka_unit_test(more_than_the_arrays_hold_is_counted),
	        cmocka_unit_test(lists_that_a_type_cannot_hold_are_not_encoded),
	        cmocka_unit_test(both_families_decode_to_the_same_lists),
	        cmocka_unit_test(property_codes_lie_in_the_range_for_experiments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
