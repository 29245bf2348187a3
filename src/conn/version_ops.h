/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The differences between versions 1 and 2, as a table of functions and constants:
 * header layout, features, handling of received messages, and counting of credits.  A
 * connection starts with the table of its highest version.  Until the version is
 * settled, the first messages may select the other table. [v2 §4.2.3, V5]
 */
#ifndef RR_CONN_VERSION_OPS_H
#define RR_CONN_VERSION_OPS_H

#include "conn/conn.h"

struct rr_msg;

struct rr_version_ops {
	uint32_t vers;

	/* The header: a prefix followed by chunk lists or an error.  See wire.h. */
	size_t prefix_bytes;
	size_t empty_bytes; /* octets in the header of a message without chunks */
	size_t least;       /* octets in the shortest message, except RDMA_ERROR */
	int (*get_prefix)(struct rr_cursor *, struct rr_prefix *);
	int (*get_lists)(struct rr_cursor *, struct rr_lists *);
	int (*get_error)(struct rr_cursor *, struct rr_error *);
	void (*put_prefix)(struct rr_writer *, const struct rr_prefix *);
	void (*put_lists)(struct rr_writer *, const struct rr_lists *);
	void (*put_error)(struct rr_writer *, const struct rr_error *);
	size_t (*lists_size)(const struct rr_lists *);

	bool properties;   /* properties are exchanged first, and limit the messages
	                    * sent afterwards */
	bool continues;    /* an RPC message may be sent in several parts */
	bool grants;       /* the version has grant messages */
	bool names_handle; /* the Requester names the handle that may be invalidated */
	bool returns_reply_chunk; /* every Reply returns the Reply chunk, used or not */
	bool one_error; /* a single error, ERR_CHUNK, reports both malformed chunks and
	                 * chunks that are too small */

	/* Handles a message that has passed [check: version]. */
	void (*received)(struct rr_conn *, struct rr_msg *);

	/* Applies the message's credits.  Called after a Receive has been posted to
	 * replace the message's own. */
	void (*credited)(struct rr_conn *, const struct rr_msg *);
	/* Returns true if there is a credit for a message other than a Call. */
	bool (*may_send)(const struct rr_conn *);
	/* Returns true if there is a credit for a Call. */
	bool (*may_call)(const struct rr_conn *);
	/* Spends a credit for a Call (@call) or another message.  Returns the word for
	 * rdma_credit. */
	uint32_t (*spend)(struct rr_conn *, bool call);
	/* Returns the word for an answer that costs no credit. */
	uint32_t (*idle_word)(const struct rr_conn *);
	/* Sets the credit fields of @ret. */
	void (*fill_info)(const struct rr_conn *, struct rr_conn_info *ret);
};

extern const struct rr_version_ops rr_v1_ops, rr_v2_ops;

/* Returns the table for the highest version in @versions, a set of enum
 * rr_conn_versions. */
const struct rr_version_ops *rr_version_ops_highest(unsigned versions);
/* Returns the table for the highest version in @versions that lies between @low and
 * @high, or NULL if no version does. [V12] */
const struct rr_version_ops *rr_version_ops_within(unsigned versions, uint32_t low,
                                                   uint32_t high);

#endif
