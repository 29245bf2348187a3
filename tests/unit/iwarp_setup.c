/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection set-up against a plain socket: refusals, timers, RTR, markers, and
 * the same conversation cut at every place. */
#include "test_iwarp_raw.h"

#include <netinet/tcp.h>

/* ---- the endpoint is the responder ---- */

static void refused(const void *p, size_t n, int status)
{
	static struct peer r;

	peer_client(&r, NULL, 0);
	peer_send(&r, p, n);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, status);
	peer_expect_eof(&r);
	assert_int_not_equal(OPS->reason(r.e.ep)[0], 0);
	peer_fini(&r);
}

static void bad_requests(void **state)
{
	refused("GET / HTTP/1.1\r\n\r\n", 18, -EPROTO);
	refused("X", 1, -EPROTO);
	refused(REP1, 20, -EPROTO); /* responder against responder's answer */
	refused("MPA ID Req Frame\x40\x01\x02\x01", 20, -EPROTO);
	refused("MPA ID Req Frame\x50\x02\x00\x03", 20, -EPROTO);
	refused("MPA ID Req Frame\x40\x00\x00\x00", 20, -EPROTONOSUPPORT);
	refused("MPA ID Req Frame\x40\x03\x00\x00", 20, -EPROTONOSUPPORT);
}

static void half_a_request(void **state)
{
	static struct peer r;
	rr_time t;

	for (size_t n = 0; n < 20; n += 19) {
		peer_client(&r, NULL, RR_MS(50));
		t = test_now();
		peer_send(&r, REQ1, n);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -ETIMEDOUT);
		assert_in_range(test_now() - t, RR_MS(40), RR_MS(1000));
		peer_fini(&r);

		t = test_now();
		peer_client(&r, NULL, 0);
		assert_in_range(OPS->deadline(r.e.ep), t + RR_SEC(5),
		                test_now() + RR_SEC(10));
		peer_send(&r, REQ1, n);
		peer_close(&r);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -ECONNRESET);
		peer_fini(&r);
	}
}

/* What was posted before the first FPDU of the initiator waits for it. */
static void responder_waits(void **state)
{
	static struct peer r;
	static struct bytes o;
	struct rr_sge g = {(void *)"first", 5, 0};
	const uint8_t *p;
	size_t len;

	peer_client(&r, NULL, 0);
	peer_send(&r, REQ1, 20);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	assert_int_equal(OPS->post_send(r.e.ep, &g, 1, 0, 1), 0);
	end_flush(&r.e);
	for (int i = 0; i < 3; i++)
		peer_step(&r, 10);
	peer_receive(&r);
	assert_int_equal(r.in.n, 20);
	assert_memory_equal(peer_need(&r, 20), REP1, 20);
	o.n = 0;
	add_rtr(&o);
	peer_send(&r, o.b, o.n);
	p = peer_ulpdu(&r, &len);
	assert_int_equal(len, 23);
	assert_memory_equal(p + 18, "first", 5);
	end_expect_wc(&r.e, NULL, RR_WC_SEND, 1, 0);
	peer_fini(&r);
}

static void reply_of(const char *opts, const char *req, size_t rlen, const char *want,
                     size_t wlen)
{
	static struct peer r;

	peer_client(&r, opts, 0);
	peer_send(&r, req, rlen);
	assert_memory_equal(peer_need(&r, wlen), want, wlen);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	peer_fini(&r);
}

static void replies_in_kind(void **state)
{
	/* C is the or of both; M is never ours; S and revision follow */
	reply_of(NULL, "MPA ID Req Frame\x00\x01\x00\x00", 20, REP1, 20);
	reply_of("crc=0", "MPA ID Req Frame\x00\x01\x00\x00", 20,
	         "MPA ID Rep Frame\x00\x01\x00\x00", 20);
	reply_of("crc=0", "MPA ID Req Frame\xe0\x01\x00\x02zz", 22, REP1, 20);
	reply_of(NULL, "MPA ID Req Frame\x40\x02\x00\x00", 20,
	         "MPA ID Rep Frame\x40\x02\x00\x00", 20);
	/* ORD 64 cut to the initiator's IRD of 3 */
	reply_of(NULL, "MPA ID Req Frame\x50\x02\x00\x04\x00\x03\x00\x09", 24,
	         "MPA ID Rep Frame\x50\x02\x00\x04\x00\x40\x00\x03", 24);
	/* RTR: a Write or a Read rather than a Send */
	reply_of("ird=0", "MPA ID Req Frame\x50\x02\x00\x04\xc0\x03\xc0\x09", 24,
	         "MPA ID Rep Frame\x50\x02\x00\x04\x80\x01\xc0\x03", 24);
	reply_of(NULL, "MPA ID Req Frame\x50\x02\x00\x04\xc0\x03\x00\x09", 24,
	         "MPA ID Rep Frame\x50\x02\x00\x04\xc0\x40\x00\x03", 24);
}

