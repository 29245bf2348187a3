/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exported directories, and the secret under which handles are sealed.
 *
 * An export's identity in handles is a digest of its directory, its name and
 * its root's inode: it survives restarts, and changes when something else is
 * exported under the same name.  The secret is made once and kept in a file
 * (handle.key, mode 0600) of the state directory; without it handles die with
 * the process.
 */
#include "nfsd.h"
#include "tool.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* "/a//b/" -> "/a/b"; NULL: no memory. */
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

/* Takes a known option from the end of @spec; a comma may be part of a name. */
static bool take_wcc(char *spec)
{
	char *comma = strrchr(spec, ',');

	if (!comma || strcmp(comma, ",wcc") != 0)
		return false;
	*comma = 0;
	return true;
}

/* Directory and name of a new export.  @spec is changed. */
static int set_names(struct export *ex, char *spec)
{
	char *colon = strstr(spec, ":/");

	if (colon)
		*colon = 0;
	ex->dir = realpath(spec, NULL);
	if (!ex->dir) {
		tool_error("cannot export %s: %s", spec, strerror(errno));
		return -EINVAL;
	}
	ex->name = clean_name(colon ? colon + 1 : ex->dir);
	if (!ex->name || strlen(ex->name) > MNTPATHLEN) {
		tool_error("cannot export %s: name too long", spec);
		free(ex->dir);
		free(ex->name);
		return -EINVAL;
	}
	return 0;
}

int export_add(struct nfsd *d, const char *spec)
{
	struct export *ex = &d->exports[d->n_exports];
	char *given;
	int e;

	if (d->n_exports == NFSD_MAX_EXPORTS) {
		tool_error("more than %d exports", NFSD_MAX_EXPORTS);
		return -EINVAL;
	}
	given = strdup(spec);
	if (!given)
		return -ENOMEM;
	memset(ex, 0, sizeof(*ex));
	ex->root_fd = ex->mount_fd = -1;
	ex->wcc = take_wcc(given);
	e = set_names(ex, given);
	free(given);
	if (e)
		return e;
	pthread_mutex_init(&ex->walk_lock, NULL);
	d->n_exports++;
	for (unsigned i = 0; i + 1 < d->n_exports; i++)
		if (!strcmp(d->exports[i].name, ex->name)) {
			tool_error("two exports are called %s", ex->name);
			return -EINVAL;
		}
	return 0;
}

/* Can the kernel open what it names?  Not without CAP_DAC_READ_SEARCH, nor on
 * every file system. */
static bool probe_handles(struct nfsd *d, struct export *ex)
{
	struct handle h;
	struct statx st;
	int fd;

	ex->mount_fd = open(ex->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ex->mount_fd < 0)
		return false;
	ex->by_handle = true;
	if (handle_make(d, ex, NULL, ex->root_fd, &h, &st))
		return false;
	if (handle_open(ex, &h, &fd))
		return false;
	close(fd);
	return true;
}

static void identify(struct nfsd *d, struct export *ex)
{
	char text[2 * PATH_MAX + 64];
	int n = snprintf(text, sizeof(text), "%s\n%s\n%llu", ex->dir, ex->name,
	                 (unsigned long long)ex->root_ino);

	ex->fsid = siphash(&d->key, text,
	                   (size_t)n < sizeof(text) ? (size_t)n : sizeof(text));
	ex->id = (uint32_t)(ex->fsid ^ ex->fsid >> 32);
}

static int export_open(struct nfsd *d, struct export *ex)
{
	struct statx st;
	int e;

	ex->root_fd = open(ex->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ex->root_fd < 0) {
		e = -errno;
		tool_error("cannot export %s: %s", ex->dir, strerror(-e));
		return e;
	}
	e = statx_fd(ex->root_fd, "", &st);
	if (e) {
		tool_error("cannot export %s: %s", ex->dir, strerror(-e));
		return e;
	}
	ex->root_ino = st.stx_ino;
	ex->mnt_id = st.stx_mnt_id;
	ex->mnt_id_known = st.stx_mask & STATX_MNT_ID;
	ex->dev_major = st.stx_dev_major;
	ex->dev_minor = st.stx_dev_minor;
	ex->fs = fs_of(d, ex->root_fd, &st);
	identify(d, ex);
	ex->by_handle = probe_handles(d, ex);
	if (!ex->by_handle) {
		ex->walk = calloc(NFSD_WALK_SLOTS, sizeof(*ex->walk));
		if (!ex->walk)
			return -ENOMEM;
	}
	e = handle_make(d, ex, NULL, ex->root_fd, &ex->root, &st);
	if (e)
		tool_error("cannot export %s: %s", ex->dir, strerror(-e));
	return e;
}

