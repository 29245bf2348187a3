/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of version 1 against octets written down by hand from RFC 8166 and
 * RFC 8797: what is decoded, what is encoded, that no shorter message decodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "wire/wire.h"

struct octets {
	size_t len;
	uint8_t *at; /* exactly @len octets of heap, so that a sanitizer sees */
};

static struct octets from_words(const uint32_t *words, size_t n)
{
	struct octets o = {.len = n * 4, .at = malloc(n * 4 + !n)};

	assert_non_null(o.at);
	for (size_t i = 0; i < n; i++)
		rr_store_u32(o.at + i * 4, words[i]);
	return o;
}

#define OCTETS(...)                                                                    \
	from_words((const uint32_t[]){__VA_ARGS__},                                    \
	           sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static struct rr_cursor over(const struct octets *o)
{
	return rr_cursor_over(o->at, o->len);
}

static void assert_encodes(const struct octets *o, const struct rr_writer *w)
{
	assert_false(rr_writer_bad(w));
	assert_int_equal(rr_writer_used(w), o->len);
	assert_memory_equal(w->base, o->at, o->len);
}

/* -- prefix ---------------------------------------------------------------- */

/* [RFC 8166 §4.2] four words, nothing is judged; only an error is an answer */
static void a_prefix_has_16_octets(void **state)
{
	static const struct {
		uint32_t proc, flags;
	} t[] = {{0, 0},         {1, 0}, {2, 0}, {3, 0}, {4, RDMA2_F_RESPONSE},
	         {0xfffffffc, 0}};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct octets o = OCTETS(0xffffffff, 0xfffffffe, 0xfffffffd, t[i].proc);
		uint8_t copy[16];
		struct rr_writer w = rr_writer_over(copy, sizeof(copy));
		struct rr_cursor c = over(&o);
		struct rr_prefix p;

		assert_int_equal(rr_wire_v1_get_prefix(&c, &p), 0);
		assert_int_equal(rr_cursor_left(&c), 0);
		assert_int_equal(p.xid, 0xffffffff);
		assert_int_equal(p.vers, 0xfffffffe);
		assert_int_equal(p.credit, 0xfffffffd);
		assert_int_equal(p.htype, t[i].proc);
		assert_int_equal(p.flags, t[i].flags);
		p.flags = 7; /* there is no place for them */
		rr_wire_v1_put_prefix(&w, &p);
		assert_encodes(&o, &w);
		free(o.at);
	}
}

static void a_shorter_prefix_is_refused(void **state)
{
	for (size_t len = 0; len < RR_WIRE_V1_PREFIX; len++) {
		uint8_t *at = calloc(1, len + !len);
		struct rr_cursor c = rr_cursor_over(at, len);
		struct rr_prefix p = {.xid = 77};

		assert_int_equal(rr_wire_v1_get_prefix(&c, &p), -EBADMSG);
		assert_ptr_equal(c.pos, at);
		assert_false(c.bad);
		assert_int_equal(p.xid, 77);
		free(at);
	}
}

/* -- lists ----------------------------------------------------------------- */

/* Every proper prefix is refused and changes nothing. */
static void assert_whole(const struct octets *o)
{
	for (size_t len = 0; len < o->len; len++) {
		uint8_t *at = malloc(len + !len);
		struct rr_cursor c = rr_cursor_over(at, len);
		struct rr_lists l = {.n_segs = 77};

		memcpy(at, o->at, len);
		assert_int_equal(rr_wire_v1_get_lists(&c, &l), -EBADMSG);
		assert_ptr_equal(c.pos, at);
		assert_int_equal(l.n_segs, 77);
		free(at);
	}
}

