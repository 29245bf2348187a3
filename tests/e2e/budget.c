/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory is bounded for the process: greedy clients that take nothing, beside one that
 * does; handlers that allocate late; Calls that are refused before they are pulled.
 * The greedy ones are plain sockets (raw_peer.h) that speak version 1.
 */
#include "test_raw_peer.h"

enum { PROGRAM = 0x20049002, MIB = 1 << 20, LIMIT = 16 * MIB, GREEDY = 8, CALLS = 12 };
enum { P_BIG, P_PARK, P_LATE, N_PROCS };

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct rpcrdma_conn_options options;
	struct raw_peer greedy[GREEDY];
	struct rpcrdma_request *parked[64];
	unsigned n_parked, late, refused;
	struct sockaddr_in addr;
} w;

struct done {
	unsigned n;
	int status;
};

/* -- the server ------------------------------------------------------------ */

static void answer(struct rpcrdma_request *q)
{
	uint8_t *m = rpcrdma_request_alloc(q, MIB);
	struct rpcrdma_piece p[2] = {{"\0\x10\0\0", 4, false}, {m, MIB, true}};

	if (!m) {
		w.refused++;
		assert_int_equal(rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0), 0);
		return;
	}
	memset(m, 7, MIB);
	assert_int_equal(rpcrdma_request_reply(q, p, 2, NULL, NULL), 0);
}

static void h_big(struct rpcrdma_request *q, void *arg)
{
	answer(q);
}

static void h_park(struct rpcrdma_request *q, void *arg)
{
	assert_true(w.n_parked < 64);
	w.parked[w.n_parked++] = q;
}

static const struct rpcrdma_procedure procs[N_PROCS] = {
        [P_BIG] = {.name = "BIG", .handler = h_big, .max_write_items = 1},
        [P_PARK] = {.name = "PARK", .handler = h_park, .max_write_items = 1},
        [P_LATE] = {.name = "LATE", .handler = h_park},
};
static const struct rpcrdma_program program = {PROGRAM, 1, procs, N_PROCS};

static int begin(void **state)
{
	memset(&w, 0, sizeof(w));
	for (unsigned i = 0; i < GREEDY; i++)
		w.greedy[i].fd = -1;
	w.options = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	assert_int_equal(rpcrdma_budget_set(LIMIT), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	return 0;
}

static void start(void)
{
	struct sockaddr_storage sa;
	char port[16];

	w.options.provider = "iwarp";
	assert_int_equal(rpcrdma_listen(w.engine, "127.0.0.1:0", &w.options, w.service,
	                                0, &w.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	memcpy(&w.addr, &sa, sizeof(w.addr));
	snprintf(port, sizeof(port), "%u", ntohs(w.addr.sin_port));
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", port, &w.options, NULL,
	                                 NULL, &w.conn),
	                 0);
}

/* Everything ends, and nothing is held any more. */
static int end(void **state)
{
	struct rpcrdma_budget b;

	for (unsigned i = 0; i < GREEDY; i++)
		raw_close(&w.greedy[i]);
	rpcrdma_engine_free(w.engine);
	rpcrdma_service_free(w.service);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_int_equal(b.used_bytes, 0);
	assert_int_equal(b.connections_bytes, 0);
	assert_int_equal(b.waiting, 0);
	return 0;
}

static void check_budget(void)
{
	struct rpcrdma_budget b;

	rpcrdma_budget_get(&b, sizeof(b));
	assert_int_equal(b.limit_bytes, LIMIT);
	assert_true(b.used_bytes <= b.limit_bytes);
	assert_true(b.connections_bytes <= b.used_bytes);
}

static void on_done(struct rpcrdma_call *c, const struct rpcrdma_reply *r, void *arg)
{
	struct done *d = arg;

	d->n++;
	d->status = r->status;
}

static void spin_until(const unsigned *n, unsigned least, unsigned seconds)
{
	uint64_t stop = raw_now() + seconds * 1000ull * RAW_MS;

	while (*n < least) {
		if (raw_now() > stop)
			fail_msg("%u of %u after %u s", *n, least, seconds);
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
		check_budget();
	}
}

static void spin_ms(unsigned ms)
{
	uint64_t stop = raw_now() + (uint64_t)ms * RAW_MS;

	while (raw_now() < stop) {
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		check_budget();
	}
}

static struct rpcrdma_call_options call_to(uint32_t procedure, struct done *d)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	o.program = PROGRAM;
	o.version = 1;
	o.procedure = procedure;
	o.idempotent = true;
	o.done = on_done;
	o.arg = d;
	return o;
}

/* -- clients that take nothing ----------------------------------------------------- */

