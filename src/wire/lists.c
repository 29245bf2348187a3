/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma2_chunk_lists, and the lists of version 1: decoding, encoding, building.
 *
 * A decoder reads the octets once, into a local structure.  It copies this structure to
 * the caller's structure after all lists have been read.  Three things end decoding
 * early: the end of the message, an "is present" word other than 0 or 1 [K24], and a
 * segment count that exceeds the remaining octets.  Counts are checked by division
 * before they are used.
 *
 * Segments are stored in wire order until the array is full.  Further segments are read
 * and checked, but only counted.  A chunk that does not fit keeps the segments already
 * stored, and @over is set in the lists.
 *
 * Array entries beyond n_reads, n_writes and n_segs are never written and have
 * no meaning.                                     [v2 §6.2.3, §4.3.3, §4.3.5]
 */
#include "wire/chunks.h"

enum {
	SEGMENT_BYTES = RR_CHUNKS_SEGMENT,
	READ_BYTES = 4 + SEGMENT_BYTES, /* position, segment */
	ENTRY_BYTES = 4,                /* the "is present" word before a list entry */
	COUNT_BYTES = 4,                /* the count word of a Write or Reply chunk */
	HANDLE_BYTES = 4,               /* rdma_inv_handle, only in version 2 */
	EMPTY_BYTES = 12,               /* three empty lists */
};

struct rr_segment rr_chunks_load_segment(const uint8_t *p)
{
	return (struct rr_segment){
	        .handle = rr_load_u32(p),
	        .length = rr_load_u32(p + 4),
	        .offset = rr_load_u64(p + 8),
	};
}

void rr_chunks_store_segment(uint8_t *p, const struct rr_segment *s)
{
	rr_store_u32(p, s->handle);
	rr_store_u32(p + 4, s->length);
	rr_store_u64(p + 8, s->offset);
}

static bool segs_full(const struct rr_lists *l)
{
	return l->n_segs == RR_WIRE_MAX_SEGMENTS;
}

/* Counts a segment, and appends it to chunk @k unless the array is full. */
static void append_segment(struct rr_lists *l, struct rr_chunk *k,
                           const struct rr_segment *s)
{
	l->total_segs++;
	if (segs_full(l)) {
		l->over = true;
		return;
	}
	l->seg[l->n_segs++] = *s;
	k->count++;
	k->length += s->length;
}

/* Appends a Read segment to the Read list.  @last is the Position of the preceding Read
 * segment.  If the array is full, only counts the segment. */
static void append_read(struct rr_lists *l, uint32_t last, uint32_t position,
                        const struct rr_segment *s)
{
	bool first = l->total_reads == 0;

	if (first || position != last) {
		if (!first && position < last)
			l->reads_descend = true;
		(void)rr_chunks_append_read(l, position); /* appended unless the arrays
		                                           * are full */
	}
	append_segment(l, &l->reads[l->n_reads - 1], s);
}

struct rr_chunk *rr_chunks_append_read(struct rr_lists *l, uint32_t position)
{
	struct rr_chunk *k;

	l->total_reads++;
	if (segs_full(l)) {
		l->over = true;
		return NULL;
	}
	k = &l->reads[l->n_reads++];
	*k = (struct rr_chunk){.first = l->n_segs, .position = position};
	return k;
}

struct rr_chunk *rr_chunks_append_write(struct rr_lists *l)
{
	struct rr_chunk *k;

	l->total_writes++;
	if (l->n_writes == RR_WIRE_MAX_WRITES) {
		l->over = true;
		return NULL;
	}
	k = &l->writes[l->n_writes++];
	*k = (struct rr_chunk){.first = l->n_segs};
	return k;
}

struct rr_chunk *rr_chunks_start_reply(struct rr_lists *l)
{
	l->has_reply = true;
	l->reply = (struct rr_chunk){.first = l->n_segs};
	return &l->reply;
}

/* -- decoding -------------------------------------------------------------- */

bool rr_chunks_get_present(struct rr_cursor *c)
{
	uint32_t word = rr_get_u32(c);

	if (word > 1)
		c->bad = true;
	return word == 1;
}

static void get_reads(struct rr_cursor *c, struct rr_lists *l)
{
	uint32_t last = 0;

	while (rr_chunks_get_present(c)) {
		const uint8_t *p = rr_get_bytes(c, READ_BYTES);
		struct rr_segment s;
		uint32_t position;

		if (!p)
			return;
		position = rr_load_u32(p);
		s = rr_chunks_load_segment(p + 4);
		append_read(l, last, position, &s);
		last = position;
	}
}

uint32_t rr_chunks_get_segments(struct rr_cursor *c, struct rr_lists *l,
                                struct rr_chunk *k)
{
	uint32_t count = rr_get_u32(c);
	const uint8_t *p;

	if (count > rr_cursor_left(c) / SEGMENT_BYTES) {
		c->bad = true;
		return 0;
	}
	p = rr_get_bytes(c, (size_t)count * SEGMENT_BYTES);
	if (!k) {
		l->total_segs += count;
		return count;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct rr_segment s =
		        rr_chunks_load_segment(p + (size_t)i * SEGMENT_BYTES);

		append_segment(l, k, &s);
	}
	return count;
}

static void get_writes(struct rr_cursor *c, struct rr_lists *l)
{
	while (rr_chunks_get_present(c))
		(void)rr_chunks_get_segments(
		        c, l, rr_chunks_append_write(l)); /* may be empty */
}

