/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop: descriptors, timers, posts from other threads, and the list of
 * members (links) that have something to send.
 *
 * One iteration: turn every member that was touched, sleep in the poller (not at all if
 * there is work), handle ready descriptors and posts, turn touched members, run due
 * timers, turn touched members again, run late work.  A member that ends during an
 * iteration is freed at its end, so a callback never finds its object freed.
 */
#ifndef RR_LOOP_ENGINE_H
#define RR_LOOP_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/trace.h"
#include "loop/heap_trim.h"
#include "loop/log.h"
#include "loop/budget.h"
#include "loop/pool.h"
#include "loop/poller.h"
#include "loop/timer.h"
#include <rpcrdma/rpcrdma.h>

struct rr_member;

/* How the engine uses a member.  Every slot is set. */
struct rr_member_ops {
	/* Handles completions, then sends. */
	void (*turn)(struct rr_member *);
	/* Ends the member at once: the engine is being freed. */
	void (*abort)(struct rr_member *);
	/* Called at the end of the iteration that called rr_engine_member_over. */
	void (*free)(struct rr_member *);
	void (*stats)(const struct rr_member *, struct rpcrdma_stats *ret);
};

/* An object that is turned in each iteration in which it was touched: a link. */
struct rr_member {
	const struct rr_member_ops *ops;
	struct rr_list all, dirty, over;
};

/* An object that a layer above the loop has once for each engine, at most. */
struct rr_part {
	struct rr_list link;
	/* Called when the engine is freed, after all members and owners have ended.
	 * Its address names the kind of part. */
	void (*free)(struct rr_part *);
};

/* A client or a listener; the engine may be freed before it. */
struct rr_owner {
	struct rr_list link;
	/* Closes it.  Called again when it has no link any more: then frees it. */
	void (*abandon)(struct rr_owner *);
};

/* A function to run in the engine's thread; embedded in an object of the poster. */
struct rr_post {
	struct rr_list link;
	void (*fn)(struct rr_post *);
};

/* Work for the end of an iteration, after all ready descriptors. */
struct rr_late {
	struct rr_list link;
	void (*fn)(struct rr_late *);
};

struct rpcrdma_engine {
	struct rr_poller poller;
	int evfd;
	struct rr_source wake;
	rr_time now;
	struct rr_timers timers;
	struct rr_pool pool;
	struct rr_heap heap;
	struct rr_list dirty;   /* members to turn */
	struct rr_list over;    /* members to free at the end of the iteration */
	struct rr_list late;    /* struct rr_late */
	struct rr_list members; /* struct rr_member.all */
	struct rr_list owners;  /* clients and listeners: struct rr_owner */
	struct rr_list parts;   /* struct rr_part */
	unsigned alive;         /* links, listeners and clients not freed yet */
	uint32_t next_conn_id;
	uint32_t next_xid; /* of calls */
	uint64_t spin_ns;
	struct rr_rng rng;     /* for jitter and XIDs; not secret */
	struct rr_voice voice; /* of events without a peer */
	struct rr_list voices; /* struct rr_voice.all */
	void (*trace)(void *arg, const char *json);
	void *trace_arg;
	rpcrdma_log_fn *log;
	void *log_arg;
	enum rpcrdma_log_level log_level;
	struct rpcrdma_stats ended; /* sum over links that have ended */
	uint64_t own_syscalls;      /* without the poller's */
	atomic_bool stop;
	atomic_ulong thread;       /* pthread_t that runs it; 0 = none yet */
	pthread_mutex_t run_lock;  /* held by the thread that runs it */
	atomic_ulong inside;       /* pthread_t that runs callbacks now; 0 = none */
	atomic_bool resident;      /* process() was called: only @thread may run it */
	pthread_mutex_t sync_lock; /* guards sync_calls */
	struct rr_list sync_calls; /* of other threads, see call_sync.c */
	pthread_mutex_t post_lock; /* guards posts */
	struct rr_list posts;
};

/* Adds a member that is in no list. */
void rr_engine_add_member(struct rpcrdma_engine *, struct rr_member *,
                          const struct rr_member_ops *);
/* Has @m turned in this iteration or the next one; once, however often it is called. */
void rr_engine_touch_member(struct rpcrdma_engine *, struct rr_member *m);
/* Has @m freed at the end of this iteration. */
void rr_engine_member_over(struct rpcrdma_engine *, struct rr_member *m);
/* Takes @m off all lists.  Called by its free function. */
void rr_engine_remove_member(struct rpcrdma_engine *, struct rr_member *m);

/* Gives @p, whose free function is set, to the engine. */
void rr_engine_add_part(struct rpcrdma_engine *, struct rr_part *p);
/* Returns the part with this free function, or NULL. */
struct rr_part *rr_engine_find_part(const struct rpcrdma_engine *,
                                    void (*free)(struct rr_part *));

/* Has the function of @p run in the engine's thread.  Any thread.  @p is lent until
 * then. */
void rr_engine_post(struct rpcrdma_engine *, struct rr_post *p);
/* Withdraws a post that has not run.  In the engine's thread.  @p was posted before, or
 * its link is initialized.  No thread may post it at the same time. */
void rr_engine_unpost(struct rpcrdma_engine *, struct rr_post *p);
/* Has the function run once at the end of this iteration.  In the engine's thread. */
void rr_engine_later(struct rpcrdma_engine *, struct rr_late *);
/* Returns true in the thread that runs the engine, and before the first run.  Threads
 * that take turns run it from rr_engine_enter to rr_engine_leave. */
bool rr_engine_here(const struct rpcrdma_engine *);
/* Lets this thread run the engine until rr_engine_leave.  Returns false if another
 * thread does, or has called rpcrdma_engine_process. */
bool rr_engine_enter(struct rpcrdma_engine *) RR_MUST_CHECK;
void rr_engine_leave(struct rpcrdma_engine *);
/* Runs one iteration, in a thread that has entered. */
int rr_engine_turn(struct rpcrdma_engine *, int timeout_ms);
/* Returns true within callbacks of this engine. */
bool rr_engine_inside(const struct rpcrdma_engine *);
/* Returns a new XID: not 0, and unique among the outstanding calls of this engine, since
 * several objects may share a connection, now or after a reconnect. [O11] */
uint32_t rr_engine_new_xid(struct rpcrdma_engine *);
/* CLOCK_MONOTONIC. */
rr_time rr_engine_clock(void);
/* Adds; the sum saturates at RR_TIME_NEVER. */
static inline rr_time rr_after(rr_time t, uint64_t ns)
{
	return ns > RR_TIME_NEVER - t ? RR_TIME_NEVER : t + ns;
}

/* Adds each counter of @from to that of @to. */
void rr_stats_add(struct rpcrdma_stats *to, const struct rpcrdma_stats *from);

#endif
