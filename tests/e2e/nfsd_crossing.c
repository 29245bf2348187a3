/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, what is mounted beneath exports: empty directories at /exp, file
 * systems of their own at /x, which has crossmnt.  In a mount namespace of the test's
 * own; as root with the kernel's file handles and, by a server that is none, without.
 */
#define _GNU_SOURCE
#include "test_nfsd_ask.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, IDLE_SECONDS = 60, A_WHILE_MS = 300, WAIT_MS = 30000 };

static struct nfsd r;
static nfs_fh3 x; /* the root of /x */

/* ---- Set-up -------------------------------------------------------------- */

static void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* 0, or errno: this system does not let us. */
static int enter_namespace(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)))
		return errno;
	if (uid) {
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		put_text("/proc/self/uid_map", map);
		put_text("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		put_text("/proc/self/gid_map", map);
	}
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ? errno : 0;
}

static void cover(const char *name)
{
	assert_int_equal(mount("none", nfsd_path(&r, name), "tmpfs", 0,
	                       "size=1M,mode=777,nr_inodes=100"),
	                 0);
}

static void make_dir(const char *name)
{
	assert_int_equal(mkdir(nfsd_path(&r, name), 0777), 0);
	assert_int_equal(chmod(nfsd_path(&r, name), 0777), 0);
}

static void start(void)
{
	char export[160];

	snprintf(export, sizeof(export), "%s:/x,crossmnt", r.exp);
	nfsd_start(&r, "--export", export, "--mount-port", "0", NULL);
	assert_int_equal(nfsd_mount(&r, "/x", &x), MNT3_OK);
}

static void restart(void)
{
	nfsd_kill(&r);
	start();
}

static void set_up(void)
{
	nfsd_init(&r);
	make_dir("m");
	make_dir("d");
	make_dir("m/hidden");
	nfsd_write_file(&r, "d/plain", "plain", 5);
}

static int set_up_kernel(void **state)
{
	(void)state;
	set_up();
	return 0;
}

static int set_up_walk(void **state)
{
	(void)state;
	set_up();
	r.server_uid = geteuid() ? 0 : r.uid;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (r.pid)
		nfsd_stop(&r);
	while (!umount2(nfsd_path(&r, "m"), MNT_DETACH))
		;
	while (!umount2(nfsd_path(&r, "d"), MNT_DETACH))
		;
	nfsd_fini(&r);
	return 0;
}

static bool same_fh(nfs_fh3 a, nfs_fh3 b)
{
	return a.data.data_len == b.data.data_len &&
	       !memcmp(a.data.data_val, b.data.data_val, a.data.data_len);
}

static nfs_fh3 find(nfs_fh3 dir, const char *name)
{
	nfs_fh3 fh;

	assert_int_equal(nfsd_lookup(&r, dir, name, &fh), NFS3_OK);
	return fh;
}

static fattr3 attributes(nfs_fh3 fh)
{
	fattr3 a;

	assert_int_equal(nfsd_getattr(&r, fh, &a), NFS3_OK);
	return a;
}

/* ---- Empty directories --------------------------------------------------- */

/* The number that READDIR has for @name, 0 if it has none; and how many there are. */
static uint64_t listed(nfs_fh3 dir, const char *name, unsigned *ret_n)
{
	READDIR3args a = {.dir = dir, .count = 4096};
	READDIR3res res;
	size_t pos;
	uint64_t ino = 0;
	entry3 e;

	assert_int_equal(NFS(&r, READDIR, &a, &res), NFS3_OK);
	pos = r.used;
	*ret_n = 0;
	while (NFS3_LIST_NEXT(r.results, r.len, &pos, entry3, &e) == 1) {
		if (!strcmp(e.name, name))
			ino = e.fileid;
		++*ret_n;
		NFS3_FREE(entry3, &e);
	}
	return ino;
}

