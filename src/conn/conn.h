/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC-over-RDMA connection, of version 2 or 1, sans I/O: events in, actions
 * out.
 *
 * The object serves both roles at once: as Requester it sends Calls and takes
 * Replies, as Responder it takes Calls and sends Replies; the transport role
 * (client or server) only decides who speaks first and how property 5 is
 * read.  It makes no system call, reads no clock, allocates through
 * config.mem only, and never calls back into its user.
 *
 * Use: after every event function drain rr_conn_next() until it returns
 * false, and carry out each action at once, feeding back what it yields
 * (rr_conn_registered is called during the draining).  Call rr_conn_tick when
 * rr_conn_deadline() has come.
 *
 * Normal path of a Call: rr_conn_call -> RR_ACT_REGISTER (once a chunk)
 * -> RR_ACT_SEND (one or several) -> [peer] -> rr_conn_received ->
 * RR_ACT_INVALIDATE (what the peer did not) -> RR_ACT_CALL_DONE.
 * Normal path of serving: rr_conn_received -> RR_ACT_ADMIT -> rr_conn_admit
 * -> RR_ACT_READ -> RR_ACT_REQUEST -> rr_conn_reply -> RR_ACT_WRITE ->
 * RR_ACT_SEND -> RR_ACT_REQUEST_DONE.
 *
 * Failure: a fault of one message ends one call, by RDMA2_ERROR or a local
 * error ("Order of checks on receipt" in docs/decisions.md); a fault of the
 * connection emits RR_ACT_DISCONNECT.  After rr_conn_lost every call ends with
 * RR_ACT_CALL_DONE, every request with RR_ACT_REQUEST_DONE, then
 * RR_ACT_CLOSED comes, the last action ever.
 *
 * Invariants, checked by tests after every step: avail never exceeds cap;
 * messages sent never exceed credits received; each Receive buffer has one
 * owner; a call ends exactly once, and only when none of its regions is
 * accessible any more; nothing is owed after CLOSED.
 */
#ifndef RR_CONN_CONN_H
#define RR_CONN_CONN_H

#include "base/base.h"
#include "base/list.h"
#include "base/trace.h"
#include "wire/wire.h"

struct rr_conn;

enum rr_conn_role { RR_CONN_CLIENT, RR_CONN_SERVER };

/* The versions that a connection may settle on; both: what the peer speaks.
 * A client that may speak both begins with 2 and goes down once, on the same
 * connection, if the server says so; one that may speak only 1 begins with it.
 * A server answers in the version of the first message.      [V3 to V6, v2 §4.2.3] */
enum rr_conn_versions { RR_CONN_V1 = 1 << 1, RR_CONN_V2 = 1 << 2 };

/*
 * Host authentication: a dialogue of opaque steps in property 6. [v2 §5.2.6, P14]
 * The client begins (@in NULL, @in_len 0); each step takes what the peer said and
 * says what to answer, in memory of its own that stays until the next step.
 * 0: more is to come (something is sent, even if it is empty); 1: done (sent
 * unless empty); negative: failed, the connection is closed by -EACCES, after the
 * peer was told why if there are words for it.  Both are called from event
 * functions and must not call into the connection.
 */
struct rr_auth {
	int (*step)(void *ctx, const void *in, size_t in_len, const void **ret_out,
	            size_t *ret_out_len);
	void *ctx; /* of this connection alone */
	/* Each other property, as it is sent (@own) or was received, in order: both
	 * peers see the same unless somebody between them changed it.  All of a
	 * peer's come before its first step.  False: refused.  May be NULL. */
	bool (*property)(void *ctx, bool own, uint32_t id, const void *data,
	                 size_t len);
};

/* A property that an extension defines.                        [v2 §5, §B.4] */
struct rr_ext_prop {
	uint32_t id;
	/* Do these octets conform to its type?  Pure; NULL: any do. */
	bool (*conforms)(const void *data, size_t len);
	const void *data; /* the own value; NULL: none is sent */
	uint32_t len;
	const void *deflt; /* the peer's, if it sends none */
	uint32_t deflt_len;
};

