/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking calls.
 *
 * Normal path: if no other thread runs the engine, and no thread has ever called
 * rpcrdma_engine_process, the calling thread runs the engine until its call has ended.
 * Then it wakes another calling thread, which runs the engine in turn.  Otherwise, the
 * calling thread posts its call to the engine, and sleeps until the done function has
 * copied the results.
 *
 * Failure: a posted call does not begin while no thread runs the engine.  If the call's
 * timeout passes before the call begins, the thread returns and the engine frees the
 * call later.  A call that has begun uses the caller's memory, so the thread always
 * waits until that call has ended.
 *
 * Invariant: if calls are posted and no thread runs the engine, one of the sleeping
 * threads has been woken to run it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "rpc/calls.h"

struct sync_call {
	struct rr_post post;
	struct rr_list waiting; /* node in the engine's list */
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn; /* may be freed before the call is done */
	struct rpcrdma_call_options o;
	rr_time deadline;
	void *results;
	size_t size;
	struct rpcrdma_reply reply;
	pthread_cond_t cond;
	/* guarded by the engine's sync_lock; @left: timed out before the call began */
	bool begun, left, done;
};

/* Copies results from the library's memory to their destinations, because that memory
 * is freed after the done function.  Returns -EOVERFLOW if a result does not fit. */
static int fill_dests(const struct rpcrdma_reply *r)
{
	int err = 0;

	for (unsigned i = 0; i < r->n_dests; i++) {
		struct rpcrdma_dest *d = &r->dests[i];

		if (!d->ret_used || d->ret_base == d->base)
			continue;
		if (d->ret_len <= d->len)
			memcpy(d->base, d->ret_base, d->ret_len);
		else
			err = -EOVERFLOW;
		d->ret_base = d->ret_len <= d->len ? d->base : NULL;
	}
	return err;
}

static pthread_mutex_t *lock_of(const struct sync_call *s)
{
	return &s->engine->sync_lock;
}

static void end_waiting(struct sync_call *s)
{
	pthread_mutex_lock(lock_of(s));
	s->done = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(lock_of(s));
}

static void take_results(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                         void *arg)
{
	struct sync_call *s = arg;

	s->reply = *r;
	s->reply.results = s->results;
	if (!r->status) {
		s->reply.status = fill_dests(r);
		if (r->len > s->size)
			s->reply.status = -EOVERFLOW;
		else if (r->len)
			memcpy(s->results, r->results, r->len);
	}
	end_waiting(s);
}

static int start_call(struct sync_call *s)
{
	rr_time now = rr_engine_clock();

	if (s->o.timeout_ns) {
		if (now >= s->deadline)
			return -ETIMEDOUT;
		s->o.timeout_ns = s->deadline - now;
	}
	s->o.done = take_results;
	s->o.arg = s;
	return rpcrdma_call(s->conn, &s->o, NULL);
}

static void init_sync(struct sync_call *s)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_condattr_destroy(&attr);
	rr_list_init(&s->waiting);
}

static void free_sync(struct sync_call *s)
{
	pthread_cond_destroy(&s->cond);
	free(s);
}

/* -- running the engine ---------------------------------------------------- */

/* Wakes the next sleeping thread.  The caller must hold the lock. */
static void wake_next(struct rpcrdma_engine *e)
{
	struct rr_list *n = rr_list_first(&e->sync_calls);

	if (n)
		pthread_cond_signal(
		        &rr_container_of(n, struct sync_call, waiting)->cond);
}

static bool is_done(struct sync_call *s)
{
	bool done;

	pthread_mutex_lock(lock_of(s));
	done = s->done;
	pthread_mutex_unlock(lock_of(s));
	return done;
}

/* Runs the engine until the call has ended.  This thread must have entered the
 * engine. */
static void run_to_end(struct sync_call *s)
{
	struct rpcrdma_engine *e = s->engine;

	while (!is_done(s)) /* even if waiting fails, the call must end first */
		(void)rr_engine_turn(e, -1);
	pthread_mutex_lock(&e->sync_lock);
	rr_engine_leave(e);
	wake_next(e);
	pthread_mutex_unlock(&e->sync_lock);
}

