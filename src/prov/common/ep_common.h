/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The caller's side of an endpoint, as the iwarp and verbs providers share it:
 * completions, counters, time, the reason of the end.
 *
 * A provider embeds struct rr_ep_common first in its endpoint.  Functions that take a
 * struct rr_ep are slots of its table of operations.
 *
 * Invariants: a post reserves room for its completion, so that rr_ep_complete cannot
 * fail; the first reason is kept; rr_ep_finish adds the last completion.
 */
#ifndef RR_PROV_COMMON_EP_H
#define RR_PROV_COMMON_EP_H

#include "base/ring.h"
#include "prov/prov.h"

#define RR_EP_END_NS   RR_SEC(1)  /* an orderly end's limit for a silent peer ... */
#define RR_EP_DRAIN_NS RR_SEC(10) /* ... and for a slow one, in all */

struct rr_ep_common {
	struct rr_ep ep;
	const struct rr_trace_sink *trace;
	uint32_t conn_id;
	rr_time now;        /* the latest time passed in */
	rr_time deadline;   /* of set-up, or of the orderly end */
	rr_time end_limit;  /* latest deadline of the orderly end */
	struct rr_ring out; /* struct rr_wc: completions for poll */
	struct rr_prov_counters count;
	struct sockaddr_storage peer;
	bool ended; /* status and reason are set */
	int status;
	char reason[128];
};

/* Operations of the send queue, as posted by the caller. */
enum rr_post_kind { RR_POST_SEND, RR_POST_WRITE, RR_POST_READ };

static inline struct rr_ep_common *rr_ep_common_of(const struct rr_ep *ep)
{
	return rr_container_of(ep, struct rr_ep_common, ep);
}

/* Fills a zeroed @c; the deadline is that of set-up. */
void rr_ep_common_init(struct rr_ep_common *c, const struct rr_prov_ops *ops,
                       const struct rr_prov_config *cfg, rr_time now);
void rr_ep_common_fini(struct rr_ep_common *c);

/* ---- posts and completions ---- */

/* Reserves room for the completions of @pending operations and for CONNECTED and
 * DISCONNECTED, besides those that wait for poll.  Returns 0 or -ENOMEM. */
RR_MUST_CHECK static inline int rr_ep_reserve(struct rr_ep_common *c, uint32_t pending)
{
	return rr_ring_reserve(&c->out, c->out.count + pending + 2);
}

/* Adds a completion, in the room that its post reserved. */
struct rr_wc *rr_ep_complete(struct rr_ep_common *c, enum rr_wc_op op, uint64_t token,
                             int status);
/* Adds up a gather list.  Returns -EINVAL if it has too many pieces, -EMSGSIZE if
 * they are longer than @max octets together. */
RR_MUST_CHECK int rr_ep_total_len(const struct rr_sge *sge, unsigned n, uint32_t max,
                                  uint32_t *ret);
/* Counts an operation that was accepted. */
static inline void rr_ep_count_post(struct rr_ep_common *c, enum rr_post_kind kind)
{
	switch (kind) {
	case RR_POST_SEND:
		c->count.sends++;
		break;
	case RR_POST_WRITE:
		c->count.writes++;
		break;
	case RR_POST_READ:
		c->count.reads++;
		break;
	}
}

/* ---- time and the end ---- */

/* Time never goes back, whatever the caller passes. */
static inline void rr_ep_set_now(struct rr_ep_common *c, rr_time now)
{
	if (now > c->now)
		c->now = now;
}

/* Starts the deadlines of the orderly end. */
void rr_ep_begin_drain(struct rr_ep_common *c);
/* Moves the deadline on: the peer is slow, but not silent. */
void rr_ep_extend_drain(struct rr_ep_common *c);

/* Sets status and reason of the end, unless they are set. */
void rr_ep_set_reason(struct rr_ep_common *c, int status, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* Traces that set-up failed with @status; @a is the trace point's first number. */
void rr_ep_trace_rejected(const struct rr_ep_common *c, int status, uint64_t a);
/* Sets and traces the reason of a set-up that took too long. */
void rr_ep_set_timed_out(struct rr_ep_common *c, unsigned state);
/* Traces the end and adds RR_WC_DISCONNECTED. */
void rr_ep_finish(struct rr_ep_common *c);

/* ---- slots ---- */

unsigned rr_ep_poll(struct rr_ep *ep, struct rr_wc *wc, unsigned max);
void rr_ep_counters(const struct rr_ep *ep, struct rr_prov_counters *ret);
int rr_ep_peer_addr(const struct rr_ep *ep, struct sockaddr_storage *ret);
const char *rr_ep_reason(const struct rr_ep *ep);

/* Copies an address that may be unset: -ENOTCONN. */
RR_MUST_CHECK int rr_ep_copy_addr(const struct sockaddr_storage *from,
                                  struct sockaddr_storage *ret);

#endif
