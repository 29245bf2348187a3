/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results by Send as a program sees them, over software iWARP.  Results are lent in the
 * Receive buffers in which they arrived (lend_results), without a registration.
 * Results that cannot be lent are copied or written.  Each result is checked within
 * the done function, octet by octet.
 */
#include "test_both_ends.h"

#include <rpcrdma/cursor.h>

enum { LEND_PROG = PROG + 1, P_READ = 1, MOST = 4, ROOM = 1 << 20 };
enum { SEGMENT = 4096, BUFFER = 4 * SEGMENT };

#define SEGMENTS "rtr,rtr-segments=4"

static uint8_t memory[MOST][ROOM];
static struct rpcrdma_dest dest[MOST];
static size_t want[MOST];
static unsigned n_want;
static uint64_t rooms[MOST]; /* rpcrdma_request_result_room, at the server */

/* Arguments: the lengths of the results.  Results: octets of these lengths. */
static void h_read(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_piece r[2 * MOST];
	struct rpcrdma_cursor c;
	unsigned n = 0;

	(void)arg;
	rpcrdma_request_cursor(q, &c);
	while (rpcrdma_cursor_left(&c)) {
		uint32_t len = rpcrdma_cursor_u32(&c);
		uint8_t *p = rpcrdma_request_alloc(q, 4 + (size_t)len + 1);

		assert_non_null(p);
		rooms[n / 2] = rpcrdma_request_result_room(q, n / 2);
		put32(p, len);
		for (uint32_t i = 0; i < len; i++)
			p[4 + i] = both_pattern(n / 2, i);
		r[n++] = (struct rpcrdma_piece){p, 4, false};
		r[n++] = (struct rpcrdma_piece){p + 4, len, true};
	}
	assert_int_equal(rpcrdma_request_reply(q, r, n, NULL, NULL), 0);
}

static const struct rpcrdma_procedure lend_procs[] = {
        [P_READ] = {"READ", h_read, 0, MOST, 0, false},
};
static const struct rpcrdma_program lend_program = {LEND_PROG, VERS, lend_procs, 2};

static unsigned lent;

static void check_results(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                          void *arg)
{
	struct rpcrdma_cursor c;

	lent = 0;
	rpcrdma_reply_cursor(r, &c);
	for (unsigned i = 0; !r->status && i < n_want; i++) {
		uint32_t len;
		const uint8_t *p = rpcrdma_cursor_dest(&c, &r->dests[i], &len);

		assert_non_null(p);
		assert_int_equal(len, want[i]);
		lent += len && r->dests[i].ret_base != memory[i];
		for (uint32_t at = 0; at < len; at++)
			assert_int_equal(p[at], both_pattern(i, at));
	}
	assert_true(r->status || !rpcrdma_cursor_end(&c));
	both_on_done(k, r, arg);
}

static struct rpcrdma_call_options call_read(struct wait *x, unsigned n,
                                             const size_t *lengths)
{
	static uint8_t args[4 * MOST];
	static struct rpcrdma_piece piece;
	struct rpcrdma_call_options o = both_call(P_READ, x);

	n_want = n;
	for (unsigned i = 0; i < n; i++) {
		want[i] = lengths[i];
		put32(args + (size_t)4 * i, (uint32_t)lengths[i]);
		dest[i] = (struct rpcrdma_dest){.base = memory[i], .len = want[i]};
		memset(memory[i], 0xee, ROOM);
	}
	piece = (struct rpcrdma_piece){args, 4 * (size_t)n, false};
	o.program = LEND_PROG;
	o.args = &piece;
	o.n_args = 1;
	o.dests = dest;
	o.n_dests = n;
	o.lend_results = UINT64_MAX;
	o.reply_bytes = 100;
	o.done = check_results;
	return o;
}

static struct rpcrdma_stats client_stats(void)
{
	struct rpcrdma_stats s;

	rpcrdma_conn_get_stats(both.conn, &s, sizeof(s));
	return s;
}

