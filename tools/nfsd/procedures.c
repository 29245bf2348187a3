/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the NFS and MOUNT procedures: arguments, results, function, and how the
 * reply cache treats a retransmitted call.
 */
#include "op.h"

static uint32_t get_write_item_len(const union op_args *a)
{
	return a->write.data_len;
}

static uint32_t get_symlink_item_len(const union op_args *a)
{
	return a->symlink.symlink.data_len;
}

#define XDR_OF(t) ((xdrproc_t)(void (*)(void))xdr_##t)
/* @once is set for procedures whose repeated execution would fail or would undo another
 * client's change. */
#define TYPE_OF(proc, fn)                                                              \
	.name = #proc, .args = XDR_OF(proc##3args), .res = XDR_OF(proc##3res),         \
	.args_size = sizeof(proc##3args), .run = (fn)
#define TYPE(name, fn)                                                                 \
	{                                                                              \
		TYPE_OF(name, fn)                                                      \
	}
#define CACHES(name, fn)                                                               \
	{                                                                              \
		TYPE_OF(name, fn), .tries_caches = true                                \
	}
/* A WRITE that is executed again after another WRITE would restore old data. */
#define ONE_ITEM(name, fn, item)                                                       \
	{                                                                              \
		TYPE_OF(name, fn), .once = RPCRDMA_EXECUTE_ONE_AT_A_TIME,              \
		                   .item_len = (item)                                  \
	}
#define ONCE(name, fn)                                                                 \
	{                                                                              \
		TYPE_OF(name, fn), .once = RPCRDMA_EXECUTE_ONCE                        \
	}
#define ONCE_ITEM(name, fn, item)                                                      \
	{                                                                              \
		TYPE_OF(name, fn), .once = RPCRDMA_EXECUTE_ONCE, .item_len = (item)    \
	}

static const struct op_type nfs_types[RPCRDMA_NFS3_PROCEDURES] = {
        [NFSPROC3_NULL] = {.run = op_null, .null = true, .name = "NULL"},
        [NFSPROC3_GETATTR] = CACHES(GETATTR, op_getattr),
        [NFSPROC3_SETATTR] = ONCE(SETATTR, op_setattr),
        [NFSPROC3_LOOKUP] = CACHES(LOOKUP, op_lookup),
        [NFSPROC3_ACCESS] = TYPE(ACCESS, op_access),
        [NFSPROC3_READLINK] = TYPE(READLINK, op_readlink),
        [NFSPROC3_READ] = CACHES(READ, op_read),
        [NFSPROC3_WRITE] = ONE_ITEM(WRITE, op_write, get_write_item_len),
        [NFSPROC3_CREATE] = ONCE(CREATE, op_create),
        [NFSPROC3_MKDIR] = ONCE(MKDIR, op_mkdir),
        [NFSPROC3_SYMLINK] = ONCE_ITEM(SYMLINK, op_symlink, get_symlink_item_len),
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
        [MOUNTPROC3_NULL] = {.run = op_null, .null = true},
        [MOUNTPROC3_MNT] = {XDR_OF(dirpath), XDR_OF(mountres3), sizeof(dirpath),
                            .run = op_mnt},
        [MOUNTPROC3_DUMP] = {.run = op_dump, .null = true},
        [MOUNTPROC3_UMNT] = {XDR_OF(dirpath), NULL, sizeof(dirpath), .run = op_umnt},
        [MOUNTPROC3_UMNTALL] = {.run = op_umntall},
        [MOUNTPROC3_EXPORT] = {.run = op_export, .null = true},
};

#define HANDLER(table, p)                                                              \
	static void serve_##table##_##p(struct rpcrdma_request *req, void *arg)        \
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
        serve_nfs_0,  serve_nfs_1,  serve_nfs_2,  serve_nfs_3,  serve_nfs_4,
        serve_nfs_5,  serve_nfs_6,  serve_nfs_7,  serve_nfs_8,  serve_nfs_9,
        serve_nfs_10, serve_nfs_11, serve_nfs_12, serve_nfs_13, serve_nfs_14,
        serve_nfs_15, serve_nfs_16, serve_nfs_17, serve_nfs_18, serve_nfs_19,
        serve_nfs_20, serve_nfs_21,
};
static rpcrdma_handler_fn *const mount_handlers[RPCRDMA_MOUNT3_PROCEDURES] = {
        serve_mount_0, serve_mount_1, serve_mount_2,
        serve_mount_3, serve_mount_4, serve_mount_5,
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

const struct op_type *nfsd_mount_type(uint32_t proc)
{
	return &mount_types[proc];
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
