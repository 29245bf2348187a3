/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle's part for the exchange of properties.        [v2 §5, ext §2.4, §6.1]
 *
 * LS-s18-01 to -03, NS-xcharext-01, NS-s12-04
 */
#include "view_xdr.h"

enum { RTR_CODES = 4, EXCHANGE_OCTETS = 1 << 17 };

/* One side's exchange. */
struct exchange {
	struct mx_view *v;
	unsigned side;
	unsigned n; /* messages */
	bool final, x, long_value;
	uint32_t part_flags; /* of a property in parts */
	uint8_t *part;
	size_t part_len;
	unsigned bits; /* base properties */
	unsigned features, of_feature[RR_FEATURES];
	unsigned extensions;
};

/* -- values ---------------------------------------------------------------- */

static uint32_t value_u32(const rpcrdma2_propval *p)
{
	assert_int_equal(p->rdma_data.rdma_data_len, 4);
	return mx_get((const uint8_t *)p->rdma_data.rdma_data_val, 0);
}

static void take_rprc(const rpcrdma2_propval *p, struct mx_props *to)
{
	rpcrdma2_prop_rprc t = {0};
	u_int len = p->rdma_data.rdma_data_len;

	assert_int_equal(mx_decode((const uint8_t *)p->rdma_data.rdma_data_val, len,
	                           MX_PROC(rpcrdma2_prop_rprc), &t),
	                 len);
	to->rprc = t.rprc_flags;
	to->lifetime_ms = t.rprc_lifetime_ms;
	to->max_reply = t.rprc_max_reply;
}

static void add_buffer_segments(struct mx_buffer *b, const xmrbs_group *g)
{
	for (u_int i = 0; i < g->xmrgrp_count; i++) {
		assert_true(b->n < MX_BUFFER_SEGMENTS);
		b->seg[b->n].start = b->length;
		b->seg[b->n].length = g->xmrgrp_info.xmrseg_length;
		b->seg[b->n].target = g->xmrgrp_info.xmrseg_flags & XMRSFLAG_DDP;
		b->targets += b->seg[b->n].target;
		b->length += b->seg[b->n++].length;
	}
}

static void take_buffer(const rpcrdma2_propval *p, struct mx_buffer *to)
{
	xmrbs_buf t = {0};
	u_int len = p->rdma_data.rdma_data_len;

	assert_int_equal(mx_decode((const uint8_t *)p->rdma_data.rdma_data_val, len,
	                           MX_PROC(rpcrdma2_prop_rbstruct), &t),
	                 len);
	*to = (struct mx_buffer){0};
	for (u_int i = 0; i < t.xmrbuf_groups.xmrbuf_groups_len; i++)
		add_buffer_segments(to, &t.xmrbuf_groups.xmrbuf_groups_val[i]);
	assert_int_equal(to->length, t.xmrbuf_length);
	xdr_free(MX_PROC(rpcrdma2_prop_rbstruct), (char *)&t);
}

/* Takes a property of an optional feature; returns the feature. */
static unsigned take_optional(const rpcrdma2_propval *p, struct mx_props *to)
{
	switch (p->rdma_which) {
	case RDMA2_PROPID_RPRC:
		take_rprc(p, to);
		return RR_FEATURE_RPRC;
	case RDMA2_PROPID_REQREMINV:
		to->refuses_inv = !value_u32(p);
		return RR_FEATURE_REMINV;
	case RDMA2_PROPID_HTFAM:
		to->htfam = value_u32(p);
		return RR_FEATURE_HTFAM;
	case RDMA2_PROPID_RTRSUPP:
		to->rtr = value_u32(p);
		return RR_FEATURE_RTR;
	case RDMA2_PROPID_REQRXLIM:
		to->request_limit = value_u32(p);
		return RR_FEATURE_RTR;
	case RDMA2_PROPID_RESPSXLIM:
		to->response_limit = value_u32(p);
		return RR_FEATURE_RTR;
	case RDMA2_PROPID_RBSTRUCT:
		take_buffer(p, &to->buffer);
		return RR_FEATURE_RTR;
	default:
		return RR_FEATURES;
	}
}

static void take_base(const rpcrdma2_propval *p, struct mx_props *to)
{
	uint32_t *const field[] = {
	        [RDMA2_PROPID_SBSIZ] = &to->send_bytes,
	        [RDMA2_PROPID_RBSIZ] = &to->recv_bytes,
	        [RDMA2_PROPID_RSSIZ] = &to->segment_bytes,
	        [RDMA2_PROPID_RCSIZ] = &to->max_segments,
	        [RDMA2_PROPID_BRS] = &to->rvrsdir,
	};

	*field[p->rdma_which] = value_u32(p);
}

/* The world's own properties, in order. */
static void take_extension(struct exchange *x, const rpcrdma2_propval *p)
{
	const struct rr_ext_table *t = &x->v->w->side[x->side].ext;
	const struct rr_ext_prop *want = &t->prop[x->extensions];

	assert_true(x->extensions++ < t->n_props);
	assert_int_equal(p->rdma_which, want->id);
	assert_int_equal(p->rdma_data.rdma_data_len, want->len);
	assert_memory_equal(p->rdma_data.rdma_data_val, want->data, want->len);
}

static void take_value(struct exchange *x, const rpcrdma2_propval *p)
{
	struct mx_props *to = &x->v->props[x->side];
	unsigned f;

	if (p->rdma_which <= RDMA2_PROPID_BRS) {
		assert_false(x->bits & 1u << p->rdma_which);
		x->bits |= 1u << p->rdma_which;
		take_base(p, to);
		return;
	}
	assert_true(p->rdma_which >= 0xffffff00);
	f = take_optional(p, to);
	if (f == RR_FEATURES) {
		take_extension(x, p);
		return;
	}
	x->features |= 1u << f;
	x->of_feature[f]++;
}