void rr_chunks_copy(struct rr_lists *to, const struct rr_lists *from)
{
	memcpy(to, from, offsetof(struct rr_lists, reads));
	for (uint16_t i = 0; i < from->n_reads; i++)
		to->reads[i] = from->reads[i];
	for (uint16_t i = 0; i < from->n_writes; i++)
		to->writes[i] = from->writes[i];
	for (uint16_t i = 0; i < from->n_segs; i++)
		to->seg[i] = from->seg[i];
	to->reply = from->reply;
}

void rr_chunks_get(struct rr_cursor *c, struct rr_lists *l)
{
	get_reads(c, l);
	get_writes(c, l);
	if (rr_chunks_get_present(c))
		(void)rr_chunks_get_segments(
		        c, l, rr_chunks_start_reply(l)); /* may be empty */
}

int rr_wire_get_lists(struct rr_cursor *c, struct rr_lists *ret)
{
	struct rr_cursor t = *c;
	struct rr_lists l;

	rr_lists_init(&l);
	l.inv_handle = rr_get_u32(&t);
	rr_chunks_get(&t, &l);
	if (rr_cursor_bad(&t))
		return -EBADMSG;
	*c = t;
	rr_chunks_copy(ret, &l);
	return 0;
}

/* -- encoding -------------------------------------------------------------- */

static void put_read_chunk(struct rr_writer *w, const struct rr_lists *l,
                           const struct rr_chunk *k)
{
	for (uint16_t i = 0; i < k->count; i++) {
		uint8_t *p = rr_put_space(w, ENTRY_BYTES + READ_BYTES);

		if (!p)
			return;
		rr_store_u32(p, 1);
		rr_store_u32(p + 4, k->position);
		rr_chunks_store_segment(p + 8, &l->seg[k->first + i]);
	}
}

void rr_chunks_put_segments(struct rr_writer *w, const struct rr_lists *l,
                            const struct rr_chunk *k)
{
	rr_put_u32(w, k->count);
	for (uint16_t i = 0; i < k->count; i++) {
		uint8_t *p = rr_put_space(w, SEGMENT_BYTES);

		if (!p)
			return;
		rr_chunks_store_segment(p, &l->seg[k->first + i]);
	}
}

/* Encodes a Write or Reply chunk, preceded by its "is present" word. */
static void put_chunk(struct rr_writer *w, const struct rr_lists *l,
                      const struct rr_chunk *k)
{
	rr_put_u32(w, 1);
	rr_chunks_put_segments(w, l, k);
}

void rr_chunks_put(struct rr_writer *w, const struct rr_lists *l)
{
	/* incomplete lists would differ from the lists received */
	if (l->over) {
		w->bad = true;
		return;
	}
	for (uint16_t i = 0; i < l->n_reads; i++)
		put_read_chunk(w, l, &l->reads[i]);
	rr_put_u32(w, 0);
	for (uint16_t i = 0; i < l->n_writes; i++)
		put_chunk(w, l, &l->writes[i]);
	rr_put_u32(w, 0);
	if (l->has_reply)
		put_chunk(w, l, &l->reply);
	else
		rr_put_u32(w, 0);
}

void rr_wire_put_lists(struct rr_writer *w, const struct rr_lists *l)
{
	if (!l->over)
		rr_put_u32(w, l->inv_handle);
	rr_chunks_put(w, l);
}

size_t rr_wire_lists_size(const struct rr_lists *l)
{
	return HANDLE_BYTES + rr_chunks_size(l);
}

size_t rr_chunks_size(const struct rr_lists *l)
{
	size_t size = EMPTY_BYTES;

	for (uint16_t i = 0; i < l->n_reads; i++)
		size += (size_t)l->reads[i].count * (ENTRY_BYTES + READ_BYTES);
	for (uint16_t i = 0; i < l->n_writes; i++)
		size += ENTRY_BYTES + COUNT_BYTES +
		        (size_t)l->writes[i].count * SEGMENT_BYTES;
	if (l->has_reply)
		size += COUNT_BYTES + (size_t)l->reply.count * SEGMENT_BYTES;
	return size;
}

/* -- building -------------------------------------------------------------- */

void rr_lists_init(struct rr_lists *l)
{
	memset(l, 0, offsetof(struct rr_lists, reads));
	l->reply = (struct rr_chunk){0};
}

int rr_lists_add_read(struct rr_lists *l, uint32_t position, const struct rr_segment *s)
{
	uint32_t last = l->n_reads ? l->reads[l->n_reads - 1].position : 0;

	RR_ASSERT(!l->n_writes && !l->has_reply);
	if (segs_full(l))
		return -ENOSPC;
	append_read(l, last, position, s);
	return 0;
}

int rr_lists_begin_write(struct rr_lists *l)
{
	RR_ASSERT(!l->has_reply);
	if (l->n_writes == RR_WIRE_MAX_WRITES)
		return -ENOSPC;
	(void)rr_chunks_append_write(l); /* appended as writes[n_writes - 1] */
	return 0;
}

int rr_lists_begin_reply(struct rr_lists *l)
{
	RR_ASSERT(!l->has_reply);
	(void)rr_chunks_start_reply(l); /* started in @l->reply */
	return 0;
}

int rr_lists_add_segment(struct rr_lists *l, const struct rr_segment *s)
{
	struct rr_chunk *k;

	RR_ASSERT(l->has_reply || l->n_writes);
	if (segs_full(l))
		return -ENOSPC;
	k = l->has_reply ? &l->reply : &l->writes[l->n_writes - 1];
	append_segment(l, k, s);
	return 0;
}

bool rr_lists_empty(const struct rr_lists *l)
{
	return !l->n_reads && !l->n_writes && !l->has_reply;
}