/* By READDIRPLUS with room for one entry at a time: is @name there, without handle? */
static bool listed_bare(nfs_fh3 dir, const char *name, unsigned *ret_n)
{
	READDIRPLUS3args a = {.dir = dir, .dircount = 4096, .maxcount = 300};
	READDIRPLUS3res res;
	bool bare = false, more = true;
	entryplus3 e;

	for (*ret_n = 0; more;
	     memcpy(a.cookieverf, res.READDIRPLUS3res_u.resok.cookieverf, 8)) {
		size_t pos;

		r.reply_bytes = 304;
		assert_int_equal(NFS(&r, READDIRPLUS, &a, &res), NFS3_OK);
		pos = r.used;
		for (more = false;
		     NFS3_LIST_NEXT(r.results, r.len, &pos, entryplus3, &e) == 1;
		     more = true) {
			if (!strcmp(e.name, name))
				bare = !e.name_handle.handle_follows &&
				       !e.name_attributes.attributes_follow;
			a.cookie = e.cookie;
			++*ret_n;
			NFS3_FREE(entryplus3, &e);
		}
	}
	return bare;
}

static void a_covered_directory_is_empty(void **state)
{
	nfs_fh3 m, up, self;
	uint64_t ino;
	struct stat st;
	unsigned n;
	fattr3 a;

	(void)state;
	assert_int_equal(stat(nfsd_path(&r, "m"), &st), 0);
	cover("m");
	nfsd_write_file(&r, "m/in", "x", 1);
	start();
	m = find(r.root, "m");
	a = attributes(m);
	assert_int_equal(a.type, NF3DIR);
	assert_int_equal(a.mode, 0555);
	assert_true(a.fsid == attributes(r.root).fsid);
	ino = listed(r.root, "m", &n);
	assert_true(a.fileid == ino);
	assert_true(ino == st.st_ino);
	assert_true(listed_bare(r.root, "m", &n));
	assert_true(listed(m, ".", &n) == ino);
	assert_int_equal(n, 2);
	assert_true(listed(m, "..", &n) == attributes(r.root).fileid);
	assert_false(listed_bare(m, ".", &n));
	assert_int_equal(n, 2);
	self = find(m, ".");
	assert_true(same_fh(self, m));
	up = find(m, "..");
	assert_true(same_fh(up, r.root));
	/* what is mounted, what is covered, what lies beside it */
	assert_int_equal(nfsd_lookup(&r, m, "in", NULL), NFS3ERR_NOENT);
	assert_int_equal(nfsd_lookup(&r, m, "hidden", NULL), NFS3ERR_NOENT);
	assert_int_equal(nfsd_lookup(&r, m, "d", NULL), NFS3ERR_NOENT);
	assert_int_equal(nfsd_mount(&r, "/exp/m", NULL), MNT3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/exp/m/hidden", NULL), MNT3ERR_ACCES);
}

static void change_refused(nfs_fh3 m, nfs_fh3 plain, nfs_fh3 d)
{
	SETATTR3args set = {.object = m};
	MKDIR3args md = {.where = nfsd_name(m, "n")};
	MKNOD3args mk = {.where = nfsd_name(m, "n"), .what.type = NF3FIFO};
	REMOVE3args rm = {nfsd_name(m, "in")};
	RMDIR3args rd = {nfsd_name(m, "hidden")};
	RENAME3args to = {nfsd_name(d, "plain"), nfsd_name(m, "n")},
	            from = {nfsd_name(m, "in"), nfsd_name(d, "n")};
	LINK3args ln = {plain, nfsd_name(m, "n")};
	union nfs_any {
		SETATTR3res set;
		MKDIR3res md;
		MKNOD3res mk;
		REMOVE3res rm;
		RMDIR3res rd;
		RENAME3res rn;
		LINK3res ln;
	} u;

	set.new_attributes.mode.set_it = TRUE;
	assert_int_equal(NFS(&r, SETATTR, &set, &u.set), NFS3ERR_ROFS);
	assert_int_equal(nfsd_create(&r, m, "n", NULL), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, MKDIR, &md, &u.md), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, MKNOD, &mk, &u.mk), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, REMOVE, &rm, &u.rm), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, RMDIR, &rd, &u.rd), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, RENAME, &to, &u.rn), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, RENAME, &from, &u.rn), NFS3ERR_ROFS);
	assert_int_equal(NFS(&r, LINK, &ln, &u.ln), NFS3ERR_ROFS);
}

