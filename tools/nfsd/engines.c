/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines of `rpcrdma nfsd` and their threads.  The main thread runs the first
 * engine, which accepts all connections and hands most of them to the other engines.
 * Each other engine has a thread of its own.  These threads handle no signals.  They
 * begin with the server's identity, because the main thread starts them before it
 * serves the first request.
 */
#include "daemon.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

enum { UNKNOWN_CORES = 1 };

/* Returns one engine for each core that this process may use, at most MAX_ENGINES. */
static unsigned count_cores(void)
{
	cpu_set_t cores;
	int n = sched_getaffinity(0, sizeof(cores), &cores) ? UNKNOWN_CORES
	                                                    : CPU_COUNT(&cores);

	return n < MAX_ENGINES ? (unsigned)n : MAX_ENGINES;
}

int engines_new(struct daemon *s)
{
	unsigned n = s->engines_wanted ? (unsigned)s->engines_wanted : count_cores();
	int e = 0;

	while (!e && s->n_engines < n) {
		e = tool_engine_new(&s->common, &s->engines[s->n_engines]);
		if (!e)
			s->n_engines++;
	}
	return e;
}

int engines_share(struct daemon *s, struct rpcrdma_listener *l)
{
	int e = 0;

	for (unsigned i = 1; i < s->n_engines && !e; i++)
		e = rpcrdma_listener_add_engine(l, s->engines[i]);
	return e;
}

static void *run_engine_thread(void *arg)
{
	int e = rpcrdma_engine_run(arg);

	if (e)
		tool_error("%s", strerror(-e));
	return NULL;
}

int engines_start(struct daemon *s)
{
	sigset_t all, old;
	int e = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 1; i < s->n_engines && !e; i++) {
		e = -pthread_create(&s->engine_threads[i], NULL, run_engine_thread,
		                    s->engines[i]);
		if (!e)
			s->n_engine_threads++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return e;
}

void engines_stop(struct daemon *s)
{
	for (unsigned i = s->n_engine_threads; i; i--)
		rpcrdma_engine_stop(s->engines[i]);
	for (; s->n_engine_threads; s->n_engine_threads--)
		(void)pthread_join(s->engine_threads[s->n_engine_threads], NULL);
}

void engines_free(struct daemon *s)
{
	while (s->n_engines)
		rpcrdma_engine_free(s->engines[--s->n_engines]);
}
