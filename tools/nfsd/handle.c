/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File handles.  Clients keep handles for any length of time, even across restarts of
 * the server, and may send arbitrary octets as a handle.  The format:
 *
 *   0      1 version (1)
 *   1      1 kind: KERNEL, WALK or COVERED
 *   2      1 KERNEL: the kernel's handle type; WALK: half of the export's mark
 *   3      1 number of octets in the body
 *   4      4 number of the export (a digest of its path and root directory)
 *   8      8 seal, a MAC: SipHash of all other octets, keyed with the server's secret
 *   16     n body; KERNEL: the kernel's handle, WALK: struct walk_id, COVERED (a mount
 *            point): inode number and digest of the path, 8 octets each
 *
 * The seal proves that this server made the handle after it had reached the object
 * below the export.  Without the secret, nobody can forge a handle for another file on
 * the same file system.  The body identifies the object by inode number and by
 * generation number or birth time, so that a handle becomes stale when a new file
 * reuses an old file's inode number.
 *
 * A local user may move an object out of the exported directory.  A KERNEL handle then
 * remains usable by clients that already have it, as with no_subtree_check in
 * exports(5); a WALK handle becomes stale.
 */
#include "nfsd.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/openat2.h>

enum { VERSION = 1, KERNEL = 1, WALK = 2, COVERED = 3, HEAD_BYTES = 16, SEAL_AT = 8 };
enum { BODY_BYTES = NFS3_FHSIZE - HEAD_BYTES, COVERED_BYTES = 16 };
enum { WALK_HEAD_BYTES = 14 };

_Static_assert(WALK_HEAD_BYTES + 2 * WALK_CHAIN <= BODY_BYTES, "walk handles fit");

/* A struct file_handle for name_to_handle_at(2), with space for the handle's octets. */
union kernel_handle {
	struct file_handle fh;
	char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

static void put_le(uint8_t *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static uint64_t compute_seal(const uint64_t key[2], const uint8_t *fh, unsigned len)
{
	uint8_t copy[NFS3_FHSIZE];

	memcpy(copy, fh, len);
	memset(copy + SEAL_AT, 0, 8);
	return rr_siphash_once(key, copy, len);
}

static void seal_handle(struct nfsd *d, const struct export *ex, uint8_t kind,
                        uint8_t type, unsigned body, struct handle *h)
{
	h->octets[0] = VERSION;
	h->octets[1] = kind;
	h->octets[2] = type;
	h->octets[3] = (uint8_t)body;
	put_le(h->octets + 4, ex->id, 4);
	h->len = HEAD_BYTES + body;
	put_le(h->octets + SEAL_AT, compute_seal(d->key, h->octets, h->len), 8);
}

int statx_fd(int fd, const char *name, struct statx *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);

	if (statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, ret))
		return -errno;
	return 0;
}

/* Reads the mount ID of @fd from /proc, for Linux before 5.8. */
static int read_mount_id(int fd, uint64_t *ret)
{
	char path[48], line[64];
	unsigned long long id;
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (n != 1 && fgets(line, sizeof(line), f))
		n = sscanf(line, "mnt_id: %llu", &id);
	fclose(f);
	if (n != 1)
		return -EOPNOTSUPP;
	*ret = id;
	return 0;
}

int mount_id_of(int fd, uint64_t *ret)
{
	struct statx st;
	int e = statx_fd(fd, "", &st);

	if (e || !(st.stx_mask & STATX_MNT_ID))
		return e ? e : read_mount_id(fd, ret);
	*ret = st.stx_mnt_id;
	return 0;
}

int open_name(int dir, const char *name, int flags, mode_t mode)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)flags,
	                       .mode = mode,
	                       .resolve = RESOLVE_NO_XDEV};
	long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));

	/* Either the kernel is too old for openat2, or a seccomp filter rejects it. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(dir, name, flags, mode);
	return fd < 0 ? -errno : (int)fd;
}

int open_beneath(int dir, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_NOFOLLOW),
	                       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* see open_name */
		fd = openat(dir, path, flags | O_NOFOLLOW);
	return fd < 0 ? -errno : (int)fd;
}

