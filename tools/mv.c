/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma mv: renames within one export of an NFS server.  If a rename would need a
 * copy, refuses it and prints the reason.
 */
#include "client/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct mv {
	struct tool_common common;
	struct loop loop;
	struct nfs_options nfs;
	bool keep, ask, force; /* -n, -i, -f */
	const char *target;    /* -t */

	struct nfs_client client;
	struct url dst;
	const char *dst_text;
	struct nfs_fh dir; /* the directory that receives the files */
	uint64_t dir_fileid;
	char name[NFS_NAME_MAX + 1]; /* "": sources keep their names */
};

/* ---- The destination ----------------------------------------------------- */

static int refuse_target(const struct mv *m)
{
	tool_error("target %s: %s", tool_quote_always(m->dst_text), strerror(ENOTDIR));
	return -ENOTDIR;
}

static int open_dst(struct mv *m, bool must_be_dir)
{
	struct nfs_node node;
	int r = nfs_walk(&m->client, m->dst.path, NFS_FOLLOW | NFS_MAKE, &node);

	if (!r && node.attr.type == NF3DIR) {
		m->dir = node.fh;
		m->dir_fileid = node.attr.fileid;
		return 0;
	}
	if (r == (int)NFS3ERR_NOENT && node.parent.len)
		r = 0;
	if (r)
		return nfs_report(&m->client, "access", m->dst_text, r);
	if (must_be_dir)
		return refuse_target(m);
	/* A destination that is a symbolic link to a file is replaced, not followed. */
	r = nfs_walk(&m->client, m->dst.path, NFS_MAKE, &node);
	if (r && r != (int)NFS3ERR_NOENT)
		return nfs_report(&m->client, "access", m->dst_text, r);
	m->dir = node.parent;
	snprintf(m->name, sizeof(m->name), "%s", node.name);
	return 0;
}

/* ---- Sources ------------------------------------------------------------- */

static int refuse_move(const char *src, const char *reason)
{
	tool_cannot("move", src, reason);
	return -EINVAL;
}

static int check_mv_export(struct mv *m, const char *text, struct url *u)
{
	if (strcmp(u->host, m->dst.host) || strcmp(u->port, m->dst.port))
		return refuse_move(
		        text,
		        "the destination is on another server; `rpcrdma cp` copies "
		        "there");
	if (!nfs_serves(&m->client, u))
		return refuse_move(
		        text,
		        "the destination is in another export; `rpcrdma cp` copies "
		        "there");
	return url_rebase(u, m->client.export);
}

/* Returns the path to which @name is renamed, for messages.  The caller frees the
 * path. */
static char *format_target(const struct mv *m, const char *name)
{
	return *m->name ? strdup(m->dst_text) : url_join(m->dst_text, name);
}

/* Decides whether to replace an existing target.  Returns 0 to replace it, 1 to leave
 * it, or prints a message and returns a negative value. */
static int judge_target(struct mv *m, const struct nfs_node *src, const fattr3 *old,
                        const char *from, const char *to)
{
	bool src_dir = src->attr.type == NF3DIR, old_dir = old->type == NF3DIR;

	if (m->keep)
		return 1;
	if (old->fileid == src->attr.fileid && old->fsid == src->attr.fsid) {
		tool_error("%s and %s are the same file", tool_quote_always(from),
		           tool_quote_always(to));
		return -EINVAL;
	}
	if (src_dir != old_dir) {
		tool_error("cannot overwrite %s %s with %s %s",
		           old_dir ? "directory" : "non-directory",
		           tool_quote_always(to),
		           src_dir ? "directory" : "non-directory",
		           tool_quote_always(from));
		return -EINVAL;
	}
	return m->ask && !tool_ask("overwrite", to);
}

static int refuse_into_itself(const char *from, const char *to)
{
	tool_error("cannot move %s to a subdirectory of itself, %s",
	           tool_quote_always(from), tool_quote_always(to));
	return -EINVAL;
}

