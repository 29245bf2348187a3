/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one engine: a binary heap over embedded nodes.  A node knows its
 * place, so that stopping it is O(log n) and stopping it twice is harmless.
 */
#ifndef RR_DRIVE_TIMER_H
#define RR_DRIVE_TIMER_H

#include "base/base.h"

struct rr_timer {
	rr_time when;
	size_t place; /* 1-based index in the heap; 0 = not running */
	void (*fire)(struct rr_timer *);
};

struct rr_timers {
	struct rr_timer **heap; /* [1..count] */
	size_t count, room;
};

void rr_timers_fini(struct rr_timers *);
/* Starts or moves @t; -ENOMEM only if it was not running. */
int rr_timer_set(struct rr_timers *, struct rr_timer *t, rr_time when) RR_MUST_CHECK;
void rr_timer_stop(struct rr_timers *, struct rr_timer *t);
rr_time rr_timers_next(const struct rr_timers *);
/* Fires what is due; a timer is stopped before its function runs. */
void rr_timers_run(struct rr_timers *, rr_time now);

#endif
