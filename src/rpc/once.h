/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles requests to procedures that must not be executed twice, with the service's
 * reply cache (reply_cache.h).  [v2 §4.5.5, §7.5]
 *
 * Normal path: call rr_once_begin before the handler, rr_once_complete with the
 * handler's result, and rr_once_end when the request ends.  A repetition of the Call is
 * not executed: it is answered with the stored result, or waits until the first Call is
 * complete.
 *
 * Failure: call rr_once_leave when the connection of a waiting repetition is lost.
 */
#ifndef RR_RPC_ONCE_H
#define RR_RPC_ONCE_H

#include <sys/socket.h>

#include "base/base.h"

struct rpcrdma_request;

/* Returns true if the request must be executed.  Returns false if it was answered, or
 * waits for the first Call. */
bool rr_once_begin(struct rpcrdma_request *,
                   const struct sockaddr_storage *caller) RR_MUST_CHECK;
/* Stores the handler's result.  Does nothing for requests that do not use the reply
 * cache.  May be called in any thread.  Call this before the result is sent, because a
 * Call must never be executed again when its caller may have seen the result. */
void rr_once_complete(struct rpcrdma_request *);
/* Stops waiting for the first Call, and withdraws a post that announces its result. */
void rr_once_leave(struct rpcrdma_request *);
/* Releases the cache entry of a request that ends.  Does nothing for requests without
 * an entry. */
void rr_once_end(struct rpcrdma_request *);

#endif
