/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `rpcrdma nfsd`: what its files share.
 *
 *   nfsd.c        life of the process; daemon.h: what it shares with the next two
 *   command.c     the command line
 *   listening.c   listeners, rpcbind
 *   report.c      the lines that tell where it listens and which clients come and go
 *   stats.c       the JSON written at exit
 *   proc.c        a request: credential, arguments, procedure, results
 *   procedures.c  the tables of procedures
 *   ident.c       the identity that a request is served with
 *   groups.c      the groups of a user, looked up on this host
 *   flavors.c         the security flavors that are allowed
 *   exports.c     the syntax of exports(5)
 *   clients.c     one client of an exports(5) line, and which one a peer is
 *   notify.c      what the service manager is told
 *   reload.c      SIGHUP: the file of exports is read again
 *   access.c      what a peer may do with an export
 *   export.c      exported directories, the secret that seals handles
 *   mounts.c      the kernel's table of mounts
 *   crossing.c    file systems mounted beneath exports, served with them
 *   covered.c     mount points of file systems that are not served
 *   handle.c      file handles: made, sealed, verified
 *   inode_walk.c        finding an object again without the kernel's file handles
 *   object.c      open objects, kept for a while by handle
 *   attr.c        attributes and errors, to and from the wire
 *   inode.c       GETATTR SETATTR ACCESS READLINK FSSTAT FSINFO PATHCONF
 *   file.c        READ WRITE COMMIT
 *   name.c        LOOKUP and the procedures that change directories
 *   dir.c         READDIR READDIRPLUS
 *   mount_program.c       the MOUNT program
 *   mount_rpc.c   calls and replies of MOUNT over TCP
 *   nlm.c         NLM at the same port, without any locks
 *   tcpd.c        connections and records of TCP
 *   fs.c          file systems: which operations may sleep there; their workers
 *   worker.c      threads for operations that may sleep
 *   wcc.c         attributes before and after an operation, and the locks around it
 *   stable.c      what must be on storage, and when
 *   warn.c        lines of standard error, at most one a second of each kind
 *   complain.c    lines about requests: storage that fails, clients that are refused
 *
 * The engine's thread runs what cannot sleep: NULL, what caches can answer, and
 * everything on a file system in memory.  The rest runs in workers, of which each file
 * system has its own.  MOUNT over TCP has a thread too.  Shared state: the object
 * cache, the mount list, the walk tables, the crossings and the write verifier, each
 * behind a lock of its own, which no thread holds while it sleeps.  A worker that
 * sleeps may hold the lock of an object: the engine's thread only tries that lock.
 */
#ifndef RPCRDMA_NFSD_H
#define RPCRDMA_NFSD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* statx, name_to_handle_at; this header comes first */
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
#include "crossing.h"
#include "exports.h"
#include "groups.h"
#include "nfs/nfs3_msg.h"
#include "base/siphash.h"
#include "tcpd.h"
#include "warn.h"

enum {
	NFSD_MAX_EXPORTS = EXPORTS_MAX, /* of the command line, and of a file */
	NFSD_EXPORT_SLOTS = 256,        /* with those that a file had before */
	NFSD_MAX_IO = 1 << 20,          /* rtmax, wtmax */
	NFSD_MAX_DIR = 64 << 10,        /* octets of a READDIR reply, dtpref */
	NFSD_FS_SLOTS = 1024,           /* of exports, and of what is mounted beneath */
	NFSD_WALK_SLOTS = 16384,
	NFSD_MAX_DEPTH = 128,  /* directories on a path, where one is climbed */
	NFSD_MAX_THREADS = 64, /* of one file system */
	NFSD_WCC_LOCKS = 64,   /* of its directories, and of its files */
};

/* In the engine's thread: it would sleep, and is a worker's.  No status of NFS. */
#define NFSD_LATER (-EINPROGRESS)

/* ---- Workers (worker.c) ---------------------------------------------------- */

struct worker_job {
	struct worker_job *next;
	void (*run)(struct worker_job *);
	uint64_t bytes; /* that it holds, until it has run */
};

struct workers;

struct worker {
	struct workers *of;
	pthread_t thread;
	enum { WORKER_NONE, WORKER_RUNS, WORKER_ENDED } state;
};

