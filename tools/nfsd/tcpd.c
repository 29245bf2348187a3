/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ONC RPC over TCP, for the few calls that clients of NFS over RDMA make over TCP:
 * MOUNT (the only one that Linux uses), NLM, and security contexts.
 *
 * One thread polls the listeners and at most MAX_PEERS connections.  From each
 * connection it reads one record, has the service answer the record, writes the reply,
 * and only then reads the next record.  So a connection needs memory for one call, and
 * for one reply while it is being written.
 *
 * Peers are not trusted.  The size of a record and the number of its fragments are
 * limited, and a connection is closed if a record is not a call.  A connection on which
 * no call has been answered for IDLE_SECONDS is also closed, whatever the peer sends or
 * fails to read.  If there are too many connections, a new connection replaces the one
 * that has been idle longest, so that no peer can keep others out.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "tcpd.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_LISTENERS = 16,
	MAX_PEERS = 64,
	MARK = 4,
	MAX_FRAGMENTS = 64,
	MAX_TURNS = 8, /* calls served in a row on one connection */
	IDLE_SECONDS = 30,
	STOP_MS = 1000,
	PAUSE_MS = 100, /* pause after an accept has failed */
};

#define LAST_FRAGMENT (1u << 31)

struct peer {
	int fd;
	uint64_t since_ms; /* time of accept or of the last answered call */
	struct sockaddr_storage addr;
	uint8_t mark[MARK];
	size_t mark_len;
	size_t left; /* octets of the current fragment still to be received */
	bool last;
	unsigned n_fragments; /* fragments of this record */
	void *out;            /* reply that is being written, or NULL */
	uint8_t out_mark[MARK];
	size_t out_len, out_done; /* out_done includes the record mark */
	size_t len;
	uint8_t record[]; /* the service's max_record octets */
};

