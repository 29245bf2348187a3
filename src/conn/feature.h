/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optional features of version 2.                                           [ext §2]
 *
 * A feature is a table of functions.  The functions declare the feature's properties
 * and header types, and act at the steps of a connection's life.  The functions below
 * call the tables of the features that are switched on.  For a feature that is switched
 * off, nothing is sent, and its header types are unknown.
 *
 * A feature's state is a member of struct rr_conn.  The values that the peer has
 * advertised are in rr_peer_props, because the values in one RDMA2_CONNPROP apply
 * together or not at all.
 */
#ifndef RR_CONN_FEATURE_H
#define RR_CONN_FEATURE_H

#include "conn/conn.h"
#include "conn/props.h"

struct rr_msg;

/* Any member except @agreed may be NULL. */
struct rr_feature_ops {
	/* Encodes our properties and returns their number. */
	uint32_t (*put_props)(const struct rr_conn *, struct rr_writer *);
	/* Decodes one of the peer's properties into @v, and changes nothing else.
	 * Returns 0; -ENOENT if the property does not belong to the feature; or -EINVAL
	 * if its value is invalid. */
	int (*take_prop)(const struct rr_conn *, const struct rr_prop *,
	                 struct rr_peer_props *v);
	/* Returns false if the values contradict each other. */
	bool (*check_props)(const struct rr_peer_props *v);
	/* Determines how the feature is used.  Called when both peers have sent all
	 * their properties. */
	void (*agree)(struct rr_conn *);
	/* Ends the use of the feature, because the peer has refused our properties after
	 * @agree was called.  The other functions are still called, for what has
	 * begun.  NULL = they are not. */
	void (*refused)(struct rr_conn *);
	/* Returns true if both peers have advertised the feature.  Valid after @agree
	 * has been called. */
	bool (*agreed)(const struct rr_conn *);
	/* Returns true if the connection accepts messages of type @htype. */
	bool (*accepts)(const struct rr_conn *, uint32_t htype);
	/* Replaces the header type, direction and flags of a message, whose type the
	 * feature accepts, by those of the base protocol.  The message is then
	 * processed as a message of that type, and not by @received.  Returns 0 or the
	 * rdma_err code. */
	uint32_t (*translate)(struct rr_msg *);
	/* Returns true if the message, of a type that the feature accepts, may have
	 * invalidated the region m->inv_handle, and records that.  NULL = the rules for
	 * Replies in the base protocol apply. */
	bool (*invalidated)(struct rr_conn *, struct rr_msg *);
	/* Processes a message of a type that the feature accepts. */
	void (*received)(struct rr_conn *, struct rr_msg *);
	/* Returns true if the feature has no work left: the next four functions would
	 * have nothing to do, now or later. */
	bool (*idle)(const struct rr_conn *);
	/* Continues work that did not wait for a credit.  Returns false if there is
	 * none. */
	bool (*progress)(struct rr_conn *);
	/* Sends the feature's next message.  Called only if a credit is available and
	 * no message is being sent in parts.  Returns false if there is no message to
	 * send. */
	bool (*transmit)(struct rr_conn *);
	void (*tick)(struct rr_conn *);
	rr_time (*deadline)(const struct rr_conn *);
	/* Releases the memory that the peer could access, after the connection is
	 * lost.  This function and @fini are called even if the feature is switched
	 * off. */
	void (*lost)(struct rr_conn *);
	void (*fini)(struct rr_conn *);
};

/* Returns the feature that accepts messages of type @htype, or NULL. */
const struct rr_feature_ops *rr_feature_of(const struct rr_conn *, uint32_t htype);
/* Notes that the feature has work.  Until the feature is idle, the connection calls its
 * functions progress, transmit, tick and deadline. */
void rr_feature_begin(struct rr_conn *, enum rr_feature);
/* Each function below calls the function of the same name of every feature that is
 * switched on.  Progress, transmit, tick and deadline call only the features that have
 * work. */
uint32_t rr_features_put_props(const struct rr_conn *, struct rr_writer *);
/* Returns false if the value is invalid.  Ignores properties that belong to no
 * feature. */
bool rr_features_take_prop(const struct rr_conn *, const struct rr_prop *,
                           struct rr_peer_props *v);
bool rr_features_check_props(const struct rr_conn *, const struct rr_peer_props *v);
void rr_features_agree(struct rr_conn *);
/* Switches every feature off, because the peer has refused our properties. */
void rr_features_refused(struct rr_conn *);
/* Returns a bit mask of the features that both peers have advertised. */
unsigned rr_features_agreed(const struct rr_conn *);
/* Continues the work of any feature; see rr_feature_ops.progress. */
bool rr_features_progress(struct rr_conn *);
/* Sends the next message of any feature, under the conditions of
 * rr_feature_ops.transmit. */
bool rr_features_transmit(struct rr_conn *);
void rr_features_tick(struct rr_conn *);
rr_time rr_features_deadline(const struct rr_conn *);
void rr_features_lost(struct rr_conn *);
void rr_features_fini(struct rr_conn *);

#endif
