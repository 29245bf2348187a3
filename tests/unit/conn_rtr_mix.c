/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections with the feature RTR: calls whose replies have no stated length, and
 * calls of which some items are placed by Send and others by explicit RDMA.  The workload
 * compares each message that arrives, octet by octet.
 */
#include "test_conn_jobs.h"

enum { MSG_TYPE = 0, REQ = 0xffffff15, RESP = 0xffffff16, CONT = 0xffffff17 };
enum { INLINE = 4096, SHORT = 4 * INLINE };

static unsigned n_sent[4]; /* RDMA2_MSG, then the feature's types from REQ */

static void note_sent(struct side *s, const struct side_msg *m)
{
	uint32_t type = rr_load_u32(m->p + 12);

	(void)s;
	n_sent[0] += type == MSG_TYPE;
	if (type >= REQ && type <= CONT)
		n_sent[1 + type - REQ]++;
}

static unsigned count_sent(uint32_t type)
{
	return n_sent[type == MSG_TYPE ? 0 : 1 + type - REQ];
}

/* The server has @n targetable segments of @bytes octets, and the client @own. */
static struct workload *new_pair(uint32_t n, uint32_t bytes, uint32_t own)
{
	struct workload *w = workload_new();
	struct side *both[] = {&w->p.cl, &w->p.sv};

	workload_configure(w, 32, INLINE, 1 << 20, true);
	for (unsigned i = 0; i < 2; i++) {
		both[i]->cfg.features.on = 1u << RR_FEATURE_RTR;
		both[i]->cfg.features.rtr_segments = i ? n : own;
		both[i]->cfg.features.rtr_segment_bytes = bytes;
		both[i]->on_sent = note_sent;
	}
	w->p.cl.cfg.send_bytes = w->p.sv.cfg.send_bytes = 65536;
	return w;
}

static void start_pair(struct workload *w)
{
	pair_new(&w->p, 1);
	pair_run(&w->p);
	memset(n_sent, 0, sizeof(n_sent));
}

static void settle_pair(struct workload *w)
{
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
}

static struct job *run_job(struct workload *w, const struct job *shape, int status)
{
	struct job *j = workload_add(w, shape);

	memset(n_sent, 0, sizeof(n_sent));
	job_start(&w->p.cl, j);
	settle_pair(w);
	assert_true(j->done);
	assert_int_equal(j->call.status, status);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	return j;
}

static struct rr_conn_counters counters(const struct side *s)
{
	struct rr_conn_counters k;

	rr_conn_counters(s->c, &k);
	return k;
}

/* -- replies of unknown length --------------------------------------------- */

static const struct job write_8k = {.filler = 168, .n_items = 1, .item = {8192}};

/* [O13] The caller states no length.  A reply of four inline thresholds fits, whether or
 * not the client has longer Receive buffers than these. */
static void a_short_reply_needs_no_length(void **state)
{
	static const size_t lengths[] = {0, 200, INLINE, SHORT - 8};

	(void)state;
	for (uint32_t own = 0; own < 2; own++)
		for (unsigned i = 0; i < RR_ARRAY_SIZE(lengths); i++) {
			struct workload *w = new_pair(1, 8192, own);
			struct job shape = write_8k;

			shape.reply_filler = lengths[i];
			start_pair(w);
			run_job(w, &shape, RR_CALL_OK);
			assert_int_equal(count_sent(REQ), 1);
			assert_int_equal(count_sent(RESP), 1);
			assert_int_equal(counters(&w->p.cl).registrations, 0);
			assert_int_equal(w->p.sv.n_reads, 0);
			workload_end(w);
		}
}

/* [O13] A reply that is not short draws an error with its length.  A call that may be
 * executed twice is sent again with memory for it. */
static void a_long_reply_needs_a_length(void **state)
{
	struct workload *w = new_pair(1, 8192, 0);
	struct job shape = write_8k, *j;

	(void)state;
	shape.reply_filler = 40000;
	shape.flags = RR_CALL_IDEMPOTENT;
	start_pair(w);
	j = run_job(w, &shape, RR_CALL_REMOTE_ERROR);
	assert_int_equal(j->call.error.code, RDMA2_ERR_REPLY_RESOURCE);
	assert_int_equal(j->call.error.arg[0], 40008);
	assert_true(rr_call_recover(w->p.cl.c, &j->call));
	assert_int_equal(j->call.recovery.reply_bytes, 40008);
	workload_end(w);
}

