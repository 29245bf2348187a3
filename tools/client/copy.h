/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying files and trees between an NFS server and local directories, or two
 * servers.  What cp(1) is for local files, with these additions:
 *
 * A destination appears complete or not at all: data go to a temporary name in
 * its directory, renamed when everything is there (and stable on a server).  What
 * could not keep its links, owner or place that way is written in place.
 *
 * One line of control walks the sources and creates directories; each file or
 * symbolic link below is a job, a state machine driven by callbacks of NFS
 * calls.  Jobs and buffers are limited, and so is memory: nothing grows with
 * the size of a file or of a tree but the depth of the latter.
 *
 *   copy.c        the pool of slots, failures, directories on either side
 *   copy_start.c  a job's beginning
 *   copy_job.c    a job's phases: create, copy, commit, attributes, rename
 *   copy_answers.c  what a job's calls brought
 *   copy_calls.c  a job's calls
 *   copy_place.c  what is in the destination's place: refused, kept, written to
 *   copy_local.c  a job's steps at a local destination
 *   copy_data.c   a job's slots: read, skip zeros, write, keep until committed
 *   copy_tree.c   the walk
 *   copy_self.c   is a directory of the source the one being filled?
 *   copy_backup.c  the name under which what is replaced is kept
 *   copy_made.c   the names given out, where there are several sources
 *   copy_links.c  hard links within what is copied
 */
#ifndef RPCRDMA_TOOLS_COPY_H
#define RPCRDMA_TOOLS_COPY_H

#include <sys/stat.h>

#include "client/nfs.h"

#define COPY_MAX_JOBS   16
#define COPY_BUFFERS    (32u << 20)  /* octets in slots, at most */
#define COPY_CHECKPOINT (512u << 20) /* octets between COMMITs of one file */

/* What is known of a file, wherever it is. */
struct copy_meta {
	ftype3 type; /* 0: there is none; NF3FIFO for all that is special */
	uint32_t mode, uid, gid, nlink;
	uint64_t size, used, fsid, fileid;
	nfstime3 atime, mtime, ctime;
};
void copy_meta_from_stat(const struct stat *, struct copy_meta *ret);
void copy_meta_from_attr(const fattr3 *, struct copy_meta *ret);
/* A pipe or terminal, or a file that does not say how long it is (as in /proc). */
bool copy_is_stream(int fd, const struct stat *);

struct copy_job;

/* What becomes of the file that is replaced; COPY_EXISTING: numbered if it has numbered
 * backups already, else simple. */
enum copy_backups { COPY_NO_BACKUP, COPY_SIMPLE, COPY_EXISTING, COPY_NUMBERED };

/* A READ and the WRITEs of what it brought. */
struct copy_slot {
	struct copy_slot *next, *all;
	struct copy_job *job; /* NULL: free */
	struct nfs_op op;
	uint64_t offset;
	uint32_t len, have, pos, run; /* wanted, read, written, being written */
	uint8_t *buf;
};

struct copy {
	struct loop *loop;
	bool preserve, quiet;
	bool follow;                   /* symbolic links in trees */
	bool keep, update, ask, force; /* -n, -u, -i, -f */
	enum copy_backups backup;
	const char *suffix; /* of simple backups */
	FILE *chatter;      /* where from and where to; NULL: not told */
	unsigned max_jobs;
	struct copy_links *links; /* NULL: each is a file of its own */
	bool dangling; /* the destination is a symbolic link that leads nowhere */
	struct copy_made *made; /* NULL: not kept */
	unsigned in_flight;
	uint32_t io_bytes;
	uint32_t umask;

	struct copy_job *jobs;
	unsigned n_jobs, n_finishing;         /* jobs; directories being finished */
	struct copy_slot *free_slots, *slots; /* slots: all of them */
	unsigned n_slots, max_slots;
	int fatal; /* no use in going on: server lost, or a signal */
	uint64_t files, failed, bytes;
	struct tool_progress progress;
};

/* A directory that receives; the one who drops the last reference finishes its
 * attributes. */
