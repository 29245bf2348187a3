/* SPDX-License-Identifier: BSD-3-Clause */
/* Failed assertions, and the random number generator xoshiro256**, seeded by
 * splitmix64. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void rr_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "librpcrdma: %s:%d: assertion failed: %s\n", file, line, what);
	abort();
}

static uint64_t next_splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rr_rng_seed(struct rr_rng *r, uint64_t seed)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(r->s); i++)
		r->s[i] = next_splitmix(&seed);
}

uint64_t rr_rng_next(struct rr_rng *r)
{
	uint64_t *s = r->s;
	uint64_t ret = rr_rotate_u64(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rr_rotate_u64(s[3], 45);
	return ret;
}

uint64_t rr_rng_below(struct rr_rng *r, uint64_t bound)
{
	RR_ASSERT(bound > 0);
	return rr_rng_next(r) % bound;
}
