/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration of the optional features of version 2.                      [ext §2] */
#ifndef RR_CONN_FEATURE_CONFIG_H
#define RR_CONN_FEATURE_CONFIG_H

#include "base/base.h"

enum rr_feature {
	RR_FEATURE_RPRC,   /* responder-provided Read chunks [ext §3] */
	RR_FEATURE_REMINV, /* Remote Invalidation beyond the base protocol [ext §4] */
	RR_FEATURE_RTR,    /* send-based DDP and counted continuation [ext §5] */
	RR_FEATURE_HTFAM, /* separate header types for each kind of message [ext §6] */
	RR_FEATURES
};

/* How a Requester chooses the handle that a Reply may invalidate.          [ext §4.3] */
enum rr_inv_policy {
	RR_INV_LARGEST,
	RR_INV_NONE,
	RR_INV_READ_FIRST,
	RR_INV_WRITE_FIRST,
	RR_INV_FIRST,
	RR_INV_SINGLE,
};

/* Members that belong to a feature that is switched off have no effect.
 * rr_feature_defaults replaces each member that is 0 by its default, unless 0 has
 * another meaning. [ext §2.7] */
struct rr_feature_config {
	unsigned on; /* bit mask of the features to advertise and use, 1u << enum
	              * rr_feature */

	/* RPRC. */
	uint32_t rprc_lifetime_ms; /* how long a reply stays exposed; default 10000 */
	bool rprc_no_lifetime;     /* replies stay exposed until the peer has notified
	                            * us that it has pulled them; only for trusted
	                            * peers */
	bool rprc_no_piggyback;    /* refuse RDMA2_MSG_DONE */
	uint32_t rprc_max_pending; /* maximum number of exposed replies on the
	                            * connection; default 64 */
	uint64_t rprc_max_bytes; /* maximum number of exposed octets on the connection;
	                          * default 64 MiB */
	uint64_t max_pull;       /* longest reply that we pull, in octets; default 1
	                          * MiB */
	rr_time done_delay;      /* longest delay of a pull completion notification
	                          * while it waits for a Call that can carry it; default
	                          * 1 ms */
	uint32_t cont_max_sends; /* maximum number of messages in a continued reply
	                          * while RPRC is usable; default 8 */
	uint32_t cont_hard_max;  /* maximum number of messages in any continued reply; 0
	                          * = 1024 for a reply that may be exposed while no
	                          * other one is, no limit for other replies */
	bool reply_chunk_first;  /* use an offered Reply chunk even if the reply fits
	                          * in one message */
	bool no_reply_chunks;    /* offer no Reply chunk while RPRC is usable */

	/* REMINV. */
	enum rr_inv_policy inv_policy;
	bool no_remote_inv;  /* advertise that the peer must not use Send With
	                      * Invalidate */
	rr_time cancel_wait; /* how long a cancelled call waits for the peer to
	                      * invalidate the handle that the call named; default 5
	                      * s */

	/* RTR. */
	uint32_t rtr_segments;      /* number of DDP-targetable segments in a Receive
	                             * buffer; 0 = none.  With segments, the Receive
	                             * buffers are longer than the inline threshold,
	                             * and our Sends may be as long as they are */
	uint32_t rtr_segment_bytes; /* octets in each of these segments, at least 1024;
	                             * default 4096 */
	uint32_t rtr_requests;      /* maximum number of transmissions in a request that
	                             * we accept; default 16 */
	uint32_t rtr_responses;     /* maximum number of transmissions in a response
	                             * that we send; default 16 */
	rr_time group_wait;         /* maximum time that a group waits for its credits;
	                             * default 1 s */
	bool rtr_no_continuation;   /* neither send nor accept messages in several
	                           * transmissions */
	bool rtr_no_send_results;   /* as Responder, place no result by Send */
	uint32_t tbsn_max;          /* longest item that we choose to place by Send, in
	                             * octets; default 65536 */
};

/* Replaces zero members by their defaults. */
void rr_feature_defaults(struct rr_feature_config *);
/* Returns the feature's name in lower case: "rprc", "reminv", "rtr", "htfam". */
const char *rr_feature_name(enum rr_feature);

#endif
