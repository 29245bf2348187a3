/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection object, and the state that its sub-machines share.  Each header below
 * declares the functions of the sources beside it:
 *
 *   core.h        conn.c         life: creation, opening, loss, closing, timers, info
 *                 version1.c     version 1 of the protocol
 *   states.h                     states and events of each sub-machine, as tables
 *   limits.h                     limits that are not configurable
 *   action.h      action.c       action queue; completions
 *   stock.h       stock.c        objects that connections take turns to use
 *   mbuf.h        mbuf.c         growing buffers, and the quota they are charged to
 *   payload_stream.h payload_stream.c  Payload streams to send
 *   version_ops.h version_ops.c  differences between the versions of the protocol
 *   feature.h     feature.c      optional features, each in a folder of its own
 *   credit.h      credit.c       credits
 *   credit1.h     credit1.c      credits of version 1
 *   props.h       props.c        exchange of RDMA2_CONNPROP
 *   auth.h        auth.c         host authentication within that exchange
 *   extensions.h  extensions.c   messages and properties of extensions
 *   recv.h        recv.c         Receive buffers; order of checks on receipt
 *                 cont.c         continued messages; discarded message sequences
 *   xmit.h        xmit.c         one message to send: header, gathered pieces
 *   tx.h          tx.c           choice of the next message to send
 *   region.h      region.c       memory that the peer may access
 *   read_op.h     read_op.c      RDMA Reads
 *   call_table.h  call_table.c   outstanding calls by XID
 *   requester.h   call_plan.c    the format of a Call, and its chunks
 *                 call_chunks.c  regions of a Call, chunk lists, invalidation
 *                 requester.c    calls from the queue to the result
 *                 answer.c       Replies and errors received
 *                 recover.c      second attempt after an error
 *   responder.h   responder.c    requests: received Calls, passed to the user
 *                 call_checks.c  checks of a Call's header
 *                 request_queue.c  requests that wait for their turn or for memory
 *                 pull.c         RDMA Reads of a Call's Read chunks
 *                 collect.c      Calls received in parts
 *                 reply.c        replies
 *   rprc/                        responder-provided Read chunks
 *   family.h      family.c       families of header types for RPC messages
 *   htfam/                       header types by message kind
 *   rtr/                         placement by Send, counted continuation
 *   reminv/                      Remote Invalidation
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
#include "conn/family.h"
#include "conn/feature.h"
#include "conn/limits.h"
#include "conn/mbuf.h"
#include "conn/payload_stream.h"
#include "conn/props.h"
#include "conn/read_op.h"
#include "conn/recv.h"
#include "conn/region.h"
#include "conn/reminv/remote_inv.h"
#include "conn/requester.h"
#include "conn/responder.h"
#include "conn/slab.h"
#include "conn/states.h"
#include "conn/stock.h"
#include "conn/tx.h"
#include "conn/htfam/htfam.h"
#include "conn/rprc/rprc.h"
#include "conn/rtr/rtr.h"
#include "conn/version_ops.h"
#include "conn/xmit.h"
#include "wire/reminv/reminv_wire.h"

#include <string.h>

struct rr_conn {
	struct rr_conn_config cfg;
	enum rr_conn_state state;
	int error;   /* first error; 0 = none */
	rr_time now; /* time of the last event */

	struct rr_list actions; /* queued actions, linked by rr_op.link */
	struct rr_op ready_op, disconnect_op;
	int disconnect_status;
	/* The action REQUEST_DONE or EXTENSION that was polled last.  The next poll
	 * frees its object.  NULL = there is none. */
	struct rr_op *polled;

	const struct rr_version_ops *version;
	bool settled;            /* the version is final */
	bool heard;              /* a message from the peer has been received */
	bool remote_inv_out;     /* our Sends may invalidate the peer's regions */
	bool remote_inv_in;      /* the peer's Sends may invalidate our regions */
	bool survives_inv_twice; /* a peer that invalidates a region after us does no
	                          * harm */
	bool cannot_read;        /* RDMA Reads are not possible */
	bool cannot_be_read;     /* the peer cannot read our memory */
	struct rr_wire_private peer_private;
	uint32_t v1_send_bytes; /* longest message that our private data announce; RTR
	                         * raises cfg.send_bytes for version 2 */
	struct rr_credit credit;
	struct rr_credit1 credit1; /* version 1: credits for Calls */
	rr_time stuck_at; /* version 1: deadline if cancelled Calls block all others */
	struct rr_props props;
	struct rr_auth_state auth;
	struct rr_ext_state ext;
	unsigned features; /* bit mask of the features in use, 1u << enum rr_feature */
	unsigned busy;     /* bit mask of the features that have work, which may wait
	                    * for a time, a completion or a credit */
	struct rr_rprc rprc;
	struct rr_htfam htfam;
	struct rr_rtr rtr;
	struct rr_reminv reminv;
	struct rr_cont cont;
	struct rr_tx tx;
	uint32_t next_xid; /* next XID for a transport message that carries no RPC
	                    * message */

