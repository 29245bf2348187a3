/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw TCP with messages of the sizes of an RPC: the speed of a program that only moves
 * the octets.  It has blocking sockets with TCP_NODELAY, writes once for each batch, and
 * receives large messages straight into place.  There is no protocol: the client sends
 * the sizes once at the start.  With --spin both ends poll instead of sleeping.
 *
 * This is the hardest honest baseline: it reads no header and has no event loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { BATCH = 65536, HELLO_WORDS = 3 };

static size_t call_len(const struct bench_options *o)
{
	switch (o->test) {
	case BENCH_NULL:
		return BENCH_NULL_CALL;
	case BENCH_READ:
	case BENCH_LIST:
		return BENCH_READ_CALL;
	case BENCH_WRITE:
		return BENCH_WRITE_CALL + o->bytes;
	}
	return 0;
}

static size_t reply_len(const struct bench_options *o)
{
	switch (o->test) {
	case BENCH_NULL:
		return BENCH_NULL_REPLY;
	case BENCH_READ:
	case BENCH_LIST:
		return BENCH_READ_REPLY + o->bytes;
	case BENCH_WRITE:
		return BENCH_WRITE_REPLY;
	}
	return 0;
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

static void serve(int fd, const uint8_t *data, uint8_t *buf)
{
	uint32_t hello[HELLO_WORDS];
	size_t have = 0, n;

	bench_nodelay(fd);
	if (recv(fd, hello, sizeof(hello), MSG_WAITALL) != sizeof(hello))
		return;
	do
		n = recv_messages(fd, buf, hello[0], &have,
		                  hello[2] ? MSG_DONTWAIT : 0);
	while (n && send_messages(fd, data, hello[1], n));
}

static void server(void)
{
	uint8_t *data = bench_data(BENCH_MAX_BYTES + 4096);
	uint8_t *buf = bench_data(BENCH_MAX_BYTES + 4096);
	uint16_t port;
	int fd = bench_tcp_listen(&port);

	bench_listening(port);
	for (;;) {
		int s = accept(fd, NULL, NULL);

		if (s < 0)
			bench_die("accept", errno);
		serve(s, data, buf);
		close(s);
	}
}

static void client(const struct bench_options *o)
{
	uint8_t *data = bench_data(BENCH_MAX_BYTES + 4096);
	uint8_t *buf = bench_data(BENCH_MAX_BYTES + 4096);
	uint32_t hello[HELLO_WORDS] = {(uint32_t)call_len(o), (uint32_t)reply_len(o),
	                               o->spin_us > 0};
	int fd = bench_tcp_connect(o->port);
	uint64_t begin = bench_now(), warm = begin + o->ms * 1000000 / 10;
	uint64_t end = warm + o->ms * 1000000, now = begin, ops = 0;
	size_t have = 0, n;
	int flags = o->spin_us ? MSG_DONTWAIT : 0;

	if (send(fd, hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    !send_messages(fd, data, call_len(o), o->depth))
		bench_die("send", errno);
	for (bool warming = true; now < end;) {
		n = recv_messages(fd, buf, reply_len(o), &have, flags);
		if (!n)
			bench_die("recv", ECONNRESET);
		ops += n;
		now = bench_now();
		if (warming && now >= warm) {
			warming = false;
			begin = now;
			ops = 0;
		}
		if (!send_messages(fd, data, call_len(o), n))
			bench_die("send", errno);
	}
	bench_row(o, ops, now - begin);
	puts("");
	close(fd);
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
