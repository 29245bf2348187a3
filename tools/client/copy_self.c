/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether a source directory is also the destination directory that is being
 * filled.  For two handles from one export, comparing attributes is enough.  Otherwise
 * it is not: in another export the same directory has another fsid, a local directory
 * has no comparable fsid, and hosts have several names.  Only the file numbers can be
 * compared.  If they are equal, a file with a random name is made in one directory and
 * looked up in the other.
 */
#include "client/copy.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int make_probe(struct nfs_client *c, const struct nfs_fh *dir, char *name)
{
	CREATE3args a = {.where = {nfs_fh_arg(dir), name}, .how = {.mode = UNCHECKED}};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_CREATE, &a);
	nfs_op_fini(&op);
	return r;
}

static void remove_probe(struct nfs_client *c, const struct nfs_fh *dir, char *name)
{
	REMOVE3args a = {.object = {nfs_fh_arg(dir), name}};
	struct nfs_op op;

	nfs_op_init(&op, c);
	(void)nfs_op_run(&op, NFSPROC3_REMOVE,
	                 &a); /* on failure an empty file remains */
	nfs_op_fini(&op);
}

static bool has_probe(const struct copy_place *at, const char *name)
{
	struct nfs_fh fh;
	struct stat sb;
	fattr3 attr;

	if (at->client)
		return !nfs_lookup(at->client, at->fh, name, &fh, &attr);
	return !fstatat(at->fd, name, &sb, AT_SYMLINK_NOFOLLOW);
}

static bool probe_is_found(const struct copy_dir *d, const struct copy_place *at)
{
	char name[NFS_NAME_MAX + 1];
	bool found;
	int fd;

	copy_temp_name("", name);
	if (d->client) {
		if (make_probe(d->client, &d->fh, name))
			return false; /* no file can be made there, so no copy can recurse into it */
		found = has_probe(at, name);
		remove_probe(d->client, &d->fh, name);
		return found;
	}
	fd = openat(d->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	close(fd);
	found = has_probe(at, name);
	(void)unlinkat(d->fd, name, 0);
	return found;
}

bool copy_is_self(const struct copy_dir *d, const struct copy_place *at,
                  const struct copy_meta *m)
{
	if (m->fileid != d->fileid)
		return false;
	if (at->client && at->client == d->client)
		return m->fsid == d->fsid;
	return probe_is_found(d, at);
}
