/* SPDX-License-Identifier: BSD-3-Clause */
/* Option parser: a device name, then a table of keys with defaults and ranges. */
#include "prov/verbs/opts.h"

#include <string.h>

#define KEYS(X)                                                                        \
	X("mw", mw, 1, 0, 1)                                                           \
	X("inline", inline_bytes, 256, 0, 4096)                                        \
	X("ird", ird, 64, 0, 255)                                                      \
	X("ord", ord, 64, 0, 255)                                                      \
	X("sq", sq, 0, 64, 16384)                                                      \
	X("rq", rq, 0, 16, 16384)

static const struct {
	const char *name;
	size_t field;
	uint32_t def, min, max;
} keys[] = {
#define X(name, f, def, lo, hi) {name, offsetof(struct rr_verbs_opts, f), def, lo, hi},
        KEYS(X)
#undef X
};

static uint32_t *field(struct rr_verbs_opts *o, unsigned i)
{
	return (uint32_t *)(void *)((char *)o + keys[i].field);
}

static int parse_number(const char *s, size_t len, uint32_t *ret)
{
	uint32_t v = 0;

	if (len == 0 || len > 9)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -EINVAL;
		v = v * 10 + (uint32_t)(s[i] - '0');
	}
	*ret = v;
	return 0;
}

static int parse_key(const char *s, size_t len, const char *eq, struct rr_verbs_opts *o)
{
	size_t klen = (size_t)(eq - s);
	uint32_t v;

	if (parse_number(eq + 1, len - klen - 1, &v))
		return -EINVAL;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) != klen || memcmp(keys[i].name, s, klen))
			continue;
		if (v < keys[i].min || v > keys[i].max)
			return -EINVAL;
		*field(o, i) = v;
		return 0;
	}
	return -EINVAL;
}

static int parse_device(const char *s, size_t len, struct rr_verbs_opts *o)
{
	if (len == 0 || len >= sizeof(o->device))
		return -EINVAL;
	memcpy(o->device, s, len);
	o->device[len] = '\0';
	return 0;
}

int rr_verbs_opts_parse(const char *text, struct rr_verbs_opts *ret)
{
	struct rr_verbs_opts o = {.device = ""};
	const char *s = text ? text : "";

	for (unsigned i = 0; i < RR_ARRAY_SIZE(keys); i++)
		*field(&o, i) = keys[i].def;
	for (bool first = true; *s; first = false) {
		size_t len = strcspn(s, ",");
		const char *eq = memchr(s, '=', len);
		int rc = eq      ? parse_key(s, len, eq, &o)
		         : first ? parse_device(s, len, &o)
		                 : -EINVAL;

		if (rc)
			return rc;
		s += len + (s[len] == ',');
	}
	*ret = o;
	return 0;
}
