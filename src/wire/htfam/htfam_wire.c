/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers by message kind: decoding into struct rr_lists, and encoding.
 *
 * The body of each type is a subset of the same fields, always in the same order.
 * find_parts returns the fields of a type; all other code is common to all types.
 *
 * struct rr_lists keeps segments in the order Read, Write, Reply.  A PUSHED body, which
 * becomes the Reply chunk, precedes the results on the wire.  So its segments are
 * checked and skipped at first, and decoded after the results. [ext §6.3, §6.4, §6.5]
 */
#include "wire/htfam/htfam_wire.h"

#include "wire/chunks.h"

/* The fields of a body, in wire order. */
enum part {
	PART_HANDLE = 1,    /* rdma_inv_handle */
	PART_PULLED = 2,    /* body chunk of a Call */
	PART_BODY = 4,      /* body chunk of a Reply */
	PART_ARGS = 8,      /* argument chunks */
	PART_RESULTS = 16,  /* provisioned or actual result chunks */
	PART_REPLY = 32,    /* segments provisioned for the Reply */
	PART_REMAINING = 64 /* rdma_remaining */
};

enum {
	WORD = 4,
	CHUNK_BYTES = 8, /* position and count of segments */
};

static unsigned find_parts(uint32_t htype)
{
	switch ((enum rr_wire_htfam_htype)htype) {
	case RDMA2_X_CALL_EXTERNAL:
		return PART_HANDLE | PART_PULLED | PART_ARGS | PART_RESULTS |
		       PART_REPLY;
	case RDMA2_X_CALL_LAST:
		return PART_HANDLE | PART_ARGS | PART_RESULTS | PART_REPLY;
	case RDMA2_X_REPLY_EXTERNAL:
		return PART_HANDLE | PART_BODY | PART_RESULTS;
	case RDMA2_X_REPLY_LAST:
		return PART_RESULTS;
	case RDMA2_X_CALL_MIDDLE:
	case RDMA2_X_REPLY_MIDDLE:
		return PART_REMAINING;
	case RDMA2_X_GRANT:
	case RDMA2_X_CONNPROP_MIDDLE:
	case RDMA2_X_CONNPROP_LAST:
		return 0;
	}
	return 0;
}

int rr_wire_htfam_get_value(const void *data, uint32_t len, uint32_t *ret)
{
	uint32_t flags;

	if (rr_wire_get_value_u32(data, len, 0, &flags))
		return -EINVAL;
	*ret = flags & (RDMA2_HTFAM_RPC | RDMA2_HTFAM_CTRL);
	return 0;
}

void rr_wire_htfam_put_value(struct rr_writer *w, uint32_t flags)
{
	rr_put_u32(w, flags);
}

/* -- decoding -------------------------------------------------------------- */

/* Decodes a counted array of segments, which must not be empty. */
static void get_some_segments(struct rr_cursor *c, struct rr_lists *l,
                              struct rr_chunk *k)
{
	if (!rr_chunks_get_segments(c, l, k))
		c->bad = true;
}

/* Checks a nonempty counted array of segments, and skips it. */
static void skip_segments(struct rr_cursor *c)
{
	uint32_t count = rr_get_u32(c);

	if (!count || count > rr_cursor_left(c) / RR_CHUNKS_SEGMENT)
		c->bad = true;
	(void)rr_get_bytes(c, (size_t)count * RR_CHUNKS_SEGMENT); /* only moves */
}

/* Decodes a body chunk.  If the chunk is PUSHED, only checks its segments and stores a
 * cursor at the first of them in @ret_pushed.  The caller has initialised @ret_pushed
 * as bad. */
static void get_body_chunk(struct rr_cursor *c, struct rr_lists *l, unsigned parts,
                           struct rr_cursor *ret_pushed)
{
	uint32_t how = rr_get_u32(c);

	if (how == RDMA2_BODY_PULL) {
		get_some_segments(c, l, rr_chunks_append_read(l, 0));
	} else if (how == RDMA2_BODY_PUSHED && (parts & PART_BODY)) {
		*ret_pushed = *c;
		skip_segments(c);
	} else {
		c->bad = true;
	}
}

static void get_arg_chunks(struct rr_cursor *c, struct rr_lists *l)
{
	uint32_t count = rr_get_u32(c), last = 0;

	if (count > rr_cursor_left(c) / (CHUNK_BYTES + RR_CHUNKS_SEGMENT))
		c->bad = true;
	for (uint32_t i = 0; i < count && !rr_cursor_bad(c); i++) {
		uint32_t position = rr_get_u32(c);

		if (position <= last || (position & 3)) {
			c->bad = true;
			return;
		}
		last = position;
		get_some_segments(c, l, rr_chunks_append_read(l, position));
	}
}

static void get_result_chunks(struct rr_cursor *c, struct rr_lists *l)
{
	uint32_t count = rr_get_u32(c);

	if (count > rr_cursor_left(c) / CHUNK_BYTES)
		c->bad = true;
	for (uint32_t i = 0; i < count && !rr_cursor_bad(c); i++) {
		(void)rr_get_u32(c); /* the position has no meaning here */
		(void)rr_chunks_get_segments(c, l,
		                             rr_chunks_append_write(l)); /* or none */
	}
}

/* Decodes the segments provisioned for the Reply.  If there are no segments, @l gets no
 * Reply chunk. */
