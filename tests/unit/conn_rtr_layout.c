/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender's layout of a group: the example and the numbers of [ext §5.4], and what
 * cannot be sent this way.
 * NS-s12-03, NS-s12-05, NS-rtrext-01, NS-rtrext-09.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conn/rtr/rtr_layout.h"

enum {
	REQ_ONE = 52 - 4,  /* body of a request with one item, without its numbers */
	RESP_ONE = 40 - 4, /* body of a response with one item, without its numbers */
	CONT_HEADER = 32,
};

/* 1 KiB, then @n targetable segments of @bytes octets. */
static struct rr_rbstruct structure(uint32_t n, uint32_t bytes)
{
	return (struct rr_rbstruct){
	        .length = 1024 + n * bytes,
	        .n_groups = 2,
	        .total_groups = 2,
	        .group = {{1, 1024, 4, 0}, {n, bytes, 4096, XMRSFLAG_DDP}},
	};
}

static struct rr_rtr_load load_of(const struct rr_rbstruct *s, uint32_t body,
                                  uint64_t payload, uint32_t item)
{
	return (struct rr_rtr_load){
	        .buffer = s,
	        .limit = s->length,
	        .header = RR_WIRE_PREFIX + body,
	        .payload = payload,
	        .n_items = 1,
	        .item = {item},
	};
}

static struct rr_rtr_part next_part(struct rr_rtr_walk *w)
{
	struct rr_rtr_part p;

	assert_int_equal(rr_rtr_walk_next(w, &p), 1);
	return p;
}

static struct rr_rtr_fill next_fill(struct rr_rtr_walk *w)
{
	struct rr_rtr_fill f;

	assert_true(rr_rtr_walk_fill(w, &f));
	return f;
}

static void expect_end(struct rr_rtr_walk *w)
{
	struct rr_rtr_part p;
	struct rr_rtr_fill f;

	assert_false(rr_rtr_walk_fill(w, &f));
	assert_int_equal(rr_rtr_walk_next(w, &p), 0);
}

static void a_write_of_8k_fills_one_send(void **state)
{
	const struct rr_rbstruct s = structure(1, 8192);
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 180, 8192);
	struct rr_rtr_plan p;
	struct rr_rtr_walk w;
	struct rr_rtr_part part;
	struct rr_rtr_fill f;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	assert_int_equal(p.count, 1);
	assert_int_equal(p.header, 72);
	assert_int_equal(p.n_tbsns, 1);
	assert_int_equal(p.tbsns[0], 1);
	assert_int_equal(p.tbsn[0], 0);
	assert_int_equal(p.pslen, 180);
	rr_rtr_walk_begin(&w, &l, p.header);
	part = next_part(&w);
	assert_int_equal(part.header, 72);
	assert_int_equal(part.payload, 180);
	f = next_fill(&w);
	assert_int_equal(f.pad, 772);
	assert_int_equal(f.length, 8192);
	assert_int_equal(f.tbsn, 0);
	assert_int_equal(part.header + part.payload + f.pad + f.length, 9216);
	expect_end(&w);
}

static void a_write_of_64k_has_eight_transmissions(void **state)
{
	const struct rr_rbstruct s = structure(1, 8192);
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 180, 65536);
	struct rr_rtr_plan p;
	struct rr_rtr_walk w;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 7, &p), -EMSGSIZE);
	assert_int_equal(rr_rtr_plan(&l, 8, &p), 0);
	assert_int_equal(p.count, 8);
	assert_int_equal(p.header, 100);
	assert_int_equal(p.tbsns[0], 8);
	rr_rtr_walk_begin(&w, &l, p.header);
	for (uint32_t k = 0; k < 8; k++) {
		struct rr_rtr_part part = next_part(&w);
		struct rr_rtr_fill f = next_fill(&w);

		assert_int_equal(p.tbsn[k], k);
		assert_int_equal(f.tbsn, k);
		assert_int_equal(part.number, k);
		assert_int_equal(part.header, k ? CONT_HEADER : 100);
		assert_int_equal(part.payload, k ? 0 : 180);
		assert_int_equal(f.pad, k ? 992 : 744);
		assert_int_equal(f.length, 8192);
	}
	expect_end(&w);
}

static void a_read_of_8k_fills_one_send(void **state)
{
	const struct rr_rbstruct s = structure(1, 8192);
	struct rr_rtr_load l = load_of(&s, RESP_ONE, 132, 8192);
	struct rr_rtr_plan p;
	struct rr_rtr_walk w;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	assert_int_equal(p.header, 60);
	rr_rtr_walk_begin(&w, &l, p.header);
	assert_int_equal(next_part(&w).payload, 132);
	assert_int_equal(next_fill(&w).pad, 832);
	expect_end(&w);
}

