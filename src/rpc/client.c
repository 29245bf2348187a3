/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client's connection.  Makes a link, and makes a new link when the old one is lost.
 *
 * Normal path: rpcrdma_connect resolves the name, and an attempt to connect runs in the
 * loop.  When the link is ready, the waiting calls are sent (calls.c).  If the user
 * names a program instead of a port, rpcbind is asked for the port before each link
 * (lookup.h), because a restarted server may use another port.
 *
 * If a server closes the connection in an orderly way, and no call is outstanding or
 * expected in the reverse direction, the client connects again with the next call.
 *
 * Failure: another link is made after a back-off with jitter.  If nothing has been
 * received from the server for retry_ns, all waiting calls end with -EHOSTUNREACH.
 *
 * Attempts that only find out the server's version (version_cache.h) are part of
 * connecting: their failures are not reported, and no_reconnect does not forbid them.
 * The number of consecutive attempts of this kind is limited.  If a name has several
 * addresses, each attempt tries all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpcbind/addr.h"
#include "rpc/calls.h"
#include "rpcbind/lookup.h"
#include "rpc/dispatch.h"
#include "rpc/hostage.h"
#include "rpc/reserve.h"
#include "rpc/version_cache.h"

enum { MAX_NEGOTIATION_FAILURES = 4, MAX_ORPHANS = 8, SAME_ADDRESS = 2, NFS = 100003 };

struct client {
	struct rpcrdma_conn conn;
	struct rr_link_config config;
	/* @addrs: all addresses of the server; @addr: address of the current link;
	 * @next_addr: address to try next */
	struct addrinfo *addrs, *addr, *next_addr;
	struct rr_timer retry_timer; /* starts the next attempt */
	/* host whose rpcbind to ask for the port; or NULL */
	char *find_host;
	/* look-up of the port in progress; or NULL */
	struct rr_lookup *lookup;
	struct rr_version_cache *versions; /* shared by the engine's clients */
	rpcrdma_conn_event_fn *event;
	void *arg;
	unsigned failures; /* consecutive failures, for the back-off */
	/* when the server stopped answering; RR_TIME_NEVER = the server answers */
	rr_time silent_since;
	rr_time ready_at; /* when the link became ready */
	unsigned asked;   /* versions offered by this link, enum rr_conn_versions */
	unsigned negotiation_failures; /* consecutive failures of a negotiation */
	bool had_two;                  /* the server has used version 2 */
	bool resting;                  /* connects again with the next call */
	/* struct callee.orphan: lost links with requests that handlers have not
	 * answered */
	struct rr_list orphans;
};

/* The requests of one link, if the client has callbacks.  Each link has its own callee,
 * because handlers may still have requests from an earlier link. */
struct callee {
	struct rr_dispatch dispatch;
	struct rr_list orphan; /* node in client.orphans */
};

static struct client *client_of(struct rpcrdma_conn *c)
{
	return rr_container_of(c, struct client, conn);
}

/* -- events and attempts --------------------------------------------------- */

static void report_event(struct client *t, int error, bool final)
{
	if (t->event && !t->conn.closed)
		t->event(&t->conn, error, final, t->arg);
}

static void give_up_client(struct client *t, int error)
{
	t->conn.over = true;
	t->conn.error = error;
	rr_trace(&t->conn.voice.sink, RR_TRACE_RPC_GIVEN_UP, 0, 0,
	         (uint64_t)(int64_t)error, 0, 0);
	rr_calls_end_waiting(&t->conn, error);
	report_event(t, error, true);
}

/* Records that the server answers. */
static void note_reply(struct rpcrdma_conn *c)
{
	client_of(c)->silent_since = RR_TIME_NEVER;
	client_of(c)->failures = 0;
}

static rr_time back_off_time(struct client *t)
{
	rr_time d = t->config.o.reconnect_min_ns;

	for (unsigned i = 1; i < t->failures && d < t->config.o.reconnect_max_ns; i++)
		d *= 2;
	d = RR_MIN(d, t->config.o.reconnect_max_ns);
	/* The random part is +-25 %, so that a server's clients do not all reconnect at
	 * the same time. */
	return d - d / 4 + rr_rng_below(&t->conn.engine->rng, d / 2 + 1);
}

