/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dispatches requests to handlers.
 *
 * Normal path: rr_dispatch_admit checks the chunks against the procedure's binding
 * before anything is pulled.  rr_dispatch_begin decodes the RPC header and calls the
 * handler.  The handler replies, in any thread.  rr_dispatch_end frees the request's
 * memory.
 *
 * Failure: transport errors are reported by RDMA2_ERROR, and RPC errors in a Reply.  If
 * the connection is lost, a request stays valid until its handler has replied; the
 * reply is discarded.
 *
 * Requests that must not be executed twice use the service's reply cache (once.h).  The
 * result is stored before it is sent, so it is kept even if the connection is lost.  A
 * repetition of a Call that is being executed waits for the result, at most until the
 * repetition's connection ends.
 *
 * Chunks: the data of only a few requests are in motion at once (pace.h).  Other
 * requests with Read chunks wait before they are pulled.  Other requests with Write
 * chunks wait before they are executed.
 *
 * Memory: a request is admitted when all the memory that it can need has been reserved
 * (reserve.h); other requests wait in order.  Before that, only the beginning of a
 * Special Call has been pulled.  If the Call is refused because of its beginning, the
 * rest is not pulled.
 */
#include <stdlib.h>
#include <string.h>

#include "link/channel.h"
#include "rpc/hostage.h"
#include "rpc/once.h"
#include "rpc/place.h"
#include "rpc/reserve.h"

/* Serves the connection's claims in the engine's thread. */
static void continue_holder(struct rr_post *p)
{
	rr_holder_woken(&rr_container_of(p, struct rr_dispatch, wake)->holder);
}

static void wake_holder(struct rr_holder *h)
{
	struct rr_dispatch *s = rr_container_of(h, struct rr_dispatch, holder);

	rr_engine_post(s->engine, &s->wake);
}

static void settle_unexposed(struct rr_late *w)
{
	struct rr_dispatch *s = rr_container_of(w, struct rr_dispatch, unexposed);

	if (s->settled)
		s->settled(s);
}

void rr_dispatch_init(struct rr_dispatch *s, struct rpcrdma_engine *e,
                      const struct rr_link_config *c, struct rpcrdma_service *service)
{
	s->engine = e;
	s->service = service;
	s->max_chunk_bytes = c->o.max_chunk_bytes;
	s->max_message_bytes = c->o.max_message_bytes;
	s->inline_bytes = c->o.inline_bytes;
	s->active = e->now;
	rr_list_init(&s->all);
	rr_pace_init(&s->pulls);
	rr_pace_init(&s->sends);
	s->wake.fn = continue_holder;
	rr_list_init(&s->wake.link);
	s->rprc_total_bytes = c->features.rprc_total_bytes;
	s->unexposed.fn = settle_unexposed;
	rr_list_init(&s->unexposed.link);
	rr_holder_init(&s->holder, rr_budget_process(), c->o.max_held_bytes,
	               wake_holder);
	rr_hostage_add(s);
}

void rr_dispatch_fini(struct rr_dispatch *s)
{
	rr_list_del(&s->holders);
	rr_holder_fini(&s->holder);
	rr_engine_unpost(s->engine, &s->wake);
	rr_list_del(&s->unexposed.link);
}

/* -- admission ------------------------------------------------------------- */

/*
 * Checks the chunks that the Requester offers against the binding.  Returns code 0 if
 * the request may be admitted.  [v2 §7.3.1, §7.3.2; K12, K13, E11, ext §7.2 V22]
 */
static struct rr_error check_binding(const struct rpcrdma_procedure *p,
                                     const struct rr_request *r)
{
	unsigned reads = p ? p->max_read_items : 0;
	unsigned writes = p ? p->max_write_items : 0;
	struct rr_error e = {0};

	if (r->n_reads > reads)
		e = (struct rr_error){RDMA2_ERR_READ_CHUNKS, {reads, 0}};
	else if (r->n_writes > writes)
		e = (struct rr_error){RDMA2_ERR_WRITE_CHUNKS, {writes, 0}};
	else if (p && p->max_read_bytes && r->read_bytes > p->max_read_bytes)
		e = (struct rr_error){RDMA2_ERR_SYSTEM, {0, 0}};
	return e;
}

