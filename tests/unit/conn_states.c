/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves of the state machines that only unusual orders of events take: ends between two
 * actions, dialogues that are over before they began.  Debug builds compare each with the
 * tables of conn/states.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_conn_raw.h"

enum { XID = 0x55, LONG = 9000 };

/* A call of @len octets, with @n_dests results that get a Write chunk each. */
struct ask {
	uint32_t words[LONG / 4];
	uint8_t result[2][64];
	struct rr_piece piece;
	struct rr_dest dest[2];
	struct rr_call call;
};

static struct ask *ask(struct side *s, size_t len, unsigned n_dests)
{
	struct ask *a = calloc(1, sizeof(*a));

	rr_store_u32(a->words, XID);
	a->piece = (struct rr_piece){.base = a->words, .len = len};
	for (unsigned i = 0; i < n_dests; i++)
		a->dest[i] = (struct rr_dest){.base = a->result[i],
		                              .len = sizeof(a->result[i])};
	a->call = (struct rr_call){
	        .xid = XID,
	        .pieces = &a->piece,
	        .n_pieces = 1,
	        .dests = a->dest,
	        .n_dests = n_dests,
	};
	assert_int_equal(rr_conn_call(s->c, &a->call, s->now), 0);
	return a;
}

static void expect_done(const struct side *s, const struct ask *a, int status)
{
	assert_int_equal(s->calls_done, 1);
	assert_int_equal(a->call.status, status);
	assert_int_equal(side_valid_regions(s), 0);
}

/* The next action, which is a registration. */
static struct rr_action poll_register(struct side *s)
{
	struct rr_action a;

	assert_true(rr_conn_next(s->c, &a));
	assert_int_equal(a.kind, RR_ACT_REGISTER);
	return a;
}

/* -- calls ----------------------------------------------------------------------- */

static void a_connection_lost_while_a_call_is_registering(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct ask *a = ask(s, 40, 2);

	(void)state;
	(void)poll_register(s);
	side_lose(s, 0);
	expect_done(s, a, -ECONNRESET);
	raw_end(s);
	free(a);
}

static void a_registration_answered_after_the_close(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct ask *a = ask(s, 40, 1);
	struct rr_action reg = poll_register(s);

	(void)state;
	rr_conn_close(s->c, -ECANCELED, s->now);
	side_register(s, &reg);
	side_drain(s);
	assert_true(s->disconnect);
	assert_int_equal(s->calls_done, 0);
	side_lose(s, 0);
	expect_done(s, a, -ECONNRESET);
	raw_end(s);
	free(a);
}

/* The first region is being invalidated when the second turns out to be valid. */
static void a_call_cancelled_between_its_registrations(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct ask *a = ask(s, 40, 2);
	struct rr_action reg = poll_register(s);

	(void)state;
	side_register(s, &reg);
	reg = poll_register(s);
	rr_conn_cancel(s->c, &a->call, s->now);
	side_register(s, &reg);
	assert_int_equal(side_valid_regions(s), 2);
	side_drain(s);
	assert_int_equal(s->calls_done, 0);
	side_complete_all(s);
	expect_done(s, a, -ECANCELED);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
	free(a);
}

static void a_call_cancelled_before_it_is_sent(void **state)
{
	struct side *s = raw_ready(RR_CONN_CLIENT, NULL);
	struct ask *a = ask(s, 40, 1);
	struct rr_action reg = poll_register(s);

	(void)state;
	side_register(s, &reg);
	rr_conn_cancel(s->c, &a->call, s->now);
	side_drain(s);
	side_complete_all(s);
	expect_done(s, a, -ECANCELED);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
	free(a);
}

static void a_connection_lost_between_the_parts_of_a_call(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct ask *a;

	(void)state;
	/* One credit: the first part uses it. */
	raw_receive(s, "00000077" CONNPROP "00000000");
	assert_true(s->ready);
	side_forget_sent(s);
	a = ask(s, LONG, 0);
	side_drain(s);
	assert_int_equal(s->n_sent, 1);
	assert_true(rr_load_u32(s->sent[0].p + 16) & RDMA2_F_MORE);
	side_lose(s, 0);
	expect_done(s, a, -ECONNRESET);
	raw_end(s);
	free(a);
}

