/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, READDIRPLUS: the attributes and the handle of an entry describe the same
 * object, whatever happens to the entry meanwhile, and which system calls the server
 * makes for an entry (preload/names.c writes them down).  The server's clock is set, so
 * that a directory is young or old.
 */
#define _GNU_SOURCE
#include "test_nfsd.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#define OLD "10"

static struct nfsd r;
static char flags[128]; /* the directory of preload/names.c */
static bool may_mount = true;
static bool renaming; /* while the next list is made */

/* ---- Set-up -------------------------------------------------------------- */

static const char *flag_path(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", flags, name);
	return path;
}

static void tell(const char *flag, const char *text)
{
	FILE *f = fopen(flag_path(flag), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fchmod(fileno(f), 0666), 0);
	assert_int_equal(fclose(f), 0);
}

static void begin(uid_t server_uid)
{
	nfsd_init(&r);
	r.server_uid = server_uid;
	snprintf(flags, sizeof(flags), "%s/flags", r.dir);
	assert_int_equal(mkdir(flags, 0755), 0);
	r.preload = NAMES_SHIM;
	r.preload_flag = flags;
	nfsd_write_file(&r, "victim", "x", 1);
	nfsd_write_file(&r, "other", "yy", 2);
	assert_int_equal(link(nfsd_path(&r, "victim"), nfsd_path(&r, "kept")), 0);
}

static int start(void **state)
{
	(void)state;
	begin(0);
	nfsd_start(&r, NULL);
	return 0;
}

static int start_blind(void **state)
{
	(void)state;
	begin(0);
	tell("no_mounts", "1");
	nfsd_start(&r, NULL);
	return 0;
}

/* In a mount namespace of the test's own, from now on. */
static int start_apart(void **state)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		may_mount = false;
	return start(state);
}

/* Without privilege: the server makes the handles itself. */
static int start_plain(void **state)
{
	(void)state;
	nfsd_init(&r);
	begin(geteuid() ? 0 : r.uid);
	nfsd_start(&r, NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	nfsd_stop(&r);
	while (!umount2(nfsd_path(&r, "m"), MNT_DETACH))
		;
	nfsd_fini(&r);
	return 0;
}

/* Skips the test unless the kernel opens handles and the export is on a file system
 * where ctime and the birth time can be relied on. */
static void need_local_files(void)
{
	struct statfs s;
	struct statx st;

	nfsd_need_root();
	assert_int_equal(statfs(r.exp, &s), 0);
	assert_int_equal(statx(AT_FDCWD, r.exp, 0, STATX_BTIME, &st), 0);
	if ((s.f_type != TMPFS_MAGIC && s.f_type != EXT4_SUPER_MAGIC &&
	     s.f_type != 0x58465342 && (unsigned long)s.f_type != BTRFS_SUPER_MAGIC) ||
	    !(st.stx_mask & STATX_BTIME))
		skip();
}

/* ---- Listing ------------------------------------------------------------- */

static bool same_fattr(const fattr3 *a, const fattr3 *b)
{
	uint8_t x[NFS3_FATTR_BYTES], y[NFS3_FATTR_BYTES];

	assert_int_equal(NFS3_ENCODE(x, sizeof(x), fattr3, a), sizeof(x));
	assert_int_equal(NFS3_ENCODE(y, sizeof(y), fattr3, b), sizeof(y));
	return !memcmp(x, y, sizeof(x));
}

/* Checks an entry: its handle, if there is one, has its attributes. */
static void check_entry(const entryplus3 *e)
{
	const fattr3 *told = &e->name_attributes.post_op_attr_u.attributes;
	fattr3 now;

	assert_int_equal(e->name_attributes.attributes_follow,
	                 e->name_handle.handle_follows);
	if (!e->name_handle.handle_follows)
		return;
	assert_int_equal(nfsd_getattr(&r, e->name_handle.post_op_fh3_u.handle, &now),
	                 NFS3_OK);
	assert_true(renaming ? told->fileid == now.fileid : same_fattr(told, &now));
}

/* Lists the export's root, checks all entries, and stores the handle of @name. */
static void list(const char *name, nfs_fh3 *ret)
{
	READDIRPLUS3args a = {.dir = r.root, .dircount = 8192, .maxcount = 8192};
	static uint8_t results[sizeof(r.results)];
	READDIRPLUS3res res;
	entryplus3 e;
	size_t pos, len;

	*ret = (nfs_fh3){.data = {0, NULL}};
	tell("calls", "");
	r.reply_bytes = 16384;
	assert_int_equal(NFS(&r, READDIRPLUS, &a, &res), NFS3_OK);
	assert_int_equal(rename(flag_path("calls"), nfsd_path(&r, "../calls")), 0);
	pos = r.used;
	len = r.len;
	memcpy(results, r.results, len);
	while (NFS3_LIST_NEXT(results, len, &pos, entryplus3, &e) == 1) {
		nfs_fh3 *fh = &e.name_handle.post_op_fh3_u.handle;

		check_entry(&e);
		if (!strcmp(e.name, name) && e.name_handle.handle_follows)
			*ret = nfsd_fh(&r, fh->data.data_val, fh->data.data_len);
		NFS3_FREE(entryplus3, &e);
	}
	renaming = false;
}

/* Returns whether the server made this call about @name for the last list. */
static bool called(const char *call, const char *name)
{
	char line[300], want[300];
	bool found = false;
	FILE *f = fopen(nfsd_path(&r, "../calls"), "r");

	assert_non_null(f);
	snprintf(want, sizeof(want), "%s %s\n", call, name);
	while (fgets(line, sizeof(line), f))
		found |= !strcmp(line, want);
	fclose(f);
	return found;
}

#define assert_calls(name, opened, looked, handled)                                    \
	do {                                                                           \
		assert_int_equal(called("open", name), opened);                        \
		assert_int_equal(called("statx", name), looked);                       \
		assert_int_equal(called("handle", name), handled);                     \
	} while (0)

static bool same_fh(nfs_fh3 a, nfs_fh3 b)
{
	return a.data.data_len == b.data.data_len && a.data.data_len &&
	       !memcmp(a.data.data_val, b.data.data_val, a.data.data_len);
}

static uint64_t fileid(nfs_fh3 fh)
{
	fattr3 a;

	assert_int_equal(nfsd_getattr(&r, fh, &a), NFS3_OK);
	return a.fileid;
}

static uint64_t inode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(nfsd_path(&r, name), &st), 0);
	return st.st_ino;
}