static const struct rr_error no_memory = {.code = RDMA2_ERR_SYSTEM};

static void free_own_sinks(struct own_sinks *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n; i++)
		free(s->mem[i]);
	free(s);
}

static bool keeps_items(const struct rpcrdma_service *s)
{
	return s->pass && s->pass->keeps_items;
}

/* Admits a request to a service whose handler may keep the items, so each item has a
 * block from malloc. */
static void admit_passthrough(struct rpcrdma_request *q)
{
	struct rr_link *l = q->dispatch->link;
	struct rr_request *r = q->r;
	struct rr_sge sge[RR_REQUEST_MAX_READS];
	struct own_sinks *s = calloc(1, sizeof(*s));
	bool bad = !s;

	for (unsigned i = 0; !bad && i < r->n_reads; i++) {
		size_t len = rr_conn_read_bytes(r, i);

		s->mem[i] = malloc(len + RR_ITEM_TAIL);
		s->n++;
		sge[i] = (struct rr_sge){.base = s->mem[i], .len = (uint32_t)len};
		bad = !s->mem[i];
	}
	if (bad) {
		free_own_sinks(s);
		rr_conn_refuse(l->conn, r, &no_memory, l->engine->now);
		return;
	}
	q->sinks = s;
	rr_conn_admit(l->conn, r, sge, l->engine->now);
}

/* -- answering ------------------------------------------------------------- */

/* Refuses the request with the extension's error code in q->code. */
static void send_refusal(struct rpcrdma_request *q)
{
	const struct rr_error e = {.code = q->code};
	struct rr_link *l = q->dispatch->link;

	if (q->proc && q->entry)
		rr_service_count(q->entry, q->dispatch->hall, q->rpc.procedure, true, 0,
		                 0);
	rr_conn_refuse(l->conn, q->r, &e, l->engine->now);
	rr_link_touch(l);
}

static void count_procedure(const struct rpcrdma_request *q)
{
	uint64_t bytes = 0, args_bytes = 0;

	for (unsigned i = 1; i < 1 + q->n_reply; i++)
		bytes += q->reply[i].len;
	for (unsigned i = 0; i < q->n_args; i++)
		args_bytes += q->args[i].len;
	if (q->proc && q->entry && !q->replayed)
		rr_service_count(q->entry, q->dispatch->hall, q->rpc.procedure,
		                 q->status.status != 0, args_bytes, bytes);
}

static void drop_request(struct rpcrdma_request *q)
{
	struct rr_link *l = q->dispatch->link;

	q->answered = true;
	rr_conn_drop(l->conn, q->r, l->engine->now);
	rr_link_touch(l);
}

void rr_request_close(struct rpcrdma_request *q, int error)
{
	drop_request(q);
	rr_link_close(q->dispatch->link, error);
}

/* Protects the results as the security context requires.  Returns false if no Reply may
 * be sent.  Results that are not valid XDR are replaced by SYSTEM_ERR, because
 * protecting them would fail again for each repetition. */
static bool protect_results(struct rpcrdma_request *q)
{
	struct rr_acceptor_job *a = q->gss;
	int err;

	if (q->status.status >= RPCRDMA_RPC_MISMATCH)
		return true; /* the Reply to a denied Call has no verifier */
	q->status.verf = a->request.verf;
	if (q->status.status || a->request.service == RR_GSS_NONE)
		return true;
	err = rr_acceptor_wrap(a, q->reply + 1, q->n_reply, &q->reply[1]);
	if (err == -EINVAL || err == -EMSGSIZE) {
		q->status.status = RPCRDMA_SYSTEM_ERR;
		q->n_reply = 0;
		return true;
	}
	if (err)
		return false;
	q->n_reply = 1;
	rr_reserve_charge(q, q->reply[1].len);
	return true;
}

