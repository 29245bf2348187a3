/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our codec of send-based placement and counted continuation beside one generated from
 * the XDR of the extensions.
 *
 *   codec_oracle_rtr [seed [iterations]]
 *
 * As in codec_oracle.c, both sides encode random items and decode them and mutations of
 * them.  Where the two may differ:
 *
 *  T1  The generated decoder takes any "is present" word but 0 for TRUE.  What it accepts
 *      must be accepted by us exactly if it encodes again to the same octets.
 *  T2  Rules of the text that are not in the XDR are read a second time here, from the
 *      text: which places are for requests, order and sums of items, ranges, counts, the
 *      structure of a buffer.  What breaks one must be refused.
 *  T3  More items, directions, segments, numbers or groups than our arrays hold are only
 *      counted; then the numbers are compared and what was stored.
 *  T4  Unknown flags are cleared by us.
 *
 * Requirements held by this comparison: NS-s12-04 NS-s13-01 NS-s13-02 NS-s13-03
 * NS-s13-04 NS-s14-03 NS-s15-01 NS-s16-01 NS-s16-02 NS-s16-03 NS-s16-04 NS-s17-02
 * NS-s17-04 NS-rtrext-02 LS-s08-04
 */
#include "wire/rtr/rtr_wire.h" /* before the generated macros of the same names */

#include <rpc/rpc.h>
/* Enumerators of the same names as ours. */
#define XMDTYPE_EXRW     spec_exrw
#define XMDTYPE_TBSN     spec_tbsn
#define XMDTYPE_CHOICE   spec_choice
#define XMDTYPE_BYSIZE   spec_bysize
#define XMDTYPE_TOOSHORT spec_tooshort
#define XMDTYPE_NOITEM   spec_noitem
#define OPTRERR_BADHMT   spec_badhmt
#define OPTRERR_BADOMT   spec_badomt
#define OPTRERR_BADCONT  spec_badcont
#define OPTRERR_BADSEQ   spec_badseq
#define OPTRERR_BADXID   spec_badxid
#define OPTRERR_BADOFF   spec_badoff
#define OPTRERR_BADTBSN  spec_badtbsn
#define OPTRERR_BADPL    spec_badpl
#include "rpcrdma_ext.h"

#include "oracle.h"

enum {
	MANY_ITEMS = 24, /* somewhat more than our arrays hold */
	MANY_DIRS = 24,
	MANY_SEGS = 80,
	MANY_TBSNS = 300,
};

/* -- comparing headers --------------------------------------------------------------- */

/* How far the comparison has come in our arrays. */
struct walk {
	const struct rr_rtr_header *h;
	uint32_t segs, tbsns, items, sets, dirs;
};

/* Segments are in wire order, the first ones of them stored. [T3] */
static void check_segments(struct walk *k, const struct rr_chunk *c, u_int n,
                           const rpcrdma2_segment *t)
{
	uint16_t stored = 0;
	uint64_t length = 0;

	CHECK(!c || c->first == RR_MIN(k->segs, RR_WIRE_MAX_SEGMENTS));
	for (u_int i = 0; i < n; i++, k->segs++) {
		const struct rr_segment *o;

		if (k->segs >= RR_WIRE_MAX_SEGMENTS)
			continue;
		o = &k->h->seg[k->segs];
		CHECK(o->handle == t[i].rdma_handle);
		CHECK(o->length == t[i].rdma_length);
		CHECK(o->offset == t[i].rdma_offset);
		length += o->length;
		stored++;
	}
	CHECK(!c || (c->count == stored && c->length == length));
}

static void check_tbsns(struct walk *k, const struct rr_rtr_item *o,
                        const xmddp_tbsnloc *t)
{
	uint16_t stored = 0;

	CHECK(!o || o->offset == t->xmdl_offset);
	CHECK(!o || o->where.first == RR_MIN(k->tbsns, RR_WIRE_RTR_MAX_TBSNS));
	for (u_int i = 0; i < t->xmdl_bsnum.xmdl_bsnum_len; i++, k->tbsns++) {
		if (k->tbsns >= RR_WIRE_RTR_MAX_TBSNS)
			continue;
		CHECK(k->h->tbsn[k->tbsns] == t->xmdl_bsnum.xmdl_bsnum_val[i]);
		stored++;
	}
	CHECK(!o || o->where.count == stored);
}