struct tcpd {
	struct tcpd_service service;
	int listeners[MAX_LISTENERS];
	struct sockaddr_storage addrs[MAX_LISTENERS];
	unsigned n_listeners;
	struct peer *peers[MAX_PEERS];
	unsigned n_peers;
	int wake; /* eventfd that stops the thread */
	bool started;
	pthread_t thread;
	uint64_t pause_until_ms;
	struct tcpd_stats stats;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* -- connections ----------------------------------------------------------- */

static void drop_peer(struct tcpd *m, unsigned i)
{
	struct peer *p = m->peers[i];

	close(p->fd);
	free(p->out);
	free(p);
	m->peers[i] = m->peers[--m->n_peers];
}

static unsigned find_idlest(const struct tcpd *m)
{
	unsigned found = 0;

	for (unsigned i = 1; i < m->n_peers; i++)
		if (m->peers[i]->since_ms < m->peers[found]->since_ms)
			found = i;
	return found;
}

static void accept_peer(struct tcpd *m, int listener, uint64_t now)
{
	struct sockaddr_storage addr = {0};
	socklen_t len = sizeof(addr);
	struct peer *p;
	int fd = accept4(listener, (struct sockaddr *)&addr, &len,
	                 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* Usually no descriptors are left until other connections are
		 * closed. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			m->pause_until_ms = now + PAUSE_MS;
		return;
	}
	p = calloc(1, sizeof(*p) + m->service.max_record);
	if (!p) {
		close(fd);
		m->pause_until_ms = now + PAUSE_MS;
		return;
	}
	if (m->n_peers == MAX_PEERS) {
		drop_peer(m, find_idlest(m));
		m->stats.dropped++;
	}
	p->fd = fd;
	p->since_ms = now;
	p->addr = addr;
	m->peers[m->n_peers++] = p;
	m->stats.connections++;
}

/* -- records [RFC 5531 §11] ------------------------------------------------ */

/* Receives up to @want octets.  Returns their number, 0 if none have arrived yet, or -1
 * at the end of the stream or on an error. */
static ssize_t receive_octets(const struct peer *p, void *to, size_t want)
{
	ssize_t n = recv(p->fd, to, want, 0);

	if (n > 0)
		return n;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static bool begin_fragment(const struct tcpd *m, struct peer *p)
{
	uint32_t mark = (uint32_t)p->mark[0] << 24 | (uint32_t)p->mark[1] << 16 |
	                (uint32_t)p->mark[2] << 8 | p->mark[3];

	p->last = mark & LAST_FRAGMENT;
	p->left = mark & ~LAST_FRAGMENT;
	return p->left <= m->service.max_record - p->len &&
	       ++p->n_fragments <= MAX_FRAGMENTS;
}

/* Reads more of the record.  Returns 1 if the record is complete, 0 if more octets are
 * needed, or -1 if the connection must be closed. */
static int read_peer_record(const struct tcpd *m, struct peer *p)
{
	ssize_t n;

	for (;;) {
		if (p->mark_len < MARK) {
			n = receive_octets(p, p->mark + p->mark_len,
			                   MARK - p->mark_len);
			if (n <= 0)
				return (int)n;
			p->mark_len += (size_t)n;
			if (p->mark_len == MARK && !begin_fragment(m, p))
				return -1;
			continue;
		}
		if (p->left) {
			n = receive_octets(p, p->record + p->len, p->left);
			if (n <= 0)
				return (int)n;
			p->len += (size_t)n;
			p->left -= (size_t)n;
			continue;
		}
		p->mark_len = 0;
		if (p->last)
			return 1;
	}
}

/* Has the service answer the record.  Returns false if the connection must be
 * closed. */
static bool answer_peer(struct tcpd *m, struct peer *p)
{
	bool failed = false;
	void *out = m->service.answer(m->service.arg, &p->addr, p->record, p->len,
	                              &p->out_len, &failed);
	uint32_t mark = (uint32_t)p->out_len | LAST_FRAGMENT;

	p->len = 0;
	p->n_fragments = 0;
	m->stats.calls++;
	m->stats.errors += failed;
	if (!out)
		return false;
	for (int i = 0; i < MARK; i++)
		p->out_mark[i] = (uint8_t)(mark >> (24 - 8 * i));
	p->out = out;
	p->out_done = 0;
	return true;
}

/* Gathers the unsent parts of the record mark and the reply.  Returns the number of
 * parts. */
static int gather_unsent(struct peer *p, struct iovec iov[2])
{
	size_t done = p->out_done;
	int n = 0;

	if (done < MARK) {
		iov[n++] = (struct iovec){p->out_mark + done, MARK - done};
		done = MARK;
	}
	done -= MARK;
	iov[n++] = (struct iovec){(uint8_t *)p->out + done, p->out_len - done};
	return n;
}

/* Writes the reply.  Returns 1 if the reply is complete, 0 if the rest must wait, or -1
 * on an error. */
static int write_answer(struct peer *p, uint64_t now)
{
	struct iovec iov[2];
	struct msghdr msg = {.msg_iov = iov,
	                     .msg_iovlen = (size_t)gather_unsent(p, iov)};
	ssize_t n = sendmsg(p->fd, &msg, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	p->out_done += (size_t)n;
	if (p->out_done < MARK + p->out_len)
		return 0;
	free(p->out);
	p->out = NULL;
	p->since_ms = now;
	return 1;
}

/* Reads and answers calls, and writes replies, until the connection would block or
 * MAX_TURNS is reached.  Returns false if the connection must be closed. */
static bool serve_peer(struct tcpd *m, struct peer *p, uint64_t now)
{
	int r = 1;

	for (int turn = 0; turn < MAX_TURNS && r > 0; turn++) {
		if (!p->out) {
			r = read_peer_record(m, p);
			if (r > 0 && !answer_peer(m, p))
				r = -1;
		}
		if (p->out && r >= 0)
			r = write_answer(p, now);
	}
	return r >= 0;
}

/* -- the loop -------------------------------------------------------------- */

struct polled {
	struct pollfd fds[1 + MAX_LISTENERS + MAX_PEERS];
	unsigned n, n_listeners;
};

static void gather_polled(const struct tcpd *m, uint64_t now, bool stopping,
                          struct polled *ret)
{
	ret->n = 0;
	ret->fds[ret->n++] = (struct pollfd){stopping ? -1 : m->wake, POLLIN, 0};
	ret->n_listeners = stopping || now < m->pause_until_ms ? 0 : m->n_listeners;
	for (unsigned i = 0; i < ret->n_listeners; i++)
		ret->fds[ret->n++] = (struct pollfd){m->listeners[i], POLLIN, 0};
	for (unsigned i = 0; i < m->n_peers; i++)
		ret->fds[ret->n++] = (struct pollfd){
		        m->peers[i]->fd, m->peers[i]->out ? POLLOUT : POLLIN, 0};
}

/* Serves the connections in reverse order, because drop_peer moves the last connection
 * into the dropped one's place. */
static void serve_ready(struct tcpd *m, const struct polled *q, uint64_t now,
                        bool stopping)
{
	unsigned first = 1 + q->n_listeners;

	for (unsigned i = m->n_peers; i-- > 0;) {
		struct peer *p = m->peers[i];
		bool keep = !q->fds[first + i].revents || serve_peer(m, p, now);

		if (keep && now - p->since_ms > IDLE_SECONDS * 1000) {
			m->stats.dropped++;
			keep = false;
		}
		if (!keep || (stopping && !p->out && !p->mark_len && !p->len))
			drop_peer(m, i);
	}
	for (unsigned i = 0; i < q->n_listeners; i++)
		if (q->fds[1 + i].revents)
			accept_peer(m, q->fds[1 + i].fd, now);
}

static int choose_wait_ms(const struct tcpd *m, uint64_t now)
{
	if (now < m->pause_until_ms)
		return PAUSE_MS;
	return m->n_peers ? 1000 : -1; /* check for idle connections every second */
}

static void *run_tcpd(void *arg)
{
	struct tcpd *m = arg;
	struct polled q;
	uint64_t now = now_ms(), until = UINT64_MAX;

	while (now < until) {
		bool stopping = until != UINT64_MAX;

		gather_polled(m, now, stopping, &q);
		if (poll(q.fds, q.n, stopping ? PAUSE_MS : choose_wait_ms(m, now)) <
		            0 &&
		    errno != EINTR)
			break; /* there is not enough memory for poll */
		now = now_ms();
		serve_ready(m, &q, now, stopping);
		if (!stopping && q.fds[0].revents)
			until = now + STOP_MS;
		if (stopping && !m->n_peers)
			break;
	}
	while (m->n_peers)
		drop_peer(m, 0);
	return NULL;
}

/* -- interface ------------------------------------------------------------- */

struct tcpd *tcpd_new(const struct tcpd_service *service)
{
	struct tcpd *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->service = *service;
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->wake < 0) {
		free(m);
		return NULL;
	}
	return m;
}

static void set_listen_port(struct sockaddr_storage *ss, uint16_t port)
{
	if (ss->ss_family == AF_INET6)
		((struct sockaddr_in6 *)ss)->sin6_port = port;
	else
		((struct sockaddr_in *)ss)->sin_port = port;
}

static bool is_same_host(const struct sockaddr_storage *a,
                         const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr) &&
	       a6->sin6_scope_id == b6->sin6_scope_id;
}

static int open_tcp_listener(const struct sockaddr_storage *at, int *ret)
{
	const int one = 1, zero = 0;
	socklen_t len = at->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                          : sizeof(struct sockaddr_in);
	int e, fd = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	                   0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    (at->ss_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero))) ||
	    bind(fd, (const struct sockaddr *)at, len) || listen(fd, MAX_PEERS)) {
		e = -errno;
		close(fd);
		return e;
	}
	*ret = fd;
	return 0;
}

