/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4; contract in siphash.h, vectors in tests/e2e. */
#include "siphash.h"

static uint64_t load64(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_round(v);
	sip_round(v);
	v[0] ^= m;
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t k0 = load64(key->octets, 8), k1 = load64(key->octets + 8, 8);
	uint64_t v[4] = {
	        k0 ^ 0x736f6d6570736575ull,
	        k1 ^ 0x646f72616e646f6dull,
	        k0 ^ 0x6c7967656e657261ull,
	        k1 ^ 0x7465646279746573ull,
	};
	size_t whole = len & ~(size_t)7;

	for (size_t i = 0; i < whole; i += 8)
		sip_word(v, load64(p + i, 8));
	sip_word(v, load64(p + whole, len - whole) | (uint64_t)len << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
