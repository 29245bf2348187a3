/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DDP header codec.  Reserved bits are sent as zero and ignored on receipt.  The
 * version is not checked here: iw_rx.c checks it and chooses the Terminate to send.
 */
#include "prov/iwarp/ddp.h"

#include "base/cursor.h"

#define CTRL_TAGGED  0x80
#define CTRL_LAST    0x40
#define CTRL_VERSION 0x03

void rr_ddp_put(uint8_t *dst, const struct rr_ddp *h)
{
	dst[0] = (uint8_t)((h->tagged ? CTRL_TAGGED : 0) | (h->last ? CTRL_LAST : 0) |
	                   RR_DDP_VERSION);
	dst[1] = h->rdmap;
	rr_store_u32(dst + 2, h->stag);
	if (h->tagged) {
		rr_store_u64(dst + 6, h->to);
		return;
	}
	rr_store_u32(dst + 6, h->qn);
	rr_store_u32(dst + 10, h->msn);
	rr_store_u32(dst + 14, h->mo);
}

int rr_ddp_get(const uint8_t *src, size_t len, struct rr_ddp *ret)
{
	struct rr_ddp h = {0};

	if (len < RR_DDP_TAGGED)
		return -EBADMSG;
	h.tagged = src[0] & CTRL_TAGGED;
	h.last = src[0] & CTRL_LAST;
	h.version = src[0] & CTRL_VERSION;
	h.rdmap = src[1];
	if (len < rr_ddp_size(h.tagged))
		return -EBADMSG;
	h.stag = rr_load_u32(src + 2);
	if (h.tagged) {
		h.to = rr_load_u64(src + 6);
	} else {
		h.qn = rr_load_u32(src + 6);
		h.msn = rr_load_u32(src + 10);
		h.mo = rr_load_u32(src + 14);
	}
	*ret = h;
	return (int)rr_ddp_size(h.tagged);
}
