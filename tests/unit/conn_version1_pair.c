/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections back to back that come to speak version 1: every format with
 * every kind of chunk, both directions, interruptions at every step.  What arrives
 * is compared octet by octet with a stream that the test lays out by itself.
 */
#include "test_conn_jobs.h"

#define BOTH (RR_CONN_V1 | RR_CONN_V2)

struct setting {
	unsigned client, server;
	uint32_t credits, bytes;
	bool inv, hello;
	uint32_t level;
};

/* Each end hears what the other tells in its private data. */
static void tell(struct side *to, const struct side *from)
{
	uint8_t data[8];

	rr_conn_peer_private(to->c, data, rr_conn_own_private(&from->cfg, data));
}

static struct workload *world_of(const struct setting *t, uint64_t seed)
{
	struct workload *w = workload_new();
	struct pair *p = &w->p;

	workload_configure(w, t->credits, t->bytes, 1 << 20, t->inv);
	p->cl.cfg.versions = t->client;
	p->sv.cfg.versions = t->server;
	p->cl.cfg.rvrsdir = p->sv.cfg.rvrsdir = t->level;
	p->no_conservation = true; /* of messages: version 1 counts transactions */
	rr_rng_seed(&p->rng, seed);
	p->cl.peer = &p->sv;
	p->sv.peer = &p->cl;
	side_new(&p->cl, RR_CONN_CLIENT);
	side_new(&p->sv, RR_CONN_SERVER);
	if (t->hello) {
		tell(&p->cl, &p->sv);
		tell(&p->sv, &p->cl);
	}
	side_open(&p->cl);
	side_open(&p->sv);
	pair_run(p);
	return w;
}

static uint32_t version(const struct side *s)
{
	struct rr_conn_info i;

	rr_conn_info(s->c, &i);
	return i.version;
}

/* The bound that a Requester of version 1 has to know. */
static struct job *add(struct workload *w, const struct job *shape)
{
	struct job j = *shape;

	j.reply_bytes = 8 + j.reply_filler;
	for (unsigned i = 0; i < j.n_results; i++)
		j.reply_bytes +=
		        4 + (i < j.n_dests && j.dest[i] ? 0 : job_padded(j.result[i]));
	return workload_add(w, &j);
}

/* -- formats --------------------------------------------------------------- */

static void run_one(struct workload *w, struct side *s, const struct job *shape)
{
	struct job *j = add(w, shape);

	job_start(s, j);
	pair_run(&w->p);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_int_equal(side_valid_regions(s), 0);
	job_free(j);
	w->n_jobs--;
}

static const size_t sizes[] = {0,   1,   2,   3,    4,    5,    511,
                               512, 513, 900, 1024, 4095, 4097, 70001};

static void matrix(const struct setting *t, bool reverse)
{
	static const size_t fillers[] = {0, 4, 900, 988, 3000, 40000};
	static const unsigned flags[] = {0, RR_CALL_SPECIAL, RR_CALL_NO_REDUCE};
	struct workload *w = world_of(t, t->bytes);
	struct job first = {.filler = 4};
	unsigned turn = 0;

	run_one(w, &w->p.cl, &first); /* the version is settled at both ends */
	assert_int_equal(version(&w->p.cl), 1);
	assert_int_equal(version(&w->p.sv), 1);
	for (unsigned f = 0; f < 6 * RR_ARRAY_SIZE(flags); f++)
		for (unsigned a = 0; a < RR_ARRAY_SIZE(sizes); a++, turn++) {
			struct job j = {.flags = flags[f / 6],
			                .filler = fillers[f % 6],
			                .n_items = turn % 4,
			                .n_results = turn / 4 % 4,
			                .n_dests = turn / 16 % 4,
			                .reply_filler = fillers[(f + turn) % 6],
			                .user_sinks = turn & 1};

			for (unsigned i = 0; i < 3; i++) {
				j.item[i] = sizes[(a + i * 5) % 14];
				j.result[i] = sizes[(a + i * 3 + 1) % 14];
				j.dest[i] = j.result[i] + (turn >> i & 1);
			}
			run_one(w, reverse ? &w->p.sv : &w->p.cl, &j);
		}
	workload_end(w);
}

static void formats_with_the_default_threshold(void **state)
{
	const struct setting t = {.client = RR_CONN_V1, .server = BOTH, .bytes = 4096};

	matrix(&t, false);
}

static void formats_with_private_data_and_invalidation(void **state)
{
	const struct setting t = {.client = BOTH,
	                          .server = RR_CONN_V1,
	                          .bytes = 4096,
	                          .inv = true,
	                          .hello = true};

	matrix(&t, false);
}

static void formats_in_reverse(void **state)
{
	const struct setting t = {.client = RR_CONN_V1,
	                          .server = RR_CONN_V1,
	                          .bytes = 2048,
	                          .hello = true,
	                          .inv = true,
	                          .level = RDMA2_RVRSDIR_GENL};

	matrix(&t, true);
}

/* -- many, and both ways --------------------------------------------------- */

static const struct job everything = {
        .filler = 9000,
        .n_items = 2,
        .item = {3001, 9000},
        .n_results = 3,
        .result = {777, 5000, 9},
        .n_dests = 2,
        .dest = {778, 5000},
        .reply_filler = 12000,
};
static const struct job plain = {.filler = 100, .reply_filler = 200};

