/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider's options: "key=number,key=number", described by a table.
 *
 * A number is one to ten decimal digits, without sign or space, within the range of
 * its key.  An unknown key, an empty item and a missing "=" are errors; a trailing
 * comma is not.  If a key is repeated, the last value counts.
 */
#ifndef RR_PROV_COMMON_OPTS_H
#define RR_PROV_COMMON_OPTS_H

#include "base/base.h"

struct rr_opt {
	const char *name;
	size_t field; /* offset of the uint32_t that holds it */
	uint32_t def, min, max;
};

struct rr_opts {
	const char *provider; /* for error texts */
	const struct rr_opt *opt;
	unsigned n;
};

/* A buffer for an error text; not written to if @size is 0. */
struct rr_reason {
	char *text;
	size_t size;
};
#define RR_NO_REASON ((struct rr_reason){NULL, 0})

/* Sets each field of @obj that @opts names, from @text (NULL: empty) or to its
 * default.  Returns -EINVAL, with the reason in @reason and @obj half filled. */
RR_MUST_CHECK int rr_opts_parse(const struct rr_opts *opts, const char *text, void *obj,
                                struct rr_reason reason);

#endif
