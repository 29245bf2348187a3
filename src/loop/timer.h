/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one engine: a binary heap over embedded nodes.  A node knows its
 * place, so that stopping it is O(log n) and stopping it twice is harmless.
 *
 * What must be able to start whenever it has to is promised a place: that takes
 * memory once, where a failure can still be told.
 */
#ifndef RR_DRIVE_TIMER_H
#define RR_DRIVE_TIMER_H

#include "base/base.h"

struct rr_timer {
	rr_time when;
	size_t place; /* 1-based index in the heap; 0 = not running */
	bool promised;
	void (*fire)(struct rr_timer *);
};

struct rr_timers {
	struct rr_timer **heap; /* [1..count] */
	size_t count, room;
	size_t owed; /* places promised to timers that do not run */
};

void rr_timers_fini(struct rr_timers *);
/* From here on rr_timer_set does not fail for @t.  -ENOMEM. */
int rr_timer_promise(struct rr_timers *, struct rr_timer *t) RR_MUST_CHECK;
/* Stops @t and takes the promise back, if there is one. */
void rr_timer_release(struct rr_timers *, struct rr_timer *t);
/* Starts or moves @t; -ENOMEM only if it was neither running nor promised. */
int rr_timer_set(struct rr_timers *, struct rr_timer *t, rr_time when) RR_MUST_CHECK;
void rr_timer_stop(struct rr_timers *, struct rr_timer *t);
rr_time rr_timers_next(const struct rr_timers *);
/* Fires what is due; a timer is stopped before its function runs. */
void rr_timers_run(struct rr_timers *, rr_time now);

#endif
