/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd --manage-gids: the groups of AUTH_SYS users are those that the server's
 * system knows (here preload/users.c), whatever the credential says, and a look-up that
 * does not end holds up only what needs it.  Most tests need root and skip otherwise.
 */
#define _GNU_SOURCE
#include "test_nfsd_ask.h"
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MANY = 4711, /* as in preload/users.c */
	ONE = 4713,
	BROKEN = 4999,
	UNKNOWN = 5000,
	LAST_GID = 100039,
	OTHER_GID = 200000,
	WAIT_MS = 60000,
	A_WHILE_MS = 300, /* for what must not be answered */
	FLOOD = 100,      /* more than one address may have looked up at a time */
	MAX_THREADS = 16, /* of the server: engine, look-ups, a file system's */
};

static struct nfsd r;
static char lookups[96], stuck[96];

static int set_up(void **state)
{
	(void)state;
	nfsd_init(&r);
	snprintf(lookups, sizeof(lookups), "%s/lookups", r.dir);
	snprintf(stuck, sizeof(stuck), "%s/stuck", r.dir);
	r.preload = USERS_SHIM;
	r.preload_flag = stuck;
	setenv("USERS_LOG", lookups, 1);
	setenv("USERS_STUCK", stuck, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink(stuck);
	nfsd_fini(&r);
	return 0;
}

static void stick(void)
{
	int fd = open(stuck, O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* How often the uid was looked up. */
static unsigned count(unsigned uid)
{
	FILE *f = fopen(lookups, "r");
	unsigned n = 0, v;

	while (f && fscanf(f, "%u", &v) == 1)
		n += v == uid;
	if (f)
		fclose(f);
	return n;
}

static void wait_for_lookup(unsigned uid)
{
	uint64_t until = ask_now_ms() + WAIT_MS;

	while (!count(uid) && ask_now_ms() < until)
		assert_int_equal(rpcrdma_engine_process(r.engine, 10), 0);
	assert_int_equal(count(uid), 1);
}

/* A file that only the group may read. */
static nfs_fh3 file_of(const char *name, gid_t gid)
{
	nfsd_write_file(&r, name, "data", 4);
	assert_int_equal(chown(nfsd_path(&r, name), 0, gid), 0);
	assert_int_equal(chmod(nfsd_path(&r, name), 0040), 0);
	return nfsd_walk(&r, name);
}

static int64_t read_as(uint32_t uid, uint32_t gid, uint32_t more, nfs_fh3 fh)
{
	uint8_t b[4];

	r.uid = uid;
	r.gid = gid;
	r.gids[0] = more;
	r.n_gids = 1;
	return nfsd_read(&r, fh, 0, b, 4, false, NULL);
}

static void the_servers_groups_count(void **state)
{
	nfs_fh3 last, other;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, "--manage-gids", NULL);
	last = file_of("last", LAST_GID);
	other = file_of("other", OTHER_GID);
	for (int i = 0; i < 5; i++)
		assert_int_equal(read_as(MANY, 77, OTHER_GID, last), 4);
	assert_int_equal(count(MANY), 1); /* and the list is kept */
	assert_int_equal(read_as(MANY, 77, OTHER_GID, other), -NFS3ERR_ACCES);
	assert_int_equal(read_as(ONE, 77, LAST_GID, last), -NFS3ERR_ACCES);
	/* newgrp(1): the credential's gid is the client's to choose. */
	assert_int_equal(read_as(ONE, LAST_GID, 1, last), 4);
	nfsd_stop(&r);
	/* Without the option it is the other way round. */
	nfsd_start(&r, NULL);
	assert_int_equal(read_as(MANY, 77, OTHER_GID, last), -NFS3ERR_ACCES);
	assert_int_equal(read_as(MANY, 77, OTHER_GID, other), 4);
	assert_int_equal(count(MANY), 1);
	nfsd_stop(&r);
}

static void unknown_users_have_the_credentials_gid_only(void **state)
{
	nfs_fh3 last;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, "-g", NULL);
	last = file_of("last", LAST_GID);
	assert_int_equal(read_as(UNKNOWN, 77, LAST_GID, last), -NFS3ERR_ACCES);
	assert_int_equal(read_as(UNKNOWN, LAST_GID, 77, last), 4);
	assert_int_equal(count(UNKNOWN), 1);
	assert_false(nfsd_printed(&r, "cannot be looked up"));
	assert_int_equal(read_as(BROKEN, 77, LAST_GID, last), -NFS3ERR_ACCES);
	assert_true(nfsd_printed(
	        &r, "uid 4999: its groups cannot be looked up: Input/output "
	            "error"));
	nfsd_stop(&r);
}

static void nobody_is_looked_up_who_is_squashed(void **state)
{
	nfs_fh3 fh;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, "--manage-gids", NULL);
	fh = file_of("anyone", 65534);
	assert_int_equal(read_as(0, 0, 0, fh), 4); /* root is the anonymous user */
	nfsd_stop(&r);
	nfsd_start(&r, "--manage-gids", "--all-squash", NULL);
	assert_int_equal(read_as(MANY, 77, 77, fh), 4);
	r.flavor = RPCRDMA_AUTH_NONE;
	assert_int_equal(read_as(MANY, 77, 77, fh), 4);
	nfsd_stop(&r);
	assert_int_equal(count(0), 0);
	assert_int_equal(count(MANY), 0);
	assert_int_equal(count(65534), 0);
}

