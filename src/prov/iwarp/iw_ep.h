/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoint, for the files of this folder only.
 *
 *   iw_ep.c     the table of operations: posts, registration, progress
 *   iw_setup.c  TCP connect and MPA frames
 *   iw_tx.c     work requests and Read Responses become FPDUs in one gathered write
 *   iw_rx.c     octets become placed data and completions
 *   iw_end.c    faults, Terminate, orderly end, flush
 *
 * Ownership: posted memory is lent to the provider until the completion.  The memory
 * of a region stays the caller's; the provider looks the STag up each time before it
 * touches that memory.
 */
#ifndef RR_PROV_IWARP_EP_H
#define RR_PROV_IWARP_EP_H

#include "prov/common/ep_common.h"
#include "prov/iwarp/ddp.h"
#include "prov/iwarp/fpdu.h"
#include "prov/iwarp/mpa.h"
#include "prov/iwarp/iw_opts.h"
#include "prov/iwarp/rdmap.h"
#include "prov/iwarp/sock.h"
#include "prov/iwarp/stag.h"

#define RR_IW_MAX_RECV 4096
#define RR_IW_MAX_SEND 4096
#define RR_IW_QUIET_NS RR_SEC(2) /* idle time after which the buffers are freed */
#define RR_IW_KICK_NS  RR_MS(5)  /* silence before the first kick; later ones: x 4 */
#define RR_IW_KICKS    5         /* most kicks of a silent responder ... */
#define RR_IW_PARTING  2         /* ... and before an orderly end leaves it */

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

/* A work request of the send queue; its gather list is in ep->sges. */
struct rr_iw_wr {
	enum rr_post_kind kind;
	uint32_t nsge;
	uint32_t sge;    /* running number of its first piece */
	uint32_t handle; /* Write, Read: the peer's; Send: one to invalidate, or 0 */
	uint32_t len;
	uint64_t offset;
	uint64_t token;
	uint64_t end; /* stream position behind it, once it is framed */
};

struct rr_iw_recv {
	struct rr_sge sge;
	uint64_t token;
};

/* An RDMA Read of the caller whose Request is framed. */
struct rr_iw_read {
	struct rr_sge sge;
	uint64_t token;
	uint64_t to;
	uint32_t stag;
	uint32_t done;
	bool rtr;     /* the RTR message: not posted by the caller */
	bool empty;   /* zero-length: not sent ... */
	uint64_t end; /* ... and complete once this stream position is written */
};

/* An RDMA Read of the peer, with its DDP header as received, for a Terminate. */
struct rr_iw_resp {
	struct rr_read_request req;
	uint8_t ddp[RR_DDP_UNTAGGED];
};

#define RR_IW_TX_IOV   256
#define RR_IW_TX_STAGE 32768

/* Framed octets to be sent.  The stage holds headers, trailers and small payload.
 * Pieces are sent in order; all of the stage is reused when the last piece is sent. */
struct rr_iw_txbuf {
	struct iovec v[RR_IW_TX_IOV];
	uint32_t stag[RR_IW_TX_IOV]; /* the region that a piece lies in, or 0 */
	uint8_t stage[RR_IW_TX_STAGE];
};

struct rr_iw_copy { /* framed pieces of a region that was invalidated meanwhile */
	struct rr_iw_copy *next;
	uint8_t data[];
};

enum rr_iw_source { RR_IW_NONE, RR_IW_WR, RR_IW_RESP };

struct rr_iw_tx {
	struct rr_iw_txbuf *buf;
	unsigned head, tail; /* pieces of buf->v */
	uint32_t stage_used;
	bool blocked; /* the socket took less than it was given */
	bool open;    /* FPDUs may be sent; responder: one was received */
	bool rtr;     /* the RTR message is to be framed first */
	bool kick;    /* a zero-length Write is to be framed: see kick_responder() */
	bool term;    /* a Terminate is to be framed */
	bool mute;    /* nothing more is framed */
	uint64_t framed, sent; /* stream positions */
	struct rr_framer framer;
	uint32_t ulpdu_max;
	uint32_t msn[RR_QN_COUNT]; /* of the next message */
	/* The message being segmented. */
	enum rr_iw_source source;
	uint32_t done;         /* octets framed */
	uint32_t sge, sge_off; /* gather position of a work request */
	bool resp_turn; /* the next message is a Read Response, if there is one */
	uint32_t term_len;
	uint8_t term_body[RR_TERM_MAX];
	struct rr_iw_copy *copies;
};

