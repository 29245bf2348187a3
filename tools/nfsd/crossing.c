/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mounted file systems that are served as part of an export; see crossing.h.
 *
 * The first request that reaches a mount creates a record for the mounted file system,
 * using only the mount table.  The mounted file system's workers open and close the
 * record's descriptors.  Open descriptors do not change while there are references to
 * the record.
 */
#include "nfsd.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { IDLE_SECONDS = 1 /* idle time after which a record's descriptors are closed */ };

void crossings_init(struct crossings *c)
{
	*c = (struct crossings){.first = NULL};
	pthread_mutex_init(&c->lock, NULL);
	mount_table_init(&c->mounts);
}

void crossings_fini(struct nfsd *d)
{
	struct export *ex;

	while ((ex = d->crossings.first)) {
		d->crossings.first = ex->next;
		export_free(ex);
	}
	for (unsigned i = 0; i < CROSSINGS_PLACES; i++)
		free(d->crossings.places[i].path);
	mount_table_fini(&d->crossings.mounts);
	pthread_mutex_destroy(&d->crossings.lock);
}

struct export *export_top(const struct export *ex)
{
	return (struct export *)(uintptr_t)(ex->top ? ex->top : ex);
}

void export_hold(struct nfsd *d, struct export *ex)
{
	if (!ex->top)
		return;
	pthread_mutex_lock(&d->crossings.lock);
	ex->users++;
	pthread_mutex_unlock(&d->crossings.lock);
}

void export_put(struct nfsd *d, struct export *ex)
{
	if (!ex || !ex->top)
		return;
	pthread_mutex_lock(&d->crossings.lock);
	ex->users--;
	if (!ex->users)
		ex->idle_since = nfsd_now_seconds();
	pthread_mutex_unlock(&d->crossings.lock);
}

/* -- places ---------------------------------------------------------------- */

/* Writes the path of the open file @fd to @ret, as seen from this process's root.
 * Returns 0 or a negative errno. */
static int read_fd_path(int fd, char *ret, size_t size)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	ret[n] = 0;
	return *ret == '/' ? 0 : -ENOENT;
}

/* Returns the part of @path below @root, or NULL if @path is not below @root. */
static const char *strip_top_path(const char *root, const char *path)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0;

	return !strncmp(path, root, n) && path[n] == '/' && path[n + 1] ? path + n + 1
	                                                                : NULL;
}

/* Returns true if @l is mounted below the mount @id, directly or through other
 * mounts. */
static bool is_mounted_below(const struct mount_table *m, const struct mount_line *l,
                             uint64_t id)
{
	for (unsigned i = 0; l && i < HANDLE_MAX_DEPTH; i++) {
		if (l->parent == id)
			return true;
		l = l->parent == l->id ? NULL : mount_table_find(m, l->parent);
	}
	return false;
}

static uint64_t digest_place(const struct nfsd *d, const struct export *ex,
                             const char *place)
{
	return export_digest(d, "mount point\n%" PRIx64 "\n%s", ex->fsid, place);
}

/* Returns the fsid of a mounted file system.  The fsid survives restarts, and changes
 * if a different file system is mounted at the same place. */
static uint64_t digest_mount(const struct nfsd *d, const struct export *top,
                             const char *place, const struct mount_line *l)
{
	return export_digest(d, "mounted\n%" PRIx64 "\n%s\n%s\n%s\n%s", top->fsid,
	                     place, l->root, l->type, l->source);
}

/* -- records (the caller holds the lock) ----------------------------------- */

static uint64_t digest_source(const struct nfsd *d, const struct mount_line *l)
{
	return export_digest(d, "source\n%u:%u\n%s\n%s", l->dev_major, l->dev_minor,
	                     l->type, l->source);
}

/* Returns true if the record's mount still exists.  The kernel reuses mount IDs, so the
 * source is compared as well. */
static bool is_mounted(const struct nfsd *d, const struct export *ex)
{
	const struct mount_line *l = mount_table_find(&d->crossings.mounts, ex->mnt_id);

	return l && (!ex->source || ex->source == digest_source(d, l));
}

/* Reads the mount table again if it has changed, and retires each record whose mount or
 * export no longer exists. */
