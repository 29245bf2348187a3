/* SPDX-License-Identifier: BSD-3-Clause */
/* DDP segment headers.                                           [RFC 5041 §4] */
#ifndef RR_PROV_IWARP_DDP_H
#define RR_PROV_IWARP_DDP_H

#include "base/base.h"

#define RR_DDP_TAGGED   14
#define RR_DDP_UNTAGGED 18
#define RR_DDP_VERSION  1

enum { /* queues of untagged messages */
       RR_QN_SEND = 0,
       RR_QN_READ = 1,
       RR_QN_TERMINATE = 2,
       RR_QN_COUNT,
};

struct rr_ddp {
	bool tagged, last;
	uint8_t version;
	uint8_t rdmap; /* the RDMAP control octet */
	uint32_t stag; /* tagged: STag of the buffer; untagged: STag to invalidate */
	uint64_t to;   /* tagged: offset in the buffer */
	uint32_t qn, msn, mo; /* untagged: queue, message number, message offset */
};

static inline size_t rr_ddp_size(bool tagged)
{
	return tagged ? RR_DDP_TAGGED : RR_DDP_UNTAGGED;
}

/* Writes the header, rr_ddp_size() octets. */
void rr_ddp_put(uint8_t *dst, const struct rr_ddp *h);
/* Reads a header.  Returns its size, or -EBADMSG if the header exceeds @len octets. */
RR_MUST_CHECK int rr_ddp_get(const uint8_t *src, size_t len, struct rr_ddp *ret);

#endif
