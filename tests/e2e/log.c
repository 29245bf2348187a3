/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: which events a person is told of, at which level, and of which peer. */
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
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x20000052, VERS = 1, P_ECHO = 1, MOST_LINES = 400 };
#define SEC 1000000000ull

/* One end, in an engine of its own. */
struct end {
	struct rpcrdma_engine *engine;
	unsigned n;
	struct {
		enum rpcrdma_log_level level;
		char text[400];
	} line[MOST_LINES];
};

static struct end client, server;
static struct rpcrdma_service *service;
static struct rpcrdma_listener *listener;
static struct rpcrdma_conn *conn;
static struct rpcrdma_conn_options options, server_options;
static char port[8];

static void take_line(enum rpcrdma_log_level level, const char *text, void *arg)
{
	struct end *e = arg;

	assert_null(strchr(text, '\n'));
	assert_in_range(level, RPCRDMA_LOG_ERROR, RPCRDMA_LOG_DEBUG);
	if (e->n == MOST_LINES)
		return;
	e->line[e->n].level = level;
	snprintf(e->line[e->n++].text, sizeof(e->line[0].text), "%s", text);
}

static unsigned count_lines(const struct end *e, enum rpcrdma_log_level level,
                            const char *part)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->n; i++)
		n += e->line[i].level == level && strstr(e->line[i].text, part);
	return n;
}

static void expect_line(const struct end *e, enum rpcrdma_log_level level,
                        const char *part)
{
	if (count_lines(e, level, part))
		return;
	for (unsigned i = 0; i < e->n; i++)
		print_message("%d %s\n", e->line[i].level, e->line[i].text);
	fail_msg("no line of level %d: %s", level, part);
}

static void h_echo(struct rpcrdma_request *q, void *arg)
{
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure procs[] = {[P_ECHO] = {"ECHO", h_echo}};
static const struct rpcrdma_program program = {PROG, VERS, procs, 2};

static int set_up(void **state)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	conn = NULL;
	options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	options.provider = "iwarp";
	server_options = options;
	options.no_reconnect = true;
	assert_int_equal(rpcrdma_engine_new(NULL, &client.engine), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &server.engine), 0);
	rpcrdma_engine_set_log(client.engine, RPCRDMA_LOG_INFO, take_line, &client);
	rpcrdma_engine_set_log(server.engine, RPCRDMA_LOG_INFO, take_line, &server);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	assert_int_equal(rpcrdma_service_add(service, &program, NULL), 0);
	return 0;
}

