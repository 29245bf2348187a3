/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An NFS version 3 client over rpcrdma_call: one export, mounted by MNT on the same
 * connection, or over TCP (see mount.h).
 *
 * An operation (struct nfs_op) is one procedure call.  Arguments are encoded when it
 * starts.  Results are decoded before its done callback is called, and remain valid
 * until nfs_op_fini or the next start.  After NFS3ERR_JUKEBOX the call is repeated
 * internally, for up to retry_ns.  If a connected server answers no call for
 * timeout_ns, outstanding calls end with -ETIMEDOUT.  Functions without "op" in their
 * name wait in loop_wait and must not be called from callbacks.
 *
 * A status is 0, an nfsstat3 (positive, as in RFC 1813), NFS_RPC plus an
 * rpcrdma_status, NFS_NO_MOUNT, or a negative errno; nfs_status_text describes it.
 */
#ifndef RPCRDMA_TOOLS_NFS_H
#define RPCRDMA_TOOLS_NFS_H

#include "nfs/nfs3_msg.h"
#include "client/connecting.h"

#define NFS_RPC      20000
#define NFS_NO_MOUNT 30000
#define NFS_NAME_MAX 255
#define NFS_IO_MAX   (1u << 20)

struct nfs_fh {
	uint32_t len;
	char data[NFS3_FHSIZE];
};

struct nfs_client {
	struct link link;
	struct link *more; /* further connections to the same server (--connections) */
	unsigned n_more;
	uint32_t sec; /* flavor that the user chose; SEC_UNSAID: the server's choice */
	struct rpcrdma_auth cred;
	uint8_t cred_body[400];
	uint64_t timeout_ns; /* longest time without an answer; 0 = no limit */
	uint64_t retry_ns;
	uint64_t last_answer_ns; /* time of the last answer, or of connecting */
	struct nfs_fh root;
	fattr3 root_attr;
	uint32_t read_bytes, write_bytes, dir_bytes; /* preferred sizes */
	char *export;                                /* "/NAME" */
	char *exports; /* list from the server; each name is zero-terminated */
	size_t exports_len;
	struct {
		uint16_t given; /* port in the URL; 0: none */
		bool tcp; /* MOUNT is called over TCP, at address @at, port @port */
		uint16_t port;
		struct sockaddr_storage at;
		bool needs_umnt;      /* UMNT must be sent for @export */
		uint32_t flavors[16]; /* list from MNT for the export */
		unsigned n_flavors;
		char reason[192]; /* reason for NFS_NO_MOUNT */
	} mount;
};

union nfs_res {
	nfsstat3 status;
	GETATTR3res getattr;
	SETATTR3res setattr;
	LOOKUP3res lookup;
	READLINK3res readlink;
	READ3res read;
	WRITE3res write;
	CREATE3res create;
	MKDIR3res mkdir;
	SYMLINK3res symlink;
	REMOVE3res remove;
	RMDIR3res rmdir;
	RENAME3res rename;
	LINK3res link;
	FSSTAT3res fsstat;
	READDIRPLUS3res readdirplus;
	FSINFO3res fsinfo;
	COMMIT3res commit;
	mountres3 mnt;
};

struct nfs_op;
struct nfs_proc;
typedef void nfs_done_fn(struct nfs_op *op, void *arg);

struct nfs_op {
	struct nfs_client *client;
	/* Optional inputs.  The caller sets them before it starts an operation that
	 * needs them; each start clears them afterwards. */
	const void *item; /* WRITE data, SYMLINK path; lent until done */
	uint32_t item_len;
	void *into; /* READ data, READLINK path; lent until done */
	uint32_t into_len;
	uint64_t timeout_ns; /* limit for the whole call; 0 = none */
	struct link *via;    /* connection to use; NULL: the one with fewest calls */

	int status;
	union nfs_res res;
	uint32_t got;       /* octets placed in @into */
	size_t reply_bytes; /* space for results that contain a list; 0 =
			       NFS3_RESULT_BYTES */
	/* The list in the results of READDIRPLUS or EXPORT; valid only in the done
	 * callback. */
	const char *rest;
	size_t rest_len;

	/* private */
	nfs_done_fn *done; /* called when the op ends; a caller of nfs_op_run may set it
			      beforehand */
	void *arg;
	const struct nfs_proc *spec; /* type of the results in res */
	struct link *link;           /* connection of @call */
	struct rpcrdma_call *call;
	struct rpcrdma_timer *timer; /* timer for the next attempt, or for detecting
					silence */
	bool silent; /* the call was cancelled because the server was silent */
	struct rpcrdma_dest dest;
	struct rpcrdma_piece pieces[2];
	uint64_t jukebox_until_ns, sent_ns;
	uint32_t proc, program;
	unsigned tries;
	bool busy;
	uint32_t args_len;
	uint32_t args[400];
};

