/* SPDX-License-Identifier: BSD-3-Clause */
/* The cursor over pieces: the same values however the octets came; what is too short,
 * too long or an item in a wrong place is refused; nothing is read past a piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include <rpcrdma/cursor.h>

enum { MAX_NAME = 8, MAX_DATA = 16 };

/* 7, "abcde", 2^32 + 1, fixed "xyz", opaque of 6, 9 */
static const uint8_t message[] = {
        0, 0, 0,   7,   0,   0,   0,   5,   'a', 'b', 'c', 'd', 'e', 0, 0,
        0, 0, 0,   0,   1,   0,   0,   0,   1,   'x', 'y', 'z', 0,   0, 0,
        0, 6, 'i', 't', 'e', 'm', '!', '!', 0,   0,   0,   0,   0,   9,
};
enum { NAME_AT = 8, XYZ_AT = 24, DATA_AT = 32, DATA = 6, LAST_AT = 40 };

struct result {
	uint32_t first, name_len, data_len, last;
	uint64_t big;
	char name[MAX_NAME], xyz[3], data[MAX_DATA];
};

static int read_all(struct rpcrdma_cursor *c, struct result *r)
{
	char name[MAX_NAME], data[MAX_DATA];
	const void *p;

	memset(r, 0, sizeof(*r));
	r->first = rpcrdma_cursor_u32(c);
	p = rpcrdma_cursor_opaque(c, name, MAX_NAME, &r->name_len);
	memcpy(r->name, p ? p : "", r->name_len);
	r->big = rpcrdma_cursor_u64(c);
	(void)rpcrdma_cursor_copy(c, r->xyz, 3);
	p = rpcrdma_cursor_opaque(c, data, MAX_DATA, &r->data_len);
	memcpy(r->data, p ? p : "", r->data_len);
	r->last = rpcrdma_cursor_u32(c);
	return rpcrdma_cursor_end(c);
}

static void check(const struct rpcrdma_piece *p, unsigned n)
{
	struct rpcrdma_cursor c;
	struct result r;

	rpcrdma_cursor_init(&c, p, n);
	assert_int_equal(read_all(&c, &r), 0);
	assert_int_equal(r.first, 7);
	assert_int_equal(r.name_len, 5);
	assert_memory_equal(r.name, "abcde", 5);
	assert_true(r.big == (1ull << 32) + 1);
	assert_memory_equal(r.xyz, "xyz", 3);
	assert_int_equal(r.data_len, DATA);
	assert_memory_equal(r.data, "item!!", DATA);
	assert_int_equal(r.last, 9);
}

/* A copy of its own, so that the sanitizer sees a read past its end. */
static struct rpcrdma_piece own(const void *octets, size_t len, bool item)
{
	void *p = malloc(len ? len : 1);

	assert_non_null(p);
	memcpy(p, octets, len);
	return (struct rpcrdma_piece){p, len, item};
}

static void disown(const struct rpcrdma_piece *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free((void *)(uintptr_t)p[i].base);
}

static void pieces_cut_anywhere_read_the_same(void **state)
{
	for (size_t a = 0; a <= sizeof(message); a++)
		for (size_t b = a; b <= sizeof(message); b++) {
			struct rpcrdma_piece p[3] = {
			        own(message, a, false), own(message + a, b - a, false),
			        own(message + b, sizeof(message) - b, false)};

			check(p, 3);
			disown(p, 3);
		}
}

/* Without roundup, with it in the chunk, and with it behind the chunk. */
static void items_in_pieces_of_their_own_read_the_same(void **state)
{
	for (unsigned way = 0; way < 3; way++) {
		size_t len = way == 1 ? DATA + 2 : DATA;
		size_t on = way == 2 ? DATA_AT + DATA : LAST_AT;
		struct rpcrdma_piece p[5] = {
		        own(message, NAME_AT, false), own("abcde", 5, true),
		        own(message + NAME_AT + 8, DATA_AT - NAME_AT - 8, false),
		        own(message + DATA_AT, len, true),
		        own(message + on, sizeof(message) - on, false)};

		check(p, 5);
		disown(p, 5);
	}
}

static void every_proper_prefix_is_refused(void **state)
{
	for (size_t n = 0; n < sizeof(message); n++) {
		struct rpcrdma_piece p = own(message, n, false);
		struct rpcrdma_cursor c;
		struct result r;

		rpcrdma_cursor_init(&c, &p, 1);
		assert_int_equal(read_all(&c, &r), -EBADMSG);
		assert_int_equal(rpcrdma_cursor_left(&c), 0);
		disown(&p, 1);
	}
}

