/* SPDX-License-Identifier: BSD-3-Clause */
/* The poller with few descriptors (poll) and with many (epoll): same words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop/poller.h"

enum { MANY = 20 };

struct end {
	struct rr_source source;
	int peer;
};

static struct rr_poller poller;
static struct end ends[MANY];

static void make(unsigned i)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	ends[i] = (struct end){.source.fd = fd[0], .peer = fd[1]};
	assert_int_equal(rr_poller_add(&poller, &ends[i].source, EPOLLIN), 0);
}

static void drop(unsigned i)
{
	int fd = ends[i].source.fd;

	rr_poller_del(&poller, &ends[i].source);
	rr_poller_del(&poller, &ends[i].source); /* harmless */
	if (fd >= 0)
		close(fd);
	close(ends[i].peer);
}

static void say(unsigned i)
{
	assert_int_equal(write(ends[i].peer, "x", 1), 1);
}

static void exercise(unsigned n)
{
	struct rr_source *s;
	unsigned seen = 0;

	for (unsigned i = 0; i < n; i++)
		make(i);
	assert_int_equal(rr_poller_wait(&poller, 0), 0);
	assert_null(rr_poller_next(&poller));
	say(1);
	say(2);
	say(n - 1);
	assert_int_equal(rr_poller_wait(&poller, 1000), 3);
	while ((s = rr_poller_next(&poller)))
		seen |= 1u << (rr_container_of(s, struct end, source) - ends);
	assert_int_equal(seen, 1u << 1 | 1u << 2 | 1u << (n - 1));
	/* Taken out between the wait and its turn: not handed out. */
	assert_int_equal(rr_poller_wait(&poller, 0), 3);
	s = rr_poller_next(&poller);
	for (unsigned i = 0; i < n; i++)
		if (&ends[i].source != s)
			rr_poller_arm(&poller, &ends[i].source, EPOLLIN);
	drop(1);
	drop(2);
	drop(n - 1);
	assert_null(rr_poller_next(&poller));
	assert_int_equal(rr_poller_wait(&poller, 0), 0);
	/* Not armed: silent. */
	rr_poller_arm(&poller, &ends[0].source, 0);
	say(0);
	assert_int_equal(rr_poller_wait(&poller, 0), 0);
	rr_poller_arm(&poller, &ends[0].source, EPOLLIN);
	assert_int_equal(rr_poller_wait(&poller, 0), 1);
	for (unsigned i = 0; i < n; i++)
		if (i != 1 && i != 2 && i != n - 1)
			drop(i);
}

static void few_descriptors_need_no_epoll(void **state)
{
	rr_poller_init(&poller);
	exercise(RR_POLLER_FEW);
	assert_int_equal(poller.epfd, -1);
	rr_poller_fini(&poller);
}

static void many_descriptors_move_to_epoll(void **state)
{
	rr_poller_init(&poller);
	exercise(MANY);
	assert_true(poller.epfd >= 0);
	rr_poller_fini(&poller);
}

static void one_descriptor_stands_for_all(void **state)
{
	struct rr_poller outer;
	struct rr_source all = {0};

	rr_poller_init(&poller);
	make(0);
	rr_poller_init(&outer);
	all.fd = rr_poller_fd(&poller);
	assert_true(all.fd >= 0);
	assert_int_equal(rr_poller_add(&outer, &all, EPOLLIN), 0);
	assert_int_equal(rr_poller_wait(&outer, 0), 0);
	say(0);
	assert_int_equal(rr_poller_wait(&outer, 1000), 1);
	drop(0);
	rr_poller_fini(&poller);
	rr_poller_fini(&outer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(few_descriptors_need_no_epoll),
	        cmocka_unit_test(many_descriptors_move_to_epoll),
	        cmocka_unit_test(one_descriptor_stands_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
