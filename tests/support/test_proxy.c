/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in proxy.h. */
#include "test_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TICK_MS = 2 };

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

static struct sockaddr_in loopback(unsigned port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	                            .sin_port = htons((uint16_t)port),
	                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void reset(int fd)
{
	struct linger now = {1, 0};

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static void cut(struct proxy *p, unsigned i)
{
	reset(p->fd[i][0]);
	reset(p->fd[i][1]);
	p->fd[i][0] = p->fd[i][1] = -1;
}

static void cut_all(struct proxy *p)
{
	for (unsigned i = 0; i < PROXY_PAIRS; i++)
		cut(p, i);
	atomic_store(&p->armed, false);
	atomic_fetch_add(&p->cuts, 1);
}

static void take_one(struct proxy *p)
{
	struct sockaddr_in to = loopback(atomic_load(&p->target));
	int client = accept(p->listener, NULL, NULL), server;

	need(client >= 0, "accept");
	if (atomic_load(&p->refuse)) {
		reset(client);
		return;
	}
	for (unsigned i = 0; i < PROXY_PAIRS; i++) {
		if (p->fd[i][0] >= 0)
			continue;
		server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		need(server >= 0, "socket");
		if (connect(server, (struct sockaddr *)&to, sizeof(to))) {
			reset(client);
			close(server);
			return;
		}
		p->fd[i][0] = client;
		p->fd[i][1] = server;
		atomic_fetch_add(&p->connections, 1);
		return;
	}
	need(false, "too many connections");
}

/* From one side of a pair to the other. */
static void relay(struct proxy *p, unsigned i, unsigned side)
{
	static char buf[64 << 10];
	ssize_t n = recv(p->fd[i][side], buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0) {
		cut(p, i);
	} else if (side == 1 && atomic_load(&p->armed)) {
		if (!p->when)
			cut_all(p);
	} else {
		atomic_fetch_add(&p->relayed[i], (unsigned long)n);
		for (ssize_t at = 0, m; at < n; at += m) {
			m = send(p->fd[i][!side], buf + at, (size_t)(n - at),
			         MSG_NOSIGNAL);
			if (m <= 0) {
				cut(p, i);
				break;
			}
		}
	}
}

static void cut_chosen(struct proxy *p)
{
	unsigned i = atomic_exchange(&p->cut_one, 0);

	if (i)
		cut(p, i - 1);
}

static void *run(void *arg)
{
	struct proxy *p = arg;

	while (!atomic_load(&p->stop)) {
		struct pollfd fds[1 + 2 * PROXY_PAIRS] = {{p->listener, POLLIN, 0}};

		for (unsigned i = 0; i < 2 * PROXY_PAIRS; i++)
			fds[1 + i] = (struct pollfd){p->fd[i / 2][i % 2], POLLIN, 0};
		need(poll(fds, 1 + 2 * PROXY_PAIRS, TICK_MS) >= 0, "poll");
		for (unsigned i = 0; i < 2 * PROXY_PAIRS; i++)
			if (fds[1 + i].revents && p->fd[i / 2][i % 2] >= 0)
				relay(p, i / 2, i % 2);
		if (atomic_load(&p->armed) && p->when && p->when(p->arg))
			cut_all(p);
		cut_chosen(p);
		if (fds[0].revents)
			take_one(p);
	}
	return NULL;
}

void proxy_start(struct proxy *p, const char *target_port)
{
	struct sockaddr_in sa = loopback(0);
	socklen_t len = sizeof(sa);

	memset(p, 0, sizeof(*p));
	for (unsigned i = 0; i < PROXY_PAIRS; i++)
		p->fd[i][0] = p->fd[i][1] = -1;
	atomic_store(&p->target, (unsigned)strtoul(target_port, NULL, 10));
	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(p->listener >= 0 && !bind(p->listener, (struct sockaddr *)&sa, len) &&
	             !listen(p->listener, 16) &&
	             !getsockname(p->listener, (struct sockaddr *)&sa, &len),
	     "listen");
	snprintf(p->port, sizeof(p->port), "%u", ntohs(sa.sin_port));
	need(!pthread_create(&p->thread, NULL, run, p), "pthread_create");
}

void proxy_arm(struct proxy *p, bool (*when)(void *), void *arg)
{
	p->when = when;
	p->arg = arg;
	atomic_store(&p->armed, true);
}

void proxy_stop(struct proxy *p)
{
	atomic_store(&p->stop, true);
	pthread_join(p->thread, NULL);
	for (unsigned i = 0; i < PROXY_PAIRS; i++)
		cut(p, i);
	close(p->listener);
}
