/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long chunks of many Calls at once.  In each direction only two chunks of 1 MiB are in
 * motion.  All Calls end in order.  Waiting Calls end with their connection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include <rpcrdma/cursor.h>

enum { PROG = 0x20000054, VERS = 1, P_GET = 1, P_PUT = 2, P_SHORT = 3 };
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

enum { MIB = 1 << 20, CALLS = 8, IN_MOTION = 2, TURNS = 100 };

struct call {
	uint8_t head[8];
	struct rpcrdma_piece args[2];
	struct rpcrdma_dest dest;
	int status;
};

static struct {
	struct rpcrdma_engine *client, *server;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	unsigned handled, n_over;
	struct call calls[CALLS + 1];
	uint8_t *places; /* a MiB for each call */
} w;

static void put32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

/* -- the server ------------------------------------------------------------ */

/* Each result is a MiB of octets that count the requests. */
static void h_get(struct rpcrdma_request *q, void *arg)
{
	uint8_t *p = rpcrdma_request_alloc(q, MIB + 4);
	struct rpcrdma_piece r[2];

	assert_non_null(p);
	put32(p, MIB);
	memset(p + 4, (int)w.handled++, MIB);
	r[0] = (struct rpcrdma_piece){p, 4, false};
	r[1] = (struct rpcrdma_piece){p + 4, MIB, true};
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

/* Calls are executed in the order in which they were made. */
static void h_put(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_cursor c;
	const uint8_t *p;
	uint32_t len;

	rpcrdma_request_cursor(q, &c);
	p = rpcrdma_cursor_opaque(&c, NULL, MIB, &len);
	assert_non_null(p);
	assert_int_equal(len, MIB);
	assert_int_equal(p[0], w.handled);
	assert_int_equal(p[MIB - 1], w.handled);
	w.handled++;
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static void h_short(struct rpcrdma_request *q, void *arg)
{
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure procs[] = {
        [P_GET] = {"GET", h_get, .max_write_items = 1},
        [P_PUT] = {"PUT", h_put, .max_read_items = 1},
        [P_SHORT] = {"SHORT", h_short},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, 4};

static uint64_t held_bytes(void)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(w.server, &s, sizeof(s));
	return s.held_bytes;
}

/* -- the client ------------------------------------------------------------ */

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct call *c = arg;

	c->status = r->status;
	w.n_over++;
}

static void begin(unsigned i, uint32_t proc)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct call *c = &w.calls[i];

	*c = (struct call){.dest = {.base = w.places + (size_t)i * MIB, .len = MIB}};
	put32(c->head, MIB);
	if (proc == P_PUT)
		memset(w.places + (size_t)i * MIB, (int)i, MIB);
	c->args[0] = (struct rpcrdma_piece){c->head, 4, false};
	c->args[1] = (struct rpcrdma_piece){c->dest.base, MIB, true};
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.args = c->args;
	o.n_args = proc == P_PUT ? 2 : 0;
	o.dests = &c->dest;
	o.n_dests = proc == P_GET;
	o.reply_bytes = 64;
	o.done = on_done;
	o.arg = c;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
}

/* Runs the engines that exist, in turns. */
static void turn(void)
{
	if (w.server)
		assert_int_equal(rpcrdma_engine_process(w.server, 1), 0);
	if (w.client)
		assert_int_equal(rpcrdma_engine_process(w.client, 1), 0);
}

static void wait_over(unsigned n)
{
	while (w.n_over < n)
		turn();
}

/* Makes CALLS calls, which the server receives while the client does nothing more. */
static void begin_all(uint32_t proc)
{
	begin(CALLS, P_SHORT); /* makes the connection */
	wait_over(1);
	w.n_over = 0;
	for (unsigned i = 0; i < CALLS; i++)
		begin(i, proc);
	assert_int_equal(rpcrdma_engine_process(w.client, 0), 0);
	for (unsigned i = 0; i < TURNS; i++)
		assert_int_equal(rpcrdma_engine_process(w.server, 1), 0);
}

static void check_all(uint32_t proc)
{
	wait_over(CALLS);
	assert_int_equal(w.handled, CALLS);
	for (unsigned i = 0; i < CALLS; i++) {
		const uint8_t *p = w.places + (size_t)i * MIB;

		assert_int_equal(w.calls[i].status, 0);
		if (proc != P_GET)
			continue;
		assert_int_equal(w.calls[i].dest.ret_len, MIB);
		assert_int_equal(p[0], i);
		assert_int_equal(p[MIB - 1], i);
	}
}

/* -- set-up ---------------------------------------------------------------- */

static int set_up(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;
	char port[8];

	memset(&w, 0, sizeof(w));
	w.places = malloc((CALLS + 1) * (size_t)MIB);
	o.provider = "iwarp";
	assert_int_equal(rpcrdma_engine_new(NULL, &w.client), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &w.server), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(
	        rpcrdma_listen(w.server, "127.0.0.1:0", &o, w.service, 0, &w.listener),
	        0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)(void *)&sa)->sin_port));
	o.no_reconnect = true;
	assert_int_equal(
	        rpcrdma_connect(w.client, "127.0.0.1", port, &o, NULL, NULL, &w.conn),
	        0);
	return 0;
}

static int tear_down(void **state)
{
	rpcrdma_engine_free(w.client);
	rpcrdma_engine_free(w.server);
	rpcrdma_service_free(w.service);
	free(w.places);
	return 0;
}

/* Closes the listener and waits until the server has no connection and no request. */
static void close_server(void)
{
	rpcrdma_listener_close(w.listener, 0);
	while (!rpcrdma_engine_idle(w.server))
		turn();
	assert_int_equal(held_bytes(), 0);
}

/* -- tests ----------------------------------------------------------------- */

static void results_are_made_while_earlier_ones_leave(void **state)
{
	begin_all(P_GET);
	assert_int_equal(w.handled, IN_MOTION);
	check_all(P_GET);
}

static void few_arguments_are_pulled_at_once(void **state)
{
	begin_all(P_PUT);
	assert_int_equal(w.handled, 0);
	assert_in_range(held_bytes(), IN_MOTION * MIB, (IN_MOTION + 1) * MIB);
	check_all(P_PUT);
}

static void cut(uint32_t proc)
{
	begin_all(proc);
	rpcrdma_engine_free(w.client);
	w.client = NULL;
	close_server();
}

static void waiting_results_end_with_the_connection(void **state)
{
	cut(P_GET);
}

static void waiting_arguments_end_with_the_connection(void **state)
{
	cut(P_PUT);
}

static void close_early(uint32_t proc)
{
	begin_all(proc);
	close_server();
	wait_over(CALLS);
}

static void waiting_results_end_with_the_listener(void **state)
{
	close_early(P_GET);
}

static void waiting_arguments_end_with_the_listener(void **state)
{
	close_early(P_PUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(results_are_made_while_earlier_ones_leave),
	        TEST(few_arguments_are_pulled_at_once),
	        TEST(waiting_results_end_with_the_connection),
	        TEST(waiting_arguments_end_with_the_connection),
	        TEST(waiting_results_end_with_the_listener),
	        TEST(waiting_arguments_end_with_the_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
