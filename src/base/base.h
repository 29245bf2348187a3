/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types and macros that every layer shares, none of which knows a protocol: time,
 * randomness, pieces of memory, and the assertion, which stays in release builds.
 */
#ifndef RR_BASE_BASE_H
#define RR_BASE_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RR_MUST_CHECK    __attribute__((warn_unused_result))
#define RR_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define RR_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define RR_MAX(a, b)     ((a) > (b) ? (a) : (b))
#define rr_container_of(ptr, type, member)                                             \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Nanoseconds of a monotonic clock. */
typedef uint64_t rr_time;
#define RR_TIME_NEVER UINT64_MAX
#define RR_MS(n)      ((rr_time)(n)*1000000u)
#define RR_SEC(n)     ((rr_time)(n)*1000000000u)

/* Prints file and line, and aborts.  For errors of this library, never of a peer. */
_Noreturn void rr_assert_failed(const char *what, const char *file, int line);
#define RR_ASSERT(x) ((x) ? (void)0 : rr_assert_failed(#x, __FILE__, __LINE__))
/* Marks code that is never reached. */
#define RR_NEVER(reason) rr_assert_failed(reason, __FILE__, __LINE__)

/* Rotates left by @n bits, 0 < n < 64. */
static inline uint64_t rr_rotate_u64(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

/*
 * The allocator of a core.  @get returns memory aligned to 64 octets that the provider
 * may send from and receive into, or NULL.  @put frees it, given the same size.  Both
 * are called in the thread that calls the core.  The core has freed all its memory when
 * its fini function returns.
 */
struct rr_mem {
	void *(*get)(void *ctx, size_t bytes);
	void (*put)(void *ctx, void *p, size_t bytes);
	void *ctx;
};

static inline void *rr_mem_get(const struct rr_mem *m, size_t bytes)
{
	return m->get(m->ctx, bytes);
}

static inline void rr_mem_put(const struct rr_mem *m, void *p, size_t bytes)
{
	if (p)
		m->put(m->ctx, p, bytes);
}

/* A deterministic generator (xoshiro256**), seeded by its owner.  Not for keys. */
struct rr_rng {
	uint64_t s[4];
};

void rr_rng_seed(struct rr_rng *r, uint64_t seed);
uint64_t rr_rng_next(struct rr_rng *r);
/* Returns a number in [0, bound); bound > 0. */
uint64_t rr_rng_below(struct rr_rng *r, uint64_t bound);

/*
 * A piece of memory in a Payload stream.  An item is one DDP-eligible XDR data item:
 * its octets without the length word and without XDR padding.  If the item is sent
 * inline, padding is added to it.  Other pieces are XDR octets as they are; the lengths
 * of adjacent ones add up to a multiple of four.         [v2 §4.3.4.4, §4.3.5]
 */
struct rr_piece {
	const void *base;
	size_t len;
	bool item;
};

/* Local memory of a work request; @lkey is the provider's, or 0. */
struct rr_sge {
	void *base;
	uint32_t len;
	uint32_t lkey;
};

/* Rights of the peer on a registered region, as bits. */
enum rr_access {
	RR_ACCESS_REMOTE_READ = 1,  /* RDMA Read: Read chunks */
	RR_ACCESS_REMOTE_WRITE = 2, /* RDMA Write: Write and Reply chunks */
};

#endif
