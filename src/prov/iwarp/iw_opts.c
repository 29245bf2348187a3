/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys with their defaults and ranges. */
#include "prov/iwarp/iw_opts.h"

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

static const struct rr_key key[] = {
#define X(n, d, lo, hi) {#n, offsetof(struct rr_iwarp_opts, n), d, lo, hi},
        KEYS(X)
#undef X
};
static const struct rr_keys keys = {"provider \"iwarp\"", key, RR_ARRAY_SIZE(key)};

int rr_iwarp_opts_parse(const char *text, struct rr_iwarp_opts *ret, struct rr_why why)
{
	struct rr_iwarp_opts o;
	const char *s = text ? text : "";

	rr_keys_default(&keys, &o);
	while (*s) {
		size_t len = strcspn(s, ",");
		int rc = rr_keys_take(&keys, s, len, &o, why);

		if (rc)
			return rc;
		s += len + (s[len] == ',');
	}
	*ret = o;
	return 0;
}
