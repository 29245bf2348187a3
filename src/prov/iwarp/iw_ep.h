/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iWARP endpoint.  Only this folder and its tests include this header.
 *
 *   iw_ep.c     the table of operations: posts, registration, progress
 *   iw_setup.c  TCP connect and MPA frames
 *   iw_tx.c     sends work requests and Read Responses as FPDUs, by gathered writes
 *   iw_rx.c     receives octets, places data, adds completions
 *   iw_bounce.c the buffer for received octets
 *   iw_end.c    protocol errors, Terminate, orderly disconnect, flush
 *
 * Ownership: posted memory is lent to the provider until the completion.  A region's
 * memory remains the caller's; the provider looks up the STag each time before it
 * accesses that memory.
 */
#ifndef RR_PROV_IWARP_IW_EP_H
#define RR_PROV_IWARP_IW_EP_H

#include "prov/common/ep_common.h"
#include "prov/iwarp/ddp.h"
#include "prov/iwarp/fpdu.h"
#include "prov/iwarp/mpa.h"
#include "prov/iwarp/iw_opts.h"
#include "prov/iwarp/rdmap.h"
#include "prov/iwarp/sock.h"
#include "prov/iwarp/stag.h"

#define RR_IW_MAX_RECV   4096
#define RR_IW_MAX_SEND   4096
#define RR_IW_FIRST_RECV 8         /* posted Receives for which the queue is small */
#define RR_IW_QUIET_NS   RR_SEC(2) /* idle time after which empty queues are freed */
#define RR_IW_KICK_NS    RR_MS(5) /* delay before the first kick, quadrupled each time */
#define RR_IW_KICKS      5        /* maximum number of kicks; see kick_responder() */
#define RR_IW_PARTING    2 /* number of kicks after which a disconnect proceeds */

#define RR_IW_STATES(X)                                                                \
	X(CONNECT, "TCP connection on its way")                                        \
	X(ASKED, "initiator: Request sent, waiting for the Reply")                     \
	X(LISTEN, "responder: waiting for the Request")                                \
	X(READY, "full operation")                                                     \
	X(DRAIN, "ending: sending what is left")                                       \
	X(SHUT, "ending: our half is closed, waiting for the peer's")                  \
	X(DEAD, "everything flushed")

enum rr_iw_state {
#define X(name, meaning) RR_IW_##name,
	RR_IW_STATES(X)
#undef X
};

/* Sets of states. */
#define RR_IW_BIT(state) (1u << RR_IW_##state)
#define RR_IW_IN_SETUP   (RR_IW_BIT(CONNECT) | RR_IW_BIT(ASKED) | RR_IW_BIT(LISTEN))
#define RR_IW_IN_FRAMES  (RR_IW_BIT(ASKED) | RR_IW_BIT(LISTEN))
#define RR_IW_IN_USE     (RR_IW_IN_SETUP | RR_IW_BIT(READY))
#define RR_IW_IN_STREAM  (RR_IW_BIT(READY) | RR_IW_BIT(DRAIN) | RR_IW_BIT(SHUT))

/* A work request in the send queue. */
struct rr_iw_wr {
	enum rr_post_kind kind;
	uint32_t nsge;   /* number of elements in ep->sges */
	uint32_t sge;    /* sequence number of the first of these elements */
	uint32_t handle; /* peer's handle; Send: handle to invalidate, or 0 */
	uint32_t len;
	uint64_t offset;
	uint64_t token;
	uint64_t end; /* stream position after the last octet, if framed */
};

struct rr_iw_recv {
	struct rr_sge sge; /* base: NULL until a pooled Receive has memory */
	uint64_t token;
	uint32_t room; /* octets of memory at sge.base */
};

/* An RDMA Read that this endpoint has in progress. */
struct rr_iw_read {
	struct rr_sge sge;
	uint64_t token;
	uint64_t to;
	uint32_t stag;
	uint32_t done;
	bool rtr;     /* the Read is the RTR message, and was not posted */
	bool empty;   /* the Read has length zero, and is not sent */
	uint64_t end; /* if @empty, stream position whose sending completes the Read */
};

/* An RDMA Read by the peer.  @ddp is the received DDP header, in case a Terminate must
 * include it. */
struct rr_iw_resp {
	struct rr_read_request req;
	uint8_t ddp[RR_DDP_UNTAGGED];
};

#define RR_IW_BOUNCE   (72u << 10) /* octets in a bounce buffer */
#define RR_IW_TX_IOV   256
#define RR_IW_TX_STAGE 32768

/* Framed octets to be sent: the pieces @v, in sequence.  The stage contains headers,
 * trailers and small payload.  The endpoint borrows the buffer for its first unsent
 * octets, and gives it back when it has sent all pieces. */
struct rr_iw_txbuf {
	struct iovec v[RR_IW_TX_IOV];
	uint32_t stag[RR_IW_TX_IOV]; /* STag of each piece's region, or 0 */
	uint8_t stage[RR_IW_TX_STAGE];
};