/* It hears its first answer, which gives it 32 credits, and nothing more. */
static void greedy_open(struct raw_peer *p)
{
	static struct raw_msg msg;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(connect(fd, (struct sockaddr *)&w.addr, sizeof(w.addr)), 0);
	raw_init(p, w.engine, fd);
	raw_send_mpa(p, "MPA ID Req Frame", NULL, 0);
	raw_receive_mpa(p, "MPA ID Rep Frame");
	raw_send_rtr(p);
	RAW_SEND(p, 99, 1, 32, 0, 0, 0, 0, 99, 0, 2, PROGRAM, 1, N_PROCS, 0, 0, 0, 0);
	raw_receive_msg(p, &msg);
	assert_int_equal(msg.word[0], 99);
}

/* One Call for 1 MiB by a Write chunk, in version 1. */
static void greedy_call(struct raw_peer *p, uint32_t xid)
{
	RAW_SEND(p, xid, 1, 32, 0, 0,           /* nothing to read */
	         1, 1, 0x1234, MIB, 0, 0, 0, 0, /* one Write chunk, of one segment */
	         xid, 0, 2, PROGRAM, 1, P_BIG, 0, 0, 0, 0);
}

/* Both what they hold and how long another client waits for them is bounded. */
static void greedy_clients_are_ended(void **state)
{
	static uint8_t room[MIB];
	uint64_t stop, longest = 0;
	unsigned served = 0;
	struct rpcrdma_budget b;

	w.options.max_held_bytes = 8 * MIB;
	start();
	for (unsigned i = 0; i < GREEDY; i++)
		greedy_open(&w.greedy[i]);
	for (unsigned k = 0; k < CALLS; k++) {
		for (unsigned i = 0; i < GREEDY; i++)
			greedy_call(&w.greedy[i], 1 + k);
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
		check_budget();
	}
	stop = raw_now() + 9000ull * RAW_MS;
	while (raw_now() < stop) {
		struct rpcrdma_dest d = {.base = room, .len = MIB};
		struct done x = {0};
		struct rpcrdma_call_options o = call_to(P_BIG, &x);
		uint64_t from = raw_now();

		o.dests = &d;
		o.n_dests = 1;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
		spin_until(&x.n, 1, 20);
		assert_int_equal(x.status, 0);
		assert_int_equal(room[MIB - 1], 7);
		longest = raw_now() - from > longest ? raw_now() - from : longest;
		served++;
		spin_ms(50);
	}
	rpcrdma_budget_get(&b, sizeof(b));
	assert_true(b.waits > 0);
	assert_true(b.ended >= 1);
	assert_true(longest < 8000ull * RAW_MS);
	assert_true(served > 10);
	printf("%u calls served, the longest in %u ms; %u connections ended\n", served,
	       (unsigned)(longest / RAW_MS), (unsigned)b.ended);
}

/* -- handlers that allocate late ------------------------------------------- */

/* What Write chunks take is reserved before a handler begins: no more of them begin. */
static void late_results_are_reserved(void **state)
{
	static uint8_t room[24][MIB];
	static struct rpcrdma_dest dest[24];
	struct done x = {0};
	struct rpcrdma_call_options o = call_to(P_PARK, &x);
	unsigned answered = 0;

	w.options.max_held_bytes = 4 * MIB;
	start();
	for (unsigned i = 0; i < 24; i++) {
		dest[i] = (struct rpcrdma_dest){.base = room[i], .len = MIB};
		o.dests = &dest[i];
		o.n_dests = 1;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	spin_until(&w.n_parked, 3, 10);
	spin_ms(300);
	assert_int_equal(w.n_parked, 3);
	while (answered < 24) {
		spin_until(&w.n_parked, answered + 1, 10);
		answer(w.parked[answered++]);
		assert_true(w.n_parked - answered <= 3);
	}
	spin_until(&x.n, 24, 10);
	assert_int_equal(x.status, 0);
	assert_int_equal(w.refused, 0);
}

/* What no chunk announced is refused to the handler at the limit. */
static void more_than_the_limit_is_refused(void **state)
{
	struct done x = {0};
	struct rpcrdma_call_options o = call_to(P_LATE, &x);

	w.options.max_held_bytes = 4 * MIB;
	w.options.max_message_bytes = 2 * MIB;
	start();
	for (unsigned i = 0; i < 24; i++)
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.n_parked, 24, 10);
	for (unsigned i = 0; i < 24; i++)
		answer(w.parked[i]);
	assert_in_range(w.refused, 20, 22);
	check_budget();
	spin_until(&x.n, 24, 10);
}

/* -- Calls in parts -------------------------------------------------------- */

/* A Call in parts reserves the longest message with its first part: beside two requests
 * of 1 MiB there is no room for that, though its 256 KiB would fit beside three. */
