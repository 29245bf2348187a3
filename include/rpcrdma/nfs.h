/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upper-layer bindings of NFS version 3 and MOUNT version 3: the data items that
 * may move by RDMA, in one row for each procedure.  Everything that a row does not list
 * stays in the Payload stream.                                  [RFC 8267 §2; v2 §A]
 */
#ifndef RPCRDMA_NFS_H
#define RPCRDMA_NFS_H

#include <rpcrdma/rpcrdma.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RPCRDMA_NFS_PROGRAM       100003
#define RPCRDMA_MOUNT_PROGRAM     100005
#define RPCRDMA_NFS3_PROCEDURES   22
#define RPCRDMA_MOUNT3_PROCEDURES 6

struct rpcrdma_binding {
	const char *name;        /* as RFC 1813 spells it, without NFSPROC3_ */
	uint8_t max_read_items;  /* DDP-eligible arguments: WRITE data, SYMLINK path */
	uint8_t max_write_items; /* DDP-eligible results: READ data, READLINK path */
	bool idempotent;         /* may be executed twice without harm */
};

extern RPCRDMA_API const struct rpcrdma_binding
        rpcrdma_nfs3_binding[RPCRDMA_NFS3_PROCEDURES];
extern RPCRDMA_API const struct rpcrdma_binding
        rpcrdma_mount3_binding[RPCRDMA_MOUNT3_PROCEDURES];

#ifdef __cplusplus
}
#endif
#endif
