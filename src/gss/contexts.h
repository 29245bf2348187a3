/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS contexts of a server: creation, checks, expiry.            [RFC 2203 §5]
 *
 *   Call of flavor 6 --> rr_gss_accept --> RR_GSS_PROCEED  execute it, wrap its results
 *                            |
 *                            +-----------> RR_GSS_ANSWER   send the Reply in @reply
 *                            +-----------> RR_GSS_CLOSE    close the connection
 *
 * rr_gss_release frees the request in each of the three cases.
 *
 * The interface is octets in, octets out, without connections or XDR streams.  A
 * context does not belong to a connection: a Call on any connection names it by its
 * handle [RFC 2203 §5.2.2].
 *
 * libtirpc's own acceptor is not used.  It supports one context per SVCXPRT and frees
 * it after 5 minutes, even if a Reply must still be wrapped with it.  It moves the
 * sequence window before it has verified the Call, and leaks a credential handle for
 * each token received.
 *
 * Threads: every function may be called from any thread, also for requests of the same
 * context.  A request is used by one thread at a time.  Context creation reads the
 * keytab and writes the replay cache, so an event loop asks rr_gss_may_block first.
 * The other requests do not block.
 *
 * Hostile peers: every length is bounded, here or (for arguments) by the transport.  A
 * Call that cannot be verified changes nothing.  Only authenticated clients get
 * contexts, so peers without tickets cannot fill the table.  An address with too many
 * contexts loses its own, least recently used first.  A context that was used within
 * active_ns is not evicted; the new one is refused instead.  Otherwise more active
 * users than the table has room for would evict one another at every call.
 */
#ifndef RR_GSS_CONTEXTS_H
#define RR_GSS_CONTEXTS_H

#include <gssapi/gssapi.h>
#include <sys/socket.h>

#include "base/base.h"
#include <rpcrdma/rpcrdma.h>

enum {
	RR_GSS_FLAVOR = 6,
	RR_GSS_VERSION = 1,
	RR_GSS_WINDOW = 1024,             /* sequence numbers */
	RR_GSS_MAX_SEQ = 0x80000000u - 1, /* last valid sequence number */
	RR_GSS_MAX_TOKEN = 65536,
	RR_GSS_MAX_GROUPS = 65536, /* NGROUPS_MAX of Linux */
	RR_GSS_NOBODY = 65534,
	/* Most octets that protection adds to arguments or results. */
	RR_GSS_OVERHEAD = 512,
};

enum rr_gss_proc {
	RR_GSS_DATA = 0,
	RR_GSS_INIT = 1,
	RR_GSS_CONTINUE_INIT = 2,
	RR_GSS_DESTROY = 3,
};

enum rr_gss_service {
	RR_GSS_NONE = 1,      /* krb5: only the header is protected */
	RR_GSS_INTEGRITY = 2, /* krb5i */
	RR_GSS_PRIVACY = 3,   /* krb5p */
};

struct rr_gss; /* the table */
struct rr_gss_context;

struct rr_gss_options {
	const char *principal;    /* service "nfs@HOST"; NULL: any key of the keytab */
	unsigned max_contexts;    /* 0: 8192 */
	unsigned max_per_address; /* 0: a quarter of max_contexts */
	uint64_t idle_ns;         /* contexts idle for longer expire; 0: 24 h */
	uint64_t active_ns;       /* contexts used within it are not evicted; 0: 10 s */
	/* Called when there is no room for a context of @peer; or NULL. */
	void (*no_room)(void *arg, const struct sockaddr *peer);
	void *no_room_arg;
};

/* @options is borrowed, NULL: all defaults.  Does not read the keytab.  -ENOMEM. */
int rr_gss_new(const struct rr_gss_options *, struct rr_gss **ret) RR_MUST_CHECK;
/* Frees the table.  All requests must have been released. */
void rr_gss_free(struct rr_gss *);
/* Checks that the keytab has a key.  -ENOKEY: @ret_reason gets GSS-API's message.  For
 * servers to call at their start; otherwise the error shows at the first context.
 * Blocks. */
int rr_gss_check(struct rr_gss *, char *ret_reason, size_t size) RR_MUST_CHECK;