static void a_covered_directory_does_not_change(void **state)
{
	ACCESS3args ac = {.access = 0x3f};
	REMOVE3args rm = {nfsd_name(r.root, "m")};
	RMDIR3args rd = {nfsd_name(r.root, "m")};
	struct stat before, after;
	ACCESS3res acres;
	REMOVE3res rmres;
	RMDIR3res rdres;
	nfs_fh3 m, d;
	uint8_t b[8];

	(void)state;
	cover("m");
	nfsd_write_file(&r, "m/in", "x", 1);
	start();
	rm.object.dir = rd.object.dir = r.root;
	m = find(r.root, "m");
	d = find(r.root, "d");
	assert_int_equal(stat(nfsd_path(&r, "m"), &before), 0);
	change_refused(m, find(d, "plain"), d);
	assert_true(NFS(&r, REMOVE, &rm, &rmres) != NFS3_OK);
	assert_true(NFS(&r, RMDIR, &rd, &rdres) != NFS3_OK);
	assert_int_equal(nfsd_create(&r, r.root, "m", NULL), NFS3ERR_EXIST);
	assert_int_equal(nfsd_read(&r, m, 0, b, 8, false, NULL), -NFS3ERR_ISDIR);
	assert_int_equal(nfsd_write(&r, m, 0, "x", 1, UNSTABLE, NULL), NFS3ERR_ISDIR);
	ac.object = m;
	assert_int_equal(NFS(&r, ACCESS, &ac, &acres), NFS3_OK);
	assert_int_equal(acres.ACCESS3res_u.resok.access,
	                 ACCESS3_READ | ACCESS3_LOOKUP);
	assert_int_equal(stat(nfsd_path(&r, "m"), &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(after.st_mtim));
	assert_int_equal(access(nfsd_path(&r, "d/plain"), F_OK), 0);
}

static void a_covered_directory_comes_and_goes(void **state)
{
	nfs_fh3 was, m;
	fattr3 a;

	(void)state;
	start();
	was = find(r.root, "m");
	cover("m");
	m = find(r.root, "m");
	assert_false(same_fh(was, m));
	assert_true(attributes(m).fileid == attributes(m).fileid);
	restart();
	assert_int_equal(nfsd_getattr(&r, m, &a), NFS3_OK);
	assert_int_equal(a.mode, 0555);
	assert_true(same_fh(find(m, ".."), r.root));
	assert_int_equal(umount(nfsd_path(&r, "m")), 0);
	assert_int_equal(nfsd_getattr(&r, m, &a), NFS3ERR_STALE);
	assert_true(same_fh(find(r.root, "m"), was));
	(void)find(was, "hidden");
}

/* ---- File systems of their own ------------------------------------------- */

static void mounted_is_another_file_system(void **state)
{
	nfs_fh3 m, f, d, deep, g;
	RENAME3args rn;
	RENAME3res rnres;
	LINK3args ln;
	LINK3res lnres;
	FSSTAT3args fs;
	FSSTAT3res fsres;
	unsigned n;

	(void)state;
	cover("m");
	make_dir("m/sub");
	cover("m/sub");
	nfsd_write_file(&r, "m/sub/g", "deep", 4);
	start();
	m = find(x, "m");
	d = find(x, "d");
	deep = find(m, "sub");
	assert_true(attributes(m).fsid != attributes(x).fsid);
	assert_true(attributes(deep).fsid != attributes(m).fsid);
	assert_true(attributes(x).fsid != attributes(r.root).fsid);
	assert_int_equal(nfsd_create(&r, m, "f", &f), NFS3_OK);
	assert_true(attributes(f).fsid == attributes(m).fsid);
	assert_int_equal(nfsd_lookup(&r, m, "hidden", NULL), NFS3ERR_NOENT);
	(void)listed(m, "f", &n);
	assert_int_equal(n, 4);
	assert_true(same_fh(find(m, ".."), x));
	assert_true(same_fh(find(deep, ".."), m));
	g = find(deep, "g");
	rn = (RENAME3args){nfsd_name(m, "f"), nfsd_name(d, "f")};
	assert_int_equal(NFS(&r, RENAME, &rn, &rnres), NFS3ERR_XDEV);
	ln = (LINK3args){f, nfsd_name(d, "f")};
	assert_int_equal(NFS(&r, LINK, &ln, &lnres), NFS3ERR_XDEV);
	ln = (LINK3args){g, nfsd_name(m, "g")};
	assert_int_equal(NFS(&r, LINK, &ln, &lnres), NFS3ERR_XDEV);
	fs.fsroot = deep;
	assert_int_equal(NFS(&r, FSSTAT, &fs, &fsres), NFS3_OK);
	assert_true(fsres.FSSTAT3res_u.resok.tbytes == 1 << 20);
	/* the export without crossmnt shows none of it, to its handles either */
	assert_int_equal(nfsd_lookup(&r, find(r.root, "m"), "f", NULL), NFS3ERR_NOENT);
}

static void mounted_directories_can_be_mounted(void **state)
{
	nfs_fh3 fh;
	int tcp;

	(void)state;
	cover("m");
	make_dir("m/a");
	make_dir("m/a/sub");
	cover("m/a/sub");
	make_dir("m/a/sub/b");
	start();
	assert_int_equal(nfsd_mount(&r, "/x/m", &fh), MNT3_OK);
	assert_true(same_fh(fh, find(x, "m")));
	assert_int_equal(nfsd_mount(&r, "/x//m/a//sub/b/", &fh), MNT3_OK);
	assert_true(same_fh(find(fh, ".."), find(find(find(x, "m"), "a"), "sub")));
	assert_int_equal(nfsd_mount(&r, "/x/m/a/none", NULL), MNT3ERR_NOENT);
	assert_int_equal(nfsd_mount(&r, "/x/m/hidden", NULL), MNT3ERR_NOENT);
	tcp = ask_tcp_connect(&r);
	assert_int_equal(ask_tcp_mount(&r, tcp, "/x/m/a/sub/b"), MNT3_OK);
	assert_int_equal(ask_tcp_mount(&r, tcp, "/x/m/none"), MNT3ERR_NOENT);
	assert_int_equal(ask_tcp_mount(&r, tcp, "/exp/m/a"), MNT3ERR_ACCES);
	close(tcp);
}

static void handles_survive_a_restart(void **state)
{
	nfs_fh3 m, a, f, deep, g;
	uint8_t b[4];
	fattr3 was;

	(void)state;
	cover("m");
	make_dir("m/a");
	make_dir("m/a/sub");
	cover("m/a/sub");
	nfsd_write_file(&r, "m/a/f", "data", 4);
	nfsd_write_file(&r, "m/a/sub/g", "deep", 4);
	start();
	m = find(x, "m");
	a = find(m, "a");
	f = find(a, "f");
	deep = find(a, "sub");
	g = find(deep, "g");
	was = attributes(f);
	restart();
	assert_int_equal(nfsd_read(&r, f, 0, b, 4, false, NULL), 4);
	assert_memory_equal(b, "data", 4);
	assert_true(attributes(f).fsid == was.fsid);
	restart();
	assert_int_equal(nfsd_read(&r, g, 0, b, 4, false, NULL), 4);
	assert_memory_equal(b, "deep", 4);
	assert_true(same_fh(find(deep, ".."), a));
	restart();
	assert_true(same_fh(find(m, "a"), a));
	assert_int_equal(attributes(a).type, NF3DIR);
	/* ... and end with the option */
	nfsd_kill(&r);
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_getattr(&r, f, &was), NFS3ERR_STALE);
	assert_int_equal(nfsd_getattr(&r, m, &was), NFS3ERR_STALE);
}

