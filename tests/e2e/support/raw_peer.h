/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of an iWARP connection on a plain TCP socket: MPA start-up, FPDUs
 * with their CRC, and Sends, framed here from RFC 5044, 5041, 5040 and 6581 and not
 * by the library.  It says and hears whole RPC-over-RDMA messages as 32-bit words.
 *
 * The library's engine runs in the same thread: whatever waits here, moves it.
 * Failures and hangs are cmocka's.
 */
#ifndef TESTS_E2E_RAW_PEER_H
#define TESTS_E2E_RAW_PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <rpcrdma/rpcrdma.h>

enum { RAW_MS = 1000000, RAW_HANG_MS = 20000, RAW_WORDS = 2048 };

struct raw_peer {
	struct rpcrdma_engine *engine;
	int fd;
	uint8_t in[65536];
	size_t len;
	bool eof;
	uint32_t sent, heard; /* message sequence numbers of Sends */
	uint8_t head[24];     /* the peer's MPA frame, without private data */
	uint8_t private[512]; /* and that, without what RFC 6581 puts there */
	size_t private_len;
	uint32_t inv_stag; /* of the last message; 0: a plain Send */
};

struct raw_msg {
	size_t len; /* octets */
	uint32_t word[RAW_WORDS];
};

static inline uint64_t raw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- octets --------------------------------------------------------------------- */

static inline uint32_t raw_be(const uint8_t *p, unsigned octets)
{
	uint32_t v = 0;

	while (octets--)
		v = v << 8 | *p++;
	return v;
}

static inline void raw_put(uint8_t *p, uint32_t v, unsigned octets)
{
	while (octets--)
		*p++ = (uint8_t)(v >> 8 * octets);
}

/* CRC32C, reflected, by a table of its own; sent lowest octet first. */
static inline uint32_t raw_crc(const uint8_t *p, size_t n)
{
	static uint32_t table[256];
	uint32_t c = 0xffffffff;

	for (uint32_t i = table[1] ? 256 : 0; i < 256; i++) {
		uint32_t r = i;

		for (int k = 0; k < 8; k++)
			r = r & 1 ? r >> 1 ^ 0x82f63b78 : r >> 1;
		table[i] = r;
	}
	while (n--)
		c = table[(c ^ *p++) & 0xff] ^ c >> 8;
	return ~c;
}

/* -- the socket ------------------------------------------------------------------- */

static inline void raw_init(struct raw_peer *p, struct rpcrdma_engine *e, int fd)
{
	memset(p, 0, offsetof(struct raw_peer, in));
	p->engine = e;
	p->fd = fd;
	p->len = 0;
	p->eof = false;
	p->sent = p->heard = 0;
	p->private_len = 0;
	assert_true(fd >= 0);
	/* Each message leaves at once: several that pile up would overrun a server that
	 * has few Receives yet.  A socket that is no TCP has nothing to turn off. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static inline void raw_close(struct raw_peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* Resets instead of closing in order. */
static inline void raw_abort(struct raw_peer *p)
{
	struct linger l = {1, 0};

	setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	raw_close(p);
}

/* Moves the library and takes what has come. */
static inline void raw_step(struct raw_peer *p, int ms)
{
	ssize_t n;

	assert_int_equal(rpcrdma_engine_process(p->engine, ms), 0);
	n = recv(p->fd, p->in + p->len, sizeof(p->in) - p->len, 0);
	if (n > 0)
		p->len += (size_t)n;
	else if (n == 0 || errno != EAGAIN)
		p->eof = true;
}

static inline void raw_used(struct raw_peer *p, size_t n)
{
	memmove(p->in, p->in + n, p->len - n);
	p->len -= n;
}

/* Waits until @n octets are there. */
static inline void raw_need(struct raw_peer *p, size_t n)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (p->len < n) {
		if (p->eof || raw_now() > stop)
			fail_msg("%zu octets of %zu, then %s", p->len, n,
			         p->eof ? "the end" : "nothing");
		raw_step(p, 2);
	}
}