/* [O13] A Call uses the base protocol, which needs no length, if no item is placed by
 * Send, or if the peer cannot continue a response. */
static void without_placement_the_base_protocol_is_used(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct workload *w = new_pair(i == 1 ? 0 : 1, 8192, 0);
		struct job shape = write_8k;

		shape.n_items = i ? 1 : 0;
		shape.filler = i ? 168 : 20000;
		shape.reply_filler = 40000;
		w->p.cl.cfg.features.rtr_no_continuation = i == 2;
		start_pair(w);
		run_job(w, &shape, RR_CALL_OK);
		assert_int_equal(count_sent(REQ), 0);
		workload_end(w);
	}
}

/* [O13] When the Receives for such replies are all reserved, further calls use base header
 * types, and do not wait until a reply comes. */
static void unknown_replies_make_no_call_wait(void **state)
{
	struct workload *w = new_pair(1, 8192, 0);
	unsigned groups, plain;

	(void)state;
	w->hold = true;
	start_pair(w);
	for (unsigned i = 0; i < 10; i++)
		job_start(&w->p.cl, workload_add(w, &write_8k));
	settle_pair(w);
	groups = count_sent(REQ);
	plain = count_sent(MSG_TYPE);
	assert_int_equal(groups, 6); /* 5 Receives for each, of 30 */
	assert_int_equal(plain, 4);
	assert_int_equal(w->n_held, 10);
	w->hold = false;
	workload_answer_held(w);
	settle_pair(w);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	run_job(w, &write_8k, RR_CALL_OK);
	workload_end(w);
}

/* With the feature RPRC as well, a reply that is too long for the response is exposed and
 * pulled, and no call fails.  If a result is directed, there must be a response. */
static void a_long_reply_is_pulled(void **state)
{
	(void)state;
	for (unsigned directed = 0; directed < 2; directed++) {
		struct workload *w = new_pair(1, 8192, 1);
		struct job shape = write_8k;

		w->p.cl.cfg.features.on |= 1u << RR_FEATURE_RPRC;
		w->p.sv.cfg.features.on |= 1u << RR_FEATURE_RPRC;
		shape.reply_filler = 100000;
		shape.item[1] = 300000; /* the server pulls this item */
		shape.n_items = 2;
		shape.n_dests = directed;
		shape.dest[0] = 8192;
		shape.direct = RR_DIRECT_SEND;
		start_pair(w);
		run_job(w, &shape, directed ? RR_CALL_REMOTE_ERROR : RR_CALL_OK);
		assert_int_equal(count_sent(REQ), 1);
		assert_int_equal(count_sent(RESP), 0);
		assert_int_equal(counters(&w->p.sv).rprc_exposed, !directed);
		assert_int_equal(counters(&w->p.cl).bytes_reply_pulled,
		                 directed ? 0 : 100008);
		assert_int_equal(counters(&w->p.cl).done_sent, !directed);
		run_job(w, &write_8k, RR_CALL_OK);
		workload_end(w);
	}
}

/* The memory of such a reply cannot be registered: the caller learns its length. */
static void a_reply_that_cannot_be_exposed_is_an_error(void **state)
{
	struct workload *w = new_pair(1, 8192, 1);
	struct job shape = write_8k, *j;

	(void)state;
	w->p.cl.cfg.features.on |= 1u << RR_FEATURE_RPRC;
	w->p.sv.cfg.features.on |= 1u << RR_FEATURE_RPRC;
	w->p.sv.fail_register = -EIO;
	shape.reply_filler = 100000;
	start_pair(w);
	j = run_job(w, &shape, RR_CALL_REMOTE_ERROR);
	assert_int_equal(j->call.error.code, RDMA2_ERR_REPLY_RESOURCE);
	assert_int_equal(j->call.error.arg[0], 100008);
	workload_end(w);
}

/* -- mixed items ----------------------------------------------------------- */

/* NS-s14-01, NS-s20-03: the item that is too long for the group is pulled, wherever it
 * is; the others are placed by Send. */
