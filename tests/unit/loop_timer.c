/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loop/timer.h"

enum { COUNT = 200 };

static struct rr_timers timers;
static rr_time fired[COUNT];
static unsigned n_fired;

static void note(struct rr_timer *t)
{
	fired[n_fired++] = t->when;
}

static void timers_fire_in_order_and_only_when_due(void **state)
{
	struct rr_timer t[COUNT] = {0};
	struct rr_rng rng;

	rr_rng_seed(&rng, 1);
	for (unsigned i = 0; i < COUNT; i++) {
		t[i].fire = note;
		assert_int_equal(rr_timer_set(&timers, &t[i], rr_rng_below(&rng, 1000)),
		                 0);
	}
	for (unsigned i = 0; i < COUNT; i += 3) /* move some, stop some */
		assert_int_equal(rr_timer_set(&timers, &t[i], rr_rng_below(&rng, 1000)),
		                 0);
	for (unsigned i = 1; i < COUNT; i += 3) {
		rr_timer_stop(&timers, &t[i]);
		rr_timer_stop(&timers, &t[i]);
	}
	n_fired = 0;
	for (rr_time now = 0; now <= 1000; now += 10) {
		unsigned before = n_fired;

		rr_timers_run(&timers, now);
		for (unsigned i = before; i < n_fired; i++)
			assert_true(fired[i] <= now && fired[i] + 10 > now);
	}
	assert_int_equal(n_fired, COUNT - 67);
	for (unsigned i = 1; i < n_fired; i++)
		assert_true(fired[i - 1] <= fired[i]);
	assert_true(rr_timers_next(&timers) == RR_TIME_NEVER);
	rr_timers_fini(&timers);
}

static void again(struct rr_timer *t)
{
	n_fired++;
	assert_int_equal(rr_timer_set(&timers, t, 0), 0);
}

static void timer_that_starts_itself_anew_waits_for_the_next_round(void **state)
{
	struct rr_timer t = {.fire = again};

	n_fired = 0;
	assert_int_equal(rr_timer_set(&timers, &t, 0), 0);
	rr_timers_run(&timers, 5);
	assert_int_equal(n_fired, 1);
	rr_timers_run(&timers, 5);
	assert_int_equal(n_fired, 2);
	rr_timer_stop(&timers, &t);
	rr_timers_fini(&timers);
}

/* Whatever others do with the room between. */
static void reserved_timer_starts_without_more_memory(void **state)
{
	struct rr_timer kept = {.fire = note}, t[COUNT] = {0};

	assert_int_equal(rr_timer_reserve(&timers, &kept), 0);
	for (unsigned i = 0; i < COUNT; i++) {
		size_t room;

		t[i].fire = note;
		assert_int_equal(rr_timer_set(&timers, &t[i], 5), 0);
		room = timers.room;
		assert_int_equal(rr_timer_set(&timers, &kept, 7), 0);
		assert_int_equal(timers.room, room);
		assert_true(timers.count < room);
		if (i % 2)
			rr_timer_stop(&timers, &kept);
		else
			rr_timers_run(&timers, 4); /* too early for any */
		rr_timer_stop(&timers, &kept);
	}
	n_fired = 0;
	assert_int_equal(rr_timer_set(&timers, &kept, 4), 0);
	rr_timers_run(&timers, 4); /* and fired it has its place as before */
	assert_int_equal(n_fired, 1);
	assert_int_equal(timers.n_reserved, 1);
	assert_int_equal(rr_timer_reserve(&timers, &kept), 0);
	assert_int_equal(timers.n_reserved, 1);
	rr_timer_release(&timers, &kept);
	rr_timer_release(&timers, &kept);
	assert_int_equal(timers.n_reserved, 0);
	rr_timers_fini(&timers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(timers_fire_in_order_and_only_when_due),
	        cmocka_unit_test(
	                timer_that_starts_itself_anew_waits_for_the_next_round),
	        cmocka_unit_test(reserved_timer_starts_without_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
