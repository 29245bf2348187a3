/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corners of one connection: what still comes after our own close, full tables,
 * memory of an idle endpoint, a region that is read and written at once.
 */
#include "test_iwarp_raw.h"

#include "prov/iwarp/iw_ep.h"

#define MIB (1u << 20)

static void steps(struct peer *r, int n)
{
	while (n--)
		peer_step(r, 10);
}

/* Our half is closed, so a Read is not answered; what follows it is received. */
static void read_after_our_close(void **state)
{
	static struct peer r;
	static struct bytes o, u;
	static uint8_t mem[4096];
	char buf[8];
	struct rr_sge g = {buf, sizeof(buf), 0};
	struct rr_region reg;

	peer_start(&r, "ird=2");
	assert_int_equal(OPS->register_mem(r.e.ep, mem, sizeof(mem),
	                                   RR_ACCESS_REMOTE_READ, &reg),
	                 0);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 1), 0);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 2), 0);
	OPS->disconnect(r.e.ep, test_now());
	peer_expect_eof(&r);
	for (uint32_t i = 1; i <= 3; i++) {
		o.n = 0;
		ul_read(&u, i, 1, 2, 64, reg.handle, reg.offset);
		bytes_put_fpdu(&o, &u);
		peer_send(&r, o.b, o.n);
		steps(&r, 2);
	}
	o.n = 0;
	add_untagged(&o, 0x4143, 0, 0, 1, 0, "late", 4);
	peer_send(&r, o.b, o.n);
	assert_int_equal(end_expect_wc(&r.e, NULL, RR_WC_RECV, 1, 0)->len, 4);
	assert_memory_equal(buf, "late", 4);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_RECV, 2, -ECANCELED);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
}

/* As many regions as there may be leave room for the Reads under way. */
static void all_regions_and_a_read(void **state)
{
	static uint8_t mem[64], sink[64];
	struct rr_sge g = {sink, sizeof(sink), 0};
	struct rr_region reg, first;
	struct end c, s;
	unsigned n = 0;
	int rc;

	ends_open(&c, &s, NULL, NULL);
	assert_int_equal(
	        OPS->register_mem(s.ep, mem, 64, RR_ACCESS_REMOTE_READ, &first), 0);
	while (!(rc = OPS->register_mem(c.ep, mem, 64, 0, &reg)))
		n++;
	assert_int_equal(rc, -ENOBUFS);
	assert_int_equal(n, RR_STAGS_MAX);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(
		        OPS->post_read(c.ep, &g, first.handle, first.offset, i), 0);
	end_flush(&c);
	for (uint64_t i = 0; i < 200; i++)
		end_expect_wc(&c, &s, RR_WC_READ, i, 0);
	assert_int_equal(rr_iw_of(c.ep)->stags.live,
	                 RR_STAGS_MAX); /* no sink is left */
	ends_close(&c, &s);
}

/* A connection that went quiet stays so, however often it is looked after: it has
 * neither buffers nor queues. */
static void quiet_stays_quiet(void **state)
{
	struct end c, s;
	struct rr_iw_ep *ep;
	rr_time t;

	ends_open(&c, &s, NULL, NULL);
	ends_exchange(&c, &s);
	ep = rr_iw_of(s.ep);
	assert_non_null(ep->sq.mem);
	t = test_now() + RR_SEC(3);
	for (int i = 0; i < 3; i++, t += RR_SEC(30)) {
		OPS->progress(s.ep, t);
		assert_null(ep->sq.mem);
		assert_null(ep->rx.buf);
		assert_null(ep->tx.buf);
		assert_int_equal(OPS->deadline(s.ep), RR_TIME_NEVER);
	}
	ends_close(&c, &s);
}

/* Between two reads an endpoint has memory for the rest of a frame only. */
static void a_rest_has_its_own_size(void **state)
{
	static uint8_t in[3000], body[3000];
	static struct bytes o;
	struct rr_sge room = {.base = in, .len = sizeof(in)};
	struct rr_iw_rx *rx;
	struct peer r;

	peer_start(&r, NULL);
	rx = &rr_iw_of(r.e.ep)->rx;
	assert_int_equal(OPS->post_recv(r.e.ep, &room, 7), 0);
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = pattern_at(1, i);
	o.n = 0;
	add_untagged(&o, 0x4143, 0, 0, 1, 0, body, sizeof(body));
	peer_send(&r, o.b, 1);
	while (rx->end - rx->off != 1)
		peer_step(&r, 10);
	assert_int_equal(rx->cap, 256);
	peer_send(&r, o.b + 1, 1999);
	while (rx->end - rx->off != 2000)
		peer_step(&r, 10);
	assert_int_equal(rx->cap, 2048);
	peer_send(&r, o.b + 2000, o.n - 2000);
	end_expect_wc(&r.e, NULL, RR_WC_RECV, 7, 0);
	assert_null(rx->buf);
	assert_memory_equal(in, body, sizeof(in));
	peer_fini(&r);
}

