/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * svc_rdma_reg and its relatives: register the dispatch function of a program with
 * libtirpc, and its address with rpcbind.
 *
 * libtirpc's svc_register and svc_reg do not check that an SVCXPRT serves the protocol
 * that the caller passes: they would register an RDMA port under netid tcp.  So
 * <rpcrdma/tirpc.h> replaces both functions with macros.  An SVCXPRT over RDMA is
 * registered under the RDMA netid; any other SVCXPRT is passed on to libtirpc.
 *
 * A source file that does not include <rpcrdma/tirpc.h> calls the svc_register below,
 * which this library exports.  The dynamic linker finds that function before libtirpc's
 * as long as the program is linked with -lrpcrdma -ltirpc, in this order.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>

#include <rpcrdma/tirpc.h>

#include "tirpc/svc_registry.h"
#include "tirpc/shared.h"

typedef void dispatch_fn(struct svc_req *, SVCXPRT *);
typedef bool_t register_fn(SVCXPRT *, u_long, u_long, dispatch_fn *, int);

bool_t svc_rdma_reg(SVCXPRT *x, rpcprog_t prog, rpcvers_t vers, dispatch_fn *dispatch)
{
	struct rr_rpc_registry *r = rr_rpc_registry_of(x);
	int known =
	        r ? rr_rpc_registry_add(r, (uint32_t)prog, (uint32_t)vers) : -EINVAL;

	if (known == -EINVAL || known == -ENOMEM || known == -EEXIST)
		rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, known);
	else if (known < 0)
		rr_rpc_refuse_lookup(known);
	if (known < 0)
		return FALSE;
	if ((svc_reg)(x, prog, vers, dispatch, NULL))
		return TRUE;
	if (!known)
		rr_rpc_registry_del(r, (uint32_t)prog, (uint32_t)vers);
	rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -EEXIST);
	return FALSE;
}

void svc_rdma_unreg(SVCXPRT *x, rpcprog_t prog, rpcvers_t vers)
{
	struct rr_rpc_registry *r = rr_rpc_registry_of(x);

	if (r)
		rr_rpc_registry_del(r, (uint32_t)prog, (uint32_t)vers);
}

/* -- replacements for libtirpc's functions --------------------------------- */

static bool_t register_with_tirpc(SVCXPRT *x, u_long prog, u_long vers,
                                  dispatch_fn *dispatch, int protocol)
{
	/* Find libtirpc's function, which follows the one at the end of this file in
	 * the search order. */
	register_fn *tirpc = (register_fn *)dlsym(RTLD_NEXT, "svc_register");

	if (tirpc)
		return tirpc(x, prog, vers, dispatch, protocol);
	rr_rpc_refuse(RPC_SYSTEMERROR, RPC_SYSTEMERROR, -ENOSYS);
	return FALSE;
}

bool_t svc_rdma_register(SVCXPRT *x, u_long prog, u_long vers, dispatch_fn *dispatch,
                         int protocol)
{
	/* With protocol 0, libtirpc does not register the program with rpcbind. */
	if (protocol && rr_rpc_is_ours(x))
		return svc_rdma_reg(x, (rpcprog_t)prog, (rpcvers_t)vers, dispatch);
	return register_with_tirpc(x, prog, vers, dispatch, protocol);
}

bool_t svc_rdma_reg_netconfig(SVCXPRT *x, rpcprog_t prog, rpcvers_t vers,
                              dispatch_fn *dispatch, const struct netconfig *nc)
{
	if (nc && rr_rpc_is_ours(x))
		return svc_rdma_reg(x, prog, vers, dispatch);
	return (svc_reg)(x, prog, vers, dispatch, nc);
}

void svc_rdma_unregister(u_long prog, u_long vers)
{
	(void)rr_rpc_registry_del_all((uint32_t)prog, (uint32_t)vers);
	(svc_unregister)(prog, vers);
}

bool_t svc_rdma_pmap_unset(u_long prog, u_long vers)
{
	bool any = rr_rpc_registry_del_all((uint32_t)prog, (uint32_t)vers);

	return (pmap_unset)(prog, vers) || any;
}

/* Weak in the static library, so that a program linked with a static libtirpc uses
 * libtirpc's function.  Not weak in the shared library, because the linker would then
 * prefer libtirpc's function. */
#ifdef RR_ARCHIVE
__attribute__((weak))
#endif
__attribute__((visibility("default")))
bool_t(svc_register)(SVCXPRT *x, u_long prog, u_long vers, dispatch_fn *dispatch,
                     int protocol)
{
	return svc_rdma_register(x, prog, vers, dispatch, protocol);
}