/* A directory must also have the export's device number.  Otherwise it is the root of a
 * file system without a mount, such as a subvolume, where the same inode numbers occur
 * again.  Other files may have a different device number, as on overlayfs. */
bool handle_inside(const struct export *ex, const struct statx *st)
{
	if (st->stx_mask & STATX_MNT_ID && st->stx_mnt_id != ex->mnt_id)
		return false;
	return !S_ISDIR(st->stx_mode) || (st->stx_dev_major == ex->dev_major &&
	                                  st->stx_dev_minor == ex->dev_minor);
}

/* Makes a KERNEL handle of the object @name in @fd, or of @fd itself if @name is
 * empty. */
static int make_kernel_handle(struct nfsd *d, const struct export *ex, int fd,
                              const char *name, struct handle *ret)
{
	union kernel_handle u;
	int mount_id;

	memset(&u, 0, sizeof(u));
	u.fh.handle_bytes = BODY_BYTES;
	if (name_to_handle_at(fd, name, &u.fh, &mount_id, *name ? 0 : AT_EMPTY_PATH))
		return errno == EOVERFLOW ? -EOPNOTSUPP : -errno;
	/* Another file system was mounted here in the meantime.  On the export's file
	 * system, the new handle could refer to a different object. */
	if (ex->mnt_id_known && (uint64_t)mount_id != ex->mnt_id)
		return -EXDEV;
	if (u.fh.handle_bytes > BODY_BYTES || u.fh.handle_type < 0 ||
	    u.fh.handle_type > 255)
		return -EOPNOTSUPP;
	memcpy(ret->octets + HEAD_BYTES, u.fh.f_handle, u.fh.handle_bytes);
	seal_handle(d, ex, KERNEL, (uint8_t)u.fh.handle_type, u.fh.handle_bytes, ret);
	return 0;
}

static void encode_walk_id(struct nfsd *d, const struct export *ex,
                           const struct walk_id *w, struct handle *ret)
{
	unsigned n = w->depth < WALK_CHAIN ? w->depth : WALK_CHAIN;
	uint8_t *b = ret->octets + HEAD_BYTES;

	put_le(b, w->ino, 8);
	put_le(b + 8, w->born, 4);
	b[12] = w->depth;
	b[13] = (uint8_t)(ex->mark >> 8);
	for (unsigned i = 0; i < n; i++)
		put_le(b + WALK_HEAD_BYTES + 2 * i, w->chain[i], 2);
	seal_handle(d, ex, WALK, (uint8_t)ex->mark, WALK_HEAD_BYTES + 2 * n, ret);
}

static int decode_walk_id(const struct handle *h, struct walk_id *ret)
{
	const uint8_t *b = h->octets + HEAD_BYTES;
	unsigned body = h->len - HEAD_BYTES, n;

	memset(ret, 0, sizeof(*ret));
	if (h->octets[1] != WALK || body < WALK_HEAD_BYTES)
		return -EBADF;
	ret->ino = get_le(b, 8);
	ret->born = (uint32_t)get_le(b + 8, 4);
	ret->depth = b[12];
	n = ret->depth < WALK_CHAIN ? ret->depth : WALK_CHAIN;
	if (body != WALK_HEAD_BYTES + 2 * n)
		return -EBADF;
	for (unsigned i = 0; i < n; i++)
		ret->chain[i] = (uint16_t)get_le(b + WALK_HEAD_BYTES + 2 * i, 2);
	return 0;
}

/* Makes a WALK handle for the object with the attributes @st in the directory
 * @parent. */
static int make_walk_handle(struct nfsd *d, const struct export *ex,
                            const struct handle *parent, const struct statx *st,
                            struct handle *ret)
{
	struct walk_id w = {.depth = 0};

	if (parent) {
		if (decode_walk_id(parent, &w))
			return -ESTALE;
		if (w.depth >= HANDLE_MAX_DEPTH)
			return -ENAMETOOLONG;
		if (w.depth < WALK_CHAIN)
			w.chain[w.depth] = walk_digest(st->stx_ino);
		w.depth++;
	}
	w.ino = st->stx_ino;
	w.born = walk_born(st);
	encode_walk_id(d, ex, &w, ret);
	return 0;
}

