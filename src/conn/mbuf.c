/* SPDX-License-Identifier: BSD-3-Clause */
/* See mbuf.h. */
#include "conn/mbuf.h"

#include <string.h>

bool rr_quota_charge(struct rr_quota *q, uint64_t bytes)
{
	if (bytes > q->limit - q->charged)
		return false;
	q->charged += bytes;
	return true;
}

void rr_quota_uncharge(struct rr_quota *q, uint64_t bytes)
{
	RR_ASSERT(bytes <= q->charged);
	q->charged -= bytes;
}

static void uncharge_mbuf(struct rr_quota *q, const struct rr_mbuf *b, size_t bytes)
{
	if (b->charged)
		rr_quota_uncharge(q, bytes);
}

static int resize_mbuf(struct rr_quota *q, struct rr_mbuf *b, size_t cap)
{
	uint8_t *p;

	if (b->charged && !rr_quota_charge(q, cap - b->cap))
		return -ENOMEM;
	p = rr_mem_get(q->mem, cap);
	if (!p) {
		uncharge_mbuf(q, b, cap - b->cap);
		return -ENOMEM;
	}
	if (b->len)
		memcpy(p, b->p, b->len);
	rr_mem_put(q->mem, b->p, b->cap);
	b->p = p;
	b->cap = cap;
	return 0;
}

int rr_mbuf_alloc(struct rr_quota *q, struct rr_mbuf *b, size_t len)
{
	return len > b->cap ? resize_mbuf(q, b, len) : 0;
}

int rr_mbuf_reserve(struct rr_quota *q, struct rr_mbuf *b, size_t len)
{
	size_t cap = b->cap ? b->cap : RR_MBUF_FIRST;

	while (cap < len)
		cap *= 2;
	return cap > b->cap ? resize_mbuf(q, b, cap) : 0;
}

void rr_mbuf_release(struct rr_quota *q, struct rr_mbuf *b)
{
	uncharge_mbuf(q, b, b->cap);
	rr_mem_put(q->mem, b->p, b->cap);
}
