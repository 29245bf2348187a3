/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC-over-RDMA connection, version 2 or 1, sans I/O: events in, actions out.
 *
 * The object serves both roles at once: as Requester it sends Calls and receives
 * Replies, as Responder it receives Calls and sends Replies.  The transport role
 * (client or server) only decides which peer sends first and how property 5 is read.
 * The object makes no system call, reads no clock, allocates through config.mem only,
 * and never calls its user except through the hooks in its configuration.
 *
 * Use: after every event function, call rr_conn_next() until it returns false, and
 * carry out each action at once.  Answer RR_ACT_REGISTER by calling rr_conn_registered
 * before the next rr_conn_next.  Call rr_conn_tick at the time that rr_conn_deadline()
 * returns.
 *
 * Normal path of a Call: rr_conn_call -> RR_ACT_REGISTER (one for each chunk) ->
 * RR_ACT_SEND (one or several) -> [peer] -> rr_conn_received -> RR_ACT_INVALIDATE (for
 * regions that the peer did not invalidate) -> RR_ACT_CALL_DONE.
 * Normal path of a request: rr_conn_received -> RR_ACT_ADMIT -> [rr_conn_admit ->
 * RR_ACT_READ -> RR_ACT_REQUEST, if there are Read chunks] -> rr_conn_reply ->
 * RR_ACT_WRITE -> RR_ACT_SEND -> RR_ACT_REQUEST_DONE.
 *
 * Failure: a faulty message ends one call, with RDMA2_ERROR or a local error
 * ("Order of checks on receipt" in docs/decisions.md).  A connection error queues
 * RR_ACT_DISCONNECT.  After rr_conn_lost every call ends with RR_ACT_CALL_DONE and
 * every request with RR_ACT_REQUEST_DONE.  RR_ACT_CLOSED is the last action.
 *
 * Invariants, checked by tests after every step: avail never exceeds cap; messages sent
 * never exceed credits received; each Receive buffer has one owner; a call ends exactly
 * once, and only when the peer can no longer access its regions; no completion and no
 * event is outstanding after CLOSED.
 */
#ifndef RR_CONN_CONN_H
#define RR_CONN_CONN_H

#include "base/base.h"
#include "base/list.h"
#include "base/trace.h"
#include "conn/feature_config.h"
#include "wire/wire.h"

struct rr_conn;

enum rr_conn_role { RR_CONN_CLIENT, RR_CONN_SERVER };

/* The versions on which a connection may settle.  A client that allows both starts with
 * version 2.  If the server refuses version 2, the client falls back to version 1, once
 * and on the same connection.  A client that allows only version 1 starts with version
 * 1.  A server uses the version of the client's first message. [V3 to V6, v2 §4.2.3] */
enum rr_conn_versions { RR_CONN_V1 = 1 << 1, RR_CONN_V2 = 1 << 2 };

/*
 * Host authentication: a dialogue of opaque steps in property 6. [v2 §5.2.6, P14] The
 * client sends the first step.  The functions below are called from event functions and
 * must not call into the connection.
 */
struct rr_auth {
	/* Processes the peer's step (for the client's first step @in is NULL and
	 * @in_len 0) and produces our step, in the hook's memory, valid until the next
	 * step.  Returns 0 if more steps follow; our step is then sent even if it is
	 * empty.  Returns 1 if the dialogue is complete; our step is sent unless it is
	 * empty.  Returns a negative value on failure; our step is sent unless it is
	 * empty, and the connection is closed with -EACCES. */
	int (*step)(void *ctx, const void *in, size_t in_len, const void **ret_out,
	            size_t *ret_out_len);
	void *ctx; /* argument for both functions; not shared with other connections */
	/* Called for each property other than 6, in the order of transmission, when it
	 * is sent (@own) or received.  Both peers see the same properties unless a
	 * third party changed them.  A peer sends all its properties before its first
	 * authentication message.
	 * Returns false to refuse the peer.  May be NULL. */
	bool (*property)(void *ctx, bool own, uint32_t id, const void *data,
	                 size_t len);
};

/* A property that an extension defines.                        [v2 §5, §B.4] */
struct rr_ext_prop {
	uint32_t id;
	/* Returns true if @data conforms to the property's type.  The function must
	 * have no side effects.  NULL = all data conforms. */
	bool (*conforms)(const void *data, size_t len);
	const void *data; /* our value; NULL = not sent */
	uint32_t len;
	const void *deflt; /* the peer's value if the peer sends none */
	uint32_t deflt_len;
};

enum { RR_EXT_MAX = 16 };

