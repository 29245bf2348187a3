/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/hostage.h"

#include <stdlib.h>

#include "rpc/dispatch.h"

enum {
	PERIOD_MS = 250,
	/* stop checking after this many consecutive periods in which no connection
	 * waits for memory */
	PATIENCE = 40,
};

/* -- one connection -------------------------------------------------------- */

/* Returns the number of octets that the peer has sent, received or read for its
 * requests. */
static uint64_t moved_octets(const struct rr_link *l)
{
	struct rr_prov_counters p = {0};
	struct rr_conn_counters c;

	rr_conn_counters(l->conn, &c);
	if (l->pump.ep)
		l->prov->counters(l->pump.ep, &p);
	return p.bytes_sent + c.bytes_pulled + c.bytes_collected +
	       l->dispatch->unexposed_bytes;
}

static void forgive_link(struct rr_link *l, uint64_t now_moved)
{
	l->dispatch->hostage = (struct rr_hostage){
	        .moved = now_moved,
	        .since = l->engine->now,
	        .last = now_moved,
	        .still = l->engine->now,
	};
}

/* Records the peer's progress.  Returns true if the peer has transferred too little
 * data for too long. */
static bool holds_on(struct rr_link *l)
{
	struct rr_dispatch *s = l->dispatch;
	rr_time now = l->engine->now;
	uint64_t now_moved = moved_octets(l),
	         most = RR_HOSTAGE_RATE * (RR_HOSTAGE_NS / RR_SEC(1));

	if (!s->peer_bytes ||
	    now_moved - s->hostage.moved >= RR_MIN(most, s->peer_bytes)) {
		forgive_link(l, now_moved);
		return false;
	}
	if (now_moved != s->hostage.last) {
		s->hostage.last = now_moved;
		s->hostage.still = now;
	}
	return now - s->hostage.since >= RR_HOSTAGE_NS ||
	       now - s->hostage.still >= RR_HOSTAGE_STILL_NS;
}

/* -- all of an engine ------------------------------------------------------ */

struct hostage_watch {
	struct rr_part part;
	struct rpcrdma_engine *engine;
	struct rr_list holders; /* of struct rr_dispatch.holders */
	struct rr_budget *budget;
	struct rr_budget_watch watch;
	struct rr_post post;
	atomic_bool posted;
	struct rr_timer timer;
	unsigned quiet_periods; /* consecutive periods in which no connection waited */
};

/* Returns the dispatch's link.  Returns NULL if there is no link, or if the link is
 * lost or has ended. */
static struct rr_link *link_of_holder(struct rr_list *n)
{
	struct rr_link *l = rr_container_of(n, struct rr_dispatch, holders)->link;

	return l && !rr_link_is_over(l) && !rr_link_is_lost(l) ? l : NULL;
}

static void forgive_all(struct hostage_watch *w)
{
	struct rr_list *n;

	rr_list_for_each (n, &w->holders) {
		struct rr_link *l = link_of_holder(n);

		if (l)
			forgive_link(l, moved_octets(l));
	}
}

/* Returns when the connection's oldest exposed reply was exposed. */
static rr_time oldest_exposure(const struct rr_link *l)
{
	struct rr_conn_info info;

	rr_conn_info(l->conn, &info);
	return info.exposed_since;
}

static bool exposes_too_long(const struct rr_link *l)
{
	rr_time since = oldest_exposure(l);

	return since != RR_TIME_NEVER && l->engine->now - since >= RR_HOSTAGE_NS;
}

/* Returns true if @l must be ended before @other: its exposure is older or, if neither
 * has any, it uses more memory. */
static bool ends_before(const struct rr_link *l, const struct rr_link *other)
{
	rr_time a = oldest_exposure(l), b = oldest_exposure(other);

	return a != b ? a < b : l->dispatch->peer_bytes > other->dispatch->peer_bytes;
}

/* Finds the connections whose peers transfer too little or leave a reply unread, and
 * returns the one to end first. */
static struct rr_link *find_worst(struct hostage_watch *w)
{
	struct rr_link *ret = NULL;
	struct rr_list *n;

	rr_list_for_each (n, &w->holders) {
		struct rr_link *l = link_of_holder(n);

		if (l && (holds_on(l) || exposes_too_long(l)) &&
		    (!ret || ends_before(l, ret)))
			ret = l;
	}
	return ret;
}

static void end_holder(struct rr_link *l, uint64_t wanted)
{
	rr_trace(&l->voice.sink, RR_TRACE_MEMORY_RECLAIMED, l->id, 0,
	         l->dispatch->peer_bytes, wanted, 0);
	l->dispatch->holder.budget->ended++;
	rr_link_break(l, -ENOBUFS,
	              "closed: others were waiting for the memory that it held");
}

static void set_period(struct hostage_watch *w)
{
	/* The timer is reserved, so this cannot fail. */
	(void)!rr_timer_set(&w->engine->timers, &w->timer,
	                    w->engine->now + RR_MS(PERIOD_MS));
}

static void check_holders(struct rr_timer *t)
{
	struct hostage_watch *w = rr_container_of(t, struct hostage_watch, timer);
	uint64_t wanted = rr_budget_wanted(w->budget), freed = 0;
	struct rr_link *l;

	w->quiet_periods = wanted ? 0 : w->quiet_periods + 1;
	while (freed < wanted && (l = find_worst(w))) {
		freed += l->dispatch->peer_bytes;
		end_holder(l, wanted);
	}
	if (w->quiet_periods < PATIENCE)
		set_period(w);
}

static void begin_checks(struct rr_post *p)
{
	struct hostage_watch *w = rr_container_of(p, struct hostage_watch, post);

	atomic_store(&w->posted, false);
	w->quiet_periods = 0;
	if (w->timer.place)
		return; /* the checks are already running */
	forgive_all(w);
	set_period(w);
}

static void others_wait(struct rr_budget_watch *bw)
{
	struct hostage_watch *w = rr_container_of(bw, struct hostage_watch, watch);

	if (!atomic_exchange(&w->posted, true))
		rr_engine_post(w->engine, &w->post);
}

static void free_hostage_watch(struct rr_part *p)
{
	struct hostage_watch *w = rr_container_of(p, struct hostage_watch, part);

	rr_budget_unwatch(w->budget, &w->watch);
	rr_engine_unpost(w->engine, &w->post);
	rr_timer_release(&w->engine->timers, &w->timer);
	free(w);
}

int rr_hostage_watch(struct rpcrdma_engine *e)
{
	struct hostage_watch *w;
	int err;

	if (rr_engine_find_part(e, free_hostage_watch))
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->part.free = free_hostage_watch;
	w->engine = e;
	rr_list_init(&w->holders);
	w->budget = rr_budget_process();
	w->watch.begin = others_wait;
	rr_list_init(&w->watch.link);
	w->post.fn = begin_checks;
	rr_list_init(&w->post.link);
	w->timer.fire = check_holders;
	err = rr_timer_reserve(&e->timers, &w->timer);
	if (err) {
		free(w);
		return err;
	}
	rr_budget_watch(w->budget, &w->watch);
	rr_engine_add_part(e, &w->part);
	return 0;
}

void rr_hostage_add(struct rr_dispatch *s)
{
	struct rr_part *p = rr_engine_find_part(s->engine, free_hostage_watch);

	RR_ASSERT(p);
	rr_list_push(&rr_container_of(p, struct hostage_watch, part)->holders,
	             &s->holders);
}
