/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registrations of one SVCXPRT's programs with this host's rpcbind.  Any thread may
 * call these functions.  Only one call runs at a time; it waits for rpcbind for at most
 * 5 s.
 */
#ifndef RR_TIRPC_SVC_REGISTRY_H
#define RR_TIRPC_SVC_REGISTRY_H

#include <rpc/rpc.h>
#include <sys/socket.h>

#include "base/base.h"
#include "base/list.h"

struct rr_rpc_registry {
	struct rr_list link; /* link in the process's list of registries that have
				programs */
	struct rr_list programs;
	const struct sockaddr *addr; /* lent by the SVCXPRT */
};

void rr_rpc_registry_init(struct rr_rpc_registry *, const struct sockaddr *);
/* Unregisters all programs that are still registered. */
void rr_rpc_registry_fini(struct rr_rpc_registry *);
/* Registers a program under the RDMA netid for the address.  Returns 0, 1 if the
 * program was already registered, or an error from rpcrdma_listener_register. */
int rr_rpc_registry_add(struct rr_rpc_registry *, uint32_t program,
                        uint32_t version) RR_MUST_CHECK;
/* Unregisters a program.  Does nothing if the program was not added. */
void rr_rpc_registry_del(struct rr_rpc_registry *, uint32_t program, uint32_t version);
/* Unregisters a program from all registries of the process.  Returns true if at least
 * one registry had the program. */
bool rr_rpc_registry_del_all(uint32_t program, uint32_t version);

/* Fork handlers call these, so that fork() waits until no thread is in the functions
 * above.  The child then discards the registrations, since these belong to its
 * parent. */
void rr_rpc_registry_lock(void);
void rr_rpc_registry_unlock(void);
void rr_rpc_registry_forget(void);

/* Returns true if svc_rdma_create made this SVCXPRT. */
bool rr_rpc_is_ours(const SVCXPRT *);
/* Returns the registry of an SVCXPRT.  Returns NULL if svc_rdma_create did not make the
 * SVCXPRT, if it is being destroyed, or if it is a copy in a child of fork(). */
struct rr_rpc_registry *rr_rpc_registry_of(const SVCXPRT *);

#endif
