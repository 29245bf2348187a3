/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What copy jobs share: slots, the waiting for jobs, failures, and receiving
 * directories.
 *
 * A directory's own attributes are set when its last child is done, since a
 * directory without write permission would refuse them, and each child moves
 * its times.  References hold parents until then.
 */
#include "client/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABORT_NS 5000000000u

/* Seconds on the wire have no sign: the nearest time that fits. */
static nfstime3 time_from(const struct timespec *t)
{
	if (t->tv_sec < 0)
		return (nfstime3){0, 0};
	if (t->tv_sec > UINT32_MAX)
		return (nfstime3){UINT32_MAX, 0};
	return (nfstime3){(uint32_t)t->tv_sec, (uint32_t)t->tv_nsec};
}

void copy_meta_from_stat(const struct stat *s, struct copy_meta *ret)
{
	*ret = (struct copy_meta){
	        .mode = s->st_mode & 07777,
	        .uid = s->st_uid,
	        .gid = s->st_gid,
	        .size = (uint64_t)s->st_size,
	        .used = (uint64_t)s->st_blocks * 512,
	        .atime = time_from(&s->st_atim),
	        .mtime = time_from(&s->st_mtim),
	};
}

void copy_meta_from_attr(const fattr3 *a, struct copy_meta *ret)
{
	*ret = (struct copy_meta){.mode = a->mode & 07777,
	                          .uid = a->uid,
	                          .gid = a->gid,
	                          .size = a->size,
	                          .used = a->used,
	                          .atime = a->atime,
	                          .mtime = a->mtime};
}

bool copy_is_stream(int fd, const struct stat *s)
{
	char octet;

	if (!S_ISREG(s->st_mode))
		return true;
	return s->st_size == 0 && pread(fd, &octet, 1, 0) > 0;
}

/* ---- The whole ------------------------------------------------------------------ */

void copy_init(struct copy *c, struct loop *l)
{
	mode_t mask = umask(0);

	umask(mask);
	c->loop = l;
	c->umask = mask;
	if (!c->in_flight)
		c->in_flight = 8;
	if (!c->io_bytes)
		c->io_bytes = NFS_IO_MAX;
	c->max_slots = COPY_BUFFERS / c->io_bytes;
	if (c->max_slots > 2 * c->in_flight)
		c->max_slots = 2 * c->in_flight;
	if (c->max_slots < COPY_MAX_JOBS)
		c->max_slots = COPY_MAX_JOBS;
}

void copy_fini(struct copy *c)
{
	struct copy_slot *s;

	while ((s = c->slots)) {
		c->slots = s->all;
		nfs_op_fini(&s->op);
		free(s->buf);
		free(s);
	}
}

int copy_wait(struct copy *c, unsigned n)
{
	while (!c->fatal && (c->n_jobs >= n || (n == 1 && c->n_finishing))) {
		int r = loop_wait(c->loop, -1);

		if (r)
			c->fatal = r;
		tool_progress_add(&c->progress, 0, NULL);
	}
	return c->fatal;
}

void copy_abort(struct copy *c)
{
	struct copy_job *j, *next;
	uint64_t until = tool_now_ns() + ABORT_NS;

	c->loop->deaf = true;
	for (j = c->jobs; j; j = next) {
		next = j->next;
		copy_job_cancel(j);
	}
	while ((c->n_jobs || c->n_finishing) && tool_now_ns() < until)
		if (loop_wait(c->loop, 100))
			break;
	if (c->n_jobs || c->n_finishing) {
		tool_error("the server does not answer: temporary files may be left "
		           "there");
		fflush(NULL);
		_exit(loop_exit_code(TOOL_FAILED));
	}
}

void copy_failed(struct copy *c, const char *label, const struct nfs_client *client,
                 int status)
{
	c->failed++;
	if (status == -EINTR || status == -ECANCELED || status == -EPIPE)
		return;
	tool_progress_end(&c->progress);
	tool_error("%s: %s", tool_quote(label),
	           client ? nfs_words(client, status) : strerror(-status));
}

/* ---- Slots ------------------------------------------------------------------------
 */

struct copy_slot *copy_slot_get(struct copy *c, struct copy_job *j)
{
	struct copy_slot *s = c->free_slots;

	if (s) {
		c->free_slots = s->next;
	} else {
		if (c->n_slots == c->max_slots)
			return NULL;
		s = calloc(1, sizeof(*s));
		if (!s)
			return NULL;
		s->buf = malloc(c->io_bytes);
		if (!s->buf) {
			free(s);
			return NULL;
		}
		s->all = c->slots;
		c->slots = s;
		c->n_slots++;
	}
	s->job = j;
	s->next = NULL;
	return s;
}

void copy_slot_put(struct copy_slot *s)
{
	struct copy *c = s->job->copy;

	s->job = NULL;
	s->next = c->free_slots;
	c->free_slots = s;
	while (c->free_slots) {
		struct copy_job *j = c->jobs;

		while (j && !j->waiting)
			j = j->next;
		if (!j)
			break;
		j->waiting = false;
		copy_job_go(j);
	}
}

/* ---- Attributes ---------------------------------------------------------------------
 */

uint32_t copy_mode(const struct copy *c, const struct copy_meta *m)
{
	return c->preserve ? m->mode : m->mode & 0777 & ~c->umask;
}

/* Owners are for the superuser to set; set-id bits go with them. */
static bool with_owner(const struct copy *c, bool no_owner)
{
	return c->preserve && !no_owner && geteuid() == 0;
}

