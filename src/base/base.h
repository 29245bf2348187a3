/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types and macros shared by every layer and independent of any protocol: time,
 * random numbers, pieces of memory, and an assertion that release builds check as well.
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

/* Monotonic time in nanoseconds. */
typedef uint64_t rr_time;
#define RR_TIME_NEVER UINT64_MAX
#define RR_MS(n)      ((rr_time)(n)*1000000u)
#define RR_SEC(n)     ((rr_time)(n)*1000000000u)

/* Prints an error message and aborts.  Used only for errors in this library, never for
 * a peer's errors. */
_Noreturn void rr_assert_failed(const char *what, const char *file, int line);
#define RR_ASSERT(x) ((x) ? (void)0 : rr_assert_failed(#x, __FILE__, __LINE__))
/* Marks code that must never be reached.  Reaching it aborts the process. */
#define RR_NEVER(reason) rr_assert_failed(reason, __FILE__, __LINE__)

/* Returns @x rotated left by @n bits, 0 < n < 64. */
static inline uint64_t rr_rotate_u64(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

/*
 * The allocator that a connection (src/conn) gets from its owner.  @get returns memory
 * that is aligned to 64 octets and usable for Sends and Receives, or NULL.  @put frees
 * memory from @get and is passed the same size.  Both functions run in the thread that
 * called the connection.  rr_conn_free frees all memory that the connection still owns.
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

/* A deterministic random number generator, xoshiro256**.  Not suitable for keys. */
struct rr_rng {
	uint64_t s[4];
};

void rr_rng_seed(struct rr_rng *r, uint64_t seed);
uint64_t rr_rng_next(struct rr_rng *r);
/* Returns a random number below @bound, which must not be 0. */
uint64_t rr_rng_below(struct rr_rng *r, uint64_t bound);

/*
 * A piece of a Payload stream in memory.  If @item is true, it is one DDP-eligible XDR
 * data item, without its length word and XDR padding; padding is added if the item is
 * sent inline.  Any other piece is XDR data that is sent unchanged; the total length of
 * adjacent pieces of this kind is a multiple of four. [v2 §4.3.4.4, §4.3.5]
 */
struct rr_piece {
	const void *base;
	size_t len;
	bool item;
	uint32_t position; /* items of a reply: where in the Call the operation is that
	                    * the item results from; 0 = not known [ext §5.5] */
};

/* Local memory of a work request.  @lkey: the provider's local key for it, or 0. */
struct rr_sge {
	void *base;
	uint32_t len;
	uint32_t lkey;
};

/* The peer's rights to a registered region: bits that can be combined. */
enum rr_access {
	RR_ACCESS_REMOTE_READ = 1,  /* for Read chunks */
	RR_ACCESS_REMOTE_WRITE = 2, /* for Write and Reply chunks */
};

#endif
