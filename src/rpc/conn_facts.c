/* SPDX-License-Identifier: BSD-3-Clause */
/* Information about a connection for its user. */
#include <stdio.h>

#include "base/sized.h"
#include "link/channel.h"
#include "rpc/calls.h"

struct rpcrdma_channel *rpcrdma_conn_channel(const struct rpcrdma_conn *c)
{
	return c ? rr_link_channel(c->link) : NULL;
}

void rpcrdma_conn_get_stats(const struct rpcrdma_conn *c, struct rpcrdma_stats *ret,
                            size_t size)
{
	struct rpcrdma_stats s = c->past, one;

	if (c->link) {
		rr_link_stats(c->link, &one);
		rr_stats_add(&s, &one);
	}
	rr_sized_give(ret, size, &s, sizeof(s));
}

void rpcrdma_conn_get_info(const struct rpcrdma_conn *c, struct rpcrdma_conn_info *ret,
                           size_t size)
{
	struct rpcrdma_conn_info i = {.provider = c->prov ? c->prov->name : "auto"};

	if (c->link)
		rr_link_info(c->link, &i);
	i.error = c->error;
	snprintf(i.reason, sizeof(i.reason), "%s", c->reason);
	rr_sized_give(ret, size, &i, sizeof(i));
}
