/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exported directories, and the secret that authenticates handles.
 *
 * An export's number in handles is a digest of its directory, its name and its root's
 * inode.  The number survives restarts, and changes when another directory is exported
 * under the same name.  The secret is created once and kept in the state directory, in
 * the file handle.key (mode 0600).  If this file is lost, all handles become stale at
 * the next restart.
 */
#include "nfsd.h"
#include "tool.h"
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { KEY_BYTES = 16 }; /* size of handle.key: two little-endian words */

/* Returns a copy of a path with single slashes, such as "/a/b" for "/a//b/", or NULL if
 * there is no memory. */
static char *clean_name(const char *s)
{
	char *r = malloc(strlen(s) + 2), *p = r;

	if (!r)
		return NULL;
	while (*s) {
		while (*s == '/')
			s++;
		if (*s)
			*p++ = '/';
		while (*s && *s != '/')
			*p++ = *s++;
	}
	if (p == r)
		*p++ = '/';
	*p = 0;
	return r;
}

/* Removes a known option from the end of @spec.  Returns false if @spec does not end
 * with such an option: any other text after a comma is part of the name. */
static bool take_export_suffix(char *spec, struct export_options *ret)
{
	char *comma = strrchr(spec, ',');

	if (!comma || !export_option_parse(comma + 1, ret))
		return false;
	*comma = 0;
	return true;
}

/* Sets a new export's directory and name from @spec, which the function modifies.
 * Error messages begin with @where.  Returns 0 or -EINVAL. */
static int set_export_names(struct export *ex, char *spec, const char *where)
{
	char *colon = strstr(spec, ":/");

	if (colon)
		*colon = 0;
	ex->dir = realpath(spec, NULL);
	if (!ex->dir) {
		tool_error("%scannot export %s: %s", where, spec, strerror(errno));
		return -EINVAL;
	}
	ex->name = clean_name(colon ? colon + 1 : ex->dir);
	if (!ex->name || strlen(ex->name) > MNTPATHLEN) {
		tool_error("%scannot export %s: name too long", where, spec);
		return -EINVAL;
	}
	return 0;
}

void export_free(struct export *ex)
{
	for (unsigned s = 0; ex->walk && s < WALK_SLOTS; s++)
		free(ex->walk[s].name);
	free(ex->walk);
	if (ex->clients)
		clients_free(ex->clients);
	free(ex->clients);
	if (ex->mount_fd >= 0)
		close(ex->mount_fd);
	if (ex->root_fd >= 0)
		close(ex->root_fd);
	fs_put(ex->nfsd, ex->fs);
	pthread_mutex_destroy(&ex->walk_lock);
	pthread_mutex_destroy(&ex->open_lock);
	free(ex->dir);
	free(ex->name);
	free(ex);
}

struct export *export_alloc(struct nfsd *d)
{
	struct export *ex = calloc(1, sizeof(*ex));

	if (!ex)
		return NULL;
	ex->nfsd = d;
	ex->root_fd = ex->mount_fd = -1;
	pthread_mutex_init(&ex->walk_lock, NULL);
	pthread_mutex_init(&ex->open_lock, NULL);
	return ex;
}

/* Makes an export from "DIR[:/NAME]" without opening the directory.  On failure, prints
 * a message and returns NULL. */
static struct export *new_export(struct nfsd *d, const char *spec, const char *where)
{
	struct export *ex = export_alloc(d);
	char *given = strdup(spec);

	if (!ex || !given)
		tool_error("%scannot export %s: no memory", where, spec);
	if (ex && (!given || set_export_names(ex, given, where))) {
		export_free(ex);
		ex = NULL;
	}
	free(given);
	return ex;
}

static int refuse_taken_name(const struct export *ex, const char *where)
{
	tool_error("%stwo exports have the name %s", where, ex->name);
	return -EINVAL;
}

int export_add(struct nfsd *d, const char *spec)
{
	char *given = strdup(spec);
	struct export_options export_options = {.wcc = false};
	struct export *ex;

	while (given && take_export_suffix(given, &export_options))
		;

	if (d->n_exports == NFSD_MAX_EXPORTS) {
		tool_error("more than %d exports", NFSD_MAX_EXPORTS);
		free(given);
		return -EINVAL;
	}
	ex = new_export(d, given ? given : spec, "");
	free(given);
	if (!ex)
		return -EINVAL;
	ex->wcc = export_options.wcc;
	ex->crossmnt = export_options.crossmnt;
	ex->live = true;
	for (unsigned i = 0; i < d->n_exports; i++)
		if (!strcmp(d->exports[i]->name, ex->name)) {
			(void)refuse_taken_name(ex, "");
			export_free(ex);
			return -EINVAL;
		}
	d->exports[d->n_exports] = ex;
	d->n_exports++;
	return 0;
}

