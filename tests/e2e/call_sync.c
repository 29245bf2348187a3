/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are waited for: in the thread that runs the engine, in others beside it,
 * and in several of which none was told to run it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <rpcrdma/cursor.h>

enum {
	PROG = 0x20000051,
	VERS = 1,
	P_DOUBLE = 1,
	P_FILL = 2,
	P_NEVER = 3,
	P_INSIDE = 4
};
enum { P_FIRST = 5, P_SECOND = 6, N_PROCS = 7 };
enum { THREADS = 4, CALLS = 25, BIG = 100000 };
#define SEC 1000000000ull

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct rpcrdma_request *parked, *first;
	pthread_t second;
	uint32_t second_answer;
	atomic_uint executed;
	int inside_call, inside_process;
	char port[8];
} w;

static void reply_number(struct rpcrdma_request *q, uint32_t n)
{
	uint32_t *p = rpcrdma_request_alloc(q, 4);
	struct rpcrdma_piece r = {p, 4, false};

	assert_non_null(p);
	*p = htonl(n);
	assert_int_equal(rpcrdma_request_reply(q, &r, 1, NULL, NULL), 0);
}

static uint32_t number_of(struct rpcrdma_request *q)
{
	struct rpcrdma_cursor c;
	uint32_t n;

	rpcrdma_request_cursor(q, &c);
	n = rpcrdma_cursor_u32(&c);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
	return n;
}

static void h_double(struct rpcrdma_request *q, void *arg)
{
	w.executed++;
	reply_number(q, 2 * number_of(q));
}

/* So many octets of 'x', as an item. */
static void h_fill(struct rpcrdma_request *q, void *arg)
{
	uint32_t n = number_of(q);
	uint8_t *p = rpcrdma_request_alloc(q, 4 + (size_t)n);
	uint32_t len = htonl(n);
	struct rpcrdma_piece r[2] = {{p, 4, false}, {p + 4, n, true}};

	assert_non_null(p);
	memcpy(p, &len, 4);
	memset(p + 4, 'x', n);
	assert_int_equal(rpcrdma_request_reply(q, r, 2, NULL, NULL), 0);
}

static void h_never(struct rpcrdma_request *q, void *arg)
{
	assert_null(w.parked);
	w.parked = q;
}

static struct rpcrdma_call_options call_of(uint32_t proc, struct rpcrdma_piece *args,
                                           uint32_t *number)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	*args = (struct rpcrdma_piece){number, 4, false};
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.args = args;
	o.n_args = 1;
	o.timeout_ns = 60 * SEC;
	return o;
}

/* A call that waits for this thread must not wait in it. */
static void h_inside(struct rpcrdma_request *q, void *arg)
{
	struct rpcrdma_piece args;
	uint32_t number = htonl(1), answer;
	struct rpcrdma_call_options o = call_of(P_DOUBLE, &args, &number);

	w.inside_call = rpcrdma_call_sync(w.conn, &o, &answer, 4, NULL, 0);
	w.inside_process = rpcrdma_engine_process(w.engine, 0);
	reply_number(q, 7);
}

static int call_number(uint32_t proc, uint32_t number, uint32_t *ret);

static void *make_second_call(void *arg)
{
	assert_int_equal(call_number(P_SECOND, 1, &w.second_answer), 0);
	return NULL;
}

/* Is answered when a second call is out, of another thread. */
static void h_first(struct rpcrdma_request *q, void *arg)
{
	w.first = q;
	assert_int_equal(pthread_create(&w.second, NULL, make_second_call, NULL), 0);
}

static void answer_second(void *request)
{
	reply_number(request, 9);
}

/* Is answered when the first has ended, if somebody runs the engine. */
static void h_second(struct rpcrdma_request *q, void *arg)
{
	reply_number(w.first, 8);
	assert_int_equal(rpcrdma_timer_start(w.engine, SEC / 5, answer_second, q, NULL),
	                 0);
}

static const struct rpcrdma_procedure procs[] = {
        [P_DOUBLE] = {"DOUBLE", h_double}, [P_FILL] = {"FILL", h_fill, 0, 1},
        [P_NEVER] = {"NEVER", h_never},    [P_INSIDE] = {"INSIDE", h_inside},
        [P_FIRST] = {"FIRST", h_first},    [P_SECOND] = {"SECOND", h_second},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, N_PROCS};