/* Returns the number of octets in the items of the results. */
static uint64_t count_items(const struct rpcrdma_request *q)
{
	uint64_t bytes = 0;

	for (unsigned i = 1; i < 1 + q->n_reply; i++)
		bytes += q->reply[i].item ? q->reply[i].len : 0;
	return bytes;
}

static void send_answer(struct rpcrdma_request *q)
{
	struct rr_link *l = q->dispatch->link;
	int n;

	if (q->own_header) {
		rr_conn_reply(l->conn, q->r, q->reply, q->n_reply, l->engine->now);
		rr_link_touch(l);
		return;
	}
	count_procedure(q);
	if (q->gss && !protect_results(q)) {
		rr_request_close(q, -EKEYREJECTED);
		return;
	}
	n = rr_rpc_put_reply(q->header, sizeof(q->header), &q->status);
	RR_ASSERT(n > 0);
	q->reply[0] = (struct rr_piece){q->header, (size_t)n, false};
	if (q->r->n_writes)
		rr_pace_charge(&q->dispatch->sends, &q->send, count_items(q));
	rr_conn_reply(l->conn, q->r, q->reply, 1 + q->n_reply, l->engine->now);
	rr_link_touch(l);
}

void rr_request_send_answer(struct rpcrdma_request *q)
{
	send_answer(q);
	rr_reserve_answered(q);
}

static void answer_posted(struct rr_post *p)
{
	struct rpcrdma_request *q = rr_container_of(p, struct rpcrdma_request, post);

	if (q->code)
		send_refusal(q);
	else
		rr_request_send_answer(q);
}

/* -- handlers' answers ----------------------------------------------------- */

static int deliver_answer(struct rpcrdma_request *q)
{
	struct rpcrdma_engine *e = q->dispatch->engine;

	q->answered = true;
	rr_once_complete(q);
	if (rr_engine_here(e)) {
		answer_posted(&q->post);
	} else {
		q->post.fn = answer_posted;
		rr_engine_post(e, &q->post);
	}
	return 0;
}

int rpcrdma_request_reply(struct rpcrdma_request *q, const struct rpcrdma_piece *p,
                          unsigned n, void (*done)(void *), void *arg)
{
	if (!q || q->answered || n > RPCRDMA_MAX_PIECES || (n && !p))
		return -EINVAL;
	if (!rr_rpc_aligned(p, n))
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		q->reply[1 + i] = (struct rr_piece){p[i].base, p[i].len, p[i].item};
	q->n_reply = n;
	q->done = done;
	q->done_arg = arg;
	q->status = (struct rr_rpc_reply){.xid = q->r->xid};
	return deliver_answer(q);
}

int rr_request_reply_passthrough(struct rpcrdma_request *q,
                                 const struct rpcrdma_piece *p, unsigned n,
                                 void (*done)(void *), void *arg)
{
	if (q->answered || !n || n > RR_ARRAY_SIZE(q->reply))
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		q->reply[i] = (struct rr_piece){p[i].base, p[i].len, p[i].item};
	q->n_reply = n;
	q->done = done;
	q->done_arg = arg;
	q->own_header = true;
	return deliver_answer(q);
}

void rr_request_give_up(struct rpcrdma_request *q)
{
	rr_link_close(q->dispatch->link, -ETIMEDOUT);
}

int rpcrdma_request_error(struct rpcrdma_request *q, int status, uint32_t detail)
{
	if (!q || q->answered || status <= 0 ||
	    (status > RPCRDMA_SYSTEM_ERR && status != RPCRDMA_AUTH_ERROR))
		return -EINVAL;
	q->n_reply = 0;
	q->status = (struct rr_rpc_reply){
	        .xid = q->r->xid, .status = status, .auth_stat = detail};
	return deliver_answer(q);
}

