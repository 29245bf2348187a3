/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "rpcbind/addr.h"
#include "rpc/calls.h"
#include "link/devices.h"
#include "rpc/hostage.h"
#include "rpc/reserve.h"

enum {
	ACCEPTS_PER_EVENT = 64,
	ACCEPT_PAUSE_MS = 100,
	REOPEN_MS = 1000,
	POSTPONE_MAX = 4, /* iterations that first look for lost connections */
	GRACE_MS = 500,   /* for a handshake, see find_victim */
	STUCK_MS = 2000,  /* without progress of a reply */
};

/* -- sessions -------------------------------------------------------------- */

static void free_listener_if_done(struct rpcrdma_listener *l)
{
	if (!l->closing || l->n_sessions)
		return;
	rr_timer_stop(&l->engine->timers, &l->drain_timer);
	rr_timer_release(&l->engine->timers, &l->reopen_timer);
	rr_crowd_fini(&l->crowd);
	rr_list_del(&l->owner.link);
	l->engine->alive--;
	if (l->ended)
		l->ended(l->ended_arg);
	free(l);
}

static void report_session(struct rr_session *s, bool up, int error, const char *reason)
{
	struct rpcrdma_listener *l = s->listener;
	struct rpcrdma_conn_info i = {.error = error};

	if (!l->event)
		return;
	rr_link_info(s->link, &i);
	i.connected = up;
	i.peer = s->peer;
	snprintf(i.reason, sizeof(i.reason), "%s", reason);
	l->event(l, &i, l->event_arg);
}

static void session_ready(struct rr_link *l)
{
	struct rr_session *s = l->owner;

	s->dispatch.active = l->engine->now;
	rr_crowd_move(&s->listener->crowd, &s->guest, RR_GUEST_IDLE);
	report_session(s, true, 0, "");
}

/* Returns whether requests are executed, or calls in reverse are outstanding. */
static bool session_is_busy(const struct rr_session *s)
{
	struct rr_conn_info info;

	rr_conn_info(s->link->conn, &info);
	return s->dispatch.requests || info.calls;
}

/* Closes a session that a closing listener has been waiting for. */
static void close_if_settled(struct rr_session *s)
{
	if (s->listener->closing && !session_is_busy(s))
		rr_link_close(s->link, 0);
}

static void session_settled(struct rr_dispatch *dispatch)
{
	struct rr_session *s = rr_container_of(dispatch, struct rr_session, dispatch);

	if (!dispatch->requests)
		rr_crowd_move(&s->listener->crowd, &s->guest, RR_GUEST_IDLE);
	close_if_settled(s);
}

static void session_request(struct rr_link *l, struct rr_request *r)
{
	struct rr_session *s = l->owner;

	if (s->guest.kind != RR_GUEST_BUSY)
		rr_crowd_move(&s->listener->crowd, &s->guest, RR_GUEST_BUSY);
	rr_dispatch_begin(l, r);
}

/* The connection is in use without a request. */
static void session_touched(struct rr_dispatch *dispatch)
{
	struct rr_session *s = rr_container_of(dispatch, struct rr_session, dispatch);

	rr_crowd_move(&s->listener->crowd, &s->guest, s->guest.kind);
}

/* From now on all Receives are posted: the connection pays for the rest of them. */
static void session_heard(struct rr_link *l)
{
	struct rr_session *s = l->owner;
	uint64_t price = rr_reserve_price_heard(&s->listener->config);

	if (!price || rr_holder_pay(&s->dispatch.holder, price))
		return;
	l->cause = "there is no memory for another connection";
	l->stats.connections_refused = 1;
	rr_link_close(l, -ENOMEM);
}

static void session_admit(struct rr_link *l, struct rr_request *r)
{
	rr_dispatch_touch(l->dispatch);
	rr_dispatch_admit(l, r);
}

static void session_call_done(struct rr_link *l, struct rr_call *m)
{
	struct rr_session *s = l->owner;

	rr_dispatch_touch(&s->dispatch);
	rr_calls_done(l, m);
	close_if_settled(s);
}

/* A handler that still holds a request may be waiting for a call that came back. */
static void session_lost(struct rr_link *l)
{
	rr_reverse_lost(l->owner, rr_link_error(l), l->why);
}