struct rr_iw_copy { /* framed pieces of a region, copied by rr_iw_tx_detach() */
	struct rr_iw_copy *next;
	uint8_t data[];
};

enum rr_iw_source { RR_IW_NONE, RR_IW_WR, RR_IW_RESP };

/* Messages to be framed besides work requests and Read Responses. */
#define RR_IW_DUE_RTR  1u /* the RTR message, before all others */
#define RR_IW_DUE_TERM 2u /* a Terminate */
#define RR_IW_DUE_KICK 4u /* a kick, see kick_responder() */

struct rr_iw_tx {
	struct rr_iw_txbuf *buf;
	unsigned head, tail; /* range of unsent pieces in buf->v */
	uint32_t stage_used;
	bool blocked; /* unsent octets wait until the socket is writable */
	bool open; /* FPDUs may be sent; on the responder, once a valid FPDU has arrived */
	bool mute;             /* nothing more is framed */
	unsigned due;          /* set of RR_IW_DUE_* */
	uint64_t framed, sent; /* octets framed and sent so far: stream positions */
	struct rr_framer framer;
	uint32_t ulpdu_max;
	uint32_t msn[RR_QN_COUNT]; /* number of the next message in each queue */
	/* The message being segmented. */
	enum rr_iw_source source;
	uint32_t done;         /* the message's payload octets framed so far */
	uint32_t sge, sge_off; /* position in the work request's gather list */
	bool resp_turn;        /* a Read Response is next, if there is one */
	uint32_t term_len;
	uint8_t term_body[RR_TERM_MAX];
	struct rr_iw_copy *copies;
};

struct rr_iw_rx {
	/* The bounce buffer while octets are read; between reads, memory for the rest
	 * of an incomplete frame, or NULL. */
	uint8_t *buf;
	uint32_t cap, off, end;
	bool discarding; /* after an error: octets are read and dropped */
	bool fin;        /* the peer has closed its sending half */
	bool reset;      /* a write failed with ECONNRESET */
	bool more;       /* the limit of one call was reached; input may remain */
	uint32_t share;  /* number of frames that this call may still handle */
	uint32_t idle;   /* zero-length messages since the last Send */
	bool rtr_send;   /* a leading zero-length Send is the RTR message */
	uint32_t msn[RR_QN_COUNT]; /* number of the message expected next, by queue */
	uint32_t send_done;        /* octets of the current Send received so far */
	/* The segment whose payload is being received directly into its destination. */
	bool direct;
	struct rr_ddp ddp;
	uint8_t raw[RR_FPDU_LEN + RR_DDP_UNTAGGED];
	uint32_t len, left;
	uint32_t crc;
};

struct rr_iw_ep {
	struct rr_ep_common base;
	enum rr_iw_state state;
	bool initiator;
	int fd;
	rr_time quiet;   /* time at which empty queues are freed */
	rr_time kick_at; /* initiator: time of the next kick */
	unsigned kicks;  /* number of kicks planned or sent so far */
	bool finished;   /* in DEAD: the last completion was added */
	bool leaving;    /* initiator: disconnects when the Reply has arrived */
	uint64_t setup_received, setup_sent; /* octets, before the first FPDU */
	struct rr_iwarp_opts opts;
	struct rr_mpa_agreement agreed;
	struct rr_mpa_frame request; /* initiator: the Request as sent */

	uint32_t recvs;    /* Receives that the caller posts at most; 0: unknown */
	struct rr_ring sq; /* struct rr_iw_wr: the send queue */
	struct rr_ring
	        sges; /* struct rr_sge: gather lists of sq, if not framed at once */
	struct rr_ring rq;    /* struct rr_iw_recv: the receive queue */
	struct rr_ring reads; /* struct rr_iw_read: Reads by the caller, in progress */
	struct rr_ring resps; /* struct rr_iw_resp: Reads by the peer, to be answered */
	uint32_t sq_framed;   /* number of framed elements, at the head of sq */
	uint32_t sq_reads;    /* number of framed Reads, which are in @sq and @reads */
	uint32_t sge_first;   /* sequence number of the first element in sges */
	struct rr_stags stags;
	struct rr_iw_tx tx;
	struct rr_iw_rx rx;

	uint8_t *priv; /* our private data; NULL after it is sent */
	size_t priv_len;
	uint8_t *peer_priv;
	size_t peer_priv_len;
};

static inline bool rr_iw_is(const struct rr_iw_ep *ep, unsigned set)
{
	return set >> ep->state & 1;
}

static inline struct rr_iw_ep *rr_iw_of(const struct rr_ep *ep)
{
	return rr_container_of(ep, struct rr_iw_ep, base.ep);
}

/* ---- iw_ep.c ---- */
/* Returns true if the responder may not have noticed our RTR message yet.  In that case
 * we must not close the connection; see kick_responder(). */
