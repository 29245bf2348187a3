/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC-over-RDMA connection, of version 2 or 1, sans I/O: events in, actions out.
 *
 * The object serves both roles at once: as Requester it sends Calls and receives
 * Replies, as Responder it receives Calls and sends Replies.  The transport role
 * (client or server) only decides which peer sends first and how property 5 is read.
 * The object makes no system call, reads no clock, allocates through config.mem only,
 * and never calls its user, but for the hooks in its configuration.
 *
 * Use: after every event function call rr_conn_next() until it returns false, and carry
 * out each action at once (RR_ACT_REGISTER by rr_conn_registered before the next
 * poll).  Call rr_conn_tick when the time of rr_conn_deadline() has come.
 *
 * Normal path of a Call: rr_conn_call -> RR_ACT_REGISTER (one for each chunk) ->
 * RR_ACT_SEND (one or several) -> [peer] -> rr_conn_received -> RR_ACT_INVALIDATE (for
 * regions that the peer did not invalidate) -> RR_ACT_CALL_DONE.
 * Normal path of serving: rr_conn_received -> RR_ACT_ADMIT -> rr_conn_admit ->
 * RR_ACT_READ -> RR_ACT_REQUEST -> rr_conn_reply -> RR_ACT_WRITE -> RR_ACT_SEND ->
 * RR_ACT_REQUEST_DONE.
 *
 * Failure: a fault of one message ends one call, by RDMA2_ERROR or a local error
 * ("Order of checks on receipt" in docs/decisions.md); a fault of the connection queues
 * RR_ACT_DISCONNECT.  After rr_conn_lost every call ends with RR_ACT_CALL_DONE and
 * every request with RR_ACT_REQUEST_DONE.  RR_ACT_CLOSED is the last action.
 *
 * Invariants, checked by tests after every step: avail never exceeds cap; messages sent
 * never exceed credits received; each Receive buffer has one owner; a call ends exactly
 * once, and only when none of its regions is accessible any more; nothing is owed after
 * CLOSED.
 */
#ifndef RR_CONN_CONN_H
#define RR_CONN_CONN_H

#include "base/base.h"
#include "base/list.h"
#include "base/trace.h"
#include "wire/wire.h"

struct rr_conn;

enum rr_conn_role { RR_CONN_CLIENT, RR_CONN_SERVER };

/* The versions that a connection may settle on.  A client that may use both begins with
 * 2 and goes down to 1 once, on the same connection, if the server refuses 2; one that
 * may use only 1 begins with it.  A server answers in the version of the first message.
 *                                                               [V3 to V6, v2 §4.2.3] */
enum rr_conn_versions { RR_CONN_V1 = 1 << 1, RR_CONN_V2 = 1 << 2 };

/*
 * Host authentication: a dialogue of opaque steps in property 6.     [v2 §5.2.6, P14]
 * The client begins.  Both functions are called from event functions and must not call
 * into the connection.
 */
struct rr_auth {
	/* Takes the peer's step (@in NULL, @in_len 0 for the client's first) and
	 * returns ours, in memory of the hook that stays valid until the next step.  0:
	 * more steps follow, and ours is sent even if it is empty.  1: done; ours is
	 * sent unless it is empty.  Negative: failed; ours is sent if it is not empty,
	 * then the connection ends with -EACCES. */
	int (*step)(void *ctx, const void *in, size_t in_len, const void **ret_out,
	            size_t *ret_out_len);
	void *ctx; /* of this connection alone */
	/* Takes each other property in order, as it is sent (@own) or was received:
	 * both peers see the same unless a third party changed it.  All properties of a
	 * peer precede its first step.  False: refused.  May be NULL. */
	bool (*property)(void *ctx, bool own, uint32_t id, const void *data,
	                 size_t len);
};

/* A property that an extension defines.                        [v2 §5, §B.4] */
struct rr_ext_prop {
	uint32_t id;
	/* Do these octets conform to its type?  Pure; NULL: all do. */
	bool (*conforms)(const void *data, size_t len);
	const void *data; /* our value; NULL: none is sent */
	uint32_t len;
	const void *deflt; /* the peer's value if it sends none */
	uint32_t deflt_len;
};