struct copy_dir {
	struct copy *copy;
	struct copy_dir *parent;
	unsigned refs;
	struct nfs_client *client; /* NULL: local */
	struct nfs_fh fh;
	int fd;
	bool fresh; /* made by us: it was empty */
	bool finish, owned, no_owner;
	bool named; /* @text is not the directory but the only name given out in it */
	uint64_t fsid, fileid;
	struct copy_meta meta;
	struct nfs_op op;
	char *text; /* of the first one as it was given, else its name */
};

enum copy_kind { COPY_FILE, COPY_LINK };

/* What a job reads from. */
struct copy_source {
	enum copy_kind kind;
	struct nfs_client *client; /* NULL: local */
	struct nfs_fh fh;
	int fd;      /* given to the job; -1 for a link */
	bool stream; /* read to its end, only once */
	struct copy_meta meta;
	char *target; /* of a local link; given */
	const char *label;
};

enum copy_phase {
	COPY_INSPECTING, /* what is in the destination's place */
	COPY_CREATING,
	COPY_LOOKING, /* CREATE's reply lacked the handle */
	COPY_READLINK,
	COPY_SYMLINK,
	COPY_OWNING, /* before there are data */
	COPY_COPYING,
	COPY_COMMITTING,
	COPY_TRUNCATING, /* in place; or the source changed: once more */
	COPY_SETATTR,
	COPY_BACKING, /* the old file gets its backup's name */
	COPY_RENAMING,
	COPY_CHECKING,  /* NOENT: had the first RENAME been executed? */
	COPY_RESTORING, /* the backup gets its old name back */
	COPY_REMOVING,  /* the temporary: the end, or before writing in place */
};

/* Which end something went wrong at. */
enum copy_end { COPY_SOURCE, COPY_TARGET };

struct copy_job {
	struct copy *copy;
	struct copy_job *next, **prev;
	struct copy_source src;
	struct copy_dir *dir;
	char *label; /* the source, for messages */
	char name[NFS_NAME_MAX + 1], temp[NFS_NAME_MAX + 1];
	char backup[NFS_NAME_MAX + 1]; /* "": the old file is not kept */
	enum copy_phase phase;

	int fd;           /* local temporary, -1 */
	struct nfs_fh fh; /* remote one */
	uint64_t fileid;
	bool made;            /* the temporary may exist */
	struct copy_meta old; /* what is in the destination's place */
	struct nfs_fh old_fh;
	bool in_place, cut;     /* and it has lost its contents */
	bool denied;            /* no new file may be made beside it */
	bool forced;            /* it could not be written in place */
	bool backed;            /* the old file has the backup's name */
	bool skipped;           /* the old one stays, and nothing failed */
	struct copy_link *twin; /* told where the file is; NULL: nobody asks */
	uint32_t uid, gid;      /* of the new file, if have_owner */
	bool have_owner, owned; /* they are as they should be */
	bool plain;             /* no set-id bits: the server does not want them */

	uint32_t io_bytes;
	uint64_t at, size;        /* where the next slot begins; the end */
	uint64_t committed, high; /* stable up to there; end of what was written */
	bool size_known, sparse, pumping, posted, waiting;
	unsigned busy; /* slots with a call out, or being filled from a stream */
	struct copy_slot *held; /* a stream's, written but not committed */
	struct copy_slot *filling;
	struct loop_watch watch;
	stable_how stable;
	bool unstable, have_verf, rewind, changed;
	writeverf3 verf;
	unsigned rewinds, attempts;
	struct copy_meta changed_meta;

	int status;
	enum copy_phase failed_in;
	const char *what; /* went wrong, if status does not say it; "": told */
	enum copy_end end;
	struct nfs_op op;
};

/* ---- copy.c ------------------------------------------------------------------ */

void copy_init(struct copy *, struct loop *);
/* Nothing may be running. */
void copy_fini(struct copy *);
/* Waits until fewer than @n jobs run.  0, or copy->fatal. */
int copy_wait(struct copy *, unsigned n);
/* Cancels everything and waits for the clean-up. */
void copy_abort(struct copy *);
/* "cannot @act LABEL: why", counted as a failed file. */
void copy_report_failure(struct copy *, const char *act, const char *label,
                         const struct nfs_client *, int status);