/* The empty Send as RTR takes no Receive, but a number. */
static void rtr_by_send(void **state)
{
	static struct peer r;
	static struct bytes o;
	char buf[8];
	struct rr_sge g = {buf, 8, 0};

	peer_client(&r, NULL, 0);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 5), 0);
	o.n = 0;
	bytes_put(&o, "MPA ID Req Frame\x50\x02\x00\x04\xc0\x03\x00\x09", 24);
	add_untagged(&o, 0x4143, 0, 0, 1, 0, NULL, 0);
	add_untagged(&o, 0x4143, 0, 0, 2, 0, NULL, 0);
	peer_send(&r, o.b, o.n);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	assert_int_equal(end_expect_wc(&r.e, NULL, RR_WC_RECV, 5, 0)->len, 0);
	peer_fini(&r);
}

/* Only an empty Send that comes first is it; anything else is what it looks like. */
static void what_is_no_rtr_send(void **state)
{
	static const struct {
		bool write; /* an empty Write comes before */
		uint16_t ctrl;
		uint32_t msn, mo;
		size_t len;
		int status; /* of the end; 0: it takes the Receive */
	} t[] = {
	        {false, 0x4143, 1, 0, 3, 0},
	        {true, 0x4143, 1, 0, 0, 0},
	        {false, 0x4143, 2, 0, 0, -EREMOTEIO},
	        {false, 0x4143, 1, 4, 0, -EREMOTEIO},
	};
	static struct peer r;
	static struct bytes o;
	char buf[8];
	struct rr_sge g = {buf, 8, 0};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		peer_client(&r, NULL, 0);
		assert_int_equal(OPS->post_recv(r.e.ep, &g, 5), 0);
		o.n = 0;
		bytes_put(&o, "MPA ID Req Frame\x50\x02\x00\x04\xc0\x03\x00\x09", 24);
		if (t[i].write)
			add_rtr(&o);
		add_untagged(&o, t[i].ctrl, 0, 0, t[i].msn, t[i].mo, "abc", t[i].len);
		peer_send(&r, o.b, o.n);
		end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
		peer_need(&r, 24);
		peer_close(&r);
		if (t[i].status)
			end_expect_wc(&r.e, NULL, RR_WC_RECV, 5, -ECANCELED);
		else
			assert_int_equal(
			        end_expect_wc(&r.e, NULL, RR_WC_RECV, 5, 0)->len,
			        t[i].len);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, t[i].status);
		peer_fini(&r);
	}
}

/* Segments of a Send: the empty first one is not it either. */
static void no_rtr_send_without_its_end(void **state)
{
	static struct peer r;
	static struct bytes o;
	char buf[8];
	struct rr_sge g = {buf, 8, 0};

	peer_client(&r, NULL, 0);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 5), 0);
	o.n = 0;
	bytes_put(&o, "MPA ID Req Frame\x50\x02\x00\x04\xc0\x03\x00\x09", 24);
	add_untagged(&o, 0x0143, 0, 0, 1, 0, NULL, 0);
	add_untagged(&o, 0x4143, 0, 0, 1, 0, "abc", 3);
	peer_send(&r, o.b, o.n);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	assert_int_equal(end_expect_wc(&r.e, NULL, RR_WC_RECV, 5, 0)->len, 3);
	peer_fini(&r);
}

static void rtr_by_read(void **state)
{
	static struct peer r;
	static struct bytes o, u;
	const uint8_t *p;
	size_t len;

	peer_client(&r, NULL, 0);
	o.n = 0;
	bytes_put(&o, "MPA ID Req Frame\x50\x02\x00\x04\x80\x03\x40\x09", 24);
	ul_read(&u, 1, 0x01020304, 5, 0, 99, 99);
	bytes_put_fpdu(&o, &u);
	peer_send(&r, o.b, o.n);
	(void)peer_need(&r, 24);
	p = peer_ulpdu(&r, &len);
	ul_tagged(&u, 0xc142, 0x01020304, 5, NULL, 0);
	assert_int_equal(len, u.n);
	assert_memory_equal(p, u.b, len);
	peer_fini(&r);
}

