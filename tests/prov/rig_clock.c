/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* ppoll */
/* The rig on the real clock: descriptors and deadlines, as the engine uses them. */
#include "rig.h"

#include <poll.h>
#include <time.h>

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
	struct pollfd p[RR_ARRAY_SIZE(g->end) + 1];
	nfds_t n = 0;

	for (unsigned i = 0; i < g->n_ends; i++) {
		struct rr_ep *ep = g->end[i].ep;

		if (!ep || g->end[i].deaf || ep->ops->fd(ep) < 0)
			continue;
		p[n].fd = ep->ops->fd(ep);
		p[n++].events = (short)ep->ops->events(ep);
		until = RR_MIN(until, ep->ops->deadline(ep));
	}
	if (g->listener) {
		p[n].fd = g->ops[SERVER]->listener_fd(g->listener);
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