/* Plans the next attempt.  @negotiating is true if the failed link was part of a
 * version negotiation, whose links are reported to the user as a single attempt. */
static void plan_reconnect(struct client *t, int error, bool negotiating)
{
	struct rpcrdma_conn *c = &t->conn;
	rr_time now = c->engine->now, delay;

	t->negotiation_failures = negotiating ? t->negotiation_failures + 1 : 0;
	negotiating =
	        negotiating && t->negotiation_failures <= MAX_NEGOTIATION_FAILURES;
	if (t->silent_since == RR_TIME_NEVER)
		t->silent_since = now;
	if ((t->config.o.no_reconnect && !negotiating) || error == -EPROTONOSUPPORT ||
	    /* host authentication would fail again */
	    error == -EACCES) {
		give_up_client(t, error);
		return;
	}
	if (t->config.o.retry_ns != UINT64_MAX &&
	    now - t->silent_since >= t->config.o.retry_ns) {
		rr_calls_end_waiting(c, -EHOSTUNREACH);
		t->silent_since = now; /* later calls get the full retry_ns */
	}
	t->failures++;
	delay = back_off_time(t);
	rr_calls_count(c, reconnects);
	rr_trace(&c->voice.sink, RR_TRACE_RPC_RECONNECT, 0, 0, t->failures,
	         delay / 1000000, (uint64_t)(int64_t)error);
	if (rr_timer_set(&c->engine->timers, &t->retry_timer, now + delay) < 0) {
		give_up_client(t, -ENOMEM);
		return;
	}
	if (!negotiating)
		report_event(t, error, false);
}

/* Returns true if the client must reconnect at once, either to send its calls or to
 * receive calls or extension messages. */
static bool connection_is_needed(const struct client *t)
{
	const struct rpcrdma_conn *c = &t->conn;

	return !rr_list_empty(&c->waiting) || c->n_sent || t->config.o.callbacks ||
	       t->config.o.n_extensions || t->config.o.no_reconnect;
}

/* Leaves the connection closed until the next call, because the server closed it in an
 * orderly way. */
static void rest_client(struct client *t, int error)
{
	note_reply(&t->conn);
	t->negotiation_failures = 0;
	t->resting = true;
	report_event(t, error, false);
}

static void link_ready(struct rr_link *l)
{
	struct client *t = client_of(l->owner);
	struct rpcrdma_engine *e = t->conn.engine;
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	rr_version_cache_ready(t->versions, t->addr->ai_addr, t->asked, info.version,
	                       e->now, t->config.o.version_cache_ns);
	t->had_two = t->had_two || info.version == RPCRDMA_VERSION_TWO;
	t->conn.error = 0;
	t->conn.reason[0] = '\0';
	t->ready_at = t->conn.engine->now;
	rr_calls_submit(&t->conn);
	report_event(t, 0, false);
}

static enum rr_version_next learn_version(struct client *t, const struct rr_link *l,
                                          int error)
{
	struct rpcrdma_engine *e = t->conn.engine;
	struct rr_version_end end = {
	        .wanted = t->config.versions,
	        .asked = t->asked,
	        .open = rr_link_was_open(l),
	        .ready = rr_link_was_ready(l),
	        .had_two = t->had_two,
	        .error = error,
	};
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	end.answered = info.answered;
	end.version = info.version;
	return rr_version_cache_learn(t->versions, t->addr->ai_addr, &end, e->now,
	                              t->config.o.version_cache_ns);
}

/* If no further attempt makes sense, returns the reason, as text for the user.
 * Otherwise returns NULL. */
static const char *hopeless_reason(const struct client *t, enum rr_version_next next)
{
	switch (next) {
	case RR_VERSION_REFUSED:
		return t->config.versions == RR_CONN_V2
		               ? "the server refuses RPC-over-RDMA version 2"
		       : t->config.versions == RR_CONN_V1
		               ? "the server refuses RPC-over-RDMA version 1"
		               : "the server refuses RPC-over-RDMA versions 2 and 1";
	case RR_VERSION_SILENT:
		return "the server does not answer in RPC-over-RDMA version 2";
	case RR_VERSION_USUAL:
	case RR_VERSION_AGAIN:
		break;
	}
	return NULL;
}

