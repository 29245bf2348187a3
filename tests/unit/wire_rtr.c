/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send-based placement and counted continuation on the wire: octets written down by hand
 * from the specification of the extensions, and what a hostile peer would send.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_codec.h"
#include "wire/rtr/rtr_wire.h"

enum {
	EXRW = XMDTYPE_EXRW,
	TBSN = XMDTYPE_TBSN,
	CHOICE = XMDTYPE_CHOICE,
	BYSIZE = XMDTYPE_BYSIZE,
	TOOSHORT = XMDTYPE_TOOSHORT,
	NOITEM = XMDTYPE_NOITEM,
};

#define CODEC(name, type, sizer)                                                       \
	static int get_##name(struct rr_cursor *c, void *v)                            \
	{                                                                              \
		return rr_wire_rtr_get_##name(c, v);                                   \
	}                                                                              \
	static void put_##name(struct rr_writer *w, const void *v)                     \
	{                                                                              \
		rr_wire_rtr_put_##name(w, v);                                          \
	}                                                                              \
	static const struct codec name = {get_##name, put_##name, sizer, sizeof(type)};

static size_t size_req(const void *v)
{
	return rr_wire_rtr_req_size(v);
}

static size_t size_resp(const void *v)
{
	return rr_wire_rtr_resp_size(v);
}

CODEC(req, struct rr_rtr_header, size_req)
CODEC(resp, struct rr_rtr_header, size_resp)
CODEC(cont, struct rr_rtr_cont, NULL)
CODEC(error, struct rr_rtr_error, NULL)

/* NS-s22-01 */
static void code_points_are_those_of_the_text(void **state)
{
	assert_true(RDMA2_XMOPT_REQ == 0xFFFFFF15);
	assert_true(RDMA2_XMOPT_RESP == 0xFFFFFF16);
	assert_true(RDMA2_XMOPT_CONT == 0xFFFFFF17);
	assert_true(RDMA2_XMOPT_ERR == 0xFFFFFF18);
	assert_true(RDMA2_PROPID_RTRSUPP == 0xFFFFFF13);
	assert_true(RDMA2_PROPID_RBSTRUCT == 0xFFFFFF14);
	assert_true(RDMA2_PROPID_REQRXLIM == 0xFFFFFF15);
	assert_true(RDMA2_PROPID_RESPSXLIM == 0xFFFFFF16);
	assert_int_equal(RTRS_XREQ, 1);
	assert_int_equal(RTRS_XRESP, 2);
	assert_int_equal(RTRS_XCONT, 4);
	assert_int_equal(RTRS_TBSNRESP, 8);
}

/* -- properties ------------------------------------------------------------------ */

static int get_word(int (*get)(const void *, uint32_t, uint32_t *), uint32_t word,
                    uint32_t *ret)
{
	uint8_t at[4];

	rr_store_u32(at, word);
	return get(at, 4, ret);
}

static void support_needs_requests_and_responses(void **state)
{
	static const uint8_t zeros[8];
	uint32_t v = 99;

	for (uint32_t flags = 0; flags < 16; flags++) {
		bool good = flags == 0 || (flags & 3) == 3;

		v = 99;
		assert_int_equal(get_word(rr_wire_rtr_get_support, flags, &v),
		                 good ? 0 : -EINVAL);
		assert_int_equal(v, good ? flags : 99);
	}
	assert_int_equal(get_word(rr_wire_rtr_get_support, 0xfffffff3, &v), 0);
	assert_int_equal(v, RTRS_XREQ | RTRS_XRESP);
	assert_int_equal(rr_wire_rtr_get_support(NULL, 0, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(rr_wire_rtr_get_support(zeros, 3, &v), -EINVAL);
	assert_int_equal(rr_wire_rtr_get_support(zeros, 8, &v), -EINVAL);
}

static void a_limit_is_at_least_one(void **state)
{
	static const uint8_t zeros[8];
	uint32_t v = 99;

	assert_int_equal(rr_wire_rtr_get_limit(NULL, 0, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(get_word(rr_wire_rtr_get_limit, 8, &v), 0);
	assert_int_equal(v, 8);
	assert_int_equal(get_word(rr_wire_rtr_get_limit, 0xffffffff, &v), 0);
	assert_true(v == 0xffffffff);
	assert_int_equal(get_word(rr_wire_rtr_get_limit, 0, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(rr_wire_rtr_get_limit(zeros, 5, &v), -EINVAL);
	assert_int_equal(v, 1);
}

/* NS-s12-04: {1024, not a target} + {8192, aligned to 4096, target} */
static void a_buffer_is_groups_of_segments(void **state)
{
	struct octets o = OCTETS(0x2400, 2, 1, 0x400, 4, 0, 1, 0x2000, 0x1000, 1);
	struct rr_rbstruct s;
	uint8_t copy[64];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	assert_int_equal(rr_wire_rtr_get_rbstruct(o.at, (uint32_t)o.len, &s), 0);
	assert_int_equal(s.length, 9216);
	assert_int_equal(s.n_groups, 2);
	assert_int_equal(s.total_groups, 2);
	assert_false(s.over);
	assert_int_equal(s.group[0].count, 1);
	assert_int_equal(s.group[0].length, 1024);
	assert_int_equal(s.group[0].align, 4);
	assert_int_equal(s.group[0].flags, 0);
	assert_int_equal(s.group[1].length, 8192);
	assert_int_equal(s.group[1].align, 4096);
	assert_int_equal(s.group[1].flags, XMRSFLAG_DDP);
	rr_wire_rtr_put_rbstruct(&w, &s);
	assert_int_equal(rr_writer_used(&w), o.len);
	assert_int_equal(rr_wire_rtr_rbstruct_size(&s), o.len);
	assert_memory_equal(copy, o.at, o.len);
	free(o.at);
}

static void a_buffer_of_no_octets_is_the_default(void **state)
{
	struct rr_rbstruct s = {.length = 1, .n_groups = 1};

	assert_int_equal(rr_wire_rtr_get_rbstruct(NULL, 0, &s), 0);
	assert_int_equal(s.length, 0);
	assert_int_equal(s.n_groups, 0);
	s = rr_wire_rtr_default_rbstruct(4096);
	assert_int_equal(s.length, 4096);
	assert_int_equal(s.n_groups, 1);
	assert_int_equal(s.total_groups, 1);
	assert_false(s.over);
	assert_int_equal(s.group[0].count, 1);
	assert_int_equal(s.group[0].length, 4096);
	assert_int_equal(s.group[0].align, 1);
	assert_int_equal(s.group[0].flags, 0);
}

static int get_buffer_of(struct octets o, struct rr_rbstruct *s)
{
	int err = rr_wire_rtr_get_rbstruct(o.at, (uint32_t)o.len, s);

	free(o.at);
	return err;
}

/* NS-rtrext-03: except for the comparison with RBSIZ */
static void a_buffer_that_breaks_a_rule_is_refused(void **state)
{
	struct rr_rbstruct s = {.length = 99};

#define REFUSED(...) assert_int_equal(get_buffer_of(OCTETS(__VA_ARGS__), &s), -EINVAL)
	REFUSED(0x2404, 2, 1, 0x400, 4, 0, 1, 0x2000, 0x1000, 1); /* another sum */
	REFUSED(0x23fc, 2, 1, 0x400, 4, 0, 1, 0x2000, 0x1000, 1);
	REFUSED(0x2000, 2, 0, 0x400, 4, 0, 1, 0x2000, 0x1000, 1); /* count 0 */
	REFUSED(0x2000, 2, 1, 0, 4, 0, 1, 0x2000, 0x1000, 1);     /* length 0 */
	REFUSED(0x401, 1, 1, 0x401, 4, 0);
	REFUSED(0x402, 1, 1, 0x402, 4, 0);
	REFUSED(0x400, 1, 1, 0x400, 0, 0); /* no power of two */
	REFUSED(0x400, 1, 1, 0x400, 3, 0);
	REFUSED(0x400, 1, 1, 0x400, 0x80000001, 0);
	REFUSED(0, 0);                         /* no segment at all */
	REFUSED(0, 1, 0x10000, 0x10000, 4, 0); /* a sum that would wrap */
	REFUSED(4, 2, 0x10000, 0x10000, 4, 0, 1, 4, 4, 0);
	REFUSED(0, 2, 0x8000, 0x10000, 4, 0, 0x8000, 0x10000, 4, 0);
	REFUSED(0x400, 1, 1, 0x400, 4, 0, 0); /* a word too many */
	REFUSED(0x400, 1, 1, 0x400, 4);       /* one too few */
	REFUSED(0x400, 2, 1, 0x400, 4, 0);
	REFUSED(0x400, 0x10000001, 1, 0x400, 4, 0);
	REFUSED(0x400);
#undef REFUSED
	assert_int_equal(s.length, 99);
	for (uint32_t len = 1; len < 24; len++) {
		struct octets o = OCTETS(0x400, 1, 1, 0x400, 4, 0);

		assert_int_equal(rr_wire_rtr_get_rbstruct(o.at, len, &s), -EINVAL);
		free(o.at);
	}
	assert_int_equal(
	        get_buffer_of(OCTETS(0x400, 1, 1, 0x400, 0x80000000, 0xfffffffe), &s),
	        0);
	assert_int_equal(s.group[0].flags, 0); /* unknown flags are ignored */
}

static void more_groups_than_fit_are_checked_and_counted(void **state)
{
	uint32_t words[2 + 17 * 4] = {16 * 8, 16};
	struct rr_rbstruct s;
	uint8_t at[512];
	struct rr_writer w = rr_writer_over(at, sizeof(at));

	for (size_t i = 0; i < 17; i++) {
		words[2 + 4 * i] = 2;
		words[3 + 4 * i] = 4;
		words[4 + 4 * i] = 1;
		words[5 + 4 * i] = 1;
	}
	assert_int_equal(get_buffer_of(octets_of_words(words, 2 + 16 * 4), &s), 0);
	assert_false(s.over);
	assert_int_equal(s.n_groups, 16);
	words[0] = 17 * 8;
	words[1] = 17;
	assert_int_equal(get_buffer_of(octets_of_words(words, 2 + 17 * 4), &s), 0);
	assert_true(s.over);
	assert_int_equal(s.n_groups, 16);
	assert_int_equal(s.total_groups, 17);
	rr_wire_rtr_put_rbstruct(&w, &s);
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
	words[2 + 16 * 4 + 2] = 3; /* alignment of the last */
	assert_int_equal(get_buffer_of(octets_of_words(words, 2 + 17 * 4), &s),
	                 -EINVAL);
}

/* -- sample messages --------------------------------------------------------------- */

static void assert_chunk(const struct rr_chunk *k, uint32_t position, uint16_t first,
                         uint16_t count, uint64_t length)
{
	assert_int_equal(k->position, position);
	assert_int_equal(k->first, first);
	assert_int_equal(k->count, count);
	assert_true(k->length == length);
}

/* NS-s13-03 NS-s14-03 NS-s16-02 */
static void a_write_of_8k_is_in_one_buffer_segment(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req,
	               OCTETS(0, 1, 0xb4, 0x2000, 2, 0, 1, 0, 0, 0, 1, 1, 0xb4, 0x55),
	               4, &h);
	assert_int_equal(h.inv_handle, 0);
	assert_int_equal(h.n_items, 1);
	assert_int_equal(h.item[0].disp, 180);
	assert_int_equal(h.item[0].length, 8192);
	assert_int_equal(h.item[0].type, XMDTYPE_TBSN);
	assert_int_equal(h.item[0].offset, 0);
	assert_chunk(&h.item[0].where, 180, 0, 1, 0);
	assert_int_equal(h.tbsn[0], 0);
	assert_int_equal(h.n_sets, 0);
	assert_false(h.has_reply);
	assert_int_equal(h.count, 1);
	assert_int_equal(h.rsbuf, 1);
	assert_int_equal(h.pslen, 180);
	assert_int_equal(rr_wire_rtr_req_size(&h), 52);

	assert_decodes(&req, OCTETS(0x21, 0, 0, 0, 3, 2, 100), 0, &h);
	assert_int_equal(h.inv_handle, 0x21);
	assert_int_equal(h.count, 3);
	assert_int_equal(h.rsbuf, 2);
}

/* NS-s13-04 NS-s17-02 */
static void a_read_of_8k_directs_its_result(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req,
	               OCTETS(0, 0, 1, 0x28, 0x8c, 1, 0x400, 2, 0, 1, 1, 0x8c, 0x55), 4,
	               &h);
	assert_int_equal(h.n_items, 0);
	assert_int_equal(h.n_sets, 1);
	assert_int_equal(h.set[0].begin, 40);
	assert_int_equal(h.set[0].end, 140);
	assert_int_equal(h.set[0].first, 0);
	assert_int_equal(h.set[0].count, 1);
	assert_int_equal(h.n_dirs, 1);
	assert_int_equal(h.dir[0].min_length, 1024);
	assert_int_equal(h.dir[0].type, XMDTYPE_TBSN);
	assert_int_equal(h.pslen, 140);
}

/* NS-s13-03 NS-s19-04 */
static void the_response_says_where_the_result_is(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&resp, OCTETS(1, 0x80, 0x2000, 2, 0, 1, 0, 0, 1, 0x84, 0x55), 4,
	               &h);
	assert_int_equal(h.n_items, 1);
	assert_int_equal(h.item[0].disp, 128);
	assert_int_equal(h.item[0].length, 8192);
	assert_int_equal(h.item[0].type, XMDTYPE_TBSN);
	assert_int_equal(h.count, 1);
	assert_int_equal(h.pslen, 132);
	assert_int_equal(rr_wire_rtr_resp_size(&h), 40);
}

/* NS-s13-01 NS-s13-02 NS-s15-01 NS-s16-01 NS-s17-02 RI-5.2-04: every kind of item and
 * direction of a request in one header */
static void a_request_mixes_all_kinds(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req,
	               OCTETS(0x31, 2, /* items */
	                      0x28, 0x1001, EXRW, 2, 0x31, 0x1000, 1, 0x8000, 0x32, 1,
	                      2, 0x9000,                                      /* ... */
	                      0x102c, 0x3000, TBSN, 8, 2, 0, 3,               /* ... */
	                      2, 0x28, 0x50, 3,                               /* sets */
	                      0x100, EXRW, 1, 0x41, 0x4000, 0, 0x10000,       /* ... */
	                      0x200, CHOICE, 1, 0x42, 0x4000, 0, 0x20000,     /* ... */
	                      0x300, TBSN,                                    /* ... */
	                      0x50, 0xffffffff, 1,                            /* ... */
	                      0, BYSIZE, 0x2000, 1, 0x43, 0x8000, 0, 0x30000, /* ... */
	                      1, 2, 0x51, 0x100, 0, 0, 0x52, 0x100, 0, 0, /* reply */
	                      4, 2, 0x60),
	               0, &h);
	assert_int_equal(h.inv_handle, 0x31);
	assert_int_equal(h.n_items, 2);
	assert_chunk(&h.item[0].where, 40, 0, 2, 0x1001);
	assert_true(h.seg[0].offset == 0x100008000);
	assert_int_equal(h.seg[1].handle, 0x32);
	assert_int_equal(h.item[1].offset, 8);
	assert_chunk(&h.item[1].where, 0x102c, 0, 2, 0);
	assert_int_equal(h.tbsn[0], 0);
	assert_int_equal(h.tbsn[1], 3);
	assert_int_equal(h.n_sets, 2);
	assert_int_equal(h.set[0].count, 3);
	assert_int_equal(h.set[1].begin, 0x50);
	assert_true(h.set[1].end == 0xffffffff);
	assert_int_equal(h.set[1].first, 3);
	assert_int_equal(h.set[1].count, 1);
	assert_int_equal(h.n_dirs, 4);
	assert_int_equal(h.dir[0].type, EXRW);
	assert_chunk(&h.dir[0].where, 0, 2, 1, 0x4000);
	assert_int_equal(h.dir[1].type, CHOICE);
	assert_chunk(&h.dir[1].where, 0, 3, 1, 0x4000);
	assert_int_equal(h.dir[2].type, TBSN);
	assert_int_equal(h.dir[3].type, BYSIZE);
	assert_int_equal(h.dir[3].above, 0x2000);
	assert_chunk(&h.dir[3].where, 0, 4, 1, 0x8000);
	assert_true(h.has_reply);
	assert_chunk(&h.reply, 0, 5, 2, 0x200);
	assert_int_equal(h.n_segs, 7);
	assert_int_equal(h.total_segs, 7);
	assert_int_equal(h.total_tbsns, 2);
	assert_int_equal(h.total_items, 2);
	assert_int_equal(h.total_sets, 2);
	assert_int_equal(h.total_dirs, 4);
	assert_false(h.over);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.rsbuf, 2);
	assert_int_equal(h.pslen, 0x60);
}

/* NS-s16-01 NS-s16-03 NS-s16-04 */
static void a_response_mixes_all_kinds(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&resp,
	               OCTETS(5, 0, 0, NOITEM, /* no item */
	                      0x40, 0x1000, EXRW, 1, 0x41, 0x1000, 0, 0x10000, /* ... */
	                      0x1040, 0x10, TOOSHORT,   /* inline */
	                      0, 0, NOITEM,             /* no item */
	                      0x1060, 4, TBSN, 0, 1, 7, /* ... */
	                      1, 1, 0x51, 0x80, 0, 0,   /* reply chunk */
	                      2, 0),
	               0, &h);
	assert_int_equal(h.n_items, 5);
	assert_int_equal(h.item[0].type, NOITEM);
	assert_int_equal(h.item[1].type, EXRW);
	assert_chunk(&h.item[1].where, 0x40, 0, 1, 0x1000);
	assert_int_equal(h.item[2].type, TOOSHORT);
	assert_int_equal(h.item[2].disp, 0x1040);
	assert_int_equal(h.item[2].length, 16);
	assert_int_equal(h.item[3].type, NOITEM);
	assert_int_equal(h.item[4].type, TBSN);
	assert_int_equal(h.tbsn[0], 7);
	assert_true(h.has_reply);
	assert_chunk(&h.reply, 0, 1, 1, 0x80);
	assert_int_equal(h.count, 2);
	assert_int_equal(h.pslen, 0);
	assert_int_equal(h.inv_handle, 0);
	assert_int_equal(h.rsbuf, 1);
}

/* the equivalent of a Position Zero Read chunk */
static void the_whole_payload_stream_is_a_first_item_at_zero(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req,
	               OCTETS(0, 2, 0, 0x3000, EXRW, 1, 0x31, 0x3000, 0, 0, /* body */
	                      0x28, 4, EXRW, 1, 0x32, 4, 0, 0,              /* item */
	                      0, 0, 1, 1, 0),
	               0, &h);
	assert_int_equal(h.n_items, 2);
	assert_chunk(&h.item[0].where, 0, 0, 1, 0x3000);
	assert_chunk(&h.item[1].where, 0x28, 1, 1, 4);
}

