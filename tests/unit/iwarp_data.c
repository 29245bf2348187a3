/* SPDX-License-Identifier: BSD-3-Clause */
/* Two endpoints over loopback: all kinds of data, odd sizes, every framing. */
#include "test_iwarp_pair.h"

static const size_t sizes[] = {0,     1,     3,     4,      255,     256,
                               257,   1000,  4095,  4096,   65471,   65472,
                               65473, 65521, 65536, 131073, 1 << 20, 3333333};

static void do_send(struct end *c, struct end *s, size_t len)
{
	uint8_t *src = pattern(len, len), *dst = calloc(1, len + 1);
	struct rr_sge r = {dst, (uint32_t)len, 0};
	struct rr_sge g[3] = {
	        {src, (uint32_t)(len / 3), 0},
	        {src + len / 3, 0, 0},
	        {src + len / 3, (uint32_t)(len - len / 3), 0},
	};

	assert_int_equal(OPS->post_recv(s->ep, &r, 10), 0);
	assert_int_equal(OPS->post_send(c->ep, g, 3, 0, 11), 0);
	end_flush(c);
	end_expect_wc(c, s, RR_WC_SEND, 11, 0);
	assert_int_equal(end_expect_wc(s, c, RR_WC_RECV, 10, 0)->len, len);
	check_pattern(dst, len, len);
	free(src);
	free(dst);
}

static void sync_ends(struct end *c, struct end *s)
{
	do_send(c, s, 5);
}

static void do_write(struct end *c, struct end *s, size_t len)
{
	uint8_t *src = pattern(len, 7 * len), *dst = calloc(1, len + 33);
	struct rr_sge g = {src, (uint32_t)len, 0};
	struct rr_region reg;

	assert_int_equal(
	        OPS->register_mem(s->ep, dst, len + 33, RR_ACCESS_REMOTE_WRITE, &reg),
	        0);
	assert_int_not_equal(reg.handle, 0);
	assert_int_equal(OPS->post_write(c->ep, &g, 1, reg.handle, reg.offset + 32, 5),
	                 0);
	end_flush(c);
	end_expect_wc(c, s, RR_WC_WRITE, 5, 0);
	sync_ends(c, s);
	check_pattern(dst + 32, len, 7 * len);
	assert_int_equal(dst[31], 0);
	assert_int_equal(dst[len + 32], 0);
	assert_int_equal(OPS->invalidate(s->ep, reg.handle, 6), 0);
	end_expect_wc(s, c, RR_WC_INVALIDATE, 6, 0);
	assert_int_equal(OPS->invalidate(s->ep, reg.handle, 6), -EINVAL);
	free(src);
	free(dst);
}

static void do_read(struct end *c, struct end *s, size_t len)
{
	uint8_t *src = pattern(len, 3 * len), *dst = calloc(1, len + 2);
	struct rr_sge g = {dst + 1, (uint32_t)len, 0};
	struct rr_region reg;

	assert_int_equal(
	        OPS->register_mem(c->ep, src, len, RR_ACCESS_REMOTE_READ, &reg), 0);
	assert_int_equal(OPS->post_read(s->ep, &g, reg.handle, reg.offset, 77), 0);
	end_flush(s);
	end_expect_wc(s, c, RR_WC_READ, 77, 0);
	check_pattern(dst + 1, len, 3 * len);
	assert_int_equal(dst[len + 1], 0);
	assert_int_equal(OPS->invalidate(c->ep, reg.handle, 78), 0);
	end_expect_wc(c, s, RR_WC_INVALIDATE, 78, 0);
	free(src);
	free(dst);
}

static void all_kinds(const char *copts, const char *sopts)
{
	struct end c, s;

	ends_open(&c, &s, copts, sopts);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(sizes); i++) {
		do_send(&c, &s, sizes[i]);
		do_send(&s, &c, sizes[i]);
		do_write(&c, &s, sizes[i]);
		do_write(&s, &c, sizes[i]);
		do_read(&c, &s, sizes[i]);
		do_read(&s, &c, sizes[i]);
	}
	ends_close(&c, &s);
}

static void default_options(void **state)
{
	all_kinds(NULL, NULL);
}

static void without_crc(void **state)
{
	all_kinds("crc=0", "crc=0");
}

static void small_fpdus(void **state)
{
	all_kinds("fpdu=128,crc=1", "fpdu=1499,crc=0");
}

