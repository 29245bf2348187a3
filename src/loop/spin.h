/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a wait for events begins by polling.
 *
 * Polling saves the time that it takes to wake a thread, but costs processor time.  It
 * pays if the next event usually arrives within the polling time.  After several waits
 * in a row in which polling found no event, most waits sleep at once.  One wait in
 * SPIN_TRY still polls, and if it finds an event, all waits poll again.
 *
 * Invariant: an event that is already there when the wait begins proves nothing, and is
 * not counted.
 */
#ifndef RR_LOOP_SPIN_H
#define RR_LOOP_SPIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RR_SPIN_MISSES = 8, /* vain polls in a row after which waits sleep at once */
	RR_SPIN_TRY = 64,   /* after that, one wait in so many polls */
};

struct rr_spin {
	uint64_t ns;      /* polling time; 0 = never poll */
	unsigned misses;  /* vain polls in a row, at most RR_SPIN_MISSES */
	unsigned skipped; /* waits since the last poll that slept at once */
};

/* Returns true if the next wait should begin by polling for s->ns. */
bool rr_spin_begin(struct rr_spin *s);
/* Records whether polling found an event. */
void rr_spin_end(struct rr_spin *s, bool found);

#endif
