/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of transport properties. */
#ifndef RR_CONN_PROPS_H
#define RR_CONN_PROPS_H

#include "conn/action.h"
#include "conn/limits.h"

struct rr_peer_props {
	uint32_t send_bytes, recv_bytes, segment_bytes, max_segments, rvrsdir;
};

struct rr_props {
	bool wanted;                  /* own CONNPROP may go out */
	bool begun;                   /* the first one has gone out */
	bool sent;                    /* the final one has */
	bool heard;                   /* one of the peer's has come */
	unsigned next;                /* of the extensions' own properties */
	uint32_t ext_xid[RR_EXT_MAX]; /* of the messages that carried them */
	uint32_t ext_seen;            /* bit by index: the peer's came */
	/* One property in parts. [P2, P3] */
	const uint8_t *part_data;
	uint8_t part_head[12];    /* count, id, length */
	size_t part_len, part_at; /* of its encoding as a set */
	uint32_t part_id, part_xid, part_flags;
	bool rejected; /* the peer refused it: it uses defaults for us [P4] */
	bool peer_final;
	uint32_t xid; /* of the own first CONNPROP */
	struct rr_peer_props peer;
	uint32_t received; /* properties of this exchange */
	size_t received_bytes;
	rr_time answer_at, done_at; /* RR_TIME_NEVER when not running */
	/* In effect. [P8, P18] */
	uint32_t send_inline, recv_inline;
	uint32_t segment_bytes, max_segments;
};

void rr_props_init(struct rr_conn *);
/* The version is settled: the exchange has its time. [P17] */
void rr_props_begin(struct rr_conn *);
/* Is an own RDMA2_CONNPROP to be sent now? */
bool rr_props_pending(const struct rr_conn *);
/* Are parts of one property on their way, which nothing may come between? */
bool rr_props_in_parts(const struct rr_conn *);
/* Sends the next own RDMA2_CONNPROP (a credit is there). */
void rr_props_send(struct rr_conn *);
/* One whole rpcrdma2_connprop.  0 or the rdma_err to answer. */
uint32_t rr_props_received(struct rr_conn *, const uint8_t *body, size_t len,
                           bool tpmore);
/* The peer reported an error about @xid.  True: an own RDMA2_CONNPROP. [P4] */
bool rr_props_rejected(struct rr_conn *, uint32_t xid);

/* The least threshold towards the peer that a message planned now may meet when it is
 * sent: what the exchange can yet end with. [P8] */
size_t rr_props_least_inline(const struct rr_conn *);

#endif
