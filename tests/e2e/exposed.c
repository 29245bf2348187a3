/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feature RPRC as a program sees it: both ends offer it, long replies are read by the
 * client, and the counters of both ends say so; and the cases in which it is not used.
 *                                                     [RR-6-01, RR-P-11, RR-P-12]
 */
#include "test_both_ends.h"

enum { LONG = 300000 };

static uint8_t seen[LONG + 4];

static void on_filled(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	if (!r->status && r->len == sizeof(seen))
		memcpy(seen, r->results, sizeof(seen));
	both_on_done(k, r, arg);
}

static uint8_t args[12];
static const struct rpcrdma_piece args_piece = {args, sizeof(args), false};

/* A call for a long reply without an item. */
static struct rpcrdma_call_options call_for_long(struct wait *x)
{
	struct rpcrdma_call_options o = both_call(P_FILL, x);

	put32(args, 7);
	put32(args + 4, LONG);
	put32(args + 8, 0);
	memset(seen, 0, sizeof(seen));
	o.args = &args_piece;
	o.n_args = 1;
	o.reply_bytes = both.options.version == 1 ? sizeof(seen) : 0;
	o.done = on_filled;
	return o;
}

/* Makes that call, and checks the reply. */
static void fetch_long(void)
{
	struct wait x;
	struct rpcrdma_call_options o = call_for_long(&x);

	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(be32(seen), LONG);
	for (size_t i = 0; i < LONG; i++)
		assert_int_equal(seen[4 + i], both_pattern(7, i));
}

static struct rpcrdma_stats engine_stats(void)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	return s;
}

static uint64_t features(void)
{
	struct rpcrdma_conn_info i;

	rpcrdma_conn_get_info(both.conn, &i, sizeof(i));
	return i.features;
}

/* The last line of the log about a connection that was made. */
static char logged[256];

static void on_log(enum rpcrdma_log_level level, const char *line, void *arg)
{
	if (strstr(line, "connected: "))
		snprintf(logged, sizeof(logged), "%s", strstr(line, "connected: "));
}

static void start_with(const char *client, const char *server)
{
	both.options.features = client;
	both.listen_options.features = server;
	both_start();
}

/* One exposure, one confirmation, no message in parts and no Reply chunk. */
static void long_replies_are_read_by_the_client(void **state)
{
	struct rpcrdma_stats c, s;

	start_with("rprc", "all");
	assert_int_equal(features(), RPCRDMA_FEATURE_RPRC);
	fetch_long();
	for (uint64_t end = now_ns() + 10000ull * MS;
	     !engine_stats().done_received && now_ns() < end;)
		both_spin_for(5);
	rpcrdma_conn_get_stats(both.conn, &c, sizeof(c));
	s = engine_stats();
	assert_int_equal(s.rprc_exposed, 1);
	assert_int_equal(c.rprc_exposed, 0);
	assert_int_equal(c.done_sent, 1);
	assert_int_equal(s.done_received, 1);
	assert_int_equal(s.done_dropped + s.rprc_expired + s.reply_chunks_offered, 0);
	assert_int_equal(s.bytes_continued, 0);
	assert_true(c.bytes_reply_pulled >= LONG);
	assert_true(c.rdma_reads >= 1);
	/* The client's handle was in the Reply: its confirmation ended the access. */
	assert_int_equal(c.sends_inv, 1);
	assert_int_equal(s.remote_invalidations, 1);
	assert_true(c.wakeups >= 2);
	assert_true(s.wakeups > c.wakeups);
}

/* Each call of one message wakes each end once.                          [ext §2.8] */
static void wake_ups_are_counted(void **state)
{
	enum { N = 10 };
	struct rpcrdma_stats c[2], s[2];
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	start_with("rprc", "rprc");
	for (unsigned i = 0; i < 2; i++) {
		rpcrdma_conn_get_stats(both.conn, &c[i], sizeof(c[i]));
		s[i] = engine_stats();
		for (unsigned k = 0; !i && k < N; k++) {
			x.done = 0;
			assert_int_equal(both_run(both.conn, &o, &x), 0);
		}
	}
	assert_int_equal(c[1].wakeups - c[0].wakeups, N);
	assert_int_equal(s[1].wakeups - s[0].wakeups, 2 * N);
}

static void not_exposed(void)
{
	struct rpcrdma_stats s;

	fetch_long();
	both_spin_for(20);
	s = engine_stats();
	assert_int_equal(s.rprc_exposed + s.done_sent + s.bytes_reply_pulled, 0);
	assert_true(s.bytes_continued >= LONG);
}

static void the_log_names_the_features(void **state)
{
	rpcrdma_engine_set_log(both.engine, RPCRDMA_LOG_INFO, on_log, NULL);
	start_with("rprc,reminv", "rprc,reminv");
	assert_string_equal(logged,
	                    "connected: provider iwarp, RPC-over-RDMA version 2, "
	                    "features rprc reminv");
}

