/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MOUNT program, version 3.                     [RFC 1813 appendix I]
 *
 * MNT takes the name of an export or of a directory below it.  The directory is looked
 * up component by component with the caller's permissions, without following symbolic
 * links.  The list of mounts is only informative: its size is limited, and when it is
 * full, a new entry replaces the oldest one.
 */
#include "op.h"
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- the list of mounts ---------------------------------------------------- */

static void format_peer(const struct op *op, char *ret, size_t size)
{
	struct sockaddr_storage ss;

	if (op_peer(op, &ss) || getnameinfo((struct sockaddr *)&ss, sizeof(ss), ret,
	                                    (socklen_t)size, NULL, 0, NI_NUMERICHOST))
		snprintf(ret, size, "unknown");
}

/* Removes the mount list's entry for @host and @dir, or all entries for @host if @dir
 * is NULL.  The caller holds d->lock. */
static void forget_mounts(struct nfsd *d, const char *host, const char *dir)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < d->n_mounts; i++) {
		struct mount_entry *m = &d->mounts[i];

		if (!strcmp(m->host, host) && (!dir || !strcmp(m->dir, dir)))
			free(m->dir);
		else
			d->mounts[kept++] = *m;
	}
	d->n_mounts = kept;
}

static void remember_mount(struct op *op, const char *dir)
{
	struct nfsd *d = op->nfsd;
	char host[sizeof(d->mounts[0].host)];
	char *copy = strdup(dir);

	if (!copy)
		return; /* the list may be incomplete */
	format_peer(op, host, sizeof(host));
	pthread_mutex_lock(&d->lock);
	forget_mounts(d, host, dir);
	if (d->n_mounts == NFSD_MAX_MOUNTS) {
		free(d->mounts[0].dir);
		memmove(d->mounts, d->mounts + 1,
		        (NFSD_MAX_MOUNTS - 1) * sizeof(d->mounts[0]));
		d->n_mounts--;
	}
	memcpy(d->mounts[d->n_mounts].host, host, sizeof(host));
	d->mounts[d->n_mounts++].dir = copy;
	pthread_mutex_unlock(&d->lock);
}

void op_umnt(struct op *op)
{
	char host[64];

	format_peer(op, host, sizeof(host));
	pthread_mutex_lock(&op->nfsd->lock);
	forget_mounts(op->nfsd, host, op->args.mnt);
	pthread_mutex_unlock(&op->nfsd->lock);
}

void op_umntall(struct op *op)
{
	char host[64];

	format_peer(op, host, sizeof(host));
	pthread_mutex_lock(&op->nfsd->lock);
	forget_mounts(op->nfsd, host, NULL);
	pthread_mutex_unlock(&op->nfsd->lock);
}

/* -- lists as results ------------------------------------------------------ */

struct list_writer {
	char *buf;
	size_t len, max; /* octets used; limit, not counting the final word */
};

static bool put_list_word(struct list_writer *o, uint32_t v)
{
	if (o->max - o->len < 4)
		return false;
	(void)nfs3_put_u32(o->buf + o->len, v);
	o->len += 4;
	return true;
}

static bool put_list_string(struct list_writer *o, const char *s)
{
	size_t n = strlen(s), padded = (n + 3) & ~(size_t)3;

	if (o->max - o->len < 4 + padded || !put_list_word(o, (uint32_t)n))
		return false;
	memset(o->buf + o->len, 0, padded);
	memcpy(o->buf + o->len, s, n);
	o->len += padded;
	return true;
}

static struct list_writer begin_list_results(struct op *op)
{
	char *buf = op_alloc(op, MOUNT_LIST_BYTES);

	return (struct list_writer){buf, 0, buf ? MOUNT_LIST_BYTES - 4 : 0};
}

static void end_list_results(struct op *op, struct list_writer *o)
{
	static const char end[4]; /* the reply if there is no memory: an empty list */

	op->tail = (struct rpcrdma_piece){end, 4, false};
	if (!o->buf)
		return;
	o->max += 4;
	(void)put_list_word(o, 0); /* there is always space for the final word */
	op->tail = (struct rpcrdma_piece){o->buf, o->len, false};
}

