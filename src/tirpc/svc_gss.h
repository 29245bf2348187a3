/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS of an SVCXPRT.  src/gss accepts the request; this file presents it to the
 * functions of libtirpc that servers call: rpc_gss_getcred, svcauth_gss_get_principal
 * and rpc_gss_svc_max_data_length.
 *
 * The loop of libtirpc passes Calls of flavor RPCSEC_GSS to its own acceptor, which
 * supports one context per SVCXPRT.  So such a Call is given another flavor,
 * RR_RPC_GSS, for which libtirpc calls a function registered here.  A peer gains
 * nothing by sending that flavor: the function accepts only requests that src/gss has
 * accepted.
 */
#ifndef RR_TIRPC_SVC_GSS_H
#define RR_TIRPC_SVC_GSS_H

#include "oncrpc/rpc_header.h"
#include "gss/contexts.h"
#include "tirpc/shared.h"

/* Never sent. */
enum { RR_RPC_GSS = 0x52520006 };

struct rr_rpc_gss;

/* Registers @authenticate for RR_RPC_GSS.  May be called again with the same function.
 * Returns false if libtirpc has an unknown layout: then no context may be accepted. */
bool rr_rpc_gss_init(enum auth_stat (*authenticate)(struct svc_req *,
                                                    struct rpc_msg *));

/* As rr_gss_accept.  @ret is set whatever the verdict is, and the caller frees it; NULL
 * if there is no memory, with verdict RR_GSS_CLOSE. */
enum rr_gss_verdict rr_rpc_gss_accept(struct rr_gss *, const struct rr_gss_call *,
                                      struct rr_rpc_gss **ret);
void rr_rpc_gss_free(struct rr_rpc_gss *);
struct rr_gss_request *rr_rpc_gss_request(struct rr_rpc_gss *);

/* Present the request that is being dispatched in its SVCXPRT and in its svc_req. */
void rr_rpc_gss_show_xprt(struct rr_rpc_gss *, SVCXPRT *);
void rr_rpc_gss_show_req(struct rr_rpc_gss *, struct svc_req *);

#endif
