/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls to the server of test_nfsd.h that stay out while others are made, on its
 * connection or on another one of its engine.
 */
#ifndef RR_TEST_NFSD_ASK_H
#define RR_TEST_NFSD_ASK_H

#include "test_nfsd.h"

struct ask {
	char head[NFS3_MSG_BYTES]; /* of the arguments */
	struct rpcrdma_piece pieces[2];
	bool done;
	int status; /* of RPC */
	uint8_t results[NFS3_RESULT_BYTES];
	size_t len;
};

/* Another connection, to the server or to a proxy in front of it at @port. */
struct rpcrdma_conn *ask_connect(struct nfsd *, const char *port);
/* Sends a call; the item may be NULL.  @ask lives until the call is done. */
void ask_send(struct nfsd *, struct rpcrdma_conn *, struct ask *ask, uint32_t proc,
              xdrproc_t xargs, const void *args, const void *item, size_t len);
#define ASK(srv, conn, ask, P, args)                                                   \
	ask_send((srv), (conn), (ask), NFSPROC3_##P, XDR_OF(P##3args), (args), NULL, 0)
/* Runs the engine until the call is done, or for @ms.  Returns whether it is done. */
bool ask_wait(struct nfsd *, const struct ask *, unsigned ms);
/* Returns the NFS status of a call that is done. */
nfsstat3 ask_stat(const struct ask *);

/* MOUNT over TCP at the port that the server printed for "mountd": a socket, then MNT
 * with the uid, gid and groups of struct nfsd.  Returns the status, or -1 if RPC failed. */
int ask_tcp_connect(struct nfsd *);
int ask_tcp_mount(struct nfsd *, int fd, const char *path);

uint64_t ask_now_ms(void);

#endif
