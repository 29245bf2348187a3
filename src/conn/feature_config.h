/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration of the optional features of version 2.                      [ext §2] */
#ifndef RR_CONN_FEATURE_CONFIG_H
#define RR_CONN_FEATURE_CONFIG_H

#include "base/base.h"

enum rr_feature {
	RR_FEATURE_RPRC,   /* responder-provided Read chunks [ext §3] */
	RR_FEATURE_REMINV, /* Remote Invalidation beyond the base protocol [ext §4] */
	RR_FEATURE_RTR,    /* send-based DDP and counted continuation [ext §5] */
	RR_FEATURE_HTFAM,  /* header types by message kind [ext §6] */
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

/* A member of a feature that is switched off has no effect.  rr_feature_defaults
 * replaces zero members by the defaults given here, unless 0 has another meaning.
 *                                                                          [ext §2.7] */
struct rr_feature_config {
	unsigned on; /* bit mask of the features to advertise and use, 1u << enum
	              * rr_feature */

	/* RPRC. */
	uint32_t rprc_lifetime_ms; /* how long a reply stays exposed; default 10000 */
	bool rprc_no_lifetime;     /* replies stay exposed until the peer notifies; for
	                            * trusted peers */
	bool rprc_no_piggyback;    /* refuse RDMA2_MSG_DONE */
	uint32_t rprc_max_pending; /* exposed replies of the connection; default 64 */
	uint64_t rprc_max_bytes; /* exposed octets of the connection; default 64 MiB */
	uint64_t max_pull;       /* longest reply pulled, octets; default 64 MiB */
	rr_time done_delay;      /* longest wait for a Call that can carry a pull
	                            * completion notification; default 1 ms */
	uint32_t cont_max_sends; /* messages of the longest continued reply while RPRC
	                            * is usable; default 8 */
	uint32_t cont_hard_max;  /* messages of the longest continued reply; default
	                            * 1024 */
	bool reply_chunk_first;  /* use an offered Reply chunk even if the reply fits
	                            * in one message */
	bool no_reply_chunks;    /* offer no Reply chunk while RPRC is usable */

	/* REMINV. */
	enum rr_inv_policy inv_policy;
	bool no_remote_inv;  /* advertise that we accept no Send With Invalidate */
	rr_time cancel_wait; /* how long a cancelled call waits for the handle that it
	                      * named; default 5 s */

	/* RTR. */
	uint32_t rtr_segments;      /* DDP-targetable segments of a Receive buffer; 0 =
	                             * none */
	uint32_t rtr_segment_bytes; /* octets in each; default 4096 */
	uint32_t rtr_requests;      /* transmissions of the longest request accepted;
	                             * default 16 */
	uint32_t rtr_responses;     /* transmissions of the longest response sent;
	                             * default 16 */
	rr_time group_wait;         /* longest wait for the credits of a group; default
	                             * 1 s */
	uint32_t tbsn_max;          /* longest result placed by Send where the Responder
	                             * chooses, octets; default 65536 */
};

/* Replaces zero members by their defaults. */
void rr_feature_defaults(struct rr_feature_config *);
/* Returns the feature's name in lower case: "rprc", "reminv", "rtr", "htfam". */
const char *rr_feature_name(enum rr_feature);

#endif
