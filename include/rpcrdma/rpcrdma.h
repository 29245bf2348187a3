/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpcrdma: ONC RPC over RDMA, version 2, in user space.
 *
 * An engine is an event loop.  A connection or a listener belongs to one engine for its
 * whole life.  Functions that take an engine, a connection, a listener or a call must
 * be called in the thread that runs the engine, unless their contract says "any
 * thread". The library calls every callback in that thread, with no lock held.  If
 * several engines share a service or a listener, its callbacks run concurrently.  A
 * callback may make and cancel calls, and close connections and listeners; it must
 * neither run nor free the engine.
 *
 * Functions return 0 or a count, or a negative errno.  Each pointer parameter is one
 * of:
 *   borrowed  used only during the function call; the default
 *   lent      must stay valid and unchanged until the event that the contract names
 *   given     freed by the function that it is passed to
 *
 * Structures grow: a later version of the library may add members at their end, and
 * programs that were compiled earlier keep working.  There are three kinds:
 * - Option structures, and rpcrdma_extension, begin with their size.  Initialise them
 *   with RPCRDMA_OPTIONS(type), which also zeroes the other members; zero selects the
 *   default.  A member that a smaller structure lacks counts as zero.  Functions return
 *   -E2BIG if a larger structure has a nonzero member that this library lacks, and
 *   -EINVAL if a smaller structure lacks a required member.
 * - A structure that the library fills in has a parameter for its size, sizeof(*ret).
 *   The library writes no more than that, and writes zero to members that it does not
 *   know.
 * - A structure that the library lends to a callback needs no size: rpcrdma_reply,
 *   rpcrdma_conn_info, rpcrdma_extension_message, rpcrdma_call_info.  A program may
 *   only read members that the library has; see rpcrdma_library_version_number.
 * The following structures do not grow, since they are array elements or are lent by
 * the program: rpcrdma_piece, _dest, _auth, _auth_sys, _procedure, _program, _binding,
 * _extension_htype, _extension_property, _tirpc_item, _tirpc_procedure, _tirpc_binding,
 * _cursor.
 */
