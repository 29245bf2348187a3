/* SPDX-License-Identifier: BSD-3-Clause */
/* Polling before sleeping: which waits poll, and that the engine does so. */
#include "loop/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

/* Returns how many of the next @n waits poll.  Polling finds an event or not. */
static unsigned count_polls(struct rr_spin *s, unsigned n, bool found)
{
	unsigned polls = 0;

	for (unsigned i = 0; i < n; i++)
		if (rr_spin_begin(s)) {
			polls++;
			rr_spin_end(s, found);
		}
	return polls;
}

static void no_wait_polls_without_a_time(void **state)
{
	struct rr_spin s = {0};

	assert_int_equal(count_polls(&s, 1000, true), 0);
}

static void every_wait_polls_while_events_are_found(void **state)
{
	struct rr_spin s = {.ns = 1};

	assert_int_equal(count_polls(&s, 1000, true), 1000);
	assert_int_equal(count_polls(&s, RR_SPIN_MISSES - 1, false),
	                 RR_SPIN_MISSES - 1);
	assert_int_equal(count_polls(&s, 1, true), 1);
	assert_int_equal(count_polls(&s, RR_SPIN_MISSES, false), RR_SPIN_MISSES);
}

static void few_waits_poll_while_none_is_found(void **state)
{
	struct rr_spin s = {.ns = 1};

	assert_int_equal(count_polls(&s, RR_SPIN_MISSES, false), RR_SPIN_MISSES);
	assert_int_equal(count_polls(&s, RR_SPIN_TRY - 1, false), 0);
	assert_int_equal(count_polls(&s, 10 * RR_SPIN_TRY, false), 10);
}

static void one_event_found_makes_waits_poll_again(void **state)
{
	struct rr_spin s = {.ns = 1};

	(void)count_polls(&s, 10 * RR_SPIN_TRY, false);
	assert_int_equal(count_polls(&s, RR_SPIN_TRY, true) > 0, 1);
	assert_int_equal(count_polls(&s, 100, true), 100);
}

/* -- the engine ------------------------------------------------------------ */

static struct rpcrdma_engine *new_engine(uint64_t spin_ns)
{
	struct rpcrdma_engine_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);
	struct rpcrdma_engine *e;

	o.spin_ns = spin_ns;
	assert_int_equal(rpcrdma_engine_new(&o, &e), 0);
	return e;
}

/* Returns the number of times that the engine asks for events in one wait of 1 ms. */
static uint64_t wait_once(struct rpcrdma_engine *e)
{
	uint64_t before = e->poller.syscalls;

	assert_int_equal(rpcrdma_engine_process(e, 1), 0);
	return e->poller.syscalls - before;
}

static void an_engine_stops_polling_in_vain(void **state)
{
	struct rpcrdma_engine *e = new_engine(1000);

	for (unsigned i = 0; i < RR_SPIN_MISSES; i++)
		assert_true(wait_once(e) > 1);
	for (unsigned i = 1; i < RR_SPIN_TRY; i++)
		assert_int_equal(wait_once(e), 1);
	assert_true(wait_once(e) > 1);
	rpcrdma_engine_free(e);
}

static void ignore_ready(struct rr_source *s)
{
	(void)s;
}

/* An event that is available before the wait neither keeps the engine polling nor makes
 * it stop. */
static void waiting_events_are_not_counted(void **state)
{
	struct rpcrdma_engine *e = new_engine(1000);
	struct rr_source s = {.ready = ignore_ready, .fd = eventfd(1, 0)};

	for (unsigned i = 0; i < RR_SPIN_MISSES - 1; i++)
		assert_true(wait_once(e) > 1);
	assert_int_equal(rr_poller_add(&e->poller, &s, EPOLLIN), 0);
	for (unsigned i = 0; i < 3 * RR_SPIN_MISSES; i++)
		assert_int_equal(wait_once(e), 1);
	close(s.fd);
	rr_poller_del(&e->poller, &s);
	assert_true(wait_once(e) > 1);
	assert_int_equal(wait_once(e), 1);
	rpcrdma_engine_free(e);
}

static void polling_ends_at_the_limit_of_the_wait(void **state)
{
	struct rpcrdma_engine *e = new_engine(UINT64_MAX / 2);

	assert_true(wait_once(e) > 1); /* returns */
	rpcrdma_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_wait_polls_without_a_time),
	        cmocka_unit_test(every_wait_polls_while_events_are_found),
	        cmocka_unit_test(few_waits_poll_while_none_is_found),
	        cmocka_unit_test(one_event_found_makes_waits_poll_again),
	        cmocka_unit_test(an_engine_stops_polling_in_vain),
	        cmocka_unit_test(waiting_events_are_not_counted),
	        cmocka_unit_test(polling_ends_at_the_limit_of_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
