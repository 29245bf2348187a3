/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec against octets that were written down by hand.
 *
 * Each sample message is held three ways: it decodes to the values stated,
 * the values encode to it octet by octet, and no part of it shorter than the
 * header decodes (nothing being changed by the attempt).  Then come the
 * messages a hostile peer would send.  Samples and expected values are taken
 * from the specification's text, not from this implementation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "wire/wire.h"

enum { MAX_OCTETS = 65536 };

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

/* -- every function that decodes, under one shape --------------------------- */

enum kind { PREFIX, LISTS, ERROR, PROPS_BEGIN, PROP, SUBSET };

union value {
	struct rr_prefix prefix;
	struct rr_lists lists;
	struct rr_error error;
	struct rr_prop prop;
	uint32_t count;
	uint32_t subset[5]; /* count, words */
};

static int get(enum kind kind, struct rr_cursor *c, union value *v)
{
	switch (kind) {
	case PREFIX:
		return rr_wire_get_prefix(c, &v->prefix);
	case LISTS:
		return rr_wire_get_lists(c, &v->lists);
	case ERROR:
		return rr_wire_get_error(c, &v->error);
	case PROPS_BEGIN:
		return rr_wire_get_props_begin(c, &v->count);
	case PROP:
		return rr_wire_get_prop(c, &v->prop);
	case SUBSET:
		return rr_wire_get_propsubset(c, v->subset + 1, 4, v->subset);
	}
	return -EINVAL;
}

static void put(enum kind kind, struct rr_writer *w, const union value *v)
{
	switch (kind) {
	case PREFIX:
		rr_wire_put_prefix(w, &v->prefix);
		break;
	case LISTS:
		rr_wire_put_lists(w, &v->lists);
		break;
	case ERROR:
		rr_wire_put_error(w, &v->error);
		break;
	case PROPS_BEGIN:
		rr_wire_put_props_begin(w, v->count);
		break;
	case PROP:
		rr_wire_put_prop(w, &v->prop);
		break;
	case SUBSET:
		rr_wire_put_propsubset(w, v->subset + 1, v->subset[0]);
		break;
	}
}

/* Refused with @err; neither the cursor nor the result is touched. */
static void assert_refused(enum kind kind, const struct octets *o, int err)
{
	struct rr_cursor c = over(o), before = c;
	union value v, untouched;

	memset(&v, 0xa5, sizeof(v));
	memset(&untouched, 0xa5, sizeof(untouched));
	assert_int_equal(get(kind, &c, &v), err);
	assert_memory_equal(&v, &untouched, sizeof(v));
	assert_ptr_equal(c.pos, before.pos);
	assert_ptr_equal(c.end, before.end);
	assert_false(c.bad);
}

/* Every proper prefix of the first @len octets at @at is refused. */
static void assert_prefixes_refused(enum kind kind, const uint8_t *at, size_t len)
{
	for (size_t n = 0; n < len; n++) {
		struct octets part = {.len = n, .at = malloc(n + !n)};
		int err = -EBADMSG;

		assert_non_null(part.at);
		memcpy(part.at, at, n);
		if (kind == PROP && n >= 8)
			err = -EINVAL; /* the frame is there, the data is not */
		assert_refused(kind, &part, err);
		free(part.at);
	}
}

/* One item at @c: decoded, re-encoded to the same octets, no prefix of it. */
static void take(enum kind kind, struct rr_cursor *c, union value *v)
{
	const uint8_t *start = c->pos;
	uint8_t *copy;
	struct rr_writer w;
	size_t len;

	assert_int_equal(get(kind, c, v), 0);
	len = (size_t)(c->pos - start);
	copy = malloc(len);
	w = rr_writer_over(copy, len);
	put(kind, &w, v);
	assert_false(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), len);
	assert_memory_equal(copy, start, len);

	w = rr_writer_over(copy, len - 1); /* one octet short */
	put(kind, &w, v);
	assert_true(rr_writer_bad(&w));
	free(copy);
	if (kind != PROPS_BEGIN) /* its prefixes: with the whole set, below */
		assert_prefixes_refused(kind, start, len);
}

static struct rr_prefix take_prefix(struct rr_cursor *c, uint32_t xid, uint32_t vers,
                                    uint32_t credit, uint32_t htype, uint32_t flags)
{
	union value v;

	take(PREFIX, c, &v);
	assert_int_equal(v.prefix.xid, xid);
	assert_int_equal(v.prefix.vers, vers);
	assert_int_equal(v.prefix.credit, credit);
	assert_int_equal(v.prefix.htype, htype);
	assert_int_equal(v.prefix.flags, flags);
	return v.prefix;
}

static void assert_segment(const struct rr_segment *s, uint32_t handle, uint32_t length,
                           uint64_t offset)
{
	assert_int_equal(s->handle, handle);
	assert_int_equal(s->length, length);
	assert_true(s->offset == offset);
}

/* -- the sample messages ----------------------------------------------------- */

/* V2-6.1-01 V2-6.2.1-01 V2-6.2.2-01 V2-6.2.3-01 V2-6.3.1-01 V2-8.5-01 V2-3.1.4-01 */
static void call_without_chunks_has_36_octets_of_header(void **state)
{
	struct octets o =
	        OCTETS(0x11223344, 2, 0x00200020, 0, 0, 0, 0, 0, 0, 0x11223344);
	struct rr_cursor c = over(&o);
	union value v;

	take_prefix(&c, 0x11223344, 2, 0x00200020, RDMA2_MSG, 0);
	take(LISTS, &c, &v);
	assert_true(rr_lists_empty(&v.lists));
	assert_int_equal(v.lists.inv_handle, 0);
	assert_int_equal(rr_wire_lists_size(&v.lists), 16);
	assert_int_equal(c.pos - o.at, RR_WIRE_EMPTY_MSG);
	assert_int_equal(rr_cursor_left(&c), 4); /* rdma_rpc_first_word is payload */
	free(o.at);
}

/* V2-6.2.2-02 V2-6.2.2.2-01 V2-6.2.2.1-01 */
static void reply_part_carries_response_and_more(void **state)
{
	struct octets o = OCTETS(0x11223344, 2, 0x00200001, 0, 3, 0, 0, 0, 0, 0);
	struct rr_cursor c = over(&o);
	union value v;

	take_prefix(&c, 0x11223344, 2, 0x00200001, RDMA2_MSG,
	            RDMA2_F_RESPONSE | RDMA2_F_MORE);
	take(LISTS, &c, &v);
	assert_int_equal(rr_cursor_left(&c), 4);
	free(o.at);
}

