/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd: what is not idempotent is executed once.  A relay loses the reply
 * of each procedure, and the connection with it, as soon as the exported directory
 * shows that the procedure was executed; the client sends it again.  With the
 * reply cache each one succeeds; without, each fails in its own way.
 *                                                         [v2 §4.5.5, §7.5]
 */
#define _GNU_SOURCE
#include "test_nfsd.h"
#include "test_proxy.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MS = 1000000 };

static struct nfsd r;
static struct proxy proxy;
static char stats[128];
static unsigned losses;

/* Everything through the relay, by a client that comes back. */
static void start(const char *cache_size)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	losses = 0;
	nfsd_init(&r);
	snprintf(stats, sizeof(stats), "%s/stats", r.dir);
	nfsd_start(&r, "--stats-on-exit", stats, "--reply-cache", cache_size, NULL);
	proxy_start(&proxy, r.port);
	rpcrdma_conn_close(r.conn);
	o.reconnect_min_ns = 2 * MS;
	o.reconnect_max_ns = 20 * MS;
	assert_int_equal(rpcrdma_connect(r.engine, "127.0.0.1", proxy.port, &o, NULL,
	                                 NULL, &r.conn),
	                 0);
	assert_int_equal(nfsd_getattr(&r, r.root, NULL), NFS3_OK);
}

