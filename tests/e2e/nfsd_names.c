/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, names: LOOKUP, creating, removing, renaming, linking, listing.
 * The exported directory itself is the oracle.
 */
#define _GNU_SOURCE
#include "test_nfsd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

NFSD_FOR_ALL(r, NULL)

static bool same_fh(nfs_fh3 a, nfs_fh3 b)
{
	return a.data.data_len == b.data.data_len &&
	       !memcmp(a.data.data_val, b.data.data_val, a.data.data_len);
}

static nfs_fh3 new_dir(const char *name)
{
	assert_int_equal(mkdir(nfsd_path(&r, name), 0755), 0);
	assert_int_equal(chown(nfsd_path(&r, name), r.uid, r.gid), 0);
	return nfsd_walk(&r, name);
}

/* ---- LOOKUP -------------------------------------------------------------- */

static void lookup_finds_and_refuses(void **state)
{
	char name[300];
	nfs_fh3 dir, fh, again;

	(void)state;
	dir = new_dir("lu");
	nfsd_write_file(&r, "lu/f", "x", 1);
	assert_int_equal(nfsd_lookup(&r, dir, "f", &fh), NFS3_OK);
	assert_int_equal(nfsd_lookup(&r, dir, "f", &again), NFS3_OK);
	assert_true(same_fh(fh, again));
	assert_int_equal(nfsd_lookup(&r, dir, "g", NULL), NFS3ERR_NOENT);
	assert_int_equal(nfsd_lookup(&r, dir, "", NULL), NFS3ERR_INVAL);
	assert_int_equal(nfsd_lookup(&r, r.root, "lu/f", NULL), NFS3ERR_INVAL);
	assert_int_equal(nfsd_lookup(&r, r.root, "/", NULL), NFS3ERR_INVAL);
	assert_int_equal(nfsd_lookup(&r, fh, "f", NULL), NFS3ERR_NOTDIR);
	memset(name, 'n', sizeof(name));
	name[256] = 0;
	assert_int_equal(nfsd_lookup(&r, dir, name, NULL), NFS3ERR_NAMETOOLONG);
	name[255] = 0;
	assert_int_equal(nfsd_lookup(&r, dir, name, NULL), NFS3ERR_NOENT);
}

static void lookup_dots(void **state)
{
	nfs_fh3 dir, sub, up;

	(void)state;
	dir = new_dir("dots");
	sub = new_dir("dots/sub");
	assert_int_equal(nfsd_lookup(&r, sub, "..", &up), NFS3_OK);
	assert_true(same_fh(up, dir));
	assert_int_equal(nfsd_lookup(&r, dir, "..", &up), NFS3_OK);
	assert_true(same_fh(up, r.root));
	assert_int_equal(nfsd_lookup(&r, r.root, "..", &up), NFS3_OK);
	assert_true(same_fh(up, r.root));
	assert_int_equal(nfsd_lookup(&r, sub, ".", &up), NFS3_OK);
	assert_true(same_fh(up, sub));
}

static void no_escape_through_links(void **state)
{
	static const char *const targets[] = {"/", "..", "../..", "/etc",
	                                      "/etc/passwd"};
	char name[16];
	fattr3 a;
	nfs_fh3 fh;

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		uint8_t buf[8];
		CREATE3args ca = {.how = {.mode = UNCHECKED}};
		CREATE3res res;

		snprintf(name, sizeof(name), "esc%zu", i);
		assert_int_equal(symlink(targets[i], nfsd_path(&r, name)), 0);
		assert_int_equal(nfsd_lookup(&r, r.root, name, &fh), NFS3_OK);
		assert_int_equal(nfsd_getattr(&r, fh, &a), NFS3_OK);
		assert_int_equal(a.type, NF3LNK);
		assert_int_equal(nfsd_lookup(&r, fh, "passwd", NULL), NFS3ERR_NOTDIR);
		assert_int_equal(nfsd_lookup(&r, fh, "..", NULL), NFS3ERR_NOTDIR);
		assert_int_equal(nfsd_read(&r, fh, 0, buf, 8, false, NULL),
		                 -NFS3ERR_INVAL);
		assert_int_equal(nfsd_create(&r, fh, "x", NULL), NFS3ERR_NOTDIR);
		ca.where = nfsd_name(r.root, name);
		assert_int_equal(NFS(&r, CREATE, &ca, &res), NFS3ERR_EXIST);
	}
}

