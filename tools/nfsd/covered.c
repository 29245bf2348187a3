/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows an empty directory at the mount point of each file system that is not served.
 *
 * The server never accesses the mounted file system.  Nor can it reach the directory
 * that the mount covers, because the path leads to the mounted file system.  The server
 * knows only the directory's inode number, from reading the parent directory.  Clients
 * see the covered directory with the owner and times of its parent, and nobody can
 * write to it.
 */
#include "nfsd.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Returns the inode number of the entry @name in the directory @dir, or 0.  The calling
 * thread must be running with the server's own identity, not a client's. */
static uint64_t find_listed_number(int dir, const char *name)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *de;
	uint64_t ino = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!ino && (de = readdir(d)))
		if (!strcmp(de->d_name, name))
			ino = de->d_ino;
	closedir(d);
	return ino;
}

/* Returns an inode number for a mount point whose parent directory the server cannot
 * read.  Sets bit 63, so that the number is unlikely to be that of another file. */
static uint64_t make_place_number(uint64_t place)
{
	return place | 1ull << 63;
}

static uint64_t find_covered_number(struct nfsd *d, const struct object *dir,
                                    const char *name, const struct mounted *m)
{
	uint64_t ino = find_listed_number(dir->path_fd, name);

	if (!ino)
		ino = make_place_number(m->place);
	if (m->id)
		crossing_learn(d, m->id, ino);
	return ino;
}

static void set_covered_attributes(uint64_t ino, struct statx *st)
{
	st->stx_ino = ino;
	st->stx_mode = S_IFDIR | 0555;
	st->stx_nlink = 2;
}

int covered_make(struct nfsd *d, struct object *dir, const char *name,
                 const struct mounted *m, const struct ident *id, struct handle *ret,
                 struct statx *ret_stx)
{
	uint64_t ino = m->covered;
	int e = 0;

	if (!ino) {
		if (ident_enter_server())
			return -EIO;
		ino = find_covered_number(d, dir, name, m);
		if (ident_enter(id))
			return -EIO;
	}
	handle_make_covered(d, dir->ex, ino, m->place, ret);
	e = statx_fd(dir->path_fd, "", ret_stx);
	if (!e)
		set_covered_attributes(ino, ret_stx);
	return e;
}

int covered_open(struct nfsd *d, struct export *ex, const struct handle *h, int *ret_fd)
{
	uint64_t ino, place, mount;
	char above[PATH_MAX];
	int fd, e = -EBADF;

	if (handle_covered(h, &ino, &place))
		e = crossing_covers(d, ex, place, above, sizeof(above));
	if (e)
		return e;
	fd = open_beneath(export_top(ex)->root_fd, above,
	                  O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? -ESTALE : fd;
	e = mount_id_of(fd, &mount);
	if (e || mount != ex->mnt_id) {
		close(fd);
		return e ? e : -ESTALE;
	}
	*ret_fd = fd;
	return 0;
}

int covered_stat(struct nfsd *d, struct export *ex, const struct handle *h, int fd,
                 struct statx *ret)
{
	uint64_t ino, place;
	char above[PATH_MAX];
	int e = -EBADF;

	if (handle_covered(h, &ino, &place))
		e = crossing_covers(d, ex, place, above, sizeof(above));
	if (!e)
		e = statx_fd(fd, "", ret);
	if (!e && !ret->stx_nlink)
		e = -ESTALE;
	if (!e)
		set_covered_attributes(ino, ret);
	return e;
}
