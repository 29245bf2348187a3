/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint against a plain TCP socket that says whatever a test wants.  Frames
 * are built here by hand, with a bit by bit CRC, and not by the code under test.
 */
#ifndef TESTS_UNIT_IWARP_RAW_H
#define TESTS_UNIT_IWARP_RAW_H

#include <fcntl.h>
#include <unistd.h>

#include "iwarp_pair.h"

#define REQ1 "MPA ID Req Frame\x40\x01\x00\x00" /* CRC, revision 1 */
#define REP1 "MPA ID Rep Frame\x40\x01\x00\x00"

/* octets written in order; big enough for all tests */
struct bytes {
	uint8_t b[200000];
	size_t n;
};

static inline void put(struct bytes *o, const void *p, size_t n)
{
	assert_true(o->n + n <= sizeof(o->b));
	if (n)
		memcpy(o->b + o->n, p, n);
	o->n += n;
}

static inline void put_be(struct bytes *o, uint64_t v, unsigned octets)
{
	while (octets--) {
		uint8_t b = (uint8_t)(v >> 8 * octets);

		put(o, &b, 1);
	}
}

static inline uint64_t get_be(const uint8_t *p, unsigned octets)
{
	uint64_t v = 0;

	while (octets--)
		v = v << 8 | *p++;
	return v;
}

static inline uint32_t slow_crc(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
	}
	return ~c;
}

/* Frames a ULPDU. */
static inline void put_fpdu(struct bytes *o, const struct bytes *ulpdu)
{
	size_t from = o->n;
	uint32_t crc;

	put_be(o, ulpdu->n, 2);
	put(o, ulpdu->b, ulpdu->n);
	while ((o->n - from) % 4)
		put_be(o, 0, 1);
	crc = slow_crc(o->b + from, o->n - from);
	for (int k = 0; k < 4; k++)
		put_be(o, crc >> 8 * k & 0xff, 1);
}

/* First two octets as they are, then the fields. */
static inline void ul_tagged(struct bytes *u, uint16_t ctrl, uint32_t stag, uint64_t to,
                             const void *body, size_t n)
{
	u->n = 0;
	put_be(u, ctrl, 2);
	put_be(u, stag, 4);
	put_be(u, to, 8);
	put(u, body, n);
}

static inline void ul_untagged(struct bytes *u, uint16_t ctrl, uint32_t inv,
                               uint32_t qn, uint32_t msn, uint32_t mo, const void *body,
                               size_t n)
{
	u->n = 0;
	put_be(u, ctrl, 2);
	put_be(u, inv, 4);
	put_be(u, qn, 4);
	put_be(u, msn, 4);
	put_be(u, mo, 4);
	put(u, body, n);
}

static inline void ul_read(struct bytes *u, uint32_t msn, uint32_t sink,
                           uint64_t sink_to, uint32_t size, uint32_t src,
                           uint64_t src_to)
{
	ul_untagged(u, 0x4141, 0, 1, msn, 0, NULL, 0);
	put_be(u, sink, 4);
	put_be(u, sink_to, 8);
	put_be(u, size, 4);
	put_be(u, src, 4);
	put_be(u, src_to, 8);
}

static inline void add_tagged(struct bytes *o, uint16_t ctrl, uint32_t stag,
                              uint64_t to, const void *body, size_t n)
{
	static struct bytes u;

	ul_tagged(&u, ctrl, stag, to, body, n);
	put_fpdu(o, &u);
}

static inline void add_untagged(struct bytes *o, uint16_t ctrl, uint32_t inv,
                                uint32_t qn, uint32_t msn, uint32_t mo,
                                const void *body, size_t n)
{
	static struct bytes u;

	ul_untagged(&u, ctrl, inv, qn, msn, mo, body, n);
	put_fpdu(o, &u);
}

/* The empty Write that lets a responder speak. */
static inline void add_rtr(struct bytes *o)
{
	add_tagged(o, 0xc140, 0, 0, NULL, 0);
}

struct raw {
	int fd;
	struct end e;
	struct bytes in; /* received so far */
	size_t used;
	bool eof;
};

static inline void raw_nonblock(struct raw *r)
{
	fcntl(r->fd, F_SETFL, fcntl(r->fd, F_GETFL) | O_NONBLOCK);
}