/* Options of the subcommands that mount. */
struct nfs_options {
	uint64_t timeout_ns; /* longest time without an answer while connected; 0 = no
				limit */
	uint64_t retry_ns;   /* how long to wait for a lost server; 0 = default */
	uint32_t sec; /* flavor; SEC_UNSAID = the URL's, or the server's choice */
	uint32_t connections; /* to each server; 0 = 1 */
};

#define NFS_OPTIONS                                                                    \
	{                                                                              \
		.timeout_ns = 60000000000u                                             \
	}

/* The rows for these options in a subcommand's table; values are stored in @member. */
/* clang-format off */
#define NFS_OPTION_ROWS(type, member)                                                  \
	{.help = "NFS client options:"},                                               \
	{"sec", NULL, "FLAVOR",                                                        \
	 "sys, krb5, krb5i or krb5p (default: the first usable one that the server "   \
	 "lists)",                                                                     \
	 "sys krb5 krb5i krb5p", TOOL_CALL(sec_take, type, member.sec)},               \
	{"timeout", NULL, "SECONDS",                                                   \
	 "how long a connected server may leave calls unanswered (60); 0: no limit; "  \
	 "a COMMIT may take five times as long",                                       \
	 NULL, TOOL_AT(TOOL_SECONDS, type, member.timeout_ns)},                        \
	{"retry", NULL, "SECONDS", "how long to wait for a lost server (60)", NULL,    \
	 TOOL_AT(TOOL_SECONDS, type, member.retry_ns)}
/* The row for several connections, in the subcommands that transfer files. */
#define NFS_CONNECTIONS_ROW(type, member)                                              \
	{"connections", NULL, "N",                                                     \
	 "spread calls over N connections to each server, 1 to 16 (1)", NULL,          \
	 TOOL_RANGE(TOOL_NUMBER, type, member.connections, 1, 16)}
/* clang-format on */

/* Parses a URL.  If @export is true, the URL must name an export.  Returns 0, or prints
 * a message and returns -EINVAL. */
int nfs_url(const char *text, bool export, struct url *ret);
/* Checks each of @urls as nfs_url does; a NULL ends the array.  Returns TOOL_OK, or
 * prints a message and returns TOOL_USAGE. */
int nfs_check_urls(char **urls, bool export);

/* Connects, mounts, and asks for the preferred sizes.  Prints a message on failure.  If
 * the export's name has several components, moves these components from the URL's path
 * to the URL's export. */
int nfs_open(struct nfs_client *, struct loop *, struct url *,
             const struct nfs_options *);
/*
 * Opens each of @urls and calls @each for it; a NULL ends the array.  If @export is
 * true, each URL must name an export.  Continues after a failure, unless a signal was
 * caught or output cannot be written.  Reports all failures.  Returns the exit code.
 */
typedef int nfs_each_fn(struct nfs_client *, const char *text, const struct url *,
                        void *arg);
int nfs_each(struct loop *, const struct nfs_options *, bool export, char **urls,
             nfs_each_fn *each, void *arg);
/* Makes a loop, calls nfs_each, and frees the loop.  Prints a message if @urls is
 * empty.  Returns the exit code; ends the process if a signal was caught. */
int nfs_run_each(struct tool_common *, const struct nfs_options *, bool export,
                 char **urls, nfs_each_fn *each, void *arg);
/* Returns true if the URL, which must be for the same server, is in this export and in
 * no listed export below it. */
bool nfs_serves(const struct nfs_client *, const struct url *);
void nfs_close(struct nfs_client *);
/* Returns true if a connection to the server is up. */
bool nfs_is_up(const struct nfs_client *);
/* Returns a text for @status, in constant memory or in a buffer that later calls
 * reuse. */
const char *nfs_status_text(const struct nfs_client *, int status);
/* Prints "cannot @act @text: REASON", and a hint for some errors.  Prints nothing after
 * 0, a signal or TOOL_REPORTED.  Returns @status. */
int nfs_report(const struct nfs_client *, const char *act, const char *text,
               int status);

void nfs_op_init(struct nfs_op *, struct nfs_client *);
/* Calls @proc with @args (the ...3args structure, borrowed).  @done is always called
 * later, never from within this function, even if the call cannot be started. */
void nfs_op_start(struct nfs_op *, uint32_t proc, void *args, nfs_done_fn *, void *arg);
/* Cancels the call.  If the op is busy, done is called later with -ECANCELED. */
void nfs_op_cancel(struct nfs_op *);
/* Starts a call and waits for it.  Returns op->status, or -EINTR after a signal. */
int nfs_op_run(struct nfs_op *, uint32_t proc, void *args);
/* Calls a MOUNT procedure and waits.  If @path is NULL, the procedure has no arguments.
 */
int nfs_op_run_mount(struct nfs_op *, uint32_t proc, const char *path);
/* Frees the results.  The op must not be busy. */
void nfs_op_fini(struct nfs_op *);

