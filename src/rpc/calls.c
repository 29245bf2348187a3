/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/calls.h"

#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "oncrpc/rpc_header.h"
#include "rpc/suspect.h"

enum {
	MAX_SENT = 192, /* maximum number of calls sent on a link; others wait */
	CALL_HEADER_MAX = RR_RPC_HEADER_MAX,
	REPLY_HEADER_MAX = 24 + RR_RPC_AUTH_MAX,
};

struct rpcrdma_call {
	/* node in the waiting, sent or ending list, or in a context's wait queue */
	struct rr_list link;
	/* fires at @timeout_at or @give_up_at, whichever is earlier */
	struct rr_timer timer;
	rr_time timeout_at;
	rr_time give_up_at; /* when to give up waiting for a link */
	struct rpcrdma_conn *conn;
	struct rr_link *on; /* link on which the call was sent; NULL = not sent */
	struct rr_call call;
	struct rpcrdma_dest *user_dests;
	rpcrdma_done_fn *done;
	void *arg;
	struct rr_call_auth *auth; /* the call's state in a security context; or NULL */
	bool own_header;           /* the user encodes and decodes RPC headers */
	bool bound; /* signed: must not be sent again, even with a new XID */
	/* @done is running, so the call cannot be cancelled */
	bool is_done_running;
	/* status if the call was ended locally; otherwise 0 */
	int verdict;
	unsigned attempts;
	struct rr_losses losses;
	/* These arrays are not cleared: their counts give the valid elements. */
	struct rr_piece pieces[1 + RPCRDMA_MAX_PIECES];
	struct rr_dest dests[RR_WIRE_MAX_WRITES];
	uint8_t header[CALL_HEADER_MAX];
};

/* -- end of a call --------------------------------------------------------- */

/* Decodes the Reply.  Returns false if it is malformed or not authentic, and sets the
 * status to the error. */
static bool read_reply(struct rpcrdma_call *k, struct rpcrdma_reply *r)
{
	const struct rr_call *m = &k->call;
	struct rr_piece results;
	struct rr_rpc_reply h;
	int n = rr_rpc_get_reply(m->reply, m->reply_len, &h), err = RR_MIN(n, 0);

	if (!err) {
		results = (struct rr_piece){(const uint8_t *)m->reply + n,
		                            m->reply_len - (size_t)n, false};
		if (k->auth)
			err = k->auth->context->ops->unwrap(k->auth, &h, results.base,
			                                    results.len, &results);
	}
	if (err) {
		r->status = err;
		return false;
	}
	r->status = h.status;
	r->auth_stat = h.auth_stat;
	r->low = h.low;
	r->high = h.high;
	r->results = results.base;
	r->len = results.len;
	return true;
}

/* Returns the peer's error code.  Version 1 has a single code for all errors in chunks,
 * RPCRDMA_ERR_CHUNK; the same number has a narrower meaning in version 2. */
static uint32_t transport_error(const struct rr_call *m, const struct rr_link *from)
{
	struct rr_conn_info info;

	if (!from || m->error.code != RDMA2_ERR_BAD_XDR)
		return m->error.code;
	rr_conn_info(from->conn, &info);
	return info.version == RPCRDMA_VERSION_ONE ? (uint32_t)RPCRDMA_ERR_CHUNK
	                                           : m->error.code;
}

static void fill_reply(struct rpcrdma_call *k, const struct rr_link *from,
                       struct rpcrdma_reply *r)
{
	struct rr_call *m = &k->call;

	if (m->status == RR_CALL_REMOTE_ERROR) {
		r->status = RPCRDMA_TRANSPORT_ERROR;
		r->transport_error = transport_error(m, from);
		r->a = m->error.arg[0];
		r->b = m->error.arg[1];
		return;
	}
	r->status = m->status;
	if (m->status)
		return;
	if (k->own_header) {
		r->results = m->reply;
		r->len = m->reply_len;
	} else if (!read_reply(k, r)) {
		return;
	}
	for (unsigned i = 0; i < m->n_dests; i++) {
		k->user_dests[i].ret_len = m->dests[i].ret_len;
		k->user_dests[i].ret_base = m->dests[i].ret_base;
		k->user_dests[i].ret_used = m->dests[i].ret_used;
		k->user_dests[i].ret_offered = m->dests[i].ret_offered;
	}
}

