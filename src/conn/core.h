/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection's inside, shared by its sub-machines.
 *
 *   conn.c     life: creation, opening, loss, closing, timers, facts
 *   action.c   the queue of actions and what completions mean
 *   version_ops.c  what differs between the versions of the protocol
 *   version1.c       version 1
 *   credit.c   credits
 *   credit1.c  credits of version 1
 *   props.c    RDMA2_CONNPROP
 *   auth.c     host authentication within it
 *   extensions.c      what extensions add
 *   recv.c     Receive buffers; the order of checks on receipt
 *   cont.c     reassembly of continued messages, XIDs being discarded
 *   collect.c  Responder: Calls that come in parts
 *   xmit.c     one message to send: header, gathered pieces
 *   tx.c       what is sent next
 *   call_chunks.c  chunks of a Call: regions, chunk lists, invalidation
 *   requester.c     Requester: calls from queue to result
 *   answer.c   Requester: Replies and errors received
 *   recover.c  Requester: another attempt after an error
 *   responder.c  Responder: Calls received, pulled, handed over
 *   reply.c    Responder: replies
 *
 * An rr_op is whatever becomes an action: it sits inside the object it is
 * about (a Receive buffer, a message, a region, a call) and its address is
 * the token.  It is on the queue, or drawn; a drawn post is owed a completion.
 */
#ifndef RR_CONN_CORE_H
#define RR_CONN_CORE_H

#include "conn/conn.h"
#include "conn/credit.h"
#include "conn/credit1.h"
#include "conn/version_ops.h"
#include "conn/slab.h"

#include <string.h>

/* -- states ----------------------------------------------------------------- */

#define RR_CONN_STATES(X) /* name, meaning */                                          \
	X(NEW, "created; Receives are wanted, the provider connects")                  \
	X(PROPS, "connected; properties are exchanged, Calls wait")                    \
	X(READY, "calls and replies flow")                                             \
	X(CLOSING, "DISCONNECT asked for; nothing is sent, waits to be lost")          \
	X(LOST, "connection gone; users still owe answers")                            \
	X(CLOSED, "terminal: CLOSED was drawn")

#define RR_CALL_STATES(X)                                                              \
	X(QUEUED, "waits for its turn to send")                                        \
	X(REGISTERING, "its regions are being registered")                             \
	X(PREPARED, "waits for a credit")                                              \
	X(SENDING, "part of a continued Call has gone out")                            \
	X(WAITING, "sent; the Reply is awaited")                                       \
	X(DRAINING, "result known; the rest of its Reply is awaited")                  \
	X(ENDING, "result known; Sends and invalidations are owed")                    \
	X(DONE, "CALL_DONE queued or drawn; a Reply may be lent")

#define RR_REQUEST_STATES(X)                                                           \
	X(TURN, "waits until fewer are being served")                                  \
	X(ROOM, "a continued Call that waits for room")                                \
	X(COLLECTING, "more of its parts are awaited")                                 \
	X(BUDGET, "waits for memory to pull into")                                     \
	X(PULLING_CALL, "the Position Zero chunk is being read")                       \
	X(ADMIT, "the user decides")                                                   \
	X(PULLING, "Read chunks are being read")                                       \
	X(SERVED, "the user serves")                                                   \
	X(REPLYING, "the reply is written and sent")                                   \
	X(LEAVING, "REQUEST_DONE queued or drawn")

#define RR_MR_STATES(X)                                                                \
	X(IDLE, "not accessible")                                                      \
	X(REGISTERING, "REGISTER queued or drawn")                                     \
	X(VALID, "accessible by the peer")                                             \
	X(INVALIDATING, "INVALIDATE queued or posted")

