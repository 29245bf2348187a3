/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client's RPCSEC_GSS: security contexts and protected calls.    [RFC 2203 §5]
 *
 * struct rpcrdma_gss is the user's object: the server's principal, and how messages are
 * protected.  It has at most one context that new calls use.  Older contexts live until
 * the calls that were sent under them have ended.
 *
 * Normal path: the first call finds no context.  It enters the wait queue, and the set-up
 * begins (gss_setup.c).  When the context is established, calls are wrapped one by one,
 * each just before it is sent: the header with sequence number and MIC and, under krb5i
 * and krb5p, the arguments.  The Reply is verified and unwrapped before the user gets it.
 *
 * Failure: a call whose connection was lost is wrapped anew, under its XID and another
 * sequence number.  If the server does not know the context any more, a new one is made
 * and the call is sent again, at most MAX_REFRESHES times.  If no context can be made,
 * the calls that wait for it end with -EACCES; the next call begins a new set-up.
 *
 * Invariants: at most one thread works for an object, and it touches nothing but its
 * job.  The sequence numbers of the outstanding calls fit the server's window.
 * Everything but the job belongs to the engine's thread.
 */
#ifndef RR_GSS_GSS_CLIENT_H
#define RR_GSS_GSS_CLIENT_H

#include <rpcrdma/gss.h>

#include "gss/message.h"
#include "loop/engine.h"
#include "oncrpc/call_auth.h"

/* A context that is established. */
struct rr_gss_client_context {
	unsigned refs; /* of the object and of each attempt */
	gss_ctx_id_t id;
	uint32_t handle_len, window, next_seq;
	uint8_t handle[RR_GSS_HANDLE_MAX];
	rr_time renew;           /* before the server lets it expire */
	struct rr_list attempts; /* calls that were sent, by sequence number */
};

enum rr_gss_state { RR_GSS_IDLE, RR_GSS_SETUP, RR_GSS_READY };

struct rr_gss_setup; /* gss_setup.c */

struct rpcrdma_gss {
	struct rr_auth_context auth;
	unsigned refs; /* of the user, each call and a set-up */
	uint32_t service, program, version;
	uint64_t timeout_ns;
	enum rr_gss_state state;
	struct rr_gss_client_context *context; /* for new calls; RR_GSS_READY */
	struct rr_gss_setup *setup;
	struct rpcrdma_gss_info info;
	char principal[256];
};

/* Makes an object for the calls of @host.  Errors of rpcrdma_gss_new. */
int rr_gss_client_new(struct rr_auth_host *host, const struct rpcrdma_gss_options *,
                      struct rpcrdma_gss **ret) RR_MUST_CHECK;

/* -- between gss_client.c and gss_setup.c ---------------------------------- */

/* Begins to make a context; rr_gss_ready or rr_gss_failed follows, later.  -ENOMEM. */
int rr_gss_setup_begin(struct rpcrdma_gss *) RR_MUST_CHECK;
/* Ends a set-up, if there is one; a thread that waits for the KDC ends by itself. */
void rr_gss_setup_end(struct rpcrdma_gss *);
/* Has new calls use @context, which is given. */
void rr_gss_ready(struct rpcrdma_gss *, struct rr_gss_client_context *context);
/* Ends the calls that wait.  info.reason is set already. */
void rr_gss_failed(struct rpcrdma_gss *, int error);
/* Drops a reference; the last one frees the object. */
void rr_gss_put(struct rpcrdma_gss *);
/* Writes a Call's header with @cred and, unless @id is GSS_C_NO_CONTEXT, a verifier by
 * @id.  Returns its octets, or a negative errno. */
int rr_gss_header(gss_ctx_id_t id, const struct rr_rpc_call *,
                  const struct rr_gss_cred *cred,
                  uint8_t header[RR_RPC_HEADER_MAX]) RR_MUST_CHECK;

#endif