static inline void raw_write(struct raw_peer *p, const void *b, size_t n)
{
	assert_int_equal(send(p->fd, b, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* -- MPA start-up ---------------------------------------------------------- */

/* The peer's frame with this key; revision 2, as the library has it by default. */
static inline void raw_hear_mpa(struct raw_peer *p, const char *key)
{
	size_t pd;

	raw_need(p, 20);
	assert_memory_equal(p->in, key, 16);
	assert_int_equal(p->in[16], 0x50); /* C, S */
	assert_int_equal(p->in[17], 2);
	pd = raw_be(p->in + 18, 2);
	assert_in_range(pd, 4, 512);
	raw_need(p, 20 + pd);
	memcpy(p->head, p->in, 24);
	p->private_len = pd - 4;
	memcpy(p->private, p->in + 24, pd - 4);
	raw_used(p, 20 + pd);
}

/* A frame of our own: peer to peer, ready to receive by an empty Write, 16 Reads. */
static inline void raw_say_mpa(struct raw_peer *p, const char *key, const void *private,
                               size_t len)
{
	uint8_t f[24 + 512] = {0};

	memcpy(f, key, 16);
	f[16] = 0x50;
	f[17] = 2;
	raw_put(f + 18, (uint32_t)(4 + len), 2);
	raw_put(f + 20, 0x8010, 2);
	raw_put(f + 22, 0x8010, 2);
	if (len)
		memcpy(f + 24, private, len);
	raw_write(p, f, 24 + len);
}

/* -- Sends ----------------------------------------------------------------- */

/* Frames and sends a ULPDU that stands at @f + 2. */
static inline void raw_fpdu(struct raw_peer *p, uint8_t *f, size_t ulpdu)
{
	size_t n = (2 + ulpdu + 3) & ~(size_t)3;
	uint32_t crc;

	raw_put(f, (uint32_t)ulpdu, 2);
	crc = raw_crc(f, n);
	for (int k = 0; k < 4; k++)
		f[n + (size_t)k] = (uint8_t)(crc >> 8 * k);
	raw_write(p, f, n + 4);
}

/* What an initiator says first. */
static inline void raw_say_rtr(struct raw_peer *p)
{
	uint8_t f[2 + 14 + 8] = {0, 0, 0xc1, 0x40};

	raw_fpdu(p, f, 14);
}

static inline void raw_say_octets(struct raw_peer *p, const void *b, size_t len)
{
	uint8_t f[2 + 18 + 4 * RAW_WORDS + 8] = {0, 0, 0x41, 0x43};

	assert_true(len <= 4 * RAW_WORDS);
	raw_put(f + 12, ++p->sent, 4); /* queue 0 */
	memcpy(f + 20, b, len);
	raw_fpdu(p, f, 18 + len);
}

static inline void raw_say(struct raw_peer *p, const uint32_t *word, size_t n)
{
	uint8_t b[4 * RAW_WORDS];

	assert_true(n <= RAW_WORDS);
	for (size_t i = 0; i < n; i++)
		raw_put(b + 4 * i, word[i], 4);
	raw_say_octets(p, b, 4 * n);
}

#define RAW_SAY(p, ...)                                                                \
	raw_say((p), (const uint32_t[]){__VA_ARGS__},                                  \
	        sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* A whole FPDU is there: its ULPDU's length; the CRC is right. */
static inline bool raw_have_fpdu(const struct raw_peer *p, size_t *ret_ulpdu,
                                 size_t *ret_total)
{
	size_t ulpdu, n;
	uint32_t crc;

	if (p->len < 2)
		return false;
	ulpdu = raw_be(p->in, 2);
	n = (2 + ulpdu + 3) & ~(size_t)3;
	if (p->len < n + 4)
		return false;
	crc = raw_crc(p->in, n);
	for (int k = 0; k < 4; k++)
		assert_int_equal(p->in[n + (size_t)k], (uint8_t)(crc >> 8 * k));
	*ret_ulpdu = ulpdu;
	*ret_total = n + 4;
	return true;
}

/* The next Send, if one is there.  Ready-to-receive messages are passed over. */
static inline bool raw_have_msg(struct raw_peer *p, struct raw_msg *ret)
{
	size_t ulpdu, total;

	while (raw_have_fpdu(p, &ulpdu, &total)) {
		const uint8_t *u = p->in + 2;

		if (ulpdu == 14 && u[0] == 0xc1 && u[1] == 0x40) {
			raw_used(p, total);
			continue;
		}
		assert_true(ulpdu >= 18);
		assert_int_equal(u[0], 0x41); /* untagged, last, DDP version 1 */
		assert_true(u[1] == 0x43 || u[1] == 0x44);
		assert_int_equal(raw_be(u + 6, 4), 0); /* queue */
		assert_int_equal(raw_be(u + 10, 4), ++p->heard);
		assert_int_equal(raw_be(u + 14, 4), 0); /* offset */
		p->inv_stag = u[1] == 0x44 ? raw_be(u + 2, 4) : 0;
		ret->len = ulpdu - 18;
		assert_int_equal(ret->len % 4, 0);
		assert_true(ret->len <= sizeof(ret->word));
		for (size_t i = 0; i < ret->len / 4; i++)
			ret->word[i] = raw_be(u + 18 + 4 * i, 4);
		raw_used(p, total);
		return true;
	}
	return false;
}

static inline void raw_hear(struct raw_peer *p, struct raw_msg *ret)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!raw_have_msg(p, ret)) {
		if (p->eof || raw_now() > stop)
			fail_msg("no message, but %s",
			         p->eof ? "the end" : "nothing at all");
		raw_step(p, 2);
	}
}

/* The message has these words and no more. */
static inline void raw_is(const struct raw_msg *m, const uint32_t *word, size_t n)
{
	for (size_t i = 0; i < n && i < m->len / 4; i++)
		if (m->word[i] != word[i])
			fail_msg("word %zu is %08x instead of %08x", i, m->word[i],
			         word[i]);
	assert_int_equal(m->len, 4 * n);
}

#define RAW_IS(m, ...)                                                                 \
	raw_is((m), (const uint32_t[]){__VA_ARGS__},                                   \
	       sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Nothing is said, and the connection stays, for @ms. */
static inline void raw_quiet(struct raw_peer *p, unsigned ms)
{
	static struct raw_msg m;
	uint64_t stop = raw_now() + (uint64_t)ms * RAW_MS;

	while (raw_now() < stop) {
		raw_step(p, 2);
		assert_false(raw_have_msg(p, &m));
		assert_false(p->eof);
	}
}

/* The library ends the connection without another message. */
static inline void raw_hear_end(struct raw_peer *p)
{
	static struct raw_msg m;
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!p->eof) {
		assert_true(raw_now() < stop);
		raw_step(p, 2);
		assert_false(raw_have_msg(p, &m));
	}
}

#endif
