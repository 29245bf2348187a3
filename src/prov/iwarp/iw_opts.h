/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider's option string; keys are listed in iwarp.h. */
#ifndef RR_PROV_IWARP_OPTS_H
#define RR_PROV_IWARP_OPTS_H

#include "base/keys.h"

struct rr_iwarp_opts {
	uint32_t crc, rev, p2p, fpdu, ird, ord, ord1, sndbuf, rcvbuf;
};

/* @text may be NULL.  -EINVAL: unknown key, bad number, out of range; @why says which. */
RR_MUST_CHECK int rr_iwarp_opts_parse(const char *text, struct rr_iwarp_opts *ret,
                                      struct rr_why why);

#endif
