/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, storage: data that were lost between WRITE and COMMIT are never
 * committed under the verifier of the WRITE, whatever became of the file meanwhile; and
 * files are not held longer than that takes.  Names and attributes are synced before
 * the answer.  The preloaded storage loses what it is told to, as Linux would, and
 * writes down what is synced.
 */
#define _GNU_SOURCE
#include "test_nfsd.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct nfsd r;
static char flags[128]; /* the shim's directory */

static int start_with(rlim_t nofile, const char *option)
{
	nfsd_init(&r);
	snprintf(flags, sizeof(flags), "%s/flags", r.dir);
	assert_int_equal(mkdir(flags, 0755), 0);
	r.preload = STORAGE;
	r.preload_flag = flags;
	r.nofile = nofile;
	nfsd_start(&r, option, NULL);
	return 0;
}

static int start(void **state)
{
	(void)state;
	return start_with(0, NULL);
}

static int start_small(void **state)
{
	(void)state;
	return start_with(300, NULL);
}

static int start_async(void **state)
{
	(void)state;
	return start_with(0, "--async");
}

static int stop(void **state)
{
	(void)state;
	nfsd_stop(&r);
	nfsd_fini(&r);
	return 0;
}

static uint64_t inode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(nfsd_path(&r, name), &st), 0);
	return st.st_ino;
}

/* From now on the file's dirty data are lost. */
static void lose_by(uint64_t ino, int error)
{
	char tmp[160], path[160];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s/tmp", flags);
	snprintf(path, sizeof(path), "%s/lose", flags);
	f = fopen(tmp, "w");
	assert_non_null(f);
	fprintf(f, "%llu %d\n", (unsigned long long)ino, error);
	assert_int_equal(fchmod(fileno(f), 0666), 0); /* to whomever a thread serves */
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename(tmp, path), 0);
	/* The shim looks when something is opened. */
	assert_int_equal(nfsd_lookup(&r, r.root, "nothing", NULL), NFS3ERR_NOENT);
}

static void lose(uint64_t ino)
{
	lose_by(ino, EIO);
}

/* How many descriptors the server has open on it; for writing or any; all files if 0.
 */
static unsigned count_open(uint64_t ino, bool writing)
{
	char dir[64], path[400], line[64];
	struct dirent *de;
	unsigned n = 0;
	struct stat st;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)r.pid);
	d = opendir(dir);
	assert_non_null(d);
	while ((de = readdir(d))) {
		unsigned open_flags = 0;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, de->d_name);
		if (de->d_name[0] == '.' || stat(path, &st) ||
		    (ino && st.st_ino != ino))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)r.pid,
		         de->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			sscanf(line, "flags: %o", &open_flags);
		if (f)
			fclose(f);
		if (!writing ||
		    ((open_flags & O_ACCMODE) == O_WRONLY && !(open_flags & O_PATH)))
			n++;
	}
	closedir(d);
	return n;
}

/* Seconds until the server has none, at most @most. */
static double until_closed(uint64_t ino, bool writing, unsigned most)
{
	struct timespec t0, t;
	double took = 0;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	while (count_open(ino, writing) && took <= most) {
		assert_int_equal(rpcrdma_engine_process(r.engine, 20), 0);
		clock_gettime(CLOCK_MONOTONIC, &t);
		took = (double)(t.tv_sec - t0.tv_sec) +
		       (double)(t.tv_nsec - t0.tv_nsec) / 1e9;
	}
	assert_true(took <= most);
	return took;
}

static nfs_fh3 write_unstable(const char *name, WRITE3resok *ok)
{
	nfs_fh3 fh;

	assert_int_equal(nfsd_create(&r, r.root, name, &fh), NFS3_OK);
	assert_int_equal(nfsd_write(&r, fh, 0, "data", 4, UNSTABLE, ok), NFS3_OK);
	return fh;
}