static void report_unknown_client(void *arg, const char *name, const char *reason)
{
	tool_log(TOOL_WARNING, "%sclient '%s' matches no host: %s", (const char *)arg,
	         name, reason);
}

/* Sets the export's wcc or crossmnt flag if any client in @l has that option. */
static void add_export_options(struct export *ex, const struct clients *l)
{
	struct export_options export_options = clients_export_options(l);

	if (export_options.wcc)
		ex->wcc = true;
	if (export_options.crossmnt)
		ex->crossmnt = true;
}

int export_allow(struct nfsd *d, const char *const *words, unsigned n)
{
	char reason[EXPORTS_REASON_BYTES];

	for (unsigned i = 0; i < d->n_exports && n; i++) {
		struct clients *l = calloc(1, sizeof(*l));
		int e = l ? 0 : -ENOMEM;

		d->exports[i]->clients = l;
		for (unsigned k = 0; k < n && !e; k++) {
			e = clients_add(l, words[k], &d->defaults,
			                (struct export_options){0}, reason);
			if (e)
				tool_error("--allow: %s", reason);
		}
		if (e)
			return -EINVAL;
		clients_resolve(l, report_unknown_client, "--allow: ");
		add_export_options(d->exports[i], l);
	}
	return 0;
}

/* Finds out whether the kernel opens the handles that it makes.  The kernel does so
 * only with CAP_DAC_READ_SEARCH, and not on every file system.  Returns 0 or a
 * negative errno. */
static int probe_handles(struct nfsd *d, struct export *ex)
{
	struct handle h;
	struct statx st;
	int fd, e;

	ex->by_handle = true;
	e = handle_make(d, ex, NULL, ex->root_fd, &h, &st);
	if (!e)
		e = handle_open_here(ex, &h, &fd);
	if (!e)
		close(fd);
	return e;
}

int export_prepare(struct nfsd *d, struct export *ex, const struct statx *st)
{
	int e = 0;

	ex->root_ino = st->stx_ino;
	ex->dev_major = st->stx_dev_major;
	ex->dev_minor = st->stx_dev_minor;
	ex->mount_fd = openat(ex->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ex->mount_fd < 0)
		e = -errno;
	else if (!ex->walk)
		e = probe_handles(d, ex);
	/* Do not fall back to WALK handles: existing KERNEL handles would become
	 * stale. */
	if (e == -EMFILE || e == -ENFILE || e == -ENOMEM)
		return e;
	ex->by_handle = !e && !ex->walk;
	if (!ex->by_handle && !ex->walk)
		ex->walk = calloc(WALK_SLOTS, sizeof(*ex->walk));
	return ex->by_handle || ex->walk ? 0 : -ENOMEM;
}

uint64_t export_digest(const struct nfsd *d, const char *fmt, ...)
{
	char text[4 * PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return rr_siphash_once(d->key, text,
	                       (size_t)n < sizeof(text) ? (size_t)n : sizeof(text));
}

uint32_t export_handle_id(uint64_t fsid)
{
	return (uint32_t)(fsid ^ fsid >> 32);
}

static void set_export_ids(struct nfsd *d, struct export *ex)
{
	ex->fsid =
	        export_digest(d, "%s\n%s\n%" PRIu64, ex->dir, ex->name, ex->root_ino);
	ex->id = export_handle_id(ex->fsid);
}

static int open_export(struct nfsd *d, struct export *ex, const char *where)
{
	struct statx st;
	int e;

	ex->root_fd = open(ex->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ex->root_fd < 0) {
		e = -errno;
		tool_error("%scannot export %s: %s", where, ex->dir, strerror(-e));
		return e;
	}
	e = statx_fd(ex->root_fd, "", &st);
	if (e) {
		tool_error("%scannot export %s: %s", where, ex->dir, strerror(-e));
		return e;
	}
	ex->mnt_id_known = !mount_id_of(ex->root_fd, &ex->mnt_id);
	ex->root_ino = st.stx_ino;
	ex->fs = fs_get_by_fd(d, ex->root_fd, &st);
	if (!ex->fs)
		return -ENOMEM;
	set_export_ids(d, ex);
	e = export_prepare(d, ex, &st);
	if (e)
		return e;
	e = handle_make(d, ex, NULL, ex->root_fd, &ex->root, &st);
	if (e)
		tool_error("%scannot export %s: %s", where, ex->dir, strerror(-e));
	return e;
}

bool export_is_root(const struct nfsd *d, const nfs_fh3 *fh)
{
	for (unsigned i = 0; i < d->n_exports; i++) {
		const struct handle *h = &d->exports[i]->root;

		if (d->exports[i]->live && fh->data.data_len == h->len &&
		    !memcmp(fh->data.data_val, h->octets, h->len))
			return true;
	}
	return false;
}

int export_open_all(struct nfsd *d)
{
	int e = 0;

	for (unsigned i = 0; i < d->n_exports && !e; i++)
		e = open_export(d, d->exports[i], "");
	return e;
}

void export_close_all(struct nfsd *d)
{
	for (unsigned i = 0; i < d->n_exports; i++)
		export_free(d->exports[i]);
	d->n_exports = 0;
}

/* -- files of exports ------------------------------------------------------ */

/* An entry from the exports file that has not been installed yet. */
struct stage {
	struct export *ex;
	struct clients *clients; /* owned */
	bool fresh;              /* @ex is new, and owned by the stage */
};

/* Returns the existing export that came from the exports file and matches @ex, or NULL.
 * Reusing this export keeps its handles valid. */
static struct export *find_same_export(struct nfsd *d, const struct export *ex)
{
	for (unsigned i = 0; i < d->n_exports; i++) {
		struct export *was = d->exports[i];

		if (was->from_file && was->fsid == ex->fsid &&
		    was->dev_major == ex->dev_major &&
		    was->dev_minor == ex->dev_minor && was->mnt_id == ex->mnt_id &&
		    was->by_handle == ex->by_handle && !strcmp(was->dir, ex->dir) &&
		    !strcmp(was->name, ex->name))
			return was;
	}
	return NULL;
}

static int check_export_name(const struct nfsd *d, const struct stage *all, unsigned n,
                             const char *where)
{
	for (unsigned i = 0; i < d->n_exports; i++)
		if (!d->exports[i]->from_file &&
		    !strcmp(d->exports[i]->name, all[n].ex->name))
			return refuse_taken_name(all[n].ex, where);
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(all[i].ex->name, all[n].ex->name))
			return refuse_taken_name(all[n].ex, where);
	return 0;
}