int rpcrdma_request_extension_error(struct rpcrdma_request *q, uint32_t code)
{
	if (!q || q->answered || q->executing ||
	    !rr_exts_error(q->dispatch->link, code))
		return -EINVAL;
	q->code = code;
	return deliver_answer(q);
}

/* -- execution ------------------------------------------------------------- */

/* Returns true if the arguments of a request include the RPC header. */
static bool is_complete(const struct rpcrdma_service *s)
{
	return s->pass && s->pass->complete;
}

/* Describes the arguments, which begin after @header octets of the first piece. */
static void set_args(struct rpcrdma_request *q, size_t header)
{
	const struct rr_request *r = q->r;

	for (unsigned i = 0; i < r->n_pieces; i++) {
		const struct rr_piece *p = &r->pieces[i];
		size_t skip = i ? 0 : header;

		if (p->len > skip)
			q->args[q->n_args++] =
			        (struct rpcrdma_piece){(const uint8_t *)p->base + skip,
			                               p->len - skip, p->item};
	}
}

/* Decodes and checks the RPC header.  Returns its length or a negative errno, and sets
 * @ret->status if the Call must be refused. */
static int check_rpc(struct rpcrdma_request *q, struct rr_rpc_reply *ret)
{
	const struct rr_service_passthrough *pass = q->dispatch->service->pass;
	int n = rr_rpc_get_call(q->r->pieces[0].base, q->r->pieces[0].len, &q->rpc);

	if (n < 0) {
		ret->status = RPCRDMA_GARBAGE_ARGS;
	} else if (q->rpc.rpcvers != 2) {
		ret->status = RPCRDMA_RPC_MISMATCH;
		ret->low = ret->high = 2;
	} else if (pass) {
		q->proc = pass->binding(pass->arg, q->rpc.program, q->rpc.version,
		                        q->rpc.procedure);
	} else {
		q->entry = rr_service_for(q->dispatch->service, &q->rpc, ret);
		if (q->entry) {
			q->proc = rr_service_proc(q->entry, q->rpc.procedure);
			if (!q->proc)
				ret->status = RPCRDMA_PROC_UNAVAIL;
		}
	}
	return n;
}

/* Calls the handler, or answers with the error in @q->status. */
static void call_handler(struct rpcrdma_request *q)
{
	struct sockaddr_storage caller;

	if (q->status.status) {
		q->answered = true;
		rr_request_send_answer(q);
		return;
	}
	q->r->unreduced = rr_rpc_unreducible(&q->rpc.cred);
	if (!q->entry) {
		q->dispatch->service->pass->handler(q, q->dispatch->service->pass->arg);
		return;
	}
	if (q->proc->execute_once) {
		if (rpcrdma_request_peer(q, &caller)) {
			/* The connection is closed, so the caller cannot be
			 * identified. */
			rr_request_close(q, -ENOTCONN);
			return;
		}
		if (!rr_once_begin(q, &caller))
			return;
	}
	q->proc->handler(q, q->entry->arg);
}

/* Executes, answers or drops the request, as the acceptor has decided. */
static void finish_accept(struct rpcrdma_request *q)
{
	const struct rr_gss_request *g = &q->gss->request;
	struct rr_link *l = q->dispatch->link;

	if (g->verdict == RR_GSS_PROCEED) {
		if (g->service != RR_GSS_NONE) {
			q->args[0] =
			        (struct rpcrdma_piece){g->args, g->args_len, false};
			q->n_args = g->args_len > 0;
			rr_reserve_charge(q, g->args_len);
		}
		call_handler(q);
		return;
	}
	rr_trace(&l->voice.sink,
	         g->auth_stat || g->verdict == RR_GSS_CLOSE ? RR_TRACE_GSS_REFUSED
	                                                    : RR_TRACE_GSS_STEP,
	         l->id, q->r->xid, g->auth_stat, 0, 0);
	if (g->verdict == RR_GSS_CLOSE) {
		rr_request_close(q, -EACCES);
		return;
	}
	q->r->unreduced = true;
	q->reply[0] = (struct rr_piece){g->reply, g->reply_len, false};
	q->n_reply = 1;
	q->own_header = true;
	q->answered = true;
	rr_request_send_answer(q);
}

