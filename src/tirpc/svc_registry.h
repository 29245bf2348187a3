/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registrations of one SVCXPRT's programs with the rpcbind of this host.  Any
 * thread may call these functions.  They exclude one another, and each blocks for
 * rpcbind 5 s at most.
 */
#ifndef RR_TIRPC_SVC_REGISTRY_H
#define RR_TIRPC_SVC_REGISTRY_H

#include <rpc/rpc.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

struct rr_rpc_registry {
	struct rr_list link; /* in the process's list of registries with programs */
	struct rr_list programs;
	const struct sockaddr *addr; /* lent by the SVCXPRT */
};

void rr_rpc_registry_init(struct rr_rpc_registry *, const struct sockaddr *);
/* Unregisters all programs that are left. */
void rr_rpc_registry_fini(struct rr_rpc_registry *);
/* Registers a program under the netid of the address.  Returns 1 if it was registered
 * before; errors as rpcrdma_listener_register. */
int rr_rpc_registry_add(struct rr_rpc_registry *, uint32_t program,
                        uint32_t version) RR_MUST_CHECK;
/* Unregisters a program; does nothing if it was not added. */
void rr_rpc_registry_del(struct rr_rpc_registry *, uint32_t program, uint32_t version);
/* Unregisters a program from every registry; true: from one at least. */
bool rr_rpc_registry_del_all(uint32_t program, uint32_t version);

/* For fork handlers: fork() waits until no thread is in these functions, and the child
 * forgets the registrations, which are its parent's. */
void rr_rpc_registry_lock(void);
void rr_rpc_registry_unlock(void);
void rr_rpc_registry_forget(void);

/* Returns whether svc_rdma_create made this SVCXPRT. */
bool rr_rpc_is_ours(const SVCXPRT *);
/* NULL: not one of ours, or being destroyed, or the copy in a child. */
struct rr_rpc_registry *rr_rpc_registry_of(const SVCXPRT *);

#endif
