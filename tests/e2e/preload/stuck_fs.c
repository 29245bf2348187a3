/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: makes the directory STUCK_DIR a file system of its own, which does not
 * answer while the path STUCK_WHILE exists: what may sleep in a real one sleeps.  With
 * STUCK_REMOTE it is one of another host, whose attributes must be asked for, too.
 *
 * SLOW_US: each READ and each change of a file or directory anywhere takes so much
 * longer, after it was made: what others did meanwhile shows in the attributes.
 *
 * Where the kernel promises not to sleep (preadv2 with RWF_NOWAIT, openat2 with
 * RESOLVE_CACHED) nothing is changed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/openat2.h>

#define SHOWN __attribute__((visibility("default")))

enum { OTHER_DEV = 4711, REMOTE_TYPE = 0x6969 };

static int beneath(const char *path)
{
	const char *dir = getenv("STUCK_DIR");
	size_t n = dir ? strlen(dir) : 0;

	return n && !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

static int fd_beneath(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return beneath(path);
}

static int at_beneath(int dir, const char *name)
{
	int fd;

	if (sscanf(name, "/proc/self/fd/%d", &fd) == 1)
		return fd_beneath(fd);
	return *name == '/' ? beneath(name) : fd_beneath(dir);
}

static void sleep_there(int there)
{
	const char *flag = getenv("STUCK_WHILE");

	while (there && flag && !syscall(SYS_faccessat, AT_FDCWD, flag, F_OK))
		usleep(10000);
}

static long slowly(long result)
{
	const char *slow = getenv("SLOW_US");
	int e = errno;

	if (slow && result >= 0)
		usleep((useconds_t)atoi(slow));
	errno = e;
	return result;
}

/* ---- What may sleep -------------------------------------------------------------- */

#define OPEN_MODE(flags, mode)                                                         \
	if ((flags)&O_CREAT) {                                                         \
		va_list ap;                                                            \
		va_start(ap, flags);                                                   \
		mode = va_arg(ap, mode_t);                                             \
		va_end(ap);                                                            \
	}

static int open_at(int dir, const char *name, int flags, mode_t mode)
{
	long fd;

	sleep_there(at_beneath(dir, name));
	fd = syscall(SYS_openat, dir, name, flags, mode);
	return (int)(flags & O_CREAT ? slowly(fd) : fd);
}

static long next_syscall(long number, const long a[6])
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Of all system calls that the C library has no function for: openat2. */
SHOWN long syscall(long number, ...)
{
	const struct open_how *how;
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	how = number == SYS_openat2 ? (const struct open_how *)a[2] : NULL;
	if (!how || how->resolve & RESOLVE_CACHED)
		return next_syscall(number, a);
	sleep_there(at_beneath((int)a[0], (const char *)a[1]));
	return how->flags & O_CREAT ? slowly(next_syscall(number, a))
	                            : next_syscall(number, a);
}

SHOWN int openat(int dir, const char *name, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode)
	return open_at(dir, name, flags, mode);
}

SHOWN int openat64(int dir, const char *name, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode)
	return open_at(dir, name, flags, mode);
}

SHOWN int open(const char *name, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode)
	return open_at(AT_FDCWD, name, flags, mode);
}

SHOWN int open64(const char *name, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode)
	return open_at(AT_FDCWD, name, flags, mode);
}

SHOWN int open_by_handle_at(int mount_fd, struct file_handle *h, int flags)
{
	sleep_there(fd_beneath(mount_fd));
	return (int)syscall(SYS_open_by_handle_at, mount_fd, h, flags);
}

static ssize_t write_at(int fd, const void *buf, size_t n, off_t offset)
{
	sleep_there(fd_beneath(fd));
	return slowly(syscall(SYS_pwrite64, fd, buf, n, offset));
}

SHOWN ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	return write_at(fd, buf, n, offset);
}

SHOWN ssize_t pwrite64(int fd, const void *buf, size_t n, off_t offset)
{
	return write_at(fd, buf, n, offset);
}

static ssize_t read_at(int fd, void *buf, size_t n, off_t offset)
{
	sleep_there(fd_beneath(fd));
	return slowly(syscall(SYS_pread64, fd, buf, n, offset));
}

SHOWN ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	return read_at(fd, buf, n, offset);
}

SHOWN ssize_t pread64(int fd, void *buf, size_t n, off_t offset)
{
	return read_at(fd, buf, n, offset);
}

SHOWN int fsync(int fd)
{
	sleep_there(fd_beneath(fd));
	return (int)syscall(SYS_fsync, fd);
}

SHOWN int fdatasync(int fd)
{
	sleep_there(fd_beneath(fd));
	return (int)syscall(SYS_fdatasync, fd);
}

SHOWN int unlinkat(int dir, const char *name, int flags)
{
	sleep_there(at_beneath(dir, name));
	return (int)slowly(syscall(SYS_unlinkat, dir, name, flags));
}

SHOWN int mkdirat(int dir, const char *name, mode_t mode)
{
	sleep_there(at_beneath(dir, name));
	return (int)slowly(syscall(SYS_mkdirat, dir, name, mode));
}

SHOWN int renameat(int from, const char *old, int to, const char *name)
{
	sleep_there(at_beneath(from, old) || at_beneath(to, name));
	return (int)slowly(syscall(SYS_renameat, from, old, to, name));
}

SHOWN int close(int fd)
{
	sleep_there(fd_beneath(fd));
	return (int)syscall(SYS_close, fd);
}

/* ---- What it is ------------------------------------------------------------------ */

SHOWN int statx(int dir, const char *name, int flags, unsigned mask, struct statx *ret)
{
	int there = at_beneath(dir, name);

	sleep_there(there && getenv("STUCK_REMOTE"));
	if (syscall(SYS_statx, dir, name, flags, mask, ret))
		return -1;
	if (there)
		ret->stx_dev_minor = OTHER_DEV;
	return 0;
}

static int stat_fs(int fd, void *ret)
{
	int e = (int)syscall(SYS_fstatfs, fd, ret);

	if (!e && fd_beneath(fd) && getenv("STUCK_REMOTE"))
		((struct statfs *)ret)->f_type = REMOTE_TYPE;
	return e;
}

SHOWN int fstatfs(int fd, struct statfs *ret)
{
	return stat_fs(fd, ret);
}

SHOWN int fstatfs64(int fd, struct statfs64 *ret)
{
	return stat_fs(fd, ret);
}
