/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion of RDMA2_PROPID_REQREMINV.                                [ext §4.6] */
#include "wire/reminv/reminv_wire.h"

int rr_wire_reminv_get_value(const void *data, uint32_t len, bool *ret)
{
	uint32_t word;

	if (rr_wire_get_value_u32(data, len, true, &word) || word > 1)
		return -EINVAL;
	*ret = word;
	return 0;
}

void rr_wire_reminv_put_value(struct rr_writer *w, bool v)
{
	rr_put_u32(w, v);
}
