/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes over software iWARP call each other for two minutes while the
 * network takes their connections again and again.  Every call of either side
 * succeeds, with the octets that both compute by themselves; neither holds more
 * memory at the end than after the first part.
 * [v2 §4.5, §4.5.5; V2-4.5.5-01, V2-4.5.3-03]
 */
#include "test_mixed_calls.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "test_memory.h"

enum { SOAK_S = 120, FEW = 12, CALM_MS = 20000, SLACK = 300 };
enum { CACHE = 256 << 10 }; /* of replies: soon full, so that it does not grow here */

const char *__asan_default_options(void);
/* What was freed is not to look like what is held. */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
	dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice_state >> 33) % sides;
}

static bool need_bind;
static unsigned n_cuts, n_ups;

static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	assert_false(final);
	need_bind = need_bind || !error;
	n_ups += !error;
}

static unsigned under_way(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FEW; i++)
		n += mixed_calls[i].wanted && !mixed_calls[i].done;
	return n;
}

static void check_ended(struct mixed_call *x)
{
	if (x->wanted && x->done && x->status)
		fail_msg("a call ended with %d (%s)", x->status,
		         rpcrdma_strstatus(x->status));
}

/* A call in a free place, if there is one. */
static bool start(struct rpcrdma_conn *c, uint32_t proc, struct shape s)
{
	for (unsigned i = 0; i < FEW; i++) {
		if (mixed_calls[i].wanted && !mixed_calls[i].done)
			continue;
		check_ended(&mixed_calls[i]);
		mixed.n_calls = i;
		mixed_begin(c, proc, s);
		assert_true(mixed_calls[i].wanted);
		return true;
	}
	return false;
}

static void random_call(struct rpcrdma_conn *c)
{
	const struct shape s = {
	        .in = dice(2) ? dice(200) * 4 : dice(BIG),
	        .out = dice(2) ? dice(200) : dice(BIG),
	        .in_item = dice(2),
	        .out_item = dice(2),
	        .special = dice(8) == 0,
	};

	(void)start(c, dice(4) ? P_WORK : P_ONCE, s); /* when there is a place */
}

/* The network takes the connections of this process to or from the port. */
static void cut(void)
{
	struct sockaddr_in sa, me;

	n_cuts++;
	for (int fd = 3; fd < 64; fd++) {
		socklen_t len = sizeof(sa), own = sizeof(me);

		if (getpeername(fd, (struct sockaddr *)&sa, &len) ||
		    getsockname(fd, (struct sockaddr *)&me, &own) ||
		    sa.sin_family != AF_INET)
			continue;
		if (ntohs(sa.sin_port) == mixed.port ||
		    ntohs(me.sin_port) == mixed.port)
			(void)shutdown(fd, SHUT_RDWR); /* gone is as good */
	}
}

static void turn(void)
{
	assert_int_equal(rpcrdma_engine_process(mixed.engine, 5), 0);
}

/* Calls and cuts until @until, or until the other side says on @fd to end. */
static void restless(uint64_t until, int fd)
{
	uint64_t next_cut = now_ms() + 200;
	char c;

	while (now_ms() < until && (fd < 0 || read(fd, &c, 1) < 0)) {
		struct rpcrdma_conn *conn = fd < 0 ? mixed.conn : mixed.back;

		if (need_bind)
			need_bind = !start(mixed.conn, P_BIND, (struct shape){0});
		else if (conn)
			random_call(conn);
		turn();
		if (now_ms() < next_cut)
			continue;
		cut();
		next_cut = now_ms() + 50 + dice(400);
	}
}

/* All calls of this side end, and succeed. */
static void calm(void)
{
	uint64_t end = now_ms() + CALM_MS;

	while (under_way() || need_bind) {
		if (need_bind)
			need_bind = !start(mixed.conn, P_BIND, (struct shape){0});
		turn();
		if (now_ms() > end)
			fail_msg("%u calls do not end", under_way());
	}
	for (unsigned i = 0; i < FEW; i++)
		check_ended(&mixed_calls[i]);
}