enum { RR_EXT_MAX = 16 };

/* What extensions add to the base; no number stands there twice.    [v2 §B] */
struct rr_ext_table {
	unsigned n_htypes, n_props, n_errors;
	uint32_t htype[RR_EXT_MAX];
	uint32_t flags[RR_EXT_MAX]; /* that messages of that type may carry */
	struct rr_ext_prop prop[RR_EXT_MAX];
	uint32_t error[RR_EXT_MAX]; /* void arms: each ends a call like our own */
};

/*
 * Memory that a connection shares with others.  Requests that are whole ask at
 * RR_ACT_ADMIT, where the user decides when they go on; this is for Calls that come in
 * parts, one at a time.  All zero: they count against max_held_bytes as they grow,
 * and wait for nothing.  These functions must not call into the connection, but
 * by rr_conn_room.
 */
struct rr_room {
	/* Such a Call begins and asks for what it can need.  1: it has @ret_bytes; 0: it
	 * waits for rr_conn_room; negative: it is refused. */
	int (*ask)(void *ctx, uint64_t *ret_bytes);
	/* It waits no longer. */
	void (*leave)(void *ctx);
	/* It does not become a request: what it had. */
	void (*give)(void *ctx, uint64_t bytes);
	void *ctx;
};

/* Every limit and timer needs a value, unless its comment names one for 0. */
struct rr_conn_config {
	enum rr_conn_role role;
	uint32_t id;                       /* for traces */
	struct rr_mem mem;                 /* lent for the connection's life */
	const struct rr_trace_sink *trace; /* lent; may be NULL */
	uint32_t xid_seed; /* first XID of messages that carry no RPC message */

	/* Advertised properties and limits. */
	uint32_t send_bytes;    /* property 1 */
	uint32_t recv_bytes;    /* property 2: size of each Receive */
	uint32_t segment_bytes; /* property 3 */
	uint32_t max_segments;  /* property 4; at most RR_WIRE_MAX_SEGMENTS.  In version
	                         * 1, where no peer names its limit, also the limit of
	                         * segments in a Call that is sent */
	uint32_t rvrsdir; /* property 5, enum rr_rvrsdir; client only.  In version 1,
	                   * which does not send it, a client above NONE serves Calls
	                   * of its server, with GENL also those with chunks; a server
	                   * offers chunks with GENL only. [RFC 8167] */
	uint32_t credits; /* H, 2 to 32767 */
	uint32_t send_credits; /* our limit for sending; 0: as @credits, the minimum */
	uint32_t max_requests; /* requests served at once; others wait, and credits are
	                        * withheld */
	uint32_t max_message_bytes; /* a reassembled Call */
	uint32_t max_special_bytes; /* a Special Call; 0: as @max_message_bytes */
	uint32_t max_chunk_bytes;   /* one Read chunk */
	uint64_t max_held_bytes;    /* memory for Read chunks, and for reassemblies that
	                             * rr_room does not count */
	struct rr_room room;
	bool remote_invalidate; /* the provider reports rdma_inv_handle and sends it */
	const struct rr_ext_table *ext; /* lent for the connection's life; NULL: none */
	struct rr_auth auth;            /* no @step: property 6 is ignored */
	bool auth_required;      /* refuse peers without authentication; needs @auth */
	unsigned versions;       /* enum rr_conn_versions */
	uint32_t extra_receives; /* posted in addition, for peers that count credits
	                          * otherwise [C3 model] */