static void accept_ended(struct rr_post *p)
{
	struct rr_acceptor_job *a = rr_container_of(p, struct rr_acceptor_job, post);
	struct rpcrdma_request *q = a->user;

	rr_acceptor_posted(q->dispatch->service->acceptor);
	q->accepting = false;
	if (rr_link_is_lost(q->dispatch->link))
		drop_request(q);
	else
		finish_accept(q);
}

static bool needs_acceptor(const struct rpcrdma_request *q)
{
	return q->dispatch->service->acceptor && q->rpc.rpcvers == 2 &&
	       q->rpc.cred.flavor == RPCRDMA_AUTH_GSS;
}

/* Authenticates the caller.  The Call must not be answered before that, not even with
 * an error. */
static void begin_accept(struct rpcrdma_request *q)
{
	struct rr_acceptor_job *a = calloc(1, sizeof(*a));
	bool now;

	if (!a) {
		rr_request_close(q, -ENOMEM);
		return;
	}
	q->gss = a;
	a->engine = q->dispatch->engine;
	a->user = q;
	a->post.fn = accept_ended;
	a->call = (struct rr_gss_call){.xid = q->rpc.xid,
	                               .program = q->rpc.program,
	                               .version = q->rpc.version,
	                               .procedure = q->rpc.procedure,
	                               .cred = q->rpc.cred,
	                               .verf = q->rpc.verf,
	                               .args = q->args,
	                               .n_args = q->n_args,
	                               .peer = (struct sockaddr *)&a->peer,
	                               .now = a->engine->now};
	/* If the peer's address is unknown, a zero address is used. */
	(void)!rpcrdma_request_peer(q, &a->peer);
	if (rr_acceptor_submit(q->dispatch->service->acceptor, a, &now)) {
		q->gss = NULL;
		free(a);
		q->status.status = RPCRDMA_SYSTEM_ERR;
		call_handler(q);
		return;
	}
	q->accepting = !now;
	if (now)
		finish_accept(q);
}

/* Executes a request, or answers it with an error.  An rr_paced.go function. */
static void execute_request(struct rr_paced *j)
{
	struct rpcrdma_request *q = rr_container_of(j, struct rpcrdma_request, send);
	int n;

	q->begun = true;
	rr_reserve_peer(q, false);
	if (rr_link_is_lost(q->dispatch->link) ||
	    rr_link_was_closed(q->dispatch->link)) {
		/* The connection ended while the request was queued.  The caller may
		 * have sent the Call again on another connection, so it must not be
		 * executed now. */
		drop_request(q);
		return;
	}
	q->status = (struct rr_rpc_reply){.xid = q->r->xid};
	n = check_rpc(q, &q->status);
	if (n >= 0)
		set_args(q, is_complete(q->dispatch->service) ? 0 : (size_t)n);
	if (n >= 0 && needs_acceptor(q))
		begin_accept(q);
	else
		call_handler(q);
}

/* Admits the request to the connection, which pulls its Read chunks; or has it served at
 * once if there is nothing to pull.  An rr_paced.go function. */
static void pull_request(struct rr_paced *j)
{
	struct rpcrdma_request *q = rr_container_of(j, struct rpcrdma_request, pull);
	struct rr_link *l = q->dispatch->link;

	rr_pace_charge(&q->dispatch->pulls, j, j->bytes);
	if (keeps_items(q->dispatch->service) && q->r->n_reads)
		admit_passthrough(q);
	else if (rr_conn_is_whole(l->conn, q->r))
		l->ops->request(l, q->r);
	else
		rr_conn_admit(l->conn, q->r, q->placed ? q->places : NULL,
		              l->engine->now);
}

