/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exported directories (export.c), what a peer may do with them (access.c), and how
 * SIGHUP replaces those of a file (reload.c).
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

/* A directory that is exported, or the root of a file system that is mounted beneath
 * one and served with it (crossing.c). */
struct export
{
	char *dir;    /* absolute path; of a mounted file system, from @top's root */
	char *name;   /* the path that clients mount; begins with '/' */
	int root_fd;  /* O_PATH */
	int mount_fd; /* for open_by_handle_at, which takes no O_PATH; or -1 */
	uint64_t root_ino, mnt_id, fsid;
	struct handle root;
	bool mnt_id_known;
	uint32_t dev_major, dev_minor;
	struct filesystem *fs;
	uint32_t id;    /* in handles */
	bool by_handle; /* the kernel makes and opens handles */
	bool from_file; /* of the file of exports, not of --export */
	/* False: the file no longer names it, and its handles are stale.  It stays
	 * allocated for requests and objects that point at it, and may come back. */
	_Atomic bool live;
	_Atomic bool wcc;        /* nobody else changes its directories */
	_Atomic bool crossmnt;   /* file systems mounted beneath are served with it */
	struct clients *clients; /* owned; by access.lock; NULL: any client */
	pthread_mutex_t walk_lock;
	struct walk_slot *walk; /* NULL if by_handle; by walk_lock */
	struct walk_pace pace;  /* by walk_lock */

	/* For a mounted file system: the export above, whose clients and options it
	 * has.  NULL: this is an export of its own, and the fields below are unused. */
	struct export *top;
	uint16_t mark;   /* tells this file system from others, in WALK handles */
	uint64_t source; /* digest of the mounted source; 0: a subvolume */
	struct nfsd *nfsd;
	struct export *next; /* with users and idle_since by the crossings' lock */
	unsigned users;      /* requests and objects */
	time_t idle_since;   /* when the last user went */
	/* Held while root_fd and mount_fd are opened, which may sleep.  They are closed
	 * when there are no users. */
	pthread_mutex_t open_lock;
};

/* Returns a new export without a directory, or NULL without memory. */
struct export *export_alloc(struct nfsd *);
void export_free(struct export *);
/* Returns the digest of a text under the secret. */
uint64_t export_digest(const struct nfsd *, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
/* Returns the number that stands for @fsid in handles. */
uint32_t export_handle_id(uint64_t fsid);
/* Opens mount_fd and finds out how handles of this file system are made; root_fd is
 * open, with these attributes.  Returns 0 or negative errno. */
int export_prepare(struct nfsd *, struct export *, const struct statx *);

/* Adds "DIR[:/NAME][,wcc][,crossmnt]".  Returns 0, or -EINVAL after a message. */
int export_add(struct nfsd *, const char *spec);
/* Allows the clients of @words ("CLIENT[(OPTIONS)]") to use each export, and looks up
 * their names.  Returns 0, or -EINVAL after a message. */
int export_allow(struct nfsd *, const char *const *words, unsigned n);
/* Opens all exports, after export_load_secret.  Returns 0, or negative errno after a
 * message. */
int export_open_all(struct nfsd *);
/* Replaces the directories that @file exported before by those of the list, whose
 * clients it takes.  Changes everything, or nothing after a message.  One thread at a
 * time. */
int export_install(struct nfsd *, const char *file, struct exports_file *);
void export_close_all(struct nfsd *);
/* Returns true if it is the handle of an export's root. */
bool export_is_root(const struct nfsd *, const nfs_fh3 *);
/* Reads or makes the secret for handles in @dir (NULL: a default directory).  Returns
 * 0, or negative errno after a message. */
int export_load_secret(struct nfsd *, const char *dir);

/* -- access (access.c) ----------------------------------------------------- */

enum { ACCESS_SLOTS = 1024 };

struct access_slot {
	uint64_t generation; /* of the lists when the answer was found */
	const struct export *ex;
	struct in6_addr addr;
	bool low;     /* the peer's port is below 1024 */
	bool granted; /* @grant is set */
	bool port;    /* not granted for the port alone */
	struct grant grant;
};

struct access {
	pthread_mutex_t lock; /* of all fields, and of the exports' lists */
	uint64_t generation;
	struct access_slot slots[ACCESS_SLOTS];
};

void access_init(struct access *);
void access_fini(struct access *);
/* Finds what @peer may do with the export.  Returns 0; -EACCES if nothing; -EPERM if
 * nothing from a port above 1023. */
int access_check(struct nfsd *, const struct export *,
                 const struct sockaddr_storage *peer, struct grant *ret);

/* -- files of exports (reload.c) ------------------------------------------- */

/* Reads @file.  Returns 0, or negative errno after a message. */
int exports_load(struct nfsd *, const char *file, struct exports_file *ret);

/* Notifies the service manager that the server is ready, with the number of exports
 * and @more as its status. */
void reload_report_ready(const struct nfsd *, const char *more);

struct reload {
	struct nfsd *nfsd;
	const char *file;
	pthread_t thread;
	bool runs;
	_Atomic bool stop;
};

/* Blocks SIGHUP until reload_start.  Call it before there are threads. */
void reload_hold(void);
/* Starts the thread that reads the file on each SIGHUP, with the caller's identity.
 * Returns 0 or negative errno. */
int reload_start(struct reload *);
/* Ends the thread, after a file that is being loaded. */
void reload_stop(struct reload *);

#endif
