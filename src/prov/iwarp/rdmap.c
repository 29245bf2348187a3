/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMAP codec: pure functions.  See rdmap.h. */
#include "prov/iwarp/rdmap.h"

#include <string.h>

#include "base/cursor.h"

#define TERM_M 0x80 /* segment length is valid */
#define TERM_D 0x40 /* DDP header is included */
#define TERM_R 0x20 /* RDMAP header is included */

#define TERM_FLAGS     (TERM_M | TERM_D | TERM_R)
#define TERM_SIW_FLAGS 0x07 /* the three flags as siw sends them */

const struct rr_term_info rr_term_info[RR_TERM_COUNT] = {
#define X(name, l, t, c, h, w)                                                         \
	[RR_TERM_##name] = {                                                           \
	        .layer = (l), .type = (t), .code = (c), .headers = (h), .text = (w)},
        RR_TERM_ERRORS(X)
#undef X
};

void rr_read_request_put(uint8_t *dst, const struct rr_read_request *r)
{
	rr_store_u32(dst, r->sink_stag);
	rr_store_u64(dst + 4, r->sink_to);
	rr_store_u32(dst + 12, r->size);
	rr_store_u32(dst + 16, r->src_stag);
	rr_store_u64(dst + 20, r->src_to);
}

void rr_read_request_get(const uint8_t *src, struct rr_read_request *ret)
{
	*ret = (struct rr_read_request){
	        .sink_stag = rr_load_u32(src),
	        .sink_to = rr_load_u64(src + 4),
	        .size = rr_load_u32(src + 12),
	        .src_stag = rr_load_u32(src + 16),
	        .src_to = rr_load_u64(src + 20),
	};
}

size_t rr_term_put(uint8_t *dst, enum rr_term_error e, const uint8_t *ddp,
                   size_t ddp_len, uint16_t seg_len, const uint8_t *req)
{
	const struct rr_term_info *i = &rr_term_info[e];
	size_t n = 4;

	dst[0] = (uint8_t)(i->layer << 4 | i->type);
	dst[1] = i->code;
	dst[2] = 0;
	dst[3] = 0;
	if (!i->headers || !ddp)
		return n;
	dst[2] |= TERM_M | TERM_D;
	rr_store_u16(dst + n, seg_len);
	memcpy(dst + n + 2, ddp, ddp_len);
	n += 2 + ddp_len;
	/* only RDMAP errors include the RDMAP header [RFC 5040 §4.8] */
	if (req && i->layer == 0 && i->type == 1) {
		dst[2] |= TERM_R;
		memcpy(dst + n, req, RR_READ_REQUEST);
		n += RR_READ_REQUEST;
	}
	return n;
}

static const struct rr_term_info *find_term_info(unsigned layer, unsigned type,
                                                 unsigned code)
{
	for (unsigned i = 0; i < RR_TERM_COUNT; i++) {
		const struct rr_term_info *t = &rr_term_info[i];

		if (t->layer != layer || t->type != type)
			continue;
		if (t->code == code || i == RR_TERM_RDMAP_LOCAL) /* any code */
			return t;
	}
	return NULL;
}

void rr_term_get(const uint8_t *body, size_t len, struct rr_term *ret)
{
	struct rr_term t = {0};
	unsigned high, low, code, flags;

	if (len >= 4) {
		high = body[0] >> 4;
		low = body[0] & 0x0f;
		code = body[1];
		flags = body[2];
		if (flags & TERM_FLAGS)
			t.reversed = false;
		else if (flags & TERM_SIW_FLAGS)
			t.reversed = true;
		else
			t.reversed = !find_term_info(high, low, code) &&
			             find_term_info(low, high, code);
		t.layer = (uint8_t)(t.reversed ? low : high);
		t.type = (uint8_t)(t.reversed ? high : low);
		t.code = (uint8_t)code;
	}
	*ret = t;
}

const char *rr_term_text(unsigned layer, unsigned type, unsigned code)
{
	const struct rr_term_info *t = find_term_info(layer, type, code);

	return t ? t->text : "unknown error";
}
