/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the octets of a group of transmissions are: the sender's canonical layout.
 *                                                                       [ext §5.4]
 *
 * A message has a Payload stream and items that are placed by Send.  Each transmission
 * of the group has a header, a part of the Payload stream, and items in the targetable
 * segments of the receiver's buffer.  All functions are pure.
 */
#ifndef RR_CONN_RTR_LAYOUT_H
#define RR_CONN_RTR_LAYOUT_H

#include "wire/rtr/rtr_wire.h"

/* -- buffer structure ------------------------------------------------------ */

/* A targetable segment of a Receive buffer. */
struct rr_rtr_target {
	uint32_t index;  /* number among the buffer's targetable segments, from 0 */
	uint32_t start;  /* octets before it in the buffer */
	uint32_t length; /* octets in it */
};

/* Returns the number of targetable segments in one buffer. */
uint32_t rr_rtr_targets(const struct rr_rbstruct *);
/* Finds the targetable segment with number @index.  Returns false if there is none. */
bool rr_rtr_target(const struct rr_rbstruct *, uint32_t index,
                   struct rr_rtr_target *ret) RR_MUST_CHECK;
/* Returns the total length of the targetable segments that end within the first @limit
 * octets of a buffer. */
uint32_t rr_rtr_target_bytes(const struct rr_rbstruct *, uint32_t limit);
/* Finds the lowest targetable segment that begins at octet @off or later.  Returns
 * false if there is none. */
bool rr_rtr_target_from(const struct rr_rbstruct *, uint32_t off,
                        struct rr_rtr_target *ret) RR_MUST_CHECK;

/* -- what a group carries -------------------------------------------------- */

struct rr_rtr_load {
	const struct rr_rbstruct *buffer; /* the receiver's structure; lent */
	uint32_t limit;   /* longest transmission, octets: L in [ext §5.4] */
	uint32_t header;  /* octets in the first header, without segment numbers */
	uint64_t payload; /* octets of Payload stream */
	unsigned n_items;
	uint32_t item[RR_WIRE_RTR_MAX_ITEMS]; /* octets in each item */
};

/* A planned group.  rr_rtr_plan writes only the array entries that are in use. */
struct rr_rtr_plan {
	uint32_t count;  /* transmissions */
	uint32_t header; /* octets in the first header, with segment numbers */
	unsigned n_tbsns;
	uint16_t tbsns[RR_WIRE_RTR_MAX_ITEMS]; /* segment numbers of each item */
	uint32_t tbsn[RR_WIRE_RTR_MAX_TBSNS];  /* segment numbers, item after item */
	uint32_t pslen; /* octets of Payload stream in the first transmission */
};

/* Plans a group of at most @max_count transmissions.  Returns -EMSGSIZE if the load
 * cannot be sent this way. */
int rr_rtr_plan(const struct rr_rtr_load *, uint32_t max_count,
                struct rr_rtr_plan *ret) RR_MUST_CHECK;

/* -- transmission by transmission ------------------------------------------ */

/* One transmission, without its items. */
struct rr_rtr_part {
	uint32_t number;  /* in the group, from 0 */
	uint32_t header;  /* octets */
	uint32_t payload; /* octets of Payload stream after the header */
};

/* A piece of an item. */
struct rr_rtr_fill {
	unsigned item;   /* index in rr_rtr_load.item */
	uint32_t pad;    /* zero octets before it */
	uint32_t length; /* octets */
	uint32_t tbsn;   /* number of the segment, in the group */
};

/* The position in a group that is being laid out. */
struct rr_rtr_walk {
	const struct rr_rtr_load *load; /* lent */
	uint32_t first_header;          /* octets */
	uint32_t targets;               /* targetable segments in a buffer */
	uint32_t limit;                 /* as in rr_rtr_load, a multiple of four */
	uint32_t begun;                 /* transmissions begun */
	uint32_t off;                   /* octets in the current transmission */
	uint64_t payload;               /* octets of Payload stream left */
	unsigned item;                  /* current item */
	uint32_t item_at;               /* octets of it already placed */
};

/* Begins before the first transmission.  @header is the length of its header. */
void rr_rtr_walk_begin(struct rr_rtr_walk *, const struct rr_rtr_load *,
                       uint32_t header);
/* Begins the next transmission.  Returns 1; 0 if nothing is left; or -EMSGSIZE if the
 * transmission would have no octets of what is left.  Call rr_rtr_walk_fill until it
 * returns false before the next call. */
int rr_rtr_walk_next(struct rr_rtr_walk *, struct rr_rtr_part *ret) RR_MUST_CHECK;
/* Returns the next piece of an item in the current transmission, or false. */
bool rr_rtr_walk_fill(struct rr_rtr_walk *, struct rr_rtr_fill *ret) RR_MUST_CHECK;

#endif
