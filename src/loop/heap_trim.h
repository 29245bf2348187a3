/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns free pages of the heap to the system after many connections have ended.
 *
 * The small objects of a connection come from malloc.  After a burst of connections the
 * memory of those that ended lies below memory still in use, and malloc keeps all of
 * it.  One second after the 64th connection has ended, the engine calls malloc_trim().
 */
#ifndef RR_LOOP_HEAP_H
#define RR_LOOP_HEAP_H

#include "loop/timer.h"

struct rr_heap {
	unsigned ended; /* connections since the last trim */
	struct rr_timer timer;
};

void rr_heap_init(struct rr_heap *);
/* Counts a connection whose memory was freed. */
void rr_heap_ended(struct rr_heap *, struct rr_timers *, rr_time now);

#endif
