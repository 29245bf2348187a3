/* SPDX-License-Identifier: BSD-3-Clause */
/* One Send or RDMA Write: header and gathered pieces.  See xmit.c. */
#ifndef RR_CONN_XMIT_H
#define RR_CONN_XMIT_H

#include "conn/action.h"
#include "conn/family.h"
#include "conn/limits.h"
#include "conn/payload_stream.h"
#include "wire/rprc/rprc_wire.h"

/* A Send, or an RDMA Write to a Reply chunk or a Write chunk. */
struct rr_xmit {
	struct rr_op op;
	struct rr_call_state *call;       /* call whose memory is gathered, or NULL */
	struct rr_request_state *request; /* request that cannot end before the message
	                                   * has completed, or NULL */
	bool of_call;                     /* the Send is a Call, or a part of one */
	bool refers;                      /* gathers memory outside @buf */
	uint32_t inv_handle;              /* Send: handle to invalidate; 0 = none */
	uint32_t handle;                  /* Write: target handle */
	uint64_t offset;                  /* Write: target offset */
	unsigned n_sge;
	unsigned n_refs; /* entries of @sge that are outside @buf */
	struct rr_sge sge[RR_ACTION_MAX_SGE];
	size_t cap, used; /* octets in @buf; octets used */
	uint8_t buf[] __attribute__((aligned(64)));
};

/* Allocates a message with buffer space for @bytes octets of header and copied payload.
 * Returns NULL if there is no memory. */
struct rr_xmit *rr_xmit_new(struct rr_conn *, size_t bytes);
void rr_xmit_free(struct rr_conn *, struct rr_xmit *);
/* Sets the message's header to the octets that @w has written at the start of @buf. */
void rr_xmit_header(struct rr_xmit *, const struct rr_writer *w);
/* Builds a message from a header, which rr_head_measure has measured, and the next @len
 * octets of @stream.  @stream may be NULL if @len is 0.  Returns NULL if there is no
 * memory. */
struct rr_xmit *rr_xmit_message(struct rr_conn *, const struct rr_head *,
                                struct rr_stream *stream, size_t len);
/* Returns how many of the next @len octets of the stream will be copied instead of
 * gathered, and skips them.  @refs counts the pieces gathered in the message so far. */
size_t rr_xmit_count_copied(struct rr_stream *, size_t len, unsigned *refs);
/* Appends the next @len octets of the stream.  The buffer must have space for those that
 * are copied. */
void rr_xmit_append(struct rr_xmit *, struct rr_stream *, size_t len);
void rr_xmit_append_zeros(struct rr_xmit *, size_t len);
/* Builds an RDMA Write of the next @len octets of @stream.  Returns NULL if there is no
 * memory. */
struct rr_xmit *rr_xmit_write(struct rr_conn *, struct rr_stream *stream, size_t len);
/* Records that the Send is a Call, or a part of one.  If the Send gathers the call's
 * memory, the call does not end before the Send has completed. */
void rr_xmit_of_call(struct rr_xmit *, struct rr_call_state *);
/* Records that the Send is a Reply, or a part of one.  If the Send gathers the reply's
 * memory or exposes it, the request does not end before the Send has completed. */
void rr_xmit_of_request(struct rr_xmit *, struct rr_request_state *);
/* Spends a credit, fills in the credit word and queues the Send. */
void rr_xmit_send(struct rr_conn *, struct rr_xmit *);
/* Queues a Send that costs no credit: an error that answers a first message whose
 * version is not allowed. */
void rr_xmit_send_free(struct rr_conn *, struct rr_xmit *);
/* Handles the completion of a Send or Write: frees the message and notifies its call or
 * request. */
void rr_xmit_completed(struct rr_conn *, struct rr_xmit *, int status);
/* Allocates a message and writes a version 2 prefix.  Stores in @ret_w a writer for the
 * @len octets of body after the prefix.  Returns NULL if there is no memory. */
struct rr_xmit *rr_xmit_begin(struct rr_conn *, const struct rr_prefix *, size_t len,
                              struct rr_writer *ret_w);
/* Completes every Send and Write in flight, after the connection is lost. */
void rr_xmit_lost(struct rr_conn *);

#endif
