/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --backup: chooses the name under which a replaced file is kept, as in cp(1).
 *
 * The name is chosen before the job begins, for one file at a time, since a listing of
 * the directory determines the number.  The old file is renamed when the new file is
 * complete, so that the destination name is missing only between two renames.
 */
#include "client/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DIGITS 18 /* digits that always fit in 64 bits */

/* ---- What is asked for --------------------------------------------------- */

static const struct {
	const char *word;
	enum copy_backups kind;
} controls[] = {
        {"none", COPY_NO_BACKUP},    {"off", COPY_NO_BACKUP},
        {"simple", COPY_SIMPLE},     {"never", COPY_SIMPLE},
        {"existing", COPY_EXISTING}, {"nil", COPY_EXISTING},
        {"numbered", COPY_NUMBERED}, {"t", COPY_NUMBERED},
};

/* Returns the kind of backup that @word or its unambiguous prefix means, or -EINVAL if
 * there is no such kind. */
static int find_control(const char *word)
{
	int kind = -1;

	for (size_t i = 0; i < TOOL_N(controls); i++) {
		if (!strcmp(word, controls[i].word))
			return (int)controls[i].kind;
		if (strncmp(word, controls[i].word, strlen(word)) != 0)
			continue;
		if (kind >= 0 && kind != (int)controls[i].kind)
			return -EINVAL;
		kind = (int)controls[i].kind;
	}
	return kind < 0 ? -EINVAL : kind;
}

int copy_backup_choose(struct copy *c, const char *control, const char *suffix)
{
	const char *where = "--backup";
	int kind;

	if (!control || !*control) {
		control = getenv("VERSION_CONTROL");
		where = "VERSION_CONTROL";
	}
	kind = control && *control ? find_control(control) : COPY_EXISTING;
	if (kind < 0) {
		tool_error(
		        "%s: %s is not one of none, off, simple, never, existing, nil, "
		        "numbered, t",
		        where, tool_quote_always(control));
		return kind;
	}
	if (!suffix)
		suffix = getenv("SIMPLE_BACKUP_SUFFIX");
	c->suffix = suffix && *suffix && !strchr(suffix, '/') ? suffix : "~";
	c->backup = (enum copy_backups)kind;
	return 0;
}

/* ---- The name ------------------------------------------------------------ */

/* Returns the number of @entry if it is a numbered backup of @name, otherwise 0. */
static uint64_t backup_number(const char *entry, const char *name)
{
	size_t len = strlen(name), digits;

	if (strncmp(entry, name, len) != 0 || strncmp(entry + len, ".~", 2) != 0)
		return 0;
	entry += len + 2;
	digits = strspn(entry, "0123456789");
	if (!digits || digits > MAX_DIGITS || *entry == '0' ||
	    strcmp(entry + digits, "~") != 0)
		return 0;
	return strtoull(entry, NULL, 10);
}

static int find_highest_local(const struct copy_dir *dir, const char *name,
                              uint64_t *ret)
{
	int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while ((errno = 0, e = readdir(d))) {
		uint64_t n = backup_number(e->d_name, name);

		*ret = n > *ret ? n : *ret;
	}
	r = -errno;
	closedir(d);
	return r;
}

static int find_highest_remote(const struct copy_dir *dir, const char *name,
                               uint64_t *ret)
{
	struct nfs_dir *d = malloc(sizeof(*d));
	struct nfs_entry *e = malloc(sizeof(*e));
	int status = d && e ? 0 : -ENOMEM;

	if (!status) {
		nfs_dir_open(d, dir->client, &dir->fh);
		while (nfs_dir_next(d, e, &status)) {
			uint64_t n = backup_number(e->name, name);

			*ret = n > *ret ? n : *ret;
		}
		nfs_dir_close(d);
	}
	free(d);
	free(e);
	return status;
}

/* Looks up @name.  Sets the type to 0 if it does not exist. */
static int look_up_meta(const struct copy_dir *dir, const char *name,
                        struct copy_meta *ret)
{
	struct nfs_fh fh;
	struct stat sb;
	fattr3 attr;
	int r;

