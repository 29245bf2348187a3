/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for Receives, RDMA data sinks, headers and results.  Each engine has one pool,
 * used in its thread.  Freed memory is kept, so that the data path does not page-fault
 * the same megabyte again for each call.
 *
 * Sizes are rounded up to classes: powers of two, and four in a power of two above the
 * size of a block.  Smaller pieces come from blocks of 2 MiB by a buddy allocator,
 * which halves blocks and merges free halves.  A few free pieces of each class are not
 * merged but cached: to reuse one costs a list operation.  Pieces larger than a block
 * are allocated as they are.  Both kinds are mapped from the system, apart from the
 * heap.
 *
 * Free memory above the limit returns to the system as soon as it makes a whole block.
 * But a device may keep a block registered (struct rr_prov_memory).  While a connection
 * needs that, it holds rr_pool_pin(), and no block is unmapped.
 *
 * The number of blocks follows from the highest use and from fragmentation.  A block is
 * touched only as far as it is used; a device that registers a block pins all of it.
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
	RR_POOL_BLOCKS = 512, /* at most; then pieces come from the heap */
};

#define RR_POOL_BLOCK_BYTES ((size_t)1 << RR_POOL_BLOCK_SHIFT)

struct rr_pool_block;

struct rr_pool {
	/* Free pieces of blocks, merged as far as possible. */
	struct rr_list free[RR_POOL_BLOCK_CLASSES];
	/* The cache: free pieces that are not merged; above a block, all free
	 * pieces. */
	struct rr_pool_free {
		struct rr_pool_free *next;
	} * cached[RR_POOL_CLASSES];
	unsigned n_cached[RR_POOL_CLASSES];
	struct rr_pool_block *blocks[RR_POOL_BLOCKS]; /* by address */
	unsigned n_blocks;
	unsigned pins;
	size_t cached_bytes; /* free, in blocks */
	size_t large_bytes;  /* free, of pieces larger than a block */
	size_t cache_limit;  /* of cached_bytes and of large_bytes each */
	size_t used_bytes;   /* allocated */
	size_t peak_bytes;   /* highest used_bytes so far */
};

void rr_pool_init(struct rr_pool *, size_t cache_limit);
void rr_pool_fini(struct rr_pool *);
/* Returns memory aligned to 64 octets, or NULL. */
void *rr_pool_get(struct rr_pool *, size_t bytes);
/* Frees memory of rr_pool_get, given the same size; NULL is harmless. */
void rr_pool_put(struct rr_pool *, void *p, size_t bytes);

/* Finds the block that contains [@p, @p + @len); false: there is none. */
bool rr_pool_block(const struct rr_pool *, const void *p, size_t len, void **ret_base,
                   size_t *ret_len);
/* Between pin and unpin no block is unmapped.  Calls nest. */
void rr_pool_pin(struct rr_pool *);
void rr_pool_unpin(struct rr_pool *);

#endif
