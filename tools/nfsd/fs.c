/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file systems that contain the exports.  A file system's kind determines which
 * operations the engine's thread may run on it; workers run the other operations.  A
 * file system that does not respond (a dead disk or server, fsfreeze) delays only its
 * own workers, and its requests can use only part of the memory.
 *
 *   AWAKE    tmpfs, ramfs: no operation sleeps; the engine's thread runs all of them
 *   CACHING  local disks: the engine's thread reads attributes of open objects, and
 *            data that the kernel reports as cached
 *   ASLEEP   others: even reading attributes may sleep; workers run all operations
 *
 * On AWAKE file systems one operation keeps the engine's thread busy for at most the
 * time to copy NFSD_MAX_IO octets or to list NFSD_MAX_DIR octets, about 0.2 ms.  If
 * memory is short, the kernel may swap or reclaim pages meanwhile, as in any thread.
 *
 * On CACHING file systems the engine's thread reads with RWF_NOWAIT, which never sleeps.
 * It does not write: ext4 supports RWF_NOWAIT for reading only, btrfs refuses most such
 * writes with EAGAIN, and a write without it may sleep for seconds, because the kernel
 * slows down a process that makes too many pages dirty, and because a journal's commit
 * holds up changes of attributes.
 */
#include "nfsd.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum {
	RELATIME_SECONDS = 23 * 3600, /* the kernel's 24 hours minus a margin */
	STUCK_NS = 1000000000,        /* time without a finished request */
};

static enum fs_kind classify_fs(int fd)
{
	struct statfs s;

	if (fstatfs(fd, &s))
		return FS_ASLEEP;
	switch ((unsigned long)s.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return FS_AWAKE;
	case EXT4_SUPER_MAGIC: /* the same number as for ext2 and ext3 */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
		return FS_CACHING;
	}
	return FS_ASLEEP;
}

static enum fs_atime read_fs_atime(int fd)
{
	struct statvfs v;

	if (fstatvfs(fd, &v))
		return FS_STRICTATIME;
	if (v.f_flag & (ST_NOATIME | ST_RDONLY))
		return FS_NOATIME;
	return v.f_flag & ST_RELATIME ? FS_RELATIME : FS_STRICTATIME;
}

/* Classifies a file system by its type in the mount table, without accessing it. */
static enum fs_kind classify_fs_type(const char *type)
{
	static const char *const caching[] = {"ext2", "ext3",  "ext4",
	                                      "xfs",  "btrfs", "f2fs"};

	if (!strcmp(type, "tmpfs") || !strcmp(type, "ramfs"))
		return FS_AWAKE;
	for (size_t i = 0; i < sizeof(caching) / sizeof(caching[0]); i++)
		if (!strcmp(type, caching[i]))
			return FS_CACHING;
	return FS_ASLEEP;
}

static struct filesystem *new_fs_slot(struct nfsd *d)
{
	struct filesystem *fs = d->n_fs < NFSD_MAX_FS ? calloc(1, sizeof(*fs)) : NULL;

	if (!fs)
		return NULL;
	workers_init(&fs->workers, d->threads);
	for (unsigned i = 0; i < FS_WCC_LOCKS; i++) {
		pthread_mutex_init(&fs->dirs[i], NULL);
		pthread_mutex_init(&fs->files[i], NULL);
	}
	d->fs[d->n_fs] = fs;
	d->n_fs++;
	return fs;
}

/* Returns the device's slot, or an unused slot if the device has none.  An unused slot
 * is a new slot or, if no slot can be added, a slot without users.  Returns NULL if
 * there is no unused slot.  The caller holds fs_lock. */
static struct filesystem *find_fs_slot(struct nfsd *d, uint32_t major, uint32_t minor)
{
	struct filesystem *unused = NULL, *fs;

