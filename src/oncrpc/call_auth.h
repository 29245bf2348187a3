/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An authentication flavor that protects calls, as a plug-in.      [RFC 5531 §8]
 *
 * The calls of a connection (rpc/calls.h) use the operations of struct rr_call_auth_ops,
 * and know no flavor.  A flavor uses the operations of struct rr_auth_host_ops, and
 * knows no connection.  RPCSEC_GSS is the only flavor so far (gss/gss_client.h); flavors
 * without state, like AUTH_SYS, are credentials that the caller provides.
 *
 * Normal path: new_call when a call is made; wrap when it can be sent; unwrap when its
 * Reply has arrived; end_attempt; free_call.  If wrap returns -EAGAIN, the call goes to
 * the wait queue of its context.  The flavor has calls submitted when it can wrap
 * again, and next_call takes them off the queue one by one.
 *
 * Failure: a call that is sent again is wrapped anew, after end_attempt.
 *
 * Threads: the engine's.
 */
#ifndef RR_ONCRPC_CALL_AUTH_H
#define RR_ONCRPC_CALL_AUTH_H

#include "base/list.h"
#include "base/trace.h"
#include "oncrpc/rpc_header.h"

struct rr_auth_host;
struct rr_auth_context;
struct rr_call_auth;

/* What a connection does for a flavor.  Every slot is set. */
struct rr_auth_host_ops {
	/* Submits the calls that can be sent. */
	void (*submit)(struct rr_auth_host *);
	/* Ends all calls of a wait queue with @status. */
	void (*end_calls)(struct rr_auth_host *, struct rr_list *queue, int status);
	/* Makes a call of the flavor's own.  @header is the RPC header, verifier
	 * included; program, version, procedure and credential of the options are
	 * ignored.  The payload is sent in one piece.  Errors of rpcrdma_call. */
	int (*call)(struct rr_auth_host *, const struct rpcrdma_call_options *,
	            const void *header, size_t len, struct rpcrdma_call **ret);
	/* Returns the whole Reply, RPC header included, to the done function of such a
	 * call that has status 0. */
	const void *(*reply)(const struct rpcrdma_call *, size_t *ret_len);
	/* Returns whether a call would be sent at once. */
	bool (*is_connected)(const struct rr_auth_host *);
};

/* The calls of a connection, for flavors. */
struct rr_auth_host {
	const struct rr_auth_host_ops *ops;
	struct rpcrdma_engine *engine;
	const struct rr_trace_sink *trace;
	struct rr_list contexts; /* struct rr_auth_context */
};

/* What a flavor does for calls.  Every slot is set. */
struct rr_call_auth_ops {
	/* Prepares a call with these options.  -ENOMEM, -EINVAL. */
	int (*new_call)(struct rr_auth_context *, const struct rpcrdma_call_options *,
	                struct rr_call_auth **ret);
	void (*free_call)(struct rr_call_auth *);
	/* Returns whether the payload must be sent in one piece. */
	bool (*is_unreducible)(const struct rr_call_auth *);
	/* Returns the most octets that protection adds to a Reply. */
	size_t (*reply_overhead)(const struct rr_call_auth *);
	/*
	 * Prepares an attempt: writes the RPC header to @header and the arguments to
	 * @pieces, which has room for RPCRDMA_MAX_PIECES.  Returns the octets of the
	 * header; -EAGAIN: the call must wait; other errors end the call.
	 */
	int (*wrap)(struct rr_call_auth *, uint32_t xid,
	            uint8_t header[RR_RPC_HEADER_MAX], struct rr_piece *pieces,
	            unsigned *ret_n);
	/* Ends an attempt: the call ends or is sent again.  Harmless without one. */
	void (*end_attempt)(struct rr_call_auth *);
	/* Takes the next call that may be tried off the wait queue; or NULL. */
	struct rr_list *(*next_call)(struct rr_auth_context *);
	/* Returns whether the server refused the context, and the call is to be tried
	 * again with a new one. */
	bool (*retries)(struct rr_call_auth *, const struct rr_rpc_reply *);
	/* Checks the Reply to an attempt.  0: @reply and @ret_results are as they would be
	 * without the flavor; -EBADMSG, -ENOMEM. */
	int (*unwrap)(struct rr_call_auth *, struct rr_rpc_reply *reply,
	              const uint8_t *results, size_t len, struct rr_piece *ret_results);
	/* Ends what the context does, since its connection is being freed: @host is
	 * gone when this returns, and no call is left. */
	void (*detach)(struct rr_auth_context *);
};

/* A security context that calls can name: the first member of a flavor's own. */
struct rr_auth_context {
	const struct rr_call_auth_ops *ops;
	struct rr_list link;       /* of the host's */
	struct rr_auth_host *host; /* NULL: gone */
	struct rr_list queue;      /* calls that wait, by their own links */
};

/* The state of one call: the first member of a flavor's own. */
struct rr_call_auth {
	struct rr_auth_context *context;
};

#endif