struct workers {
	pthread_mutex_t lock; /* of all */
	pthread_cond_t more, fewer;
	struct worker_job *first, **last;
	unsigned n_jobs, n, n_idle, n_running, max;
	uint64_t bytes; /* of jobs, those that run included */
	uint64_t moved; /* when a job ended, or the first one came */
	bool stop;
	struct worker all[NFSD_MAX_THREADS];
};

void workers_init(struct workers *, unsigned max);
/* -EAGAIN: there is no thread for it; -ESHUTDOWN after workers_stop. */
int workers_queue(struct workers *, struct worker_job *);
uint64_t workers_bytes(struct workers *);
/* Have they work, and has none of it come to its end for so long? */
bool workers_stuck(struct workers *, uint64_t ns);
/* Jobs that have not ended. */
unsigned workers_pending(struct workers *);
/* Waits until all that was given has run, or until @until (monotonic): then false.
 * Takes no more. */
bool workers_stop(struct workers *, const struct timespec *until);

/* ---- File systems (fs.c) --------------------------------------------------- */

struct nfsd;

struct filesystem {
	uint32_t dev_major, dev_minor;
	enum fs_kind { FS_ASLEEP, FS_CACHING, FS_AWAKE } kind;
	enum fs_atime { FS_STRICTATIME, FS_RELATIME, FS_NOATIME } atime;
	struct workers workers;
	unsigned users;             /* exports and crossings; by nfsd's fs_lock */
	_Atomic unsigned abandoned; /* MNTs over TCP that nobody waits for any more */
	pthread_mutex_t dirs[NFSD_WCC_LOCKS], files[NFSD_WCC_LOCKS]; /* by inode */
};

/* The one of the descriptor of an export's root, to be given back.  NULL: no memory, or
 * there are too many. */
struct filesystem *fs_get_by_fd(struct nfsd *, int fd, const struct statx *);
/* The same for a mount, which is not touched. */
struct filesystem *fs_get_by_mount(struct nfsd *, const struct mount_line *);
/* What was queued there is done all the same. */
void fs_put(struct nfsd *, struct filesystem *);
/* Would reading a file of these attributes write to it? */
bool fs_reading_writes(const struct filesystem *, const struct statx *);
/* Queues a request.  -EAGAIN: the file system holds too much memory already. */
int fs_queue(struct nfsd *, struct filesystem *, struct worker_job *);
/* All of them; see workers_stop. */
bool fs_stop_all(struct nfsd *, const struct timespec *until);
/* After they were stopped. */
void fs_free_all(struct nfsd *);

/* ---- Identities (ident.c) ------------------------------------------------- */

enum { IDENT_FEW_GIDS = 32 }; /* AUTH_SYS has 16 at most */

struct ident {
	uint32_t uid, gid;
	unsigned n_gids;
	uint32_t gids
	        [IDENT_FEW_GIDS]; /* a list of no more than these; a longer one is: */
	const uint32_t *many;     /* not squashed; lent until the request is answered */
	uint32_t squashed;        /* what gid 0 of @many becomes */
	uint64_t digest; /* of @many, keyed: identities are compared by it, also
	                         after the request */
	bool asserted;   /* uid and gid are what an AUTH_SYS credential says */
};

/* True when the process may act as other users; drops the capabilities that
 * a file server has no use for.  Once, before any thread is started. */
bool ident_init(void);
/* The identity that a credential stands for.  0, or an auth_stat. */
uint32_t ident_from_cred(const struct rpcrdma_auth *, const struct squash *,
                         struct ident *ret);
/* Of a principal: who this system says it is, or the anonymous user. */
void ident_from_caller(const struct rpcrdma_gss_caller *, const struct squash *,
                       struct ident *ret);
/* Gives @id the groups of the list, which is lent if it is long, see struct ident. */
void ident_set_groups(struct ident *id, const uint32_t *gids, unsigned n,
                      const struct squash *);
/* The same user, group and groups; the requests of both may have been answered. */
bool ident_same(const struct ident *, const struct ident *);
/* The calling thread acts as @id, or as the server itself, for file access.
 * Costs nothing when it does so already.  0, or -EPERM: then serve nothing. */
int ident_enter(const struct ident *id);
int ident_enter_server(void);

/* ---- Exports (export.c) ---------------------------------------------------- */

struct handle {
	uint8_t octets[NFS3_FHSIZE];
	unsigned len;
};

