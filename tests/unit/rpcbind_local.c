/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An rpcbind that is behind with its local socket: who asks waits for it, until the
 * deadline, and does not take a full queue for an answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/un.h>
#include <unistd.h>

#include "loop/engine.h"
#include "rpcbind/rpcbind.h"

enum { MOST = 64 };

struct queue {
	int listener, waiting[MOST];
	unsigned n;
	struct rr_rpcbind at;
};

/* As many as it takes. */
static void fill(struct queue *q)
{
	struct sockaddr_un *un = (void *)&q->at.addr;
	int rc = 0;

	memset(q, 0, sizeof(*q));
	un->sun_family = AF_UNIX; /* a name without a file: it begins with a zero */
	snprintf(un->sun_path + 1, 64, "rpcrdma-test-%d", (int)getpid());
	q->at.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 64);
	q->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(q->listener, (void *)un, q->at.len), 0);
	assert_int_equal(listen(q->listener, 1), 0);
	while (!rc) {
		assert_true(q->n < MOST);
		q->at.deadline = rr_engine_clock() + RR_MS(200);
		rc = rr_rpcbind_open(&q->at, &q->waiting[q->n]);
		q->n += !rc;
	}
	assert_int_equal(rc, -ETIMEDOUT);
	assert_true(q->n > 0);
}

static void empty(struct queue *q)
{
	while (q->n)
		close(q->waiting[--q->n]);
	close(q->listener);
}

static void *take_one_later(void *arg)
{
	struct queue *q = arg;

	poll(NULL, 0, 100);
	close(accept(q->listener, NULL, NULL));
	return NULL;
}

static void a_full_queue_is_waited_for(void **state)
{
	struct queue q;
	pthread_t t;
	int fd;

	fill(&q); /* to its deadline */
	assert_int_equal(pthread_create(&t, NULL, take_one_later, &q), 0);
	q.at.deadline = rr_engine_clock() + RR_SEC(20);
	assert_int_equal(rr_rpcbind_open(&q.at, &fd), 0);
	pthread_join(t, NULL);
	close(fd);
	empty(&q);
}

static void no_socket_is_no_full_queue(void **state)
{
	struct rr_rpcbind at;
	int fd;

	rr_rpcbind_local(1000000000, &at);
	strcpy(((struct sockaddr_un *)(void *)&at.addr)->sun_path, "/no/such/socket");
	assert_int_equal(rr_rpcbind_open(&at, &fd), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_full_queue_is_waited_for),
	        cmocka_unit_test(no_socket_is_no_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
