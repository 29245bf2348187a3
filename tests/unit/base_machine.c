/* SPDX-License-Identifier: BSD-3-Clause */
/* State machines as tables: what is in them is accepted, and nothing else. */
#include "base/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conn/states.h"

#define DOOR_EVENTS(X)                                                                 \
	X(PUSH, "somebody pushes")                                                     \
	X(TURN, "somebody turns the key")                                              \
	X(KNOCK, "somebody knocks")
#define DOOR_STATES(X)                                                                 \
	X(OPEN, "one can walk through", PUSH)                                          \
	X(SHUT, "the key is not turned", PUSH | TURN | KNOCK)                          \
	X(LOCKED, "the key is turned", TURN | KNOCK)
#define DOOR_MOVES(X)                                                                  \
	X(OPEN, PUSH, SHUT)                                                            \
	X(SHUT, PUSH, OPEN)                                                            \
	X(SHUT, TURN, LOCKED)                                                          \
	X(LOCKED, TURN, SHUT)

enum { BY_PUSH, BY_TURN, BY_KNOCK };
enum { AT_OPEN, AT_SHUT, AT_LOCKED };

const struct rr_machine *door(void);
RR_MACHINE(door, DOOR)

static void a_state_accepts_the_events_of_its_row(void **state)
{
	static const bool want[3][3] = {
	        [AT_OPEN] = {[BY_PUSH] = true},
	        [AT_SHUT] = {true, true, true},
	        [AT_LOCKED] = {[BY_TURN] = true, [BY_KNOCK] = true},
	};

	(void)state;
	assert_int_equal(door()->n_states, 3);
	assert_int_equal(door()->n_events, 3);
	for (unsigned s = 0; s < 3; s++)
		for (unsigned e = 0; e < 3; e++)
			assert_int_equal(rr_machine_accepts(door(), s, e), want[s][e]);
	assert_false(rr_machine_accepts(door(), 3, BY_PUSH));
	assert_false(rr_machine_accepts(door(), AT_OPEN, 3));
}

static void a_move_has_a_row_with_all_three(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned from = 0; from < 3; from++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned to = 0; to < 3; to++)
				n += rr_machine_moves(door(), from, e, to);
	assert_int_equal(n, 4);
	assert_true(rr_machine_moves(door(), AT_SHUT, BY_TURN, AT_LOCKED));
	assert_false(rr_machine_moves(door(), AT_SHUT, BY_KNOCK, AT_LOCKED));
	assert_false(rr_machine_moves(door(), AT_OPEN, BY_PUSH, AT_LOCKED));
}

enum check { EVENT, MOVE };

/* Does the check abort? */
static bool aborts(const struct rr_machine *m, enum check kind, unsigned from,
                   unsigned event, unsigned to)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		if (kind == EVENT)
			rr_machine_check_event(m, from, event);
		else
			rr_machine_check_move(m, from, event, to);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && !WEXITSTATUS(status)));
	return WIFSIGNALED(status);
}

static void what_the_tables_lack_aborts(void **state)
{
	(void)state;
	assert_false(aborts(door(), EVENT, AT_SHUT, BY_KNOCK, 0));
	assert_true(aborts(door(), EVENT, AT_OPEN, BY_KNOCK, 0));
	assert_false(aborts(door(), MOVE, AT_SHUT, BY_TURN, AT_LOCKED));
	assert_true(aborts(door(), MOVE, AT_SHUT, BY_TURN, AT_OPEN));
}

/* Each table of a connection without its last move. */
static void a_move_removed_from_a_table_aborts(void **state)
{
	const struct rr_machine *all[] = {
	        rr_conn_machine(), rr_call_machine(),      rr_request_machine(),
	        rr_mr_machine(),   rr_props_out_machine(), rr_props_in_machine(),
	        rr_auth_machine(),
	};

	(void)state;
	for (unsigned k = 0; k < RR_ARRAY_SIZE(all); k++) {
		struct rr_machine without = *all[k];
		struct rr_move last = without.move[--without.n_moves];

		assert_true(rr_machine_moves(all[k], last.from, last.event, last.to));
		assert_false(aborts(all[k], MOVE, last.from, last.event, last.to));
		assert_true(aborts(&without, MOVE, last.from, last.event, last.to));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_state_accepts_the_events_of_its_row),
	        cmocka_unit_test(a_move_has_a_row_with_all_three),
	        cmocka_unit_test(what_the_tables_lack_aborts),
	        cmocka_unit_test(a_move_removed_from_a_table_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
