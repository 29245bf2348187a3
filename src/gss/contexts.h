/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's contexts of RPCSEC_GSS: set up, checked, kept, forgotten.    [RFC 2203 §5]
 *
 *   Call of flavor 6 --> rr_gss_accept --> RR_GSS_PROCEED  execute it, wrap its results
 *                            |
 *                            +-----------> RR_GSS_ANSWER   send these octets
 *                            +-----------> RR_GSS_CLOSE    close the connection
 *
 * rr_gss_release ends each of the three.
 *
 * Octets in, octets out: neither connections nor XDR streams.  A context belongs to no
 * connection: its handle says which, from wherever the Call comes [RFC 2203 §5.2.2].
 *
 * libtirpc's own acceptor is not used: it keeps one context per SVCXPRT, frees it after
 * 5 minutes even if a reply is still to be wrapped by it, moves the sequence window
 * before it has verified who asks for that, and leaks a credential handle for each
 * token that comes in.
 *
 * Threads: all functions from any thread, requests of one context at once; a request
 * itself belongs to one thread at a time.  Setting up a context reads the keytab and
 * writes the replay cache; rr_gss_may_block tells an event loop before.  The rest only
 * computes.
 *
 * The peer: everything it sends is bounded here or, arguments, by the transport.  What
 * cannot be verified changes nothing.  Contexts are only kept for who proved a name, so
 * a crowd without tickets takes none; one address that sets up too many loses its own,
 * least recently used first.  A context that was used within active_ns is not evicted:
 * the new one is refused instead.  If more users are active than there is room for,
 * they would otherwise take the contexts from each other at each call.
 */
#ifndef RR_GSS_CONTEXTS_H
#define RR_GSS_CONTEXTS_H

#include <gssapi/gssapi.h>
#include <sys/socket.h>

#include "base/base.h"
#include <rpcrdma/rpcrdma.h>

enum {
	RR_GSS_VERSION = 1,
	RR_GSS_WINDOW = 1024,             /* of sequence numbers */
	RR_GSS_MAX_SEQ = 0x80000000u - 1, /* the last that is good */
	RR_GSS_MAX_TOKEN = 65536,
	RR_GSS_MAX_GROUPS = 65536, /* NGROUPS_MAX of Linux */
	RR_GSS_NOBODY = 65534,
	/* Octets that protection adds to arguments or results, at most. */
	RR_GSS_OVERHEAD = 512,
};

enum rr_gss_proc {
	RR_GSS_DATA = 0,
	RR_GSS_INIT = 1,
	RR_GSS_CONTINUE_INIT = 2,
	RR_GSS_DESTROY = 3,
};

enum rr_gss_service {
	RR_GSS_NONE = 1,      /* krb5: the header alone is protected */
	RR_GSS_INTEGRITY = 2, /* krb5i */
	RR_GSS_PRIVACY = 3,   /* krb5p */
};

struct rr_gss; /* the table */
struct rr_gss_context;

struct rr_gss_options {
	const char
	        *principal; /* "nfs@HOST": whose key is used; NULL: any of the keytab */
	unsigned max_contexts;    /* 0: 8192 */
	unsigned max_per_address; /* 0: a quarter of that */
	uint64_t idle_ns;         /* 0: 24 h */
	uint64_t active_ns;       /* used within this time: not evicted; 0: 10 s */
	/* NULL, or called when there is no room for a context of @peer. */
	void (*no_room)(void *arg, const struct sockaddr *peer);
	void *no_room_arg;
};

/* @options is borrowed; NULL: all defaults.  Does not look at the keytab yet. */
int rr_gss_new(const struct rr_gss_options *, struct rr_gss **ret) RR_MUST_CHECK;
/* Each request was released. */
void rr_gss_free(struct rr_gss *);
/* Is there a key?  -ENOKEY: @ret_why says what GSS-API says.  For the start of a
 * server: without it the same is found when a context is set up.  Blocks. */
int rr_gss_check(struct rr_gss *, char *ret_why, size_t size) RR_MUST_CHECK;

