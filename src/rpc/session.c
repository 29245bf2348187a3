/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "rpc/calls.h"
#include "rpc/listener.h"
#include "rpc/reserve.h"

enum {
	GRACE_MS = 500,  /* time for a handshake, see find_victim */
	STUCK_MS = 2000, /* time without progress in sending a reply */
};

/* -- events ---------------------------------------------------------------- */

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

bool rr_session_is_busy(const struct rr_session *s)
{
	struct rr_conn_info info;

	rr_conn_info(s->link->conn, &info);
	return s->dispatch.requests || info.calls ||
	       info.exposed_since != RR_TIME_NEVER;
}

/* Closes the session if the listener is closing and the session is no longer busy. */
static void close_if_settled(struct rr_session *s)
{
	if (s->listener->closing && !rr_session_is_busy(s))
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

/* Called when the connection was used.  Makes the session the last one of its kind to
 * be closed for lack of room. */
static void session_touched(struct rr_dispatch *dispatch)
{
	struct rr_session *s = rr_container_of(dispatch, struct rr_session, dispatch);

	rr_crowd_move(&s->listener->crowd, &s->guest, s->guest.kind);
}

/* Reserves the memory for the connection's other Receives, because all Receives are
 * posted from now on. */
static void session_heard(struct rr_link *l)
{
	struct rr_session *s = l->owner;
	uint64_t price = rr_reserve_price_heard(l, &s->listener->config);

	if (!price || rr_holder_pay(&s->dispatch.holder, price))
		return;
	l->cause = "no memory for another connection";
	l->stats.connections_refused = 1;
	rr_link_close(l, -ENOMEM);
}

static void session_call_done(struct rr_link *l, struct rr_call *m)
{
	struct rr_session *s = l->owner;

	rr_dispatch_touch(&s->dispatch);
	rr_calls_done(l, m);
	close_if_settled(s);
}

/* Returns outstanding reverse-direction calls to the connection objects that made them.
 * A handler that has not replied may be waiting for such a call. */
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
	rr_listener_free_if_done(l);
}

static const struct rr_link_owner_ops session_ops = {
        .ready = session_ready,
        .admit = rr_dispatch_admit,
        .request = session_request,
        .request_done = rr_dispatch_end,
        .drop_requests = rr_dispatch_drop,
        .heard = session_heard,
        .used = rr_dispatch_used,
        .disconnected = rr_dispatch_lost,
        .room = &rr_reserve_room,
        .exposures = &rr_reserve_exposures,
        .call_done = session_call_done,
        .lost = session_lost,
        .closed = session_closed,
};

/* Returns how long the session may be idle.  Before the first Call, this is at most the
 * time allowed for the handshake. */
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

	/* The session is kept open for an object for calls in the reverse direction
	 * [v2 §4.5.5].  It is also kept open for an outstanding call whose object now
	 * uses another session. */
	if (!rr_session_is_busy(s) && rr_list_empty(&s->reverses) &&
	    l->engine->now >= until) {
		rr_link_close(s->link, -ETIMEDOUT);
		return;
	}
	if (until <= l->engine->now)
		until = rr_after(l->engine->now, idle_limit(s));
	/* Cannot fail, because the timer has just fired and its place in the heap is
	 * free. */
	(void)!rr_timer_set(&l->engine->timers, &s->idle_timer, until);
}

/* -- making room ----------------------------------------------------------- */

static struct rr_session *session_of_guest(const struct rr_guest *g)
{
	return rr_container_of((uintptr_t)g, struct rr_session, guest);
}

/* Returns false if the client may be executing a call in the reverse direction. */
static bool session_may_go(const struct rr_guest *g)
{
	struct rr_conn_info info;

	rr_conn_info(session_of_guest(g)->link->conn, &info);
	return !info.calls;
}

/* Returns true if the session is busy only because the peer does not receive its
 * replies: no handler is executing a request. */
static bool session_is_stuck(const struct rr_guest *g)
{
	const struct rr_session *s = session_of_guest(g);

	return s->listener->engine->now - s->dispatch.active >= RR_MS(STUCK_MS) &&
	       session_may_go(g) && !rr_dispatch_is_executing(&s->dispatch);
}

/*
 * Finds a session to close.  Prefers the oldest session that never became ready, then
 * the session that has been idle longest, then a session that is stuck.  But if some
 * address has more idle sessions than any address has new ones, an idle session is
 * preferred to a session that has just begun.  Without this exception, clients that
 * become ready quickly, and connect again and again, would displace all clients that
 * need longer.  If @from is not NULL, considers only sessions from this address.
 */
static struct rr_session *find_victim(struct rpcrdma_listener *l,
                                      const struct sockaddr_storage *from)
{
	struct rr_crowd *c = &l->crowd;
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
	        [RR_GUEST_NEW] = "closed to make room: it never became ready",
	        [RR_GUEST_IDLE] = "closed to make room: it was idle",
	        [RR_GUEST_BUSY] = "closed to make room: the client received no replies",
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

/* Makes room for a new session from @peer, closing other sessions if the limits require
 * it.  Returns false if that is not possible. */
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

/* Adds a session whose link was accepted, or closes the session if there are too
 * many. */
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

int rr_session_accept(struct rpcrdma_listener *l, const struct rr_prov_ops *ops,
                      struct rr_prov_listener *prov)
{
	struct rr_session *s = new_session(l);
	struct rr_link_config config = l->config;
	int err;

	if (!s)
		return -ENOMEM;
	/* If memory is scarce, the connection has Receives without segments. */
	if (!rr_reserve_affords_segments(&config))
		config.features.config.rtr_segments = 0;
	err = rr_link_accept(l->engine, &config, ops, prov, &session_ops, s, &s->link);
	if (err) {
		rr_dispatch_fini(&s->dispatch);
		free(s);
		return err;
	}
	s->dispatch.link = s->link;
	s->link->dispatch = &s->dispatch;
	s->peer = s->link->voice.peer;
	admit_session(s);
	if (!rr_holder_pay(&s->dispatch.holder, rr_reserve_price(s->link))) {
		s->link->stats.connections_refused = 1;
		rr_link_close(s->link, -ECONNREFUSED);
	}
	return 0;
}
