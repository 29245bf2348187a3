/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpcrdma: ONC RPC over RDMA, version 2, in user space.
 *
 * An engine is an event loop.  Connections and listeners belong to one engine
 * for life.  Everything that takes an engine, a connection, a listener or a
 * call must be used from the thread that runs the engine, and every callback
 * is called in that thread with no lock held, unless a line says "any thread".
 * Callbacks may make calls, cancel them and close what they like, but neither run
 * nor free the engine.
 *
 * Functions return 0 or a count, or a negative errno.  Words on pointers:
 * borrowed = needed during the call only (the default); lent = must stay
 * valid and untouched until the event named; given = the callee frees it.
 *
 * Structures grow: a later version of the library may add members at their end, and
 * programs that were compiled before go on.  There are three kinds:
 * - Option structures, and rpcrdma_extension, begin with their size: initialise them
 *   with RPCRDMA_OPTIONS(type), which also zeroes the rest (zero = default).  What a
 *   smaller one lacks is taken as zero.  -E2BIG: a larger one is not zero where this
 *   library has no members.  -EINVAL: a smaller one lacks a member that must be given.
 * - What the library fills in for the program has its size as a parameter, which is
 *   sizeof(*ret).  No more is written, and zero where this library has no members.
 * - What the library lends to callbacks needs no size: rpcrdma_reply, rpcrdma_conn_info,
 *   rpcrdma_extension_message, rpcrdma_call_info.  A program must run with a library that
 *   has the members that it reads: rpcrdma_library_version_number tells.
 * These do not grow, since they are items of arrays, or the program's and lent:
 * rpcrdma_piece, _dest, _auth, _auth_sys, _procedure, _program, _binding,
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
#define RPCRDMA_SERVICE_BYTES 8 /* a port in decimal, and the zero octet */

struct rpcrdma_engine;
struct rpcrdma_conn;
struct rpcrdma_listener;
struct rpcrdma_call;
struct rpcrdma_request;
struct rpcrdma_extension; /* rpcrdma/extension.h */
struct rpcrdma_gss;       /* rpcrdma/gss.h */

/* The library's own version, of this header and (any thread) of what the program is linked
 * with.  The number is 10000 * major + 100 * minor + patch. */
#define RPCRDMA_LIBRARY_VERSION        "0.1.0"
#define RPCRDMA_LIBRARY_VERSION_NUMBER 100
RPCRDMA_API const char *rpcrdma_library_version(void);
RPCRDMA_API unsigned rpcrdma_library_version_number(void);

/* ---- Payload streams ------------------------------------------------------
 *
 * A message body is a short vector of pieces.  An item piece is the octets of
 * one DDP-eligible XDR data item, without its length word (which ends the
 * piece before it) and without roundup padding (which the library adds where
 * the item travels inline).  Other pieces are XDR octets, a multiple of four
 * in total between items.                              [v2 §4.3.4.4, §4.3.5]
 */
struct rpcrdma_piece {
	const void *base;
	size_t len;
	bool item;
};

/* Where an eligible result is to be placed (one Write chunk). [v2 §4.3.6] */
struct rpcrdma_dest {
	void *base;           /* lent until the call is done */
	size_t len;           /* the most octets that can come */
	size_t ret_len;       /* octets placed; set before the done callback */
	const void *ret_base; /* where: @base, or the library's memory until the done
				 callback returns, if an idempotent call was asked
				 again with more room than @len */
	bool ret_used;        /* false: the result came without an item, or inline */
	bool ret_offered; /* the server was offered room for it, in the attempt that it
			     answered: an eligible result of one octet or more that
			     comes inline all the same breaks the binding, and the
			     call is to be taken for failed [v2 §A.1].  False where
			     nothing may be moved (RPCSEC_GSS), or the server refused
			     to */
};

/* Credentials or verifier: flavor and opaque body.      [RFC 5531 §8.2] */
struct rpcrdma_auth {
	uint32_t flavor;
	const void *body;
	uint32_t len; /* at most 400 */
};

enum { RPCRDMA_AUTH_NONE = 0, RPCRDMA_AUTH_SYS = 1 };

/* Encodes an AUTH_SYS body into @buf; octets used, or -EMSGSIZE. */
RPCRDMA_API int rpcrdma_auth_sys_encode(void *buf, size_t size, uint32_t stamp,
                                        const char *machine, uint32_t uid, uint32_t gid,
                                        const uint32_t *gids, unsigned n_gids);

struct rpcrdma_auth_sys {
	uint32_t stamp, uid, gid;
	unsigned n_gids; /* at most 16 */
	uint32_t gids[16];
	char machine[256];
};
/* Decodes one; -EBADMSG if malformed. */
RPCRDMA_API int rpcrdma_auth_sys_decode(const struct rpcrdma_auth *,
                                        struct rpcrdma_auth_sys *ret);

/* ---- Engine ---------------------------------------------------------------- */

