/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC32C.  libisal computes it, except for short input on x86.  libisal is made for long
 * input: for less than 256 octets it takes about twice as long as a loop over the
 * processor's CRC32 instruction.  Most calls fit into so few octets.
 */
#include "prov/iwarp/crc.h"

#include <isa-l/crc.h>
#include <string.h>

#ifdef __x86_64__
#include <nmmintrin.h>

#define SHORT 256u /* octets from which on libisal is faster */

__attribute__((target("sse4.2"))) static uint32_t
add_short(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t sum = crc, word;
	uint32_t half;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = _mm_crc32_u64(sum, word);
	}
	crc = (uint32_t)sum;
	if (len >= sizeof(half)) { /* an FPDU has a multiple of 4 octets */
		memcpy(&half, p, sizeof(half));
		crc = _mm_crc32_u32(crc, half);
		p += sizeof(half);
		len -= sizeof(half);
	}
	for (; len; p++, len--)
		crc = _mm_crc32_u8(crc, *p);
	return crc;
}
#endif

/* libisal's function takes the length as an int, and does not complement its result. */
uint32_t rr_crc_add(uint32_t crc, const void *p, size_t len)
{
#ifdef __x86_64__
	if (len < SHORT && __builtin_cpu_supports("sse4.2"))
		return add_short(crc, p, len);
#endif
	return len ? crc32_iscsi((unsigned char *)(uintptr_t)p, (int)len, crc) : crc;
}
