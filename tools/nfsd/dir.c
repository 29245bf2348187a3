/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READDIR and READDIRPLUS.                          [RFC 1813 §3.3.16, 17]
 *
 * Cookies are the file system's own positions (d_off), so the server keeps no state
 * between calls: it seeks to the cookie and continues to read.  The cookie verifier is
 * a digest of the directory's handle, keyed with the server's secret, so it detects
 * cookies that belong to another directory or server.  The verifier does not change
 * when entries are added or removed; otherwise a client that removes the files that it
 * lists could not continue the list.
 *
 * The list is encoded here, entry by entry, because the client's limits are in XDR
 * octets: "count" limits the whole encoded READDIR3resok, and "dircount" the names with
 * their inode numbers and cookies.
 *
 * READDIRPLUS also sends each entry's attributes and handle.  Both must describe the same
 * object, although other processes may rename entries at any time.  The server tries
 * three ways, the fastest first:
 *
 *   1. If the handle is cached, one statx of the name is enough (handle_cache.c).
 *   2. If the directory's ctime is old, statx and name_to_handle_at of the name.  A change
 *      of any entry sets ctime to the present time.  So if ctime is still the same after
 *      the last of these calls, no entry was changed between them.
 *   3. The object is opened, and both calls use the descriptor.
 *
 * A name that may be a mount point is opened at once, with RESOLVE_NO_XDEV, because
 * statx and name_to_handle_at would access the mounted file system.
 */
#include "op.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ATTR_BYTES =
	        4 + NFS3_FATTR_BYTES, /* octets of a post_op_attr with attributes */
	RESOK_BYTES = ATTR_BYTES + 8, /* octets of a post_op_attr and the verifier */
	END_BYTES = 4 + 4,            /* the word that ends the list, and eof */
	READ_BYTES = 8192,
	READ_ENTRIES = READ_BYTES / 24, /* maximum number of entries in READ_BYTES */
};

struct dirent_raw { /* an entry as returned by getdents64(2) */
	uint64_t ino;
	int64_t next;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

struct listing {
	struct op *op;
	bool plus;
	char *buf;               /* memory of the request */
	size_t len, max;         /* octets used; limit, not counting END_BYTES */
	size_t dir_len, dir_max; /* the same, for dircount */
	unsigned entries;
	bool full, eof;
	/* The fields below are for READDIRPLUS. */
	struct mount_names mounts;
	struct statx_timestamp ctime; /* the directory's, before the first entry */
	bool still;                   /* while ctime is the same, no entry changes */
	bool unsure; /* some entries are correct only if ctime is still the same */
	struct known_handle *fresh; /* objects to remember if ctime is still the same */
	unsigned n_fresh;
};

static void make_cookie_verf(const struct op *op, char ret[NFS3_COOKIEVERFSIZE])
{
	uint8_t id[NFS3_FHSIZE + 8] = "cookies";

	memcpy(id + 8, op->obj->fh.octets, op->obj->fh.len);
	nfs3_put_u64(ret, rr_siphash_once(op->nfsd->key, id, 8 + op->obj->fh.len) | 1);
}

/* Stores the state of the directory, with the attributes @st, before its entries are
 * read. */
static void observe_directory(struct listing *l, const struct statx *st)
{
	const struct object *dir = l->op->obj;

	crossing_names(l->op->nfsd, dir->ex, &l->mounts);
	l->ctime = st->stx_ctime;
	/* Only local file systems are known to update ctime at once.  A handle that the
	 * server makes itself depends on the attributes alone. */
	l->still = !dir->ex->by_handle ||
	           (dir->ex->fs->kind != FS_ASLEEP && stamp_is_old(&l->ctime));
}

static bool has_directory_changed(const struct listing *l)
{
	struct statx st;

	return object_stat(l->op->obj, &st) || st.stx_ctime.tv_sec != l->ctime.tv_sec ||
	       st.stx_ctime.tv_nsec != l->ctime.tv_nsec;
}

static int identify_child(struct listing *l, const struct dirent_raw *de,
                          struct handle *ret, struct statx *ret_stx)
{
	struct nfsd *d = l->op->nfsd;
	struct object *dir = l->op->obj;
	struct known_handle *fresh = &l->fresh[l->n_fresh];
	int e;

