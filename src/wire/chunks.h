/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Read list, the Write list and the Reply chunk, which versions 1 and 2 encode
 * identically.  In version 2 these lists follow rdma_inv_handle.
 * [v2 §6.2.3, RFC 8166 §4.3]
 */
#ifndef RR_WIRE_CHUNKS_H
#define RR_WIRE_CHUNKS_H

#include "wire/wire.h"

/* Decodes the three lists at @c into @l, which must have been initialised by
 * rr_lists_init.  If the lists are malformed, sets @c->bad and leaves
 * @l undefined. */
void rr_chunks_get(struct rr_cursor *c, struct rr_lists *l);
/* Copies @from to @to, without the array entries that are not in use: usually some tens
 * of octets, at most 3 KB. */
void rr_chunks_copy(struct rr_lists *to, const struct rr_lists *from);
/* Encodes @l.  If @l->over is set, encodes nothing and sets @w->bad. */
void rr_chunks_put(struct rr_writer *w, const struct rr_lists *l);
/* Returns the number of octets that rr_chunks_put will append. */
size_t rr_chunks_size(const struct rr_lists *l);

/* -- parts, for headers with other lists ----------------------------------- */

enum { RR_CHUNKS_SEGMENT = 16 }; /* octets in a segment */

struct rr_segment rr_chunks_load_segment(const uint8_t *p);
void rr_chunks_store_segment(uint8_t *p, const struct rr_segment *s);
/* Decodes the "is present" word of XDR optional-data, which must be 0 or 1. [K24] */
bool rr_chunks_get_present(struct rr_cursor *c);

/* The next two functions append an empty chunk, in wire order, and return the chunk.
 * If the arrays are full, they only count the chunk, set @l->over and return NULL. */
struct rr_chunk *rr_chunks_append_read(struct rr_lists *l, uint32_t position);
struct rr_chunk *rr_chunks_append_write(struct rr_lists *l);
/* Starts the Reply chunk, for which there is always space, and returns it. */
struct rr_chunk *rr_chunks_start_reply(struct rr_lists *l);

/* Decodes a counted array of segments, and appends the segments to the last chunk @k.
 * If @k is NULL, only counts the segments.  Returns the number of segments. */
uint32_t rr_chunks_get_segments(struct rr_cursor *c, struct rr_lists *l,
                                struct rr_chunk *k);
/* Encodes the segments of @k as a counted array. */
void rr_chunks_put_segments(struct rr_writer *w, const struct rr_lists *l,
                            const struct rr_chunk *k);

#endif