static void refresh_records(struct nfsd *d)
{
	struct crossings *c = &d->crossings;
	bool changed = mount_table_refresh(&c->mounts);

	for (struct export *ex = c->first; ex; ex = ex->next) {
		if (!ex->top->live || !ex->top->crossmnt)
			ex->live = false;
		if (changed && !is_mounted(d, ex))
			ex->live = false;
	}
}

static struct export *find_record(struct nfsd *d, const struct export *top,
                                  const char *place, uint64_t id)
{
	struct export *ex = d->crossings.first;

	while (ex && (!ex->live || ex->top != top || ex->mnt_id != id ||
	              strcmp(ex->dir, place) != 0))
		ex = ex->next;
	return ex;
}

static unsigned count_records(struct nfsd *d, const struct export *top)
{
	unsigned n = 0;

	for (const struct export *ex = d->crossings.first; ex; ex = ex->next)
		n += ex->live && ex->top == top;
	return n;
}

static int name_record(struct export *ex, const char *place)
{
	const char *above = strcmp(ex->top->name, "/") ? ex->top->name : "";

	ex->dir = strdup(place);
	if (asprintf(&ex->name, "%s/%s", above, place) < 0)
		ex->name = NULL;
	return ex->dir && ex->name ? 0 : -ENOMEM;
}

static struct export *make_record(struct nfsd *d, struct export *top, const char *place,
                                  const struct mount_line *l)
{
	struct export *ex = export_alloc(d);

	if (!ex)
		return NULL;
	ex->top = top;
	ex->mnt_id = l->id;
	ex->mnt_id_known = true;
	ex->fsid = digest_mount(d, top, place, l);
	ex->id = export_handle_id(ex->fsid);
	ex->source = l->path ? digest_source(d, l) : 0;
	if (name_record(ex, place) || !(ex->fs = fs_get_by_mount(d, l))) {
		export_free(ex);
		return NULL;
	}
	ex->idle_since = nfsd_now_seconds();
	ex->live = true;
	ex->next = d->crossings.first;
	d->crossings.first = ex;
	return ex;
}

/* Returns true if @l may be served.  The kernel's pseudo file systems are not served,
 * nor are autofs mount points where nothing is mounted yet. */
static bool is_wanted(const struct export *top, const struct mount_line *l)
{
	static const char *const not_files[] = {
	        "autofs",   "binfmt_misc", "bpf",       "cgroup",   "cgroup2",
	        "configfs", "debugfs",     "devpts",    "efivarfs", "fusectl",
	        "mqueue",   "nfsd",        "proc",      "pstore",   "rpc_pipefs",
	        "resctrl",  "securityfs",  "selinuxfs", "smackfs",  "sysfs",
	        "tracefs",
	};

	for (size_t i = 0; i < sizeof(not_files) / sizeof(not_files[0]); i++)
		if (!strcmp(l->type, not_files[i]))
			return false;
	return top->live && top->crossmnt;
}

/* Returns the record for @l, creating it if necessary.  Returns NULL if @l is not
 * served. */
static struct export *get_record(struct nfsd *d, struct export *top, const char *place,
                                 const struct mount_line *l)
{
	struct export *ex;

	if (!is_wanted(top, l))
		return NULL;
	ex = find_record(d, top, place, l->id);
	if (ex)
		return ex;
	if (count_records(d, top) < CROSSINGS_MAX)
		ex = make_record(d, top, place, l);
	if (!ex)
		warn_about(WARN_CROSSING, top->root_fd,
		           "too many file systems are mounted beneath this export; "
		           "some are shown as empty directories",
		           0);
	return ex;
}

/* -- finding --------------------------------------------------------------- */

/* Returns true if @st describes the root of a subvolume: a directory on a different
 * file system, but within the export's mount. */
static bool is_subvolume(const struct export *ex, const struct statx *st)
{
	if (st->stx_mask & STATX_MNT_ID && st->stx_mnt_id != ex->mnt_id)
		return false;
	return S_ISDIR(st->stx_mode) && !handle_inside(ex, st);
}