static void many_calls_within_few_credits(void **state)
{
	for (uint32_t credits = 2; credits <= 40; credits += 7) {
		const struct setting t = {.client = BOTH,
		                          .server = RR_CONN_V1,
		                          .credits = credits,
		                          .inv = true,
		                          .hello = true};
		struct workload *w = world_of(&t, credits);

		for (unsigned i = 0; i < MAX_CALLS; i++)
			job_start(&w->p.cl, add(w, i % 2 ? &everything : &plain));
		pair_run(&w->p);
		for (unsigned i = 0; i < MAX_CALLS; i++)
			assert_int_equal(w->job[i].call.status, RR_CALL_OK);
		workload_end(w);
	}
}

static void calls_in_both_directions_at_once(void **state)
{
	for (uint32_t level = RDMA2_RVRSDIR_SIMPLE; level <= RDMA2_RVRSDIR_GENL;
	     level += 2) {
		const struct setting t = {.client = RR_CONN_V1,
		                          .server = BOTH,
		                          .credits = 4,
		                          .level = level};
		const struct job *back =
		        level == RDMA2_RVRSDIR_GENL ? &everything : &plain;
		struct workload *w = world_of(&t, level);

		for (unsigned i = 0; i < 20; i++)
			job_start(i & 1 ? &w->p.sv : &w->p.cl,
			          add(w, i & 1 ? back : &everything));
		pair_run(&w->p);
		for (unsigned i = 0; i < 20; i++)
			assert_int_equal(w->job[i].call.status, RR_CALL_OK);
		workload_end(w);
	}
}

/* -- interruptions --------------------------------------------------------- */

static const struct setting usual = {.client = BOTH,
                                     .server = RR_CONN_V1,
                                     .credits = 4,
                                     .bytes = 4096,
                                     .inv = true,
                                     .hello = true};

static void cancel_at_every_step(void **state)
{
	bool late = false;

	for (unsigned at = 0; !late; at++) {
		struct workload *w = world_of(&usual, at * 7);
		struct job *j = add(w, &everything), *k;

		job_start(&w->p.cl, j);
		workload_steps(w, at);
		late = j->done;
		rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
		side_drain(&w->p.cl);
		while (!j->done && pair_step(&w->p))
			;
		assert_true(j->done);
		assert_int_equal(side_valid_regions(&w->p.cl), 0);
		if (!w->p.cl.lost && !w->p.sv.misuse && !w->p.cl.misuse) {
			k = add(w, &plain);
			job_start(&w->p.cl, k);
			pair_run(&w->p);
			assert_true(k->done);
			if (!w->p.cl.misuse && !w->p.sv.misuse)
				assert_int_equal(k->call.status, RR_CALL_OK);
		}
		workload_end(w);
	}
}

static void loss_at_every_step(void **state)
{
	bool late = false;

	for (unsigned at = 0; !late; at++) {
		struct workload *w = world_of(&usual, at * 3);
		struct job *j = add(w, &everything);

		w->hold = at & 1;
		job_start(&w->p.cl, j);
		workload_steps(w, at);
		late = j->done || at > 400;
		pair_lose(&w->p, -ECONNRESET);
		assert_true(j->done);
		if (!late && j->call.status != RR_CALL_OK)
			assert_int_equal(j->call.status, -ECONNRESET);
		workload_answer_held(w);
		assert_true(w->p.sv.closed);
		workload_end(w);
	}
}

static void memory_runs_out(void **state)
{
	for (unsigned mode = 0; mode < 4; mode++)
		for (long n = 1; n < 30; n++) {
			struct workload *w = world_of(&usual, (uint64_t)n);
			struct side *s = mode & 1 ? &w->p.sv : &w->p.cl;

			s->mem_fail_at = n;
			s->mem_fail_on = mode & 2;
			for (unsigned k = 0; k < 2; k++) {
				struct job *j = add(w, &everything);

				if (rr_conn_call(w->p.cl.c, &j->call, w->p.cl.now))
					j->done = true;
				side_drain(&w->p.cl);
				pair_run(&w->p);
			}
			s->mem_fail_at = 0;
			s->mem_fail_on = false;
			workload_end(w);
		}
}

/* -- what two ends agree on ------------------------------------------------ */

/* The highest that both may speak; [V3, V5, V12] */
static void every_combination_of_versions(void **state)
{
	static const unsigned can[] = {RR_CONN_V1, RR_CONN_V2, BOTH};

	for (unsigned a = 0; a < 3; a++)
		for (unsigned b = 0; b < 3; b++) {
			const struct setting t = {.client = can[a], .server = can[b]};
			unsigned common = can[a] & can[b];
			struct workload *w = world_of(&t, a * 3 + b);

			struct job *j = add(w, &plain);
			int err = rr_conn_call(w->p.cl.c, &j->call, w->p.cl.now);

			j->done = err != 0; /* known already */
			side_drain(&w->p.cl);
			pair_run(&w->p);
			if (!common) {
				assert_int_equal(err ? err : j->call.status,
				                 -EPROTONOSUPPORT);
			} else {
				uint32_t v = common & RR_CONN_V2 ? 2 : 1;

				assert_int_equal(j->call.status, RR_CALL_OK);
				assert_int_equal(version(&w->p.cl), v);
				assert_int_equal(version(&w->p.sv), v);
			}
			workload_end(w);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(formats_with_the_default_threshold),
	        cmocka_unit_test(formats_with_private_data_and_invalidation),
	        cmocka_unit_test(formats_in_reverse),
	        cmocka_unit_test(many_calls_within_few_credits),
	        cmocka_unit_test(calls_in_both_directions_at_once),
	        cmocka_unit_test(cancel_at_every_step),
	        cmocka_unit_test(loss_at_every_step),
	        cmocka_unit_test(memory_runs_out),
	        cmocka_unit_test(every_combination_of_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
