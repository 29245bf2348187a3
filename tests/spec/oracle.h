/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs have in common that compare our codec with a generated one: the
 * run, random words, mutations, the report of a disagreement.  Include after a header
 * of src/wire and <rpc/rpc.h>.
 */
#ifndef SPEC_ORACLE_H
#define SPEC_ORACLE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/cursor.h"

enum {
	MAX_OCTETS = 4096, /* of a message, and so of every count in it */
	MUTATIONS = 6,     /* of each item */
	DEFAULT_ITERATIONS = 20000,
};

static struct {
	unsigned long seed, iteration;
	unsigned long accepted, refused, over;
	struct rr_rng rng;
	const char *item;
	const uint8_t *octets;
	size_t len;
} run;

static inline _Noreturn void disagree(const char *what, int line)
{
	fprintf(stderr, "%s: %s (line %d), seed %lu, iteration %lu, %zu octets:\n",
	        run.item, what, line, run.seed, run.iteration, run.len);
	for (size_t i = 0; i < run.len; i++)
		fprintf(stderr, "%02x%s", run.octets[i],
		        i % 32 == 31 || i + 1 == run.len ? "\n"
		        : i % 4 == 3                     ? " "
		                                         : "");
	exit(1);
}

#define CHECK(x) ((x) ? (void)0 : disagree(#x, __LINE__))

static inline uint32_t below(uint32_t n)
{
	return (uint32_t)rr_rng_below(&run.rng, n);
}

/* Any word, most often one at which something could change. */
static inline uint32_t word(void)
{
	static const uint32_t edges[] = {
	        0,          1,          2,          3,          4,
	        5,          6,          8,          16,         100,
	        0x0fffffff, 0x10000000, 0x1fffffff, 0x20000000, 0x40000000,
	        0x7fffffff, 0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff};
	uint32_t any = (uint32_t)rr_rng_next(&run.rng);

	return below(3) ? edges[below(RR_ARRAY_SIZE(edges))] : any;
}

/* -- the generated side --------------------------------------------------------- */

/* Octets written, 0 if it does not fit. */
static inline size_t oracle_encode(xdrproc_t proc, void *obj, uint8_t *buf, size_t len)
{
	XDR x;
	size_t used = 0;

	xdrmem_create(&x, (char *)buf, (u_int)len, XDR_ENCODE);
	if (proc(&x, obj))
		used = xdr_getpos(&x);
	xdr_destroy(&x);
	return used;
}

/*
 * Decodes into @obj, zeroed by the caller, who frees it by xdr_free also after
 * a failure.  The octets are not written to.
 */
static inline bool oracle_decode(xdrproc_t proc, void *obj, const uint8_t *at,
                                 size_t len, size_t *ret_used)
{
	char *octets = (char *)(uintptr_t)at;
	XDR x;
	bool ok;

	xdrmem_create(&x, octets, (u_int)len, XDR_DECODE);
	ok = proc(&x, obj);
	*ret_used = ok ? xdr_getpos(&x) : 0;
	xdr_destroy(&x);
	return ok;
}

#define PROC(name) ((xdrproc_t)(void (*)(void))xdr_##name)

/* Every use counts, for the last line of output. */
static inline bool expect(bool accept)
{
	if (accept)
		run.accepted++;
	else
		run.refused++;
	return accept;
}

/* Ours refused: nothing may have moved. */
static inline void check_untouched(const struct rr_cursor *c, const uint8_t *at,
                                   size_t len)
{
	CHECK(c->pos == at);
	CHECK(c->end == at + len);
	CHECK(!c->bad);
}

/* Few of each as a rule, now and then more than we keep. */
static inline u_int few(u_int many)
{
	return below(12) ? below(4) : below(many);
}

/* -- the run --------------------------------------------------------------- */

struct item {
	const char *name;
	size_t (*make)(uint8_t *buf); /* encoded by both, compared */
	void (*compare)(const uint8_t *at, size_t len);
};

/* Changes the octets at @at in place; returns how many there are now. */
static inline size_t mutate(uint8_t *at, size_t len)
{
	size_t words = len / 4, i = words ? below((uint32_t)words) * 4u : 0;

	switch (words ? below(6) : 3) {
	case 0:
		at[below((uint32_t)len)] ^= (uint8_t)(1u << below(8));
		return len;
	case 1:
		rr_store_u32(at + i, word());
		return len;
	case 2:
		return below((uint32_t)len); /* cut */
	case 3:                              /* append */
		for (size_t end = len + below(64); len < end; len++)
			at[len] = (uint8_t)word();
		return len;
	case 4: /* take a word out */
		memmove(at + i, at + i + 4, len - i - 4);
		return len - 4;
	case 5: /* put one in */
		memmove(at + i + 4, at + i, len - i);
		rr_store_u32(at + i, word());
		return len + 4;
	}
	return len;
}

/* From exactly @len octets of heap, so that a sanitizer sees the end. */
static inline void compare(const struct item *it, const uint8_t *buf, size_t len)
{
	uint8_t *at = malloc(len + !len);

	if (!at)
		abort();
	memcpy(at, buf, len);
	run.octets = at;
	run.len = len;
	it->compare(at, len);
	run.octets = buf;
	free(at);
}

static inline void iterate(const struct item *items, size_t n_items)
{
	static uint8_t buf[MAX_OCTETS];
	const struct item *it = &items[below((uint32_t)n_items)];
	size_t len;

	run.item = it->name;
	run.octets = buf;
	run.len = 0;
	len = it->make(buf);
	if (!len || len > MAX_OCTETS - MUTATIONS * 64)
		return;
	compare(it, buf, len);
	for (int i = 0; i < MUTATIONS; i++) {
		len = mutate(buf, len);
		compare(it, buf, len);
	}
}

/* The program: seed and number of iterations are its arguments. */
static inline int run_oracle(int argc, char **argv, const struct item *items,
                             size_t n_items)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : DEFAULT_ITERATIONS;

	run.seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	rr_rng_seed(&run.rng, run.seed);
	for (run.iteration = 0; run.iteration < n; run.iteration++)
		iterate(items, n_items);
	printf("seed %lu: %lu items, %lu decoded (%lu over our limits), %lu refused\n",
	       run.seed, n, run.accepted, run.over, run.refused);
	return 0;
}

#endif
