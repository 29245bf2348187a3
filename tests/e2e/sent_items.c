/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which argument items a Call carries, and which the server reads, as the client's
 * counters tell: with the default options, with others, in version 1, and placed by Send
 * at a server with longer Receives.  The server compares each octet.          [K25]
 */
#include "test_both_ends.h"

enum { KIB = 1024, LIMIT = 32 * KIB };

static struct rpcrdma_stats stats_of(struct rpcrdma_conn *c)
{
	struct rpcrdma_stats s;

	rpcrdma_conn_get_stats(c, &s, sizeof(s));
	return s;
}

/* Sends an item of @len octets, and returns what the client counted meanwhile. */
static struct rpcrdma_stats send_item(struct rpcrdma_conn *c, uint32_t len)
{
	uint8_t *data = malloc(len), head[8];
	struct rpcrdma_piece a[2] = {{head, 8, false}, {data, len, true}};
	struct rpcrdma_stats before = stats_of(c), s;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_SUM, &x);

	assert_non_null(data);
	for (uint32_t i = 0; i < len; i++)
		data[i] = both_pattern(len, i);
	put32(head, len);
	put32(head + 4, len);
	o.args = a;
	o.n_args = 2;
	o.reply_bytes = 4;
	assert_int_equal(both_run(c, &o, &x), 0);
	assert_int_equal(be32(x.results), 1);
	free(data);
	s = stats_of(c);
	s.bytes_read_chunk -= before.bytes_read_chunk;
	s.bytes_continued -= before.bytes_continued;
	s.bytes_placed -= before.bytes_placed;
	s.registrations -= before.registrations;
	return s;
}

static void items_up_to_32_kib_make_one_trip(void **state)
{
	static const uint32_t lens[] = {600, 3900, 4096, 16 * KIB, LIMIT};

	both_start();
	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		assert_int_equal(send_item(both.conn, lens[i]).bytes_read_chunk, 0);
		assert_int_equal(send_item(both.conn, lens[i]).registrations, 0);
	}
	assert_int_equal(send_item(both.conn, 3900).bytes_continued, 0);
	assert_true(send_item(both.conn, 4096).bytes_continued > 4096);
	assert_int_equal(send_item(both.conn, LIMIT + 4).bytes_read_chunk, LIMIT + 4);
}

static void the_user_sets_the_limit(void **state)
{
	both.options.send_item_bytes = 1;
	both_start();
	assert_int_equal(send_item(both.conn, 600).bytes_read_chunk, 600);
	rpcrdma_conn_close(both.conn);
	both.options.send_item_bytes = 1u << 20;
	both_connect(&both.conn);
	assert_int_equal(send_item(both.conn, 64 * KIB).bytes_read_chunk, 0);
}

static void version_1_carries_items_in_one_message(void **state)
{
	both.options.version = 1;
	both_start();
	assert_int_equal(send_item(both.conn, 3900).bytes_read_chunk, 0);
	assert_int_equal(send_item(both.conn, 4096).bytes_read_chunk, 4096);
}

/* An end sends no longer messages than it receives, so both ends have longer Receives. */
static void longer_receives_take_items_by_send(void **state)
{
	both.options.features = both.listen_options.features = "default,rtr-segments=4";
	both_start();
	assert_int_equal(send_item(both.conn, 16 * KIB).bytes_placed, 16 * KIB);
	assert_int_equal(send_item(both.conn, 64 * KIB).bytes_placed, 64 * KIB);
	assert_int_equal(send_item(both.conn, 3900).bytes_placed, 0); /* one message */
	assert_int_equal(send_item(both.conn, 64 * KIB + 4).bytes_read_chunk,
	                 64 * KIB + 4);
}

/* The longer Receives of two connections fit in half of the memory that all connections
 * may take, if the budget is 16 MiB. */
static void the_first_connections_have_longer_receives(void **state)
{
	struct rpcrdma_budget b;
	struct rpcrdma_conn *c[4];

	rpcrdma_budget_set(16u << 20);
	both.options.features = both.listen_options.features = "default,rtr-segments=3";
	both_listen("127.0.0.1:0");
	for (unsigned i = 0; i < 4; i++) {
		both_connect(&c[i]);
		assert_int_equal(send_item(c[i], 12 * KIB).bytes_placed,
		                 i < 2 ? 12 * KIB : 0);
	}
	rpcrdma_budget_get(&b, sizeof(b));
	assert_true(b.connections_bytes > 2 * 66 * 16 * KIB);
	for (unsigned i = 0; i < 4; i++)
		rpcrdma_conn_close(c[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(items_up_to_32_kib_make_one_trip),
	        TEST(the_user_sets_the_limit),
	        TEST(version_1_carries_items_in_one_message),
	        TEST(longer_receives_take_items_by_send),
	        TEST(the_first_connections_have_longer_receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