enum rr_conn_state {
#define X(name, meaning) RR_CONN_##name,
	RR_CONN_STATES(X)
#undef X
};
enum rr_call_phase {
#define X(name, meaning) RR_CALL_##name,
	RR_CALL_STATES(X)
#undef X
};
enum rr_request_phase {
#define X(name, meaning) RR_REQUEST_##name,
	RR_REQUEST_STATES(X)
#undef X
};
enum rr_mr_phase {
#define X(name, meaning) RR_MR_##name,
	RR_MR_STATES(X)
#undef X
};

/* -- limits and choices ----------------------------------------------------- */

enum {
	RR_MAX_WAITING_ERRORS = 64, /* [C9] */
	RR_MAX_DISCARDS = 16,       /* sequences being discarded at once [M3] */
	RR_MAX_TURNS = 256, /* Calls that wait to be served; above: ERR_SYSTEM */
	RR_MAX_PROPS_BYTES = 1 << 20, /* of one exchange [P20] */
	RR_AUTH_MAX_STEPS = 32,       /* of both peers */
	RR_AUTH_MAX_BYTES = 1 << 18,  /* of one step */
	RR_EXT_XIDS = 64,          /* messages sent whose errors are still understood */
	RR_REDUCE_MIN = 512,       /* smaller items that fit inline stay there */
	RR_REPLY_CHUNK_PARTS = 16, /* messages; a longer Reply gets a chunk [v2 §A.2] */
	RR_IN_PLACE_MIN = 65536, /* a run of a Special Call worth a region of its own */
	RR_IN_PLACE_RUNS = 4,    /* at most */
	RR_UNKNOWN_REPLY = 4000, /* reply_bytes 0, where some number is needed */
	RR_COPY_MAX = 256,       /* longer pieces are gathered, not copied */
	RR_MAX_REFS = 12,        /* gathered pieces of one message */
	RR_XMIT_BYTES = 1280,    /* room in a pooled message: header and copies */
	RR_XMIT_CACHED = 64,
	RR_MBUF_FIRST = 16384,   /* first size of a reassembly */
	RR_RETIRED_HANDLES = 64, /* of calls given up, still tolerated [K17] */
	RR_HELD_LEAST = 32, /* parts of continued Calls without room, at low ceilings */
	RR_RPC_MIN = 8,     /* octets: xid and msg_type */
	RR_CALL_MAX_REGIONS =
	        RR_CALL_MAX_PIECES + RR_WIRE_MAX_WRITES + RR_IN_PLACE_RUNS + 2,
	RR_DEFINED_FLAGS = RDMA2_F_RESPONSE | RDMA2_F_MORE | RDMA2_F_TPMORE,
};

enum rr_discard_reason {
	RR_DISCARD_SHORT = 1, /* fewer than 20 octets */
	RR_DISCARD_VERSION,
	RR_DISCARD_FAULT,    /* answered by an error, or ends a call */
	RR_DISCARD_SEQUENCE, /* its XID is being discarded [M3] */
	RR_DISCARD_NO_CALL,  /* a Reply or error for no call of ours */
	RR_DISCARD_ERROR,    /* an RDMA2_ERROR that says nothing */
};

/* -- small parts ------------------------------------------------------------- */

struct rr_op {
	struct rr_list
	        link; /* conn.actions until drawn; Sends, Writes: conn.flying after */
	enum rr_action_kind kind;
};

/* Growing memory; @pinned: its @cap octets count against the budget. */
struct rr_mbuf {
	uint8_t *p;
	size_t len, cap;
	bool pinned;
};

struct rr_rbuf {
	struct rr_op op;
	struct rr_list all; /* conn.rbufs */
	uint8_t *data;
	size_t len;
	const uint8_t *part; /* within @data, if it is held for a continued Call */
	size_t part_len;
};

/* A run of a Payload stream; @pad zero octets follow it. */
struct rr_slice {
	const uint8_t *base;
	size_t len;
	size_t pad;
};

struct rr_stream {
	struct rr_slice s[RR_CALL_MAX_PIECES];
	unsigned n, at;
	size_t off; /* within s[at], padding included */
	size_t left;
};

