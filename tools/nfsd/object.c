/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open objects by handle, so that a READ is one pread.  object_get() finds or opens an
 * object and adds a reference; object_put() releases the reference.  The cache closes
 * the oldest objects when there are too many, and objects that have been idle for some
 * seconds, because an open descriptor prevents unmounting.  An object with unstable
 * data stays in the cache until the data are on storage (stable.c).  A descriptor for
 * writing is closed sooner, because it prevents others from executing the file.
 *
 * Workers run the operations that may take long, without holding the cache's lock.
 * They tidy objects (sync the data, then close the descriptor for writing) and free
 * them.  Closing a descriptor may take long, because the file system may then free the
 * blocks of a large removed file.
 *
 * Descriptors are opened with the server's own identity, after object_permit() has
 * asked the kernel whether the caller has permission (access control lists included).
 * Each object caches the permissions of two callers until the object's mode or owner
 * changes, but no longer than PERMIT_SECONDS.  As with other NFS servers, the owner may
 * read and write a file whatever its mode, like a local process that opened the file
 * before the mode changed.  A user who may execute a file may also read the file.
 *                                                             [RFC 1813 §4.4]
 */
#include "nfsd.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PERMIT_SECONDS = 3,
	IDLE_SECONDS = 10, /* idle time after which an object is freed */
	CLEAN_SECONDS = 1, /* idle time after which a clean write_fd is closed */
	ROOM_SECONDS = 1,  /* idle time if no descriptors are left */
};

void objects_init(struct object_cache *c, unsigned most)
{
	memset(c, 0, sizeof(*c));
	c->most = most;
	c->max = most - most / 5 < 1024 ? most - most / 5 : 1024;
	pthread_mutex_init(&c->lock, NULL);
}

static unsigned find_bucket(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t h = 2166136261u;

	/* The handle's seal is already a digest, so it serves as the hash. */
	for (size_t i = 8; i < 16 && i < len; i++)
		h = (h ^ p[i]) * 16777619u;
	return h % 1024;
}

/* Frees an object.  May sleep while the file system frees the blocks of a removed
 * file. */
static void free_object(struct object *o)
{
	close(o->path_fd);
	if (o->read_fd >= 0)
		close(o->read_fd);
	if (o->write_fd >= 0)
		object_close_written(o, o->write_fd);
	pthread_mutex_destroy(&o->lock);
	object_syncs_fini(&o->syncs);
	export_put(o->nfsd, o->ex);
	free(o);
}

static void run_free_object(struct worker_job *job)
{
	free_object((struct object *)job); /* @job is the first member */
}

/* Frees the objects in @list, which are no longer in the cache.  If freeing an object
 * may sleep, a worker of its file system frees it; but the caller's thread frees
 * objects on the file system @mine.  The caller must not hold the cache's lock. */
static void dispose_objects(struct object *list, const struct filesystem *mine)
{
	struct object *o;

	while ((o = list)) {
		struct filesystem *fs = o->ex->fs;

		list = o->hash_next;
		o->job = (struct worker_job){.run = run_free_object};
		if (fs == mine || fs->kind == FS_AWAKE ||
		    workers_queue(&fs->workers, &o->job))
			free_object(o);
	}
}

/* Removes an object from the cache.  If the object has no references, adds it to the
 * list @gone. */
static void drop_object(struct object_cache *c, struct object *o, struct object **gone)
{
	struct object **p = &c->buckets[find_bucket(o->fh.octets, o->fh.len)];

	if (o->hashed) {
		while (*p != o)
			p = &(*p)->hash_next;
		*p = o->hash_next;
		*(o->newer ? &o->newer->older : &c->newest) = o->older;
		*(o->older ? &o->older->newer : &c->oldest) = o->newer;
		o->hashed = false;
		c->n--;
	}
	if (!o->refs) {
		o->hash_next = *gone;
		*gone = o;
	}
}

static void link_newest_object(struct object_cache *c, struct object *o)
{
	o->newer = NULL;
	o->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = o;
	c->newest = o;
}

static void touch_object(struct object_cache *c, struct object *o)
{
	o->used = nfsd_now_seconds();
	if (c->newest == o)
		return;
	o->newer->older = o->older;
	*(o->older ? &o->older->newer : &c->oldest) = o->newer;
	link_newest_object(c, o);
}

static void insert_object(struct object_cache *c, struct object *o)
{
	struct object **b = &c->buckets[find_bucket(o->fh.octets, o->fh.len)];

	o->hash_next = *b;
	*b = o;
	o->hashed = true;
	o->used = nfsd_now_seconds();
	link_newest_object(c, o);
	c->n++;
}

