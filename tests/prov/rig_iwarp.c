/* SPDX-License-Identifier: BSD-3-Clause */
/* The iWARP provider with itself, over the loopback interface. */
#include "rig.h"

#include <arpa/inet.h>

#include "prov/iwarp/iwarp.h"

static const char *const option_sets[] = {
        NULL,          "crc=0",    "rev=1",
        "p2p=1",       "fpdu=512", "sndbuf=65536,rcvbuf=131072",
        "ird=1,ord=1",
};
static const char *options;

const struct rr_prov_ops *rig_provider(unsigned side)
{
	(void)side;
	return &rr_iwarp_ops;
}

unsigned rig_variants(void)
{
	return RR_ARRAY_SIZE(option_sets);
}

void rig_choose(unsigned v)
{
	options = option_sets[v];
}

struct sockaddr_in rig_address(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

bool rig_ready(void)
{
	return true;
}

unsigned rig_lacks(unsigned side)
{
	(void)side;
	return 0;
}

void rig_provider_begin(struct rr_prov_config *cfg, unsigned side)
{
	(void)side;
	*cfg = (struct rr_prov_config){.options = options};
}

void rig_provider_end(void)
{
}

void rig_registered(struct rig *g, unsigned side)
{
	(void)g;
	(void)side;
}

int rig_own_tests(void)
{
	return 0;
}

bool rig_own_only(void)
{
	return false;
}
