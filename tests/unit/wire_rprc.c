/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder-provided Read chunks on the wire: octets written down by hand from the
 * specification of the extensions, and the values that break its rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_codec.h"
#include "wire/rprc/rprc_wire.h"

enum {
	REQUESTER = RDMA2_RPRC_F_REQUESTER,
	RESPONDER = RDMA2_RPRC_F_RESPONDER,
	PIGGYBACK = RDMA2_RPRC_F_PIGGYBACK,
};

/* -- the property ------------------------------------------------------------ */

static int get_words(uint32_t flags, uint32_t lifetime, uint32_t max,
                     struct rr_wire_rprc *ret)
{
	struct octets o = OCTETS(flags, lifetime, max);
	int err = rr_wire_rprc_get_value(o.at, (uint32_t)o.len, ret);

	free(o.at);
	return err;
}

static void assert_value(const struct rr_wire_rprc *v, uint32_t flags,
                         uint32_t lifetime, uint32_t max)
{
	assert_int_equal(v->flags, flags);
	assert_int_equal(v->lifetime_ms, lifetime);
	assert_int_equal(v->max_reply, max);
}

/* RR-P-01 */
static void the_property_has_three_words(void **state)
{
	struct octets o = OCTETS(0x00000003, 0x00002710, 0x00100000);
	struct rr_wire_rprc v;
	uint8_t copy[RR_WIRE_RPRC_VALUE];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	assert_true(RDMA2_PROPID_RPRC == 0xFFFFFF21);
	assert_int_equal(o.len, RR_WIRE_RPRC_VALUE);
	assert_int_equal(rr_wire_rprc_get_value(o.at, 12, &v), 0);
	assert_value(&v, REQUESTER | RESPONDER, 10000, 1 << 20);
	rr_wire_rprc_put_value(&w, &v);
	assert_false(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 12);
	assert_memory_equal(copy, o.at, 12);
	free(o.at);
}

static void no_octets_stand_for_three_zeros(void **state)
{
	struct rr_wire_rprc v = {1, 2, 3};

	assert_int_equal(rr_wire_rprc_get_value(NULL, 0, &v), 0);
	assert_value(&v, 0, 0, 0);
}

/* RR-P-02 NS-xcharext-02 */
static void values_that_break_a_rule_are_refused(void **state)
{
	uint8_t at[24] = {0};
	struct rr_wire_rprc v = {7, 7, 7};

	for (uint32_t len = 1; len <= sizeof(at); len++)
		if (len != 12)
			assert_int_equal(rr_wire_rprc_get_value(at, len, &v), -EINVAL);
	assert_int_equal(get_words(PIGGYBACK, 0, 0, &v), -EINVAL);
	assert_int_equal(get_words(PIGGYBACK | REQUESTER, 0, 0, &v), -EINVAL);
	assert_int_equal(get_words(RESPONDER, 1, 0, &v), -EINVAL);
	assert_int_equal(get_words(RESPONDER, 999, 0, &v), -EINVAL);
	assert_value(&v, 7, 7, 7);
	assert_int_equal(get_words(PIGGYBACK | RESPONDER, 0, 0, &v), 0);
	assert_value(&v, PIGGYBACK | RESPONDER, 0, 0);
	assert_int_equal(get_words(RESPONDER, 1000, 0, &v), 0);
	assert_value(&v, RESPONDER, 1000, 0);
}

static void unknown_flags_and_words_without_a_flag_are_ignored(void **state)
{
	struct rr_wire_rprc v;

	assert_int_equal(get_words(0xfffffff8, 0, 0, &v), 0);
	assert_value(&v, 0, 0, 0);
	assert_int_equal(get_words(REQUESTER, 999, 4096, &v), 0);
	assert_value(&v, REQUESTER, 0, 4096);
	assert_int_equal(get_words(RESPONDER, 5000, 4096, &v), 0);
	assert_value(&v, RESPONDER, 5000, 0);
}