static void take_lists(const struct octets *o, struct rr_lists *l)
{
	uint8_t copy[4096];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_cursor c = over(o);

	assert_int_equal(rr_wire_v1_get_lists(&c, l), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_int_equal(l->inv_handle, 0);
	assert_int_equal(rr_wire_v1_lists_size(l), o->len);
	l->inv_handle = 9; /* there is no place for it */
	rr_wire_v1_put_lists(&w, l);
	assert_encodes(o, &w);
	assert_whole(o);
}

/* [RFC 8166 §4.3] 12 octets: with the prefix 28 */
static void no_chunks_are_three_words(void **state)
{
	struct octets o = OCTETS(0, 0, 0);
	struct rr_lists l;

	take_lists(&o, &l);
	assert_true(rr_lists_empty(&l));
	assert_int_equal(RR_WIRE_V1_PREFIX + o.len, RR_WIRE_V1_EMPTY_MSG);
	free(o.at);
}

/* The example of one Write chunk of two segments */
static void a_write_chunk_of_two_segments(void **state)
{
	struct octets o =
	        OCTETS(0, 1, 2, 0xa, 0x100, 0, 0x1000, 0xb, 0x200, 1, 0x2000, 0, 0);
	struct rr_lists l;

	take_lists(&o, &l);
	assert_int_equal(l.n_writes, 1);
	assert_int_equal(l.n_reads, 0);
	assert_false(l.has_reply);
	assert_int_equal(l.writes[0].count, 2);
	assert_int_equal(l.writes[0].length, 0x300);
	assert_int_equal(l.seg[0].handle, 0xa);
	assert_int_equal(l.seg[0].offset, 0x1000);
	assert_int_equal(l.seg[1].handle, 0xb);
	assert_int_equal(l.seg[1].length, 0x200);
	assert_true(l.seg[1].offset == 0x100002000);
	free(o.at);
}

static void all_lists_at_once(void **state)
{
	struct octets o =
	        OCTETS(1, 0, 0xa, 0x10, 0, 0x1000, 1, 8, 0xb, 0x20, 0, 0x2000, 1, 8,
	               0xc, 0x30, 0, 0x3000, 0, 1, 1, 0xd, 0x40, 0, 0x4000, 1, 0, 0, 1,
	               2, 0xe, 0x50, 0, 0x5000, 0xf, 0x60, 0, 0x6000);
	struct rr_lists l;

	take_lists(&o, &l);
	assert_int_equal(l.n_reads, 2);
	assert_int_equal(l.reads[0].position, 0);
	assert_int_equal(l.reads[1].position, 8);
	assert_int_equal(l.reads[1].count, 2);
	assert_int_equal(l.reads[1].length, 0x50);
	assert_int_equal(l.n_writes, 2);
	assert_int_equal(l.writes[0].length, 0x40);
	assert_int_equal(l.writes[1].count, 0);
	assert_true(l.has_reply);
	assert_int_equal(l.reply.count, 2);
	assert_int_equal(l.reply.length, 0xb0);
	assert_int_equal(l.seg[5].handle, 0xf);
	free(o.at);
}

static void malformed_lists_are_refused(void **state)
{
	struct octets t[] = {
	        OCTETS(2, 0, 0, 0, 0, 0, 0),
	        OCTETS(0, 2, 0, 0, 0),
	        OCTETS(0, 0, 2, 0, 0),
	        OCTETS(0, 1, 0x10000000, 0, 0, 0, 0),
	        OCTETS(0, 0, 1, 0xffffffff, 0, 0, 0, 0),
	        OCTETS(0, 0, 1, 2, 1, 1, 1, 1),
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		struct rr_cursor c = over(&t[i]);
		struct rr_lists l;

		assert_int_equal(rr_wire_v1_get_lists(&c, &l), -EBADMSG);
		assert_ptr_equal(c.pos, t[i].at);
		free(t[i].at);
	}
}

static void more_than_fits_is_counted_and_not_encoded(void **state)
{
	struct octets o = {.len = 4 * (4 + 4 * 65), .at = NULL};
	uint8_t copy[4096];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_cursor c;
	struct rr_lists l;

	o.at = calloc(1, o.len);
	rr_store_u32(o.at + 8, 1);
	rr_store_u32(o.at + 12, 65);
	c = over(&o);
	assert_int_equal(rr_wire_v1_get_lists(&c, &l), 0);
	assert_true(l.over);
	assert_int_equal(l.total_segs, 65);
	rr_wire_v1_put_lists(&w, &l);
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
	free(o.at);
}

/* -- errors ---------------------------------------------------------------- */

static void err_vers_has_a_range(void **state)
{
	struct octets o = OCTETS(1, 3, 7);
	uint8_t copy[12];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_cursor c = over(&o);
	struct rr_error e;

	assert_int_equal(rr_wire_v1_get_error(&c, &e), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_int_equal(e.code, RDMA2_ERR_VERS);
	assert_int_equal(e.arg[0], 3);
	assert_int_equal(e.arg[1], 7);
	rr_wire_v1_put_error(&w, &e);
	assert_encodes(&o, &w);
	for (size_t len = 0; len < 12; len++) {
		c = rr_cursor_over(o.at, len);
		e.code = 77;
		assert_int_equal(rr_wire_v1_get_error(&c, &e), -EBADMSG);
		assert_int_equal(e.code, 77);
		assert_ptr_equal(c.pos, o.at);
	}
	free(o.at);
}

static void err_chunk_is_one_word(void **state)
{
	struct octets o = OCTETS(2, 99);
	struct rr_cursor c = over(&o);
	struct rr_error e;

	assert_int_equal(rr_wire_v1_get_error(&c, &e), 0);
	assert_int_equal(rr_cursor_left(&c), 4);
	assert_int_equal(e.code, RDMA2_ERR_BAD_XDR);
	assert_int_equal(e.arg[0], 0);
	free(o.at);
}

static void other_errors_do_not_decode(void **state)
{
	static const uint32_t codes[] = {0, 3, 6, 100, 0xffffffff};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(codes); i++) {
		struct octets o = OCTETS(codes[i], 1, 1);
		struct rr_cursor c = over(&o);
		struct rr_error e;

		assert_int_equal(rr_wire_v1_get_error(&c, &e), -EBADMSG);
		assert_ptr_equal(c.pos, o.at);
		free(o.at);
	}
}

/* Whatever version 2 would say in detail */
static void every_other_error_is_sent_as_err_chunk(void **state)
{
	static const uint32_t codes[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 100};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(codes); i++) {
		const struct rr_error e = {codes[i], {1, 70000}};
		struct octets o = OCTETS(2);
		uint8_t copy[12];
		struct rr_writer w = rr_writer_over(copy, sizeof(copy));

		rr_wire_v1_put_error(&w, &e);
		assert_encodes(&o, &w);
		free(o.at);
	}
}

