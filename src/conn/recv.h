/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side: Receive buffers, checks of received messages, and continued
 * messages. */
#ifndef RR_CONN_RECV_H
#define RR_CONN_RECV_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/family.h"
#include "conn/mbuf.h"

enum rr_discard_reason {
	RR_DISCARD_SHORT = 1, /* shorter than any message of its version */
	RR_DISCARD_VERSION,   /* in a version other than the connection's */
	RR_DISCARD_FAULT,     /* breaks a rule: answered with an error, or ends a
	                       * call */
	RR_DISCARD_SEQUENCE,  /* part of a sequence that is being discarded [M3] */
	RR_DISCARD_NO_CALL,   /* a Reply or error for which none of our calls waits */
	RR_DISCARD_ERROR,     /* an RDMA2_ERROR that is malformed or unknown */
};

/* Memory of a Receive buffer. */
struct rr_rblock {
	uint8_t *p;
	size_t bytes;
};

struct rr_rbuf {
	struct rr_op op;
	struct rr_list all;     /* conn.rbufs */
	uint8_t *data;          /* NULL: a pooled Receive without memory */
	struct rr_rblock block; /* allocated memory that @data points into */
	const uint8_t *part; /* payload in @data of one part of a Call, kept until there
	                      * is memory for the Call */
	size_t part_len;     /* octets at @part */
};

/* A received message.  Fields are set as the checks proceed. */
struct rr_msg {
	struct rr_rbuf *rbuf;
	bool kept;           /* ownership of @rbuf has passed to a call or request */
	size_t len;          /* octets received */
	uint32_t inv_handle; /* handle invalidated by the peer's Send; 0 = none */
	struct rr_prefix p;  /* @htype and @xid as translated by a feature */
	const struct rr_family *family;
	bool response, more, tpmore; /* flags in @p, or their meaning in @family */
	bool is_answer;              /* version 1: a Reply or an error */
	bool of_call;        /* version 1: the message answers an outstanding call */
	const uint8_t *body; /* octets after the prefix */
	size_t body_len;
	const uint8_t *payload; /* octets after the chunk lists */
	size_t payload_len;
	uint32_t rest; /* payload octets in later parts, if @family counts them */
	struct rr_lists lists;
};

/* Handles a version 2 message: makes the checks from "header type" to "sequence" in
 * docs/decisions.md, and processes the message. */
void rr_recv_v2(struct rr_conn *, struct rr_msg *);

/* Makes the remaining checks of an RPC message, whose chunk lists are decoded, and
 * passes the message to the Requester or Responder. [check: header body to sequence] */
void rr_recv_rpc(struct rr_conn *, struct rr_msg *);
/* Allocates and posts the first Receives.  Returns 0 or -ENOMEM. */
int rr_recv_init(struct rr_conn *) RR_MUST_CHECK;
/* Frees every Receive buffer. */
void rr_recv_fini(struct rr_conn *);
/* Transfers the buffer of a message to the caller and posts a spare Receive in its
 * place.  Returns 0, or -ENOMEM if there is no spare. */
int rr_recv_keep(struct rr_conn *, struct rr_msg *) RR_MUST_CHECK;
/* Releases a buffer that was kept or flushed.  The pointer may be NULL. */
void rr_recv_put(struct rr_conn *, struct rr_rbuf *);
/* Handles a Receive that has failed or was flushed. */
void rr_recv_flushed(struct rr_conn *, struct rr_rbuf *, int status);
/*
 * Handles a message that breaks a rule.  A Call is answered with error @e.  A Reply
 * ends its call with @call_status, at once or after the Reply's last part.  The
 * remaining parts of the message's sequence are discarded. [E2, M3, F6]
 */
void rr_recv_fault(struct rr_conn *, const struct rr_msg *, const struct rr_error *e,
                   int call_status);
/* Counts and traces a discarded message. */
void rr_recv_discard(struct rr_conn *, const struct rr_msg *, enum rr_discard_reason);

/* A sequence whose remaining parts are discarded. */
struct rr_discard {
	uint32_t xid;
	bool response;
	rr_time until; /* deadline of the call that waits for the sequence's last part;
	                * RR_TIME_NEVER = no call waits */
};

/* The continued message being received.  There is at most one. [M1, M4] */
struct rr_cont {
	bool active;
	uint32_t xid, htype;
	const struct rr_family *family;
	uint64_t rest; /* payload octets to come, if @family counts them */
	bool response;
	struct rr_request_state *call; /* the request, if the message is a Call;
	                                * otherwise NULL */
	struct rr_mbuf buf;            /* parts received, if the message is not a
	                                * Call */
	struct rr_discard discards[RR_MAX_DISCARDS];
	unsigned n_discards;
};

/* -- cont.c ---------------------------------------------------------------- */

void rr_cont_fini(struct rr_conn *);
/* Returns true if the message is part of a sequence that is being discarded.  If the
 * message is the final part, the sequence is then forgotten. [M3] */
bool rr_cont_discards(struct rr_conn *, const struct rr_msg *);
/* Discards the remaining parts of the sequence. */
void rr_cont_discard(struct rr_conn *, uint32_t xid, bool response);
/* Makes call @xid wait for the last part of its Reply, with deadline @until.  The parts
 * of that Reply are being discarded. */
void rr_cont_wait(struct rr_conn *, uint32_t xid, rr_time until);
/* Handles an RDMA2_ERROR for call @xid: no further part of the Reply to that call will
 * arrive. [E12] */
void rr_cont_over(struct rr_conn *, uint32_t xid);
/* Ends calls whose wait for the last part of a discarded Reply has timed out. */
void rr_cont_tick(struct rr_conn *);
rr_time rr_cont_deadline(const struct rr_conn *);
/* Discards the received parts of the sequence in progress, and frees its request if
 * there is one. */
void rr_cont_drop(struct rr_conn *);
/* Begins a sequence with this part. */
void rr_cont_begin(struct rr_conn *, const struct rr_msg *);
/* Checks the count of octets to come in a part of a message of at most @max octets,
 * before memory is allocated for the part.  Returns 0 or the rdma_err code.
 * [ext §6.5] */
uint32_t rr_cont_check_rest(const struct rr_conn *, const struct rr_msg *,
                            uint64_t max);
/* Appends @len octets to the sequence in progress, which may have at most @max octets.
 * Starts a sequence if there is none.  Returns 0 or the rdma_err code. */
uint32_t rr_cont_append(struct rr_conn *, const struct rr_msg *, const uint8_t *p,
                        size_t len, size_t max);

#endif