static void a_server_that_is_not_root_asks_for_none(void **state)
{
	nfs_fh3 fh;

	(void)state;
	if (!geteuid())
		r.server_uid = r.uid;
	nfsd_start(&r, "--manage-gids", NULL);
	nfsd_write_file(&r, "f", "data", 4);
	fh = nfsd_walk(&r, "f");
	assert_int_equal(read_as(MANY, 77, 77, fh), 4);
	nfsd_stop(&r);
	assert_int_equal(access(lookups, F_OK), -1);
}

static unsigned threads_of(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static struct ask asks[FLOOD], one, root;

static void a_lookup_that_does_not_end_holds_up_its_users(void **state)
{
	GETATTR3args a;
	nfs_fh3 last;
	unsigned later = 0;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, "--manage-gids", NULL);
	last = file_of("last", LAST_GID);
	assert_int_equal(read_as(ONE, LAST_GID, 77, last), 4);
	a.object = last;
	stick();
	for (unsigned i = 0; i < FLOOD; i++) {
		r.uid = 10000 + i;
		ASK(&r, r.conn, &asks[i], GETATTR, &a);
	}
	/* Those that are beyond the bound are told at once to come later. */
	assert_true(ask_wait(&r, &asks[FLOOD - 1], WAIT_MS));
	assert_int_equal(ask_stat(&asks[FLOOD - 1]), NFS3ERR_JUKEBOX);
	assert_true(nfsd_printed(&r, "look-ups of groups take too long"));
	assert_false(ask_wait(&r, &asks[0], A_WHILE_MS));
	assert_true(threads_of(r.pid) <= MAX_THREADS);
	/* Whose groups are known, and who has none, is served. */
	assert_int_equal(read_as(ONE, LAST_GID, 77, last), 4);
	r.uid = r.gid = 0;
	ASK(&r, r.conn, &root, GETATTR, &a);
	assert_true(ask_wait(&r, &root, WAIT_MS));
	assert_int_equal(ask_stat(&root), NFS3_OK);
	unlink(stuck);
	for (unsigned i = 0; i < FLOOD; i++) {
		assert_true(ask_wait(&r, &asks[i], WAIT_MS));
		if (ask_stat(&asks[i]) == NFS3ERR_JUKEBOX)
			later++;
		else
			assert_int_equal(ask_stat(&asks[i]), NFS3_OK);
	}
	assert_true(later < FLOOD / 2);
	nfsd_stop(&r);
}

