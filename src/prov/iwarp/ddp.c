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
	if (len < RR_DDP_TAGGED || len < rr_ddp_size(src[0] & CTRL_TAGGED))
		return -EBADMSG;
	*ret = (struct rr_ddp){
	        .tagged = src[0] & CTRL_TAGGED,
	        .last = src[0] & CTRL_LAST,
	        .version = src[0] & CTRL_VERSION,
	        .rdmap = src[1],
	        .stag = rr_load_u32(src + 2),
	};
	if (ret->tagged) {
		ret->to = rr_load_u64(src + 6);
	} else {
		ret->qn = rr_load_u32(src + 6);
		ret->msn = rr_load_u32(src + 10);
		ret->mo = rr_load_u32(src + 14);
	}
	return (int)rr_ddp_size(ret->tagged);
}