void op_dump(struct op *op)
{
	struct nfsd *d = op->nfsd;
	struct list_writer o = begin_list_results(op), was;

	pthread_mutex_lock(&d->lock);
	for (unsigned i = 0; i < d->n_mounts; i++) {
		was = o;
		if (!put_list_word(&o, 1) || !put_list_string(&o, d->mounts[i].host) ||
		    !put_list_string(&o, d->mounts[i].dir)) {
			o = was;
			break;
		}
	}
	pthread_mutex_unlock(&d->lock);
	end_list_results(op, &o);
}

/* Writes an export's clients.  An empty list means that any client may use the
 * export. */
static bool put_client_groups(struct list_writer *o, const struct clients *l)
{
	bool ok = true;

	for (unsigned i = 0; l && i < l->n && ok; i++)
		ok = put_list_word(o, 1) && put_list_string(o, l->all[i].text);
	return ok && put_list_word(o, 0);
}

void op_export(struct op *op)
{
	struct nfsd *d = op->nfsd;
	struct list_writer o = begin_list_results(op), was;

	pthread_mutex_lock(&d->access.lock);
	for (unsigned i = 0; i < d->n_exports; i++) {
		const struct export *ex = d->exports[i];

		was = o;
		if (ex->live &&
		    (!put_list_word(&o, 1) || !put_list_string(&o, ex->name) ||
		     !put_client_groups(&o, ex->clients)))
			o = was; /* omit an export whose client list does not fit */
	}
	pthread_mutex_unlock(&d->access.lock);
	end_list_results(op, &o);
}

/* -- MNT ------------------------------------------------------------------- */

/* Returns the export with the longest name that is a prefix of @path, and stores the
 * rest of @path in @ret_rest.  Returns NULL if there is no such export. */
static struct export *find_named_export(struct nfsd *d, const char *path,
                                        const char **ret_rest)
{
	struct export *best = NULL;
	size_t best_len = 0;

	for (unsigned i = 0; i < d->n_exports; i++) {
		const char *name = d->exports[i]->name;
		size_t len = strcmp(name, "/") ? strlen(name) : 0;

		if (!d->exports[i]->live || strncmp(path, name, len) ||
		    (path[len] && path[len] != '/'))
			continue;
		if (!best || len >= best_len) {
			best = d->exports[i];
			best_len = len;
		}
	}
	if (best)
		*ret_rest = path + best_len;
	return best;
}

struct export *op_mnt_export(struct op *op)
{
	const char *rest;

	return op->type->run == op_mnt
	               ? find_named_export(op->nfsd, op->args.mnt, &rest)
	               : NULL;
}

/* The reply needs no file system for UMNT, for the handle of an export's root, or if
 * the client is refused. */
struct filesystem *op_mnt_fs(struct op *op)
{
	const char *rest = NULL;
	struct export *ex = op->type->run == op_mnt && !op->denied
	                            ? find_named_export(op->nfsd, op->args.mnt, &rest)
	                            : NULL;

	return ex && ex == op->ex && rest[strspn(rest, "/")] ? ex->fs : NULL;
}

/* Has the call run again by the workers of the file system that is mounted at @name in
 * @fd.  Returns NFSD_WOULD_SLEEP, or -EACCES if that file system is not served. */
static int cross_mount(struct op *op, struct export *ex, int fd, const char *name,
                       const struct statx *st, const char *rest)
{
	struct mounted m;

	if (crossing_at(op->nfsd, ex, fd, name, st, &m) || !m.ex)
		return -EACCES;
	export_put(op->nfsd, op->cross);
	op->cross = m.ex;
	op->rest = rest;
	return op_would_sleep(op);
}

/* Descends from the directory *fd to its child @name, and replaces *fd and *h with the
 * child's descriptor and handle.  Returns 0, -EXDEV if the child is a mount point, or
 * another negative errno. */
