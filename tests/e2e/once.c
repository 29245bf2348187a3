/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Retransmission and the reply cache through the public interface, over software
 * iWARP: a relay between client and server loses replies and connections.  A
 * result carries how often its procedure was executed before, counted by the
 * handler itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

#include "test_relayed.h"

enum { PROG = 0x20049001, VERS = 1, MS = 1000000, ITEM = 20001 };
enum { P_AGAIN, P_ONCE, P_PARK };

static struct world {
	struct relayed net;
	struct rpcrdma_request *parked;
	atomic_uint executed;
	uint32_t xid[8];
	unsigned connections[8]; /* relayed when the procedure was executed */
	/* the call */
	bool done;
	int status;
	uint32_t count; /* as the result has it */
	struct rpcrdma_dest dest;
	uint8_t item[ITEM];
} w;

static uint8_t pattern(uint32_t count, size_t i)
{
	return (uint8_t)(i * 11 + (i >> 8) + count * 101);
}

/* -- the service ----------------------------------------------------------------- */

/* How often before; then an item that tells as well. */
static void answer(struct rpcrdma_request *q, uint32_t count)
{
	uint8_t *out = rpcrdma_request_alloc(q, 8 + ITEM);
	uint32_t words[2] = {htonl(count), htonl(ITEM)};
	struct rpcrdma_piece r[2] = {{out, 8, false}, {out + 8, ITEM, true}};

	assert_non_null(out);
	memcpy(out, words, 8);
	for (size_t i = 0; i < ITEM; i++)
		out[8 + i] = pattern(count, i);
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

static uint32_t execute(struct rpcrdma_request *q)
{
	uint32_t n = atomic_fetch_add(&w.executed, 1);

	assert_true(n < 8);
	w.xid[n] = rpcrdma_request_xid(q);
	w.connections[n] = atomic_load(&w.net.proxy.connections);
	return n;
}

static void h_answer(struct rpcrdma_request *q, void *arg)
{
	answer(q, execute(q));
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	execute(q);
	assert_null(w.parked);
	w.parked = q;
}

static void unpark(void)
{
	struct rpcrdma_request *q = w.parked;

	w.parked = NULL;
	if (q)
		answer(q, 0);
}

static void *unpark_thread(void *arg)
{
	unpark();
	return NULL;
}

static const struct rpcrdma_procedure procs[] = {
        [P_AGAIN] = {.name = "AGAIN", .handler = h_answer, .max_write_items = 1},
        [P_ONCE] = {.name = "ONCE",
                    .handler = h_answer,
                    .max_write_items = 1,
                    .execute_once = true},
        [P_PARK] = {.name = "PARK",
                    .handler = h_park,
                    .max_write_items = 1,
                    .execute_once = true},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, 3};

/* -- the world ------------------------------------------------------------- */

static bool is_done(void)
{
	return w.done;
}

static bool is_parked(void)
{
	return w.parked;
}

static struct rpcrdma_stats server_stats(void)
{
	struct rpcrdma_stats sum = {0}, s;

	for (unsigned i = 0; i < 2; i++) {
		if (!w.net.server[i].engine)
			continue;
		rpcrdma_engine_get_stats(w.net.server[i].engine, &s, sizeof(s));
		sum.cache_hits += s.cache_hits;
		sum.cache_waits += s.cache_waits;
		sum.connections_open += s.connections_open;
	}
	return sum;
}

static bool one_waits(void)
{
	return server_stats().cache_waits == 1;
}

static bool two_waited(void)
{
	return server_stats().cache_waits == 2;
}

static bool was_cut(void)
{
	return atomic_load(&w.net.proxy.cuts) && !atomic_load(&w.net.proxy.armed);
}

static bool none_open(void)
{
	return server_stats().connections_open == 0;
}

static int set_up(void **state)
{
	memset(&w, 0, sizeof(w));
	relayed_start(&w.net, &program);
	return 0;
}

static int tear_down(void **state)
{
	relayed_stop(&w.net);
	return 0;
}

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	w.done = true;
	w.status = r->status;
	if (r->status || r->len < 4)
		return;
	memcpy(&w.count, r->results, 4);
	w.count = ntohl(w.count);
}

static void call(uint32_t proc)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	w.done = false;
	w.count = 99;
	memset(w.item, 0, sizeof(w.item));
	w.dest = (struct rpcrdma_dest){.base = w.item, .len = sizeof(w.item)};
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.dests = &w.dest;
	o.n_dests = 1;
	o.timeout_ns = 25000ull * MS;
	o.done = on_done;
	assert_int_equal(rpcrdma_call(w.net.conn, &o, NULL), 0);
}