/* Refuses a client list with a Kerberos flavor if the server has no key, because the
 * server reads its key only at start. */
static int check_kerberos(const struct nfsd *d, const struct clients *l,
                          const char *where)
{
	for (unsigned i = 0; i < l->n && !d->kerberos; i++)
		if (sec_has_kerberos(&l->all[i].grant.flavors)) {
			tool_error("%s'%s' needs Kerberos, but the server was started "
			           "without it",
			           where, l->all[i].text);
			return -EINVAL;
		}
	return 0;
}

/* Makes all[n] from an entry in the file.  Even after an error, the caller must free
 * all[n]. */
static int stage_export(struct nfsd *d, struct exported *from, const char *file,
                        struct stage *all, unsigned n)
{
	struct export *was;
	char where[512];
	int e;

	snprintf(where, sizeof(where), "%.480s:%u: ", file, from->line);
	all[n] = (struct stage){.ex = new_export(d, from->spec, where), .fresh = true};
	if (!all[n].ex)
		return -EINVAL;
	all[n].ex->from_file = true;
	e = check_kerberos(d, &from->clients, where);
	if (!e)
		e = check_export_name(d, all, n, where);
	if (!e)
		e = open_export(d, all[n].ex, where);
	if (e)
		return e;
	was = find_same_export(d, all[n].ex);
	if (was) {
		export_free(all[n].ex);
		all[n].ex = was;
		all[n].fresh = false;
	}
	all[n].clients = malloc(sizeof(*all[n].clients));
	if (!all[n].clients)
		return -ENOMEM;
	clients_resolve(&from->clients, report_unknown_client, where);
	*all[n].clients = from->clients;
	from->clients = (struct clients){0};
	return 0;
}

static void free_stages(struct stage *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (all[i].fresh && all[i].ex)
			export_free(all[i].ex);
		if (all[i].clients)
			clients_free(all[i].clients);
		free(all[i].clients);
	}
}

static bool is_staged(const struct export *ex, const struct stage *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (all[i].ex == ex)
			return true;
	return false;
}

/* Installs the stages; this cannot fail.  Afterwards the stages own the client lists
 * that were replaced. */
static void install_stages(struct nfsd *d, struct stage *all, unsigned n)
{
	pthread_mutex_lock(&d->access.lock);
	for (unsigned i = 0; i < d->n_exports; i++)
		if (d->exports[i]->from_file && !is_staged(d->exports[i], all, n))
			d->exports[i]->live = false;
	for (unsigned i = 0; i < n; i++) {
		struct export *ex = all[i].ex;
		struct clients *was = ex->clients;

		ex->clients = all[i].clients;
		all[i].clients = was;
		ex->wcc = clients_export_options(ex->clients).wcc;
		ex->crossmnt = clients_export_options(ex->clients).crossmnt;
		if (all[i].fresh) {
			d->exports[d->n_exports] = ex;
			d->n_exports++;
		}
		all[i].fresh = false;
		ex->live = true;
	}
	d->access.generation++;
	pthread_mutex_unlock(&d->access.lock);
}