/* -- places ------------------------------------------------------------------------ */

/* One item at 40 of 16 octets, with place @type and its @n words of place. */
static struct octets one_item(bool response, uint32_t type, const uint32_t *place,
                              size_t n)
{
	uint32_t words[32];
	size_t k = 0;

	if (!response)
		words[k++] = 0;
	words[k++] = 1;
	words[k++] = 40;
	words[k++] = 16;
	words[k++] = type;
	for (size_t i = 0; i < n; i++)
		words[k++] = place[i];
	if (!response)
		words[k++] = 0; /* sets */
	words[k++] = 0;
	words[k++] = 1;
	if (!response)
		words[k++] = 1;
	words[k++] = 0;
	return octets_of_words(words, k);
}

/* What follows each type in xmddp_loc and xmddp_rsdloc, as far as it has that arm. */
static const struct {
	uint32_t type;
	bool request, response, direction;
	uint32_t place[6];
	size_t n;
} places[] = {
        {0, false, false, false, {0}, 1},
        {EXRW, true, true, true, {1, 9, 16, 0, 0}, 5},
        {TBSN, true, true, true, {0, 1, 0}, 3},
        {CHOICE, false, false, true, {1, 9, 16, 0, 0}, 5},
        {BYSIZE, false, false, true, {8, 1, 9, 16, 0, 0}, 6},
        {TOOSHORT, false, true, false, {0}, 0},
        {NOITEM, false, false, false, {0}, 0}, /* not with a displacement: below */
        {7, false, false, false, {0}, 1},
        {0xffffffff, false, false, false, {0}, 1},
};

