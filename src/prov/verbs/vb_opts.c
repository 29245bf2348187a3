/* SPDX-License-Identifier: BSD-3-Clause */
/* A device name, then the table of keys with their defaults and ranges. */
#include "prov/verbs/vb_opts.h"

#include <stdio.h>
#include <string.h>

#define KEYS(X)                                                                        \
	X("mw", mw, 1, 0, 1)                                                           \
	X("inline", inline_bytes, 256, 0, 4096)                                        \
	X("ird", ird, 64, 0, 255)                                                      \
	X("ord", ord, 64, 0, 255)                                                      \
	X("sq", sq, 0, 64, 16384)                                                      \
	X("rq", rq, 0, 16, 16384)

static const struct rr_key key[] = {
#define X(name, f, def, lo, hi) {name, offsetof(struct rr_verbs_opts, f), def, lo, hi},
        KEYS(X)
#undef X
};
static const struct rr_keys keys = {"provider \"verbs\"", key, RR_ARRAY_SIZE(key)};

static int parse_device(const char *s, size_t len, struct rr_verbs_opts *o,
                        struct rr_why why)
{
	if (len == 0 || len >= sizeof(o->device)) {
		(void)snprintf(why.text, why.size,
		               "the name of a device has 1 to %zu octets",
		               sizeof(o->device) - 1);
		return -EINVAL;
	}
	memcpy(o->device, s, len);
	o->device[len] = '\0';
	return 0;
}

int rr_verbs_opts_parse(const char *text, struct rr_verbs_opts *ret, struct rr_why why)
{
	struct rr_verbs_opts o = {.device = ""};
	const char *s = text ? text : "";

	rr_keys_default(&keys, &o);
	for (bool first = true; *s; first = false) {
		size_t len = strcspn(s, ",");
		bool device = first && !memchr(s, '=', len);
		int rc = device ? parse_device(s, len, &o, why)
		                : rr_keys_take(&keys, s, len, &o, why);

		if (rc)
			return rc;
		s += len + (s[len] == ',');
	}
	*ret = o;
	return 0;
}
