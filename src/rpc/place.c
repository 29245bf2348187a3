/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/place.h"

#include "base/sized.h"
#include "rpc/request.h"

int rpcrdma_service_set_place(struct rpcrdma_service *s, uint32_t program,
                              uint32_t version, const struct rpcrdma_place_options *o)
{
	struct rpcrdma_place_options own;
	struct rr_service_entry *e;
	uint32_t low, high;
	int err = s && o ? RR_SIZED_TAKE(&own, release, o) : -EINVAL;

	if (err)
		return err;
	if (!own.place || !own.release)
		return -EINVAL;
	e = (struct rr_service_entry *)(uintptr_t)rr_service_find(s, program, version,
	                                                          &low, &high);
	if (!e)
		return -ENOENT;
	if (e->place.place)
		return -EEXIST;
	e->place = own;
	s->places = true;
	return 0;
}

void *rpcrdma_request_place_token(const struct rpcrdma_request *q)
{
	return q->placed ? q->place_token : NULL;
}

/* Describes the request for the program, including the part of the arguments that has
 * arrived. */
static void describe_arrival(struct rpcrdma_request *q, size_t header,
                             struct rpcrdma_call_info *a, struct sockaddr_storage *peer,
                             size_t sizes[RR_REQUEST_MAX_READS])
{
	for (unsigned i = 0; i < q->r->n_reads; i++)
		sizes[i] = rr_conn_read_bytes(q->r, i);
	*a = (struct rpcrdma_call_info){
	        .program = q->rpc.program,
	        .version = q->rpc.version,
	        .procedure = q->rpc.procedure,
	        .xid = q->rpc.xid,
	        .cred = &q->rpc.cred,
	        .peer = rpcrdma_request_peer(q, peer) ? NULL : peer,
	        .args = (const uint8_t *)q->r->pieces[0].base + header,
	        .args_len = q->r->pieces[0].len - header,
	        .n_items = q->r->n_reads,
	        .item_bytes = sizes,
	};
}

/* Checks that the program's memory is large enough for the items. */
static bool take_places(struct rpcrdma_request *q, const struct iovec *at,
                        const size_t *sizes)
{
	for (unsigned i = 0; i < q->r->n_reads; i++) {
		if (sizes[i] && (!at[i].iov_base || at[i].iov_len < sizes[i]))
			return false;
		q->places[i] = (struct rr_sge){.base = at[i].iov_base,
		                               .len = (uint32_t)sizes[i]};
	}
	return true;
}

bool rr_place_ask(struct rpcrdma_request *q, size_t header)
{
	const struct rpcrdma_place_options *o = &q->entry->place;
	struct iovec at[RR_REQUEST_MAX_READS] = {{NULL, 0}};
	size_t sizes[RR_REQUEST_MAX_READS];
	struct sockaddr_storage peer;
	struct rpcrdma_call_info a;
	int r;

	if (!o->place)
		return true;
	describe_arrival(q, header, &a, &peer, sizes);
	r = o->place(&a, at, &q->place_token, o->arg);
	q->placed = r > 0;
	return r >= 0 && (!r || take_places(q, at, sizes));
}

void rr_place_over(struct rpcrdma_request *q)
{
	if (!q->placed)
		return;
	q->placed = false;
	q->entry->place.release(q->place_token, q->entry->place.arg);
}
