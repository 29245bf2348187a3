/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds an object by its inode number when the kernel does not open handles, because
 * the server is not root, the container lacks CAP_DAC_READ_SEARCH, or the file system
 * does not support handles.
 *
 * A table of limited size records in which directory, and under which name, each inode
 * number was last seen.  If the table does not lead to the object, for example after a
 * restart, the export is searched.  A handle contains 16-bit digests of the inode
 * numbers of the topmost 17 directories on the object's path, so that a search usually
 * reads one directory at each level.  Below these levels the search tries all
 * directories.  A search reads at most SEARCH_ENTRIES names.  The search is repeated,
 * with a statx for each name, only if readdir is known to report wrong inode numbers.
 *
 * Clients may ask for lost objects as often as they like.  So an unsuccessful search is
 * remembered for some seconds, only a few searches run at the same time, and a long
 * search is followed by an even longer pause.  During the pause, clients have to retry
 * (-EAGAIN).
 *
 * The object must have the inode number and the birth time that the handle contains.
 * On a file system without birth times, a new file cannot be distinguished from an old
 * one with the same number.  An object that was moved to another directory after its
 * handle was made is found only while the table has its new location, not after a
 * restart.  Symbolic links are not followed, and mount points are not entered.
 */
#include "op.h"
#include "tool.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SEARCH_ENTRIES = 1000000,
	SEARCHES_AT_ONCE = 2,
	MISS_SECONDS = 5,
	LONG_NS = 50000000, /* a longer search is followed by a pause */
	PAUSE_TIMES = 4,    /* ratio of the pause to the search's duration */
	SAMPLE = 8,         /* names per directory whose inode numbers are checked */
};

static uint64_t mix_bits(uint64_t x)
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
	return (uint32_t)mix_bits((uint64_t)st->stx_btime.tv_sec * 1000000007u +
	                          st->stx_btime.tv_nsec);
}

uint16_t walk_digest(uint64_t ino)
{
	return (uint16_t)(mix_bits(ino) >> 20);
}

static struct walk_slot *find_walk_slot(struct export *ex, uint64_t ino)
{
	return &ex->walk[mix_bits(ino) % WALK_SLOTS];
}

void walk_learn(struct export *ex, uint64_t ino, uint64_t parent, const char *name)
{
	struct walk_slot *s;
	char *copy;

	if (!ex->walk || name_is_dot(name))
		return;
	pthread_mutex_lock(&ex->walk_lock);
	s = find_walk_slot(ex, ino);
	if (s->ino != ino || s->parent != parent || !s->name || strcmp(s->name, name)) {
		copy = strdup(name);
		if (copy) { /* otherwise, the export will be searched */
			free(s->name);
			*s = (struct walk_slot){ino, parent, copy};
		}
	}
	pthread_mutex_unlock(&ex->walk_lock);
}

/* Returns 0 if @fd is open on the object, otherwise -ESTALE. */
static int check_found(const struct export *ex, const struct walk_id *w, int fd)
{
	struct statx st;

	if (statx_fd(fd, "", &st) || st.stx_ino != w->ino || walk_born(&st) != w->born)
		return -ESTALE;
	return handle_inside(ex, &st) ? 0 : -ESTALE;
}

/* If @fd is open on the object, stores @fd in @ret_fd and returns 0.  Otherwise closes
 * @fd and returns -ESTALE. */
static int take_found(const struct export *ex, const struct walk_id *w, int fd,
                      int *ret_fd)
{
	int e = check_found(ex, w, fd);

	if (e)
		close(fd);
	else
		*ret_fd = fd;
	return e;
}

/* Opens @name in @dir as an O_PATH descriptor.  Does not use O_DIRECTORY, which would
 * trigger an autofs mount. */
