/* SPDX-License-Identifier: BSD-3-Clause */
/* See read_op.h. */
#include "conn/core.h"

bool rr_read_queue(struct rr_conn *c, uint32_t xid, const struct rr_segment *g,
                   void *to,
                   void (*completed)(struct rr_conn *, void *owner, int status),
                   void *owner)
{
	struct rr_read_op *r = rr_slab_get(&c->read_slab);

	if (!r)
		return false;
	*r = (struct rr_read_op){
	        .completed = completed,
	        .owner = owner,
	        .sge = {.base = to, .len = g->length},
	        .handle = g->handle,
	        .offset = g->offset,
	};
	rr_conn_trace(c, RR_TRACE_RDMA_READ, xid, g->handle, g->offset, g->length);
	rr_action_enqueue(c, &r->op, RR_ACT_READ);
	return true;
}

void rr_read_completed(struct rr_conn *c, struct rr_read_op *r, int status)
{
	const struct rr_read_op done = *r;

	if (!status)
		c->count.bytes_pulled += r->sge.len;
	rr_slab_put(&c->read_slab, r);
	done.completed(c, done.owner, status);
}
