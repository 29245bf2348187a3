/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 1: a server that does not answer.  A call that was given up keeps its
 * credit until it is answered all the same; when no credit is left but for such
 * calls, nothing can be sent any more.                     [RFC 8166 §3.3.1]
 */
#include "test_conn_v1.h"

enum { CALLS = 5, GRACE = 5 };

struct silent {
	struct side *s;
	struct v1_call *o[CALLS];
};

/* The first was answered, and two credits granted; the others wait for theirs. */
static struct silent begin_with(enum rr_conn_role role,
                                const struct rr_conn_config *cfg, unsigned started)
{
	struct silent t = {.s = v1_new(role, cfg, NULL)};

	if (role == RR_CONN_SERVER) {
		raw_receive(t.s, "00000099" V1_MSG V1_EMPTY CALL("00000099"));
		raw_skip(t.s);
	}
	for (unsigned i = 0; i < CALLS; i++)
		t.o[i] = v1_call(0x100 + i, 8, false);
	for (unsigned i = 0; i < started; i++)
		v1_start(t.s, t.o[i]);
	raw_receive(t.s,
	            "00000100" V1("00000002", "00000000") V1_EMPTY REPLY("00000100"));
	side_complete_all(t.s);
	assert_int_equal(t.o[0]->call.status, RR_CALL_OK);
	return t;
}

static struct silent begin(enum rr_conn_role role, unsigned started)
{
	return begin_with(role, NULL, started);
}

static void give_up(struct silent *t, unsigned i)
{
	rr_conn_cancel(t->s->c, &t->o[i]->call, t->s->now);
	side_drain(t->s);
	assert_int_equal(t->o[i]->call.status, -ECANCELED);
}

static void after_seconds(struct silent *t, unsigned n)
{
	t->s->now += RR_SEC(n);
	rr_conn_tick(t->s->c, t->s->now);
	side_drain(t->s);
}

static void end(struct silent *t)
{
	for (unsigned i = 0; i < CALLS; i++)
		rr_conn_call_release(t->s->c, &t->o[i]->call, t->s->now);
	raw_end(t->s);
	for (unsigned i = 0; i < CALLS; i++)
		free(t->o[i]);
}

/* The calls that wait would wait for ever: better on another connection. */
static void calls_do_not_wait_behind_those_given_up(void **state)
{
	struct silent t = begin(RR_CONN_CLIENT, 4);

	give_up(&t, 1);
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	give_up(&t, 2);
	assert_int_equal(rr_conn_deadline(t.s->c), t.s->now + RR_SEC(GRACE));
	after_seconds(&t, GRACE - 1);
	assert_false(t.s->disconnect);
	after_seconds(&t, 1);
	raw_expect_close(t.s, -ETIMEDOUT);
	end(&t);
}

/* One of them is still wanted, and its answer frees a credit. */
static void a_call_that_is_awaited_may_take_its_time(void **state)
{
	struct silent t = begin(RR_CONN_CLIENT, 4);

	give_up(&t, 1);
	after_seconds(&t, 1000);
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	assert_false(t.s->disconnect);
	end(&t);
}

/* A late answer is an answer. */
static void a_late_answer_ends_the_wait(void **state)
{
	struct silent t = begin(RR_CONN_CLIENT, 4);

	give_up(&t, 1);
	give_up(&t, 2);
	after_seconds(&t, GRACE - 1);
	raw_receive(t.s,
	            "00000101" V1("00000002", "00000000") V1_EMPTY REPLY("00000101"));
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	after_seconds(&t, GRACE);
	assert_false(t.s->disconnect);
	assert_int_equal(t.s->n_sent, 4); /* the last one too */
	give_up(&t, 3);                   /* from the beginning */
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	end(&t);
}

/* Nobody is in a hurry; the next call is. */
static void without_a_call_that_waits_the_connection_stays(void **state)
{
	struct silent t = begin(RR_CONN_CLIENT, 3);

	give_up(&t, 1);
	give_up(&t, 2);
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	after_seconds(&t, 1000);
	assert_false(t.s->disconnect);
	v1_start(t.s, t.o[3]);
	after_seconds(&t, 0);
	raw_expect_close(t.s, -ETIMEDOUT);
	end(&t);
}

/* It cannot connect anew, and its client may be well otherwise. */
static void a_server_keeps_the_connection(void **state)
{
	struct silent t = begin(RR_CONN_SERVER, 4);

	give_up(&t, 1);
	give_up(&t, 2);
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	after_seconds(&t, 1000);
	assert_false(t.s->disconnect);
	end(&t);
}

/* The watch runs from the first moment on, whatever comes, is given up or begun
 * meanwhile. */
static void what_comes_later_does_not_prolong_the_wait(void **state)
{
	struct silent t = begin(RR_CONN_CLIENT, 4);
	rr_time until;

	give_up(&t, 1);
	give_up(&t, 2);
	until = t.s->now + RR_SEC(GRACE);
	after_seconds(&t, 2);
	v1_start(t.s, t.o[4]);
	assert_int_equal(rr_conn_deadline(t.s->c), until);
	after_seconds(&t, 1);
	give_up(&t, 4);
	assert_int_equal(rr_conn_deadline(t.s->c), until);
	/* A late answer that takes its own credit away. */
	raw_receive(t.s,
	            "00000101" V1("00000001", "00000000") V1_EMPTY REPLY("00000101"));
	assert_int_equal(rr_conn_deadline(t.s->c), until);
	after_seconds(&t, 2);
	raw_expect_close(t.s, -ETIMEDOUT);
	end(&t);
}

/* Who asked to wait without bound does. */
static void without_a_bound_the_calls_wait(void **state)
{
	const struct rr_conn_config cfg = {.drain_ns = RR_TIME_NEVER};
	struct silent t = begin_with(RR_CONN_CLIENT, &cfg, 4);

	give_up(&t, 1);
	give_up(&t, 2);
	assert_int_equal(rr_conn_deadline(t.s->c), RR_TIME_NEVER);
	after_seconds(&t, 100000);
	assert_false(t.s->disconnect);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(calls_do_not_wait_behind_those_given_up),
	        cmocka_unit_test(a_call_that_is_awaited_may_take_its_time),
	        cmocka_unit_test(a_late_answer_ends_the_wait),
	        cmocka_unit_test(without_a_call_that_waits_the_connection_stays),
	        cmocka_unit_test(a_server_keeps_the_connection),
	        cmocka_unit_test(what_comes_later_does_not_prolong_the_wait),
	        cmocka_unit_test(without_a_bound_the_calls_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
