/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd: requests that change the same directory share syncs.  A sync that began
 * before a change does not count for it, nor does a sync of the data alone if the
 * attributes are to be on storage; and all requests that share a sync get its error.  preload/storage.c holds syncs, writes them down and makes them fail.
 */
#define _GNU_SOURCE
#include "test_nfsd_ask.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

enum { N = 4, A_WHILE_MS = 300, WAIT_MS = 30000 };

static struct nfsd r;
static char flags[128]; /* the directory of preload/storage.c */
static struct ask asked[N];

static const char *flag_path(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", flags, name);
	return path;
}

static void tell(const char *flag, uint64_t number, int more)
{
	FILE *f = fopen(flag_path(flag), "w");

	assert_non_null(f);
	assert_true(fprintf(f, "%llu %d\n", (unsigned long long)number, more) > 0);
	assert_int_equal(fchmod(fileno(f), 0666), 0);
	assert_int_equal(fclose(f), 0);
}

static int start(void **state)
{
	(void)state;
	nfsd_init(&r);
	snprintf(flags, sizeof(flags), "%s/flags", r.dir);
	assert_int_equal(mkdir(flags, 0755), 0);
	r.preload = STORAGE;
	r.preload_flag = flags;
	nfsd_start(&r, "--threads", "8", NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	(void)unlink(flag_path("hold1"));
	(void)unlink(flag_path("hold2"));
	nfsd_stop(&r);
	nfsd_fini(&r);
	return 0;
}

static void need_workers(void)
{
	struct statfs s;

	assert_int_equal(statfs(r.exp, &s), 0);
	if (s.f_type == TMPFS_MAGIC) /* one thread serves all of it */
		skip();
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static uint64_t root_inode(void)
{
	return inode_of(r.exp);
}

/* Returns how many syncs of the root, or of other objects, have begun. */
static unsigned count_syncs(bool of_root)
{
	FILE *f = fopen(flag_path("log"), "r");
	unsigned long long ino;
	unsigned n = 0;
	char line[64];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "fsync %llu", &ino) == 1)
			n += (ino == root_inode()) == of_root;
	fclose(f);
	return n;
}

static void wait_syncs(bool of_root, unsigned n)
{
	uint64_t until = ask_now_ms() + WAIT_MS;

	while (count_syncs(of_root) < n && ask_now_ms() < until)
		assert_int_equal(rpcrdma_engine_process(r.engine, 5), 0);
	assert_int_equal(count_syncs(of_root), n);
}

static void create(unsigned i)
{
	char name[16] = "";
	CREATE3args a = {.where = nfsd_name(r.root, name), .how = {.mode = UNCHECKED}};

	snprintf(name, sizeof(name), "new%u", i);
	ASK(&r, r.conn, &asked[i], CREATE, &a);
}

/* Leaves N calls that wait for the root's directory: the first one for a sync that began
 * before the others' changes, which is then allowed to end; the others for the next. */
static void hold_calls(void)
{
	need_workers();
	tell("log", 0, 0);
	tell("hold1", 0, 0);
	tell("hold2", 0, 0);
	tell("held", root_inode(), 0);
	create(0);
	wait_syncs(true, 1);
	for (unsigned i = 1; i < N; i++)
		create(i);
	wait_syncs(false, N); /* of the new files */
	assert_false(ask_wait(&r, &asked[N - 1], A_WHILE_MS));
	assert_int_equal(count_syncs(true), 1);
	assert_int_equal(unlink(flag_path("hold1")), 0);
	assert_true(ask_wait(&r, &asked[0], WAIT_MS));
	assert_int_equal(ask_stat(&asked[0]), NFS3_OK);
	wait_syncs(true, 2);
	for (unsigned i = 1; i < N; i++)
		assert_false(asked[i].done);
}

static void expect_all(nfsstat3 status)
{
	assert_int_equal(unlink(flag_path("hold2")), 0);
	for (unsigned i = 1; i < N; i++) {
		assert_true(ask_wait(&r, &asked[i], WAIT_MS));
		assert_int_equal(ask_stat(&asked[i]), status);
	}
	/* One more if a thread was slow to ask for a sync. */
	assert_in_range(count_syncs(true), 2, N - 1);
}

static void changes_of_a_directory_share_a_sync(void **state)
{
	(void)state;
	hold_calls();
	expect_all(NFS3_OK);
}

static void the_error_of_a_shared_sync_is_everybodys(void **state)
{
	(void)state;
	hold_calls();
	tell("lose", root_inode(), ENOSPC);
	expect_all(NFS3ERR_NOSPC);
}

static void write_data(struct ask *a, nfs_fh3 fh, stable_how how)
{
	WRITE3args w = {.file = fh, .count = 4, .stable = how, .data_len = 4};

	ask_send(&r, r.conn, a, NFSPROC3_WRITE, XDR_OF(WRITE3args), &w, "data", 4);
}

static void attributes_need_more_than_data(void **state)
{
	nfs_fh3 fh;

	(void)state;
	need_workers();
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	tell("log", 0, 0);
	tell("hold1", 0, 0);
	tell("held", inode_of(nfsd_path(&r, "f")), 0);
	write_data(&asked[0], fh, FILE_SYNC);
	wait_syncs(false, 1);
	write_data(&asked[1], fh, DATA_SYNC); /* probably begins the second sync */
	assert_false(ask_wait(&r, &asked[1], A_WHILE_MS));
	write_data(&asked[2], fh, FILE_SYNC);
	assert_false(ask_wait(&r, &asked[2], A_WHILE_MS));
	assert_int_equal(unlink(flag_path("hold1")), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(ask_wait(&r, &asked[i], WAIT_MS));
		assert_int_equal(ask_stat(&asked[i]), NFS3_OK);
	}
	assert_int_equal(count_syncs(false), 2); /* not counting fdatasync */
}

#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(changes_of_a_directory_share_a_sync),
	        T(the_error_of_a_shared_sync_is_everybodys),
	        T(attributes_need_more_than_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
