/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system calls of the iWARP provider, and nothing else.  Each function makes one
 * call, or a few related ones, and returns a negative errno on failure.  An interrupted
 * call is repeated.
 */
#define _GNU_SOURCE /* accept4 */
#include "prov/iwarp/sock.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define BACKLOG 65535 /* the system lowers it to its own limit */

/* If the peer's host vanishes, the connection fails after two minutes, whether it is
 * idle or waiting for an acknowledgement. */
enum { PROBE_AFTER_S = 60, PROBE_EVERY_S = 15, PROBES = 4 };

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

static int watch_peer(int fd)
{
	const int all_ms = 1000 * (PROBE_AFTER_S + PROBES * PROBE_EVERY_S);
	int rc = set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);

	if (!rc)
		rc = set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_AFTER_S);
	if (!rc)
		rc = set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_EVERY_S);
	if (!rc)
		rc = set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
	if (!rc)
		rc = set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, all_ms);
	return rc;
}

static int tune_socket(int fd, const struct rr_sock_opts *o)
{
	int rc = set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);

	if (!rc)
		rc = watch_peer(fd);
	if (!rc && o->sndbuf)
		rc = set_int(fd, SOL_SOCKET, SO_SNDBUF, o->sndbuf);
	if (!rc && o->rcvbuf)
		rc = set_int(fd, SOL_SOCKET, SO_RCVBUF, o->rcvbuf);
	return rc;
}

int rr_sock_connect(const struct sockaddr *sa, socklen_t len,
                    const struct rr_sock_opts *o, int *ret_fd)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = tune_socket(fd, o);
	if (!rc && connect(fd, sa, len) && errno != EINPROGRESS && errno != EINTR)
		rc = -errno;
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

int rr_sock_connected(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	if (err)
		return -err;
	len = sizeof(sa);
	if (!getpeername(fd, (struct sockaddr *)&sa, &len))
		return 0;
	return errno == ENOTCONN ? -EAGAIN : -errno;
}

/* Makes a socket that listens on all IPv6 addresses accept IPv4 connections as well,
 * whatever the system's default.  A caller that gives no address expects this. */
static int set_v6only(int fd, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->sa_family != AF_INET6)
		return 0;
	return set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY,
	               !IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr));
}

int rr_sock_listen(const struct sockaddr *sa, socklen_t len,
                   struct sockaddr_storage *ret_addr, int *ret_fd)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (!rc)
		rc = set_v6only(fd, sa);
	if (!rc && (bind(fd, sa, len) || listen(fd, BACKLOG)))
		rc = -errno;
	if (!rc)
		rc = rr_sock_local(fd, ret_addr);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

int rr_sock_accept(int listener, const struct rr_sock_opts *o, int *ret_fd)
{
	int fd, rc;

	do
		fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	rc = tune_socket(fd, o);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

int rr_sock_peer(int fd, struct sockaddr_storage *ret)
{
	socklen_t len = sizeof(*ret);

	memset(ret, 0, sizeof(*ret));
	return getpeername(fd, (struct sockaddr *)ret, &len) ? -errno : 0;
}

int rr_sock_local(int fd, struct sockaddr_storage *ret)
{
	socklen_t len = sizeof(*ret);

	memset(ret, 0, sizeof(*ret));
	return getsockname(fd, (struct sockaddr *)ret, &len) ? -errno : 0;
}

ssize_t rr_sock_writev(int fd, const struct iovec *v, unsigned n)
{
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = n};
	ssize_t rc;

	do
		rc = n == 1 ? send(fd, v->iov_base, v->iov_len,
		                   MSG_NOSIGNAL | MSG_DONTWAIT)
		            : sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (rc < 0 && errno == EINTR);
	if (rc >= 0)
		return rc;
	return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

ssize_t rr_sock_readv(int fd, const struct iovec *v, unsigned n)
{
	ssize_t rc;

	do
		rc = n == 1 ? recv(fd, v->iov_base, v->iov_len, MSG_DONTWAIT)
		            : readv(fd, v, (int)n);
	while (rc < 0 && errno == EINTR);
	if (rc >= 0)
		return rc;
	return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

/* Ignores errors: shutdown() fails only if the connection no longer exists. */
void rr_sock_shutdown(int fd, bool both)
{
	(void)shutdown(fd, both ? SHUT_RDWR : SHUT_WR);
}

void rr_sock_close(int fd, bool reset)
{
	struct linger l = {.l_onoff = 1, .l_linger = 0};

	if (reset) /* if this fails, the peer sees an orderly close */
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
}

int rr_sock_random(void *dst, size_t len)
{
	ssize_t n;

	do
		n = getrandom(dst, len, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EIO;
}
