/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Relays: programs that pass RPC messages on without changing them.
 *
 * A relay sends and receives complete messages, including their RPC headers.  XIDs,
 * credentials and verifiers stay as they are, so RPCSEC_GSS works between the two ends
 * that the relay connects.  The relay knows the upper-layer bindings: it marks the
 * DDP-eligible items of the messages that it sends.          [RFC 5531 §9; v2 §A]
 *
 * The library never sends a relayed Call again.  If a connection is lost, the relay
 * should close the other one, and leave it to the client to connect and call again.
 *
 * Functions must be called, and the functions of a relay are called, in the engine's
 * thread.
 */
#ifndef RPCRDMA_RELAY_H
#define RPCRDMA_RELAY_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rpcrdma_relay_options {
	size_t size;
	/* Handles one Call, and later answers it once, with
	 * rpcrdma_request_reply_message, rpcrdma_request_error or rpcrdma_request_drop.
	 * rpcrdma_request_args returns the complete Call.  @token is the token of the
	 * client's connection or, for a Call that a client receives from its server, the
	 * @arg of rpcrdma_connect. */
	void (*call)(struct rpcrdma_request *, void *token, void *arg);
	/* For listeners, may be NULL.  Called when a client's connection is up, before
	 * its first Call.  The program calls the client through @conn, and closes the
	 * connection with rpcrdma_conn_close, which also frees @conn.  Returns 0 and sets
	 * *ret_token.  Or returns a negative errno: then the library closes the
	 * connection and frees @conn, and the program must not use it. */
	int (*accept)(struct rpcrdma_conn *conn, void *arg, void **ret_token);
	/* Called when an accepted connection has ended, unless the program has called
	 * rpcrdma_conn_close for it.  The program must then call rpcrdma_conn_close, and
	 * answer the connection's Calls.  @error is a negative errno. */
	void (*lost)(void *token, int error, const char *reason, void *arg);
	void *arg;
};

/* Makes the service hand over the Calls of all programs to the functions of a relay.
 * Call before the first listen or connect.  Of programs that were added to the service,
 * only max_read_items and max_write_items of the procedures are used.  Calls of other
 * programs may have no items.  A Call whose RPC header is malformed is answered by the
 * library.  Returns -EEXIST if this was called before, or -EINVAL if @call is missing, or
 * if only one of @accept and @lost is. */
RPCRDMA_API int rpcrdma_service_set_relay(struct rpcrdma_service *,
                                          const struct rpcrdma_relay_options *);

/* Makes a call like rpcrdma_call, but the @args are the complete Call.  The first piece
 * contains the complete RPC header.  The options program, version, procedure, cred and
 * gss must be zero, and idempotent has no effect.  No other outstanding call of the
 * connection may have the same XID; done then gets -EINVAL.  Items move by RDMA only if
 * RPCSEC_GSS permits it.  In done, results is the complete Reply without the items that
 * were placed in destinations, and status is 0 whatever the RPC status of the Reply.  A
 * call ends with the connection's error if the connection is lost.  Returns the errors
 * of rpcrdma_call, or -EBADMSG if the RPC header is malformed. */
RPCRDMA_API int rpcrdma_call_message(struct rpcrdma_conn *,
                                     const struct rpcrdma_call_options *,
                                     struct rpcrdma_call **ret);

/* Answers a relay's request like rpcrdma_request_reply, but the pieces are the complete
 * Reply, at most RPCRDMA_MAX_PIECES.  The first piece begins with the XID.  Returns
 * -EINVAL also if the XID is not the request's, if the first piece is an item, or if the
 * octets before, between or after the items are not a multiple of four. */
RPCRDMA_API int rpcrdma_request_reply_message(struct rpcrdma_request *,
                                              const struct rpcrdma_piece *, unsigned n,
                                              void (*done)(void *), void *arg);

/* Ends a request without an answer, and closes the connection that it arrived on.  The
 * arguments are no longer valid.  Returns -EINVAL if the request was answered. */
RPCRDMA_API int rpcrdma_request_drop(struct rpcrdma_request *);

#ifdef __cplusplus
}
#endif
#endif
