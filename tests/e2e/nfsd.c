/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd, objects: attributes, data, links, file systems, and what a
 * hostile client sends.  The exported directory itself is the oracle.
 */
#define _GNU_SOURCE
#include "test_nfsd.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

NFSD_FOR_ALL(r, NULL)

static void fill(uint8_t *p, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
}

/* ---- NULL, GETATTR, SETATTR, ACCESS ---------------------------------------------- */

static void null_answers_to_any_credential(void **state)
{
	(void)state;
	for (uint32_t flavor = 0; flavor < 8; flavor++) {
		r.flavor = flavor;
		nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_NULL, NULL, 0);
		assert_int_equal(r.status, RPCRDMA_OK);
		assert_int_equal(r.len, 0);
		nfsd_call_raw(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_NULL, NULL, 0);
		assert_int_equal(r.status, RPCRDMA_OK);
	}
	r.flavor = RPCRDMA_AUTH_SYS;
}

static void compare_attributes(const fattr3 *a, const struct stat *st)
{
	assert_int_equal(a->mode, st->st_mode & 07777);
	assert_int_equal(a->nlink, st->st_nlink);
	assert_int_equal(a->uid, st->st_uid);
	assert_int_equal(a->gid, st->st_gid);
	assert_int_equal(a->size, st->st_size);
	assert_int_equal(a->used, st->st_blocks * 512);
	assert_int_equal(a->fileid, st->st_ino);
	assert_int_equal(a->mtime.seconds, st->st_mtim.tv_sec);
	assert_int_equal(a->mtime.nseconds, st->st_mtim.tv_nsec);
	assert_int_equal(a->ctime.seconds, st->st_ctim.tv_sec);
	assert_int_equal(a->ctime.nseconds, st->st_ctim.tv_nsec);
	assert_int_equal(a->atime.seconds, st->st_atim.tv_sec);
}

static void getattr_equals_stat(void **state)
{
	static const struct {
		const char *name;
		ftype3 type;
	} all[] = {{"ga-file", NF3REG},
	           {"ga-dir", NF3DIR},
	           {"ga-link", NF3LNK},
	           {"ga-fifo", NF3FIFO}};
	struct stat st;
	fattr3 a;

	(void)state;
	nfsd_write_file(&r, "ga-file", "hello", 5);
	assert_int_equal(mkdir(nfsd_path(&r, "ga-dir"), 0755), 0);
	assert_int_equal(symlink("/etc/passwd", nfsd_path(&r, "ga-link")), 0);
	assert_int_equal(mkfifo(nfsd_path(&r, "ga-fifo"), 0600), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(nfsd_getattr(&r, nfsd_walk(&r, all[i].name), &a),
		                 NFS3_OK);
		assert_int_equal(lstat(nfsd_path(&r, all[i].name), &st), 0);
		assert_int_equal(a.type, all[i].type);
		compare_attributes(&a, &st);
	}
	assert_int_equal(nfsd_getattr(&r, r.root, &a), NFS3_OK);
	assert_int_equal(lstat(r.exp, &st), 0);
	compare_attributes(&a, &st);
}

static nfsstat3 setattr(nfs_fh3 fh, const sattr3 *new, const nfstime3 *guard)
{
	SETATTR3args a = {.object = fh, .new_attributes = *new};
	SETATTR3res res;
	wcc_data *wcc = &res.SETATTR3res_u.resok.obj_wcc;
	nfsstat3 s;

	if (guard) {
		a.guard.check = TRUE;
		a.guard.sattrguard3_u.obj_ctime = *guard;
	}
	s = NFS(&r, SETATTR, &a, &res);
	assert_true(wcc->after.attributes_follow);
	/* Of a directory they may not be true. */
	assert_int_equal(wcc->before.attributes_follow,
	                 wcc->after.post_op_attr_u.attributes.type != NF3DIR);
	return s;
}

