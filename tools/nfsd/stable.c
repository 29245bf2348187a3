/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which data must be on storage, and when.
 *
 * An unstable WRITE leaves its data in the page cache.  If the data are lost, the
 * kernel reports the loss once through each descriptor that is open at the time; a
 * descriptor opened later may never report it.  So an object with unstable data stays
 * in the cache, together with the descriptor through which the data were written, until
 * a sync has succeeded.  A failed sync changes the write verifier, and clients send
 * their uncommitted data again [RFC 1813 §3.3.7, §3.3.21].  Usually the sync is a
 * COMMIT; otherwise a worker syncs the object before it leaves the cache (object.c).
 *
 * Only one thread at a time syncs an object.  Other threads that have changed the object
 * wait until that sync ends; then one of them syncs the object for all of them, because
 * a sync includes every change that was made before it began.  So requests that change
 * the same directory share syncs.  The kernel reports lost data only once through each
 * descriptor, so an earlier sync may have received the error for a thread's data.  Each
 * thread therefore also checks whether another sync has failed since its request
 * arrived.
 *
 * A file without any remaining name is not synced, because no COMMIT can ask for it.
 *
 * Unless --async is given, changed names and attributes are on storage before the reply
 * is sent [RFC 1813 §4.8].  An object that has a descriptor is synced through that
 * descriptor.  For other objects (a symbolic link, a device, a file that this server
 * cannot open), the whole file system is synced.
 */
#include "op.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void nfsd_get_verf(struct nfsd *d, uint8_t ret[NFS3_WRITEVERFSIZE])
{
	pthread_mutex_lock(&d->lock);
	memcpy(ret, d->write_verf, NFS3_WRITEVERFSIZE);
	pthread_mutex_unlock(&d->lock);
}

void nfsd_renew_verf(struct nfsd *d)
{
	uint8_t v[NFS3_WRITEVERFSIZE];

	if (getrandom(v, sizeof(v), 0) != sizeof(v)) {
		struct timespec t;

		/* The new verifier only has to differ from the previous one. */
		clock_gettime(CLOCK_REALTIME, &t);
		memcpy(v, &t.tv_nsec, sizeof(v));
	}
	pthread_mutex_lock(&d->lock);
	memcpy(d->write_verf, v, sizeof(v));
	pthread_mutex_unlock(&d->lock);
}

/* Changes the verifier before other threads can see the failure, counts the failure,
 * and prints a warning. */
static void report_loss(struct object *o, const char *what, int e)
{
	struct nfsd *d = o->nfsd;

	nfsd_renew_verf(d);
	atomic_store(&o->failed, atomic_fetch_add(&d->sync_failures, 1) + 1);
	warn_about(WARN_LOST, o->path_fd, what, e);
}

/* Records that the object's first @n unstable WRITEs are on storage or were reported as
 * lost. */
static void raise_settled(struct object *o, uint64_t n)
{
	uint64_t was = atomic_load(&o->settled);

	while (was < n && !atomic_compare_exchange_weak(&o->settled, &was, n))
		;
}

void object_syncs_init(struct object_syncs *s)
{
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ended, NULL);
}

void object_syncs_fini(struct object_syncs *s)
{
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
}

/* Syncs the object, without regard to other syncs.  Returns 0 or a negative errno. */
static int sync_alone(struct object *o, int fd, bool data_only)
{
	uint64_t n = atomic_load(&o->written);
	bool all = fd == o->ex->mount_fd;
	int e = (all ? syncfs(fd) : data_only ? fdatasync(fd) : fsync(fd)) ? -errno : 0;

	if (e == -EINVAL)
		e = 0; /* the file system cannot sync such an object */
	if (e)
		report_loss(o,
		            "data did not reach storage, clients have to write "
		            "uncommitted data again",
		            e);
	if (e || (!data_only && !all))
		raise_settled(o, n);
	return e;
}

/* Syncs the object, while other threads wait.  The caller holds the lock; the function
 * releases it during the sync. */
static void lead_sync(struct object *o, int fd, bool data_only)
{
	struct object_syncs *s = &o->syncs;
	uint64_t number = ++s->begun;
	int e;

	s->running = true;
	pthread_mutex_unlock(&s->lock);
	e = sync_alone(o, fd, data_only);
	pthread_mutex_lock(&s->lock);
	s->running = false;
	s->last.number = number;
	s->last.fd = fd;
	s->last.data_only = data_only;
	s->last.error = e;
	pthread_cond_broadcast(&s->ended);
}

/* Returns true if the last sync used @fd, included attributes unless @data_only is true,
 * and was not one of the first @after syncs. */
static bool is_synced(const struct object_syncs *s, uint64_t after, int fd,
                      bool data_only)
{
	return s->last.number > after && s->last.fd == fd &&
	       (data_only || !s->last.data_only);
}

int object_sync(struct nfsd *d, struct object *o, int fd, bool data_only,
                uint64_t failures)
{
	struct object_syncs *s = &o->syncs;
	uint64_t after;
	int e;

	(void)d;
	pthread_mutex_lock(&s->lock);
	after = s->begun;
	while (!is_synced(s, after, fd, data_only)) {
		if (s->running)
			pthread_cond_wait(&s->ended, &s->lock);
		else
			lead_sync(o, fd, data_only);
	}
	e = s->last.error;
	pthread_mutex_unlock(&s->lock);
	if (e)
		return e;
	return atomic_load(&o->failed) > failures ? -EIO : 0;
}

void object_count_write(struct object *o)
{
	atomic_fetch_add(&o->written, 1);
}

bool object_is_dirty(const struct object *o)
{
	return atomic_load(&o->written) != atomic_load(&o->settled);
}

void object_settle(struct object *o)
{
	struct statx st;
	int fd;

	if (!object_is_dirty(o))
		return;
	pthread_mutex_lock(&o->lock);
	fd = o->write_fd; /* write_fd stays open while the object is dirty */
	pthread_mutex_unlock(&o->lock);
	if (object_stat(o, &st) == -ESTALE)
		raise_settled(o, atomic_load(&o->written));
	else
		(void)object_sync(o->nfsd, o, fd, false,
		                  0); /* object_sync itself warns about a failure */
}

void object_close_written(struct object *o, int fd)
{
	if (close(fd) && errno != EINTR)
		report_loss(o,
		            "data were lost on close, clients have to write "
		            "uncommitted data again",
		            -errno);
}

void op_sync_change(struct op *op, struct object *o)
{
	bool opens = S_ISREG(o->type) || S_ISDIR(o->type);
	int fd;

	if (op->nfsd->async)
		return;
	if (!opens || object_commit_fd(op->nfsd, o, &op->id, &fd))
		fd = o->ex->mount_fd;
	if (fd >= 0) /* otherwise the server cannot even read the export's root */
		op_sync(op, o, fd);
}