/* The header types, properties and error codes that extensions add to the base
 * protocol.  No number may be listed twice.                             [v2 §B] */
struct rr_ext_table {
	unsigned n_htypes, n_props, n_errors;
	uint32_t htype[RR_EXT_MAX];
	uint32_t flags[RR_EXT_MAX]; /* flags allowed in messages of type @htype[i] */
	struct rr_ext_prop prop[RR_EXT_MAX];
	uint32_t error[RR_EXT_MAX]; /* error codes without arguments; an error with such
	                             * a code ends the call */
};

/*
 * Memory that a connection shares with other connections, for Calls received in parts.
 * A connection requests such memory for one Call at a time.  (Other requests get their
 * memory at RR_ACT_ADMIT, when the user decides whether each request may proceed.)  If
 * all members are NULL, Calls received in parts do not wait: their buffers count
 * towards max_held_bytes as they grow.  These functions must not call into the
 * connection, except for rr_conn_room.
 */
struct rr_room {
	/* Requests the memory that a new Call may need.  Returns 1 if the memory is
	 * granted, and stores its size in octets in @ret_bytes; 0 if the Call must wait
	 * for rr_conn_room; a negative value if the request is refused. */
	int (*ask)(void *ctx, uint64_t *ret_bytes);
	/* Withdraws the pending request for a Call that no longer waits. */
	void (*leave)(void *ctx);
	/* Releases @bytes granted to a Call that does not become a request. */
	void (*give)(void *ctx, uint64_t bytes);
	void *ctx;
};

/* Memory of the process for replies that peers may read [ext §3.8].  The functions must
 * not call into the connection.  NULL = no limit. */
struct rr_exposure_budget {
	/* Reserves @bytes for a reply: in the user's memory if @in_place, otherwise in
	 * a copy.  Returns false if there is too little memory. */
	bool (*take)(void *ctx, uint64_t bytes, bool in_place);
	/* Returns reserved memory. */
	void (*give)(void *ctx, uint64_t bytes, bool in_place);
	void *ctx;
};

/* Objects that connections take turns to use, see stock.h.  The stock allocates them
 * from @mem.  All connections that share a stock have the same rr_conn_config.mem, and
 * one thread uses them. */
struct rr_stock;
/* Returns NULL if there is no memory. */
struct rr_stock *rr_stock_new(const struct rr_mem *mem);
/* Frees the stock, which no connection uses any longer.  Ignores NULL. */
void rr_stock_free(struct rr_stock *);

/* Every limit and timer must be nonzero, unless its comment says what 0 means. */
struct rr_conn_config {
	enum rr_conn_role role;
	uint32_t id;            /* for traces */
	struct rr_mem mem;      /* lent for the connection's life */
	struct rr_stock *stock; /* lent; NULL = the connection has one of its own */
	const struct rr_trace_sink *trace; /* lent; may be NULL */
	uint32_t xid_seed; /* first XID for transport messages that carry no RPC
	                    * message */

	/* Advertised properties and limits. */
	uint32_t send_bytes;      /* property 1 */
	uint32_t recv_bytes;      /* property 2: size of each Receive */
	uint32_t send_item_bytes; /* maximum number of octets in the items that a Call
	                           * carries itself, if there are enough credits;
	                           * longer items are Read chunks; 0 = none [K25] */
	uint32_t segment_bytes;   /* property 3 */
	uint32_t max_segments; /* property 4; at most RR_WIRE_MAX_SEGMENTS.  In version
	                         * 1, where a peer announces no limit, @max_segments
	                         * also limits the segments of each Call sent */
	uint32_t rvrsdir; /* property 5, enum rr_rvrsdir; client only.  Version 1 has no
	                   * such property.  There, a client serves its server's Calls
	                   * if the value is above NONE, and Calls with chunks only if
	                   * it is GENL; a server sends Calls with chunks only if its
	                   * own value is GENL [RFC 8167] */
	uint32_t credits; /* the credit ceiling H, 2 to 32767 */
	uint32_t send_credits; /* upper limit on credits for sending, at least @credits;
	                        * 0 = same as @credits */
	uint32_t max_requests; /* maximum number of requests served at once; further
	                        * requests wait, and credits are withheld */
	uint32_t max_message_bytes; /* largest Call received in parts */
	uint32_t max_special_bytes; /* largest Special Call; 0 = same as
	                             * @max_message_bytes */
	uint32_t max_chunk_bytes;   /* largest Read chunk */
	uint64_t max_held_bytes;    /* memory for Read chunks, and for reassembled
	                             * messages that rr_room does not cover */
	struct rr_room room;
	bool pooled_receives; /* RR_ACT_POST_RECV has no memory: sge[0].base is NULL, and
	                       * the provider calls rr_conn_receive_memory */
	bool remote_invalidate;         /* the provider can send and receive Send With
	                                 * Invalidate */
	bool v1_no_remote_inv;          /* in version 1, use Send With Invalidate in
	                                 * neither direction; our private data states
	                                 * this */
	const struct rr_ext_table *ext; /* lent for the connection's life; NULL = no
	                                 * extensions */
	struct rr_feature_config features;
	struct rr_exposure_budget exposure_budget;
	struct rr_auth auth;     /* if @step is NULL, property 6 is ignored */
	bool auth_required;      /* refuse peers that do not authenticate; requires
	                          * @auth */
	unsigned versions;       /* enum rr_conn_versions */
	uint32_t extra_receives; /* additional Receives, for peers that count credits
	                          * differently [C3 model] */