struct rpcrdma_engine_options {
	size_t size;
	/* Called for each trace point with one JSON object, no newline. */
	void (*trace)(void *arg, const char *json);
	void *trace_arg;
	uint64_t spin_ns; /* poll that long before sleeping; 0 = sleep at once */
};

RPCRDMA_API int rpcrdma_engine_new(const struct rpcrdma_engine_options *,
                                   struct rpcrdma_engine **ret);
/* All connections and listeners should have been closed and drained
 * (rpcrdma_engine_idle).  Aborts those that are left: calls end with -ECANCELED,
 * and requests that handlers still hold are gone, so that no thread may answer
 * them any more.  Timers that have not fired are cancelled. */
RPCRDMA_API void rpcrdma_engine_free(struct rpcrdma_engine *);
/* Handles what is ready; sleeps up to @timeout_ms (-1: without limit) if
 * nothing is.  0, or the errno of a failed wait; -EDEADLK within a callback. */
RPCRDMA_API int rpcrdma_engine_process(struct rpcrdma_engine *, int timeout_ms);
/* Processes until rpcrdma_engine_stop. */
RPCRDMA_API int rpcrdma_engine_run(struct rpcrdma_engine *);
/* Any thread, and signal handlers. */
RPCRDMA_API void rpcrdma_engine_stop(struct rpcrdma_engine *);
/* Readable when rpcrdma_engine_process has something to do; for own loops,
 * together with rpcrdma_engine_timeout_ms (-1: none). */
RPCRDMA_API int rpcrdma_engine_fd(struct rpcrdma_engine *);
RPCRDMA_API int rpcrdma_engine_timeout_ms(const struct rpcrdma_engine *);
/* No connection, listener, request or call is left. */
RPCRDMA_API bool rpcrdma_engine_idle(const struct rpcrdma_engine *);
/* Runs @fn in the engine's thread, soon.  Any thread.  -ENOMEM. */
RPCRDMA_API int rpcrdma_engine_post(struct rpcrdma_engine *, void (*fn)(void *),
                                    void *arg);
/* Calls @fn once after @delay_ns unless cancelled; @ret (may be NULL) is valid
 * until @fn begins.  -ENOMEM. */
struct rpcrdma_timer;
RPCRDMA_API int rpcrdma_timer_start(struct rpcrdma_engine *, uint64_t delay_ns,
                                    void (*fn)(void *), void *arg,
                                    struct rpcrdma_timer **ret);
RPCRDMA_API void rpcrdma_timer_cancel(struct rpcrdma_timer *);

/* For people: what happens to connections and calls, one line of text for each event. */
enum rpcrdma_log_level {
	RPCRDMA_LOG_NONE = 0,
	RPCRDMA_LOG_ERROR = 1, /* given up: a connection, a call, a security context */
	RPCRDMA_LOG_WARNING =
	        2, /* lost, refused or closed for others; a peer's fault */
	RPCRDMA_LOG_INFO =
	        3, /* connected (by which provider, in which version), closed in
				 order, tried again, made otherwise */
	RPCRDMA_LOG_DEBUG = 4, /* each trace point, for developers */
};
/* @line names the peer's address first, if there is one, and has no newline.  It is lent
 * for the call.  The engine's thread, with no lock held; it must not call back into the
 * library. */
typedef void rpcrdma_log_fn(enum rpcrdma_log_level, const char *line, void *arg);
/* Calls @log for events up to level @most from now on; NONE or NULL ends that.  Nothing is
 * formatted for other events: they cost a look at a table, and without @log and trace
 * not even that. */
RPCRDMA_API void rpcrdma_engine_set_log(struct rpcrdma_engine *,
                                        enum rpcrdma_log_level most,
                                        rpcrdma_log_fn *log, void *arg);

/* ---- Options common to both ends ------------------------------------------- */

/* What a client lets its server do in reverse.            [v2 §5.2.5] */
enum rpcrdma_reverse {
	RPCRDMA_REVERSE_DEFAULT = 0,
	RPCRDMA_REVERSE_SIMPLE = 1, /* Calls and Replies of one message */
	RPCRDMA_REVERSE_CONT = 2,   /* and continued ones */
	RPCRDMA_REVERSE_GENL = 3,   /* and chunks */
};

/* Who must prove who they are before any RPC, see rpcrdma/hostauth.h. */
struct rpcrdma_hostauth;
enum rpcrdma_hostauth_policy {
	RPCRDMA_HOSTAUTH_OFF = 0,
	RPCRDMA_HOSTAUTH_PREFER = 1,  /* if the peer can; one that tries must succeed */
	RPCRDMA_HOSTAUTH_REQUIRE = 2, /* or there is no connection */
};

