/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Upper-layer bindings through the public interface: several programs on one
 * connection, programs that are served in reverse, the binding of NFS.
 */
#include "test_both_ends.h"

#include <rpcrdma/nfs.h>

static struct end second;
static const struct rpcrdma_program other = {PROG + 1, VERS, both_procs, N_PROCS};

static void start_both(void)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_BIND, &x);

	assert_int_equal(rpcrdma_service_add(both.service, &other, &second), 0);
	both.retry_ns = 1000ull * MS;
	both_listen("127.0.0.1:0");
	both_connect(&both.conn);
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(both.bind_status, 0);
}

/* V2-A.4-01: one set of thresholds and credits for both. */
static void two_programs_share_a_connection(void **state)
{
	struct rpcrdma_conn_info before, after;
	struct rpcrdma_stats s;
	struct wait x;
	struct rpcrdma_call_options o;

	memset(&second, 0, sizeof(second));
	start_both();
	rpcrdma_conn_get_info(both.conn, &before, sizeof(before));
	for (unsigned i = 0; i < 40; i++) {
		o = both_call(P_NULL, &x);
		o.program += i & 1;
		assert_int_equal(both_run(both.conn, &o, &x), 0);
	}
	assert_int_equal(both.server.executed, 20);
	assert_int_equal(second.executed, 20);
	rpcrdma_conn_get_info(both.conn, &after, sizeof(after));
	assert_int_equal(after.send_inline, before.send_inline);
	assert_int_equal(after.recv_inline, before.recv_inline);
	assert_int_equal(after.credits_granted, before.credits_granted);
	assert_int_equal(both.ups, 1);
	rpcrdma_engine_get_stats(both.engine, &s, sizeof(s));
	assert_int_equal(s.connections, 2); /* this one, seen from both ends */
}

/* The last RDMA2_ERROR that any end sent, from the trace. */
static unsigned long long sent_code, sent_most;
static unsigned errors;

static void note(void *arg, const char *json)
{
	const char *at = strstr(json, "\"rdma_err\":");

	if (!at || !strstr(json, "ERROR_SENT"))
		return;
	errors++;
	assert_int_equal(
	        sscanf(at, "\"rdma_err\":%llu,\"a\":%llu", &sent_code, &sent_most), 2);
}

static int set_up_traced(void **state)
{
	struct rpcrdma_engine_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);

	both_set_up(state);
	both.options.send_item_bytes = both.listen_options.send_item_bytes = 1;
	rpcrdma_engine_free(both.engine);
	o.trace = note;
	errors = 0;
	return rpcrdma_engine_new(&o, &both.engine);
}

/* Refused once, by this error; then asked otherwise, and executed. */
static void refused(struct rpcrdma_conn *c, struct rpcrdma_call_options *o,
                    struct wait *x, uint32_t code, uint32_t most)
{
	errors = 0;
	assert_int_equal(both_run(c, o, x), 0);
	assert_int_equal(errors, 1);
	assert_int_equal(sent_code, code);
	assert_int_equal(sent_most, most);
}

/* V2-7.3.1-02, V2-7.3.2-01, V2-A.1-03, V2-A.1-05: what a procedure takes. */
static void refuses_by_binding(struct rpcrdma_conn *c, struct end *e)
{
	static uint8_t head[12], data[4000], room[2][100];
	struct rpcrdma_piece a[2] = {{head, 8, false}, {data, 4000, true}};
	struct rpcrdma_dest d[2] = {{.base = room[0], .len = 100},
	                            {.base = room[1], .len = 100}};
	struct wait x;
	struct rpcrdma_call_options o;
	unsigned before = e->executed;

	put32(head, 1);
	put32(head + 4, 4000);
	for (unsigned i = 0; i < 4000; i++)
		data[i] = both_pattern(1, i);
	o = both_call(P_SUM, &x); /* one eligible argument */
	o.args = a;
	o.n_args = 2;
	errors = 0;
	assert_int_equal(both_run(c, &o, &x), 0);
	assert_int_equal(be32(x.results), 1);
	assert_int_equal(errors, 0);
	o = both_call(P_NULL, &x); /* no eligible argument */
	o.args = a;
	o.n_args = 2;
	refused(c, &o, &x, 6, 0);
	o = both_call(P_FILL, &x); /* one eligible result */
	put32(head + 4, 100);
	put32(head + 8, 1);
	a[0].len = 12;
	o.args = a;
	o.n_args = 1;
	o.dests = d;
	o.n_dests = 2;
	refused(c, &o, &x, 7, 1);
	assert_int_equal(e->executed - before, 3); /* and not when refused */
}

static void chunks_beyond_the_binding_are_refused(void **state)
{
	start_both();
	refuses_by_binding(both.conn, &both.server);
}

/* V2-A.3-01: what a client serves is bound as what a server serves. */
static void programs_in_reverse_have_bindings_too(void **state)
{
	start_both();
	refuses_by_binding(both.back, &both.client);
}

/* V2-4.3.4.3-01, V2-A-01, V2-A.1-02: data of READ and WRITE, names of links, and
 * nothing else: single opaque items, no union and nothing that holds another.
 *                                                            [RFC 8267 §2] */
static void nfs_moves_data_and_link_names_only(void **state)
{
	enum { READLINK = 5, READ = 6, WRITE = 7, SYMLINK = 10 };

	for (unsigned i = 0; i < RPCRDMA_NFS3_PROCEDURES; i++) {
		const struct rpcrdma_binding *b = &rpcrdma_nfs3_binding[i];

		assert_non_null(b->name);
		assert_int_equal(b->max_read_items, i == WRITE || i == SYMLINK);
		assert_int_equal(b->max_write_items, i == READ || i == READLINK);
	}
	for (unsigned i = 0; i < RPCRDMA_MOUNT3_PROCEDURES; i++) {
		assert_int_equal(rpcrdma_mount3_binding[i].max_read_items, 0);
		assert_int_equal(rpcrdma_mount3_binding[i].max_write_items, 0);
	}
}

/* V2-9-02, V2-9-05, V2-A-01: at both ends, unless another one is named.  Somebody
 * else may have the port: then no listener can. */
static void the_port_is_20049_unless_another_is_named(void **state)
{
	struct sockaddr_storage sa;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);
	int err = rpcrdma_listen(both.engine, "127.0.0.1", &both.listen_options,
	                         both.service, 8, &both.listener);

	if (err) {
		assert_int_equal(err, -EADDRINUSE);
		skip();
	}
	assert_int_equal(rpcrdma_listener_addr(both.listener, &sa), 0);
	assert_int_equal(ntohs(((struct sockaddr_in *)&sa)->sin_port), 20049);
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", NULL, &both.options,
	                                 both_on_event, NULL, &both.conn),
	                 0);
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(both.server.executed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(two_programs_share_a_connection),
	        cmocka_unit_test_setup_teardown(chunks_beyond_the_binding_are_refused,
	                                        set_up_traced, both_tear_down),
	        cmocka_unit_test_setup_teardown(programs_in_reverse_have_bindings_too,
	                                        set_up_traced, both_tear_down),
	        TEST(nfs_moves_data_and_link_names_only),
	        TEST(the_port_is_20049_unless_another_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
