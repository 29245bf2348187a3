/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages received: Receive buffers, checks, continued messages. */
#ifndef RR_CONN_RECV_H
#define RR_CONN_RECV_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/mbuf.h"

enum rr_discard_reason {
	RR_DISCARD_SHORT = 1, /* fewer than 20 octets */
	RR_DISCARD_VERSION,
	RR_DISCARD_FAULT,    /* answered by an error, or ends a call */
	RR_DISCARD_SEQUENCE, /* its XID is being discarded [M3] */
	RR_DISCARD_NO_CALL,  /* a Reply or error for no call of ours */
	RR_DISCARD_ERROR,    /* an RDMA2_ERROR that says nothing */
};

struct rr_rbuf {
	struct rr_op op;
	struct rr_list all; /* conn.rbufs */
	uint8_t *data;
	size_t len;
	const uint8_t *part; /* within @data, if it is held for a continued Call */
	size_t part_len;
};

/* A received message, as far as it has been checked. */
struct rr_msg {
	struct rr_rbuf *rbuf;
	bool kept; /* rbuf has a new owner */
	size_t len;
	uint32_t inv_handle; /* what its Send invalidated */
	struct rr_prefix p;
	bool response, more, tpmore;
	bool is_answer, of_call; /* version 1: to a Call of ours, that is awaited */
	const uint8_t *body;     /* after the prefix */
	size_t body_len;
	const uint8_t *payload;
	size_t payload_len;
	struct rr_lists lists;
};

/* What version 2 checks. [check: header type to sequence] */
void rr_recv_v2(struct rr_conn *, struct rr_msg *);

int rr_recv_init(struct rr_conn *) RR_MUST_CHECK;
void rr_recv_fini(struct rr_conn *);
/* Keeps a message's buffer: a spare is posted in its place.  -ENOMEM: none. */
int rr_recv_keep(struct rr_conn *, struct rr_msg *) RR_MUST_CHECK;
/* A kept or flushed buffer comes back. */
void rr_recv_put(struct rr_conn *, struct rr_rbuf *);
void rr_recv_flushed(struct rr_conn *, struct rr_rbuf *, int status);
/*
 * A message breaks a rule: a Call is answered by @e, a Reply ends its call
 * with @call_status, at once or after its last part.  What follows of its sequence
 * is discarded. [E2, M3, F6]
 */
void rr_recv_fault(struct rr_conn *, const struct rr_msg *, const struct rr_error *e,
                   int call_status);
void rr_recv_discard(struct rr_conn *, const struct rr_msg *, enum rr_discard_reason);

struct rr_discard {
	uint32_t xid;
	bool response;
	rr_time until; /* a call waits for its end; RR_TIME_NEVER: none does */
};

/* The continued message being received: one at most, whatever it is. [M1, M4] */
struct rr_cont {
	bool active;
	uint32_t xid, htype;
	bool response;
	struct rr_request_state *call; /* of a Call, or */
	struct rr_mbuf buf;            /* what has come of anything else */
	struct rr_discard discards[RR_MAX_DISCARDS];
	unsigned n_discards;
};

/* -- cont.c ---------------------------------------------------------------- */

void rr_cont_fini(struct rr_conn *);
/* Is the message's XID being discarded?  Ends that with the final part. [M3] */
bool rr_cont_discards(struct rr_conn *, const struct rr_msg *);
void rr_cont_discard(struct rr_conn *, uint32_t xid, bool response);
/* The call of a Reply being discarded waits until then. */
void rr_cont_wait(struct rr_conn *, uint32_t xid, rr_time until);
/* An RDMA2_ERROR came for @xid: no further part of its Reply follows. [E12] */
void rr_cont_over(struct rr_conn *, uint32_t xid);
void rr_cont_tick(struct rr_conn *);
rr_time rr_cont_deadline(const struct rr_conn *);
/* Drops the sequence in progress. */
void rr_cont_drop(struct rr_conn *);
bool rr_cont_is(const struct rr_conn *, uint32_t xid, bool response);
/* Appends @len octets; 0, or the rdma_err. */
uint32_t rr_cont_append(struct rr_conn *, const struct rr_msg *, const uint8_t *p,
                        size_t len, size_t max);

#endif
