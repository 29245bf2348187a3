/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for Receives, sinks, headers and results: power-of-two classes, above a
 * block four in a power of two, so that the data path does not page-fault the same
 * megabyte again for each call.  One pool an engine, one thread.
 *
 * What fits is carved from blocks of 2 MiB, halved again and again (buddies), and
 * merged when it comes back; a few pieces of each class wait aside and cost a list
 * operation.  A device may keep a block registered (struct rr_prov_memory): while
 * a connection does, rr_pool_pin() holds, and no block is given up.  Otherwise
 * free memory above the limit goes back to the system, as soon as it makes a
 * whole block.  What is larger than a block is taken and given back as it is.  Both
 * are mapped from the system, apart from the heap.
 *
 * The highest use decides how many blocks there are: what was used at once, in
 * whole blocks, and what fragments make of it.  Blocks are touched only as far as
 * they are used (a device that registers one pins all of it).
 */
#ifndef RR_DRIVE_POOL_H
#define RR_DRIVE_POOL_H

#include "base/base.h"
#include "base/list.h"

enum {
	RR_POOL_MIN_SHIFT = 8,
	RR_POOL_BLOCK_SHIFT = 21,
	RR_POOL_BLOCK_CLASSES = RR_POOL_BLOCK_SHIFT - RR_POOL_MIN_SHIFT + 1,
	RR_POOL_CLASSES = RR_POOL_BLOCK_CLASSES + 40, /* up to 2 GiB */
	RR_POOL_BLOCKS = 512, /* beyond these, memory is in no block */
};

#define RR_POOL_BLOCK_BYTES ((size_t)1 << RR_POOL_BLOCK_SHIFT)

struct rr_pool_block;

struct rr_pool {
	/* Free pieces of blocks that are merged as far as it goes. */
	struct rr_list free[RR_POOL_BLOCK_CLASSES];
	/* Free pieces aside; in classes that no block holds, all there are. */
	struct rr_pool_free {
		struct rr_pool_free *next;
	} * aside[RR_POOL_CLASSES];
	unsigned n_aside[RR_POOL_CLASSES];
	struct rr_pool_block *blocks[RR_POOL_BLOCKS]; /* by address */
	unsigned n_blocks;
	unsigned pins;
	size_t cached_bytes; /* free, in blocks and aside */
	size_t large_bytes;  /* free, of pieces larger than a block */
	size_t cache_limit;  /* of either, for longer than a moment */
	size_t used_bytes;   /* lent out */
	size_t peak_bytes;
};

void rr_pool_init(struct rr_pool *, size_t cache_limit);
void rr_pool_fini(struct rr_pool *);
/* 64-octet aligned memory, NULL if there is none. */
void *rr_pool_get(struct rr_pool *, size_t bytes);
void rr_pool_put(struct rr_pool *, void *p, size_t bytes);

/* The block that holds all of [@p, @p + @len), or false. */
bool rr_pool_block(const struct rr_pool *, const void *p, size_t len, void **ret_base,
                   size_t *ret_len);
/* From pin to unpin no block goes away.  They nest. */
void rr_pool_pin(struct rr_pool *);
void rr_pool_unpin(struct rr_pool *);

#endif