static nfsstat3 commit(nfs_fh3 fh, COMMIT3resok *ok)
{
	COMMIT3args a = {.file = fh};
	COMMIT3res res;
	nfsstat3 s = NFS(&r, COMMIT, &a, &res);

	*ok = res.COMMIT3res_u.resok;
	return s;
}

/* COMMIT fails, or has another verifier than the WRITE had. */
static void loss_is_reported(nfs_fh3 fh, const WRITE3resok *written)
{
	COMMIT3resok ok;

	if (!commit(fh, &ok))
		assert_memory_not_equal(ok.verf, written->verf, NFS3_WRITEVERFSIZE);
}

static void no_loss_is_reported(nfs_fh3 fh, const WRITE3resok *written)
{
	COMMIT3resok ok;

	assert_int_equal(commit(fh, &ok), NFS3_OK);
	assert_memory_equal(ok.verf, written->verf, NFS3_WRITEVERFSIZE);
}

/* Other files, each with its object. */
static void open_others(const char *prefix, unsigned n)
{
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		nfsd_write_file(&r, name, "x", 1);
		(void)nfsd_lookup(&r, r.root, name, NULL); /* there may be no room */
	}
}

static void loss_at_once_fails_commit(void **state)
{
	COMMIT3resok ok;
	WRITE3resok w;
	nfs_fh3 fh;

	(void)state;
	fh = write_unstable("once", &w);
	lose(inode_of("once"));
	assert_int_equal(commit(fh, &ok), NFS3ERR_IO);
	assert_true(nfsd_printed(&r, "/exp/once: data did not reach storage"));
	assert_int_equal(commit(fh, &ok), NFS3_OK);
	assert_memory_not_equal(ok.verf, w.verf, NFS3_WRITEVERFSIZE);
}

/* So a file system says that has stopped after an error of its own. */
static void read_only_all_of_a_sudden(void **state)
{
	COMMIT3resok ok;
	WRITE3resok w;
	nfs_fh3 fh;

	(void)state;
	fh = write_unstable("f", &w);
	lose_by(inode_of("f"), EROFS);
	assert_int_equal(commit(fh, &ok), NFS3ERR_ROFS);
	assert_int_equal(commit(fh, &ok), NFS3_OK);
	assert_memory_not_equal(ok.verf, w.verf, NFS3_WRITEVERFSIZE);
}

static void idle_files_do_not_lose_data(void **state)
{
	WRITE3resok lost, kept;
	nfs_fh3 f, k;

	(void)state;
	k = write_unstable("kept", &kept);
	(void)until_closed(inode_of("kept"), false, 40);
	no_loss_is_reported(k, &kept);
	f = write_unstable("idle", &lost);
	lose(inode_of("idle"));
	(void)until_closed(inode_of("idle"), false, 40);
	loss_is_reported(f, &lost);
	assert_true(nfsd_printed(&r, "/exp/idle: data did not reach storage"));
}

static void evicted_files_do_not_lose_data(void **state)
{
	WRITE3resok lost;
	nfs_fh3 f;

	(void)state;
	f = write_unstable("f", &lost);
	lose(inode_of("f"));
	open_others("a", 60);
	(void)until_closed(inode_of("f"), true, 8); /* sooner than when idle */
	loss_is_reported(f, &lost);
}

static void files_closed_for_want_of_descriptors(void **state)
{
	WRITE3resok lost;
	struct rlimit was, low;
	nfs_fh3 f;

	(void)state;
	f = write_unstable("f", &lost);
	lose(inode_of("f"));
	assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, NULL, &was), 0);
	low = (struct rlimit){count_open(0, false) + 3, was.rlim_max};
	for (int i = 0; i < 110; i++) /* 2 s: idle enough to go */
		assert_int_equal(rpcrdma_engine_process(r.engine, 20), 0);
	assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, &low, NULL), 0);
	open_others("e", 20);
	(void)until_closed(inode_of("f"), true, 6);
	assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, &was, NULL), 0);
	loss_is_reported(f, &lost);
	assert_true(nfsd_printed(&r, "no file descriptor is left"));
}

