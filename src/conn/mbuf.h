/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that grow, and the quota of memory that one connection may use for its
 * peer's data.
 *
 * A quota only counts: memory may be charged before it is allocated.  A request charges
 * the memory for all its Read chunks at once, before the first one is pulled.  A buffer
 * with @charged set charges its own size.
 */
#ifndef RR_CONN_MBUF_H
#define RR_CONN_MBUF_H

#include "base/base.h"

struct rr_quota {
	const struct rr_mem *mem; /* source of the buffers; lent for the quota's life */
	uint64_t limit;           /* upper bound of @charged, octets */
	uint64_t charged;         /* octets charged; never more than @limit */
};

/* Charges @bytes.  Returns false, and changes nothing, if the limit would be
 * exceeded. */
bool rr_quota_charge(struct rr_quota *, uint64_t bytes) RR_MUST_CHECK;
/* Cancels a charge of @bytes. */
void rr_quota_uncharge(struct rr_quota *, uint64_t bytes);

/* Minimum number of octets that rr_mbuf_reserve allocates. */
enum { RR_MBUF_FIRST = 16384 };

/* A buffer with all members zero is empty.  To charge a buffer to the quota, set
 * @charged before the buffer is first allocated. */
struct rr_mbuf {
	uint8_t *p;
	size_t len, cap; /* octets used, octets allocated */
	bool charged;    /* @cap octets are charged to the quota */
};

/* Grows the buffer to at least @len octets by doubling its size, which starts at
 * RR_MBUF_FIRST.  Returns -ENOMEM, and leaves the buffer unchanged, if memory or the
 * quota is exhausted. */
int rr_mbuf_reserve(struct rr_quota *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
/* Like rr_mbuf_reserve, but allocates exactly @len octets. */
int rr_mbuf_alloc(struct rr_quota *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
/* Frees the memory and cancels its charge. */
void rr_mbuf_release(struct rr_quota *, struct rr_mbuf *);
/* Frees the memory, if any, cancels its charge, and leaves an empty buffer. */
static inline void rr_mbuf_free(struct rr_quota *q, struct rr_mbuf *b)
{
	if (b->p)
		rr_mbuf_release(q, b);
	*b = (struct rr_mbuf){0};
}

#endif
