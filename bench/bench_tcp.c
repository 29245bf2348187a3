/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw TCP with messages of the sizes of an RPC: the speed of a program that only moves
 * the octets.  It has blocking sockets with TCP_NODELAY, writes once for each batch, and
 * receives large messages straight into place.  There is no protocol: the client sends
 * the sizes once at the start, on its first connection.  With --spin both ends poll
 * instead of sleeping.
 *
 * This is the hardest honest baseline: it reads no header, all messages share one
 * buffer, and only several connections need an event loop.
 *
 * One thread at each end serves all connections.  It blocks until a message that has
 * begun is complete.  This cannot deadlock, since the other end's one thread then sends
 * that message.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum {
	BATCH = 65536,
	HELLO_CALL = 0,
	HELLO_REPLY,
	HELLO_SPIN,
	HELLO_CONNS,
	HELLO_WORDS
};

/* One end of all connections. */
struct peer {
	const uint8_t *data;    /* octets to send */
	uint8_t *buf;           /* memory for received messages */
	size_t in_len, out_len; /* octets of a message */
	int recv_flags;         /* MSG_DONTWAIT: polls */
	unsigned n_conns;
	int fd[BENCH_MAX_CONNS];
	size_t have[BENCH_MAX_CONNS]; /* octets of a message that is not complete */
	/* Several connections only. */
	int epoll;
	struct epoll_event ready[64];
	int n_ready;
};

static size_t call_len(const struct bench_options *o)
{
	switch (o->test) {
	case BENCH_NULL:
		return BENCH_NULL_CALL;
	case BENCH_WRITE:
		return BENCH_WRITE_CALL + o->bytes;
	default:
		return BENCH_READ_CALL;
	}
}

static size_t reply_len(const struct bench_options *o)
{
	switch (o->test) {
	case BENCH_NULL:
		return BENCH_NULL_REPLY;
	case BENCH_WRITE:
		return BENCH_WRITE_REPLY;
	case BENCH_DIR:
		return BENCH_READ_REPLY + o->bytes / 8 * 5; /* the mean */
	default:
		return BENCH_READ_REPLY + o->bytes;
	}
}

/* Sends @count messages of @len octets, small ones in one write.  Returns false if the
 * peer is gone. */
static bool send_messages(int fd, const uint8_t *data, size_t len, size_t count)
{
	size_t left = len * count;

	while (left) {
		size_t chunk = len > BATCH ? (left - 1) % len + 1 : left;
		ssize_t n;

		if (len <= BATCH && chunk > BATCH)
			chunk = BATCH / len * len;
		n = send(fd, data, chunk, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		left -= (size_t)n;
	}
	return true;
}

/*
 * Receives until at least one message of @len octets is complete.  Returns the number of
 * complete ones; 0: the stream has ended.  *have counts octets of the next message.
 * MSG_DONTWAIT in @flags: polls.
 */
static size_t recv_messages(int fd, uint8_t *buf, size_t len, size_t *have, int flags)
{
	for (;;) {
		/* Large messages are received in place, small ones in batches. */
		size_t room = len >= BATCH / 2 ? len - *have : BATCH;
		ssize_t n = recv(fd, len >= BATCH / 2 ? buf + *have : buf, room, flags);
		size_t whole;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return 0;
		whole = (*have + (size_t)n) / len;
		*have = (*have + (size_t)n) % len;
		if (whole)
			return whole;
	}
}

static void add_conn(struct peer *p, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = p->n_conns};

	bench_nodelay(fd);
	if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &e))
		bench_die("epoll_ctl", errno);
	p->have[p->n_conns] = 0;
	p->fd[p->n_conns++] = fd;
}

/* Returns a connection to receive from.  With several, waits until one is readable. */
static unsigned next_conn(struct peer *p)
{
	if (p->n_conns == 1)
		return 0;
	while (p->n_ready <= 0)
		p->n_ready = epoll_wait(p->epoll, p->ready, 64, p->recv_flags ? 0 : -1);
	return p->ready[--p->n_ready].data.u32;
}

