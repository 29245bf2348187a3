/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, its options and its life: MOUNT, identities, read-only exports,
 * full disks, restarts, servers that are not root, many calls at once.  Tests
 * that need to be root skip otherwise.
 */
#define _GNU_SOURCE
#include "test_nfsd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>

static struct nfsd r;

/* ---- MOUNT --------------------------------------------------------------- */

/* Entries of DUMP. */
static unsigned dump(const char *expect_dir)
{
	size_t pos = 0;
	unsigned n = 0;
	mountbody m;

	nfsd_call_raw(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_DUMP, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_OK);
	while (NFS3_LIST_NEXT(r.results, r.len, &pos, mountbody, &m) == 1) {
		assert_string_equal(m.ml_hostname, "127.0.0.1");
		if (n++ == 0)
			assert_string_equal(m.ml_directory, expect_dir);
		NFS3_FREE(mountbody, &m);
	}
	assert_int_equal(pos, r.len);
	return n;
}

static void mount_procedures(void **state)
{
	char longest[1025];
	dirpath path;
	size_t pos = 0;
	nfs_fh3 fh;
	fattr3 a;

	(void)state;
	assert_int_equal(mkdir(nfsd_path(&r, "sub"), 0755), 0);
	assert_int_equal(mkdir(nfsd_path(&r, "sub/deep"), 0755), 0);
	assert_int_equal(symlink("/etc", nfsd_path(&r, "link")), 0);
	nfsd_write_file(&r, "file", "x", 1);
	nfsd_start(&r, NULL);
	assert_int_equal(dump("/exp"), 1);
	assert_int_equal(nfsd_mount(&r, "/exp/", NULL), MNT3_OK);
	assert_int_equal(nfsd_mount(&r, "/exp//sub/deep", &fh), MNT3_OK);
	assert_int_equal(nfsd_getattr(&r, fh, &a), NFS3_OK);
	assert_int_equal(a.type, NF3DIR);
	assert_int_equal(nfsd_mount(&r, "/exp/none", NULL), MNT3ERR_NOENT);
	assert_int_equal(nfsd_mount(&r, "/expo", NULL), MNT3ERR_NOENT);
	assert_int_equal(nfsd_mount(&r, "/", NULL), MNT3ERR_NOENT);
	assert_int_equal(nfsd_mount(&r, "", NULL), MNT3ERR_NOENT);
	assert_int_equal(nfsd_mount(&r, "/exp/file", NULL), MNT3ERR_NOTDIR);
	assert_int_equal(nfsd_mount(&r, "/exp/link", NULL), MNT3ERR_NOTDIR);
	assert_int_equal(nfsd_mount(&r, "/exp/..", NULL), MNT3ERR_INVAL);
	assert_int_equal(nfsd_mount(&r, "/exp/sub/../..", NULL), MNT3ERR_INVAL);
	memset(longest, '/', 1024);
	memcpy(longest, "/exp", 4);
	longest[1024] = 0;
	assert_int_equal(nfsd_mount(&r, longest, NULL), MNT3_OK);
	path = (char *)(uintptr_t) "/exp";
	nfsd_call(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_UMNT, XDR_OF(dirpath), &path,
	          NULL, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_OK);
	assert_int_equal(dump("/exp/"), 3);
	nfsd_call_raw(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_UMNTALL, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_OK);
	assert_int_equal(dump(""), 0);
	nfsd_call_raw(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_EXPORT, NULL, 0);
	assert_int_equal(NFS3_LIST_NEXT(r.results, r.len, &pos, dirpath, &path), 1);
	assert_string_equal(path, "/exp");
	NFS3_FREE(dirpath, &path);
	assert_int_equal(NFS3_LIST_NEXT(r.results, r.len, &pos, dirpath, &path), 0);
	assert_int_equal(NFS3_LIST_NEXT(r.results, r.len, &pos, dirpath, &path), 0);
	assert_int_equal(pos, r.len);
	nfsd_stop(&r);
}

