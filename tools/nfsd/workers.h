/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads for jobs that may sleep, and the queue before them (workers.c).
 */
#ifndef RPCRDMA_NFSD_WORKERS_H
#define RPCRDMA_NFSD_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { WORKERS_MAX = 64 }; /* threads of one queue */

struct worker_job {
	struct worker_job *next;
	void (*run)(struct worker_job *);
	uint64_t bytes; /* memory that the job holds until it has run */
};

struct workers;

struct worker {
	struct workers *workers; /* whose jobs the thread runs */
	pthread_t thread;
	enum { WORKER_NONE, WORKER_RUNS, WORKER_ENDED } state;
};

struct workers {
	pthread_mutex_t lock; /* of all fields */
	pthread_cond_t job_added, thread_ended;
	struct worker_job *first, **last; /* the queue */
	unsigned n_jobs, n, n_idle, n_running, max;
	uint64_t bytes;       /* of queued and running jobs */
	uint64_t progress_ns; /* when a job last ended, or the first was queued */
	bool stop;
	struct worker threads[WORKERS_MAX];
};

/* Makes an empty queue for at most @max threads (1 to WORKERS_MAX). */
void workers_init(struct workers *, unsigned max);
/* Queues a job, which stays in place until it has run.  Returns 0, -EAGAIN if there is
 * no thread for it, or -ESHUTDOWN after workers_stop. */
int workers_queue(struct workers *, struct worker_job *);
/* Returns the memory that queued and running jobs hold. */
uint64_t workers_bytes(struct workers *);
/* Returns true if jobs are running and none has ended for @ns. */
bool workers_stuck(struct workers *, uint64_t ns);
/* Returns the number of queued and running jobs. */
unsigned workers_pending(struct workers *);
/* Refuses new jobs, and waits until all others have run.  Returns false if some have
 * not at @until (monotonic). */
bool workers_stop(struct workers *, const struct timespec *until);

#endif