	struct rr_list rbufs;  /* all Receive buffers, linked by rr_rbuf.all */
	struct rr_list spares; /* Receive buffers neither posted nor in use, linked by
	                        * rr_rbuf.op.link */
	unsigned n_spares, posted;
	struct rr_rblock kept_block; /* for the next message, if Receives are pooled */
	uint32_t late_receives; /* Receives to be posted when the peer's first message
	                         * arrives */
	size_t rbuf_bytes;

	struct rr_list calls; /* all calls, including those with a lent Reply, linked by
	                       * rr_call_state.all */
	unsigned n_calls;
	unsigned n_overdue; /* cancelled calls that have not ended yet */
	rr_time overdue_at; /* deadline for the next cancelled call to end */
	unsigned n_awaited; /* calls sent, completely or in part, that have no result
	                     * yet */
	struct rr_call_table table; /* outstanding calls by XID */
	/* Ring of handles whose calls ended before the Reply arrived. [K17] */
	uint32_t retired_handles[RR_RETIRED_HANDLES];
	unsigned n_retired_handles;

	struct rr_list requests; /* all requests, linked by rr_request_state.all */
	unsigned n_requests;
	unsigned n_serving;   /* requests whose reply has not been sent completely */
	unsigned n_begun;     /* requests counted in n_serving that have left TURN */
	struct rr_list turns; /* requests in TURN, linked by rr_request.link */
	unsigned n_turns;
	struct rr_list roomed_turns; /* requests in TURN for which rr_room has granted
	                              * memory */
	struct rr_list budget_queue; /* requests that wait for memory, linked by
	                              * rr_request.link */
	/* The first request in budget_queue, if it has asked rr_room for memory;
	 * otherwise NULL. */
	struct rr_request_state *asks;
	uint64_t granted;      /* octets granted to @asks; 0 = none yet */
	unsigned n_held;       /* Receive buffers occupied by parts of Calls that wait
	                        * for memory */
	unsigned n_heads;      /* requests in PULLING_CALL */
	struct rr_quota quota; /* limit on memory for the peer's data */
	uint64_t charged_waiting; /* octets charged to @quota for the buffers of queued
	                           * requests */

	struct rr_list in_flight; /* posted Sends and Writes, linked by
	                           * rr_xmit.op.link */
	unsigned sends_out;       /* Sends queued or in flight */
	struct rr_stock *stock;   /* memory shared with other connections */
	struct rr_slab read_slab, error_slab, ext_slab;

	struct rr_conn_counters count;
};

/* -- conn.c ---------------------------------------------------------------- */

/* Moves the connection to state @to and traces the change. */
void rr_conn_move(struct rr_conn *, enum rr_conn_event, enum rr_conn_state to);
/* Asserts, in debug builds, that the current state accepts @event. */
static inline void rr_conn_event(const struct rr_conn *c, enum rr_conn_event event)
{
	RR_MACHINE_EVENT(rr_conn_machine, c->state, event);
}
/* Fails the connection: stores @error and queues DISCONNECT.  No effect if the
 * connection is already closing or lost. */
void rr_conn_fail(struct rr_conn *, int error);
/* Returns true if messages can be sent and received. */
static inline bool rr_conn_live(const struct rr_conn *c)
{
	return c->state == RR_CONN_PROPS || c->state == RR_CONN_READY;
}
/* Returns true if the provider's connection is lost. */
static inline bool rr_conn_dead(const struct rr_conn *c)
{
	return c->state == RR_CONN_LOST || c->state == RR_CONN_CLOSED;
}
/* Returns an unused, nonzero XID for a transport message that carries no RPC message.
 * [V10] */
uint32_t rr_conn_own_xid(struct rr_conn *);
/* Returns true if the user receives traces. */
static inline bool rr_conn_traced(const struct rr_conn *c)
{
	return c->cfg.trace && c->cfg.trace->emit;
}
static inline void rr_conn_trace(const struct rr_conn *c, enum rr_trace_point p,
                                 uint32_t xid, uint64_t a, uint64_t b, uint64_t d)
{
	rr_trace(c->cfg.trace, p, c->cfg.id, xid, a, b, d);
}

/* -- cont.c ---------------------------------------------------------------- */

/* Returns true if the sequence in progress has this XID and direction. */
static inline bool rr_cont_is(const struct rr_conn *c, uint32_t xid, bool response)
{
	return c->cont.active && c->cont.xid == xid && c->cont.response == response;
}

/* -- tx.c ------------------------------------------------------------------ */

/* Returns true if too many Sends are outstanding at the provider.  A peer that grants
 * credits but never receives could otherwise make Sends accumulate without limit.  (The
 * queues from which messages are chosen have limits.) A correct peer does not cause
 * this, because it grants a credit only for a posted Receive. */
static inline bool rr_tx_clogged(const struct rr_conn *c)
{
	return c->sends_out >= 2 * c->credit.limit + RR_MAX_WAITING_ERRORS;
}

/* -- version1.c ------------------------------------------------------------ */

/* Settles on version 1 and makes the connection READY. */
void rr_v1_begin(struct rr_conn *);
/* Settles on version 1 after the server has refused version 2.  @word is the credit
 * word of the refusal. */
void rr_v1_fall_back(struct rr_conn *, uint32_t word);
/* In version 1, counts a cancelled Call that has already been sent.  Does nothing in
 * version 2. */
void rr_v1_give_up(struct rr_conn *);

#endif