static int move_node(struct mv *m, const struct nfs_node *src, const char *from,
                     const char *to)
{
	const char *name = *m->name ? m->name : src->name;
	struct nfs_fh fh;
	fattr3 old;
	int r;

	if (src->attr.type == NF3DIR && !*m->name && src->attr.fileid == m->dir_fileid)
		return refuse_into_itself(from, to);
	r = nfs_lookup(&m->client, &m->dir, name, &fh, &old);
	if (!r)
		r = judge_target(m, src, &old, from, to);
	else if (r == (int)NFS3ERR_NOENT)
		r = 0;
	else
		return nfs_report(&m->client, "access", to, r);
	if (r)
		return r < 0 ? r : 0;
	r = nfs_rename(&m->client, &src->parent, src->name, &m->dir, name,
	               src->attr.fileid);
	if (r == (int)NFS3ERR_INVAL && src->attr.type == NF3DIR)
		return refuse_into_itself(from, to);
	if (r && r != -EINTR)
		tool_error("cannot move %s to %s: %s", tool_quote_always(from),
		           tool_quote_always(to), nfs_status_text(&m->client, r));
	if (!r && m->common.verbose)
		printf("renamed %s -> %s\n", tool_quote_always(from),
		       tool_quote_always(to));
	return r;
}

static int move_url(struct mv *m, const char *text, struct url *u)
{
	struct nfs_node node;
	char *to;
	int r = check_mv_export(m, text, u);

	if (r)
		return r;
	r = nfs_walk_url(&m->client, u, 0, &node);
	if (r)
		return nfs_report(&m->client, "access", text, r);
	if (url_ends_in_dots(u))
		return refuse_move(text, "it ends in . or ..");
	if (!node.parent.len)
		return refuse_move(text, "it is an export");
	if (m->dst.slash && *m->name && node.attr.type != NF3DIR)
		return refuse_target(m);
	to = format_target(m, node.name);
	r = to ? move_node(m, &node, text, to) : -ENOMEM;
	free(to);
	return r;
}

/* ---- The whole ----------------------------------------------------------- */

static int move_all(struct mv *m, char **v, int n)
{
	int code = TOOL_OK, r = 0;
	struct url u;

	if (open_dst(m, n > 1 || m->target))
		return TOOL_FAILED;
	for (int i = 0; i < n && r != -EINTR; i++) {
		r = nfs_url(v[i], true, &u);
		if (!r) {
			r = move_url(m, v[i], &u);
			url_fini(&u);
		}
		if (r)
			code = TOOL_FAILED;
	}
	return code;
}

static int run_move(struct mv *m, char **v, int n)
{
	int code = TOOL_FAILED;

	if (nfs_url(m->dst_text, true, &m->dst))
		return tool_usage();
	if (loop_init(&m->loop, &m->common)) {
		url_fini(&m->dst);
		return code;
	}
	if (!nfs_open(&m->client, &m->loop, &m->dst, &m->nfs)) {
		code = move_all(m, v, n);
		nfs_close(&m->client);
	}
	url_fini(&m->dst);
	loop_fini(&m->loop);
	return loop_exit_code(code);
}

static const struct tool_option options[] = {
        {"force", "f", NULL, "do not ask before replacing", NULL,
         TOOL_AT(TOOL_SET, struct mv, force)},
        {"interactive", "i", NULL, "ask before replacing", NULL,
         TOOL_AT(TOOL_SET, struct mv, ask)},
        {"no-clobber", "n", NULL, "do not replace anything", NULL,
         TOOL_AT(TOOL_SET, struct mv, keep)},
        {"target-directory", "t", "DIR", "move all SRC into DIR", NULL,
         TOOL_AT(TOOL_TEXT, struct mv, target)},
        NFS_OPTION_ROWS(struct mv, nfs),
        TOOL_COMMON_ROWS(struct mv, common),
};

static int run_mv(int argc, char **argv)
{
	struct mv m = {.nfs = NFS_OPTIONS};
	char **v;
	int r, n;

	r = tool_read_options(&tool_mv, &m, &m.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	v = argv + optind;
	n = argc - optind;
	m.ask &= !m.force;
	m.dst_text = m.target ? m.target : n ? v[n - 1] : NULL;
	n -= !m.target;
	if (n < 1) {
		tool_error(n < 0 || m.target ? "missing source operand"
		                             : "missing destination operand");
		return tool_usage();
	}
	if (nfs_check_urls(v, true))
		return TOOL_USAGE;
	return run_move(&m, v, n);
}

const struct tool_command tool_mv = {
        .name = "mv",
        .summary = "rename files and directories of an NFS server",
        .usage = "usage: rpcrdma mv [OPTION]... SRC... DST\n"
                 "Renames files and directories of an NFS server, or moves them to "
                 "another directory of the same export.  SRC and DST are URLs, "
                 "nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server.",
        .notes = "-v prints each renaming.\n\n"
                 "exit status: 0 success, 1 something was not moved, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_mv,
};
