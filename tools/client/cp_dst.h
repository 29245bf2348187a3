/* SPDX-License-Identifier: BSD-3-Clause */
/* The structures that the files of rpcrdma cp share. */
#ifndef RPCRDMA_TOOLS_CP_DST_H
#define RPCRDMA_TOOLS_CP_DST_H

#include "client/copy.h"

struct server {
	struct server *next;
	struct nfs_client client;
	struct url url;
};

struct cp {
	struct tool_common common;
	struct loop loop;
	struct nfs_options nfs;
	struct copy copy;
	bool recursive, progress, archive, links, as_links; /* as_links: -d */
	bool backup_given;                                  /* -b */
	bool no_target_dir;                                 /* -T */
	const char *control, *suffix;                       /* from --backup and -S */
	bool single; /* there is one source: the total size may be known */
	bool follow_named, never_follow; /* -H, -P */
	const char *target;              /* -t */
	const char *stats;
	struct server *servers;
	uint64_t started_ns;

	/* The destination: a directory in which files are made, or a stream. */
	struct copy_dir *dir;
	char *name;      /* NULL: sources keep their names */
	int stream;      /* -1 */
	const char *dst; /* as the user gave it */
};

/* Parses @text and connects.  On failure prints a message and returns NULL.  On success
 * the caller frees the URL. */
struct server *cp_server(struct cp *, const char *text, struct url *);

/* ---- cp_dst.c ------------------------------------------------------------------ */

/* Sets dir and name, or stream.  Returns 0, or prints a message and returns a negative
 * value. */
int cp_open_dst(struct cp *, const char *dst, int n_sources);

#endif