static void revision_1(void **state)
{
	all_kinds("rev=1", "");
}

static void small_buffers(void **state)
{
	all_kinds("sndbuf=32768", "sndbuf=65536,rcvbuf=65536");
}

/* ---- more than one at a time ---- */

static void send_with_invalidate(void **state)
{
	struct rr_sge g = {(void *)"x", 1, 0}, r;
	struct rr_prov_counters k;
	struct rr_region reg[2];
	struct end c, s;
	struct rr_wc *wc;
	char mem[16], buf[8];

	ends_open(&c, &s, "p2p=1", NULL); /* the server speaks first */
	r = (struct rr_sge){buf, 8, 0};
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(OPS->register_mem(c.ep, mem, 16, 3, &reg[i]), 0);
		assert_int_equal(OPS->post_recv(c.ep, &r, i), 0);
	}
	assert_int_not_equal(reg[0].handle, reg[1].handle);
	assert_int_equal(OPS->post_send(s.ep, &g, 1, reg[1].handle, 9), 0);
	assert_int_equal(OPS->post_send(s.ep, &g, 1, 0, 10), 0);
	end_flush(&s);
	wc = end_expect_wc(&c, &s, RR_WC_RECV, 0, 0);
	assert_true(wc->invalidated);
	assert_int_equal(wc->inv_handle, reg[1].handle);
	assert_false(end_expect_wc(&c, &s, RR_WC_RECV, 1, 0)->invalidated);
	assert_int_equal(OPS->invalidate(c.ep, reg[1].handle, 1), -EINVAL);
	assert_int_equal(OPS->invalidate(c.ep, reg[0].handle, 1), 0);
	end_expect_wc(&c, &s, RR_WC_INVALIDATE, 1, 0);
	end_expect_wc(&s, &c, RR_WC_SEND, 9, 0);
	end_expect_wc(&s, &c, RR_WC_SEND, 10, 0);
	OPS->counters(c.ep, &k);
	assert_int_equal(k.remote_invalidations, 1);
	assert_int_equal(k.local_invalidations, 1);
	/* a handle of this endpoint means nothing on the other */
	assert_int_equal(OPS->invalidate(s.ep, reg[0].handle, 1), -EINVAL);
	ends_close(&c, &s);
}

/* Far more Reads than may be under way, both ways at once, all in order. */
static void more_reads_than_ord(void **state)
{
	enum { N = 300, LEN = 5000 };
	uint8_t *src = pattern(N * LEN, 4), *dst[2];
	struct rr_region reg[2];
	struct rr_prov_limits lim;
	struct end e[2];

	ends_open(&e[0], &e[1], "ord=3,ird=2", "ord=64,ird=64");
	OPS->limits(e[0].ep, &lim);
	assert_int_equal(lim.max_ord, 3);
	assert_int_equal(lim.max_ird, 2);
	OPS->limits(e[1].ep, &lim);
	assert_int_equal(lim.max_ord, 2);
	assert_int_equal(lim.max_ird, 3);
	for (unsigned k = 0; k < 2; k++) {
		dst[k] = calloc(1, N * LEN);
		assert_int_equal(OPS->register_mem(e[k].ep, src, N * LEN,
		                                   RR_ACCESS_REMOTE_READ, &reg[k]),
		                 0);
	}
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < N; i++) {
			struct rr_sge g = {dst[k] + i * LEN, LEN, 0};

			assert_int_equal(OPS->post_read(e[k].ep, &g, reg[!k].handle,
			                                reg[!k].offset + i * LEN, i),
			                 0);
		}
	end_flush(&e[0]);
	end_flush(&e[1]);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < N; i++)
			end_expect_wc(&e[k], &e[!k], RR_WC_READ, i, 0);
	for (unsigned k = 0; k < 2; k++) {
		check_pattern(dst[k], N * LEN, 4);
		free(dst[k]);
	}
	ends_close(&e[0], &e[1]);
	free(src);
}

/* MPA revision 1 does not say how many Reads a peer holds: one at a time, unless the
 * user knows better. */