struct rpcrdma_conn_options {
	size_t size;
	const char *provider;   /* "verbs[:DEVICE,key=value,...]": RDMA devices;
				 "iwarp[:key=value,...]": RDMA over TCP in software;
				 NULL or "auto": for each address, devices where one
				 serves it that is no siw, else iwarp (loopback:
				 always).
				 -EINVAL: none of these, or not with these keys and
				 values, see rpcrdma_provider_check; -ENOPKG: verbs wants
				 rdma-core (libibverbs1, librdmacm1) installed;
				 -ENODEV: verbs wants an RDMA device */
	unsigned version;       /* 0 = negotiate (2, else 1); 2 or 1 = only that one */
	uint32_t credits;       /* 2..2047; default 32 */
	uint32_t inline_bytes;  /* Send and Receive size; 1024.., default 4096 */
	uint32_t segment_bytes; /* largest RDMA segment; default 1 MiB */
	uint32_t max_segments;  /* of one header that comes, and in version 1 of one
				  that is sent, since its peers name no limit; default 16 */
	uint32_t max_requests;  /* of one connection, being served at once; others wait,
				  and credits are withheld; default 256 */
	uint32_t max_message_bytes; /* a Call or Reply without items; default 4 MiB */
	uint32_t max_chunk_bytes;   /* one Read chunk; default 8 MiB */
	uint64_t max_held_bytes;    /* memory the peer can make us hold; default 32 MiB;
				    for all together see rpcrdma_budget_set */
	uint64_t handshake_ns;      /* setting up the transport; then first message and
				  property exchange; default 10 s each */
	uint64_t idle_ns; /* server: close after; default 6 min; UINT64_MAX = never.
			     Before the first Call handshake_ns, if that is less */
	uint32_t max_per_address; /* server: connections of one client's address to a
				     listener; 0 = no limit of its own */
	uint64_t keepalive_ns; /* grant messages on an idle connection; 0 = none: hosts
				  that vanish are noticed all the same, by TCP, in two
				  minutes */
	/* Of version 2, see rpcrdma/extension.h; the array and what it names are lent
	 * until the last connection made with it is over. */
	const struct rpcrdma_extension *const *extensions;
	unsigned n_extensions;
	/* Host authentication; @hostauth is lent, and needed unless OFF. */
	enum rpcrdma_hostauth_policy hostauth_policy;
	const struct rpcrdma_hostauth *hostauth;
	/* client: */
	const char *hostauth_name; /* whom the server's certificate must name; NULL =
				      the host connected to; "" = anybody believed.
				      Copied, at most 255 octets */
	bool no_reconnect; /* the first loss ends everything; attempts that find out
			      which version the server speaks are no loss */
	uint64_t reconnect_min_ns, reconnect_max_ns; /* back-off; 100 ms, 5 s */
	uint64_t retry_ns;        /* calls give up when the server was unreachable that
			      long; default 60 s; UINT64_MAX = never */
	uint64_t first_answer_ns; /* the server must say anything at all; default 5 s */
	uint64_t
	        version_cache_ns; /* a server that speaks no version 2 is asked in version
				 1 from the start for that long; default 10 min */
	enum rpcrdma_reverse reverse; /* what the server may use of @callbacks; 0 = GENL
					 with them, else none */
	/* Programs that the server may call on this connection; lent until it is
	 * closed and the last request is answered.  NULL: the server is told that
	 * there are none. */
	struct rpcrdma_service *callbacks;
	/* Where rpcrdma_connect is given no service: the port is that of this program, and
	 * the rpcbind of the host is asked for it, before each connection, in a thread of
	 * the library, handshake_ns long at most.  If it does not know, or is not there,
	 * that of NFS is 20049; the attempt has failed for any other.  0 = 20049. */
	uint32_t program, program_version;
};

/* Checks @provider as rpcrdma_connect and rpcrdma_listen would.  Returns 0, or -EINVAL
 * and writes a sentence that names the wrong key or value to @ret_reason, which has room
 * for @size octets (0: nothing is written).  Does not check that a device of that name
 * exists.  May be called in any thread. */
RPCRDMA_API int rpcrdma_provider_check(const char *provider, char *ret_reason,
                                       size_t size);

/* ---- Statistics ---------------------------------------------------------------- */

struct rpcrdma_stats {
	uint64_t calls, replies;            /* sent, received as Requester */
	uint64_t requests, request_replies; /* served as Responder */
	uint64_t retransmits, reconnects, call_errors;
	uint64_t sends, recvs, rdma_reads, rdma_writes;
	uint64_t registrations, local_invalidations, remote_invalidations;
	uint64_t grants, errors_sent, errors_received, credit_stalls;
	uint64_t recoveries,
	        overruns; /* calls asked again otherwise; credit overruns seen */
	uint64_t cache_hits, cache_waits; /* Calls answered from the reply cache; Calls
					     that came again while being executed */
	uint64_t syscalls, wire_bytes_sent, wire_bytes_received;
	/* payload octets by path, both directions */
	uint64_t bytes_inline, bytes_continued, bytes_read_chunk, bytes_write_chunk;
	uint64_t bytes_reply_chunk, bytes_special_call;
	uint64_t connections, connections_open, connections_refused;
	uint64_t connections_evicted; /* closed to make room for another one */
	uint64_t held_bytes, peak_held_bytes;
};