static void too_long_an_item_is_pulled(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 3; at++) {
		struct workload *w = new_pair(2, 8192, 2);
		struct job shape = {.filler = 100,
		                    .n_items = 3,
		                    .item = {8192, 4097, 700},
		                    .reply_bytes = 200};
		size_t placed = 8192 + 4097 + 700 - shape.item[at];

		shape.item[at] = 500001;
		start_pair(w);
		run_job(w, &shape, RR_CALL_OK);
		assert_int_equal(count_sent(REQ), 1);
		assert_int_equal(counters(&w->p.cl).registrations, 1);
		assert_int_equal(counters(&w->p.sv).bytes_pulled, 500001);
		assert_int_equal(counters(&w->p.sv).bytes_placed, placed);
		workload_end(w);
	}
}

/* NS-s20-03: of items that do not fit together, the longest are pulled, so that as few
 * as possible are; of equal ones, the last. */
static void the_longest_items_are_pulled(void **state)
{
	static const struct {
		size_t item[4], placed, pulled;
	} rows[] = {
	        {{8192, 8192, 8192, 8192}, 2 * 8192, 2 * 8192},
	        {{16384, 1000, 8192, 600}, 600 + 1000, 16384 + 8192},
	        {{600, 16384, 0, 16384}, 600, 2 * 16384},
	        {{16384, 16384, 16384, 16384}, 16384, 3 * 16384},
	};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct workload *w = new_pair(1, 8192, 1);
		struct job shape = {.filler = 100, .n_items = 4, .reply_bytes = 200};

		w->p.sv.cfg.features.rtr_requests = 2; /* two segments */
		memcpy(shape.item, rows[i].item, sizeof(shape.item));
		start_pair(w);
		run_job(w, &shape, RR_CALL_OK);
		assert_int_equal(count_sent(REQ), 1);
		assert_int_equal(counters(&w->p.sv).bytes_placed, rows[i].placed);
		assert_int_equal(counters(&w->p.sv).bytes_pulled, rows[i].pulled);
		workload_end(w);
	}
}

/* The memory for a pulled item may be the user's. */
static void a_pulled_item_lands_in_the_users_memory(void **state)
{
	struct workload *w = new_pair(2, 8192, 2);
	const struct job shape = {.filler = 100,
	                          .n_items = 2,
	                          .item = {300000, 8192},
	                          .user_sinks = true,
	                          .reply_bytes = 200};
	struct job *j;

	(void)state;
	start_pair(w);
	j = run_job(w, &shape, RR_CALL_OK);
	assert_int_equal(count_sent(REQ), 1);
	assert_non_null(j->sink[0]);
	workload_end(w);
}

/* -- results that stay where they arrived ---------------------------------- */

static struct job lent_read(size_t len)
{
	return (struct job){.filler = 40,
	                    .n_results = 1,
	                    .result = {len},
	                    .n_dests = 1,
	                    .dest = {len},
	                    .direct = RR_DIRECT_FIT,
	                    .lend = true,
	                    .reply_filler = 80,
	                    .reply_bytes = 200};
}

/* NS-s17-01, NS-s11-06: a READ of 8 KiB without a copy, a registration or RDMA. */
static void a_result_is_lent(void **state)
{
	struct workload *w = new_pair(2, 4096, 2);
	const struct job shape = lent_read(8192);
	struct job *j;

	(void)state;
	start_pair(w);
	j = run_job(w, &shape, RR_CALL_OK);
	assert_int_equal(j->n_lent, 1);
	assert_int_equal(count_sent(REQ), 1);
	assert_int_equal(count_sent(RESP), 1);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	assert_int_equal(counters(&w->p.cl).bytes_copied, 0);
	assert_int_equal(counters(&w->p.cl).bytes_placed, 8192);
	assert_int_equal(w->p.sv.n_writes, 0);
	workload_end(w);
}

/* Three kinds of results are copied to the memory given: results that are not
 * contiguous, results that fill less than half of their segment, and all results if the
 * user does not allow lending. [ext §5.4] */
static void other_results_are_copied(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct workload *w = new_pair(2, 4096, 2);
		struct job shape = lent_read(i == 0 ? 8193 : i == 1 ? 2047 : 8192);
		struct job *j;

		shape.lend = i < 2;
		start_pair(w);
		j = run_job(w, &shape, RR_CALL_OK);
		assert_int_equal(j->n_lent, 0);
		assert_int_equal(counters(&w->p.cl).bytes_copied, shape.result[0]);
		assert_int_equal(counters(&w->p.cl).registrations, 0);
		workload_end(w);
	}
}

