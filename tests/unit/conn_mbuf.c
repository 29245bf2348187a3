/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that grow, and the quota that some of them are charged to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conn/mbuf.h"

static size_t allocated; /* octets */
static bool exhausted;

static void *get(void *ctx, size_t bytes)
{
	(void)ctx;
	if (exhausted)
		return NULL;
	allocated += bytes;
	return malloc(bytes);
}

static void put(void *ctx, void *p, size_t bytes)
{
	(void)ctx;
	allocated -= bytes;
	free(p);
}

static const struct rr_mem mem = {.get = get, .put = put};

static void a_quota_is_charged_up_to_its_limit(void **state)
{
	struct rr_quota q = {.mem = &mem, .limit = 100};

	(void)state;
	assert_true(rr_quota_charge(&q, 60));
	assert_false(rr_quota_charge(&q, 41));
	assert_false(rr_quota_charge(&q, UINT64_MAX));
	assert_true(rr_quota_charge(&q, 40));
	assert_int_equal(q.charged, 100);
	rr_quota_uncharge(&q, 100);
	assert_int_equal(q.charged, 0);
}

static void reserve_doubles_and_alloc_is_exact(void **state)
{
	struct rr_quota q = {.mem = &mem};
	struct rr_mbuf b = {0};

	(void)state;
	assert_int_equal(rr_mbuf_reserve(&q, &b, 1), 0);
	assert_int_equal(b.cap, RR_MBUF_FIRST);
	assert_int_equal(rr_mbuf_reserve(&q, &b, RR_MBUF_FIRST + 1), 0);
	assert_int_equal(b.cap, 2 * RR_MBUF_FIRST);
	assert_int_equal(rr_mbuf_alloc(&q, &b, 2 * RR_MBUF_FIRST + 1), 0);
	assert_int_equal(b.cap, 2 * RR_MBUF_FIRST + 1);
	assert_int_equal(rr_mbuf_alloc(&q, &b, 1), 0);
	assert_int_equal(b.cap, 2 * RR_MBUF_FIRST + 1);
	assert_int_equal(allocated, b.cap);
	rr_mbuf_free(&q, &b);
	assert_null(b.p);
	assert_int_equal(allocated, 0);
}

static void contents_survive_growth(void **state)
{
	struct rr_quota q = {.mem = &mem};
	struct rr_mbuf b = {0};

	(void)state;
	assert_int_equal(rr_mbuf_alloc(&q, &b, 4), 0);
	memcpy(b.p, "abcd", 4);
	b.len = 4;
	assert_int_equal(rr_mbuf_alloc(&q, &b, 1000), 0);
	assert_memory_equal(b.p, "abcd", 4);
	assert_int_equal(b.len, 4);
	rr_mbuf_free(&q, &b);
}

static void a_charged_buffer_charges_its_size(void **state)
{
	struct rr_quota q = {.mem = &mem, .limit = 100};
	struct rr_mbuf b = {.charged = true}, free_of_charge = {0};

	(void)state;
	assert_int_equal(rr_mbuf_alloc(&q, &b, 60), 0);
	assert_int_equal(q.charged, 60);
	assert_int_equal(rr_mbuf_alloc(&q, &free_of_charge, 1000), 0);
	assert_int_equal(q.charged, 60);
	assert_int_equal(rr_mbuf_alloc(&q, &b, 100), 0);
	assert_int_equal(q.charged, 100);
	rr_mbuf_free(&q, &b);
	rr_mbuf_free(&q, &free_of_charge);
	assert_int_equal(q.charged, 0);
	assert_int_equal(allocated, 0);
}

/* Neither the limit nor a failed allocation changes the buffer or the quota. */
static void a_buffer_that_cannot_grow_stays(void **state)
{
	struct rr_quota q = {.mem = &mem, .limit = 100};
	struct rr_mbuf b = {.charged = true};
	uint8_t *p;

	(void)state;
	assert_int_equal(rr_mbuf_alloc(&q, &b, 60), 0);
	p = b.p;
	assert_int_equal(rr_mbuf_alloc(&q, &b, 101), -ENOMEM);
	assert_int_equal(rr_mbuf_reserve(&q, &b, 61), -ENOMEM);
	exhausted = true;
	assert_int_equal(rr_mbuf_alloc(&q, &b, 80), -ENOMEM);
	exhausted = false;
	assert_ptr_equal(b.p, p);
	assert_int_equal(b.cap, 60);
	assert_int_equal(q.charged, 60);
	rr_mbuf_free(&q, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_quota_is_charged_up_to_its_limit),
	        cmocka_unit_test(reserve_doubles_and_alloc_is_exact),
	        cmocka_unit_test(contents_survive_growth),
	        cmocka_unit_test(a_charged_buffer_charges_its_size),
	        cmocka_unit_test(a_buffer_that_cannot_grow_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
