/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read list, Write list and Reply chunk: the octets that versions 1 and 2 have
 * in common.  Version 2 puts rdma_inv_handle in front of them.
 *                                        [v2 §6.2.3, RFC 8166 §4.3]
 */
#ifndef RR_WIRE_CHUNKS_H
#define RR_WIRE_CHUNKS_H

#include "wire/wire.h"

/* Reads the three lists from @c into @l, which is initialised; what is malformed
 * marks the cursor, and @l is of no use then. */
void rr_chunks_get(struct rr_cursor *c, struct rr_lists *l);
/* Copies what is in use: some tens of octets as a rule, 3 KB when full. */
void rr_chunks_copy(struct rr_lists *to, const struct rr_lists *from);
/* Not of lists that are @over. */
void rr_chunks_put(struct rr_writer *w, const struct rr_lists *l);
/* Octets that rr_chunks_put will append. */
size_t rr_chunks_size(const struct rr_lists *l);

#endif
