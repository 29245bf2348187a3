/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simple blocking calls, and the walk along a path.
 *
 * The client follows symbolic links in the path, as the protocol requires.  It refuses
 * a link with an absolute target, since only the server's host can resolve such a link.
 *                                                                [RFC 1813 §3.3.5]
 */
#include "client/nfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS 40

int nfs_getattr(struct nfs_client *c, const struct nfs_fh *fh, fattr3 *ret)
{
	GETATTR3args a = {.object = nfs_fh_arg(fh)};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_GETATTR, &a);
	if (!r)
		*ret = op.res.getattr.GETATTR3res_u.resok.obj_attributes;
	nfs_op_fini(&op);
	return r;
}

int nfs_lookup(struct nfs_client *c, const struct nfs_fh *dir, const char *name,
               struct nfs_fh *ret_fh, fattr3 *ret_attr)
{
	LOOKUP3args a = {.what = {nfs_fh_arg(dir), (char *)name}};
	const LOOKUP3resok *ok;
	struct nfs_fh fh;
	struct nfs_op op;
	bool have_attr = false;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_LOOKUP, &a);
	if (!r) {
		ok = &op.res.lookup.LOOKUP3res_u.resok;
		r = nfs_fh_take(&ok->object, &fh);
		have_attr = ok->obj_attributes.attributes_follow;
		if (have_attr)
			*ret_attr = ok->obj_attributes.post_op_attr_u.attributes;
	}
	nfs_op_fini(&op);
	if (!r && !have_attr)
		r = nfs_getattr(c, &fh, ret_attr);
	if (!r)
		*ret_fh = fh;
	return r;
}

int nfs_readlink(struct nfs_client *c, const struct nfs_fh *fh, char *buf, size_t size)
{
	READLINK3args a = {.symlink = nfs_fh_arg(fh)};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	op.into = buf;
	op.into_len = (uint32_t)size - 1;
	r = nfs_op_run(&op, NFSPROC3_READLINK, &a);
	if (!r) {
		buf[op.got] = 0;
		if (strlen(buf) != op.got || op.got == 0)
			r = -EBADMSG;
	}
	nfs_op_fini(&op);
	return r;
}

int nfs_mkdir(struct nfs_client *c, const struct nfs_fh *dir, const char *name,
              uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr, bool *ret_made)
{
	MKDIR3args a = {.where = {nfs_fh_arg(dir), (char *)name}};
	struct nfs_op op;
	int r;

	a.attributes.mode.set_it = true;
	a.attributes.mode.set_mode3_u.mode = mode;
	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_MKDIR, &a);
	nfs_op_fini(&op);
	*ret_made = r == 0;
	if (r && r != (int)NFS3ERR_EXIST)
		return r;
	/* A call that was repeated after a reconnect may find the directory that it has
	 * made itself. */
	r = nfs_lookup(c, dir, name, ret_fh, ret_attr);
	return r ? r : ret_attr->type == NF3DIR ? 0 : (int)NFS3ERR_NOTDIR;
}

/* ---- Paths ---------------------------------------------------------------------- */

/* The rest of the path, in a heap buffer that grows when symbolic links are inserted.
 */
struct walk {
	struct nfs_client *client;
	char *rest;
	unsigned links;
};

/* Inserts @target before the rest of the path. */
static int splice_link(struct walk *w, const char *target)
{
	size_t a = strlen(target), b = strlen(w->rest);
	char *joined;

	if (*target == '/')
		return -EXDEV;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	joined = malloc(a + 1 + b + 1);
	if (!joined)
		return -ENOMEM;
	memcpy(joined, target, a);
	joined[a] = '/';
	memcpy(joined + a + 1, w->rest, b + 1);
	free(w->rest);
	w->rest = joined;
	return 0;
}

/* Removes the next name from the path.  Returns false at the end of the path. */
static bool next_name(struct walk *w, char *name, int *ret_status)
{
	char *s = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(s, "/");

	*ret_status = 0;
	if (!n)
		return false;
	if (n > NFS_NAME_MAX) {
		*ret_status = (int)NFS3ERR_NAMETOOLONG;
		return false;
	}
	memcpy(name, s, n);
	name[n] = 0;
	memmove(w->rest, s + n, strlen(s + n) + 1);
	return true;
}

static bool at_end(const struct walk *w)
{
	return w->rest[strspn(w->rest, "/")] == 0;
}

static int step_link(struct walk *w, const struct nfs_fh *fh)
{
	char *target = malloc(NFS3_PATH_BYTES + 1);
	int r = -ENOMEM;

	if (target)
		r = nfs_readlink(w->client, fh, target, NFS3_PATH_BYTES + 1);
	if (!r)
		r = splice_link(w, target);
	free(target);
	return r;
}

static int step_name(struct walk *w, const char *name, int flags, struct nfs_node *node)
{
	struct nfs_fh fh;
	fattr3 attr;
	int r;

	if (node->attr.type != NF3DIR)
		return (int)NFS3ERR_NOTDIR;
	r = nfs_lookup(w->client, &node->fh, name, &fh, &attr);
	if (r == (int)NFS3ERR_NOENT && (flags & NFS_MAKE) && at_end(w)) {
		node->parent = node->fh;
		snprintf(node->name, sizeof(node->name), "%s", name);
		return r;
	}
	if (r)
		return r;
	if (attr.type == NF3LNK && (!at_end(w) || (flags & NFS_FOLLOW)))
		return step_link(w, &fh);
	node->parent = node->fh;
	node->fh = fh;
	node->attr = attr;
	snprintf(node->name, sizeof(node->name), "%s", name);
	return 0;
}

int nfs_walk(struct nfs_client *c, const char *path, int flags, struct nfs_node *ret)
{
	return nfs_walk_from(c, &c->root, &c->root_attr, path, flags, ret);
}

int nfs_walk_url(struct nfs_client *c, const struct url *u, int flags,
                 struct nfs_node *ret)
{
	int r = nfs_walk(c, u->path, flags, ret);

	if (!r && u->slash && ret->attr.type != NF3DIR)
		r = (int)NFS3ERR_NOTDIR;
	return r;
}

int nfs_walk_from(struct nfs_client *c, const struct nfs_fh *dir, const fattr3 *attr,
                  const char *path, int flags, struct nfs_node *ret)
{
	struct walk w = {.client = c, .rest = strdup(path)};
	char name[NFS_NAME_MAX + 1];
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->fh = *dir;
	ret->attr = *attr;
	if (!w.rest)
		return -ENOMEM;
	while (!r && next_name(&w, name, &r))
		if (strcmp(name, "."))
			r = step_name(&w, name, flags, ret);
		else if (ret->attr.type != NF3DIR)
			r = (int)NFS3ERR_NOTDIR;
	free(w.rest);
	return r;
}
