/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's checks of a group: each canonical layout is accepted, and each field
 * that is wrong is reported with the values of [ext §5.7].
 * NS-rtrext-12, NS-s12-05, NS-s16-02.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conn/rtr/rtr_placement.h"

enum { MAX_COUNT = 64 };

/* A group in 1 KiB + n x bytes buffers, as the canonical sender makes it. */
struct sample {
	struct rr_rbstruct s;
	struct rr_rtr_load l;
	struct rr_rtr_plan p;
	struct rr_rtr_header h;
	struct rr_rtr_got got[MAX_COUNT];
};

static struct rr_rtr_placement placed;
static struct rr_rtr_error fault;

static void make_structure(struct sample *k, uint32_t n, uint32_t bytes)
{
	k->s = (struct rr_rbstruct){
	        .length = 1024 + n * bytes,
	        .n_groups = 2,
	        .total_groups = 2,
	        .group = {{1, 1024, 4, 0}, {n, bytes, 4096, XMRSFLAG_DDP}},
	};
}

/* Makes the header and the transmissions from the plan. */
static void transmit_sample(struct sample *k)
{
	struct rr_rtr_walk w;
	struct rr_rtr_part part;
	struct rr_rtr_fill f;
	unsigned at = 0;

	rr_rtr_init(&k->h);
	k->h.count = k->p.count;
	for (unsigned i = 0; i < k->l.n_items; i++) {
		assert_int_equal(rr_rtr_add_item(&k->h, 8, k->l.item[i], XMDTYPE_TBSN),
		                 0);
		for (unsigned j = 0; j < k->p.tbsns[i]; j++)
			assert_int_equal(rr_rtr_add_tbsn(&k->h, k->p.tbsn[at++]), 0);
	}
	rr_rtr_walk_begin(&w, &k->l, k->p.header);
	while (rr_rtr_walk_next(&w, &part) > 0) {
		uint32_t len = part.header + part.payload;

		while (rr_rtr_walk_fill(&w, &f))
			len += f.pad + f.length;
		k->got[part.number] =
		        (struct rr_rtr_got){len, part.header, part.payload};
	}
}

static void make_sample(struct sample *k, uint32_t n, uint32_t bytes, uint64_t payload,
                        unsigned n_items, const uint32_t *item)
{
	make_structure(k, n, bytes);
	k->l = (struct rr_rtr_load){
	        .buffer = &k->s,
	        .limit = k->s.length,
	        .header = 56 + 20 * n_items,
	        .payload = payload,
	        .n_items = n_items,
	};
	memcpy(k->l.item, item, n_items * sizeof(*item));
	assert_int_equal(rr_rtr_plan(&k->l, MAX_COUNT, &k->p), 0);
	transmit_sample(k);
}

static int place(struct sample *k)
{
	return rr_rtr_place(&k->s, &k->h, k->got, &placed, &fault);
}

static void expect_report(struct sample *k, uint32_t code, uint32_t number,
                          uint32_t value, uint32_t least, uint32_t most)
{
	assert_int_equal(place(k), -EPROTO);
	assert_int_equal(fault.code, code);
	assert_int_equal(fault.bad.seq, number);
	assert_int_equal(fault.arg[0], value);
	assert_int_equal(fault.arg[1], least);
	assert_int_equal(fault.arg[2], most);
}

/* An 8K WRITE in one transmission of 1K + 8K. */
static void write_8k(struct sample *k)
{
	const uint32_t item = 8192;

	make_sample(k, 1, 8192, 180, 1, &item);
}

/* A 64K WRITE in eight of them. */
static void write_64k(struct sample *k)
{
	const uint32_t item = 65536;

	make_sample(k, 1, 8192, 180, 1, &item);
}

/* -- accepted -------------------------------------------------------------- */

