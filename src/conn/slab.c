/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See slab.h.  A block starts with a pointer to the block allocated before it.  A free
 * object starts with a pointer to the next free object.
 */
#include "conn/slab.h"

enum { HEAD = 64, LINE = 64, ALIGN = 16 };

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

void rr_slab_init(struct rr_slab *s, const struct rr_mem *mem, size_t size,
                  size_t block_bytes)
{
	*s = (struct rr_slab){
	        .mem = mem,
	        .size = (uint32_t)round_up(size, size < 1024 ? ALIGN : LINE),
	        .block_bytes = (uint32_t)block_bytes,
	};
	RR_ASSERT(HEAD + s->size <= block_bytes);
}

static void add_free_object(struct rr_slab *s, void *object)
{
	*(void **)object = s->free;
	s->free = object;
}

static bool grow_slab(struct rr_slab *s)
{
	uint8_t *b = rr_mem_get(s->mem, s->block_bytes);

	if (!b)
		return false;
	*(void **)(void *)b = s->blocks;
	s->blocks = b;
	s->n_blocks++;
	for (size_t at = HEAD; at + s->size <= s->block_bytes; at += s->size)
		add_free_object(s, b + at);
	return true;
}

void *rr_slab_get(struct rr_slab *s)
{
	void **p;

	if (!s->free && !grow_slab(s))
		return NULL;
	p = s->free;
	s->free = *p;
	s->used++;
	return p;
}

void rr_slab_put(struct rr_slab *s, void *object)
{
	add_free_object(s, object);
	if (!--s->used && (size_t)s->n_blocks * s->block_bytes > RR_SLAB_KEPT)
		rr_slab_fini(s);
}

void rr_slab_fini(struct rr_slab *s)
{
	while (s->blocks) {
		void **b = s->blocks;

		s->blocks = *b;
		rr_mem_put(s->mem, b, s->block_bytes);
	}
	s->free = NULL;
	s->used = s->n_blocks = 0;
}
