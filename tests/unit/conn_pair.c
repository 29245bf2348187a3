/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections back to back: every format with every kind of chunk, odd
 * lengths, cancellation and loss at every step, memory that runs out, credits
 * that are scarce.  What arrives is compared octet by octet with a stream that
 * the test lays out by itself.  After each step credits are conserved; at the
 * end nothing is left allocated and no region is accessible.
 */
#include "test_conn_jobs.h"

/* -- the matrix ------------------------------------------------------------ */

static const size_t lengths[] = {0,   1,   2,    3,    4,    5,    511,
                                 512, 513, 1027, 4095, 4096, 4097, 70001};

static void run_job(struct workload *w, const struct job *shape)
{
	struct job *j = workload_add(w, shape);
	struct rr_conn_info i;

	job_start(&w->p.cl, j);
	pair_run(&w->p);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	rr_conn_info(w->p.cl.c, &i);
	assert_int_equal(i.calls, 0);
	rr_conn_info(w->p.sv.c, &i);
	assert_int_equal(i.requests, 0);
	assert_int_equal(i.held_bytes, 0);
	job_free(j);
	w->n_jobs--;
}

/* V2-4.4-01, V2-4.3.5-04 to 06, V2-4.3.6-04 to 09, V2-4.4.2, V2-4.4.3. */
static void matrix(uint32_t credits, uint32_t recv, uint32_t segment, bool inv)
{
	static const size_t fillers[] = {0, 4, 3000, 4040, 9000, 40000};
	struct workload *w = workload_new();
	unsigned flags[] = {0, RR_CALL_SPECIAL, RR_CALL_NO_REDUCE,
	                    RR_CALL_NO_REDUCE | RR_CALL_SPECIAL};
	uint32_t turn = 0;

	workload_configure(w, credits, recv, segment, inv);
	pair_new(&w->p, credits * 1000 + segment);
	pair_run(&w->p);
	assert_true(w->p.cl.ready && w->p.sv.ready);
	for (unsigned fl = 0; fl < RR_ARRAY_SIZE(flags); fl++)
		for (unsigned f = 0; f < RR_ARRAY_SIZE(fillers); f++)
			for (unsigned a = 0; a < RR_ARRAY_SIZE(lengths); a++) {
				struct job j = {
				        .flags = flags[fl],
				        .filler = fillers[f],
				        .n_items = turn % 4,
				        .n_results = turn / 4 % 4,
				        .n_dests = turn / 16 % 4,
				        .reply_filler = fillers[(f + turn) % 6],
				        .user_sinks = turn & 1,
				};

				for (unsigned i = 0; i < 3; i++) {
					j.item[i] = lengths[(a + i * 5) % 14];
					j.result[i] = lengths[(a + i * 3 + 1) % 14];
					j.dest[i] = j.result[i] + (turn >> i & 1);
				}
				if (turn % 3 == 0)
					j.reply_bytes = 300000;
				turn++;
				run_job(w, &j);
			}
	workload_end(w);
}

static void formats_and_chunks_with_defaults(void **state)
{
	matrix(32, 4096, 1 << 20, false);
}

static void formats_and_chunks_with_remote_invalidation(void **state)
{
	matrix(8, 4096, 65536, true);
}

/* The smallest window and odd segments. */
static void formats_and_chunks_with_two_credits(void **state)
{
	matrix(2, 4096, 9001, true);
}

static void formats_and_chunks_with_long_messages(void **state)
{
	matrix(16, 16384, 40000, false);
}

/* V2-4.1-05, V2-4.2.1.1-09: many at once, every window size. */
static void many_calls_at_once(void **state)
{
	for (uint32_t credits = 2; credits <= 33; credits += credits < 8 ? 1 : 5) {
		struct workload *w = workload_new();

		workload_configure(w, credits, 4096, 0, true);
		w->p.sv.cfg.credits = credits / 2 + 1;
		pair_new(&w->p, credits);
		for (unsigned i = 0; i < MAX_CALLS; i++) {
			struct job j = {.filler = (i * 997 % 20000) & ~3u,
			                .n_items = i % 3,
			                .item = {i * 31, 5000},
			                .n_results = 2,
			                .result = {i * 100, i * 10},
			                .n_dests = i % 2,
			                .dest = {6400},
			                .reply_filler = (i * 1009 % 30000) & ~3u};

			job_start(&w->p.cl, workload_add(w, &j));
		}
		do {
			pair_run(&w->p);
		} while (w->p.cl.calls_done < MAX_CALLS && pair_wait(&w->p, RR_SEC(3)));
		for (unsigned i = 0; i < MAX_CALLS; i++)
			assert_int_equal(w->job[i].call.status, RR_CALL_OK);
		assert_false(w->p.cl.misuse || w->p.sv.misuse);
		workload_end(w);
	}
}