	/* Timers; RR_TIME_NEVER = no limit. */
	rr_time first_answer_ns; /* how long a client waits for the server's first
	                          * message */
	rr_time props_ns;        /* time limit for the exchange of properties in both
	                          * directions.  On a server, in any version, this time
	                          * includes the wait for the client's first message */
	rr_time grant_ns; /* delay before a grant message returns the credits owed */
	rr_time drain_ns; /* how long a call waits for the last part of a malformed
	                   * Reply.  The connection is closed if it has cancelled calls
	                   * whose memory the provider still uses, and none of them ends
	                   * for this long.  A client also closes a version 1 connection
	                   * if unanswered cancelled calls block all other calls for
	                   * this long */
	rr_time keepalive_ns; /* interval between grant messages while no other message
	                       * is sent and a credit is available [C12] */
};

/* -- Calls: the Requester half --------------------------------------------- */

/* Ways to place a result. */
enum rr_direct {
	RR_DIRECT_NONE,    /* a Write chunk */
	RR_DIRECT_WRITE,   /* RDMA Write, by optional header types */
	RR_DIRECT_SEND,    /* by Send */
	RR_DIRECT_CHOICE,  /* the peer chooses one of the two */
	RR_DIRECT_BY_SIZE, /* RDMA Write above a length, otherwise by Send */
	RR_DIRECT_FIT,     /* by Send if the response can hold it, otherwise a Write
	                    * chunk */
};

/* The destination of a DDP-eligible result: one Write chunk.      [v2 §4.3.6] */
struct rr_dest {
	void *base; /* NULL with @len 0 = an empty Write chunk */
	size_t len; /* size of @base in octets, which limits the length of the
	                       * result */
	/* How the peer is asked to place the result, if it has the feature RTR.
	 * [ext §5.5] */
	enum rr_direct direct;
	bool lend;           /* @ret_base may point to a result in its Receive buffer */
	uint32_t min_len;    /* shorter results stay in the payload, octets */
	uint32_t above;      /* RR_DIRECT_BY_SIZE: longer results are written */
	uint32_t begin, end; /* range of positions in the Call of the operation that
	                       * the result belongs to; both 0 = the whole Call */
	size_t ret_len;      /* octets received; set before RR_ACT_CALL_DONE */
	const void *ret_base; /* @base, or memory that the connection owns and lends
	                       * until rr_conn_call_release: if a second attempt needed
	                       * more space (see rr_call_recover), or with @lend */
	bool ret_used;        /* false = the peer returned the chunk unused */
	bool ret_offered;     /* the answered Call provided a chunk with segments for
	                       * this result */
};

enum rr_call_flag {
	RR_CALL_NO_REDUCE = 1 << 0,  /* send eligible items in the payload */
	RR_CALL_SPECIAL = 1 << 1,    /* send by Special Format even if the Call fits
	                              * inline */
	RR_CALL_REVERSE = 1 << 2,    /* set by the connection: the Call goes from server
	                              * to client */
	RR_CALL_IDEMPOTENT = 1 << 3, /* may be executed twice; see rr_call_recover */
	RR_CALL_NO_WRITES = 1 << 4,  /* provide no Write chunks: results are in the
	                              * payload */
	RR_CALL_WHOLE = 1 << 5,      /* send by Special Format if the peer's limits
	                              * allow it */
	RR_CALL_LARGE_REPLY = 1 << 7, /* the Reply's length usually is near
	                               * @reply_bytes */
	RR_CALL_ROOM = 1 << 6,        /* provide a Reply chunk of @reply_bytes octets
	                              * even for a short Reply */
};