static void remember_place(struct nfsd *d, const struct export *ex, uint64_t place,
                           const char *path)
{
	struct crossings *c = &d->crossings;
	struct crossing_place *p;

	for (unsigned i = 0; i < CROSSINGS_PLACES; i++) {
		p = &c->places[i];
		if (p->path && p->fsid == ex->fsid && p->place == place)
			return;
	}
	p = &c->places[c->next_place++ % CROSSINGS_PLACES];
	free(p->path);
	*p = (struct crossing_place){ex->fsid, place, strdup(path)};
}

/* Fills @ret for a subvolume as if the subvolume were mounted at @place. */
static void find_subvolume(struct nfsd *d, struct export *ex, const char *place,
                           struct mounted *ret)
{
	char type[] = "subvolume", nothing[] = "";
	const struct mount_line l = {.id = ex->mnt_id,
	                             .dev_major = ex->fs->dev_major,
	                             .dev_minor = ex->fs->dev_minor,
	                             .root = nothing,
	                             .type = type,
	                             .source = nothing};

	*ret = (struct mounted){.ex = get_record(d, export_top(ex), place, &l),
	                        .place = digest_place(d, ex, place)};
	if (!ret->ex)
		remember_place(d, ex, ret->place, place);
}

static int find_mounted(struct nfsd *d, struct export *ex, const char *path,
                        const char *place, bool subvolume, struct mounted *ret)
{
	struct mount_line *l;

	refresh_records(d);
	l = mount_table_at(&d->crossings.mounts, ex->mnt_id, path);
	if (!l && !subvolume) { /* a parent directory may have been renamed */
		d->crossings.mounts.known = false;
		refresh_records(d);
		l = mount_table_at(&d->crossings.mounts, ex->mnt_id, path);
	}
	if (l)
		*ret = (struct mounted){.ex = get_record(d, export_top(ex), place, l),
		                        .id = l->id,
		                        .covered = l->covered,
		                        .place = digest_place(d, ex, place)};
	else if (subvolume)
		find_subvolume(d, ex, place, ret);
	else
		return -EACCES;
	if (ret->ex)
		ret->ex->users++;
	return 0;
}

int crossing_at(struct nfsd *d, struct export *ex, int fd, const char *name,
                const struct statx *st, struct mounted *ret)
{
	char root[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	const char *place;
	size_t n;
	int e = read_fd_path(export_top(ex)->root_fd, root, sizeof(root));

	if (!e)
		e = read_fd_path(fd, path, PATH_MAX);
	if (e)
		return -EACCES;
	n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "%s%s", n > 1 ? "/" : "", name);
	place = strip_top_path(root, path);
	if (!place)
		return -EACCES;
	pthread_mutex_lock(&d->crossings.lock);
	e = find_mounted(d, ex, path, place, is_subvolume(ex, st), ret);
	pthread_mutex_unlock(&d->crossings.lock);
	return e;
}

void crossing_names(struct nfsd *d, const struct export *ex, struct mount_names *ret)
{
	pthread_mutex_lock(&d->crossings.lock);
	refresh_records(d);
	mount_table_names(&d->crossings.mounts, ex->mnt_id, ret);
	pthread_mutex_unlock(&d->crossings.lock);
}

void crossing_learn(struct nfsd *d, uint64_t id, uint64_t covered)
{
	struct mount_line *l;

	pthread_mutex_lock(&d->crossings.lock);
	l = mount_table_find(&d->crossings.mounts, id);
	if (l)
		l->covered = covered;
	pthread_mutex_unlock(&d->crossings.lock);
}

/* Searches the mount table for a mount below @top whose handles contain the number @id,
 * and creates its record.  Returns NULL if there is no such mount. */
static struct export *search_mount_table(struct nfsd *d, struct export *top,
                                         uint32_t id)
{
	const struct mount_table *m = &d->crossings.mounts;
	char root[PATH_MAX];
	const char *place;

	if (!top->live || !top->crossmnt ||
	    read_fd_path(top->root_fd, root, sizeof(root)))
		return NULL;
	for (unsigned i = 0; i < m->n; i++) {
		const struct mount_line *l = &m->all[i];

		place = strip_top_path(root, l->path);
		if (place && export_handle_id(digest_mount(d, top, place, l)) == id &&
		    !mount_table_at(m, l->id, l->path) &&
		    is_mounted_below(m, l, top->mnt_id))
			return get_record(d, top, place, l);
	}
	return NULL;
}