static void one_end_alone_changes_nothing(void **state)
{
	rpcrdma_engine_set_log(both.engine, RPCRDMA_LOG_INFO, on_log, NULL);
	start_with("rprc", "none");
	assert_string_equal(logged,
	                    "connected: provider iwarp, RPC-over-RDMA version 2");
	assert_int_equal(features(), 0);
	not_exposed();
}

static void neither_end_exposes(void **state)
{
	start_with("none", "none");
	assert_int_equal(features(), 0);
	not_exposed();
}

static void replies_are_exposed_by_default(void **state)
{
	start_with(NULL, NULL);
	assert_int_equal(features(), RPCRDMA_FEATURE_RPRC | RPCRDMA_FEATURE_REMINV |
	                                     RPCRDMA_FEATURE_RTR);
	fetch_long();
	both_spin_for(20);
	assert_int_equal(engine_stats().rprc_exposed, 1);
}

/* Short enough for the Sends that the server prefers. */
static void sends_may_be_preferred(void **state)
{
	start_with("rprc", "rprc,rprc-sends=100");
	assert_int_equal(features(), RPCRDMA_FEATURE_RPRC);
	not_exposed();
}

static void replies_beyond_a_limit_are_not_exposed(void **state)
{
	start_with("rprc", "rprc,rprc-bytes=299999");
	not_exposed();
}

static void replies_that_the_client_would_not_read_are_not_exposed(void **state)
{
	start_with("rprc,rprc-pull=299999", "rprc");
	not_exposed();
}

/* More Reads than the client's ORD, which is 1: they wait for each other. */
static void many_replies_are_read_one_at_a_time(void **state)
{
	enum { N = 20 };
	struct wait x[N];

	both.options.provider = "iwarp:ord=1";
	start_with("rprc", "rprc");
	for (unsigned i = 0; i < N; i++) {
		struct rpcrdma_call_options o = call_for_long(&x[i]);

		assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	}
	for (unsigned i = 0; i < N; i++) {
		both_spin_until(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
	assert_true(engine_stats().rprc_exposed >= 10);
	assert_int_equal(engine_stats().connections_lost, 0);
}

/* The client can make no RDMA Read: its ORD is 0. */
static void clients_that_cannot_read_are_not_asked_to(void **state)
{
	both.options.provider = "iwarp:ord=0";
	start_with("rprc", "rprc");
	not_exposed();
}

/* The server's memory cannot be read: its IRD is 0. */
static void servers_that_cannot_be_read_expose_nothing(void **state)
{
	both.listen_options.provider = "iwarp:ird=0";
	start_with("rprc", "rprc");
	not_exposed();
}

/* In MPA revision 1 the peer does not know that this end has no RDMA Reads.  So the
 * feature is off only because this end does not offer it. */
static void ends_without_reads_do_not_offer_the_feature(void **state)
{
	both.options.provider = "iwarp:rev=1,ird=0,ord=0";
	start_with("rprc", "rprc");
	assert_int_equal(features(), 0);
	not_exposed();
}

static void version_1_has_no_features(void **state)
{
	both.options.version = 1;
	both.options.features = both.listen_options.features = "all";
	both_listen("127.0.0.1:0");
	both_connect(&both.conn);
	both_spin_until(&both.ups, 1);
	assert_int_equal(features(), 0);
	fetch_long();
	assert_int_equal(engine_stats().rprc_exposed + engine_stats().done_sent, 0);
	assert_int_equal(engine_stats().reply_chunks_used, 1);
}

/* Resets the client's TCP connection. */
static void reset_connection(void)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct sockaddr_in sa;

	for (int fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof(sa);

		if (getpeername(fd, (struct sockaddr *)&sa, &len) == 0 &&
		    sa.sin_family == AF_INET && ntohs(sa.sin_port) == atoi(both.port))
			assert_int_equal(connect(fd, &none, sizeof(none)), 0);
	}
}

/* A lost connection is counted by each end, one that was closed by neither. */
static void lost_connections_are_counted(void **state)
{
	start_with("rprc", "rprc");
	reset_connection();
	both_spin_until(&both.ups, 2);
	assert_int_equal(engine_stats().connections_lost, 2);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_for(50);
	assert_int_equal(engine_stats().connections_open, 0);
	assert_int_equal(engine_stats().connections_lost, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(long_replies_are_read_by_the_client),
	        TEST(wake_ups_are_counted),
	        TEST(the_log_names_the_features),
	        TEST(one_end_alone_changes_nothing),
	        TEST(neither_end_exposes),
	        TEST(replies_are_exposed_by_default),
	        TEST(many_replies_are_read_one_at_a_time),
	        TEST(sends_may_be_preferred),
	        TEST(replies_beyond_a_limit_are_not_exposed),
	        TEST(replies_that_the_client_would_not_read_are_not_exposed),
	        TEST(clients_that_cannot_read_are_not_asked_to),
	        TEST(servers_that_cannot_be_read_expose_nothing),
	        TEST(ends_without_reads_do_not_offer_the_feature),
	        TEST(version_1_has_no_features),
	        TEST(lost_connections_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
