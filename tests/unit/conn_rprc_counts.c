/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What responder-provided Read chunks save and cost, in exact numbers of operations
 * between two connections.                                          [ext §2.8, §3.9]
 */
#include "test_conn_jobs.h"

enum { ON = 1u << RR_FEATURE_RPRC, MIB = 1 << 20 };

struct counts {
	struct rr_conn_counters cl, sv;
};

static struct workload *new_pair(unsigned features, uint32_t credits, uint32_t inline_,
                                 uint32_t segment)
{
	struct workload *w = workload_new();
	struct side *both[] = {&w->p.cl, &w->p.sv};

	workload_configure(w, credits, inline_, segment, false);
	for (unsigned i = 0; i < 2; i++) {
		both[i]->cfg.features.on = features;
		both[i]->cfg.features.cont_max_sends = 1;
		both[i]->cfg.features.max_pull = 64 * MIB;
		both[i]->cfg.features.rprc_no_piggyback = true;
	}
	return w;
}

static void open_pair(struct workload *w)
{
	pair_new(&w->p, 3);
	pair_run(&w->p);
}

static struct counts counts_of(const struct workload *w)
{
	struct counts n;

	rr_conn_counters(w->p.cl.c, &n.cl);
	rr_conn_counters(w->p.sv.c, &n.sv);
	return n;
}

/* Makes one call and lets everything come to rest. */
static void make_call(struct workload *w, size_t reply, size_t bound, unsigned flags)
{
	const struct job shape = {.filler = 40,
	                          .reply_filler = reply - 8,
	                          .reply_bytes = bound,
	                          .flags = flags};
	struct job *j = workload_add(w, &shape);

	job_start(&w->p.cl, j);
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	job_free(j);
	w->n_jobs--;
}

static struct counts run_mix(unsigned features, unsigned calls, unsigned one_in,
                             size_t bound)
{
	struct workload *w = new_pair(features, 8, 4096, MIB);
	struct counts n;

	open_pair(w);
	for (unsigned i = 0; i < calls; i++)
		make_call(w, one_in && i % one_in == 0 ? 20000 : 200, bound, 0);
	n = counts_of(w);
	workload_end(w);
	return n;
}

/* RR-1-02, RR-4-02, RR-5.4.1-02: 1000 short replies whose maximum is not known. */
static void short_replies_cost_no_registration(void **state)
{
	struct counts with = run_mix(ON, 1000, 0, 0);
	struct counts without = run_mix(0, 1000, 0, MIB);

	assert_int_equal(with.cl.registrations + with.sv.registrations, 0);
	assert_int_equal(with.cl.local_invalidations, 0);
	assert_int_equal(without.cl.registrations, 1000);
	assert_int_equal(without.cl.local_invalidations, 1000);
}

/* RR-3.3-01, RR-5.1.1-01, RR-5.1.1-02, RR-7-03: of 1000 replies one in 100 is long. */
static void only_long_replies_cost_a_registration(void **state)
{
	struct counts with = run_mix(ON, 1000, 100, MIB);
	struct counts without = run_mix(0, 1000, 100, MIB);

	assert_int_equal(without.cl.reply_chunks_offered, 1000);
	assert_int_equal(without.cl.reply_chunks_used, 10);
	assert_int_equal(without.cl.registrations, 1000);
	assert_int_equal(without.cl.local_invalidations, 1000);
	assert_int_equal(without.sv.bytes_reply_chunk, 200000);
	assert_int_equal(with.cl.reply_chunks_offered, 0);
	assert_int_equal(with.cl.reply_chunks_used, 0);
	assert_int_equal(with.cl.registrations, 0);
	assert_int_equal(with.sv.rprc_exposed, 10);
	assert_int_equal(with.sv.registrations, 10);
	assert_int_equal(with.sv.local_invalidations, 10);
	assert_int_equal(with.sv.bytes_reply_chunk, 0);
	assert_int_equal(with.cl.bytes_reply_pulled, 200000);
	assert_int_equal(with.cl.done_sent, 10);
}

