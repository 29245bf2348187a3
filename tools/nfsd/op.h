/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request and its procedure.
 *
 *   op.c             from the arguments to the answer
 *   procedures.c     the tables of procedures
 *   attr.c           attributes and errors, to and from the wire
 *   wcc.c            attributes before and after an operation, and its locks
 *   inode.c file.c name.c dir.c
 *                    the procedures of NFS
 *   mount_program.c  those of MOUNT
 */
#ifndef RPCRDMA_NFSD_OP_H
#define RPCRDMA_NFSD_OP_H

#include "nfsd.h"

union op_args {
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

/* All begin with the status; all zeros is a failure without attributes. */
union op_results {
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

/* A procedure.  Its function fills op->res (zeroed before) and op->tail, and calls
 * op_sync if the answer must wait for storage. */
struct op_type {
	xdrproc_t args, res; /* NULL: void */
	size_t args_size;
	uint32_t (*item_len)(const union op_args *); /* length of the item that ends
	                                                 the arguments; NULL: none */
	void (*run)(struct op *);
	bool null;         /* takes any credential */
	uint8_t once;      /* enum rpcrdma_once */
	bool tries_caches; /* @run obeys op->cache_only */
	const char *name;  /* of a procedure of NFS; NULL: of MOUNT */
};

/* One request that is being served.  Lies in the request's own memory. */
struct op {
	struct worker_job job; /* first */
	const struct op_type *type;
	struct nfsd *nfsd;
	struct rpcrdma_request *req;
	const struct mount_call *tcp; /* MOUNT over TCP; then @req is NULL */
	struct export *ex;    /* named by the arguments, with a reference; or NULL */
	struct export *cross; /* of the results' object if not @ex, with a reference */
	const char *rest;     /* of the path of MNT, beneath @cross */
	struct grant may;     /* what the client may do with @ex */
	int denied;           /* 0, or negative errno: the client may not use @ex */
	struct ident id;
	struct group_wait wait; /* has a reference to its list until the answer */
	struct filesystem *fs;  /* whose workers run it; or NULL */
	union op_args args;
	union op_results res;
	const void *item;           /* the item of the arguments */
	struct rpcrdma_piece tail;  /* of the results: an item, or a list */
	struct object *obj, *obj2;  /* references, put after the procedure */
	int sync_fd[2];             /* to sync before the answer; -1: none */
	struct object *sync_obj[2]; /* whose descriptors they are: obj or obj2 */
	uint64_t sync_failures;     /* nfsd's, when the request came */
	bool data_only;             /* fdatasync is enough */
	bool set_after;             /* attributes were set after the object was made */
	struct handle made;         /* the results' handle points at it */
	bool cache_only;            /* must use cached data only */
	bool no_wait;               /* must not wait for locks */
	bool would_sleep;         /* ... and that was not enough; see op_would_sleep */
	pthread_mutex_t *held[3]; /* wcc.c; unlocked after the procedure */
	unsigned n_held;
	void *buf; /* memory for READ, and its size */
	size_t buf_len;
	char head[NFS3_RESULT_BYTES];
};

/* -- requests (op.c) ------------------------------------------------------- */

/* Serves a request up to its answer. */
void op_serve(struct nfsd *, struct rpcrdma_request *, const struct op_type *);
/* Finds the object of the handle @fh.  Returns 0, NFSD_WOULD_SLEEP, or as
 * object_get. */
int op_object(struct op *, const nfs_fh3 *fh, struct object **ret);
/* Has a worker run the procedure again.  Returns NFSD_WOULD_SLEEP, with which the
 * procedure returns. */
int op_would_sleep(struct op *);
/* Delays the answer until the data that the object's descriptor @fd leads to are on
 * storage.  The op has a reference to the object. */
void op_sync(struct op *, struct object *, int fd);
/* The same for changed names or attributes of the object; nothing with --async. */
void op_sync_change(struct op *, struct object *);
/* Returns memory that lives as long as the request, or NULL.  A procedure of MOUNT may
 * call it once. */
void *op_alloc(struct op *, size_t bytes);
/* Finds the client's address. */
int op_peer(const struct op *, struct sockaddr_storage *ret);

/* -- tables (procedures.c) ------------------------------------------------- */

/* Returns the procedure @proc (below RPCRDMA_MOUNT3_PROCEDURES) of MOUNT. */
const struct op_type *nfsd_mount_type(uint32_t proc);

/* -- MOUNT (mount_program.c; over TCP: op.c, mount_rpc.c) ------------------ */

/* Returns the export that a call of MNT names, or NULL. */
struct export *op_mnt_export(struct op *);
/* Returns the file system that MNT has to look into, or NULL. */
struct filesystem *op_mnt_fs(struct op *);

enum { MOUNT_LIST_BYTES = 32768 }; /* of the results of DUMP and EXPORT */

struct mount_call {
	struct sockaddr_storage peer;
	struct rpcrdma_auth cred;
	const void *args;
	size_t args_len;
	void *room; /* memory for a list */
	size_t room_bytes;
};

/* Executes a procedure of MOUNT version 3 and writes the results to @ret.  Returns 0,
 * or a status for the caller (RPCRDMA_PROC_UNAVAIL ... RPCRDMA_AUTH_ERROR). */
int nfsd_mount_by_tcp(struct nfsd *, uint32_t proc, struct mount_call *, void *ret,
                      size_t size, size_t *ret_len, uint32_t *ret_auth_stat);

/* -- attributes and errors (attr.c, wcc.c) --------------------------------- */

/* Returns the status for a negative errno (or 0). */
nfsstat3 nfs_status(int error);
void attr_from_statx(const struct export *, const struct statx *, fattr3 *ret);
/* Fills in the attributes, or none if @obj is NULL or cannot be asked. */
void attr_post(struct object *obj, post_op_attr *ret);
void attr_post_statx(const struct export *, const struct statx *, post_op_attr *ret);
void attr_pre_statx(const struct statx *, pre_op_attr *ret);
/* Checks values that XDR does not.  Returns 0, -EINVAL or -EFBIG. */
int attr_check(const sattr3 *);
/* Sets the attributes that are given; the thread acts as the caller. */
int attr_set(struct nfsd *, struct object *, const struct ident *, const sattr3 *);
/* Checks a name for a directory entry: not empty, no '/', at most NAME_MAX octets.
 * Returns 0, -EINVAL or -ENAMETOOLONG.  Accepts "." and "..". */
int name_check(const char *name);
bool name_is_dot(const char *name);

/* Waits until no other request changes the object (or the two directories), and keeps
 * others from it until the procedure is over.  A directory is locked before its files.
 * Returns 0 or NFSD_WOULD_SLEEP. */
int wcc_lock(struct op *, const struct object *, const struct object *or_null);
void wcc_unlock(struct op *);
/* Fills in the attributes before the operation, if clients may rely on them. */
void wcc_before(const struct object *, const struct statx *, pre_op_attr *ret);

/* -- procedures ------------------------------------------------------------ */

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