struct walk_slot {
	uint64_t ino, parent;
	char *name; /* owned */
};

enum { WALK_MISSES = 1024 };

struct walk_miss {
	uint64_t digest, until; /* of a handle; monotonic ns */
};

/* How often is searched (inode_walk.c). */
struct walk_pace {
	unsigned running;
	uint64_t not_before; /* monotonic ns */
	struct walk_miss misses[WALK_MISSES];
};

struct export
{
	char *dir;    /* absolute */
	char *name;   /* what clients mount; begins with '/' */
	int root_fd;  /* O_PATH */
	int mount_fd; /* for open_by_handle_at, which takes no O_PATH; -1 */
	uint64_t root_ino, mnt_id, fsid;
	struct handle root;
	bool mnt_id_known;
	uint32_t dev_major, dev_minor;
	struct filesystem *fs;
	uint32_t id;    /* in handles */
	bool by_handle; /* the kernel opens handles for us */
	bool from_file;
	/* False: the file names it no more, and its handles are stale.  It stays, since
	 * requests and objects point at it, and may come back. */
	_Atomic bool live;
	_Atomic bool wcc;     /* nobody else changes it */
	_Atomic bool crosses; /* what is mounted beneath is served with it */
	struct clients
	        *clients; /* who may come, by access.lock; NULL: everybody; owned */
	pthread_mutex_t walk_lock;
	struct walk_slot *walk; /* NULL if by_handle; by walk_lock */
	struct walk_pace pace;  /* by walk_lock */
	/* Of a file system mounted beneath (crossing.c), which @dir leads to from @top's
	 * root; its clients and options are @top's.  NULL: it is none. */
	struct export *top;
	uint16_t mark;   /* of this very file system, in WALK handles */
	uint64_t source; /* digest of what is mounted; 0: a subvolume */
	struct nfsd *nfsd;
	struct export *next; /* by the crossings' lock, as users and idle_since */
	unsigned users;      /* requests and objects */
	time_t idle_since;   /* when there were none any more */
	/* Held to open root_fd and mount_fd, which may sleep.  They are closed when there
	 * are no users. */
	pthread_mutex_t opening;
};

/* An empty one; NULL: no memory. */
struct export *export_alloc(struct nfsd *);
void export_free(struct export *);
/* Returns the number that stands for the file system ID @fsid in handles. */
uint32_t export_handle_id(uint64_t fsid);
/* What there is to know of the export of root_fd, and of mount_fd, which is opened.  0,
 * or negative errno. */
int export_prepare(struct nfsd *, struct export *, const struct statx *);

/* Adds "DIR[:/NAME][,wcc][,crossmnt]".  Messages are printed; 0 or -EINVAL. */
int export_add(struct nfsd *, const char *spec);
/* Gives the clients of @words ("CLIENT[(OPTIONS)]") to each, and looks names up.
 * Messages are printed; 0 or -EINVAL. */
int export_allow(struct nfsd *, const char *const *words, unsigned n);
/* Opens all of them; the secret must have been loaded.  0, or negative errno
 * after a message. */
int export_open_all(struct nfsd *);
/* Puts the directories of @file in the place of those that it had before, with their
 * clients, which are taken out of the list: all of them, or none after a message.  No
 * two threads at once. */
int export_install(struct nfsd *, const char *file, struct exports_file *);
void export_close_all(struct nfsd *);
/* Is it the handle of an export's root? */
bool export_is_root(const struct nfsd *, const nfs_fh3 *);
/* Loads or makes the secret in @dir (NULL: a default place). */
int export_load_secret(struct nfsd *, const char *dir);

/* ---- Handles (handle.c, inode_walk.c) --------------------------------------------- */

struct object;

/* Makes the handle of what @fd (O_PATH will do) is open on, and its attributes: both
 * are of one object, whatever becomes of its name.  @parent: the handle of the
 * directory; NULL for an export's root.  -EXDEV at a mount point. */
int handle_make(struct nfsd *, struct export *, const struct handle *parent, int fd,
                struct handle *ret, struct statx *ret_stx);
/* The same for @name in @dir. */
int handle_make_child(struct nfsd *, const struct object *dir, const char *name,
                      struct handle *ret, struct statx *ret_stx);