/* The result of a call. */
enum rr_call_status {
	RR_CALL_OK = 0,
	/* A negative value is an errno code.  -ECANCELED: rr_conn_cancel ended the
	 * call.  -EBADMSG: the Reply was malformed.  -EMSGSIZE: the Call or Reply does
	 * not fit the peer's limits.  -EPROTONOSUPPORT: there is no common version, or
	 * no reverse direction.  -EPROTO: the Reply violated the transport protocol.
	 * Any other value, such as -ECONNRESET: the connection was lost, and the server
	 * may have executed the call; the user may send it again on another
	 * connection. */
	RR_CALL_REMOTE_ERROR = 1, /* the peer reported rr_call.error */
};

/* Limits of a second attempt, set by rr_call_recover; all zero in a new call. */
struct rr_recovery {
	bool group_refused; /* the peer did not process the Call, because of its optional
	                     * header type */
	bool base_types;    /* use base header types only */
	struct rr_error error; /* the error to recover from; code 0 = none yet */
	unsigned max_reads, max_writes, max_segments; /* valid if error.code is not 0 */
	bool reply_chunk;   /* provide a Reply chunk even for a short Reply */
	size_t reply_bytes; /* length of the Reply chunk, octets; 0 = the length that
	                     * the call requests */
	unsigned dest;      /* number of the destination that needs more space, counted
	                     * from 1; 0 = none */
	size_t dest_bytes;  /* octets that destination @dest needs */
	/* Chunks that the Call provided when the error was received. */
	unsigned reads, writes, segments;
	bool special;
	bool as_group; /* the Call was sent as a group; a second attempt never is */
	bool carried;  /* the Call was continued because it carried items */
	uint64_t reply_chunk_bytes;
};

/*
 * A Call.  The user sets the members above "Result".  From rr_conn_call on, the user
 * must not touch the structure, the payload's memory or the destinations until
 * RR_ACT_CALL_DONE has been polled and, if there is a Reply, rr_conn_call_release has
 * been called.
 */
struct rr_call {
	uint32_t xid;                  /* equal to the first word of the payload */
	unsigned flags;                /* enum rr_call_flag */
	const struct rr_piece *pieces; /* the RPC Call, unreduced */
	unsigned n_pieces;             /* at most RR_CALL_MAX_PIECES */
	struct rr_dest *dests;
	unsigned n_dests;   /* at most RR_WIRE_MAX_WRITES */
	size_t reply_bytes; /* expected maximum length of the Reply's Payload stream,
	                     * without the results in @dests; 0 = unknown, assumed
	                     * small.  A Reply chunk is provided if a Reply of this
	                     * length is too long for continued messages [v2 §A.2] */
	size_t reply_min; /* expected minimum length of that stream; 0 = unknown.  If the
	                     * peer can expose replies, a Reply chunk is provided only if
	                     * even this length does not fit in one message [ext §3.4] */
	uint64_t user;    /* for the user; the connection does not use it */

	/* Result, valid from RR_ACT_CALL_DONE to rr_conn_call_release. */
	int status;            /* enum rr_call_status or negative errno */
	struct rr_error error; /* if RR_CALL_REMOTE_ERROR */
	const void *reply;     /* the Reply's Payload stream, without reduced items */
	size_t reply_len;

	/* Used by the connection.  @recovery is preserved between attempts. */
	struct rr_recovery recovery;
	struct rr_list link;
	struct rr_call_state *priv;
};

enum { RR_CALL_MAX_PIECES = 24, RR_ACTION_MAX_SGE = 28 };

/* -- Requests: the Responder half ------------------------------------------ */

enum {
	RR_REQUEST_MAX_READS = 16,
	RR_SPECIAL_HEAD = 4096, /* octets pulled before ADMIT: enough for an RPC
	                         * header */
};

/*
 * A Call being served.  The connection owns it from RR_ACT_ADMIT until the poll after
 * RR_ACT_REQUEST_DONE.  The memory of @pieces is lent to the user from RR_ACT_REQUEST
 * to RR_ACT_REQUEST_DONE.
 */