/* NS-rtrext-02 NS-s16-05 */
static void items_have_the_places_of_the_table(void **state)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(places); i++)
		for (int response = 0; response < 2; response++) {
			struct octets o = one_item(response, places[i].type,
			                           places[i].place, places[i].n);
			const struct codec *k = response ? &resp : &req;
			struct rr_rtr_header h;

			if (response ? places[i].response : places[i].request)
				assert_decodes(k, o, 0, &h);
			else
				assert_refused(k, o);
			/* also where the rest would decode without a place */
			if (places[i].type != TOOSHORT)
				assert_refused(
				        k, one_item(response, places[i].type, NULL, 0));
		}
}

/* NS-rtrext-02 */
static void directions_have_the_places_of_the_table(void **state)
{
	for (size_t i = 0; i < RR_ARRAY_SIZE(places); i++) {
		uint32_t words[32] = {0, 0, 1, 40, 44, 1, 0x400, places[i].type};
		size_t n = places[i].type == TBSN ? 0 : places[i].n, k = 8;
		struct rr_rtr_header h;

		for (size_t j = 0; j < n; j++)
			words[k++] = places[i].place[j];
		words[k++] = 0;
		words[k++] = 1;
		words[k++] = 1;
		words[k++] = 0;
		if (places[i].direction)
			assert_decodes(&req, octets_of_words(words, k), 0, &h);
		else
			assert_refused(&req, octets_of_words(words, k));
		/* also where the rest would decode without a place */
		words[8] = 0;
		words[9] = words[10] = 1;
		words[11] = 0;
		if (places[i].type != TBSN)
			assert_refused(&req, octets_of_words(words, 12));
	}
}

