/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_iwarp_pair.h"

rr_time test_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return RR_SEC(ts.tv_sec) + (rr_time)ts.tv_nsec;
}

void end_init(struct end *e, struct rr_ep *ep)
{
	e->ep = ep;
	e->wc = calloc(WCS, sizeof(*e->wc));
	e->n = e->taken = 0;
	assert_non_null(e->wc);
}

void end_fini(struct end *e)
{
	OPS->destroy(e->ep);
	free(e->wc);
}

void end_poll(struct end *e)
{
	unsigned got;

	do {
		assert_true(e->n + 64 <= WCS);
		got = OPS->poll(e->ep, e->wc + e->n, 64);
		e->n += got;
	} while (got);
}

void ends_step(struct end **e, unsigned n, int ms)
{
	struct pollfd p[4];
	rr_time t, dl = RR_TIME_NEVER;

	for (unsigned i = 0; i < n; i++) {
		uint32_t ev = OPS->events(e[i]->ep);
		rr_time d = OPS->deadline(e[i]->ep);

		p[i] = (struct pollfd){.fd = ev ? OPS->fd(e[i]->ep) : -1};
		p[i].events = (short)((ev & EPOLLIN ? POLLIN : 0) |
		                      (ev & EPOLLOUT ? POLLOUT : 0));
		dl = RR_MIN(dl, d);
	}
	t = test_now();
	if (dl < t + RR_MS(ms))
		ms = dl <= t ? 0 : (int)((dl - t) / 1000000 + 1);
	poll(p, n, ms);
	for (unsigned i = 0; i < n; i++) {
		OPS->progress(e[i]->ep, test_now());
		end_poll(e[i]);
	}
}

struct rr_wc *end_next_wc(struct end *e, struct end *other)
{
	struct end *both[2] = {e, other};
	rr_time stop = test_now() + RR_SEC(20);

	end_poll(e);
	while (e->taken == e->n) {
		ends_step(both, other ? 2 : 1, 100);
		if (test_now() > stop)
			fail_msg("no completion: %s", OPS->reason(e->ep));
	}
	return &e->wc[e->taken++];
}

struct rr_wc *end_expect_wc(struct end *e, struct end *other, enum rr_wc_op op,
                            uint64_t token, int status)
{
	struct rr_wc *wc = end_next_wc(e, other);

	if (wc->op != op || wc->token != token || wc->status != status)
		fail_msg("op %d token %llu status %d instead of %d %llu %d: %s", wc->op,
		         (unsigned long long)wc->token, wc->status, op,
		         (unsigned long long)token, status, OPS->reason(e->ep));
	return wc;
}

void end_flush(struct end *e)
{
	int rc = OPS->flush(e->ep, test_now());

	assert_true(rc == 0 || rc == -EAGAIN);
}

struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
	        .sin_family = AF_INET,
	        .sin_port = htons(port),
	        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

void ends_start(struct end *c, struct end *s, const char *copts, const char *sopts)
{
	struct rr_prov_config cc = {.options = copts, .conn_id = 1};
	struct rr_prov_config sc = {.options = sopts, .conn_id = 2};
	struct sockaddr_in sa = loopback(0);
	struct sockaddr_storage bound;
	struct rr_prov_listener *l;
	struct rr_ep *ep;
	struct pollfd p;

	assert_int_equal(OPS->listen(&sc, (void *)&sa, sizeof(sa), &l, &bound), 0);
	assert_int_equal(OPS->accept(l, &sc, NULL, 0, test_now(), &ep), -EAGAIN);
	assert_int_equal(OPS->connect(&cc, (void *)&bound, sizeof(sa), "client", 6,
	                              test_now(), &ep),
	                 0);
	end_init(c, ep);
	p = (struct pollfd){.fd = OPS->listener_fd(l), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(OPS->accept(l, &sc, "server!", 7, test_now(), &ep), 0);
	end_init(s, ep);
	OPS->listener_close(l);
}

void ends_open(struct end *c, struct end *s, const char *copts, const char *sopts)
{
	ends_start(c, s, copts, sopts);
	end_expect_wc(c, s, RR_WC_CONNECTED, 0, 0);
	end_expect_wc(s, c, RR_WC_CONNECTED, 0, 0);
}

void ends_exchange(struct end *c, struct end *s)
{
	static uint8_t word[4] = "word", in[64];
	struct rr_sge g = {.base = word, .len = 4}, room = {.base = in, .len = 64};

	assert_int_equal(OPS->post_recv(s->ep, &room, 2), 0);
	assert_int_equal(OPS->post_send(c->ep, &g, 1, 0, 1), 0);
	end_flush(c);
	end_expect_wc(s, c, RR_WC_RECV, 2, 0);
	end_expect_wc(c, s, RR_WC_SEND, 1, 0);
	assert_int_equal(OPS->post_recv(c->ep, &room, 4), 0);
	assert_int_equal(OPS->post_send(s->ep, &g, 1, 0, 3), 0);
	end_flush(s);
	end_expect_wc(s, c, RR_WC_SEND, 3, 0);
	end_expect_wc(c, s, RR_WC_RECV, 4, 0);
}

void ends_close(struct end *c, struct end *s)
{
	OPS->disconnect(c->ep, test_now());
	end_expect_wc(c, s, RR_WC_DISCONNECTED, 0, 0);
	end_expect_wc(s, c, RR_WC_DISCONNECTED, 0, 0);
	end_fini(c);
	end_fini(s);
}

uint8_t pattern_at(uint64_t seed, uint64_t i)
{
	uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + i * 0x2545f4914f6cdd1du;

	return (uint8_t)(x >> 37);
}

uint8_t *pattern(size_t len, uint64_t seed)
{
	uint8_t *p = malloc(len + 1);

	assert_non_null(p);
	for (size_t i = 0; i < len; i++)
		p[i] = pattern_at(seed, i);
	return p;
}

void check_pattern(const uint8_t *p, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != pattern_at(seed, i))
			fail_msg("octet %zu of %zu", i, len);
}
