/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle's part for requests and responses of the types XMOPT.        [ext §5]
 *
 * Which items are placed by Send is the Requester's choice and is taken from the
 * header, read by the code that rpcgen made.  Then the header that must have been sent
 * is built, and every transmission is compared with the layout of oracle_group.c, octet
 * by octet.
 */
#include "view_xdr.h"

enum { REQ_FIXED = 20 + 28, RESP_FIXED = 20 + 16, SEGMENT = 16 };
enum { MESSAGE = 64 }; /* octets of the request that an operation covers */

/* -- agreed abilities ---------------------------------------------- [ext §5.2] */

static const struct mx_props *requester_props(const struct mx_view *v)
{
	return &v->props[v->w->asker];
}

static const struct mx_props *responder_props(const struct mx_view *v)
{
	return &v->props[v->responder];
}

static bool continues(const struct mx_view *v)
{
	return requester_props(v)->rtr & responder_props(v)->rtr & RTRS_XCONT;
}

/* The kind of direction for a destination: what the user asks for, if both ends are
 * able. */
static xmddp_type direction(const struct mx_view *v)
{
	bool able = responder_props(v)->rtr & RTRS_TBSNRESP &&
	            requester_props(v)->buffer.targets;

	if (able && v->k->direct == RR_DIRECT_SEND)
		return XMDTYPE_TBSN;
	if (able && v->k->direct == RR_DIRECT_CHOICE)
		return XMDTYPE_CHOICE;
	if (able && v->k->direct == RR_DIRECT_BY_SIZE)
		return XMDTYPE_BYSIZE;
	return XMDTYPE_EXRW;
}

/* -- the request's header, as it was sent ---------------------------------- */

static void take_item(struct mx_view *v, const xmddp_mitem *m, unsigned *next)
{
	const struct mx_stream *s = &v->w->call;

	while (*next < s->n_items && !(v->reduced & 1u << *next))
		++*next;
	assert_true(*next < s->n_items);
	assert_int_equal(m->xmdmi_disp, s->item_at[*next]);
	assert_int_equal(m->xmdmi_length, s->item[*next].len);
	if (m->xmdmi_where.type == XMDTYPE_TBSN)
		v->call_sent |= 1u << *next;
	else
		assert_int_equal(m->xmdmi_where.type, XMDTYPE_EXRW);
	++*next;
}

static void take_items(struct mx_view *v, const xmddp_grpinfo *g)
{
	unsigned next = 0;

	for (u_int i = 0; i < g->xmddp_grpinfo_len; i++) {
		const xmddp_mitem *m = &g->xmddp_grpinfo_val[i];

		if (i == 0 && m->xmdmi_disp == 0) {
			assert_int_equal(m->xmdmi_where.type, XMDTYPE_EXRW);
			v->body = true;
			continue;
		}
		take_item(v, m, &next);
	}
	for (; next < v->k->n_items; next++)
		assert_false(v->reduced & 1u << next);
}

bool mx_rtr_begin(struct mx_view *v)
{
	const struct mx_event *e = mx_next(v->w, v->w->asker, MX_SEND, NULL);
	optxmt_req t = {0};

	if (!e || mx_htype(e) != RDMA2_XMOPT_REQ)
		return false;
	assert_true(responder_props(v)->rtr & RTRS_XREQ);
	assert_true(requester_props(v)->rtr & RTRS_XRESP);
	(void)mx_decode(e->data + MX_PREFIX, e->len - MX_PREFIX, MX_PROC(optxmt_req),
	                &t);
	v->family = MX_RTR;
	take_items(v, &t.optxrq_ddp);
	v->offers_reply = t.optxrq_repch != NULL;
	v->reserved = t.optxrq_rsbuf;
	if (direction(v) == XMDTYPE_TBSN)
		v->sent_dirs = (1u << v->k->n_dests) - 1;
	v->inv = t.optxrq_inv_handle;
	xdr_free(MX_PROC(optxmt_req), (char *)&t);
	return true;
}

/* -- the request's header, as it must be ----------------------------------- */

struct request {
	xmddp_mitem item[MX_ITEMS + 1];
	u_int n_items;
	xmddp_rsditem dir[MX_ITEMS];
	xmddp_rsdset set[MX_ITEMS];
	u_int n_sets;
	rpcrdma2_write_chunk reply;
	struct mx_segments segs;
	optxmt_req t;
};

