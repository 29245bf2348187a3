/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks a source tree, depth first.  Each level holds an open directory or, in a remote
 * walk, one page of a listing and a few directories found in it, whose first pages are
 * read ahead.  Below KEEP_PAGES levels, nothing is read ahead, and the page is freed
 * before the walk goes further down.  A job for the next file or link begins when a
 * running job ends.
 *
 * Symbolic links are copied and not followed, unless copy->follow is set.
 */
#include "client/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH  4096
#define KEEP_PAGES 32 /* maximum number of levels that keep their page */
#define AHEAD      8  /* directories of a level that are read ahead */

/* A directory that is being walked. */
struct level {
	const struct level *above;
	uint64_t fsid, fileid;
};

/* The path from the top of the tree, for messages and loop checks. */
struct trail {
	const struct level *above;
	struct copy *copy;
	struct nfs_client *client; /* client for the source; NULL: local */
	struct copy_dir
	        *top; /* the destination, which must not be copied into itself */
	char *text;
	size_t len, size;
	unsigned depth;
};

/* Appends "/NAME".  Returns the previous length, or -ENOMEM. */
static ssize_t push_name(struct trail *t, const char *name)
{
	size_t n = strlen(name), was = t->len;

	if (t->size - t->len < n + 2) {
		size_t size = 2 * (t->size + n + 2);
		char *text = realloc(t->text, size);

		if (!text)
			return -ENOMEM;
		t->text = text;
		t->size = size;
	}
	if (t->len == 0 || t->text[t->len - 1] != '/')
		t->text[t->len++] = '/';
	memcpy(t->text + t->len, name, n + 1);
	t->len += n;
	return (ssize_t)was;
}

static void pop_name(struct trail *t, ssize_t len)
{
	t->len = (size_t)len;
	t->text[len] = 0;
}

static void enter_level(struct trail *t, struct level *here, const struct copy_meta *m)
{
	*here = (struct level){t->above, m->fsid, m->fileid};
	t->above = here;
	t->depth++;
}

static void leave_level(struct trail *t)
{
	t->above = t->above->above;
	t->depth--;
}

static int begin_trail(struct trail *t, struct copy *c, struct nfs_client *client,
                       const char *label)
{
	*t = (struct trail){.copy = c, .client = client, .size = strlen(label) + 256};
	t->text = malloc(t->size);
	if (!t->text)
		return -ENOMEM;
	t->len = strlen(label);
	memcpy(t->text, label, t->len + 1);
	return 0;
}

/* If the source directory is the destination itself, reports that and returns true. */
static bool refuse_self(struct trail *t, const struct nfs_fh *fh, int fd,
                        const struct copy_meta *m)
{
	struct copy_place at = {.client = t->client, .fh = fh, .fd = fd};

	if (!copy_is_self(t->top, &at, m))
		return false;
	tool_progress_end(&t->copy->progress);
	tool_error("cannot copy a directory, %s, into itself",
	           tool_quote_always(t->text));
	t->copy->failed++;
	return true;
}

/* ---- Local sources ------------------------------------------------------- */

static int walk_local(struct trail *t, int fd, struct copy_dir *dir);