static void handles_end_with_the_mount(void **state)
{
	nfs_fh3 was, m, f, again;
	fattr3 a;

	(void)state;
	start();
	was = find(x, "m");
	cover("m");
	nfsd_write_file(&r, "m/f", "data", 4);
	m = find(x, "m");
	assert_false(same_fh(m, was));
	f = find(m, "f");
	assert_int_equal(attributes(f).size, 4);
	/* although the server has both open */
	assert_int_equal(umount2(nfsd_path(&r, "m"), MNT_DETACH), 0);
	assert_int_equal(nfsd_getattr(&r, f, &a), NFS3ERR_STALE);
	assert_int_equal(nfsd_getattr(&r, m, &a), NFS3ERR_STALE);
	assert_int_equal(nfsd_lookup(&r, m, "f", NULL), NFS3ERR_STALE);
	assert_true(same_fh(find(x, "m"), was));
	/* another one at the same place is not the same */
	cover("m");
	nfsd_write_file(&r, "m/f", "other", 5);
	again = find(x, "m");
	assert_int_equal(nfsd_getattr(&r, f, &a), NFS3ERR_STALE);
	assert_false(same_fh(find(again, "f"), f));
	/* one over it covers it */
	cover("m");
	assert_int_equal(nfsd_lookup(&r, find(x, "m"), "f", NULL), NFS3ERR_NOENT);
	assert_int_equal(umount2(nfsd_path(&r, "m"), MNT_DETACH), 0);
	assert_true(same_fh(find(x, "m"), again));
}

