/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client and a server that offer the same procedures and call each other, in one
 * engine over software iWARP.  For the tests of calls in reverse.
 */
#ifndef RR_TEST_BOTH_ENDS_H
#define RR_TEST_BOTH_ENDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

#include "test_octets.h"

enum { PROG = 0x40000000, VERS = 1, MS = 1000000, BIG = 300001 };
enum { P_NULL, P_SUM, P_FILL, P_LATER, P_PARK, P_BIND, P_NEST, N_PROCS };

/* The requests of one end. */
struct end {
	unsigned executed, n_parked;
	struct rpcrdma_request *parked[16];
	uint32_t xids[16]; /* of parked, in order */
};

struct both_ends {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service, *callbacks;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;           /* the client's */
	struct rpcrdma_conn *back;           /* the server's object for it */
	struct rpcrdma_conn_options options; /* the client's */
	struct rpcrdma_conn_options listen_options;
	struct end server, client;
	uint64_t retry_ns;
	char port[16];
	unsigned ups, downs;
	int bind_status;
};

extern struct both_ends both;

/* The end of a call. */
struct wait {
	unsigned done;
	int status;
	struct rpcrdma_reply reply;
	uint8_t results[64];
};

extern const struct rpcrdma_procedure both_procs[N_PROCS];
extern const struct rpcrdma_program both_program;

#define TEST(f) cmocka_unit_test_setup_teardown(f, both_set_up, both_tear_down)

/* Make the engine and the services; close what there is and free it. */
int both_set_up(void **state);
int both_tear_down(void **state);

/* Listens at @address with both.listen_options and sets both.port. */
void both_listen(const char *address);
/* Writes the port that the listener is bound to. */
void both_port(struct rpcrdma_listener *, char port[16]);
/* Connects to both.port with both.options. */
void both_connect(struct rpcrdma_conn **ret);
/* Lets the client @c call P_BIND, so that the server can call it through both.back. */
void both_bind(struct rpcrdma_conn *c);
/* Listens on loopback, connects and binds. */
void both_start(void);
/* Shuts down the sockets of all connections to the server. */
void both_cut(void);
/* Counts connections and losses, for rpcrdma_connect(). */
void both_on_event(struct rpcrdma_conn *c, int error, bool final, void *arg);

/* Options of a call of @proc whose end is recorded in @x. */
struct rpcrdma_call_options both_call(uint32_t proc, struct wait *x);
/* Records the end of a call in @arg, a struct wait. */
void both_on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg);
/* Makes the call, waits for its end and returns its status. */
int both_run(struct rpcrdma_conn *c, struct rpcrdma_call_options *o, struct wait *x);
/* Sends @len octets of the pattern to P_SUM, as an item or inline.  The server compares
 * them.  Returns the call's status. */
int both_sum(struct rpcrdma_conn *c, uint32_t len, bool item);
/* Runs the engine until *flag is at least @want, or for @ms. */
void both_spin_until(const unsigned *flag, unsigned want);
void both_spin_for(uint64_t ms);
/* Answers the requests of P_PARK. */
void both_answer_parked(struct end *e);

/* The octet at @i of arguments and results. */
uint8_t both_pattern(uint32_t seed, size_t i);

#endif
