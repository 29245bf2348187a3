/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/seat.h"

#include <stdlib.h>

#include "rpc/listener.h"
#include "rpc/session.h"

enum {
	GRACE_MS = 500,  /* time for a handshake, see find_victim */
	STUCK_MS = 2000, /* time without progress in sending a reply */
};

/* -- the end of a seat ----------------------------------------------------- */

static void uncount_seat(struct rr_seat *t)
{
	if (!t->counted)
		return;
	t->counted = false;
	t->listener->n_counted--;
	rr_crowd_remove(&t->listener->crowd, &t->guest);
}

/* Frees the seat when its hall no longer uses it. */
static void free_if_ended(struct rr_seat *t)
{
	if (!t->ended || t->evicting)
		return;
	rr_crowd_remove(&t->listener->crowd, &t->guest);
	free(t);
}

static void seat_ended(struct rr_post *p)
{
	struct rr_seat *t = rr_container_of(p, struct rr_seat, end);

	uncount_seat(t);
	t->hall->n_seats--;
	t->ended = true;
	free_if_ended(t);
}

void rr_seat_ended(struct rr_seat *t)
{
	t->session = NULL;
	rr_hall_run(t->hall->engine, t->listener->engine, &t->end);
}

/* -- making room ----------------------------------------------------------- */

static struct rr_seat *seat_of_guest(const struct rr_guest *g)
{
	return rr_container_of((uintptr_t)g, struct rr_seat, guest);
}

/* Returns how long ago the connection was last used, ns. */
static rr_time idle_time(const struct rr_seat *t)
{
	rr_time now = t->listener->engine->now, at = atomic_load(&t->guest.at);

	return now > at ? now - at : 0; /* the engines' clocks differ slightly */
}

/* Returns false if the session is known not to be evicted.  The session of another
 * engine decides that later. */
static bool seat_may_go(const struct rr_guest *g)
{
	const struct rr_seat *t = seat_of_guest(g);

	return t->hall != &t->listener->halls[0] ||
	       rr_session_may_go(t->session, g->kind);
}

/* Returns true if the session makes no progress. */
static bool seat_is_stuck(const struct rr_guest *g)
{
	return idle_time(seat_of_guest(g)) >= RR_MS(STUCK_MS) && seat_may_go(g);
}

/*
 * Finds a connection to close.  Prefers the oldest one that never became ready, then
 * the one that has been idle longest, then one that is stuck.  But if some address has
 * more idle connections than any address has new ones, an idle connection is preferred
 * to one that has just begun.  Without this exception, clients that become ready
 * quickly, and connect again and again, would displace all clients that need longer.
 * If @from is not NULL, considers only connections from this address.
 */
static struct rr_seat *find_victim(struct rpcrdma_listener *l,
                                   const struct sockaddr_storage *from)
{
	struct rr_crowd *c = &l->crowd;
	struct rr_guest *fresh = rr_crowd_find(c, RR_GUEST_NEW, from, seat_may_go);
	struct rr_guest *g = rr_crowd_find(c, RR_GUEST_IDLE, from, seat_may_go);

	if (fresh &&
	    (!g || rr_crowd_most(c, RR_GUEST_NEW) >= rr_crowd_most(c, RR_GUEST_IDLE) ||
	     idle_time(seat_of_guest(fresh)) >= RR_MS(GRACE_MS)))
		g = fresh;
	if (!g)
		g = rr_crowd_find(c, RR_GUEST_BUSY, from, seat_is_stuck);
	return g ? seat_of_guest(g) : NULL;
}

static void evict_in_hall(struct rr_post *p)
{
	struct rr_seat *t = rr_container_of(p, struct rr_seat, evict);

	t->spared = t->session && !rr_session_evict(t->session);
	rr_hall_run(t->hall->engine, t->listener->engine, &t->answer);
}

static void eviction_answered(struct rr_post *p)
{
	struct rr_seat *t = rr_container_of(p, struct rr_seat, answer);
	struct rpcrdma_listener *l = t->listener;

	t->evicting = false;
	if (!t->ended && t->spared) {
		t->counted = true;
		l->n_counted++;
		/* Without memory, the connection is not in the table: nothing but its
		 * own end can then make room for another. */
		(void)!rr_crowd_add(&l->crowd, &t->guest, &t->peer, l->engine->now);
	}
	free_if_ended(t);
}

static bool evict_seat(struct rpcrdma_listener *l, struct rr_seat *t)
{
	if (!t)
		return false;
	t->neighbours = rr_crowd_count(&l->crowd, &t->peer);
	t->kind = t->guest.kind;
	t->evicting = true;
	uncount_seat(t);
	rr_hall_run(l->engine, t->hall->engine, &t->evict);
	return true;
}

/* Makes room for a new connection from @peer, closing other connections if the limits
 * require it.  Returns false if that is not possible. */
static bool make_seat_room(struct rpcrdma_listener *l,
                           const struct sockaddr_storage *peer)
{
	uint32_t most = l->config.o.max_per_address;

	while (most && rr_crowd_count(&l->crowd, peer) >= most)
		if (!evict_seat(l, find_victim(l, peer)))
			return false;
	while (l->n_counted >= l->max_sessions)
		if (!evict_seat(l, find_victim(l, NULL)))
			return false;
	return true;
}

/* -- accepting ------------------------------------------------------------- */

