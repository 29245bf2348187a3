/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_iwarp_raw.h"

void bytes_put(struct bytes *o, const void *p, size_t n)
{
	assert_true(o->n + n <= sizeof(o->b));
	if (n)
		memcpy(o->b + o->n, p, n);
	o->n += n;
}

void bytes_put_be(struct bytes *o, uint64_t v, unsigned octets)
{
	while (octets--) {
		uint8_t b = (uint8_t)(v >> 8 * octets);

		bytes_put(o, &b, 1);
	}
}

uint64_t bytes_get_be(const uint8_t *p, unsigned octets)
{
	uint64_t v = 0;

	while (octets--)
		v = v << 8 | *p++;
	return v;
}

uint32_t slow_crc(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
	}
	return ~c;
}

void bytes_put_fpdu(struct bytes *o, const struct bytes *ulpdu)
{
	size_t from = o->n;
	uint32_t crc;

	bytes_put_be(o, ulpdu->n, 2);
	bytes_put(o, ulpdu->b, ulpdu->n);
	while ((o->n - from) % 4)
		bytes_put_be(o, 0, 1);
	crc = slow_crc(o->b + from, o->n - from);
	for (int k = 0; k < 4; k++)
		bytes_put_be(o, crc >> 8 * k & 0xff, 1);
}

void ul_tagged(struct bytes *u, uint16_t ctrl, uint32_t stag, uint64_t to,
               const void *body, size_t n)
{
	u->n = 0;
	bytes_put_be(u, ctrl, 2);
	bytes_put_be(u, stag, 4);
	bytes_put_be(u, to, 8);
	bytes_put(u, body, n);
}

void ul_untagged(struct bytes *u, uint16_t ctrl, uint32_t inv, uint32_t qn,
                 uint32_t msn, uint32_t mo, const void *body, size_t n)
{
	u->n = 0;
	bytes_put_be(u, ctrl, 2);
	bytes_put_be(u, inv, 4);
	bytes_put_be(u, qn, 4);
	bytes_put_be(u, msn, 4);
	bytes_put_be(u, mo, 4);
	bytes_put(u, body, n);
}

void ul_read(struct bytes *u, uint32_t msn, uint32_t sink, uint64_t sink_to,
             uint32_t size, uint32_t src, uint64_t src_to)
{
	ul_untagged(u, 0x4141, 0, 1, msn, 0, NULL, 0);
	bytes_put_be(u, sink, 4);
	bytes_put_be(u, sink_to, 8);
	bytes_put_be(u, size, 4);
	bytes_put_be(u, src, 4);
	bytes_put_be(u, src_to, 8);
}

void add_tagged(struct bytes *o, uint16_t ctrl, uint32_t stag, uint64_t to,
                const void *body, size_t n)
{
	static struct bytes u;

	ul_tagged(&u, ctrl, stag, to, body, n);
	bytes_put_fpdu(o, &u);
}

void add_untagged(struct bytes *o, uint16_t ctrl, uint32_t inv, uint32_t qn,
                  uint32_t msn, uint32_t mo, const void *body, size_t n)
{
	static struct bytes u;

	ul_untagged(&u, ctrl, inv, qn, msn, mo, body, n);
	bytes_put_fpdu(o, &u);
}

void add_rtr(struct bytes *o)
{
	add_tagged(o, 0xc140, 0, 0, NULL, 0);
}

static void peer_nonblock(struct peer *r)
{
	fcntl(r->fd, F_SETFL, fcntl(r->fd, F_GETFL) | O_NONBLOCK);
}

void peer_client(struct peer *r, const char *opts, rr_time handshake_ns)
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
	assert_int_equal(OPS->accept(l, &cfg, NULL, 0, test_now(), &ep), 0);
	end_init(&r->e, ep);
	OPS->listener_close(l);
	peer_nonblock(r);
}

void peer_server(struct peer *r, const char *opts)
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
	assert_int_equal(OPS->connect(&cfg, (void *)&sa, len, NULL, 0, test_now(), &ep),
	                 0);
	end_init(&r->e, ep);
	r->fd = accept(l, NULL, NULL);
	assert_true(r->fd >= 0);
	close(l);
	peer_nonblock(r);
}

void peer_step(struct peer *r, int ms)
{
	struct end *e = &r->e;

	ends_step(&e, 1, ms);
}

void peer_send(struct peer *r, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n) {
		ssize_t k = send(r->fd, b, n, MSG_NOSIGNAL);

		if (k < 0) {
			assert_int_equal(errno, EAGAIN);
			peer_step(r, 1);
			continue;
		}
		b += k;
		n -= (size_t)k;
	}
}

void peer_receive(struct peer *r)
{
	ssize_t n;

	while ((n = recv(r->fd, r->in.b + r->in.n, sizeof(r->in.b) - r->in.n, 0)) > 0)
		r->in.n += (size_t)n;
	if (n == 0 && r->in.n < sizeof(r->in.b))
		r->eof = true;
}

const uint8_t *peer_need(struct peer *r, size_t n)
{
	rr_time stop = test_now() + RR_SEC(10);

	if (sizeof(r->in.b) - r->in.n < 80000) {
		memmove(r->in.b, r->in.b + r->used, r->in.n - r->used);
		r->in.n -= r->used;
		r->used = 0;
	}
	while (peer_receive(r), r->in.n - r->used < n) {
		if (r->eof || test_now() > stop)
			fail_msg("%zu octets of %zu, %s: %s", r->in.n - r->used, n,
			         r->eof ? "end" : "time out", OPS->reason(r->e.ep));
		peer_step(r, 1);
	}
	r->used += n;
	return r->in.b + r->used - n;
}

const uint8_t *peer_ulpdu(struct peer *r, size_t *ret_len)
{
	const uint8_t *p = peer_need(r, 2);
	size_t len = bytes_get_be(p, 2), pad = (4 - (2 + len) % 4) % 4;
	uint32_t crc;

	r->used -= 2;
	p = peer_need(r, 2 + len + pad + 4);
	for (size_t k = 0; k < pad; k++)
		assert_int_equal(p[2 + len + k], 0);
	crc = slow_crc(p, 2 + len + pad);
	for (int k = 0; k < 4; k++)
		assert_int_equal(p[2 + len + pad + k], crc >> 8 * k & 0xff);
	*ret_len = len;
	return p + 2;
}

void peer_expect_eof(struct peer *r)
{
	rr_time stop = test_now() + RR_SEC(5);

	while (peer_receive(r), !r->eof) {
		assert_true(test_now() < stop);
		peer_step(r, 1);
	}
	assert_int_equal(r->in.n, r->used);
}

void peer_start(struct peer *r, const char *opts)
{
	static struct bytes o;

	peer_client(r, opts, 0);
	o.n = 0;
	bytes_put(&o, REQ1, 20);
	add_rtr(&o);
	peer_send(r, o.b, o.n);
	assert_memory_equal(peer_need(r, 20), REP1, 20);
	end_expect_wc(&r->e, NULL, RR_WC_CONNECTED, 0, 0);
	while (OPS->events(r->e.ep) == 0)
		peer_step(r, 10);
	peer_step(r, 0);
}

void peer_close(struct peer *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

void peer_fini(struct peer *r)
{
	peer_close(r);
	end_fini(&r->e);
}
