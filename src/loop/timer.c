/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers; contract in timer.h. */
#include "loop/timer.h"

#include <stdlib.h>

void rr_timers_fini(struct rr_timers *h)
{
	free(h->heap);
	*h = (struct rr_timers){0};
}

static void set_heap_place(struct rr_timers *h, size_t i, struct rr_timer *t)
{
	h->heap[i] = t;
	t->place = i;
}

static void sift_timer(struct rr_timers *h, size_t i)
{
	struct rr_timer *t = h->heap[i];

	while (i > 1 && h->heap[i / 2]->when > t->when) {
		set_heap_place(h, i, h->heap[i / 2]);
		i /= 2;
	}
	for (;;) {
		size_t kid = 2 * i;

		if (kid > h->count)
			break;
		if (kid < h->count && h->heap[kid + 1]->when < h->heap[kid]->when)
			kid++;
		if (h->heap[kid]->when >= t->when)
			break;
		set_heap_place(h, i, h->heap[kid]);
		i = kid;
	}
	set_heap_place(h, i, t);
}

/* Grows the array, if needed, so that one more timer fits in addition to those that run
 * or have a reservation.  Index 0 is not used. */
static int grow_heap(struct rr_timers *h)
{
	size_t room = h->room ? 2 * h->room : 32;
	struct rr_timer **heap;

	if (h->count + h->n_reserved + 2 <= h->room)
		return 0;
	heap = realloc(h->heap, room * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	h->heap = heap;
	h->room = room;
	return 0;
}

int rr_timer_reserve(struct rr_timers *h, struct rr_timer *t)
{
	if (t->reserved)
		return 0;
	if (!t->place) {
		if (grow_heap(h))
			return -ENOMEM;
		h->n_reserved++;
	}
	t->reserved = true;
	return 0;
}

void rr_timer_release(struct rr_timers *h, struct rr_timer *t)
{
	rr_timer_stop(h, t);
	h->n_reserved -= t->reserved;
	t->reserved = false;
}

int rr_timer_set(struct rr_timers *h, struct rr_timer *t, rr_time when)
{
	if (!t->place) {
		if (t->reserved)
			h->n_reserved--;
		else if (grow_heap(h))
			return -ENOMEM;
		set_heap_place(h, ++h->count, t);
	}
	t->when = when;
	sift_timer(h, t->place);
	return 0;
}

void rr_timer_stop(struct rr_timers *h, struct rr_timer *t)
{
	size_t i = t->place;
	struct rr_timer *last;

	if (!i)
		return;
	last = h->heap[h->count--];
	t->place = 0;
	h->n_reserved += t->reserved;
	if (last != t) {
		set_heap_place(h, i, last);
		sift_timer(h, i);
	}
}

rr_time rr_timers_next(const struct rr_timers *h)
{
	return h->count ? h->heap[1]->when : RR_TIME_NEVER;
}

void rr_timers_run(struct rr_timers *h, rr_time now)
{
	/* @n keeps timers that restart themselves from making this loop endless. */
	for (size_t n = h->count; n > 0 && h->count && h->heap[1]->when <= now; n--) {
		struct rr_timer *t = h->heap[1];

		rr_timer_stop(h, t);
		t->fire(t);
	}
}