const void *rr_call_message(const struct rpcrdma_call *k, size_t *ret_len)
{
	*ret_len = k->call.reply_len;
	return k->call.reply;
}

bool rr_call_take_message(struct rpcrdma_call *k, void **ret, size_t *ret_bytes)
{
	return k->call.priv && rr_conn_call_take(&k->call, ret, ret_bytes);
}

static void end_attempt(struct rpcrdma_call *k)
{
	if (k->auth)
		k->auth->context->ops->end_attempt(k->auth);
}

static void free_auth(struct rpcrdma_call *k)
{
	if (k->auth)
		k->auth->context->ops->free_call(k->auth);
}

/* Calls the user's done function and frees the call, which is on no list.  @from is the
 * link on which the call was sent, or NULL. */
static void deliver_call(struct rpcrdma_call *k, struct rr_link *from)
{
	struct rpcrdma_conn *c = k->conn;
	struct rpcrdma_reply r = {
	        .xid = k->call.xid, .dests = k->user_dests, .n_dests = k->call.n_dests};

	rr_timer_stop(&c->engine->timers, &k->timer);
	k->is_done_running = true;
	if (k->verdict)
		r.status = k->verdict;
	else
		fill_reply(k, from, &r);
	if (r.status)
		rr_calls_count(c, call_errors);
	end_attempt(k); /* another call may now use the slot in the context's window */
	k->done(k, &r, k->arg);
	if (from)
		rr_conn_call_release(from->conn, &k->call, c->engine->now);
	free_auth(k);
	rr_pool_put(&c->engine->pool, k, sizeof(*k));
}

/* Arranges for the loop to end a call that is not on a link. */
static void end_unsent(struct rpcrdma_call *k, int verdict)
{
	if (!k->verdict)
		k->verdict = verdict;
	rr_list_del(&k->link);
	rr_list_push(&k->conn->ending, &k->link);
	rr_calls_schedule_end(k->conn);
}

void rr_calls_end_all(struct rpcrdma_conn *c, struct rr_list *list, int verdict)
{
	struct rr_list *n;

	while ((n = rr_list_first(list)))
		end_unsent(rr_container_of(n, struct rpcrdma_call, link), verdict);
}

/* Returns the wait queue of a security context; @n is the context's list node. */
static struct rr_list *queue_of(struct rr_list *n)
{
	return &rr_container_of(n, struct rr_auth_context, link)->queue;
}

void rr_calls_end_waiting(struct rpcrdma_conn *c, int verdict)
{
	struct rr_list *n;

	rr_calls_end_all(c, &c->waiting, verdict);
	rr_list_for_each (n, &c->auth.contexts)
		rr_calls_end_all(c, queue_of(n), verdict);
}

/* -- time limits ----------------------------------------------------------- */

static int set_call_timer(struct rpcrdma_call *k)
{
	struct rr_timers *timers = &k->conn->engine->timers;
	rr_time at = RR_MIN(k->timeout_at, k->give_up_at);

	if (at == RR_TIME_NEVER) {
		rr_timer_stop(timers, &k->timer);
		return 0;
	}
	return rr_timer_set(timers, &k->timer, at);
}

static void end_timed_out(struct rr_timer *t)
{
	struct rpcrdma_call *k = rr_container_of(t, struct rpcrdma_call, timer);

	if (!k->verdict)
		k->verdict =
		        k->timeout_at <= k->give_up_at ? -ETIMEDOUT : -EHOSTUNREACH;
	rpcrdma_call_cancel(k);
}

/* If there is no link, limits the time that the call waits for one.  The limit is
 * absence_ns from now, no matter how long other calls have already waited. */