#ifndef RPCRDMA_RPCRDMA_H
#define RPCRDMA_RPCRDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifdef __cplusplus
template <class T> inline T rpcrdma_options_of()
{
	T o = T();

	o.size = sizeof(T);
	return o;
}
#define RPCRDMA_OPTIONS(type) (rpcrdma_options_of<type>())
extern "C" {
#else
#define RPCRDMA_OPTIONS(type) ((type){.size = sizeof(type)})
#endif

#define RPCRDMA_API __attribute__((visibility("default")))

#define RPCRDMA_NFS_PORT      20049
#define RPCRDMA_MAX_PIECES    20
#define RPCRDMA_SERVICE_BYTES 8 /* a decimal port and a terminating zero octet */

struct rpcrdma_engine;
struct rpcrdma_conn;
struct rpcrdma_listener;
struct rpcrdma_call;
struct rpcrdma_request;
struct rpcrdma_extension; /* rpcrdma/extension.h */
struct rpcrdma_gss;       /* rpcrdma/gss.h */

/* The version of the library.  The macros are for the version of this header; the
 * functions return the version of the library in use.  The number is 10000 * major +
 * 100 * minor + patch.  Any thread. */
#define RPCRDMA_LIBRARY_VERSION        "0.1.0"
#define RPCRDMA_LIBRARY_VERSION_NUMBER 100
RPCRDMA_API const char *rpcrdma_library_version(void);
RPCRDMA_API unsigned rpcrdma_library_version_number(void);

/* ---- Payload streams ------------------------------------------------------
 *
 * A message body is a short vector of pieces.  An item piece has the octets of one
 * DDP-eligible XDR data item.  The item's length word is at the end of the preceding
 * piece.  The piece has no roundup padding; the library adds it if the item is sent
 * inline.  The other pieces are XDR octets; between two items their total length is a
 * multiple of four.                                     [v2 §4.3.4.4, §4.3.5]
 */
struct rpcrdma_piece {
	const void *base;
	size_t len;
	bool item;
};

/* Memory for one DDP-eligible result (one Write chunk).        [v2 §4.3.6] */
struct rpcrdma_dest {
	void *base;           /* lent until the call is done */
	size_t len;           /* its size */
	size_t ret_len;       /* octets placed; set before done is called */
	const void *ret_base; /* address of the octets: @base; or library memory that
				 is valid until done returns, if an idempotent call
				 was retried with more space than @len, or with
				 lend_results of the call's options */
	bool ret_used;        /* false: the result has no such item, or it is inline */
	/* True if the attempt that the server answered offered this memory.  If a
	 * nonempty eligible result is inline nevertheless, the server broke the
	 * binding, and the caller must treat the call as failed [v2 §A.1].  False if
	 * items must not move (RPCSEC_GSS) or the server refused to move them. */
	bool ret_offered;
};

/* Credentials or verifier: flavor and opaque body.      [RFC 5531 §8.2] */
struct rpcrdma_auth {
	uint32_t flavor;
	const void *body;
	uint32_t len; /* at most 400 */
};

enum { RPCRDMA_AUTH_NONE = 0, RPCRDMA_AUTH_SYS = 1 };

/* Encodes an AUTH_SYS body into @buf.  Returns the number of octets used, or -EMSGSIZE.
 */
RPCRDMA_API int rpcrdma_auth_sys_encode(void *buf, size_t size, uint32_t stamp,
                                        const char *machine, uint32_t uid, uint32_t gid,
                                        const uint32_t *gids, unsigned n_gids);

struct rpcrdma_auth_sys {
	uint32_t stamp, uid, gid;
	unsigned n_gids; /* at most 16 */
	uint32_t gids[16];
	char machine[256];
};
/* Decodes an AUTH_SYS body.  Returns -EBADMSG if it is malformed. */
RPCRDMA_API int rpcrdma_auth_sys_decode(const struct rpcrdma_auth *,
                                        struct rpcrdma_auth_sys *ret);

/* ---- Engine ---------------------------------------------------------------- */

struct rpcrdma_engine_options {
	size_t size;
	/* Receives one JSON object, without a newline, for each trace point. */
	void (*trace)(void *arg, const char *json);
	void *trace_arg;
	/* Time to poll before sleeping; 0 = sleep at once.  After several waits in a
	 * row in which polling found no event, the engine polls in few waits only. */
	uint64_t spin_ns;
};

RPCRDMA_API int rpcrdma_engine_new(const struct rpcrdma_engine_options *,
                                   struct rpcrdma_engine **ret);
/* Frees the engine.  All its connections and listeners should have been closed and
 * drained first; see rpcrdma_engine_idle.  Aborts any that are left: their calls end
 * with -ECANCELED, and requests that are not yet answered become invalid, so that no
 * thread may answer them.  Cancels the timers that have not fired. */
RPCRDMA_API void rpcrdma_engine_free(struct rpcrdma_engine *);
/* Handles the events that are ready.  If no event is ready, waits up to @timeout_ms for
 * one; -1 waits without limit.  Returns 0, the errno of a failed wait, or -EDEADLK
 * within a callback. */
RPCRDMA_API int rpcrdma_engine_process(struct rpcrdma_engine *, int timeout_ms);
/* Processes events until rpcrdma_engine_stop is called. */
RPCRDMA_API int rpcrdma_engine_run(struct rpcrdma_engine *);
/* Makes rpcrdma_engine_run return.  Any thread; may be called in a signal handler. */
RPCRDMA_API void rpcrdma_engine_stop(struct rpcrdma_engine *);
/* Returns a descriptor that is readable while rpcrdma_engine_process has work, for use
 * in the program's own event loop.  Such a loop must wait no longer than
 * rpcrdma_engine_timeout_ms returns; -1 means no limit. */
RPCRDMA_API int rpcrdma_engine_fd(struct rpcrdma_engine *);
RPCRDMA_API int rpcrdma_engine_timeout_ms(const struct rpcrdma_engine *);
/* Returns true if the engine has no connection, listener, request or call. */
RPCRDMA_API bool rpcrdma_engine_idle(const struct rpcrdma_engine *);
/* Makes the engine's thread call @fn soon.  Any thread.  Returns 0 or -ENOMEM. */
RPCRDMA_API int rpcrdma_engine_post(struct rpcrdma_engine *, void (*fn)(void *),
                                    void *arg);
/* Calls @fn once after @delay_ns, unless the timer is cancelled.  @ret, which may be
 * NULL, is valid until @fn begins.  Returns 0 or -ENOMEM. */
struct rpcrdma_timer;
RPCRDMA_API int rpcrdma_timer_start(struct rpcrdma_engine *, uint64_t delay_ns,
                                    void (*fn)(void *), void *arg,
                                    struct rpcrdma_timer **ret);
RPCRDMA_API void rpcrdma_timer_cancel(struct rpcrdma_timer *);

/* The log is for people: one line of text for each event of a connection or a call. */
enum rpcrdma_log_level {
	RPCRDMA_LOG_NONE = 0,
	RPCRDMA_LOG_ERROR = 1, /* a connection, call or security context was
				  abandoned */
	/* A connection was lost, refused, or closed in favour of another; or a peer
	 * broke the protocol. */
	RPCRDMA_LOG_WARNING = 2,
	/* A connection was made (with its provider and version) or closed in an orderly
	 * way; or a call was sent again, in the same form or another. */
	RPCRDMA_LOG_INFO = 3,
	RPCRDMA_LOG_DEBUG = 4, /* each trace point, for developers */
};
/* Receives one line, borrowed and without a newline.  It begins with the peer's address
 * if there is a peer.  The function must not call the library. */
typedef void rpcrdma_log_fn(enum rpcrdma_log_level, const char *line, void *arg);
/* Makes the library call @log for events of level @most and below from now on.  If
 * @most is NONE or @log is NULL, the library stops logging.  The library formats
 * nothing for other events; each costs a table look-up, or nothing if there is neither
 * a @log nor a trace function. */
RPCRDMA_API void rpcrdma_engine_set_log(struct rpcrdma_engine *,
                                        enum rpcrdma_log_level most,
                                        rpcrdma_log_fn *log, void *arg);

/* ---- Options common to both ends ------------------------------------------- */

/* The Calls that a client allows its server to make.          [v2 §5.2.5] */
enum rpcrdma_reverse {
	RPCRDMA_REVERSE_DEFAULT = 0,
	RPCRDMA_REVERSE_SIMPLE = 1, /* Calls and Replies of one message each */
	RPCRDMA_REVERSE_CONT = 2,   /* SIMPLE, and continued messages */
	RPCRDMA_REVERSE_GENL = 3,   /* CONT, and chunks */
};

/* Selects whether the peer must authenticate its host before any RPC; see
 * rpcrdma/hostauth.h. */
struct rpcrdma_hostauth;
enum rpcrdma_hostauth_policy {
	RPCRDMA_HOSTAUTH_OFF = 0,
	RPCRDMA_HOSTAUTH_PREFER = 1,  /* only with a peer that supports it; a failure is
					 final */
	RPCRDMA_HOSTAUTH_REQUIRE = 2, /* refuses a peer without support for it */
};

struct rpcrdma_conn_options {
	size_t size;
	/* "verbs[:DEVICE,key=value,...]": RDMA devices; "iwarp[:key=value,...]": RDMA
	 * over TCP in software; NULL or "auto": for each address, verbs if a device
	 * other than siw serves it, otherwise iwarp (always on loopback).  Connecting
	 * and listening fail with -EINVAL if the provider, a key or a value is unknown;
	 * see rpcrdma_provider_check.  If verbs is selected, they fail with -ENOPKG
	 * without rdma-core (libibverbs1, librdmacm1), and with -ENODEV without an RDMA
	 * device. */
	const char *provider;
	unsigned version;       /* 0 = negotiate 2 or 1; 2 or 1 = only that version */
	uint32_t credits;       /* 2 to 2047; default 32 */
	uint32_t inline_bytes;  /* Send and Receive size; 1024 or more; default 4096 */
	uint32_t segment_bytes; /* largest RDMA segment; default 1 MiB */
	/* Maximum number of segments in a received header; in version 1 also in a sent
	 * header, since version 1 peers announce no limit.  Default 16. */
	uint32_t max_segments;
	/* Maximum number of requests that a connection serves at once; default 256.
	 * Further requests wait, and credits are withheld. */
	uint32_t max_requests;
	uint32_t max_message_bytes; /* longest Call or Reply, not counting items;
				       default 4 MiB */
	uint32_t max_chunk_bytes;   /* longest Read chunk; default 8 MiB */
	/* Maximum memory for this peer's messages and requests; default 32 MiB.  Replies
	 * that the peer may read (feature rprc) have a separate limit, rprc-bytes.
	 * rpcrdma_budget_set sets the limit for all peers together. */
	uint64_t max_held_bytes;
	/* Time limit for setting up the transport, and also for receiving the first
	 * message and the properties after that; default 10 s for each. */
	uint64_t handshake_ns;
	/* Server: closes an idle connection after this time; default 6 min; UINT64_MAX
	 * = never.  Before the first Call the limit is handshake_ns, if that is less.
	 */
	uint64_t idle_ns;
	/* Server: maximum number of connections from one address to a listener; 0 =
	 * only the listener's own limit. */
	uint32_t max_per_address;
	/* Interval at which an idle connection sends a grant; 0 = never.  TCP
	 * always detects within two minutes that a host has vanished. */
	uint64_t keepalive_ns;
	/* Extensions of version 2, see rpcrdma/extension.h.  The array and the
	 * extensions are lent until the last connection made with these options has
	 * ended. */
	const struct rpcrdma_extension *const *extensions;
	unsigned n_extensions;
	/* Policy and credentials for host authentication.  @hostauth is lent; it is
	 * required unless the policy is OFF. */
	enum rpcrdma_hostauth_policy hostauth_policy;
	const struct rpcrdma_hostauth *hostauth;

	/* The following are for clients. */

	/* Name that the server's certificate must have; NULL = the host connected to;
	 * "" = any trusted certificate.  Copied, at most 255 octets. */
	const char *hostauth_name;
	/* The first loss ends the connection.  An attempt that only discovers the
	 * server's version does not count as a loss. */
	bool no_reconnect;
	uint64_t reconnect_min_ns, reconnect_max_ns; /* default 100 ms, 5 s */
	/* Calls end when the server has been unreachable for this long; default 60 s;
	 * UINT64_MAX = never. */
	uint64_t retry_ns;
	/* Time limit for the server's first message; default 5 s. */
	uint64_t first_answer_ns;
	/* If a server turns out not to support version 2, the library begins with
	 * version 1 for this long; default 10 min. */
	uint64_t version_cache_ns;
	/* Kinds of messages that the server may use to call @callbacks; 0 = GENL if
	 * @callbacks is set, otherwise no messages. */
	enum rpcrdma_reverse reverse;
	/* Programs that the server may call on this connection.  Lent until the
	 * connection is closed and the last request is answered.  NULL: none; the
	 * library informs the server of this. */
	struct rpcrdma_service *callbacks;
	/* If rpcrdma_connect is given no service, the port is that of this program.
	 * The library asks the host's rpcbind for it before each connection, in a
	 * separate thread, for at most handshake_ns.  If rpcbind is unreachable or has
	 * no entry, NFS uses port 20049; for other programs the attempt fails.  0 =
	 * port 20049. */
	uint32_t program, program_version;

	/* The following is for both ends. */

	/* Optional features of version 2 to offer to the peer: "all", "none", or a list
	 * such as "default,htfam"; see rpcrdma_features_check.  NULL = "default", which
	 * is "rprc,reminv,rtr".  A feature is used if both ends offer it. */
	const char *features;
	/* Maximum number of octets in the argument items that a Call carries itself,
	 * which saves a round trip; the peer fetches longer items by RDMA Read.  A Call
	 * that does not fit in one message carries items only if version 2 is used and
	 * there is a credit for each of its messages.  Default 32 KiB; 1 = none. */
	uint64_t send_item_bytes;
};

/* Optional features of version 2, as bits of a mask.                        [ext §2.1] */
enum rpcrdma_feature {
	RPCRDMA_FEATURE_RPRC = 1,   /* Read chunks that the Responder provides */
	RPCRDMA_FEATURE_REMINV = 2, /* Remote Invalidation chosen by a policy */
	/* Data placed by Send, and messages continued by a count. */
	RPCRDMA_FEATURE_RTR = 4,
	RPCRDMA_FEATURE_HTFAM = 8, /* separate header types for each kind of message */
};

/* Checks @provider as rpcrdma_connect and rpcrdma_listen do.  Returns 0 or -EINVAL.
 * With -EINVAL, writes a sentence that identifies the wrong key or value to
 * @ret_reason, which has space for @size octets; if @size is 0, writes nothing.  Does
 * not check that a device of that name exists.  Any thread. */
RPCRDMA_API int rpcrdma_provider_check(const char *provider, char *ret_reason,
                                       size_t size);
/* Checks @features (of rpcrdma_conn_options) as rpcrdma_connect and rpcrdma_listen do.
 * Returns 0 or -EINVAL, and writes @ret_reason as rpcrdma_provider_check does.  Any
 * thread. */
RPCRDMA_API int rpcrdma_features_check(const char *features, char *ret_reason,
                                       size_t size);

/* ---- Statistics ---------------------------------------------------------------- */

struct rpcrdma_stats {
	uint64_t calls, replies;            /* Calls sent, Replies received */
	uint64_t requests, request_replies; /* served as Responder */
	uint64_t retransmits, reconnects, call_errors;
	uint64_t sends, recvs, rdma_reads, rdma_writes;
	uint64_t registrations, local_invalidations, remote_invalidations;
	uint64_t grants, errors_sent, errors_received, credit_stalls;
	uint64_t recoveries;  /* Calls sent again in another form [v2 §7.3] */
	uint64_t overruns;    /* messages that the peer sent beyond its credits */
	uint64_t cache_hits;  /* Calls answered from the reply cache */
	uint64_t cache_waits; /* repeated Calls that arrived while the first was being
				 executed */
	uint64_t syscalls, wire_bytes_sent, wire_bytes_received;
	/* payload octets by path, both directions */
	uint64_t bytes_inline, bytes_continued, bytes_read_chunk, bytes_write_chunk;
	uint64_t bytes_reply_chunk, bytes_special_call;
	uint64_t connections, connections_open, connections_refused;
	uint64_t connections_evicted; /* closed to admit a new connection */
	uint64_t held_bytes, peak_held_bytes;
	uint64_t sends_inv;        /* Sends that invalidated memory of the peer */
	uint64_t wakeups;          /* how often a connection's descriptor was ready */
	uint64_t connections_lost; /* not closed by either end */
	uint64_t reply_chunks_offered, reply_chunks_used; /* as Requester */
	/* Feature RPRC [ext §3]: replies that were exposed for the Requester to read,
	 * and those whose lifetime ended first. */
	uint64_t rprc_exposed, rprc_expired;
	uint64_t done_sent, done_received; /* notifications that a reply was read */
	uint64_t done_dropped;             /* those received for no exposed reply */
	uint64_t bytes_reply_pulled; /* payload octets of replies that were read */
	/* Octets of replies that were copied to be exposed, and of items placed by Send
	 * that were copied again. */
	uint64_t bytes_copied;
	uint64_t bytes_placed; /* octets of items placed by Send (feature RTR) */
};

/* What a connection negotiated. */
struct rpcrdma_conn_info {
	const char *provider;              /* static; "auto" before the first attempt */
	unsigned version;                  /* 0 while not connected */
	uint32_t send_inline, recv_inline; /* thresholds in octets */
	uint32_t credits_granted;          /* credits that the peer grants now */
	uint32_t peer_segment_bytes, peer_max_segments; /* 0 = unknown (version 1) */
	uint32_t peer_reverse; /* server: the enum rpcrdma_reverse that the client sent;
				  0 = no reverse calls allowed.  In version 1 SIMPLE is
				  assumed */
	bool remote_invalidate;
	bool connected;
	int error;          /* negative errno of the last connection loss */
	char reason[160];   /* reason of the last connection loss */
	char identity[256]; /* proved by the peer (hostauth); "" = none */
	struct sockaddr_storage peer, local;
	/* Optional features that both ends offer, a mask of enum rpcrdma_feature. */
	uint64_t features;
};

/*
 * Memory that peers can make this process hold, over all its engines: the Receive
 * buffers of accepted connections, arguments that are read by RDMA or reassembled,
 * results, and replies that are exposed for peers to read.  Each request reserves all
 * the memory that it can need before any of its data are read by RDMA.  Requests that do
 * not fit wait in a queue.  While requests wait, the library closes a connection that
 * holds memory if its peer neither sends nor accepts the data that would free this
 * memory.
 */
struct rpcrdma_budget {
	uint64_t limit_bytes;
	uint64_t used_bytes;        /* reserved now */
	uint64_t connections_bytes; /* part of used_bytes: fixed cost of connections */
	uint64_t waiting;           /* connections that wait for memory now */
	uint64_t waits;             /* how many times a connection began to wait */
	uint64_t refused; /* connections and Calls refused for lack of memory */
	uint64_t ended;   /* connections closed to free memory that others waited for */
	uint64_t exposed_bytes; /* part of used_bytes: replies that peers may read
				   [ext §3.8] */
};
/* Sets the limit.  The default is an eighth of the machine's memory, at most 1 GiB.
 * The Receive buffers of all connections together may use up to 3/8 of the limit; one
 * request may use up to half of it.  Lowering the limit does not reclaim memory already
 * in use.  Returns -EINVAL if @bytes is less than 1 MiB.  Any thread, any time. */
RPCRDMA_API int rpcrdma_budget_set(uint64_t bytes);
/* Fills in the limit and the memory in use.  Any thread. */
RPCRDMA_API void rpcrdma_budget_get(struct rpcrdma_budget *ret, size_t size);

/* These functions fill in the counters of an engine, summed over all its connections,
 * including ended ones; the counters of a connection; and what a connection negotiated.
 */
RPCRDMA_API void rpcrdma_engine_get_stats(const struct rpcrdma_engine *,
                                          struct rpcrdma_stats *ret, size_t size);
RPCRDMA_API void rpcrdma_conn_get_stats(const struct rpcrdma_conn *,
                                        struct rpcrdma_stats *ret, size_t size);
RPCRDMA_API void rpcrdma_conn_get_info(const struct rpcrdma_conn *,
                                       struct rpcrdma_conn_info *ret, size_t size);

/* ---- Client ---------------------------------------------------------------------- */

/* Called when the connection is up (@error is 0; again after each reconnect), when it
 * is lost (@error is a negative errno; the library reconnects), and when it has ended
 * (@final is true). */
typedef void rpcrdma_conn_event_fn(struct rpcrdma_conn *, int error, bool final,
                                   void *arg);

/*
 * Begins to connect.  Calls may be made at once; they wait for the connection.  @host
 * is a name or an address.  @service is a port; NULL = the port of the program in the
 * options, or 20049.  Returns -ENXIO if the name does not resolve.
 */
RPCRDMA_API int rpcrdma_connect(struct rpcrdma_engine *, const char *host,
                                const char *service,
                                const struct rpcrdma_conn_options *,
                                rpcrdma_conn_event_fn *event, void *arg,
                                struct rpcrdma_conn **ret);
/*
 * Asks the rpcbind of @host (port 111) for the port of a program under netid rdma, or
 * rdma6 for an IPv6 address.  Writes the port as text, for use as @service of
 * rpcrdma_connect.  NFS needs no look-up; its port is 20049.             [v2 §9]
 * Blocks for up to @timeout_ns (0 = 5 s) after the name is resolved.  Call this
 * function before the engine runs or in another thread, or set the program in the
 * options of rpcrdma_connect instead.  Any thread.
 * Returns -ENXIO if the name does not resolve; -ECONNREFUSED, -ETIMEDOUT or the like if
 * no rpcbind answers; -ENOENT if rpcbind has no entry for this version of the program;
 * -EPROTONOSUPPORT if it supports neither version 4 nor version 3 of its protocol;
 * -EACCES or -EPROTO if it refuses; -EBADMSG or -EMSGSIZE if its answer is malformed.
 */
RPCRDMA_API int rpcrdma_lookup(const char *host, uint32_t program, uint32_t version,
                               uint64_t timeout_ns,
                               char ret_service[RPCRDMA_SERVICE_BYTES]);
/*
 * Like rpcrdma_lookup, but looks up the program under exactly @netid: "tcp", "udp6" or
 * any other whose addresses end in a port.  Tries every address of @host, IPv4 and
 * IPv6.  Also returns -EBADMSG if the address under @netid has no port, and -EINVAL if
 * @netid is empty.
 */
RPCRDMA_API int rpcrdma_lookup_netid(const char *host, const char *netid,
                                     uint32_t program, uint32_t version,
                                     uint64_t timeout_ns,
                                     char ret_service[RPCRDMA_SERVICE_BYTES]);
/* Closes the connection in an orderly way.  Its calls end with -ECANCELED, no further
 * event is reported, and the memory is freed when no completion is outstanding.  @conn
 * is given. */
RPCRDMA_API void rpcrdma_conn_close(struct rpcrdma_conn *);

/*
 * Status of a call: 0, one of these positive values from the peer's answer, or a
 * negative errno:
 *   -ETIMEDOUT    the timeout passed (the server may have executed the call)
 *   -EHOSTUNREACH the server could not be reached for retry_ns
 *   -ECONNRESET   the connection was lost, and no_reconnect is set
 *   -ECANCELED    the call was cancelled, or the connection was closed
 *   -EBADMSG, -EPROTO  the Reply was malformed or broke the transport's rules
 *   -EOVERFLOW    the Reply is longer than reply_bytes and max_message_bytes: raise
 *                 either; the call was executed
 *   -EMSGSIZE     the Call does not fit the peer's limits
 *   -EPROTONOSUPPORT  the peer supports no version that this library may use
 *   -EACCES       there is no security context; see rpcrdma_gss_get_info
 * A call that was outstanding in repeated connection losses (see rpcrdma_call) ends
 * with the error of the last loss, such as -ECONNRESET.
 */
enum rpcrdma_status {
	RPCRDMA_OK = 0,
	RPCRDMA_PROG_UNAVAIL = 1,  /* the server has no such program */
	RPCRDMA_PROG_MISMATCH = 2, /* no such version; low and high give the range */
	RPCRDMA_PROC_UNAVAIL = 3,
	RPCRDMA_GARBAGE_ARGS = 4,
	RPCRDMA_SYSTEM_ERR = 5,
	RPCRDMA_RPC_MISMATCH = 100,    /* MSG_DENIED: low, high */
	RPCRDMA_AUTH_ERROR = 101,      /* MSG_DENIED: auth_stat */
	RPCRDMA_TRANSPORT_ERROR = 200, /* RDMA2_ERROR; see transport_error, a, b */
};

/* Values of transport_error in struct rpcrdma_reply: the error code (rdma_err) from the
 * server's RDMA2_ERROR or, in version 1, RDMA_ERROR.  Below, 'a' and 'b' are members of
 * that structure.  Codes 6 to 8 mean that the procedure was not executed, 9 and 10 that
 * it was.  A caller sees these five only if the library could not retry the Call in
 * another form, or the retry failed too.                                 [v2 §7] */
enum rpcrdma_transport_error {
	RPCRDMA_ERR_VERS = 1,    /* version; a and b are the peer's lowest and
				    highest */
	RPCRDMA_ERR_BAD_XDR = 2, /* the peer could not decode the header */
	RPCRDMA_ERR_BAD_PROPVAL = 3,
	RPCRDMA_ERR_INVAL_HTYPE = 4,
	RPCRDMA_ERR_INVAL_CONT = 5,      /* bad continued message, such as too long */
	RPCRDMA_ERR_READ_CHUNKS = 6,     /* too many Read chunks; the peer accepts
					    'a' */
	RPCRDMA_ERR_WRITE_CHUNKS = 7,    /* too many Write chunks; the peer accepts
					    'a' */
	RPCRDMA_ERR_SEGMENTS = 8,        /* too many segments; the peer accepts 'a' */
	RPCRDMA_ERR_WRITE_RESOURCE = 9,  /* Write chunk number 'a' is too short for 'b'
					    octets */
	RPCRDMA_ERR_REPLY_RESOURCE = 10, /* the Call provided no means to return a Reply
					    of 'a' octets */
	RPCRDMA_ERR_SYSTEM = 100,        /* any other error, such as lack of memory or a
					    failed RDMA Read */
	/* Version 1's only other error: the peer could not parse the chunks, or they
	 * were too short for the Reply; the Call may have been executed.  This library
	 * chose the number. */
	RPCRDMA_ERR_CHUNK = 0x40000002,
};

/* These functions return a static phrase for a status or for a transport error. */
RPCRDMA_API const char *rpcrdma_strstatus(int status);
RPCRDMA_API const char *rpcrdma_strerror_transport(uint32_t transport_error);

struct rpcrdma_reply {
	int status;
	uint32_t auth_stat;             /* RPCRDMA_AUTH_ERROR */
	uint32_t low, high;             /* mismatches */
	uint32_t transport_error, a, b; /* set with RPCRDMA_TRANSPORT_ERROR */
	/* The results' XDR octets after the RPC header, without items that were
	 * placed in destinations; borrowed, contiguous. */
	const void *results;
	size_t len;
	uint32_t xid;
	struct rpcrdma_dest *dests; /* the array from the call options, with ret_
				       members set */
	unsigned n_dests;
};

typedef void rpcrdma_done_fn(struct rpcrdma_call *, const struct rpcrdma_reply *,
                             void *arg);

struct rpcrdma_call_options {
	size_t size;
	uint32_t program, version, procedure;
	const struct rpcrdma_auth *cred;  /* borrowed; NULL = AUTH_NONE */
	const struct rpcrdma_piece *args; /* array borrowed, memory lent until done */
	unsigned n_args;                  /* at most RPCRDMA_MAX_PIECES */
	struct rpcrdma_dest *dests;       /* lent until done */
	unsigned n_dests;                 /* at most 16 */
	size_t reply_bytes;  /* longest results, without the items in dests; 0 = short.
				Set it if the results can be longer than four times the
				inline threshold.  In version 1, 0 reserves 4,000
				octets, except for procedure 0 without arguments and
				dests */
	uint64_t timeout_ns; /* limit for the whole call, including retries.  The call
				ends up to 5 s later if the peer may still invalidate
				memory of it (features: reminv-wait).  0 = no limit while
				connected, and retry_ns while not connected */
	bool force_special;  /* use Special Format even if the Call fits inline */
	bool idempotent; /* the call may be executed twice; the library repeats it with
			    larger chunks if the server asks for them */
	rpcrdma_done_fn *done; /* called exactly once, never from within rpcrdma_call */
	void *arg;
	struct rpcrdma_gss *gss; /* RPCSEC_GSS on this connection, or NULL; if set,
				    @cred must be NULL */
	/* Usual length of the results, without the items in dests; 0 = unknown.  A
	 * hint for servers that can expose long Replies (feature rprc): for such a
	 * server, the library provides memory for a Reply in advance only if results of
	 * this length do not fit in one message. */
	size_t reply_usual;
	/* Bit i: the result of dests[i] may be lent in the Receive buffer in which it
	 * arrives (feature rtr).  The library then asks the server to place such results
	 * by Send, the shortest first, as many as the response can hold, and registers
	 * no memory for them.  A result that is contiguous in a Receive buffer, and
	 * fills at least half of the segments that it occupies, is lent: in done,
	 * ret_base of its dest points to it.  Otherwise the result is copied to the
	 * dest's memory.  The other results are written to the dest's memory by RDMA
	 * Write; so are all results if one end lacks the feature or rtr-segments.
	 * rpcrdma_call_sync copies all results to the dest's memory. */
	uint64_t lend_results;
};

/* Starts a call.  After a reconnect the library sends the call again, under the same
 * XID. A call that is outstanding whenever connections are lost may itself cause the
 * losses.  After two losses the library sends it while no other call is in flight.
 * After two more losses, or eight in all, it ends the call with the connection's error.
 * @ret, which may be NULL, is valid until done returns.  Returns -EINVAL for invalid
 * options, -ECANCELED if the connection is closed, -ENOMEM, or the error that ended the
 * connection.  If it returns an error, done is not called. */
RPCRDMA_API int rpcrdma_call(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                             struct rpcrdma_call **ret);
/* Cancels a call: done is called with -ECANCELED when the peer can no longer reach the
 * call's memory. */
RPCRDMA_API void rpcrdma_call_cancel(struct rpcrdma_call *);
/*
 * Makes a call and waits until it has ended.  Copies the results to @results, which has
 * space for @size octets; if reply_bytes is 0, @size is used instead.  Returns the
 * call's status, or the error from rpcrdma_call.  Fills in @ret, unless it is NULL, in
 * both cases; its results member points to @results.  The options must set neither done
 * nor arg.
 * Any thread.  In the engine's thread, runs the engine until the call has ended: other
 * callbacks are called in the meantime, and rpcrdma_engine_stop does not end the wait.
 * In any other thread, sleeps; the engine's thread must continue to run the engine.  A
 * program need not have an engine thread: if rpcrdma_engine_process and _run have never
 * been called, the waiting threads take turns running the engine.  @conn must not be
 * closed while a thread waits, unless its call has begun; the call then ends with
 * -ECANCELED.
 * Returns -EDEADLK if called within a callback of this engine.  Returns -EOVERFLOW if
 * the results are longer than @size, or an item is longer than its dest; the call was
 * executed, ret->len and ret_len have the lengths, and the part that was too long is
 * not copied.  Returns -EINVAL as rpcrdma_call does, or if done or arg is set, or if
 * @results is NULL and @size is not 0.
 */
RPCRDMA_API int rpcrdma_call_sync(struct rpcrdma_conn *,
                                  const struct rpcrdma_call_options *, void *results,
                                  size_t size, struct rpcrdma_reply *ret,
                                  size_t ret_size);

/* ---- Server -------------------------------------------------------------- */

/* Serves one request.  The handler must answer the request exactly once, even if the
 * caller has disconnected, with rpcrdma_request_reply, rpcrdma_request_error or
 * rpcrdma_request_extension_error (rpcrdma/extension.h).  It may answer at once or
 * later, in any thread. */
typedef void rpcrdma_handler_fn(struct rpcrdma_request *, void *arg);

/* How the library treats a repeated Call. */
enum rpcrdma_once {
	RPCRDMA_EXECUTE_AGAIN = 0, /* executes it again */
	/* Not idempotent: a repeated Call is answered with the reply kept from the
	 * first Call. */
	RPCRDMA_EXECUTE_ONCE = 1,
	/* Idempotent, but a late execution would undo later changes.  A repetition that
	 * arrives while the first Call is being executed gets the first Call's reply;
	 * the reply is not kept after that.  To recognise a repetition, the library
	 * compares the first 512 octets of the arguments. */
	RPCRDMA_EXECUTE_ONE_AT_A_TIME = 2,
};

/* A procedure and its upper-layer binding.                      [v2 §A, A.1] */
struct rpcrdma_procedure {
	const char *name;            /* for statistics */
	rpcrdma_handler_fn *handler; /* NULL: the answer is PROC_UNAVAIL, except that
					procedure 0 gets a reply without results */
	uint8_t max_read_items;      /* number of eligible arguments: Read chunks
					allowed */
	uint8_t max_write_items;     /* number of eligible results: Write chunks
					allowed */
	uint32_t max_read_bytes; /* longest eligible argument; 0 = connection's limit */
	uint8_t execute_once;    /* an enum rpcrdma_once */
};

struct rpcrdma_program {
	uint32_t program, version;
	const struct rpcrdma_procedure *procs; /* by number; lent */
	unsigned n_procs;
};

struct rpcrdma_service;

/* Creates a set of programs.  One service may serve many listeners and engines.  All
 * programs must be added before the first listen.  Free the service after the last
 * listener is closed. */
RPCRDMA_API int rpcrdma_service_new(struct rpcrdma_service **ret);
RPCRDMA_API void rpcrdma_service_free(struct rpcrdma_service *);
/* Adds a program, lent for the life of the service.  Returns -EEXIST if the service
 * already has the program. */
RPCRDMA_API int rpcrdma_service_add(struct rpcrdma_service *,
                                    const struct rpcrdma_program *, void *arg);

/*
 * Arguments in the program's own memory.  The library reads items that the client
 * provides as Read chunks straight into memory that the program chooses for each Call.
 * It calls @place when the header of a Call is known, before it reads an item.  @place
 *   returns 1 and sets ret[0] to ret[n_items - 1] to memory for each item, at least
 *     item_bytes long, which the library registers for that read only.  The memory is
 *     lent until the library calls @release once with @ret_token: when the reply has
 *     been sent or the connection has ended.  rpcrdma_request_place_token returns the
 *     token to the handler;
 *   returns 0 to have the items read into the library's memory;
 *   returns a negative errno to have the Call answered with RPCRDMA_SYSTEM_ERR; nothing
 *     is read.
 * A Call whose items were placed might not reach the handler: its connection may be
 * lost, or the reply cache may answer it.  @place is called again for a repeated Call.
 * @place is not called for arguments that arrive in the library's memory: arguments
 * that are inline, short, placed by Send or in several messages, and all arguments under
 * RPCSEC_GSS, since the caller is not verified yet.  If a Call has other items that are
 * to be read, n_items counts only these.  The memory is not part of the budget
 * (rpcrdma_budget_set); max_chunk_bytes and max_held_bytes of the connection apply to
 * it.  Neither function may call the library.
 */
struct rpcrdma_call_info {
	uint32_t program, version, procedure, xid;
	const struct rpcrdma_auth *cred;     /* not verified */
	const struct sockaddr_storage *peer; /* NULL if the peer has disconnected */
	/* The arguments without the items.  A Call in Special Format is read as a whole
	 * later; for such a Call only the first octets of the arguments are available
	 * here. */
	const void *args;
	size_t args_len;
	unsigned n_items;
	const size_t
	        *item_bytes; /* length of each item as the client gave it; some clients
				include the roundup */
};
typedef int rpcrdma_place_fn(const struct rpcrdma_call_info *, struct iovec *ret,
                             void **ret_token, void *arg);
typedef void rpcrdma_release_fn(void *token, void *arg);

struct rpcrdma_place_options {
	size_t size;
	rpcrdma_place_fn *place;
	rpcrdma_release_fn *release;
	void *arg;
};
/* Sets these functions for all procedures of a program, before the first listen.
 * Returns -ENOENT if the program was not added, -EEXIST if the functions are set
 * already, or -EINVAL if @place or @release is missing. */
RPCRDMA_API int rpcrdma_service_set_place(struct rpcrdma_service *, uint32_t program,
                                          uint32_t version,
                                          const struct rpcrdma_place_options *);
/* Returns the token that @place set, or NULL if the arguments are in the library's
 * memory. */
RPCRDMA_API void *rpcrdma_request_place_token(const struct rpcrdma_request *);

/* Sets the memory limit for kept replies of RPCRDMA_EXECUTE_ONCE procedures; the
 * default is 8 MiB.  With a limit of 0, no reply is kept and every Call is executed.
 * The library recognises a repeated Call by the caller's address without its port, the
 * XID, program, version, procedure, and a keyed digest of credential and arguments.  It
 * keeps a reply for five minutes after it was last used.  When the memory is full, the
 * library discards replies to the caller whose replies use the most memory.  It begins
 * with that caller's connection whose replies use the most.  A client that restarts
 * should not begin with the same XIDs, since the server would not execute
 * Calls that look like repeated ones.  This library begins with a random XID.  Returns
 * -EINVAL if the limit is not 0 and less than 64 KiB, or -EBUSY if a Call has been
 * served. */
RPCRDMA_API int rpcrdma_service_set_reply_cache(struct rpcrdma_service *, size_t bytes);

/* Listens at @address: "ADDR[:PORT]", IPv4, [IPv6] or a name; NULL = the wildcard
 * address, port 20049.  Port 0 selects a free port; see rpcrdma_listener_addr.  At the
 * wildcard address, unless a provider is selected, both software iWARP and RDMA devices
 * listen.  iWARP devices do not listen there, since they share TCP's ports; to listen
 * on an iWARP device, specify its address. */
RPCRDMA_API int rpcrdma_listen(struct rpcrdma_engine *, const char *address,
                               const struct rpcrdma_conn_options *,
                               struct rpcrdma_service *, unsigned max_connections,
                               struct rpcrdma_listener **ret);
/*
 * Lets another engine serve part of the listener's connections.  The listener's engine
 * accepts and counts all connections.  It hands each new connection to the engine that
 * has the fewest, which serves the connection until it ends.  The listener's engine
 * itself serves all connections over RDMA devices.
 *
 * The service's handlers and the listener's event function are then called by several
 * threads at once: for each connection, by the thread of its engine.  Each engine must
 * be run by a thread of its own.  Call this function after rpcrdma_listen and before
 * either engine runs.  rpcrdma_listener_close closes the connections of all engines,
 * and the listener's engine is not idle before they have ended.  Free the listener's
 * engine last, and only while no thread runs any of the engines.
 *
 * Returns -EINVAL if the listener is closing or an argument is NULL, -EEXIST if the
 * engine serves the listener already, -ENOSPC if there are 16 engines, -EBUSY if the service has served a Call of a procedure that is executed once,
 * or -ENOMEM.
 */
RPCRDMA_API int rpcrdma_listener_add_engine(struct rpcrdma_listener *,
                                            struct rpcrdma_engine *);
RPCRDMA_API int rpcrdma_listener_addr(const struct rpcrdma_listener *,
                                      struct sockaddr_storage *ret);
/* Returns the providers that accept connections, as a static string: "iwarp", "verbs"
 * or "iwarp+verbs"; "" when the listener is closed. */
RPCRDMA_API const char *rpcrdma_listener_provider(const struct rpcrdma_listener *);
/* Called twice for a client: before its first request, with what it negotiated and
 * proved; and when its connection has ended (connected is false; error and reason have
 * the cause; error is 0 after an orderly close).  For a client that did not complete
 * the handshake and the exchange of properties, called only when the connection has
 * ended.  @info is borrowed.  The function may write logs and keep accounts; it must
 * not call the library. */
typedef void rpcrdma_client_event_fn(struct rpcrdma_listener *,
                                     const struct rpcrdma_conn_info *info, void *arg);
/* Sets the function for clients that connect from now on; NULL = none.  Close the
 * listener and run the engine until it is idle before @arg is freed. */
RPCRDMA_API void rpcrdma_listener_set_event(struct rpcrdma_listener *,
                                            rpcrdma_client_event_fn *event, void *arg);
/*
 * Registers all programs of the listener's service with this host's rpcbind, through
 * rpcbind's local socket.  The netid is rdma for an IPv4 address and rdma6 for an IPv6
 * address; the IPv6 wildcard address is registered under both.  Registers all programs
 * or none, unless rpcbind stops in between.                              [v2 §9]
 * Blocks for up to @timeout_ns (0 = 5 s), so call this function before the engine runs.
 * Returns -ECONNREFUSED if no rpcbind runs here, or other errors as for rpcrdma_lookup.
 * Returns -EEXIST if a program is registered at another address where a server answers;
 * an address that a dead server left is replaced.
 */
RPCRDMA_API int rpcrdma_listener_register(struct rpcrdma_listener *,
                                          uint64_t timeout_ns);
/* Removes the listener's registrations from rpcbind, except any that have changed
 * since.  rpcrdma_listener_close does not remove them, because removal blocks.  Tries
 * all registrations, and returns the first error; -ENOENT if a registration was already
 * gone. */
RPCRDMA_API int rpcrdma_listener_unregister(struct rpcrdma_listener *,
                                            uint64_t timeout_ns);
/*
 * These functions register and unregister one program that the caller serves over TCP
 * at @addr without this library.  An example is MOUNT for NFS over RDMA clients.  The
 * netid is tcp or tcp6; the IPv6 wildcard address is registered under both.
 */
RPCRDMA_API int rpcrdma_register_tcp(uint32_t program, uint32_t version,
                                     const struct sockaddr *addr, uint64_t timeout_ns);
RPCRDMA_API int rpcrdma_unregister_tcp(uint32_t program, uint32_t version,
                                       const struct sockaddr *addr,
                                       uint64_t timeout_ns);
/* Stops accepting connections.  Closes the listener's connections when the requests
 * being served are answered, or after @drain_ns.  Handlers must answer their requests
 * even after @drain_ns; until all are answered, the engine is not idle.  @listener is
 * given. */
RPCRDMA_API void rpcrdma_listener_close(struct rpcrdma_listener *, uint64_t drain_ns);

/* These functions return facts about a request, lent until the request is answered.
 * They may be called in any thread that may answer it. */
RPCRDMA_API uint32_t rpcrdma_request_xid(const struct rpcrdma_request *);
RPCRDMA_API const struct rpcrdma_auth *
rpcrdma_request_cred(const struct rpcrdma_request *);
RPCRDMA_API int rpcrdma_request_peer(const struct rpcrdma_request *,
                                     struct sockaddr_storage *ret);
RPCRDMA_API struct rpcrdma_engine *
rpcrdma_request_engine(const struct rpcrdma_request *);
/* Returns the arguments, after the RPC header.  The octets that were not reduced are in
 * a few contiguous pieces.  Each item that was placed by RDMA Read is a separate piece,
 * in which item is true.  Use the functions of rpcrdma/cursor.h to read the pieces. */
RPCRDMA_API unsigned rpcrdma_request_args(const struct rpcrdma_request *,
                                          const struct rpcrdma_piece **ret);
/* Returns how many octets of the i-th eligible result the client can take.  This is the
 * size of the client's Write chunk.  If the client asks for this result by Send, it is
 * the length of the longest result that a response can hold.  Otherwise 0. */
RPCRDMA_API uint64_t rpcrdma_request_result_room(const struct rpcrdma_request *,
                                                 unsigned i);
/* Allocates memory to build results in: registered, pooled, 64-octet aligned, and freed
 * with the request.  Before the request began, the library reserved memory for the
 * client's Write chunks and Reply chunk, or for one inline message.  Returns NULL if
 * more than the reserved memory is requested and would exceed max_held_bytes or the
 * process's budget, or if there is no memory.  May be called in the engine's thread or
 * the thread that is to answer. */
RPCRDMA_API void *rpcrdma_request_alloc(struct rpcrdma_request *, size_t bytes);
/* Answers SUCCESS with these results.  The array is borrowed; the memory is lent until
 * the request is freed, so memory from rpcrdma_request_alloc is safest.  @done, which
 * may be NULL, is called in the engine's thread when the memory is no longer lent.  Any
 * thread.  Returns -EINVAL if there are too many pieces, or if the number of octets
 * before, between or after the items is not a multiple of four; the request must then
 * still be answered. */
RPCRDMA_API int rpcrdma_request_reply(struct rpcrdma_request *,
                                      const struct rpcrdma_piece *, unsigned n,
                                      void (*done)(void *), void *arg);
/* Answers with an accept_stat (RPCRDMA_PROG_UNAVAIL .. RPCRDMA_SYSTEM_ERR) or
 * RPCRDMA_AUTH_ERROR (@detail = auth_stat).  Any thread. */
RPCRDMA_API int rpcrdma_request_error(struct rpcrdma_request *, int status,
                                      uint32_t detail);

/* ---- Calls from server to client ------------------------------- [v2 §4.5]
 *
 * A server calls a client with rpcrdma_call on a connection object that represents that
 * client.  rpcrdma_request_reverse makes the object from one of the client's requests;
 * the object outlives the transport connection.  When that connection is lost, calls
 * wait until the client reconnects, which only the upper layer can detect (NFSv4.1:
 * BIND_CONN_TO_SESSION).  Each call waits at most @retry_ns (0 = 60 s, UINT64_MAX =
 * forever), and then ends with -EHOSTUNREACH.  A call ends with -EPROTONOSUPPORT if the
 * client supports no reverse calls, and with -EMSGSIZE if the client's enum
 * rpcrdma_reverse value does not permit the message.  A connection that such an object
 * uses is not closed for being idle, and outlives the object; it ends when its client
 * vanishes, see keepalive_ns.  A handler may wait for a reverse call before it answers
 * its request.  rpcrdma_conn_get_stats returns the counters of the connection that the
 * object uses now.  rpcrdma_request_reverse returns -EINVAL if a client received the
 * request, or -ENOTCONN if its connection is closed or closing.
 */
RPCRDMA_API int rpcrdma_request_reverse(struct rpcrdma_request *, uint64_t retry_ns,
                                        struct rpcrdma_conn **ret);
/* Moves @conn to the connection that this request arrived on, after its client has
 * reconnected.  Pending calls, with their old XIDs, and new calls are sent on that
 * connection.  A call that was sent on an older connection is not sent again while that
 * connection is up, since the client could execute the call twice.  Returns the errors
 * of rpcrdma_request_reverse, or -EXDEV if the connection belongs to another engine. */
RPCRDMA_API int rpcrdma_conn_rebind(struct rpcrdma_conn *conn,
                                    struct rpcrdma_request *);

/* Counters of one procedure, summed over all connections of a service. */
struct rpcrdma_proc_stats {
	uint64_t calls, errors;
	uint64_t args_bytes, results_bytes;
};
RPCRDMA_API int rpcrdma_service_get_stats(const struct rpcrdma_service *,
                                          uint32_t program, uint32_t version,
                                          uint32_t procedure,
                                          struct rpcrdma_proc_stats *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
