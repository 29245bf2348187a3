/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has to give when there is no room: the order in which callers and their
 * connections pay, and what is left of those who have nothing any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rpc/tenant.h"

enum { BUCKETS = 4, ENTRY = 100 };

static struct rr_tenants ts;
static size_t empty;

static int set_up(void **state)
{
	const uint64_t key[2] = {1, 2};

	assert_int_equal(rr_tenants_init(&ts, BUCKETS, key), 0);
	empty = ts.bytes;
	return 0;
}

static int tear_down(void **state)
{
	assert_int_equal(ts.bytes, empty);
	assert_int_equal(ts.ranks.used, 0);
	rr_tenants_fini(&ts);
	return 0;
}

/* @n entries of caller @a, by one connection, that may go. */
static struct rr_tenant *fill(uint8_t a, uint64_t connection, unsigned n)
{
	const struct rr_caller_addr addr = {.octets = {a}};
	struct rr_tenant *t = NULL;

	while (n--) {
		t = rr_tenant_get(&ts, &addr, connection);
		assert_non_null(t);
		rr_tenant_charge(&ts, t, ENTRY);
		rr_tenant_idle(&ts, t, ENTRY);
	}
	return t;
}

static void lose(struct rr_tenant *t, unsigned n)
{
	while (n--) {
		rr_tenant_busy(&ts, t, ENTRY);
		rr_tenant_discharge(&ts, t, ENTRY);
		rr_tenant_put(&ts, t);
	}
}

static void one_tenant_pays_for_itself(void **state)
{
	struct rr_tenant *t = fill(1, 1, 3);

	assert_ptr_equal(rr_tenants_payer(&ts, t, false), t);
	assert_ptr_equal(rr_tenants_payer(&ts, t, true), t);
	lose(t, 3);
}

static void the_caller_with_most_pays(void **state)
{
	struct rr_tenant *few = fill(1, 1, 3), *many = fill(2, 2, 100);

	assert_ptr_equal(rr_tenants_payer(&ts, few, false), many);
	assert_ptr_equal(rr_tenants_payer(&ts, many, false), many);
	assert_ptr_equal(rr_tenants_payer(&ts, few, true), few);
	lose(few, 3);
	lose(many, 100);
}

/* Not the connection that has most, if all connections of another caller have more. */
static void callers_are_compared_before_connections(void **state)
{
	struct rr_tenant *one = fill(1, 1, 40), *of_many[10], *small = fill(3, 99, 1);

	for (unsigned i = 0; i < 10; i++)
		of_many[i] = fill(2, 2 + i, i ? 10 : 20);
	assert_ptr_equal(rr_tenants_payer(&ts, small, false), of_many[0]);
	lose(one, 40);
	lose(small, 1);
	for (unsigned i = 0; i < 10; i++)
		lose(of_many[i], i ? 10 : 20);
}

/* Those with about as much lose one entry after the other. */
static void equals_pay_in_turn(void **state)
{
	struct rr_tenant *t[6], *small = fill(9, 9, 1);
	unsigned paid[6] = {0};

	for (unsigned i = 0; i < 6; i++)
		t[i] = fill((uint8_t)(1 + i / 2), i,
		            31); /* of three callers, two each */
	for (unsigned n = 0; n < 6 * 10; n++) {
		struct rr_tenant *p = rr_tenants_payer(&ts, small, false);

		lose(p, 1);
		for (unsigned i = 0; i < 6; i++)
			paid[i] += t[i] == p;
	}
	for (unsigned i = 0; i < 6; i++) {
		assert_in_range(paid[i], 9, 11);
		lose(t[i], 31 - paid[i]);
	}
	lose(small, 1);
}

/* What is not idle cannot go; who has more of it than others have pays all the same. */
static void the_busy_pay_themselves_or_get_nothing(void **state)
{
	struct rr_tenant *few = fill(1, 1, 3), *busy = fill(2, 2, 100);

	rr_tenant_busy(&ts, busy, 99 * ENTRY);
	assert_ptr_equal(rr_tenants_payer(&ts, busy, false), busy);
	rr_tenant_busy(&ts, busy, ENTRY);
	assert_null(rr_tenants_payer(&ts, busy, false));
	assert_ptr_equal(rr_tenants_payer(&ts, few, false), few);
	rr_tenant_idle(&ts, busy, 100 * ENTRY);
	assert_ptr_equal(rr_tenants_payer(&ts, few, false), busy);
	lose(few, 3);
	lose(busy, 100);
}

/* Connections of a caller are told apart, callers with the same number are too. */
static void a_tenant_is_a_connection_of_a_caller(void **state)
{
	struct rr_tenant *a = fill(1, 1, 1), *b = fill(1, 1 + BUCKETS, 1),
	                 *c = fill(2, 1, 1);

	assert_ptr_equal(fill(1, 1, 1), a);
	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_equal(a->caller, b->caller);
	assert_ptr_not_equal(a->caller, c->caller);
	assert_int_equal(a->caller->entries, 3);
	lose(a, 2);
	lose(c, 1);
	assert_int_equal(b->caller->entries, 1);
	lose(b, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(one_tenant_pays_for_itself),
	        T(the_caller_with_most_pays),
	        T(callers_are_compared_before_connections),
	        T(equals_pay_in_turn),
	        T(the_busy_pay_themselves_or_get_nothing),
	        T(a_tenant_is_a_connection_of_a_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
