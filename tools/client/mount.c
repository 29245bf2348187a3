/* SPDX-License-Identifier: BSD-3-Clause */
/* Mounts the export in a URL: connects, makes the AUTH_SYS credential, calls MNT,
 * chooses a security flavor, and calls FSINFO. */
#include "client/mount.h"
#include "client/tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <rpcrdma/nfs.h>

#define DEFAULT_RETRY_NS 60000000000u

/* Makes the AUTH_SYS credential, with as many groups as the protocol permits. */
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

/* ---- MNT ----------------------------------------------------------------- */

/* Stores the handle in @ret, and in @c the flavors that the server allows, in the
 * server's order. */
static int take_mount(struct nfs_client *c, const mountres3_ok *ok, struct nfs_fh *ret)
{
	nfs_fh3 fh = {.data = {ok->fhandle.fhandle3_len, ok->fhandle.fhandle3_val}};

	c->mount.n_flavors = 0;
	for (unsigned i = 0; i < ok->auth_flavors.auth_flavors_len &&
	                     c->mount.n_flavors < TOOL_N(c->mount.flavors);
	     i++)
		c->mount.flavors[c->mount.n_flavors++] =
		        (uint32_t)ok->auth_flavors.auth_flavors_val[i];
	return nfs_fh_take(&fh, ret);
}

/* If the URL gives MOUNT's port, uses MOUNT over TCP at that port. */
static int choose_transport(struct nfs_client *c)
{
	return c->mount.given && !c->mount.tcp ? mount_tcp_find(c, c->mount.given) : 0;
}

static int call_mnt_rdma(struct nfs_client *c, const char *path, struct nfs_fh *ret)
{
	struct nfs_op op;
	int r;

	nfs_op_init(&op, c);
	r = nfs_op_run_mount(&op, MOUNTPROC3_MNT, path);
	if (!r)
		r = take_mount(c, &op.res.mnt.mountres3_u.mountinfo, ret);
	nfs_op_fini(&op);
	if (r != NFS_RPC + RPCRDMA_PROG_UNAVAIL)
		return r;
	r = mount_tcp_find(c, 0);
	return r ? r : mount_mnt(c, path, ret);
}

static int call_mnt_tcp(struct nfs_client *c, const char *path, struct nfs_fh *ret)
{
	struct tcp_call t;
	mountres3 res;
	int r = mount_tcp_call(c, MOUNTPROC3_MNT, path, &t);

	if (!r && NFS3_DECODE(t.results, t.results_len, mountres3, &res) < 0)
		r = -EBADMSG;
	tcp_call_fini(&t);
	if (r)
		return r;
	r = (int)res.fhs_status;
	if (!r) {
		c->mount.needs_umnt = true;
		r = take_mount(c, &res.mountres3_u.mountinfo, ret);
	}
	NFS3_FREE(mountres3, &res);
	return r;
}

int mount_mnt(struct nfs_client *c, const char *path, struct nfs_fh *ret)
{
	int r = choose_transport(c);

	if (r)
		return r;
	return c->mount.tcp ? call_mnt_tcp(c, path, ret) : call_mnt_rdma(c, path, ret);
}

void mount_umnt(struct nfs_client *c)
{
	struct tcp_call t;

	if (!c->mount.needs_umnt || !c->link.up)
		return;
	c->mount.needs_umnt = false;
	(void)!mount_tcp_call(c, MOUNTPROC3_UMNT, c->export, &t); /* not required */
	tcp_call_fini(&t);
}

/* ---- Which export -------------------------------------------------------- */

/* A list of names for a message; a list that is too long is truncated. */
struct names {
	char text[1024];
	unsigned n;
};

static void add_name(const char *path, void *arg)
{
	struct names *l = arg;
	size_t used = strlen(l->text);

	snprintf(l->text + used, sizeof(l->text) - used, "%s %s", l->n++ ? "," : "",
	         tool_quote(path));
}

static void report_mount(struct nfs_client *c, int r)
{
	struct names list = {.n = 0};
	const char *more = "";

	if (r == (int)MNT3ERR_NOENT || r == (int)MNT3ERR_ACCES)
		more = nfs_exports(c, add_name, &list) || !list.n
		               ? "; the server does not list its exports"
		               : "; the server exports";
	tool_error("%s: cannot mount %s: %s%s%s%s", c->link.host,
	           tool_quote_always(c->export), nfs_status_text(c, r),
	           r == (int)MNT3ERR_ACCES && c->mount.tcp && geteuid()
	                   ? " (only root may mount an export that is not \"insecure\")"
	                   : "",
	           more, list.text);
}

/* Stores a name from the server's list of exports.  If that list cannot be read, the
 * stored list stays empty. */
