/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A first program: serves a procedure that doubles a number, calls it over RDMA, and
 * prints the result.  Server and client are in one process, on one engine.
 */
#include <arpa/inet.h>
#include <rpcrdma/cursor.h>
#include <rpcrdma/rpcrdma.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRAM = 0x20000099, VERSION = 1, DOUBLE = 1 };

/* Server: the handler of procedure DOUBLE. */
static void serve_double(struct rpcrdma_request *r, void *arg)
{
	struct rpcrdma_cursor args;
	uint32_t number, *result = rpcrdma_request_alloc(r, 4);
	struct rpcrdma_piece results = {.base = result, .len = 4};

	(void)arg;
	rpcrdma_request_cursor(r, &args);
	number = rpcrdma_cursor_u32(&args);
	if (!result || rpcrdma_cursor_end(&args)) {
		(void)rpcrdma_request_error(r, RPCRDMA_GARBAGE_ARGS, 0);
		return;
	}
	*result = htonl(2 * number);
	(void)rpcrdma_request_reply(r, &results, 1, NULL, NULL);
}

static const struct rpcrdma_procedure procs[] = {
        [DOUBLE] = {.name = "DOUBLE", .handler = serve_double},
};
static const struct rpcrdma_program program = {PROGRAM, VERSION, procs, 2};

static void must(const char *what, int error)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, rpcrdma_strstatus(error));
	exit(1);
}

int main(void)
{
	struct rpcrdma_conn_options options =
	        RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_call_options call = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	uint32_t number = htonl(21), answer;
	struct rpcrdma_piece args = {.base = &number, .len = sizeof(number)};
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct sockaddr_storage addr;
	char port[8];

	must("engine", rpcrdma_engine_new(NULL, &engine));
	must("service", rpcrdma_service_new(&service));
	must("service", rpcrdma_service_add(service, &program, NULL));
	must("listen",
	     rpcrdma_listen(engine, "127.0.0.1:0", &options, service, 0, &listener));
	must("address", rpcrdma_listener_addr(listener, &addr));
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&addr)->sin_port));

	must("connect",
	     rpcrdma_connect(engine, "127.0.0.1", port, &options, NULL, NULL, &conn));
	call.program = PROGRAM;
	call.version = VERSION;
	call.procedure = DOUBLE;
	call.args = &args;
	call.n_args = 1;
	call.timeout_ns = 10ull * 1000 * 1000 * 1000;
	/* Runs the engine, and so the server, until the call has ended. */
	must("call", rpcrdma_call_sync(conn, &call, &answer, sizeof(answer), NULL, 0));
	printf("twice 21 is %u\n", ntohl(answer));

	rpcrdma_conn_close(conn);
	rpcrdma_listener_close(listener, 0);
	while (!rpcrdma_engine_idle(engine))
		must("process", rpcrdma_engine_process(engine, 1000));
	rpcrdma_engine_free(engine);
	rpcrdma_service_free(service);
	return ntohl(answer) != 42;
}
