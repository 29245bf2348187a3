/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts attributes and errors between Linux and the wire.    [RFC 1813 §2.5, 2.6]
 * Seconds on the wire are unsigned 32-bit numbers.  A time outside this range becomes
 * the nearest time within it.
 */
#include "op.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct {
	int error;
	nfsstat3 status;
} errors[] = {
        {0, NFS3_OK},
        {EPERM, NFS3ERR_PERM},
        {ENOENT, NFS3ERR_NOENT},
        {EIO, NFS3ERR_IO},
        {ENXIO, NFS3ERR_NXIO},
        {EACCES, NFS3ERR_ACCES},
        {EEXIST, NFS3ERR_EXIST},
        {EXDEV, NFS3ERR_XDEV},
        {ENODEV, NFS3ERR_NODEV},
        {ENOTDIR, NFS3ERR_NOTDIR},
        {EISDIR, NFS3ERR_ISDIR},
        {EINVAL, NFS3ERR_INVAL},
        {ELOOP, NFS3ERR_INVAL}, /* the file is a symbolic link (O_NOFOLLOW) */
        {EFBIG, NFS3ERR_FBIG},
        {EOVERFLOW, NFS3ERR_FBIG},
        {ENOSPC, NFS3ERR_NOSPC},
        {EROFS, NFS3ERR_ROFS},
        {EMLINK, NFS3ERR_MLINK},
        {ENAMETOOLONG, NFS3ERR_NAMETOOLONG},
        {ENOTEMPTY, NFS3ERR_NOTEMPTY},
        {EDQUOT, NFS3ERR_DQUOT},
        {ESTALE, NFS3ERR_STALE},
        {EBADF, NFS3ERR_BADHANDLE},
        {EAGAIN, NFS3ERR_JUKEBOX},
        {EBUSY, NFS3ERR_ACCES}, /* in use, such as a mount point */
        {ETXTBSY, NFS3ERR_ACCES},
        {ENOMEM, NFS3ERR_JUKEBOX},
        {ENOBUFS, NFS3ERR_JUKEBOX},
        {EMFILE, NFS3ERR_JUKEBOX},
        {ENFILE, NFS3ERR_JUKEBOX},
        {EOPNOTSUPP, NFS3ERR_NOTSUPP},
        {ENOSYS, NFS3ERR_NOTSUPP},
        {EMSGSIZE, NFS3ERR_TOOSMALL},
};

nfsstat3 nfs_status(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == -error)
			return errors[i].status;
	return NFS3ERR_IO;
}

static ftype3 make_ftype(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return NF3DIR;
	case S_IFBLK:
		return NF3BLK;
	case S_IFCHR:
		return NF3CHR;
	case S_IFLNK:
		return NF3LNK;
	case S_IFSOCK:
		return NF3SOCK;
	case S_IFIFO:
		return NF3FIFO;
	}
	return NF3REG;
}

static nfstime3 make_nfstime(const struct statx_timestamp *t)
{
	nfstime3 r = {0, t->tv_nsec};

	if (t->tv_sec > UINT32_MAX)
		r.seconds = UINT32_MAX;
	else if (t->tv_sec > 0)
		r.seconds = (uint32_t)t->tv_sec;
	return r;
}

void attr_from_statx(const struct export *ex, const struct statx *st, fattr3 *ret)
{
	*ret = (fattr3){
	        .type = make_ftype(st->stx_mode),
	        .mode = st->stx_mode & 07777,
	        .nlink = st->stx_nlink,
	        .uid = st->stx_uid,
	        .gid = st->stx_gid,
	        .size = st->stx_size,
	        .used = st->stx_blocks * 512,
	        .rdev = {st->stx_rdev_major, st->stx_rdev_minor},
	        .fsid = ex->fsid,
	        .fileid = st->stx_ino,
	        .atime = make_nfstime(&st->stx_atime),
	        .mtime = make_nfstime(&st->stx_mtime),
	        .ctime = make_nfstime(&st->stx_ctime),
	};
}

void attr_post_statx(const struct export *ex, const struct statx *st, post_op_attr *ret)
{
	ret->attributes_follow = TRUE;
	attr_from_statx(ex, st, &ret->post_op_attr_u.attributes);
}

void attr_post(struct object *o, post_op_attr *ret)
{
	struct statx st;

	if (o && !object_stat(o, &st))
		attr_post_statx(o->ex, &st, ret);
}

