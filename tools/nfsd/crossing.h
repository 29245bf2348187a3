/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is mounted beneath exports.
 *
 *   mounts.c    the kernel's table of mounts
 *   crossing.c  mounted file systems that are served with an export (crossmnt)
 *   covered.c   mount points of those that are not: empty directories
 *
 * A directory that something is mounted on is found by openat2(RESOLVE_NO_XDEV), which
 * does not touch the mounted file system; the table says which one it is.  With
 * crossmnt it becomes a `struct export` of its own, with the name and the clients of
 * the export at the top: so it has its own fsid, handles, walk table, queue and
 * workers, and what is renamed or linked across is XDEV.  LOOKUP and MNT reach it in
 * two steps: a worker of the directory's file system finds the record, one of the
 * mounted file system opens it.  Its number in handles is a digest of its place, type
 * and source, so that after a restart the table leads to it again.
 *
 * Requests and objects hold a record.  Once nobody does, its descriptors are closed, so
 * that it can be unmounted, and after that the record is freed.  The table is read
 * again when the kernel says that it changed: what is mounted there no more is stale.
 *
 * A subvolume (Btrfs) is a file system of its own without a mount: only LOOKUP finds
 * it, and its handles are stale after a restart until it has.
 *
 * Otherwise, or if there are too many, the mount point is an empty directory that
 * nobody can change, with the inode number that READDIR tells of it.  Its handle has
 * that number and a digest of its place, and is stale once nothing is mounted there.
 */
#ifndef RPCRDMA_NFSD_CROSSING_H
#define RPCRDMA_NFSD_CROSSING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct export;
struct filesystem;
struct handle;
struct nfsd;
struct object;

/* ---- The kernel's table (mounts.c) --------------------------------------- */

struct mount_line {
	uint64_t id, parent;
	uint32_t dev_major, dev_minor;
	char *path, *root, *type, *source; /* owned; from this process's root */
	bool noatime, relatime, read_only;
	uint64_t covered; /* inode number of the mount point; 0: not looked for */
};

struct mounts {
	int fd; /* -1: there is none */
	bool known;
	struct mount_line *all; /* owned */
	unsigned n;
};

void mounts_init(struct mounts *);
void mounts_fini(struct mounts *);
/* Reads the table if it changed.  True if it was read. */
bool mounts_refresh(struct mounts *);
struct mount_line *mounts_by_id(const struct mounts *, uint64_t id);
/* The uppermost of what is mounted at @path in the mount @parent; NULL: nothing. */
struct mount_line *mounts_at(const struct mounts *, uint64_t parent, const char *path);

/* ---- Mounted file systems (crossing.c) ----------------------------------- */

enum { CROSSINGS_MAX = 256 /* of one export */, CROSSINGS_PLACES = 256 };

/* A mount point that the table does not have, of a subvolume. */
struct crossing_place {
	uint64_t fsid, place; /* of the export, and the digest */
	char *path;           /* owned; beneath the root of its top */
};

struct crossings {
	pthread_mutex_t lock; /* of all, and of the records' users and places */
	struct mounts mounts;
	struct export *first;
	struct crossing_place places[CROSSINGS_PLACES];
	unsigned next_place;
};

/* What is mounted at a name. */
struct mounted {
	struct export *ex;           /* it is served, and held; NULL: it is not, */
	uint64_t id, covered, place; /* and these are of its mount point */
};

void crossings_init(struct crossings *);
/* After the last request. */
void crossings_fini(struct nfsd *);
/* What is mounted at @name in the directory @fd of @ex.  @st: the attributes of the
 * former, if they are known, else what @ex's own directories have.  0, or -EACCES: the
 * table does not say. */
int crossing_at(struct nfsd *, struct export *ex, int fd, const char *name,
                const struct statx *st, struct mounted *ret);
/* The live one with this number in handles, held; or NULL.  Touches no file system. */
struct export *crossing_find(struct nfsd *, uint32_t id);
/* The export that the mount @id is, held: the top of @ex, or one beneath it.  NULL:
 * none. */
struct export *crossing_of_mount(struct nfsd *, struct export *ex, uint64_t id);
/* Opens what is held.  Sleeps; the thread acts as the server.  0, -ESTALE... */
int crossing_open(struct nfsd *, struct export *);
/* Closes and frees records that nobody holds.  Called once a second. */
void crossings_expire(struct nfsd *);
/* For exports of all kinds. */
void export_hold(struct nfsd *, struct export *);
void export_put(struct nfsd *, struct export *);
struct export *export_top(const struct export *);

/* ---- Mount points of what is not served (covered.c) ---------------------- */

/* Is something mounted at @place beneath @ex that is not served?  0, and the path of
 * its directory beneath the root of the export's top; or -ESTALE. */
int crossing_covers(struct nfsd *, struct export *ex, uint64_t place, char *ret,
                    size_t size);
/* The next crossing_at of that mount returns @covered. */
void crossing_learn(struct nfsd *, uint64_t id, uint64_t covered);
/* The handle and the attributes of @name in @dir, which @m is mounted on.  Keeps the
 * thread's identity (@id). */
struct ident;
int covered_make(struct nfsd *, struct object *dir, const char *name,
                 const struct mounted *m, const struct ident *id, struct handle *ret,
                 struct statx *ret_stx);
/* Opens the directory that the mount point of a verified handle lies in. */
int covered_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* Attributes of a mount point in the directory @fd; -ESTALE when it is none. */
int covered_stat(struct nfsd *, struct export *, const struct handle *, int fd,
                 struct statx *ret);

#endif
