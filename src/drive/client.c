/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's connection: a link while there is one, the calls all the time.
 *
 * Normal path: rpcrdma_call puts a call on the waiting list, submit() hands it
 * to the link's connection as soon as that is ready, call_done() decodes the
 * Reply and tells the user.
 *
 * Failure: when a link is lost its calls come back one by one and wait again;
 * after a back-off with jitter another link is made and they are sent anew
 * under their old XIDs [v2 §4.5.5].  When nothing was heard from the server
 * for retry_ns, all that wait end with -EHOSTUNREACH.
 *
 * Invariants: a call is on exactly one of waiting and sent until its done
 * callback; done is called from the engine's loop only; the connection is
 * freed after close when link, calls and timers are gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/addr.h"
#include "drive/link.h"
#include "drive/rpcmsg.h"

enum {
	MAX_SENT = 192, /* calls given to the peer at once; the rest wait here */
	CALL_HEADER_MAX = 24 + 8 + RR_RPC_AUTH_MAX + 8,
	REPLY_HEADER_MAX = 24 + RR_RPC_AUTH_MAX,
};

struct rpcrdma_call {
	struct rr_list link; /* waiting or sent of its connection */
	struct rr_timer timer;
	struct rpcrdma_conn *conn;
	struct rr_call call;
	struct rpcrdma_dest *user_dests;
	rpcrdma_done_fn *done;
	void *arg;
	bool sent;   /* on conn->sent; the link's connection knows it */
	bool told;   /* done runs: what it does to the call comes too late */
	int verdict; /* set when we ended it: -ETIMEDOUT, -ECANCELED */
	unsigned attempts;
	/* Not cleared at the beginning: their counts say what is valid. */
	struct rr_piece pieces[1 + RPCRDMA_MAX_PIECES];
	struct rr_dest dests[RR_WIRE_MAX_WRITES];
	uint8_t header[CALL_HEADER_MAX];
};

struct rpcrdma_conn {
	struct rr_owner owner;
	struct rpcrdma_engine *engine;
	struct rr_link_config config;
	struct addrinfo *addrs, *next_addr;
	struct rr_link *link; /* NULL while waiting to reconnect */
	struct rr_list waiting, sent;
	struct rr_list ending; /* calls that end without a link: see end_timer */
	unsigned n_sent;
	uint32_t next_xid;
	struct rr_timer retry_timer; /* reconnect after back-off */
	struct rr_timer end_timer;   /* delivers ending, frees a closed connection */
	rpcrdma_conn_event_fn *event;
	void *arg;
	unsigned failures;         /* in a row, for the back-off */
	rr_time unheard_since;     /* RR_TIME_NEVER while the server answers */
	rr_time ready_at;          /* when the link became ready */
	struct rpcrdma_stats past; /* links that are gone */
	bool closed;               /* by the user */
	bool over;                 /* final: no further attempt */
	int error;
	char why[160];
};

/* Of the connection and of the engine: no link counts these. */
#define count_event(c, what) ((c)->past.what++, (c)->engine->ended.what++)

static void schedule_end(struct rpcrdma_conn *c);
static void submit(struct rpcrdma_conn *c);

/* -- the end of a call --------------------------------------------------------- */

static void fill_reply(struct rpcrdma_call *k, struct rpcrdma_reply *r)
{
	struct rr_call *m = &k->call;
	struct rr_rpc_reply h;
	int n;

	if (m->status == RR_CALL_REMOTE_ERROR) {
		r->status = RPCRDMA_TRANSPORT_ERROR;
		r->transport_error = m->error.code;
		r->a = m->error.arg[0];
		r->b = m->error.arg[1];
		return;
	}
	r->status = m->status;
	if (m->status)
		return;
	n = rr_rpc_get_reply(m->reply, m->reply_len, &h);
	if (n < 0) {
		r->status = -EBADMSG;
		return;
	}
	r->status = h.status;
	r->auth_stat = h.auth_stat;
	r->low = h.low;
	r->high = h.high;
	r->results = (const uint8_t *)m->reply + n;
	r->len = m->reply_len - (size_t)n;
	for (unsigned i = 0; i < m->n_dests; i++) {
		k->user_dests[i].ret_len = m->dests[i].ret_len;
		k->user_dests[i].ret_used = m->dests[i].ret_used;
	}
}

