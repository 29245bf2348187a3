/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures that a program gives in the size that it knows (base/sized.h). */
#include "base/sized.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* What the library knows; @first must be given. */
struct ours {
	size_t size;
	uint64_t first, second, third;
};

static int take(struct ours *ret, const void *src)
{
	memset(ret, 0xa5, sizeof(*ret));
	return RR_SIZED_TAKE(ret, first, src);
}

static void what_a_smaller_one_lacks_is_zero(void **state)
{
	struct ours from = {sizeof(from), 1, 2, 3}, got;

	for (from.size = 16; from.size <= sizeof(from); from.size += 8) {
		assert_int_equal(take(&got, &from), 0);
		assert_int_equal(got.size, sizeof(got));
		assert_int_equal(got.first, 1);
		assert_int_equal(got.second, from.size >= 24 ? 2 : 0);
		assert_int_equal(got.third, from.size >= 32 ? 3 : 0);
	}
}

static void what_must_be_given_is_missed(void **state)
{
	struct ours from = {0}, got;

	for (from.size = 0; from.size < 16; from.size++)
		assert_int_equal(take(&got, &from), -EINVAL);
}

static void a_larger_one_must_be_zero_there(void **state)
{
	struct {
		struct ours ours;
		uint8_t more[RR_SIZED_MAX];
	} from = {.ours = {0, 1, 2, 3}};
	struct ours got;

	for (size_t more = 1; more <= RR_SIZED_MAX - sizeof(got); more += 97) {
		from.ours.size = sizeof(got) + more;
		assert_int_equal(take(&got, &from), 0);
		assert_int_equal(got.size, sizeof(got));
		assert_int_equal(got.third, 3);
		from.more[more - 1] = 1; /* the last of them */
		assert_int_equal(take(&got, &from), -E2BIG);
		from.more[more - 1] = 0;
		from.more[more] = 1; /* not of it */
		assert_int_equal(take(&got, &from), 0);
		from.more[more] = 0;
	}
}

/* A size that nobody set makes us read no further than the size itself. */
static void a_size_that_cannot_be_is_not_believed(void **state)
{
	static const size_t sizes[] = {RR_SIZED_MAX + 1, (size_t)1 << 40, SIZE_MAX};
	struct ours got;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(sizes); i++)
		assert_int_equal(take(&got, &sizes[i]), -E2BIG);
}

static void what_is_given_fits(void **state)
{
	const uint8_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	for (size_t n = 0; n <= 12; n++) {
		uint8_t to[13];

		memset(to, 0xa5, sizeof(to));
		rr_sized_give(to, n, from, sizeof(from));
		for (size_t i = 0; i < sizeof(to); i++)
			assert_int_equal(to[i], i >= n ? 0xa5 : i < 8 ? i + 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_a_smaller_one_lacks_is_zero),
	        cmocka_unit_test(what_must_be_given_is_missed),
	        cmocka_unit_test(a_larger_one_must_be_zero_there),
	        cmocka_unit_test(a_size_that_cannot_be_is_not_believed),
	        cmocka_unit_test(what_is_given_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
