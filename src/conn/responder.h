/* SPDX-License-Identifier: BSD-3-Clause */
/* The Responder: Calls received, served, replied to. */
#ifndef RR_CONN_RESPONDER_H
#define RR_CONN_RESPONDER_H

#include "conn/mbuf.h"
#include "conn/recv.h"
#include "conn/states.h"
#include "conn/xmit.h"

/* An RDMA Read. */
struct rr_read_op {
	struct rr_op op;
	struct rr_request_state *request;
	struct rr_sge sge;
	uint32_t handle;
	uint64_t offset;
};

struct rr_request_state {
	struct rr_op op;    /* ADMIT, REQUEST or REQUEST_DONE */
	struct rr_list all; /* conn.requests */
	enum rr_request_phase phase;
	bool known;     /* the user has received ADMIT, and must receive REQUEST_DONE */
	bool with_user; /* the user has received ADMIT or REQUEST, and not answered */
	int status;     /* for REQUEST_DONE */
	unsigned reads_out, xmits_out; /* Reads, Sends and Writes outstanding */
	bool read_failed;              /* a Read has failed, or could not be queued */
	bool all_sent;                 /* the last part of the reply is sent */
	bool counted;                  /* counted in conn.n_serving */
	bool begun;           /* counted in conn.n_begun: it has had its turn */
	struct rr_rbuf *rbuf; /* holds the payload of an inline Call; or NULL */
	struct rr_mbuf buf;   /* holds that of a continued or Special Call */

	/* Continued Calls only. */
	bool collects;            /* not all parts are in @buf */
	bool whole;               /* the last part has arrived */
	bool roomed;              /* @room was granted, and must be given back */
	struct rr_list parts;     /* held until there is room, rr_rbuf.op.link */
	size_t collected;         /* octets received */
	uint64_t room;            /* octets granted */
	uint8_t head[RR_RPC_MIN]; /* first octets of the payload */

	const uint8_t *payload; /* reduced Payload stream */
	size_t payload_len;
	uint32_t inv_handle;    /* the reply may invalidate it; 0: none */
	uint64_t wanted;        /* octets to charge to the quota before pulling */
	uint64_t reserved;      /* octets charged, besides those of @buf */
	struct rr_lists *lists; /* NULL without chunks */
	uint32_t reply_htype;   /* RDMA2_MSG or RDMA2_NOMSG */
	bool own_sinks;         /* @sinks are the connection's memory */
	struct rr_request req;
	struct rr_sge sinks[RR_REQUEST_MAX_READS];
	struct rr_stream stream; /* the reply's payload */
};

/* -- responder.c ----------------------------------------------------------- */

/* Assigns the state. */
void rr_request_move(struct rr_request_state *, enum rr_request_event,
                     enum rr_request_phase to);
/* Takes an event that need not change the state. */
static inline void rr_request_event(const struct rr_request_state *q,
                                    enum rr_request_event event)
{
	RR_MACHINE_EVENT(rr_request_machine, q->phase, event);
}
/* Takes a Call, or a part of one, that has passed [check: sequence]. */
void rr_request_received(struct rr_conn *, struct rr_msg *);
/* Makes a request for the Call that this message is, or begins.  NULL: no memory, or
 * too many requests wait already. */
struct rr_request_state *rr_request_new(struct rr_conn *, const struct rr_msg *);
/* Takes over the chunk lists of the Call's last message.  False: no memory, or the
 * chunks are larger than any limit allows. */
bool rr_request_set_chunks(struct rr_conn *, struct rr_request_state *,
                           const struct rr_msg *) RR_MUST_CHECK;
/* Goes on with a continued Call, all of which is in its buffer. */
void rr_request_collected(struct rr_conn *, struct rr_request_state *);
/* Notes that the user receives ADMIT or REQUEST. */
void rr_request_polled(struct rr_request_state *);
/* Notes that the last part of the reply is on its way, or that none will be: the
 * request no longer counts as being served. */
void rr_request_sent(struct rr_conn *, struct rr_request_state *);
/* Ends the request: REQUEST_DONE follows if the user knows it, else it is freed.  No
 * Read, Write or Send of it is outstanding. */
void rr_request_end(struct rr_conn *, struct rr_request_state *, int status);
/* Queues an RDMA2_ERROR for the Call.  The request stays. */
void rr_request_answer_error(struct rr_conn *, struct rr_request_state *,
                             const struct rr_error *);
/* Queues an RDMA2_ERROR with @code and ends the request. */
void rr_request_fail(struct rr_conn *, struct rr_request_state *, uint32_t code,
                     int status);
void rr_request_free(struct rr_conn *, struct rr_request_state *);
/* Ends every request that the user does not hold: the connection is lost. */
void rr_request_lost(struct rr_conn *, int status);

/* -- call_checks.c --------------------------------------------------------- */

/* Checks what the header of a Call asks for.  False: it is answered by @ret.
 * [check: positions to limits] */
bool rr_request_check(const struct rr_conn *, const struct rr_msg *,
                      struct rr_error *ret) RR_MUST_CHECK;
/* Returns in @ret_pull the octets in all Read chunks.  False: a chunk, or their sum, is
 * more than the limits allow. */
bool rr_request_check_sizes(const struct rr_conn *, const struct rr_lists *,
                            uint64_t *ret_pull) RR_MUST_CHECK;
/* Do these octets begin an RPC Call with that XID?  [check: RPC message] */
bool rr_request_is_call(const uint8_t *p, size_t len, uint32_t xid);

/* -- request_queue.c ------------------------------------------------------- */

/* Begins the request, or queues it until it has its turn. */
void rr_request_begin(struct rr_conn *, struct rr_request_state *);
/* The same for a continued Call for which room was granted. */
void rr_request_begin_roomed(struct rr_conn *, struct rr_request_state *);
/* Begins the next request that waits for its turn.  False: none can begin now. */
bool rr_request_turn(struct rr_conn *);
/* Goes on with the first request that waits for memory, or refuses it if memory cannot
 * become free.  False: it waits, or there is none. */
bool rr_request_budget(struct rr_conn *);

/* -- pull.c ---------------------------------------------------------------- */

/* Reads what the user needs at ADMIT; ADMIT follows.  The memory for all that will be
 * pulled is charged already; @by is the event that lets the request begin. */
void rr_pull_start(struct rr_conn *, struct rr_request_state *,
                   enum rr_request_event by);
/* A Read of a request has completed. */
void rr_pull_completed(struct rr_conn *, struct rr_read_op *, int status);
/* Frees the connection's memory for Read chunks. */
void rr_pull_free(struct rr_conn *, struct rr_request_state *);

/* -- collect.c ------------------------------------------------------------- */

/* Takes a part of a continued Call, whose header has passed the checks of
 * call_checks.c. */
void rr_collect_received(struct rr_conn *, struct rr_msg *);
/* Asks for room for the continued Call that is first in the queue for memory, and
 * collects the parts held.  False: it waits for room. */
bool rr_collect_go_on(struct rr_conn *, struct rr_request_state *);
/* Gives back the room and the Receive buffers that the request holds.  The caller frees
 * its message. */
void rr_collect_free(struct rr_conn *, struct rr_request_state *);

/* -- reply.c --------------------------------------------------------------- */

/* Queues the first or next message of the reply; there is a credit.  Returns true. */
bool rr_reply_transmit(struct rr_conn *, struct rr_request_state *);
/* Ends the request if all of its Sends and Writes have completed. */
void rr_reply_settle(struct rr_conn *, struct rr_request_state *);

#endif
