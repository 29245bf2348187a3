/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the options.  The table has name, field, default, minimum and maximum. */
#include "prov/verbs/vb_opts.h"

#include <stdio.h>
#include <string.h>

#define OPTIONS(X)                                                                     \
	X("mw", mw, 1, 0, 1)                                                           \
	X("inline", inline_bytes, 256, 0, 4096)                                        \
	X("ird", ird, 64, 0, 255)                                                      \
	X("ord", ord, 64, 0, 255)                                                      \
	X("sq", sq, 0, 64, 16384)                                                      \
	X("rq", rq, 0, 16, 16384)

static const struct rr_opt verbs_opt[] = {
#define X(name, field, def, min, max)                                                  \
	{name, offsetof(struct rr_verbs_opts, field), def, min, max},
        OPTIONS(X)
#undef X
};
static const struct rr_opts verbs_opts = {"verbs", verbs_opt, RR_ARRAY_SIZE(verbs_opt)};

static int copy_device(const char *s, size_t len, struct rr_verbs_opts *o,
                       struct rr_reason reason)
{
	if (len == 0 || len >= sizeof(o->device)) {
		(void)snprintf(reason.text, reason.size,
		               "the name of a device has 1 to %zu octets",
		               sizeof(o->device) - 1);
		return -EINVAL;
	}
	memcpy(o->device, s, len);
	o->device[len] = '\0';
	return 0;
}

int rr_verbs_opts_parse(const char *text, struct rr_verbs_opts *ret,
                        struct rr_reason reason)
{
	struct rr_verbs_opts o = {.device = ""};
	const char *s = text ? text : "";
	size_t len = strcspn(s, ",");
	int rc = 0;

	if (*s && !memchr(s, '=', len)) {
		rc = copy_device(s, len, &o, reason);
		s += len + (s[len] == ',');
	}
	if (!rc)
		rc = rr_opts_parse(&verbs_opts, s, &o, reason);
	if (!rc)
		*ret = o;
	return rc;
}