/* -- messages -------------------------------------------------------------- */

static void take_set(struct exchange *x, const uint8_t *at, size_t len)
{
	rpcrdma2_connprop t = {0};

	assert_int_equal(mx_decode(at, len, MX_PROC(rpcrdma2_connprop), &t), len);
	for (u_int i = 0; i < t.rdma_props.rpcrdma2_propset_len; i++)
		take_value(x, &t.rdma_props.rpcrdma2_propset_val[i]);
	xdr_free(MX_PROC(rpcrdma2_connprop), (char *)&t);
}

static void take_part(struct exchange *x, const struct mx_event *e, uint32_t flags)
{
	assert_true(!x->part_len || x->part_flags == (flags & ~2u));
	x->part_flags = flags & ~2u;
	assert_true(x->part_len + e->len <= EXCHANGE_OCTETS);
	memcpy(x->part + x->part_len, e->data + MX_PREFIX, e->len - MX_PREFIX);
	x->part_len += e->len - MX_PREFIX;
	x->long_value = true;
	if (flags & RDMA2_F_MORE)
		return;
	take_set(x, x->part, x->part_len);
	x->part_len = 0;
}

/* Whole sets after the first one have types of their own between peers with the feature
 * HTFAM, and each is complete.                                    LS-s18-02, -03 */
static void take_message(struct exchange *x, const struct mx_event *e)
{
	uint32_t type = mx_htype(e), flags = mx_get(e->data, 16);
	bool part = flags & RDMA2_F_MORE || x->part_len;

	assert_false(x->final);
	assert_int_equal(e->inv_handle, 0);
	if (type != RDMA2_CONNPROP) {
		assert_int_equal(flags, 0);
		assert_true(x->n && !part);
		assert_true(x->v->props[CLIENT].htfam & RDMA2_HTFAM_CTRL);
		assert_true(x->v->props[SERVER].htfam & RDMA2_HTFAM_CTRL);
		x->final = type == RDMA2_X_CONNPROP_LAST;
		x->x = true;
	} else {
		assert_int_equal(flags & ~6u, 0);
		x->final = !(flags & (RDMA2_F_TPMORE | RDMA2_F_MORE));
		if (x->n && !part) /* with HTFAM there would be other types */
			assert_false(x->v->k->features[CLIENT].on &
			             x->v->k->features[SERVER].on &
			             1u << RR_FEATURE_HTFAM);
	}
	x->n++;
	if (part)
		take_part(x, e, flags);
	else
		take_set(x, e->data + MX_PREFIX, e->len - MX_PREFIX);
}

/* -- required properties --------------------------------------------------- */

static void judge_exchange(const struct exchange *x)
{
	const struct mx_view *v = x->v;
	const struct mx_props *p = &v->props[x->side];
	const struct rr_feature_config *f = &v->k->features[x->side];
	const struct rr_ext_table *t = &v->w->side[x->side].ext;
	bool both = f->on & v->k->features[!x->side].on & 1u << RR_FEATURE_HTFAM;

	assert_true(x->final);
	assert_int_equal(x->bits, x->side == CLIENT ? 0x3e : 0x1e);
	assert_int_equal(x->features, f->on);
	assert_int_equal(x->extensions, t->n_props);
	assert_int_equal(x->x, both && x->n > 1);
	if (x->long_value)
		assert_true(t->n_props > 0);
	if (f->on & 1u << RR_FEATURE_RTR) {
		assert_int_equal(x->of_feature[RR_FEATURE_RTR],
		                 RTR_CODES - !f->rtr_segments);
		assert_int_equal(p->rtr, 3 | (f->rtr_no_continuation ? 0 : 4) |
		                                 (f->rtr_no_send_results ? 0 : 8));
		assert_int_equal(p->buffer.targets, f->rtr_segments);
	}
	if (f->on & 1u << RR_FEATURE_RPRC) {
		assert_int_equal(p->rprc, f->rprc_no_piggyback ? 3 : 7);
		assert_int_equal(p->lifetime_ms, 10000);
		assert_int_equal(p->max_reply, 1 << 20);
	}
	if (f->on & 1u << RR_FEATURE_HTFAM)
		assert_int_equal(p->htfam, 3);
}

/* Every Receive has the structure that was advertised.             NS-s12-06 */
static void judge_receives(const struct mx_view *v, unsigned side)
{
	const struct mx_props *p = &v->props[side];

	assert_true(v->w->side[side].least_receive >= p->recv_bytes);
	assert_true(v->w->side[side].least_receive >= p->buffer.length);
}

/* Without a structure there is one segment.                     NS-rtrext-04 */
static void default_buffer(struct mx_props *p)
{
	if (p->buffer.length)
		return;
	p->buffer = (struct mx_buffer){.length = p->recv_bytes, .n = 1};
	p->buffer.seg[0].length = p->recv_bytes;
}

void mx_judge_props(struct mx_view *v)
{
	struct exchange x[2] = {{.v = v, .side = CLIENT}, {.v = v, .side = SERVER}};
	const struct mx_world *w = v->w;

	if (w->set->version == 1)
		return;
	for (unsigned side = 0; side < 2; side++)
		x[side].part = malloc(EXCHANGE_OCTETS);
	for (unsigned i = 0; i < w->first_call_at; i++)
		if (w->log[i].kind == MX_SEND && !mx_is_grant(&w->log[i]))
			take_message(&x[w->log[i].side], &w->log[i]);
	for (unsigned side = 0; side < 2; side++) {
		free(x[side].part);
		judge_exchange(&x[side]);
		judge_receives(v, side);
		default_buffer(&v->props[side]);
	}
}
