/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers and properties of the optional extensions.  The first octet chooses what the
 * rest is.  Properties: what decodes encodes again, to the size announced and to the same
 * octets, words without a meaning apart; a failed decode moves nothing; what is marked
 * as incomplete is not encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/htfam/htfam_wire.h"
#include "wire/reminv/reminv_wire.h"
#include "wire/rprc/rprc_wire.h"
#include "wire/rtr/rtr_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t out[16384];

/* @decoded octets at @at encode again to the same, unless the value is @over. */
static void same(const struct rr_writer *w, bool over, size_t measured,
                 const uint8_t *at, size_t decoded)
{
	RR_ASSERT(rr_writer_bad(w) == over);
	if (over) {
		RR_ASSERT(rr_writer_used(w) == 0);
		return;
	}
	RR_ASSERT(rr_writer_used(w) == decoded);
	RR_ASSERT(measured == decoded);
	RR_ASSERT(!decoded || memcmp(out, at, decoded) == 0);
}

static void unmoved(const struct rr_cursor *c, const uint8_t *at)
{
	RR_ASSERT(c->pos == at && !c->bad);
}

/* -- headers ------------------------------------------------------------------ */

static void msg_done(struct rr_cursor c, const uint8_t *at)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_wire_done_list done;
	struct rr_lists l;

	if (rr_wire_rprc_get_msg_done(&c, &done, &l)) {
		unmoved(&c, at);
		return;
	}
	rr_wire_rprc_put_msg_done(&w, &done, &l);
	same(&w, l.over, rr_wire_rprc_msg_done_size(&done, &l), at,
	     (size_t)(c.pos - at));
}

/* The lists that a connection is given keep what it relies on. */
static void check_lists(const struct rr_lists *l)
{
	uint32_t segs = 0;

	RR_ASSERT(l->n_segs <= RR_WIRE_MAX_SEGMENTS &&
	          l->n_writes <= RR_WIRE_MAX_WRITES);
	RR_ASSERT(l->n_reads <= l->n_segs);
	RR_ASSERT(!l->reads_descend);
	for (unsigned i = 0; i < l->n_reads; i++) {
		RR_ASSERT(l->reads[i].first == segs);
		segs += l->reads[i].count;
	}
	for (unsigned i = 0; i < l->n_writes; i++) {
		RR_ASSERT(l->over || l->writes[i].first == segs);
		segs += l->writes[i].count;
	}
	segs += l->has_reply ? l->reply.count : 0;
	RR_ASSERT(segs == l->n_segs);
	RR_ASSERT(l->over || segs == l->total_segs);
}

/* Positions of results are not kept: what was encoded is decoded and encoded again. */
static void family(struct rr_cursor c, const uint8_t *at, uint32_t htype)
{
	static uint8_t again[sizeof(out)];
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_writer w2 = rr_writer_over(again, sizeof(again));
	uint32_t remaining = 0;
	struct rr_lists l, l2;
	size_t len;

	if (rr_wire_htfam_get_lists(&c, htype, &l, &remaining)) {
		unmoved(&c, at);
		return;
	}
	check_lists(&l);
	rr_wire_htfam_put_lists(&w, htype, &l, remaining);
	RR_ASSERT(rr_writer_bad(&w) == l.over);
	if (l.over)
		return;
	len = rr_writer_used(&w);
	RR_ASSERT(len == (size_t)(c.pos - at));
	RR_ASSERT(len == rr_wire_htfam_lists_size(htype, &l));
	c = rr_cursor_over(out, len);
	RR_ASSERT(rr_wire_htfam_get_lists(&c, htype, &l2, &remaining) == 0);
	RR_ASSERT(rr_cursor_left(&c) == 0);
	rr_wire_htfam_put_lists(&w2, htype, &l2, remaining);
	RR_ASSERT(rr_writer_used(&w2) == len && memcmp(out, again, len) == 0);
}

static void check_header(const struct rr_rtr_header *h)
{
	RR_ASSERT(h->n_items <= RR_WIRE_RTR_MAX_ITEMS &&
	          h->n_sets <= RR_WIRE_RTR_MAX_SETS);
	RR_ASSERT(h->n_dirs <= RR_WIRE_RTR_MAX_DIRS &&
	          h->n_segs <= RR_WIRE_MAX_SEGMENTS);
	RR_ASSERT(h->n_tbsns <= RR_WIRE_RTR_MAX_TBSNS);
	RR_ASSERT(h->count && h->rsbuf);
	for (unsigned i = 0; i < h->n_items; i++) {
		const struct rr_rtr_item *it = &h->item[i];
		unsigned most = it->type == XMDTYPE_TBSN ? h->n_tbsns : h->n_segs;

		RR_ASSERT(it->where.first + it->where.count <= most);
		RR_ASSERT((it->disp & 3) == 0);
		RR_ASSERT(h->over || it->type != XMDTYPE_EXRW ||
		          it->where.length == it->length);
	}
	for (unsigned i = 0; i < h->n_sets; i++) {
		RR_ASSERT(h->set[i].begin < h->set[i].end);
		RR_ASSERT(h->set[i].first + h->set[i].count <= h->n_dirs);
	}
	for (unsigned i = 0; i < h->n_dirs; i++)
		RR_ASSERT(h->dir[i].where.first + h->dir[i].where.count <= h->n_segs);
	RR_ASSERT(h->reply.first + h->reply.count <= h->n_segs);
}