/* @k is on no list.  Tells the user and frees. */
static void finish(struct rpcrdma_call *k, bool from_link)
{
	struct rpcrdma_conn *c = k->conn;
	struct rpcrdma_reply r = {
	        .xid = k->call.xid, .dests = k->user_dests, .n_dests = k->call.n_dests};

	rr_timer_stop(&c->engine->timers, &k->timer);
	k->told = true;
	if (k->verdict)
		r.status = k->verdict;
	else
		fill_reply(k, &r);
	if (r.status)
		count_event(c, call_errors);
	k->done(k, &r, k->arg);
	if (from_link)
		rr_conn_call_release(c->link->conn, &k->call, c->engine->now);
	rr_pool_put(&c->engine->pool, k, sizeof(*k));
}

/* Ends a call that no link knows, from the loop. */
static void end_unsent(struct rpcrdma_call *k, int verdict)
{
	if (!k->verdict)
		k->verdict = verdict;
	rr_list_del(&k->link);
	rr_list_push(&k->conn->ending, &k->link);
	schedule_end(k->conn);
}

static void end_all_waiting(struct rpcrdma_conn *c, int verdict)
{
	struct rr_list *n;

	while ((n = rr_list_first(&c->waiting)))
		end_unsent(rr_container_of(n, struct rpcrdma_call, link), verdict);
}

/* Did the loss of the connection end it, so that it may be sent again? */
static bool lost_with_link(const struct rpcrdma_call *k, const struct rr_link *l)
{
	struct rr_conn_info info;

	if (k->call.status >= 0 || k->verdict)
		return false;
	rr_conn_info(l->conn, &info);
	return (l->lost || info.error) && k->call.status != -EBADMSG &&
	       k->call.status != -EMSGSIZE && k->call.status != -EPROTO;
}

static void call_done(struct rr_link *l, struct rr_call *m)
{
	struct rpcrdma_call *k = rr_container_of(m, struct rpcrdma_call, call);
	struct rpcrdma_conn *c = l->owner;

	rr_list_del(&k->link);
	c->n_sent--;
	k->sent = false;
	if (m->status >= 0) {
		c->unheard_since = RR_TIME_NEVER;
		c->failures = 0;
	}
	if (lost_with_link(k, l) && !c->config.o.no_reconnect && !c->closed &&
	    !c->over) {
		rr_conn_call_release(l->conn, m, c->engine->now);
		rr_list_push(&c->waiting, &k->link);
		return;
	}
	finish(k, true);
	submit(c);
}

/* -- sending ------------------------------------------------------------------------
 */

static bool dying(const struct rr_link *l)
{
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	return info.error;
}

static void submit(struct rpcrdma_conn *c)
{
	struct rr_list *n;

	if (!c->link || !c->link->ready || c->link->lost)
		return;
	while (c->n_sent < MAX_SENT && (n = rr_list_first(&c->waiting))) {
		struct rpcrdma_call *k = rr_container_of(n, struct rpcrdma_call, link);
		int err;

		err = rr_conn_call(c->link->conn, &k->call, c->engine->now);
		if (err == -EINVAL || (err == -ENOMEM && !dying(c->link))) {
			end_unsent(k, err); /* nothing would try it again */
			continue;
		}
		if (err)
			break; /* The link is dying; its closed event comes. */
		if (k->attempts++ > 0) {
			count_event(c, retransmits);
			rr_trace(&c->engine->sink, RR_TRACE_RPC_RETRANSMIT, c->link->id,
			         k->call.xid, k->attempts, 0, 0);
		}
		rr_list_del(&k->link);
		rr_list_push(&c->sent, &k->link);
		k->sent = true;
		c->n_sent++;
	}
	rr_link_touch(c->link);
}

