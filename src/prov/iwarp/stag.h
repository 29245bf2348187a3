/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The STag table of one endpoint, which is its protection domain.
 *
 * An STag is a running number put through a 32-bit block cipher whose key is
 * the endpoint's own secret: all over the 32 bits, not to be predicted from
 * those seen before, and not repeated before 2^32 others.  The number itself,
 * modulo the table, is the slot, so that finding one is a decipherment and a
 * comparison.  Tagged offsets come from a second key and tell nothing about
 * addresses.                                       [RFC 5040 §8.1.1, RFC 5042 §6]
 */
#ifndef RR_PROV_IWARP_STAG_H
#define RR_PROV_IWARP_STAG_H

#include "base/base.h"

#define RR_STAGS_MAX   65536
#define RR_STAG_SECRET 16 /* octets of secret that a table wants */

enum rr_stag_kind {
	RR_STAG_FREE,
	RR_STAG_REGION, /* registered; the peer's rights are in access */
	RR_STAG_SINK,   /* where an RDMA Read of ours puts its data */
};

struct rr_stag {
	enum rr_stag_kind kind;
	unsigned access; /* enum rr_access */
	uint32_t stag;
	uint64_t to; /* tagged offset of the first octet */
	uint8_t *base;
	uint64_t len;
};

struct rr_speck {
	uint16_t k[22];
};

struct rr_stags {
	struct rr_stag *slots;
	uint32_t cap; /* a power of two, at least twice live; or 0 */
	uint32_t live;
	uint32_t next;
	struct rr_speck stag_key, to_key;
};

void rr_stags_init(struct rr_stags *t, const uint8_t secret[RR_STAG_SECRET]);
void rr_stags_fini(struct rr_stags *t);

/* Adds memory (lent until removal).  -ENOBUFS: RR_STAGS_MAX, which holds for
 * regions only (sinks have the bound of the Reads under way); -ENOMEM.
 * The entry is good until the next add. */
RR_MUST_CHECK int rr_stags_add(struct rr_stags *t, enum rr_stag_kind kind, void *base,
                               uint64_t len, unsigned access,
                               const struct rr_stag **ret);
/* NULL if there is none of that name. */
struct rr_stag *rr_stags_find(const struct rr_stags *t, uint32_t stag);
void rr_stags_remove(struct rr_stags *t, struct rr_stag *s);

/* The cipher, for its test. */
void rr_speck_key(struct rr_speck *s, const uint16_t key[4]);
uint32_t rr_speck_encrypt(const struct rr_speck *s, uint32_t v);
uint32_t rr_speck_decrypt(const struct rr_speck *s, uint32_t v);

#endif