/* A Send, or a Write of a Reply chunk or an item. */
struct rr_xmit {
	struct rr_op op;
	struct rr_call_state *call; /* whose memory it refers to; or */
	struct rr_request_state *request;
	bool of_call;        /* a Call, or a part of one */
	bool refers;         /* to memory that is not its own */
	uint32_t inv_handle; /* Send */
	uint32_t handle;     /* Write */
	uint64_t offset;
	unsigned n_sge;
	struct rr_sge sge[RR_ACTION_MAX_SGE];
	size_t cap, used;
	uint8_t buf[] __attribute__((aligned(64)));
};

struct rr_read_op {
	struct rr_op op;
	struct rr_request_state *request;
	struct rr_sge sge;
	uint32_t handle;
	uint64_t offset;
};

struct rr_error_node {
	struct rr_list link;
	uint32_t xid, vers;
	struct rr_error error;
	bool unsettled; /* about a first message: needs no credit [V4] */
};

/* -- Requester ---------------------------------------------------------------- */

enum rr_mr_use { RR_USE_CALL, RR_USE_READ, RR_USE_WRITE, RR_USE_REPLY };

struct rr_mr {
	struct rr_op op; /* REGISTER, later INVALIDATE */
	struct rr_call_state *call;
	enum rr_mr_phase phase;
	enum rr_mr_use use;
	unsigned index;    /* USE_WRITE: which destination */
	uint32_t position; /* USE_READ */
	uint8_t *base;
	size_t len;
	uint32_t handle;
	uint64_t offset;
};

/* The chunks that a call provides, and the registered regions behind them; NULL in a
 * call without chunks. */
struct rr_call_chunks {
	unsigned n;
	struct rr_mr region[RR_CALL_MAX_REGIONS];
	struct rr_lists lists; /* as sent, to compare the Reply with */
};

struct rr_call_state {
	struct rr_op op; /* CALL_DONE */
	struct rr_call *call;
	struct rr_list all; /* conn.calls */
	struct rr_call_state *hash_next;
	bool hashed;
	enum rr_call_phase phase;
	bool special;         /* sent by Special Format */
	bool in_place;        /* long runs of it are pulled from where they lie */
	bool awaited;         /* in conn.n_awaited */
	bool overdue;         /* in conn.n_overdue */
	unsigned sends_out;   /* xmits that refer to its memory */
	unsigned regions_out; /* registrations or invalidations owed */
	int status;
	struct rr_call_chunks *chunks; /* NULL without chunks */
	struct rr_mbuf
	        special_buf; /* a Special Call's Payload stream, but for such runs */
	struct rr_mbuf chunk_buf; /* the Reply chunk's memory */
	struct rr_mbuf dest_buf;  /* for a destination that was too small */
	unsigned n_writes;  /* destinations, the first ones, that have Write chunks */
	size_t reply_bound; /* octets the Reply can have; 0 = unknown, small */
	/* The Reply: in the chunk, reassembled, or where it was received. */
	struct rr_mbuf reply_buf;
	struct rr_rbuf *reply_rbuf;
	const uint8_t *reply;
	size_t reply_len;
	struct rr_stream stream;
};

struct rr_call_table {
	struct rr_call_state **bucket;
	size_t buckets; /* a power of two */
	size_t count;
};

/* -- Responder ---------------------------------------------------------------- */

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

/* -- sub-machines --------------------------------------------------------------- */

struct rr_peer_props {
	uint32_t send_bytes, recv_bytes, segment_bytes, max_segments, rvrsdir;
};

/* The dialogue of property 6. [P14] */
#define RR_AUTH_STATES(X)                                                              \
	X(OFF, "no hook, or the peer has none and need not")                           \
	X(IDLE, "nothing was said yet")                                                \
	X(SAY, "a step waits to be sent")                                              \
	X(LISTEN, "the peer's step is awaited")                                        \
	X(DONE, "the hook is satisfied and has nothing to say")