static void remember_export(const char *path, void *arg)
{
	struct nfs_client *c = arg;
	size_t n = strlen(path) + 1;
	char *list = n > 1 ? realloc(c->exports, c->exports_len + n) : NULL;

	if (!list)
		return;
	memcpy(list + c->exports_len, path, n);
	c->exports = list;
	c->exports_len += n;
}

/* Returns the longest listed export that contains the URL, or NULL. */
static const char *find_longest_export(const struct nfs_client *c, const struct url *u)
{
	const char *best = NULL, *path;

	for (size_t at = 0; at < c->exports_len; at += strlen(path) + 1) {
		path = c->exports + at;
		if (url_is_below(u, path) && (!best || strlen(path) > strlen(best)))
			best = path;
	}
	return best;
}

bool nfs_serves(const struct nfs_client *c, const struct url *u)
{
	const char *best = find_longest_export(c, u);

	if (best && !strcmp(c->export, best))
		return true;
	return (!best || strlen(best) < strlen(u->export)) &&
	       !strcmp(c->export, u->export);
}

static int set_export(struct nfs_client *c, struct url *u, const char *export)
{
	char *own = strdup(export);

	if (!own || url_rebase(u, export)) {
		free(own);
		return -ENOMEM;
	}
	free(c->export);
	c->export = own;
	return 0;
}

static bool is_not_exported(int status)
{
	return status == (int)MNT3ERR_NOENT || status == (int)MNT3ERR_ACCES ||
	       status == (int)MNT3ERR_NOTDIR;
}

static bool allows_flavor(const struct nfs_client *c, uint32_t flavor)
{
	for (unsigned i = 0; i < c->mount.n_flavors; i++)
		if (c->mount.flavors[i] == flavor)
			return true;
	return !c->mount.n_flavors; /* the server lists no flavors */
}

/*
 * Returns the first flavor in the server's list that this client supports.  The server
 * lists its preferred flavor first.  [RFC 2623 §2.7]
 */
static uint32_t pick_flavor(const struct nfs_client *c)
{
	for (unsigned i = 0; i < c->mount.n_flavors; i++)
		if (c->mount.flavors[i] == SEC_SYS || sec_service(c->mount.flavors[i]))
			return c->mount.flavors[i];
	return c->mount.n_flavors ? SEC_UNSAID : SEC_SYS;
}

static int report_flavors(const struct nfs_client *c)
{
	char list[16 * 14] = "";

	for (unsigned i = 0; i < c->mount.n_flavors; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s %s", i ? "," : "",
		         sec_name(c->mount.flavors[i]));
	}
	tool_error("%s: %s cannot be used with %s; the server allows%s", c->link.host,
	           tool_quote(c->export),
	           c->sec ? sec_name(c->sec) : "any supported flavor", list);
	return -EPERM;
}

/* Tries a flavor by asking for the root's attributes. */
static int try_flavor(struct nfs_client *c, const struct url *u, uint32_t flavor)
{
	if (link_secure(&c->link, u, flavor, RPCRDMA_NFS_PROGRAM, 3))
		return -EPERM;
	return nfs_getattr(c, &c->root, &c->root_attr);
}

/*
 * Chooses a flavor.  If the server prefers Kerberos and also allows sys, a client
 * without a ticket uses sys.  This is no weaker than MOUNT itself, since an attacker in
 * the path can remove Kerberos from MOUNT's answer.  --sec prevents this fallback.
 * Returns 0, another status, or -EPERM after printing a message.
 */
static int choose_flavor(struct nfs_client *c, const struct url *u)
{
	uint32_t flavor = c->sec ? c->sec : pick_flavor(c);
	int r;

	if (!flavor || !allows_flavor(c, flavor))
		return report_flavors(c);
	r = try_flavor(c, u, flavor);
	if (r != -EACCES || c->sec || flavor == SEC_SYS || !allows_flavor(c, SEC_SYS))
		return r;
	if (c->link.loop->common->verbose)
		tool_error("%s: continuing without Kerberos (%s)", c->link.host,
		           nfs_status_text(c, r));
	link_insecure(&c->link);
	return try_flavor(c, u, SEC_SYS);
}

/*
 * Mounts the longest listed export that contains the URL, since the name of an export
 * may have several components.  If MNT for that export fails with "not exported", tries
 * the URL's first component.
 */
static int mount_longest(struct nfs_client *c, struct url *u)
{
	int r = nfs_exports(c, remember_export, c);
	char *first = strdup(u->export);
	const char *best = find_longest_export(c, u);

	if (!first || r == -EINTR || (r == NFS_NO_MOUNT && !c->mount.tcp)) {
		free(first);
		return r ? r : -ENOMEM;
	}
	r = best ? set_export(c, u, best) : 0;
	if (!r)
		r = mount_mnt(c, c->export, &c->root);
	if (best && strlen(best) < strlen(first) && is_not_exported(r)) {
		r = set_export(c, u, first);
		if (!r)
			r = mount_mnt(c, c->export, &c->root);
	}
	free(first);
	return r;
}