static void serve(unsigned max_connections)
{
	struct sockaddr_storage sa;

	assert_int_equal(rpcrdma_listen(server.engine, "127.0.0.1:0", &server_options,
	                                service, max_connections, &listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
}

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	unsigned *events = arg;

	++*events;
}

static void turn(void)
{
	if (server.engine)
		assert_int_equal(rpcrdma_engine_process(server.engine, 1), 0);
	assert_int_equal(rpcrdma_engine_process(client.engine, 1), 0);
}

/* Until it is up, or over. */
static struct rpcrdma_conn *connect_to(const char *where)
{
	static unsigned events; /* the connection reports to it as long as it lives */
	struct rpcrdma_conn *c;

	events = 0;
	assert_int_equal(rpcrdma_connect(client.engine, "127.0.0.1", where, &options,
	                                 on_event, &events, &c),
	                 0);
	while (!events)
		turn();
	return c;
}

static void run_to_end(struct end *e)
{
	while (e->engine && !rpcrdma_engine_idle(e->engine))
		turn();
	rpcrdma_engine_free(e->engine);
	e->engine = NULL;
}

static int tear_down(void **state)
{
	if (conn)
		rpcrdma_conn_close(conn);
	if (server.engine && listener)
		rpcrdma_listener_close(listener, 0);
	listener = NULL;
	run_to_end(&client);
	client.engine = NULL;
	while (server.engine && !rpcrdma_engine_idle(server.engine))
		assert_int_equal(rpcrdma_engine_process(server.engine, 100), 0);
	rpcrdma_engine_free(server.engine);
	rpcrdma_service_free(service);
	return 0;
}

/* "127.0.0.1:PORT: REST" */
static const char *of_server(const char *rest)
{
	static char s[200];

	snprintf(s, sizeof(s), "127.0.0.1:%s: %s", port, rest);
	return s;
}

static void connecting_says_who_how_and_in_which_version(void **state)
{
	serve(0);
	conn = connect_to(port);
	expect_line(&client, RPCRDMA_LOG_INFO,
	            of_server("connected: provider iwarp, RPC-over-RDMA version 2"));
	expect_line(&server, RPCRDMA_LOG_INFO, "127.0.0.1:");
	expect_line(&server, RPCRDMA_LOG_INFO, ": connected: provider iwarp");
	rpcrdma_conn_close(conn);
	conn = NULL;
	while (!count_lines(&server, RPCRDMA_LOG_INFO, "closed in order"))
		turn();
	assert_int_equal(count_lines(&client, RPCRDMA_LOG_WARNING, ""), 0);
	assert_int_equal(count_lines(&server, RPCRDMA_LOG_WARNING, ""), 0);
}

static void a_server_that_is_not_there_is_an_error(void **state)
{
	snprintf(port, sizeof(port), "1");
	conn = connect_to("1");
	expect_line(&client, RPCRDMA_LOG_WARNING,
	            of_server("no connection came about: "));
	expect_line(&client, RPCRDMA_LOG_ERROR,
	            of_server("not reconnecting: connection refused"));
}

static void a_lost_connection_and_the_next_attempt_are_told(void **state)
{
	options.no_reconnect = false;
	serve(0);
	conn = connect_to(port);
	rpcrdma_engine_free(server.engine);
	server.engine = NULL;
	listener = NULL;
	while (!count_lines(&client, RPCRDMA_LOG_INFO, "reconnecting in"))
		turn();
	expect_line(&client, RPCRDMA_LOG_WARNING, of_server("connection lost: "));
	expect_line(&client, RPCRDMA_LOG_INFO, of_server("reconnecting in"));
}

static void going_down_to_version_1_is_told(void **state)
{
	server_options.version = 1;
	serve(0);
	conn = connect_to(port);
	expect_line(&client, RPCRDMA_LOG_INFO,
	            of_server("the server does not support the version requested, "
	                      "only 1 to 1"));
	expect_line(&client, RPCRDMA_LOG_INFO, "RPC-over-RDMA version 1");
}

static void called(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	*(int *)arg = r->status;
}

static void a_call_that_is_refused_is_told(void **state)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	char room[8192];
	struct rpcrdma_dest dest = {.base = room, .len = sizeof(room)};
	int status = INT32_MIN;

	serve(0);
	conn = connect_to(port);
	o.program = PROG;
	o.version = VERS;
	o.procedure = P_ECHO;
	o.dests = &dest;
	o.n_dests = 1;
	o.done = called;
	o.arg = &status;
	assert_int_equal(rpcrdma_call(conn, &o, NULL), 0);
	while (status == INT32_MIN)
		turn();
	assert_int_equal(status, 0); /* made otherwise */
	expect_line(&server, RPCRDMA_LOG_WARNING,
	            ": a call is refused: its chunks do not match program 536870994 "
	            "version 1 procedure 1");
	expect_line(&server, RPCRDMA_LOG_INFO, ": sent an error: ");
	expect_line(&client, RPCRDMA_LOG_INFO,
	            of_server("a call is retried in another way: "));
}

static void who_makes_room_is_told(void **state)
{
	struct rpcrdma_conn *second;

	serve(1);
	conn = connect_to(port);
	second = connect_to(port);
	expect_line(&server, RPCRDMA_LOG_WARNING,
	            ": closed to make room for another connection: ");
	expect_line(&server, RPCRDMA_LOG_WARNING,
	            ": connection lost: closed to make room");
	rpcrdma_conn_close(second);
}

static void a_level_leaves_out_what_is_above(void **state)
{
	serve(0);
	rpcrdma_engine_set_log(client.engine, RPCRDMA_LOG_WARNING, take_line, &client);
	rpcrdma_engine_set_log(server.engine, RPCRDMA_LOG_NONE, take_line, &server);
	conn = connect_to(port);
	assert_int_equal(client.n, 0);
	/* Also of a connection that is there already. */
	rpcrdma_engine_set_log(client.engine, RPCRDMA_LOG_DEBUG, take_line, &client);
	rpcrdma_conn_close(conn);
	conn = NULL;
	while (!count_lines(&client, RPCRDMA_LOG_INFO, "closed in order"))
		turn();
	expect_line(&client, RPCRDMA_LOG_DEBUG,
	            of_server("CONN_STATE conn=1 xid=0 from="));
	client.n = 0;
	rpcrdma_engine_set_log(client.engine, RPCRDMA_LOG_DEBUG, NULL, NULL);
	conn = connect_to(port);
	assert_int_equal(client.n, 0);
	assert_int_equal(server.n, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(connecting_says_who_how_and_in_which_version),
	        TEST(a_server_that_is_not_there_is_an_error),
	        TEST(a_lost_connection_and_the_next_attempt_are_told),
	        TEST(going_down_to_version_1_is_told),
	        TEST(a_call_that_is_refused_is_told),
	        TEST(who_makes_room_is_told),
	        TEST(a_level_leaves_out_what_is_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
