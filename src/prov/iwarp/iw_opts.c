/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of options: name, default, minimum, maximum. */
#include "prov/iwarp/iw_opts.h"

#define OPTIONS(X)                                                                     \
	X(crc, 1, 0, 1)                                                                \
	X(rev, 2, 1, 2)                                                                \
	X(p2p, 0, 0, 1)                                                                \
	X(fpdu, 65535, 128, 65535)                                                     \
	X(ird, 64, 0, 1024)                                                            \
	X(ord, 64, 0, 1024)                                                            \
	X(ord1, 1, 0, 1024)                                                            \
	X(sndbuf, 131072, 0, 1u << 30)                                                 \
	X(rcvbuf, 0, 0, 1u << 30)

static const struct rr_opt iwarp_opt[] = {
#define X(name, def, min, max)                                                         \
	{#name, offsetof(struct rr_iwarp_opts, name), def, min, max},
        OPTIONS(X)
#undef X
};
static const struct rr_opts iwarp_opts = {"iwarp", iwarp_opt, RR_ARRAY_SIZE(iwarp_opt)};

int rr_iwarp_opts_parse(const char *text, struct rr_iwarp_opts *ret,
                        struct rr_reason reason)
{
	struct rr_iwarp_opts o;
	int rc = rr_opts_parse(&iwarp_opts, text, &o, reason);

	if (!rc)
		*ret = o;
	return rc;
}
