/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider's option string; keys are listed in verbs.h. */
#ifndef RR_PROV_VERBS_OPTS_H
#define RR_PROV_VERBS_OPTS_H

#include "base/keys.h"

#define RR_VB_DEVICE_MAX 64

struct rr_verbs_opts {
	char device[RR_VB_DEVICE_MAX]; /* "": any */
	uint32_t mw, inline_bytes, ird, ord;
	uint32_t sq, rq; /* 0: as the number of Receives makes it */
};

/* @text may be NULL.  -EINVAL: unknown key, bad number, out of range; @why says which. */
RR_MUST_CHECK int rr_verbs_opts_parse(const char *text, struct rr_verbs_opts *ret,
                                      struct rr_why why);

#endif