	for (unsigned i = 0; i < d->n_fs; i++) {
		fs = d->fs[i];
		if (fs->dev_major == major && fs->dev_minor == minor)
			return fs;
		if (!fs->users && !workers_pending(&fs->workers))
			unused = fs;
	}
	fs = new_fs_slot(d);
	return fs ? fs : unused;
}

static struct filesystem *hold_filesystem(struct nfsd *d, uint32_t major,
                                          uint32_t minor, enum fs_kind kind,
                                          enum fs_atime atime)
{
	struct filesystem *fs;

	pthread_mutex_lock(&d->fs_lock);
	fs = find_fs_slot(d, major, minor);
	if (fs && !fs->users) {
		fs->dev_major = major;
		fs->dev_minor = minor;
		fs->kind = kind;
		fs->atime = atime;
	}
	if (fs)
		fs->users++;
	pthread_mutex_unlock(&d->fs_lock);
	return fs;
}

struct filesystem *fs_get_by_fd(struct nfsd *d, int fd, const struct statx *st)
{
	return hold_filesystem(d, st->stx_dev_major, st->stx_dev_minor, classify_fs(fd),
	                       read_fs_atime(fd));
}

struct filesystem *fs_get_by_mount(struct nfsd *d, const struct mount_line *l)
{
	return hold_filesystem(d, l->dev_major, l->dev_minor, classify_fs_type(l->type),
	                       l->noatime || l->read_only ? FS_NOATIME
	                       : l->relatime              ? FS_RELATIME
	                                                  : FS_STRICTATIME);
}

void fs_put(struct nfsd *d, struct filesystem *fs)
{
	if (!fs)
		return;
	pthread_mutex_lock(&d->fs_lock);
	fs->users--;
	pthread_mutex_unlock(&d->fs_lock);
}

static bool is_later(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Predicts the kernel's access time update, which may have to wait for the journal. */
bool fs_reading_writes(const struct filesystem *fs, const struct statx *st)
{
	struct timespec now;

	if (fs->atime != FS_RELATIME)
		return fs->atime == FS_STRICTATIME;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return !is_later(&st->stx_atime, &st->stx_mtime) ||
	       !is_later(&st->stx_atime, &st->stx_ctime) ||
	       now.tv_sec - st->stx_atime.tv_sec >= RELATIME_SECONDS;
}

/*
 * Returns true if requests with another @bytes octets may be queued on @fs.  If @fs
 * does not respond, its requests may use half of the memory that other file systems do
 * not use, so that some memory always remains for the next file system.  If @fs is only
 * slow, its requests may use three quarters, because a client that has to retry waits
 * for seconds.
 */
static bool has_job_room(struct nfsd *d, struct filesystem *fs, uint64_t bytes)
{
	uint64_t mine = workers_bytes(&fs->workers) + bytes, left, all, used;
	struct rpcrdma_budget b;

	rpcrdma_budget_get(&b, sizeof(b));
	left = all = b.limit_bytes - b.connections_bytes;
	used = b.used_bytes - b.connections_bytes;
	for (unsigned i = 0; i < d->n_fs; i++) {
		uint64_t n = workers_bytes(&d->fs[i]->workers);

		if (d->fs[i] != fs)
			left -= n < left ? n : left;
	}
	if (!workers_stuck(&fs->workers, STUCK_NS))
		return mine <= left / 4 * 3;
	return mine <= left / 2 && used <= all / 2;
}

int fs_queue(struct nfsd *d, struct filesystem *fs, struct worker_job *job)
{
	return has_job_room(d, fs, job->bytes) ? workers_queue(&fs->workers, job)
	                                       : -EAGAIN;
}

bool fs_stop_all(struct nfsd *d, const struct timespec *until)
{
	bool all = true;

	for (unsigned i = 0; i < d->n_fs; i++)
		if (!workers_stop(&d->fs[i]->workers, until))
			all = false;
	return all;
}

void fs_free_all(struct nfsd *d)
{
	for (unsigned i = 0; i < d->n_fs; i++)
		free(d->fs[i]);
	d->n_fs = 0;
}
