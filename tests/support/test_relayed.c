/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in relayed.h. */
#include "test_relayed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum { MS = 1000000, SERVERS = 2, MOST_MS = 60000 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void relayed_turn(struct relayed *r)
{
	for (unsigned i = 0; i < SERVERS; i++)
		if (r->server[i].engine)
			assert_int_equal(rpcrdma_engine_process(r->server[i].engine, 0),
			                 0);
	assert_int_equal(rpcrdma_engine_process(r->engine, 1), 0);
}

void relayed_until(struct relayed *r, bool (*what)(void))
{
	uint64_t end = now_ns() + (uint64_t)MOST_MS * MS;

	while (!what() && now_ns() < end)
		relayed_turn(r);
	assert_true(what());
}

static void start_server(struct relayed *r, unsigned i)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_listener *listener;
	struct sockaddr_storage sa;

	assert_int_equal(rpcrdma_engine_new(NULL, &r->server[i].engine), 0);
	assert_int_equal(rpcrdma_listen(r->server[i].engine, "127.0.0.1:0", &o,
	                                r->service, 8, &listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(listener, &sa), 0);
	snprintf(r->server[i].port, sizeof(r->server[i].port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
}

void relayed_add_server(struct relayed *r)
{
	start_server(r, 1);
}

static bool is_connected(const struct relayed *r)
{
	struct rpcrdma_conn_info i;

	rpcrdma_conn_get_info(r->conn, &i, sizeof(i));
	return i.connected;
}

void relayed_start(struct relayed *r, const struct rpcrdma_program *program)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	uint64_t end = now_ns() + (uint64_t)MOST_MS * MS;

	memset(r, 0, sizeof(*r));
	o.reconnect_min_ns = 2 * MS;
	o.reconnect_max_ns = 10 * MS;
	assert_int_equal(rpcrdma_service_new(&r->service), 0);
	assert_int_equal(rpcrdma_service_add(r->service, program, NULL), 0);
	start_server(r, 0);
	proxy_start(&r->proxy, r->server[0].port);
	assert_int_equal(rpcrdma_engine_new(NULL, &r->engine), 0);
	assert_int_equal(rpcrdma_connect(r->engine, "127.0.0.1", r->proxy.port, &o,
	                                 NULL, NULL, &r->conn),
	                 0);
	while (!is_connected(r) && now_ns() < end)
		relayed_turn(r);
	assert_true(is_connected(r));
}

void relayed_stop(struct relayed *r)
{
	proxy_stop(&r->proxy);
	rpcrdma_engine_free(r->engine);
	for (unsigned i = 0; i < SERVERS; i++)
		rpcrdma_engine_free(r->server[i].engine);
	rpcrdma_service_free(r->service);
}