/* What was negotiated, for people. */
struct rpcrdma_conn_info {
	const char *provider;              /* static; "auto" before the first attempt */
	unsigned version;                  /* 0 while not connected */
	uint32_t send_inline, recv_inline; /* thresholds in octets */
	uint32_t credits_granted;          /* most we may hold */
	uint32_t peer_segment_bytes, peer_max_segments; /* version 1 cannot say: 0 */
	uint32_t peer_reverse; /* server: what the client allows, enum rpcrdma_reverse;
				  0 = no calls; version 1 cannot say: SIMPLE */
	bool remote_invalidate;
	bool connected;
	int error;          /* last reason of a loss, negative errno */
	char reason[160];   /* of that loss, as text */
	char identity[256]; /* what the peer proved to be (hostauth); "" = nothing */
	struct sockaddr_storage peer, local;
};

/*
 * Memory that peers can make this process hold, over all its engines: Receives of
 * connections that it accepts, what is pulled or reassembled for requests, and results.
 * Each request reserves all that it can need before anything is pulled for it; what
 * does not fit waits in order.  While others wait, a connection whose peer neither
 * sends nor takes what would free the memory that it holds is ended.
 */
struct rpcrdma_budget {
	uint64_t limit_bytes;
	uint64_t used_bytes;        /* reserved now */
	uint64_t connections_bytes; /* of these, the fixed price of connections */
	uint64_t waiting;           /* connections that wait for memory now */
	uint64_t waits;             /* how often one began to wait */
	uint64_t refused; /* connections and Calls for which there was no memory */
	uint64_t ended;   /* connections ended because others waited for their memory */
};
/* Default: an eighth of the machine's memory, at most 1 GiB.  All connections
 * together may hold 3/8 of it in Receives, and one request a half.  -EINVAL below 1 MiB.
 * Any thread, any time; what is held already stays. */
RPCRDMA_API int rpcrdma_budget_set(uint64_t bytes);
/* Any thread. */
RPCRDMA_API void rpcrdma_budget_get(struct rpcrdma_budget *ret, size_t size);

/* The engine's sums, connections that have ended included. */
RPCRDMA_API void rpcrdma_engine_get_stats(const struct rpcrdma_engine *,
                                          struct rpcrdma_stats *ret, size_t size);
RPCRDMA_API void rpcrdma_conn_get_stats(const struct rpcrdma_conn *,
                                        struct rpcrdma_stats *ret, size_t size);
RPCRDMA_API void rpcrdma_conn_get_info(const struct rpcrdma_conn *,
                                       struct rpcrdma_conn_info *ret, size_t size);

/* ---- Client ---------------------------------------------------------------------- */

/* Told when the connection is up (@error 0; again after each reconnect),
 * lost (negative errno; it will be tried again), or over (@final). */
typedef void rpcrdma_conn_event_fn(struct rpcrdma_conn *, int error, bool final,
                                   void *arg);

/*
 * Begins to connect; calls may be made at once, they wait.  @host is a name or
 * address, @service a port; NULL = that of the program in the options, or 20049.
 * -ENXIO: the name does not resolve.
 */
RPCRDMA_API int rpcrdma_connect(struct rpcrdma_engine *, const char *host,
                                const char *service,
                                const struct rpcrdma_conn_options *,
                                rpcrdma_conn_event_fn *event, void *arg,
                                struct rpcrdma_conn **ret);
/*
 * The port of a program that is registered with the rpcbind of @host (port 111)
 * under netid rdma, for an IPv6 address rdma6; as text, which rpcrdma_connect
 * takes as @service.  NFS needs none of this, its port is 20049.      [v2 §9]
 * Blocks, up to @timeout_ns (0 = 5 s) after the name was resolved: call it before
 * the engine runs or in another thread, or name the program in the options of
 * rpcrdma_connect.  Any thread.
 * -ENXIO the name does not resolve, -ECONNREFUSED, -ETIMEDOUT and the like: there
 * is no rpcbind; -ENOENT it does not know the program in that version;
 * -EPROTONOSUPPORT it speaks neither version 4 nor 3, -EACCES, -EPROTO it
 * refuses; -EBADMSG, -EMSGSIZE what it says cannot be.
 */
RPCRDMA_API int rpcrdma_lookup(const char *host, uint32_t program, uint32_t version,
                               uint64_t timeout_ns,
                               char ret_service[RPCRDMA_SERVICE_BYTES]);
/*
 * As rpcrdma_lookup, under exactly @netid: "tcp", "udp6" or any other whose addresses
 * end in a port.  @host is asked at each of its addresses, whatever their family.
 * -EBADMSG also if the address under @netid has no port; -EINVAL @netid is empty.
 */
RPCRDMA_API int rpcrdma_lookup_netid(const char *host, const char *netid,
                                     uint32_t program, uint32_t version,
                                     uint64_t timeout_ns,
                                     char ret_service[RPCRDMA_SERVICE_BYTES]);
