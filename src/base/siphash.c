/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4; see siphash.h. */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

static void run_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rr_rotate_u64(v[1], 13) ^ v[0];
	v[0] = rr_rotate_u64(v[0], 32);
	v[2] += v[3];
	v[3] = rr_rotate_u64(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rr_rotate_u64(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rr_rotate_u64(v[1], 17) ^ v[2];
	v[2] = rr_rotate_u64(v[2], 32);
}

static void absorb_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	run_round(v);
	run_round(v);
	v[0] ^= word;
}

void rr_siphash_init(struct rr_siphash *h, const uint64_t key[2])
{
	*h = (struct rr_siphash){
	        .v = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
	              key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u}};
}

/* Adds octets one by one.  Used for octets before the first complete word or after the
 * last complete word. */
static void add_octets(struct rr_siphash *h, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		h->word |= (uint64_t)p[i] << (8 * (h->len & 7));
		if ((++h->len & 7) == 0) {
			absorb_word(h->v, h->word);
			h->word = 0;
		}
	}
}

void rr_siphash_add(struct rr_siphash *h, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t first = RR_MIN(len, (size_t)(-h->len & 7)), words = (len - first) / 8;
	uint64_t v[4], word;

	add_octets(h, p, first);
	p += first;
	memcpy(v, h->v, sizeof(v)); /* a local copy can stay in registers */
	for (size_t i = 0; i < words; i++, p += 8) {
		memcpy(&word, p, 8);
		absorb_word(v, le64toh(word));
	}
	memcpy(h->v, v, sizeof(v));
	h->len += 8 * words;
	add_octets(h, p, len - first - 8 * words);
}

uint64_t rr_siphash_end(struct rr_siphash *h)
{
	absorb_word(h->v, h->word | h->len << 56);
	h->v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		run_round(h->v);
	return h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
}

uint64_t rr_siphash_once(const uint64_t key[2], const void *data, size_t len)
{
	struct rr_siphash h;

	rr_siphash_init(&h, key);
	rr_siphash_add(&h, data, len);
	return rr_siphash_end(&h);
}