static void put_exrw(const struct mx_view *v, struct request *r, size_t disp,
                     const struct mx_event *region)
{
	xmddp_mitem *m = &r->item[r->n_items++];

	m->xmdmi_disp = (u_int)disp;
	m->xmdmi_length = (u_int)region->len;
	m->xmdmi_where.type = XMDTYPE_EXRW;
	m->xmdmi_where.xmddp_loc_u.xmdl_ex.xmdl_ex_val =
	        mx_add_segments(v, &r->segs, region, region->len,
	                        &m->xmdmi_where.xmddp_loc_u.xmdl_ex.xmdl_ex_len);
}

static void put_tbsn(xmddp_mitem *m, size_t disp, size_t len, struct mx_group *g,
                     unsigned i)
{
	xmddp_tbsnloc *t = &m->xmdmi_where.xmddp_loc_u.xmdl_tb;

	m->xmdmi_disp = (u_int)disp;
	m->xmdmi_length = (u_int)len;
	m->xmdmi_where.type = XMDTYPE_TBSN;
	t->xmdl_offset = 0;
	t->xmdl_bsnum.xmdl_bsnum_len = g ? g->n_tbsns[i] : 0;
	t->xmdl_bsnum.xmdl_bsnum_val = g ? g->tbsn[i] : NULL;
}

/* @g: NULL = without segment numbers. */
static void put_items(const struct mx_view *v, struct request *r, struct mx_group *g)
{
	unsigned sent = 0;

	if (v->body)
		put_exrw(v, r, 0, v->special);
	for (unsigned i = 0; i < v->k->n_items; i++) {
		if (v->read[i])
			put_exrw(v, r, v->w->call.item_at[i], v->read[i]);
		else if (v->call_sent & 1u << i)
			put_tbsn(&r->item[r->n_items++], v->w->call.item_at[i],
			         v->k->item[i], g, sent++);
	}
}

/* The first direction of each operation begins a set; without operations there is one,
 * for the whole message.                                            [ext §5.5] */
static bool begins_set(const struct mx_view *v, unsigned i)
{
	return i == 0 || (v->k->ranges && i % 2 == 0);
}

static void put_direction(const struct mx_view *v, struct request *r, unsigned i)
{
	xmddp_rsditem *d = &r->dir[i];
	xmddp_rsdloc *l = &d->xmdrsdi_loc;
	xmddp_rsdset *s;

	if (begins_set(v, i)) {
		s = &r->set[r->n_sets];
		s->xmdrsds_range.xmdrsdr_begin =
		        v->k->ranges ? (r->n_sets + 1) * MESSAGE : 0;
		s->xmdrsds_range.xmdrsdr_end =
		        v->k->ranges ? (r->n_sets + 2) * MESSAGE : UINT32_MAX;
		s->xmdrsds_items.xmdrsds_items_val = d;
		r->n_sets++;
	}
	r->set[r->n_sets - 1].xmdrsds_items.xmdrsds_items_len++;
	d->xmdrsdi_minlen = v->k->min_len;
	l->type = direction(v);
	if (l->type == XMDTYPE_BYSIZE) {
		l->xmddp_rsdloc_u.xmdrsdl_bs.xmdrsdl_dsdov = v->k->above;
		l->xmddp_rsdloc_u.xmdrsdl_bs.xmdrsdl_bsex.xmdrsdl_bsex_val =
		        mx_add_segments(v, &r->segs, v->write[i], v->k->dest[i],
		                        &l->xmddp_rsdloc_u.xmdrsdl_bs.xmdrsdl_bsex
		                                 .xmdrsdl_bsex_len);
	} else if (l->type != XMDTYPE_TBSN) {
		l->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_val =
		        mx_add_segments(v, &r->segs, v->write[i], v->k->dest[i],
		                        &l->xmddp_rsdloc_u.xmdrsdl_ex.xmdrsdl_ex_len);
	}
}

