/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits and timers for connections of tests that do not set them. */
#ifndef RR_TEST_CONN_LIMITS_H
#define RR_TEST_CONN_LIMITS_H

#include "conn/conn.h"

/* Sets each limit that is 0 and must not be 0. */
static inline void conn_limits(struct rr_conn_config *g)
{
#define LIMIT(field, value) g->field = g->field ? g->field : (value)
	LIMIT(send_bytes, RR_WIRE_DEFAULT_INLINE);
	LIMIT(recv_bytes, RR_WIRE_DEFAULT_INLINE);
	LIMIT(segment_bytes, RR_WIRE_DEFAULT_RSSIZ);
	LIMIT(max_segments, RR_WIRE_DEFAULT_RCSIZ);
	LIMIT(credits, 32);
	LIMIT(max_requests, 256);
	LIMIT(max_message_bytes, 4u << 20);
	LIMIT(max_chunk_bytes, 64u << 20);
	LIMIT(max_held_bytes, (uint64_t)128 << 20);
	LIMIT(versions, RR_CONN_V2);
	LIMIT(first_answer_ns, RR_SEC(5));
	LIMIT(props_ns, RR_SEC(30));
	LIMIT(grant_ns, RR_MS(10));
	LIMIT(drain_ns, RR_SEC(5));
	LIMIT(keepalive_ns, RR_TIME_NEVER);
	rr_feature_defaults(&g->features);
#undef LIMIT
}

#endif
