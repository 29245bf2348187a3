/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An NFS version 3 client over rpcrdma_call: one export, mounted by MNT on the
 * same connection, or on TCP where the server has it there (mount.h).
 *
 * An operation (struct nfs_op) is one procedure call: arguments are encoded
 * when it starts, results are decoded before its done callback and stay until
 * nfs_op_fini or the next start.  NFS3ERR_JUKEBOX is waited out inside.  A
 * server that is connected, and answers none of the calls for timeout_ns, ends
 * them by -ETIMEDOUT.  The functions without "op" in their name wait in loop_wait and must not be
 * called from callbacks.
 *
 * Statuses: 0, a nfsstat3 (positive, as RFC 1813 numbers them), NFS_RPC plus
 * an rpcrdma_status, NFS_NO_MOUNT, or a negative errno.  nfs_status_text says them all.
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
	uint32_t sec; /* the flavor asked for; SEC_UNSAID: the server's choice */
	struct rpcrdma_auth cred;
	uint8_t cred_body[400];
	uint64_t timeout_ns; /* of silence; 0 = none */
	uint64_t retry_ns;
	uint64_t heard_ns; /* when an answer came last, or the connection */
	struct nfs_fh root;
	fattr3 root_attr;
	uint32_t read_bytes, write_bytes, dir_bytes; /* preferred sizes */
	char *export;                                /* "/NAME" */
	char *exports; /* all that the server lists, one zero-terminated name after
	                  another */
	size_t exports_len;
	struct {
		uint16_t given; /* by the URL; 0: no */
		bool tcp;       /* it is there, at ... */
		uint16_t port;
		struct sockaddr_storage at;
		bool owed;            /* an UMNT of export */
		uint32_t flavors[16]; /* that MNT says the export may be used with */
		unsigned n_flavors;
		char reason[192]; /* it could not be asked */
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
	/* To be set before a start that needs them; cleared after each. */
	const void *item; /* WRITE data, SYMLINK path; lent until done */
	uint32_t item_len;
	void *into; /* READ data, READLINK path; lent until done */
	uint32_t into_len;
	uint64_t timeout_ns; /* of the whole call, silent or not; 0 = none */

	int status;
	union nfs_res res;
	uint32_t got;       /* octets now in @into */
	size_t reply_bytes; /* of results with a list; 0 = NFS3_RESULT_BYTES */
	/* READDIRPLUS, EXPORT: the list; valid in the done callback only. */
	const char *rest;
	size_t rest_len;

	/* private */
	nfs_done_fn *done; /* nfs_op_run keeps what was set here */
	void *arg;
	const struct nfs_proc *spec; /* of what res holds */
	struct rpcrdma_call *call;
	struct rpcrdma_timer *timer; /* of an op that waits to be called (again), or
					to look whether the server is silent */
	bool silent;                 /* it was: the call was given up */
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
	uint64_t timeout_ns; /* of silence while connected; 0 = none */
	uint64_t retry_ns;   /* how long a vanished server is waited for; 0 = default */
	uint32_t sec; /* flavor; SEC_UNSAID = the URL's, or the server's choice */
};

#define NFS_OPTIONS                                                                    \
	{                                                                              \
		.timeout_ns = 60000000000u                                             \
	}

/* Their rows in a subcommand's table; they are kept in @member. */
/* clang-format off */
#define NFS_OPTION_ROWS(type, member)                                                  \
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
/* clang-format on */

/* Parses a URL, which has to name an @export if asked so.  0, or -EINVAL: told. */
int nfs_url(const char *text, bool export, struct url *ret);
/* Whether all @urls (NULL at the end) are such: TOOL_OK, or TOOL_USAGE: told. */
int nfs_check_urls(char **urls, bool export);

/* Connects, mounts, asks for preferred sizes.  Messages are printed.  An export of
 * more than one name makes the URL's path shorter. */
int nfs_open(struct nfs_client *, struct loop *, struct url *,
             const struct nfs_options *);
/*
 * What ls, cat and stat do: opens each of @urls (NULL at the end), which have to name
 * an export if @export says so, and calls @each.  Goes on after a failure, unless it is
 * a signal or output that cannot be written.  The exit code; all is told.
 */
typedef int nfs_each_fn(struct nfs_client *, const char *text, const struct url *,
                        void *arg);
int nfs_each(struct loop *, const struct nfs_options *, bool export, char **urls,
             nfs_each_fn *each, void *arg);
/* Whether the URL, which names the same server, lies in this export and in none that
 * lies beneath. */
bool nfs_serves(const struct nfs_client *, const struct url *);
void nfs_close(struct nfs_client *);
/* A phrase for a status; static or in a ring of buffers. */
const char *nfs_status_text(const struct nfs_client *, int status);
/* Says "cannot @act @text" and why, with a hint where one helps: nothing after 0, a
 * signal, or when nobody reads the output.  @status. */
int nfs_report(const struct nfs_client *, const char *act, const char *text,
               int status);

