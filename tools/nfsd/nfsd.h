/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `rpcrdma nfsd`: the server, and the map of its files.
 *
 *   The process (daemon.h)
 *     nfsd.c           set-up, main loop, shutdown
 *     command.c        the command line
 *     listening.c      listeners and rpcbind
 *     engines.c        engines and their threads
 *     report.c         lines about listeners and clients
 *     stats.c          the JSON that is written at exit
 *     notify.c         messages to the service manager (notify.h)
 *   A request (op.h)
 *     op.c             credential, arguments, procedure, results
 *     procedures.c     the tables of procedures
 *     attr.c           attributes and errors, to and from the wire
 *     wcc.c            attributes before and after an operation; locks on objects
 *     inode.c          GETATTR SETATTR ACCESS READLINK FSSTAT FSINFO PATHCONF
 *     file.c           READ WRITE COMMIT
 *     name.c           LOOKUP and the procedures that change directories
 *     dir.c            READDIR READDIRPLUS
 *     mount_program.c  the MOUNT program
 *   Over TCP
 *     tcpd.c           connections and records (tcpd.h)
 *     mount_rpc.c      calls and replies (mount_rpc.h)
 *     nlm.c            NLM without locks (nlm.h)
 *   Exports (export.h)
 *     export.c         exported directories; the secret for handles
 *     access.c         what a peer may do with an export
 *     reload.c         SIGHUP: loading the exports file again
 *     exports_file.c clients.c flavors.c
 *                      the syntax of exports(5) (exports_file.h)
 *     mount_table.c crossing.c covered.c
 *                      file systems mounted below exports (crossing.h)
 *   Users
 *     ident.c          the identity that a request is served with (ident.h)
 *     groups.c         a user's groups, looked up on this host (groups.h)
 *   Objects
 *     handle.c         making and verifying file handles (handle.h)
 *     handle_cache.c   handles of objects that were listed before (handle.h)
 *     inode_walk.c     finding objects where the kernel opens no handles (handle.h)
 *     object.c         open objects, cached by handle (object.h)
 *     stable.c         which data must be on storage, and when (object.h)
 *   Threads
 *     workers.c        threads for operations that may sleep (workers.h)
 *     fs.c             file systems: which operations may sleep there (fs.h)
 *   Warnings (warn.h)
 *     warn.c           at most one line of each kind a second
 *     complain.c       warnings about requests
 *
 * An engine's thread runs operations that cannot sleep: NULL, operations that can be
 * answered from caches, and all operations on a file system in memory.  Workers run all
 * other operations; each file system has its own workers.  One thread serves MOUNT over
 * TCP.  The threads share the caches of objects and handles, the mount list, the walk
 * tables, the crossings and the write verifier.  Each of these has its own lock, which
 * no thread holds while it sleeps.  A worker may sleep while it holds the lock of an
 * object; an engine's thread only tries to lock objects.
 */
#ifndef RPCRDMA_NFSD_H
#define RPCRDMA_NFSD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for statx, name_to_handle_at; include this header first */
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <rpcrdma/gss.h>
#include <rpcrdma/nfs.h>
#include "base/siphash.h"
#include "crossing.h"
#include "export.h"
#include "exports_file.h"
#include "fs.h"
#include "groups.h"
#include "handle.h"
#include "ident.h"
#include "nfs/nfs3_msg.h"
#include "object.h"
#include "warn.h"
#include "workers.h"

enum {
	NFSD_MAX_EXPORTS = EXPORTS_MAX, /* on the command line or in an exports file */
	NFSD_EXPORT_SLOTS = 256, /* including exports that the file no longer lists */
	NFSD_MAX_IO = 1 << 20,   /* octets; rtmax, wtmax */
	NFSD_MAX_DIR = 64 << 10, /* largest READDIR reply, octets; also dtpref */
	NFSD_MAX_FS = 1024,      /* file systems */
	NFSD_MAX_MOUNTS = 256,   /* entries in MOUNT's list */
};

/* Error code in the engine's thread: the operation would sleep, so a worker must run
 * it.  Never becomes an NFS status. */
#define NFSD_WOULD_SLEEP (-EINPROGRESS)

struct mount_entry {
	char host[64];
	char *dir; /* owned */
};

struct nfsd {
	/* Exports are only added and never move, so that readers need no lock. */
	struct export *exports[NFSD_EXPORT_SLOTS];
	_Atomic unsigned n_exports;
	uint64_t key[2]; /* the secret for handles */
	/* What a client may do if no client list applies or the request does not
	 * identify an export; from the command line. */
	struct grant defaults;
	bool read_only; /* overrides the lists of clients */
	bool kerberos;  /* the server has a key */
	bool privileged, async;
	struct groups *groups; /* NULL = use the groups in AUTH_SYS credentials */
	/* MNT calls over TCP that timed out during a group look-up and still run. */
	_Atomic unsigned abandoned_lookups;
	struct access access;
	bool old_access; /* faccessat2 is missing; never set if @privileged */
	/* True if the engines' threads must keep the server's identity: the kernel
	 * accepts commands for an RDMA device only from a thread with the credentials
	 * that opened the device.  Operations that check permissions then run in
	 * workers. */
	bool engine_keeps_identity;
	struct object_cache objects;
	struct handle_cache handles;
	struct filesystem *fs[NFSD_MAX_FS]; /* only added, like exports */
	_Atomic unsigned n_fs;
	pthread_mutex_t fs_lock; /* guards additions to @fs, and each entry's users */
	struct crossings crossings;
	unsigned threads; /* for each file system */
	_Atomic uint64_t sync_failures;
	pthread_mutex_t lock; /* guards write_verf, mounts, n_mounts */
	uint8_t write_verf[NFS3_WRITEVERFSIZE];
	struct mount_entry mounts[NFSD_MAX_MOUNTS];
	unsigned n_mounts;
	struct rpcrdma_procedure nfs_procs[RPCRDMA_NFS3_PROCEDURES];
	struct rpcrdma_procedure mount_procs[RPCRDMA_MOUNT3_PROCEDURES];
	struct rpcrdma_program programs[2];
};

/* Returns the monotonic time in seconds (nfsd.c). */
time_t nfsd_now_seconds(void);
/* Adds the programs NFS and MOUNT to the service (procedures.c).  Their tables, which
 * are part of struct nfsd, are lent until the service is freed.  Returns 0 or a
 * negative errno. */
int nfsd_add_programs(struct nfsd *, struct rpcrdma_service *);
/* Copies the write verifier to @ret (stable.c). */
void nfsd_get_verf(struct nfsd *, uint8_t ret[NFS3_WRITEVERFSIZE]);
/* Changes the write verifier, so that clients send unstable data again if the data may
 * have been lost (stable.c). */
void nfsd_renew_verf(struct nfsd *);

#endif
