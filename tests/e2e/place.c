/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments in the server's own memory: where they come, when the server is asked, and
 * that it gets its memory back exactly once, whatever becomes of the Call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <cmocka.h>

#include <rpcrdma/cursor.h>

enum { PROG = 0x20000053, VERS = 1, P_PUT = 1, P_PARK = 2, P_TWO = 3, P_ONCE = 4 };
enum { ITEM = 100001, SMALL = 8, MIB = 1 << 20 };

static struct {
	struct rpcrdma_engine *client, *server;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct rpcrdma_conn_options options;
	struct rpcrdma_request *parked;
	/* What the server answers place with, and what it has seen. */
	int answer;
	size_t too_short;
	uint8_t *memory; /* of MIB octets for each item */
	unsigned asked, released, handled, n_items;
	bool in_place;
	size_t item_bytes, args_len;
	uint32_t first_arg;
} w;

static uint8_t *item;

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 13);
}

static uint32_t be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

/* -- the server ------------------------------------------------------------ */

static int place(const struct rpcrdma_call_info *a, struct iovec *ret, void **ret_token,
                 void *arg)
{
	assert_ptr_equal(arg, &w);
	assert_int_equal(a->program, PROG);
	assert_int_equal(a->version, VERS);
	assert_int_equal(a->cred->flavor, RPCRDMA_AUTH_NONE);
	assert_int_equal(a->peer->ss_family, AF_INET);
	w.asked++;
	w.n_items = a->n_items;
	w.item_bytes = a->item_bytes[0];
	w.args_len = a->args_len;
	w.first_arg = be32(a->args);
	if (w.answer <= 0)
		return w.answer;
	for (unsigned i = 0; i < a->n_items; i++) {
		ret[i].iov_base = w.memory + i * (size_t)MIB;
		ret[i].iov_len = MIB - w.too_short;
	}
	*ret_token = w.memory;
	return w.answer;
}

static void release(void *token, void *arg)
{
	assert_ptr_equal(arg, &w);
	assert_ptr_equal(token, w.memory);
	w.released++;
	memset(w.memory, 0xee, 2 * (size_t)MIB); /* nobody looks there any more */
}

static bool is_pattern(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != pattern(i))
			return false;
	return true;
}

/* A number, then items. */
static void h_put(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_cursor c;
	const uint8_t *p;
	uint32_t len;

	w.handled++;
	assert_int_equal(w.released, 0);
	rpcrdma_request_cursor(q, &c);
	(void)rpcrdma_cursor_u32(&c);
	p = rpcrdma_cursor_opaque(&c, NULL, 4 * MIB, &len);
	assert_non_null(p);
	assert_true(is_pattern(p, len));
	w.in_place = p == w.memory;
	assert_ptr_equal(rpcrdma_request_place_token(q), w.in_place ? w.memory : NULL);
	if (rpcrdma_cursor_left(&c) > 4) {
		p = rpcrdma_cursor_opaque(&c, NULL, 4 * MIB, &len);
		assert_true(is_pattern(p, len));
		assert_true(!w.in_place || p == w.memory + MIB);
	}
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	w.handled++;
	w.parked = q;
}

static const struct rpcrdma_procedure procs[] = {
        [P_PUT] = {"PUT", h_put, .max_read_items = 1},
        [P_PARK] = {"PARK", h_park, .max_read_items = 1},
        [P_TWO] = {"TWO", h_put, .max_read_items = 2},
        [P_ONCE] = {"ONCE", h_put, .max_read_items = 1, .execute_once = true},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, 5};

static struct rpcrdma_place_options place_options(void)
{
	struct rpcrdma_place_options o = RPCRDMA_OPTIONS(struct rpcrdma_place_options);

	o.place = place;
	o.release = release;
	o.arg = &w;
	return o;
}

static int set_up(void **state)
{
	struct rpcrdma_place_options o = place_options();

	memset(&w, 0, sizeof(w));
	w.answer = 1;
	w.memory = calloc(2, MIB);
	item = malloc(8 * MIB);
	for (size_t i = 0; i < 8 * MIB; i++)
		item[i] = pattern(i);
	w.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	w.options.provider = "iwarp";
	assert_int_equal(rpcrdma_engine_new(NULL, &w.client), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &w.server), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_set_place(w.service, PROG, VERS, &o), -ENOENT);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(rpcrdma_service_set_place(w.service, PROG, VERS, &o), 0);
	return 0;
}