/* RR-1-01: no bound is known, and each reply arrives; RSSIZ is 8 MiB. */
static void replies_up_to_64_mib_arrive(void **state)
{
	struct workload *w = new_pair(ON, 8, 4096, 8 * MIB);
	struct counts n;

	open_pair(w);
	make_call(w, 100, 0, 0);
	for (size_t len = 128; len <= (size_t)64 * MIB; len *= 2)
		make_call(w, len, 0, 0);
	n = counts_of(w);
	assert_int_equal(n.sv.rprc_exposed, 15); /* 4096 and longer */
	assert_int_equal(n.cl.reply_chunks_offered, 0);
	assert_false(w->p.cl.lost || w->p.sv.lost);
	workload_end(w);
}

/* RR-5.1.2-01: a Reply chunk of 8 KiB is too short for 32 MiB; RSSIZ is 4 MiB. */
static void a_reply_beyond_its_chunk_arrives(void **state)
{
	struct workload *w = new_pair(ON, 8, 4096, 4 * MIB);
	struct counts n;

	open_pair(w);
	make_call(w, 32 * MIB, 8192, RR_CALL_ROOM);
	n = counts_of(w);
	assert_int_equal(n.cl.reply_chunks_offered, 1);
	assert_int_equal(n.cl.reply_chunks_used, 0);
	assert_int_equal(n.cl.bytes_reply_pulled, 32 * MIB);
	workload_end(w);
}

/* RR-3.5-02, RR-5.5-01: replies within 64 octets of the threshold. */
static void replies_around_the_threshold_arrive(void **state)
{
	struct workload *w = new_pair(ON, 8, 4096, MIB);

	open_pair(w);
	for (size_t len = 4060 - 64; len <= 4060 + 64; len += 4)
		make_call(w, len, len & 8 ? 0 : MIB, 0);
	assert_int_equal(counts_of(w).sv.rprc_exposed, 16);
	assert_int_equal(counts_of(w).cl.reply_chunks_offered, 0);
	workload_end(w);
}

/* RR-5.2.2-02: the same replies, with larger and larger thresholds. */
static void a_larger_threshold_exposes_less(void **state)
{
	static const size_t mix[] = {1000, 5000, 10000, 20000, 40000};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned on = 0; on < 2; on++) {
			struct workload *w = new_pair(on ? ON : 0, 8, 4096u << i, MIB);
			struct counts n;

			open_pair(w);
			for (unsigned k = 0; k < RR_ARRAY_SIZE(mix); k++)
				make_call(w, mix[k], MIB, 0);
			n = counts_of(w);
			assert_int_equal(n.sv.rprc_exposed, on ? 4 - i : 0);
			assert_int_equal(n.cl.reply_chunks_offered, on ? 0 : 5);
			workload_end(w);
		}
}

/* RR-5.5-02: parts need no registration; each of the other ways needs one. */
static void continuation_exposes_no_memory(void **state)
{
	for (size_t len = 8192; len <= 32768; len *= 2)
		for (unsigned way = 0; way < 3; way++) {
			struct workload *w = new_pair(way == 2 ? ON : 0, 16, 4096, MIB);
			struct counts n;

			open_pair(w);
			make_call(w, len, way == 1 ? MIB : 0, 0);
			n = counts_of(w);
			assert_int_equal(n.cl.registrations, way == 1);
			assert_int_equal(n.sv.registrations, way == 2);
			assert_int_equal(n.sv.bytes_continued, way ? 0 : len);
			workload_end(w);
		}
}

/* RR-5.5-03: with a grant of 16, the parts of a long reply wait for credits again and
 * again; as a Read chunk it takes one Send of the Responder. */
static void continuation_waits_for_credits(void **state)
{
	enum { LEN = 4 * MIB - 4096 };

	for (unsigned on = 0; on < 2; on++) {
		struct workload *w = new_pair(on ? ON : 0, 16, 4096, MIB);
		struct counts before, n;

		open_pair(w);
		before = counts_of(w);
		make_call(w, LEN, 0, 0);
		n = counts_of(w);
		if (on) {
			assert_int_equal(n.sv.credit_stalls, 0);
			assert_int_equal(n.sv.sends - before.sv.sends - n.sv.grants, 1);
		} else {
			assert_true(n.sv.credit_stalls > LEN / 4060 / 16 / 2);
			assert_true(n.sv.sends > LEN / 4060);
		}
		workload_end(w);
	}
}

