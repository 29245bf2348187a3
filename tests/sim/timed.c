/* SPDX-License-Identifier: BSD-3-Clause */
#include "timed.h"

#include "../support/test_conn_limits.h"

static const struct rr_prov_ops *const ops = &rr_sim_ops;

struct timed *timed_new(const struct rr_sim_options *o)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rr_prov_config cfg = {0};
	struct sockaddr_storage addr;
	struct timed *p = calloc(1, sizeof(*p));

	p->w = cfg.instance = rr_sim_world_new(1, o);
	assert_int_equal(0, ops->listen(&cfg, (struct sockaddr *)&any, sizeof(any),
	                                &p->l, &addr));
	assert_int_equal(0, ops->connect(&cfg, (struct sockaddr *)&addr, sizeof(any),
	                                 NULL, 0, 0, &p->side[0].ep));
	while (ops->accept(p->l, &cfg, NULL, 0, rr_sim_now(p->w), &p->side[1].ep))
		assert_true(rr_sim_step(p->w));
	for (unsigned i = 0; i < 2; i++)
		p->mem[i] = calloc(1, TIMED_MEM);
	return p;
}

void timed_free(struct timed *p)
{
	rr_sim_world_free(p->w);
	free(p->mem[0]);
	free(p->mem[1]);
	free(p);
}

/* -- connections ----------------------------------------------------------- */

static void *mem_get(void *ctx, size_t n)
{
	return aligned_alloc(64, (n + 63) & ~(size_t)63);
}

static void mem_put(void *ctx, void *p, size_t n)
{
	free(p);
}

static struct timed_side *side_of(struct rr_pump *p)
{
	return rr_container_of(p, struct timed_side, pump);
}

static rr_time time_at(struct rr_pump *p)
{
	return rr_sim_now(side_of(p)->pair->w);
}

static void on_admit(struct rr_pump *p, struct rr_request *r)
{
	rr_conn_admit(p->conn, r, NULL, time_at(p));
}

static void on_request(struct rr_pump *p, struct rr_request *r)
{
	const struct rr_piece *reply = side_of(p)->pair->reply;

	rr_conn_reply(p->conn, r, reply, reply[1].len ? 2 : 1, time_at(p));
}

static void on_request_done(struct rr_pump *p, struct rr_request *r, int status)
{
}

static void on_call_done(struct rr_pump *p, struct rr_call *c)
{
	side_of(p)->pair->done = time_at(p);
}

static void on_completing(struct rr_pump *p, const struct rr_wc *wc)
{
	struct timed_side *s = side_of(p);
	rr_time now = time_at(p);

	if (wc->op == RR_WC_SEND || wc->op == RR_WC_WRITE || now == s->woken_at)
		return;
	s->woken_at = now;
	s->wakeups++;
}

static const struct rr_pump_ops pump_ops = {
        .admit = on_admit,
        .request = on_request,
        .request_done = on_request_done,
        .call_done = on_call_done,
        .completing = on_completing,
};

static unsigned pump_side(struct timed_side *s)
{
	if (rr_pump_over(&s->pump))
		return 0;
	return rr_pump_turn(&s->pump, 1000, rr_sim_now(s->pair->w));
}

/* A flush at one end can complete something at the other. */
static void pump_both(struct timed *p)
{
	while (pump_side(&p->side[0]) + pump_side(&p->side[1]))
		;
}

static rr_time timer_of(const struct timed_side *s)
{
	return rr_pump_over(&s->pump) ? RR_TIME_NEVER : rr_conn_deadline(s->pump.conn);
}

bool timed_step(struct timed *p, rr_time until)
{
	rr_time timer = RR_MIN(timer_of(&p->side[0]), timer_of(&p->side[1]));
	rr_time event = rr_sim_next(p->w);
	bool moved = RR_MIN(timer, event) <= until;

	if (!moved)
		return false;
	if (event <= timer)
		rr_sim_step(p->w);
	else
		rr_sim_run_until(p->w, timer);
	for (unsigned i = 0; i < 2; i++)
		if (timer_of(&p->side[i]) <= rr_sim_now(p->w))
			rr_pump_tick(&p->side[i].pump, rr_sim_now(p->w));
	pump_both(p);
	return true;
}

void timed_connect(struct timed *p, const struct rr_conn_config cfg[2])
{
	for (unsigned i = 0; i < 2; i++) {
		struct rr_conn_config own = cfg[i];
		struct rr_conn *conn;

		own.role = i ? RR_CONN_SERVER : RR_CONN_CLIENT;
		own.mem = (struct rr_mem){mem_get, mem_put, NULL};
		own.xid_seed = 1;
		conn_limits(&own);
		p->side[i].pair = p;
		assert_int_equal(0, rr_conn_new(&own, rr_sim_now(p->w), &conn));
		rr_pump_init(&p->side[i].pump, ops, p->side[i].ep, conn, &pump_ops);
	}
	pump_both(p);
	while (timed_step(p, rr_sim_now(p->w) + RR_MS(100)))
		;
}

void timed_end(struct timed *p)
{
	rr_pump_close(&p->side[0].pump, 0, rr_sim_now(p->w));
	pump_both(p);
	while (!rr_pump_over(&p->side[0].pump) || !rr_pump_over(&p->side[1].pump))
		assert_true(timed_step(p, RR_TIME_NEVER - 1));
	rr_conn_free(p->side[0].pump.conn);
	rr_conn_free(p->side[1].pump.conn);
	timed_free(p);
}

rr_time timed_call(struct timed *p, const struct rr_piece *pieces, unsigned n)
{
	rr_time t = rr_sim_now(p->w);

	p->call.pieces = pieces;
	p->call.n_pieces = n;
	assert_int_equal(0, rr_conn_call(p->side[0].pump.conn, &p->call, t));
	p->done = 0;
	pump_both(p);
	while (!p->done)
		assert_true(timed_step(p, t + RR_SEC(100)));
	assert_int_equal(RR_CALL_OK, p->call.status);
	rr_conn_call_release(p->side[0].pump.conn, &p->call, rr_sim_now(p->w));
	return p->done - t;
}
