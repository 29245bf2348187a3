/* SPDX-License-Identifier: BSD-3-Clause */
/* One call over TCP: connects, writes the Call, reads the Reply, and checks its header.
 */
#include "client/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rpc/rpc.h>

#define LAST_FRAGMENT  0x80000000u
#define MAX_CALL       2048
#define RESERVED_TRIES 8

/* ---- Octets, before the deadline ------------------------------------------------- */

struct waiting {
	struct loop_watch watch;
	struct loop *loop;
	bool ready;
};

static void on_ready(void *arg)
{
	struct waiting *w = arg;

	w->ready = true;
	loop_unwatch(w->loop, &w->watch);
}

int tcp_wait(const struct tcp_call *t, int fd, short events)
{
	struct waiting w = {.loop = t->loop,
	                    .watch = {.fd = fd, .events = events, .ready = on_ready}};
	int r = 0;

	w.watch.arg = &w;
	loop_watch(t->loop, &w.watch);
	while (!w.ready && !r) {
		uint64_t now = tool_now_ns();

		r = now >= t->until_ns
		            ? -ETIMEDOUT
		            : loop_wait(
		                      t->loop,
		                      (int)((t->until_ns - now) / 1000000 % 1000 + 1));
	}
	loop_unwatch(t->loop, &w.watch);
	return w.ready ? 0 : r;
}

static socklen_t get_sockaddr_len(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                 : sizeof(struct sockaddr_in);
}

static int await_connect(const struct tcp_call *t, int fd)
{
	socklen_t len = sizeof(int);
	int error, r = tcp_wait(t, fd, POLLOUT);

	if (r)
		return r;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) ? -errno : -error;
}

static int try_tcp_connect(const struct tcp_call *t, int *ret)
{
	int r = 0,
	    fd = socket(t->to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (t->reserved && bindresvport_sa(fd, NULL))
		r = errno == EACCES || errno == EPERM ? 0 : -errno;
	if (!r &&
	    connect(fd, (const struct sockaddr *)&t->to, get_sockaddr_len(&t->to)))
		r = errno == EINPROGRESS ? await_connect(t, fd) : -errno;
	if (r)
		close(fd);
	else
		*ret = fd;
	return r;
}

/* Connects.  Tries several reserved ports, since an earlier connection to this server
 * may still occupy one. */
static int connect_tcp(const struct tcp_call *t, int *ret)
{
	int r = -EADDRNOTAVAIL;

	for (int i = 0; i < RESERVED_TRIES && r == -EADDRNOTAVAIL; i++)
		r = try_tcp_connect(t, ret);
	return r;
}

static int move_octets(const struct tcp_call *t, int fd, char *p, size_t len, bool out)
{
	while (len) {
		ssize_t n = out ? send(fd, p, len, MSG_NOSIGNAL) : recv(fd, p, len, 0);
		int r = 0;

		if (n == 0)
			return -ECONNRESET;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			r = tcp_wait(t, fd, out ? POLLOUT : POLLIN);
		} else if (errno != EINTR) {
			r = errno == EPIPE ? -ECONNRESET : -errno;
		}
		if (r)
			return r;
	}
	return 0;
}

/* Reads a record.  Record marks count towards the record's limit, which bounds the
 * number of empty fragments. */
static int read_tcp_record(struct tcp_call *t, int fd, size_t *ret_len)
{
	size_t len = 0, room = TCP_MAX_REPLY;
	uint32_t mark;

	do {
		uint32_t n;
		int r = move_octets(t, fd, (char *)&mark, sizeof(mark), false);

		if (r)
			return r;
		mark = ntohl(mark);
		n = mark & ~LAST_FRAGMENT;
		if (room < sizeof(mark) || n > room - sizeof(mark))
			return -EMSGSIZE;
		r = move_octets(t, fd, t->reply + len, n, false);
		if (r)
			return r;
		room -= sizeof(mark) + n;
		len += n;
	} while (!(mark & LAST_FRAGMENT));
	*ret_len = len;
	return 0;
}

/* ---- Messages ------------------------------------------------------------ */

