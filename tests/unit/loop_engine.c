/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which thread an engine takes for its own.  What another thread does to a request is
 * posted; so must be what is done by one that ran the engine for a while.
 */
#include "loop/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void who_ran_it_by_turns_is_outside_again(void **state)
{
	struct rpcrdma_engine *e;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	assert_true(rr_engine_here(e));
	assert_true(rr_engine_enter(e));
	assert_true(rr_engine_here(e));
	assert_int_equal(rr_engine_turn(e, 0), 0);
	assert_true(rr_engine_here(e));
	rr_engine_leave(e);
	assert_false(rr_engine_here(e));
	rpcrdma_engine_free(e);
}

static void who_runs_it_for_good_stays_inside(void **state)
{
	struct rpcrdma_engine *e;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	assert_true(rr_engine_enter(e));
	rr_engine_leave(e);
	assert_int_equal(rpcrdma_engine_process(e, 0), 0);
	assert_true(rr_engine_here(e));
	assert_true(rr_engine_enter(e));
	rr_engine_leave(e);
	assert_true(rr_engine_here(e));
	rpcrdma_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(who_ran_it_by_turns_is_outside_again),
	        cmocka_unit_test(who_runs_it_for_good_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
