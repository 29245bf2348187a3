/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/listener.h"

#include <stdlib.h>
#include <sys/epoll.h>

#include "rpcbind/addr.h"
#include "link/devices.h"
#include "rpc/hostage.h"

enum {
	ACCEPTS_PER_EVENT = 64,
	ACCEPT_PAUSE_MS = 100,
	REOPEN_MS = 1000,
	/* maximum number of loop iterations by which accepting is postponed, so that
	 * sessions that have ended are found first */
	POSTPONE_MAX = 4,
};

void rr_listener_hall_over(struct rpcrdma_listener *l)
{
	if (++l->halls_over < l->n_halls)
		return;
	rr_timer_release(&l->engine->timers, &l->reopen_timer);
	rr_crowd_fini(&l->crowd);
	rr_list_del(&l->owner.link);
	l->engine->alive--;
	if (l->ended)
		l->ended(l->ended_arg);
	free(l);
}

/* -- accepting ------------------------------------------------------------- */

static void arm_entrances(struct rpcrdma_listener *l, uint32_t events)
{
	for (unsigned i = 0; i < l->n_at; i++)
		rr_poller_arm(&l->engine->poller, &l->at[i].source, events);
}

/* Stops accepting for a while.  A connection that cannot be accepted now keeps the
 * descriptor readable, so without the pause the loop would spin. */
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
	/* The timer is reserved, so this cannot fail. */
	(void)!rr_timer_set(&l->engine->timers, &l->reopen_timer,
	                    l->engine->now + RR_MS(REOPEN_MS));
}

/* Accepts a connection.  Returns false if no further connection can be accepted now. */
static bool accept_one(struct rr_entrance *at)
{
	struct rpcrdma_listener *l = at->listener;
	int err = rr_seat_accept(l, at->ops, at->prov);

	if (!err)
		return true;
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

/* Accepts connections after the links' events, so that sessions that have ended are no
 * longer counted. */
static void accept_late(struct rr_late *w)
{
	struct rr_entrance *at = rr_container_of(w, struct rr_entrance, late);
	const struct rpcrdma_listener *l = at->listener;
	unsigned left = ACCEPTS_PER_EVENT;

	if (l->n_counted >= l->max_sessions && rr_poller_full(&l->engine->poller) &&
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

/* Listens again, with the same provider at the same port, where clients expect the
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

/* Listens with each chosen provider.  The first one must succeed.  The others try the
 * port that the first one uses, and may fail. */
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

/* Listens at one of the addresses.  If the user named no address, tries IPv6 first,
 * because an IPv6 listener also accepts IPv4. */
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

/* Closes the listener, which is freed when its sessions' links have ended. */
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
	rr_hall_init(&l->halls[l->n_halls++], l, e);
	l->service = service;
	l->max_sessions = max_connections ? max_connections : 10000;
	l->pause_timer.fire = resume_accepting;
	l->reopen_timer.fire = reopen_entrances;
	err = rr_hostage_watch(e);
	if (!err)
		err = rr_link_config_from(o, "", &l->config);
	if (!err && service->pass) /* all data may be in the message, see service.h */
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
	unsigned n;

	if (!l || l->closing)
		return;
	l->closing = true;
	l->drain_ns = drain_ns;
	rr_timer_stop(&l->engine->timers, &l->pause_timer);
	rr_timer_stop(&l->engine->timers, &l->reopen_timer);
	close_entrances(l);
	/* The own engine is last, since its end may free the listener. */
	for (n = l->n_halls; n--;)
		if (!atomic_load(&l->halls[n].gone))
			rr_hall_run(l->engine, l->halls[n].engine, &l->halls[n].close);
}

int rpcrdma_listener_add_engine(struct rpcrdma_listener *l, struct rpcrdma_engine *e)
{
	struct rr_hall *h;
	int err;

	if (!l || !e || l->closing)
		return -EINVAL;
	for (unsigned i = 0; i < l->n_halls; i++)
		if (l->halls[i].engine == e)
			return -EEXIST;
	if (l->n_halls == RR_MAX_HALLS)
		return -ENOSPC;
	err = rr_hostage_watch(e);
	if (!err && l->n_halls == 1 && l->service->cache.n_shards == 1)
		err = rr_reply_cache_share(&l->service->cache);
	if (err)
		return err;
	/* Connections of different engines have different numbers in traces. */
	if (!e->next_conn_id)
		e->next_conn_id = l->n_halls << 24;
	h = &l->halls[l->n_halls++];
	rr_hall_init(h, l, e);
	rr_list_push(&e->owners, &h->owner.link);
	return 0;
}