/* The only one that there is room for has a request that waits. */
static void a_connection_that_is_refused_is_told(void **state)
{
	uint64_t until = ask_now_ms() + WAIT_MS;
	struct rpcrdma_conn *other;
	GETATTR3args a;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, "--manage-gids", "--connections", "1", NULL);
	a.object = nfsd_walk(&r, "");
	stick();
	r.uid = MANY;
	ASK(&r, r.conn, &one, GETATTR, &a);
	wait_for_lookup(MANY);
	other = ask_connect(&r, r.port);
	while (!nfsd_printed(&r, " refused: there is no room for another connection") &&
	       ask_now_ms() < until)
		assert_int_equal(rpcrdma_engine_process(r.engine, 10), 0);
	assert_true(nfsd_printed(&r, "client 127.0.0.1:"));
	assert_true(
	        nfsd_printed(&r, " refused: there is no room for another connection"));
	rpcrdma_conn_close(other);
	unlink(stuck);
	assert_true(ask_wait(&r, &one, WAIT_MS));
	assert_int_equal(ask_stat(&one), NFS3_OK);
	nfsd_stop(&r);
}

static void the_end_does_not_wait_for_a_lookup(void **state)
{
	GETATTR3args a;
	int status;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, "--manage-gids", NULL);
	a.object = nfsd_walk(&r, "");
	stick();
	r.uid = MANY;
	ASK(&r, r.conn, &one, GETATTR, &a);
	wait_for_lookup(MANY);
	kill(r.pid, SIGTERM);
	assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
	r.pid = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(nfsd_printed(&r, "look-ups of groups do not end: 1 requests"));
	assert_true(ask_wait(&r, &one, WAIT_MS));
	rpcrdma_conn_close(r.conn);
	rpcrdma_engine_free(r.engine);
}

static void lists_are_forgotten_at_sighup(void **state)
{
	char file[96];
	nfs_fh3 last;
	FILE *f;

	(void)state;
	nfsd_need_root();
	snprintf(file, sizeof(file), "%s/exports", r.dir);
	f = fopen(file, "w");
	assert_non_null(f);
	fprintf(f, "%s:/file *(rw)\n", r.state);
	fclose(f);
	nfsd_start(&r, "--manage-gids", "--exports", file, NULL);
	last = file_of("last", LAST_GID);
	assert_int_equal(read_as(MANY, 77, 77, last), 4);
	assert_int_equal(count(MANY), 1);
	kill(r.pid, SIGHUP);
	for (uint64_t t = ask_now_ms(); !nfsd_printed(&r, "was loaded"); usleep(10000))
		assert_true(ask_now_ms() - t < WAIT_MS);
	assert_int_equal(read_as(MANY, 77, 77, last), 4);
	assert_int_equal(count(MANY), 2);
	nfsd_stop(&r);
}

static void mount_over_tcp_has_groups_too(void **state)
{
	const char *deep = "/exp/sub/deep";
	uint64_t t;
	int fd;

	(void)state;
	nfsd_need_root();
	assert_int_equal(mkdir(nfsd_path(&r, "sub"), 0750), 0);
	assert_int_equal(mkdir(nfsd_path(&r, "sub/deep"), 0750), 0);
	assert_int_equal(chown(nfsd_path(&r, "sub"), 0, LAST_GID), 0);
	nfsd_start(&r, "--manage-gids", "--mount-port", "0", NULL);
	fd = ask_tcp_connect(&r);
	r.uid = MANY;
	stick();
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(ask_tcp_mount(&r, fd, deep), -1);
	assert_int_equal(count(MANY), 1); /* nobody else is kept waiting */
	assert_int_equal(ask_tcp_mount(&r, fd, "/exp"), MNT3_OK);
	unlink(stuck);
	for (t = ask_now_ms(); ask_tcp_mount(&r, fd, deep); usleep(10000))
		assert_true(ask_now_ms() - t < WAIT_MS);
	r.uid = ONE; /* looked up while it waits */
	assert_int_equal(ask_tcp_mount(&r, fd, deep), MNT3ERR_ACCES);
	assert_int_equal(count(ONE), 1);
	close(fd);
	nfsd_stop(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(the_servers_groups_count),
	        T(unknown_users_have_the_credentials_gid_only),
	        T(nobody_is_looked_up_who_is_squashed),
	        T(a_server_that_is_not_root_asks_for_none),
	        T(a_lookup_that_does_not_end_holds_up_its_users),
	        T(a_connection_that_is_refused_is_told),
	        T(the_end_does_not_wait_for_a_lookup),
	        T(lists_are_forgotten_at_sighup),
	        T(mount_over_tcp_has_groups_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