char *copy_read_target(int at, const char *name)
{
	char buf[NFS3_PATH_BYTES + 1];
	ssize_t n = readlinkat(at, name, buf, sizeof(buf));

	if (n < 0)
		return NULL;
	if ((size_t)n == sizeof(buf)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return strndup(buf, (size_t)n);
}

static void report_local(struct trail *t, const char *act, int error)
{
	copy_report_failure(t->copy, act, t->text, NULL, -error);
}

static int nofollow_flag(const struct trail *t)
{
	return t->copy->follow ? 0 : O_NOFOLLOW;
}

/* If @m is an ancestor directory, prints a message and returns true.  With -L a link
 * may lead to an ancestor. */
static bool is_loop(struct trail *t, const struct copy_meta *m)
{
	for (const struct level *l = t->above; t->copy->follow && l; l = l->above)
		if (l->fsid == m->fsid && l->fileid == m->fileid) {
			copy_report_failure(t->copy, "copy", t->text, NULL, -ELOOP);
			return true;
		}
	return false;
}

static void copy_local_file(struct trail *t, int at, const char *name,
                            struct copy_dir *dir)
{
	struct copy_source src = {.kind = COPY_FILE, .label = t->text};
	struct stat sb;

	src.fd = openat(at, name, O_RDONLY | nofollow_flag(t) | O_NONBLOCK | O_CLOEXEC);
	if (src.fd < 0 || fstat(src.fd, &sb)) {
		report_local(t, "open", errno);
		if (src.fd >= 0)
			close(src.fd);
		return;
	}
	copy_meta_from_stat(&sb, &src.meta);
	src.stream = copy_is_stream(src.fd, &sb);
	/* The disk reads while the server creates the file. */
	(void)posix_fadvise(src.fd, 0, t->copy->io_bytes, POSIX_FADV_WILLNEED);
	copy_job_start(t->copy, &src, dir, name);
}

static void copy_local_symlink(struct trail *t, int at, const char *name,
                               const struct stat *sb, struct copy_dir *dir)
{
	struct copy_source src = {.kind = COPY_LINK, .fd = -1, .label = t->text};

	copy_meta_from_stat(sb, &src.meta);
	src.target = copy_read_target(at, name);
	if (src.target)
		copy_job_start(t->copy, &src, dir, name);
	else
		report_local(t, "read symbolic link", errno);
}

static int copy_local_subdir(struct trail *t, int at, const char *name,
                             const struct stat *sb, struct copy_dir *dir)
{
	struct copy_meta meta;
	struct copy_dir *sub;
	struct level here;
	int fd, r;

	if (t->depth >= MAX_DEPTH) {
		report_local(t, "copy", ELOOP);
		return 0;
	}
	copy_meta_from_stat(sb, &meta);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | nofollow_flag(t) | O_CLOEXEC);
	if (fd < 0) {
		report_local(t, "open directory", errno);
		return 0;
	}
	if (is_loop(t, &meta) || refuse_self(t, NULL, fd, &meta)) {
		close(fd);
		return 0;
	}
	sub = copy_dir_make(dir, name, &meta, t->text);
	if (!sub) {
		close(fd);
		return t->copy->fatal;
	}
	enter_level(t, &here, &meta);
	r = walk_local(t, fd, sub);
	leave_level(t);
	copy_dir_put(sub);
	return r;
}

static int copy_local_entry(struct trail *t, int at, const char *name,
                            struct copy_dir *dir)
{
	struct stat sb;
	int r = copy_wait(t->copy, t->copy->max_jobs);

	if (r)
		return r;
	if (fstatat(at, name, &sb, t->copy->follow ? 0 : AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT ||
		    t->copy->follow) /* not reported: the file has been removed since it
					was listed */
			report_local(t, "access", errno);
	} else if (S_ISDIR(sb.st_mode)) {
		r = copy_local_subdir(t, at, name, &sb, dir);
	} else if (S_ISLNK(sb.st_mode)) {
		copy_local_symlink(t, at, name, &sb, dir);
	} else if (S_ISREG(sb.st_mode)) {
		copy_local_file(t, at, name, dir);
	} else {
		tool_error("omitting special file %s", tool_quote_always(t->text));
		t->copy->failed++;
	}
	return r;
}

/* Returns the next entry other than "." and "..".  Returns NULL at the end, or after
 * printing a message. */
static struct dirent *read_local_entry(struct trail *t, DIR *d)
{
	struct dirent *e;

	do {
		errno = 0;
		e = readdir(d);
	} while (e && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")));
	if (!e && errno)
		report_local(t, "read directory", errno);
	return e;
}

/* Walks the open directory @fd, which is given. */
static int walk_local(struct trail *t, int fd, struct copy_dir *dir)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	ssize_t len;
	int r = 0;

	if (!d) {
		report_local(t, "open directory", errno);
		close(fd);
		return 0;
	}
	while (!r && dir->state != COPY_DIR_FAILED && (e = read_local_entry(t, d))) {
		len = push_name(t, e->d_name);
		if (len < 0) {
			r = -ENOMEM;
			break;
		}
		r = copy_local_entry(t, dirfd(d), e->d_name, dir);
		pop_name(t, len);
	}
	closedir(d);
	return r;
}