static int begin_absence(struct rpcrdma_call *k)
{
	struct rpcrdma_conn *c = k->conn;

	if (c->link || !c->absence_ns)
		return 0;
	k->give_up_at = rr_after(rr_engine_clock(), c->absence_ns);
	return set_call_timer(k);
}

static void note_absence(struct rpcrdma_call *k)
{
	int err = begin_absence(k);

	if (err)
		end_unsent(k, err);
}

static void end_absence(struct rpcrdma_call *k)
{
	if (k->give_up_at == RR_TIME_NEVER)
		return;
	k->give_up_at = RR_TIME_NEVER;
	(void)!set_call_timer(k); /* cannot fail, because the timer is running */
}

static void for_each_call(struct rr_list *list, void (*fn)(struct rpcrdma_call *))
{
	for (struct rr_list *n = list->next, *next; n != list; n = next) {
		next = n->next;
		fn(rr_container_of(n, struct rpcrdma_call, link));
	}
}

/* Calls @fn for each call that is not sent, including those that wait for a security
 * context. */
static void for_each_unsent(struct rpcrdma_conn *c, void (*fn)(struct rpcrdma_call *))
{
	struct rr_list *n;

	for_each_call(&c->waiting, fn);
	rr_list_for_each (n, &c->auth.contexts)
		for_each_call(queue_of(n), fn);
}

/* -- calls that end on a link ---------------------------------------------- */

/* Returns true if the call ended only because its connection was lost.  Such a call may
 * be sent again. */
static bool ended_by_loss(const struct rpcrdma_call *k, const struct rr_link *l)
{
	struct rr_conn_info info;

	if (k->call.status >= 0 || k->verdict)
		return false;
	rr_conn_info(l->conn, &info);
	return (rr_link_is_lost(l) || info.error) && k->call.status != -EBADMSG &&
	       k->call.status != -EMSGSIZE && k->call.status != -EPROTO;
}

/* Prepares the call to be sent in another way that avoids the error.  Returns false if
 * there is no such way.  The call gets a new XID, because the server may remember its
 * reply to the old one. [E6] */
static bool recover_call(struct rpcrdma_call *k, const struct rr_link *l)
{
	if (k->bound || k->verdict || k->conn->closed || k->conn->over ||
	    !rr_call_recover(l->conn, &k->call))
		return false;
	k->call.xid = rr_engine_new_xid(k->conn->engine);
	rr_store_u32(k->header, k->call.xid);
	k->attempts = 0;
	return true;
}

/* Returns true if the server did not execute the call, because it did not know the
 * security context. */
static bool refused_context(struct rpcrdma_call *k)
{
	struct rr_rpc_reply h;

	return k->auth && !k->call.status && !k->verdict && !k->conn->closed &&
	       !k->conn->over &&
	       rr_rpc_get_reply(k->call.reply, k->call.reply_len, &h) > 0 &&
	       k->auth->context->ops->retries(k->auth, &h);
}

/* Returns a call to the waiting list, to be sent again: before all other waiting calls
 * if @first is true, otherwise after them. */
static void queue_again(struct rpcrdma_call *k, bool first)
{
	end_attempt(k);
	if (first)
		rr_list_push_front(&k->conn->waiting, &k->link);
	else
		rr_list_push(&k->conn->waiting, &k->link);
	note_absence(k);
}

/* If @k was using the link alone, lets other calls use the link and returns true. */
static bool end_lone(struct rpcrdma_conn *c, const struct rpcrdma_call *k)
{
	if (c->lone != k)
		return false;
	c->lone = NULL;
	rr_timer_stop(&c->engine->timers, &c->lone_timer);
	return true;
}

/* Returns true if the call ended with its connection, and may be sent on another one.
 * @lone is true if no other call was using the connection. */
static bool may_go_on(struct rpcrdma_call *k, const struct rr_link *l, bool lone)
{
	struct rpcrdma_conn *c = k->conn;

	if (!ended_by_loss(k, l) || c->no_resend || k->bound || c->closed || c->over)
		return false;
	if (!rr_losses_add(&k->losses, lone))
		return true;
	rr_trace(&l->voice.sink, RR_TRACE_RPC_ABANDONED, l->id, k->call.xid,
	         k->losses.all, k->losses.lone, (uint64_t)(int64_t)k->call.status);
	return false;
}