/* Finds the object for a handle, or returns NULL.  Ignores objects of exports that are
 * no longer live, because a different file system with the same handles may have been
 * mounted there. */
static struct object *find_hashed(struct object_cache *c, const void *data, size_t len)
{
	struct object *o = c->buckets[find_bucket(data, len)];

	while (o &&
	       (!o->ex->live || o->fh.len != len || memcmp(o->fh.octets, data, len)))
		o = o->hash_next;
	return o;
}

/* Closes the descriptor for writing unless another thread may be using it.  While the
 * caller has the only reference, the cache's lock is sufficient, and the object's lock
 * is not needed. */
static void close_write_fd(struct object *o)
{
	struct object_cache *c = &o->nfsd->objects;
	int fd = -1;

	pthread_mutex_lock(&c->lock);
	if (o->refs == 1 && !object_is_dirty(o)) {
		fd = o->write_fd;
		o->write_fd = -1;
	}
	o->tidying = false;
	pthread_mutex_unlock(&c->lock);
	if (fd >= 0)
		object_close_written(o, fd);
}

static void run_tidy_object(struct worker_job *job)
{
	struct object *o = (struct object *)job; /* @job is the first member */

	object_settle(o);
	close_write_fd(o);
	object_put(o->nfsd, o);
}

/* Has a worker tidy an object that has no references.  If no worker is available,
 * leaves the object unchanged; the caller tries again later.  The caller holds the
 * cache's lock. */
static void queue_tidy(struct object *o)
{
	o->job = (struct worker_job){.run = run_tidy_object};
	if (!workers_queue(&o->ex->fs->workers, &o->job)) {
		o->tidying = true;
		o->refs++;
	}
}

/* Drops the oldest objects until @left remain, not counting objects that are being
 * tidied. */
static void trim_cache(struct object_cache *c, unsigned left, struct object **gone)
{
	struct object *o, *newer;
	unsigned going = 0;

	for (o = c->oldest; o && c->n - going > left; o = newer) {
		newer = o->newer;
		if (o->tidying) {
			going++;
		} else if (!o->refs && object_is_dirty(o)) {
			queue_tidy(o);
			going++;
		} else if (!o->refs) {
			drop_object(c, o, gone);
		}
	}
}

/* If there are too many objects, drops a sixteenth of them at once, because each call
 * may wake a worker. */
static void trim_full_cache(struct object_cache *c, struct object **gone)
{
	if (c->n > c->max)
		trim_cache(c, c->max - c->max / 16, gone);
}

/* Drops an object that has been idle for IDLE_SECONDS, or has it tidied if its data are
 * not on storage.  Also has an idle object tidied to close its write_fd. */
static void expire_object(struct object_cache *c, struct object *o, time_t now,
                          struct object **gone)
{
	bool dirty = object_is_dirty(o), old = now - o->used >= IDLE_SECONDS;

	if (o->refs)
		return;
	if (old && !dirty)
		drop_object(c, o, gone);
	else if (old || (o->write_fd >= 0 && !dirty && now - o->used > CLEAN_SECONDS))
		queue_tidy(o);
}

void objects_expire(struct nfsd *d)
{
	struct object_cache *c = &d->objects;
	struct object *o, *newer, *gone = NULL;
	time_t now = nfsd_now_seconds();

	pthread_mutex_lock(&c->lock);
	for (o = c->oldest; o && now - o->used > CLEAN_SECONDS; o = newer) {
		newer = o->newer;
		expire_object(c, o, now, &gone);
	}
	pthread_mutex_unlock(&c->lock);
	dispose_objects(gone, NULL);
}

bool objects_make_room(struct nfsd *d, int fd, int e, const struct filesystem *mine)
{
	struct object_cache *c = &d->objects;
	struct object *o, *newer, *gone = NULL;
	time_t limit = nfsd_now_seconds() - ROOM_SECONDS;

	if (e != -EMFILE && e != -ENFILE)
		return false;
	pthread_mutex_lock(&c->lock);
	for (o = c->oldest; o && o->used <= limit; o = newer) {
		newer = o->newer;
		if (!o->refs && object_is_dirty(o))
			queue_tidy(o);
		else if (!o->refs)
			drop_object(c, o, &gone);
	}
	pthread_mutex_unlock(&c->lock);
	if (!gone)
		warn_about(WARN_FILES, fd, "no file descriptor is left for a request",
		           e);
	e = !gone;
	dispose_objects(gone, mine);
	return !e;
}

