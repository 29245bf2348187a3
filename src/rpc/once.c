/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/once.h"

#include <string.h>

#include "rpc/request.h"

static struct rr_reply_cache *reply_cache_of(const struct rpcrdma_request *q)
{
	return &q->dispatch->service->cache;
}

void rr_once_complete(struct rpcrdma_request *q)
{
	if (!q->executing)
		return;
	q->executing = false;
	rr_reply_cache_complete(reply_cache_of(q), q->once, &q->status, q->reply + 1,
	                        q->n_reply, rr_engine_clock());
	q->once = NULL;
}

/* Replies with the stored result. */
static void replay_reply(struct rpcrdma_request *q)
{
	q->n_reply = rr_reply_cache_reply(q->once, &q->status, q->reply + 1);
	q->answered = q->replayed = true;
	rr_request_send_answer(q);
}

static void replay_posted(struct rr_post *p)
{
	struct rpcrdma_request *q = rr_container_of(p, struct rpcrdma_request, post);

	q->waiting = false;
	replay_reply(q);
}

static void first_is_done(struct rr_reply_cache_waiter *w)
{
	struct rpcrdma_request *q = rr_container_of(w, struct rpcrdma_request, waiter);

	rr_engine_post(q->dispatch->engine, &q->post);
}

static void refuse_uncached(struct rpcrdma_request *q)
{
	q->status.status = RPCRDMA_SYSTEM_ERR;
	q->answered = q->replayed = true;
	rr_request_send_answer(q);
}

bool rr_once_begin(struct rpcrdma_request *q, const struct sockaddr_storage *caller)
{
	struct rr_dispatch *dispatch = q->dispatch;
	struct rr_link *l = dispatch->link;
	struct rr_reply_cache_from from = {.caller = caller};
	bool briefly = q->proc->execute_once == RPCRDMA_EXECUTE_ONE_AT_A_TIME;
	rr_reply_cache_begin_fn *begin;
	struct rr_rpc_call rpc = q->rpc;
	const char *who;

	/* The principal replaces the RPCSEC_GSS credential, whose handle and sequence
	 * number may differ when the Call is repeated. */
	if (q->gss) {
		who = q->gss->request.who->principal;
		rpc.cred.body = who;
		rpc.cred.len = (uint32_t)strlen(who);
	}

	if (!dispatch->connection)
		dispatch->connection = rr_reply_cache_connection(reply_cache_of(q));
	from.connection = dispatch->connection;
	q->status = (struct rr_rpc_reply){.xid = q->r->xid};
	q->waiter.ready = first_is_done;
	q->post.fn = replay_posted;
	rr_list_init(&q->post.link);
	begin = briefly ? rr_reply_cache_begin_briefly : rr_reply_cache_begin;
	switch (begin(reply_cache_of(q), &from, &rpc, q->args, q->n_args, &q->waiter,
	              l->engine->now, &q->once)) {
	case RR_REPLY_CACHE_NEW:
		q->executing = true;
		return true;
	case RR_REPLY_CACHE_DONE:
		l->stats.cache_hits++;
		replay_reply(q);
		return false;
	case RR_REPLY_CACHE_WAIT:
		l->stats.cache_waits++;
		q->waiting = true;
		return false;
	case RR_REPLY_CACHE_REFUSED:
		break;
	}
	refuse_uncached(q);
	return false;
}

void rr_once_leave(struct rpcrdma_request *q)
{
	struct rpcrdma_engine *e = q->dispatch->engine;

	rr_reply_cache_leave(reply_cache_of(q), q->once, &q->waiter, e->now);
	rr_engine_unpost(e, &q->post);
	q->once = NULL;
	q->waiting = false;
}

void rr_once_end(struct rpcrdma_request *q)
{
	if (q->once)
		rr_reply_cache_put(reply_cache_of(q), q->once,
		                   q->dispatch->engine->now);
}
