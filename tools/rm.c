/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma rm: removes files and, with -r, directory trees on an NFS server.
 *
 * rm walks a tree by handles, depth first, and never follows a symbolic link.  It
 * enters a directory by the handle from LOOKUP, so that it cannot enter another file
 * that has taken the directory's name.  Some servers skip entries when others are
 * removed during a listing.  If a directory is not empty after a listing, rm therefore
 * lists it again, as long as each listing removes an entry.
 */
#include "client/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH  4096
#define MAX_SWEEPS 64 /* maximum number of listings of one directory */

struct rm {
	struct tool_common common;
	struct nfs_options nfs;
	bool recursive, force, ask;

	struct nfs_client *client; /* client for the current URL */
	bool failed;
};

/* Reports a failure.  Returns 0, or the error that ends the command. */
static int report_removal(struct rm *m, const char *text, int r)
{
	if (!r)
		return 0;
	m->failed = true;
	(void)nfs_report(m->client, "remove", text, r);
	return r == -EINTR || r == -EHOSTUNREACH || r == -ETIMEDOUT ? r : 0;
}

/* Removes one name.  Returns true if it was removed.  Sets @ret to the value of
 * report_removal. */
static bool remove_one(struct rm *m, const struct nfs_fh *dir, const char *name,
                       bool is_dir, const char *text, int *ret)
{
	int r;

	*ret = 0;
	if (m->ask && !tool_ask(is_dir ? "remove directory" : "remove", text))
		return false;
	r = nfs_remove(m->client, dir, name, is_dir);
	*ret = report_removal(m, text, r);
	if (!r && m->common.verbose)
		printf("removed %s%s\n", is_dir ? "directory " : "",
		       tool_quote_always(text));
	return !r;
}

static bool remove_dir(struct rm *m, const struct nfs_fh *parent, const char *name,
                       const struct nfs_fh *fh, const char *text, unsigned depth,
                       int *ret);

static bool remove_entry(struct rm *m, const struct nfs_fh *dir, const char *name,
                         const char *text, unsigned depth, int *ret)
{
	struct nfs_fh fh;
	fattr3 attr;
	/* The attributes in the listing may be those of an earlier file with this name.
	 */
	int r = nfs_lookup(m->client, dir, name, &fh, &attr);

	*ret = 0;
	if (r == (int)NFS3ERR_NOENT)
		return true;
	if (r) {
		*ret = report_removal(m, text, r);
		return false;
	}
	if (attr.type == NF3DIR)
		return remove_dir(m, dir, name, &fh, text, depth, ret);
	return remove_one(m, dir, name, false, text, ret);
}

/* Removes the entries of one listing.  Counts the removed and the remaining entries. */
static int sweep_dir(struct rm *m, const struct nfs_fh *fh, const char *text,
                     unsigned depth, unsigned *gone, unsigned *left)
{
	struct nfs_entry *e = malloc(sizeof(*e));
	int r = e ? 0 : -ENOMEM, status = 0;
	struct nfs_dir d;
	char *below;

	nfs_dir_open(&d, m->client, fh);
	while (!r && nfs_dir_next(&d, e, &status)) {
		below = url_join(text, e->name);
		if (below && remove_entry(m, fh, e->name, below, depth, &r))
			++*gone;
		else
			++*left;
		r = below ? r : -ENOMEM;
		free(below);
	}
	nfs_dir_close(&d);
	free(e);
	/* A cookie may become invalid while the directory shrinks. */
	if (!r && status == (int)NFS3ERR_BAD_COOKIE && *gone)
		return 0;
	if (!r && status) {
		++*left;
		r = report_removal(m, text, status);
	}
	return r;
}

static bool remove_dir(struct rm *m, const struct nfs_fh *parent, const char *name,
                       const struct nfs_fh *fh, const char *text, unsigned depth,
                       int *ret)
{
	unsigned gone, left, sweeps = 0;
	int r;

	*ret = 0;
	if (depth == MAX_DEPTH) {
		*ret = report_removal(m, text, -ELOOP);
		return false;
	}
	if (m->ask && !tool_ask("descend into directory", text))
		return false;
	do {
		gone = left = 0;
		*ret = sweep_dir(m, fh, text, depth + 1, &gone, &left);
		if (*ret || left)
			return false;
		if (m->ask && !tool_ask("remove directory", text))
			return false;
		r = nfs_remove(m->client, parent, name, true);
	} while (r == (int)NFS3ERR_NOTEMPTY && gone && ++sweeps < MAX_SWEEPS);
	*ret = report_removal(m, text, r);
	if (!r && m->common.verbose)
		printf("removed directory %s\n", tool_quote_always(text));
	return !r;
}

/* If the target must not be removed, as in rm(1), prints a message and returns true. */
static bool refuse_removal(const struct url *u, const struct nfs_node *node,
                           const char *text)
{
	const char *reason = url_ends_in_dots(u) ? "it ends in . or .."
	                     : !node->parent.len ? "it is an export"
	                                         : NULL;

	if (reason)
		tool_cannot("remove", text, reason);
	return reason;
}

static int rm_url(struct nfs_client *client, const char *text, const struct url *u,
                  void *arg)
{
	struct nfs_node node;
	struct rm *m = arg;
	int r = nfs_walk(client, u->path, 0, &node);

	m->client = client;
	if (r == (int)NFS3ERR_NOENT && m->force)
		return 0;
	if (!r && refuse_removal(u, &node, text)) {
		m->failed = true;
		return 0;
	}
	if (!r && u->slash && node.attr.type != NF3DIR)
		r = (int)NFS3ERR_NOTDIR;
	if (!r && node.attr.type == NF3DIR && !m->recursive)
		r = (int)NFS3ERR_ISDIR;
	if (r)
		return report_removal(m, text, r);
	if (node.attr.type == NF3DIR)
		(void)remove_dir(m, &node.parent, node.name, &node.fh, text, 0, &r);
	else
		(void)remove_one(m, &node.parent, node.name, false, text, &r);
	return r;
}

static const struct tool_option options[] = {
        {"recursive", "rR", NULL, "remove directories and their contents", NULL,
         TOOL_AT(TOOL_SET, struct rm, recursive)},
        {"force", "f", NULL, "ignore files that do not exist; never ask", NULL,
         TOOL_AT(TOOL_SET, struct rm, force)},
        {"interactive", "i", NULL, "ask before each removal", NULL,
         TOOL_AT(TOOL_SET, struct rm, ask)},
        NFS_OPTION_ROWS(struct rm, nfs),
        TOOL_COMMON_ROWS(struct rm, common),
};

static int run_rm(int argc, char **argv)
{
	struct rm m = {.nfs = NFS_OPTIONS};
	int r;

	r = tool_read_options(&tool_rm, &m, &m.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	m.ask &= !m.force;
	if (optind == argc && m.force)
		return TOOL_OK;
	r = nfs_run_each(&m.common, &m.nfs, true, argv + optind, rm_url, &m);
	return m.failed && r == TOOL_OK ? TOOL_FAILED : r;
}

const struct tool_command tool_rm = {
        .name = "rm",
        .summary = "remove files and trees of an NFS server",
        .usage = "usage: rpcrdma rm [OPTION]... URL...\n"
                 "Removes files and, with -r, directories of an NFS server.  URL is "
                 "nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server.",
        .notes = "Symbolic links are removed, never followed.  An export, and a path "
                 "that ends in . or .., is not removed.  -v prints each removal.\n\n"
                 "exit status: 0 success, 1 something was not removed, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_rm,
};