static void what_is_left_behind_the_last_read_is_refused(void **state)
{
	static const uint8_t more[sizeof(message) + 4];
	struct rpcrdma_piece p[2] = {{message, sizeof(message), false},
	                             {more, 0, false}};
	struct rpcrdma_cursor c;
	struct result r;

	check(p, 2); /* a piece of no octets is nothing */
	for (unsigned i = 0; i < 2; i++) {
		p[1] = (struct rpcrdma_piece){more, 1, i};
		rpcrdma_cursor_init(&c, p, 2);
		assert_int_equal(read_all(&c, &r), -EBADMSG);
	}
}

/* At the end of the message an item may have its roundup, in its chunk or behind it. */
static void an_item_at_the_end(void **state)
{
	static const struct {
		size_t len, tail;
		int result;
	} rows[] = {{5, 0, 0},        {8, 0, 0},        {5, 3, 0},
	            {4, 0, -EBADMSG}, {6, 0, -EBADMSG}, {7, 0, -EBADMSG},
	            {9, 0, -EBADMSG}, {5, 1, -EBADMSG}, {5, 4, -EBADMSG},
	            {8, 3, -EBADMSG}, {5, 7, -EBADMSG}};
	static const uint8_t len[4] = {0, 0, 0, 5}, octets[16] = "abcde";

	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct rpcrdma_piece p[3] = {own(len, 4, false),
		                             own(octets, rows[i].len, true),
		                             own(octets, rows[i].tail, false)};
		struct rpcrdma_cursor c;
		const void *at;
		uint32_t n;

		rpcrdma_cursor_init(&c, p, rows[i].tail ? 3 : 2);
		at = rpcrdma_cursor_opaque(&c, NULL, 100, &n);
		assert_int_equal(rpcrdma_cursor_end(&c), rows[i].result);
		if (!rows[i].result)
			assert_ptr_equal(at, p[1].base); /* no copy */
		disown(p, 3);
	}
}

static void lengths_beyond_the_bound_or_the_message_are_refused(void **state)
{
	static const uint32_t lies[] = {9, 0x7fffffff, 0x80000000, UINT32_MAX};
	struct rpcrdma_cursor c;
	uint32_t n;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(lies); i++) {
		uint8_t m[12] = {(uint8_t)(lies[i] >> 24), (uint8_t)(lies[i] >> 16),
		                 (uint8_t)(lies[i] >> 8), (uint8_t)lies[i]};

		rpcrdma_cursor_init_octets(&c, m, sizeof(m));
		n = 1;
		assert_null(rpcrdma_cursor_opaque(&c, NULL, UINT32_MAX, &n));
		assert_int_equal(n, 0);
		assert_int_equal(rpcrdma_cursor_error(&c), -EBADMSG);
		rpcrdma_cursor_init_octets(&c, m, sizeof(m));
		assert_null(rpcrdma_cursor_opaque(&c, m, 8, &n));
		assert_int_equal(rpcrdma_cursor_error(&c), -EBADMSG);
	}
	rpcrdma_cursor_init_octets(&c, message, sizeof(message));
	rpcrdma_cursor_skip(&c, SIZE_MAX);
	assert_int_equal(rpcrdma_cursor_error(&c), -EBADMSG);
	/* One octet above the bound, and the bound. */
	rpcrdma_cursor_init_octets(&c, message + 4, 12);
	assert_null(rpcrdma_cursor_opaque(&c, NULL, 4, &n));
	rpcrdma_cursor_init_octets(&c, message + 4, 12);
	assert_ptr_equal(rpcrdma_cursor_opaque(&c, NULL, 5, &n), message + NAME_AT);
}

/* Numbers do not lie in items, and no opaque lies half in one. */
static void reads_do_not_cross_the_border_of_an_item(void **state)
{
	const struct rpcrdma_piece item = {message, 8, true};
	const struct rpcrdma_piece half[2] = {{message, 4, false}, {message, 4, true}};
	struct rpcrdma_cursor c;
	uint8_t buf[8];

	rpcrdma_cursor_init(&c, &item, 1);
	assert_int_equal(rpcrdma_cursor_u32(&c), 0);
	assert_int_equal(rpcrdma_cursor_error(&c), -EBADMSG);
	rpcrdma_cursor_init(&c, half, 2);
	assert_true(rpcrdma_cursor_u64(&c) == 0);
	assert_int_equal(rpcrdma_cursor_error(&c), -EBADMSG);
	memset(buf, 0x5a, sizeof(buf));
	rpcrdma_cursor_init(&c, half, 2);
	assert_false(rpcrdma_cursor_copy(&c, buf, 8));
	assert_int_equal(buf[0], 0x5a);
	rpcrdma_cursor_init(&c, half, 2);
	assert_null(rpcrdma_cursor_fixed(&c, buf, 8));
	rpcrdma_cursor_init(&c, half, 2);
	rpcrdma_cursor_skip(&c, 8);
	assert_int_equal(rpcrdma_cursor_end(&c), -EBADMSG);
}

