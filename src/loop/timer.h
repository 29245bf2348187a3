/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one engine: a binary heap of embedded nodes.  A node knows its place, so
 * stopping a timer is O(log n), and stopping it twice is harmless.
 *
 * A timer that must always be able to start reserves its place.  The memory is
 * allocated then, where a failure can still be returned.
 */
#ifndef RR_LOOP_TIMER_H
#define RR_LOOP_TIMER_H

#include "base/base.h"

struct rr_timer {
	rr_time when;
	size_t place; /* 1-based index in the heap; 0 = not running */
	bool reserved;
	void (*fire)(struct rr_timer *);
};

struct rr_timers {
	struct rr_timer **heap; /* [1..count] */
	size_t count, room;
	size_t n_reserved; /* places reserved for timers that do not run */
};

void rr_timers_fini(struct rr_timers *);
/* Reserves a place: rr_timer_set cannot fail for @t afterwards.  -ENOMEM. */
int rr_timer_reserve(struct rr_timers *, struct rr_timer *t) RR_MUST_CHECK;
/* Stops @t and cancels its reservation, if there is one. */
void rr_timer_release(struct rr_timers *, struct rr_timer *t);
/* Starts or moves @t.  -ENOMEM only if @t neither runs nor has a reservation. */
int rr_timer_set(struct rr_timers *, struct rr_timer *t, rr_time when) RR_MUST_CHECK;
void rr_timer_stop(struct rr_timers *, struct rr_timer *t);
/* Returns the earliest time, or RR_TIME_NEVER. */
rr_time rr_timers_next(const struct rr_timers *);
/* Runs the functions of due timers, each after its timer was stopped. */
void rr_timers_run(struct rr_timers *, rr_time now);

#endif