/* V2-6.1-02 V2-6.2.3-02 V2-4.3.5-01 V2-4.3.3-03 V2-6.3.2-01 */
static void special_call_holds_one_read_chunk_at_position_zero(void **state)
{
	struct octets o = OCTETS(0x55, 2, 0x00200001, 1, 0, 0, 1, 0, 0x21, 0x2328, 0,
	                         0x7000, 0, 0, 0);
	struct rr_cursor c = over(&o);
	union value v;

	assert_int_equal(o.len, 60);
	take_prefix(&c, 0x55, 2, 0x00200001, RDMA2_NOMSG, 0);
	take(LISTS, &c, &v);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_int_equal(rr_wire_lists_size(&v.lists), 40);
	assert_int_equal(v.lists.n_reads, 1);
	assert_int_equal(v.lists.n_segs, 1);
	assert_int_equal(v.lists.n_writes, 0);
	assert_false(v.lists.has_reply);
	assert_int_equal(v.lists.reads[0].position, 0);
	assert_int_equal(v.lists.reads[0].count, 1);
	assert_int_equal(v.lists.reads[0].length, 9000);
	assert_segment(&v.lists.seg[0], 0x21, 9000, 0x7000);
	free(o.at);
}

/* V2-6.2.3-04 V2-4.3.6-01 V2-6.3.2-02 */
static void special_reply_holds_a_reply_chunk(void **state)
{
	struct octets o =
	        OCTETS(0x55, 2, 0x00200001, 1, 1, 0, 0, 0, 1, 1, 0xf, 0x10000, 4, 0);
	struct rr_cursor c = over(&o);
	union value v;

	assert_int_equal(o.len, 56);
	take_prefix(&c, 0x55, 2, 0x00200001, RDMA2_NOMSG, RDMA2_F_RESPONSE);
	take(LISTS, &c, &v);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_true(v.lists.has_reply);
	assert_false(rr_lists_empty(&v.lists));
	assert_int_equal(v.lists.reply.count, 1);
	assert_int_equal(v.lists.reply.length, 65536);
	assert_segment(&v.lists.seg[v.lists.reply.first], 0xf, 65536, 0x400000000u);
	free(o.at);
}

/* V2-6.3.2-04 V2-6.3.2-05 */
static void grant_message_is_nomsg_without_xid_and_chunks(void **state)
{
	struct octets o = OCTETS(0, 2, 0x00200010, 1, 0, 0, 0, 0, 0);
	struct rr_cursor c = over(&o);
	union value v;

	take_prefix(&c, 0, 2, 0x00200010, RDMA2_NOMSG, 0);
	take(LISTS, &c, &v);
	assert_true(rr_lists_empty(&v.lists));
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
}

/* V2-6.1-03 V2-6.3.3-01 V2-6.3.3-02 V2-4.2.3.2-02 */
static void error_vers_has_a_range(void **state)
{
	struct octets o = OCTETS(0x66, 3, 0x00200001, 4, 1, 1, 1, 2);
	struct rr_cursor c = over(&o);
	union value v;

	assert_int_equal(o.len, 32);
	take_prefix(&c, 0x66, 3, 0x00200001, RDMA2_ERROR, RDMA2_F_RESPONSE);
	take(ERROR, &c, &v);
	assert_int_equal(v.error.code, RDMA2_ERR_VERS);
	assert_int_equal(v.error.arg[0], 1);
	assert_int_equal(v.error.arg[1], 2);
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
}

/* V2-6.3.3-06 */
static void error_write_resource_names_chunk_and_length(void **state)
{
	struct octets o = OCTETS(0x66, 2, 0x00200001, 4, 1, 9, 1, 0x11170);
	struct rr_cursor c = over(&o);
	union value v;

	assert_int_equal(o.len, 32);
	take_prefix(&c, 0x66, 2, 0x00200001, RDMA2_ERROR, RDMA2_F_RESPONSE);
	take(ERROR, &c, &v);
	assert_int_equal(v.error.code, RDMA2_ERR_WRITE_RESOURCE);
	assert_int_equal(v.error.arg[0], 1);
	assert_int_equal(v.error.arg[1], 70000);
	free(o.at);
}

/* Begins and reads the set at @c; 0 or the first error. */
static int take_set(struct rr_cursor *c, struct rr_prop *p, uint32_t *ret_count)
{
	int err = rr_wire_get_props_begin(c, ret_count);

	for (uint32_t i = 0; !err && i < *ret_count; i++)
		err = rr_wire_get_prop(c, &p[i]);
	return err;
}

/* V2-6.1-04 V2-6.3.4-01 V2-5.1-01 V2-5.1-02 V2-5.1-03 V2-8.3-01 V2-5.2.1-01
 * V2-5.2.2-01 V2-5.2.3-01 V2-5.2.4-01 V2-5.2.5-01 V2-5.2.5-04 V2-8.3-02 */
static void connprop_with_five_properties(void **state)
{
	static const uint32_t values[] = {0x10000, 0x10000, 0x100000, 0x10,
	                                  RDMA2_RVRSDIR_CONT};
	struct octets o = OCTETS(0x77, 2, 0x00200020, 5, 0, 5, 1, 4, 0x10000, 2, 4,
	                         0x10000, 3, 4, 0x100000, 4, 4, 0x10, 5, 4, 2);
	struct rr_cursor c = over(&o);
	uint8_t buf[84];
	struct rr_writer w = rr_writer_over(buf, sizeof(buf));
	struct rr_prefix p;
	union value v;

	assert_int_equal(o.len, 84);
	p = take_prefix(&c, 0x77, 2, 0x00200020, RDMA2_CONNPROP, 0);
	rr_wire_put_prefix(&w, &p);
	rr_wire_put_props_begin(&w, 5);
	take(PROPS_BEGIN, &c, &v);
	assert_int_equal(v.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		take(PROP, &c, &v);
		assert_int_equal(v.prop.id, RDMA2_PROPID_SBSIZ + i);
		assert_int_equal(v.prop.len, 4);
		assert_int_equal(v.prop.value, values[i]);
		rr_wire_put_prop_u32(&w, v.prop.id, values[i]);
	}
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_false(rr_writer_bad(&w));
	assert_memory_equal(buf, o.at, sizeof(buf));
	free(o.at);
}

