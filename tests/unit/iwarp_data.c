/* SPDX-License-Identifier: BSD-3-Clause */
/* Two endpoints over loopback: all kinds of data, odd sizes, every framing. */
#include "iwarp_pair.h"

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
	flush(c);
	expect_wc(c, s, RR_WC_SEND, 11, 0);
	assert_int_equal(expect_wc(s, c, RR_WC_RECV, 10, 0)->len, len);
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
	flush(c);
	expect_wc(c, s, RR_WC_WRITE, 5, 0);
	sync_ends(c, s);
	check_pattern(dst + 32, len, 7 * len);
	assert_int_equal(dst[31], 0);
	assert_int_equal(dst[len + 32], 0);
	assert_int_equal(OPS->invalidate(s->ep, reg.handle, 6), 0);
	expect_wc(s, c, RR_WC_INVALIDATE, 6, 0);
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
	flush(s);
	expect_wc(s, c, RR_WC_READ, 77, 0);
	check_pattern(dst + 1, len, 3 * len);
	assert_int_equal(dst[len + 1], 0);
	assert_int_equal(OPS->invalidate(c->ep, reg.handle, 78), 0);
	expect_wc(c, s, RR_WC_INVALIDATE, 78, 0);
	free(src);
	free(dst);
}

static void all_kinds(const char *copts, const char *sopts)
{
	struct end c, s;

	pair_open(&c, &s, copts, sopts);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(sizes); i++) {
		do_send(&c, &s, sizes[i]);
		do_send(&s, &c, sizes[i]);
		do_write(&c, &s, sizes[i]);
		do_write(&s, &c, sizes[i]);
		do_read(&c, &s, sizes[i]);
		do_read(&s, &c, sizes[i]);
	}
	pair_close(&c, &s);
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
	all_kinds("sndbuf=4608", "sndbuf=16384,rcvbuf=65536");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(default_options), cmocka_unit_test(without_crc),
	        cmocka_unit_test(small_fpdus),     cmocka_unit_test(revision_1),
	        cmocka_unit_test(small_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
