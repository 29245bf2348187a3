/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client and a server of one program in this process, over software iWARP, and the
 * relay of test_proxy.h between them.  The client connects again soon after a loss.  The
 * test's thread runs all engines; the relay has a thread of its own.
 */
#ifndef RR_TEST_RELAYED_H
#define RR_TEST_RELAYED_H

#include <stdbool.h>
#include <stdint.h>
#include <rpcrdma/rpcrdma.h>

#include "test_proxy.h"

struct relayed {
	struct {
		struct rpcrdma_engine *engine; /* NULL: not started, or freed */
		char port[16];
	} server[2]; /* of the same service; the relay leads to the first */
	struct rpcrdma_service *service;
	struct rpcrdma_engine *engine; /* the client's */
	struct rpcrdma_conn *conn;
	struct proxy proxy;
};

/* Connects to the first server. */
void relayed_start(struct relayed *, const struct rpcrdma_program *);
/* Adds the second one; proxy.target leads new connections there. */
void relayed_add_server(struct relayed *);
void relayed_stop(struct relayed *);

/* Runs each engine once, the client's for a millisecond at most. */
void relayed_turn(struct relayed *);
/* Runs them until @what returns true, a minute at most. */
void relayed_until(struct relayed *, bool (*what)(void));

#endif