static void connprop_cut_anywhere_is_refused(void **state)
{
	struct octets o = OCTETS(5, 1, 4, 0x10000, 2, 4, 0x10000, 3, 4, 0x100000, 4, 4,
	                         0x10, 5, 4, 2);

	for (size_t n = 0; n < o.len; n++) {
		struct octets part = {.len = n, .at = malloc(n + !n)};
		struct rr_cursor c;
		struct rr_prop p[5];
		uint32_t count;

		assert_non_null(part.at);
		memcpy(part.at, o.at, n);
		c = over(&part);
		assert_true(take_set(&c, p, &count) < 0);
		free(part.at);
	}
	free(o.at);
}

/* V2-6.3.4-01 */
static void empty_connprop_is_a_count_of_zero(void **state)
{
	struct octets o = OCTETS(0x77, 2, 0x00200020, 5, 0, 0);
	struct rr_cursor c = over(&o);
	union value v;

	assert_int_equal(o.len, 24);
	take_prefix(&c, 0x77, 2, 0x00200020, RDMA2_CONNPROP, 0);
	take(PROPS_BEGIN, &c, &v);
	assert_int_equal(v.count, 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_prefixes_refused(PROPS_BEGIN, o.at + 20, 4);
	free(o.at);
}

/* V2-5.2.6-01 V2-3.1.4.2-01 V2-3.1.4.2-02 */
static void host_authentication_is_opaque_within_opaque(void **state)
{
	struct octets o = OCTETS(6, 12, 5, 0x61626364, 0x65000000);
	struct rr_cursor c = over(&o);
	union value v;

	assert_int_equal(o.len, 20);
	take(PROP, &c, &v);
	assert_int_equal(v.prop.id, RDMA2_PROPID_HOSTAUTH);
	assert_int_equal(v.prop.len, 12);
	assert_memory_equal(v.prop.data + 4, "abcde", 5);
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
}

/* -- first errors -------------------------------------------------------------- */

static int first_error(const struct octets *o, struct rr_prefix *p, struct rr_error *e)
{
	struct rr_cursor c = over(o);

	return rr_wire_get_first_error(&c, p, e);
}

static void assert_no_first_error(const struct octets *o)
{
	struct rr_prefix p, p0;
	struct rr_error e, e0;

	memset(&p, 0xa5, sizeof(p));
	memset(&e, 0xa5, sizeof(e));
	p0 = p;
	e0 = e;
	assert_int_equal(first_error(o, &p, &e), -ENOMSG);
	assert_memory_equal(&p, &p0, sizeof(p));
	assert_memory_equal(&e, &e0, sizeof(e));
}

/* V2-4.2.3.2-01 V2-4.2.3.2-02: a server of version 1 alone copies version 2 */
static void first_error_of_28_octets_is_version_1_layout(void **state)
{
	static const uint32_t versions[] = {RPCRDMA_VERSION_TWO, RPCRDMA_VERSION_ONE};

	for (size_t i = 0; i < RR_ARRAY_SIZE(versions); i++) {
		struct octets o = OCTETS(0x66, versions[i], 0x20, 4, 1, 1, 1);
		struct rr_prefix p;
		struct rr_error e;
		uint8_t buf[28];
		struct rr_writer w = rr_writer_over(buf, sizeof(buf));

		assert_int_equal(first_error(&o, &p, &e), 1);
		assert_int_equal(p.xid, 0x66);
		assert_int_equal(p.vers, versions[i]);
		assert_int_equal(p.credit, 0x20);
		assert_int_equal(p.htype, RDMA2_ERROR);
		assert_int_equal(p.flags, RDMA2_F_RESPONSE);
		assert_int_equal(e.code, RDMA2_ERR_VERS);
		assert_int_equal(e.arg[0], 1);
		assert_int_equal(e.arg[1], 1);

		rr_wire_put_error_v1(&w, &p, &e);
		assert_false(rr_writer_bad(&w));
		assert_memory_equal(buf, o.at, o.len);
		free(o.at);
	}
}

/* [V4]: a version 1 peer would read the ceiling as a huge grant */
static void version_1_layout_shows_no_credit_ceiling(void **state)
{
	struct rr_prefix p = {.xid = 1, .vers = 1, .credit = 0x00200010};
	struct rr_error e = {.code = RDMA2_ERR_VERS, .arg = {2, 2}};
	uint8_t buf[28];
	struct rr_writer w = rr_writer_over(buf, sizeof(buf));

	rr_wire_put_error_v1(&w, &p, &e);
	assert_int_equal(rr_writer_used(&w), 28);
	assert_int_equal(rr_load_u32(buf + 8), 0x10);
	assert_int_equal(rr_load_u32(buf + 12), 4);
	w = rr_writer_over(buf, 27);
	rr_wire_put_error_v1(&w, &p, &e);
	assert_true(rr_writer_bad(&w));
}

/* V2-6.3.3-02; the first seven words are those of the version 1 layout */
static void first_error_of_32_octets_is_version_2_layout(void **state)
{
	struct octets o = OCTETS(0x66, 2, 0x00200020, 4, 1, 1, 1, 2);
	struct rr_prefix p;
	struct rr_error e;

	assert_int_equal(first_error(&o, &p, &e), 2);
	assert_int_equal(p.credit, 0x00200020);
	assert_int_equal(e.code, RDMA2_ERR_VERS);
	assert_int_equal(e.arg[0], 1);
	assert_int_equal(e.arg[1], 2);
	for (o.len = 0; o.len < 32; o.len++)
		if (o.len != 28)
			assert_no_first_error(&o);
	free(o.at);
}

/* V2-6.2.2-04 and [E5]: reserved flags and trailing octets do not matter */
static void first_error_ignores_reserved_flags_and_excess(void **state)
{
	struct octets o = OCTETS(0x66, 2, 0x00200020, 4, 0xfffffff9, 1, 2, 1, 0xdead);
	struct rr_prefix p;
	struct rr_error e;

	assert_int_equal(first_error(&o, &p, &e), 2);
	assert_int_equal(p.flags, RDMA2_F_RESPONSE);
	assert_int_equal(e.arg[0], 2); /* an empty range is the caller's business */
	assert_int_equal(e.arg[1], 1);
	free(o.at);
}

/* [V3]: the version 1 error without range means "no version 2" */
static void first_error_of_20_octets_means_version_1_only(void **state)
{
	struct octets o = OCTETS(0x66, 1, 0x20, 4, 2);
	struct rr_prefix p;
	struct rr_error e;

	assert_int_equal(first_error(&o, &p, &e), 1);
	assert_int_equal(e.code, RDMA2_ERR_VERS);
	assert_int_equal(e.arg[0], 1);
	assert_int_equal(e.arg[1], 1);
	for (o.len = 0; o.len < 20; o.len++)
		assert_no_first_error(&o);
	free(o.at);
}

static void other_messages_are_no_first_error(void **state)
{
	struct octets table[] = {
	        OCTETS(0x66, 2, 0x20, 5, 1, 1, 1), /* not RDMA2_ERROR */
	        OCTETS(0x66, 2, 0x20, 5, 1, 1, 1, 2),
	        OCTETS(0x66, 3, 0x20, 4, 1, 1, 1), /* version 1 layout, version 3 */
	        OCTETS(0x66, 0, 0x20, 4, 1, 1, 1),
	        OCTETS(0x66, 2, 0x20, 4, 1, 2, 1), /* range upside down */
	        OCTETS(0x66, 2, 0x20, 4, 2, 1, 1), /* ERR_CHUNK has no range */
	        OCTETS(0x66, 2, 0x20, 4, 1),       /* ERR_VERS has one */
	        OCTETS(0x66, 2, 0x20, 4, 3),
	        OCTETS(0x66, 2, 0x20, 4, 1, 1), /* 24: ERR_VERS of version 2, cut */
	        OCTETS(0x66, 2, 0x20, 4, 1, 3), /* 24: BAD_PROPVAL of version 2 */
	        OCTETS(0x66, 2, 0x20, 4, 0, 1, 1, 2), /* RESPONSE clear */
	        OCTETS(0x66, 2, 0x20, 4, 3, 1, 1, 2), /* MORE */
	        OCTETS(0x66, 2, 0x20, 4, 5, 1, 1, 2), /* TPMORE */
	        OCTETS(0x66, 2, 0x20, 4, 1, 9, 1, 2), /* WRITE_RESOURCE */
	        OCTETS(0x66, 2, 0x20, 4, 1, 100, 0, 0),
	};

	for (size_t i = 0; i < RR_ARRAY_SIZE(table); i++) {
		assert_no_first_error(&table[i]);
		free(table[i].at);
	}
}

/* -- errors --------------------------------------------------------------------- */

/* V2-6.3.3-02 V2-6.3.3-03 V2-6.3.3-04 V2-6.3.3-05 V2-6.3.3-06 V2-6.3.3-07
 * V2-6.3.3-08 V2-8.4-02 */
static void each_error_code_has_its_arm(void **state)
{
	static const struct {
		uint32_t code;
		unsigned words;
	} table[] = {{1, 2},  {2, 0},  {3, 0},   {4, 0},         {5, 0},   {6, 1},
	             {7, 1},  {8, 1},  {9, 2},   {10, 1},        {100, 0}, {0, 0},
	             {11, 0}, {99, 0}, {101, 0}, {0xffffffff, 0}};

	for (size_t i = 0; i < RR_ARRAY_SIZE(table); i++) {
		struct octets o = OCTETS(table[i].code, 0x01020304, 0xffffffff, 7);
		struct rr_cursor c = over(&o);
		union value v;

		take(ERROR, &c, &v);
		assert_int_equal(c.pos - o.at, 4 + 4 * table[i].words);
		assert_int_equal(v.error.code, table[i].code);
		assert_int_equal(v.error.arg[0], table[i].words > 0 ? 0x01020304 : 0);
		assert_int_equal(v.error.arg[1], table[i].words > 1 ? 0xffffffff : 0);
		free(o.at);
	}
}

/* -- chunk lists ----------------------------------------------------------------- */

/* V2-6.2.3-01 V2-6.2.3-02 V2-6.2.3-03 V2-6.2.3-04 V2-4.3.4-01 V2-4.3.5-03
 * V2-4.3.6-08 V2-6.2.4-01 */
static void all_lists_at_once(void **state)
{
	struct octets o = OCTETS(
	        0x31,                                            /* inv_handle */
	        1, 8, 0x31, 100, 0, 0x1000, 1, 8, 0x32, 3, 1, 0, /* one chunk of two */
	        1, 112, 0x33, 0xffffffff, 0xffffffff, 0xfffffff0, 0, /* another */
	        1, 2, 0x41, 5, 0, 1, 0x42, 6, 0, 2, /* Write chunk of two */
	        1, 0,                               /* an empty one */
	        1, 1, 0x43, 0, 0, 3, 0,             /* one of an empty segment */
	        1, 1, 0x51, 512, 0, 4);
	struct rr_cursor c = over(&o);
	union value v;
	struct rr_lists *l = &v.lists;

	take(LISTS, &c, &v);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_int_equal(rr_wire_lists_size(l), o.len);
	assert_false(rr_lists_empty(l));
	assert_false(l->over);
	assert_false(l->reads_descend);
	assert_int_equal(l->inv_handle, 0x31);
	assert_int_equal(l->n_segs, 7);
	assert_int_equal(l->total_segs, 7);
	assert_int_equal(l->n_reads, 2);
	assert_int_equal(l->total_reads, 2);
	assert_int_equal(l->n_writes, 3);
	assert_int_equal(l->total_writes, 3);
	assert_int_equal(l->reads[0].position, 8);
	assert_int_equal(l->reads[0].count, 2);
	assert_int_equal(l->reads[0].length, 103);
	assert_int_equal(l->reads[1].position, 112);
	assert_int_equal(l->reads[1].first, 2);
	assert_int_equal(l->reads[1].length, 0xffffffff);
	assert_segment(&l->seg[2], 0x33, 0xffffffff, 0xfffffffffffffff0u);
	assert_int_equal(l->writes[0].first, 3);
	assert_int_equal(l->writes[0].count, 2);
	assert_int_equal(l->writes[0].length, 11);
	assert_int_equal(l->writes[1].count, 0);
	assert_int_equal(l->writes[1].length, 0);
	assert_int_equal(l->writes[2].first, 5);
	assert_int_equal(l->writes[2].count, 1);
	assert_int_equal(l->writes[2].length, 0);
	assert_true(l->has_reply);
	assert_int_equal(l->reply.first, 6);
	assert_segment(&l->seg[6], 0x51, 512, 4);
	free(o.at);
}

/* V2-7.2.1-01, [K24]: generated decoders take 2 for TRUE */
static void present_words_other_than_0_and_1_are_refused(void **state)
{
	static const uint32_t bad[] = {2, 3, 0x01000000, 0x80000000, 0xffffffff};

	for (size_t i = 0; i < RR_ARRAY_SIZE(bad); i++) {
		struct octets table[] = {
		        OCTETS(0, bad[i], 0, 0x21, 1, 0, 0, 0, 0, 0), /* Read list */
		        OCTETS(0, 1, 0, 0x21, 1, 0, 0, bad[i], 0, 0), /* its end */
		        OCTETS(0, 0, bad[i], 0, 0, 0),                /* Write list */
		        OCTETS(0, 0, 1, 0, bad[i], 0),                /* its end */
		        OCTETS(0, 0, 0, bad[i], 0),                   /* Reply chunk */
		};

		for (size_t j = 0; j < RR_ARRAY_SIZE(table); j++) {
			assert_refused(LISTS, &table[j], -EBADMSG);
			free(table[j].at);
		}
	}
}

/* V2-7.2.1-01: counts times 16 that wrap to something small, among others */
static void segment_counts_beyond_the_message_are_refused(void **state)
{
	static const uint32_t counts[] = {2,          0x10000000, 0x10000001,
	                                  0x40000000, 0x7fffffff, 0x80000000,
	                                  0xffffffff};

	for (size_t i = 0; i < RR_ARRAY_SIZE(counts); i++) {
		struct octets write = OCTETS(0, 0, 1, counts[i], 1, 2, 3, 4, 0, 0);
		struct octets reply = OCTETS(0, 0, 0, 1, counts[i], 1, 2, 3, 4);

		assert_refused(LISTS, &write, -EBADMSG);
		assert_refused(LISTS, &reply, -EBADMSG);
		free(write.at);
		free(reply.at);
	}
}

/* Words of a header under construction. */
struct draft {
	size_t n;
	uint32_t words[MAX_OCTETS / 4];
};

static void add(struct draft *d, uint32_t word)
{
	assert_true(d->n < RR_ARRAY_SIZE(d->words));
	d->words[d->n++] = word;
}

static void add_segments(struct draft *d, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		add(d, i + 1);
		add(d, 4096);
		add(d, 0);
		add(d, i);
	}
}

