/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies structures whose size depends on the version; see sized.h. */
#include "base/sized.h"

#include <string.h>

static bool all_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

int rr_sized_take(void *dst, size_t size, size_t least, const void *src)
{
	const uint8_t *from = src;
	uint8_t *to = dst;
	size_t has = rr_sized_stated(src);

	if (has < least)
		return -EINVAL;
	if (has > RR_SIZED_MAX || (has > size && !all_zero(from + size, has - size)))
		return -E2BIG;
	has = RR_MIN(has, size);
	memcpy(to, from, has);
	memset(to + has, 0, size - has);
	memcpy(to, &size, sizeof(size));
	return 0;
}

void rr_sized_give(void *dst, size_t dst_size, const void *src, size_t size)
{
	size_t n = RR_MIN(dst_size, size);
	uint8_t *to = dst;

	memcpy(to, src, n);
	memset(to + n, 0, dst_size - n);
}
