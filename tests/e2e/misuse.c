/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mistakes of a program are told by the call that makes them: ports that are none,
 * lengths that are no XDR, Replies longer than it allowed.  And what it need not write:
 * procedure 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>
#include <rpcrdma/tirpc.h>

enum { PROG = 0x20049002, VERS = 1, HANG_MS = 20000, LONG = 5 << 20 };
enum { P_ODD = 1, P_LONG = 2 };

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	bool done;
	int status;
	size_t len;
} w;

/* Of no length that XDR has, at first. */
static void h_odd(struct rpcrdma_request *q, void *arg)
{
	static const char octets[8] = "abcdefg";
	const struct rpcrdma_piece odd[] = {
	        {octets, 3, false}, {octets, 4, false}, {octets, 3, true}};

	assert_int_equal(rpcrdma_request_reply(q, odd, 1, NULL, NULL), -EINVAL);
	assert_int_equal(rpcrdma_request_reply(q, odd + 1, 2, NULL, NULL), 0);
}

/* Longer than max_message_bytes is by default. */
static void h_long(struct rpcrdma_request *q, void *arg)
{
	static uint8_t octets[LONG];
	const struct rpcrdma_piece p = {octets, LONG, false};

	assert_int_equal(rpcrdma_request_reply(q, &p, 1, NULL, NULL), 0);
}

static const struct rpcrdma_procedure procs[] = {
        [P_LONG] = {.name = "LONG", .handler = h_long},
        [P_ODD] = {.name = "ODD", .handler = h_odd, .max_write_items = 1},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, 3};
static const struct rpcrdma_program empty = {PROG + 1, VERS, NULL, 0};

static int set_up_with(const char *features)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;
	char port[RPCRDMA_SERVICE_BYTES];

	o.features = features;
	memset(&w, 0, sizeof(w));
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &empty, NULL), 0);
	assert_int_equal(rpcrdma_listen(w.engine, "127.0.0.1:0", NULL, w.service, 0,
	                                &w.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", port, &o, NULL, NULL, &w.conn),
	        0);
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(NULL);
}

static int set_up_without_features(void **state)
{
	return set_up_with("none");
}

static int set_up_to_pull(void **state)
{
	return set_up_with("rprc,rprc-pull=67108864");
}

static int tear_down(void **state)
{
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

static void on_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	w.done = true;
	w.status = r->status;
	w.len = r->len;
}

static struct rpcrdma_call_options call_to(uint32_t prog, uint32_t proc)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = prog;
	o.version = VERS;
	o.procedure = proc;
	o.done = on_done;
	return o;
}

static int run(const struct rpcrdma_call_options *o)
{
	int err = rpcrdma_call(w.conn, o, NULL);

	if (err)
		return err;
	w.done = false;
	for (unsigned i = 0; i < HANG_MS / 10 && !w.done; i++)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_true(w.done);
	return w.status;
}

/* -- tests ----------------------------------------------------------------- */

static void procedure_0_is_served_by_every_program(void **state)
{
	struct rpcrdma_call_options o = call_to(PROG, 0);

	w.len = 99;
	assert_int_equal(run(&o), RPCRDMA_OK);
	assert_int_equal(w.len, 0);
	o.program = PROG + 1;
	assert_int_equal(run(&o), RPCRDMA_OK);
	o.procedure = 1;
	assert_int_equal(run(&o), RPCRDMA_PROC_UNAVAIL);
}

static void arguments_are_a_multiple_of_four(void **state)
{
	static const struct {
		struct rpcrdma_piece piece[3];
		unsigned n;
		bool good;
	} rows[] = {
	        {{{"abcd", 3, false}}, 1, false},
	        {{{"abcd", 3, false}, {"abcd", 1, false}}, 2, true},
	        {{{"abcd", 2, false}, {"abcd", 4, true}, {"abcd", 2, false}}, 3, false},
	        {{{"abcd", 4, false}, {"abcd", 3, true}}, 2, true},
	        {{{"abcd", 4, false}, {"abcd", 3, true}, {"abcd", 1, false}}, 3, false},
	        {{{"abcd", 4, false}, {"abcd", 3, true}, {"abcd", 4, false}}, 3, true},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rpcrdma_call_options o = call_to(PROG, 0);

		o.args = rows[i].piece;
		o.n_args = rows[i].n;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL),
		                 rows[i].good ? 0 : -EINVAL);
	}
}

/* The handler is told, and can answer otherwise. */
static void results_are_a_multiple_of_four(void **state)
{
	struct rpcrdma_call_options o = call_to(PROG, P_ODD);

	o.reply_bytes = 64;
	assert_int_equal(run(&o), RPCRDMA_OK);
	assert_int_equal(w.len, 8); /* four octets and an item with its padding */
}

/* The client reads a reply that it did not foresee, up to rprc-pull. */
static void a_reply_of_unforeseen_length_arrives(void **state)
{
	struct rpcrdma_call_options o = call_to(PROG, P_LONG);

	assert_int_equal(run(&o), RPCRDMA_OK);
	assert_int_equal(w.len, LONG);
}

/* Nobody broke a rule: it was not said how long it may be. */
static void a_reply_that_is_too_long_is_called_so(void **state)
{
	struct rpcrdma_call_options o = call_to(PROG, P_LONG);

	assert_int_equal(run(&o), -EOVERFLOW);
	o.reply_bytes = LONG;
	assert_int_equal(run(&o), RPCRDMA_OK);
	assert_int_equal(w.len, LONG);
}

/* getaddrinfo would take the rest of the division by 65536. */
static void ports_are_numbers_below_65536(void **state)
{
	static const char *const ports[] = {"65536", "99999", "4294967297", "+5",
	                                    " 5",    "5x",    "",           "-1"};

	for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		struct rpcrdma_listener *l;
		struct rpcrdma_conn *c;
		char address[64];

		assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", ports[i], NULL,
		                                 NULL, NULL, &c),
		                 -EINVAL);
		snprintf(address, sizeof(address), "127.0.0.1:%s", ports[i]);
		assert_int_equal(
		        rpcrdma_listen(w.engine, address, NULL, w.service, 0, &l),
		        -EINVAL);
		assert_null(clnt_rdma_create(address, PROG, VERS, NULL));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        TEST(procedure_0_is_served_by_every_program),
	        TEST(arguments_are_a_multiple_of_four),
	        TEST(results_are_a_multiple_of_four),
	        cmocka_unit_test_setup_teardown(a_reply_of_unforeseen_length_arrives,
	                                        set_up_to_pull, tear_down),
	        TEST(a_reply_that_is_too_long_is_called_so),
	        cmocka_unit_test_setup_teardown(a_reply_that_is_too_long_is_called_so,
	                                        set_up_without_features, tear_down),
	        TEST(ports_are_numbers_below_65536),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