/* The client of a context; valid until its request is released. */
struct rr_gss_identity {
	char *principal; /* "user@REALM" */
	char *target;    /* the server's principal, "nfs/host@REALM" */
	gss_OID mech;
	gss_name_t name;
	/* The user on this system (auth_to_local, passwd, group), looked up once. */
	bool mapped; /* false: unknown here, uid and gid are RR_GSS_NOBODY */
	uint32_t uid, gid;
	unsigned n_groups;
	uint32_t *groups; /* from malloc */
};

/* A Call: its header, as rr_rpc_get_call has read it, and its arguments.  Borrowed;
 * @args is lent until rr_gss_release. */
struct rr_gss_call {
	uint32_t xid, program, version, procedure;
	struct rpcrdma_auth cred, verf;
	const struct rpcrdma_piece *args;
	unsigned n_args;
	const struct sockaddr *peer; /* other families count as one address */
	rr_time now;
};

enum rr_gss_verdict {
	/* The Call is authentic: @who and @service are set.  With service NONE the
	 * arguments are the Call's own, else they are in @args.  Every accepted Reply
	 * must have @verf as its verifier.  Results of a Reply with SUCCESS must go
	 * through rr_gss_wrap. */
	RR_GSS_PROCEED,
	/* @reply is the whole Reply, RPC header included: the result of a control
	 * message, or a refusal with @auth_stat. */
	RR_GSS_ANSWER,
	/*
	 * The sequence number was received before or is below the window.  Such a Call
	 * must not be answered [RFC 2203 §5.3.3.1].  To drop it silently would keep a
	 * credit of the client for ever.  An honest client would wait for ever too,
	 * since it retransmits only after the loss of the connection.  So the caller
	 * must close the connection: an honest client retransmits on a new one, under
	 * a new number, and a replaying peer loses its own.
	 */
	RR_GSS_CLOSE,
};

struct rr_gss_request { /* must not be copied: it points into itself */
	enum rr_gss_verdict verdict;
	struct rr_gss_context *context; /* held; NULL unless RR_GSS_PROCEED */
	const struct rr_gss_identity *who;
	uint32_t service, seq;
	uint32_t auth_stat;       /* of a refusal; else 0 */
	struct rpcrdma_auth verf; /* of the Reply; points to verf_body */
	const void *args;         /* unwrapped arguments; NULL with service NONE */
	size_t args_len;
	void *reply; /* RR_GSS_ANSWER */
	size_t reply_len;
	uint8_t verf_body[400];
	struct rr_gss *table;
	gss_qop_t qop;
	gss_buffer_desc plain; /* memory of @args: this, */
	void *copy;            /* or this; NULL: the Call's */
};

/* Returns whether rr_gss_accept would read or write files for this credential: to
 * create or to destroy a context. */
bool rr_gss_may_block(const struct rpcrdma_auth *cred);

/* Checks a Call.  @ret is initialized here; the caller must release it, whatever the
 * verdict is.  Without memory the verdict is RR_GSS_CLOSE. */
enum rr_gss_verdict rr_gss_accept(struct rr_gss *, const struct rr_gss_call *,
                                  struct rr_gss_request *ret);

/*
 * Protects the results in @pieces as the service of the request requires.  @ret is from
 * malloc; @ret_len is a multiple of four.  XDR padding is added after each item.  May
 * be called again, for a Reply that is retransmitted.  -EINVAL: the service is NONE, or
 * the length of the results is not a multiple of four; -EMSGSIZE; -ENOMEM.
 * -EKEYREJECTED: GSS-API failed.  Then no Reply may be sent [RFC 2203 §5.3.3.4.4]:
 * close the connection.
 */
int rr_gss_wrap(struct rr_gss_request *, const struct rpcrdma_piece *pieces, unsigned n,
                void **ret, size_t *ret_len) RR_MUST_CHECK;

/* Frees what the request holds; harmless for a zeroed or released one. */
void rr_gss_release(struct rr_gss_request *);

/* Removes all contexts; those in use are freed with their requests. */
void rr_gss_forget(struct rr_gss *);

/* Returns the context for GSS-API functions that only inquire. */
gss_ctx_id_t rr_gss_context_id(const struct rr_gss_request *);

#endif
