/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client's security contexts, and what RPCSEC_GSS does to a call.
 *
 * struct rpcrdma_gss is what the user holds: whom to prove ourselves to, and how
 * messages are protected.  Beneath it is at most one context that new calls use; older
 * ones live until the replies that were asked for under them have come.
 *
 * Normal path: the first call finds no context, is gated, and the set-up begins.  A
 * thread runs one step of GSS-API, since that asks the KDC; the engine sends its token
 * in a call of its own and gives the answer to the next step.  When the context is
 * there, calls are sealed one by one, each just before its connection takes it: header
 * with sequence number and MIC, and under krb5i and krb5p the arguments wrapped.  The
 * reply is checked and unwrapped before the user sees it.
 *
 * Failure: a call that comes back with its connection is sealed anew, under its XID and
 * another sequence number.  If the server does not know the context (any more), it is
 * made again and the call repeated, REFRESHES times.  If no context can be made, the
 * calls that wait for it end with -EACCES; the next one begins again.
 *
 * Invariants: one thread at most works for an object, and touches nothing but its job;
 * what is in flight under a context lies within the server's window; everything but the
 * job belongs to the engine's thread.
 */
#ifndef RR_DRIVE_GSS_H
#define RR_DRIVE_GSS_H

#include <rpcrdma/gss.h>

#include "rpc/calls.h"
#include "oncrpc/rpc_header.h"
#include "gss/message.h"

/* A context that is established. */
struct rr_gss_client_context {
	unsigned refs; /* the object's, and each attempt's under it */
	gss_ctx_id_t id;
	uint32_t handle_len, window, next_seq;
	uint8_t handle[RR_GSS_HANDLE_MAX];
	rr_time renew;         /* before the server thinks that it has expired */
	struct rr_list sealed; /* in flight, by sequence number */
};

enum rr_gss_state { RR_GSS_IDLE, RR_GSS_SETUP, RR_GSS_READY };

struct rr_gss_setup; /* gss_setup.c */

struct rpcrdma_gss {
	struct rr_list link;       /* of its connection's */
	struct rpcrdma_conn *conn; /* NULL: gone */
	unsigned refs;             /* the user's, each call's, a set-up's */
	uint32_t service, program, version;
	uint64_t timeout_ns;
	enum rr_gss_state state;
	struct rr_gss_client_context *context; /* for new calls; READY */
	struct rr_list gate;                   /* calls that wait; their link */
	struct rr_gss_setup *setup;
	struct rpcrdma_gss_info info;
	char principal[256];
};

/* What a call under RPCSEC_GSS has more than others. */
struct rr_sealed {
	struct rpcrdma_gss *gss;
	uint32_t program, version, procedure;
	struct rr_gss_client_context *context; /* of this attempt; NULL: not sealed */
	struct rr_list of_context;             /* by sequence number */
	uint32_t seq;
	unsigned refreshes;
	struct rr_gss_body args, results;
	unsigned n_plain;
	struct rr_piece plain[RPCRDMA_MAX_PIECES];
};

/* Of the options that a call was made with.  -ENOMEM, -ECANCELED: the object's
 * connection is gone; -EINVAL: it is another one. */
int rr_sealed_new(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                  struct rr_sealed **ret) RR_MUST_CHECK;
void rr_sealed_free(struct rr_sealed *);
/* Its payload must stay in one piece. */
bool rr_sealed_keep(const struct rr_sealed *);
/* Octets to add to a reply's bound. */
size_t rr_sealed_reply_bytes(const struct rr_sealed *);

/*
 * For an attempt: the header into @header, and the pieces after it (of which there is
 * room for RPCRDMA_MAX_PIECES).  Octets of the header; -EAGAIN: gate it; others end the
 * call.
 */
int rr_seal(struct rr_sealed *, uint32_t xid, uint8_t header[RR_RPC_HEADER_MAX],
            struct rr_piece *pieces, unsigned *ret_n) RR_MUST_CHECK;
/* The attempt is over: sent again, or ended. */
void rr_unseal(struct rr_sealed *);
/* Where it waits for its turn. */
struct rr_list *rr_sealed_gate(struct rr_sealed *);
/* The next that may be tried now, off the gate; or NULL. */
struct rr_list *rr_gss_next(struct rpcrdma_gss *);

/* The server says that it does not know the context, and another attempt with a new one
 * is worth while. */
bool rr_sealed_refused(struct rr_sealed *, const struct rr_rpc_reply *h);
/* The Reply of this attempt has come.  0: @h and @ret_results are as without
 * RPCSEC_GSS; -EBADMSG, -ENOMEM. */
int rr_open(struct rr_sealed *, struct rr_rpc_reply *h, const uint8_t *results,
            size_t len, struct rr_piece *ret_results) RR_MUST_CHECK;

/* The connection ends what waits, for @verdict. */
void rr_gss_end_waiting(struct rpcrdma_conn *, int verdict);
/* It is freed. */
void rr_gss_detach(struct rpcrdma_conn *);

/* -- between gss_client.c and gss_setup.c -- */

/* Begins to make a context; rr_gss_ready or rr_gss_failed follows, later.  -ENOMEM. */
int rr_gss_setup_begin(struct rpcrdma_gss *) RR_MUST_CHECK;
/* Ends what is under way; a thread that is waiting for the KDC ends by itself. */
void rr_gss_setup_end(struct rpcrdma_gss *);
/* @context is given. */
void rr_gss_ready(struct rpcrdma_gss *, struct rr_gss_client_context *context);
/* info.reason says why already. */
void rr_gss_failed(struct rpcrdma_gss *, int error);
void rr_gss_put(struct rpcrdma_gss *);
/* A Call's header with @cred, and with a verifier by @id unless that is none.  Octets, or
 * an errno. */
int rr_gss_header(gss_ctx_id_t id, const struct rr_rpc_call *,
                  const struct rr_gss_cred *cred,
                  uint8_t header[RR_RPC_HEADER_MAX]) RR_MUST_CHECK;

#endif
