/* SPDX-License-Identifier: BSD-3-Clause */
/* A Payload stream: slices and their padding, read once in pieces of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conn/payload_stream.h"

static const char expected[] = "abcde\0\0\0fghi";
enum { OCTETS = sizeof(expected) - 1 };

static void fill(struct rr_stream *s)
{
	rr_stream_init(s);
	assert_true(rr_stream_add(s, "abcde", 5, 3));
	assert_true(rr_stream_add(s, NULL, 0, 0)); /* leaves no trace */
	assert_true(rr_stream_add(s, "fghi", 4, 0));
	assert_int_equal(s->left, OCTETS);
}

static void copies_of_any_length_give_the_stream(void **state)
{
	(void)state;
	for (size_t each = 1; each <= OCTETS; each++) {
		uint8_t got[OCTETS];
		struct rr_stream s;

		fill(&s);
		memset(got, 0xff, sizeof(got));
		while (s.left)
			rr_stream_copy(&s, got + OCTETS - s.left, RR_MIN(each, s.left));
		assert_memory_equal(got, expected, OCTETS);
	}
}

static void runs_end_with_data_and_with_padding(void **state)
{
	struct rr_stream s;
	struct rr_slice run;

	(void)state;
	fill(&s);
	run = rr_stream_next_run(&s, 3);
	assert_memory_equal(run.base, "abc", 3);
	assert_int_equal(run.len, 3);
	rr_stream_skip(&s, 3);
	run = rr_stream_next_run(&s, OCTETS);
	assert_int_equal(run.len, 2);
	assert_int_equal(run.pad, 0);
	rr_stream_skip(&s, 2);
	run = rr_stream_next_run(&s, 2);
	assert_null(run.base);
	assert_int_equal(run.pad, 2);
	rr_stream_skip(&s, 2);
	assert_int_equal(rr_stream_next_run(&s, OCTETS).pad, 1);
	rr_stream_skip(&s, 1);
	assert_int_equal(rr_stream_next_run(&s, OCTETS).len, 4);
	assert_int_equal(s.left, 4);
}

static void a_full_stream_takes_only_what_is_empty(void **state)
{
	struct rr_stream s;

	(void)state;
	rr_stream_init(&s);
	for (unsigned i = 0; i < RR_CALL_MAX_PIECES; i++)
		assert_true(rr_stream_add(&s, "x", 1, 0));
	assert_false(rr_stream_add(&s, "x", 1, 0));
	assert_true(rr_stream_add(&s, "x", 0, 0));
	assert_int_equal(s.left, RR_CALL_MAX_PIECES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(copies_of_any_length_give_the_stream),
	        cmocka_unit_test(runs_end_with_data_and_with_padding),
	        cmocka_unit_test(a_full_stream_takes_only_what_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
