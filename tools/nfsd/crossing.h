/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File systems that are mounted below exports.
 *
 *   mount_table.c  the kernel's table of mounts
 *   crossing.c     mounted file systems that are served with an export (crossmnt)
 *   covered.c      the other mount points, which are shown as empty directories
 *
 * openat2(RESOLVE_NO_XDEV) detects a mount point without accessing the mounted file
 * system, and the mount table identifies that file system.  With crossmnt, each mounted
 * file system gets a `struct export` (a record), with the name and the clients of the
 * export above it.  Each record therefore has its own fsid, handles, walk table, queue
 * and workers, and RENAME or LINK from one file system to another returns XDEV.
 *
 * LOOKUP and MNT reach the mounted file system in two steps: a worker of the
 * directory's file system finds the record, and a worker of the mounted file system
 * opens it.  Handles contain the record's number, a digest of its path, type and
 * source.  After a restart, the server uses this number to find the mount in the mount
 * table.
 *
 * Requests and objects hold references to a record.  Some time after the last reference
 * has been released, the record's descriptors are closed, so that the file system can
 * be unmounted.  The mount table is read again when the kernel reports a change.  A
 * record whose mount has disappeared becomes stale and is freed.
 *
 * A Btrfs subvolume is a separate file system that is not in the mount table.  Only
 * LOOKUP discovers a subvolume; after a restart its handles are stale until LOOKUP
 * discovers it again.
 *
 * Without crossmnt, or if there are too many mounts, the mount point is shown as an
 * empty directory that nobody can change.  Its inode number is the number that READDIR
 * reports for it.  The directory's handle contains this number and a digest of the
 * path, and becomes stale when the file system is unmounted.
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
	char *path, *root, *type, *source; /* owned; @path from this process's root */
	bool noatime, relatime, read_only;
	uint64_t covered; /* inode number of the mount point; 0 = not known yet */
};

/* Guarded by the lock of struct crossings. */
struct mount_table {
	int fd;                 /* open mountinfo file; -1 = it cannot be read */
	bool known;             /* the lines below are up to date */
	bool whole;             /* no line of the kernel's table is missing */
	struct mount_line *all; /* owned */
	unsigned n;
};

/* The names of mount points, as a set of their digests, so other names may be in the set
 * too.  A name that is not in the set is not a mount point, because no process in this
 * mount namespace can rename a mount point.  (A process in another mount namespace can;
 * mount IDs must therefore still be compared.) */
struct mount_names {
	uint64_t bits[16];
};

void mount_table_init(struct mount_table *);
void mount_table_fini(struct mount_table *);
/* Reads the table if it has changed since the last call.  Returns true if the table was
 * read. */
bool mount_table_refresh(struct mount_table *);
/* Returns the mount with this ID, or NULL. */
struct mount_line *mount_table_find(const struct mount_table *, uint64_t id);
/* Returns the topmost of the mounts at @path in the mount @parent, or NULL if nothing
 * is mounted there. */
struct mount_line *mount_table_at(const struct mount_table *, uint64_t parent,
                                  const char *path);
/* Stores the names of the mount points in the mount @parent, without their directories,
 * which may be renamed.  Stores the set of all names if the table is not known. */
void mount_table_names(const struct mount_table *, uint64_t parent,
                       struct mount_names *ret);
bool mount_names_contain(const struct mount_names *, const char *name);

/* -- mounted file systems (crossing.c) ------------------------------------- */

enum {
	CROSSINGS_MAX = 256 /* maximum number of records for one export */,
	CROSSINGS_PLACES = 256
};

/* The place of a subvolume that is not served.  The mount table does not list
 * subvolumes. */
struct crossing_place {
	uint64_t fsid, place; /* fsid of the export; digest of @path */
	char *path;           /* owned; relative to the root of the top export */
};

struct crossings {
	pthread_mutex_t lock; /* guards all fields, and each record's users and next */
	struct mount_table mounts;
	struct export *first; /* the records */
	struct crossing_place places[CROSSINGS_PLACES];
	unsigned next_place;
};

/* The file system mounted at a name.  If it is not served, @ex is NULL. */
struct mounted {
	struct export *ex; /* record, with a reference; NULL = not served */
	uint64_t id, covered,
	        place; /* if not served: mount ID, mount point's inode, path's digest */
};

void crossings_init(struct crossings *);
/* Frees all records.  Call this after the last request. */
void crossings_fini(struct nfsd *);
/* Finds the file system that is mounted at @name in the directory @fd of @ex.  @st
 * contains the attributes of @name, or zeros if they are not known.  Returns 0, or
 * -EACCES if the table does not list the mount. */
int crossing_at(struct nfsd *, struct export *ex, int fd, const char *name,
                const struct statx *st, struct mounted *ret);
/* Stores the names of the mount points in the mount of @ex, in any of its directories.
 * Accesses no file system. */
void crossing_names(struct nfsd *, const struct export *ex, struct mount_names *ret);
/* Returns the live record whose number in handles is @id, with a reference, or NULL if
 * there is no such record.  Accesses no file system. */
struct export *crossing_find(struct nfsd *, uint32_t id);
/* Returns, with a reference, the export that serves the mount @id: the top export of
 * @ex or one of its records.  Returns NULL if the mount is not served. */
struct export *crossing_of_mount(struct nfsd *, struct export *ex, uint64_t id);
/* Opens a record's descriptors.  The caller must have a reference to the record, and
 * the thread must be running with the server's own identity.  May sleep.  Returns 0,
 * -ESTALE or another negative errno. */
int crossing_open(struct nfsd *, struct export *);
/* Closes the descriptors of records without references, and frees stale records.
 * Called once a second. */
void crossings_expire(struct nfsd *);
/* Add and release a reference.  They do nothing for an export that is not a record. */
void export_hold(struct nfsd *, struct export *);
void export_put(struct nfsd *, struct export *);
/* Returns the export above a record, or the export itself. */
struct export *export_top(const struct export *);

/* -- mount points of file systems that are not served (covered.c) ---------- */

/* Finds the mount point whose path has the digest @place, and where a file system that
 * is not served is mounted.  Returns 0 and stores the path of the mount point's parent
 * directory in @ret, relative to the root of the top export.  Returns -ESTALE if there
 * is no such mount point. */
int crossing_covers(struct nfsd *, struct export *ex, uint64_t place, char *ret,
                    size_t size);
/* Stores @covered as the inode number of the directory that the mount @id covers.
 * Later calls of crossing_at return this number. */
void crossing_learn(struct nfsd *, uint64_t id, uint64_t covered);
/* Makes the handle and the attributes of the mount point @name in @dir.  The calling
 * thread must be running with the identity @id; the function may switch to the server's
 * identity, but restores @id.  Returns 0 or a negative errno. */
int covered_make(struct nfsd *, struct object *dir, const char *name,
                 const struct mounted *m, const struct ident *id, struct handle *ret,
                 struct statx *ret_stx);
/* Opens the parent directory of the mount point that a verified handle refers to.
 * Returns 0 or a negative errno. */
int covered_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* Reads the attributes of a mount point whose parent directory is @fd.  Returns -ESTALE
 * if nothing is mounted there. */
int covered_stat(struct nfsd *, struct export *, const struct handle *, int fd,
                 struct statx *ret);

#endif