static void expect_result(uint32_t count)
{
	assert_int_equal(w.status, RPCRDMA_OK);
	assert_int_equal(w.count, count);
	assert_int_equal(w.dest.ret_len, ITEM);
	for (size_t i = 0; i < ITEM; i++)
		assert_int_equal(w.item[i], pattern(count, i));
}

static bool has_executed(void *arg)
{
	return atomic_load(&w.executed) > 0;
}

/* The first reply does not arrive, nor does the connection live on. */
static void call_and_lose_the_reply(uint32_t proc)
{
	proxy_arm(&w.net.proxy, has_executed, NULL);
	call(proc);
	relayed_until(&w.net, is_done);
	assert_int_equal(atomic_load(&w.net.proxy.cuts), 1);
}

/* -- tests ----------------------------------------------------------------- */

/* V2-4.5.5-01, V2-4.5.5-02, V2-7.5-01 */
static void a_call_goes_again_under_its_xid_after_the_reconnect(void **state)
{
	struct rpcrdma_stats s;

	call_and_lose_the_reply(P_AGAIN);
	assert_int_equal(atomic_load(&w.executed), 2);
	assert_int_equal(w.xid[0], w.xid[1]);
	assert_int_equal(w.connections[0], 1);
	assert_int_equal(w.connections[1], 2);
	expect_result(1);
	rpcrdma_conn_get_stats(w.net.conn, &s, sizeof(s));
	assert_int_equal(s.retransmits, 1);
	assert_int_equal(s.reconnects, 1);
	assert_int_equal(server_stats().cache_hits, 0);
}

/* The result is the first one's, with its item, in the chunk of the second. */
static void a_lost_reply_comes_from_the_cache(void **state)
{
	call_and_lose_the_reply(P_ONCE);
	assert_int_equal(atomic_load(&w.executed), 1);
	expect_result(0);
	assert_true(w.dest.ret_used);
	assert_int_equal(server_stats().cache_hits, 1);
	assert_int_equal(server_stats().cache_waits, 0);
	/* an equal Call of its own is executed */
	call(P_ONCE);
	relayed_until(&w.net, is_done);
	expect_result(1);
}

static void what_comes_from_the_cache_is_not_counted_as_executed(void **state)
{
	struct rpcrdma_proc_stats s;

	call_and_lose_the_reply(P_ONCE);
	assert_int_equal(rpcrdma_service_get_stats(w.net.service, PROG, VERS, P_ONCE,
	                                           &s, sizeof(s)),
	                 0);
	assert_int_equal(s.calls, 1);
}

static void without_a_cache_it_is_executed_again(void **state)
{
	assert_int_equal(rpcrdma_service_set_reply_cache(w.net.service, 0), 0);
	call_and_lose_the_reply(P_ONCE);
	assert_int_equal(atomic_load(&w.executed), 2);
	expect_result(1);
}

/* While the first is being executed. */
static void a_repetition_waits_for_the_first(void **state)
{
	proxy_arm(&w.net.proxy, has_executed, NULL);
	call(P_PARK);
	relayed_until(&w.net, is_parked);
	relayed_until(&w.net, one_waits);
	assert_false(w.done);
	unpark();
	relayed_until(&w.net, is_done);
	expect_result(0);
	assert_int_equal(atomic_load(&w.executed), 1);
	assert_int_equal(server_stats().cache_hits, 0);
}

static void a_repetition_that_waits_goes_with_its_connection(void **state)
{
	proxy_arm(&w.net.proxy, has_executed, NULL);
	call(P_PARK);
	relayed_until(&w.net, is_parked);
	relayed_until(&w.net, one_waits);
	proxy_arm(&w.net.proxy, has_executed, NULL); /* true: at once */
	relayed_until(&w.net, two_waited);
	/* The connection of the first waiter is gone for good: open are the one
	 * whose request is parked, and the last. */
	assert_int_equal(server_stats().connections_open, 2);
	unpark();
	relayed_until(&w.net, is_done);
	expect_result(0);
	assert_int_equal(atomic_load(&w.executed), 1);
}

