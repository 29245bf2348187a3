/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies files and trees between an NFS server and local directories, or two servers.
 * Does what cp(1) does for local files, with these differences:
 *
 * A destination appears complete or not at all.  Data are written to a temporary file
 * in the same directory, which is renamed when it is complete (and, on a server,
 * stable).  An existing file is written in place if replacing it would break its hard
 * links or change its owner, or if its directory permits no new files.
 *
 * A single flow of control walks the sources and creates directories.  Each file or
 * symbolic link found is copied by a job, a state machine driven by the callbacks of
 * NFS calls.  The number of jobs and buffers is limited.  Memory does not grow with the
 * size of a file or a tree, only with the tree's depth.
 *
 *  copy.c          the pool of slots, waiting, failures, attributes
 *  copy_dir.c      destination directories: made, finished
 *  copy_start.c    begins a job
 *  copy_job.c      a job's phases: create, copy, commit, attributes, rename
 *  copy_answers.c  handles the results of a job's calls
 *  copy_calls.c    a job's calls
 *  copy_place.c    decides about an existing file: refuse, keep, write in place
 *  copy_local.c    a job's steps at a local destination
 *  copy_data.c     a job's slots: read, skip zeros, write, keep until committed
 *  copy_tree.c     the walk
 *  copy_self.c     finds out whether a source directory is also the destination
 *  copy_backup.c   chooses the name of a backup
 *  copy_made.c     the names made in this run, for several sources
 *  copy_links.c    hard links within the copy
 */
#ifndef RPCRDMA_TOOLS_COPY_H
#define RPCRDMA_TOOLS_COPY_H

#include <sys/stat.h>

#include "client/nfs.h"

#define COPY_MAX_JOBS   64
#define COPY_BUFFERS    (32u << 20)  /* total size of the large slots, in octets */
#define COPY_SMALL      (64u << 10)  /* size of a small slot */
#define COPY_CHECKPOINT (512u << 20) /* octets between COMMITs of one file */

/* Attributes of a source or destination file. */
struct copy_meta {
	ftype3 type; /* 0 = there is no file; NF3FIFO = any special file */
	uint32_t mode, uid, gid, nlink;
	uint64_t size, used, fsid, fileid;
	nfstime3 atime, mtime, ctime;
};
void copy_meta_from_stat(const struct stat *, struct copy_meta *ret);
void copy_meta_from_attr(const fattr3 *, struct copy_meta *ret);
/* Returns true if a file is a pipe or a terminal, or has an unknown length (as in
 * /proc). */
bool copy_is_stream(int fd, const struct stat *);

struct copy_job;

/* The kind of backup that is kept of a replaced file.  COPY_EXISTING means numbered if
 * the file already has numbered backups, otherwise simple. */
enum copy_backups { COPY_NO_BACKUP, COPY_SIMPLE, COPY_EXISTING, COPY_NUMBERED };

/* Slots of one size: small ones for small files, of which many are in flight, and large
 * ones. */
struct copy_pool {
	struct copy_slot *free;
	unsigned n, max; /* n: slots that exist */
	uint32_t bytes;  /* size of a buffer */
};

/* A buffer for the data of one READ and of the WRITEs that follow. */
struct copy_slot {
	struct copy_slot *next, *all;
	struct copy_pool *pool;
	struct copy_job *job; /* NULL: free */
	struct nfs_op op;
	uint64_t offset;
	uint32_t len;  /* octets to read */
	uint32_t have; /* octets read */
	uint32_t pos;  /* octets written */
	uint32_t run;  /* octets in the current WRITE */
	uint8_t *buf;
};

struct copy {
	struct loop *loop;
	bool preserve, quiet;
	bool follow;                   /* follow symbolic links in trees */
	bool keep, update, ask, force; /* -n, -u, -i, -f */
	enum copy_backups backup;
	const char *suffix; /* for simple backups */
	FILE *verbose_out;  /* output of -v; NULL: none */
	unsigned max_jobs;
	struct copy_links *links; /* NULL: hard links become separate files */
	bool dangling;            /* the destination is a symbolic link that leads
				     nowhere */
	struct copy_made *made;   /* NULL: names are not recorded */
	unsigned in_flight;
	uint32_t io_bytes;
	uint32_t umask;

	struct copy_job *jobs;
	struct copy_dir *making; /* directories that wait for MKDIR */
	unsigned n_jobs, n_making,
	        n_finishing; /* n_jobs: running jobs; n_finishing: directories that wait
				for SETATTR */
	struct copy_pool small, large;
	struct copy_slot *slots; /* list of all slots */
	int fatal; /* error that ends the run, because the server was lost or a signal
		      was caught */
	uint64_t files, failed, bytes;
	struct tool_progress progress;
};

