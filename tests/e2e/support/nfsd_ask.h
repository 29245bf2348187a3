/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls to the server of a rig that are out while others are made, on the rig's
 * connection or on another one of its engine.
 */
#ifndef TESTS_E2E_NFSD_ASK_H
#define TESTS_E2E_NFSD_ASK_H

#include "nfsd_rig.h"

struct ask {
	char head[NFS3_MSG_BYTES]; /* of the arguments */
	struct rpcrdma_piece pieces[2];
	bool done;
	int status; /* of RPC */
	uint8_t results[NFS3_RESULT_BYTES];
	size_t len;
};

/* Another connection, to the server or what stands before it at @port. */
struct rpcrdma_conn *ask_connect(struct rig *, const char *port);
/* Sends it; the item may be NULL.  @ask lives until it is done. */
void ask_send(struct rig *, struct rpcrdma_conn *, struct ask *ask, uint32_t proc,
              xdrproc_t xargs, const void *args, const void *item, size_t len);
#define ASK(rig, conn, ask, P, args)                                                   \
	ask_send((rig), (conn), (ask), NFSPROC3_##P, XDR_OF(P##3args), (args), NULL, 0)
/* Lets the engine run until it is done, or for @ms; is it? */
bool ask_wait(struct rig *, const struct ask *, unsigned ms);
/* The status of NFS; it must be done. */
nfsstat3 ask_stat(const struct ask *);

/* MOUNT over TCP, where "mountd" of the rig's server listens: a socket, then MNT with the
 * rig's uid, gid and groups.  The status of its results, or -1 where RPC has none. */
int ask_tcp_connect(struct rig *);
int ask_tcp_mount(struct rig *, int fd, const char *path);

uint64_t ask_now_ms(void);

#endif
