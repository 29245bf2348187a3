/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration of local memory.
 *
 * A device reads and writes only registered memory.  A lasting block (rr_prov_memory)
 * is registered once per connection.  A small piece of other memory is copied into the
 * bounce ring, and a large one is registered for the operation.  These registrations
 * give the peer no rights.  The only exception is the data sink of an iWARP Read, which
 * vb_tx.c registers for exactly the octets of that Read.
 *
 * Octets of the bounce ring are allocated and freed in the order of the send queue.
 */
#include <stdlib.h>
#include <string.h>

#include "prov/verbs/vb_internal.h"

struct ibv_mr *rr_vb_reg(struct rr_vb_ep *ep, void *p, size_t len, int access)
{
	ep->base.count.syscalls++;
	return ep->lib->ibv_reg_mr(ep->pd, p, len, access);
}

void rr_vb_dereg(struct rr_vb_ep *ep, struct ibv_mr *mr)
{
	if (!mr)
		return;
	ep->base.count.syscalls++;
	/* ibv_dereg_mr fails only if the device has been removed */
	(void)ep->lib->ibv_dereg_mr(mr);
}

/* Returns the index of the first block that ends after @p. */
static unsigned find_block(const struct rr_vb_ep *ep, const uint8_t *p)
{
	unsigned lo = 0, hi = ep->n_blocks;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		const struct rr_vb_block *b = &ep->blocks[mid];

		if ((uintptr_t)p < (uintptr_t)b->base + b->len)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool is_in_block(const struct rr_vb_block *b, const uint8_t *p, size_t len)
{
	uintptr_t from = (uintptr_t)b->base, at = (uintptr_t)p;

	return at >= from && at - from <= b->len && len <= b->len - (at - from);
}

static struct ibv_mr *add_block_mr(struct rr_vb_ep *ep, unsigned at, void *base,
                                   size_t len)
{
	int access = IBV_ACCESS_LOCAL_WRITE | (ep->windows ? IBV_ACCESS_MW_BIND : 0);
	struct ibv_mr *mr;

	if (ep->n_blocks == ep->cap_blocks) {
		unsigned cap = ep->cap_blocks ? 2 * ep->cap_blocks : 8;
		struct rr_vb_block *b = realloc(ep->blocks, cap * sizeof(*b));

		if (!b)
			return NULL;
		ep->blocks = b;
		ep->cap_blocks = cap;
	}
	mr = rr_vb_reg(ep, base, len, access);
	if (!mr)
		return NULL;
	memmove(&ep->blocks[at + 1], &ep->blocks[at],
	        (ep->n_blocks - at) * sizeof(ep->blocks[0]));
	ep->blocks[at] = (struct rr_vb_block){.base = base, .len = len, .mr = mr};
	ep->n_blocks++;
	return mr;
}

struct ibv_mr *rr_vb_block_mr(struct rr_vb_ep *ep, const void *p, size_t len)
{
	unsigned at = find_block(ep, p);
	void *base;
	size_t block_len;

	if (at < ep->n_blocks && is_in_block(&ep->blocks[at], p, len))
		return ep->blocks[at].mr;
	if (!ep->base.memory.block ||
	    !ep->base.memory.block(ep->base.memory.ctx, p, len, &base, &block_len))
		return NULL;
	return add_block_mr(ep, find_block(ep, base), base, block_len);
}

bool rr_vb_bounce_have(struct rr_vb_ep *ep)
{
	if (ep->bounce)
		return true;
	ep->bounce = malloc(RR_VB_BOUNCE);
	if (!ep->bounce)
		return false;
	ep->bounce_mr = rr_vb_reg(ep, ep->bounce, RR_VB_BOUNCE, IBV_ACCESS_LOCAL_WRITE);
	if (ep->bounce_mr)
		return true;
	free(ep->bounce);
	ep->bounce = NULL;
	return false;
}

uint8_t *rr_vb_bounce_get(struct rr_vb_ep *ep, uint32_t len, uint32_t *ret_took)
{
	uint32_t at = (ep->bounce_head + ep->bounce_used) % RR_VB_BOUNCE;
	uint32_t skip = len > RR_VB_BOUNCE - at ? RR_VB_BOUNCE - at : 0;

	if (len > RR_VB_BOUNCE / 2 || len + skip > RR_VB_BOUNCE - ep->bounce_used ||
	    !rr_vb_bounce_have(ep))
		return NULL;
	ep->bounce_used += len + skip;
	*ret_took = len + skip;
	return ep->bounce + (skip ? 0 : at);
}

void rr_vb_bounce_put(struct rr_vb_ep *ep, uint32_t took)
{
	RR_ASSERT(took <= ep->bounce_used);
	ep->bounce_head = (ep->bounce_head + took) % RR_VB_BOUNCE;
	ep->bounce_used -= took;
}

void rr_vb_mem_fini(struct rr_vb_ep *ep)
{
	for (unsigned i = 0; i < ep->n_blocks; i++)
		rr_vb_dereg(ep, ep->blocks[i].mr);
	free(ep->blocks);
	ep->blocks = NULL;
	ep->n_blocks = ep->cap_blocks = 0;
	rr_vb_dereg(ep, ep->bounce_mr);
	free(ep->bounce);
	ep->bounce_mr = NULL;
	ep->bounce = NULL;
	ep->bounce_head = ep->bounce_used = 0;
}
