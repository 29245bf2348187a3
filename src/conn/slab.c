/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See slab.h.  A block starts with a pointer to the block allocated before it.  A free
 * object starts with a pointer to the next free object.
 */
#include "conn/slab.h"

enum { ALIGN = 64 };

void rr_slab_init(struct rr_slab *s, const struct rr_mem *mem, size_t size,
                  size_t block_bytes)
{
	*s = (struct rr_slab){
	        .mem = mem,
	        .size = (size + ALIGN - 1) / ALIGN * ALIGN,
	        .block_bytes = block_bytes,
	};
	RR_ASSERT(ALIGN + s->size <= block_bytes);
}

static bool grow_slab(struct rr_slab *s)
{
	uint8_t *b = rr_mem_get(s->mem, s->block_bytes);

	if (!b)
		return false;
	*(void **)(void *)b = s->blocks;
	s->blocks = b;
	for (size_t at = ALIGN; at + s->size <= s->block_bytes; at += s->size)
		rr_slab_put(s, b + at);
	return true;
}

void *rr_slab_get(struct rr_slab *s)
{
	void **p;

	if (!s->free && !grow_slab(s))
		return NULL;
	p = s->free;
	s->free = *p;
	return p;
}

void rr_slab_put(struct rr_slab *s, void *piece)
{
	*(void **)piece = s->free;
	s->free = piece;
}

void rr_slab_fini(struct rr_slab *s)
{
	while (s->blocks) {
		void **b = s->blocks;

		s->blocks = *b;
		rr_mem_put(s->mem, b, s->block_bytes);
	}
	s->free = NULL;
}