enum rr_auth_phase {
#define X(name, meaning) RR_AUTH_##name,
	RR_AUTH_STATES(X)
#undef X
};

struct rr_auth_state {
	enum rr_auth_phase phase;
	bool satisfied;     /* the hook said so */
	bool refused;       /* it said no, and the peer is still to be told why */
	bool heard;         /* a step of the peer's came */
	bool contradicted;  /* the peer seems to have refused what the proof is about */
	unsigned steps;     /* of both */
	struct rr_mbuf out; /* the own step: opaque<>, encoded */
	uint32_t xid;       /* of the message that carried the last one */
};

struct rr_props {
	bool wanted;                  /* own CONNPROP may go out */
	bool begun;                   /* the first one has gone out */
	bool sent;                    /* the final one has */
	bool heard;                   /* one of the peer's has come */
	unsigned next;                /* of the extensions' own properties */
	uint32_t ext_xid[RR_EXT_MAX]; /* of the messages that carried them */
	uint32_t ext_seen;            /* bit by index: the peer's came */
	/* One property in parts. [P2, P3] */
	const uint8_t *part_data;
	uint8_t part_head[12];    /* count, id, length */
	size_t part_len, part_at; /* of its encoding as a set */
	uint32_t part_id, part_xid, part_flags;
	bool rejected; /* the peer refused it: it uses defaults for us [P4] */
	bool peer_final;
	uint32_t xid; /* of the own first CONNPROP */
	struct rr_peer_props peer;
	uint32_t received; /* properties of this exchange */
	size_t received_bytes;
	rr_time answer_at, done_at; /* RR_TIME_NEVER when not running */
	/* In effect. [P8, P18] */
	uint32_t send_inline, recv_inline;
	uint32_t segment_bytes, max_segments;
};

/* An extension's message under way to or from the user, or to the peer. */
struct rr_ext_node {
	struct rr_op op; /* EXTENSION; or on tx.exts */
	struct rr_ext_event ev;
	struct rr_rbuf *rbuf; /* where ev.data lies, or */
	size_t copy_len;
	uint8_t *copy; /* here */
};

struct rr_ext_sent {
	uint32_t xid, htype;
};

struct rr_ext_state {
	struct rr_ext_node *drawn; /* lent until the next action */
	uint32_t unsupported;      /* bit by index of the type [E7] */
	struct rr_ext_sent sent[RR_EXT_XIDS];
	unsigned n_sent;
};

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

/* What waits to be sent.  Of @call, @reply and @abort_pending one at most is set: parts
 * of different messages are not interleaved. [V2-4.1-05] */
struct rr_tx {
	struct rr_list errors;
	unsigned n_errors;
	struct rr_list calls;   /* rr_call.link */
	struct rr_list replies; /* rr_request.link */
	bool replies_first;     /* whose turn it was last: replies (else calls) */
	struct rr_list exts;    /* rr_ext_node.op.link */
	unsigned n_exts;
	bool ext_first;             /* whose turn it was last: extensions (else RPC) */
	struct rr_call_state *call; /* being sent in parts; or NULL */
	struct rr_request_state *reply; /* being sent in parts; or NULL */
	bool abort_pending;   /* an aborting final part is owed: the Call that was
	                         being sent in parts has ended */
	uint32_t abort_xid;   /* XID of that Call */
	bool stalled;         /* something waits for a credit; counted once a stall */
	rr_time grant_at;     /* deadline for a grant message; RR_TIME_NEVER: none */
	bool grant_now;       /* send a grant message with the next turn, however
	                         little it hands back */
	rr_time keepalive_at; /* deadline for sending anything at all */
};

struct rr_conn {
	struct rr_conn_config cfg;
	enum rr_conn_state state;
	int error;
	rr_time now;

