/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Free memory cannot be touched unseen where a sanitizer looks, and what blocks refer
 * to is no leak. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define LEAKED(bytes) RR_ASSERT(!(bytes)) /* the blocks hide it from the sanitizer */
#else
#define __lsan_register_root_region(p, len)   ((void)(p), (void)(len))
#define __lsan_unregister_root_region(p, len) ((void)(p), (void)(len))
#define LEAKED(bytes)                         ((void)(bytes))
#define ASAN_POISON_MEMORY_REGION(p, len)     ((void)(p), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(p, len)   ((void)(p), (void)(len))
#endif

enum {
	UNITS = 1 << (RR_POOL_BLOCK_SHIFT - RR_POOL_MIN_SHIFT),
	ASIDE_MAX = 64,   /* pieces of one class, and ... */
	ASIDE_SHIFT = 20, /* ... octets of them, but for one piece */
};

struct rr_pool_block {
	uint8_t *base;
	/* Of each unit: 1 + the class of the free, merged piece that begins there;
	 * 0: none does. */
	uint8_t starts[UNITS];
};

/* Above a block in quarters: five to eight of them, of one power of two after another.
 */
static size_t size_of(unsigned c)
{
	unsigned k = c - RR_POOL_BLOCK_CLASSES;

	if (c < RR_POOL_BLOCK_CLASSES)
		return (size_t)1 << (RR_POOL_MIN_SHIFT + c);
	return ((size_t)5 + k % 4) * (RR_POOL_BLOCK_BYTES / 4) << (k / 4);
}

/* The class that holds @bytes, or RR_POOL_CLASSES if none does. */
static unsigned class_of(size_t bytes)
{
	unsigned c = 0;

	while (c < RR_POOL_CLASSES && size_of(c) < bytes)
		c++;
	return c;
}

static unsigned aside_max(unsigned c)
{
	unsigned shift = RR_POOL_MIN_SHIFT + c; /* of a block's classes */

	return shift >= ASIDE_SHIFT ? 1
	                            : RR_MIN(1u << (ASIDE_SHIFT - shift), ASIDE_MAX);
}

/* -- memory of the system -------------------------------------------------------- */

/* What is taken in large parts is mapped, not taken from the heap: it goes back to the
 * system whatever small pieces lie beside it. */
static void *map(size_t bytes)
{
	void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	               -1, 0);

	return m == MAP_FAILED ? NULL : m;
}

static void unmap(void *m, size_t bytes)
{
	if (bytes)
		RR_ASSERT(!munmap(m, bytes));
}

/* Returns a block's memory, which begins at a multiple of its length, or NULL. */
static uint8_t *map_block(void)
{
	uint8_t *m = map(2 * RR_POOL_BLOCK_BYTES);
	size_t before;

	if (!m)
		return NULL;
	before = -(uintptr_t)m % RR_POOL_BLOCK_BYTES;
	unmap(m, before);
	unmap(m + before + RR_POOL_BLOCK_BYTES, RR_POOL_BLOCK_BYTES - before);
	m += before;
	__lsan_register_root_region(m, RR_POOL_BLOCK_BYTES);
	ASAN_POISON_MEMORY_REGION(m, RR_POOL_BLOCK_BYTES);
	return m;
}

static void unmap_block(uint8_t *m)
{
	ASAN_UNPOISON_MEMORY_REGION(m, RR_POOL_BLOCK_BYTES);
	__lsan_unregister_root_region(m, RR_POOL_BLOCK_BYTES);
	unmap(m, RR_POOL_BLOCK_BYTES);
}

/* A piece that lies in no block: larger than one, or beyond the last. */
static void *get_alone(unsigned c)
{
	return c < RR_POOL_BLOCK_CLASSES ? aligned_alloc(64, size_of(c))
	                                 : map(size_of(c));
}

static void free_alone(void *m, unsigned c)
{
	ASAN_UNPOISON_MEMORY_REGION(m, size_of(c));
	if (c < RR_POOL_BLOCK_CLASSES)
		free(m);
	else
		unmap(m, size_of(c));
}

/* -- blocks -------------------------------------------------------------------- */