static void call_timeout(struct rr_timer *t)
{
	struct rpcrdma_call *k = rr_container_of(t, struct rpcrdma_call, timer);

	if (!k->verdict)
		k->verdict = -ETIMEDOUT;
	rpcrdma_call_cancel(k);
}

void rpcrdma_call_cancel(struct rpcrdma_call *k)
{
	if (!k || k->told)
		return;
	if (!k->verdict)
		k->verdict = -ECANCELED;
	if (k->sent) {
		rr_conn_cancel(k->conn->link->conn, &k->call, k->conn->engine->now);
		rr_link_touch(k->conn->link);
	} else {
		end_unsent(k, k->verdict);
	}
}

/* Unique among the outstanding calls of this connection; never 0. [O11] */
static uint32_t new_xid(struct rpcrdma_conn *c)
{
	if (!++c->next_xid)
		++c->next_xid;
	return c->next_xid;
}

static int check_call(const struct rpcrdma_conn *c,
                      const struct rpcrdma_call_options *o)
{
	if (!c || !o || o->size != sizeof(*o) || !o->done ||
	    o->n_args > RPCRDMA_MAX_PIECES || o->n_dests > RR_WIRE_MAX_WRITES ||
	    (o->n_args && !o->args) || (o->n_dests && !o->dests))
		return -EINVAL;
	if (c->closed)
		return -ECANCELED;
	return 0;
}

static int fill_call(struct rpcrdma_call *k, const struct rpcrdma_call_options *o)
{
	struct rr_rpc_call h = {
	        .xid = new_xid(k->conn),
	        .program = o->program,
	        .version = o->version,
	        .procedure = o->procedure,
	};
	int n;

	if (o->cred)
		h.cred = *o->cred;
	n = rr_rpc_put_call(k->header, sizeof(k->header), &h);
	if (n < 0)
		return n;
	k->pieces[0] = (struct rr_piece){k->header, (size_t)n, false};
	for (unsigned i = 0; i < o->n_args; i++)
		k->pieces[1 + i] = (struct rr_piece){o->args[i].base, o->args[i].len,
		                                     o->args[i].item};
	for (unsigned i = 0; i < o->n_dests; i++) {
		o->dests[i].ret_len = 0;
		o->dests[i].ret_used = false;
		k->dests[i] = (struct rr_dest){.base = o->dests[i].base,
		                               .len = o->dests[i].len};
	}
	k->call = (struct rr_call){
	        .xid = h.xid,
	        .flags = o->special ? RR_CALL_SPECIAL : 0,
	        .pieces = k->pieces,
	        .n_pieces = 1 + o->n_args,
	        .dests = k->dests,
	        .n_dests = o->n_dests,
	        .reply_bytes = o->reply_bytes ? REPLY_HEADER_MAX + o->reply_bytes : 0,
	};
	k->user_dests = o->dests;
	k->done = o->done;
	k->arg = o->arg;
	return 0;
}

int rpcrdma_call(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                 struct rpcrdma_call **ret)
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
	k->timer.fire = call_timeout;
	err = fill_call(k, o);
	if (!err && o->timeout_ns)
		err = rr_timer_set(&c->engine->timers, &k->timer,
		                   rr_after(rr_engine_clock(), o->timeout_ns));
	if (err) {
		rr_pool_put(&c->engine->pool, k, sizeof(*k));
		return err;
	}
	rr_list_push(&c->waiting, &k->link);
	submit(c);
	if (ret)
		*ret = k;
	return 0;
}

/* -- links come and go
 * ------------------------------------------------------------------ */

static void tell(struct rpcrdma_conn *c, int error, bool final)
{
	if (c->event && !c->closed)
		c->event(c, error, final, c->arg);
}

static void give_up(struct rpcrdma_conn *c, int error)
{
	c->over = true;
	c->error = error;
	end_all_waiting(c, error);
	tell(c, error, true);
}

