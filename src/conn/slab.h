/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of one size, for a connection's internal use.  They are allocated from
 * config.mem in blocks and kept on a free list when released, so that the data path
 * allocates nothing once the peak has been reached.  When no object is in use, more than
 * RR_SLAB_KEPT octets of blocks are freed.
 */
#ifndef RR_CONN_SLAB_H
#define RR_CONN_SLAB_H

#include "base/base.h"

enum { RR_SLAB_KEPT = 1 << 20 };

struct rr_slab {
	const struct rr_mem *mem; /* lent for the slab's life */
	uint32_t size;            /* octets in an object, rounded up */
	uint32_t block_bytes;     /* octets in a block */
	uint32_t used;            /* objects in use */
	uint32_t n_blocks;
	void *free;   /* first free object */
	void *blocks; /* newest block */
};

/* Initialises a slab of objects of @size octets.  Each block has @block_bytes octets,
 * which must be enough for 64 octets and one object.  If @mem rounds sizes up to powers
 * of two, @block_bytes should be a power of two. */
void rr_slab_init(struct rr_slab *, const struct rr_mem *, size_t size,
                  size_t block_bytes);
/* Returns an object with undefined contents, or NULL if there is no memory. */
void *rr_slab_get(struct rr_slab *);
/* Returns an object to the free list. */
void rr_slab_put(struct rr_slab *, void *);
/* Frees all blocks; every object becomes invalid. */
void rr_slab_fini(struct rr_slab *);

#endif
