/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of equally sized elements, in an array that doubles when necessary.  So an
 * idle connection uses little memory, and a busy connection seldom allocates.  A
 * pointer to an element is valid until the next rr_ring_reserve.
 */
#ifndef RR_BASE_RING_H
#define RR_BASE_RING_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct rr_ring {
	uint8_t *mem;
	uint32_t size; /* octets per element */
	uint32_t cap;  /* elements allocated */
	uint32_t head, count;
};

static inline void rr_ring_init(struct rr_ring *r, size_t size)
{
	*r = (struct rr_ring){.size = (uint32_t)size};
}

static inline void rr_ring_fini(struct rr_ring *r)
{
	free(r->mem);
	*r = (struct rr_ring){.size = r->size};
}

static inline void *rr_ring_at(const struct rr_ring *r, uint32_t i)
{
	uint32_t at = r->head + i;

	return r->mem + (size_t)(at < r->cap ? at : at - r->cap) * r->size;
}

static inline void *rr_ring_first(const struct rr_ring *r)
{
	return r->count ? rr_ring_at(r, 0) : NULL;
}

static inline int rr_ring_grow(struct rr_ring *r, uint32_t want)
{
	uint32_t cap = RR_MAX(RR_MAX(2 * r->cap, 8u), want), tail;
	uint8_t *mem;

	mem = malloc((size_t)cap * r->size);
	if (!mem)
		return -ENOMEM;
	tail = RR_MIN(r->count, r->cap - r->head);
	if (r->count) {
		memcpy(mem, r->mem + (size_t)r->head * r->size, (size_t)tail * r->size);
		memcpy(mem + (size_t)tail * r->size, r->mem,
		       (size_t)(r->count - tail) * r->size);
	}
	free(r->mem);
	r->mem = mem;
	r->cap = cap;
	r->head = 0;
	return 0;
}

/* Allocates space for @want elements in total, so that pushing them cannot fail.
 * Returns 0 or -ENOMEM. */
static inline int rr_ring_reserve(struct rr_ring *r, uint32_t want)
{
	return want <= r->cap ? 0 : rr_ring_grow(r, want);
}

/* Appends an uninitialized element and returns it.  Space must have been reserved. */
static inline void *rr_ring_push(struct rr_ring *r)
{
	RR_ASSERT(r->count < r->cap);
	return rr_ring_at(r, r->count++);
}

/* Removes the first @n elements. */
static inline void rr_ring_pop(struct rr_ring *r, uint32_t n)
{
	RR_ASSERT(n <= r->count);
	r->count -= n;
	r->head += n;
	if (r->head >= r->cap)
		r->head -= r->cap;
}

#endif
