/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reserves memory for requests, within the connection's limit and the process's budget
 * (budget.h).  A request reserves all the memory that it can need in one step, before
 * it pulls any large data.
 *
 * Normal path: at ADMIT, rr_reserve claims memory for the Read chunks, for a Special
 * Call and for the results.  The memory for results is the length of the Write chunks,
 * plus the length of the Reply chunk or, without a Reply chunk, of an inline message.
 * The request stays in ADMIT until the claim is granted.  The handler's results are
 * allocated from the memory reserved for them.  The unused part is released with the
 * reply, if it is longer than an inline message, and the rest when the request ends.
 * Items for which the program provides memory (place.h) need no reservation.
 *
 * A Call in parts makes its claim with the first part, when its length and its chunks
 * are not yet known.  It reserves enough for the longest message allowed and an inline
 * reply, but no more than the limit of a claim.  At ADMIT the reservation is reduced to
 * the memory needed.  If the chunks need more memory, the request reserves it at once
 * or is refused, because a request that has memory must not wait.
 *
 * A reply that the peer may read by RDMA reserves its octets before it is exposed, and
 * releases them when the exposure ends.
 *
 * The Receive buffers of waiting Calls (10 KiB each) are not counted.  A connection has
 * at most max_requests of these buffers.
 */
#ifndef RR_RPC_RESERVE_H
#define RR_RPC_RESERVE_H

#include "rpc/request.h"

/* Claims the memory for a request.  Calls @ready, at once or later in the engine's
 * thread, unless the request is refused.  The caller must touch the link. */
void rr_reserve(struct rpcrdma_request *, void (*ready)(struct rpcrdma_request *));
/* Withdraws a waiting claim.  Returns false if there was none. */
bool rr_reserve_leave(struct rpcrdma_request *);
/* Takes @bytes from the memory reserved for results, and reserves more if that is not
 * enough.  Returns false if there is no memory.  To be called in the engine's thread,
 * or by the thread that is to reply. */
bool rr_reserve_take(struct rpcrdma_request *, size_t bytes) RR_MUST_CHECK;
/* Counts @bytes of results that are already in memory.  Cannot fail, so the limits may
 * be exceeded. */
void rr_reserve_charge(struct rpcrdma_request *, size_t bytes);
/* Records whether the request is waiting for the peer, which must either send the data
 * being pulled or receive the Reply. */
void rr_reserve_peer(struct rpcrdma_request *, bool moves);
/* Releases the memory for results that an answered request did not use.  A part no
 * longer than an inline message is not worth it; rr_reserve_end releases that part. */
void rr_reserve_answered(struct rpcrdma_request *);
void rr_reserve_end(struct rpcrdma_request *);

/* Return the number of octets to reserve for a connection's own buffers: the first
 * function when the connection is accepted, the second (in addition) when its first
 * message has arrived. */
uint64_t rr_reserve_price(const struct rr_link *);
uint64_t rr_reserve_price_heard(const struct rr_link *, const struct rr_link_config *);
/* Returns true if the Receives of another connection may have the targetable segments
 * of these options.  See rr_budget_spares. */
bool rr_reserve_affords_segments(const struct rr_link_config *);

/* The functions with which a link reserves memory for Calls in parts.  If the link's
 * dispatch is NULL, these functions grant any amount. */
extern const struct rr_room rr_reserve_room;
/* The functions with which a link reserves memory for exposed replies.  The memory
 * counts towards the process's budget and towards rr_feature_options.rprc_total_bytes,
 * but not towards the connection's limit for requests.               [ext §3.8] */
extern const struct rr_exposure_budget rr_reserve_exposures;
/* Records that all parts of a Call have arrived, so that its @bytes now belong to a
 * request. */
void rr_reserve_sequence_over(struct rr_dispatch *, uint64_t bytes);

#endif
