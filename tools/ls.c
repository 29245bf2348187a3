/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma ls: a directory of an NFS server, sorted by name as octets.  With -U
 * entries are printed as they come, one page of READDIRPLUS in memory.
 */
#include "client/attrs.h"
#include "client/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct nfs_fh fh;
	fattr3 attr;
	char name[];
};

struct ls {
	struct tool_common common;
	struct loop loop;
	struct nfs_options nfs;
	bool all, longer, unsorted, itself;
	unsigned headings; /* 0: none; else one more than were printed */

	struct nfs_client *client; /* the current URL's */
	struct item **items;
	size_t n_items, room;
	int nlink_width, uid_width, gid_width, size_width;
	uint64_t printed;
};

static void print_help(void)
{
	fputs("usage: rpcrdma ls [OPTION]... URL...\n"
	      "Lists directories of an NFS server, or files themselves.\n"
	      "URL is nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server;\n"
	      "nfs://HOST alone lists the exports.  ?mountport=N at the end says where "
	      "MOUNT is\n"
	      "on TCP, for a server that lacks it on RDMA and has no rpcbind.\n\n"
	      "  -a, --all               names that begin with a dot, too\n"
	      "  -d, --directory         directories themselves, not their contents\n"
	      "  -l                      mode, links, owner, group, size, time, link "
	      "target\n"
	      "  -U                      as the server sends them, unsorted\n",
	      stdout);
	fputs(nfs_options_help, stdout);
	fputs(tool_common_help, stdout);
	fputs("\nWith --json one object a URL: {\"url\":...,\"entries\":[...]}.\n\n"
	      "exit status: 0 done, 1 something could not be listed, 2 wrong usage\n",
	      stdout);
}

