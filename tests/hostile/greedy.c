/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that ask for much and take nothing, or little: an honest client is served
 * beside them, and the server's memory stays within what it was allowed.
 */
#include "attack.h"

#if defined(__SANITIZE_ADDRESS__)
enum { OWN_MIB = 384 }; /* with what the sanitizer keeps */
#else
enum { OWN_MIB = 96 };
#endif

enum {
	MIB = 1 << 20,
	ALLOWED_MIB = 64,
	TAKERS = 40,
	READS = 31, /* of each, within its credits */
	LONGEST_MS = 15000,
	FOR_MS = 4000,
};

static struct rig r;
static nfs_fh3 file;
static uint8_t data[MIB];

static int begin(void **state)
{
	rig_init(&r);
	rig_write_file(&r, "file", data, sizeof(data));
	rig_start(&r, "--connections", "128", "--memory", "64M", NULL);
	file = rig_walk(&r, "file");
	patient(&r);
	return 0;
}

static int end(void **state)
{
	rig_stop(&r);
	rig_fini(&r);
	return 0;
}

/* A READ of 1 MiB in version 1, with a Write chunk for it. */
static void say_read(struct foe *f, uint32_t xid)
{
	uint32_t w[64] = {xid, 1, READS, 0, 0, 1, 1, xid, MIB, 0, 0, 0, 0};
	size_t n = 13;

	n += put_nfs_call(w + n, &r, xid, NFSPROC3_READ, &file);
	w[n++] = 0; /* offset */
	w[n++] = 0;
	w[n++] = MIB;
	say_words(f, w, n);
}

static void asks_for_much(struct foe *f, const struct attack *a)
{
	say_request(f);
	say_nothing(f);
	be_let_in(f, READS + 1);
	for (uint32_t i = 0; i < READS; i++)
		say_read(f, 2 + i);
}

static void with(const char *what, unsigned drip_ms)
{
	const struct attack a = {
	        .port = (uint16_t)atoi(r.port),
	        .from = "127.0.0.2",
	        .n = TAKERS,
	        .quiet = true,
	        .deaf = true,
	        .drip_ms = drip_ms,
	        .pause_ms = 20,
	        .prepare = asks_for_much,
	};
	struct honest h = {0};
	pid_t pid = attack(&a, NULL);

	newcomer(&r, &h);
	live(&r, &h, file, FOR_MS);
	attack_end(pid);
	report(what, &r, &h);
	assert_true(h.worst_ms < LONGEST_MS);
	assert_true(h.first_ms < LONGEST_MS);
	assert_true(server_peak(&r) < (size_t)(ALLOWED_MIB + OWN_MIB) * MIB);
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
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
	        TEST(who_never_reads),
	        TEST(who_reads_a_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