/* Returns true if the link was ready and the server has sent a message on it.  (In
 * version 1, which has no initial exchange, a link can be ready without any message
 * from the server.)  Returns false if links to this address are lost repeatedly. */
static bool link_was_useful(const struct client *t, const struct rr_link *l)
{
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	return rr_link_was_ready(l) && info.answered && t->failures < SAME_ADDRESS;
}

/* Tries the next address.  Returns false if all addresses have been tried.  The attempt
 * has then failed, and only the last address's error is reported. */
static bool try_another(struct client *t)
{
	return t->next_addr &&
	       !rr_timer_set(&t->conn.engine->timers, &t->retry_timer, 0);
}

static void attempt_failed(struct client *t, int error)
{
	if (!try_another(t))
		plan_reconnect(t, error, false);
}

/* Accounts for a link that has ended, and plans the next attempt. */
static void plan_next_link(struct client *t, struct rr_link *l, int error,
                           const char *reason)
{
	rr_time now = t->conn.engine->now;
	enum rr_version_next next = RR_VERSION_USUAL;
	bool in_order = rr_link_was_ready(l) && !error;
	struct rpcrdma_stats s;

	rr_link_stats(l, &s);
	s.connections_open = 0;
	rr_stats_add(&t->conn.past, &s);
	/* If the link existed for some time, the server was reachable, even if there
	 * were no calls.  A link that ends as soon as it is ready does not prove that
	 * the server is reachable. */
	if (rr_link_was_ready(l) && now - t->ready_at >= t->config.o.reconnect_max_ns)
		note_reply(&t->conn);
	if (!error)
		error = -ECONNRESET; /* an orderly close by the server */
	if (!t->conn.closed)
		next = learn_version(t, l, error);
	if (hopeless_reason(t, next)) {
		error = -EPROTONOSUPPORT;
		reason = hopeless_reason(t, next);
	}
	/* Retry the same address, because version entries are per address.  Another
	 * route could also change our source address, by which the reply cache
	 * identifies us. [v2 §4.5.5] */
	if (next == RR_VERSION_AGAIN || link_was_useful(t, l))
		t->next_addr = t->addr;
	rr_calls_unlink(&t->conn, error, reason);
	if (t->conn.closed)
		return;
	if (next == RR_VERSION_USUAL && !rr_link_was_open(l) && try_another(t))
		return;
	if (in_order && next == RR_VERSION_USUAL && !connection_is_needed(t))
		rest_client(t, error);
	else
		plan_reconnect(t, error, next == RR_VERSION_AGAIN);
}

static void free_callee(struct rr_dispatch *s)
{
	struct callee *c;

	if (!s)
		return;
	c = rr_container_of(s, struct callee, dispatch);
	rr_list_del(&c->orphan);
	rr_dispatch_fini(&c->dispatch);
	free(c);
}

static void leave_callee(struct rr_link *l)
{
	struct rr_dispatch *s = l->dispatch;

	l->dispatch = NULL;
	free_callee(s);
}

static void link_closed(struct rr_link *l, int error, const char *reason)
{
	leave_callee(l);
	plan_next_link(client_of(l->owner), l, error, reason);
}

static void orphan_closed(struct rr_link *l, int error, const char *reason)
{
	leave_callee(l);
}

/* Operations of a lost link that no longer belongs to the client, because handlers
 * still have its requests. */
static const struct rr_link_owner_ops orphan_ops = {
        .request_done = rr_dispatch_end,
        .drop_requests = rr_dispatch_drop,
        .used = rr_dispatch_used,
        .disconnected = rr_dispatch_lost,
        .closed = orphan_closed,
};

static unsigned count_orphans(const struct client *t)
{
	const struct rr_list *n;
	unsigned count = 0;

	rr_list_for_each (n, &t->orphans)
		count++;
	return count;
}

/* Plans the next link without waiting for handlers that have requests from the lost
 * link, because a handler may itself need the next link.  If there are already
 * MAX_ORPHANS such links, waits for the handlers. */
