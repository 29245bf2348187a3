/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records over TCP as nfsd takes them (tools/nfsd/tcpd.c), with a service that says
 * back what it heard: nothing is lost where writes are cut, whatever the sizes.
 */
#include "nfsd/tcpd.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MOST = 60000, RECORDS = 200 };

static struct tcpd *server;

/* The system takes as much as it likes: from one octet to all, in turn. */
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	static const size_t takes[] = {1, 2, 3, 1 << 20, 5, 7000, 1 << 20, 4, 3, 30000};
	static unsigned turn;
	size_t take = takes[turn++ % (sizeof(takes) / sizeof(takes[0]))], n = 0;
	uint8_t *octets = malloc(4 + MOST);
	ssize_t r;

	for (size_t i = 0; i < msg->msg_iovlen; i++) {
		assert_true(n + msg->msg_iov[i].iov_len <= 4 + MOST);
		memcpy(octets + n, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len);
		n += msg->msg_iov[i].iov_len;
	}
	assert_true(n > 0);
	if (take < n)
		n = take;
	else if (turn % 2) /* all but the last octets */
		n -= n > 2 ? 2 : 0;
	r = send(fd, octets, n, flags);
	free(octets);
	return r;
}

/* What was said, from the end to the beginning; errors begin with 'x'. */
static void *say_back(void *arg, const struct sockaddr_storage *peer,
                      const void *record, size_t len, size_t *ret_len, bool *ret_failed)
{
	const uint8_t *from = record;
	uint8_t *to = malloc(len);

	assert_ptr_equal(arg, &server);
	assert_int_equal(peer->ss_family, AF_INET);
	for (size_t i = 0; to && i < len; i++)
		to[i] = from[len - 1 - i];
	*ret_failed = len && from[0] == 'x';
	*ret_len = len;
	return to;
}

static int start(void **state)
{
	const struct tcpd_service s = {say_back, &server, MOST};
	struct sockaddr_storage at = {0};
	struct sockaddr_in *in = (void *)&at;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = tcpd_new(&s);
	return !server || tcpd_listen(server, &at, 0) || tcpd_start(server);
}

static int stop(void **state)
{
	tcpd_stop(server);
	tcpd_free(server);
	return 0;
}

static int new_connection(void)
{
	struct sockaddr_storage at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(tcpd_addr(server, 0, &at));
	assert_int_equal(
	        connect(fd, (struct sockaddr *)&at, sizeof(struct sockaddr_in)), 0);
	return fd;
}

static size_t length_of(unsigned i)
{
	return 1 + (i * 7919u + i * i * 31u) % (MOST - 1);
}

static uint8_t octet_of(unsigned i, size_t at)
{
	return 0x80 | (uint8_t)(i * 13 + at * 7 + (at >> 8)); /* none is an "x" */
}

static void send_all(int fd, const void *p, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = send(fd, (const char *)p + done, len - done, MSG_NOSIGNAL);

		assert_true(n > 0);
		done += (size_t)n;
	}
}

static void receive_all(int fd, void *p, size_t len)
{
	struct pollfd wait = {fd, POLLIN, 0};

	for (size_t done = 0; done < len;) {
		ssize_t n;

		assert_int_equal(poll(&wait, 1, 30000), 1);
		n = recv(fd, (char *)p + done, len - done, 0);
		assert_true(n > 0);
		done += (size_t)n;
	}
}

static void *ask_all(void *arg)
{
	static uint8_t octets[4 + MOST];
	int fd = *(int *)arg;

	for (unsigned i = 0; i < RECORDS; i++) {
		size_t len = length_of(i);
		uint32_t mark = htonl(1u << 31 | (uint32_t)len);

		memcpy(octets, &mark, 4);
		for (size_t at = 0; at < len; at++)
			octets[4 + at] = octet_of(i, at);
		send_all(fd, octets, 4 + len);
	}
	return NULL;
}

static void answers_that_are_cut_come_whole(void **state)
{
	static uint8_t got[MOST];
	int fd = new_connection();
	pthread_t asker;

	assert_int_equal(pthread_create(&asker, NULL, ask_all, &fd), 0);
	for (unsigned i = 0; i < RECORDS; i++) {
		size_t len = length_of(i);
		uint32_t mark;

		receive_all(fd, &mark, 4);
		assert_int_equal(ntohl(mark), 1u << 31 | len);
		receive_all(fd, got, len);
		for (size_t at = 0; at < len; at++)
			if (got[at] != octet_of(i, len - 1 - at))
				fail_msg("answer %u differs at %zu", i, at);
	}
	pthread_join(asker, NULL);
	close(fd);
}

static void what_is_longer_ends_the_connection(void **state)
{
	const uint32_t marks[] = {htonl(1u << 31 | MOST), htonl(1u << 31 | (MOST + 1))};
	static uint8_t octets[MOST];
	int fd = new_connection();
	char c;

	send_all(fd, &marks[0], 4);
	send_all(fd, octets, MOST);
	receive_all(fd, octets, 4);
	receive_all(fd, octets, MOST);
	send_all(fd, &marks[1], 4);
	assert_int_equal(recv(fd, &c, 1, 0), 0);
	close(fd);
}

static void errors_are_counted(void **state)
{
	const struct {
		uint32_t mark;
		char text[4];
	} ask = {htonl(1u << 31 | 4), "xyz"};
	struct tcpd_stats s;
	uint8_t got[8];
	int fd = new_connection();

	send_all(fd, &ask, sizeof(ask));
	receive_all(fd, got, 8);
	assert_memory_equal(got + 4, "\0zyx", 4);
	close(fd);
	tcpd_stop(server);
	tcpd_stats(server, &s);
	assert_int_equal(s.calls, RECORDS + 2);
	assert_int_equal(s.errors, 1);
	assert_int_equal(s.connections, 3);
	assert_int_equal(s.dropped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(answers_that_are_cut_come_whole),
	        cmocka_unit_test(what_is_longer_ends_the_connection),
	        cmocka_unit_test(errors_are_counted), /* the last: it ends the server */
	};

	return cmocka_run_group_tests(tests, start, stop);
}
