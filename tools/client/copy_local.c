/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's steps at a local destination.  Each ends at once and returns 0 or -errno. */
#include "client/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int copy_local_look(struct copy_job *j)
{
	struct stat sb;

	if (!fstatat(j->dir->fd, j->name, &sb, AT_SYMLINK_NOFOLLOW))
		copy_meta_from_stat(&sb, &j->old);
	else if (errno != ENOENT)
		return -errno;
	return 0;
}

static int note_local_owner(struct copy_job *j)
{
	struct stat sb;

	if (fstat(j->fd, &sb))
		return -errno;
	j->have_owner = true;
	j->uid = sb.st_uid;
	j->gid = sb.st_gid;
	return 0;
}

int copy_local_create(struct copy_job *j)
{
	j->fd = openat(j->dir->fd, j->temp,
	               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return j->fd < 0 ? -errno : note_local_owner(j);
}

int copy_local_link(struct copy_job *j)
{
	struct timespec t[2] = {
	        {j->src.meta.atime.seconds, j->src.meta.atime.nseconds},
	        {j->src.meta.mtime.seconds, j->src.meta.mtime.nseconds}};

	if (symlinkat(j->src.target, j->dir->fd, j->temp))
		return -errno;
	if (j->copy->preserve)
		(void)utimensat(j->dir->fd, j->temp, t,
		                AT_SYMLINK_NOFOLLOW); /* not required */
	return 0;
}

int copy_local_open(struct copy_job *j)
{
	struct stat sb;

	j->fd = openat(j->dir->fd, j->name,
	               O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (j->fd < 0 || fstat(j->fd, &sb))
		return -errno;
	if (!S_ISREG(sb.st_mode) || sb.st_ino != j->old.fileid)
		return -ESTALE; /* the file was replaced in the meantime */
	return note_local_owner(j);
}

int copy_local_own(struct copy_job *j, const struct copy_meta *m)
{
	if (j->src.kind == COPY_FILE)
		return copy_own_local(j->fd, m);
	return fchownat(j->dir->fd, j->temp, m->uid, m->gid, AT_SYMLINK_NOFOLLOW)
	               ? -errno
	               : 0;
}

int copy_local_drop(struct copy_job *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
	return unlinkat(j->dir->fd, j->temp, 0) ? -errno : 0;
}

int copy_local_set(struct copy_job *j)
{
	struct stat sb;

	if (fstat(j->fd, &sb))
		return -errno;
	if ((uint64_t)sb.st_size != j->size && ftruncate(j->fd, (off_t)j->size))
		return -errno;
	if (j->in_place && !j->copy->preserve)
		return 0;
	return copy_set_local(j->copy, j->fd, &j->src.meta, copy_place_mode(j));
}

int copy_local_sync(const struct copy_job *j)
{
	if (j->fd >= 0 && j->old.type && !j->in_place && fsync(j->fd) &&
	    errno != EINVAL)
		return -errno;
	return 0;
}

int copy_local_rename(struct copy_job *j)
{
	int fd = j->fd, r = j->backed ? 0 : copy_local_sync(j);

	if (r)
		return r;
	j->fd = -1;
	if (fd >= 0 && close(fd))
		return -errno; /* a quota may be exceeded here */
	if (j->in_place)
		return 0;
	return renameat(j->dir->fd, j->temp, j->dir->fd, j->name) ? -errno : 0;
}
