/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop: descriptors, timers, posts from other threads, and the list
 * of members (links) that have something to send.
 *
 * One iteration: sleep in the poller (not at all if work is waiting), let ready
 * members move, run posted functions and due timers, then turn every member that
 * was touched, once.  Whatever ends during an iteration is freed at its end,
 * so that no callback ever finds its object gone under its feet.
 */
#ifndef RR_DRIVE_ENGINE_H
#define RR_DRIVE_ENGINE_H

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

/* What the engine does with its members.  Every slot is set. */
struct rr_member_ops {
	/* Moves what is ready, then flushes. */
	void (*turn)(struct rr_member *);
	/* The engine is being freed: ends at once. */
	void (*abort)(struct rr_member *);
	/* At the end of the iteration in which rr_engine_member_over was called. */
	void (*free)(struct rr_member *);
	void (*stats)(const struct rr_member *, struct rpcrdma_stats *ret);
};

/* Something that is turned in each iteration in which it was touched: a link. */
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

/* A client or a listener, for the engine that is freed before them. */
struct rr_owner {
	struct rr_list link;
	/* Closes; called again when no link is left: then it frees. */
	void (*abandon)(struct rr_owner *);
};

/* A function to run in the engine's thread; the post owns its memory. */
struct rr_post {
	struct rr_list link;
	void (*fn)(struct rr_post *);
};

/* Work for the end of an iteration, when all that was ready has had its turn. */
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
	struct rr_list members; /* all */
	struct rr_list owners;  /* all clients and listeners */
	struct rr_list parts;   /* struct rr_part */
	unsigned alive;         /* links, listeners, clients not freed */
	uint32_t next_conn_id;
	uint32_t next_xid; /* of calls */
	uint64_t spin_ns;
	struct rr_rng rng;     /* jitter and XIDs, nothing secret */
	struct rr_voice voice; /* for what has no peer */
	struct rr_list voices; /* all */
	void (*trace)(void *arg, const char *json);
	void *trace_arg;
	rpcrdma_log_fn *log;
	void *log_arg;
	enum rpcrdma_log_level log_level;
	struct rpcrdma_stats ended; /* sums of links that are gone */
	uint64_t own_syscalls;      /* eventfd; the poller counts its own */
	atomic_bool stop;
	atomic_ulong thread;      /* pthread_t that runs it; 0 = none yet */
	pthread_mutex_t run_lock; /* held by the thread that runs it, while it does */
	atomic_ulong inside;      /* pthread_t that runs callbacks now; 0 = none */
	atomic_bool resident; /* process() was called: @thread is to go on with that */
	pthread_mutex_t sync_lock; /* guards sync_calls */
	struct rr_list sync_calls; /* of other threads, see call_sync.c */
	pthread_mutex_t post_lock; /* guards posts */
	struct rr_list posts;
};

/* Adds a member, which is on none of the lists. */
void rr_engine_add_member(struct rpcrdma_engine *, struct rr_member *,
                          const struct rr_member_ops *);
/* Has @m turned in this iteration or the next one.  Harmless if it will be already. */
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

/* Any thread.  @p is given until its function runs. */
void rr_engine_post(struct rpcrdma_engine *, struct rr_post *p);
/* The engine's thread.  Takes back a post that has not run; @p was posted once,
 * or its link is initialised.  Whoever posts it must have stopped doing so. */
void rr_engine_unpost(struct rpcrdma_engine *, struct rr_post *p);
/* The engine's thread.  Once, at the end of this iteration; again is harmless. */
void rr_engine_later(struct rpcrdma_engine *, struct rr_late *);
/* True in the thread that runs the engine, and before it first runs.  Threads that run
 * it by turns: from rr_engine_enter to rr_engine_leave. */
bool rr_engine_here(const struct rpcrdma_engine *);
/* True: this thread runs the engine until it leaves; no other one does, or is to. */
bool rr_engine_enter(struct rpcrdma_engine *) RR_MUST_CHECK;
void rr_engine_leave(struct rpcrdma_engine *);
/* rpcrdma_engine_process, of a thread that has entered. */
int rr_engine_turn(struct rpcrdma_engine *, int timeout_ms);
/* True in callbacks. */
bool rr_engine_inside(const struct rpcrdma_engine *);
rr_time rr_engine_clock(void);
/* A sum that stays at RR_TIME_NEVER. */
static inline rr_time rr_after(rr_time t, uint64_t ns)
{
	return ns > RR_TIME_NEVER - t ? RR_TIME_NEVER : t + ns;
}

void rr_stats_add(struct rpcrdma_stats *to, const struct rpcrdma_stats *from);

#endif
