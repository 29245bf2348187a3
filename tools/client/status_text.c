/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns texts for NFS call statuses, and prints hints if there is a remedy.  Also
 * prints JSON strings.
 */
#include "client/nfs.h"
#include "client/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A status with the meaning of an errno uses the system's text for that errno, so that
 * messages are the same for local and remote files. */
static const struct {
	nfsstat3 status;
	int error; /* 0: @text describes the status */
	const char *text;
} table[] = {
        {NFS3ERR_PERM, EPERM, NULL},
        {NFS3ERR_NOENT, ENOENT, NULL},
        {NFS3ERR_IO, EIO, NULL},
        {NFS3ERR_NXIO, ENXIO, NULL},
        {NFS3ERR_ACCES, EACCES, NULL},
        {NFS3ERR_EXIST, EEXIST, NULL},
        {NFS3ERR_XDEV, EXDEV, NULL},
        {NFS3ERR_NODEV, ENODEV, NULL},
        {NFS3ERR_NOTDIR, ENOTDIR, NULL},
        {NFS3ERR_ISDIR, EISDIR, NULL},
        {NFS3ERR_INVAL, EINVAL, NULL},
        {NFS3ERR_FBIG, EFBIG, NULL},
        {NFS3ERR_NOSPC, ENOSPC, NULL},
        {NFS3ERR_ROFS, EROFS, NULL},
        {NFS3ERR_MLINK, EMLINK, NULL},
        {NFS3ERR_NAMETOOLONG, ENAMETOOLONG, NULL},
        {NFS3ERR_NOTEMPTY, ENOTEMPTY, NULL},
        {NFS3ERR_DQUOT, EDQUOT, NULL},
        {NFS3ERR_STALE, ESTALE, NULL},
        {NFS3ERR_REMOTE, EREMOTE, NULL},
        {NFS3ERR_BADHANDLE, 0, "file handle not valid on the server"},
        {NFS3ERR_NOT_SYNC, 0, "changed in the meantime"},
        {NFS3ERR_BAD_COOKIE, 0, "the directory changed while it was listed"},
        {NFS3ERR_NOTSUPP, 0, "not supported by the server"},
        {NFS3ERR_TOOSMALL, 0, "the requested reply size is too small"},
        {NFS3ERR_SERVERFAULT, 0, "the server failed internally"},
        {NFS3ERR_BADTYPE, 0, "file type not supported by the server"},
        {NFS3ERR_JUKEBOX, 0, "the server is still busy (jukebox)"},
};

const char *nfs_status_text(const struct nfs_client *c, int status)
{
	static char other[48];

	if (status == -EXDEV)
		return "a symbolic link leads out of the export";
	if (status < 0)
		return link_status_text(&c->link, status);
	if (status == NFS_NO_MOUNT)
		return c->mount.reason;
	if (status >= NFS_RPC)
		return link_status_text(&c->link, status - NFS_RPC);
	for (size_t i = 0; i < TOOL_N(table); i++)
		if ((int)table[i].status == status)
			return table[i].error ? strerror(table[i].error)
			                      : table[i].text;
	snprintf(other, sizeof(other), "NFS error %d", status);
	return other;
}

/* Prints an explanation of root squash or of wildcards, each at most once. */
static void print_hint(const struct nfs_client *c, const char *text, int status)
{
	static bool squash, wildcard;

	if ((status == (int)NFS3ERR_ACCES || status == (int)NFS3ERR_PERM) &&
	    geteuid() == 0 && c->link.sec == SEC_SYS && !squash) {
		squash = true;
		tool_error("%s may treat root as nobody (root squash); `rpcrdma nfsd "
		           "--no-root-squash` does not",
		           c->link.host);
	}
	if (status == (int)NFS3ERR_NOENT && url_is(text) && strpbrk(text, "*[?") &&
	    !wildcard) {
		wildcard = true;
		tool_error("wildcards in URLs are not expanded; `rpcrdma ls` lists "
		           "what is there");
	}
}

int nfs_report(const struct nfs_client *c, const char *act, const char *text,
               int status)
{
	if (!status || status == -EINTR || status == TOOL_REPORTED)
		return status;
	tool_cannot(act, text, nfs_status_text(c, status));
	print_hint(c, text, status);
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

/* clang-format off */
#define STATS(X) \
	X(calls) X(replies) X(retransmits) X(recoveries) X(reconnects) \
	X(call_errors) X(sends) X(recvs) X(rdma_reads) X(rdma_writes) \
	X(registrations) X(local_invalidations) X(remote_invalidations) \
	X(grants) X(errors_sent) X(errors_received) X(credit_stalls) \
	X(syscalls) X(wire_bytes_sent) X(wire_bytes_received) X(bytes_inline) \
	X(bytes_continued) X(bytes_read_chunk) X(bytes_write_chunk) \
	X(bytes_reply_chunk) X(bytes_special_call) X(connections) \
	X(peak_held_bytes) X(sends_inv) X(wakeups) X(connections_lost) \
	X(reply_chunks_offered) X(reply_chunks_used) X(rprc_exposed) \
	X(rprc_expired) X(done_sent) X(done_received) X(done_dropped) \
	X(bytes_reply_pulled) X(bytes_copied) X(bytes_placed)
/* clang-format on */

int json_stats(const char *file, const struct rpcrdma_engine *engine,
               const struct json_stats_more *more)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "we") : stdout;
	struct rpcrdma_stats s;
	double seconds = (double)more->elapsed_ns / 1e9;
	int r = 0;

	if (!f) {
		tool_error("--stats: cannot write %s: %s", tool_quote_always(file),
		           strerror(errno));
		return -EIO;
	}
	rpcrdma_engine_get_stats(engine, &s, sizeof(s));
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
		tool_error("--stats: cannot write %s", tool_quote_always(file));
	return r;
}