/* The peer wants markers: take them out by their definition, check all CRCs. */
static void markers_when_asked(void **state)
{
	enum { N = 9000 };
	static struct peer r;
	static struct bytes o, flat;
	uint8_t *src = pattern(N, 3);
	struct rr_sge g[2] = {{src, 100, 0}, {src + 100, N - 100, 0}};
	size_t at_fpdu = 0, total = 0, len;
	const uint8_t *p;

	peer_client(&r, NULL, 0);
	o.n = 0;
	bytes_put(&o, "MPA ID Req Frame\xc0\x01\x00\x00", 20);
	add_rtr(&o);
	peer_send(&r, o.b, o.n);
	assert_memory_equal(peer_need(&r, 20), REP1, 20);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(OPS->post_send(r.e.ep, g, 2, 0, i), 0);
	end_flush(&r.e);
	for (unsigned i = 0; i < 5; i++)
		end_expect_wc(&r.e, NULL, RR_WC_SEND, i, 0);
	OPS->disconnect(r.e.ep, test_now());
	while (peer_receive(&r), !r.eof)
		peer_step(&r, 1);
	p = r.in.b + 20;
	len = r.in.n - 20;
	flat.n = 0;
	for (size_t i = 0; i < len;) {
		size_t from = i, start, crc_at;
		uint32_t crc;

		/* one FPDU, from its marker or its length on */
		if (i % 512 == 0)
			i += 4;
		start = i;
		flat.n = 0;
		for (at_fpdu = 2; flat.n < at_fpdu; i++) {
			if (i % 512 == 0 && i != start) {
				assert_int_equal(bytes_get_be(p + i, 4), i - start);
				i += 3;
				continue;
			}
			bytes_put(&flat, p + i, 1);
			if (flat.n == 2)
				at_fpdu = (2 + bytes_get_be(flat.b, 2) + 3) / 4 * 4;
		}
		if (i % 512 == 0) {
			assert_int_equal(bytes_get_be(p + i, 4), i - start);
			i += 4;
		}
		crc_at = i;
		crc = slow_crc(p + from, crc_at - from);
		for (int k = 0; k < 4; k++)
			assert_int_equal(p[crc_at + (size_t)k], crc >> 8 * k & 0xff);
		i += 4;
		for (size_t k = 20, n = bytes_get_be(flat.b, 2) - 18; k < 20 + n; k++)
			assert_int_equal(flat.b[k], pattern_at(3, total++ % N));
	}
	assert_int_equal(total, 5 * N);
	peer_fini(&r);
	free(src);
}

/* ---- the endpoint is the initiator ---- */

#define REQ2     "MPA ID Req Frame\x50\x02\x00\x04\x00\x40\x00\x40"
#define REQ2_RTR "MPA ID Req Frame\x50\x02\x00\x04\x80\x40\xc0\x40"
#define REP2_RTR "MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\x80\x40"

static void answered(const char *opts, const void *rep, size_t n, int status)
{
	static struct peer r;

	peer_server(&r, opts);
	peer_send(&r, rep, n);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, status);
	peer_fini(&r);
}

static void bad_replies(void **state)
{
	answered(NULL, "MPA ID Rep Frame\x70\x02\x00\x04\x00\x40\x00\x40", 24,
	         -ECONNREFUSED);
	answered(NULL, "SSH-2.0-OpenSSH_9.2", 19, -EPROTO);
	answered(NULL, REQ1, 20, -EPROTO);
	answered(NULL, "MPA ID Rep Frame\x40\x01\x00\x00", 20, -EPROTO);
	answered(NULL, "MPA ID Rep Frame\x50\x03\x00\x04\x00\x40\x00\x40", 24, -EPROTO);
	answered("rev=1", "MPA ID Rep Frame\x40\x02\x00\x00", 20, -EPROTO);
}

static int option(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int v = -1;

	assert_int_equal(getsockopt(fd, level, name, &v, &len), 0);
	return v;
}

/* Nobody else inherits it, small messages do not wait, and a host that vanished is
 * noticed after two minutes, asked for or not. */
