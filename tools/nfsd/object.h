/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open objects and their cache (object.c); when their data reach storage (stable.c).
 */
#ifndef RPCRDMA_NFSD_OBJECT_H
#define RPCRDMA_NFSD_OBJECT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "handle.h"
#include "ident.h"
#include "workers.h"

struct export;
struct filesystem;
struct nfsd;
struct statx;

/* The kernel's answer for one caller. */
struct object_perm {
	struct ident who;
	uint32_t mode, uid, gid; /* of the object when the kernel was asked */
	time_t checked;
	int granted; /* R_OK | W_OK | X_OK, as far as they were granted */
};

struct object {
	struct worker_job job;        /* which tidies or frees it */
	struct nfsd *nfsd;            /* whose cache it is in */
	struct object *hash_next;     /* once unhashed: in a list of objects to free */
	struct object *newer, *older; /* by the cache's lock */
	unsigned refs;                /* by the cache's lock */
	bool hashed;
	bool tidying; /* the job is queued, and has a reference */
	time_t used;
	struct export *ex;
	struct handle fh;
	int path_fd; /* O_PATH */
	mode_t type; /* S_IFREG... */
	uint64_t ino;
	bool covered; /* a mount point; path_fd is the directory that it lies in */
	pthread_mutex_t lock;  /* of the fields below, and of a directory's position */
	int read_fd, write_fd; /* -1 until needed; opened as the server */
	struct object_perm perms[2];
	pthread_rwlock_t syncing; /* held for reading by each sync */
	_Atomic uint64_t failed;  /* nfsd's sync_failures at the last failure */
	/* Unstable WRITEs so far, and how many of them are on storage or were reported
	 * as lost.  While the two differ the object stays in the cache and keeps its
	 * write_fd, to which the kernel reports errors. */
	_Atomic uint64_t written, settled;
};

struct object_cache {
	pthread_mutex_t lock;
	struct object *buckets[1024];
	struct object *newest, *oldest;
	unsigned n;
	unsigned max;  /* above it, the oldest unused objects are freed */
	unsigned most; /* limit with objects that are in use or not yet on storage */
};

/* -- cache (object.c) ------------------------------------------------------ */

/* Makes an empty cache for @most objects. */
void objects_init(struct object_cache *, unsigned most);
/* Frees all objects, after the last worker.  Data that were not committed are not
 * waited for: the next server has another write verifier. */
void objects_fini(struct nfsd *);
/* Begins to close idle objects.  Called once a second. */
void objects_expire(struct nfsd *);
/* Closes idle objects after @e (-EMFILE, -ENFILE): those on @mine at once, others by
 * their workers.  Warns if there are none; @fd: where a descriptor was wanted.  Returns
 * true if the caller should try again. */
bool objects_make_room(struct nfsd *, int fd, int e, const struct filesystem *mine);
/* Finds or opens the object of a handle that a client sent; the thread keeps its
 * identity.  Returns 0 and a reference, or -EBADF, -ESTALE... (see nfs_status). */
int object_get(struct nfsd *, const nfs_fh3 *, const struct ident *,
               struct object **ret);
/* Returns the object with a reference if it is open already, without sleeping; else
 * NULL. */
struct object *object_find(struct nfsd *, const nfs_fh3 *);
/* Makes an object of a descriptor (O_PATH, given) whose handle is @h.  Returns 0 and a
 * reference, or negative errno. */
int object_adopt(struct nfsd *, struct export *, const struct handle *h, int fd,
                 const struct statx *, struct object **ret);
void object_put(struct nfsd *, struct object *);
/* Takes the object of a removed name out of the cache, if the name was its last one.
 * With other names it may have data that are yet to be committed. */
void object_forget(struct nfsd *, const struct handle *);

/* -- one object (object.c) ------------------------------------------------- */

/* Reads the attributes.  Returns -ESTALE if the last link is gone. */
int object_stat(struct object *, struct statx *ret);
/* Returns 0 if @id may do @want (R_OK...), else negative errno; the thread acts as @id.
 * @owner_may: the owner may, whatever the mode says. */
int object_permit(struct object *, const struct ident *id, int want, bool owner_may);
/* Asks the kernel whether the thread's identity may do @want.  Returns 0 or negative
 * errno. */
int object_access(const struct object *, int want);
/* Find a descriptor for reading, for writing (regular files), for listing
 * (directories).  It belongs to the object. */
int object_read_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
int object_write_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
int object_dir_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* As object_read_fd, without sleeping: NFSD_WOULD_SLEEP if it is not open, or the
 * caller's right to it is not known. */
int object_open_read_fd(struct nfsd *, struct object *, const struct ident *,
                        const struct statx *, int *ret);
/* Gives the object a descriptor for writing, which is closed if it has one. */
void object_keep_write_fd(struct object *, int fd);
/* Finds a descriptor for fsync, whatever the caller may do. */
int object_sync_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* The same, but the descriptor that data were written to if there is one, since the
 * kernel reports their loss to it. */
int object_commit_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* Writes "/proc/self/fd/N", for calls that take no O_PATH descriptor. */
void object_proc_path(const struct object *, char ret[32]);

/* -- storage (stable.c) ---------------------------------------------------- */

/* Waits until the data written to the object's @fd are on storage; any thread.  On a
 * failure, prints it, changes the write verifier and returns negative errno.
 * @failures: nfsd's sync_failures before the first of the data were written. */
int object_sync(struct nfsd *, struct object *, int fd, bool data_only,
                uint64_t failures);
/* Counts an unstable WRITE to write_fd.  The caller holds the object. */
void object_count_write(struct object *);
/* Returns true if there are unstable data that no sync has settled. */
bool object_is_dirty(const struct object *);
/* Syncs data that are not settled; for a worker. */
void object_settle(struct object *);
/* Closes a descriptor that data were written to.  An error means that they
 * are lost. */
void object_close_written(struct object *, int fd);

#endif
