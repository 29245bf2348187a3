/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory after invalidation: freed at once, so that the address sanitizer sees
 * any later touch; what went out before has the old content.
 */
#include "test_iwarp_raw.h"

#define MIB (1u << 20)

/* A peer that reads 8 MiB and does not take the answer. */
static void start_read(struct peer *r, uint8_t *mem, struct rr_region *reg)
{
	static struct bytes o, u;

	peer_start(r, NULL);
	assert_int_equal(
	        OPS->register_mem(r->e.ep, mem, 8 * MIB, RR_ACCESS_REMOTE_READ, reg),
	        0);
	o.n = 0;
	ul_read(&u, 1, 0xabcd, 77, 8 * MIB, reg->handle, reg->offset);
	bytes_put_fpdu(&o, &u);
	peer_send(r, o.b, o.n);
	for (int i = 0; i < 5; i++)
		peer_step(r, 10);
	assert_true(OPS->events(r->e.ep) & EPOLLOUT);
}

/* The answer stops in the middle, with a Terminate that says what was left. */
static void finish_read(struct peer *r, const struct rr_region *reg)
{
	uint64_t done = 0;
	const uint8_t *p;
	size_t len;

	for (;;) {
		p = peer_ulpdu(r, &len);
		if (bytes_get_be(p, 2) != 0x8142)
			break;
		assert_int_equal(bytes_get_be(p + 2, 4), 0xabcd);
		assert_int_equal(bytes_get_be(p + 6, 8), 77 + done);
		for (size_t i = 0; i < len - 14; i++)
			if (p[14 + i] != pattern_at(1, done + i))
				fail_msg("octet %zu", (size_t)done + i);
		done += len - 14;
	}
	assert_true(done > 0 && done < 8 * MIB);
	assert_int_equal(len, 18 + 4 + 2 + 18 + 28);
	assert_int_equal(bytes_get_be(p, 2), 0x4147);
	assert_int_equal(bytes_get_be(p + 18, 4), 0x0100e000);
	assert_int_equal(bytes_get_be(p + 22, 2), 46);
	assert_int_equal(bytes_get_be(p + 24, 2), 0x4141);
	assert_int_equal(bytes_get_be(p + 42, 4), 0xabcd);
	assert_int_equal(bytes_get_be(p + 46, 8), 77 + done);
	assert_int_equal(bytes_get_be(p + 54, 4), 8 * MIB - done);
	assert_int_equal(bytes_get_be(p + 58, 4), reg->handle);
	assert_int_equal(bytes_get_be(p + 62, 8), reg->offset + done);
	peer_expect_eof(r);
	peer_close(r);
}

static void local_while_read(void **state)
{
	static struct peer r;
	struct rr_region reg;
	uint8_t *mem = pattern(8 * MIB, 1);

	start_read(&r, mem, &reg);
	assert_int_equal(OPS->invalidate(r.e.ep, reg.handle, 3), 0);
	end_expect_wc(&r.e, NULL, RR_WC_INVALIDATE, 3, 0);
	memset(mem, 0xee, 8 * MIB);
	free(mem);
	finish_read(&r, &reg);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&r);
}

static void remote_while_read(void **state)
{
	static struct peer r;
	static struct bytes o;
	struct rr_region reg;
	uint8_t *mem = pattern(8 * MIB, 1);
	char buf[4];
	struct rr_sge g = {buf, 4, 0};
	struct rr_wc *wc;

	start_read(&r, mem, &reg);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 4), 0);
	o.n = 0;
	add_untagged(&o, 0x4144, reg.handle, 0, 1, 0, "bye", 3);
	peer_send(&r, o.b, o.n);
	wc = end_expect_wc(&r.e, NULL, RR_WC_RECV, 4, 0);
	assert_true(wc->invalidated);
	assert_int_equal(wc->inv_handle, reg.handle);
	memset(mem, 0xee, 8 * MIB);
	free(mem);
	assert_int_equal(OPS->invalidate(r.e.ep, reg.handle, 3), -EINVAL);
	finish_read(&r, &reg);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&r);
}

/* The end of the connection is a fence as well. */
static void end_while_read(void **state)
{
	static struct peer r;
	struct rr_region reg;
	uint8_t *mem = pattern(8 * MIB, 1);

	start_read(&r, mem, &reg);
	OPS->disconnect(r.e.ep, test_now());
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, 0);
	free(mem);
	OPS->progress(r.e.ep, test_now());
	peer_fini(&r);

	mem = pattern(8 * MIB, 1);
	start_read(&r, mem, &reg);
	OPS->destroy(r.e.ep); /* an abort: the peer sees a reset */
	free(mem);
	free(r.e.wc);
	while (recv(r.fd, r.in.b, sizeof(r.in.b), 0) > 0)
		;
	assert_int_equal(errno, ECONNRESET);
	peer_close(&r);
}