/* The handle of @child's parent directory @fd. */
int handle_make_parent(struct nfsd *, struct export *, const struct handle *child,
                       int fd, struct handle *ret, struct statx *ret_stx);
/* Makes the handle of directory @fd beneath the export where no handle of a child or
 * parent is known.  Where the kernel has no handles it climbs to the export's root.  The
 * calling thread must act as the server (ident_enter_server). */
int handle_make_climbing(struct nfsd *, struct export *, int fd, struct handle *ret,
                         struct statx *ret_stx);
/* Climbs from the directory @fd to the export's root; the thread acts as the server.
 * Returns how many directories are passed, @fd included and the root not, and their
 * inode numbers in @inos unless that is NULL; or -ESTALE if the way does not lead to the
 * root, -ENAMETOOLONG if it has more than @max. */
int handle_climb(const struct export *, int fd, uint64_t *inos, int max);
/* The handle of an empty directory instead of what is mounted there. */
void handle_make_covered(struct nfsd *, const struct export *, uint64_t ino,
                         uint64_t place, struct handle *ret);
/* Is it one? */
bool handle_covered(const struct handle *, uint64_t *ret_ino, uint64_t *ret_place);
/* Checks form and seal.  0 and an export that is held; or -EBADF (BADHANDLE), -ESTALE
 * (no such export). */
int handle_verify(struct nfsd *, const void *data, size_t len, struct export **ret);
/* Opens (O_PATH) what a verified handle names; the thread acts as the server.
 * -ESTALE when it is gone. */
int handle_open(struct nfsd *, struct export *, const struct handle *, int *ret_fd);
/* The same where the export was opened before. */
int handle_open_here(struct export *, const struct handle *, int *ret_fd);
/* Is it of the export's mount and device? */
bool handle_inside(const struct export *, const struct statx *);
int statx_fd(int fd, const char *name, struct statx *ret);
/* The number of the mount that @fd is open in. */
int mount_id_of(int fd, uint64_t *ret);
/* Opens @name in @dir, with @mode if it is created: a descriptor, or negative errno.
 * -EXDEV at a mount point, and what is mounted there is not touched, as far as the
 * kernel can do that (Linux 5.6). */
int open_name(int dir, const char *name, int flags, mode_t mode);
/* Opens @path, what is mounted on it included, by no symbolic link: clients could have
 * put one there. */
int open_beneath(int dir, const char *path, int flags);

/* Handles of our own, where the kernel's cannot be used. */
enum { WALK_CHAIN = 17 };
struct walk_id {
	uint64_t ino;
	uint32_t born; /* digest of the time of birth */
	uint8_t depth;
	uint16_t chain[WALK_CHAIN]; /* digests of the directories' inodes, from the top
	                             */
};
uint32_t walk_born(const struct statx *);
uint16_t walk_digest(uint64_t ino);
void walk_learn(struct export *, uint64_t ino, uint64_t parent, const char *name);
int walk_open(struct export *, const struct walk_id *, int *ret_fd);

/* ---- Objects (object.c, stable.c) ---------------------------------------------- */

struct object_perm {
	struct ident who;
	uint32_t mode, uid, gid;
	time_t checked;
	int granted; /* R_OK | W_OK | X_OK that were found granted */
};

struct object {
	struct worker_job job;        /* the worker's that tidies or frees it */
	struct nfsd *nfsd;            /* whose cache it is in */
	struct object *hash_next;     /* once unhashed: of those to be freed */
	struct object *newer, *older; /* by the cache's lock */
	unsigned refs;                /* by the cache's lock */
	bool hashed;
	bool tidying; /* the job is on its way, and has a reference */
	time_t used;
	struct export *ex;
	struct handle fh;
	int path_fd; /* O_PATH */
	mode_t type; /* S_IFREG... */
	uint64_t ino;
	bool covered; /* a mount point; path_fd is the directory that it lies in */
	pthread_mutex_t lock;  /* of what follows; of dir_fd's position too */
	int read_fd, write_fd; /* -1 until needed; opened as the server */
	struct object_perm perms[2];
	pthread_rwlock_t syncing; /* held for reading by each sync */
	_Atomic uint64_t failed;  /* nfsd's sync_failures at the last failure */
	/* Unstable WRITEs that were made, and those of them that are on storage or
	 * were reported as lost.  While the two differ the object stays in the cache
	 * and keeps its write_fd, which hears of errors. */
	_Atomic uint64_t written, settled;
};

