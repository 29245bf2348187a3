/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks as the Requester makes them.        [v2 §3.2.2.5, §4.3, §5.2.3, §5.2.4,
 *                                              §6.2.4, §11.1]
 * The expected octets are computed from the text, word by word.
 */
#include "test_conn_spec.h"

static const uint8_t tail[4] = {0xe1, 0xe2, 0xe3, 0xe4};

/* A header with @n read segments and nothing else. */
static size_t header_of_reads(unsigned n)
{
	return 20 + 4 + n * 24 + 4 + 4 + 4;
}

/* Read segment @i of the list, which begins with the seventh word. */
static void expect_read(const struct side_msg *m, unsigned i, uint32_t position,
                        const struct side_region *r, size_t at, uint32_t length)
{
	unsigned w = 6 + 6 * i;

	assert_int_equal(spec_word(m, w), 1);
	assert_int_equal(spec_word(m, w + 1), position);
	assert_int_equal(spec_word(m, w + 2), r->handle);
	assert_int_equal(spec_word(m, w + 3), length);
	assert_int_equal((uint64_t)spec_word(m, w + 4) << 32 | spec_word(m, w + 5),
	                 (uintptr_t)r->base + at);
}

/* V2-4.3.1-01, V2-4.3.3-01, V2-4.3.4.1-01, -02, V2-4.3.5.2-01, -02 */
static void a_reduced_item_leaves_its_count_behind(void **state)
{
	const uint8_t *item = spec_octets();

	for (uint32_t len = 512; len < 520; len++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
		struct spec_call *k = spec_new(0x55, len);
		const struct side_region *r;
		const struct side_msg *m;

		spec_add(k, item, len, true);
		spec_add(k, tail, 4, false);
		m = spec_sent(s, k);
		r = spec_region(s, item);
		assert_int_equal(m->len, header_of_reads(1) + SPEC_HEAD + 4);
		expect_read(m, 0, SPEC_HEAD, r, 0, len);
		assert_int_equal(spec_word(m, 12), 0);
		assert_int_equal(r->len, len);
		assert_int_equal(r->access, 1);
		assert_memory_equal(m->p + header_of_reads(1), k->head, SPEC_HEAD);
		assert_int_equal(rr_load_u32(m->p + m->len - 8), len);
		assert_memory_equal(m->p + m->len - 4, tail, 4);
		spec_end(s, k);
	}
}

/* V2-4.3.4.4-01, V2-4.3.5-02: the second counts the first, with its padding. */
static void two_items_have_two_positions(void **state)
{
	const uint8_t *item = spec_octets();
	static const uint8_t count[4] = {0, 0, 2, 0x58};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 513);
	const struct side_msg *m;

	spec_add(k, item, 513, true);
	spec_add(k, count, 4, false);
	spec_add(k, item + 1000, 600, true);
	m = spec_sent(s, k);
	assert_int_equal(m->len, header_of_reads(2) + SPEC_HEAD + 4);
	expect_read(m, 0, 28, spec_region(s, item), 0, 513);
	expect_read(m, 1, 28 + 513 + 3 + 4, spec_region(s, item + 1000), 0, 600);
	assert_int_equal(spec_word(m, 18), 0);
	spec_end(s, k);
}

/* V2-4.3.4.4-02, -03, V2-4.3.5-07 */
static void what_follows_an_item_stays_aligned(void **state)
{
	const uint8_t *item = spec_octets();

	for (uint32_t len = 512; len < 520; len++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
		struct spec_call *k = spec_new(0x55, len);
		const struct side_msg *m;

		spec_add(k, item, len, true);
		spec_add(k, tail, 4, false);
		spec_add(k, item + 1000, 600, true);
		spec_add(k, tail, 4, false);
		m = spec_sent(s, k);
		assert_int_equal(spec_word(m, 7) & 3, 0);
		assert_int_equal(spec_word(m, 13) & 3, 0);
		/* neither the item nor its padding */
		assert_int_equal(m->len, header_of_reads(2) + SPEC_HEAD + 8);
		assert_memory_equal(m->p + m->len - 8, tail, 4);
		assert_memory_equal(m->p + m->len - 4, tail, 4);
		spec_end(s, k);
	}
}

/* V2-4.3.2-01, -02: however long, what is no item has no chunk. */
static void only_items_are_reduced(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 20000);

	spec_add(k, spec_octets(), 20000, false);
	spec_start(s, k);
	assert_int_equal(s->n_regions, 0);
	assert_int_equal(s->n_sent, 5);
	for (unsigned i = 0; i < s->n_sent; i++) {
		assert_int_equal(spec_word(&s->sent[i], 3), RDMA2_MSG);
		for (unsigned w = 5; w < 9; w++)
			assert_int_equal(spec_word(&s->sent[i], w), 0);
	}
	spec_end(s, k);
}

