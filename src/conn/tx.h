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
	bool unsettled; /* it answers a first message, and needs no credit [V4] */
};

/* What waits to be sent.  Of @call, @reply and @abort_pending one at most is set: parts
 * of different messages are not interleaved. [V2-4.1-05] */
struct rr_tx {
	struct rr_list errors;
	unsigned n_errors;
	struct rr_list calls;   /* rr_call.link */
	struct rr_list replies; /* rr_request.link */
	bool replies_first;     /* replies were tried before calls last time */
	struct rr_list exts;    /* rr_ext_node.op.link */
	unsigned n_exts;
	bool ext_first;                 /* extensions were tried before RPC last time */
	struct rr_call_state *call;     /* being sent in parts; or NULL */
	struct rr_request_state *reply; /* being sent in parts; or NULL */
	bool abort_pending;   /* an aborting final part is owed: the Call that was
	                         being sent in parts has ended */
	uint32_t abort_xid;   /* XID of that Call */
	bool stalled;         /* something waits for a credit; counted once a stall */
	rr_time grant_at;     /* deadline for a grant message; RR_TIME_NEVER: none */
	bool grant_now;       /* send a grant message with the next turn, however
	                         little it hands back */
	rr_time keepalive_at; /* deadline for sending anything at all */
};

void rr_tx_init(struct rr_conn *);
/* Queues the next message, if there is one and a credit for it.  False: none was
 * queued. */
bool rr_tx_send_next(struct rr_conn *);
/* Queues an RDMA2_ERROR in answer to @xid.  The connection ends if too many wait. */
void rr_tx_error(struct rr_conn *, uint32_t xid, uint32_t vers, const struct rr_error *,
                 bool unsettled);
/* Decides how many of the credits owed may be handed back now. */
void rr_tx_withhold(struct rr_conn *);
/* Sends a grant message if one is due by time. */
void rr_tx_tick(struct rr_conn *);
rr_time rr_tx_deadline(const struct rr_conn *);
/* Removes a call from the queue.  If parts of it are sent, an aborting final part
 * follows. */
void rr_tx_forget_call(struct rr_conn *, struct rr_call_state *);
void rr_tx_fini(struct rr_conn *);
/* Returns how many octets the next part has: all of @left beside a header of @header
 * octets (@ret_last), or what fits beside an empty header. */
size_t rr_tx_part(const struct rr_conn *, size_t left, size_t header, bool *ret_last);

#endif
