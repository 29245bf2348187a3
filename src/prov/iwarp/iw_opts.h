/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider's option string; iwarp.h lists the keys. */
#ifndef RR_PROV_IWARP_IW_OPTS_H
#define RR_PROV_IWARP_IW_OPTS_H

#include "prov/common/prov_opts.h"

struct rr_iwarp_opts {
	uint32_t crc, rev, p2p, fpdu, ird, ord, ord1, sndbuf, rcvbuf;
};

/* Parses @text (NULL: all defaults) into @ret.  For an unknown key or a value out of
 * range, returns -EINVAL with a message in @reason, and leaves @ret unchanged. */
RR_MUST_CHECK int rr_iwarp_opts_parse(const char *text, struct rr_iwarp_opts *ret,
                                      struct rr_reason reason);

#endif
