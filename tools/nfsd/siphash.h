/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4 (Aumasson, Bernstein, 2012): a keyed 64-bit digest, here the seal
 * on file handles and the source of identifiers that must not be guessed.
 */
#ifndef RPCRDMA_NFSD_SIPHASH_H
#define RPCRDMA_NFSD_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint8_t octets[16];
};

uint64_t siphash(const struct siphash_key *key, const void *data, size_t len);

#endif
