/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider's options: "key=number,key=number", described by a table.
 *
 * A number is one to ten decimal digits, without sign or space, within the range of
 * its option.  An unknown key, an empty option and a missing "=" are errors; a trailing
 * comma is not.  If a key is repeated, the last value is used.
 */
#ifndef RR_PROV_COMMON_PROV_OPTS_H
#define RR_PROV_COMMON_PROV_OPTS_H

#include "base/base.h"
#include "base/reason.h"

struct rr_opt {
	const char *name;
	size_t field; /* offset of the uint32_t that receives the value */
	uint32_t def, min, max;
};

struct rr_opts {
	const char *provider; /* its name, for error messages */
	const struct rr_opt *opt;
	unsigned n;
};

/* Sets each option's field in @obj to the value in @text (NULL: empty) or to its
 * default.  Returns 0, or -EINVAL with a message in @reason; in that case, only some
 * fields in @obj may be set. */
RR_MUST_CHECK int rr_opts_parse(const struct rr_opts *opts, const char *text, void *obj,
                                struct rr_reason reason);

#endif
