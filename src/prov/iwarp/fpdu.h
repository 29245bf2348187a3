/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPA framing: length, pad, CRC, markers.           [RFC 5044 §4]
 *
 *     ULPDU_Length (16) | ULPDU | PAD 0..3 | CRC (32)
 */
#ifndef RR_PROV_IWARP_FPDU_H
#define RR_PROV_IWARP_FPDU_H

#include <sys/uio.h>

#include "base/base.h"

#define RR_FPDU_LEN       2 /* octets of ULPDU_Length */
#define RR_FPDU_CRC       4
#define RR_FPDU_TAIL_MAX  7 /* pad and CRC */
#define RR_ULPDU_MAX      65535
#define RR_FPDU_MAX       (RR_FPDU_LEN + RR_ULPDU_MAX + RR_FPDU_TAIL_MAX)
#define RR_MARKER_SPACING 512

/* Returns the number of pad octets after a ULPDU of @len octets. */
static inline unsigned rr_fpdu_pad(size_t len)
{
	return (unsigned)(-(RR_FPDU_LEN + len)) & 3;
}

/* Returns the size of an FPDU without markers, for a ULPDU of @len octets. */
static inline size_t rr_fpdu_size(size_t len)
{
	return RR_FPDU_LEN + len + rr_fpdu_pad(len) + RR_FPDU_CRC;
}

/* Returns an upper bound on the size of an FPDU with markers. */
static inline size_t rr_fpdu_marked_size(size_t len)
{
	return rr_fpdu_size(len) +
	       4 * (rr_fpdu_size(len) / (RR_MARKER_SPACING - 4) + 2);
}

/* The framing in one direction of a connection. */
struct rr_framer {
	bool crc;
	bool markers;
	uint32_t pos; /* octets since the last marker position (markers only) */
};

/* Encodes one FPDU.  Its ULPDU consists of the @n pieces in @v, @len octets in total.
 * @dst must have space for rr_fpdu_marked_size(@len) octets.  Returns the size of the
 * FPDU. */
size_t rr_fpdu_put(struct rr_framer *f, void *dst, const struct iovec *v, unsigned n,
                   size_t len);

#endif
