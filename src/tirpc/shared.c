/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine that all handles of a process share, and the engine's thread.
 *
 * The engine and its thread are created on first use, and are never freed, since a
 * handle may be in use when the process ends.  A child of fork() has no copy of the
 * thread.  So the child ignores the inherited engine, without freeing it, and creates
 * its own engine when it needs one.
 */
#include "tirpc/shared.h"
#include "base/sized.h"
#include "loop/budget.h"
#include "tirpc/svc_registry.h"

#include <signal.h>
#include <sys/random.h>
#include <time.h>

static struct {
	pthread_mutex_t lock; /* guards engine and at_fork */
	_Atomic(struct rpcrdma_engine *) engine;
	bool at_fork; /* fork handlers are installed */
	_Atomic uint32_t next_xid;
	_Atomic uint64_t calls, requests, items_placed, items_copied, item_bytes_placed,
	        item_bytes_copied, bytes_referred, bytes_copied;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- life cycle ------------------------------------------------------------ */

static void *run_shared_engine(void *arg)
{
	/* Returns only if waiting for events fails, which is always a bug. */
	(void)rpcrdma_engine_run(arg);
	return NULL;
}

/* Starts the thread with all signals blocked: the user's threads handle them. */
static int start_engine_thread(struct rpcrdma_engine *e)
{
	sigset_t all, old;
	pthread_t t;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&t, NULL, run_shared_engine, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_detach(t);
	return err;
}

static void before_fork(void)
{
	rr_rpc_registry_lock();
	pthread_mutex_lock(&shared.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&shared.lock);
	rr_rpc_registry_unlock();
}

static void after_fork_child(void)
{
	shared.engine = NULL;
	rr_budget_forget();
	shared.calls = shared.requests = 0;
	shared.items_placed = shared.item_bytes_placed = 0;
	shared.items_copied = shared.item_bytes_copied = 0;
	shared.bytes_referred = shared.bytes_copied = 0;
	/* Change the XID; otherwise a server could mistake the child's Call for a
	 * retransmission by the parent. */
	shared.next_xid += 0x5bd1e995u ^ (uint32_t)rr_engine_clock();
	rr_rpc_registry_forget();
	pthread_mutex_unlock(&shared.lock);
	rr_rpc_registry_unlock();
}

static int start_shared_engine(void)
{
	struct rpcrdma_engine *e;
	uint32_t seed = 0;
	int err;

	if (!shared.at_fork) {
		err = -pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		if (err)
			return err;
		shared.at_fork = true;
		/* getrandom() never returns fewer octets than these 4. */
		(void)!getrandom(&seed, sizeof(seed), 0);
		shared.next_xid = seed;
	}
	err = rpcrdma_engine_new(NULL, &e);
	if (err)
		return err;
	err = start_engine_thread(e);
	if (err) {
		rpcrdma_engine_free(e);
		return err;
	}
	shared.engine = e;
	return 0;
}

int rr_rpc_engine(struct rpcrdma_engine **ret)
{
	int err = 0;

	pthread_mutex_lock(&shared.lock);
	if (!shared.engine)
		err = start_shared_engine();
	if (!err)
		*ret = shared.engine;
	pthread_mutex_unlock(&shared.lock);
	return err;
}

bool rr_rpc_engine_runs(const struct rpcrdma_engine *e)
{
	return e == shared.engine;
}

uint32_t rr_rpc_new_xid(void)
{
	uint32_t xid;

	do {
		xid = ++shared.next_xid;
	} while (!xid);
	return xid;
}

/* -- waiting --------------------------------------------------------------- */

void rr_rpc_wait_init(struct rr_rpc_wait *w)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->cond, &attr);
	pthread_condattr_destroy(&attr);
	w->done = false;
}

void rr_rpc_wait_fini(struct rr_rpc_wait *w)
{
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->lock);
}

void rr_rpc_wait_wake(struct rr_rpc_wait *w)
{
	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

static void unlock_mutex(void *lock)
{
	pthread_mutex_unlock(lock);
}

bool rr_rpc_wait_until(struct rr_rpc_wait *w, rr_time deadline)
{
	struct timespec ts = {.tv_sec = (time_t)(deadline / RR_SEC(1)),
	                      .tv_nsec = (long)(deadline % RR_SEC(1))};
	volatile int err = 0; /* volatile, since cancellation may call longjmp() */
	bool done;

	pthread_mutex_lock(&w->lock);
	pthread_cleanup_push(unlock_mutex, &w->lock);
	while (!w->done && !err)
		err = deadline == RR_TIME_NEVER
		              ? pthread_cond_wait(&w->cond, &w->lock)
		              : pthread_cond_timedwait(&w->cond, &w->lock, &ts);
	done = w->done;
	pthread_cleanup_pop(1);
	return done;
}

struct errand {
	struct rr_post post;
	struct rr_rpc_wait wait;
	void (*fn)(void *);
	void *arg;
};

static void run_errand(struct rr_post *p)
{
	struct errand *e = rr_container_of(p, struct errand, post);

	e->fn(e->arg);
	rr_rpc_wait_wake(&e->wait);
}

void rr_rpc_in_engine(struct rpcrdma_engine *e, void (*fn)(void *), void *arg)
{
	struct errand errand = {.post.fn = run_errand, .fn = fn, .arg = arg};
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	rr_rpc_wait_init(&errand.wait);
	rr_engine_post(e, &errand.post);
	rr_rpc_wait_until(&errand.wait, RR_TIME_NEVER);
	rr_rpc_wait_fini(&errand.wait);
	pthread_setcancelstate(old, NULL);
}

/* -- statistics ------------------------------------------------------------ */

void rr_rpc_count(const struct rr_xdr_count *c)
{
	shared.items_placed += c->items_placed;
	shared.items_copied += c->items_copied;
	shared.item_bytes_placed += c->item_bytes_placed;
	shared.item_bytes_copied += c->item_bytes_copied;
	shared.bytes_referred += c->bytes_referred;
	shared.bytes_copied += c->bytes_copied;
}

void rr_rpc_count_call(void)
{
	shared.calls++;
}

void rr_rpc_count_request(void)
{
	shared.requests++;
}

struct stats_errand {
	struct rpcrdma_engine *engine;
	struct rpcrdma_stats *ret;
	size_t size;
};

static void copy_engine_stats(void *arg)
{
	struct stats_errand *s = arg;

	rpcrdma_engine_get_stats(s->engine, s->ret, s->size);
}

static void copy_tirpc_stats(struct rpcrdma_tirpc_stats *ret, size_t size)
{
	const struct rpcrdma_tirpc_stats now = {
	        .calls = shared.calls,
	        .requests = shared.requests,
	        .items_placed = shared.items_placed,
	        .items_copied = shared.items_copied,
	        .item_bytes_placed = shared.item_bytes_placed,
	        .item_bytes_copied = shared.item_bytes_copied,
	        .bytes_referred = shared.bytes_referred,
	        .bytes_copied = shared.bytes_copied,
	};

	rr_sized_give(ret, size, &now, sizeof(now));
}

int rpcrdma_tirpc_get_stats(struct rpcrdma_tirpc_stats *ret, size_t size,
                            struct rpcrdma_stats *transport, size_t transport_size)
{
	struct stats_errand s = {.ret = transport, .size = transport_size};

	pthread_mutex_lock(&shared.lock);
	s.engine = shared.engine;
	pthread_mutex_unlock(&shared.lock);
	if (!s.engine)
		return -ENODEV;
	if (transport)
		rr_rpc_in_engine(s.engine, copy_engine_stats, &s);
	if (ret)
		copy_tirpc_stats(ret, size);
	return 0;
}
