/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that move as a whole where the peer lets them, by a Position Zero chunk whose
 * long runs are pulled from where they lie, and Replies that have a chunk however short
 * they are.  What arrives is compared octet by octet.
 */
#include "test_conn_jobs.h"

static struct workload *w;
static struct rr_conn_counters client;

/* The server's limits; 0 = defaults. */
static void begin(uint32_t segment, uint32_t max_segments)
{
	w = workload_new();
	workload_configure(w, 32, 4096, segment, false);
	if (max_segments)
		w->p.sv.cfg.max_segments = max_segments;
}

static void end(void)
{
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	workload_end(w);
}

static int run_one(const struct job *shape)
{
	int status = workload_run(w, shape);

	rr_conn_counters(w->p.cl.c, &client);
	return status;
}

/* Three long runs, one of them with padding, and what is between them. */
static const struct job three_runs = {
        .flags = RR_CALL_WHOLE | RR_CALL_NO_REDUCE,
        .filler = 70000,
        .n_items = 3,
        .item = {65537, 3, 70001},
};

static void long_runs_are_pulled_from_where_they_lie(void **state)
{
	begin(1 << 20, 0);
	assert_int_equal(run_one(&three_runs), RR_CALL_OK);
	assert_int_equal(client.registrations, 5);
	assert_true(client.bytes_special_call > 3 * 65536);
	assert_int_equal(client.bytes_read_chunk, 0);
	end();
}

/* An empty item between two of them is nothing to copy. */
static void an_empty_item_is_nothing_to_copy(void **state)
{
	struct job j = three_runs;

	j.item[1] = 0;
	begin(1 << 20, 0);
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.registrations, 5);
	end();
}

/* ... up to a number of runs, then they are copied with what is between. */
static void runs_are_few(void **state)
{
	struct job j = three_runs;

	j.n_items = 4;
	for (unsigned i = 0; i < 4; i++)
		j.item[i] = 66000;
	begin(1 << 20, 0);
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.registrations, 4 + 3); /* and behind three of them */
	end();
}

static void with_few_segments_the_runs_are_copied(void **state)
{
	for (uint32_t most = 1; most <= 5; most++) { /* the fifth is padding alone */
		begin(1 << 20, most);
		assert_int_equal(run_one(&three_runs), RR_CALL_OK);
		assert_int_equal(client.registrations, most < 5 ? 1 : 5);
		assert_true(client.bytes_special_call > 3 * 65536);
		end();
	}
}

static void with_too_few_segments_it_is_continued(void **state)
{
	struct job j = three_runs;

	begin(9001, 16);
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.registrations, 0);
	assert_int_equal(client.bytes_special_call, 0);
	assert_true(client.bytes_continued > 3 * 65536);
	j.flags = RR_CALL_SPECIAL | RR_CALL_NO_REDUCE; /* who insists is refused */
	assert_int_equal(run_one(&j), -EMSGSIZE);
	end();
}

/* Items that are reduced are no part of it. */
static void items_move_on_their_own(void **state)
{
	struct job j = three_runs;

	j.flags = RR_CALL_WHOLE;
	begin(1 << 20, 0);
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.bytes_read_chunk, 65537 + 70001);
	assert_true(client.bytes_special_call > 70000 &&
	            client.bytes_special_call < 71000);
	end();
}

static void a_short_reply_has_a_chunk_where_room_is_wanted(void **state)
{
	struct job j = {.reply_filler = 6000, .reply_bytes = 8000};

	begin(1 << 20, 0);
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.bytes_reply_chunk, 0);
	j.flags = RR_CALL_ROOM;
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.bytes_reply_chunk, 6008);
	j.reply_filler = 20000; /* more than there is room for */
	assert_int_equal(run_one(&j), RR_CALL_OK);
	assert_int_equal(client.bytes_reply_chunk, 6008);
	assert_true(client.bytes_continued >= 20000);
	end();
}

/* Runs a call with room for 8000 octets of Reply; was the memory of it taken? */
static bool take_one(struct job j)
{
	j.flags = RR_CALL_ROOM;
	j.reply_bytes = 8000;
	j.take = true;
	assert_int_equal(run_one(&j), RR_CALL_OK);
	return w->job[w->n_jobs - 1].taken;
}

static void the_memory_of_a_reply_chunk_can_be_taken(void **state)
{
	const struct job larger = {.reply_filler = 6000,
	                           .call.recovery.reply_bytes = 9000};

	begin(1 << 20, 0);
	assert_true(take_one((struct job){.reply_filler = 6000}));
	assert_false(take_one((struct job){.reply_filler = 100}));   /* inline */
	assert_false(take_one((struct job){.reply_filler = 20000})); /* in parts */
	assert_false(take_one(larger));                              /* it is counted */
	end();
}

static void a_special_call_has_a_limit_of_its_own(void **state)
{
	struct job j = {.flags = RR_CALL_WHOLE, .filler = 90000};

	begin(1 << 20, 0);
	w->p.sv.cfg.max_message_bytes = 50000;
	w->p.sv.cfg.max_special_bytes = 100000;
	assert_int_equal(run_one(&j), RR_CALL_OK);
	j.filler = 120000;
	assert_int_equal(run_one(&j), RR_CALL_REMOTE_ERROR);
	j.flags = 0; /* in parts: the other limit */
	j.filler = 90000;
	assert_int_equal(run_one(&j), RR_CALL_REMOTE_ERROR);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(long_runs_are_pulled_from_where_they_lie),
	        cmocka_unit_test(an_empty_item_is_nothing_to_copy),
	        cmocka_unit_test(runs_are_few),
	        cmocka_unit_test(with_few_segments_the_runs_are_copied),
	        cmocka_unit_test(with_too_few_segments_it_is_continued),
	        cmocka_unit_test(items_move_on_their_own),
	        cmocka_unit_test(a_short_reply_has_a_chunk_where_room_is_wanted),
	        cmocka_unit_test(the_memory_of_a_reply_chunk_can_be_taken),
	        cmocka_unit_test(a_special_call_has_a_limit_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