static void the_encoder_reports_every_missing_octet(void **state)
{
	const struct rr_prefix p = {.xid = 1, .vers = 1, .htype = RDMA2_ERROR};
	const struct rr_error e = {RDMA2_ERR_VERS, {1, 1}};

	for (size_t room = 0; room <= 28; room++) {
		uint8_t copy[28];
		struct rr_writer w = rr_writer_over(copy, room);

		rr_wire_v1_put_prefix(&w, &p);
		rr_wire_v1_put_error(&w, &e);
		assert_int_equal(rr_writer_bad(&w), room < 28);
	}
}

/* -- private data [RFC 8797 §4] -------------------------------------------- */

static void private_data_is_eight_octets(void **state)
{
	static const struct {
		struct rr_wire_private p;
		uint8_t want[8];
	} t[] = {
	        {{false, 1024, 1024}, {0xf6, 0xab, 0x0e, 0x18, 1, 0, 0, 0}},
	        {{true, 4096, 8192}, {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 7}},
	        {{true, 262144, 262144}, {0xf6, 0xab, 0x0e, 0x18, 1, 1, 255, 255}},
	        {{false, 262145, 4294967295}, {0xf6, 0xab, 0x0e, 0x18, 1, 0, 255, 255}},
	        {{false, 0, 2047}, {0xf6, 0xab, 0x0e, 0x18, 1, 0, 0, 0}},
	        {{false, 2048, 2049}, {0xf6, 0xab, 0x0e, 0x18, 1, 0, 1, 1}},
	};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(t); i++) {
		uint8_t got[RR_WIRE_PRIVATE_BYTES];

		rr_wire_put_private(got, &t[i].p);
		assert_memory_equal(got, t[i].want, 8);
	}
}

