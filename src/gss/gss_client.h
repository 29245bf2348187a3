/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client's RPCSEC_GSS: security contexts and protected calls.    [RFC 2203 §5]
 *
 * struct rpcrdma_gss is the user's object: the server's principal, and how messages are
 * protected.  New calls use the object's current context, if there is one.  Older
 * contexts are kept until the calls that were sent with them have ended.
 *
 * Normal path: the first call finds no context.  The call enters the wait queue, and
 * the set-up of a context begins (gss_setup.c).  When the context is established, calls
 * are wrapped one by one, each just before it is sent: the header gets a sequence
 * number and a MIC; with krb5i and krb5p, the arguments are protected as well.  The
 * Reply is verified and unwrapped before the user receives it.
 *
 * Failure: a call whose connection was lost is wrapped again, with the same XID and a
 * new sequence number.  If the server no longer knows the context, a new context is
 * made and the call is sent again, at most MAX_REFRESHES times.  If no context can be
 * made, the calls that wait for a context end with -EACCES; the next call begins a new
 * set-up.
 *
 * Invariants: each object has at most one thread, which accesses only its job.  The
 * sequence numbers of the outstanding calls fit the server's window.  Everything except
 * the job belongs to the engine's thread.
 */
#ifndef RR_GSS_GSS_CLIENT_H
#define RR_GSS_GSS_CLIENT_H

#include <rpcrdma/gss.h>

#include "gss/message.h"
#include "loop/engine.h"
#include "oncrpc/call_auth.h"

/* An established context. */
struct rr_gss_client_context {
	unsigned refs; /* number of references: one from the object and each attempt */
	gss_ctx_id_t id;
	uint32_t handle_len, window, next_seq;
	uint8_t handle[RR_GSS_HANDLE_MAX];
	rr_time renew;           /* time to replace the context, before it expires */
	struct rr_list attempts; /* calls that were sent, in order of sequence number */
};

enum rr_gss_state { RR_GSS_IDLE, RR_GSS_SETUP, RR_GSS_READY };

struct rr_gss_setup; /* gss_setup.c */

struct rpcrdma_gss {
	struct rr_auth_context auth;
	unsigned refs; /* number of references: one from the user, each call, and a
			  set-up */
	uint32_t service, program, version;
	uint64_t timeout_ns;
	enum rr_gss_state state;
	struct rr_gss_client_context *context; /* context for new calls; set in state
						  RR_GSS_READY */
	struct rr_gss_setup *setup;
	struct rpcrdma_gss_info info;
	char principal[256];
};

/* Makes an object for calls on the connection @host.  Returns 0 or an error of
 * rpcrdma_gss_new. */
int rr_gss_client_new(struct rr_auth_host *host, const struct rpcrdma_gss_options *,
                      struct rpcrdma_gss **ret) RR_MUST_CHECK;

/* -- interface between gss_client.c and gss_setup.c ------------------------ */

/* Begins the set-up of a context.  When the set-up ends, it calls rr_gss_ready or
 * rr_gss_failed, but not before this function has returned.  Returns 0 or -ENOMEM. */
int rr_gss_setup_begin(struct rpcrdma_gss *) RR_MUST_CHECK;
/* Ends a set-up, if there is one.  A thread that is still waiting for the KDC ends
 * later, without any effect. */
void rr_gss_setup_end(struct rpcrdma_gss *);
/* Takes ownership of @context, and uses it for new calls. */
void rr_gss_ready(struct rpcrdma_gss *, struct rr_gss_client_context *context);
/* Ends the waiting calls with @error.  The caller has set info.reason. */
void rr_gss_failed(struct rpcrdma_gss *, int error);
/* Drops a reference.  Frees the object if that was the last reference. */
void rr_gss_put(struct rpcrdma_gss *);
/* Writes a Call's header with @cred.  The verifier is made with @id, or is AUTH_NONE if
 * @id is GSS_C_NO_CONTEXT.  Returns the header's length, or a negative errno. */
int rr_gss_header(gss_ctx_id_t id, const struct rr_rpc_call *,
                  const struct rr_gss_cred *cred,
                  uint8_t header[RR_RPC_HEADER_MAX]) RR_MUST_CHECK;

#endif
