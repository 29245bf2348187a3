/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between the versions of the protocol, as data: the layout of the
 * header, what its messages can do, what happens to a message received, how
 * credits are counted.  A connection has one table from the beginning, that
 * of the first message it would send; it is fixed when the version is settled.
 *                                                        [v2 §4.2.3, V5]
 */
#ifndef RR_CONN_VERSION_OPS_H
#define RR_CONN_VERSION_OPS_H

#include "conn/conn.h"

struct rr_msg;

struct rr_version_ops {
	uint32_t vers;

	/* The header: a prefix, then chunk lists or an error. */
	size_t prefix_bytes;
	size_t empty_bytes; /* the header of a message without chunks */
	size_t least;       /* octets of any message but RDMA_ERROR */
	int (*get_prefix)(struct rr_cursor *, struct rr_prefix *);
	int (*get_lists)(struct rr_cursor *, struct rr_lists *);
	int (*get_error)(struct rr_cursor *, struct rr_error *);
	void (*put_prefix)(struct rr_writer *, const struct rr_prefix *);
	void (*put_lists)(struct rr_writer *, const struct rr_lists *);
	void (*put_error)(struct rr_writer *, const struct rr_error *);
	size_t (*lists_size)(const struct rr_lists *);

	bool properties;   /* are exchanged first; they bound what is sent */
	bool continues;    /* a message may come in several parts */
	bool grants;       /* credits are handed back by messages of their own */
	bool names_handle; /* the Requester says which handle may be invalidated */
	bool returns_reply_chunk; /* in every Reply, also if it was not used */
	bool one_error; /* ERR_CHUNK: chunks that do not parse, or had too little room */

	/* A message past the check of its version. */
	void (*received)(struct rr_conn *, struct rr_msg *);

	/* Its credits, once a Receive stands in the place of the one it used. */
	void (*credited)(struct rr_conn *, const struct rr_msg *);
	/* Is there a credit for an answer or a message of the transport's, for a Call?
	 */
	bool (*may_send)(const struct rr_conn *);
	bool (*may_call)(const struct rr_conn *);
	/* Spends it; the word for rdma_credit. */
	uint32_t (*spend)(struct rr_conn *, bool call);
	/* The word of an answer for which nothing is spent. */
	uint32_t (*idle_word)(const struct rr_conn *);
	void (*fill_info)(const struct rr_conn *, struct rr_conn_info *ret);
};

extern const struct rr_version_ops rr_v1_ops, rr_v2_ops;

/* That of the first message: the highest that may be spoken. */
const struct rr_version_ops *rr_version_ops_highest(unsigned versions);
/* The highest of @versions from @low to @high; NULL if there is none. [V12] */
const struct rr_version_ops *rr_version_ops_within(unsigned versions, uint32_t low,
                                                   uint32_t high);

#endif