static void expect_private(const uint8_t *data, size_t len, bool found, bool inv,
                           uint32_t send, uint32_t recv)
{
	uint8_t *at = malloc(len + !len);
	struct rr_wire_private p;

	memcpy(at, data, len);
	assert_int_equal(rr_wire_find_private(at, len, &p), found);
	assert_int_equal(p.remote_invalidate, inv);
	assert_int_equal(p.send_bytes, send);
	assert_int_equal(p.recv_bytes, recv);
	free(at);
}

/* [RFC 8797 §5.2] at any alignment, among data of others */
static void private_data_is_found_anywhere(void **state)
{
	uint8_t data[64];

	for (size_t at = 0; at <= 56; at++) {
		memset(data, 0xf6, sizeof(data));
		memcpy(data + at, "\xf6\xab\x0e\x18\x01\x01\x03\xff", 8);
		expect_private(data, sizeof(data), true, true, 4096, 262144);
		expect_private(data, at + 8, true, true, 4096, 262144);
		expect_private(data, at + 7, false, false, 1024, 1024);
	}
}

/* [RFC 8797 §4, §5.1] reserved bits are ignored, unknown formats are none */
static void private_data_of_another_format_is_none(void **state)
{
	expect_private((const uint8_t *)"\xf6\xab\x0e\x18\x01\xff\x01\x02", 8, true,
	               true, 2048, 3072);
	expect_private((const uint8_t *)"\xf6\xab\x0e\x18\x01\xfe\x01\x02", 8, true,
	               false, 2048, 3072);
	expect_private((const uint8_t *)"\xf6\xab\x0e\x18\x02\x01\x01\x02", 8, false,
	               false, 1024, 1024);
	expect_private((const uint8_t *)"\xf6\xab\x0e\x18\x00\x01\x01\x02", 8, false,
	               false, 1024, 1024);
	expect_private((const uint8_t *)"\xf6\xab\x0e\x19\x01\x01\x01\x02", 8, false,
	               false, 1024, 1024);
	expect_private((const uint8_t *)"", 0, false, false, 1024, 1024);
	/* one that is not known, then one that is */
	expect_private((const uint8_t *)"\xf6\xab\x0e\x18\x09\xf6\xab\x0e\x18\x01\x01"
	                                "\x01\x02",
	               13, true, true, 2048, 3072);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_prefix_has_16_octets),
	        cmocka_unit_test(a_shorter_prefix_is_refused),
	        cmocka_unit_test(no_chunks_are_three_words),
	        cmocka_unit_test(a_write_chunk_of_two_segments),
	        cmocka_unit_test(all_lists_at_once),
	        cmocka_unit_test(malformed_lists_are_refused),
	        cmocka_unit_test(more_than_fits_is_counted_and_not_encoded),
	        cmocka_unit_test(err_vers_has_a_range),
	        cmocka_unit_test(err_chunk_is_one_word),
	        cmocka_unit_test(other_errors_do_not_decode),
	        cmocka_unit_test(every_other_error_is_sent_as_err_chunk),
	        cmocka_unit_test(the_encoder_reports_every_missing_octet),
	        cmocka_unit_test(private_data_is_eight_octets),
	        cmocka_unit_test(private_data_is_found_anywhere),
	        cmocka_unit_test(private_data_of_another_format_is_none),
	};

	return cmocka_run_group_tests_name("wire_v1", tests, NULL, NULL);
}
