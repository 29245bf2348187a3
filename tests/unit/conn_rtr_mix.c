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

/* [O13] Calls with nothing to place by Send, and peers that cannot continue a response,
 * leave the base protocol, which needs no length. */
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
		shape.item[1] = 300000; /* is pulled from us */
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