/* A second export, exported beneath the first: the longer name is found. */
static void several_exports(void **state)
{
	char second[128], third[128];
	nfs_fh3 fh, f1, f2;
	RENAME3args ra;
	RENAME3res res;

	(void)state;
	assert_int_equal(mkdir(nfsd_path(&r, "in"), 0777), 0);
	assert_int_equal(chown(nfsd_path(&r, "in"), r.uid, r.gid), 0);
	snprintf(second, sizeof(second), "%s/in:/exp/other", r.exp);
	snprintf(third, sizeof(third), "%s/in:/", r.exp);
	nfsd_start(&r, "--export", second, "--export", third, NULL);
	nfsd_write_file(&r, "in/f", "x", 1);
	assert_int_equal(nfsd_mount(&r, "/exp/other", &f1), MNT3_OK);
	assert_int_equal(nfsd_mount(&r, "/", &f2), MNT3_OK);
	assert_int_equal(nfsd_lookup(&r, f1, "f", &fh), NFS3_OK);
	assert_int_equal(nfsd_lookup(&r, f2, "f", NULL), NFS3_OK);
	assert_int_equal(nfsd_lookup(&r, f1, "..", &fh), NFS3_OK);
	assert_memory_equal(fh.data.data_val, f1.data.data_val, fh.data.data_len);
	ra.from = nfsd_name(f1, "f");
	ra.to = nfsd_name(r.root, "f");
	assert_int_equal(NFS(&r, RENAME, &ra, &res), NFS3ERR_XDEV);
	nfsd_stop(&r);
}

/* ---- Identities ---------------------------------------------------------- */

static void files_belong_to_their_callers(void **state)
{
	struct stat st;
	nfs_fh3 fh;

	(void)state;
	nfsd_need_root();
	assert_int_equal(chmod(r.exp, 0777), 0);
	nfsd_start(&r, NULL);
	r.uid = 1234;
	r.gid = 4321;
	assert_int_equal(nfsd_create(&r, r.root, "mine", &fh), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "mine"), &st), 0);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(st.st_gid, 4321);
	r.uid = 1235;
	assert_int_equal(nfsd_write(&r, fh, 0, "x", 1, UNSTABLE, NULL), NFS3ERR_ACCES);
	r.uid = 1234;
	assert_int_equal(nfsd_write(&r, fh, 0, "x", 1, UNSTABLE, NULL), NFS3_OK);
	nfsd_stop(&r);
}

static void root_is_squashed_unless_told(void **state)
{
	struct stat st;

	(void)state;
	nfsd_need_root();
	assert_int_equal(chmod(r.exp, 0777), 0);
	nfsd_start(&r, NULL);
	r.uid = r.gid = 0;
	r.gids[0] = 1000;
	r.n_gids = 1;
	assert_int_equal(nfsd_create(&r, r.root, "squashed", NULL), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "squashed"), &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65534);
	nfsd_stop(&r);
	nfsd_start(&r, "--no-root-squash", NULL);
	assert_int_equal(nfsd_create(&r, r.root, "root", NULL), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "root"), &st), 0);
	assert_int_equal(st.st_uid, 0);
	nfsd_stop(&r);
	nfsd_start(&r, "--all-squash", "--anonuid", "77", "--anongid", "78", NULL);
	r.uid = 1000;
	assert_int_equal(nfsd_create(&r, r.root, "all", NULL), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "all"), &st), 0);
	assert_int_equal(st.st_uid, 77);
	assert_int_equal(st.st_gid, 78);
	nfsd_stop(&r);
}