/* -- interruptions --------------------------------------------------------- */

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

static const struct job long_call = {
        .filler = 60000,
        .n_items = 1,
        .item = {600},
        .n_results = 1,
        .result = {7},
        .n_dests = 1,
        .dest = {8},
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

/* V2-11.1.4-05: no region is accessible once a cancelled call has ended.  The
 * server checks what it is given to serve: a Call given up between its parts is
 * not among it (V2-7.2.1-02), the closing part is refused. */
static void cancel_at(const struct job *shape, unsigned at, bool *ret_late,
                      unsigned *ret_torn)
{
	struct workload *w = workload_new();
	struct rr_conn_counters n;
	struct job *j, *k;

	workload_configure(w, 4, 4096, 2000, at & 1);
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
	if (!*ret_late && j->call.status != RR_CALL_OK && !w->p.cl.lost)
		assert_int_equal(j->call.status, -ECANCELED);
	/* the connection goes on, unless the server was still at the memory */
	if (!w->p.cl.lost && !w->p.sv.misuse && !w->p.cl.misuse) {
		struct job plain = {.filler = 100, .reply_filler = 5000};

		k = workload_add(w, &plain);
		job_start(&w->p.cl, k);
		pair_run(&w->p);
		assert_true(k->done);
		if (!w->p.cl.misuse && !w->p.sv.misuse)
			assert_int_equal(k->call.status, RR_CALL_OK);
	}
	rr_conn_counters(w->p.sv.c, &n);
	*ret_torn += (unsigned)n.errors_sent;
	workload_end(w);
}

static void cancel_at_every_step(void **state)
{
	const struct job *shape[] = {&everything, &special, &long_call};
	unsigned torn = 0;

	for (unsigned k = 0; k < 3; k++) {
		bool late = false;

		for (unsigned at = 0; !late; at++)
			cancel_at(shape[k], at, &late, &torn);
	}
	assert_true(torn > 0);
}

/* V2-3.2.2-02: everything ends once, whatever was going on. */
static void loss_at_every_step(void **state)
{
	const struct job *shape[] = {&everything, &special};

	for (unsigned k = 0; k < 2; k++) {
		bool late = false;

		for (unsigned at = 0; !late; at++) {
			struct workload *w = workload_new();
			struct job *j;

			w->hold = at & 1;
			workload_configure(w, 4, 4096, 2000, at & 2);
			pair_new(&w->p, at * 3);
			j = workload_add(w, shape[k]);
			job_start(&w->p.cl, j);
			workload_steps(w, at);
			late = j->done || at > 400;
			pair_lose(&w->p, -ECONNRESET);
			assert_true(j->done);
			/* a result that was known stays */
			if (!late && j->call.status != RR_CALL_OK)
				assert_int_equal(j->call.status, -ECONNRESET);
			assert_int_equal(w->p.sv.closed, !w->n_held);
			workload_answer_held(w);
			assert_true(w->p.sv.closed);
			workload_end(w);
		}
	}
}

/* Closing from either end, at every step. */
static void close_at_every_step(void **state)
{
	for (unsigned at = 0; at < 60; at++) {
		struct workload *w = workload_new();
		struct side *s = at & 1 ? &w->p.cl : &w->p.sv;

		workload_configure(w, 4, 4096, 2000, true);
		pair_new(&w->p, at);
		job_start(&w->p.cl, workload_add(w, &everything));
		workload_steps(w, at);
		rr_conn_close(s->c, 0, s->now);
		side_drain(s);
		assert_true(s->disconnect);
		pair_run(&w->p);
		assert_true(w->job[0].done);
		workload_end(w);
	}
}

/* The n-th allocation fails, once or from then on, for every n. */
static void memory_runs_out(void **state)
{
	for (unsigned mode = 0; mode < 4; mode++)
		for (long n = 1; n < 40; n++) {
			struct workload *w = workload_new();
			struct side *s = mode & 1 ? &w->p.sv : &w->p.cl;

			workload_configure(w, 4, 4096, 2000, true);
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

/* V2-3.1.3.3-01, V2-3.1.3.4-01, -04: both directions at once, same XIDs. */
static void calls_in_both_directions(void **state)
{
	struct workload *w = workload_new();
	struct workload *r = calloc(1, sizeof(*r));

	workload_configure(w, 4, 4096, 4000, true);
	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_GENL;
	w->p.cl.app = w->p.sv.app = w;
	pair_new(&w->p, 77);
	pair_run(&w->p);
	for (unsigned i = 0; i < 20; i++)
		job_start(i & 1 ? &w->p.sv : &w->p.cl,
		          workload_add(w, i % 3 ? &everything : &special));
	pair_run(&w->p);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	workload_end(w);
	free(r);
}

/* [R2]: no reverse Call before, and without, support. */
static void reverse_call_without_support_ends_locally(void **state)
{
	struct workload *w = workload_new();
	struct job plain = {.filler = 100};

	pair_new(&w->p, 1);
	job_start(&w->p.sv, workload_add(w, &plain));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, -EPROTONOSUPPORT);
	workload_end(w);
}

/* [R5]: level 1 carries one message, no chunks, and no more. */
static void reverse_level_one_is_simple_only(void **state)
{
	struct workload *w = workload_new();
	struct job plain = {.filler = 100,
	                    .n_results = 1,
	                    .result = {300},
	                    .n_dests = 1,
	                    .dest = {0},
	                    .n_items = 1,
	                    .item = {1000}};
	struct job large = {.filler = 9000};
	struct job large_reply = {.filler = 0, .reply_filler = 9000};

	w->p.cl.cfg.rvrsdir = RDMA2_RVRSDIR_SIMPLE;
	pair_new(&w->p, 1);
	job_start(&w->p.sv, workload_add(w, &plain));
	job_start(&w->p.sv, workload_add(w, &large));
	job_start(&w->p.sv, workload_add(w, &large_reply));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, RR_CALL_OK);
	assert_int_equal(w->job[1].call.status, -EMSGSIZE);
	assert_int_equal(w->job[2].call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(w->job[2].call.error.code, RDMA2_ERR_REPLY_RESOURCE);
	assert_int_equal(w->n_jobs, 3);
	workload_end(w);
}

/* -- resources ------------------------------------------------------------- */

/* [K10]: V2-7.3.4-01 to 03. */
static void write_chunk_too_small_is_reported(void **state)
{
	struct workload *w = workload_new();
	struct job j = {
	        .n_results = 2, .result = {10, 5001}, .n_dests = 2, .dest = {10, 5000}};

	pair_new(&w->p, 1);
	job_start(&w->p.cl, workload_add(w, &j));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, RR_CALL_REMOTE_ERROR);
	assert_int_equal(w->job[0].call.error.code, RDMA2_ERR_WRITE_RESOURCE);
	assert_int_equal(w->job[0].call.error.arg[0], 2);
	assert_int_equal(w->job[0].call.error.arg[1], 5001);
	assert_int_equal(w->p.sv.n_writes, 0);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	workload_end(w);
}

/* [K14], V2-7.4.1: a Read fails and the connection lives. */
static void failed_read_is_a_system_error(void **state)
{
	struct workload *w = workload_new();

	pair_new(&w->p, 1);
	w->p.sv.fail_reads = true;
	job_start(&w->p.cl, workload_add(w, &everything));
	job_start(&w->p.cl, workload_add(w, &special));
	pair_run(&w->p);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(w->job[i].call.status, RR_CALL_REMOTE_ERROR);
		assert_int_equal(w->job[i].call.error.code, RDMA2_ERR_SYSTEM);
	}
	workload_end(w);
}

