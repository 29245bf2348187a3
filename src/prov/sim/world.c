/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock and the event queue.
 *
 * Events are in a binary heap, ordered by time and then by number, so that events with
 * the same time run in the order in which they were made.  Each event has a reference
 * to its connection and its op.
 */
#include "prov/sim/sim_internal.h"

#include <stdlib.h>
#include <string.h>

/* Allocates zeroed memory.  A lack of memory is not simulated. */
void *sim_alloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	RR_ASSERT(p);
	return p;
}

static bool event_precedes(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void swap_events(struct sim_event *a, struct sim_event *b)
{
	struct sim_event t = *a;

	*a = *b;
	*b = t;
}

static void sift_up(struct rr_sim_world *w, size_t i)
{
	while (i && event_precedes(&w->heap[i], &w->heap[(i - 1) / 2])) {
		swap_events(&w->heap[i], &w->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct rr_sim_world *w, size_t i)
{
	for (;;) {
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < w->n_heap; k++)
			if (event_precedes(&w->heap[k], &w->heap[least]))
				least = k;
		if (least == i)
			return;
		swap_events(&w->heap[i], &w->heap[least]);
		i = least;
	}
}

static struct sim_event heap_remove(struct rr_sim_world *w, size_t i)
{
	struct sim_event ev = w->heap[i];

	w->heap[i] = w->heap[--w->n_heap];
	if (i < w->n_heap) {
		sift_up(w, i);
		sift_down(w, i);
	}
	return ev;
}

uint64_t sim_at(struct sim_end *e, rr_time at, sim_fn fn, struct sim_op *op,
                uint64_t arg)
{
	struct rr_sim_world *w = sim_world(e);

	if (w->n_heap == w->max_heap) {
		w->max_heap = w->max_heap ? 2 * w->max_heap : 64;
		w->heap = realloc(w->heap, w->max_heap * sizeof(*w->heap));
		RR_ASSERT(w->heap);
	}
	w->heap[w->n_heap] = (struct sim_event){
	        .at = RR_MAX(at, w->now),
	        .seq = ++w->seq,
	        .fn = fn,
	        .end = e,
	        .op = op,
	        .arg = arg,
	};
	e->conn->refs++;
	if (op)
		op->refs++;
	sift_up(w, w->n_heap++);
	return w->seq;
}

static void event_put(struct sim_event *ev)
{
	if (ev->op)
		sim_op_put(ev->op);
	ev->end->conn->refs--;
	sim_conn_put(ev->end->conn);
}

void sim_cancel(struct rr_sim_world *w, uint64_t seq)
{
	for (size_t i = 0; i < w->n_heap; i++) {
		struct sim_event ev;

		if (w->heap[i].seq != seq)
			continue;
		ev = heap_remove(w, i);
		event_put(&ev);
		return;
	}
}

rr_time sim_draw(struct rr_sim_world *w, struct rr_sim_range r)
{
	if (r.max <= r.min)
		return r.min;
	return r.min + rr_rng_below(&w->rng, r.max - r.min + 1);
}

struct rr_sim_world *rr_sim_world_new(uint64_t seed,
                                      const struct rr_sim_options *options)
{
	struct rr_sim_world *w = sim_alloc(sizeof(*w));

	rr_rng_seed(&w->rng, seed);
	if (options)
		w->opt = *options;
	rr_list_init(&w->conns);
	rr_list_init(&w->listeners);
	w->next_port = 49152;
	return w;
}

static void end_abandon(struct sim_end *e)
{
	if (e->created && !e->destroyed)
		sim_destroy(&e->ep);
}

void rr_sim_world_free(struct rr_sim_world *w)
{
	struct rr_list *l, *next;

	if (!w)
		return;
	while ((l = rr_list_first(&w->listeners)))
		sim_listener_close(rr_container_of(l, struct rr_prov_listener, link));
	for (l = w->conns.next; l != &w->conns; l = next) {
		struct sim_conn *c = rr_container_of(l, struct sim_conn, link);

		next = l->next;
		c->refs++;
		end_abandon(&c->end[0]);
		end_abandon(&c->end[1]);
		c->refs--;
		sim_conn_put(c);
	}
	while (w->n_heap) {
		struct sim_event ev = heap_remove(w, w->n_heap - 1);

		event_put(&ev);
	}
	RR_ASSERT(rr_list_empty(&w->conns));
	free(w->heap);
	free(w);
}

struct rr_sim_options *rr_sim_options(struct rr_sim_world *w)
{
	return &w->opt;
}

rr_time rr_sim_now(const struct rr_sim_world *w)
{
	return w->now;
}

rr_time rr_sim_next(const struct rr_sim_world *w)
{
	return w->n_heap ? w->heap[0].at : RR_TIME_NEVER;
}

uint64_t rr_sim_events(const struct rr_sim_world *w)
{
	return w->events;
}

static void drop_all(struct rr_sim_world *w)
{
	struct rr_list *l;

	rr_list_for_each (l, &w->conns) {
		struct sim_conn *c = rr_container_of(l, struct sim_conn, link);

		for (unsigned i = 0; i < 2; i++) {
			if (!c->end[i].created || c->end[i].destroyed)
				continue;
			rr_sim_drop(&c->end[i].ep);
			break;
		}
	}
}

bool rr_sim_step(struct rr_sim_world *w)
{
	struct sim_event ev;

	if (!w->n_heap)
		return false;
	ev = heap_remove(w, 0);
	w->now = ev.at;
	if (++w->events == w->opt.drop_event)
		drop_all(w);
	if (!ev.op || !ev.op->dead)
		ev.fn(ev.end, ev.op, ev.arg);
	event_put(&ev);
	return true;
}

void rr_sim_run_until(struct rr_sim_world *w, rr_time t)
{
	while (rr_sim_next(w) <= t && rr_sim_step(w))
		;
	w->now = RR_MAX(w->now, t);
}

uint64_t rr_sim_lent_changed(const struct rr_sim_world *w)
{
	return w->lent_changed;
}