static void one_read_at_a_time_where_nobody_says_more(void **state)
{
	static const struct {
		const char *client;
		uint32_t ord[2];
	} t[] = {{"rev=1", {1, 1}},
	         {"rev=1,ord1=5", {5, 1}},
	         {"rev=1,ord1=9,ord=4", {4, 1}},
	         {"rev=1,ord=0", {0, 1}},
	         {"ord1=5", {64, 64}}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rr_prov_limits lim;
		struct end e[2];

		ends_open(&e[0], &e[1], t[i].client, NULL);
		for (unsigned k = 0; k < 2; k++) {
			OPS->limits(e[k].ep, &lim);
			assert_int_equal(lim.max_ord, t[i].ord[k]);
			assert_int_equal(lim.max_ird, 64); /* the peer may know more */
		}
		ends_close(&e[0], &e[1]);
	}
}

/* Reads of nothing take no octet of the wire, more of them than may be under way, and
 * complete behind what was posted before them. */
static void empty_reads_stay_here(void **state)
{
	enum { N = 20 };
	uint8_t *src = pattern(100000, 5), *dst = calloc(1, 100000);
	struct rr_sge nothing = {NULL, 0, 0}, all = {dst, 100000, 0};
	struct rr_prov_counters before, after;
	struct rr_region reg;
	struct end c, s;

	ends_open(&c, &s, "ord=3,ird=2", "ord=64,ird=64");
	assert_int_equal(
	        OPS->register_mem(s.ep, src, 100000, RR_ACCESS_REMOTE_READ, &reg), 0);
	OPS->counters(c.ep, &before);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(OPS->post_read(c.ep, &nothing, 1, 1, i), 0);
	end_flush(&c);
	for (unsigned i = 0; i < N; i++)
		end_expect_wc(&c, NULL, RR_WC_READ, i, 0);
	OPS->counters(c.ep, &after);
	assert_int_equal(after.bytes_sent, before.bytes_sent);
	/* Behind a Read, and behind a message. */
	assert_int_equal(OPS->post_read(c.ep, &all, reg.handle, reg.offset, 1), 0);
	assert_int_equal(OPS->post_write(c.ep, &nothing, 1, 1, 1, 2), 0);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(OPS->post_read(c.ep, &nothing, 1, 1, 10 + i), 0);
	end_flush(&c);
	end_expect_wc(&c, &s, RR_WC_WRITE, 2, 0);
	end_expect_wc(&c, &s, RR_WC_READ, 1, 0);
	for (unsigned i = 0; i < N; i++)
		end_expect_wc(&c, NULL, RR_WC_READ, 10 + i, 0);
	check_pattern(dst, 100000, 5);
	/* One behind a Read: its turn comes with the Response. */
	assert_int_equal(OPS->post_read(c.ep, &all, reg.handle, reg.offset, 5), 0);
	assert_int_equal(OPS->post_read(c.ep, &nothing, 1, 1, 6), 0);
	end_flush(&c);
	end_expect_wc(&c, &s, RR_WC_READ, 5, 0);
	end_expect_wc(&c, NULL, RR_WC_READ, 6, 0);
	/* A message that is not out yet. */
	assert_int_equal(OPS->post_write(c.ep, &nothing, 1, 1, 1, 3), 0);
	assert_int_equal(OPS->post_read(c.ep, &nothing, 1, 1, 4), 0);
	end_flush(&c);
	end_expect_wc(&c, &s, RR_WC_WRITE, 3, 0);
	end_expect_wc(&c, &s, RR_WC_READ, 4, 0);
	ends_close(&c, &s);
	free(src);
	free(dst);
}

/* An end knows both that it cannot read and that it cannot be read. */
static void no_reads_negotiated(void **state)
{
	static const struct {
		const char *client, *server;
		uint32_t ord[2], ird[2];
	} t[] = {{"ird=0", NULL, {64, 0}, {0, 64}},
	         {"ord=0", NULL, {0, 64}, {64, 0}},
	         {NULL, "ird=0", {0, 64}, {64, 0}},
	         {NULL, "ord=0", {64, 0}, {0, 64}},
	         {"ord=0,ird=0", NULL, {0, 0}, {0, 0}}};
	struct rr_sge g = {NULL, 0, 0};
	struct end c, s;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rr_prov_limits lim;
		struct end e[2];

		ends_open(&e[0], &e[1], t[i].client, t[i].server);
		for (unsigned k = 0; k < 2; k++) {
			OPS->limits(e[k].ep, &lim);
			assert_int_equal(lim.max_ord, t[i].ord[k]);
			assert_int_equal(lim.max_ird, t[i].ird[k]);
		}
		ends_close(&e[0], &e[1]);
	}
	ends_open(&c, &s, "ird=0", NULL);
	assert_int_equal(OPS->post_read(s.ep, &g, 1, 1, 1), -EOPNOTSUPP);
	assert_int_equal(OPS->post_read(c.ep, &g, 1, 1, 1), 0);
	end_flush(&c);
	end_expect_wc(&c, &s, RR_WC_READ, 1, 0);
	ends_close(&c, &s);
}