static void setattr_changes_what_is_set(void **state)
{
	sattr3 sa = {.mode = {TRUE, {0640}},
	             .size = {TRUE, {3}},
	             .atime = {SET_TO_CLIENT_TIME, {{1000000, 5}}},
	             .mtime = {SET_TO_CLIENT_TIME, {{2000000, 7}}}};
	sattr3 now = {.mtime = {.set_it = SET_TO_SERVER_TIME}};
	nfs_fh3 fh;
	struct stat st;

	(void)state;
	nfsd_write_file(&r, "sa", "hello", 5);
	fh = nfsd_walk(&r, "sa");
	assert_int_equal(setattr(fh, &sa, NULL), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "sa"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_atim.tv_sec, 1000000);
	assert_int_equal(st.st_atim.tv_nsec, 5);
	assert_int_equal(st.st_mtim.tv_sec, 2000000);
	assert_int_equal(st.st_mtim.tv_nsec, 7);
	assert_int_equal(setattr(fh, &now, NULL), NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "sa"), &st), 0);
	assert_true(labs((long)(st.st_mtim.tv_sec - time(NULL))) < 60);
}

static void setattr_refuses_nonsense(void **state)
{
	sattr3 how = {.mtime = {.set_it = (time_how)3}};
	sattr3 nsec = {.atime = {SET_TO_CLIENT_TIME, {{1, 1000000000}}}};
	sattr3 size = {.size = {TRUE, {UINT64_MAX}}}, small = {.size = {TRUE, {1}}};
	sattr3 nobody = {.uid = {TRUE, {UINT32_MAX}}};

	(void)state;
	nfsd_write_file(&r, "sn", "hello", 5);
	assert_int_equal(setattr(nfsd_walk(&r, "sn"), &how, NULL), NFS3ERR_INVAL);
	assert_int_equal(setattr(nfsd_walk(&r, "sn"), &nsec, NULL), NFS3ERR_INVAL);
	assert_int_equal(setattr(nfsd_walk(&r, "sn"), &nobody, NULL), NFS3ERR_INVAL);
	assert_int_equal(setattr(nfsd_walk(&r, "sn"), &size, NULL), NFS3ERR_FBIG);
	assert_int_equal(setattr(r.root, &small, NULL), NFS3ERR_ISDIR);
}

static void setattr_guard_must_match(void **state)
{
	sattr3 sa = {.mode = {TRUE, {0600}}};
	nfstime3 wrong = {1, 1};
	nfs_fh3 fh;
	fattr3 a;

	(void)state;
	nfsd_write_file(&r, "sg", "x", 1);
	fh = nfsd_walk(&r, "sg");
	assert_int_equal(setattr(fh, &sa, &wrong), NFS3ERR_NOT_SYNC);
	assert_int_equal(nfsd_getattr(&r, fh, &a), NFS3_OK);
	assert_int_equal(a.mode, 0644);
	assert_int_equal(setattr(fh, &sa, &a.ctime), NFS3_OK);
}

static uint32_t access_of(nfs_fh3 fh, uint32_t asked)
{
	ACCESS3args a = {fh, asked};
	ACCESS3res res;

	assert_int_equal(NFS(&r, ACCESS, &a, &res), NFS3_OK);
	return res.ACCESS3res_u.resok.access;
}

static void access_tells_permissions(void **state)
{
	(void)state;
	nfsd_write_file(&r, "ac", "x", 1);
	assert_int_equal(chmod(nfsd_path(&r, "ac"), 0400), 0);
	assert_int_equal(access_of(nfsd_walk(&r, "ac"), 0x3f), ACCESS3_READ);
	assert_int_equal(chmod(nfsd_path(&r, "ac"), 0750), 0);
	assert_int_equal(access_of(nfsd_walk(&r, "ac"), 0x3f),
	                 ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND |
	                         ACCESS3_EXECUTE);
	assert_int_equal(access_of(nfsd_walk(&r, "ac"), ACCESS3_MODIFY),
	                 ACCESS3_MODIFY);
	assert_int_equal(access_of(r.root, 0xffffffff),
	                 ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND |
	                         ACCESS3_DELETE | ACCESS3_LOOKUP);
}

/* ---- READLINK, SYMLINK --------------------------------------------------- */

static nfsstat3 make_symlink(const char *name, const void *path, size_t len)
{
	SYMLINK3args a = {nfsd_name(r.root, name), {.data_len = (uint32_t)len}};
	SYMLINK3res res;
	nfsstat3 s;

	r.item = path;
	r.item_len = len;
	s = NFS(&r, SYMLINK, &a, &res);
	NFS3_FREE(SYMLINK3res, &res);
	return s;
}

