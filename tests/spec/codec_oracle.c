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
#include <stdio.h>
#include <stdlib.h>

#include "wire/wire.h" /* before the generated macros of the same names */

#include <rpc/rpc.h>
#include "rpcrdma_v2.h"

enum {
	MAX_OCTETS = 4096, /* of a message, and so of every count in it */
	MAX_SEGS = 80,     /* somewhat more than our arrays hold */
	MAX_SUBSET = 32,
	MUTATIONS = 6, /* of each item */
	DEFAULT_ITERATIONS = 20000,
};

static struct {
	unsigned long seed, iteration;
	unsigned long accepted, refused, over;
	struct rr_rng rng;
	const char *item;
	const uint8_t *octets;
	size_t len;
} run;

static _Noreturn void disagree(const char *what, int line)
{
	fprintf(stderr, "%s: %s (line %d), seed %lu, iteration %lu, %zu octets:\n",
	        run.item, what, line, run.seed, run.iteration, run.len);
	for (size_t i = 0; i < run.len; i++)
		fprintf(stderr, "%02x%s", run.octets[i],
		        i % 32 == 31 || i + 1 == run.len ? "\n"
		        : i % 4 == 3                     ? " "
		                                         : "");
	exit(1);
}

#define CHECK(x) ((x) ? (void)0 : disagree(#x, __LINE__))

static uint32_t below(uint32_t n)
{
	return (uint32_t)rr_rng_below(&run.rng, n);
}

/* Any word, most often one at which something could change. */
static uint32_t word(void)
{
	static const uint32_t edges[] = {
	        0,          1,          2,          3,          4,
	        5,          6,          8,          16,         100,
	        0x0fffffff, 0x10000000, 0x1fffffff, 0x20000000, 0x40000000,
	        0x7fffffff, 0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff};
	uint32_t any = (uint32_t)rr_rng_next(&run.rng);

	return below(3) ? edges[below(RR_ARRAY_SIZE(edges))] : any;
}

/* -- the generated side --------------------------------------------------------- */

/* Octets written, 0 if it does not fit. */
static size_t oracle_encode(xdrproc_t proc, void *obj, uint8_t *buf, size_t len)
{
	XDR x;
	size_t used = 0;

	xdrmem_create(&x, (char *)buf, (u_int)len, XDR_ENCODE);
	if (proc(&x, obj))
		used = xdr_getpos(&x);
	xdr_destroy(&x);
	return used;
}

/*
 * Decodes into @obj, zeroed by the caller, who frees it by xdr_free also after
 * a failure.  The octets are not written to.
 */
static bool oracle_decode(xdrproc_t proc, void *obj, const uint8_t *at, size_t len,
                          size_t *ret_used)
{
	char *octets = (char *)(uintptr_t)at;
	XDR x;
	bool ok;

	xdrmem_create(&x, octets, (u_int)len, XDR_DECODE);
	ok = proc(&x, obj);
	*ret_used = ok ? xdr_getpos(&x) : 0;
	xdr_destroy(&x);
	return ok;
}

#define PROC(name) ((xdrproc_t)(void (*)(void))xdr_##name)

/* Every use counts, for the last line of output. */
static bool expect(bool accept)
{
	if (accept)
		run.accepted++;
	else
		run.refused++;
	return accept;
}

/* Ours refused: nothing may have moved. */
static void check_untouched(const struct rr_cursor *c, const uint8_t *at, size_t len)
{
	CHECK(c->pos == at);
	CHECK(c->end == at + len);
	CHECK(!c->bad);
}

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

static void check_segment(const struct rr_segment *o, const rpcrdma2_segment *t)
{
	CHECK(o->handle == t->rdma_handle);
	CHECK(o->length == t->rdma_length);
	CHECK(o->offset == t->rdma_offset);
}

/* How far the comparison has come in our segments. */
struct walk {
	const struct rr_lists *l;
	uint32_t segs;  /* of the generated side */
	uint16_t chunk; /* Read chunk of the last segment */
};

/* Segments are in wire order, the first n_segs of them stored. [D4] */
static bool next_segment(struct walk *k, const rpcrdma2_segment *t)
{
	bool stored = k->segs < k->l->n_segs;

	if (stored)
		check_segment(&k->l->seg[k->segs], t);
	k->segs++;
	return stored;
}

static void check_reads(struct walk *k, const rpcrdma2_read_list *t)
{
	uint32_t chunks = 0, last = 0;
	uint64_t length = 0;
	bool descend = false;

	for (; t; t = t->rdma_next) {
		uint32_t position = t->rdma_entry.rdma_position;
		const struct rr_chunk *c;

		if (!chunks || position != last) {
			descend |= chunks && position < last;
			chunks++;
			length = 0;
		}
		last = position;
		if (!next_segment(k, &t->rdma_entry.rdma_target))
			continue;
		CHECK(chunks <= k->l->n_reads);
		c = &k->l->reads[chunks - 1];
		length += t->rdma_entry.rdma_target.rdma_length;
		CHECK(c->position == position);
		CHECK(c->first < k->segs && k->segs <= (uint32_t)c->first + c->count);
		CHECK(k->segs < (uint32_t)c->first + c->count || c->length == length);
	}
	CHECK(k->l->total_reads == chunks);
	CHECK(k->l->over || k->l->n_reads == chunks);
	CHECK(k->l->reads_descend == descend);
}

