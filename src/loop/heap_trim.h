/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives the heap's free pages back to the system after many connections have ended.
 *
 * A connection's small pieces come from malloc.  After a burst of connections those
 * that stay, or what an application allocated meanwhile, lie above the free memory of
 * those that ended, and malloc keeps all of it.  One second after the 64th end the
 * engine asks malloc to return what is free (malloc_trim).
 */
#ifndef RR_DRIVE_HEAP_H
#define RR_DRIVE_HEAP_H

#include "loop/timer.h"

struct rr_heap {
	unsigned ended; /* connections, since malloc was asked last */
	struct rr_timer timer;
};

void rr_heap_init(struct rr_heap *);
/* A connection's memory was freed. */
void rr_heap_ended(struct rr_heap *, struct rr_timers *, rr_time now);

#endif