struct rr_request {
	uint32_t xid;
	bool special; /* arrived as a Special Call */
	bool continued;
	/* At RR_ACT_ADMIT pieces[0] is the reduced Payload stream, or its first
	 * RR_SPECIAL_HEAD octets if the Call is Special.  At RR_ACT_REQUEST the pieces
	 * are the unreduced stream, in which rr_piece.item marks DDP-eligible items. */
	unsigned n_pieces;
	struct rr_piece pieces[2 * RR_REQUEST_MAX_READS + 1];
	/* Sizes of the Call and of its chunks, for the user's decisions at
	 * RR_ACT_ADMIT. */
	uint64_t call_bytes;   /* octets of a Special Call's reduced stream, otherwise
	                        * 0 */
	uint64_t roomed_bytes; /* octets that rr_room granted to a continued Call; the
	                        * user must return them after ADMIT */
	uint64_t held_bytes; /* size of the buffer for the parts of a continued Call */
	unsigned n_reads;    /* Read chunks, without the Position Zero chunk */
	uint64_t read_bytes; /* octets in these Read chunks */
	unsigned n_writes;   /* Write chunks */
	/* Octets in each Write chunk.  If the peer has asked for the result by Send:
	 * octets of the longest result that a response can place by Send. */
	uint64_t write_bytes[RR_WIRE_MAX_WRITES];
	bool has_reply_chunk;
	uint64_t reply_chunk_bytes;
	uint64_t user;  /* for the user; 0 at ADMIT, then not changed */
	bool unreduced; /* set by the user: items of the reply stay in the payload, and
	                 * all Write chunks are returned unused [K18] */

	struct rr_list link;
	struct rr_request_state *priv;
};

/* -- Actions --------------------------------------------------------------- */

enum rr_action_kind {
	RR_ACT_POST_RECV,    /* sge[0], token; base NULL: see pooled_receives */
	RR_ACT_SEND,         /* sge, n_sge, inv_handle, token */
	RR_ACT_WRITE,        /* sge, n_sge, handle, offset, token */
	RR_ACT_READ,         /* sge[0], handle, offset, token */
	RR_ACT_REGISTER,     /* sge[0] (length in @reg_len), access, token */
	RR_ACT_INVALIDATE,   /* handle, token */
	RR_ACT_READY,        /* the connection is ready for RPC */
	RR_ACT_EXTENSION,    /* ext: an extension's event */
	RR_ACT_ADMIT,        /* request: answer with rr_conn_admit or rr_conn_refuse; or
	                      * serve it, see rr_conn_is_whole */
	RR_ACT_REQUEST,      /* request, complete: answer with rr_conn_reply or
	                      * rr_conn_refuse */
	RR_ACT_REQUEST_DONE, /* request, status: the reply's memory may be reused; the
	                      * next poll frees the request */
	RR_ACT_CALL_DONE,    /* call, status: has ended */
	RR_ACT_DISCONNECT,   /* start an orderly disconnect of the provider's
	                      * connection; status has the reason */
	RR_ACT_CLOSED,       /* status: last action, after rr_conn_lost */
};

enum rr_ext_what {
	RR_EXT_MESSAGE,  /* received a message of an extension's type */
	RR_EXT_ERROR,    /* the peer answered our message @xid with error code @error */
	RR_EXT_PROPERTY, /* received the peer's value, before READY */
	RR_EXT_DEFAULT,  /* the peer sent no value or an empty value, so the default
	                  * applies */
	RR_EXT_REFUSED,  /* the peer refused our value [P4] */
};

/* The event of RR_ACT_EXTENSION, lent until the next poll. */
struct rr_ext_event {
	enum rr_ext_what what;
	uint32_t number;     /* header type or property id */
	uint32_t xid, flags; /* flags: RDMA2_F_RESPONSE and the extension's flags */
	uint32_t error;
	const void *data; /* a message's octets after the prefix, or a property's
	                   * rdma_data */
	size_t len;
};

/* Only @kind and the members that enum rr_action_kind lists for the kind are set. */
struct rr_action {
	enum rr_action_kind kind;
	uint64_t token; /* an address: must not appear in traces */
	unsigned n_sge;
	unsigned access; /* RR_ACCESS_REMOTE_READ or RR_ACCESS_REMOTE_WRITE */
	size_t reg_len;
	uint32_t handle;
	uint32_t inv_handle;
	uint64_t offset;
	struct rr_call *call;
	struct rr_request *request;
	const struct rr_ext_event *ext;
	int status;
	struct rr_sge sge[RR_ACTION_MAX_SGE];
};

/* Removes the next action from the queue.  Returns false if there is none. */
bool rr_conn_next(struct rr_conn *, struct rr_action *ret);

/* -- Events ---------------------------------------------------------------- */

/* Creates a connection; the configuration is borrowed.  Returns 0, -ENOMEM, or -EINVAL
 * if a limit or timer is 0, no version is allowed, or auth_required cannot be met. */
int rr_conn_new(const struct rr_conn_config *, rr_time now,
                struct rr_conn **ret) RR_MUST_CHECK;
/* Frees the connection.  Call it after RR_ACT_CLOSED or before rr_conn_open. */
void rr_conn_free(struct rr_conn *);

