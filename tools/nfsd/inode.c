/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Procedures on one object: GETATTR SETATTR ACCESS READLINK, and the procedures that
 * describe its file system: FSSTAT FSINFO PATHCONF.
 *                                           [RFC 1813 §3.3.1, 2, 4, 5, 18-20]
 */
#include "op.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

void op_getattr(struct op *op)
{
	struct statx st;
	int e = op_object(op, &op->args.getattr.object, &op->obj);

	if (!e)
		e = object_stat(op->obj, &st);
	op->res.status = nfs_status(e);
	if (!e)
		attr_from_statx(op->obj->ex, &st,
		                &op->res.getattr.GETATTR3res_u.resok.obj_attributes);
}

/* Compares the object's ctime with the ctime that the client expects.  Returns 0 or
 * -EALREADY. */
static int check_guard(const sattrguard3 *guard, const struct statx *before)
{
	const nfstime3 *a = &guard->sattrguard3_u.obj_ctime, *b;
	pre_op_attr now;

	if (!guard->check)
		return 0;
	attr_pre_statx(before, &now);
	b = &now.pre_op_attr_u.attributes.ctime;
	return a->seconds == b->seconds && a->nseconds == b->nseconds ? 0 : -EALREADY;
}

void op_setattr(struct op *op)
{
	const SETATTR3args *a = &op->args.setattr;
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	struct statx st;
	int e = object_get(op->nfsd, &a->object, &op->id, &op->obj);

	if (!e)
		e = wcc_lock(op, op->obj, NULL);
	if (!e)
		e = object_stat(op->obj, &st);
	if (!e) {
		wcc_before(op->obj, &st, &wcc.before);
		e = op->may.read_only || op->obj->covered ? -EROFS
		                                          : check_guard(&a->guard, &st);
	}
	if (!e)
		e = attr_set(op->nfsd, op->obj, &op->id, &a->new_attributes);
	op->res.status = e == -EALREADY ? NFS3ERR_NOT_SYNC : nfs_status(e);
	attr_post(op->obj, &wcc.after);
	/* resok and resfail have the same form */
	op->res.setattr.SETATTR3res_u.resok.obj_wcc = wcc;
	if (!e)
		op_sync_change(op, op->obj);
}

static uint32_t compute_access(const struct op *op, uint32_t asked)
{
	const struct object *o = op->obj;
	bool dir = S_ISDIR(o->type);
	uint32_t write = ACCESS3_MODIFY | ACCESS3_EXTEND | (dir ? ACCESS3_DELETE : 0);
	uint32_t exec = dir ? ACCESS3_LOOKUP : ACCESS3_EXECUTE, bits = 0;

	if (asked & ACCESS3_READ && !object_access(o, R_OK))
		bits |= ACCESS3_READ;
	if (asked & write && !op->may.read_only && !object_access(o, W_OK))
		bits |= write;
	if (asked & exec && !object_access(o, X_OK))
		bits |= exec;
	return bits & asked;
}

void op_access(struct op *op)
{
	ACCESS3resok *ok = &op->res.access.ACCESS3res_u.resok;
	struct statx st;
	int e = object_get(op->nfsd, &op->args.access.object, &op->id, &op->obj);

	if (!e)
		e = object_stat(op->obj, &st);
	op->res.status = nfs_status(e);
	if (e)
		return;
	attr_post_statx(op->obj->ex, &st, &ok->obj_attributes);
	ok->access = compute_access(op, op->args.access.access);
}

void op_readlink(struct op *op)
{
	READLINK3resok *ok = &op->res.readlink.READLINK3res_u.resok;
	char *path = NULL;
	ssize_t n = 0;
	int e = object_get(op->nfsd, &op->args.readlink.symlink, &op->id, &op->obj);

	if (!e && !S_ISLNK(op->obj->type))
		e = -EINVAL;
	if (!e) {
		path = op_alloc(op, NFS3_PATH_BYTES);
		n = path ? readlinkat(op->obj->path_fd, "", path, NFS3_PATH_BYTES) : 0;
		e = !path ? -ENOMEM : n < 0 ? -errno : 0;
	}
	op->res.status = nfs_status(e);
	/* resok and resfail both begin with symlink_attributes. */
	attr_post(op->obj, &ok->symlink_attributes);
	if (e)
		return;
	ok->data_len = (uint32_t)n;
	op->tail = (struct rpcrdma_piece){path, (size_t)n, true};
}

/* Reads the statistics of the file system that contains @fh, and the attributes of @fh.
 * Returns 0 or a negative errno. */
static int stat_filesystem(struct op *op, const nfs_fh3 *fh, struct statvfs *ret,
                           post_op_attr *ret_attr)
{
	int e = object_get(op->nfsd, fh, &op->id, &op->obj);

	if (!e && fstatvfs(op->obj->path_fd, ret))
		e = -errno;
	op->res.status = nfs_status(e);
	/* In every caller's results, both resok and resfail begin with @ret_attr. */
	attr_post(op->obj, ret_attr);
	return e;
}

void op_fsstat(struct op *op)
{
	FSSTAT3resok *ok = &op->res.fsstat.FSSTAT3res_u.resok;
	struct statvfs v;

	if (stat_filesystem(op, &op->args.fsstat.fsroot, &v, &ok->obj_attributes))
		return;
	ok->tbytes = (uint64_t)v.f_blocks * v.f_frsize;
	ok->fbytes = (uint64_t)v.f_bfree * v.f_frsize;
	ok->abytes = (uint64_t)v.f_bavail * v.f_frsize;
	ok->tfiles = v.f_files;
	ok->ffiles = v.f_ffree;
	ok->afiles = v.f_favail;
}

void op_fsinfo(struct op *op)
{
	FSINFO3resok *ok = &op->res.fsinfo.FSINFO3res_u.resok;
	int e = object_get(op->nfsd, &op->args.fsinfo.fsroot, &op->id, &op->obj);

	op->res.status = nfs_status(e);
	attr_post(op->obj, &ok->obj_attributes);
	if (e)
		return;
	ok->rtmax = ok->rtpref = ok->wtmax = ok->wtpref = NFSD_MAX_IO;
	ok->rtmult = ok->wtmult = 4096;
	ok->dtpref = NFSD_MAX_DIR;
	ok->maxfilesize = INT64_MAX; /* largest file offset in Linux system calls */
	ok->time_delta = (nfstime3){0, 1};
	ok->properties = FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME;
}

void op_pathconf(struct op *op)
{
	PATHCONF3resok *ok = &op->res.pathconf.PATHCONF3res_u.resok;
	struct statvfs v;
	long links;

	if (stat_filesystem(op, &op->args.pathconf.object, &v, &ok->obj_attributes))
		return;
	links = fpathconf(op->obj->path_fd, _PC_LINK_MAX);
	ok->linkmax = links > 0 && links < UINT32_MAX ? (uint32_t)links : UINT32_MAX;
	ok->name_max = v.f_namemax < NAME_MAX ? (uint32_t)v.f_namemax : NAME_MAX;
	ok->no_trunc = TRUE;
	ok->chown_restricted = TRUE;
	ok->case_insensitive = FALSE;
	ok->case_preserving = TRUE;
}
