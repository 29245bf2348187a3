/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles the results of a job's calls: ends each phase that has called a server, and
 * begins the next phase.
 *
 * If a reply is lost with the connection, the call may be executed twice.  Therefore
 * CREATE is UNCHECKED and sets no size.  If SYMLINK under a random name returns EXIST,
 * the link has already been made.  If RENAME returns NOENT, a LOOKUP shows whether the
 * file is in place.
 */
#include "client/copy_phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void note_owner(struct copy_job *j, const fattr3 *a)
{
	j->fileid = a->fileid;
	j->have_owner = true;
	j->uid = a->uid;
	j->gid = a->gid;
}

static void judge_inspected(struct copy_job *j, const fattr3 *a)
{
	copy_meta_from_attr(a, &j->old);
	copy_place_judge(j);
	if (j->status || j->skipped)
		copy_job_clean(j);
	else
		copy_phase_new(j);
}

static void after_inspection(struct copy_job *j)
{
	const LOOKUP3resok *ok = &j->op.res.lookup.LOOKUP3res_u.resok;

	if (j->op.status) /* NOENT: there is no existing file */
		copy_phase_new(j);
	else if (j->op.proc == NFSPROC3_GETATTR)
		judge_inspected(j,
		                &j->op.res.getattr.GETATTR3res_u.resok.obj_attributes);
	else if (nfs_fh_take(&ok->object, &j->old_fh)) {
		copy_job_fail(j, COPY_TARGET, -EBADMSG, NULL);
		copy_job_clean(j);
	} else if (ok->obj_attributes.attributes_follow) {
		judge_inspected(j, &ok->obj_attributes.post_op_attr_u.attributes);
	} else {
		copy_call_getattr(j);
	}
}

static bool take_created(struct copy_job *j, const post_op_fh3 *fh,
                         const post_op_attr *attr)
{
	if (!attr->attributes_follow || !fh->handle_follows ||
	    nfs_fh_take(&fh->post_op_fh3_u.handle, &j->fh))
		return false;
	note_owner(j, &attr->post_op_attr_u.attributes);
	return true;
}

static void after_create(struct copy_job *j)
{
	const CREATE3resok *ok = &j->op.res.create.CREATE3res_u.resok;

	if (take_created(j, &ok->obj, &ok->obj_attributes))
		copy_phase_made(j);
	else
		copy_phase_begin(j, COPY_LOOKING);
}

static void after_lookup(struct copy_job *j)
{
	const LOOKUP3resok *ok = &j->op.res.lookup.LOOKUP3res_u.resok;

	if (nfs_fh_take(&ok->object, &j->fh))
		copy_job_fail(j, COPY_TARGET, -EBADMSG, NULL);
	if (ok->obj_attributes.attributes_follow)
		note_owner(j, &ok->obj_attributes.post_op_attr_u.attributes);
	copy_phase_made(j);
}

static void after_readlink(struct copy_job *j)
{
	j->src.target[j->op.got] = 0;
	if (!j->op.got || strlen(j->src.target) != j->op.got)
		copy_job_fail(j, COPY_SOURCE, -EBADMSG, NULL);
	copy_phase_begin(j, COPY_SYMLINK);
}

static void after_symlink(struct copy_job *j)
{
	const SYMLINK3resok *ok = &j->op.res.symlink.SYMLINK3res_u.resok;

	if (j->op.status || !take_created(j, &ok->obj, &ok->obj_attributes))
		copy_phase_begin(
		        j, COPY_LOOKING); /* EXIST: an earlier execution made it */
	else
		copy_phase_made(j);
}

static void after_commit(struct copy_job *j)
{
	const COMMIT3resok *ok = &j->op.res.commit.COMMIT3res_u.resok;

	j->phase = COPY_COPYING;
	if (j->have_verf && memcmp(ok->verf, j->verf, sizeof(j->verf)))
		j->rewind = true;
	else
		copy_data_committed(j);
	copy_job_go(j);
}

static void after_check(struct copy_job *j)
{
	const post_op_attr *a = &j->op.res.lookup.LOOKUP3res_u.resok.obj_attributes;

	j->made = false;
	if (!a->attributes_follow || a->post_op_attr_u.attributes.fileid != j->fileid)
		copy_job_fail(j, COPY_TARGET, (int)NFS3ERR_NOENT,
		              "the temporary file was removed by another program");
	if (j->status)
		copy_job_clean(j);
	else
		copy_job_end(j);
}

/* Returns true if the job continues despite this error, in the next phase or a
 * different phase. */
