/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FPDUs byte for byte: the two examples of RFC 5044 §4.4 (with markers) and one
 * of each RDMAP message, written down from the RFCs and not from our encoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prov/iwarp/crc.h"
#include "prov/iwarp/ddp.h"
#include "prov/iwarp/fpdu.h"
#include "prov/iwarp/rdmap.h"
#include "prov/iwarp/stag.h"

static size_t unhex(const char *s, uint8_t *dst)
{
	size_t n = 0;
	unsigned v;
	char two[3] = "";

	while (*s) {
		if (*s == ' ') {
			s++;
			continue;
		}
		memcpy(two, s, 2);
		v = (unsigned)strtoul(two, NULL, 16);
		dst[n++] = (uint8_t)v;
		s += 2;
	}
	return n;
}

static struct rr_framer plain(void)
{
	return (struct rr_framer){.crc = true};
}

static void expect(struct rr_framer *f, const struct rr_ddp *h, const void *body,
                   size_t len, const char *hex)
{
	uint8_t hdr[RR_DDP_UNTAGGED], want[600], got[600];
	size_t hlen = rr_ddp_size(h->tagged), n = unhex(hex, want);
	struct iovec v[2] = {{hdr, hlen}, {(void *)(uintptr_t)body, len}};

	rr_ddp_put(hdr, h);
	assert_int_equal(rr_fpdu_put(f, got, v, 2, hlen + len), n);
	assert_memory_equal(got, want, n);
	assert_true(n <= rr_fpdu_marked_size(hlen + len));
	if (!f->markers)
		assert_int_equal(n, rr_fpdu_size(hlen + len));
}

static struct rr_ddp untagged(enum rr_rdmap_op op, uint32_t qn, uint32_t msn,
                              uint32_t stag)
{
	return (struct rr_ddp){
	        .last = true,
	        .rdmap = RR_RDMAP_CTRL(op),
	        .qn = qn,
	        .msn = msn,
	        .stag = stag,
	};
}

static struct rr_ddp tagged(enum rr_rdmap_op op, uint32_t stag, uint64_t to)
{
	return (struct rr_ddp){
	        .tagged = true,
	        .last = true,
	        .rdmap = RR_RDMAP_CTRL(op),
	        .stag = stag,
	        .to = to,
	};
}

static void crc32c(void **state)
{
	uint8_t b[4];

	rr_crc_store(b, rr_crc_add(RR_CRC_INIT, "123456789", 9));
	assert_memory_equal(b, "\x83\x92\x06\xe3", 4);
	rr_crc_store(b, rr_crc_add(rr_crc_add(RR_CRC_INIT, "1234", 4), "56789", 5));
	assert_memory_equal(b, "\x83\x92\x06\xe3", 4);
}

