/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exported directories (export.c), what a peer may do with them (access.c), and
 * reloading of the exports file on SIGHUP (reload.c).
 */
#ifndef RPCRDMA_NFSD_EXPORT_H
#define RPCRDMA_NFSD_EXPORT_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "exports_file.h"
#include "handle.h"

struct filesystem;
struct nfsd;
struct sockaddr_storage;
struct statx;

/* An exported directory, or the root of a file system that is mounted below an exported
 * directory and served with it (crossing.c). */
struct export
{
	char *dir;    /* absolute path or, if @top is set, path from @top's root */
	char *name;   /* the path that clients mount; begins with '/' */
	int root_fd;  /* O_PATH */
	int mount_fd; /* for open_by_handle_at, which rejects O_PATH; or -1 */
	uint64_t root_ino, mnt_id, fsid;
	struct handle root;
	bool mnt_id_known;
	uint32_t dev_major, dev_minor;
	struct filesystem *fs;
	uint32_t id;    /* number of the export in handles */
	bool by_handle; /* the kernel makes and opens handles */
	bool from_file; /* comes from the exports file, not from --export */
	/* False if the exports file no longer lists the directory; handles are stale
	 * then.  The export stays allocated, because requests and objects may point to
	 * it, and becomes live again if the file lists the directory again. */
	_Atomic bool live;
	_Atomic bool wcc;        /* only this server changes its directories */
	_Atomic bool crossmnt;   /* file systems mounted below it are served too */
	struct clients *clients; /* owned; guarded by access.lock; NULL = any client */
	pthread_mutex_t walk_lock;
	struct walk_slot *walk; /* NULL if by_handle; guarded by walk_lock */
	struct walk_pace pace;  /* guarded by walk_lock */

	/* For a mounted file system: the exported directory above it, whose clients and
	 * options apply.  NULL for an exported directory; the fields below are then not
	 * used. */
	struct export *top;
	uint16_t mark;   /* identifies this file system in WALK handles */
	uint64_t source; /* digest of the mounted source; 0 = a subvolume */
	struct nfsd *nfsd;
	struct export *next; /* crossings.lock guards this, users and idle_since */
	unsigned users;      /* number of requests and objects that use it */
	time_t idle_since;   /* when @users became 0; monotonic seconds */
	/* Locked while root_fd and mount_fd are being opened, which may sleep.  The two
	 * descriptors are closed when the record has had no users for a while. */
	pthread_mutex_t open_lock;
};

/* Returns a new export without a directory, or NULL if there is no memory. */
struct export *export_alloc(struct nfsd *);
void export_free(struct export *);
/* Formats a string as printf does, and returns its digest, keyed with the secret. */
uint64_t export_digest(const struct nfsd *, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Returns the number that represents @fsid in handles. */
uint32_t export_handle_id(uint64_t fsid);
/* Opens mount_fd, and determines which kind of handles this file system allows.  The
 * caller must have opened root_fd, and passes the attributes of the root directory.
 * Returns 0 or a negative errno. */
int export_prepare(struct nfsd *, struct export *, const struct statx *);

/* Adds the export "DIR[:/NAME][,wcc][,crossmnt]".  Returns 0, or prints a message and
 * returns -EINVAL. */
int export_add(struct nfsd *, const char *spec);
/* Allows the clients listed in @words ("CLIENT[(OPTIONS)]") to use each export, and
 * looks up the clients' names.  Returns 0, or prints a message and returns -EINVAL. */
int export_allow(struct nfsd *, const char *const *words, unsigned n);
/* Opens all exports.  Call export_load_secret first.  Returns 0, or prints a
 * message and returns a negative errno. */
int export_open_all(struct nfsd *);
/* Replaces all exports that come from @file with the exports in the list.  On success,
 * takes over the list's clients.  On failure, prints a message, changes no export and
 * returns a negative errno.  Only one thread at a time may call this. */
int export_install(struct nfsd *, const char *file, struct exports_file *);
void export_close_all(struct nfsd *);
/* Returns true if the handle refers to an export's root. */
bool export_is_root(const struct nfsd *, const nfs_fh3 *);
/* Reads the secret for handles from @dir (NULL = a default directory), or creates it
 * there.  Returns 0, or prints a message and returns a negative errno. */
int export_load_secret(struct nfsd *, const char *dir);

/* -- access (access.c) ----------------------------------------------------- */

enum { ACCESS_SLOTS = 1024 };

struct access_slot {
	uint64_t generation; /* generation of the lists when the slot was filled */
	const struct export *ex;
	struct in6_addr addr;
	bool low;     /* the peer's port is below 1024 */
	bool granted; /* @grant is set */
	bool port;    /* the client was refused only because its port is above 1023 */
	struct grant grant;
};

struct access {
	pthread_mutex_t lock; /* guards all fields, and each export's client list */
	uint64_t generation;
	struct access_slot slots[ACCESS_SLOTS];
};

void access_init(struct access *);
void access_fini(struct access *);
/* Finds what @peer may do with the export.  Returns 0, -EPERM if the client must use a
 * port below 1024, or -EACCES if it has no access. */
int access_check(struct nfsd *, const struct export *,
                 const struct sockaddr_storage *peer, struct grant *ret);

/* -- files of exports (reload.c) ------------------------------------------- */

/* Reads and parses @file.  Returns 0, or prints a message and returns a negative errno.
 */
int exports_load(struct nfsd *, const char *file, struct exports_file *ret);

/* Notifies the service manager that the server is ready.  The status text consists of
 * the number of exports and @more. */
void reload_report_ready(const struct nfsd *, const char *more);

struct reload {
	struct nfsd *nfsd;
	const char *file;
	pthread_t thread;
	bool runs;
	_Atomic bool stop;
};

/* Blocks SIGHUP until reload_start is called.  Call this before any thread is
 * started. */
void reload_hold(void);
/* Starts the thread that loads the file again on each SIGHUP; the thread inherits the
 * caller's identity.  Returns 0 or a negative errno. */
int reload_start(struct reload *);
/* Ends the thread, after waiting for a load in progress. */
void reload_stop(struct reload *);

#endif