/* Clears @ret and reads the attributes of @fd.  Returns -EXDEV if @fd is not on the
 * export's mount. */
static int begin_handle(const struct export *ex, int fd, struct handle *ret,
                        struct statx *ret_stx)
{
	int e = statx_fd(fd, "", ret_stx);

	if (!e && !handle_inside(ex, ret_stx))
		e = -EXDEV;
	if (!e)
		memset(ret, 0, sizeof(*ret));
	return e;
}

int handle_make(struct nfsd *d, struct export *ex, const struct handle *parent, int fd,
                struct handle *ret, struct statx *ret_stx)
{
	int e = begin_handle(ex, fd, ret, ret_stx);

	if (e)
		return e;
	if (ex->by_handle)
		return make_kernel_handle(d, ex, fd, "", ret);
	return make_walk_handle(d, ex, parent, ret_stx, ret);
}

int handle_make_child(struct nfsd *d, const struct object *dir, const char *name,
                      struct handle *ret, struct statx *ret_stx)
{
	int fd = open_name(dir->path_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0), e;

	if (fd < 0)
		return fd;
	e = handle_make(d, dir->ex, &dir->fh, fd, ret, ret_stx);
	close(fd);
	if (!e)
		walk_learn(dir->ex, ret_stx->stx_ino, dir->ino, name);
	return e;
}

int handle_stat_child(const struct object *dir, const char *name, struct statx *ret)
{
	int e = statx_fd(dir->path_fd, name, ret);

	if (!e && !(ret->stx_mask & STATX_MNT_ID && handle_inside(dir->ex, ret)))
		e = -EXDEV;
	return e;
}

int handle_make_quickly(struct nfsd *d, const struct object *dir, const char *name,
                        struct handle *ret, struct statx *ret_stx)
{
	int e = handle_stat_child(dir, name, ret_stx);

	if (e)
		return e;
	memset(ret, 0, sizeof(*ret));
	if (dir->ex->by_handle)
		return make_kernel_handle(d, dir->ex, dir->path_fd, name, ret);
	e = make_walk_handle(d, dir->ex, &dir->fh, ret_stx, ret);
	if (!e)
		walk_learn(dir->ex, ret_stx->stx_ino, dir->ino, name);
	return e;
}

int handle_make_parent(struct nfsd *d, struct export *ex, const struct handle *child,
                       int fd, struct handle *ret, struct statx *ret_stx)
{
	struct walk_id w;
	int e = begin_handle(ex, fd, ret, ret_stx);

	if (e)
		return e;
	if (ex->by_handle)
		return make_kernel_handle(d, ex, fd, "", ret);
	if (decode_walk_id(child, &w) || !w.depth)
		return -ESTALE;
	w.depth--;
	w.ino = ret_stx->stx_ino;
	w.born = walk_born(ret_stx);
	encode_walk_id(d, ex, &w, ret);
	return 0;
}

int handle_climb(const struct export *ex, int fd, uint64_t *inos, int max)
{
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 0), up, n = 0, e = 0;
	struct statx st;

	while (at >= 0) {
		e = statx_fd(at, "", &st);
		if (!e && !handle_inside(ex, &st))
			e = -ESTALE;
		if (e || st.stx_ino == ex->root_ino)
			break;
		if (n == max) {
			e = -ENAMETOOLONG;
			break;
		}
		if (inos)
			inos[n] = st.stx_ino;
		n++;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			e = -errno;
		close(at);
		at = up;
	}
	if (at >= 0)
		close(at);
	else if (!e)
		e = -errno; /* error of fcntl */
	return e ? e : n;
}

int handle_make_climbing(struct nfsd *d, struct export *ex, int fd, struct handle *ret,
                         struct statx *ret_stx)
{
	uint64_t inos[HANDLE_MAX_DEPTH];
	struct walk_id w = {.depth = 0};
	int n, e;