static void failed_registration_ends_the_call(void **state)
{
	struct workload *w = workload_new();

	pair_new(&w->p, 1);
	w->p.cl.fail_register = -ENOSPC;
	job_start(&w->p.cl, workload_add(w, &everything));
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, -ENOSPC);
	workload_end(w);
}

/* V2-5.2.4-02: too many segments for the peer. */
static void segments_stay_within_the_peers_limit(void **state)
{
	struct workload *w = workload_new();
	struct job items = {.n_items = 3, .item = {9000, 9000, 9000}};
	struct job results = {
	        .n_results = 2, .result = {1, 1}, .n_dests = 2, .dest = {9000, 9000}};

	w->p.sv.cfg.max_segments = 4;
	w->p.sv.cfg.segment_bytes = 4000;
	pair_new(&w->p, 1);
	job_start(&w->p.cl, workload_add(w, &items)); /* one reduced, the rest inline */
	job_start(&w->p.cl, workload_add(w, &results)); /* cannot be offered */
	pair_run(&w->p);
	assert_int_equal(w->job[0].call.status, RR_CALL_OK);
	assert_int_equal(w->p.sv.n_reads, 3);
	assert_int_equal(w->job[1].call.status, -EMSGSIZE);
	workload_end(w);
}

/* Pulls wait for memory, and go on in order. */
static void budget_makes_pulls_wait(void **state)
{
	struct workload *w = workload_new();
	struct rr_conn_info i;

	w->hold = true;
	w->p.sv.cfg.max_held_bytes = 45000;
	pair_new(&w->p, 5);
	for (unsigned k = 0; k < 6; k++) {
		struct job j = {.n_items = 1, .item = {20000}};

		job_start(&w->p.cl, workload_add(w, &j));
	}
	for (unsigned round = 0; round < 3; round++) {
		pair_run(&w->p);
		assert_int_equal(w->n_held, 2);
		rr_conn_info(w->p.sv.c, &i);
		assert_int_equal(i.held_bytes, 40000);
		workload_answer_held(w);
	}
	pair_run(&w->p);
	for (unsigned k = 0; k < 6; k++)
		assert_int_equal(w->job[k].call.status, RR_CALL_OK);
	workload_end(w);
}

