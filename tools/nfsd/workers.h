/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads for jobs that may sleep, and their queue (workers.c).
 */
#ifndef RPCRDMA_NFSD_WORKERS_H
#define RPCRDMA_NFSD_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { WORKERS_MAX = 64 }; /* maximum number of threads for one queue */

struct worker_job {
	struct worker_job *next;
	void (*run)(struct worker_job *);
	uint64_t bytes; /* memory that the job uses until it has run */
};

struct workers;

struct worker {
	struct workers *workers; /* queue whose jobs this thread runs */
	pthread_t thread;
	enum { WORKER_NONE, WORKER_RUNS, WORKER_ENDED } state;
};

struct workers {
	pthread_mutex_t lock; /* guards all fields */
	pthread_cond_t job_added, thread_ended;
	struct worker_job *first, **last; /* the queue */
	unsigned n_jobs, n, n_idle, n_running, max;
	uint64_t bytes;       /* memory that queued and running jobs use */
	uint64_t progress_ns; /* when a job last finished, or the queue became busy */
	bool stop;
	struct worker threads[WORKERS_MAX];
};

/* Initializes an empty queue for at most @max threads (1 to WORKERS_MAX). */
void workers_init(struct workers *, unsigned max);
/* Queues a job, which is lent until it has run.  Returns 0, -EAGAIN if no thread can be
 * started for it, or -ESHUTDOWN after workers_stop. */
int workers_queue(struct workers *, struct worker_job *);
/* Returns the number of octets that queued and running jobs use. */
uint64_t workers_bytes(struct workers *);
/* Returns true if jobs are running and no job has finished for @ns. */
bool workers_stuck(struct workers *, uint64_t ns);
/* Returns the number of queued and running jobs. */
unsigned workers_pending(struct workers *);
/* Refuses new jobs, and waits until all queued and running jobs have finished, or until
 * @until (monotonic).  Returns false if some have not finished by then. */
bool workers_stop(struct workers *, const struct timespec *until);

#endif