void objects_fini(struct nfsd *d)
{
	struct object_cache *c = &d->objects;
	struct object *gone = NULL;

	while (c->oldest)
		drop_object(c, c->oldest, &gone);
	dispose_objects(gone, NULL); /* frees them here: the workers have ended */
	pthread_mutex_destroy(&c->lock);
}

/* Makes an object without references, and takes ownership of @fd.  Returns 0 or a
 * negative errno. */
static int new_object(struct nfsd *d, struct export *ex, const struct handle *h, int fd,
                      const struct statx *st, struct object **ret)
{
	struct object *o = calloc(1, sizeof(*o));
	uint64_t ino, place;

	if (!o) {
		close(fd);
		return -ENOMEM;
	}
	export_hold(d, ex);
	o->nfsd = d;
	o->ex = ex;
	o->fh = *h;
	o->covered = handle_covered(h, &ino, &place);
	o->path_fd = fd;
	o->read_fd = o->write_fd = -1;
	o->type = st->stx_mode & S_IFMT;
	o->ino = st->stx_ino;
	pthread_mutex_init(&o->lock, NULL);
	object_syncs_init(&o->syncs);
	*ret = o;
	return 0;
}

static int open_object(struct nfsd *d, struct export *ex, const struct handle *h,
                       struct object **ret)
{
	uint64_t ino, place;
	struct statx st;
	int fd, e = handle_open(d, ex, h, &fd);

	if (e)
		return e;
	e = statx_fd(fd, "", &st);
	if (!e && !handle_inside(ex, &st))
		e = -ESTALE;
	if (!e && handle_covered(h, &ino, &place))
		e = covered_stat(d, ex, h, fd, &st);
	if (e) {
		close(fd);
		return e;
	}
	return new_object(d, ex, h, fd, &st, ret);
}

/* Returns the cached object for a handle, with a reference, or NULL. */
static struct object *get_cached_object(struct object_cache *c, const void *data,
                                        size_t len)
{
	struct object *o;

	pthread_mutex_lock(&c->lock);
	o = find_hashed(c, data, len);
	if (o) {
		o->refs++;
		touch_object(c, o);
	}
	pthread_mutex_unlock(&c->lock);
	return o;
}

/* Adds the new object @o to the cache and takes ownership of it, or finds the object
 * that another thread has added in the meantime.  Returns 0 and a reference, or -EAGAIN
 * if the cache is full of objects that are in use or not yet on storage. */
static int enter_object(struct object_cache *c, struct object *o, struct object **ret)
{
	struct object *other, *gone = NULL;
	int e = 0;

	pthread_mutex_lock(&c->lock);
	other = find_hashed(c, o->fh.octets, o->fh.len);
	if (other) {
		other->refs++;
		touch_object(c, other);
	} else {
		trim_full_cache(c, &gone);
		if (c->n >= c->most) {
			e = -EAGAIN;
			warn_about(WARN_FILES, o->path_fd,
			           "too many files are in use or not yet on storage",
			           e);
		} else {
			o->refs++;
			insert_object(c, o);
		}
	}
	pthread_mutex_unlock(&c->lock);
	dispose_objects(gone, NULL);
	if (other || e)
		free_object(o);
	if (!e)
		*ret = other ? other : o;
	return e;
}

struct object *object_find(struct nfsd *d, const nfs_fh3 *fh)
{
	return get_cached_object(&d->objects, fh->data.data_val, fh->data.data_len);
}

/* Opens an object with the server's own identity.  Afterwards, the thread has the
 * identity @id.  Returns 0 or a negative errno. */
static int open_as_server(struct nfsd *d, struct export *ex, const struct handle *h,
                          const struct ident *id, struct object **ret)
{
	int e;

	if (ident_enter_server())
		return -EIO;
	e = open_object(d, ex, h, ret);
	if (objects_make_room(d, ex->root_fd, e, ex->fs))
		e = open_object(d, ex, h, ret);
	if (ident_enter(id)) {
		if (!e)
			free_object(*ret);
		return -EIO;
	}
	return e;
}

int object_get(struct nfsd *d, const nfs_fh3 *fh, const struct ident *id,
               struct object **ret)
{
	struct object *o = object_find(d, fh);
	struct export *ex;
	struct handle h;
	int e;

