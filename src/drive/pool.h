/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for Receives, sinks and results: power-of-two classes with a bounded
 * cache of free buffers, so that the data path does not page-fault the same
 * megabyte again for each call.  One pool an engine, one thread.
 */
#ifndef RR_DRIVE_POOL_H
#define RR_DRIVE_POOL_H

#include "base/base.h"

enum { RR_POOL_MIN_SHIFT = 8, RR_POOL_CLASSES = 24 };

struct rr_pool {
	struct rr_pool_free {
		struct rr_pool_free *next;
	} *free[RR_POOL_CLASSES];
	size_t cached_bytes; /* in free lists */
	size_t cache_limit; /* above: freed at once */
	size_t used_bytes; /* lent out */
	size_t peak_bytes;
};

void rr_pool_init(struct rr_pool *, size_t cache_limit);
void rr_pool_fini(struct rr_pool *);
/* 64-octet aligned memory, NULL if there is none. */
void *rr_pool_get(struct rr_pool *, size_t bytes);
void rr_pool_put(struct rr_pool *, void *p, size_t bytes);

#endif