static void build_request(const struct mx_view *v, struct request *r,
                          struct mx_group *g)
{
	memset(r, 0, sizeof(*r));
	put_items(v, r, g);
	for (unsigned i = 0; i < v->k->n_dests; i++)
		put_direction(v, r, i);
	r->t.optxrq_inv_handle = v->inv;
	r->t.optxrq_ddp.xmddp_grpinfo_len = r->n_items;
	r->t.optxrq_ddp.xmddp_grpinfo_val = r->item;
	r->t.optxrq_rsd.xmddp_rsdgroup_len = r->n_sets;
	r->t.optxrq_rsd.xmddp_rsdgroup_val = r->set;
	if (v->reply) {
		r->reply.rdma_target.rdma_target_val =
		        mx_add_segments(v, &r->segs, v->reply, v->reply->len,
		                        &r->reply.rdma_target.rdma_target_len);
		r->t.optxrq_repch = &r->reply;
	}
	r->t.optxrq_count = g ? g->count : 0;
	r->t.optxrq_rsbuf = v->reserved;
	r->t.optxrq_pslen = g ? (u_int)g->pslen[0] : 0;
}

/* -- transmissions --------------------------------------------------------- */

struct sending {
	unsigned side;
	uint32_t htype, flags;
	const uint8_t *payload;
	const uint8_t *item[MX_ITEMS];
	uint32_t inv_handle; /* of the last Send */
};

/* The header of a continuation. */
static void cont_header(const struct mx_view *v, const struct sending *s,
                        const struct mx_group *g, unsigned k, struct mx_octets *o)
{
	optxmt_cont t = {.optxc_xnum = k,
	                 .optxc_itype = s->htype,
	                 .optxc_pslen = (u_int)g->pslen[k]};

	mx_prefix(v, o, RDMA2_XMOPT_CONT, s->flags);
	mx_encode(o, MX_PROC(optxmt_cont), &t);
}

/* The octets behind the header: payload, zeros, items.              NS-rtrext-16 */
static uint8_t *compose_rest(const struct sending *s, const struct mx_group *g,
                             unsigned k)
{
	size_t header = g->header[k], from = 0;
	uint8_t *p = calloc(1, g->len[k] + 1);

	assert_non_null(p);
	for (unsigned j = 0; j < k; j++)
		from += g->pslen[j];
	memcpy(p + header, s->payload + from, g->pslen[k]);
	for (unsigned i = 0; i < g->n_fragments; i++) {
		const struct mx_fragment *f = &g->fragment[i];

		if (f->number == k)
			memcpy(p + f->at, s->item[f->item] + f->from, f->len);
	}
	return p;
}

/* Returns the next message of the same side, of any type. */
static const struct mx_event *following(const struct mx_world *w,
                                        const struct mx_event *e)
{
	for (const struct mx_event *n = e + 1; n < w->log + w->n_log; n++)
		if (n->kind == MX_SEND && n->side == e->side)
			return n;
	return NULL;
}

/* The messages of a group are those laid out, in order.  Its sender sends no other
 * message between them.
 *                                                                 NS-s19-05 */
static void judge_group(const struct mx_view *v, const struct sending *s,
                        const struct mx_group *g, const struct mx_octets *first)
{
	const struct mx_event *e = mx_next(v->w, s->side, MX_SEND, NULL);

	for (unsigned k = 0; k < g->count; k++) {
		struct mx_octets o = *first;
		uint8_t *rest;

		assert_non_null(e);
		if (k)
			cont_header(v, s, g, k, &o);
		assert_int_equal(o.n, g->header[k]);
		assert_int_equal(e->len, g->len[k]);
		mx_compare_header(v, e, &o);
		rest = compose_rest(s, g, k);
		assert_memory_equal(e->data + o.n, rest + o.n, e->len - o.n);
		free(rest);
		assert_int_equal(e->inv_handle, k + 1 == g->count ? s->inv_handle : 0);
		if (k + 1 < g->count)
			e = following(v->w, e);
	}
	assert_null(mx_next(v->w, s->side, MX_SEND, e));
}

/* The most transmissions of a group with @limit.                  [ext §5.6] */
static unsigned most_sends(const struct mx_view *v, uint32_t limit)
{
	uint32_t cap = v->w->set->credits;

	if (!continues(v))
		return 1;
	return RR_MAX(RR_MIN(limit, cap - 1), 1);
}

/* -- reserved responses -------------------------------------------- [ext §5.8] */

