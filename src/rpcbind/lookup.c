/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpcbind/lookup.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct rr_find {
	struct rr_source source; /* the loop's */
	struct rpcrdma_engine *engine;
	struct rr_find_what what;
	char *host;
	int fd; /* readable: the thread is done, and with it these are: */
	int error;
	uint16_t port;
	atomic_bool over;
	atomic_uint held; /* by the loop, by the thread */
};

static void let_go(struct rr_find *f)
{
	if (atomic_fetch_sub(&f->held, 1) > 1)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->host);
	free(f);
}

static void *look_up(void *arg)
{
	struct rr_find *f = arg;
	char service[RPCRDMA_SERVICE_BYTES];
	uint64_t one = 1;

	f->error = rpcrdma_lookup(f->host, f->what.program, f->what.version,
	                          f->what.timeout_ns, service);
	if (!f->error)
		f->port = (uint16_t)strtoul(service, NULL, 10);
	atomic_store(&f->over, true);
	(void)!write(f->fd, &one, sizeof(one)); /* of an empty counter: it is taken */
	let_go(f);
	return NULL;
}

static void ready(struct rr_source *s)
{
	struct rr_find *f = rr_container_of(s, struct rr_find, source);
	struct rr_find_what what = f->what;
	uint16_t port;
	int error;

	if (!atomic_load(&f->over))
		return;
	error = f->error;
	port = f->port;
	rr_find_cancel(f);
	what.done(what.arg, error, port);
}

/* Signals are the business of the user's threads. */
static int start_thread(struct rr_find *f)
{
	sigset_t all, old;
	pthread_t t;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&t, NULL, look_up, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_detach(t);
	return err;
}

static int begin(struct rr_find *f)
{
	int err;

	f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->fd < 0)
		return -errno;
	if (!f->host)
		return -ENOMEM;
	f->source = (struct rr_source){.ready = ready, .fd = f->fd};
	err = rr_poller_add(&f->engine->poller, &f->source, EPOLLIN);
	if (err)
		return err;
	atomic_store(&f->held, 2);
	err = start_thread(f);
	if (err) {
		rr_poller_del(&f->engine->poller, &f->source);
		atomic_store(&f->held, 1);
	}
	return err;
}

int rr_find_start(struct rpcrdma_engine *e, const struct rr_find_what *what,
                  struct rr_find **ret)
{
	struct rr_find *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->engine = e;
	f->what = *what;
	f->host = strdup(what->host);
	atomic_store(&f->held, 1);
	err = begin(f);
	if (err)
		let_go(f);
	else
		*ret = f;
	return err;
}

void rr_find_cancel(struct rr_find *f)
{
	if (!f)
		return;
	rr_poller_del(&f->engine->poller, &f->source);
	let_go(f);
}
