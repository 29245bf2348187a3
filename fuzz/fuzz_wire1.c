/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version 1 transport headers and private data: what decodes encodes again to the
 * same octets; a failed decode moves nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct rr_writer *w, const uint8_t *at,
                 const struct rr_cursor *c)
{
	RR_ASSERT(!rr_writer_bad(w));
	RR_ASSERT(rr_writer_used(w) == (size_t)(c->pos - at));
	RR_ASSERT(memcmp(w->base, at, rr_writer_used(w)) == 0);
}

static void lists(struct rr_cursor c)
{
	static uint8_t out[8192];
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_cursor before = c;
	struct rr_lists l;

	if (rr_wire_v1_get_lists(&c, &l)) {
		RR_ASSERT(c.pos == before.pos && !c.bad);
		return;
	}
	RR_ASSERT(!l.inv_handle);
	if (l.over)
		return;
	RR_ASSERT(rr_wire_v1_lists_size(&l) == (size_t)(c.pos - before.pos));
	rr_wire_v1_put_lists(&w, &l);
	same(&w, before.pos, &c);
}

static void error(struct rr_cursor c)
{
	uint8_t out[12];
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_cursor before = c;
	struct rr_error e;

	if (rr_wire_v1_get_error(&c, &e)) {
		RR_ASSERT(c.pos == before.pos && !c.bad);
		return;
	}
	rr_wire_v1_put_error(&w, &e);
	same(&w, before.pos, &c);
}

static void private_data(const uint8_t *data, size_t size)
{
	uint8_t out[RR_WIRE_PRIVATE_BYTES];
	struct rr_wire_private p, again;

	if (rr_wire_find_private(data, size, &p)) {
		rr_wire_put_private(out, &p);
		RR_ASSERT(rr_wire_find_private(out, sizeof(out), &again));
		RR_ASSERT(p.send_bytes == again.send_bytes);
		RR_ASSERT(p.recv_bytes == again.recv_bytes);
		RR_ASSERT(p.remote_invalidate == again.remote_invalidate);
	}
	RR_ASSERT(p.send_bytes >= 1024 && p.send_bytes <= 262144);
	RR_ASSERT(p.recv_bytes >= 1024 && p.recv_bytes <= 262144);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_cursor c = rr_cursor_over(data, size);
	uint8_t out[RR_WIRE_V1_PREFIX];
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_prefix p;

	private_data(data, size);
	if (rr_wire_v1_get_prefix(&c, &p)) {
		RR_ASSERT(size < RR_WIRE_V1_PREFIX);
		return 0;
	}
	rr_wire_v1_put_prefix(&w, &p);
	same(&w, data, &c);
	if (p.htype == RDMA2_ERROR)
		error(c);
	else
		lists(c);
	return 0;
}