void rr_calls_done(struct rr_link *l, struct rr_call *m)
{
	struct rpcrdma_call *k = rr_container_of(m, struct rpcrdma_call, call);
	struct rpcrdma_conn *c = k->conn;
	bool lone = end_lone(c, k);

	rr_list_del(&k->link);
	c->n_sent--;
	c->n_here -= k->on == c->link;
	k->on = NULL;
	if (m->status >= 0)
		c->ops->replied(c);
	if (may_go_on(k, l, lone)) {
		rr_conn_call_release(l->conn, m, c->engine->now);
		queue_again(k, rr_losses_suspect(&k->losses));
	} else if (recover_call(k, l)) {
		queue_again(k, true);
	} else if (refused_context(k)) {
		rr_conn_call_release(l->conn, m, c->engine->now);
		k->attempts = 0;
		queue_again(k, true);
	} else {
		deliver_call(k, l);
	}
	if (c->closed)
		rr_calls_schedule_end(c);
	if (!rr_list_empty(&c->waiting) || !rr_list_empty(&c->auth.contexts))
		rr_calls_submit(c);
}

/* -- sending --------------------------------------------------------------- */

static bool link_is_dying(const struct rr_link *l)
{
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	return info.error;
}

/* Moves the next call of a security context from its wait queue to the waiting list. */
static void requeue_next(struct rpcrdma_conn *c, struct rr_auth_context *a)
{
	struct rr_list *n = a->ops->next_call(a);

	if (n)
		rr_list_push_front(&c->waiting, n);
}

/* Encodes the RPC header, and protects the arguments, as the security context
 * requires. */
static int wrap_call(struct rpcrdma_call *k)
{
	unsigned n;
	int r;

	if (!k->auth)
		return 0;
	r = k->auth->context->ops->wrap(k->auth, k->call.xid, k->header, k->pieces + 1,
	                                &n);
	if (r < 0)
		return r;
	k->pieces[0] = (struct rr_piece){k->header, (size_t)r, false};
	k->call.n_pieces = 1 + n;
	return 0;
}

/* Ends a call that cannot be sent.  Then queues the next call that waits for the same
 * security context, because no later event would queue it. */
static void end_untried(struct rpcrdma_call *k, int verdict)
{
	end_unsent(k, verdict);
	if (k->auth)
		requeue_next(k->conn, k->auth->context);
}

/* Sends a call from the waiting list.  Returns 0, 1 if the call was removed from the
 * list without being sent, or a negative errno if the link is ending. */
static int submit_call(struct rpcrdma_conn *c, struct rpcrdma_call *k)
{
	enum { ELSEWHERE = 1 };
	int err = wrap_call(k);

	if (err == -EAGAIN) {
		rr_list_del(&k->link);
		rr_list_push(&k->auth->context->queue, &k->link);
		return ELSEWHERE;
	}
	if (err) {
		end_untried(k, err);
		return ELSEWHERE;
	}
	err = rr_conn_call(c->link->conn, &k->call, c->engine->now);
	if (err)
		end_attempt(k);
	if (err == -EINVAL || (err == -ENOMEM && !link_is_dying(c->link))) {
		end_untried(k, err); /* no later event would send it */
		return ELSEWHERE;
	}
	return err;
}

/* If @k is a suspected call and the only one on the link, keeps other calls off the
 * link.  Suspected calls are the first on a new connection, see queue_again. */
static void begin_lone(struct rpcrdma_conn *c, struct rpcrdma_call *k)
{
	if (c->n_here != 1 || !rr_losses_suspect(&k->losses))
		return;
	c->lone = k;
	/* The timer is reserved, so this cannot fail. */
	(void)!rr_timer_set(&c->engine->timers, &c->lone_timer,
	                    rr_after(c->engine->now, RR_LOSSES_LONE_NS));
}

