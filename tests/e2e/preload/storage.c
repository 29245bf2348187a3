/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: storage that loses data as Linux reports it.  FSYNC_FAILS names a
 * directory.
 *
 * A file "lose" there holds an inode number: its dirty data are lost from now on.  As
 * with the kernel's errseq_t, each descriptor that is open on it then hears of it at
 * its next fsync or fdatasync, once; one that is opened later hears nothing.
 *
 * A file "log" there gets a line for each sync: the function and the inode number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_FDS = 4096 };

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool to_tell[MAX_FDS]; /* by lock */

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

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0 && !ftruncate(fd, 0)) {
		ino = strtoull(text, NULL, 10);
		for (int i = 0; i < MAX_FDS; i++)
			if (i != fd && inode_of(i) == ino)
				to_tell[i] = true;
	}
	syscall(SYS_close, fd);
}

static int sync_by(const char *name, long number, int fd)
{
	char line[64];
	int log, saved = errno;
	bool lost = false;

	pthread_mutex_lock(&lock);
	look();
	if (fd >= 0 && fd < MAX_FDS && strcmp(name, "syncfs")) {
		lost = to_tell[fd];
		to_tell[fd] = false;
	}
	pthread_mutex_unlock(&lock);
	log = raw_open("log", O_WRONLY | O_APPEND, 0);
	if (log >= 0) {
		int n = snprintf(line, sizeof(line), "%s %llu\n", name, inode_of(fd));

		if (write(log, line, (size_t)n) != n)
			abort();
		syscall(SYS_close, log);
	}
	errno = saved;
	if (number == SYS_syncfs)
		return 0; /* not of the whole machine */
	if (!lost)
		return (int)syscall(number, fd);
	errno = EIO;
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

static int open_by(int dir, const char *path, int flags, mode_t mode)
{
	int fd;

	pthread_mutex_lock(&lock);
	look();
	fd = (int)syscall(SYS_openat, dir, path, flags, mode);
	pthread_mutex_unlock(&lock);
	return fd;
}

EXPORTED int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return open_by(AT_FDCWD, path, flags, mode);
}

EXPORTED int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return open_by(dir, path, flags, mode);
}

EXPORTED int close(int fd)
{
	int r;

	pthread_mutex_lock(&lock);
	if (fd >= 0 && fd < MAX_FDS)
		to_tell[fd] = false;
	r = (int)syscall(SYS_close, fd);
	pthread_mutex_unlock(&lock);
	return r;
}
