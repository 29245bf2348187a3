/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open objects and their cache (object.c), and when their data reach storage
 * (stable.c).
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

/* The permissions that the kernel granted to one caller. */
struct object_perm {
	struct ident who;
	uint32_t mode, uid, gid; /* the object's values when the kernel was asked */
	time_t checked;
	int granted; /* granted bits of R_OK | W_OK | X_OK */
};

/* The syncs of one object (stable.c). */
struct object_syncs {
	pthread_mutex_t lock; /* guards all fields */
	pthread_cond_t ended; /* a sync has ended */
	bool running;
	uint64_t begun; /* number of syncs that have begun */
	struct {
		uint64_t number; /* value of @begun after this sync began; 0 = none */
		int fd;
		bool data_only;
		int error; /* 0 or a negative errno */
	} last;            /* the last sync that has ended */
};

struct object {
	struct worker_job job;        /* to tidy or free the object */
	struct nfsd *nfsd;            /* server whose cache contains the object */
	struct object *hash_next;     /* next in the bucket or in a list to be freed */
	struct object *newer, *older; /* guarded by the cache's lock */
	unsigned refs;                /* guarded by the cache's lock */
	bool hashed;
	bool tidying; /* the tidying job is queued, and has a reference */
	time_t used;
	struct export *ex;
	struct handle fh;
	int path_fd; /* O_PATH */
	mode_t type; /* S_IFREG... */
	uint64_t ino;
	bool covered;         /* a mount point; path_fd is its parent directory */
	pthread_mutex_t lock; /* guards the fields below, and read_fd's file position */
	int read_fd, write_fd; /* opened with the server's identity; -1 = not open */
	struct object_perm perms[2];
	struct object_syncs syncs;
	_Atomic uint64_t failed; /* sync_failures after the object's last failure */
	/* The number of unstable WRITEs so far, and how many of them are on storage or
	 * were reported as lost.  While the two numbers differ, the object stays in the
	 * cache and keeps write_fd open, because the kernel reports errors to that
	 * descriptor. */
	_Atomic uint64_t written, settled;
};

struct object_cache {
	pthread_mutex_t lock;
	struct object *buckets[1024];
	struct object *newest, *oldest;
	unsigned n;
	unsigned max;  /* above this, the oldest unused objects are freed */
	unsigned most; /* maximum number of objects, in use or not */
};

/* -- cache (object.c) ------------------------------------------------------ */

/* Initializes an empty cache for at most @most objects. */
void objects_init(struct object_cache *, unsigned most);
/* Frees all objects.  Call this after the last worker has ended.  Does not wait for
 * uncommitted data: clients will send the data again when they see the next server's
 * write verifier. */
void objects_fini(struct nfsd *);
/* Starts closing idle objects.  Called once a second. */
void objects_expire(struct nfsd *);
/* If @e is -EMFILE or -ENFILE, closes idle objects: those on the file system @mine in
 * this thread, all others in workers.  Returns true if the caller should try again.  If
 * no object is idle, prints a warning with the path of @fd. */
bool objects_make_room(struct nfsd *, int fd, int e, const struct filesystem *mine);
/* Finds or opens the object for a handle that a client sent.  Expects the thread to be
 * running with the given identity, and restores that identity.  Returns 0 and a
 * reference, or a negative errno for nfs_status. */
int object_get(struct nfsd *, const nfs_fh3 *, const struct ident *,
               struct object **ret);
/* Returns the object with a reference if it is already open, otherwise NULL.  Does not
 * sleep. */
struct object *object_find(struct nfsd *, const nfs_fh3 *);
/* Finds or makes the object with the handle @h.  @fd, an O_PATH descriptor for the
 * object, is given.  Returns 0 and a reference, or a negative errno. */
int object_adopt(struct nfsd *, struct export *, const struct handle *h, int fd,
                 const struct statx *, struct object **ret);
void object_put(struct nfsd *, struct object *);
/* Removes an object from the cache if the name that was just removed was its last name.
 * Does not remove other objects, which may have uncommitted data. */
void object_forget(struct nfsd *, const struct handle *);

/* -- one object (object.c) ------------------------------------------------- */

/* Reads the attributes.  Returns 0, -ESTALE if the object's last name has been removed,
 * or another negative errno. */
int object_stat(struct object *, struct statx *ret);
/* Returns 0 if @id has the permissions @want (R_OK ...), otherwise a negative errno.
 * The thread must be running with the identity @id.  If @owner_may is true, the owner
 * has permission whatever the mode. */
int object_permit(struct object *, const struct ident *id, int want, bool owner_may);
/* Asks the kernel whether the thread's identity has the permissions @want.  Returns 0
 * or a negative errno. */
int object_access(const struct object *, int want);
/* Return a descriptor for reading, for writing (regular files), or for reading entries
 * (directories).  The object owns the descriptor.  The statx argument has the object's
 * attributes.  Return 0 or a negative errno. */
int object_read_fd(struct nfsd *, struct object *, const struct ident *,
                   const struct statx *, int *ret);
int object_write_fd(struct nfsd *, struct object *, const struct ident *,
                    const struct statx *, int *ret);
int object_dir_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* Works like object_read_fd, but does not sleep.  Returns NFSD_WOULD_SLEEP if the
 * descriptor is not open or the caller's permission is not known. */
int object_open_read_fd(struct nfsd *, struct object *, const struct ident *,
                        const struct statx *, int *ret);
/* Gives the object a descriptor for writing.  Closes @fd if the object already has
 * one. */
void object_keep_write_fd(struct object *, int fd);
/* Returns a descriptor for fsync, without checking the caller's permissions. */
int object_sync_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* Works like object_sync_fd, but prefers the descriptor through which data were
 * written, because the kernel reports a loss of the data to that descriptor. */
int object_commit_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* Writes "/proc/self/fd/N", for system calls that do not accept O_PATH descriptors. */
void object_proc_path(const struct object *, char ret[32]);

/* -- storage (stable.c) ---------------------------------------------------- */

void object_syncs_init(struct object_syncs *);
void object_syncs_fini(struct object_syncs *);
/* Waits until the data written through @fd, one of the object's descriptors, are on
 * storage.  Any thread may call this.  On failure, prints a warning, changes the write
 * verifier and returns a negative errno.  @failures is the value that nfsd's
 * sync_failures had before the data were written. */
int object_sync(struct nfsd *, struct object *, int fd, bool data_only,
                uint64_t failures);
/* Counts an unstable WRITE to write_fd.  The caller must have a reference to the
 * object. */
void object_count_write(struct object *);
/* Returns true if the object has unstable data that have neither been synced nor been
 * reported as lost. */
bool object_is_dirty(const struct object *);
/* Syncs data that object_is_dirty reports.  Call this in a worker. */
void object_settle(struct object *);
/* Closes a descriptor through which data were written.  If close fails, the data are
 * lost; the function then changes the write verifier. */
void object_close_written(struct object *, int fd);

#endif