static size_t response_header(const struct mx_view *v, const unsigned *sent)
{
	size_t header = RESP_FIXED;

	for (unsigned i = 0; i < v->k->n_dests; i++)
		header += 8 +
		          (sent[i] ? 12
		                   : 8 + SEGMENT * mx_segment_count(v, v->k->dest[i]));
	return header;
}

/* The longest results that the Responder may place by Send.  If @must, only those for
 * which it has no choice. */
static void longest_results(const struct mx_view *v, bool must, struct mx_load *l)
{
	xmddp_type type = direction(v);
	unsigned sent[MX_ITEMS] = {0};

	for (unsigned i = 0; i < v->k->n_dests; i++) {
		size_t len = v->k->dest[i];

		if (type == XMDTYPE_EXRW || (must && type == XMDTYPE_CHOICE))
			continue;
		if (type == XMDTYPE_BYSIZE)
			len = RR_MIN(len, (size_t)v->k->above);
		sent[i] = 1;
		l->item[l->n_items++] = len;
	}
	l->header = response_header(v, sent);
	if (v->reply)
		l->header += 4 + SEGMENT * mx_segment_count(v, v->reply->len);
}

/* An unknown reply is short: four inline thresholds.                        [O13] */
static size_t longest_reply(const struct mx_view *v)
{
	return mx_pad4(v->k->reply_bytes ? v->k->reply_bytes : 4 * v->to_requester);
}

/* The Requester reserves as many Receives as the longest response needs, within its
 * ceiling and the Responder's limit.  It provides a Reply chunk exactly if the response
 * might not fit even so. */
static void judge_reserved(const struct mx_view *v)
{
	uint32_t most = v->w->set->credits;
	struct mx_load l = {
	        .to = &requester_props(v)->buffer,
	        .limit = RR_MIN(requester_props(v)->buffer.length,
	                        responder_props(v)->send_bytes),
	        .payload = v->reply ? 0 : longest_reply(v),
	};
	struct mx_load must = l;
	struct mx_group g;

	most = RR_MIN(RR_MAX(most, 3) - 2, responder_props(v)->response_limit);
	if (!continues(v))
		most = 1;
	longest_results(v, false, &l);
	assert_int_equal(v->reserved, mx_lay_out(&l, most, &g) ? g.count : most);
	must.payload = longest_reply(v);
	longest_results(v, true, &must);
	assert_int_equal(v->reply == NULL, mx_lay_out(&must, most, &g));
}

/* -- judgement of the request ---------------------------------------------- */

static void load_request(const struct mx_view *v, size_t len, struct mx_load *l,
                         struct sending *s)
{
	struct request r;
	struct mx_octets o;

	build_request(v, &r, NULL);
	mx_prefix(v, &o, RDMA2_XMOPT_REQ, 0);
	mx_encode(&o, MX_PROC(optxmt_req), &r.t);
	*l = (struct mx_load){
	        .to = &responder_props(v)->buffer,
	        .limit = RR_MIN(responder_props(v)->buffer.length,
	                        requester_props(v)->send_bytes),
	        .header = o.n,
	        .payload = v->body ? 0 : len,
	};
	for (unsigned i = 0; i < v->k->n_items; i++)
		if (v->call_sent & 1u << i) {
			s->item[l->n_items] = v->w->call.item[i].p;
			l->item[l->n_items++] = v->k->item[i];
		}
}

enum mx_result mx_rtr_request(struct mx_view *v, const uint8_t *payload, size_t len)
{
	struct sending s = {
	        .side = v->w->asker, .htype = RDMA2_XMOPT_REQ, .payload = payload};
	struct mx_octets first;
	struct mx_group g;
	struct mx_load l;
	struct request r;

	mx_judge_named(v, v->inv);
	judge_reserved(v);
	load_request(v, len, &l, &s);
	assert_true(
	        mx_lay_out(&l, most_sends(v, responder_props(v)->request_limit), &g));
	build_request(v, &r, &g);
	mx_prefix(v, &first, RDMA2_XMOPT_REQ, 0);
	mx_encode(&first, MX_PROC(optxmt_req), &r.t);
	judge_group(v, &s, &g, &first);
	if (v->body)
		return MX_SPECIAL;
	return g.count > 1 ? MX_CONTINUED : MX_SIMPLE;
}

/* -- the response ---------------------------------------------------------- */

