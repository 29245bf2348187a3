/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File handles (handle.c), a cache of them (handle_cache.c), and the search for an
 * object by inode number, for file systems where the kernel does not open handles
 * (inode_walk.c).
 */
#ifndef RPCRDMA_NFSD_HANDLE_H
#define RPCRDMA_NFSD_HANDLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "nfs/nfs3_msg.h"

struct export;
struct nfsd;
struct object;
struct statx;

enum { HANDLE_MAX_DEPTH = 128 }; /* maximum number of directories on an object's path */

struct handle {
	uint8_t octets[NFS3_FHSIZE];
	unsigned len;
};

/* Makes the handle of the object that @fd is open on (O_PATH is sufficient), and reads
 * the object's attributes.  Handle and attributes describe the same object, even if the
 * object is renamed in the meantime.  @parent is the handle of the object's directory,
 * or NULL for an export's root.  Returns 0, -EXDEV at a mount point, or another
 * negative errno. */
int handle_make(struct nfsd *, struct export *, const struct handle *parent, int fd,
                struct handle *ret, struct statx *ret_stx);
/* Works like handle_make for the entry @name in @dir. */
int handle_make_child(struct nfsd *, const struct object *dir, const char *name,
                      struct handle *ret, struct statx *ret_stx);
/* Works like handle_make_child, but does not open the object, which takes half of the
 * time.  If another object gets the name during the call, handle and attributes may
 * describe different objects; the caller must detect this.  The name must not be a mount
 * point, because the function would access the mounted file system. */
int handle_make_quickly(struct nfsd *, const struct object *dir, const char *name,
                        struct handle *ret, struct statx *ret_stx);
/* Reads the attributes of the entry @name in @dir, which must not be a mount point.
 * Returns 0, -EXDEV if the object is not on the export's mount or the kernel does not
 * report mount IDs, or another negative errno. */
int handle_stat_child(const struct object *dir, const char *name, struct statx *ret);
/* Works like handle_make for the directory @fd, which is the parent of @child. */
int handle_make_parent(struct nfsd *, struct export *, const struct handle *child,
                       int fd, struct handle *ret, struct statx *ret_stx);
/* Works like handle_make for a directory @fd below the export, when no handle is known
 * for its parent or for any of its entries.  Where the kernel makes no handles, climbs
 * to the export's root.  The thread must be running with the server's own identity
 * (ident_enter_server). */
int handle_make_climbing(struct nfsd *, struct export *, int fd, struct handle *ret,
                         struct statx *ret_stx);
/* Climbs from the directory @fd to the export's root.  The thread must be running with
 * the server's own identity.  Returns the number of directories on the way, including
 * @fd but not the root, and stores their inode numbers in @inos unless @inos is NULL.
 * Returns -ESTALE if @fd is not below the root, or -ENAMETOOLONG if there are more than
 * @max directories. */
int handle_climb(const struct export *, int fd, uint64_t *inos, int max);
/* Makes the handle of the empty directory that is shown in place of a mounted file
 * system that is not served. */
void handle_make_covered(struct nfsd *, const struct export *, uint64_t ino,
                         uint64_t place, struct handle *ret);
/* If the handle was made by handle_make_covered, returns true and stores the arguments
 * of that call in @ret_ino and @ret_place. */
bool handle_covered(const struct handle *, uint64_t *ret_ino, uint64_t *ret_place);
/* Checks the handle's format and MAC.  Returns 0 and stores the export, with a
 * reference, in @ret.  Returns -EBADF, which becomes NFS3ERR_BADHANDLE, if the handle
 * is malformed, or -ESTALE if there is no such export. */
int handle_verify(struct nfsd *, const void *data, size_t len, struct export **ret);
/* Opens with O_PATH the object that a verified handle refers to.  The thread must be
 * running with the server's own identity.  Returns 0, -ESTALE if the object no longer
 * exists, or another negative errno. */
int handle_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* Works like handle_open, but the export must already be open. */
int handle_open_here(struct export *, const struct handle *, int *ret_fd);
/* Returns true if an object with these attributes is on the export's own mount and
 * device. */
