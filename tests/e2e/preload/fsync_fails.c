/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: while the path in FSYNC_FAILS exists, the first of two overlapping
 * fsyncs fails with EIO, and returns after the second one, which succeeds.  So
 * does the kernel report the loss of data to one caller only.  The first waits
 * for the second at most TURNS times 10 ms.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { TURNS = 500 };

static atomic_uint entered;

__attribute__((visibility("default"))) int fsync(int fd)
{
	const char *flag = getenv("FSYNC_FAILS");

	if (!flag || access(flag, F_OK))
		return fdatasync(fd);
	if (atomic_fetch_add(&entered, 1))
		return 0;
	for (int i = 0; i < TURNS && atomic_load(&entered) < 2; i++)
		usleep(10000);
	usleep(300000);
	errno = EIO;
	return -1;
}
