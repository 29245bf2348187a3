/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4 (Aumasson, Bernstein, 2012): a keyed 64-bit digest of data, which may
 * be added in parts.  A peer that does not know the key cannot choose colliding inputs.
 * nfsd also uses SipHash to authenticate file handles, and for identifiers that clients
 * must not be able to guess.
 */
#ifndef RR_BASE_SIPHASH_H
#define RR_BASE_SIPHASH_H

#include "base/base.h"

struct rr_siphash {
	uint64_t v[4];
	uint64_t word; /* octets of the incomplete word, the first in the lowest bits */
	uint64_t len;  /* octets added so far */
};

void rr_siphash_init(struct rr_siphash *, const uint64_t key[2]);
void rr_siphash_add(struct rr_siphash *, const void *, size_t len);
/* Returns the digest of all octets added.  Afterwards the state must be initialized
 * again before reuse. */
uint64_t rr_siphash_end(struct rr_siphash *);
/* Returns the digest of one buffer. */
uint64_t rr_siphash_once(const uint64_t key[2], const void *, size_t len);

#endif
