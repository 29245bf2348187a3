/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of the handles of objects that READDIRPLUS has listed, so that listing them
 * again takes one system call for each.
 *
 * A slot contains an object's inode number, birth time and handle.  No other object of
 * the file system has the same inode number and the same birth time: a file that reuses
 * the inode number of a removed file is younger.  The birth time's resolution is
 * limited, so an object is not remembered before it is some seconds old.
 *
 * Attributes and handle describe the same object, even if another object gets the name
 * in the meantime, because a single statx returns the attributes, the inode number and
 * the birth time.
 *
 * Only handles from the kernel and only objects on local file systems are remembered,
 * because other file systems may report birth times that were set by a user.  A slot is
 * never cleared: if its object no longer exists, no other object matches the slot.
 */
#include "nfsd.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Seconds; longer than the clock tick and the resolution of any file system's times. */
enum { OLD_SECONDS = 3 };

void handle_cache_init(struct handle_cache *c)
{
	pthread_mutex_init(&c->lock, NULL);
}

void handle_cache_fini(struct handle_cache *c)
{
	pthread_mutex_destroy(&c->lock);
}

bool stamp_is_old(const struct statx_timestamp *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return t->tv_sec < now.tv_sec - OLD_SECONDS;
}

/* The entries of a directory often have consecutive inode numbers, which use different
 * slots. */
static struct known_handle *find_handle_slot(struct handle_cache *c, uint32_t export,
                                             uint64_t ino)
{
	return &c->slots[(ino + export) % HANDLE_SLOTS];
}

static bool is_known_object(const struct known_handle *k, const struct statx *st)
{
	return st->stx_mask & STATX_BTIME && k->ino == st->stx_ino &&
	       k->born.tv_sec == st->stx_btime.tv_sec &&
	       k->born.tv_nsec == st->stx_btime.tv_nsec;
}

bool handle_recall(struct nfsd *d, const struct object *dir, const char *name,
                   uint64_t ino, struct handle *ret, struct statx *ret_stx)
{
	struct handle_cache *c = &d->handles;
	struct known_handle k;

	pthread_mutex_lock(&c->lock);
	k = *find_handle_slot(c, dir->ex->id, ino);
	pthread_mutex_unlock(&c->lock);
	if (k.ino != ino || k.export != dir->ex->id || !k.handle.len ||
	    handle_stat_child(dir, name, ret_stx) || !is_known_object(&k, ret_stx))
		return false;
	*ret = k.handle;
	return true;
}

bool handle_describe(const struct export *ex, const struct handle *h,
                     const struct statx *st, struct known_handle *ret)
{
	if (!ex->by_handle || ex->fs->kind == FS_ASLEEP ||
	    !(st->stx_mask & STATX_BTIME) || !stamp_is_old(&st->stx_btime))
		return false;
	*ret = (struct known_handle){.ino = st->stx_ino,
	                             .born = st->stx_btime,
	                             .export = ex->id,
	                             .handle = *h};
	return true;
}

void handle_remember(struct nfsd *d, const struct known_handle *k, unsigned n)
{
	struct handle_cache *c = &d->handles;

	if (!n)
		return;
	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < n; i++)
		*find_handle_slot(c, k[i].export, k[i].ino) = k[i];
	pthread_mutex_unlock(&c->lock);
}
