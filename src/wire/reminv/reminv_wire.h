/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The advisory property for Remote Invalidation.  FALSE means that its sender, as a
 * Requester, cannot receive a Send With Invalidate.  If the property is TRUE or absent,
 * rdma_inv_handle alone decides. [ext §4.6]
 */
#ifndef RR_WIRE_REMINV_WIRE_H
#define RR_WIRE_REMINV_WIRE_H

#include "wire/wire.h"

enum {
	RDMA2_PROPID_REQREMINV = 0xFFFFFF02,
	RR_WIRE_REMINV_VALUE = 4, /* octets in the value */
};

/* Decodes the value in @data.  If @len is 0, the value is TRUE.  Returns -EINVAL (to be
 * answered with RDMA2_ERR_BAD_PROPVAL), and changes nothing, if the value is not an XDR
 * bool. */
int rr_wire_reminv_get_value(const void *data, uint32_t len, bool *ret) RR_MUST_CHECK;
/* Encodes the value, 4 octets. */
void rr_wire_reminv_put_value(struct rr_writer *w, bool v);

#endif
