/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: storage that loses data as Linux reports it.  FSYNC_FAILS names a
 * directory.
 *
 * A file "lose" there holds an inode number, and maybe an errno (else EIO): its dirty
 * data are lost from now on.  As
 * with the kernel's errseq_t, each descriptor that is open on it then hears of it at
 * its next fsync or fdatasync, once; one that is opened later hears nothing.
 *
 * A file "log" there gets a line for each sync: the function and the inode number; and
 * for each directory that is read.
 *
 * A file "held" there holds an inode number: its first sync waits while there is a file
 * "hold1", its second one while there is a file "hold2", and so on.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_FDS = 4096 };

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int to_tell[MAX_FDS]; /* errno, or 0; by lock */

static int raw_open(const char *name, int flags, mode_t mode)
{
	const char *dir = getenv("FSYNC_FAILS");
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/nonexistent", name);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static unsigned long long inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* Have data been lost since we looked?  By lock. */
static void look(void)
{
	int fd = raw_open("lose", O_RDWR, 0);
	char text[32] = "";
	unsigned long long ino;
	char *end;
	int error;

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0 && !ftruncate(fd, 0)) {
		ino = strtoull(text, &end, 10);
		error = atoi(end) ? atoi(end) : EIO;
		for (int i = 0; i < MAX_FDS; i++)
			if (i != fd && inode_of(i) == ino)
				to_tell[i] = error;
	}
	syscall(SYS_close, fd);
}

static void put_line(const char *what, int fd)
{
	char line[64];
	int log = raw_open("log", O_WRONLY | O_APPEND, 0);
	int n = snprintf(line, sizeof(line), "%s %llu\n", what, inode_of(fd));

	if (log >= 0 && write(log, line, (size_t)n) != n)
		abort();
	if (log >= 0)
		syscall(SYS_close, log);
}

static void hold(int fd)
{
	static _Atomic unsigned n;
	int held = raw_open("held", O_RDONLY, 0), there;
	char text[32] = "", name[32];

	if (held >= 0 && read(held, text, sizeof(text) - 1) > 0 &&
	    strtoull(text, NULL, 10) == inode_of(fd)) {
		snprintf(name, sizeof(name), "hold%u", ++n);
		while ((there = raw_open(name, O_RDONLY, 0)) >= 0) {
			syscall(SYS_close, there);
			usleep(5000);
		}
	}
	if (held >= 0)
		syscall(SYS_close, held);
}

static int sync_by(const char *name, long number, int fd)
{
	int saved = errno, lost = 0;

	put_line(name, fd);
	hold(fd);
	pthread_mutex_lock(&lock);
	look();
	if (fd >= 0 && fd < MAX_FDS && strcmp(name, "syncfs")) {
		lost = to_tell[fd];
		to_tell[fd] = 0;
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
	if (number == SYS_syncfs)
		return 0; /* not of the whole machine */
	if (!lost)
		return (int)syscall(number, fd);
	errno = lost;
	return -1;
}

EXPORTED int fsync(int fd)
{
	return sync_by("fsync", SYS_fsync, fd);
}

EXPORTED int fdatasync(int fd)
{
	return sync_by("fdatasync", SYS_fdatasync, fd);
}

EXPORTED int syncfs(int fd)
{
	return sync_by("syncfs", SYS_syncfs, fd);
}

static long next_syscall(long number, const long a[6])
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int open_by(long number, const long a[6])
{
	int fd;

	pthread_mutex_lock(&lock);
	look();
	fd = (int)next_syscall(number, a);
	pthread_mutex_unlock(&lock);
	return fd;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	return open_by(SYS_openat, (long[6]){dir, (long)path, flags, (long)mode});
}

/* Of all system calls that the C library has no function for: openat2. */
EXPORTED long syscall(long number, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return number == SYS_openat2 ? open_by(number, a) : next_syscall(number, a);
}

EXPORTED int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return open_at(AT_FDCWD, path, flags, mode);
}

EXPORTED int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return open_at(dir, path, flags, mode);
}

EXPORTED int close(int fd)
{
	int r;

	pthread_mutex_lock(&lock);
	if (fd >= 0 && fd < MAX_FDS)
		to_tell[fd] = 0;
	r = (int)syscall(SYS_close, fd);
	pthread_mutex_unlock(&lock);
	return r;
}

EXPORTED DIR *fdopendir(int fd)
{
	DIR *(*next)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");

	put_line("fdopendir", fd);
	return next(fd);
}