/* Adds @len octets to @crc bit by bit. */
static uint32_t add_bits(uint32_t crc, const uint8_t *p, size_t len)
{
	while (len--) {
		crc ^= *p++;
		for (unsigned i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return crc;
}

/* Short input and long input are added in different ways. */
static void crc32c_of_every_length(void **state)
{
	uint8_t mem[600];

	for (size_t i = 0; i < sizeof(mem); i++)
		mem[i] = (uint8_t)(i * 151 >> 3);
	for (size_t len = 0; len < sizeof(mem); len++) {
		const uint8_t *p = mem + sizeof(mem) - len;

		assert_int_equal(rr_crc_add(RR_CRC_INIT, p, len),
		                 add_bits(RR_CRC_INIT, p, len));
		assert_int_equal(rr_crc_add(0x12345678, mem, len),
		                 add_bits(0x12345678, mem, len));
	}
}

static void rfc5044_first_with_marker(void **state)
{
	struct rr_framer f = {.crc = true, .markers = true};
	struct rr_ddp h = untagged(RR_OP_SEND, 0, 1, 0);
	uint8_t zero[24] = {0};

	expect(&f, &h, zero, 24,
	       "00000000 002a4143 00000000 00000000 00000001 00000000"
	       "00000000 00000000 00000000 00000000 00000000 00000000 52239983");
	assert_int_equal(f.pos, 52);
}

static void rfc5044_marker_inside(void **state)
{
	struct rr_framer f = {.crc = true, .markers = true, .pos = 0x1ec};
	struct rr_ddp h = untagged(RR_OP_SEND, 0, 2, 0);
	uint8_t zero[24] = {0};

	expect(&f, &h, zero, 24,
	       "002a4143 00000000 00000000 00000002 00000000 00000014"
	       "00000000 00000000 00000000 00000000 00000000 00000000 84925898");
}

/* A marker that falls exactly between two FPDUs belongs to the second. */
static void marker_between(void **state)
{
	struct rr_framer f = {.crc = true, .markers = true, .pos = 512};
	struct rr_ddp h = untagged(RR_OP_SEND, 0, 1, 0);
	uint8_t zero[24] = {0};

	expect(&f, &h, zero, 24,
	       "00000000 002a4143 00000000 00000000 00000001 00000000"
	       "00000000 00000000 00000000 00000000 00000000 00000000 52239983");
}

/* Between PAD and CRC a marker is covered by that CRC. */
static void marker_before_crc(void **state)
{
	struct rr_framer f = {.crc = true, .markers = true, .pos = 512 - 44};
	uint8_t zero[24] = {0}, out[64], crc[4], hdr[18];
	struct rr_ddp h = untagged(RR_OP_SEND, 0, 1, 0);
	struct iovec v[2] = {{hdr, 18}, {zero, 24}};

	rr_ddp_put(hdr, &h);
	assert_int_equal(rr_fpdu_put(&f, out, v, 2, 42), 52);
	assert_memory_equal(out + 44, "\0\0\0\x2c", 4);
	rr_crc_store(crc, rr_crc_add(RR_CRC_INIT, out, 48));
	assert_memory_equal(out + 48, crc, 4);
	assert_int_equal(f.pos, 8);
}

/* Strips markers by their definition and finds the FPDU without them again. */
static void markers_in_long_fpdu(void **state)
{
	static uint8_t body[5000], out[6000], hdr[14], flat[6000];
	struct rr_ddp h = tagged(RR_OP_WRITE, 1, 2);
	struct iovec v[2] = {{hdr, 14}, {body, 0}};
	struct rr_framer f = {.crc = true, .markers = true};
	uint64_t pos = 0;

	rr_ddp_put(hdr, &h);
	for (size_t len = 0; len < sizeof(body); len += 37) {
		size_t n, m = 0, start = 0;

		memset(body, (int)len, sizeof(body));
		v[1].iov_len = len;
		n = rr_fpdu_put(&f, out, v, 2, 14 + len);
		assert_true(n <= rr_fpdu_marked_size(14 + len));
		for (size_t i = 0; i < n;) {
			if ((pos + i) % 512 == 0) {
				size_t ptr = i ? i - start : 0;

				assert_int_equal(out[i] | out[i + 1], 0);
				assert_int_equal(out[i + 2] << 8 | out[i + 3], ptr);
				if (!i)
					start = 4;
				i += 4;
				continue;
			}
			flat[m++] = out[i++];
		}
		assert_int_equal(m, rr_fpdu_size(14 + len));
		assert_memory_equal(flat + 2, hdr, 14);
		assert_memory_equal(flat + 16, body, len);
		pos += n;
	}
}

static void each_message(void **state)
{
	uint8_t body[RR_TERM_MAX];
	struct rr_framer f = plain();
	struct rr_ddp h;
	size_t n;

	h = untagged(RR_OP_SEND, RR_QN_SEND, 1, 0);
	expect(&f, &h, "hello", 5,
	       "00174143 00000000 00000000 00000001 00000000 68656c6c 6f000000 "
	       "b990b10c");
	h = untagged(RR_OP_SEND_INV, RR_QN_SEND, 2, 0x11223344);
	expect(&f, &h, "hi", 2,
	       "00144144 11223344 00000000 00000002 00000000 68690000 11243f39");
	h = tagged(RR_OP_WRITE, 0x11223344, 0x1000);
	expect(&f, &h, "abcd", 4,
	       "0012c140 11223344 00000000 00001000 61626364 08272d8c");
	h = tagged(RR_OP_WRITE, 0, 0);
	expect(&f, &h, "", 0, "000ec140 00000000 00000000 00000000 a30572ab");
	h = untagged(RR_OP_READ_REQUEST, RR_QN_READ, 1, 0);
	rr_read_request_put(body, &(struct rr_read_request){0x0a0b0c0d, 0x2000, 4096,
	                                                    0x11223344, 0x1000});
	expect(&f, &h, body, RR_READ_REQUEST,
	       "002e4141 00000000 00000001 00000001 00000000 0a0b0c0d 00000000 00002000"
	       "00001000 11223344 00000000 00001000 0bcd75a3");
	h = tagged(RR_OP_READ_RESPONSE, 0x0a0b0c0d, 0x2000);
	expect(&f, &h, "wxyz", 4,
	       "0012c142 0a0b0c0d 00000000 00002000 7778797a 343c783e");
	h = untagged(RR_OP_TERMINATE, RR_QN_TERMINATE, 1, 0);
	n = rr_term_put(body, RR_TERM_RDMAP_STAG, NULL, 0, 0, NULL);
	expect(&f, &h, body, n,
	       "00164147 00000000 00000002 00000001 00000000 01000000 41082ac0");
	n = rr_term_put(body, RR_TERM_MPA_CRC, NULL, 0, 0, NULL);
	expect(&f, &h, body, n,
	       "00164147 00000000 00000002 00000001 00000000 20020000 7fe42585");
}

static void crc_off_sends_zero(void **state)
{
	struct rr_framer f = {.crc = false};
	struct rr_ddp h = tagged(RR_OP_WRITE, 0x11223344, 0x1000);

	expect(&f, &h, "abcd", 4,
	       "0012c140 11223344 00000000 00001000 61626364 00000000");
}

/* Headers read back; every prefix is refused and changes nothing. */
static void ddp_prefixes(void **state)
{
	static const char *hex[] = {
	        "4143 00000000 00000000 00000001 00000000",
	        "0144 11223344 00000000 00000002 00000007",
	        "c140 11223344 00000000 00001000",
	        "bd7f 11223344 80000000 00001000",
	};

	for (unsigned i = 0; i < 4; i++) {
		uint8_t b[32], back[32];
		struct rr_ddp h = {.stag = 99}, old = h;
		size_t n = unhex(hex[i], b);

		for (size_t k = 0; k < n; k++) {
			assert_int_equal(rr_ddp_get(b, k, &h), -EBADMSG);
			assert_memory_equal(&h, &old, sizeof(h));
		}
		assert_int_equal(rr_ddp_get(b, n, &h), n);
		assert_int_equal(h.version, 1);
		assert_int_equal(h.tagged, n == 14);
		if (i == 3) /* reserved bits were set: ignored, and not sent */
			continue;
		rr_ddp_put(back, &h);
		assert_memory_equal(back, b, n);
	}
}

static void terminate_bodies(void **state)
{
	static const uint8_t ddp[18] = {0x41, 0x41}, req[28] = {9, 8, 7};
	uint8_t b[RR_TERM_MAX];

	assert_int_equal(rr_term_put(b, RR_TERM_DDP_STAG, ddp, 14, 1234, NULL), 20);
	assert_memory_equal(b, "\x11\x00\xc0\x00\x04\xd2\x41\x41", 8);
	assert_int_equal(rr_term_put(b, RR_TERM_RDMAP_BOUNDS, ddp, 18, 46, req), 52);
	assert_memory_equal(b, "\x01\x01\xe0\x00\x00\x2e\x41\x41", 8);
	assert_memory_equal(b + 24, req, 28);
	/* a DDP error returns no RDMAP header, an LLP error returns nothing */
	assert_int_equal(rr_term_put(b, RR_TERM_DDP_NO_BUFFER, ddp, 18, 46, req), 24);
	assert_int_equal(rr_term_put(b, RR_TERM_MPA_CRC, ddp, 18, 46, req), 4);
	assert_string_equal(rr_term_text(1, 2, 5), "message longer than its buffer");
	assert_string_equal(rr_term_text(9, 9, 9), "unknown error");
}

/* Bodies as the RFC has them and as siw sends them.  [RFC 5040 §4.8, RFC 5044 §8] */
static void terminate_orders(void **state)
{
	static const struct {
		uint8_t body[4];
		uint8_t layer, type, code;
		bool reversed;
	} t[] = {
	        /* the flags tell, where there are any */
	        {{0x12, 0x02, 0xc0, 0}, 1, 2, 2, false},
	        {{0x21, 0x02, 0x03, 0}, 1, 2, 2, true},
	        {{0x01, 0x00, 0xe0, 0}, 0, 1, 0, false},
	        {{0x10, 0x00, 0x07, 0}, 0, 1, 0, true}, /* the RFC has 1/0/0 too */
	        {{0x11, 0x01, 0x40, 0}, 1, 1, 1, false},
	        {{0x11, 0x01, 0x03, 0}, 1, 1, 1, true},
	        {{0x20, 0x09, 0x03, 0}, 0, 2, 9, true},
	        {{0x12, 0x05, 0xc7, 0}, 1, 2, 5, false},
	        /* otherwise the numbers do, if only one order has a meaning */
	        {{0x02, 0x02, 0, 0}, 2, 0, 2, true},
	        {{0x02, 0x04, 0, 0}, 2, 0, 4, true},
	        {{0x21, 0x06, 0, 0}, 1, 2, 6, true},
	        {{0x20, 0x02, 0, 0}, 2, 0, 2, false},
	        {{0x12, 0x06, 0, 0}, 1, 2, 6, false},
	        {{0x00, 0xff, 0, 0}, 0, 0, 0xff, false},
	        /* the RFC's order is believed if both or none have one */
	        {{0x02, 0x06, 0, 0}, 0, 2, 6, false},
	        {{0x20, 0x06, 0, 0}, 2, 0, 6, false},
	        {{0x37, 0x01, 0, 0}, 3, 7, 1, false},
	};
	struct rr_term got;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		rr_term_get(t[i].body, 4, &got);
		assert_int_equal(got.layer, t[i].layer);
		assert_int_equal(got.type, t[i].type);
		assert_int_equal(got.code, t[i].code);
		assert_int_equal(got.reversed, t[i].reversed);
		rr_term_get(t[i].body, 3, &got);
		assert_int_equal(got.layer | got.type | got.code | got.reversed, 0);
	}
	assert_string_equal(rr_term_text(0, 0, 0xff), "local catastrophic error");
}

/* The cipher's own vector: Speck32/64 of its authors. */
static void speck_vector(void **state)
{
	static const uint16_t key[4] = {0x0100, 0x0908, 0x1110, 0x1918};
	struct rr_speck s;

	rr_speck_key(&s, key);
	assert_int_equal(rr_speck_encrypt(&s, 0x6574694c), 0xa86842f2);
	assert_int_equal(rr_speck_decrypt(&s, 0xa86842f2), 0x6574694c);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Long-lived and short-lived entries together: no handle comes twice. */
static void stags_do_not_repeat(void **state)
{
	enum { N = 50000, KEPT = 100 };
	static uint32_t seen[N];
	static const uint8_t secret[RR_STAG_SECRET] = "a secret of ours";
	const struct rr_stag *s;
	struct rr_stags t;
	char mem[8];

	rr_stags_init(&t, secret);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(rr_stags_add(&t, RR_STAG_REGION, mem, 8, 1, &s), 0);
		seen[i] = s->stag;
		assert_true(s->to < UINT64_MAX / 2);
		assert_ptr_equal(rr_stags_find(&t, seen[i]), s);
		if (i >= KEPT)
			rr_stags_remove(&t, rr_stags_find(&t, seen[i]));
		if (i == N / 2)
			for (unsigned k = 0; k < KEPT; k++)
				assert_int_equal(rr_stags_find(&t, seen[k])->stag,
				                 seen[k]);
	}
	assert_null(rr_stags_find(&t, seen[N - 1]));
	qsort(seen, N, sizeof(seen[0]), by_value);
	for (unsigned i = 1; i < N; i++)
		assert_int_not_equal(seen[i - 1], seen[i]);
	assert_int_not_equal(seen[0], 0);
	/* sparse: both halves of each bit are used */
	for (unsigned b = 0, n = 0; b < 32; b++, n = 0) {
		for (unsigned i = 0; i < N; i++)
			n += seen[i] >> b & 1;
		assert_in_range(n, N / 2 - N / 20, N / 2 + N / 20);
	}
	rr_stags_fini(&t);
}

static void stags_limit(void **state)
{
	static const uint8_t secret[RR_STAG_SECRET] = {1};
	const struct rr_stag *s;
	struct rr_stags t;

	rr_stags_init(&t, secret);
	for (unsigned i = 0; i < RR_STAGS_MAX; i++)
		assert_int_equal(rr_stags_add(&t, RR_STAG_REGION, NULL, 0, 0, &s), 0);
	assert_int_equal(rr_stags_add(&t, RR_STAG_REGION, NULL, 0, 0, &s), -ENOBUFS);
	assert_int_equal(rr_stags_add(&t, RR_STAG_SINK, NULL, 0, 0, &s), 0);
	rr_stags_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(crc32c),
	        cmocka_unit_test(crc32c_of_every_length),
	        cmocka_unit_test(rfc5044_first_with_marker),
	        cmocka_unit_test(rfc5044_marker_inside),
	        cmocka_unit_test(marker_between),
	        cmocka_unit_test(marker_before_crc),
	        cmocka_unit_test(markers_in_long_fpdu),
	        cmocka_unit_test(each_message),
	        cmocka_unit_test(crc_off_sends_zero),
	        cmocka_unit_test(ddp_prefixes),
	        cmocka_unit_test(terminate_bodies),
	        cmocka_unit_test(terminate_orders),
	        cmocka_unit_test(speck_vector),
	        cmocka_unit_test(stags_do_not_repeat),
	        cmocka_unit_test(stags_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
