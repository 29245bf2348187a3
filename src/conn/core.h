/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The object behind a connection, and what all its sub-machines share.  Each header
 * declares the functions of the sources beside it:
 *
 *   core.h        conn.c         life: creation, opening, loss, closing, timers, facts
 *                 version1.c     version 1 of the protocol
 *   states.h                     the states and events of every sub-machine, as tables
 *   limits.h                     limits that are not configured
 *   action.h      action.c       the queue of actions; completions
 *   mbuf.h        mbuf.c         memory that grows; the quota it is charged to
 *   payload_stream.h payload_stream.c  Payload streams to send
 *   version_ops.h version_ops.c  what differs between the versions of the protocol
 *   credit.h      credit.c       credits
 *   credit1.h     credit1.c      credits of version 1
 *   props.h       props.c        the exchange of RDMA2_CONNPROP
 *   auth.h        auth.c         host authentication within that exchange
 *   extensions.h  extensions.c   messages and properties of extensions
 *   recv.h        recv.c         Receive buffers; the order of checks on receipt
 *                 cont.c         continued messages; XIDs that are being discarded
 *   xmit.h        xmit.c         one message to send: header, gathered pieces
 *   tx.h          tx.c           the choice of the next message to send
 *   call_table.h  call_table.c   outstanding calls by XID
 *   requester.h   call_plan.c    the format of a Call, and its chunks
 *                 call_chunks.c  regions of a Call, chunk lists, invalidation
 *                 requester.c    calls from the queue to the result
 *                 answer.c       Replies and errors received
 *                 recover.c      another attempt after an error
 *   responder.h   responder.c    requests: Calls received, handed to the user
 *                 call_checks.c  what the header of a Call may ask for
 *                 request_queue.c  turns and memory that requests wait for
 *                 pull.c         RDMA Reads of what a Call carries in chunks
 *                 collect.c      Calls received in parts
 *                 reply.c        replies
 */
#ifndef RR_CONN_CORE_H
#define RR_CONN_CORE_H

#include "conn/action.h"
#include "conn/auth.h"
#include "conn/call_table.h"
#include "conn/conn.h"
#include "conn/credit.h"
#include "conn/credit1.h"
#include "conn/extensions.h"
#include "conn/limits.h"
#include "conn/mbuf.h"
#include "conn/payload_stream.h"
#include "conn/props.h"
#include "conn/recv.h"
#include "conn/requester.h"
#include "conn/responder.h"
#include "conn/slab.h"
#include "conn/states.h"
#include "conn/tx.h"
#include "conn/version_ops.h"
#include "conn/xmit.h"

#include <string.h>

struct rr_conn {
	struct rr_conn_config cfg;
	enum rr_conn_state state;
	int error;   /* the first one; 0: none */
	rr_time now; /* time of the last event */

	struct rr_list actions; /* queued, rr_op.link */
	struct rr_op ready_op, disconnect_op;
	int disconnect_status;
	/* Its REQUEST_DONE was polled; the next poll frees it. */
	struct rr_request_state *done_request;

	const struct rr_version_ops *version;
	bool settled;        /* the version is final */
	bool heard;          /* a message of the peer was received */
	bool remote_inv_out; /* we may invalidate the peer's regions by our Sends */
	bool remote_inv_in;  /* the peer may invalidate ours by its Sends */
	bool cannot_read;    /* RDMA Reads cannot be made */
	struct rr_wire_private peer_private;
	struct rr_credit credit;
	struct rr_credit1 credit1; /* version 1: credits for Calls */
	rr_time stuck_at; /* version 1: deadline for Calls that wait behind cancelled
	                   * ones */
	struct rr_props props;
	struct rr_auth_state auth;
	struct rr_ext_state ext;
	struct rr_cont cont;
	struct rr_tx tx;
	uint32_t next_xid; /* next XID of a message that carries no RPC message */

	struct rr_list rbufs;  /* all Receive buffers, rr_rbuf.all */
	struct rr_list spares; /* neither posted nor in use, rr_rbuf.op.link */
	unsigned n_spares, posted;
	uint32_t late_receives; /* posted when the peer's first message arrives */
	size_t rbuf_bytes;

	struct rr_list calls; /* all calls, also with a Reply lent, rr_call_state.all */
	unsigned n_calls;
	unsigned n_overdue;         /* calls that were cancelled and have not ended */
	rr_time overdue_at;         /* deadline for one of these to end */
	unsigned n_awaited;         /* calls with a part sent and no result */
	struct rr_call_table table; /* outstanding calls by XID */
	uint32_t retired_handles[RR_RETIRED_HANDLES]; /* a ring, see [K17] */
	unsigned n_retired_handles;

	struct rr_list requests; /* all requests, rr_request_state.all */
	unsigned n_requests;
	unsigned n_serving;   /* requests whose reply is not all sent */
	unsigned n_begun;     /* of n_serving: those past TURN */
	struct rr_list turns; /* requests in TURN, rr_request.link */
	unsigned n_turns;
	struct rr_list roomed_turns; /* requests in TURN that have room already */
	struct rr_list
	        budget_queue; /* requests that wait for memory, rr_request.link */
	struct rr_request_state *asks; /* first of budget_queue, if it asked for room */
	uint64_t granted;         /* octets of room granted to @asks; 0: none yet */
	unsigned n_held;          /* Receive buffers that hold parts of Calls */
	unsigned n_heads;         /* requests in PULLING_CALL */
	struct rr_quota quota;    /* memory for the peer's data */
	uint64_t charged_waiting; /* octets of @quota in buffers of queued requests */

	struct rr_list in_flight; /* posted Sends and Writes, rr_xmit.op.link */
	unsigned sends_out;       /* Sends that are queued or in flight */
	struct rr_list xmits;     /* free messages, rr_xmit.op.link */
	unsigned n_xmits;
	struct rr_slab rbuf_slab, call_slab, chunks_slab, request_slab, lists_slab,
	        read_slab, error_slab, ext_slab;

	struct rr_conn_counters count;
};

/* -- conn.c ---------------------------------------------------------------- */

/* Assigns the state; traces the move. */
void rr_conn_move(struct rr_conn *, enum rr_conn_event, enum rr_conn_state to);
/* Takes an event that need not change the state. */
static inline void rr_conn_event(const struct rr_conn *c, enum rr_conn_event event)
{
	RR_MACHINE_EVENT(rr_conn_machine, c->state, event);
}
/* Ends the connection: keeps the first @error and queues DISCONNECT. */
void rr_conn_fail(struct rr_conn *, int error);
/* Can messages be sent and received? */
bool rr_conn_live(const struct rr_conn *);
/* Is the provider's connection over? */
bool rr_conn_dead(const struct rr_conn *);
/* Returns an XID for a message that carries no RPC message: not 0, not in use. [V10] */
uint32_t rr_conn_own_xid(struct rr_conn *);
static inline void rr_conn_trace(const struct rr_conn *c, enum rr_trace_point p,
                                 uint32_t xid, uint64_t a, uint64_t b, uint64_t d)
{
	rr_trace(c->cfg.trace, p, c->cfg.id, xid, a, b, d);
}

/* -- version1.c ------------------------------------------------------------ */

/* Settles version 1: the connection is READY. */
void rr_v1_begin(struct rr_conn *);
/* The same, after the server refused version 2; @word is the credit word of that
 * message. */
void rr_v1_fall_back(struct rr_conn *, uint32_t word);
/* Counts a Call that was sent and is cancelled.  Other versions: does nothing. */
void rr_v1_give_up(struct rr_conn *);

#endif