/* What comes until the end of the stream. */
static uint64_t count_rest(struct peer *r)
{
	rr_time stop = test_now() + RR_SEC(10);
	static uint8_t b[65536];
	uint64_t total = 0;
	ssize_t n;

	while ((n = recv(r->fd, b, sizeof(b), 0)) != 0) {
		if (n > 0)
			total += (uint64_t)n;
		else
			assert_int_equal(errno, EAGAIN);
		assert_true(test_now() < stop);
		peer_step(r, 1);
	}
	return total;
}

/* A peer that errs, or says that we did, is not told the rest of what it read. */
static void nothing_more_after_an_error(void **state)
{
	static const uint8_t term[4] = {0x01, 0x00};
	static struct peer r;
	static struct bytes o;

	for (unsigned ours = 0; ours < 2; ours++) {
		uint8_t *mem = pattern(8 * MIB, 1);
		struct rr_region reg;

		start_read(&r, mem, &reg);
		o.n = 0;
		if (ours) {
			OPS->disconnect(r.e.ep,
			                test_now()); /* so there is no Terminate */
			add_tagged(&o, 0xc140, reg.handle ^ 1, reg.offset, "x", 1);
		} else {
			add_untagged(&o, 0x4147, 0, 2, 1, 0, term, 4);
		}
		peer_send(&r, o.b, o.n);
		peer_step(&r, 10);
		assert_true(count_rest(&r) < 4 * MIB);
		peer_close(&r);
		end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, ours ? 0 : -EREMOTEIO);
		peer_fini(&r);
		free(mem);
	}
}

/* A segment half received when its region goes. */
static void write_in_progress(uint32_t first)
{
	static struct peer r;
	static struct bytes o, u;
	static uint8_t body[60000];
	struct rr_region reg;
	uint8_t *mem = calloc(1, 60000);
	const uint8_t *p;
	size_t len;

	peer_start(&r, NULL);
	assert_int_equal(
	        OPS->register_mem(r.e.ep, mem, 60000, RR_ACCESS_REMOTE_WRITE, &reg), 0);
	memset(body, 7, sizeof(body));
	ul_tagged(&u, 0xc140, reg.handle, reg.offset, body, sizeof(body));
	o.n = 0;
	bytes_put_fpdu(&o, &u);
	peer_send(&r, o.b, first);
	for (int i = 0; i < 3; i++)
		peer_step(&r, 10);
	assert_int_equal(OPS->invalidate(r.e.ep, reg.handle, 3), 0);
	end_expect_wc(&r.e, NULL, RR_WC_INVALIDATE, 3, 0);
	free(mem);
	peer_send(&r, o.b + first, o.n - first);
	p = peer_ulpdu(&r, &len);
	assert_int_equal(len, 18 + 4 + 2 + 14);
	assert_int_equal(bytes_get_be(p + 18, 4), 0x1100c000);
	assert_memory_equal(p + 24, u.b, 14);
	peer_expect_eof(&r);
	peer_close(&r);
	end_expect_wc(&r.e, NULL, RR_WC_DISCONNECTED, 0, -EREMOTEIO);
	peer_fini(&r);
}

static void local_while_written(void **state)
{
	write_in_progress(10);
	write_in_progress(16);
	write_in_progress(30000);
	write_in_progress(59000);
}

/* Everything before the last octets of the CRC is here. */
static void local_before_crc(void **state)
{
	static struct peer r;
	static struct bytes o;
	static uint8_t body[60000];
	struct rr_region reg;
	uint8_t *mem = calloc(1, 60000);
	char buf[8];
	struct rr_sge g = {buf, 8, 0};

	peer_start(&r, NULL);
	assert_int_equal(OPS->post_recv(r.e.ep, &g, 1), 0);
	assert_int_equal(
	        OPS->register_mem(r.e.ep, mem, 60000, RR_ACCESS_REMOTE_WRITE, &reg), 0);
	o.n = 0;
	add_tagged(&o, 0xc140, reg.handle, reg.offset, body, sizeof(body));
	add_untagged(&o, 0x4143, 0, 0, 1, 0, "end", 3);
	peer_send(&r, o.b, 1000);
	peer_step(&r, 10);
	peer_send(&r, o.b + 1000, 60000 + 16 - 1000);
	for (int i = 0; i < 3; i++)
		peer_step(&r, 10);
	assert_int_equal(OPS->invalidate(r.e.ep, reg.handle, 3), 0);
	end_expect_wc(&r.e, NULL, RR_WC_INVALIDATE, 3, 0);
	free(mem);
	peer_send(&r, o.b + 60016, o.n - 60016);
	assert_int_equal(end_expect_wc(&r.e, NULL, RR_WC_RECV, 1, 0)->len, 3);
	peer_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(local_while_read),
	        cmocka_unit_test(remote_while_read),
	        cmocka_unit_test(end_while_read),
	        cmocka_unit_test(nothing_more_after_an_error),
	        cmocka_unit_test(local_while_written),
	        cmocka_unit_test(local_before_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
