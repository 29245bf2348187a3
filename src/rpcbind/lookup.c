/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups in a thread; contract in lookup.h. */
#include "rpcbind/lookup.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct rr_lookup {
	struct rr_source source; /* used only by the event loop */
	struct rpcrdma_engine *engine;
	struct rr_lookup_options what;
	char *host;
	int fd; /* eventfd: readable when the thread is done */
	/* Set by the thread before it sets @over: */
	int error;
	uint16_t port;
	atomic_bool over;
	atomic_uint held; /* references: the loop's and the thread's */
};

static void put_lookup(struct rr_lookup *f)
{
	if (atomic_fetch_sub(&f->held, 1) > 1)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->host);
	free(f);
}

static void *run_lookup_thread(void *arg)
{
	struct rr_lookup *f = arg;
	char service[RPCRDMA_SERVICE_BYTES];
	uint64_t one = 1;

	f->error = rpcrdma_lookup(f->host, f->what.program, f->what.version,
	                          f->what.timeout_ns, service);
	if (!f->error)
		f->port = (uint16_t)strtoul(service, NULL, 10);
	atomic_store(&f->over, true);
	(void)!write(f->fd, &one, sizeof(one)); /* cannot fail: the counter is 0 */
	put_lookup(f);
	return NULL;
}

static void on_lookup_done(struct rr_source *s)
{
	struct rr_lookup *f = rr_container_of(s, struct rr_lookup, source);
	struct rr_lookup_options what = f->what;
	uint16_t port;
	int error;

	if (!atomic_load(&f->over))
		return;
	error = f->error;
	port = f->port;
	rr_lookup_cancel(f);
	what.done(what.arg, error, port);
}

/* Starts the thread with all signals blocked: the user's threads handle them. */
static int start_lookup_thread(struct rr_lookup *f)
{
	sigset_t all, old;
	pthread_t t;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&t, NULL, run_lookup_thread, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_detach(t);
	return err;
}

static int begin_lookup(struct rr_lookup *f)
{
	int err;

	f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->fd < 0)
		return -errno;
	if (!f->host)
		return -ENOMEM;
	f->source = (struct rr_source){.ready = on_lookup_done, .fd = f->fd};
	err = rr_poller_add(&f->engine->poller, &f->source, EPOLLIN);
	if (err)
		return err;
	atomic_store(&f->held, 2);
	err = start_lookup_thread(f);
	if (err) {
		rr_poller_del(&f->engine->poller, &f->source);
		atomic_store(&f->held, 1);
	}
	return err;
}

int rr_lookup_start(struct rpcrdma_engine *e, const struct rr_lookup_options *what,
                    struct rr_lookup **ret)
{
	struct rr_lookup *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->engine = e;
	f->what = *what;
	f->host = strdup(what->host);
	atomic_store(&f->held, 1);
	err = begin_lookup(f);
	if (err)
		put_lookup(f);
	else
		*ret = f;
	return err;
}

void rr_lookup_cancel(struct rr_lookup *f)
{
	if (!f)
		return;
	rr_poller_del(&f->engine->poller, &f->source);
	put_lookup(f);
}
