/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* ppoll */
/* The matrix on the real clock, over the loopback interface. */
#include "matrix.h"

#include <poll.h>
#include <time.h>

#include "prov/iwarp/iwarp.h"

static const char *const option_sets[] = {
        NULL, "crc=0", "fpdu=512", "rev=1", "ird=1,ord=1",
};
static rr_time quiet_since;

const struct rr_prov_ops *mx_provider(void)
{
	return &rr_iwarp_ops;
}

void mx_provider_begin(struct rr_prov_config *cfg, unsigned variant)
{
	*cfg = (struct rr_prov_config){
	        .options = option_sets[variant % RR_ARRAY_SIZE(option_sets)]};
	quiet_since = 0;
}

void mx_provider_end(void)
{
}

rr_time mx_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return RR_SEC(ts.tv_sec) + (rr_time)ts.tv_nsec;
}

void mx_pass(struct mx_world *w, rr_time until)
{
	rr_time now = mx_now(), end = RR_MIN(until, now + RR_MS(5));
	struct timespec ts = {0};
	struct pollfd p[3];
	nfds_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct rr_ep *ep = w->side[i].pump.ep;

		if (!ep || rr_pump_lost(&w->side[i].pump))
			continue;
		p[n].fd = rr_iwarp_ops.fd(ep);
		p[n++].events = (short)rr_iwarp_ops.events(ep);
		end = RR_MIN(end, rr_iwarp_ops.deadline(ep));
	}
	if (w->listener && !w->side[SERVER].pump.ep) {
		p[n].fd = rr_iwarp_ops.listener_fd(w->listener);
		p[n++].events = POLLIN;
	}
	if (end > now)
		ts.tv_nsec = (long)(end - now);
	/* Early or late, the caller looks again. */
	if (ppoll(p, n, &ts, NULL) > 0)
		quiet_since = mx_now();
}

/* The loopback interface delivers at once: quiet for a while is quiet. */
bool mx_busy(const struct mx_world *w)
{
	return mx_now() - quiet_since < RR_MS(1);
}
