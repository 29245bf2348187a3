/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads for operations that may sleep, so that the engine's thread need not sleep.
 * The threads share one queue of jobs, with one lock.  If a job is queued and no thread
 * is idle, another thread is started, up to a limit.  A thread ends when it has had no
 * job for a while.
 *
 * A job may sleep in the kernel for as long as its file system takes, and may delay the
 * other jobs in the queue.  The caller limits the memory that waiting jobs use.
 */
#include "workers.h"
#include "tool.h"
#include <errno.h>
#include <string.h>

enum { IDLE_SECONDS = 10 };

static struct timespec seconds_from_now(time_t seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += seconds;
	return t;
}

/* Returns the next job, or NULL if the thread must end.  The caller holds the lock. */
static struct worker_job *take_job(struct workers *w)
{
	struct timespec until = seconds_from_now(IDLE_SECONDS);
	struct worker_job *j;
	int e = 0;

	while (!w->first && !w->stop && e != ETIMEDOUT) {
		w->n_idle++;
		e = pthread_cond_timedwait(&w->job_added, &w->lock, &until);
		w->n_idle--;
	}
	j = w->first;
	if (!j)
		return NULL;
	w->first = j->next;
	if (!w->first)
		w->last = &w->first;
	w->n_jobs--;
	return j;
}

static void *run_worker(void *arg)
{
	struct worker *me = arg;
	struct workers *w = me->workers;
	struct worker_job *j;

	pthread_mutex_lock(&w->lock);
	while ((j = take_job(w))) {
		uint64_t bytes = j->bytes; /* the job may be freed after it has run */

		w->n_running++;
		pthread_mutex_unlock(&w->lock);
		j->run(j);
		pthread_mutex_lock(&w->lock);
		w->n_running--;
		w->progress_ns = tool_now_ns();
		w->bytes -= bytes;
	}
	me->state = WORKER_ENDED;
	w->n--;
	pthread_cond_signal(&w->thread_ended);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Starts a thread.  Ended threads are joined here or in workers_stop. */
static int start_worker(struct workers *w)
{
	struct worker *me = w->threads;
	int e;

	while (me->state == WORKER_RUNS)
		me++;
	if (me->state == WORKER_ENDED)
		(void)pthread_join(me->thread, NULL); /* returns at once */
	*me = (struct worker){.workers = w, .state = WORKER_NONE};
	e = pthread_create(&me->thread, NULL, run_worker, me);
	if (e)
		return -e;
	me->state = WORKER_RUNS;
	w->n++;
	return 0;
}

void workers_init(struct workers *w, unsigned max)
{
	pthread_condattr_t clock;

	memset(w, 0, sizeof(*w));
	w->last = &w->first;
	w->max = max;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->job_added, &clock);
	pthread_cond_init(&w->thread_ended, &clock);
	pthread_condattr_destroy(&clock);
}

int workers_queue(struct workers *w, struct worker_job *j)
{
	int e = 0;

	j->next = NULL;
	pthread_mutex_lock(&w->lock);
	if (w->stop)
		e = -ESHUTDOWN;
	else if (w->n_jobs >= w->n_idle && w->n < w->max)
		e = start_worker(w);
	if (e && w->n && !w->stop)
		e = 0; /* a thread that is already running will run the job */
	if (!e) {
		if (!w->n_jobs && !w->n_running)
			w->progress_ns = tool_now_ns();
		*w->last = j;
		w->last = &j->next;
		w->n_jobs++;
		w->bytes += j->bytes;
		pthread_cond_signal(&w->job_added);
	}
	pthread_mutex_unlock(&w->lock);
	return e;
}

uint64_t workers_bytes(struct workers *w)
{
	uint64_t bytes;

	pthread_mutex_lock(&w->lock);
	bytes = w->bytes;
	pthread_mutex_unlock(&w->lock);
	return bytes;
}

bool workers_stuck(struct workers *w, uint64_t ns)
{
	bool stuck;

	pthread_mutex_lock(&w->lock);
	stuck = w->n_running && tool_now_ns() - w->progress_ns > ns;
	pthread_mutex_unlock(&w->lock);
	return stuck;
}

unsigned workers_pending(struct workers *w)
{
	unsigned n;

	pthread_mutex_lock(&w->lock);
	n = w->n_jobs + w->n_running;
	pthread_mutex_unlock(&w->lock);
	return n;
}

bool workers_stop(struct workers *w, const struct timespec *until)
{
	int e = 0;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->job_added);
	while (w->n && e != ETIMEDOUT)
		e = pthread_cond_timedwait(&w->thread_ended, &w->lock, until);
	e = w->n != 0;
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->max && !e; i++) {
		if (w->threads[i].state == WORKER_ENDED)
			(void)pthread_join(w->threads[i].thread, NULL);
		w->threads[i].state = WORKER_NONE;
	}
	return !e;
}
