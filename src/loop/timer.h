/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one engine: a binary heap of embedded nodes.  Each node contains its index,
 * so stopping a timer is O(log n), and stopping it twice is harmless.
 *
 * A place can be reserved for a timer whose start must not fail later.  Reserving
 * allocates memory, and can fail.
 */
#ifndef RR_LOOP_TIMER_H
#define RR_LOOP_TIMER_H

#include "base/base.h"

struct rr_timer {
	rr_time when;
	size_t place; /* index in the heap, from 1; 0 = not running */
	bool reserved;
	void (*fire)(struct rr_timer *);
};

struct rr_timers {
	struct rr_timer **heap; /* [1..count] */
	size_t count, room;
	size_t n_reserved; /* number of reserved places whose timers do not run */
};

void rr_timers_fini(struct rr_timers *);
/* Reserves a place, so that rr_timer_set cannot fail for @t afterwards.  Returns 0 or
 * -ENOMEM. */
int rr_timer_reserve(struct rr_timers *, struct rr_timer *t) RR_MUST_CHECK;
/* Stops @t and cancels its reservation, if there is one. */
void rr_timer_release(struct rr_timers *, struct rr_timer *t);
/* Starts @t, or changes its time if it is running.  Returns 0 or -ENOMEM; never -ENOMEM
 * for a timer that is running or has a reservation. */
int rr_timer_set(struct rr_timers *, struct rr_timer *t, rr_time when) RR_MUST_CHECK;
void rr_timer_stop(struct rr_timers *, struct rr_timer *t);
/* Returns the time of the first timer, or RR_TIME_NEVER if none runs. */
rr_time rr_timers_next(const struct rr_timers *);
/* Stops each timer that is due, and calls its function. */
void rr_timers_run(struct rr_timers *, rr_time now);

#endif
