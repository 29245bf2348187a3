/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits the memory through which a connection's chunks pass at once, so that it stays
 * in the processor's cache.
 *
 * RDMA Reads place the data of a Read chunk, and then the handler uses these data.  The
 * handler makes the data of a Write chunk, and then the provider sends these data.  If
 * many requests did this at once, the data would leave the cache between the two steps.
 * A connection has two paces: one for data being pulled, one for results being sent.
 *
 * Normal path: a job asks rr_pace_enter whether it may start.  A job that must wait is
 * started later, by its go function.  rr_pace_charge counts the octets that a job has
 * in motion, until rr_pace_leave.
 *
 * Invariants: jobs start in the order in which they entered.  A job may always start if
 * no octets are in motion, however long it is.  So every job starts in the end.  This
 * also holds when the connection is lost, because the jobs in motion then end.
 */
#ifndef RR_RPC_PACE_H
#define RR_RPC_PACE_H

#include "base/base.h"
#include "base/list.h"

/* Octets in motion: enough to keep a network busy, and little enough for a cache. */
enum { RR_PACE_BYTES = 2 << 20 };

struct rr_pace {
	uint64_t moving;        /* octets in motion */
	struct rr_list waiting; /* struct rr_paced.link */
};

/* A job.  Part of a request. */
struct rr_paced {
	struct rr_list link;
	uint64_t bytes;   /* octets that the job will have in motion, at most */
	uint64_t charged; /* octets that are counted now */
	/* Starts the job.  Must not call rr_pace_leave for this job. */
	void (*go)(struct rr_paced *);
};

void rr_pace_init(struct rr_pace *);
/* Returns true if the job may start now.  Otherwise its go function is called later,
 * unless it leaves first.  The job's link must be an empty list. */
bool rr_pace_enter(struct rr_pace *, struct rr_paced *) RR_MUST_CHECK;
/* Counts @bytes more octets in motion until the job leaves. */
void rr_pace_charge(struct rr_pace *, struct rr_paced *, uint64_t bytes);
/* Removes the job, which may be waiting, moving or neither. */
void rr_pace_leave(struct rr_pace *, struct rr_paced *);
/* Starts the jobs for which there is room. */
void rr_pace_go(struct rr_pace *);

#endif