static void session_closed(struct rr_link *link, int error, const char *reason)
{
	struct rr_session *s = link->owner;
	struct rpcrdma_listener *l = s->listener;

	rr_timer_stop(&l->engine->timers, &s->idle_timer);
	rr_list_del(&s->link_sessions);
	rr_crowd_remove(&l->crowd, &s->guest);
	rr_reverse_lost(s, error, reason);
	report_session(s, false, error, reason);
	l->n_sessions--;
	rr_dispatch_fini(&s->dispatch);
	free(s);
	free_listener_if_done(l);
}

static const struct rr_link_owner_ops session_ops = {
        .ready = session_ready,
        .admit = session_admit,
        .request = session_request,
        .request_done = rr_dispatch_end,
        .drop_requests = rr_dispatch_drop,
        .heard = session_heard,
        .used = rr_dispatch_used,
        .disconnected = rr_dispatch_lost,
        .room = &rr_reserve_room,
        .call_done = session_call_done,
        .lost = session_lost,
        .closed = session_closed,
};

/* Before its first Call, a connection has no more time than for the handshake. */
static rr_time idle_limit(const struct rr_session *s)
{
	const struct rpcrdma_conn_options *o = &s->listener->config.o;

	return s->dispatch.used || o->idle_ns == UINT64_MAX
	               ? o->idle_ns
	               : RR_MIN(o->idle_ns, o->handshake_ns);
}

static void check_idle(struct rr_timer *t)
{
	struct rr_session *s = rr_container_of(t, struct rr_session, idle_timer);
	struct rpcrdma_listener *l = s->listener;
	rr_time until = rr_after(s->dispatch.active, idle_limit(s));

	/* An object for calls in reverse keeps the session open [v2 §4.5.5], and so
	 * does an outstanding call, wherever its object is now. */
	if (!session_is_busy(s) && rr_list_empty(&s->reverses) &&
	    l->engine->now >= until) {
		rr_link_close(s->link, -ETIMEDOUT);
		return;
	}
	if (until <= l->engine->now)
		until = rr_after(l->engine->now, idle_limit(s));
	/* The timer has just fired, so there is room in the heap. */
	(void)!rr_timer_set(&l->engine->timers, &s->idle_timer, until);
}

/* -- making room ----------------------------------------------------------- */

static struct rr_session *session_of_guest(const struct rr_guest *g)
{
	return rr_container_of((uintptr_t)g, struct rr_session, guest);
}

/* Returns false if a call in reverse may be under execution. */
static bool session_may_go(const struct rr_guest *g)
{
	struct rr_conn_info info;

	rr_conn_info(session_of_guest(g)->link->conn, &info);
	return !info.calls;
}

/* Returns whether the peer does not receive the replies, while no handler has a
 * request. */
static bool session_is_stuck(const struct rr_guest *g)
{
	const struct rr_session *s = session_of_guest(g);

	return s->listener->engine->now - s->dispatch.active >= RR_MS(STUCK_MS) &&
	       session_may_go(g) && !rr_dispatch_is_executing(&s->dispatch);
}

/*
 * Returns the oldest session that never became ready; else the one that has been idle
 * longest; else one that is stuck.  A session that has just begun is spared if some
 * address has more idle sessions than any has new ones.  Otherwise clients that are
 * fast to become ready, and connect again and again, would displace all that need
 * longer.
 */
static struct rr_session *find_victim(const struct rpcrdma_listener *l,
                                      const struct sockaddr_storage *from)
{
	const struct rr_crowd *c = &l->crowd;
	struct rr_guest *fresh = rr_crowd_find(c, RR_GUEST_NEW, from, session_may_go);
	struct rr_guest *g = rr_crowd_find(c, RR_GUEST_IDLE, from, session_may_go);

	if (fresh &&
	    (!g || rr_crowd_most(c, RR_GUEST_NEW) >= rr_crowd_most(c, RR_GUEST_IDLE) ||
	     l->engine->now - session_of_guest(fresh)->dispatch.active >=
	             RR_MS(GRACE_MS)))
		g = fresh;
	if (!g)
		g = rr_crowd_find(c, RR_GUEST_BUSY, from, session_is_stuck);
	return g ? session_of_guest(g) : NULL;
}

