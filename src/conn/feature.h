/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optional features of version 2.                                           [ext §2]
 *
 * A feature is a table of functions.  It declares the feature's properties and header
 * types, and what the feature does at the steps of a connection's life.  The functions
 * below call the tables of the features that are switched on.  A feature that is
 * switched off is as if it were not there: nothing of it is sent, and its header types
 * are unknown.
 *
 * A feature's state is a member of struct rr_conn.  What the peer has advertised is in
 * rr_peer_props, because the values of one RDMA2_CONNPROP apply together or not at all.
 */
#ifndef RR_CONN_FEATURE_H
#define RR_CONN_FEATURE_H

#include "conn/conn.h"
#include "conn/props.h"

struct rr_msg;

/* Any member except @agreed may be NULL. */
struct rr_feature_ops {
	/* Encodes our properties.  Returns how many. */
	uint32_t (*put_props)(const struct rr_conn *, struct rr_writer *);
	/* Decodes one of the peer's properties into @v, and changes nothing else.
	 * Returns 0; -ENOENT if the property does not belong to the feature; -EINVAL if
	 * its value is bad. */
	int (*take_prop)(const struct rr_conn *, const struct rr_prop *,
	                 struct rr_peer_props *v);
	/* Returns false if values that are good one by one do not fit together. */
	bool (*check_props)(const struct rr_peer_props *v);
	/* Settles how the feature is used, when both peers have sent all their
	 * properties. */
	void (*agree)(struct rr_conn *);
	/* Returns true if both peers have advertised the feature.  Valid after
	 * @agree. */
	bool (*agreed)(const struct rr_conn *);
	/* Returns true if the connection accepts messages of type @htype. */
	bool (*accepts)(const struct rr_conn *, uint32_t htype);
	/* Returns true if messages of type @htype belong to the exchange of properties,
	 * and so precede host authentication. */
	bool (*exchanges)(uint32_t htype);
	/* Processes a message of a type accepted. */
	void (*received)(struct rr_conn *, struct rr_msg *);
	/* Sends the feature's next message.  The caller has checked that there is a
	 * credit and that no sequence is being sent.  Returns false if there is no
	 * message to send. */
	bool (*transmit)(struct rr_conn *);
	void (*tick)(struct rr_conn *);
	rr_time (*deadline)(const struct rr_conn *);
	/* Releases what the peer could access, after the connection is lost. */
	void (*lost)(struct rr_conn *);
	void (*fini)(struct rr_conn *);
};

/* Returns the feature that accepts messages of type @htype, or NULL. */
const struct rr_feature_ops *rr_feature_of(const struct rr_conn *, uint32_t htype);
/* Each of these calls the function of that name of every feature switched on. */
uint32_t rr_features_put_props(const struct rr_conn *, struct rr_writer *);
/* Returns false if the value is bad.  Does nothing for properties of no feature. */
bool rr_features_take_prop(const struct rr_conn *, const struct rr_prop *,
                           struct rr_peer_props *v);
bool rr_features_check_props(const struct rr_conn *, const struct rr_peer_props *v);
void rr_features_agree(struct rr_conn *);
/* Switches every feature off, because the peer has refused our properties. */
void rr_features_refused(struct rr_conn *);
/* Returns a bit mask of the features that both peers have advertised. */
unsigned rr_features_agreed(const struct rr_conn *);
/* Sends the next message of any feature; otherwise as rr_feature_ops.transmit. */
bool rr_features_transmit(struct rr_conn *);
void rr_features_tick(struct rr_conn *);
rr_time rr_features_deadline(const struct rr_conn *);
void rr_features_lost(struct rr_conn *);
void rr_features_fini(struct rr_conn *);

#endif
