/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of procedures that are executed once, by the service's reply cache
 * (reply_cache.h).                                         [v2 §4.5.5, §7.5]
 *
 * Normal path: rr_once_begin before the handler is called, rr_once_complete with its
 * result, rr_once_end when the request ends.  A repetition is answered with the stored
 * result, or waits for the first Call: it is not executed.
 *
 * Failure: rr_once_leave when the connection of a repetition that waits is lost.
 */
#ifndef RR_RPC_ONCE_H
#define RR_RPC_ONCE_H

#include <sys/socket.h>

#include "base/base.h"

struct rpcrdma_request;

/* Returns true if the request is to be executed; false if it was answered or waits. */
bool rr_once_begin(struct rpcrdma_request *,
                   const struct sockaddr_storage *caller) RR_MUST_CHECK;
/* Stores the handler's result; harmless for other requests.  Any thread.  To be called
 * before the result is sent, since a Call must never be executed again once its caller
 * may have seen the result. */
void rr_once_complete(struct rpcrdma_request *);
/* Stops waiting for the first Call; a post that is on its way is withdrawn. */
void rr_once_leave(struct rpcrdma_request *);
/* Releases the entry of a request that ends; harmless for other requests. */
void rr_once_end(struct rpcrdma_request *);

#endif