static void add_reads(struct draft *d, uint32_t n, uint32_t first, uint32_t step)
{
	for (uint32_t i = 0; i < n; i++) {
		add(d, 1);
		add(d, first + i * step);
		add_segments(d, 1);
	}
}

static void add_chunk(struct draft *d, uint32_t segments)
{
	add(d, 1);
	add(d, segments);
	add_segments(d, segments);
}

/* Decodes the whole draft, which must be well formed, and forgets it. */
static struct rr_lists decode(struct draft *d)
{
	struct octets o = from_words(d->words, d->n);
	struct rr_cursor c = over(&o);
	struct rr_lists l;

	assert_int_equal(rr_wire_get_lists(&c, &l), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
	d->n = 0;
	return l;
}

static void assert_over(const struct rr_lists *l, uint32_t segs, uint32_t reads,
                        uint32_t writes)
{
	uint8_t buf[64];
	struct rr_writer w = rr_writer_over(buf, sizeof(buf));

	assert_true(l->over);
	assert_false(rr_lists_empty(l));
	assert_int_equal(l->total_segs, segs);
	assert_int_equal(l->total_reads, reads);
	assert_int_equal(l->total_writes, writes);
	assert_true(l->n_segs <= RR_WIRE_MAX_SEGMENTS);
	assert_true(l->n_writes <= RR_WIRE_MAX_WRITES);
	assert_true(l->n_reads <= l->n_segs);
	rr_wire_put_lists(&w, l); /* what was cut is never sent on */
	assert_true(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), 0);
}