static void check_items(struct walk *k, const xmddp_grpinfo *t)
{
	for (; k->items < t->xmddp_grpinfo_len; k->items++) {
		const xmddp_mitem *m = &t->xmddp_grpinfo_val[k->items];
		const xmddp_loc *w = &m->xmdmi_where;
		const struct rr_rtr_item *o = NULL;

		if (k->items < RR_WIRE_RTR_MAX_ITEMS)
			o = &k->h->item[k->items];
		CHECK(!o || o->disp == m->xmdmi_disp);
		CHECK(!o || o->length == m->xmdmi_length);
		CHECK(!o || o->type == (uint32_t)w->type);
		CHECK(!o || o->where.position == m->xmdmi_disp);
		if (w->type == spec_exrw)
			check_segments(k, o ? &o->where : NULL,
			               w->xmddp_loc_u.xmdl_ex.xmdl_ex_len,
			               w->xmddp_loc_u.xmdl_ex.xmdl_ex_val);
		else if (w->type == spec_tbsn)
			check_tbsns(k, o, &w->xmddp_loc_u.xmdl_tb);
	}
}

/* @s: our set, NULL if it is not stored. */
static uint16_t check_dir(struct walk *k, const struct rr_rtr_set *s,
                          const xmddp_rsditem *t)
{
	const xmddp_rsdloc *w = &t->xmdrsdi_loc;
	const struct rr_rtr_dir *o = NULL;
	const struct rr_chunk *c = NULL;

	if (s && k->dirs < RR_WIRE_RTR_MAX_DIRS)
		o = &k->h->dir[k->dirs++];
	CHECK(!o || o->min_length == t->xmdrsdi_minlen);
	CHECK(!o || o->type == (uint32_t)w->type);
	CHECK(!o || w->type == spec_bysize || o->above == 0);
	c = o ? &o->where : NULL;
	if (w->type == spec_bysize) {
		CHECK(!o || o->above == w->xmddp_rsdloc_u.xmdrsdl_bs.xmdrsdl_dsdov);
		check_segments(
		        k, c,
		        w->xmddp_rsdloc_u.xmdrsdl_bs.xmdrsdl_bsex.xmdrsdl_bsex_len,
		        w->xmddp_rsdloc_u.xmdrsdl_bs.xmdrsdl_bsex.xmdrsdl_bsex_val);
	} else if (w->type != spec_tbsn) {
		check_segments(k, c, w->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_len,
		               w->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_val);
	}
	return !!o;
}

static uint32_t check_sets(struct walk *k, const xmddp_rsdgroup *t)
{
	uint32_t dirs = 0;

	for (; k->sets < t->xmddp_rsdgroup_len; k->sets++) {
		const xmddp_rsdset *x = &t->xmddp_rsdgroup_val[k->sets];
		const struct rr_rtr_set *s = NULL;
		uint32_t first = k->dirs;
		uint16_t stored = 0;

		if (k->sets < RR_WIRE_RTR_MAX_SETS)
			s = &k->h->set[k->sets];
		CHECK(!s || s->begin == x->xmdrsds_range.xmdrsdr_begin);
		CHECK(!s || s->end == x->xmdrsds_range.xmdrsdr_end);
		for (u_int i = 0; i < x->xmdrsds_items.xmdrsds_items_len; i++, dirs++)
			stored +=
			        check_dir(k, s, &x->xmdrsds_items.xmdrsds_items_val[i]);
		CHECK(!s || (s->first == first && s->count == stored));
	}
	return dirs;
}

/* @sets is NULL for a response. */
static void check_header(const struct rr_rtr_header *h, const xmddp_grpinfo *items,
                         const xmddp_rsdgroup *sets, const rpcrdma2_write_chunk *reply)
{
	struct walk k = {.h = h};
	uint32_t dirs = 0;

	check_items(&k, items);
	if (sets)
		dirs = check_sets(&k, sets);
	CHECK(h->has_reply == (reply != NULL));
	if (reply)
		check_segments(&k, &h->reply, reply->rdma_target.rdma_target_len,
		               reply->rdma_target.rdma_target_val);
	CHECK(h->total_items == k.items);
	CHECK(h->total_sets == k.sets);
	CHECK(h->total_dirs == dirs);
	CHECK(h->total_segs == k.segs);
	CHECK(h->total_tbsns == k.tbsns);
	CHECK(h->n_items == RR_MIN(k.items, RR_WIRE_RTR_MAX_ITEMS));
	CHECK(h->n_sets == RR_MIN(k.sets, RR_WIRE_RTR_MAX_SETS));
	CHECK(h->n_dirs == k.dirs);
	CHECK(h->n_segs == RR_MIN(k.segs, RR_WIRE_MAX_SEGMENTS));
	CHECK(h->n_tbsns == RR_MIN(k.tbsns, RR_WIRE_RTR_MAX_TBSNS));
	CHECK(h->over == (h->n_items != k.items || h->n_sets != k.sets ||
	                  h->n_dirs != dirs || h->n_segs != k.segs ||
	                  h->n_tbsns != k.tbsns));
}

