/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's table of mounts, /proc/self/mountinfo; see proc(5).  When poll(2)
 * reports a change, the whole table is read again; reading it accesses no file system.
 * Callers hold the lock in struct crossings.
 */
#include "nfsd.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINES = 65536, MOST_BYTES = 32 << 20, FIRST_BYTES = 16384 };

void mount_table_init(struct mount_table *m)
{
	*m = (struct mount_table){
	        .fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)};
}

static void free_mount_lines(struct mount_line *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		free(all[i].path);
		free(all[i].root);
		free(all[i].type);
		free(all[i].source);
	}
	free(all);
}

void mount_table_fini(struct mount_table *m)
{
	free_mount_lines(m->all, m->n);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct mount_table){.fd = -1};
}

/* Removes the next word from the line and returns it, or returns NULL if there are no
 * more words. */
static char *take_field(char **at)
{
	char *word = strsep(at, " ");

	return word && *word ? word : NULL;
}

static bool is_octal_escape(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

/* Decodes escapes such as "\040", in place. */
static void unescape_field(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && is_octal_escape(s + 1)) {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] -
			               '0');
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

static bool has_mount_option(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list; s; s = strchr(s, ',')) {
		s += *s == ',';
		if (!strncmp(s, word, n) && (!s[n] || s[n] == ','))
			return true;
	}
	return false;
}

/* Parses a line such as "36 35 98:0 /mnt1 /mnt2 rw master:1 - ext3 /dev/sda rw".
 * Returns false if the line is malformed or there is no memory. */
static bool parse_mount_line(char *at, struct mount_line *ret)
{
	unsigned long long id, parent;
	unsigned major, minor;
	char *root, *path, *options, *type, *source, *dash = strstr(at, " - ");
	int n = 0;

	if (!dash ||
	    sscanf(at, "%llu %llu %u:%u %n", &id, &parent, &major, &minor, &n) != 4 ||
	    !n)
		return false;
	*dash = 0;
	dash += 3;
	at += n;
	root = take_field(&at);
	path = take_field(&at);
	options = take_field(&at);
	type = take_field(&dash);
	source = take_field(&dash);
	if (!root || !path || !options || !type)
		return false;
	unescape_field(path);
	*ret = (struct mount_line){.id = id,
	                           .parent = parent,
	                           .dev_major = major,
	                           .dev_minor = minor,
	                           .path = strdup(path),
	                           .root = strdup(root),
	                           .type = strdup(type),
	                           .source = strdup(source ? source : ""),
	                           .noatime = has_mount_option(options, "noatime"),
	                           .relatime = has_mount_option(options, "relatime"),
	                           .read_only = has_mount_option(options, "ro")};
	if (ret->path && ret->root && ret->type && ret->source)
		return true;
	free(ret->path);
	free(ret->root);
	free(ret->type);
	free(ret->source);
	return false;
}

/* Reads the table as text.  Returns NULL if it cannot be read. */
static char *read_mount_table(int fd)
{
	size_t size = FIRST_BYTES, n = 0;
	char *text = malloc(size), *more;
	ssize_t got = 1;

	if (lseek(fd, 0, SEEK_SET))
		got = -1;
	while (text && got > 0) {
		if (size - n < FIRST_BYTES / 2) {
			more = size < MOST_BYTES ? realloc(text, size * 2) : NULL;
			if (!more)
				break;
			text = more;
			size *= 2;
		}
		got = read(fd, text + n, size - n - 1);
		if (got > 0)
			n += (size_t)got;
	}
	if (!text || got) {
		free(text);
		return NULL;
	}
	text[n] = 0;
	return text;
}

static unsigned count_lines(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n < MOST_LINES ? n : MOST_LINES;
}

/* Copies the inode numbers of mount points, as set by crossing_learn, from the old
 * table for mounts that still exist. */
static void keep_covered_numbers(struct mount_table *m, const struct mount_table *was)
{
	for (unsigned i = 0; i < was->n; i++) {
		const struct mount_line *old = &was->all[i];
		struct mount_line *now =
		        old->covered ? mount_table_find(m, old->id) : NULL;

		if (now && now->parent == old->parent && !strcmp(now->path, old->path))
			now->covered = old->covered;
	}
}

static bool has_table_changed(struct mount_table *m)
{
	struct pollfd p = {.fd = m->fd, .events = POLLPRI};

	return poll(&p, 1, 0) > 0;
}

bool mount_table_refresh(struct mount_table *m)
{
	struct mount_table now = {.fd = m->fd, .known = true};
	char *text, *at, *line;
	unsigned most;

	if (m->fd < 0 || (!has_table_changed(m) && m->known))
		return false;
	m->known = false; /* after a failure, the next call reads the table again */
	at = text = read_mount_table(m->fd);
	if (!text)
		return false;
	most = count_lines(text);
	now.all = calloc(most + 1, sizeof(*now.all));
	while (now.all && now.n < most && (line = strsep(&at, "\n")))
		now.n += parse_mount_line(line, &now.all[now.n]);
	now.whole = now.n == most && !*at;
	free(text);
	if (!now.all)
		return false;
	keep_covered_numbers(&now, m);
	free_mount_lines(m->all, m->n);
	*m = now;
	return true;
}

struct mount_line *mount_table_find(const struct mount_table *m, uint64_t id)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->all[i].id == id)
			return &m->all[i];
	return NULL;
}

static struct mount_line *find_mount_child(const struct mount_table *m, uint64_t parent,
                                           const char *path)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->all[i].parent == parent && !strcmp(m->all[i].path, path))
			return &m->all[i];
	return NULL;
}

/* Follows stacked mounts: a mount that covers another mount is in the table as a child
 * of that mount, with the same path. */
struct mount_line *mount_table_at(const struct mount_table *m, uint64_t parent,
                                  const char *path)
{
	struct mount_line *found = find_mount_child(m, parent, path), *over = found;

	for (unsigned i = 0; over && i < m->n; i++) {
		found = over;
		over = find_mount_child(m, found->id, path);
	}
	return found;
}

static unsigned digest_mount_name(const char *name)
{
	static const uint64_t key[2];

	return (unsigned)(rr_siphash_once(key, name, strlen(name)) % (64 * 16));
}

void mount_table_names(const struct mount_table *m, uint64_t parent,
                       struct mount_names *ret)
{
	memset(ret, m->known && m->whole ? 0 : 0xff, sizeof(*ret));
	for (unsigned i = 0; i < m->n; i++) {
		const char *slash = strrchr(m->all[i].path, '/');
		unsigned bit;

		if (m->all[i].parent != parent || !slash)
			continue;
		bit = digest_mount_name(slash + 1);
		ret->bits[bit / 64] |= 1ull << bit % 64;
	}
}

bool mount_names_contain(const struct mount_names *names, const char *name)
{
	unsigned bit = digest_mount_name(name);

	return names->bits[bit / 64] >> bit % 64 & 1;
}