static struct rpcrdma_conn_options prepare(uint64_t seed)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	for (size_t i = 0; i < BIG; i++)
		mixed_octets[i] = mixed_pattern(i);
	memset(&mixed, 0, sizeof(mixed));
	dice_state = seed;
	mixed.timeout_ns = 30000ull * MS;
	mixed.retry_ns = 30000ull * MS;
	o.reconnect_min_ns = 2 * MS;
	o.reconnect_max_ns = 20 * MS;
	o.retry_ns = 30000ull * MS;
	assert_int_equal(rpcrdma_engine_new(NULL, &mixed.engine), 0);
	assert_int_equal(rpcrdma_service_new(&mixed.service), 0);
	assert_int_equal(rpcrdma_service_set_reply_cache(mixed.service, CACHE), 0);
	assert_int_equal(rpcrdma_service_add(mixed.service, &mixed_program, NULL), 0);
	return o;
}

static void drain(void)
{
	uint64_t end = now_ms() + CALM_MS;

	while (!rpcrdma_engine_idle(mixed.engine) && now_ms() < end)
		turn();
	assert_true(rpcrdma_engine_idle(mixed.engine));
	rpcrdma_engine_free(mixed.engine);
	rpcrdma_service_free(mixed.service);
}

static void flat(const char *who, long before)
{
	print_message("%s: %u calls ended, %u cuts, %ld blocks, before %ld\n", who,
	              mixed.n_done, n_cuts, live_blocks, before);
	assert_true(live_blocks <= before + SLACK);
}

/* Serves, and calls its client, until @in says something or ends. */
static void server(int in, int out)
{
	struct rpcrdma_conn_options o = prepare(2);
	struct sockaddr_storage sa;
	uint64_t began = now_ms();
	long before;

	assert_int_equal(rpcrdma_listen(mixed.engine, "127.0.0.1:0", &o, mixed.service,
	                                0, &mixed.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(mixed.listener, &sa), 0);
	mixed.port = ntohs(((struct sockaddr_in *)&sa)->sin_port);
	assert_int_equal(write(out, &mixed.port, sizeof(mixed.port)),
	                 sizeof(mixed.port));
	restless(began + SOAK_S * 1000 / 4, in);
	calm();
	before = live_blocks;
	restless(UINT64_MAX, in);
	while (read(in, &(char){0}, 1) <
	       0) /* the client is calm when it says so twice */
		turn();
	calm();
	flat("server", before);
	assert_true(mixed.n_done > 1000);
	rpcrdma_conn_close(mixed.back);
	rpcrdma_listener_close(mixed.listener, 1000ull * MS);
	drain();
}

static void client(int in, int out)
{
	struct rpcrdma_conn_options o = prepare(1);
	uint64_t began = now_ms();
	char port[16];
	long before;

	assert_int_equal(read(in, &mixed.port, sizeof(mixed.port)), sizeof(mixed.port));
	snprintf(port, sizeof(port), "%u", mixed.port);
	o.callbacks = mixed.service;
	assert_int_equal(rpcrdma_connect(mixed.engine, "127.0.0.1", port, &o, on_event,
	                                 NULL, &mixed.conn),
	                 0);
	restless(began + SOAK_S * 1000 / 4, -1);
	calm();
	before = live_blocks;
	restless(began + SOAK_S * 1000, -1);
	assert_int_equal(write(out, "e", 1), 1); /* the server cuts no more */
	for (uint64_t end = now_ms() + 500; now_ms() < end;)
		turn();
	calm();
	assert_int_equal(write(out, "e", 1), 1);
	for (uint64_t end = now_ms() + 1000; now_ms() < end;)
		turn(); /* the server's calls end as well */
	calm();
	flat("client", before);
	assert_true(mixed.n_done > 1000 && n_ups > 100);
	rpcrdma_conn_close(mixed.conn);
	drain();
}

static void connections_are_taken_for_two_minutes(void **state)
{
	int down[2], up[2], status;
	pid_t pid;

	assert_int_equal(pipe(down), 0);
	assert_int_equal(pipe(up), 0);
	assert_int_equal(fcntl(down[0], F_SETFL, O_NONBLOCK), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(down[1]);
		close(up[0]);
		server(down[0], up[1]);
		exit(0); /* with a look for leaks */
	}
	close(down[0]);
	close(up[1]);
	client(up[0], down[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(down[1]);
	close(up[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(connections_are_taken_for_two_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
