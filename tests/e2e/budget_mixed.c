/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest budget, and calls of every format in both directions at once: continued
 * ones, Special ones, Read and Write chunks, reverse calls.  They have no timeout, and
 * each ends: it succeeds, or memory is refused to its handler, which wants more than
 * was reserved, or a Call in parts is refused, of which more came than can be
 * held.  At the end the budget is charged for the connections only.
 */
#include "talk.h"

enum { LIMIT = 1 << 20, ROUNDS = 5, FORWARD = 120, BACK = 80, HANG_MS = 60000 };

static uint64_t dice_state;
static unsigned by_transport; /* refused */

static uint32_t dice(uint32_t sides)
{
	dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice_state >> 33) % sides;
}

static void turn(void)
{
	struct rpcrdma_budget b;

	assert_int_equal(rpcrdma_engine_process(t.engine, 5), 0);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_true(b.used_bytes <= LIMIT);
}

static struct shape random_shape(void)
{
	return (struct shape){
	        .in = dice(2) ? dice(200) * 4 : dice(BIG),
	        .out = dice(2) ? dice(200) : dice(BIG),
	        .in_item = dice(2),
	        .out_item = dice(2),
	        .special = dice(4) == 0,
	};
}

static void wait_for_all(void)
{
	uint64_t stop = now_ms() + HANG_MS;

	while (t.n_done < t.n_ones) {
		if (now_ms() > stop)
			fail_msg("%u of %u calls ended", t.n_done, t.n_ones);
		turn();
	}
}

/* Those that failed were refused memory: by their handler or by the transport. */
static unsigned count_refused(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t.n_ones; i++) {
		if (!ones[i].status)
			continue;
		assert_true(ones[i].status == RPCRDMA_SYSTEM_ERR ||
		            ones[i].status == RPCRDMA_TRANSPORT_ERROR);
		by_transport += ones[i].status == RPCRDMA_TRANSPORT_ERROR;
		n++;
	}
	return n;
}

static void open_both(void)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;
	char port[16];

	assert_int_equal(rpcrdma_budget_set(LIMIT), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &t.engine), 0);
	assert_int_equal(rpcrdma_service_new(&t.service), 0);
	assert_int_equal(rpcrdma_service_add(t.service, &program, NULL), 0);
	o.provider = "iwarp";
	o.version = 2;
	assert_int_equal(
	        rpcrdma_listen(t.engine, "127.0.0.1:0", &o, t.service, 0, &t.listener),
	        0);
	assert_int_equal(rpcrdma_listener_addr(t.listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	o.callbacks = t.service;
	assert_int_equal(
	        rpcrdma_connect(t.engine, "127.0.0.1", port, &o, NULL, NULL, &t.conn),
	        0);
	begin(t.conn, P_BIND, (struct shape){0});
	wait_for_all();
	assert_true(t.bound);
}

static void nothing_waits_for_ever(void **state)
{
	struct rpcrdma_budget b;
	unsigned succeeded = 0, failed = 0, all = 0;

	for (size_t i = 0; i < sizeof(octets); i++)
		octets[i] = pattern(i);
	open_both();
	for (unsigned round = 0; round < ROUNDS; round++) {
		dice_state = 77 + round;
		t.n_ones = t.n_done = t.succeeded = 0;
		for (unsigned i = 0; i < FORWARD; i++) {
			begin(t.conn, dice(4) ? P_WORK : P_ONCE, random_shape());
			if (i < BACK)
				begin(t.back, P_WORK, random_shape());
		}
		wait_for_all();
		succeeded += t.succeeded;
		failed += count_refused();
		all += t.n_ones;
	}
	rpcrdma_budget_get(&b, sizeof(b));
	printf("%u of %u calls succeeded, %u were refused by the transport, %u times a "
	       "connection waited\n",
	       succeeded, all, by_transport, (unsigned)b.waits);
	assert_int_equal(all, ROUNDS * (FORWARD + BACK));
	assert_true(succeeded > all / 4);
	assert_int_equal(succeeded + failed, all);
	assert_true(b.waits > 0);
	assert_int_equal(b.waiting, 0);
	assert_int_equal(b.ended, 0);
	assert_int_equal(b.used_bytes, b.connections_bytes);
	rpcrdma_conn_close(t.back);
	rpcrdma_conn_close(t.conn);
	rpcrdma_engine_free(t.engine);
	rpcrdma_service_free(t.service);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_int_equal(b.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_waits_for_ever)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
