/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that hold memory for which others wait.
 *
 * While holders wait for the budget, each engine looks four times a second at its
 * connections.  One whose peer has to move next, by sending what is pulled or by taking
 * what is answered, must move RR_HOSTAGE_RATE octets a second or all that it holds,
 * over RR_HOSTAGE_NS, and something within RR_HOSTAGE_STILL_NS.  Of those that do not, the ones that hold most are ended at
 * once, as many as the waiting ones need; their clients ask again.  What handlers hold
 * is not the peer's fault and does not count.
 */
#ifndef RR_RPC_HOSTAGE_H
#define RR_RPC_HOSTAGE_H

#include "loop/engine.h"

#define RR_HOSTAGE_NS       RR_SEC(5)
#define RR_HOSTAGE_STILL_NS RR_SEC(1)
enum { RR_HOSTAGE_RATE = 128 << 10 };

struct rr_dispatch;

/* Begins to watch the connections of an engine, unless it does already.  The watch ends
 * with the engine.  -ENOMEM. */
int rr_hostage_watch(struct rpcrdma_engine *) RR_MUST_CHECK;
/* Adds a connection of an engine that watches; rr_dispatch_fini removes it. */
void rr_hostage_add(struct rr_dispatch *);

#endif
