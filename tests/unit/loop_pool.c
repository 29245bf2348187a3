/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool of an engine: pieces never overlap, free memory is found again and
 * merged, what is idle is bounded, and a block stays where it is while it may be
 * registered with a device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/pool.h"

enum { MIB = 1 << 20 };

static struct rr_pool pool;

/* -- helpers ---------------------------------------------------------------------- */

static void *must_get(size_t bytes)
{
	void *m = rr_pool_get(&pool, bytes);

	assert_non_null(m);
	assert_int_equal((uintptr_t)m % 64, 0);
	return m;
}

/* All memory is accounted for: lent, or free in blocks or beside them. */
static void balanced(size_t alone)
{
	assert_int_equal(pool.used_bytes + pool.cached_bytes,
	                 pool.n_blocks * RR_POOL_BLOCK_BYTES + alone);
}

static int fini(void **state)
{
	assert_int_equal(pool.used_bytes, 0);
	assert_int_equal(pool.pins, 0);
	rr_pool_fini(&pool);
	return 0;
}

/* -- tests ------------------------------------------------------------------------ */

static void a_piece_is_used_again(void **state)
{
	void *a, *b;

	rr_pool_init(&pool, 4 * MIB);
	a = must_get(4000);
	assert_int_equal(pool.used_bytes, 4096);
	rr_pool_put(&pool, a, 4000);
	b = must_get(4096);
	assert_ptr_equal(a, b);
	rr_pool_put(&pool, b, 4096);
	rr_pool_put(&pool, NULL, 4096);
	assert_int_equal(pool.used_bytes, 0);
	assert_int_equal(pool.peak_bytes, 4096);
	assert_int_equal(pool.n_blocks, 1);
	balanced(0);
	assert_null(rr_pool_get(&pool, SIZE_MAX));
}

static void a_block_is_used_up_before_the_next(void **state)
{
	enum { N = 2 * RR_POOL_BLOCK_BYTES / 4096 };
	static void *m[N];

	rr_pool_init(&pool, 8 * MIB);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < N; i++)
			m[i] = must_get(4096);
		assert_int_equal(pool.n_blocks, 2);
		balanced(0);
		for (unsigned i = 0; i < N; i++)
			rr_pool_put(&pool, m[(i * 37) % N], 4096);
		/* Merged, cached ones too: both are whole again. */
		m[0] = must_get(2 * MIB);
		m[1] = must_get(2 * MIB);
		assert_int_equal(pool.n_blocks, 2);
		rr_pool_put(&pool, m[0], 2 * MIB);
		rr_pool_put(&pool, m[1], 2 * MIB);
	}
}

static void idle_memory_is_bounded(void **state)
{
	enum { N = 24 };
	void *m[N], *small;

	rr_pool_init(&pool, 4 * MIB);
	for (unsigned i = 0; i < N; i++)
		m[i] = must_get(MIB);
	small = must_get(256);
	for (unsigned i = 0; i < N; i++)
		rr_pool_put(&pool, m[i], MIB);
	assert_true(pool.cached_bytes <= 4 * MIB);
	rr_pool_put(&pool, small, 256);
	assert_true(pool.cached_bytes <= 4 * MIB);
	balanced(0);
	/* Larger than a block: kept within the same bound, or not at all. */
	rr_pool_fini(&pool);
	m[0] = must_get(4 * MIB);
	m[1] = must_get(4 * MIB);
	rr_pool_put(&pool, m[0], 4 * MIB);
	assert_int_equal(pool.large_bytes, 4 * MIB);
	rr_pool_put(&pool, m[1], 4 * MIB); /* in place of the first */
	assert_int_equal(pool.large_bytes, 4 * MIB);
	assert_ptr_equal(must_get(4 * MIB), m[1]);
	assert_int_equal(pool.large_bytes, 0);
	rr_pool_put(&pool, m[1], 4 * MIB);
	balanced(0);
}

/* Above a block classes are near: a piece is at most a quarter larger than was asked.
 */
