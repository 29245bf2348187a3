/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC32C as used by MPA: start with RR_CRC_INIT, add octets in any number of
 * pieces, store the result with rr_crc_store().   [RFC 5044 §4.4, RFC 3720 §12.1]
 */
#ifndef RR_PROV_IWARP_CRC_H
#define RR_PROV_IWARP_CRC_H

#include <isa-l/crc.h>
#include <stddef.h>
#include <stdint.h>

#define RR_CRC_INIT 0xffffffffu

/* Adds @len octets to @crc.  libisal's function takes the length as an int, and does not
 * complement its result. */
static inline uint32_t rr_crc_add(uint32_t crc, const void *p, size_t len)
{
	const size_t step = (size_t)1 << 30;
	unsigned char *b = (unsigned char *)(uintptr_t)p;

	while (len > step) {
		crc = crc32_iscsi(b, (int)step, crc);
		b += step;
		len -= step;
	}
	return len ? crc32_iscsi(b, (int)len, crc) : crc;
}

/* Complements the CRC and stores it, least significant octet first. */
static inline void rr_crc_store(void *p, uint32_t crc)
{
	uint8_t *b = p;

	crc = ~crc;
	b[0] = (uint8_t)crc;
	b[1] = (uint8_t)(crc >> 8);
	b[2] = (uint8_t)(crc >> 16);
	b[3] = (uint8_t)(crc >> 24);
}

#endif