/* NULL: all are in use; copy_job_go follows when one comes back. */
struct copy_slot *copy_slot_get(struct copy *, struct copy_job *);
void copy_slot_put(struct copy_slot *);

/* Opens a directory to put names into, which takes no right to read it. */
int copy_dir_open(int at, const char *path, int flags);
/* The given directory as a destination (fd given).  @text: as the user named it, or
 * @named, the one thing that is to be put there. */
struct copy_dir *copy_dir_local(struct copy *, int fd, const char *text, bool named);
struct copy_dir *copy_dir_remote(struct copy *, struct nfs_client *,
                                 const struct nfs_fh *, const fattr3 *,
                                 const char *text, bool named);
/* Makes @name in @parent, or finds it there.  NULL: failed, and told; @label: the
 * source. */
struct copy_dir *copy_dir_make(struct copy_dir *parent, const char *name,
                               const struct copy_meta *, const char *label);
/* The path of @name in it, for messages; on the heap, NULL: no memory. */
char *copy_dir_text(const struct copy_dir *, const char *name);
void copy_dir_get(struct copy_dir *);
void copy_dir_put(struct copy_dir *);
/* SETATTR arguments of a finished file or directory: mode and, with -p, times. */
void copy_sattr(const struct copy *, const struct copy_meta *, uint32_t mode,
                sattr3 *ret);
/* And an owner. */
void copy_sattr_owner(const struct copy_meta *, sattr3 *ret);
/* The mode of what is new. */
uint32_t copy_mode(const struct copy *, const struct copy_meta *);
/* The same for an open local one; 0 or -errno. */
int copy_set_local(const struct copy *, int fd, const struct copy_meta *,
                   uint32_t mode);
/* Gives it owner and group, or the group alone, with -errno. */
int copy_own_local(int fd, const struct copy_meta *);
/* ---- copy_start.c -------------------------------------------------------------- */

/* Copies @src to @name in @dir; copy_wait first, where jobs are many. */
void copy_job_start(struct copy *, const struct copy_source *, struct copy_dir *dir,
                    const char *name);
/* A name for a temporary beside @name; @ret has NFS_NAME_MAX + 1 octets. */
void copy_temp_name(const char *name, char *ret);

/* ---- copy_job.c, copy_answers.c ------------------------------------------------ */

/* Goes on where the job is: after slots or calls have ended. */
void copy_job_go(struct copy_job *);
/* Notes the first failure; the job ends once its calls have. */
void copy_job_fail(struct copy_job *, enum copy_end, int status, const char *what);
void copy_job_cancel(struct copy_job *);
/* Says on c->chatter, if there is one, what was copied where; @backup "": no backup. */
void copy_report(struct copy *, const char *label, const struct copy_dir *,
                 const char *name, const char *backup);
/* The job's call has ended. */
void copy_job_on_op(struct nfs_op *, void *job);

/* ---- copy_calls.c: NFS procedures by name ---------------------------------------- */

void copy_call_create(struct copy_job *);
void copy_call_lookup(struct copy_job *, char *name);
void copy_call_getattr(struct copy_job *);
void copy_call_readlink(struct copy_job *);
void copy_call_symlink(struct copy_job *);
void copy_call_commit(struct copy_job *);
void copy_call_setattr(struct copy_job *);
void copy_call_own(struct copy_job *);
void copy_call_rename(struct copy_job *, char *from, char *to);
void copy_call_remove(struct copy_job *);

/* ---- copy_place.c -------------------------------------------------------------- */

/* Looks at j->old: refuses (j->status), lets it be (j->skipped), or decides to write in
 * place.  May ask the user, and wait for the answer. */
void copy_place_judge(struct copy_job *);
/* Whether what is at @at in the destination is the source itself. */
bool copy_is_same(const struct copy_source *, const struct copy_meta *at,
                  const struct copy_dir *);
/* A file in the place keeps what it is. */
bool copy_place_kept(const struct copy_job *);
/* Whose uid and gid have to be given to the file; NULL: nothing is to be done.  Sets
 * j->owned. */
