/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints file attributes in the formats of ls(1) and stat(1). */
#include "client/attrs.h"
#include "client/json.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
	char letter;
	const char *text, *json;
} types[] = {
        [NF3REG] = {'-', "regular file", "file"},
        [NF3DIR] = {'d', "directory", "directory"},
        [NF3BLK] = {'b', "block special file", "block"},
        [NF3CHR] = {'c', "character special file", "character"},
        [NF3LNK] = {'l', "symbolic link", "symlink"},
        [NF3SOCK] = {'s', "socket", "socket"},
        [NF3FIFO] = {'p', "fifo", "fifo"},
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

void attrs_mode_text(const fattr3 *a, char buf[11])
{
	static const char bits[] = "rwxrwxrwx";

	buf[0] = (unsigned)a->type < N_TYPES && types[a->type].letter
	                 ? types[a->type].letter
	                 : '?';
	for (int i = 0; i < 9; i++)
		buf[1 + i] = a->mode & (0400u >> i) ? bits[i] : '-';
	if (a->mode & 04000)
		buf[3] = buf[3] == 'x' ? 's' : 'S';
	if (a->mode & 02000)
		buf[6] = buf[6] == 'x' ? 's' : 'S';
	if (a->mode & 01000)
		buf[9] = buf[9] == 'x' ? 't' : 'T';
	buf[10] = 0;
}

const char *attrs_type_text(ftype3 type)
{
	if ((unsigned)type < N_TYPES && types[type].text)
		return types[type].text;
	return "unknown";
}

void attrs_time_text(const nfstime3 *t, bool full, char *buf, size_t size)
{
	time_t s = (time_t)t->seconds;
	char date[32], zone[8];
	struct tm tm;

	localtime_r(&s, &tm);
	if (!full) {
		strftime(buf, size, "%Y-%m-%d %H:%M", &tm);
		return;
	}
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(buf, size, "%s.%09" PRIu32 " %s", date, t->nseconds, zone);
}

static void print_json_time(FILE *f, const char *key, const nfstime3 *t)
{
	fprintf(f, ",\"%s\":%" PRIu32 ".%09" PRIu32, key, t->seconds, t->nseconds);
}

void attrs_json(FILE *f, const fattr3 *a)
{
	const char *type = (unsigned)a->type < N_TYPES && types[a->type].json
	                           ? types[a->type].json
	                           : "unknown";

	fprintf(f,
	        "\"type\":\"%s\",\"mode\":\"%04o\",\"nlink\":%" PRIu32
	        ",\"uid\":%" PRIu32 ",\"gid\":%" PRIu32 ",\"size\":%" PRIu64
	        ",\"used\":%" PRIu64 ",\"fsid\":%" PRIu64 ",\"fileid\":%" PRIu64,
	        type, a->mode & 07777u, a->nlink, a->uid, a->gid, a->size, a->used,
	        a->fsid, a->fileid);
	if (a->type == NF3BLK || a->type == NF3CHR)
		fprintf(f, ",\"rdev\":[%" PRIu32 ",%" PRIu32 "]", a->rdev.specdata1,
		        a->rdev.specdata2);
	print_json_time(f, "atime", &a->atime);
	print_json_time(f, "mtime", &a->mtime);
	print_json_time(f, "ctime", &a->ctime);
}

void attrs_print_name(FILE *f, const char *name)
{
	static int tty = -1;

	if (tty < 0)
		tty = isatty(fileno(f));
	fputs(tty ? tool_quote(name) : name, f);
}
