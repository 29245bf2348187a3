/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a client and a server in one engine, three times: with the extension of load.h at
 * both ends, only at the client, and only at the server.  RPC works in all three runs.
 * Prints the result of each check; exits with 1 if one fails.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rpcrdma/cursor.h>
#include "load.h"

enum { PROGRAM = 0x20000042, VERSION = 1, WORK = 1, LIMIT = 100 };

static struct rpcrdma_engine *engine;
static struct load client_load, server_load;
static bool server_has_it;
static unsigned failures;

static void expect(bool right, const char *what)
{
	printf("  %s %s\n", right ? "ok  " : "FAIL", what);
	failures += !right;
}

/* -- the service: WORK takes a number and answers with its double ----------------- */

static void work(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_cursor c;
	uint32_t n, *result = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece results = {.base = result, .len = 4};

	(void)arg;
	rpcrdma_request_cursor(q, &c);
	n = rpcrdma_cursor_u32(&c);
	if (!result || rpcrdma_cursor_end(&c)) {
		rpcrdma_request_error(q, RPCRDMA_GARBAGE_ARGS, 0);
		return;
	}
	if (server_has_it && load_busy(&server_load, q, n))
		return;
	server_load.served++;
	*result = htonl(2 * n);
	rpcrdma_request_reply(q, &results, 1, NULL, NULL);
}

static const struct rpcrdma_procedure procedures[] = {
        [WORK] = {.name = "WORK", .handler = work},
};
static const struct rpcrdma_program program = {
        .program = PROGRAM,
        .version = VERSION,
        .procs = procedures,
        .n_procs = sizeof(procedures) / sizeof(procedures[0]),
};

/* -- the client ------------------------------------------------------------ */

struct answer {
	int status;
	uint32_t error, result;
};

static struct answer ask_for_work(struct rpcrdma_conn *conn, uint32_t n)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	uint32_t args = htonl(n);
	struct rpcrdma_piece piece = {.base = &args, .len = 4};
	struct rpcrdma_reply reply;
	struct answer a;

	o.program = PROGRAM;
	o.version = VERSION;
	o.procedure = WORK;
	o.args = &piece;
	o.n_args = 1;
	o.timeout_ns = 20000000000u;
	a.status = rpcrdma_call_sync(conn, &o, &a.result, 4, &reply, sizeof(reply));
	a.error = reply.transport_error;
	a.result = a.status ? 0 : ntohl(a.result);
	return a;
}

/* Waits until @flag reaches @want, for ten seconds at most.  Returns whether it did. */
static bool wait_for(const unsigned *flag, unsigned want)
{
	time_t end = time(NULL) + 10;

	while (*flag < want && time(NULL) < end)
		rpcrdma_engine_process(engine, 100);
	return *flag >= want;
}

/* -- checks ---------------------------------------------------------------- */

static void both(struct rpcrdma_conn *conn)
{
	struct rpcrdma_channel *c = rpcrdma_conn_channel(conn);
	struct answer a;

	expect(client_load.up && server_load.up && c, "both ends are up");
	expect(client_load.peer_knows && client_load.peer_limit == LIMIT,
	       "property: the client knows the server's limit");
	expect(server_load.peer_knows, "property: the server knows its client");
	expect(load_ask(c, false) == 0 && wait_for(&client_load.answers, 1) &&
	               client_load.last_served == 1,
	       "header type: one Call was served");
	expect(load_ask(c, true) == 0 && wait_for(&client_load.answers, 2) &&
	               client_load.last_served == 1,
	       "flag: asked for a new count");
	expect(load_ask(c, false) == 0 && wait_for(&client_load.answers, 3) &&
	               client_load.last_served == 0,
	       "flag: the count is new");
	a = ask_for_work(conn, LIMIT + 1);
	expect(a.status == RPCRDMA_TRANSPORT_ERROR && a.error == LOAD_BUSY,
	       "error code: too much work");
}

static void client_alone(struct rpcrdma_conn *conn)
{
	struct rpcrdma_channel *c = rpcrdma_conn_channel(conn);

	expect(!client_load.peer_knows && client_load.peer_limit == 0,
	       "property: the default, since the server sent none");
	expect(load_ask(c, true) == 0 && wait_for(&client_load.refusals, 1) &&
	               client_load.last_refusal == RPCRDMA_ERR_INVAL_HTYPE,
	       "header type: the server does not know it");
	expect(load_ask(c, false) == -EOPNOTSUPP, "header type: not asked again");
}

static void server_alone(struct rpcrdma_conn *conn)
{
	expect(!server_load.peer_knows, "property: the client sent none");
	expect(!rpcrdma_conn_channel(conn), "no channel at the client");
	expect(ask_for_work(conn, LIMIT + 1).result == 2 * (LIMIT + 1),
	       "error code: not used towards a client that does not know it");
}

/* -- one run --------------------------------------------------------------- */

static void set(struct rpcrdma_conn_options *o, const struct load *l,
                const struct rpcrdma_extension **list)
{
	list[0] = &l->extension;
	o->extensions = list;
	o->n_extensions = 1;
}

static void run(const char *title, bool at_client, bool at_server,
                void (*look)(struct rpcrdma_conn *))
{
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_conn_options so = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	const struct rpcrdma_extension *cl[1], *sv[1];
	struct rpcrdma_service *service = NULL;
	struct rpcrdma_listener *listener;
	struct sockaddr_storage addr;
	struct rpcrdma_conn *conn;
	char port[8];

	printf("%s\n", title);
	load_init(&client_load, 1);
	load_init(&server_load, LIMIT);
	server_has_it = at_server;
	if (at_client)
		set(&co, &client_load, cl);
	if (at_server)
		set(&so, &server_load, sv);
	if (rpcrdma_engine_new(NULL, &engine) || rpcrdma_service_new(&service) ||
	    rpcrdma_service_add(service, &program, NULL) ||
	    rpcrdma_listen(engine, "127.0.0.1:0", &so, service, 0, &listener) ||
	    rpcrdma_listener_addr(listener, &addr)) {
		fprintf(stderr, "no server\n");
		exit(1);
	}
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&addr)->sin_port));
	if (rpcrdma_connect(engine, "127.0.0.1", port, &co, NULL, NULL, &conn)) {
		fprintf(stderr, "no client\n");
		exit(1);
	}
	expect(ask_for_work(conn, 21).result == 42, "a Call");
	look(conn);
	expect(ask_for_work(conn, 50).result == 100, "another Call");
	rpcrdma_conn_close(conn);
	rpcrdma_listener_close(listener, 0);
	while (!rpcrdma_engine_idle(engine))
		rpcrdma_engine_process(engine, -1);
	expect(!client_load.up && !server_load.up, "both ends are down");
	rpcrdma_service_free(service);
	rpcrdma_engine_free(engine);
}

int main(void)
{
	run("the extension at both ends", true, true, both);
	run("at the client alone", true, false, client_alone);
	run("at the server alone", false, true, server_alone);
	printf("%s\n", failures ? "not as it should be" : "as it should be");
	return failures ? 1 : 0;
}
