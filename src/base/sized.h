/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public structures that grow.  A program may be older or newer than the library: each
 * structure goes with the size that it had for the program's compiler, and members are
 * only ever added at the end, never into padding: what a program has there need not be
 * zero.  Such a structure is copied here once, at the border, into one of the size that
 * this library knows.
 */
#ifndef RR_BASE_SIZED_H
#define RR_BASE_SIZED_H

#include "base/base.h"

/* No structure is larger, so no size makes us read further. */
enum { RR_SIZED_MAX = 4096 };

/* The size of the structure at @p up to its member @last. */
#define RR_SIZED_UPTO(p, last)                                                         \
	((size_t)((const char *)(&(p)->last + 1) - (const char *)(p)))

/*
 * Takes what the program gives: copies @src, which begins with its size, to the @size
 * octets of @dst, which then begin with @size.  What @src lacks is zero.  -EINVAL: it is
 * smaller than @least.  -E2BIG: it is larger than @dst and not zero there, or larger
 * than RR_SIZED_MAX.  @dst is undefined after an error.
 */
int rr_sized_take(void *dst, size_t size, size_t least, const void *src) RR_MUST_CHECK;

/* @last: of the members that must be given, the last. */
#define RR_SIZED_TAKE(dst, last, src)                                                  \
	rr_sized_take((dst), sizeof(*(dst)), RR_SIZED_UPTO(dst, last), (src))

/* Gives the program the @size octets of @src: at most @dst_size of them are written, and
 * zero behind them if it has room for more. */
void rr_sized_give(void *dst, size_t dst_size, const void *src, size_t size);

#endif