void copy_sattr(const struct copy *c, const struct copy_meta *m, bool no_owner,
                sattr3 *ret)
{
	bool owner = with_owner(c, no_owner);

	memset(ret, 0, sizeof(*ret));
	ret->mode.set_it = true;
	ret->mode.set_mode3_u.mode = copy_mode(c, m) & (owner ? 07777 : 01777);
	if (owner) {
		ret->uid.set_it = true;
		ret->uid.set_uid3_u.uid = m->uid;
		ret->gid.set_it = true;
		ret->gid.set_gid3_u.gid = m->gid;
	}
	if (c->preserve) {
		ret->atime.set_it = SET_TO_CLIENT_TIME;
		ret->atime.set_atime_u.atime = m->atime;
		ret->mtime.set_it = SET_TO_CLIENT_TIME;
		ret->mtime.set_mtime_u.mtime = m->mtime;
	}
}

int copy_set_local(const struct copy *c, int fd, const struct copy_meta *m)
{
	struct timespec t[2] = {{m->atime.seconds, (long)m->atime.nseconds},
	                        {m->mtime.seconds, (long)m->mtime.nseconds}};
	bool owner = with_owner(c, false);

	if (owner && fchown(fd, m->uid, m->gid))
		owner = false; /* as cp(1): wished for, not required */
	if (fchmod(fd, copy_mode(c, m) & (owner ? 07777 : 01777)))
		return -errno;
	if (c->preserve && futimens(fd, t))
		return -errno;
	return 0;
}

/* ---- Directories
 * ---------------------------------------------------------------------- */

static struct copy_dir *new_dir(struct copy *c, struct copy_dir *parent,
                                const char *label)
{
	struct copy_dir *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->copy = c;
	d->refs = 1;
	d->fd = -1;
	d->label = label ? strdup(label) : NULL;
	d->parent = parent;
	if (parent) {
		d->client = parent->client;
		copy_dir_get(parent);
	}
	return d;
}

struct copy_dir *copy_dir_local(struct copy *c, int fd)
{
	struct copy_dir *d = new_dir(c, NULL, NULL);

	if (d)
		d->fd = fd;
	return d;
}

struct copy_dir *copy_dir_remote(struct copy *c, struct nfs_client *client,
                                 const struct nfs_fh *fh, const fattr3 *attr)
{
	struct copy_dir *d = new_dir(c, NULL, NULL);

	if (!d)
		return NULL;
	d->client = client;
	d->fh = *fh;
	d->fsid = attr->fsid;
	d->fileid = attr->fileid;
	return d;
}

static int make_local(struct copy_dir *d, const char *name, uint32_t mode,
                      bool *ret_made)
{
	*ret_made = mkdirat(d->parent->fd, name, mode) == 0;
	if (!*ret_made && errno != EEXIST)
		return -errno;
	/* Not through a symbolic link: it could lead anywhere. */
	d->fd = openat(d->parent->fd, name,
	               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return d->fd < 0 ? -errno : 0;
}

static int make_remote(struct copy_dir *d, const char *name, uint32_t mode,
                       bool *ret_made)
{
	fattr3 attr;
	int r = nfs_mkdir(d->client, &d->parent->fh, name, mode, &d->fh, &attr,
	                  ret_made);

	if (!r) {
		d->fsid = attr.fsid;
		d->fileid = attr.fileid;
	}
	return r;
}

struct copy_dir *copy_dir_make(struct copy_dir *parent, const char *name,
                               const struct copy_meta *meta, const char *label)
{
	struct copy *c = parent->copy;
	struct copy_dir *d = new_dir(c, parent, label);
	uint32_t mode = copy_mode(c, meta) & 01777;
	bool made = false;
	int r;

	if (!d) {
		copy_failed(c, label, NULL, -ENOMEM);
		return NULL;
	}
	d->meta = *meta;
	r = d->client ? make_remote(d, name, mode | 0700, &made)
	              : make_local(d, name, mode | 0700, &made);
	if (r) {
		if (r == -EINTR)
			c->fatal = r;
		copy_failed(c, label, d->client, r);
		copy_dir_put(d);
		return NULL;
	}
	d->finish = c->preserve || (made && (mode | 0700) != mode);
	return d;
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
	free(d);
	if (parent)
		copy_dir_put(parent);
}

static void finish_remote(struct copy_dir *d);

static void on_finished(struct nfs_op *op, void *arg)
{
	struct copy_dir *d = arg;

	d->copy->n_finishing--;
	if (op->status == (int)NFS3ERR_PERM && !d->no_owner) {
		d->no_owner = true;
		finish_remote(d);
		return;
	}
	if (op->status)
		copy_failed(d->copy, d->label, d->client, op->status);
	free_dir(d);
}

static void finish_remote(struct copy_dir *d)
{
	SETATTR3args a = {.object = nfs_fh_arg(&d->fh)};

	copy_sattr(d->copy, &d->meta, d->no_owner, &a.new_attributes);
	d->copy->n_finishing++;
	nfs_op_start(&d->op, NFSPROC3_SETATTR, &a, on_finished, d);
}

void copy_dir_put(struct copy_dir *d)
{
	int r;

	if (--d->refs)
		return;
	if (!d->finish || d->copy->fatal) {
		free_dir(d);
	} else if (d->client) {
		nfs_op_init(&d->op, d->client);
		finish_remote(d);
	} else {
		r = copy_set_local(d->copy, d->fd, &d->meta);
		if (r)
			copy_failed(d->copy, d->label, NULL, r);
		free_dir(d);
	}
}
