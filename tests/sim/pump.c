/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behaviour of the pump that the seeds do not distinguish.  Each test has a pair of
 * connections in a simulated world; the provider passes all posts on, with one
 * exception.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/pump.h"
#include "prov/sim/sim.h"

#include "../support/test_conn_limits.h"

enum { CLIENT, SERVER, ITEM = 100000 };

struct pair {
	struct rr_sim_world *w;
	struct rr_pump pump[2];
	bool ready[2];
	struct rr_call call;
	struct rr_piece reply[2];
	uint8_t item[ITEM];
	unsigned calls_done, request_status_seen;
	int request_status;
};

/* The provider between the pump and the simulator: exceptions, and what it saw. */
static struct rr_prov_ops between;
static struct {
	bool full;            /* each Send is refused by -ENOBUFS */
	bool fail_read;       /* the next Read fails */
	bool fail_recv;       /* the next Receive fails */
	bool invalidated;     /* the peer was first with each invalidation */
	unsigned disconnects; /* how often it was asked for */
	uint32_t inv_handle;  /* of the last Send With Invalidate */
} seen;

/* The abilities of the devices, and whether the ends have the feature REMINV. */
static struct device {
	bool no_send_inv, irrevocable, survives, reminv;
} device;

static void between_limits(const struct rr_ep *ep, struct rr_prov_limits *ret)
{
	rr_sim_ops.limits(ep, ret);
	ret->send_invalidate = !device.no_send_inv;
	ret->survives_inv_twice = device.survives;
}

static int between_register(struct rr_ep *ep, void *base, size_t len, unsigned access,
                            struct rr_region *ret)
{
	int err = rr_sim_ops.register_mem(ep, base, len, access, ret);

	ret->irrevocable = device.irrevocable;
	return err;
}

static int between_send(struct rr_ep *ep, const struct rr_sge *sge, unsigned n,
                        uint32_t inv_handle, uint64_t token)
{
	if (seen.full)
		return -ENOBUFS;
	if (inv_handle)
		seen.inv_handle = inv_handle;
	return rr_sim_ops.post_send(ep, sge, n, inv_handle, token);
}

static int between_read(struct rr_ep *ep, const struct rr_sge *sge, uint32_t handle,
                        uint64_t offset, uint64_t token)
{
	if (seen.fail_read) {
		seen.fail_read = false;
		return -EIO;
	}
	return rr_sim_ops.post_read(ep, sge, handle, offset, token);
}

static int between_recv(struct rr_ep *ep, const struct rr_sge *sge, uint64_t token)
{
	if (seen.fail_recv) {
		seen.fail_recv = false;
		return -EIO;
	}
	return rr_sim_ops.post_recv(ep, sge, token);
}

static int between_invalidate(struct rr_ep *ep, uint32_t handle, uint64_t token)
{
	return seen.invalidated ? -EINVAL : rr_sim_ops.invalidate(ep, handle, token);
}

static void between_disconnect(struct rr_ep *ep, rr_time now)
{
	seen.disconnects++;
	rr_sim_ops.disconnect(ep, now);
}

/* -- the ends --------------------------------------------------------------- */

static void *mem_get(void *ctx, size_t n)
{
	return aligned_alloc(64, (n + 63) & ~(size_t)63);
}

static void mem_put(void *ctx, void *p, size_t n)
{
	free(p);
}

static struct pair *pair_now;

static rr_time now(void)
{
	return rr_sim_now(pair_now->w);
}

static void on_admit(struct rr_pump *p, struct rr_request *r)
{
	rr_conn_admit(p->conn, r, NULL, now());
}

static void on_request(struct rr_pump *p, struct rr_request *r)
{
	rr_conn_reply(p->conn, r, pair_now->reply, 1, now());
}

static void on_request_done(struct rr_pump *p, struct rr_request *r, int status)
{
}

static void on_call_done(struct rr_pump *p, struct rr_call *c)
{
	pair_now->calls_done++;
}

static void on_ready(struct rr_pump *p)
{
	pair_now->ready[p - pair_now->pump] = true;
}

static const struct rr_pump_ops pump_ops = {
        .admit = on_admit,
        .request = on_request,
        .request_done = on_request_done,
        .call_done = on_call_done,
        .ready = on_ready,
};