static void octets_are_copied_only_where_they_lie_apart(void **state)
{
	const struct rpcrdma_piece p[2] = {{message, 10, false},
	                                   {message + 10, sizeof(message) - 10, false}};
	struct rpcrdma_cursor c, again;
	char buf[MAX_NAME];
	uint32_t n;

	rpcrdma_cursor_init(&c, p, 2);
	assert_int_equal(rpcrdma_cursor_left(&c), sizeof(message));
	assert_int_equal(rpcrdma_cursor_u32(&c), 7);
	again = c;
	assert_ptr_equal(rpcrdma_cursor_opaque(&c, buf, MAX_NAME, &n), buf);
	assert_memory_equal(buf, "abcde", 5);
	rpcrdma_cursor_skip(&c, 8);
	assert_ptr_equal(rpcrdma_cursor_fixed(&c, buf, 3), message + XYZ_AT);
	assert_int_equal(rpcrdma_cursor_left(&c), sizeof(message) - XYZ_AT - 3);
	assert_null(rpcrdma_cursor_opaque(&again, NULL, MAX_NAME, &n));
	assert_int_equal(rpcrdma_cursor_error(&again), -EBADMSG);
	/* The first error stays, and nothing is read any more. */
	assert_int_equal(rpcrdma_cursor_u32(&again), 0);
	assert_int_equal(rpcrdma_cursor_end(&again), -EBADMSG);
}

static void an_opaque_of_no_octets_is_one(void **state)
{
	static const uint8_t zero[4];
	struct rpcrdma_cursor c;
	uint32_t n = 1;

	rpcrdma_cursor_init_octets(&c, zero, 4);
	assert_non_null(rpcrdma_cursor_opaque(&c, NULL, 0, &n));
	assert_int_equal(n, 0);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
	rpcrdma_cursor_init_octets(&c, NULL, 0);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
}

/* [ext §7.3 V36], [ext §7.3 V37] */
static void results_are_read_from_where_they_were_placed(void **state)
{
	static const uint8_t placed[4] = {0, 0, 0, 6}, inlined[] = "\0\0\0\6item!!\0";
	struct rpcrdma_dest d = {.len = 6, .ret_len = 6, .ret_base = message + DATA_AT};
	struct rpcrdma_reply r = {.results = placed, .len = 4};
	struct rpcrdma_cursor c;
	uint32_t n;

	d.ret_used = d.ret_offered = true;
	rpcrdma_reply_cursor(&r, &c);
	assert_ptr_equal(rpcrdma_cursor_dest(&c, &d, &n), message + DATA_AT);
	assert_int_equal(n, 6);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
	for (d.ret_len = 5; d.ret_len < 8; d.ret_len += 2) { /* another length */
		rpcrdma_reply_cursor(&r, &c);
		assert_null(rpcrdma_cursor_dest(&c, &d, &n));
		assert_int_equal(n, 0);
		assert_int_equal(rpcrdma_cursor_end(&c), -EBADMSG);
	}
	d.ret_len = 6;
	d.len = 5; /* more than there was room for */
	rpcrdma_reply_cursor(&r, &c);
	assert_null(rpcrdma_cursor_dest(&c, &d, &n));
	d = (struct rpcrdma_dest){.len = 6};
	r = (struct rpcrdma_reply){.results = inlined, .len = sizeof(inlined)};
	rpcrdma_reply_cursor(&r, &c);
	assert_ptr_equal(rpcrdma_cursor_dest(&c, &d, &n), inlined + 4);
	assert_int_equal(rpcrdma_cursor_end(&c), 0);
	d.len = 5;
	rpcrdma_reply_cursor(&r, &c);
	assert_null(rpcrdma_cursor_dest(&c, &d, &n));
	d = (struct rpcrdma_dest){.len = 6, .ret_offered = true};
	rpcrdma_reply_cursor(&r, &c);
	assert_null(rpcrdma_cursor_dest(&c, &d, &n)); /* [v2 §A.1] */
	assert_int_equal(rpcrdma_cursor_end(&c), -EPROTO);
	r.len = 3;
	rpcrdma_reply_cursor(&r, &c);
	assert_null(rpcrdma_cursor_dest(&c, &d, &n));
	assert_int_equal(rpcrdma_cursor_end(&c), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(pieces_cut_anywhere_read_the_same),
	        cmocka_unit_test(items_in_pieces_of_their_own_read_the_same),
	        cmocka_unit_test(every_proper_prefix_is_refused),
	        cmocka_unit_test(what_is_left_behind_the_last_read_is_refused),
	        cmocka_unit_test(an_item_at_the_end),
	        cmocka_unit_test(lengths_beyond_the_bound_or_the_message_are_refused),
	        cmocka_unit_test(reads_do_not_cross_the_border_of_an_item),
	        cmocka_unit_test(octets_are_copied_only_where_they_lie_apart),
	        cmocka_unit_test(an_opaque_of_no_octets_is_one),
	        cmocka_unit_test(results_are_read_from_where_they_were_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
