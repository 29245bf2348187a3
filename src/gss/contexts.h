/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's RPCSEC_GSS contexts: creation, checks, expiry.             [RFC 2203 §5]
 *
 *   Call, flavor 6   --> rr_gss_accept --> RR_GSS_PROCEED  execute it, wrap its results
 *                            |
 *                            +-----------> RR_GSS_ANSWER   send the Reply in @reply
 *                            +-----------> RR_GSS_CLOSE    close the connection
 *
 * rr_gss_release frees the request in each of the three cases.
 *
 * The interface takes and returns octets, not connections or XDR streams.  A context
 * does not belong to a connection: a Call on any connection can refer to the context by
 * its handle [RFC 2203 §5.2.2].
 *
 * libtirpc's own acceptor is not used.  It supports one context per SVCXPRT, and frees
 * the context after 5 minutes, even if a Reply must still be wrapped with that context.
 * It moves the sequence window before it has verified the Call, and leaks a credential
 * handle for each token received.
 *
 * Threads: every function may be called from any thread, including for requests with
 * the same context.  A request is used by one thread at a time.  Context creation reads
 * the keytab and writes the replay cache, so an event loop calls rr_gss_may_block
 * first.  Other requests do not block.
 *
 * Hostile peers: every length is bounded, here or (for arguments) by the transport.  A
 * Call that cannot be verified changes nothing.  Only authenticated clients get
 * contexts, so peers without tickets cannot fill the table.  If a client's address has
 * too many contexts, its least recently used context is evicted.  A context that was
 * used within active_ns is not evicted; the new context is refused instead.  Otherwise,
 * if more users were active than the table has entries, they would evict one another's
 * contexts at every call.
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
	RR_GSS_WINDOW = 1024,             /* size of the window, in sequence numbers */
	RR_GSS_MAX_SEQ = 0x80000000u - 1, /* last valid sequence number */
	RR_GSS_MAX_TOKEN = 65536,
	RR_GSS_MAX_GROUPS = 65536, /* NGROUPS_MAX of Linux */
	RR_GSS_NOBODY = 65534,
	/* Maximum number of octets that protection adds to arguments or results. */
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
	const char *principal;    /* the service, such as "nfs@HOST"; NULL = any key */
	unsigned max_contexts;    /* 0 = 8192 */
	unsigned max_per_address; /* 0 = a quarter of max_contexts */
	uint64_t idle_ns;   /* idle time after which a context expires; 0 = 24 h */
	uint64_t active_ns; /* minimum idle time before eviction; 0 = 10 s */
	/* Called when a context for @peer is refused because the table is full; may be
	 * NULL. */
	void (*no_room)(void *arg, const struct sockaddr *peer);
	void *no_room_arg;
};

/* Makes a table of contexts.  @options is borrowed; NULL means all defaults.  Does not
 * read the keytab.  Returns 0 or -ENOMEM. */
int rr_gss_new(const struct rr_gss_options *, struct rr_gss **ret) RR_MUST_CHECK;
/* Frees the table.  All requests must have been released. */
void rr_gss_free(struct rr_gss *);
/* Checks that the keytab has a key.  If there is no key, returns -ENOKEY and stores
 * GSS-API's message in @ret_reason.  Servers call this when they start, because the
 * error would otherwise not appear until the first context is created.  Blocks. */
int rr_gss_check(struct rr_gss *, char *ret_reason, size_t size) RR_MUST_CHECK;

/* A context's client; valid until the request that refers to it is released. */
struct rr_gss_identity {
	char *principal; /* "user@REALM" */
	char *target;    /* the server's principal, "nfs/host@REALM" */
	gss_OID mech;
	gss_name_t name;
	/* The user on this system (auth_to_local, passwd, group), looked up once. */
	bool mapped; /* false: no such user; @uid and @gid are RR_GSS_NOBODY */
	uint32_t uid, gid;
	unsigned n_groups;
	uint32_t *groups; /* from malloc */
};