struct object_cache {
	pthread_mutex_t lock;
	struct object *buckets[1024];
	struct object *newest, *oldest;
	unsigned n;
	unsigned max;  /* beyond, the oldest that nobody holds go */
	unsigned most; /* with those that are in use or not yet on storage */
};

void objects_init(struct object_cache *, unsigned most);
/* Frees all, after the last worker.  Data that nobody has committed are not waited for:
 * the next server has another write verifier. */
void objects_fini(struct nfsd *);
/* Begins to close what is idle.  Once a second. */
void objects_expire(struct nfsd *);
/* After @e (-EMFILE, -ENFILE): closes what is idle, of @mine at once, and says so if
 * that is nothing.  True if the caller should try again.  @fd: where a descriptor was
 * wanted. */
bool objects_make_room(struct nfsd *, int fd, int e, const struct filesystem *mine);
/* The object of a handle from the wire.  0 and a reference, or -EBADF,
 * -ESTALE, ... (see nfs_status).  The thread's identity is kept. */
int object_get(struct nfsd *, const nfs_fh3 *, const struct ident *,
               struct object **ret);
/* The same if it is open already, without sleeping; else NULL. */
struct object *object_find(struct nfsd *, const nfs_fh3 *);
/* The same for a descriptor (O_PATH, given) that @h was just made from. */
int object_adopt(struct nfsd *, struct export *, const struct handle *h, int fd,
                 const struct statx *, struct object **ret);
void object_put(struct nfsd *, struct object *);
/* Forgets a handle of which a name was removed, if that was the last one: with other
 * names it may have data that are yet to be committed. */
void object_forget(struct nfsd *, const struct handle *);
/* Attributes; -ESTALE when the last link is gone. */
int object_stat(struct object *, struct statx *ret);
/* May @id do @want (R_OK...) with it?  The thread acts as @id. */
int object_permit(struct object *, const struct ident *id, int want, bool owner_may);
/* The kernel's answer, nothing remembered.  0, or negative errno. */
int object_access(const struct object *, int want);
/* Descriptors for data (regular files) and for listing (directories). */
int object_read_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
int object_write_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* The first one if it is open and the caller's right to it known, without sleeping;
 * else NFSD_LATER. */
int object_open_read_fd(struct nfsd *, struct object *, const struct ident *,
                        const struct statx *, int *ret);
int object_dir_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* A file's descriptor for writing (given), if it has none yet. */
void object_keep_write_fd(struct object *, int fd);
/* A descriptor for fsync, whatever the caller may do. */
int object_sync_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* The one that data was written by, if there is: it knows of their errors. */
int object_commit_fd(struct nfsd *, struct object *, const struct ident *, int *ret);
/* "/proc/self/fd/N" for calls that take no O_PATH descriptor. */
void object_proc_path(const struct object *, char ret[32]);

/* stable.c.  Waits until what was written by the object's @fd is on storage; any
 * thread. A failure changes the write verifier and is printed.
 * @failures: nfsd's sync_failures before the first of it was written. */
int object_sync(struct nfsd *, struct object *, int fd, bool data_only,
                uint64_t failures);
/* An unstable WRITE was made by write_fd.  The caller holds the object. */
void object_count_write(struct object *);
/* Has it unstable data that no sync has settled? */
bool object_is_dirty(const struct object *);
/* Syncs what is not settled, in a worker. */
void object_settle(struct object *);
/* Closes a descriptor that data were written by: an error there is a loss too. */
void object_close_written(struct object *, int fd);

/* ---- Access (access.c) ----------------------------------------------------------- */

enum { ACCESS_SLOTS = 1024 };

struct access_slot {
	uint64_t generation; /* of the lists that it was looked up in */
	const struct export *ex;
	struct in6_addr addr;
	bool low, granted; /* low: of a port below 1024 */
	bool port;         /* not granted for its port alone */
	struct grant grant;
};

struct access {
	pthread_mutex_t lock; /* of all, and of the exports' lists */
	uint64_t generation;
	struct access_slot slots[ACCESS_SLOTS];
};

void access_init(struct access *);
void access_fini(struct access *);
/* What @peer may do with the export.  0, or -EACCES: nothing; -EPERM: nothing from a port
 * that is not below 1024. */