static void symlinks_of_all_lengths(void **state)
{
	static const size_t lens[] = {1, 2, 3, 4, 5, 100, 1023, 4000};
	char path[4096], got[4096], name[16];

	(void)state;
	memset(path, 'p', sizeof(path));
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		READLINK3args a;
		READLINK3res res;
		const void *item;

		snprintf(name, sizeof(name), "sl%zu", lens[i]);
		assert_int_equal(make_symlink(name, path, lens[i]), NFS3_OK);
		assert_int_equal(readlink(nfsd_path(&r, name), got, sizeof(got)),
		                 (ssize_t)lens[i]);
		assert_memory_equal(got, path, lens[i]);
		for (int chunk = 0; chunk < 2; chunk++) {
			struct rpcrdma_dest dest = {.base = got, .len = sizeof(got)};
			struct rpcrdma_reply reply = {.results = r.results};

			memset(got, 0, sizeof(got));
			a.symlink = nfsd_walk(&r, name);
			r.dest = chunk ? &dest : NULL;
			r.reply_bytes = 8192;
			assert_int_equal(NFS(&r, READLINK, &a, &res), NFS3_OK);
			reply.len = r.len;
			assert_int_equal(res.READLINK3res_u.resok.data_len, lens[i]);
			assert_int_equal(nfs3_result_item(&reply, r.used, &dest,
			                                  (uint32_t)lens[i], &item),
			                 0);
			assert_memory_equal(item, path, lens[i]);
		}
	}
	assert_int_equal(make_symlink("sl1", "again", 5), NFS3ERR_EXIST);
	assert_int_equal(make_symlink("sl-nul", "a\0b", 3), NFS3ERR_INVAL);
	assert_int_equal(make_symlink("sl-empty", "", 0), NFS3ERR_INVAL);
}

static void readlink_is_for_links(void **state)
{
	READLINK3args a = {r.root};
	READLINK3res res;

	(void)state;
	assert_int_equal(NFS(&r, READLINK, &a, &res), NFS3ERR_INVAL);
}

/* ---- READ, WRITE, COMMIT ------------------------------------------------- */

static void file_equals(const char *name, const void *data, size_t len)
{
	uint8_t *got = malloc(len + 1);
	int fd = open(nfsd_path(&r, name), O_RDONLY);

	assert_true(fd >= 0 && got);
	assert_int_equal(read(fd, got, len + 1), (ssize_t)len);
	assert_memory_equal(got, data, len);
	close(fd);
	free(got);
}

static void write_and_read_all_sizes(void **state)
{
	static const size_t sizes[] = {0,     1,     2,      3,      4,
	                               511,   1000,  4095,   4096,   5000,
	                               40000, 65536, 100001, 262144, 1048576};
	static uint8_t data[1 << 20], got[1 << 20];
	char name[16];
	bool eof;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];
		WRITE3resok ok;
		nfs_fh3 fh;

		fill(data, n, (uint32_t)n + 1);
		snprintf(name, sizeof(name), "rw%zu", n);
		assert_int_equal(nfsd_create(&r, r.root, name, &fh), NFS3_OK);
		assert_int_equal(
		        nfsd_write(&r, fh, 0, data, n, (stable_how)(i % 3), &ok),
		        NFS3_OK);
		assert_int_equal(ok.count, n);
		assert_true(ok.committed >= (stable_how)(i % 3));
		assert_true(ok.file_wcc.before.attributes_follow);
		assert_int_equal(ok.file_wcc.before.pre_op_attr_u.attributes.size, 0);
		assert_int_equal(ok.file_wcc.after.post_op_attr_u.attributes.size, n);
		file_equals(name, data, n);
		memset(got, 0xee, sizeof(got));
		assert_int_equal(nfsd_read(&r, fh, 0, got, sizeof(got), true, &eof), n);
		assert_true(eof);
		assert_memory_equal(got, data, n);
		if (n <= 65536) {
			memset(got, 0xee, sizeof(got));
			assert_int_equal(nfsd_read(&r, fh, 0, got, n + 1, false, &eof),
			                 n);
			assert_true(eof);
			assert_memory_equal(got, data, n);
		}
	}
}

