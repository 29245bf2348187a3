/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that grow, and the quota of memory that one connection may use for its
 * peer's data.
 *
 * A quota only counts: what is charged to it need not be allocated yet.  A request
 * charges the memory for all its Read chunks at once, before the first is pulled.
 * A buffer with @charged set charges its own size.
 */
#ifndef RR_CONN_MBUF_H
#define RR_CONN_MBUF_H

#include "base/base.h"

struct rr_quota {
	const struct rr_mem *mem; /* source of the buffers; lent for the quota's life */
	uint64_t limit;           /* octets that may be charged */
	uint64_t charged;         /* octets; never above @limit */
};

/* Charges @bytes; false, and nothing changed, if the limit would be passed. */
bool rr_quota_charge(struct rr_quota *, uint64_t bytes) RR_MUST_CHECK;
/* Takes back a charge of @bytes. */
void rr_quota_uncharge(struct rr_quota *, uint64_t bytes);

/* Octets that rr_mbuf_reserve allocates at least. */
enum { RR_MBUF_FIRST = 16384 };

/* All zero: empty.  To charge a buffer, set @charged before its first octet. */
struct rr_mbuf {
	uint8_t *p;
	size_t len, cap; /* octets used, octets allocated */
	bool charged;    /* @cap octets are charged to the quota */
};

/* Grows the buffer to hold @len octets at least: its size doubles, from RR_MBUF_FIRST
 * on.  -ENOMEM, also if the quota is used up: the buffer is as before. */
int rr_mbuf_reserve(struct rr_quota *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
/* As rr_mbuf_reserve, but allocates @len octets exactly. */
int rr_mbuf_alloc(struct rr_quota *, struct rr_mbuf *, size_t len) RR_MUST_CHECK;
/* Frees the memory, takes back its charge, and leaves an empty buffer. */
void rr_mbuf_free(struct rr_quota *, struct rr_mbuf *);

#endif