bool rr_iw_may_sleep(const struct rr_iw_ep *ep);
/* Reserves space for the completions of all posted operations but Receives, and of @n
 * more. */
RR_MUST_CHECK int rr_iw_reserve(struct rr_iw_ep *ep, uint32_t n);
/* Receives and sends as much as possible, then checks the deadlines. */
void rr_iw_run(struct rr_iw_ep *ep, rr_time now);

/* ---- iw_setup.c ---- */
/* In state CONNECT, sends the MPA Request if TCP has connected. */
void rr_iw_setup_connected(struct rr_iw_ep *ep);
/* In states ASKED and LISTEN, reads the peer's MPA frame.  Returns false if the frame
 * is still incomplete. */
bool rr_iw_setup_frame(struct rr_iw_ep *ep);

/* ---- iw_tx.c ---- */
/* Frames and writes as much as possible.  Returns 0, or -EAGAIN if octets remain. */
int rr_iw_tx_run(struct rr_iw_ep *ep);
/* Returns true if there are framed octets to send, or messages to frame. */
bool rr_iw_tx_busy(const struct rr_iw_ep *ep);
/* Frames a work request that was just appended to ep->sq, if that is possible in one
 * segment and nothing must be sent before.  The gather list is @sge, with @n elements.
 * Returns false if the work request must wait in the queue. */
bool rr_iw_tx_posted(struct rr_iw_ep *ep, struct rr_iw_wr *wr, const struct rr_sge *sge,
                     unsigned n);
/* Queues octets without FPDU framing, for MPA frames. */
RR_MUST_CHECK int rr_iw_tx_raw(struct rr_iw_ep *ep, const void *p, size_t len);
/* Sets up the FPDU framing after the exchange of MPA frames. */
void rr_iw_tx_start(struct rr_iw_ep *ep);
/* Copies the framed pieces in region @stag (not 0), so that sending them no longer
 * reads the region.  Returns 0 or -ENOMEM. */
RR_MUST_CHECK int rr_iw_tx_detach(struct rr_iw_ep *ep, uint32_t stag);
/* Stores in @ret the memory for an RDMA Read by the peer, or NULL if its length is
 * zero.  Returns RR_TERM_COUNT if the Read is allowed, otherwise the error. */
enum rr_term_error rr_iw_read_source(const struct rr_iw_ep *ep,
                                     const struct rr_read_request *req, uint8_t **ret);
/* Drops the Read Responses, except for segments already framed. */
void rr_iw_tx_no_responses(struct rr_iw_ep *ep);
/* Completes zero-length Reads at the head of the queue, if all earlier posts have been
 * sent. */
void rr_iw_empty_reads(struct rr_iw_ep *ep);
/* Drops all unsent octets.  Nothing is sent afterwards. */
void rr_iw_tx_drop(struct rr_iw_ep *ep);

/* ---- iw_rx.c ---- */
/* Reads octets from the socket and handles them, up to the limits of one call. */
void rr_iw_rx_run(struct rr_iw_ep *ep);

/* ---- iw_bounce.c ---- */
/* Makes rx.buf a bounce buffer, which begins with the octets received but not handled.
 * Returns 0 or -ENOMEM. */
RR_MUST_CHECK int rr_iw_bounce_borrow(struct rr_iw_ep *ep);
/* Gives back the bounce buffer.  A short rest of a frame is kept in a piece of its size;
 * if there is no memory for that, or if the rest is long, the endpoint keeps the
 * buffer. */
void rr_iw_bounce_return(struct rr_iw_ep *ep);
/* Gives back the memory for received octets, which are not needed any more. */
void rr_iw_rx_drop(struct rr_iw_ep *ep);

/* ---- iw_end.c ---- */
/* Ends the connection with a Terminate because the peer violated the protocol.  @ddp is
 * the raw DDP header of the segment, or NULL; @seg_len is the length of the segment;
 * @req is the Read Request, or NULL. */
void rr_iw_fault(struct rr_iw_ep *ep, enum rr_term_error e, const uint8_t *ddp,
                 size_t ddp_len, uint32_t seg_len, const uint8_t *req);
/* Starts an orderly disconnect. */
void rr_iw_drain(struct rr_iw_ep *ep);
/* Advances an orderly disconnect (states DRAIN and SHUT) as far as possible. */
void rr_iw_end_step(struct rr_iw_ep *ep);
/* Flushes all posts.  The Receives and the last completion follow when completions are
 * polled. */
void rr_iw_dead(struct rr_iw_ep *ep);
/* Ends the connection for lack of memory. */
void rr_iw_no_memory(struct rr_iw_ep *ep);
/* Ends the peer's access to a region, and removes the region.  Returns 0 or -ENOMEM. */
RR_MUST_CHECK int rr_iw_revoke(struct rr_iw_ep *ep, struct rr_stag *s, bool remote);

#endif
