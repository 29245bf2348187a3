/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a request reserves of the memory of its connection and of the process
 * (budget.h): all it can need, in one step, before anything large is pulled.
 *
 * Normal path: at ADMIT rr_reserve asks for the octets of its Read chunks and of a
 * Special Call, and for room for its results: what its Write chunks and Reply chunk
 * take, or one inline message.  The request waits in ADMIT until that is there.
 * Results come out of that room; what was not used goes back with the answer, the
 * rest when the request ends.  Items that the program has a place for (place.h) need
 * nothing.
 *
 * A Call that comes in parts asks with its first one, when nobody knows how long it is
 * or what chunks follow: it reserves the longest message allowed and an answer inline,
 * but no more than a claim may be.  At ADMIT what it has is cut to what it needs.
 * Chunks for which that is not enough get the rest at once or not at all, since who
 * holds memory must not wait.
 *
 * Not counted: what is known of a Call that waits (its Receive, 10 KiB in all), of
 * which a connection has no more than max_requests.
 */
#ifndef RR_RPC_RESERVE_H
#define RR_RPC_RESERVE_H

#include "rpc/request.h"

/* @ready is called, at once or later, in the engine's thread; or the request is refused.
 * The caller touches the link. */
void rr_reserve(struct rpcrdma_request *, void (*ready)(struct rpcrdma_request *));
/* True: it waited, and does so no longer. */
bool rr_reserve_leave(struct rpcrdma_request *);
/* Room for @bytes of results; more is reserved if there is more.  False: there is not.
 * The engine's thread, or the one that is to answer. */
bool rr_reserve_take(struct rpcrdma_request *, size_t bytes) RR_MUST_CHECK;
/* For memory that is in use already. */
void rr_reserve_charge(struct rpcrdma_request *, size_t bytes);
/* Whether the peer is to move next: it sends what is pulled, or takes the answer. */
void rr_reserve_peer(struct rpcrdma_request *, bool moves);
/* It was answered: gives the room back that is left. */
void rr_reserve_answered(struct rpcrdma_request *);
void rr_reserve_end(struct rpcrdma_request *);

/* The fixed price of a connection that was accepted: before its peer has spoken, and
 * what comes to it then. */
uint64_t rr_reserve_price(const struct rr_link_config *);
uint64_t rr_reserve_price_heard(const struct rr_link_config *);

/* Memory of Calls that come in parts, for links; their @served may be NULL. */
extern const struct rr_room rr_reserve_room;
/* Its parts are all there, and the @bytes that it has are a request's. */
void rr_reserve_sequence_over(struct rr_dispatch *, uint64_t bytes);

#endif
