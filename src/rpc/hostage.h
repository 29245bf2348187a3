/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends connections that hold memory for which others wait.
 *
 * While holders wait for the budget, each engine checks its connections four times a
 * second.  It checks those whose peer has to move next, by sending what is pulled or by
 * receiving a reply.  Within RR_HOSTAGE_NS such a peer must move RR_HOSTAGE_RATE octets
 * a second, or all that it holds; within RR_HOSTAGE_STILL_NS it must move something.
 * Of the connections that do not, those that hold most are ended at once, as many as
 * needed; their clients send the calls again.  Memory that handlers hold does not
 * count.
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
/* Adds a connection to the watch of its engine; rr_dispatch_fini removes it. */
void rr_hostage_add(struct rr_dispatch *);

#endif