/* While the next list is made, "other" is renamed to "victim". */
static void swap_names(void)
{
	char text[200];

	snprintf(text, sizeof(text), "%s %s\n", nfsd_path(&r, "other"),
	         nfsd_path(&r, "victim"));
	tell("swap", text);
	renaming = true;
}

/* ---- Which calls --------------------------------------------------------- */

static void young_directories_are_opened_by_name(void **state)
{
	nfs_fh3 fh;

	(void)state;
	need_local_files();
	for (int i = 0; i < 2; i++) { /* young files are not remembered */
		list("victim", &fh);
		assert_calls("victim", true, false, false);
		assert_true(same_fh(fh, nfsd_walk(&r, "victim")));
	}
	tell("clock", "-" OLD); /* times in the future */
	list("victim", &fh);
	assert_calls("victim", true, false, false);
}

static void old_directories_are_not_opened(void **state)
{
	nfs_fh3 first, fh;

	(void)state;
	need_local_files();
	tell("clock", OLD);
	list("victim", &first);
	assert_calls("victim", false, true, true);
	assert_true(same_fh(first, nfsd_walk(&r, "victim")));
	list("victim", &fh); /* now the handle is known */
	assert_calls("victim", false, true, false);
	assert_true(same_fh(first, fh));
	assert_int_equal(rename(nfsd_path(&r, "other"), nfsd_path(&r, "victim")), 0);
	list("victim", &fh);
	assert_calls("victim", false, true, false);
	assert_true(fileid(fh) == inode_of("victim"));
	assert_false(same_fh(first, fh));
}

/* Files that are old enough are remembered even if their directory is young. */
static void old_files_in_a_young_directory(void **state)
{
	nfs_fh3 fh;

	(void)state;
	need_local_files();
	tell("clock", OLD);
	list("victim", &fh);
	assert_int_equal(unlink(nfsd_path(&r, "other")), 0);
	assert_int_equal(unlink(flag_path("clock")), 0);
	nfsd_write_file(&r, "new", "z", 1);
	list("victim", &fh);
	assert_calls("victim", false, true, false);
	assert_calls("new", true, false, false);
	assert_true(fileid(fh) == inode_of("victim"));
}

