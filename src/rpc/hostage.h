/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends connections whose peers are too slow while other connections wait for memory.
 *
 * A holder is a connection that uses memory from the budget (budget.h).  While holders
 * wait for memory, each engine checks its connections four times a second.  It checks
 * each connection that waits for its peer to send the data being pulled, or to receive
 * or read a reply.  The peer must do all of the following:
 *
 *   - within RR_HOSTAGE_NS, transfer RR_HOSTAGE_RATE octets a second, or as many octets
 *     as its requests use, whichever is less;
 *   - within RR_HOSTAGE_STILL_NS, transfer at least one octet;
 *   - within RR_HOSTAGE_NS, confirm that it has read a reply that is exposed for it.
 *
 * If a peer fails to do so, its connection is ended, and the client must send its calls
 * again.  The connection with the oldest exposed reply is ended first, then the others
 * in the order of the memory that they use, until enough memory is free.  Memory in use
 * by handlers does not count.
 */
#ifndef RR_RPC_HOSTAGE_H
#define RR_RPC_HOSTAGE_H

#include "loop/engine.h"

#define RR_HOSTAGE_NS       RR_SEC(5)
#define RR_HOSTAGE_STILL_NS RR_SEC(1)
enum { RR_HOSTAGE_RATE = 128 << 10 };

struct rr_dispatch;

/* Begins to watch an engine's connections, unless they are already watched.  The watch
 * ends with the engine.  Returns 0 or -ENOMEM. */
int rr_hostage_watch(struct rpcrdma_engine *) RR_MUST_CHECK;
/* Adds a connection to its engine's watch; rr_dispatch_fini removes it. */
void rr_hostage_add(struct rr_dispatch *);

#endif
