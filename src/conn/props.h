/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of transport properties. */
#ifndef RR_CONN_PROPS_H
#define RR_CONN_PROPS_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/states.h"

struct rr_peer_props {
	uint32_t send_bytes, recv_bytes, segment_bytes, max_segments, rvrsdir;
};

struct rr_props {
	enum rr_props_out out; /* our RDMA2_CONNPROPs */
	enum rr_props_in in;   /* the peer's */
	unsigned next;         /* index of the next extension property that is sent */
	uint32_t ext_xid[RR_EXT_MAX]; /* XIDs of the messages that carried these */
	uint32_t ext_seen; /* bit by index: the peer has sent it, with a value */
	/* The property being sent in parts. [P2, P3] */
	const uint8_t *part_data;
	uint8_t part_head[12];    /* its set's count, its id and length, encoded */
	size_t part_len, part_at; /* octets of the encoded set; of these, sent */
	uint32_t part_id, part_xid, part_flags;
	uint32_t xid; /* XID of our first RDMA2_CONNPROP; 0: not sent yet */
	/* Thresholds that the peer uses for us: those we sent, or the defaults if it
	 * refused them. [P4] */
	uint32_t own_send_bytes, own_recv_bytes;
	struct rr_peer_props peer;
	uint32_t received; /* properties received in this exchange */
	size_t received_bytes;
	rr_time answer_at; /* deadline of the peer's first message */
	rr_time done_at;   /* deadline of the exchange */
	/* Values in effect. [P8, P18] */
	uint32_t send_inline, recv_inline;
	uint32_t segment_bytes, max_segments;
};

void rr_props_init(struct rr_conn *);
/* Starts the time limit of the exchange. [P17] */
void rr_props_begin(struct rr_conn *);
/* Permits our RDMA2_CONNPROP to be sent from now on. */
void rr_props_allow(struct rr_conn *);
/* Is one of our RDMA2_CONNPROPs due? */
bool rr_props_pending(const struct rr_conn *);
/* Must the next message be an RDMA2_CONNPROP: our first, or the next part of one? */
bool rr_props_come_first(const struct rr_conn *);
/* Sends our next RDMA2_CONNPROP; a credit is there. */
void rr_props_send(struct rr_conn *);
/* Takes a whole rpcrdma2_connprop.  Returns 0, or the rdma_err to answer. */
uint32_t rr_props_received(struct rr_conn *, const uint8_t *body, size_t len,
                           bool tpmore);
/* Takes an error about @xid.  False: @xid is not one of our RDMA2_CONNPROPs. [P4] */
bool rr_props_rejected(struct rr_conn *, uint32_t xid);
/* Returns the least threshold towards the peer that a message planned now may meet when
 * it is sent: the exchange may still end with it. [P8] */
size_t rr_props_least_inline(const struct rr_conn *);

#endif
