/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS with Kerberos 5: who calls is proved, and what is said protected.
 *                                                     [RFC 2203, v2 §11.2.2]
 * A client makes a struct rpcrdma_gss for a connection and names it in calls.  Its
 * security context is set up on that very connection by the first of them, and again
 * when the server has lost it or it has expired; others wait meanwhile.  Tickets are
 * those of the credential cache (KRB5CCNAME, kinit), or come by a client's keytab
 * (KRB5_CLIENT_KTNAME).
 *
 * Under krb5 items move by RDMA as ever, and are not protected.  Under krb5i and krb5p
 * none does: they are part of the message, which is continued or moved as a whole, and
 * so results come in rpcrdma_reply.results where destinations were offered.  The
 * transport's headers are protected by neither.
 *
 * A server accepts contexts by the keytab (KRB5_KTNAME); its handlers see arguments as
 * they were before they were wrapped, and answer as ever.
 */
#ifndef RPCRDMA_GSS_H
#define RPCRDMA_GSS_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RPCRDMA_AUTH_GSS = 6 };

enum rpcrdma_gss_service {
	RPCRDMA_GSS_KRB5 =
	        1, /* Calls and Replies cannot be forged, their headers that is */
	RPCRDMA_GSS_KRB5I = 2, /* nor can arguments and results be changed */
	RPCRDMA_GSS_KRB5P = 3, /* nor be read */
};

/* The flavor that MOUNT and others name a service by.          [RFC 2623 §2.3.1] */
#define RPCRDMA_GSS_PSEUDO_FLAVOR(service) (390002u + (uint32_t)(service))

/* ---- Client ---------------------------------------------------------------------- */

struct rpcrdma_gss_options {
	size_t size;
	const char *principal;            /* the server's: "nfs@HOST"; copied */
	enum rpcrdma_gss_service service; /* 0 = krb5 */
	uint32_t program, version;        /* whose NULL procedure sets the context up */
	uint64_t timeout_ns;              /* of the set-up, KDC included; 0 = 30 s */
};

/* The object belongs to @conn, which may be closed first.  It does nothing before the
 * first call.  -EINVAL, -ENOMEM. */
RPCRDMA_API int rpcrdma_gss_new(struct rpcrdma_conn *conn,
                                const struct rpcrdma_gss_options *,
                                struct rpcrdma_gss **ret);
/* Calls that were made with it go on.  Then the server is told that it may forget the
 * context, if the connection is still there. */
RPCRDMA_API void rpcrdma_gss_free(struct rpcrdma_gss *);

struct rpcrdma_gss_info {
	enum rpcrdma_gss_service service;
	bool established;      /* there is a context */
	uint32_t window;       /* so many calls may be in flight under it */
	unsigned contexts;     /* so many were set up */
	int error;             /* of the last set-up: 0, -EACCES, or the transport's */
	uint32_t major, minor; /* GSS-API's, ours or the server's */
	char reason[256];      /* as text */
};
/* Why calls ended with -EACCES, for instance. */
RPCRDMA_API void rpcrdma_gss_get_info(const struct rpcrdma_gss *,
                                      struct rpcrdma_gss_info *ret, size_t size);

/* ---- Server ---------------------------------------------------------------------- */

struct rpcrdma_service_gss_options {
	size_t size;
	const char *
	        principal; /* "nfs@HOST", copied: whose key is used; NULL = any that the
				  keytab has */
	unsigned
	        max_contexts; /* 0 = 8192.  When all are taken, a new context replaces the
				  one that has been idle longest; if that was used within
				  the last ten seconds, the new one is refused, since active
				  users would take the contexts from each other at each call */
	unsigned
	        max_per_address; /* how many of them one client's address has, by the same
				     rule; 0 = a quarter of max_contexts */
	char *ret_reason; /* NULL, or 256 octets: the reason of a failure, as text */
	/* NULL, or called when a context is refused for want of room: a server's log.
	 * @peer: who wanted it, lent; NULL = not known.  Any thread, no lock held. */
	void (*no_room)(void *arg, const struct sockaddr *peer);
	void *no_room_arg;
};

/*
 * From now on Calls of flavor RPCSEC_GSS are authenticated, and reach handlers unwrapped;
 * before, handlers see them as they came.  Which flavor a procedure wants is its handler's
 * business: RPCRDMA_AUTH_ERROR, AUTH_TOOWEAK (5).  Before the first listen; reads the
 * keytab.  -ENOKEY: it has no such key; -EEXIST: it was done before.
 */
RPCRDMA_API int rpcrdma_service_set_gss(struct rpcrdma_service *,
                                        const struct rpcrdma_service_gss_options *);

/*
 * Answers a Call that came by TCP: some clients set their contexts up there and use them
 * over RDMA, Linux does for NFS at port 2049.                       [v2 §11.2.2.1]
 * @call: its octets, without the mark of the record; *ret_reply: the reply's, to be
 * freed.  Programs and versions are the service's; procedure 0 and what RPCSEC_GSS does
 * by it are served, others are PROC_UNAVAIL.  @peer as accept(2) has it, or NULL.
 * Any thread; reads the keytab.  Close the connection after -EBADMSG (it is no Call),
 * -EACCES, -EKEYREJECTED (nothing may be said) and -ENOMEM.
 */
RPCRDMA_API int rpcrdma_service_answer_tcp(struct rpcrdma_service *,
                                           const struct sockaddr *peer,
                                           const void *call, size_t len,
                                           void **ret_reply, size_t *ret_len);

/* Who calls. */
struct rpcrdma_gss_caller {
	enum rpcrdma_gss_service service;
	const char *principal; /* "USER@REALM"; lent as the request's facts are */
	bool mapped; /* the rest: a user of this system, by auth_to_local of krb5.conf */
	uint32_t uid, gid;
	unsigned n_gids;      /* at most 65536, as many as the kernel takes */
	const uint32_t *gids; /* lent */
};
/* -ENOENT: the request is not under RPCSEC_GSS.  Any thread that is to answer. */
RPCRDMA_API int rpcrdma_request_gss(const struct rpcrdma_request *,
                                    struct rpcrdma_gss_caller *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