/* Ends it: calls still out end with -ECANCELED, the stream closes in order,
 * memory is freed once nothing is owed.  No event follows.  @conn is given. */
RPCRDMA_API void rpcrdma_conn_close(struct rpcrdma_conn *);

/* Status of a call: 0, a negative errno from the transport, or one of these
 * positive values, which need the peer to have answered. */
enum rpcrdma_status {
	RPCRDMA_OK = 0,
	RPCRDMA_PROG_UNAVAIL = 1,  /* the server has no such program */
	RPCRDMA_PROG_MISMATCH = 2, /* ... no such version: see low, high */
	RPCRDMA_PROC_UNAVAIL = 3,
	RPCRDMA_GARBAGE_ARGS = 4,
	RPCRDMA_SYSTEM_ERR = 5,
	RPCRDMA_RPC_MISMATCH = 100,    /* MSG_DENIED: low, high */
	RPCRDMA_AUTH_ERROR = 101,      /* MSG_DENIED: auth_stat */
	RPCRDMA_TRANSPORT_ERROR = 200, /* RDMA2_ERROR: transport_error, a, b */
	                               /* Negative errno:
	 * -ETIMEDOUT    the timeout passed (the server may have executed it)
	 * -EHOSTUNREACH the server could not be reached for retry_ns
	 * -ECONNRESET   connection lost and no_reconnect was set, or lost again and
	 *               again while the call was out (then any error of a connection)
	 * -ECANCELED    cancelled, or the connection was closed
	 * -EBADMSG, -EPROTO  the Reply was malformed or broke the transport's rules
	 * -EOVERFLOW    the Reply is longer than reply_bytes and max_message_bytes: set
	 *               either; it was executed
	 * -EMSGSIZE     cannot be expressed within the peer's limits
	 * -EPROTONOSUPPORT  no version in common
	 * -EACCES       no security context, see rpcrdma_gss_get_info */
};

/* With RPCRDMA_TRANSPORT_ERROR: what the peer's transport refused, rdma_err of
 * RDMA2_ERROR or in version 1 of RDMA_ERROR, and @a, @b of it.  Codes 6 to 8 come before the procedure was
 * executed, 9 and 10 after; a caller sees these five only when asking otherwise
 * was not allowed, not possible or did not help.              [v2 §7] */
enum rpcrdma_transport_error {
	RPCRDMA_ERR_VERS = 1,    /* the version; a, b: those that the peer speaks */
	RPCRDMA_ERR_BAD_XDR = 2, /* it could not decode the header */
	RPCRDMA_ERR_BAD_PROPVAL = 3,
	RPCRDMA_ERR_INVAL_HTYPE = 4,
	RPCRDMA_ERR_INVAL_CONT = 5,   /* a continued message, for instance too long */
	RPCRDMA_ERR_READ_CHUNKS = 6,  /* more items than it would read; a: how many */
	RPCRDMA_ERR_WRITE_CHUNKS = 7, /* more destinations than results; a: how many */
	RPCRDMA_ERR_SEGMENTS = 8,     /* a: how many it takes */
	RPCRDMA_ERR_WRITE_RESOURCE =
	        9, /* the a-th destination lacks room for b octets */
	RPCRDMA_ERR_REPLY_RESOURCE = 10, /* no way for a Reply of a octets */
	RPCRDMA_ERR_SYSTEM = 100, /* anything else: memory, limits, failed RDMA */
	RPCRDMA_ERR_CHUNK =
	        0x40000002, /* version 1, which has no other: the chunks could
					   not be parsed, or lacked room for the Reply,
					   which may have been executed; our own number */
};

/* For messages: a phrase for a status as above; static. */
RPCRDMA_API const char *rpcrdma_strstatus(int status);
/* ... and for a transport_error. */
RPCRDMA_API const char *rpcrdma_strerror_transport(uint32_t transport_error);

struct rpcrdma_reply {
	int status;
	uint32_t auth_stat;             /* RPCRDMA_AUTH_ERROR */
	uint32_t low, high;             /* mismatches */
	uint32_t transport_error, a, b; /* with RPCRDMA_TRANSPORT_ERROR, see there */
	/* The results' XDR octets after the RPC header, without items that were
	 * placed in destinations; borrowed, contiguous. */
	const void *results;
	size_t len;
	uint32_t xid;
	struct rpcrdma_dest *dests; /* as given, ret_len filled */
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
	size_t reply_bytes;  /* bound of the results without items in dests; matters
			       above some inline thresholds; 0 = small.  In version 1
			       4,000 octets are made room for then, for none of NULL
			       (procedure 0 without arguments and dests) */
	uint64_t timeout_ns; /* of the whole call, attempts and waiting; 0 = none: as
				long as the connected server takes, and retry_ns */
	bool force_special;  /* Special Format even where the Call fits inline */
	bool idempotent;     /* executing it twice does no harm: it is asked again with
			    more room when the server says that it lacked some */
	rpcrdma_done_fn *done; /* called exactly once, never from within rpcrdma_call */
	void *arg;
	struct rpcrdma_gss
	        *gss; /* RPCSEC_GSS, of this connection; @cred must be NULL */
};

