/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header types by message kind between two connections: every format with every kind of
 * chunk, with the feature at both peers, at one and at none; both directions; loss,
 * cancellation and lack of memory at every step.  What arrives is compared octet by
 * octet with a stream that the test lays out by itself.
 */
#include "test_conn_jobs.h"

#include "wire/htfam/htfam_wire.h"
#include "wire/rprc/rprc_wire.h"

enum { FIRST_TYPE = RDMA2_X_GRANT, TYPES = 9 };

static unsigned base_types[8], x_types[TYPES]; /* messages sent, by header type */

static unsigned count_x(uint32_t type)
{
	return x_types[type - FIRST_TYPE];
}

static void note_type(struct side *s, const struct side_msg *m)
{
	uint32_t type = rr_load_u32(m->p + 12), flags = rr_load_u32(m->p + 16);

	if (type < RR_ARRAY_SIZE(base_types)) {
		base_types[type]++;
		return;
	}
	if (type == RDMA2_MSG_DONE)
		return;
	assert_in_range(type, FIRST_TYPE, FIRST_TYPE + TYPES - 1);
	x_types[type - FIRST_TYPE]++;
	/* V2-6.2.2.1, LS-s14-03: all other flags are clear */
	assert_int_equal(flags, type >= RDMA2_X_REPLY_EXTERNAL ? RDMA2_F_RESPONSE : 0);
}

enum { HTFAM = 1u << RR_FEATURE_HTFAM, RPRC = 1u << RR_FEATURE_RPRC };

static struct workload *new_htfam(unsigned client, unsigned server)
{
	struct workload *w = workload_new();

	memset(base_types, 0, sizeof(base_types));
	memset(x_types, 0, sizeof(x_types));
	workload_configure(w, 4, 4096, 2000, true);
	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	w->p.cl.cfg.features.on = client;
	w->p.sv.cfg.features.on = server;
	w->p.cl.on_sent = w->p.sv.on_sent = note_type;
	return w;
}

static void settle(struct workload *w)
{
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
}

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

static const struct job special = {
        .flags = RR_CALL_SPECIAL,
        .n_items = 2,
        .item = {3001, 100},
        .n_results = 1,
        .result = {700},
        .n_dests = 1,
        .dest = {4000},
        .reply_bytes = 100000,
        .reply_filler = 80000,
};

static const struct job simple = {.filler = 100, .reply_filler = 100};

/* LS-s02-02, LS-s14-01: the types are used if both peers have the feature. */
static void both_peers_must_have_the_feature(void **state)
{
	for (unsigned on = 0; on < 4; on++) {
		struct workload *w = new_htfam(on & 1 ? HTFAM : 0, on & 2 ? HTFAM : 0);
		unsigned sum = 0;
		struct rr_conn_info i;

		pair_new(&w->p, on);
		for (unsigned k = 0; k < 12; k++)
			job_start(k & 1 ? &w->p.cl : &w->p.sv,
			          workload_add(w, k % 3 == 0   ? &everything
			                          : k % 3 == 1 ? &special
			                                       : &simple));
		settle(w);
		for (unsigned k = 0; k < w->n_jobs; k++)
			assert_int_equal(w->job[k].call.status, RR_CALL_OK);
		for (unsigned k = 0; k < TYPES; k++)
			sum += x_types[k];
		rr_conn_info(w->p.cl.c, &i);
		assert_int_equal(i.features, on == 3 ? HTFAM : 0);
		if (on == 3) {
			assert_int_equal(base_types[RDMA2_MSG], 0);
			assert_int_equal(base_types[RDMA2_NOMSG], 0);
			assert_true(count_x(RDMA2_X_GRANT) > 0);
			assert_true(count_x(RDMA2_X_CALL_MIDDLE) > 0);
			assert_true(count_x(RDMA2_X_REPLY_MIDDLE) > 0);
			assert_int_equal(count_x(RDMA2_X_CALL_LAST), 8);
			assert_int_equal(count_x(RDMA2_X_CALL_EXTERNAL), 4);
			assert_int_equal(count_x(RDMA2_X_REPLY_LAST), 8);
			assert_int_equal(count_x(RDMA2_X_REPLY_EXTERNAL), 4);
		} else {
			assert_int_equal(sum, 0);
		}
		assert_int_equal(base_types[RDMA2_ERROR], 0);
		workload_end(w);
	}
}

static void run_shape(struct workload *w, const struct job *shape)
{
	struct job *j = workload_add(w, shape);

	job_start(&w->p.cl, j);
	settle(w);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	assert_int_equal(side_valid_regions(&w->p.sv), 0);
	job_free(j);
	w->n_jobs--;
}

/* LS-s04-04, LS-s04-05, LS-s15-04, LS-s16-01 */
static void formats_and_chunks(void **state)
{
	static const size_t fillers[] = {0, 4, 3000, 4040, 9000, 40000};
	static const size_t lengths[] = {0, 1, 3, 511, 512, 513, 4097, 20001};
	static const unsigned flags[] = {0, RR_CALL_SPECIAL, RR_CALL_NO_REDUCE};

	for (unsigned rprc = 0; rprc < 2; rprc++) {
		unsigned on = HTFAM | (rprc ? RPRC : 0);
		struct workload *w = new_htfam(on, on);

		w->p.sv.cfg.features.cont_max_sends = 2;
		pair_new(&w->p, rprc);
		for (unsigned n = 0; n < 300; n++) {
			struct job j = {.flags = flags[n % 3],
			                .filler = fillers[n % 6],
			                .n_items = n % 4,
			                .n_results = n / 4 % 4,
			                .n_dests = n / 16 % 4,
			                .reply_filler = fillers[n / 3 % 6],
			                .reply_bytes = n % 5 ? 0 : 300000};

			for (unsigned i = 0; i < 3; i++) {
				j.item[i] = lengths[(n + i * 5) % 8];
				j.result[i] = lengths[(n / 5 + i * 3 + 1) % 8];
				j.dest[i] = j.result[i] + (n >> i & 1);
			}
			run_shape(w, &j);
		}
		assert_int_equal(base_types[RDMA2_MSG], 0);
		assert_int_equal(base_types[RDMA2_NOMSG], 0);
		workload_end(w);
	}
}

