/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma2_hdr_prefix: five words, the first four of which are the same in every
 * version.  All values are accepted here, because the connection determines which
 * versions, types and flags are allowed. [v2 §6.2.1, §6.2.2]
 */
#include "wire/wire.h"

int rr_wire_get_prefix(struct rr_cursor *c, struct rr_prefix *ret)
{
	struct rr_cursor t = *c;
	const uint8_t *p = rr_get_bytes(&t, RR_WIRE_PREFIX);

	if (!p)
		return -EBADMSG;
	*c = t;
	*ret = (struct rr_prefix){
	        .xid = rr_load_u32(p),
	        .vers = rr_load_u32(p + 4),
	        .credit = rr_load_u32(p + 8),
	        .htype = rr_load_u32(p + 12),
	        .flags = rr_load_u32(p + 16),
	};
	return 0;
}

void rr_wire_put_prefix(struct rr_writer *w, const struct rr_prefix *p)
{
	uint8_t *b = rr_put_space(w, RR_WIRE_PREFIX);

	if (!b)
		return;
	rr_store_u32(b, p->xid);
	rr_store_u32(b + 4, p->vers);
	rr_store_u32(b + 8, p->credit);
	rr_store_u32(b + 12, p->htype);
	rr_store_u32(b + 16, p->flags);
}