enum { RR_EXT_MAX = 16 };

/* What extensions add to the base protocol; each number is listed once.    [v2 §B] */
struct rr_ext_table {
	unsigned n_htypes, n_props, n_errors;
	uint32_t htype[RR_EXT_MAX];
	uint32_t flags[RR_EXT_MAX]; /* flags that messages of that type may have */
	struct rr_ext_prop prop[RR_EXT_MAX];
	uint32_t error[RR_EXT_MAX]; /* codes without arguments; each ends a call */
};

/*
 * Memory that a connection shares with others.  Whole requests ask for it at
 * RR_ACT_ADMIT, where the user decides when they proceed; this is for Calls received in
 * parts, one at a time.  All NULL: such Calls count against max_held_bytes as they
 * grow, and do not wait.  These functions must not call into the connection, but for
 * rr_conn_room.
 */
struct rr_room {
	/* Asks for the memory that a Call which begins can need.  1: it has @ret_bytes;
	 * 0: it waits for rr_conn_room; negative: it is refused. */
	int (*ask)(void *ctx, uint64_t *ret_bytes);
	/* The Call no longer waits. */
	void (*leave)(void *ctx);
	/* Takes back the room of a Call that does not become a request. */
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

/* -- Calls: the Requester half --------------------------------------------- */

/* The destination of an eligible result: one Write chunk.        [v2 §4.3.6] */
struct rr_dest {
	void *base;           /* NULL with len 0: an empty Write chunk */
	size_t len;           /* octets at @base: the longest result */
	size_t ret_len;       /* octets received; set before RR_ACT_CALL_DONE */
	const void *ret_base; /* @base; or memory of the connection, lent until
	                       * rr_conn_call_release, if a second attempt needed more
	                       * room (see rr_call_recover) */
	bool ret_used;        /* false: the chunk came back unused */
	bool ret_offered;     /* the Call that was answered had a chunk for it, with
	                       * room */
};

enum rr_call_flag {
	RR_CALL_NO_REDUCE = 1 << 0,  /* send eligible items in the payload */
	RR_CALL_SPECIAL = 1 << 1,    /* Special Format even if it fits inline */
	RR_CALL_REVERSE = 1 << 2,    /* set by the connection: server to client */
	RR_CALL_IDEMPOTENT = 1 << 3, /* may be executed twice, see rr_call_recover */
	RR_CALL_NO_WRITES = 1 << 4,  /* no Write chunks: results are in the payload */
	RR_CALL_WHOLE = 1 << 5,      /* Special Format if the peer's limits allow it */
	RR_CALL_ROOM = 1 << 6,       /* a Reply chunk of @reply_bytes, however short */
};

/* The result of a call.  Above zero: an error that the peer reported. */
enum rr_call_status {
	RR_CALL_OK = 0,
	/* negative errno: -ECONNRESET and others: the connection is lost; the call may
	 * be sent again on another one (the server may have executed it);
	 * -ECANCELED: rr_conn_cancel; -EBADMSG: the Reply was malformed;
	 * -EMSGSIZE: it cannot be expressed within the peer's limits;
	 * -EPROTONOSUPPORT: no common version, or no reverse direction;
	 * -EPROTO: the Reply broke a rule of the transport. */
	RR_CALL_REMOTE_ERROR = 1, /* RDMA2_ERROR, see @error */
};

/* Limits of a second attempt, set by rr_call_recover; all zero in a new call. */
struct rr_recovery {
	struct rr_error error; /* the error that it acts on; code 0: none yet */
	unsigned max_reads, max_writes, max_segments; /* if there was an error */
	bool reply_chunk;   /* offer a Reply chunk however short the Reply may be */
	size_t reply_bytes; /* octets of the Reply chunk; 0: as the call says */
	unsigned dest;      /* number, from 1, of a destination that needs more room */
	size_t dest_bytes;  /* octets of its room; with @dest 0: none does */
	/* What the Call offered when the error was received. */
	unsigned reads, writes, segments;
	bool special;
	uint64_t reply_chunk_bytes;
};

/*
 * A Call.  The user sets the upper part.  It keeps the structure, the payload's memory
 * and the destinations untouched until it has polled RR_ACT_CALL_DONE and, if there is
 * a Reply, called rr_conn_call_release.
 */
struct rr_call {
	uint32_t xid;                  /* also the first word of the payload */
	unsigned flags;                /* enum rr_call_flag */
	const struct rr_piece *pieces; /* the RPC Call, unreduced */
	unsigned n_pieces;             /* at most RR_CALL_MAX_PIECES */
	struct rr_dest *dests;
	unsigned n_dests;   /* at most RR_WIRE_MAX_WRITES */
	size_t reply_bytes; /* limit of the Reply's Payload stream without the results
	                     * in @dests; 0: unknown, small.  A Reply chunk is offered
	                     * if this exceeds what continuation should carry
	                     * [v2 §A.2] */
	uint64_t user;      /* not touched */