/* V2-7.3.3-01 V2-7.3.1-01: well-formed octets are counted, not called bad */
static void a_thousand_segments_are_counted_and_marked_over(void **state)
{
	struct draft d = {0};
	struct rr_lists l;

	add(&d, 0); /* Read list: 1000 chunks */
	add_reads(&d, 1000, 4, 4);
	add(&d, 0);
	add(&d, 0);
	add(&d, 0);
	l = decode(&d);
	assert_over(&l, 1000, 1000, 0);
	assert_int_equal(l.n_reads, 64);

	add(&d, 0); /* Read list: one chunk of 1000 */
	add_reads(&d, 1000, 4, 0);
	add(&d, 0);
	add(&d, 0);
	add(&d, 0);
	l = decode(&d);
	assert_over(&l, 1000, 1, 0);
	assert_int_equal(l.n_reads, 1);
	assert_int_equal(l.reads[0].count, 64);

	add(&d, 0);
	add(&d, 0); /* one Write chunk of 1000, a Reply chunk of 3 */
	add_chunk(&d, 1000);
	add(&d, 0);
	add_chunk(&d, 3);
	l = decode(&d);
	assert_over(&l, 1003, 0, 1);
	assert_true(l.has_reply);
	assert_int_equal(l.reply.count, 0);
}

/* V2-7.3.2-01 */
static void a_hundred_write_chunks_are_counted_and_marked_over(void **state)
{
	struct draft d = {0};
	struct rr_lists l;

	add(&d, 0);
	add(&d, 0);
	for (int i = 0; i < 100; i++)
		add_chunk(&d, 1);
	add(&d, 0);
	add_chunk(&d, 1);
	l = decode(&d);
	assert_over(&l, 101, 0, 100);
	assert_int_equal(l.n_writes, 16);
	assert_true(l.has_reply);
}

