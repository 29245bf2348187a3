/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a server keeps MOUNT, and its calls.  A server of ours has it on the RDMA
 * connection; others, like Linux, have it on TCP only, at a port that their
 * rpcbind knows.
 *
 *   1. the URL has ?mountport=N: there, over TCP, and nowhere else;
 *   2. else it is called over RDMA;
 *   3. if the server has no such program there (PROG_UNAVAIL), its rpcbind (TCP,
 *      port 111) is asked for the port of MOUNT version 3 on TCP.
 *
 * What was found holds for the client's life.
 */
#ifndef RPCRDMA_TOOLS_MOUNT_H
#define RPCRDMA_TOOLS_MOUNT_H

#include "client/nfs.h"

/* Answers: 0; a mountstat3; NFS_NO_MOUNT, when c->mount.reason says why; -EINTR; of
 * the call over RDMA what nfs_op has. */

/* MNT: the handle of an exported directory.  The client remembers @path, if an
 * UMNT is owed for it. */
int mount_mnt(struct nfs_client *c, const char *path, struct nfs_fh *ret);
/* Takes that back, as far as the server listens. */
void mount_umnt(struct nfs_client *c);

/* mount_tcp.c.  @port: as the URL gave it, or 0: rpcbind is asked. */
int mount_tcp_find(struct nfs_client *c, uint16_t port);
struct tcp_call;
/* Calls; the results are in @t, which the caller frees. */
int mount_tcp_call(struct nfs_client *c, uint32_t proc, const char *path,
                   struct tcp_call *t);

#endif