/* One request larger than the whole budget, or than a chunk may be. */
static void too_large_is_a_system_error(void **state)
{
	struct workload *w = workload_new();
	struct job budget = {.n_items = 2, .item = {30000, 30000}};
	struct job chunk = {.n_items = 1, .item = {40001}};
	struct job call = {.flags = RR_CALL_SPECIAL, .filler = 10000};
	struct job parts = {.filler = 10000};

	w->p.sv.cfg.max_held_bytes = 50000;
	w->p.sv.cfg.max_chunk_bytes = 40000;
	w->p.sv.cfg.max_message_bytes = 8192;
	pair_new(&w->p, 5);
	job_start(&w->p.cl, workload_add(w, &budget));
	job_start(&w->p.cl, workload_add(w, &chunk));
	job_start(&w->p.cl, workload_add(w, &call));
	job_start(&w->p.cl, workload_add(w, &parts));
	pair_run(&w->p);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(w->job[i].call.status, RR_CALL_REMOTE_ERROR);
		assert_int_equal(w->job[i].call.error.code,
		                 i < 3 ? RDMA2_ERR_SYSTEM : RDMA2_ERR_INVAL_CONT);
	}
	workload_end(w);
}

/* What comes beyond max_requests waits, and is served in the end. */
static void no_more_requests_at_once_than_allowed(void **state)
{
	for (uint64_t seed = 1; seed < 40; seed++) {
		struct workload *w = workload_new();
		struct job plain = {.filler = 8, .reply_filler = 20000 * (seed % 3)};
		struct rr_conn_counters n;

		w->hold = true;
		w->p.sv.cfg.max_requests = 1 + (uint32_t)(seed % 4);
		w->p.sv.cfg.credits = 2 + (uint32_t)(seed % 9);
		pair_new(&w->p, seed);
		for (unsigned k = 0; k < 24; k++)
			job_start(&w->p.cl, workload_add(w, &plain));
		pair_run(&w->p);
		while (w->n_held) {
			assert_in_range(w->n_held, 1, w->p.sv.cfg.max_requests);
			workload_answer_held(w);
			pair_run(&w->p);
		}
		for (unsigned k = 0; k < 24; k++)
			assert_int_equal(w->job[k].call.status, RR_CALL_OK);
		rr_conn_counters(w->p.sv.c, &n);
		assert_int_equal(n.overruns, 0);
		workload_end(w);
	}
}