static void read_offsets_and_eof(void **state)
{
	uint8_t data[10000], got[16384];
	bool eof;
	nfs_fh3 fh;

	(void)state;
	fill(data, sizeof(data), 9);
	nfsd_write_file(&r, "ro", data, sizeof(data));
	fh = nfsd_walk(&r, "ro");
	assert_int_equal(nfsd_read(&r, fh, 100, got, 50, false, &eof), 50);
	assert_false(eof);
	assert_memory_equal(got, data + 100, 50);
	assert_int_equal(nfsd_read(&r, fh, 9000, got, 1000, true, &eof), 1000);
	assert_true(eof);
	assert_int_equal(nfsd_read(&r, fh, 9000, got, 999, true, &eof), 999);
	assert_false(eof);
	assert_int_equal(nfsd_read(&r, fh, 9999, got, 4096, true, &eof), 1);
	assert_true(eof);
	assert_int_equal(nfsd_read(&r, fh, 10000, got, 4096, true, &eof), 0);
	assert_true(eof);
	assert_int_equal(nfsd_read(&r, fh, UINT64_MAX, got, 4096, true, &eof), 0);
	assert_true(eof);
	assert_int_equal(nfsd_read(&r, fh, 0, got, 0, false, &eof), 0);
	assert_false(eof);
	assert_int_equal(nfsd_read(&r, r.root, 0, got, 1, false, NULL), -NFS3ERR_ISDIR);
}

static void write_in_holes_and_beyond(void **state)
{
	WRITE3resok ok;
	struct stat st;
	nfs_fh3 fh;
	uint8_t got[8];

	(void)state;
	assert_int_equal(nfsd_create(&r, r.root, "hole", &fh), NFS3_OK);
	assert_int_equal(nfsd_write(&r, fh, 5ull << 30, "end", 3, FILE_SYNC, &ok),
	                 NFS3_OK);
	assert_int_equal(stat(nfsd_path(&r, "hole"), &st), 0);
	assert_int_equal(st.st_size, (5ll << 30) + 3);
	assert_int_equal(nfsd_read(&r, fh, (5ull << 30) - 2, got, 8, true, NULL), 5);
	assert_memory_equal(got, "\0\0end", 5);
	assert_int_equal(nfsd_write(&r, fh, INT64_MAX, "x", 1, UNSTABLE, NULL),
	                 NFS3ERR_FBIG);
	assert_int_equal(nfsd_write(&r, fh, UINT64_MAX, "x", 1, UNSTABLE, NULL),
	                 NFS3ERR_FBIG);
	assert_int_equal(nfsd_write(&r, r.root, 0, "x", 1, UNSTABLE, NULL),
	                 NFS3ERR_ISDIR);
	assert_int_equal(truncate(nfsd_path(&r, "hole"), 0), 0);
}

static void write_count_beyond_data(void **state)
{
	WRITE3args a = {.count = 9, .stable = UNSTABLE, .data_len = 4};
	WRITE3res res;

	(void)state;
	assert_int_equal(nfsd_create(&r, r.root, "wc", &a.file), NFS3_OK);
	r.item = "abcd";
	r.item_len = 4;
	assert_int_equal(NFS(&r, WRITE, &a, &res), NFS3ERR_INVAL);
	a.count = 2; /* less than came: only that is written */
	r.item = "abcd";
	r.item_len = 4;
	assert_int_equal(NFS(&r, WRITE, &a, &res), NFS3_OK);
	assert_int_equal(res.WRITE3res_u.resok.count, 2);
	file_equals("wc", "ab", 2);
	a.stable = (stable_how)3;
	r.item = "abcd";
	r.item_len = 4;
	assert_int_equal(NFS(&r, WRITE, &a, &res), NFS3ERR_INVAL);
}

static void commit_keeps_the_verifier(void **state)
{
	COMMIT3args a = {.offset = 0};
	COMMIT3res res;
	WRITE3resok ok, ok2;

	(void)state;
	assert_int_equal(nfsd_create(&r, r.root, "co", &a.file), NFS3_OK);
	assert_int_equal(nfsd_write(&r, a.file, 0, "abc", 3, UNSTABLE, &ok), NFS3_OK);
	assert_int_equal(nfsd_write(&r, a.file, 3, "def", 3, DATA_SYNC, &ok2), NFS3_OK);
	assert_memory_equal(ok.verf, ok2.verf, NFS3_WRITEVERFSIZE);
	assert_int_equal(NFS(&r, COMMIT, &a, &res), NFS3_OK);
	assert_memory_equal(res.COMMIT3res_u.resok.verf, ok.verf, NFS3_WRITEVERFSIZE);
	assert_true(res.COMMIT3res_u.resok.file_wcc.after.attributes_follow);
	a.file = r.root;
	assert_int_equal(NFS(&r, COMMIT, &a, &res), NFS3ERR_ISDIR);
}

/* ---- FSSTAT, FSINFO, PATHCONF -------------------------------------------- */

