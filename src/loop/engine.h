/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop: descriptors, timers, posts from other threads, and the list of
 * members (links) that have work to do.
 *
 * Each iteration has these steps:
 *
 *   1. Call the turn function of each member that was touched.
 *   2. Poll for a while if that pays (spin.h), then sleep in the poller, unless there is
 *      work.
 *   3. Handle ready descriptors and posts.  Repeat step 1.
 *   4. Run the timers that are due.  Repeat step 1.
 *   5. Run late work.
 *
 * Members that have ended are freed only between these steps, so a callback never finds
 * its object freed.
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
#include "loop/spin.h"
#include "loop/timer.h"
#include <rpcrdma/rpcrdma.h>

struct rr_member;

/* The functions that the engine calls for a member.  All must be set. */
struct rr_member_ops {
	/* Handles completions, then sends. */
	void (*turn)(struct rr_member *);
	/* Ends the member at once, because the engine is being freed. */
	void (*abort)(struct rr_member *);
	/* Frees the member, in the iteration in which rr_engine_member_over was
	 * called. */
	void (*free)(struct rr_member *);
	void (*stats)(const struct rr_member *, struct rpcrdma_stats *ret);
};

/* A member of the engine, which is part of a link.  The engine calls the turn function
 * of each member that was touched. */
struct rr_member {
	const struct rr_member_ops *ops;
	struct rr_list all, dirty, over;
};

/* Data that a layer above the loop keeps for each engine. */
struct rr_part {
	struct rr_list link;
	/* Called when the engine is freed, after all members and owners have ended.
	 * The address of the function also identifies the layer's part. */
	void (*free)(struct rr_part *);
};

/* A client or a listener.  It may outlive the engine. */
struct rr_owner {
	struct rr_list link;
	/* Called when the engine is being freed: closes the owner, and frees it if it
	 * has no links.  Called again after all links have ended. */
	void (*abandon)(struct rr_owner *);
};

/* A function to run in the engine's thread.  Embedded in the caller's object. */
struct rr_post {
	struct rr_list link;
	void (*fn)(struct rr_post *);
};

/* A function to run at the end of an iteration, after all other work. */
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
	struct rr_list dirty;   /* touched members */
	struct rr_list over;    /* ended members, to be freed in this iteration */
	struct rr_list late;    /* struct rr_late */
	struct rr_list members; /* struct rr_member.all */
	struct rr_list owners;  /* clients and listeners: struct rr_owner */
	struct rr_list parts;   /* struct rr_part */
	unsigned alive; /* number of links, listeners and clients not freed yet */
	uint32_t next_conn_id;
	uint32_t next_xid;
	struct rr_spin spin;
	struct rr_rng rng;     /* for jitter and XIDs; not secret */
	struct rr_voice voice; /* for events without a peer */
	struct rr_list voices; /* struct rr_voice.all */
	void (*trace)(void *arg, const char *json);
	void *trace_arg;
	rpcrdma_log_fn *log;
	void *log_arg;
	enum rpcrdma_log_level log_level;
	struct rpcrdma_stats ended; /* sum of the counters of links that have ended */
	uint64_t own_syscalls;      /* number of system calls, excluding the poller's */
	atomic_bool stop;
	atomic_ulong thread;       /* pthread_t that runs the engine; 0 = none yet */
	pthread_mutex_t run_lock;  /* held by the thread that runs the engine */
	atomic_ulong inside;       /* pthread_t that runs callbacks now; 0 = none */
	atomic_bool resident;      /* rpcrdma_engine_process was called: only @thread
	                            * may run the engine */
	pthread_mutex_t sync_lock; /* guards sync_calls */
	struct rr_list sync_calls; /* calls made by other threads; see call_sync.c */
	pthread_mutex_t post_lock; /* guards posts */
	struct rr_list posts;
};

/* Adds a new member to the engine. */
void rr_engine_add_member(struct rpcrdma_engine *, struct rr_member *,
                          const struct rr_member_ops *);
/* Has the engine call the turn function of @m once, in this iteration or the next.
 * Touching @m again before then has no effect. */
void rr_engine_touch_member(struct rpcrdma_engine *, struct rr_member *m);
/* Reports that @m has ended.  The engine frees it in this iteration. */
void rr_engine_member_over(struct rpcrdma_engine *, struct rr_member *m);
/* Removes @m from all lists.  Called by the member's free function. */
void rr_engine_remove_member(struct rpcrdma_engine *, struct rr_member *m);

/* Adds @p to the engine, which later frees @p by calling @p's free function. */
void rr_engine_add_part(struct rpcrdma_engine *, struct rr_part *p);
/* Returns the part with this free function, or NULL. */
struct rr_part *rr_engine_find_part(const struct rpcrdma_engine *,
                                    void (*free)(struct rr_part *));

/* Has the engine's thread call the function of @p.  May be called in any thread.  @p is
 * lent until the function is called. */
void rr_engine_post(struct rpcrdma_engine *, struct rr_post *p);
/* Withdraws a post whose function has not been called yet.  Must be called in the
 * engine's thread.  If @p was never posted, its link must have been initialized as a
 * list.  No other thread may post @p at the same time. */
void rr_engine_unpost(struct rpcrdma_engine *, struct rr_post *p);
/* Has the engine call the function once, at the end of this iteration.  Must be called
 * in the engine's thread. */
void rr_engine_later(struct rpcrdma_engine *, struct rr_late *);
/* Returns true if the calling thread runs the engine, or if no thread has run it yet.
 * Between rr_engine_enter and rr_engine_leave, the calling thread runs the engine. */
bool rr_engine_here(const struct rpcrdma_engine *);
/* Makes the calling thread run the engine until rr_engine_leave.  Returns false if
 * another thread runs the engine, or has called rpcrdma_engine_process. */
bool rr_engine_enter(struct rpcrdma_engine *) RR_MUST_CHECK;
void rr_engine_leave(struct rpcrdma_engine *);
/* Runs one iteration.  The calling thread must run the engine. */
int rr_engine_turn(struct rpcrdma_engine *, int timeout_ms);
/* Returns true if called within one of this engine's callbacks. */
bool rr_engine_inside(const struct rpcrdma_engine *);
/* Returns a new XID, which is not 0 [O11].  No other outstanding call of the engine has
 * this XID, so calls made by different objects can share a connection. */
uint32_t rr_engine_new_xid(struct rpcrdma_engine *);
/* Returns the current time of CLOCK_MONOTONIC. */
rr_time rr_engine_clock(void);
/* Returns @t + @ns, or RR_TIME_NEVER on overflow. */
static inline rr_time rr_after(rr_time t, uint64_t ns)
{
	return ns > RR_TIME_NEVER - t ? RR_TIME_NEVER : t + ns;
}

/* Adds each counter in @from to the same counter in @to. */
void rr_stats_add(struct rpcrdma_stats *to, const struct rpcrdma_stats *from);

#endif
