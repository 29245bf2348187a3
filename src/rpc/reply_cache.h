/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reply cache: a repeated Call gets the reply of the first one, and is not executed
 * again.  [v2 §4.5.5, §7.5]
 *
 * Two Calls are equal if they have the same caller's address, XID, program, version,
 * procedure, credential and arguments.  The port is not compared, because it changes
 * with the connection.  Credentials and arguments are compared by a keyed digest and
 * their length.  The pieces in which arguments arrive make no difference.  The time
 * stamp of an AUTH_SYS credential is ignored, because clients may renew it.  An
 * RPCSEC_GSS credential differs in each Call, so the principal is compared instead;
 * the arguments are compared after unwrapping.
 *
 * Normal path: rr_reply_cache_begin returns NEW, the procedure is executed, and
 * rr_reply_cache_complete stores the body of the reply: status and results.  The chunks
 * are not stored, because a repetition may offer other chunks.  A repetition gets the
 * stored reply (DONE), or waits until the first Call is complete (WAIT).
 *
 * Alternatively, a Call may be remembered only during its execution
 * (rr_reply_cache_begin_briefly).  In that case, only the beginning of the arguments is
 * compared.  Repetitions wait for the Call's reply, and the entry is removed when the
 * last request has released it.
 *
 * An entry is held, and so not removed, while a request refers to it.  The request
 * being executed refers to the entry until rr_reply_cache_complete.  A repetition does
 * so until rr_reply_cache_put or rr_reply_cache_leave.  Replies are kept when their
 * connection ends.
 *
 * Bounds: all memory is counted in octets against one limit.  A caller may use at most
 * half of the limit, and a limited number of entries.  If the limit is reached, the
 * cache removes replies that are not held.  It usually chooses the caller and then the
 * connection that use the most memory (tenant.h), and removes the oldest reply there.
 * So a client that has lost its connection can still get its replies, even if other
 * clients, including those at the same address, flood the cache.  All replies are
 * removed after some time.  If Calls being executed fill the cache, new Calls are
 * REFUSED.  A reply that is too large, or for which there is no memory, is stored as
 * RPCRDMA_SYSTEM_ERR: a repetition fails, but nothing is executed twice.
 *
 * Threads: all functions may be called in any thread.  A cache for several engines has
 * shards, each with a lock.  A caller's Calls are all in one shard, so Calls of
 * different callers rarely wait for each other.  The limit on octets applies to all
 * shards together.  So does the choice of the caller that loses a reply: each shard
 * publishes its caller with the most removable octets, and a shard that needs room
 * removes a reply from the shard whose caller has most.  It holds one lock at a time.
 * The cache uses no clock, random numbers or I/O.
 */
#ifndef RR_RPC_REPLY_CACHE_H
#define RR_RPC_REPLY_CACHE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "oncrpc/rpc_header.h"
#include "rpc/tenant.h"

enum { RR_REPLY_CACHE_DEFAULT_BYTES = 8 << 20, RR_REPLY_CACHE_MIN_BYTES = 64 << 10 };

struct rr_reply_cache_options {
	/* size limit, at least RR_REPLY_CACHE_MIN_BYTES; 0 = every Call is NEW */
	size_t bytes;
	unsigned max_per_caller; /* limit on the entries of a caller; 0 = 8192 */
	/* how long to keep a reply that is not requested; 0 = 5 minutes */
	rr_time max_age_ns;
	uint64_t key[2]; /* key of the digest; unknown to callers */
};

enum { RR_REPLY_CACHE_SHARDS = 8 };

struct rr_reply_cache_entry;

struct rr_reply_shard {
	struct rr_reply_cache *cache;
	/* The caller that loses a reply first (rr_tenants_top), for other shards. */
	_Atomic unsigned top_rank;
	_Atomic size_t top_bytes;
	pthread_mutex_t lock; /* guards the fields below, and the entries */
	size_t counted; /* octets of @tenants that rr_reply_cache.bytes includes */
	struct rr_reply_cache_entry **buckets; /* allocated for the first Call */
	size_t mask;
	struct rr_tenants tenants; /* octets used by each caller and connection */
	/* entries that are complete and not held, oldest first */
	struct rr_list idle;
	unsigned entries;
};

