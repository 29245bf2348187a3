/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of one SVCXPRT are known as to the rpcbind of this host.  Used by
 * one thread at a time; blocks, 5 s at most each.
 */
#ifndef RR_RPC_REGISTRY_H
#define RR_RPC_REGISTRY_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

struct rr_rpc_registry {
	struct rr_list programs;
};

void rr_rpc_registry_init(struct rr_rpc_registry *);
/* Takes back what is left. */
void rr_rpc_registry_fini(struct rr_rpc_registry *, const struct sockaddr *);
/* Under the netid of the address.  As rpcrdma_listener_register; 1: it was there. */
int rr_rpc_registry_add(struct rr_rpc_registry *, const struct sockaddr *, uint32_t program,
			uint32_t version) RR_MUST_CHECK;
/* Does nothing if it was not added. */
void rr_rpc_registry_del(struct rr_rpc_registry *, const struct sockaddr *, uint32_t program,
			 uint32_t version);

#endif
