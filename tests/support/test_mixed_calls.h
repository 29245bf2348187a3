/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends that serve the same procedures, and calls of every format.  Each side
 * computes the octets that it expects.  The library may refuse a call; a call that it
 * accepts must end, once.
 */
#ifndef RR_TEST_MIXED_CALLS_H
#define RR_TEST_MIXED_CALLS_H

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

enum { PROG = 0x40000000, VERS = 1, MS = 1000000, MIXED_MAX = 256 };
enum { P_WORK, P_ONCE, P_BIND, N_PROCS };
enum { BIG = 100003 };

/* The format of a call.  in, out: octets of arguments and results. */
struct shape {
	uint32_t in, out;
	bool in_item, out_item, special;
};

struct mixed_call {
	unsigned done;
	int status;
	bool wanted; /* the library accepted it */
	struct shape shape;
	uint8_t head[16];
	struct rpcrdma_dest dest;
	uint8_t room[BIG];
};

struct mixed {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service, *callbacks;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn, *back;
	struct rpcrdma_gss *gss; /* for the calls of conn, or NULL */
	uint64_t timeout_ns, retry_ns;
	uint16_t port;
	bool bound, small, ending;
	unsigned wanted, succeeded, failed, cancelled, reversed, refusals, requests;
	unsigned n_calls, n_done;
};

extern struct mixed mixed;
extern struct mixed_call mixed_calls[MIXED_MAX];
extern uint8_t mixed_octets[BIG + 4];

extern const struct rpcrdma_program mixed_program;

uint64_t now_ms(void);
/* The octet at @i of arguments and results. */
uint8_t mixed_pattern(size_t i);

/* Makes the next of mixed_calls, or counts it as failed. */
void mixed_begin(struct rpcrdma_conn *c, uint32_t proc, struct shape s);
/* Checks and counts the end of a call; @arg is a struct mixed_call. */
void mixed_on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg);

#endif