/* COPY_DIR_MAKING: handle and file number are not known yet. */
enum copy_dir_state { COPY_DIR_READY, COPY_DIR_MAKING, COPY_DIR_FAILED };

/* A directory that receives files.  Dropping the last reference sets its attributes. */
struct copy_dir {
	struct copy *copy;
	struct copy_dir *parent;
	unsigned refs;
	enum copy_dir_state state;
	struct copy_dir *next_making;
	char *label;               /* name of the source, while the directory is made */
	struct nfs_client *client; /* NULL: local */
	struct nfs_fh fh;
	int fd;
	bool fresh; /* made by this run, so it was empty */
	bool finish, owned, no_owner;
	bool named; /* @text is the name of the only file to be made */
	uint64_t fsid, fileid;
	struct copy_meta meta;
	struct nfs_op op;
	char *text; /* top directory: its path as typed; other directories: the name */
};

enum copy_kind { COPY_FILE, COPY_LINK };

/* The source of a job's data. */
struct copy_source {
	enum copy_kind kind;
	struct nfs_client *client; /* NULL: local */
	struct nfs_fh fh;
	int fd;      /* owned by the job; -1 for a link */
	bool stream; /* can be read only once, until end of file */
	struct copy_meta meta;
	char *target; /* target of a local link; owned by the job */
	const char *label;
};

enum copy_phase {
	COPY_WAITING,    /* waits until its directory is made */
	COPY_INSPECTING, /* is looking for an existing file */
	COPY_CREATING,
	COPY_LOOKING, /* asks for the handle that CREATE's reply lacked */
	COPY_READLINK,
	COPY_SYMLINK,
	COPY_OWNING, /* sets the owner, before data are written */
	COPY_COPYING,
	COPY_COMMITTING,
	COPY_TRUNCATING, /* truncates the file, to write in place or copy again */
	COPY_SETATTR,
	COPY_BACKING, /* renames the old file to its backup's name */
	COPY_RENAMING,
	COPY_CHECKING,  /* after NOENT: checks whether an earlier RENAME was executed */
	COPY_RESTORING, /* renames the backup back */
	COPY_REMOVING,  /* removes the temporary file */
};

/* The side that failed. */
enum copy_end { COPY_SOURCE, COPY_TARGET };

struct copy_job {
	struct copy *copy;
	struct copy_job *next, **prev;
	struct copy_source src;
	struct copy_dir *dir;
	char *label; /* the source's name, for messages */
	char name[NFS_NAME_MAX + 1], temp[NFS_NAME_MAX + 1];
	char backup[NFS_NAME_MAX + 1]; /* "": no backup */
	enum copy_phase phase;

	int fd;           /* descriptor of a local temporary file, or -1 */
	struct nfs_fh fh; /* handle of a remote temporary file */
	uint64_t fileid;
	bool made;            /* the temporary file may exist */
	struct copy_meta old; /* the existing file */
	struct nfs_fh old_fh;
	bool in_place, truncated; /* truncated: the old contents are gone */
	bool denied;              /* the directory does not permit new files */
	bool forced;  /* the old file cannot be written, so it is replaced (-f) */
	bool backed;  /* the old file has been renamed to the backup's name */
	bool skipped; /* the old file is kept, and nothing failed */
	struct copy_link *link_entry; /* hard-link entry of the file; NULL: none */
	uint32_t uid, gid;            /* owner of the new file, if have_owner */
	bool have_owner, owned;       /* owned: the new file has this owner */
	bool no_setid;                /* the server refuses set-id bits */

	uint32_t io_bytes;
	uint64_t at, size;        /* at: offset at which the next slot begins; size:
				     size of the file */
	uint64_t committed, high; /* committed: end of the stable data; high: end of the
				     written data */
	bool size_known, sparse, pumping, posted;
	struct copy_pool *waiting; /* the pool whose slot it awaits; NULL: none */
	unsigned busy; /* slots with a call in flight or being filled from a stream */
	struct copy_slot *held; /* a stream's slots, written but not committed */
	struct copy_slot *filling;
	struct loop_watch watch;
	stable_how stable;
	bool unstable, have_verf, rewind, changed;
	writeverf3 verf;
	unsigned rewinds, attempts;
	struct copy_meta changed_meta;

	int status;
	enum copy_phase failed_in;
	const char *what; /* reason, if not in @status; "" = already reported */
	enum copy_end end;
	struct nfs_op op;
};

/* ---- copy.c ------------------------------------------------------------------ */

void copy_init(struct copy *, struct loop *);
/* Frees everything.  No job must be running. */
void copy_fini(struct copy *);
/* Waits until fewer than @n jobs and calls for directories run.  Returns 0, or
 * copy->fatal. */
