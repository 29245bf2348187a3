/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* ppoll */
/* The rig on the real clock, over the loopback interface. */
#include "rig.h"

#include <poll.h>
#include <time.h>

#include "prov/iwarp/iwarp.h"

static const char *const option_sets[] = {
        NULL,          "crc=0",    "rev=1",
        "p2p=1",       "fpdu=512", "sndbuf=65536,rcvbuf=131072",
        "ird=1,ord=1",
};
static const char *options;

const struct rr_prov_ops *rig_provider(void)
{
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

void rig_provider_begin(struct rr_prov_config *cfg)
{
	*cfg = (struct rr_prov_config){.options = options};
}

void rig_provider_end(void)
{
}

rr_time rig_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return RR_SEC(ts.tv_sec) + (rr_time)ts.tv_nsec;
}

/* Sleeps until a descriptor is ready or a deadline has come, 5 ms at most. */
bool rig_pass(struct rig *g)
{
	rr_time now = rig_now(), until = now + RR_MS(5);
	struct timespec ts = {0};
	struct pollfd p[5];
	nfds_t n = 0;

	for (unsigned i = 0; i < g->n_ends; i++) {
		struct rr_ep *ep = g->end[i].ep;

		if (!ep || g->end[i].deaf || g->ops->fd(ep) < 0)
			continue;
		p[n].fd = g->ops->fd(ep);
		p[n++].events = (short)g->ops->events(ep);
		until = RR_MIN(until, g->ops->deadline(ep));
	}
	if (g->listener) {
		p[n].fd = g->ops->listener_fd(g->listener);
		p[n++].events = POLLIN;
	}
	if (until > now)
		ts.tv_nsec = (long)(until - now);
	(void)ppoll(p, n, &ts, NULL); /* early or late, the caller looks again */
	return true;
}

void rig_silence(struct rig *g, bool on)
{
	g->end[SERVER].deaf = on;
}