	*ret = (struct copy_meta){0};
	if (!dir->client) {
		if (!fstatat(dir->fd, name, &sb, AT_SYMLINK_NOFOLLOW))
			copy_meta_from_stat(&sb, ret);
		else if (errno != ENOENT)
			return -errno;
		return 0;
	}
	r = nfs_lookup(dir->client, &dir->fh, name, &fh, &attr);
	if (!r)
		copy_meta_from_attr(&attr, ret);
	return r == (int)NFS3ERR_NOENT ? 0 : r;
}

/* Returns true if the last name in @path is @name. */
static bool ends_with(const char *path, const char *name)
{
	size_t len = strlen(path), n = strlen(name);

	while (len && path[len - 1] == '/')
		len--;
	return len >= n && !strncmp(path + len - n, name, n) &&
	       (len == n || path[len - n - 1] == '/');
}

/* Returns true if the last name in the source's path is @name.  Names are escaped in a
 * URL. */
static bool is_called(const char *label, const char *name)
{
	const char *reason;
	struct url u;
	bool is;

	if (!url_is(label) || url_parse(label, &u, &reason))
		return ends_with(label, name);
	is = ends_with(*u.path ? u.path : u.export, name);
	url_fini(&u);
	return is;
}

/* Returns -EEXIST if the backup would replace the source itself, an error if the
 * look-up of the backup fails, otherwise 0. */
static int spares_source(const struct copy_source *src, const struct copy_dir *dir,
                         const char *backup)
{
	struct copy_meta at;
	int r;

	if (src->stream || !is_called(src->label, backup))
		return 0;
	r = look_up_meta(dir, backup, &at);
	return r ? r : at.type && copy_is_same(src, &at, dir) ? -EEXIST : 0;
}

static int choose_backup_name(const struct copy *c, const struct copy_dir *dir,
                              const char *name, char *ret)
{
	uint64_t n = 0;
	int r = 0, len;

	if (c->backup != COPY_SIMPLE)
		r = dir->client ? find_highest_remote(dir, name, &n)
		                : find_highest_local(dir, name, &n);
	if (r)
		return r;
	len = n || c->backup == COPY_NUMBERED
	              ? snprintf(ret, NFS_NAME_MAX + 1, "%s.~%llu~", name,
	                         (unsigned long long)n + 1)
	              : snprintf(ret, NFS_NAME_MAX + 1, "%s%s", name, c->suffix);
	return len > NFS_NAME_MAX ? -ENAMETOOLONG : 0;
}

static void report_unspared(struct copy *c, const char *to, const char *label)
{
	tool_progress_end(&c->progress);
	tool_error("backing up %s might destroy source;  %s not copied",
	           tool_quote_always(to), tool_quote_always(label));
	c->failed++;
}

int copy_backup_name(struct copy *c, const struct copy_source *src,
                     const struct copy_dir *dir, const char *name, char *ret)
{
	struct copy_meta old;
	char *to;
	int r;

	*ret = 0;
	if (c->backup == COPY_NO_BACKUP || dir->fresh)
		return 0;
	r = look_up_meta(dir, name, &old);
	if (!r && (!old.type || old.type == NF3DIR))
		return 0; /* copy_place_judge decides this later */
	if (!r)
		r = choose_backup_name(c, dir, name, ret);
	if (!r && c->backup != COPY_NUMBERED)
		r = spares_source(src, dir, ret);
	if (!r)
		return 0;
	to = copy_dir_text(dir, name);
	if (r == -EEXIST)
		report_unspared(c, to ? to : name, src->label);
	else
		copy_report_failure(c, "backup", to ? to : name, dir->client, r);
	free(to);
	if (r == -EINTR || r == -EHOSTUNREACH)
		c->fatal = r;
	return r;
}

int copy_backup_move(const struct copy_dir *dir, const char *from, const char *to)
{
	RENAME3args a = {{nfs_fh_arg(&dir->fh), (char *)from},
	                 {nfs_fh_arg(&dir->fh), (char *)to}};
	struct nfs_op op;
	int r;

	if (!dir->client)
		return renameat(dir->fd, from, dir->fd, to) ? -errno : 0;
	nfs_op_init(&op, dir->client);
	r = nfs_op_run(&op, NFSPROC3_RENAME, &a);
	nfs_op_fini(&op);
	return r == (int)NFS3ERR_NOENT ? 0 : r; /* the first execution renamed it */
}
