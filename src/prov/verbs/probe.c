/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/verbs/probe.h"

#include <stdio.h>

void rr_verbs_probe(struct ibv_context *ctx, struct rr_verbs_caps *ret)
{
	struct rr_verbs_caps c = {
	        .iwarp = ctx->device->transport_type == IBV_TRANSPORT_IWARP,
	        .with_inv = IBV_WC_WITH_INV,
	};

	snprintf(c.words, sizeof(c.words), "memory windows are not used");
	*ret = c;
}
