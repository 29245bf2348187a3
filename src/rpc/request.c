/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives handlers information about requests, and allocates memory for results. */
#include <stdlib.h>

#include "base/sized.h"
#include "link/channel.h"
#include "rpc/reserve.h"

enum { ALLOC_HEAD = 64, ALLOC_APART = 4096 };

struct rr_request_alloc {
	struct rr_request_alloc *next;
	/* size of the allocated memory; includes this header if @apart is NULL */
	size_t bytes;
	/* the handler's memory, if it is a separate block; otherwise NULL.  A header in
	 * the same block could double the block's size. */
	void *apart;
	bool pooled;
};

/* -- memory ---------------------------------------------------------------- */

static void *get_memory(struct rpcrdma_engine *e, bool pooled, size_t bytes)
{
	return pooled ? rr_pool_get(&e->pool, bytes)
	              : aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void put_memory(struct rpcrdma_engine *e, bool pooled, void *m, size_t bytes)
{
	if (pooled)
		rr_pool_put(&e->pool, m, bytes);
	else
		free(m);
}

void *rpcrdma_request_alloc(struct rpcrdma_request *q, size_t bytes)
{
	struct rpcrdma_engine *e = q->dispatch->engine;
	bool pooled = rr_engine_here(e), apart = bytes >= ALLOC_APART;
	struct rr_request_alloc *a;

	if (bytes > PTRDIFF_MAX - 2 * ALLOC_HEAD || !rr_reserve_take(q, bytes))
		return NULL;
	a = get_memory(e, pooled, apart ? sizeof(*a) : ALLOC_HEAD + bytes);
	if (!a)
		return NULL;
	*a = (struct rr_request_alloc){
	        .next = q->allocs, .bytes = bytes, .pooled = pooled};
	if (apart) {
		a->apart = get_memory(e, pooled, bytes);
		if (!a->apart) {
			put_memory(e, pooled, a, sizeof(*a));
			return NULL;
		}
	} else {
		a->bytes += ALLOC_HEAD;
	}
	q->allocs = a;
	return apart ? a->apart : (uint8_t *)a + ALLOC_HEAD;
}

void rr_request_free_allocs(struct rpcrdma_request *q)
{
	struct rpcrdma_engine *e = q->dispatch->engine;

	while (q->allocs) {
		struct rr_request_alloc *a = q->allocs;

		q->allocs = a->next;
		put_memory(e, a->pooled, a->apart, a->bytes);
		put_memory(e, a->pooled, a, a->apart ? sizeof(*a) : a->bytes);
	}
}

/* -- information about a request ------------------------------------------- */

struct rr_dispatch *rr_request_dispatch(const struct rpcrdma_request *q)
{
	return q->dispatch;
}

const struct rr_rpc_call *rr_request_rpc(const struct rpcrdma_request *q)
{
	return &q->rpc;
}

bool rr_request_take_item(struct rpcrdma_request *q, const void *base)
{
	for (unsigned i = 0; q->sinks && i < q->sinks->n; i++)
		if (q->sinks->mem[i] == base && base) {
			q->sinks->mem[i] = NULL;
			return true;
		}
	return false;
}

uint32_t rpcrdma_request_xid(const struct rpcrdma_request *q)
{
	return q->r->xid;
}

const struct rpcrdma_auth *rpcrdma_request_cred(const struct rpcrdma_request *q)
{
	return &q->rpc.cred;
}

int rpcrdma_request_gss(const struct rpcrdma_request *q, struct rpcrdma_gss_caller *ret,
                        size_t size)
{
	struct rpcrdma_gss_caller c;
	const struct rr_gss_identity *who;

	if (!q->gss)
		return -ENOENT;
	who = q->gss->request.who;
	c = (struct rpcrdma_gss_caller){
	        .service = (enum rpcrdma_gss_service)q->gss->request.service,
	        .principal = who->principal,
	        .mapped = who->mapped,
	        .uid = who->uid,
	        .gid = who->gid,
	        .n_gids = who->n_groups,
	        .gids = who->groups};
	rr_sized_give(ret, size, &c, sizeof(c));
	return 0;
}

int rpcrdma_request_peer(const struct rpcrdma_request *q, struct sockaddr_storage *ret)
{
	const struct rr_link *l = q->dispatch->link;

	return l->pump.ep ? l->prov->peer_addr(l->pump.ep, ret) : -ENOTCONN;
}

struct rpcrdma_channel *rpcrdma_request_channel(const struct rpcrdma_request *q)
{
	return q ? rr_link_channel(q->dispatch->link) : NULL;
}

struct rpcrdma_engine *rpcrdma_request_engine(const struct rpcrdma_request *q)
{
	return q->dispatch->engine;
}

unsigned rpcrdma_request_args(const struct rpcrdma_request *q,
                              const struct rpcrdma_piece **ret)
{
	*ret = q->args;
	return q->n_args;
}

uint64_t rpcrdma_request_result_room(const struct rpcrdma_request *q, unsigned i)
{
	return i < q->r->n_writes ? q->r->write_bytes[i] : 0;
}