bool export_is_root(const struct nfsd *d, const nfs_fh3 *fh)
{
	for (unsigned i = 0; i < d->n_exports; i++) {
		const struct handle *h = &d->exports[i].root;

		if (fh->data.data_len == h->len &&
		    !memcmp(fh->data.data_val, h->octets, h->len))
			return true;
	}
	return false;
}

int export_open_all(struct nfsd *d)
{
	int e = 0;

	for (unsigned i = 0; i < d->n_exports && !e; i++)
		e = export_open(d, &d->exports[i]);
	return e;
}

void export_close_all(struct nfsd *d)
{
	for (unsigned i = 0; i < d->n_exports; i++) {
		struct export *ex = &d->exports[i];

		for (unsigned s = 0; ex->walk && s < NFSD_WALK_SLOTS; s++)
			free(ex->walk[s].name);
		free(ex->walk);
		if (ex->mount_fd >= 0)
			close(ex->mount_fd);
		if (ex->root_fd >= 0)
			close(ex->root_fd);
		pthread_mutex_destroy(&ex->walk_lock);
		free(ex->dir);
		free(ex->name);
	}
	d->n_exports = 0;
}

/* mkdir -p, for us alone where it is new. */
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

static int default_dir(char *ret, size_t size)
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

/* -ENOENT; -ENODATA if the file is empty. */
static int read_key(const char *path, struct siphash_key *ret)
{
	uint8_t octets[sizeof(ret->octets) + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, octets, sizeof(octets));
	close(fd);
	if (n != sizeof(ret->octets))
		return n < 0 ? -EIO : n ? -EBADMSG : -ENODATA;
	memcpy(ret->octets, octets, sizeof(ret->octets));
	return 0;
}

/* Writes it under another name first: two servers that start at once agree on
 * the one that was linked first.  @dir: the directory, which is to keep the name. */
static int write_key(int dir, const char *path, const struct siphash_key *key)
{
	char tmp[PATH_MAX];
	int fd, e = 0, n = snprintf(tmp, sizeof(tmp), "%s.%ld", path, (long)getpid());

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return -ENAMETOOLONG;
	(void)unlink(tmp); /* of a process that had our number */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, key->octets, sizeof(key->octets)) != sizeof(key->octets) ||
	    fsync(fd))
		e = -EIO;
	close(fd);
	if (!e && link(tmp, path))
		e = -errno;
	(void)unlink(tmp);
	if (!e && fsync(dir) && errno != EINVAL)
		e = -errno;
	return e;
}

/* The key of the file, or @key as the file's.  An empty one never was a key: a crash
 * came between its creation and its data. */
static int load_key(const char *where, const char *path, struct siphash_key *key)
{
	int dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e;

	if (dir < 0)
		return -errno;
	e = read_key(path, key);
	if (e == -ENODATA) {
		tool_error("%s is empty: a new one is made, and file handles of "
		           "before are stale",
		           path);
		e = unlink(path) && errno != ENOENT ? -errno : -ENOENT;
	}
	if (e == -ENOENT) {
		e = write_key(dir, path, key);
		if (e == -EEXIST)
			e = read_key(path, key);
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

	if (getrandom(d->key.octets, sizeof(d->key.octets), 0) != sizeof(d->key.octets))
		return -EIO;
	if (dir && strlen(dir) < sizeof(where))
		strcpy(where, dir);
	else
		e = dir ? -ENAMETOOLONG : default_dir(where, sizeof(where));
	if (!e && *where)
		e = make_dirs(where);
	if (!e) {
		snprintf(path, sizeof(path), "%s/handle.key", where);
		e = load_key(where, path, &d->key);
	}
	if (e == -EBADMSG)
		return e; /* was said */
	if (e && dir)
		tool_error("cannot keep state in %s: %s", dir, strerror(-e));
	else if (e)
		tool_error(
		        "no state directory (%s): file handles end with this process; "
		        "see --state-dir",
		        strerror(-e));
	return e && dir ? e : 0;
}
