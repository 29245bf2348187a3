/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The JSON object that --stats-on-exit writes: the engines' counters ("transport", the
 * fields of struct rpcrdma_stats) and the number of calls of each procedure ("nfs",
 * "mount"), without procedures that were never called.  Calls over TCP have separate
 * counters: "mount_tcp" counts all calls to MOUNT's port, "nlm_tcp" the NLM calls among
 * these, and "gss_tcp" the calls to the port for RPCSEC_GSS contexts.
 */
#include "daemon.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
#define F(x)                                                                           \
	{                                                                              \
#x, offsetof(struct rpcrdma_stats, x)                                  \
	}
        F(calls),
        F(replies),
        F(requests),
        F(request_replies),
        F(retransmits),
        F(reconnects),
        F(call_errors),
        F(sends),
        F(recvs),
        F(rdma_reads),
        F(rdma_writes),
        F(registrations),
        F(local_invalidations),
        F(remote_invalidations),
        F(grants),
        F(errors_sent),
        F(errors_received),
        F(credit_stalls),
        F(cache_hits),
        F(cache_waits),
        F(syscalls),
        F(wire_bytes_sent),
        F(wire_bytes_received),
        F(bytes_inline),
        F(bytes_continued),
        F(bytes_read_chunk),
        F(bytes_write_chunk),
        F(bytes_reply_chunk),
        F(bytes_special_call),
        F(connections),
        F(connections_open),
        F(connections_refused),
        F(connections_evicted),
        F(held_bytes),
        F(peak_held_bytes),
        F(sends_inv),
        F(wakeups),
        F(connections_lost),
        F(reply_chunks_offered),
        F(reply_chunks_used),
        F(rprc_exposed),
        F(rprc_expired),
        F(done_sent),
        F(done_received),
        F(done_dropped),
        F(bytes_reply_pulled),
        F(bytes_copied),
        F(bytes_placed),
#undef F
};

/* Writes each counter's sum over the engines. */
static void write_transport_stats(FILE *f, struct rpcrdma_engine *const *engines,
                                  unsigned n_engines)
{
	const char *sep = "";
	struct rpcrdma_stats s;
	uint64_t v, sum[sizeof(fields) / sizeof(fields[0])] = {0};

	for (unsigned i = 0; i < n_engines; i++) {
		rpcrdma_engine_get_stats(engines[i], &s, sizeof(s));
		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
			memcpy(&v, (const char *)&s + fields[k].offset, sizeof(v));
			sum[k] += v;
		}
	}

	fprintf(f, "\"transport\":{");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		fprintf(f, "%s\"%s\":%" PRIu64, sep, fields[i].name, sum[i]);
		sep = ",";
	}
	fprintf(f, "}");
}

static void write_program_stats(FILE *f, const char *title,
                                const struct rpcrdma_service *service, uint32_t program,
                                const struct rpcrdma_binding *procs, unsigned n)
{
	const char *sep = "";

	fprintf(f, ",\"%s\":{", title);
	for (unsigned i = 0; i < n; i++) {
		struct rpcrdma_proc_stats s;

		if (rpcrdma_service_get_stats(service, program, 3, i, &s, sizeof(s)) ||
		    !s.calls)
			continue;
		fprintf(f,
		        "%s\"%s\":{\"calls\":%" PRIu64 ",\"errors\":%" PRIu64
		        ",\"args_bytes\":%" PRIu64 ",\"results_bytes\":%" PRIu64 "}",
		        sep, procs[i].name, s.calls, s.errors, s.args_bytes,
		        s.results_bytes);
		sep = ",";
	}
	fprintf(f, "}");
}

static void write_tcp_stats(FILE *f, const char *title, const struct tcpd *t)
{
	struct tcpd_stats s;

	if (!t)
		return;
	tcpd_stats(t, &s);
	fprintf(f,
	        ",\"%s\":{\"calls\":%" PRIu64 ",\"errors\":%" PRIu64
	        ",\"connections\":%" PRIu64 ",\"connections_dropped\":%" PRIu64 "}",
	        title, s.calls, s.errors, s.connections, s.dropped);
}

int nfsd_write_stats(const char *path, struct rpcrdma_engine *const *engines,
                     unsigned n_engines, const struct rpcrdma_service *service,
                     const struct tcpd *mount, uint64_t nlm_calls,
                     const struct tcpd *gss)
{
	FILE *f = strcmp(path, "-") ? tool_create(path) : stdout;
	int e = 0;

	if (!f)
		return -errno;
	fprintf(f, "{");
	write_transport_stats(f, engines, n_engines);
	write_program_stats(f, "nfs", service, RPCRDMA_NFS_PROGRAM,
	                    rpcrdma_nfs3_binding, RPCRDMA_NFS3_PROCEDURES);
	write_program_stats(f, "mount", service, RPCRDMA_MOUNT_PROGRAM,
	                    rpcrdma_mount3_binding, RPCRDMA_MOUNT3_PROCEDURES);
	write_tcp_stats(f, "mount_tcp", mount);
	if (mount)
		fprintf(f, ",\"nlm_tcp\":{\"calls\":%" PRIu64 "}", nlm_calls);
	write_tcp_stats(f, "gss_tcp", gss);
	fprintf(f, "}\n");
	if (fflush(f) || ferror(f))
		e = -EIO;
	if (f != stdout && fclose(f))
		e = -EIO;
	return e;
}
