/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Further connections to a server (--connections).  Each call uses the connection with
 * the fewest calls in flight, among those that are up (nfs_call.c).  NFS version 3 has
 * no sessions, so a server cannot tell whether calls share a connection.
 *
 * A server that limits its connections refuses a new one, or closes an idle one to make
 * room.  The closed connection would reconnect and displace another one.  Therefore a
 * refused or lost connection ends the program with a message.
 */
#include "client/mount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rpcrdma/nfs.h>

int mount_connect(struct nfs_client *c, struct loop *l, const struct url *u,
                  struct link *ret)
{
	struct rpcrdma_conn_options o;

	tool_conn_options(l->common, &o);
	o.retry_ns = c->retry_ns;
	return link_open(ret, l, u, &o);
}

/* Calls GETATTR on a connection. */
static int try_link(struct nfs_client *c, struct link *k)
{
	GETATTR3args a = {.object = nfs_fh_arg(&c->root)};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	op.via = k;
	r = nfs_op_run(&op, NFSPROC3_GETATTR, &a);
	nfs_op_fini(&op);
	return r;
}

/* Calls GETATTR on every connection, to detect lost connections. */
static int try_links(struct nfs_client *c)
{
	int r = try_link(c, &c->link);

	for (unsigned i = 0; i < c->n_more && !r; i++)
		r = try_link(c, &c->more[i]);
	if (r && r != -EINTR)
		tool_error("%s: %s", c->link.host, nfs_status_text(c, r));
	return r;
}

static int open_further_link(struct nfs_client *c, const struct url *u, struct link *k)
{
	int r = mount_connect(c, c->link.loop, u, k);

	if (r)
		return r;
	c->n_more++;
	return link_secure(k, u, c->link.sec, RPCRDMA_NFS_PROGRAM, 3);
}

static bool has_lost_link(const struct nfs_client *c)
{
	bool lost = c->link.losses > 0;

	for (unsigned i = 0; i < c->n_more; i++)
		lost |= c->more[i].losses > 0;
	return lost;
}

int mount_connect_more(struct nfs_client *c, const struct url *u, unsigned n)
{
	int r = 0;

	c->more = calloc(n, sizeof(*c->more));
	if (!c->more)
		return -ENOMEM;
	while (!r && c->n_more < n && !has_lost_link(c))
		r = open_further_link(c, u, &c->more[c->n_more]);
	if (!r && !has_lost_link(c))
		r = try_links(c);
	if (!r && has_lost_link(c))
		r = -ECONNRESET;
	if (r && r != -EINTR)
		tool_error("%s: the server does not keep %u connections open; use "
		           "fewer (--connections), or raise its limit",
		           c->link.host, n + 1);
	return r;
}

void mount_disconnect_more(struct nfs_client *c)
{
	for (unsigned i = 0; i < c->n_more; i++)
		link_close(&c->more[i]);
	free(c->more);
	c->more = NULL;
	c->n_more = 0;
}

bool nfs_is_up(const struct nfs_client *c)
{
	bool up = c->link.up;

	for (unsigned i = 0; i < c->n_more; i++)
		up |= c->more[i].up;
	return up;
}