/* How each direction was answered. */
struct response {
	xmddp_type type[MX_ITEMS];
	xmddp_mitem item[MX_ITEMS];
	struct mx_segments segs;
	rpcrdma2_write_chunk reply;
	optxmt_resp t;
};

/* The result that uses up destination @i: the next one of its operation. */
static void match_directions(struct mx_view *v)
{
	bool used[MX_ITEMS] = {0};

	for (unsigned d = 0; d < MX_ITEMS; d++)
		v->result[d] = -1;
	for (unsigned r = 0; r < v->k->n_results; r++)
		for (unsigned d = 0; d < v->k->n_dests; d++) {
			if (used[d] || (v->k->ranges && d / 2 != v->k->operation[r]))
				continue;
			v->result[d] = (int)r;
			used[d] = true;
			break;
		}
}

static size_t result_len(const struct mx_view *v, unsigned d)
{
	return v->k->result[v->result[d]];
}

/* The table of [ext §5.5]; CHOICE as if the group fits. */
static xmddp_type answer_type(const struct mx_view *v, unsigned d)
{
	const struct rr_feature_config *f = &v->k->features[v->responder];
	xmddp_type dir = direction(v);
	size_t n;

	if (v->result[d] < 0)
		return XMDTYPE_NOITEM;
	n = result_len(v, d);
	if (n < v->k->min_len)
		return XMDTYPE_TOOSHORT;
	if (dir == XMDTYPE_BYSIZE)
		return n > v->k->above ? XMDTYPE_EXRW : XMDTYPE_TBSN;
	if (dir == XMDTYPE_CHOICE)
		return n <= (f->tbsn_max ? f->tbsn_max : 65536) ? XMDTYPE_TBSN
		                                                : XMDTYPE_EXRW;
	return dir;
}

static void set_placed(struct mx_view *v, const struct response *r)
{
	v->placed = v->reply_sent = 0;
	for (unsigned d = 0; d < v->k->n_dests; d++) {
		if (r->type[d] != XMDTYPE_EXRW && r->type[d] != XMDTYPE_TBSN)
			continue;
		v->placed |= 1u << v->result[d];
		if (r->type[d] == XMDTYPE_TBSN)
			v->reply_sent |= 1u << v->result[d];
	}
}

static void put_answer(const struct mx_view *v, struct response *r, unsigned d,
                       struct mx_group *g, unsigned sent)
{
	xmddp_mitem *m = &r->item[d];
	size_t disp, len;

	m->xmdmi_where.type = r->type[d];
	if (r->type[d] == XMDTYPE_NOITEM)
		return;
	disp = v->w->reply.item_at[v->result[d]];
	len = result_len(v, d);
	m->xmdmi_disp = (u_int)disp;
	m->xmdmi_length = (u_int)len;
	if (r->type[d] == XMDTYPE_TBSN)
		put_tbsn(m, disp, len, g, sent);
	if (r->type[d] == XMDTYPE_EXRW)
		m->xmdmi_where.xmddp_loc_u.xmdl_ex.xmdl_ex_val = mx_add_segments(
		        v, &r->segs, v->write[d], len,
		        &m->xmdmi_where.xmddp_loc_u.xmdl_ex.xmdl_ex_len);
}

/* @payload: octets in the Reply chunk, or 0. */
static void build_response(const struct mx_view *v, struct response *r,
                           struct mx_group *g, size_t payload)
{
	unsigned sent = 0;

	memset(r->item, 0, sizeof(r->item));
	memset(&r->t, 0, sizeof(r->t));
	r->segs.n = 0;
	for (unsigned d = 0; d < v->k->n_dests; d++) {
		put_answer(v, r, d, g, sent);
		sent += r->type[d] == XMDTYPE_TBSN;
	}
	r->t.optxrs_ddp.xmddp_grpinfo_len = v->k->n_dests;
	r->t.optxrs_ddp.xmddp_grpinfo_val = r->item;
	if (payload && v->reply) {
		r->reply.rdma_target.rdma_target_val =
		        mx_add_segments(v, &r->segs, v->reply, payload,
		                        &r->reply.rdma_target.rdma_target_len);
		r->t.optxrs_repch = &r->reply;
	}
	r->t.optxrs_count = g ? g->count : 0;
	r->t.optxrs_pslen = g ? (u_int)g->pslen[0] : 0;
}