static void link_lost(struct rr_link *l)
{
	struct client *t = client_of(l->owner);

	if (!l->dispatch || (!t->conn.closed && count_orphans(t) >= MAX_ORPHANS))
		return; /* the closed operation follows */
	rr_list_push(&t->orphans,
	             &rr_container_of(l->dispatch, struct callee, dispatch)->orphan);
	l->ops = &orphan_ops;
	l->owner = NULL;
	plan_next_link(t, l, rr_link_error(l), l->why);
}

static const struct rr_link_owner_ops client_ops = {
        .ready = link_ready,
        .admit = rr_dispatch_admit,
        .request = rr_dispatch_begin,
        .request_done = rr_dispatch_end,
        .drop_requests = rr_dispatch_drop,
        .used = rr_dispatch_used,
        .disconnected = rr_dispatch_lost,
        .room = &rr_reserve_room,
        .exposures = &rr_reserve_exposures,
        .call_done = rr_calls_done,
        .lost = link_lost,
        .closed = link_closed,
};

/* Makes the object for requests from the server.  Makes no object for a client without
 * callbacks, whose connections refuse requests because the client has announced that it
 * does not support the reverse direction. [R3] */
static int new_callee(struct client *t, struct rr_dispatch **ret)
{
	struct callee *c;

	if (!t->config.o.callbacks)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	rr_list_init(&c->orphan);
	rr_dispatch_init(&c->dispatch, t->conn.engine, &t->config,
	                 t->config.o.callbacks);
	c->dispatch.token = t->arg;
	*ret = &c->dispatch;
	return 0;
}

/* Connects to the next address of the server. */
static int try_connect(struct client *t)
{
	struct addrinfo *a = t->next_addr ? t->next_addr : t->addrs;
	struct rpcrdma_engine *e = t->conn.engine;
	struct rr_link_config config = t->config;
	struct rr_dispatch *s = NULL;
	int err;

	t->addr = a;
	rr_voice_set_peer(&t->conn.voice, a->ai_addr, a->ai_addrlen);
	t->next_addr = a->ai_next;
	t->asked = rr_version_cache_ask(t->versions, a->ai_addr, t->config.versions,
	                                rr_engine_clock());
	config.versions = t->asked;
	err = new_callee(t, &s);
	if (!err)
		err = rr_link_connect(e, &config, a->ai_addr, a->ai_addrlen,
		                      &client_ops, &t->conn, &t->conn.link);
	if (err) {
		free_callee(s);
		return err;
	}
	t->conn.prov = t->conn.link->prov;
	t->conn.link->dispatch = s;
	if (s)
		s->link = t->conn.link;
	return 0;
}

/* -- where the server is --------------------------------------------------- */

static void set_port(struct addrinfo *list, uint16_t port)
{
	for (struct addrinfo *a = list; a; a = a->ai_next) {
		if (a->ai_family == AF_INET)
			((struct sockaddr_in *)(void *)a->ai_addr)->sin_port =
			        htons(port);
		else if (a->ai_family == AF_INET6)
			((struct sockaddr_in6 *)(void *)a->ai_addr)->sin6_port =
			        htons(port);
	}
}

static void port_not_found(struct client *t, int error)
{
	struct rpcrdma_conn *c = &t->conn;

	c->error = error;
	if (error == -ENOENT)
		snprintf(c->reason, sizeof(c->reason),
		         "the program is not registered with the server's rpcbind");
	else
		snprintf(c->reason, sizeof(c->reason), "the server's rpcbind: %s",
		         rpcrdma_strstatus(error));
	plan_reconnect(t, error, false);
}

static void port_found(void *arg, int error, uint16_t port)
{
	struct client *t = arg;

	t->lookup = NULL;
	if (error && t->config.o.program == NFS) {
		port = RPCRDMA_NFS_PORT;
		error = 0;
	}
	if (error) {
		port_not_found(t, error);
		return;
	}
	set_port(t->addrs, port);
	error = try_connect(t);
	if (error)
		attempt_failed(t, error);
}

static int look_up_port(struct client *t)
{
	const struct rr_lookup_options what = {
	        .host = t->find_host,
	        .program = t->config.o.program,
	        .version = t->config.o.program_version,
	        .timeout_ns = t->config.o.handshake_ns,
	        .done = port_found,
	        .arg = t,
	};

	return rr_lookup_start(t->conn.engine, &what, &t->lookup);
}

