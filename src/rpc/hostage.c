/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/hostage.h"

#include "rpc/dispatch.h"

enum {
	PERIOD_MS = 250,
	PATIENCE = 40, /* periods in which nobody waits, before the watch ends */
};

/* -- one connection ---------------------------------------------------------------- */

/* Octets that the peer has taken or sent for its requests. */
static uint64_t moved(const struct rr_link *l)
{
	struct rr_prov_counters p = {0};
	struct rr_conn_counters c;

	rr_conn_counters(l->conn, &c);
	if (l->ep)
		l->prov->counters(l->ep, &p);
	return p.bytes_sent + c.bytes_pulled + c.bytes_collected;
}

static void forgive(struct rr_link *l, uint64_t now_moved)
{
	l->served->hostage = (struct rr_hostage){
	        .moved = now_moved,
	        .since = l->engine->now,
	        .last = now_moved,
	        .still = l->engine->now,
	};
}

/* Notes what it has moved; true: too little for too long. */
static bool holds_on(struct rr_link *l)
{
	struct rr_served *s = l->served;
	rr_time now = l->engine->now;
	uint64_t now_moved = moved(l),
	         most = RR_HOSTAGE_RATE * (RR_HOSTAGE_NS / RR_SEC(1));

	if (!s->peer_bytes ||
	    now_moved - s->hostage.moved >= RR_MIN(most, s->peer_bytes)) {
		forgive(l, now_moved);
		return false;
	}
	if (now_moved != s->hostage.last) {
		s->hostage.last = now_moved;
		s->hostage.still = now;
	}
	return now - s->hostage.since >= RR_HOSTAGE_NS ||
	       now - s->hostage.still >= RR_HOSTAGE_STILL_NS;
}

static bool is_holder(const struct rr_link *l)
{
	return l->served && !l->over && !l->lost;
}

/* -- all of an engine ------------------------------------------------------ */

static void forgive_all(struct rpcrdma_engine *e)
{
	struct rr_list *n;

	rr_list_for_each (n, &e->links) {
		struct rr_link *l = rr_container_of(n, struct rr_link, all);

		if (is_holder(l))
			forgive(l, moved(l));
	}
}

/* The one that holds most of those that hold on. */
static struct rr_link *worst(struct rpcrdma_engine *e)
{
	struct rr_link *ret = NULL;
	struct rr_list *n;

	rr_list_for_each (n, &e->links) {
		struct rr_link *l = rr_container_of(n, struct rr_link, all);

		if (is_holder(l) && holds_on(l) &&
		    (!ret || l->served->peer_bytes > ret->served->peer_bytes))
			ret = l;
	}
	return ret;
}

static void end(struct rr_link *l, uint64_t wanted)
{
	rr_trace(&l->voice.sink, RR_TRACE_MEMORY_RECLAIMED, l->id, 0,
	         l->served->peer_bytes, wanted, 0);
	l->served->holder.budget->ended++;
	rr_link_break(l, -ENOBUFS, "others waited for the memory that it held");
}

static void look(struct rr_timer *t)
{
	struct rpcrdma_engine *e =
	        rr_container_of(t, struct rpcrdma_engine, hostage_timer);
	uint64_t wanted = rr_budget_wanted(e->budget), freed = 0;
	struct rr_link *l;

	e->hostage_periods = wanted ? 0 : e->hostage_periods + 1;
	while (freed < wanted && (l = worst(e))) {
		freed += l->served->peer_bytes;
		end(l, wanted);
	}
	if (e->hostage_periods < PATIENCE)
		(void)!rr_timer_set(&e->timers, t,
		                    e->now + RR_MS(PERIOD_MS)); /* promised */
}

static void begin(struct rr_post *p)
{
	struct rpcrdma_engine *e =
	        rr_container_of(p, struct rpcrdma_engine, hostage_post);

	atomic_store(&e->hostage_posted, false);
	e->hostage_periods = 0;
	if (e->hostage_timer.place)
		return; /* it looks already */
	forgive_all(e);
	(void)!rr_timer_set(&e->timers, &e->hostage_timer, e->now + RR_MS(PERIOD_MS));
}

static void others_wait(struct rr_budget_watch *w)
{
	struct rpcrdma_engine *e = rr_container_of(w, struct rpcrdma_engine, watch);

	if (!atomic_exchange(&e->hostage_posted, true))
		rr_engine_post(e, &e->hostage_post);
}

int rr_hostages_init(struct rpcrdma_engine *e)
{
	int err;

	e->budget = rr_budget_process();
	e->hostage_timer.fire = look;
	e->hostage_post.fn = begin;
	rr_list_init(&e->hostage_post.link);
	rr_list_init(&e->watch.link);
	e->watch.begin = others_wait;
	err = rr_timer_promise(&e->timers, &e->hostage_timer);
	if (!err)
		rr_budget_watch(e->budget, &e->watch);
	return err;
}

void rr_hostages_fini(struct rpcrdma_engine *e)
{
	if (!e->budget)
		return;
	rr_budget_unwatch(e->budget, &e->watch);
	rr_engine_unpost(e, &e->hostage_post);
	rr_timer_release(&e->timers, &e->hostage_timer);
}
