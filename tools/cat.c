/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma cat: files of an NFS server to standard output, in order, READs in
 * flight.  A file that fails is told and the next one follows.
 */
#include "client/nfs.h"
#include "client/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct cat {
	struct tool_common common;
	struct loop loop;
	struct nfs_options nfs;
	struct nfs_stream_options stream;
	const char *stats;
	uint64_t bytes, files, started_ns;
};

static void print_help(void)
{
	fputs("usage: rpcrdma cat [OPTION]... URL...\n"
	      "Writes files of an NFS server to standard output.\n"
	      "URL is nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the "
	      "server.\n"
	      "?mountport=N at the end says where MOUNT is on TCP (see `rpcrdma ls "
	      "--help`).\n\n"
	      "  --in-flight N           READs in flight, 1 to 64 (8)\n"
	      "  --size BYTES            of one READ (what the server prefers, to 1 "
	      "MiB)\n"
	      "  --stats FILE            counters as JSON, when done\n",
	      stdout);
	fputs(nfs_options_help, stdout);
	fputs(tool_common_help, stdout);
	fputs("\nexit status: 0 done, 1 a file could not be read, 2 wrong usage\n",
	      stdout);
}

static int cat_node(struct nfs_client *client, const char *text, const struct url *u,
                    void *arg)
{
	struct cat *c = arg;
	struct nfs_node node;
	uint64_t n = 0;
	int r = nfs_walk(client, u->path, NFS_FOLLOW, &node);

	if (!r && node.attr.type == NF3DIR)
		r = (int)NFS3ERR_ISDIR;
	if (!r)
		r = nfs_stream(client, &node.fh, &node.attr, STDOUT_FILENO, &c->stream,
		               NULL, &n);
	c->bytes += n;
	c->files += !r;
	return nfs_told(client, "read", text, r);
}

static int cat_all(struct cat *c, char **urls)
{
	int code;

	c->started_ns = tool_now_ns();
	code = nfs_each(&c->loop, &c->nfs, true, urls, cat_node, c);
	if (c->stats) {
		struct json_stats_more more = {"cat", c->files, c->bytes,
		                               tool_now_ns() - c->started_ns};

		if (json_stats(c->stats, c->loop.engine, &more))
			code = TOOL_FAILED;
	}
	return code;
}

int tool_cat(int argc, char **argv)
{
	struct cat c = {.stream = {.in_flight = 8}, .nfs = NFS_OPTIONS};
	const struct tool_option options[] = {
	        {"in-flight", 0, TOOL_RANGE(TOOL_NUMBER, c.stream.in_flight, 1, 64)},
	        {"size", 0, TOOL_RANGE(TOOL_SIZE, c.stream.bytes, 512, NFS_IO_MAX)},
	        NFS_OPTION_ROWS(c.nfs),
	        {"stats", 0, TOOL_TO(TOOL_TEXT, c.stats)},
	};
	int r;

	r = tool_options(&c.common, argc, argv, options, TOOL_N(options), print_help);
	if (r != TOOL_GO_ON)
		return r;
	if (optind == argc) {
		tool_error("no URL is given");
		return tool_usage();
	}
	if (loop_init(&c.loop, &c.common))
		return TOOL_FAILED;
	r = cat_all(&c, argv + optind);
	loop_fini(&c.loop);
	return loop_exit_code(r);
}