	/* Timers; RR_TIME_NEVER: none. */
	rr_time first_answer_ns; /* how long a client waits for the first message */
	rr_time props_ns; /* limit of both exchanges of properties; for a server, in any
	                   * version, also of the client's first message */
	rr_time grant_ns; /* delay until a grant message returns the credits owed */
	rr_time drain_ns; /* how long a call waits for the last part of a malformed
	                   * Reply.  The connection ends when for so long no cancelled
	                   * call got its memory back from the provider, or, in version
	                   * 1, cancelled calls that were never answered have kept a
	                   * client's other calls waiting */
	rr_time keepalive_ns; /* interval of grant messages while nothing else is sent
	                       * and a credit is there [C12] */
};

/* -- Calls: the Requester half -------------------------------------------- */

/* Where an eligible result goes: one Write chunk.               [v2 §4.3.6] */
struct rr_dest {
	void *base;           /* NULL with len 0: an empty Write chunk */
	size_t len;           /* most octets that can come */
	size_t ret_len;       /* octets that came; set before RR_ACT_CALL_DONE */
	const void *ret_base; /* where: @base, or memory of the connection's, lent
				 until rr_conn_call_release, if a retry needed more
				 room than @len (see rr_call_recover) */
	bool ret_used;        /* false: chunk returned unused */
	bool ret_offered; /* the Call that was answered had a chunk for it, with room */
};

enum rr_call_flag {
	RR_CALL_NO_REDUCE =
	        1 << 0,           /* send eligible items in the payload all the same */
	RR_CALL_SPECIAL = 1 << 1, /* Special Format even if it fits inline */
	RR_CALL_REVERSE = 1 << 2, /* set by the connection: server to client */
	RR_CALL_IDEMPOTENT = 1 << 3, /* may be executed twice: rr_call_recover */
	RR_CALL_NO_WRITES =
	        1 << 4,         /* offer no Write chunks: results come in the payload */
	RR_CALL_WHOLE = 1 << 5, /* Special Format if the peer's limits allow it */
	RR_CALL_ROOM = 1 << 6,  /* a Reply chunk of @reply_bytes however few they are */
};

/* Why a call ended.  Above zero: what the peer reported. */
enum rr_call_status {
	RR_CALL_OK = 0,
	/* negative errno: -ECONNRESET and others: connection lost, may be sent
	 * again on another one (the server may have executed it);
	 * -ECANCELED: rr_conn_cancel; -EBADMSG: the Reply was malformed;
	 * -EMSGSIZE: cannot be expressed within the peer's limits;
	 * -EPROTONOSUPPORT: no common version, or no reverse direction;
	 * -EPROTO: a Reply broke a rule of the transport. */
	RR_CALL_REMOTE_ERROR = 1, /* RDMA2_ERROR, see @error */
};

/* What rr_call_recover knows and wants of a call; all zero in a new one. */
struct rr_recovery {
	struct rr_error error; /* the refusal that it acts on; code 0: none yet */
	unsigned max_reads, max_writes, max_segments; /* then: no more than these */
	bool reply_chunk;   /* offer one however short the Reply may be */
	size_t reply_bytes; /* octets that it must have; 0 = as the call says */
	unsigned dest;      /* counted from one: this destination ... */
	size_t dest_bytes;  /* ... gets so much room; 0 = none does */
	/* What was offered when the error came. */
	unsigned reads, writes, segments;
	bool special;
	uint64_t reply_chunk_bytes;
};

/*
 * A Call.  The user fills the upper part and keeps the whole structure, the
 * payload's memory and the destinations untouched until RR_ACT_CALL_DONE for
 * it was drained and, if the reply was taken, rr_conn_call_release.
 */
struct rr_call {
	uint32_t xid;                  /* also the first word of the payload */
	unsigned flags;                /* enum rr_call_flag */
	const struct rr_piece *pieces; /* the RPC Call, unreduced */
	unsigned n_pieces;             /* at most RR_CALL_MAX_PIECES */
	struct rr_dest *dests;
	unsigned n_dests;   /* at most RR_WIRE_MAX_WRITES */
	size_t reply_bytes; /* bound of the Reply's Payload stream without what
			       goes to @dests; 0 = unknown, small.  A Reply
			       chunk is provided when it exceeds what
			       continuation should carry [v2 §A.2] */
	uint64_t user;      /* not touched */