/* NS-s16-03 */
static void no_item_has_no_place(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&resp, OCTETS(1, 0, 0, NOITEM, 0, 1, 0), 0, &h);
	assert_refused(&resp, OCTETS(1, 4, 0, NOITEM, 0, 1, 0));
	assert_refused(&resp, OCTETS(1, 0, 4, NOITEM, 0, 1, 0));
	assert_refused(&req, OCTETS(0, 1, 0, 0, NOITEM, 0, 0, 1, 1, 0));
}

/* Nor is a place encoded that no item, or no direction, can have. */
static void impossible_places_are_not_encoded(void **state)
{
	static const enum rr_wire_rtr_place items[] = {XMDTYPE_CHOICE, XMDTYPE_BYSIZE,
	                                               0, 7};
	static const enum rr_wire_rtr_place dirs[] = {XMDTYPE_TOOSHORT, XMDTYPE_NOITEM,
	                                              0, 7};
	uint8_t at[256];

	for (size_t i = 0; i < RR_ARRAY_SIZE(items); i++) {
		struct rr_writer w = rr_writer_over(at, sizeof(at));
		struct rr_rtr_header h;

		rr_rtr_init(&h);
		assert_int_equal(rr_rtr_add_item(&h, 40, 4, items[i]), 0);
		rr_wire_rtr_put_req(&w, &h);
		assert_true(rr_writer_bad(&w));

		w = rr_writer_over(at, sizeof(at));
		rr_rtr_init(&h);
		assert_int_equal(rr_rtr_add_set(&h, 0, 4), 0);
		assert_int_equal(rr_rtr_add_dir(&h, 0, dirs[i], 0), 0);
		rr_wire_rtr_put_req(&w, &h);
		assert_true(rr_writer_bad(&w));
	}
}