/* Admits a request for which memory has been reserved. */
static void admit_request(struct rpcrdma_request *q)
{
	q->waits = false;
	q->pull.bytes = q->r->read_bytes;
	if (!q->pull.bytes || rr_pace_enter(&q->dispatch->pulls, &q->pull))
		pull_request(&q->pull);
}

static struct rpcrdma_request *new_request(struct rr_link *l, struct rr_request *r)
{
	struct rr_dispatch *s = l->dispatch;
	struct rpcrdma_request *q = rr_pool_get(&l->engine->pool, sizeof(*q));

	if (!q)
		return NULL;
	memset(q, 0, offsetof(struct rpcrdma_request, args));
	q->dispatch = s;
	q->r = r;
	rr_list_init(&q->claim.link);
	rr_list_init(&q->pull.link);
	rr_list_init(&q->send.link);
	q->pull.go = pull_request;
	q->send.go = execute_request;
	rr_list_push(&s->all, &q->all);
	r->user = (uint64_t)(uintptr_t)q;
	s->requests++;
	return q;
}

/* Asks the program for memory for items, if it provides such memory.  Answers the
 * request with an error if the program refuses, or if the beginning of a Special Call
 * shows an error; the rest of the Call is then not pulled.  Returns true if the request
 * was answered. */
static bool refuse_early(struct rpcrdma_request *q)
{
	int n;

	if (!q->r->special && !(q->r->read_bytes && q->dispatch->service->places))
		return false;
	q->status = (struct rr_rpc_reply){.xid = q->r->xid};
	n = check_rpc(q, &q->status);
	if (needs_acceptor(q) || (q->status.status && !q->r->special))
		return false;
	if (!q->status.status && q->entry && q->r->read_bytes &&
	    !rr_place_ask(q, (size_t)n))
		q->status.status = RPCRDMA_SYSTEM_ERR;
	if (!q->status.status)
		return false;
	rr_holder_give(&q->dispatch->holder, q->r->roomed_bytes);
	q->answered = true;
	rr_request_send_answer(q);
	return true;
}

/* Refuses a request before its memory is reserved. */
static void refuse_unreserved(struct rr_link *l, struct rr_request *r,
                              const struct rr_error *err)
{
	rr_holder_give(&l->dispatch->holder, r->roomed_bytes);
	rr_conn_refuse(l->conn, r, err, l->engine->now);
}

/* Finds the procedure of the Call, and checks the chunks against its binding.  Returns
 * true if the request was refused. */
static bool refuse_chunks(struct rr_link *l, struct rr_request *r)
{
	const struct rr_service_passthrough *pass = l->dispatch->service->pass;
	const struct rpcrdma_procedure *p = NULL;
	const struct rr_service_entry *e;
	struct rr_rpc_reply ignored;
	struct rr_rpc_call c = {0};
	struct rr_error err;

	if (rr_rpc_get_call(r->pieces[0].base, r->pieces[0].len, &c) >= 0) {
		e = pass ? NULL : rr_service_for(l->dispatch->service, &c, &ignored);
		p = pass ? pass->binding(pass->arg, c.program, c.version, c.procedure)
		    : e  ? rr_service_proc(e, c.procedure)
		         : NULL;
	}
	err = check_binding(p, r);
	if (!err.code)
		return false;
	rr_trace(&l->voice.sink, RR_TRACE_RPC_REFUSED, l->id, r->xid, c.program,
	         c.version, c.procedure);
	refuse_unreserved(l, r, &err);
	return true;
}

void rr_dispatch_admit(struct rr_link *l, struct rr_request *r)
{
	struct rpcrdma_request *q;

	rr_dispatch_touch(l->dispatch);
	rr_reserve_sequence_over(l->dispatch, r->roomed_bytes);
	if ((r->n_reads || r->n_writes) && refuse_chunks(l, r))
		return;
	q = new_request(l, r);
	if (!q)
		refuse_unreserved(l, r, &no_memory);
	else if (!refuse_early(q))
		rr_reserve(q, admit_request);
}

/* Removes the request from the pace of pulls, and pulls other requests for which there
 * is room. */