/* Queues at their limits, then a batch of small messages each way: hundreds of
 * them go out with one system call. */
static void full_queues(void **state)
{
	static uint8_t buf[4096][8], src[4096][8];
	struct rr_prov_counters k0, k1;
	struct rr_sge g;
	struct end c, s;

	ends_open(&c, &s, NULL, NULL);
	do_send(&c, &s, 100);
	do_send(&s, &c, 100); /* or the client would kick */
	for (unsigned i = 0; i < 4096; i++) {
		memcpy(src[i], &i, sizeof(i));
		g = (struct rr_sge){buf[i], 8, 0};
		assert_int_equal(OPS->post_recv(s.ep, &g, i), 0);
		g = (struct rr_sge){src[i], 8, 0};
		assert_int_equal(OPS->post_send(c.ep, &g, 1, 0, i), 0);
	}
	assert_int_equal(OPS->post_recv(s.ep, &g, 0), -ENOBUFS);
	assert_int_equal(OPS->post_send(c.ep, &g, 1, 0, 0), -ENOBUFS);
	OPS->counters(c.ep, &k0);
	end_flush(&c);
	OPS->counters(c.ep, &k1); /* before anything is received */
	assert_in_range(k1.syscalls - k0.syscalls, 1, 8);
	assert_true(k1.bytes_sent - k0.bytes_sent > 1024 * (2 + 18 + 8 + 4));
	for (unsigned i = 0; i < 4096; i++) {
		assert_int_equal(end_expect_wc(&s, &c, RR_WC_RECV, i, 0)->len, 8);
		end_expect_wc(&c, &s, RR_WC_SEND, i, 0);
	}
	assert_memory_equal(buf, src, sizeof(src));
	OPS->counters(c.ep, &k1);
	assert_int_equal(k1.bytes_sent - k0.bytes_sent, 4096 * (2 + 18 + 8 + 4));
	ends_close(&c, &s);
}

static void misuse(void **state)
{
	struct rr_prov_config cfg = {.options = "nope=1"};
	struct rr_sge g[RR_PROV_MAX_SGE + 1] = {{NULL, 0, 0}};
	struct sockaddr_in sa = loopback(1);
	struct sockaddr_storage bound;
	struct rr_prov_listener *l;
	struct rr_region reg;
	struct rr_ep *ep;
	struct end c, s;
	char big[RR_PROV_PRIVATE_MAX + 1] = "";

	assert_int_equal(OPS->connect(&cfg, (void *)&sa, sizeof(sa), NULL, 0, 0, &ep),
	                 -EINVAL);
	assert_int_equal(OPS->listen(&cfg, (void *)&sa, sizeof(sa), &l, &bound),
	                 -EINVAL);
	cfg.options = NULL;
	assert_int_equal(
	        OPS->connect(&cfg, (void *)&sa, sizeof(sa), big, sizeof(big), 0, &ep),
	        -EINVAL);
	ends_start(&c, &s, NULL, NULL);
	assert_int_equal(OPS->post_send(c.ep, g, 1, 0, 1), -ENOTCONN);
	assert_int_equal(OPS->post_read(c.ep, g, 1, 1, 1), -ENOTCONN);
	assert_int_equal(OPS->post_recv(c.ep, g, 1), 0);
	end_expect_wc(&c, &s, RR_WC_CONNECTED, 0, 0);
	end_expect_wc(&s, &c, RR_WC_CONNECTED, 0, 0);
	assert_int_equal(OPS->post_send(c.ep, g, RR_PROV_MAX_SGE + 1, 0, 1), -EINVAL);
	g[0].len = g[1].len = 0x80000000;
	assert_int_equal(OPS->post_write(c.ep, g, 2, 1, 1, 1), -EMSGSIZE);
	assert_int_equal(OPS->register_mem(c.ep, big, 1, 4, &reg), -EINVAL);
	assert_int_equal(OPS->register_mem(c.ep, big, (size_t)1 << 47, 1, &reg),
	                 -EINVAL);
	assert_int_equal(OPS->invalidate(c.ep, 12345, 0), -EINVAL);
	OPS->disconnect(c.ep, test_now());
	end_expect_wc(&c, &s, RR_WC_RECV, 1, -ECANCELED);
	end_expect_wc(&c, &s, RR_WC_DISCONNECTED, 0, 0);
	end_expect_wc(&s, &c, RR_WC_DISCONNECTED, 0, 0);
	assert_int_equal(OPS->post_recv(c.ep, g, 1), -ENOTCONN);
	assert_int_equal(OPS->register_mem(c.ep, big, 1, 1, &reg), -ENOTCONN);
	end_fini(&c);
	end_fini(&s);
}

