/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a request reserves, of its connection and of the process (budget.h):
 * all that it can need, in one step, before anything large is pulled.
 *
 * Normal path: at ADMIT, rr_reserve claims the octets of the Read chunks and of a
 * Special Call, and room for the results: the lengths of the Write chunks and the Reply
 * chunk, or of one inline message.  The request stays in ADMIT until the claim is
 * granted.  Results are taken out of that room.  What the results did not use is given
 * back with the reply, and the rest when the request ends.  Items for which the program
 * provides memory (place.h) need none.
 *
 * A Call in parts makes its claim with the first part, when its length and its chunks
 * are not known.  It reserves the longest message allowed and an inline reply, but no
 * more than the limit of a claim.  At ADMIT the reservation is cut to what is needed.
 * If the chunks need more, they get it at once or not at all, since a request that
 * holds memory must not wait.
 *
 * Not counted: the Receive buffer of a Call that waits, 10 KiB each.  A connection has
 * at most max_requests of them.
 */
#ifndef RR_RPC_RESERVE_H
#define RR_RPC_RESERVE_H

#include "rpc/request.h"

/* Makes the claim of a request.  @ready is called at once or later, in the engine's
 * thread, unless the request is refused.  The caller touches the link. */
void rr_reserve(struct rpcrdma_request *, void (*ready)(struct rpcrdma_request *));
/* Withdraws a claim that waits.  Returns false if none did. */
bool rr_reserve_leave(struct rpcrdma_request *);
/* Takes @bytes for results, and reserves more if the room is too small.  Returns false
 * if that fails.  To be called in the engine's thread, or by the thread that is to
 * reply. */
bool rr_reserve_take(struct rpcrdma_request *, size_t bytes) RR_MUST_CHECK;
/* Takes @bytes for memory that is in use already. */
void rr_reserve_charge(struct rpcrdma_request *, size_t bytes);
/* Notes whether the peer has to move next: to send what is pulled, or to receive the
 * reply. */
void rr_reserve_peer(struct rpcrdma_request *, bool moves);
/* Gives back the room that is left when the request was answered. */
void rr_reserve_answered(struct rpcrdma_request *);
void rr_reserve_end(struct rpcrdma_request *);

/* Return the fixed price of a connection that was accepted: at first, and in addition
 * when its peer's first message has arrived. */
uint64_t rr_reserve_price(const struct rr_link_config *);
uint64_t rr_reserve_price_heard(const struct rr_link_config *);

/* Memory of Calls in parts, for links; a link's dispatch may be NULL. */
extern const struct rr_room rr_reserve_room;
/* Notes that all parts have arrived, and that the @bytes now belong to a request. */
void rr_reserve_sequence_over(struct rr_dispatch *, uint64_t bytes);

#endif
