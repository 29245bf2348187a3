/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the form "key=number,key=number", and words for what is wrong with one. */
#ifndef RR_BASE_KEYS_H
#define RR_BASE_KEYS_H

#include "base/base.h"

struct rr_key {
	const char *name;
	size_t field; /* offset of its uint32_t */
	uint32_t def, min, max;
};

struct rr_keys {
	const char *owner; /* as in: provider "iwarp" has no option "foo" */
	const struct rr_key *key;
	unsigned n;
};

/* Where a reason is written, if @size is not 0. */
struct rr_why {
	char *text;
	size_t size;
};
#define RR_NO_WHY ((struct rr_why){NULL, 0})

void rr_keys_default(const struct rr_keys *, void *obj);
/* Takes one "key=number" of @len octets into @obj.  -EINVAL: and @why says why. */
int rr_keys_take(const struct rr_keys *, const char *s, size_t len, void *obj,
                 struct rr_why why) RR_MUST_CHECK;

#endif
