/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions private to the files that implement contexts.h: a context, the table, and
 * calls to GSS-API. */
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
	unsigned refs;                      /* references from the table and requests */
	rr_time used;                       /* time of last use */
	/* Constant: */
	uint8_t handle[RR_GSS_HANDLE];
	uint8_t address[RR_GSS_ADDRESS]; /* address of the context's creator */
	rr_time expires;
	struct rr_gss_identity who;
	pthread_mutex_t lock; /* guards the following members */
	gss_ctx_id_t id;
	uint32_t last;                     /* highest sequence number received */
	uint64_t seen[RR_GSS_WINDOW / 64]; /* bit for each number modulo the window */
};

struct rr_gss {
	struct rr_gss_options o;
	char *principal;
	pthread_mutex_t cred_lock;        /* guards the next four members */
	gss_cred_id_t cred;               /* GSS_C_NO_CREDENTIAL: not acquired yet */
	OM_uint32 cred_major, cred_minor; /* result of the last acquisition */
	rr_time cred_again;               /* earliest time of the next attempt */
	pthread_mutex_t lock;             /* guards the following members */
	struct rr_list buckets[RR_GSS_BUCKETS];
	struct rr_list order; /* least recently used first */
	unsigned count;
};

/* -- contexts.c ------------------------------------------------------------ */

/* Makes a context that is not in the table, with one reference for the caller.  Takes
 * ownership of @id, even on failure.  Returns NULL if memory or random octets cannot be
 * obtained. */
struct rr_gss_context *rr_gss_context_new(gss_ctx_id_t id);
void rr_gss_context_put(struct rr_gss *, struct rr_gss_context *);
/* Returns the context with this handle, with a reference for the caller.  Returns NULL
 * if the handle is unknown or the context has been idle for too long. */
struct rr_gss_context *rr_gss_context_find(struct rr_gss *, const void *handle,
                                           size_t len, rr_time now);
/* Adds the context to the table, which takes its own reference.  If the table is full,
 * evicts another context.  Returns false, without adding the context, if all contexts
 * that could be evicted were used within active_ns. */
bool rr_gss_context_keep(struct rr_gss *, struct rr_gss_context *, rr_time now);
/* Removes the context from the table. */
void rr_gss_context_drop(struct rr_gss *, struct rr_gss_context *);
/* Stores the acceptor's credential, which belongs to the table, in @ret.  If there is
 * no credential, returns false, with the reason in @ret_major and @ret_minor.  Attempts
 * to acquire the credential are at least 5 s apart: MIT's library leaks a little memory
 * in each failed attempt, and clients must not determine how often that happens. */
bool rr_gss_cred(struct rr_gss *, rr_time now, gss_cred_id_t *ret, OM_uint32 *ret_major,
                 OM_uint32 *ret_minor);

/* -- identity.c ------------------------------------------------------------ */

/* Determines a client's principal and its user on this system.  Takes ownership of
 * @name.  Blocks.  Returns 0 or -ENOMEM. */
int rr_gss_identity_init(struct rr_gss_identity *, gss_name_t name, gss_OID mech,
                         gss_ctx_id_t id) RR_MUST_CHECK;
void rr_gss_identity_fini(struct rr_gss_identity *);

/* -- protect.c: functions that acquire the context's lock ------------------- */

/* Verifies the MIC of the Call's header.  @ret_qop receives the quality of protection
 * that the client used. */
bool rr_gss_verify_header(struct rr_gss_context *, const struct rr_gss_call *,
                          gss_qop_t *ret_qop);
/* Records that sequence number @seq was received.  Returns false if @seq was received
 * before or is below the window. */
bool rr_gss_see(struct rr_gss_context *, uint32_t seq);
/* Computes the Reply's verifier: the MIC of @word.  Returns false on failure. */
bool rr_gss_sign_word(struct rr_gss_context *, gss_qop_t, uint32_t word,
                      struct rr_gss_request *ret);
/* Verifies or decrypts the arguments.  Returns false if the reply must be
 * GARBAGE_ARGS. */
bool rr_gss_unwrap(struct rr_gss_request *, const struct rr_gss_call *);

#endif