int tcpd_listen(struct tcpd *m, const struct sockaddr_storage *addr, uint16_t port)
{
	struct sockaddr_storage at = *addr;
	socklen_t len = sizeof(at);
	int fd = -1, e;

	for (unsigned i = 0; i < m->n_listeners; i++)
		if (is_same_host(addr, &m->addrs[i]))
			return 0;
	if (m->n_listeners == MAX_LISTENERS)
		return -ENOSPC;
	set_listen_port(&at, port);
	e = open_tcp_listener(&at, &fd);
	if (e)
		return e;
	if (getsockname(fd, (struct sockaddr *)&at, &len)) {
		e = -errno;
		close(fd);
		return e;
	}
	m->addrs[m->n_listeners] = at;
	m->listeners[m->n_listeners++] = fd;
	return 0;
}

bool tcpd_addr(const struct tcpd *m, unsigned i, struct sockaddr_storage *ret)
{
	if (!m || i >= m->n_listeners)
		return false;
	*ret = m->addrs[i];
	return true;
}

int tcpd_start(struct tcpd *m)
{
	int e = pthread_create(&m->thread, NULL, run_tcpd, m);

	m->started = !e;
	return -e;
}

void tcpd_stop(struct tcpd *m)
{
	const uint64_t one = 1;

	if (!m || !m->started)
		return;
	(void)!write(m->wake, &one, sizeof(one)); /* the counter cannot overflow */
	pthread_join(m->thread, NULL);
	m->started = false;
}

void tcpd_stats(const struct tcpd *m, struct tcpd_stats *ret)
{
	*ret = m->stats;
}

void tcpd_free(struct tcpd *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->n_listeners; i++)
		close(m->listeners[i]);
	close(m->wake);
	free(m);
}
