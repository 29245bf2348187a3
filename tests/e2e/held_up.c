/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop that was held up, by a callback that took long or by SIGSTOP: what has come
 * meanwhile counts before the timers that are due since.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x20049002, VERS = 1, MS = 1000000 };

static unsigned done_count;
static int last_status;

static struct rpcrdma_engine *server;

static void answer(void *q)
{
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

/* Late enough that the client has left its loop, and before its call times out. */
static void handler(struct rpcrdma_request *q, void *arg)
{
	assert_int_equal(rpcrdma_timer_start(server, 100 * MS, answer, q, NULL), 0);
}

static void done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	done_count++;
	last_status = r->status;
}

static void *serve(void *arg)
{
	assert_int_equal(rpcrdma_engine_run(arg), 0);
	return NULL;
}

static void a_reply_that_has_come_is_no_timeout(void **state)
{
	static const struct rpcrdma_procedure procs[] = {
	        {.name = "NULL", .handler = handler}};
	static const struct rpcrdma_program program = {PROG, VERS, procs, 1};
	struct rpcrdma_conn_options o = {.size = sizeof(o), .provider = "iwarp"};
	struct rpcrdma_call_options call = {
	        .size = sizeof(call), .program = PROG, .version = VERS, .done = done};
	const struct timespec held = {0, 600 * MS};
	struct rpcrdma_engine *client;
	struct rpcrdma_listener *l;
	struct rpcrdma_service *s;
	struct sockaddr_storage sa;
	struct rpcrdma_conn *c;
	pthread_t t;
	char port[16];

	assert_int_equal(rpcrdma_engine_new(NULL, &server), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &client), 0);
	assert_int_equal(rpcrdma_service_new(&s), 0);
	assert_int_equal(rpcrdma_service_add(s, &program, NULL), 0);
	assert_int_equal(rpcrdma_listen(server, "127.0.0.1:0", &o, s, 8, &l), 0);
	assert_int_equal(rpcrdma_listener_addr(l, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)(void *)&sa)->sin_port));
	assert_int_equal(pthread_create(&t, NULL, serve, server), 0);
	assert_int_equal(rpcrdma_connect(client, "127.0.0.1", port, &o, NULL, NULL, &c),
	                 0);
	assert_int_equal(rpcrdma_call(c, &call, NULL), 0);
	while (done_count < 1)
		assert_int_equal(rpcrdma_engine_process(client, -1), 0);
	assert_int_equal(last_status, 0);

	call.timeout_ns = 300 * MS;
	assert_int_equal(rpcrdma_call(c, &call, NULL), 0);
	assert_int_equal(rpcrdma_engine_process(client, 0), 0); /* it is sent */
	assert_int_equal(done_count, 1);
	nanosleep(&held, NULL);
	while (done_count < 2)
		assert_int_equal(rpcrdma_engine_process(client, -1), 0);
	assert_int_equal(last_status, 0);

	rpcrdma_conn_close(c);
	rpcrdma_engine_free(client);
	rpcrdma_engine_stop(server);
	pthread_join(t, NULL);
	rpcrdma_engine_free(server);
	rpcrdma_service_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_reply_that_has_come_is_no_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