static int descend_component(struct op *op, struct export *ex, const char *name,
                             int *fd, struct handle *h, struct statx *st)
{
	uint64_t parent_ino = st->stx_ino;
	struct handle parent = *h;
	int next, e = name_check(name);

	if (e || name_is_dot(name))
		return e ? e : -EINVAL;
	/* Do not pass O_DIRECTORY, because it would trigger an autofs mount. */
	next = open_name(*fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (next < 0)
		return next;
	e = handle_make(op->nfsd, ex, &parent, next, h, st);
	if (!e && !S_ISDIR(st->stx_mode))
		e = -ENOTDIR;
	if (e) {
		close(next);
		return e;
	}
	walk_learn(ex, st->stx_ino, parent_ino, name);
	close(*fd);
	*fd = next;
	return 0;
}

/* Opens the directory where the look-up starts: the root of the export or of the
 * mounted file system.  Returns a descriptor or a negative errno. */
static int open_walk_start(struct op *op, struct export *ex, struct handle *h,
                           struct statx *st)
{
	int fd, e = ident_enter_server() ? -EIO : crossing_open(op->nfsd, ex);

	if (!e)
		e = handle_make(op->nfsd, ex, NULL, ex->root_fd, h, st);
	if (ident_enter(&op->id))
		return -EIO;
	if (e)
		return e;
	fd = fcntl(ex->root_fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* Descends along @rest, which has at most MNTPATHLEN / 2 components.  Returns 0 or a
 * negative errno. */
static int descend_path(struct op *op, struct export *ex, const char *rest,
                        struct handle *h)
{
	char copy[MNTPATHLEN + 1], *save = NULL;
	struct statx st;
	int fd, e = 0;

	fd = open_walk_start(op, ex, h, &st);
	if (fd < 0)
		return fd;
	snprintf(copy, sizeof(copy), "%s", rest);
	for (char *s = strtok_r(copy, "/", &save); s && !e;
	     s = strtok_r(NULL, "/", &save)) {
		e = descend_component(op, ex, s, &fd, h, &st);
		if (e == -EXDEV)
			e = cross_mount(op, ex, fd, s, &st,
			                rest + (s - copy) + strlen(s));
	}
	close(fd);
	return e;
}

/* Builds, in op->made, the handle of the directory @rest below the export.  Returns 0
 * or a negative errno. */
static int find_directory(struct op *op, struct export *ex, const char *rest)
{
	if (op->cross)
		return descend_path(op, op->cross, op->rest, &op->made);
	op->made = ex->root;
	if (!rest[strspn(rest, "/")])
		return 0; /* does not access the file system */
	return descend_path(op, ex, rest, &op->made);
}

static mountstat3 convert_mount_error(int e)
{
	switch (-e) {
	case 0:
		return MNT3_OK;
	case EPERM:
		return MNT3ERR_PERM;
	case ENOENT:
		return MNT3ERR_NOENT;
	case EACCES:
		return MNT3ERR_ACCES;
	case ENOTDIR:
		return MNT3ERR_NOTDIR;
	case EINVAL:
		return MNT3ERR_INVAL;
	case ENAMETOOLONG:
		return MNT3ERR_NAMETOOLONG;
	case EIO:
		return MNT3ERR_IO;
	}
	return MNT3ERR_SERVERFAULT;
}

/* Switches to the anonymous user if MNT has to look up a directory but AUTH_SYS is not
 * an allowed flavor.  The uid in an AUTH_SYS credential then proves nothing, and must
 * not be used to find out names in other users' directories. */
static int enter_walk_identity(struct op *op, const char *rest)
{
	const struct squash *s = &op->may.squash;
	const struct ident anonymous = {.uid = s->anon_uid, .gid = s->anon_gid};
	struct rpcrdma_gss_caller caller;

	if (op->may.flavors.sys || !rest[strspn(rest, "/")] ||
	    (op->req && !rpcrdma_request_gss(op->req, &caller, sizeof(caller))))
		return 0;
	op->id = anonymous;
	return ident_enter(&op->id);
}

void op_mnt(struct op *op)
{
	struct flavors *flavors = &op->may.flavors;
	mountres3_ok *ok = &op->res.mnt.mountres3_u.mountinfo;
	const char *rest = NULL;
	struct export *ex = find_named_export(op->nfsd, op->args.mnt, &rest);
	int e = op->denied           ? op->denied
	        : ex && ex == op->ex ? enter_walk_identity(op, rest)
	                             : -ENOENT; /* no such export, or added just now */

	if (!e)
		e = find_directory(op, ex, rest);
	if (e == NFSD_WOULD_SLEEP)
		return;
	op->res.mnt.fhs_status = convert_mount_error(e);
	if (e)
		return;
	ok->fhandle.fhandle3_val = (char *)op->made.octets;
	ok->fhandle.fhandle3_len = op->made.len;
	ok->auth_flavors.auth_flavors_val = flavors->list;
	ok->auth_flavors.auth_flavors_len = flavors->n;
	remember_mount(op, op->args.mnt);
}
