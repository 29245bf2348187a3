/* SPDX-License-Identifier: BSD-3-Clause */
/* rpcrdma stat: shows the attributes of a file on an NFS server, in the form of
 * stat(1). */
#include "client/attrs.h"
#include "client/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct stat_tool {
	struct tool_common common;
	struct nfs_options nfs;
	bool follow;
};

static void print_stat_text(const char *text, const fattr3 *a, const char *target)
{
	char mode[11], atime[64], mtime[64], ctime[64];

	attrs_mode_text(a, mode);
	attrs_time_text(&a->atime, true, atime, sizeof(atime));
	attrs_time_text(&a->mtime, true, mtime, sizeof(mtime));
	attrs_time_text(&a->ctime, true, ctime, sizeof(ctime));
	fputs("  File: ", stdout);
	attrs_print_name(stdout, text);
	if (*target) {
		fputs(" -> ", stdout);
		attrs_print_name(stdout, target);
	}
	printf("\n  Size: %-15" PRIu64 " Used: %-15" PRIu64 " %s\n", a->size, a->used,
	       attrs_type_text(a->type));
	printf("  Fsid: %-15" PRIx64 " File id: %-12" PRIu64 " Links: %" PRIu32,
	       a->fsid, a->fileid, a->nlink);
	if (a->type == NF3BLK || a->type == NF3CHR)
		printf(" Device type: %" PRIu32 ",%" PRIu32, a->rdev.specdata1,
		       a->rdev.specdata2);
	printf("\nAccess: (%04o/%s)  Uid: %" PRIu32 "  Gid: %" PRIu32 "\n",
	       a->mode & 07777u, mode, a->uid, a->gid);
	printf("Access: %s\nModify: %s\nChange: %s\n", atime, mtime, ctime);
}

static void print_stat_json(const char *text, const struct nfs_node *node,
                            const char *target)
{
	putchar('{');
	json_name(stdout, "url", text);
	putchar(',');
	attrs_json(stdout, &node->attr);
	if (*target) {
		putchar(',');
		json_name(stdout, "target", target);
	}
	fputs(",\"handle\":\"", stdout);
	for (uint32_t i = 0; i < node->fh.len; i++)
		printf("%02x", (unsigned char)node->fh.data[i]);
	puts("\"}");
}

static int stat_url(struct nfs_client *client, const char *text, const struct url *u,
                    void *arg)
{
	struct stat_tool *s = arg;
	char target[NFS3_PATH_BYTES + 1] = "";
	struct nfs_node node;
	int r = nfs_walk_url(client, u, s->follow || u->slash ? NFS_FOLLOW : 0, &node);

	if (!r && node.attr.type == NF3LNK)
		r = nfs_readlink(client, &node.fh, target, sizeof(target));
	if (r)
		return nfs_report(client, "access", text, r);
	if (s->common.json)
		print_stat_json(text, &node, target);
	else
		print_stat_text(text, &node.attr, target);
	return 0;
}

static const struct tool_option options[] = {
        {"dereference", "L", NULL, "follow a symbolic link at the end of the path",
         NULL, TOOL_AT(TOOL_SET, struct stat_tool, follow)},
        NFS_OPTION_ROWS(struct stat_tool, nfs),
        TOOL_COMMON_ROWS(struct stat_tool, common),
};

static int run_stat(int argc, char **argv)
{
	struct stat_tool s = {.nfs = NFS_OPTIONS};
	int r = tool_read_options(&tool_stat, &s, &s.common, argc, argv);

	return r == TOOL_GO_ON ? nfs_run_each(&s.common, &s.nfs, true, argv + optind,
	                                      stat_url, &s)
	                       : r;
}

const struct tool_command tool_stat = {
        .name = "stat",
        .summary = "show the attributes of a file on an NFS server",
        .usage = "usage: rpcrdma stat [OPTION]... URL...\n"
                 "Shows the attributes of files on an NFS server.  URL is "
                 "nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server.  "
                 "?mountport=N at the end of a URL names the TCP port of MOUNT (see "
                 "`rpcrdma ls --help`).",
        .notes = "exit status: 0 success, 1 a file could not be accessed, 2 usage "
                 "error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_stat,
};