static bool evict_session(struct rpcrdma_listener *l, struct rr_session *s)
{
	static const char *const reason[RR_GUEST_KINDS] = {
	        [RR_GUEST_NEW] = "it made room for another one: it was never ready",
	        [RR_GUEST_IDLE] = "it made room for another one: it was idle",
	        [RR_GUEST_BUSY] = "it made room for another one: it took no answers",
	};

	if (!s)
		return false;
	rr_trace(&s->link->voice.sink, RR_TRACE_CONN_EVICTED, s->link->id, 0,
	         s->guest.kind, rr_crowd_count(&l->crowd, &s->peer),
	         (l->engine->now - s->dispatch.active) / 1000000);
	s->link->stats.connections_evicted = 1;
	rr_link_evict(s->link, -EUSERS, reason[s->guest.kind]);
	return true;
}

/* Makes room for one more session from @peer; returns false if there is none. */
static bool make_session_room(struct rpcrdma_listener *l,
                              const struct sockaddr_storage *peer)
{
	uint32_t most = l->config.o.max_per_address;

	if (most && rr_crowd_count(&l->crowd, peer) >= most &&
	    !evict_session(l, find_victim(l, peer)))
		return false;
	return l->n_sessions < l->max_sessions ||
	       evict_session(l, find_victim(l, NULL));
}

/* -- accepting ------------------------------------------------------------- */

static void arm_entrances(struct rpcrdma_listener *l, uint32_t events)
{
	for (unsigned i = 0; i < l->n_at; i++)
		rr_poller_arm(&l->engine->poller, &l->at[i].source, events);
}

/* The waiting connection keeps the descriptor readable, but it cannot be accepted now:
 * without a pause the loop would spin. */
static void pause_accepting(struct rpcrdma_listener *l)
{
	if (rr_timer_set(&l->engine->timers, &l->pause_timer,
	                 l->engine->now + RR_MS(ACCEPT_PAUSE_MS)) == 0)
		arm_entrances(l, 0);
}

static void resume_accepting(struct rr_timer *t)
{
	struct rpcrdma_listener *l =
	        rr_container_of(t, struct rpcrdma_listener, pause_timer);

	arm_entrances(l, EPOLLIN);
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
	rr_list_del(&at->late.link);
	at->ops->listener_close(at->prov);
	at->prov = NULL;
}

static void reopen_later(struct rpcrdma_listener *l)
{
	/* Promised: cannot fail. */
	(void)!rr_timer_set(&l->engine->timers, &l->reopen_timer,
	                    l->engine->now + RR_MS(REOPEN_MS));
}

static struct rr_session *new_session(struct rpcrdma_listener *l)
{
	struct rr_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->listener = l;
	rr_dispatch_init(&s->dispatch, l->engine, &l->config, l->service);
	s->dispatch.settled = session_settled;
	s->dispatch.touched = session_touched;
	s->dispatch.active = l->engine->now;
	s->idle_timer.fire = check_idle;
	rr_list_init(&s->link_sessions);
	rr_list_init(&s->reverses);
	return s;
}

/* Adds a session whose link was accepted, or closes it. */
static void admit_session(struct rr_session *s)
{
	struct rpcrdma_listener *l = s->listener;
	bool room = make_session_room(l, &s->peer);

	rr_list_push(&l->sessions, &s->link_sessions);
	l->n_sessions++;
	if (!room) {
		s->link->stats.connections_refused = 1;
		rr_link_close(s->link, -ECONNREFUSED);
		return;
	}
	if (rr_crowd_add(&l->crowd, &s->guest, &s->peer) ||
	    (l->config.o.idle_ns != UINT64_MAX &&
	     rr_timer_set(&l->engine->timers, &s->idle_timer,
	                  rr_after(l->engine->now, idle_limit(s))) < 0))
		rr_link_close(s->link, -ENOMEM);
}

