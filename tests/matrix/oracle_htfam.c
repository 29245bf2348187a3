/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle's part for the types X_.                                   [ext §6]
 *
 * LS-s12-01 LS-s12-03 LS-s13-01 LS-s13-02 LS-s14-03 LS-s15-01 to -04, LS-s16-01 to -04,
 * LS-s17-04 LS-s18-01
 */
#include "view_xdr.h"

/* -- the one chunk format ------------------------------------------ [ext §6.3] */

struct chunks {
	rpcrdma2x_chunk chunk[MX_ITEMS];
	struct mx_segments segs;
	u_int n;
};

static void add_chunk(const struct mx_view *v, struct chunks *c, size_t position,
                      const struct mx_event *region, size_t used)
{
	rpcrdma2x_chunk *k = &c->chunk[c->n++];

	k->rdma_position = (u_int)position;
	k->rdma_target.rdma_target_val = mx_add_segments(
	        v, &c->segs, region, used, &k->rdma_target.rdma_target_len);
}

static rpcrdma2x_chunk_list list_of(struct chunks *c)
{
	return (rpcrdma2x_chunk_list){.rpcrdma2x_chunk_list_len = c->n,
	                              .rpcrdma2x_chunk_list_val = c->chunk};
}

static void add_arguments(const struct mx_view *v, struct chunks *c)
{
	for (unsigned i = 0; i < v->k->n_items; i++)
		if (v->read[i])
			add_chunk(v, c, v->w->call.item_at[i], v->read[i],
			          v->read[i]->len);
}

static void add_provisioned(const struct mx_view *v, struct chunks *c)
{
	for (unsigned i = 0; v->chunks && i < v->k->n_dests; i++)
		add_chunk(v, c, 0, v->write[i], v->k->dest[i]);
}

/* A chunk that was not used has no segments, and is absent at the end. */
static void add_actual(const struct mx_view *v, struct chunks *c)
{
	unsigned n = v->chunks ? v->k->n_dests : 0;

	while (n && !mx_filled(v, n - 1))
		n--;
	for (unsigned i = 0; i < n; i++)
		add_chunk(v, c, 0, mx_filled(v, i) ? v->write[i] : NULL,
		          mx_filled(v, i));
}

/* -- headers ------------------------------------------------------- [ext §6.5] */

void mx_htfam_part(const struct mx_view *v, struct mx_octets *o, bool reply,
                   size_t rest)
{
	rpcrdma2x_call_middle m = {.rdma_remaining = (u_int)rest};

	mx_prefix(v, o, reply ? RDMA2_X_REPLY_MIDDLE : RDMA2_X_CALL_MIDDLE, reply);
	mx_encode(o, MX_PROC(rpcrdma2x_call_middle), &m);
}

static void put_call_external(const struct mx_view *v, struct mx_octets *o,
                              const rpcrdma2x_call_last *k)
{
	struct mx_segments body = {0};
	rpcrdma2x_call_external e = {
	        .rdma_inv_handle = k->rdma_inv_handle,
	        .rdma_body.rdma_how = RDMA2_BODY_PULL,
	        .rdma_args = k->rdma_args,
	        .rdma_prov_results = k->rdma_prov_results,
	};

	e.rdma_body.rdma_target.rdma_target_val =
	        mx_add_segments(v, &body, v->special, v->special->len,
	                        &e.rdma_body.rdma_target.rdma_target_len);
	e.rdma_prov_reply.rdma_prov_reply_len = k->rdma_prov_reply.rdma_prov_reply_len;
	e.rdma_prov_reply.rdma_prov_reply_val = k->rdma_prov_reply.rdma_prov_reply_val;
	mx_prefix(v, o, RDMA2_X_CALL_EXTERNAL, 0);
	mx_encode(o, MX_PROC(rpcrdma2x_call_external), &e);
}

void mx_htfam_call(const struct mx_view *v, struct mx_octets *o, bool special)
{
	struct chunks args = {0}, results = {0};
	struct mx_segments reply = {0};
	rpcrdma2x_call_last k = {.rdma_inv_handle = v->inv};

	add_arguments(v, &args);
	add_provisioned(v, &results);
	k.rdma_args = list_of(&args);
	k.rdma_prov_results = list_of(&results);
	k.rdma_prov_reply.rdma_prov_reply_val =
	        mx_add_segments(v, &reply, v->reply, v->reply ? v->reply->len : 0,
	                        &k.rdma_prov_reply.rdma_prov_reply_len);
	if (special) {
		put_call_external(v, o, &k);
		return;
	}
	mx_prefix(v, o, RDMA2_X_CALL_LAST, 0);
	mx_encode(o, MX_PROC(rpcrdma2x_call_last), &k);
}

/* PUSHED: the segments of the Reply chunk, with lengths cut to what was written.
 * PULL: the Responder's memory.                                     [ext §6.4] */
static void add_body(const struct mx_view *v, struct mx_segments *s, rpcrdma2x_body *b,
                     bool exposed, size_t payload)
{
	const struct mx_event *r = NULL;

	b->rdma_how = exposed ? RDMA2_BODY_PULL : RDMA2_BODY_PUSHED;
	b->rdma_target.rdma_target_val = s->s;
	while (exposed && (r = mx_next(v->w, v->responder, MX_REGISTER, r))) {
		u_int n;

		mx_add_segments(v, s, r, r->len, &n);
	}
	if (!exposed) {
		u_int n;

		mx_add_segments(v, s, v->reply, payload, &n);
	}
	b->rdma_target.rdma_target_len = s->n;
}

void mx_htfam_reply(const struct mx_view *v, struct mx_octets *o, enum mx_result format,
                    size_t payload, uint32_t inv)
{
	struct chunks results = {0};
	struct mx_segments body = {0};
	rpcrdma2x_reply_external e = {.rdma_inv_handle = inv};
	rpcrdma2x_reply_last k;

	add_actual(v, &results);
	if (format == MX_SPECIAL || format == MX_EXPOSED) {
		add_body(v, &body, &e.rdma_body, format == MX_EXPOSED, payload);
		e.rdma_results = list_of(&results);
		mx_prefix(v, o, RDMA2_X_REPLY_EXTERNAL, 1);
		mx_encode(o, MX_PROC(rpcrdma2x_reply_external), &e);
		return;
	}
	k.rdma_results = list_of(&results);
	mx_prefix(v, o, RDMA2_X_REPLY_LAST, 1);
	mx_encode(o, MX_PROC(rpcrdma2x_reply_last), &k);
}
