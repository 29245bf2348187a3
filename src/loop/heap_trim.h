/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns free heap pages to the system after many connections have ended.
 *
 * A connection's small objects are allocated by malloc.  After a burst of connections,
 * the freed objects have lower addresses than objects still in use, and free() does not
 * return such memory to the system.  So one second after 64 connections have ended, the
 * engine calls malloc_trim().
 */
#ifndef RR_LOOP_HEAP_TRIM_H
#define RR_LOOP_HEAP_TRIM_H

#include "loop/timer.h"

struct rr_heap {
	unsigned ended; /* number of connections that ended since the last trim */
	struct rr_timer timer;
};

void rr_heap_init(struct rr_heap *);
/* Counts a connection whose memory was freed, and starts the timer if needed. */
void rr_heap_ended(struct rr_heap *, struct rr_timers *, rr_time now);

#endif