/* Until a segment is being received into its place, or none is. */
static void placing(struct peer *r, bool is)
{
	rr_time stop = test_now() + RR_SEC(10);

	do
		peer_step(r, 1);
	while (rr_iw_of(r->e.ep)->rx.direct != is && test_now() < stop);
	assert_int_equal(rr_iw_of(r->e.ep)->rx.direct, is);
}

/* The peer reads a region and writes it before it has taken the answer.  What it
 * reads is anybody's guess, but every CRC is good. */
static void written_while_read(uint32_t body)
{
	static struct peer r;
	static struct bytes o, u;
	static uint8_t junk[60000];
	struct rr_region reg;
	uint8_t *mem = pattern(8 * MIB, 1);
	uint64_t done = 0;
	size_t len;

	peer_start(&r, NULL);
	assert_int_equal(
	        OPS->register_mem(r.e.ep, mem, 8 * MIB,
	                          RR_ACCESS_REMOTE_READ | RR_ACCESS_REMOTE_WRITE, &reg),
	        0);
	o.n = 0;
	ul_read(&u, 1, 0xabcd, 77, 8 * MIB, reg.handle, reg.offset);
	bytes_put_fpdu(&o, &u);
	peer_send(&r, o.b, o.n);
	steps(&r, 5);
	assert_true(OPS->events(r.e.ep) & EPOLLOUT);
	memset(junk, 0x5a, sizeof(junk));
	for (uint32_t at = 0; at + body <= 8 * MIB; at += RR_MAX(body, 19200u)) {
		o.n = 0;
		add_tagged(&o, 0xc140, reg.handle, reg.offset + at, junk, body);
		peer_send(&r, o.b, o.n / 3);
		placing(&r, body > 20000); /* never whole in the buffer */
		peer_send(&r, o.b + o.n / 3, o.n - o.n / 3);
		placing(&r, false);
	}
	while (done < 8 * MIB) {
		assert_int_equal(bytes_get_be(peer_ulpdu(&r, &len), 1) & 0x80, 0x80);
		done += len - 14;
	}
	assert_int_equal(done, 8 * MIB);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
	free(mem);
}

static void written_while_read_large(void **state)
{
	written_while_read(60000);
}

static void written_while_read_small(void **state)
{
	written_while_read(1200);
}

/* The RTR message is not one of the operations that may be posted. */
static void rtr_read_and_full_queue(void **state)
{
	static struct peer r;
	static struct bytes o;
	unsigned n = 0;

	peer_server(&r, NULL);
	peer_need(&r, 24);
	o.n = 0;
	bytes_put(&o, "MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\x40\x40", 24);
	peer_send(&r, o.b, o.n);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	while (!OPS->post_send(r.e.ep, NULL, 0, 0, n))
		n++;
	assert_int_equal(n, RR_IW_MAX_SEND);
	peer_close(&r);
	peer_fini(&r);
}

/* Reads whose Requests wait behind a full socket are flushed once, and so is one
 * that has to wait for them. */
