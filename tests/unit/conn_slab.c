/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection's pieces: distinct, aligned, used again, taken in blocks of exactly the
 * length asked for, and all given back at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conn/slab.h"

static unsigned blocks;
static size_t expected_bytes;

static void *get(void *ctx, size_t bytes)
{
	assert_int_equal(bytes, expected_bytes);
	blocks++;
	return aligned_alloc(64, bytes);
}

static void put(void *ctx, void *p, size_t bytes)
{
	assert_int_equal(bytes, expected_bytes);
	blocks--;
	free(p);
}

static const struct rr_mem mem = {.get = get, .put = put};

/* @n pieces of @size fill @n_blocks blocks of @block_bytes. */
static void fills(size_t size, unsigned n, size_t block_bytes, unsigned n_blocks)
{
	struct rr_slab s;
	uint8_t *m[128], *again;

	expected_bytes = block_bytes;
	rr_slab_init(&s, &mem, size, block_bytes);
	for (unsigned i = 0; i < n; i++) {
		m[i] = rr_slab_get(&s);
		assert_non_null(m[i]);
		assert_int_equal((uintptr_t)m[i] % (size % 64 ? 16 : 64), 0);
		memset(m[i], (int)i, size);
	}
	assert_int_equal(blocks, n_blocks);
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < size; k++)
			assert_int_equal(m[i][k], (uint8_t)i);
	rr_slab_put(&s, m[0]);
	again = rr_slab_get(&s);
	assert_ptr_equal(again, m[0]);
	assert_int_equal(blocks, n_blocks);
	rr_slab_fini(&s);
	assert_int_equal(blocks, 0);
}

static void blocks_are_used_up(void **state)
{
	fills(64, 15, 1024, 1);
	fills(56, 66, 1024, 5);
	fills(80, 12, 1024, 1);
	fills(1000, 4, 4096, 1);
	fills(1000, 5, 4096, 2);
	fills(1100, 3, 4096, 1); /* whole cache lines */
	fills(1100, 4, 4096, 2);
	fills(960, 2, 1024, 2); /* one that just fits */
}

/* When no piece is in use, a slab that grew large gives its blocks back; a small one
 * keeps them. */
static void a_large_slab_shrinks(void **state)
{
	enum { BLOCK = 65536, LESS = RR_SLAB_KEPT / BLOCK, MORE = LESS + 1 };
	struct rr_slab s;
	void *m[MORE];

	expected_bytes = BLOCK;
	rr_slab_init(&s, &mem, BLOCK - 64, BLOCK);
	for (unsigned n = LESS; n <= MORE; n++) {
		for (unsigned i = 0; i < n; i++)
			m[i] = rr_slab_get(&s);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(blocks, n);
			rr_slab_put(&s, m[i]);
		}
		assert_int_equal(blocks, n > LESS ? 0 : n);
	}
	m[0] = rr_slab_get(&s);
	assert_int_equal(blocks, 1);
	rr_slab_put(&s, m[0]);
	rr_slab_fini(&s);
	assert_int_equal(blocks, 0);
}

static void *get_none(void *ctx, size_t bytes)
{
	return NULL;
}

static void no_memory_is_no_piece(void **state)
{
	const struct rr_mem none = {.get = get_none, .put = put};
	struct rr_slab s;

	rr_slab_init(&s, &none, 64, 1024);
	assert_null(rr_slab_get(&s));
	rr_slab_fini(&s);
	assert_int_equal(blocks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(blocks_are_used_up),
	        cmocka_unit_test(a_large_slab_shrinks),
	        cmocka_unit_test(no_memory_is_no_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