/* -- the rules, read a second time [T2] ------------------------------------------------ */

static uint64_t sum_segments(u_int n, const rpcrdma2_segment *s)
{
	uint64_t sum = 0;

	while (n--)
		sum += s++->rdma_length;
	return sum;
}

static bool lawful_place(const xmddp_mitem *m, bool response)
{
	const xmddp_loc *w = &m->xmdmi_where;

	if (w->type == spec_tooshort)
		return response;
	if (w->type == spec_noitem)
		return response && m->xmdmi_disp == 0 && m->xmdmi_length == 0;
	return w->type == spec_tbsn ||
	       sum_segments(w->xmddp_loc_u.xmdl_ex.xmdl_ex_len,
	                    w->xmddp_loc_u.xmdl_ex.xmdl_ex_val) == m->xmdmi_length;
}

/* All but the first may not begin before the one before ends, rounded up to four. */
static bool lawful_items(const xmddp_grpinfo *t, bool response, bool *ret_body)
{
	const xmddp_mitem *last = NULL;

	*ret_body = false;
	for (u_int i = 0; i < t->xmddp_grpinfo_len; i++) {
		const xmddp_mitem *m = &t->xmddp_grpinfo_val[i];

		if (!lawful_place(m, response) || m->xmdmi_disp % 4)
			return false;
		if (m->xmdmi_where.type == spec_noitem)
			continue;
		if (m->xmdmi_disp == 0) {
			if (i != 0 || response || m->xmdmi_where.type != spec_exrw)
				return false;
			*ret_body = true;
			continue;
		}
		if (last && m->xmdmi_disp < (last->xmdmi_disp + (uint64_t)3 +
		                             last->xmdmi_length) /
		                                    4 * 4)
			return false;
		last = m;
	}
	return true;
}

static bool lawful_ranges(const xmddp_rsdgroup *t)
{
	for (u_int i = 0; i < t->xmddp_rsdgroup_len; i++) {
		const xmddp_rsdrange *r = &t->xmddp_rsdgroup_val[i].xmdrsds_range;

		if (r->xmdrsdr_begin >= r->xmdrsdr_end)
			return false;
		if (i && r[0].xmdrsdr_begin <
		                 t->xmddp_rsdgroup_val[i - 1].xmdrsds_range.xmdrsdr_end)
			return false;
	}
	return true;
}

static bool lawful_req(const optxmt_req *t)
{
	bool body;

	if (!lawful_items(&t->optxrq_ddp, false, &body) ||
	    !lawful_ranges(&t->optxrq_rsd))
		return false;
	if (body && (t->optxrq_count != 1 || t->optxrq_pslen != 0))
		return false;
	return t->optxrq_count && t->optxrq_rsbuf;
}

static bool lawful_resp(const optxmt_resp *t)
{
	bool body;

	return lawful_items(&t->optxrs_ddp, true, &body) && t->optxrs_count;
}

/* -- building by our functions ------------------------------------------------------------ */

static int build_segments(struct rr_rtr_header *h, u_int n, const rpcrdma2_segment *t)
{
	int err = 0;

	for (u_int i = 0; i < n && !err; i++) {
		struct rr_segment s = {t[i].rdma_handle, t[i].rdma_length,
		                       t[i].rdma_offset};

		err = rr_rtr_add_segment(h, &s);
	}
	return err;
}

static int build_item(struct rr_rtr_header *h, const xmddp_mitem *m)
{
	const xmddp_loc *w = &m->xmdmi_where;
	const xmddp_tbsnloc *tb = &w->xmddp_loc_u.xmdl_tb;
	int err = rr_rtr_add_item(h, m->xmdmi_disp, m->xmdmi_length,
	                          (enum rr_wire_rtr_place)(int)w->type);

	if (!err && w->type == spec_exrw)
		err = build_segments(h, w->xmddp_loc_u.xmdl_ex.xmdl_ex_len,
		                     w->xmddp_loc_u.xmdl_ex.xmdl_ex_val);
	if (!err && w->type == spec_tbsn) {
		h->item[h->n_items - 1].offset = tb->xmdl_offset;
		for (u_int i = 0; !err && i < tb->xmdl_bsnum.xmdl_bsnum_len; i++)
			err = rr_rtr_add_tbsn(h, tb->xmdl_bsnum.xmdl_bsnum_val[i]);
	}
	return err;
}