static void permissions_of_others(void **state)
{
	sattr3 give = {.uid = {TRUE, {5}}};
	SETATTR3args sa = {.new_attributes = give};
	SETATTR3res res;
	uint8_t b[4];
	nfs_fh3 fh, dir;

	(void)state;
	nfsd_need_root();
	nfsd_start(&r, NULL);
	nfsd_write_file(&r, "f", "data", 4);
	assert_int_equal(chmod(nfsd_path(&r, "f"), 0040), 0);
	fh = nfsd_walk(&r, "f");
	/* The owner may, whatever the mode says; the group as it says. */
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), 4);
	assert_int_equal(nfsd_write(&r, fh, 0, "DATA", 4, UNSTABLE, NULL), NFS3_OK);
	r.uid = 2000;
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), 4);
	assert_int_equal(nfsd_write(&r, fh, 0, "xxxx", 4, UNSTABLE, NULL),
	                 NFS3ERR_ACCES);
	r.gid = 2000;
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), -NFS3ERR_ACCES);
	r.gids[0] = 1000; /* by a supplementary group */
	r.n_gids = 1;
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), 4);
	assert_int_equal(chmod(nfsd_path(&r, "f"), 0), 0); /* noticed at once */
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), -NFS3ERR_ACCES);
	assert_int_equal(chmod(nfsd_path(&r, "f"), 0010), 0); /* execute implies read */
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), 4);
	sa.object = fh;
	assert_int_equal(NFS(&r, SETATTR, &sa, &res), NFS3ERR_PERM);
	assert_int_equal(mkdir(nfsd_path(&r, "closed"), 0700), 0);
	dir = nfsd_walk(&r, "closed");
	assert_int_equal(nfsd_lookup(&r, dir, "x", NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_lookup(&r, dir, ".", NULL), NFS3ERR_ACCES);
	assert_int_equal(nfsd_create(&r, dir, "x", NULL), NFS3ERR_ACCES);
	READDIR3args la = {.dir = dir, .count = 4096};
	READDIR3res lres;

	assert_int_equal(NFS(&r, READDIR, &la, &lres), NFS3ERR_ACCES);
	nfsd_stop(&r);
}

/* ---- Read-only, full ----------------------------------------------------- */

static void read_only_refuses_changes(void **state)
{
	ACCESS3args aa = {.access = 0x3f};
	ACCESS3res ares;
	SETATTR3args sa = {.new_attributes = {.mode = {TRUE, {0600}}}};
	SETATTR3res sres;
	REMOVE3args ra;
	REMOVE3res rres;
	uint8_t b[4];
	nfs_fh3 fh;

	(void)state;
	nfsd_write_file(&r, "f", "data", 4);
	nfsd_start(&r, "--read-only", NULL);
	fh = nfsd_walk(&r, "f");
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), 4);
	assert_int_equal(nfsd_write(&r, fh, 0, "x", 1, UNSTABLE, NULL), NFS3ERR_ROFS);
	assert_int_equal(nfsd_create(&r, r.root, "new", NULL), NFS3ERR_ROFS);
	sa.object = fh;
	assert_int_equal(NFS(&r, SETATTR, &sa, &sres), NFS3ERR_ROFS);
	ra.object = nfsd_name(r.root, "f");
	assert_int_equal(NFS(&r, REMOVE, &ra, &rres), NFS3ERR_ROFS);
	aa.object = fh;
	assert_int_equal(NFS(&r, ACCESS, &aa, &ares), NFS3_OK);
	assert_int_equal(ares.ACCESS3res_u.resok.access, ACCESS3_READ);
	nfsd_stop(&r);
}

static void file_size_limit_is_reported(void **state)
{
	static uint8_t data[100000];
	WRITE3resok ok;
	nfs_fh3 fh;

	(void)state;
	r.fsize = 50000;
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	/* A short write says how much, the next one why not more. */
	assert_int_equal(nfsd_write(&r, fh, 0, data, sizeof(data), UNSTABLE, &ok),
	                 NFS3_OK);
	assert_int_equal(ok.count, 50000);
	assert_int_equal(nfsd_write(&r, fh, 50000, data, 10, UNSTABLE, NULL),
	                 NFS3ERR_FBIG);
	nfsd_stop(&r);
}

static void full_disk_is_reported(void **state)
{
	static uint8_t data[1 << 20];
	WRITE3resok ok;
	uint64_t at = 0;
	nfsstat3 s;
	nfs_fh3 fh;

	(void)state;
	nfsd_need_root();
	if (mount("none", r.exp, "tmpfs", 0, "size=1M,mode=777"))
		skip();
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	do {
		s = nfsd_write(&r, fh, at, data, 300000, FILE_SYNC, &ok);
		at += s ? 0 : ok.count;
	} while (!s && at < 2 << 20);
	nfsd_stop(&r);
	assert_int_equal(umount(r.exp), 0);
	assert_true(nfsd_printed(&r, "/exp/f: WRITE failed: No space left on device"));
	assert_int_equal(s, NFS3ERR_NOSPC);
	assert_true(at > 0 && at <= 1 << 20);
}

