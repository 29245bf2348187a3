/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reads FILE COPY FIRST END: reads FILE from its server, that is, with nothing cached,
 * for each number from FIRST to END - 1, and compares every octet with COPY.  A line
 * for each read that differs, with its number and the first octet that does.  Exits 1
 * if it could not read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int forget(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	int ok = fd >= 0 && write(fd, "3", 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok ? 0 : -1;
}

/* The whole file, 1 MiB at a time. */
static int slurp(const char *path, char *to, size_t len)
{
	int fd = open(path, O_RDONLY);
	size_t at = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	while (at < len && n > 0) {
		n = read(fd, to + at, len - at < 1 << 20 ? len - at : 1 << 20);
		at += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return at == len ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct stat st;
	static char *want, *got; /* until the process ends */
	size_t len;

	if (argc != 5 || stat(argv[2], &st) || st.st_size <= 0)
		return 1;
	len = (size_t)st.st_size;
	want = malloc(len);
	got = malloc(len);
	if (!want || !got || slurp(argv[2], want, len))
		return 1;
	for (int i = atoi(argv[3]); i < atoi(argv[4]); i++) {
		size_t at = 0;

		memset(got, 0, len);
		if (forget() || slurp(argv[1], got, len)) {
			perror(argv[1]);
			return 1;
		}
		if (!memcmp(want, got, len))
			continue;
		while (want[at] == got[at])
			at++;
		printf("read %d differs from octet %zu on\n", i, at);
	}
	return 0;
}