static void start(void)
{
	struct sockaddr_storage sa;
	char port[8];

	assert_int_equal(rpcrdma_listen(w.server, "127.0.0.1:0", &w.options, w.service,
	                                0, &w.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	w.options.retry_ns = UINT64_MAX;
	assert_int_equal(rpcrdma_connect(w.client, "127.0.0.1", port, &w.options, NULL,
	                                 NULL, &w.conn),
	                 0);
}

static void turn(void)
{
	if (w.server)
		assert_int_equal(rpcrdma_engine_process(w.server, 1), 0);
	if (w.client)
		assert_int_equal(rpcrdma_engine_process(w.client, 1), 0);
}

static int tear_down(void **state)
{
	rpcrdma_engine_free(w.client);
	rpcrdma_engine_free(w.server);
	rpcrdma_service_free(w.service);
	free(w.memory);
	free(item);
	assert_int_equal(rpcrdma_budget_set(1 << 30), 0);
	return 0;
}

/* -- the client ------------------------------------------------------------ */

struct call {
	uint8_t head[8], more[4];
	struct rpcrdma_piece args[4];
	int status; /* INT32_MIN: not over */
};

static void done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	((struct call *)arg)->status = r->status;
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

static void begin(struct call *k, uint32_t proc, uint32_t len, bool special)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	put32(k->head, 77);
	put32(k->head + 4, len);
	put32(k->more, 1000);
	k->args[0] = (struct rpcrdma_piece){k->head, 8, false};
	k->args[1] = (struct rpcrdma_piece){item, len, true};
	k->args[2] = (struct rpcrdma_piece){k->more, 4, false};
	k->args[3] = (struct rpcrdma_piece){item, 1000, true};
	k->status = INT32_MIN;
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.args = k->args;
	o.n_args = proc == P_TWO ? 4 : 2;
	o.force_special = special;
	o.done = done;
	o.arg = k;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
}

static int call(uint32_t proc, uint32_t len, bool special)
{
	struct call k;

	begin(&k, proc, len, special);
	while (k.status == INT32_MIN)
		turn();
	return k.status;
}

/* The reply is out before the request is over. */
static void wait_released(unsigned n)
{
	while (w.released < n)
		turn();
	assert_int_equal(w.released, n);
}

/* -- tests ----------------------------------------------------------------- */

static void items_come_where_the_server_says(void **state)
{
	for (w.options.version = 1; w.options.version <= 2; w.options.version++) {
		start();
		for (unsigned special = 0; special < 2; special++) {
			w.asked = w.handled = w.released = 0;
			w.in_place = false;
			assert_int_equal(call(P_PUT, ITEM, special), 0);
			assert_int_equal(w.asked, 1);
			assert_int_equal(w.n_items, 1);
			assert_in_range(w.item_bytes, ITEM, ITEM + 3);
			assert_int_equal(w.first_arg, 77);
			assert_int_equal(w.args_len, 8);
			assert_int_equal(w.handled, 1);
			assert_true(w.in_place);
			wait_released(1);
		}
		rpcrdma_conn_close(w.conn);
		rpcrdma_listener_close(w.listener, 0);
	}
}

static void several_items_have_a_place_each(void **state)
{
	start();
	assert_int_equal(call(P_TWO, ITEM, false), 0);
	assert_int_equal(w.n_items, 2);
	assert_true(w.in_place);
	wait_released(1);
}

static void the_server_may_leave_it_to_the_library(void **state)
{
	start();
	w.answer = 0;
	assert_int_equal(call(P_PUT, ITEM, false), 0);
	assert_int_equal(w.asked, 1);
	assert_false(w.in_place);
	assert_int_equal(w.released, 0);
}

/* What comes inline lies in the library's memory. */
static void nobody_is_asked_about_arguments_inline(void **state)
{
	start();
	assert_int_equal(call(P_PUT, SMALL, false), 0);
	assert_int_equal(w.asked, 0);
	assert_int_equal(w.handled, 1);
	assert_false(w.in_place);
}

static void what_the_server_refuses_is_not_read(void **state)
{
	struct rpcrdma_stats s;

	start();
	for (unsigned special = 0; special < 2; special++) {
		w.answer = -ENOMEM;
		w.asked = w.handled = 0;
		assert_int_equal(call(P_PUT, ITEM, special), RPCRDMA_SYSTEM_ERR);
		assert_int_equal(w.asked, 1);
		assert_int_equal(w.handled, 0);
		assert_int_equal(w.released, 0);
	}
	rpcrdma_engine_get_stats(w.server, &s, sizeof(s));
	assert_int_equal(s.rdma_reads, 1); /* of the second Call, not of an item */
	w.answer = 1;
	assert_int_equal(call(P_PUT, ITEM, false), 0);
	wait_released(1);
}

static void memory_that_is_too_short_is_not_written(void **state)
{
	start();
	w.too_short = MIB - ITEM + 1;
	assert_int_equal(call(P_PUT, ITEM, false), RPCRDMA_SYSTEM_ERR);
	assert_int_equal(w.memory[0], 0xee); /* released */
	assert_int_equal(w.handled, 0);
	assert_int_equal(w.released, 1);
	w.too_short = MIB - ITEM - 3; /* roundup */
	w.released = 0;
	assert_int_equal(call(P_PUT, ITEM, false), 0);
	wait_released(1);
}

/* The client goes when the server has been asked, before the octets have come. */
static void a_lost_connection_gives_the_memory_back(void **state)
{
	struct call k;

	start();
	begin(&k, P_PUT, MIB, false);
	while (!w.asked)
		turn();
	rpcrdma_engine_free(w.client);
	w.client = NULL;
	wait_released(1);
	assert_int_equal(w.handled, 0);
	rpcrdma_listener_close(w.listener, 0);
	while (!rpcrdma_engine_idle(w.server))
		turn();
	assert_int_equal(w.released, 1);
}

/* A handler that holds the request holds its memory, also when the caller is gone. */
static void memory_is_lent_until_the_handler_has_answered(void **state)
{
	struct call k;

	start();
	begin(&k, P_PARK, ITEM, false);
	while (!w.parked)
		turn();
	rpcrdma_engine_free(w.client);
	w.client = NULL;
	rpcrdma_listener_close(w.listener, 0);
	for (unsigned i = 0; i < 100; i++)
		turn();
	assert_int_equal(w.released, 0);
	assert_true(is_pattern(w.memory, ITEM));
	assert_int_equal(rpcrdma_request_reply(w.parked, NULL, 0, NULL, NULL), 0);
	while (!rpcrdma_engine_idle(w.server))
		turn();
	assert_int_equal(w.released, 1);
}

static void an_engine_that_ends_gives_it_back(void **state)
{
	struct call k;

	start();
	begin(&k, P_PARK, ITEM, false);
	while (!w.parked)
		turn();
	rpcrdma_engine_free(w.server);
	w.server = NULL;
	assert_int_equal(w.released, 1);
	rpcrdma_engine_free(w.client); /* the call ends while there is a @k */
	w.client = NULL;
}

/* The library's budget is for the library's memory. */
static void placed_items_are_not_in_the_budget(void **state)
{
	struct rpcrdma_budget b;
	struct call k;

	assert_int_equal(rpcrdma_budget_set(MIB), 0);
	start();
	begin(&k, P_PARK, 3 * MIB / 4, false); /* more than half of the budget */
	while (!w.parked && k.status == INT32_MIN)
		turn();
	assert_non_null(w.parked);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_in_range(b.used_bytes - b.connections_bytes, 1, 16384);
	assert_int_equal(rpcrdma_request_reply(w.parked, NULL, 0, NULL, NULL), 0);
	wait_released(1);
	while (k.status == INT32_MIN)
		turn();
	w.answer = 0;
	assert_int_equal(call(P_PUT, 3 * MIB / 4, false), RPCRDMA_TRANSPORT_ERROR);
}

/* A Call in parts has reserved memory by the time that it is refused. */
static void a_call_in_parts_that_is_refused_gives_its_memory_back(void **state)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece args[2] = {{item, 20000, false}, {item, ITEM, true}};
	struct rpcrdma_budget b;
	struct rpcrdma_stats s;
	struct call k = {.status = INT32_MIN};

	start();
	w.answer = -EBUSY;
	o.program = PROG;
	o.version = VERS;
	o.procedure = P_PUT;
	o.args = args;
	o.n_args = 2;
	o.done = done;
	o.arg = &k;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	while (k.status == INT32_MIN)
		turn();
	assert_int_equal(k.status, RPCRDMA_SYSTEM_ERR);
	assert_int_equal(w.asked, 1);
	assert_int_equal(w.args_len, 20000);
	rpcrdma_engine_get_stats(w.server, &s, sizeof(s));
	assert_in_range(s.bytes_continued, 20000, 30000);
	for (unsigned i = 0; i < 2000; i++) { /* the end of the request */
		turn();
		rpcrdma_budget_get(&b, sizeof(b));
		if (b.used_bytes == b.connections_bytes)
			break;
	}
	assert_int_equal(b.used_bytes, b.connections_bytes);
}