static void open_end(struct pair *p, unsigned side, unsigned versions, struct rr_ep *ep)
{
	struct rr_conn_config cfg = {
	        .role = side == CLIENT ? RR_CONN_CLIENT : RR_CONN_SERVER,
	        .mem = {mem_get, mem_put, NULL},
	        .xid_seed = 1,
	        .remote_invalidate = true,
	        .credits = 8,
	        .versions = versions,
	};
	struct rr_conn *conn;

	if (device.reminv)
		cfg.features.on = 1u << RR_FEATURE_REMINV;
	conn_limits(&cfg);
	cfg.keepalive_ns = RR_SEC(1);
	assert_int_equal(0, rr_conn_new(&cfg, now(), &conn));
	rr_pump_init(&p->pump[side], &between, ep, conn, &pump_ops);
}

/* One event of the world, and all that follows from it. */
static void step(struct pair *p)
{
	uint64_t events;

	do {
		events = rr_sim_events(p->w);
		for (unsigned i = 0; i < 2; i++)
			if (!rr_pump_over(&p->pump[i]))
				(void)rr_pump_turn(&p->pump[i], 100, now());
	} while (rr_sim_events(p->w) != events);
	(void)rr_sim_step(p->w);
}

static void connect_ends(struct pair *p, unsigned versions)
{
	const struct rr_conn_config told = {.remote_invalidate = true,
	                                    .versions = versions,
	                                    .send_bytes = 4096,
	                                    .recv_bytes = 4096};
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rr_prov_config cfg = {.instance = p->w};
	struct sockaddr_storage addr;
	struct rr_prov_listener *l;
	struct rr_ep *ep;
	uint8_t priv[8];
	size_t len = rr_conn_own_private(&told, priv);

	assert_int_equal(0, between.listen(&cfg, (struct sockaddr *)&any, sizeof(any),
	                                   &l, &addr));
	assert_int_equal(0, between.connect(&cfg, (struct sockaddr *)&addr, sizeof(any),
	                                    priv, len, 0, &ep));
	open_end(p, CLIENT, versions, ep);
	while (between.accept(l, &cfg, priv, len, now(), &ep))
		assert_true(rr_sim_step(p->w));
	open_end(p, SERVER, versions, ep);
}

static int set_up(void **state, unsigned versions)
{
	const struct rr_sim_options o = {.dir = {{{900, 900}, 0}, {{900, 900}, 0}},
	                                 .survive_inv_twice = device.survives};
	struct pair *p = calloc(1, sizeof(*p));

	*state = pair_now = p;
	memset(&seen, 0, sizeof(seen));
	between = rr_sim_ops;
	between.post_send = between_send;
	between.post_read = between_read;
	between.post_recv = between_recv;
	between.invalidate = between_invalidate;
	between.disconnect = between_disconnect;
	between.limits = between_limits;
	between.register_mem = between_register;
	p->w = rr_sim_world_new(1, &o);
	connect_ends(p, versions);
	while (!p->ready[CLIENT])
		step(p);
	return 0;
}

static int set_up_version_2(void **state)
{
	return set_up(state, RR_CONN_V2);
}

static int set_up_plain_sender(void **state)
{
	device = (struct device){.no_send_inv = true};
	return set_up(state, RR_CONN_V2);
}

static int set_up_irrevocable(void **state)
{
	device = (struct device){.irrevocable = true, .reminv = true};
	return set_up(state, RR_CONN_V2);
}

static int set_up_survivor(void **state)
{
	device = (struct device){.survives = true, .reminv = true};
	return set_up(state, RR_CONN_V2);
}

static int set_up_mortal(void **state)
{
	device = (struct device){.reminv = true};
	return set_up(state, RR_CONN_V2);
}

static int set_up_version_1(void **state)
{
	return set_up(state, RR_CONN_V1);
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	seen.full = false;
	if (!rr_pump_over(&p->pump[CLIENT]))
		rr_pump_close(&p->pump[CLIENT], 0, now());
	while (!rr_pump_over(&p->pump[CLIENT]) || !rr_pump_over(&p->pump[SERVER]))
		step(p);
	for (unsigned i = 0; i < 2; i++)
		rr_conn_free(p->pump[i].conn);
	rr_sim_world_free(p->w);
	free(p);
	device = (struct device){false};
	return 0;
}

