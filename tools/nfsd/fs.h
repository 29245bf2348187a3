/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file systems that contain the exports (fs.c).  Each has its own workers, so that
 * a file system that does not respond delays requests on that file system only.
 */
#ifndef RPCRDMA_NFSD_FS_H
#define RPCRDMA_NFSD_FS_H

#include "workers.h"

struct mount_line;
struct nfsd;
struct statx;

enum { FS_WCC_LOCKS = 64 }; /* number of locks in each of @dirs and @files */

struct filesystem {
	uint32_t dev_major, dev_minor;
	enum fs_kind { FS_ASLEEP, FS_CACHING, FS_AWAKE } kind; /* see fs.c */
	enum fs_atime { FS_STRICTATIME, FS_RELATIME, FS_NOATIME } atime;
	struct workers workers;
	unsigned users;             /* exports that refer to it; guarded by fs_lock */
	_Atomic unsigned abandoned; /* MNT calls over TCP that run on after a timeout */
	pthread_mutex_t dirs[FS_WCC_LOCKS], files[FS_WCC_LOCKS]; /* by inode number */
};

/* Returns, with a reference, the file system that @fd is on.  The statx argument has
 * the attributes of @fd.  Returns NULL if there is no memory or there are too many file
 * systems. */
struct filesystem *fs_get_by_fd(struct nfsd *, int fd, const struct statx *);
/* Works like fs_get_by_fd, but takes a line of the mount table and does not access the
 * mounted file system. */
struct filesystem *fs_get_by_mount(struct nfsd *, const struct mount_line *);
/* Releases a reference.  Jobs that are already queued still run. */
void fs_put(struct nfsd *, struct filesystem *);
/* Returns true if reading a file with these attributes updates its access time. */
bool fs_reading_writes(const struct filesystem *, const struct statx *);
/* Queues a request for the file system's workers.  Returns -EAGAIN if requests on this
 * file system already use too much memory, otherwise the result of workers_queue. */
int fs_queue(struct nfsd *, struct filesystem *, struct worker_job *);
/* Stops the workers of all file systems.  Returns false if some workers are still
 * running at the time @until (monotonic). */
bool fs_stop_all(struct nfsd *, const struct timespec *until);
/* Frees all file systems.  Call fs_stop_all first. */
void fs_free_all(struct nfsd *);

#endif
