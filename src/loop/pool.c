/* SPDX-License-Identifier: BSD-3-Clause */
/* The buddy allocator of an engine; contract in pool.h. */
#include "loop/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Makes AddressSanitizer report any access to the pool's free memory, and LeakSanitizer
 * look for pointers in the blocks, as it does in the heap. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define LEAKED(bytes) RR_ASSERT(!(bytes)) /* LeakSanitizer does not report these */
#else
#define __lsan_register_root_region(p, len)   ((void)(p), (void)(len))
#define __lsan_unregister_root_region(p, len) ((void)(p), (void)(len))
#define LEAKED(bytes)                         ((void)(bytes))
#define ASAN_POISON_MEMORY_REGION(p, len)     ((void)(p), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(p, len)   ((void)(p), (void)(len))
#endif

/* In each class, the cache contains at most CACHE_MAX pieces, with a total of at most
 * 1 << CACHE_SHIFT octets.  One piece may be cached even if it is larger. */
enum {
	UNITS = 1 << (RR_POOL_BLOCK_SHIFT - RR_POOL_MIN_SHIFT),
	CACHE_MAX = 64,
	CACHE_SHIFT = 20,
};

struct rr_pool_block {
	uint8_t *base;
	/* For each unit: 1 + the class of the free, uncached piece that begins there,
	 * or 0 if there is none. */
	uint8_t starts[UNITS];
};

/* Returns the size of class @c.  Classes larger than a block are 5/4, 6/4, 7/4 and 8/4
 * of each power of two. */
static size_t get_class_size(unsigned c)
{
	unsigned k = c - RR_POOL_BLOCK_CLASSES;

	if (c < RR_POOL_BLOCK_CLASSES)
		return (size_t)1 << (RR_POOL_MIN_SHIFT + c);
	return ((size_t)5 + k % 4) * (RR_POOL_BLOCK_BYTES / 4) << (k / 4);
}

/* Returns the class of @bytes, or RR_POOL_CLASSES if there is none. */
static unsigned find_class(size_t bytes)
{
	unsigned c = RR_POOL_BLOCK_CLASSES;

	if (bytes <= (size_t)1 << RR_POOL_MIN_SHIFT)
		return 0;
	if (bytes <= RR_POOL_BLOCK_BYTES) /* each bit more is one class */
		return 64u - (unsigned)__builtin_clzll(bytes - 1) - RR_POOL_MIN_SHIFT;
	while (c < RR_POOL_CLASSES && get_class_size(c) < bytes)
		c++;
	return c;
}

static unsigned get_cache_max(unsigned c)
{
	unsigned shift = RR_POOL_MIN_SHIFT + c; /* @c is a class within blocks */

	return shift >= CACHE_SHIFT ? 1
	                            : RR_MIN(1u << (CACHE_SHIFT - shift), CACHE_MAX);
}

/* -- memory of the system -------------------------------------------------- */

/* Maps memory instead of allocating it on the heap, so that it can be returned to the
 * system regardless of the small objects in use. */
static void *map_pages(size_t bytes)
{
	void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	               -1, 0);

	return m == MAP_FAILED ? NULL : m;
}

static void unmap_pages(void *m, size_t bytes)
{
	if (bytes)
		RR_ASSERT(!munmap(m, bytes));
}

/* Maps a block's memory, aligned to the block size.  Returns NULL on failure. */
static uint8_t *map_block(void)
{
	uint8_t *m = map_pages(2 * RR_POOL_BLOCK_BYTES);
	size_t before;

	if (!m)
		return NULL;
	before = -(uintptr_t)m % RR_POOL_BLOCK_BYTES;
	unmap_pages(m, before);
	unmap_pages(m + before + RR_POOL_BLOCK_BYTES, RR_POOL_BLOCK_BYTES - before);
	m += before;
	__lsan_register_root_region(m, RR_POOL_BLOCK_BYTES);
	ASAN_POISON_MEMORY_REGION(m, RR_POOL_BLOCK_BYTES);
	return m;
}

static void unmap_block(uint8_t *m)
{
	ASAN_UNPOISON_MEMORY_REGION(m, RR_POOL_BLOCK_BYTES);
	__lsan_unregister_root_region(m, RR_POOL_BLOCK_BYTES);
	unmap_pages(m, RR_POOL_BLOCK_BYTES);
}

/* Allocates a piece outside of blocks, because the piece is larger than a block or no
 * more blocks are allowed. */
static void *get_alone(unsigned c)
{
	return c < RR_POOL_BLOCK_CLASSES ? aligned_alloc(64, get_class_size(c))
	                                 : map_pages(get_class_size(c));
}

static void free_alone(void *m, unsigned c)
{
	ASAN_UNPOISON_MEMORY_REGION(m, get_class_size(c));
	if (c < RR_POOL_BLOCK_CLASSES)
		free(m);
	else
		unmap_pages(m, get_class_size(c));
}

/* -- blocks ---------------------------------------------------------------- */

/* Returns the index of the block that contains @m, or the index at which such a block
 * would be inserted. */
