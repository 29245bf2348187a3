/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses, from a list of netids, the transport for reaching a program: RDMA, or TCP
 * through a libtirpc CLIENT.
 */
#ifndef RPCRDMA_TOOLS_NETID_H
#define RPCRDMA_TOOLS_NETID_H

#include <rpcrdma/tirpc.h>

#include "client/url.h"

struct netid_request {
	const char *netids;
	uint32_t program, version;
	uint64_t timeout_ns;
	const struct rpcrdma_conn_options *conn;
};

/* Reads a list of netids from an option.  Returns 0, or prints a message and returns
 * -EINVAL. */
int netid_take(void *to, const char *arg);
/* Tries one netid after another, and sets the port in @u.  Returns 0 for RDMA; 1 for
 * TCP, with a CLIENT in @ret that the caller destroys; or prints a message and returns
 * a negative value. */
int netid_open(const struct netid_request *, struct url *u, CLIENT **ret);
/* Makes a NULL call.  Sets @ret_xid even if the call fails. */
enum clnt_stat netid_null(CLIENT *, uint64_t timeout_ns, uint32_t *ret_xid);

#endif
