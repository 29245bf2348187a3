/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to decode chunk lists, counted and not timed: the decoders are compiled
 * here with instrumented loads, so each word that they look at is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"

enum { MAX_WORDS = 4096 };

static uint8_t message[4 * MAX_WORDS];
static unsigned visits[MAX_WORDS], loads;

static uint32_t counted_load(const void *p)
{
	visits[(size_t)((const uint8_t *)p - message) / 4]++;
	loads++;
	return rr_load_u32(p);
}

static uint32_t counted_get(struct rr_cursor *c)
{
	const void *p = rr_get_bytes(c, 4);

	return p ? counted_load(p) : 0;
}

static uint64_t counted_load64(const void *p)
{
	return (uint64_t)counted_load(p) << 32 | counted_load((const uint8_t *)p + 4);
}

#define rr_get_u32(c)  counted_get(c)
#define rr_load_u32(p) counted_load(p)
#define rr_load_u64(p) counted_load64(p)
#include "wire/htfam/htfam_wire.c"
#include "wire/lists.c"

static size_t at; /* words in @message */

static void add(uint32_t word)
{
	assert_true(at < MAX_WORDS);
	rr_store_u32(message + 4 * at++, word);
}

static void add_segment(uint32_t handle)
{
	add(handle);
	add(4);
	add(0);
	add(0x10000);
}

static void begin(void)
{
	at = 0;
	loads = 0;
	memset(visits, 0, sizeof(visits));
}

/* Each word of the message was looked at once; segments that are not stored (@over) are
 * skipped. */
static void expect_one_pass(bool over)
{
	for (size_t i = 0; i < at; i++)
		assert_true(visits[i] == 1 || (over && !visits[i]));
	assert_true(loads == at || over);
}

/* Lays out a base header with @n Read chunks and @n Write chunks of @segs segments, and
 * returns how many words its Read list has. */
static size_t lay_out_base(unsigned n, unsigned segs)
{
	size_t words;

	begin();
	add(0);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < segs; k++) {
			add(1);
			add(8 + 4 * i);
			add_segment(i);
		}
	add(0);
	words = at - 1;
	for (unsigned i = 0; i < n; i++) {
		add(1);
		add(segs);
		for (unsigned k = 0; k < segs; k++)
			add_segment(i);
	}
	add(0);
	add(0);
	return words;
}

/* ... a header of RDMA2_X_CALL_LAST with the same chunks. */
static size_t lay_out_counted(unsigned n, unsigned segs)
{
	size_t words = 0;

	begin();
	add(0);
	for (unsigned list = 0; list < 2; list++) {
		add(n);
		for (unsigned i = 0; i < n; i++) {
			add(list ? 0 : 8 + 4 * i);
			add(segs);
			for (unsigned k = 0; k < segs; k++)
				add_segment(i);
		}
		if (!list)
			words = at - 1;
	}
	add(0);
	return words;
}

static const struct {
	unsigned chunks, segs;
} shapes[] = {{0, 1}, {1, 1}, {1, 3}, {4, 3}, {16, 1}, {16, 2}, {256, 1}};

static void decode_base(struct rr_lists *l)
{
	struct rr_cursor c = rr_cursor_over(message, 4 * at);

	assert_int_equal(rr_wire_get_lists(&c, l), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
}

static void decode_counted(struct rr_lists *l)
{
	struct rr_cursor c = rr_cursor_over(message, 4 * at);
	uint32_t rest;

	assert_int_equal(rr_wire_htfam_get_lists(&c, RDMA2_X_CALL_LAST, l, &rest), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
}

/* LS-s08-01, LS-s08-02: Read list, Write list and counted lists, also if they are longer
 * than what is stored. */
static void lists_are_decoded_in_one_pass(void **state)
{
	struct rr_lists l;

	for (size_t i = 0; i < RR_ARRAY_SIZE(shapes); i++) {
		unsigned n = shapes[i].chunks, segs = shapes[i].segs;

		(void)lay_out_base(n, segs);
		decode_base(&l);
		expect_one_pass(l.over);
		assert_int_equal(l.total_reads, n);
		assert_int_equal(l.total_writes, n);
		assert_int_equal(l.total_segs, 2 * n * segs);
		(void)lay_out_counted(n, segs);
		decode_counted(&l);
		expect_one_pass(l.over);
		assert_int_equal(l.total_reads, n);
		assert_int_equal(l.total_segs, 2 * n * segs);
	}
}

/* LS-s08-03: a list of arguments has fewer words than the Read list for the same
 * memory, unless each chunk has one segment and there is only one chunk. */
static void counted_lists_are_shorter(void **state)
{
	struct rr_lists l;

	for (size_t i = 1; i < RR_ARRAY_SIZE(shapes); i++) {
		unsigned n = shapes[i].chunks, segs = shapes[i].segs;
		size_t linked = lay_out_base(n, segs), counted;
		unsigned linked_loads;

		decode_base(&l);
		linked_loads = loads;
		counted = lay_out_counted(n, segs);
		decode_counted(&l);
		assert_int_equal(linked, 6 * n * segs + 1);
		assert_int_equal(counted, 4 * n * segs + 2 * n + 1);
		assert_true(counted <= linked);
		if (segs > 1)
			assert_true(loads < linked_loads);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(lists_are_decoded_in_one_pass),
	        cmocka_unit_test(counted_lists_are_shorter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