/* ---- Restarts ------------------------------------------------------------ */

static const char *const tree[] = {"a", "a/b", "a/b/c"};

/* Handles that were given out before the server is killed are good after it
 * is started again; what had been written unstably is asked for again. */
static void survive_restart(void)
{
	char deep[512] = "";
	nfs_fh3 fh, deepest, root, gone;
	WRITE3resok w1, w2;
	uint8_t b[8];
	fattr3 a1, a2;

	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++) {
		assert_int_equal(mkdir(nfsd_path(&r, tree[i]), 0755), 0);
		assert_int_equal(chown(nfsd_path(&r, tree[i]), r.uid, r.gid), 0);
	}
	for (int i = 0; i < 40; i++) {
		strcat(deep, i ? "/deep" : "deep");
		assert_int_equal(mkdir(nfsd_path(&r, deep), 0755), 0);
	}
	nfsd_write_file(&r, "a/b/c/file", "content", 7);
	nfsd_write_file(&r, "a/gone", "content", 7);
	nfsd_start(&r, NULL);
	fh = nfsd_walk(&r, "a/b/c/file");
	gone = nfsd_walk(&r, "a/gone");
	deepest = nfsd_walk(&r, deep);
	root = nfsd_fh(&r, r.root.data.data_val, r.root.data.data_len);
	assert_int_equal(nfsd_getattr(&r, fh, &a1), NFS3_OK);
	assert_int_equal(nfsd_write(&r, fh, 0, "C", 1, UNSTABLE, &w1), NFS3_OK);
	nfsd_kill(&r);
	assert_int_equal(unlink(nfsd_path(&r, "a/gone")), 0);
	nfsd_write_file(&r, "a/gone", "another", 7);
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_getattr(&r, fh, &a2), NFS3_OK);
	assert_int_equal(a1.fileid, a2.fileid);
	assert_int_equal(a1.fsid, a2.fsid);
	assert_int_equal(nfsd_read(&r, fh, 0, b, 7, false, NULL), 7);
	assert_memory_equal(b, "Content", 7);
	assert_int_equal(nfsd_getattr(&r, deepest, &a2), NFS3_OK);
	assert_int_equal(a2.type, NF3DIR);
	assert_memory_equal(root.data.data_val, r.root.data.data_val,
	                    root.data.data_len);
	assert_int_equal(nfsd_getattr(&r, gone, NULL), NFS3ERR_STALE);
	assert_int_equal(nfsd_write(&r, fh, 0, "C", 1, UNSTABLE, &w2), NFS3_OK);
	assert_memory_not_equal(w1.verf, w2.verf, NFS3_WRITEVERFSIZE);
	nfsd_stop(&r);
}

static void handles_survive_sigkill(void **state)
{
	(void)state;
	survive_restart();
}

/* The same without the kernel's handles. */
static void handles_survive_sigkill_without_privilege(void **state)
{
	(void)state;
	nfsd_need_root();
	r.server_uid = 1000;
	survive_restart();
}

