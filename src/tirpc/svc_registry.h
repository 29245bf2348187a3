/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of one SVCXPRT are known as to the rpcbind of this host.  Any
 * thread; blocks, 5 s at most each, and while another thread is in here.
 */
#ifndef RR_RPC_REGISTRY_H
#define RR_RPC_REGISTRY_H

#include <rpc/rpc.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

struct rr_rpc_registry {
	struct rr_list link; /* of all of this process that have programs */
	struct rr_list programs;
	const struct sockaddr *addr; /* lent by the SVCXPRT */
};

void rr_rpc_registry_init(struct rr_rpc_registry *, const struct sockaddr *);
/* Takes back what is left. */
void rr_rpc_registry_fini(struct rr_rpc_registry *);
/* Under the netid of the address.  As rpcrdma_listener_register; 1: it was there. */
int rr_rpc_registry_add(struct rr_rpc_registry *, uint32_t program,
                        uint32_t version) RR_MUST_CHECK;
/* Does nothing if it was not added. */
void rr_rpc_registry_del(struct rr_rpc_registry *, uint32_t program, uint32_t version);
/* From each registry of this process; true: from one at least. */
bool rr_rpc_registry_del_all(uint32_t program, uint32_t version);

/* fork() waits until no thread is in here; the child knows none of its parent's. */
void rr_rpc_registry_lock(void);
void rr_rpc_registry_unlock(void);
void rr_rpc_registry_forget(void);

/* Is it one of svc_rdma_create? */
bool rr_rpc_is_ours(const SVCXPRT *);
/* NULL: it is not, or it is going, or a child's copy. */
struct rr_rpc_registry *rr_rpc_registry_of(const SVCXPRT *);

#endif
