/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of the iWARP provider, as a peer that collects them would look at
 * them: no order, no bit that leans, no step that comes again, nothing in
 * common between connections or between runs.
 *
 * Each bound is the tail of the distribution that handles drawn at random
 * would have; the number in the comment is the chance that sound handles fail
 * it once.  Their sum is below 1e-9 for the whole program.
 *
 * V2-11.1.2-01, V2-11.1.1-01.
 */
#include "test_iwarp_pair.h"

#include <stdio.h>
#include <unistd.h>

enum { N = 32768, PAIRS = N / 2, CONNECTIONS = 3, FEW = 64, MANY = 200000 };

static uint32_t handle[CONNECTIONS][N];
static const char *self;

/* -- collecting ------------------------------------------------------------------ */

/* @n registrations that live at once. */
static void collect(uint32_t *to, unsigned n)
{
	struct end c, s;

	ends_open(&c, &s, NULL, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct rr_region r;

		assert_int_equal(OPS->register_mem(s.ep, &handle, 64,
		                                   RR_ACCESS_REMOTE_WRITE, &r),
		                 0);
		assert_int_not_equal(r.handle, 0);
		to[i] = r.handle;
	}
	ends_close(&c, &s);
}

static int setup(void **state)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		collect(handle[i], N);
	return 0;
}

static int order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* How often the most frequent value occurs; sorts. */
static unsigned most_frequent(uint32_t *v, unsigned n)
{
	unsigned run = 1, most = 1;

	qsort(v, n, sizeof(*v), order);
	for (unsigned i = 1; i < n; i++) {
		run = v[i] == v[i - 1] ? run + 1 : 1;
		most = RR_MAX(most, run);
	}
	return most;
}

/* -- statistics ------------------------------------------------------------------- */

/* Hoeffding: P(|X - n/2| >= t) <= 2 exp(-2 t^2 / n), also without replacement.
 * t^2 = 16 n: 2 e^-32, 2.6e-14 a bit, 8.1e-13 a call. */
static void expect_balanced_bits(const uint32_t *v, unsigned n)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		int64_t ones = 0, off;

		for (unsigned i = 0; i < n; i++)
			ones += v[i] >> bit & 1;
		off = 2 * ones - (int64_t)n; /* twice the deviation */
		if (off * off >= 4 * (int64_t)16 * n)
			fail_msg("bit %u is set in %lld of %u", bit, (long long)ones,
			         n);
	}
}

/* Four equal values among n: n^4 / 24 / 2^96, for 16384 of them 3.8e-14. */
static void expect_no_favourite(uint32_t *v, unsigned n)
{
	unsigned most = most_frequent(v, n);

	if (most >= 4)
		fail_msg("a value occurs %u times among %u", most, n);
}

/* What follows from one handle about another, @lag later.  Pairs do not share
 * a handle, so that they are independent. */
static unsigned pairs(const uint32_t *v, unsigned lag, bool xor, uint32_t *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i + 2 * lag <= N; i += 2 * lag)
		for (unsigned k = 0; k < lag; k++) {
			uint32_t a = v[i + k], b = v[i + k + lag];

			to[n++] = xor? a ^ b : b - a;
		}
	return n;
}

static void bits_are_balanced(void **state)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		expect_balanced_bits(handle[i], N);
}

static void steps_tell_nothing(void **state)
{
	static const unsigned lag[] = {1, 2, 3, 4, 8, 16, 256, 4096};
	static uint32_t v[PAIRS];

	for (unsigned i = 0; i < CONNECTIONS; i++)
		for (unsigned k = 0; k < RR_ARRAY_SIZE(lag); k++) {
			unsigned n = pairs(handle[i], lag[k], true, v);

			expect_balanced_bits(v, n);
			expect_no_favourite(v, n);
			n = pairs(handle[i], lag[k], false, v);
			expect_balanced_bits(v, n);
			expect_no_favourite(v, n);
		}
}

/* Neighbours within 2^16: 2^-15 a pair, half a pair expected.  Chernoff:
 * P(X >= 14) <= (e / 28)^14 = 6.5e-15. */
static void neighbours_are_far_apart(void **state)
{
	static uint32_t v[PAIRS];

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		unsigned n = pairs(handle[i], 1, false, v), near = 0;

		for (unsigned k = 0; k < n; k++)
			near += v[k] + 65536 < 131072;
		assert_true(near < 14);
	}
}

/* Low octets that agree: 64 of 16384 pairs expected.  P(X >= 147) <=
 * exp(-1.3^2 * 64 / 3.3) = 6e-15; the same for the octets above. */
static void octets_do_not_follow(void **state)
{
	static uint32_t v[PAIRS];

	for (unsigned i = 0; i < CONNECTIONS; i++)
		for (unsigned octet = 0; octet < 4; octet++) {
			unsigned n = pairs(handle[i], 1, true, v), same = 0;

			for (unsigned k = 0; k < n; k++)
				same += !(v[k] >> 8 * octet & 0xff);
			assert_true(same < 147);
		}
}

