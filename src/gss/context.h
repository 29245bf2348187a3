/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of contexts.h: one context, the table, and the use of GSS-API. */
#ifndef RR_GSS_CONTEXT_H
#define RR_GSS_CONTEXT_H

#include <pthread.h>

#include "base/list.h"
#include "gss/contexts.h"

enum {
	RR_GSS_HANDLE = 16,
	RR_GSS_ADDRESS = 16,
	RR_GSS_AUTH_MAX = 400,
	RR_GSS_BUCKETS = 256,
};

struct rr_gss_context {
	/* Guarded by the table's lock: */
	struct rr_list in_bucket, in_order; /* empty: not in the table */
	unsigned refs;                      /* the table's and the requests' */
	rr_time used;                       /* last use */
	/* Constant: */
	uint8_t handle[RR_GSS_HANDLE];
	uint8_t address[RR_GSS_ADDRESS]; /* of the client that created it */
	rr_time expires;
	struct rr_gss_identity who;
	pthread_mutex_t lock; /* guards these: */
	gss_ctx_id_t id;
	uint32_t last;                     /* highest sequence number received */
	uint64_t seen[RR_GSS_WINDOW / 64]; /* bit per number, modulo the window */
};

struct rr_gss {
	struct rr_gss_options o;
	char *principal;
	pthread_mutex_t cred_lock;        /* guards: */
	gss_cred_id_t cred;               /* GSS_C_NO_CREDENTIAL: not acquired yet */
	OM_uint32 cred_major, cred_minor; /* of the last attempt to acquire it */
	rr_time cred_again;               /* earliest time of the next attempt */
	pthread_mutex_t lock;             /* guards these: */
	struct rr_list buckets[RR_GSS_BUCKETS];
	struct rr_list order; /* least recently used first */
	unsigned count;
};

/* -- contexts.c ------------------------------------------------------------ */

/* Returns a context, held by the caller and not in the table; @id is given, on failure
 * too.  NULL: no memory, or no random octets. */
struct rr_gss_context *rr_gss_context_new(gss_ctx_id_t id);
void rr_gss_context_put(struct rr_gss *, struct rr_gss_context *);
/* Returns the context of a handle, held by the caller; NULL: unknown or expired. */
struct rr_gss_context *rr_gss_context_find(struct rr_gss *, const void *handle,
                                           size_t len, rr_time now);
/* Enters the context into the table, which holds it too from then on, and evicts
 * another if there is no room.  Returns false, with the context not in the table, if
 * those that could be evicted were used within active_ns. */
bool rr_gss_context_keep(struct rr_gss *, struct rr_gss_context *, rr_time now);
/* Removes the context from the table. */
void rr_gss_context_drop(struct rr_gss *, struct rr_gss_context *);
/* Returns the acceptor's credential, which the table keeps.  False: @ret_major and
 * @ret_minor have the reason.  Without a key, attempts to acquire the credential are
 * 5 s apart: MIT's library leaks a little memory in each, and clients must not decide
 * how often. */
bool rr_gss_cred(struct rr_gss *, rr_time now, gss_cred_id_t *ret, OM_uint32 *ret_major,
                 OM_uint32 *ret_minor);

/* -- identity.c ------------------------------------------------------------ */

/* Looks a client up on this system; @name is given.  Blocks.  -ENOMEM. */
int rr_gss_identity_init(struct rr_gss_identity *, gss_name_t name, gss_OID mech,
                         gss_ctx_id_t id) RR_MUST_CHECK;
void rr_gss_identity_fini(struct rr_gss_identity *);

/* -- protect.c: these take the context's lock ------------------------------- */

/* Verifies the MIC of the Call's header; @ret_qop: the client's quality of
 * protection. */
bool rr_gss_verify_header(struct rr_gss_context *, const struct rr_gss_call *,
                          gss_qop_t *ret_qop);
/* Marks @seq as received.  Returns false if it was received before or is below the
 * window. */
bool rr_gss_see(struct rr_gss_context *, uint32_t seq);
/* Makes the verifier of the Reply: the MIC of @word. */
bool rr_gss_sign_word(struct rr_gss_context *, gss_qop_t, uint32_t word,
                      struct rr_gss_request *ret);
/* Verifies or decrypts the arguments; false: GARBAGE_ARGS. */
bool rr_gss_unwrap(struct rr_gss_request *, const struct rr_gss_call *);

#endif
