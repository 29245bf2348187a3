/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma cat: writes files from an NFS server to standard output, one by one, with
 * several READs in flight.  After a failure, reports it and continues with the next
 * file.
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

static int cat_url(struct nfs_client *client, const char *text, const struct url *u,
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
	return nfs_report(client, "read", text, r);
}

static int write_files(struct cat *c, char **urls)
{
	int code;

	c->started_ns = tool_now_ns();
	code = nfs_each(&c->loop, &c->nfs, true, urls, cat_url, c);
	if (c->stats) {
		struct json_stats_more more = {"cat", c->files, c->bytes,
		                               tool_now_ns() - c->started_ns};

		if (json_stats(c->stats, c->loop.engine, &more))
			code = TOOL_FAILED;
	}
	return code;
}

static const struct tool_option options[] = {
        {"in-flight", NULL, "N", "READs in flight, 1 to 64 (8)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct cat, stream.in_flight, 1, 64)},
        {"size", NULL, "BYTES", "size of one READ, to 1 MiB (what the server prefers)",
         NULL, TOOL_RANGE(TOOL_SIZE, struct cat, stream.bytes, 512, NFS_IO_MAX)},
        NFS_CONNECTIONS_ROW(struct cat, nfs),
        {"stats", NULL, "FILE",
         "write counters as JSON at the end; - is standard output", NULL,
         TOOL_AT(TOOL_TEXT, struct cat, stats)},
        NFS_OPTION_ROWS(struct cat, nfs),
        TOOL_COMMON_ROWS(struct cat, common),
};

static int run_cat(int argc, char **argv)
{
	struct cat c = {.stream = {.in_flight = 8}, .nfs = NFS_OPTIONS};
	int r;

	r = tool_read_options(&tool_cat, &c, &c.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	if (optind == argc) {
		tool_error("missing URL operand");
		return tool_usage();
	}
	if (loop_init(&c.loop, &c.common))
		return TOOL_FAILED;
	r = write_files(&c, argv + optind);
	loop_fini(&c.loop);
	return loop_exit_code(r);
}

const struct tool_command tool_cat = {
        .name = "cat",
        .summary = "write files of an NFS server to standard output",
        .usage = "usage: rpcrdma cat [OPTION]... URL...\n"
                 "Writes files of an NFS server to standard output.  URL is "
                 "nfs://HOST[:PORT]/NAME/PATH; NAME is an export of the server.  "
                 "?mountport=N at the end of a URL names the TCP port of MOUNT (see "
                 "`rpcrdma ls --help`).",
        .notes = "exit status: 0 success, 1 a file could not be read, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_cat,
};