static void start_with(const char *client, const char *server)
{
	both.options.features = client;
	both.listen_options.features = server;
	assert_int_equal(rpcrdma_service_add(both.service, &lend_program, NULL), 0);
	both_start();
}

/* Reads results of these lengths.  Returns how many were lent. */
static unsigned read_lengths(unsigned n, const size_t *lengths)
{
	struct wait x;
	struct rpcrdma_call_options o = call_read(&x, n, lengths);

	assert_int_equal(both_run(both.conn, &o, &x), 0);
	return lent;
}

static unsigned read_one(size_t len)
{
	return read_lengths(1, &len);
}

/* One message each way, and neither registration, nor RDMA, nor copy. */
static void a_read_of_8k_is_lent(void **state)
{
	struct rpcrdma_stats before, after;

	start_with(SEGMENTS, SEGMENTS);
	before = client_stats();
	assert_int_equal(read_one(8192), 1);
	after = client_stats();
	assert_int_equal(after.sends - before.sends, 1);
	assert_int_equal(after.recvs - before.recvs, 1);
	assert_int_equal(after.registrations, before.registrations);
	assert_int_equal(after.bytes_copied, before.bytes_copied);
	assert_int_equal(after.bytes_placed - before.bytes_placed, 8192);
	assert_int_equal(memory[0][0], 0xee);
	assert_int_equal(rooms[0], BUFFER);
}

static void many_results_are_lent(void **state)
{
	static const size_t lengths[] = {4096, 3000, 2048, 4096},
	                    mixed[] = {4096, 300000, 100, 8192};
	struct rpcrdma_stats before, after;

	start_with(SEGMENTS, SEGMENTS);
	assert_int_equal(read_lengths(4, lengths), 4);
	before = client_stats();
	assert_int_equal(before.registrations, 0);
	assert_int_equal(read_lengths(4, mixed), 2); /* one is long and one short */
	after = client_stats();
	assert_int_equal(after.registrations, 1);
	assert_int_equal(after.bytes_write_chunk - before.bytes_write_chunk, 300000);
	assert_int_equal(after.bytes_copied - before.bytes_copied, 100);
}

/* Half of a segment, a whole buffer, more than that, and the longest response. */
static void results_at_the_limits(void **state)
{
	static const struct {
		size_t len;
		unsigned lent, registrations;
	} rows[] = {
	        {0, 0, 0},
	        {1, 0, 0},
	        {SEGMENT / 2 - 1, 0, 0},
	        {SEGMENT / 2, 1, 0},
	        {BUFFER, 1, 0},
	        {BUFFER + 1, 0, 0},
	        {4 * BUFFER, 0, 0},
	        {4 * BUFFER + 1, 0, 1},
	};

	start_with(SEGMENTS, SEGMENTS ",rtr-responses=4");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t before = client_stats().registrations;

		assert_int_equal(read_one(rows[i].len), rows[i].lent);
		assert_int_equal(client_stats().registrations - before,
		                 rows[i].registrations);
	}
}

/* Without the feature or segments at one end, the results are written to the memory
 * given.  (A server needs segments since they determine how long its Sends may be.) */
static void without_the_feature_results_are_written(void **state)
{
	static const char *const ends[][2] = {{NULL, NULL},
	                                      {"none", SEGMENTS},
	                                      {SEGMENTS, "none"},
	                                      {"rtr", SEGMENTS},
	                                      {SEGMENTS, "rtr"}};

	for (unsigned i = 0; i < 5; i++) {
		if (i) {
			assert_int_equal(both_tear_down(state), 0);
			assert_int_equal(both_set_up(state), 0);
		}
		start_with(ends[i][0], ends[i][1]);
		assert_int_equal(read_one(8192), 0);
		assert_int_equal(memory[0][8191], both_pattern(0, 8191));
		assert_int_equal(client_stats().registrations, 1);
		assert_int_equal(rooms[0], 8192);
	}
}

/* In version 1 as well. */
static void in_version_1_results_are_written(void **state)
{
	both.options.version = 1;
	start_with(SEGMENTS, SEGMENTS);
	assert_int_equal(read_one(8192), 0);
	assert_int_equal(memory[0][8191], both_pattern(0, 8191));
}

