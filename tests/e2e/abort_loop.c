/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user that starts calls and gives them up, again and again, on a connection
 * that others use.  The server's late Writes then meet memory that is no longer
 * offered, which breaks the connection each time [v2 §11.1.4]: the others' calls
 * must come to their ends all the same, by being sent again, each with the right
 * octets; and memory that was given up must not change.
 *
 * V2-11.1.4-05, -06.
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
#include <time.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { PROG = 0x20049001, VERS = 1, MS = 1000000, LEN = 20000, MARK = 0x3d };
enum { P_NULL, P_FILL, P_SLOW };
enum { ABORTS = 40, CALLS = 40 };

struct abuser {
	struct rpcrdma_call *call;
	struct rpcrdma_dest dest;
	uint8_t memory[LEN];
	uint32_t word;
	unsigned aborted, over;
};

struct user {
	struct rpcrdma_dest dest;
	uint8_t memory[LEN];
	uint32_t word;
	unsigned done, over;
};

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	unsigned downs;
	struct abuser abuser;
	struct user user;
} w;

static uint8_t pattern(uint32_t seed, size_t i)
{
	return (uint8_t)((i * 2654435761u + seed * 40503u) >> 7);
}

/* -- the service ------------------------------------------------------------------- */

static void fill(struct rpcrdma_request *q)
{
	const struct rpcrdma_piece *p;
	struct rpcrdma_piece r[2];
	uint8_t *out = rpcrdma_request_alloc(q, 4 + LEN);
	uint32_t word;

	assert_non_null(out);
	assert_int_equal(rpcrdma_request_args(q, &p), 1);
	memcpy(&word, p[0].base, 4);
	for (uint32_t i = 0; i < LEN; i++)
		out[4 + i] = pattern(ntohl(word), i);
	word = htonl(LEN);
	memcpy(out, &word, 4);
	r[0] = (struct rpcrdma_piece){out, 4, false};
	r[1] = (struct rpcrdma_piece){out + 4, LEN, true};
	(void)rpcrdma_request_reply(q, r, 2, NULL, NULL);
}

static void h_null(struct rpcrdma_request *q, void *arg)
{
	(void)rpcrdma_request_reply(q, NULL, 0, NULL, NULL);
}

static void h_fill(struct rpcrdma_request *q, void *arg)
{
	fill(q);
}

static void fill_late(void *arg)
{
	fill(arg);
}

/* The Call is here: its caller gives it up, and only then it is answered. */
static void h_slow(struct rpcrdma_request *q, void *arg)
{
	if (w.abuser.call)
		rpcrdma_call_cancel(w.abuser.call);
	assert_int_equal(rpcrdma_timer_start(w.engine, 2 * MS, fill_late, q, NULL), 0);
}

static const struct rpcrdma_procedure procs[] = {
        [P_NULL] = {"NULL", h_null, 0, 0, 0},
        [P_FILL] = {"FILL", h_fill, 0, 1, 0},
        [P_SLOW] = {"SLOW", h_slow, 0, 1, 0},
};
static const struct rpcrdma_program program = {PROG, VERS, procs, 3};

/* -- the users ------------------------------------------------------------- */

static struct rpcrdma_call *start(uint32_t proc, uint32_t *word,
                                  struct rpcrdma_dest *dest, uint8_t *memory,
                                  rpcrdma_done_fn *done, void *arg)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece p = {word, 4, false};
	struct rpcrdma_call *k;

	*dest = (struct rpcrdma_dest){.base = memory, .len = LEN};
	o.program = PROG;
	o.version = VERS;
	o.procedure = proc;
	o.args = &p;
	o.n_args = 1;
	o.dests = dest;
	o.n_dests = 1;
	o.done = done;
	o.arg = arg;
	assert_int_equal(rpcrdma_call(w.conn, &o, &k), 0);
	return k;
}

static void abort_one(void *arg);

static void on_aborted(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct abuser *a = arg;

	assert_int_equal(r->status, -ECANCELED);
	a->call = NULL;
	a->aborted++;
	memset(a->memory, MARK, LEN);
	assert_int_equal(rpcrdma_timer_start(w.engine, 8 * MS, abort_one, a, NULL), 0);
}

static void abort_one(void *arg)
{
	struct abuser *a = arg;

	for (unsigned i = 0; a->aborted && i < LEN; i++)
		assert_int_equal(a->memory[i], MARK);
	if (a->aborted < ABORTS)
		a->call = start(P_SLOW, &a->word, &a->dest, a->memory, on_aborted, a);
	else
		a->over = 1;
}

static void on_filled(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct user *u = arg;

	assert_int_equal(r->status, 0);
	assert_int_equal(u->dest.ret_len, LEN);
	for (unsigned i = 0; i < LEN; i++)
		assert_int_equal(u->memory[i], pattern(u->done, i));
	memset(u->memory, 0, LEN);
	u->done++;
	if (u->done < CALLS || !w.abuser.over) {
		u->word = htonl(u->done);
		(void)start(P_FILL, &u->word, &u->dest, u->memory, on_filled, u);
	} else {
		u->over = 1;
	}
}

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	w.downs += error != 0;
}

/* -- the tests ------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / MS;
}

static int set_up_with(const char *features)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;
	char port[16];

	memset(&w, 0, sizeof(w));
	o.reconnect_min_ns = 1 * MS;
	o.reconnect_max_ns = 4 * MS;
	o.features = features;
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	assert_int_equal(
	        rpcrdma_listen(w.engine, "127.0.0.1:0", &o, w.service, 8, &w.listener),
	        0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", port, &o, on_event,
	                                 NULL, &w.conn),
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

static int tear_down(void **state)
{
	uint64_t end = now_ms() + 5000;

	rpcrdma_conn_close(w.conn);
	rpcrdma_listener_close(w.listener, 0);
	while (!rpcrdma_engine_idle(w.engine) && now_ms() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 10), 0);
	assert_true(rpcrdma_engine_idle(w.engine));
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	return 0;
}

static void give_up_calls(void)
{
	uint64_t end = now_ms() + 60000;

	w.user.word = htonl(0);
	(void)start(P_FILL, &w.user.word, &w.user.dest, w.user.memory, on_filled,
	            &w.user);
	abort_one(&w.abuser);
	while (!(w.user.over && w.abuser.over) && now_ms() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 100), 0);
	assert_true(w.user.over && w.abuser.over);
	assert_int_equal(w.abuser.aborted, ABORTS);
	assert_true(w.user.done >= CALLS);
	print_message("    %u calls answered beside %u aborted; %u connections lost\n",
	              w.user.done, w.abuser.aborted, w.downs);
}

static void calls_given_up_do_not_stop_the_others(void **state)
{
	give_up_calls();
	/* The abuse had an effect: connections broke, and were made again. */
	assert_true(w.downs > 0);
}

/* The memory that a call named is kept until the server has invalidated it. */
static void by_default_calls_given_up_break_no_connection(void **state)
{
	give_up_calls();
	assert_int_equal(w.downs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(calls_given_up_do_not_stop_the_others,
	                                        set_up_without_features, tear_down),
	        cmocka_unit_test_setup_teardown(
	                by_default_calls_given_up_break_no_connection, set_up,
	                tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