/* Does the kernel open handles here, for us? */
static bool kernel_opens_handles(void)
{
	union {
		struct file_handle fh;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int dir = open(r.exp, O_RDONLY | O_DIRECTORY), mount_id, fd = -1;

	u.fh.handle_bytes = 48; /* what a file handle has room for */
	if (dir >= 0 && !name_to_handle_at(dir, "", &u.fh, &mount_id, AT_EMPTY_PATH))
		fd = open_by_handle_at(dir, &u.fh, O_PATH);
	if (dir >= 0)
		close(dir);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* With the kernel's handles neither a move while the server is down nor the
 * depth of a path matters. */
static void kernel_handles_follow_moves(void **state)
{
	char deep[600] = "d";
	uint8_t b[8];
	nfs_fh3 fh, dir;

	(void)state;
	nfsd_need_root();
	if (!kernel_opens_handles())
		skip();
	assert_int_equal(mkdir(nfsd_path(&r, "from"), 0755), 0);
	assert_int_equal(mkdir(nfsd_path(&r, "to"), 0755), 0);
	nfsd_write_file(&r, "from/f", "content", 7);
	assert_int_equal(mkdir(nfsd_path(&r, deep), 0755), 0);
	for (int i = 0; i < 200; i++) {
		strcat(deep, "/d");
		assert_int_equal(mkdir(nfsd_path(&r, deep), 0755), 0);
	}
	nfsd_start(&r, NULL);
	fh = nfsd_walk(&r, "from/f");
	dir = nfsd_walk(&r, deep);
	nfsd_kill(&r);
	assert_int_equal(rename(nfsd_path(&r, "from/f"), nfsd_path(&r, "to/g")), 0);
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_read(&r, fh, 0, b, 7, false, NULL), 7);
	assert_memory_equal(b, "content", 7);
	assert_int_equal(nfsd_getattr(&r, dir, NULL), NFS3_OK);
	assert_int_equal(nfsd_lookup(&r, dir, "..", NULL), NFS3_OK);
	nfsd_stop(&r);
}

static void other_secret_other_handles(void **state)
{
	char key[128];
	nfs_fh3 fh;

	(void)state;
	nfsd_start(&r, NULL);
	fh = nfsd_fh(&r, r.root.data.data_val, r.root.data.data_len);
	nfsd_stop(&r);
	snprintf(key, sizeof(key), "%s/handle.key", r.state);
	assert_int_equal(unlink(key), 0);
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3ERR_BADHANDLE);
	nfsd_stop(&r);
}

/* A server without privilege serves all as itself, moves included. */
static void server_that_is_not_root(void **state)
{
	RENAME3args ra;
	RENAME3res res;
	struct stat st;
	nfs_fh3 fh, d1, d2;
	uint8_t b[4];

	(void)state;
	nfsd_need_root();
	r.server_uid = 1000;
	nfsd_start(&r, NULL);
	assert_int_equal(mkdir(nfsd_path(&r, "d1"), 0777), 0);
	assert_int_equal(mkdir(nfsd_path(&r, "d2"), 0777), 0);
	assert_int_equal(chmod(nfsd_path(&r, "d1"), 0777), 0);
	assert_int_equal(chmod(nfsd_path(&r, "d2"), 0777), 0);
	d1 = nfsd_walk(&r, "d1");
	d2 = nfsd_walk(&r, "d2");
	r.uid = r.gid = 4711;
	assert_int_equal(nfsd_create(&r, d1, "f", &fh), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "d1/f"), &st), 0);
	assert_int_equal(st.st_uid, 1000);
	assert_int_equal(nfsd_write(&r, fh, 0, "data", 4, FILE_SYNC, NULL), NFS3_OK);
	ra.from = nfsd_name(d1, "f");
	ra.to = nfsd_name(d2, "g");
	assert_int_equal(NFS(&r, RENAME, &ra, &res), NFS3_OK);
	assert_int_equal(nfsd_read(&r, fh, 0, b, 4, false, NULL), 4);
	assert_int_equal(nfsd_lookup(&r, d2, "..", NULL), NFS3_OK);
	assert_int_equal(chmod(nfsd_path(&r, "d1"), 0700), 0); /* root's */
	assert_int_equal(nfsd_create(&r, d1, "x", NULL), NFS3ERR_ACCES);
	nfsd_stop(&r);
}

/* Root that may not switch would serve everyone as root: it does not start. */
static void root_without_setuid_is_refused(void **state)
{
	char export[128];
	int status = 0;
	pid_t pid;

	(void)state;
	nfsd_need_root();
	snprintf(export, sizeof(export), "%s:/exp", r.exp);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(20); /* a server that starts ends by it */
		if (prctl(PR_CAPBSET_DROP, CAP_SETUID))
			_exit(99);
		execl(RPCRDMA_TOOL, "rpcrdma", "nfsd", "--export", export, "--listen",
		      "127.0.0.1:0", "--state-dir", r.state, (char *)NULL);
		_exit(98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

/* ---- Options ------------------------------------------------------------- */

static void usage_errors(void **state)
{
	char missing[128], file[128], port[64];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/none", r.dir);
	nfsd_write_file(&r, "file", "x", 1);
	snprintf(file, sizeof(file), "%s/file", r.exp);
	assert_int_equal(nfsd_tool("nfsd", "--help", NULL), 0);
	assert_int_equal(nfsd_tool("nfsd", NULL), 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", missing, NULL), 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--no-such-option", NULL),
	                 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--anonuid", "x", NULL),
	                 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--threads", "0", NULL),
	                 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--export", r.exp, NULL),
	                 2);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "argument", NULL), 2);
	assert_int_equal(
	        nfsd_tool("nfsd", "--export", file, "--state-dir", r.state, NULL), 1);
	nfsd_start(&r, NULL);
	snprintf(port, sizeof(port), "127.0.0.1:%s", r.port);
	assert_int_equal(nfsd_tool("nfsd", "--export", r.exp, "--state-dir", r.state,
	                           "--listen", port, NULL),
	                 1);
	nfsd_stop(&r);
}

