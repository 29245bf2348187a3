/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read list, Write list and Reply chunk, encoded alike in versions 1 and 2.
 * Version 2 puts rdma_inv_handle in front of them.
 *                                        [v2 §6.2.3, RFC 8166 §4.3]
 */
#ifndef RR_WIRE_CHUNKS_H
#define RR_WIRE_CHUNKS_H

#include "wire/wire.h"

/* Decodes the three lists at @c into @l, which rr_lists_init has prepared.  Marks the
 * cursor if they are malformed; the contents of @l are then undefined. */
void rr_chunks_get(struct rr_cursor *c, struct rr_lists *l);
/* Copies the array entries in use: some tens of octets as a rule, 3 KB when full. */
void rr_chunks_copy(struct rr_lists *to, const struct rr_lists *from);
/* Encodes @l; marks the writer instead if @l is @over. */
void rr_chunks_put(struct rr_writer *w, const struct rr_lists *l);
/* Returns the number of octets that rr_chunks_put will append. */
size_t rr_chunks_size(const struct rr_lists *l);

#endif