/* Declares that the local device does not support the invalidation of our regions by a
 * peer.  Our Calls then do not request remote invalidation.  Our Sends may still
 * invalidate the peer's regions.  Call it before rr_conn_open. */
void rr_conn_no_remote_inv_in(struct rr_conn *);
/* Declares that the local device cannot send Send With Invalidate.  Our Sends then do
 * not invalidate the peer's regions.  Call it before rr_conn_open. */
void rr_conn_no_remote_inv_out(struct rr_conn *);
/* Declares that the connection survives if a peer invalidates a region that we have
 * already invalidated.  A cancelled call then need not wait for the peer [ext §4.4].
 * Call it before rr_conn_open. */
void rr_conn_survives_inv_twice(struct rr_conn *);
/* Declares that RDMA Reads are not possible (the peer's IRD or our ORD is 0).  Calls
 * with Read chunks are then refused with RDMA2_ERR_READ_CHUNKS and a maximum of 0.
 * Call it before rr_conn_open. */
void rr_conn_cannot_read(struct rr_conn *);
/* Declares that the peer cannot read our memory (our IRD or the peer's ORD is 0).  Call
 * it before rr_conn_open. */
void rr_conn_cannot_be_read(struct rr_conn *);

/* Number of Receives that a server posts before its client's first message. */
enum { RR_FIRST_RECEIVES = 3 };
/* Reports that the provider's connection is established.  RR_ACT_POST_RECV actions may
 * be polled before this call. */
void rr_conn_open(struct rr_conn *, rr_time now);

/* Passes in the private data that the peer sent when the provider's connection was
 * made.  The data is used only in version 1.  Call it before rr_conn_open.
 * [RFC 8797] */
void rr_conn_peer_private(struct rr_conn *, const void *data, size_t len);
/* Encodes our private data.  Returns its length in octets, or 0 if version 1 is not
 * allowed. */
size_t rr_conn_own_private(const struct rr_conn_config *, uint8_t ret[8]);

/* Provides @len octets of memory for the message that arrives in the Receive posted with
 * @token.  The first @have octets are preserved if the Receive has memory already.
 * Returns NULL if there is no memory.  See rr_prov_memory.receive. */
void *rr_conn_receive_memory(struct rr_conn *, uint64_t token, size_t have, size_t len);
/* Reports that the Receive posted with @token has completed.  @inv_handle is the handle
 * that the peer's Send invalidated, or 0. */
void rr_conn_received(struct rr_conn *, uint64_t token, size_t len, uint32_t inv_handle,
                      rr_time now);
/* Reports that a Send, Write, Read or Invalidate has completed, that a Receive was
 * flushed, or that posting one of these failed.  For an Invalidate, -EINVAL means that
 * the region no longer exists (the peer invalidated it first) and counts as success.
 * Returns false if no action results, so that rr_conn_next need not be called. */
bool rr_conn_completed(struct rr_conn *, uint64_t token, int status, rr_time now);
/* Reports the result of RR_ACT_REGISTER.  @status is 0 or an error; @handle and @offset
 * are valid if it is 0. */
void rr_conn_registered(struct rr_conn *, uint64_t token, int status, uint32_t handle,
                        uint64_t offset);
/* Declares that the peer must not invalidate the region of this RR_ACT_REGISTER: the
 * provider cannot invalidate it remotely, or the region's handle is also that of other
 * memory.  Call it before rr_conn_registered. */
void rr_conn_irrevocable(struct rr_conn *, uint64_t token);
/* Reports that the provider's connection is gone and no region is accessible.  @error
 * is as in RR_WC_DISCONNECTED.  Posts that have not completed count as flushed; later
 * events are ignored.  RR_ACT_CLOSED waits until the user has answered its requests and
 * released its Replies. */
void rr_conn_lost(struct rr_conn *, int error, rr_time now);
/* Runs the timers: handles time-outs, and sends grant messages that are due. */
void rr_conn_tick(struct rr_conn *, rr_time now);
/* Returns the time at which to call rr_conn_tick, or RR_TIME_NEVER if no timer runs. */
rr_time rr_conn_deadline(const struct rr_conn *);

/* Queues a Call; the connection need not be READY.  Returns 0; -ENOMEM; the error that
 * ended the connection; or -EINVAL for misuse: the XID is not the payload's first word
 * or belongs to an outstanding call, or the lengths are not valid XDR.  If an error is
 * returned, no CALL_DONE follows. */