int access_check(struct nfsd *, const struct export *,
                 const struct sockaddr_storage *peer, struct grant *ret);

/* ---- Files of exports (reload.c) ----------------------------------------- */

/* Reads @file.  Messages are printed; 0, or negative errno and nothing in @ret. */
int exports_load(struct nfsd *, const char *file, struct exports_file *ret);

/* Tells the service manager that it serves, how many exports, and @more. */
void reload_report_ready(const struct nfsd *, const char *more);

struct reload {
	struct nfsd *nfsd;
	const char *file;
	pthread_t thread;
	bool runs;
	_Atomic bool stop;
};

/* Keeps SIGHUP for the thread; before there are others. */
void reload_hold(void);
/* From now on SIGHUP reads the file.  The thread acts as the caller.  0, or negative
 * errno. */
int reload_start(struct reload *);
/* Waits for what is being loaded. */
void reload_stop(struct reload *);

/* ---- The server ---------------------------------------------------------- */

/* flavors.c.  "sys,krb5,...", message printed; 0 or -EINVAL. */
int sec_take_list(void *to, const char *arg);
/* The same with another separator, and without a message. */
int sec_add_list(struct flavors *, const char *list, char separator);
/* Once all are known. */
void sec_default(struct flavors *);
bool sec_has_kerberos(const struct flavors *);
/* May a request of @caller (NULL: not under RPCSEC_GSS) be served?  0, or an auth_stat. */
uint32_t sec_check(const struct flavors *, const struct rpcrdma_gss_caller *caller);

struct mount_entry {
	char host[64];
	char *dir; /* owned */
};

struct nfsd {
	/* Grows, and nothing in it moves: readers take no lock. */
	struct export *exports[NFSD_EXPORT_SLOTS];
	_Atomic unsigned n_exports;
	uint64_t key[2];
	/* What clients may do by the options of the command line: where no list says
	 * otherwise, and where a request names no export. */
	struct grant defaults;
	bool read_only; /* whatever a list says */
	bool kerberos;  /* the server has a key */
	bool privileged, async;
	struct groups *groups; /* NULL: those of AUTH_SYS credentials count */
	_Atomic unsigned abandoned_lookups; /* MNTs over TCP, as filesystem.abandoned */
	struct access access;
	bool old_access; /* no faccessat2; never with privilege */
	/* The engine's thread may not act as a client: the kernel takes commands to
	 * RDMA devices only with the credentials that opened them.  What asks for
	 * permission is a worker's then. */
	bool engine_keeps_identity;
	struct object_cache objects;
	struct filesystem *fs[NFSD_FS_SLOTS]; /* likewise */
	_Atomic unsigned n_fs;
	pthread_mutex_t fs_lock; /* of the one who adds, and of users */
	struct crossings crossings;
	unsigned threads; /* of each */
	_Atomic uint64_t sync_failures;
	pthread_mutex_t lock; /* of the following */
	uint8_t write_verf[NFS3_WRITEVERFSIZE];
	struct mount_entry mounts[256];
	unsigned n_mounts;
	struct rpcrdma_procedure nfs_procs[RPCRDMA_NFS3_PROCEDURES];
	struct rpcrdma_procedure mount_procs[RPCRDMA_MOUNT3_PROCEDURES];
	struct rpcrdma_program programs[2];
};

/* Returns the seconds of the monotonic clock. */
time_t nfsd_now_seconds(void);
void nfsd_get_verf(struct nfsd *, uint8_t ret[NFS3_WRITEVERFSIZE]);
/* Unstable data may have been lost: clients are to write them again. */
void nfsd_renew_verf(struct nfsd *);

/* report.c.  Lines of standard output, as objects of JSON if asked. */
void report_listening(const struct sockaddr_storage *, const char *provider,
                      unsigned version, bool json);
/* @what: "mountd" or "gss". */
void report_tcp(const char *what, const struct sockaddr_storage *, bool json);
/* Lines of standard error: a rpcrdma_client_event_fn.  @arg: NULL for the clients alone
 * that are refused; else for each that comes and goes. */
void report_client(struct rpcrdma_listener *, const struct rpcrdma_conn_info *, void *);

/* The JSON of --stats-on-exit; what is served over TCP may be NULL.  0, or negative
 * errno. */
