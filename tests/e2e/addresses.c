/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A name with several addresses, of which only the last serves: the library tries them
 * all in one attempt, and tells the user of no failure.  This program has a getaddrinfo
 * of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { HANG_MS = 20000, ADDRESSES = 3 };

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	unsigned failures;
	bool up, over;
	int error;
} w;

/* "several" is 255.255.255.255, which cannot be connected to, 127.0.0.2 and 127.0.0.1; whatever else, 127.0.0.1. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
	static const char *const several[] = {"255.255.255.255", "127.0.0.2",
	                                      "127.0.0.1"};
	unsigned first = host && !strcmp(host, "several") ? 0 : ADDRESSES - 1;

	*ret = NULL;
	for (unsigned i = ADDRESSES; i-- > first;) {
		struct addrinfo *a = calloc(1, sizeof(*a) + sizeof(struct sockaddr_in));
		struct sockaddr_in *sin = (struct sockaddr_in *)(void *)(a + 1);

		assert_non_null(a);
		sin->sin_family = AF_INET;
		sin->sin_port = htons((uint16_t)atoi(service));
		assert_int_equal(inet_pton(AF_INET, several[i], &sin->sin_addr), 1);
		*a = (struct addrinfo){.ai_family = AF_INET,
		                       .ai_socktype = SOCK_STREAM,
		                       .ai_addrlen = sizeof(*sin),
		                       .ai_addr = (struct sockaddr *)sin,
		                       .ai_next = *ret};
		*ret = a;
	}
	return 0;
}

void freeaddrinfo(struct addrinfo *a)
{
	while (a) {
		struct addrinfo *next = a->ai_next;

		free(a);
		a = next;
	}
}

static const struct rpcrdma_program program = {0x20049003, 1, NULL, 0};

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	w.failures += error != 0;
	w.up = w.up || !error;
	w.over = w.over || final;
	w.error = error;
}

static void connect_to(const char *port, bool no_reconnect)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	o.no_reconnect = no_reconnect;
	assert_int_equal(
	        rpcrdma_connect(w.engine, "several", port, &o, on_event, NULL, &w.conn),
	        0);
	for (unsigned i = 0; i < HANG_MS / 10 && !w.up && !w.failures; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
}

static int set_up(void **state)
{
	memset(&w, 0, sizeof(w));
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(rpcrdma_listen(w.engine, "127.0.0.1:0", NULL, w.service, 0,
	                                &w.listener),
	                 0);
	return 0;
}

static int tear_down(void **state)
{
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

static void port_of(char ret[RPCRDMA_SERVICE_BYTES])
{
	struct sockaddr_storage sa;

	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(ret, RPCRDMA_SERVICE_BYTES, "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
}

/* ... also one that makes a single attempt. */
static void the_address_that_serves_is_found(void **state)
{
	char port[RPCRDMA_SERVICE_BYTES];

	port_of(port);
	for (int once = 0; once < 2; once++) {
		w.up = false;
		connect_to(port, once);
		assert_true(w.up);
		assert_int_equal(w.failures, 0);
		rpcrdma_conn_close(w.conn);
	}
}

/* Nobody serves: one failure for all, of the last. */
static void all_that_refuse_are_one_failure(void **state)
{
	char port[RPCRDMA_SERVICE_BYTES];

	port_of(port);
	rpcrdma_listener_close(w.listener, 0);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 1), 0);
	connect_to(port, true);
	assert_false(w.up);
	assert_int_equal(w.failures, 1);
	assert_true(w.over);
	assert_int_equal(w.error, -ECONNREFUSED);
	rpcrdma_conn_close(w.conn);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        TEST(the_address_that_serves_is_found),
	        TEST(all_that_refuse_are_one_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
