/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a job to servers.  A job has one call in flight at a time;
 * copy_job_on_op handles its completion. */
#include "client/copy.h"

#include <string.h>

#define CLEANUP_NS 3000000000u

static void send_job_call(struct copy_job *j, uint32_t proc, void *args)
{
	nfs_op_start(&j->op, proc, args, copy_job_on_op, j);
}

static diropargs3 temp_args(struct copy_job *j)
{
	return (diropargs3){nfs_fh_arg(&j->dir->fh), j->temp};
}

void copy_call_create(struct copy_job *j)
{
	CREATE3args a = {.where = temp_args(j), .how = {.mode = UNCHECKED}};
	sattr3 *s = &a.how.createhow3_u.obj_attributes;

	s->mode.set_it = true;
	s->mode.set_mode3_u.mode = (copy_place_mode(j) & 0777) | 0600;
	send_job_call(j, NFSPROC3_CREATE, &a);
}

void copy_call_lookup(struct copy_job *j, char *name)
{
	LOOKUP3args a = {.what = {nfs_fh_arg(&j->dir->fh), name}};

	send_job_call(j, NFSPROC3_LOOKUP, &a);
}

void copy_call_getattr(struct copy_job *j)
{
	GETATTR3args a = {.object = nfs_fh_arg(&j->old_fh)};

	send_job_call(j, NFSPROC3_GETATTR, &a);
}

void copy_call_readlink(struct copy_job *j)
{
	READLINK3args a = {.symlink = nfs_fh_arg(&j->src.fh)};

	nfs_op_fini(&j->op);
	nfs_op_init(&j->op, j->src.client);
	j->op.into = j->src.target;
	j->op.into_len = NFS3_PATH_BYTES;
	send_job_call(j, NFSPROC3_READLINK, &a);
}

void copy_call_symlink(struct copy_job *j)
{
	SYMLINK3args a = {.where = temp_args(j)};

	a.symlink.data_len = (uint32_t)strlen(j->src.target);
	if (j->copy->preserve) {
		copy_sattr(j->copy, &j->src.meta, 0, &a.symlink.symlink_attributes);
		a.symlink.symlink_attributes.mode.set_it = false;
	}
	nfs_op_fini(&j->op);
	nfs_op_init(&j->op, j->dir->client);
	j->op.item = j->src.target;
	j->op.item_len = a.symlink.data_len;
	send_job_call(j, NFSPROC3_SYMLINK, &a);
}

void copy_call_commit(struct copy_job *j)
{
	COMMIT3args a = {.file = nfs_fh_arg(&j->fh)};

	send_job_call(j, NFSPROC3_COMMIT, &a);
}

/* Sets the attributes, and the size if the file ends with a hole. */
void copy_call_setattr(struct copy_job *j)
{
	SETATTR3args a = {.object = nfs_fh_arg(&j->fh)};
	sattr3 *s = &a.new_attributes;

	if (j->phase == COPY_SETATTR && (!j->in_place || j->copy->preserve))
		copy_sattr(j->copy, &j->src.meta, copy_place_mode(j), s);
	s->size.set_it = j->phase == COPY_TRUNCATING || j->high != j->size;
	s->size.set_size3_u.size = j->phase == COPY_TRUNCATING ? 0 : j->size;
	send_job_call(j, NFSPROC3_SETATTR, &a);
}

void copy_call_own(struct copy_job *j)
{
	SETATTR3args a = {.object = nfs_fh_arg(&j->fh)};

	copy_sattr_owner(copy_place_owner(j), &a.new_attributes);
	send_job_call(j, NFSPROC3_SETATTR, &a);
}

void copy_call_rename(struct copy_job *j, char *from, char *to)
{
	RENAME3args a = {.from = {nfs_fh_arg(&j->dir->fh), from},
	                 .to = {nfs_fh_arg(&j->dir->fh), to}};

	send_job_call(j, NFSPROC3_RENAME, &a);
}

void copy_call_remove(struct copy_job *j)
{
	REMOVE3args a = {.object = temp_args(j)};

	nfs_op_fini(&j->op);
	nfs_op_init(&j->op, j->dir->client);
	j->op.timeout_ns = CLEANUP_NS;
	send_job_call(j, NFSPROC3_REMOVE, &a);
}
