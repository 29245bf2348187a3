/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of idle connections.
 *
 *   bench_idle PORT PID FEATURES CONNS...
 *
 * Connects to bench_rdma's server, whose process is PID, until there are CONNS
 * connections, each of which makes one NULL call.  Then it prints
 *
 *   CONNS SERVER CLIENT
 *
 * SERVER and CLIENT are the KiB of anonymous memory that the two processes have gained
 * since the start.  Further CONNS, in ascending order, continue from there.
 */
#include <errno.h>
#include <rpcrdma/rpcrdma.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

enum { AT_ONCE = 64 }; /* connections that are being made */

static struct rpcrdma_engine *engine;
static struct rpcrdma_conn *conns[BENCH_MAX_CONNS];
static unsigned answered;

static void die(const char *what, int error)
{
	if (error)
		bench_die(what, error);
}

/* Returns the anonymous memory of a process in KiB. */
static long anonymous_kib(int pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	if (!f)
		bench_die(path, errno);
	while (kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) != 1)
			kib = -1;
	fclose(f);
	if (kib < 0)
		bench_die(path, ENODATA);
	return kib;
}

static void was_answered(struct rpcrdma_call *call, const struct rpcrdma_reply *r,
                         void *arg)
{
	(void)call;
	(void)arg;
	if (r->status) {
		fprintf(stderr, "bench_idle: connection %u: %s\n", answered + 1,
		        rpcrdma_strstatus(r->status));
		exit(1);
	}
	answered++;
}

static void add_connection(const char *port, const char *features, unsigned i)
{
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_call_options null = RPCRDMA_OPTIONS(struct rpcrdma_call_options);

	co.features = features;
	co.no_reconnect = true;
	null.program = BENCH_PROGRAM;
	null.version = BENCH_VERSION;
	null.done = was_answered;
	die("connect",
	    rpcrdma_connect(engine, "127.0.0.1", port, &co, NULL, NULL, &conns[i]));
	die("call", rpcrdma_call(conns[i], &null, NULL));
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	long server, client;
	int pid;

	if (argc < 5) {
		fputs("usage: bench_idle PORT PID FEATURES CONNS...\n", stderr);
		return 2;
	}
	bench_allow_conns();
	pid = atoi(argv[2]);
	die("engine", rpcrdma_engine_new(NULL, &engine));
	server = anonymous_kib(pid);
	client = anonymous_kib(getpid());
	for (int i = 4; i < argc; i++) {
		unsigned want = (unsigned)atoi(argv[i]);

		if (want > BENCH_MAX_CONNS)
			bench_die("CONNS", E2BIG);
		while (answered < want) {
			while (n < want && n < answered + AT_ONCE)
				add_connection(argv[1], argv[3], n++);
			die("process", rpcrdma_engine_process(engine, -1));
		}
		printf("%u %ld %ld\n", want, anonymous_kib(pid) - server,
		       anonymous_kib(getpid()) - client);
		fflush(stdout);
	}
	while (n)
		rpcrdma_conn_close(conns[--n]);
	while (!rpcrdma_engine_idle(engine))
		die("close", rpcrdma_engine_process(engine, 1000));
	rpcrdma_engine_free(engine);
	return 0;
}
