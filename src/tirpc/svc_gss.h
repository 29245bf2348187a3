/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS for an SVCXPRT.  src/gss accepts the request; this file presents the
 * request to the libtirpc functions that servers call: rpc_gss_getcred,
 * svcauth_gss_get_principal and rpc_gss_svc_max_data_length.
 *
 * libtirpc's loop passes Calls with flavor RPCSEC_GSS to libtirpc's own acceptor, which
 * supports one context per SVCXPRT.  So the flavor of such a Call is replaced with
 * RR_RPC_GSS, for which libtirpc calls a function registered here.  A peer gains
 * nothing by sending RR_RPC_GSS: the function accepts only requests that src/gss has
 * accepted.
 */
#ifndef RR_TIRPC_SVC_GSS_H
#define RR_TIRPC_SVC_GSS_H

#include "oncrpc/rpc_header.h"
#include "gss/contexts.h"
#include "tirpc/shared.h"

/* An authentication flavor that we never send. */
enum { RR_RPC_GSS = 0x52520006 };

struct rr_rpc_gss;

/* Registers @authenticate for RR_RPC_GSS.  May be called again with the same function.
 * Returns false if libtirpc's structure has an unknown layout, so that no context can
 * be accepted. */
bool rr_rpc_gss_init(enum auth_stat (*authenticate)(struct svc_req *,
                                                    struct rpc_msg *));

/* Calls rr_gss_accept.  Sets @ret regardless of the verdict; the caller frees it.  If
 * there is no memory, @ret is NULL and the verdict is RR_GSS_CLOSE. */
enum rr_gss_verdict rr_rpc_gss_accept(struct rr_gss *, const struct rr_gss_call *,
                                      struct rr_rpc_gss **ret);
void rr_rpc_gss_free(struct rr_rpc_gss *);
struct rr_gss_request *rr_rpc_gss_request(struct rr_rpc_gss *);

/* Set the fields of the SVCXPRT and of the svc_req that describe a request's
 * authentication. */
void rr_rpc_gss_show_xprt(struct rr_rpc_gss *, SVCXPRT *);
void rr_rpc_gss_show_req(struct rr_rpc_gss *, struct svc_req *);

#endif