/* -- waiting for the thread that runs the engine --------------------------- */

static void begin_posted(struct rr_post *p)
{
	struct sync_call *s = rr_container_of(p, struct sync_call, post);
	bool left;

	pthread_mutex_lock(lock_of(s));
	left = s->left;
	s->begun = true;
	pthread_mutex_unlock(lock_of(s));
	if (left) {
		free_sync(s);
		return;
	}
	s->reply.status = start_call(s);
	if (s->reply.status)
		end_waiting(s);
}

/* Sleeps until this thread is woken.  Sets @left if the call has not begun in time. */
static void sleep_once(struct sync_call *s)
{
	const struct timespec at = {.tv_sec = (time_t)(s->deadline / RR_SEC(1)),
	                            .tv_nsec = (long)(s->deadline % RR_SEC(1))};
	int err;

	if (s->begun || !s->o.timeout_ns)
		err = pthread_cond_wait(&s->cond, lock_of(s));
	else
		err = pthread_cond_timedwait(&s->cond, lock_of(s), &at);
	s->left = err && !s->begun;
}

/* Waits for a posted call.  Returns false if the call has not begun in time; the engine
 * then frees it. */
static bool wait_posted(struct sync_call *s)
{
	struct rpcrdma_engine *e = s->engine;
	bool done;

	pthread_mutex_lock(&e->sync_lock);
	rr_list_push(&e->sync_calls, &s->waiting);
	while (!s->done && !s->left) {
		if (!rr_engine_enter(e)) {
			sleep_once(s);
			continue;
		}
		pthread_mutex_unlock(&e->sync_lock);
		run_to_end(s);
		pthread_mutex_lock(&e->sync_lock);
	}
	done = s->done;
	rr_list_del(&s->waiting);
	wake_next(e); /* pass on a wake-up that this thread did not need */
	pthread_mutex_unlock(&e->sync_lock);
	return done;
}

/* -- the public function --------------------------------------------------- */

static bool run_sync(struct sync_call *s)
{
	struct rpcrdma_engine *e = s->engine;

	if (rr_engine_enter(e)) {
		s->reply.status = start_call(s);
		s->done = s->reply.status;
		run_to_end(s);
		return true;
	}
	s->post.fn = begin_posted;
	rr_list_init(&s->post.link);
	rr_engine_post(e, &s->post);
	return wait_posted(s);
}

static int take_options(struct sync_call *s, struct rpcrdma_conn *c,
                        const struct rpcrdma_call_options *o)
{
	int err = c && o ? RR_SIZED_TAKE(&s->o, procedure, o) : -EINVAL;

	if (err)
		return err;
	if (s->o.done || s->o.arg || (s->size && !s->results))
		return -EINVAL;
	if (rr_engine_inside(c->engine))
		return -EDEADLK;
	if (!s->o.reply_bytes)
		s->o.reply_bytes = s->size;
	s->conn = c;
	s->engine = c->engine;
	s->deadline = rr_after(rr_engine_clock(), s->o.timeout_ns);
	return 0;
}

int rpcrdma_call_sync(struct rpcrdma_conn *c, const struct rpcrdma_call_options *o,
                      void *results, size_t size, struct rpcrdma_reply *ret,
                      size_t ret_size)
{
	struct rpcrdma_reply reply = {.results = results};
	struct sync_call *s = calloc(1, sizeof(*s));
	int cancel;

	if (!s)
		return -ENOMEM;
	s->results = results;
	s->size = size;
	s->reply = reply;
	init_sync(s);
	reply.status = take_options(s, c, o);
	if (!reply.status) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		if (run_sync(s)) {
			reply = s->reply;
		} else {
			reply.status = -ETIMEDOUT;
			s = NULL;
		}
		pthread_setcancelstate(cancel, NULL);
	}
	if (s)
		free_sync(s);
	if (ret)
		rr_sized_give(ret, ret_size, &reply, sizeof(reply));
	return reply.status;
}