static void calls_in_parts_reserve_before_they_arrive(void **state)
{
	static uint8_t room[3][MIB], args[256 << 10];
	static struct rpcrdma_dest dest[3];
	struct rpcrdma_piece p = {args, sizeof(args), false};
	struct done x = {0}, y = {0};
	struct rpcrdma_call_options o = call_to(P_PARK, &x),
	                            parts = call_to(P_LATE, &y);
	struct rpcrdma_stats stats;

	w.options.max_held_bytes = 4 * MIB;
	w.options.max_message_bytes = 2 * MIB;
	start();
	for (unsigned i = 0; i < 3; i++) {
		dest[i] = (struct rpcrdma_dest){.base = room[i], .len = MIB};
		o.dests = &dest[i];
		o.n_dests = 1;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	spin_until(&w.n_parked, 3, 10);
	parts.args = &p;
	parts.n_args = 1;
	assert_int_equal(rpcrdma_call(w.conn, &parts, NULL), 0);
	spin_ms(300);
	assert_int_equal(w.n_parked, 3);
	answer(w.parked[0]);
	spin_until(&x.n, 1, 10);
	spin_ms(300);
	assert_int_equal(w.n_parked, 3);
	answer(w.parked[1]);
	spin_until(&w.n_parked, 4, 10);
	answer(w.parked[2]);
	assert_int_equal(rpcrdma_request_error(w.parked[3], RPCRDMA_SYSTEM_ERR, 0), 0);
	spin_until(&x.n, 3, 10);
	spin_until(&y.n, 1, 10);
	assert_int_equal(y.status, RPCRDMA_SYSTEM_ERR);
	rpcrdma_conn_get_stats(w.conn, &stats, sizeof(stats));
	assert_true(stats.bytes_continued >= sizeof(args));
}

/* -- what is refused is not pulled ----------------------------------------- */

static void unknown_programs_are_not_pulled(void **state)
{
	static uint8_t args[2 * MIB];
	struct rpcrdma_piece p = {args, sizeof(args), false};
	struct done x = {0};
	struct rpcrdma_call_options o = call_to(0, &x);
	struct rpcrdma_stats before, after;

	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.n, 1, 10);
	rpcrdma_engine_get_stats(w.engine, &before, sizeof(before));
	o.program = 999999;
	o.args = &p;
	o.n_args = 1;
	o.force_special = true;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.n, 2, 10);
	assert_int_equal(x.status, RPCRDMA_PROG_UNAVAIL);
	rpcrdma_engine_get_stats(w.engine, &after, sizeof(after));
	/* The beginning lies in two runs: the header's, and the arguments'. */
	assert_int_equal(after.rdma_reads - before.rdma_reads, 2);
	assert_true(after.wire_bytes_sent - before.wire_bytes_sent < 16384);
	o.program = PROGRAM;
	o.procedure = N_PROCS;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.n, 3, 10);
	assert_int_equal(x.status, RPCRDMA_PROC_UNAVAIL);
}

/* -- connections ----------------------------------------------------------- */

/* A connection pays for three Receives when it is accepted, and for the others when its
 * client's first message has arrived.  Connections have 3/8 of the limit, 6 MiB: two can
 * be accepted, but only one can have all its 130 Receives. */
static void receives_are_paid_for_with_the_first_message(void **state)
{
	enum { BUFFER = 32 << 10, RECEIVES = 2 * 64 + 2 };
	struct done x = {0}, y = {0};
	struct rpcrdma_call_options o = call_to(0, &x);
	struct rpcrdma_conn *second;
	struct rpcrdma_stats stats;
	struct rpcrdma_budget b;
	char port[16];

	w.options.credits = 64;
	w.options.inline_bytes = BUFFER;
	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.n, 1, 10);
	assert_int_equal(x.status, 0);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_in_range(b.connections_bytes, RECEIVES * BUFFER,
	                RECEIVES * BUFFER + 64 * 1024);

	w.options.no_reconnect = true;
	snprintf(port, sizeof(port), "%u", ntohs(w.addr.sin_port));
	assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", port, &w.options, NULL,
	                                 NULL, &second),
	                 0);
	o.arg = &y;
	assert_int_equal(rpcrdma_call(second, &o, NULL), 0);
	spin_until(&y.n, 1, 10);
	assert_true(y.status < 0);
	rpcrdma_engine_get_stats(w.engine, &stats, sizeof(stats));
	assert_true(stats.connections_refused > 0);
	o.arg = &x;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&x.n, 2, 10);
	assert_int_equal(x.status, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	        T(greedy_clients_are_ended),
	        T(late_results_are_reserved),
	        T(more_than_the_limit_is_refused),
	        T(calls_in_parts_reserve_before_they_arrive),
	        T(unknown_programs_are_not_pulled),
	        T(receives_are_paid_for_with_the_first_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