	if (o) { /* the handle was verified when the object was opened */
		*ret = o;
		return 0;
	}
	e = handle_verify(d, fh->data.data_val, fh->data.data_len, &ex);
	if (e)
		return e;
	memset(&h, 0, sizeof(h));
	memcpy(h.octets, fh->data.data_val, fh->data.data_len);
	h.len = fh->data.data_len;
	e = open_as_server(d, ex, &h, id, &o);
	export_put(d, ex);
	return e ? e : enter_object(&d->objects, o, ret);
}

int object_adopt(struct nfsd *d, struct export *ex, const struct handle *h, int fd,
                 const struct statx *st, struct object **ret)
{
	struct object *o = get_cached_object(&d->objects, h->octets, h->len);
	int e;

	if (o) {
		close(fd);
		*ret = o;
		return 0;
	}
	e = new_object(d, ex, h, fd, st, &o);
	return e ? e : enter_object(&d->objects, o, ret);
}

void object_put(struct nfsd *d, struct object *o)
{
	struct object_cache *c = &d->objects;
	struct object *gone = NULL;

	if (!o)
		return;
	pthread_mutex_lock(&c->lock);
	o->refs--;
	if (!o->refs && !o->hashed)
		drop_object(c, o, &gone);
	else
		trim_full_cache(c, &gone);
	pthread_mutex_unlock(&c->lock);
	dispose_objects(gone, NULL);
}

void object_forget(struct nfsd *d, const struct handle *h)
{
	struct object_cache *c = &d->objects;
	struct object *o = get_cached_object(c, h->octets, h->len), *gone = NULL;
	struct statx st;

	if (!o)
		return;
	if (S_ISDIR(o->type) || object_stat(o, &st) == -ESTALE) {
		pthread_mutex_lock(&c->lock);
		drop_object(c, o, &gone); /* not freed: we have a reference */
		pthread_mutex_unlock(&c->lock);
	}
	object_put(d, o);
}

int object_stat(struct object *o, struct statx *ret)
{
	int e = o->covered ? covered_stat(o->nfsd, o->ex, &o->fh, o->path_fd, ret)
	                   : statx_fd(o->path_fd, "", ret);

	if (e)
		return e;
	return ret->stx_nlink ? 0 : -ESTALE;
}

void object_proc_path(const struct object *o, char ret[32])
{
	snprintf(ret, 32, "/proc/self/fd/%d", o->path_fd);
}

/* Calls faccessat2 directly, because the kernel checks the thread's identity for file
 * access, whereas glibc's faccessat may emulate AT_EACCESS with stat. */
int object_access(const struct object *o, int want)
{
	char path[32];

	if (o->covered)
		return want & W_OK ? -EACCES : 0;
	if (o->nfsd->old_access) { /* unprivileged: the process has only one identity */
		object_proc_path(o, path);
		return access(path, want) ? -errno : 0;
	}
	if (!syscall(SYS_faccessat2, o->path_fd, "", want, AT_EACCESS | AT_EMPTY_PATH))
		return 0;
	return -errno;
}

static bool is_perm_valid(const struct object_perm *p, const struct ident *id,
                          const struct statx *st, time_t now)
{
	return p->checked && now - p->checked < PERMIT_SECONDS &&
	       p->mode == st->stx_mode && p->uid == st->stx_uid &&
	       p->gid == st->stx_gid && ident_same(&p->who, id);
}

/* Returns the cached permissions of the caller @id, or an empty slot for them.  The
 * caller holds o->lock. */
static struct object_perm *find_perm(struct object *o, const struct ident *id,
                                     const struct statx *st)
{
	time_t now = nfsd_now_seconds();
	struct object_perm *p = o->perms;

	if (is_perm_valid(&p[0], id, st, now))
		return &p[0];
	if (is_perm_valid(&p[1], id, st, now))
		return &p[1];
	if (p[0].checked > p[1].checked)
		p++;
	*p = (struct object_perm){.who = *id,
	                          .mode = st->stx_mode,
	                          .uid = st->stx_uid,
	                          .gid = st->stx_gid,
	                          .checked = now};
	return p;
}

static int ask_permission(struct object *o, const struct ident *id,
                          const struct statx *st, int want, bool owner_may)
{
	struct object_perm *p = find_perm(o, id, st);
	int e;

	if ((p->granted & want) == want)
		return 0;
	if (owner_may && st->stx_uid == id->uid)
		return 0;
	e = object_access(o, want);
	if (e == -EACCES && want == R_OK && owner_may && S_ISREG(o->type))
		e = object_access(o, X_OK);
	if (!e)
		p->granted |= want;
	return e;
}