struct rr_reply_cache {
	struct rr_reply_cache_options o;
	_Atomic size_t bytes;         /* octets of all shards */
	_Atomic uint64_t connections; /* last connection number assigned */
	_Atomic unsigned tabled;      /* number of shards that have tables */
	unsigned n_shards;            /* 1, or RR_REPLY_CACHE_SHARDS */
	struct rr_reply_shard shards[RR_REPLY_CACHE_SHARDS];
};

/* A waiting repetition.  @ready is called once, with its shard locked, by the thread
 * that completes the first Call.  The function may only post a notification. */
struct rr_reply_cache_waiter {
	struct rr_list link;
	void (*ready)(struct rr_reply_cache_waiter *);
};

enum rr_reply_cache_verdict {
	/* execute the Call, then call rr_reply_cache_complete */
	RR_REPLY_CACHE_NEW,
	/* send the reply from rr_reply_cache_reply, then call rr_reply_cache_put */
	RR_REPLY_CACHE_DONE,
	/* wait until the waiter's @ready is called, then continue as for DONE */
	RR_REPLY_CACHE_WAIT,
	RR_REPLY_CACHE_REFUSED, /* there is no memory; the Call must not be executed */
};

/* Initializes an empty cache.  Returns 0, or -EINVAL if the size is too small. */
int rr_reply_cache_init(struct rr_reply_cache *,
                        const struct rr_reply_cache_options *) RR_MUST_CHECK;
/* Changes the size.  Returns 0, -EINVAL if @bytes is too small, or -EBUSY after the
 * first Call. */
int rr_reply_cache_set_bytes(struct rr_reply_cache *, size_t bytes) RR_MUST_CHECK;
/* Prepares the cache for several engines.  Returns 0, or -EBUSY after the first Call. */
int rr_reply_cache_share(struct rr_reply_cache *) RR_MUST_CHECK;
/* Frees all entries.  No entry may be held. */
void rr_reply_cache_fini(struct rr_reply_cache *);

/* The origin of a Call. */
struct rr_reply_cache_from {
	const struct sockaddr_storage *caller;
	uint64_t connection; /* see rr_reply_cache_connection */
};

/* Assigns a number to a connection. */
uint64_t rr_reply_cache_connection(struct rr_reply_cache *);

/*
 * Looks up a received Call.  @w is lent until its function is called or
 * rr_reply_cache_leave returns; the other parameters are borrowed.  If the verdict is
 * REFUSED, or if it is NEW because there is no cache, sets @ret_entry to NULL.  The
 * caller may pass that NULL to rr_reply_cache_complete.
 */
typedef enum rr_reply_cache_verdict
rr_reply_cache_begin_fn(struct rr_reply_cache *, const struct rr_reply_cache_from *from,
                        const struct rr_rpc_call *, const struct rpcrdma_piece *args,
                        unsigned n_args, struct rr_reply_cache_waiter *w, rr_time now,
                        struct rr_reply_cache_entry **ret_entry);
rr_reply_cache_begin_fn rr_reply_cache_begin;
/* Like rr_reply_cache_begin, but the Call is remembered only during its execution. */
rr_reply_cache_begin_fn rr_reply_cache_begin_briefly;
/* Stores the result of the request that was executed, and releases its entry. */
void rr_reply_cache_complete(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                             const struct rr_rpc_reply *,
                             const struct rr_piece *results, unsigned n, rr_time now);
/* Sets @ret_results to the stored results, lent until rr_reply_cache_put.  Returns the
 * number of pieces, at most RPCRDMA_MAX_PIECES.  Sets @ret to the stored status and to
 * the XID, which is the same in equal Calls. */
unsigned rr_reply_cache_reply(const struct rr_reply_cache_entry *,
                              struct rr_rpc_reply *ret, struct rr_piece *ret_results);
void rr_reply_cache_put(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                        rr_time now);
/* Releases the entry of a repetition that no longer waits.  If @w's function has
 * already been called, the notification it sent may still arrive. */
void rr_reply_cache_leave(struct rr_reply_cache *, struct rr_reply_cache_entry *,
                          struct rr_reply_cache_waiter *w, rr_time now);

#endif
