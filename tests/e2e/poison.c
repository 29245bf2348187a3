/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls whose execution ends the connection, every time, beside calls that do nothing
 * wrong.  A relay between client and server resets the connection when the server
 * answers such a call.  No call here has a timeout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

#include "test_relayed.h"

enum { PROG = 0x20049001, VERS = 1, CALLS = 64 };
enum { P_NULL, P_POISON, P_PARK };
/* As rpcrdma_call(3) has it: two in company and two alone, or eight in all. */
enum { LOSSES = 4, LATE_LOSSES = 8 };

/* One call, again and again if it does nothing wrong. */
struct user {
	bool again, done;
	int status;
	unsigned answers;
};

static struct world {
	struct relayed net;
	struct rpcrdma_request *parked[16];
	unsigned n_parked, executed[3];
	bool over; /* no call is made again */
	struct user user[CALLS];
	unsigned n_users;
} w;

/* -- the service ----------------------------------------------------------------- */

static void h_null(struct rpcrdma_request *q, void *arg)
{
	w.executed[P_NULL]++;
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static void h_poison(struct rpcrdma_request *q, void *arg)
{
	w.executed[P_POISON]++;
	proxy_arm(&w.net.proxy, NULL, NULL);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	w.executed[P_PARK]++;
	assert_true(w.n_parked < 16);
	w.parked[w.n_parked++] = q;
}

static void unpark(void)
{
	for (; w.n_parked; w.n_parked--)
		assert_int_equal(rpcrdma_request_reply(w.parked[w.n_parked - 1], NULL,
		                                       0, NULL, NULL),
		                 0);
}

static const struct rpcrdma_procedure procs[] = {
        [P_NULL] = {.name = "NULL", .handler = h_null},
        [P_POISON] = {.name = "POISON", .handler = h_poison},
        [P_PARK] = {.name = "PARK", .handler = h_park},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, 3};

/* -- the world ------------------------------------------------------------- */

static void call(struct user *u, uint32_t proc);

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct user *u = arg;

	u->status = r->status;
	u->answers += !r->status;
	if (u->again && !w.over && !r->status)
		call(u, P_NULL);
	else
		u->done = true;
}

static void call(struct user *u, uint32_t proc)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.done = on_done;
	o.arg = u;
	assert_int_equal(rpcrdma_call(w.net.conn, &o, NULL), 0);
}

static struct user *begin(uint32_t proc, bool again)
{
	struct user *u = &w.user[w.n_users++];

	assert_true(w.n_users <= CALLS);
	u->again = again;
	call(u, proc);
	return u;
}

static bool all_done(void)
{
	for (unsigned i = 0; i < w.n_users; i++)
		if (!w.user[i].done)
			return false;
	return true;
}

/* Those that are made once. */
static bool all_once_done(void)
{
	for (unsigned i = 0; i < w.n_users; i++)
		if (!w.user[i].again && !w.user[i].done)
			return false;
	return true;
}

static int set_up(void **state)
{
	memset(&w, 0, sizeof(w));
	relayed_start(&w.net, &program);
	return 0;
}

static int tear_down(void **state)
{
	unpark();
	relayed_stop(&w.net);
	return 0;
}

static unsigned connections(void)
{
	return atomic_load(&w.net.proxy.connections);
}

static void end_all(void)
{
	w.over = true;
	relayed_until(&w.net, all_done);
}

/* -- tests ----------------------------------------------------------------- */

/* V2-7.3-04: it ends with the connection's error, and what is beside it is served. */
static void a_call_that_ends_connections_ends(void **state)
{
	struct user *poison, *null[8];

	for (unsigned i = 0; i < 8; i++)
		null[i] = begin(P_NULL, true);
	poison = begin(P_POISON, false);
	relayed_until(&w.net, all_once_done);
	assert_int_equal(poison->status, -ECONNRESET);
	assert_int_equal(w.executed[P_POISON], LOSSES);
	assert_int_equal(connections(), 1 + w.executed[P_POISON] - 1);
	end_all();
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(null[i]->status, 0);
		assert_true(null[i]->answers > 0);
	}
}

