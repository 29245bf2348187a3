/* SPDX-License-Identifier: BSD-3-Clause */
/* Information about a link: counters of the connection and the endpoint, negotiated
 * values, and log lines. */
#include <stdio.h>

#include "conn/states.h" /* RR_CONN_READY, RR_CONN_LOST */
#include "link/link.h"

void rr_link_stats(const struct rr_link *l, struct rpcrdma_stats *ret)
{
	struct rpcrdma_stats s = l->stats;
	struct rr_conn_counters c;
	struct rr_prov_counters p = {0};

	rr_conn_counters(l->conn, &c);
	if (l->pump.ep)
		l->prov->counters(l->pump.ep, &p);
	s.calls += c.calls;
	s.replies += c.replies;
	s.requests += c.requests;
	s.request_replies += c.request_replies;
	s.grants += c.grants;
	s.errors_sent += c.errors_sent;
	s.errors_received += c.errors_received;
	s.recoveries += c.recoveries;
	s.credit_stalls += c.credit_stalls;
	s.overruns += c.overruns;
	s.bytes_inline += c.bytes_inline;
	s.bytes_continued += c.bytes_continued;
	s.bytes_read_chunk += c.bytes_read_chunk;
	s.bytes_write_chunk += c.bytes_write_chunk;
	s.bytes_reply_chunk += c.bytes_reply_chunk;
	s.bytes_special_call += c.bytes_special_call;
	s.bytes_reply_pulled += c.bytes_reply_pulled;
	s.bytes_copied += c.bytes_copied;
	s.bytes_placed += c.bytes_placed;
	s.reply_chunks_offered += c.reply_chunks_offered;
	s.reply_chunks_used += c.reply_chunks_used;
	s.rprc_exposed += c.rprc_exposed;
	s.rprc_expired += c.rprc_expired;
	s.done_sent += c.done_sent;
	s.done_received += c.done_received;
	s.done_dropped += c.done_dropped;
	s.sends += p.sends;
	s.sends_inv += p.sends_inv;
	s.recvs += p.recvs;
	s.rdma_reads += p.reads;
	s.rdma_writes += p.writes;
	s.registrations += p.registrations;
	s.local_invalidations += p.local_invalidations;
	s.remote_invalidations += p.remote_invalidations;
	s.syscalls += p.syscalls;
	s.wire_bytes_sent += p.bytes_sent;
	s.wire_bytes_received += p.bytes_received;
	*ret = s;
}

_Static_assert((int)RPCRDMA_FEATURE_RPRC == 1 << RR_FEATURE_RPRC &&
                       (int)RPCRDMA_FEATURE_REMINV == 1 << RR_FEATURE_REMINV &&
                       (int)RPCRDMA_FEATURE_RTR == 1 << RR_FEATURE_RTR &&
                       (int)RPCRDMA_FEATURE_HTFAM == 1 << RR_FEATURE_HTFAM,
               "public and internal masks are equal");

void rr_link_info(const struct rr_link *l, struct rpcrdma_conn_info *ret)
{
	struct rr_conn_info c;
	struct rr_prov_limits lim = {0};

	rr_conn_info(l->conn, &c);
	ret->provider = l->prov->name;
	ret->connected = rr_link_was_ready(l) && !rr_link_is_lost(l);
	ret->version = c.version;
	ret->send_inline = c.send_inline;
	ret->recv_inline = c.recv_inline;
	ret->credits_granted = c.cap;
	ret->peer_segment_bytes = c.peer_segment_bytes;
	ret->peer_max_segments = c.peer_max_segments;
	ret->peer_reverse = c.peer_rvrsdir;
	ret->features = c.features;
	if (l->pump.ep) {
		l->prov->limits(l->pump.ep, &lim);
		/* stays zero if unknown */
		(void)l->prov->peer_addr(l->pump.ep, &ret->peer);
		(void)l->prov->local_addr(l->pump.ep, &ret->local);
	}
	if (l->hostauth)
		snprintf(ret->identity, sizeof(ret->identity), "%s",
		         rr_hostauth_identity(l->hostauth));
	ret->remote_invalidate = lim.remote_invalidate && c.remote_invalidate;
}

/* -- the log --------------------------------------------------------------- */

bool rr_link_ended_in_order(const struct rr_link *l)
{
	return !rr_link_error(l) || rr_link_error(l) == -ECANCELED ||
	       (rr_link_was_closed(l) && rr_link_error(l) == -ETIMEDOUT);
}

static enum rpcrdma_log_level describe_ready(const struct rr_link *l, char *s,
                                             size_t size)
{
	struct rr_conn_info info;
	size_t n;

	rr_conn_info(l->conn, &info);
	n = (size_t)snprintf(s, size,
	                     "connected: provider %s, RPC-over-RDMA version %u",
	                     l->prov->name, info.version);
	if (info.features && n < size)
		n += (size_t)snprintf(s + n, size - n, ", features");
	for (unsigned i = 0; i < RR_FEATURES && n < size; i++)
		if (info.features >> i & 1)
			n += (size_t)snprintf(s + n, size - n, " %s",
			                      rr_feature_name((enum rr_feature)i));
	return RPCRDMA_LOG_INFO;
}

static enum rpcrdma_log_level describe_lost(const struct rr_link *l, char *s,
                                            size_t size)
{
	const char *why = l->why[0] ? l->why : rpcrdma_strstatus(rr_link_error(l));

	if (rr_link_ended_in_order(l)) {
		snprintf(s, size, "%s",
		         rr_link_error(l) == -ETIMEDOUT ? "closed: it was idle"
		                                        : "closed in order");
		return RPCRDMA_LOG_INFO;
	}
	snprintf(s, size, "%s: %s",
	         rr_link_was_ready(l) ? "connection lost" : "no connection came about",
	         why);
	/* Only the client warns about a connection that never became ready. */
	return l->server && !rr_link_was_ready(l) && !rr_link_was_closed(l)
	               ? RPCRDMA_LOG_INFO
	               : RPCRDMA_LOG_WARNING;
}

enum rpcrdma_log_level rr_link_describe_state(const struct rr_voice *v, uint64_t state,
                                              char *s, size_t size)
{
	const struct rr_link *l = rr_container_of((uintptr_t)v, struct rr_link, voice);

	if (state == RR_CONN_READY)
		return describe_ready(l, s, size);
	if (state == RR_CONN_LOST)
		return describe_lost(l, s, size);
	return RPCRDMA_LOG_DEBUG;
}
