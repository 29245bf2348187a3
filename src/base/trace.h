/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of the library's trace points.  The arguments of a trace point are stable
 * numbers (connection, XID, handle), never pointers, so that a simulation's log and a
 * trace in production have the same form.  The owner of a connection or an endpoint
 * supplies the sink, and decides whether its @emit does nothing, prints a line of JSON,
 * or adds to a digest.
 */
#ifndef RR_BASE_TRACE_H
#define RR_BASE_TRACE_H

#include "base/base.h"

/* Name, then the names of the arguments a, b and c ("" = unused). */
#define RR_TRACE_POINTS(X)                                                             \
	X(CONN_STATE, "from", "to", "error")                                           \
	X(MSG_SENT, "htype", "octets", "credit")                                       \
	X(MSG_RECEIVED, "htype", "octets", "credit")                                   \
	X(MSG_DISCARDED, "reason", "octets", "")                                       \
	X(ERROR_SENT, "rdma_err", "a", "b")                                            \
	X(ERROR_RECEIVED, "rdma_err", "a", "b")                                        \
	X(CREDIT_STALL, "queued", "avail", "owed")                                     \
	X(GRANT_SENT, "granted", "avail", "")                                          \
	X(PROP_APPLIED, "propid", "value", "")                                         \
	X(PROPS_DONE, "send_inline", "recv_inline", "max_segments")                    \
	X(CALL_SENT, "format", "octets", "read_octets")                                \
	X(CALL_RECEIVED, "format", "octets", "read_octets")                            \
	X(REPLY_SENT, "format", "octets", "write_octets")                              \
	X(REPLY_RECEIVED, "format", "octets", "write_octets")                          \
	X(CALL_DONE, "status", "", "")                                                 \
	X(CALL_RETRIED, "rdma_err", "a", "b")                                          \
	X(REPLY_EXPOSED, "octets", "segments", "")                                     \
	X(EXPOSURE_ENDED, "expired", "octets", "")                                     \
	X(RDMA_READ, "handle", "offset", "length")                                     \
	X(RDMA_WRITE, "handle", "offset", "length")                                    \
	X(REGION_REGISTERED, "handle", "length", "access")                             \
	X(REGION_INVALIDATED, "handle", "remote", "")                                  \
	X(PROV_CONNECTED, "ird", "ord", "flags")                                       \
	X(PROV_REJECTED, "reason", "a", "b")                                           \
	X(PROV_TERMINATE_SENT, "layer_etype", "code", "")                              \
	X(PROV_TERMINATE_RECEIVED, "layer_etype", "code", "reversed")                  \
	X(PROV_CLOSED, "error", "", "")                                                \
	X(CONN_EVICTED, "reason", "same_address", "idle_ms")                           \
	X(RPC_RECONNECT, "attempt", "delay_ms", "error")                               \
	X(RPC_RETRANSMIT, "attempt", "", "")                                           \
	X(RPC_ABANDONED, "losses", "alone", "error")                                   \
	X(RPC_GIVEN_UP, "error", "", "")                                               \
	X(RPC_REFUSED, "prog", "vers", "proc")                                         \
	X(GSS_STEP, "step", "octets_in", "octets_out")                                 \
	X(GSS_READY, "service", "window", "lifetime_s")                                \
	X(GSS_FAILED, "error", "major", "minor")                                       \
	X(GSS_REFUSED, "auth_stat", "attempt", "")                                     \
	X(PEER_FAULT, "rule", "offset", "")                                            \
	X(MEMORY_RECLAIMED, "held", "wanted", "")                                      \
	X(CREDIT_OVERRUN, "received", "given", "")                                     \
	X(KEEPALIVE, "avail", "", "")                                                  \
	X(HOSTAUTH_STEP, "step", "octets_in", "octets_out")                            \
	X(HOSTAUTH_DONE, "state", "steps", "")                                         \
	X(EXTENSION, "what", "number", "octets")

enum rr_trace_point {
#define X(name, a, b, c) RR_TRACE_##name,
	RR_TRACE_POINTS(X)
#undef X
	        RR_TRACE_COUNT
};

struct rr_trace_sink {
	void (*emit)(void *ctx, enum rr_trace_point p, uint32_t conn_id, uint32_t xid,
	             uint64_t a, uint64_t b, uint64_t c);
	void *ctx;
};

static inline void rr_trace(const struct rr_trace_sink *s, enum rr_trace_point p,
                            uint32_t conn_id, uint32_t xid, uint64_t a, uint64_t b,
                            uint64_t c)
{
	if (s && s->emit)
		s->emit(s->ctx, p, conn_id, xid, a, b, c);
}

/* Return the name of a trace point, and the name of its argument @i. */
const char *rr_trace_name(enum rr_trace_point p);
const char *rr_trace_arg(enum rr_trace_point p, unsigned i);

#endif