/* A Call: its header, as decoded by rr_rpc_get_call, and its arguments.  Borrowed;
 * @args is lent until rr_gss_release. */
struct rr_gss_call {
	uint32_t xid, program, version, procedure;
	struct rpcrdma_auth cred, verf;
	const struct rpcrdma_piece *args;
	unsigned n_args;
	const struct sockaddr *peer; /* all addresses that are not IPv4 or IPv6 count as
					one */
	rr_time now;
};

enum rr_gss_verdict {
	/* The Call is authentic: @who and @service are set.  If the service is NONE,
	 * the arguments are in the Call; otherwise they are in @args.  Every accepted
	 * Reply must have @verf as its verifier.  Results in a Reply with SUCCESS must
	 * be protected with rr_gss_wrap unless the service is NONE. */
	RR_GSS_PROCEED,
	/* @reply is the complete Reply, including the RPC header: the result of a
	 * control message, or a refusal with @auth_stat. */
	RR_GSS_ANSWER,
	/*
	 * The sequence number was received before or is below the window.  Such a Call
	 * must not be answered [RFC 2203 §5.3.3.1].  Dropping it silently would tie up
	 * one of the client's credits forever.  An honest client would also wait
	 * forever, since it retransmits only after the loss of the connection.  So the
	 * caller must close the connection.  An honest client then retransmits on a new
	 * connection with a new sequence number; a replaying peer only loses its own
	 * connection.
	 */
	RR_GSS_CLOSE,
};

struct rr_gss_request { /* must not be copied: it points into itself */
	enum rr_gss_verdict verdict;
	struct rr_gss_context *context; /* a reference; NULL unless RR_GSS_PROCEED */
	const struct rr_gss_identity *who;
	uint32_t service, seq;
	uint32_t auth_stat;       /* reason for a refusal, or 0 */
	struct rpcrdma_auth verf; /* the Reply's verifier; points to verf_body */
	const void *args;         /* unwrapped arguments; NULL with service NONE */
	size_t args_len;
	void *reply; /* RR_GSS_ANSWER */
	size_t reply_len;
	uint8_t verf_body[400];
	struct rr_gss *table;
	gss_qop_t qop;
	gss_buffer_desc plain; /* decrypted arguments, or empty */
	void *copy;            /* contiguous copy of protected arguments, or NULL */
};

/* Returns true if rr_gss_accept would read or write files for this credential, because
 * the Call creates or destroys a context. */
bool rr_gss_may_block(const struct rpcrdma_auth *cred);

/* Checks a Call and initializes @ret, which the caller must release regardless of the
 * verdict.  If there is no memory, the verdict is RR_GSS_CLOSE. */
enum rr_gss_verdict rr_gss_accept(struct rr_gss *, const struct rr_gss_call *,
                                  struct rr_gss_request *ret);

/*
 * Protects the results in @pieces as the request's service requires, adding XDR padding
 * after each item.  Stores a buffer from malloc in @ret, and its length, a multiple of
 * four, in @ret_len.  May be called again, for a Reply that is retransmitted.  Returns
 * -EINVAL if the service is NONE or the length of the results is not a multiple of
 * four, -EMSGSIZE, -ENOMEM, or -EKEYREJECTED if GSS-API failed.  After -EKEYREJECTED
 * the caller must close the connection, and must not send a Reply
 * [RFC 2203 §5.3.3.4.4].
 */
int rr_gss_wrap(struct rr_gss_request *, const struct rpcrdma_piece *pieces, unsigned n,
                void **ret, size_t *ret_len) RR_MUST_CHECK;

/* Frees the request's memory and references.  Does nothing if the request is zeroed or
 * was released. */
void rr_gss_release(struct rr_gss_request *);

/* Removes all contexts.  A context in use is freed when its last request is
 * released. */
void rr_gss_forget(struct rr_gss *);

/* Returns a request's GSS-API context, to be passed only to functions that inquire
 * about contexts. */
gss_ctx_id_t rr_gss_context_id(const struct rr_gss_request *);

#endif