static bool forgive_status(struct copy_job *j)
{
	int status = j->op.status;

	switch (j->phase) {
	case COPY_INSPECTING:
		return status == (int)NFS3ERR_NOENT && j->op.proc == NFSPROC3_LOOKUP;
	case COPY_CREATING:
		return copy_not_allowed(status) && copy_place_kept(j) && !j->forced;
	case COPY_TRUNCATING:
		return copy_not_allowed(status) && copy_job_forces(j);
	case COPY_SYMLINK:
		return status == (int)NFS3ERR_EXIST;
	case COPY_OWNING: /* not required, as in cp(1) */
		return copy_not_allowed(status) || status == (int)NFS3ERR_INVAL ||
		       status == (int)NFS3ERR_NOTSUPP;
	case COPY_SETATTR:
		if (j->no_setid || !copy_not_allowed(status) ||
		    !(copy_place_mode(j) & ~0777u))
			return false;
		j->no_setid = true;
		return true;
	case COPY_BACKING:
		return status == (int)NFS3ERR_NOENT;
	case COPY_RENAMING:
		return status == (int)NFS3ERR_NOENT && j->fileid;
	case COPY_RESTORING:
		copy_job_report_backup(j);
		return true;
	case COPY_REMOVING:
		if (status != (int)NFS3ERR_NOENT)
			copy_job_report_left(j, " remains on the server");
		return true;
	case COPY_WAITING:
	case COPY_LOOKING:
	case COPY_READLINK:
	case COPY_COPYING:
	case COPY_COMMITTING:
	case COPY_CHECKING:
		break;
	}
	return false;
}

/* ---- By phase ------------------------------------------------------------------- */

static void after_creating(struct copy_job *j)
{
	if (j->op.status)
		copy_phase_replace(j);
	else
		after_create(j);
}

static void after_owning(struct copy_job *j)
{
	copy_phase_owned(j, j->op.status == 0);
}

static void after_truncating(struct copy_job *j)
{
	if (j->op.status)
		copy_phase_forced(j);
	else
		copy_phase_begin(j, COPY_COPYING);
}

static void after_setattr(struct copy_job *j)
{
	copy_phase_begin(j, j->op.status ? COPY_SETATTR : COPY_RENAMING);
}

/* NOENT means that an earlier execution of this RENAME renamed the old file, or that
 * another program removed the file. */
static void after_backing(struct copy_job *j)
{
	if (j->op.status)
		*j->backup = 0;
	copy_phase_begin(j, COPY_RENAMING);
}

/* Ends a job whose backup was renamed back. copy_job_end reports why the job failed. */
static void after_restoring(struct copy_job *j)
{
	j->backed = false;
	copy_job_clean(j);
}

static void after_rename(struct copy_job *j)
{
	if (j->op.status)
		copy_phase_begin(j, COPY_CHECKING);
	else
		copy_job_end(j);
}

static void after_removal(struct copy_job *j)
{
	if (j->status)
		copy_job_end(j);
	else
		copy_phase_in_place(j);
}

/* The function that ends each phase after its call has completed.  COPY_WAITING and
 * COPY_COPYING have no function: the calls of directories and slots end these phases.
 */
static void (*const after[])(struct copy_job *) = {
        [COPY_WAITING] = NULL,
        [COPY_INSPECTING] = after_inspection,
        [COPY_CREATING] = after_creating,
        [COPY_LOOKING] = after_lookup,
        [COPY_READLINK] = after_readlink,
        [COPY_SYMLINK] = after_symlink,
        [COPY_OWNING] = after_owning,
        [COPY_COPYING] = NULL,
        [COPY_COMMITTING] = after_commit,
        [COPY_TRUNCATING] = after_truncating,
        [COPY_SETATTR] = after_setattr,
        [COPY_BACKING] = after_backing,
        [COPY_RENAMING] = after_rename,
        [COPY_RESTORING] = after_restoring,
        [COPY_CHECKING] = after_check,
        [COPY_REMOVING] = after_removal,
};

void copy_job_on_op(struct nfs_op *op, void *arg)
{
	struct copy_job *j = arg;

	if (j->phase == COPY_TRUNCATING && op->status <= 0)
		j->truncated =
		        j->in_place; /* after a negative status, the call may have been
					executed */
	if (j->phase == COPY_BACKING && !op->status)
		j->backed = true;
	if (op->status && !forgive_status(j))
		copy_job_fail(j, j->phase == COPY_READLINK ? COPY_SOURCE : COPY_TARGET,
		              op->status, NULL);
	if (j->phase == COPY_RENAMING && !op->status)
		j->status = 0; /* RENAME succeeded despite a signal, so the copy is
				  complete */
	if ((j->phase == COPY_CREATING || j->phase == COPY_SYMLINK) && op->status > 0 &&
	    op->status < NFS_RPC && op->status != (int)NFS3ERR_EXIST)
		j->made = false; /* the server did not make it */
	if (j->status && j->phase != COPY_REMOVING && j->phase != COPY_RESTORING)
		copy_job_clean(j);
	else
		after[j->phase](j);
}