/* -- order, sums, ranges --------------------------------------------------------------- */

/* Two items of @first and @second octets at @a and @b, by Send. */
static struct octets two_items(uint32_t a, uint32_t first, uint32_t b, uint32_t second)
{
	return OCTETS(0, 2, a, first, TBSN, 0, 0, b, second, TBSN, 0, 0, 0, 0, 1, 1, 0);
}

/* NS-s14-04 */
static void items_are_in_order_and_do_not_overlap(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req, two_items(40, 8, 48, 4), 0, &h);
	assert_decodes(&req, two_items(40, 5, 48, 4), 0, &h);
	assert_decodes(&req, two_items(40, 0, 40, 4), 0, &h);
	assert_refused(&req, two_items(40, 8, 44, 4));
	assert_refused(&req, two_items(40, 5, 44, 4));
	assert_refused(&req, two_items(48, 4, 40, 4));
	assert_refused(&req, two_items(41, 4, 48, 4));
	assert_refused(&req, two_items(40, 4, 46, 4));
	/* an end beyond 32 bits is not a small one */
	assert_refused(&req, two_items(40, 0xffffffff, 44, 4));
	assert_refused(&req, two_items(0xfffffffc, 4, 4, 4));
	/* NOITEM stands outside of the order */
	assert_refused(&resp, OCTETS(3, 48, 4, TOOSHORT, 0, 0, NOITEM, 40, 4, TOOSHORT,
	                             0, 1, 0));
}

static void position_zero_is_for_the_whole_request(void **state)
{
	assert_refused(&req, two_items(0, 4, 48, 4)); /* not by Send */
	assert_refused(&req,                          /* not after another */
	               OCTETS(0, 2, 40, 4, EXRW, 1, 9, 4, 0, 0, 0, 4, EXRW, 1, 9, 4, 0,
	                      0, 0, 0, 1, 1, 0));
	assert_refused(&req, /* not twice */
	               OCTETS(0, 2, 0, 4, EXRW, 1, 9, 4, 0, 0, 0, 4, EXRW, 1, 9, 4, 0,
	                      0, 0, 0, 1, 1, 0));
	assert_refused(&req, /* not beside inline payload */
	               OCTETS(0, 1, 0, 8, EXRW, 1, 9, 8, 0, 0, 0, 0, 1, 1, 4));
	assert_refused(&req, /* not in a group */
	               OCTETS(0, 1, 0, 8, EXRW, 1, 9, 8, 0, 0, 0, 0, 2, 1, 0));
	assert_refused(&resp, OCTETS(1, 0, 8, EXRW, 1, 9, 8, 0, 0, 0, 1, 0));
	assert_refused(&resp, OCTETS(1, 0, 8, TBSN, 0, 0, 0, 1, 0));
	assert_refused(&resp, OCTETS(1, 0, 8, TOOSHORT, 0, 1, 0));
}

/* Also of the sum of segments, in 64 bits, of those that are not stored. */
static void segments_of_an_item_add_up_to_its_length(void **state)
{
	static uint32_t words[2 + 5 + 65 * 4 + 5] = {0, 1, 40, 65 * 4, EXRW, 65};
	struct octets o;
	struct rr_cursor c;
	struct rr_rtr_header h;

	assert_refused(&req, OCTETS(0, 1, 40, 8, EXRW, 1, 9, 4, 0, 0, 0, 0, 1, 1, 0));
	assert_refused(&req, OCTETS(0, 1, 40, 8, EXRW, 0, 0, 0, 1, 1, 0));
	assert_refused(&req, OCTETS(0, 1, 40, 0, EXRW, 2, 9, 0x80000000, 0, 0, 9,
	                            0x80000000, 0, 0, 0, 0, 1, 1, 0));
	assert_refused(&resp, OCTETS(1, 40, 8, EXRW, 1, 9, 12, 0, 0, 0, 1, 0));

	for (size_t i = 0; i < 65; i++)
		words[6 + 4 * i + 1] = 4;
	words[6 + 65 * 4 + 2] = 1; /* count, rsbuf */
	words[6 + 65 * 4 + 3] = 1;
	o = octets_of_words(words, 6 + 65 * 4 + 5);
	c = rr_cursor_over(o.at, o.len);
	assert_int_equal(rr_wire_rtr_get_req(&c, &h), 0);
	assert_true(h.over);
	assert_int_equal(h.total_segs, 65);
	assert_int_equal(h.n_segs, 64);
	assert_int_equal(h.item[0].where.count, 64);
	free(o.at);
	words[3] = 64 * 4; /* what was stored would fit */
	assert_refused(&req, octets_of_words(words, 6 + 65 * 4 + 5));
}

