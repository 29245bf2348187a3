/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache of replies: a Call that comes again gets the reply of the first one,
 * and is not executed.                                    [v2 §4.5.5, §7.5]
 *
 * Which Calls are the same: the caller's address without its port (a caller
 * that comes back has another one), XID, program, version, procedure, and the
 * length and a keyed digest of credential and arguments, in whatever pieces
 * they came.  The time stamp of an AUTH_SYS credential does not count: clients
 * may renew it.  Of a Call under RPCSEC_GSS the principal stands for the credential,
 * which is another one each time, and the arguments are those that were wrapped.
 *
 * Normal path: rr_reply_cache_begin says NEW, the procedure is executed,
 * rr_reply_cache_complete keeps the reply's body: status and unreduced results, never
 * what carried them, since the next Call may offer other chunks.  A repetition
 * is answered from rr_reply_cache_reply (DONE), or waits (WAIT) until the first one is
 * complete and its waiter says so.
 *
 * A Call may also be remembered briefly: only while it is being executed, by the head
 * of its arguments.  Then repetitions WAIT for its reply, and the last that holds the
 * entry takes it away.
 *
 * Who has an entry holds it, and what is held stays: the executing request
 * until rr_reply_cache_complete, others until rr_reply_cache_put or rr_reply_cache_leave.  The end of a
 * connection takes no reply out of here.
 *
 * Bounds: everything is counted in octets against one limit; a caller has at
 * most half of it, and a number of entries.  If there is no room, replies that nobody
 * holds go: of the caller that has most, there of the connection that has most, there
 * the oldest first (tenant.h).  So the reply that a client may ask for again, after its
 * connection broke, stays when others flood the cache, also from the same address.  All
 * go after some age.  If what is being executed fills it, new Calls are REFUSED.  A
 * reply too large to keep, or for which there is no memory, is remembered as
 * RPCRDMA_SYSTEM_ERR: the repetition fails, but nothing is executed twice.
 *
 * Threads: any, one lock.  No clock, no randomness, no I/O.
 */
#ifndef RR_RPC_REPLY_CACHE_H
#define RR_RPC_REPLY_CACHE_H

#include <pthread.h>

#include "base/list.h"
#include "oncrpc/rpc_header.h"
#include "rpc/tenant.h"

enum { RR_REPLY_CACHE_DEFAULT_BYTES = 8 << 20, RR_REPLY_CACHE_MIN_BYTES = 64 << 10 };

struct rr_reply_cache_options {
	size_t bytes; /* 0: no cache, every Call is NEW; else RR_REPLY_CACHE_MIN_BYTES or more */
	unsigned max_per_caller; /* entries; 0 = 8192 */
	rr_time max_age_ns;      /* of a reply that nobody asked for; 0 = 5 minutes */
	uint64_t key[2]; /* of the digest; from a source that callers do not know */
};

struct rr_reply_cache_entry;

struct rr_reply_cache {
	struct rr_reply_cache_options o;
	pthread_mutex_t lock; /* guards what follows, and the entries */
	struct rr_reply_cache_entry **buckets; /* made by the first Call */
	size_t mask;
	struct rr_tenants tenants; /* who has how much */
	struct rr_list idle;       /* complete and not held, the oldest first */
	unsigned entries;
	uint64_t connections; /* numbers given out */
};

/* A repetition that waits.  @ready is called once, under the cache's lock, by the
 * thread that completes the first Call: it may only pass the word on. */
struct rr_reply_cache_waiter {
	struct rr_list link;
	void (*ready)(struct rr_reply_cache_waiter *);
};

enum rr_reply_cache_verdict {
	RR_REPLY_CACHE_NEW, /* execute it, then rr_reply_cache_complete */
	RR_REPLY_CACHE_DONE, /* answer with rr_reply_cache_reply, then rr_reply_cache_put */
	RR_REPLY_CACHE_WAIT, /* being executed: the waiter will be told, then as DONE */
	RR_REPLY_CACHE_REFUSED, /* no room: it must not be executed */
};

/* -EINVAL for a size below the least. */
int rr_reply_cache_init(struct rr_reply_cache *,
                        const struct rr_reply_cache_options *) RR_MUST_CHECK;
/* Another size: -EINVAL, or -EBUSY after the first Call. */
int rr_reply_cache_set_bytes(struct rr_reply_cache *, size_t bytes) RR_MUST_CHECK;
/* Nothing may be held any more. */
void rr_reply_cache_fini(struct rr_reply_cache *);

/* Where a Call came from. */
struct rr_reply_cache_from {
	const struct sockaddr_storage *caller;
	uint64_t connection; /* see rr_reply_cache_connection */
};

/* A number for a connection that Calls will come from. */
uint64_t rr_reply_cache_connection(struct rr_reply_cache *);

/*
 * A Call has come.  @from and the rest are borrowed, but @w is lent until it
 * was told or rr_reply_cache_leave.  @ret_entry is NULL when there is nothing to give back
 * (REFUSED; NEW without a cache, where rr_reply_cache_complete takes NULL).
 */
typedef enum rr_reply_cache_verdict
rr_reply_cache_begin_fn(struct rr_reply_cache *, const struct rr_reply_cache_from *from,
                        const struct rr_rpc_call *, const struct rpcrdma_piece *args,
                        unsigned n_args, struct rr_reply_cache_waiter *w, rr_time now,
                        struct rr_reply_cache_entry **ret_entry);
rr_reply_cache_begin_fn rr_reply_cache_begin;
/* The same for a Call that is remembered only while it is being executed. */
rr_reply_cache_begin_fn rr_reply_cache_begin_briefly;
/* The executing request has its result; it holds the entry no longer. */
void rr_reply_cache_complete(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                             const struct rr_rpc_reply *,
                             const struct rr_piece *results, unsigned n, rr_time now);
/* What to answer: status under the XID of @ret's Call and, in at most
 * RPCRDMA_MAX_PIECES pieces lent until rr_reply_cache_put, results; how many. */
unsigned rr_reply_cache_reply(const struct rr_reply_cache_entry *,
                              struct rr_rpc_reply *ret, struct rr_piece *ret_results);
void rr_reply_cache_put(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                        rr_time now);
/* Waits no longer and holds no longer.  If @w had been told, its word may still
 * be on its way; no new one follows. */
void rr_reply_cache_leave(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                          struct rr_reply_cache_waiter *w, rr_time now);

#endif