int nfsd_write_stats(const char *path, const struct rpcrdma_engine *,
                     const struct rpcrdma_service *, const struct tcpd *mount,
                     uint64_t nlm_calls, const struct tcpd *gss);

/* ---- A request (proc.c) -------------------------------------------------- */

union nfs_args {
	GETATTR3args getattr;
	SETATTR3args setattr;
	LOOKUP3args lookup;
	ACCESS3args access;
	READLINK3args readlink;
	READ3args read;
	WRITE3args write;
	CREATE3args create;
	MKDIR3args mkdir;
	SYMLINK3args symlink;
	MKNOD3args mknod;
	REMOVE3args remove;
	RMDIR3args rmdir;
	RENAME3args rename;
	LINK3args link;
	READDIR3args readdir;
	READDIRPLUS3args readdirplus;
	FSSTAT3args fsstat;
	FSINFO3args fsinfo;
	PATHCONF3args pathconf;
	COMMIT3args commit;
	dirpath mnt;
};

/* Each begins with its status; zeroed, it is a failure without attributes. */
union nfs_res {
	nfsstat3 status;
	GETATTR3res getattr;
	SETATTR3res setattr;
	LOOKUP3res lookup;
	ACCESS3res access;
	READLINK3res readlink;
	READ3res read;
	WRITE3res write;
	CREATE3res create;
	MKDIR3res mkdir;
	SYMLINK3res symlink;
	MKNOD3res mknod;
	REMOVE3res remove;
	RMDIR3res rmdir;
	RENAME3res rename;
	LINK3res link;
	READDIR3res readdir;
	READDIRPLUS3res readdirplus;
	FSSTAT3res fsstat;
	FSINFO3res fsinfo;
	PATHCONF3res pathconf;
	COMMIT3res commit;
	mountres3 mnt;
};

struct op;

/* What a procedure is.  Its function fills op->res (zeroed before), op->tail,
 * and op->sync_fd if the answer must wait for storage. */
struct op_type {
	xdrproc_t args, res; /* NULL: void */
	size_t args_size;
	uint32_t (*item_len)(const union nfs_args *); /* arguments end with an item */
	void (*run)(struct op *);
	bool null;        /* any credential will do */
	uint8_t once;     /* enum rpcrdma_once */
	bool caches;      /* @run heeds op->quick */
	const char *name; /* of NFS; NULL: of MOUNT */
};

/* One request being served.  Lives in the request's own memory. */
struct op {
	struct worker_job job;
	const struct op_type *type;
	struct nfsd *nfsd;
	struct rpcrdma_request *req;
	const struct mount_call *tcp; /* instead of req */
	struct export *ex;            /* that the arguments name, held; or NULL */
	struct export *cross; /* held; that the results' object is of, if not @ex */
	const char *rest;     /* of the path of MNT, beneath @cross */
	struct grant may;     /* what the client may do with it */
	int denied;           /* 0, or why it may not come there: negative errno */
	struct ident id;
	struct group_wait wait; /* its list is held until the answer */
	struct filesystem *fs;  /* that is asked, or NULL */
	union nfs_args args;
	union nfs_res res;
	const void *item;           /* of the arguments */
	struct rpcrdma_piece tail;  /* of the results: an item, or a list */
	struct object *obj, *obj2;  /* put by op_finish */
	int sync_fd[2];             /* to be synced before the answer; -1 */
	struct object *sync_obj[2]; /* whose they are: obj or obj2 */
	uint64_t sync_failures;     /* of the nfsd, when the request came */
	bool data_only;             /* fdatasync will do */
	bool set_after;             /* attributes, after the object was made */
	struct handle made;         /* what the results' handle points at */
	bool quick;                 /* nothing but what caches have */
	bool tries;                 /* locks are not waited for */
	bool later;                 /* ... which was not enough */
	pthread_mutex_t *held[3];   /* wcc.c; given up after the procedure */
	unsigned n_held;
	void *buf; /* of READ, and its size */
	size_t buf_len;
	char head[NFS3_RESULT_BYTES];
};

