/* SPDX-License-Identifier: BSD-3-Clause */
/* The Responder: Calls received, served and answered. */
#ifndef RR_CONN_RESPONDER_H
#define RR_CONN_RESPONDER_H

#include "conn/mbuf.h"
#include "conn/read_op.h"
#include "conn/recv.h"
#include "conn/states.h"
#include "conn/xmit.h"

struct rr_exposure;
struct rr_rtr_incoming;

struct rr_request_state {
	struct rr_op op;    /* the ADMIT, REQUEST or REQUEST_DONE action */
	struct rr_list all; /* conn.requests */
	enum rr_request_phase phase;
	bool known;     /* the user has polled ADMIT, so REQUEST_DONE must follow */
	bool with_user; /* the user has polled ADMIT or REQUEST and has not yet answered
	                 * it */
	int status;     /* status for REQUEST_DONE */
	unsigned reads_out;   /* outstanding Reads */
	unsigned xmits_out;   /* outstanding Writes, and Sends that gather its memory */
	bool read_failed;     /* a Read has failed or could not be queued */
	bool all_sent;        /* the last part of the reply has been queued for
	                                * sending */
	bool counted;         /* counted in conn.n_serving */
	bool begun;           /* the request has begun and is counted in conn.n_begun */
	struct rr_rbuf *rbuf; /* Receive buffer with the payload of an inline Call, or
	                       * NULL */
	struct rr_mbuf buf;   /* payload of a continued or Special Call */

	/* Continued Calls only. */
	bool collects;            /* not all parts are in @buf yet */
	bool whole;               /* the last part of the Call has arrived */
	bool roomed;              /* @room was granted and must be returned with
	                           * rr_room.give */
	struct rr_list parts;     /* parts that wait for memory, linked by
	                           * rr_rbuf.op.link */
	size_t collected;         /* octets received in all parts */
	size_t announced;         /* octets of the Call, if its parts announce them;
	                           * otherwise 0 */
	uint64_t room;            /* octets granted by rr_room */
	uint8_t head[RR_RPC_MIN]; /* XID and msg_type, copied from the first octets of
	                           * the payload */

	const uint8_t *payload; /* reduced Payload stream */
	size_t payload_len;
	uint32_t inv_handle;    /* handle that the reply may invalidate; 0 = none */
	uint64_t wanted;        /* octets to charge to the quota before RDMA Reads
	                         * start */
	uint64_t reserved;      /* octets charged to the quota, not counting @buf */
	struct rr_lists *lists; /* NULL if the Call has no chunks */
	struct rr_rtr_incoming *rtr;  /* the group that the Call arrived in, or NULL */
	bool rtr_in_chunk;            /* its response's payload is in the Reply chunk */
	struct rr_exposure *exposure; /* the reply's exposure, or NULL */
	bool unsendable; /* the reply cannot be sent; an error follows when the Writes
	                  * have completed */
	const struct rr_family *family; /* family of the Call and of the reply */
	uint32_t reply_htype;           /* RDMA2_MSG or RDMA2_NOMSG */
	bool own_sinks;                 /* @sinks point to memory of the connection */
	struct rr_request req;
	struct rr_sge sinks[RR_REQUEST_MAX_READS];
	struct rr_stream stream; /* the reply's payload */
};

/* -- responder.c ----------------------------------------------------------- */

/* Moves the request to state @to. */
void rr_request_move(struct rr_request_state *, enum rr_request_event,
                     enum rr_request_phase to);
/* Asserts, in debug builds, that the request's state accepts @event. */
static inline void rr_request_event(const struct rr_request_state *q,
                                    enum rr_request_event event)
{
	RR_MACHINE_EVENT(rr_request_machine, q->phase, event);
}
/* Processes a Call, or part of a Call, that has passed [check: sequence]. */
void rr_request_received(struct rr_conn *, struct rr_msg *);
/* Creates a request for the Call in this message, which may be the Call's first part.
 * Returns NULL if there is no memory, or if too many requests are waiting. */
struct rr_request_state *rr_request_new(struct rr_conn *, const struct rr_msg *);
/* Copies the chunk lists from the Call's last message to the request.  Returns false if
 * there is no memory, or if the chunks exceed the limits. */
bool rr_request_set_chunks(struct rr_conn *, struct rr_request_state *,
                           const struct rr_msg *) RR_MUST_CHECK;
/* Lets a continued Call begin or wait for its turn, now that all its parts have been
 * collected. */
void rr_request_collected(struct rr_conn *, struct rr_request_state *);
/* Records that the user has polled ADMIT or REQUEST. */
void rr_request_polled(struct rr_request_state *);
/* Stops counting the request as being served.  Called when the last part of the reply
 * is about to be sent, or when there will be no reply. */
