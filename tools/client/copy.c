/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that copy jobs share, for slots, waiting for jobs, failures, and
 * destination directories.
 *
 * A directory's own attributes are set only when its last child is finished.  A
 * directory without write permission would refuse children, and each child changes the
 * directory's times.  Until then, children hold references to their parent.
 */
#define _GNU_SOURCE /* O_PATH, AT_EMPTY_PATH */
#include "client/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABORT_NS 5000000000u

/* Converts a time for the wire.  The protocol's seconds are unsigned; a time out of
 * range becomes the nearest time in range. */
static nfstime3 convert_timespec(const struct timespec *t)
{
	if (t->tv_sec < 0)
		return (nfstime3){0, 0};
	if (t->tv_sec > UINT32_MAX)
		return (nfstime3){UINT32_MAX, 0};
	return (nfstime3){(uint32_t)t->tv_sec, (uint32_t)t->tv_nsec};
}

static ftype3 convert_mode(mode_t mode)
{
	return S_ISREG(mode)   ? NF3REG
	       : S_ISDIR(mode) ? NF3DIR
	       : S_ISLNK(mode) ? NF3LNK
	                       : NF3FIFO;
}

void copy_meta_from_stat(const struct stat *s, struct copy_meta *ret)
{
	*ret = (struct copy_meta){
	        .type = convert_mode(s->st_mode),
	        .mode = s->st_mode & 07777,
	        .uid = s->st_uid,
	        .gid = s->st_gid,
	        .nlink = (uint32_t)s->st_nlink,
	        .size = (uint64_t)s->st_size,
	        .used = (uint64_t)s->st_blocks * 512,
	        .fsid = s->st_dev,
	        .fileid = s->st_ino,
	        .atime = convert_timespec(&s->st_atim),
	        .mtime = convert_timespec(&s->st_mtim),
	        .ctime = convert_timespec(&s->st_ctim),
	};
}

void copy_meta_from_attr(const fattr3 *a, struct copy_meta *ret)
{
	*ret = (struct copy_meta){.type = a->type,
	                          .mode = a->mode & 07777,
	                          .uid = a->uid,
	                          .gid = a->gid,
	                          .nlink = a->nlink,
	                          .size = a->size,
	                          .used = a->used,
	                          .fsid = a->fsid,
	                          .fileid = a->fileid,
	                          .atime = a->atime,
	                          .mtime = a->mtime,
	                          .ctime = a->ctime};
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
	/* No other job may run while cp asks the user or chooses a backup's name. */
	c->max_jobs = c->ask || c->backup ? 1 : COPY_MAX_JOBS;
}

void copy_fini(struct copy *c)
{
	struct copy_slot *s;

	copy_made_free(c->made);
	copy_links_free(c->links);
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

	c->loop->ignores_signal = true;
	for (j = c->jobs; j; j = next) {
		next = j->next;
		copy_job_cancel(j);
	}
	while ((c->n_jobs || c->n_finishing) && tool_now_ns() < until)
		if (loop_wait(c->loop, 100))
			break;
	if (c->n_jobs || c->n_finishing) {
		tool_error(
		        "the server does not answer; temporary files may remain there");
		fflush(NULL);
		_exit(loop_exit_code(TOOL_FAILED));
	}
}

void copy_report_failure(struct copy *c, const char *act, const char *label,
                         const struct nfs_client *client, int status)
{
	c->failed++;
	if (status == -EINTR || status == -ECANCELED || status == TOOL_REPORTED)
		return;
	tool_progress_end(&c->progress);
	if (client)
		(void)nfs_report(client, act, label, status); /* already counted */
	else
		tool_cannot(act, label, strerror(-status));
}

/* ---- Slots --------------------------------------------------------------- */

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

/* ---- Attributes ---------------------------------------------------------- */

uint32_t copy_mode(const struct copy *c, const struct copy_meta *m)
{
	return c->preserve ? m->mode : m->mode & 0777 & ~c->umask;
}

