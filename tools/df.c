/* SPDX-License-Identifier: BSD-3-Clause */
/* rpcrdma df: shows the free space in an NFS server's file systems. */
#include "client/json.h"
#include "client/nfs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct df {
	struct tool_common common;
	struct nfs_options nfs;
	bool human, inodes, headed;
};

static int ask_fsstat(struct nfs_client *c, const struct nfs_fh *fh, FSSTAT3resok *ret)
{
	FSSTAT3args a = {.fsroot = nfs_fh_arg(fh)};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_FSSTAT, &a);
	if (!r)
		*ret = op.res.fsstat.FSSTAT3res_u.resok;
	nfs_op_fini(&op);
	return r;
}

static const char *format_amount(const struct df *d, uint64_t v)
{
	static char ring[4][24];
	static unsigned next;
	char *s = ring[next++ % 4];

	if (d->human)
		return tool_human_short(v);
	snprintf(s, sizeof(ring[0]), "%" PRIu64,
	         d->inodes ? v : v / 1024 + !!(v % 1024));
	return s;
}

/* Returns the percentage of the usable space that is used, rounded up as in df(1). */
static const char *format_percent(uint64_t used, uint64_t avail)
{
	static char s[16];
	double all = (double)used + (double)avail,
	       p = all > 0 ? (double)used * 100 / all : 0;
	unsigned whole = (unsigned)p;

	if (all <= 0)
		return "-";
	snprintf(s, sizeof(s), "%u%%", whole + ((double)whole < p));
	return s;
}

static void print_df_text(struct df *d, const char *text, uint64_t total, uint64_t free,
                          uint64_t avail)
{
	static const char *const headings[][4] = {
	        {"1K-blocks", "Used", "Available", "Use%"},
	        {"Size", "Used", "Avail", "Use%"},
	        {"Inodes", "IUsed", "IFree", "IUse%"},
	};
	const char *const *heads = headings[d->inodes ? 2 : d->human];
	uint64_t used = total > free ? total - free : 0;

	if (!d->headed)
		printf("%14s %14s %14s %5s URL\n", heads[0], heads[1], heads[2],
		       heads[3]);
	d->headed = true;
	printf("%14s %14s %14s %5s ", format_amount(d, total), format_amount(d, used),
	       format_amount(d, avail), format_percent(used, avail));
	fputs(tool_quote(text), stdout);
	putchar('\n');
}

static void print_df_json(const char *text, const FSSTAT3resok *s)
{
	putchar('{');
	json_name(stdout, "url", text);
	printf(",\"total_bytes\":%" PRIu64 ",\"free_bytes\":%" PRIu64
	       ",\"available_bytes\":%" PRIu64 ",\"total_files\":%" PRIu64
	       ",\"free_files\":%" PRIu64 ",\"available_files\":%" PRIu64 "}\n",
	       s->tbytes, s->fbytes, s->abytes, s->tfiles, s->ffiles, s->afiles);
}

static int df_url(struct nfs_client *client, const char *text, const struct url *u,
                  void *arg)
{
	struct nfs_node node;
	struct df *d = arg;
	FSSTAT3resok s;
	int r = nfs_walk_url(client, u, NFS_FOLLOW, &node);

	if (!r)
		r = ask_fsstat(client, &node.fh, &s);
	if (r)
		return nfs_report(client, "access", text, r);
	if (d->common.json)
		print_df_json(text, &s);
	else if (d->inodes)
		print_df_text(d, text, s.tfiles, s.ffiles, s.afiles);
	else
		print_df_text(d, text, s.tbytes, s.fbytes, s.abytes);
	return 0;
}

static const struct tool_option options[] = {
        {"human-readable", "h", NULL,
         "print sizes as 1.5K, 3.0M, not in units of 1 KiB", NULL,
         TOOL_AT(TOOL_SET, struct df, human)},
        {"inodes", "i", NULL, "show the number of files instead of octets", NULL,
         TOOL_AT(TOOL_SET, struct df, inodes)},
        NFS_OPTION_ROWS(struct df, nfs),
        TOOL_COMMON_ROWS(struct df, common),
};

static int run_df(int argc, char **argv)
{
	struct df d = {.nfs = NFS_OPTIONS};
	int r = tool_read_options(&tool_df, &d, &d.common, argc, argv);

	return r == TOOL_GO_ON ? nfs_run_each(&d.common, &d.nfs, true, argv + optind,
	                                      df_url, &d)
	                       : r;
}

const struct tool_command tool_df = {
        .name = "df",
        .summary = "show how much room an NFS server has",
        .usage = "usage: rpcrdma df [OPTION]... URL...\n"
                 "Shows the free space of file systems of an NFS server.  URL is "
                 "nfs://HOST[:PORT]/NAME[/PATH]; NAME is an export of the server.",
        .notes = "exit status: 0 success, 1 a URL could not be accessed, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_df,
};
