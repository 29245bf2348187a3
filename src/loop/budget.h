/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The budget of memory that peers can make this process use: one for all engines,
 * connections and threads.
 *
 * A connection is a holder.  It pays a fixed price for its Receives.  Each of its
 * requests claims all the memory that it may need at once: for the octets to pull and
 * for the results.  A claim that does not fit waits, and gets no part of the memory
 * before all of it is available.  So requests that have memory never wait for more, and
 * give it back.
 *
 * The claims of one holder are served in order of arrival, within the holder's own
 * limit; only the first of them waits for the budget.  Holders wait in two queues, each
 * in order of arrival: "first" for those that hold nothing, "rest" for the others.  A
 * holder whose last request has ended moves to "first".  So a connection with many
 * requests delays its own, not those of a new connection, and every holder is served in
 * the end.  Part of the budget is kept for each step of that order:
 *
 *   rest   up to 7/8 of the limit
 *   first  up to 15/16
 *   a small claim of a holder that holds nothing: all of it, without a queue
 *
 * Fixed prices take at most 3/8 of the limit and a claim at most 1/2, so every claim
 * fits once the others have ended.
 *
 * Threads: while no holder waits, to claim, to give back and to extend are one atomic
 * operation each.  The lock is taken to wait, and while others wait.  A holder belongs
 * to one engine, which is notified by the holder's wake function; that only posts.
 */
#ifndef RR_LOOP_BUDGET_H
#define RR_LOOP_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/list.h"
#include <rpcrdma/rpcrdma.h>

enum {
	RR_BUDGET_SMALL = 16384, /* largest claim that may be served without a queue */
	RR_BUDGET_LEAST = 1 << 20, /* smallest limit */
};

struct rr_budget {
	_Atomic uint64_t limit;
	_Atomic uint64_t used;    /* in total */
	_Atomic uint64_t fixed;   /* part of @used: fixed prices of connections */
	_Atomic unsigned waiting; /* holders in the queues */
	_Atomic uint64_t waits, refused, ended;
	pthread_mutex_t lock;       /* guards these: */
	struct rr_list first, rest; /* queues: rr_holder.link */
	uint64_t wanted;            /* octets, by all holders that wait */
	struct rr_list watches;     /* rr_budget_watch.link */
};

/* Returns the budget of the process. */
struct rr_budget *rr_budget_process(void);
/* In a child of fork(): resets the budget, since the child holds none of the memory. */
void rr_budget_forget(void);
void rr_budget_init(struct rr_budget *, uint64_t limit);
void rr_budget_fini(struct rr_budget *);

/* The claim of one request. */
struct rr_claim {
	struct rr_list link; /* in rr_holder.claims; initialized by the caller */
	uint64_t bytes;
	/* Called in the holder's thread when all of it is reserved. */
	void (*granted)(struct rr_claim *);
};

struct rr_holder {
	struct rr_budget *budget;
	uint64_t limit;                   /* of @used */
	_Atomic uint64_t used;            /* by its requests */
	uint64_t fixed;                   /* price paid */
	struct rr_list claims;            /* that wait; used in the holder's thread */
	void (*wake)(struct rr_holder *); /* in any thread, with the lock held */
	/* Guarded by the budget's lock: */
	struct rr_list link;
	uint64_t wanted; /* by the first claim */
	bool queued;     /* the first claim waits for the budget */
	bool granted;    /* ... and was served; rr_holder_woken reports it */
	bool waking;     /* wake was called, rr_holder_woken was not yet */
};

/* @wake must have rr_holder_woken called in the holder's thread. */
void rr_holder_init(struct rr_holder *, struct rr_budget *, uint64_t limit,
                    void (*wake)(struct rr_holder *));
/* Gives back the fixed price.  No claim may wait and nothing else may be held.  The
 * owner withdraws what @wake has posted. */
void rr_holder_fini(struct rr_holder *);
/* Adds @bytes to the fixed price; false: refused. */
bool rr_holder_pay(struct rr_holder *, uint64_t bytes) RR_MUST_CHECK;

/* Makes a claim.  Returns 1 if the memory is reserved; 0 if the claim waits: then
 * granted is called later, unless the claim is withdrawn; -ENOMEM if it can never
 * fit. */
int rr_holder_claim(struct rr_holder *, struct rr_claim *) RR_MUST_CHECK;
/* Withdraws a claim that waits. */
void rr_holder_leave(struct rr_holder *, struct rr_claim *);
/* Gives @bytes back, and serves the holder's claims as far as possible. */
void rr_holder_give(struct rr_holder *, uint64_t bytes);
/* Reports a served claim; see @wake. */
void rr_holder_woken(struct rr_holder *);

/* Takes @bytes more for a request whose claim was served.  Returns false instead of
 * waiting.  Any thread. */
bool rr_holder_extend(struct rr_holder *, uint64_t bytes) RR_MUST_CHECK;
/* The same, beyond the limits, for memory that is in use already. */
void rr_holder_charge(struct rr_holder *, uint64_t bytes);

/* @begin is called when holders begin to wait; in any thread, with the lock held. */
struct rr_budget_watch {
	struct rr_list link;
	void (*begin)(struct rr_budget_watch *);
};
void rr_budget_watch(struct rr_budget *, struct rr_budget_watch *);
void rr_budget_unwatch(struct rr_budget *, struct rr_budget_watch *);
/* Returns the octets that holders wait for; 0: none waits. */
uint64_t rr_budget_wanted(struct rr_budget *);

#endif
