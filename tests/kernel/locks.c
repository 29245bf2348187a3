/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks for locks of a file in each way that programs have, and prints how each ended:
 *
 *   locks FILE
 *
 * A lock that is not answered within LIMIT seconds ends the program by a signal.
 */
#define _GNU_SOURCE /* strerrorname_np */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LIMIT = 25 };

static void tell(const char *what, int status)
{
	printf("%s: %s\n", what, status ? strerrorname_np(errno) : "done");
	fflush(stdout);
	alarm(LIMIT);
}

static int posix(int fd, int command, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 10};

	return fcntl(fd, command, &l);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0) {
		perror("locks");
		return 1;
	}
	alarm(LIMIT);
	tell("getlk", posix(fd, F_GETLK, F_WRLCK));
	tell("setlk", posix(fd, F_SETLK, F_WRLCK));
	tell("setlkw", posix(fd, F_SETLKW, F_RDLCK));
	tell("unlock", posix(fd, F_SETLK, F_UNLCK));
	tell("lockf", lockf(fd, F_TLOCK, 0));
	tell("flock", flock(fd, LOCK_EX | LOCK_NB));
	tell("flock, waiting", flock(fd, LOCK_EX));
	tell("close", close(fd));
	return 0;
}