/* Starts a call.  Retransmitted under the same XID after a reconnect; ended by the
 * connection's error when it lost two connections in company and two alone, or eight.
 * @ret (may be NULL) is valid until done returns.  -EINVAL: options; -ECANCELED:
 * closed already; -ENOMEM; or why the connection is over.  Then done is not
 * called. */
RPCRDMA_API int rpcrdma_call(struct rpcrdma_conn *, const struct rpcrdma_call_options *,
                             struct rpcrdma_call **ret);
/* done follows with -ECANCELED, once the peer can no longer reach the memory. */
RPCRDMA_API void rpcrdma_call_cancel(struct rpcrdma_call *);
/*
 * Makes a call and waits for its end.  Copies the results into the @size octets at
 * @results; reply_bytes of 0 stands for @size.  Returns the status, or why no call was
 * made as rpcrdma_call does.  @ret (may be NULL) is filled in either case; its results
 * are @results.  The options have no done and no arg.
 * Any thread.  The thread that runs the engine runs it until then: other callbacks are
 * called meanwhile, and rpcrdma_engine_stop does not end the wait.  Any other thread
 * sleeps, and leaves the call to the one that runs the engine, which must go on doing so.
 * A program need not have such a thread: as long as rpcrdma_engine_process and _run were
 * never called, those that wait run the engine by turns.  @conn must not be closed
 * while a thread waits, unless its call has begun (then it ends with -ECANCELED).
 * -EDEADLK: within a callback of this engine.  -EOVERFLOW: the results are longer than
 * @size, or an item than its dest; ret->len and ret_len say how long.  What was too long
 * is not copied, and the call was executed.  -EINVAL: as with rpcrdma_call; or there is
 * a done or an arg, or no @results for @size octets.
 */
RPCRDMA_API int rpcrdma_call_sync(struct rpcrdma_conn *,
                                  const struct rpcrdma_call_options *, void *results,
                                  size_t size, struct rpcrdma_reply *ret,
                                  size_t ret_size);

/* ---- Server -------------------------------------------------------------- */

/* Serves one request: answers by exactly one of rpcrdma_request_reply,
 * rpcrdma_request_error or (rpcrdma/extension.h) rpcrdma_request_extension_error, at
 * once or later, from any thread.  It must answer even if the caller is gone. */
typedef void rpcrdma_handler_fn(struct rpcrdma_request *, void *arg);

/* What is done with a Call that comes again. */
enum rpcrdma_once {
	RPCRDMA_EXECUTE_AGAIN = 0, /* it is executed again */
	RPCRDMA_EXECUTE_ONCE = 1, /* not idempotent: the reply of the first one is kept,
				     and is its answer */
	/* Idempotent, but late it would undo what was done since: while the first one
	 * is being executed it waits for that one's reply, which is not kept.  Of its
	 * arguments the first 512 octets are compared. */
	RPCRDMA_EXECUTE_ONE_AT_A_TIME = 2,
};

/* A procedure and its upper-layer binding.                      [v2 §A, A.1] */
struct rpcrdma_procedure {
	const char *name;            /* for statistics */
	rpcrdma_handler_fn *handler; /* NULL: PROC_UNAVAIL; of procedure 0: the library
					answers with no results */
	uint8_t max_read_items;      /* eligible arguments: Read chunks allowed */
	uint8_t max_write_items;     /* eligible results: Write chunks allowed */
	uint32_t max_read_bytes; /* of one eligible argument; 0 = connection's limit */
	uint8_t execute_once;    /* an enum rpcrdma_once */
};

struct rpcrdma_program {
	uint32_t program, version;
	const struct rpcrdma_procedure *procs; /* by number; lent */
	unsigned n_procs;
};

struct rpcrdma_service;

/* A set of programs.  One service may serve many listeners and engines; it is
 * complete before the first listen and freed after the last close. */
RPCRDMA_API int rpcrdma_service_new(struct rpcrdma_service **ret);
RPCRDMA_API void rpcrdma_service_free(struct rpcrdma_service *);
/* @program is lent for the service's life.  -EEXIST. */
RPCRDMA_API int rpcrdma_service_add(struct rpcrdma_service *,
                                    const struct rpcrdma_program *, void *arg);

/*
 * Arguments in the program's own memory: the items that come by RDMA (Read chunks) are
 * read straight into memory that it names for each Call.  @place is asked when the header
 * of a Call is known, and before an item is read.  It returns
 *   1  and fills ret[0] to ret[n_items - 1]: memory for each item, of item_bytes at least,
 *      registered for the read alone.  It is lent until @release gets @ret_token, once:
 *      when the request is over and its reply is out, or its connection is gone.
 *      rpcrdma_request_place_token tells the handler the token;
 *   0  the items are to lie in the library's memory;
 *   a negative errno: the Call is answered with RPCRDMA_SYSTEM_ERR, and nothing is read.
 * A Call for which memory was given need not come to the handler: its connection may be
 * lost, or it is answered from the reply cache.  One that comes again asks again.
 * Not asked, since they come in the library's memory: arguments inline, short or in
 * several messages; all of RPCSEC_GSS, whose caller is not known yet.  The memory is not in
 * the budget (rpcrdma_budget_set); max_chunk_bytes and max_held_bytes of the connection
 * hold for it.  Both are called in the engine's thread, and must not call back.
 */
