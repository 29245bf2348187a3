/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies public structures that may grow in later versions of the library.  A program
 * may be older or newer than the library, so each structure is passed with the size
 * that the program's compiler saw.  New members are added at the end only, never into
 * padding, which a program need not zero.  The library copies such a structure once, at
 * the public function, into one of the size that it knows.
 */
#ifndef RR_BASE_SIZED_H
#define RR_BASE_SIZED_H

#include "base/base.h"

/* Larger sizes are refused, so that a wrong size cannot make us read far. */
enum { RR_SIZED_MAX = 4096 };

/* The size of the structure at @p up to and including its member @last. */
#define RR_SIZED_UPTO(p, last)                                                         \
	((size_t)((const char *)(&(p)->last + 1) - (const char *)(p)))

/*
 * Copies a program's structure @src, whose first member is its size, into the @size
 * octets of @dst, whose first member becomes @size.  Members that @src lacks become
 * zero.  -EINVAL: @src is smaller than @least.  -E2BIG: @src is larger than @dst and
 * not zero there, or larger than RR_SIZED_MAX.  @dst is undefined after an error.
 */
int rr_sized_take(void *dst, size_t size, size_t least, const void *src) RR_MUST_CHECK;

/* @last: the last member that every program has. */
#define RR_SIZED_TAKE(dst, last, src)                                                  \
	rr_sized_take((dst), sizeof(*(dst)), RR_SIZED_UPTO(dst, last), (src))

/* Copies the @size octets of @src to a program's structure of @dst_size octets.  A
 * shorter one gets the first members only; in a longer one the rest becomes zero. */
void rr_sized_give(void *dst, size_t dst_size, const void *src, size_t size);

#endif
