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

/*
 * The kernel reports lost data only once for each descriptor.  If two syncs overlap,
 * only one of them fails, although the lost data may matter to the caller of the other.
 * So a successful sync waits for all other syncs in progress, and checks whether one of
 * them failed.
 */
int object_sync(struct nfsd *d, struct object *o, int fd, bool data_only,
                uint64_t failures)
{
	uint64_t n = atomic_load(&o->written);
	bool all = fd == o->ex->mount_fd;
	int e;

	(void)d;
	pthread_rwlock_rdlock(&o->syncing);
	e = (all ? syncfs(fd) : data_only ? fdatasync(fd) : fsync(fd)) ? -errno : 0;
	if (e == -EINVAL)
		e = 0; /* the file system cannot sync such an object */
	if (e)
		report_loss(o,
		            "data did not reach storage, clients have to write "
		            "uncommitted data again",
		            e);
	if (e || (!data_only && !all))
		raise_settled(o, n);
	pthread_rwlock_unlock(&o->syncing);
	if (e)
		return e;
	pthread_rwlock_wrlock(&o->syncing);
	pthread_rwlock_unlock(&o->syncing);
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