static unsigned find_block_place(const struct rr_pool *p, const void *m)
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

static struct rr_pool_block *find_pool_block(const struct rr_pool *p, const void *m)
{
	unsigned i = find_block_place(p, m);

	return i < p->n_blocks && (uintptr_t)m - (uintptr_t)p->blocks[i]->base <
	                                  RR_POOL_BLOCK_BYTES
	               ? p->blocks[i]
	               : NULL;
}

static size_t get_unit(const struct rr_pool_block *b, const void *m)
{
	return (size_t)((const uint8_t *)m - b->base) >> RR_POOL_MIN_SHIFT;
}

/* Adds a piece to the front of its class's list.  The piece is probably in the CPU's
 * cache, so it should be reused first. */
static void add_free_piece(struct rr_pool *p, struct rr_pool_block *b, uint8_t *m,
                           unsigned c)
{
	struct rr_list *n = (struct rr_list *)(void *)m;

	ASAN_UNPOISON_MEMORY_REGION(n, sizeof(*n));
	rr_list_push_front(&p->free[c], n);
	b->starts[get_unit(b, m)] = (uint8_t)(c + 1);
}

static void remove_free_piece(struct rr_pool_block *b, uint8_t *m)
{
	rr_list_del((struct rr_list *)(void *)m);
	b->starts[get_unit(b, m)] = 0;
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
	i = find_block_place(p, b->base);
	memmove(&p->blocks[i + 1], &p->blocks[i],
	        (p->n_blocks - i) * sizeof(struct rr_pool_block *));
	p->blocks[i] = b;
	p->n_blocks++;
	p->cached_bytes += RR_POOL_BLOCK_BYTES;
	add_free_piece(p, b, b->base, RR_POOL_BLOCK_CLASSES - 1);
	return true;
}

/* Unmaps a block that is entirely free and merged. */
static void remove_block(struct rr_pool *p, struct rr_pool_block *b)
{
	unsigned i = find_block_place(p, b->base);

	remove_free_piece(b, b->base);
	p->n_blocks--;
	memmove(&p->blocks[i], &p->blocks[i + 1],
	        (p->n_blocks - i) * sizeof(struct rr_pool_block *));
	p->cached_bytes -= RR_POOL_BLOCK_BYTES;
	unmap_block(b->base);
	free(b);
}

static bool exceeds_limit(const struct rr_pool *p)
{
	return p->cached_bytes > p->cache_limit && !p->pins;
}

/* -- pieces of blocks ------------------------------------------------------ */

/* Takes the smallest uncached piece that is large enough, and splits it down to class
 * @c.  Returns NULL if there is none. */
static void *split_piece(struct rr_pool *p, unsigned c)
{
	struct rr_pool_block *b;
	unsigned k = c;
	uint8_t *m;

	while (k < RR_POOL_BLOCK_CLASSES && rr_list_empty(&p->free[k]))
		k++;
	if (k == RR_POOL_BLOCK_CLASSES)
		return NULL;
	m = (uint8_t *)rr_list_first(&p->free[k]);
	b = find_pool_block(p, m);
	remove_free_piece(b, m);
	while (k > c) {
		k--;
		add_free_piece(p, b, m + get_class_size(k), k);
	}
	return m;
}

static void merge_piece(struct rr_pool *p, struct rr_pool_block *b, uint8_t *m,
                        unsigned c)
{
	RR_ASSERT(!b->starts[get_unit(b, m)]); /* not freed twice */
	for (; c < RR_POOL_BLOCK_CLASSES - 1; c++) {
		size_t at = (size_t)(m - b->base), other = at ^ get_class_size(c);

		if (b->starts[other >> RR_POOL_MIN_SHIFT] != c + 1)
			break;
		remove_free_piece(b, b->base + other);
		ASAN_POISON_MEMORY_REGION(b->base + other, sizeof(struct rr_list));
		m = b->base + RR_MIN(at, other);
	}
	add_free_piece(p, b, m, c);
	if (c == RR_POOL_BLOCK_CLASSES - 1 && exceeds_limit(p))
		remove_block(p, b);
}

/* -- the cache ------------------------------------------------------------- */

static void cache_piece(struct rr_pool *p, void *m, unsigned c)
{
	struct rr_pool_free *f = m;

	ASAN_UNPOISON_MEMORY_REGION(f, sizeof(*f));
	f->next = p->cached[c];
	p->cached[c] = f;
	p->n_cached[c]++;
}

static void *take_cached(struct rr_pool *p, unsigned c)
{
	struct rr_pool_free *f = p->cached[c];

	if (f) {
		p->cached[c] = f->next;
		p->n_cached[c]--;
	}
	return f;
}

/* Merges all cached pieces.  Returns false if there were none.  The total cost is no
 * higher than if each rr_pool_put had merged its piece instead of caching it. */
