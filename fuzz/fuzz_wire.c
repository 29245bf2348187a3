/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 2 transport headers.  Properties: what decodes encodes again to the
 * same octets; a failed decode moves nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(struct rr_writer *w, const uint8_t *data, const struct rr_cursor *c)
{
	RR_ASSERT(!rr_writer_bad(w));
	RR_ASSERT(rr_writer_used(w) == (size_t)(c->pos - data));
	RR_ASSERT(memcmp(w->base, data, rr_writer_used(w)) == 0);
}

static void lists(struct rr_cursor c, const uint8_t *at)
{
	static uint8_t out[8192];
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_cursor before = c;
	struct rr_lists l;

	if (rr_wire_get_lists(&c, &l)) {
		RR_ASSERT(c.pos == before.pos && !c.bad);
		return;
	}
	if (l.over)
		return;
	RR_ASSERT(rr_wire_lists_size(&l) == (size_t)(c.pos - at));
	rr_wire_put_lists(&w, &l);
	same(&w, at, &c);
}

static void error(struct rr_cursor c, const uint8_t *at)
{
	uint8_t out[64];
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_error e;

	if (rr_wire_get_error(&c, &e))
		return;
	rr_wire_put_error(&w, &e);
	same(&w, at, &c);
}

static void props(struct rr_cursor c)
{
	uint32_t count;
	struct rr_prop p;

	if (rr_wire_get_props_begin(&c, &count))
		return;
	for (uint32_t i = 0; i < count; i++)
		if (rr_wire_get_prop(&c, &p))
			return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_cursor c = rr_cursor_over(data, size), whole = c;
	struct rr_prefix p, first;
	struct rr_error e;
	uint32_t words[8], count;

	(void)!rr_wire_get_first_error(&whole, &first, &e);
	(void)!rr_wire_get_propsubset(&whole, words, 8, &count);
	if (rr_wire_get_prefix(&c, &p)) {
		RR_ASSERT(size < RR_WIRE_PREFIX);
		return 0;
	}
	if (p.htype == RDMA2_ERROR)
		error(c, c.pos);
	else if (p.htype == RDMA2_CONNPROP)
		props(c);
	else
		lists(c, c.pos);
	return 0;
}