static void sockets_are_as_they_should(void **state)
{
	struct rr_prov_config cfg = {0};
	struct sockaddr_in sa = loopback(0);
	struct sockaddr_storage bound;
	struct rr_prov_listener *l;
	struct end e[2];

	ends_open(&e[0], &e[1], NULL, NULL);
	for (unsigned i = 0; i < 2; i++) {
		int fd = OPS->fd(e[i].ep);

		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
		assert_true(option(fd, IPPROTO_TCP, TCP_NODELAY));
		assert_true(option(fd, SOL_SOCKET, SO_KEEPALIVE));
		assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
		                         option(fd, IPPROTO_TCP, TCP_KEEPINTVL) *
		                                 option(fd, IPPROTO_TCP, TCP_KEEPCNT),
		                 120);
		assert_int_equal(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 120000);
	}
	ends_close(&e[0], &e[1]);
	assert_int_equal(OPS->listen(&cfg, (void *)&sa, sizeof(sa), &l, &bound), 0);
	assert_int_equal(fcntl(OPS->listener_fd(l), F_GETFD), FD_CLOEXEC);
	assert_true(option(OPS->listener_fd(l), SOL_SOCKET, SO_REUSEADDR));
	OPS->listener_close(l);
}

static void no_server(void **state)
{
	struct rr_prov_config cfg = {0};
	struct sockaddr_in sa = loopback(0);
	socklen_t len = sizeof(sa);
	int l = socket(AF_INET, SOCK_STREAM, 0);
	struct rr_ep *ep;
	struct end e;

	assert_int_equal(bind(l, (void *)&sa, len), 0);
	assert_int_equal(getsockname(l, (void *)&sa, &len), 0);
	assert_int_equal(OPS->connect(&cfg, (void *)&sa, len, NULL, 0, test_now(), &ep),
	                 0);
	end_init(&e, ep);
	end_expect_wc(&e, NULL, RR_WC_DISCONNECTED, 0, -ECONNREFUSED);
	end_fini(&e);
	close(l);
}

static void server_closes(void **state)
{
	static struct peer r;

	peer_server(&r, NULL);
	assert_memory_equal(peer_need(&r, 24), REQ2, 24);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -ECONNRESET);
	peer_fini(&r);
}

/* The Terminate is the first FPDU.                      [RFC 6581 §9.1, §9.2] */
static void terminates_setup(void **state)
{
	static const struct {
		const char *opts, *rep;
		unsigned code;
	} t[] = {
	        {"ird=2", "MPA ID Rep Frame\x50\x02\x00\x04\x00\x40\x00\x03", 6},
	        {"p2p=1", "MPA ID Rep Frame\x50\x02\x00\x04\xc0\x40\x00\x03", 7},
	        {"ird=2,p2p=1", REP2_RTR, 6},
	};
	static struct peer r;
	const uint8_t *p;
	size_t len;

	for (unsigned i = 0; i < 3; i++) {
		peer_server(&r, t[i].opts);
		(void)peer_need(&r, 24);
		peer_send(&r, t[i].rep, 24);
		p = peer_ulpdu(&r, &len);
		if (i == 2) { /* the RTR message goes out in any case */
			assert_int_equal(bytes_get_be(p, 2), 0xc140);
			p = peer_ulpdu(&r, &len);
		}
		assert_int_equal(len, 22);
		assert_int_equal(bytes_get_be(p, 2), 0x4147);
		assert_int_equal(bytes_get_be(p + 18, 4), 0x20000000 | t[i].code << 16);
		peer_expect_eof(&r);
		peer_close(&r);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
		peer_fini(&r);
	}
}

static void rtr_sent(void **state)
{
	static const struct {
		const char *rep;
		uint16_t ctrl; /* of the first FPDU; 0: none */
	} t[] = {
	        {"MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\xc0\x40", 0xc140},
	        {"MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\x80\x40", 0xc140},
	        {"MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\x40\x40", 0x4141},
	        {"MPA ID Rep Frame\x50\x02\x00\x04\x00\x40\x00\x40", 0},
	};
	static struct peer r;
	static struct bytes o;
	const uint8_t *p;
	size_t len;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		peer_server(&r, "p2p=1");
		assert_memory_equal(peer_need(&r, 24), REQ2_RTR, 24);
		peer_send(&r, t[i].rep, 24);
		end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
		if (t[i].ctrl) {
			p = peer_ulpdu(&r, &len);
			assert_int_equal(bytes_get_be(p, 2), t[i].ctrl);
			assert_int_equal(len, t[i].ctrl == 0xc140 ? 14 : 46);
		}
		if (t[i].ctrl == 0x4141) { /* its answer completes nothing */
			o.n = 0;
			add_tagged(&o, 0xc142, 0, 0, NULL, 0);
			peer_send(&r, o.b, o.n);
		}
		peer_close(&r);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
		peer_fini(&r);
	}
}

