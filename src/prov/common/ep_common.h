/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of an endpoint that the iwarp and verbs providers share: completions,
 * counters, time limits, and the reason why the connection ended.
 *
 * The first member of a provider's endpoint is a struct rr_ep_common.  The functions
 * that take a struct rr_ep implement operations of struct rr_prov_ops.
 *
 * Invariants: a post reserves space for its completion, so that rr_ep_complete cannot
 * fail; only the first reason is kept; rr_ep_finish adds the last completion.
 */
#ifndef RR_PROV_COMMON_EP_COMMON_H
#define RR_PROV_COMMON_EP_COMMON_H

#include "base/ring.h"
#include "prov/prov.h"

#define RR_EP_END_NS   RR_SEC(1)  /* time limit of a disconnect without progress */
#define RR_EP_DRAIN_NS RR_SEC(10) /* time limit of a disconnect in total */

struct rr_ep_common {
	struct rr_ep ep;
	const struct rr_trace_sink *trace;
	uint32_t conn_id;
	rr_time now;        /* latest time passed by the caller */
	rr_time deadline;   /* deadline of set-up or of an orderly disconnect */
	rr_time end_limit;  /* upper bound on the deadline of a disconnect */
	struct rr_ring out; /* completions for poll (struct rr_wc) */
	struct rr_prov_memory memory;
	struct rr_prov_buffers *buffers;
	struct rr_prov_counters count;
	struct sockaddr_storage peer;
	bool ended; /* @status and @reason are set */
	int status;
	char reason[128];
};

/* The operations that the caller posts to the send queue. */
enum rr_post_kind { RR_POST_SEND, RR_POST_WRITE, RR_POST_READ };

static inline struct rr_ep_common *rr_ep_common_of(const struct rr_ep *ep)
{
	return rr_container_of(ep, struct rr_ep_common, ep);
}

/* Initializes @c, which must be zeroed, and sets the deadline for connection set-up. */
void rr_ep_common_init(struct rr_ep_common *c, const struct rr_prov_ops *ops,
                       const struct rr_prov_config *cfg, rr_time now);
void rr_ep_common_fini(struct rr_ep_common *c);

/* ---- buffers ---- */

enum rr_ep_buffer { RR_EP_SEND_BUFFER, RR_EP_RECEIVE_BUFFER };

/* Returns memory for an endpoint, or NULL. */
static inline void *rr_ep_get(const struct rr_ep_common *c, size_t bytes)
{
	return c->buffers ? rr_mem_get(&c->buffers->mem, bytes) : malloc(bytes);
}

/* Frees memory of @bytes octets; @p may be NULL. */
static inline void rr_ep_put(const struct rr_ep_common *c, void *p, size_t bytes)
{
	if (c->buffers)
		rr_mem_put(&c->buffers->mem, p, bytes);
	else
		free(p);
}

/* Returns a buffer, or NULL.  All buffers of one kind have the same number of octets. */
static inline void *rr_ep_borrow(const struct rr_ep_common *c, enum rr_ep_buffer kind,
                                 size_t bytes)
{
	struct rr_prov_spare *s = c->buffers ? &c->buffers->spare[kind] : NULL;
	void *p = s ? s->p : NULL;

	if (!p)
		return rr_ep_get(c, bytes);
	s->p = NULL;
	return p;
}

/* Gives back a buffer; @p may be NULL. */
static inline void rr_ep_give_back(const struct rr_ep_common *c, enum rr_ep_buffer kind,
                                   void *p, size_t bytes)
{
	struct rr_prov_spare *s = c->buffers ? &c->buffers->spare[kind] : NULL;

	if (s && p && !s->p)
		*s = (struct rr_prov_spare){p, bytes};
	else
		rr_ep_put(c, p, bytes);
}

/* ---- posts and completions ---- */

/* Reserves space for @pending completions of operations, plus RR_WC_CONNECTED and
 * RR_WC_DISCONNECTED.  Returns 0 or -ENOMEM. */
RR_MUST_CHECK static inline int rr_ep_reserve(struct rr_ep_common *c, uint32_t pending)
{
	return rr_ring_reserve(&c->out, c->out.count + pending + 2);
}

/* Adds a completion, for which the post has reserved space.  Returns the completion. */
static inline struct rr_wc *rr_ep_complete(struct rr_ep_common *c, enum rr_wc_op op,
                                           uint64_t token, int status)
{
	struct rr_wc *wc = rr_ring_push(&c->out);

	*wc = (struct rr_wc){.op = op, .token = token, .status = status};
	return wc;
}

/* Computes the length of a gather list.  Returns -EINVAL if the list has too many
 * pieces, or -EMSGSIZE if its length exceeds @max octets. */
RR_MUST_CHECK static inline int rr_ep_total_len(const struct rr_sge *sge, unsigned n,
                                                uint32_t max, uint32_t *ret)
{
	uint64_t len = 0;

	if (n > RR_PROV_MAX_SGE)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		len += sge[i].len;
	if (len > max)
		return -EMSGSIZE;
	*ret = (uint32_t)len;
	return 0;
}

/* Counts a successful post.  For a Send, @handle is the one to invalidate, or 0. */
static inline void rr_ep_count_post(struct rr_ep_common *c, enum rr_post_kind kind,
                                    uint32_t handle)
{
	switch (kind) {
	case RR_POST_SEND:
		c->count.sends++;
		c->count.sends_inv += handle != 0;
		break;
	case RR_POST_WRITE:
		c->count.writes++;
		break;
	case RR_POST_READ:
		c->count.reads++;
		break;
	}
}

/* ---- time limits and the end of the connection ---- */

/* Sets the current time to @now, unless @now is earlier. */
static inline void rr_ep_set_now(struct rr_ep_common *c, rr_time now)
{
	if (now > c->now)
		c->now = now;
}

/* Starts the timers that limit an orderly disconnect. */
void rr_ep_begin_drain(struct rr_ep_common *c);
/* Extends the deadline of a disconnect, because the connection has made progress. */
void rr_ep_extend_drain(struct rr_ep_common *c);

/* Records why the connection ended, unless a reason is already recorded. */
void rr_ep_set_reason(struct rr_ep_common *c, int status, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* Traces the failure of connection set-up; @a is the trace point's argument "a". */
void rr_ep_trace_rejected(const struct rr_ep_common *c, int status, uint64_t a);
/* Records and traces that connection set-up timed out in @state. */
void rr_ep_set_timed_out(struct rr_ep_common *c, unsigned state);
/* Traces the end of the connection and adds RR_WC_DISCONNECTED. */
void rr_ep_finish(struct rr_ep_common *c);

/* ---- operations of struct rr_prov_ops ---- */

unsigned rr_ep_poll(struct rr_ep *ep, struct rr_wc *wc, unsigned max);
void rr_ep_counters(const struct rr_ep *ep, struct rr_prov_counters *ret);
int rr_ep_peer_addr(const struct rr_ep *ep, struct sockaddr_storage *ret);
const char *rr_ep_reason(const struct rr_ep *ep);

/* Copies an address.  Returns -ENOTCONN if @from is not set. */
RR_MUST_CHECK int rr_ep_copy_addr(const struct sockaddr_storage *from,
                                  struct sockaddr_storage *ret);

#endif