	/* Result, valid from RR_ACT_CALL_DONE to rr_conn_call_release. */
	int status;            /* enum rr_call_status or negative errno */
	struct rr_error error; /* if RR_CALL_REMOTE_ERROR */
	const void *reply;     /* the Reply's Payload stream, without reduced items */
	size_t reply_len;

	/* The connection's own; @recovery stays from one attempt to the next. */
	struct rr_recovery recovery;
	struct rr_list link;
	struct rr_call_state *priv;
};

enum { RR_CALL_MAX_PIECES = 24, RR_ACTION_MAX_SGE = 28 };

/* -- Requests: the Responder half ------------------------------------------ */

enum {
	RR_REQUEST_MAX_READS = 16,
	RR_SPECIAL_HEAD = 4096, /* pulled before anybody looks: an RPC header fits */
};

/*
 * A Call being served.  Owned by the connection from RR_ACT_ADMIT to the end
 * of RR_ACT_REQUEST_DONE; its memory (pieces) is lent to the user from
 * RR_ACT_REQUEST to RR_ACT_REQUEST_DONE.
 */
struct rr_request {
	uint32_t xid;
	bool special; /* arrived as a Special Call */
	bool continued;
	/* At RR_ACT_ADMIT: pieces[0] holds the reduced Payload stream, of a Special
	 * Call the first RR_SPECIAL_HEAD octets of it.
	 * At RR_ACT_REQUEST: the unreduced stream, items marked. */
	unsigned n_pieces;
	struct rr_piece pieces[2 * RR_REQUEST_MAX_READS + 1];
	/* What the Requester offers, for ADMIT decisions. */
	uint64_t call_bytes;   /* a Special Call's reduced Payload stream; else 0 */
	uint64_t roomed_bytes; /* a continued Call's, from rr_room; the user gives them
				  back, from ADMIT on */
	uint64_t held_bytes;   /* of these: in use for its parts */
	unsigned n_reads;      /* Read chunks, Position Zero not counted */
	uint64_t read_bytes;   /* octets in them */
	unsigned n_writes;     /* Write chunks */
	uint64_t write_bytes[RR_WIRE_MAX_WRITES];
	bool has_reply_chunk;
	uint64_t reply_chunk_bytes;
	uint64_t user;  /* the user's; 0 at ADMIT */
	bool unreduced; /* set by the user: items of the reply stay in the payload,
			   Write chunks come back unused [K18] */

	struct rr_list link;
	struct rr_request_state *priv;
};

/* -- Actions ---------------------------------------------------------------- */

enum rr_action_kind {
	RR_ACT_POST_RECV,    /* sge[0], token */
	RR_ACT_SEND,         /* sge, n_sge, inv_handle, token */
	RR_ACT_WRITE,        /* sge, n_sge, handle, offset, token */
	RR_ACT_READ,         /* sge[0], handle, offset, token */
	RR_ACT_REGISTER,     /* sge[0] (len in @reg_len), access, token */
	RR_ACT_INVALIDATE,   /* handle, token */
	RR_ACT_READY,        /* properties exchanged; RPC may flow */
	RR_ACT_EXTENSION,    /* ext: something about an extension */
	RR_ACT_ADMIT,        /* request: decide by rr_conn_admit or rr_conn_refuse */
	RR_ACT_REQUEST,      /* request: complete; answer by rr_conn_reply or _refuse */
	RR_ACT_REQUEST_DONE, /* request: reply memory may be reused; the request is
				gone when the next action is drawn; status */
	RR_ACT_CALL_DONE,    /* call: ended */
	RR_ACT_DISCONNECT,   /* end the connection in order; status */
	RR_ACT_CLOSED,       /* after rr_conn_lost: the last action */
};