struct rpcrdma_call_info {
	uint32_t program, version, procedure, xid;
	const struct rpcrdma_auth *cred;     /* as the caller says */
	const struct sockaddr_storage *peer; /* NULL: it is gone */
	const void
	        *args; /* octets of the arguments without items; of a Call that is read
			     as a whole (Special Format) the first ones */
	size_t args_len;
	unsigned n_items;
	const size_t *item_bytes; /* some clients send roundup with an item */
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
/* For all procedures of a program that was added; before the first listen.  -ENOENT: it
 * was not; -EEXIST: set already; -EINVAL: no @place or no @release. */
RPCRDMA_API int rpcrdma_service_set_place(struct rpcrdma_service *, uint32_t program,
                                          uint32_t version,
                                          const struct rpcrdma_place_options *);
/* The token that @place gave; NULL: the arguments lie in the library's memory. */
RPCRDMA_API void *rpcrdma_request_place_token(const struct rpcrdma_request *);

/* Memory for replies of execute_once procedures, default 8 MiB; 0 = they are not
 * remembered, and every Call is executed.
 * A Call is known again by the caller's address without its port,
 * XID, program, version, procedure, and a checksum of credential and arguments.
 * Replies are kept for five minutes, counted anew when they are asked for; if there
 * is no room those go first of the caller, and connection, that has most.
 * Therefore a client that starts anew should not begin with the same XIDs: what it
 * repeats by intent would not be executed (this library begins at random).
 * -EINVAL below 64 KiB, -EBUSY once a Call was served. */
RPCRDMA_API int rpcrdma_service_set_reply_cache(struct rpcrdma_service *, size_t bytes);

/* @address "ADDR[:PORT]", IPv4, [IPv6] or a name; NULL = any address, port 20049;
 * port 0 = any free one (see rpcrdma_listener_addr).  At the any address and with
 * no provider named, RDMA devices listen as well as software iWARP, unless they
 * share TCP's ports (iWARP devices: name their address). */
RPCRDMA_API int rpcrdma_listen(struct rpcrdma_engine *, const char *address,
                               const struct rpcrdma_conn_options *,
                               struct rpcrdma_service *, unsigned max_connections,
                               struct rpcrdma_listener **ret);
RPCRDMA_API int rpcrdma_listener_addr(const struct rpcrdma_listener *,
                                      struct sockaddr_storage *ret);
/* "iwarp", "verbs" or "iwarp+verbs": what connections come in by (static); "" when
 * it is closed. */
RPCRDMA_API const char *rpcrdma_listener_provider(const struct rpcrdma_listener *);
/* Told of a client twice: when what @info says was negotiated and proved, before its
 * first request; and when its connection is over (connected is false then; error and
 * why say what ended it, 0 = in order).  A client that got no further than the
 * handshake or the exchange of properties is told of once, as over.  @info is lent
 * for the call.  The engine's thread; for log lines and books, not to call back. */
typedef void rpcrdma_client_event_fn(struct rpcrdma_listener *,
                                     const struct rpcrdma_conn_info *info, void *arg);
/* Of clients that come from now on; NULL = no more.  Close the listener first and
 * run the engine until it is idle before @arg goes away. */
RPCRDMA_API void rpcrdma_listener_set_event(struct rpcrdma_listener *,
                                            rpcrdma_client_event_fn *event, void *arg);
/*
 * Tells the rpcbind of this host, by its local socket, where all programs of the
 * listener's service are: under netid rdma, for an IPv6 address rdma6, for the
 * IPv6 any address both, which it serves.  All, or none unless rpcbind went away
 * in the middle.                                                     [v2 §9]
 * Blocks, up to @timeout_ns (0 = 5 s): call it before the engine runs.
 * -ECONNREFUSED: no rpcbind runs here; -EEXIST: a program has another address, not
 * one that a dead server left: that is replaced; others as with rpcrdma_lookup.
 */
RPCRDMA_API int rpcrdma_listener_register(struct rpcrdma_listener *,
                                          uint64_t timeout_ns);
/* Takes that back, where it still stands; rpcrdma_listener_close does not, since
 * this blocks as well.  The first error, after all was tried; -ENOENT: something
 * was not there any more. */
RPCRDMA_API int rpcrdma_listener_unregister(struct rpcrdma_listener *,
                                            uint64_t timeout_ns);
/*
 * The same for one program that the caller serves over TCP at @addr, by other means
 * than this library: MOUNT, which clients of NFS over RDMA ask for over TCP.  Netid
 * tcp or tcp6; both at the IPv6 any address.
 */
RPCRDMA_API int rpcrdma_register_tcp(uint32_t program, uint32_t version,
                                     const struct sockaddr *addr, uint64_t timeout_ns);
RPCRDMA_API int rpcrdma_unregister_tcp(uint32_t program, uint32_t version,
                                       const struct sockaddr *addr,
                                       uint64_t timeout_ns);
/* Stops accepting; requests being served are answered, then the listener's
 * connections close (at most @drain_ns later).  Handlers answer what they hold even
 * then: a request, and its engine, end no earlier.  @listener is given. */
RPCRDMA_API void rpcrdma_listener_close(struct rpcrdma_listener *, uint64_t drain_ns);

/* A request's facts; lent until it is answered.  Any thread that is to answer. */
RPCRDMA_API uint32_t rpcrdma_request_xid(const struct rpcrdma_request *);
RPCRDMA_API const struct rpcrdma_auth *
rpcrdma_request_cred(const struct rpcrdma_request *);
RPCRDMA_API int rpcrdma_request_peer(const struct rpcrdma_request *,
                                     struct sockaddr_storage *ret);
RPCRDMA_API struct rpcrdma_engine *
rpcrdma_request_engine(const struct rpcrdma_request *);
/* The arguments after the RPC header.  Whether reduced or not: all octets
 * that are no chunk lie in few contiguous pieces, an item placed by RDMA Read
 * is one piece of its own (item = true).  rpcrdma/cursor.h reads them. */
RPCRDMA_API unsigned rpcrdma_request_args(const struct rpcrdma_request *,
                                          const struct rpcrdma_piece **ret);
/* The most octets of the i-th eligible result that the client can take by
 * RDMA Write; 0 if it offers no i-th Write chunk. */
RPCRDMA_API uint64_t rpcrdma_request_result_room(const struct rpcrdma_request *,
                                                 unsigned i);
/* Memory to build results in, registered and pooled, 64-octet aligned; freed
 * with the request.  What the client's Write chunks and Reply chunk can take, or one
 * inline message, was reserved before the request began.  More is there unless
 * max_held_bytes or the process's budget are used up.  NULL: they are, or there is no
 * memory.  Engine's thread, or the thread that is to answer. */
RPCRDMA_API void *rpcrdma_request_alloc(struct rpcrdma_request *, size_t bytes);
/* Answers SUCCESS with these results (array borrowed, memory lent until the
 * request is freed; memory from rpcrdma_request_alloc is safest).  @done (may
 * be NULL) is called in the engine's thread when lent memory is free again.
 * Any thread.  -EINVAL: too many pieces, or what is before, between or behind the items is no
 * multiple of four octets; the request is still to be answered. */
RPCRDMA_API int rpcrdma_request_reply(struct rpcrdma_request *,
                                      const struct rpcrdma_piece *, unsigned n,
                                      void (*done)(void *), void *arg);
/* Answers with an accept_stat (RPCRDMA_PROG_UNAVAIL .. RPCRDMA_SYSTEM_ERR) or
 * RPCRDMA_AUTH_ERROR (@detail = auth_stat).  Any thread. */
RPCRDMA_API int rpcrdma_request_error(struct rpcrdma_request *, int status,
                                      uint32_t detail);

/* ---- Calls from server to client ------------------------------- [v2 §4.5]
 *
 * A server calls its clients by rpcrdma_call on a connection object that stands
 * for one client.  It is made from a request of that client and survives the
 * transport connection: when that is lost, calls wait until the client is back,
 * which only the upper layer can tell (NFSv4.1: BIND_CONN_TO_SESSION), or end
 * with -EHOSTUNREACH, each after @retry_ns of its own (0 = 60 s, UINT64_MAX = never).  Without
 * reverse support on the client's side calls end with -EPROTONOSUPPORT, and what
 * the client's level cannot carry with -EMSGSIZE.  Connections that such an object
 * uses are not closed for being idle, and outlive it; they end when their client
 * vanishes, see keepalive_ns.  A handler may wait for such a call before it answers
 * the request that it serves.  rpcrdma_conn_get_stats of such an object are those of the
 * connection that it uses now.
 * -EINVAL: a client's request; -ENOTCONN: its connection is gone, or going.
 */
RPCRDMA_API int rpcrdma_request_reverse(struct rpcrdma_request *, uint64_t retry_ns,
                                        struct rpcrdma_conn **ret);
/* The client that @conn stands for now talks on the connection of this request:
 * waiting calls go there, under their old XIDs, and so do new ones.  A call that
 * is out on an older connection stays there while that one lives, since the
 * client could execute it twice.  Errors as above, and -EXDEV: another engine. */
RPCRDMA_API int rpcrdma_conn_rebind(struct rpcrdma_conn *conn,
                                    struct rpcrdma_request *);

/* Calls and errors of each procedure, sums over a service. */
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
