/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which Calls carry their items themselves, and which have Read chunks: by the length of
 * the items, the version and the credits.  The arguments that arrive are compared octet
 * by octet. [K25]
 */
#include "test_conn_jobs.h"

enum { LIMIT = 16384, CREDITS = 32, RECV = 4096 };

static struct workload *w;
static struct rr_conn_counters client, server;

/* @most: octets of items that a Call carries. */
static void begin(uint32_t most, uint32_t credits, unsigned versions)
{
	client = server = (struct rr_conn_counters){0};
	w = workload_new();
	workload_configure(w, credits, RECV, 1 << 20, false);
	w->p.cl.cfg.send_item_bytes = most;
	w->p.cl.cfg.versions = w->p.sv.cfg.versions = versions;
	w->p.no_conservation = versions == RR_CONN_V1; /* it counts transactions */
}

static void end(void)
{
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	workload_end(w);
}

static void run_job(const struct job *shape)
{
	assert_int_equal(workload_run(w, shape), RR_CALL_OK);
	rr_conn_counters(w->p.cl.c, &client);
	rr_conn_counters(w->p.sv.c, &server);
}

static struct job one_item(size_t len)
{
	return (struct job){
	        .filler = 100, .n_items = 1, .item = {len}, .reply_bytes = 100};
}

/* Returns how many octets the peer fetched by RDMA Read. */
static uint64_t fetched(struct job shape)
{
	uint64_t before = client.bytes_read_chunk;

	run_job(&shape);
	return client.bytes_read_chunk - before;
}

static void items_up_to_the_limit_are_carried(void **state)
{
	begin(LIMIT, CREDITS, RR_CONN_V2);
	assert_int_equal(fetched(one_item(600)), 0);
	assert_int_equal(fetched(one_item(LIMIT)), 0);
	assert_int_equal(client.registrations, 0);
	assert_int_equal(fetched(one_item(LIMIT + 1)), LIMIT + 1);
	end();
}

static void a_call_in_one_message_is_not_copied(void **state)
{
	begin(LIMIT, CREDITS, RR_CONN_V2);
	assert_int_equal(fetched(one_item(3800)), 0);
	assert_int_equal(client.bytes_continued, 0);
	assert_int_equal(server.bytes_collected, 0);
	assert_int_equal(fetched(one_item(RECV)), 0);
	assert_true(client.bytes_continued > RECV);
	end();
}

static void the_items_of_a_call_count_together(void **state)
{
	struct job j = {.filler = 100, .n_items = 2, .item = {LIMIT / 2, LIMIT / 2}};

	begin(LIMIT, CREDITS, RR_CONN_V2);
	assert_int_equal(fetched(j), 0);
	j.item[1]++;
	assert_int_equal(fetched(j), LIMIT + 1);
	end();
}

static void without_a_limit_every_item_is_a_read_chunk(void **state)
{
	begin(0, CREDITS, RR_CONN_V2);
	assert_int_equal(fetched(one_item(600)), 600);
	end();
}

/* With four credits, a Call of five messages would wait for the server. */
static void without_enough_credits_items_are_read_chunks(void **state)
{
	begin(LIMIT, 4, RR_CONN_V2);
	assert_int_equal(fetched(one_item(3 * RECV)), 0);
	assert_int_equal(fetched(one_item(LIMIT)), LIMIT);
	end();
}

/* Version 1 cannot continue a Call.  Without private data its messages have at most 1024
 * octets. */
static void version_1_carries_items_in_one_message(void **state)
{
	begin(LIMIT, CREDITS, RR_CONN_V1);
	assert_int_equal(fetched(one_item(800)), 0);
	assert_int_equal(client.registrations, 0);
	assert_int_equal(fetched(one_item(1024)), 1024);
	end();
}

static void special_calls_reduce_their_items(void **state)
{
	struct job j = one_item(2000);

	j.flags = RR_CALL_WHOLE;
	begin(LIMIT, CREDITS, RR_CONN_V2);
	assert_int_equal(fetched(j), 2000);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(items_up_to_the_limit_are_carried),
	        cmocka_unit_test(a_call_in_one_message_is_not_copied),
	        cmocka_unit_test(the_items_of_a_call_count_together),
	        cmocka_unit_test(without_a_limit_every_item_is_a_read_chunk),
	        cmocka_unit_test(without_enough_credits_items_are_read_chunks),
	        cmocka_unit_test(version_1_carries_items_in_one_message),
	        cmocka_unit_test(special_calls_reduce_their_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
