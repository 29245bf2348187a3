/* SPDX-License-Identifier: BSD-3-Clause */
/* The Requester: handles each Call from the queue to its result. */
#ifndef RR_CONN_REQUESTER_H
#define RR_CONN_REQUESTER_H

#include "conn/call_table.h"
#include "conn/mbuf.h"
#include "conn/recv.h"
#include "conn/region.h"
#include "conn/states.h"
#include "conn/xmit.h"

/* A call's chunks, the registered regions that belong to them, and their memory. */
struct rr_call_chunks {
	struct rr_mbuf special; /* Special Format: copies of short runs */
	struct rr_mbuf reply;   /* the Reply chunk's memory */
	struct rr_mbuf dest;    /* memory that replaces a destination that was too
	                         * small */
	unsigned n;             /* number of regions */
	struct rr_mr region[RR_CALL_MAX_REGIONS];
	struct rr_lists lists; /* chunk lists as sent; a Reply must return matching
	                        * lists */
};

struct rr_reply_pull;
struct rr_rtr_outgoing;
struct rr_carried;

struct rr_call_state {
	struct rr_op op; /* the CALL_DONE action */
	struct rr_call *call;
	struct rr_list all;         /* conn.calls */
	struct rr_call_entry entry; /* entry in conn.table while the call is
	                             * outstanding */
	enum rr_call_phase phase;
	const struct rr_family *family; /* family of the Call's header types */
	bool special;                   /* sent by Special Format */
	bool carries;        /* the Call is continued because it carries items */
	bool in_place;       /* Special Format: the peer reads long runs from the user's
	                     * memory, without a copy */
	bool awaited;        /* counted in conn.n_awaited */
	bool overdue;        /* counted in conn.n_overdue */
	struct rr_list kept; /* conn.reminv.kept, if the call is cancelled and keeps a
	                      * region */
	rr_time kept_until;  /* deadline for the end of such a call */
	unsigned sends_out;  /* outstanding Sends that gather the call's memory */
	unsigned reads_out;  /* outstanding RDMA Reads of the Reply */
	unsigned regions_out; /* outstanding registrations and invalidations */
	int status;
	struct rr_reply_pull *pull;    /* the Reply's pull, or NULL */
	struct rr_carried *carried;    /* notifications sent with the Call, or NULL */
	struct rr_rtr_outgoing *rtr;   /* the Call is sent as a group; or NULL */
	struct rr_call_chunks *chunks; /* NULL if the call has no chunks */
	unsigned n_writes;  /* how many destinations, from the first, have Write
	                     * chunks */
	size_t reply_bound; /* upper bound on the octets in the Reply's payload; 0 =
	                     * unknown, assumed small */
	/* The Reply is in the Reply chunk, in @reply_buf (reassembled) or in
	 * @reply_rbuf. */
	struct rr_mbuf reply_buf;
	struct rr_rbuf *reply_rbuf;
	const uint8_t *reply;
	size_t reply_len;
	struct rr_stream stream; /* the Call's payload */
};

/* -- call_plan.c ----------------------------------------------------------- */

/* Plans the format and the chunks of a call.  Returns 0, or -errno if the call cannot
 * be sent. */
int rr_call_plan(struct rr_conn *, struct rr_call_state *) RR_MUST_CHECK;

/* -- call_chunks.c --------------------------------------------------------- */

/* Plans a call whose turn has come, and begins to register its memory.  Returns 0, or
 * -errno if the call cannot be sent. */
int rr_call_chunks_prepare(struct rr_conn *, struct rr_call_state *) RR_MUST_CHECK;
/* Builds the chunk lists, after every region has been registered, and moves the call to
 * PREPARED. */
void rr_call_chunks_build(struct rr_conn *, struct rr_call_state *, enum rr_call_event);
/* Handles the provider's answers for the regions of a call. */
extern const struct rr_mr_owner rr_call_mr_owner;
/* Ends the peer's access to every region that is still accessible. */
void rr_call_chunks_withdraw(struct rr_conn *, struct rr_call_state *);
/* Records that the peer has invalidated @handle.  Returns false if no accessible region
 * of the call has that handle. */
bool rr_call_chunks_take_remote(struct rr_conn *, struct rr_call_state *,
                                uint32_t handle);
/* Returns the region with this use and index, or NULL. */
const struct rr_mr *rr_call_chunks_find(const struct rr_call_chunks *, enum rr_mr_use,
                                        unsigned index);
/* Frees the call's chunks and their memory. */
void rr_call_chunks_free(struct rr_conn *, struct rr_call_state *);

/* -- requester.c ----------------------------------------------------------- */

