/* SPDX-License-Identifier: BSD-3-Clause */
/* One message to send, or an RDMA Write: header and gathered pieces.  See xmit.c. */
#ifndef RR_CONN_XMIT_H
#define RR_CONN_XMIT_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/payload_stream.h"

/* A Send, or a Write of a Reply chunk or an item. */
struct rr_xmit {
	struct rr_op op;
	struct rr_call_state *call;       /* its memory is gathered; or NULL */
	struct rr_request_state *request; /* the message belongs to it; or NULL */
	bool of_call;                     /* the Send is a Call, or a part of one */
	bool refers;                      /* it gathers memory outside of @buf */
	uint32_t inv_handle;              /* Send: handle to be invalidated; 0: none */
	uint32_t handle;                  /* Write: target */
	uint64_t offset;                  /* Write: target */
	unsigned n_sge;
	struct rr_sge sge[RR_ACTION_MAX_SGE];
	size_t cap, used; /* octets in @buf, octets used */
	uint8_t buf[] __attribute__((aligned(64)));
};

/* Returns a message with room for @bytes octets of header and copies.  NULL: no
 * memory. */
struct rr_xmit *rr_xmit_new(struct rr_conn *, size_t bytes);
void rr_xmit_free(struct rr_conn *, struct rr_xmit *);
/* Makes the octets written to @w, which began at @buf, the message's header. */
void rr_xmit_header(struct rr_xmit *, const struct rr_writer *w);
/* Builds an RDMA2_MSG or RDMA2_NOMSG: prefix, @lists (NULL: empty lists), and the next
 * @len octets of @stream (may be NULL if that is 0).  NULL: no memory. */
struct rr_xmit *rr_xmit_message(struct rr_conn *, uint32_t htype, uint32_t flags,
                                uint32_t xid, const struct rr_lists *lists,
                                struct rr_stream *stream, size_t len);
/* Builds a Write of the next @len octets of @stream.  NULL: no memory. */
struct rr_xmit *rr_xmit_write(struct rr_conn *, struct rr_stream *stream, size_t len);
/* Returns the octets of a header with @lists (NULL: empty lists). */
size_t rr_xmit_header_bytes(const struct rr_conn *, const struct rr_lists *lists);
/* Spends a credit, fills in the credit word and queues the Send. */
void rr_xmit_send(struct rr_conn *, struct rr_xmit *);
/* Queues a Send that costs no credit: an answer to a first message of another
 * version. */
void rr_xmit_send_free(struct rr_conn *, struct rr_xmit *);
/* A Send or Write has completed: frees it, and goes on with its call or request. */
void rr_xmit_completed(struct rr_conn *, struct rr_xmit *, int status);
/* Returns a message with a prefix of version 2, and @ret_w with room for @len octets of
 * body behind it.  NULL: no memory. */
struct rr_xmit *rr_xmit_begin(struct rr_conn *, const struct rr_prefix *, size_t len,
                              struct rr_writer *ret_w);
/* Completes every Send and Write in flight: the connection is lost. */
void rr_xmit_lost(struct rr_conn *);
/* Frees cached messages. */
void rr_xmit_fini(struct rr_conn *);

#endif
