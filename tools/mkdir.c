/* SPDX-License-Identifier: BSD-3-Clause */
/* rpcrdma mkdir: makes directories on an NFS server. */
#include "client/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct mkdir_tool {
	struct tool_common common;
	struct nfs_options nfs;
	bool parents, exact; /* -p, -m */
	uint32_t mode, umask;
};

static int take_mode(void *to, const char *arg)
{
	struct mkdir_tool *m = to;
	char *end;
	unsigned long v = strtoul(arg, &end, 8);

	if (*arg < '0' || *arg > '7' || *end || v > 07777) {
		tool_error("--mode: %s is not an octal number up to 7777",
		           tool_quote_always(arg));
		return -EINVAL;
	}
	m->mode = (uint32_t)v;
	m->exact = true;
	return 0;
}

static uint32_t choose_last_mode(const struct mkdir_tool *m)
{
	return m->exact ? m->mode : 0777 & ~m->umask;
}

static void print_made(const struct mkdir_tool *m, const char *name)
{
	if (m->common.verbose)
		printf("created directory %s\n", tool_quote_always(name));
}

/* Returns a copy of the URL with its path cut after @end octets.  The caller frees the
 * copy. */
static char *format_parent_url(const struct nfs_client *c, const char *path, size_t end)
{
	size_t size = strlen(c->link.host) + strlen(c->export) + end + 16;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "nfs://%s%s/%.*s", c->link.host,
		         strcmp(c->export, "/") ? c->export : "", (int)end, path);
	return text;
}

static int make_one(struct mkdir_tool *m, struct nfs_client *client,
                    const struct url *u, const char *text)
{
	struct nfs_node node;
	int r = nfs_walk(client, u->path, NFS_MAKE, &node);

	if (!r)
		return (int)NFS3ERR_EXIST;
	if (r != (int)NFS3ERR_NOENT || !node.parent.len)
		return r;
	r = nfs_mkdir_new(client, &node.parent, node.name, choose_last_mode(m),
	                  &node.fh, &node.attr);
	if (!r)
		print_made(m, text);
	return r;
}

/* Looks up the directory @name, and makes it if it does not exist. */
static int enter_or_make(struct mkdir_tool *m, struct nfs_client *client,
                         struct nfs_node *node, const char *name, const char *text,
                         bool last)
{
	uint32_t mode = last ? choose_last_mode(m) : (0777 & ~m->umask) | 0300;
	struct nfs_node next;
	int r = nfs_walk_from(client, &node->fh, &node->attr, name,
	                      NFS_FOLLOW | NFS_MAKE, &next);

	if (r == (int)NFS3ERR_NOENT && next.parent.len) {
		r = nfs_mkdir_new(client, &next.parent, next.name, mode, &next.fh,
		                  &next.attr);
		if (!r)
			print_made(m, text ? text : name);
		/* Another client may have made the directory in the meantime. */
		if (r == (int)NFS3ERR_EXIST)
			r = nfs_walk_from(client, &node->fh, &node->attr, name,
			                  NFS_FOLLOW, &next);
	}
	if (!r && next.attr.type != NF3DIR)
		r = last ? (int)NFS3ERR_EXIST : (int)NFS3ERR_NOTDIR;
	if (!r)
		*node = next;
	return r;
}

static int make_all(struct mkdir_tool *m, struct nfs_client *client,
                    const struct url *u)
{
	struct nfs_node node = {.fh = client->root, .attr = client->root_attr};
	char *path = strdup(u->path), *rest = path, *name;
	int r = path ? 0 : -ENOMEM;

	while (!r && (name = strsep(&rest, "/"))) {
		char *text = format_parent_url(client, u->path,
		                               (size_t)(name - path) + strlen(name));

		if (*name)
			r = enter_or_make(m, client, &node, name, text, !rest);
		free(text);
	}
	free(path);
	return r;
}

static int mkdir_url(struct nfs_client *client, const char *text, const struct url *u,
                     void *arg)
{
	struct mkdir_tool *m = arg;

	return nfs_report(client, "create directory", text,
	                  m->parents ? make_all(m, client, u)
	                             : make_one(m, client, u, text));
}

static const struct tool_option options[] = {
        {"parents", "p", NULL,
         "make parent directories as needed; no error if a directory exists", NULL,
         TOOL_AT(TOOL_SET, struct mkdir_tool, parents)},
        {"mode", "m", "MODE", "octal mode of the last directory (0777 minus the umask)",
         NULL, .kind = TOOL_TAKE, .take = take_mode},
        NFS_OPTION_ROWS(struct mkdir_tool, nfs),
        TOOL_COMMON_ROWS(struct mkdir_tool, common),
};

static int run_mkdir(int argc, char **argv)
{
	struct mkdir_tool m = {.nfs = NFS_OPTIONS};
	int r;

	r = tool_read_options(&tool_mkdir, &m, &m.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	m.umask = umask(0);
	umask((mode_t)m.umask);
	return nfs_run_each(&m.common, &m.nfs, true, argv + optind, mkdir_url, &m);
}

const struct tool_command tool_mkdir = {
        .name = "mkdir",
        .summary = "make directories on an NFS server",
        .usage = "usage: rpcrdma mkdir [OPTION]... URL...\n"
                 "Makes directories on an NFS server.  URL is "
                 "nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server.",
        .notes = "-v prints each directory that is made.\n\n"
                 "exit status: 0 success, 1 a directory was not made, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_mkdir,
};
