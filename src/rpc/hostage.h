/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends connections whose peers are slow while others wait for the memory they use.
 *
 * A holder is a connection that uses memory from the budget (budget.h).  While holders
 * wait for memory, each engine checks its connections four times a second.  It checks
 * the connections that wait for their peer to send the data being pulled or to receive
 * a reply.  Within RR_HOSTAGE_NS, such a peer must transfer RR_HOSTAGE_RATE octets a
 * second, or as many octets as its requests hold.  Within RR_HOSTAGE_STILL_NS, the peer
 * must transfer at least something.  Connections whose peers do not are ended, those
 * that use the most memory first, until enough is free; their clients send the calls
 * again.  Memory in use by handlers does not count.
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
