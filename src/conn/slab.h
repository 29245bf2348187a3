/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equal pieces of memory for one connection's own bookkeeping: taken from
 * config.mem a few at a time, kept on a free list afterwards, so that the data
 * path allocates nothing once it has seen its peak.
 */
#ifndef RR_CONN_SLAB_H
#define RR_CONN_SLAB_H

#include "base/base.h"

struct rr_slab {
	const struct rr_mem *mem; /* lent for the slab's life */
	size_t size;              /* of one piece, rounded up */
	size_t block_bytes;       /* taken at once */
	void *free;
	void *blocks;
};

/* Takes blocks of @block_bytes, room for one piece of @size and 64 octets at least.  A
 * power of two wastes nothing where @mem rounds up to one. */
void rr_slab_init(struct rr_slab *, const struct rr_mem *, size_t size,
                  size_t block_bytes);
/* Contents are undefined.  NULL if there is no memory. */
void *rr_slab_get(struct rr_slab *);
void rr_slab_put(struct rr_slab *, void *);
/* Every piece, given back or not, becomes invalid. */
void rr_slab_fini(struct rr_slab *);

#endif