int copy_wait(struct copy *, unsigned n);
/* Cancels all jobs and waits for their clean-up. */
void copy_abort(struct copy *);
/* Reports "cannot @act @label: REASON" and counts a failed file. */
void copy_report_failure(struct copy *, const char *act, const char *label,
                         const struct nfs_client *, int status);
/* Returns the pool of slots for @len octets. */
struct copy_pool *copy_pool_for(struct copy *, uint32_t len);
/* Returns a free slot for the job, or NULL if all are in use.  When a slot becomes free,
 * copy_job_go is called for a job that waits for the pool. */
struct copy_slot *copy_slot_get(struct copy_pool *, struct copy_job *);
void copy_slot_put(struct copy_slot *);
/* Fills the arguments of SETATTR for a finished file or directory: mode and, with -p,
 * times. */
void copy_sattr(const struct copy *, const struct copy_meta *, uint32_t mode,
                sattr3 *ret);
/* Adds the owner. */
void copy_sattr_owner(const struct copy_meta *, sattr3 *ret);
/* Returns the mode of a new file. */
uint32_t copy_mode(const struct copy *, const struct copy_meta *);
/* Sets mode and, with -p, times of an open local file.  Returns 0 or -errno. */
int copy_set_local(const struct copy *, int fd, const struct copy_meta *,
                   uint32_t mode);
/* Sets owner and group of an open local file.  If the owner cannot be set, sets the
 * group alone and returns -errno. */
int copy_own_local(int fd, const struct copy_meta *);

/* ---- copy_dir.c ---------------------------------------------------------------- */

/* Opens a directory for creating files in it.  Does not need read permission. */
int copy_dir_open(int at, const char *path, int flags);
/* Returns a destination directory (@fd is given).  If @named is false, @text is the
 * directory's name as the user gave it.  Otherwise @text is the name of the only file
 * to be made in the directory. */
struct copy_dir *copy_dir_local(struct copy *, int fd, const char *text, bool named);
struct copy_dir *copy_dir_remote(struct copy *, struct nfs_client *,
                                 const struct nfs_fh *, const fattr3 *,
                                 const char *text, bool named);
/* Makes @name in @parent, or opens an existing directory.  On a server, this continues
 * after the return; @parent may be incomplete, too.  @label names the source in
 * messages.  On failure prints a message, and returns NULL or makes the directory's
 * state COPY_DIR_FAILED. */
struct copy_dir *copy_dir_make(struct copy_dir *parent, const char *name,
                               const struct copy_meta *, const char *label);
/* Waits until the directory is made.  Returns false if it failed, or if the run ends. */
bool copy_dir_ready(struct copy_dir *);
/* Cancels the calls that make directories. */
void copy_dir_cancel_making(struct copy *);
/* Returns the path of @name in the directory, for messages.  The caller frees the path.
 * Returns NULL if out of memory. */
char *copy_dir_text(const struct copy_dir *, const char *name);
void copy_dir_get(struct copy_dir *);
void copy_dir_put(struct copy_dir *);

/* ---- copy_start.c -------------------------------------------------------------- */

/* Starts a job that copies @src to @name in @dir, as soon as @dir is made.  Call
 * copy_wait first, to limit the number of jobs. */
void copy_job_start(struct copy *, const struct copy_source *, struct copy_dir *dir,
                    const char *name);
/* Begins the jobs that wait for @dir, or ends them without a message if the directory
 * could not be made. */
void copy_job_wake(struct copy *, const struct copy_dir *dir);
/* Makes the name of a temporary file for @name; @ret has NFS_NAME_MAX + 1 octets. */
void copy_temp_name(const char *name, char *ret);

/* ---- copy_job.c, copy_answers.c ------------------------------------------------ */

/* Continues the job when slots or calls have completed. */
void copy_job_go(struct copy_job *);
/* Stores the job's first failure.  The job ends when its calls have completed. */
void copy_job_fail(struct copy_job *, enum copy_end, int status, const char *what);
void copy_job_cancel(struct copy_job *);
/* Prints source and destination of a copy to c->verbose_out.  @backup is "" if there is
 * no backup. */
void copy_report(struct copy *, const char *label, const struct copy_dir *,
                 const char *name, const char *backup);
/* Handles the completion of the job's call. */
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

/* Decides what happens to the existing file j->old: refuses to replace it (sets
 * j->status), keeps it (sets j->skipped), writes to it in place, or replaces it.  May
 * ask the user and wait for the answer. */
void copy_place_judge(struct copy_job *);
/* Returns true if the existing destination file @at is the source itself. */
bool copy_is_same(const struct copy_source *, const struct copy_meta *at,
                  const struct copy_dir *);
