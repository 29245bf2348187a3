/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig on virtual time.  Variant 0 is instant, the others are drawn. */
#include "rig.h"

#include <arpa/inet.h>

#include "prov/sim/sim.h"

static struct rr_sim_world *world;
static unsigned variant;

const struct rr_prov_ops *rig_provider(unsigned side)
{
	(void)side;
	return &rr_sim_ops;
}

unsigned rig_variants(void)
{
	return 12;
}

void rig_choose(unsigned v)
{
	variant = v;
}

static struct rr_sim_range range(struct rr_rng *r, rr_time most)
{
	rr_time a = rr_rng_below(r, most), b = rr_rng_below(r, most);

	return (struct rr_sim_range){RR_MIN(a, b), RR_MAX(a, b)};
}

struct sockaddr_in rig_address(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

bool rig_ready(void)
{
	return true;
}

unsigned rig_lacks(unsigned side)
{
	(void)side;
	return 0;
}

void rig_provider_begin(struct rr_prov_config *cfg, unsigned side)
{
	struct rr_sim_options o = {.scribble = true, .check_lent = true, .max_ord = 4};
	struct rr_rng r;

	if (side == SERVER) { /* one world */
		*cfg = (struct rr_prov_config){.instance = world};
		return;
	}
	rr_rng_seed(&r, variant);
	if (variant) {
		for (unsigned i = 0; i < 2; i++) {
			o.dir[i].delay = range(&r, 50000);
			o.dir[i].bytes_per_sec = 1 + rr_rng_below(&r, 5) * 1000000000u;
		}
		if (o.dir[0].bytes_per_sec == 1)
			o.dir[0].bytes_per_sec = 0;
		if (o.dir[1].bytes_per_sec == 1)
			o.dir[1].bytes_per_sec = 100000000;
		o.place = range(&r, 30000);
		o.read_latency = range(&r, 30000);
		o.send_done = range(&r, 100000);
		o.inv_done = range(&r, 30000);
		o.batch = range(&r, 40000);
		o.pieces = (unsigned)rr_rng_below(&r, 6);
		o.ord_blocks = rr_rng_below(&r, 2);
		o.max_ord = 1 + (uint32_t)rr_rng_below(&r, 16);
	}
	world = rr_sim_world_new(variant, &o);
	*cfg = (struct rr_prov_config){.instance = world};
}

void rig_provider_end(void)
{
	uint64_t changed = rr_sim_lent_changed(world);

	rr_sim_world_free(world);
	assert_int_equal(0, changed);
}

rr_time rig_now(void)
{
	return rr_sim_now(world);
}

bool rig_pass(struct rig *g)
{
	return rr_sim_step(world);
}

void rig_silence(struct rig *g, bool on)
{
	rr_sim_options(world)->silent = on;
}

void rig_registered(struct rig *g, unsigned side)
{
	(void)g;
	(void)side;
}

int rig_own_tests(void)
{
	return 0;
}

bool rig_own_only(void)
{
	return false;
}
