/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS of an SVCXPRT: a request that src/gss has accepted, as libtirpc's
 * functions expect to find it (rpc_gss_getcred, svcauth_gss_get_principal,
 * rpc_gss_svc_max_data_length).
 *
 * libtirpc's loop hands Calls of that flavor to its own acceptor, which knows one
 * context per SVCXPRT.  So it is shown another flavor, which nobody can send us:
 * RR_RPC_GSS, and calls the function that is registered for that.
 */
#ifndef RR_RPC_GSS_H
#define RR_RPC_GSS_H

#include "rpcbind/rpc_header.h"
#include "gss/contexts.h"
#include "tirpc/shared.h"

/* Within the process only. */
enum { RR_RPC_GSS = 0x52520006 };

struct rr_rpc_gss;

/* Once per process and more often: @authenticate is called for the flavor above.
 * False: libtirpc is none that we know; nothing may be accepted then. */
bool rr_rpc_gss_init(enum auth_stat (*authenticate)(struct svc_req *,
                                                    struct rpc_msg *));

/* @ret: the request, whatever was decided, to be freed; NULL: no memory, close. */
enum rr_gss_verdict rr_rpc_gss_accept(struct rr_gss *, const struct rr_gss_call *,
                                      struct rr_rpc_gss **ret);
void rr_rpc_gss_free(struct rr_rpc_gss *);
struct rr_gss_request *rr_rpc_gss_request(struct rr_rpc_gss *);

/* It is the one being dispatched: what its SVCXPRT and svc_req have of it. */
void rr_rpc_gss_show_xprt(struct rr_rpc_gss *, SVCXPRT *);
void rr_rpc_gss_show_req(struct rr_rpc_gss *, struct svc_req *);

#endif
