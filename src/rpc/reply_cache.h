/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reply cache: a Call that is repeated gets the reply of the first one, and is not
 * executed again.                                          [v2 §4.5.5, §7.5]
 *
 * Calls are equal if these are: the caller's address without its port (which changes
 * with the connection), XID, program, version, procedure, and the length and a keyed
 * digest of credential and arguments, in whatever pieces they arrived.  The time stamp
 * of an AUTH_SYS credential is left out, since clients may renew it.  A Call under
 * RPCSEC_GSS has its principal instead of its credential, which differs each time, and
 * its unwrapped arguments.
 *
 * Normal path: rr_reply_cache_begin returns NEW, the procedure is executed, and
 * rr_reply_cache_complete stores the body of the reply: status and results.  The chunks
 * are not stored, since the next Call may offer others.  A repetition gets the stored
 * reply (DONE), or waits until the first Call is complete (WAIT).
 *
 * A Call may also be remembered only while it is executed, by the head of its arguments
 * (rr_reply_cache_begin_briefly).  Repetitions wait for its reply, and the last one
 * that holds the entry removes it.
 *
 * An entry is kept while it is held: by the request that is executed until
 * rr_reply_cache_complete, by others until rr_reply_cache_put or rr_reply_cache_leave.
 * Replies are kept when their connection ends.
 *
 * Bounds: all memory is counted in octets against one limit.  A caller has at most half
 * of it, and a limited number of entries.  If there is no room, replies that are not
 * held are removed: of the caller that has most, of its connection that has most, the
 * oldest first (tenant.h).  So a reply that a client may request again, after its
 * connection was lost, is kept although others flood the cache, even from the same
 * address.  All replies are removed after some time.  If Calls that are executed fill
 * the cache, new ones are REFUSED.  A reply that is too large, or for which there is no
 * memory, is stored as RPCRDMA_SYSTEM_ERR: a repetition fails, but nothing is executed
 * twice.
 *
 * Threads: any; there is one lock.  No clock, no randomness, no I/O.
 */
#ifndef RR_RPC_REPLY_CACHE_H
#define RR_RPC_REPLY_CACHE_H

#include <pthread.h>

#include "base/list.h"
#include "oncrpc/rpc_header.h"
#include "rpc/tenant.h"

enum { RR_REPLY_CACHE_DEFAULT_BYTES = 8 << 20, RR_REPLY_CACHE_MIN_BYTES = 64 << 10 };

struct rr_reply_cache_options {
	/* Limit.  0: no cache, every Call is NEW; else at least RR_REPLY_CACHE_MIN_BYTES. */
	size_t bytes;
	unsigned max_per_caller; /* entries; 0 = 8192 */
	rr_time max_age_ns;      /* of a reply that is not requested; 0 = 5 minutes */
	uint64_t key[2];         /* of the digest; unknown to callers */
};

struct rr_reply_cache_entry;

struct rr_reply_cache {
	struct rr_reply_cache_options o;
	pthread_mutex_t lock; /* guards the fields below, and the entries */
	struct rr_reply_cache_entry **buckets; /* allocated for the first Call */
	size_t mask;
	struct rr_tenants tenants; /* memory of each caller and connection */
	struct rr_list idle;       /* complete and not held, the oldest first */
	unsigned entries;
	uint64_t connections; /* numbers that were assigned */
};

/* A repetition that waits.  @ready is called once, under the cache's lock, by the
 * thread that completes the first Call: it may only pass the news on. */
struct rr_reply_cache_waiter {
	struct rr_list link;
	void (*ready)(struct rr_reply_cache_waiter *);
};

enum rr_reply_cache_verdict {
	RR_REPLY_CACHE_NEW,     /* execute it, then rr_reply_cache_complete */
	RR_REPLY_CACHE_DONE,    /* send rr_reply_cache_reply, then rr_reply_cache_put */
	RR_REPLY_CACHE_WAIT,    /* the waiter is called, then as DONE */
	RR_REPLY_CACHE_REFUSED, /* no room: it must not be executed */
};

/* Initializes an empty cache.  -EINVAL: the size is too small. */
int rr_reply_cache_init(struct rr_reply_cache *,
                        const struct rr_reply_cache_options *) RR_MUST_CHECK;
/* Changes the size.  -EINVAL; -EBUSY after the first Call. */
int rr_reply_cache_set_bytes(struct rr_reply_cache *, size_t bytes) RR_MUST_CHECK;
/* Frees all entries; none is held. */
void rr_reply_cache_fini(struct rr_reply_cache *);

/* The origin of a Call. */
struct rr_reply_cache_from {
	const struct sockaddr_storage *caller;
	uint64_t connection; /* see rr_reply_cache_connection */
};

/* Assigns a number to a connection. */
uint64_t rr_reply_cache_connection(struct rr_reply_cache *);

/*
 * Looks up a Call that was received.  @w is lent until its function was called, or
 * until rr_reply_cache_leave; the other parameters are borrowed.  @ret_entry is NULL if
 * there is nothing to give back: with REFUSED, or with NEW if there is no cache, where
 * rr_reply_cache_complete takes NULL.
 */
typedef enum rr_reply_cache_verdict
rr_reply_cache_begin_fn(struct rr_reply_cache *, const struct rr_reply_cache_from *from,
                        const struct rr_rpc_call *, const struct rpcrdma_piece *args,
                        unsigned n_args, struct rr_reply_cache_waiter *w, rr_time now,
                        struct rr_reply_cache_entry **ret_entry);
rr_reply_cache_begin_fn rr_reply_cache_begin;
/* Does the same for a Call that is remembered only while it is executed. */
rr_reply_cache_begin_fn rr_reply_cache_begin_briefly;
/* Stores the result of the request that was executed, and releases the entry. */
void rr_reply_cache_complete(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                             const struct rr_rpc_reply *,
                             const struct rr_piece *results, unsigned n, rr_time now);
/* Returns the number of pieces of the stored results, at most RPCRDMA_MAX_PIECES, which
 * are lent until rr_reply_cache_put.  @ret gets the status, under the XID that equal
 * Calls have in common. */
unsigned rr_reply_cache_reply(const struct rr_reply_cache_entry *,
                              struct rr_rpc_reply *ret, struct rr_piece *ret_results);
void rr_reply_cache_put(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                        rr_time now);
/* Releases the entry without waiting any longer.  If the function of @w was called
 * before, its effects may still follow. */
void rr_reply_cache_leave(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                          struct rr_reply_cache_waiter *w, rr_time now);

#endif
