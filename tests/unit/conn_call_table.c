/* SPDX-License-Identifier: BSD-3-Clause */
/* Outstanding calls by XID: found while they are in the table, however it grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "conn/call_table.h"

enum { CALLS = 1000 };

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

/* Adds CALLS entries whose XIDs are @step apart, and takes every second one out. */
static void run(uint32_t step)
{
	static struct rr_call_entry e[CALLS];
	struct rr_call_table t = {0};

	assert_null(rr_call_table_find(&t, 0));
	for (uint32_t i = 0; i < CALLS; i++) {
		e[i] = (struct rr_call_entry){.xid = i * step};
		assert_true(rr_call_table_add(&t, &mem, &e[i]));
		assert_non_null(e[i].at);
	}
	for (uint32_t i = 0; i < CALLS; i += 2) {
		rr_call_table_del(&t, &e[i]);
		rr_call_table_del(&t, &e[i]); /* no effect */
	}
	assert_int_equal(t.count, CALLS / 2);
	for (uint32_t i = 0; i < CALLS; i++)
		assert_ptr_equal(rr_call_table_find(&t, i * step),
		                 i % 2 ? &e[i] : NULL);
	rr_call_table_fini(&t, &mem);
	assert_int_equal(allocated, 0);
}

static void entries_are_found_until_they_are_removed(void **state)
{
	(void)state;
	run(1);
	run(64);      /* one bucket before the table grows, without a good hash */
	run(1 << 20); /* XIDs that differ in their high bits only */
}

static void without_memory_chains_get_longer(void **state)
{
	static struct rr_call_entry e[CALLS];
	struct rr_call_table t = {0};

	(void)state;
	exhausted = true;
	assert_false(rr_call_table_add(&t, &mem, &e[0]));
	assert_null(e[0].at);
	exhausted = false;
	assert_true(rr_call_table_add(&t, &mem, &e[0]));
	exhausted = true;
	for (uint32_t i = 1; i < CALLS; i++) {
		e[i].xid = i;
		assert_true(rr_call_table_add(&t, &mem, &e[i]));
	}
	exhausted = false;
	for (uint32_t i = 0; i < CALLS; i++)
		assert_ptr_equal(rr_call_table_find(&t, i), &e[i]);
	rr_call_table_fini(&t, &mem);
	assert_int_equal(allocated, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(entries_are_found_until_they_are_removed),
	        cmocka_unit_test(without_memory_chains_get_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
