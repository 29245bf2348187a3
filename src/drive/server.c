/* SPDX-License-Identifier: BSD-3-Clause */
#include "drive/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "drive/addr.h"
#include "drive/calls.h"
#include "drive/devices.h"

enum { ACCEPTS_PER_EVENT = 64, ACCEPT_PAUSE_MS = 100, REOPEN_MS = 1000 };

/* -- sessions -------------------------------------------------------------------- */

static void free_listener_if_done(struct rpcrdma_listener *l)
{
	if (!l->closing || l->n_sessions)
		return;
	rr_timer_stop(&l->engine->timers, &l->drain_timer);
	rr_timer_release(&l->engine->timers, &l->reopen_timer);
	rr_list_del(&l->owner.link);
	l->engine->alive--;
	if (l->ended)
		l->ended(l->ended_arg);
	free(l);
}

static void tell(struct rr_session *s, bool up, int error, const char *why)
{
	struct rpcrdma_listener *l = s->listener;
	struct rpcrdma_conn_info i = {.error = error};

	if (!l->event)
		return;
	rr_link_info(s->link, &i);
	i.connected = up;
	i.peer = s->peer;
	snprintf(i.why, sizeof(i.why), "%s", why);
	l->event(l, &i, l->event_arg);
}

static void session_ready(struct rr_link *l)
{
	struct rr_session *s = l->owner;

	s->served.active = l->engine->now;
	tell(s, true, 0, "");
}

/* Requests are being served, or calls in reverse are out. */
static bool busy(const struct rr_session *s)
{
	struct rr_conn_info info;

	rr_conn_info(s->link->conn, &info);
	return s->served.requests || info.calls;
}

/* The listener may be waiting for what has ended. */
static void settle(struct rr_session *s)
{
	if (s->listener->closing && !busy(s))
		rr_link_close(s->link, 0);
}

static void session_settled(struct rr_served *served)
{
	settle(rr_container_of(served, struct rr_session, served));
}

static void session_call_done(struct rr_link *l, struct rr_call *m)
{
	struct rr_session *s = l->owner;

	s->served.active = l->engine->now;
	rr_calls_done(l, m);
	settle(s);
}

/* A handler that still holds a request may be waiting for a call that came back. */
static void session_lost(struct rr_link *l)
{
	rr_reverse_lost(l->owner, l->error, l->why);
}

static void session_closed(struct rr_link *link, int error, const char *why)
{
	struct rr_session *s = link->owner;
	struct rpcrdma_listener *l = s->listener;

	rr_timer_stop(&l->engine->timers, &s->idle_timer);
	rr_list_del(&s->link_sessions);
	rr_reverse_lost(s, error, why);
	tell(s, false, error, why);
	l->n_sessions--;
	free(s);
	free_listener_if_done(l);
}

static const struct rr_link_owner_ops session_ops = {
        .ready = session_ready,
        .admit = rr_serve_admit,
        .request = rr_serve_begin,
        .request_done = rr_serve_end,
        .drop_requests = rr_serve_drop,
        .call_done = session_call_done,
        .lost = session_lost,
        .closed = session_closed,
};

static void idle_fire(struct rr_timer *t)
{
	struct rr_session *s = rr_container_of(t, struct rr_session, idle_timer);
	struct rpcrdma_listener *l = s->listener;
	rr_time until = rr_after(s->served.active, l->config.o.idle_ns);

	/* An object for calls in reverse keeps it open. [v2 §4.5.5] */
	if (!s->served.requests && rr_list_empty(&s->reverses) &&
	    l->engine->now >= until) {
		rr_link_close(s->link, -ETIMEDOUT);
		return;
	}
	if (until <= l->engine->now)
		until = rr_after(l->engine->now, l->config.o.idle_ns);
	/* The node was just taken out of the heap: there is room. */
	(void)!rr_timer_set(&l->engine->timers, &s->idle_timer, until);
}

/* -- accepting --------------------------------------------------------------------- */

static void look(struct rpcrdma_listener *l, uint32_t events)
{
	for (unsigned i = 0; i < l->n_at; i++)
		rr_poller_arm(&l->engine->poller, &l->at[i].source, events);
}

/* The waiting connection keeps the descriptor readable, and nothing can be
 * done about it now: look away for a while, or the loop would spin. */
static void pause_accepting(struct rpcrdma_listener *l)
{
	if (rr_timer_set(&l->engine->timers, &l->pause_timer,
	                 l->engine->now + RR_MS(ACCEPT_PAUSE_MS)) == 0)
		look(l, 0);
}

static void pause_over(struct rr_timer *t)
{
	struct rpcrdma_listener *l =
	        rr_container_of(t, struct rpcrdma_listener, pause_timer);

	look(l, EPOLLIN);
}

static bool out_of_resources(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOBUFS;
}

