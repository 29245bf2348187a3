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
	int error;
	rr_time now;

	struct rr_list actions;
	struct rr_op ready_op, disconnect_op;
	int disconnect_status;
	struct rr_request_state
	        *done_request; /* REQUEST_DONE polled; freed by the next poll */

	const struct rr_version_ops *version;
	bool settled;        /* and will stay what it is */
	bool heard;          /* the peer has said something */
	bool remote_inv_out; /* we may invalidate the peer's regions by our Sends */
	bool remote_inv_in;  /* the peer may invalidate ours by its Sends */
	bool cannot_read;    /* RDMA Reads cannot be made */
	struct rr_wire_private peer_private;
	struct rr_credit credit;
	struct rr_credit1 credit1; /* in version 1, for Calls */
	rr_time stuck_at; /* a client's Calls wait no longer behind those given up */
	struct rr_props props;
	struct rr_auth_state auth;
	struct rr_ext_state ext;
	struct rr_cont cont;
	struct rr_tx tx;
	uint32_t next_xid;

	struct rr_list rbufs;  /* all that exist */
	struct rr_list spares; /* rr_rbuf.op.link */
	unsigned n_spares, posted;
	uint32_t late_receives; /* to be posted when the peer has spoken */
	size_t rbuf_bytes;

	struct rr_list calls; /* alive, also with a Reply lent */
	unsigned n_calls;
	unsigned n_overdue; /* of these: given up, and not ended */
	rr_time overdue_at; /* the connection ends if none of them has ended by then */
	unsigned n_awaited; /* of these: begun to be sent, without a result */
	struct rr_call_table table;
	uint32_t retired_handles[RR_RETIRED_HANDLES];
	unsigned n_retired_handles;

	struct rr_list requests;
	unsigned n_requests;
	unsigned n_serving; /* of these: the reply is not all sent */
	unsigned n_begun; /* of these: no Call in parts that has no turn yet, nor ... */
	struct rr_list
	        turns; /* ... those that wait to be served, rr_request.link; and */
	unsigned n_turns;
	struct rr_list roomed_turns;   /* those that have room already */
	struct rr_list budget_queue;   /* rr_request.link */
	struct rr_request_state *asks; /* for room, the first of that queue, */
	uint64_t granted;              /* and so much is there */
	unsigned n_held;               /* Receives that hold parts of Calls */
	unsigned n_heads;              /* Special Calls whose beginning is being read */
	struct rr_quota quota;         /* memory for the peer's data */
	uint64_t charged_waiting; /* of it: buffers of requests that wait in queues */

	struct rr_list in_flight; /* posted Sends and Writes, rr_xmit.op.link */
	unsigned sends_out;       /* Sends that are queued or in flight */
	struct rr_list xmits;     /* free ones */
	unsigned n_xmits;
	struct rr_slab rbuf_slab, call_slab, chunks_slab, request_slab, lists_slab,
	        read_slab, error_slab, ext_slab;

	struct rr_conn_counters count;
};

/* Assigns the state; traces the move. */
void rr_conn_move(struct rr_conn *, enum rr_conn_event, enum rr_conn_state to);
/* Takes an event that need not change the state. */
static inline void rr_conn_event(const struct rr_conn *c, enum rr_conn_event event)
{
	RR_MACHINE_EVENT(rr_conn_machine, c->state, event);
}
/* Ends the connection: the first @error is kept, DISCONNECT goes out. */
void rr_conn_fail(struct rr_conn *, int error);
/* Do messages still flow? */
bool rr_conn_live(const struct rr_conn *);
/* Is the object past its connection? */
bool rr_conn_dead(const struct rr_conn *);
/* The next XID for a message of the transport's own: not 0, not in use. [V10] */
uint32_t rr_conn_own_xid(struct rr_conn *);
static inline void rr_conn_trace(const struct rr_conn *c, enum rr_trace_point p,
                                 uint32_t xid, uint64_t a, uint64_t b, uint64_t d)
{
	rr_trace(c->cfg.trace, p, c->cfg.id, xid, a, b, d);
}

/* -- version1.c ------------------------------------------------------------------ */

/* The version is settled: READY. */
void rr_v1_begin(struct rr_conn *);
/* The same after a refusal of version 2 that granted @word. */
void rr_v1_fall_back(struct rr_conn *, uint32_t word);
/* A Call that was sent is given up. */
void rr_v1_give_up(struct rr_conn *);

#endif