static void a_read_framed_and_unsent(void **state)
{
	static uint8_t block[16384], sink[64];
	struct rr_sge g = {block, sizeof(block), 0}, s = {sink, sizeof(sink), 0};
	static struct peer r;
	unsigned n = 0, wrote = 0, seen[3] = {0};
	struct rr_wc *wc;

	peer_start(&r, "ord1=2");
	do /* until no more goes out */
		assert_int_equal(OPS->post_write(r.e.ep, &g, 1, 1, 1, 1000 + n++), 0);
	while (OPS->flush(r.e.ep, test_now()) == 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(OPS->post_read(r.e.ep, &s, 7, 8, i), 0);
	OPS->progress(r.e.ep, test_now());
	assert_int_equal(rr_iw_of(r.e.ep)->reads.count, 2);
	while (!OPS->post_write(r.e.ep, &g, 1, 1, 1, 1000 + n))
		n++;
	end_poll(&r.e);
	assert_int_equal(n + 3 - (r.e.n - r.e.taken), RR_IW_MAX_SEND);
	peer_close(&r); /* with octets unread: by reset */
	while ((wc = end_next_wc(&r.e, NULL))->op != RR_WC_DISCONNECTED) {
		if (wc->op == RR_WC_READ)
			seen[wc->token]++;
		else
			wrote++;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(wrote, n);
	peer_fini(&r);
}

/* Reads under way are no longer among the posts, and still have to complete. */
static void reads_leave_room_for_their_ends(void **state)
{
	static uint8_t sink[64];
	struct rr_sge g = {sink, sizeof(sink), 0};
	static struct peer r;
	unsigned reads = 0, recvs = 0;
	struct rr_wc *wc;

	peer_start(&r, "ord1=64");
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(OPS->post_read(r.e.ep, &g, 7, 8, i), 0);
	end_flush(&r.e);
	for (unsigned i = 0; i < 120; i++)
		assert_int_equal(OPS->post_recv(r.e.ep, &g, i), 0);
	peer_close(&r);
	while ((wc = end_next_wc(&r.e, NULL))->op != RR_WC_DISCONNECTED) {
		assert_int_equal(wc->status, -ECANCELED);
		*(wc->op == RR_WC_READ ? &reads : &recvs) += 1;
	}
	assert_int_equal(reads, 64);
	assert_int_equal(recvs, 120);
	peer_fini(&r);
}

/* A client of revision 1 has not said how many Reads it holds: the next one goes out
 * when the one before is answered. */
static void a_peer_that_says_nothing_is_read_from_once_at_a_time(void **state)
{
	static uint8_t sink[8];
	struct rr_sge g = {sink, sizeof(sink), 0};
	static struct bytes o;
	static struct peer r;
	size_t len;

	peer_start(&r, NULL);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(OPS->post_read(r.e.ep, &g, 7, 8, i), 0);
	end_flush(&r.e);
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *p = peer_ulpdu(&r, &len);

		assert_int_equal(bytes_get_be(p, 2), 0x4141);
		assert_int_equal(rr_iw_of(r.e.ep)->reads.count, 1);
		o.n = 0;
		add_tagged(&o, 0xc142, (uint32_t)bytes_get_be(p + 18, 4),
		           bytes_get_be(p + 22, 8), "answer!", 8);
		peer_step(&r, 5);
		peer_receive(&r);
		assert_int_equal(r.in.n, r.used);
		peer_send(&r, o.b, o.n);
		end_expect_wc(&r.e, NULL, RR_WC_READ, i, 0);
	}
	peer_close(&r);
	peer_fini(&r);
}

/* It owes no word to a server that may sleep: nothing is waited for. */
static void a_client_without_rtr_ends_at_once(void **state)
{
	static struct peer r;

	peer_server(&r, NULL);
	peer_need(&r, 24);
	peer_send(&r, "MPA ID Rep Frame\x50\x02\x00\x04\x00\x40\x00\x40", 24);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	OPS->disconnect(r.e.ep, test_now());
	assert_int_equal(rr_iw_of(r.e.ep)->state, RR_IW_SHUT);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
}

/* The peer reads 8 MiB and takes nothing of the answer; @ret_mem is what it reads. */
static void start_answer(struct peer *r, uint8_t **ret_mem)
{
	static struct bytes o, u;
	struct rr_region reg;

	*ret_mem = pattern(8 * MIB, 1);
	peer_start(r, NULL);
	assert_int_equal(OPS->register_mem(r->e.ep, *ret_mem, 8 * MIB,
	                                   RR_ACCESS_REMOTE_READ, &reg),
	                 0);
	o.n = 0;
	ul_read(&u, 1, 0xabcd, 77, 8 * MIB, reg.handle, reg.offset);
	bytes_put_fpdu(&o, &u);
	peer_send(r, o.b, o.n);
	steps(r, 5);
	assert_true(OPS->events(r->e.ep) & EPOLLOUT);
}

static void take_answer(struct peer *r)
{
	uint64_t done = 0;
	const uint8_t *p;
	size_t len;

	while (done < 8 * MIB) {
		p = peer_ulpdu(r, &len);
		for (size_t i = 14; i < len; i++)
			if (p[i] != pattern_at(1, done + i - 14))
				fail_msg("octet %zu", (size_t)done + i - 14);
		done += len - 14;
	}
}

/* Buffers that are in use stay, however long the peer takes nothing. */
static void a_full_socket_is_not_quiet(void **state)
{
	static struct peer r;
	uint8_t *mem;

	start_answer(&r, &mem);
	OPS->progress(r.e.ep, test_now() + RR_SEC(3));
	OPS->progress(r.e.ep, test_now() + RR_SEC(6));
	take_answer(&r);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
	free(mem);
}

/* A peer that said all it has to say is still answered, and not listened to: the end
 * of the stream would be ready to read for ever. */
static void a_half_closed_peer_is_answered(void **state)
{
	static struct peer r;
	uint8_t *mem;

	start_answer(&r, &mem);
	assert_int_equal(shutdown(r.fd, SHUT_WR), 0);
	steps(&r, 3);
	assert_int_equal(OPS->events(r.e.ep), EPOLLOUT);
	take_answer(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
	free(mem);
}

/* Far more pieces than one system call takes. */
static void many_pieces(void **state)
{
	enum { SENDS = 64, LEN = 300, EACH = 2 * LEN };
	static uint8_t src[RR_PROV_MAX_SGE * EACH], dst[SENDS][RR_PROV_MAX_SGE * LEN];
	struct rr_sge g[RR_PROV_MAX_SGE];
	struct end c, s;

	ends_open(&c, &s, NULL, NULL);
	for (unsigned k = 0; k < RR_PROV_MAX_SGE; k++) {
		g[k] = (struct rr_sge){src + k * EACH, LEN, 0};
		memset(src + k * EACH, (int)k + 1, LEN);
	}
	for (unsigned i = 0; i < SENDS; i++) {
		struct rr_sge to = {dst[i], sizeof(dst[i]), 0};

		assert_int_equal(OPS->post_recv(s.ep, &to, i), 0);
		assert_int_equal(OPS->post_send(c.ep, g, RR_PROV_MAX_SGE, 0, i), 0);
	}
	end_flush(&c);
	for (unsigned i = 0; i < SENDS; i++) {
		assert_int_equal(end_expect_wc(&s, &c, RR_WC_RECV, i, 0)->len,
		                 sizeof(dst[i]));
		for (unsigned k = 0; k < sizeof(dst[i]); k++)
			assert_int_equal(dst[i][k], k / LEN + 1);
		end_expect_wc(&c, &s, RR_WC_SEND, i, 0);
	}
	ends_close(&c, &s);
}

/* A message of @size octets is on its way and fills the socket. */
static void start_write(struct peer *r, uint8_t *mem, uint32_t size)
{
	struct rr_sge g = {mem, 8, 0};

	assert_int_equal(OPS->post_write(r->e.ep, &g, 1, 5, 5, 1), 0);
	g.len = size;
	assert_int_equal(OPS->post_write(r->e.ep, &g, 1, 5, 5, 2), 0);
	assert_int_equal(OPS->flush(r->e.ep, test_now()), -EAGAIN);
}

/* All of its segments, and nothing between them. */
static void take_write(struct peer *r, uint32_t size)
{
	uint32_t done = 0;
	const uint8_t *p;
	size_t len;

	assert_int_equal(bytes_get_be(peer_ulpdu(r, &len), 2), 0xc140);
	assert_int_equal(len, 14 + 8);
	do {
		p = peer_ulpdu(r, &len);
		assert_int_equal(bytes_get_be(p, 2) & 0xbfff, 0x8140);
		assert_int_equal(bytes_get_be(p + 6, 8), 5 + done);
		done += (uint32_t)len - 14;
		assert_int_equal(bytes_get_be(p, 1) & 0x40, done == size ? 0x40 : 0);
	} while (done < size);
}

static void no_response_within_a_message(void **state)
{
	uint8_t *mem = pattern(8 * MIB, 1);
	static struct peer r;
	static struct bytes o, u;
	struct rr_region reg;
	size_t len;

	peer_start(&r, NULL);
	assert_int_equal(
	        OPS->register_mem(r.e.ep, mem, 64, RR_ACCESS_REMOTE_READ, &reg), 0);
	start_write(&r, mem, 8 * MIB);
	o.n = 0;
	ul_read(&u, 1, 0xabcd, 77, 64, reg.handle, reg.offset);
	bytes_put_fpdu(&o, &u);
	peer_send(&r, o.b, o.n);
	steps(&r, 3);
	take_write(&r, 8 * MIB);
	assert_int_equal(bytes_get_be(peer_ulpdu(&r, &len), 2), 0xc142);
	peer_fini(&r);
	free(mem);
}

static void no_kick_within_a_message(void **state)
{
	uint8_t *mem = pattern(8 * MIB, 1);
	static struct peer r;
	size_t len;

	peer_server(&r, NULL);
	peer_need(&r, 24);
	peer_send(&r, "MPA ID Rep Frame\x50\x02\x00\x04\x00\x40\x00\x40", 24);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	start_write(&r, mem, 8 * MIB);
	OPS->progress(r.e.ep, test_now());
	OPS->progress(r.e.ep, test_now() + RR_MS(20));
	take_write(&r, 8 * MIB);
	assert_int_equal(bytes_get_be(peer_ulpdu(&r, &len), 2), 0xc140);
	assert_int_equal(len, 14);
	peer_fini(&r);
	free(mem);
}

/* What was posted goes out before the end, also if it has to wait: for the first word
 * of the initiator, for Reads before it. */
static void the_end_waits_for_what_waits(void **state)
{
	static uint8_t sink[8];
	struct rr_sge g = {(void *)"first", 5, 0}, to = {sink, 8, 0};
	static struct peer r;
	static struct bytes o;
	const uint8_t *p;
	size_t len;

	peer_client(&r, NULL, 0);
	peer_send(&r, REQ1, 20);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	peer_need(&r, 20);
	assert_int_equal(OPS->post_send(r.e.ep, &g, 1, 0, 1), 0);
	OPS->disconnect(r.e.ep, test_now());
	peer_step(&r, 10);
	o.n = 0;
	add_rtr(&o);
	peer_send(&r, o.b, o.n);
	assert_int_equal(bytes_get_be(peer_ulpdu(&r, &len), 2), 0x4143);
	peer_expect_eof(&r);
	end_expect_wc(&r.e, NULL, RR_WC_SEND, 1, 0);
	peer_fini(&r);

	peer_start(&r, "ord=1");
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(OPS->post_read(r.e.ep, &to, 7, 8, i), 0);
	OPS->disconnect(r.e.ep, test_now());
	for (unsigned i = 0; i < 2; i++) {
		p = peer_ulpdu(&r, &len);
		assert_int_equal(bytes_get_be(p, 2), 0x4141);
		o.n = 0;
		add_tagged(&o, 0xc142, (uint32_t)bytes_get_be(p + 18, 4),
		           bytes_get_be(p + 22, 8), "answer!", 8);
		peer_send(&r, o.b, o.n);
		end_expect_wc(&r.e, NULL, RR_WC_READ, i, 0);
	}
	peer_expect_eof(&r);
	peer_fini(&r);
}

/* Own messages and answers take turns, while both wait for a long message. */
static void neither_side_starves(void **state)
{
	static const uint16_t order[] = {0xc142, 0x4143, 0xc142,
	                                 0x4143, 0x4143, 0x4143};
	uint8_t *mem = pattern(8 * MIB, 1);
	struct rr_sge g = {mem, 8, 0};
	static struct peer r;
	static struct bytes o, u;
	struct rr_region reg;
	size_t len;

	peer_start(&r, NULL);
	assert_int_equal(
	        OPS->register_mem(r.e.ep, mem, 64, RR_ACCESS_REMOTE_READ, &reg), 0);
	start_write(&r, mem, 8 * MIB);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(OPS->post_send(r.e.ep, &g, 1, 0, i), 0);
	o.n = 0;
	for (uint32_t i = 1; i <= 2; i++) {
		ul_read(&u, i, 1, 2, 8, reg.handle, reg.offset);
		bytes_put_fpdu(&o, &u);
	}
	peer_send(&r, o.b, o.n);
	steps(&r, 3);
	take_write(&r, 8 * MIB);
	for (size_t i = 0; i < RR_ARRAY_SIZE(order); i++)
		assert_int_equal(bytes_get_be(peer_ulpdu(&r, &len), 2), order[i]);
	peer_fini(&r);
	free(mem);
}

/* Padding is zero also where something else was: peer_ulpdu looks. */
static void padding_tells_nothing(void **state)
{
	static uint8_t word[40];
	struct rr_sge g = {word, sizeof(word), 0};
	static struct peer r;
	size_t len;

	peer_start(&r, NULL);
	memset(word, 0xff, sizeof(word));
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(OPS->post_send(r.e.ep, &g, 1, 0, i), 0);
		end_flush(&r.e);
		peer_ulpdu(&r, &len);
		end_expect_wc(&r.e, NULL, RR_WC_SEND, i, 0);
		g.len = 5;
	}
	peer_fini(&r);
}

/* Completions that nobody takes have a limit, also those that need no peer. */
static void invalidations_that_nobody_polls(void **state)
{
	static uint8_t mem[8];
	static struct peer r;
	struct rr_region reg;
	struct rr_wc wc;
	unsigned n = 0;
	int rc;

	peer_start(&r, NULL);
	do {
		assert_int_equal(OPS->register_mem(r.e.ep, mem, 8, 0, &reg), 0);
		rc = OPS->invalidate(r.e.ep, reg.handle, n++);
	} while (!rc && n < 100000);
	assert_int_equal(rc, -ENOBUFS);
	assert_int_equal(OPS->poll(r.e.ep, &wc, 1), 1);
	assert_int_equal(OPS->invalidate(r.e.ep, reg.handle, n), 0);
	while (OPS->poll(r.e.ep, &wc, 1))
		;
	assert_int_equal(wc.token, n);
	peer_fini(&r);
}

/* A peer that takes the rest little by little is waited for, but not for ever. */
static void a_slow_end_has_its_limit(void **state)
{
	static struct peer r;
	static uint8_t some[65536];
	uint8_t *mem;
	rr_time t;
	unsigned k = 0;

	start_answer(&r, &mem);
	t = test_now() + RR_SEC(1);
	OPS->disconnect(r.e.ep, t);
	do { /* its clock is told, not waited for */
		for (size_t got = 0; got < 3 * sizeof(some);) {
			ssize_t n = recv(r.fd, some, sizeof(some), MSG_DONTWAIT);

			if (n <= 0)
				break;
			got += (size_t)n;
		}
		OPS->progress(r.e.ep, t + k++ * RR_MS(900));
		end_poll(&r.e);
	} while (r.e.n == r.e.taken && k < 30);
	assert_in_range(k, 11, 14);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	peer_fini(&r);
	free(mem);
}

/* The answer to a Read that was the RTR message has no data. */
static void data_for_the_rtr_read(void **state)
{
	static struct peer r;
	static struct bytes o;

	peer_server(&r, "p2p=1");
	peer_need(&r, 24);
	peer_send(&r, "MPA ID Rep Frame\x50\x02\x00\x04\x80\x40\x40\x40", 24);
	end_expect_wc(&r.e, NULL, RR_WC_CONNECTED, 0, 0);
	o.n = 0;
	add_tagged(&o, 0xc142, 0, 0, "data", 4);
	peer_send(&r, o.b, o.n);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(read_after_our_close),
	        cmocka_unit_test(all_regions_and_a_read),
	        cmocka_unit_test(quiet_stays_quiet),
	        cmocka_unit_test(a_rest_has_its_own_size),
	        cmocka_unit_test(written_while_read_large),
	        cmocka_unit_test(written_while_read_small),
	        cmocka_unit_test(rtr_read_and_full_queue),
	        cmocka_unit_test(a_read_framed_and_unsent),
	        cmocka_unit_test(reads_leave_room_for_their_ends),
	        cmocka_unit_test(a_peer_that_says_nothing_is_read_from_once_at_a_time),
	        cmocka_unit_test(invalidations_that_nobody_polls),
	        cmocka_unit_test(a_client_without_rtr_ends_at_once),
	        cmocka_unit_test(a_full_socket_is_not_quiet),
	        cmocka_unit_test(a_half_closed_peer_is_answered),
	        cmocka_unit_test(many_pieces),
	        cmocka_unit_test(no_response_within_a_message),
	        cmocka_unit_test(no_kick_within_a_message),
	        cmocka_unit_test(the_end_waits_for_what_waits),
	        cmocka_unit_test(neither_side_starves),
	        cmocka_unit_test(padding_tells_nothing),
	        cmocka_unit_test(a_slow_end_has_its_limit),
	        cmocka_unit_test(data_for_the_rtr_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