/* Accepts a connection.  Returns false if no more are to be accepted now. */
static bool accept_one(struct rr_entrance *at)
{
	struct rpcrdma_listener *l = at->listener;
	struct rr_session *s = new_session(l);
	int err;

	if (!s) {
		pause_accepting(l);
		return false;
	}
	err = rr_link_accept(l->engine, &l->config, at->ops, at->prov, &session_ops, s,
	                     &s->link);
	if (err) {
		rr_dispatch_fini(&s->dispatch);
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
	s->dispatch.link = s->link;
	s->link->dispatch = &s->dispatch;
	s->peer = s->link->voice.peer;
	admit_session(s);
	if (!rr_holder_pay(&s->dispatch.holder, rr_reserve_price(&l->config))) {
		s->link->stats.connections_refused = 1;
		rr_link_close(s->link, -ECONNREFUSED);
	}
	return true;
}

/* The links have had their turns by now, so sessions that ended were noticed. */
static void accept_late(struct rr_late *w)
{
	struct rr_entrance *at = rr_container_of(w, struct rr_entrance, late);
	const struct rpcrdma_listener *l = at->listener;
	unsigned left = ACCEPTS_PER_EVENT;

	if (l->n_sessions >= l->max_sessions && rr_poller_full(&l->engine->poller) &&
	    at->postponed++ < POSTPONE_MAX)
		return; /* the descriptor is ready again in the next iteration */
	at->postponed = 0;
	while (left-- && accept_one(at))
		;
}

static void listener_ready(struct rr_source *src)
{
	struct rr_entrance *at = rr_container_of(src, struct rr_entrance, source);

	rr_engine_later(at->listener->engine, &at->late);
}

/* -- listening ------------------------------------------------------------- */

static void close_entrances(struct rpcrdma_listener *l)
{
	while (l->n_at)
		close_entrance(&l->at[--l->n_at]);
}

static int open_entrance(struct rr_entrance *at, const struct sockaddr *sa,
                         socklen_t len, struct sockaddr_storage *ret_addr)
{
	struct rpcrdma_listener *l = at->listener;
	struct rr_prov_config pc = {
	        .trace = &l->engine->voice.sink,
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

	l->at[l->n_at] =
	        (struct rr_entrance){.ops = ops, .listener = l, .late.fn = accept_late};
	rr_list_init(&l->at[l->n_at].late.link);
	err = open_entrance(&l->at[l->n_at], sa, len, ret_addr);
	if (!err)
		l->n_at++;
	return err;
}

/* Listens again, by the same provider at the same port, where clients expect the
 * server. */
static void reopen_entrances(struct rr_timer *t)
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

/* The first provider must succeed; others try the port that the first one got. */
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

/* Without a named address, tries IPv6 first: that accepts IPv4 as well. */
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

static void close_sessions(struct rr_timer *t)
{
	struct rpcrdma_listener *l =
	        rr_container_of(t, struct rpcrdma_listener, drain_timer);
	struct rr_list *n;

	rr_list_for_each (n, &l->sessions)
		rr_link_close(
		        rr_container_of(n, struct rr_session, link_sessions)->link, 0);
}

/* The listener is freed when the links of its sessions have ended. */
static void abandon_listener(struct rr_owner *o)
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
	l->drain_timer.fire = close_sessions;
	l->pause_timer.fire = resume_accepting;
	rr_list_init(&l->sessions);
	l->reopen_timer.fire = reopen_entrances;
	err = rr_hostage_watch(e);
	if (!err)
		err = rr_link_config_from(o, "", &l->config);
	if (!err && service->pass) /* their Calls have no items: see service.h */
		l->config.special_bytes =
		        (uint32_t)RR_MIN(l->config.o.max_held_bytes, UINT32_MAX);
	if (!err && l->config.o.hostauth_policy)
		err = rr_hostauth_serves(l->config.o.hostauth);
	if (!err)
		err = rr_timer_reserve(&e->timers, &l->reopen_timer);
	if (!err)
		err = rr_crowd_init(&l->crowd, l->max_sessions);
	if (!err)
		err = open_listener(l, address);
	if (err) {
		rr_timer_release(&e->timers, &l->reopen_timer);
		rr_crowd_fini(&l->crowd);
		free(l);
		return err;
	}
	l->owner.abandon = abandon_listener;
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
	close_entrances(l);
	rr_list_for_each (n, &l->sessions) {
		struct rr_session *s =
		        rr_container_of(n, struct rr_session, link_sessions);

		if (!session_is_busy(s))
			rr_link_close(s->link, 0);
	}
	if (l->n_sessions && rr_timer_set(&l->engine->timers, &l->drain_timer,
	                                  rr_after(rr_engine_clock(), drain_ns)) < 0)
		close_sessions(&l->drain_timer);
	free_listener_if_done(l);
}