static void check_chunk(struct walk *k, const struct rr_chunk *c,
                        const rpcrdma2_write_chunk *t)
{
	uint64_t length = 0;
	uint32_t stored = 0;

	CHECK(c->first == RR_MIN(k->segs, k->l->n_segs));
	for (u_int i = 0; i < t->rdma_target.rdma_target_len; i++) {
		if (!next_segment(k, &t->rdma_target.rdma_target_val[i]))
			continue;
		length += t->rdma_target.rdma_target_val[i].rdma_length;
		stored++;
	}
	CHECK(c->count == stored);
	CHECK(c->length == length);
}

/* Of chunks that found no room only the numbers can be compared. */
static void check_lists(const struct rr_lists *l, const rpcrdma2_chunk_lists *t)
{
	struct walk k = {.l = l};
	uint32_t writes = 0, skipped = 0;

	CHECK(l->inv_handle == t->rdma_inv_handle);
	check_reads(&k, t->rdma_reads);
	for (const rpcrdma2_write_list *w = t->rdma_writes; w; w = w->rdma_next) {
		if (writes < RR_WIRE_MAX_WRITES)
			check_chunk(&k, &l->writes[writes], &w->rdma_entry);
		else
			skipped += w->rdma_entry.rdma_target.rdma_target_len;
		writes++;
	}
	CHECK(l->total_writes == writes);
	CHECK(l->n_writes == RR_MIN(writes, RR_WIRE_MAX_WRITES));
	CHECK(l->has_reply == (t->rdma_reply != NULL));
	if (t->rdma_reply)
		check_chunk(&k, &l->reply, t->rdma_reply);
	CHECK(l->total_segs == k.segs + skipped);
	CHECK(l->n_segs == RR_MIN(k.segs, RR_WIRE_MAX_SEGMENTS));
	CHECK(l->over ==
	      (k.segs > RR_WIRE_MAX_SEGMENTS || writes > RR_WIRE_MAX_WRITES));
	CHECK(rr_lists_empty(l) ==
	      (!t->rdma_reads && !t->rdma_writes && !t->rdma_reply));
}

/* What was accepted encodes to the octets it came from. */
static void check_reencoding(const struct rr_lists *l, const uint8_t *at, size_t len)
{
	uint8_t copy[MAX_OCTETS];
	struct rr_writer w = rr_writer_over(copy, sizeof(copy));

	rr_wire_put_lists(&w, l);
	CHECK(rr_writer_bad(&w) == l->over);
	if (l->over) {
		run.over++;
		return;
	}
	CHECK(rr_wire_lists_size(l) == len);
	CHECK(rr_writer_used(&w) == len);
	CHECK(!memcmp(copy, at, len));
}

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

/* Structures of the generated side live here while one item is encoded. */
struct model {
	rpcrdma2_chunk_lists lists;
	rpcrdma2_read_list reads[MAX_SEGS];
	rpcrdma2_write_list writes[MAX_SEGS];
	rpcrdma2_write_chunk reply;
	rpcrdma2_segment seg[MAX_SEGS];
	u_int n_segs;
};

static rpcrdma2_segment make_segment(void)
{
	return (rpcrdma2_segment){word(), word(), (uint64)word() << 32 | word()};
}

static void make_reads(struct model *m, u_int n)
{
	uint32_t position = below(2) ? 0 : word();

	for (u_int i = 0; i < n; i++) {
		if (!below(3))
			position = below(10) ? position + 4 * below(100) : word();
		m->reads[i].rdma_entry.rdma_position = position;
		m->reads[i].rdma_entry.rdma_target = make_segment();
		m->reads[i].rdma_next = i + 1 < n ? &m->reads[i + 1] : NULL;
	}
	m->lists.rdma_reads = n ? m->reads : NULL;
}

static void make_chunk(struct model *m, rpcrdma2_write_chunk *c, u_int n)
{
	n = RR_MIN(n, MAX_SEGS - m->n_segs);
	c->rdma_target.rdma_target_len = n;
	c->rdma_target.rdma_target_val = &m->seg[m->n_segs];
	for (u_int i = 0; i < n; i++)
		m->seg[m->n_segs++] = make_segment();
}

static void make_writes(struct model *m, u_int n)
{
	for (u_int i = 0; i < n; i++) {
		make_chunk(m, &m->writes[i].rdma_entry, below(5));
		m->writes[i].rdma_next = i + 1 < n ? &m->writes[i + 1] : NULL;
	}
	m->lists.rdma_writes = n ? m->writes : NULL;
}