static void idle_mounts_can_be_unmounted(void **state)
{
	struct timespec t0, t;
	uint64_t fsid;
	nfs_fh3 m;
	fattr3 a;

	(void)state;
	cover("m");
	start();
	m = find(x, "m");
	fsid = attributes(m).fsid;
	assert_int_equal(nfsd_create(&r, m, "f", NULL), NFS3_OK);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	while (umount(nfsd_path(&r, "m"))) {
		assert_int_equal(errno, EBUSY);
		assert_int_equal(rpcrdma_engine_process(r.engine, 100), 0);
		clock_gettime(CLOCK_MONOTONIC, &t);
		assert_true(t.tv_sec - t0.tv_sec < IDLE_SECONDS);
	}
	/* although the kernel gives the next mount the same number */
	assert_int_equal(mount("another", nfsd_path(&r, "m"), "tmpfs", 0, NULL), 0);
	assert_int_equal(nfsd_getattr(&r, m, &a), NFS3ERR_STALE);
	assert_true(attributes(find(x, "m")).fsid != fsid);
	/* used again after it was closed for being idle */
	cover("d");
	m = find(x, "d");
	clock_gettime(CLOCK_MONOTONIC, &t0);
	do {
		assert_int_equal(rpcrdma_engine_process(r.engine, 100), 0);
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while (t.tv_sec - t0.tv_sec < 14);
	assert_int_equal(nfsd_create(&r, m, "f", NULL), NFS3_OK);
}

static void there_may_be_too_many(void **state)
{
	char name[32];
	nfs_fh3 fh;

	(void)state;
	start();
	cover("d");
	assert_int_equal(
	        mount("none", nfsd_path(&r, "d"), NULL, MS_REMOUNT, "nr_inodes=1000"),
	        0);
	for (int i = 0; i < MOST; i++) { /* and "d" itself */
		snprintf(name, sizeof(name), "d/%d", i);
		make_dir(name);
		assert_int_equal(mount(r.state, nfsd_path(&r, name), NULL, MS_BIND, 0),
		                 0);
	}
	for (int i = 0; i < MOST; i++) {
		snprintf(name, sizeof(name), "%d", i);
		fh = find(find(x, "d"), name);
		assert_int_equal(nfsd_lookup(&r, fh, "handle.key", NULL),
		                 i < MOST - 1 ? NFS3_OK : NFS3ERR_NOENT);
	}
	assert_int_equal(attributes(fh).mode, 0555);
	assert_true(nfsd_printed(&r, "too many file systems"));
	/* once there is room */
	assert_int_equal(umount2(nfsd_path(&r, "d/0"), MNT_DETACH), 0);
	snprintf(name, sizeof(name), "%d", MOST - 1);
	assert_int_equal(nfsd_lookup(&r, find(find(x, "d"), name), "handle.key", NULL),
	                 NFS3_OK);
}

/* ---- What moves, and what is odd ----------------------------------------- */

static nfsstat3 rename_in(nfs_fh3 dir, const char *from, const char *to)
{
	RENAME3args a = {nfsd_name(dir, from), nfsd_name(dir, to)};
	RENAME3res res;

	return NFS(&r, RENAME, &a, &res);
}

/* The kernel does not tell that the table of mounts changed by this. */
static void directories_above_can_be_renamed(void **state)
{
	nfs_fh3 f;

	(void)state;
	make_dir("d/b");
	cover("d/b");
	nfsd_write_file(&r, "d/b/f", "data", 4);
	start();
	(void)find(find(find(x, "d"), "b"), "f");
	assert_int_equal(attributes(find(find(r.root, "d"), "b")).mode, 0555);
	assert_int_equal(rename_in(r.root, "d", "e"), NFS3_OK);
	f = find(find(find(x, "e"), "b"), "f");
	assert_int_equal(attributes(f).size, 4);
	assert_int_equal(attributes(find(find(r.root, "e"), "b")).mode, 0555);
	assert_int_equal(rename_in(r.root, "e", "d"), NFS3_OK);
}

/* The way to a mount point leads over no link that a client made. */
static void links_do_not_lead_to_mount_points(void **state)
{
	char outside[128];
	nfs_fh3 b;
	fattr3 a;

	(void)state;
	make_dir("d/b");
	cover("d/b");
	make_dir("d/c");
	cover("d/c");
	start();
	b = find(find(r.root, "d"), "b");
	restart();
	(void)find(find(r.root, "d"), "c"); /* it reads the table before the change */
	assert_int_equal(rename(nfsd_path(&r, "d"), nfsd_path(&r, "m/d")), 0);
	snprintf(outside, sizeof(outside), "%s", r.dir);
	assert_int_equal(symlink(outside, nfsd_path(&r, "d")), 0);
	assert_int_equal(nfsd_getattr(&r, b, &a), NFS3ERR_STALE);
	assert_int_equal(unlink(nfsd_path(&r, "d")), 0);
	assert_int_equal(rename(nfsd_path(&r, "m/d"), nfsd_path(&r, "d")), 0);
}

/* A file on a file: no client is told to come back for ever. */
static void mounted_files_are_refused(void **state)
{
	char file[128];

	(void)state;
	nfsd_write_file(&r, "m/file", "x", 1);
	snprintf(file, sizeof(file), "%s", nfsd_path(&r, "m/file"));
	assert_int_equal(mount(file, nfsd_path(&r, "d/plain"), NULL, MS_BIND, 0), 0);
	start();
	assert_int_equal(nfsd_lookup(&r, find(x, "d"), "plain", NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/x/d/plain", NULL), MNT3ERR_ACCES);
	assert_int_equal(umount2(nfsd_path(&r, "d/plain"), MNT_DETACH), 0);
}

static void handles_of_what_covers_survive(void **state)
{
	nfs_fh3 m, f;
	fattr3 a;

	(void)state;
	cover("m");
	cover("m");
	start();
	m = find(x, "m");
	assert_int_equal(nfsd_create(&r, m, "f", &f), NFS3_OK);
	restart();
	assert_int_equal(nfsd_getattr(&r, f, &a), NFS3_OK);
}

/* Clients do not cause it to mount anything; nobody would answer here. */
static void autofs_is_not_asked(void **state)
{
	struct pollfd asked = {.events = POLLIN};
	char options[80];
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	snprintf(options, sizeof(options), "fd=%d,pgrp=1,minproto=5,maxproto=5,direct",
	         p[1]);
	if (mount("auto", nfsd_path(&r, "m"), "autofs", 0, options)) {
		close(p[0]);
		close(p[1]);
		print_message("SKIP: no autofs\n");
		skip();
	}
	start();
	assert_int_equal(attributes(find(x, "m")).mode, 0555);
	assert_int_equal(nfsd_mount(&r, "/exp/m", NULL), MNT3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/x/m/a", NULL), MNT3ERR_ACCES);
	asked.fd = p[0];
	assert_int_equal(poll(&asked, 1, 0), 0);
	close(p[0]);
	close(p[1]);
}

/* Without a descriptor for now the client is to ask again, and its handle is good. */
static void descriptors_may_run_out(void **state)
{
	struct rlimit most, few;
	nfs_fh3 m, f;
	nfsstat3 s = NFS3ERR_JUKEBOX;
	char name[32];
	unsigned n = 0;
	fattr3 a;

	(void)state;
	cover("m");
	start();
	m = find(x, "m");
	assert_int_equal(nfsd_create(&r, m, "f", &f), NFS3_OK);
	restart();
	assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, NULL, &most), 0);
	do { /* the lowest that is free */
		snprintf(name, sizeof(name), "/proc/%d/fd/%u", (int)r.pid, n);
	} while (!faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) && ++n);
	for (few = most, few.rlim_cur = n; s != NFS3_OK; few.rlim_cur++) {
		assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, &few, NULL), 0);
		s = nfsd_getattr(&r, f, &a);
		assert_true(s == NFS3ERR_JUKEBOX || (s == NFS3_OK && few.rlim_cur > n));
	}
	assert_int_equal(prlimit(r.pid, RLIMIT_NOFILE, &most, NULL), 0);
}

