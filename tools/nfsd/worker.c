/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads for what waits for storage, so that engines do not.  A list of jobs
 * under one lock; as many jobs wait as requests are being served.
 */
#include "nfsd.h"
#include <errno.h>
#include <stdlib.h>

static void *worker(void *arg)
{
	struct workers *w = arg;
	struct job *j;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->first && !w->stop)
			pthread_cond_wait(&w->more, &w->lock);
		j = w->first;
		if (!j)
			break;
		w->first = j->next;
		if (!w->first)
			w->last = &w->first;
		pthread_mutex_unlock(&w->lock);
		j->run(j);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int workers_start(struct workers *w, unsigned n)
{
	*w = (struct workers){.n = 0};
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	w->threads = calloc(n, sizeof(*w->threads));
	if (!w->threads)
		return -ENOMEM;
	while (w->n < n) {
		int e = pthread_create(&w->threads[w->n], NULL, worker, w);

		if (e) {
			workers_stop(w);
			return -e;
		}
		w->n++;
	}
	return 0;
}

void workers_stop(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->more);
	pthread_mutex_unlock(&w->lock);
	while (w->n)
		(void)pthread_join(w->threads[--w->n], NULL); /* ours, never detached */
	free(w->threads);
	w->threads = NULL;
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
}

void workers_give(struct workers *w, struct job *j)
{
	j->next = NULL;
	pthread_mutex_lock(&w->lock);
	*w->last = j;
	w->last = &j->next;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}
