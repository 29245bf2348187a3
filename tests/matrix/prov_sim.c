/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix on virtual time.  Variant 0 is instant, the others are drawn. */
#include "matrix.h"

#include "prov/sim/sim.h"

static struct rr_sim_world *world;

const struct rr_prov_ops *mx_provider(void)
{
	return &rr_sim_ops;
}

static struct rr_sim_range range(struct rr_rng *r, rr_time most)
{
	rr_time a = rr_rng_below(r, most), b = rr_rng_below(r, most);

	return (struct rr_sim_range){RR_MIN(a, b), RR_MAX(a, b)};
}

void mx_provider_begin(struct rr_prov_config *cfg, unsigned variant)
{
	struct rr_sim_options o = {.scribble = true, .check_lent = true, .max_ord = 4};
	struct rr_rng r;

	rr_rng_seed(&r, variant);
	if (variant) {
		o.dir[0].delay = range(&r, 50000);
		o.dir[1].delay = range(&r, 50000);
		o.place = range(&r, 30000);
		o.read_latency = range(&r, 30000);
		o.send_done = range(&r, 100000);
		o.inv_done = range(&r, 30000);
		o.batch = range(&r, 40000);
		o.pieces = (unsigned)rr_rng_below(&r, 6);
		o.max_ord = 1 + (uint32_t)rr_rng_below(&r, 16);
	}
	world = rr_sim_world_new(variant, &o);
	*cfg = (struct rr_prov_config){.instance = world};
}

void mx_provider_end(void)
{
	uint64_t changed = rr_sim_lent_changed(world);

	rr_sim_world_free(world);
	assert_int_equal(0, changed);
}

rr_time mx_now(void)
{
	return rr_sim_now(world);
}

void mx_pass(struct mx_world *w, rr_time until)
{
	if (until < rr_sim_next(world))
		rr_sim_run_until(world, until);
	else
		(void)rr_sim_step(world);
}

bool mx_busy(const struct mx_world *w)
{
	return rr_sim_next(world) != RR_TIME_NEVER;
}