static size_t put_tcp_auth(uint32_t *w, const struct rpcrdma_auth *a)
{
	size_t words = a ? (a->len + 3) / 4 : 0;

	w[0] = htonl(a ? a->flavor : RPCRDMA_AUTH_NONE);
	w[1] = htonl(a ? a->len : 0);
	if (words) {
		w[1 + words] = 0;
		memcpy(w + 2, a->body, a->len);
	}
	return 2 + words;
}

/* Encodes the Call as a record.  Returns the record's length, or -EMSGSIZE. */
static int put_call(const struct tcp_call *t, uint32_t xid, uint32_t *w)
{
	size_t n = 7;

	if ((t->cred ? t->cred->len : 0) + t->args_len + 64 > MAX_CALL)
		return -EMSGSIZE;
	w[1] = htonl(xid);
	w[2] = 0; /* CALL */
	w[3] = htonl(2);
	w[4] = htonl(t->program);
	w[5] = htonl(t->version);
	w[6] = htonl(t->procedure);
	n += put_tcp_auth(w + n, t->cred);
	n += put_tcp_auth(w + n, NULL);
	memcpy(w + n, t->args, t->args_len);
	n = n * 4 + t->args_len;
	w[0] = htonl(LAST_FRAGMENT | (uint32_t)(n - 4));
	return (int)n;
}

static bool pull_word(const char **p, size_t *left, uint32_t *ret)
{
	if (*left < 4)
		return false;
	memcpy(ret, *p, 4);
	*ret = ntohl(*ret);
	*p += 4;
	*left -= 4;
	return true;
}

static int parse_denied(const char *p, size_t left)
{
	uint32_t reason;

	if (!pull_word(&p, &left, &reason) || reason > 1)
		return -EBADMSG;
	return reason ? RPCRDMA_AUTH_ERROR : RPCRDMA_RPC_MISMATCH;
}

static int parse_reply(struct tcp_call *t, uint32_t want_xid, size_t left)
{
	uint32_t xid, type, stat, flavor, len, accept;
	const char *p = t->reply;

	if (!pull_word(&p, &left, &xid) || !pull_word(&p, &left, &type) ||
	    !pull_word(&p, &left, &stat) || xid != want_xid || type != 1 || stat > 1)
		return -EBADMSG;
	if (stat)
		return parse_denied(p, left);
	if (!pull_word(&p, &left, &flavor) || !pull_word(&p, &left, &len) ||
	    len > 400 || left < (len + 3) / 4 * 4)
		return -EBADMSG;
	p += (len + 3) / 4 * 4;
	left -= (len + 3) / 4 * 4;
	if (!pull_word(&p, &left, &accept) || accept > 5)
		return -EBADMSG;
	t->results = p;
	t->results_len = left;
	switch (accept) {
	case 0:
		return 0;
	case 1:
		return RPCRDMA_PROG_UNAVAIL;
	case 2:
		return RPCRDMA_PROG_MISMATCH;
	case 3:
		return RPCRDMA_PROC_UNAVAIL;
	case 4:
		return RPCRDMA_GARBAGE_ARGS;
	default:
		return RPCRDMA_SYSTEM_ERR;
	}
}

int tcp_call(struct tcp_call *t)
{
	uint32_t call[MAX_CALL / 4], xid = (uint32_t)(tool_now_ns() >> 4);
	int r, fd = -1, len = put_call(t, xid, call);
	size_t got = 0;

	tcp_call_fini(t);
	if (len < 0)
		return len;
	t->reply = malloc(TCP_MAX_REPLY);
	if (!t->reply)
		return -ENOMEM;
	r = connect_tcp(t, &fd);
	if (r)
		return r;
	r = move_octets(t, fd, (char *)call, (size_t)len, true);
	if (!r)
		r = read_tcp_record(t, fd, &got);
	close(fd);
	return r ? r : parse_reply(t, xid, got);
}

void tcp_call_fini(struct tcp_call *t)
{
	free(t->reply);
	t->reply = NULL;
	t->results = NULL;
	t->results_len = 0;
}

int tcp_set_port(struct sockaddr_storage *ss, uint16_t port)
{
	switch (ss->ss_family) {
	case AF_INET:
		((struct sockaddr_in *)ss)->sin_port = htons(port);
		return 0;
	case AF_INET6:
		((struct sockaddr_in6 *)ss)->sin6_port = htons(port);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}