/* Returns true if the existing file's mode and owner are to be kept. */
bool copy_place_kept(const struct copy_job *);
/* Returns the attributes with the uid and gid to set, or NULL if none are to be set.
 * Sets j->owned. */
const struct copy_meta *copy_place_owner(struct copy_job *);
/* Returns the final mode. */
uint32_t copy_place_mode(const struct copy_job *);

/* ---- copy_local.c -------------------------------------------------------------- */

int copy_local_look(struct copy_job *);
int copy_local_create(struct copy_job *);
int copy_local_link(struct copy_job *);
/* Opens the existing file for writing. */
int copy_local_open(struct copy_job *);
int copy_local_own(struct copy_job *, const struct copy_meta *);
/* Sets size, mode and times. */
int copy_local_set(struct copy_job *);
/* Syncs the new data, before the old file is renamed or replaced. */
int copy_local_sync(const struct copy_job *);
int copy_local_rename(struct copy_job *);
/* Closes and removes the temporary file. */
int copy_local_drop(struct copy_job *);

/* ---- copy_backup.c ------------------------------------------------------------- */

/* Chooses the kind of backup.  If @control or @suffix is NULL, the environment or the
 * default decides.  Returns 0, or prints a message and returns -EINVAL. */
int copy_backup_choose(struct copy *, const char *control, const char *suffix);
/* Writes the name for a backup of @name to @ret, which has NFS_NAME_MAX + 1 octets, or
 * "" if no backup is needed.  On failure, reports and counts the error and returns it;
 * otherwise returns 0.  Blocks. */
int copy_backup_name(struct copy *, const struct copy_source *, const struct copy_dir *,
                     const char *name, char *ret);
/* Renames within the directory.  Blocks. */
int copy_backup_move(const struct copy_dir *, const char *from, const char *to);

/* ---- copy_made.c --------------------------------------------------------------- */

struct copy_made *copy_made_new(void);
void copy_made_free(struct copy_made *);
/* Records that this run makes @name.  Returns 0, -EEXIST if it was recorded before, or
 * -ENOMEM. */
int copy_made_add(struct copy_made *, const struct copy_dir *, const char *name);

/* ---- copy_links.c -------------------------------------------------------------- */

struct copy_links *copy_links_new(void);
void copy_links_free(struct copy_links *);
/*
 * If @src is another link to a file that was copied before, makes a link to that copy,
 * or reports a failure, and returns true.  Otherwise sets @ret_link to NULL, or to an
 * entry that the caller completes with copy_link_at or copy_link_lost.  Blocks.
 */
bool copy_link_again(struct copy *, const struct copy_source *src, struct copy_dir *dir,
                     const char *name, struct copy_link **ret_link);
/* Completes an entry when the file has been copied, to @fh on a server or to @path. */
void copy_link_at(struct copy_link *, const struct nfs_fh *fh, const char *path);
void copy_link_lost(struct copy_link *);

/* ---- copy_self.c --------------------------------------------------------------- */

/* A source directory. */
struct copy_place {
	struct nfs_client *client; /* NULL: local */
	const struct nfs_fh *fh;
	int fd;
};
/* Returns true if the source directory is also the destination directory.  May
 * block. */
bool copy_is_self(const struct copy_dir *, const struct copy_place *,
                  const struct copy_meta *);

/* ---- copy_data.c --------------------------------------------------------------- */

/* Resets the offsets of a job before its data are copied, for the first time or again.
 */
void copy_data_begin(struct copy_job *);
/* Starts as many slots as possible.  Returns true if no call is in flight: either all
 * data are written, or the job must commit, rewind or end. */
bool copy_data_pump(struct copy_job *);
/* Goes back to the last COMMIT, after a server restart that lost data. */
void copy_data_rewind(struct copy_job *);
/* Marks the data as stable, after a COMMIT. */
void copy_data_committed(struct copy_job *);
/* Sets j->changed if the source's attributes have changed since the job began. */
void copy_data_compare(struct copy_job *, const struct copy_meta *now);
void copy_data_cancel(struct copy_job *);

/* ---- copy_tree.c --------------------------------------------------------------- */

/* Returns a link's target, which the caller frees.  On failure, returns NULL and sets
 * errno. */
char *copy_read_target(int at, const char *name);
/* Copies a directory to @name in @dir, or its contents to @dir if @name is NULL.
 * Reports and counts failures.  Returns 0, or the error that ends the command, such as
 * -EINTR. */
int copy_tree_local(struct copy *, int at, const char *path, const char *label,
                    struct copy_dir *dir, const char *name);
int copy_tree_remote(struct copy *, struct nfs_client *, const struct nfs_fh *,
                     const fattr3 *, const char *label, struct copy_dir *dir,
                     const char *name);

#endif