	/* Result, valid from RR_ACT_CALL_DONE to rr_conn_call_release. */
	int status;            /* enum rr_call_status or negative errno */
	struct rr_error error; /* if RR_CALL_REMOTE_ERROR */
	const void *reply;     /* the Reply's Payload stream, without reduced items */
	size_t reply_len;

	/* Used by the connection.  @recovery passes from one attempt to the next. */
	struct rr_recovery recovery;
	struct rr_list link;
	struct rr_call_state *priv;
};

enum { RR_CALL_MAX_PIECES = 24, RR_ACTION_MAX_SGE = 28 };

/* -- Requests: the Responder half ------------------------------------------ */

enum {
	RR_REQUEST_MAX_READS = 16,
	RR_SPECIAL_HEAD = 4096, /* octets pulled before ADMIT: an RPC header fits */
};

/*
 * A Call being served.  The connection owns it from RR_ACT_ADMIT to the end of
 * RR_ACT_REQUEST_DONE; its memory (pieces) is lent to the user from RR_ACT_REQUEST to
 * RR_ACT_REQUEST_DONE.
 */
struct rr_request {
	uint32_t xid;
	bool special; /* arrived as a Special Call */
	bool continued;
	/* At RR_ACT_ADMIT pieces[0] is the reduced Payload stream; for a Special Call
	 * its first RR_SPECIAL_HEAD octets.  At RR_ACT_REQUEST the pieces are the
	 * unreduced stream, with items marked. */
	unsigned n_pieces;
	struct rr_piece pieces[2 * RR_REQUEST_MAX_READS + 1];
	/* What the Requester offers, for decisions at ADMIT. */
	uint64_t call_bytes;   /* octets of a Special Call's reduced stream; else 0 */
	uint64_t roomed_bytes; /* octets of a continued Call's room; from ADMIT on the
	                        * user gives them back */
	uint64_t held_bytes;   /* of these: octets in use for its parts */
	unsigned n_reads;      /* Read chunks, Position Zero not counted */
	uint64_t read_bytes;   /* octets in them */
	unsigned n_writes;     /* Write chunks */
	uint64_t write_bytes[RR_WIRE_MAX_WRITES];
	bool has_reply_chunk;
	uint64_t reply_chunk_bytes;
	uint64_t user;  /* not touched; 0 at ADMIT */
	bool unreduced; /* set by the user: items of the reply stay in the payload, and
	                 * Write chunks come back unused [K18] */

