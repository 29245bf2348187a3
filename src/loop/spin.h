/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a wait for events begins by polling.
 *
 * Polling saves the time that it takes to wake a thread, but costs processor time.  It
 * pays if the next event usually arrives within the polling time.  After several waits
 * in a row in which polling found no event, most waits sleep at once.  One wait in
 * RR_SPIN_TRY still polls, and if it finds an event, all waits poll again.
 *
 * An event that is available before the wait begins is not counted, because it does not
 * show that polling helps.
 */
#ifndef RR_LOOP_SPIN_H
#define RR_LOOP_SPIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RR_SPIN_MISSES = 8, /* failed polls in a row after which waits sleep at once */
	RR_SPIN_TRY = 64,   /* after that, one wait in RR_SPIN_TRY polls */
};

struct rr_spin {
	uint64_t ns;      /* polling time; 0 = never poll */
	unsigned misses;  /* failed polls in a row, at most RR_SPIN_MISSES */
	unsigned skipped; /* waits since the last poll that slept at once */
};

/* Returns true if the next wait should begin by polling for s->ns. */
bool rr_spin_begin(struct rr_spin *s);
/* Records whether polling found an event. */
void rr_spin_end(struct rr_spin *s, bool found);

#endif
