/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of memory of one size, for a connection's own objects.  They are allocated
 * from config.mem in blocks and kept on a free list afterwards, so that the data path
 * allocates nothing once the peak has been reached.
 */
#ifndef RR_CONN_SLAB_H
#define RR_CONN_SLAB_H

#include "base/base.h"

struct rr_slab {
	const struct rr_mem *mem; /* lent for the slab's life */
	size_t size;              /* octets in a piece, rounded up */
	size_t block_bytes;       /* octets in a block */
	void *free;               /* first free piece */
	void *blocks;             /* newest block */
};

/* Blocks have @block_bytes, room for one piece of @size and 64 octets at least.  A
 * power of two wastes nothing if @mem rounds up to one. */
void rr_slab_init(struct rr_slab *, const struct rr_mem *, size_t size,
                  size_t block_bytes);
/* Returns a piece with undefined contents, or NULL if there is no memory. */
void *rr_slab_get(struct rr_slab *);
/* Puts a piece on the free list. */
void rr_slab_put(struct rr_slab *, void *);
/* Frees all blocks: every piece becomes invalid. */
void rr_slab_fini(struct rr_slab *);

#endif