static void an_item_of_8k_needs_two_buffers_of_4k(void **state)
{
	const struct rr_rbstruct s = structure(1, 4096);
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 180, 8192);
	struct rr_rtr_plan p;
	struct rr_rtr_walk w;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 2, &p), 0);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.n_tbsns, 2);
	assert_int_equal(p.tbsn[0], 0);
	assert_int_equal(p.tbsn[1], 1);
	rr_rtr_walk_begin(&w, &l, p.header);
	for (unsigned k = 0; k < 2; k++) {
		struct rr_rtr_part part = next_part(&w);
		struct rr_rtr_fill f = next_fill(&w);

		assert_int_equal(part.header + part.payload + f.pad + f.length, 5120);
	}
	expect_end(&w);
}

static void a_long_payload_flows_around_the_items(void **state)
{
	const struct rr_rbstruct s = structure(2, 4096);
	struct rr_rtr_load l = load_of(&s, 84 - 16, 3000, 8192);
	static const uint32_t payload[] = {920, 992, 1088};
	struct rr_rtr_plan p;
	struct rr_rtr_walk w;

	(void)state;
	l.n_items = 2;
	l.item[1] = 8192;
	assert_int_equal(rr_rtr_plan(&l, 3, &p), 0);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.header, 104);
	assert_int_equal(p.pslen, 920);
	rr_rtr_walk_begin(&w, &l, p.header);
	for (unsigned k = 0; k < 3; k++) {
		assert_int_equal(next_part(&w).payload, payload[k]);
		if (k == 2)
			break;
		assert_int_equal(next_fill(&w).item, k);
		assert_int_equal(next_fill(&w).pad, 0);
	}
	expect_end(&w);
}

/* A buffer whose first octets are targetable: header and payload cover segment 0. */
static void segments_under_the_payload_keep_their_numbers(void **state)
{
	const struct rr_rbstruct s = {
	        .length = 4096,
	        .n_groups = 1,
	        .total_groups = 1,
	        .group = {{4, 1024, 1024, XMRSFLAG_DDP}},
	};
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 500, 1000);
	struct rr_rtr_plan p;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	assert_int_equal(p.tbsn[0], 1);
	assert_int_equal(p.pslen, 500);
}

static void items_begin_new_segments_and_empty_ones_have_none(void **state)
{
	const struct rr_rbstruct s = structure(4, 4096);
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 100, 4);
	struct rr_rtr_plan p;

	(void)state;
	l.n_items = 4;
	l.item[1] = 0;
	l.item[2] = 4100;
	l.item[3] = 0;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	assert_int_equal(p.n_tbsns, 3);
	assert_int_equal(p.tbsns[0], 1);
	assert_int_equal(p.tbsns[1], 0);
	assert_int_equal(p.tbsns[2], 2);
	assert_int_equal(p.tbsn[0], 0);
	assert_int_equal(p.tbsn[1], 1);
	assert_int_equal(p.tbsn[2], 2);
}

static void a_payload_alone_is_cut_at_the_limit(void **state)
{
	struct rr_rbstruct s = rr_wire_rtr_default_rbstruct(4096);
	struct rr_rtr_load l = load_of(&s, 36, 10000, 0);
	struct rr_rtr_plan p;
	struct rr_rtr_walk w;

	(void)state;
	l.n_items = 0;
	l.limit = 1026; /* not a multiple of four */
	assert_int_equal(rr_rtr_plan(&l, 100, &p), 0);
	assert_int_equal(p.pslen, 1024 - 56);
	assert_int_equal(p.count, 1 + (10000 - 968 + 991) / 992);
	rr_rtr_walk_begin(&w, &l, p.header);
	for (uint32_t k = 0, sum = 0; k < p.count; k++) {
		struct rr_rtr_part part = next_part(&w);

		assert_true(part.header + part.payload <= 1024);
		sum += part.payload;
		if (k + 1 == p.count)
			assert_int_equal(sum, 10000);
	}
	expect_end(&w);
}

static void an_empty_message_is_one_transmission(void **state)
{
	struct rr_rbstruct s = rr_wire_rtr_default_rbstruct(4096);
	struct rr_rtr_load l = load_of(&s, 36, 0, 0);
	struct rr_rtr_plan p;

	(void)state;
	l.n_items = 0;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	assert_int_equal(p.count, 1);
	assert_int_equal(p.pslen, 0);
}