enum rr_ext_what {
	RR_EXT_MESSAGE,  /* one of a type of an extension came */
	RR_EXT_ERROR,    /* @error was the answer to the own message @xid */
	RR_EXT_PROPERTY, /* the peer's value; before READY */
	RR_EXT_DEFAULT,  /* the peer sent none, or one without data: the default */
	RR_EXT_REFUSED,  /* the peer refused the own value [P4] */
};

/* Lent until the next action is drawn. */
struct rr_ext_event {
	enum rr_ext_what what;
	uint32_t number;     /* header type or property id */
	uint32_t xid, flags; /* RDMA2_F_RESPONSE and those of the extension */
	uint32_t error;
	const void *data; /* after the prefix; of a property rdma_data */
	size_t len;
};

struct rr_action {
	enum rr_action_kind kind;
	uint64_t token; /* differs from run to run: not for traces */
	struct rr_sge sge[RR_ACTION_MAX_SGE];
	unsigned n_sge;
	size_t reg_len;
	unsigned access; /* RR_ACCESS_REMOTE_READ or RR_ACCESS_REMOTE_WRITE */
	uint32_t handle;
	uint32_t inv_handle;
	uint64_t offset;
	struct rr_call *call;
	struct rr_request *request;
	const struct rr_ext_event *ext;
	int status;
};

/* Draws the next action; false when there is none. */
bool rr_conn_next(struct rr_conn *, struct rr_action *ret);

/* -- Events ------------------------------------------------------------------ */

int rr_conn_new(const struct rr_conn_config *, rr_time now,
                struct rr_conn **ret) RR_MUST_CHECK;
/* Only after RR_ACT_CLOSED was drawn, or before rr_conn_open. */
void rr_conn_free(struct rr_conn *);

/* Before rr_conn_open: no peer can invalidate a region of ours (the device does
 * not do it), so none is asked to.  The peer's regions are another matter. */
void rr_conn_no_remote_inv_in(struct rr_conn *);
/* Before rr_conn_open: RDMA Reads cannot be made (the peer's IRD or our ORD is 0).  Calls
 * with Read chunks are refused by RDMA2_ERR_READ_CHUNKS with a maximum of 0. */
void rr_conn_cannot_read(struct rr_conn *);

/* Receives are wanted from the start (RR_ACT_POST_RECV follow creation; a server's are
 * RR_FIRST_RECEIVES until its client has spoken); this says that the provider's
 * connection is up. */
enum { RR_FIRST_RECEIVES = 3 };
void rr_conn_open(struct rr_conn *, rr_time now);

/* Before rr_conn_open: the private data that came with the provider's connection,
 * octets of the peer's.  Counts if version 1 is settled on.  [RFC 8797] */
void rr_conn_peer_private(struct rr_conn *, const void *data, size_t len);
/* What to put into the own private data: octets used of @ret, 0 if version 1 is
 * no possible outcome. */
size_t rr_conn_own_private(const struct rr_conn_config *, uint8_t ret[8]);

/* A Receive completed.  @token as posted; @inv_handle 0 if none.  */
void rr_conn_received(struct rr_conn *, uint64_t token, size_t len, uint32_t inv_handle,
                      rr_time now);
/* A Send, Write, Read or Invalidate completed, or a Receive was flushed.  A post
 * that failed is told the same way.  -EINVAL for an Invalidate says that there
 * is no such region (the peer was first) and counts as done. */
void rr_conn_completed(struct rr_conn *, uint64_t token, int status, rr_time now);
/* Answer to RR_ACT_REGISTER: @status 0 and the handle, or the error. */
void rr_conn_registered(struct rr_conn *, uint64_t token, int status, uint32_t handle,
                        uint64_t offset);