/* Few of each as a rule, now and then more than we keep. */
static u_int few(u_int many)
{
	return below(12) ? below(4) : below(many);
}

static struct rr_segment ours_of(const rpcrdma2_segment *t)
{
	return (struct rr_segment){t->rdma_handle, t->rdma_length, t->rdma_offset};
}

static int build_chunk(struct rr_lists *l, const rpcrdma2_write_chunk *t)
{
	int err = 0;

	for (u_int i = 0; !err && i < t->rdma_target.rdma_target_len; i++) {
		struct rr_segment s = ours_of(&t->rdma_target.rdma_target_val[i]);

		err = rr_lists_add_segment(l, &s);
	}
	return err;
}

/* The same lists by our builder; -ENOSPC if they are more than it takes. */
static int build(struct rr_lists *l, const rpcrdma2_chunk_lists *t)
{
	int err = 0;

	rr_lists_init(l);
	l->inv_handle = t->rdma_inv_handle;
	for (rpcrdma2_read_list *r = t->rdma_reads; !err && r; r = r->rdma_next) {
		struct rr_segment s = ours_of(&r->rdma_entry.rdma_target);

		err = rr_lists_add_read(l, r->rdma_entry.rdma_position, &s);
	}
	for (rpcrdma2_write_list *w = t->rdma_writes; !err && w; w = w->rdma_next) {
		err = rr_lists_begin_write(l);
		if (!err)
			err = build_chunk(l, &w->rdma_entry);
	}
	if (!err && t->rdma_reply)
		err = rr_lists_begin_reply(l);
	if (!err && t->rdma_reply)
		err = build_chunk(l, t->rdma_reply);
	return err;
}

static size_t make_lists(uint8_t *buf)
{
	static struct model m;
	struct rr_lists l;
	size_t len;

	m.n_segs = 0;
	m.lists.rdma_inv_handle = word();
	make_reads(&m, few(MAX_SEGS));
	make_writes(&m, few(24));
	m.lists.rdma_reply = below(2) ? &m.reply : NULL;
	make_chunk(&m, &m.reply, few(MAX_SEGS));
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

static const struct item {
	const char *name;
	size_t (*make)(uint8_t *buf); /* encoded by both, compared */
	void (*compare)(const uint8_t *at, size_t len);
} items[] = {
        {"prefix", make_prefix, compare_prefix}, {"lists", make_lists, compare_lists},
        {"lists", make_lists, compare_lists}, /* half of all: most is in there */
        {"lists", make_lists, compare_lists},    {"lists", make_lists, compare_lists},
        {"error", make_error, compare_error},    {"props", make_props, compare_props},
        {"subset", make_subset, compare_subset},
};

/* Changes the octets at @at in place; returns how many there are now. */
static size_t mutate(uint8_t *at, size_t len)
{
	size_t words = len / 4, i = words ? below((uint32_t)words) * 4u : 0;

	switch (words ? below(6) : 3) {
	case 0:
		at[below((uint32_t)len)] ^= (uint8_t)(1u << below(8));
		return len;
	case 1:
		rr_store_u32(at + i, word());
		return len;
	case 2:
		return below((uint32_t)len); /* cut */
	case 3:                              /* append */
		for (size_t end = len + below(64); len < end; len++)
			at[len] = (uint8_t)word();
		return len;
	case 4: /* take a word out */
		memmove(at + i, at + i + 4, len - i - 4);
		return len - 4;
	case 5: /* put one in */
		memmove(at + i + 4, at + i, len - i);
		rr_store_u32(at + i, word());
		return len + 4;
	}
	return len;
}

/* From exactly @len octets of heap, so that a sanitizer sees the end. */
static void compare(const struct item *it, const uint8_t *buf, size_t len)
{
	uint8_t *at = malloc(len + !len);

	if (!at)
		abort();
	memcpy(at, buf, len);
	run.octets = at;
	run.len = len;
	it->compare(at, len);
	run.octets = buf;
	free(at);
}

static void iterate(void)
{
	static uint8_t buf[MAX_OCTETS];
	const struct item *it = &items[below(RR_ARRAY_SIZE(items))];
	size_t len;

	run.item = it->name;
	run.octets = buf;
	run.len = 0;
	len = it->make(buf);
	if (!len || len > MAX_OCTETS - MUTATIONS * 64)
		return;
	compare(it, buf, len);
	for (int i = 0; i < MUTATIONS; i++) {
		len = mutate(buf, len);
		compare(it, buf, len);
	}
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : DEFAULT_ITERATIONS;

	run.seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	rr_rng_seed(&run.rng, run.seed);
	for (run.iteration = 0; run.iteration < n; run.iteration++)
		iterate();
	printf("seed %lu: %lu items, %lu decoded (%lu over our limits), %lu refused\n",
	       run.seed, n, run.accepted, run.over, run.refused);
	return 0;
}