/* A directory that is moved out of the export does not open the way up. */
static void no_escape_through_moved_directories(void **state)
{
	char away[128];
	nfs_fh3 sub;

	(void)state;
	new_dir("mv");
	sub = new_dir("mv/sub");
	snprintf(away, sizeof(away), "%s/away", r.dir);
	assert_int_equal(rename(nfsd_path(&r, "mv/sub"), away), 0);
	assert_int_equal(nfsd_lookup(&r, sub, "..", NULL), NFS3ERR_STALE);
}

/* ---- CREATE, MKDIR, MKNOD ------------------------------------------------ */

static nfsstat3 create(const char *name, createmode3 mode, const char *verf,
                       uint64_t *size, uint64_t *ret_ino)
{
	CREATE3args a = {nfsd_name(r.root, name), {.mode = mode}};
	CREATE3res res;
	nfsstat3 s;

	if (mode == EXCLUSIVE)
		memcpy(a.how.createhow3_u.verf, verf, NFS3_CREATEVERFSIZE);
	else if (size) {
		a.how.createhow3_u.obj_attributes.size.set_it = TRUE;
		a.how.createhow3_u.obj_attributes.size.set_size3_u.size = *size;
	}
	s = NFS(&r, CREATE, &a, &res);
	if (!s && ret_ino)
		*ret_ino = res.CREATE3res_u.resok.obj_attributes.post_op_attr_u
		                   .attributes.fileid;
	NFS3_FREE(CREATE3res, &res);
	return s;
}

static void create_three_ways(void **state)
{
	uint64_t zero = 0, ino = 0, ino2 = 0;
	struct stat st;

	(void)state;
	assert_int_equal(create("cr", GUARDED, NULL, NULL, &ino), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "cr"), &st), 0);
	assert_int_equal(st.st_ino, ino);
	assert_int_equal(st.st_uid, r.uid);
	assert_int_equal(create("cr", GUARDED, NULL, NULL, NULL), NFS3ERR_EXIST);
	nfsd_write_file(&r, "cr", "hello", 5);
	assert_int_equal(create("cr", UNCHECKED, NULL, NULL, &ino2), NFS3_OK);
	assert_int_equal(ino, ino2);
	assert_int_equal(stat(nfsd_path(&r, "cr"), &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(create("cr", UNCHECKED, NULL, &zero, &ino2), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "cr"), &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(create("..", UNCHECKED, NULL, NULL, NULL), NFS3ERR_EXIST);
	assert_int_equal(create("a/b", UNCHECKED, NULL, NULL, NULL), NFS3ERR_INVAL);
}

static void exclusive_create_repeats(void **state)
{
	uint64_t ino = 0, ino2 = 0;

	(void)state;
	assert_int_equal(create("ex", EXCLUSIVE, "\377\0\1\2abcd", NULL, &ino),
	                 NFS3_OK);
	assert_int_equal(create("ex", EXCLUSIVE, "\377\0\1\2abcd", NULL, &ino2),
	                 NFS3_OK);
	assert_int_equal(ino, ino2);
	assert_int_equal(create("ex", EXCLUSIVE, "\377\0\1\2abcx", NULL, NULL),
	                 NFS3ERR_EXIST);
	nfsd_write_file(&r, "ex", "data", 4);
	assert_int_equal(create("ex", EXCLUSIVE, "\377\0\1\2abcd", NULL, NULL),
	                 NFS3ERR_EXIST);
}

static nfsstat3 make_dir(nfs_fh3 dir, const char *name, uint32_t mode)
{
	MKDIR3args a = {.where = nfsd_name(dir, name)};
	MKDIR3res res;
	nfsstat3 s;

	a.attributes.mode.set_it = TRUE;
	a.attributes.mode.set_mode3_u.mode = mode;
	s = NFS(&r, MKDIR, &a, &res);
	NFS3_FREE(MKDIR3res, &res);
	return s;
}

static void mkdir_and_rmdir(void **state)
{
	REMOVE3args ra;
	RMDIR3args a;
	REMOVE3res rres;
	RMDIR3res res;
	struct stat st;

	(void)state;
	assert_int_equal(make_dir(r.root, "md", 0710), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "md"), &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0710);
	assert_int_equal(make_dir(r.root, "md", 0710), NFS3ERR_EXIST);
	assert_int_equal(make_dir(nfsd_walk(&r, "md"), "sub", 02755), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "md/sub"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 02755);
	a.object = nfsd_name(r.root, "md");
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3ERR_NOTEMPTY);
	ra.object = a.object;
	assert_int_equal(NFS(&r, REMOVE, &ra, &rres), NFS3ERR_ISDIR);
	a.object = nfsd_name(nfsd_walk(&r, "md"), "sub");
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3_OK);
	assert_false(res.RMDIR3res_u.resok.dir_wcc.before.attributes_follow);
	assert_true(res.RMDIR3res_u.resok.dir_wcc.after.attributes_follow);
	a.object = nfsd_name(r.root, "md");
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "md"), &st), -1);
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3ERR_NOENT);
	a.object = nfsd_name(r.root, ".");
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3ERR_INVAL);
	a.object = nfsd_name(r.root, "..");
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3ERR_EXIST);
	nfsd_write_file(&r, "rmd", "x", 1);
	a.object = nfsd_name(r.root, "rmd");
	assert_int_equal(NFS(&r, RMDIR, &a, &res), NFS3ERR_NOTDIR);
	ra.object = a.object;
	assert_int_equal(NFS(&r, REMOVE, &ra, &rres), NFS3_OK);
	assert_int_equal(NFS(&r, REMOVE, &ra, &rres), NFS3ERR_NOENT);
}

