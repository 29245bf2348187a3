/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common part of the two clients that measure servers of NFS version 3: what is
 * exported, and the sizes of the calls.  serve.sh makes the files.
 */
#ifndef BENCH_NFS_H
#define BENCH_NFS_H

#include <stdio.h>
#include <unistd.h>

#include "../bench.h"

#define BENCH_NFS_FILE "data"    /* BENCH_NFS_FILE_BYTES, for READ, WRITE and LOOKUP */
#define BENCH_NFS_DIR  "hundred" /* directory of a hundred files */
#define BENCH_NFS_MADE "made"    /* directory for created files */

enum {
	BENCH_NFS_FILE_BYTES = 64 << 20,
	BENCH_NFS_DIR_BYTES = 65536, /* of a READDIRPLUS: more than the directory has */
	BENCH_NFS_MODE = 0644,       /* of created files */
	BENCH_NFS_NAME = 32,         /* octets of a created file's name */
};

/* Formats a name that no other call of any process uses. */
static inline void bench_nfs_name(char ret[BENCH_NFS_NAME])
{
	static unsigned n;

	snprintf(ret, BENCH_NFS_NAME, "%d-%u", (int)getpid(), n++);
}

/* Returns the offset of the next READ or WRITE, from the start of the file to its
 * end, and again. */
static inline uint64_t bench_nfs_offset(const struct bench_options *o)
{
	static uint64_t next;
	uint64_t offset = next;

	next += o->bytes;
	if (next + o->bytes > BENCH_NFS_FILE_BYTES)
		next = 0;
	return offset;
}

#endif