void rr_request_sent(struct rr_conn *, struct rr_request_state *);
/* Ends the request: queues REQUEST_DONE if the user has polled ADMIT, otherwise frees
 * the request.  No Read, Write or Send of the request may be outstanding. */
void rr_request_end(struct rr_conn *, struct rr_request_state *, int status);
/* Queues an RDMA2_ERROR for the Call, without ending the request. */
void rr_request_answer_error(struct rr_conn *, struct rr_request_state *,
                             const struct rr_error *);
/* Queues an RDMA2_ERROR with @code and ends the request. */
void rr_request_fail(struct rr_conn *, struct rr_request_state *, uint32_t code,
                     int status);
void rr_request_free(struct rr_conn *, struct rr_request_state *);
/* Ends every request that does not wait for the user's answer, after the connection is
 * lost. */
void rr_request_lost(struct rr_conn *, int status);

/* -- call_checks.c --------------------------------------------------------- */

/* Checks the chunk lists in a Call's header.  Returns false if the Call must be
 * answered with error @ret. [check: positions to limits] */
bool rr_request_check(const struct rr_conn *, const struct rr_msg *,
                      struct rr_error *ret) RR_MUST_CHECK;
/* Stores the number of octets in all Read chunks in @ret_pull.  Returns false if a
 * chunk, or the sum, exceeds the limits. */
bool rr_request_check_sizes(const struct rr_conn *, const struct rr_lists *,
                            uint64_t *ret_pull) RR_MUST_CHECK;
/* Returns true if these octets begin an RPC Call with @xid. [check: RPC message] */
bool rr_request_is_call(const uint8_t *p, size_t len, uint32_t xid);

/* -- request_queue.c ------------------------------------------------------- */

/* Begins serving the request, or queues it until its turn comes. */
void rr_request_begin(struct rr_conn *, struct rr_request_state *);
/* Like rr_request_begin, but for a continued Call for which rr_room has granted
 * memory. */
void rr_request_begin_roomed(struct rr_conn *, struct rr_request_state *);
/* Begins the next request that waits for its turn.  If none can begin now, continues
 * the first request that waits for memory, or refuses that request if no memory can
 * become free.  Returns false if no request is waiting, or if every request must wait
 * longer. */
bool rr_request_next(struct rr_conn *);

/* -- pull.c ---------------------------------------------------------------- */

/* Reads the octets that the user needs at ADMIT, then queues ADMIT.  The memory for all
 * the request's RDMA Reads has already been charged.  @by is the event to record in the
 * request's state machine. */
void rr_pull_start(struct rr_conn *, struct rr_request_state *,
                   enum rr_request_event by);
/* Frees the memory that the connection provided for Read chunks. */
void rr_pull_free(struct rr_conn *, struct rr_request_state *);

/* -- collect.c ------------------------------------------------------------- */

/* Processes a part of a continued Call, whose header has passed the checks of
 * call_checks.c. */
void rr_collect_received(struct rr_conn *, struct rr_msg *);
/* Asks rr_room for memory for a continued Call at the head of the queue for memory.  If
 * rr_room grants the memory, collects the parts that have been waiting.  Returns false
 * if the Call must wait longer. */
bool rr_collect_go_on(struct rr_conn *, struct rr_request_state *);
/* Releases the memory granted by rr_room, and the Receive buffers with waiting parts.
 * The caller frees the request's own buffer. */
void rr_collect_free(struct rr_conn *, struct rr_request_state *);

/* -- reply.c --------------------------------------------------------------- */

/* Queues the first or next message of the reply.  A credit must be available.  Always
 * returns true. */
bool rr_reply_transmit(struct rr_conn *, struct rr_request_state *);
/* Ends the request without a reply: sends error @e, unless the connection is lost. */
void rr_reply_fail(struct rr_conn *, struct rr_request_state *,
                   const struct rr_error *e);
/* Queues Writes of the stream to the chunk, from the front, and sets each segment's
 * length to the length written [K6].  Returns false if there is no memory. */
bool rr_reply_write_chunk(struct rr_conn *, struct rr_request_state *,
                          const struct rr_chunk *, struct rr_stream *);
/* Ends the request if the complete reply has been sent and all its Sends and Writes
 * have completed. */
void rr_reply_settle(struct rr_conn *, struct rr_request_state *);
/* Queues the Reply: its memory is exposed. */
void rr_reply_exposed(struct rr_conn *, struct rr_request_state *);
/* Sends the reply in another way: its memory could not be exposed. */
void rr_reply_not_exposed(struct rr_conn *, struct rr_request_state *);

#endif
