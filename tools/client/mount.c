/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a URL to a mounted export: connect, AUTH_SYS, MNT, FSINFO.  MOUNT is
 * called on the same connection and port as NFS; a server that keeps it
 * elsewhere is told apart by PROG_UNAVAIL.
 */
#include "client/nfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rpcrdma/nfs.h>

#define DEFAULT_RETRY_NS 60000000000u

/* The caller's identity, with as many groups as the protocol carries. */
static int make_cred(struct nfs_client *c)
{
	gid_t all[1024];
	uint32_t gids[16];
	char machine[256] = "";
	int n = getgroups(1024, all), len;
	unsigned n_gids = 0;

	for (int i = 0; i < n && n_gids < 16; i++)
		gids[n_gids++] = all[i];
	if (gethostname(machine, sizeof(machine) - 1))
		strcpy(machine, "localhost");
	len = rpcrdma_auth_sys_encode(c->cred_body, sizeof(c->cred_body),
	                              (uint32_t)time(NULL), machine, geteuid(),
	                              getegid(), gids, n_gids);
	if (len < 0)
		return len;
	c->cred.flavor = RPCRDMA_AUTH_SYS;
	c->cred.body = c->cred_body;
	c->cred.len = (uint32_t)len;
	return 0;
}

static const char *mount_words(const struct nfs_client *c, int status)
{
	if (status == NFS_RPC + RPCRDMA_PROG_UNAVAIL)
		return "the server has no MOUNT service on this port";
	return nfs_words(c, status);
}

static void print_export(const char *path, void *arg)
{
	int *n = arg;

	fprintf(stderr, "%s %s", (*n)++ ? "," : "; it exports", path);
}

static int do_mount(struct nfs_client *c)
{
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run_mount(&op, MOUNTPROC3_MNT, c->export);
	if (!r) {
		const fhandle3 *fh = &op.res.mnt.mountres3_u.mountinfo.fhandle;
		nfs_fh3 a = {.data = {fh->fhandle3_len, fh->fhandle3_val}};

		r = nfs_fh_take(&a, &c->root);
	}
	nfs_op_fini(&op);
	if (!r)
		r = nfs_getattr(c, &c->root, &c->root_attr);
	if (r && r != -EINTR) {
		tool_error("%s: cannot mount %s: %s", c->link.host, c->export,
		           mount_words(c, r));
		if (r == (int)MNT3ERR_NOENT) {
			int n = 0;

			fprintf(stderr, "rpcrdma: %s", c->link.host);
			if (nfs_exports(c, print_export, &n) || !n)
				fprintf(stderr, " does not say what it exports");
			fputc('\n', stderr);
		}
	}
	return r;
}

static uint32_t pick(uint32_t preferred, uint32_t most)
{
	uint32_t v = preferred ? preferred : most;

	if (v > most && most)
		v = most;
	if (v > NFS_IO_MAX || v == 0)
		v = NFS_IO_MAX;
	return v < 4096 ? 4096 : v & ~4095u;
}

static int ask_sizes(struct nfs_client *c)
{
	FSINFO3args a = {.fsroot = nfs_fh_arg(&c->root)};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run(&op, NFSPROC3_FSINFO, &a);
	if (!r) {
		const FSINFO3resok *ok = &op.res.fsinfo.FSINFO3res_u.resok;

		c->read_bytes = pick(ok->rtpref, ok->rtmax);
		c->write_bytes = pick(ok->wtpref, ok->wtmax);
		c->dir_bytes = pick(ok->dtpref, 32768);
	} else if (r != -EINTR) {
		tool_error("%s: %s", c->link.host, nfs_words(c, r));
	}
	nfs_op_fini(&op);
	return r;
}

static int connect_only(struct nfs_client *c, struct loop *l, const struct url *u,
                        const struct nfs_options *o)
{
	struct rpcrdma_conn_options co;
	int r;

	memset(c, 0, sizeof(*c));
	c->timeout_ns = o->timeout_ns;
	c->retry_ns = o->retry_ns ? o->retry_ns : DEFAULT_RETRY_NS;
	r = make_cred(c);
	if (r) {
		tool_error("cannot make a credential: %s", strerror(-r));
		return r;
	}
	tool_conn_options(l->common, &co);
	co.retry_ns = c->retry_ns;
	r = link_open(&c->link, l, u, &co);
	if (!r && l->common->verbose)
		link_describe(&c->link, stderr);
	return r;
}

int nfs_open(struct nfs_client *c, struct loop *l, const struct url *u,
             const struct nfs_options *o)
{
	int r = connect_only(c, l, u, o);

	if (r)
		return r;
	c->export = strdup(u->export);
	r = c->export ? 0 : -ENOMEM;
	if (!r && *c->export) {
		r = do_mount(c);
		if (!r)
			r = ask_sizes(c);
	}
	if (r)
		nfs_close(c);
	return r;
}

void nfs_close(struct nfs_client *c)
{
	link_close(&c->link);
	free(c->export);
	c->export = NULL;
}

/* ---- EXPORT ------------------------------------------------------------------- */

struct exports {
	void (*fn)(const char *path, void *arg);
	void *arg;
	int status;
};

static int walk_exports(struct nfs_op *op, struct exports *x)
{
	size_t pos = 0;
	dirpath path;
	mountname group;
	int r;

	while ((r = NFS3_LIST_NEXT(op->rest, op->rest_len, &pos, dirpath, &path)) ==
	       1) {
		x->fn(path, x->arg);
		NFS3_FREE(dirpath, &path);
		while ((r = NFS3_LIST_NEXT(op->rest, op->rest_len, &pos, mountname,
		                           &group)) == 1)
			NFS3_FREE(mountname, &group);
		if (r)
			return r;
	}
	return r;
}

static void on_exports(struct nfs_op *op, void *arg)
{
	struct exports *x = arg;

	x->status = op->status ? op->status : walk_exports(op, x);
}

int nfs_exports(struct nfs_client *c, void (*fn)(const char *path, void *), void *arg)
{
	struct exports x = {.fn = fn, .arg = arg};
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	op.reply_bytes = 65536;
	op.done = on_exports;
	op.arg = &x;
	r = nfs_op_run_mount(&op, MOUNTPROC3_EXPORT, NULL);
	nfs_op_fini(&op);
	return r ? r : x.status;
}