int object_permit(struct object *o, const struct ident *id, int want, bool owner_may)
{
	struct statx st;
	int e = object_stat(o, &st);

	if (e)
		return e;
	pthread_mutex_lock(&o->lock);
	e = ask_permission(o, id, &st, want, owner_may);
	pthread_mutex_unlock(&o->lock);
	return e;
}

/* Opens the object again through /proc, because O_PATH descriptors do no I/O.  Returns
 * 0 or a negative errno. */
static int reopen_object(struct object *o, const struct ident *id, int flags, int *ret)
{
	char path[32];
	int fd, e;

	object_proc_path(o, path);
	if (ident_enter_server())
		return -EIO;
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	e = fd < 0 ? -errno : 0;
	if (objects_make_room(o->nfsd, o->path_fd, e, o->ex->fs)) {
		fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		e = fd < 0 ? -errno : 0;
	}
	if (ident_enter(id)) {
		if (!e)
			close(fd);
		return -EIO;
	}
	if (!e)
		*ret = fd;
	return e;
}

/* Finds or opens the descriptor in @slot.  Checks the permissions @want; @st has the
 * object's attributes, and may be NULL if @want is 0. */
static int get_object_fd(struct nfsd *d, struct object *o, const struct ident *id,
                         const struct statx *st, int want, int flags, int *slot,
                         int *ret)
{
	int e = 0, fd = -1;

	pthread_mutex_lock(&o->lock);
	/* Without privilege, all callers are served with the server's identity, and
	 * open() checks permissions. */
	if (d->privileged && want)
		e = ask_permission(o, id, st, want, true);
	if (!e && *slot < 0) {
		e = reopen_object(o, id, flags, &fd);
		if (!e)
			*slot = fd;
	}
	if (!e)
		*ret = *slot;
	pthread_mutex_unlock(&o->lock);
	return e;
}

int object_read_fd(struct nfsd *d, struct object *o, const struct ident *id,
                   const struct statx *st, int *ret)
{
	return get_object_fd(d, o, id, st, R_OK, O_RDONLY, &o->read_fd, ret);
}

int object_open_read_fd(struct nfsd *d, struct object *o, const struct ident *id,
                        const struct statx *st, int *ret)
{
	time_t now = nfsd_now_seconds();
	bool may = !d->privileged || st->stx_uid == id->uid;

	if (pthread_mutex_trylock(&o->lock))
		return NFSD_WOULD_SLEEP;
	for (int i = 0; i < 2 && !may; i++)
		may = is_perm_valid(&o->perms[i], id, st, now) &&
		      o->perms[i].granted & R_OK;
	*ret = o->read_fd;
	pthread_mutex_unlock(&o->lock);
	return may && *ret >= 0 ? 0 : NFSD_WOULD_SLEEP;
}

int object_write_fd(struct nfsd *d, struct object *o, const struct ident *id,
                    const struct statx *st, int *ret)
{
	return get_object_fd(d, o, id, st, W_OK, O_WRONLY, &o->write_fd, ret);
}

/* Uses read_fd for reading the entries.  Unlike a file's owner, a directory's owner
 * needs read permission. */
int object_dir_fd(struct nfsd *d, struct object *o, const struct ident *id, int *ret)
{
	struct statx st;
	int e = d->privileged ? object_permit(o, id, R_OK, false) : object_stat(o, &st);

	return e ? e
	         : get_object_fd(d, o, id, NULL, 0, O_RDONLY | O_DIRECTORY, &o->read_fd,
	                         ret);
}

int object_sync_fd(struct nfsd *d, struct object *o, const struct ident *id, int *ret)
{
	return get_object_fd(d, o, id, NULL, 0, O_RDONLY, &o->read_fd, ret);
}

int object_commit_fd(struct nfsd *d, struct object *o, const struct ident *id, int *ret)
{
	bool written;

	pthread_mutex_lock(&o->lock);
	written = o->write_fd >= 0;
	pthread_mutex_unlock(&o->lock);
	if (written)
		return get_object_fd(d, o, id, NULL, 0, O_WRONLY, &o->write_fd, ret);
	return object_sync_fd(d, o, id, ret);
}

void object_keep_write_fd(struct object *o, int fd)
{
	pthread_mutex_lock(&o->lock);
	if (o->write_fd < 0) {
		o->write_fd = fd;
		fd = -1;
	}
	pthread_mutex_unlock(&o->lock);
	if (fd >= 0)
		close(fd);
}
