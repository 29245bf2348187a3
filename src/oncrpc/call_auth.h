/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface to an authentication flavor that protects calls.       [RFC 5531 §8]
 *
 * Calls (rpc/calls.h) use a flavor only through struct rr_call_auth_ops.  A flavor uses
 * a connection only through struct rr_auth_host_ops.  RPCSEC_GSS is the only flavor so
 * far (gss/gss_client.h); flavors without state, like AUTH_SYS, are credentials that
 * the caller provides.
 *
 * Normal path: the connection calls new_call when a call is made, wrap when the call
 * can be sent, and unwrap when the Reply has arrived.  Finally it calls end_attempt and
 * free_call.  If wrap returns -EAGAIN, the connection adds the call to the wait queue
 * of the call's context.  As soon as the flavor can wrap again, it calls submit; the
 * connection then takes the calls off the queue with next_call.
 *
 * Failure: before a call is sent again, the connection calls end_attempt, and then wrap
 * for a new attempt.
 *
 * Threads: all functions are called in the engine's thread.
 */
#ifndef RR_ONCRPC_CALL_AUTH_H
#define RR_ONCRPC_CALL_AUTH_H

#include "base/list.h"
#include "base/trace.h"
#include "oncrpc/rpc_header.h"

struct rr_auth_host;
struct rr_auth_context;
struct rr_call_auth;

/* The functions that a flavor calls on a connection.  All must be set. */
struct rr_auth_host_ops {
	/* Submits all calls that can be sent now. */
	void (*submit)(struct rr_auth_host *);
	/* Ends all calls in a wait queue with @status. */
	void (*end_calls)(struct rr_auth_host *, struct rr_list *queue, int status);
	/* Makes a call for the flavor itself.  @header is the RPC header, including the
	 * verifier; the options' program, version, procedure and credential are
	 * ignored.  The payload is sent in one piece.  Returns 0 or an error, like
	 * rpcrdma_call. */
	int (*call)(struct rr_auth_host *, const struct rpcrdma_call_options *,
	            const void *header, size_t len, struct rpcrdma_call **ret);
	/* Returns the complete Reply, including the RPC header.  To be called only by
	 * the done function of a call that @call made, if the status is 0. */
	const void *(*reply)(const struct rpcrdma_call *, size_t *ret_len);
	/* Returns true if a call would be sent at once. */
	bool (*is_connected)(const struct rr_auth_host *);
};

/* A connection, as flavors see it. */
struct rr_auth_host {
	const struct rr_auth_host_ops *ops;
	struct rpcrdma_engine *engine;
	const struct rr_trace_sink *trace;
	struct rr_list contexts; /* struct rr_auth_context */
};

/* The functions that a connection calls on a flavor.  All must be set. */
struct rr_call_auth_ops {
	/* Prepares a call with these options.  Returns 0, -ENOMEM or -EINVAL. */
	int (*new_call)(struct rr_auth_context *, const struct rpcrdma_call_options *,
	                struct rr_call_auth **ret);
	void (*free_call)(struct rr_call_auth *);
	/* Returns true if the payload must be sent in one piece. */
	bool (*is_unreducible)(const struct rr_call_auth *);
	/* Returns the maximum number of octets that protection adds to a Reply. */
	size_t (*reply_overhead)(const struct rr_call_auth *);
	/*
	 * Prepares an attempt: writes the RPC header to @header, and stores the
	 * arguments in @pieces, an array of RPCRDMA_MAX_PIECES.  Returns the length of
	 * the header, -EAGAIN if the call must wait, or another error, which ends the
	 * call.
	 */
	int (*wrap)(struct rr_call_auth *, uint32_t xid,
	            uint8_t header[RR_RPC_HEADER_MAX], struct rr_piece *pieces,
	            unsigned *ret_n);
	/* Ends an attempt, because the call has ended or will be sent again.  Does
	 * nothing if there is no attempt. */
	void (*end_attempt)(struct rr_call_auth *);
	/* Takes the next call that can be wrapped off the wait queue and returns it.
	 * Returns NULL if there is none. */
	struct rr_list *(*next_call)(struct rr_auth_context *);
	/* Returns true if the call must be sent again with a new context, because the
	 * server refused the old one. */
	bool (*retries)(struct rr_call_auth *, const struct rr_rpc_reply *);
	/* Checks the Reply to an attempt, and removes the protection from @reply and
	 * @ret_results.  Returns 0, -EBADMSG or -ENOMEM. */
	int (*unwrap)(struct rr_call_auth *, struct rr_rpc_reply *reply,
	              const uint8_t *results, size_t len, struct rr_piece *ret_results);
	/* Stops all activity of the context, because its connection is being freed.
	 * All calls have ended.  The context must not use @host afterwards. */
	void (*detach)(struct rr_auth_context *);
};

/* A security context that calls can refer to.  This struct is the first member of the
 * flavor's own struct. */
struct rr_auth_context {
	const struct rr_call_auth_ops *ops;
	struct rr_list link;       /* in rr_auth_host.contexts */
	struct rr_auth_host *host; /* NULL after detach */
	struct rr_list queue;      /* calls that wait; the host defines their type */
};

/* The flavor's state for one call.  This struct is the first member of the flavor's own
 * struct. */
struct rr_call_auth {
	struct rr_auth_context *context;
};

#endif
