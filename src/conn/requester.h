/* SPDX-License-Identifier: BSD-3-Clause */
/* The Requester: Calls from the queue to the result. */
#ifndef RR_CONN_REQUESTER_H
#define RR_CONN_REQUESTER_H

#include "conn/call_table.h"
#include "conn/mbuf.h"
#include "conn/recv.h"
#include "conn/states.h"
#include "conn/xmit.h"

/* What a region is for: Position Zero chunk, Read chunk, Write chunk, Reply chunk. */
enum rr_mr_use { RR_USE_CALL, RR_USE_READ, RR_USE_WRITE, RR_USE_REPLY };

/* A region of a call's memory that the peer may access. */
struct rr_mr {
	struct rr_op op; /* REGISTER, later INVALIDATE */
	struct rr_call_state *call;
	enum rr_mr_phase phase;
	enum rr_mr_use use;
	unsigned index;    /* RR_USE_WRITE: index of the destination */
	uint32_t position; /* RR_USE_READ: Position of the item */
	uint8_t *base;
	size_t len;
	uint32_t handle;
	uint64_t offset;
};

/* The chunks that a call provides, and the registered regions behind them; NULL in a
 * call without chunks. */
struct rr_call_chunks {
	unsigned n; /* regions */
	struct rr_mr region[RR_CALL_MAX_REGIONS];
	struct rr_lists lists; /* as sent; the Reply must return them */
};

struct rr_call_state {
	struct rr_op op; /* CALL_DONE */
	struct rr_call *call;
	struct rr_list all;         /* conn.calls */
	struct rr_call_entry entry; /* in conn.table while outstanding */
	enum rr_call_phase phase;
	bool special;  /* sent by Special Format */
	bool in_place; /* Special Format: long runs are pulled from where they lie */
	bool awaited;  /* counted in conn.n_awaited */
	bool overdue;  /* counted in conn.n_overdue */
	unsigned sends_out;   /* Sends outstanding that gather its memory */
	unsigned regions_out; /* registrations and invalidations outstanding */
	int status;
	struct rr_call_chunks *chunks; /* NULL without chunks */
	struct rr_mbuf special_buf;    /* Special Format: the runs that are copied */
	struct rr_mbuf chunk_buf;      /* the Reply chunk's memory */
	struct rr_mbuf dest_buf;       /* memory for a destination that was too small */
	unsigned n_writes;  /* the first so many destinations have Write chunks */
	size_t reply_bound; /* most octets in the Reply's payload; 0: unknown, few */
	/* The Reply lies in @chunk_buf, @reply_buf (reassembled) or @reply_rbuf. */
	struct rr_mbuf reply_buf;
	struct rr_rbuf *reply_rbuf;
	const uint8_t *reply;
	size_t reply_len;
	struct rr_stream stream; /* the Call's payload */
};

/* -- call_plan.c ----------------------------------------------------------- */

/* Plans the format and the chunks of a call.  0, or the reason why it cannot be
 * sent. */
int rr_call_plan(struct rr_conn *, struct rr_call_state *) RR_MUST_CHECK;

/* -- call_chunks.c --------------------------------------------------------- */

/* Plans a call that has its turn, and begins to register its memory.  0, or the reason
 * why it cannot be sent. */
int rr_call_chunks_prepare(struct rr_conn *, struct rr_call_state *) RR_MUST_CHECK;
/* Builds the chunk lists: every region is registered. */
void rr_call_chunks_build(struct rr_conn *, struct rr_call_state *, enum rr_call_event);
/* The answer to RR_ACT_REGISTER. */
void rr_call_chunks_registered(struct rr_conn *, struct rr_mr *, int status,
                               uint32_t handle, uint64_t offset);
/* Ends the peer's access to every region that is still accessible. */
void rr_call_chunks_withdraw(struct rr_conn *, struct rr_call_state *);
/* An Invalidate has completed. */
void rr_call_chunks_invalidated(struct rr_conn *, struct rr_mr *, int status);
/* Notes that the peer has invalidated a handle.  False: no accessible region has it. */
bool rr_call_chunks_take_remote(struct rr_conn *, struct rr_call_state *,
                                uint32_t handle);
/* Frees the chunks and their memory. */
void rr_call_chunks_free(struct rr_conn *, struct rr_call_state *);

/* -- requester.c ----------------------------------------------------------- */

/* Assigns the state. */
void rr_call_move(struct rr_call_state *, enum rr_call_event, enum rr_call_phase to);
/* Takes an event that need not change the state. */
static inline void rr_call_event(const struct rr_call_state *s,
                                 enum rr_call_event event)
{
	RR_MACHINE_EVENT(rr_call_machine, s->phase, event);
}
/* Returns the outstanding call with this XID, or NULL. */
struct rr_call_state *rr_call_find(const struct rr_conn *, uint32_t xid);
/* The same, if a message of it has been sent. */
struct rr_call_state *rr_call_sent(const struct rr_conn *, uint32_t xid);
/* Prepares a call, or queues its first or next message; there is a credit.  False: the
 * registrations are still outstanding. */
bool rr_call_transmit(struct rr_conn *, struct rr_call_state *);
/* Ends the wait for the Reply with this status.  CALL_DONE follows when nothing of the
 * call is outstanding any more. */
void rr_call_end(struct rr_conn *, struct rr_call_state *, int status);
/* The same, while more parts of its Reply are under way.  The peer may still use the
 * call's regions, and invalidate one, so access ends only after the last part. */
void rr_call_drain(struct rr_conn *, struct rr_call_state *, int status);
/* Ends DRAINING for the call @xid; no effect if there is no such call. */
void rr_call_drained(struct rr_conn *, uint32_t xid);
/* Queues CALL_DONE if the call has ended and nothing of it is outstanding. */
void rr_call_settle(struct rr_conn *, struct rr_call_state *);
/* Notes that the user receives CALL_DONE. */
void rr_call_polled(struct rr_conn *, struct rr_call_state *);
/* Ends every call: the connection is lost. */
void rr_call_lost(struct rr_conn *, int status);
/* Frees what is left of calls. */
void rr_call_fini(struct rr_conn *);

/* -- answer.c -------------------------------------------------------------- */

/* Takes a Reply, or a part of one, that has passed [check: sequence]. */
void rr_answer_received(struct rr_conn *, struct rr_msg *);
/* Takes an RDMA2_ERROR. */
void rr_answer_error(struct rr_conn *, const struct rr_msg *);
/* Notes that the message has invalidated a handle.  False: the handle is not one of
 * that transaction. [K17] */
bool rr_answer_invalidated(struct rr_conn *, const struct rr_msg *);
/* Do these octets begin an RPC Reply to @xid?  [check: RPC message] */
bool rr_answer_is_reply(const uint8_t *p, size_t len, uint32_t xid);
/* Keeps the handles that a late Reply to this call may still invalidate. */
void rr_answer_forget(struct rr_conn *, const struct rr_call_state *);

/* -- recover.c ------------------------------------------------------------- */

/* Records which chunks the call provided; an error has arrived for it. */
void rr_recover_note(struct rr_call_state *);
/* Returns how many of @n the call may use: all, or @limit in a second attempt. */
unsigned rr_recover_most(const struct rr_call *, unsigned limit, unsigned n);
/* Returns the status of a call that cannot be sent: @err, or in a second attempt the
 * error of the first. */
int rr_recover_failed(struct rr_call_state *, int err);

#endif
