/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the destination of rpcrdma cp: a directory in which sources keep their names, a
 * name in a directory, or a stream.  The type of the object that DST leads to decides,
 * as in cp(1).  -T and backups change the rules for directories and symbolic links.
 */
#include "client/cp_dst.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report_dst(const char *act, const char *text, int error)
{
	tool_cannot(act, text, strerror(-error));
	return error;
}

static const char create[] = "create";

/* If DST is a symbolic link, returns true and sets @node to the link. */
static bool is_link(struct nfs_client *client, const char *path, struct nfs_node *node)
{
	struct nfs_node link;

	if (nfs_walk(client, path, 0, &link) || link.attr.type != NF3LNK)
		return false;
	*node = link;
	return true;
}

/* Returns true if the link DST is to be replaced: with -b, unless the link leads to a
 * directory. */
static bool replaces_link(const struct cp *c, bool to_dir)
{
	return c->copy.backup && (c->no_target_dir || !to_dir);
}

/* Refuses -T for a symbolic link to a directory.  -T rules out copying into the
 * directory, and without backups the link itself is not replaced. */
static int refuse_link(const char *text)
{
	tool_error("%s: a symbolic link to a directory; not replaced",
	           tool_quote_always(text));
	return -EISDIR;
}

/* If the symbolic link DST is to be replaced, sets @node to the link itself instead of
 * the object that DST leads to. */
static int resolve_dst_link(const struct cp *c, struct nfs_client *client,
                            const struct url *u, const char *text,
                            struct nfs_node *node)
{
	bool to_dir = node->attr.type == NF3DIR;
	struct nfs_node link;

	if (u->slash || !(c->no_target_dir || c->copy.backup) ||
	    !is_link(client, u->path, &link))
		return 0;
	if (replaces_link(c, to_dir))
		*node = link;
	return c->no_target_dir && to_dir && !c->copy.backup ? refuse_link(text) : 0;
}

/* Returns true if the copy gets the name DST itself, not a name in the directory DST.
 */
static bool has_name_there(const struct cp *c, const struct url *u,
                           const struct nfs_node *node, int r)
{
	if (!r)
		return !u->slash || (c->no_target_dir && node->attr.type == NF3DIR);
	return r == (int)NFS3ERR_NOENT && node->parent.len &&
	       (!u->slash || c->recursive);
}

static int open_remote_dst(struct cp *c, const char *text)
{
	struct nfs_node node;
	struct server *s;
	struct url u;
	int r;

	s = cp_server(c, text, &u);
	if (!s)
		return -EINVAL;
	r = nfs_walk(&s->client, u.path, NFS_FOLLOW | NFS_MAKE, &node);
	if (r == (int)NFS3ERR_NOENT && node.parent.len &&
	    is_link(&s->client, u.path, &node))
		c->copy.dangling = !c->copy.backup;
	if (r == 0 && (r = resolve_dst_link(c, &s->client, &u, text, &node))) {
		url_fini(&u);
		return r;
	}
	if (r == 0 && node.attr.type == NF3DIR &&
	    !(c->no_target_dir && node.parent.len)) {
		c->dir = copy_dir_remote(&c->copy, &s->client, &node.fh, &node.attr,
		                         text, false);
	} else if (has_name_there(c, &u, &node, r)) {
		/* @node has the attributes of the last directory on the path, which is
		 * the parent. */
		c->dir = copy_dir_remote(&c->copy, &s->client, &node.parent, &node.attr,
		                         text, true);
		c->name = strdup(node.name);
		r = 0;
	} else {
		r = nfs_report(&s->client, create, text, r ? r : (int)NFS3ERR_NOTDIR);
	}
	url_fini(&u);
	return r ? r : c->dir ? 0 : -ENOMEM;
}

/* Opens the parent of @path; @text is the name that the user gave. */
static int open_dst_parent(struct cp *c, const char *path, const char *text)
{
	char *a = strdup(path), *b = strdup(path);
	int fd = -1, r = a && b ? 0 : -ENOMEM;

	if (!r) {
		fd = copy_dir_open(AT_FDCWD, dirname(a), 0);
		r = fd < 0 ? -errno : 0;
	}
	if (!r) {
		c->dir = copy_dir_local(&c->copy, fd, text, true);
		c->name = strdup(basename(b));
		r = c->dir && c->name ? 0 : -ENOMEM;
	}
	free(a);
	free(b);
	return r;
}

/* Opens a DST that does not exist, or that is a symbolic link which leads nowhere or is
 * to be replaced. */
static int open_new_dst(struct cp *c, const char *path)
{
	size_t n = strlen(path);
	struct stat sb;
	int r;

	if (n && path[n - 1] == '/' && !c->recursive)
		return report_dst(create, path, -ENOTDIR);
	c->copy.dangling = lstat(path, &sb) == 0 && !c->copy.backup;
	r = open_dst_parent(c, path, path);
	return r ? report_dst(create, path, r) : 0;
}

/* Opens the parent of DST, or of the object that DST leads to if DST is a symbolic
 * link. */
static int open_named_dst(struct cp *c, const char *path)
{
	char real[PATH_MAX];
	int r = realpath(path, real) ? open_dst_parent(c, real, path) : -errno;

	return r ? report_dst(create, path, r) : 0;
}

static int open_local_dst(struct cp *c, const char *path)
{
	struct stat sb, link;
	bool is_dir;
	int fd;

	if (stat(path, &sb))
		return errno == ENOENT ? open_new_dst(c, path)
		                       : report_dst(create, path, -errno);
	is_dir = S_ISDIR(sb.st_mode);
	if (!lstat(path, &link) && S_ISLNK(link.st_mode)) {
		if (replaces_link(c, is_dir))
			return open_new_dst(c, path);
		if (c->no_target_dir && is_dir)
			return refuse_link(path);
	}
	if (S_ISREG(sb.st_mode) ||
	    (c->no_target_dir && is_dir && strcmp(path, "/") != 0))
		return open_named_dst(c, path);
	fd = is_dir ? copy_dir_open(AT_FDCWD, path, 0)
	            : open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return report_dst("open", path, -errno);
	if (is_dir)
		c->dir = copy_dir_local(&c->copy, fd, path, false);
	else
		c->stream = fd; /* data are written to a device or pipe; it is not
				   replaced */
	return 0;
}

int cp_open_dst(struct cp *c, const char *dst, int n_sources)
{
	int r = 0;

	c->stream = -1;
	c->dst = dst;
	if (!strcmp(dst, "-"))
		c->stream = STDOUT_FILENO;
	else if (url_is(dst))
		r = open_remote_dst(c, dst);
	else
		r = open_local_dst(c, dst);
	if (r)
		return r;
	if ((n_sources > 1 || c->target) && (c->name || c->stream >= 0)) {
		tool_error("target %s: %s", tool_quote_always(dst), strerror(ENOTDIR));
		return -ENOTDIR;
	}
	return 0;
}