static void what_is_executed_once_is_placed_as_well(void **state)
{
	start();
	assert_int_equal(call(P_ONCE, ITEM, false), 0);
	assert_true(w.in_place);
	wait_released(1);
}

static void wrong_options_are_refused(void **state)
{
	struct rpcrdma_place_options o = place_options();

	assert_int_equal(rpcrdma_service_set_place(w.service, PROG, VERS, &o), -EEXIST);
	assert_int_equal(rpcrdma_service_set_place(w.service, PROG, 2, &o), -ENOENT);
	assert_int_equal(rpcrdma_service_set_place(w.service, PROG, VERS, NULL),
	                 -EINVAL);
	assert_int_equal(rpcrdma_service_set_place(NULL, PROG, VERS, &o), -EINVAL);
	o.release = NULL;
	assert_int_equal(rpcrdma_service_set_place(w.service, PROG, 2, &o), -EINVAL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(items_come_where_the_server_says),
	        TEST(several_items_have_a_place_each),
	        TEST(the_server_may_leave_it_to_the_library),
	        TEST(nobody_is_asked_about_arguments_inline),
	        TEST(what_the_server_refuses_is_not_read),
	        TEST(memory_that_is_too_short_is_not_written),
	        TEST(a_lost_connection_gives_the_memory_back),
	        TEST(memory_is_lent_until_the_handler_has_answered),
	        TEST(an_engine_that_ends_gives_it_back),
	        TEST(placed_items_are_not_in_the_budget),
	        TEST(a_call_in_parts_that_is_refused_gives_its_memory_back),
	        TEST(what_is_executed_once_is_placed_as_well),
	        TEST(wrong_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