static void stats_on_exit(void **state)
{
	char path[128], text[8192];
	ssize_t n;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/stats", r.dir);
	nfsd_start(&r, "--stats-on-exit", path, NULL);
	assert_int_equal(nfsd_getattr(&r, r.root, NULL), NFS3_OK);
	assert_int_equal(nfsd_getattr(&r, r.root, NULL), NFS3_OK);
	nfsd_stop(&r);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	text[n] = 0;
	assert_non_null(strstr(text, "\"GETATTR\":{\"calls\":2,"));
	assert_non_null(strstr(text, "\"MNT\":{\"calls\":1,"));
	assert_non_null(strstr(text, "\"bytes_write_chunk\":"));
	assert_null(strstr(text, "\"RENAME\""));
}

/* ---- Many calls at once -------------------------------------------------- */

enum { AT_ONCE = 24, PART = 65536 };

struct part {
	uint8_t head[256], data[PART];
	struct rpcrdma_piece pieces[2];
	unsigned *left;
};

static void part_done(struct rpcrdma_call *call, const struct rpcrdma_reply *reply,
                      void *arg)
{
	struct part *p = arg;
	WRITE3res res;

	(void)call;
	assert_int_equal(reply->status, RPCRDMA_OK);
	assert_true(NFS3_DECODE(reply->results, reply->len, WRITE3res, &res) > 0);
	assert_int_equal(res.status, NFS3_OK);
	assert_int_equal(res.WRITE3res_u.resok.count, PART);
	--*p->left;
}

/* ---- An error that storage reports once ---------------------------------- */

struct commit {
	uint8_t head[256];
	struct rpcrdma_piece piece;
	nfsstat3 status;
	unsigned *left;
};

static void commit_done(struct rpcrdma_call *call, const struct rpcrdma_reply *reply,
                        void *arg)
{
	struct commit *c = arg;
	COMMIT3res res;

	(void)call;
	assert_int_equal(reply->status, RPCRDMA_OK);
	assert_true(NFS3_DECODE(reply->results, reply->len, COMMIT3res, &res) > 0);
	c->status = res.status;
	--*c->left;
}

/* The kernel tells only one of two fsyncs of a descriptor that data were lost;
 * here the other one returns first.  Neither COMMIT may succeed. */
static void lost_data_fail_every_commit(void **state)
{
	struct commit commits[2] = {{.left = NULL}};
	uint8_t body[400];
	struct rpcrdma_auth cred = {RPCRDMA_AUTH_SYS, body, 0};
	unsigned left = 2;
	WRITE3resok before, after;
	char flag[128];
	nfs_fh3 fh;

	(void)state;
	snprintf(flag, sizeof(flag), "%s/fail-fsync", r.dir);
	r.preload = FSYNC_FAILS;
	r.preload_flag = flag;
	nfsd_start(&r, "--threads", "4", NULL);
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	assert_int_equal(nfsd_write(&r, fh, 0, "data", 4, UNSTABLE, &before), NFS3_OK);
	assert_int_equal(mkdir(flag, 0755), 0);
	cred.len = (uint32_t)rpcrdma_auth_sys_encode(body, sizeof(body), 1, "test",
	                                             r.uid, r.gid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		struct rpcrdma_call_options o =
		        RPCRDMA_OPTIONS(struct rpcrdma_call_options);
		struct commit *c = &commits[i];
		COMMIT3args a = {.file = fh};
		int n = NFS3_ENCODE(c->head, sizeof(c->head), COMMIT3args, &a);

		c->left = &left;
		c->piece = (struct rpcrdma_piece){c->head, (size_t)n, false};
		o.program = RPCRDMA_NFS_PROGRAM;
		o.version = 3;
		o.procedure = NFSPROC3_COMMIT;
		o.cred = &cred;
		o.args = &c->piece;
		o.n_args = 1;
		o.reply_bytes = NFS3_RESULT_BYTES;
		o.done = commit_done;
		o.arg = c;
		assert_int_equal(rpcrdma_call(r.conn, &o, NULL), 0);
	}
	while (left)
		assert_int_equal(rpcrdma_engine_process(r.engine, 10000), 0);
	assert_int_equal(rmdir(flag), 0);
	assert_int_equal(commits[0].status, NFS3ERR_IO);
	assert_int_equal(commits[1].status, NFS3ERR_IO);
	assert_int_equal(nfsd_write(&r, fh, 0, "data", 4, FILE_SYNC, &after), NFS3_OK);
	assert_memory_not_equal(before.verf, after.verf, NFS3_WRITEVERFSIZE);
	nfsd_stop(&r);
}