static int set_up(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;

	memset(&w, 0, sizeof(w));
	o.provider = "iwarp";
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(
	        rpcrdma_listen(w.engine, "127.0.0.1:0", &o, w.service, 0, &w.listener),
	        0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(w.port, sizeof(w.port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &o, NULL, NULL, &w.conn),
	        0);
	return 0;
}

static int tear_down(void **state)
{
	if (w.parked)
		assert_int_equal(rpcrdma_request_error(w.parked, RPCRDMA_SYSTEM_ERR, 0),
		                 0);
	if (w.conn)
		rpcrdma_conn_close(w.conn);
	rpcrdma_listener_close(w.listener, 0);
	while (!rpcrdma_engine_idle(w.engine))
		assert_int_equal(rpcrdma_engine_process(w.engine, 1000), 0);
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

static int call_number(uint32_t proc, uint32_t number, uint32_t *ret)
{
	struct rpcrdma_piece args;
	uint32_t arg = htonl(number), answer = 0;
	struct rpcrdma_call_options o = call_of(proc, &args, &arg);
	int err = rpcrdma_call_sync(w.conn, &o, &answer, 4, NULL, 0);

	*ret = ntohl(answer);
	return err;
}

/* -- one thread ------------------------------------------------------------ */

static void results_are_the_callers_own(void **state)
{
	struct rpcrdma_piece args;
	uint32_t number = htonl(21), answer[2] = {0, 5};
	struct rpcrdma_call_options o = call_of(P_DOUBLE, &args, &number);
	struct rpcrdma_cursor c;
	struct rpcrdma_reply r;

	assert_int_equal(
	        rpcrdma_call_sync(w.conn, &o, answer, sizeof(answer), &r, sizeof(r)),
	        0);
	assert_ptr_equal(r.results, answer);
	assert_int_equal(r.len, 4);
	assert_int_equal(r.status, 0);
	assert_int_equal(answer[1], 5); /* nothing is written behind them */
	rpcrdma_reply_cursor(&r, &c);
	assert_int_equal(rpcrdma_cursor_u32(&c), 42);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
}

static void longer_results_are_not_cut(void **state)
{
	struct rpcrdma_piece args;
	uint32_t number = htonl(21);
	struct rpcrdma_call_options o = call_of(P_DOUBLE, &args, &number);
	struct rpcrdma_reply r;
	char three[3] = "abc";

	assert_int_equal(rpcrdma_call_sync(w.conn, &o, three, 3, &r, sizeof(r)),
	                 -EOVERFLOW);
	assert_int_equal(r.len, 4);
	assert_memory_equal(three, "abc", 3);
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, NULL, 0, NULL, 0), -EOVERFLOW);
}

static void items_are_placed(void **state)
{
	static char room[BIG];
	struct rpcrdma_piece args;
	struct rpcrdma_dest dest = {.base = room, .len = BIG};
	uint32_t number = htonl(BIG), len = 0;
	struct rpcrdma_call_options o = call_of(P_FILL, &args, &number);
	struct rpcrdma_cursor c;
	struct rpcrdma_reply r;

	o.dests = &dest;
	o.n_dests = 1;
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, &len, 4, &r, sizeof(r)), 0);
	rpcrdma_reply_cursor(&r, &c);
	assert_ptr_equal(rpcrdma_cursor_dest(&c, &dest, &len), room);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
	assert_int_equal(len, BIG);
	assert_int_equal(room[BIG - 1], 'x');
	/* The library found room of its own for more, which it does not give away. */
	o.idempotent = true;
	dest.len = BIG / 2;
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, &len, 4, &r, sizeof(r)),
	                 -EOVERFLOW);
	assert_int_equal(dest.ret_len, BIG);
	assert_null(dest.ret_base);
}

static void errors_are_the_status(void **state)
{
	struct rpcrdma_piece args;
	uint32_t number = htonl(1), answer;
	struct rpcrdma_call_options o = call_of(99, &args, &number);
	struct rpcrdma_reply r = {.status = 77};

	assert_int_equal(rpcrdma_call_sync(w.conn, &o, &answer, 4, &r, sizeof(r)),
	                 RPCRDMA_PROC_UNAVAIL);
	assert_int_equal(r.status, RPCRDMA_PROC_UNAVAIL);
	o.n_args = RPCRDMA_MAX_PIECES + 1;
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, &answer, 4, &r, sizeof(r)),
	                 -EINVAL);
	assert_int_equal(r.status, -EINVAL);
	o.n_args = 1;
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, NULL, 4, NULL, 0), -EINVAL);
	o.arg = &o;
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, &answer, 4, NULL, 0), -EINVAL);
	assert_int_equal(rpcrdma_call_sync(NULL, &o, &answer, 4, NULL, 0), -EINVAL);
	assert_int_equal(rpcrdma_call_sync(w.conn, NULL, &answer, 4, NULL, 0), -EINVAL);
}