/* The file has another name: its data can still be committed. */
static void removing_one_name_loses_nothing(void **state)
{
	REMOVE3args ra = {.object = nfsd_name(r.root, "one")};
	LINK3args la;
	REMOVE3res rres;
	LINK3res lres;
	WRITE3resok lost;
	nfs_fh3 f;

	(void)state;
	f = write_unstable("one", &lost);
	la = (LINK3args){f, nfsd_name(r.root, "other")};
	assert_int_equal(NFS(&r, LINK, &la, &lres), NFS3_OK);
	lose(inode_of("one"));
	assert_int_equal(NFS(&r, REMOVE, &ra, &rres), NFS3_OK);
	loss_is_reported(f, &lost);
}

/* A program that was copied can be executed soon. */
static void written_files_are_closed_soon(void **state)
{
	WRITE3resok w;
	nfs_fh3 f;

	(void)state;
	f = write_unstable("program", &w);
	no_loss_is_reported(f, &w);
	assert_int_equal(count_open(inode_of("program"), true), 1);
	(void)until_closed(inode_of("program"), true, 6);
	assert_int_equal(nfsd_write(&r, f, 4, "more", 4, FILE_SYNC, &w), NFS3_OK);
	(void)until_closed(inode_of("program"), true, 6);
	assert_int_equal(nfsd_write(&r, f, 8, "more", 4, UNSTABLE, &w), NFS3_OK);
	no_loss_is_reported(f, &w);
}

/* What RENAME replaces gives its space back. */
static void replaced_files_are_closed_soon(void **state)
{
	RENAME3args a = {nfsd_name(r.root, "new"), nfsd_name(r.root, "old")};
	RENAME3res res;
	WRITE3resok w;
	uint64_t ino;

	(void)state;
	write_unstable("old", &w);
	ino = inode_of("old");
	nfsd_write_file(&r, "new", "x", 1);
	assert_int_equal(NFS(&r, RENAME, &a, &res), NFS3_OK);
	(void)until_closed(ino, false, 6);
}

/* ---- Names and attributes -------------------------------------------------------- */

static void log_begin(void)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/log", flags);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0666), 0);
	close(fd);
}

/* What was synced since, in this order; NULL ends.  "syncfs" has the export's root. */
static void log_is(const char *first, ...)
{
	char path[160], line[64], want[64];
	const char *name = first;
	struct stat st;
	va_list ap;
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", flags);
	f = fopen(path, "r");
	assert_non_null(f);
	va_start(ap, first);
	for (; name; name = va_arg(ap, const char *)) {
		bool all = !strcmp(name, "syncfs");

		assert_int_equal(lstat(nfsd_path(&r, all ? "." : name), &st), 0);
		snprintf(want, sizeof(want), "%s %llu\n", all ? "syncfs" : "fsync",
		         (unsigned long long)st.st_ino);
		assert_non_null(fgets(line, sizeof(line), f));
		assert_string_equal(line, want);
	}
	va_end(ap);
	assert_null(fgets(line, sizeof(line), f));
	fclose(f);
	log_begin();
}

static void set(const char *name, const sattr3 *new)
{
	SETATTR3args a = {.object = nfsd_walk(&r, name), .new_attributes = *new};
	SETATTR3res res;

	assert_int_equal(NFS(&r, SETATTR, &a, &res), NFS3_OK);
}

static void make_file(const char *name, createmode3 how, bool truncate)
{
	CREATE3args a = {.where = nfsd_name(r.root, name), .how = {.mode = how}};
	CREATE3res res;

	if (how == EXCLUSIVE)
		memcpy(a.how.createhow3_u.verf, "verifier", NFS3_CREATEVERFSIZE);
	a.how.createhow3_u.obj_attributes.size.set_it = how != EXCLUSIVE && truncate;
	assert_int_equal(NFS(&r, CREATE, &a, &res), NFS3_OK);
	NFS3_FREE(CREATE3res, &res);
}

