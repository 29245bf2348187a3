/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: while the path in RENAME_FAILS exists, a temporary file of rpcrdma cp cannot
 * be renamed (EIO).  All other names can.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int renameat(int from_fd, const char *from, int to_fd,
                                                    const char *to)
{
	const char *flag = getenv("RENAME_FAILS");
	int (*real)(int, const char *, int, const char *);

	if (flag && !access(flag, F_OK) && strstr(from, ".rpcrdma-")) {
		errno = EIO;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "renameat");
	return real(from_fd, from, to_fd, to);
}
