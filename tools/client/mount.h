/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a server's MOUNT service and calls it.  Our server offers MOUNT on the RDMA
 * connection.  Other servers, such as Linux, offer it only on TCP, at a port that is
 * registered with their rpcbind.
 *
 *  1. If the URL has ?mountport=N, MOUNT is called only over TCP at port N.
 *  2. Otherwise it is called over RDMA.
 *  3. If the server does not offer MOUNT over RDMA (PROG_UNAVAIL), its rpcbind (TCP,
 *     port 111) is asked for the port of MOUNT version 3 on TCP.
 *
 * The result is kept for the client's life.
 */
#ifndef RPCRDMA_TOOLS_MOUNT_H
#define RPCRDMA_TOOLS_MOUNT_H

#include "client/nfs.h"

/* mount_mnt and mount_tcp_find return 0; a mountstat3; NFS_NO_MOUNT, with the reason in
 * c->mount.reason; -EINTR; or, over RDMA, a status of nfs_op. */

/* Calls MNT for the handle of an exported directory.  After MNT over TCP, mount_umnt
 * sends UMNT. */
int mount_mnt(struct nfs_client *c, const char *path, struct nfs_fh *ret);
/* Calls UMNT if that is needed and the connection is up. */
void mount_umnt(struct nfs_client *c);

/* Finds MOUNT on TCP, at the URL's @port or, if @port is 0, at the port that rpcbind
 * returns.  Defined in mount_tcp.c. */
int mount_tcp_find(struct nfs_client *c, uint16_t port);

/* Connects with the options of the client.  Returns 0, or prints a message and returns a
 * negative errno. */
int mount_connect(struct nfs_client *c, struct loop *l, const struct url *u,
                  struct link *ret);
/* Opens @n further connections, and checks that the server keeps all open.  Returns 0,
 * or prints a message and returns another value. */
int mount_connect_more(struct nfs_client *c, const struct url *u, unsigned n);
void mount_disconnect_more(struct nfs_client *c);

struct tcp_call;
/* Calls a procedure.  The results are in @t, which the caller frees. */
int mount_tcp_call(struct nfs_client *c, uint32_t proc, const char *path,
                   struct tcp_call *t);

#endif