void copy_sattr(const struct copy *c, const struct copy_meta *m, uint32_t mode,
                sattr3 *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->mode.set_it = true;
	ret->mode.set_mode3_u.mode = mode;
	if (c->preserve) {
		ret->atime.set_it = SET_TO_CLIENT_TIME;
		ret->atime.set_atime_u.atime = m->atime;
		ret->mtime.set_it = SET_TO_CLIENT_TIME;
		ret->mtime.set_mtime_u.mtime = m->mtime;
	}
}

void copy_sattr_owner(const struct copy_meta *m, sattr3 *ret)
{
	ret->uid.set_it = true;
	ret->uid.set_uid3_u.uid = m->uid;
	ret->gid.set_it = true;
	ret->gid.set_gid3_u.gid = m->gid;
}

int copy_own_local(int fd, const struct copy_meta *m)
{
	int error;

	if (!fchownat(fd, "", m->uid, m->gid, AT_EMPTY_PATH))
		return 0;
	error = errno;
	(void)!fchownat(fd, "", (uid_t)-1, m->gid,
	                AT_EMPTY_PATH); /* a failure is ignored, as in cp(1) */
	return -error;
}

int copy_set_local(const struct copy *c, int fd, const struct copy_meta *m,
                   uint32_t mode)
{
	struct timespec t[2] = {{m->atime.seconds, (long)m->atime.nseconds},
	                        {m->mtime.seconds, (long)m->mtime.nseconds}};
	char self[40];

	/* fchmod does not work on O_PATH descriptors. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fchmod(fd, mode) && (errno != EBADF || chmod(self, mode)))
		return -errno;
	if (c->preserve && futimens(fd, t) &&
	    (errno != EBADF || utimensat(AT_FDCWD, self, t, 0)))
		return -errno;
	return 0;
}

/* ---- Directories --------------------------------------------------------- */

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

static int make_local_dir(struct copy_dir *d, uint32_t mode)
{
	struct stat sb;

	d->fresh = mkdirat(d->parent->fd, d->text, mode) == 0;
	if (!d->fresh && errno != EEXIST)
		return -errno;
	/* O_NOFOLLOW: a symbolic link could lead anywhere. */
	d->fd = copy_dir_open(d->parent->fd, d->text, O_NOFOLLOW);
	if (d->fd < 0 || fstat(d->fd, &sb))
		return -errno;
	d->fsid = sb.st_dev;
	d->fileid = sb.st_ino;
	d->owned = sb.st_uid == d->meta.uid && sb.st_gid == d->meta.gid;
	return 0;
}

static int make_remote_dir(struct copy_dir *d, uint32_t mode)
{
	fattr3 attr;
	int r = nfs_mkdir(d->client, &d->parent->fh, d->text, mode, &d->fh, &attr,
	                  &d->fresh);

	if (r)
		return r;
	d->fsid = attr.fsid;
	d->fileid = attr.fileid;
	d->owned = attr.uid == d->meta.uid && attr.gid == d->meta.gid;
	/* Only root can change the owner; others can set one of their groups. */
	d->no_owner = geteuid() != 0 && attr.uid != d->meta.uid;
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

struct copy_dir *copy_dir_make(struct copy_dir *parent, const char *name,
                               const struct copy_meta *meta, const char *label)
{
	struct copy *c = parent->copy;
	struct copy_dir *d = new_dir(c, parent, name);
	uint32_t mode = copy_mode(c, meta) & 01777;
	int r;

	if (!d) {
		copy_report_failure(c, "create directory", name, NULL, -ENOMEM);
		return NULL;
	}
	d->meta = *meta;
	r = d->client ? make_remote_dir(d, mode | 0700)
	              : make_local_dir(d, mode | 0700);
	if (r) {
		if (r == -EINTR)
			c->fatal = r;
		if (r == -ENOTDIR || r == (int)NFS3ERR_NOTDIR)
			refuse_non_directory(d, label);
		else
			report_dir_failure(d, "create directory", r);
		copy_dir_put(d);
		return NULL;
	}
	d->finish = c->preserve || (d->fresh && (mode | 0700) != mode);
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
	if (!d->finish || d->copy->fatal) {
		free_dir(d);
	} else if (d->client) {
		nfs_op_init(&d->op, d->client);
		finish_remote_dir(d);
	} else {
		finish_local_dir(d);
		free_dir(d);
	}
}
