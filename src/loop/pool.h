/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for Receives, RDMA data sinks, headers and results.  Each engine has one pool,
 * used in its thread.  Freed memory is kept, so that the data path does not page-fault
 * the same megabyte again for each call.
 *
 * Sizes are rounded up to size classes: powers of two up to 2 MiB, the size of a block,
 * and four classes for each power of two above that size.  Pieces up to the size of a
 * block are cut from blocks by a buddy allocator, which halves blocks and merges free
 * halves.  A few free pieces of each class are not merged but cached, so that reusing
 * one takes one list operation.  Larger pieces are mapped one by one.  Blocks and
 * larger pieces are mapped from the system, not allocated on the heap.
 *
 * If the pool has more free memory than its limit, each block that becomes entirely
 * free is unmapped.  But a device may keep a block registered (struct rr_prov_memory).
 * A connection to such a device calls rr_pool_pin(); no block is unmapped until that
 * connection calls rr_pool_unpin().
 *
 * The number of blocks depends on the peak use and on fragmentation.  A block's pages
 * are touched only when they are used, but a device that registers a block pins all its
 * pages.
 */
#ifndef RR_LOOP_POOL_H
#define RR_LOOP_POOL_H

#include "base/base.h"
#include "base/list.h"

enum {
	RR_POOL_MIN_SHIFT = 8,
	RR_POOL_BLOCK_SHIFT = 21,
	RR_POOL_BLOCK_CLASSES = RR_POOL_BLOCK_SHIFT - RR_POOL_MIN_SHIFT + 1,
	RR_POOL_CLASSES = RR_POOL_BLOCK_CLASSES + 40, /* up to 2 GiB */
	RR_POOL_BLOCKS = 512, /* maximum; further pieces are allocated singly */
};

#define RR_POOL_BLOCK_BYTES ((size_t)1 << RR_POOL_BLOCK_SHIFT)

struct rr_pool_block;

struct rr_pool {
	/* For each class, the free, uncached pieces of blocks, merged as far as
	 * possible. */
	struct rr_list free[RR_POOL_BLOCK_CLASSES];
	/* The cache: for each class, free pieces that are not merged.  All free pieces
	 * larger than a block are here. */
	struct rr_pool_free {
		struct rr_pool_free *next;
	} * cached[RR_POOL_CLASSES];
	unsigned n_cached[RR_POOL_CLASSES];
	struct rr_pool_block *blocks[RR_POOL_BLOCKS]; /* sorted by address */
	unsigned n_blocks;
	unsigned n_alone; /* pieces in use that could lie in a block, but do not */
	unsigned pins;
	size_t cached_bytes; /* free octets in blocks */
	size_t large_bytes;  /* free octets in pieces larger than a block */
	size_t cache_limit;  /* for each of cached_bytes and large_bytes */
	size_t used_bytes;   /* octets allocated */
	size_t peak_bytes;   /* highest used_bytes so far */
};

void rr_pool_init(struct rr_pool *, size_t cache_limit);
void rr_pool_fini(struct rr_pool *);
/* Returns memory aligned to 64 octets, or NULL. */
void *rr_pool_get(struct rr_pool *, size_t bytes);
/* Frees memory returned by rr_pool_get, which must have been called with the same
 * @bytes.  Ignores NULL. */
void rr_pool_put(struct rr_pool *, void *p, size_t bytes);

/* Finds the block that contains [@p, @p + @len).  Returns false if no block does. */
bool rr_pool_block(const struct rr_pool *, const void *p, size_t len, void **ret_base,
                   size_t *ret_len);
/* Between rr_pool_pin and rr_pool_unpin, no block is unmapped.  Calls nest. */
void rr_pool_pin(struct rr_pool *);
void rr_pool_unpin(struct rr_pool *);

#endif
