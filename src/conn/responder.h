/* SPDX-License-Identifier: BSD-3-Clause */
/* The Responder: Calls received, pulled, handed over; replies. */
#ifndef RR_CONN_RESPONDER_H
#define RR_CONN_RESPONDER_H

#include "conn/mbuf.h"
#include "conn/recv.h"
#include "conn/states.h"
#include "conn/xmit.h"

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
	bool known;     /* ADMIT was drawn: the user has to be told the end */
	bool with_user; /* ADMIT or REQUEST was drawn and not answered */
	int status;
	unsigned reads_out, xmits_out;
	bool read_failed;
	bool all_sent;        /* the reply's last part is on its way */
	bool counted;         /* in conn.n_serving */
	bool begun;           /* in conn.n_begun: its turn has come */
	struct rr_rbuf *rbuf; /* the payload lies here, or */
	struct rr_mbuf buf;   /* here: reassembled or Position Zero chunk */
	/* Of a continued Call: */
	bool collects;        /* its parts are not all in @buf */
	bool whole;           /* the last part has come */
	bool roomed;          /* @room is to be given back */
	struct rr_list parts; /* held until there is room, rr_rbuf.op.link */
	size_t collected;     /* octets that have come */
	uint64_t room;        /* octets that it may have */
	uint8_t head[RR_RPC_MIN];
	const uint8_t *payload;
	size_t payload_len;
	uint32_t inv_handle;
	uint64_t wanted, reserved; /* of the budget, besides a reassembly */
	struct rr_lists *lists;    /* NULL without chunks */
	uint32_t reply_htype;
	bool own_sinks; /* sinks to be given back */
	struct rr_request req;
	struct rr_sge sinks[RR_REQUEST_MAX_READS];
	struct rr_stream stream;
};

/* -- responder.c ------------------------------------------------------------- */

/* A Call, or a part of one, past [check: sequence]. */
void rr_request_received(struct rr_conn *, struct rr_msg *);
void rr_request_read_done(struct rr_conn *, struct rr_read_op *, int status);
/* ADMIT or REQUEST is being drawn. */
void rr_request_polled(struct rr_request_state *);
/* REQUEST_DONE now. */
void rr_request_end(struct rr_conn *, struct rr_request_state *, int status);
void rr_request_answer_error(struct rr_conn *, struct rr_request_state *,
                             const struct rr_error *);
/* The last part of its reply is on its way, or none will be. */
void rr_request_sent(struct rr_conn *, struct rr_request_state *);
/* A request for this Call; the first of its messages.  NULL: no memory, or too many. */
struct rr_request_state *rr_request_new(struct rr_conn *, const struct rr_msg *);
/* What its last message offers.  False: no memory, or more than we ever give. */
bool rr_request_set_chunks(struct rr_conn *, struct rr_request_state *,
                           const struct rr_msg *) RR_MUST_CHECK;
/* All of a continued Call is in its buffer. */
void rr_request_collected(struct rr_conn *, struct rr_request_state *);
/* Does an RPC Call by that XID begin there?  [check: RPC message] */
bool rr_request_is_call(const uint8_t *p, size_t len, uint32_t xid);
/* Begins the next of the Calls that wait to be served; false: none, or not yet. */
bool rr_request_turn(struct rr_conn *);
/* Lets requests go on for which there is memory; true if it did something. */
bool rr_request_budget(struct rr_conn *);
void rr_request_free(struct rr_conn *, struct rr_request_state *);
void rr_request_lost(struct rr_conn *, int status);

/* -- collect.c ------------------------------------------------------------- */

/* Takes a part of a continued Call, whose header has passed the checks of responder.c. */
void rr_collect_received(struct rr_conn *, struct rr_msg *);
/* Lets the continued Call that is first in the budget queue collect its parts, if there
 * is room for it.  False: it waits. */
bool rr_collect_go_on(struct rr_conn *, struct rr_request_state *);
/* Gives back the room and the Receive buffers that the request holds; its message is
 * freed by the caller. */
void rr_collect_free(struct rr_conn *, struct rr_request_state *);

/* -- reply.c --------------------------------------------------------------- */

/* Sends the first or next part (a credit is there); false: nothing was sent. */
bool rr_reply_transmit(struct rr_conn *, struct rr_request_state *);
/* A Send or Write of it has completed. */
void rr_reply_settle(struct rr_conn *, struct rr_request_state *);

#endif
