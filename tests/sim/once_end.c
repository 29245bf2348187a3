/* SPDX-License-Identifier: BSD-3-Clause */
/* One end, as sim_end.c moves it; its memory may fail. */
#include "once.h"

#include "../conn_limits.h"

static void *mem_get(void *ctx, size_t bytes)
{
	struct world *w = ctx;

	if (++w->gets == w->fail_get)
		return NULL;
	return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void mem_put(void *ctx, void *mem, size_t bytes)
{
	free(mem);
}

static struct end *end_of(struct sim_end *e)
{
	return rr_container_of(e, struct end, sim);
}

static void on_admit(struct sim_end *e, struct rr_request *r)
{
	rr_conn_admit(e->conn, r, NULL, rr_sim_now(e->world));
}

static void request_came(struct sim_end *e, struct rr_request *r)
{
	on_request(end_of(e), r);
}

static void request_over(struct sim_end *e, struct rr_request *r, int status)
{
	on_request_done(end_of(e), r);
}

static void call_over(struct sim_end *e, struct rr_call *c)
{
	on_call_done(end_of(e)->w, c);
}

static void end_lost(struct sim_end *e, int status)
{
	if (end_of(e)->server)
		on_session_lost(end_of(e));
}

static const struct sim_end_hooks hooks = {
        .admit = on_admit,
        .request = request_came,
        .request_done = request_over,
        .call_done = call_over,
        .lost = end_lost,
};

void end_open(struct world *w, struct end *e, bool server)
{
	struct rr_conn_config cfg = {
	        .role = server ? RR_CONN_SERVER : RR_CONN_CLIENT,
	        .mem = {mem_get, mem_put, w},
	        .remote_invalidate = true,
	        .xid_seed = 1u << 30,
	};

	conn_limits(&cfg);
	e->w = w;
	e->server = server;
	e->sim.world = w->sim;
	e->sim.hooks = &hooks;
	e->sim.lost = e->sim.closed = false;
	if (!rr_conn_new(&cfg, world_now(w), &e->sim.conn))
		return;
	assert_true(w->fail_get && w->gets >= w->fail_get);
	rr_sim_ops.destroy(e->sim.ep);
	e->sim.conn = NULL;
	e->sim.ep = NULL;
	e->sim.closed = true;
}

void end_close(struct end *e)
{
	if (!e->sim.conn)
		return;
	rr_sim_ops.destroy(e->sim.ep);
	rr_conn_free(e->sim.conn);
	e->sim.conn = NULL;
	e->sim.ep = NULL;
}

bool end_pump(struct end *e)
{
	bool moved;

	if (!e->sim.conn || e->sim.closed)
		return false;
	sim_end_tick(&e->sim);
	moved = sim_end_drain(&e->sim);
	if (e->sim.lost)
		return moved;
	sim_end_flush(&e->sim);
	while (!e->sim.lost && sim_end_take(&e->sim, 1))
		moved = true;
	return moved;
}
