/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest budget, and calls of every format in both directions at once: continued
 * ones, Special ones, Read and Write chunks, reverse calls.  They have no timeout, and
 * each ends: it succeeds, or memory is refused to its handler, which wants more than
 * was reserved, or a Call in parts is refused, of which more came than can be
 * held.  At the end the budget is charged for the connections only.
 */
#include "test_mixed_calls.h"

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

	assert_int_equal(rpcrdma_engine_process(mixed.engine, 5), 0);
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

	while (mixed.n_done < mixed.n_calls) {
		if (now_ms() > stop)
			fail_msg("%u of %u calls ended", mixed.n_done, mixed.n_calls);
		turn();
	}
}

/* Those that failed were refused memory: by their handler or by the transport. */
static unsigned count_refused(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < mixed.n_calls; i++) {
		if (!mixed_calls[i].status)
			continue;
		assert_true(mixed_calls[i].status == RPCRDMA_SYSTEM_ERR ||
		            mixed_calls[i].status == RPCRDMA_TRANSPORT_ERROR);
		by_transport += mixed_calls[i].status == RPCRDMA_TRANSPORT_ERROR;
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
	assert_int_equal(rpcrdma_engine_new(NULL, &mixed.engine), 0);
	assert_int_equal(rpcrdma_service_new(&mixed.service), 0);
	assert_int_equal(rpcrdma_service_add(mixed.service, &mixed_program, NULL), 0);
	o.provider = "iwarp";
	o.version = 2;
	assert_int_equal(rpcrdma_listen(mixed.engine, "127.0.0.1:0", &o, mixed.service,
	                                0, &mixed.listener),
	                 0);
	assert_int_equal(rpcrdma_listener_addr(mixed.listener, &sa), 0);
	snprintf(port, sizeof(port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	o.callbacks = mixed.service;
	assert_int_equal(rpcrdma_connect(mixed.engine, "127.0.0.1", port, &o, NULL,
	                                 NULL, &mixed.conn),
	                 0);
	mixed_begin(mixed.conn, P_BIND, (struct shape){0});
	wait_for_all();
	assert_true(mixed.bound);
}

static void nothing_waits_for_ever(void **state)
{
	struct rpcrdma_budget b;
	unsigned succeeded = 0, failed = 0, all = 0;
	uint64_t end;

	for (size_t i = 0; i < sizeof(mixed_octets); i++)
		mixed_octets[i] = mixed_pattern(i);
	open_both();
	for (unsigned round = 0; round < ROUNDS; round++) {
		dice_state = 77 + round;
		mixed.n_calls = mixed.n_done = mixed.succeeded = 0;
		for (unsigned i = 0; i < FORWARD; i++) {
			mixed_begin(mixed.conn, dice(4) ? P_WORK : P_ONCE,
			            random_shape());
			if (i < BACK)
				mixed_begin(mixed.back, P_WORK, random_shape());
		}
		wait_for_all();
		succeeded += mixed.succeeded;
		failed += count_refused();
		all += mixed.n_calls;
	}
	end = now_ms() + 5000;
	/* The notifications of the last replies that were read may be on their way. */
	do {
		assert_int_equal(rpcrdma_engine_process(mixed.engine, 5), 0);
		rpcrdma_budget_get(&b, sizeof(b));
	} while (b.used_bytes != b.connections_bytes && now_ms() < end);
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
	rpcrdma_conn_close(mixed.back);
	rpcrdma_conn_close(mixed.conn);
	rpcrdma_engine_free(mixed.engine);
	rpcrdma_service_free(mixed.service);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_int_equal(b.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_waits_for_ever)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
