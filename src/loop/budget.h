/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The budget limits the memory that peers can make this process use.  All engines,
 * connections and threads share one budget.
 *
 * Each connection is a holder.  A fixed amount is reserved for its Receives.  Each of
 * its requests makes one claim for all the memory that the request may need, both for
 * arguments to fetch by RDMA Read and for results.  A claim that does not fit waits,
 * and gets no memory until all of it is available.  So a request that has memory never
 * waits for more.  A request releases its memory when it ends.
 *
 * The claims of one holder are served in order of arrival, within the holder's own
 * limit; only its first claim waits for the budget.  Holders wait in two queues, each
 * in order of arrival: "first" for holders without requests or exposed replies that use
 * memory, "rest" for the others.  A holder whose last request has ended moves to
 * "first".  So a connection
 * with many requests delays its own requests, not those of a new connection, and every
 * holder is served in the end.  How much of the budget may be in use after a claim is
 * served depends on the queue:
 *
 *   rest   7/8 of the limit
 *   first  15/16 of the limit
 *   none   the limit (a small claim whose holder uses no memory does not queue)
 *
 * Fixed amounts take at most 3/8 of the limit, and one claim at most 1/2, so every
 * claim fits when the other requests have ended.
 *
 * Threads: while no holder waits, claiming and releasing take no lock; extending never
 * takes a lock.  A holder belongs to one engine.  The holder's wake function only posts
 * to the engine.
 */
#ifndef RR_LOOP_BUDGET_H
#define RR_LOOP_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/list.h"
#include <rpcrdma/rpcrdma.h>

enum {
	RR_BUDGET_SMALL = 16384,   /* octets in the largest claim that need not queue */
	RR_BUDGET_LEAST = 1 << 20, /* smallest limit, octets */
};

struct rr_budget {
	_Atomic uint64_t limit;
	_Atomic uint64_t used;    /* octets reserved, in total */
	_Atomic uint64_t fixed;   /* fixed amounts of all holders; included in @used */
	_Atomic uint64_t exposed; /* octets of replies that peers may read; included in
	                           * @used */
	_Atomic unsigned waiting; /* number of holders in the queues */
	_Atomic uint64_t waits, refused, ended;
	pthread_mutex_t lock;       /* guards the following members */
	struct rr_list first, rest; /* queues: rr_holder.link */
	uint64_t wanted;            /* octets that all waiting holders need */
	struct rr_list watches;     /* rr_budget_watch.link */
};

/* Returns the budget of the process. */
struct rr_budget *rr_budget_process(void);
/* Called in a child of fork(): resets the budget, since the child has no
 * connections. */
void rr_budget_forget(void);
void rr_budget_init(struct rr_budget *, uint64_t limit);
void rr_budget_fini(struct rr_budget *);

/* The claim of one request. */
struct rr_claim {
	struct rr_list link; /* in rr_holder.claims; initialized by the caller */
	uint64_t bytes;
	/* Called in the holder's thread when all @bytes are reserved. */
	void (*granted)(struct rr_claim *);
};

struct rr_holder {
	struct rr_budget *budget;
	uint64_t limit;            /* upper bound of @used, octets */
	_Atomic uint64_t used;     /* octets reserved for requests */
	uint64_t fixed;            /* octets reserved for the holder itself */
	uint64_t exposed;          /* octets reserved for exposed replies; used in the
	                        * holder's thread */
	_Atomic uint64_t in_place; /* the part of @exposed that lies in memory reserved
	                            * for requests; does not count towards @limit */
	struct rr_list claims;     /* waiting claims; used in the holder's thread */
	void (*wake)(struct rr_holder *); /* called in any thread, with the lock held */
	/* Guarded by the budget's lock: */
	struct rr_list link;
	uint64_t wanted; /* octets of the first claim */
	bool queued;     /* the first claim waits for the budget */
	/* the first claim has its memory, but granted() has not been called yet */
	bool granted;
	bool waking; /* wake() was called, rr_holder_woken() not yet */
};

/* Initializes a holder.  @wake must cause rr_holder_woken to be called in the holder's
 * thread. */
void rr_holder_init(struct rr_holder *, struct rr_budget *, uint64_t limit,
                    void (*wake)(struct rr_holder *));
/* Releases the fixed amount.  The holder must have no claims, and no memory reserved
 * for requests or exposed replies.  The caller must withdraw the post made by the
 * holder's wake function. */
void rr_holder_fini(struct rr_holder *);
/* Adds @bytes to the fixed amount.  Returns false if that would exceed the budget. */
bool rr_holder_pay(struct rr_holder *, uint64_t bytes) RR_MUST_CHECK;

/* Returns true if the fixed amounts of all holders, increased by @bytes, are at most
 * half of their limit. */
bool rr_budget_spares(const struct rr_budget *, uint64_t bytes);

/* Makes a claim.  Returns 1 if the memory has been reserved, 0 if the claim waits, or
 * -ENOMEM if the claim can never be served.  If the claim waits, its granted function
 * is called later, unless the claim is withdrawn. */
int rr_holder_claim(struct rr_holder *, struct rr_claim *) RR_MUST_CHECK;
/* Withdraws a waiting claim. */
void rr_holder_leave(struct rr_holder *, struct rr_claim *);
/* Releases @bytes, and serves the holder's claims as far as possible. */
void rr_holder_give(struct rr_holder *, uint64_t bytes);
/* Calls the function granted() of each claim that has received its memory; see
 * rr_holder.wake. */
void rr_holder_woken(struct rr_holder *);

/* Reserves @bytes more for a request whose claim was served.  Never waits, but returns
 * false if that would exceed a limit.  May be called in any thread. */
bool rr_holder_extend(struct rr_holder *, uint64_t bytes) RR_MUST_CHECK;
/* Reserves @bytes for a reply that the peer may read.  Never waits, but returns false
 * if that would exceed the budget, or if all holders would expose more than @most
 * octets.  The holder's own limit does not apply.  In the holder's thread. */
bool rr_holder_expose(struct rr_holder *, uint64_t bytes, uint64_t most,
                      bool in_place) RR_MUST_CHECK;
/* Releases memory that rr_holder_expose reserved. */
void rr_holder_unexpose(struct rr_holder *, uint64_t bytes, bool in_place);
/* Reserves @bytes regardless of the limits, for memory that is in use already. */
void rr_holder_charge(struct rr_holder *, uint64_t bytes);

/* An observer of the queues. */
struct rr_budget_watch {
	struct rr_list link;
	/* Called when the first holder begins to wait.  May be called in any thread.
	 * The caller holds the budget's lock. */
	void (*begin)(struct rr_budget_watch *);
};
void rr_budget_watch(struct rr_budget *, struct rr_budget_watch *);
void rr_budget_unwatch(struct rr_budget *, struct rr_budget_watch *);
/* Returns the number of octets that all waiting holders need. */
uint64_t rr_budget_wanted(struct rr_budget *);

#endif