static void the_example_is_accepted(void **state)
{
	struct sample k;

	(void)state;
	write_8k(&k);
	assert_int_equal(place(&k), 0);
	assert_int_equal(placed.n, 1);
	assert_int_equal(placed.fragment[0].at, 1024);
	assert_int_equal(placed.fragment[0].length, 8192);
	write_64k(&k);
	assert_int_equal(place(&k), 0);
	assert_int_equal(placed.n, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(placed.fragment[i].number, i);
}

/* Every octet of every item is found, and none twice, in whatever shape. */
static void random_groups_are_found_again(void **state)
{
	struct rr_rng rng;

	(void)state;
	rr_rng_seed(&rng, 4711);
	for (unsigned round = 0; round < 3000; round++) {
		unsigned n_items = (unsigned)rr_rng_below(&rng, 4);
		uint32_t n = 1 + (uint32_t)rr_rng_below(&rng, 4);
		uint32_t bytes = 1024u << rr_rng_below(&rng, 4);
		uint32_t item[4];
		uint64_t found[4] = {0};
		struct sample k;

		for (unsigned i = 0; i < n_items; i++)
			item[i] = (uint32_t)rr_rng_below(&rng, 12000);
		make_sample(&k, n, bytes, rr_rng_below(&rng, 3000) * 4, n_items, item);
		assert_int_equal(place(&k), 0);
		for (unsigned i = 0; i < placed.n; i++) {
			const struct rr_rtr_fragment *f = &placed.fragment[i];

			assert_true(f->length > 0);
			assert_true(f->at + f->length <= k.got[f->number].length);
			found[f->item] += f->length;
		}
		for (unsigned i = 0; i < n_items; i++)
			assert_int_equal(found[i], item[i]);
	}
}

/* NS-s16-02: two items in one segment. */
static void items_may_share_a_segment(void **state)
{
	const uint32_t item[] = {4, 100};
	struct sample k;

	(void)state;
	make_sample(&k, 2, 4096, 180, 2, item);
	k.h.tbsn[1] = 0;
	k.h.item[1].offset = 4;
	assert_int_equal(place(&k), 0);
	assert_int_equal(placed.n, 2);
	assert_int_equal(placed.fragment[1].at, 1028);
}

static void adjacent_segments_are_one_fragment(void **state)
{
	const uint32_t item = 8000;
	struct sample k;

	(void)state;
	make_sample(&k, 2, 4096, 180, 1, &item);
	assert_int_equal(place(&k), 0);
	assert_int_equal(placed.n, 1);
	assert_int_equal(placed.fragment[0].length, 8000);
	assert_int_equal(placed.fragment[0].tbsn, 1);
}

static void items_by_explicit_rdma_are_elsewhere(void **state)
{
	struct sample k;

	(void)state;
	write_8k(&k);
	k.h.item[0].type = XMDTYPE_EXRW;
	assert_int_equal(place(&k), 0);
	assert_int_equal(placed.n, 0);
}

/* -- reported -------------------------------------------------------------- */

static void a_payload_beyond_the_send_is_reported(void **state)
{
	struct sample k;

	(void)state;
	write_64k(&k);
	k.got[3].pslen = 9185;
	expect_report(&k, OPTRERR_BADPL, 3, 9185, 0, 9216 - 32);
	k.got[3].pslen = UINT32_MAX;
	expect_report(&k, OPTRERR_BADPL, 3, UINT32_MAX, 0, 9216 - 32);
}

static void a_segment_number_out_of_range_is_reported(void **state)
{
	struct sample k;

	(void)state;
	write_64k(&k);
	k.h.tbsn[2] = 9;
	expect_report(&k, OPTRERR_BADTBSN, 0, 9, 0, 7);
	k.h.tbsn[2] = 8;
	expect_report(&k, OPTRERR_BADTBSN, 0, 8, 0, 7);
	make_structure(&k, 0, 8192);
	k.s.n_groups = 1; /* nothing is targetable */
	expect_report(&k, OPTRERR_BADTBSN, 0, 0, 0, 0);
}

static void octets_that_were_not_received_are_reported(void **state)
{
	struct sample k;

	(void)state;
	write_64k(&k);
	k.got[5].length -= 4;
	expect_report(&k, OPTRERR_BADTBSN, 5, 5, 0, 7);
}

static void an_offset_out_of_range_is_reported(void **state)
{
	struct sample k;

	(void)state;
	write_8k(&k);
	k.h.item[0].offset = 8192;
	expect_report(&k, OPTRERR_BADOFF, 0, 8192, 0, 8191);
	k.h.item[0].offset = 2;
	expect_report(&k, OPTRERR_BADOFF, 0, 2, 0, 8191);
	k.h.item[0].offset = UINT32_MAX;
	expect_report(&k, OPTRERR_BADOFF, 0, UINT32_MAX, 0, 8191);
}

static void a_wrong_number_of_segments_is_reported(void **state)
{
	struct sample k;

	(void)state;
	write_64k(&k);
	k.h.item[0].where.count = 7;
	expect_report(&k, OPTRERR_BADTBSN, 0, 7, 8, 8);
	k.h.item[0].where.count = 0;
	expect_report(&k, OPTRERR_BADTBSN, 0, 0, 8, 8);
	k.h.item[0].where.count = 8;
	k.h.item[0].length = 57344;
	expect_report(&k, OPTRERR_BADTBSN, 0, 8, 7, 7);
	k.h.item[0].where.count = 0;
	make_structure(&k, 0, 8192);
	k.s.n_groups = 1;
	expect_report(&k, OPTRERR_BADTBSN, 0, 0, 1, 1);
}

/* An offset in the first segment counts for the number of segments. */
static void an_offset_may_need_another_segment(void **state)
{
	struct sample k;

	(void)state;
	write_8k(&k);
	k.h.item[0].offset = 4;
	expect_report(&k, OPTRERR_BADTBSN, 0, 1, 2, 2);
}

static void an_item_over_the_payload_is_reported(void **state)
{
	struct sample k;

	(void)state;
	write_8k(&k);
	k.got[0].pslen = 1024 - 72 + 10; /* ten octets into the segment */
	k.got[0].header = 72;
	expect_report(&k, OPTRERR_BADOFF, 0, 0, 12, 8191);
}

static void items_over_each_other_are_reported(void **state)
{
	const uint32_t item[] = {4096, 100, 50};
	struct sample k;

	(void)state;
	make_sample(&k, 4, 4096, 180, 3, item);
	k.h.tbsn[2] = 1; /* the third item over the second */
	expect_report(&k, OPTRERR_BADOFF, 0, 0, 100, 4095);
	k.h.tbsn[2] = 0;
	k.h.item[2].offset = 40;
	expect_report(&k, OPTRERR_BADOFF, 0, 40, 4096, 4095);
}

/* One field of a random group is changed: the group is refused, or every fragment is
 * still within what was received and apart from the others. */
static void hostile_numbers_never_lead_outside(void **state)
{
	struct rr_rng rng;
	unsigned refused = 0;

	(void)state;
	rr_rng_seed(&rng, 1);
	for (unsigned round = 0; round < 3000; round++) {
		const uint32_t item[] = {(uint32_t)rr_rng_below(&rng, 20000), 5000};
		struct sample k;

		make_sample(&k, 2, 4096, rr_rng_below(&rng, 900) * 4, 2, item);
		switch (rr_rng_below(&rng, 4)) {
		case 0:
			k.h.tbsn[rr_rng_below(&rng, k.h.n_tbsns)] =
			        (uint32_t)rr_rng_below(&rng, 12);
			break;
		case 1:
			k.h.item[1].offset = (uint32_t)rr_rng_below(&rng, 5000);
			break;
		case 2:
			k.got[rr_rng_below(&rng, k.h.count)].length =
			        80 + (uint32_t)rr_rng_below(&rng, 9000);
			break;
		default:
			k.h.item[1].length = (uint32_t)rr_rng_next(&rng);
		}
		for (uint32_t i = 0; i < k.h.count; i++)
			k.got[i].length = RR_MAX(k.got[i].length, k.got[i].header);
		if (place(&k)) {
			refused++;
			continue;
		}
		for (unsigned i = 0; i < placed.n; i++) {
			const struct rr_rtr_fragment *f = &placed.fragment[i];
			const struct rr_rtr_got *g = &k.got[f->number];

			assert_true(f->at >= g->header + g->pslen);
			assert_true(f->at + f->length <= g->length);
		}
	}
	assert_true(refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_example_is_accepted),
	        cmocka_unit_test(random_groups_are_found_again),
	        cmocka_unit_test(items_may_share_a_segment),
	        cmocka_unit_test(adjacent_segments_are_one_fragment),
	        cmocka_unit_test(items_by_explicit_rdma_are_elsewhere),
	        cmocka_unit_test(a_payload_beyond_the_send_is_reported),
	        cmocka_unit_test(a_segment_number_out_of_range_is_reported),
	        cmocka_unit_test(octets_that_were_not_received_are_reported),
	        cmocka_unit_test(an_offset_out_of_range_is_reported),
	        cmocka_unit_test(a_wrong_number_of_segments_is_reported),
	        cmocka_unit_test(an_offset_may_need_another_segment),
	        cmocka_unit_test(an_item_over_the_payload_is_reported),
	        cmocka_unit_test(items_over_each_other_are_reported),
	        cmocka_unit_test(hostile_numbers_never_lead_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