static nfsstat3 make_node(const char *name, ftype3 type)
{
	MKNOD3args a = {.where = nfsd_name(r.root, name), .what = {.type = type}};
	MKNOD3res res;
	nfsstat3 s;

	if (type == NF3CHR || type == NF3BLK)
		a.what.mknoddata3_u.device.spec = (specdata3){1, 3};
	s = NFS(&r, MKNOD, &a, &res);
	NFS3_FREE(MKNOD3res, &res);
	return s;
}

static void mknod_of_all_types(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(make_node("mkf", NF3FIFO), NFS3_OK);
	assert_int_equal(lstat(nfsd_path(&r, "mkf"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(make_node("mks", NF3SOCK), NFS3_OK);
	assert_int_equal(lstat(nfsd_path(&r, "mks"), &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(make_node("mkf", NF3FIFO), NFS3ERR_EXIST);
	assert_int_equal(make_node("mkc", NF3CHR), NFS3ERR_PERM);
	assert_int_equal(make_node("mkb", NF3BLK), NFS3ERR_PERM);
	assert_int_equal(make_node("mkr", NF3REG), NFS3ERR_BADTYPE);
	assert_int_equal(make_node("mkd", NF3DIR), NFS3ERR_BADTYPE);
	assert_int_equal(make_node("mkx", (ftype3)99), NFS3ERR_BADTYPE);
}

/* ---- RENAME, LINK -------------------------------------------------------- */

static nfsstat3 move(nfs_fh3 d1, const char *n1, nfs_fh3 d2, const char *n2)
{
	RENAME3args a = {nfsd_name(d1, n1), nfsd_name(d2, n2)};
	RENAME3res res;

	return NFS(&r, RENAME, &a, &res);
}

static void rename_moves(void **state)
{
	nfs_fh3 a, b, fh;
	fattr3 at;

	(void)state;
	a = new_dir("ra");
	b = new_dir("rb");
	nfsd_write_file(&r, "ra/f", "one", 3);
	nfsd_write_file(&r, "rb/g", "two!", 4);
	fh = nfsd_walk(&r, "ra/f");
	assert_int_equal(move(a, "f", a, "f2"), NFS3_OK);
	assert_int_equal(move(a, "f2", b, "g"), NFS3_OK); /* over another */
	assert_int_equal(nfsd_getattr(&r, fh, &at),
	                 NFS3_OK); /* the handle goes along */
	assert_int_equal(at.size, 3);
	assert_int_equal(access(nfsd_path(&r, "ra/f2"), F_OK), -1);
	assert_int_equal(move(a, "none", b, "x"), NFS3ERR_NOENT);
	assert_int_equal(move(r.root, "ra", a, "x"), NFS3ERR_INVAL);
	assert_int_equal(move(r.root, "ra", b, "g"), NFS3ERR_NOTDIR);
	assert_int_equal(move(b, "g", r.root, "ra"), NFS3ERR_ISDIR);
	assert_int_equal(move(r.root, "ra", r.root, "rb"), NFS3ERR_NOTEMPTY);
	assert_int_equal(move(r.root, "ra", r.root, ".."), NFS3ERR_INVAL);
	assert_int_equal(move(b, "g", r.root, "../g"), NFS3ERR_INVAL);
}

static void link_adds_a_name(void **state)
{
	LINK3args a;
	LINK3res res;
	struct stat st;

	(void)state;
	nfsd_write_file(&r, "li", "x", 1);
	a.file = nfsd_walk(&r, "li");
	a.link = nfsd_name(r.root, "li2");
	assert_int_equal(NFS(&r, LINK, &a, &res), NFS3_OK);
	assert_int_equal(
	        res.LINK3res_u.resok.file_attributes.post_op_attr_u.attributes.nlink,
	        2);
	assert_int_equal(stat(nfsd_path(&r, "li2"), &st), 0);
	assert_int_equal(st.st_nlink, 2);
	assert_int_equal(NFS(&r, LINK, &a, &res), NFS3ERR_EXIST);
	new_dir("lid");
	a.file = nfsd_walk(&r, "lid");
	a.link = nfsd_name(r.root, "lid2");
	assert_int_equal(NFS(&r, LINK, &a, &res), NFS3ERR_ISDIR);
	/* One name goes, the other keeps the file. */
	REMOVE3args ra = {nfsd_name(r.root, "li")};
	REMOVE3res rres;

	a.file = nfsd_walk(&r, "li");
	assert_int_equal(NFS(&r, REMOVE, &ra, &rres), NFS3_OK);
	assert_int_equal(nfsd_getattr(&r, nfsd_walk(&r, "li2"), NULL), NFS3_OK);
}

/* ---- READDIR, READDIRPLUS ------------------------------------------------ */

struct seen {
	unsigned n, max_reply; /* entries; octets of the largest resok */
	unsigned calls, handles;
	uint8_t *flags; /* of files "fNNNNN" */
	unsigned n_flags;
};

static void see(struct seen *s, const char *name)
{
	unsigned i;

	s->n++;
	if (sscanf(name, "f%u", &i) == 1) {
		assert_true(i < s->n_flags);
		assert_int_equal(s->flags[i], 0);
		s->flags[i] = 1;
	}
}

/* The list of the last reply; true at the end of the directory. */
static bool take_list(struct seen *s, bool plus, uint64_t *cookie)
{
	size_t pos = r.used;
	uint32_t eof;
	int more;

	if (r.len - 4 > s->max_reply)
		s->max_reply = (unsigned)(r.len - 4); /* without the status */
	do {
		entryplus3 ep = {.fileid = 0};
		entry3 e = {.fileid = 0};

		more = plus ? NFS3_LIST_NEXT(r.results, r.len, &pos, entryplus3, &ep)
		            : NFS3_LIST_NEXT(r.results, r.len, &pos, entry3, &e);
		assert_true(more >= 0);
		if (!more)
			break;
		see(s, plus ? ep.name : e.name);
		*cookie = plus ? ep.cookie : e.cookie;
		if (plus) {
			s->handles += ep.name_handle.handle_follows;
			NFS3_FREE(entryplus3, &ep);
		} else {
			NFS3_FREE(entry3, &e);
		}
	} while (more);
	assert_int_equal(nfs3_get_u32(r.results, r.len, &pos, &eof), 0);
	assert_int_equal(pos, r.len);
	return eof;
}

static nfsstat3 list(nfs_fh3 dir, uint32_t count, struct seen *s)
{
	READDIR3args a = {.dir = dir, .count = count};
	READDIR3res res;
	nfsstat3 st;
	bool eof = false;

	while (!eof) {
		r.reply_bytes = count + 4;
		st = NFS(&r, READDIR, &a, &res);
		if (st)
			return st;
		s->calls++;
		eof = take_list(s, false, &a.cookie);
		memcpy(a.cookieverf, res.READDIR3res_u.resok.cookieverf, 8);
	}
	return NFS3_OK;
}

static nfsstat3 list_plus(nfs_fh3 dir, uint32_t dircount, uint32_t maxcount,
                          struct seen *s)
{
	READDIRPLUS3args a = {.dir = dir, .dircount = dircount, .maxcount = maxcount};
	READDIRPLUS3res res;
	nfsstat3 st;
	bool eof = false;

	while (!eof) {
		r.reply_bytes = maxcount + 4;
		st = NFS(&r, READDIRPLUS, &a, &res);
		if (st)
			return st;
		s->calls++;
		eof = take_list(s, true, &a.cookie);
		memcpy(a.cookieverf, res.READDIRPLUS3res_u.resok.cookieverf, 8);
	}
	return NFS3_OK;
}

static void lists_honour_counts(void **state)
{
	uint8_t flags[32];
	nfs_fh3 dir;
	char name[32];

	(void)state;
	dir = new_dir("lc");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "lc/f%d", i);
		nfsd_write_file(&r, name, "x", 1);
	}
	for (uint32_t count = 0; count < 2000; count += 4) {
		struct seen s = {.flags = flags, .n_flags = 30};
		nfsstat3 st;

		memset(flags, 0, sizeof(flags));
		st = list(dir, count, &s);
		assert_true(s.max_reply <= count);
		/* The smallest reply with an entry ("..", 28 octets). */
		assert_int_equal(st,
		                 count < 88 + 8 + 8 + 28 ? NFS3ERR_TOOSMALL : NFS3_OK);
		if (!st)
			assert_int_equal(s.n, 32);
		memset(flags, 0, sizeof(flags));
		s = (struct seen){.flags = flags, .n_flags = 30};
		st = list_plus(dir, 8192, count, &s);
		assert_true(s.max_reply <= count);
		if (!st)
			assert_int_equal(s.n, 32);
		else
			assert_int_equal(st, NFS3ERR_TOOSMALL);
	}
	struct seen s = {.flags = flags, .n_flags = 30};

	memset(flags, 0, sizeof(flags));
	assert_int_equal(list_plus(dir, 24, 65536, &s), NFS3_OK); /* one name a reply */
	assert_true(s.calls >= 32);
	assert_int_equal(list_plus(dir, 20, 65536, &s), NFS3ERR_TOOSMALL);
}

static void large_directory_lists_completely(void **state)
{
	enum { N = 20000 };
	static uint8_t flags[N];
	struct seen s = {.flags = flags, .n_flags = N};
	struct timespec t0, t1;
	char name[32];
	nfs_fh3 dir;

	(void)state;
	dir = new_dir("big");
	for (int i = 0; i < N; i++) {
		int fd;

		snprintf(name, sizeof(name), "big/f%05d", i);
		fd = open(nfsd_path(&r, name), O_WRONLY | O_CREAT, 0644);
		assert_true(fd >= 0);
		close(fd);
	}
	clock_gettime(CLOCK_MONOTONIC, &t0);
	assert_int_equal(list(dir, 65536, &s), NFS3_OK);
	assert_int_equal(s.n, N + 2);
	assert_true(s.calls < 20);
	memset(flags, 0, sizeof(flags));
	s = (struct seen){.flags = flags, .n_flags = N};
	assert_int_equal(list_plus(dir, 65536, 65536, &s), NFS3_OK);
	assert_int_equal(s.n, N + 2);
	assert_int_equal(s.handles, N + 1); /* all but ".." */
	memset(flags, 0, sizeof(flags));
	s = (struct seen){.flags = flags, .n_flags = N};
	assert_int_equal(list(dir, 4096, &s), NFS3_OK);
	assert_int_equal(s.n, N + 2);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	assert_true(t1.tv_sec - t0.tv_sec < 20); /* instrumented builds included */
}

static void cookies_are_checked(void **state)
{
	READDIR3args a = {.count = 160};
	READDIR3res res;
	struct seen s = {.flags = NULL};

	(void)state;
	a.dir = new_dir("ck");
	new_dir("ck/a");
	new_dir("ck/b");
	new_dir("ck/c");
	r.reply_bytes = 512;
	assert_int_equal(NFS(&r, READDIR, &a, &res), NFS3_OK);
	assert_false(take_list(&s, false, &a.cookie));
	memcpy(a.cookieverf, res.READDIR3res_u.resok.cookieverf, 8);
	a.cookieverf[3] ^= 1;
	assert_int_equal(NFS(&r, READDIR, &a, &res), NFS3ERR_BAD_COOKIE);
	a.cookieverf[3] ^= 1;
	/* Changes to the directory do not end a listing. */
	assert_int_equal(rmdir(nfsd_path(&r, "ck/a")), 0);
	assert_int_equal(NFS(&r, READDIR, &a, &res), NFS3_OK);
	a.cookie = UINT64_MAX;
	assert_int_equal(NFS(&r, READDIR, &a, &res), NFS3ERR_BAD_COOKIE);
	nfsd_write_file(&r, "ckf", "x", 1);
	a = (READDIR3args){.dir = nfsd_walk(&r, "ckf"), .count = 4096};
	assert_int_equal(NFS(&r, READDIR, &a, &res), NFS3ERR_NOTDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(lookup_finds_and_refuses),
	        cmocka_unit_test(lookup_dots),
	        cmocka_unit_test(no_escape_through_links),
	        cmocka_unit_test(no_escape_through_moved_directories),
	        cmocka_unit_test(create_three_ways),
	        cmocka_unit_test(exclusive_create_repeats),
	        cmocka_unit_test(mkdir_and_rmdir),
	        cmocka_unit_test(mknod_of_all_types),
	        cmocka_unit_test(rename_moves),
	        cmocka_unit_test(link_adds_a_name),
	        cmocka_unit_test(lists_honour_counts),
	        cmocka_unit_test(large_directory_lists_completely),
	        cmocka_unit_test(cookies_are_checked),
	};

	return cmocka_run_group_tests(tests, start_nfsd, stop_nfsd);
}