static int build_dir(struct rr_rtr_header *h, const xmddp_rsditem *d)
{
	const xmddp_rsdloc *w = &d->xmdrsdi_loc;
	const xmddp_bysize *bs = &w->xmddp_rsdloc_u.xmdrsdl_bs;
	int err = rr_rtr_add_dir(h, d->xmdrsdi_minlen,
	                         (enum rr_wire_rtr_place)(int)w->type,
	                         w->type == spec_bysize ? bs->xmdrsdl_dsdov : 0);

	if (err || w->type == spec_tbsn)
		return err;
	if (w->type == spec_bysize)
		return build_segments(h, bs->xmdrsdl_bsex.xmdrsdl_bsex_len,
		                      bs->xmdrsdl_bsex.xmdrsdl_bsex_val);
	return build_segments(h, w->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_len,
	                      w->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_val);
}

static int build_reply(struct rr_rtr_header *h, const rpcrdma2_write_chunk *t)
{
	if (!t)
		return 0;
	rr_rtr_begin_reply(h);
	return build_segments(h, t->rdma_target.rdma_target_len,
	                      t->rdma_target.rdma_target_val);
}

static int build_sets(struct rr_rtr_header *h, const xmddp_rsdgroup *t)
{
	int err = 0;

	for (u_int i = 0; !err && i < t->xmddp_rsdgroup_len; i++) {
		const xmddp_rsdset *s = &t->xmddp_rsdgroup_val[i];

		err = rr_rtr_add_set(h, s->xmdrsds_range.xmdrsdr_begin,
		                     s->xmdrsds_range.xmdrsdr_end);
		for (u_int k = 0; !err && k < s->xmdrsds_items.xmdrsds_items_len; k++)
			err = build_dir(h, &s->xmdrsds_items.xmdrsds_items_val[k]);
	}
	return err;
}

/* The same header by our builder; -ENOSPC if it is more than it takes. */
static int build_header(struct rr_rtr_header *h, const xmddp_grpinfo *items,
                        const xmddp_rsdgroup *sets, const rpcrdma2_write_chunk *reply)
{
	int err = 0;

	rr_rtr_init(h);
	for (u_int i = 0; !err && i < items->xmddp_grpinfo_len; i++)
		err = build_item(h, &items->xmddp_grpinfo_val[i]);
	if (!err && sets)
		err = build_sets(h, sets);
	if (!err)
		err = build_reply(h, reply);
	return err;
}

/* -- requests and responses ------------------------------------------------------------- */

typedef void put_fn(struct rr_writer *w, const struct rr_rtr_header *h);

/* The header encodes to these octets, or not at all if it is incomplete. */
static void check_encoding(const struct rr_rtr_header *h, put_fn *put, size_t size,
                           const uint8_t *at, size_t len)
{
	uint8_t copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	put(&w, h);
	CHECK(rr_writer_bad(&w) == h->over);
	if (h->over) {
		run.over++;
		return;
	}
	CHECK(size == len);
	CHECK(rr_writer_used(&w) == len);
	CHECK(!memcmp(copy, at, len));
}

static void check_req(const struct rr_rtr_header *h, const optxmt_req *t,
                      const uint8_t *at, size_t len)
{
	struct rr_rtr_header built;

	check_header(h, &t->optxrq_ddp, &t->optxrq_rsd, t->optxrq_repch);
	CHECK(h->inv_handle == t->optxrq_inv_handle);
	CHECK(h->count == t->optxrq_count);
	CHECK(h->rsbuf == t->optxrq_rsbuf);
	CHECK(h->pslen == t->optxrq_pslen);
	check_encoding(h, rr_wire_rtr_put_req, rr_wire_rtr_req_size(h), at, len);
	if (build_header(&built, &t->optxrq_ddp, &t->optxrq_rsd, t->optxrq_repch)) {
		CHECK(h->over);
		return;
	}
	CHECK(!h->over);
	built.inv_handle = t->optxrq_inv_handle;
	built.count = t->optxrq_count;
	built.rsbuf = t->optxrq_rsbuf;
	built.pslen = t->optxrq_pslen;
	check_encoding(&built, rr_wire_rtr_put_req, rr_wire_rtr_req_size(&built), at,
	               len);
}

static void check_resp(const struct rr_rtr_header *h, const optxmt_resp *t,
                       const uint8_t *at, size_t len)
{
	struct rr_rtr_header built;

	check_header(h, &t->optxrs_ddp, NULL, t->optxrs_repch);
	CHECK(h->inv_handle == 0 && h->rsbuf == 1);
	CHECK(h->count == t->optxrs_count);
	CHECK(h->pslen == t->optxrs_pslen);
	check_encoding(h, rr_wire_rtr_put_resp, rr_wire_rtr_resp_size(h), at, len);
	if (build_header(&built, &t->optxrs_ddp, NULL, t->optxrs_repch)) {
		CHECK(h->over);
		return;
	}
	CHECK(!h->over);
	built.count = t->optxrs_count;
	built.pslen = t->optxrs_pslen;
	check_encoding(&built, rr_wire_rtr_put_resp, rr_wire_rtr_resp_size(&built), at,
	               len);
}

