/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that grows: reassembled messages, a Special Call's Payload stream, Reply
 * chunks.  With @pinned set its octets count against the budget of the connection;
 * growth beyond the budget fails like any other want of memory, and changes nothing.
 */
#include "conn/core.h"

static void unpin_mbuf(struct rr_conn *c, const struct rr_mbuf *b, uint64_t bytes)
{
	if (b->pinned)
		rr_unpin(c, bytes);
}

static int resize_mbuf(struct rr_conn *c, struct rr_mbuf *b, size_t cap)
{
	uint8_t *p;

	if (b->pinned && !rr_pin(c, cap - b->cap))
		return -ENOMEM;
	p = rr_mem_get(&c->cfg.mem, cap);
	if (!p) {
		unpin_mbuf(c, b, cap - b->cap);
		return -ENOMEM;
	}
	if (b->len)
		memcpy(p, b->p, b->len);
	rr_mem_put(&c->cfg.mem, b->p, b->cap);
	b->p = p;
	b->cap = cap;
	return 0;
}

int rr_mbuf_alloc(struct rr_conn *c, struct rr_mbuf *b, size_t len)
{
	return len > b->cap ? resize_mbuf(c, b, len) : 0;
}

int rr_mbuf_reserve(struct rr_conn *c, struct rr_mbuf *b, size_t len)
{
	size_t cap = b->cap ? b->cap : RR_MBUF_FIRST;

	while (cap < len)
		cap *= 2;
	return cap > b->cap ? resize_mbuf(c, b, cap) : 0;
}

void rr_mbuf_free(struct rr_conn *c, struct rr_mbuf *b)
{
	unpin_mbuf(c, b, b->cap);
	rr_mem_put(&c->cfg.mem, b->p, b->cap);
	*b = (struct rr_mbuf){0};
}