/* Moves the call to state @to. */
void rr_call_move(struct rr_call_state *, enum rr_call_event, enum rr_call_phase to);
/* Asserts, in debug builds, that the call's state accepts @event. */
static inline void rr_call_event(const struct rr_call_state *s,
                                 enum rr_call_event event)
{
	RR_MACHINE_EVENT(rr_call_machine, s->phase, event);
}
/* Returns the outstanding call with this XID, or NULL. */
struct rr_call_state *rr_call_find(const struct rr_conn *, uint32_t xid);
/* Returns the call with this XID if it is being sent or waits for its Reply; otherwise
 * NULL. */
struct rr_call_state *rr_call_sent(const struct rr_conn *, uint32_t xid);
/* Advances a call that is to be sent: prepares the call if necessary, then queues its
 * first or next message unless registrations have begun.  A credit must be available.
 * Returns false if nothing was done, because registrations are still outstanding. */
bool rr_call_transmit(struct rr_conn *, struct rr_call_state *);
/* Records that the Call is about to be sent, completely or in part. */
void rr_call_await(struct rr_conn *, struct rr_call_state *);
/* Records that a Call of @payload octets has been sent completely, @continued if in
 * several messages. */
void rr_call_sent_whole(struct rr_conn *, struct rr_call_state *, bool continued,
                        size_t payload);
/* Ends the call's wait for the Reply; @status is the call's result.  CALL_DONE follows
 * when no Send, registration or invalidation of the call is outstanding. */
void rr_call_end(struct rr_conn *, struct rr_call_state *, int status);
/* Records the call's result, @status, before the last part of the Reply has arrived.
 * The peer may still access the call's regions, and may invalidate one of them, until
 * it has sent the last part. */
void rr_call_drain(struct rr_conn *, struct rr_call_state *, int status);
/* Records that the call is cancelled, but lets it wait for its Reply. */
void rr_call_keep(struct rr_conn *, struct rr_call_state *);
/* Ends the call @xid if it is DRAINING; otherwise has no effect. */
void rr_call_drained(struct rr_conn *, uint32_t xid);
/* Queues CALL_DONE if the call is ENDING and no Send, registration or invalidation of
 * the call is outstanding. */
void rr_call_settle(struct rr_conn *, struct rr_call_state *);
/* Handles the user's poll of CALL_DONE.  Frees the call, unless the user still needs
 * its Reply. */
void rr_call_polled(struct rr_conn *, struct rr_call_state *);
/* Ends every call, after the connection is lost. */
void rr_call_lost(struct rr_conn *, int status);
/* Frees all remaining calls and the table. */
void rr_call_fini(struct rr_conn *);

/* -- answer.c -------------------------------------------------------------- */

/* Processes a Reply, or part of a Reply, that has passed [check: sequence]. */
void rr_answer_received(struct rr_conn *, struct rr_msg *);
/* Processes an RDMA2_ERROR. */
void rr_answer_error(struct rr_conn *, const struct rr_msg *);
/* Records that the message's Send has invalidated a handle.  Returns false if neither
 * the message's call nor a call that ended early has offered this handle. [K17] */
bool rr_answer_invalidated(struct rr_conn *, const struct rr_msg *);
/* Returns true if the Reply returns exactly the Write list of its call. */
bool rr_answer_match_writes(const struct rr_call_state *, const struct rr_msg *);
/* Stores the results' lengths in the call's destinations.  Returns their sum. */
uint64_t rr_answer_note_results(struct rr_call_state *, const struct rr_lists *);
/* Returns true if @handle belongs to a call that ended early, while its Reply was in
 * transit. */
bool rr_answer_is_retired(const struct rr_conn *, uint32_t handle);
/* Returns true if these octets begin an RPC Reply to @xid. [check: RPC message] */
bool rr_answer_is_reply(const uint8_t *p, size_t len, uint32_t xid);
/* Remembers the handles that a late Reply to this call may still invalidate. */
void rr_answer_forget(struct rr_conn *, const struct rr_call_state *);

/* -- recover.c ------------------------------------------------------------- */

/* Records which chunks the call provided, for rr_call_recover.  Called when an error
 * for the call arrives. */
void rr_recover_note(struct rr_call_state *);
/* Returns how many chunks or segments the call may use: @n in the first attempt, or the
 * smaller of @limit and @n in a second attempt. */
unsigned rr_recover_most(const struct rr_call *, unsigned limit, unsigned n);
/* Returns the status for a call that cannot be sent because of @err.  If a second
 * attempt cannot meet the limits in the peer's error, restores that error and returns
 * RR_CALL_REMOTE_ERROR.  Otherwise returns @err. */
int rr_recover_failed(struct rr_call_state *, int err);

#endif