/* Is what was decoded encoded to the same octets? [T1] */
static bool is_canonical(xdrproc_t proc, void *obj, const uint8_t *at, size_t used)
{
	uint8_t canonical[MAX_OCTETS];

	CHECK(oracle_encode(proc, obj, canonical, sizeof(canonical)) == used);
	return !memcmp(canonical, at, used);
}

static void compare_req(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	struct rr_rtr_header ours;
	optxmt_req theirs;
	size_t used;

	memset(&theirs, 0, sizeof(theirs));
	if (expect(oracle_decode(PROC(optxmt_req), &theirs, at, len, &used) &&
	           is_canonical(PROC(optxmt_req), &theirs, at, used) &&
	           lawful_req(&theirs))) {
		CHECK(rr_wire_rtr_get_req(&c, &ours) == 0);
		CHECK((size_t)(c.pos - at) == used);
		check_req(&ours, &theirs, at, used);
	} else {
		CHECK(rr_wire_rtr_get_req(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
	}
	xdr_free(PROC(optxmt_req), &theirs);
}

static void compare_resp(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	struct rr_rtr_header ours;
	optxmt_resp theirs;
	size_t used;

	memset(&theirs, 0, sizeof(theirs));
	if (expect(oracle_decode(PROC(optxmt_resp), &theirs, at, len, &used) &&
	           is_canonical(PROC(optxmt_resp), &theirs, at, used) &&
	           lawful_resp(&theirs))) {
		CHECK(rr_wire_rtr_get_resp(&c, &ours) == 0);
		CHECK((size_t)(c.pos - at) == used);
		check_resp(&ours, &theirs, at, used);
	} else {
		CHECK(rr_wire_rtr_get_resp(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
	}
	xdr_free(PROC(optxmt_resp), &theirs);
}

/* -- random headers ---------------------------------------------------------------------- */

/* Structures of the generated side live here while one item is encoded. */
static struct {
	rpcrdma2_segment seg[MANY_SEGS];
	u_int n_segs;
	u_int tbsn[MANY_TBSNS];
	u_int n_tbsns;
	xmddp_mitem items[MANY_ITEMS];
	xmddp_rsdset sets[MANY_DIRS];
	xmddp_rsditem dirs[MANY_DIRS];
	u_int n_dirs;
	rpcrdma2_write_chunk reply;
} parts;

static u_int at_most(u_int n, u_int room)
{
	return RR_MIN(n, room);
}

static rpcrdma2_segment *take_segments(u_int n, u_int *ret_n)
{
	rpcrdma2_segment *s = &parts.seg[parts.n_segs];

	*ret_n = at_most(n, MANY_SEGS - parts.n_segs);
	for (u_int i = 0; i < *ret_n; i++)
		parts.seg[parts.n_segs++] =
		        (rpcrdma2_segment){word(), below(3) ? below(10000) : word(),
		                           (uint64)word() << 32 | word()};
	return s;
}

static void make_item(xmddp_mitem *m, bool response, u_int most_segs, u_int most_tbsns)
{
	xmddp_loc *w = &m->xmdmi_where;
	xmddp_tbsnloc *tb = &w->xmddp_loc_u.xmdl_tb;

	w->type = spec_exrw + below(2);
	if (below(response ? 3 : 20) == 0)
		w->type = spec_tooshort + below(2);
	m->xmdmi_length = below(4) ? below(9000) : below(5);
	if (w->type == spec_exrw) {
		w->xmddp_loc_u.xmdl_ex.xmdl_ex_val = take_segments(
		        below(most_segs), &w->xmddp_loc_u.xmdl_ex.xmdl_ex_len);
		if (below(30))
			m->xmdmi_length =
			        (u_int)sum_segments(w->xmddp_loc_u.xmdl_ex.xmdl_ex_len,
			                            w->xmddp_loc_u.xmdl_ex.xmdl_ex_val);
	} else if (w->type == spec_tbsn) {
		tb->xmdl_offset = below(3) ? 0 : word();
		tb->xmdl_bsnum.xmdl_bsnum_val = &parts.tbsn[parts.n_tbsns];
		tb->xmdl_bsnum.xmdl_bsnum_len =
		        at_most(below(most_tbsns), MANY_TBSNS - parts.n_tbsns);
		for (u_int i = 0; i < tb->xmdl_bsnum.xmdl_bsnum_len; i++)
			parts.tbsn[parts.n_tbsns++] = below(3) ? below(100) : word();
	}
}

static void make_items(xmddp_grpinfo *t, bool response)
{
	bool long_ones = !below(8);
	uint64_t at = 40;

	parts.n_segs = parts.n_tbsns = parts.n_dirs = 0;
	t->xmddp_grpinfo_len = few(MANY_ITEMS);
	t->xmddp_grpinfo_val = parts.items;
	for (u_int i = 0; i < t->xmddp_grpinfo_len; i++) {
		xmddp_mitem *m = &parts.items[i];

		make_item(m, response, long_ones ? 40 : 3, long_ones ? 200 : 4);
		m->xmdmi_disp = (u_int)at;
		if (m->xmdmi_where.type == spec_noitem && below(10))
			m->xmdmi_disp = m->xmdmi_length = 0;
		else
			at = (at + m->xmdmi_length + 3) / 4 * 4 + 4 * below(3);
		if (!below(40))
			m->xmdmi_disp += below(9) - 4;
	}
	if (!response && t->xmddp_grpinfo_len && !below(5))
		parts.items[0].xmdmi_disp = 0;
}

static void make_dir(xmddp_rsditem *d)
{
	xmddp_rsdloc *w = &d->xmdrsdi_loc;
	xmddp_bysize *bs = &w->xmddp_rsdloc_u.xmdrsdl_bs;

	d->xmdrsdi_minlen = word();
	w->type = spec_exrw + below(4);
	if (w->type == spec_bysize) {
		bs->xmdrsdl_dsdov = word();
		bs->xmdrsdl_bsex.xmdrsdl_bsex_val =
		        take_segments(below(4), &bs->xmdrsdl_bsex.xmdrsdl_bsex_len);
	} else if (w->type != spec_tbsn) {
		w->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_val = take_segments(
		        below(4), &w->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_len);
	}
}

static void make_sets(xmddp_rsdgroup *t)
{
	uint32_t at = below(50);

	t->xmddp_rsdgroup_len = few(MANY_DIRS);
	t->xmddp_rsdgroup_val = parts.sets;
	for (u_int i = 0; i < t->xmddp_rsdgroup_len; i++) {
		xmddp_rsdset *s = &parts.sets[i];

		s->xmdrsds_range.xmdrsdr_begin = at + below(3);
		at = s->xmdrsds_range.xmdrsdr_begin + 1 + below(100);
		s->xmdrsds_range.xmdrsdr_end = at;
		if (!below(40))
			at -= below(3);
		s->xmdrsds_items.xmdrsds_items_val = &parts.dirs[parts.n_dirs];
		s->xmdrsds_items.xmdrsds_items_len =
		        at_most(few(MANY_DIRS), MANY_DIRS - parts.n_dirs);
		for (u_int k = 0; k < s->xmdrsds_items.xmdrsds_items_len; k++)
			make_dir(&parts.dirs[parts.n_dirs++]);
	}
}

static rpcrdma2_write_chunk *make_reply(void)
{
	if (below(2))
		return NULL;
	parts.reply.rdma_target.rdma_target_val =
	        take_segments(few(MANY_SEGS), &parts.reply.rdma_target.rdma_target_len);
	return &parts.reply;
}

static size_t make_req(uint8_t *buf)
{
	optxmt_req t = {.optxrq_inv_handle = word()};

	make_items(&t.optxrq_ddp, false);
	make_sets(&t.optxrq_rsd);
	t.optxrq_repch = make_reply();
	t.optxrq_count = below(20) ? 1 + below(3) : 0;
	t.optxrq_rsbuf = below(20) ? 1 + below(3) : word();
	t.optxrq_pslen = below(2) ? 0 : word();
	return oracle_encode(PROC(optxmt_req), &t, buf, MAX_OCTETS);
}

static size_t make_resp(uint8_t *buf)
{
	optxmt_resp t = {.optxrs_count = below(20) ? 1 + below(3) : word()};

	make_items(&t.optxrs_ddp, true);
	t.optxrs_repch = make_reply();
	t.optxrs_pslen = word();
	return oracle_encode(PROC(optxmt_resp), &t, buf, MAX_OCTETS);
}

/* -- continuation and reports -------------------------------------------------------------- */

static void compare_cont(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	uint8_t copy[RR_WIRE_RTR_CONT];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_rtr_cont ours;
	optxmt_cont theirs;
	size_t used;

	if (!expect(oracle_decode(PROC(optxmt_cont), &theirs, at, len, &used))) {
		CHECK(rr_wire_rtr_get_cont(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
		return;
	}
	CHECK(rr_wire_rtr_get_cont(&c, &ours) == 0);
	CHECK((size_t)(c.pos - at) == used);
	CHECK(ours.xnum == theirs.optxc_xnum);
	CHECK(ours.itype == theirs.optxc_itype);
	CHECK(ours.pslen == theirs.optxc_pslen);
	rr_wire_rtr_put_cont(&w, &ours);
	CHECK(!rr_writer_bad(&w) && !memcmp(copy, at, sizeof(copy)));
}

static size_t make_cont(uint8_t *buf)
{
	optxmt_cont t = {word(), word(), word()};

	return oracle_encode(PROC(optxmt_cont), &t, buf, MAX_OCTETS);
}

static void check_id(const struct rr_rtr_id *o, const xms_id *t)
{
	CHECK(o->xid == t->xmsi_xid);
	CHECK(o->dir == t->xmsi_dir);
	CHECK(o->seq == t->xmsi_seq);
}

static void check_report(const struct rr_rtr_error *o, const optrept_err *t)
{
	const optr_range *range = &t->optre_info.optr_info_u.optri_range;
	const optr_pair *pair = &t->optre_info.optr_info_u.optri_pair;
	static const xms_id none;

	check_id(&o->bad, &t->optre_bad);
	CHECK(o->has_lead == (t->optre_lead != NULL));
	check_id(&o->lead, t->optre_lead ? t->optre_lead : &none);
	CHECK(o->code == (uint32_t)t->optre_info.optre_which);
	switch (t->optre_info.optre_which) {
	case spec_badoff:
	case spec_badtbsn:
	case spec_badpl:
		CHECK(o->arg[0] == range->optri_value);
		CHECK(o->arg[1] == range->optri_min);
		CHECK(o->arg[2] == range->optri_max);
		break;
	case spec_badcont:
		CHECK(!o->arg[0] && !o->arg[1] && !o->arg[2]);
		break;
	case spec_badhmt:
	case spec_badomt:
	case spec_badseq:
	case spec_badxid:
		CHECK(o->arg[0] == pair->optri_expect);
		CHECK(o->arg[1] == pair->optri_current);
		CHECK(!o->arg[2]);
		break;
	}
}

static void compare_report(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	uint8_t copy[64];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_rtr_error ours;
	optrept_err theirs;
	size_t used;

	memset(&theirs, 0, sizeof(theirs));
	if (expect(oracle_decode(PROC(optrept_err), &theirs, at, len, &used) &&
	           is_canonical(PROC(optrept_err), &theirs, at, used))) {
		CHECK(rr_wire_rtr_get_error(&c, &ours) == 0);
		CHECK((size_t)(c.pos - at) == used);
		check_report(&ours, &theirs);
		rr_wire_rtr_put_error(&w, &ours);
		CHECK(!rr_writer_bad(&w) && rr_writer_used(&w) == used);
		CHECK(!memcmp(copy, at, used));
	} else {
		CHECK(rr_wire_rtr_get_error(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
	}
	xdr_free(PROC(optrept_err), &theirs);
}

static size_t make_report(uint8_t *buf)
{
	xms_id lead = {word(), below(2), word()};
	optrept_err t = {{word(), below(3), word()}, below(2) ? &lead : NULL, {0}};

	t.optre_info.optre_which = spec_badhmt + below(8);
	t.optre_info.optr_info_u.optri_range = (optr_range){word(), word(), word()};
	return oracle_encode(PROC(optrept_err), &t, buf, MAX_OCTETS);
}

/* -- properties ----------------------------------------------------------------------------- */

static bool lawful_buffer(const xmrbs_buf *t)
{
	__uint128_t sum = 0;

	for (u_int i = 0; i < t->xmrbuf_groups.xmrbuf_groups_len; i++) {
		const xmrbs_group *g = &t->xmrbuf_groups.xmrbuf_groups_val[i];
		const xmrbs_seg *s = &g->xmrgrp_info;

		if (!g->xmrgrp_count || !s->xmrseg_length || s->xmrseg_length % 4 ||
		    __builtin_popcount(s->xmrseg_align) != 1)
			return false;
		sum += (__uint128_t)g->xmrgrp_count * s->xmrseg_length;
	}
	return sum && sum == t->xmrbuf_length;
}

static void check_buffer(const struct rr_rbstruct *o, const xmrbs_buf *t)
{
	u_int n = t->xmrbuf_groups.xmrbuf_groups_len;

	CHECK(o->length == t->xmrbuf_length);
	CHECK(o->total_groups == n);
	CHECK(o->n_groups == RR_MIN(n, RR_WIRE_RTR_MAX_GROUPS));
	CHECK(o->over == (n > RR_WIRE_RTR_MAX_GROUPS));
	for (uint32_t i = 0; i < o->n_groups; i++) {
		const xmrbs_group *g = &t->xmrbuf_groups.xmrbuf_groups_val[i];

		CHECK(o->group[i].count == g->xmrgrp_count);
		CHECK(o->group[i].length == g->xmrgrp_info.xmrseg_length);
		CHECK(o->group[i].align == g->xmrgrp_info.xmrseg_align);
		CHECK(o->group[i].flags ==
		      (g->xmrgrp_info.xmrseg_flags & 1)); /* [T4] */
	}
}

static void compare_buffer(const uint8_t *at, size_t len)
{
	uint8_t canonical[MAX_OCTETS], copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_rbstruct ours = {.length = 99};
	xmrbs_buf theirs = {0};
	size_t used = 0;
	bool ok = !len || (oracle_decode(PROC(xmrbs_buf), &theirs, at, len, &used) &&
	                   used == len && lawful_buffer(&theirs));

	if (!expect(ok)) {
		CHECK(rr_wire_rtr_get_rbstruct(at, (uint32_t)len, &ours) == -EINVAL);
		CHECK(ours.length == 99);
	} else {
		CHECK(rr_wire_rtr_get_rbstruct(at, (uint32_t)len, &ours) == 0);
		check_buffer(&ours, &theirs);
		for (u_int i = 0; i < theirs.xmrbuf_groups.xmrbuf_groups_len; i++)
			theirs.xmrbuf_groups.xmrbuf_groups_val[i]
			        .xmrgrp_info.xmrseg_flags &= 1;
		CHECK(!len || oracle_encode(PROC(xmrbs_buf), &theirs, canonical,
		                            sizeof(canonical)) == len);
		rr_wire_rtr_put_rbstruct(&w, &ours);
		CHECK(rr_writer_bad(&w) == ours.over);
		CHECK(!len || ours.over || rr_wire_rtr_rbstruct_size(&ours) == len);
		CHECK(!len || ours.over || !memcmp(copy, canonical, len));
	}
	xdr_free(PROC(xmrbs_buf), &theirs);
}

static size_t make_buffer(uint8_t *buf)
{
	xmrbs_group groups[20];
	xmrbs_buf t = {.xmrbuf_groups = {1 + few(20), groups}};

	for (u_int i = 0; i < t.xmrbuf_groups.xmrbuf_groups_len; i++) {
		groups[i].xmrgrp_count = below(40) ? 1 + below(4) : word();
		groups[i].xmrgrp_info.xmrseg_length =
		        below(40) ? 4 + 4 * below(2048) : word();
		groups[i].xmrgrp_info.xmrseg_align =
		        below(40) ? 1u << below(32) : word();
		groups[i].xmrgrp_info.xmrseg_flags = below(3) ? below(2) : word();
		t.xmrbuf_length +=
		        groups[i].xmrgrp_count * groups[i].xmrgrp_info.xmrseg_length;
	}
	return oracle_encode(PROC(xmrbs_buf), &t, buf, MAX_OCTETS);
}

static void compare_words(const uint8_t *at, size_t len)
{
	rpcrdma2_prop_rtrsupp support = 0;
	rpcrdma2_prop_reqrxlim limit = 1;
	uint32_t ours = 99;
	size_t used = 0;
	bool ok = !len || (oracle_decode(PROC(rpcrdma2_prop_rtrsupp), &support, at, len,
	                                 &used) &&
	                   used == len);

	if (len && ok)
		CHECK(oracle_decode(PROC(rpcrdma2_prop_reqrxlim), &limit, at, len,
		                    &used));
	CHECK(rr_wire_rtr_get_limit(at, (uint32_t)len, &ours) == (ok ? 0 : -EINVAL));
	CHECK(ours == (ok ? RR_MAX(limit, 1) : 99));
	ours = 99;
	support &= 15;                                             /* [T4] */
	ok = ok && (!support || ((support & 1) && (support & 2))); /* [T2] */
	CHECK(rr_wire_rtr_get_support(at, (uint32_t)len, &ours) == (ok ? 0 : -EINVAL));
	CHECK(ours == (ok ? support : 99));
	(void)expect(ok); /* for the count alone */
}

static size_t make_words(uint8_t *buf)
{
	rr_store_u32(buf, below(2) ? below(20) : word());
	rr_store_u32(buf + 4, word());
	return below(4) ? 4 : 1 + below(8);
}

static const struct item items[] = {
        {"request", make_req, compare_req},
        {"response", make_resp, compare_resp},
        {"request", make_req, compare_req},
        {"response", make_resp, compare_resp},
        {"request", make_req, compare_req},
        {"continuation", make_cont, compare_cont},
        {"report", make_report, compare_report},
        {"buffer", make_buffer, compare_buffer},
        {"words", make_words, compare_words},
};

int main(int argc, char **argv)
{
	return run_oracle(argc, argv, items, RR_ARRAY_SIZE(items));
}