/* -- connections ----------------------------------------------------------------- */

static void a_connection_closed_before_it_is_open(void **state)
{
	struct side *s = calloc(1, sizeof(*s));

	(void)state;
	side_new(s, RR_CONN_CLIENT);
	rr_conn_close(s->c, -ECANCELED, s->now);
	side_drain(s);
	raw_expect_close(s, -ECANCELED);
	side_open(s);
	assert_int_equal(s->n_sent, 0);
	raw_end(s);
}

/* -- host authentication [P14] --------------------------------------------------- */

#define STEP "00000001 00000006 0000000c 00000005 68656c6c 6f000000 "

/* Is satisfied at once, and produces no step. */
static int nod(void *ctx, const void *in, size_t in_len, const void **ret_out,
               size_t *ret_out_len)
{
	return 1;
}

/* Produces a step, and waits for one. */
static int greet(void *ctx, const void *in, size_t in_len, const void **ret_out,
                 size_t *ret_out_len)
{
	*ret_out = "hello";
	*ret_out_len = 5;
	return 0;
}

static void a_server_that_the_first_step_satisfies(void **state)
{
	const struct rr_conn_config cfg = {.auth = {nod, NULL}};
	struct side *s = raw_new(RR_CONN_SERVER, &cfg);

	(void)state;
	raw_receive(s, "00000001" CONNPROP_TPMORE STEP);
	assert_false(s->ready);
	raw_receive(s, "00000002" CONNPROP "00000000");
	assert_true(s->ready);
	raw_end(s);
}

static void a_client_that_is_satisfied_without_a_step(void **state)
{
	const struct rr_conn_config cfg = {.auth = {nod, NULL}};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	(void)state;
	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_false(s->ready);
	raw_receive(s, "00000002" CONNPROP "00000000");
	assert_true(s->ready);
	raw_end(s);
}

/* The server has more properties, but no hook: its exchange ends without a step. */
static void a_server_without_a_hook_after_our_step(void **state)
{
	const struct rr_conn_config cfg = {.auth = {greet, NULL}};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);

	(void)state;
	raw_receive(s, "00000001 00000002 00200020 00000005 00000004 00000000");
	assert_int_equal(s->n_sent, 2); /* numbers, step */
	raw_receive(s, "00000002" CONNPROP "00000000");
	assert_int_equal(s->n_sent, 3); /* the end */
	assert_true(s->ready);
	raw_end(s);
}

static void a_server_without_a_hook_before_our_step_is_sent(void **state)
{
	const struct rr_conn_config cfg = {.auth = {greet, NULL}};
	struct side *s = raw_new(RR_CONN_CLIENT, &cfg);
	unsigned at = s->posted_head++ % SIDE_QUEUE;
	size_t n = raw_octets("00000001 00000002 00200020 00000005 00000004 00000000",
	                      s->posted_base[at], 4096);

	(void)state;
	rr_conn_received(s->c, s->posted[at].token, n, 0, s->now);
	raw_receive(s, "00000002" CONNPROP "00000000");
	assert_int_equal(s->n_sent, 2); /* numbers, the end */
	assert_true(s->ready);
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_connection_lost_while_a_call_is_registering),
	        cmocka_unit_test(a_registration_answered_after_the_close),
	        cmocka_unit_test(a_call_cancelled_between_its_registrations),
	        cmocka_unit_test(a_call_cancelled_before_it_is_sent),
	        cmocka_unit_test(a_connection_lost_between_the_parts_of_a_call),
	        cmocka_unit_test(a_connection_closed_before_it_is_open),
	        cmocka_unit_test(a_server_that_the_first_step_satisfies),
	        cmocka_unit_test(a_client_that_is_satisfied_without_a_step),
	        cmocka_unit_test(a_server_without_a_hook_after_our_step),
	        cmocka_unit_test(a_server_without_a_hook_before_our_step_is_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