/* The endpoint is the responder. */
static inline void raw_client(struct raw *r, const char *opts, rr_time handshake_ns)
{
	struct rr_prov_config cfg = {.options = opts, .handshake_ns = handshake_ns};
	struct sockaddr_in sa = loopback(0);
	struct sockaddr_storage bound;
	struct rr_prov_listener *l;
	struct rr_ep *ep;

	r->in.n = r->used = 0;
	r->eof = false;
	assert_int_equal(OPS->listen(&cfg, (void *)&sa, sizeof(sa), &l, &bound), 0);
	r->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(r->fd, (void *)&bound, sizeof(sa)), 0);
	assert_int_equal(OPS->accept(l, &cfg, NULL, 0, now(), &ep), 0);
	end_init(&r->e, ep);
	OPS->listener_close(l);
	raw_nonblock(r);
}

/* The endpoint is the initiator. */
static inline void raw_server(struct raw *r, const char *opts)
{
	struct rr_prov_config cfg = {.options = opts};
	struct sockaddr_in sa = loopback(0);
	socklen_t len = sizeof(sa);
	int l = socket(AF_INET, SOCK_STREAM, 0);
	struct rr_ep *ep;

	r->in.n = r->used = 0;
	r->eof = false;
	assert_int_equal(bind(l, (void *)&sa, len), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (void *)&sa, &len), 0);
	assert_int_equal(OPS->connect(&cfg, (void *)&sa, len, NULL, 0, now(), &ep), 0);
	end_init(&r->e, ep);
	r->fd = accept(l, NULL, NULL);
	assert_true(r->fd >= 0);
	close(l);
	raw_nonblock(r);
}

static inline void raw_step(struct raw *r, int ms)
{
	struct end *e = &r->e;

	ends_step(&e, 1, ms);
}

/* Says @n octets; the endpoint runs when the socket is full. */
static inline void raw_say(struct raw *r, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n) {
		ssize_t k = send(r->fd, b, n, MSG_NOSIGNAL);

		if (k < 0) {
			assert_int_equal(errno, EAGAIN);
			raw_step(r, 1);
			continue;
		}
		b += k;
		n -= (size_t)k;
	}
}

static inline void raw_hear(struct raw *r)
{
	ssize_t n;

	while ((n = recv(r->fd, r->in.b + r->in.n, sizeof(r->in.b) - r->in.n, 0)) > 0)
		r->in.n += (size_t)n;
	if (n == 0 && r->in.n < sizeof(r->in.b))
		r->eof = true;
}

/* Waits for @n unused octets and uses them. */
static inline const uint8_t *raw_need(struct raw *r, size_t n)
{
	rr_time stop = now() + RR_SEC(10);

	if (sizeof(r->in.b) - r->in.n < 80000) {
		memmove(r->in.b, r->in.b + r->used, r->in.n - r->used);
		r->in.n -= r->used;
		r->used = 0;
	}
	while (raw_hear(r), r->in.n - r->used < n) {
		if (r->eof || now() > stop)
			fail_msg("%zu octets of %zu, %s: %s", r->in.n - r->used, n,
			         r->eof ? "end" : "time out", OPS->reason(r->e.ep));
		raw_step(r, 1);
	}
	r->used += n;
	return r->in.b + r->used - n;
}

/* The next ULPDU, its CRC checked. */
static inline const uint8_t *raw_ulpdu(struct raw *r, size_t *ret_len)
{
	const uint8_t *p = raw_need(r, 2);
	size_t len = get_be(p, 2), pad = (4 - (2 + len) % 4) % 4;
	uint32_t crc;

	r->used -= 2;
	p = raw_need(r, 2 + len + pad + 4);
	for (size_t k = 0; k < pad; k++)
		assert_int_equal(p[2 + len + k], 0);
	crc = slow_crc(p, 2 + len + pad);
	for (int k = 0; k < 4; k++)
		assert_int_equal(p[2 + len + pad + k], crc >> 8 * k & 0xff);
	*ret_len = len;
	return p + 2;
}

static inline void raw_eof(struct raw *r)
{
	rr_time stop = now() + RR_SEC(5);

	while (raw_hear(r), !r->eof) {
		assert_true(now() < stop);
		raw_step(r, 1);
	}
	assert_int_equal(r->in.n, r->used);
}

/* Request, Reply and RTR of a revision 1 client. */
static inline void raw_enter(struct raw *r, const char *opts)
{
	static struct bytes o;

	raw_client(r, opts, 0);
	o.n = 0;
	put(&o, REQ1, 20);
	add_rtr(&o);
	raw_say(r, o.b, o.n);
	assert_memory_equal(raw_need(r, 20), REP1, 20);
	expect_wc(&r->e, NULL, RR_WC_CONNECTED, 0, 0);
	while (OPS->events(r->e.ep) == 0)
		raw_step(r, 10);
	raw_step(r, 0);
}

static inline void raw_close(struct raw *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static inline void raw_fini(struct raw *r)
{
	raw_close(r);
	end_fini(&r->e);
}

#endif
