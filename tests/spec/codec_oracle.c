/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our codec beside one generated from the specification's XDR.
 *
 *   codec_oracle [seed [iterations]]
 *
 * Each iteration makes a random item (prefix, chunk lists, error, property
 * set or subset), has both sides encode it and compares the octets; then both
 * decode those octets, and mutations of them, and the values are compared.
 * A disagreement prints the seed, the iteration and the octets, and ends the
 * program with status 1: the same seed shows it again.
 *
 * Where the two may differ, and how it is decided which is right:
 *
 *  D1  The generated decoder takes any "is present" word but 0 for TRUE; only
 *      0 and 1 are legal [K24].  Chunk lists have no padding, so what it
 *      accepts re-encodes to the same octets exactly if all such words were
 *      legal: then we must accept, otherwise refuse.
 *  D2  Padding octets that are not zero are accepted by both; re-encoded they
 *      are zero.  Property sets are compared by value.
 *  D3  The generated decoder does not look into rdma_data.  Its decoders for
 *      the property types do: data that they do not take exactly, and that is
 *      not empty, is a set that we must refuse [P5].
 *  D4  More segments or Write chunks than our arrays hold are only counted;
 *      then the numbers are compared and the prefix of what was stored.
 *
 * Requirements held by this comparison: V2-3.1.4-01 V2-3.1.4.2-01 V2-4.3.3-03
 * V2-4.3.5-01 V2-4.3.6-01 V2-5.1-01 V2-5.1-02 V2-5.1-03 V2-5.1-06 V2-5.1-07
 * V2-5.1-09 V2-5.1-13 V2-6.2.1-01 V2-6.2.2-01 V2-6.2.3-01 V2-6.2.3-02
 * V2-6.2.3-03 V2-6.2.3-04 V2-6.3.3-01 V2-6.3.3-08 V2-6.3.4-01 V2-7.2.1-01
 * V2-8.5-01
 */
#include "wire/wire.h" /* before the generated macros of the same names */

#include <rpc/rpc.h>
#include "rpcrdma_v2.h"

#include "oracle.h"
#include "oracle_lists.h"

enum {
	MAX_SUBSET = 32,
};

/* -- prefix ------------------------------------------------------------------------ */

