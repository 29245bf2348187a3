/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The STag table; see stag.h for the design.
 *
 * The cipher is Speck32/64: 22 rounds on two halves of 16 bits, about 40 ns.  It
 * prevents a peer that sees some STags from guessing others during the connection's
 * life.  No secret data is encrypted with it.
 *
 * Invariants: cap >= 2 * live, so that a free slot is found quickly; each number is
 * used once.  Doubling the table never maps two entries to one slot, because numbers
 * that differ modulo cap also differ modulo 2 * cap.
 */
#include "prov/iwarp/stag.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS   RR_ARRAY_SIZE(((struct rr_speck *)0)->k)
#define TO_SHIFT 16 /* offsets have 48 bits, so offset + length cannot wrap */

static uint16_t rotate16_left(uint16_t v, unsigned n)
{
	return (uint16_t)(v << n | v >> (16 - n));
}

static uint16_t rotate16_right(uint16_t v, unsigned n)
{
	return rotate16_left(v, 16 - n);
}

void rr_speck_key(struct rr_speck *s, const uint16_t key[4])
{
	uint16_t l[3] = {key[1], key[2], key[3]}, k = key[0];

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint16_t *x = &l[i % 3];

		s->k[i] = k;
		*x = (uint16_t)((uint16_t)(k + rotate16_right(*x, 7)) ^ i);
		k = rotate16_left(k, 2) ^ *x;
	}
}

uint32_t rr_speck_encrypt(const struct rr_speck *s, uint32_t v)
{
	uint16_t x = (uint16_t)(v >> 16), y = (uint16_t)v;

	for (unsigned i = 0; i < ROUNDS; i++) {
		x = (uint16_t)(rotate16_right(x, 7) + y) ^ s->k[i];
		y = rotate16_left(y, 2) ^ x;
	}
	return (uint32_t)x << 16 | y;
}

uint32_t rr_speck_decrypt(const struct rr_speck *s, uint32_t v)
{
	uint16_t x = (uint16_t)(v >> 16), y = (uint16_t)v;

	for (unsigned i = ROUNDS; i-- > 0;) {
		y = rotate16_right(y ^ x, 2);
		x = rotate16_left((uint16_t)((x ^ s->k[i]) - y), 7);
	}
	return (uint32_t)x << 16 | y;
}

void rr_stags_init(struct rr_stags *t, const uint8_t secret[RR_STAG_SECRET])
{
	uint16_t key[8];

	memset(t, 0, sizeof(*t));
	memcpy(key, secret, sizeof(key));
	rr_speck_key(&t->stag_key, key);
	rr_speck_key(&t->to_key, key + 4);
}

void rr_stags_fini(struct rr_stags *t)
{
	free(t->slots);
	t->slots = NULL;
	t->cap = t->live = 0;
}

static int grow_slots(struct rr_stags *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 16;
	struct rr_stag *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->cap; i++) {
		const struct rr_stag *s = &t->slots[i];
		uint32_t n = rr_speck_decrypt(&t->stag_key, s->stag);

		if (s->kind != RR_STAG_FREE)
			slots[n & (cap - 1)] = *s;
	}
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	return 0;
}

int rr_stags_add(struct rr_stags *t, enum rr_stag_kind kind, void *base, uint64_t len,
                 unsigned access, const struct rr_stag **ret)
{
	struct rr_stag *s;
	uint32_t stag;
	int rc;

	if (kind == RR_STAG_REGION && t->live >= RR_STAGS_MAX)
		return -ENOBUFS;
	if (t->cap < 2 * (t->live + 1)) {
		rc = grow_slots(t);
		if (rc)
			return rc;
	}
	do {
		t->next++;
		s = &t->slots[t->next & (t->cap - 1)];
		stag = rr_speck_encrypt(&t->stag_key, t->next);
	} while (s->kind != RR_STAG_FREE || stag == 0);
	*s = (struct rr_stag){
	        .kind = kind,
	        .access = access,
	        .stag = stag,
	        .to = (uint64_t)rr_speck_encrypt(&t->to_key, t->next) << TO_SHIFT,
	        .base = base,
	        .len = len,
	};
	t->live++;
	*ret = s;
	return 0;
}

struct rr_stag *rr_stags_find(const struct rr_stags *t, uint32_t stag)
{
	struct rr_stag *s;

	if (!t->live)
		return NULL;
	s = &t->slots[rr_speck_decrypt(&t->stag_key, stag) & (t->cap - 1)];
	return s->kind != RR_STAG_FREE && s->stag == stag ? s : NULL;
}

void rr_stags_remove(struct rr_stags *t, struct rr_stag *s)
{
	s->kind = RR_STAG_FREE;
	s->base = NULL;
	t->live--;
}
