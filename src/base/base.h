/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types that every layer shares and that know no protocol: time, randomness,
 * borrowed memory, the assertion that stays in release builds.
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

/* Nanoseconds on a clock that never goes back; 0 is its beginning. */
typedef uint64_t rr_time;
#define RR_TIME_NEVER UINT64_MAX
#define RR_MS(n)      ((rr_time)(n)*1000000u)
#define RR_SEC(n)     ((rr_time)(n)*1000000000u)

/* Our own mistake, never the peer's: prints the place and aborts. */
_Noreturn void rr_assert_failed(const char *what, const char *file, int line);
#define RR_ASSERT(x) ((x) ? (void)0 : rr_assert_failed(#x, __FILE__, __LINE__))
/* A place that our own code never reaches. */
#define RR_NEVER(words) rr_assert_failed(words, __FILE__, __LINE__)

/*
 * Where a core gets its memory.  @get returns memory aligned to 64 octets
 * that the provider may send from and receive into, or NULL; @put takes it
 * back with the same size.  Both are called by the thread that drives the
 * core.  The core frees all it took before rr_*_fini returns.
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

/* Deterministic generator (xoshiro256**), seeded by its holder.  Not for keys. */
struct rr_rng {
	uint64_t s[4];
};

void rr_rng_seed(struct rr_rng *r, uint64_t seed);
uint64_t rr_rng_next(struct rr_rng *r);
/* Uniform in [0, bound); bound > 0. */
uint64_t rr_rng_below(struct rr_rng *r, uint64_t bound);

/*
 * A piece of memory in a Payload stream.  An item is one DDP-eligible XDR
 * data item: its octets without length word and without roundup padding; the
 * padding follows it by implication when it travels inline.  Other pieces
 * are XDR octets as they are; the sum of the lengths of a run of them is a
 * multiple of four.                                      [v2 §4.3.4.4, §4.3.5]
 */
struct rr_piece {
	const void *base;
	size_t len;
	bool item;
};

/* Local memory of a work request.  @lkey is the provider's, 0 if none. */
struct rr_sge {
	void *base;
	uint32_t len;
	uint32_t lkey;
};

/* What the peer may do with a registered region, as bits. */
enum rr_access {
	RR_ACCESS_REMOTE_READ = 1,  /* RDMA Read: Read chunks */
	RR_ACCESS_REMOTE_WRITE = 2, /* RDMA Write: Write and Reply chunks */
};

#endif
