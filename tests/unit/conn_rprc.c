/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder-provided Read chunks between two connections: replies of every length by
 * every path, notifications alone and carried by Calls, cancellation and loss at every
 * step, memory that runs out.  What arrives is compared octet by octet with a stream
 * that the test lays out by itself.
 */
#include "test_conn_jobs.h"

static struct workload *new_rprc(bool inv, uint32_t segment)
{
	struct workload *w = workload_new();
	struct side *both[] = {&w->p.cl, &w->p.sv};

	workload_configure(w, 8, 4096, segment, inv);
	for (unsigned i = 0; i < 2; i++) {
		struct rr_feature_config *g = &both[i]->cfg.features;

		g->on = 1u << RR_FEATURE_RPRC;
		g->cont_max_sends = 1;
	}
	return w;
}

/* Lets the last notification out. */
static void settle_pair(struct workload *w)
{
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
	assert_int_equal(side_valid_regions(&w->p.sv), 0);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
}

static void run_reply(struct workload *w, size_t filler, unsigned n_results)
{
	const struct job shape = {.filler = 40,
	                          .reply_filler = filler,
	                          .n_results = n_results,
	                          .result = {3000, 70001},
	                          .n_dests = n_results,
	                          .dest = {3000, 80000}};
	struct job *j = workload_add(w, &shape);

	job_start(&w->p.cl, j);
	while (!j->done) {
		pair_run(&w->p);
		if (!j->done && !pair_wait(&w->p, w->p.cl.now + RR_SEC(1)))
			fail_msg("the call with a reply of %zu octets hangs", filler);
	}
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	job_free(j);
	w->n_jobs--;
	settle_pair(w); /* the next job has the same XID */
}

static void replies_of_every_length_are_pulled(void **state)
{
	static const size_t fillers[] = {0,    4040, 4048,  4052,  4056,   4060,
	                                 4064, 8192, 20000, 65536, 300000, 1000000};

	for (unsigned inv = 0; inv < 2; inv++)
		for (unsigned results = 0; results < 3; results++) {
			struct workload *w = new_rprc(inv, inv ? 65536 : 1 << 20);
			struct rr_conn_counters cl, sv;

			pair_new(&w->p, inv + 2 * results);
			pair_run(&w->p);
			for (unsigned i = 0; i < RR_ARRAY_SIZE(fillers); i++)
				run_reply(w, fillers[i], results);
			rr_conn_counters(w->p.cl.c, &cl);
			rr_conn_counters(w->p.sv.c, &sv);
			assert_true(sv.rprc_exposed >= 6);
			assert_int_equal(cl.done_sent, sv.rprc_exposed);
			assert_int_equal(sv.done_received, sv.rprc_exposed);
			assert_int_equal(sv.done_dropped + sv.rprc_expired, 0);
			assert_int_equal(cl.reply_chunks_offered, 0);
			assert_int_equal(sv.bytes_continued, 0);
			assert_int_equal(inv ? sv.local_invalidations
			                     : sv.remote_invalidations,
			                 0);
			workload_end(w);
		}
}

/* -- a crowd of calls ------------------------------------------------------ */

enum { CROWD = 12 };

/* Calls whose replies go by every path: short ones, in parts, exposed, in a Reply chunk,
 * with results in Write chunks; in both directions. */
static void add_crowd(struct workload *w)
{
	static const size_t filler[] = {100, 6000, 20000, 300000};

	for (unsigned i = 0; i < CROWD; i++) {
		const struct job shape = {.filler = i % 5 == 4 ? 9000 : 40,
		                          .reply_filler = filler[i % 4],
		                          .reply_bytes = i % 3 ? 0 : 400000,
		                          .flags = i == 6 ? RR_CALL_LARGE_REPLY : 0,
		                          .n_results = i % 3,
		                          .result = {3000, 70001},
		                          .n_dests = i % 3,
		                          .dest = {3000, 80000}};

		(void)workload_add(w, &shape);
	}
}

static void start_crowd(struct workload *w)
{
	for (unsigned i = 0; i < CROWD; i++)
		job_start(i % 4 == 3 ? &w->p.sv : &w->p.cl, &w->job[i]);
}

static struct workload *new_crowd(bool inv, bool chunks, unsigned seed)
{
	struct workload *w = new_rprc(inv, 65536);

	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	w->p.cl.cfg.features.cont_max_sends = 2;
	w->p.sv.cfg.features.cont_max_sends = 2;
	w->p.cl.cfg.features.no_reply_chunks = !chunks;
	add_crowd(w);
	pair_new(&w->p, seed);
	return w;
}

static void expect_all_ended(const struct workload *w)
{
	for (unsigned i = 0; i < CROWD; i++)
		assert_true(w->job[i].done);
}

/* Runs the pair until nothing more happens, without a loss. */
static void run_to_rest(struct workload *w)
{
	settle_pair(w);
	expect_all_ended(w);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_false(w->p.cl.lost || w->p.sv.lost);
}

static uint64_t exposed_by(const struct side *s)
{
	struct rr_conn_counters n;

	rr_conn_counters(s->c, &n);
	return n.rprc_exposed;
}

