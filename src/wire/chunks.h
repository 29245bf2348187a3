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
/* Copies only the array entries in use: usually some tens of octets, at most 3 KB. */
void rr_chunks_copy(struct rr_lists *to, const struct rr_lists *from);
/* Encodes @l.  If @l->over is set, encodes nothing and sets @w->bad. */
void rr_chunks_put(struct rr_writer *w, const struct rr_lists *l);
/* Returns the number of octets that rr_chunks_put will append. */
size_t rr_chunks_size(const struct rr_lists *l);

#endif