static const uint8_t call_head[64] = {0, 0, 0, 9};
static const uint8_t reply_head[48] = {0, 0, 0, 9, 0, 0, 0, 1};

/* A call with a Read chunk, begun. */
static void begin_call(struct pair *p, struct rr_piece pieces[2])
{
	pieces[0] = (struct rr_piece){.base = call_head, .len = sizeof(call_head)};
	pieces[1] = (struct rr_piece){.base = p->item, .len = ITEM, .item = true};
	p->reply[0] = (struct rr_piece){.base = reply_head, .len = sizeof(reply_head)};
	p->call = (struct rr_call){.xid = 9, .pieces = pieces, .n_pieces = 2};
	p->calls_done = 0;
	assert_int_equal(0, rr_conn_call(p->pump[CLIENT].conn, &p->call, now()));
}

static int call(struct pair *p)
{
	struct rr_piece pieces[2];

	begin_call(p, pieces);
	while (!p->calls_done)
		step(p);
	if (p->call.status == RR_CALL_OK)
		rr_conn_call_release(p->pump[CLIENT].conn, &p->call, now());
	return p->call.status;
}

/* -- tests ------------------------------------------------------------------ */

static void a_reply_invalidates_the_region(void **state)
{
	struct pair *p = *state;

	assert_int_equal(RR_CALL_OK, call(p));
	assert_int_not_equal(0, seen.inv_handle);
}

/* RI-2.1-01: the peer names a handle; the device cannot invalidate it. */
static void a_device_that_cannot_send_it_sends_plainly(void **state)
{
	struct pair *p = *state;

	assert_int_equal(RR_CALL_OK, call(p));
	assert_int_equal(0, seen.inv_handle);
}

/* RI-2.1-02, RI-2.2-01: the provider says so for each region. */
static void an_irrevocable_region_is_not_named(void **state)
{
	struct pair *p = *state;
	struct rr_conn_counters n;

	assert_int_equal(RR_CALL_OK, call(p));
	assert_int_equal(0, seen.inv_handle);
	rr_conn_counters(p->pump[CLIENT].conn, &n);
	assert_int_equal(1, n.local_invalidations);
}

/* Cancels a call while its Reply is in transit. */
static void cancel_call(struct pair *p)
{
	struct rr_piece pieces[2];

	begin_call(p, pieces);
	while (!seen.inv_handle) /* the Reply is posted */
		step(p);
	rr_conn_cancel(p->pump[CLIENT].conn, &p->call, now());
	while (!p->calls_done)
		step(p);
	assert_int_equal(-ECANCELED, p->call.status);
}

/* RI-P-07: the Reply is not waited for, and does no harm. */
static void a_device_that_survives_lets_go_at_once(void **state)
{
	struct pair *p = *state;
	struct rr_conn_counters n;

	cancel_call(p);
	rr_conn_counters(p->pump[CLIENT].conn, &n);
	assert_int_equal(1, n.local_invalidations);
	assert_int_equal(RR_CALL_OK, call(p));
	assert_int_equal(0, seen.disconnects);
}

/* RI-P-07 */
static void any_other_device_waits_for_the_reply(void **state)
{
	struct pair *p = *state;
	struct rr_conn_counters n;

	cancel_call(p);
	rr_conn_counters(p->pump[CLIENT].conn, &n);
	assert_int_equal(0, n.local_invalidations);
	assert_int_equal(1, n.remote_invalidations);
	assert_int_equal(RR_CALL_OK, call(p));
	assert_int_equal(0, seen.disconnects);
}

static void a_read_that_fails_ends_its_request_alone(void **state)
{
	struct pair *p = *state;

	seen.fail_read = true;
	assert_int_equal(RR_CALL_REMOTE_ERROR, call(p));
	assert_false(seen.fail_read);
	assert_int_equal(0, seen.disconnects);
	assert_int_equal(RR_CALL_OK, call(p));
}

