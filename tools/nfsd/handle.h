/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File handles (handle.c), and the search for an object by its inode number where the
 * kernel does not open handles (inode_walk.c).
 */
#ifndef RPCRDMA_NFSD_HANDLE_H
#define RPCRDMA_NFSD_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "nfs/nfs3_msg.h"

struct export;
struct nfsd;
struct object;
struct statx;

enum { HANDLE_MAX_DEPTH = 128 }; /* directories on a path that is climbed */

struct handle {
	uint8_t octets[NFS3_FHSIZE];
	unsigned len;
};

/* Makes the handle of the object that @fd is open on (O_PATH will do), and reads its
 * attributes.  Both are of one object, whatever happens to its name meanwhile.
 * @parent: the handle of its directory, or NULL for an export's root.  Returns -EXDEV
 * at a mount point. */
int handle_make(struct nfsd *, struct export *, const struct handle *parent, int fd,
                struct handle *ret, struct statx *ret_stx);
/* The same for @name in @dir. */
int handle_make_child(struct nfsd *, const struct object *dir, const char *name,
                      struct handle *ret, struct statx *ret_stx);
/* The same for the directory @fd, which is the parent of @child. */
int handle_make_parent(struct nfsd *, struct export *, const struct handle *child,
                       int fd, struct handle *ret, struct statx *ret_stx);
/* The same for the directory @fd beneath the export, if the handles of its parent and
 * its entries are unknown.  Where the kernel makes no handles, it climbs to the
 * export's root.  The calling thread must act as the server (ident_enter_server). */
int handle_make_climbing(struct nfsd *, struct export *, int fd, struct handle *ret,
                         struct statx *ret_stx);
/* Climbs from the directory @fd to the export's root; the thread acts as the server.
 * Returns the number of directories from @fd (included) to the root (excluded), with
 * their inode numbers in @inos unless that is NULL.  -ESTALE: the way does not lead to
 * the root; -ENAMETOOLONG: it has more than @max directories. */
int handle_climb(const struct export *, int fd, uint64_t *inos, int max);
/* Makes the handle of the empty directory that stands for a file system that is mounted
 * but not served. */
void handle_make_covered(struct nfsd *, const struct export *, uint64_t ino,
                         uint64_t place, struct handle *ret);
/* Returns true, with what handle_make_covered was given, if it is such a handle. */
bool handle_covered(const struct handle *, uint64_t *ret_ino, uint64_t *ret_place);
/* Checks form and seal.  Returns 0 and the export, with a reference; -EBADF
 * (BADHANDLE); or -ESTALE if there is no such export. */
int handle_verify(struct nfsd *, const void *data, size_t len, struct export **ret);
/* Opens the object of a verified handle with O_PATH; the thread acts as the server.
 * Returns -ESTALE if the object is gone. */
int handle_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* The same for an export that is open. */
int handle_open_here(struct export *, const struct handle *, int *ret_fd);
/* Returns true if the attributes are those of an object on the export's own mount and
 * device. */
bool handle_inside(const struct export *, const struct statx *);

/* Reads the attributes of @name in @fd, or of @fd itself if @name is empty. */
int statx_fd(int fd, const char *name, struct statx *ret);
/* Finds the number of the mount that @fd is open on. */
int mount_id_of(int fd, uint64_t *ret);
/* Opens @name in @dir, with @mode if it is created.  Returns a descriptor or negative
 * errno: -EXDEV at a mount point.  The mounted file system is not touched where the
 * kernel allows that (Linux 5.6). */
int open_name(int dir, const char *name, int flags, mode_t mode);
/* Opens @path beneath @dir, mounted file systems included.  It follows no symbolic
 * link, since clients could have made one. */
int open_beneath(int dir, const char *path, int flags);

/* -- handles that the server makes itself (inode_walk.c) ------------------- */

enum { WALK_CHAIN = 17 };
struct walk_id {
	uint64_t ino;
	uint32_t born; /* digest of the time of birth */
	uint8_t depth; /* directories from the root to the object; 0: the root */
	uint16_t chain[WALK_CHAIN]; /* digests of the inodes of the topmost of them */
};

struct walk_slot {
	uint64_t ino, parent;
	char *name; /* owned */
};

enum { WALK_SLOTS = 16384, WALK_MISSES = 1024 };

struct walk_miss {
	uint64_t digest; /* of a handle that was not found */
	uint64_t until;  /* monotonic ns; then it may be searched for again */
};

/* Limits the searches of one export. */
struct walk_pace {
	unsigned running;
	uint64_t not_before; /* monotonic ns: when the next search may begin */
	struct walk_miss misses[WALK_MISSES];
};

/* Returns the digest of a time of birth, or 0 if the file system has none. */
uint32_t walk_born(const struct statx *);
/* Returns the digest of a directory's inode number for struct walk_id. */
uint16_t walk_digest(uint64_t ino);
/* Remembers that the object @ino is @name in the directory @parent. */
void walk_learn(struct export *, uint64_t ino, uint64_t parent, const char *name);
/* Opens an object with O_PATH; the thread acts as the server.  Returns -ESTALE if it is
 * not found, -EAGAIN if it may not be searched for now. */
int walk_open(struct export *, const struct walk_id *, int *ret_fd);

#endif
