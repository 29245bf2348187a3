/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pooled Receives: posted without memory, which is asked for when a message arrives.
 * These tests run if the provider of the server has them.
 */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST = 1000000 }; /* length of a pooled Receive */

/* What the provider asked for since the last message. */
static struct {
	uint8_t *mem;
	uint64_t token;
	uint32_t len;
	unsigned asked;
	bool refuses;
} memory;

/* Moves the memory each time, so that an old pointer shows. */
static void *provide(void *ctx, uint64_t token, uint32_t have, uint32_t len)
{
	uint8_t *mem;

	assert_ptr_equal(&memory, ctx);
	assert_true(len >= 1 && len <= MOST && have < len);
	assert_true(memory.asked ? token == memory.token && have <= memory.len : !have);
	memory.asked++;
	if (memory.refuses)
		return NULL;
	mem = malloc(len);
	memset(mem, 0xee, len);
	if (have)
		memcpy(mem, memory.mem, have);
	free(memory.mem);
	memory.mem = mem;
	memory.token = token;
	memory.len = len;
	return mem;
}

static void drop_memory(void)
{
	free(memory.mem);
	memset(&memory, 0, sizeof(memory));
}

static int setup_pooled(void **state)
{
	int err = rig_setup(state);
	struct rig *g = *state;

	drop_memory();
	if (err)
		return err;
	g->cfg[SERVER].memory.receive = provide;
	g->cfg[SERVER].memory.ctx = &memory;
	rig_connect_pair(g, CLIENT);
	return 0;
}

static int teardown_pooled(void **state)
{
	int err = rig_teardown(state);

	drop_memory();
	return err;
}

static void send_pooled(struct rig *g, size_t len)
{
	struct rr_wc wc;

	drop_memory();
	rig_fill(g->end[CLIENT].mem, len, (unsigned)len);
	rig_recv(g, SERVER, NULL, MOST);
	rig_send(g, CLIENT, g->end[CLIENT].mem, len, 0);
	rig_flush(g, CLIENT);
	wc = rig_wait(g, SERVER, RR_WC_RECV);
	assert_int_equal(0, wc.status);
	assert_int_equal(len, wc.len);
	assert_int_equal(wc.token, memory.token);
	rig_check(memory.mem, len, (unsigned)len);
	assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
}

/* A message gets at most twice as much memory as it is long. */
static void memory_for_what_arrives(void **state)
{
	static const size_t sizes[] = {0,    1,     2,     3,     300,    4095,  4096,
	                               4097, 30000, 65535, 65536, 100001, 900000};
	struct rig *g = *state;

	for (size_t i = 0; i < RR_ARRAY_SIZE(sizes); i++) {
		send_pooled(g, sizes[i]);
		assert_in_range(memory.len, RR_MAX(sizes[i], 1u),
		                RR_MAX(2 * sizes[i], 1u));
	}
	rig_audit(g, CLIENT);
	rig_audit(g, SERVER);
}

static void idle_receives_have_no_memory(void **state)
{
	struct rig *g = *state;

	for (unsigned i = 0; i < 100; i++)
		rig_recv(g, SERVER, NULL, MOST);
	rig_settle(g);
	assert_int_equal(0, memory.asked);
	rig_fill(g->end[CLIENT].mem, 64, 9);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 64, 0);
	rig_flush(g, CLIENT);
	assert_int_equal(1, rig_wait(g, SERVER, RR_WC_RECV).token);
	rig_check(memory.mem, 64, 9);
	assert_int_equal(64, memory.len);
}

/* Pooled Receives and others are used in the order of posting. */
static void pooled_among_others(void **state)
{
	struct rig *g = *state;
	uint8_t *in = g->end[SERVER].mem;

	for (unsigned i = 0; i < 20; i++) {
		drop_memory();
		memset(in, 0xee, 500);
		rig_recv(g, SERVER, i % 3 ? NULL : in, 500);
		rig_fill(g->end[CLIENT].mem, 400, i);
		rig_send(g, CLIENT, g->end[CLIENT].mem, 400, 0);
		rig_flush(g, CLIENT);
		assert_int_equal(400, rig_wait(g, SERVER, RR_WC_RECV).len);
		assert_int_equal(i % 3 != 0, memory.asked > 0);
		rig_check(i % 3 ? memory.mem : in, 400, i);
		assert_int_equal(0, rig_wait(g, CLIENT, RR_WC_SEND).status);
	}
}

static void pooled_and_too_long(void **state)
{
	struct rig *g = *state;

	rig_recv(g, SERVER, NULL, 100);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 101, 0);
	rig_flush(g, CLIENT);
	rig_ended(g, SERVER, -EREMOTEIO);
	assert_int_equal(0, memory.asked);
}

static void no_memory_for_a_message(void **state)
{
	struct rig *g = *state;

	send_pooled(g, 700);
	drop_memory();
	memory.refuses = true;
	rig_recv(g, SERVER, NULL, MOST);
	rig_send(g, CLIENT, g->end[CLIENT].mem, 500, 0);
	rig_flush(g, CLIENT);
	rig_ended(g, SERVER, -ENOMEM);
	assert_int_equal(1, memory.asked);
}

#define P(f) cmocka_unit_test_setup_teardown(f, setup_pooled, teardown_pooled)

const struct CMUnitTest rig_pooled_tests[] = {
        P(memory_for_what_arrives), P(idle_receives_have_no_memory),
        P(pooled_among_others),     P(pooled_and_too_long),
        P(no_memory_for_a_message),
};
const size_t rig_pooled_count = RR_ARRAY_SIZE(rig_pooled_tests);