static void get_provided_reply(struct rr_cursor *c, struct rr_lists *l)
{
	struct rr_cursor t = *c;

	if (rr_get_u32(&t) == 0)
		*c = t;
	else
		(void)rr_chunks_get_segments(c, l,
		                             rr_chunks_start_reply(l)); /* not 0 */
}

static void get_parts(struct rr_cursor *c, unsigned parts, struct rr_lists *l)
{
	struct rr_cursor pushed = {.bad = true};

	if (parts & PART_HANDLE)
		l->inv_handle = rr_get_u32(c);
	if (parts & (PART_PULLED | PART_BODY))
		get_body_chunk(c, l, parts, &pushed);
	if (parts & PART_ARGS)
		get_arg_chunks(c, l);
	if (parts & PART_RESULTS)
		get_result_chunks(c, l);
	if (parts & PART_REPLY)
		get_provided_reply(c, l);
	if (!rr_cursor_bad(&pushed))
		(void)rr_chunks_get_segments(&pushed, l,
		                             rr_chunks_start_reply(l)); /* as skipped */
}

int rr_wire_htfam_get_lists(struct rr_cursor *c, uint32_t htype, struct rr_lists *ret,
                            uint32_t *ret_remaining)
{
	unsigned parts = find_parts(htype);
	struct rr_cursor t = *c;
	uint32_t remaining = 0;
	struct rr_lists l;

	rr_lists_init(&l);
	get_parts(&t, parts, &l);
	if (parts & PART_REMAINING)
		remaining = rr_get_u32(&t);
	if (rr_cursor_bad(&t))
		return -EBADMSG;
	*c = t;
	*ret_remaining = remaining;
	rr_chunks_copy(ret, &l);
	return 0;
}

/* -- encoding -------------------------------------------------------------- */

static bool has_pulled_body(const struct rr_lists *l)
{
	return l->n_reads && l->reads[0].position == 0;
}

/* Returns true if a header that has @parts can represent @l. */
static bool fits_parts(const struct rr_lists *l, unsigned parts)
{
	bool pulled = has_pulled_body(l);

	if (l->over || l->reads_descend)
		return false;
	if (l->n_reads > pulled && !(parts & PART_ARGS))
		return false;
	if (l->n_writes && !(parts & PART_RESULTS))
		return false;
	if (parts & PART_BODY)
		return pulled != l->has_reply;
	if (l->has_reply && !(parts & PART_REPLY))
		return false;
	return pulled == !!(parts & PART_PULLED);
}

static void put_body_chunk(struct rr_writer *w, const struct rr_lists *l)
{
	if (has_pulled_body(l)) {
		rr_put_u32(w, RDMA2_BODY_PULL);
		rr_chunks_put_segments(w, l, &l->reads[0]);
	} else {
		rr_put_u32(w, RDMA2_BODY_PUSHED);
		rr_chunks_put_segments(w, l, &l->reply);
	}
}

/* Encodes @n chunks as a counted array. */
static void put_chunks(struct rr_writer *w, const struct rr_lists *l,
                       const struct rr_chunk *k, uint32_t n)
{
	rr_put_u32(w, n);
	for (uint32_t i = 0; i < n; i++) {
		rr_put_u32(w, k[i].position); /* 0 in a Write chunk */
		rr_chunks_put_segments(w, l, &k[i]);
	}
}

static void put_parts(struct rr_writer *w, const struct rr_lists *l, unsigned parts)
{
	static const struct rr_chunk none = {0};
	bool pulled = has_pulled_body(l);

	if (parts & PART_HANDLE)
		rr_put_u32(w, l->inv_handle);
	if (parts & (PART_PULLED | PART_BODY))
		put_body_chunk(w, l);
	if (parts & PART_ARGS)
		put_chunks(w, l, l->reads + pulled, (uint32_t)l->n_reads - pulled);
	if (parts & PART_RESULTS)
		put_chunks(w, l, l->writes, l->n_writes);
	if (parts & PART_REPLY)
		rr_chunks_put_segments(w, l, l->has_reply ? &l->reply : &none);
}

void rr_wire_htfam_put_lists(struct rr_writer *w, uint32_t htype,
                             const struct rr_lists *l, uint32_t remaining)
{
	unsigned parts = find_parts(htype);

	if (!fits_parts(l, parts)) {
		w->bad = true;
		return;
	}
	put_parts(w, l, parts);
	if (parts & PART_REMAINING)
		rr_put_u32(w, remaining);
}

/* Returns the number of octets in @n chunks, including their positions and counts. */
static size_t sum_chunks(const struct rr_chunk *k, uint16_t n)
{
	size_t size = 0;

	for (uint16_t i = 0; i < n; i++)
		size += CHUNK_BYTES + (size_t)k[i].count * RR_CHUNKS_SEGMENT;
	return size;
}

size_t rr_wire_htfam_lists_size(uint32_t htype, const struct rr_lists *l)
{
	unsigned parts = find_parts(htype);
	size_t size =
	        sum_chunks(l->reads, l->n_reads) + sum_chunks(l->writes, l->n_writes);

	for (unsigned part = PART_HANDLE; part <= PART_REMAINING; part <<= 1)
		if (parts & part)
			size += WORD;
	if (parts & (PART_PULLED | PART_BODY))
		size += WORD; /* rdma_how; the loop has added the segment count */
	if (has_pulled_body(l))
		size -= CHUNK_BYTES;
	if (l->has_reply)
		size += (size_t)l->reply.count * RR_CHUNKS_SEGMENT;
	return size;
}