static void words_without_a_flag_are_sent_as_zero(void **state)
{
	static const struct rr_wire_rprc sent[] = {
	        {0, 5000, 4096}, {REQUESTER, 5000, 4096}, {RESPONDER | 8, 5000, 4096}};
	static const struct rr_wire_rprc words[] = {
	        {0, 0, 0}, {REQUESTER, 0, 4096}, {RESPONDER, 5000, 0}};

	for (size_t i = 0; i < RR_ARRAY_SIZE(sent); i++) {
		uint8_t at[12];
		struct rr_writer w = rr_writer_over(at, sizeof(at));

		rr_wire_rprc_put_value(&w, &sent[i]);
		assert_false(rr_writer_bad(&w));
		assert_int_equal(rr_load_u32(at), words[i].flags);
		assert_int_equal(rr_load_u32(at + 4), words[i].lifetime_ms);
		assert_int_equal(rr_load_u32(at + 8), words[i].max_reply);
	}
}

/* -- messages ---------------------------------------------------------------- */

/* RR-4.1.3-01 */
static void done_is_a_prefix_and_nothing_more(void **state)
{
	struct octets o = OCTETS(0x11223344, 2, 0x00400020, 3, 0);
	const struct rr_prefix p = {.xid = 0x11223344,
	                            .vers = RPCRDMA_VERSION_TWO,
	                            .credit = 0x00400020,
	                            .htype = RDMA2_DONE};
	uint8_t copy[RR_WIRE_PREFIX];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	rr_wire_put_prefix(&w, &p);
	assert_int_equal(rr_writer_used(&w), o.len);
	assert_memory_equal(copy, o.at, o.len);
	free(o.at);
}

/* The lists of such a Reply are those of any RDMA2_NOMSG */
static void a_reply_with_a_read_chunk_has_60_octets(void **state)
{
	struct octets o = OCTETS(0x7a10, 1, 0, 0x7a10, 70000, 0x7f00, 0x1000, 0, 0, 0);
	struct rr_cursor c = rr_cursor_over(o.at, o.len);
	struct rr_lists l;
	uint8_t copy[64];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	assert_int_equal(rr_wire_get_lists(&c, &l), 0);
	assert_int_equal(l.inv_handle, 0x7a10);
	assert_int_equal(l.n_reads, 1);
	assert_int_equal(l.reads[0].position, 0);
	assert_true(l.reads[0].length == 70000);
	assert_int_equal(l.seg[0].handle, 0x7a10);
	assert_true(l.seg[0].offset == 0x7f0000001000);
	assert_int_equal(l.n_writes, 0);
	assert_false(l.has_reply);
	assert_int_equal(RR_WIRE_PREFIX + rr_wire_lists_size(&l), 60);
	rr_wire_put_lists(&w, &l);
	assert_int_equal(rr_writer_used(&w), o.len);
	assert_memory_equal(copy, o.at, o.len);
	free(o.at);
}

struct msg_done {
	struct rr_wire_done_list done;
	struct rr_lists lists;
};

static int get_msg_done(struct rr_cursor *c, void *v)
{
	struct msg_done *m = v;

	return rr_wire_rprc_get_msg_done(c, &m->done, &m->lists);
}

static void put_msg_done(struct rr_writer *w, const void *v)
{
	const struct msg_done *m = v;

	rr_wire_rprc_put_msg_done(w, &m->done, &m->lists);
}

static size_t size_msg_done(const void *v)
{
	const struct msg_done *m = v;

	return rr_wire_rprc_msg_done_size(&m->done, &m->lists);
}

static const struct codec msg_done = {get_msg_done, put_msg_done, size_msg_done,
                                      sizeof(struct msg_done)};