static int digits(uint64_t v)
{
	int n = 1;

	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

static void widen(int *width, uint64_t v)
{
	if (digits(v) > *width)
		*width = digits(v);
}

static void measure(struct ls *l, const fattr3 *a)
{
	widen(&l->nlink_width, a->nlink);
	widen(&l->uid_width, a->uid);
	widen(&l->gid_width, a->gid);
	widen(&l->size_width, a->size);
}

static int read_target(struct ls *l, const struct item *i, char *target)
{
	int r;

	*target = 0;
	if (i->attr.type != NF3LNK || !(l->longer || l->common.json))
		return 0;
	r = nfs_readlink(l->client, &i->fh, target, NFS3_PATH_BYTES + 1);
	return nfs_told(l->client, "read symbolic link", i->name, r) == -EINTR ? r : 0;
}

static void print_json(struct ls *l, const struct item *i, const char *target)
{
	fputs(l->printed ? ",\n{" : "\n{", stdout);
	json_name(stdout, "name", i->name);
	fputc(',', stdout);
	attrs_json(stdout, &i->attr);
	if (*target) {
		fputc(',', stdout);
		json_name(stdout, "target", target);
	}
	fputc('}', stdout);
}

static void print_text(struct ls *l, const struct item *i, const char *target)
{
	char mode[11], when[64];

	if (l->longer) {
		attrs_mode_text(&i->attr, mode);
		attrs_time_text(&i->attr.mtime, false, when, sizeof(when));
		printf("%s %*" PRIu32 " %*" PRIu32 " %*" PRIu32 " %*" PRIu64 " %s ",
		       mode, l->nlink_width, i->attr.nlink, l->uid_width, i->attr.uid,
		       l->gid_width, i->attr.gid, l->size_width, i->attr.size, when);
	}
	attrs_print_name(stdout, i->name);
	if (*target) {
		fputs(" -> ", stdout);
		attrs_print_name(stdout, target);
	}
	fputc('\n', stdout);
}

static int print_item(struct ls *l, const struct item *i)
{
	char target[NFS3_PATH_BYTES + 1];
	int r = read_target(l, i, target);

	if (r)
		return r;
	if (l->common.json)
		print_json(l, i, target);
	else
		print_text(l, i, target);
	l->printed++;
	return ferror(stdout) ? tool_output_failed(NULL) : 0;
}

static struct item *make_item(const char *name, const struct nfs_fh *fh,
                              const fattr3 *attr)
{
	size_t n = strlen(name) + 1;
	struct item *i = malloc(sizeof(*i) + n);

	if (!i)
		return NULL;
	i->fh = *fh;
	i->attr = *attr;
	memcpy(i->name, name, n);
	return i;
}

static int keep(struct ls *l, struct item *i)
{
	if (l->n_items == l->room) {
		size_t room = l->room ? 2 * l->room : 256;
		struct item **items = realloc(l->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		l->items = items;
		l->room = room;
	}
	l->items[l->n_items++] = i;
	measure(l, &i->attr);
	return 0;
}

static int add(struct ls *l, const char *name, const struct nfs_fh *fh,
               const fattr3 *attr)
{
	struct item *i = make_item(name, fh, attr);
	int r;

	if (!i)
		return -ENOMEM;
	if (!l->unsorted) {
		r = keep(l, i);
		if (r)
			free(i);
		return r;
	}
	measure(l, attr);
	r = print_item(l, i);
	free(i);
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp((*(struct item *const *)a)->name,
	              (*(struct item *const *)b)->name);
}

static int print_kept(struct ls *l, int r)
{
	if (l->n_items)
		qsort(l->items, l->n_items, sizeof(*l->items), compare);
	for (size_t i = 0; i < l->n_items; i++) {
		int e = r == -EINTR ? r : print_item(l, l->items[i]);

		if (e)
			r = e;
		free(l->items[i]);
	}
	free(l->items);
	l->items = NULL;
	l->n_items = l->room = 0;
	return r;
}

static int list_dir(struct ls *l, const struct nfs_fh *fh)
{
	struct nfs_entry e;
	struct nfs_dir d;
	int r = 0, bad = 0;

	nfs_dir_open(&d, l->client, fh);
	while (!r && nfs_dir_next(&d, &e, &r)) {
		if (!l->all && e.name[0] == '.')
			continue;
		if (e.status)
			bad = e.status; /* told at the end; the others first */
		else
			r = add(l, e.name, &e.fh, &e.attr);
	}
	nfs_dir_close(&d);
	return r ? r : bad;
}

static void print_export(const char *path, void *arg)
{
	struct ls *l = arg;

	if (l->common.json) {
		fputs(l->printed ? ",\n{" : "\n{", stdout);
		json_name(stdout, "export", path);
		fputc('}', stdout);
	} else {
		attrs_print_name(stdout, path);
		fputc('\n', stdout);
	}
	l->printed++;
}

static int list_url(struct ls *l, const struct url *u, const char *text)
{
	struct nfs_node node;
	int r;

	if (!*u->export)
		return nfs_exports(l->client, print_export, l);
	r = nfs_walk(l->client, u->path,
	             (l->longer || l->itself) && !u->slash ? 0 : NFS_FOLLOW, &node);
	if (r)
		return r;
	if (node.attr.type == NF3DIR && !l->itself)
		r = list_dir(l, &node.fh);
	else
		r = add(l, text, &node.fh, &node.attr);
	return print_kept(l, r);
}

static int ls_url(struct nfs_client *client, const char *text, const struct url *u,
                  void *arg)
{
	struct ls *l = arg;
	int r;

	l->client = client;
	l->printed = 0;
	l->nlink_width = l->uid_width = l->gid_width = l->size_width = 1;
	if (l->common.json) {
		fputs("{", stdout);
		json_name(stdout, "url", text);
		fputs(",\"entries\":[", stdout);
	} else if (l->headings) {
		fputs(l->headings++ > 1 ? "\n" : "", stdout);
		attrs_print_name(stdout, text);
		fputs(":\n", stdout);
	}
	r = list_url(l, u, text);
	if (l->common.json)
		fputs("]}\n", stdout);
	return nfs_told(client, "access", text, r);
}

int tool_ls(int argc, char **argv)
{
	struct ls l = {.nfs = NFS_OPTIONS};
	const struct tool_option options[] = {
	        {"all", 'a', TOOL_TO(TOOL_SET, l.all)},
	        {"directory", 'd', TOOL_TO(TOOL_SET, l.itself)},
	        {NULL, 'l', TOOL_TO(TOOL_SET, l.longer)},
	        {NULL, 'U', TOOL_TO(TOOL_SET, l.unsorted)},
	        NFS_OPTION_ROWS(l.nfs),
	};
	int r, n;

	r = tool_options(&l.common, argc, argv, options, TOOL_N(options), print_help);
	if (r != TOOL_GO_ON)
		return r;
	n = argc - optind;
	if (n == 0) {
		tool_error("no URL is given");
		return tool_usage();
	}
	if (loop_init(&l.loop, &l.common))
		return TOOL_FAILED;
	l.headings = n > 1;
	r = nfs_each(&l.loop, &l.nfs, false, argv + optind, ls_url, &l);
	loop_fini(&l.loop);
	return loop_exit_code(r);
}