int export_install(struct nfsd *d, const char *file, struct exports_file *l)
{
	struct stage all[EXPORTS_MAX];
	unsigned n = 0, fresh = 0;
	int e = 0;

	while (n < l->n && !e) {
		e = stage_export(d, &l->all[n], file, all, n);
		fresh += all[n++].fresh;
	}
	if (!e && d->n_exports + fresh > NFSD_EXPORT_SLOTS) {
		tool_error("%s: more than %d directories since the start; restart the "
		           "server to drop the earlier ones",
		           file, NFSD_EXPORT_SLOTS);
		e = -E2BIG;
	}
	if (!e)
		install_stages(d, all, n);
	free_stages(all, n);
	return e;
}

/* -- the secret ------------------------------------------------------------ */

/* Works like mkdir -p.  Only the server's user has access to the new directories. */
static int make_dirs(char *path)
{
	for (char *p = path + 1;; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*p = was;
		if (!was)
			return 0;
	}
}

static int find_state_dir(char *ret, size_t size)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (geteuid() == 0)
		n = snprintf(ret, size, "/var/lib/rpcrdma");
	else if (xdg && *xdg == '/')
		n = snprintf(ret, size, "%s/rpcrdma", xdg);
	else if (home && *home == '/')
		n = snprintf(ret, size, "%s/.local/state/rpcrdma", home);
	return n > 0 && (size_t)n < size ? 0 : -ENOENT;
}

/* Reads the key.  Returns 0, -ENODATA if the file is empty, -EBADMSG if it has any
 * other wrong size, or another negative errno. */
static int read_handle_key(const char *path, uint64_t ret[2])
{
	uint8_t octets[KEY_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, octets, sizeof(octets));
	close(fd);
	if (n != KEY_BYTES)
		return n < 0 ? -EIO : n ? -EBADMSG : -ENODATA;
	memcpy(ret, octets, KEY_BYTES);
	ret[0] = le64toh(ret[0]);
	ret[1] = le64toh(ret[1]);
	return 0;
}

/* Writes the key to a temporary file and then links that file to @path.  If two servers
 * start at the same time, both therefore use the key that was linked first.  @dir is a
 * descriptor of the directory, for fsync. */
static int write_handle_key(int dir, const char *path, const uint64_t key[2])
{
	const uint64_t octets[2] = {htole64(key[0]), htole64(key[1])};
	char tmp[PATH_MAX];
	int fd, e = 0, n = snprintf(tmp, sizeof(tmp), "%s.%ld", path, (long)getpid());

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return -ENAMETOOLONG;
	(void)unlink(tmp); /* left by an earlier process with the same PID */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, octets, KEY_BYTES) != KEY_BYTES || fsync(fd))
		e = -EIO;
	close(fd);
	if (!e && link(tmp, path))
		e = -errno;
	(void)unlink(tmp);
	if (!e && fsync(dir) && errno != EINVAL)
		e = -errno;
	return e;
}

/* Reads the key from the file.  If the file does not exist or is empty, writes @key to
 * it.  An empty file never contained a key: the system crashed before the key reached
 * storage. */
static int load_handle_key(const char *where, const char *path, uint64_t key[2])
{
	int dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e;

	if (dir < 0)
		return -errno;
	e = read_handle_key(path, key);
	if (e == -ENODATA) {
		tool_log(TOOL_WARNING,
		         "%s is empty: a new key is made, and earlier file handles are "
		         "stale",
		         path);
		e = unlink(path) && errno != ENOENT ? -errno : -ENOENT;
	}
	if (e == -ENOENT) {
		e = write_handle_key(dir, path, key);
		if (e == -EEXIST)
			e = read_handle_key(path, key);
	}
	close(dir);
	if (e == -EBADMSG)
		tool_error("%s is damaged: restore it, or remove it, which makes file "
		           "handles stale",
		           path);
	return e;
}

int export_load_secret(struct nfsd *d, const char *dir)
{
	char where[PATH_MAX - 32], path[PATH_MAX];
	int e = 0;

	if (getrandom(d->key, sizeof(d->key), 0) != sizeof(d->key))
		return -EIO;
	if (dir && strlen(dir) < sizeof(where))
		strcpy(where, dir);
	else
		e = dir ? -ENAMETOOLONG : find_state_dir(where, sizeof(where));
	if (!e && *where)
		e = make_dirs(where);
	if (!e) {
		snprintf(path, sizeof(path), "%s/handle.key", where);
		e = load_handle_key(where, path, d->key);
	}
	if (e == -EBADMSG)
		return e; /* reported by load_handle_key */
	if (e && dir)
		tool_error("cannot keep state in %s: %s", dir, strerror(-e));
	else if (e)
		tool_log(TOOL_WARNING,
		         "no state directory (%s): file handles become stale when this "
		         "process ends; see --state-dir",
		         strerror(-e));
	return e && dir ? e : 0;
}