/* ---- Subvolumes ---------------------------------------------------------- */

static bool mount_btrfs(void)
{
	char cmd[600];

	snprintf(cmd, sizeof(cmd),
	         "exec >/dev/null 2>&1; cd %s && truncate -s 256m img && "
	         "mkfs.btrfs -q img && mount -o loop img exp && cd exp && "
	         "btrfs subvolume create sub && mkdir d && echo x >sub/in && "
	         "chown -R %u:%u .",
	         r.dir, (unsigned)r.uid, (unsigned)r.gid);
	return !geteuid() && !system(cmd);
}

static int unmount_btrfs(void **state)
{
	char cmd[200];

	if (r.pid)
		nfsd_stop(&r);
	snprintf(cmd, sizeof(cmd), "umount %s 2>/dev/null; rm -f %s/img", r.exp, r.dir);
	(void)!system(cmd);
	return tear_down(state);
}

static void subvolumes_are_boundaries(void **state)
{
	nfs_fh3 hidden, sub, in, f;
	RENAME3args rn;
	RENAME3res rnres;
	fattr3 a;
	unsigned n;

	(void)state;
	if (!mount_btrfs()) {
		print_message("SKIP: no loop device with Btrfs\n");
		skip();
	}
	start();
	hidden = find(r.root, "sub");
	a = attributes(hidden);
	assert_int_equal(a.mode, 0555);
	assert_true(a.fsid == attributes(r.root).fsid);
	assert_true(listed(r.root, "sub", &n) == a.fileid);
	assert_int_equal(nfsd_lookup(&r, hidden, "in", NULL), NFS3ERR_NOENT);
	assert_int_equal(nfsd_create(&r, hidden, "f", NULL), NFS3ERR_ROFS);
	assert_true(same_fh(find(hidden, ".."), r.root));
	assert_int_equal(nfsd_mount(&r, "/exp/sub", NULL), MNT3ERR_ACCES);
	sub = find(x, "sub");
	assert_true(attributes(sub).fsid != attributes(x).fsid);
	in = find(sub, "in");
	assert_int_equal(nfsd_create(&r, sub, "f", &f), NFS3_OK);
	assert_true(same_fh(find(sub, ".."), x));
	assert_int_equal(nfsd_mount(&r, "/x/sub", &f), MNT3_OK);
	assert_true(same_fh(f, sub));
	rn = (RENAME3args){nfsd_name(sub, "in"), nfsd_name(x, "in")};
	assert_int_equal(NFS(&r, RENAME, &rn, &rnres), NFS3ERR_XDEV);
	restart();
	assert_int_equal(nfsd_getattr(&r, in, &a), NFS3ERR_STALE);
	assert_true(same_fh(find(x, "sub"), sub));
	assert_int_equal(attributes(in).size, 2);
}