int copy_tree_local(struct copy *c, int at, const char *path, const char *label,
                    struct copy_dir *dir, const char *name)
{
	struct copy_meta meta;
	struct copy_dir *sub = dir;
	struct level here;
	struct trail t;
	struct stat sb;
	int fd, r;

	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb)) {
		copy_report_failure(c, "open directory", label, NULL, -errno);
		if (fd >= 0)
			close(fd);
		return 0;
	}
	copy_meta_from_stat(&sb, &meta);
	r = begin_trail(&t, c, NULL, label);
	if (!r && name)
		sub = copy_dir_make(dir, name, &meta, label);
	t.top = sub;
	if (!r && sub && copy_dir_ready(sub) && !refuse_self(&t, NULL, fd, &meta)) {
		enter_level(&t, &here, &meta);
		r = walk_local(&t, fd, sub);
		fd = -1;
	}
	if (sub && sub != dir)
		copy_dir_put(sub);
	if (fd >= 0)
		close(fd);
	free(t.text);
	return r ? r : c->fatal;
}

/* ---- Remote sources ------------------------------------------------------ */

/* A directory that was found and is not walked yet. */
struct subdir {
	struct subdir *next;
	struct copy_dir *dir; /* the destination */
	struct copy_meta meta;
	struct nfs_dir pages;
	char name[NFS_NAME_MAX + 1];
};

/* The directories of a level that are not walked yet, oldest first. */
struct subdirs {
	struct subdir *first, **last;
	unsigned n;
};

static int walk_remote(struct trail *t, struct nfs_dir *d, struct copy_dir *dir);

static void copy_remote_item(struct trail *t, const struct nfs_entry *e,
                             struct copy_dir *dir)
{
	struct copy_source src = {
	        .client = t->client, .fd = -1, .fh = e->fh, .label = t->text};

	src.kind = e->attr.type == NF3LNK ? COPY_LINK : COPY_FILE;
	copy_meta_from_attr(&e->attr, &src.meta);
	copy_job_start(t->copy, &src, dir, e->name);
}

/* Makes the destination of a directory, and adds the directory to @q. */
static int add_subdir(struct trail *t, struct subdirs *q, const struct nfs_entry *e,
                      struct copy_dir *dir)
{
	struct copy_meta meta;
	struct subdir *s;

	if (t->depth >= MAX_DEPTH) {
		copy_report_failure(t->copy, "copy", t->text, NULL, -ELOOP);
		return 0;
	}
	copy_meta_from_attr(&e->attr, &meta);
	if (is_loop(t, &meta) || refuse_self(t, &e->fh, -1, &meta))
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->dir = copy_dir_make(dir, e->name, &meta, t->text);
	if (!s->dir) {
		free(s);
		return t->copy->fatal;
	}
	s->meta = meta;
	memcpy(s->name, e->name, sizeof(s->name));
	nfs_dir_open(&s->pages, t->client, &e->fh);
	if (t->depth < KEEP_PAGES)
		nfs_dir_prefetch(&s->pages);
	*q->last = s;
	q->last = &s->next;
	q->n++;
	return 0;
}

static struct subdir *take_subdir(struct subdirs *q)
{
	struct subdir *s = q->first;

	q->first = s->next;
	if (!q->first)
		q->last = &q->first;
	q->n--;
	return s;
}

static void free_subdir(struct subdir *s)
{
	nfs_dir_close(&s->pages);
	copy_dir_put(s->dir);
	free(s);
}

static int walk_subdir(struct trail *t, struct subdir *s)
{
	ssize_t len = push_name(t, s->name);
	struct level here;
	int r;

	if (len < 0)
		return -ENOMEM;
	enter_level(t, &here, &s->meta);
	r = walk_remote(t, &s->pages, s->dir);
	leave_level(t);
	pop_name(t, len);
	return r;
}

/* Walks the oldest directories of @q until at most @n remain. */
static int walk_subdirs(struct trail *t, struct subdirs *q, unsigned n)
{
	int r = 0;

	while (!r && q->n > n) {
		struct subdir *s = take_subdir(q);

		r = walk_subdir(t, s);
		free_subdir(s);
	}
	return r;
}