	if (mount_names_contain(&l->mounts, de->name))
		return handle_make_child(d, dir, de->name, ret, ret_stx);
	if (handle_recall(d, dir, de->name, de->ino, ret, ret_stx))
		return 0;
	if (l->still && !handle_make_quickly(d, dir, de->name, ret, ret_stx)) {
		l->unsure = dir->ex->by_handle;
		l->n_fresh += handle_describe(dir->ex, ret, ret_stx, fresh);
		return 0;
	}
	e = handle_make_child(d, dir, de->name, ret, ret_stx);
	if (!e && handle_describe(dir->ex, ret, ret_stx, fresh))
		handle_remember(d, fresh, 1);
	return e;
}

/* Makes an entry's handle and reads its attributes.  Returns 0, or a negative errno if
 * neither is sent: the caller lacks permission, the entry was removed, or the entry is a
 * mount point.  Only LOOKUP accesses a mounted file system, because it may not
 * respond. */
static int identify_entry(struct listing *l, const struct dirent_raw *de,
                          struct handle *ret, struct statx *ret_stx)
{
	struct object *dir = l->op->obj;
	int e;

	if (!strcmp(de->name, ".."))
		return -ENOENT;
	if (strcmp(de->name, ".") != 0)
		return identify_child(l, de, ret, ret_stx);
	e = object_stat(dir, ret_stx);
	if (!e)
		*ret = dir->fh;
	return e;
}

static size_t pad_length(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static char *put_padded(char *p, const void *data, size_t len)
{
	nfs3_put_u32(p + pad_length(len), 0); /* the last word, with the padding */
	memcpy(nfs3_put_u32(p, (uint32_t)len), data, len);
	return p + 4 + pad_length(len);
}

/* Appends one entry, or sets l->full if there is not enough space. */
static void put_entry(struct listing *l, const struct dirent_raw *de)
{
	const struct object *dir = l->op->obj;
	size_t name_len = strlen(de->name);
	size_t dir_bytes = 8 + 4 + pad_length(name_len) + 8, plus_bytes = 0, bytes;
	uint64_t ino = de->ino;
	char *p = l->buf + l->len;
	struct handle h;
	struct statx st;
	bool sent = false;
	fattr3 a;

	if (!strcmp(de->name, "..") && !dir->covered && dir->ino == dir->ex->root_ino)
		ino = dir->ino; /* the root is its own parent */
	if (l->plus) {
		sent = !identify_entry(l, de, &h, &st);
		plus_bytes = sent ? ATTR_BYTES + 8 + pad_length(h.len) : 8;
	}
	bytes = 4 + dir_bytes + plus_bytes;
	if (bytes > l->max - l->len || dir_bytes > l->dir_max - l->dir_len) {
		l->full = true;
		return;
	}
	p = nfs3_put_u64(nfs3_put_u32(p, 1), ino);
	p = put_padded(p, de->name, name_len);
	p = nfs3_put_u64(p, (uint64_t)de->next);
	if (sent) {
		attr_from_statx(dir->ex, &st, &a);
		p = nfs3_put_fattr3(nfs3_put_u32(p, 1), &a);
		put_padded(nfs3_put_u32(p, 1), h.octets, h.len);
	} else if (l->plus) {
		nfs3_put_u64(p, 0); /* two FALSE words */
	}
	l->len += bytes;
	l->dir_len += dir_bytes;
	l->entries++;
}

static void put_entries(struct listing *l, const char *raw, long n)
{
	for (long at = 0; at < n && !l->full;) {
		const struct dirent_raw *de = (const void *)(raw + at);

		put_entry(l, de);
		at += de->reclen;
	}
}

/* Appends the entries in the @n octets at @raw.  If the directory has been changed in the
 * meantime, replaces them by entries that do not depend on its ctime. */
static void put_sure_entries(struct listing *l, const char *raw, long n)
{
	struct known_handle fresh[READ_ENTRIES];
	struct listing before;

	l->fresh = fresh;
	l->n_fresh = 0;
	l->unsure = false;
	before = *l;
	put_entries(l, raw, n);
	if (l->unsure && has_directory_changed(l)) {
		*l = before;
		l->still = false;
		put_entries(l, raw, n);
	} else {
		handle_remember(l->op->nfsd, fresh, l->n_fresh);
	}
}

/* Reads entries, starting at @cookie, until the reply is full or no entries remain.
 * Returns 0 or a negative errno. */
static int fill_listing(struct listing *l, int fd, uint64_t cookie)
{
	_Alignas(8) char raw[READ_BYTES];

	if (lseek(fd, (off_t)cookie, SEEK_SET) < 0)
		return errno == EINVAL ? -EDOM : -errno;
	while (!l->full && !l->eof) {
		long n = syscall(SYS_getdents64, fd, raw, sizeof(raw));

		if (n < 0)
			return errno == ENOENT ? -ESTALE : -errno;
		l->eof = n == 0;
		put_sure_entries(l, raw, n);
	}
	return 0;
}

/* Lists a mount point, which contains only "." and "..". */
static int fill_covered_listing(struct listing *l, uint64_t cookie)
{
	union {
		struct dirent_raw de;
		char room[sizeof(struct dirent_raw) + 8];
	} u = {.de = {.ino = l->op->obj->ino}};
	struct statx above;
	int e = statx_fd(l->op->obj->path_fd, "", &above);

	for (; !e && cookie < 2 && !l->full; cookie++) {
		u.de.next = (int64_t)cookie + 1;
		strcpy(u.room + offsetof(struct dirent_raw, name), cookie ? ".." : ".");
		put_entry(l, &u.de);
		u.de.ino = above.stx_ino;
	}
	l->eof = !l->full;
	return e;
}

static int check_cookie(const struct op *op, uint64_t cookie, const char *verf)
{
	char ours[NFS3_COOKIEVERFSIZE];

	if (!cookie)
		return 0;
	make_cookie_verf(op, ours);
	if (cookie > INT64_MAX || memcmp(ours, verf, sizeof(ours)))
		return -EDOM;
	return 0;
}

/* Makes the list, with at most @count octets, and stores it in op->tail.  Returns 0,
 * -EDOM for NFS3ERR_BAD_COOKIE, or another negative errno. */
static int make_listing(struct listing *l, const nfs_fh3 *fh, uint64_t cookie,
                        const char *verf, uint32_t count, post_op_attr *attr)
{
	struct op *op = l->op;
	struct statx st;
	int fd = -1, e = object_get(op->nfsd, fh, &op->id, &op->obj);

	/* Read the attributes before the names.  Attributes that are too old only make
	 * the client ask again; attributes newer than the names would make the client
	 * keep an outdated list. */
	if (!e)
		e = object_stat(op->obj, &st);
	if (!e) {
		attr_post_statx(op->obj->ex, &st, attr);
		if (l->plus)
			observe_directory(l, &st);
	}
	if (!e && !S_ISDIR(op->obj->type))
		e = -ENOTDIR;
	if (!e)
		e = check_cookie(op, cookie, verf);
	if (!e && !op->obj->covered)
		e = object_dir_fd(op->nfsd, op->obj, &op->id, &fd);
	if (e)
		return e;
	if (count > NFSD_MAX_DIR)
		count = NFSD_MAX_DIR;
	if (count < RESOK_BYTES + END_BYTES)
		return -EMSGSIZE;
	l->max = count - RESOK_BYTES - END_BYTES;
	l->buf = op_alloc(op, l->max + END_BYTES);
	if (!l->buf)
		return -ENOMEM;
	pthread_mutex_lock(&op->obj->lock); /* guards the descriptor's file position */
	e = op->obj->covered ? fill_covered_listing(l, cookie)
	                     : fill_listing(l, fd, cookie);
	pthread_mutex_unlock(&op->obj->lock);
	if (!e && !l->entries && !l->eof)
		e = -EMSGSIZE;
	if (e)
		return e;
	nfs3_put_u32(nfs3_put_u32(l->buf + l->len, 0), l->eof);
	op->tail = (struct rpcrdma_piece){l->buf, l->len + END_BYTES, false};
	return 0;
}

static nfsstat3 convert_list_error(int e)
{
	return e == -EDOM ? NFS3ERR_BAD_COOKIE : nfs_status(e);
}

void op_readdir(struct op *op)
{
	const READDIR3args *a = &op->args.readdir;
	READDIR3resok *ok = &op->res.readdir.READDIR3res_u.resok;
	struct listing l = {.op = op, .dir_max = SIZE_MAX};
	/* resok and resfail both begin with these attributes. */
	int e = make_listing(&l, &a->dir, a->cookie, a->cookieverf, a->count,
	                     &ok->dir_attributes);

	op->res.status = convert_list_error(e);
	if (!e)
		make_cookie_verf(op, ok->cookieverf);
}

void op_readdirplus(struct op *op)
{
	const READDIRPLUS3args *a = &op->args.readdirplus;
	READDIRPLUS3resok *ok = &op->res.readdirplus.READDIRPLUS3res_u.resok;
	struct listing l = {.op = op, .plus = true, .dir_max = a->dircount};
	int e = make_listing(&l, &a->dir, a->cookie, a->cookieverf, a->maxcount,
	                     &ok->dir_attributes);

	op->res.status = convert_list_error(e);
	if (!e)
		make_cookie_verf(op, ok->cookieverf);
}
