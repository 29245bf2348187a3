/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file systems that exports lie in (fs.c).  Each has its own workers, so that one
 * that does not answer holds up no other.
 */
#ifndef RPCRDMA_NFSD_FS_H
#define RPCRDMA_NFSD_FS_H

#include "workers.h"

struct mount_line;
struct nfsd;
struct statx;

enum { FS_WCC_LOCKS = 64 }; /* for directories, and as many for files */

struct filesystem {
	uint32_t dev_major, dev_minor;
	enum fs_kind { FS_ASLEEP, FS_CACHING, FS_AWAKE } kind; /* see fs.c */
	enum fs_atime { FS_STRICTATIME, FS_RELATIME, FS_NOATIME } atime;
	struct workers workers;
	unsigned users;             /* exports and crossings; by nfsd's fs_lock */
	_Atomic unsigned abandoned; /* calls of MNT over TCP that gave up waiting */
	pthread_mutex_t dirs[FS_WCC_LOCKS], files[FS_WCC_LOCKS]; /* by inode; wcc.c */
};

/* Returns the file system of the descriptor @fd, whose attributes are given, with a
 * reference.  NULL: no memory, or too many file systems. */
struct filesystem *fs_get_by_fd(struct nfsd *, int fd, const struct statx *);
/* The same for a line of the mount table.  The mount itself is not touched. */
struct filesystem *fs_get_by_mount(struct nfsd *, const struct mount_line *);
/* Gives a reference back.  Queued jobs run nevertheless. */
void fs_put(struct nfsd *, struct filesystem *);
/* Returns true if reading a file with these attributes updates its access time. */
bool fs_reading_writes(const struct filesystem *, const struct statx *);
/* Queues a request.  Returns -EAGAIN if requests on this file system hold too much
 * memory already; else as workers_queue. */
int fs_queue(struct nfsd *, struct filesystem *, struct worker_job *);
/* Stops the workers of all file systems, as workers_stop. */
bool fs_stop_all(struct nfsd *, const struct timespec *until);
/* Frees all file systems after fs_stop_all. */
void fs_free_all(struct nfsd *);

#endif
