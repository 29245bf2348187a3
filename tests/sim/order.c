/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated provider keeps its promises of order when an endpoint is destroyed: a
 * Send arrives after the Writes that precede it, or not at all.
 *
 * With each of many seeds one end posts Writes and Sends, and is destroyed at an event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prov/sim/sim.h"

enum { SEEDS = 3000, ROUNDS = 4, PART = 1000 };

struct ends {
	struct rr_sim_world *w;
	struct rr_ep *from, *to;
	uint8_t source[PART], target[ROUNDS * PART], message[ROUNDS][4];
	unsigned received;
};

static struct rr_sim_range range(struct rr_rng *r)
{
	return (struct rr_sim_range){0, rr_rng_below(r, 20000)};
}

static void connect_ends(struct ends *e)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rr_prov_config cfg = {.instance = e->w};
	struct rr_prov_listener *l;
	struct sockaddr_storage addr;
	struct rr_wc wc;

	assert_int_equal(0, rr_sim_ops.listen(&cfg, (struct sockaddr *)&any,
	                                      sizeof(any), &l, &addr));
	assert_int_equal(0, rr_sim_ops.connect(&cfg, (struct sockaddr *)&addr,
	                                       sizeof(any), NULL, 0, 0, &e->from));
	while (rr_sim_ops.accept(l, &cfg, NULL, 0, rr_sim_now(e->w), &e->to))
		assert_true(rr_sim_step(e->w));
	while (!rr_sim_ops.poll(e->from, &wc, 1))
		assert_true(rr_sim_step(e->w));
}

static void post_all(struct ends *e)
{
	struct rr_region r;

	memset(e->source, 0x77, PART);
	assert_int_equal(0, rr_sim_ops.register_mem(e->to, e->target, sizeof(e->target),
	                                            RR_ACCESS_REMOTE_WRITE, &r));
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct rr_sge in = {.base = e->message[i], .len = 4};
		struct rr_sge data = {.base = e->source, .len = PART};
		struct rr_sge out = {.base = e->source, .len = 4};

		assert_int_equal(0, rr_sim_ops.post_recv(e->to, &in, i));
		assert_int_equal(0, rr_sim_ops.post_write(e->from, &data, 1, r.handle,
		                                          r.offset + i * PART, i));
		assert_int_equal(0, rr_sim_ops.post_send(e->from, &out, 1, 0, i));
	}
	assert_int_equal(0, rr_sim_ops.flush(e->from, rr_sim_now(e->w)));
}

/* Each message that arrives has the Write before it. */
static void take_messages(struct ends *e)
{
	struct rr_wc wc;

	while (rr_sim_ops.poll(e->to, &wc, 1)) {
		if (wc.op != RR_WC_RECV || wc.status)
			continue;
		assert_int_equal(e->received, wc.token);
		for (unsigned k = 0; k < PART; k++)
			assert_int_equal(0x77, e->target[wc.token * PART + k]);
		e->received++;
	}
}

static unsigned run_seed(uint64_t seed)
{
	struct ends e = {0};
	struct rr_sim_options o = {0};
	struct rr_wc wc;
	struct rr_rng r;
	uint64_t end_at;

	rr_rng_seed(&r, seed);
	o.dir[0].delay = range(&r);
	o.place = range(&r);
	o.send_done = range(&r);
	o.pieces = 1 + (unsigned)rr_rng_below(&r, 4);
	e.w = rr_sim_world_new(seed, &o);
	connect_ends(&e);
	post_all(&e);
	end_at = rr_sim_events(e.w) + rr_rng_below(&r, 40);
	do {
		if (e.from && rr_sim_events(e.w) >= end_at) {
			rr_sim_ops.destroy(e.from);
			e.from = NULL;
		}
		while (e.from && rr_sim_ops.poll(e.from, &wc, 1))
			;
		take_messages(&e);
	} while (rr_sim_step(e.w));
	take_messages(&e);
	rr_sim_world_free(e.w);
	return e.received;
}

static void a_send_arrives_with_the_writes_before_it(void **state)
{
	unsigned some = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned n = run_seed(seed);

		some += n && n < ROUNDS;
	}
	assert_true(some > SEEDS / 20); /* ends in the middle were among them */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_send_arrives_with_the_writes_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