	struct rr_list actions;
	struct rr_op ready_op, disconnect_op;
	int disconnect_status;
	struct rr_request_state *gone; /* its REQUEST_DONE was drawn last */

	const struct rr_version_ops *version;
	bool settled;        /* and will stay what it is */
	bool heard;          /* the peer has said something */
	bool remote_inv_out; /* we may invalidate the peer's regions by our Sends */
	bool remote_inv_in;  /* the peer may invalidate ours by its Sends */
	bool cannot_read;    /* RDMA Reads cannot be made */
	struct rr_wire_private peer_private;
	struct rr_credit credit;
	struct rr_credit1 credit1; /* in version 1, for Calls */
	rr_time stuck_at; /* a client's Calls wait no longer behind those given up */
	struct rr_props props;
	struct rr_auth_state auth;
	struct rr_ext_state ext;
	struct rr_cont cont;
	struct rr_tx tx;
	uint32_t next_xid;

	struct rr_list rbufs;  /* all that exist */
	struct rr_list spares; /* rr_rbuf.op.link */
	unsigned n_spares, posted;
	uint32_t late_receives; /* to be posted when the peer has spoken */
	size_t rbuf_bytes;

	struct rr_list calls; /* alive, also with a Reply lent */
	unsigned n_calls;
	unsigned n_overdue; /* of these: given up, and not ended */
	rr_time overdue_at; /* the connection ends if none of them has ended by then */
	unsigned n_awaited; /* of these: begun to be sent, without a result */
	struct rr_call_table table;
	uint32_t retired_handles[RR_RETIRED_HANDLES];
	unsigned n_retired_handles;

	struct rr_list requests;
	unsigned n_requests;
	unsigned n_serving; /* of these: the reply is not all sent */
	unsigned n_begun; /* of these: no Call in parts that has no turn yet, nor ... */
	struct rr_list
	        turns; /* ... those that wait to be served, rr_request.link; and */
	unsigned n_turns;
	struct rr_list roomed_turns;   /* those that have room already */
	struct rr_list budget_queue;   /* rr_request.link */
	struct rr_request_state *asks; /* for room, the first of that queue, */
	uint64_t granted;              /* and so much is there */
	unsigned n_held;               /* Receives that hold parts of Calls */
	unsigned n_heads;              /* Special Calls whose beginning is being read */
	uint64_t pinned, pinned_waiting;

	struct rr_list flying; /* drawn Sends and Writes, rr_xmit.op.link */
	unsigned sends_out;    /* queued or flying Sends */
	struct rr_list xmits;  /* free ones */
	unsigned n_xmits;
	struct rr_slab rbuf_slab, call_slab, chunks_slab, request_slab, lists_slab,
	        read_slab, error_slab, ext_slab;