/* A Reply that is on its way is waited for, before we close. */
static void leaves_after_the_reply(void **state)
{
	static struct peer r;
	rr_time t;

	peer_server(&r, NULL);
	(void)peer_need(&r, 24);
	OPS->disconnect(r.e.ep, test_now());
	peer_step(&r, 10);
	assert_int_equal(r.e.n, 0);
	peer_send(&r, "MPA ID Rep Frame\x50\x02\x00\x04\x00\x40\x00\x40", 24);
	peer_expect_eof(&r);
	assert_int_equal(r.in.n, 24);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
	/* but no longer than a second */
	peer_server(&r, NULL);
	(void)peer_need(&r, 24);
	t = test_now();
	OPS->disconnect(r.e.ep, t);
	OPS->disconnect(r.e.ep, t + RR_MS(500));
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	assert_in_range(test_now() - t, RR_MS(900), RR_MS(1500));
	peer_fini(&r);
	/* nor is TCP waited for */
	peer_server(&r, NULL);
	OPS->disconnect(r.e.ep, test_now());
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
}

/* Who asked for an RTR message sends it before it closes, also if its user is gone
 * before the Reply; and as the server may sleep on it, two more words follow. */
static void rtr_before_the_end(void **state)
{
	static struct peer r;
	size_t len;

	for (unsigned early = 0; early < 2; early++) {
		peer_server(&r, "p2p=1");
		assert_memory_equal(peer_need(&r, 24), REQ2_RTR, 24);
		if (early) {
			OPS->disconnect(r.e.ep, test_now());
			peer_step(&r, 10);
			assert_int_equal(r.e.n, 0);
		}
		peer_send(&r, REP2_RTR, 24);
		if (!early) {
			end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
			OPS->disconnect(r.e.ep, test_now());
		}
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(bytes_get_be(peer_ulpdu(&r, &len), 2), 0xc140);
			assert_int_equal(len, 14);
		}
		peer_expect_eof(&r);
		peer_close(&r);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
		peer_fini(&r);
	}
}

/* ---- the same conversation, delivered in every way ---- */

#define BIG 20000

struct talk {
	uint8_t before[16], mem[BIG + 8], after[16], buf[3][64];
	struct rr_region reg, inv;
};

static void talk_write(struct talk *k, struct peer *r, struct bytes *o,
                       const char *opts)
{
	static uint8_t big[BIG];

	for (size_t i = 0; i < BIG; i++)
		big[i] = pattern_at(9, i);
	memset(k, 0, sizeof(*k));
	peer_client(r, opts, 0);
	for (unsigned i = 0; i < 3; i++) {
		struct rr_sge g = {k->buf[i], 64, 0};

		assert_int_equal(OPS->post_recv(r->e.ep, &g, i), 0);
	}
	assert_int_equal(OPS->register_mem(r->e.ep, k->mem, sizeof(k->mem),
	                                   RR_ACCESS_REMOTE_WRITE, &k->reg),
	                 0);
	assert_int_equal(OPS->register_mem(r->e.ep, k->mem, 8, 0, &k->inv), 0);
	o->n = 0;
	bytes_put(o, "MPA ID Req Frame\x40\x01\x00\x05hello", 25);
	add_untagged(o, 0x4143, 0, 0, 1, 0, "one", 3);
	add_tagged(o, 0x8140, k->reg.handle, k->reg.offset + 1, big, BIG - 10);
	add_untagged(o, 0x0144, k->inv.handle, 0, 2, 0, "tw", 2);
	add_tagged(o, 0xc140, k->reg.handle, k->reg.offset + 1 + BIG - 10,
	           big + BIG - 10, 10);
	add_untagged(o, 0x4144, k->inv.handle, 0, 2, 2, "o", 1);
	add_untagged(o, 0x4143, 0, 0, 3, 0, NULL, 0);
}

