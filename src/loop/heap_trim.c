/* SPDX-License-Identifier: BSD-3-Clause */
/* Trims the heap after many connections; contract in heap_trim.h. */
#include "loop/heap_trim.h"

#include <malloc.h>

enum { MANY = 64 };

static const uint64_t TRIM_DELAY_NS = 1000000000u;

static void trim_heap(struct rr_timer *t)
{
	struct rr_heap *h = rr_container_of(t, struct rr_heap, timer);

	h->ended = 0;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void rr_heap_init(struct rr_heap *h)
{
	*h = (struct rr_heap){.timer.fire = trim_heap};
}

void rr_heap_ended(struct rr_heap *h, struct rr_timers *timers, rr_time now)
{
	if (++h->ended < MANY || h->timer.place)
		return;
	/* If this fails, the next connection that ends starts the timer. */
	(void)!rr_timer_set(timers, &h->timer, now + TRIM_DELAY_NS);
}
