/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider's option string; verbs.h lists the keys. */
#ifndef RR_PROV_VERBS_OPTS_H
#define RR_PROV_VERBS_OPTS_H

#include "prov/common/prov_opts.h"

#define RR_VB_DEVICE_MAX 64

struct rr_verbs_opts {
	char device[RR_VB_DEVICE_MAX]; /* "": any */
	uint32_t mw, inline_bytes, ird, ord;
	uint32_t sq, rq; /* queue depths; 0: derived from rr_prov_config.recvs */
};

/* Reads @text (NULL: all defaults) into @ret.  Returns -EINVAL, with the reason in
 * @reason and @ret unchanged, for an unknown key or a value out of its range. */
RR_MUST_CHECK int rr_verbs_opts_parse(const char *text, struct rr_verbs_opts *ret,
                                      struct rr_reason reason);

#endif