struct rr_iw_rx {
	uint8_t *buf; /* bounce buffer */
	uint32_t cap, off, end;
	bool discarding; /* after an error: octets are read and dropped */
	bool fin;
	bool reset;     /* a write failed with ECONNRESET */
	bool more;      /* the call's share is used up: there may be more to do */
	uint32_t share; /* frames that this call may still handle */
	uint32_t idle;  /* zero-length messages since the last Send */
	bool rtr_send;  /* a leading zero-length Send is the RTR message */
	uint32_t msn[RR_QN_COUNT]; /* expected next */
	uint32_t send_done;        /* octets of the current Send */
	/* The segment being received straight into its place. */
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
	rr_time quiet;   /* when the buffers are freed */
	rr_time kick_at; /* initiator: when the next kick is due */
	unsigned kicks;
	bool leaving; /* initiator: ends as soon as the Reply is received */
	uint64_t setup_received, setup_sent; /* octets before the first FPDU */
	struct rr_iwarp_opts opts;
	struct rr_mpa_agreement agreed;
	struct rr_mpa_frame request; /* initiator: as sent */

	struct rr_ring sq;    /* struct rr_iw_wr; the first sq_framed are framed */
	struct rr_ring sges;  /* struct rr_sge */
	struct rr_ring rq;    /* struct rr_iw_recv */
	struct rr_ring reads; /* struct rr_iw_read */
	struct rr_ring resps; /* struct rr_iw_resp */
	uint32_t sq_framed;
	uint32_t sq_reads;  /* Reads among the framed; they are in reads as well */
	uint32_t sge_first; /* running number of the first in sges */
	struct rr_stags stags;
	struct rr_iw_tx tx;
	struct rr_iw_rx rx;

	uint8_t *priv; /* our private data, until it is sent */
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
/* Returns whether the responder may still sleep on our RTR message; see
 * kick_responder(). */
bool rr_iw_may_sleep(const struct rr_iw_ep *ep);
/* Receives and sends, then checks the deadline. */
void rr_iw_run(struct rr_iw_ep *ep, rr_time now);

/* ---- iw_setup.c ---- */
/* CONNECT: sends the MPA Request if TCP has connected. */
void rr_iw_setup_connected(struct rr_iw_ep *ep);
/* ASKED, LISTEN: reads the peer's MPA frame.  Returns false if octets are missing. */
bool rr_iw_setup_frame(struct rr_iw_ep *ep);

/* ---- iw_tx.c ---- */
/* Frames and writes as much as possible.  Returns -EAGAIN if some is left. */
int rr_iw_tx_run(struct rr_iw_ep *ep);
/* Returns whether something is framed and unsent, or can be framed now or later. */
bool rr_iw_tx_busy(const struct rr_iw_ep *ep);
/* Queues octets outside the framing (MPA frames). */
RR_MUST_CHECK int rr_iw_tx_raw(struct rr_iw_ep *ep, const void *p, size_t len);
/* Sets the framing up, once the MPA frames are exchanged. */
void rr_iw_tx_start(struct rr_iw_ep *ep);
/* Copies what is framed and lies in the region @stag (not 0), so that sending it no
 * longer reads the region.  Returns 0 or -ENOMEM. */
RR_MUST_CHECK int rr_iw_tx_detach(struct rr_iw_ep *ep, uint32_t stag);
/* Finds the memory that an RDMA Read of the peer reads (NULL: zero-length).  Returns
 * RR_TERM_COUNT, or the error if the peer may not. */
enum rr_term_error rr_iw_read_source(const struct rr_iw_ep *ep,
                                     const struct rr_read_request *req, uint8_t **ret);
/* Drops the Read Responses that are not framed. */
void rr_iw_tx_no_responses(struct rr_iw_ep *ep);
/* Completes zero-length Reads whose turn it is. */
void rr_iw_empty_reads(struct rr_iw_ep *ep);
/* Drops all that is not written; nothing is sent from here on. */
void rr_iw_tx_drop(struct rr_iw_ep *ep);
/* Frees the buffer, unless it holds something. */
void rr_iw_tx_quiet(struct rr_iw_ep *ep);

/* ---- iw_rx.c ---- */
/* Reads from the socket and handles what it reads, up to a fair share. */
void rr_iw_rx_run(struct rr_iw_ep *ep);
/* Frees the buffer, unless it holds something. */
void rr_iw_rx_quiet(struct rr_iw_ep *ep);

/* ---- iw_end.c ---- */
/* Ends the connection because the peer misbehaved, with a Terminate.  @ddp is the raw
 * DDP header of the segment, whose length is @seg_len; @req is the header of the Read
 * Request, or NULL. */
void rr_iw_fault(struct rr_iw_ep *ep, enum rr_term_error e, const uint8_t *ddp,
                 size_t ddp_len, uint32_t seg_len, const uint8_t *req);
/* Begins the orderly end. */
void rr_iw_drain(struct rr_iw_ep *ep);
/* DRAIN, SHUT: takes the next steps of the end, as far as possible. */
void rr_iw_end_step(struct rr_iw_ep *ep);
/* Flushes all posts and adds the last completion. */
void rr_iw_dead(struct rr_iw_ep *ep);
/* Ends the peer's access to a region, and removes the region.  Returns 0 or -ENOMEM. */
RR_MUST_CHECK int rr_iw_revoke(struct rr_iw_ep *ep, struct rr_stag *s, bool remote);

#endif
