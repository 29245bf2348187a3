/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that peers can make this process hold: one budget for all engines,
 * connections and threads.
 *
 * A connection is a holder.  It pays a fixed price for its Receives, and each of
 * its requests claims all it can need in one step: octets to pull and room for
 * results.  A claim that does not fit waits; its holder has nothing of it until all
 * of it is there, so those who have memory never wait for more, and give it back.
 *
 * Claims of one holder are served in order of arrival and within the holder's own
 * limit; only the first of them asks the budget.  Holders wait in two queues, each
 * in order of arrival: first those that hold nothing, then the rest.  A holder whose
 * last request has ended moves to the first queue.  So a connection with many
 * requests delays its own, not those of a newcomer, and no holder is passed over for
 * ever.  A share of the budget is kept for each step of that order:
 *
 *   rest   up to 7/8 of the limit
 *   first  up to 15/16
 *   a small claim of a holder that holds nothing: all of it, without a queue
 *
 * Fixed prices take at most 3/8 and a claim at most a half, so a claim that waits
 * fits when the others have ended.
 *
 * Threads: asking, giving back and extending are one atomic operation while nobody
 * waits.  The lock is taken to wait and while others wait.  A holder belongs to one
 * engine; it hears of its turn through its wake function, which only posts.
 */
#ifndef RR_DRIVE_BUDGET_H
#define RR_DRIVE_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/list.h"
#include <rpcrdma/rpcrdma.h>

enum {
	RR_BUDGET_SMALL = 16384,   /* a claim that may be served without a queue */
	RR_BUDGET_LEAST = 1 << 20, /* of the limit */
};

struct rr_budget {
	_Atomic uint64_t limit;
	_Atomic uint64_t used;    /* all of it */
	_Atomic uint64_t fixed;   /* of that, prices of connections */
	_Atomic unsigned waiting; /* holders in the queues */
	_Atomic uint64_t waits, refused, ended;
	pthread_mutex_t lock;       /* guards what follows */
	struct rr_list first, rest; /* rr_holder.link */
	uint64_t wanted;            /* by all that wait */
	struct rr_list watches;     /* rr_budget_watch.link */
};

/* The budget of the process. */
struct rr_budget *rr_budget_process(void);
/* In a child of fork: what the parent holds is not held here. */
void rr_budget_forget(void);
void rr_budget_init(struct rr_budget *, uint64_t limit);
void rr_budget_fini(struct rr_budget *);

/* What one request wants. */
struct rr_claim {
	struct rr_list link; /* rr_holder.claims; initialised */
	uint64_t bytes;
	/* All of it is reserved.  The holder's thread. */
	void (*granted)(struct rr_claim *);
};

struct rr_holder {
	struct rr_budget *budget;
	uint64_t limit;        /* its own, of @used */
	_Atomic uint64_t used; /* by its requests */
	uint64_t fixed;
	struct rr_list claims;            /* those that wait; the holder's thread */
	void (*wake)(struct rr_holder *); /* any thread, with the lock held */
	/* Guarded by the budget's lock: */
	struct rr_list link;
	uint64_t wanted; /* by the first claim */
	bool queued;     /* the first claim asks the budget */
	bool granted;    /* ... and has it, but was not told yet */
	bool waking;     /* wake was called, rr_holder_woken has not run */
};

/* @wake has rr_holder_woken called in the holder's thread. */
void rr_holder_init(struct rr_holder *, struct rr_budget *, uint64_t limit,
                    void (*wake)(struct rr_holder *));
/* Gives back the fixed price.  No claim waits, nothing else is held; the owner takes
 * back what wake has posted. */
void rr_holder_fini(struct rr_holder *);
/* Pays @bytes more of the fixed price; false: refused. */
bool rr_holder_pay(struct rr_holder *, uint64_t bytes) RR_MUST_CHECK;

/* 1: reserved; 0: the claim waits, granted follows unless it leaves; -ENOMEM: it will
 * never fit. */
int rr_holder_claim(struct rr_holder *, struct rr_claim *) RR_MUST_CHECK;
/* A claim that waits does so no longer. */
void rr_holder_leave(struct rr_holder *, struct rr_claim *);
/* Gives @bytes back, and lets the holder's claims go on. */
void rr_holder_give(struct rr_holder *, uint64_t bytes);
void rr_holder_woken(struct rr_holder *);

/* More for a request that has its claim: at once or not at all, since it must not
 * wait.  Any thread. */
bool rr_holder_extend(struct rr_holder *, uint64_t bytes) RR_MUST_CHECK;
/* The same for memory that is in use already. */
void rr_holder_charge(struct rr_holder *, uint64_t bytes);

/* Told when holders begin to wait.  @begin: any thread, with the lock held. */
struct rr_budget_watch {
	struct rr_list link;
	void (*begin)(struct rr_budget_watch *);
};
void rr_budget_watch(struct rr_budget *, struct rr_budget_watch *);
void rr_budget_unwatch(struct rr_budget *, struct rr_budget_watch *);
/* Octets that holders wait for, 0: none waits. */
uint64_t rr_budget_wanted(struct rr_budget *);

#endif
