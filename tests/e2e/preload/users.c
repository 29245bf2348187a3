/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: users of a system of its own, by uid.  4711 has 41 groups (4712, then
 * 100000 to 100039), 4713 one, 4999 cannot be looked up (EIO); others are not known.
 * Each look-up appends its uid to the file USERS_LOG.  While the path USERS_STUCK
 * exists, look-ups do not end.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

enum { MANY = 4711, ONE = 4713, BROKEN = 4999, PRIMARY = 4712, FIRST = 100000, N = 40 };

static void note(uid_t uid)
{
	const char *path = getenv("USERS_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
	char line[16];

	if (fd < 0)
		return;
	if (write(fd, line, (size_t)snprintf(line, sizeof(line), "%u\n", uid)) < 0)
		abort();
	close(fd);
}

SHOWN int getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size,
                     struct passwd **ret)
{
	const char *stuck = getenv("USERS_STUCK");

	*ret = NULL;
	if (size < 4096)
		return ERANGE; /* as with a long entry */
	note(uid);
	while (stuck && !access(stuck, F_OK))
		usleep(10000);
	if (uid == BROKEN)
		return EIO;
	if (uid != MANY && uid != ONE)
		return 0;
	memset(pw, 0, sizeof(*pw));
	pw->pw_name = uid == MANY ? strcpy(buf, "many") : strcpy(buf, "one");
	pw->pw_uid = uid;
	pw->pw_gid = uid == MANY ? PRIMARY : ONE;
	*ret = pw;
	return 0;
}

SHOWN int getgrouplist(const char *user, gid_t group, gid_t *groups, int *n)
{
	int have = strcmp(user, "many") ? 1 : N + 1, room = *n;

	*n = have;
	if (have > room)
		return -1;
	groups[0] = group;
	for (int i = 1; i < have; i++)
		groups[i] = FIRST + (gid_t)i - 1;
	return have;
}