static void compare_prefix(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	rpcrdma2_hdr_prefix theirs = {0};
	struct rr_prefix ours;
	size_t used;

	if (!expect(oracle_decode(PROC(rpcrdma2_hdr_prefix), &theirs, at, len,
	                          &used))) {
		CHECK(rr_wire_get_prefix(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
		return;
	}
	CHECK(rr_wire_get_prefix(&c, &ours) == 0);
	CHECK((size_t)(c.pos - at) == used);
	CHECK(ours.xid == theirs.rdma_start.rdma_xid);
	CHECK(ours.vers == theirs.rdma_start.rdma_vers);
	CHECK(ours.credit == theirs.rdma_start.rdma_credit);
	CHECK(ours.htype == theirs.rdma_start.rdma_htype);
	CHECK(ours.flags == theirs.rdma_flags);
}

static size_t make_prefix(uint8_t *buf)
{
	struct rr_prefix ours = {word(), word(), word(), word(), word()};
	rpcrdma2_hdr_prefix theirs = {{ours.xid, ours.vers, ours.credit, ours.htype},
	                              ours.flags};
	uint8_t copy[RR_WIRE_PREFIX];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	size_t len = oracle_encode(PROC(rpcrdma2_hdr_prefix), &theirs, buf, MAX_OCTETS);

	rr_wire_put_prefix(&w, &ours);
	CHECK(!rr_writer_bad(&w) && rr_writer_used(&w) == len);
	CHECK(!memcmp(copy, buf, len));
	return len;
}

/* -- chunk lists ------------------------------------------------------------------- */

static void compare_lists(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	rpcrdma2_chunk_lists theirs = {0};
	uint8_t canonical[MAX_OCTETS];
	struct rr_lists ours;
	size_t used;
	bool accept;

	accept = oracle_decode(PROC(rpcrdma2_chunk_lists), &theirs, at, len, &used);
	if (accept) { /* [D1] */
		CHECK(oracle_encode(PROC(rpcrdma2_chunk_lists), &theirs, canonical,
		                    sizeof(canonical)) == used);
		accept = !memcmp(canonical, at, used);
	}
	if (expect(accept)) {
		CHECK(rr_wire_get_lists(&c, &ours) == 0);
		CHECK((size_t)(c.pos - at) == used);
		check_lists(&ours, &theirs);
		check_reencoding(&ours, at, used);
	} else {
		CHECK(rr_wire_get_lists(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
	}
	xdr_free(PROC(rpcrdma2_chunk_lists), &theirs);
}

static size_t make_lists(uint8_t *buf)
{
	static struct model m;
	struct rr_lists l;
	size_t len;

	make_model(&m);
	len = oracle_encode(PROC(rpcrdma2_chunk_lists), &m.lists, buf, MAX_OCTETS);
	CHECK(len > 0);
	if (build(&l, &m.lists) == 0)
		check_reencoding(&l, buf, len);
	return len;
}

/* -- errors ---------------------------------------------------------------- */

static void check_error(const struct rr_error *o, const rpcrdma2_error *t)
{
	uint32_t a = 0, b = 0;

	switch (t->rdma_err) {
	case RDMA2_ERR_VERS:
		a = t->rpcrdma2_error_u.rdma_vrange.rdma_vers_low;
		b = t->rpcrdma2_error_u.rdma_vrange.rdma_vers_high;
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		a = t->rpcrdma2_error_u.rdma_max_chunks;
		break;
	case RDMA2_ERR_SEGMENTS:
		a = t->rpcrdma2_error_u.rdma_max_segments;
		break;
	case RDMA2_ERR_WRITE_RESOURCE:
		a = t->rpcrdma2_error_u.rdma_writeres.rdma_chunk_index;
		b = t->rpcrdma2_error_u.rdma_writeres.rdma_length_needed;
		break;
	case RDMA2_ERR_REPLY_RESOURCE:
		a = t->rpcrdma2_error_u.rdma_length_needed;
		break;
	}
	CHECK(o->code == t->rdma_err);
	CHECK(o->arg[0] == a);
	CHECK(o->arg[1] == b);
}

static void compare_error(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	rpcrdma2_error theirs = {0};
	uint8_t copy[12];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	struct rr_error ours;
	size_t used;

	if (!expect(oracle_decode(PROC(rpcrdma2_error), &theirs, at, len, &used))) {
		CHECK(rr_wire_get_error(&c, &ours) == -EBADMSG);
		check_untouched(&c, at, len);
		return;
	}
	CHECK(rr_wire_get_error(&c, &ours) == 0);
	CHECK((size_t)(c.pos - at) == used);
	check_error(&ours, &theirs);
	rr_wire_put_error(&w, &ours);
	CHECK(!rr_writer_bad(&w) && rr_writer_used(&w) == used);
	CHECK(!memcmp(copy, at, used));
}

/* The union's arm is two words at most, whatever their names. */
static size_t make_error(uint8_t *buf)
{
	rpcrdma2_error theirs = {.rdma_err = below(4) ? below(12) : word()};

	theirs.rpcrdma2_error_u.rdma_vrange = (rpcrdma2_err_vers){word(), word()};
	return oracle_encode(PROC(rpcrdma2_error), &theirs, buf, MAX_OCTETS);
}

/* -- property sets --------------------------------------------------------- */

/* Does the type of property @t take exactly its data?  [D3] */
static bool conforms(const rpcrdma2_propval *t)
{
	static const struct {
		xdrproc_t proc;
	} types[] = {
	        [RDMA2_PROPID_SBSIZ] = {PROC(rpcrdma2_prop_sbsiz)},
	        [RDMA2_PROPID_RBSIZ] = {PROC(rpcrdma2_prop_rbsiz)},
	        [RDMA2_PROPID_RSSIZ] = {PROC(rpcrdma2_prop_rssiz)},
	        [RDMA2_PROPID_RCSIZ] = {PROC(rpcrdma2_prop_rcsiz)},
	        [RDMA2_PROPID_BRS] = {PROC(rpcrdma2_prop_brs)},
	        [RDMA2_PROPID_HOSTAUTH] = {PROC(rpcrdma2_prop_hostauth)},
	};
	const uint8_t *data = (const uint8_t *)t->rdma_data.rdma_data_val;
	size_t len = t->rdma_data.rdma_data_len, used;
	rpcrdma2_prop_hostauth value = {0}; /* room for a uint32, too */
	xdrproc_t proc;
	bool ok;

	if (t->rdma_which >= RR_ARRAY_SIZE(types) || !types[t->rdma_which].proc || !len)
		return true;
	proc = types[t->rdma_which].proc;
	ok = oracle_decode(proc, &value, data, len, &used) && used == len;
	if (t->rdma_which == RDMA2_PROPID_HOSTAUTH)
		xdr_free(proc, &value);
	return ok;
}

static bool all_conform(const rpcrdma2_propset *t)
{
	for (u_int i = 0; i < t->rpcrdma2_propset_len; i++)
		if (!conforms(&t->rpcrdma2_propset_val[i]))
			return false;
	return true;
}

/* The whole set at @c, re-encoded to @w; the first error ends it. */
static int take_props(struct rr_cursor *c, const rpcrdma2_propset *t,
                      struct rr_writer *w)
{
	uint32_t count;
	int err = rr_wire_get_props_begin(c, &count);

	if (err)
		return err;
	rr_wire_put_props_begin(w, count);
	for (uint32_t i = 0; i < count; i++) {
		struct rr_cursor before = *c;
		struct rr_prop p;

		err = rr_wire_get_prop(c, &p);
		if (err) {
			CHECK(!memcmp(&before, c, sizeof(before)));
			return err;
		}
		rr_wire_put_prop(w, &p);
		if (!t)
			continue;
		CHECK(count == t->rpcrdma2_propset_len);
		CHECK(p.id == t->rpcrdma2_propset_val[i].rdma_which);
		CHECK(p.len == t->rpcrdma2_propset_val[i].rdma_data.rdma_data_len);
		CHECK(!p.len ||
		      !memcmp(p.data,
		              t->rpcrdma2_propset_val[i].rdma_data.rdma_data_val,
		              p.len));
		if (p.id >= RDMA2_PROPID_SBSIZ && p.id <= RDMA2_PROPID_BRS && p.len)
			CHECK(p.value == rr_load_u32(p.data));
	}
	return 0;
}

static void compare_props(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	rpcrdma2_connprop theirs = {0};
	uint8_t canonical[MAX_OCTETS], copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	size_t used;
	bool parsed;

	parsed = oracle_decode(PROC(rpcrdma2_connprop), &theirs, at, len, &used);
	if (expect(parsed && all_conform(&theirs.rdma_props))) {
		CHECK(take_props(&c, &theirs.rdma_props, &w) == 0);
		CHECK((size_t)(c.pos - at) == used);
		CHECK(oracle_encode(PROC(rpcrdma2_connprop), &theirs, canonical,
		                    sizeof(canonical)) == used);
		CHECK(!rr_writer_bad(&w) && rr_writer_used(&w) == used);
		CHECK(!memcmp(canonical, copy, used)); /* [D2] */
	} else {
		int err = take_props(&c, NULL, &w);

		CHECK(parsed ? err == -EINVAL : err == -EINVAL || err == -EBADMSG);
	}
	xdr_free(PROC(rpcrdma2_connprop), &theirs);
}

/* Data of the right type for most, of any length for some. */
static u_int make_data(uint32_t which, uint8_t *data)
{
	u_int n = below(24);

	for (u_int i = 0; i < 24; i++)
		data[i] = (uint8_t)rr_rng_next(&run.rng);
	if (!below(8))
		return n;
	if (!below(6))
		return 0;
	if (which != RDMA2_PROPID_HOSTAUTH)
		return which <= RDMA2_PROPID_BRS ? 4 : n;
	n = below(20);
	rr_store_u32(data, n);
	return 4 + n + (u_int)rr_pad(n);
}

static size_t make_props(uint8_t *buf)
{
	static rpcrdma2_propval val[64];
	static uint8_t data[64][24];
	u_int count = few(RR_ARRAY_SIZE(val)) + below(4);
	rpcrdma2_connprop theirs = {{RR_MIN(count, RR_ARRAY_SIZE(val)), val}};

	for (u_int i = 0; i < theirs.rdma_props.rpcrdma2_propset_len; i++) {
		val[i].rdma_which = below(8) ? below(8) : word();
		val[i].rdma_data.rdma_data_len = make_data(val[i].rdma_which, data[i]);
		val[i].rdma_data.rdma_data_val = (char *)data[i];
	}
	return oracle_encode(PROC(rpcrdma2_connprop), &theirs, buf, MAX_OCTETS);
}

/* -- property subsets ------------------------------------------------------ */

static void check_subset(const uint32_t *words, uint32_t count,
                         const rpcrdma2_propsubset *t)
{
	CHECK(count == t->rpcrdma2_propsubset_len);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t bit = 0; bit < 32; bit++)
			CHECK(rr_wire_propsubset_has(words, count, 32 * i + bit) ==
			      (t->rpcrdma2_propsubset_val[i] >> bit & 1));
	CHECK(!rr_wire_propsubset_has(words, count, 32 * count));
}

static void compare_subset(const uint8_t *at, size_t len)
{
	struct rr_cursor c = rr_cursor_over(at, len);
	rpcrdma2_propsubset theirs = {0};
	uint8_t copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));
	uint32_t words[MAX_OCTETS / 4], count;
	size_t used;

	if (expect(oracle_decode(PROC(rpcrdma2_propsubset), &theirs, at, len, &used))) {
		CHECK(rr_wire_get_propsubset(&c, words, RR_ARRAY_SIZE(words), &count) ==
		      0);
		CHECK((size_t)(c.pos - at) == used);
		check_subset(words, count, &theirs);
		rr_wire_put_propsubset(&w, words, count);
		CHECK(!rr_writer_bad(&w) && rr_writer_used(&w) == used);
		CHECK(!memcmp(copy, at, used));
	} else {
		CHECK(rr_wire_get_propsubset(&c, words, RR_ARRAY_SIZE(words), &count) ==
		      -EBADMSG);
		check_untouched(&c, at, len);
	}
	xdr_free(PROC(rpcrdma2_propsubset), &theirs);
}

static size_t make_subset(uint8_t *buf)
{
	uint32 words[MAX_SUBSET];
	rpcrdma2_propsubset theirs = {below(MAX_SUBSET), words};

	for (u_int i = 0; i < MAX_SUBSET; i++)
		words[i] = word();
	return oracle_encode(PROC(rpcrdma2_propsubset), &theirs, buf, MAX_OCTETS);
}

/* -- the run --------------------------------------------------------------- */

static const struct item items[] = {
        {"prefix", make_prefix, compare_prefix}, {"lists", make_lists, compare_lists},
        {"lists", make_lists, compare_lists}, /* half of all: most is in there */
        {"lists", make_lists, compare_lists},    {"lists", make_lists, compare_lists},
        {"error", make_error, compare_error},    {"props", make_props, compare_props},
        {"subset", make_subset, compare_subset},
};

int main(int argc, char **argv)
{
	return run_oracle(argc, argv, items, RR_ARRAY_SIZE(items));
}
