/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma ls: lists a directory on an NFS server, sorted by the octets of the names.
 * With -U, prints entries as they arrive and keeps only one READDIRPLUS page in memory.
 */
#include "client/attrs.h"
#include "client/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 4096

struct item {
	struct nfs_fh fh;
	fattr3 attr;
	char name[];
};

struct ls {
	struct tool_common common;
	struct nfs_options nfs;
	bool all, longer, unsorted, itself, recursive, human, by_time, reverse, one;
	unsigned
	        headings; /* 0 = no headings; otherwise 1 + the number printed so far */

	struct nfs_client *client; /* client for the current URL */
	struct item **items;
	size_t n_items, room;
	int nlink_width, uid_width, gid_width, size_width;
	uint64_t printed;
};

static int count_digits(uint64_t v)
{
	int n = 1;

	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

static void widen_column(int *width, uint64_t v)
{
	if (count_digits(v) > *width)
		*width = count_digits(v);
}

static const char *size_text(const struct ls *l, uint64_t size)
{
	static char exact[24];

	if (l->human)
		return tool_human_short(size);
	snprintf(exact, sizeof(exact), "%" PRIu64, size);
	return exact;
}

static void measure_item(struct ls *l, const fattr3 *a)
{
	widen_column(&l->nlink_width, a->nlink);
	widen_column(&l->uid_width, a->uid);
	widen_column(&l->gid_width, a->gid);
	if ((int)strlen(size_text(l, a->size)) > l->size_width)
		l->size_width = (int)strlen(size_text(l, a->size));
}

static int read_target(struct ls *l, const struct item *i, char *target)
{
	int r;

	*target = 0;
	if (i->attr.type != NF3LNK || !(l->longer || l->common.json))
		return 0;
	r = nfs_readlink(l->client, &i->fh, target, NFS3_PATH_BYTES + 1);
	return nfs_report(l->client, "read symbolic link", i->name, r) == -EINTR ? r
	                                                                         : 0;
}

static void print_item_json(struct ls *l, const struct item *i, const char *target)
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

static void print_item_text(struct ls *l, const struct item *i, const char *target)
{
	char mode[11], when[64];

	if (l->longer) {
		attrs_mode_text(&i->attr, mode);
		attrs_time_text(&i->attr.mtime, false, when, sizeof(when));
		printf("%s %*" PRIu32 " %*" PRIu32 " %*" PRIu32 " %*s %s ", mode,
		       l->nlink_width, i->attr.nlink, l->uid_width, i->attr.uid,
		       l->gid_width, i->attr.gid, l->size_width,
		       size_text(l, i->attr.size), when);
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
		print_item_json(l, i, target);
	else
		print_item_text(l, i, target);
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

static int keep_item(struct ls *l, struct item *i)
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
	measure_item(l, &i->attr);
	return 0;
}

static int add_item(struct ls *l, const char *name, const struct nfs_fh *fh,
                    const fattr3 *attr)
{
	struct item *i = make_item(name, fh, attr);
	int r;

	if (!i)
		return -ENOMEM;
	if (!l->unsorted || l->recursive) {
		r = keep_item(l, i);
		if (r)
			free(i);
		return r;
	}
	measure_item(l, attr);
	r = print_item(l, i);
	free(i);
	return r;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(struct item *const *)a)->name,
	              (*(struct item *const *)b)->name);
}

static int compare_times(const void *a, const void *b)
{
	const nfstime3 *s = &(*(struct item *const *)a)->attr.mtime,
	               *t = &(*(struct item *const *)b)->attr.mtime;

	if (s->seconds != t->seconds)
		return s->seconds < t->seconds ? 1 : -1;
	if (s->nseconds != t->nseconds)
		return s->nseconds < t->nseconds ? 1 : -1;
	return compare_names(a, b);
}

static void sort_items(struct ls *l)
{
	size_t n = l->n_items;

	if (!n || l->unsorted)
		return;
	qsort(l->items, n, sizeof(*l->items),
	      l->by_time ? compare_times : compare_names);
	for (size_t i = 0; l->reverse && i < n / 2; i++) {
		struct item *other = l->items[n - 1 - i];

		l->items[n - 1 - i] = l->items[i];
		l->items[i] = other;
	}
}

static void free_items(struct item **items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(items[i]);
	free(items);
}

/* Prints the items collected for a directory.  With -R, keeps the items, so that
 * list_below can list the directories among them. */