int rr_conn_call(struct rr_conn *, struct rr_call *, rr_time now) RR_MUST_CHECK;
/* Cancels a call: its regions are invalidated, then CALL_DONE follows with -ECANCELED.
 * Does nothing if the call has ended.  A late Reply is discarded.  If part of the Call
 * has been sent, an aborting final part follows, which the peer must refuse.  Do not
 * reuse the XID in that case: the peer's error would end the new call. */
void rr_conn_cancel(struct rr_conn *, struct rr_call *, rr_time now);
/*
 * Adapts @call, which has ended with RR_CALL_REMOTE_ERROR, for a second attempt that
 * avoids the error. [E6, K11] Returns true if the user should queue the call again with
 * rr_conn_call, under a new XID, on this or another connection.  If the second attempt
 * turns out to be impossible, the call ends with the same error again.
 *
 *   READ_CHUNKS     reduces no more items than the peer accepts
 *   WRITE_CHUNKS    provides no more Write chunks than the peer accepts, and a Reply
 *                   chunk for the other results
 *   SEGMENTS        provides no more segments in total than the peer accepts; the
 *                   other items are sent in the payload, in both directions
 *   WRITE_RESOURCE, REPLY_RESOURCE
 *                   only for RR_CALL_IDEMPOTENT calls, and only if the peer named a
 *                   length within max_message_bytes: provides a larger chunk
 *   INVAL_HTYPE     only if the Call had a header type of an optional feature: uses
 *                   a type of the base protocol [ext §2.4]
 *   BAD_XDR         only in version 1, where it represents ERR_CHUNK, and only for
 *                   RR_CALL_IDEMPOTENT calls: provides a larger Reply chunk, up to
 *                   max_message_bytes in a few attempts
 *
 * Except after BAD_XDR, a call has only one second attempt.  A second error, an error
 * whose remedy was already applied, and every other code are final: the function
 * returns false and @call is unchanged.
 */
bool rr_call_recover(struct rr_conn *, struct rr_call *);
/* Passes ownership of the Reply chunk's memory to the user, if it contains the Reply of
 * a call with RR_CALL_OK.  The user frees the memory (@ret_bytes octets) with
 * rr_mem_put.  Returns false if the Reply is not in the Reply chunk, or if the memory
 * is charged to the connection's quota. */
bool rr_conn_call_take(struct rr_call *, void **ret, size_t *ret_bytes);
/* Returns the Reply's memory to the connection, and frees the connection's state for
 * the call. */
void rr_conn_call_release(struct rr_conn *, struct rr_call *, rr_time now);

/* Returns the number of octets in Read chunk number @i, counted from 0.  Call it at
 * ADMIT. */
size_t rr_conn_read_bytes(const struct rr_request *, unsigned i);
/* Returns true if nothing of the request has to be pulled.  At ADMIT the user may then
 * serve the request at once, as at REQUEST, instead of calling rr_conn_admit. */
bool rr_conn_is_whole(const struct rr_conn *, const struct rr_request *);
/*
 * Admits a request: its Read chunks are pulled.  The @i-th entry of @sinks is memory
 * for the @i-th Read chunk, at least as long as the chunk and lent until REQUEST_DONE.
 * If @sinks is NULL, the connection provides the memory.
 */
void rr_conn_admit(struct rr_conn *, struct rr_request *, const struct rr_sge *sinks,
                   rr_time now);
/* Grants @bytes, not 0, to the Call for which rr_room.ask returned 0. */
void rr_conn_room(struct rr_conn *, uint64_t bytes, rr_time now);
/* Answers a request with RDMA2_ERROR and ends the request.  Call it at ADMIT or
 * REQUEST. */
void rr_conn_refuse(struct rr_conn *, struct rr_request *, const struct rr_error *,
                    rr_time now);
/*
 * Answers a request, at REQUEST or at ADMIT (in which case nothing more is pulled).
 * The array of at most RR_CALL_MAX_PIECES pieces is borrowed; the memory that the
 * pieces refer to is lent until REQUEST_DONE.  Items are assigned to the Write chunks
 * in sequence.  An item without a Write chunk, or whose Write chunk has no segments, is
 * sent in the payload.  Chunks without an item are returned unused [K21].  The rest of
 * the reply is sent in a format chosen as specified in [K9].  If no format is possible,
 * or if a Write chunk is too small, an RDMA2_ERROR is sent instead and REQUEST_DONE has
 * status -EMSGSIZE.
 */
void rr_conn_reply(struct rr_conn *, struct rr_request *, const struct rr_piece *,
                   unsigned n_pieces, rr_time now);
/* Ends a request without an answer.  The user must close the connection soon after. */
void rr_conn_drop(struct rr_conn *, struct rr_request *, rr_time now);

/* -- Extensions ----------------------------------------------------- [v2 §B] */

