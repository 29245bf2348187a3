/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that copy jobs share, for slots, waiting for jobs, failures, and
 * attributes. */
#define _GNU_SOURCE /* AT_EMPTY_PATH */
#include "client/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABORT_NS       5000000000u
#define COPY_MIN_LARGE 16 /* large slots, even if few READs and WRITEs are in flight */

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

static void init_pools(struct copy *c)
{
	c->small.bytes = c->io_bytes < COPY_SMALL ? c->io_bytes : COPY_SMALL;
	c->small.max = COPY_MAX_JOBS;
	c->large.bytes = c->io_bytes;
	c->large.max = COPY_BUFFERS / c->io_bytes;
	if (c->large.max > 2 * c->in_flight)
		c->large.max = 2 * c->in_flight;
	if (c->large.max < COPY_MIN_LARGE)
		c->large.max = COPY_MIN_LARGE;
}

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
	init_pools(c);
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

static unsigned count_running(const struct copy *c)
{
	return c->n_jobs + c->n_making + c->n_finishing;
}

int copy_wait(struct copy *c, unsigned n)
{
	while (!c->fatal && count_running(c) >= n) {
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
	copy_dir_cancel_making(c);
	while (count_running(c) && tool_now_ns() < until)
		if (loop_wait(c->loop, 100))
			break;
	if (count_running(c)) {
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

struct copy_pool *copy_pool_for(struct copy *c, uint32_t len)
{
	return len <= c->small.bytes ? &c->small : &c->large;
}

static struct copy_slot *new_slot(struct copy_pool *p, struct copy *c)
{
	struct copy_slot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->buf = malloc(p->bytes);
	if (!s->buf) {
		free(s);
		return NULL;
	}
	s->pool = p;
	s->all = c->slots;
	c->slots = s;
	p->n++;
	return s;
}

struct copy_slot *copy_slot_get(struct copy_pool *p, struct copy_job *j)
{
	struct copy_slot *s = p->free;

	if (s)
		p->free = s->next;
	else if (p->n < p->max)
		s = new_slot(p, j->copy);
	if (!s)
		return NULL;
	s->job = j;
	s->next = NULL;
	return s;
}

static struct copy_job *find_starved_job(const struct copy *c,
                                         const struct copy_pool *p)
{
	struct copy_job *j = c->jobs;

	while (j && j->waiting != p)
		j = j->next;
	return j;
}

void copy_slot_put(struct copy_slot *s)
{
	struct copy *c = s->job->copy;
	struct copy_pool *p = s->pool;
	struct copy_job *j;

	s->job = NULL;
	s->next = p->free;
	p->free = s;
	while (p->free && (j = find_starved_job(c, p))) {
		j->waiting = NULL;
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