	struct rr_list link;
	struct rr_request_state *priv;
};

/* -- Actions --------------------------------------------------------------- */

enum rr_action_kind {
	RR_ACT_POST_RECV,    /* sge[0], token */
	RR_ACT_SEND,         /* sge, n_sge, inv_handle, token */
	RR_ACT_WRITE,        /* sge, n_sge, handle, offset, token */
	RR_ACT_READ,         /* sge[0], handle, offset, token */
	RR_ACT_REGISTER,     /* sge[0] (length in @reg_len), access, token */
	RR_ACT_INVALIDATE,   /* handle, token */
	RR_ACT_READY,        /* properties are exchanged; RPC may begin */
	RR_ACT_EXTENSION,    /* ext: an event of an extension */
	RR_ACT_ADMIT,        /* request: answer by rr_conn_admit or rr_conn_refuse */
	RR_ACT_REQUEST,      /* request, complete: answer by rr_conn_reply or _refuse */
	RR_ACT_REQUEST_DONE, /* request, status: the reply's memory may be reused; the
	                      * next poll frees the request */
	RR_ACT_CALL_DONE,    /* call: ended */
	RR_ACT_DISCONNECT,   /* status: end the provider's connection in order */
	RR_ACT_CLOSED,       /* after rr_conn_lost: the last action */
};

enum rr_ext_what {
	RR_EXT_MESSAGE,  /* a message of an extension's type was received */
	RR_EXT_ERROR,    /* the peer answered our message @xid by @error */
	RR_EXT_PROPERTY, /* the peer's value; before READY */
	RR_EXT_DEFAULT,  /* the default: the peer sent none, or one without data */
	RR_EXT_REFUSED,  /* the peer refused our value [P4] */
};

/* Lent until the next poll. */
struct rr_ext_event {
	enum rr_ext_what what;
	uint32_t number;     /* header type or property id */
	uint32_t xid, flags; /* RDMA2_F_RESPONSE and the flags of the extension */
	uint32_t error;
	const void *data; /* octets after the prefix; of a property rdma_data */
	size_t len;
};

struct rr_action {
	enum rr_action_kind kind;
	uint64_t token; /* an address: not for traces */
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

/* Takes the next action from the queue; false if there is none. */
bool rr_conn_next(struct rr_conn *, struct rr_action *ret);

/* -- Events ---------------------------------------------------------------- */

/* Creates a connection; the configuration is borrowed.  -EINVAL: a limit or timer is 0,
 * no version is named, or auth_required cannot be met; -ENOMEM. */
int rr_conn_new(const struct rr_conn_config *, rr_time now,
                struct rr_conn **ret) RR_MUST_CHECK;
/* Frees the connection, after RR_ACT_CLOSED was polled or before rr_conn_open. */
void rr_conn_free(struct rr_conn *);

/* Before rr_conn_open: declares that the local device does not let a peer invalidate
 * regions, so the peer is not asked to.  The connection may still invalidate the
 * peer's. */
void rr_conn_no_remote_inv_in(struct rr_conn *);
/* Before rr_conn_open: declares that RDMA Reads cannot be made (the peer's IRD or our
 * ORD is 0).  Calls with Read chunks are refused by RDMA2_ERR_READ_CHUNKS with a
 * maximum of 0. */
void rr_conn_cannot_read(struct rr_conn *);

/* Receives that a server posts before its client's first message. */
enum { RR_FIRST_RECEIVES = 3 };
/* The provider's connection is up.  RR_ACT_POST_RECV may be polled before. */
void rr_conn_open(struct rr_conn *, rr_time now);

/* Before rr_conn_open: takes the private data that came with the provider's connection,
 * octets of the peer.  They matter if version 1 is settled on.  [RFC 8797] */
void rr_conn_peer_private(struct rr_conn *, const void *data, size_t len);
/* Writes our private data.  Returns their octets; 0 if version 1 is not possible. */
size_t rr_conn_own_private(const struct rr_conn_config *, uint8_t ret[8]);

/* A Receive has completed.  @token as posted; @inv_handle: the region that the Send
 * invalidated, 0: none. */
void rr_conn_received(struct rr_conn *, uint64_t token, size_t len, uint32_t inv_handle,
                      rr_time now);
/* A Send, Write, Read or Invalidate has completed, or a Receive was flushed.  A post
 * that failed is reported in the same way.  -EINVAL of an Invalidate means that there
 * is no such region (the peer invalidated it first), and counts as success. */
void rr_conn_completed(struct rr_conn *, uint64_t token, int status, rr_time now);
/* Answers RR_ACT_REGISTER: @status 0 and the handle, or the error. */
void rr_conn_registered(struct rr_conn *, uint64_t token, int status, uint32_t handle,
                        uint64_t offset);
/* The provider's connection is over: no region is accessible.  @error as in
 * RR_WC_DISCONNECTED.  Posts that have not completed count as flushed; later events are
 * ignored.  CLOSED waits for requests that the user still holds, and for Replies that
 * were not released. */
void rr_conn_lost(struct rr_conn *, int error, rr_time now);
/* Ends what has waited too long; sends what is due. */
void rr_conn_tick(struct rr_conn *, rr_time now);
/* Returns when rr_conn_tick is to be called; RR_TIME_NEVER: no timer runs. */
rr_time rr_conn_deadline(const struct rr_conn *);

/* Queues a Call, also before READY.  -EINVAL: misuse (the XID is not the first word, or
 * is outstanding; lengths that are not XDR); -ENOMEM; or the error that ended the
 * connection.  No CALL_DONE follows an error. */
int rr_conn_call(struct rr_conn *, struct rr_call *, rr_time now) RR_MUST_CHECK;
/* Ends a call early: its regions are invalidated, then CALL_DONE follows with
 * -ECANCELED.  A late Reply is dropped.  Does nothing if the call has ended.  If part of
 * the Call has been sent, an aborting final part ends it, which the peer must refuse;
 * that error would hit a new call with the same XID. */
void rr_conn_cancel(struct rr_conn *, struct rr_call *, rr_time now);
/*
 * After CALL_DONE with RR_CALL_REMOTE_ERROR: changes @call for a second attempt that
 * avoids the error, if there is one. [E6, K11]  True: queue it again by rr_conn_call
 * under a new XID, on this or another connection.  If that turns out to be impossible,
 * the call ends with the same error again.
 *
 *   READ_CHUNKS     reduces no more items than the peer takes
 *   WRITE_CHUNKS    offers no more Write chunks than the peer takes, and a Reply chunk
 *                   for the other results
 *   SEGMENTS        offers no more segments in all than the peer takes; the other items
 *                   are sent in the payload, both ways
 *   WRITE_RESOURCE, REPLY_RESOURCE
 *                   of RR_CALL_IDEMPOTENT calls, if the peer named a length within
 *                   max_message_bytes: offers a larger chunk
 *   BAD_XDR         in version 1, where it stands for ERR_CHUNK, of RR_CALL_IDEMPOTENT
 *                   calls: offers a larger Reply chunk, up to max_message_bytes in a
 *                   few attempts
 *
 * But for the last there is one second attempt only.  A second error, an error that
 * asks for what was done already, and every other code are final: @call stays as it is.
 */
bool rr_call_recover(struct rr_conn *, struct rr_call *);
/* Takes the memory of the Reply chunk that holds the Reply of a call with RR_CALL_OK;
 * the user gives its @ret_bytes back by rr_mem_put.  False: the Reply is elsewhere, or
 * its memory is charged to the connection's quota. */
bool rr_conn_call_take(struct rr_call *, void **ret, size_t *ret_bytes);
/* Gives the Reply's memory back; frees the call. */
void rr_conn_call_release(struct rr_conn *, struct rr_call *, rr_time now);

/* At ADMIT: returns the octets of the @i-th of n_reads Read chunks. */
size_t rr_conn_read_bytes(const struct rr_request *, unsigned i);
/*
 * Admits a request: its Read chunks are pulled.  @sinks names for each Read chunk, in
 * order, memory of at least its length, lent until REQUEST_DONE.  NULL: the connection
 * provides the memory.
 */
void rr_conn_admit(struct rr_conn *, struct rr_request *, const struct rr_sge *sinks,
                   rr_time now);
/* Grants @bytes, not 0, to the Call for which rr_room.ask returned 0. */
void rr_conn_room(struct rr_conn *, uint64_t bytes, rr_time now);
/* Answers by RDMA2_ERROR and ends the request; from ADMIT or REQUEST. */
void rr_conn_refuse(struct rr_conn *, struct rr_request *, const struct rr_error *,
                    rr_time now);
/*
 * Answers, from REQUEST, or from ADMIT (then nothing more is pulled).  The array of at
 * most RR_CALL_MAX_PIECES pieces is borrowed; the memory that it names is lent until
 * REQUEST_DONE.  Items fill the Write chunks in order.  Those that exceed the chunks,
 * or whose chunk has no segments, are sent in the payload; chunks without an item come
 * back unused [K21].  The format is chosen as [K9] says.  If a Write chunk is too
 * small, or there is no way to send the rest, the specified RDMA2_ERROR is sent instead
 * and REQUEST_DONE has -EMSGSIZE.
 */
void rr_conn_reply(struct rr_conn *, struct rr_request *, const struct rr_piece *,
                   unsigned n_pieces, rr_time now);
/* Ends a request without an answer; the user closes the connection soon. */
void rr_conn_drop(struct rr_conn *, struct rr_request *, rr_time now);

/* -- Extensions ----------------------------------------------------- [v2 §B] */

/*
 * Queues a message of an extension's type: the prefix and @len octets of @body, copied,
 * a multiple of four.  It costs a credit.  @xid 0: a new XID, stored in @ret_xid (may
 * be NULL).  Else, with RDMA2_F_RESPONSE in @flags, the XID of a message of the peer.
 * -EAGAIN: not READY; -EOPNOTSUPP: the peer does not know this type [E7], or the
 * version has none; -EINVAL: not in the table, or misuse; -EMSGSIZE: above the
 * threshold; -ENOBUFS: RR_EXT_QUEUE messages wait already; -ENOMEM; or the error that
 * ended the connection.
 */
enum { RR_EXT_QUEUE = 64 };
int rr_conn_ext_send(struct rr_conn *, uint32_t htype, uint32_t flags, uint32_t xid,
                     const void *body, size_t len, uint32_t *ret_xid,
                     rr_time now) RR_MUST_CHECK;
/* Answers the message of RR_EXT_MESSAGE by RDMA2_ERROR, before the next poll.  Sends
 * nothing if the message has RDMA2_F_RESPONSE. [E2] */
void rr_conn_ext_refuse(struct rr_conn *, const struct rr_ext_event *, uint32_t code,
                        rr_time now);

/* Asks for an orderly end: no new calls; RR_ACT_DISCONNECT follows. */
void rr_conn_close(struct rr_conn *, int status, rr_time now);

/* -- Facts ----------------------------------------------------------------- */

struct rr_conn_info {
	bool ready;
	bool answered;        /* a message of the peer was received, in any version */
	uint32_t version;     /* 0 until settled */
	uint32_t send_inline; /* inline threshold towards the peer */
	uint32_t recv_inline;
	bool remote_invalidate;                         /* both ends can use it */
	uint32_t peer_segment_bytes, peer_max_segments; /* 0: the peer named none, as in
	                                                 * version 1 */
	uint32_t peer_rvrsdir;
	uint32_t cap, avail, owed; /* credits [C3]; in version 1 the transactions that
	                            * may be outstanding, those that may begin, 0 */
	uint32_t receives_posted;
	uint32_t calls, requests; /* alive */
	uint64_t held_bytes;
	int error; /* first error, 0 while alive */
};

/* Octets and messages by path, since creation. */
struct rr_conn_counters {
	uint64_t calls, replies, requests, request_replies;
	uint64_t sends, grants, errors_sent, errors_received, discards;
	uint64_t credit_stalls;
	uint64_t overruns; /* messages received beyond the credits that we granted */
	uint64_t ext_sent, ext_received;        /* messages of extensions */
	uint64_t recoveries;                    /* calls that rr_call_recover changed */
	uint64_t bytes_inline, bytes_continued; /* payload octets, both ways */
	uint64_t bytes_read_chunk, bytes_write_chunk, bytes_reply_chunk,
	        bytes_special_call;
	uint64_t bytes_pulled;    /* by Reads that have completed */
	uint64_t bytes_collected; /* in parts of Calls, executed or not */
	uint64_t registrations, local_invalidations, remote_invalidations;
};

void rr_conn_info(const struct rr_conn *, struct rr_conn_info *ret);
void rr_conn_counters(const struct rr_conn *, struct rr_conn_counters *ret);

#endif