static void end_lone_time(struct rr_timer *t)
{
	struct rpcrdma_conn *c = rr_container_of(t, struct rpcrdma_conn, lone_timer);

	c->lone = NULL;
	rr_calls_submit(c);
}

void rr_calls_submit(struct rpcrdma_conn *c)
{
	struct rr_list *n;

	if (!c->link && !rr_list_empty(&c->waiting))
		c->ops->waits(c);
	if (!c->link || !rr_link_was_ready(c->link) || rr_link_is_lost(c->link))
		return;
	rr_list_for_each (n, &c->auth.contexts)
		requeue_next(c, rr_container_of(n, struct rr_auth_context, link));
	while (!c->lone && c->n_here < MAX_SENT && (n = rr_list_first(&c->waiting))) {
		struct rpcrdma_call *k = rr_container_of(n, struct rpcrdma_call, link);
		int err = submit_call(c, k);

		if (err > 0)
			continue;
		if (err)
			break; /* The link is ending; its closed event follows. */
		if (k->attempts++ > 0) {
			rr_calls_count(c, retransmits);
			rr_trace(&c->link->voice.sink, RR_TRACE_RPC_RETRANSMIT,
			         c->link->id, k->call.xid, k->attempts, 0, 0);
		}
		rr_list_del(&k->link);
		rr_list_push(&c->sent, &k->link);
		k->on = c->link;
		c->n_sent++;
		c->n_here++;
		begin_lone(c, k);
		if (k->auth)
			requeue_next(c, k->auth->context);
	}
	rr_link_touch(c->link);
}

void rpcrdma_call_cancel(struct rpcrdma_call *k)
{
	if (!k || k->is_done_running)
		return;
	if (!k->verdict)
		k->verdict = -ECANCELED;
	if (k->on) {
		rr_conn_cancel(k->on->conn, &k->call, k->conn->engine->now);
		rr_link_touch(k->on);
	} else {
		end_unsent(k, k->verdict);
	}
}

static int check_call(const struct rpcrdma_conn *c,
                      const struct rpcrdma_call_options *o)
{
	if (!c || !o->done || o->n_args > RPCRDMA_MAX_PIECES ||
	    o->n_dests > RR_WIRE_MAX_WRITES || (o->n_args && !o->args) ||
	    (o->n_dests && !o->dests))
		return -EINVAL;
	if (!rr_rpc_aligned(o->args, o->n_args))
		return -EINVAL;
	if (c->closed)
		return -ECANCELED;
	return 0;
}

/* Encodes the RPC header.  Returns its length in octets, or -EMSGSIZE.  Sets @ret_keep
 * if eligible items must be sent in the payload, not in chunks. */
static int fill_header(struct rpcrdma_call *k, const struct rpcrdma_call_options *o,
                       const struct rr_call_passthrough *pass, bool *ret_keep)
{
	struct rr_rpc_call h = {
	        .program = o->program,
	        .version = o->version,
	        .procedure = o->procedure,
	};

	if (pass) {
		if (pass->len < 4 || pass->len > sizeof(k->header))
			return -EMSGSIZE;
		memcpy(k->header, pass->header, pass->len);
		k->own_header = true;
		k->bound = pass->bound;
		*ret_keep = pass->no_reduce;
		return (int)pass->len;
	}
	h.xid = rr_engine_new_xid(k->conn->engine);
	if (k->auth) { /* wrap_call encodes the other fields */
		rr_store_u32(k->header, h.xid);
		*ret_keep = k->auth->context->ops->is_unreducible(k->auth);
		return 4;
	}
	if (o->cred)
		h.cred = *o->cred;
	*ret_keep = rr_rpc_unreducible(&h.cred);
	return rr_rpc_put_call(k->header, sizeof(k->header), &h);
}

/* Returns true if the call is to procedure NULL, which has no results in any
 * program. */
static bool calls_null(const struct rpcrdma_call_options *o,
                       const struct rr_call_passthrough *pass)
{
	enum { PROCEDURE_AT = 20 };

	if (o->n_args || o->n_dests)
		return false;
	if (!pass)
		return !o->procedure;
	return !pass->bound && pass->len >= PROCEDURE_AT + 4 &&
	       !rr_load_u32((const uint8_t *)pass->header + PROCEDURE_AT);
}