static rr_time back_off(struct rpcrdma_conn *c)
{
	rr_time d = c->config.o.reconnect_min_ns;

	for (unsigned i = 1; i < c->failures && d < c->config.o.reconnect_max_ns; i++)
		d *= 2;
	d = RR_MIN(d, c->config.o.reconnect_max_ns);
	/* +-25 %: many clients of one server must not come back as one. */
	return d - d / 4 + rr_rng_below(&c->engine->rng, d / 2 + 1);
}

static void plan_reconnect(struct rpcrdma_conn *c, int error)
{
	rr_time now = c->engine->now, delay;

	if (c->unheard_since == RR_TIME_NEVER)
		c->unheard_since = now;
	if (c->config.o.no_reconnect || error == -EPROTONOSUPPORT) {
		give_up(c, error);
		return;
	}
	if (c->config.o.retry_ns != UINT64_MAX &&
	    now - c->unheard_since >= c->config.o.retry_ns) {
		end_all_waiting(c, -EHOSTUNREACH);
		c->unheard_since = now; /* later calls get their own chance */
	}
	c->failures++;
	delay = back_off(c);
	count_event(c, reconnects);
	rr_trace(&c->engine->sink, RR_TRACE_RPC_RECONNECT, 0, 0, c->failures,
	         delay / 1000000, (uint64_t)(int64_t)error);
	if (rr_timer_set(&c->engine->timers, &c->retry_timer, now + delay) < 0) {
		give_up(c, -ENOMEM);
		return;
	}
	tell(c, error, false);
}

static void link_ready(struct rr_link *l)
{
	struct rpcrdma_conn *c = l->owner;

	c->error = 0;
	c->why[0] = '\0';
	c->ready_at = c->engine->now;
	submit(c);
	tell(c, 0, false);
}

static void link_closed(struct rr_link *l, int error, const char *why)
{
	struct rpcrdma_conn *c = l->owner;
	struct rpcrdma_stats s;

	rr_link_stats(l, &s);
	s.connections_open = 0;
	rr_stats_add(&c->past, &s);
	/* A link that lasted shows that the server is there, calls or not; one
	 * that is dropped as soon as it is ready shows nothing. */
	if (l->ready && c->engine->now - c->ready_at >= c->config.o.reconnect_max_ns) {
		c->unheard_since = RR_TIME_NEVER;
		c->failures = 0;
	}
	c->link = NULL;
	if (!error)
		error = -ECONNRESET; /* an orderly close that we did not ask for */
	c->error = error;
	snprintf(c->why, sizeof(c->why), "%s", why);
	if (c->closed)
		schedule_end(c);
	else
		plan_reconnect(c, error);
}

static void no_admit(struct rr_link *l, struct rr_request *r)
{
	struct rr_error e = {.code = RDMA2_ERR_SYSTEM};

	rr_conn_refuse(l->conn, r, &e, l->engine->now); /* no service here */
}

static void no_request(struct rr_link *l, struct rr_request *r)
{
	rr_conn_drop(l->conn, r, l->engine->now);
}

static void no_request_done(struct rr_link *l, struct rr_request *r, int status)
{
}

static void no_requests_held(struct rr_link *l)
{
}

static const struct rr_link_owner_ops client_ops = {
        .ready = link_ready,
        .admit = no_admit,
        .request = no_request,
        .request_done = no_request_done,
        .drop_requests = no_requests_held,
        .call_done = call_done,
        .closed = link_closed,
};

/* Tries the next address of the server. */
static int try_connect(struct rpcrdma_conn *c)
{
	struct addrinfo *a = c->next_addr ? c->next_addr : c->addrs;

	c->next_addr = a->ai_next;
	return rr_link_connect(c->engine, &c->config, a->ai_addr, a->ai_addrlen,
	                       &client_ops, c, &c->link);
}

static void retry_fire(struct rr_timer *t)
{
	struct rpcrdma_conn *c = rr_container_of(t, struct rpcrdma_conn, retry_timer);
	int err = try_connect(c);

	if (err)
		plan_reconnect(c, err);
}

/* -- life of the connection
 * ------------------------------------------------------------------ */

