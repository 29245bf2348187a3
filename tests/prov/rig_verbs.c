/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs provider with itself, or one end of it with the iWARP provider, over
 * the device that serves the address in the environment:
 *
 *   RR_VERBS_ADDR=192.0.2.1 [RR_CLIENT=iwarp] [RR_SERVER=iwarp] prov_conformance_verbs
 *
 * RR_REMOVE='rdma link del siw0 &' runs, in place of all that, the test which
 * takes the device away.  Without an address there is nothing to test, and that is
 * said; an address that no device serves is a failure.
 */
#include "rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "prov/iwarp/iwarp.h"
#include "prov/verbs/vb_internal.h"
#include "prov/verbs/verbs.h"

static const char *const option_sets[] = {
        NULL,
        "mw=0",
        "inline=0",
        "sq=64,rq=256,ird=1,ord=1",
};
static const char *options;
static bool device_is_iwarp;

const struct rr_prov_ops *rig_provider(unsigned side)
{
	const char *name = getenv(side == CLIENT ? "RR_CLIENT" : "RR_SERVER");

	return name && !strcmp(name, "iwarp") ? &rr_iwarp_ops : &rr_verbs_ops;
}

unsigned rig_variants(void)
{
	return getenv("RR_REMOVE") ? 1 : RR_ARRAY_SIZE(option_sets);
}

void rig_choose(unsigned v)
{
	options = option_sets[v];
}

struct sockaddr_in rig_address(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	const char *text = getenv("RR_VERBS_ADDR");

	assert_non_null(text);
	assert_int_equal(1, inet_pton(AF_INET, text, &a.sin_addr));
	return a;
}

/* Is the device that serves the address of the iWARP kind? */
static bool ask_device(const struct rr_rdma_lib *lib)
{
	struct sockaddr_in a = rig_address();
	struct rdma_event_channel *ch = lib->rdma_create_event_channel();
	struct rdma_cm_id *id;
	bool found;

	assert_non_null(ch);
	assert_int_equal(0, lib->rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	found = !lib->rdma_bind_addr(id, (struct sockaddr *)&a) && id->verbs;
	if (found)
		device_is_iwarp =
		        id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	lib->rdma_destroy_id(id);
	lib->rdma_destroy_event_channel(ch);
	return found;
}

bool rig_ready(void)
{
	const struct rr_rdma_lib *lib = rr_rdma_lib();

	if (!getenv("RR_VERBS_ADDR")) {
		fprintf(stderr, "SKIPPED: RR_VERBS_ADDR names no address that an RDMA "
		                "device serves\n");
		return false;
	}
	if (!lib || !ask_device(lib)) {
		fprintf(stderr, "no RDMA device serves %s %s\n",
		        getenv("RR_VERBS_ADDR"), rr_rdma_reason());
		exit(1);
	}
	return true;
}

/* Measured on rxe and siw of Linux 6.1; an adapter may tell more. */
unsigned rig_lacks(unsigned side)
{
	unsigned both = RIG_NO_PASSIVE_BYTES | RIG_DEVICE_HANDLES | RIG_NO_RESET |
	                RIG_NO_RNR_BLAME;

	if (rig_provider(side) == &rr_iwarp_ops)
		return 0;
	return both |
	       (device_is_iwarp ? RIG_NO_HANDLE_BLAME | RIG_NO_TERMINATE | RIG_READS_ALL
	                        : RIG_PADDED_PRIVATE | RIG_NO_INV_BLAME |
	                                  RIG_RNR_WAITS | RIG_INVALIDATES_ALL);
}

void rig_provider_begin(struct rr_prov_config *cfg, unsigned side)
{
	*cfg = (struct rr_prov_config){0};
	if (rig_provider(side) == &rr_verbs_ops)
		cfg->options = options;
}

void rig_provider_end(void)
{
}

/* Not if that would send out what a test holds back. */
void rig_registered(struct rig *g, unsigned side)
{
	struct rr_vb_ep *ep = rr_vb_of(g->end[side].ep);
	rr_time limit = rig_now() + RR_SEC(5);

	if (ep->base.ep.ops != &rr_verbs_ops || ep->posted)
		return;
	rig_flush(g, side);
	while (ep->sent.count && rig_now() < limit)
		rig_ops(g, side)->progress(&ep->base.ep, rig_now());
	assert_int_equal(0, ep->sent.count);
}