static void run_attempt(struct rr_timer *timer)
{
	struct client *t = rr_container_of(timer, struct client, retry_timer);
	int err;

	/* The port does not change during a negotiation. */
	if (t->find_host && !t->negotiation_failures) {
		err = look_up_port(t);
		if (err)
			plan_reconnect(t, err, false);
		return;
	}
	err = try_connect(t);
	if (err)
		attempt_failed(t, err);
}

/* -- operations of the connection's object --------------------------------- */

/* Starts an attempt to connect if the connection was left closed until the next call.
 * Otherwise, an attempt is already planned. */
static void end_rest(struct rpcrdma_conn *c)
{
	struct client *t = client_of(c);

	if (!t->resting)
		return;
	t->resting = false;
	rr_calls_count(c, reconnects);
	if (rr_timer_set(&c->engine->timers, &t->retry_timer, 0) < 0)
		give_up_client(t, -ENOMEM);
}

static void close_client(struct rpcrdma_conn *c)
{
	rr_timer_stop(&c->engine->timers, &client_of(c)->retry_timer);
	rr_lookup_cancel(client_of(c)->lookup);
	client_of(c)->lookup = NULL;
	if (c->link)
		rr_link_close(c->link, 0);
}

static void free_client(struct rpcrdma_conn *c)
{
	struct client *t = client_of(c);

	rr_timer_stop(&c->engine->timers, &t->retry_timer);
	rr_lookup_cancel(t->lookup);
	free(t->find_host);
	while (rr_list_pop(&t->orphans))
		; /* each callee is freed when its link ends */
	if (t->addrs)
		freeaddrinfo(t->addrs);
	rr_calls_fini(c);
	free(t);
}

static const struct rr_calls_ops client_calls_ops = {
        .replied = note_reply,
        .waits = end_rest,
        .close = close_client,
        .free = free_client,
};

/* -- versions of servers --------------------------------------------------- */

struct engine_versions {
	struct rr_part part;
	struct rr_version_cache versions;
};

static void free_versions(struct rr_part *p)
{
	free(rr_container_of(p, struct engine_versions, part));
}

/* Finds the version cache, which all clients of an engine share. */
static int find_versions(struct rpcrdma_engine *e, struct rr_version_cache **ret)
{
	struct rr_part *p = rr_engine_find_part(e, free_versions);
	struct engine_versions *v;

	if (!p) {
		v = calloc(1, sizeof(*v));
		if (!v)
			return -ENOMEM;
		p = &v->part;
		p->free = free_versions;
		rr_engine_add_part(e, p);
	}
	*ret = &rr_container_of(p, struct engine_versions, part)->versions;
	return 0;
}

int rpcrdma_connect(struct rpcrdma_engine *e, const char *host, const char *service,
                    const struct rpcrdma_conn_options *o, rpcrdma_conn_event_fn *event,
                    void *arg, struct rpcrdma_conn **ret)
{
	struct client *t;
	int err;

	if (!e || !host || !ret)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	rr_list_init(&t->orphans);
	t->retry_timer.fire = run_attempt;
	t->event = event;
	t->arg = arg;
	err = rr_calls_init(&t->conn, e, &client_calls_ops);
	t->silent_since = e->now;
	if (!err)
		err = find_versions(e, &t->versions);
	if (!err)
		err = rr_link_config_from(o, host, &t->config);
	if (!err && t->config.o.callbacks)
		err = rr_hostage_watch(e);
	if (!err)
		err = rr_addr_resolve(host, service ? service : "20049", false,
		                      &t->addrs);
	if (!err && !service && t->config.o.program) {
		t->find_host = strdup(host);
		err = t->find_host ? 0 : -ENOMEM;
	}
	if (!err) /* the first attempt runs in the loop, like all others */
		err = rr_timer_set(&e->timers, &t->retry_timer, 0);
	if (err) {
		free_client(&t->conn);
		return err;
	}
	t->conn.prov = t->config.prov;
	t->conn.no_resend = t->config.o.no_reconnect;
	*ret = &t->conn;
	return 0;
}
