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

enum { HANDLE_MAX_DEPTH = 128 }; /* limit of directories on an object's path */

struct handle {
	uint8_t octets[NFS3_FHSIZE];
	unsigned len;
};

/* Makes the handle of the object that @fd is open on (O_PATH is sufficient), and reads
 * its attributes.  Both describe the same object, even if its name changes meanwhile.
 * @parent is the handle of the object's directory, or NULL for an export's root.
 * Returns 0, -EXDEV at a mount point, or another negative errno. */
int handle_make(struct nfsd *, struct export *, const struct handle *parent, int fd,
                struct handle *ret, struct statx *ret_stx);
/* Works like handle_make for the entry @name in @dir. */
int handle_make_child(struct nfsd *, const struct object *dir, const char *name,
                      struct handle *ret, struct statx *ret_stx);
/* Works like handle_make for the directory @fd, which is the parent of @child. */
int handle_make_parent(struct nfsd *, struct export *, const struct handle *child,
                       int fd, struct handle *ret, struct statx *ret_stx);
/* Works like handle_make for the directory @fd below the export, if the handles of the
 * directory's parent and entries are unknown.  Where the kernel makes no handles,
 * climbs to the export's root.  The thread must act as the server
 * (ident_enter_server). */
int handle_make_climbing(struct nfsd *, struct export *, int fd, struct handle *ret,
                         struct statx *ret_stx);
/* Climbs from the directory @fd to the export's root.  The thread must act as the
 * server.  Returns the number of directories from @fd (included) to the root
 * (excluded), and their inode numbers in @inos unless @inos is NULL.  Returns -ESTALE
 * if @fd is not below the root, or -ENAMETOOLONG if there are more than @max
 * directories. */
int handle_climb(const struct export *, int fd, uint64_t *inos, int max);
/* Makes the handle of the empty directory that is shown in place of a mounted file
 * system that is not served. */
void handle_make_covered(struct nfsd *, const struct export *, uint64_t ino,
                         uint64_t place, struct handle *ret);
/* If the handle was made by handle_make_covered, returns true, with the arguments of
 * that call in @ret_ino and @ret_place. */
bool handle_covered(const struct handle *, uint64_t *ret_ino, uint64_t *ret_place);
/* Checks the handle's format and MAC.  Returns 0 and the export with a reference,
 * -EBADF (for BADHANDLE), or -ESTALE if there is no such export. */
int handle_verify(struct nfsd *, const void *data, size_t len, struct export **ret);
/* Opens the object of a verified handle with O_PATH.  The thread must act as the
 * server.  Returns 0, -ESTALE if the object is gone, or another negative errno. */
int handle_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* Works like handle_open for an export that is open. */
int handle_open_here(struct export *, const struct handle *, int *ret_fd);
/* Returns true if an object with these attributes is on the export's own mount and
 * device. */
bool handle_inside(const struct export *, const struct statx *);

/* Reads the attributes of @name in @fd, or of @fd itself if @name is empty.  Returns 0
 * or negative errno. */
int statx_fd(int fd, const char *name, struct statx *ret);
/* Finds the ID of the mount that @fd is open on.  Returns 0 or negative errno. */
int mount_id_of(int fd, uint64_t *ret);
/* Opens @name in @dir, with @mode if the file is created.  Returns a descriptor or
 * negative errno, -EXDEV at a mount point.  Where the kernel allows it (Linux 5.6),
 * does not access the mounted file system. */
int open_name(int dir, const char *name, int flags, mode_t mode);
/* Opens @path below @dir, across mount points.  Does not follow symbolic links, which
 * clients may have made.  Returns a descriptor or a negative errno. */
int open_beneath(int dir, const char *path, int flags);

/* -- handles that the server makes itself (inode_walk.c) ------------------- */

enum { WALK_CHAIN = 17 };
struct walk_id {
	uint64_t ino;
	uint32_t born; /* digest of the birth time */
	uint8_t depth; /* directories from the root to the object; 0 = the root */
	uint16_t chain[WALK_CHAIN]; /* inode digests of the topmost directories */
};

struct walk_slot {
	uint64_t ino, parent;
	char *name; /* owned */
};

enum { WALK_SLOTS = 16384, WALK_MISSES = 1024 };

struct walk_miss {
	uint64_t digest; /* digest of a handle whose object was not found */
	uint64_t until;  /* monotonic ns when a search for the handle may be repeated */
};

/* Limits the searches of one export. */
struct walk_pace {
	unsigned running;
	uint64_t not_before; /* earliest start of the next search, monotonic ns */
	struct walk_miss misses[WALK_MISSES];
};

/* Returns the digest of a birth time, or 0 if the file system has none. */
uint32_t walk_born(const struct statx *);
/* Returns the digest of an inode number for struct walk_id. */
uint16_t walk_digest(uint64_t ino);
/* Remembers that the object with the number @ino is @name in the directory @parent. */
void walk_learn(struct export *, uint64_t ino, uint64_t parent, const char *name);
/* Opens an object with O_PATH.  The thread must act as the server.  Returns 0, -ESTALE
 * if the object is not found, -EAGAIN if it must not be searched for now, or another
 * negative errno. */
int walk_open(struct export *, const struct walk_id *, int *ret_fd);

#endif
