/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory under a test's eyes: counted, and refused on demand.  The linker puts
 * these functions in front of the real ones (--wrap), so one file includes this.
 */
#ifndef TESTS_E2E_MEMORY_H
#define TESTS_E2E_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Of the events counted from one, those from @from on, @len of them, fail. */
struct fault {
	bool on;
	unsigned long n, from, len;
};

static struct fault memory;
static long live; /* blocks */

static inline bool hit(struct fault *f)
{
	if (!f->on)
		return false;
	f->n++;
	return f->n >= f->from && f->n - f->from < f->len;
}

static inline void *counted(void *p)
{
	live += p != NULL;
	return p;
}

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_aligned_alloc(size_t, size_t);
void __wrap_free(void *);

void *__wrap_malloc(size_t n)
{
	return hit(&memory) ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return hit(&memory) ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	void *q = hit(&memory) ? NULL : __real_realloc(p, n);

	return p ? q : counted(q);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return hit(&memory) ? NULL : counted(__real_aligned_alloc(align, n));
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

/* Most of an engine's memory is of its pool, which takes it from few blocks. */
struct rr_pool;

void *__real_rr_pool_get(struct rr_pool *, size_t);
void __real_rr_pool_put(struct rr_pool *, void *, size_t);
void *__wrap_rr_pool_get(struct rr_pool *, size_t);
void __wrap_rr_pool_put(struct rr_pool *, void *, size_t);

void *__wrap_rr_pool_get(struct rr_pool *p, size_t n)
{
	return hit(&memory) ? NULL : counted(__real_rr_pool_get(p, n));
}

void __wrap_rr_pool_put(struct rr_pool *p, void *m, size_t n)
{
	live -= m != NULL;
	__real_rr_pool_put(p, m, n);
}

#endif
