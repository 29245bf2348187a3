/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fsx FILE COPY SECONDS SEED: does random things to FILE and to a copy of it in
 * memory, and compares whatever it reads.  Reads, writes and truncations through the
 * page cache, through a mapping and directly; in between the file is synced, closed
 * and opened again, and its pages are dropped, so that reads go to the server.  At the
 * end the copy is written to COPY, for a comparison from elsewhere.
 *
 * What it does follows from SEED; how far it gets, from SECONDS and MAX_STEPS.  Prints
 * the number of steps of each kind.  Exit code 1: something was wrong, and it says
 * which step and octet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_SIZE = 6 << 20,
	MAX_IO = 1300000, /* beyond a READ or WRITE of 1 MiB */
	MAX_STEPS = 20000,
	PAGE = 4096,
};

enum step {
	READ,
	WRITE,
	TRUNCATE,
	MAP_READ,
	MAP_WRITE,
	DIRECT_READ,
	DIRECT_WRITE,
	SYNC,
	REOPEN,
	DROP,
	N_STEPS
};

static const struct {
	const char *name;
	unsigned weight;
} kinds[N_STEPS] = {
        [READ] = {"read", 20},
        [WRITE] = {"write", 20},
        [TRUNCATE] = {"truncate", 6},
        [MAP_READ] = {"map-read", 10},
        [MAP_WRITE] = {"map-write", 10},
        [DIRECT_READ] = {"direct-read", 6},
        [DIRECT_WRITE] = {"direct-write", 6},
        [SYNC] = {"sync", 4},
        [REOPEN] = {"reopen", 3},
        [DROP] = {"drop", 6},
};

static struct {
	const char *path;
	int fd, direct_fd;
	uint8_t *shadow; /* MAX_SIZE; zeros beyond the size */
	size_t size;
	uint8_t *io; /* MAX_IO, on a page */
	uint64_t random;
	unsigned long steps;
	unsigned long done[N_STEPS];
	enum step now;
} x;