/*
 * Queues a message of an extension's type: a prefix and a copy of the @len octets of
 * @body, where @len is a multiple of four.  The message costs a credit.  If @flags has
 * RDMA2_F_RESPONSE, @xid is the XID of the peer's message.  Otherwise @xid is the XID
 * to use; 0 = choose a new XID.  Stores the XID in @ret_xid (may be NULL).
 *
 * Returns 0; -EAGAIN if the connection is not READY; -EOPNOTSUPP if the peer does not
 * know this type [E7] or the version has no extensions; -EINVAL if the type is not in
 * the table, or for misuse; -EMSGSIZE if the message exceeds the inline threshold;
 * -ENOBUFS if RR_EXT_QUEUE messages are queued already; -ENOMEM; or the error that
 * ended the connection.
 */
enum { RR_EXT_QUEUE = 64 };
int rr_conn_ext_send(struct rr_conn *, uint32_t htype, uint32_t flags, uint32_t xid,
                     const void *body, size_t len, uint32_t *ret_xid,
                     rr_time now) RR_MUST_CHECK;
/* Answers the message of an RR_EXT_MESSAGE event with RDMA2_ERROR.  Call it before the
 * next poll.  Sends nothing if the message has RDMA2_F_RESPONSE. [E2] */
void rr_conn_ext_refuse(struct rr_conn *, const struct rr_ext_event *, uint32_t code,
                        rr_time now);

/* Starts an orderly disconnect: no new calls are accepted, and RR_ACT_DISCONNECT
 * follows. */
void rr_conn_close(struct rr_conn *, int status, rr_time now);

/* -- Information ----------------------------------------------------------- */

struct rr_conn_info {
	bool ready;
	bool answered;        /* a message from the peer was received, in any version */
	uint32_t version;     /* 0 until settled */
	uint32_t send_inline; /* inline threshold towards the peer */
	uint32_t recv_inline;
	bool remote_invalidate;                         /* supported by both peers */
	uint32_t peer_segment_bytes, peer_max_segments; /* 0 = the peer announced no
	                                                 * limit, as in version 1 */
	uint32_t peer_rvrsdir;
	uint32_t cap, avail, owed; /* credits [C3]; in version 1 the number of Calls
	                            * that may be outstanding, the number that may still
	                            * be sent, and 0 */
	uint32_t receives_posted;
	uint32_t calls, requests; /* calls and requests that have not ended */
	uint64_t held_bytes;
	unsigned features; /* bit mask of the features that both peers have advertised,
	                    * 1u << enum rr_feature */
	rr_time exposed_since; /* when the oldest of our replies that the peer may still
	                        * read was exposed; RR_TIME_NEVER = none */
	int error;             /* first error; 0 = none yet */
};

/* Counts of messages and octets by kind, since creation. */
struct rr_conn_counters {
	uint64_t calls, replies, requests, request_replies;
	uint64_t sends, grants, errors_sent, errors_received, discards;
	uint64_t credit_stalls;
	uint64_t overruns; /* messages received in excess of the credits granted */
	uint64_t ext_sent, ext_received;        /* messages of extensions */
	uint64_t recoveries;                    /* calls adapted by rr_call_recover */
	uint64_t bytes_inline, bytes_continued; /* payload octets, both directions */
	uint64_t bytes_read_chunk, bytes_write_chunk, bytes_reply_chunk,
	        bytes_special_call;
	uint64_t bytes_pulled;    /* octets of completed RDMA Reads */
	uint64_t bytes_collected; /* octets received in continued Calls, whether or not
	                           * the Calls were executed */
	uint64_t registrations, local_invalidations, remote_invalidations;
	uint64_t reply_chunks_offered, reply_chunks_used; /* of our calls */
	uint64_t done_sent, done_received; /* pull completion notifications */
	uint64_t done_dropped;       /* notifications received for no exposed reply */
	uint64_t rprc_exposed;       /* replies sent as Read chunks */
	uint64_t rprc_expired;       /* exposures ended by their lifetime */
	uint64_t bytes_reply_pulled; /* octets of Replies that we pulled */
	uint64_t bytes_placed; /* octets of items placed by Send, both directions */
	uint64_t bytes_copied; /* octets of replies copied in order to be exposed, and
	                        * of items placed by Send that were copied after that */
};

void rr_conn_info(const struct rr_conn *, struct rr_conn_info *ret);
/* Returns the number of octets allocated for each Receive. */
size_t rr_conn_receive_bytes(const struct rr_conn *);
void rr_conn_counters(const struct rr_conn *, struct rr_conn_counters *ret);

#endif