/* RI-5.2-04 */
static void msg_done_has_xids_before_its_chunk_lists(void **state)
{
	struct msg_done m;

	assert_true(RDMA2_MSG_DONE == 0xFFFFFF22);
	assert_decodes(&msg_done,
	               OCTETS(2, 0x11223344, 0x11223345, 0, 0, 0, 0, 0x11223346), 4,
	               &m);
	assert_int_equal(m.done.count, 2);
	assert_int_equal(m.done.xid[0], 0x11223344);
	assert_int_equal(m.done.xid[1], 0x11223345);
	assert_int_equal(m.lists.inv_handle, 0);
	assert_true(rr_lists_empty(&m.lists));

	assert_decodes(&msg_done, OCTETS(0, 0x21, 1, 180, 0x21, 8192, 0, 4096, 0, 0, 0),
	               0, &m);
	assert_int_equal(m.done.count, 0);
	assert_int_equal(m.lists.inv_handle, 0x21);
	assert_int_equal(m.lists.n_reads, 1);
	assert_int_equal(m.lists.reads[0].position, 180);
}

static void msg_done_has_at_most_16_xids(void **state)
{
	uint32_t words[1 + 17 + 4] = {16};
	struct msg_done m;

	for (uint32_t i = 1; i <= 16; i++)
		words[i] = 0x100 + i;
	assert_decodes(&msg_done, octets_of_words(words, 1 + 16 + 4), 0, &m);
	assert_int_equal(m.done.count, 16);
	assert_int_equal(m.done.xid[15], 0x110);

	words[0] = 17;
	assert_refused(&msg_done, octets_of_words(words, 1 + 17 + 4));
	words[0] = 0xffffffff;
	assert_refused(&msg_done, octets_of_words(words, 1 + 17 + 4));

	m.done.count = 17; /* nor is such a list encoded */
	{
		uint8_t at[256];
		struct rr_writer w = rr_writer_over(at, sizeof(at));

		rr_wire_rprc_put_msg_done(&w, &m.done, &m.lists);
		assert_true(rr_writer_bad(&w));
		assert_int_equal(rr_writer_used(&w), 0);
	}
}

static void msg_done_with_malformed_lists_is_refused(void **state)
{
	assert_refused(&msg_done, OCTETS(1, 0x11223344, 0, 2, 0, 0));
	assert_refused(&msg_done, OCTETS(1, 0x11223344, 0, 0, 1, 2, 1, 1, 1, 1, 0, 0));
}

static void lists_that_are_too_long_are_counted_and_not_encoded(void **state)
{
	uint32_t words[2 + 65 * 6 + 3] = {0};
	struct octets o;
	struct rr_cursor c;
	struct msg_done m;
	uint8_t at[2048];
	struct rr_writer w = rr_writer_over(at, sizeof(at));

	for (size_t i = 0; i < 65; i++)
		words[2 + i * 6] = 1;
	o = octets_of_words(words, RR_ARRAY_SIZE(words));
	c = rr_cursor_over(o.at, o.len);
	assert_int_equal(get_msg_done(&c, &m), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_true(m.lists.over);
	assert_int_equal(m.lists.total_segs, 65);
	put_msg_done(&w, &m);
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
	free(o.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_property_has_three_words),
	        cmocka_unit_test(no_octets_stand_for_three_zeros),
	        cmocka_unit_test(values_that_break_a_rule_are_refused),
	        cmocka_unit_test(unknown_flags_and_words_without_a_flag_are_ignored),
	        cmocka_unit_test(words_without_a_flag_are_sent_as_zero),
	        cmocka_unit_test(done_is_a_prefix_and_nothing_more),
	        cmocka_unit_test(a_reply_with_a_read_chunk_has_60_octets),
	        cmocka_unit_test(msg_done_has_xids_before_its_chunk_lists),
	        cmocka_unit_test(msg_done_has_at_most_16_xids),
	        cmocka_unit_test(msg_done_with_malformed_lists_is_refused),
	        cmocka_unit_test(lists_that_are_too_long_are_counted_and_not_encoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
