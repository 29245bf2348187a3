/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection over which only messages of an extension go is in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include <rpcrdma/extension.h>

enum { HTYPE = 0x40000001, MS = 1000000, IDLE_MS = 300, TALK_MS = 1500 };

static struct rpcrdma_engine *engine;
static struct rpcrdma_conn *conn;
static unsigned ups, downs, heard;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t received(struct rpcrdma_channel *c,
                         const struct rpcrdma_extension_message *m, void *arg)
{
	heard++;
	return 0;
}

static const struct rpcrdma_extension_htype htype = {.number = HTYPE,
                                                     .received = received};
static const struct rpcrdma_extension extension = {
        .size = sizeof(extension), .name = "idle", .htypes = &htype, .n_htypes = 1};
static const struct rpcrdma_extension *const list[] = {&extension};

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (error)
		downs++;
	else
		ups++;
}

static void until(const unsigned *what, unsigned want)
{
	uint64_t end = now_ns() + 20000ull * MS;

	while (*what < want && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(engine, 20), 0);
	assert_true(*what >= want);
}

/* What the client says keeps it open; when it is silent the server closes. */
static void messages_of_extensions_are_use(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_listener *listener;
	struct rpcrdma_service *service;
	struct sockaddr_storage sa;
	uint64_t end, next = 0;
	char port[8];

	o.extensions = list;
	o.n_extensions = 1;
	o.idle_ns = (uint64_t)IDLE_MS * MS;
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	assert_int_equal(
	        rpcrdma_listen(engine, "127.0.0.1:0", &o, service, 0, &listener), 0);
	assert_int_equal(rpcrdma_listener_addr(listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	assert_int_equal(
	        rpcrdma_connect(engine, "127.0.0.1", port, &o, on_event, NULL, &conn),
	        0);
	until(&ups, 1);
	for (end = now_ns() + (uint64_t)TALK_MS * MS; now_ns() < end;) {
		if (now_ns() >= next) {
			assert_int_equal(
			        rpcrdma_channel_send(rpcrdma_conn_channel(conn), HTYPE,
			                             0, false, 0, NULL, 0, NULL),
			        0);
			next = now_ns() + 20 * MS;
		}
		assert_int_equal(rpcrdma_engine_process(engine, 5), 0);
		assert_int_equal(downs, 0);
	}
	assert_true(heard > 1);
	until(&downs, 1);
	rpcrdma_engine_free(engine);
	rpcrdma_service_free(service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(messages_of_extensions_are_use)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
