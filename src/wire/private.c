/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The announcement that version 1 peers exchange in the connection manager's private
 * data.  [RFC 8797]
 *
 * Other protocols may use the same private data.  The eight octets of RFC 8797 can be
 * at any offset; they begin with a fixed word and a format version.  Octets with an
 * unknown format version are skipped.  If no announcement is found, the defaults of RFC
 * 8166 apply.
 */
#include "wire/wire.h"

enum {
	FORMAT_VERSION = 1,
	REMOTE_INVALIDATE = 0x01, /* flag R; the other bits are reserved */
	UNIT = 1024,
	MOST_UNITS = 256,
};
static const uint32_t format_id = 0xf6ab0e18;

/* Rounds down, because a peer may send as much as we announce. */
static uint8_t to_units(uint32_t bytes)
{
	uint32_t n = RR_MIN(RR_MAX(bytes / UNIT, 1u), (uint32_t)MOST_UNITS);

	return (uint8_t)(n - 1);
}

static uint32_t from_units(uint8_t units)
{
	return ((uint32_t)units + 1) * UNIT;
}

void rr_wire_put_private(uint8_t to[RR_WIRE_PRIVATE_BYTES],
                         const struct rr_wire_private *p)
{
	rr_store_u32(to, format_id);
	to[4] = FORMAT_VERSION;
	to[5] = p->remote_invalidate ? REMOTE_INVALIDATE : 0;
	to[6] = to_units(p->send_bytes);
	to[7] = to_units(p->recv_bytes);
}

bool rr_wire_find_private(const void *data, size_t len, struct rr_wire_private *ret)
{
	const uint8_t *p = data;

	*ret = (struct rr_wire_private){.send_bytes = UNIT, .recv_bytes = UNIT};
	for (; len >= RR_WIRE_PRIVATE_BYTES; p++, len--) {
		if (rr_load_u32(p) != format_id || p[4] != FORMAT_VERSION)
			continue;
		ret->remote_invalidate = p[5] & REMOTE_INVALIDATE;
		ret->send_bytes = from_units(p[6]);
		ret->recv_bytes = from_units(p[7]);
		return true;
	}
	return false;
}