/* Who a context is for; as long as a request of it. */
struct rr_gss_identity {
	char *principal; /* "user@REALM" */
	char *target;    /* for which principal of ours, "nfs/host@REALM" */
	gss_OID mech;
	gss_name_t name;
	/* By the system's rules (auth_to_local, passwd, group), looked up once. */
	bool mapped; /* else nobody */
	uint32_t uid, gid;
	unsigned n_groups;
	uint32_t *groups; /* from malloc */
};

/* A Call: its header, as rr_rpc_get_call has read it, and what comes after that.  All
 * of it is borrowed; @args as long as the request, which may refer to them. */
struct rr_gss_call {
	uint32_t xid, program, version, procedure;
	struct rpcrdma_auth cred, verf;
	const struct rpcrdma_piece *args;
	unsigned n_args;
	const struct sockaddr *peer; /* AF_INET, AF_INET6; others are one address */
	rr_time now;
};

enum rr_gss_verdict {
	/* Authentic.  @who, @service; arguments in @args if the service is not NONE,
	 * else they are the Call's own.  Each accepted Reply has @verf as its verifier;
	 * results of one that says SUCCESS go through rr_gss_wrap. */
	RR_GSS_PROCEED,
	/* @reply is the whole Reply, RPC header included: of a control message, or a
	 * refusal (@auth_stat) that tells the client what to do about it. */
	RR_GSS_ANSWER,
	/*
	 * A sequence number that came before, or is older than the window: nothing may
	 * be said [RFC 2203 §5.3.3.1].  Silence would take a credit of the client's for
	 * ever, and an honest client waits for ever, since it does not send again while
	 * the connection lives.  So the connection is to be closed: the client finds
	 * out, and sends again under a new number.  Who replays loses his own
	 * connection.
	 */
	RR_GSS_CLOSE,
};

struct rr_gss_request { /* not to be copied */
	enum rr_gss_verdict verdict;
	struct rr_gss_context *context; /* held; NULL unless RR_GSS_PROCEED */
	const struct rr_gss_identity *who;
	uint32_t service, seq;
	uint32_t auth_stat;       /* of a refusal, else 0 */
	struct rpcrdma_auth verf; /* of the Reply; within the request */
	const void *args;         /* what was protected; until released; or NULL */
	size_t args_len;
	void *reply; /* RR_GSS_ANSWER */
	size_t reply_len;
	uint8_t verf_body[400];
	struct rr_gss *table;
	gss_qop_t qop;
	gss_buffer_desc plain; /* holds @args ... */
	void *copy;            /* ... or this does */
};

/* What gss_proc says: setting up a context, which reads and writes files, or its end,
 * which reads some. */
bool rr_gss_may_block(const struct rpcrdma_auth *cred);

/* @ret is initialized, and released by its user whatever was decided.  Without memory:
 * RR_GSS_CLOSE. */
enum rr_gss_verdict rr_gss_accept(struct rr_gss *, const struct rr_gss_call *,
                                  struct rr_gss_request *ret);

/*
 * Results as the request's service wants them, a copy from malloc; @ret_len is a
 * multiple of four.  For service NONE there is nothing to do: -EINVAL.  @pieces: the
 * XDR octets of the results; an item's roundup is added.  May be called again (a reply
 * that is sent again).  -EINVAL, -EMSGSIZE: they are none; -ENOMEM; -EKEYREJECTED:
 * GSS-API failed, no Reply must be sent [RFC 2203 §5.3.3.4.4]: close the connection.
 */
int rr_gss_wrap(struct rr_gss_request *, const struct rpcrdma_piece *pieces, unsigned n,
                void **ret, size_t *ret_len) RR_MUST_CHECK;

/* Also of one that was zeroed, and again. */
void rr_gss_release(struct rr_gss_request *);

struct rr_gss_stats {
	uint64_t contexts; /* there are now */
	uint64_t established, destroyed, evicted, expired;
	uint64_t accepted; /* requests, by service: */
	uint64_t integrity, privacy;
	uint64_t refused, closed;
	uint64_t crowded_out; /* not set up: no other was idle for active_ns */
};
void rr_gss_get_stats(struct rr_gss *, struct rr_gss_stats *ret);

/* Forgets all contexts, as a restart would; those in use go with their requests. */
void rr_gss_forget(struct rr_gss *);

/* The context itself, for functions of GSS-API that only inquire. */
gss_ctx_id_t rr_gss_context_id(const struct rr_gss_request *);

#endif
