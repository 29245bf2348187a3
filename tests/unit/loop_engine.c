/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: which thread it takes for its own, when it turns and frees its members,
 * and how long it keeps the parts of other layers.
 *
 * A thread that ran the engine for a while must post like any other thread.
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

/* -- members --------------------------------------------------------------- */

struct played {
	struct rr_member member;
	struct rpcrdma_engine *engine;
	unsigned turns, aborts, frees;
	bool touches; /* in each turn */
	bool ends;    /* in the next turn */
};

static void turn_played(struct rr_member *m)
{
	struct played *p = rr_container_of(m, struct played, member);

	p->turns++;
	if (p->touches)
		rr_engine_touch_member(p->engine, m);
	if (p->ends)
		rr_engine_member_over(p->engine, m);
}

static void abort_played(struct rr_member *m)
{
	struct played *p = rr_container_of(m, struct played, member);

	p->aborts++;
	rr_engine_member_over(p->engine, m);
}

static void free_played(struct rr_member *m)
{
	struct played *p = rr_container_of(m, struct played, member);

	p->frees++;
	rr_engine_remove_member(p->engine, m);
}

static void played_stats(const struct rr_member *m, struct rpcrdma_stats *ret)
{
	*ret = (struct rpcrdma_stats){.calls = 3};
}

static const struct rr_member_ops played_ops = {
        .turn = turn_played,
        .abort = abort_played,
        .free = free_played,
        .stats = played_stats,
};

static void add_played(struct rpcrdma_engine *e, struct played *p)
{
	*p = (struct played){.engine = e};
	rr_engine_add_member(e, &p->member, &played_ops);
}

static void a_member_is_turned_when_it_was_touched(void **state)
{
	struct rpcrdma_engine *e;
	struct played p;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	add_played(e, &p);
	assert_false(rpcrdma_engine_idle(e));
	assert_int_equal(rpcrdma_engine_process(e, 0), 0);
	assert_int_equal(p.turns, 0);
	rr_engine_touch_member(e, &p.member);
	rr_engine_touch_member(e, &p.member);
	assert_int_equal(rpcrdma_engine_timeout_ms(e), 0);
	assert_int_equal(rpcrdma_engine_process(e, 0), 0);
	assert_int_equal(p.turns, 1);
	rpcrdma_engine_free(e);
	assert_int_equal(p.aborts, 1);
	assert_int_equal(p.frees, 1);
}

/* An iteration flushes several times; between two of them a member has one turn. */
static void a_member_that_touches_itself_lets_the_loop_go_on(void **state)
{
	struct rpcrdma_engine *e;
	struct played p;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	add_played(e, &p);
	p.touches = true;
	rr_engine_touch_member(e, &p.member);
	assert_int_equal(rpcrdma_engine_process(e, -1), 0);
	assert_in_range(p.turns, 1, 3);
	p.touches = false;
	rpcrdma_engine_free(e);
}

static void a_member_that_is_over_is_freed_in_that_iteration(void **state)
{
	struct rpcrdma_engine *e;
	struct played p, other;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	add_played(e, &p);
	add_played(e, &other);
	p.ends = true;
	rr_engine_touch_member(e, &p.member);
	assert_int_equal(rpcrdma_engine_process(e, 0), 0);
	assert_int_equal(p.frees, 1);
	assert_int_equal(p.aborts, 0);
	assert_int_equal(other.frees, 0);
	assert_false(rpcrdma_engine_idle(e));
	other.ends = true;
	rr_engine_touch_member(e, &other.member);
	assert_int_equal(rpcrdma_engine_process(e, 0), 0);
	assert_true(rpcrdma_engine_idle(e));
	rpcrdma_engine_free(e);
	assert_int_equal(p.aborts + other.aborts, 0);
}

static void the_counts_of_members_are_added(void **state)
{
	struct rpcrdma_stats s = {.calls = 0};
	struct rpcrdma_engine *e;
	struct played p, other;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	add_played(e, &p);
	add_played(e, &other);
	rpcrdma_engine_get_stats(e, &s, sizeof(s));
	assert_int_equal(s.calls, 6);
	rpcrdma_engine_free(e);
}

/* -- parts ----------------------------------------------------------------- */

static struct rr_part first, second;
static unsigned freed, first_freed_as, second_freed_as;

static void free_first(struct rr_part *p)
{
	assert_ptr_equal(p, &first);
	first_freed_as = ++freed;
}

static void free_second(struct rr_part *p)
{
	assert_ptr_equal(p, &second);
	second_freed_as = ++freed;
}

static void parts_are_found_by_kind_and_freed_last_added_first(void **state)
{
	struct rpcrdma_engine *e;
	struct played p;

	freed = 0;
	first.free = free_first;
	second.free = free_second;
	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	add_played(e, &p);
	assert_null(rr_engine_find_part(e, free_first));
	rr_engine_add_part(e, &first);
	assert_null(rr_engine_find_part(e, free_second));
	rr_engine_add_part(e, &second);
	assert_ptr_equal(rr_engine_find_part(e, free_first), &first);
	assert_ptr_equal(rr_engine_find_part(e, free_second), &second);
	assert_int_equal(freed, 0);
	rpcrdma_engine_free(e);
	assert_int_equal(p.frees, 1);
	assert_int_equal(second_freed_as, 1);
	assert_int_equal(first_freed_as, 2);
}

/* -- XIDs ------------------------------------------------------------------ */

static void no_xid_is_zero(void **state)
{
	struct rpcrdma_engine *e;

	assert_int_equal(rpcrdma_engine_new(NULL, &e), 0);
	e->next_xid = UINT32_MAX - 1;
	assert_int_equal(rr_engine_new_xid(e), UINT32_MAX);
	assert_int_equal(rr_engine_new_xid(e), 1);
	assert_int_equal(rr_engine_new_xid(e), 2);
	rpcrdma_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(who_ran_it_by_turns_is_outside_again),
	        cmocka_unit_test(who_runs_it_for_good_stays_inside),
	        cmocka_unit_test(a_member_is_turned_when_it_was_touched),
	        cmocka_unit_test(a_member_that_touches_itself_lets_the_loop_go_on),
	        cmocka_unit_test(a_member_that_is_over_is_freed_in_that_iteration),
	        cmocka_unit_test(the_counts_of_members_are_added),
	        cmocka_unit_test(parts_are_found_by_kind_and_freed_last_added_first),
	        cmocka_unit_test(no_xid_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
