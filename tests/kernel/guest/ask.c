/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command in the guest: what guest/agent.c answers to.
 *
 *   ask PORT TOKEN-FILE SECONDS SCRIPT
 *
 * Prints what the script prints, exits as it did: 124 if it was too slow, 125 if
 * the guest does not answer.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TOKEN       32
#define GRACE_MS    15000 /* beyond the script's time: a busy emulator is slow */
#define UNREACHABLE 125

static int64_t deadline;

static void die(const char *what)
{
	fprintf(stderr, "guest: %s\n", what);
	exit(UNREACHABLE);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether all of it came before the connection ended. */
static int read_some(int fd, void *at, size_t n)
{
	for (char *p = at; n;) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - now_ms();
		ssize_t got;

		if (left <= 0 || poll(&pfd, 1, (int)left) <= 0)
			die("no answer in time");
		got = read(fd, p, n);
		if (got <= 0)
			return 0;
		p += got;
		n -= (size_t)got;
	}
	return 1;
}

static void read_all(int fd, void *at, size_t n)
{
	if (!read_some(fd, at, n))
		die("the connection to the agent ended");
}

static void write_all(int fd, const void *at, size_t n)
{
	for (const char *p = at; n;) {
		ssize_t put = write(fd, p, n);

		if (put <= 0)
			return;
		p += put;
		n -= (size_t)put;
	}
}

static int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons((uint16_t)port),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(sock, (void *)&to, sizeof(to)))
		die("no guest is running");
	return sock;
}

static int answer(int sock)
{
	char buf[16384];

	for (;;) {
		char kind;
		uint32_t len;

		read_all(sock, &kind, 1);
		read_all(sock, &len, 4);
		len = ntohl(len);
		if (kind == 'x') {
			read_all(sock, &len, 4);
			return (int)ntohl(len);
		}
		if (len > sizeof(buf))
			die("the agent speaks otherwise");
		read_all(sock, buf, len);
		write_all(kind == 'e' ? 2 : 1, buf, len);
	}
}

/*
 * The emulator's listener has room for one: of several connections that begin at
 * once, one may be lost.  Until the agent has said 'b' that does no harm.
 */
static int offer(int port, const char *token, int seconds, const char *script)
{
	uint32_t head[2] = {htonl((uint32_t)seconds), htonl((uint32_t)strlen(script))};

	for (int tries = 0; tries < 50; tries++) {
		int sock = connect_to(port);
		char began[5];

		write_all(sock, token, TOKEN);
		write_all(sock, head, sizeof(head));
		write_all(sock, script, strlen(script));
		if (read_some(sock, began, sizeof(began))) {
			write_all(sock, "g", 1);
			return sock;
		}
		close(sock);
		usleep(100000);
	}
	die("the agent takes no command");
	return -1;
}

int main(int argc, char **argv)
{
	char token[TOKEN];
	int fd;

	if (argc != 5)
		return 2;
	deadline = now_ms() + 1000 * (int64_t)atoi(argv[3]) + GRACE_MS;
	fd = open(argv[2], O_RDONLY);
	if (fd < 0)
		die("no guest is running");
	read_all(fd, token, TOKEN);
	close(fd);
	signal(SIGPIPE, SIG_IGN);
	return answer(offer(atoi(argv[1]), token, atoi(argv[3]), argv[4]));
}