static const sattr3 mode_only = {.mode = {TRUE, {0600}}};
static const sattr3 times = {.mtime = {SET_TO_CLIENT_TIME, {{2000000, 7}}}};

static void setattr_is_on_storage(void **state)
{
	const sattr3 size = {.size = {TRUE, {3}}};

	(void)state;
	nfsd_write_file(&r, "f", "hello", 5);
	assert_int_equal(mkdir(nfsd_path(&r, "d"), 0755), 0);
	assert_int_equal(chown(nfsd_path(&r, "d"), r.uid, r.gid), 0);
	assert_int_equal(symlink("target", nfsd_path(&r, "l")), 0);
	assert_int_equal(lchown(nfsd_path(&r, "l"), r.uid, r.gid), 0);
	log_begin();
	set("f", &mode_only);
	log_is("f", NULL);
	set("f", &size);
	log_is("f", NULL);
	set("d", &times);
	log_is("d", NULL);
	set("l", &times);
	log_is("syncfs", NULL);
}

static void creating_is_on_storage(void **state)
{
	MKDIR3args ma = {nfsd_name(r.root, "d"), mode_only};
	SYMLINK3args sa = {nfsd_name(r.root, "l"), {.data_len = 6}};
	CREATE3res res;

	(void)state;
	log_begin();
	make_file("f", GUARDED, false);
	log_is("f", ".", NULL);
	make_file("f", UNCHECKED, true);
	log_is("f", ".", NULL);
	make_file("x", EXCLUSIVE, false);
	log_is("x", ".", NULL);
	make_file("x", EXCLUSIVE, false); /* once more */
	log_is("x", ".", NULL);
	assert_int_equal(NFS(&r, MKDIR, &ma, (MKDIR3res *)&res), NFS3_OK);
	NFS3_FREE(CREATE3res, &res);
	log_is("d", ".", NULL);
	r.item = "target";
	r.item_len = 6;
	assert_int_equal(NFS(&r, SYMLINK, &sa, (SYMLINK3res *)&res), NFS3_OK);
	NFS3_FREE(CREATE3res, &res);
	log_is(".", NULL);
	sa.where.name = (char *)(uintptr_t) "m";
	sa.symlink.symlink_attributes = times;
	r.item = "target";
	r.item_len = 6;
	assert_int_equal(NFS(&r, SYMLINK, &sa, (SYMLINK3res *)&res), NFS3_OK);
	NFS3_FREE(CREATE3res, &res);
	log_is("syncfs", ".", NULL);
}

static void async_is_excused(void **state)
{
	(void)state;
	nfsd_write_file(&r, "f", "hello", 5);
	log_begin();
	set("f", &mode_only);
	make_file("x", EXCLUSIVE, false);
	make_file("f", UNCHECKED, true);
	log_is(NULL);
}

/* ---- Handles --------------------------------------------------------------------- */

static int start_plain(void **state)
{
	if (geteuid())
		return start(state);
	nfsd_init(&r);
	r.server_uid = r.uid;
	snprintf(flags, sizeof(flags), "%s/flags", r.dir);
	assert_int_equal(mkdir(flags, 0755), 0);
	r.preload = STORAGE;
	r.preload_flag = flags;
	nfsd_start(&r, NULL);
	return 0;
}

/* Without privilege a removed file is searched for, but not each time. */
static void what_is_gone_is_searched_for_once(void **state)
{
	char path[160], line[64];
	unsigned searches = 0;
	nfs_fh3 fh;
	FILE *f;

	(void)state;
	nfsd_write_file(&r, "gone", "x", 1);
	fh = nfsd_walk(&r, "gone");
	nfsd_stop(&r);
	assert_int_equal(unlink(nfsd_path(&r, "gone")), 0);
	nfsd_write_file(&r, "stays", "x", 1);
	nfsd_start(&r, NULL); /* it remembers nothing */
	log_begin();
	for (int i = 0; i < 10; i++)
		assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3ERR_STALE);
	snprintf(path, sizeof(path), "%s/log", flags);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		searches += !strncmp(line, "fdopendir", 9);
	fclose(f);
	assert_int_equal(searches, 1); /* and by its numbers only */
	assert_int_equal(nfsd_getattr(&r, nfsd_walk(&r, "stays"), NULL), NFS3_OK);
}

