/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: while the path in RENAME_FAILS exists, a temporary file of rpcrdma cp cannot
 * be renamed (EIO), or only to the name that the file there has.  All other names can.
 * While the path in FSYNC_NEEDS is missing, fsync fails (EIO).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether renaming to @to is to fail. */
static int is_meant(const char *to)
{
	const char *flag = getenv("RENAME_FAILS");
	FILE *f = flag ? fopen(flag, "re") : NULL;
	char only[256] = "";

	if (!f)
		return 0;
	only[fread(only, 1, sizeof(only) - 1, f)] = 0;
	fclose(f);
	return !*only || !strcmp(to, only);
}

__attribute__((visibility("default"))) int renameat(int from_fd, const char *from,
                                                    int to_fd, const char *to)
{
	int (*real)(int, const char *, int, const char *);

	if (strstr(from, ".rpcrdma-") && is_meant(to)) {
		errno = EIO;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "renameat");
	return real(from_fd, from, to_fd, to);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
	const char *needs = getenv("FSYNC_NEEDS");

	if (!needs || !access(needs, F_OK))
		return fdatasync(fd);
	errno = EIO;
	return -1;
}
