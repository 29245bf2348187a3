/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that ask for much and take nothing, or little: an honest client is served
 * beside them, and the server's memory stays within what it was allowed.
 */
#include "test_scene.h"

enum {
	TAKERS = 40,
	READS = 31, /* of each, within its credits */
	LONGEST_MS = 15000,
	FOR_MS = 4000,
};

static int begin(void **state)
{
	return scene_begin(MIB, "128", ALLOWED);
}

static void asks_for_much(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
	foe_add_empty_write(f);
	foe_be_admitted(f, READS + 1);
	for (uint32_t i = 0; i < READS; i++)
		foe_add_read(f, 2 + i, READS);
}

static void with(const char *what, unsigned drip_ms)
{
	const struct attack a = {
	        .from = "127.0.0.2",
	        .n = TAKERS,
	        .quiet = true,
	        .deaf = true,
	        .drip_ms = drip_ms,
	        .pause_ms = 20,
	        .prepare = asks_for_much,
	};

	expect_service_within_memory(scene_attack(what, a, NULL, 1, FOR_MS),
	                             LONGEST_MS);
}

static void who_never_reads(void **state)
{
	with("31 READs of 1 MiB, nothing taken", 0);
}

static void who_reads_a_little(void **state)
{
	with("31 READs of 1 MiB, taken in small parts", 1000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, scene_end)
	const struct CMUnitTest tests[] = {
	        TEST(who_never_reads),
	        TEST(who_reads_a_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