/* Replaces the entry of a symbolic link with the object that the link leads to.  On
 * failure prints a message and returns false. */
static bool resolve_link(struct trail *t, const struct nfs_fh *at, struct nfs_entry *e)
{
	fattr3 dir = {.type = NF3DIR};
	struct nfs_node node;
	int r = nfs_walk_from(t->client, at, &dir, e->name, NFS_FOLLOW, &node);

	if (r) {
		copy_report_failure(t->copy, "access", t->text, t->client, r);
		return false;
	}
	e->fh = node.fh;
	e->attr = node.attr;
	return true;
}

static int copy_remote_entry(struct trail *t, const struct nfs_fh *at,
                             struct nfs_entry *e, struct copy_dir *dir,
                             struct subdirs *q)
{
	int r = copy_wait(t->copy, t->copy->max_jobs);

	if (r)
		return r;
	if (t->copy->follow && e->attr.type == NF3LNK && !resolve_link(t, at, e))
		return t->copy->fatal;
	switch (e->attr.type) {
	case NF3DIR:
		return add_subdir(t, q, e, dir);
	case NF3REG:
	case NF3LNK:
		copy_remote_item(t, e, dir);
		return 0;
	case NF3BLK:
	case NF3CHR:
	case NF3SOCK:
	case NF3FIFO:
		break;
	}
	tool_error("omitting special file %s", tool_quote_always(t->text));
	t->copy->failed++;
	return 0;
}

/* Copies the files and links of a listing, and most of the directories in it.  Adds the
 * rest of the directories to @q. */
static int walk_entries(struct trail *t, struct nfs_dir *d, struct copy_dir *dir,
                        struct nfs_entry *e, struct subdirs *q)
{
	bool keep = t->depth < KEEP_PAGES;
	int r = 0, status = 0;
	ssize_t len;

	while (!r && dir->state != COPY_DIR_FAILED && nfs_dir_next(d, e, &status)) {
		len = push_name(t, e->name);
		if (len < 0)
			return -ENOMEM;
		if (e->status)
			copy_report_failure(t->copy, "access", t->text, t->client,
			                    e->status);
		else
			r = copy_remote_entry(t, &d->fh, e, dir, q);
		pop_name(t, len);
		if (q->n && !keep)
			nfs_dir_drop(d);
		if (!r)
			r = walk_subdirs(t, q, keep ? AHEAD : 0);
	}
	if (!r && status) {
		if (status == -EINTR || status == -EHOSTUNREACH)
			r = t->copy->fatal = status;
		copy_report_failure(t->copy, "read directory", t->text, t->client,
		                    status);
	}
	return r;
}

static int walk_remote(struct trail *t, struct nfs_dir *d, struct copy_dir *dir)
{
	struct nfs_entry *e = malloc(sizeof(*e));
	struct subdirs q = {.last = &q.first};
	int r = e ? walk_entries(t, d, dir, e, &q) : -ENOMEM;

	free(e);
	nfs_dir_drop(d);
	if (!r)
		r = walk_subdirs(t, &q, 0);
	while (q.n)
		free_subdir(take_subdir(&q));
	return r;
}

int copy_tree_remote(struct copy *c, struct nfs_client *client, const struct nfs_fh *fh,
                     const fattr3 *attr, const char *label, struct copy_dir *dir,
                     const char *name)
{
	struct copy_meta meta;
	struct copy_dir *sub = dir;
	struct nfs_dir pages;
	struct level here;
	struct trail t;
	int r = begin_trail(&t, c, client, label);

	copy_meta_from_attr(attr, &meta);
	if (!r && name)
		sub = copy_dir_make(dir, name, &meta, label);
	t.top = sub;
	if (!r && sub && copy_dir_ready(sub) && !refuse_self(&t, fh, -1, &meta)) {
		enter_level(&t, &here, &meta);
		nfs_dir_open(&pages, client, fh);
		r = walk_remote(&t, &pages, sub);
		nfs_dir_close(&pages);
	}
	if (sub && sub != dir)
		copy_dir_put(sub);
	free(t.text);
	return r ? r : c->fatal;
}
