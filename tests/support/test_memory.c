/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "test_memory.h"

struct fault fault_memory;
_Atomic long live_blocks;

static void *counted(void *p)
{
	live_blocks += p != NULL;
	return p;
}

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void *__real_mmap(void *, size_t, int, int, int, off_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_aligned_alloc(size_t, size_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
void __wrap_free(void *);

void *__wrap_malloc(size_t n)
{
	return fault_hit(&fault_memory) ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fault_hit(&fault_memory) ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	void *q = fault_hit(&fault_memory) ? NULL : __real_realloc(p, n);

	return p ? q : counted(q);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return fault_hit(&fault_memory) ? NULL
	                                : counted(__real_aligned_alloc(align, n));
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return fault_hit(&fault_memory) ? MAP_FAILED
	                                : __real_mmap(at, n, prot, flags, fd, offset);
}

void __wrap_free(void *p)
{
	live_blocks -= p != NULL;
	__real_free(p);
}

char *__wrap_strdup(const char *);
char *__wrap_strndup(const char *, size_t);

static char *copy_of(const char *s, size_t n)
{
	char *p = __wrap_malloc(n + 1);

	if (p) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}

char *__wrap_strndup(const char *s, size_t most)
{
	return copy_of(s, strnlen(s, most));
}

char *__wrap_strdup(const char *s)
{
	return copy_of(s, strlen(s));
}

/* Most of an engine's memory comes from its pool, which allocates few blocks. */
struct rr_pool;

void *__real_rr_pool_get(struct rr_pool *, size_t);
void __real_rr_pool_put(struct rr_pool *, void *, size_t);
void *__wrap_rr_pool_get(struct rr_pool *, size_t);
void __wrap_rr_pool_put(struct rr_pool *, void *, size_t);

void *__wrap_rr_pool_get(struct rr_pool *p, size_t n)
{
	return fault_hit(&fault_memory) ? NULL : counted(__real_rr_pool_get(p, n));
}

void __wrap_rr_pool_put(struct rr_pool *p, void *m, size_t n)
{
	live_blocks -= m != NULL;
	__real_rr_pool_put(p, m, n);
}