static void large_pieces_waste_little(void **state)
{
	void *m, *other;

	rr_pool_init(&pool, 24 * MIB);
	for (size_t n = 2 * MIB + 1; n < 200 * (size_t)MIB; n += n / 7) {
		m = must_get(n);
		assert_true(pool.used_bytes >= n && pool.used_bytes <= n + n / 4);
		memset(m, 1, n);
		rr_pool_put(&pool, m, n);
		balanced(0);
		assert_true(pool.large_bytes <= 24 * MIB);
	}
	/* One that fits the bound takes the place of what was kept of another size. */
	m = must_get(16 * MIB + 64);
	rr_pool_put(&pool, m, 16 * MIB + 64);
	assert_int_equal(pool.large_bytes, 20 * MIB);
	other = must_get(9 * MIB);
	rr_pool_put(&pool, other, 9 * MIB);
	assert_int_equal(pool.large_bytes, 10 * MIB);
	assert_ptr_equal(must_get(9 * MIB), other);
	rr_pool_put(&pool, other, 9 * MIB);
}

static void cached_pieces_keep_no_block(void **state)
{
	enum { N = 512 };
	void *m[N];

	rr_pool_init(&pool, MIB);
	rr_pool_pin(&pool); /* so that some are cached */
	for (unsigned i = 0; i < N; i++)
		m[i] = must_get(8192);
	for (unsigned i = 0; i < N; i++)
		rr_pool_put(&pool, m[i], 8192);
	assert_int_equal(pool.n_blocks, 2);
	rr_pool_unpin(&pool);
	assert_int_equal(pool.n_blocks, 0);
	balanced(0);
}

static void a_pinned_block_stays(void **state)
{
	void *m[8], *base, *again;
	size_t len;

	rr_pool_init(&pool, 0);
	for (unsigned i = 0; i < 8; i++)
		m[i] = must_get(MIB);
	assert_true(rr_pool_block(&pool, m[0], MIB, &base, &len));
	rr_pool_pin(&pool);
	rr_pool_pin(&pool);
	for (unsigned i = 0; i < 8; i++)
		rr_pool_put(&pool, m[i], MIB);
	rr_pool_unpin(&pool);
	assert_int_equal(pool.n_blocks, 4);
	assert_true(rr_pool_block(&pool, base, len, &again, &len));
	assert_ptr_equal(base, again);
	rr_pool_unpin(&pool);
	assert_int_equal(pool.n_blocks, 0);
	assert_false(rr_pool_block(&pool, base, 1, &again, &len));
}

static void the_block_of_memory_is_found(void **state)
{
	enum { N = 6 };
	uint8_t *m[N], *big, *own = malloc(64);
	void *base;
	size_t len;

	rr_pool_init(&pool, 0);
	for (unsigned i = 0; i < N; i++) {
		m[i] = must_get(2 * MIB);
		assert_int_equal(pool.n_blocks, i + 1);
	}
	for (unsigned i = 0; i < N; i++) {
		assert_true(rr_pool_block(&pool, m[i] + 5, 100, &base, &len));
		assert_ptr_equal(base, m[i]);
		assert_int_equal(len, RR_POOL_BLOCK_BYTES);
		assert_true(rr_pool_block(&pool, m[i], 2 * MIB, &base, &len));
		assert_ptr_equal(base, m[i]);
		assert_true(rr_pool_block(&pool, m[i] + 2 * MIB - 1, 1, &base, &len));
		assert_ptr_equal(base, m[i]);
		/* Not all of it, also if the next block should follow. */
		assert_false(rr_pool_block(&pool, m[i] + 1, 2 * MIB, &base, &len));
		assert_false(rr_pool_block(&pool, m[i] + 2 * MIB - 1, 2, &base, &len));
		assert_false(rr_pool_block(&pool, m[i] + 1, SIZE_MAX, &base, &len));
	}
	big = must_get(3 * MIB);
	assert_false(rr_pool_block(&pool, big, 1, &base, &len));
	assert_non_null(own);
	assert_false(rr_pool_block(&pool, own, 64, &base, &len));
	rr_pool_put(&pool, big, 3 * MIB);
	for (unsigned i = 0; i < N; i++)
		rr_pool_put(&pool, m[i], 2 * MIB);
	free(own);
}