/* V2-4.3.4.1-03: the outer count stays, the inner ones go along. */
static void an_array_of_arrays_is_one_item(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 100);
	static uint8_t item[800];
	const struct side_region *r;
	const struct side_msg *m;

	for (unsigned i = 0; i < 100; i++)
		raw_octets("00000003 61626300", item + 8 * i, 8);
	spec_add(k, item, sizeof(item), true);
	m = spec_sent(s, k);
	r = spec_region(s, item);
	assert_int_equal(m->len, header_of_reads(1) + SPEC_HEAD);
	assert_int_equal(rr_load_u32(m->p + m->len - 4), 100);
	expect_read(m, 0, SPEC_HEAD, r, 0, 800);
	assert_memory_equal(r->base + 792, "\0\0\0\3abc\0", 8);
	spec_end(s, k);
}

/* V2-4.3.4.2-01, -02: here, and not here. */
static void optional_data_leaves_its_word(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 1), *none = spec_new(0x56, 0);
	const struct side_msg *m;

	spec_add(k, spec_octets(), 600, true);
	m = spec_sent(s, k);
	assert_int_equal(rr_load_u32(m->p + m->len - 4), 1);
	assert_int_equal(m->len, header_of_reads(1) + SPEC_HEAD);
	expect_read(m, 0, SPEC_HEAD, spec_region(s, spec_octets()), 0, 600);
	side_forget_sent(s);
	m = spec_sent(s, none);
	assert_int_equal(m->len, header_of_reads(0) + SPEC_HEAD);
	assert_int_equal(spec_word(m, 6), 0);
	assert_int_equal(rr_load_u32(m->p + m->len - 4), 0);
	raw_end(s);
	free(k);
	free(none);
}

/* V2-4.4.1.1-01 */
static void small_items_stay_inline(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 5);
	const struct side_msg *m;

	spec_add(k, "small", 5, true);
	spec_add(k, tail, 4, false);
	spec_add(k, spec_octets(), 600, true);
	m = spec_sent(s, k);
	assert_int_equal(m->len, header_of_reads(1) + SPEC_HEAD + 8 + 4);
	expect_read(m, 0, SPEC_HEAD + 8 + 4, spec_region(s, spec_octets()), 0, 600);
	assert_memory_equal(m->p + m->len - 12, "small\0\0\0", 8);
	spec_end(s, k);
}

/* V2-5.2.3-02, V2-4.3.4-02, V2-4.3.5-03: one region, one Position. */
static void split_by(struct side *s, uint32_t size)
{
	struct spec_call *k = spec_new(0x55, 3500);
	static uint8_t result[1701];
	const struct side_region *r, *w;
	const struct side_msg *m;
	unsigned n = 0, at = 0;

	spec_add(k, spec_octets(), 3500, true);
	spec_dest(k, result, sizeof(result));
	m = spec_sent(s, k);
	r = spec_region(s, spec_octets());
	w = spec_region(s, result);
	for (uint32_t off = 0; off < 3500; off += size)
		expect_read(m, n++, SPEC_HEAD, r, off, RR_MIN(size, 3500 - off));
	at = 6 + 6 * n;
	assert_int_equal(spec_word(m, at++), 0);
	assert_int_equal(spec_word(m, at++), 1);
	assert_int_equal(spec_word(m, at++), (1701 + size - 1) / size);
	for (uint32_t off = 0; off < 1701; off += size, at += 4) {
		assert_int_equal(spec_word(m, at), w->handle);
		assert_int_equal(spec_word(m, at + 1), RR_MIN(size, 1701 - off));
		assert_int_equal((uint64_t)spec_word(m, at + 2) << 32 |
		                         spec_word(m, at + 3),
		                 (uintptr_t)result + off);
	}
	assert_int_equal(spec_word(m, at), 0);
	spec_end(s, k);
}

static void segments_are_as_the_peer_wants_them(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 700};

	split_by(raw_ready_by(RR_CONN_CLIENT, NULL,
	                      "00000001" PROP("00000003", "000003e8")),
	         1000);
	split_by(raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000"), 700);
	split_by(raw_ready_by(RR_CONN_CLIENT, &cfg,
	                      "00000001" PROP("00000003", "000003e8")),
	         700);
}