/* The provider's connection is over: every post has been completed or
 * flushed, no region is accessible.  @error as RR_WC_DISCONNECTED has it.
 * What has not been completed counts as flushed; later events are ignored.
 * CLOSED waits for requests that the user still holds, and for Replies that
 * were not released. */
void rr_conn_lost(struct rr_conn *, int error, rr_time now);
void rr_conn_tick(struct rr_conn *, rr_time now);
rr_time rr_conn_deadline(const struct rr_conn *);

/* Queues a Call (also before READY).  0, or -EINVAL for misuse (no XID in front,
 * one that is outstanding, lengths that are no XDR), -ENOMEM, or the error
 * the connection died of: then no CALL_DONE follows. */
int rr_conn_call(struct rr_conn *, struct rr_call *, rr_time now) RR_MUST_CHECK;
/* Ends a call early: its regions are invalidated first, then CALL_DONE comes
 * with -ECANCELED.  A late Reply is dropped.  Harmless if already ended.  If part
 * of the Call has been sent it is ended by one that the peer must refuse: the
 * error it reports would hit a new call with the same XID. */
void rr_conn_cancel(struct rr_conn *, struct rr_call *, rr_time now);
/*
 * After CALL_DONE with RR_CALL_REMOTE_ERROR: can it be asked otherwise? [E6, K11]
 * READ_CHUNKS: no more items are reduced than the peer takes.  WRITE_CHUNKS: so
 * many Write chunks, and a Reply chunk for the rest.  SEGMENTS: so many segments in
 * all; what they do not suffice for goes along in the payload, both ways.
 * WRITE_RESOURCE and REPLY_RESOURCE, of RR_CALL_IDEMPOTENT calls and if the peer
 * named a length within max_message_bytes: a larger chunk.  True: @call was changed
 * for it; queue it again by rr_conn_call under a new XID (on this or another
 * connection).  Should that turn out to be impossible it ends with the same error
 * once more.  In version 1 ERR_CHUNK, the code of which is RDMA2_ERR_BAD_XDR, of
 * RR_CALL_IDEMPOTENT calls: a larger Reply chunk, up to max_message_bytes in a few
 * steps.  Otherwise once for each call: a second error, one that asks for what was
 * done already, and every other code, is final and leaves @call as it is.
 */
bool rr_call_recover(struct rr_conn *, struct rr_call *);
/* Takes the memory of the Reply chunk that the Reply of a call with RR_CALL_OK lies in,
 * of @ret_bytes, instead of giving it back: the user returns it to rr_mem_put.  False:
 * the Reply came another way, or its memory counts as pinned. */
bool rr_conn_call_take(struct rr_call *, void **ret, size_t *ret_bytes);
/* Gives the Reply's memory back. */
void rr_conn_call_release(struct rr_conn *, struct rr_call *, rr_time now);

/* At ADMIT: the octets of the @i-th of n_reads Read chunks. */
size_t rr_conn_read_bytes(const struct rr_request *, unsigned i);
/*
 * Admits a request: its Read chunks are pulled.  @sinks (NULL = the
 * connection provides memory) names for each Read chunk, in order, memory of
 * at least its length, lent until REQUEST_DONE.
 */
void rr_conn_admit(struct rr_conn *, struct rr_request *, const struct rr_sge *sinks,
                   rr_time now);
/* There is room for the Call that rr_room.ask said had to wait: @bytes, not 0. */
void rr_conn_room(struct rr_conn *, uint64_t bytes, rr_time now);
/* Answers with RDMA2_ERROR and ends the request.  From ADMIT or REQUEST. */
void rr_conn_refuse(struct rr_conn *, struct rr_request *, const struct rr_error *,
                    rr_time now);
/*
 * Answers, from REQUEST or (nothing is pulled then) from ADMIT.  The pieces
 * array, of at most RR_CALL_MAX_PIECES, is borrowed, the memory it names is
 * lent until REQUEST_DONE.  Items go to the Write chunks in order, those beyond
 * them, or whose chunk has no segments, into the payload; chunks without an
 * item come back unused [K21].  Chooses the format as [K9] has it.  A Write chunk too
 * small, or no way to carry the rest: the specified RDMA2_ERROR goes out
 * instead, and REQUEST_DONE has -EMSGSIZE.
 */
