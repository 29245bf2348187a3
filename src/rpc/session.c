/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "rpc/calls.h"
#include "rpc/listener.h"
#include "rpc/reserve.h"

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

/* Reports the session's kind to the listener, and makes the session the last one of this
 * kind to be closed for lack of room. */
static void move_session(struct rr_session *s, enum rr_guest_kind kind)
{
	rr_crowd_move(&s->listener->crowd, &s->seat->guest, kind,
	              s->dispatch.engine->now);
}

static enum rr_guest_kind session_kind(const struct rr_session *s)
{
	return rr_crowd_kind(&s->seat->guest);
}

/* Has the relay accept the session.  Closes the session if it is refused. */
static void offer_session(struct rr_session *s)
{
	const struct rpcrdma_relay_options *relay = &s->dispatch.service->relay;
	struct rpcrdma_conn *c;
	int err;

	if (!relay->accept)
		return;
	err = rr_reverse_new(s, 0, true, &c);
	if (err) {
		rr_link_close(s->link, err);
		return;
	}
	s->is_relayed = true;
	if (relay->accept(c, relay->arg, &s->dispatch.token))
		rpcrdma_conn_close(c);
}

/* Ends the relay's object, and informs the relay unless the object is closed. */
static void end_relayed(struct rr_session *s, int error, const char *reason)
{
	const struct rpcrdma_relay_options *relay = &s->dispatch.service->relay;

	rr_reverse_lost(s, error, reason);
	if (s->is_relayed)
		relay->lost(s->dispatch.token, error ? error : -ECONNRESET, reason,
		            relay->arg);
	s->is_relayed = false;
}

static void session_ready(struct rr_link *l)
{
	struct rr_session *s = l->owner;

	s->dispatch.active = l->engine->now;
	move_session(s, RR_GUEST_IDLE);
	report_session(s, true, 0, "");
	offer_session(s);
}

bool rr_session_is_busy(const struct rr_session *s)
{
	struct rr_conn_info info;

	rr_conn_info(s->link->conn, &info);
	return s->dispatch.requests || info.calls ||
	       info.exposed_since != RR_TIME_NEVER;
}

/* Closes the session if its hall is closing and the session is no longer busy. */
static void close_if_settled(struct rr_session *s)
{
	if (s->seat->hall->closing && !rr_session_is_busy(s))
		rr_link_close(s->link, 0);
}

static void session_settled(struct rr_dispatch *dispatch)
{
	struct rr_session *s = rr_container_of(dispatch, struct rr_session, dispatch);

	if (!dispatch->requests)
		move_session(s, RR_GUEST_IDLE);
	close_if_settled(s);
}

static void session_request(struct rr_link *l, struct rr_request *r)
{
	struct rr_session *s = l->owner;

	if (session_kind(s) != RR_GUEST_BUSY)
		move_session(s, RR_GUEST_BUSY);
	rr_dispatch_begin(l, r);
}

/* Called when the connection was used. */
static void session_touched(struct rr_dispatch *dispatch)
{
	struct rr_session *s = rr_container_of(dispatch, struct rr_session, dispatch);

	move_session(s, session_kind(s));
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
	end_relayed(l->owner, rr_link_error(l), l->why);
}

static void session_closed(struct rr_link *link, int error, const char *reason)
{
	struct rr_session *s = link->owner;
	struct rr_seat *seat = s->seat;
	struct rr_hall *hall = seat->hall;

	rr_timer_stop(&link->engine->timers, &s->idle_timer);
	rr_list_del(&s->link_sessions);
	end_relayed(s, error, reason);
	report_session(s, false, error, reason);
	rr_dispatch_fini(&s->dispatch);
	free(s);
	rr_seat_ended(seat);
	rr_hall_end_if_done(hall);
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
	struct rpcrdma_engine *e = s->dispatch.engine;
	rr_time until = rr_after(s->dispatch.active, idle_limit(s));

	/* The session is kept open for an object for calls in the reverse direction
	 * [v2 §4.5.5].  It is also kept open for an outstanding call whose object now
	 * uses another session. */
	if (!rr_session_is_busy(s) && rr_list_empty(&s->reverses) && e->now >= until) {
		rr_link_close(s->link, -ETIMEDOUT);
		return;
	}
	if (until <= e->now)
		until = rr_after(e->now, idle_limit(s));
	/* Cannot fail, because the timer has just fired and its place in the heap is
	 * free. */
	(void)!rr_timer_set(&e->timers, &s->idle_timer, until);
}