static void close_entrance(struct rr_entrance *at)
{
	if (!at->prov)
		return;
	rr_poller_del(&at->listener->engine->poller, &at->source);
	at->ops->listener_close(at->prov);
	at->prov = NULL;
}

static void reopen_later(struct rpcrdma_listener *l)
{
	/* It was promised. */
	(void)!rr_timer_set(&l->engine->timers, &l->reopen_timer,
	                    l->engine->now + RR_MS(REOPEN_MS));
}

/* Takes one connection; false when there is none waiting. */
static bool accept_one(struct rr_entrance *at)
{
	struct rpcrdma_listener *l = at->listener;
	struct rr_session *s = calloc(1, sizeof(*s));
	rr_time now = l->engine->now;
	int err;

	if (!s) {
		pause_accepting(l);
		return false;
	}
	s->listener = l;
	rr_served_init(&s->served, l->engine, &l->config, l->service);
	s->served.settled = session_settled;
	s->idle_timer.fire = idle_fire;
	rr_list_init(&s->link_sessions);
	rr_list_init(&s->reverses);
	err = rr_link_accept(l->engine, &l->config, at->ops, at->prov, &session_ops, s,
	                     &s->link);
	if (err) {
		free(s);
		if (err == -ESHUTDOWN) {
			close_entrance(at);
			reopen_later(l);
			return false;
		}
		if (!out_of_resources(err))
			return err != -EAGAIN;
		pause_accepting(l);
		return false;
	}
	s->served.link = s->link;
	s->link->served = &s->served;
	if (l->event)
		(void)at->ops->peer_addr(s->link->ep, &s->peer); /* zero if unknown */
	rr_list_push(&l->sessions, &s->link_sessions);
	l->n_sessions++;
	if (l->config.o.idle_ns != UINT64_MAX &&
	    rr_timer_set(&l->engine->timers, &s->idle_timer,
	                 rr_after(now, l->config.o.idle_ns)) < 0)
		rr_link_close(s->link, -ENOMEM);
	if (l->n_sessions > l->max_sessions) {
		s->link->stats.connections_refused = 1;
		rr_link_close(s->link, -ECONNREFUSED);
	}
	return true;
}

static void listener_ready(struct rr_source *src)
{
	struct rr_entrance *at = rr_container_of(src, struct rr_entrance, source);
	unsigned n = ACCEPTS_PER_EVENT;

	while (n-- && accept_one(at))
		;
}

/* -- listening -----------------------------------------------------------------------
 */

static void close_all(struct rpcrdma_listener *l)
{
	while (l->n_at)
		close_entrance(&l->at[--l->n_at]);
}

static int open_entrance(struct rr_entrance *at, const struct sockaddr *sa,
                         socklen_t len, struct sockaddr_storage *ret_addr)
{
	struct rpcrdma_listener *l = at->listener;
	struct rr_prov_config pc = {
	        .trace = &l->engine->sink,
	        .options = l->config.prov_options[0] ? l->config.prov_options : NULL,
	        .handshake_ns = l->config.o.handshake_ns,
	};
	int err;

	rr_devices_used(l->engine, at->ops);
	err = at->ops->listen(&pc, sa, len, &at->prov, ret_addr);
	if (err)
		return err;
	at->source = (struct rr_source){.ready = listener_ready,
	                                .fd = at->ops->listener_fd(at->prov)};
	err = rr_poller_add(&l->engine->poller, &at->source, EPOLLIN);
	if (err) {
		at->ops->listener_close(at->prov);
		at->prov = NULL;
	}
	return err;
}

static int add_entrance(struct rpcrdma_listener *l, const struct rr_prov_ops *ops,
                        const struct sockaddr *sa, socklen_t len,
                        struct sockaddr_storage *ret_addr)
{
	int err;

	l->at[l->n_at] = (struct rr_entrance){.ops = ops, .listener = l};
	err = open_entrance(&l->at[l->n_at], sa, len, ret_addr);
	if (!err)
		l->n_at++;
	return err;
}

/* By the same provider, at the same port: clients look for it there. */
static void reopen(struct rr_timer *t)
{
	struct rpcrdma_listener *l =
	        rr_container_of(t, struct rpcrdma_listener, reopen_timer);
	struct sockaddr_storage same;
	socklen_t len = l->addr.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                              : sizeof(struct sockaddr_in);
	bool all = true;

	for (unsigned i = 0; i < l->n_at; i++)
		if (!l->at[i].prov &&
		    open_entrance(&l->at[i], (struct sockaddr *)&l->addr, len, &same))
			all = false;
	if (!all)
		reopen_later(l);
}