static bool plan_group(const struct mx_view *v, struct response *r, bool in_chunk,
                       size_t len, struct mx_group *g)
{
	uint32_t most = RR_MIN(v->reserved, responder_props(v)->response_limit);
	struct mx_octets o;
	struct mx_load l = {
	        .to = &requester_props(v)->buffer,
	        .limit = RR_MIN(requester_props(v)->buffer.length,
	                        responder_props(v)->send_bytes),
	        .payload = in_chunk ? 0 : len,
	};

	for (unsigned d = 0; d < v->k->n_dests; d++)
		if (r->type[d] == XMDTYPE_TBSN)
			l.item[l.n_items++] = result_len(v, d);
	build_response(v, r, NULL, in_chunk ? len : 0);
	mx_prefix(v, &o, RDMA2_XMOPT_RESP, 1);
	mx_encode(&o, MX_PROC(optxmt_resp), &r->t);
	l.header = o.n;
	return mx_lay_out(&l, most_sends(v, most), g);
}

/* CHOICE items become EXRW, longest first.                      NS-rtrext-21 */
static bool write_longest(const struct mx_view *v, struct response *r)
{
	int longest = -1;

	for (unsigned d = 0; d < v->k->n_dests; d++)
		if (direction(v) == XMDTYPE_CHOICE && r->type[d] == XMDTYPE_TBSN &&
		    (longest < 0 ||
		     result_len(v, d) > result_len(v, (unsigned)longest)))
			longest = (int)d;
	if (longest >= 0)
		r->type[longest] = XMDTYPE_EXRW;
	return longest >= 0;
}

static size_t payload_len(struct mx_view *v, const struct response *r)
{
	size_t len;

	set_placed(v, r);
	free(mx_reduced(&v->w->reply, v->placed, &len));
	return len;
}

/* The result must be written, and is longer than its segments.    NS-rtrext-20 */
static bool overflows(const struct mx_view *v, const struct response *r, unsigned d)
{
	return r->type[d] == XMDTYPE_EXRW && result_len(v, d) > v->k->dest[d];
}

/* Decides how each direction is answered, and lays the group out. */
static enum mx_result plan_response(struct mx_view *v, struct response *r,
                                    struct mx_group *g, struct mx_error *ret)
{
	size_t len;

	match_directions(v);
	for (unsigned d = 0; d < v->k->n_dests; d++) {
		r->type[d] = answer_type(v, d);
		*ret = (struct mx_error){MX_WRITE_RESOURCE, {d + 1}, 2};
		if (!overflows(v, r, d))
			continue;
		ret->arg[1] = (uint32_t)result_len(v, d);
		return MX_REFUSED;
	}
	do {
		len = payload_len(v, r);
		if (plan_group(v, r, false, len, g))
			return g->count > 1 ? MX_CONTINUED : MX_SIMPLE;
	} while (write_longest(v, r));
	*ret = (struct mx_error){MX_REPLY_RESOURCE, {(uint32_t)len}, 1};
	if (!plan_group(v, r, true, len, g))
		ret->arg[0] = 0; /* the items do not fit */
	else if (v->reply && len <= v->reply->len)
		return MX_SPECIAL;
	return MX_REFUSED;
}

enum mx_result mx_rtr_response(struct mx_view *v, struct mx_error *ret_error)
{
	struct sending s = {.side = v->responder,
	                    .htype = RDMA2_XMOPT_RESP,
	                    .flags = 1,
	                    .inv_handle = v->inv};
	struct response r = {0};
	struct mx_group g;
	enum mx_result ret = plan_response(v, &r, &g, ret_error);
	struct mx_octets first;
	unsigned sent = 0;
	uint8_t *payload;
	size_t len;

	if (ret == MX_REFUSED)
		return ret;
	payload = mx_reduced(&v->w->reply, v->placed, &len);
	s.payload = payload;
	for (unsigned d = 0; d < v->k->n_dests; d++)
		if (r.type[d] == XMDTYPE_TBSN)
			s.item[sent++] = v->w->reply.item[v->result[d]].p;
	build_response(v, &r, &g, ret == MX_SPECIAL ? len : 0);
	mx_prefix(v, &first, RDMA2_XMOPT_RESP, 1);
	mx_encode(&first, MX_PROC(optxmt_resp), &r.t);
	judge_group(v, &s, &g, &first);
	free(payload);
	return ret;
}