const struct copy_meta *copy_place_owner(struct copy_job *);
/* The mode at the end. */
uint32_t copy_place_mode(const struct copy_job *);

/* ---- copy_local.c -------------------------------------------------------------- */

int copy_local_look(struct copy_job *);
int copy_local_create(struct copy_job *);
int copy_local_link(struct copy_job *);
/* The file in the place, to write to. */
int copy_local_open(struct copy_job *);
int copy_local_own(struct copy_job *, const struct copy_meta *);
/* Size, mode, times. */
int copy_local_set(struct copy_job *);
/* Has the new data on storage, before the old file is renamed or replaced. */
int copy_local_sync(const struct copy_job *);
int copy_local_rename(struct copy_job *);
/* Closes and removes the temporary. */
int copy_local_drop(struct copy_job *);

/* ---- copy_backup.c ------------------------------------------------------------- */

/* Sets what backups there are to be; @control and @suffix may be NULL: the environment
 * or the default.  0, or -EINVAL: told. */
int copy_backup_choose(struct copy *, const char *control, const char *suffix);
/* The name for a backup of @name in @ret, of NFS_NAME_MAX + 1 octets; "" if none is to
 * be made.  0, or told and counted.  Waits. */
int copy_backup_name(struct copy *, const struct copy_source *, const struct copy_dir *,
                     const char *name, char *ret);
/* Renames within the directory.  Waits. */
int copy_backup_move(const struct copy_dir *, const char *from, const char *to);

/* ---- copy_made.c --------------------------------------------------------------- */

struct copy_made *copy_made_new(void);
void copy_made_free(struct copy_made *);
/* Notes that @name is given out; -EEXIST: it was before, -ENOMEM. */
int copy_made_add(struct copy_made *, const struct copy_dir *, const char *name);

/* ---- copy_links.c -------------------------------------------------------------- */

struct copy_links *copy_links_new(void);
void copy_links_free(struct copy_links *);
/* True: @src is a further link of a file that is copied already, and what had to be
 * done for @name in @dir is done or told.  Else @ret_link is NULL, or what is to
 * hear, by copy_link_at or copy_link_lost, what becomes of the file.  Waits. */
bool copy_link_again(struct copy *, const struct copy_source *src, struct copy_dir *dir,
                     const char *name, struct copy_link **ret_link);
/* The file is there: as @fh of a server, or under a path. */
void copy_link_at(struct copy_link *, const struct nfs_fh *fh, const char *path);
void copy_link_lost(struct copy_link *);

/* ---- copy_self.c --------------------------------------------------------------- */

/* A directory of the source. */
struct copy_place {
	struct nfs_client *client; /* NULL: local */
	const struct nfs_fh *fh;
	int fd;
};
/* Whether it is the one being filled.  May wait for calls. */
bool copy_is_self(const struct copy_dir *, const struct copy_place *,
                  const struct copy_meta *);

/* ---- copy_data.c --------------------------------------------------------------- */

/* Sets up the data of a job that begins, or begins again. */
void copy_data_begin(struct copy_job *);
/* Starts what can be started.  True: all is written, or no more will be. */
bool copy_data_pump(struct copy_job *);
/* After a COMMIT that told of a restart, or a change of the source. */
void copy_data_rewind(struct copy_job *);
/* After a good COMMIT. */
void copy_data_committed(struct copy_job *);
void copy_data_cancel(struct copy_job *);

/* ---- copy_tree.c --------------------------------------------------------------- */

/* A link's target on the heap; NULL and errno. */
char *copy_read_target(int at, const char *name);
/* Copies a directory to @name in @dir (@name NULL: its contents to @dir).
 * Failures are told and counted; -EINTR and the like come back. */
int copy_tree_local(struct copy *, int at, const char *path, const char *label,
                    struct copy_dir *dir, const char *name);
int copy_tree_remote(struct copy *, struct nfs_client *, const struct nfs_fh *,
                     const fattr3 *, const char *label, struct copy_dir *dir,
                     const char *name);

#endif