static void another_birth_time_is_another_object(void **state)
{
	nfs_fh3 fh;

	(void)state;
	need_local_files();
	tell("clock", OLD);
	list("victim", &fh);
	list("victim", &fh);
	assert_calls("victim", false, true, false);
	tell("reborn", "1");
	list("victim", &fh);
	assert_calls("victim", false, true, true);
}

static void own_handles_need_no_other_call(void **state)
{
	nfs_fh3 fh;

	(void)state;
	for (int i = 0; i < 2; i++) {
		list("victim", &fh);
		assert_calls("victim", false, true, false);
		assert_true(same_fh(fh, nfsd_walk(&r, "victim")));
	}
}

/* ---- Renames meanwhile --------------------------------------------------- */

static void a_young_directory_changes_meanwhile(void **state)
{
	nfs_fh3 fh;

	(void)state;
	swap_names();
	list("victim", &fh);
}

static void an_old_directory_changes_meanwhile(void **state)
{
	nfs_fh3 fh;

	(void)state;
	need_local_files();
	tell("clock", OLD);
	swap_names();
	list("victim", &fh);
	assert_calls("victim", true, true, true); /* a second time, slowly */
	assert_true(fileid(fh) == inode_of("victim"));
	list("victim", &fh); /* what the first time found is not remembered */
	assert_true(fileid(fh) == inode_of("victim"));
	assert_true(same_fh(fh, nfsd_walk(&r, "victim")));
}

static void a_known_name_changes_meanwhile(void **state)
{
	nfs_fh3 first, fh;

	(void)state;
	need_local_files();
	tell("clock", OLD);
	list("victim", &first);
	swap_names();
	list("victim", &fh);
	assert_calls("victim", false, true, false);
	assert_true(same_fh(first, fh));
	list("victim", &fh);
	assert_true(fileid(fh) == inode_of("victim"));
}

/* ---- Mount points -------------------------------------------------------- */

/* What is mounted is not asked: it may not answer. */
static void mount_points_are_not_touched(void **state)
{
	nfs_fh3 fh;

	(void)state;
	need_local_files();
	if (!may_mount)
		skip();
	assert_int_equal(mkdir(nfsd_path(&r, "m"), 0777), 0);
	tell("clock", OLD);
	list("m", &fh);
	list("m", &fh);
	assert_calls("m", false, true, false);
	assert_true(fh.data.data_len > 0);
	assert_int_equal(mount("none", nfsd_path(&r, "m"), "tmpfs", 0, "size=1M"), 0);
	list("m", &fh);
	assert_calls("m", true, false, false);
	assert_int_equal(fh.data.data_len, 0);
	assert_calls("victim", false, true, false);
	assert_int_equal(umount(nfsd_path(&r, "m")), 0);
	list("m", &fh);
	assert_calls("m", false, true, false);
}

static void any_name_may_be_a_mount_point(void **state)
{
	nfs_fh3 fh;

	(void)state;
	tell("clock", OLD);
	list("victim", &fh);
	assert_calls("victim", true, false, false);
}

static void kernels_without_mount_ids(void **state)
{
	nfs_fh3 fh;

	(void)state;
	tell("clock", OLD);
	tell("no_ids", "1");
	list("victim", &fh);
	assert_calls("victim", true, true, false);
	assert_true(fileid(fh) == inode_of("victim"));
}

#define T(f, how) cmocka_unit_test_setup_teardown(f, how, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(young_directories_are_opened_by_name, start),
	        T(old_directories_are_not_opened, start),
	        T(old_files_in_a_young_directory, start),
	        T(another_birth_time_is_another_object, start),
	        T(own_handles_need_no_other_call, start_plain),
	        T(a_young_directory_changes_meanwhile, start),
	        T(an_old_directory_changes_meanwhile, start),
	        T(a_known_name_changes_meanwhile, start),
	        T(any_name_may_be_a_mount_point, start_blind),
	        T(kernels_without_mount_ids, start),
	        T(mount_points_are_not_touched, start_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