static void as_many_as_fit_are_not_over(void **state)
{
	struct draft d = {0};
	struct rr_lists l;

	add(&d, 0);
	add_reads(&d, 40, 4, 4);
	add(&d, 0);
	for (int i = 0; i < RR_WIRE_MAX_WRITES; i++)
		add_chunk(&d, 1);
	add(&d, 0);
	add_chunk(&d, 8);
	l = decode(&d);
	assert_false(l.over);
	assert_int_equal(l.n_segs, RR_WIRE_MAX_SEGMENTS);
	assert_int_equal(l.total_segs, RR_WIRE_MAX_SEGMENTS);
	assert_int_equal(l.reply.first, 56);
}

/* What is wrong after the storage is full is still wrong. */
static void the_uncounted_tail_is_still_checked(void **state)
{
	struct draft d = {0};
	struct octets o;

	add(&d, 0);
	add_reads(&d, 100, 4, 4);
	add(&d, 2);
	add(&d, 0);
	add(&d, 0);
	o = from_words(d.words, d.n);
	assert_refused(LISTS, &o, -EBADMSG);
	free(o.at);

	d.n = 0;
	add(&d, 0);
	add(&d, 0);
	for (int i = 0; i < 17; i++)
		add_chunk(&d, 0);
	d.words[d.n - 1] = 0x10000000;
	add(&d, 0);
	add(&d, 0);
	o = from_words(d.words, d.n);
	assert_refused(LISTS, &o, -EBADMSG);
	free(o.at);
}

/* [K3]: the order is noticed here and judged by the caller, full or not */
static void descending_positions_are_noticed(void **state)
{
	struct draft d = {0};
	struct rr_lists l;

	add(&d, 0);
	add_reads(&d, 1, 8, 0);
	add_reads(&d, 1, 16, 0);
	add_reads(&d, 1, 8, 0);
	add(&d, 0);
	add(&d, 0);
	add(&d, 0);
	l = decode(&d);
	assert_true(l.reads_descend);
	assert_int_equal(l.n_reads, 3); /* not adjacent: not one chunk */

	add(&d, 0);
	add_reads(&d, 70, 4, 4);
	add_reads(&d, 1, 276, 0);
	add(&d, 0);
	add(&d, 0);
	add(&d, 0);
	l = decode(&d);
	assert_true(l.reads_descend);
	assert_int_equal(l.total_reads, 71);
}

/* V2-4.3.5-03 V2-6.2.3-02; builder, encoder and decoder agree */
static void built_lists_decode_to_themselves(void **state)
{
	struct rr_segment s = {.handle = 7, .length = 0xffffffff, .offset = UINT64_MAX};
	struct rr_lists a, b;
	uint8_t buf[1024];
	struct rr_writer w = rr_writer_over(buf, sizeof(buf));
	struct rr_cursor c;

	rr_lists_init(&a);
	assert_true(rr_lists_empty(&a));
	a.inv_handle = 7;
	assert_int_equal(rr_lists_add_read(&a, 0, &s), 0);
	assert_int_equal(rr_lists_add_read(&a, 0, &s), 0);
	assert_int_equal(rr_lists_add_read(&a, 44, &s), 0);
	assert_int_equal(rr_lists_begin_write(&a), 0);
	assert_int_equal(rr_lists_begin_write(&a), 0);
	assert_int_equal(rr_lists_add_segment(&a, &s), 0);
	assert_int_equal(rr_lists_begin_reply(&a), 0);
	assert_int_equal(rr_lists_add_segment(&a, &s), 0);
	assert_int_equal(rr_lists_add_segment(&a, &s), 0);
	assert_int_equal(a.reads[0].length, 0x1fffffffe); /* no sum wraps */

	rr_wire_put_lists(&w, &a);
	assert_false(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), rr_wire_lists_size(&a));
	c = rr_cursor_over(buf, rr_writer_used(&w));
	assert_int_equal(rr_wire_get_lists(&c, &b), 0);
	assert_memory_equal(&a, &b, offsetof(struct rr_lists, reads));
	assert_memory_equal(a.reads, b.reads, 2 * sizeof(a.reads[0]));
	assert_memory_equal(a.writes, b.writes, 2 * sizeof(a.writes[0]));
	assert_memory_equal(&a.reply, &b.reply, sizeof(a.reply));
	assert_memory_equal(a.seg, b.seg, 6 * sizeof(a.seg[0]));
}

static void a_descending_read_is_built_but_marked(void **state)
{
	struct rr_segment s = {.handle = 1, .length = 4};
	struct rr_lists l;

	rr_lists_init(&l);
	assert_int_equal(rr_lists_add_read(&l, 44, &s), 0);
	assert_false(l.reads_descend);
	assert_int_equal(rr_lists_add_read(&l, 40, &s), 0);
	assert_true(l.reads_descend);
}

static void full_lists_take_no_more_and_stay_as_they_are(void **state)
{
	struct rr_segment s = {.handle = 1, .length = 4};
	struct rr_lists l, before;

	rr_lists_init(&l);
	for (uint32_t i = 0; i < RR_WIRE_MAX_SEGMENTS; i++)
		assert_int_equal(rr_lists_add_read(&l, 4 * i, &s), 0);
	memcpy(&before, &l, sizeof(l));
	assert_int_equal(rr_lists_add_read(&l, 4096, &s), -ENOSPC);
	assert_memory_equal(&l, &before, offsetof(struct rr_lists, reads));

	for (int i = 0; i < RR_WIRE_MAX_WRITES; i++)
		assert_int_equal(rr_lists_begin_write(&l), 0);
	memcpy(&before, &l, sizeof(l));
	assert_int_equal(rr_lists_begin_write(&l), -ENOSPC);
	assert_int_equal(rr_lists_add_segment(&l, &s), -ENOSPC);
	assert_memory_equal(&l, &before, offsetof(struct rr_lists, reads));
	assert_false(l.over);
}