/* The first provider must; another, at the port that the first one got, may. */
static int listen_on(struct rpcrdma_listener *l, const struct addrinfo *a)
{
	const struct rr_prov_ops *ops[RR_CHOICES] = {l->config.prov};
	struct sockaddr_storage second;
	unsigned n = 1;
	int err;

	if (!ops[0])
		n = rr_choose_listen(a->ai_addr, a->ai_addrlen, ops);
	err = add_entrance(l, ops[0], a->ai_addr, a->ai_addrlen, &l->addr);
	for (unsigned i = 1; !err && i < n; i++)
		(void)!add_entrance(l, ops[i], (struct sockaddr *)&l->addr,
		                    a->ai_addrlen, &second);
	return err;
}

/* IPv6 first if no address was named: it takes IPv4 as well. */
static int listen_any(struct rpcrdma_listener *l, const struct addrinfo *list,
                      bool named)
{
	int err = -ENXIO;

	for (int pass = named ? 1 : 0; pass < 2; pass++) {
		for (const struct addrinfo *a = list; a; a = a->ai_next) {
			if (pass == 0 && a->ai_family != AF_INET6)
				continue;
			err = listen_on(l, a);
			if (!err || err == -EADDRINUSE)
				return err;
		}
	}
	return err;
}

static int open_listener(struct rpcrdma_listener *l, const char *address)
{
	char host[RR_HOST_MAX] = "", service[RR_SERVICE_MAX] = "";
	struct addrinfo *list;
	int err = address ? rr_addr_split(address, host, service) : 0;

	if (err)
		return err;
	err = rr_addr_resolve(host, *service ? service : "20049", true, &list);
	if (err)
		return err;
	err = listen_any(l, list, *host);
	freeaddrinfo(list);
	return err;
}

static void drain_fire(struct rr_timer *t)
{
	struct rpcrdma_listener *l =
	        rr_container_of(t, struct rpcrdma_listener, drain_timer);
	struct rr_list *n;

	rr_list_for_each (n, &l->sessions)
		rr_link_close(
		        rr_container_of(n, struct rr_session, link_sessions)->link, 0);
}

/* Its sessions' links, when they end, end it. */
static void abandon(struct rr_owner *o)
{
	rpcrdma_listener_close(rr_container_of(o, struct rpcrdma_listener, owner), 0);
}

int rpcrdma_listen(struct rpcrdma_engine *e, const char *address,
                   const struct rpcrdma_conn_options *o,
                   struct rpcrdma_service *service, unsigned max_connections,
                   struct rpcrdma_listener **ret)
{
	struct rpcrdma_listener *l;
	int err;

	if (!e || !service || !ret)
		return -EINVAL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->engine = e;
	l->service = service;
	l->max_sessions = max_connections ? max_connections : 10000;
	l->drain_timer.fire = drain_fire;
	l->pause_timer.fire = pause_over;
	rr_list_init(&l->sessions);
	l->reopen_timer.fire = reopen;
	err = rr_link_config_from(o, &l->config);
	if (!err && l->config.o.hostauth_policy)
		err = rr_hostauth_serves(l->config.o.hostauth);
	if (!err)
		err = rr_timer_promise(&e->timers, &l->reopen_timer);
	if (!err)
		err = open_listener(l, address);
	if (err) {
		rr_timer_release(&e->timers, &l->reopen_timer);
		free(l);
		return err;
	}
	l->owner.abandon = abandon;
	rr_list_push(&e->owners, &l->owner.link);
	e->alive++;
	*ret = l;
	return 0;
}

int rpcrdma_listener_addr(const struct rpcrdma_listener *l,
                          struct sockaddr_storage *ret)
{
	*ret = l->addr;
	return 0;
}

const char *rpcrdma_listener_provider(const struct rpcrdma_listener *l)
{
	return l->n_at == 0 ? "" : l->n_at > 1 ? "iwarp+verbs" : l->at[0].ops->name;
}

void rpcrdma_listener_set_event(struct rpcrdma_listener *l,
                                rpcrdma_client_event_fn *event, void *arg)
{
	l->event = event;
	l->event_arg = arg;
}

void rpcrdma_listener_close(struct rpcrdma_listener *l, uint64_t drain_ns)
{
	struct rr_list *n;

	if (!l || l->closing)
		return;
	l->closing = true;
	rr_timer_stop(&l->engine->timers, &l->pause_timer);
	rr_timer_stop(&l->engine->timers, &l->reopen_timer);
	close_all(l);
	rr_list_for_each (n, &l->sessions) {
		struct rr_session *s =
		        rr_container_of(n, struct rr_session, link_sessions);

		if (!busy(s))
			rr_link_close(s->link, 0);
	}
	if (l->n_sessions && rr_timer_set(&l->engine->timers, &l->drain_timer,
	                                  rr_after(rr_engine_clock(), drain_ns)) < 0)
		drain_fire(&l->drain_timer);
	free_listener_if_done(l);
}