static int open_entry(int dir, const char *name)
{
	return open_name(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* Reads the attributes of @name.  Returns 0, -EXDEV at a mount point, or another
 * negative errno. */
static int stat_entry(int dir, const char *name, struct statx *ret)
{
	int fd = open_entry(dir, name), e;

	if (fd < 0)
		return fd;
	e = statx_fd(fd, "", ret);
	close(fd);
	return e;
}

/* Finds, in the table, the names on the path from the root to the object @ino, and
 * stores copies in @names, last name first.  Returns the number of names, or -ENOENT if
 * some are missing. */
static int recall_names(struct export *ex, uint64_t ino, char **names, unsigned max)
{
	unsigned n = 0;

	pthread_mutex_lock(&ex->walk_lock);
	while (ino != ex->root_ino) {
		struct walk_slot *s = find_walk_slot(ex, ino);

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
	char *names[HANDLE_MAX_DEPTH];
	int n = recall_names(ex, w->ino, names, HANDLE_MAX_DEPTH), fd, next;

	if (n < 0)
		return n;
	fd = fcntl(ex->root_fd, F_DUPFD_CLOEXEC, 0);
	for (int i = n - 1; i >= 0; i--) {
		if (fd >= 0) {
			next = open_entry(fd, names[i]);
			close(fd);
			fd = next;
		}
		free(names[i]);
	}
	return fd < 0 ? -ENOENT : take_found(ex, w, fd, ret_fd);
}

struct search {
	struct export *ex;
	const struct walk_id *w;
	unsigned left;   /* names that may still be read */
	bool by_stat;    /* read each inode number with statx */
	bool differs;    /* readdir reported a wrong inode number */
	unsigned sample; /* names in this directory still to be checked */
	int found;       /* descriptor, or -1 */
	int lack;        /* -EMFILE or -ENFILE if no descriptor was left; otherwise 0 */
};

static void search_dir(struct search *, int dir, uint64_t dir_ino, unsigned level);

/* Returns true if a directory entry with this inode number may be on the object's
 * path. */
static bool is_on_path(const struct walk_id *w, uint64_t ino, unsigned level)
{
	if (level + 1 == w->depth)
		return ino == w->ino;
	return level >= WALK_CHAIN || walk_digest(ino) == w->chain[level];
}

static void note_missing_fd(struct search *s, int e)
{
	if (e == -EMFILE || e == -ENFILE)
		s->lack = e;
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
		fd = stat_entry(dir, de->d_name, &st);
		note_missing_fd(s, fd);
		if (fd)
			return;
		ino = st.stx_ino;
	}
	if (!is_on_path(s->w, ino, level))
		return;
	fd = open_entry(dir, de->d_name);
	note_missing_fd(s, fd);
	if (fd < 0)
		return;
	if (last && !check_found(s->ex, s->w, fd)) {
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

/* Sets s->differs if readdir reported an inode number that statx does not confirm, as
 * on overlayfs and some FUSE file systems. */
static void compare_number(struct search *s, int dir, const struct dirent *de)
{
	struct statx st;

	s->sample--;
	if (!stat_entry(dir, de->d_name, &st) && handle_inside(s->ex, &st) &&
	    st.stx_ino != de->d_ino)
		s->differs = true;
}

/* Searches one directory and, recursively, its subdirectories down to level w->depth
 * (<= HANDLE_MAX_DEPTH). */
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
	if (fd < 0) {
		note_missing_fd(s, -errno);
		return;
	}
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	s->sample = SAMPLE;
	while (s->found < 0 && s->left && (de = readdir(d))) {
		s->left--;
		if (name_is_dot(de->d_name))
			continue;
		if (s->sample && !s->by_stat)
			compare_number(s, dir, de);
		search_entry(s, dir, dir_ino, de, level);
	}
	closedir(d);
}

/* Returns a digest of all fields of the handle. */
static uint64_t digest_walk_id(const struct walk_id *w)
{
	uint64_t h = mix_bits(w->ino ^ (uint64_t)w->born << 32 ^ w->depth);

	for (unsigned i = 0; i < WALK_CHAIN; i++)
		h = mix_bits(h ^ w->chain[i]);
	return h;
}

/* Returns 0 if a search may begin, -ESTALE if a recent search found nothing, or -EAGAIN
 * if the client must retry later. */
static int begin_search(struct export *ex, uint64_t digest, uint64_t now)
{
	struct walk_pace *p = &ex->pace;
	const struct walk_miss *m = &p->misses[digest % WALK_MISSES];
	int e = 0;

	pthread_mutex_lock(&ex->walk_lock);
	if (m->digest == digest && now < m->until)
		e = -ESTALE;
	else if (p->running >= SEARCHES_AT_ONCE || now < p->not_before)
		e = -EAGAIN;
	else
		p->running++;
	pthread_mutex_unlock(&ex->walk_lock);
	return e;
}

static void end_search(struct export *ex, uint64_t digest, uint64_t began, bool found)
{
	struct walk_pace *p = &ex->pace;
	uint64_t now = tool_now_ns(), took = now - began;

	pthread_mutex_lock(&ex->walk_lock);
	p->running--;
	if (took > LONG_NS)
		p->not_before = now + PAUSE_TIMES * took;
	if (!found)
		p->misses[digest % WALK_MISSES] =
		        (struct walk_miss){digest, now + MISS_SECONDS * 1000000000ull};
	pthread_mutex_unlock(&ex->walk_lock);
}

static int search_export(struct search *s, int *ret_fd)
{
	uint64_t digest = digest_walk_id(s->w), began = tool_now_ns();
	int e = begin_search(s->ex, digest, began);

	if (e)
		return e;
	s->left = SEARCH_ENTRIES;
	search_dir(s, s->ex->root_fd, s->ex->root_ino, 0);
	if (s->found < 0 && s->differs) {
		s->by_stat = true;
		s->left = SEARCH_ENTRIES;
		search_dir(s, s->ex->root_fd, s->ex->root_ino, 0);
	}
	end_search(s->ex, digest, began, s->found >= 0 || s->lack);
	if (s->found < 0)
		return s->lack ? s->lack : -ESTALE;
	*ret_fd = s->found;
	return 0;
}

int walk_open(struct export *ex, const struct walk_id *w, int *ret_fd)
{
	struct search s = {.ex = ex, .w = w, .found = -1};
	int fd;

	if (w->depth > HANDLE_MAX_DEPTH)
		return -ESTALE;
	if (w->depth == 0) {
		fd = fcntl(ex->root_fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : take_found(ex, w, fd, ret_fd);
	}
	if (!open_recalled(ex, w, ret_fd))
		return 0;
	return search_export(&s, ret_fd);
}