static int print_kept(struct ls *l, int r)
{
	sort_items(l);
	for (size_t i = 0; i < l->n_items && r != -EINTR && r != TOOL_REPORTED; i++) {
		int e = print_item(l, l->items[i]);

		if (e)
			r = e;
	}
	if (l->recursive && r != -EINTR && r != TOOL_REPORTED)
		return r;
	free_items(l->items, l->n_items);
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
			bad = e.status; /* reported after the other entries */
		else
			r = add_item(l, e.name, &e.fh, &e.attr);
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

/* Begins the output for a directory, or for a URL that is not listed as a directory. */
static void begin_list(struct ls *l, const char *text)
{
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
}

static void end_list(const struct ls *l)
{
	if (l->common.json)
		fputs("]}\n", stdout);
}

static int list_tree(struct ls *l, const char *text, const struct nfs_fh *fh,
                     unsigned depth);

/* Lists each directory among the items kept by print_kept. */
static int list_below(struct ls *l, const char *text, unsigned depth)
{
	struct item **items = l->items;
	size_t n = l->n_items;
	int r = 0, bad = 0;

	l->items = NULL;
	l->n_items = l->room = 0;
	for (size_t i = 0; i < n && bad != -EINTR && bad != TOOL_REPORTED; i++) {
		char *below;

		if (items[i]->attr.type != NF3DIR)
			continue;
		below = url_join(text, items[i]->name);
		r = below ? list_tree(l, below, &items[i]->fh, depth + 1) : -ENOMEM;
		bad = r ? r : bad;
		free(below);
	}
	free_items(items, n);
	return bad;
}

/* Lists a directory and, with -R, the directories below it.  Reports each failure with
 * the directory's name.  Returns the last failure. */
static int list_tree(struct ls *l, const char *text, const struct nfs_fh *fh,
                     unsigned depth)
{
	int r = depth < MAX_DEPTH ? 0 : -ELOOP, below = 0;

	begin_list(l, text);
	if (!r)
		r = print_kept(l, list_dir(l, fh));
	end_list(l);
	(void)nfs_report(l->client, "read directory", text, r);
	if (r != -EINTR && r != TOOL_REPORTED)
		below = list_below(l, text, depth);
	return below ? below : r;
}

static int list_one(struct ls *l, const struct url *u, const char *text,
                    const struct nfs_node *node)
{
	int r;

	begin_list(l, text);
	r = !*u->export ? nfs_exports(l->client, print_export, l)
	    : node->attr.type == NF3DIR && !l->itself
	            ? list_dir(l, &node->fh)
	            : add_item(l, text, &node->fh, &node->attr);
	r = print_kept(l, r);
	free_items(l->items, l->n_items);
	l->items = NULL;
	l->n_items = l->room = 0;
	end_list(l);
	return nfs_report(l->client, "access", text, r);
}

static int ls_url(struct nfs_client *client, const char *text, const struct url *u,
                  void *arg)
{
	struct nfs_node node;
	struct ls *l = arg;
	int r = 0;

	l->client = client;
	if (*u->export)
		r = nfs_walk(client, u->path,
		             (l->longer || l->itself) && !u->slash ? 0 : NFS_FOLLOW,
		             &node);
	if (r) {
		begin_list(l, text);
		end_list(l);
		return nfs_report(client, "access", text, r);
	}
	if (l->recursive && *u->export && node.attr.type == NF3DIR && !l->itself)
		return list_tree(l, text, &node.fh, 0);
	return list_one(l, u, text, &node);
}

static const struct tool_option options[] = {
        {"all", "a", NULL, "list names that begin with a dot", NULL,
         TOOL_AT(TOOL_SET, struct ls, all)},
        {"directory", "d", NULL, "list directories themselves, not their contents",
         NULL, TOOL_AT(TOOL_SET, struct ls, itself)},
        {"recursive", "R", NULL, "list subdirectories recursively", NULL,
         TOOL_AT(TOOL_SET, struct ls, recursive)},
        {NULL, "t", NULL, "sort by time of modification, newest first", NULL,
         TOOL_AT(TOOL_SET, struct ls, by_time)},
        {"reverse", "r", NULL, "reverse the order", NULL,
         TOOL_AT(TOOL_SET, struct ls, reverse)},
        {NULL, "1", NULL, "print one name per line, which is always done", NULL,
         TOOL_AT(TOOL_SET, struct ls, one)},
        {"human-readable", "h", NULL, "with -l: print sizes as 1.5K, 3.0M", NULL,
         TOOL_AT(TOOL_SET, struct ls, human)},
        {NULL, "l", NULL, "print mode, links, owner, group, size, time, link target",
         NULL, TOOL_AT(TOOL_SET, struct ls, longer)},
        {NULL, "U", NULL, "do not sort; print entries as the server sends them", NULL,
         TOOL_AT(TOOL_SET, struct ls, unsorted)},
        NFS_OPTION_ROWS(struct ls, nfs),
        TOOL_COMMON_ROWS(struct ls, common),
};

static int run_ls(int argc, char **argv)
{
	struct ls l = {.nfs = NFS_OPTIONS};
	int r;

	r = tool_read_options(&tool_ls, &l, &l.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	l.headings = argc - optind > 1 || l.recursive;
	return nfs_run_each(&l.common, &l.nfs, false, argv + optind, ls_url, &l);
}

const struct tool_command tool_ls = {
        .name = "ls",
        .summary = "list a directory of an NFS server",
        .usage = "usage: rpcrdma ls [OPTION]... URL...\n"
                 "Lists directories of an NFS server, or files themselves.  URL is "
                 "nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server; "
                 "nfs://HOST alone lists the exports.  ?mountport=N at the end names "
                 "the TCP port of MOUNT, for a server that lacks MOUNT on RDMA and "
                 "has no rpcbind.",
        .notes = "--json prints one object for each URL: "
                 "{\"url\":...,\"entries\":[...]}.\n\n"
                 "exit status: 0 success, 1 something could not be listed, 2 usage "
                 "error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_ls,
};
