/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replays a corpus without libFuzzer: every file of the folders and files
 * given, each also cut at every length up to 512 octets.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned runs;

static void one(const uint8_t *data, size_t size)
{
	/* A copy of exactly that size, so that a sanitizer sees each overrun. */
	uint8_t *p = malloc(size ? size : 1);

	if (!p)
		abort();
	memcpy(p, data, size);
	(void)LLVMFuzzerTestOneInput(p, size);
	free(p);
	runs++;
}

static int replay_file(const char *path)
{
	static uint8_t buf[1 << 20];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f) {
		perror(path);
		return 1;
	}
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	one(buf, n);
	for (size_t cut = 0; cut < n && cut < 512; cut++)
		one(buf, cut);
	return 0;
}

static int replay(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[1024];
	int bad = 0;

	if (!d)
		return replay_file(path);
	while ((e = readdir(d))) {
		struct stat st;

		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (!stat(name, &st) && S_ISREG(st.st_mode))
			bad |= replay_file(name);
	}
	closedir(d);
	return bad;
}

int main(int argc, char **argv)
{
	int bad = argc < 2;

	for (int i = 1; i < argc; i++)
		bad |= replay(argv[i]);
	printf("%u inputs replayed\n", runs);
	return bad || !runs;
}