static bool merge_cached(struct rr_pool *p)
{
	bool any = false;
	void *m;

	for (unsigned c = 0; c < RR_POOL_BLOCK_CLASSES; c++) {
		while ((m = take_cached(p, c))) {
			ASAN_POISON_MEMORY_REGION(m, sizeof(struct rr_pool_free));
			merge_piece(p, find_pool_block(p, m), m, c);
			any = true;
		}
	}
	return any;
}

/* -- the pool -------------------------------------------------------------- */

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
		while ((m = take_cached(p, c)))
			free_alone(m, c);
	}
	for (unsigned i = 0; i < p->n_blocks; i++) {
		unmap_block(p->blocks[i]->base);
		free(p->blocks[i]);
	}
	rr_pool_init(p, p->cache_limit);
}

/* Returns a free piece from the cache or from a block, adding a block if needed.
 * Returns NULL if there is none. */
static void *find_piece(struct rr_pool *p, unsigned c)
{
	void *m = take_cached(p, c);

	if (m || c >= RR_POOL_BLOCK_CLASSES)
		return m;
	m = split_piece(p, c);
	if (!m && merge_cached(p))
		m = split_piece(p, c);
	if (!m && add_block(p))
		m = split_piece(p, c);
	return m;
}

void *rr_pool_get(struct rr_pool *p, size_t bytes)
{
	unsigned c = find_class(bytes);
	void *m;

	if (c == RR_POOL_CLASSES)
		return NULL;
	m = find_piece(p, c);
	if (m) {
		*(c < RR_POOL_BLOCK_CLASSES ? &p->cached_bytes : &p->large_bytes) -=
		        get_class_size(c);
		ASAN_POISON_MEMORY_REGION(m, get_class_size(c));
		ASAN_UNPOISON_MEMORY_REGION(m, bytes);
	} else {
		m = get_alone(c);
		if (!m)
			return NULL;
		p->n_alone += c < RR_POOL_BLOCK_CLASSES;
	}
	p->used_bytes += get_class_size(c);
	if (p->used_bytes > p->peak_bytes)
		p->peak_bytes = p->used_bytes;
	return m;
}

/* Frees cached pieces larger than a block, smallest class first, until the limit allows
 * @bytes more.  Returns false if that is impossible. */
static bool shrink_large(struct rr_pool *p, size_t bytes)
{
	void *m;

	for (unsigned c = RR_POOL_BLOCK_CLASSES;
	     c < RR_POOL_CLASSES && p->large_bytes + bytes > p->cache_limit; c++) {
		while ((m = take_cached(p, c))) {
			p->large_bytes -= get_class_size(c);
			free_alone(m, c);
		}
	}
	return p->large_bytes + bytes <= p->cache_limit;
}

/* Frees a piece outside of blocks.  If the piece is larger than a block and the limit
 * allows it, caches the piece instead. */
static void put_alone(struct rr_pool *p, void *m, unsigned c)
{
	p->n_alone -= c < RR_POOL_BLOCK_CLASSES;
	if (c < RR_POOL_BLOCK_CLASSES || get_class_size(c) > p->cache_limit ||
	    !shrink_large(p, get_class_size(c))) {
		free_alone(m, c);
		return;
	}
	p->large_bytes += get_class_size(c);
	ASAN_POISON_MEMORY_REGION(m, get_class_size(c));
	cache_piece(p, m, c);
}

/* Returns true if the piece does not belong to a block. */
static bool is_alone(const struct rr_pool *p, const void *m, unsigned c)
{
	return c >= RR_POOL_BLOCK_CLASSES || (p->n_alone && !find_pool_block(p, m));
}

void rr_pool_put(struct rr_pool *p, void *m, size_t bytes)
{
	unsigned c = find_class(bytes);

	if (!m)
		return;
	RR_ASSERT(c < RR_POOL_CLASSES && p->used_bytes >= get_class_size(c));
	p->used_bytes -= get_class_size(c);
	if (is_alone(p, m, c)) {
		put_alone(p, m, c);
		return;
	}
	p->cached_bytes += get_class_size(c);
	ASAN_POISON_MEMORY_REGION(m, get_class_size(c));
	if (!exceeds_limit(p) && p->n_cached[c] < get_cache_max(c)) {
		cache_piece(p, m, c);
		return;
	}
	merge_piece(p, find_pool_block(p, m), m, c);
	if (exceeds_limit(p))
		(void)merge_cached(p); /* cached pieces must not keep blocks mapped */
}

bool rr_pool_block(const struct rr_pool *p, const void *m, size_t len, void **ret_base,
                   size_t *ret_len)
{
	const struct rr_pool_block *b = find_pool_block(p, m);

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

/* The last unpin unmaps free blocks, starting with the highest address, until the pool
 * is within its limit. */
void rr_pool_unpin(struct rr_pool *p)
{
	RR_ASSERT(p->pins);
	if (--p->pins || !exceeds_limit(p))
		return;
	(void)merge_cached(p);
	for (unsigned i = p->n_blocks; i-- > 0 && exceeds_limit(p);) {
		if (p->blocks[i]->starts[0] == RR_POOL_BLOCK_CLASSES)
			remove_block(p, p->blocks[i]);
	}
}