/* Returns the maximum length of the Reply, or 0 if it is unknown. */
static size_t reply_bound(const struct rpcrdma_call *k,
                          const struct rpcrdma_call_options *o, bool null)
{
	if (!o->reply_bytes && !null)
		return 0;
	return REPLY_HEADER_MAX + o->reply_bytes +
	       (k->auth ? k->auth->context->ops->reply_overhead(k->auth) : 0);
}

/* Fills in a zeroed call. */
static int fill_call(struct rpcrdma_call *k, const struct rpcrdma_call_options *o,
                     const struct rr_call_passthrough *pass)
{
	bool keep;
	int n = fill_header(k, o, pass, &keep);

	if (n < 0)
		return n;
	k->pieces[0] = (struct rr_piece){k->header, (size_t)n, false};
	for (unsigned i = 0; i < o->n_args; i++)
		k->pieces[1 + i] = (struct rr_piece){o->args[i].base, o->args[i].len,
		                                     o->args[i].item};
	for (unsigned i = 0; i < o->n_dests; i++) {
		o->dests[i].ret_len = 0;
		o->dests[i].ret_base = o->dests[i].base;
		o->dests[i].ret_used = false;
		o->dests[i].ret_offered = false;
		k->dests[i] = (struct rr_dest){.base = o->dests[i].base,
		                               .len = o->dests[i].len,
		                               .lend = o->lend_results >> i & 1};
		k->dests[i].direct = k->dests[i].lend ? RR_DIRECT_FIT : RR_DIRECT_NONE;
	}
	k->call.xid = rr_load_u32(k->header);
	k->call.flags = (o->force_special ? RR_CALL_SPECIAL : 0u) |
	                (o->idempotent ? RR_CALL_IDEMPOTENT : 0u) |
	                (keep ? RR_CALL_NO_REDUCE | RR_CALL_NO_WRITES : 0u) |
	                (keep ? RR_CALL_LARGE_REPLY : 0u) |
	                (pass && pass->whole ? RR_CALL_WHOLE : 0u) |
	                (pass && pass->room ? RR_CALL_ROOM : 0u);
	k->call.pieces = k->pieces;
	k->call.n_pieces = 1 + o->n_args;
	k->call.dests = k->dests;
	k->call.n_dests = o->n_dests;
	k->call.reply_bytes = reply_bound(k, o, calls_null(o, pass));
	k->call.reply_min = o->reply_usual;
	k->user_dests = o->dests;
	k->done = o->done;
	k->arg = o->arg;
	return 0;
}

int rpcrdma_call(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                 struct rpcrdma_call **ret)
{
	struct rpcrdma_call_options own;
	int err;

	if (!o)
		return -EINVAL;
	if (rr_sized_stated(o) != sizeof(own)) { /* compiled for another version */
		err = RR_SIZED_TAKE(&own, arg, o);
		if (err)
			return err;
		o = &own;
	}
	return rr_calls_make(c, o, NULL, ret);
}

int rr_calls_make(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                  const struct rr_call_passthrough *pass, struct rpcrdma_call **ret)
{
	struct rpcrdma_call *k;
	int err = check_call(c, o);

	if (err)
		return err;
	if (c->over)
		return c->error ? c->error : -ECONNRESET;
	k = rr_pool_get(&c->engine->pool, sizeof(*k));
	if (!k)
		return -ENOMEM;
	memset(k, 0, offsetof(struct rpcrdma_call, pieces));
	k->conn = c;
	k->timer.fire = end_timed_out;
	k->timeout_at = k->give_up_at = RR_TIME_NEVER;
	err = o->gss && !pass ? rr_calls_new_auth(c, o, &k->auth) : 0;
	if (!err)
		err = fill_call(k, o, pass);
	if (!err && o->timeout_ns) {
		k->timeout_at = rr_after(rr_engine_clock(), o->timeout_ns);
		err = set_call_timer(k);
	}
	if (!err)
		err = begin_absence(k);
	if (err) {
		rr_timer_stop(&c->engine->timers, &k->timer);
		free_auth(k);
		rr_pool_put(&c->engine->pool, k, sizeof(*k));
		return err;
	}
	rr_list_push(&c->waiting, &k->link);
	rr_calls_submit(c);
	if (ret)
		*ret = k;
	return 0;
}