/* V2-5.2.4-02: Read, Write and Reply segments together. [P12] */
static void no_header_has_more_segments_than_the_peer_takes(void **state)
{
	const struct rr_conn_config cfg = {.segment_bytes = 1000};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg,
	                              "00000001" PROP("00000004", "00000003"));
	struct spec_call *k = spec_new(0x55, 2000);
	static uint8_t result[1000];
	const struct side_msg *m;

	spec_add(k, spec_octets(), 2000, true);
	spec_add(k, tail, 4, false);
	spec_add(k, spec_octets() + 4000, 600, true);
	spec_dest(k, result, 1000);
	k->call.reply_bytes = 500000; /* a Reply chunk would take 500 more */
	m = spec_sent(s, k);
	assert_int_equal(s->n_regions, 2);
	expect_read(m, 0, SPEC_HEAD, spec_region(s, spec_octets()), 0, 1000);
	expect_read(m, 1, SPEC_HEAD, spec_region(s, spec_octets()), 1000, 1000);
	assert_int_equal(spec_word(m, 18), 0);
	assert_int_equal(spec_word(m, 19), 1); /* a Write chunk */
	assert_int_equal(spec_word(m, 20), 1); /* of one segment */
	assert_int_equal(spec_word(m, 25), 0);
	assert_int_equal(spec_word(m, 26), 0);
	assert_int_equal(m->len, 27 * 4 + SPEC_HEAD + 4 + 600);
	spec_end(s, k);
}

/* V2-4.3.6-03, V2-4.3.6.2-01 */
static void write_chunks_are_as_long_as_the_destination(void **state)
{
	static uint8_t result[16];

	for (uint32_t len = 5; len < 10; len++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
		struct spec_call *k = spec_new(0x55, 0);
		const struct side_msg *m;

		spec_dest(k, result, len);
		m = spec_sent(s, k);
		assert_int_equal(spec_word(m, 6), 0);
		assert_int_equal(spec_word(m, 7), 1);
		assert_int_equal(spec_word(m, 8), 1);
		assert_int_equal(spec_word(m, 10), len);
		assert_int_equal(spec_region(s, result)->len, len);
		assert_int_equal(spec_region(s, result)->access, 2);
		spec_end(s, k);
	}
}

/* -- how long memory stays registered -------------------------------------- */

/* V2-3.2.2.5-01, V2-4.3.5.1-03, V2-11.1.3-02 */
static void memory_stays_registered_until_the_reply(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *k = spec_new(0x55, 600);

	spec_add(k, spec_octets(), 600, true);
	spec_start(s, k);
	assert_int_equal(side_valid_regions(s), 1);
	raw_receive(s, GRANT("0001"));
	raw_receive(s, "00000056" MSG_REPLY EMPTY REPLY("00000056"));
	assert_int_equal(side_valid_regions(s), 1);
	assert_int_equal(s->calls_done, 0);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(side_valid_regions(s), 0);
	assert_int_equal(s->calls_done, 1);
	rr_conn_call_release(s->c, &k->call, s->now);
	spec_end(s, k);
}

/* V2-11.1.2-02, V2-11.1.3-01: not while the Call waits, not on an idle
 * connection. */
static void memory_is_registered_for_a_call_only(void **state)
{
	struct side *s = raw_new(RR_CONN_CLIENT, NULL);
	struct spec_call *first = spec_new(0x54, 0), *k = spec_new(0x55, 600);

	raw_receive(s, "00000077 00000002 00200001 00000005 00000000 00000000");
	side_forget_sent(s);
	assert_int_equal(side_valid_regions(s), 0);
	spec_start(s, first); /* takes the credit */
	spec_add(k, spec_octets(), 600, true);
	spec_start(s, k);
	assert_int_equal(s->n_sent, 1);
	assert_int_equal(side_valid_regions(s), 0);
	raw_receive(s, GRANT("0001"));
	assert_int_equal(s->n_sent, 2);
	assert_int_equal(side_valid_regions(s), 1);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(side_valid_regions(s), 0);
	rr_conn_call_release(s->c, &k->call, s->now);
	raw_end(s);
	free(first);
	free(k);
}

/* V2-11.1.3-03, V2-C.7-03: from here, unless the Responder did it. */
static void the_caller_waits_for_the_invalidation(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	static uint8_t buf[256], result[100];

	for (unsigned remote = 0; remote < 2; remote++) {
		struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
		struct spec_call *k = spec_new(0x55, 0);
		uint32_t handle;
		char hex[300];

		spec_dest(k, result, 100);
		spec_start(s, k);
		handle = spec_region(s, result)->handle;
		sprintf(hex,
		        "00000055" MSG_REPLY "00000000 00000000 00000001 00000001 %08x "
		        "00000000 %016llx 00000000 00000000" REPLY("00000055"),
		        handle, (unsigned long long)(uintptr_t)result);
		side_receive(s, buf, raw_octets(hex, buf, sizeof(buf)),
		             remote ? handle : 0);
		assert_int_equal(s->calls_done, remote);
		assert_int_equal(side_valid_regions(s), 0);
		side_complete_all(s);
		assert_int_equal(s->calls_done, 1);
		assert_int_equal(k->call.status, RR_CALL_OK);
		rr_conn_call_release(s->c, &k->call, s->now);
		spec_end(s, k);
	}
}

