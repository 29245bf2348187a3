/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/change.h"

#include <string.h>

int nfs_remove(struct nfs_client *c, const struct nfs_fh *dir, const char *name,
               bool is_dir)
{
	REMOVE3args file = {.object = {nfs_fh_arg(dir), (char *)name}};
	RMDIR3args sub = {.object = {nfs_fh_arg(dir), (char *)name}};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = is_dir ? nfs_op_run(&op, NFSPROC3_RMDIR, &sub)
	           : nfs_op_run(&op, NFSPROC3_REMOVE, &file);
	nfs_op_fini(&op);
	return r == (int)NFS3ERR_NOENT ? 0 : r;
}

int nfs_rename(struct nfs_client *c, const struct nfs_fh *from, const char *name,
               const struct nfs_fh *to, const char *to_name, uint64_t fileid)
{
	RENAME3args a = {.from = {nfs_fh_arg(from), (char *)name},
	                 .to = {nfs_fh_arg(to), (char *)to_name}};
	struct nfs_op op;
	struct nfs_fh fh;
	fattr3 attr;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_RENAME, &a);
	nfs_op_fini(&op);
	if (r == (int)NFS3ERR_NOENT && !nfs_lookup(c, to, to_name, &fh, &attr) &&
	    attr.fileid == fileid)
		r = 0;
	return r;
}

static uint64_t count_retransmits(const struct nfs_client *c)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(c->link.loop->engine, &s, sizeof(s));
	return s.retransmits;
}

static int set_remote_mode(struct nfs_client *c, const struct nfs_fh *fh, uint32_t mode)
{
	SETATTR3args a = {.object = nfs_fh_arg(fh)};
	struct nfs_op op;
	int r;

	a.new_attributes.mode.set_it = true;
	a.new_attributes.mode.set_mode3_u.mode = mode;
	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_SETATTR, &a);
	nfs_op_fini(&op);
	return r;
}

int nfs_mkdir_new(struct nfs_client *c, const struct nfs_fh *dir, const char *name,
                  uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr)
{
	uint64_t before = count_retransmits(c);
	bool made;
	int r = nfs_mkdir(c, dir, name, mode, ret_fh, ret_attr, &made);

	if (r == (int)NFS3ERR_NOTDIR || (!r && !made && count_retransmits(c) == before))
		return (int)NFS3ERR_EXIST;
	if (!r && (ret_attr->mode & 07777) != mode)
		r = set_remote_mode(c, ret_fh, mode);
	return r;
}

bool url_ends_in_dots(const struct url *u)
{
	const char *last = strrchr(u->path, '/');

	last = last ? last + 1 : u->path;
	return !strcmp(last, ".") || !strcmp(last, "..");
}
