/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generated chunk lists beside struct rr_lists: random ones, and comparison.  Include
 * after the generated header and oracle.h.  The labels in brackets are explained in
 * codec_oracle.c.
 */
#ifndef SPEC_ORACLE_LISTS_H
#define SPEC_ORACLE_LISTS_H

#include "wire/wire.h"

enum { MAX_SEGS = 80 }; /* somewhat more than our arrays hold */

static inline void check_segment(const struct rr_segment *o, const rpcrdma2_segment *t)
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
static inline bool next_segment(struct walk *k, const rpcrdma2_segment *t)
{
	bool stored = k->segs < k->l->n_segs;

	if (stored)
		check_segment(&k->l->seg[k->segs], t);
	k->segs++;
	return stored;
}

static inline void check_reads(struct walk *k, const rpcrdma2_read_list *t)
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

static inline void check_chunk(struct walk *k, const struct rr_chunk *c,
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
static inline void check_lists(const struct rr_lists *l, const rpcrdma2_chunk_lists *t)
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
static inline void check_reencoding(const struct rr_lists *l, const uint8_t *at,
                                    size_t len)
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

/* Structures of the generated side live here while one item is encoded. */
struct model {
	rpcrdma2_chunk_lists lists;
	rpcrdma2_read_list reads[MAX_SEGS];
	rpcrdma2_write_list writes[MAX_SEGS];
	rpcrdma2_write_chunk reply;
	rpcrdma2_segment seg[MAX_SEGS];
	u_int n_segs;
};

static inline rpcrdma2_segment make_segment(void)
{
	return (rpcrdma2_segment){word(), word(), (uint64)word() << 32 | word()};
}

static inline void make_reads(struct model *m, u_int n)
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

static inline void make_chunk(struct model *m, rpcrdma2_write_chunk *c, u_int n)
{
	n = RR_MIN(n, MAX_SEGS - m->n_segs);
	c->rdma_target.rdma_target_len = n;
	c->rdma_target.rdma_target_val = &m->seg[m->n_segs];
	for (u_int i = 0; i < n; i++)
		m->seg[m->n_segs++] = make_segment();
}

static inline void make_writes(struct model *m, u_int n)
{
	for (u_int i = 0; i < n; i++) {
		make_chunk(m, &m->writes[i].rdma_entry, below(5));
		m->writes[i].rdma_next = i + 1 < n ? &m->writes[i + 1] : NULL;
	}
	m->lists.rdma_writes = n ? m->writes : NULL;
}

static inline void make_model(struct model *m)
{
	m->n_segs = 0;
	m->lists.rdma_inv_handle = word();
	make_reads(m, few(MAX_SEGS));
	make_writes(m, few(24));
	m->lists.rdma_reply = below(2) ? &m->reply : NULL;
	make_chunk(m, &m->reply, few(MAX_SEGS));
}

static inline struct rr_segment ours_of(const rpcrdma2_segment *t)
{
	return (struct rr_segment){t->rdma_handle, t->rdma_length, t->rdma_offset};
}

static inline int build_chunk(struct rr_lists *l, const rpcrdma2_write_chunk *t)
{
	int err = 0;

	for (u_int i = 0; !err && i < t->rdma_target.rdma_target_len; i++) {
		struct rr_segment s = ours_of(&t->rdma_target.rdma_target_val[i]);

		err = rr_lists_add_segment(l, &s);
	}
	return err;
}

/* The same lists by our builder; -ENOSPC if they are more than it takes. */
static inline int build(struct rr_lists *l, const rpcrdma2_chunk_lists *t)
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

#endif
