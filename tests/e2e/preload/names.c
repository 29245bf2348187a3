/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: watches what a server asks about the names of a directory, and changes the
 * answers.  FSYNC_FAILS names a directory with these files:
 *
 *   calls    gets a line for each call about a name: "open", "statx" or "handle", and the
 *            name
 *   swap     two paths: once something has been asked about the name "victim", the first
 *            is renamed to the second
 *   clock    seconds to be added to the coarse real-time clock
 *   reborn   statx reports another birth time for the name "victim"
 *   no_ids   statx does not report mount IDs
 *   no_mounts  the table of mounts cannot be opened
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static int raw_open(const char *name, int flags)
{
	const char *dir = getenv("FSYNC_FAILS");
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/nonexistent", name);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

/* Reads the file @name; false if there is none or it is empty. */
static bool told(const char *name, char *ret, size_t size)
{
	int fd = raw_open(name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	if (fd >= 0)
		close(fd);
	ret[n > 0 ? n : 0] = 0;
	return n > 0;
}

static void swap(void)
{
	char text[600] = "", from[300], to[300];
	int fd = raw_open("swap", O_RDWR);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && !ftruncate(fd, 0) &&
	    (sscanf(text, "%299s %299s", from, to) != 2 || rename(from, to)))
		abort();
	if (fd >= 0)
		close(fd);
}

/* @name was asked about by @call. */
static void note(const char *call, const char *name)
{
	int saved = errno,
	    fd = *name && *name != '/' ? raw_open("calls", O_WRONLY | O_APPEND) : -1;
	char line[300];
	int n = snprintf(line, sizeof(line), "%s %s\n", call, name);

	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		abort();
	if (fd >= 0)
		close(fd);
	if (!strcmp(name, "victim"))
		swap();
	errno = saved;
}

static long next_syscall(long number, const long a[6])
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

EXPORTED long syscall(long number, ...)
{
	va_list ap;
	long a[6], r;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	r = next_syscall(number, a);
	if (number == SYS_openat2)
		note("open", (const char *)a[1]);
	return r;
}

EXPORTED int open(const char *path, int flags, ...)
{
	char text[8];
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!strcmp(path, "/proc/self/mountinfo") &&
	    told("no_mounts", text, sizeof(text))) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

EXPORTED int statx(int dir, const char *path, int how, unsigned mask, struct statx *ret)
{
	int r = (int)syscall(SYS_statx, dir, path, how, mask, ret);
	char text[8];

	if (!r && !strcmp(path, "victim") && told("reborn", text, sizeof(text)))
		ret->stx_btime.tv_sec--;
	if (!r && told("no_ids", text, sizeof(text)))
		ret->stx_mask &= ~(unsigned)STATX_MNT_ID;
	note("statx", path);
	return r;
}

EXPORTED int name_to_handle_at(int dir, const char *path, struct file_handle *fh,
                               int *id, int flags)
{
	int r = (int)syscall(SYS_name_to_handle_at, dir, path, fh, id, flags);

	note("handle", path);
	return r;
}

EXPORTED int clock_gettime(clockid_t which, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, which, ret);
	char text[16];

	if (!r && which == CLOCK_REALTIME_COARSE && told("clock", text, sizeof(text)))
		ret->tv_sec += atoi(text);
	return r;
}
