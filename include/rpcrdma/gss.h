/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS with Kerberos 5: proves who calls, and protects the data.
 *                                                     [RFC 2203, v2 §11.2.2]
 * A client makes a struct rpcrdma_gss for a connection and names it in calls.  The
 * first call sets up a security context on that connection; the library sets it up
 * again when the server has lost it or it has expired.  Other calls wait meanwhile.
 * Tickets are those of the credential cache (KRB5CCNAME, kinit), or are got by a
 * client's keytab (KRB5_CLIENT_KTNAME).
 *
 * Under krb5 items move by RDMA, and are not protected.  Under krb5i and krb5p no item
 * does: they are part of the message, which is continued or moved as a whole, so that
 * results arrive in rpcrdma_reply.results even where destinations were offered.  The
 * transport's headers are never protected.
 *
 * A server accepts contexts by the keytab (KRB5_KTNAME).  Its handlers get unwrapped
 * arguments, and reply as without RPCSEC_GSS.
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

/* The number of a service where flavors are listed, as by MOUNT.  [RFC 2623 §2.3.1] */
#define RPCRDMA_GSS_PSEUDO_FLAVOR(service) (390002u + (uint32_t)(service))

/* ---- Client ---------------------------------------------------------------------- */

struct rpcrdma_gss_options {
	size_t size;
	const char *principal;            /* the server's: "nfs@HOST"; copied */
	enum rpcrdma_gss_service service; /* 0 = krb5 */
	uint32_t program, version;        /* whose NULL procedure sets the context up */
	uint64_t timeout_ns;              /* of the set-up, KDC included; 0 = 30 s */
};

/* Creates an object for calls on @conn, which may be closed before it.  Nothing is sent
 * before the first call.  -EINVAL, -ENOMEM. */
RPCRDMA_API int rpcrdma_gss_new(struct rpcrdma_conn *conn,
                                const struct rpcrdma_gss_options *,
                                struct rpcrdma_gss **ret);
/* Frees the object.  Its outstanding calls continue.  When they have ended, and the
 * connection is still up, the library asks the server to destroy the context. */
RPCRDMA_API void rpcrdma_gss_free(struct rpcrdma_gss *);

struct rpcrdma_gss_info {
	enum rpcrdma_gss_service service;
	bool established;      /* there is a context */
	uint32_t window;       /* how many calls may be in flight under it */
	unsigned contexts;     /* how many were set up so far */
	int error;             /* of the last set-up: 0, -EACCES, or the transport's */
	uint32_t major, minor; /* status of GSS-API, here or at the server */
	char reason[256];      /* as text */
};
/* Fills in the state of the context, for instance why calls ended with -EACCES. */
RPCRDMA_API void rpcrdma_gss_get_info(const struct rpcrdma_gss *,
                                      struct rpcrdma_gss_info *ret, size_t size);

/* ---- Server ---------------------------------------------------------------------- */

struct rpcrdma_service_gss_options {
	size_t size;
	/* The service whose key is used, "nfs@HOST", copied; NULL = any key of the
	 * keytab. */
	const char *principal;
	/* Maximum number of contexts; 0 = 8192.  When all are in use, a new one
	 * replaces the one that was idle longest.  If that was used within the last ten
	 * seconds, the new one is refused: otherwise active users would evict each
	 * other at each call. */
	unsigned max_contexts;
	/* How many of them one client's address may have, by the same rule; 0 = a
	 * quarter of max_contexts. */
	unsigned max_per_address;
	char *ret_reason; /* NULL, or 256 octets: the reason of a failure, as text */
	/* NULL, or called when a context is refused because all are in use, for a
	 * server's log.  @peer is the client's address, borrowed; NULL = unknown.  Any
	 * thread, no lock held. */
	void (*no_room)(void *arg, const struct sockaddr *peer);
	void *no_room_arg;
};

/*
 * Authenticates and unwraps Calls of flavor RPCSEC_GSS before handlers get them;
 * without it handlers get them as they were received.  A handler itself refuses a
 * flavor that its procedure does not allow, by RPCRDMA_AUTH_ERROR with AUTH_TOOWEAK
 * (5).  Must be called before the first listen; reads the keytab.  -ENOKEY: the keytab
 * has no such key; -EEXIST: it was called before.
 */
RPCRDMA_API int rpcrdma_service_set_gss(struct rpcrdma_service *,
                                        const struct rpcrdma_service_gss_options *);

/*
 * Answers a Call that was received over TCP.  Some clients set up their contexts there
 * and use them over RDMA; Linux does so for NFS, at port 2049.        [v2 §11.2.2.1]
 * @call has the octets of the Call, without the record mark.  *ret_reply gets those of
 * the reply, which the caller frees.  Serves procedure 0 of the service's programs, and
 * what RPCSEC_GSS does by it; other procedures are PROC_UNAVAIL.  @peer is the address
 * of accept(2), or NULL.  Any thread; reads the keytab.  The caller closes the
 * connection after -EBADMSG (not a Call), -EACCES, -EKEYREJECTED (no answer is allowed)
 * and -ENOMEM.
 */
RPCRDMA_API int rpcrdma_service_answer_tcp(struct rpcrdma_service *,
                                           const struct sockaddr *peer,
                                           const void *call, size_t len,
                                           void **ret_reply, size_t *ret_len);

/* The caller of a request. */
struct rpcrdma_gss_caller {
	enum rpcrdma_gss_service service;
	const char *principal; /* "USER@REALM"; lent until the request is answered */
	/* auth_to_local of krb5.conf(5) maps it to a user of this system, who has: */
	bool mapped;
	uint32_t uid, gid;
	unsigned n_gids;      /* at most 65536, the kernel's limit */
	const uint32_t *gids; /* lent as the principal is */
};
/* Fills in the caller.  -ENOENT: the request is not under RPCSEC_GSS.  Any thread that
 * is to answer the request. */
RPCRDMA_API int rpcrdma_request_gss(const struct rpcrdma_request *,
                                    struct rpcrdma_gss_caller *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
