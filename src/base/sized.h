/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies public structures that may grow in later versions of the library.  A program
 * may be older or newer than the library, so each structure is passed with the size
 * that it had when the program was compiled.  New members are added only at the end,
 * and never in padding, which programs need not zero.  A public function reads such a
 * structure only after it has copied the octets into a structure of the size that the
 * library knows, or has found that the program's has this size.
 */
#ifndef RR_BASE_SIZED_H
#define RR_BASE_SIZED_H

#include <string.h>

#include "base/base.h"

/* Upper limit on the size that a program may pass, so that a wrong size cannot cause a
 * read far out of bounds. */
enum { RR_SIZED_MAX = 4096 };

/* Returns the size that a program's structure states, which may be unaligned. */
static inline size_t rr_sized_stated(const void *src)
{
	size_t size;

	memcpy(&size, src, sizeof(size));
	return size;
}

/* The size of the structure at @p up to and including its member @last. */
#define RR_SIZED_UPTO(p, last)                                                         \
	((size_t)((const char *)(&(p)->last + 1) - (const char *)(p)))

/*
 * Copies a program's structure @src, whose first member is its size, into the @size
 * octets of @dst, and sets the first member of @dst to @size.  Members missing from
 * @src become zero.  Returns -EINVAL if @src is smaller than @least, or -E2BIG if @src
 * is larger than RR_SIZED_MAX or has nonzero octets beyond @size.  @dst is undefined
 * after an error.
 */
int rr_sized_take(void *dst, size_t size, size_t least, const void *src) RR_MUST_CHECK;

/* @last: the last member present in every version of the structure. */
#define RR_SIZED_TAKE(dst, last, src)                                                  \
	rr_sized_take((dst), sizeof(*(dst)), RR_SIZED_UPTO(dst, last), (src))

/* Copies the @size octets of @src to a program's structure of @dst_size octets.  If
 * @dst_size is smaller, only the first octets are copied; if larger, the remaining
 * octets of the program's structure are zeroed. */
void rr_sized_give(void *dst, size_t dst_size, const void *src, size_t size);

#endif