static void the_timeout_holds(void **state)
{
	struct rpcrdma_piece args;
	uint32_t number = htonl(1), answer;
	struct rpcrdma_call_options o = call_of(P_NEVER, &args, &number);

	o.timeout_ns = SEC / 10;
	assert_int_equal(rpcrdma_call_sync(w.conn, &o, &answer, 4, NULL, 0),
	                 -ETIMEDOUT);
	assert_non_null(w.parked);
}

static void a_connection_that_is_over_says_why(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	uint32_t answer;

	rpcrdma_conn_close(w.conn);
	o.provider = "iwarp";
	o.no_reconnect = true;
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", "1", &o, NULL, NULL, &w.conn),
	        0);
	assert_int_equal(call_number(P_DOUBLE, 1, &answer), -ECONNREFUSED);
	assert_int_equal(call_number(P_DOUBLE, 1, &answer), -ECONNREFUSED);
}

static void callbacks_do_not_wait(void **state)
{
	uint32_t answer;

	assert_int_equal(call_number(P_INSIDE, 1, &answer), 0);
	assert_int_equal(answer, 7);
	assert_int_equal(w.inside_call, -EDEADLK);
	assert_int_equal(w.inside_process, -EDEADLK);
	assert_int_equal(call_number(P_DOUBLE, 4, &answer), 0);
	assert_int_equal(answer, 8);
}

/* -- several threads ------------------------------------------------------- */

static void *run_engine(void *arg)
{
	assert_int_equal(rpcrdma_engine_run(w.engine), 0);
	return NULL;
}

static void *make_calls(void *arg)
{
	uint32_t base = *(uint32_t *)arg, answer, wrong = 0;

	for (uint32_t i = 0; i < CALLS; i++)
		wrong += call_number(P_DOUBLE, base + i, &answer) ||
		         answer != 2 * (base + i);
	*(uint32_t *)arg = wrong;
	return NULL;
}

static void make_calls_in_threads(void)
{
	pthread_t t[THREADS];
	uint32_t arg[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		arg[i] = 1000 * i;
		assert_int_equal(pthread_create(&t[i], NULL, make_calls, &arg[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i], NULL), 0);
		assert_int_equal(arg[i], 0);
	}
	assert_int_equal(w.executed, THREADS * CALLS);
}

static void threads_call_beside_the_one_that_runs_the_engine(void **state)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, run_engine, NULL), 0);
	make_calls_in_threads();
	rpcrdma_engine_stop(w.engine);
	assert_int_equal(pthread_join(t, NULL), 0);
}

static void threads_run_the_engine_by_turns(void **state)
{
	make_calls_in_threads();
}

/* The first thread runs the engine for both, and goes. */
static void who_leaves_hands_the_engine_over(void **state)
{
	uint32_t answer;

	assert_int_equal(call_number(P_FIRST, 1, &answer), 0);
	assert_int_equal(answer, 8);
	assert_int_equal(pthread_join(w.second, NULL), 0);
	assert_int_equal(w.second_answer, 9);
}

static void *call_in_vain(void *arg)
{
	struct rpcrdma_piece args;
	uint32_t number = htonl(1), answer;
	struct rpcrdma_call_options o = call_of(P_DOUBLE, &args, &number);

	o.timeout_ns = SEC / 10;
	*(int *)arg = rpcrdma_call_sync(w.conn, &o, &answer, 4, NULL, 0);
	return NULL;
}

/* Its thread runs the engine no more: the call is not made later either. */
static void a_call_that_nobody_takes_times_out(void **state)
{
	uint32_t answer;
	pthread_t t;
	int result = 0;

	assert_int_equal(rpcrdma_engine_process(w.engine, 0), 0);
	assert_int_equal(pthread_create(&t, NULL, call_in_vain, &result), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(result, -ETIMEDOUT);
	assert_int_equal(call_number(P_DOUBLE, 3, &answer), 0);
	assert_int_equal(answer, 6);
	assert_int_equal(w.executed, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(results_are_the_callers_own),
	        TEST(longer_results_are_not_cut),
	        TEST(items_are_placed),
	        TEST(errors_are_the_status),
	        TEST(the_timeout_holds),
	        TEST(a_connection_that_is_over_says_why),
	        TEST(callbacks_do_not_wait),
	        TEST(threads_call_beside_the_one_that_runs_the_engine),
	        TEST(threads_run_the_engine_by_turns),
	        TEST(who_leaves_hands_the_engine_over),
	        TEST(a_call_that_nobody_takes_times_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