/* The smallest writer that fails, at every octet of a full header. */
static void encoder_reports_every_missing_octet(void **state)
{
	struct rr_segment s = {.handle = 1, .length = 4};
	struct rr_lists l;
	uint8_t buf[256];
	size_t size;

	rr_lists_init(&l);
	assert_int_equal(rr_lists_add_read(&l, 0, &s), 0);
	assert_int_equal(rr_lists_begin_write(&l), 0);
	assert_int_equal(rr_lists_add_segment(&l, &s), 0);
	assert_int_equal(rr_lists_begin_reply(&l), 0);
	assert_int_equal(rr_lists_add_segment(&l, &s), 0);
	size = rr_wire_lists_size(&l);
	for (size_t n = 0; n <= size; n++) {
		struct rr_writer w = rr_writer_over(buf, n);

		rr_wire_put_lists(&w, &l);
		assert_int_equal(rr_writer_bad(&w), n < size);
		assert_true(rr_writer_used(&w) <= n);
	}
}

/* -- properties -------------------------------------------------------------------- */

/* V2-5.1-06 V2-5.1-07 V2-5.1-08 V2-5.1-09 V2-5.1-10 V2-5.1-11 V2-7.2.2-01 [P5] */
static void malformed_properties(void **state)
{
	const struct {
		int err;
		struct octets o;
	} table[] = {
	        {-EBADMSG, OCTETS(1)}, /* rdma_which alone */
	        {-EBADMSG, OCTETS(99)},
	        {-EINVAL, OCTETS(1, 4)},  /* no data at all */
	        {-EINVAL, OCTETS(99, 4)}, /* the same of an unknown property */
	        {-EINVAL, OCTETS(99, 0x40000000, 0)},
	        {-EINVAL, OCTETS(99, 0xfffffffd, 0)}, /* length + padding wraps */
	        {-EINVAL, OCTETS(99, 0xffffffff, 0)},
	        {-EINVAL, OCTETS(1, 1, 0)}, /* wrong lengths of a uint32 */
	        {-EINVAL, OCTETS(2, 2, 0)},
	        {-EINVAL, OCTETS(3, 3, 0)},
	        {-EINVAL, OCTETS(4, 5, 0, 0)},
	        {-EINVAL, OCTETS(5, 8, 0, 0)},
	        {-EINVAL, OCTETS(6, 2, 0)}, /* length word of the opaque cut */
	        {-EINVAL, OCTETS(6, 4, 1)}, /* the opaque's data is not there */
	        {-EINVAL, OCTETS(6, 8, 5, 0)},
	        {-EINVAL, OCTETS(6, 8, 0, 0)},          /* more than the opaque */
	        {-EINVAL, OCTETS(6, 5, 1, 0x61000000)}, /* its padding cut */
	        {-EINVAL, OCTETS(6, 8, 0xffffffff, 0)},
	        {0, OCTETS(1, 4, 0xffffffff)}, /* any uint32 is valid by type [P8] */
	        {0, OCTETS(5, 4, 4)},          /* values above 3 are no error [P13] */
	        {0, OCTETS(6, 4, 0)},
	        {0, OCTETS(6, 8, 1, 0x61000000)},
	        {0, OCTETS(6, 8, 4, 0x61626364)},
	        {0, OCTETS(0, 0)}, /* unknown properties hold anything */
	        {0, OCTETS(7, 3, 0x61626300)},
	        {0, OCTETS(0xffffffff, 8, 1, 2)},
	};

	for (size_t i = 0; i < RR_ARRAY_SIZE(table); i++) {
		struct rr_cursor c = over(&table[i].o);
		union value v;

		if (table[i].err) {
			assert_refused(PROP, &table[i].o, table[i].err);
		} else {
			take(PROP, &c, &v);
			assert_int_equal(rr_cursor_left(&c), 0);
		}
		free(table[i].o.at);
	}
}

/* V2-7.2.1-01 [P5]: the count word is the header's, not a value */
static void property_counts_are_bounded_before_use(void **state)
{
	static const uint32_t counts[] = {2, 0x20000000, 0x20000001, 0xffffffff};
	struct draft d = {0};
	struct octets o;
	struct rr_cursor c;
	union value v;

	for (size_t i = 0; i < RR_ARRAY_SIZE(counts); i++) {
		o = OCTETS(counts[i], 1, 4, 0x1000);
		assert_refused(PROPS_BEGIN, &o, -EBADMSG);
		free(o.at);
	}
	add(&d, RR_WIRE_MAX_PROPS);
	for (int i = 0; i < 2 * (RR_WIRE_MAX_PROPS + 1); i++)
		add(&d, 0);
	o = from_words(d.words, d.n);
	c = over(&o);
	take(PROPS_BEGIN, &c, &v);
	assert_int_equal(v.count, RR_WIRE_MAX_PROPS);
	rr_store_u32(o.at, RR_WIRE_MAX_PROPS + 1); /* they are there, but too many */
	assert_refused(PROPS_BEGIN, &o, -EBADMSG);
	free(o.at);
}

/* V2-5.1-04 V2-5.2.1-01 V2-5.2.2-01 V2-5.2.3-01 V2-5.2.4-01 V2-5.2.5-01 */
static void properties_without_data_have_their_defaults(void **state)
{
	static const uint32_t defaults[] = {4096, 4096, 1048576, 16, 0, 0};

	for (uint32_t i = 0; i < RR_ARRAY_SIZE(defaults); i++) {
		struct octets o = OCTETS(1 + i, 0);
		struct rr_cursor c = over(&o);
		union value v;

		take(PROP, &c, &v);
		assert_int_equal(v.prop.len, 0);
		assert_int_equal(v.prop.value, defaults[i]);
		free(o.at);
	}
}

/* V2-5.1-12 V2-5.1-11: any order, unknown ones between, octets after the set */
static void a_set_is_read_in_any_order(void **state)
{
	struct octets o = OCTETS(4, 5, 4, 1, 0x80000001, 6, 0x61626364, 0x65660000, 1,
	                         4, 8192, 1, 0, 0xdead);
	struct rr_cursor c = over(&o);
	struct rr_prop p[4];
	uint32_t count;

	assert_int_equal(take_set(&c, p, &count), 0);
	assert_int_equal(count, 4);
	assert_int_equal(p[0].value, 1);
	assert_int_equal(p[1].id, 0x80000001);
	assert_int_equal(p[1].len, 6);
	assert_memory_equal(p[1].data, "abcdef", 6);
	assert_int_equal(p[2].value, 8192);
	assert_int_equal(p[3].value, 4096);
	assert_int_equal(rr_cursor_left(&c), 4);
	free(o.at);
}