	struct rr_conn_counters count;
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

/* -- conn.c ------------------------------------------------------------------------ */

void rr_conn_set_state(struct rr_conn *, enum rr_conn_state);
/* Ends the connection: the first @error is kept, DISCONNECT goes out. */
void rr_conn_fail(struct rr_conn *, int error);
/* Do messages still flow? */
bool rr_conn_live(const struct rr_conn *);
/* Is the object past its connection? */
bool rr_conn_dead(const struct rr_conn *);
/* The next XID for a message of the transport's own: not 0, not in use. [V10] */
uint32_t rr_conn_own_xid(struct rr_conn *);
static inline void rr_conn_trace(const struct rr_conn *c, enum rr_trace_point p,
                                 uint32_t xid, uint64_t a, uint64_t b, uint64_t d)
{
	rr_trace(c->cfg.trace, p, c->cfg.id, xid, a, b, d);
}

/* Grows to hold @len octets; -ENOMEM, also beyond the budget, leaves it alone. */
int rr_mbuf_reserve(struct rr_conn *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
/* Exactly @len octets at once. */
int rr_mbuf_alloc(struct rr_conn *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
void rr_mbuf_free(struct rr_conn *, struct rr_mbuf *);

/* -- action.c ---------------------------------------------------------------------- */

void rr_act(struct rr_conn *, struct rr_op *, enum rr_action_kind);
/* Takes an action back if it is still on the queue; true if it was. */
bool rr_unact(struct rr_op *);
static inline uint64_t rr_op_token(const struct rr_op *op)
{
	return (uint64_t)(uintptr_t)op;
}

/* -- props.c --------------------------------------------------------------- */

void rr_props_init(struct rr_conn *);
/* The version is settled: the exchange has its time. [P17] */
void rr_props_begin(struct rr_conn *);
/* Is an own RDMA2_CONNPROP to be sent now? */
bool rr_props_pending(const struct rr_conn *);
/* Are parts of one property on their way, which nothing may come between? */
bool rr_props_in_parts(const struct rr_conn *);
/* Sends the next own RDMA2_CONNPROP (a credit is there). */
void rr_props_send(struct rr_conn *);
/* One whole rpcrdma2_connprop.  0 or the rdma_err to answer. */
uint32_t rr_props_received(struct rr_conn *, const uint8_t *body, size_t len,
                           bool tpmore);
/* The peer reported an error about @xid.  True: an own RDMA2_CONNPROP. [P4] */
bool rr_props_rejected(struct rr_conn *, uint32_t xid);

/* The least threshold towards the peer that a message planned now may meet when it is
 * sent: what the exchange can yet end with. [P8] */
static inline size_t rr_props_least_inline(const struct rr_conn *c)
{
	return c->state == RR_CONN_READY ? c->props.send_inline : RR_WIRE_MIN_INLINE;
}

/* -- auth.c ---------------------------------------------------------------- */

void rr_auth_init(struct rr_conn *);
/* Nothing more of ours depends on the dialogue. */
static inline bool rr_auth_settled(const struct rr_conn *c)
{
	return c->auth.phase == RR_AUTH_OFF || c->auth.phase == RR_AUTH_DONE;
}
/* A step of the peer's: opaque<>, checked. */
void rr_auth_received(struct rr_conn *, const uint8_t *data, uint32_t len);
/* Another property went out or came. */
void rr_auth_property(struct rr_conn *, bool own, const struct rr_prop *);
/* An error came about properties of ours. */
void rr_auth_rejected(struct rr_conn *);
/* A whole RDMA2_CONNPROP was taken, all own properties but steps are sent, or
 * a step is sent: what follows from it? */
void rr_auth_go_on(struct rr_conn *);
void rr_auth_step_sent(struct rr_conn *);
void rr_auth_fini(struct rr_conn *);

/* -- extensions.c ----------------------------------------------------------------- */

/* Its place in the table, or -1. */
int rr_ext_htype(const struct rr_conn *, uint32_t htype);
int rr_ext_prop(const struct rr_conn *, uint32_t id);
bool rr_ext_error(const struct rr_conn *, uint32_t code);
/* A message of an extension's type, past [check: late properties]. */
void rr_ext_received(struct rr_conn *, struct rr_msg *);
/* RDMA2_ERROR about a message of an extension?  Marks types unsupported. [E7] */
bool rr_ext_answered(struct rr_conn *, uint32_t xid, uint32_t code);
/* Tells the user about property @i; @data is copied. */
void rr_ext_tell(struct rr_conn *, unsigned i, enum rr_ext_what, const void *data,
                 size_t len);
/* The exchange is over: what did not come has its default. */
void rr_ext_defaults(struct rr_conn *);
/* Sends the oldest queued message (a credit is there). */
bool rr_ext_transmit(struct rr_conn *);
void rr_ext_free(struct rr_conn *, struct rr_ext_node *);
/* Nothing waits to be sent any more; what was drawn stays lent. */
void rr_ext_lost(struct rr_conn *);
void rr_ext_fini(struct rr_conn *);

/* -- version1.c ------------------------------------------------------------------ */

/* The version is settled: READY. */
void rr_v1_begin(struct rr_conn *);
/* The same after a refusal of version 2 that granted @word. */
void rr_v1_fall_back(struct rr_conn *, uint32_t word);
/* A Call that was sent is given up. */
void rr_v1_give_up(struct rr_conn *);

/* -- recv.c ---------------------------------------------------------------- */

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

/* -- xmit.c ---------------------------------------------------------------- */

/* What a stream holds is taken in order, once. */
void rr_stream_init(struct rr_stream *);
/* False when there is no room. */
bool rr_stream_add(struct rr_stream *, const void *base, size_t len, size_t pad);
/* Copies the next @len octets (they are there) and moves on. */
void rr_stream_copy(struct rr_stream *, uint8_t *to, size_t len);

/* A message with room for @bytes of header and copies.  NULL: no memory. */
struct rr_xmit *rr_xmit_new(struct rr_conn *, size_t bytes);
void rr_xmit_free(struct rr_conn *, struct rr_xmit *);
/* Takes what was written to @w (begun over buf) as the message's beginning. */
void rr_xmit_header(struct rr_xmit *, const struct rr_writer *w);
/*
 * RDMA2_MSG or RDMA2_NOMSG: prefix, @lists (NULL = empty), @len octets of
 * @stream (NULL with 0).  NULL: no memory.
 */
struct rr_xmit *rr_xmit_message(struct rr_conn *, uint32_t htype, uint32_t flags,
                                uint32_t xid, const struct rr_lists *lists,
                                struct rr_stream *stream, size_t len);
/* A Write of the next @len octets of @stream. */
struct rr_xmit *rr_xmit_write(struct rr_conn *, struct rr_stream *stream, size_t len);
/* Octets of the header with @lists (NULL = empty). */
size_t rr_xmit_header_bytes(const struct rr_conn *, const struct rr_lists *lists);
/* Fills in the credit word, costs one credit, queues the Send. */
void rr_xmit_send(struct rr_conn *, struct rr_xmit *);
/* Without a credit: an answer to a first message of another version. */
void rr_xmit_send_free(struct rr_conn *, struct rr_xmit *);
void rr_xmit_completed(struct rr_conn *, struct rr_xmit *, int status);
/* The prefix and @len octets of room for a body: rr_put_space of @ret_w. */
struct rr_xmit *rr_xmit_begin(struct rr_conn *, const struct rr_prefix *, size_t len,
                              struct rr_writer *ret_w);
/* The connection is over: what flies counts as completed. */
void rr_xmit_lost(struct rr_conn *);
void rr_xmit_fini(struct rr_conn *);

/* -- tx.c ------------------------------------------------------------------ */

void rr_tx_init(struct rr_conn *);
/* Does the next thing there is to do; false when there is none. */
bool rr_tx_pump(struct rr_conn *);
void rr_tx_error(struct rr_conn *, uint32_t xid, uint32_t vers, const struct rr_error *,
                 bool unsettled);
/* Decides how much of what is owed may be handed back. */
void rr_tx_withhold(struct rr_conn *);
void rr_tx_tick(struct rr_conn *);
rr_time rr_tx_deadline(const struct rr_conn *);
/* A call leaves the queue, or gives up its sequence. */
void rr_tx_forget_call(struct rr_conn *, struct rr_call_state *);
void rr_tx_fini(struct rr_conn *);
/* Payload of the next part: all of @left, or what fits beside an empty header. */
size_t rr_tx_part(const struct rr_conn *, size_t left, size_t header, bool *ret_last);

/* -- call_chunks.c --------------------------------------------------------------- */

/* Plans format and chunks of a call whose turn has come, and begins to register
 * memory.  0, or why the call cannot be sent. */
int rr_call_chunks_prepare(struct rr_conn *, struct rr_call_state *) RR_MUST_CHECK;
/* All registered: builds the lists. */
void rr_call_chunks_build(struct rr_conn *, struct rr_call_state *);
void rr_call_chunks_registered(struct rr_conn *, struct rr_mr *, int status,
                               uint32_t handle, uint64_t offset);
/* Ends the peer's access to every region that is still accessible. */
void rr_call_chunks_withdraw(struct rr_conn *, struct rr_call_state *);
void rr_call_chunks_invalidated(struct rr_conn *, struct rr_mr *, int status);
/* Marks what the peer invalidated; false if no region has this handle. */
bool rr_call_chunks_take_remote(struct rr_conn *, struct rr_call_state *,
                                uint32_t handle);
void rr_call_chunks_free(struct rr_conn *, struct rr_call_state *);

/* -- requester.c ---------------------------------------------------------------- */

/* An outstanding call; NULL if there is none. */
struct rr_call_state *rr_call_find(const struct rr_conn *, uint32_t xid);
/* The same, if any of it has been sent. */
struct rr_call_state *rr_call_sent(const struct rr_conn *, uint32_t xid);
/* Sends the first or next part (a credit is there); false: nothing was sent. */
bool rr_call_transmit(struct rr_conn *, struct rr_call_state *);
/* The result is known.  CALL_DONE comes when nothing is owed any more. */
void rr_call_end(struct rr_conn *, struct rr_call_state *, int status);
/* The same, when more of its Reply is under way: the peer may yet use, and will
 * invalidate, what the call offers, so that is withdrawn at the Reply's end. */
void rr_call_drain(struct rr_conn *, struct rr_call_state *, int status);
/* That end has come, or need not be waited for.  @xid may be no call's. */
void rr_call_drained(struct rr_conn *, uint32_t xid);
/* Something owed has come. */
void rr_call_settle(struct rr_conn *, struct rr_call_state *);
/* CALL_DONE is being drawn. */
void rr_call_drawn(struct rr_conn *, struct rr_call_state *);
void rr_call_lost(struct rr_conn *, int status);
void rr_call_fini(struct rr_conn *);

/* -- answer.c -------------------------------------------------------------- */

/* A Reply, or a part of one, past [check: sequence]. */
void rr_answer_received(struct rr_conn *, struct rr_msg *);
void rr_answer_error(struct rr_conn *, const struct rr_msg *);
/* [K17] false: the handle is not of that transaction. */
bool rr_answer_invalidated(struct rr_conn *, const struct rr_msg *);
/* Does an RPC Reply to @xid begin there?  [check: RPC message] */
bool rr_answer_is_reply(const uint8_t *p, size_t len, uint32_t xid);
/* Remembers the handle that a late Reply to this call may yet invalidate. */
void rr_answer_forget(struct rr_conn *, const struct rr_call_state *);

/* -- recover.c ------------------------------------------------------------- */

/* An error came: notes what the call had offered. */
void rr_recover_note(struct rr_call_state *);
/* How many of @n the call may use: all, unless it is a second attempt. */
unsigned rr_recover_most(const struct rr_call *, unsigned limit, unsigned n);
/* The status for a call that cannot be sent: @err, or the error recovered from. */
int rr_recover_failed(struct rr_call_state *, int err);

/* -- responder.c ------------------------------------------------------------- */

/* A Call, or a part of one, past [check: sequence]. */
void rr_request_received(struct rr_conn *, struct rr_msg *);
void rr_request_read_done(struct rr_conn *, struct rr_read_op *, int status);
/* ADMIT or REQUEST is being drawn. */
void rr_request_drawn(struct rr_request_state *);
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
/* Takes @bytes of the budget; false if they are not there. */
bool rr_pin(struct rr_conn *, uint64_t bytes);
void rr_unpin(struct rr_conn *, uint64_t bytes);

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
