/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of transport properties. */
#ifndef RR_CONN_PROPS_H
#define RR_CONN_PROPS_H

#include "conn/action.h"
#include "conn/limits.h"
#include "conn/states.h"
#include "wire/rprc/rprc_wire.h"
#include "wire/rtr/rtr_wire.h"

struct rr_peer_props {
	uint32_t send_bytes, recv_bytes, segment_bytes, max_segments, rvrsdir;
	bool recv_sent; /* the peer has sent a value for @recv_bytes */
	struct rr_wire_rprc rprc;
	struct {
		uint32_t support;          /* enum rr_wire_rtr_flag */
		uint32_t request_limit;    /* 0 = not sent */
		uint32_t response_limit;   /* 0 = not sent */
		struct rr_rbstruct buffer; /* length 0 = not sent */
	} rtr;
	uint32_t htfam;     /* enum rr_wire_htfam_flag */
	bool reminv_known;  /* the peer has sent RDMA2_PROPID_REQREMINV */
	bool no_remote_inv; /* with the value FALSE: our Sends must not invalidate */
};

struct rr_props {
	enum rr_props_out out;        /* state of our RDMA2_CONNPROPs */
	enum rr_props_in in;          /* state of the peer's RDMA2_CONNPROPs */
	unsigned next;                /* index of the next extension property to send */
	uint32_t ext_xid[RR_EXT_MAX]; /* XIDs of the messages that carried extension
	                               * properties, by index */
	uint32_t ext_seen; /* bitmap of the extension properties, by index, for which
	                    * the peer has sent a value */
	/* The property that is being sent in parts, encoded as a set with one property.
	 * [P2, P3] */
	const uint8_t *part_data;
	uint8_t part_head[12];    /* start of the encoded set: count, property id,
	                           * length */
	size_t part_len, part_at; /* length of the encoded set in octets; octets already
	                           * sent */
	uint32_t part_id, part_xid, part_flags;
	uint32_t xid; /* XID of our first RDMA2_CONNPROP; 0 = not sent yet */
	/* Our properties 1 and 2 as the peer knows them: the values we sent, or the
	 * defaults if the peer refused our values. [P4] */
	uint32_t own_send_bytes, own_recv_bytes;
	uint32_t own_segment_bytes; /* longest segment that the peer may send: our
	                             * property 3, or its default if that is larger and
	                             * the peer refused our values */
	struct rr_peer_props peer;
	uint32_t received; /* properties received in this exchange */
	size_t received_bytes;
	rr_time answer_at; /* deadline for the peer's first message */
	rr_time done_at;   /* deadline for the end of the exchange */
	/* Values in effect. [P8, P18] */
	uint32_t send_inline, recv_inline;
	uint32_t segment_bytes, max_segments;
};

void rr_props_init(struct rr_conn *);
/* Sets the deadline for the end of the exchange. [P17] */
void rr_props_begin(struct rr_conn *);
/* Allows our RDMA2_CONNPROPs to be sent from now on. */
void rr_props_allow(struct rr_conn *);
/* Returns true if one of our RDMA2_CONNPROPs is ready to be sent. */
bool rr_props_pending(const struct rr_conn *);
/* Returns true if the next message must be our first RDMA2_CONNPROP or the next part of
 * a property. */
bool rr_props_come_first(const struct rr_conn *);
/* Sends our next RDMA2_CONNPROP.  A credit must be available. */
void rr_props_send(struct rr_conn *);
/* Processes the complete body of an RDMA2_CONNPROP.  Returns 0, or the rdma_err code
 * with which to answer. */
uint32_t rr_props_received(struct rr_conn *, const uint8_t *body, size_t len,
                           bool tpmore);
/* Processes an RDMA2_ERROR about @xid.  Returns false if @xid is not one of our
 * RDMA2_CONNPROPs. [P4] */
bool rr_props_rejected(struct rr_conn *, uint32_t xid);
/* Returns the inline threshold that a message planned now can rely on when it is sent.
 * Until the exchange ends this is the minimum threshold, because the threshold may
 * still be lowered. [P8] */
size_t rr_props_least_inline(const struct rr_conn *);

#endif