/* V2-3.1.4.2-01: padding is looked for, not looked at; what we send is zero */
static void padding_of_any_value_is_accepted_and_sent_as_zero(void **state)
{
	struct octets o = OCTETS(99, 1, 0x61ffffff);
	struct rr_cursor c = over(&o);
	struct rr_prop p;
	uint8_t buf[12];
	struct rr_writer w = rr_writer_over(buf, sizeof(buf));

	assert_int_equal(rr_wire_get_prop(&c, &p), 0);
	assert_int_equal(rr_cursor_left(&c), 0);
	rr_wire_put_prop(&w, &p);
	assert_false(rr_writer_bad(&w));
	assert_int_equal(rr_load_u32(buf + 8), 0x61000000);
	free(o.at);
}

/* V2-5.1-13 V2-5.1-14 [X12] */
static void property_subsets_count_bits_from_the_low_end(void **state)
{
	struct octets o = OCTETS(2, 0x80000001, 0x00000002);
	struct rr_cursor c = over(&o);
	union value v;
	const uint32_t *words = v.subset + 1;

	take(SUBSET, &c, &v);
	assert_int_equal(rr_cursor_left(&c), 0);
	assert_int_equal(v.subset[0], 2);
	for (uint32_t n = 0; n < 128; n++)
		assert_int_equal(rr_wire_propsubset_has(words, v.subset[0], n),
		                 n == 0 || n == 31 || n == 33);
	assert_false(rr_wire_propsubset_has(words, v.subset[0], UINT32_MAX));
	free(o.at);
}

static void property_subsets_are_bounded(void **state)
{
	static const uint32_t counts[] = {5, 0x40000000, 0xffffffff};

	for (size_t i = 0; i < RR_ARRAY_SIZE(counts); i++) {
		struct octets o = OCTETS(counts[i], 1, 2, 3, 4, 5);

		assert_refused(SUBSET, &o, -EBADMSG);
		free(o.at);
	}
}

/* -- prefix ---------------------------------------------------------------- */

/* V2-6.2.1-02 V2-6.2.1-03 V2-6.2.2-04 V2-4.2.3-03: nothing is judged here */
static void any_prefix_of_20_octets_is_read(void **state)
{
	struct octets o =
	        OCTETS(0xffffffff, 0xfffffffe, 0xfffffffd, 0xfffffffc, 0xfffffffb);
	struct rr_cursor c = over(&o);

	take_prefix(&c, 0xffffffff, 0xfffffffe, 0xfffffffd, 0xfffffffc, 0xfffffffb);
	assert_int_equal(rr_cursor_left(&c), 0);
	free(o.at);
}

/* V2-8.4-01 V2-6.2.2-02 V2-8.3-02: the numbers of the text */
static void code_points_are_those_of_the_text(void **state)
{
	assert_int_equal(RDMA2_MSG, 0);
	assert_int_equal(RDMA2_NOMSG, 1);
	assert_int_equal(RDMA2_ERROR, 4);
	assert_int_equal(RDMA2_CONNPROP, 5);
	assert_int_equal(RDMA2_F_RESPONSE, 1);
	assert_int_equal(RDMA2_F_MORE, 2);
	assert_int_equal(RDMA2_F_TPMORE, 4);
	assert_int_equal(RDMA2_RVRSDIR_NONE, 0);
	assert_int_equal(RDMA2_RVRSDIR_SIMPLE, 1);
	assert_int_equal(RDMA2_RVRSDIR_CONT, 2);
	assert_int_equal(RDMA2_RVRSDIR_GENL, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(call_without_chunks_has_36_octets_of_header),
	        cmocka_unit_test(reply_part_carries_response_and_more),
	        cmocka_unit_test(special_call_holds_one_read_chunk_at_position_zero),
	        cmocka_unit_test(special_reply_holds_a_reply_chunk),
	        cmocka_unit_test(grant_message_is_nomsg_without_xid_and_chunks),
	        cmocka_unit_test(error_vers_has_a_range),
	        cmocka_unit_test(error_write_resource_names_chunk_and_length),
	        cmocka_unit_test(connprop_with_five_properties),
	        cmocka_unit_test(connprop_cut_anywhere_is_refused),
	        cmocka_unit_test(empty_connprop_is_a_count_of_zero),
	        cmocka_unit_test(host_authentication_is_opaque_within_opaque),
	        cmocka_unit_test(first_error_of_28_octets_is_version_1_layout),
	        cmocka_unit_test(version_1_layout_shows_no_credit_ceiling),
	        cmocka_unit_test(first_error_of_32_octets_is_version_2_layout),
	        cmocka_unit_test(first_error_ignores_reserved_flags_and_excess),
	        cmocka_unit_test(first_error_of_20_octets_means_version_1_only),
	        cmocka_unit_test(other_messages_are_no_first_error),
	        cmocka_unit_test(each_error_code_has_its_arm),
	        cmocka_unit_test(all_lists_at_once),
	        cmocka_unit_test(present_words_other_than_0_and_1_are_refused),
	        cmocka_unit_test(segment_counts_beyond_the_message_are_refused),
	        cmocka_unit_test(a_thousand_segments_are_counted_and_marked_over),
	        cmocka_unit_test(a_hundred_write_chunks_are_counted_and_marked_over),
	        cmocka_unit_test(as_many_as_fit_are_not_over),
	        cmocka_unit_test(the_uncounted_tail_is_still_checked),
	        cmocka_unit_test(descending_positions_are_noticed),
	        cmocka_unit_test(built_lists_decode_to_themselves),
	        cmocka_unit_test(a_descending_read_is_built_but_marked),
	        cmocka_unit_test(full_lists_take_no_more_and_stay_as_they_are),
	        cmocka_unit_test(encoder_reports_every_missing_octet),
	        cmocka_unit_test(malformed_properties),
	        cmocka_unit_test(property_counts_are_bounded_before_use),
	        cmocka_unit_test(properties_without_data_have_their_defaults),
	        cmocka_unit_test(a_set_is_read_in_any_order),
	        cmocka_unit_test(padding_of_any_value_is_accepted_and_sent_as_zero),
	        cmocka_unit_test(property_subsets_count_bits_from_the_low_end),
	        cmocka_unit_test(property_subsets_are_bounded),
	        cmocka_unit_test(any_prefix_of_20_octets_is_read),
	        cmocka_unit_test(code_points_are_those_of_the_text),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