static int mount_url(struct nfs_client *c, struct url *u)
{
	int r = mount_longest(c, u);

	if (!r)
		r = choose_flavor(c, u);
	if (r && r != -EINTR && r != -EPERM)
		report_mount(c, r);
	return r;
}

/* ---- Opening and closing ------------------------------------------------- */

static uint32_t pick_size(uint32_t preferred, uint32_t most)
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

		c->read_bytes = pick_size(ok->rtpref, ok->rtmax);
		c->write_bytes = pick_size(ok->wtpref, ok->wtmax);
		c->dir_bytes = pick_size(ok->dtpref, 32768);
	} else if (r != -EINTR) {
		tool_error("%s: %s", c->link.host, nfs_status_text(c, r));
	}
	nfs_op_fini(&op);
	return r;
}

static int connect_client(struct nfs_client *c, struct loop *l, const struct url *u,
                          const struct nfs_options *o)
{
	int r;

	memset(c, 0, sizeof(*c));
	c->timeout_ns = o->timeout_ns;
	c->mount.given = u->mount_port;
	c->sec = u->sec ? u->sec : o->sec;
	c->retry_ns = o->retry_ns ? o->retry_ns : DEFAULT_RETRY_NS;
	r = make_cred(c);
	if (r) {
		tool_error("cannot make a credential: %s", strerror(-r));
		return r;
	}
	return mount_connect(c, l, u, &c->link);
}

int nfs_open(struct nfs_client *c, struct loop *l, struct url *u,
             const struct nfs_options *o)
{
	int r = connect_client(c, l, u, o);

	if (r)
		return r;
	c->export = strdup(u->export);
	r = c->export ? 0 : -ENOMEM;
	if (!r && *c->export) {
		r = mount_url(c, u);
		if (!r)
			r = ask_sizes(c);
		if (!r && o->connections > 1)
			r = mount_connect_more(c, u, o->connections - 1);
	}
	/* In version 1 the credits are known only after a Reply. */
	if (!r && l->common->verbose)
		link_describe(&c->link, stderr);
	if (r)
		nfs_close(c);
	return r;
}

void nfs_close(struct nfs_client *c)
{
	mount_umnt(c);
	mount_disconnect_more(c);
	link_close(&c->link);
	free(c->export);
	free(c->exports);
	c->export = c->exports = NULL;
}

/* ---- EXPORT ------------------------------------------------------------------- */

struct exports {
	void (*fn)(const char *path, void *arg);
	void *arg;
	int status;
};

static int walk_exports(const char *list, size_t len, struct exports *x)
{
	size_t pos = 0;
	dirpath path;
	mountname group;
	int r;

	while ((r = NFS3_LIST_NEXT(list, len, &pos, dirpath, &path)) == 1) {
		x->fn(path, x->arg);
		NFS3_FREE(dirpath, &path);
		while ((r = NFS3_LIST_NEXT(list, len, &pos, mountname, &group)) == 1)
			NFS3_FREE(mountname, &group);
		if (r)
			return r;
	}
	return r;
}

static void on_exports(struct nfs_op *op, void *arg)
{
	struct exports *x = arg;

	x->status = op->status ? op->status : walk_exports(op->rest, op->rest_len, x);
}

static int list_exports_tcp(struct nfs_client *c, struct exports *x)
{
	struct tcp_call t;
	int r = mount_tcp_call(c, MOUNTPROC3_EXPORT, NULL, &t);

	if (!r)
		r = walk_exports(t.results, t.results_len, x);
	tcp_call_fini(&t);
	return r;
}

int nfs_exports(struct nfs_client *c, void (*fn)(const char *path, void *), void *arg)
{
	struct exports x = {.fn = fn, .arg = arg};
	struct nfs_op op;
	int r = choose_transport(c);

	if (r || c->mount.tcp)
		return r ? r : list_exports_tcp(c, &x);
	nfs_op_init(&op, c);
	op.reply_bytes = 65536;
	op.done = on_exports;
	op.arg = &x;
	r = nfs_op_run_mount(&op, MOUNTPROC3_EXPORT, NULL);
	nfs_op_fini(&op);
	if (r == NFS_RPC + RPCRDMA_PROG_UNAVAIL) {
		r = mount_tcp_find(c, 0);
		return r ? r : list_exports_tcp(c, &x);
	}
	return r ? r : x.status;
}