static void writes_in_parallel(void **state)
{
	struct part *parts = calloc(AT_ONCE, sizeof(*parts));
	unsigned left = AT_ONCE;
	uint8_t body[400], *got = malloc(PART);
	struct rpcrdma_auth cred = {RPCRDMA_AUTH_SYS, body, 0};
	nfs_fh3 fh;
	int fd;

	(void)state;
	assert_true(parts && got);
	nfsd_start(&r, NULL);
	assert_int_equal(nfsd_create(&r, r.root, "f", &fh), NFS3_OK);
	cred.len = (uint32_t)rpcrdma_auth_sys_encode(body, sizeof(body), 1, "test",
	                                             r.uid, r.gid, NULL, 0);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		struct rpcrdma_call_options o =
		        RPCRDMA_OPTIONS(struct rpcrdma_call_options);
		struct part *p = &parts[i];
		WRITE3args a = {fh, (uint64_t)i * PART, PART,
		                i % 2 ? FILE_SYNC : UNSTABLE, PART};
		int n = NFS3_ENCODE(p->head, sizeof(p->head), WRITE3args, &a);

		memset(p->data, (int)i + 1, PART);
		p->left = &left;
		p->pieces[0] = (struct rpcrdma_piece){p->head, (size_t)n, false};
		p->pieces[1] = (struct rpcrdma_piece){p->data, PART, true};
		o.program = RPCRDMA_NFS_PROGRAM;
		o.version = 3;
		o.procedure = NFSPROC3_WRITE;
		o.cred = &cred;
		o.args = p->pieces;
		o.n_args = 2;
		o.reply_bytes = NFS3_RESULT_BYTES;
		o.done = part_done;
		o.arg = p;
		assert_int_equal(rpcrdma_call(r.conn, &o, NULL), 0);
	}
	while (left)
		assert_int_equal(rpcrdma_engine_process(r.engine, 10000), 0);
	fd = open(nfsd_path(&r, "f"), O_RDONLY);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		assert_int_equal(read(fd, got, PART), PART);
		assert_memory_equal(got, parts[i].data, PART);
	}
	assert_int_equal(read(fd, got, 1), 0);
	close(fd);
	nfsd_stop(&r);
	free(parts);
	free(got);
}

#define T(f)                                                                           \
	cmocka_unit_test_prestate_setup_teardown(f, nfsd_set_up, nfsd_tear_down, &r)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(mount_procedures),
	        T(several_exports),
	        T(files_belong_to_their_callers),
	        T(root_is_squashed_unless_told),
	        T(permissions_of_others),
	        T(read_only_refuses_changes),
	        T(file_size_limit_is_reported),
	        T(full_disk_is_reported),
	        T(handles_survive_sigkill),
	        T(handles_survive_sigkill_without_privilege),
	        T(kernel_handles_follow_moves),
	        T(other_secret_other_handles),
	        T(server_that_is_not_root),
	        T(root_without_setuid_is_refused),
	        T(usage_errors),
	        T(stats_on_exit),
	        T(writes_in_parallel),
	        T(lost_data_fail_every_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