static void a_receive_that_fails_ends_the_connection(void **state)
{
	struct pair *p = *state;

	seen.fail_recv = true;
	(void)call(p);
	assert_false(seen.fail_recv);
	assert_true(seen.disconnects > 0);
}

/* The call is given up and its region invalidated, but its peer was first. */
static void an_invalidation_that_comes_second_is_done(void **state)
{
	struct pair *p = *state;
	struct rr_piece pieces[2];

	begin_call(p, pieces);
	rr_pump_drain(&p->pump[CLIENT], now());
	seen.invalidated = true;
	rr_conn_cancel(p->pump[CLIENT].conn, &p->call, now());
	rr_pump_drain(&p->pump[CLIENT], now());
	assert_int_equal(1, p->calls_done);
	assert_int_equal(-ECANCELED, p->call.status);
	assert_int_equal(0, seen.disconnects);
}

/* What is due in a connection cannot be drawn then; a timer would fire on and on. */
static void a_stalled_pump_is_not_due_at_once(void **state)
{
	struct pair *p = *state;
	struct rr_pump *client = &p->pump[CLIENT];
	struct rr_piece pieces[2];

	begin_call(p, pieces);
	seen.full = true;
	rr_pump_drain(client, now());
	assert_true(client->stalled);
	assert_true(rr_conn_deadline(client->conn) < RR_SEC(1000));
	assert_true(rr_pump_deadline(client, RR_SEC(1000)) >= RR_SEC(1000) + RR_MS(1));
	seen.full = false;
	while (!p->calls_done)
		step(p);
	assert_int_equal(RR_CALL_OK, p->call.status);
	rr_conn_call_release(client->conn, &p->call, now());
}

static void closing_does_not_wait_for_a_full_queue(void **state)
{
	struct pair *p = *state;
	struct rr_pump *client = &p->pump[CLIENT];
	struct rr_piece pieces[2];

	begin_call(p, pieces);
	seen.full = true;
	rr_pump_drain(client, now());
	assert_true(client->stalled);
	rr_pump_close(client, 0, now());
	rr_pump_drain(client, now());
	assert_false(client->stalled);
	assert_int_equal(1, seen.disconnects);
}

/* In version 1 only private data say that the peer may invalidate. */
static void private_data_reach_the_connection(void **state)
{
	struct pair *p = *state;

	assert_int_equal(RR_CALL_OK, call(p));
	for (unsigned i = 0; i < 2; i++) {
		struct rr_conn_info info;

		rr_conn_info(p->pump[i].conn, &info);
		assert_int_equal(1, info.version);
		assert_true(info.remote_invalidate);
	}
}

/* The endpoint is destroyed: no completion follows. */
static void a_cut_ends_what_is_held(void **state)
{
	struct pair *p = *state;
	struct rr_pump *client = &p->pump[CLIENT];
	struct rr_piece pieces[2];

	begin_call(p, pieces);
	seen.full = true;
	rr_pump_drain(client, now());
	assert_true(client->stalled);
	between.destroy(client->ep);
	client->ep = NULL;
	rr_pump_cut(client, -ETIMEDOUT, now());
	assert_true(rr_pump_over(client));
	assert_int_equal(-ETIMEDOUT, client->error);
	assert_int_equal(1, p->calls_done);
}

#define TEST(f, version) cmocka_unit_test_setup_teardown(f, set_up_##version, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_reply_invalidates_the_region, version_2),
	        TEST(a_device_that_cannot_send_it_sends_plainly, plain_sender),
	        TEST(an_irrevocable_region_is_not_named, irrevocable),
	        TEST(a_device_that_survives_lets_go_at_once, survivor),
	        TEST(any_other_device_waits_for_the_reply, mortal),
	        TEST(a_read_that_fails_ends_its_request_alone, version_2),
	        TEST(a_receive_that_fails_ends_the_connection, version_2),
	        TEST(an_invalidation_that_comes_second_is_done, version_2),
	        TEST(a_stalled_pump_is_not_due_at_once, version_2),
	        TEST(closing_does_not_wait_for_a_full_queue, version_2),
	        TEST(private_data_reach_the_connection, version_1),
	        TEST(a_cut_ends_what_is_held, version_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
