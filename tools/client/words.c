/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the statuses of NFS calls mean, in words, with what to do about it
 * where something can be done.  Also JSON strings.
 */
#include "client/nfs.h"
#include "client/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	nfsstat3 status;
	const char *words;
} table[] = {
        {NFS3ERR_PERM, "operation not permitted"},
        {NFS3ERR_NOENT, "no such file or directory"},
        {NFS3ERR_IO, "input or output error on the server"},
        {NFS3ERR_NXIO, "no such device"},
        {NFS3ERR_ACCES, "permission denied"},
        {NFS3ERR_EXIST, "it exists already"},
        {NFS3ERR_XDEV, "not on the same file system"},
        {NFS3ERR_NODEV, "no such device"},
        {NFS3ERR_NOTDIR, "not a directory"},
        {NFS3ERR_ISDIR, "it is a directory"},
        {NFS3ERR_INVAL, "the server finds the arguments invalid"},
        {NFS3ERR_FBIG, "larger than the server's file system allows"},
        {NFS3ERR_NOSPC, "no space left on the server"},
        {NFS3ERR_ROFS, "exported read-only"},
        {NFS3ERR_MLINK, "too many links"},
        {NFS3ERR_NAMETOOLONG, "the name is too long for the server"},
        {NFS3ERR_NOTEMPTY, "the directory is not empty"},
        {NFS3ERR_DQUOT, "the quota on the server is used up"},
        {NFS3ERR_STALE, "the file is gone from the server (stale handle)"},
        {NFS3ERR_REMOTE, "too many levels of remote in the path"},
        {NFS3ERR_BADHANDLE, "the server does not know the file handle"},
        {NFS3ERR_NOT_SYNC, "changed in the meantime"},
        {NFS3ERR_BAD_COOKIE, "the directory changed while it was listed"},
        {NFS3ERR_NOTSUPP, "not supported by the server"},
        {NFS3ERR_TOOSMALL, "the reply was limited too much"},
        {NFS3ERR_SERVERFAULT, "the server failed"},
        {NFS3ERR_BADTYPE, "a file type that the server does not have"},
        {NFS3ERR_JUKEBOX, "the server needs too long (jukebox)"},
};

const char *nfs_words(const struct nfs_client *c, int status)
{
	static char other[48];

	if (status == -EXDEV)
		return "a symbolic link leads out of the export";
	if (status < 0)
		return link_words(&c->link, status);
	if (status == NFS_NO_MOUNT)
		return c->mount.why;
	if (status >= NFS_RPC)
		return link_words(&c->link, status - NFS_RPC);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if ((int)table[i].status == status)
			return table[i].words;
	snprintf(other, sizeof(other), "NFS error %d", status);
	return other;
}

int nfs_told(const struct nfs_client *c, const char *text, int status)
{
	if (status && status != -EINTR && status != TOOL_TOLD)
		tool_error("%s: %s", tool_quote(text), nfs_words(c, status));
	return status;
}

/* ---- JSON --------------------------------------------------------------------- */

bool json_string(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	bool exact = true;
	unsigned n;

	fputc('"', f);
	while (*s) {
		n = tool_utf8((const char *)s);
		if (!n) {
			fputs("\\ufffd", f);
			exact = false;
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(f, "\\%c", *s);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(f, "\\u%04x", *s);
		} else {
			fwrite(s, 1, n, f);
		}
		s += n;
	}
	fputc('"', f);
	return exact;
}

void json_name(FILE *f, const char *key, const char *name)
{
	fprintf(f, "\"%s\":", key);
	if (json_string(f, name))
		return;
	fprintf(f, ",\"%s_hex\":\"", key);
	for (const unsigned char *s = (const unsigned char *)name; *s; s++)
		fprintf(f, "%02x", *s);
	fputc('"', f);
}

#define STATS(X)                                                                       \
	X(calls)                                                                       \
	X(replies)                                                                     \
	X(retransmits)                                                                 \
	X(recoveries) X(reconnects) X(call_errors) X(sends) X(recvs) X(rdma_reads) X(  \
	        rdma_writes) X(registrations) X(local_invalidations)                   \
	        X(remote_invalidations) X(grants) X(errors_sent) X(errors_received) X( \
	                credit_stalls) X(syscalls) X(wire_bytes_sent)                  \
	                X(wire_bytes_received) X(bytes_inline) X(bytes_continued)      \
	                        X(bytes_read_chunk) X(bytes_write_chunk)               \
	                                X(bytes_reply_chunk) X(bytes_special_call)     \
	                                        X(connections) X(peak_pinned_bytes)

int json_stats(const char *file, const struct rpcrdma_engine *engine,
               const struct json_stats_more *more)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "we") : stdout;
	struct rpcrdma_stats s;
	double seconds = (double)more->elapsed_ns / 1e9;
	int r = 0;

	if (!f) {
		tool_error("%s: %s", file, strerror(errno));
		return -EIO;
	}
	rpcrdma_engine_stats(engine, &s);
	fprintf(f,
	        "{\"command\":\"%s\",\"files\":%" PRIu64 ",\"bytes\":%" PRIu64
	        ",\"elapsed_s\":%.6f,\"bytes_per_s\":%.0f",
	        more->command, more->files, more->bytes, seconds,
	        seconds > 0 ? (double)more->bytes / seconds : 0);
#define X(name) fprintf(f, ",\"" #name "\":%" PRIu64, s.name);
	STATS(X)
#undef X
	fputs("}\n", f);
	if (fflush(f) || ferror(f))
		r = -EIO;
	if (f != stdout && fclose(f))
		r = -EIO;
	if (r)
		tool_error("%s: cannot be written", file);
	return r;
}