static void schedule_end(struct rpcrdma_conn *c)
{
	/* The timer was started once at creation, so that the heap has room. */
	if (!c->end_timer.place)
		(void)!rr_timer_set(&c->engine->timers, &c->end_timer, 0);
}

static void free_conn(struct rpcrdma_conn *c)
{
	rr_timer_stop(&c->engine->timers, &c->retry_timer);
	rr_timer_stop(&c->engine->timers, &c->end_timer);
	if (c->addrs)
		freeaddrinfo(c->addrs);
	rr_list_del(&c->owner.link);
	c->engine->alive--;
	free(c);
}

static void end_fire(struct rr_timer *t)
{
	struct rpcrdma_conn *c = rr_container_of(t, struct rpcrdma_conn, end_timer);
	struct rr_list *n;

	while ((n = rr_list_pop(&c->ending)))
		finish(rr_container_of(n, struct rpcrdma_call, link), false);
	if (c->closed && !c->link && !c->n_sent && rr_list_empty(&c->waiting))
		free_conn(c);
}

/* The engine goes: at first the link may still be there, then it is not. */
static void abandon(struct rr_owner *o)
{
	struct rpcrdma_conn *c = rr_container_of(o, struct rpcrdma_conn, owner);

	rpcrdma_conn_close(c);
	if (!c->link)
		end_fire(&c->end_timer);
}

int rpcrdma_connect(struct rpcrdma_engine *e, const char *host, const char *service,
                    const struct rpcrdma_conn_options *o, rpcrdma_conn_event_fn *event,
                    void *arg, struct rpcrdma_conn **ret)
{
	struct rpcrdma_conn *c;
	int err;

	if (!e || !host || !ret)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->engine = e;
	c->owner.abandon = abandon;
	rr_list_push(&e->owners, &c->owner.link);
	e->alive++;
	rr_list_init(&c->waiting);
	rr_list_init(&c->sent);
	rr_list_init(&c->ending);
	c->retry_timer.fire = retry_fire;
	c->end_timer.fire = end_fire;
	c->event = event;
	c->arg = arg;
	c->unheard_since = e->now = rr_engine_clock();
	c->next_xid = (uint32_t)rr_rng_next(&e->rng);
	err = rr_link_config_from(o, &c->config);
	if (!err)
		err = rr_addr_resolve(host, service ? service : "20049", false,
		                      &c->addrs);
	if (!err) /* the first attempt runs from the loop like all others */
		err = rr_timer_set(&e->timers, &c->retry_timer, 0);
	if (err) {
		free_conn(c);
		return err;
	}
	*ret = c;
	return 0;
}

void rpcrdma_conn_close(struct rpcrdma_conn *c)
{
	struct rr_list *n;

	if (!c || c->closed)
		return;
	c->closed = true;
	rr_timer_stop(&c->engine->timers, &c->retry_timer);
	end_all_waiting(c, -ECANCELED);
	rr_list_for_each (n, &c->sent) {
		struct rpcrdma_call *k = rr_container_of(n, struct rpcrdma_call, link);

		if (!k->verdict)
			k->verdict = -ECANCELED;
		rr_conn_cancel(c->link->conn, &k->call, c->engine->now);
	}
	if (c->link)
		rr_link_close(c->link, 0);
	schedule_end(c);
}

void rpcrdma_conn_stats(const struct rpcrdma_conn *c, struct rpcrdma_stats *ret)
{
	struct rpcrdma_stats s = c->past, one;

	if (c->link) {
		rr_link_stats(c->link, &one);
		rr_stats_add(&s, &one);
	}
	*ret = s;
}

void rpcrdma_conn_get_info(const struct rpcrdma_conn *c, struct rpcrdma_conn_info *ret)
{
	struct rpcrdma_conn_info i = {.provider = c->config.prov->name};

	if (c->link)
		rr_link_info(c->link, &i);
	i.error = c->error;
	snprintf(i.why, sizeof(i.why), "%s", c->why);
	*ret = i;
}