void attr_pre_statx(const struct statx *st, pre_op_attr *ret)
{
	wcc_attr *w = &ret->pre_op_attr_u.attributes;

	ret->attributes_follow = TRUE;
	w->size = st->stx_size;
	w->mtime = make_nfstime(&st->stx_mtime);
	w->ctime = make_nfstime(&st->stx_ctime);
}

int attr_check(const sattr3 *a)
{
	const nfstime3 *t;

	if (a->atime.set_it > SET_TO_CLIENT_TIME ||
	    a->mtime.set_it > SET_TO_CLIENT_TIME)
		return -EINVAL;
	t = &a->atime.set_atime_u.atime;
	if (a->atime.set_it == SET_TO_CLIENT_TIME && t->nseconds > 999999999)
		return -EINVAL;
	t = &a->mtime.set_mtime_u.mtime;
	if (a->mtime.set_it == SET_TO_CLIENT_TIME && t->nseconds > 999999999)
		return -EINVAL;
	/* The kernel interprets this ID as "no change". */
	if (a->uid.set_it && a->uid.set_uid3_u.uid == UINT32_MAX)
		return -EINVAL;
	if (a->gid.set_it && a->gid.set_gid3_u.gid == UINT32_MAX)
		return -EINVAL;
	if (a->size.set_it && a->size.set_size3_u.size > INT64_MAX)
		return -EFBIG;
	return 0;
}

static int set_object_size(struct nfsd *d, struct object *o, const struct ident *id,
                           uint64_t size)
{
	struct statx st;
	int fd, e;

	if (S_ISDIR(o->type))
		return -EISDIR;
	if (!S_ISREG(o->type))
		return -EINVAL;
	e = object_stat(o, &st);
	if (!e)
		e = object_write_fd(d, o, id, &st, &fd);
	if (e)
		return e;
	return ftruncate(fd, (off_t)size) ? -errno : 0;
}

static struct timespec time_to_set(time_how how, const nfstime3 *t)
{
	switch (how) {
	case SET_TO_SERVER_TIME:
		return (struct timespec){.tv_nsec = UTIME_NOW};
	case SET_TO_CLIENT_TIME:
		return (struct timespec){.tv_sec = t->seconds, .tv_nsec = t->nseconds};
	case DONT_CHANGE:
		break;
	}
	return (struct timespec){.tv_nsec = UTIME_OMIT};
}

static int set_object_times(struct object *o, const sattr3 *a)
{
	struct timespec ts[2] = {
	        time_to_set(a->atime.set_it, &a->atime.set_atime_u.atime),
	        time_to_set(a->mtime.set_it, &a->mtime.set_mtime_u.mtime),
	};

	if (a->atime.set_it == DONT_CHANGE && a->mtime.set_it == DONT_CHANGE)
		return 0;
	return utimensat(o->path_fd, "", ts, AT_EMPTY_PATH) ? -errno : 0;
}

static int set_object_mode(struct object *o, uint32_t mode)
{
	char path[32];

	if (S_ISLNK(o->type))
		return 0; /* the mode of a symbolic link cannot be set */
	object_proc_path(o, path);
	return chmod(path, mode & 07777) ? -errno : 0;
}

/* The order matters: changing the owner clears the set-user-ID and set-group-ID
 * bits. */
int attr_set(struct nfsd *d, struct object *o, const struct ident *id, const sattr3 *a)
{
	uid_t uid = a->uid.set_it ? a->uid.set_uid3_u.uid : (uid_t)-1;
	gid_t gid = a->gid.set_it ? a->gid.set_gid3_u.gid : (gid_t)-1;
	int e = attr_check(a);

	if (!e && a->size.set_it)
		e = set_object_size(d, o, id, a->size.set_size3_u.size);
	if (!e && (a->uid.set_it || a->gid.set_it))
		if (fchownat(o->path_fd, "", uid, gid,
		             AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
			e = -errno;
	if (!e && a->mode.set_it)
		e = set_object_mode(o, a->mode.set_mode3_u.mode);
	return e ? e : set_object_times(o, a);
}

int name_check(const char *name)
{
	size_t len = strlen(name);

	if (!len || memchr(name, '/', len))
		return -EINVAL;
	return len > NAME_MAX ? -ENAMETOOLONG : 0;
}

bool name_is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}