void rr_conn_reply(struct rr_conn *, struct rr_request *, const struct rr_piece *,
                   unsigned n_pieces, rr_time now);
/* Drops a request without an answer (the caller closes the connection soon). */
void rr_conn_drop(struct rr_conn *, struct rr_request *, rr_time now);

/* -- Extensions ----------------------------------------------------- [v2 §B] */

/*
 * Queues a message of an extension's type: @len octets of @body, copied, a
 * multiple of four, follow the prefix; it costs a credit.  @xid: 0 = a new one,
 * which @ret_xid (may be NULL) gets; else, with RDMA2_F_RESPONSE in @flags, that
 * of a message of the peer's.  -EAGAIN: not READY; -EOPNOTSUPP: the peer
 * does not know this type [E7], or not in this version; -EINVAL: not in the
 * table, or misuse; -EMSGSIZE: above the threshold; -ENOBUFS: RR_EXT_QUEUE
 * wait already; -ENOMEM; or the error the connection died of.
 */
enum { RR_EXT_QUEUE = 64 };
int rr_conn_ext_send(struct rr_conn *, uint32_t htype, uint32_t flags, uint32_t xid,
                     const void *body, size_t len, uint32_t *ret_xid,
                     rr_time now) RR_MUST_CHECK;
/* Answers the message of RR_EXT_MESSAGE by RDMA2_ERROR, within its action. Not
 * one with RDMA2_F_RESPONSE: nothing is sent then. [E2] */
void rr_conn_ext_refuse(struct rr_conn *, const struct rr_ext_event *, uint32_t code,
                        rr_time now);

/* Asks for an orderly end: no new calls; RR_ACT_DISCONNECT comes. */
void rr_conn_close(struct rr_conn *, int status, rr_time now);

/* -- Facts -------------------------------------------------------------------- */

struct rr_conn_info {
	bool ready;
	bool answered;        /* the peer has said something, in any version */
	uint32_t version;     /* 0 until settled */
	uint32_t send_inline; /* inline threshold towards the peer */
	uint32_t recv_inline;
	bool remote_invalidate;                         /* both ends can use it */
	uint32_t peer_segment_bytes, peer_max_segments; /* 0: it named none, as in
							   version 1 */
	uint32_t peer_rvrsdir;
	uint32_t cap, avail, owed; /* credits [C3]; in version 1 transactions that
				      may be outstanding, that may be begun, 0 */
	uint32_t receives_posted;
	uint32_t calls, requests; /* alive */
	uint64_t held_bytes;
	int error; /* first error, 0 while alive */
};

/* Bytes and messages by path, since creation. */
struct rr_conn_counters {
	uint64_t calls, replies, requests, request_replies;
	uint64_t sends, grants, errors_sent, errors_received, discards;
	uint64_t credit_stalls;
	uint64_t overruns; /* more messages came than we gave credits for */
	uint64_t ext_sent, ext_received;        /* messages of extensions */
	uint64_t recoveries;                    /* calls that rr_call_recover changed */
	uint64_t bytes_inline, bytes_continued; /* payload octets, both ways */
	uint64_t bytes_read_chunk, bytes_write_chunk, bytes_reply_chunk,
	        bytes_special_call;
	uint64_t bytes_pulled;    /* by Reads that have completed */
	uint64_t bytes_collected; /* in parts of Calls, whatever became of them */
	uint64_t registrations, local_invalidations, remote_invalidations;
};

void rr_conn_info(const struct rr_conn *, struct rr_conn_info *ret);
void rr_conn_counters(const struct rr_conn *, struct rr_conn_counters *ret);

#endif
