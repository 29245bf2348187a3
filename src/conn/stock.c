/* SPDX-License-Identifier: BSD-3-Clause */
/* See stock.h. */
#include "conn/core.h"

struct rr_stock *rr_stock_new(const struct rr_mem *mem)
{
	struct rr_stock *s = rr_mem_get(mem, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct rr_stock){.mem = *mem};
	mem = &s->mem;
	rr_slab_init(&s->rbufs, mem, sizeof(struct rr_rbuf), 4096);
	rr_slab_init(&s->calls, mem, sizeof(struct rr_call_state), 4096);
	rr_slab_init(&s->chunks, mem, sizeof(struct rr_call_chunks), 8192);
	rr_slab_init(&s->requests, mem, sizeof(struct rr_request_state), 8192);
	rr_slab_init(&s->lists, mem, sizeof(struct rr_lists), 8192);
	rr_list_init(&s->xmits);
	return s;
}

void rr_stock_free(struct rr_stock *s)
{
	struct rr_list *n;
	struct rr_mem mem;

	if (!s)
		return;
	RR_ASSERT(!s->rbufs.used && !s->calls.used && !s->chunks.used &&
	          !s->requests.used && !s->lists.used);
	rr_slab_fini(&s->rbufs);
	rr_slab_fini(&s->calls);
	rr_slab_fini(&s->chunks);
	rr_slab_fini(&s->requests);
	rr_slab_fini(&s->lists);
	while ((n = rr_list_pop(&s->xmits))) {
		struct rr_xmit *x = rr_container_of(n, struct rr_xmit, op.link);

		rr_mem_put(&s->mem, x, sizeof(*x) + x->cap);
	}
	mem = s->mem;
	rr_mem_put(&mem, s, sizeof(*s));
}
