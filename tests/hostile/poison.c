/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls whose execution ends the connection: the chunks that they name cannot be read
 * or written, and their clients hang up when the server tries, come again, and ask
 * again.  An honest client is served beside them, and the server's memory stays within
 * what it was allowed.
 */
#include "test_scene.h"

enum {
	POISONERS = 40,
	CALLS = 31, /* of each, within its credits */
	LONGEST_MS = 15000,
	FOR_MS = 3000,
};

static int begin(void **state)
{
	return scene_begin(MIB, "128", ALLOWED);
}

/* A WRITE of 1 MiB in version 1, whose data are in a Read chunk. */
static void add_write(struct foe *f, uint32_t xid)
{
	uint32_t w[64] = {xid, 1, CALLS, 0, 1, 0, xid, MIB, 0, 0, 0, 0, 0};
	size_t n = 13, rpc = n;

	n += put_nfs_call(w + n, &scene_server, xid, NFSPROC3_WRITE, &scene_file);
	w[n++] = 0; /* offset */
	w[n++] = 0;
	w[n++] = MIB;
	w[n++] = 0;   /* UNSTABLE */
	w[n++] = MIB; /* of the item, which is behind this word */
	w[5] = (uint32_t)(n - rpc) * 4;
	foe_add_words(f, w, n);
}

static void add_one_read(struct foe *f, uint32_t xid)
{
	foe_add_read(f, xid, CALLS);
}

/* A Special Call. */
static void add_special(struct foe *f, uint32_t xid)
{
	FOE_ADD(f, xid, 1, CALLS, 1, 1, 0, xid, MIB, 0, 0, 0, 0, 0);
}

/* Asks, waits for the server to try, and hangs up. */
static void ask(struct foe *f, void (*what)(struct foe *, uint32_t))
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};

	foe_add_request(f);
	foe_add_empty_write(f);
	foe_be_admitted(f, CALLS + 1);
	for (uint32_t i = 0; i < CALLS; i++)
		what(f, 2 + i);
	(void)!send(f->fd, f->out, f->len, MSG_NOSIGNAL);
	f->len = 0;
	(void)!poll(&p, 1, 5000);
	shutdown(f->fd, SHUT_RDWR);
}

static void reads_fail(struct foe *f, const struct attack *a)
{
	ask(f, add_write);
}

static void writes_fail(struct foe *f, const struct attack *a)
{
	ask(f, add_one_read);
}

static void calls_cannot_be_read(struct foe *f, const struct attack *a)
{
	ask(f, add_special);
}

/* Never answers the Reads. */
static void reads_hang(struct foe *f, const struct attack *a)
{
	foe_add_request(f);
	foe_add_empty_write(f);
	foe_be_admitted(f, CALLS + 1);
	for (uint32_t i = 0; i < CALLS; i++)
		add_write(f, 2 + i);
}

static void with(const char *what, bool renew,
                 void (*prepare)(struct foe *, const struct attack *))
{
	const struct attack a = {
	        .from = "127.0.0.2",
	        .n = POISONERS,
	        .quiet = true,
	        .renew = renew,
	        .pause_ms = 5,
	        .prepare = prepare,
	};

	expect_service_within_memory(scene_attack(what, a, NULL, 1, FOR_MS),
	                             LONGEST_MS);
}

static void read_chunks_that_cannot_be_read(void **state)
{
	with("31 WRITEs, the Reads end the connection", true, reads_fail);
}

static void write_chunks_that_cannot_be_written(void **state)
{
	with("31 READs, the Writes end the connection", true, writes_fail);
}

static void special_calls_that_cannot_be_read(void **state)
{
	with("31 Special Calls that cannot be read", true, calls_cannot_be_read);
}

static void reads_that_are_not_answered(void **state)
{
	with("31 WRITEs, no Read is answered", false, reads_hang);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, scene_end)
	const struct CMUnitTest tests[] = {
	        TEST(read_chunks_that_cannot_be_read),
	        TEST(write_chunks_that_cannot_be_written),
	        TEST(special_calls_that_cannot_be_read),
	        TEST(reads_that_are_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
