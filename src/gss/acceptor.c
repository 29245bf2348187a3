/* SPDX-License-Identifier: BSD-3-Clause */
#include "gss/acceptor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QUEUED = 256, REASON_BYTES = 256 };

struct rr_acceptor {
	struct rr_gss *table;
	pthread_mutex_t lock;      /* guards the following members */
	pthread_cond_t more, less; /* more: signalled when the queue has grown; less:
				      when a job has ended */
	struct rr_list queue;
	unsigned queued;
	struct rr_acceptor_job *current;
	bool stop;
	bool started;
	pthread_t thread;
};

/* -- the thread ------------------------------------------------------------ */

/* Waits for the next job, with the lock held.  Returns NULL if the thread must end. */
static struct rr_acceptor_job *next_job(struct rr_acceptor *x)
{
	struct rr_list *n;

	while (!x->stop && rr_list_empty(&x->queue))
		pthread_cond_wait(&x->more, &x->lock);
	n = rr_list_pop(&x->queue);
	if (!n)
		return NULL;
	x->queued--;
	return rr_container_of(n, struct rr_acceptor_job, link);
}

static void *run_acceptor(void *arg)
{
	struct rr_acceptor *x = arg;

	pthread_mutex_lock(&x->lock);
	while ((x->current = next_job(x))) {
		struct rr_acceptor_job *a = x->current;

		pthread_mutex_unlock(&x->lock);
		a->call.now = rr_engine_clock();
		/* The result is also in a->request. */
		(void)rr_gss_accept(x->table, &a->call, &a->request);
		pthread_mutex_lock(&x->lock);
		rr_engine_post(a->engine, &a->post);
		x->current = NULL;
		pthread_cond_broadcast(&x->less);
	}
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* Starts the thread, with all signals blocked: other threads handle them.  The first
 * request does not start the thread: a thread inherits its creator's user and group
 * IDs, and an engine's thread may then be running with a client's IDs. */
static int start_acceptor(struct rr_acceptor *x)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&x->thread, NULL, run_acceptor, x);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	x->started = !err;
	return err;
}

/* -- requests -------------------------------------------------------------- */

int rr_acceptor_submit(struct rr_acceptor *x, struct rr_acceptor_job *a, bool *ret_now)
{
	int err;

	rr_list_init(&a->link);
	rr_list_init(&a->post.link);
	*ret_now = !rr_gss_may_block(&a->call.cred);
	if (*ret_now) {
		/* The result is also in a->request. */
		(void)rr_gss_accept(x->table, &a->call, &a->request);
		return 0;
	}
	pthread_mutex_lock(&x->lock);
	err = x->queued >= MAX_QUEUED ? -EBUSY : 0;
	if (!err) {
		rr_list_push(&x->queue, &a->link);
		x->queued++;
		pthread_cond_signal(&x->more);
	}
	pthread_mutex_unlock(&x->lock);
	return err;
}

enum rr_gss_verdict rr_acceptor_check_here(struct rr_acceptor *x,
                                           const struct rr_gss_call *call,
                                           struct rr_gss_request *ret)
{
	return rr_gss_accept(x->table, call, ret);
}

/* Waits until the acceptor's thread has finished posting its result.  The thread holds
 * the lock while it posts. */
void rr_acceptor_posted(struct rr_acceptor *x)
{
	pthread_mutex_lock(&x->lock);
	pthread_mutex_unlock(&x->lock);
}

bool rr_acceptor_withdraw(struct rr_acceptor *x, struct rr_acceptor_job *a)
{
	bool queued;

	pthread_mutex_lock(&x->lock);
	queued = !rr_list_empty(&a->link);
	if (queued) {
		rr_list_del(&a->link);
		x->queued--;
	}
	pthread_mutex_unlock(&x->lock);
	return queued;
}

void rr_acceptor_cancel(struct rr_acceptor *x, struct rr_acceptor_job *a)
{
	(void)rr_acceptor_withdraw(x, a);
	pthread_mutex_lock(&x->lock);
	while (x->current == a)
		pthread_cond_wait(&x->less, &x->lock);
	pthread_mutex_unlock(&x->lock);
	rr_engine_unpost(a->engine, &a->post);
}

int rr_acceptor_wrap(struct rr_acceptor_job *a, const struct rr_piece *p, unsigned n,
                     struct rr_piece *ret)
{
	struct rpcrdma_piece pieces[RPCRDMA_MAX_PIECES];
	size_t len;
	int err;

	for (unsigned i = 0; i < n; i++)
		pieces[i] = (struct rpcrdma_piece){p[i].base, p[i].len, p[i].item};
	err = rr_gss_wrap(&a->request, pieces, n, &a->wrapped, &len);
	if (!err)
		*ret = (struct rr_piece){a->wrapped, len, false};
	return err;
}

void rr_acceptor_job_free(struct rr_acceptor_job *a)
{
	rr_gss_release(&a->request);
	free(a->wrapped);
	free(a);
}

/* -- creation and destruction ---------------------------------------------- */

int rr_acceptor_new(const struct rpcrdma_service_gss_options *o,
                    struct rr_acceptor **ret)
{
	struct rr_gss_options g = {.principal = o->principal,
	                           .max_contexts = o->max_contexts,
	                           .max_per_address = o->max_per_address,
	                           .no_room = o->no_room,
	                           .no_room_arg = o->no_room_arg};
	struct rr_acceptor *x = calloc(1, sizeof(*x));
	char reason[REASON_BYTES] = "";
	int err;

	if (!x)
		return -ENOMEM;
	rr_list_init(&x->queue);
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->more, NULL);
	pthread_cond_init(&x->less, NULL);
	err = rr_gss_new(&g, &x->table);
	if (!err)
		err = rr_gss_check(x->table, reason, sizeof(reason));
	if (!err)
		err = start_acceptor(x);
	if (err) {
		if (o->ret_reason)
			memcpy(o->ret_reason, reason, sizeof(reason));
		rr_acceptor_free(x);
		return err;
	}
	*ret = x;
	return 0;
}

void rr_acceptor_free(struct rr_acceptor *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->stop = true;
	pthread_cond_signal(&x->more);
	pthread_mutex_unlock(&x->lock);
	if (x->started)
		pthread_join(x->thread, NULL);
	rr_gss_free(x->table);
	pthread_cond_destroy(&x->less);
	pthread_cond_destroy(&x->more);
	pthread_mutex_destroy(&x->lock);
	free(x);
}
