/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request's way: credential -> identity of the thread, arguments decoded to
 * their last octet, the procedure, storage if it must wait for it, results
 * encoded, answer.  Everything about it lies in memory of the request itself.  A
 * call of MOUNT that came by TCP goes the same way, on its thread's stack.
 *
 * Malformed arguments are GARBAGE_ARGS, unknown credentials AUTH_ERROR; all
 * else is a status within the results.
 */
#include "nfsd.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static uint32_t write_item(const union nfs_args *a)
{
	return a->write.data_len;
}

static uint32_t symlink_item(const union nfs_args *a)
{
	return a->symlink.symlink.data_len;
}

#define XDR_OF(t) ((xdrproc_t)(void (*)(void))xdr_##t)
/* once: executed again, it would fail or undo what another has done since. */
#define TYPE_OF(name, fn, item, once)                                                  \
	{                                                                              \
		XDR_OF(name##3args), XDR_OF(name##3res), sizeof(name##3args), item,    \
		        fn, false, once                                                \
	}
#define TYPE(name, fn)            TYPE_OF(name, fn, NULL, false)
#define TYPE_ITEM(name, fn, item) TYPE_OF(name, fn, item, false)
#define ONCE(name, fn)            TYPE_OF(name, fn, NULL, true)
#define ONCE_ITEM(name, fn, item) TYPE_OF(name, fn, item, true)

static const struct op_type nfs_types[RPCRDMA_NFS3_PROCEDURES] = {
        [NFSPROC3_NULL] = {NULL, NULL, 0, NULL, op_null, true, false},
        [NFSPROC3_GETATTR] = TYPE(GETATTR, op_getattr),
        [NFSPROC3_SETATTR] = ONCE(SETATTR, op_setattr),
        [NFSPROC3_LOOKUP] = TYPE(LOOKUP, op_lookup),
        [NFSPROC3_ACCESS] = TYPE(ACCESS, op_access),
        [NFSPROC3_READLINK] = TYPE(READLINK, op_readlink),
        [NFSPROC3_READ] = TYPE(READ, op_read),
        [NFSPROC3_WRITE] = TYPE_ITEM(WRITE, op_write, write_item),
        [NFSPROC3_CREATE] = ONCE(CREATE, op_create),
        [NFSPROC3_MKDIR] = ONCE(MKDIR, op_mkdir),
        [NFSPROC3_SYMLINK] = ONCE_ITEM(SYMLINK, op_symlink, symlink_item),
        [NFSPROC3_MKNOD] = ONCE(MKNOD, op_mknod),
        [NFSPROC3_REMOVE] = ONCE(REMOVE, op_remove),
        [NFSPROC3_RMDIR] = ONCE(RMDIR, op_rmdir),
        [NFSPROC3_RENAME] = ONCE(RENAME, op_rename),
        [NFSPROC3_LINK] = ONCE(LINK, op_link),
        [NFSPROC3_READDIR] = TYPE(READDIR, op_readdir),
        [NFSPROC3_READDIRPLUS] = TYPE(READDIRPLUS, op_readdirplus),
        [NFSPROC3_FSSTAT] = TYPE(FSSTAT, op_fsstat),
        [NFSPROC3_FSINFO] = TYPE(FSINFO, op_fsinfo),
        [NFSPROC3_PATHCONF] = TYPE(PATHCONF, op_pathconf),
        [NFSPROC3_COMMIT] = TYPE(COMMIT, op_commit),
};

static const struct op_type mount_types[RPCRDMA_MOUNT3_PROCEDURES] = {
        [MOUNTPROC3_NULL] = {NULL, NULL, 0, NULL, op_null, true, false},
        [MOUNTPROC3_MNT] = {XDR_OF(dirpath), XDR_OF(mountres3), sizeof(dirpath), NULL,
                            op_mnt, false, false},
        [MOUNTPROC3_DUMP] = {NULL, NULL, 0, NULL, op_dump, true, false},
        [MOUNTPROC3_UMNT] = {XDR_OF(dirpath), NULL, sizeof(dirpath), NULL, op_umnt,
                             false, false},
        [MOUNTPROC3_UMNTALL] = {NULL, NULL, 0, NULL, op_umntall, false, false},
        [MOUNTPROC3_EXPORT] = {NULL, NULL, 0, NULL, op_export, true, false},
};

void op_null(struct op *op)
{
	(void)op;
}

void *op_alloc(struct op *op, size_t bytes)
{
	if (op->req)
		return rpcrdma_request_alloc(op->req, bytes);
	return bytes <= op->tcp->room_bytes ? op->tcp->room : NULL;
}

int op_peer(const struct op *op, struct sockaddr_storage *ret)
{
	if (op->req)
		return rpcrdma_request_peer(op->req, ret);
	*ret = op->tcp->peer;
	return 0;
}

/* ---- The end ----------------------------------------------------------------- */

static void release(struct op *op)
{
	if (op->type->args)
		nfs3_free(op->type->args, &op->args, op->type->args_size);
	object_put(op->nfsd, op->obj);
	object_put(op->nfsd, op->obj2);
}

/* Encodes the results, which lie in the op: the number of pieces, or -EMSGSIZE. */
static int results(struct op *op, struct rpcrdma_piece ret[2])
{
	int n = 0, n_pieces = 0;

	if (op->type->res)
		n = nfs3_encode(op->head, sizeof(op->head), op->type->res, &op->res);
	release(op);
	if (n < 0)
		return n;
	if (n)
		ret[n_pieces++] = (struct rpcrdma_piece){op->head, (size_t)n, false};
	if (op->tail.base)
		ret[n_pieces++] = op->tail;
	return n_pieces;
}

/* Answers.  Any thread. */
static void finish(struct op *op)
{
	struct rpcrdma_request *req = op->req;
	struct rpcrdma_piece pieces[2];
	int n = results(op, pieces);

	if (n < 0 || rpcrdma_request_reply(req, pieces, (unsigned)n, NULL, NULL))
		(void)rpcrdma_request_error(req, RPCRDMA_SYSTEM_ERR,
		                            0); /* it is over */
}

/* In a worker: storage, then the answer. */
static void sync_then_finish(struct job *job)
{
	struct op *op = (struct op *)job; /* its first member */
	int e = 0;

	for (int i = 0; i < 2; i++) {
		int fd = op->sync_fd[i];

		if (fd >= 0 && !e)
			e = object_sync(op->nfsd, op->sync_obj[i], fd, op->data_only,
			                op->sync_failures);
	}
	if (e) {
		memset(&op->res, 0, sizeof(op->res));
		op->res.status = nfs_stat(e);
	}
	finish(op);
}

void op_sync(struct op *op, struct object *o, int fd)
{
	int i = op->sync_fd[0] < 0 ? 0 : 1;

	op->sync_fd[i] = fd;
	op->sync_obj[i] = o;
}

void op_sync_dir(struct op *op, struct object *dir)
{
	int fd;

	/* Not readable for this server: nothing to sync it by. */
	if (!op->nfsd->async && !object_sync_fd(op->nfsd, dir, &op->id, &fd))
		op_sync(op, dir, fd);
}

/* ---- The beginning ------------------------------------------------------------- */

/* 0, or -EBADMSG with nothing left to free. */
static int take_args(struct op *op, const struct rpcrdma_piece *p, unsigned n)
{
	const struct op_type *t = op->type;
	const void *head = "";
	size_t len = 0;
	int used = 0, e;

	if (!t->args)
		return nfs3_args_end(p, n, 0);
	if (!nfs3_args_head(p, n, &head, &len))
		return -EBADMSG;
	used = nfs3_decode(head, len, t->args, &op->args, t->args_size);
	if (used < 0)
		return used;
	if (t->item_len)
		e = nfs3_args_item(p, n, (size_t)used, t->item_len(&op->args),
		                   &op->item);
	else
		e = nfs3_args_end(p, n, (size_t)used);
	if (e)
		nfs3_free(t->args, &op->args, t->args_size);
	return e;
}

static void op_init(struct op *op, struct nfsd *d, const struct op_type *type)
{
	memset(op, 0, offsetof(struct op, head));
	op->job.run = sync_then_finish;
	op->type = type;
	op->nfsd = d;
	op->sync_fd[0] = op->sync_fd[1] = -1;
	op->sync_failures = atomic_load(&d->sync_failures);
}

/* Where whoever mounts, who may have no user's credential, names the directory. */
static const nfs_fh3 *mounted(const struct op *op)
{
	if (op->type == &nfs_types[NFSPROC3_GETATTR])
		return &op->args.getattr.object;
	if (op->type == &nfs_types[NFSPROC3_FSINFO])
		return &op->args.fsinfo.fsroot;
	return NULL;
}

/* Who asks, and whether in a way that will do.  0, or an auth_stat; @ret_weak is one if
 * it will do for an export's root only. */
static uint32_t identify(struct op *op, const struct rpcrdma_auth *cred,
                         uint32_t *ret_weak)
{
	bool mount = op->type >= mount_types &&
	             op->type < mount_types + RPCRDMA_MOUNT3_PROCEDURES;
	const struct nfsd *d = op->nfsd;
	struct rpcrdma_gss_caller caller;
	bool gss = op->req && !rpcrdma_request_gss(op->req, &caller);
	uint32_t stat;

	*ret_weak = 0;
	if (op->type->null)
		return 0;
	if (gss)
		ident_from_caller(&caller, &d->squash, &op->id);
	stat = gss ? 0 : ident_from_cred(cred, &d->squash, &op->id);
	if (stat || mount)
		return stat;
	stat = sec_check(&d->flavors, gss ? &caller : NULL);
	if (!mounted(op))
		return stat;
	*ret_weak = stat;
	return 0;
}

/* Up to the results; 0, or the status to answer with and nothing left to free. */
static int op_run(struct op *op, const struct rpcrdma_auth *cred,
                  const struct rpcrdma_piece *args, unsigned n_args,
                  uint32_t *ret_auth_stat)
{
	const struct op_type *type = op->type;
	uint32_t weak;

	*ret_auth_stat = identify(op, cred, &weak);
	if (*ret_auth_stat)
		return RPCRDMA_AUTH_ERROR;
	if (take_args(op, args, n_args))
		return RPCRDMA_GARBAGE_ARGS;
	if (weak && !export_is_root(op->nfsd, mounted(op))) {
		release(op);
		*ret_auth_stat = weak;
		return RPCRDMA_AUTH_ERROR;
	}
	if (!type->null && ident_enter(&op->id)) {
		release(op);
		return RPCRDMA_SYSTEM_ERR;
	}
	type->run(op);
	return 0;
}

/* True if the results wait for storage; else it is answered.  Any thread. */
static bool run_to_storage(struct op *op)
{
	struct rpcrdma_request *req = op->req;
	const struct rpcrdma_piece *args;
	unsigned n = rpcrdma_request_args(req, &args);
	uint32_t auth_stat;
	int status = op_run(op, rpcrdma_request_cred(req), args, n, &auth_stat);

	if (!status && op->sync_fd[0] >= 0)
		return true;
	if (status)
		(void)rpcrdma_request_error(req, status, auth_stat);
	else
		finish(op);
	return false;
}

/* In a worker: all of it. */
static void serve_apart(struct job *job)
{
	if (run_to_storage((struct op *)job)) /* its first member */
		sync_then_finish(job);
}

void op_serve(struct nfsd *d, struct rpcrdma_request *req, const struct op_type *type)
{
	struct op *op = rpcrdma_request_alloc(req, sizeof(*op));

	if (!op) {
		(void)rpcrdma_request_error(req, RPCRDMA_SYSTEM_ERR, 0);
		return;
	}
	op_init(op, d, type);
	op->req = req;
	if (d->apart)
		op->job.run = serve_apart;
	if (d->apart || run_to_storage(op))
		workers_give(&d->workers, &op->job);
}

int nfsd_mount_by_tcp(struct nfsd *d, uint32_t proc, struct mount_call *call, void *ret,
                      size_t size, size_t *ret_len, uint32_t *ret_auth_stat)
{
	const struct rpcrdma_piece args = {call->args, call->args_len, false};
	struct rpcrdma_piece pieces[2];
	struct op op;
	int n, status;

	if (proc >= RPCRDMA_MOUNT3_PROCEDURES)
		return RPCRDMA_PROC_UNAVAIL;
	op_init(&op, d, &mount_types[proc]);
	op.tcp = call;
	status = op_run(&op, &call->cred, &args, 1, ret_auth_stat);
	if (status)
		return status;
	n = results(&op, pieces);
	if (n < 0)
		return RPCRDMA_SYSTEM_ERR;
	*ret_len = 0;
	for (int i = 0; i < n; i++) {
		if (pieces[i].len > size - *ret_len)
			return RPCRDMA_SYSTEM_ERR;
		memcpy((char *)ret + *ret_len, pieces[i].base, pieces[i].len);
		*ret_len += pieces[i].len;
	}
	return 0;
}

/* ---- The tables ----------------------------------------------------------------- */

#define HANDLER(table, p)                                                              \
	static void table##_##p(struct rpcrdma_request *req, void *arg)                \
	{                                                                              \
		op_serve(arg, req, &table##_types[p]);                                 \
	}
HANDLER(nfs, 0)
HANDLER(nfs, 1)
HANDLER(nfs, 2)
HANDLER(nfs, 3)
HANDLER(nfs, 4)
HANDLER(nfs, 5)
HANDLER(nfs, 6)
HANDLER(nfs, 7)
HANDLER(nfs, 8)
HANDLER(nfs, 9)
HANDLER(nfs, 10)
HANDLER(nfs, 11)
HANDLER(nfs, 12)
HANDLER(nfs, 13)
HANDLER(nfs, 14)
HANDLER(nfs, 15)
HANDLER(nfs, 16)
HANDLER(nfs, 17)
HANDLER(nfs, 18)
HANDLER(nfs, 19)
HANDLER(nfs, 20)
HANDLER(nfs, 21)
HANDLER(mount, 0)
HANDLER(mount, 1)
HANDLER(mount, 2)
HANDLER(mount, 3)
HANDLER(mount, 4)
HANDLER(mount, 5)

static rpcrdma_handler_fn *const nfs_handlers[RPCRDMA_NFS3_PROCEDURES] = {
        nfs_0,  nfs_1,  nfs_2,  nfs_3,  nfs_4,  nfs_5,  nfs_6,  nfs_7,
        nfs_8,  nfs_9,  nfs_10, nfs_11, nfs_12, nfs_13, nfs_14, nfs_15,
        nfs_16, nfs_17, nfs_18, nfs_19, nfs_20, nfs_21,
};
static rpcrdma_handler_fn *const mount_handlers[RPCRDMA_MOUNT3_PROCEDURES] = {
        mount_0, mount_1, mount_2, mount_3, mount_4, mount_5,
};

static void add_binding(struct rpcrdma_procedure *p, const struct rpcrdma_binding *b,
                        rpcrdma_handler_fn *fn, const struct op_type *type)
{
	p->name = b->name;
	p->handler = fn;
	p->max_read_items = b->max_read_items;
	p->max_write_items = b->max_write_items;
	p->execute_once = type->once;
}

int nfsd_add_programs(struct nfsd *d, struct rpcrdma_service *service)
{
	const struct rpcrdma_program nfs = {RPCRDMA_NFS_PROGRAM, 3, d->nfs_procs,
	                                    RPCRDMA_NFS3_PROCEDURES};
	const struct rpcrdma_program mnt = {RPCRDMA_MOUNT_PROGRAM, 3, d->mount_procs,
	                                    RPCRDMA_MOUNT3_PROCEDURES};
	int e;

	for (unsigned i = 0; i < RPCRDMA_NFS3_PROCEDURES; i++)
		add_binding(&d->nfs_procs[i], &rpcrdma_nfs3_binding[i], nfs_handlers[i],
		            &nfs_types[i]);
	for (unsigned i = 0; i < RPCRDMA_MOUNT3_PROCEDURES; i++)
		add_binding(&d->mount_procs[i], &rpcrdma_mount3_binding[i],
		            mount_handlers[i], &mount_types[i]);
	d->nfs_procs[NFSPROC3_WRITE].max_read_bytes = NFSD_MAX_IO;
	d->nfs_procs[NFSPROC3_SYMLINK].max_read_bytes = NFS3_PATH_BYTES;
	d->programs[0] = nfs;
	d->programs[1] = mnt;
	e = rpcrdma_service_add(service, &d->programs[0], d);
	return e ? e : rpcrdma_service_add(service, &d->programs[1], d);
}