/* Converts handles to arguments and back. nfs_fh_take returns 0 or -EBADMSG. */
nfs_fh3 nfs_fh_arg(const struct nfs_fh *);
int nfs_fh_take(const nfs_fh3 *, struct nfs_fh *ret);

/* These set op->item or op->into, and start a WRITE or a READ. */
void nfs_op_write(struct nfs_op *, const struct nfs_fh *, uint64_t offset, const void *,
                  uint32_t len, stable_how, nfs_done_fn *, void *arg);
void nfs_op_read(struct nfs_op *, const struct nfs_fh *, uint64_t offset, void *,
                 uint32_t len, nfs_done_fn *, void *arg);
/* For a READ that ended with status 0: returns the number of octets read, and sets
 * @ret_eof if the file ends there. */
uint32_t nfs_read_count(const struct nfs_op *, bool *ret_eof);

/* ---- Waiting calls ----------------------------------------------------------- */

int nfs_getattr(struct nfs_client *, const struct nfs_fh *, fattr3 *ret);
int nfs_lookup(struct nfs_client *, const struct nfs_fh *dir, const char *name,
               struct nfs_fh *ret_fh, fattr3 *ret_attr);
/* Stores the link's path, zero-terminated.  A @size above NFS3_PATH_BYTES is always
 * enough. */
int nfs_readlink(struct nfs_client *, const struct nfs_fh *, char *buf, size_t size);
/* Makes a directory.  It is not an error if the directory exists (@ret_made is then
 * false). */
int nfs_mkdir(struct nfs_client *, const struct nfs_fh *dir, const char *name,
              uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr, bool *ret_made);

/* An object that a path leads to. */
struct nfs_node {
	struct nfs_fh fh, parent; /* parent.len 0: @fh is the export's root */
	fattr3 attr;
	char name[NFS_NAME_MAX + 1]; /* in the parent */
};
enum {
	NFS_FOLLOW = 1, /* follow a symbolic link even if it is the last name */
	NFS_MAKE = 2,   /* if the last name gives NOENT, set parent and name */
};
int nfs_walk(struct nfs_client *, const char *path, int flags, struct nfs_node *ret);
/* Walks the path of a URL.  A URL that ends with "/" must lead to a directory. */
int nfs_walk_url(struct nfs_client *, const struct url *, int flags,
                 struct nfs_node *ret);
/* Walks from a directory. */
int nfs_walk_from(struct nfs_client *, const struct nfs_fh *dir, const fattr3 *attr,
                  const char *path, int flags, struct nfs_node *ret);

/* ---- Directories -------------------------------------------------------------- */

struct nfs_entry {
	char name[NFS_NAME_MAX + 1];
	uint64_t fileid;
	int status; /* 0, or an error; after an error only the name is valid */
	struct nfs_fh fh;
	fattr3 attr;
};
/* A listing in pages; @page may be freed between entries.  While a page is read ahead,
 * the listing stays at its address. */
struct nfs_dir {
	struct nfs_client *client;
	struct nfs_fh fh;
	uint64_t cookie;
	cookieverf3 verf;
	char *page; /* entries and the eof flag; not read yet from offset @pos on */
	size_t len, pos;
	bool eof;
	struct nfs_op *op; /* READDIRPLUS for the next page; NULL: none in flight */
	int status;        /* of the last READDIRPLUS */
};
void nfs_dir_open(struct nfs_dir *, struct nfs_client *, const struct nfs_fh *);
/* Begins to read the first page ahead.  Does not wait. */
void nfs_dir_prefetch(struct nfs_dir *);
/* Reads the next entry other than "." and "..", and returns true.  If the server left
 * out the attributes or the handle, asks for them with LOOKUP and stores any error in
 * the entry.  Returns false at the end, with @ret_status 0, or on failure, with the
 * error in @ret_status.  Fails with -EBADMSG if no file can have the name. */
bool nfs_dir_next(struct nfs_dir *, struct nfs_entry *, int *ret_status);
void nfs_dir_drop(struct nfs_dir *);
void nfs_dir_close(struct nfs_dir *);

/* Calls @fn for each export of the server.  Returns 0 or a status. */
int nfs_exports(struct nfs_client *, void (*fn)(const char *path, void *), void *arg);

/* ---- Streams ------------------------------------------------------------------- */

struct nfs_stream_options {
	unsigned in_flight;
	uint32_t bytes;   /* size of one READ */
	const char *name; /* name of the output for messages; NULL: standard output */
};
/* Writes a whole file to a descriptor, in sequence, with several READs in flight.
 * @progress may be NULL.  Returns a status: TOOL_REPORTED if writing failed, -ENODATA
 * if the file ends before the size in @attr. */
int nfs_stream(struct nfs_client *, const struct nfs_fh *, const fattr3 *, int fd,
               const struct nfs_stream_options *, struct tool_progress *progress,
               uint64_t *ret_bytes);

#endif
