/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Destination directories.
 *
 * A directory on a server is made by MKDIR while the walk goes on: jobs and
 * directories below it wait until it is made (copy_dir_ready).  If it cannot be made,
 * these jobs and directories end without a message.
 *
 * A directory's own attributes are set only when its last child is finished.  A
 * directory without write permission would refuse children, and each child changes the
 * directory's times.  Until then, children hold references to their parent.
 */
#define _GNU_SOURCE /* O_PATH */
#include "client/copy_phase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int copy_dir_open(int at, const char *path, int flags)
{
	int fd;

	flags |= O_DIRECTORY | O_CLOEXEC;
	fd = openat(at, path, O_RDONLY | flags);
	return fd < 0 && errno == EACCES ? openat(at, path, O_PATH | flags) : fd;
}

static struct copy_dir *new_dir(struct copy *c, struct copy_dir *parent,
                                const char *text)
{
	struct copy_dir *d = calloc(1, sizeof(*d));

	if (!d || !(d->text = strdup(text))) {
		free(d);
		return NULL;
	}
	d->copy = c;
	d->refs = 1;
	d->fd = -1;
	d->parent = parent;
	if (parent) {
		d->client = parent->client;
		copy_dir_get(parent);
	}
	return d;
}

struct copy_dir *copy_dir_local(struct copy *c, int fd, const char *text, bool named)
{
	struct copy_dir *d = new_dir(c, NULL, text);
	struct stat sb;

	if (!d)
		return NULL;
	d->fd = fd;
	d->named = named;
	if (!fstat(fd, &sb)) {
		d->fsid = sb.st_dev;
		d->fileid = sb.st_ino;
	}
	return d;
}

struct copy_dir *copy_dir_remote(struct copy *c, struct nfs_client *client,
                                 const struct nfs_fh *fh, const fattr3 *attr,
                                 const char *text, bool named)
{
	struct copy_dir *d = new_dir(c, NULL, text);

	if (!d)
		return NULL;
	d->client = client;
	d->fh = *fh;
	d->named = named;
	d->fsid = attr->fsid;
	d->fileid = attr->fileid;
	return d;
}

/* Returns "DIR/NAME"; in a URL the name comes before "?". */
static char *join_path(const char *dir, const char *name)
{
	size_t len = url_is(dir) ? strcspn(dir, "?") : strlen(dir);
	char *text = malloc(len + strlen(name) + 2);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (text)
		sprintf(text, "%.*s%s%s", (int)len, dir, !strcmp(dir, "/") ? "" : "/",
		        name);
	return text;
}

char *copy_dir_text(const struct copy_dir *d, const char *name)
{
	char *dir, *text;

	if (!d->parent)
		return d->named ? strdup(d->text) : join_path(d->text, name);
	dir = copy_dir_text(d->parent, d->text);
	text = dir ? join_path(dir, name) : NULL;
	free(dir);
	return text;
}

static void report_dir_failure(struct copy_dir *d, const char *act, int status)
{
	char *text = d->parent ? copy_dir_text(d->parent, d->text) : NULL;

	copy_report_failure(d->copy, act, text ? text : d->text, d->client, status);
	free(text);
}

static int make_local_dir(struct copy_dir *d)
{
	uint32_t mode = copy_mode(d->copy, &d->meta) & 01777;
	struct stat sb;

	d->fresh = mkdirat(d->parent->fd, d->text, mode | 0700) == 0;
	if (!d->fresh && errno != EEXIST)
		return -errno;
	/* O_NOFOLLOW: a symbolic link could lead anywhere. */
	d->fd = copy_dir_open(d->parent->fd, d->text, O_NOFOLLOW);
	if (d->fd < 0 || fstat(d->fd, &sb))
		return -errno;
	d->fsid = sb.st_dev;
	d->fileid = sb.st_ino;
	d->owned = sb.st_uid == d->meta.uid && sb.st_gid == d->meta.gid;
	d->finish = d->copy->preserve || (d->fresh && (mode | 0700) != mode);
	return 0;
}

/* Reports that the existing object is not a directory. */
static void refuse_non_directory(struct copy_dir *d, const char *label)
{
	char *text = copy_dir_text(d->parent, d->text);

	tool_progress_end(&d->copy->progress);
	tool_error("cannot overwrite non-directory %s with directory %s",
	           tool_quote_always(text ? text : d->text), tool_quote_always(label));
	d->copy->failed++;
	free(text);
}