/* As deep as `cp -r` goes. */
static void parents_of_deep_directories(void **state)
{
	enum { LEVELS = 700 };
	nfs_fh3 fh = r.root, up = r.root;
	int fd = open(r.exp, O_RDONLY | O_DIRECTORY), next;

	(void)state;
	if (geteuid()) {
		close(fd);
		skip(); /* handles of that depth are root's */
	}
	for (int i = 0; i < LEVELS; i++) {
		assert_int_equal(mkdirat(fd, "d", 0777), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		assert_true(next >= 0);
		close(fd);
		fd = next;
		up = fh;
		assert_int_equal(nfsd_lookup(&r, fh, "d", &fh), NFS3_OK);
	}
	close(fd);
	assert_int_equal(nfsd_lookup(&r, fh, "..", &fh), NFS3_OK);
	assert_int_equal(fh.data.data_len, up.data.data_len);
	assert_memory_equal(fh.data.data_val, up.data.data_val, up.data.data_len);
}

/* ---- The server's own files, and the kernel's calls ---------------------- */

static void own_files_have_the_users_umask(void **state)
{
	char stats[128], trace[128], trap[128];
	CREATE3args a = {.where = {.name = (char *)(uintptr_t) "f"}};
	CREATE3res res;
	struct stat st;
	mode_t was = umask(077);

	(void)state;
	snprintf(stats, sizeof(stats), "%s/stats", r.dir);
	snprintf(trace, sizeof(trace), "%s/trace", r.dir);
	snprintf(trap, sizeof(trap), "%s/trap", r.dir);
	nfsd_start(&r, "--stats-on-exit", stats, "--trace", trace, NULL);
	a.where.dir = r.root;
	a.how.createhow3_u.obj_attributes.mode = (set_mode3){TRUE, {0666}};
	assert_int_equal(NFS(&r, CREATE, &a, &res), NFS3_OK);
	NFS3_FREE(CREATE3res, &res);
	assert_int_equal(stat(nfsd_path(&r, "f"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	nfsd_stop(&r);
	assert_int_equal(stat(stats, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(trace, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	(void)umask(was);
	if (geteuid())
		return;
	assert_int_equal(symlink(stats, trap), 0);
	assert_int_equal(lchown(trap, 4711, 4711), 0);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--listen", "127.0.0.1:0",
	                           "--state-dir", r.state, "--trace", trap, NULL),
	                 1);
}

static void write_key(const char *data, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/handle.key", r.state);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void empty_key_is_made_anew(void **state)
{
	char path[128];
	struct stat st;
	nfs_fh3 root;

	(void)state;
	snprintf(path, sizeof(path), "%s/handle.key", r.state);
	write_key("", 0);
	nfsd_start(&r, NULL);
	assert_true(nfsd_printed(&r, "handle.key is empty"));
	root = nfsd_fh(&r, r.root.data.data_val, r.root.data.data_len);
	nfsd_stop(&r);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 16);
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_getattr(&r, root, NULL), NFS3_OK);
	nfsd_stop(&r);
	write_key("short", 5);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--listen", "127.0.0.1:0",
	                           "--state-dir", r.state, NULL),
	                 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 5);
}

static void kernels_without_faccessat2(void **state)
{
	int status = 0;
	pid_t pid;
	char b[4];

	(void)state;
	r.server_uid = geteuid() ? 0 : r.uid;
	r.no_faccessat2 = true;
	nfsd_start(&r, NULL);
	nfsd_write_file(&r, "f", "data", 4);
	assert_int_equal(nfsd_read(&r, nfsd_walk(&r, "f"), 0, b, 4, false, NULL), 4);
	assert_int_equal(nfsd_lookup(&r, r.root, ".", NULL), NFS3_OK);
	nfsd_stop(&r);
	if (geteuid())
		return;
	pid = fork(); /* root's clients are others: it does not start */
	assert_true(pid >= 0);
	if (!pid) {
		nfsd_deny_faccessat2();
		_exit(nfsd_tool("nfsd", "--export", r.exp, "--listen", "127.0.0.1:0",
		                "--state-dir", r.state, NULL));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
}

/* ---- A real one ---------------------------------------------------------- */

/* ext4 on a sparse file for which there is no room: what is not there yet is lost. */
static bool mount_full_store(void)
{
	char cmd[800];

	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	snprintf(cmd, sizeof(cmd),
	         "exec >/dev/null 2>&1; cd %s && mkdir back && "
	         "mount -t tmpfs -o size=24m none back && truncate -s 200m back/img && "
	         "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 back/img && "
	         "mount -o loop back/img exp && touch exp/f && chown -R %u:%u exp && "
	         "sync -f exp && "
	         "{ cat /dev/zero >back/fill; sync -f back; }",
	         r.dir, (unsigned)r.uid, (unsigned)r.gid);
	return !system(cmd);
}

static int unmount_store(void **state)
{
	char cmd[200];

	snprintf(cmd, sizeof(cmd), "cd %s; umount exp; umount back; rmdir back; true",
	         r.dir);
	if (r.pid)
		nfsd_kill(&r);
	(void)!system(cmd);
	return nfsd_tear_down(state);
}

static void full_backing_store_is_reported(void **state)
{
	static uint8_t data[1 << 20];
	WRITE3resok w;
	nfs_fh3 fh;
	int fd;

	(void)state;
	if (!mount_full_store()) {
		print_message("SKIP: no loop device with ext4\n");
		skip();
	}
	memset(data, 7, sizeof(data));
	nfsd_start(&r, NULL);
	fh = nfsd_walk(&r, "f");
	assert_int_equal(nfsd_write(&r, fh, 0, data, sizeof(data), UNSTABLE, &w),
	                 NFS3_OK);
	(void)until_closed(inode_of("f"), false, 60);
	fd = open(nfsd_path(&r, "f"), O_RDONLY);
	if (fd >= 0) {
		(void)!fsync(fd); /* somebody else hears of it as well */
		close(fd);
	}
	loss_is_reported(fh, &w);
	assert_true(nfsd_printed(&r, "/exp/f: data did not reach storage"));
	nfsd_stop(&r);
}

#define I(f)                                                                           \
	cmocka_unit_test_prestate_setup_teardown(f, nfsd_set_up, nfsd_tear_down, &r)
#define T(f, how) cmocka_unit_test_setup_teardown(f, how, stop)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        T(loss_at_once_fails_commit, start),
	        T(read_only_all_of_a_sudden, start),
	        T(idle_files_do_not_lose_data, start),
	        T(evicted_files_do_not_lose_data, start_small),
	        T(files_closed_for_want_of_descriptors, start),
	        T(removing_one_name_loses_nothing, start),
	        T(written_files_are_closed_soon, start),
	        T(replaced_files_are_closed_soon, start),
	        T(setattr_is_on_storage, start),
	        T(creating_is_on_storage, start),
	        T(async_is_excused, start_async),
	        T(what_is_gone_is_searched_for_once, start_plain),
	        T(parents_of_deep_directories, start),
	        I(own_files_have_the_users_umask),
	        I(empty_key_is_made_anew),
	        I(kernels_without_faccessat2),
	        cmocka_unit_test_prestate_setup_teardown(
	                full_backing_store_is_reported, nfsd_set_up, unmount_store, &r),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
