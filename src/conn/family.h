/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Families of header types that carry RPC messages.
 *
 * The rest of the connection describes a message by the header types and flags of the
 * base protocol: RDMA2_MSG for a message with a payload, RDMA2_NOMSG for a message
 * without one, RDMA2_F_MORE for every part but the last.  A family translates this
 * description to its own header types, and back.  Chunks are in struct rr_lists in every
 * family.                                                                  [ext §6] */
#ifndef RR_CONN_FAMILY_H
#define RR_CONN_FAMILY_H

#include "wire/wire.h"

struct rr_conn;
struct rr_msg;
struct rr_family;
struct rr_wire_done_list;

/* The header of an RPC message, or of a grant message, that is to be sent. */
struct rr_head {
	const struct rr_family *family;
	uint32_t xid;                         /* 0 = a grant message */
	uint32_t htype;                       /* RDMA2_MSG or RDMA2_NOMSG */
	uint32_t flags;                       /* RDMA2_F_RESPONSE, RDMA2_F_MORE */
	const struct rr_lists *lists;         /* NULL = no chunks */
	const struct rr_wire_done_list *done; /* notifications that the Call carries;
	                                       * NULL = none */
	size_t bytes; /* length of the encoded header, set by rr_head_measure() */
};

struct rr_family {
	/* Returns the length of the header in octets. */
	size_t (*header_bytes)(const struct rr_conn *, const struct rr_head *);
	/* Encodes the header.  @rest is the number of payload octets in later parts of
	 * the message. */
	void (*put_header)(const struct rr_conn *, struct rr_writer *,
	                   const struct rr_head *, uint32_t rest);
	/* Decodes the header of a received message after its prefix.  Sets the chunk
	 * lists, the payload and, if @counted, the rest of the message.  Returns 0 or
	 * -EBADMSG. */
	int (*get_lists)(struct rr_msg *);
	bool counted;      /* each part announces how many payload octets follow */
	bool omits_unused; /* Replies do not return unused Write chunks */
};

/* Computes the length of the header and stores it in @bytes. */
static inline void rr_head_measure(const struct rr_conn *c, struct rr_head *h)
{
	h->bytes = h->family->header_bytes(c, h);
}

/* The header types of the base protocol. */
extern const struct rr_family rr_base_family;

#endif
