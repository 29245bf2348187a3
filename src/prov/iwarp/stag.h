/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The STag table of one endpoint, which is its protection domain.
 *
 * An STag is a sequence number, encrypted by a 32-bit block cipher with the endpoint's
 * key.  STags are therefore spread over all 32 bits, cannot be predicted from earlier
 * STags, and repeat only when all 2^32 have been used.  The sequence number modulo the
 * size of the table is the slot, so a look-up takes one decryption and one comparison.
 * Tagged offsets are encrypted with a second key, and reveal nothing about addresses.
 *                                                  [RFC 5040 §8.1.1, RFC 5042 §6]
 */
#ifndef RR_PROV_IWARP_STAG_H
#define RR_PROV_IWARP_STAG_H

#include "base/base.h"

#define RR_STAGS_MAX   65536
#define RR_STAG_SECRET 16 /* size of a table's two keys, in octets */

enum rr_stag_kind {
	RR_STAG_FREE,
	RR_STAG_REGION, /* a registered region; @access: the peer's rights */
	RR_STAG_SINK,   /* data sink of one of our RDMA Reads */
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
	uint32_t cap;  /* slots: a power of two, at least 2 * live; or 0 */
	uint32_t live; /* slots in use */
	uint32_t next; /* last sequence number used */
	struct rr_speck stag_key, to_key;
};

void rr_stags_init(struct rr_stags *t, const uint8_t secret[RR_STAG_SECRET]);
void rr_stags_fini(struct rr_stags *t);

/* Adds an entry for memory that is lent until the entry is removed.  Returns -ENOMEM,
 * or -ENOBUFS if @kind is a region and the table has RR_STAGS_MAX entries.  The limit
 * does not apply to sinks, because ORD limits the number of sinks.  @ret is valid until
 * an entry is added or removed. */
RR_MUST_CHECK int rr_stags_add(struct rr_stags *t, enum rr_stag_kind kind, void *base,
                               uint64_t len, unsigned access,
                               const struct rr_stag **ret);
/* Returns the entry for @stag, or NULL if there is none. */
struct rr_stag *rr_stags_find(const struct rr_stags *t, uint32_t stag);
void rr_stags_remove(struct rr_stags *t, struct rr_stag *s);

/* The cipher; public only for its unit test. */
void rr_speck_key(struct rr_speck *s, const uint16_t key[4]);
uint32_t rr_speck_encrypt(const struct rr_speck *s, uint32_t v);
uint32_t rr_speck_decrypt(const struct rr_speck *s, uint32_t v);

#endif