/* -- credits --------------------------------------------------------------- */

/* [C3 grant message]: after traffic one way the grants die out. */
static void grants_die_out(void **state)
{
	for (uint32_t h = 2; h < 70; h += 3) {
		struct workload *w = workload_new();
		struct job plain = {.filler = 60000, .reply_filler = 0};
		struct rr_conn_counters a, b;

		workload_configure(w, h, 4096, 0, false);
		pair_new(&w->p, h);
		for (unsigned k = 0; k < 8; k++)
			job_start(&w->p.cl, workload_add(w, &plain));
		pair_run(&w->p);
		for (unsigned k = 0; k < 8; k++)
			assert_int_equal(w->job[k].call.status, RR_CALL_OK);
		for (unsigned k = 0; k < 200 && pair_wait(&w->p, RR_SEC(60)); k++)
			pair_run(&w->p);
		rr_conn_counters(w->p.cl.c, &a);
		rr_conn_counters(w->p.sv.c, &b);
		assert_int_equal(rr_conn_deadline(w->p.cl.c), RR_TIME_NEVER);
		assert_int_equal(rr_conn_deadline(w->p.sv.c), RR_TIME_NEVER);
		assert_true(a.grants + b.grants < 8 * 16 + 8);
		workload_end(w);
	}
}

/* Counters of paths tell what went where. */
static void counters_tell_the_path(void **state)
{
	struct workload *w = workload_new();
	struct rr_conn_counters n;

	workload_configure(w, 8, 4096, 0, true);
	pair_new(&w->p, 3);
	job_start(&w->p.cl, workload_add(w, &everything));
	job_start(&w->p.cl, workload_add(w, &special));
	pair_run(&w->p);
	rr_conn_counters(w->p.sv.c, &n);
	assert_int_equal(n.requests, 2);
	assert_int_equal(n.request_replies, 2);
	assert_int_equal(n.bytes_read_chunk, 3001 + 9000 + 3001);
	assert_int_equal(n.bytes_write_chunk, 777 + 5000 + 700);
	assert_int_equal(n.bytes_reply_chunk, 8 + 80000 + 4);
	rr_conn_counters(w->p.cl.c, &n);
	assert_int_equal(n.replies, 2);
	assert_int_equal(n.bytes_write_chunk, 777 + 5000 + 700);
	assert_int_equal(n.registrations,
	                 n.local_invalidations + n.remote_invalidations);
	assert_int_equal(n.remote_invalidations, 2);
	workload_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(formats_and_chunks_with_defaults),
	        cmocka_unit_test(formats_and_chunks_with_remote_invalidation),
	        cmocka_unit_test(formats_and_chunks_with_two_credits),
	        cmocka_unit_test(formats_and_chunks_with_long_messages),
	        cmocka_unit_test(many_calls_at_once),
	        cmocka_unit_test(cancel_at_every_step),
	        cmocka_unit_test(loss_at_every_step),
	        cmocka_unit_test(close_at_every_step),
	        cmocka_unit_test(memory_runs_out),
	        cmocka_unit_test(calls_in_both_directions),
	        cmocka_unit_test(reverse_call_without_support_ends_locally),
	        cmocka_unit_test(reverse_level_one_is_simple_only),
	        cmocka_unit_test(write_chunk_too_small_is_reported),
	        cmocka_unit_test(failed_read_is_a_system_error),
	        cmocka_unit_test(failed_registration_ends_the_call),
	        cmocka_unit_test(segments_stay_within_the_peers_limit),
	        cmocka_unit_test(budget_makes_pulls_wait),
	        cmocka_unit_test(too_large_is_a_system_error),
	        cmocka_unit_test(no_more_requests_at_once_than_allowed),
	        cmocka_unit_test(grants_die_out),
	        cmocka_unit_test(counters_tell_the_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