static void quit(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "fsx: step %lu, %s: ", x.steps, kinds[x.now].name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

static void need(bool ok, const char *what)
{
	if (!ok)
		quit("%s: %s", what, strerror(errno));
}

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = x.random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* In [0, n). */
static size_t below(size_t n)
{
	return n ? (size_t)(next() % n) : 0;
}

/* Mostly small, now and then as long as can be. */
static size_t length(size_t max)
{
	size_t most = below(4) ? (below(3) ? 5000 : 70000) : MAX_IO;

	return 1 + below(most < max ? most : max);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void open_both(void)
{
	x.fd = open(x.path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	need(x.fd >= 0, "open");
	x.direct_fd = open(x.path, O_RDWR | O_DIRECT | O_CLOEXEC);
	need(x.direct_fd >= 0, "open, O_DIRECT");
}

static void close_both(void)
{
	need(!close(x.fd), "close");
	need(!close(x.direct_fd), "close");
}

static void compare(const uint8_t *got, size_t at, size_t len)
{
	if (!memcmp(got, x.shadow + at, len))
		return;
	for (size_t i = 0; i < len; i++)
		if (got[i] != x.shadow[at + i])
			quit("%zu octets from %zu of %zu: octet %zu is %02x instead of "
			     "%02x",
			     len, at, x.size, at + i, got[i], x.shadow[at + i]);
}

/* ---- Steps ------------------------------------------------------------------ */

/* Also across the end of the file, and beyond it. */
static void do_read(int fd)
{
	size_t at = below(x.size + 5000), len = length(MAX_IO), expected;
	ssize_t n, got = 0;

	expected = at >= x.size ? 0 : len < x.size - at ? len : x.size - at;
	while ((n = pread(fd, x.io + got, len - (size_t)got, (off_t)at + got)) > 0)
		got += n;
	need(n == 0 || (size_t)got == len, "pread");
	if ((size_t)got != expected)
		quit("%zd octets from %zu of %zu instead of %zu", got, at, x.size,
		     expected);
	compare(x.io, at, expected);
}

/* New octets for the copy, from which they are written. */
static size_t fill(size_t *ret_at)
{
	size_t at = below(MAX_SIZE - 1);
	size_t len;

	/* Mostly within the file or at its end; a hole otherwise. */
	if (below(8))
		at = below(x.size + 1) % (MAX_SIZE - 1);
	len = length(MAX_SIZE - at);
	for (size_t i = 0; i < len; i += 8) {
		uint64_t v = next();

		memcpy(x.shadow + at + i, &v, len - i < 8 ? len - i : 8);
	}
	*ret_at = at;
	return len;
}

static void do_write(int fd, bool aligned)
{
	size_t at, len = fill(&at), done = 0;

	if (at + len > x.size)
		x.size = at + len;
	while (done < len) {
		size_t part = len - done;
		const uint8_t *from = x.shadow + at + done;
		ssize_t n;

		if (aligned) {
			part = part < MAX_IO ? part : MAX_IO;
			memcpy(x.io, from, part);
			from = x.io;
		}
		n = pwrite(fd, from, part, (off_t)(at + done));
		need(n > 0, "pwrite");
		done += (size_t)n;
	}
}

static void do_truncate(void)
{
	size_t to = below(MAX_SIZE);

	if (below(3))
		to = below(x.size + 1);
	need(!ftruncate(x.fd, (off_t)to), "ftruncate");
	if (to < x.size)
		memset(x.shadow + to, 0, x.size - to);
	x.size = to;
}

/* Pages of the file; NULL: it is empty. */
static uint8_t *map(int prot, size_t *ret_at, size_t *ret_len, size_t *ret_first)
{
	uint8_t *p;

	if (!x.size)
		return NULL;
	*ret_at = below(x.size);
	*ret_len = length(x.size - *ret_at);
	*ret_first = *ret_at / PAGE * PAGE;
	p = mmap(NULL, *ret_at + *ret_len - *ret_first, prot, MAP_SHARED, x.fd,
	         (off_t)*ret_first);
	need(p != MAP_FAILED, "mmap");
	return p;
}

static void do_map_read(void)
{
	size_t at, len, first;
	uint8_t *p = map(PROT_READ, &at, &len, &first);

	if (!p)
		return;
	compare(p + (at - first), at, len);
	need(!munmap(p, at + len - first), "munmap");
}

static void do_map_write(void)
{
	size_t at, len, first;
	uint8_t *p = map(PROT_READ | PROT_WRITE, &at, &len, &first);

	if (!p)
		return;
	for (size_t i = 0; i < len; i++)
		x.shadow[at + i] = (uint8_t)(x.shadow[at + i] * 5 + i + x.steps);
	memcpy(p + (at - first), x.shadow + at, len);
	if (below(2))
		need(!msync(p, at + len - first, MS_SYNC), "msync");
	need(!munmap(p, at + len - first), "munmap");
}

/* The client does not look at mapped pages when it reads or writes directly: they are
 * written before. */
static void sync_mapped(void)
{
	need(!fsync(x.fd), "fsync");
}

static void do_drop(void)
{
	need(!fsync(x.fd), "fsync");
	need(!posix_fadvise(x.fd, 0, 0, POSIX_FADV_DONTNEED), "fadvise");
}

static void one_step(void)
{
	unsigned total = 0, at;

	for (unsigned i = 0; i < N_STEPS; i++)
		total += kinds[i].weight;
	at = (unsigned)below(total);
	for (x.now = 0; at >= kinds[x.now].weight; x.now++)
		at -= kinds[x.now].weight;
	switch (x.now) {
	case READ:
		do_read(x.fd);
		break;
	case WRITE:
		do_write(x.fd, false);
		break;
	case TRUNCATE:
		do_truncate();
		break;
	case MAP_READ:
		do_map_read();
		break;
	case MAP_WRITE:
		do_map_write();
		break;
	case DIRECT_READ:
		sync_mapped();
		do_read(x.direct_fd);
		break;
	case DIRECT_WRITE:
		sync_mapped();
		do_write(x.direct_fd, true);
		break;
	case SYNC:
		need(!fsync(x.fd), "fsync");
		break;
	case REOPEN:
		close_both();
		open_both();
		break;
	case DROP:
		do_drop();
		break;
	case N_STEPS:
		break;
	}
	x.done[x.now]++;
	x.steps++;
}

/* ---- The whole -------------------------------------------------------------- */

static void check_all(void)
{
	struct stat st;

	x.now = READ;
	do_drop();
	need(!fstat(x.fd, &st), "fstat");
	if ((size_t)st.st_size != x.size)
		quit("the size is %jd instead of %zu", (intmax_t)st.st_size, x.size);
	for (size_t at = 0; at < x.size;) {
		size_t want = x.size - at < MAX_IO ? x.size - at : MAX_IO;
		ssize_t n = pread(x.fd, x.io, want, (off_t)at);

		need(n > 0, "pread");
		compare(x.io, at, (size_t)n);
		at += (size_t)n;
	}
}

static void write_copy(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(x.shadow, 1, x.size, f) != x.size || fclose(f))
		quit("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	double end;

	if (argc != 5) {
		fprintf(stderr, "usage: fsx FILE COPY SECONDS SEED\n");
		return 2;
	}
	x.path = argv[1];
	end = seconds() + atof(argv[3]);
	x.random = strtoull(argv[4], NULL, 0);
	x.shadow = calloc(1, MAX_SIZE + 8);
	x.io = aligned_alloc(PAGE, (MAX_IO / PAGE + 1) * PAGE);
	need(x.shadow && x.io, "memory");
	open_both();
	need(!ftruncate(x.fd, 0), "ftruncate");
	while (x.steps < MAX_STEPS && seconds() < end)
		one_step();
	check_all();
	close_both();
	write_copy(argv[2]);
	printf("fsx: seed %s, %lu steps:", argv[4], x.steps);
	for (unsigned i = 0; i < N_STEPS; i++)
		printf(" %s %lu", kinds[i].name, x.done[i]);
	printf("\n");
	return 0;
}