static void one_alone_ends_too(void **state)
{
	struct user *poison = begin(P_POISON, false);

	relayed_until(&w.net, all_done);
	assert_int_equal(poison->status, -ECONNRESET);
	assert_int_equal(w.executed[P_POISON], LOSSES);
	begin(P_NULL, false);
	relayed_until(&w.net, all_done);
	assert_int_equal(w.user[1].status, 0);
}

/* Each is found out alone; nobody who is innocent is taken for one of them. */
static void several_of_them_are_told_apart_from_others(void **state)
{
	for (unsigned i = 0; i < 30; i++)
		begin(i % 6 ? P_NULL : P_POISON, false);
	relayed_until(&w.net, all_done);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(w.user[i].status, i % 6 ? 0 : -ECONNRESET);
	assert_true(w.executed[P_POISON] <= 5 * LOSSES);
}

static bool is_parked(void)
{
	return w.n_parked > 0;
}

static bool at_once(void *arg)
{
	return true;
}

/* The server goes away three times under one call that takes long. */
static void a_long_call_survives_three_losses(void **state)
{
	struct user *u = begin(P_PARK, false);

	for (unsigned i = 0; i < 3; i++) {
		unsigned before = connections();

		relayed_until(&w.net, is_parked);
		proxy_arm(&w.net.proxy, at_once, NULL);
		while (connections() == before)
			relayed_turn(&w.net);
		unpark(); /* nobody hears it */
	}
	relayed_until(&w.net, is_parked);
	unpark();
	relayed_until(&w.net, all_done);
	assert_int_equal(u->status, 0);
	assert_int_equal(w.executed[P_PARK], 4);
}

static bool second_done(void)
{
	return w.user[1].done;
}

/* The server does not answer the suspected call, which has the connection to itself at
 * first.  Another call is answered all the same. */
static void others_do_not_wait_for_one_that_takes_long(void **state)
{
	struct user *u = begin(P_PARK, false), *null;

	for (unsigned i = 0; i < 2; i++) {
		unsigned before = connections();

		relayed_until(&w.net, is_parked);
		proxy_arm(&w.net.proxy, at_once, NULL);
		while (connections() == before)
			relayed_turn(&w.net);
		unpark();
	}
	relayed_until(&w.net, is_parked);
	null = begin(P_NULL, false);
	relayed_until(&w.net, second_done);
	assert_false(u->done);
	unpark();
	relayed_until(&w.net, all_done);
	assert_int_equal(u->status, 0);
	assert_int_equal(null->status, 0);
}

/* Others may be on the connection, then: a bound in all. */
static void one_that_ends_connections_late_ends(void **state)
{
	struct user *u = begin(P_PARK, false);

	begin(P_NULL, true);
	for (unsigned i = 0; i < LATE_LOSSES && !u->done; i++) {
		unsigned before = connections(), served = w.executed[P_NULL];

		relayed_until(&w.net, is_parked);
		while (w.executed[P_NULL] == served)
			relayed_turn(&w.net);
		proxy_arm(&w.net.proxy, at_once, NULL);
		while (connections() == before)
			relayed_turn(&w.net);
		unpark();
	}
	relayed_until(&w.net, all_once_done);
	assert_true(u->status < 0);
	assert_int_equal(w.executed[P_PARK], LATE_LOSSES);
	end_all();
	assert_int_equal(w.user[1].status, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        TEST(a_call_that_ends_connections_ends),
	        TEST(one_alone_ends_too),
	        TEST(several_of_them_are_told_apart_from_others),
	        TEST(a_long_call_survives_three_losses),
	        TEST(others_do_not_wait_for_one_that_takes_long),
	        TEST(one_that_ends_connections_late_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