static struct octets two_sets(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return OCTETS(0, 0, 2, a, b, 0, c, d, 0, 0, 1, 1, 0);
}

/* NS-s17-04 */
static void ranges_are_disjoint_and_increase(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req, two_sets(0, 40, 40, 0xffffffff), 0, &h);
	assert_decodes(&req, two_sets(8, 40, 44, 48), 0, &h);
	assert_refused(&req, two_sets(8, 40, 39, 48));
	assert_refused(&req, two_sets(8, 40, 0, 8));
	assert_refused(&req, two_sets(8, 40, 8, 40));
	assert_refused(&req, two_sets(8, 8, 40, 48));
	assert_refused(&req, two_sets(9, 8, 40, 48));
}

/* NS-s21-03 */
static void counts_of_transmissions_are_not_zero(void **state)
{
	assert_refused(&req, OCTETS(0, 0, 0, 0, 0, 1, 0));
	assert_refused(&req, OCTETS(0, 0, 0, 0, 1, 0, 0));
	assert_refused(&resp, OCTETS(0, 0, 0, 0));
}

/* [K24] */
static void the_reply_chunk_is_there_or_not(void **state)
{
	assert_refused(&req, OCTETS(0, 0, 0, 2, 0, 1, 1, 0));
	assert_refused(&resp, OCTETS(0, 2, 0, 1, 0));
	assert_refused(&error, OCTETS(1, 0, 0, 2, 1, 0, 0, 3));
}

/* -- counts beyond the message, more than the arrays hold ------------------------------- */

static void counts_beyond_the_message_are_refused(void **state)
{
	static const uint32_t counts[] = {
	        9, 100, 0x10000000, 0x15555556, 0x20000000, 0x40000000, 0xffffffff};

	for (size_t i = 0; i < RR_ARRAY_SIZE(counts); i++) {
		uint32_t n = counts[i];

		assert_refused(&req, OCTETS(0, n, 40, 4, TBSN, 0, 0, 0, 0, 1, 1, 0));
		assert_refused(&req, OCTETS(0, 1, 40, 4, TBSN, 0, n, 0, 0, 1, 1, 0));
		assert_refused(&req,
		               OCTETS(0, 1, 40, 4, EXRW, n, 9, 4, 0, 0, 0, 0, 1, 1, 0));
		assert_refused(&req, OCTETS(0, 0, n, 0, 4, 0, 0, 1, 1, 0));
		assert_refused(&req, OCTETS(0, 0, 1, 0, 4, n, 0, TBSN, 0, 1, 1, 0));
		assert_refused(&req, OCTETS(0, 0, 1, 0, 4, 1, 0, EXRW, n, 9, 4, 0, 0, 0,
		                            1, 1, 0));
		assert_refused(&req, OCTETS(0, 0, 1, 0, 4, 1, 0, BYSIZE, 8, n, 9, 4, 0,
		                            0, 0, 1, 1, 0));
		assert_refused(&req, OCTETS(0, 0, 0, 1, n, 9, 4, 0, 0, 1, 1, 0));
		assert_refused(&resp, OCTETS(n, 0, 0, NOITEM, 0, 1, 0));
		assert_refused(&resp, OCTETS(0, 1, n, 9, 4, 0, 0, 1, 0));
	}
}

struct list {
	uint32_t words[1024];
	size_t n;
};

static void add(struct list *l, uint32_t word)
{
	l->words[l->n++] = word;
}

/* @items by Send with @tbsns numbers each, @sets with @dirs directions each, and @segs
 * segments in each of these directions. */
static struct octets long_request(uint32_t items, uint32_t tbsns, uint32_t sets,
                                  uint32_t dirs, uint32_t segs)
{
	struct list l = {.n = 0};

	add(&l, 0);
	add(&l, items);
	for (uint32_t i = 0; i < items; i++) {
		add(&l, 40 + 4 * i);
		add(&l, 4);
		add(&l, TBSN);
		add(&l, 0);
		add(&l, tbsns);
		for (uint32_t k = 0; k < tbsns; k++)
			add(&l, k);
	}
	add(&l, sets);
	for (uint32_t i = 0; i < sets; i++) {
		add(&l, i);
		add(&l, i + 1);
		add(&l, dirs);
		for (uint32_t k = 0; k < dirs; k++) {
			add(&l, 0);
			add(&l, EXRW);
			add(&l, segs);
			for (uint32_t w = 0; w < 4 * segs; w++)
				add(&l, w);
		}
	}
	add(&l, 0);
	add(&l, 1);
	add(&l, 1);
	add(&l, 0);
	return octets_of_words(l.words, l.n);
}