	if (ex->by_handle)
		return handle_make(d, ex, NULL, fd, ret, ret_stx);
	n = handle_climb(ex, fd, inos, HANDLE_MAX_DEPTH);
	e = n < 0 ? n : statx_fd(fd, "", ret_stx);
	if (e)
		return e;
	w.depth = (uint8_t)n;
	for (int i = 0; i < n && i < WALK_CHAIN; i++)
		w.chain[i] = walk_digest(inos[n - 1 - i]);
	w.ino = ret_stx->stx_ino;
	w.born = walk_born(ret_stx);
	memset(ret, 0, sizeof(*ret));
	encode_walk_id(d, ex, &w, ret);
	return 0;
}

void handle_make_covered(struct nfsd *d, const struct export *ex, uint64_t ino,
                         uint64_t place, struct handle *ret)
{
	memset(ret, 0, sizeof(*ret));
	put_le(ret->octets + HEAD_BYTES, ino, 8);
	put_le(ret->octets + HEAD_BYTES + 8, place, 8);
	seal_handle(d, ex, COVERED, 0, COVERED_BYTES, ret);
}

bool handle_covered(const struct handle *h, uint64_t *ret_ino, uint64_t *ret_place)
{
	if (h->octets[1] != COVERED || h->len != HEAD_BYTES + COVERED_BYTES)
		return false;
	*ret_ino = get_le(h->octets + HEAD_BYTES, 8);
	*ret_place = get_le(h->octets + HEAD_BYTES + 8, 8);
	return true;
}

/* Returns true if the export accepts handles of this kind.  A record accepts every
 * kind: until the record is opened, it is not known whether the kernel opens its
 * handles. */
static bool can_open_kind(const struct export *ex, uint8_t kind)
{
	return ex->top || kind == COVERED || ex->by_handle == (kind == KERNEL);
}

int handle_verify(struct nfsd *d, const void *data, size_t len, struct export **ret)
{
	const uint8_t *p = data;
	uint64_t wrong;
	uint32_t id;

	if (len < HEAD_BYTES || len > NFS3_FHSIZE || p[0] != VERSION)
		return -EBADF;
	if (p[1] < KERNEL || p[1] > COVERED || len != HEAD_BYTES + (size_t)p[3])
		return -EBADF;
	wrong = compute_seal(d->key, p, (unsigned)len) ^ get_le(p + SEAL_AT, 8);
	if (wrong)
		return -EBADF;
	id = (uint32_t)get_le(p + 4, 4);
	for (unsigned i = 0; i < d->n_exports; i++) {
		struct export *ex = d->exports[i];

		if (ex->live && ex->id == id && can_open_kind(ex, p[1])) {
			*ret = ex;
			return 0;
		}
	}
	*ret = crossing_find(d, id);
	return *ret ? 0 : -ESTALE; /* no longer exported */
}

static int open_kernel_handle(const struct export *ex, const struct handle *h,
                              int *ret_fd)
{
	union kernel_handle u;
	int fd;

	memset(&u, 0, sizeof(u));
	u.fh.handle_bytes = h->len - HEAD_BYTES;
	u.fh.handle_type = h->octets[2];
	memcpy(u.fh.f_handle, h->octets + HEAD_BYTES, h->len - HEAD_BYTES);
	fd = open_by_handle_at(ex->mount_fd, &u.fh, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == EINVAL ? -ESTALE : -errno;
	*ret_fd = fd;
	return 0;
}

int handle_open_here(struct export *ex, const struct handle *h, int *ret_fd)
{
	struct walk_id w;

	if (ex->by_handle != (h->octets[1] == KERNEL))
		return -ESTALE;
	if (ex->by_handle)
		return open_kernel_handle(ex, h, ret_fd);
	if (decode_walk_id(h, &w))
		return -EBADF;
	if (h->octets[2] != (uint8_t)ex->mark ||
	    h->octets[HEAD_BYTES + 13] != ex->mark >> 8)
		return -ESTALE;
	return walk_open(ex, &w, ret_fd);
}

int handle_open(struct nfsd *d, struct export *ex, const struct handle *h, int *ret_fd)
{
	int e = crossing_open(d, ex);

	if (e)
		return e;
	if (h->octets[1] == COVERED)
		return covered_open(d, ex, h, ret_fd);
	return handle_open_here(ex, h, ret_fd);
}