/* ---- Making a directory on a server ------------------------------------------- */

static void begin_remote_dir(struct copy_dir *d);

static void leave_making(struct copy_dir *d, enum copy_dir_state state)
{
	struct copy_dir **p = &d->copy->making;

	while (*p != d)
		p = &(*p)->next_making;
	*p = d->next_making;
	d->copy->n_making--;
	d->state = state;
	free(d->label);
	d->label = NULL;
}

/* Returns a directory that waits for @parent, or NULL. */
static struct copy_dir *find_waiting_dir(const struct copy_dir *parent)
{
	struct copy_dir *d = parent->copy->making;

	while (d && (d->parent != parent || d->op.busy))
		d = d->next_making;
	return d;
}

/* Begins the directories and jobs that wait for @parent, or ends them if it could not
 * be made. */
static void wake_children(struct copy_dir *parent)
{
	struct copy_dir *d;

	while ((d = find_waiting_dir(parent)))
		begin_remote_dir(d);
	copy_job_wake(parent->copy, parent);
}

static void end_making(struct copy_dir *d, enum copy_dir_state state)
{
	leave_making(d, state);
	wake_children(d);
	copy_dir_put(d);
}

static void fail_remote_dir(struct copy_dir *d, int status)
{
	struct copy *c = d->copy;

	if (status == -EINTR || status == -EHOSTUNREACH)
		c->fatal = status;
	if (status == (int)NFS3ERR_NOTDIR)
		refuse_non_directory(d, d->label);
	else
		report_dir_failure(d, "create directory", status);
	end_making(d, COPY_DIR_FAILED);
}

static void take_remote_dir(struct copy_dir *d, const fattr3 *attr)
{
	uint32_t mode = copy_mode(d->copy, &d->meta) & 01777;

	d->fsid = attr->fsid;
	d->fileid = attr->fileid;
	d->owned = attr->uid == d->meta.uid && attr->gid == d->meta.gid;
	/* Only root can change the owner; others can set one of their groups. */
	d->no_owner = geteuid() != 0 && attr->uid != d->meta.uid;
	d->finish = d->copy->preserve || (d->fresh && (mode | 0700) != mode);
	end_making(d, COPY_DIR_READY);
}

static void on_dir_found(struct nfs_op *op, void *arg)
{
	const LOOKUP3resok *ok = &op->res.lookup.LOOKUP3res_u.resok;
	const post_op_attr *a = &ok->obj_attributes;
	struct copy_dir *d = arg;
	int r = op->status;

	if (!r && (!a->attributes_follow || nfs_fh_take(&ok->object, &d->fh)))
		r = -EBADMSG;
	if (!r && a->post_op_attr_u.attributes.type != NF3DIR)
		r = (int)NFS3ERR_NOTDIR;
	if (r)
		fail_remote_dir(d, r);
	else
		take_remote_dir(d, &a->post_op_attr_u.attributes);
}

/* After EXIST, or if the reply to MKDIR lacks the handle, looks the directory up.  A
 * MKDIR that was repeated after a reconnect may find the directory that it has made
 * itself. */
static void look_up_dir(struct copy_dir *d)
{
	LOOKUP3args a = {.what = {nfs_fh_arg(&d->parent->fh), d->text}};

	nfs_op_start(&d->op, NFSPROC3_LOOKUP, &a, on_dir_found, d);
}

static void on_dir_made(struct nfs_op *op, void *arg)
{
	const MKDIR3resok *ok = &op->res.mkdir.MKDIR3res_u.resok;
	const post_op_attr *a = &ok->obj_attributes;
	struct copy_dir *d = arg;

	d->fresh = op->status == 0;
	if (op->status && op->status != (int)NFS3ERR_EXIST)
		fail_remote_dir(d, op->status);
	else if (op->status || !a->attributes_follow || !ok->obj.handle_follows ||
	         nfs_fh_take(&ok->obj.post_op_fh3_u.handle, &d->fh))
		look_up_dir(d);
	else
		take_remote_dir(d, &a->post_op_attr_u.attributes);
}

/* Sends MKDIR if the parent is ready.  If the parent could not be made, or the run
 * ends, ends the directory without a message. */