/* -- life of the connection's object --------------------------------------- */

void rr_calls_link(struct rpcrdma_conn *c, struct rr_link *l)
{
	struct rr_list *n;

	c->link = l;
	c->voice.peer = l->voice.peer;
	(void)end_lone(c, c->lone);
	c->n_here = 0;
	rr_list_for_each (n, &c->sent)
		c->n_here += rr_container_of(n, struct rpcrdma_call, link)->on == l;
	for_each_unsent(c, end_absence);
}

void rr_calls_unlink(struct rpcrdma_conn *c, int error, const char *reason)
{
	c->link = NULL;
	c->n_here = 0;
	c->error = error;
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	for_each_unsent(c, note_absence);
	if (c->closed)
		rr_calls_schedule_end(c);
}

void rr_calls_schedule_end(struct rpcrdma_conn *c)
{
	if (!c->end_timer.place) /* reserved, so it cannot fail */
		(void)!rr_timer_set(&c->engine->timers, &c->end_timer, 0);
}

static void free_or_end(struct rr_timer *t)
{
	struct rpcrdma_conn *c = rr_container_of(t, struct rpcrdma_conn, end_timer);
	struct rr_list *n;

	while ((n = rr_list_pop(&c->ending)))
		deliver_call(rr_container_of(n, struct rpcrdma_call, link), NULL);
	if (c->closed && !c->link && !c->n_sent && rr_list_empty(&c->waiting))
		c->ops->free(c);
}

/* Closes the object because the engine is being freed.  Called first while the object
 * has a link, and again when the link is gone. */
static void abandon_calls(struct rr_owner *o)
{
	struct rpcrdma_conn *c = rr_container_of(o, struct rpcrdma_conn, owner);

	rpcrdma_conn_close(c);
	if (!c->link)
		free_or_end(&c->end_timer);
}

int rr_calls_init(struct rpcrdma_conn *c, struct rpcrdma_engine *e,
                  const struct rr_calls_ops *ops)
{
	int err;

	c->engine = e;
	c->ops = ops;
	c->owner.abandon = abandon_calls;
	rr_list_init(&c->waiting);
	rr_list_init(&c->sent);
	rr_list_init(&c->ending);
	rr_voice_init(&c->voice, e, NULL);
	rr_calls_init_auth(c);
	c->end_timer.fire = free_or_end;
	c->lone_timer.fire = end_lone_time;
	e->now = rr_engine_clock();
	rr_list_push(&e->owners, &c->owner.link);
	e->alive++;
	err = rr_timer_reserve(&e->timers, &c->end_timer);
	return err ? err : rr_timer_reserve(&e->timers, &c->lone_timer);
}

static void detach_contexts(struct rpcrdma_conn *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->auth.contexts))) {
		struct rr_auth_context *a =
		        rr_container_of(n, struct rr_auth_context, link);

		a->ops->detach(a);
	}
}

void rr_calls_fini(struct rpcrdma_conn *c)
{
	detach_contexts(c);
	rr_timer_release(&c->engine->timers, &c->end_timer);
	rr_timer_release(&c->engine->timers, &c->lone_timer);
	rr_list_del(&c->owner.link);
	rr_voice_fini(&c->voice);
	c->engine->alive--;
}

void rpcrdma_conn_close(struct rpcrdma_conn *c)
{
	struct rr_list *n;

	if (!c || c->closed)
		return;
	c->closed = true;
	rr_calls_end_waiting(c, -ECANCELED);
	rr_list_for_each (n, &c->sent)
		rpcrdma_call_cancel(rr_container_of(n, struct rpcrdma_call, link));
	c->ops->close(c);
	rr_calls_schedule_end(c);
}