/* V2-11.1.4-06 */
static void calls_given_up_do_not_stop_others(void **state)
{
	struct side *s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	struct spec_call *other = spec_new(0x55, 0);

	spec_start(s, other);
	for (uint32_t i = 0; i < 300; i++) {
		struct spec_call *k = spec_new(0x1000 + i, 600);

		spec_add(k, spec_octets(), 600, true);
		spec_start(s, k);
		rr_conn_cancel(s->c, &k->call, s->now);
		side_drain(s);
		side_complete_all(s);
		assert_int_equal(k->call.status, -ECANCELED);
		assert_int_equal(side_valid_regions(s), 0);
		side_forget_sent(s);
		raw_receive(s, GRANT("0001"));
		free(k);
	}
	assert_false(s->disconnect);
	assert_int_equal(s->calls_done, 300);
	raw_receive(s, "00000055" MSG_REPLY EMPTY REPLY("00000055"));
	assert_int_equal(other->call.status, RR_CALL_OK);
	assert_int_equal(s->calls_done, 301);
	rr_conn_call_release(s->c, &other->call, s->now);
	spec_end(s, other);
}

/* -- remote invalidation --------------------------------------------------- */

/* V2-6.2.4-01, V2-C.7-01: registered for this Call, and no other. */
static void inv_handle_is_one_of_the_header(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	static uint8_t result[2][100];
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	struct spec_call *k[2];

	for (unsigned i = 0; i < 2; i++) {
		const struct side_msg *m;
		uint32_t inv;

		k[i] = spec_new(0x55 + i, 600);
		spec_add(k[i], spec_octets(), 600, true);
		spec_dest(k[i], result[i], 100);
		m = spec_sent(s, k[i]);
		inv = spec_word(m, 5);
		assert_int_not_equal(inv, 0);
		/* Read segment: words 6 to 11; Write segment: 15 to 18 */
		assert_true(inv == spec_word(m, 8) || inv == spec_word(m, 15));
		assert_int_equal(spec_word(m, 15), spec_region(s, result[i])->handle);
		side_forget_sent(s);
	}
	raw_end(s);
	free(k[0]);
	free(k[1]);
}

/* V2-6.2.4-02 */
static void inv_handle_is_zero_without_support_or_chunks(void **state)
{
	const struct rr_conn_config cfg = {.remote_invalidate = true};
	struct side *s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	struct spec_call *k = spec_new(0x55, 0);

	assert_int_equal(spec_word(spec_sent(s, k), 5), 0);
	spec_end(s, k);
	s = raw_ready_by(RR_CONN_CLIENT, NULL, "00000000");
	k = spec_new(0x55, 600);
	spec_add(k, spec_octets(), 600, true);
	assert_int_equal(spec_word(spec_sent(s, k), 5), 0);
	assert_int_equal(s->n_regions, 1);
	spec_end(s, k);
	/* the device cannot, found out when it was known */
	s = raw_ready_by(RR_CONN_CLIENT, &cfg, "00000000");
	rr_conn_no_remote_inv_in(s->c);
	k = spec_new(0x55, 600);
	spec_add(k, spec_octets(), 600, true);
	assert_int_equal(spec_word(spec_sent(s, k), 5), 0);
	assert_int_equal(s->n_regions, 1);
	spec_end(s, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_reduced_item_leaves_its_count_behind),
	        cmocka_unit_test(two_items_have_two_positions),
	        cmocka_unit_test(what_follows_an_item_stays_aligned),
	        cmocka_unit_test(only_items_are_reduced),
	        cmocka_unit_test(an_array_of_arrays_is_one_item),
	        cmocka_unit_test(optional_data_leaves_its_word),
	        cmocka_unit_test(small_items_stay_inline),
	        cmocka_unit_test(segments_are_as_the_peer_wants_them),
	        cmocka_unit_test(no_header_has_more_segments_than_the_peer_takes),
	        cmocka_unit_test(write_chunks_are_as_long_as_the_destination),
	        cmocka_unit_test(memory_stays_registered_until_the_reply),
	        cmocka_unit_test(memory_is_registered_for_a_call_only),
	        cmocka_unit_test(the_caller_waits_for_the_invalidation),
	        cmocka_unit_test(calls_given_up_do_not_stop_others),
	        cmocka_unit_test(inv_handle_is_one_of_the_header),
	        cmocka_unit_test(inv_handle_is_zero_without_support_or_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
