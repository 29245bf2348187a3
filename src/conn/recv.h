/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages received: Receive buffers, checks, continued messages. */
#ifndef RR_CONN_RECV_H
#define RR_CONN_RECV_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/mbuf.h"

enum rr_discard_reason {
	RR_DISCARD_SHORT = 1, /* shorter than any message of its version */
	RR_DISCARD_VERSION,   /* not of the connection's version */
	RR_DISCARD_FAULT,     /* answered by an error, or ends a call */
	RR_DISCARD_SEQUENCE,  /* part of a sequence that is being discarded [M3] */
	RR_DISCARD_NO_CALL,   /* a Reply or error that no call of ours waits for */
	RR_DISCARD_ERROR,     /* an RDMA2_ERROR that is malformed or unknown */
};

struct rr_rbuf {
	struct rr_op op;
	struct rr_list all; /* conn.rbufs */
	uint8_t *data;
	const uint8_t *part; /* payload of a part of a Call that is held */
	size_t part_len;     /* octets */
};

/* A received message, as far as it has been checked. */
struct rr_msg {
	struct rr_rbuf *rbuf;
	bool kept;           /* @rbuf belongs to a call or request now */
	size_t len;          /* octets received */
	uint32_t inv_handle; /* handle that its Send invalidated; 0: none */
	struct rr_prefix p;
	bool response, more, tpmore; /* flags of @p */
	bool is_answer;              /* version 1: a Reply or an error */
	bool of_call;        /* version 1: an answer to a call that waits for it */
	const uint8_t *body; /* after the prefix */
	size_t body_len;
	const uint8_t *payload; /* after the chunk lists */
	size_t payload_len;
	struct rr_lists lists;
};

/* Handles a message of version 2. [check: header type to sequence] */
void rr_recv_v2(struct rr_conn *, struct rr_msg *);

/* Posts the first Receives.  0 or -ENOMEM. */
int rr_recv_init(struct rr_conn *) RR_MUST_CHECK;
/* Frees every Receive buffer. */
void rr_recv_fini(struct rr_conn *);
/* Keeps the buffer of a message for the caller, and posts a spare in its place.
 * -ENOMEM: there is none. */
int rr_recv_keep(struct rr_conn *, struct rr_msg *) RR_MUST_CHECK;
/* Takes back a buffer that was kept or flushed; NULL is allowed. */
void rr_recv_put(struct rr_conn *, struct rr_rbuf *);
/* A Receive has failed or was flushed. */
void rr_recv_flushed(struct rr_conn *, struct rr_rbuf *, int status);
/*
 * Handles a message that breaks a rule.  A Call is answered by @e; a Reply ends its
 * call with @call_status, at once or after its last part.  The rest of its sequence is
 * discarded. [E2, M3, F6]
 */
void rr_recv_fault(struct rr_conn *, const struct rr_msg *, const struct rr_error *e,
                   int call_status);
/* Counts and traces a message that has no effect. */
void rr_recv_discard(struct rr_conn *, const struct rr_msg *, enum rr_discard_reason);

/* A sequence of which the rest is discarded. */
struct rr_discard {
	uint32_t xid;
	bool response;
	rr_time until; /* deadline of the call that waits for its last part;
	                  RR_TIME_NEVER: no call waits */
};

/* The continued message being received: one at most. [M1, M4] */
struct rr_cont {
	bool active;
	uint32_t xid, htype;
	bool response;
	struct rr_request_state *call; /* the request, if it is a Call; else NULL */
	struct rr_mbuf buf;            /* parts received, if it is not a Call */
	struct rr_discard discards[RR_MAX_DISCARDS];
	unsigned n_discards;
};

/* -- cont.c ---------------------------------------------------------------- */

void rr_cont_fini(struct rr_conn *);
/* Is this a part of a sequence that is being discarded?  Its final part ends that.
 * [M3] */
bool rr_cont_discards(struct rr_conn *, const struct rr_msg *);
/* Discards what follows of this sequence. */
void rr_cont_discard(struct rr_conn *, uint32_t xid, bool response);
/* Lets the call of a Reply that is being discarded wait for its last part, until
 * @until at most. */
void rr_cont_wait(struct rr_conn *, uint32_t xid, rr_time until);
/* An RDMA2_ERROR arrived for @xid: no further part of its Reply follows. [E12] */
void rr_cont_over(struct rr_conn *, uint32_t xid);
/* Ends calls that have waited long enough. */
void rr_cont_tick(struct rr_conn *);
rr_time rr_cont_deadline(const struct rr_conn *);
/* Drops the sequence in progress, with its request. */
void rr_cont_drop(struct rr_conn *);
/* Is this the sequence in progress? */
bool rr_cont_is(const struct rr_conn *, uint32_t xid, bool response);
/* Appends a part of @len octets to a sequence of @max octets at most.  Returns 0 or the
 * rdma_err. */
uint32_t rr_cont_append(struct rr_conn *, const struct rr_msg *, const uint8_t *p,
                        size_t len, size_t max);

#endif
