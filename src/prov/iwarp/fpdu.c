/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes an FPDU into contiguous memory, with markers if the peer asked for markers.
 * Without markers, iw_tx.c sends the pieces by gathered writes instead.
 *
 * A marker precedes each octet whose position in the stream is a multiple of 512.
 * The lengths of FPDUs and markers are multiples of four octets, so no marker falls
 * inside a CRC.  A marker between two FPDUs belongs to the second, whose CRC covers
 * the marker.                                              [RFC 5044 §4.3, §4.4]
 */
#include "prov/iwarp/fpdu.h"

#include <string.h>

#include "base/cursor.h"
#include "prov/iwarp/crc.h"

struct fpdu_out {
	struct rr_framer *f;
	uint8_t *base, *pos;
	uint8_t *start; /* ULPDU_Length; NULL until written */
};

static void put_marker(struct fpdu_out *o)
{
	rr_store_u16(o->pos, 0);
	rr_store_u16(o->pos + 2, o->start ? (uint16_t)(o->pos - o->start) : 0);
	o->pos += 4;
	o->f->pos = 4;
}

static void put_octets(struct fpdu_out *o, const void *src, size_t len)
{
	const uint8_t *p = src;
	size_t n;

	while (len) {
		n = len;
		if (o->f->markers) {
			if (o->f->pos == RR_MARKER_SPACING || o->f->pos == 0)
				put_marker(o);
			n = RR_MIN(len, (size_t)(RR_MARKER_SPACING - o->f->pos));
			o->f->pos += (uint32_t)n;
		}
		if (!o->start)
			o->start = o->pos;
		memcpy(o->pos, p, n);
		o->pos += n;
		p += n;
		len -= n;
	}
}

size_t rr_fpdu_put(struct rr_framer *f, void *dst, const struct iovec *v, unsigned n,
                   size_t len)
{
	static const uint8_t zero[4];
	struct fpdu_out o = {.f = f, .base = dst, .pos = dst};
	uint8_t be[4];

	rr_store_u16(be, (uint16_t)len);
	put_octets(&o, be, RR_FPDU_LEN);
	for (unsigned i = 0; i < n; i++)
		put_octets(&o, v[i].iov_base, v[i].iov_len);
	put_octets(&o, zero, rr_fpdu_pad(len));
	if (f->markers && f->pos == RR_MARKER_SPACING)
		put_marker(&o);
	if (f->crc)
		rr_crc_store(be,
		             rr_crc_add(RR_CRC_INIT, o.base, (size_t)(o.pos - o.base)));
	else
		memcpy(be, zero, 4);
	put_octets(&o, be, RR_FPDU_CRC);
	return (size_t)(o.pos - o.base);
}
