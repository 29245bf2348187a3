/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File systems that are mounted beneath exports.
 *
 *   mount_table.c  the kernel's table of mounts
 *   crossing.c     mounted file systems that are served with an export (crossmnt)
 *   covered.c      the mount points of the others, which are shown as empty directories
 *
 * openat2(RESOLVE_NO_XDEV) detects a mount point without touching the mounted file
 * system, and the table tells which one it is.  With crossmnt the file system becomes a
 * `struct export` of its own (a record), with the name and the clients of the export
 * above.  So it has its own fsid, handles, walk table, queue and workers, and RENAME or
 * LINK across the border returns XDEV.  LOOKUP and MNT reach it in two steps: a worker
 * of the directory's file system finds the record, and one of the mounted file system
 * opens it.  Its number in handles is a digest of its place, type and source, with
 * which the table leads to it again after a restart.
 *
 * Requests and objects have references to a record.  After the last one its descriptors
 * are closed, so that the file system can be unmounted; then the record is freed.  The
 * table is read again when the kernel reports a change, and records whose mount is gone
 * become stale.
 *
 * A Btrfs subvolume is a file system of its own without a mount.  Only LOOKUP finds it,
 * and after a restart its handles are stale until LOOKUP has found it again.
 *
 * Without crossmnt, or if there are too many mounts, the mount point is an empty
 * directory that nobody can change, with the inode number that READDIR reports for it.
 * Its handle has that number and a digest of its place, and is stale once nothing is
 * mounted there.
 */
#ifndef RPCRDMA_NFSD_CROSSING_H
#define RPCRDMA_NFSD_CROSSING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export;
struct handle;
struct ident;
struct nfsd;
struct object;
struct statx;

/* -- the kernel's table (mount_table.c) ------------------------------------ */

struct mount_line {
	uint64_t id, parent;
	uint32_t dev_major, dev_minor;
	char *path, *root, *type, *source; /* owned; paths from this process's root */
	bool noatime, relatime, read_only;
	uint64_t covered; /* inode number of the mount point; 0: not known yet */
};

/* The lock of struct crossings protects it. */
struct mount_table {
	int fd;                 /* of the table; -1: it cannot be read */
	bool known;             /* the lines below are those of the table */
	struct mount_line *all; /* owned */
	unsigned n;
};

void mount_table_init(struct mount_table *);
void mount_table_fini(struct mount_table *);
/* Reads the table if it changed.  Returns true if it was read. */
bool mount_table_refresh(struct mount_table *);
/* Returns the mount with this number, or NULL. */
struct mount_line *mount_table_find(const struct mount_table *, uint64_t id);
/* Returns the uppermost mount at @path in the mount @parent, or NULL. */
struct mount_line *mount_table_at(const struct mount_table *, uint64_t parent,
                                  const char *path);

/* -- mounted file systems (crossing.c) ------------------------------------- */

enum { CROSSINGS_MAX = 256 /* of one export */, CROSSINGS_PLACES = 256 };

/* The place of a subvolume that is not served; the table does not have it. */
struct crossing_place {
	uint64_t fsid, place; /* of the export, and the digest of @path */
	char *path;           /* owned; from the root of the top export */
};

struct crossings {
	pthread_mutex_t lock; /* of all fields, and of the records' users and places */
	struct mount_table mounts;
	struct export *first; /* the records */
	struct crossing_place places[CROSSINGS_PLACES];
	unsigned next_place;
};

/* What is mounted at a name. */
struct mounted {
	struct export *ex; /* the record, with a reference; NULL: it is not served */
	uint64_t id, covered,
	        place; /* then: of the mount, its mount point, its place */
};

void crossings_init(struct crossings *);
/* Frees all records, after the last request. */
void crossings_fini(struct nfsd *);
/* Finds the file system that is mounted at @name in the directory @fd of @ex.  @st: its
 * attributes if they are known, else zeroed.  Returns 0, or -EACCES if the table does
 * not tell. */
int crossing_at(struct nfsd *, struct export *ex, int fd, const char *name,
                const struct statx *st, struct mounted *ret);
/* Returns the live record with this number in handles, with a reference, or NULL.
 * Touches no file system. */
struct export *crossing_find(struct nfsd *, uint32_t id);
/* Returns the export for the mount @id, with a reference: the top of @ex, or a record
 * beneath it.  NULL: it is neither. */
struct export *crossing_of_mount(struct nfsd *, struct export *ex, uint64_t id);
/* Opens a record to which the caller has a reference.  Sleeps; the thread acts as the
 * server.  Returns 0, -ESTALE or other negative errno. */
int crossing_open(struct nfsd *, struct export *);
/* Closes and frees records without references.  Called once a second. */
void crossings_expire(struct nfsd *);
/* Take and give back a reference; they do nothing for an export that is not a
 * record. */
void export_hold(struct nfsd *, struct export *);
void export_put(struct nfsd *, struct export *);
/* Returns the export above a record, or the export itself. */
struct export *export_top(const struct export *);

/* -- mount points of file systems that are not served (covered.c) ---------- */

/* Checks that a file system that is not served is mounted at @place beneath @ex.
 * Returns 0 and the path of the directory of the mount point, from the root of the top
 * export; or -ESTALE. */
int crossing_covers(struct nfsd *, struct export *ex, uint64_t place, char *ret,
                    size_t size);
/* Remembers that the mount @id covers the inode @covered; crossing_at reports it. */
void crossing_learn(struct nfsd *, uint64_t id, uint64_t covered);
/* Makes the handle and the attributes of the mount point @name in @dir.  The thread
 * acts as @id before and after. */
int covered_make(struct nfsd *, struct object *dir, const char *name,
                 const struct mounted *m, const struct ident *id, struct handle *ret,
                 struct statx *ret_stx);
/* Opens the directory of the mount point of a verified handle. */
int covered_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* Reads the attributes of a mount point in the directory @fd.  Returns -ESTALE if
 * nothing is mounted there. */
int covered_stat(struct nfsd *, struct export *, const struct handle *, int fd,
                 struct statx *ret);

#endif