bool handle_inside(const struct export *, const struct statx *);

/* Reads the attributes of @name in @fd, or of @fd itself if @name is empty.  Returns 0
 * or a negative errno. */
int statx_fd(int fd, const char *name, struct statx *ret);
/* Finds the mount ID of the file that @fd is open on.  Returns 0 or a negative errno. */
int mount_id_of(int fd, uint64_t *ret);
/* Opens @name in @dir; @mode is the mode of a file that the call creates.  Returns a
 * descriptor, -EXDEV if @name is a mount point, or another negative errno.  With Linux
 * 5.6 or later, does not access the mounted file system. */
int open_name(int dir, const char *name, int flags, mode_t mode);
/* Opens @path below @dir, crossing mount points.  Does not follow symbolic links,
 * because clients may have made them.  Returns a descriptor or a negative errno. */
int open_beneath(int dir, const char *path, int flags);

/* -- handles of objects that were listed before (handle_cache.c) ----------- */

enum { HANDLE_SLOTS = 32768 };

struct known_handle {
	uint64_t ino;
	struct statx_timestamp born;
	uint32_t export; /* number of the export in handles */
	struct handle handle;
};

struct handle_cache {
	pthread_mutex_t lock; /* guards the slots */
	struct known_handle slots[HANDLE_SLOTS];
};

void handle_cache_init(struct handle_cache *);
void handle_cache_fini(struct handle_cache *);
/* Makes the record of an object with this handle and these attributes.  Returns false if
 * the attributes do not identify the object. */
bool handle_describe(const struct export *, const struct handle *, const struct statx *,
                     struct known_handle *ret);
/* Adds @n objects to the cache.  Each handle and the attributes from which
 * handle_describe made the record must describe the same object. */
void handle_remember(struct nfsd *, const struct known_handle *, unsigned n);
/* Reads the attributes of the entry @name in @dir, and finds its handle in the cache.
 * @ino is the entry's inode number according to the directory.  Returns true and stores
 * both, which describe the same object, or returns false.  The name must not be a mount
 * point. */
bool handle_recall(struct nfsd *, const struct object *dir, const char *name,
                   uint64_t ino, struct handle *ret, struct statx *ret_stx);
/* Returns true if the time is so long ago that every later event gets a later time
 * stamp. */
bool stamp_is_old(const struct statx_timestamp *);

/* -- handles that the server makes itself (inode_walk.c) ------------------- */

enum { WALK_CHAIN = 17 };
struct walk_id {
	uint64_t ino;
	uint32_t born; /* digest of the birth time */
	uint8_t depth; /* number of names from the root to the object; 0 = the root */
	uint16_t chain[WALK_CHAIN]; /* inode digests of the topmost directories */
};

struct walk_slot {
	uint64_t ino, parent;
	char *name; /* owned */
};

enum { WALK_SLOTS = 16384, WALK_MISSES = 1024 };

struct walk_miss {
	uint64_t digest; /* digest of a handle whose object a search did not find */
	uint64_t until;  /* when the search may be repeated; monotonic ns */
};

/* Limits how often one export is searched. */
struct walk_pace {
	unsigned running;
	uint64_t not_before; /* earliest start of the next search; monotonic ns */
	struct walk_miss misses[WALK_MISSES];
};

/* Returns the digest of a birth time, or 0 if the file system has none. */
uint32_t walk_born(const struct statx *);
/* Returns the digest of an inode number for struct walk_id. */
uint16_t walk_digest(uint64_t ino);
/* Remembers that the object with the inode number @ino is the entry @name of the
 * directory with the inode number @parent. */
void walk_learn(struct export *, uint64_t ino, uint64_t parent, const char *name);
/* Finds an object and opens it with O_PATH.  The thread must be running with the
 * server's own identity.  Returns 0, -ESTALE if the object is not found, -EAGAIN if no
 * search is allowed at present, or another negative errno. */
int walk_open(struct export *, const struct walk_id *, int *ret_fd);

#endif
