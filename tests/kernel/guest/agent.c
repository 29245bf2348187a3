/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What runs commands in the guest for a test on the host (guest/ask.c).
 *
 *   agent PORT TOKEN-FILE
 *
 * A connection is one command: the token, seconds and length as big-endian words,
 * then a script for sh.  The agent says 'b' and begins when it is told to, by one
 * octet: so a connection that was lost before can be tried again, and nothing runs
 * twice.  What the script prints comes back in frames of kind ('o', 'e'),
 * length and octets; 'x' carries its exit code and is the last.  A script that
 * takes longer than it may, or whose asker has gone, is killed with its process
 * group.  What it left running on purpose (setsid) stays.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TOKEN      32
#define SCRIPT_MAX (1 << 20)
#define TIMED_OUT  124

static char token[TOKEN];

static void die(const char *what)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void read_all(int fd, void *at, size_t n)
{
	for (char *p = at; n;) {
		ssize_t got = read(fd, p, n);

		if (got <= 0)
			exit(1);
		p += got;
		n -= (size_t)got;
	}
}

static void send_all(int fd, const void *at, size_t n)
{
	for (const char *p = at; n;) {
		ssize_t put = send(fd, p, n, MSG_NOSIGNAL);

		if (put <= 0)
			exit(1);
		p += put;
		n -= (size_t)put;
	}
}

static void send_frame(int sock, char kind, const void *at, uint32_t n)
{
	unsigned char head[5] = {(unsigned char)kind};
	uint32_t len = htonl(n);

	memcpy(head + 1, &len, 4);
	send_all(sock, head, sizeof(head));
	send_all(sock, at, n);
}

/* Whether there may be more. */
static int forward(int fd, int sock, char kind)
{
	char buf[16384];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n > 0)
		send_frame(sock, kind, buf, (uint32_t)n);
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static pid_t start(char *script, int out[2], int err[2])
{
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	setsid();
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out[1], 1);
	dup2(err[1], 2);
	signal(SIGCHLD, SIG_DFL);
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(127);
}

/* Copies what the script prints until it has ended or must be ended. */
static int attend(pid_t pid, int sock, int out, int err, int64_t until)
{
	struct pollfd p[4] = {
	        {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
	        {.fd = sock, .events = POLLRDHUP},
	        {.fd = out, .events = POLLIN},
	        {.fd = err, .events = POLLIN}};
	int status, ended = 0;

	while (!ended) {
		int64_t left = until - now_ms();

		if (poll(p, 4, left < 0 ? 0 : (int)left) == 0 || p[1].revents) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return TIMED_OUT;
		}
		ended = p[0].revents != 0;
		if (p[2].revents && !forward(out, sock, 'o'))
			p[2].fd = -1;
		if (p[3].revents && !forward(err, sock, 'e'))
			p[3].fd = -1;
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What lies in a pipe whose writer may be alive. */
static void drain(int fd, int sock, char kind)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (poll(&p, 1, 0) == 1 && (p.revents & POLLIN) && forward(fd, sock, kind))
		;
}

static void serve(int sock)
{
	struct timeval slow = {.tv_sec = 30};
	char claim[TOKEN], *script, go;
	uint32_t head[2], len;
	int out[2], err[2], code;
	pid_t pid;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &slow, sizeof(slow));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &slow, sizeof(slow));
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	read_all(sock, claim, TOKEN);
	if (memcmp(claim, token, TOKEN))
		exit(1);
	read_all(sock, head, sizeof(head));
	len = ntohl(head[1]);
	if (len > SCRIPT_MAX)
		exit(1);
	script = calloc(1, len + 1);
	if (!script)
		exit(1);
	read_all(sock, script, len);
	send_frame(sock, 'b', "", 0);
	read_all(sock, &go, 1);
	pid = start(script, out, err);
	close(out[1]);
	close(err[1]);
	code = attend(pid, sock, out[0], err[0],
	              now_ms() + (int64_t)ntohl(head[0]) * 1000);
	drain(out[0], sock, 'o');
	drain(err[0], sock, 'e');
	send_frame(sock, 'x', &(uint32_t){htonl((uint32_t)code)}, 4);
	exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int fd, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (argc != 3)
		return 2;
	fd = open(argv[2], O_RDONLY);
	if (fd < 0)
		die(argv[2]);
	read_all(fd, token, TOKEN);
	close(fd);
	at.sin_port = htons((uint16_t)atoi(argv[1]));
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(listener, (void *)&at, sizeof(at)) || listen(listener, 64))
		die("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (sock < 0)
			continue;
		if (fork() == 0) {
			signal(SIGCHLD, SIG_DFL);
			serve(sock);
		}
		close(sock);
	}
}
