/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding an object by its inode number where the kernel does not open handles
 * for us: a server that is not root, a container without
 * CAP_DAC_READ_SEARCH, a file system that cannot.
 *
 * First by memory: a bounded table remembers where each number was last seen
 * (directory and name).  If that leads nowhere, as after a restart, by
 * searching: a handle carries a 16-bit digest of the inode number of each
 * directory on its path (the topmost 17), so that a search reads, as a rule,
 * one directory a level.  Deeper than that it tries all directories below.  A
 * search reads at most SEARCH_ENTRIES names.
 *
 * Whatever was found must have the inode number and the time of birth of the
 * handle; file systems without times of birth cannot tell a new file under an
 * old number (documented).  An object moved to another directory after a
 * handle was made is found as long as the table remembers it, thus not after a
 * restart.  Symbolic links are never followed, mount points not entered.
 */
#include "nfsd.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEARCH_ENTRIES = 1000000 };

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

uint32_t walk_born(const struct statx *st)
{
	if (!(st->stx_mask & STATX_BTIME))
		return 0;
	return (uint32_t)mix((uint64_t)st->stx_btime.tv_sec * 1000000007u +
	                     st->stx_btime.tv_nsec);
}

uint16_t walk_digest(uint64_t ino)
{
	return (uint16_t)(mix(ino) >> 20);
}

static struct walk_slot *slot_of(struct export *ex, uint64_t ino)
{
	return &ex->walk[mix(ino) % NFSD_WALK_SLOTS];
}

void walk_learn(struct export *ex, uint64_t ino, uint64_t parent, const char *name)
{
	struct walk_slot *s;
	char *copy;

	if (!ex->walk || name_is_dot(name))
		return;
	pthread_mutex_lock(&ex->walk_lock);
	s = slot_of(ex, ino);
	if (s->ino != ino || s->parent != parent || !s->name || strcmp(s->name, name)) {
		copy = strdup(name);
		if (copy) { /* else: it will be searched for */
			free(s->name);
			*s = (struct walk_slot){ino, parent, copy};
		}
	}
	pthread_mutex_unlock(&ex->walk_lock);
}

/* 0 if @fd is the object, or -ESTALE. */
static int check(const struct export *ex, const struct walk_id *w, int fd)
{
	struct statx st;

	if (statx_fd(fd, "", &st) || st.stx_ino != w->ino || walk_born(&st) != w->born)
		return -ESTALE;
	return handle_inside(ex, &st) ? 0 : -ESTALE;
}

/* Opens @name in @dir as an O_PATH descriptor. */
static int open_name(int dir, const char *name, bool directory)
{
	int fd =
	        openat(dir, name,
	               O_PATH | O_NOFOLLOW | O_CLOEXEC | (directory ? O_DIRECTORY : 0));

	return fd < 0 ? -errno : fd;
}

/* The names from the root to @ino, last first, as far as the table knows. */
static int recall(struct export *ex, uint64_t ino, char **names, unsigned max)
{
	unsigned n = 0;

	pthread_mutex_lock(&ex->walk_lock);
	while (ino != ex->root_ino) {
		struct walk_slot *s = slot_of(ex, ino);

		if (s->ino != ino || !s->name || n == max)
			break;
		names[n] = strdup(s->name);
		if (!names[n])
			break;
		n++;
		ino = s->parent;
	}
	pthread_mutex_unlock(&ex->walk_lock);
	if (ino == ex->root_ino)
		return (int)n;
	while (n)
		free(names[--n]);
	return -ENOENT;
}

static int open_recalled(struct export *ex, const struct walk_id *w, int *ret_fd)
{
	char *names[NFSD_MAX_DEPTH];
	int n = recall(ex, w->ino, names, NFSD_MAX_DEPTH), fd, next;

	if (n < 0)
		return n;
	fd = fcntl(ex->root_fd, F_DUPFD_CLOEXEC, 0);
	for (int i = n - 1; i >= 0; i--) {
		if (fd >= 0) {
			next = open_name(fd, names[i], i > 0);
			close(fd);
			fd = next;
		}
		free(names[i]);
	}
	if (fd < 0)
		return -ENOENT;
	if (check(ex, w, fd)) {
		close(fd);
		return -ENOENT;
	}
	*ret_fd = fd;
	return 0;
}

struct search {
	struct export *ex;
	const struct walk_id *w;
	unsigned left; /* names that may still be read */
	bool by_stat;  /* ask for each name's number: readdir's is another here */
	int found;     /* descriptor, or -1 */
};

static void search_dir(struct search *, int dir, uint64_t dir_ino, unsigned level);

/* Does an entry with this number lie on the way? */
static bool on_the_way(const struct walk_id *w, uint64_t ino, unsigned level)
{
	if (level + 1 == w->depth)
		return ino == w->ino;
	return level >= WALK_CHAIN || walk_digest(ino) == w->chain[level];
}

static void search_entry(struct search *s, int dir, uint64_t dir_ino,
                         const struct dirent *de, unsigned level)
{
	bool last = level + 1 == s->w->depth;
	uint64_t ino = de->d_ino;
	struct statx st;
	int fd;

	if (!last && de->d_type != DT_DIR && de->d_type != DT_UNKNOWN)
		return;
	if (s->by_stat) {
		if (statx_fd(dir, de->d_name, &st))
			return;
		ino = st.stx_ino;
	}
	if (!on_the_way(s->w, ino, level))
		return;
	fd = open_name(dir, de->d_name, !last);
	if (fd < 0)
		return;
	if (last && !check(s->ex, s->w, fd)) {
		walk_learn(s->ex, ino, dir_ino, de->d_name);
		s->found = fd;
		return;
	}
	if (!last) {
		search_dir(s, fd, ino, level + 1);
		if (s->found >= 0)
			walk_learn(s->ex, ino, dir_ino, de->d_name);
	}
	close(fd);
}

/* Recurses at most w->depth (<= NFSD_MAX_DEPTH) levels. */
static void search_dir(struct search *s, int dir, uint64_t dir_ino, unsigned level)
{
	const struct dirent *de;
	struct statx st;
	DIR *d;
	int fd;

	if (level >= s->w->depth || statx_fd(dir, "", &st) ||
	    !handle_inside(s->ex, &st))
		return;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	while (s->found < 0 && s->left && (de = readdir(d))) {
		s->left--;
		if (!name_is_dot(de->d_name))
			search_entry(s, dir, dir_ino, de, level);
	}
	closedir(d);
}

int walk_open(struct export *ex, const struct walk_id *w, int *ret_fd)
{
	struct search s = {.ex = ex, .w = w, .found = -1};
	int fd;

	if (w->depth > NFSD_MAX_DEPTH)
		return -ESTALE;
	if (w->depth == 0) {
		fd = fcntl(ex->root_fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		if (check(ex, w, fd)) {
			close(fd);
			return -ESTALE;
		}
		*ret_fd = fd;
		return 0;
	}
	if (!open_recalled(ex, w, ret_fd))
		return 0;
	for (int pass = 0; pass < 2 && s.found < 0; pass++) {
		s.by_stat = pass;
		s.left = SEARCH_ENTRIES;
		search_dir(&s, ex->root_fd, ex->root_ino, 0);
	}
	if (s.found < 0)
		return -ESTALE;
	*ret_fd = s.found;
	return 0;
}