static bool has_crossmnt_export(const struct nfsd *d)
{
	for (unsigned i = 0; i < d->n_exports; i++)
		if (d->exports[i]->live && d->exports[i]->crossmnt)
			return true;
	return false;
}

struct export *crossing_find(struct nfsd *d, uint32_t id)
{
	struct export *ex;

	if (!has_crossmnt_export(d))
		return NULL;
	pthread_mutex_lock(&d->crossings.lock);
	refresh_records(d);
	ex = d->crossings.first;
	while (ex && (!ex->live || ex->id != id))
		ex = ex->next;
	for (unsigned i = 0; i < d->n_exports && !ex; i++)
		ex = search_mount_table(d, d->exports[i], id);
	if (ex)
		ex->users++;
	pthread_mutex_unlock(&d->crossings.lock);
	return ex;
}

struct export *crossing_of_mount(struct nfsd *d, struct export *ex, uint64_t id)
{
	struct export *top = export_top(ex), *found = NULL;
	const struct mount_line *l;
	char root[PATH_MAX];
	const char *place;

	if (id == top->mnt_id)
		return top;
	if (read_fd_path(top->root_fd, root, sizeof(root)))
		return NULL;
	pthread_mutex_lock(&d->crossings.lock);
	refresh_records(d);
	l = mount_table_find(&d->crossings.mounts, id);
	place = l ? strip_top_path(root, l->path) : NULL;
	if (place)
		found = get_record(d, top, place, l);
	if (found)
		found->users++;
	pthread_mutex_unlock(&d->crossings.lock);
	return found;
}

static bool can_serve(struct nfsd *d, const struct export *top, const char *place,
                      uint64_t id)
{
	return find_record(d, top, place, id) || count_records(d, top) < CROSSINGS_MAX;
}

/* Returns the path of the mount point whose path has the digest @place, if clients see
 * the mount point as an empty directory.  Otherwise returns NULL.  The caller holds the
 * lock. */
static const char *find_covered_path(struct nfsd *d, struct export *ex,
                                     const char *root, uint64_t place)
{
	const struct crossings *c = &d->crossings;
	const struct export *top = export_top(ex);
	const struct mount_line *l;
	const char *path;

	refresh_records(d);
	for (unsigned i = 0; i < c->mounts.n; i++) {
		if (c->mounts.all[i].parent != ex->mnt_id)
			continue;
		path = strip_top_path(root, c->mounts.all[i].path);
		if (!path || digest_place(d, ex, path) != place)
			continue;
		l = mount_table_at(&c->mounts, ex->mnt_id, c->mounts.all[i].path);
		/* The server may have begun to serve this file system after the handle
		 * was made. */
		return is_wanted(top, l) && can_serve(d, top, path, l->id) ? NULL
		                                                           : path;
	}
	for (unsigned i = 0; i < CROSSINGS_PLACES; i++) {
		path = c->places[i].path;
		if (path && c->places[i].fsid == ex->fsid &&
		    c->places[i].place == place)
			return top->live && top->crossmnt &&
			                       can_serve(d, top, path, ex->mnt_id)
			               ? NULL
			               : path;
	}
	return NULL;
}

int crossing_covers(struct nfsd *d, struct export *ex, uint64_t place, char *ret,
                    size_t size)
{
	char root[PATH_MAX], *slash;
	const char *found;
	int e = read_fd_path(export_top(ex)->root_fd, root, sizeof(root));

	if (e)
		return -ESTALE;
	pthread_mutex_lock(&d->crossings.lock);
	found = find_covered_path(d, ex, root, place);
	if (!found)
		e = -ESTALE;
	else if ((size_t)snprintf(ret, size, "./%s", found) >= size)
		e = -ENAMETOOLONG;
	pthread_mutex_unlock(&d->crossings.lock);
	slash = e ? NULL : strrchr(ret, '/');
	if (slash)
		*slash = 0;
	return e;
}

/* -- descriptors ----------------------------------------------------------- */

/* Returns a digest that distinguishes the file system from one that was mounted earlier
 * at the same place.  WALK handles contain it, because they have no generation
 * number. */