/* Serves the connection in its hall. */
static void begin_in_hall(struct rr_post *p)
{
	struct rr_seat *t = rr_container_of(p, struct rr_seat, begin);
	int err = 0;

	if (t->arrival) {
		err = rr_session_open(t, t->arrival);
		t->ops->listener_close(t->arrival);
		t->arrival = NULL;
	}
	if (err)
		rr_seat_ended(t);
	else
		rr_session_begin(t->session);
}

static struct rr_seat *new_seat(struct rpcrdma_listener *l,
                                const struct rr_prov_ops *ops)
{
	struct rr_seat *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->listener = l;
	t->ops = ops;
	t->hall = &l->halls[0];
	t->begin.fn = begin_in_hall;
	t->evict.fn = evict_in_hall;
	t->end.fn = seat_ended;
	t->answer.fn = eviction_answered;
	rr_list_init(&t->begin.link);
	rr_list_init(&t->evict.link);
	rr_list_init(&t->end.link);
	rr_list_init(&t->answer.link);
	return t;
}

/* Takes the connection from the provider.  If the provider cannot hand over connections
 * between engines, the listener's engine accepts it. */
static int take_connection(struct rr_seat *t, struct rr_prov_listener *prov)
{
	int err = t->ops->take(prov, &t->arrival, &t->peer);

	if (err != -EOPNOTSUPP)
		return err;
	err = rr_session_open(t, prov);
	if (!err)
		t->peer = t->session->peer;
	return err;
}

static struct rr_hall *emptiest_hall(struct rpcrdma_listener *l)
{
	struct rr_hall *h = &l->halls[0];

	for (unsigned i = 1; i < l->n_halls; i++)
		if (l->halls[i].n_seats < h->n_seats && !atomic_load(&l->halls[i].gone))
			h = &l->halls[i];
	return h;
}

/* Counts the connection, and chooses its hall.  Marks the connection as refused if
 * there are too many. */
static void admit_seat(struct rr_seat *t)
{
	struct rpcrdma_listener *l = t->listener;

	if (!make_seat_room(l, &t->peer))
		t->refused = -ECONNREFUSED;
	else if (rr_crowd_add(&l->crowd, &t->guest, &t->peer, l->engine->now))
		t->refused = -ENOMEM;
	else if (t->arrival)
		t->hall = emptiest_hall(l);
	t->counted = true;
	l->n_counted++;
	t->hall->n_seats++;
}

int rr_seat_accept(struct rpcrdma_listener *l, const struct rr_prov_ops *ops,
                   struct rr_prov_listener *prov)
{
	struct rr_seat *t = new_seat(l, ops);
	int err = t ? take_connection(t, prov) : -ENOMEM;

	if (err) {
		free(t);
		return err;
	}
	admit_seat(t);
	rr_hall_run(l->engine, t->hall->engine, &t->begin);
	return 0;
}

/* -- halls ----------------------------------------------------------------- */

void rr_hall_run(const struct rpcrdma_engine *from, struct rpcrdma_engine *e,
                 struct rr_post *p)
{
	if (e == from)
		p->fn(p);
	else
		rr_engine_post(e, p);
}

static void close_sessions(struct rr_timer *t)
{
	struct rr_hall *h = rr_container_of(t, struct rr_hall, drain_timer);
	struct rr_list *n;

	rr_list_for_each (n, &h->sessions)
		rr_link_close(
		        rr_container_of(n, struct rr_session, link_sessions)->link, 0);
}

/* Closes the sessions that are not busy; the others have @drain_ns. */
static void close_hall(struct rr_hall *h, uint64_t drain_ns)
{
	struct rr_list *n;

	if (h->closing)
		return;
	h->closing = true;
	rr_list_for_each (n, &h->sessions) {
		struct rr_session *s =
		        rr_container_of(n, struct rr_session, link_sessions);

		if (!rr_session_is_busy(s))
			rr_link_close(s->link, 0);
	}
	if (!rr_list_empty(&h->sessions) &&
	    rr_timer_set(&h->engine->timers, &h->drain_timer,
	                 rr_after(rr_engine_clock(), drain_ns)) < 0)
		close_sessions(&h->drain_timer);
	rr_hall_end_if_done(h);
}

static void hall_closes(struct rr_post *p)
{
	struct rr_hall *h = rr_container_of(p, struct rr_hall, close);

	close_hall(h, h->listener->drain_ns);
}

static void hall_is_over(struct rr_post *p)
{
	rr_listener_hall_over(rr_container_of(p, struct rr_hall, over)->listener);
}

void rr_hall_end_if_done(struct rr_hall *h)
{
	if (!h->closing || h->ended || !rr_list_empty(&h->sessions))
		return;
	h->ended = true;
	rr_timer_stop(&h->engine->timers, &h->drain_timer);
	rr_list_del(&h->owner.link);
	rr_hall_run(h->engine, h->listener->engine, &h->over);
}

/* Ends the hall, because its engine is being freed. */
static void abandon_hall(struct rr_owner *o)
{
	struct rr_hall *h = rr_container_of(o, struct rr_hall, owner);

	atomic_store(&h->gone, true);
	close_hall(h, 0);
}

void rr_hall_init(struct rr_hall *h, struct rpcrdma_listener *l,
                  struct rpcrdma_engine *e)
{
	*h = (struct rr_hall){.listener = l, .engine = e};
	h->owner.abandon = abandon_hall;
	rr_list_init(&h->owner.link);
	rr_list_init(&h->sessions);
	h->drain_timer.fire = close_sessions;
	h->close.fn = hall_closes;
	h->over.fn = hall_is_over;
	rr_list_init(&h->close.link);
	rr_list_init(&h->over.link);
}