/* ---- Handles ------------------------------------------------------------- */

/* Without the seal nothing is believed. */
static void altered_handles_are_refused(void **state)
{
	nfs_fh3 all[3], bad;
	char octets[NFS3_FHSIZE];
	fattr3 a;

	(void)state;
	cover("m");
	nfsd_write_file(&r, "m/f", "data", 4);
	start();
	all[0] = find(r.root, "m");
	all[1] = find(x, "m");
	all[2] = find(all[1], "f");
	for (unsigned i = 0; i < 3; i++) {
		unsigned len = all[i].data.data_len;

		for (unsigned at = 0; at < len * 8; at++) {
			memcpy(octets, all[i].data.data_val, len);
			octets[at / 8] = (char)(octets[at / 8] ^ 1 << at % 8);
			bad = (nfs_fh3){{len, octets}};
			assert_int_equal(nfsd_getattr(&r, bad, &a), NFS3ERR_BADHANDLE);
		}
		for (unsigned n = 0; n < len; n++) {
			bad = (nfs_fh3){{n, all[i].data.data_val}};
			assert_int_equal(nfsd_getattr(&r, bad, &a), NFS3ERR_BADHANDLE);
		}
	}
}

/* ---- One that does not answer -------------------------------------------- */

static void a_stuck_one_stops_itself_only(void **state)
{
	static struct ask ask; /* what fails leaves it behind */
	char flag[128], dir[128];
	LOOKUP3args l;
	int fd;

	(void)state;
	snprintf(flag, sizeof(flag), "%s/flag", r.dir);
	snprintf(dir, sizeof(dir), "%s/m", r.exp);
	setenv("STUCK_DIR", dir, 1);
	setenv("STUCK_WHILE", flag, 1);
	setenv("STUCK_REMOTE", "1", 1);
	r.preload = STUCK_FS;
	r.preload_flag = flag;
	cover("m");
	nfsd_write_file(&r, "m/f", "data", 4);
	start();
	unsetenv("STUCK_DIR");
	unsetenv("STUCK_WHILE");
	unsetenv("STUCK_REMOTE");
	fd = open(flag, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	l = (LOOKUP3args){nfsd_name(x, "m")};
	ASK(&r, r.conn, &ask, LOOKUP, &l);
	assert_false(ask_wait(&r, &ask, A_WHILE_MS));
	/* more than the threads of the file system above */
	for (int i = 0; i < 8; i++)
		(void)find(find(x, "d"), "plain");
	assert_int_equal(attributes(find(r.root, "m")).mode, 0555);
	assert_true(listed(x, "m", &(unsigned){0}) != 0);
	assert_false(ask.done);
	assert_int_equal(unlink(flag), 0);
	assert_true(ask_wait(&r, &ask, WAIT_MS));
	assert_int_equal(ask_stat(&ask), NFS3_OK);
}

#define K(test) cmocka_unit_test_setup_teardown(test, set_up_kernel, tear_down)
#define W(test)                                                                        \
	{                                                                              \
#test " (walk)", test, set_up_walk, tear_down, NULL                    \
	}
#define BOTH(test) K(test), W(test)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        BOTH(a_covered_directory_is_empty),
	        BOTH(a_covered_directory_does_not_change),
	        BOTH(a_covered_directory_comes_and_goes),
	        BOTH(mounted_is_another_file_system),
	        BOTH(mounted_directories_can_be_mounted),
	        BOTH(handles_survive_a_restart),
	        BOTH(handles_end_with_the_mount),
	        K(idle_mounts_can_be_unmounted),
	        K(there_may_be_too_many),
	        BOTH(directories_above_can_be_renamed),
	        BOTH(links_do_not_lead_to_mount_points),
	        BOTH(mounted_files_are_refused),
	        BOTH(handles_of_what_covers_survive),
	        K(autofs_is_not_asked),
	        K(descriptors_may_run_out),
	        cmocka_unit_test_setup_teardown(subvolumes_are_boundaries,
	                                        set_up_kernel, unmount_btrfs),
	        {"subvolumes_are_boundaries (walk)", subvolumes_are_boundaries,
	         set_up_walk, unmount_btrfs, NULL},
	        BOTH(altered_handles_are_refused),
	        K(a_stuck_one_stops_itself_only),
	};
	int e = enter_namespace();

	if (e) {
		printf("SKIP: no mount namespace is allowed here: %s\n", strerror(e));
		return 77;
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
