/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote Invalidation between two connections back to back: exact counts of operations,
 * every policy, cancellation at every step.                                  [ext §4]
 */
#include "test_conn_jobs.h"

static const enum rr_inv_policy policies[] = {
        RR_INV_LARGEST,     RR_INV_NONE,  RR_INV_READ_FIRST,
        RR_INV_WRITE_FIRST, RR_INV_FIRST, RR_INV_SINGLE,
};

/* @on: bit 0 the client has the feature, bit 1 the server. */
static struct workload *workload_with(enum rr_inv_policy policy, unsigned on,
                                      uint64_t seed)
{
	struct workload *w = workload_new();
	struct rr_conn_config *g[2] = {&w->p.cl.cfg, &w->p.sv.cfg};

	workload_configure(w, 8, 4096, 0, true);
	for (unsigned i = 0; i < 2; i++) {
		g[i]->features.on = on >> i & 1 ? 1u << RR_FEATURE_REMINV : 0;
		g[i]->features.inv_policy = policy;
	}
	pair_new(&w->p, seed);
	return w;
}

static struct rr_conn_counters counters(const struct side *s)
{
	struct rr_conn_counters n;

	rr_conn_counters(s->c, &n);
	return n;
}

static void run_calls(struct workload *w, const struct job *shape, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		job_start(&w->p.cl, workload_add(w, shape));
	do {
		pair_run(&w->p);
	} while (w->p.cl.calls_done < n && pair_wait(&w->p, RR_SEC(3)));
	assert_int_equal(w->p.cl.calls_done, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_int_equal(w->p.cl.inv_twice, 0);
}

/* RI-1-04, RI-2.4-03, RI-4.5-01, RI-3.2-01, RI-1-06: a Call with k regions costs k local
 * invalidations, or k - 1 and one remote; an inline Call costs none either way. */
static void one_invalidation_per_call_is_saved(void **state)
{
	enum { CALLS = 20 };

	for (unsigned k = 0; k <= 4; k++)
		for (unsigned on = 0; on < 2; on++) {
			enum rr_inv_policy policy = on ? RR_INV_LARGEST : RR_INV_NONE;
			struct workload *w = workload_with(policy, 3, k);
			struct job j = {.n_items = k / 2,
			                .n_results = k - k / 2,
			                .n_dests = k - k / 2};
			unsigned saved = on && k ? CALLS : 0;
			struct rr_conn_counters n;

			for (unsigned i = 0; i < MAX_ITEMS; i++)
				j.item[i] = j.result[i] = j.dest[i] = 600 + i;
			run_calls(w, &j, CALLS);
			n = counters(&w->p.cl);
			assert_int_equal(n.registrations, k * CALLS);
			assert_int_equal(n.remote_invalidations, saved);
			assert_int_equal(n.local_invalidations, k * CALLS - saved);
			/* RI-5.3-03 */
			assert_int_equal(w->p.sv.sends_inv, saved);
			assert_int_equal(w->p.cl.sends_inv, 0);
			workload_end(w);
		}
}

/* RI-5.2-02, RI-3.1-03, RI-4.4-04: also if one side or none has the feature. */
static void calls_of_every_kind_succeed_by_every_policy(void **state)
{
	for (unsigned p = 0; p < RR_ARRAY_SIZE(policies); p++)
		for (unsigned on = 0; on < 4; on++) {
			struct workload *w = workload_with(policies[p], on, p * 4 + on);
			struct rr_conn_counters n;

			for (unsigned i = 0; i < MAX_CALLS; i++) {
				struct job j = {
				        .flags = i % 7 ? 0 : RR_CALL_SPECIAL,
				        .filler = i * 400,
				        .n_items = i % 3,
				        .item = {600 + i, 5000},
				        .n_results = 2,
				        .result = {i * 100, i * 10},
				        .n_dests = i % 2,
				        .dest = {6400},
				        .reply_filler = i * 900,
				        .reply_bytes = i % 5 ? 0 : 100000,
				};

				job_start(&w->p.cl, workload_add(w, &j));
			}
			do {
				pair_run(&w->p);
			} while (w->p.cl.calls_done < MAX_CALLS &&
			         pair_wait(&w->p, RR_SEC(3)));
			for (unsigned i = 0; i < MAX_CALLS; i++)
				assert_int_equal(w->job[i].call.status, RR_CALL_OK);
			assert_int_equal(w->p.cl.inv_twice, 0);
			n = counters(&w->p.cl);
			assert_int_equal(n.registrations,
			                 n.local_invalidations +
			                         n.remote_invalidations);
			assert_int_equal(n.remote_invalidations, w->p.sv.sends_inv);
			assert_int_equal(n.remote_invalidations == 0,
			                 on & 1 && policies[p] == RR_INV_NONE);
			workload_end(w);
		}
}

/* Returns how many of the messages to the server, from number *@at on, have that type. */
static unsigned count_type(const struct side *sv, unsigned *at, uint32_t htype)
{
	unsigned seen = 0;

	for (; *at != sv->in_tail; ++*at)
		seen += rr_load_u32(sv->in[*at % SIDE_QUEUE].p + 12) == htype;
	return seen;
}

/* Runs the Calls, and returns how many of their messages had type @htype. */
static unsigned run_and_count(struct workload *w, const struct job *shape, unsigned n,
                              uint32_t htype)
{
	unsigned seen = 0, at = w->p.sv.in_tail;

	for (unsigned i = 0; i < n; i++) {
		job_start(&w->p.cl, workload_add(w, shape));
		do {
			do {
				seen += count_type(&w->p.sv, &at, htype);
			} while (pair_step(&w->p));
		} while (w->p.cl.calls_done <= i && pair_wait(&w->p, RR_SEC(3)));
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	}
	return seen;
}

/* RI-5.2-04, RI-P-01: Calls of the header types of other features name a handle, too. */
static void every_type_of_call_names_a_handle(void **state)
{
	enum { CALLS = 12 };
	static const struct {
		enum rr_feature feature;
		uint32_t htype;
		struct job job;
	} t[] = {
	        {RR_FEATURE_HTFAM, 0xffffff4a, {.n_items = 1, .item = {700}}},
	        {RR_FEATURE_HTFAM,
	         0xffffff48,
	         {.n_items = 1, .item = {700}, .flags = RR_CALL_SPECIAL}},
	        {RR_FEATURE_RPRC,
	         0xffffff22,
	         {.n_items = 1, .item = {700}, .reply_filler = 60000}},
	        {RR_FEATURE_RTR,
	         0xffffff15,
	         {.n_results = 1,
	          .result = {700},
	          .n_dests = 1,
	          .dest = {700},
	          .direct = RR_DIRECT_BY_SIZE,
	          .above = 1000,
	          .reply_bytes = 21000}},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct workload *w = workload_new();
		struct rr_conn_config *g[2] = {&w->p.cl.cfg, &w->p.sv.cfg};
		unsigned seen;

		workload_configure(w, 32, 4096, 0, true);
		for (unsigned k = 0; k < 2; k++) {
			g[k]->features.on =
			        1u << RR_FEATURE_REMINV | 1u << t[i].feature;
			g[k]->features.done_delay = RR_SEC(1);
			g[k]->features.rtr_segments = 2;
			g[k]->features.rtr_segment_bytes = 8192;
		}
		pair_new(&w->p, i);
		seen = run_and_count(w, &t[i].job, CALLS, t[i].htype);
		/* the first Call has no notification to carry */
		assert_int_equal(seen,
		                 t[i].feature == RR_FEATURE_RPRC ? CALLS - 1 : CALLS);
		assert_int_equal(counters(&w->p.cl).remote_invalidations, CALLS);
		assert_int_equal(w->p.cl.inv_twice, 0);
		assert_int_equal(w->p.sv.inv_twice, 0);
		workload_end(w);
	}
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

/* The feature alone, and with each of the others. */
static const unsigned others[] = {
        1u << RR_FEATURE_REMINV,
        1u << RR_FEATURE_REMINV | 1u << RR_FEATURE_RPRC,
        1u << RR_FEATURE_REMINV | 1u << RR_FEATURE_RTR,
        1u << RR_FEATURE_REMINV | 1u << RR_FEATURE_HTFAM,
};

static void configure_features(struct workload *w, enum rr_inv_policy policy,
                               unsigned features)
{
	struct rr_conn_config *g[2] = {&w->p.cl.cfg, &w->p.sv.cfg};

	workload_configure(w, 32, 4096, 0, true);
	for (unsigned i = 0; i < 2; i++) {
		g[i]->features.on = features;
		g[i]->features.inv_policy = policy;
		g[i]->features.rtr_segments = 2;
		g[i]->features.rtr_segment_bytes = 8192;
	}
}

/* Cancels a Call after @at events.  Returns true if it had ended. */
static bool cancel_after(enum rr_inv_policy policy, unsigned features, unsigned at)
{
	struct workload *w = workload_new();
	struct job *j = workload_add(w, &everything);
	struct rr_conn_counters n;
	bool late;

	configure_features(w, policy, features);
	pair_new(&w->p, at);
	job_start(&w->p.cl, j);
	workload_steps(w, at);
	late = j->done;
	rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
	side_drain(&w->p.cl);
	do {
		pair_run(&w->p);
	} while (!j->done && pair_wait(&w->p, RR_SEC(60)));
	assert_true(j->done);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	assert_int_equal(w->p.cl.inv_twice, 0);
	n = counters(&w->p.cl);
	if (!w->p.cl.lost) /* the server was not at the memory of the Call */
		assert_int_equal(n.registrations,
		                 n.local_invalidations + n.remote_invalidations);
	workload_end(w);
	return late;
}

/* RI-P-07: what is on its way never meets an invalid region. */
static void a_cancelled_call_is_never_invalidated_twice(void **state)
{
	for (unsigned p = 0; p < RR_ARRAY_SIZE(policies); p++)
		for (unsigned f = 0; f < RR_ARRAY_SIZE(others); f++) {
			unsigned at = 0;

			while (!cancel_after(policies[p], others[f], at))
				at++;
			assert_true(at > 10);
		}
}

/* @late: cancels the Call after the first part of its Reply. */
static void end_by_plain_reply(unsigned features, bool late)
{
	const struct job shape = {
	        .n_results = 1,
	        .result = {700},
	        .n_dests = 1,
	        .dest = {700},
	        .direct = RR_DIRECT_BY_SIZE, /* with RTR: by Send, if it can be */
	        .above = 1000,
	        .reply_filler = late ? 20000 : 0,
	        .reply_bytes = 21000,
	};
	struct workload *w = workload_new();
	struct job *j = workload_add(w, &shape);

	configure_features(w, RR_INV_LARGEST, features);
	w->hold = true;
	pair_new(&w->p, 1);
	rr_conn_no_remote_inv_out(w->p.sv.c);
	pair_run(&w->p);
	job_start(&w->p.cl, j);
	pair_run(&w->p);
	assert_int_equal(w->n_held, 1);
	if (late) {
		workload_answer_held(w);
		side_next_message(&w->p.cl);
	}
	rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
	side_drain(&w->p.cl);
	side_complete_all(&w->p.cl);
	assert_false(j->done);
	assert_int_equal(side_valid_regions(&w->p.cl), 1);
	workload_answer_held(w);
	pair_run(&w->p); /* no time passes */
	assert_true(j->done);
	assert_int_equal(counters(&w->p.cl).remote_invalidations, 0);
	assert_int_equal(counters(&w->p.cl).local_invalidations, 1);
	workload_end(w);
}

/* RI-P-07: the Reply ends the wait, whatever its type, if it does not invalidate. */
static void a_plain_reply_of_any_type_ends_the_wait(void **state)
{
	for (unsigned f = 0; f < RR_ARRAY_SIZE(others); f++) {
		end_by_plain_reply(others[f], false);
		end_by_plain_reply(others[f], true);
	}
}

/* A server that never answers: each wait ends. */
static void many_cancelled_calls_end(void **state)
{
	struct workload *w = workload_with(RR_INV_LARGEST, 3, 1);
	const struct job shape = {.n_items = 1, .item = {700}};

	w->hold = true;
	for (unsigned i = 0; i < 6; i++)
		job_start(&w->p.cl, workload_add(w, &shape));
	pair_run(&w->p);
	assert_int_equal(w->n_held, 6);
	for (unsigned i = 0; i < 6; i++)
		rr_conn_cancel(w->p.cl.c, &w->job[i].call, w->p.cl.now);
	side_drain(&w->p.cl);
	pair_run(&w->p);
	assert_int_equal(w->p.cl.calls_done, 0);
	while (w->p.cl.calls_done < 6 && pair_wait(&w->p, RR_SEC(7)))
		pair_run(&w->p);
	assert_int_equal(w->p.cl.calls_done, 6);
	assert_int_equal(counters(&w->p.cl).local_invalidations, 6);
	workload_answer_held(w);
	pair_run(&w->p);
	/* here the fake device survives; the connection has to as well */
	assert_int_equal(w->p.cl.inv_twice, 6);
	assert_false(w->p.cl.disconnect);
	workload_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_invalidation_per_call_is_saved),
	        cmocka_unit_test(calls_of_every_kind_succeed_by_every_policy),
	        cmocka_unit_test(every_type_of_call_names_a_handle),
	        cmocka_unit_test(a_cancelled_call_is_never_invalidated_twice),
	        cmocka_unit_test(a_plain_reply_of_any_type_ends_the_wait),
	        cmocka_unit_test(many_cancelled_calls_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
