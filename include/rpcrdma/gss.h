/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS with Kerberos 5: authenticates callers and protects the data.
 *                                                     [RFC 2203, v2 §11.2.2]
 * A client makes a struct rpcrdma_gss for a connection and sets it in call options.
 * The first call sets up a security context on that connection; the library sets up a
 * new context when the old one has expired or the server has lost it.  Other calls wait
 * in the meantime.  Tickets come from the credential cache (KRB5CCNAME, kinit), or are
 * obtained with a client's keytab (KRB5_CLIENT_KTNAME).
 *
 * Under krb5, items move by RDMA and are not protected.  Under krb5i and krb5p, items
 * stay in the message, which is sent in several parts or moved as a whole by RDMA.
 * Results therefore arrive in rpcrdma_reply.results even if destinations were offered.
 * The transport's headers are never protected.
 *
 * A server accepts contexts with the keys in its keytab (KRB5_KTNAME).  Its handlers
 * receive unwrapped arguments, and reply in the same way as without RPCSEC_GSS.
 */
#ifndef RPCRDMA_GSS_H
#define RPCRDMA_GSS_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RPCRDMA_AUTH_GSS = 6 };

enum rpcrdma_gss_service {
	RPCRDMA_GSS_KRB5 = 1,  /* protects the headers of Calls and Replies */
	RPCRDMA_GSS_KRB5I = 2, /* protects arguments and results against changes, too */
	RPCRDMA_GSS_KRB5P = 3, /* encrypts them, too */
};

/* A service's pseudo-flavor, as used in lists of flavors such as MOUNT's.
 * [RFC 2623 §2.3.1] */
#define RPCRDMA_GSS_PSEUDO_FLAVOR(service) (390002u + (uint32_t)(service))

/* ---- Client ---------------------------------------------------------------------- */

struct rpcrdma_gss_options {
	size_t size;
	const char *principal;            /* server's principal, "nfs@HOST"; copied */
	enum rpcrdma_gss_service service; /* 0 = krb5 */
	uint32_t program, version;        /* the program whose NULL procedure is called
					     to set up contexts */
	uint64_t timeout_ns;              /* time limit for a set-up, including the KDC;
					     0 = 30 s */
};

/* Creates an object for calls on @conn, which may be closed before the object is freed.
 * Nothing is sent before the first call.  Returns 0, -EINVAL or -ENOMEM. */
RPCRDMA_API int rpcrdma_gss_new(struct rpcrdma_conn *conn,
                                const struct rpcrdma_gss_options *,
                                struct rpcrdma_gss **ret);
/* Frees the object.  Its outstanding calls continue.  If the connection is still up
 * when they have ended, the library asks the server to destroy the context. */
RPCRDMA_API void rpcrdma_gss_free(struct rpcrdma_gss *);

struct rpcrdma_gss_info {
	enum rpcrdma_gss_service service;
	bool established;      /* a context exists */
	uint32_t window;       /* limit on calls in flight under the context */
	unsigned contexts;     /* number of contexts set up so far */
	int error;             /* result of the last set-up: 0, -EACCES, or a transport
				  error */
	uint32_t major, minor; /* GSS-API status, from this host or from the server */
	char reason[256];      /* as text */
};
/* Fills in the state of the context, including the reason why calls ended with
 * -EACCES. */
RPCRDMA_API void rpcrdma_gss_get_info(const struct rpcrdma_gss *,
                                      struct rpcrdma_gss_info *ret, size_t size);

/* ---- Server ---------------------------------------------------------------------- */

struct rpcrdma_service_gss_options {
	size_t size;
	/* Name of the service whose key is used, such as "nfs@HOST"; copied.  NULL =
	 * any key in the keytab. */
	const char *principal;
	/* Maximum number of contexts; 0 = 8192.  When the maximum is reached, a new
	 * context replaces the context that has been idle longest.  If that context was
	 * used within the last ten seconds, the new context is refused; otherwise
	 * active users would evict each other with every call. */
	unsigned max_contexts;
	/* Maximum number of contexts for one client address; 0 = a quarter of
	 * max_contexts.  When it is reached, the same rule applies among that address's
	 * contexts. */
	unsigned max_per_address;
	char *ret_reason; /* NULL, or 256 octets for the reason if the call fails */
	/* Called when a context is refused because the maximum is reached, so that a
	 * server can log it.  @peer is the client's address, borrowed; NULL = unknown.
	 * Called in any thread, with no lock held.  May be NULL. */
	void (*no_room)(void *arg, const struct sockaddr *peer);
	void *no_room_arg;
};

/*
 * Makes the library authenticate and unwrap RPCSEC_GSS Calls before handlers receive
 * them; by default, handlers receive such Calls unchanged.  A handler must itself
 * refuse a flavor that its procedure does not allow, by answering RPCRDMA_AUTH_ERROR
 * with AUTH_TOOWEAK (5).  Must be called before the first listen.  Reads the keytab.
 * Returns -ENOKEY if the keytab lacks the principal's key, or -EEXIST if this function
 * was called before.
 */
RPCRDMA_API int rpcrdma_service_set_gss(struct rpcrdma_service *,
                                        const struct rpcrdma_service_gss_options *);

/*
 * Answers a Call that was received over TCP.  Some clients, such as Linux's NFS client
 * (at port 2049), set up their contexts over TCP and use them over RDMA.
 *                                                               [v2 §11.2.2.1]
 * @call has the octets of the Call, without the record mark.  *ret_reply is set to the
 * octets of the reply, which the caller frees.  Serves procedure 0 of the service's
 * programs, including RPCSEC_GSS control messages; answers PROC_UNAVAIL for other
 * procedures.  @peer is the address from accept(2), or NULL.  Any thread; reads the
 * keytab.  The caller must close the connection after -EBADMSG (not a Call), -EACCES,
 * -EKEYREJECTED (no answer is allowed) and -ENOMEM.
 */
RPCRDMA_API int rpcrdma_service_answer_tcp(struct rpcrdma_service *,
                                           const struct sockaddr *peer,
                                           const void *call, size_t len,
                                           void **ret_reply, size_t *ret_len);

/* The caller of a request. */
struct rpcrdma_gss_caller {
	enum rpcrdma_gss_service service;
	const char *principal; /* "USER@REALM"; lent until the request is answered */
	/* True if auth_to_local in krb5.conf(5) maps the principal to a local user,
	 * whose IDs follow. */
	bool mapped;
	uint32_t uid, gid;
	unsigned n_gids;      /* at most 65536, the kernel's limit */
	const uint32_t *gids; /* lent for as long as the principal */
};
/* Stores the RPCSEC_GSS identity of the sender of a request.  Returns -ENOENT if the
 * request does not use RPCSEC_GSS.  May be called in any thread that may answer the
 * request. */
RPCRDMA_API int rpcrdma_request_gss(const struct rpcrdma_request *,
                                    struct rpcrdma_gss_caller *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