/* The limits of what can be lent: half of a segment, a full buffer; and of what the
 * response can hold: as many transmissions as the peer sends.  Longer results are
 * written to the memory given, by a Write chunk of the base protocol. */
static void results_at_the_limits(void **state)
{
	static const struct {
		size_t len;
		unsigned lent, groups;
	} rows[] = {{2048, 1, 1},  {4096, 1, 1},  {8192, 1, 1}, {1, 0, 1},
	            {32768, 0, 1}, {32769, 0, 0}, {0, 0, 1}};

	(void)state;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct workload *w = new_pair(2, 4096, 2);
		struct job shape = lent_read(rows[i].len);
		struct job *j;

		w->p.sv.cfg.features.rtr_responses = 4;
		shape.dest[0] = RR_MAX(rows[i].len, (size_t)1);
		start_pair(w);
		j = run_job(w, &shape, RR_CALL_OK);
		assert_int_equal(j->n_lent, rows[i].lent);
		assert_int_equal(count_sent(REQ), rows[i].groups);
		assert_int_equal(counters(&w->p.cl).registrations, !rows[i].groups);
		assert_int_equal(w->p.sv.n_writes, !rows[i].groups);
		workload_end(w);
	}
}

/* Several results: those that fit are placed by Send, the longest are written. */
static void the_longest_results_are_written(void **state)
{
	struct workload *w = new_pair(2, 8192, 2);
	struct job shape = lent_read(8192), *j;

	(void)state;
	shape.n_results = shape.n_dests = 4;
	shape.result[1] = shape.dest[1] = 400000;
	shape.result[2] = shape.dest[2] = 8192;
	shape.result[3] = shape.dest[3] = 4096;
	start_pair(w);
	j = run_job(w, &shape, RR_CALL_OK);
	assert_int_equal(count_sent(REQ), 1);
	assert_int_equal(j->n_lent, 3);
	assert_int_equal(counters(&w->p.cl).registrations, 1);
	assert_int_equal(counters(&w->p.cl).bytes_write_chunk, 400000);
	assert_int_equal(counters(&w->p.cl).bytes_placed, 8192 + 8192 + 4096);
	workload_end(w);
}

/* The base protocol's Write chunk is used if one end has the feature off, has no
 * segments, or does not place results. */
static void without_placement_there_is_a_write_chunk(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct workload *w = new_pair(2, 8192, i == 2 ? 0 : 2);
		const struct job shape = lent_read(8192);
		struct job *j;

		if (i < 2)
			(i ? &w->p.sv : &w->p.cl)->cfg.features.on = 0;
		w->p.sv.cfg.features.rtr_no_send_results = i == 3;
		start_pair(w);
		j = run_job(w, &shape, RR_CALL_OK);
		assert_int_equal(j->n_lent, 0);
		assert_int_equal(count_sent(REQ), 0);
		assert_int_equal(counters(&w->p.cl).registrations, 1);
		assert_int_equal(w->p.sv.n_writes, 1);
		workload_end(w);
	}
}

/* [O13] Without a stated length a lent result reserves Receives, or is written. */
static void lent_results_make_no_call_wait(void **state)
{
	struct workload *w = new_pair(2, 8192, 2);
	struct job shape = lent_read(8192);
	unsigned lent = 0;

	(void)state;
	shape.reply_bytes = 0;
	w->hold = true;
	start_pair(w);
	for (unsigned i = 0; i < 31; i++)
		job_start(&w->p.cl, workload_add(w, &shape));
	settle_pair(w);
	assert_int_equal(count_sent(REQ), 15);
	assert_int_equal(w->n_held, 31);
	w->hold = false;
	workload_answer_held(w);
	settle_pair(w);
	for (unsigned i = 0; i < 31; i++)
		lent += w->job[i].n_lent;
	assert_int_equal(lent, 15);
	workload_end(w);
}

static unsigned kept;
static struct rr_call *kept_call[MAX_CALLS];

static void keep_call(struct side *s, struct rr_call *call)
{
	(void)s;
	assert_int_equal(call->status, RR_CALL_OK);
	kept_call[kept++] = call;
}

/* Results stay lent until the calls are released, also after the connection is lost; the
 * number of posted Receives does not fall. */
