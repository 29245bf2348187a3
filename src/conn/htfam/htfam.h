/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feature HTFAM: header types by message kind.                              [ext §6]
 *
 * Received messages of these types are translated to the terms of the base protocol
 * before any other check, and messages to send are translated back when their header is
 * written (family.h).  So the rest of the connection treats both families alike.
 */
#ifndef RR_CONN_HTFAM_HTFAM_H
#define RR_CONN_HTFAM_HTFAM_H

#include "conn/family.h"
#include "conn/feature.h"
#include "wire/htfam/htfam_wire.h"

/* State of the feature in one connection. */
struct rr_htfam {
	bool calls;      /* our Calls have header types of this feature */
	bool no_control; /* the peer has refused a grant message or properties of this
	                  * feature */
};

extern const struct rr_feature_ops rr_htfam_ops;
extern const struct rr_family rr_htfam_family;

/* Returns the family for our next Call. */
const struct rr_family *rr_htfam_call_family(const struct rr_conn *);
/* Returns the family for our next grant message. */
const struct rr_family *rr_htfam_grant_family(const struct rr_conn *);
/* Returns true if the properties that we send next have header types of this
 * feature. */
bool rr_htfam_sends_props(const struct rr_conn *);
/* Returns true if our next properties must wait for the peer's first ones, which show
 * whether the peer accepts the header types of this feature.              [ext §6.1] */
bool rr_htfam_awaits_props(const struct rr_conn *);
/* Handles RDMA2_ERR_INVAL_HTYPE for a Call in this family.  Returns false if the family is
 * not that of this feature; otherwise its types are not sent again.     [ext §2.4] */
bool rr_htfam_refused(struct rr_conn *, const struct rr_family *);
/* Handles RDMA2_ERR_INVAL_HTYPE for a message that is not a Call. */
void rr_htfam_control_refused(struct rr_conn *);

#endif
