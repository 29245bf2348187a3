/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a burst of connections goes back to the system when they have ended,
 * though an allocation made at the height of the burst stays.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { CONNECTIONS = 400, MIB = 1 << 20, CRUMBS = 1000 };

static struct rpcrdma_engine *engine;
static unsigned ready;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t all, pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu %zu", &all, &pages), 2);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void up(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	ready += !error;
}

static void run_ms(uint64_t ms)
{
	for (uint64_t end = now_ms() + ms; now_ms() < end;)
		assert_int_equal(rpcrdma_engine_process(engine, 50), 0);
}

static void memory_of_a_burst_goes_back(void **state)
{
	static struct rpcrdma_conn *conns[CONNECTIONS];
	static void *crumbs[CRUMBS];
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct sockaddr_storage sa;
	size_t before, most, after;
	uint64_t end;
	char port[8];

	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	assert_int_equal(
	        rpcrdma_listen(engine, "127.0.0.1:0", NULL, service, 0, &listener), 0);
	assert_int_equal(rpcrdma_listener_addr(listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	before = resident();
	for (unsigned i = 0; i < CONNECTIONS; i++)
		assert_int_equal(rpcrdma_connect(engine, "127.0.0.1", port, NULL, up,
		                                 NULL, &conns[i]),
		                 0);
	for (end = now_ms() + 60000; ready < CONNECTIONS && now_ms() < end;)
		assert_int_equal(rpcrdma_engine_process(engine, 100), 0);
	assert_int_equal(ready, CONNECTIONS);
	most = resident();
	for (unsigned i = 0; i < CRUMBS; i++)
		assert_non_null(crumbs[i] = malloc(1000));
	for (unsigned i = 0; i < CONNECTIONS; i++)
		rpcrdma_conn_close(conns[i]);
	run_ms(2500);
	after = resident();
	print_message("%zu MiB before, %zu with %d connections, %zu after\n",
	              before / MIB, most / MIB, CONNECTIONS, after / MIB);
	/* The engine's cache of free memory is 24 MiB. */
	assert_true(after < before + 32 * MIB);
	for (unsigned i = 0; i < CRUMBS; i++)
		free(crumbs[i]);
	rpcrdma_listener_close(listener, 0);
	while (!rpcrdma_engine_idle(engine))
		assert_int_equal(rpcrdma_engine_process(engine, -1), 0);
	rpcrdma_service_free(service);
	rpcrdma_engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(memory_of_a_burst_goes_back)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