static void begin_remote_dir(struct copy_dir *d)
{
	MKDIR3args a = {.where = {nfs_fh_arg(&d->parent->fh), d->text}};

	if (d->parent->state == COPY_DIR_MAKING)
		return;
	if (d->parent->state == COPY_DIR_FAILED || d->copy->fatal) {
		end_making(d, COPY_DIR_FAILED);
		return;
	}
	a.attributes.mode.set_it = true;
	a.attributes.mode.set_mode3_u.mode =
	        (copy_mode(d->copy, &d->meta) & 01777) | 0700;
	nfs_op_init(&d->op, d->client);
	nfs_op_start(&d->op, NFSPROC3_MKDIR, &a, on_dir_made, d);
}

/* Begins to make the directory.  A reference is held until it is made. */
static int make_remote_dir(struct copy_dir *d, const char *label)
{
	struct copy *c = d->copy;

	d->label = strdup(label);
	if (!d->label)
		return -ENOMEM;
	d->state = COPY_DIR_MAKING;
	d->next_making = c->making;
	c->making = d;
	c->n_making++;
	copy_dir_get(d);
	begin_remote_dir(d);
	return 0;
}

bool copy_dir_ready(struct copy_dir *d)
{
	struct copy *c = d->copy;

	while (d->state == COPY_DIR_MAKING && !c->fatal) {
		int r = loop_wait(c->loop, -1);

		if (r)
			c->fatal = r;
	}
	return d->state == COPY_DIR_READY;
}

void copy_dir_cancel_making(struct copy *c)
{
	for (struct copy_dir *d = c->making; d; d = d->next_making)
		nfs_op_cancel(&d->op);
}

struct copy_dir *copy_dir_make(struct copy_dir *parent, const char *name,
                               const struct copy_meta *meta, const char *label)
{
	struct copy *c = parent->copy;
	struct copy_dir *d = new_dir(c, parent, name);
	int r;

	if (!d) {
		copy_report_failure(c, "create directory", name, NULL, -ENOMEM);
		return NULL;
	}
	d->meta = *meta;
	r = d->client ? make_remote_dir(d, label) : make_local_dir(d);
	if (!r)
		return d;
	if (r == -ENOTDIR)
		refuse_non_directory(d, label);
	else
		report_dir_failure(d, "create directory", r);
	copy_dir_put(d);
	return NULL;
}

void copy_dir_get(struct copy_dir *d)
{
	d->refs++;
}

static void free_dir(struct copy_dir *d)
{
	struct copy_dir *parent = d->parent;

	if (d->fd >= 0)
		close(d->fd);
	nfs_op_fini(&d->op);
	free(d->label);
	free(d->text);
	free(d);
	if (parent)
		copy_dir_put(parent);
}

/* Returns the mode to set, with set-id bits only if the directory has the right
 * owner. */
static uint32_t choose_dir_mode(const struct copy_dir *d)
{
	return copy_mode(d->copy, &d->meta) & (d->no_owner ? 01777 : 07777);
}

static const char finishing[] = "set attributes of";

static void finish_remote_dir(struct copy_dir *d);

static void on_dir_finished(struct nfs_op *op, void *arg)
{
	struct copy_dir *d = arg;

	d->copy->n_finishing--;
	if (op->status == (int)NFS3ERR_PERM && !d->no_owner) {
		d->no_owner = true;
		finish_remote_dir(d);
		return;
	}
	if (op->status)
		report_dir_failure(d, finishing, op->status);
	free_dir(d);
}

static void finish_remote_dir(struct copy_dir *d)
{
	SETATTR3args a = {.object = nfs_fh_arg(&d->fh)};

	copy_sattr(d->copy, &d->meta, choose_dir_mode(d), &a.new_attributes);
	if (d->copy->preserve && !d->owned && !d->no_owner)
		copy_sattr_owner(&d->meta, &a.new_attributes);
	d->copy->n_finishing++;
	nfs_op_start(&d->op, NFSPROC3_SETATTR, &a, on_dir_finished, d);
}

static void finish_local_dir(struct copy_dir *d)
{
	int r;

	if (d->copy->preserve && !d->owned)
		d->no_owner = copy_own_local(d->fd, &d->meta) < 0;
	r = copy_set_local(d->copy, d->fd, &d->meta, choose_dir_mode(d));
	if (r)
		report_dir_failure(d, finishing, r);
}

void copy_dir_put(struct copy_dir *d)
{
	if (--d->refs)
		return;
	if (!d->finish || d->state != COPY_DIR_READY || d->copy->fatal) {
		free_dir(d);
	} else if (d->client) {
		finish_remote_dir(d);
	} else {
		finish_local_dir(d);
		free_dir(d);
	}
}