/* RR-P-10, RR-1-01 */
static void crowds_in_both_directions(void **state)
{
	for (unsigned seed = 0; seed < 50; seed++) {
		struct workload *w = new_crowd(seed & 1, true, seed);

		pair_run(&w->p);
		start_crowd(w);
		run_to_rest(w);
		assert_true(exposed_by(&w->p.sv) && exposed_by(&w->p.cl));
		workload_end(w);
	}
}

/* RR-5.4.3-03: what is exposed, read or owed at any step ends with the connection. */
static void loss_at_every_step(void **state)
{
	for (unsigned step = 0;; step++) {
		struct workload *w = new_crowd(step & 1, true, step % 7);
		bool all;

		pair_run(&w->p);
		start_crowd(w);
		workload_steps(w, step);
		all = !pair_step(&w->p);
		pair_lose(&w->p, step % 3 ? 0 : -ENODEV);
		expect_all_ended(w);
		assert_int_equal(side_valid_regions(&w->p.sv), 0);
		workload_end(w); /* no memory is left */
		if (all)
			break;
	}
}

/* RR-3.4-02, RR-5.1.3-01, RR-4.1.2-02, RR-4.1.3-03: whatever its Reply is doing.  No
 * Reply chunk is offered, so nothing is lost and nothing set aside. */
static void cancel_at_every_step(void **state)
{
	/* without Write chunks; the first one is made by the server */
	for (unsigned victim = 3; victim < CROWD; victim += 3)
		for (unsigned step = 0;; step++) {
			struct workload *w = new_crowd(step & 1, false, step % 7);
			struct side *s = victim == 3 ? &w->p.sv : &w->p.cl;
			bool all;

			pair_run(&w->p);
			start_crowd(w);
			workload_steps(w, 3 * step);
			rr_conn_cancel(s->c, &w->job[victim].call, s->now);
			side_drain(s);
			all = !pair_step(&w->p);
			run_to_rest(w);
			workload_end(w);
			if (all)
				break;
		}
}

/* RR-3.4-02, RR-5.1.3-01: a storm of Calls that are cancelled at once or later. */
static void a_storm_of_cancelled_calls(void **state)
{
	struct workload *w = new_rprc(true, 65536);
	struct rr_conn_counters cl, sv;

	w->p.cl.cfg.features.no_reply_chunks = true;
	pair_new(&w->p, 5);
	pair_run(&w->p);
	for (unsigned i = 0; i < 2000; i++) {
		const struct job shape = {.filler = 40, .reply_filler = 40000};
		struct job *j = workload_add(w, &shape);

		j->xid = j->call.xid = 0x1000 + i;
		rr_store_u32(j->parts, j->xid);
		rr_store_u32(j->flat, j->xid);
		job_start(&w->p.cl, j);
		workload_steps(w, (unsigned)rr_rng_below(&w->p.rng, 12));
		rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
		side_drain(&w->p.cl);
		settle_pair(w);
		assert_true(j->done);
		job_free(j);
		w->n_jobs--;
	}
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_false(w->p.cl.lost || w->p.sv.lost);
	rr_conn_counters(w->p.cl.c, &cl);
	rr_conn_counters(w->p.sv.c, &sv);
	assert_int_equal(cl.registrations, 0);
	assert_true(sv.rprc_exposed > 100);
	assert_int_equal(sv.done_received, sv.rprc_exposed);
	assert_int_equal(sv.done_dropped + sv.rprc_expired, 0);
	workload_end(w);
}

/* One allocation of one end fails, whichever it is: the calls end, and nothing is
 * left. */
static void no_memory_at_any_place(void **state)
{
	for (unsigned k = 0; k < 2; k++)
		for (long n = 1;; n++) {
			struct workload *w = new_crowd(n & 1, true, (unsigned)n % 5);
			struct side *s = k ? &w->p.sv : &w->p.cl;
			bool reached;

			pair_run(&w->p);
			start_crowd(w);
			s->mem_fail_at = n;
			do
				pair_run(&w->p);
			while (pair_wait(&w->p, w->p.cl.now + RR_SEC(20)));
			reached = !s->mem_fail_at;
			s->mem_fail_at = 0;
			pair_lose(&w->p, 0);
			expect_all_ended(w);
			workload_end(w);
			if (!reached)
				break;
		}
}

/* Registrations of the Responder fail one after the other. */
static void no_registration_at_any_place(void **state)
{
	for (unsigned n = 1; n < 12; n++) {
		struct workload *w = new_crowd(n & 1, true, n);

		pair_run(&w->p);
		start_crowd(w);
		w->p.sv.fail_register_at = n;
		settle_pair(w);
		expect_all_ended(w);
		workload_end(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(replies_of_every_length_are_pulled),
	        cmocka_unit_test(crowds_in_both_directions),
	        cmocka_unit_test(loss_at_every_step),
	        cmocka_unit_test(cancel_at_every_step),
	        cmocka_unit_test(a_storm_of_cancelled_calls),
	        cmocka_unit_test(no_memory_at_any_place),
	        cmocka_unit_test(no_registration_at_any_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
