/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link tells of itself: counters of the two it joins, and what was negotiated. */
#include <stdio.h>

#include "link/link.h"

void rr_link_stats(const struct rr_link *l, struct rpcrdma_stats *ret)
{
	struct rpcrdma_stats s = l->stats;
	struct rr_conn_counters c;
	struct rr_prov_counters p = {0};

	rr_conn_counters(l->conn, &c);
	if (l->ep)
		l->prov->counters(l->ep, &p);
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
	s.sends += p.sends;
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

void rr_link_info(const struct rr_link *l, struct rpcrdma_conn_info *ret)
{
	struct rr_conn_info c;
	struct rr_prov_limits lim = {0};

	rr_conn_info(l->conn, &c);
	ret->provider = l->prov->name;
	ret->connected = l->ready && !l->lost;
	ret->version = c.version;
	ret->send_inline = c.send_inline;
	ret->recv_inline = c.recv_inline;
	ret->credits_granted = c.cap;
	ret->peer_segment_bytes = c.peer_segment_bytes;
	ret->peer_max_segments = c.peer_max_segments;
	ret->peer_reverse = c.peer_rvrsdir;
	if (l->ep) {
		l->prov->limits(l->ep, &lim);
		(void)l->prov->peer_addr(l->ep, &ret->peer); /* zero if unknown */
		(void)l->prov->local_addr(l->ep, &ret->local);
	}
	if (l->hostauth)
		snprintf(ret->identity, sizeof(ret->identity), "%s",
		         rr_hostauth_identity(l->hostauth));
	ret->remote_invalidate = lim.remote_invalidate && c.remote_invalidate;
}