static void request(struct rr_cursor c, const uint8_t *at)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_rtr_header h;

	if (rr_wire_rtr_get_req(&c, &h)) {
		unmoved(&c, at);
		return;
	}
	check_header(&h);
	rr_wire_rtr_put_req(&w, &h);
	same(&w, h.over, rr_wire_rtr_req_size(&h), at, (size_t)(c.pos - at));
}

static void response(struct rr_cursor c, const uint8_t *at)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_rtr_header h;

	if (rr_wire_rtr_get_resp(&c, &h)) {
		unmoved(&c, at);
		return;
	}
	check_header(&h);
	RR_ASSERT(!h.n_sets && !h.n_dirs && !h.inv_handle);
	rr_wire_rtr_put_resp(&w, &h);
	same(&w, h.over, rr_wire_rtr_resp_size(&h), at, (size_t)(c.pos - at));
}

static void continuation(struct rr_cursor c, const uint8_t *at)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_rtr_cont k;

	if (rr_wire_rtr_get_cont(&c, &k)) {
		unmoved(&c, at);
		return;
	}
	rr_wire_rtr_put_cont(&w, &k);
	same(&w, false, RR_WIRE_RTR_CONT, at, (size_t)(c.pos - at));
}

static void report(struct rr_cursor c, const uint8_t *at)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_rtr_error e;

	if (rr_wire_rtr_get_error(&c, &e)) {
		unmoved(&c, at);
		return;
	}
	rr_wire_rtr_put_error(&w, &e);
	same(&w, false, rr_writer_used(&w), at, (size_t)(c.pos - at));
}

/* -- values of properties ------------------------------------------------------- */

static void buffer(const uint8_t *at, uint32_t len)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_rbstruct s, again;
	uint64_t sum = 0;

	if (rr_wire_rtr_get_rbstruct(at, len, &s) || !len)
		return;
	rr_wire_rtr_put_rbstruct(&w, &s);
	RR_ASSERT(rr_writer_bad(&w) == s.over);
	if (s.over)
		return;
	for (uint32_t i = 0; i < s.n_groups; i++)
		sum += (uint64_t)s.group[i].count * s.group[i].length;
	RR_ASSERT(sum == s.length);
	RR_ASSERT(rr_writer_used(&w) == len && rr_wire_rtr_rbstruct_size(&s) == len);
	RR_ASSERT(rr_wire_rtr_get_rbstruct(out, len, &again) == 0);
	RR_ASSERT(s.length == again.length && s.n_groups == again.n_groups);
	RR_ASSERT(memcmp(s.group, again.group, s.n_groups * sizeof(s.group[0])) == 0);
}

/* What is taken encodes to a value that is taken for the same. */
static void words(const uint8_t *at, uint32_t len)
{
	struct rr_writer w = rr_writer_over(out, sizeof(out));
	struct rr_wire_rprc rprc, again;
	uint32_t flags, limit, support;
	bool invalidate;

	if (!rr_wire_rprc_get_value(at, len, &rprc)) {
		rr_wire_rprc_put_value(&w, &rprc);
		RR_ASSERT(!rr_wire_rprc_get_value(out, RR_WIRE_RPRC_VALUE, &again));
		RR_ASSERT(memcmp(&rprc, &again, sizeof(rprc)) == 0);
	}
	if (!rr_wire_rtr_get_limit(at, len, &limit))
		RR_ASSERT(limit);
	if (!rr_wire_rtr_get_support(at, len, &support))
		RR_ASSERT(!support || (support & 3) == 3);
	if (!rr_wire_htfam_get_value(at, len, &flags))
		RR_ASSERT(flags <= 3);
	(void)!rr_wire_reminv_get_value(at, len, &invalidate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t types[] = {
	        RDMA2_X_CALL_EXTERNAL,  RDMA2_X_CALL_MIDDLE,  RDMA2_X_CALL_LAST,
	        RDMA2_X_REPLY_EXTERNAL, RDMA2_X_REPLY_MIDDLE, RDMA2_X_REPLY_LAST,
	        RDMA2_X_GRANT,
	};
	const uint8_t *at = data + 1;
	struct rr_cursor c;

	if (!size)
		return 0;
	c = rr_cursor_over(at, size - 1);
	switch (data[0] % 14) {
	case 0:
		msg_done(c, at);
		break;
	case 1:
		request(c, at);
		break;
	case 2:
		response(c, at);
		break;
	case 3:
		continuation(c, at);
		break;
	case 4:
		report(c, at);
		break;
	case 5:
		buffer(at, (uint32_t)(size - 1));
		break;
	case 6:
		words(at, (uint32_t)(size - 1));
		break;
	default:
		family(c, at, types[data[0] % 14 - 7]);
		break;
	}
	return 0;
}