/* RR-5.2.3-02: 20 notifications and nothing else to send: the credits come back, in
 * grants of the base protocol. */
static void credits_of_notifications_come_back(void **state)
{
	for (uint32_t credits = 2; credits <= 8; credits += 6) {
		struct workload *w = new_pair(ON, credits, 4096, MIB);
		struct rr_conn_info i;
		rr_time end;

		open_pair(w);
		for (unsigned k = 0; k < 20; k++)
			make_call(w, 20000, 0, 0);
		assert_int_equal(counts_of(w).cl.done_sent, 20);
		end = w->p.cl.now + RR_MS(100);
		while (pair_wait(&w->p, end))
			pair_run(&w->p);
		rr_conn_info(w->p.cl.c, &i);
		assert_true(i.avail + 1 >= i.cap);
		workload_end(w);
	}
}

static void run_crowd(struct workload *w, unsigned n, size_t reply)
{
	for (unsigned k = 0; k < n; k++) {
		const struct job shape = {.filler = 40, .reply_filler = reply};

		job_start(&w->p.cl, workload_add(w, &shape));
	}
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
	for (unsigned k = 0; k < n; k++)
		assert_int_equal(w->job[k].call.status, RR_CALL_OK);
}

/* RR-5.2.3-03: 50 Calls at once, with two or three credits. */
static void few_credits_do_not_stop_the_pulls(void **state)
{
	for (uint32_t credits = 2; credits <= 3; credits++) {
		struct workload *w = new_pair(ON, credits, 4096, MIB);
		struct counts n;

		open_pair(w);
		run_crowd(w, 50, 20000);
		n = counts_of(w);
		assert_int_equal(n.cl.done_sent, 50);
		assert_int_equal(n.sv.done_received, 50);
		assert_int_equal(n.sv.done_dropped, 0);
		assert_int_equal(side_valid_regions(&w->p.sv), 0);
		workload_end(w);
	}
}

/* RR-5.2.3-04: Calls one after the other carry the notifications: the Requester sends
 * its Calls and grants, and one notification after the last Call. */
static void calls_carry_notifications_without_a_credit(void **state)
{
	struct workload *w = new_pair(ON, 8, 4096, MIB);
	struct counts before, n;
	enum { CALLS = 40 };

	w->p.sv.cfg.features.rprc_no_piggyback = false;
	open_pair(w);
	before = counts_of(w);
	for (unsigned k = 0; k < CALLS; k++) {
		const struct job shape = {.filler = 40, .reply_filler = 20000};
		struct job *j = workload_add(w, &shape);

		job_start(&w->p.cl, j);
		pair_run(&w->p);
		assert_int_equal(j->call.status, RR_CALL_OK);
	}
	n = counts_of(w);
	assert_int_equal(n.cl.sends - before.cl.sends, CALLS + n.cl.grants);
	assert_int_equal(n.cl.done_sent, CALLS - 1);
	(void)pair_wait(&w->p, w->p.cl.now + RR_MS(1));
	pair_run(&w->p);
	n = counts_of(w);
	assert_int_equal(n.cl.sends - before.cl.sends, CALLS + n.cl.grants + 1);
	assert_int_equal(n.cl.done_sent, CALLS);
	workload_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(short_replies_cost_no_registration),
	        cmocka_unit_test(only_long_replies_cost_a_registration),
	        cmocka_unit_test(replies_up_to_64_mib_arrive),
	        cmocka_unit_test(a_reply_beyond_its_chunk_arrives),
	        cmocka_unit_test(replies_around_the_threshold_arrive),
	        cmocka_unit_test(a_larger_threshold_exposes_less),
	        cmocka_unit_test(continuation_exposes_no_memory),
	        cmocka_unit_test(continuation_waits_for_credits),
	        cmocka_unit_test(credits_of_notifications_come_back),
	        cmocka_unit_test(few_credits_do_not_stop_the_pulls),
	        cmocka_unit_test(calls_carry_notifications_without_a_credit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
