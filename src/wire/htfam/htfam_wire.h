/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header types by message kind: Call or Reply; complete message, part or last part;
 * inline or external.  The property RDMA2_PROPID_HTFAM announces which of these types a
 * peer accepts.
 *
 * All chunks have the same format.  A body chunk replaces the Position Zero Read chunk
 * and the Reply chunk.  Decoders nevertheless fill struct rr_lists as rr_wire_get_lists
 * does for base headers, so that no connection depends on the format:
 *
 *   argument chunk         Read chunk
 *   result chunk           Write chunk
 *   provisioned reply      Reply chunk; none, if it has no segments
 *   body chunk, PULL       Read chunk at Position 0
 *   body chunk, PUSHED     Reply chunk
 *
 * RDMA2_X_CONNPROP_MIDDLE and _LAST have the body of RDMA2_CONNPROP: use
 * rr_wire_get_props_begin.                                         [ext §6]
 */
#ifndef RR_WIRE_HTFAM_WIRE_H
#define RR_WIRE_HTFAM_WIRE_H

#include "wire/wire.h"

enum rr_wire_htfam_htype {
	RDMA2_X_GRANT = 0xFFFFFF45,
	RDMA2_X_CONNPROP_MIDDLE = 0xFFFFFF46,
	RDMA2_X_CONNPROP_LAST = 0xFFFFFF47,
	RDMA2_X_CALL_EXTERNAL = 0xFFFFFF48,
	RDMA2_X_CALL_MIDDLE = 0xFFFFFF49,
	RDMA2_X_CALL_LAST = 0xFFFFFF4A,
	RDMA2_X_REPLY_EXTERNAL = 0xFFFFFF4B,
	RDMA2_X_REPLY_MIDDLE = 0xFFFFFF4C,
	RDMA2_X_REPLY_LAST = 0xFFFFFF4D,
};

enum { RDMA2_PROPID_HTFAM = 0xFFFFFF31 };

enum rr_wire_htfam_flag {
	RDMA2_HTFAM_RPC = 0x00000001,  /* accepts the CALL and REPLY types */
	RDMA2_HTFAM_CTRL = 0x00000002, /* accepts GRANT and the CONNPROP types */
};

/* rdma_how of a body chunk */
enum rr_wire_body_how {
	RDMA2_BODY_PULL = 1,   /* the receiver reads the body from the sender's
	                        * memory */
	RDMA2_BODY_PUSHED = 2, /* the sender has written the body to the receiver's
	                        * memory */
};

enum { RR_WIRE_HTFAM_VALUE = 4 }; /* octets in the value of RDMA2_PROPID_HTFAM */

/* Decodes the value in @data.  If @len is 0, the default of 0 applies.  Unknown flags
 * are cleared.  Returns -EINVAL (to be answered with RDMA2_ERR_BAD_PROPVAL), and
 * changes nothing, if @len is neither 0 nor 4. */
int rr_wire_htfam_get_value(const void *data, uint32_t len,
                            uint32_t *ret) RR_MUST_CHECK;
/* Encodes the value, 4 octets. */
void rr_wire_htfam_put_value(struct rr_writer *w, uint32_t flags);

/*
 * Decodes the body of a message of type @htype, up to its inline payload.  For MIDDLE
 * types, sets @ret_remaining and leaves the lists empty; for other types, sets
 * @ret_remaining to 0.  GRANT has no body.  If the type has no rdma_inv_handle, the
 * handle is set to 0.
 *
 * Returns -EBADMSG, and changes nothing, if the body is malformed.  Malformed bodies
 * include a PUSHED body in a Call, a body or argument chunk without segments, and
 * argument Positions that are 0, not a multiple of four, or not strictly increasing.
 * The caller checks lengths, overlap and @ret_remaining. [ext §6.3, §6.4, §6.5]
 */
int rr_wire_htfam_get_lists(struct rr_cursor *c, uint32_t htype, struct rr_lists *ret,
                            uint32_t *ret_remaining) RR_MUST_CHECK;
/* Encodes the body.  If @l->over is set, or if type @htype cannot represent @l, encodes
 * nothing and sets @w->bad.  EXTERNAL types require a body chunk, which is the Position
 * Zero chunk or, in a Reply, alternatively the Reply chunk.  Types without
 * rdma_inv_handle ignore the handle in @l. */
void rr_wire_htfam_put_lists(struct rr_writer *w, uint32_t htype,
                             const struct rr_lists *l, uint32_t remaining);
/* Returns the number of octets that rr_wire_htfam_put_lists will append. */
size_t rr_wire_htfam_lists_size(uint32_t htype, const struct rr_lists *l);

#endif