static void file_system_facts(void **state)
{
	FSSTAT3args sa = {r.root};
	FSINFO3args ia = {r.root};
	PATHCONF3args pa = {r.root};
	FSSTAT3res sr;
	FSINFO3res ir;
	PATHCONF3res pr;
	struct statvfs v;

	(void)state;
	assert_int_equal(statvfs(r.exp, &v), 0);
	assert_int_equal(NFS(&r, FSSTAT, &sa, &sr), NFS3_OK);
	assert_int_equal(sr.FSSTAT3res_u.resok.tbytes,
	                 (uint64_t)v.f_blocks * v.f_frsize);
	assert_int_equal(sr.FSSTAT3res_u.resok.tfiles, v.f_files);
	assert_true(sr.FSSTAT3res_u.resok.abytes <= sr.FSSTAT3res_u.resok.fbytes);
	assert_int_equal(NFS(&r, FSINFO, &ia, &ir), NFS3_OK);
	assert_int_equal(ir.FSINFO3res_u.resok.rtmax, 1 << 20);
	assert_int_equal(ir.FSINFO3res_u.resok.wtmax, 1 << 20);
	assert_int_equal(ir.FSINFO3res_u.resok.properties, 0x1b);
	assert_int_equal(NFS(&r, PATHCONF, &pa, &pr), NFS3_OK);
	assert_int_equal(pr.PATHCONF3res_u.resok.name_max, 255);
	assert_int_equal(pr.PATHCONF3res_u.resok.linkmax,
	                 pathconf(r.exp, _PC_LINK_MAX));
	assert_true(pr.PATHCONF3res_u.resok.no_trunc);
	assert_true(pr.PATHCONF3res_u.resok.case_preserving);
	assert_false(pr.PATHCONF3res_u.resok.case_insensitive);
}

/* ---- Hostile clients ----------------------------------------------------- */

static void forged_handles_are_refused(void **state)
{
	nfs_fh3 fh = nfsd_fh(&r, r.root.data.data_val, r.root.data.data_len);
	char junk[NFS3_FHSIZE];
	nfsstat3 s;

	(void)state;
	for (u_int i = 0; i < fh.data.data_len; i++)
		for (int bit = 0; bit < 8; bit++) {
			fh.data.data_val[i] ^= (char)(1 << bit);
			assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3ERR_BADHANDLE);
			fh.data.data_val[i] ^= (char)(1 << bit);
		}
	assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3_OK);
	fill((uint8_t *)junk, sizeof(junk), 77);
	for (u_int n = 0; n <= NFS3_FHSIZE; n++) {
		s = nfsd_getattr(&r, nfsd_fh(&r, junk, n), NULL);
		assert_int_equal(s, NFS3ERR_BADHANDLE);
		if (n < fh.data.data_len) {
			s = nfsd_getattr(&r, nfsd_fh(&r, fh.data.data_val, n), NULL);
			assert_int_equal(s, NFS3ERR_BADHANDLE);
		}
	}
}

static void removed_files_are_stale(void **state)
{
	uint8_t buf[4];
	nfs_fh3 fh, dir;

	(void)state;
	nfsd_write_file(&r, "st", "x", 1);
	fh = nfsd_walk(&r, "st");
	assert_int_equal(nfsd_read(&r, fh, 0, buf, 1, false, NULL), 1);
	assert_int_equal(unlink(nfsd_path(&r, "st")), 0);
	assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3ERR_STALE);
	assert_int_equal(nfsd_read(&r, fh, 0, buf, 1, false, NULL), -NFS3ERR_STALE);
	assert_int_equal(nfsd_write(&r, fh, 0, "y", 1, UNSTABLE, NULL), NFS3ERR_STALE);
	nfsd_write_file(&r, "st", "x", 1); /* perhaps under the same inode number */
	assert_int_equal(nfsd_getattr(&r, fh, NULL), NFS3ERR_STALE);
	assert_int_equal(mkdir(nfsd_path(&r, "std"), 0755), 0);
	dir = nfsd_walk(&r, "std");
	assert_int_equal(rmdir(nfsd_path(&r, "std")), 0);
	assert_int_equal(nfsd_lookup(&r, dir, "a", NULL), NFS3ERR_STALE);
	assert_int_equal(nfsd_create(&r, dir, "a", NULL), NFS3ERR_STALE);
}

