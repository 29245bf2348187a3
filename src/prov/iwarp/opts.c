/* SPDX-License-Identifier: BSD-3-Clause */
/* Option parser: a table of keys with their defaults and ranges. */
#include "prov/iwarp/opts.h"

#include <string.h>

#define KEYS(X)                                                                        \
	X(crc, 1, 0, 1)                                                                \
	X(rev, 2, 1, 2)                                                                \
	X(p2p, 0, 0, 1)                                                                \
	X(fpdu, 65535, 128, 65535)                                                     \
	X(ird, 64, 0, 1024)                                                            \
	X(ord, 64, 0, 1024)                                                            \
	X(ord1, 1, 0, 1024)                                                            \
	X(sndbuf, 131072, 0, 1u << 30)                                                 \
	X(rcvbuf, 0, 0, 1u << 30)

static const struct {
	const char *name;
	size_t field;
	uint32_t def, min, max;
} keys[] = {
#define X(n, d, lo, hi) {#n, offsetof(struct rr_iwarp_opts, n), d, lo, hi},
        KEYS(X)
#undef X
};

static uint32_t *field(struct rr_iwarp_opts *o, unsigned i)
{
	return (uint32_t *)(void *)((char *)o + keys[i].field);
}

static int parse_number(const char *s, size_t len, uint32_t *ret)
{
	uint32_t v = 0;

	if (len == 0 || len > 9) /* nine digits hold every range above but 2^30 */
		if (len != 10 || s[0] != '1')
			return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -EINVAL;
		v = v * 10 + (uint32_t)(s[i] - '0');
	}
	*ret = v;
	return 0;
}

static int parse_one(const char *s, size_t len, struct rr_iwarp_opts *o)
{
	const char *eq = memchr(s, '=', len);
	size_t klen;
	uint32_t v;

	if (!eq)
		return -EINVAL;
	klen = (size_t)(eq - s);
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

int rr_iwarp_opts_parse(const char *text, struct rr_iwarp_opts *ret)
{
	struct rr_iwarp_opts o;
	const char *s = text ? text : "";
	int rc;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(keys); i++)
		*field(&o, i) = keys[i].def;
	while (*s) {
		size_t len = strcspn(s, ",");

		rc = parse_one(s, len, &o);
		if (rc)
			return rc;
		s += len + (s[len] == ',');
	}
	*ret = o;
	return 0;
}