/* LS-s17-01: two long sequences in opposite directions, with the least credits. */
static void long_sequences_cross(void **state)
{
	static const struct job large = {.filler = 65536, .reply_filler = 65536};

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct workload *w = new_htfam(HTFAM, HTFAM);

		w->p.cl.cfg.credits = w->p.sv.cfg.credits = 2;
		pair_new(&w->p, seed);
		for (unsigned i = 0; i < 4; i++)
			job_start(i & 1 ? &w->p.cl : &w->p.sv, workload_add(w, &large));
		settle(w);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(w->job[i].call.status, RR_CALL_OK);
		workload_end(w);
	}
}

/* LS-s17-06: the memory for a message is taken once. */
static void memory_is_taken_once(void **state)
{
	static const struct job large = {.filler = 65536, .reply_filler = 65536};

	for (unsigned on = 0; on < 2; on++) {
		struct workload *w = new_htfam(on ? HTFAM : 0, on ? HTFAM : 0);
		struct rr_conn_counters n;

		w->hold = true;
		pair_new(&w->p, 1);
		job_start(&w->p.cl, workload_add(w, &large));
		settle(w);
		assert_int_equal(w->n_held, 1);
		rr_conn_counters(w->p.sv.c, &n);
		assert_int_equal(n.bytes_collected, 65544);
		/* the exact length, not the next power of two */
		assert_int_equal(w->held[0]->held_bytes, on ? 65544 : 131072);
		workload_answer_held(w);
		settle(w);
		assert_int_equal(w->job[0].call.status, RR_CALL_OK);
		workload_end(w);
	}
}

/* -- interruptions --------------------------------------------------------- */

static void cancel_at(const struct job *shape, unsigned at, bool *ret_late,
                      unsigned *ret_torn)
{
	struct workload *w = new_htfam(HTFAM | RPRC, HTFAM | RPRC);
	struct job *j, *k;

	w->p.sv.cfg.features.cont_max_sends = at & 2 ? 1 : 0;
	pair_new(&w->p, at * 7);
	j = workload_add(w, shape);
	job_start(&w->p.cl, j);
	workload_steps(w, at);
	*ret_late = j->done;
	rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
	side_drain(&w->p.cl);
	while (!j->done && pair_step(&w->p))
		;
	assert_true(j->done);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	if (!w->p.cl.lost && !w->p.sv.misuse && !w->p.cl.misuse) {
		k = workload_add(w, &simple);
		job_start(&w->p.cl, k);
		pair_run(&w->p);
		assert_true(k->done);
		if (!w->p.cl.misuse && !w->p.sv.misuse)
			assert_int_equal(k->call.status, RR_CALL_OK);
	}
	*ret_torn += base_types[RDMA2_ERROR];
	workload_end(w);
}

/* A sequence that is given up is refused by its last part. */
static void cancel_at_every_step(void **state)
{
	static const struct job long_call = {.filler = 60000};
	const struct job *shape[] = {&everything, &special, &long_call};
	unsigned torn = 0;

	for (unsigned k = 0; k < 3; k++) {
		bool late = false;

		for (unsigned at = 0; !late; at++)
			cancel_at(shape[k], at, &late, &torn);
	}
	assert_true(torn > 0);
}

static void loss_at_every_step(void **state)
{
	bool late = false;

	for (unsigned at = 0; !late; at++) {
		struct workload *w = new_htfam(HTFAM | RPRC, HTFAM | RPRC);
		struct job *j;

		pair_new(&w->p, at * 3);
		j = workload_add(w, at & 1 ? &everything : &special);
		job_start(&w->p.cl, j);
		workload_steps(w, at);
		late = j->done;
		pair_lose(&w->p, -ECONNRESET);
		assert_true(j->done);
		workload_end(w);
	}
}

static void memory_runs_out(void **state)
{
	for (unsigned mode = 0; mode < 4; mode++)
		for (long n = 1; n < 40; n++) {
			struct workload *w = new_htfam(HTFAM | RPRC, HTFAM | RPRC);
			struct side *s = mode & 1 ? &w->p.sv : &w->p.cl;

			pair_new(&w->p, (uint64_t)n);
			pair_run(&w->p);
			s->mem_fail_at = n;
			s->mem_fail_on = mode & 2;
			for (unsigned k = 0; k < 2; k++) {
				const struct job *shape = k ? &special : &everything;
				struct job *j = workload_add(w, shape);

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(both_peers_must_have_the_feature),
	        cmocka_unit_test(formats_and_chunks),
	        cmocka_unit_test(long_sequences_cross),
	        cmocka_unit_test(memory_is_taken_once),
	        cmocka_unit_test(cancel_at_every_step),
	        cmocka_unit_test(loss_at_every_step),
	        cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