/* Many calls at a time, without a stated length: each gets its result by one way or the
 * other, and no Receive is lost. */
static void many_calls_at_a_time(void **state)
{
	enum { CALLS = 40 };
	static struct wait x[CALLS];
	static struct rpcrdma_dest dests[CALLS];
	static const size_t len = 8192;
	uint64_t placed;

	start_with(SEGMENTS, SEGMENTS);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < CALLS; i++) {
			struct rpcrdma_call_options o = call_read(&x[i], 1, &len);

			dests[i] = (struct rpcrdma_dest){.base = memory[1] + i * len,
			                                 .len = len};
			o.dests = &dests[i];
			o.reply_bytes = 0;
			o.done = both_on_done;
			assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
		}
		for (unsigned i = 0; i < CALLS; i++) {
			both_spin_until(&x[i].done, 1);
			assert_int_equal(x[i].status, 0);
			assert_int_equal(dests[i].ret_len, len);
		}
	}
	placed = client_stats().bytes_placed;
	assert_true(placed > 10 * len);
	assert_int_equal(read_one(len), 1);
}

/* A server that returns more than the client has memory for breaks the protocol. */
static void a_result_longer_than_its_memory_is_an_error(void **state)
{
	const size_t len = 8192;
	struct wait x;
	struct rpcrdma_call_options o;

	start_with(SEGMENTS, SEGMENTS);
	o = call_read(&x, 1, &len);
	dest[0].len = 8000;
	assert_int_equal(both_run(both.conn, &o, &x), RPCRDMA_TRANSPORT_ERROR);
	assert_int_equal(x.reply.transport_error, RPCRDMA_ERR_WRITE_RESOURCE);
	assert_int_equal(x.reply.b, len);
	o = call_read(&x, 1, &len);
	dest[0].len = 8000;
	o.idempotent = true; /* so that the library provides more memory */
	o.done = both_on_done;
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(dest[0].ret_len, len);
	assert_ptr_not_equal(dest[0].ret_base, memory[0]);
	assert_int_equal(read_one(8192), 1);
}

/* Only results that the mask names are lent. */
static void the_mask_names_destinations(void **state)
{
	static const size_t lengths[] = {4096, 4096, 4096};
	struct wait x;
	struct rpcrdma_call_options o;

	start_with(SEGMENTS, SEGMENTS);
	o = call_read(&x, 3, lengths);
	o.lend_results = 1 << 1;
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(lent, 1);
	assert_ptr_equal(dest[0].ret_base, memory[0]);
	assert_ptr_equal(dest[2].ret_base, memory[2]);
	assert_int_equal(client_stats().registrations, 2);
}

/* A synchronous call gets all results in its own memory. */
static void a_waiting_call_copies(void **state)
{
	static const size_t lengths[] = {8192, 100};
	struct rpcrdma_call_options o;
	struct rpcrdma_reply r;
	uint8_t results[64];
	struct wait x;

	start_with(SEGMENTS, SEGMENTS);
	o = call_read(&x, 2, lengths);
	o.done = NULL;
	o.arg = NULL;
	assert_int_equal(rpcrdma_call_sync(both.conn, &o, results, sizeof(results), &r,
	                                   sizeof(r)),
	                 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(dest[i].ret_base, memory[i]);
		assert_int_equal(dest[i].ret_len, lengths[i]);
		for (size_t at = 0; at < lengths[i]; at++)
			assert_int_equal(memory[i][at], both_pattern(i, at));
	}
	assert_int_equal(client_stats().registrations, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_read_of_8k_is_lent),
	        TEST(many_results_are_lent),
	        TEST(results_at_the_limits),
	        TEST(without_the_feature_results_are_written),
	        TEST(in_version_1_results_are_written),
	        TEST(many_calls_at_a_time),
	        TEST(a_result_longer_than_its_memory_is_an_error),
	        TEST(the_mask_names_destinations),
	        TEST(a_waiting_call_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