static void garbage_arguments(void **state)
{
	uint8_t buf[512];
	LOOKUP3args a = {nfsd_name(r.root, "abc")};
	int n = NFS3_ENCODE(buf, sizeof(buf), LOOKUP3args, &a);

	(void)state;
	assert_true(n > 0);
	for (int len = 0; len < n; len += 4) {
		nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_LOOKUP, buf,
		              (size_t)len);
		assert_int_equal(r.status, RPCRDMA_GARBAGE_ARGS);
	}
	memset(buf + n, 0, 4);
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_LOOKUP, buf, (size_t)n + 4);
	assert_int_equal(r.status, RPCRDMA_GARBAGE_ARGS);
	buf[n - 3] = 0; /* a zero octet within the name */
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_LOOKUP, buf, (size_t)n);
	assert_int_equal(r.status, RPCRDMA_GARBAGE_ARGS);
	for (uint32_t p = 1; p < RPCRDMA_NFS3_PROCEDURES; p++) {
		memset(buf, 0xff, sizeof(buf));
		nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, p, buf, sizeof(buf));
		assert_int_equal(r.status, RPCRDMA_GARBAGE_ARGS);
		nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, p, NULL, 0);
		assert_int_equal(r.status, RPCRDMA_GARBAGE_ARGS);
	}
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, RPCRDMA_NFS3_PROCEDURES, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_PROC_UNAVAIL);
	nfsd_call_raw(&r, 100021, 0, NULL, 0);
	assert_int_equal(r.status, RPCRDMA_PROG_UNAVAIL);
}

/* The length word says one thing, what came another. */
static void lying_length_words(void **state)
{
	WRITE3args a = {.count = 4, .stable = UNSTABLE};
	uint8_t buf[512];
	int n;

	(void)state;
	assert_int_equal(nfsd_create(&r, r.root, "lie", &a.file), NFS3_OK);
	for (uint32_t len = 0; len <= 64; len += 13) {
		a.data_len = len ? len : UINT32_MAX;
		n = NFS3_ENCODE(buf, sizeof(buf), WRITE3args, &a);
		memset(buf + n, 'x', 32);
		if (len > 29 && len <= 32)
			continue;
		nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_WRITE, buf,
		              (size_t)n + 32);
		assert_int_equal(r.status, RPCRDMA_GARBAGE_ARGS);
	}
	a.data_len = 32;
	n = NFS3_ENCODE(buf, sizeof(buf), WRITE3args, &a);
	memset(buf + n, 'x', 32);
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_WRITE, buf, (size_t)n + 32);
	assert_int_equal(r.status, RPCRDMA_OK);
	file_equals("lie", "xxxx", 4);
}

static void unknown_credentials(void **state)
{
	GETATTR3args a = {r.root};
	uint8_t buf[128];
	int n = NFS3_ENCODE(buf, sizeof(buf), GETATTR3args, &a);

	(void)state;
	r.flavor = 6;
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, NFSPROC3_GETATTR, buf, (size_t)n);
	assert_int_equal(r.status, RPCRDMA_AUTH_ERROR);
	assert_int_equal(r.auth_stat, 2);
	r.flavor = RPCRDMA_AUTH_NONE;
	assert_int_equal(nfsd_getattr(&r, r.root, NULL), NFS3_OK);
	r.flavor = RPCRDMA_AUTH_SYS;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(null_answers_to_any_credential),
	        cmocka_unit_test(getattr_equals_stat),
	        cmocka_unit_test(setattr_changes_what_is_set),
	        cmocka_unit_test(setattr_refuses_nonsense),
	        cmocka_unit_test(setattr_guard_must_match),
	        cmocka_unit_test(access_tells_permissions),
	        cmocka_unit_test(symlinks_of_all_lengths),
	        cmocka_unit_test(readlink_is_for_links),
	        cmocka_unit_test(write_and_read_all_sizes),
	        cmocka_unit_test(read_offsets_and_eof),
	        cmocka_unit_test(write_in_holes_and_beyond),
	        cmocka_unit_test(write_count_beyond_data),
	        cmocka_unit_test(commit_keeps_the_verifier),
	        cmocka_unit_test(file_system_facts),
	        cmocka_unit_test(forged_handles_are_refused),
	        cmocka_unit_test(removed_files_are_stale),
	        cmocka_unit_test(garbage_arguments),
	        cmocka_unit_test(lying_length_words),
	        cmocka_unit_test(unknown_credentials),
	};

	return cmocka_run_group_tests(tests, start_nfsd, stop_nfsd);
}
