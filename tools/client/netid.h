/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which transport reaches a program: RDMA, or TCP by a CLIENT of libtirpc, as a list of
 * netids prefers.
 */
#ifndef RPCRDMA_TOOLS_NETID_H
#define RPCRDMA_TOOLS_NETID_H

#include <rpcrdma/tirpc.h>

#include "client/url.h"

struct netid_wish {
	const char *netids;
	uint32_t program, version;
	uint64_t timeout_ns;
	const struct rpcrdma_conn_options *conn;
};

/* An option's argument is such a list: 0, or -EINVAL after a message. */
int netid_take(void *to, const char *arg);
/* Tries one after the other.  0: RDMA, at the port that @u has now; 1: TCP, by @ret, which
 * clnt_destroy ends, and the port is TCP's; negative after a message. */
int netid_open(const struct netid_wish *, struct url *u, CLIENT **ret);
/* A NULL call; @ret_xid is set in any case. */
enum clnt_stat netid_null(CLIENT *, uint64_t timeout_ns, uint32_t *ret_xid);

#endif