static void memory_beyond_the_last_block_is_had_all_the_same(void **state)
{
	static void *m[RR_POOL_BLOCKS + 2];
	void *base;
	size_t len;

	rr_pool_init(&pool, 0);
	for (unsigned i = 0; i < RR_POOL_BLOCKS + 2; i++)
		m[i] = must_get(2 * MIB); /* not touched: it costs nothing */
	assert_int_equal(pool.n_blocks, RR_POOL_BLOCKS);
	assert_false(rr_pool_block(&pool, m[RR_POOL_BLOCKS], 1, &base, &len));
	for (unsigned i = 0; i < RR_POOL_BLOCKS + 2; i++)
		rr_pool_put(&pool, m[i], 2 * MIB);
	assert_int_equal(pool.n_blocks, 0);
	balanced(0);
}

/* The process's address space, in octets. */
static size_t mapped(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu", &pages), 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void what_is_free_goes_back_whatever_lies_beside_it(void **state)
{
	enum { N = 64 };
	void *m[N], *crumb[N], *large;
	size_t before = mapped(), after;

	rr_pool_init(&pool, 0);
	for (unsigned i = 0; i < N; i++) {
		m[i] = must_get(2 * MIB);
		crumb[i] = malloc(100); /* above it, if it came from the heap */
	}
	large = must_get(16 * MIB);
	after = mapped();
	/* What a block takes, not twice that; 4 MiB for everything else. */
	assert_in_range(after - before, (2 * N + 16) * MIB, (2 * N + 16 + 4) * MIB);
	for (unsigned i = 0; i < N; i++)
		rr_pool_put(&pool, m[i], 2 * MIB);
	rr_pool_put(&pool, large, 16 * MIB);
	assert_in_range(mapped(), before, before + 4 * MIB);
	for (unsigned i = 0; i < N; i++)
		free(crumb[i]);
}

/* -- at random -------------------------------------------------------------------- */

enum { SLOTS = 300, STEPS = 60000 };

static struct slot {
	uint8_t *m;
	size_t bytes;
	uint8_t octet;
} slots[SLOTS];

static void fill_slot(struct slot *s, struct rr_rng *r)
{
	s->bytes = 1 + rr_rng_below(r, (uint64_t)1 << (4 + rr_rng_below(r, 17)));
	s->octet = (uint8_t)rr_rng_next(r);
	s->m = must_get(s->bytes);
	memset(s->m, s->octet, s->bytes);
}

static void empty_slot(struct slot *s)
{
	for (size_t i = 0; i < s->bytes; i++) {
		if (s->m[i] != s->octet)
			fail_msg("octet %zu of %zu is someone else's", i, s->bytes);
	}
	rr_pool_put(&pool, s->m, s->bytes);
	s->m = NULL;
}

static void pieces_never_overlap(void **state)
{
	struct rr_rng r;

	rr_rng_seed(&r, 4711);
	rr_pool_init(&pool, 3 * MIB);
	for (unsigned i = 0; i < STEPS; i++) {
		struct slot *s = &slots[rr_rng_below(&r, SLOTS)];

		if (i % 10000 == 5000)
			rr_pool_pin(&pool);
		if (i % 10000 == 9999)
			rr_pool_unpin(&pool);
		if (s->m)
			empty_slot(s);
		/* Now full, now nearly empty. */
		else if (rr_rng_below(&r, 100) < (i / 7500 % 2 ? 20 : 95))
			fill_slot(s, &r);
		if (i % 64 == 0)
			balanced(0);
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		if (slots[i].m)
			empty_slot(&slots[i]);
	}
	assert_true(pool.cached_bytes <= 3 * MIB);
	balanced(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(a_piece_is_used_again, fini),
	        cmocka_unit_test_teardown(a_block_is_used_up_before_the_next, fini),
	        cmocka_unit_test_teardown(idle_memory_is_bounded, fini),
	        cmocka_unit_test_teardown(large_pieces_waste_little, fini),
	        cmocka_unit_test_teardown(cached_pieces_keep_no_block, fini),
	        cmocka_unit_test_teardown(a_pinned_block_stays, fini),
	        cmocka_unit_test_teardown(the_block_of_memory_is_found, fini),
	        cmocka_unit_test_teardown(
	                memory_beyond_the_last_block_is_had_all_the_same, fini),
	        cmocka_unit_test_teardown(
	                what_is_free_goes_back_whatever_lies_beside_it, fini),
	        cmocka_unit_test_teardown(pieces_never_overlap, fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