/* -- making room ----------------------------------------------------------- */

bool rr_session_may_go(const struct rr_session *s, enum rr_guest_kind kind)
{
	struct rr_conn_info info;

	rr_conn_info(s->link->conn, &info);
	return !info.calls &&
	       (kind != RR_GUEST_BUSY || !rr_dispatch_is_executing(&s->dispatch));
}

bool rr_session_evict(struct rr_session *s)
{
	static const char *const reason[RR_GUEST_KINDS] = {
	        [RR_GUEST_NEW] = "closed to make room: it never became ready",
	        [RR_GUEST_IDLE] = "closed to make room: it was idle",
	        [RR_GUEST_BUSY] = "closed to make room: the client received no replies",
	};
	const struct rr_seat *t = s->seat;

	if (session_kind(s) != t->kind || !rr_session_may_go(s, t->kind))
		return false;
	rr_trace(&s->link->voice.sink, RR_TRACE_CONN_EVICTED, s->link->id, 0, t->kind,
	         t->neighbours,
	         (s->dispatch.engine->now - s->dispatch.active) / 1000000);
	s->link->stats.connections_evicted = 1;
	rr_link_evict(s->link, -EUSERS, reason[t->kind]);
	return true;
}

/* -- accepting ------------------------------------------------------------- */

static struct rr_session *new_session(struct rr_seat *t)
{
	struct rr_session *s = calloc(1, sizeof(*s));
	struct rpcrdma_listener *l = t->listener;

	if (!s)
		return NULL;
	s->listener = l;
	s->seat = t;
	rr_dispatch_init(&s->dispatch, t->hall->engine, &l->config, l->service);
	s->dispatch.hall = (unsigned)(t->hall - l->halls);
	s->dispatch.settled = session_settled;
	s->dispatch.touched = session_touched;
	s->idle_timer.fire = check_idle;
	rr_list_init(&s->link_sessions);
	rr_list_init(&s->reverses);
	return s;
}

int rr_session_open(struct rr_seat *t, struct rr_prov_listener *prov)
{
	struct rr_session *s = new_session(t);
	struct rr_link_config config = t->listener->config;
	int err;

	if (!s)
		return -ENOMEM;
	/* If memory is scarce, the connection has Receives without segments. */
	if (!rr_reserve_affords_segments(&config))
		config.features.config.rtr_segments = 0;
	err = rr_link_accept(s->dispatch.engine, &config, t->ops, prov, &session_ops, s,
	                     &s->link);
	if (err) {
		rr_dispatch_fini(&s->dispatch);
		free(s);
		return err;
	}
	s->dispatch.link = s->link;
	s->link->dispatch = &s->dispatch;
	s->peer = s->link->voice.peer;
	t->session = s;
	rr_list_push(&t->hall->sessions, &s->link_sessions);
	return 0;
}

static void refuse_session(struct rr_session *s, int error)
{
	if (error == -ECONNREFUSED)
		s->link->stats.connections_refused = 1;
	rr_link_close(s->link, error);
}

void rr_session_begin(struct rr_session *s)
{
	const struct rr_link_config *c = &s->listener->config;
	struct rpcrdma_engine *e = s->dispatch.engine;

	if (s->seat->refused)
		refuse_session(s, s->seat->refused);
	else if (c->o.idle_ns != UINT64_MAX &&
	         rr_timer_set(&e->timers, &s->idle_timer,
	                      rr_after(e->now, idle_limit(s))) < 0)
		refuse_session(s, -ENOMEM);
	if (!rr_holder_pay(&s->dispatch.holder, rr_reserve_price(s->link)))
		refuse_session(s, -ECONNREFUSED);
}
