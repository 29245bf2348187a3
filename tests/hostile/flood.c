/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many connections that send as fast as they can what costs them little: the calls of
 * an honest client go on.
 */
#include "test_scene.h"

/* The bound is for a machine that is busy with other things; what is printed is less.
 */
enum { FLOODERS = 110, LONGEST_MS = 2000, FOR_MS = 2000 };

static int begin(void **state)
{
	return scene_begin(64 << 10, "128", NULL);
}

static void begins(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
	foe_add_empty_write(f);
}

static void begins_in_two(struct foe *f, const struct attack *a)
{
	begins(f, a);
	FOE_ADD(f, 1, 2, 0x00200001, 5, 0, 0);
}

/* Writes of no octets: 20 octets each, and never an answer. */
static void nothings(struct foe *f, const struct attack *a)
{
	while (f->len < OUT_MAX - 64)
		foe_add_empty_write(f);
}

/* ... with just so much between them that they are not nothing but that. */
static void nothings_and_grants(struct foe *f, const struct attack *a)
{
	for (unsigned i = 0; i < 3000; i++)
		foe_add_empty_write(f);
	FOE_ADD(f, 0, 2, 0x00200001, 1, 0, 0, 0, 0, 0);
}

static void empty_reads(struct foe *f, const struct attack *a)
{
	for (unsigned i = 0; i < 16; i++)
		foe_add_empty_read(f, ++f->msn);
}

static void empty_fpdus(struct foe *f, const struct attack *a)
{
	for (unsigned i = 0; i < 1000; i++)
		foe_add_ulpdu(f, NULL, 0);
}

/* NULL calls in version 1, as many as there are credits, and again. */
static void nulls(struct foe *f, const struct attack *a)
{
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t xid = 100 + i;

		FOE_ADD(f, xid, 1, 16, 0, 0, 0, 0, xid, 0, 2, RPCRDMA_NFS_PROGRAM, 3, 0,
		        0, 0, 0, 0);
	}
}

static void with(const char *what, void (*prepare)(struct foe *, const struct attack *),
                 void (*again)(struct foe *, const struct attack *))
{
	const struct attack a = {
	        .from = "127.0.0.2",
	        .n = FLOODERS,
	        .renew = true,
	        .prepare = prepare,
	};
	struct honest h = scene_attack(what, a, again, 1, FOR_MS);

	assert_true(h.worst_ms < LONGEST_MS);
}

static void of_rdma_writes(void **state)
{
	with("empty Writes", begins, nothings);
	with("empty Writes and grants", begins_in_two, nothings_and_grants);
}

static void of_rdma_reads(void **state)
{
	with("empty Reads", begins, empty_reads);
}

static void of_empty_fpdus(void **state)
{
	with("empty FPDUs", begins, empty_fpdus);
}

static void of_calls(void **state)
{
	with("NULL calls", begins, nulls);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, scene_end)
	const struct CMUnitTest tests[] = {
	        TEST(of_rdma_writes),
	        TEST(of_rdma_reads),
	        TEST(of_empty_fpdus),
	        TEST(of_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
