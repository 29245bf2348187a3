/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of contexts.h: one context, the table, and what is done with octets. */
#ifndef RR_GSS_CONTEXT_H
#define RR_GSS_CONTEXT_H

#include <pthread.h>

#include "base/list.h"
#include "gss/contexts.h"

enum {
	RR_GSS_HANDLE = 16,
	RR_GSS_ADDRESS = 16,
	RR_GSS_FLAVOR = 6,
	RR_GSS_AUTH_MAX = 400,
	RR_GSS_BUCKETS = 256,
};

struct rr_gss_context {
	struct rr_list in_bucket, in_order; /* the table's lock; empty: not in it */
	unsigned refs; /* the table's and the requests'; the table's lock */
	rr_time used;  /* the table's lock */
	uint8_t handle[RR_GSS_HANDLE];
	uint8_t address[RR_GSS_ADDRESS]; /* it was set up from */
	rr_time expires;
	struct rr_gss_identity who;
	pthread_mutex_t lock; /* guards these: */
	gss_ctx_id_t id;
	uint32_t last;                     /* highest sequence number seen */
	uint64_t seen[RR_GSS_WINDOW / 64]; /* by number, modulo the window */
};

struct rr_gss {
	struct rr_gss_options o;
	char *principal;
	pthread_mutex_t cred_lock; /* guards: */
	gss_cred_id_t cred;        /* or GSS_C_NO_CREDENTIAL: not yet, and why not: */
	OM_uint32 cred_major, cred_minor;
	rr_time cred_again;   /* when it is tried again */
	pthread_mutex_t lock; /* guards these: */
	struct rr_list buckets[RR_GSS_BUCKETS];
	struct rr_list order; /* least recently used first */
	unsigned count;
	/* Added to atomically. */
	_Atomic uint64_t established, destroyed, evicted, expired, accepted, integrity,
	        privacy, refused, closed, crowded_out;
};

/* -- contexts.c ---------------------------------------------------------------- */

/* A new one, held by its caller, in no table; @id becomes its own, even on failure.
 * NULL: no memory, or no randomness. */
struct rr_gss_context *rr_gss_context_new(gss_ctx_id_t id);
void rr_gss_context_put(struct rr_gss *, struct rr_gss_context *);
/* Holds it; NULL: there is none of that handle (any more). */
struct rr_gss_context *rr_gss_context_find(struct rr_gss *, const void *handle,
                                           size_t len, rr_time now);
/* Puts it into the table, which then holds it too; evicts another if there is no room.
 * False: all others were used within active_ns; it is not in the table. */
bool rr_gss_context_keep(struct rr_gss *, struct rr_gss_context *, rr_time now);
void rr_gss_context_drop(struct rr_gss *, struct rr_gss_context *);
/* The credential of the acceptor, for as long as the table.  @ret_major, @ret_minor:
 * why not.  Where there is no key it looks for one only now and then: MIT's library
 * loses a little memory by each such attempt, and clients must not decide how often. */
bool rr_gss_cred(struct rr_gss *, rr_time now, gss_cred_id_t *ret, OM_uint32 *ret_major,
                 OM_uint32 *ret_minor);

/* -- identity.c ---------------------------------------------------------------- */

/* Takes @name over.  Blocks.  -ENOMEM, -EKEYREJECTED. */
int rr_gss_identity_init(struct rr_gss_identity *, gss_name_t name, gss_OID mech,
                         gss_ctx_id_t id) RR_MUST_CHECK;
void rr_gss_identity_fini(struct rr_gss_identity *);

/* -- protect.c: the context's lock is taken inside ----------------------------- */

/* Is the Call's header what the client signed?  And which QOP it chose. */
bool rr_gss_verify_header(struct rr_gss_context *, const struct rr_gss_call *,
                          gss_qop_t *ret_qop);
/* Marks @seq as seen.  False: it was, or is too old. */
bool rr_gss_see(struct rr_gss_context *, uint32_t seq);
/* The verifier that is the checksum of @word. */
bool rr_gss_sign_word(struct rr_gss_context *, gss_qop_t, uint32_t word,
                      struct rr_gss_request *ret);
/* The arguments; false: garbage. */
bool rr_gss_unwrap(struct rr_gss_request *, const struct rr_gss_call *);

#endif
