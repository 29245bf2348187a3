/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of the next message to send.  See tx.c. */
#ifndef RR_CONN_TX_H
#define RR_CONN_TX_H

#include "conn/limits.h"
#include "conn/xmit.h"

/* An RDMA2_ERROR that waits to be sent. */
struct rr_error_node {
	struct rr_list link;
	uint32_t xid, vers;
	struct rr_error error;
	bool unsettled; /* answers a first message whose version is not allowed; needs
	                 * no credit [V4] */
};

/* Messages that wait to be sent.  At most one of @call, @reply and @abort_pending is
 * set: parts of different messages are not interleaved. [V2-4.1-05] */
struct rr_tx {
	struct rr_list errors;
	unsigned n_errors;
	struct rr_list calls;   /* rr_call.link */
	struct rr_list replies; /* rr_request.link */
	bool replies_first;     /* replies had priority over calls last time */
	struct rr_list exts;    /* rr_ext_node.op.link */
	unsigned n_exts;
	bool ext_first;                 /* extension messages had priority over RPC
	                                 * messages last time */
	struct rr_call_state *call;     /* the call being sent in parts, or NULL */
	struct rr_request_state *reply; /* the request whose reply is being sent in
	                                 * parts, or NULL */
	bool abort_pending; /* the Call being sent in parts was cancelled, so an
	                       * aborting final part must be sent */
	uint32_t abort_xid; /* XID of the Call to be aborted */
	const struct rr_family *abort_family; /* family of that Call */
	bool stalled;         /* a message waits for a credit; prevents counting one
	                       * stall twice */
	rr_time grant_at;     /* deadline for a grant message, or RR_TIME_NEVER */
	bool grant_now;       /* send a grant message at the next opportunity, even if
	                       * few credits are owed */
	rr_time keepalive_at; /* deadline for sending a message of any kind */
};

void rr_tx_init(struct rr_conn *);
/* Queues the next message, if any, for which a credit is available.  Returns false if
 * no message was queued. */
bool rr_tx_send_next(struct rr_conn *);
/* Queues an RDMA2_ERROR that answers the message with @xid.  Closes the connection if
 * too many errors are waiting. */
void rr_tx_error(struct rr_conn *, uint32_t xid, uint32_t vers, const struct rr_error *,
                 bool unsettled);
/* Updates how many of the credits owed to the peer must be withheld for now. */
void rr_tx_withhold(struct rr_conn *);
/* Schedules a grant message if the grant delay or the keepalive interval has passed. */
void rr_tx_tick(struct rr_conn *);
rr_time rr_tx_deadline(const struct rr_conn *);
/* Removes a call from the queue.  If some of its parts have been sent, an aborting
 * final part follows. */
void rr_tx_forget_call(struct rr_conn *, struct rr_call_state *);
void rr_tx_fini(struct rr_conn *);
/* Returns the number of payload octets in the next part of a message, of which @left
 * octets have not been sent.  If all of them fit in one message with header @h, returns
 * @left.  Otherwise makes @h the header of a part other than the last, and returns the
 * number that fits after this header. */
size_t rr_tx_part(const struct rr_conn *, size_t left, struct rr_head *h);
/* Returns the length of the header of a part other than the last. */
size_t rr_tx_part_header(const struct rr_conn *, const struct rr_head *);

#endif
