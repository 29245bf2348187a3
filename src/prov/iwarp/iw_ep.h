/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoint, shared by the files of this folder and by nobody else.
 *
 *   iw_ep.c     the table of operations: posts, registration, polling
 *   iw_setup.c  TCP connect, MPA frames, timers of both
 *   iw_tx.c     work requests and Read Responses become FPDUs in one gathered write
 *   iw_rx.c     octets become placed data and completions
 *   iw_end.c    faults, Terminate, orderly end, flush
 *
 * Who owns what: posted memory is ours until its completion.  A region belongs
 * to its owner and is looked up by STag every time before it is touched.
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
#define RR_IW_QUIET_NS RR_SEC(2) /* then an idle connection drops its buffers */
#define RR_IW_KICK_NS  RR_MS(5)  /* then a silent responder gets a kick */
#define RR_IW_KICKS    5         /* each four times as long after the one before */

#define RR_IW_PARTING 2 /* so many before we leave a server that may sleep */

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
#define RR_IW_IN_END     (RR_IW_BIT(DRAIN) | RR_IW_BIT(SHUT))

/* A work request of the send queue; its gather list is in ep->sges. */
struct rr_iw_wr {
	enum rr_post_kind kind;
	uint32_t nsge;
	uint32_t sge;    /* running number of the first piece */
	uint32_t handle; /* Write, Read: the peer's; Send: to invalidate, or 0 */
	uint32_t len;
	uint64_t offset;
	uint64_t token;
	uint64_t end; /* stream position after it, once it is framed */
};

struct rr_iw_recv {
	struct rr_sge sge;
	uint64_t token;
};

/* An RDMA Read of ours whose Request is framed. */
struct rr_iw_read {
	struct rr_sge sge;
	uint64_t token;
	uint64_t to;
	uint32_t stag;
	uint32_t done;
	bool rtr;     /* nobody's: the RTR message */
	bool empty;   /* not sent, since there is nothing to fetch ... */
	uint64_t end; /* ... and complete behind what was posted before */
};

/* An RDMA Read of the peer; the header as it came, for a Terminate. */
struct rr_iw_resp {
	struct rr_read_request req;
	uint8_t ddp[RR_DDP_UNTAGGED];
};

#define RR_IW_TX_IOV   256
#define RR_IW_TX_STAGE 32768

/* What goes out next.  The stage holds headers, trailers and small payload;
 * pieces are sent in order and all of it is reused when the last is out. */
struct rr_iw_txbuf {
	struct iovec v[RR_IW_TX_IOV];
	uint32_t stag[RR_IW_TX_IOV]; /* region that a piece lies in, or 0 */
	uint8_t stage[RR_IW_TX_STAGE];
};

struct rr_iw_copy { /* pieces of a region that was invalidated on the way out */
	struct rr_iw_copy *next;
	uint8_t data[];
};

enum rr_iw_source { RR_IW_NONE, RR_IW_WR, RR_IW_RESP };

struct rr_iw_tx {
	struct rr_iw_txbuf *buf;
	unsigned head, tail; /* pieces of buf->v */
	uint32_t stage_used;
	bool blocked; /* the socket took less than it was given */
	bool open;    /* the other side may be spoken to (responder: it spoke) */
	bool rtr;     /* the RTR message has to go first */
	bool kick;    /* an empty Write has to go: see kick_responder() in iw_ep.c */
	bool term;    /* a Terminate waits to be framed */
	bool mute;    /* nothing more is framed */
	uint64_t framed, sent; /* positions in the stream */
	struct rr_framer framer;
	uint32_t ulpdu_max;
	uint32_t msn[RR_QN_COUNT]; /* of the next message */
	/* the message being segmented */
	enum rr_iw_source source;
	uint32_t done;         /* octets framed */
	uint32_t sge, sge_off; /* gather position of a work request */
	bool resp_turn;        /* whose message is next, if both have one */
	uint32_t term_len;
	uint8_t term_body[RR_TERM_MAX];
	struct rr_iw_copy *copies;
};

struct rr_iw_rx {
	uint8_t *buf; /* bounce buffer */
	uint32_t cap, off, end;
	bool discarding; /* after an error: read and drop */
	bool fin;
	bool reset;     /* a write has failed for that reason */
	bool more;      /* the call's share was used up: there may be more to do */
	uint32_t share; /* frames that this call still handles */
	uint32_t idle;  /* messages without any content since the last Send */
	bool rtr_send;  /* a leading empty Send is the RTR message */
	uint32_t msn[RR_QN_COUNT]; /* expected next */
	uint32_t send_done;        /* octets of the current Send */
	/* a segment being received straight into place */
	bool direct;
	struct rr_ddp ddp;
	uint8_t raw[RR_FPDU_LEN + RR_DDP_UNTAGGED];
	uint8_t *dst;
	uint32_t len, left;
	uint32_t crc;
};

