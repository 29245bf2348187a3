/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feature REMINV: Remote Invalidation beyond the base protocol.             [ext §4]
 *
 *   remote_inv.c   the advisory property; which handle a Call names
 *   kept_calls.c   handles that the peer has invalidated; cancelled calls
 *
 * The feature's rules for a Requester apply to version 2 only, and need no consent of
 * the peer.  The peer's advisory property only restricts our Sends.
 */
#ifndef RR_CONN_REMINV_REMOTE_INV_H
#define RR_CONN_REMINV_REMOTE_INV_H

#include "conn/feature.h"
#include "conn/requester.h"

/* State of the feature in one connection. */
struct rr_reminv {
	struct rr_list kept; /* cancelled calls that keep a region, the first deadline
	                      * first, linked by rr_call_state.kept */
};

extern const struct rr_feature_ops rr_reminv_ops;

/* Returns true if the feature's rules for a Requester apply. */
bool rr_reminv_on(const struct rr_conn *);
/* Returns true if the configuration forbids the peer to invalidate our regions. */
bool rr_reminv_declined(const struct rr_conn_config *);
/* Returns the handle that the Call names in rdma_inv_handle, or 0.       [ext §4.3] */
uint32_t rr_reminv_choose(const struct rr_conn *, const struct rr_call_chunks *);

/* -- kept_calls.c ---------------------------------------------------------- */

/* Lets a cancelled call keep the region that it named, if the peer may be about to
 * invalidate that region; withdraws the call's other regions.  The call ends when the
 * Reply or an error arrives, or when cancel_wait has passed.  Returns false, and does
 * nothing, if the call need not wait.                                    [ext §4.4] */
bool rr_reminv_keep(struct rr_conn *, struct rr_call_state *);
/* Records which region the message's Send has invalidated.  Returns false if the peer
 * was not allowed to invalidate the region.                              [ext §4.4] */
bool rr_reminv_take(struct rr_conn *, const struct rr_msg *);

#endif