/* The place of the block that holds @p, or where it would be put. */
static unsigned place_of(const struct rr_pool *p, const void *m)
{
	unsigned low = 0, high = p->n_blocks;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if ((uintptr_t)m - (uintptr_t)p->blocks[mid]->base <
		    RR_POOL_BLOCK_BYTES)
			return mid;
		if ((uintptr_t)m < (uintptr_t)p->blocks[mid]->base)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static struct rr_pool_block *block_of(const struct rr_pool *p, const void *m)
{
	unsigned i = place_of(p, m);

	return i < p->n_blocks && (uintptr_t)m - (uintptr_t)p->blocks[i]->base <
	                                  RR_POOL_BLOCK_BYTES
	               ? p->blocks[i]
	               : NULL;
}

static size_t unit_of(const struct rr_pool_block *b, const void *m)
{
	return (size_t)((const uint8_t *)m - b->base) >> RR_POOL_MIN_SHIFT;
}

/* A piece joins the list of its class; the next to be taken, since it is warm. */
static void enlist(struct rr_pool *p, struct rr_pool_block *b, uint8_t *m, unsigned c)
{
	struct rr_list *n = (struct rr_list *)(void *)m;

	ASAN_UNPOISON_MEMORY_REGION(n, sizeof(*n));
	rr_list_push_front(&p->free[c], n);
	b->starts[unit_of(b, m)] = (uint8_t)(c + 1);
}

static void delist(struct rr_pool_block *b, uint8_t *m)
{
	rr_list_del((struct rr_list *)(void *)m);
	b->starts[unit_of(b, m)] = 0;
}

static bool add_block(struct rr_pool *p)
{
	struct rr_pool_block *b;
	unsigned i;

	if (p->n_blocks == RR_POOL_BLOCKS)
		return false;
	b = calloc(1, sizeof(*b));
	if (!b)
		return false;
	b->base = map_block();
	if (!b->base) {
		free(b);
		return false;
	}
	i = place_of(p, b->base);
	memmove(&p->blocks[i + 1], &p->blocks[i],
	        (p->n_blocks - i) * sizeof(struct rr_pool_block *));
	p->blocks[i] = b;
	p->n_blocks++;
	p->cached_bytes += RR_POOL_BLOCK_BYTES;
	enlist(p, b, b->base, RR_POOL_BLOCK_CLASSES - 1);
	return true;
}

/* All of it is free, in one piece. */
static void remove_block(struct rr_pool *p, struct rr_pool_block *b)
{
	unsigned i = place_of(p, b->base);

	delist(b, b->base);
	p->n_blocks--;
	memmove(&p->blocks[i], &p->blocks[i + 1],
	        (p->n_blocks - i) * sizeof(struct rr_pool_block *));
	p->cached_bytes -= RR_POOL_BLOCK_BYTES;
	unmap_block(b->base);
	free(b);
}

static bool too_much(const struct rr_pool *p)
{
	return p->cached_bytes > p->cache_limit && !p->pins;
}

/* -- pieces of blocks ------------------------------------------------------------ */

/* From merged pieces, the smallest that will do; halves that are left over are
 * pieces again. */
static void *take(struct rr_pool *p, unsigned c)
{
	struct rr_pool_block *b;
	unsigned k = c;
	uint8_t *m;

	while (k < RR_POOL_BLOCK_CLASSES && rr_list_empty(&p->free[k]))
		k++;
	if (k == RR_POOL_BLOCK_CLASSES)
		return NULL;
	m = (uint8_t *)rr_list_first(&p->free[k]);
	b = block_of(p, m);
	delist(b, m);
	while (k > c) {
		k--;
		enlist(p, b, m + size_of(k), k);
	}
	return m;
}

static void merge(struct rr_pool *p, struct rr_pool_block *b, uint8_t *m, unsigned c)
{
	RR_ASSERT(!b->starts[unit_of(b, m)]); /* it was free already */
	for (; c < RR_POOL_BLOCK_CLASSES - 1; c++) {
		size_t at = (size_t)(m - b->base), other = at ^ size_of(c);

		if (b->starts[other >> RR_POOL_MIN_SHIFT] != c + 1)
			break;
		delist(b, b->base + other);
		ASAN_POISON_MEMORY_REGION(b->base + other, sizeof(struct rr_list));
		m = b->base + RR_MIN(at, other);
	}
	enlist(p, b, m, c);
	if (c == RR_POOL_BLOCK_CLASSES - 1 && too_much(p))
		remove_block(p, b);
}

/* -- pieces aside ----------------------------------------------------------------- */

static void put_aside(struct rr_pool *p, void *m, unsigned c)
{
	struct rr_pool_free *f = m;

	ASAN_UNPOISON_MEMORY_REGION(f, sizeof(*f));
	f->next = p->aside[c];
	p->aside[c] = f;
	p->n_aside[c]++;
}

static void *take_aside(struct rr_pool *p, unsigned c)
{
	struct rr_pool_free *f = p->aside[c];

	if (f) {
		p->aside[c] = f->next;
		p->n_aside[c]--;
	}
	return f;
}

/* Merges what lies aside: true if that was anything.  Each piece was put there by
 * a rr_pool_put of its own, so this costs no more than merging at once. */
static bool merge_aside(struct rr_pool *p)
{
	bool any = false;
	void *m;

	for (unsigned c = 0; c < RR_POOL_BLOCK_CLASSES; c++) {
		while ((m = take_aside(p, c))) {
			ASAN_POISON_MEMORY_REGION(m, sizeof(struct rr_pool_free));
			merge(p, block_of(p, m), m, c);
			any = true;
		}
	}
	return any;
}

/* -- the pool --------------------------------------------------------------------- */

void rr_pool_init(struct rr_pool *p, size_t cache_limit)
{
	*p = (struct rr_pool){.cache_limit = cache_limit};
	for (unsigned c = 0; c < RR_POOL_BLOCK_CLASSES; c++)
		rr_list_init(&p->free[c]);
}

void rr_pool_fini(struct rr_pool *p)
{
	void *m;

	LEAKED(p->used_bytes);
	for (unsigned c = RR_POOL_BLOCK_CLASSES; c < RR_POOL_CLASSES; c++) {
		while ((m = take_aside(p, c)))
			free_alone(m, c);
	}
	for (unsigned i = 0; i < p->n_blocks; i++) {
		unmap_block(p->blocks[i]->base);
		free(p->blocks[i]);
	}
	rr_pool_init(p, p->cache_limit);
}

/* What is free already, or a block's. */
static void *find(struct rr_pool *p, unsigned c)
{
	void *m = take_aside(p, c);

	if (m || c >= RR_POOL_BLOCK_CLASSES)
		return m;
	m = take(p, c);
	if (!m && merge_aside(p))
		m = take(p, c);
	if (!m && add_block(p))
		m = take(p, c);
	return m;
}

void *rr_pool_get(struct rr_pool *p, size_t bytes)
{
	unsigned c = class_of(bytes);
	void *m;

	if (c == RR_POOL_CLASSES)
		return NULL;
	m = find(p, c);
	if (m) {
		*(c < RR_POOL_BLOCK_CLASSES ? &p->cached_bytes : &p->large_bytes) -=
		        size_of(c);
		ASAN_POISON_MEMORY_REGION(m, size_of(c));
		ASAN_UNPOISON_MEMORY_REGION(m, bytes);
	} else {
		m = get_alone(c);
		if (!m)
			return NULL;
	}
	p->used_bytes += size_of(c);
	if (p->used_bytes > p->peak_bytes)
		p->peak_bytes = p->used_bytes;
	return m;
}

/* Gives up pieces larger than a block until there is room for @bytes more; false: there
 * is none.  What was used last is what will be used next. */
static bool make_room(struct rr_pool *p, size_t bytes)
{
	void *m;

	for (unsigned c = RR_POOL_BLOCK_CLASSES;
	     c < RR_POOL_CLASSES && p->large_bytes + bytes > p->cache_limit; c++) {
		while ((m = take_aside(p, c))) {
			p->large_bytes -= size_of(c);
			free_alone(m, c);
		}
	}
	return p->large_bytes + bytes <= p->cache_limit;
}

/* Memory that is in no block: only larger pieces are kept. */
static void put_alone(struct rr_pool *p, void *m, unsigned c)
{
	if (c < RR_POOL_BLOCK_CLASSES || size_of(c) > p->cache_limit ||
	    !make_room(p, size_of(c))) {
		free_alone(m, c);
		return;
	}
	p->large_bytes += size_of(c);
	ASAN_POISON_MEMORY_REGION(m, size_of(c));
	put_aside(p, m, c);
}

void rr_pool_put(struct rr_pool *p, void *m, size_t bytes)
{
	unsigned c = class_of(bytes);
	struct rr_pool_block *b;

	if (!m)
		return;
	RR_ASSERT(c < RR_POOL_CLASSES && p->used_bytes >= size_of(c));
	p->used_bytes -= size_of(c);
	b = c < RR_POOL_BLOCK_CLASSES ? block_of(p, m) : NULL;
	if (!b) {
		put_alone(p, m, c);
		return;
	}
	p->cached_bytes += size_of(c);
	ASAN_POISON_MEMORY_REGION(m, size_of(c));
	if (!too_much(p) && p->n_aside[c] < aside_max(c)) {
		put_aside(p, m, c);
		return;
	}
	merge(p, b, m, c);
	if (too_much(p))
		(void)merge_aside(p); /* a few small pieces keep no block */
}

bool rr_pool_block(const struct rr_pool *p, const void *m, size_t len, void **ret_base,
                   size_t *ret_len)
{
	const struct rr_pool_block *b = block_of(p, m);

	if (!b || len > RR_POOL_BLOCK_BYTES - (size_t)((const uint8_t *)m - b->base))
		return false;
	*ret_base = b->base;
	*ret_len = RR_POOL_BLOCK_BYTES;
	return true;
}

void rr_pool_pin(struct rr_pool *p)
{
	p->pins++;
}

/* Blocks that are free and too many are given back from the last one on. */
void rr_pool_unpin(struct rr_pool *p)
{
	RR_ASSERT(p->pins);
	if (--p->pins || !too_much(p))
		return;
	(void)merge_aside(p);
	for (unsigned i = p->n_blocks; i-- > 0 && too_much(p);) {
		if (p->blocks[i]->starts[0] == RR_POOL_BLOCK_CLASSES)
			remove_block(p, p->blocks[i]);
	}
}