/* What was posted before disconnect arrives, however long it takes to drain. */
static void disconnect_drains(void **state)
{
	enum { LEN = 8 << 20 };
	uint8_t *src = pattern(LEN, 1), *dst = calloc(1, LEN);
	struct rr_sge g = {src, LEN, 0}, r = {dst, LEN, 0};
	struct end c, s;

	ends_open(&c, &s, NULL, NULL);
	assert_int_equal(OPS->post_recv(s.ep, &r, 1), 0);
	assert_int_equal(OPS->post_send(c.ep, &g, 1, 0, 2), 0);
	OPS->disconnect(c.ep, test_now());
	assert_int_equal(end_expect_wc(&s, &c, RR_WC_RECV, 1, 0)->len, LEN);
	end_expect_wc(&c, &s, RR_WC_SEND, 2, 0);
	end_expect_wc(&c, &s, RR_WC_DISCONNECTED, 0, 0);
	end_expect_wc(&s, &c, RR_WC_DISCONNECTED, 0, 0);
	check_pattern(dst, LEN, 1);
	end_fini(&c);
	end_fini(&s);
	free(src);
	free(dst);
}

/* Two seconds after the last octet the buffers are gone and no timer is left;
 * data after that works as before. */
static void idle(void **state)
{
	struct end c, s;
	rr_time t;

	ends_open(&c, &s, NULL, NULL);
	do_send(&c, &s, 100);
	do_send(&s, &c, 100); /* or the client would kick */
	t = OPS->deadline(c.ep);
	assert_in_range(t, test_now() + RR_MS(100), test_now() + RR_SEC(3));
	OPS->progress(c.ep, t);
	OPS->progress(s.ep, test_now() + RR_SEC(3));
	assert_int_equal(OPS->deadline(c.ep), RR_TIME_NEVER);
	assert_int_equal(OPS->deadline(s.ep), RR_TIME_NEVER);
	do_send(&c, &s, 100000);
	do_read(&s, &c, 100000);
	ends_close(&c, &s);
}

static void private_data(void **state)
{
	struct sockaddr_storage a, b;
	struct end c, s;
	size_t len;

	ends_open(&c, &s, "rev=1", NULL);
	assert_memory_equal(OPS->peer_private(c.ep, &len), "server!", 7);
	assert_int_equal(len, 7);
	assert_memory_equal(OPS->peer_private(s.ep, &len), "client", 6);
	assert_int_equal(len, 6);
	assert_int_equal(OPS->peer_addr(c.ep, &a), 0);
	assert_int_equal(OPS->local_addr(s.ep, &b), 0);
	assert_memory_equal(&a, &b, sizeof(struct sockaddr_in));
	ends_close(&c, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(default_options),
	        cmocka_unit_test(without_crc),
	        cmocka_unit_test(small_fpdus),
	        cmocka_unit_test(revision_1),
	        cmocka_unit_test(small_buffers),
	        cmocka_unit_test(send_with_invalidate),
	        cmocka_unit_test(more_reads_than_ord),
	        cmocka_unit_test(one_read_at_a_time_where_nobody_says_more),
	        cmocka_unit_test(empty_reads_stay_here),
	        cmocka_unit_test(no_reads_negotiated),
	        cmocka_unit_test(full_queues),
	        cmocka_unit_test(misuse),
	        cmocka_unit_test(disconnect_drains),
	        cmocka_unit_test(idle),
	        cmocka_unit_test(private_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
