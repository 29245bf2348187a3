/* SPDX-License-Identifier: BSD-3-Clause */
/* Which jobs of a connection may move data at once, and in which order they start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rpc/pace.h"

enum { JOBS = 6, HALF = RR_PACE_BYTES / 2 };

static struct rr_pace pace;
static struct rr_paced jobs[JOBS];
static unsigned started[JOBS], n_started;

static void start(struct rr_paced *j)
{
	started[n_started++] = (unsigned)(j - jobs);
	rr_pace_charge(&pace, j, j->bytes);
}

static int set_up(void **state)
{
	rr_pace_init(&pace);
	n_started = 0;
	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i] = (struct rr_paced){.bytes = HALF, .go = start};
		rr_list_init(&jobs[i].link);
	}
	return 0;
}

static void enter(unsigned i)
{
	if (rr_pace_enter(&pace, &jobs[i]))
		start(&jobs[i]);
}

static void leave(unsigned i)
{
	rr_pace_leave(&pace, &jobs[i]);
	rr_pace_go(&pace);
}

static void as_many_start_as_fit(void **state)
{
	for (unsigned i = 0; i < JOBS; i++)
		enter(i);
	assert_int_equal(n_started, 2);
	leave(0);
	assert_int_equal(n_started, 3);
	for (unsigned i = 1; i < JOBS; i++)
		leave(i);
	for (unsigned i = 0; i < JOBS; i++)
		assert_int_equal(started[i], i);
	assert_int_equal(pace.moving, 0);
}

static void a_job_of_any_length_starts_alone(void **state)
{
	jobs[0].bytes = UINT64_MAX;
	enter(0);
	assert_int_equal(n_started, 1);
	enter(1);
	assert_int_equal(n_started, 1);
	leave(0);
	assert_int_equal(n_started, 2);
}

static void no_job_overtakes_another(void **state)
{
	enter(0);
	jobs[1].bytes = RR_PACE_BYTES;
	enter(1);
	jobs[2].bytes = 1;
	enter(2);
	assert_int_equal(n_started, 1);
	leave(0);
	assert_int_equal(n_started, 2);
	assert_int_equal(started[1], 1);
}

/* A job that left while it waited is not started, and makes no room for others. */
static void a_job_may_leave_while_it_waits(void **state)
{
	for (unsigned i = 0; i < 4; i++)
		enter(i);
	leave(2);
	leave(2);
	assert_int_equal(n_started, 2);
	leave(0);
	assert_int_equal(n_started, 3);
	assert_int_equal(started[2], 3);
}

/* Octets that are counted late hold up only later jobs. */
static void only_octets_in_motion_count(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		assert_true(rr_pace_enter(&pace, &jobs[i]));
	rr_pace_charge(&pace, &jobs[0], HALF);
	rr_pace_charge(&pace, &jobs[1], HALF + 1);
	assert_false(rr_pace_enter(&pace, &jobs[3]));
	rr_pace_charge(&pace, &jobs[1], HALF);
	leave(1);
	assert_int_equal(n_started, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(as_many_start_as_fit, set_up),
	        cmocka_unit_test_setup(a_job_of_any_length_starts_alone, set_up),
	        cmocka_unit_test_setup(no_job_overtakes_another, set_up),
	        cmocka_unit_test_setup(a_job_may_leave_while_it_waits, set_up),
	        cmocka_unit_test_setup(only_octets_in_motion_count, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
