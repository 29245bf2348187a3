/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every subset of the optional features at one end, with every subset at the other: 256
 * pairings, with properties, limits and schedules drawn from a seed, and peers that have
 * no features or only version 1.  Each call is answered, octet by octet as laid out, and
 * no message is of a type that its receiver has not advertised.
 */
#include "test_conn_jobs.h"

enum { ALL = (1 << RR_FEATURES) - 1, SEEDS = 6, JOBS = 10 };

static uint32_t below(struct rr_rng *r, uint32_t n)
{
	return (uint32_t)rr_rng_below(r, n);
}

/* -- what may be sent ------------------------------------------------------ */

/* Returns the feature that defines a header type, or RR_FEATURES for the base. */
static unsigned feature_of(uint32_t htype)
{
	if (htype == 3 || htype == 0xffffff22)
		return RR_FEATURE_RPRC;
	if (htype >= 0xffffff15 && htype <= 0xffffff18)
		return RR_FEATURE_RTR;
	if (htype >= 0xffffff45 && htype <= 0xffffff4d)
		return RR_FEATURE_HTFAM;
	assert_true(htype <= 5 && htype != 2);
	return RR_FEATURES;
}

static unsigned seen[RR_FEATURES + 1]; /* messages by feature */

/* Checks the last message that is on its way to @to. */
static void check_type(const struct side *to, const struct side *from)
{
	const struct side_msg *m = &to->in[(to->in_tail - 1) % SIDE_QUEUE];
	unsigned f = feature_of(rr_load_u32(m->p + 12));

	seen[f]++;
	if (f == RR_FEATURES)
		return;
	assert_true(to->cfg.features.on >> f & 1);
	assert_true(from->cfg.features.on >> f & 1);
}

static bool step_and_check(struct pair *p)
{
	unsigned to_cl = p->cl.in_tail, to_sv = p->sv.in_tail;
	bool more = pair_step(p);

	if (p->cl.in_tail != to_cl)
		check_type(&p->cl, &p->sv);
	if (p->sv.in_tail != to_sv)
		check_type(&p->sv, &p->cl);
	return more;
}

static void check_counters(const struct pair *p)
{
	const struct side *both[] = {&p->cl, &p->sv};
	unsigned common = p->cl.cfg.features.on & p->sv.cfg.features.on;

	for (unsigned i = 0; i < 2; i++) {
		struct rr_conn_counters k;
		struct rr_conn_info info;

		rr_conn_counters(both[i]->c, &k);
		rr_conn_info(both[i]->c, &info);
		assert_int_equal(info.features & ~common, 0);
		assert_int_equal(k.errors_sent + k.discards, 0);
		if (!(common >> RR_FEATURE_RPRC & 1))
			assert_int_equal(k.rprc_exposed + k.done_sent, 0);
		assert_int_equal(k.rprc_expired + k.done_dropped, 0);
	}
}

/* -- the pairs ------------------------------------------------------------- */

static void draw_side(struct side *s, struct rr_rng *r, unsigned features)
{
	struct rr_conn_config *g = &s->cfg;

	g->credits = 2 + below(r, 30);
	g->send_bytes = g->recv_bytes = 1024u << below(r, 5);
	g->segment_bytes = 4096u << below(r, 9);
	g->max_segments = 8 + below(r, 57);
	g->rvrsdir = 3;
	g->remote_invalidate = below(r, 2);
	g->features.on = features;
	g->features.cont_max_sends = 1 + below(r, 8);
	g->features.rprc_no_piggyback = below(r, 2);
	g->features.rtr_segments = below(r, 4);
	g->features.inv_policy = (enum rr_inv_policy)below(r, 6);
}

static struct job *draw_job(struct workload *w, struct rr_rng *r)
{
	struct job j = {.filler = 4 * (size_t)below(r, below(r, 4) ? 200 : 6000),
	                .n_items = below(r, 3),
	                .item = {below(r, 20000), below(r, 300)},
	                .n_results = below(r, 3),
	                .result = {below(r, 20000), below(r, 9000)},
	                .dest = {20000, 9000},
	                .reply_filler =
	                        4 * (size_t)below(r, below(r, 2) ? 200 : 20000)};

	j.n_dests = j.n_results;
	/* Only a short reply may be of unknown length. [O13] */
	if (below(r, 3) || j.reply_filler > 4000)
		j.reply_bytes = j.reply_filler + 64;
	if (below(r, 4) == 0)
		j.flags = RR_CALL_LARGE_REPLY;
	j.direct = (enum rr_direct)below(r, 5);
	j.above = below(r, 20000);
	return workload_add(w, &j);
}

static void run_all(struct workload *w)
{
	unsigned done;

	do {
		while (step_and_check(&w->p))
			;
		done = 0;
		for (unsigned i = 0; i < w->n_jobs; i++)
			done += w->job[i].done;
	} while (pair_wait(&w->p, w->p.cl.now + RR_MS(100)) ||
	         w->p.cl.wc_head != w->p.cl.wc_tail);
	assert_int_equal(done, w->n_jobs);
	for (unsigned i = 0; i < w->n_jobs; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
}

static void run_pairing(unsigned client, unsigned server, uint64_t seed)
{
	struct workload *w = workload_new();
	struct rr_rng r;

	rr_rng_seed(&r, seed << 8 | client << 4 | server);
	draw_side(&w->p.cl, &r, client);
	draw_side(&w->p.sv, &r, server);
	pair_new(&w->p, seed);
	pair_run(&w->p);
	for (unsigned i = 0; i < JOBS; i++)
		job_start(below(&r, 3) ? &w->p.cl : &w->p.sv, draw_job(w, &r));
	run_all(w);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	assert_int_equal(side_valid_regions(&w->p.sv), 0);
	check_counters(&w->p);
	workload_end(w);
}

static void every_subset_with_every_subset(void **state)
{
	for (unsigned client = 0; client <= ALL; client++)
		for (unsigned server = 0; server <= ALL; server++)
			for (uint64_t seed = 1; seed <= SEEDS; seed++)
				run_pairing(client, server, seed);
	assert_true(seen[RR_FEATURE_RPRC] && seen[RR_FEATURE_HTFAM]);
	assert_true(seen[RR_FEATURE_RTR] > 500);
}

/* -- version 1 ------------------------------------------------------------- */

static void run_version_1(unsigned features, unsigned client, unsigned server)
{
	struct workload *w = workload_new();
	struct job *j;
	const struct job shape = {.filler = 400,
	                          .n_items = 1,
	                          .item = {9000},
	                          .n_results = 1,
	                          .result = {7000},
	                          .n_dests = 1,
	                          .dest = {7000}};

	w->p.no_conservation = true;
	w->p.cl.cfg.features.on = w->p.sv.cfg.features.on = features;
	w->p.cl.cfg.versions = client;
	w->p.sv.cfg.versions = server;
	pair_new(&w->p, features);
	pair_run(&w->p);
	j = workload_add(w, &shape);
	job_start(&w->p.cl, j);
	pair_run(&w->p);
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	check_counters(&w->p);
	workload_end(w);
}

static void version_1_has_no_features(void **state)
{
	for (unsigned features = 0; features <= ALL; features++) {
		run_version_1(features, RR_CONN_V1, RR_CONN_V1 | RR_CONN_V2);
		run_version_1(features, RR_CONN_V1, RR_CONN_V1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_subset_with_every_subset),
	        cmocka_unit_test(version_1_has_no_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
