/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request and the procedure that it calls.
 *
 *   op.c             serving a request, from its arguments to its reply
 *   procedures.c     the tables of procedures
 *   attr.c           attributes and errors, to and from the wire
 *   wcc.c            attributes before and after an operation; locks on objects
 *   inode.c file.c name.c dir.c
 *                    the NFS procedures
 *   mount_program.c  the MOUNT procedures
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

/* Every member begins with the status.  A failure status followed by zeros is a valid
 * failure result without attributes. */
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

/* A procedure.  Its function fills op->res, which is initially zero, and op->tail.  It
 * calls op_sync if the reply must wait for storage. */
struct op_type {
	xdrproc_t args, res; /* NULL = void */
	size_t args_size;
	uint32_t (*item_len)(const union op_args *); /* item's length; NULL = no item */
	void (*run)(struct op *);
	bool null;         /* accepts any credential */
	uint8_t once;      /* enum rpcrdma_once */
	bool tries_caches; /* @run obeys op->cache_only */
	const char *name;  /* name of an NFS procedure; NULL for MOUNT */
};

/* A request that is being served.  Allocated from the rpcrdma_request's memory. */
struct op {
	struct worker_job job; /* first member */
	const struct op_type *type;
	struct nfsd *nfsd;
	struct rpcrdma_request *req;
	const struct mount_call *tcp; /* for MOUNT over TCP; @req is then NULL */
	struct export *ex; /* export that the arguments refer to, or NULL; referenced */
	struct export *cross; /* export that contains the result; NULL = @ex */
	const char *rest;     /* remainder of MNT's path, below @cross */
	struct grant may;     /* what the client may do with @ex */
	int denied;           /* 0, or a negative errno if access to @ex is denied */
	struct ident id;
	struct group_wait wait; /* wait.list is referenced until the reply */
	struct filesystem *fs;  /* file system whose workers run the job; or NULL */
	union op_args args;
	union op_results res;
	const void *item;          /* the item in the arguments */
	struct rpcrdma_piece tail; /* item or list that follows the results in @head */
	struct object *obj, *obj2; /* references, released after the procedure */
	int sync_fd[2];            /* descriptors to sync before the reply; -1 = none */
	struct object *sync_obj[2]; /* objects that own the descriptors: obj or obj2 */
	uint64_t sync_failures;     /* nfsd's sync_failures when the request arrived */
	bool data_only;             /* fdatasync is sufficient */
	bool set_after;             /* attributes were set after creation */
	struct handle made;         /* handle that the results point to */
	bool cache_only;            /* must use cached data only */
	bool no_wait;               /* must not wait for locks */
	bool would_sleep;           /* set by op_would_sleep */
	pthread_mutex_t *held[3];   /* locks of wcc.c; unlocked after the procedure */
	unsigned n_held;
	void *buf; /* memory for READ, and its size */
	size_t buf_len;
	char head[NFS3_RESULT_BYTES];
};

/* -- requests (op.c) ------------------------------------------------------- */

/* Serves a request until it is answered. */
void op_serve(struct nfsd *, struct rpcrdma_request *, const struct op_type *);
/* Finds the object for the handle @fh.  Returns NFSD_WOULD_SLEEP if only cached objects
 * may be used and this object is not cached; otherwise the result of object_get. */
int op_object(struct op *, const nfs_fh3 *fh, struct object **ret);
/* Makes a worker run the procedure again.  Returns NFSD_WOULD_SLEEP; the procedure must
 * then return without any further effect. */
int op_would_sleep(struct op *);
/* Delays the reply until data written through the object's descriptor @fd are on
 * storage.  The op must have a reference to the object. */
void op_sync(struct op *, struct object *, int fd);
/* Delays the reply until the object's changed names or attributes are on storage.  Does
 * nothing with --async. */
void op_sync_change(struct op *, struct object *);
/* Returns memory that remains valid until the request is answered, or NULL.  A MOUNT
 * procedure must not call this more than once. */
void *op_alloc(struct op *, size_t bytes);
/* Stores the client's address in @ret.  Returns 0 or a negative errno. */
int op_peer(const struct op *, struct sockaddr_storage *ret);

/* -- tables (procedures.c) ------------------------------------------------- */

/* Returns the MOUNT procedure number @proc, which must be below
 * RPCRDMA_MOUNT3_PROCEDURES. */
const struct op_type *nfsd_mount_type(uint32_t proc);

/* -- MOUNT (mount_program.c; over TCP: op.c, mount_rpc.c) ------------------ */

/* Returns the export that contains the path in an MNT call, or NULL. */
struct export *op_mnt_export(struct op *);
/* Returns the file system in which MNT must look up a directory, or NULL if none is
 * needed. */
struct filesystem *op_mnt_fs(struct op *);

enum { MOUNT_LIST_BYTES = 32768 }; /* octets in the results of DUMP or EXPORT */

struct mount_call {
	struct sockaddr_storage peer;
	struct rpcrdma_auth cred;
	const void *args;
	size_t args_len;
	void *room; /* memory for a list in the results */
	size_t room_bytes;
};

/* Executes a procedure of MOUNT version 3 and writes the results to @ret.  Returns 0,
 * or an RPC status for the reply, such as RPCRDMA_PROC_UNAVAIL. */
int nfsd_mount_by_tcp(struct nfsd *, uint32_t proc, struct mount_call *, void *ret,
                      size_t size, size_t *ret_len, uint32_t *ret_auth_stat);

/* -- attributes and errors (attr.c, wcc.c) --------------------------------- */

/* Returns the NFS status for @error, which is 0 or a negative errno. */
nfsstat3 nfs_status(int error);
void attr_from_statx(const struct export *, const struct statx *, fattr3 *ret);
/* Fills in the attributes, or marks them absent if @obj is NULL or unreadable. */
void attr_post(struct object *obj, post_op_attr *ret);
void attr_post_statx(const struct export *, const struct statx *, post_op_attr *ret);
void attr_pre_statx(const struct statx *, pre_op_attr *ret);
/* Checks the values that XDR decoding does not check.  Returns 0, -EINVAL or -EFBIG. */
int attr_check(const sattr3 *);
/* Sets the attributes that the sattr3 contains.  The thread must be running with the
 * caller's identity.  Returns 0 or a negative errno. */
int attr_set(struct nfsd *, struct object *, const struct ident *, const sattr3 *);
/* Checks a name for a directory entry: it must have 1 to NAME_MAX octets and no '/'.
 * Returns 0, -EINVAL or -ENAMETOOLONG.  Accepts "." and "..". */
int name_check(const char *name);
bool name_is_dot(const char *name);

/* Locks the object, or the two directories, so that no other request changes them
 * before the procedure has finished.  Lock a directory before its files.  Returns 0 or
 * NFSD_WOULD_SLEEP. */
int wcc_lock(struct op *, const struct object *, const struct object *or_null);
void wcc_unlock(struct op *);
/* Fills in the attributes from before the operation, if clients may rely on them. */
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
