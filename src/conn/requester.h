/* SPDX-License-Identifier: BSD-3-Clause */
/* The Requester: Calls from the queue to the result. */
#ifndef RR_CONN_REQUESTER_H
#define RR_CONN_REQUESTER_H

#include "conn/call_table.h"
#include "conn/mbuf.h"
#include "conn/recv.h"
#include "conn/states.h"
#include "conn/xmit.h"

enum rr_mr_use { RR_USE_CALL, RR_USE_READ, RR_USE_WRITE, RR_USE_REPLY };

struct rr_mr {
	struct rr_op op; /* REGISTER, later INVALIDATE */
	struct rr_call_state *call;
	enum rr_mr_phase phase;
	enum rr_mr_use use;
	unsigned index;    /* USE_WRITE: which destination */
	uint32_t position; /* USE_READ */
	uint8_t *base;
	size_t len;
	uint32_t handle;
	uint64_t offset;
};

/* The chunks that a call provides, and the registered regions behind them; NULL in a
 * call without chunks. */
struct rr_call_chunks {
	unsigned n;
	struct rr_mr region[RR_CALL_MAX_REGIONS];
	struct rr_lists lists; /* as sent, to compare the Reply with */
};

struct rr_call_state {
	struct rr_op op; /* CALL_DONE */
	struct rr_call *call;
	struct rr_list all;         /* conn.calls */
	struct rr_call_entry entry; /* in conn.table while outstanding */
	enum rr_call_phase phase;
	bool special;         /* sent by Special Format */
	bool in_place;        /* long runs of it are pulled from where they lie */
	bool awaited;         /* in conn.n_awaited */
	bool overdue;         /* in conn.n_overdue */
	unsigned sends_out;   /* xmits that refer to its memory */
	unsigned regions_out; /* registrations or invalidations owed */
	int status;
	struct rr_call_chunks *chunks; /* NULL without chunks */
	struct rr_mbuf
	        special_buf; /* a Special Call's Payload stream, but for such runs */
	struct rr_mbuf chunk_buf; /* the Reply chunk's memory */
	struct rr_mbuf dest_buf;  /* for a destination that was too small */
	unsigned n_writes;  /* destinations, the first ones, that have Write chunks */
	size_t reply_bound; /* octets the Reply can have; 0 = unknown, small */
	/* The Reply: in the chunk, reassembled, or where it was received. */
	struct rr_mbuf reply_buf;
	struct rr_rbuf *reply_rbuf;
	const uint8_t *reply;
	size_t reply_len;
	struct rr_stream stream;
};

/* -- call_chunks.c --------------------------------------------------------------- */

/* Plans format and chunks of a call whose turn has come, and begins to register
 * memory.  0, or why the call cannot be sent. */
int rr_call_chunks_prepare(struct rr_conn *, struct rr_call_state *) RR_MUST_CHECK;
/* All registered: builds the lists. */
void rr_call_chunks_build(struct rr_conn *, struct rr_call_state *, enum rr_call_event);
void rr_call_chunks_registered(struct rr_conn *, struct rr_mr *, int status,
                               uint32_t handle, uint64_t offset);
/* Ends the peer's access to every region that is still accessible. */
void rr_call_chunks_withdraw(struct rr_conn *, struct rr_call_state *);
void rr_call_chunks_invalidated(struct rr_conn *, struct rr_mr *, int status);
/* Marks what the peer invalidated; false if no region has this handle. */
bool rr_call_chunks_take_remote(struct rr_conn *, struct rr_call_state *,
                                uint32_t handle);
void rr_call_chunks_free(struct rr_conn *, struct rr_call_state *);

/* -- requester.c ---------------------------------------------------------------- */

/* Assigns the state. */
void rr_call_move(struct rr_call_state *, enum rr_call_event, enum rr_call_phase to);
/* Takes an event that need not change the state. */
static inline void rr_call_event(const struct rr_call_state *s,
                                 enum rr_call_event event)
{
	RR_MACHINE_EVENT(rr_call_machine, s->phase, event);
}
/* An outstanding call; NULL if there is none. */
struct rr_call_state *rr_call_find(const struct rr_conn *, uint32_t xid);
/* The same, if any of it has been sent. */
struct rr_call_state *rr_call_sent(const struct rr_conn *, uint32_t xid);
/* Sends the first or next part (a credit is there); false: nothing was sent. */
bool rr_call_transmit(struct rr_conn *, struct rr_call_state *);
/* The result is known.  CALL_DONE comes when nothing is owed any more. */
void rr_call_end(struct rr_conn *, struct rr_call_state *, int status);
/* The same, when more of its Reply is under way: the peer may yet use, and will
 * invalidate, what the call offers, so that is withdrawn at the Reply's end. */
void rr_call_drain(struct rr_conn *, struct rr_call_state *, int status);
/* That end has come, or need not be waited for.  @xid may be no call's. */
void rr_call_drained(struct rr_conn *, uint32_t xid);
/* Something owed has come. */
void rr_call_settle(struct rr_conn *, struct rr_call_state *);
/* CALL_DONE is being drawn. */
void rr_call_polled(struct rr_conn *, struct rr_call_state *);
void rr_call_lost(struct rr_conn *, int status);
void rr_call_fini(struct rr_conn *);

/* -- answer.c -------------------------------------------------------------- */

/* A Reply, or a part of one, past [check: sequence]. */
void rr_answer_received(struct rr_conn *, struct rr_msg *);
void rr_answer_error(struct rr_conn *, const struct rr_msg *);
/* [K17] false: the handle is not of that transaction. */
bool rr_answer_invalidated(struct rr_conn *, const struct rr_msg *);
/* Does an RPC Reply to @xid begin there?  [check: RPC message] */
bool rr_answer_is_reply(const uint8_t *p, size_t len, uint32_t xid);
/* Remembers the handle that a late Reply to this call may yet invalidate. */
void rr_answer_forget(struct rr_conn *, const struct rr_call_state *);

/* -- recover.c ------------------------------------------------------------- */

/* An error came: notes what the call had offered. */
void rr_recover_note(struct rr_call_state *);
/* How many of @n the call may use: all, unless it is a second attempt. */
unsigned rr_recover_most(const struct rr_call *, unsigned limit, unsigned n);
/* The status for a call that cannot be sent: @err, or the error recovered from. */
int rr_recover_failed(struct rr_call_state *, int err);

#endif