static void as_many_as_the_arrays_hold_are_stored(void **state)
{
	struct rr_rtr_header h;

	assert_decodes(&req, long_request(16, 16, 16, 1, 4), 0, &h);
	assert_false(h.over);
	assert_int_equal(h.n_items, 16);
	assert_int_equal(h.n_tbsns, 256);
	assert_int_equal(h.n_sets, 16);
	assert_int_equal(h.n_dirs, 16);
	assert_int_equal(h.n_segs, 64);
	assert_int_equal(h.item[15].where.first, 240);
	assert_int_equal(h.set[15].first, 15);
	assert_chunk(&h.dir[15].where, 0, 60, 4, 1 + 5 + 9 + 13);
}

/* Decodes, is marked, and cannot be encoded. */
static void assert_over(struct octets o, struct rr_rtr_header *h)
{
	struct rr_cursor c = rr_cursor_over(o.at, o.len);
	uint8_t at[8192];
	struct rr_writer w = rr_writer_over(at, sizeof(at));

	assert_int_equal(rr_wire_rtr_get_req(&c, h), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_true(h->over);
	rr_wire_rtr_put_req(&w, h);
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
	w = rr_writer_over(at, sizeof(at));
	rr_wire_rtr_put_resp(&w, h);
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
	free(o.at);
}

static void more_than_the_arrays_hold_is_counted(void **state)
{
	struct rr_rtr_header h;

	assert_over(long_request(17, 1, 0, 0, 0), &h);
	assert_int_equal(h.total_items, 17);
	assert_int_equal(h.n_items, 16);
	assert_int_equal(h.total_tbsns, 17);

	assert_over(long_request(1, 257, 0, 0, 0), &h);
	assert_int_equal(h.total_tbsns, 257);
	assert_int_equal(h.n_tbsns, 256);
	assert_int_equal(h.item[0].where.count, 256);

	assert_over(long_request(0, 0, 17, 0, 0), &h);
	assert_int_equal(h.total_sets, 17);
	assert_int_equal(h.n_sets, 16);

	assert_over(long_request(0, 0, 1, 17, 0), &h);
	assert_int_equal(h.total_dirs, 17);
	assert_int_equal(h.n_dirs, 16);
	assert_int_equal(h.set[0].count, 16);

	assert_over(long_request(0, 0, 17, 1, 1), &h); /* of a set that is not stored */
	assert_int_equal(h.total_dirs, 17);
	assert_int_equal(h.n_dirs, 16);
	assert_int_equal(h.total_segs, 17);

	assert_over(long_request(0, 0, 1, 5, 13), &h);
	assert_int_equal(h.total_segs, 65);
	assert_int_equal(h.n_segs, 64);
	assert_int_equal(h.dir[4].where.count, 12);
}

/* What is not stored is checked all the same. */
static void the_uncounted_tail_is_still_checked(void **state)
{
	struct octets o = long_request(17, 0, 0, 0, 0);

	rr_store_u32(o.at + 4 * (2 + 16 * 5), 41); /* the last displacement */
	assert_refused(&req, o);
	o = long_request(0, 0, 17, 1, 0);
	rr_store_u32(o.at + 4 * (3 + 16 * 6 + 4),
	             NOITEM); /* place of the last direction */
	assert_refused(&req, o);
}

/* -- building ----------------------------------------------------------------------- */

static void a_built_header_encodes_as_the_sample(void **state)
{
	static const struct rr_segment s = {0x41, 0x4000, 0x10000}, last = {0x42, 8, 0};
	struct octets o = OCTETS(0x41, 2, 40, 0x4000, EXRW, 1, 0x41, 0x4000, 0, 0x10000,
	                         0x4028, 0x1000, TBSN, 0, 2, 0, 1, 1, 40, 80, 2, 0x100,
	                         CHOICE, 1, 0x41, 0x4000, 0, 0x10000, 0x200, BYSIZE,
	                         0x800, 0, 1, 1, 0x42, 8, 0, 0, 1, 1, 0x60);
	struct rr_rtr_header h;

	rr_rtr_init(&h);
	h.inv_handle = 0x41;
	assert_int_equal(rr_rtr_add_item(&h, 40, 0x4000, XMDTYPE_EXRW), 0);
	assert_int_equal(rr_rtr_add_segment(&h, &s), 0);
	assert_int_equal(rr_rtr_add_item(&h, 0x4028, 0x1000, XMDTYPE_TBSN), 0);
	assert_int_equal(rr_rtr_add_tbsn(&h, 0), 0);
	assert_int_equal(rr_rtr_add_tbsn(&h, 1), 0);
	assert_int_equal(rr_rtr_add_set(&h, 40, 80), 0);
	assert_int_equal(rr_rtr_add_dir(&h, 0x100, XMDTYPE_CHOICE, 0), 0);
	assert_int_equal(rr_rtr_add_segment(&h, &s), 0);
	assert_int_equal(rr_rtr_add_dir(&h, 0x200, XMDTYPE_BYSIZE, 0x800), 0);
	rr_rtr_begin_reply(&h);
	assert_int_equal(rr_rtr_add_segment(&h, &last), 0);
	h.pslen = 0x60;
	assert_int_equal(h.count, 1);
	assert_int_equal(h.rsbuf, 1);
	assert_encodes(&req, &h, o.at, o.len);
	free(o.at);
}

static void a_full_array_takes_no_more(void **state)
{
	static const struct rr_segment s = {1, 4, 0};
	struct rr_rtr_header h;

	rr_rtr_init(&h);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(rr_rtr_add_item(&h, 4 + i, 4, XMDTYPE_TBSN), 0);
	assert_int_equal(rr_rtr_add_item(&h, 80, 4, XMDTYPE_TBSN), -ENOSPC);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(rr_rtr_add_tbsn(&h, i), 0);
	assert_int_equal(rr_rtr_add_tbsn(&h, 256), -ENOSPC);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(rr_rtr_add_set(&h, i, i + 1), 0);
	assert_int_equal(rr_rtr_add_set(&h, 16, 17), -ENOSPC);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(rr_rtr_add_dir(&h, 0, XMDTYPE_EXRW, 0), 0);
	assert_int_equal(rr_rtr_add_dir(&h, 0, XMDTYPE_EXRW, 0), -ENOSPC);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(rr_rtr_add_segment(&h, &s), 0);
	assert_int_equal(rr_rtr_add_segment(&h, &s), -ENOSPC);
	assert_false(h.over);
	assert_int_equal(h.total_items, 16);
	assert_int_equal(h.total_tbsns, 256);
	assert_int_equal(h.total_segs, 64);
}

/* -- continuation and reports ---------------------------------------------------------- */

/* NS-s13-05 NS-s19-04: three words, without placement */
static void a_continuation_has_its_number(void **state)
{
	struct rr_rtr_cont k;

	assert_decodes(&cont, OCTETS(1, 0xffffff15, 0), 0, &k);
	assert_int_equal(k.xnum, 1);
	assert_true(k.itype == RDMA2_XMOPT_REQ);
	assert_int_equal(k.pslen, 0);
	assert_decodes(&cont, OCTETS(7, 0xffffff16, 100, 0x55), 4, &k);
	assert_int_equal(k.xnum, 7);
	assert_true(k.itype == RDMA2_XMOPT_RESP);
	assert_int_equal(k.pslen, 100);
}

/* NS-s22-01 */
static void a_report_names_a_transmission(void **state)
{
	struct rr_rtr_error e;

	assert_decodes(&error, OCTETS(0x11223344, 0, 1, 1, 0x11223344, 0, 0, 4, 1, 2),
	               0, &e);
	assert_int_equal(e.bad.xid, 0x11223344);
	assert_int_equal(e.bad.dir, 0);
	assert_int_equal(e.bad.seq, 1);
	assert_true(e.has_lead);
	assert_int_equal(e.lead.xid, 0x11223344);
	assert_int_equal(e.lead.seq, 0);
	assert_int_equal(e.code, OPTRERR_BADSEQ);
	assert_int_equal(e.arg[0], 1);
	assert_int_equal(e.arg[1], 2);
	assert_int_equal(e.arg[2], 0);

	assert_decodes(&error, OCTETS(0x55, 1, 0, 0, OPTRERR_BADCONT), 0, &e);
	assert_false(e.has_lead);
	assert_int_equal(e.bad.dir, 1);
	assert_int_equal(e.code, OPTRERR_BADCONT);
}

static void each_report_has_its_own_words(void **state)
{
	static const int words[] = {-1, 2, 2, 0, 2, 2, 3, 3, 3, -1};

	for (uint32_t code = 0; code < RR_ARRAY_SIZE(words); code++) {
		const uint32_t all[] = {1, 0, 0, 0, code, 11, 12, 13};
		struct rr_rtr_error e;

		if (words[code] < 0) {
			assert_refused(&error, octets_of_words(all, 8));
			continue;
		}
		assert_decodes(&error, octets_of_words(all, 5 + (size_t)words[code]), 0,
		               &e);
		for (int i = 0; i < 3; i++)
			assert_int_equal(e.arg[i], i < words[code] ? 11 + i : 0);
	}
	assert_refused(&error, OCTETS(1, 0, 0, 0, 0xffffffff, 1, 2, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(code_points_are_those_of_the_text),
	        cmocka_unit_test(support_needs_requests_and_responses),
	        cmocka_unit_test(a_limit_is_at_least_one),
	        cmocka_unit_test(a_buffer_is_groups_of_segments),
	        cmocka_unit_test(a_buffer_of_no_octets_is_the_default),
	        cmocka_unit_test(a_buffer_that_breaks_a_rule_is_refused),
	        cmocka_unit_test(more_groups_than_fit_are_checked_and_counted),
	        cmocka_unit_test(a_write_of_8k_is_in_one_buffer_segment),
	        cmocka_unit_test(a_read_of_8k_directs_its_result),
	        cmocka_unit_test(the_response_says_where_the_result_is),
	        cmocka_unit_test(a_request_mixes_all_kinds),
	        cmocka_unit_test(a_response_mixes_all_kinds),
	        cmocka_unit_test(the_whole_payload_stream_is_a_first_item_at_zero),
	        cmocka_unit_test(items_have_the_places_of_the_table),
	        cmocka_unit_test(directions_have_the_places_of_the_table),
	        cmocka_unit_test(no_item_has_no_place),
	        cmocka_unit_test(impossible_places_are_not_encoded),
	        cmocka_unit_test(items_are_in_order_and_do_not_overlap),
	        cmocka_unit_test(position_zero_is_for_the_whole_request),
	        cmocka_unit_test(segments_of_an_item_add_up_to_its_length),
	        cmocka_unit_test(ranges_are_disjoint_and_increase),
	        cmocka_unit_test(counts_of_transmissions_are_not_zero),
	        cmocka_unit_test(the_reply_chunk_is_there_or_not),
	        cmocka_unit_test(counts_beyond_the_message_are_refused),
	        cmocka_unit_test(as_many_as_the_arrays_hold_are_stored),
	        cmocka_unit_test(more_than_the_arrays_hold_is_counted),
	        cmocka_unit_test(the_uncounted_tail_is_still_checked),
	        cmocka_unit_test(a_built_header_encodes_as_the_sample),
	        cmocka_unit_test(a_full_array_takes_no_more),
	        cmocka_unit_test(a_continuation_has_its_number),
	        cmocka_unit_test(a_report_names_a_transmission),
	        cmocka_unit_test(each_report_has_its_own_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