static uint64_t counter(const char *text, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(text, key);
	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

/* Repetitions that the server answered without executing them. */
static uint64_t stop(void)
{
	static char text[16384];
	ssize_t n;
	int fd;

	nfsd_stop(&r);
	proxy_stop(&proxy);
	fd = open(stats, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	text[n] = 0;
	nfsd_fini(&r);
	return counter(text, "cache_hits") + counter(text, "cache_waits");
}

/* -- when a procedure has been executed, seen by the relay ------------------------- */

static bool is_there(void *name)
{
	struct stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", r.exp, (const char *)name);
	return !lstat(path, &st);
}

static bool is_gone(void *name)
{
	return !is_there(name);
}

static bool is_private(void *name)
{
	struct stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", r.exp, (const char *)name);
	return !lstat(path, &st) && (st.st_mode & 0777) == 0600;
}

static void lose_reply(bool (*when)(void *), const char *name)
{
	assert_int_equal(atomic_load(&proxy.cuts), losses);
	proxy_arm(&proxy, when, (void *)(uintptr_t)name);
	losses++;
}

/* -- the procedures -------------------------------------------------------- */

static nfsstat3 do_create(createmode3 mode, const char *name)
{
	CREATE3args a = {nfsd_name(r.root, name), {.mode = mode}};
	CREATE3res res;
	nfsstat3 s;

	if (mode == EXCLUSIVE)
		memcpy(a.how.createhow3_u.verf, "verifier", NFS3_CREATEVERFSIZE);
	lose_reply(is_there, name);
	s = NFS(&r, CREATE, &a, &res);
	NFS3_FREE(CREATE3res, &res);
	return s;
}

static nfsstat3 do_mkdir(const char *name)
{
	MKDIR3args a = {.where = nfsd_name(r.root, name)};
	MKDIR3res res;
	nfsstat3 s;

	lose_reply(is_there, name);
	s = NFS(&r, MKDIR, &a, &res);
	NFS3_FREE(MKDIR3res, &res);
	return s;
}

static nfsstat3 do_symlink(const char *name)
{
	SYMLINK3args a = {nfsd_name(r.root, name), {.data_len = 6}};
	SYMLINK3res res;
	nfsstat3 s;

	lose_reply(is_there, name);
	r.item = "target";
	r.item_len = 6;
	s = NFS(&r, SYMLINK, &a, &res);
	NFS3_FREE(SYMLINK3res, &res);
	return s;
}

static nfsstat3 do_mknod(const char *name)
{
	MKNOD3args a = {nfsd_name(r.root, name), {.type = NF3FIFO}};
	MKNOD3res res;
	nfsstat3 s;

	lose_reply(is_there, name);
	s = NFS(&r, MKNOD, &a, &res);
	NFS3_FREE(MKNOD3res, &res);
	return s;
}

static nfsstat3 do_remove(const char *name)
{
	REMOVE3args a = {nfsd_name(r.root, name)};
	REMOVE3res res;

	lose_reply(is_gone, name);
	return NFS(&r, REMOVE, &a, &res);
}

static nfsstat3 do_rmdir(const char *name)
{
	RMDIR3args a = {nfsd_name(r.root, name)};
	RMDIR3res res;

	lose_reply(is_gone, name);
	return NFS(&r, RMDIR, &a, &res);
}

static nfsstat3 do_rename(const char *from, const char *to)
{
	RENAME3args a = {nfsd_name(r.root, from), nfsd_name(r.root, to)};
	RENAME3res res;

	lose_reply(is_there, to);
	return NFS(&r, RENAME, &a, &res);
}

static nfsstat3 do_link(const char *from, const char *to)
{
	LINK3args a = {nfsd_walk(&r, from), nfsd_name(r.root, to)};
	LINK3res res;

	lose_reply(is_there, to);
	return NFS(&r, LINK, &a, &res);
}

/* On condition that nobody has changed it since. */
static nfsstat3 do_setattr(const char *name)
{
	SETATTR3args a = {.object = nfsd_walk(&r, name),
	                  .new_attributes = {.mode = {TRUE, {0600}}}};
	SETATTR3res res;
	fattr3 at;

	assert_int_equal(nfsd_getattr(&r, a.object, &at), NFS3_OK);
	a.guard.check = TRUE;
	a.guard.sattrguard3_u.obj_ctime = at.ctime;
	lose_reply(is_private, name);
	return NFS(&r, SETATTR, &a, &res);
}

/* -- tests ----------------------------------------------------------------- */

static void with_the_cache_each_procedure_succeeds(void **state)
{
	(void)state;
	start("1M");
	assert_int_equal(do_create(GUARDED, "f"), NFS3_OK);
	assert_int_equal(do_create(EXCLUSIVE, "x"), NFS3_OK);
	assert_int_equal(do_mkdir("d"), NFS3_OK);
	assert_int_equal(do_symlink("s"), NFS3_OK);
	assert_int_equal(do_mknod("p"), NFS3_OK);
	assert_int_equal(do_setattr("f"), NFS3_OK);
	assert_int_equal(do_link("f", "l"), NFS3_OK);
	assert_int_equal(do_rename("f", "g"), NFS3_OK);
	assert_int_equal(do_remove("g"), NFS3_OK);
	assert_int_equal(do_rmdir("d"), NFS3_OK);
	assert_int_equal(losses, 10);
	assert_int_equal(atomic_load(&proxy.cuts), losses);
	assert_int_equal(stop(), losses);
}

/* The same procedures and losses; an exclusive CREATE has its verifier. */
static void without_the_cache_each_procedure_fails(void **state)
{
	(void)state;
	start("0");
	assert_int_equal(do_create(GUARDED, "f"), NFS3ERR_EXIST);
	assert_int_equal(do_create(EXCLUSIVE, "x"), NFS3_OK);
	assert_int_equal(do_mkdir("d"), NFS3ERR_EXIST);
	assert_int_equal(do_symlink("s"), NFS3ERR_EXIST);
	assert_int_equal(do_mknod("p"), NFS3ERR_EXIST);
	assert_int_equal(do_setattr("f"), NFS3ERR_NOT_SYNC);
	assert_int_equal(do_link("f", "l"), NFS3ERR_EXIST);
	assert_int_equal(do_rename("f", "g"), NFS3ERR_NOENT);
	assert_int_equal(do_remove("g"), NFS3ERR_NOENT);
	assert_int_equal(do_rmdir("d"), NFS3ERR_NOENT);
	assert_int_equal(atomic_load(&proxy.cuts), losses);
	assert_int_equal(stop(), 0);
}

static void the_size_is_checked(void **state)
{
	(void)state;
	nfsd_init(&r);
	assert_int_equal(
	        nfsd_tool("nfsd", "--export", r.exp, "--reply-cache", "63K", NULL), 2);
	assert_int_equal(
	        nfsd_tool("nfsd", "--export", r.exp, "--reply-cache", "x", NULL), 2);
	nfsd_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(with_the_cache_each_procedure_succeeds),
	        cmocka_unit_test(without_the_cache_each_procedure_fails),
	        cmocka_unit_test(the_size_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
