/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4 (Aumasson, Bernstein, 2012) over octets that come in parts: a keyed
 * 64-bit digest, so that who does not know the key cannot choose collisions.
 */
#ifndef RR_DRIVE_SIPHASH_H
#define RR_DRIVE_SIPHASH_H

#include "base/base.h"

struct rr_siphash {
	uint64_t v[4];
	uint64_t word; /* octets that do not fill one yet, from the lowest up */
	uint64_t len;  /* of all so far */
};

void rr_siphash_init(struct rr_siphash *, const uint64_t key[2]);
void rr_siphash_add(struct rr_siphash *, const void *, size_t len);
/* The digest of what was added; nothing more may be. */
uint64_t rr_siphash_end(struct rr_siphash *);

#endif