struct rr_iw_ep {
	struct rr_ep_common base;
	enum rr_iw_state state;
	bool initiator;
	bool shut_sent;
	int fd;
	rr_time quiet;   /* when buffers are dropped */
	rr_time kick_at; /* initiator, until the responder has said a word */
	unsigned kicks;
	bool leaving; /* initiator: ends as soon as it has the Reply */
	uint64_t setup_received, setup_sent; /* octets before the first FPDU */
	struct rr_iwarp_opts opts;
	struct rr_mpa_deal deal;
	struct rr_mpa_frame request; /* initiator: as sent */

	struct rr_ring sq;    /* struct rr_iw_wr; the first sq_framed are framed */
	struct rr_ring sges;  /* struct rr_sge */
	struct rr_ring rq;    /* struct rr_iw_recv */
	struct rr_ring reads; /* struct rr_iw_read */
	struct rr_ring resps; /* struct rr_iw_resp */
	uint32_t sq_framed;
	uint32_t sq_reads;  /* of them Reads, which are in reads as well */
	uint32_t sge_first; /* running number of the first in sges */
	struct rr_stags stags;
	struct rr_iw_tx tx;
	struct rr_iw_rx rx;

	uint8_t *priv; /* ours, until it is sent */
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
/* Initiator: the peer may still sleep on our RTR message; see kick_responder(). */
bool rr_iw_may_sleep(const struct rr_iw_ep *ep);
/* Moves sending and receiving on, then times out. */
void rr_iw_run(struct rr_iw_ep *ep, rr_time now);

/* ---- iw_setup.c ---- */
/* CONNECT: has TCP connected? */
void rr_iw_setup_connected(struct rr_iw_ep *ep);
/* ASKED, LISTEN: looks at the octets received.  False: more are needed. */
bool rr_iw_setup_frame(struct rr_iw_ep *ep);

/* ---- iw_tx.c ---- */
/* Frames and writes what can go.  -EAGAIN: some is left for later. */
int rr_iw_tx_run(struct rr_iw_ep *ep);
/* Something is framed and unsent, or could be framed now or after a while. */
bool rr_iw_tx_busy(const struct rr_iw_ep *ep);
/* Queues octets outside the framing (MPA frames). */
RR_MUST_CHECK int rr_iw_tx_raw(struct rr_iw_ep *ep, const void *p, size_t len);
/* Sets the framing up, after the MPA frames are exchanged. */
void rr_iw_tx_start(struct rr_iw_ep *ep);
/* No framed octet refers to @stag after this (never 0).  -ENOMEM. */
RR_MUST_CHECK int rr_iw_tx_detach(struct rr_iw_ep *ep, uint32_t stag);
/* Where an RDMA Read of the peer reads; RR_TERM_COUNT if it may. */
enum rr_term_error rr_iw_read_source(const struct rr_iw_ep *ep,
                                     const struct rr_read_request *req, uint8_t **ret);
/* The peer's Reads will not be answered. */
void rr_iw_tx_no_responses(struct rr_iw_ep *ep);
/* Completes what asks for nothing and whose turn it is. */
void rr_iw_empty_reads(struct rr_iw_ep *ep);
/* Forgets all that is not written, and sends no more. */
void rr_iw_tx_drop(struct rr_iw_ep *ep);
/* Frees what is free to go. */
void rr_iw_tx_quiet(struct rr_iw_ep *ep);

/* ---- iw_rx.c ---- */
/* Reads and handles what has come, up to a fair share. */
void rr_iw_rx_run(struct rr_iw_ep *ep);
void rr_iw_rx_quiet(struct rr_iw_ep *ep);

/* ---- iw_end.c ---- */
/* The peer misbehaved: Terminate, orderly close.  @ddp is the raw header of the
 * segment (of @seg_len octets in all), @req of the Read Request, or NULL. */
void rr_iw_fault(struct rr_iw_ep *ep, enum rr_term_error e, const uint8_t *ddp,
                 size_t ddp_len, uint32_t seg_len, const uint8_t *req);
/* Begins the orderly end. */
void rr_iw_drain(struct rr_iw_ep *ep);
/* DRAIN, SHUT: goes on as far as possible. */
void rr_iw_end_step(struct rr_iw_ep *ep);
/* Flushes everything and reports it. */
void rr_iw_dead(struct rr_iw_ep *ep);
/* Ends the peer's access to a region, wherever it is in use. */
RR_MUST_CHECK int rr_iw_revoke(struct rr_iw_ep *ep, struct rr_stag *s, bool remote);

#endif
