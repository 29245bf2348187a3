/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's checks of a complete group: where its items are.     [ext §5.7]
 *
 * Every layout is accepted in which each octet of an item was received, and belongs to
 * one item only.  All functions are pure.
 */
#ifndef RR_CONN_RTR_PLACEMENT_H
#define RR_CONN_RTR_PLACEMENT_H

#include "conn/rtr/rtr_layout.h"

/* A transmission received. */
struct rr_rtr_got {
	uint32_t length; /* octets received */
	uint32_t header; /* octets of transport header */
	uint32_t pslen;  /* octets of Payload stream, as the header states */
};

/* Octets of an item in one transmission, contiguous. */
struct rr_rtr_fragment {
	uint32_t item;   /* index in rr_rtr_header.item */
	uint32_t number; /* transmission */
	uint32_t at;     /* offset in the transmission */
	uint32_t length; /* octets, not 0 */
	uint32_t tbsn;   /* segment of its last octets */
};

struct rr_rtr_placement {
	unsigned n; /* fragments, in the order of the items */
	struct rr_rtr_fragment fragment[RR_WIRE_RTR_MAX_TBSNS];
};

/* Finds the items of a group of @h->count transmissions in buffers of structure @own.
 * Adjacent segments of one item are one fragment.  Returns 0, or -EPROTO and stores in
 * @ret_fault the code, the arguments and the number of the bad transmission. */
int rr_rtr_place(const struct rr_rbstruct *own, const struct rr_rtr_header *h,
                 const struct rr_rtr_got *got, struct rr_rtr_placement *ret,
                 struct rr_rtr_error *ret_fault) RR_MUST_CHECK;
/* Returns the only fragment of an item that may stay in its Receive buffer, or NULL if
 * the item must be copied.  An item may stay if it is contiguous, shares no segment
 * with another item, and fills at least half of its segments.  @own is the structure of
 * our buffers: one segment that is not a target, then targets of equal length.
 *                                                                      [ext §5.4] */
const struct rr_rtr_fragment *rr_rtr_in_place(const struct rr_rbstruct *own,
                                              const struct rr_rtr_placement *,
                                              uint32_t item);

#endif
