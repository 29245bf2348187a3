/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses lists of netids, from the user's options or from the environment variable
 * NETPATH. */
#include <stdlib.h>
#include <string.h>

#include "tirpc/shared.h"

static const struct rr_rpc_netid known[RR_RPC_NETIDS] = {
        {"rdma", "RDMA", false, AF_UNSPEC},
        {"rdma6", "RDMA over IPv6", false, AF_INET6},
        {"tcp", "TCP", true, AF_UNSPEC},
        {"tcp6", "TCP over IPv6", true, AF_INET6},
};

static const struct rr_rpc_netid *find_netid(const char *name, size_t len)
{
	for (unsigned i = 0; i < RR_RPC_NETIDS; i++)
		if (strlen(known[i].name) == len && !memcmp(known[i].name, name, len))
			return &known[i];
	return NULL;
}

static bool has_netid(const struct rr_rpc_options *o, const struct rr_rpc_netid *n)
{
	for (unsigned i = 0; i < o->n_netids; i++)
		if (o->netids[i] == n)
			return true;
	return false;
}

/* Parses @text into o->netids.  If @lenient is true, skips unknown and repeated names;
 * otherwise they are errors. */
static int parse_netids(const char *text, char separator, bool lenient,
                        struct rr_rpc_options *o)
{
	const char *end;

	o->n_netids = 0;
	for (const char *p = text;; p = end + 1) {
		const struct rr_rpc_netid *n;

		end = strchr(p, separator);
		n = find_netid(p, end ? (size_t)(end - p) : strlen(p));
		if (n && !has_netid(o, n))
			o->netids[o->n_netids++] = n;
		else if (!lenient)
			return -EINVAL;
		if (!end)
			break;
	}
	return o->n_netids ? 0 : -EINVAL;
}

int rr_rpc_netids_from(const char *text, struct rr_rpc_options *o)
{
	const char *path;
	int err;

	if (text && !strcmp(text, "netpath")) {
		path = getenv("NETPATH");
		err = path && *path ? parse_netids(path, ':', true, o)
		                    : parse_netids("rdma,tcp", ',', false, o);
	} else {
		err = parse_netids(text ? text : "rdma", ',', false, o);
	}
	for (unsigned i = 0; !err && i < o->n_netids; i++)
		if (o->netids[i]->tcp &&
		    o->conn.hostauth_policy == RPCRDMA_HOSTAUTH_REQUIRE)
			err = -EINVAL; /* TCP has no host authentication */
	return err;
}