/* NS-rtrext-23: a segment that does not end within the limit is of no use. */
static void what_cannot_be_sent_is_refused(void **state)
{
	struct rr_rbstruct s = structure(1, 8192);
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 180, 8192);
	struct rr_rbstruct plain = rr_wire_rtr_default_rbstruct(4096);
	struct rr_rtr_plan p;

	(void)state;
	l.limit = 9212;
	assert_int_equal(rr_rtr_plan(&l, 9, &p), -EMSGSIZE);
	l.limit = 5120;
	assert_int_equal(rr_rtr_plan(&l, 9, &p), -EMSGSIZE);
	l.buffer = &plain; /* nothing is targetable */
	assert_int_equal(rr_rtr_plan(&l, 9, &p), -EMSGSIZE);
	l = load_of(&plain, 4096, 180, 0); /* no room for the header */
	assert_int_equal(rr_rtr_plan(&l, 9, &p), -EMSGSIZE);
	s = structure(255, 4); /* more segment numbers than a header takes */
	s.length = 1024 + 255 * 4;
	l = load_of(&s, REQ_ONE, 180, 8192);
	assert_int_equal(rr_rtr_plan(&l, 9, &p), -EMSGSIZE);
}

/* With targets of different lengths the first guess can be wrong: too high, too low. */
static void numbers_are_counted_until_they_are_stable(void **state)
{
	struct rr_rbstruct s = {
	        .length = 1024 + 4096 + 8192,
	        .n_groups = 3,
	        .total_groups = 3,
	        .group = {{1, 1024, 4, 0},
	                  {1, 4096, 4, XMRSFLAG_DDP},
	                  {1, 8192, 4, XMRSFLAG_DDP}},
	};
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 180, 12288);
	struct rr_rtr_plan p;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	assert_int_equal(p.n_tbsns, 2);
	assert_int_equal(p.header, 20 + REQ_ONE + 8);
}

/* The first header with one number ends where segment 0 begins, with two beyond it:
 * there is no layout whose header fits. */
static void numbers_that_never_settle_are_refused(void **state)
{
	struct rr_rbstruct s = {
	        .length = 72 + 64 + 8 + 4,
	        .n_groups = 4,
	        .total_groups = 4,
	        .group = {{1, 72, 4, 0},
	                  {1, 64, 4, XMRSFLAG_DDP},
	                  {1, 8, 4, XMRSFLAG_DDP},
	                  {1, 4, 4, 0}},
	};
	struct rr_rtr_load l = load_of(&s, REQ_ONE, 0, 64);
	struct rr_rtr_plan p;

	(void)state;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), 0);
	s.group[1].length = 8; /* 64 octets in targets of 8: one buffer holds two */
	s.group[2].length = 64;
	l.item[0] = 24;
	assert_int_equal(rr_rtr_plan(&l, 1, &p), -EMSGSIZE);
}

static void targets_are_found_without_counting_them(void **state)
{
	struct rr_rbstruct s = {
	        .length = 0xfffffffc,
	        .n_groups = 3,
	        .total_groups = 3,
	        .group = {{0x20000000, 4, 4, XMRSFLAG_DDP},
	                  {1, 4, 4, 0},
	                  {0x1ffffffe, 4, 4, XMRSFLAG_DDP}},
	};
	struct rr_rtr_target t;

	(void)state;
	assert_int_equal(rr_rtr_targets(&s), 0x3ffffffe);
	assert_true(rr_rtr_target_from(&s, 1, &t));
	assert_int_equal(t.index, 1);
	assert_int_equal(t.start, 4);
	assert_true(rr_rtr_target_from(&s, 0x7ffffffd, &t));
	assert_int_equal(t.index, 0x20000000);
	assert_int_equal(t.start, 0x80000004);
	assert_true(rr_rtr_target(&s, 0x3ffffffd, &t));
	assert_int_equal(t.start, 0xfffffff8);
	assert_false(rr_rtr_target(&s, 0x3ffffffe, &t));
	assert_false(rr_rtr_target_from(&s, 0xfffffffc, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_write_of_8k_fills_one_send),
	        cmocka_unit_test(a_write_of_64k_has_eight_transmissions),
	        cmocka_unit_test(a_read_of_8k_fills_one_send),
	        cmocka_unit_test(an_item_of_8k_needs_two_buffers_of_4k),
	        cmocka_unit_test(a_long_payload_flows_around_the_items),
	        cmocka_unit_test(segments_under_the_payload_keep_their_numbers),
	        cmocka_unit_test(items_begin_new_segments_and_empty_ones_have_none),
	        cmocka_unit_test(a_payload_alone_is_cut_at_the_limit),
	        cmocka_unit_test(an_empty_message_is_one_transmission),
	        cmocka_unit_test(what_cannot_be_sent_is_refused),
	        cmocka_unit_test(numbers_are_counted_until_they_are_stable),
	        cmocka_unit_test(numbers_that_never_settle_are_refused),
	        cmocka_unit_test(targets_are_found_without_counting_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
