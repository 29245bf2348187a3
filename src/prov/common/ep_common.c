/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/common/ep_common.h"

#include <stdarg.h>
#include <stdio.h>

void rr_ep_common_init(struct rr_ep_common *c, const struct rr_prov_ops *ops,
                       const struct rr_prov_config *cfg, rr_time now)
{
	c->ep.ops = ops;
	c->trace = cfg->trace;
	c->conn_id = cfg->conn_id;
	c->memory = cfg->memory;
	c->buffers = cfg->buffers;
	c->now = now;
	c->deadline = now + (cfg->handshake_ns ? cfg->handshake_ns : RR_SEC(10));
	rr_ring_init(&c->out, sizeof(struct rr_wc));
}

void rr_ep_common_fini(struct rr_ep_common *c)
{
	rr_ring_fini(&c->out);
}

/* ---- time limits and the end of the connection ---- */

void rr_ep_begin_drain(struct rr_ep_common *c)
{
	c->deadline = c->now + RR_EP_END_NS;
	c->end_limit = c->now + RR_EP_DRAIN_NS;
}

void rr_ep_extend_drain(struct rr_ep_common *c)
{
	c->deadline = RR_MIN(c->now + RR_EP_END_NS, c->end_limit);
}

void rr_ep_set_reason(struct rr_ep_common *c, int status, const char *fmt, ...)
{
	va_list ap;

	if (c->ended)
		return;
	c->ended = true;
	c->status = status;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

void rr_ep_trace_rejected(const struct rr_ep_common *c, int status, uint64_t a)
{
	rr_trace(c->trace, RR_TRACE_PROV_REJECTED, c->conn_id, 0, (uint64_t)-status, a,
	         0);
}

void rr_ep_set_timed_out(struct rr_ep_common *c, unsigned state)
{
	rr_ep_trace_rejected(c, -ETIMEDOUT, state);
	rr_ep_set_reason(c, -ETIMEDOUT,
	                 "the peer did not finish the connection set-up in time");
}

void rr_ep_finish(struct rr_ep_common *c)
{
	rr_trace(c->trace, RR_TRACE_PROV_CLOSED, c->conn_id, 0, (uint64_t)-c->status, 0,
	         0);
	rr_ep_complete(c, RR_WC_DISCONNECTED, 0, c->status);
}

/* ---- operations of struct rr_prov_ops ---- */

unsigned rr_ep_poll(struct rr_ep *ep, struct rr_wc *wc, unsigned max)
{
	struct rr_ep_common *c = rr_ep_common_of(ep);
	unsigned n = RR_MIN(max, c->out.count);

	for (unsigned i = 0; i < n; i++)
		wc[i] = *(struct rr_wc *)rr_ring_at(&c->out, i);
	rr_ring_pop(&c->out, n);
	return n;
}

void rr_ep_counters(const struct rr_ep *ep, struct rr_prov_counters *ret)
{
	*ret = rr_ep_common_of(ep)->count;
}

int rr_ep_copy_addr(const struct sockaddr_storage *from, struct sockaddr_storage *ret)
{
	*ret = *from;
	return from->ss_family == AF_UNSPEC ? -ENOTCONN : 0;
}

int rr_ep_peer_addr(const struct rr_ep *ep, struct sockaddr_storage *ret)
{
	return rr_ep_copy_addr(&rr_ep_common_of(ep)->peer, ret);
}

const char *rr_ep_reason(const struct rr_ep *ep)
{
	return rr_ep_common_of(ep)->reason;
}