static void talk_check(struct talk *k, struct peer *r)
{
	struct rr_wc *wc;
	size_t len;

	end_expect_wc(&r->e, NULL, RR_WC_CONNECTED, 0, 0);
	assert_memory_equal(OPS->peer_private(r->e.ep, &len), "hello", 5);
	assert_int_equal(len, 5);
	wc = end_expect_wc(&r->e, NULL, RR_WC_RECV, 0, 0);
	assert_int_equal(wc->len, 3);
	assert_false(wc->invalidated);
	wc = end_expect_wc(&r->e, NULL, RR_WC_RECV, 1, 0);
	assert_true(wc->invalidated);
	assert_int_equal(wc->inv_handle, k->inv.handle);
	assert_int_equal(wc->len, 3);
	wc = end_expect_wc(&r->e, NULL, RR_WC_RECV, 2, 0);
	assert_int_equal(wc->len, 0);
	assert_memory_equal(k->buf[0], "one", 4);
	assert_memory_equal(k->buf[1], "two", 4);
	assert_int_equal(k->mem[0], 0);
	check_pattern(k->mem + 1, BIG, 9);
	assert_int_equal(k->mem[BIG + 1], 0);
	assert_memory_equal(peer_need(r, 20), REP1, 20);
	peer_close(r);
	end_expect_wc(&r->e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(r);
}

static void glued(void **state)
{
	static struct talk k;
	static struct peer r;
	static struct bytes o;

	talk_write(&k, &r, &o, NULL);
	peer_send(&r, o.b, o.n);
	talk_check(&k, &r);
}

static void cut_in_two(void **state)
{
	static struct talk k;
	static struct peer r;
	static struct bytes o;

	o.n = SIZE_MAX;
	for (size_t cut = 1; cut < o.n; cut += cut < 200 || cut > BIG ? 1 : 997) {
		talk_write(&k, &r, &o, NULL);
		peer_send(&r, o.b, cut);
		peer_step(&r, 20);
		peer_send(&r, o.b + cut, o.n - cut);
		talk_check(&k, &r);
	}
}

static void byte_by_byte(void **state)
{
	static struct talk k;
	static struct peer r;
	static struct bytes o;

	talk_write(&k, &r, &o, NULL);
	for (size_t i = 0; i < o.n; i++) {
		peer_send(&r, o.b + i, 1);
		peer_step(&r, 20);
	}
	talk_check(&k, &r);
}

/* Any octets at all: no crash, each post completed once, the end once and last.
 * Without CRC, so that what is wrong gets past it. */
static void mutated(void **state)
{
	static struct talk k;
	static struct peer r;
	static struct bytes o;
	struct rr_rng rng;

	for (uint64_t seed = 0; seed < 1500; seed++) {
		unsigned seen[3] = {0};
		struct rr_wc *wc;
		size_t cut;

		rr_rng_seed(&rng, seed);
		talk_write(&k, &r, &o, "crc=0");
		o.b[16] = 0;
		for (unsigned n = 1 + (unsigned)rr_rng_below(&rng, 3); n; n--) {
			/* headers are near both ends */
			size_t i = rr_rng_below(&rng, 120);

			i = rr_rng_below(&rng, 2) ? 20 + i : o.n - 1 - i;
			o.b[i] = (uint8_t)(o.b[i] ^ 1u << rr_rng_below(&rng, 8));
		}
		cut = rr_rng_below(&rng, o.n);
		peer_send(&r, o.b, cut);
		peer_step(&r, 0);
		peer_send(&r, o.b + cut, o.n - cut);
		shutdown(r.fd, SHUT_WR);
		do {
			wc = end_next_wc(&r.e, NULL);
			if (wc->op == RR_WC_RECV)
				seen[wc->token]++;
		} while (wc->op != RR_WC_DISCONNECTED);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(seen[i], 1);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(k.before[i] | k.after[i], 0);
		peer_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bad_requests),
	        cmocka_unit_test(half_a_request),
	        cmocka_unit_test(responder_waits),
	        cmocka_unit_test(replies_in_kind),
	        cmocka_unit_test(rtr_by_send),
	        cmocka_unit_test(what_is_no_rtr_send),
	        cmocka_unit_test(no_rtr_send_without_its_end),
	        cmocka_unit_test(rtr_by_read),
	        cmocka_unit_test(markers_when_asked),
	        cmocka_unit_test(bad_replies),
	        cmocka_unit_test(sockets_are_as_they_should),
	        cmocka_unit_test(no_server),
	        cmocka_unit_test(server_closes),
	        cmocka_unit_test(terminates_setup),
	        cmocka_unit_test(rtr_sent),
	        cmocka_unit_test(leaves_after_the_reply),
	        cmocka_unit_test(rtr_before_the_end),
	        cmocka_unit_test(glued),
	        cmocka_unit_test(cut_in_two),
	        cmocka_unit_test(byte_by_byte),
	        cmocka_unit_test(mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