/* The object of the handle @fh.  0, NFSD_LATER, or as object_get. */
int op_object(struct op *, const nfs_fh3 *fh, struct object **ret);
/* It would sleep: NFSD_LATER, and the procedure is run again by a worker. */
int op_later(struct op *);
/* The export that a call of MNT names; NULL if there is none. */
struct export *op_mnt_export(struct op *);
/* The file system that MNT has to look into; NULL if none. */
struct filesystem *op_mnt_fs(struct op *);
/* A procedure's whole way, up to the answer. */
void op_serve(struct nfsd *, struct rpcrdma_request *, const struct op_type *);
/* The answer waits until what the object's descriptor @fd leads to is on
 * storage; the object is held by the op. */
void op_sync(struct op *, struct object *, int fd);
/* The same for an object whose names or attributes were changed, unless --async. */
void op_sync_change(struct op *, struct object *);
/* Memory that lives as long as the request; NULL if there is none.  MOUNT asks for
 * it once at most. */
void *op_alloc(struct op *, size_t bytes);
/* Who calls. */
int op_peer(const struct op *, struct sockaddr_storage *ret);
/* procedures.c.  What a procedure of MOUNT (below RPCRDMA_MOUNT3_PROCEDURES) is. */
const struct op_type *nfsd_mount_type(uint32_t proc);
/* Both programs; their tables are the nfsd's. */
int nfsd_add_programs(struct nfsd *, struct rpcrdma_service *);

/* ---- MOUNT over TCP (proc.c, mount_rpc.c) ------------------------------------- */

enum { MOUNT_LIST_BYTES = 32768 }; /* of the results of DUMP and EXPORT */

struct mount_call {
	struct sockaddr_storage peer;
	struct rpcrdma_auth cred;
	const void *args;
	size_t args_len;
	void *room; /* for a list */
	size_t room_bytes;
};

/* Executes a procedure of MOUNT version 3 and writes the results.  0, or a status
 * for the caller (RPCRDMA_PROC_UNAVAIL ... RPCRDMA_AUTH_ERROR). */
int nfsd_mount_by_tcp(struct nfsd *, uint32_t proc, struct mount_call *, void *ret,
                      size_t size, size_t *ret_len, uint32_t *ret_auth_stat);

/* ---- Attributes and errors (attr.c) -------------------------------------- */

/* The status for a negative errno (or 0). */
nfsstat3 nfs_status(int error);
void attr_from_statx(const struct export *, const struct statx *, fattr3 *ret);
void attr_post(struct object *, post_op_attr *ret);
void attr_post_statx(const struct export *, const struct statx *, post_op_attr *ret);
void attr_pre_statx(const struct statx *, pre_op_attr *ret);
/* wcc.c.  Waits until nobody else changes the object, or two directories, for a client;
 * until the procedure is over.  A file may follow its directory.  0 or NFSD_LATER. */
int wcc_lock(struct op *, const struct object *, const struct object *or_null);
void wcc_unlock(struct op *);
/* The attributes before, if they may be given. */
void wcc_before(const struct object *, const struct statx *, pre_op_attr *ret);
/* Checks the values that XDR lets pass.  0, or -EINVAL. */
int attr_check(const sattr3 *);
/* Applies all that is set; the thread acts as the caller. */
int attr_set(struct nfsd *, struct object *, const struct ident *, const sattr3 *);
/* A name for one directory entry: not empty, no '/', at most NAME_MAX.
 * 0, -EINVAL, -ENAMETOOLONG; "." and ".." pass. */
int name_check(const char *name);
bool name_is_dot(const char *name);

/* ---- Procedures ---------------------------------------------------------- */

void op_getattr(struct op *);
void op_setattr(struct op *);
void op_lookup(struct op *);
void op_access(struct op *);
void op_readlink(struct op *);
void op_read(struct op *);
void op_write(struct op *);
void op_create(struct op *);
void op_mkdir(struct op *);
void op_symlink(struct op *);
void op_mknod(struct op *);
void op_remove(struct op *);
void op_rmdir(struct op *);
void op_rename(struct op *);
void op_link(struct op *);
void op_readdir(struct op *);
void op_readdirplus(struct op *);
void op_fsstat(struct op *);
void op_fsinfo(struct op *);
void op_pathconf(struct op *);
void op_commit(struct op *);
void op_null(struct op *);
void op_mnt(struct op *);
void op_dump(struct op *);
void op_umnt(struct op *);
void op_umntall(struct op *);
void op_export(struct op *);

#endif
