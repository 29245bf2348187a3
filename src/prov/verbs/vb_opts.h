/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider's option string; verbs.h lists the keys. */
#ifndef RR_PROV_VERBS_VB_OPTS_H
#define RR_PROV_VERBS_VB_OPTS_H

#include "prov/common/prov_opts.h"

#define RR_VB_DEVICE_MAX 64

struct rr_verbs_opts {
	char device[RR_VB_DEVICE_MAX]; /* device name; "": any device */
	uint32_t mw, inline_bytes, ird, ord;
	uint32_t sq, rq; /* queue depths; 0: derived from rr_prov_config.recvs */
};

/* Parses @text (NULL: all defaults) into @ret.  For an unknown key or a value out of
 * range, returns -EINVAL with a message in @reason, and leaves @ret unchanged. */
RR_MUST_CHECK int rr_verbs_opts_parse(const char *text, struct rr_verbs_opts *ret,
                                      struct rr_reason reason);

#endif
