/* SPDX-License-Identifier: BSD-3-Clause */
/* One end, as the library's pump moves it; its memory may fail. */
#include "once.h"

#include "../support/test_conn_limits.h"

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

static struct end *end_of(struct rr_pump *p)
{
	return rr_container_of(p, struct end, pump);
}

static void on_admit(struct rr_pump *p, struct rr_request *r)
{
	rr_conn_admit(p->conn, r, NULL, world_now(end_of(p)->w));
}

static void request_came(struct rr_pump *p, struct rr_request *r)
{
	on_request(end_of(p), r);
}

static void request_over(struct rr_pump *p, struct rr_request *r, int status)
{
	on_request_done(end_of(p), r);
}

static void call_over(struct rr_pump *p, struct rr_call *c)
{
	on_call_done(end_of(p)->w, c);
}

static void end_lost(struct rr_pump *p)
{
	if (end_of(p)->server)
		on_session_lost(end_of(p));
}

static const struct rr_pump_ops pump_ops = {
        .admit = on_admit,
        .request = request_came,
        .request_done = request_over,
        .call_done = call_over,
        .lost = end_lost,
};

void end_open(struct world *w, struct end *e, struct rr_ep *ep, bool server)
{
	struct rr_conn_config cfg = {
	        .role = server ? RR_CONN_SERVER : RR_CONN_CLIENT,
	        .mem = {mem_get, mem_put, w},
	        .remote_invalidate = true,
	        .xid_seed = 1u << 30,
	};
	struct rr_conn *conn = NULL;
	int err;

	conn_limits(&cfg);
	err = rr_conn_new(&cfg, world_now(w), &conn);
	e->w = w;
	e->server = server;
	rr_pump_init(&e->pump, &rr_sim_ops, ep, conn, &pump_ops);
	e->timer = 0;
	if (!err)
		return;
	assert_true(w->fail_get && w->gets >= w->fail_get);
	rr_sim_ops.destroy(ep);
	e->pump.ep = NULL;
	e->pump.state = RR_LINK_OVER;
}

void end_close(struct end *e)
{
	if (!e->pump.conn)
		return;
	rr_sim_ops.destroy(e->pump.ep);
	rr_conn_free(e->pump.conn);
	e->pump.conn = NULL;
	e->pump.ep = NULL;
}

bool end_pump(struct end *e)
{
	rr_time now = world_now(e->w);
	unsigned taken;

	if (!e->pump.conn || rr_pump_over(&e->pump))
		return false;
	if (e->timer <= now)
		rr_pump_tick(&e->pump, now);
	taken = rr_pump_turn(&e->pump, MAX_ROUNDS, now);
	e->timer = rr_pump_over(&e->pump) ? RR_TIME_NEVER
	                                  : rr_pump_deadline(&e->pump, now);
	return taken > 0;
}