/* Nobody is there any more when the result comes, from another thread. */
static void a_result_outlives_its_connection(void **state)
{
	pthread_t t;

	proxy_arm(&w.net.proxy, has_executed, NULL);
	atomic_store(&w.net.proxy.refuse, false);
	call(P_PARK);
	relayed_until(&w.net, is_parked);
	atomic_store(&w.net.proxy.refuse, true);
	relayed_until(&w.net, was_cut);
	assert_int_equal(pthread_create(&t, NULL, unpark_thread, NULL), 0);
	pthread_join(t, NULL);
	relayed_until(&w.net, none_open);
	atomic_store(&w.net.proxy.refuse, false);
	relayed_until(&w.net, is_done);
	expect_result(0);
	assert_int_equal(atomic_load(&w.executed), 1);
	assert_int_equal(server_stats().cache_hits, 1);
}

/* One service, two engines: the cache is the service's. */
static void a_repetition_may_come_to_another_engine(void **state)
{
	relayed_add_server(&w.net);
	proxy_arm(&w.net.proxy, has_executed, NULL);
	call(P_PARK);
	relayed_until(&w.net, is_parked);
	atomic_store(&w.net.proxy.target, (unsigned)atoi(w.net.server[1].port));
	relayed_until(&w.net, one_waits);
	assert_false(w.done);
	unpark();
	relayed_until(&w.net, is_done);
	expect_result(0);
	assert_int_equal(atomic_load(&w.executed), 1);
	call(P_ONCE);
	relayed_until(&w.net, is_done);
	expect_result(1);
}

/* Engines are freed with requests that wait, were told, or never end. */
static void an_engine_goes_with_what_waits_in_it(void **state)
{
	relayed_add_server(&w.net);
	proxy_arm(&w.net.proxy, has_executed, NULL);
	call(P_PARK);
	relayed_until(&w.net, is_parked);
	atomic_store(&w.net.proxy.target, (unsigned)atoi(w.net.server[1].port));
	relayed_until(&w.net, one_waits);
	if (*state)
		unpark(); /* the word is on its way to the second engine */
	rpcrdma_engine_free(w.net.server[1].engine);
	w.net.server[1].engine = NULL;
	atomic_store(&w.net.proxy.target, (unsigned)atoi(w.net.server[0].port));
	if (*state) {
		relayed_until(&w.net, is_done);
		expect_result(0);
	}
	rpcrdma_engine_free(w.net.server[0].engine);
	w.net.server[0].engine = NULL;
	assert_int_equal(atomic_load(&w.executed), 1);
}

static void an_engine_goes_with_a_request_that_was_told(void **state)
{
	void *told = &w;

	an_engine_goes_with_what_waits_in_it(&told);
}

/* The engine of the first goes before its result: the outcome is unknown, and
 * the one who waits elsewhere is told so; it is not executed again. */
static void an_unknown_outcome_is_an_error_and_not_executed_again(void **state)
{
	relayed_add_server(&w.net);
	proxy_arm(&w.net.proxy, has_executed, NULL);
	call(P_PARK);
	relayed_until(&w.net, is_parked);
	atomic_store(&w.net.proxy.target, (unsigned)atoi(w.net.server[1].port));
	relayed_until(&w.net, one_waits);
	rpcrdma_engine_free(w.net.server[0].engine);
	w.net.server[0].engine = NULL;
	w.parked = NULL;
	relayed_until(&w.net, is_done);
	assert_int_equal(w.status, RPCRDMA_SYSTEM_ERR);
	assert_int_equal(atomic_load(&w.executed), 1);
}

static void the_size_is_checked_and_fixed_by_the_first_call(void **state)
{
	assert_int_equal(rpcrdma_service_set_reply_cache(NULL, 1 << 20), -EINVAL);
	assert_int_equal(rpcrdma_service_set_reply_cache(w.net.service, 1000), -EINVAL);
	assert_int_equal(rpcrdma_service_set_reply_cache(w.net.service, 1 << 20), 0);
	call(P_ONCE);
	relayed_until(&w.net, is_done);
	assert_int_equal(rpcrdma_service_set_reply_cache(w.net.service, 2 << 20),
	                 -EBUSY);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(a_call_goes_again_under_its_xid_after_the_reconnect),
	        T(a_lost_reply_comes_from_the_cache),
	        T(what_comes_from_the_cache_is_not_counted_as_executed),
	        T(without_a_cache_it_is_executed_again),
	        T(a_repetition_waits_for_the_first),
	        T(a_repetition_that_waits_goes_with_its_connection),
	        T(a_result_outlives_its_connection),
	        T(a_repetition_may_come_to_another_engine),
	        T(an_engine_goes_with_what_waits_in_it),
	        T(an_engine_goes_with_a_request_that_was_told),
	        T(an_unknown_outcome_is_an_error_and_not_executed_again),
	        T(the_size_is_checked_and_fixed_by_the_first_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
