/* SPDX-License-Identifier: BSD-3-Clause */
/* One message to send, or an RDMA Write: header, gathered pieces. */
#ifndef RR_CONN_XMIT_H
#define RR_CONN_XMIT_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/stream.h"

/* A Send, or a Write of a Reply chunk or an item. */
struct rr_xmit {
	struct rr_op op;
	struct rr_call_state *call; /* whose memory it refers to; or */
	struct rr_request_state *request;
	bool of_call;        /* a Call, or a part of one */
	bool refers;         /* to memory that is not its own */
	uint32_t inv_handle; /* Send */
	uint32_t handle;     /* Write */
	uint64_t offset;
	unsigned n_sge;
	struct rr_sge sge[RR_ACTION_MAX_SGE];
	size_t cap, used;
	uint8_t buf[] __attribute__((aligned(64)));
};

/* A message with room for @bytes of header and copies.  NULL: no memory. */
struct rr_xmit *rr_xmit_new(struct rr_conn *, size_t bytes);
void rr_xmit_free(struct rr_conn *, struct rr_xmit *);
/* Takes what was written to @w (begun over buf) as the message's beginning. */
void rr_xmit_header(struct rr_xmit *, const struct rr_writer *w);
/*
 * RDMA2_MSG or RDMA2_NOMSG: prefix, @lists (NULL = empty), @len octets of
 * @stream (NULL with 0).  NULL: no memory.
 */
struct rr_xmit *rr_xmit_message(struct rr_conn *, uint32_t htype, uint32_t flags,
                                uint32_t xid, const struct rr_lists *lists,
                                struct rr_stream *stream, size_t len);
/* A Write of the next @len octets of @stream. */
struct rr_xmit *rr_xmit_write(struct rr_conn *, struct rr_stream *stream, size_t len);
/* Octets of the header with @lists (NULL = empty). */
size_t rr_xmit_header_bytes(const struct rr_conn *, const struct rr_lists *lists);
/* Fills in the credit word, costs one credit, queues the Send. */
void rr_xmit_send(struct rr_conn *, struct rr_xmit *);
/* Without a credit: an answer to a first message of another version. */
void rr_xmit_send_free(struct rr_conn *, struct rr_xmit *);
void rr_xmit_completed(struct rr_conn *, struct rr_xmit *, int status);
/* The prefix and @len octets of room for a body: rr_put_space of @ret_w. */
struct rr_xmit *rr_xmit_begin(struct rr_conn *, const struct rr_prefix *, size_t len,
                              struct rr_writer *ret_w);
/* The connection is over: what flies counts as completed. */
void rr_xmit_lost(struct rr_conn *);
void rr_xmit_fini(struct rr_conn *);

#endif
