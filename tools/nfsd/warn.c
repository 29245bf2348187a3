/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warnings on standard error about storage that fails and clients that are refused.  No
 * option turns them off.  Each line contains the file or the export, and the reason.
 * Because a broken disk may fail a thousand times a second, only one line of each kind
 * is printed per second.  The other lines are counted, and their number is printed
 * after that second.
 */
#include "nfsd.h"
#include "tool.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *name; /* subject of the line that reports the count */
	enum tool_level level;
	time_t last;   /* when its last line was printed; seconds */
	unsigned more; /* lines omitted since that time */
} kinds[WARN_KINDS] = {
        [WARN_LOST] = {.name = "data that did not reach storage", .level = TOOL_ERROR},
        [WARN_FILES] = {.name = "descriptors that ran out", .level = TOOL_WARNING},
        [WARN_REFUSED] = {.name = "clients that were refused", .level = TOOL_WARNING},
        [WARN_STORAGE] = {.name = "requests that storage failed", .level = TOOL_ERROR},
        [WARN_DELAY] = {.name = "requests that were delayed", .level = TOOL_WARNING},
        [WARN_CONTEXTS] = {.name = "contexts that were refused", .level = TOOL_WARNING},
        [WARN_GROUPS] = {.name = "groups that were not looked up",
                         .level = TOOL_WARNING},
        [WARN_CROSSING] = {.name = "mounted file systems that are not served",
                           .level = TOOL_WARNING},
        [WARN_IDENTITY] = {.name = "identities that could not be taken",
                           .level = TOOL_WARNING},
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards kinds */

bool warn_take_turn(enum warn_kind kind)
{
	time_t now = nfsd_now_seconds();
	bool turn;

	pthread_mutex_lock(&lock);
	turn = kinds[kind].last != now;
	if (turn)
		kinds[kind].last = now;
	else
		kinds[kind].more++;
	pthread_mutex_unlock(&lock);
	return turn;
}

void warn_clean_text(char *s)
{
	for (unsigned char *p = (unsigned char *)s, was = 0; *p; was = *p++)
		if (*p < 0x20 || *p == 0x7f || (was == 0xc2 && *p >= 0x80 && *p < 0xa0))
			*p = '?';
}

void warn_about(enum warn_kind kind, int fd, const char *what, int error)
{
	char link[32], path[PATH_MAX];
	int saved = errno;
	ssize_t n = -1;

	if (!warn_take_turn(kind))
		return;
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
	}
	path[n > 0 ? n : 0] = 0;
	warn_clean_text(path);
	tool_log(kinds[kind].level, "%s%s%s%s%s", path, *path ? ": " : "", what,
	         error ? ": " : "", error ? strerror(-error) : "");
	errno = saved;
}

void warn_print(enum warn_kind kind, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	warn_clean_text(text);
	tool_log(kinds[kind].level, "%s", text);
}

void warn_print_counts(bool all)
{
	time_t now = nfsd_now_seconds();

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < WARN_KINDS; i++) {
		if (!kinds[i].more || (!all && kinds[i].last == now))
			continue;
		tool_log(kinds[i].level, "%u more lines about %s", kinds[i].more,
		         kinds[i].name);
		kinds[i].more = 0;
		kinds[i].last = now;
	}
	pthread_mutex_unlock(&lock);
}
