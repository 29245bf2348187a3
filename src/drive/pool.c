/* SPDX-License-Identifier: BSD-3-Clause */
#include "drive/pool.h"

#include <stdlib.h>

void rr_pool_init(struct rr_pool *p, size_t cache_limit)
{
	*p = (struct rr_pool){.cache_limit = cache_limit};
}

void rr_pool_fini(struct rr_pool *p)
{
	for (unsigned i = 0; i < RR_POOL_CLASSES; i++) {
		while (p->free[i]) {
			struct rr_pool_free *f = p->free[i];

			p->free[i] = f->next;
			free(f);
		}
	}
}

/* The class that holds @bytes, or RR_POOL_CLASSES if none does. */
static unsigned class_of(size_t bytes)
{
	unsigned c = 0;

	while (c < RR_POOL_CLASSES && ((size_t)1 << (RR_POOL_MIN_SHIFT + c)) < bytes)
		c++;
	return c;
}

void *rr_pool_get(struct rr_pool *p, size_t bytes)
{
	unsigned c = class_of(bytes);
	size_t size;
	void *m;

	if (c == RR_POOL_CLASSES)
		return NULL;
	size = (size_t)1 << (RR_POOL_MIN_SHIFT + c);
	if (p->free[c]) {
		m = p->free[c];
		p->free[c] = p->free[c]->next;
		p->cached_bytes -= size;
	} else {
		m = aligned_alloc(64, size);
		if (!m)
			return NULL;
	}
	p->used_bytes += size;
	if (p->used_bytes > p->peak_bytes)
		p->peak_bytes = p->used_bytes;
	return m;
}

void rr_pool_put(struct rr_pool *p, void *m, size_t bytes)
{
	unsigned c = class_of(bytes);
	size_t size;

	if (!m)
		return;
	RR_ASSERT(c < RR_POOL_CLASSES);
	size = (size_t)1 << (RR_POOL_MIN_SHIFT + c);
	RR_ASSERT(p->used_bytes >= size);
	p->used_bytes -= size;
	if (p->cached_bytes + size > p->cache_limit) {
		free(m);
		return;
	}
	((struct rr_pool_free *)m)->next = p->free[c];
	p->free[c] = m;
	p->cached_bytes += size;
}
