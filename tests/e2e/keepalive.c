/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An idle connection speaks by itself if it is told to, and only then. [C12]
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void up(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	*(bool *)arg = !error;
}

/* Grants sent by the client in a quarter of a second of silence. */
static uint64_t grants_in_silence(uint64_t keepalive_ns)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_listener *listener;
	struct rpcrdma_service *service;
	struct rpcrdma_engine *engine;
	struct rpcrdma_stats before, after, sum;
	struct sockaddr_storage sa;
	struct rpcrdma_conn *conn;
	bool ready = false;
	uint64_t end;
	char port[8];

	o.keepalive_ns = keepalive_ns;
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	assert_int_equal(
	        rpcrdma_listen(engine, "127.0.0.1:0", NULL, service, 0, &listener), 0);
	assert_int_equal(rpcrdma_listener_addr(listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	assert_int_equal(
	        rpcrdma_connect(engine, "127.0.0.1", port, &o, up, &ready, &conn), 0);
	for (end = now_ms() + 10000; !ready && now_ms() < end;)
		assert_int_equal(rpcrdma_engine_process(engine, 100), 0);
	assert_true(ready);
	rpcrdma_conn_get_stats(conn, &before, sizeof(before));
	for (end = now_ms() + 250; now_ms() < end;)
		assert_int_equal(rpcrdma_engine_process(engine, 50), 0);
	rpcrdma_conn_get_stats(conn, &after, sizeof(after));
	assert_true(ready); /* and it is still up */
	rpcrdma_engine_get_stats(engine, &sum, sizeof(sum));
	assert_int_equal(sum.overruns, 0);
	rpcrdma_conn_close(conn);
	rpcrdma_listener_close(listener, 0);
	while (!rpcrdma_engine_idle(engine))
		assert_int_equal(rpcrdma_engine_process(engine, -1), 0);
	rpcrdma_service_free(service);
	rpcrdma_engine_free(engine);
	return after.grants - before.grants;
}

static void grants_break_the_silence(void **state)
{
	assert_in_range(grants_in_silence(20000000), 3, 14);
}

static void without_it_nothing_is_said(void **state)
{
	assert_int_equal(grants_in_silence(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(grants_break_the_silence),
	        cmocka_unit_test(without_it_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