void nfs_op_init(struct nfs_op *, struct nfs_client *);
/* Calls @proc with @args (the ...3args structure, borrowed); done follows,
 * never from within.  Failures to start come through done as well. */
void nfs_op_start(struct nfs_op *, uint32_t proc, void *args, nfs_done_fn *, void *arg);
/* done follows with -ECANCELED, unless the op is not busy. */
void nfs_op_cancel(struct nfs_op *);
/* The same and waits: op->status.  -EINTR after a signal. */
int nfs_op_run(struct nfs_op *, uint32_t proc, void *args);
/* MOUNT's procedures; @path NULL: no arguments. */
int nfs_op_run_mount(struct nfs_op *, uint32_t proc, const char *path);
/* Frees results.  The op must not be busy. */
void nfs_op_fini(struct nfs_op *);

/* Arguments from handles and back. */
nfs_fh3 nfs_fh_arg(const struct nfs_fh *);
int nfs_fh_take(const nfs_fh3 *, struct nfs_fh *ret);

/* Arguments of a WRITE and a READ; set op->item and op->into themselves. */
void nfs_op_write(struct nfs_op *, const struct nfs_fh *, uint64_t offset, const void *,
                  uint32_t len, stable_how, nfs_done_fn *, void *arg);
void nfs_op_read(struct nfs_op *, const struct nfs_fh *, uint64_t offset, void *,
                 uint32_t len, nfs_done_fn *, void *arg);
/* Octets read into the buffer, and whether the file ends there; after done
 * with status 0. */
uint32_t nfs_read_count(const struct nfs_op *, bool *ret_eof);

/* ---- Waiting calls ----------------------------------------------------------- */

int nfs_getattr(struct nfs_client *, const struct nfs_fh *, fattr3 *ret);
int nfs_lookup(struct nfs_client *, const struct nfs_fh *dir, const char *name,
               struct nfs_fh *ret_fh, fattr3 *ret_attr);
/* The path, zero-terminated; @size above NFS3_PATH_BYTES suffices. */
int nfs_readlink(struct nfs_client *, const struct nfs_fh *, char *buf, size_t size);
/* An existing directory is no failure (@ret_made false). */
int nfs_mkdir(struct nfs_client *, const struct nfs_fh *dir, const char *name,
              uint32_t mode, struct nfs_fh *ret_fh, fattr3 *ret_attr, bool *ret_made);

/* What a path leads to. */
struct nfs_node {
	struct nfs_fh fh, parent; /* parent.len 0: the node is the export's root */
	fattr3 attr;
	char name[NFS_NAME_MAX + 1]; /* in the parent */
};
enum {
	NFS_FOLLOW = 1, /* a symbolic link at the end, too */
	NFS_MAKE = 2,   /* NOENT for the last name: parent and name are set */
};
int nfs_walk(struct nfs_client *, const char *path, int flags, struct nfs_node *ret);
/* The same from a directory. */
int nfs_walk_from(struct nfs_client *, const struct nfs_fh *dir, const fattr3 *attr,
                  const char *path, int flags, struct nfs_node *ret);

/* ---- Directories -------------------------------------------------------------- */

struct nfs_entry {
	char name[NFS_NAME_MAX + 1];
	uint64_t fileid;
	int status; /* not 0: why nothing but the name is known */
	struct nfs_fh fh;
	fattr3 attr;
};
/* A listing in pages; @page may be dropped between entries. */
struct nfs_dir {
	struct nfs_client *client;
	struct nfs_fh fh;
	uint64_t cookie;
	cookieverf3 verf;
	char *page; /* entries and eof not yet taken, from @pos */
	size_t len, pos;
	bool eof;
};
void nfs_dir_open(struct nfs_dir *, struct nfs_client *, const struct nfs_fh *);
/* True and an entry (never "." or ".."; attributes and handle by LOOKUP where
 * the server left them out, or the status with which that failed); false at the end or
 * on failure, *ret_status says which.  An entry whose name cannot be a file's fails
 * with -EBADMSG. */
bool nfs_dir_next(struct nfs_dir *, struct nfs_entry *, int *ret_status);
void nfs_dir_drop(struct nfs_dir *);
void nfs_dir_close(struct nfs_dir *);

/* Calls @fn for each export of the server behind an open link. */
int nfs_exports(struct nfs_client *, void (*fn)(const char *path, void *), void *arg);

/* ---- Streams ------------------------------------------------------------------- */

struct nfs_stream_options {
	unsigned in_flight;
	uint32_t bytes;   /* of one READ */
	const char *name; /* of the descriptor, for messages; NULL: standard output */
};
/* Writes a whole file to a descriptor, READs in flight and output in order.
 * @progress may be NULL.  Status; TOOL_REPORTED when it cannot be written to, -ENODATA
 * when the file ends before the size that @attr says. */
int nfs_stream(struct nfs_client *, const struct nfs_fh *, const fattr3 *, int fd,
               const struct nfs_stream_options *, struct tool_progress *progress,
               uint64_t *ret_bytes);

#endif