static uint16_t make_mark(struct nfsd *d, int fd, const struct statx *root)
{
	struct {
		uint64_t fsid, ino, born;
	} key = {0, root->stx_ino, walk_born(root)};
	struct statfs s;

	if (!fstatfs(fd, &s) && sizeof(s.f_fsid) <= sizeof(key.fsid))
		memcpy(&key.fsid, &s.f_fsid, sizeof(s.f_fsid));
	return (uint16_t)rr_siphash_once(d->key, &key, sizeof(key));
}

/* Opens the record's root directory.  Opening may hang, so the caller must hold
 * open_lock; other threads that need the root then wait for that lock. */
static int open_root(struct nfsd *d, struct export *ex)
{
	struct statx st;
	uint64_t id;
	int e = 0, fd = open_beneath(ex->top->root_fd, ex->dir, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? -ESTALE : fd;
	if (mount_id_of(fd, &id) || id != ex->mnt_id)
		e = -ESTALE; /* another mount covers this one, or this one was moved */
	if (!e)
		e = statx_fd(fd, "", &st);
	if (!e && !S_ISDIR(st.stx_mode))
		e = -EACCES; /* a regular file bind-mounted on another file */
	if (e) {
		close(fd);
		return e;
	}
	ex->root_fd = fd;
	ex->mark = make_mark(d, fd, &st);
	return export_prepare(d, ex, &st);
}

static void close_root(struct export *ex)
{
	if (ex->mount_fd >= 0)
		close(ex->mount_fd);
	if (ex->root_fd >= 0)
		close(ex->root_fd);
	ex->root_fd = ex->mount_fd = -1;
}

/* Retires a record whose mount is no longer at the recorded path: a parent directory
 * was renamed, and the kernel does not report that.  The next request creates a new
 * record. */
static void retire_record(struct nfsd *d, struct export *ex)
{
	pthread_mutex_lock(&d->crossings.lock);
	ex->live = false;
	d->crossings.mounts.known = false;
	pthread_mutex_unlock(&d->crossings.lock);
}

int crossing_open(struct nfsd *d, struct export *ex)
{
	int e = 0;

	if (!ex->top)
		return 0;
	pthread_mutex_lock(&ex->open_lock);
	if (ex->root_fd < 0)
		e = open_root(d, ex);
	if (e)
		close_root(ex);
	pthread_mutex_unlock(&ex->open_lock);
	if (e == -ESTALE)
		retire_record(d, ex);
	return e;
}

/* A job that closes a record's descriptors or frees a record.  A worker runs it,
 * because closing may sleep. */
struct remains {
	struct worker_job job; /* first member */
	struct export *ex;     /* record to free; NULL = close the descriptors only */
	int root_fd, mount_fd;
};

static void close_remains(struct worker_job *job)
{
	struct remains *r = (struct remains *)job; /* @job is the first member */

	if (r->ex) {
		export_free(r->ex);
	} else {
		if (r->mount_fd >= 0)
			close(r->mount_fd);
		close(r->root_fd);
	}
	free(r);
}

/* Has a worker of the record's file system close an unused record's descriptors, or
 * free the record if it is retired.  Returns false if there is not enough memory or no
 * worker thread can be started.  The caller holds the lock. */
static bool queue_remains(struct export *ex)
{
	struct remains *r = malloc(sizeof(*r));

	if (!r)
		return false;
	*r = (struct remains){.job = {.run = close_remains}};
	if (ex->live) {
		r->root_fd = ex->root_fd;
		r->mount_fd = ex->mount_fd;
	} else {
		r->ex = ex;
	}
	if (workers_queue(&ex->fs->workers, &r->job)) {
		free(r);
		return false;
	}
	return true;
}

void crossings_expire(struct nfsd *d)
{
	struct export **link = &d->crossings.first, *ex;
	time_t now = nfsd_now_seconds();

	pthread_mutex_lock(&d->crossings.lock);
	if (d->crossings.first)
		refresh_records(d);
	while ((ex = *link)) {
		struct export *next = ex->next;
		bool old = !ex->users && now - ex->idle_since > IDLE_SECONDS;
		bool live = ex->live;

		if (old && (!live || ex->root_fd >= 0) && queue_remains(ex)) {
			if (live)
				ex->root_fd = ex->mount_fd = -1;
			else
				*link = next;
		}
		if (*link == ex)
			link = &ex->next;
	}
	pthread_mutex_unlock(&d->crossings.lock);
}
