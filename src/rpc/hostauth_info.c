/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of host authentication, for connections and requests. */
#include "hostauth/hostauth.h"

#include "rpc/calls.h"
#include "link/link.h"
#include "rpc/dispatch.h"

static int channel_binding_of(const struct rr_link *l, unsigned char *ret)
{
	if (!l || !rr_link_was_ready(l) || rr_link_is_lost(l))
		return -ENOTCONN;
	return l->hostauth ? rr_hostauth_binding(l->hostauth, ret) : -ENOENT;
}

int rpcrdma_conn_channel_binding(const struct rpcrdma_conn *c, unsigned char ret[32])
{
	return channel_binding_of(c->link, ret);
}

int rpcrdma_request_channel_binding(const struct rpcrdma_request *q,
                                    unsigned char ret[32])
{
	return channel_binding_of(rr_request_dispatch(q)->link, ret);
}

const char *rpcrdma_request_identity(const struct rpcrdma_request *q)
{
	const struct rr_link *l = rr_request_dispatch(q)->link;

	return l && l->hostauth ? rr_hostauth_identity(l->hostauth) : "";
}