/* Receives messages on one connection.  Returns their number; 0: a stream has ended. */
static size_t take_messages(struct peer *p, unsigned *ret_conn)
{
	unsigned i = *ret_conn = next_conn(p);

	return recv_messages(p->fd[i], p->buf, p->in_len, &p->have[i], p->recv_flags);
}

static void open_peer(struct peer *p)
{
	p->data = bench_data(BENCH_MAX_BYTES + 4096);
	p->buf = bench_data(BENCH_MAX_BYTES + 4096);
	p->epoll = epoll_create1(0);
	if (p->epoll < 0)
		bench_die("epoll", errno);
}

static void close_conns(struct peer *p)
{
	while (p->n_conns)
		close(p->fd[--p->n_conns]);
	p->n_ready = 0;
}

static int accept_conn(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		bench_die("accept", errno);
	return fd;
}

/* Serves one client until one of its connections ends. */
static void serve_client(struct peer *p, int listener)
{
	uint32_t hello[HELLO_WORDS];
	unsigned conn;
	size_t n;

	add_conn(p, accept_conn(listener));
	if (recv(p->fd[0], hello, sizeof(hello), MSG_WAITALL) != sizeof(hello))
		return;
	p->in_len = hello[HELLO_CALL];
	p->out_len = hello[HELLO_REPLY];
	p->recv_flags = hello[HELLO_SPIN] ? MSG_DONTWAIT : 0;
	while (p->n_conns < hello[HELLO_CONNS])
		add_conn(p, accept_conn(listener));
	do
		n = take_messages(p, &conn);
	while (n && send_messages(p->fd[conn], p->data, p->out_len, n));
}

static void server(void)
{
	static struct peer p;
	uint16_t port;
	int listener = bench_tcp_listen(&port);

	bench_allow_conns();
	open_peer(&p);
	bench_listening(port);
	for (;;) {
		serve_client(&p, listener);
		close_conns(&p);
	}
}

static void connect_all(struct peer *p, const struct bench_options *o)
{
	uint32_t hello[HELLO_WORDS] = {
	        [HELLO_CALL] = (uint32_t)call_len(o),
	        [HELLO_REPLY] = (uint32_t)reply_len(o),
	        [HELLO_SPIN] = o->spin_us > 0,
	        [HELLO_CONNS] = o->conns,
	};

	p->in_len = reply_len(o);
	p->out_len = call_len(o);
	p->recv_flags = o->spin_us ? MSG_DONTWAIT : 0;
	add_conn(p, bench_tcp_connect(o->port));
	if (send(p->fd[0], hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		bench_die("send", errno);
	while (p->n_conns < o->conns)
		add_conn(p, bench_tcp_connect(o->port));
}

static void client(const struct bench_options *o)
{
	static struct peer p;
	struct bench_clock clock;
	unsigned conn;
	size_t n;

	bench_allow_conns();
	open_peer(&p);
	connect_all(&p, o);
	bench_clock_start(&clock, o);
	for (conn = 0; conn < o->conns; conn++)
		if (!send_messages(p.fd[conn], p.data, p.out_len, o->depth))
			bench_die("send", errno);
	for (;;) {
		n = take_messages(&p, &conn);
		if (!n)
			bench_die("recv", ECONNRESET);
		if (!bench_clock_count(&clock, n))
			break;
		if (!send_messages(p.fd[conn], p.data, p.out_len, n))
			bench_die("send", errno);
	}
	bench_row(o, &clock);
	puts("");
	close_conns(&p);
}

int main(int argc, char **argv)
{
	struct bench_options o;

	bench_options(argc, argv, &o);
	if (o.role == BENCH_SERVER)
		server();
	else
		client(&o);
	return 0;
}