static void results_outlive_the_connection(void **state)
{
	struct workload *w = new_pair(2, 8192, 2);
	const struct job shape = lent_read(16384);
	struct rr_conn_info before, after;
	uint8_t copy[4][16384];

	(void)state;
	start_pair(w);
	w->p.cl.on_call_done = keep_call;
	rr_conn_info(w->p.cl.c, &before);
	kept = 0;
	for (unsigned i = 0; i < 4; i++) {
		job_start(&w->p.cl, workload_add(w, &shape));
		settle_pair(w);
		assert_int_equal(kept, i + 1);
		assert_ptr_not_equal(kept_call[i]->dests[0].ret_base,
		                     kept_call[i]->dests[0].base);
		memcpy(copy[i], kept_call[i]->dests[0].ret_base, 16384);
	}
	rr_conn_info(w->p.cl.c, &after);
	assert_int_equal(after.receives_posted, before.receives_posted);
	pair_lose(&w->p, -ECONNRESET);
	side_drain(&w->p.cl);
	for (unsigned i = 0; i < 4; i++) {
		assert_memory_equal(copy[i], kept_call[i]->dests[0].ret_base, 16384);
		rr_conn_call_release(w->p.cl.c, kept_call[i], w->p.cl.now);
		w->job[i].done = true;
	}
	side_drain(&w->p.cl);
	workload_end(w);
}

/* A response in several transmissions is charged to the quota as long as it is lent. */
static void lent_groups_are_charged(void **state)
{
	struct workload *w = new_pair(2, 8192, 2);
	struct job shape = lent_read(16384);
	struct rr_conn_info info;

	(void)state;
	shape.reply_filler = 40000;
	shape.reply_bytes = 40100;
	start_pair(w);
	w->p.cl.on_call_done = keep_call;
	kept = 0;
	job_start(&w->p.cl, workload_add(w, &shape));
	settle_pair(w);
	rr_conn_info(w->p.cl.c, &info);
	assert_true(info.held_bytes > 40000 + 16384);
	rr_conn_call_release(w->p.cl.c, kept_call[0], w->p.cl.now);
	w->job[0].done = true;
	rr_conn_info(w->p.cl.c, &info);
	assert_int_equal(info.held_bytes, 0);
	workload_end(w);
}

/* The Responder finds no credits for the items of its response: a call that may be
 * executed twice is sent again in the base protocol. */
static void results_that_find_no_credits_are_asked_for_again(void **state)
{
	struct rr_error e = {.code = RDMA2_ERR_REPLY_RESOURCE};

	(void)state;
	for (unsigned twice = 0; twice < 2; twice++) {
		struct workload *w = new_pair(1, 8192, 1);
		struct job shape = lent_read(65536), *j;

		shape.flags = twice ? RR_CALL_IDEMPOTENT : 0;
		w->hold = true;
		start_pair(w);
		j = workload_add(w, &shape);
		job_start(&w->p.cl, j);
		settle_pair(w);
		assert_int_equal(w->n_held, 1);
		rr_conn_refuse(w->p.sv.c, w->held[0], &e, w->p.sv.now);
		w->n_held = 0;
		side_drain(&w->p.sv);
		settle_pair(w);
		assert_int_equal(j->call.status, RR_CALL_REMOTE_ERROR);
		assert_int_equal(rr_call_recover(w->p.cl.c, &j->call), twice);
		workload_end(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_short_reply_needs_no_length),
	        cmocka_unit_test(a_long_reply_needs_a_length),
	        cmocka_unit_test(a_long_reply_is_pulled),
	        cmocka_unit_test(a_reply_that_cannot_be_exposed_is_an_error),
	        cmocka_unit_test(without_placement_the_base_protocol_is_used),
	        cmocka_unit_test(unknown_replies_make_no_call_wait),
	        cmocka_unit_test(too_long_an_item_is_pulled),
	        cmocka_unit_test(the_longest_items_are_pulled),
	        cmocka_unit_test(a_pulled_item_lands_in_the_users_memory),
	        cmocka_unit_test(a_result_is_lent),
	        cmocka_unit_test(other_results_are_copied),
	        cmocka_unit_test(results_at_the_limits),
	        cmocka_unit_test(the_longest_results_are_written),
	        cmocka_unit_test(without_placement_there_is_a_write_chunk),
	        cmocka_unit_test(lent_results_make_no_call_wait),
	        cmocka_unit_test(results_outlive_the_connection),
	        cmocka_unit_test(lent_groups_are_charged),
	        cmocka_unit_test(results_that_find_no_credits_are_asked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
