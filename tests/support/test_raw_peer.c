/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_raw_peer.h"

uint64_t raw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* -- octets ---------------------------------------------------------------- */

uint32_t raw_be(const uint8_t *p, unsigned octets)
{
	uint32_t v = 0;

	while (octets--)
		v = v << 8 | *p++;
	return v;
}

void raw_put(uint8_t *p, uint32_t v, unsigned octets)
{
	while (octets--)
		*p++ = (uint8_t)(v >> 8 * octets);
}

uint32_t raw_crc(const uint8_t *p, size_t n)
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

/* -- the socket ------------------------------------------------------------ */

void raw_init(struct raw_peer *p, struct rpcrdma_engine *e, int fd)
{
	memset(p, 0, offsetof(struct raw_peer, in));
	p->engine = e;
	p->fd = fd;
	p->len = 0;
	p->eof = false;
	p->sent = p->received = 0;
	p->private_len = 0;
	assert_true(fd >= 0);
	/* Each message leaves at once: several that pile up would overrun a server that
	 * has few Receives yet.  A socket that is no TCP has nothing to turn off. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void raw_close(struct raw_peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void raw_abort(struct raw_peer *p)
{
	struct linger l = {1, 0};

	setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	raw_close(p);
}

void raw_step(struct raw_peer *p, int ms)
{
	ssize_t n;

	assert_int_equal(rpcrdma_engine_process(p->engine, ms), 0);
	n = recv(p->fd, p->in + p->len, sizeof(p->in) - p->len, 0);
	if (n > 0)
		p->len += (size_t)n;
	else if (n == 0 || errno != EAGAIN)
		p->eof = true;
}

static void raw_used(struct raw_peer *p, size_t n)
{
	memmove(p->in, p->in + n, p->len - n);
	p->len -= n;
}

/* Waits until @n octets have arrived. */
static void raw_need(struct raw_peer *p, size_t n)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (p->len < n) {
		if (p->eof || raw_now() > stop)
			fail_msg("%zu octets of %zu, then %s", p->len, n,
			         p->eof ? "the end" : "nothing");
		raw_step(p, 2);
	}
}

static void raw_write(struct raw_peer *p, const void *b, size_t n)
{
	assert_int_equal(send(p->fd, b, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* -- MPA start-up ---------------------------------------------------------- */

void raw_receive_mpa(struct raw_peer *p, const char *key)
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

void raw_send_mpa(struct raw_peer *p, const char *key, const void *private, size_t len)
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

void raw_fpdu(struct raw_peer *p, uint8_t *f, size_t ulpdu)
{
	size_t n = (2 + ulpdu + 3) & ~(size_t)3;
	uint32_t crc;

	raw_put(f, (uint32_t)ulpdu, 2);
	crc = raw_crc(f, n);
	for (int k = 0; k < 4; k++)
		f[n + (size_t)k] = (uint8_t)(crc >> 8 * k);
	raw_write(p, f, n + 4);
}

void raw_send_rtr(struct raw_peer *p)
{
	uint8_t f[2 + 14 + 8] = {0, 0, 0xc1, 0x40};

	raw_fpdu(p, f, 14);
}

void raw_send_octets(struct raw_peer *p, const void *b, size_t len)
{
	uint8_t f[2 + 18 + 4 * RAW_WORDS + 8] = {0, 0, 0x41, 0x43};

	assert_true(len <= 4 * RAW_WORDS);
	raw_put(f + 12, ++p->sent, 4); /* queue 0 */
	memcpy(f + 20, b, len);
	raw_fpdu(p, f, 18 + len);
}

void raw_send_words(struct raw_peer *p, const uint32_t *word, size_t n)
{
	uint8_t b[4 * RAW_WORDS];

	assert_true(n <= RAW_WORDS);
	for (size_t i = 0; i < n; i++)
		raw_put(b + 4 * i, word[i], 4);
	raw_send_octets(p, b, 4 * n);
}

/* Returns whether a whole FPDU has arrived, and the length of its ULPDU. */
static bool raw_have_fpdu(const struct raw_peer *p, size_t *ret_ulpdu,
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

bool raw_have_msg(struct raw_peer *p, struct raw_msg *ret)
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
		assert_int_equal(raw_be(u + 10, 4), ++p->received);
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

void raw_receive_msg(struct raw_peer *p, struct raw_msg *ret)
{
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!raw_have_msg(p, ret)) {
		if (p->eof || raw_now() > stop)
			fail_msg("no message, but %s",
			         p->eof ? "the end" : "nothing at all");
		raw_step(p, 2);
	}
}

void raw_is(const struct raw_msg *m, const uint32_t *word, size_t n)
{
	for (size_t i = 0; i < n && i < m->len / 4; i++)
		if (m->word[i] != word[i])
			fail_msg("word %zu is %08x instead of %08x", i, m->word[i],
			         word[i]);
	assert_int_equal(m->len, 4 * n);
}

void raw_expect_quiet(struct raw_peer *p, unsigned ms)
{
	static struct raw_msg m;
	uint64_t stop = raw_now() + (uint64_t)ms * RAW_MS;

	while (raw_now() < stop) {
		raw_step(p, 2);
		assert_false(raw_have_msg(p, &m));
		assert_false(p->eof);
	}
}

void raw_expect_end(struct raw_peer *p)
{
	static struct raw_msg m;
	uint64_t stop = raw_now() + (uint64_t)RAW_HANG_MS * RAW_MS;

	while (!p->eof) {
		assert_true(raw_now() < stop);
		raw_step(p, 2);
		assert_false(raw_have_msg(p, &m));
	}
}
