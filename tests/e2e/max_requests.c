/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More Calls at once than a server serves: each is served in the end, and never
 * more than max_requests of a connection are with handlers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x20049001, VERS = 1, MS = 1000000, CALLS = 64, MOST = 8 };

static struct {
	struct rpcrdma_engine *engine;
	unsigned now, peak, served, done, failed;
	uint8_t result[20000];
} w;

static void answer(void *arg)
{
	const struct rpcrdma_piece r = {w.result, sizeof(w.result), false};

	w.now--;
	assert_int_equal(rpcrdma_request_reply(arg, &r, 1, NULL, NULL), 0);
}

static void handler(struct rpcrdma_request *q, void *arg)
{
	w.served++;
	w.peak = ++w.now > w.peak ? w.now : w.peak;
	assert_int_equal(rpcrdma_timer_start(w.engine, 50 * MS, answer, q, NULL), 0);
}

static void done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	w.done++;
	w.failed += r->status != 0 || r->len != sizeof(w.result);
}

static const struct rpcrdma_procedure procs[] = {{.name = "SLOW", .handler = handler}};
static const struct rpcrdma_program program = {PROG, VERS, procs, 1};

/* Serves on a port of the kernel's choice. */
static struct rpcrdma_service *serve(unsigned version, char port[16])
{
	struct rpcrdma_conn_options o = {
	        .size = sizeof(o), .version = version, .max_requests = MOST};
	struct sockaddr_storage sa;
	struct rpcrdma_listener *l;
	struct rpcrdma_service *s;

	assert_int_equal(rpcrdma_service_new(&s), 0);
	assert_int_equal(rpcrdma_service_add(s, &program, NULL), 0);
	o.provider = "iwarp";
	assert_int_equal(rpcrdma_listen(w.engine, "127.0.0.1:0", &o, s, 8, &l), 0);
	assert_int_equal(rpcrdma_listener_addr(l, &sa), 0);
	snprintf(port, 16, "%u", ntohs(((struct sockaddr_in *)(void *)&sa)->sin_port));
	return s;
}

static void crowd(unsigned version)
{
	struct rpcrdma_conn_options o = {
	        .size = sizeof(o), .version = version, .provider = "iwarp"};
	struct rpcrdma_call_options call = {.size = sizeof(call),
	                                    .program = PROG,
	                                    .version = VERS,
	                                    .reply_bytes = sizeof(w.result),
	                                    .timeout_ns = 30000ull * MS,
	                                    .done = done};
	struct rpcrdma_service *s;
	struct rpcrdma_conn *c;
	char port[16];

	memset(&w, 0, sizeof(w));
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	s = serve(version, port);
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", port, &o, NULL, NULL, &c), 0);
	for (unsigned i = 0; i < CALLS; i++)
		assert_int_equal(rpcrdma_call(c, &call, NULL), 0);
	while (w.done < CALLS)
		assert_int_equal(rpcrdma_engine_process(w.engine, -1), 0);
	assert_int_equal(w.failed, 0);
	assert_int_equal(w.served, CALLS);
	assert_int_equal(w.peak, MOST);
	rpcrdma_conn_close(c);
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(s);
}

static void all_are_served_in_version_2(void **state)
{
	crowd(2);
}

static void all_are_served_in_version_1(void **state)
{
	crowd(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_are_served_in_version_2),
	        cmocka_unit_test(all_are_served_in_version_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
