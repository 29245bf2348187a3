/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of BLOB_PROG, and of whatever a test registers, in a process of its own:
 * svc_run with an SVCXPRT over RDMA and one over TCP.
 */
#ifndef RPC_RIG_H
#define RPC_RIG_H

#include "blob.h"
#include <rpcrdma/tirpc.h>
#include <sys/types.h>

struct rig {
	pid_t pid;
	unsigned rdma_port, tcp_port;
	char address[32];                            /* of RDMA */
	const struct rpcrdma_tirpc_options *options; /* the server's */
	bool modest;             /* with the library's limits, not those of RIG_MAX */
	void (*more)(SVCXPRT *); /* registers other programs; may be NULL */
};

/* fork() when the library's thread has nothing to do. */
pid_t rig_fork(void);
/* With no other thread but that.  Fails the test. */
void rig_start(struct rig *);
/* Asks it to end, in order unless it is gone, and waits; its exit status. */
int rig_stop(struct rig *);
/* AUTH_NONE, default options; fails the test. */
CLIENT *rig_client(const struct rig *, const struct rpcrdma_tirpc_options *);

/* Octets that tell their places. */
void rig_fill(char *p, size_t len, unsigned seed);
bool rig_filled(const char *p, size_t len, unsigned seed);

/* A binding for all that has octets in BLOB_PROG. */
enum { RIG_MAX = 64 << 20 };
extern const struct rpcrdma_tirpc_binding rig_binding;
extern const struct rpcrdma_tirpc_binding *const rig_bindings[1];

#endif
