/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups sent, and messages that wait for several credits.       [ext §2.5, §5.6]
 *
 * All transmissions of a group are queued in one step.  A message that needs more
 * credits than there are waits at the head of the queue: tx.c sends only grant messages,
 * errors and notifications before it.
 */
#include "conn/core.h"

struct rr_rtr_outgoing *rr_rtr_new_outgoing(struct rr_conn *c)
{
	struct rr_rtr_outgoing *o = rr_slab_get(&c->rtr.out_slab);

	if (!o)
		return NULL;
	memset(o, 0, offsetof(struct rr_rtr_outgoing, h));
	rr_rtr_init(&o->h);
	rr_stream_init(&o->items);
	return o;
}

/* -- transmissions --------------------------------------------------------- */

struct laying_out {
	struct rr_conn *c;
	const struct rr_rtr_outgoing *o;
	const struct rr_rtr_sending *g;
	struct rr_rtr_walk walk;
	struct rr_stream payload, items; /* copies, not yet sent */
};

static void put_group_header(const struct laying_out *l, const struct rr_rtr_part *part,
                             struct rr_writer *w)
{
	const struct rr_prefix p = {
	        .xid = l->g->xid,
	        .vers = RPCRDMA_VERSION_TWO,
	        .htype = part->number ? (uint32_t)RDMA2_XMOPT_CONT : l->g->htype,
	        .flags = l->g->flags,
	};
	const struct rr_rtr_cont k = {
	        .xnum = part->number, .itype = l->g->htype, .pslen = part->payload};

	rr_wire_put_prefix(w, &p);
	if (part->number)
		rr_wire_rtr_put_cont(w, &k);
	else if (l->g->htype == RDMA2_XMOPT_REQ)
		rr_wire_rtr_put_req(w, &l->o->h);
	else
		rr_wire_rtr_put_resp(w, &l->o->h);
}

/* Returns the octets of the transmission that are copied or zero. */
static size_t count_group_copied(const struct laying_out *l,
                                 const struct rr_rtr_part *part)
{
	struct rr_stream items = l->items, payload = l->payload;
	struct rr_rtr_walk walk = l->walk;
	struct rr_rtr_fill f;
	unsigned refs = 0;
	size_t sum = rr_xmit_count_copied(&payload, part->payload, &refs);

	while (rr_rtr_walk_fill(&walk, &f))
		sum += f.pad + rr_xmit_count_copied(&items, f.length, &refs);
	return sum;
}

/* Builds the next transmission.  Returns NULL if there is no memory. */
static struct rr_xmit *build_transmission(struct laying_out *l,
                                          const struct rr_rtr_part *part)
{
	size_t copied = count_group_copied(l, part);
	struct rr_xmit *x = rr_xmit_new(l->c, part->header + copied);
	struct rr_rtr_fill f;
	struct rr_writer w;

	if (!x)
		return NULL;
	w = rr_writer_over(x->buf, part->header);
	put_group_header(l, part, &w);
	rr_xmit_header(x, &w);
	rr_xmit_append(x, &l->payload, part->payload);
	while (rr_rtr_walk_fill(&l->walk, &f)) {
		rr_xmit_append_zeros(x, f.pad);
		rr_xmit_append(x, &l->items, f.length);
	}
	return x;
}

/* Builds all transmissions, in order, in @ret. */
static bool build_group(struct laying_out *l, struct rr_list *ret)
{
	struct rr_rtr_part part;
	struct rr_xmit *x;

	while (rr_rtr_walk_next(&l->walk, &part) > 0) {
		x = build_transmission(l, &part);
		if (!x)
			return false;
		rr_list_push(ret, &x->op.link);
	}
	return true;
}

static void send_transmission(struct rr_conn *c, struct rr_xmit *x,
                              const struct rr_rtr_sending *g, bool last)
{
	if (g->call)
		rr_xmit_of_call(x, g->call);
	else
		rr_xmit_of_request(x, g->request);
	if (last)
		x->inv_handle = g->inv_handle;
	rr_xmit_send(c, x);
}

bool rr_rtr_send_group(struct rr_conn *c, struct rr_rtr_outgoing *o,
                       const struct rr_rtr_sending *g)
{
	struct laying_out l = {
	        .c = c, .o = o, .g = g, .payload = *o->payload, .items = o->items};
	struct rr_list all, *n;

	rr_list_init(&all);
	rr_rtr_walk_begin(&l.walk, &o->load, o->plan.header);
	if (!build_group(&l, &all)) {
		while ((n = rr_list_pop(&all)))
			rr_xmit_free(c, rr_container_of(n, struct rr_xmit, op.link));
		return false;
	}
	*o->payload = l.payload;
	while ((n = rr_list_pop(&all)))
		send_transmission(c, rr_container_of(n, struct rr_xmit, op.link), g,
		                  rr_list_empty(&all));
	return true;
}

/* -- waiting --------------------------------------------------------------- */

void rr_rtr_wait(struct rr_conn *c, struct rr_call_state *s, struct rr_request_state *q)
{
	struct rr_rtr *t = &c->rtr;

	t->wait_call = s;
	t->wait_reply = q;
	t->wait_until = c->now + c->cfg.features.group_wait;
	rr_feature_begin(c, RR_FEATURE_RTR);
	c->count.credit_stalls++;
	rr_conn_trace(c, RR_TRACE_CREDIT_STALL, 0, 0, c->credit.avail, c->credit.owed);
}

void rr_rtr_unwait(struct rr_conn *c, const struct rr_call_state *s,
                   const struct rr_request_state *q)
{
	struct rr_rtr *t = &c->rtr;

	if ((!s || t->wait_call != s) && (!q || t->wait_reply != q))
		return;
	t->wait_call = NULL;
	t->wait_reply = NULL;
	t->wait_until = RR_TIME_NEVER;
}

bool rr_rtr_overdue(const struct rr_conn *c)
{
	return c->now >= c->rtr.wait_until;
}

bool rr_rtr_send_waiting(struct rr_conn *c)
{
	if (c->rtr.wait_call)
		return rr_call_transmit(c, c->rtr.wait_call);
	return rr_reply_transmit(c, c->rtr.wait_reply);
}
