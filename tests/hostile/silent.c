/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More silent connections than the server has places for: an honest client keeps its
 * connection, and a new one is served at once.
 */
#include "test_scene.h"

enum { PLACES = 16, SILENT = 140, SOON_MS = 3000 };

static void at_tcp(struct foe *f, const struct attack *a)
{
}

static void half_a_request(struct foe *f, const struct attack *a)
{
	foe_add(f, "MPA ID Re", 9);
}

static void at_mpa(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
}

static void at_half_a_message(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
	foe_add_empty_write(f);
	foe_add(f, "\x00\x40\x41\x43", 4);
}

/* An exchange of properties that goes on and on. */
static void in_connprop(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
	foe_add_empty_write(f);
	FOE_ADD(f, 1, 2, 0x00200001, 5, 4, 0);
}

/* One that is over: the connection is ready. */
static void after_connprop(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
	foe_add_empty_write(f);
	FOE_ADD(f, 1, 2, 0x00200001, 5, 0, 0);
}

static int begin(void **state)
{
	return scene_begin(64 << 10, "16", NULL);
}

static void with(const char *what, const char *from, bool renew,
                 void (*prepare)(struct foe *, const struct attack *))
{
	const struct attack a = {
	        .from = from,
	        .n = SILENT,
	        .quiet = true,
	        .renew = renew,
	        .pause_ms = 20,
	        .prepare = prepare,
	};
	struct honest h = scene_attack(what, a, NULL, 3, 100);

	assert_true(h.first_ms < SOON_MS);
	assert_true(h.worst_ms < SOON_MS);
}

static void sockets_that_say_nothing(void **state)
{
	with("silent at TCP", "127.0.0.2", false, at_tcp);
	with("silent at TCP, same address", "127.0.0.1", false, at_tcp);
	with("silent at TCP, coming again", "127.0.0.2", true, at_tcp);
}

static void half_open_connections(void **state)
{
	with("half an MPA request", "127.0.0.2", false, half_a_request);
	with("MPA request only", "127.0.0.2", false, at_mpa);
	with("half a message", "127.0.0.2", true, at_half_a_message);
}

static void clients_that_stop_at_their_properties(void **state)
{
	with("within RDMA2_CONNPROP", "127.0.0.2", false, in_connprop);
	with("after RDMA2_CONNPROP", "127.0.0.2", false, after_connprop);
	with("after RDMA2_CONNPROP, same address", "127.0.0.1", false, after_connprop);
	with("after RDMA2_CONNPROP, coming again", "127.0.0.2", true, after_connprop);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, scene_end)
	const struct CMUnitTest tests[] = {
	        TEST(sockets_that_say_nothing),
	        TEST(half_open_connections),
	        TEST(clients_that_stop_at_their_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