/* Not one comes again, whether or not the ones before are still in use. */
static void none_comes_back_soon(void **state)
{
	uint32_t *v = malloc(MANY * sizeof(*v));
	struct end c, s;

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		static uint32_t copy[N];

		memcpy(copy, handle[i], sizeof(copy));
		assert_int_equal(most_frequent(copy, N), 1);
	}
	ends_open(&c, &s, NULL, NULL);
	for (unsigned i = 0; i < MANY; i++) {
		struct rr_region r;

		assert_int_equal(
		        OPS->register_mem(s.ep, v, 64, RR_ACCESS_REMOTE_READ, &r), 0);
		v[i] = r.handle;
		assert_int_equal(OPS->invalidate(s.ep, r.handle, i), 0);
		if (i % 64 == 63) {
			end_flush(&s);
			for (unsigned k = i - 63; k <= i; k++)
				(void)end_expect_wc(&s, &c, RR_WC_INVALIDATE, k, 0);
			s.n = s.taken = 0;
		}
	}
	assert_int_equal(most_frequent(v, MANY), 1);
	ends_close(&c, &s);
	free(v);
}

/* -- between connections --------------------------------------------------- */

/* Handles in common: N^2 / 2^32 = 1/4 expected, P(X >= 12) <= (e / 48)^12 =
 * 1.1e-15 for each two connections. */
static unsigned common(const uint32_t *a, const uint32_t *b, unsigned n)
{
	uint32_t *both = malloc(2 * n * sizeof(*both));
	unsigned sum = 0;

	memcpy(both, a, n * sizeof(*both));
	memcpy(both + n, b, n * sizeof(*both));
	qsort(both, 2 * n, sizeof(*both), order);
	for (unsigned i = 1; i < 2 * n; i++)
		sum += both[i] == both[i - 1];
	free(both);
	return sum;
}

static void connections_have_nothing_in_common(void **state)
{
	static uint32_t v[PAIRS];

	for (unsigned a = 0; a < CONNECTIONS; a++)
		for (unsigned b = 0; b < a; b++) {
			assert_true(common(handle[a], handle[b], N) < 12);
			for (unsigned i = 0; i < PAIRS; i++)
				v[i] = handle[a][i] ^ handle[b][i];
			expect_balanced_bits(v, PAIRS);
			expect_no_favourite(v, PAIRS);
			for (unsigned i = 0; i < PAIRS; i++)
				v[i] = handle[a][i] - handle[b][i];
			expect_no_favourite(v, PAIRS);
		}
}

/* Another run of this program prints the first ones. */
static void another_run(uint32_t *to)
{
	char command[4096];
	FILE *f;

	assert_in_range(snprintf(command, sizeof(command), "'%s' --print", self), 1,
	                sizeof(command) - 1);
	f = popen(command, "r");
	assert_non_null(f);
	for (unsigned i = 0; i < FEW; i++)
		assert_int_equal(fscanf(f, "%x", &to[i]), 1);
	assert_int_equal(pclose(f), 0);
}

/* 64^2 / 2^32 = 9.5e-7 in common expected; two: 4.6e-13. */
static void runs_have_nothing_in_common(void **state)
{
	uint32_t a[FEW], b[FEW];

	another_run(a);
	another_run(b);
	assert_true(common(a, b, FEW) < 2);
	assert_true(common(a, handle[0], FEW) < 2);
}

/* The offset is no address either: forty connections do not tell where memory is. */
static void offsets_are_no_addresses(void **state)
{
	enum { TIMES = 40 };
	uint64_t seen[TIMES];
	struct end c, s;

	for (unsigned i = 0; i < TIMES; i++) {
		struct rr_region r;

		ends_open(&c, &s, NULL, NULL);
		assert_int_equal(OPS->register_mem(s.ep, &handle, 64,
		                                   RR_ACCESS_REMOTE_WRITE, &r),
		                 0);
		seen[i] = r.offset;
		assert_true(r.offset >> 12 != (uint64_t)(uintptr_t)&handle >> 12);
		/* 40^2 / 2 / 2^32 = 1.9e-7 expected; twice over: 1.7e-14 */
		for (unsigned k = 0, same = 0; k < i; k++) {
			same += seen[k] == seen[i];
			assert_true(same < 2);
		}
		ends_close(&c, &s);
	}
}

static int print_some(void)
{
	collect(handle[0], FEW);
	for (unsigned i = 0; i < FEW; i++)
		printf("%x\n", handle[0][i]);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bits_are_balanced),
	        cmocka_unit_test(steps_tell_nothing),
	        cmocka_unit_test(neighbours_are_far_apart),
	        cmocka_unit_test(octets_do_not_follow),
	        cmocka_unit_test(none_comes_back_soon),
	        cmocka_unit_test(connections_have_nothing_in_common),
	        cmocka_unit_test(runs_have_nothing_in_common),
	        cmocka_unit_test(offsets_are_no_addresses),
	};

	self = argv[0];
	if (argc > 1)
		return print_some();
	return cmocka_run_group_tests(tests, setup, NULL);
}