static void end_pull(struct rpcrdma_request *q)
{
	struct rr_pace *p = &q->dispatch->pulls;

	if (!q->pull.bytes) /* it never entered the pace */
		return;
	rr_pace_leave(p, &q->pull);
	rr_pace_go(p);
}

void rr_dispatch_begin(struct rr_link *l, struct rr_request *r)
{
	struct rpcrdma_request *q = (struct rpcrdma_request *)(uintptr_t)r->user;

	end_pull(q);
	for (unsigned i = 0; i < r->n_writes; i++)
		q->send.bytes += r->write_bytes[i];
	if (!r->n_writes || rr_pace_enter(&l->dispatch->sends, &q->send))
		execute_request(&q->send);
}

/* -- end of a request ------------------------------------------------------ */

void rr_dispatch_end(struct rr_link *l, struct rr_request *r, int status)
{
	struct rr_dispatch *s = l->dispatch;
	struct rpcrdma_request *q;

	if (!r->user) /* refused by rr_dispatch_admit */
		return;
	q = (struct rpcrdma_request *)(uintptr_t)r->user;
	rr_once_end(q);
	end_pull(q);
	rr_pace_leave(&s->sends, &q->send);
	rr_request_free_allocs(q);
	free_own_sinks(q->sinks);
	if (q->gss)
		rr_acceptor_job_free(q->gss);
	rr_list_del(&q->all);
	if (q->done)
		q->done(q->done_arg);
	rr_place_over(q);
	rr_reserve_end(q); /* other requests on this link may now be admitted */
	rr_pool_put(&l->engine->pool, q, sizeof(*q));
	s->requests--;
	s->active = l->engine->now;
	if (r->n_writes)
		rr_pace_go(&s->sends);
	if (s->settled)
		s->settled(s);
}

void rr_dispatch_touch(struct rr_dispatch *s)
{
	if (s->used && s->active == s->engine->now)
		return;
	s->active = s->engine->now;
	s->used = true;
	if (s->touched)
		s->touched(s);
}

void rr_dispatch_used(struct rr_link *l)
{
	if (l->dispatch)
		rr_dispatch_touch(l->dispatch);
}

bool rr_dispatch_is_executing(const struct rr_dispatch *s)
{
	const struct rr_list *n;

	rr_list_for_each (n, &s->all) {
		const struct rpcrdma_request *q =
		        rr_container_of((uintptr_t)n, struct rpcrdma_request, all);

		if (q->begun && !q->answered)
			return true;
	}
	return false;
}

void rr_dispatch_drop(struct rr_link *l)
{
	struct rr_dispatch *s = l->dispatch;
	struct rr_list *n;

	rr_list_for_each (n, &s->all) {
		struct rpcrdma_request *q =
		        rr_container_of(n, struct rpcrdma_request, all);

		if (q->answered)
			continue;
		if (q->accepting)
			rr_acceptor_cancel(l->dispatch->service->acceptor, q->gss);
		q->accepting = false;
		/* No repetition of the Call can follow, so any result will do. */
		q->n_reply = 0;
		q->status = (struct rr_rpc_reply){.status = RPCRDMA_SYSTEM_ERR};
		rr_once_complete(q);
		q->answered = true;
		rr_conn_drop(l->conn, q->r, l->engine->now);
	}
}

void rr_dispatch_lost(struct rr_link *l)
{
	struct rr_list *n;

	if (!l->dispatch)
		return;
	rr_list_for_each (n, &l->dispatch->all) {
		struct rpcrdma_request *q =
		        rr_container_of(n, struct rpcrdma_request, all);

		if (q->waits)
			rr_reserve_leave(q);
		else if (q->waiting)
			rr_once_leave(q);
		else if (q->accepting &&
		         rr_acceptor_withdraw(l->dispatch->service->acceptor, q->gss))
			q->accepting = false;
		else
			continue;
		q->waits = false;
		drop_request(q);
	}
}
